r"""Measures of many threshold policies at once: what policies share is computed once.

Where patience has several phases, :mod:`queueing.threshold.neighbours` does it. The rest is about one phase.

Levels are taken out from the top, as in :mod:`queueing.threshold.methods.elimination`. Beside :math:`G_i`, where level
i - 1 is first met from level i, stands :math:`R_i`: what a first passage from level i to level i - 1 yields on the way,
one column for each thing counted (time, pages lost, time of served pages, ...),

.. math::  R_i = (-\bar Q_{ii})^{-1} \Bigl[ r_i + \sum_{s \ge 1} Q_{i,i+s}
           \bigl(R_{i+s} + G_{i+s} R_{i+s-1} + \cdots + G_{i+s} \cdots G_{i+2} R_{i+1}\bigr) \Bigr],

with :math:`r_i` the yield of a unit of time on level i. At level 0 the stationary distribution of the chain watched
there weighs all columns, and every measure is a quotient of two of them: nothing is substituted back, and nothing is
subtracted.

:math:`G_i` and :math:`R_i` depend on the modes of levels i and above only. Policies are ordered by their modes from the
top down, so that neighbours agree on the longest stretch; each is computed from where it leaves the one before. All
:math:`\binom{K+N}{N-1}` threshold policies of N modes together take :math:`\binom{K+N+1}{N} - 1` levels, not
:math:`(K+1) \binom{K+N}{N-1}`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numba import njit

from ..numerics import Integers, Matrix, Vector, eliminate_all, factor_in_place, solve_in_place
from .methods import ELIMINATION, PARTIAL, WHOLE, Blocks, Rates, climb_of, outcomes_of, rates_of, reach_of, room_at
from .queue import MEASURES, ThresholdMeasures, ThresholdQueue

# What is counted: time, robots x time; pages lost, out of date, served; time of pages that will be served, and of those
# that will go out of date. Arrivals are the sum of the three fates, and pages in the system that of the two times
# (Little's law); such sums lose no digit.
_TIME, _ROBOTS, _LOST, _OBSOLETE, _SERVED, _SERVED_TIME, _OBSOLETE_TIME = range(7)
_COLUMNS = 7


@dataclass(frozen=True)
class ManyMeasures:
    """Scalar measures of several policies, in the order in which the policies were given.

    Attributes
    ----------
    values
        by name, as in `ThresholdMeasures`, one number for each policy; nan where a measure has no meaning.
    levels
        levels that were eliminated, where patience has one phase: the fewer, the more the policies share.
    alone
        policies that had to be evaluated one by one.
    """

    values: dict[str, Vector]
    levels: int
    alone: int

    def rows(self) -> list[dict[str, float | None]]:
        """Return one record for each policy, with None where a measure has no meaning."""
        columns = [[None if value != value else value for value in self.values[name].tolist()] for name in MEASURES]
        return [dict(zip(MEASURES, row, strict=True)) for row in zip(*columns, strict=True)]


def shares_work(queue: ThresholdQueue) -> bool:
    """Tell whether policies of this queue can be eliminated together.

    Parameters
    ----------
    queue
        the queue.

    Returns
    -------
    bool
        whether its patience has one phase, or pages never go out of date.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType
    >>> from queueing.threshold import ThresholdQueue, shares_work
    >>> service, patience = PhaseType.exponential(1.0), PhaseType.erlang(2, 0.1)
    >>> shares_work(ThresholdQueue((BMAP.poisson(1.0),), service, capacity=3))
    True
    >>> shares_work(ThresholdQueue((BMAP.poisson(1.0),), service, patience, capacity=3))
    False
    """
    return ELIMINATION.refusal(queue.model) is None


def takes_many(queue: ThresholdQueue) -> bool:
    """Tell whether several policies of this queue together cost less than one by one."""
    from .neighbours import NEIGHBOURS_LIMIT

    return shares_work(queue) or queue.model.states <= NEIGHBOURS_LIMIT


def measures_of_many(queue: ThresholdQueue, policies: Sequence[Sequence[SupportsIndex]]) -> ManyMeasures:
    """Compute all scalar measures of several threshold policies; what policies share is computed once.

    Parameters
    ----------
    queue
        any. Where `shares_work` says no, policies share tables, and each begins with the solution of a neighbour
        (see :mod:`queueing.threshold.neighbours`); queues too large for that are evaluated a policy at a time.
    policies
        thresholds as `ThresholdQueue.measures` takes them.

    Returns
    -------
    ManyMeasures
        arrays by the name of the measure, one number for each policy.

    Examples
    --------
    >>> from queueing.threshold import ThresholdQueue, measures_of_many
    >>> from queueing import BMAP, PhaseType
    >>> queue = ThresholdQueue((BMAP.poisson(0.5), BMAP.poisson(1.0)), PhaseType.exponential(1.0), capacity=3)
    >>> measures_of_many(queue, [(0,), (1,), (2,)]).values["loss"].round(6)
    array([0.066667, 0.090909, 0.142857])
    """
    count = len(policies)
    values = {name: np.full(count, np.nan) for name in MEASURES}
    alone = list(range(count))
    levels = 0
    if count and shares_work(queue):
        modes = _modes_by_level(queue, _limits(queue, policies))
        order = np.lexsort(modes.T)  # the last key, the highest level, decides first
        robots = np.array([mode.robots for mode in queue.modes], dtype=np.float64)
        rates = rates_of(queue.model)
        sums, empty, levels = _search(rates, modes[order], _yields(rates, robots, outcomes_of(rates)))
        values = _measures(sums, empty, np.argsort(order))
        # A passage down may take longer than a double can hold, where the single evaluation scales its numbers.
        alone = np.flatnonzero(~np.isfinite(values["arrival_rate"]) | ~np.isfinite(values["mean_length"])).tolist()
    elif count > 1 and takes_many(queue):
        from .neighbours import flows_of_neighbours, in_small_steps

        limits = _limits(queue, policies)
        modes, order = _modes_by_level(queue, limits), in_small_steps(limits)
        alone = []
        for index, flows in zip(order.tolist(), flows_of_neighbours(queue.model, modes[order]), strict=True):
            if flows is None:
                alone.append(index)
            else:
                _enter(values, index, queue._measures(flows, modes[index], "matrix-free"))
    for index in alone:
        _enter(values, index, queue.measures(policies[index]))
    return ManyMeasures(values, int(levels), len(alone))


def _enter(values: dict[str, Vector], index: int, measures: ThresholdMeasures) -> None:
    for name, value in measures.scalars().items():
        values[name][index] = np.nan if value is None else value


def _limits(queue: ThresholdQueue, policies: Sequence[Sequence[SupportsIndex]]) -> Integers:
    """Return the thresholds of each policy, a row for each."""
    limits = _whole_numbers(policies, len(queue.modes) - 1)
    if limits is None or (limits < -1).any() or (limits > queue.capacity).any() or (np.diff(limits, axis=1) < 0).any():
        return np.array([queue.thresholds(policy) for policy in policies], np.int64)  # refuses the first wrong one
    return limits


def _modes_by_level(queue: ThresholdQueue, limits: Integers) -> Integers:
    """Return `ThresholdQueue.mode_by_level` of each policy, a row for each."""
    thresholds = len(queue.modes) - 1
    levels = np.minimum(np.arange(queue.model.top + 1), queue.capacity)
    modes = np.full((len(limits), len(levels)), thresholds, dtype=np.int64)
    for column in range(thresholds):
        modes -= limits[:, column, np.newaxis] < levels
    return modes


def _whole_numbers(policies: Sequence[Sequence[SupportsIndex]], width: int) -> Integers | None:
    """Return the policies as one array, or None if they are not lists of so many whole numbers."""
    try:
        array = np.array(policies if width else np.zeros((len(policies), 0), np.int64))
    except ValueError:  # of different lengths
        return None
    right = array.shape == (len(policies), width) and array.dtype.kind == "i"
    return array.astype(np.int64) if right and (width or not any(map(len, policies))) else None


def _measures(sums: Matrix, empty: Vector, places: Integers) -> dict[str, Vector]:
    with np.errstate(divide="ignore", invalid="ignore"):
        flows = (sums / sums[:, _TIME : _TIME + 1])[places].T
        served, obsolete = flows[_SERVED], flows[_OBSOLETE]
        arriving = flows[_LOST] + obsolete + served
        times = flows[_SERVED_TIME], flows[_OBSOLETE_TIME]
        values = {
            "arrival_rate": arriving,
            "loss": flows[_LOST] / arriving,
            "obsolescence": obsolete / arriving,
            "success": served / arriving,
            "starvation": (empty / sums[:, _TIME])[places],
            "active_robots": flows[_ROBOTS],
            "mean_length": times[0] + times[1],
            "response_time": times[0] / served,
            "obsolete_time": times[1] / obsolete,
            "sojourn_time": (times[0] + times[1]) / arriving,
            "loss_rate": flows[_LOST],
            "obsolescence_rate": obsolete,
        }
    return {name: values[name] for name in MEASURES}


@njit(cache=True)
def _yields(rates: Rates, robots: Vector, outcomes: Blocks) -> Blocks:
    """Tell, by mode, level, state and column, what a unit of time yields; level 0 has the first W states."""
    count, batches, phases, _ = rates.blocks.shape
    largest, order = batches - 1, len(rates.start)
    result = np.zeros((count, rates.top + 1, phases * order, _COLUMNS))
    joining = np.zeros(phases)
    for mode in range(count):
        for level in range(rates.top + 1):
            room = room_at(rates, level)
            for nu in range(phases):
                joining[nu] = 0.0
                lost = 0.0
                for batch in range(1, largest + 1):
                    rate = 0.0
                    for other in range(phases):
                        rate += rates.blocks[mode, batch, nu, other]
                    if rates.admission == PARTIAL:
                        lost += max(0, batch - room) * rate
                    elif (rates.admission == WHOLE and batch > room) or room == 0:
                        lost += batch * rate
                for phase in range(order if level > 0 else 1):
                    state = nu * order + phase if level > 0 else nu
                    result[mode, level, state, _TIME] = 1.0
                    result[mode, level, state, _ROBOTS] = robots[mode]
                    result[mode, level, state, _LOST] = lost
                    if level > 0:
                        result[mode, level, state, _OBSOLETE] = (level - 1) * rates.fading
                        result[mode, level, state, _SERVED] = rates.ending[phase]
            for step in range(reach_of(rates, level), 0, -1):
                climb = climb_of(rates, mode, level, step)
                for nu in range(phases):
                    for other in range(phases):
                        joining[nu] += climb[nu, other]  # rate of batches of which at least `step` pages enter
                    for phase in range(order):
                        state, share = nu * order + phase, joining[nu]
                        if level == 0:
                            state, share = nu, joining[nu] * rates.start[phase]
                        result[mode, level, state, _SERVED_TIME] += share * outcomes[1, level + step - 1, phase]
                        result[mode, level, state, _OBSOLETE_TIME] += share * outcomes[3, level + step - 1, phase]
    return result


@njit(cache=True)
def _search(rates: Rates, modes: Integers, yields: Blocks) -> tuple[Matrix, Vector, int]:
    """Find, for each policy, columns at level 0 and its share of time, and the number of levels computed.

    `modes` has a row for each policy; rows that agree on their highest levels stand together.
    """
    phases, order, top = rates.blocks.shape[2], len(rates.start), rates.top
    size = phases * order
    width = -(-(size + _COLUMNS) // 4) * 4  # columns are worked on four at a time
    # By level: G in the first columns, R in the next.
    passages = np.zeros((top + 1, size, width))
    within = np.zeros((size, size))
    yielded = np.zeros((size, _COLUMNS))
    product = np.zeros(width)
    exits, totals = np.zeros(size), np.zeros(size)
    bottom = np.zeros((phases, phases))
    sums, empty = np.zeros((len(modes), _COLUMNS)), np.zeros(len(modes))
    lifts, bottom_lifts = _lifts(rates)
    beginnings = _beginnings(rates, yields, width)
    largest = rates.blocks.shape[1] - 1
    computed = 0
    for policy in range(len(modes)):
        first = top
        if policy > 0:
            while first >= 0 and modes[policy, first] == modes[policy - 1, first]:
                first -= 1
        for level in range(first, 0, -1):
            mode = modes[policy, level]
            computed += 1
            room = min(room_at(rates, level), largest)
            _climb_and_fall(lifts[mode, room], reach_of(rates, level), level, passages, within, yielded, product)
            fading = (level - 1) * rates.fading
            for nu in range(phases):
                for phase in range(order):
                    exits[nu * order + phase] = rates.ending[phase] + fading
            begun, passage = beginnings[mode, level], passages[level]
            for state in range(size):
                passage[state] = begun[state]
                for column in range(_COLUMNS):
                    passage[state, size + column] += yielded[state, column]
            if size == 4:
                _solve_by_four(within, exits, passages[level])
            else:
                factor_in_place(within, exits, totals)
                solve_in_place(within, totals, passages[level])
        if first >= 0:
            computed += 1
            mode = modes[policy, 0]
            room = min(rates.capacity, largest)
            _climb_and_fall(bottom_lifts[mode, room], reach_of(rates, 0), 0, passages, within, yielded, product)
            bottom[:] = within[:phases, :phases]
            share = eliminate_all(bottom)
            for column in range(_COLUMNS):
                value = 0.0
                for nu in range(phases):
                    value += share[nu] * (yields[mode, 0, nu, column] + yielded[nu, column])
                sums[policy, column] = value
            value = 0.0
            for nu in range(phases):
                value += share[nu]
            empty[policy] = value
        else:  # the same policy once more
            sums[policy] = sums[policy - 1]
            empty[policy] = empty[policy - 1]
    return sums, empty, computed


@njit(cache=True)
def _beginnings(rates: Rates, yields: Blocks, width: int) -> Blocks:
    """Write, by mode and level, rates to the level below, then what a unit of time yields."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    size = phases * order
    result = np.zeros((yields.shape[0], yields.shape[1], size, width))
    for mode in range(yields.shape[0]):
        for level in range(1, rates.top + 1):
            for nu in range(phases):
                for phase in range(order):
                    state = nu * order + phase
                    for column in range(_COLUMNS):
                        result[mode, level, state, size + column] = yields[mode, level, state, column]
                    if level == 1:
                        result[mode, level, state, nu] = rates.ending[phase]
                        continue
                    for other in range(order):
                        result[mode, level, state, nu * order + other] = rates.ending[phase] * rates.start[other]
                    result[mode, level, state, state] += (level - 1) * rates.fading
    return result


