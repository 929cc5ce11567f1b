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
:func:`~queueing.freshness_passes.objective_pass` has summed cost and bound over all pages.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from .checks import positive
from .elementary import VECTOR, bits_of
from .freshness_blocks import BLOCK, Numbers, add_to, fill, folded, paired, refuse
from .freshness_nodes import (
    BIN_BITS,
    NEAR,
    Nodes,
    bin_of,
    cost_at,
    cut_out,
    lower_edge,
    nodes_of,
    price_of_nodes,
)
from .freshness_passes import PassSums, added, frequencies_at, objective_pass
from .laws import AccessTime, decay_at
from .matrices import Matrix, Vector

__all__ = [
    "Histogram",
    "PassSums",
    "PricedPages",
    "frequencies_at",
    "histogram_of",
    "objective_pass",
    "price_pages",
    "solve",
]

_SHIFT = 52 - BIN_BITS

#: Pages around the price are collected if they hold at most this part of all decays: else they are no few pages.
FEW = 1.0 / 32.0


@dataclass(frozen=True, eq=False)
class Histogram:
    """Pages by worth.

    Attributes
    ----------
    first
        number of the first bin that is kept.
    moments
        by bin, the sums of l t**k for k = 0, 1, 2, 3.
    weights
        sum of the weights of pages that change, as a rounded sum and what it lacks.
    pages
        number of pages.
    """

    first: int
    moments: Matrix
    weights: tuple[float, float]
    pages: int

    def merged(self, other: "Histogram") -> "Histogram":
        """The histogram of the pages of both."""
        parts = [part for part in (self, other) if len(part.moments)]
        first = min((part.first for part in parts), default=0)
        last = max((part.first + len(part.moments) for part in parts), default=0)
        moments = np.zeros((last - first, 4))
        for part in parts:
            moments[part.first - first : part.first - first + len(part.moments)] += part.moments
        return Histogram(first, moments, added(self.weights, other.weights), self.pages + other.pages)


@dataclass(frozen=True)
class PricedPages:
    """What is known about pages after they have been counted.

    Attributes
    ----------
    multiplier
        the price of a visit.
    objective
        the least cost of frequencies with the right sum.
    collected
        how many pages around the price were taken as they are; 0 if they were too many.
    """

    multiplier: float
    objective: float
    collected: int


def histogram_of(rates: ArrayLike, weights: ArrayLike, law: AccessTime) -> Histogram:
    """Count pages with these change rates and weights."""
    changes, costs = paired(rates, weights)
    kind, parameters = law.kernel()
    bins = np.zeros(4 * (2048 << BIN_BITS))  # most of it is never touched, and no memory
    low, high, sums, wrong = _count(changes, costs, kind, parameters, law.mean, bins)
    if wrong >= 0:
        refuse(changes, costs, wrong, kind, parameters, law.mean)
    moments = bins[4 * low : 4 * high + 4].reshape(-1, 4).copy() if low <= high else np.zeros((0, 4))
    return Histogram(int(low), moments, (float(sums[0]), float(sums[1])), len(changes))


def solve(histogram: Histogram, total: float = 1.0) -> float:
    """The price at which the pages are visited so many times per slot; 0 if no page gains by a visit."""
    return solved_nodes(histogram, positive("total", total))[1]


def price_pages(rates: ArrayLike, weights: ArrayLike, law: AccessTime, total: float = 1.0) -> PricedPages:
    """Price and least cost of so many visits per slot: one pass over the pages, and a look at the marginal ones."""
    visits = positive("total", total)
    histogram = histogram_of(rates, weights, law)
    nodes, price = solved_nodes(histogram, visits)
    window = window_of(histogram, price)
    pages = None if window is None else pages_between(rates, weights, law, *window)
    if window is not None and pages is not None:
        nodes = cut_out(nodes, *window, pages)
        price = price_of_nodes(nodes, visits, price)
    collected = 0 if pages is None else len(pages.worths)
    return PricedPages(price, cost_at(nodes, histogram.weights, price, visits), collected)


