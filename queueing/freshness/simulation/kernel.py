r"""The compiled events of simulated robots that keep pages fresh.

An access takes a drawn time, and at its end the copy of the page is new. Of the changes of a page only the first after
a visit matters: its time is drawn then and there (the exponential has no memory), and compared with the clock at the
next visit. So an access costs the same whatever the rates of pages, and nothing happens to pages in between.

Three rules say who is next: a cycle, a draw by Walker's tables, or the earliest due date, where every page has an
interval that is shortened if the visit has seen a change and prolonged if not.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...simulation import Drawn, Matrix, Vector, Whole, draw_time

# Columns of pages (together, as they are needed together), places of the clocks and of the whole numbers of a state.
CHANGED, STALE, VISITED, MEAN = range(4)
NOW, BEGIN = range(2)
SLOTS, LONGEST, SPELLS, PLACE = range(4)


class State(NamedTuple):
    """What changes in a run.

    Attributes
    ----------
    pages
        in a row for each page: when it changes first after its last visit; its time out of date since counting began,
        up to its last visit; the number of the slot of its last visit, -1 before the first; the mean time to a change.
    clocks, numbers
        see the names above.
    """

    pages: Matrix
    clocks: Vector
    numbers: Whole


def first_state(rates: Vector) -> State:
    """Begin with pages that were never visited and are all out of date.

    Parameters
    ----------
    rates
        Changes of each page per unit of time.

    Returns
    -------
    State
        What the kernels change; no time has passed.
    """
    pages = np.zeros((len(rates), 4))
    pages[:, VISITED] = -1.0
    with np.errstate(divide="ignore"):
        pages[:, MEAN] = 1.0 / rates
    return State(pages, np.zeros(2), np.zeros(4, dtype=np.int64))


@njit(cache=True, inline="always")
def _visit(state: State, page: int, rng: np.random.Generator) -> bool:
    """Make the copy of a page new from now on; tell whether it was out of date."""
    pages, clocks, numbers = state.pages, state.clocks, state.numbers
    now, was = clocks[NOW], pages[page, CHANGED]
    stale = bool(was < now)
    if stale:
        pages[page, STALE] += now - max(was, clocks[BEGIN])
        if was >= clocks[BEGIN]:
            numbers[SPELLS] += 1
    mean = pages[page, MEAN]
    pages[page, CHANGED] = now + rng.standard_exponential() * mean if mean < np.inf else np.inf
    before = pages[page, VISITED]
    if before >= 0.0:
        numbers[LONGEST] = max(numbers[LONGEST], numbers[SLOTS] - int(before))
    pages[page, VISITED] = numbers[SLOTS]
    return stale


@njit(cache=True)
def begin_counting(state: State, pages: Whole) -> None:
    """Forget what was counted so far of these pages."""
    state.clocks[BEGIN] = state.clocks[NOW]
    for page in pages:
        state.pages[page, STALE] = 0.0
    state.numbers[SPELLS] = 0
    state.numbers[LONGEST] = 0


@njit(cache=True)
def end_counting(state: State, pages: Whole) -> None:
    """Count pages that are out of date now, and have been since their last visit."""
    for page in pages:
        changed = state.pages[page, CHANGED]
        if changed < state.clocks[NOW]:
            state.pages[page, STALE] += state.clocks[NOW] - max(changed, state.clocks[BEGIN])


@njit(cache=True)
def follow_cycle(cycle: Whole, law: Drawn, state: State, rng: np.random.Generator, slots: int) -> None:
    """Visit the next so many pages of a cycle; a slot with -1 is only as long as a visit."""
    clocks, numbers = state.clocks, state.numbers
    place = numbers[PLACE]
    for _ in range(slots):
        clocks[NOW] += draw_time(law, rng)
        numbers[SLOTS] += 1
        if cycle[place] >= 0:
            _visit(state, cycle[place], rng)
        place = place + 1 if place + 1 < len(cycle) else 0
    numbers[PLACE] = place


@njit(cache=True)
def visit_at_random(
    pages: Whole, table: Matrix, law: Drawn, state: State, rng: np.random.Generator, slots: int
) -> None:
    """Visit so many pages, each drawn by Walker's table; a place behind the last page stands for none."""
    clocks, numbers = state.clocks, state.numbers
    for _ in range(slots):
        clocks[NOW] += draw_time(law, rng)
        numbers[SLOTS] += 1
        mark = rng.random() * len(table)
        drawn = int(mark)
        if mark - drawn >= table[drawn, 0]:
            drawn = int(table[drawn, 1])
        if drawn < len(pages):
            _visit(state, pages[drawn], rng)


