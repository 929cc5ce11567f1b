r"""The compiled events of a simulated queue.

Three clocks run: the next move of the chain behind the arrivals, the end of the service under way, and the deadline of
the waiting page that goes out of date first. Whichever is due first happens. The chain has no memory: when the number
of pages changes the mode, its phase stays and its clock is set anew.

Waiting pages are kept twice, in the order they came (a list linked both ways) and as a heap by deadline in which every
page knows its place, so that a page can leave from anywhere in the time of O(log pages).

All functions become one (`inline`): handed from one compiled function to another, every array of a state is counted as
held once more, by an operation that locks the bus, which made an event take twice as long.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...simulation import CONSTANT, NEVER, Law, Matrix, Vector, Whole, choose

PARTIAL, WHOLE, COMPLETE = range(3)
FIRST, LAST, RANDOM = range(3)

# What is counted, in this order, before the time spent at each level.
ARRIVED, LOST, OBSOLETE, SERVED, OBSOLETE_TIME, SERVED_TIME = range(6)
COUNTS = 6

# Places of the clocks, and of the whole numbers of a state.
NOW, MOVE, FINISH, ENTERED = range(4)
PHASE, LEVEL, HEAD, TAIL, FREE, EVENTS = range(6)

NOBODY = -1


class Rules(NamedTuple):
    """All that stays the same during a simulation.

    Attributes
    ----------
    rates, moves
        by mode and phase of arrivals: the rate of moves; in a row for each, phases of the first mode first, sums of the
        chances to move with 0 pages to phase 0, 1, ..., with 1 page to phase 0, ...
    modes
        by level, the mode in force.
    service, patience
        laws of the times of service and of waiting before a page is out of date.
    capacity, admission, order
        K, what becomes of a batch that finds too little room, and who is served next.
    """

    rates: Matrix
    moves: Matrix
    modes: Whole
    service: Law
    patience: Law
    capacity: int
    admission: int
    order: int


class State(NamedTuple):
    """All that changes: clocks, places, the waiting pages, and what was counted.

    Attributes
    ----------
    clocks, places
        see the names above; ENTERED is when the page in service entered the system.
    entered, deadlines, before, after, spot, heap
        by slot: when its page entered, when it goes out of date, its neighbours in order, its place in the heap; by
        place in the heap: the slot. Free slots are linked by `after`.
    counts
        see the names above, followed by the time spent at each level.
    sojourns, kept
        times in the system of pages that went out of date (row 0) and were served (row 1), and how many are kept.
    """

    clocks: Vector
    places: Whole
    entered: Vector
    deadlines: Vector
    before: Whole
    after: Whole
    spot: Whole
    heap: Whole
    counts: Vector
    sojourns: Matrix
    kept: Whole


def empty_state(top: int, samples: int) -> State:
    """Return the queue at time 0, without a page; `run` starts the chain."""
    room = max(1, top)
    after = np.arange(1, room + 1, dtype=np.int64)
    after[-1] = NOBODY
    return State(
        clocks=np.array([0.0, -1.0, np.inf, 0.0]),
        places=np.array([0, 0, NOBODY, NOBODY, 0, 0], dtype=np.int64),
        entered=np.zeros(room),
        deadlines=np.zeros(room),
        before=np.full(room, NOBODY, dtype=np.int64),
        after=after,
        spot=np.zeros(room, dtype=np.int64),
        heap=np.zeros(room, dtype=np.int64),
        counts=np.zeros(COUNTS + top + 1),
        sojourns=np.zeros((2, samples)),
        kept=np.zeros(2, dtype=np.int64),
    )


@njit(cache=True)
def run(rules: Rules, state: State, rng: np.random.Generator, begin: float, end: float, events: int) -> bool:
    """Go on to time `end`, or for so many events; counts begin at `begin`. Tells whether the end was reached."""
    clocks, places, counts = state.clocks, state.places, state.counts
    if clocks[MOVE] < 0:
        _set_move(rules, state, rng)
    for _ in range(events):
        level = places[LEVEL]
        deadline = state.deadlines[state.heap[0]] if level > 1 else np.inf
        due = min(clocks[MOVE], clocks[FINISH], deadline)
        if due > begin:
            counts[COUNTS + level] += min(due, end) - max(clocks[NOW], begin)
        if due >= end:
            clocks[NOW] = end
            return True
        clocks[NOW] = due
        places[EVENTS] += 1
        counted = due >= begin
        mode = rules.modes[level]
        if due == clocks[MOVE]:
            _move(rules, state, rng, counted)
            _set_move(rules, state, rng)
            continue
        if due == clocks[FINISH]:
            if counted:
                _leave(state, 1, SERVED, SERVED_TIME, due - clocks[ENTERED])
            places[LEVEL] -= 1
            if level > 1:
                page = _next_page(rules, state, rng, level - 1)
                clocks[ENTERED] = state.entered[page]
                _remove(state, page, level - 1)
                clocks[FINISH] = due + _draw(rules.service, rng)
            else:
                clocks[FINISH] = np.inf
        else:
            page = state.heap[0]
            if counted:
                _leave(state, 0, OBSOLETE, OBSOLETE_TIME, due - state.entered[page])
            _remove(state, page, level - 1)
            places[LEVEL] -= 1
        if rules.modes[places[LEVEL]] != mode:
            _set_move(rules, state, rng)
    return False


@njit(cache=True, inline="always")
def _leave(state: State, row: int, number: int, total: int, spent: float) -> None:
    state.counts[number] += 1.0
    state.counts[total] += spent
    if state.kept[row] < state.sojourns.shape[1]:
        state.sojourns[row, state.kept[row]] = spent
        state.kept[row] += 1


@njit(cache=True, inline="always")
def _set_move(rules: Rules, state: State, rng: np.random.Generator) -> None:
    rate = rules.rates[rules.modes[state.places[LEVEL]], state.places[PHASE]]
    state.clocks[MOVE] = state.clocks[NOW] + rng.standard_exponential() / rate if rate > 0 else np.inf


@njit(cache=True, inline="always")
def _move(rules: Rules, state: State, rng: np.random.Generator, counted: bool) -> None:
    """Let the chain move, and perhaps a batch comes."""
    places, now = state.places, state.clocks[NOW]
    level, phases = places[LEVEL], rules.rates.shape[1]
    chosen = choose(rules.moves, rules.modes[level] * phases + places[PHASE], rng)
    batch = chosen // phases
    places[PHASE] = chosen % phases
    if batch == 0:
        return
    room = max(0, rules.capacity - level)
    if rules.admission == PARTIAL:
        entering = min(batch, room)
    elif rules.admission == WHOLE:
        entering = batch if batch <= room else 0
    else:
        entering = batch if room > 0 else 0
    if counted:
        state.counts[ARRIVED] += batch
        state.counts[LOST] += batch - entering
    for _ in range(entering):
        if places[LEVEL] == 0:
            state.clocks[ENTERED] = now
            state.clocks[FINISH] = now + _draw(rules.service, rng)
        else:
            _add(state, now, now + _draw(rules.patience, rng), places[LEVEL] - 1)
        places[LEVEL] += 1


@njit(cache=True, inline="always")
def _draw(law: Law, rng: np.random.Generator) -> float:
    if law.form == NEVER:
        return np.inf
    if law.form == CONSTANT:
        return law.value
    phase = choose(law.start, 0, rng)
    spent = 0.0
    while phase < law.rates.shape[0]:
        spent += rng.standard_exponential() / law.rates[phase]
        phase = choose(law.moves, phase, rng)
    return spent


# -- the waiting pages -------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _next_page(rules: Rules, state: State, rng: np.random.Generator, waiting: int) -> int:
    if rules.order == FIRST:
        return int(state.places[HEAD])
    if rules.order == LAST:
        return int(state.places[TAIL])
    return int(state.heap[int(rng.random() * waiting)])


@njit(cache=True, inline="always")
def _add(state: State, now: float, deadline: float, waiting: int) -> None:
    """Let a page join the `waiting` ones."""
    places = state.places
    page = places[FREE]
    places[FREE] = state.after[page]
    state.entered[page] = now
    state.deadlines[page] = deadline
    state.before[page] = places[TAIL]
    state.after[page] = NOBODY
    if places[TAIL] == NOBODY:
        places[HEAD] = page
    else:
        state.after[places[TAIL]] = page
    places[TAIL] = page
    _rise(state, page, waiting)


@njit(cache=True, inline="always")
def _remove(state: State, page: int, waiting: int) -> None:
    """Let a page leave the `waiting` ones, of which it is one."""
    places = state.places
    before, after = state.before[page], state.after[page]
    if before == NOBODY:
        places[HEAD] = after
    else:
        state.after[before] = after
    if after == NOBODY:
        places[TAIL] = before
    else:
        state.before[after] = before
    state.after[page] = places[FREE]
    places[FREE] = page
    hole, last = state.spot[page], state.heap[waiting - 1]
    if last != page:  # the last page of the heap takes the place, and finds its own
        _sink(state, last, hole, waiting - 1)
        _rise(state, last, state.spot[last])


@njit(cache=True, inline="always")
def _rise(state: State, page: int, spot: int) -> None:
    heap, deadlines = state.heap, state.deadlines
    while spot > 0:
        parent = (spot - 1) // 2
        other = heap[parent]
        if deadlines[other] <= deadlines[page]:
            break
        heap[spot] = other
        state.spot[other] = spot
        spot = parent
    heap[spot] = page
    state.spot[page] = spot


@njit(cache=True, inline="always")
def _sink(state: State, page: int, spot: int, waiting: int) -> None:
    heap, deadlines = state.heap, state.deadlines
    while True:
        child = 2 * spot + 1
        if child >= waiting:
            break
        if child + 1 < waiting and deadlines[heap[child + 1]] < deadlines[heap[child]]:
            child += 1
        other = heap[child]
        if deadlines[page] <= deadlines[other]:
            break
        heap[spot] = other
        state.spot[other] = spot
        spot = child
    heap[spot] = page
    state.spot[page] = spot
