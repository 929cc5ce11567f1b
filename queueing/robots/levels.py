r"""Policies of the robot queue that are falling switching curves, eliminated level by level.

Such a policy activates one more robot if :math:`q \le f(r)`, f falling; call the states with r active robots a level. A
service that leaves at most f(r) pages leads up, to level r + 1, an arrival that leaves more than f(r - 1) down; other
moves stay. So level r is entered from below at queues of at most f(r - 1), from above at queues of more than f(r), and
once the levels above are eliminated, where it is left downwards, from each entry, takes one sweep over its queues for
each: queues beyond the curve only move down, one at a time, to the *pivot* f(r) + 1, or leave; queues up to f(r) go up
the buffer one at a time, or up a level and come back beyond the curve. Only the pivot is reached again and again, and a
quotient sums that up. All levels above a middle one are eliminated so, all below likewise, and the middle one as by
Grassmann, Taksar and Heyman. Nothing subtracts: average costs have full relative accuracy, as through the cuts
(:mod:`queueing.robots.feedback_states`), which take any policy, but L levels of K + 1 queues cost some L K^2 operations
here.

Both sides are the same thing: below the middle level, services and arrivals, and pages and free places, change roles.
In this module u is the number of pages q above the middle level, and of free places K - q below it; *inward* moves, an
arrival above and a service below, raise u or lead to the next level inwards, *outward* ones lower u or lead outwards.

Policies between which policy iteration moves need not fall, though the best one does wherever it was looked for. But
each of the changes that it makes is an improvement by itself, so that only those are made here that lead to a falling
curve again (`improved_curve`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import Vector
from .feedback_states import Grid, Policy

#: By number of active robots, the largest queue length at which one more is activated; -1 if none.
Curve = NDArray[np.int64]


class Levels(NamedTuple):
    """The chain of a curve, all levels but one eliminated.

    Attributes
    ----------
    curve
        the policy.
    low, middle, high
        recurrent levels lie from low to high; beyond, every move leads inwards. The middle one is left.
    rows
        by level, from its pivot: probabilities of the u at which the next level inwards is entered.
    loads
        by level, the cost and the time until then.
    steps, pivots, inside
        the chain on the middle level, its queues eliminated from both borders towards `end`: where it goes from each
        to those that were left, the probability of that, and the cost and the time before.
    end
        queue of the middle level that is left.
    """

    curve: Curve
    low: int
    middle: int
    high: int
    rows: Grid
    loads: Grid
    steps: Grid
    pivots: Vector
    inside: Grid
    end: int


@njit(cache=True)
def borders(curve: Curve, most: int, r: int, up: bool) -> tuple[int, int]:
    """First and second border of level r: outward moves from u <= first + 1 leave it, inward ones from u >= second.

    The first is at most the second, because the curve falls; first + 1 is the pivot.
    """
    before = curve[r - 1] if r > 0 else most
    return (curve[r], before) if up else (most - 1 - before, most - 1 - curve[r])


@njit(cache=True)
def chances(arrival: float, service: float, r: int, up: bool, closed: bool, moves: Grid) -> None:
    """By u: mean time in a state of level r, and probabilities that the next move is outward or inward.

    `closed`: no outward move leaves the level; then a robot that finds the buffer full is sent out again and changes
    nothing.
    """
    most, pace = moves.shape[1] - 1, arrival * r
    time = 1.0 / (pace + service)
    for u in range(most + 1):
        moves[0, u] = time
        moves[1, u] = (service if up else pace) * time
        moves[2, u] = (pace if up else service) * time
    empty = 0 if up else most
    moves[0, empty] = 1.0 / pace if r > 0 else 0.0
    moves[1 if up else 2, empty], moves[2 if up else 1, empty] = 0.0, 1.0 if r > 0 else 0.0
    if closed and not up:
        moves[0, 0], moves[1, 0], moves[2, 0] = 1.0 / service, 0.0, 1.0


@njit(cache=True)
def _lowest(curve: Curve, most: int) -> int:
    """The lowest level that recurs: below, a robot is activated after every event."""
    r = 0
    while curve[r] == most:
        r += 1
    return r


@njit(cache=True)
def _highest(curve: Curve) -> int:
    """The highest level that may recur: from there on none is activated."""
    r = len(curve) - 1
    while curve[r - 1] == -1:
        r -= 1
    return r


@njit(cache=True)
def _side(
    curve: Curve, arrival: float, service: float, cost: Grid, up: bool, middle: int, rows: Grid, loads: Grid
) -> Grid:
    """Eliminate the levels of one side, from the outermost one to that next to the middle one.

    Returns
    -------
    array
        from each u, the second index, at which that last level is entered: probabilities of the u at which the middle
        one is entered, then the cost and the time until then.
    """
    most = cost.shape[0] - 1
    outermost, inward = (_highest(curve), -1) if up else (_lowest(curve, most), 1)
    known, found = np.zeros((most + 3, most + 1)), np.zeros((most + 3, most + 1))
    moves, carried, masses = np.zeros((3, most + 1)), np.zeros(most + 1), np.zeros(most + 1)
    out, back, paid = np.zeros(most + 1), np.zeros(most + 1), np.zeros((2, most + 1))
    for distance in range(abs(outermost - middle), 0, -1):
        r = middle - inward * distance
        first, second = borders(curve, most, r, up)
        chances(arrival, service, r, up, first < 0, moves)
        for u in range(most + 1):
            paid[0, u], paid[1, u] = cost[u if up else most - u, r] * moves[0, u], moves[0, u]
        within(moves, first, second, out, back, paid)
        _followed(known, first, second, out, back, paid, carried, masses, found)
        _from_pivot(moves, first, second, back, paid, found)
        for place in range(second + 1, most + 1):
            rows[r, place] = found[place, first + 1]
        loads[0, r], loads[1, r] = found[most + 1, first + 1], found[most + 2, first + 1]
        _from_entries(moves, first, second, out, back, paid, carried, found)
        known, found = found, known
    return known


@njit(cache=True)
def within(moves: Grid, first: int, second: int, out: Vector, back: Vector, paid: Grid) -> None:
    """From each u beyond the pivot: is u - 1 reached, or the level left inwards before, and what is collected."""
    for u in range(moves.shape[1] - 1, first + 1, -1):
        out[u], back[u] = moves[1, u], moves[2, u]
        if u < second:  # inward moves stay in the level
            back[u] *= back[u + 1]
            whole = out[u] + back[u]
            out[u] /= whole
            back[u] /= whole
            for column in range(2):
                paid[column, u] = (paid[column, u] + moves[2, u] * paid[column, u + 1]) / whole


@njit(cache=True)
def _followed(
    known: Grid,
    first: int,
    second: int,
    out: Vector,
    back: Vector,
    paid: Grid,
    carried: Vector,
    masses: Vector,
    found: Grid,
) -> None:
    """From each entry of the level outwards: follow the chain until this level is left inwards, or the pivot reached.

    `found` is filled with the former, and with what is collected, `carried` with the probability of the latter.
    """
    most, entries = known.shape[1] - 1, first + 1
    for entry in range(entries):
        carried[entry] = 0.0
        for place in range(second + 1, most + 1):
            found[place, entry] = 0.0
        for place in range(most + 1, most + 3):
            found[place, entry] = known[place, entry]
    for u in range(most, first + 1, -1):
        there, rate, share = min(max(u, second) + 1, most), back[u], out[u]
        for entry in range(entries):
            masses[entry] = known[u, entry] + carried[entry]
            carried[entry] = share * masses[entry]
            found[there, entry] += rate * masses[entry]
        for column in range(2):
            price = paid[column, u]
            for entry in range(entries):
                found[most + 1 + column, entry] += price * masses[entry]
    for entry in range(entries):
        carried[entry] += known[first + 1, entry]


@njit(cache=True)
def _from_pivot(moves: Grid, first: int, second: int, back: Vector, paid: Grid, found: Grid) -> None:
    """From the pivot, until the level is left inwards; written beside the entries."""
    most, pivot = moves.shape[1] - 1, first + 1
    for place in range(second + 1, len(found)):
        found[place, pivot] = moves[1, pivot] * found[place, first] if first >= 0 else 0.0
    if pivot < second:
        found[second + 1, pivot] += moves[2, pivot] * back[pivot + 1]
    else:
        found[min(pivot + 1, most), pivot] += moves[2, pivot]
    whole = 0.0  # how likely it is left before it is reached again
    for place in range(second + 1, most + 1):
        whole += found[place, pivot]
    for column in range(2):
        again = moves[2, pivot] * paid[column, pivot + 1] if pivot < second else 0.0
        found[most + 1 + column, pivot] += paid[column, pivot] + again
    for place in range(second + 1, len(found)):
        found[place, pivot] /= whole


@njit(cache=True)
def _from_entries(
    moves: Grid,
    first: int,
    second: int,
    out: Vector,
    back: Vector,
    paid: Grid,
    carried: Vector,
    found: Grid,
) -> None:
    """From each u at which the level is entered, until it is left inwards: after an outward move as `found`."""
    most, pivot = moves.shape[1] - 1, first + 1
    for place in range(second + 1, len(found)):
        column, home = place - most - 1, found[place, pivot]
        last = home
        if first == second:  # the inward move from there leaves the level
            last = 1.0 if place == second + 1 else 0.0
        for u in range(first, -1, -1):
            entry = max(u - 1, 0)
            last = moves[1, u] * (found[place, entry] + carried[entry] * home) + moves[2, u] * last
            if column >= 0:
                last += paid[column, u]
            found[place, u] = last
        for u in range(pivot + 1, second + 1):
            found[place, u] = out[u] * found[place, u - 1]
            if column >= 0:
                found[place, u] += paid[column, u]
            elif place == second + 1:
                found[place, u] += back[u]


@njit(cache=True)
def levels_of(curve: Curve, arrival: float, service: float, cost: Grid) -> Levels:
    """Eliminate all levels but the one where arrivals and services are about equally fast.

    The chain drifts there: with fewer robots the buffer runs empty, and one is activated, with more it fills, and none
    is. So its end is a frequent state, relative values are no differences of much larger numbers, and no pivot is
    small: inward moves are at least about as likely as outward ones.
    """
    most, robots = cost.shape[0] - 1, cost.shape[1] - 1
    low, high, top = _lowest(curve, most), _highest(curve), 1
    while top < high and curve[top - 1] > 0:  # an empty queue that keeps its robots back is not left upwards
        top += 1
    middle = int(min(max(np.rint(service / arrival), low, 1), top))
    rows, loads = np.zeros((robots + 1, most + 1)), np.zeros((2, robots + 1))
    above = _side(curve, arrival, service, cost, True, middle, rows, loads)
    below = _side(curve, arrival, service, cost, False, middle, rows, loads)
    steps, inside = np.zeros((most + 1, most + 1)), np.zeros((2, most + 1))
    before, here = curve[middle - 1], curve[middle]
    for q in range(most + 1):
        there = min(q + 1, most)
        served = service if q > 0 else 0.0
        brought = arrival * middle if there > q or before < most else 0.0
        time = 1.0 / (served + brought)
        inside[0, q], inside[1, q] = cost[q, middle] * time, time
        if q > 0 and q - 1 > here:
            steps[q, q - 1] += served * time
        elif q > 0:
            for place in range(here + 1, most + 1):
                steps[q, place] += served * time * above[place, q - 1]
            for column in range(2):
                inside[column, q] += served * time * above[most + 1 + column, q - 1]
        if there <= before:
            steps[q, there] += brought * time
        else:
            for place in range(before + 1):
                steps[q, place] += brought * time * below[most - place, most - there]
            for column in range(2):
                inside[column, q] += brought * time * below[most + 1 + column, most - there]
    end = before if arrival * middle > service else min(here + 1, before)
    pivots = _left(steps, inside, end)
    return Levels(curve, low, middle, high, rows, loads, steps, pivots, inside, end)


@njit(cache=True)
def _left(steps: Grid, inside: Grid, end: int) -> Vector:
    """Eliminate the queues of a level from both borders towards one of them; returns pivots."""
    most = len(steps) - 1
    pivots = np.zeros(most + 1)
    for turn in range(most):
        k = turn if turn < end else most - (turn - end)
        first, last = (k + 1, most) if turn < end else (end, k - 1)
        pivot = 0.0
        for j in range(first, last + 1):
            pivot += steps[k, j]
        pivots[k] = pivot
        for i in range(first, last + 1):
            if steps[i, k] > 0.0:
                share = steps[i, k] / pivot
                for j in range(first, last + 1):
                    steps[i, j] += share * steps[k, j]
                for column in range(2):
                    inside[column, i] += share * inside[column, k]
    return pivots


# -- values of curves, and better curves -------------------------------------------------------------------------------


@njit(cache=True)
def curve_of(policy: Policy) -> tuple[Curve, bool]:
    """The switching curve of a policy, and whether it is one that falls."""
    curve, falls = np.full(policy.shape[1], -1, dtype=np.int64), True
    for q in range(policy.shape[0]):
        for r in range(policy.shape[1]):
            if policy[q, r] == 1:
                falls &= curve[r] == q - 1 and (r == 0 or policy[q, r - 1] == 1)
                curve[r] = q
    return curve, falls and curve[0] >= 0 and curve[-1] < 0


@njit(cache=True)
def policy_of(curve: Curve, capacity: int) -> Policy:
    """The policy of a curve."""
    policy = np.zeros((capacity + 1, len(curve)), dtype=np.int8)
    for q in range(capacity + 1):
        for r in range(len(curve)):
            policy[q, r] = 1 if q <= curve[r] else 0
    return policy


@njit(cache=True)
def level_values(
    levels: Levels, arrival: float, service: float, cost: Grid, gain: float, first: int, last: int
) -> Grid:
    """Relative values under a cost less a gain, 0 at the end; by state, 0 beyond levels first to last."""
    most = cost.shape[0] - 1
    values, end, middle = np.zeros(cost.shape), levels.end, levels.middle
    for turn in range(most - 1, -1, -1):
        k = turn if turn < end else most - (turn - end)
        start, stop = (k + 1, most) if turn < end else (end, k - 1)
        total = levels.inside[0, k] - gain * levels.inside[1, k]
        for j in range(start, stop + 1):
            total += levels.steps[k, j] * values[j, middle]
        values[k, middle] = total / levels.pivots[k]
    _outwards(levels, arrival, service, cost, gain, True, last, values)
    _outwards(levels, arrival, service, cost, gain, False, first, values)
    values[0, 0] = 0.0  # no state
    return values


@njit(cache=True)
def _outwards(
    levels: Levels, arrival: float, service: float, cost: Grid, gain: float, up: bool, stop: int, values: Grid
) -> None:
    """Values on one side of the middle level, at pivots and beyond from level to level outwards, then back inwards."""
    most = cost.shape[0] - 1
    moves, paid = np.zeros((3, most + 1)), np.zeros((2, most + 1))
    out, back = np.zeros(most + 1), np.zeros(most + 1)
    start, sign, inward, outermost = (0, 1, -1, levels.high) if up else (most, -1, 1, levels.low)
    for distance in range(1, abs(stop - levels.middle) + 1):
        r = levels.middle - inward * distance
        first, second = borders(levels.curve, most, r, up)
        pivot = first + 1
        chances(arrival, service, r, up, first < 0, moves)
        for u in range(pivot, most + 1):
            paid[0, u] = (cost[start + sign * u, r] - gain) * moves[0, u]
        within(moves, first, second, out, back, paid)
        if distance > abs(outermost - levels.middle):  # each move inwards leaves the level
            total = paid[0, 0] + moves[2, 0] * values[start + sign, r + inward]
        else:
            total = levels.loads[0, r] - gain * levels.loads[1, r]
            for u in range(second + 1, most + 1):
                total += levels.rows[r, u] * values[start + sign * u, r + inward]
        values[start + sign * pivot, r] = total
        for u in range(pivot + 1, most + 1):
            inner = start + sign * min(max(u, second) + 1, most)
            total = paid[0, u] + out[u] * total + back[u] * values[inner, r + inward]
            values[start + sign * u, r] = total
    for distance in range(abs(outermost - levels.middle), 0, -1):
        r = levels.middle - inward * distance
        first, second = borders(levels.curve, most, r, up)
        chances(arrival, service, r, up, first < 0, moves)
        for u in range(first, -1, -1):
            q, inner, outer = start + sign * u, start + sign * (u + 1), start + sign * max(u - 1, 0)
            ahead = values[inner, r if u < second else r + inward]
            left = moves[1, u] * values[outer, r - inward] + moves[2, u] * ahead
            values[q, r] = (cost[q, r] - gain) * moves[0, u] + left


@njit(cache=True)
def improved_curve(curve: Curve, values: Grid, first: int, last: int) -> tuple[Curve, int]:
    """A curve each of whose changes is one that lowers the values of levels first to last, and their number.

    With O the states where the policy activates a robot and G those where the greedy one does, the new policy has
    everything at or below a state of O and G, and beyond it what of G is joined to it: it falls, and differs from O
    only where G does.
    """
    most, following = values.shape[0] - 1, curve.copy()
    least = -1
    for r in range(last - 1, first - 1, -1):
        q, floor = curve[r], 0 if r == 0 else -1
        while q > max(least, floor) and values[q, r + 1] > values[q, r]:
            q -= 1
        least = max(least, q)
        following[r] = least
    top = most
    for r in range(first, last):
        q = following[r]
        while q < min(most, top) and values[q + 1, r + 1] < values[q + 1, r]:
            q += 1
        top = min(q, top)
        following[r] = top
    changes = 0
    for r in range(first, last):
        changes += abs(following[r] - curve[r])
    return following, changes