@njit(cache=True)
def walker(chances: Vector) -> Matrix:
    """Walker's table: row i is drawn with equal chances, and kept with the chance in it, else it becomes the other."""
    count = len(chances)
    table = np.empty((count, 2))
    table[:, 0] = chances / chances.sum() * count
    table[:, 1] = np.arange(count)
    waiting = np.empty(count, dtype=np.int64)  # poor rows from the left, rich ones from the right
    poor, rich = 0, count
    for row in range(count):
        if table[row, 0] < 1.0:
            waiting[poor] = row
            poor += 1
        else:
            rich -= 1
            waiting[rich] = row
    while poor > 0 and rich < count:
        here, there = waiting[poor - 1], waiting[rich]
        table[here, 1] = there
        table[there, 0] -= 1.0 - table[here, 0]
        poor -= 1
        if table[there, 0] < 1.0:
            rich += 1
            waiting[poor] = there
            poor += 1
    for place in range(poor):  # of rounding alone
        table[waiting[place], 0] = 1.0
    return table


# -- intervals that adapt ----------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """The intervals of a robot that adapts them.

    Attributes
    ----------
    pages
        its pages; the others are by place in this list.
    intervals
        time from a visit to the next, as planned.
    due, heap
        when each page is due, and a heap of places by it.
    sums
        of the inverse intervals, which times the mean access time is what they ask of the robot.
    record
        the last visits, a ring of pages numbered from 1; 0: none yet.
    """

    pages: Whole
    intervals: Vector
    due: Vector
    heap: Whole
    sums: Vector
    record: Whole


def first_plan(pages: Whole, mean: float, rng: np.random.Generator, record: int) -> Plan:
    """Plan equal intervals, and pages in random order."""
    count = len(pages)
    heap = rng.permutation(count)
    due = np.empty(count)
    due[heap] = mean * np.arange(1, count + 1)
    return Plan(
        np.asarray(pages, dtype=np.int64),
        np.full(count, mean * count),
        due,
        heap.astype(np.int64),
        np.array([1.0 / mean]),
        np.zeros(max(1, record), dtype=np.int64),  # takes no memory before it is used
    )


def last_visits(plan: Plan, state: State) -> Whole:
    """List the visits on record.

    Parameters
    ----------
    plan
        Of a robot that adapts its intervals, with room for as many visits as are kept.
    state
        Where the robot is now.

    Returns
    -------
    NDArray[np.int64]
        Pages visited, the oldest visit first.
    """
    after = int(state.numbers[SLOTS]) + 1
    record = plan.record
    if after < len(record):
        return record[:after][record[:after] > 0] - 1
    ordered = np.roll(record, -after % len(record))
    return ordered[ordered > 0] - 1


@njit(cache=True)
def visit_the_earliest_due(
    plan: Plan,
    factors: tuple[float, float],
    least: float,
    most: float,
    mean: float,
    law: Drawn,
    state: State,
    rng: np.random.Generator,
    slots: int,
) -> None:
    """Visit so many pages, whoever is due first, and adapt their intervals: divide by the first factor if the page had
    changed, else multiply by the second.
    """  # noqa: D205 - one sentence
    clocks, numbers, sums = state.clocks, state.numbers, plan.sums
    for _ in range(slots):
        clocks[NOW] += draw_time(law, rng)
        numbers[SLOTS] += 1
        place = plan.heap[0]
        page = plan.pages[place]
        plan.record[numbers[SLOTS] % len(plan.record)] = page + 1
        seen = _visit(state, page, rng)
        before = plan.intervals[place]
        after = min(max(before / factors[0] if seen else before * factors[1], least), most)
        plan.intervals[place] = after
        sums[0] += 1.0 / after - 1.0 / before
        if numbers[SLOTS] % len(plan.pages) == 0:  # lest rounding adds up
            sums[0] = (1.0 / plan.intervals).sum()
        plan.due[place] = clocks[NOW] + min(1.0, mean * sums[0]) * after
        _sink(plan.heap, plan.due)


@njit(cache=True, inline="always")
def _sink(heap: Whole, due: Vector) -> None:
    """Bring the first of a heap to its place."""
    moving, spot, count = heap[0], 0, len(heap)
    while True:
        child = 2 * spot + 1
        if child >= count:
            break
        if child + 1 < count and due[heap[child + 1]] < due[heap[child]]:
            child += 1
        if due[moving] <= due[heap[child]]:
            break
        heap[spot] = heap[child]
        spot = child
    heap[spot] = moving
