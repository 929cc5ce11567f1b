r"""Earliest due date first, with a calendar queue.

A visit of page i at slot t makes it due again at :math:`t + P_i - \gamma (t - s)`, where :math:`P_i = 1/f_i` and s is
where the visit would have been had all gaps been :math:`P_i` from the first one on. With :math:`\gamma = 0` the due
date is reset at each visit, and what was lost is never made up for; :math:`\gamma = 1` is stride scheduling, where one
late visit makes the next gap short. A quarter is better than both (measured), keeps every count right for ever, and
with :math:`\gamma = 1/(k+1)` for the last k visits of a cycle the gap across its end is one like the others.

The earliest due date is that of the page which is most slots late. A slot is much for a page whose gap is three slots
and nothing for one whose gap is a thousand: what is lost grows with the square of the delay in parts of the gap. Pages
with gaps of 64 slots at most, of which there are 64 at most, are therefore kept apart, and the one that is latest in
parts of its gap, :math:`(t + 1/2 - \text{due}) / P_i`, goes before the earliest of the others if that is not later in
these parts. Where one of 30 pages takes a third of all slots, nine tenths of what due dates alone lose are saved
(measured); where no page takes more than 1/64 nothing changes.

The calendar is a ring of days of one slot, each a chain of pages. The pages of the day that has come wait in a small
heap; all others are due later, so that its first is the earliest of all. A page that is due years later (a year is one
turn of the ring) is passed by when its day comes. A ring of B days costs :math:`\sum_i f_i / (f_i B) = N/B` such looks
a slot, whatever the frequencies are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .. import interrupting
from ..protocols import Matrix, Vector, Whole

#: Columns of the record of a page: its key in the calendar, its gap, where its last visit should have been (NaN: there
#: was none), visits left; for the index also its last visit, its worth, its decay, and the price its index is held to.
KEY, PERIOD, IDEAL, LEFT, LAST, WORTH, DECAY, PRICE = range(8)

#: Places of the state: time, length of a slot in that time, days in one unit of it, the day, pages waiting, linked, and
#: visited often.
NOW, STEP, DAYS, DAY, WAITING, LINKED, OFTEN = range(7)

#: The part of a delay that the next gap makes up for.
PULL = 0.25

#: Pages with gaps of so many slots at most are visited often, and so many are compared at most.
SHORT = 64

#: Days of the ring for each page, at least.
DAYS_FOR_EACH = 2

#: Slots that are filled at once: some tenths of a second.
SLICE = 1 << 20

GOLDEN = (math.sqrt(5) - 1) / 2


class Calendar(NamedTuple):
    """Pages, the ring of their days, the heap of those that wait, those visited often; rows of `record` are pages."""

    record: Matrix
    chain: NDArray[np.int32]
    heads: NDArray[np.int32]
    keys: Vector
    waiting: Whole
    often: Whole
    state: Vector


def phases(frequencies: Vector, host: Whole | None = None) -> Vector:
    """Choose where in its first gap each page begins, from 0 to 1: pages of like frequencies far from one another.

    Due dates then come one a slot from the beginning, and there is no transient to be thrown away. With hosts that is
    so for the pages of each host.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    host
        The host of each page, if hosts matter.

    Returns
    -------
    array of float
        A number between 0 and 1 for each page.
    """
    begun = np.empty(len(frequencies))
    order = np.lexsort((frequencies,) if host is None else (frequencies, host))
    begun[order] = np.modf(np.arange(1, len(frequencies) + 1) * GOLDEN)[0]
    return begun


def new_calendar(record: Matrix, step: float = 1.0) -> Calendar:
    """Make a calendar with all pages whose gap is above zero linked by their keys, at time 0.

    Pages with an index are all in the calendar: it compares what is lost by itself.
    """
    pages, has_index = len(record), record.shape[1] > PRICE
    days = 1 << max(math.ceil(math.log2(DAYS_FOR_EACH * pages)), 3)
    calendar = Calendar(
        record,
        np.full(pages, -1, dtype=np.int32),
        np.full(days, -1, dtype=np.int32),
        np.empty(pages),
        np.empty(pages, dtype=np.int64),
        np.empty(0 if has_index else SHORT, dtype=np.int64),
        np.array([0.0, step, 1.0 / step, -1.0, 0.0, 0.0, 0.0]),
    )
    link_all(calendar, 0, pages)
    return calendar


def greedy_record(periods: Vector, visits: Vector | Whole, begun: Vector) -> Matrix:
    """Make the records of pages for earliest due date first.

    Parameters
    ----------
    periods
        The gap of each page in slots; infinite where it is never visited.
    visits
        Visits left of each page; infinite without an end.
    begun
        Where in its first gap each page begins, see `phases`.

    Returns
    -------
    array of float
        A row for each page: key, gap, ideal place of the last visit (nan: none), visits left.
    """
    record = np.empty((len(periods), 4))
    members = np.isfinite(periods)
    record[:, PERIOD] = np.where(members, periods, 0.0)
    record[:, KEY] = begun * record[:, PERIOD]
    record[:, IDEAL] = np.nan
    record[:, LEFT] = visits
    return record


def in_slices(fill: Callable[[int, Whole], int], schedule: Whole) -> int:
    """Fill a schedule by ``fill(slot, some)``, which fills `some` from `slot` on and tells how many slots it filled.

    Compiled loops hear neither Ctrl-C nor a clock, but between two slices both are heard.

    Returns
    -------
    int
        Slots filled, fewer than there are where one slice could not be filled.
    """
    filled = 0
    while filled < len(schedule):
        interrupting.check()
        some = schedule[filled : filled + SLICE]
        done = fill(filled, some)
        filled += done
        if done < len(some):
            break
    return filled


@njit(cache=True)
def link_all(calendar: Calendar, first: int, last: int) -> None:
    """Link the pages from `first` to before `last`, or put them among those visited often."""
    record, chain, heads, state = calendar.record, calendar.chain, calendar.heads, calendar.state
    for page in range(first, last):
        many = int(state[OFTEN])
        if 0 < record[page, PERIOD] <= SHORT * state[STEP] and many < len(calendar.often):
            calendar.often[many] = page
            state[OFTEN] += 1
        elif record[page, PERIOD] > 0:
            day = max(int(record[page, KEY] * state[DAYS]), int(state[DAY]) + 1) & (len(heads) - 1)
            chain[page], heads[day] = heads[day], page
            state[LINKED] += 1


@njit(cache=True, inline="always")
def next_gap(record: Matrix, page: int, now: float) -> float:
    """Count a visit now, and return the gap that is planned after it.

    Parameters
    ----------
    record
        Of all pages; the row of this page is changed.
    page
        Which page is visited.
    now
        When, in slots.

    Returns
    -------
    float
        Slots until the page is due again: its gap, less a part of its delay.
    """
    if math.isnan(record[page, IDEAL]):
        record[page, IDEAL] = now
    else:
        record[page, IDEAL] += record[page, PERIOD]
    left = max(record[page, LEFT] - 1.0, 0.0)
    record[page, LEFT] = left
    gap: float = record[page, PERIOD] - max(PULL, 1.0 / (left + 1.0)) * (now - record[page, IDEAL])
    return gap


@njit(cache=True)
def latest(record: Matrix, often: Whole, many: int, first: int, middle: float) -> int:
    """Find the place of the often visited page that is latest in parts of its gap; -1 if page `first` is later.

    Of equals it is the smallest page. `middle` is the middle of the slot; `first` is -1 where there is no other page.
    """
    most, chosen = -np.inf, -1
    if first >= 0:
        most = (middle - record[first, KEY]) / record[first, PERIOD]
    for place in range(many):
        page = often[place]
        late = (middle - record[page, KEY]) / record[page, PERIOD]
        if late > most or (late == most and page < (first if chosen < 0 else often[chosen])):
            most, chosen = late, place
    return chosen


@njit(cache=True)
def earliest_due(calendar: Calendar, schedule: Whole) -> int:
    """Fill `schedule` with the pages of the next slots; how many there are is returned, fewer when no page is left."""
    record, chain, heads = calendar.record, calendar.chain, calendar.heads
    keys, waiting, often, state = calendar.keys, calendar.waiting, calendar.often, calendar.state
    mask = len(heads) - 1
    now, step, days, day = state[NOW], state[STEP], state[DAYS], int(state[DAY])
    size, linked, many = int(state[WAITING]), int(state[LINKED]), 0
    for place in range(int(state[OFTEN])):
        if record[often[place], PERIOD] > 0:  # it has not left
            often[many] = often[place]
            many += 1
    slot = 0
    while slot < len(schedule) and size + linked + many > 0:
        while size == 0 and linked > 0:
            day += 1
            page, later = heads[day & mask], -1
            while page >= 0:
                following = chain[page]
                if record[page, KEY] * days < day + 1:
                    size = push(keys, waiting, size, record[page, KEY], page)
                    linked -= 1
                else:
                    chain[page], later = later, page
                page = following
            heads[day & mask] = later
        page, place = waiting[0] if size > 0 else -1, -1
        if page >= 0 and record[page, PERIOD] <= 0:
            size = pop(keys, waiting, size)  # it has left
            continue
        if many > 0:
            place = latest(record, often, many, page, now + 0.5 * step)
        if place < 0:
            size = pop(keys, waiting, size)
        else:
            page = often[place]
        schedule[slot] = page
        slot += 1
        due = now + next_gap(record, page, now)
        now += step
        record[page, KEY] = due
        if record[page, LEFT] <= 0:
            if place >= 0:
                many -= 1
                often[place] = often[many]
        elif place >= 0:
            continue
        elif many < len(often) and record[page, PERIOD] <= SHORT * step:
            often[many] = page
            many += 1
        elif due * days < day + 1:
            size = push(keys, waiting, size, due, page)
        else:
            place = int(due * days) & mask
            chain[page], heads[place] = heads[place], page
            linked += 1
    state[NOW], state[DAY], state[WAITING], state[LINKED], state[OFTEN] = now, day, size, linked, many
    return slot


# -- a binary heap on two arrays: the smallest key first, of equal keys the smallest page -----------------------------


@njit(cache=True)
def push(keys: Vector, pages: Whole, size: int, key: float, page: int, start: int = 0) -> int:
    """Put a page in; the heap lies from `start` on. The new size is returned."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        other = keys[start + above]
        if other < key or (other == key and pages[start + above] < page):
            break
        keys[start + place], pages[start + place] = other, pages[start + above]
        place = above
    keys[start + place], pages[start + place] = key, page
    return size + 1


