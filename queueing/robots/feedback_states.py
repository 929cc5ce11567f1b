r"""Policies of the robot queue, evaluated through the few states where their course turns.

With q pages and r active robots, count :math:`t = q + r`. Below the switching curve of a sensible policy a service
activates a robot and an arrival keeps its own: t never falls. Above it neither does: t never rises. Put states in the
order of t, then of falling q. A move then *rises* or *falls* in the order, and most states have moves of one direction
only. Take away a state where both meet, a *cut*, whenever it is needed to leave the rest without a cycle: a policy with
a monotone curve has about one cut for each number of robots along its curve, however large the buffer.

Between cuts every expectation is a recursion, one pass over all states. What is left is a chain on the cuts, which is
eliminated as by Grassmann, Taksar and Heyman: neither step subtracts, so average costs have full relative accuracy,
1e-12 and less included. Only relative values are differences; `refined` carries them to twice the digits.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: By queue length and number of active robots, 1 where one more is activated after an event.
Policy = NDArray[np.int8]
Grid = NDArray[np.float64]

FALLING, RISING, CUT, ABSENT = 0, 1, 2, 3

#: Cuts from which the chain is followed at the same time: as many numbers as a processor adds at once.
LANES = 4


class Turns(NamedTuple):
    """How states of a policy are ordered.

    Attributes
    ----------
    kinds
        `FALLING`: all moves go to lower states that are falling, or to cuts; `RISING`: moves go to higher states, or
        to cuts; `CUT`; `ABSENT`: never entered.
    places
        number of each cut.
    cuts
        queue length and robots of each.
    order
        the other states, as q (N + 1) + r like all below, each after the successors that are no cuts.
    after
        by state, its successor by a service and by an arrival; 0 where there is none.
    chances
        by state, probabilities of both.
    times
        by state, mean time until it is left; moves to itself do not count.
    """

    kinds: NDArray[np.int8]
    places: NDArray[np.int64]
    cuts: NDArray[np.int64]
    order: NDArray[np.int64]
    after: NDArray[np.int64]
    chances: Grid
    times: NDArray[np.float64]


class Reduced(NamedTuple):
    """The chain on the cuts after elimination from the last to the first.

    Attributes
    ----------
    steps
        row k, columns below k: where the chain goes from cut k when it leaves the cuts from k on; columns of `ends`:
        probabilities of ending there instead.
    pivots
        probability of leaving a cut for lower ones or an end; 0 at an end.
    loads
        by column and cut, what is collected before leaving; the last column is time.
    ends
        one cut of each closed class of states, in falling order.
    """

    steps: Grid
    pivots: NDArray[np.float64]
    loads: Grid
    ends: NDArray[np.int64]


@njit(cache=True)
def after_service(policy: Policy, q: int, r: int) -> tuple[int, int]:
    """State after a page was served."""
    return q - 1, r + policy[q - 1, r]


@njit(cache=True)
def after_arrival(policy: Policy, q: int, r: int) -> tuple[int, int]:
    """State after a robot came; with a full buffer and the robot sent out again, the same one."""
    there = min(q + 1, policy.shape[0] - 1)
    return there, r - 1 + policy[there, r - 1]


@njit(cache=True)
def _successors(policy: Policy, arrival: float, service: float) -> tuple[NDArray[np.int64], Grid, NDArray[np.float64]]:
    """`after`, `chances` and `times` of `Turns`."""
    most, robots = policy.shape[0] - 1, policy.shape[1] - 1
    after = np.zeros((policy.size, 2), dtype=np.int64)
    chances, times = np.zeros((policy.size, 2)), np.zeros(policy.size)
    for q in range(most + 1):
        for r in range(1 if q == 0 else 0, robots + 1):
            here = q * (robots + 1) + r
            by_service, by_arrival = 0.0, 0.0
            if q > 0:
                a, b = after_service(policy, q, r)
                after[here, 0] = a * (robots + 1) + b
                by_service = service
            if r > 0:
                a, b = after_arrival(policy, q, r)
                if a != q or b != r:
                    after[here, 1] = a * (robots + 1) + b
                    by_arrival = arrival * r
            times[here] = 1.0 / (by_service + by_arrival)
            chances[here, 0], chances[here, 1] = by_service * times[here], by_arrival * times[here]
    return after, chances, times


@njit(cache=True)
def _by_key(keys: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Places of whole numbers below `size`, in the order of the numbers, equal ones as they come."""
    starts, found = np.zeros(size + 1, dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    for key in keys:
        starts[key + 1] += 1
    starts = np.cumsum(starts)
    for place in range(len(keys)):
        found[starts[keys[place]]] = place
        starts[keys[place]] += 1
    return found


@njit(cache=True)
def turns_of(policy: Policy, arrival: float, service: float) -> Turns:
    """Find the cuts of a policy: one pass, lower states first.

    Cuts are numbered by the distance of their robots from mu / lambda, where arrivals and services are equally fast:
    the last one left by an elimination should be a frequent one, or relative values would be differences of numbers as
    large as the time between its visits.
    """
    most, robots = policy.shape[0] - 1, policy.shape[1] - 1
    kinds = np.full(policy.shape, ABSENT, dtype=np.int8)
    places = np.full(policy.shape, -1, dtype=np.int64)
    cuts = np.zeros((policy.size, 2), dtype=np.int64)
    order, rising = np.zeros(policy.size, dtype=np.int64), np.zeros(policy.size, dtype=np.int64)
    count, low, high = 0, 0, 0
    for t in range(1, robots + most + 1):
        for q in range(min(t, most), max(0, t - robots) - 1, -1):
            r = t - q
            rises, lower_cut, lower_falling = False, True, True
            if q > 0:
                a, b = after_service(policy, q, r)
                if b > r:
                    rises = True
                else:
                    lower_cut = lower_cut and kinds[a, b] == CUT
                    lower_falling = lower_falling and kinds[a, b] != RISING
            if r > 0:
                a, b = after_arrival(policy, q, r)
                if b == r:
                    rises = rises or a > q
                else:
                    lower_cut = lower_cut and kinds[a, b] == CUT
                    lower_falling = lower_falling and kinds[a, b] != RISING
            if lower_falling and not rises:
                kinds[q, r] = FALLING
                order[low] = q * (robots + 1) + r
                low += 1
            elif lower_cut:
                kinds[q, r] = RISING
                rising[high] = q * (robots + 1) + r
                high += 1
            else:
                kinds[q, r] = CUT
                places[q, r] = count
                cuts[count, 0], cuts[count, 1] = q, r
                count += 1
    for place in range(high):  # falling states from the lowest on, then rising ones from the highest down
        order[low + place] = rising[high - 1 - place]
    halves = np.abs(2.0 * (cuts[:count, 1] - min(service / arrival, float(robots))))  # tell both sides apart
    numbers, found = _by_key(halves.astype(np.int64), 2 * robots + 1), np.zeros((count, 2), dtype=np.int64)
    for place in range(count):
        q, r = cuts[numbers[place], 0], cuts[numbers[place], 1]
        found[place, 0], found[place, 1], places[q, r] = q, r, place
    after, chances, times = _successors(policy, arrival, service)
    return Turns(kinds, places, found, order[: low + high].copy(), after, chances, times)


@njit(cache=True)
def _push(
    turns: Turns,
    places: NDArray[np.int64],
    here: int,
    mass: NDArray[np.float64],
    masses: Grid,
    waiting: NDArray[np.bool_],
    arrived: Grid,
) -> None:
    """Send masses from a state to its successors: to cuts, which are `arrived` at, and to others, `waiting` then."""
    for event in range(2):
        chance = turns.chances[here, event]
        if chance != 0.0:
            there = turns.after[here, event]
            if places[there] >= 0:
                for lane in range(LANES):
                    arrived[places[there], lane] += chance * mass[lane]
            else:
                waiting[there] = True
                for lane in range(LANES):
                    masses[there, lane] += chance * mass[lane]


@njit(cache=True)
def _rows(turns: Turns) -> Grid:
    """From each cut, the probabilities of the next one; `LANES` cuts of neighbouring lines are followed together."""
    most, robots = turns.kinds.shape[0] - 1, turns.kinds.shape[1] - 1
    count, size, kinds = len(turns.cuts), turns.kinds.size, turns.kinds.reshape(-1)
    rows, masses, waiting = np.zeros((count, count)), np.zeros((size, LANES)), np.zeros(size, dtype=np.bool_)
    places, lines = turns.places.reshape(-1), turns.cuts[:, 0] + turns.cuts[:, 1]
    numbers, mass = _by_key(lines, robots + most + 1), np.zeros(LANES)
    for start in range(0, count, LANES):
        followed = numbers[start : start + LANES]
        arrived = np.zeros((count, LANES))
        for lane in range(len(followed)):
            mass[:] = 0.0
            mass[lane] = 1.0
            here = turns.cuts[followed[lane], 0] * robots + lines[followed[lane]]
            _push(turns, places, here, mass, masses, waiting, arrived)
        first, highest = lines[followed[0]], lines[followed[-1]] + 1
        t = first - 1
        while t <= min(highest, robots + most):  # rising: the next move is in this line or the next
            for q in range(min(max(t, 0), most), max(0, t - robots) - 1, -1):
                here = q * robots + t
                if waiting[here] and kinds[here] == RISING:
                    waiting[here] = False
                    for lane in range(LANES):
                        mass[lane], masses[here, lane] = masses[here, lane], 0.0
                    _push(turns, places, here, mass, masses, waiting, arrived)
                    highest = max(highest, t + 1)
            t += 1
        t = min(highest, robots + most)
        idle = 0
        while t > 0 and (t >= first - 1 or idle < 3):  # below, nothing is but what falls from line to line
            idle += 1
            for q in range(max(0, t - robots), min(t, most) + 1):
                here = q * robots + t
                if waiting[here]:
                    waiting[here] = False
                    for lane in range(LANES):
                        mass[lane], masses[here, lane] = masses[here, lane], 0.0
                    _push(turns, places, here, mass, masses, waiting, arrived)
                    idle = 0
            t -= 1
        for lane in range(len(followed)):
            rows[followed[lane]] = arrived[:, lane]
    return rows


@njit(cache=True)
def reduce(turns: Turns, costs: Grid) -> Reduced:
    """Eliminate the cuts from the last to the first, carrying what is collected; no subtraction anywhere.

    `costs`: by column, queue length and robots, cost per unit of time; the last column must be ones.
    """
    count = len(turns.cuts)
    steps, pivots = _rows(turns), np.zeros(count)
    ends = np.zeros(count, dtype=np.int64)
    ended = 0
    for k in range(count - 1, -1, -1):
        pivot = 0.0
        for j in range(k):
            pivot += steps[k, j]
        for end in range(ended):
            pivot += steps[k, ends[end]]
        pivots[k] = pivot
        if pivot == 0.0:
            ends[ended] = k
            ended += 1
            continue
        for i in range(k):
            if steps[i, k] > 0.0:
                share = steps[i, k] / pivot
                for j in range(k):
                    steps[i, j] += share * steps[k, j]
                for end in range(ended):
                    steps[i, ends[end]] += share * steps[k, ends[end]]
    loads = collected(turns, costs, steps, pivots)
    return Reduced(steps, pivots, loads, ends[:ended].copy())


@njit(cache=True)
def solved(policy: Policy, arrival: float, service: float, costs: Grid) -> tuple[Turns, Reduced]:
    """The cuts of a policy and the chain on them, eliminated so that a frequent cut is left last.

    Balance of arrivals and services is a good guess of where the chain mostly is, but only a guess; where another cut
    turns out to be visited a hundred times as often, the elimination is done again.
    """
    turns = turns_of(policy, arrival, service)
    reduced = reduce(turns, costs)
    if len(reduced.ends) > 1:
        return turns, reduced
    end, count = reduced.ends[0], len(turns.cuts)
    visits = np.zeros(count)
    visits[end] = 1.0
    for k in range(end + 1, count):  # cuts below the end do not recur
        total = 0.0
        for j in range(end, k):
            total += visits[j] * reduced.steps[j, k]
        visits[k] = total / reduced.pivots[k]
    often = np.argmax(visits)
    if visits[often] < 100.0:
        return turns, reduced
    cuts, places = turns.cuts.copy(), turns.places.copy()
    for place in range(often, 0, -1):
        cuts[place] = cuts[place - 1]
    cuts[0] = turns.cuts[often]
    for place in range(count):
        places[cuts[place, 0], cuts[place, 1]] = place
    turns = Turns(turns.kinds, places, cuts, turns.order, turns.after, turns.chances, turns.times)
    return turns, reduce(turns, costs)


@njit(cache=True)
def collected(turns: Turns, costs: Grid, steps: Grid, pivots: NDArray[np.float64]) -> Grid:
    """By column and cut, what is collected before the chain leaves for lower cuts, given the elimination."""
    columns, count, width = costs.shape[0], len(turns.cuts), costs.shape[2]
    loads = np.zeros((columns, count))
    for column in range(columns):
        paid = costs[column].reshape(-1)
        found = np.zeros(paid.size)  # until the next cut; it stays 0 at cuts
        for here in turns.order:
            found[here] = _next(turns, paid, found, here)
        for place in range(count):
            loads[column, place] = _next(turns, paid, found, turns.cuts[place, 0] * width + turns.cuts[place, 1])
    for k in range(count - 1, -1, -1):
        if pivots[k] > 0.0:
            for i in range(k):
                if steps[i, k] > 0.0:
                    share = steps[i, k] / pivots[k]
                    for column in range(columns):
                        loads[column, i] += share * loads[column, k]
    return loads


@njit(cache=True, inline="always")
def _next(turns: Turns, paid: NDArray[np.float64], found: NDArray[np.float64], here: int) -> float:
    """What is collected in a state, and what was found for its successors."""
    return float(
        paid[here] * turns.times[here]
        + turns.chances[here, 0] * found[turns.after[here, 0]]
        + turns.chances[here, 1] * found[turns.after[here, 1]]
    )


@njit(cache=True)
def expectations(
    turns: Turns, reduced: Reduced, loads: NDArray[np.float64], rates: Grid, at_ends: NDArray[np.float64]
) -> Grid:
    """Solve x(s) = what is collected from s on, given x at the ends: by state.

    `loads`: collected before leaving each cut, eliminated; `rates`: collected per unit of time in each state.
    """
    count, width = len(turns.cuts), rates.shape[1]
    at_cuts, found, paid = np.zeros(count), np.zeros(rates.size), rates.reshape(-1)
    for end in range(len(reduced.ends)):
        at_cuts[reduced.ends[end]] = at_ends[end]
    for k in range(count):
        if reduced.pivots[k] > 0.0:
            total = loads[k]
            for j in range(k):
                total += reduced.steps[k, j] * at_cuts[j]
            for end in range(len(reduced.ends)):
                if reduced.ends[end] > k:
                    total += reduced.steps[k, reduced.ends[end]] * at_ends[end]
            at_cuts[k] = total / reduced.pivots[k]
        found[turns.cuts[k, 0] * width + turns.cuts[k, 1]] = at_cuts[k]
    for here in turns.order:
        found[here] = _next(turns, paid, found, here)
    return found.reshape(rates.shape)


@njit(cache=True)
def closed_class(policy: Policy, q: int, r: int) -> NDArray[np.bool_]:
    """The states that are reached from a state: its class, if it is closed."""
    found = np.zeros(policy.shape, dtype=np.bool_)
    waiting = np.zeros((policy.size, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = q, r
    found[q, r] = True
    first, last = 0, 1
    while first < last:
        q, r = waiting[first]
        first += 1
        for event in range(2):
            if (q > 0) if event == 0 else (r > 0):
                a, b = after_service(policy, q, r) if event == 0 else after_arrival(policy, q, r)
                if not found[a, b]:
                    found[a, b] = True
                    waiting[last, 0], waiting[last, 1] = a, b
                    last += 1
    return found
