r"""The price of a visit for any number of pages, from one pass over them.

At a price :math:`\lambda` all sums over pages depend on their worths a and decays l only through the l-weighted law of
a: a page has :math:`f = \ell / u(\lambda / a)`. So pages are counted once, in bins of a that are fine enough: each
octave is cut into `BINS` equal parts, so that the bin of a double is a part of its bits, and each bin keeps

.. math::  \sum \ell_i t_i^k, \quad k = 0, 1, 2, 3,

where t in [-1/2, 1/2) is the place of a in its bin. From these four numbers comes Gauss's rule of two points, exact for
cubic functions of a: a bin, or a group of bins far from the price, is replaced by two pages. Histograms of parts of the
data add up to that of the whole.

The demand has a vertical tangent at every worth, so the bin around the price is worth what chance put in it: the price
misses the demand by about 1e-6, and frequencies scaled to the right sum cost about the square of that more than the
best. :func:`price_pages` goes on to collect the few pages around the price, by a second, cheaper look, and takes them
as they are: then eleven digits of price and cost are right. Nothing is *proved* before
:func:`~queueing.freshness.large.objective_pass` has summed cost and bound over all pages.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import Matrix, positive
from ...processes import AccessTime
from .blocks import BLOCK, chunks, collect, count, go_over, paired, timing_of
from .nodes import BIN_BITS, NEAR, Nodes, Priced, bin_of, cost_at, cut_out, lower_edge, nodes_of, priced
from .passes import Marginal, added

#: Pages around the price are collected if they hold at most this part of all decays: else they are no few pages.
FEW = 1.0 / 32.0

#: So many pages are always few.
ANY_COLLECTED = 1 << 16

#: Below this v = f / l of the marginal page the price says little about its frequency.
STEEP = 1.0 / 16.0


@dataclass(frozen=True, eq=False)
class Histogram:
    """Pages by worth: all that is needed to price any number of pages.

    Attributes
    ----------
    first
        number of the first bin that is kept.
    moments
        by bin, the sums of l t**k for k = 0, 1, 2, 3.
    fixed
        cost that no visit saves, the sum of c - a l, as a rounded sum and what it lacks.
    pages
        number of pages.

    Examples
    --------
    Histograms of parts of the pages add up to that of all.

    >>> from queueing import Constant, histogram_of
    >>> one, other = (histogram_of([rate], [1.0], Constant(1.0)) for rate in (0.5, 0.1))
    >>> both = one.merged(other)
    >>> both.pages, round(float(both.moments[:, 0].sum()), 12)
    (2, 0.6)
    """

    first: int
    moments: Matrix
    fixed: tuple[float, float]
    pages: int

    def merged(self, other: "Histogram") -> "Histogram":
        """The histogram of the pages of both."""
        parts = [part for part in (self, other) if len(part.moments)]
        first = min((part.first for part in parts), default=0)
        last = max((part.first + len(part.moments) for part in parts), default=0)
        moments = np.zeros((last - first, 4))
        for part in parts:
            moments[part.first - first : part.first - first + len(part.moments)] += part.moments
        return Histogram(first, moments, added(self.fixed, other.fixed), self.pages + other.pages)


@dataclass(frozen=True)
class PricedPages:
    """What is known about pages after they have been counted.

    Attributes
    ----------
    multiplier
        the dual price of a visit.
    objective
        the least cost of frequencies with the right sum.
    collected
        how many pages around the price were taken as they are; 0 if they were too many.
    marginal
        pages of one worth just above the price, where the price does not say how often they are visited.

    Examples
    --------
    >>> from queueing import Constant, price_pages
    >>> found = price_pages([0.5, 0.1, 0.2], [1.0, 2.0, 1.0], Constant(1.0))
    >>> found.multiplier > 0
    True
    """

    multiplier: float
    objective: float
    collected: int
    marginal: Marginal | None = None


def histogram_of(rates: ArrayLike, weights: ArrayLike, law: AccessTime) -> Histogram:
    """Count pages by worth, in one pass over them.

    Parameters
    ----------
    rates, weights
        mu and c of each page.
    law
        of the time of one access.

    Returns
    -------
    Histogram
        moments of the decays in each bin of worths.

    Examples
    --------
    >>> from queueing import Constant, histogram_of
    >>> histogram_of([0.5, 0.1], [1.0, 2.0], Constant(1.0)).pages
    2
    """
    timing = timing_of(law)
    bins = np.zeros(4 * (2048 << BIN_BITS))  # most of it is never touched, and no memory
    ends, sums = np.array([np.iinfo(np.int64).max, 0]), np.zeros(2)
    pages = go_over(rates, weights, law, lambda _, some, others: count(some, others, timing, bins, ends, sums))
    low, high = (int(end) >> (52 - BIN_BITS) for end in (ends[0] + 1, ends[1])) if ends[1] > 0 else (1, 0)
    moments = bins[4 * low : 4 * high + 4].reshape(-1, 4).copy() if low <= high else np.zeros((0, 4))
    return Histogram(low if low <= high else 0, moments, (float(sums[0]), float(sums[1])), pages)


def price_pages(rates: ArrayLike, weights: ArrayLike, law: AccessTime, total: float = 1.0) -> PricedPages:
    r"""Find price and least cost of so many visits per slot: one pass over the pages, a look at the marginal ones.

    Parameters
    ----------
    rates, weights
        mu and c of each page.
    law
        of the time of one access.
    total
        visits per slot of all pages together.

    Returns
    -------
    PricedPages
        the dual price of a visit, and the least cost, to about eleven digits.

    Notes
    -----
    At a price :math:`\lambda` a page has :math:`f = \ell / u(\lambda / a)`, so that sums over pages depend on the
    l-weighted distribution of worths a alone: it is kept in fine bins, each by four moments. Nothing is proved before
    `objective_pass` has summed cost and bound over all pages. It solves the problem of `allocate` for more pages.

    Examples
    --------
    >>> from queueing import Constant, allocate, price_pages, traits
    >>> rates, weights = [0.5, 0.1, 0.2], [1.0, 2.0, 1.0]
    >>> found = price_pages(rates, weights, Constant(1.0))
    >>> abs(found.objective / allocate(traits(rates, weights, Constant(1.0))).objective - 1.0) < 1e-9
    True
    """
    visits = positive("total", total)
    histogram = histogram_of(rates, weights, law)
    nodes, found = solved_nodes(histogram, visits)
    marginal, collected = tied_pages(histogram, found), 0
    window = window_of(histogram, found.price)
    pages = None if window is None else pages_between(rates, weights, law, *window)
    if window is not None and pages is not None:
        nodes, collected = cut_out(nodes, *window, pages, found.price), len(pages.worths)
        found = priced(nodes, visits, found.price)
        marginal = marginal_within(window, found)
    objective = cost_at(nodes, histogram.fixed, found.price, visits)
    return PricedPages(found.price, objective, collected, marginal)


def solved_nodes(histogram: Histogram, total: float) -> tuple[Nodes, Priced]:
    """Solve for the price, and keep the pages that stand for the bins.

    Parameters
    ----------
    histogram
        The pages, counted by worth.
    total
        Visits per slot of all pages together.

    Returns
    -------
    tuple[Nodes, Priced]
        Pages that stand for the bins, few of them far from the price; the price, and the marginal page.
    """
    visits = positive("total", total)
    nodes = nodes_of(histogram.first, histogram.moments, 0.0)
    found = priced(nodes, visits, 0.0)
    if found.price > 0.0:
        nodes = nodes_of(histogram.first, histogram.moments, found.price)
        found = priced(nodes, visits, found.price)
    return nodes, found


def window_of(
    histogram: Histogram, price: float, reach: int = NEAR, most: float | None = None
) -> tuple[float, float] | None:
    """Find the worths around a price whose pages should be taken as they are.

    Parameters
    ----------
    histogram
        The pages, counted by worth.
    price
        About the dual price of a visit.
    reach
        Bins on both sides of it.
    most
        The part of all decays that these pages may have; by default a 32nd, where they are not few anyway.

    Returns
    -------
    tuple[float, float] | None
        The least of these worths, and the least above them; None if these are no few pages.
    """
    if price <= 0.0:
        return None
    first, last = bin_of(price) - reach, bin_of(price) + reach
    inside = slice(max(0, first - histogram.first), max(0, last + 1 - histogram.first))
    part = most or (FEW if histogram.pages > ANY_COLLECTED else 1.0)
    if histogram.moments[inside, 0].sum() > part * histogram.moments[:, 0].sum():
        return None
    return lower_edge(first), lower_edge(last + 1)


def pages_between(rates: ArrayLike, weights: ArrayLike, law: AccessTime, low: float, high: float) -> Nodes | None:
    """Collect the pages with worths in a range, in the order they come.

    Parameters
    ----------
    rates, weights
        mu and c of each page.
    law
        Of the time of one access.
    low, high
        Worths from the first to below the second are in the range.

    Returns
    -------
    Nodes | None
        Their worths and decays; None if they are many, and an eighth of all pages.
    """
    changes, costs = paired(rates, weights)
    room = max(len(changes) // 8, min(len(changes), ANY_COLLECTED)) + 2 * BLOCK
    worths, decays, found = np.empty(room), np.empty(room), 0
    for _, some, others in chunks(changes, costs):
        found = int(collect(some, others, timing_of(law), (low, high), (worths, decays), found))
        if found < 0:
            return None
    return Nodes(worths[:found], decays[:found])


def marginal_within(window: tuple[float, float], found: Priced) -> Marginal | None:
    """Tell whether the marginal page is one of those that were taken as they are, and has a frequency of its own.

    Parameters
    ----------
    window
        The worths that were taken as they are, see `window_of`.
    found
        The price, and the marginal page.

    Returns
    -------
    Marginal | None
        Its worth and frequency; None if it is another page, or if the price tells its frequency.
    """
    alone = window[0] <= found.worth < window[1] and found.share < STEEP
    return Marginal(found.worth, found.share) if alone else None


def tied_pages(histogram: Histogram, found: Priced) -> Marginal | None:
    """Look for pages whose common worth is the price but for rounding, which cannot tell their frequency.

    Parameters
    ----------
    histogram
        The pages, counted by worth.
    found
        The price, and the marginal page.

    Returns
    -------
    Marginal | None
        How often they are visited; None if the bin of the marginal page is wider than rounding.
    """
    if found.worth == 0.0 or found.share >= STEEP:
        return None
    place = bin_of(found.worth) - histogram.first
    mass, first, second, _ = histogram.moments[place] if 0 <= place < len(histogram.moments) else np.zeros(4)
    spread = second / mass - (first / mass) ** 2 if mass > 0.0 else 1.0
    return Marginal(found.worth, found.share) if spread < 1e-14 else None