def solved_nodes(histogram: Histogram, total: float) -> tuple[Nodes, float]:
    """Pages that stand for the bins, few far from the price, and the price."""
    nodes = nodes_of(histogram.first, histogram.moments, 0.0)
    price = price_of_nodes(nodes, total, 0.0)
    if price > 0.0:
        nodes = nodes_of(histogram.first, histogram.moments, price)
        price = price_of_nodes(nodes, total, price)
    return nodes, price


def window_of(histogram: Histogram, price: float) -> tuple[float, float] | None:
    """The worths around a price whose pages should be taken as they are; None if these are no few pages."""
    if price <= 0.0:
        return None
    first, last = bin_of(price) - NEAR, bin_of(price) + NEAR
    inside = slice(max(0, first - histogram.first), max(0, last + 1 - histogram.first))
    if histogram.moments[inside, 0].sum() > FEW * histogram.moments[:, 0].sum():
        return None
    return lower_edge(first), lower_edge(last + 1)


def pages_between(rates: ArrayLike, weights: ArrayLike, law: AccessTime, low: float, high: float) -> Nodes | None:
    """Pages with worths from `low` to below `high`, in the order they come; None if they are more than an eighth."""
    changes, costs = paired(rates, weights)
    room = Nodes(np.empty(len(changes) // 8 + 64), np.empty(len(changes) // 8 + 64))
    found = int(_collect(changes, costs, *law.kernel(), law.mean, low, high, *room))
    return None if found < 0 else Nodes(room.worths[:found], room.decays[:found])


@njit(**VECTOR)
def _count(
    rates: Numbers, weights: Numbers, kind: int, parameters: Vector, mean: float, bins: Vector
) -> tuple[int, int, Vector, int]:
    """Add pages to the bins; first and last bin, sum of weights and what it lacks, first wrong block or -1."""
    sums, low, high = np.zeros(2), len(bins), -1
    decays, deficits, worths = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    places, offsets = np.empty(BLOCK, np.uint64), np.empty(BLOCK)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for start in range(0, len(rates), BLOCK):
        stop = min(start + BLOCK, len(rates))
        size = stop - start
        here, prices = rates[start:stop], weights[start:stop]
        if fill(kind, parameters, mean, here, prices, decays[:size], deficits[:size], worths[:size]):
            return low, high, sums, start
        for page in range(size):
            bits = bits_of(worths[page])
            place = bits >> _SHIFT
            low = min(low, place if bits > 0 else low)
            high = max(high, place if bits > 0 else high)
            places[page] = place << 2
            offsets[page] = float(bits & ((1 << _SHIFT) - 1)) * 2.0**-_SHIFT - 0.5
            deficits[page] = float(prices[page]) if float(here[page]) > 0.0 else 0.0
        add_to(sums, 0, folded(deficits[:size]))
        for page in range(size):
            place, decay, t = places[page], decays[page], offsets[page]
            first, second = bins[place] + decay, bins[place + one] + decay * t
            third, fourth = bins[place + two] + decay * (t * t), bins[place + three] + decay * t * (t * t)
            bins[place], bins[place + one], bins[place + two], bins[place + three] = first, second, third, fourth
    return low, high, sums, -1


@njit(**VECTOR)
def _collect(
    rates: Numbers,
    weights: Numbers,
    kind: int,
    parameters: Vector,
    mean: float,
    low: float,
    high: float,
    worths: Vector,
    decays: Vector,
) -> int:
    """Collect worths from `low` to below `high`, and their decays; how many there are, -1 if there is no room."""
    count = 0
    wide, narrow = high * mean * (1.0 + 1e-12), low * mean * (1.0 - 1e-12)
    for start in range(0, len(rates), 32):
        stop = min(start + 32, len(rates))
        inside = 0
        for page in range(start, stop):
            rate, weight = float(rates[page]), float(weights[page])
            inside += 1 if (weight >= narrow * rate) & (weight <= wide * rate) else 0
        if inside == 0:
            continue
        if count + 32 > len(worths):
            return -1
        for page in range(start, stop):
            rate, weight = float(rates[page]), float(weights[page])
            if weight >= narrow * rate and weight <= wide * rate and rate > 0.0:
                worth = weight / (rate * mean)
                if low <= worth < high:
                    worths[count], decays[count] = worth, decay_at(kind, parameters, rate)
                    count += 1
    return count
