r"""Exact passes over many pages at a given price: the sums that prove an allocation, and its frequencies.

At the price :math:`\lambda` a page of worth :math:`a > \lambda` has :math:`f = \ell / u(\kappa)`, where
:math:`\kappa = \lambda / a`. All that is summed follows from u without another exponential, as
:math:`(1 + u) e^{-u} = 1 - \kappa`:

.. math::
    c\, r(f) = a \Bigl[ (q - \ell) + \ell \frac{u - \kappa / u}{1 + u} \Bigr], \qquad
    a \ell u e^{-u} = a \ell u \frac{1 - \kappa}{1 + u}.

Sums within a block are taken by halves, sums over blocks keep what they lack: rounding does not grow with the number of
pages. Sums over parts of the data can be merged.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from ...numerics import VECTOR, Vector, bits_of, minus_log, positive
from ...processes import AccessTime, exp_excess
from ..inverse import CELLS_PER_UNIT, TABLE, inverse_at
from .blocks import BLOCK, Timing, add_to, fill, folded, go_over, timing_of
from .nodes import TIE

#: Prices that are a smaller part of a worth lose digits as such a part; these pages are treated one by one.
TINY_SHARE = 1e-290


class Marginal(NamedTuple):
    """Pages of the same worth, at the price of which they are visited more or less: no double is such a price.

    Attributes
    ----------
    worth
        of these pages, but for a part of `TIE`.
    share
        their frequency in parts of their decay, f / l.
    """

    worth: float
    share: float


@dataclass(frozen=True)
class PassSums:
    """Sums over pages at one dual price, each a rounded sum and what it lacks.

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
    excess
        what marginal pages cost, visits at this price included, above the least they could: rounding, more or less.

    Examples
    --------
    >>> from queueing import Constant, objective_pass
    >>> sums = objective_pass([0.5, 0.1, 0.2], [1.0, 2.0, 1.0], Constant(1.0), multiplier=0.5)
    >>> sums.visited, sums.bound() <= sums.objective()
    (3, True)
    """

    multiplier: float
    pages: int
    visited: int
    cost: tuple[float, float]
    frequencies: tuple[float, float]
    curvature: tuple[float, float]
    excess: tuple[float, float] = (0.0, 0.0)

    def merged(self, other: "PassSums") -> "PassSums":
        """The sums over the pages of both."""
        if self.multiplier != other.multiplier:
            raise ValueError(
                f"Sums must be of one multiplier, but they are of {self.multiplier!r} and {other.multiplier!r}; "
                "repeat the pass."
            )
        names = ("cost", "frequencies", "curvature", "excess")
        sums = (added(getattr(self, name), getattr(other, name)) for name in names)
        return PassSums(self.multiplier, self.pages + other.pages, self.visited + other.visited, *sums)

    def scale(self, total: float = 1.0) -> float:
        """Compute the factor that makes the frequencies sum to `total`."""
        return total / sum(self.frequencies)

    def bound(self, total: float = 1.0) -> float:
        """Compute the value of the dual at this price: a lower bound on the cost of all frequencies with this sum."""
        beyond = (self.frequencies[0] - total) + self.frequencies[1]
        return self.cost[0] + (self.cost[1] + self.multiplier * beyond - sum(self.excess))

    def objective(self, total: float = 1.0) -> float:
        r"""Cost of the frequencies once scaled to this sum, to the second order in what the factor differs from 1.

        With the factor :math:`\theta` it is the bound plus :math:`(\theta - 1)^2 / 2` times the curvature; of the third
        order there is at most as much again as :math:`|\theta - 1|`.
        """
        beyond = 0.5 * (self.scale(total) - 1.0) ** 2 * sum(self.curvature)
        return self.bound(total) + (sum(self.excess) + beyond)


def added(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Add two sums, each given with what it lacks.

    Parameters
    ----------
    one, other
        A rounded sum and what it lacks.

    Returns
    -------
    tuple[float, float]
        The rounded sum of both, and what it lacks.
    """
    total = one[0] + other[0]
    large, small = (one[0], other[0]) if abs(one[0]) >= abs(other[0]) else (other[0], one[0])
    return total, ((large - total) + small) + one[1] + other[1]


