r"""The price of a visit for any number of pages, from one pass over them.

At a price :math:`\lambda` all sums over pages depend on their worths a and decays l only through the l-weighted law of
a: a page has :math:`f = \ell / u(\lambda / a)`. So pages are counted once, in bins of a that are fine enough: each
octave is cut into `BINS` equal parts, so that the bin of a double is a part of its bits, and each bin keeps

.. math::  \sum \ell_i t_i^k, \quad k = 0, 1, 2, 3,

where t in [-1/2, 1/2) is the place of a in its bin. From these four numbers comes Gauss's rule of two points, exact for
cubic functions of a: the bin is replaced by two pages. Histograms of parts of the data add up to that of the whole.

The price found misses the demand by about 1e-6, and frequencies scaled to the right sum cost about its square more than
the best; nothing is claimed of them before :func:`objective_pass` has gone over all pages and summed cost and bound.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .checks import positive
from .freshness import even_rate
from .freshness_prices import best_frequency, price_at, solve_price
from .laws import AccessTime, decay_and_deficit_at, decay_at
from .matrices import Matrix, Vector

#: Bins per octave: a power of two.
BINS = 1 << 10
_SHIFT = 52 - 10

#: Change rates or weights of pages, in single or double precision.
Numbers = NDArray[np.float64] | NDArray[np.float32]


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
class PassSums:
    """Sums over pages at one price, each a rounded sum and what it lacks.

    Attributes
    ----------
    multiplier
        the price.
    pages
        number of pages.
    visited
        how many of them are visited.
    cost
        of the frequencies that are best at this price.
    frequencies
        their sum.
    curvature
        sum of a l u exp(-u): second derivative of the cost in a common factor of all frequencies.
    """

    multiplier: float
    pages: int
    visited: int
    cost: tuple[float, float]
    frequencies: tuple[float, float]
    curvature: tuple[float, float]

    def merged(self, other: "PassSums") -> "PassSums":
        """The sums over the pages of both."""
        if self.multiplier != other.multiplier:
            raise ValueError(
                f"Sums must be of one multiplier, but they are of {self.multiplier!r} and {other.multiplier!r}; "
                "repeat the pass."
            )
        return PassSums(
            self.multiplier,
            self.pages + other.pages,
            self.visited + other.visited,
            added(self.cost, other.cost),
            added(self.frequencies, other.frequencies),
            added(self.curvature, other.curvature),
        )

    def scale(self, total: float = 1.0) -> float:
        """The factor that makes the frequencies sum to `total`."""
        return total / sum(self.frequencies)

    def bound(self, total: float = 1.0) -> float:
        """The value of the dual at this price: a lower bound on the cost of all frequencies with this sum."""
        beyond = (self.frequencies[0] - total) + self.frequencies[1]
        return self.cost[0] + (self.cost[1] + self.multiplier * beyond)

    def objective(self, total: float = 1.0) -> float:
        r"""Cost of the frequencies once scaled to this sum, to the second order in what the factor differs from 1.

        With the factor :math:`\theta` it is the bound plus :math:`(\theta - 1)^2 / 2` times the curvature; of the third
        order there is at most as much again as :math:`|\theta - 1|`.
        """
        return self.bound(total) + 0.5 * (self.scale(total) - 1.0) ** 2 * sum(self.curvature)


def histogram_of(rates: Numbers, weights: Numbers, law: AccessTime) -> Histogram:
    """Count pages with these change rates and weights."""
    changes, costs = _paired(rates, weights)
    kind, parameters = law.kernel()
    bins = np.zeros((2048 << 10, 4))
    low, high, total, lost, wrong = _count(changes, costs, kind, parameters, law.mean, bins)
    if wrong >= 0:
        _refuse(changes, costs, wrong)
    if high < low:
        return Histogram(0, np.zeros((0, 4)), (total, lost), len(changes))
    return Histogram(low, bins[low : high + 1].copy(), (total, lost), len(changes))


def solve(histogram: Histogram, total: float = 1.0) -> float:
    """The price at which the pages are visited so many times per slot; 0 if no page gains by a visit."""
    visits = positive("total", total)
    worths, decays = nodes_of(histogram)
    if not len(worths):
        return 0.0
    count = len(worths)
    base, v = solve_price(
        worths,
        decays,
        np.zeros(count),
        np.full(count, np.inf),
        np.zeros(count, np.int64),
        np.array([np.inf]),
        visits,
        np.empty(count),
    )
    return float(price_at(base, v))


def frequencies_at(rates: Numbers, weights: Numbers, law: AccessTime, multiplier: float, scale: float = 1.0) -> Vector:
    """The frequency of each page at this price, times `scale`."""
    changes, costs = _paired(rates, weights)
    kind, parameters = law.kernel()
    found, wrong = _frequencies(changes, costs, kind, parameters, law.mean, positive("multiplier", multiplier), scale)
    if wrong >= 0:
        _refuse(changes, costs, wrong)
    return np.asarray(found)


def objective_pass(rates: Numbers, weights: Numbers, law: AccessTime, multiplier: float) -> PassSums:
    """Cost, frequencies and curvature at this price, summed over these pages without rounding errors piling up."""
    changes, costs = _paired(rates, weights)
    kind, parameters = law.kernel()
    price = positive("multiplier", multiplier)
    sums, visited, wrong = _sums(changes, costs, kind, parameters, law.mean, price)
    if wrong >= 0:
        _refuse(changes, costs, wrong)
    pairs = [(float(sums[k]), float(sums[k + 1])) for k in (0, 2, 4)]
    return PassSums(price, len(changes), int(visited), pairs[0], pairs[1], pairs[2])


def added(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The sum of two sums, each with what it lacks."""
    total = one[0] + other[0]
    large, small = (one[0], other[0]) if abs(one[0]) >= abs(other[0]) else (other[0], one[0])
    return total, ((large - total) + small) + one[1] + other[1]