@njit(cache=True)
def pop(keys: Vector, pages: Whole, size: int, start: int = 0) -> int:
    """Take the first page out of a heap.

    Parameters
    ----------
    keys, pages
        The heap, ordered by keys and, where these are equal, by pages; both arrays are changed.
    size
        How many pages it holds.
    start
        Where in the arrays it begins.

    Returns
    -------
    int
        The new size.
    """
    size -= 1
    sink(keys, pages, size, keys[start + size], pages[start + size], start)
    return size


@njit(cache=True)
def sink(keys: Vector, pages: Whole, size: int, key: float, page: int, start: int = 0) -> None:
    """Put a page in the place of the first of `size`, and down to where it belongs.

    Parameters
    ----------
    keys, pages
        The heap, as for `pop`; both arrays are changed.
    size
        How many pages it holds.
    key, page
        What takes the first place.
    start
        Where in the arrays the heap begins.
    """
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        least, which = keys[start + below], pages[start + below]
        if below + 1 < size:
            other = keys[start + below + 1]
            if other < least or (other == least and pages[start + below + 1] < which):
                below, least, which = below + 1, other, pages[start + below + 1]
        if key < least or (key == least and page < which):
            break
        keys[start + place], pages[start + place] = least, which
        place = below
    if size > 0:
        keys[start + place], pages[start + place] = key, page
