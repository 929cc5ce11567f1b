r"""In which order to visit pages whose frequencies are given: cycles with visits as evenly spaced as can be.

What a page loses over a gap is convex in the gap, so that of all schedules with given frequencies the best has even
gaps, which cannot be had for all pages at once. From the plainest rule to the best one:

================  ==========================================================  =====================================
`power_of_two`    frequencies rounded to :math:`2^{-k}`, then perfectly even  1 to 3 % above even spacing
`golden_ratio`    points of :math:`j/\phi`: gaps of three lengths [2]_         up to 9/8 times it; for many pages up to
                                                                              :math:`\phi^5/10 = 1.109`, mostly 1.06
`regular`         nested regular words [1]_: the rarest pages share one       best for two pages
`tijdeman`        never a visit ahead of :math:`t f_i` or behind it [3]_
`greedy`          earliest due date first, with care for frequent pages       an excess of 0.1 to 0.3 / pages
`whittle`         largest index first [4]_: knows what a late visit costs     0.1 / pages; few pages: nearly least
================  ==========================================================  =====================================

All answer with an array of page numbers, the same one every time: one cycle, whose last gap runs on into the next turn
and is like the others. `golden_page` needs no memory of what was visited; :mod:`heuristics.sequencing.plan` goes on for
ever. Pages are numbered from 0 in the order of their frequencies, which need not add up to 1.

References
----------
.. [1] B. Hajek, "Extremal splittings of point processes", *Mathematics of Operations Research* 10, 1985, 543-556.
.. [2] A. Itai, Z. Rosberg, "A golden ratio control policy for a multiple-access channel", *IEEE Transactions on
   Automatic Control* 29, 1984, 712-718.
.. [3] R. Tijdeman, "The chairman assignment problem", *Discrete Mathematics* 32, 1980, 323-330.
.. [4] P. Whittle, "Restless bandits: activity allocation in a changing world", *Journal of Applied Probability* 25A,
   1988, 287-298.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Matrix, Vector, Whole
from .apportionment import NEAR, apportion, shares_of, whole
from .calendar import earliest_due, greedy_record, in_slices, new_calendar, phases
from .politeness import capped, closing_length, hosts_and_gap, polite_cycle
from .whittle_index import (
    LIST,
    Traits,
    cycle_gain,
    early_part,
    even_prices,
    index_period,
    index_record,
    largest_index,
    settled,
    visit_gains,
)
from .words import chairmen, even_word, fibonacci_below, golden_word, nested_words, power_exponents

#: Slots of a cycle of powers of two for each page, at most, where no length is given.
SLOTS_OF_POWERS = 64

#: For so few pages `whittle` tries cycles of all lengths up to this; for so few it looks at the cycle of `greedy`, too.
FEW_PAGES, SHORT_CYCLES, SOME_PAGES = 16, 64, 256


# -- rules ------------------------------------------------------------------------------------------------------------


def regular(frequencies: ArrayLike, length: int) -> Whole:
    """Nest regular words: gaps of two pages differ by one slot at most, equal or dyadic frequencies have even gaps.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    length
        Slots of the cycle.

    Returns
    -------
    array of int
        The page of each slot.
    """
    length = whole("length", length, least=1)
    return nested_words(apportion(frequencies, length))


def tijdeman(frequencies: ArrayLike, length: int) -> Whole:
    r"""Assign chairmen: after t slots no page is :math:`1 - 1/(2N-2)` visits or more off :math:`t m_i / n`.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    length
        Slots n of the cycle, of which page i gets :math:`m_i`, the whole number below or above :math:`n f_i`.

    Returns
    -------
    array of int
        The page of each slot.
    """
    length = whole("length", length, least=1)
    return chairmen(apportion(frequencies, length))


def golden_ratio(frequencies: ArrayLike, length: int) -> Whole:
    r"""Follow the golden ratio: the s-th slot is the s-th smallest of frac(:math:`j/\phi`), j = 1, ..., :math:`F_k`.

    Each page has consecutive j; the published example, (2, 3, 3, 5)/13, is met with j from 1, not from 0.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    length
        The cycle has as many slots as the largest Fibonacci number that is not above this.

    Returns
    -------
    array of int
        The page of each slot.

    Examples
    --------
    >>> (golden_ratio([2, 3, 3, 5], 13) + 1).tolist()
    [4, 2, 4, 1, 3, 4, 2, 4, 1, 3, 4, 2, 3]
    """
    slots, before, place = fibonacci_below(whole("length", length, least=1))
    return golden_word(apportion(frequencies, slots), slots, before, place % 2 == 0)


def power_of_two(frequencies: ArrayLike, length: int | None = None) -> Whole:
    r"""Round frequencies to powers of two that fill a cycle, perfectly evenly spaced.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    length
        The cycle has as many slots as the largest power of two that is not above this. By default it is as long as the
        rarest page asks for, but 64 slots for each page at most.

    Returns
    -------
    array of int
        The page of each slot.
    """
    shares, depth = shares_of(frequencies), power_length(frequencies, length).bit_length() - 1
    exponents = power_exponents(shares, depth)
    return even_word(exponents, np.argsort(exponents, kind="stable"), depth)


def power_length(frequencies: ArrayLike, length: int | None = None) -> int:
    """Return the number of slots of the cycle that `power_of_two` makes.

    Parameters
    ----------
    frequencies, length
        As for `power_of_two`.

    Returns
    -------
    int
        A power of two.
    """
    if length is not None:
        return 1 << whole("length", length, least=1).bit_length() - 1
    shares = shares_of(frequencies)
    members = shares[shares > 0]
    wanted = 1 - int(np.frexp(members.min())[1])
    return 1 << min(wanted, math.ceil(math.log2(SLOTS_OF_POWERS * len(members))))


# -- queues -----------------------------------------------------------------------------------------------------------


def greedy(frequencies: ArrayLike, length: int, hosts: Sequence[int] | Whole | None = None, host_gap: int = 1) -> Whole:
    """Visit by the earliest due date; see :mod:`heuristics.sequencing.calendar`.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    length
        Slots of the cycle. With hosts that can only fill a shorter one (g hosts: a multiple of g) it is that.
    hosts, host_gap
        A whole number for each page, and g: two visits to one host are at least so many slots apart, that is, the
        numbers of their slots differ by g or more; 1 asks for nothing. A host that would need more than one visit in g
        slots gets that, and the other hosts the rest.

    Returns
    -------
    array of int
        The page of each slot.
    """
    length, shares = whole("length", length, least=1), shares_of(frequencies)
    host, gap = hosts_and_gap(hosts, host_gap, shares)
    if gap > 1:
        length = closing_length(length, int(host.max()) + 1, gap)
        shares = capped(shares, host, length // gap / length)
    counts = _visits(shares, length, host, gap)

    return _cycle(lambda begun: greedy_record(_periods(counts, length, host), counts, begun), shares, host, gap, length)


def whittle(
    decays: ArrayLike,
    worths: ArrayLike,
    frequencies: ArrayLike,
    length: int,
    hosts: Sequence[int] | Whole | None = None,
    host_gap: int = 1,
    *,
    exact: bool = False,
) -> Whole:
    r"""Visit by the largest index; see :mod:`heuristics.sequencing.whittle_index`.

    For 256 pages or less whose frequencies are optimal it is that or the cycle of `greedy`, whichever costs less; for
    16 or less the best of these, of largest-index cycles of all lengths up to 64, and of the period of the plain index
    policy, none longer than `length`.

    A page that wants less than one visit in the cycle, :math:`n f < 1`, gets one if that gains more than it takes from
    others, and is left out if not; `missing` tells which are. With 20 slots for each of 50000 pages on crowded hosts
    that is 0.4 % of them; to visit all would cost 0.03 % more, and 50 slots for each page cost 0.13 % less (measured).
    `greedy` visits all pages for which there is a slot.

    Parameters
    ----------
    decays, worths
        For each page l and a: a gap of d slots gains :math:`a (1 - e^{-l d})`.
    frequencies
        Zero or more for each page.
    length
        Slots of the cycle, at most.
    hosts, host_gap
        As for `greedy`.
    exact
        Whether the cycle has so many slots, a shorter one being repeated if it goes into them; gaps may need fewer.

    Returns
    -------
    array of int
        The page of each slot.
    """
    length, traits = whole("length", length, least=1), settled(decays, worths, frequencies)
    host, gap = hosts_and_gap(hosts, host_gap, traits.shares)
    if gap > 1:
        length = closing_length(length, int(host.max()) + 1, gap)
        traits = traits._replace(shares=capped(traits.shares, host, length // gap / length))
    elif traits.one_price and np.count_nonzero(traits.shares) <= SOME_PAGES:
        return _best_of_some(traits, length, exact)
    return _index_cycle(traits, length, host, gap)


def visit_distances(schedule: ArrayLike, hosts: Sequence[int] | Whole) -> Whole:
    """Count the slots from the visit before to each visit to a host, across the end of the cycle, too.

    Parameters
    ----------
    schedule
        The page of each slot.
    hosts
        A whole number for each page.

    Returns
    -------
    array of int
        As many as slots, by host and slot; n for a host visited once in a cycle of n slots.
    """
    visited = np.asarray(hosts)[np.asarray(schedule, dtype=np.int64)]
    slots = np.argsort(visited, kind="stable")  # by host, then by slot
    first = np.flatnonzero(np.r_[True, np.diff(visited[slots]) != 0])
    last = np.r_[first[1:], len(slots)] - 1
    distances = np.diff(slots, prepend=0)
    distances[first] = slots[first] + len(slots) - slots[last]
    return distances


# -- inside -----------------------------------------------------------------------------------------------------------


def _index_cycle(traits: Traits, length: int, host: Whole, gap: int) -> Whole:
    shares, worths, decays = traits.shares, traits.worths, traits.decays
    fewest = np.floor(length * shares + NEAR).astype(np.int64)
    # Of what a visit gains the price is taken off that the page pays anyway: with hosts there are many prices.
    gains = visit_gains(worths, decays, fewest, length) - even_prices(worths, decays, shares)
    counts = _visits(shares, length, host, gap, gains)
    early = 0.0 if gap > 1 else early_part(int(np.count_nonzero(counts)))

    def record(begun: Vector) -> Matrix:
        return index_record(_periods(counts, length, host), counts, begun, worths, decays, early)

    return _cycle(record, shares, host, gap, length, early)


def _cycle(
    record: Callable[[Vector], Matrix], shares: Vector, host: Whole, gap: int, length: int, early: float | None = None
) -> Whole:
    """Order visits by due date or, where it is told how early pages come to the list, by index."""
    if gap > 1:
        return polite_cycle(record, shares, host, gap, length, by_index=early is not None)
    calendar, schedule = new_calendar(record(phases(shares))), np.empty(length, dtype=np.int64)

    def fill(slot: int, some: Whole) -> int:
        return int(earliest_due(calendar, some) if early is None else largest_index(calendar, early, LIST, some))

    in_slices(fill, schedule)
    return schedule


def _best_of_some(traits: Traits, length: int, exact: bool) -> Whole:
    shares, worths, decays = traits.shares, traits.worths, traits.decays
    nobody, members = np.full(len(shares), -1, dtype=np.int64), np.flatnonzero(shares)
    cycles = [_index_cycle(traits, length, nobody, 1), greedy(shares, length)]
    if len(members) <= FEW_PAGES:
        few = Traits(shares[members], worths[members], decays[members], True)
        for slots in range(1, min(length - 1, SHORT_CYCLES) + 1):
            cycles.append(members[_index_cycle(few, slots, nobody[members], 1)])
        period = index_period(few.worths, few.decays, length, SHORT_CYCLES * len(members))
        cycles += [members[period]] if len(period) else []
    if exact:
        cycles = [np.tile(cycle, length // len(cycle)) for cycle in cycles if length % len(cycle) == 0]
    return max(cycles, key=lambda cycle: cycle_gain(cycle, worths, decays))


def _visits(shares: Vector, length: int, host: Whole, gap: int, gains: Vector | None = None) -> Whole:
    """Find the visits of pages in a cycle, no more for a host than one in g slots."""
    return apportion(shares, length, gains, host, length // gap) if gap > 1 else apportion(shares, length, gains)


def _periods(counts: Whole, length: int, host: Whole) -> Vector:
    """Gaps of pages: infinite for those never visited, but for those of a host, which may have to fill a slot."""
    gaps = length / np.maximum(counts, 1)
    return np.where((counts > 0) | (host >= 0), gaps, np.inf)
