r"""The index of Whittle: visit the page for which a visit now is worth most.

What a gap of d slots gains is :math:`a (1 - e^{-l d})`: a page of worth a that goes out of date at the rate l for each
slot. At a price :math:`\lambda` for a visit, gaps of d and of d + 1 slots cost the same, per slot, when

.. math:: \lambda = \theta(d) = a \left(1 - e^{-l d} \left(1 + d (1 - e^{-l})\right)\right),

the index, which rises with the age d of a page. Spaced evenly with frequency f the page pays the price
:math:`a\,\varphi(l/f)`, :math:`\varphi(u) = 1 - (1 + u) e^{-u}`; the page is chosen for which :math:`\theta(d)` is most
above that. Where frequencies are optimal all prices are one and this is the index policy; where a host or a smallest
frequency has a price of its own, that is taken off.

A page need not be looked at until its index comes near its price. It is in a calendar
(:mod:`heuristics.sequencing.calendar`) by the slot where its age is a little less than the gap planned, and goes from
there to a short list in which indices are compared, slot by slot. Of those that are due the choice is exact; for as
many pages as the list holds it is exact always.

Where frequencies maximise :math:`\sum a_i f_i (1 - e^{-l_i/f_i})` all visited pages have one price
:math:`\lambda = a_i \varphi(l_i/f_i)`. Frequencies may be bounded from below, too: such a page has a lower price, its
index may never rise above those of the others, and it would wait for ever. It is taken to be worth
:math:`\lambda / \varphi(l_i/f_i)`, for which its frequency would be optimal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from ..protocols import Matrix, Vector, Whole
from .apportionment import numbers, shares_of
from .calendar import (
    DAY,
    DAYS,
    DECAY,
    KEY,
    LAST,
    LEFT,
    LINKED,
    NOW,
    PERIOD,
    PRICE,
    STEP,
    WAITING,
    WORTH,
    Calendar,
    greedy_record,
    next_gap,
)

#: Pages that are compared in a slot at most, and pages that come to the list before they are due, on average.
LIST, EARLY = 64, 16

#: Below this decay over a gap series take the place of differences of like numbers.
SMALL = 0.02

#: Decay over a gap of pages that do not go out of date: any small number gives the same order.
NO_DECAY = 1e-6

#: Prices that differ by no more than this part are one.
ONE_PRICE = 1e-3


@njit(cache=True)
def even_price(decay: float) -> float:
    r""":math:`\varphi(u) = 1 - (1 + u) e^{-u}`, without cancellation."""
    if decay > SMALL:
        return 1.0 - (1.0 + decay) * math.exp(-decay) if decay < 700.0 else 1.0
    # The sum over k >= 2 of (k - 1) (-u)^k / k!
    tail = decay * (1 / 30 - decay * (1 / 144 - decay / 840))
    return decay * decay * (1 / 2 - decay * (1 / 3 - decay * (1 / 8 - tail)))


@njit(cache=True)
def index(decay: float, age: float) -> float:
    r""":math:`\theta(d)/a = 1 - e^{-l d} (1 + d (1 - e^{-l}))`, without cancellation."""
    if decay * (age + 1.0) > SMALL:
        lost = decay * (1.0 - decay * (1 / 2 - decay / 6)) if decay < 1e-4 else -math.expm1(-decay)
        return 1.0 - math.exp(-decay * age) * (1.0 + age * lost)
    # x y times the sum over k >= 2 of (-1)^k h_(k-2) / k!, where h_j = x^j + x^(j-1) y + ... + y^j.
    x, y = decay * age, decay * (age + 1.0)
    total, power, h, factor = 0.0, 1.0, 1.0, 0.5
    for k in range(3, 9):
        total += factor * h
        power *= x
        h = y * h + power
        factor /= -k
    return x * y * total


def index_record(
    periods: Vector, visits: Vector | Whole, begun: Vector, worths: Vector, decays: Vector, early: float
) -> Matrix:
    """Make the records of pages with these gaps (infinite: never visited), visits left, and phases."""
    record = np.hstack([greedy_record(periods, visits, begun), np.empty((len(periods), 4))])
    record[:, LAST] = (begun - 1.0) * record[:, PERIOD]
    record[:, WORTH] = worths
    record[:, DECAY] = decays
    plan_first_visits(record, early)
    return record


@njit(cache=True)
def plan_first_visits(record: Matrix, early: float) -> None:
    """Plan the first visit of all pages."""
    for page in range(len(record)):
        plan_visit(record, page, record[page, PERIOD], early)


@njit(cache=True)
def plan_visit(record: Matrix, page: int, gap: float, early: float) -> None:
    """Note the price at a gap, and when the page comes to the list: `early`, a part of the gap, before it is due."""
    gap = max(gap, 0.25 * record[page, PERIOD])
    record[page, PRICE] = record[page, WORTH] * even_price(record[page, DECAY] * gap)
    # The index reaches the price half a slot before the gap has passed, so that whole slots are right on average.
    record[page, KEY] = record[page, LAST] + (1.0 - early) * gap - 0.5


def early_part(pages: int) -> float:
    """Compute the part of its gap that a page is listed before it is due: all where the list holds all pages."""
    return 1.0 if pages <= LIST else EARLY / pages


@njit(cache=True)
def enlist(record: Matrix, page: int, early: float, dues: Vector, slopes: Vector, place: int) -> None:
    """Note when the index of a page on the list reaches its price, and how much it rises in a slot there.

    Where pages are on the list at any age, all count as due, and their indices are compared as they are.
    """
    dues[place], slopes[place] = -np.inf, 0.0
    if early < 1.0:
        gap = (record[page, KEY] - record[page, LAST] + 0.5) / (1.0 - early)
        over_gap = record[page, DECAY] * gap
        dues[place] = record[page, LAST] + gap - 0.5
        slopes[place] = record[page, WORTH] * record[page, DECAY] * over_gap * math.exp(-over_gap)


@njit(cache=True)
def choose(record: Matrix, listed: Whole, dues: Vector, slopes: Vector, size: int, now: float) -> int:
    """Choose the page whose index is most above its price; if none is due, least below it to first order."""
    best, chosen = -np.inf, -1
    for place in range(size):
        if now >= dues[place]:
            page = listed[place]
            value = record[page, WORTH] * index(record[page, DECAY], now - record[page, LAST]) - record[page, PRICE]
            if value > best or (value == best and page < listed[chosen]):
                best, chosen = value, place
    if chosen >= 0:
        return chosen
    for place in range(size):
        value = slopes[place] * (now - dues[place])
        if value > best or (value == best and listed[place] < listed[chosen]):
            best, chosen = value, place
    return chosen


@njit(cache=True)
def largest_index(calendar: Calendar, early: float, most: int, schedule: Whole) -> int:
    """Fill `schedule` with the pages of the next slots, `most` compared in each; how many there are is returned."""
    record, chain, heads = calendar.record, calendar.chain, calendar.heads
    waiting, state, dues, slopes = calendar.waiting, calendar.state, np.empty(most), np.empty(most)
    mask = len(heads) - 1
    now, days, day = state[NOW], state[DAYS], int(state[DAY])
    size, linked = int(state[WAITING]), int(state[LINKED])
    for place in range(size):
        enlist(record, waiting[place], early, dues, slopes, place)
    slot = 0
    while slot < len(schedule) and size + linked > 0:
        while linked > 0 and size < most and (size == 0 or day < int(now * days)):
            day += 1
            page, later, full = heads[day & mask], -1, False
            while page >= 0:
                following = chain[page]
                today = record[page, KEY] * days < day + 1
                if today and size < most:
                    waiting[size] = page
                    enlist(record, page, early, dues, slopes, size)
                    size += 1
                    linked -= 1
                else:
                    chain[page], later = later, page
                    full |= today
                page = following
            heads[day & mask] = later
            if full:
                day -= 1  # the rest of the day has to wait
        chosen = choose(record, waiting, dues, slopes, size, now)
        page = waiting[chosen]
        size -= 1
        waiting[chosen], dues[chosen], slopes[chosen] = waiting[size], dues[size], slopes[size]
        schedule[slot] = page
        slot += 1
        record[page, LAST] = now
        plan_visit(record, page, next_gap(record, page, now), early)
        now += state[STEP]
        if record[page, LEFT] > 0:
            place = max(int(record[page, KEY] * days), day + 1) & mask
            chain[page], heads[place] = heads[place], page
            linked += 1
    state[NOW], state[DAY], state[WAITING], state[LINKED] = now, day, size, linked
    return slot


# -- how often, and the few pages for which all lengths are tried ------------------------------------------------------


@njit(cache=True)
def visit_gains(worths: Vector, decays: Vector, counts: Whole, length: int) -> Vector:
    """Tell what one visit more than `counts` in a cycle gains, with gaps as even as whole slots can be."""
    gains = np.empty(len(worths))
    for page in range(len(worths)):
        before = _lost(decays[page], counts[page], length)
        gains[page] = worths[page] * (before - _lost(decays[page], counts[page] + 1, length))
    return gains


@njit(cache=True)
def _lost(decay: float, count: int, length: int) -> float:
    r""":math:`\sum_j (l d_j - 1 + e^{-l d_j})` over gaps that add up to the length."""
    if count == 0:
        return decay * length
    gap, longer = length // count, length % count
    return (count - longer) * _lost_in(decay * gap) + longer * _lost_in(decay * (gap + 1))


@njit(cache=True)
def _lost_in(x: float) -> float:
    if x > SMALL:
        return x + math.expm1(-x)
    return x * x * (1 / 2 - x * (1 / 6 - x * (1 / 24 - x * (1 / 120 - x / 720))))


@njit(cache=True)
def cycle_gain(schedule: Whole, worths: Vector, decays: Vector) -> float:
    r"""Tell what a cycle gains a slot: :math:`\frac1n \sum_i a_i \sum_j (1 - e^{-l_i d_{ij}})`.

    Parameters
    ----------
    schedule
        The page of each slot.
    worths, decays
        For each page a and l, as for :func:`heuristics.sequencing.whittle`.

    Returns
    -------
    float
        The gain; pages that are never visited gain nothing.
    """
    length, gain = len(schedule), 0.0
    first, last = np.full(len(worths), -1), np.full(len(worths), -1)
    for slot, page in enumerate(schedule):
        if last[page] < 0:
            first[page] = slot
        else:
            gain -= worths[page] * math.expm1(-decays[page] * (slot - last[page]))
        last[page] = slot
    for page in range(len(worths)):
        if last[page] >= 0:
            gain -= worths[page] * math.expm1(-decays[page] * (first[page] + length - last[page]))
    return gain / length


@njit(cache=True)
def index_period(worths: Vector, decays: Vector, longest: int, patience: int) -> Whole:
    """Find one period of the index policy, after `patience` slots; empty if ages do not come back in `longest`."""
    pages = len(worths)
    last, then = np.empty(pages, np.int64), np.empty(pages, np.int64)
    for page in range(pages):
        last[page] = -1 - page
    schedule = np.empty(longest, np.int64)
    for slot in range(patience + longest):
        if slot == patience:
            for page in range(pages):
                then[page] = last[page]
        best, chosen = -np.inf, 0
        for page in range(pages):
            value = worths[page] * index(decays[page], float(slot - last[page]))
            if value > best:
                best, chosen = value, page
        last[chosen] = slot
        if slot >= patience:
            done = slot - patience + 1
            schedule[done - 1] = chosen
            back = True
            for page in range(pages):
                back &= last[page] - then[page] == done
            if back:
                return schedule[:done].copy()
    return schedule[:0].copy()


# -- worths and prices of pages ----------------------------------------------------------------------------------------


class Traits(NamedTuple):
    """Shares, worths and decays by page; whether all pages visited have one price, as at an optimum."""

    shares: Vector
    worths: Vector
    decays: Vector
    one_price: bool


def settled(decays: ArrayLike, worths: ArrayLike, frequencies: ArrayLike) -> Traits:
    """Check and complete traits."""
    decays = numbers("decays", decays)
    worths = numbers("worths", worths, len(decays))
    shares = shares_of(numbers("frequencies", frequencies, len(decays)))
    members = np.flatnonzero(shares > 0)
    filled = decays.copy()
    filled[members] = np.maximum(decays[members], NO_DECAY * shares[members])
    unit = even_prices(np.ones(len(shares)), filled, shares)
    prices = worths[members] * unit[members]
    price = _median(prices, shares[members]) or 1.0
    raised = worths.copy()
    low = members[prices < price]
    raised[low] = price / unit[low]
    return Traits(shares, raised, filled, bool((np.abs(prices - price) <= ONE_PRICE * price).all()))


def _median(values: Vector, weights: Vector) -> float:
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    return float(values[order[min(int(np.searchsorted(sums, 0.5 * sums[-1])), len(values) - 1)]])


@njit(cache=True)
def even_prices(worths: Vector, decays: Vector, shares: Vector) -> Vector:
    r"""Prices :math:`a \varphi(l/f)` of visited pages; 0 for the others."""
    prices = np.zeros(len(worths))
    for page in range(len(worths)):
        if shares[page] > 0:
            prices[page] = worths[page] * even_price(decays[page] / shares[page])
    return prices