@njit(cache=True)
def _lifts(rates: Rates) -> tuple[Blocks, Blocks]:
    """Write `climb_of`, by mode, room and step, for all states of a level, and of level 0; service is with step 0.

    Room counts up to the largest batch; more makes no difference.
    """
    count, batches, phases, _ = rates.blocks.shape
    largest, order = batches - 1, len(rates.start)
    size = phases * order
    within = np.zeros((count, largest + 1, largest + 1, size, size))
    bottom = np.zeros((count, largest + 1, largest + 1, phases, size))
    for mode in range(count):
        for room in range(min(largest, rates.capacity) + 1):
            level = rates.capacity - room
            for step in range(reach_of(rates, level) + 1):
                climb = climb_of(rates, mode, level, step)
                for before in range(phases):
                    if step == 0:
                        for phase in range(order):
                            for other in range(order):
                                state = before * order
                                within[mode, room, 0, state + phase, state + other] += rates.service[phase, other]
                    for after in range(phases):
                        rate = climb[before, after]
                        for phase in range(order):
                            within[mode, room, step, before * order + phase, after * order + phase] += rate
                            if step > 0:
                                bottom[mode, room, step, before, after * order + phase] = rate * rates.start[phase]
                        if step == 0:
                            bottom[mode, room, step, before, after] = rate
    return within, bottom