def objective_pass(
    rates: ArrayLike, weights: ArrayLike, law: AccessTime, multiplier: float, marginal: Marginal | None = None
) -> PassSums:
    r"""Cost, frequencies and curvature at this dual price, summed over these pages.

    Parameters
    ----------
    rates, weights
        mu and c of each page.
    law
        of the time of one access.
    multiplier
        lambda: the price of a visit.
    marginal
        pages of one worth whose frequency the price cannot tell, from `PricedPages`.

    Returns
    -------
    PassSums
        from which the bound and the cost follow; sums over parts of the pages can be merged.

    Notes
    -----
    With :math:`\kappa = \lambda / a` and :math:`(1 + u) e^{-u} = 1 - \kappa` a page that is visited costs

    .. math::  c\, r(f) = a \Bigl[ (q - \ell) + \ell \frac{u - \kappa / u}{1 + u} \Bigr], \qquad f = \ell / u.

    Examples
    --------
    >>> from queueing import Constant, objective_pass, price_pages
    >>> rates, weights = [0.5, 0.1, 0.2], [1.0, 2.0, 1.0]
    >>> found = price_pages(rates, weights, Constant(1.0))
    >>> sums = objective_pass(rates, weights, Constant(1.0), found.multiplier, found.marginal)
    >>> abs(sums.objective() - sums.bound()) < 1e-9
    True
    """
    timing, price, sums = timing_of(law), positive("multiplier", multiplier), np.zeros(9)
    tie = marginal or Marginal(0.0, 0.0)
    pages = go_over(rates, weights, law, lambda _, some, others: _sums(some, others, timing, price, tie, sums))
    pairs = [(float(sums[k]), float(sums[k + 1])) for k in range(0, 8, 2)]
    return PassSums(price, pages, int(sums[8]), *pairs)


def frequencies_at(
    rates: ArrayLike,
    weights: ArrayLike,
    law: AccessTime,
    multiplier: float,
    scale: float = 1.0,
    marginal: Marginal | None = None,
) -> Vector:
    r"""Find the frequency of each page at this dual price, times `scale`.

    Parameters
    ----------
    rates, weights
        mu and c of each page.
    law
        of the time of one access.
    multiplier
        lambda: the price of a visit.
    scale
        factor of all frequencies, such as `PassSums.scale`.
    marginal
        pages of one worth whose frequency the price cannot tell, from `PricedPages`.

    Returns
    -------
    Vector
        :math:`f_i = \ell_i / u(\lambda / a_i)`, 0 where :math:`a_i \le \lambda`.

    Examples
    --------
    >>> from queueing import Constant, frequencies_at
    >>> frequencies_at([0.5, 0.1, 0.2], [1.0, 2.0, 0.1], Constant(1.0), multiplier=1.0).round(6)
    array([0.297912, 0.281404, 0.      ])
    """
    price, factor = positive("multiplier", multiplier), positive("scale", scale)
    timing, tie = timing_of(law), marginal or Marginal(0.0, 0.0)
    found: Vector = np.empty(np.size(rates))

    def fill_in(start: int, some: Vector, others: Vector) -> int:
        return int(_frequencies(some, others, timing, price, tie, factor, found[start : start + len(some)]))

    go_over(rates, weights, law, fill_in)
    return found


@njit(inline="always", **VECTOR)
def _is_near(worth: float, base: float) -> bool:
    """Whether this is a worth of marginal pages; never where base is 0."""
    return bool(abs(worth - base) < TIE * base)


