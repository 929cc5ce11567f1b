r"""How long pages of a search index are out of date, for any way of visiting them.

Page i changes at the times of a Poisson process of rate :math:`\mu_i` and is out of date from its first change after a
visit until the next visit. A robot makes one access after the other, each taking an independent time X, so a gap of d
slots between two visits is a sum of d such times. With :math:`\ell_i = -\ln E e^{-\mu_i X}` and the load
:math:`q_i = \mu_i E[X]`, the fraction of time that page i is out of date is [1]_

.. math::
    r_i &= 1 - \frac{1}{n q_i} \sum_j (1 - e^{-\ell_i d_{ij}}) && \text{cycle of } n \text{ slots, gaps } d_{ij} \\
    r_i &= 1 - \frac{f_i}{q_i} (1 - e^{-\ell_i / f_i}) && \text{gaps all } 1 / f_i \text{: the lower bound} \\
    r_i &= 1 - \frac{f_i}{q_i} \frac{1 - h_i}{1 - h_i + f_i h_i}, \quad h_i = e^{-\ell_i}
        && \text{every slot drawn at random}

and 1 for a page that is never visited, 0 for a page that never changes. Here the difference is never taken: with
:math:`E(x) = e^{-x} - 1 + x`, as the gaps sum to n,

.. math::  q_i r_i = (q_i - \ell_i) + \frac{1}{n} \sum_j E(\ell_i d_{ij}),

a sum of positive terms, and alike for the others, so that rates of 1e-9 keep their digits.

Gaps are whole numbers, which gives a sharper bound: see :mod:`queueing.freshness.whole_gaps`.

References
----------
.. [1] E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of
   Scheduling* 1 (1998), 15-29; Lemmas 3.1 and 4.1, Theorem 3.3.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..numerics import Vector, positive, sum_of_products
from ..processes import exp_excess, not_negative_numbers
from .page_traits import Traits, refuse_where
from .whole_gaps import best_whole_gap_bound, whole_gap_rate, whole_gap_sums

Schedule = NDArray[np.int64]

EVEN, RANDOM, WHOLE = range(3)

#: In a schedule: a slot without a visit, as long as an access.
IDLE = -1


# -- one page ---------------------------------------------------------------------------------------------------------


@njit(cache=True)
def even_rate(load: float, decay: float, deficit: float, frequency: float) -> float:
    """Compute the fraction of time that a page is out of date when its visits are evenly spaced."""
    if load == 0.0:
        return 0.0
    if frequency == 0.0:
        return 1.0
    gap = decay / frequency
    missed = decay if gap == np.inf else frequency * exp_excess(gap)
    return min(1.0, (deficit + missed) / load)


@njit(cache=True)
def random_rate(load: float, decay: float, deficit: float, frequency: float) -> float:
    """Compute the fraction of time that a page is out of date when each slot is its own with this probability."""
    if load == 0.0:
        return 0.0
    ended = -math.expm1(-decay)
    if ended == 0.0:  # the decay underflowed, and so did all the rest
        return 1.0 if frequency == 0.0 else 0.0
    late = ended * ended * (1.0 - frequency) / (ended + frequency * math.exp(-decay))
    return min(1.0, (deficit + exp_excess(decay) + late) / load)


# -- all pages --------------------------------------------------------------------------------------------------------


def even_obsolescence(pages: Traits, frequencies: ArrayLike) -> Vector:
    r"""Compute the fraction of time that each page is out of date, its visits evenly spaced: a lower bound.

    Parameters
    ----------
    pages
        what `traits` made of them.
    frequencies
        f: visits of each page per slot.

    Returns
    -------
    Vector
        by page; 1 where it is never visited, 0 where it never changes.

    Notes
    -----
    With the load :math:`q_i = \mu_i E[X]` and :math:`h_i = E e^{-\mu_i X} = e^{-\ell_i}`

    .. math::  r_i = 1 - \frac{f_i}{q_i} \bigl(1 - h_i^{1 / f_i}\bigr),

    Coffman et al. (1998), Theorem 3.3; no schedule with these frequencies does better.

    Examples
    --------
    >>> from queueing import Constant, even_obsolescence, traits
    >>> pages = traits([0.5, 0.1], [1.0, 2.0], Constant(1.0))
    >>> even_obsolescence(pages, [0.5, 0.5]).round(6)
    array([0.367879, 0.093654])
    """
    return _each(EVEN, pages, frequencies, np.inf)


def randomized_obsolescence(pages: Traits, frequencies: ArrayLike) -> Vector:
    r"""Compute the fraction of time that each page is out of date when every slot is drawn by these probabilities.

    Parameters
    ----------
    pages, frequencies
        what `traits` made of the pages, and f: probability that a slot is given to the page, at most 1.

    Returns
    -------
    Vector
        by page, :math:`r_i = 1 - \frac{f_i}{q_i} \frac{1 - h_i}{1 - h_i + f_i h_i}` with :math:`q_i = \mu_i E[X]`:
        Coffman et al. (1998), Lemma 4.1.

    Examples
    --------
    >>> from queueing import Constant, randomized_obsolescence, traits
    >>> pages = traits([0.5, 0.1], [1.0, 2.0], Constant(1.0))
    >>> randomized_obsolescence(pages, [0.5, 0.5]).round(6)
    array([0.435267, 0.131064])
    """
    return _each(RANDOM, pages, frequencies, 1.0)


def integer_obsolescence(pages: Traits, frequencies: ArrayLike) -> Vector:
    """Compute the least fraction of time that each page is out of date, gaps being whole numbers of slots.

    Parameters
    ----------
    pages, frequencies
        what `traits` made of the pages, and f: visits of each page per slot, at most 1.

    Returns
    -------
    Vector
        by page; :math:`h^{1/f}` of even spacing is replaced by its interpolation between the whole numbers next to 1 /
        f, see :mod:`queueing.freshness.whole_gaps`.

    Examples
    --------
    >>> from queueing import Constant, even_obsolescence, integer_obsolescence, traits
    >>> pages = traits([0.5, 0.1], [1.0, 2.0], Constant(1.0))
    >>> even_obsolescence(pages, [0.6, 0.4]).round(6), integer_obsolescence(pages, [0.6, 0.4]).round(6)
    (array([0.321518, 0.115203]), array([0.336916, 0.119098]))
    """
    return _each(WHOLE, pages, frequencies, 1.0)


def schedule_obsolescence(pages: Traits, schedule: ArrayLike) -> Vector:
    r"""Compute the fraction of time that each page is out of date when this cycle of pages is repeated for ever.

    Parameters
    ----------
    pages
        what `traits` made of them.
    schedule
        page of each slot of one cycle, numbered from 0; -1: no visit, in a slot as long as an access.

    Returns
    -------
    Vector
        by page; 1 where it is not in the cycle, unless it never changes.

    Notes
    -----
    With :math:`d_{ij}` the inter-visit gaps of page i in the cycle of n slots

    .. math::  r_i = 1 - \frac{1}{n q_i} \sum_j \bigl(1 - h_i^{d_{ij}}\bigr), \qquad q_i = \mu_i E[X],

    from Coffman et al. (1998), equation (3) and Lemma 3.1.

    Examples
    --------
    >>> from queueing import Constant, schedule_obsolescence, traits
    >>> pages = traits([0.5, 0.1], [1.0, 2.0], Constant(1.0))
    >>> schedule_obsolescence(pages, [0, 0, 1]).round(6)
    array([0.316273, 0.136061])
    >>> schedule_obsolescence(pages, [0, -1, 1]).round(6)
    array([0.482087, 0.136061])
    """
    cycle = checked_schedule(schedule, len(pages))
    found: Vector = _schedule_rates(pages.loads, pages.decays, pages.deficits, cycle)
    return found


def cost(pages: Traits, obsolescence: ArrayLike) -> float:
    r"""Sum up what it costs that pages are out of date, rounded once for all pages.

    Parameters
    ----------
    pages
        what `traits` made of them.
    obsolescence
        r: fraction of time that each page is out of date, such as of `even_obsolescence`.

    Returns
    -------
    float
        :math:`\sum c_i r_i`.

    Notes
    -----
    This is the objective of Coffman et al. (1998), eq. (4).

    Examples
    --------
    >>> from queueing import Constant, even_obsolescence, traits
    >>> from queueing.freshness import cost
    >>> pages = traits([0.5, 0.1], [1.0, 2.0], Constant(1.0))
    >>> round(cost(pages, even_obsolescence(pages, [0.5, 0.5])), 6)
    0.555187
    """
    rates = not_negative_numbers("obsolescence", obsolescence)
    if len(rates) != len(pages):
        raise ValueError(f"obsolescence must have one rate for each of {len(pages)} pages, but it has {len(rates)}.")
    return float(sum_of_products(pages.weights, rates))


def integer_bound(pages: Traits, total: float = 1.0, price: float | None = None) -> float:
    """Prove a lower bound on the cost of every schedule with so many visits per slot: gaps are whole numbers.

    It holds for several robots, too, if each page belongs to one of them; see :mod:`queueing.freshness.whole_gaps`.

    Parameters
    ----------
    pages, total
        what `traits` made of the pages, and visits per slot of all pages together: m for m robots.
    price
        dual price of a visit at which to take the bound, in one pass; the best one unless said. For many pages the
        multiplier of the least cost of even spacing is as good (of 20000 pages or more to 1e-8, measured).

    Returns
    -------
    float
        the bound; at the best price at least that of even spacing.

    Examples
    --------
    >>> from queueing import Constant, allocate, integer_bound, traits
    >>> pages = traits([0.5, 0.1, 0.2], [1.0, 2.0, 1.0], Constant(1.0))
    >>> round(allocate(pages).bound, 6), round(integer_bound(pages), 6)
    (0.996017, 1.002228)
    """
    visits = positive("total", total)
    if price is None:
        return best_whole_gap_bound(pages.columns, visits)[0]
    at = max(float(price), 0.0)
    value, made = whole_gap_sums(*pages.columns, at)
    return float(value + at * (made - visits))


def even_cost(pages: Traits, frequencies: Vector) -> float:
    """Compute the cost of evenly spaced visits, at frequencies that need no check.

    Parameters
    ----------
    pages
        what `traits` made of them.
    frequencies
        f: visits of each page per slot, an array of doubles of at least 0.

    Returns
    -------
    float
        the `cost` of `even_obsolescence`.

    Notes
    -----
    With the fractions of Coffman et al. (1998), Theorem 3.3, it is the sum of eq. (4).

    Examples
    --------
    >>> import numpy as np
    >>> from queueing import Constant, traits
    >>> from queueing.freshness import even_cost
    >>> pages = traits([0.5, 0.1], [1.0, 2.0], Constant(1.0))
    >>> round(even_cost(pages, np.array([0.5, 0.5])), 6)
    0.555187
    """
    return float(sum_of_products(pages.weights, _rates(EVEN, pages.loads, pages.decays, pages.deficits, frequencies)))


@dataclass(frozen=True, eq=False)
class ScheduleGaps:
    """Visits of each page in a cycle, and its shortest and longest gap in slots, 0 if it is never visited."""

    visits: NDArray[np.int64]
    shortest: NDArray[np.int64]
    longest: NDArray[np.int64]


def schedule_gaps(schedule: ArrayLike, pages: int) -> ScheduleGaps:
    """Count visits and inter-visit gaps of each of so many pages when this cycle is repeated for ever.

    Parameters
    ----------
    schedule
        page of each slot of one cycle, numbered from 0; -1: no visit.
    pages
        how many there are.

    Returns
    -------
    ScheduleGaps
        by page its visits in a cycle, and its shortest and longest gap in slots.

    Examples
    --------
    >>> from queueing import schedule_gaps
    >>> found = schedule_gaps([0, 1, 0, 0, 2], pages=4)
    >>> found.visits, found.shortest, found.longest
    (array([3, 1, 1, 0]), array([1, 5, 5, 0]), array([2, 5, 5, 0]))
    """
    return ScheduleGaps(*_gaps(checked_schedule(schedule, pages), pages))


def checked_schedule(schedule: ArrayLike, pages: int) -> Schedule:
    """Return a cycle as an array of page numbers, or refuse it and name the first wrong slot."""
    array = np.asarray(schedule)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError("schedule must be a list of page numbers, at least one; give the pages of one cycle in order.")
    refuse_where((array < IDLE) | (array >= pages), "schedule", array, f"a page number from 0 to {pages - 1}")
    return np.ascontiguousarray(array, dtype=np.int64)


def checked_frequencies(frequencies: ArrayLike, pages: int, most: float = np.inf) -> Vector:
    """Return one frequency for each page, or refuse them and name the first wrong one."""
    array = not_negative_numbers("frequencies", frequencies)
    if len(array) != pages:
        raise ValueError(
            f"frequencies must be one for each of {pages} pages, but there are {len(array)}; give as many."
        )
    beyond = array > most * (1.0 + 1e-12)
    refuse_where(beyond, "frequencies", array, f"at most {most!r} visits per slot", "give a smaller one")
    return np.minimum(array, most)


def _each(kind: int, pages: Traits, frequencies: ArrayLike, most: float) -> Vector:
    shares = checked_frequencies(frequencies, len(pages), most)
    found: Vector = _rates(kind, pages.loads, pages.decays, pages.deficits, shares)
    return found


@njit(cache=True)
def _rates(kind: int, loads: Vector, decays: Vector, deficits: Vector, frequencies: Vector) -> Vector:
    found = np.empty(len(loads))
    for page in range(len(loads)):
        if kind == EVEN:
            found[page] = even_rate(loads[page], decays[page], deficits[page], frequencies[page])
        elif kind == RANDOM:
            found[page] = random_rate(loads[page], decays[page], deficits[page], frequencies[page])
        else:
            found[page] = whole_gap_rate(loads[page], decays[page], deficits[page], frequencies[page])
    return found


@njit(cache=True)
def _schedule_rates(loads: Vector, decays: Vector, deficits: Vector, schedule: Schedule) -> Vector:
    slots, pages = len(schedule), len(loads)
    first, last, missed = np.full(pages, -1), np.full(pages, -1), np.zeros(pages)
    for slot in range(slots):
        page = schedule[slot]
        if page < 0:
            continue
        if first[page] < 0:
            first[page] = slot
        else:
            missed[page] += exp_excess(decays[page] * (slot - last[page]))
        last[page] = slot
    for page in range(pages):
        if loads[page] == 0.0:
            missed[page] = 0.0
        elif first[page] < 0:
            missed[page] = 1.0
        else:
            missed[page] += exp_excess(decays[page] * (first[page] + slots - last[page]))
            missed[page] = min(1.0, (deficits[page] + missed[page] / slots) / loads[page])
    return missed


@njit(cache=True)
def _gaps(schedule: Schedule, pages: int) -> tuple[Schedule, Schedule, Schedule]:
    slots = len(schedule)
    visits, shortest, longest = np.zeros(pages, np.int64), np.full(pages, slots), np.zeros(pages, np.int64)
    first, last = np.full(pages, -1), np.full(pages, -1)
    for slot in range(slots):
        page = schedule[slot]
        if page < 0:
            continue
        visits[page] += 1
        if first[page] < 0:
            first[page] = slot
        else:
            shortest[page] = min(shortest[page], slot - last[page])
            longest[page] = max(longest[page], slot - last[page])
        last[page] = slot
    for page in range(pages):
        if first[page] < 0:
            shortest[page] = 0
        else:
            around = first[page] + slots - last[page]
            shortest[page], longest[page] = min(shortest[page], around), max(longest[page], around)
    return visits, shortest, longest