def nodes_of(histogram: Histogram) -> tuple[Vector, Vector]:
    """Pages that stand for the bins, in decreasing order of worth: two for each bin, with the same four moments."""
    worths, decays = _gauss(histogram.first, histogram.moments)
    order = np.argsort(-worths, kind="stable")
    order = order[decays[order] > 0]
    return worths[order], decays[order]


def _paired(rates: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    changes: Numbers = np.asarray(rates)
    costs: Numbers = np.asarray(weights)
    for name, array in (("rates", changes), ("weights", costs)):
        if array.ndim != 1 or array.dtype not in (np.float64, np.float32):
            raise ValueError(
                f"{name} must be a row of single or double precision numbers, but it has {array.ndim} dimensions of "
                f"{array.dtype}; convert it."
            )
    if len(changes) != len(costs):
        raise ValueError(
            f"rates and weights must be equally many, but there are {len(changes)} and {len(costs)}; "
            "give one weight for each page."
        )
    return changes, costs


def _refuse(rates: Numbers, weights: Numbers, page: int) -> None:
    for name, array in (("rates", rates), ("weights", weights)):
        if not 0 <= array[page] < np.inf:
            raise ValueError(
                f"{name}[{page}] must be a finite number of at least 0, but it is {float(array[page])!r}; give one."
            )
    raise ValueError(
        f"rates[{page}] x mean access time, and weights[{page}] over it, must be numbers that a double can hold, but "
        f"the rate is {float(rates[page])!r}, the weight {float(weights[page])!r}; choose units nearer to them."
    )


@njit(cache=True)
def _gauss(first: int, moments: Matrix) -> tuple[Vector, Vector]:
    """Worths and decays of two pages for each bin."""
    worths, decays = np.zeros(2 * len(moments)), np.zeros(2 * len(moments))
    for k in range(len(moments)):
        mass = moments[k, 0]
        if mass <= 0.0:
            continue
        octave, part = (first + k) // BINS, (first + k) % BINS
        unit = 2.0 ** (octave - 1023)
        mean = moments[k, 1] / mass
        spread = max(0.0, moments[k, 2] / mass - mean * mean)
        skew = moments[k, 3] / mass - mean * (3.0 * spread + mean * mean)
        half = 0.5 * skew / spread if spread > 1e-9 else 0.0
        reach = math.sqrt(half * half + spread)
        low, high = half - reach, half + reach
        share = -low / (high - low) if reach > 0.0 else 1.0
        for side in range(2):
            place = mean + (low if side == 0 else high)
            worths[2 * k + side] = unit * (1.0 + (part + 0.5 + min(0.5, max(-0.5, place))) / BINS)
            decays[2 * k + side] = mass * (1.0 - share if side == 0 else share)
    return worths, decays


@njit(cache=True, nogil=True)
def _count(
    rates: Numbers, weights: Numbers, kind: int, parameters: Vector, mean: float, bins: Matrix
) -> tuple[int, int, float, float, int]:
    """Add pages to the bins; first and last bin, sum of weights and what it lacks, first wrong page or -1."""
    worth = np.empty(1)
    bits = worth.view(np.int64)
    low, high, total, lost = len(bins), -1, 0.0, 0.0
    for page in range(len(rates)):
        rate, weight = float(rates[page]), float(weights[page])
        if not (0.0 <= rate < np.inf and 0.0 <= weight < np.inf):
            return low, high, total, lost, page
        if rate == 0.0 or weight == 0.0:
            continue
        decay = decay_at(kind, parameters, rate)
        worth[0] = weight / (rate * mean)
        if not (worth[0] < np.inf and 0.0 < decay < np.inf):
            return low, high, total, lost, page
        new = total + weight
        lost += (max(total, weight) - new) + min(total, weight)
        total = new
        place = bits[0] >> _SHIFT
        t = float(bits[0] & ((1 << _SHIFT) - 1)) * 2.0**-_SHIFT - 0.5
        bins[place, 0] += decay
        bins[place, 1] += decay * t
        bins[place, 2] += decay * (t * t)
        bins[place, 3] += decay * (t * t * t)
        low, high = min(low, place), max(high, place)
    return low, high, total, lost, -1


@njit(cache=True, nogil=True)
def _frequencies(
    rates: Numbers, weights: Numbers, kind: int, parameters: Vector, mean: float, price: float, scale: float
) -> tuple[Vector, int]:
    found = np.zeros(len(rates))
    for page in range(len(rates)):
        rate, weight = float(rates[page]), float(weights[page])
        if not (0.0 <= rate < np.inf and 0.0 <= weight < np.inf):
            return found, page
        if rate > 0.0 and weight > 0.0:
            worth = weight / (rate * mean)
            if not worth < np.inf:
                return found, page
            if worth > price:
                found[page] = scale * best_frequency(decay_at(kind, parameters, rate), worth, price)
    return found, -1


@njit(cache=True, nogil=True)
def _sums(
    rates: Numbers, weights: Numbers, kind: int, parameters: Vector, mean: float, price: float
) -> tuple[Vector, int, int]:
    sums, terms, visited = np.zeros(6), np.zeros(3), 0
    for page in range(len(rates)):
        rate, weight = float(rates[page]), float(weights[page])
        if not (0.0 <= rate < np.inf and 0.0 <= weight < np.inf):
            return sums, visited, page
        if rate == 0.0 or weight == 0.0:
            continue
        worth = weight / (rate * mean)
        if not worth < np.inf:
            return sums, visited, page
        terms[0], terms[1], terms[2] = weight, 0.0, 0.0
        if worth > price:
            decay, deficit = decay_and_deficit_at(kind, parameters, rate)
            frequency = best_frequency(decay, worth, price)
            terms[0] = weight * even_rate(rate * mean, decay, deficit, frequency)
            terms[1] = frequency
            u = decay / frequency
            terms[2] = worth * decay * u * math.exp(-u)
            visited += 1
        for k in range(3):
            old = sums[2 * k]
            sums[2 * k] = old + terms[k]
            sums[2 * k + 1] += (max(old, terms[k]) - sums[2 * k]) + min(old, terms[k])
    return sums, visited, -1