@njit(cache=True, fastmath={"contract"})
def _climb_and_fall(
    lifts: Blocks, reach: int, level: int, passages: Blocks, within: Matrix, yielded: Matrix, product: Vector
) -> None:
    """Find the rates from `level` back to it through higher levels, and what these yield per unit of time."""
    rows, size = lifts.shape[1], lifts.shape[2]
    columns = yielded.shape[1]
    for row in range(rows):
        for column in range(size):
            within[row, column] = lifts[reach, row, column]
        for column in range(columns):
            yielded[row, column] = 0.0
    if size == 4:
        _climb_and_fall_by_four(lifts, reach, level, passages, within, yielded)
        return
    for step in range(reach, 0, -1):
        above = passages[level + step]
        for row in range(rows):
            for column in range(0, len(product), 4):
                one, two, three, four = 0.0, 0.0, 0.0, 0.0
                for inner in range(size):
                    value = within[row, inner]
                    one += value * above[inner, column]
                    two += value * above[inner, column + 1]
                    three += value * above[inner, column + 2]
                    four += value * above[inner, column + 3]
                product[column] = one
                product[column + 1] = two
                product[column + 2] = three
                product[column + 3] = four
            for column in range(size):
                within[row, column] = product[column] + lifts[step - 1, row, column]
            for column in range(columns):
                yielded[row, column] += product[size + column]


