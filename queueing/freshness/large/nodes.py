r"""A few pages that stand for many: the bins of a histogram of worths, and the price they lead to.

The bins are parts of octaves, equal in a, so that number and place follow from the bits of a double. A group of bins
with sums :math:`\sum \ell t^k`, k = 0 to 3, is as good as two pages (Gauss's rule) where what is summed is smooth over
its width; groups are eight bins wide far from the price, single bins near it.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numerics import VECTOR, Matrix, Vector
from ..inverse import inverse_at
from ..prices import free_demands, price_at, solve_price

#: Each octave has 2**BIN_BITS bins; groups of bins far from the price have 2**GROUP_BITS.
BIN_BITS, GROUP_BITS = 10, 3

#: How many bins, or groups of bins, on both sides count as near a price.
NEAR = 8

#: Worths that differ by less, in parts of them, are one worth where pages are marginal.
TIE = 1e-10

#: Pages near the price become one if their distance is less than this part of that to the price.
CLOSE = 512.0


class Nodes(NamedTuple):
    """Pages in decreasing order of worth.

    Attributes
    ----------
    worths
        a of each page: the largest value of one more visit per slot.
    decays
        l of each page.
    """

    worths: Vector
    decays: Vector


class Priced(NamedTuple):
    """A price of a visit, the least worth above it, and f / l of a page of that worth; all 0 if nothing is worth it."""

    price: float
    worth: float
    share: float


def bin_of(worth: float) -> int:
    """Number the bin that holds a worth.

    Parameters
    ----------
    worth
        A finite number of at least 0.

    Returns
    -------
    int
        Its exponent and first bits.
    """
    return int(np.float64(worth).view(np.int64)) >> (52 - BIN_BITS)


def lower_edge(number: int) -> float:
    """Compute the least worth of a bin.

    Parameters
    ----------
    number
        Of the bin, see `bin_of`.

    Returns
    -------
    float
        The worth.
    """
    return float(np.int64(number << (52 - BIN_BITS)).view(np.float64))


def nodes_of(first: int, moments: Matrix, price: float) -> Nodes:
    """Make pages that stand for bins, finely near the price."""
    middle = bin_of(price) >> GROUP_BITS if price > 0.0 else -NEAR - 1
    return Nodes(*_gauss(first, moments, middle))


def cut_out(nodes: Nodes, low: float, high: float, pages: Nodes, guess: float | None = None) -> Nodes:
    """Replace nodes in a range of worths by the pages themselves.

    Ties become one page. Where the price is known but for a part of 1e-4, pages that are much nearer to one another
    than to it become one, too, which saves time.

    Parameters
    ----------
    nodes
        Pages that stand for all.
    low, high
        Nodes with worths from the first to below the second are replaced.
    pages
        The pages in this range, in any order.
    guess
        The price, if it is known to within a part of 1e-4.

    Returns
    -------
    Nodes
        Pages in decreasing order of worth.
    """
    order = np.argsort(-pages.worths)
    worths, decays = pages.worths[order], pages.decays[order]
    count = int(_tie(worths, decays, np.nan if guess is None else guess))
    above, below = nodes.worths >= high, nodes.worths < low
    return Nodes(
        np.concatenate([nodes.worths[above], worths[:count], nodes.worths[below]]),
        np.concatenate([nodes.decays[above], decays[:count], nodes.decays[below]]),
    )


def priced(nodes: Nodes, total: float, guess: float) -> Priced:
    """Solve for the price at which pages are visited so many times per slot.

    Parameters
    ----------
    nodes
        The pages.
    total
        Visits per slot of all pages together.
    guess
        About the price; 0 if nothing is known of it.

    Returns
    -------
    Priced
        The price, and the marginal page.
    """
    if len(nodes.worths) == 0:
        return Priced(0.0, 0.0, 0.0)
    base, v = solve_price(free_demands(*nodes), total, guess, np.empty(len(nodes.worths)))
    return Priced(float(price_at(base, v)), float(base), float(v))


def cost_at(nodes: Nodes, fixed: tuple[float, float], price: float, total: float) -> float:
    r"""Compute the value of the dual at a price.

    Parameters
    ----------
    nodes
        The pages.
    fixed
        Cost that no visit saves, the sum of c - a l, as a rounded sum and what it lacks.
    price
        Of a visit.
    total
        F, visits per slot of all pages together.

    Returns
    -------
    float
        :math:`\sum (c - a \ell) + \sum a \ell (1 - e^{-u}) - \lambda F`, where
        :math:`(1 + u) e^{-u} = 1 - \lambda / a`, and u is infinite for pages with :math:`a \le \lambda`.
    """
    return (fixed[0] + (float(_late(*nodes, price)) - price * total)) + fixed[1]


@njit(**VECTOR)
def _tie(worths: Vector, decays: Vector, price: float) -> int:
    """Make pages that lie together one page, in place, at their mean worth; how many are left."""
    count, mass, moment, last = 0, 0.0, 0.0, np.inf
    for page in range(len(worths)):
        worth, decay = worths[page], decays[page]
        near = max(TIE * worth, (abs(worth - price) - 1e-4 * price) / CLOSE) if price > 0.0 else TIE * worth
        if last - worth > near:
            if mass > 0.0:
                worths[count], decays[count] = last + moment / mass, mass
                count += 1
            mass, moment, last = 0.0, 0.0, worth
        mass += decay
        moment += decay * (worth - last)
    if mass > 0.0:
        worths[count], decays[count] = last + moment / mass, mass
        count += 1
    return count


@njit(**VECTOR)
def _late(worths: Vector, decays: Vector, price: float) -> float:
    """Sum up a l (1 - exp(-u)), where (1 + u) exp(-u) = 1 - price / a."""
    total = 0.0
    for node in range(len(worths)):
        part = 1.0
        if worths[node] > price:
            rest = (worths[node] - price) / worths[node]
            u = inverse_at(math.sqrt(2.0 * price) / math.sqrt(worths[node]), rest)
            part = (u + price / worths[node]) / (1.0 + u)
        total += worths[node] * decays[node] * part
    return total


@njit(**VECTOR)
def _gauss(first: int, moments: Matrix, middle: int) -> tuple[Vector, Vector]:
    """Find worths and decays of two pages for each group of bins, or for each bin near the group `middle`."""
    bins = len(moments)
    worths, decays = np.empty(2 * bins), np.empty(2 * bins)
    count, stop = 0, bins
    while stop > 0:
        group = (first + stop - 1) >> GROUP_BITS
        fine = abs(group - middle) <= NEAR
        base = first + stop - 1 if fine else group << GROUP_BITS
        start = max(0, base - first)
        width = 1.0 if fine else float(1 << GROUP_BITS)
        mass = m1 = m2 = m3 = 0.0
        for k in range(start, stop):  # about the centre of the group, in units of its width
            if moments[k, 0] > 0.0:
                place, part = (first + k - base + 0.5) / width - 0.5, 1.0 / width
                mass += moments[k, 0]
                m1 += place * moments[k, 0] + part * moments[k, 1]
                m2 += place**2 * moments[k, 0] + 2.0 * place * part * moments[k, 1] + part**2 * moments[k, 2]
                m3 += (
                    place**3 * moments[k, 0]
                    + 3.0 * place**2 * part * moments[k, 1]
                    + 3.0 * place * part**2 * moments[k, 2]
                    + part**3 * moments[k, 3]
                )
        stop = start
        if mass > 0.0:
            mean = m1 / mass
            spread = max(0.0, m2 / mass - mean * mean)
            skew = m3 / mass - mean * (3.0 * spread + mean * mean)
            half = 0.5 * skew / spread if spread > 1e-9 else 0.0
            reach = math.sqrt(half * half + spread) if spread > 1e-15 else 0.0
            for side in range(2 if reach > 0.0 else 1):
                place = mean + (half + reach if side == 0 else half - reach)
                inside = (base & ((1 << BIN_BITS) - 1)) + width * (0.5 + min(0.5, max(-0.5, place)))
                worths[count] = math.ldexp(1.0 + inside / (1 << BIN_BITS), (base >> BIN_BITS) - 1023)
                share = 1.0 if reach == 0.0 else 0.5 * (reach - half if side == 0 else reach + half) / reach
                decays[count] = mass * share
                if count > 0 and worths[count - 1] - worths[count] < TIE * worths[count]:  # cut apart by rounding
                    decays[count - 1] += decays[count]
                else:
                    count += 1
    return worths[:count], decays[:count]
