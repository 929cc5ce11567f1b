r"""The compiled events of a robot whose pages come and go.

Pages join as a Poisson process and stay for exponential times; or each page that leaves is followed at once by another
of its kind. A new page is out of date until its first visit; the plan hears of it when the next cycle of slots begins,
and then it is due at once. At every visit a page is given the frequency that the price of a visit says,
:math:`f = \ell / u`, :math:`a(1 - (1 + u) e^{-u}) = \lambda`: one number, the price, is all that pages share, so a page
joins or leaves in :math:`O(\log N)`. Earliest due first; pages that have left are dropped when they come up, and cost
no slot.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from queueing.freshness import best_frequency
from queueing.simulation import Drawn, Matrix, Vector, Whole, draw_time

# Columns of places for pages; clocks and sums; whole numbers.
CHANGED, JOINED, LEAVES, VISITED, KIND = range(5)
NOW, BEGIN, NEXT_JOIN, STALE_COST, STAYED = range(5)
SLOTS, IN_HEAP, UNUSED, NEW, VISITS, FIRST_VISITS = range(6)

#: A place that holds no page.
NOBODY = -1.0


class Kinds(NamedTuple):
    """Pages that may come: mean time to a change, weight, and what the best frequency depends on."""

    means: Vector
    weights: Vector
    decays: Vector
    worths: Vector


class Churn(NamedTuple):
    """Pages that are there.

    Attributes
    ----------
    pages
        in a row for each place: when the page changes first after its last visit, when it joined, when it leaves, the
        slot of its last visit (-1 before the first), its kind (-1: the place is free).
    due
        by place, the slot in which the page is due; infinite if it is not to be visited.
    heap, unused, new
        places by due date, places that are free, places of pages that joined in this cycle.
    followed
        by kind, the place of the page that will be followed by another one; empty if pages join as they please.
    clocks, numbers
        see the names above.
    """

    pages: Matrix
    due: Vector
    heap: Whole
    unused: Whole
    new: Whole
    followed: Whole
    clocks: Vector
    numbers: Whole


def no_pages(room: int) -> Churn:
    """Room for so many pages, of which none is followed by another."""
    pages = np.zeros((room, 5))
    pages[:, KIND] = NOBODY
    numbers = np.zeros(6, dtype=np.int64)
    numbers[UNUSED] = room
    unused = np.arange(room - 1, -1, -1, dtype=np.int64)
    lists = [np.zeros(room, dtype=np.int64) for _ in range(2)]
    nobody = np.zeros(0, dtype=np.int64)
    return Churn(pages, np.full(room, np.inf), lists[0], unused, lists[1], nobody, np.zeros(5), numbers)


def with_more_room(churn: Churn) -> Churn:
    """The same pages in twice the room."""
    old = len(churn.due)
    more = no_pages(2 * old)
    more.pages[:old], more.due[:old] = churn.pages, churn.due
    more.heap[:old], more.new[:old] = churn.heap, churn.new
    more.clocks[:], more.numbers[:] = churn.clocks, churn.numbers
    count = int(churn.numbers[UNUSED])
    more.unused[:old] = np.arange(2 * old - 1, old - 1, -1)
    more.unused[old : old + count] = churn.unused[:count]
    more.numbers[UNUSED] = old + count
    return more._replace(followed=churn.followed)


@njit(cache=True)
def pass_slots(
    kinds: Kinds,
    churn: Churn,
    price: float,
    join_rate: float,
    leave_rate: float,
    law: Drawn,
    rng: np.random.Generator,
    cycle: int,
    slots: int,
) -> int:
    """Let so many slots pass, or fewer if there is no room for a page that joins; tells how many are left."""
    pages, clocks, numbers = churn.pages, churn.clocks, churn.numbers
    for done in range(slots):
        if numbers[UNUSED] < 2:  # more than one joins in a slot now and then: they wait for the next
            return slots - done
        if numbers[SLOTS] % cycle == 0:
            begin_cycle(kinds, churn, price)
        clocks[NOW] += draw_time(law, rng)
        numbers[SLOTS] += 1
        while clocks[NEXT_JOIN] <= clocks[NOW] and numbers[UNUSED] > 0:
            _join(kinds, churn, clocks[NEXT_JOIN], leave_rate, rng)
            clocks[NEXT_JOIN] += rng.standard_exponential() / join_rate
        place = _next(kinds, churn)
        if place < 0:
            continue
        kind = int(pages[place, KIND])
        now, was = clocks[NOW], pages[place, CHANGED]
        if was < now:
            clocks[STALE_COST] += kinds.weights[kind] * (now - max(was, clocks[BEGIN]))
        pages[place, CHANGED] = now + rng.standard_exponential() * kinds.means[kind]
        numbers[VISITS] += 1
        if pages[place, VISITED] < 0:
            numbers[FIRST_VISITS] += 1
        pages[place, VISITED] = numbers[SLOTS]
        frequency = best_frequency(kinds.decays[kind], kinds.worths[kind], price)
        churn.due[place] = numbers[SLOTS] + 1.0 / frequency if frequency > 0.0 else np.inf
        _sink(churn.heap[: numbers[IN_HEAP]], churn.due, 0)
    return 0


@njit(cache=True, inline="always")
def _next(kinds: Kinds, churn: Churn) -> int:
    """The page that is due first and has not left before its visit ends; -1 if there is none."""
    numbers = churn.numbers
    while numbers[IN_HEAP] > 0:
        place = churn.heap[0]
        if churn.pages[place, LEAVES] > churn.clocks[NOW] and churn.due[place] < np.inf:
            return int(place)
        if churn.due[place] == np.inf:
            return -1
        _drop(kinds, churn, place)
        numbers[IN_HEAP] -= 1
        churn.heap[0] = churn.heap[numbers[IN_HEAP]]
        _sink(churn.heap[: numbers[IN_HEAP]], churn.due, 0)
    return -1


@njit(cache=True)
def _join(kinds: Kinds, churn: Churn, moment: float, leave_rate: float, rng: np.random.Generator) -> None:
    """A page of some kind joins; another of its kind leaves, if it is followed."""
    pages, numbers = churn.pages, churn.numbers
    numbers[UNUSED] -= 1
    place = churn.unused[numbers[UNUSED]]
    kind = int(rng.random() * len(kinds.means))
    if len(churn.followed):
        pages[churn.followed[kind], LEAVES] = moment
        churn.followed[kind] = place
        pages[place, LEAVES] = np.inf
    else:
        pages[place, LEAVES] = moment + rng.standard_exponential() / leave_rate
    pages[place, CHANGED] = moment if kinds.means[kind] < np.inf else np.inf
    pages[place, JOINED] = moment
    pages[place, VISITED] = -1.0
    pages[place, KIND] = kind
    churn.due[place] = np.inf
    churn.new[numbers[NEW]] = place
    numbers[NEW] += 1


@njit(cache=True)
def _drop(kinds: Kinds, churn: Churn, place: int) -> None:
    """Count a page that has left, and free its place."""
    count_page(kinds, churn, place, churn.pages[place, LEAVES])
    churn.pages[place, KIND] = NOBODY
    churn.unused[churn.numbers[UNUSED]] = place
    churn.numbers[UNUSED] += 1


@njit(cache=True)
def count_page(kinds: Kinds, churn: Churn, place: int, end: float) -> None:
    """Count the time of a page since its last visit, out of date, and since it joined, up to a moment."""
    clocks, page = churn.clocks, churn.pages[place]
    if page[CHANGED] < end:
        clocks[STALE_COST] += kinds.weights[int(page[KIND])] * max(0.0, end - max(page[CHANGED], clocks[BEGIN]))
    clocks[STAYED] += max(0.0, end - max(page[JOINED], clocks[BEGIN]))


@njit(cache=True)
def begin_cycle(kinds: Kinds, churn: Churn, price: float) -> None:
    """Pages that joined since the last cycle began are due now; those that left are gone."""
    numbers = churn.numbers
    for index in range(numbers[NEW]):
        place = churn.new[index]
        kind = int(churn.pages[place, KIND])
        if churn.pages[place, LEAVES] <= churn.clocks[NOW]:
            _drop(kinds, churn, place)
            continue
        if kinds.worths[kind] > price:
            churn.due[place] = numbers[SLOTS]
        churn.heap[numbers[IN_HEAP]] = place
        numbers[IN_HEAP] += 1
        _rise(churn.heap, churn.due, numbers[IN_HEAP] - 1)
    numbers[NEW] = 0


@njit(cache=True)
def correct(kinds: Kinds, churn: Churn, price: float) -> None:
    """Look at all pages: drop those that have left, and make due those that have become worth a visit.

    Must follow `begin_cycle`: then the heap holds every page, those that are never due at its end.
    """
    numbers = churn.numbers
    kept = 0
    for index in range(numbers[IN_HEAP]):
        place = churn.heap[index]
        if churn.pages[place, LEAVES] <= churn.clocks[NOW]:
            _drop(kinds, churn, place)
            continue
        kind = int(churn.pages[place, KIND])
        if churn.due[place] == np.inf and kinds.worths[kind] > price:
            last = churn.pages[place, VISITED]
            gap = 1.0 / best_frequency(kinds.decays[kind], kinds.worths[kind], price)
            churn.due[place] = last + gap if last >= 0.0 else float(numbers[SLOTS])
        churn.heap[kept] = place
        kept += 1
    numbers[IN_HEAP] = kept
    for spot in range(kept // 2 - 1, -1, -1):
        _sink(churn.heap[:kept], churn.due, spot)


@njit(cache=True)
def begin_counting(churn: Churn) -> None:
    """Forget what was counted so far."""
    churn.clocks[BEGIN] = churn.clocks[NOW]
    churn.clocks[STALE_COST] = 0.0
    churn.clocks[STAYED] = 0.0
    churn.numbers[VISITS] = 0
    churn.numbers[FIRST_VISITS] = 0


@njit(cache=True)
def end_counting(kinds: Kinds, churn: Churn) -> None:
    """Count all pages up to now, or to when they left."""
    for place in range(len(churn.due)):
        if churn.pages[place, KIND] >= 0:
            count_page(kinds, churn, place, min(churn.clocks[NOW], churn.pages[place, LEAVES]))


@njit(cache=True, inline="always")
def _sink(heap: Whole, due: Vector, spot: int) -> None:
    count = len(heap)
    if count == 0:
        return
    moving = heap[spot]
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


@njit(cache=True, inline="always")
def _rise(heap: Whole, due: Vector, spot: int) -> None:
    moving = heap[spot]
    while spot > 0:
        parent = (spot - 1) // 2
        if due[heap[parent]] <= due[moving]:
            break
        heap[spot] = heap[parent]
        spot = parent
    heap[spot] = moving