@njit(cache=True, fastmath={"contract"})
def _climb_and_fall_by_four(
    lifts: Blocks, reach: int, level: int, passages: Blocks, within: Matrix, yielded: Matrix
) -> None:
    """Run the loop of `_climb_and_fall` for two phases of arrivals and of service, unrolled: four times as fast."""
    for step in range(reach, 0, -1):
        above, lower = passages[level + step], lifts[step - 1]
        for row in range(lifts.shape[1]):
            one, two, three, four = within[row, 0], within[row, 1], within[row, 2], within[row, 3]
            for column in range(4):
                within[row, column] = (
                    (lower[row, column] + one * above[0, column]) + (two * above[1, column] + three * above[2, column])
                ) + four * above[3, column]
            for column in range(_COLUMNS):
                yielded[row, column] += (
                    one * above[0, 4 + column] + two * above[1, 4 + column] + three * above[2, 4 + column]
                ) + four * above[3, 4 + column]


@njit(cache=True, fastmath={"contract"})
def _solve_by_four(factors: Matrix, leaving: Vector, right: Matrix) -> None:
    """Do `factor_in_place` and `solve_in_place` for four states, twelve columns, in loops that are unrolled."""
    for x in range(3, -1, -1):
        total = leaving[x]
        for y in range(x):
            total += factors[x, y]
        inverse = 1.0 / total
        factors[x, x] = inverse
        for z in range(x):
            share = factors[z, x] * inverse
            leaving[z] += share * leaving[x]
            for y in range(x):
                factors[z, y] += share * factors[x, y]
            for column in range(4 + _COLUMNS):
                right[z, column] += share * right[x, column]
    for x in range(4):
        for y in range(x):
            rate = factors[x, y]
            for column in range(4 + _COLUMNS):
                right[x, column] += rate * right[y, column]
        for column in range(4 + _COLUMNS):
            right[x, column] *= factors[x, x]
