r"""Values of falling switching curves of the robot queue, and curves that are better.

Policies between which policy iteration moves need not fall, though the best one does wherever it was looked for. But
each of the changes that it makes is an improvement by itself, so that only those are made here that lead to a falling
curve again, which is evaluated level by level (:mod:`queueing.robots.levels`).
"""

import numpy as np
from numba import njit

from .feedback_states import Grid, Policy
from .levels import Curve, Levels, borders, chances, within


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