@njit(**VECTOR)
def best_gaps(worths: Vector, price: float, places: Vector, found: Vector) -> None:
    """Fill in u of each page of a block; infinite where the price is too high. `places` is used up."""
    smallest = bits_of(1.0)  # in the order of the numbers
    for page in range(len(worths)):
        worth = worths[page]
        visited = worth > price
        share = price / worth if visited else 0.5
        smallest = min(smallest, bits_of(share))
        y = minus_log(share, (worth - price) / worth if visited else 0.5)
        places[page] = math.sqrt(2.0 * y)
    for page in range(len(worths)):
        s = places[page]
        place = s * CELLS_PER_UNIT
        cell = int(place)
        t = 2.0 * (place - cell) - 1.0
        start = np.uint64(8 * cell)
        high = TABLE[start + np.uint64(7)] * t + TABLE[start + np.uint64(6)]
        high = (high * t + TABLE[start + np.uint64(5)]) * t + TABLE[start + np.uint64(4)]
        low = (high * t + TABLE[start + np.uint64(3)]) * t + TABLE[start + np.uint64(2)]
        low = (low * t + TABLE[start + np.uint64(1)]) * t + TABLE[start]
        found[page] = low * s
    if smallest < bits_of(TINY_SHARE):
        for page in range(len(worths)):
            if worths[page] > price and price / worths[page] < TINY_SHARE:
                found[page] = inverse_at(math.sqrt(2.0 * price) / math.sqrt(worths[page]), 1.0)
    for page in range(len(worths)):
        found[page] = found[page] if worths[page] > price else np.inf


@njit(**VECTOR)
def _sums(rates: Vector, weights: Vector, timing: Timing, price: float, tie: Marginal, sums: Vector) -> int:
    """Add to sums of cost, frequency, curvature, excess, each with what it lacks, and to the number of pages visited.

    The first wrong block is returned, or -1.
    """
    base, tied = tie
    visited = 0
    decays, deficits, worths = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    gaps, costs, curves = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, len(rates), BLOCK):
        stop = min(start + BLOCK, len(rates))
        size = stop - start
        here, prices = rates[start:stop], weights[start:stop]
        if fill(timing, here, prices, decays[:size], deficits[:size], worths[:size]):
            return start
        best_gaps(worths[:size], price, costs[:size], gaps[:size])
        near = 0
        for page in range(size):
            decay, worth, u = decays[page], worths[page], gaps[page]
            reached = worth > price
            both = 1.0 / (u * (1.0 + u))
            steps, lower = (1.0 + u) * both, u * both
            value = worth * deficits[page] + decay * ((worth * u - price * steps) * lower)
            weight = prices[page] if here[page] > 0.0 else 0.0
            costs[page] = value if reached else weight
            gaps[page] = decay * steps if reached else 0.0
            curves[page] = (worth - price) * decay * (u * lower) if reached else 0.0
            visited += 1 if reached else 0
            near += 1 if _is_near(worth, base) else 0
        if near > 0:
            for page in range(size):
                if _is_near(worths[page], base):
                    least, f = costs[page] + price * gaps[page], decays[page] * tied
                    visited += (1 if f > 0.0 else 0) - (1 if gaps[page] > 0.0 else 0)
                    costs[page], curves[page], gaps[page] = prices[page], 0.0, f
                    if f > 0.0:
                        costs[page] = worths[page] * (deficits[page] + f * exp_excess(1.0 / tied))
                        curves[page] = worths[page] * decays[page] * math.exp(-1.0 / tied) / tied
                    add_to(sums, 6, max(0.0, costs[page] + price * f - least))
        add_to(sums, 0, folded(costs[:size]))
        add_to(sums, 2, folded(gaps[:size]))
        add_to(sums, 4, folded(curves[:size]))
    sums[8] += visited
    return -1


@njit(**VECTOR)
def _frequencies(
    rates: Vector, weights: Vector, timing: Timing, price: float, tie: Marginal, scale: float, found: Vector
) -> int:
    """Fill in the frequencies; first wrong block or -1."""
    base, tied = tie
    decays, deficits, worths = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, len(rates), BLOCK):
        stop = min(start + BLOCK, len(rates))
        size = stop - start
        here, prices, own = rates[start:stop], weights[start:stop], found[start:stop]
        if fill(timing, here, prices, decays[:size], deficits[:size], worths[:size]):
            return start
        best_gaps(worths[:size], price, deficits[:size], own)
        for page in range(size):
            frequency = decays[page] / own[page]
            own[page] = scale * (decays[page] * tied if _is_near(worths[page], base) else frequency)
    return -1
