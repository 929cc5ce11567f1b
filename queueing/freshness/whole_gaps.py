r"""The bound of whole gaps: what even spacing promises, and no schedule can keep.

Gaps between visits are whole numbers of slots. Of all gaps with mean 1/f the best are :math:`\lfloor 1/f \rfloor` and
:math:`\lceil 1/f \rceil`, mixed, so the fraction of time out of date is at least that of the mixture: above that of
even spacing unless 1/f is whole, and linear in f between 1/(k+1) and 1/k. The least cost over all frequencies is again
found by one price :math:`\lambda` per visit: a page takes the gap k that minimises :math:`c\, r(1/k) + \lambda / k`,
the first k with

.. math::  s_k = 1 - (1 + k (1 - h)) h^k \ge \lambda / a, \qquad h = e^{-\ell},

or no visit if :math:`\lambda \ge a`. The sum of these minima less :math:`\lambda` times the visits per slot is a bound
at every price, concave and piecewise linear in it.
"""

import math
from typing import TypeAlias

import numpy as np
from numba import njit

from ..numerics import Vector, sum_of_products
from ..processes import exp_excess
from .inverse import gain_share, inverse_at

#: Prices are looked for above this.
LEAST_PRICE = 1e-300

#: So many pages are many: slopes of their bounds fall smoothly with the price, and one page in so many knows it nearly.
MANY, ONE_IN = 16384, 16

#: The part by which the price of all pages is first sought beside that of some; four times that next, and so on.
BESIDE = 0.01

Columns: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector]


def best_whole_gap_bound(columns: Columns, total: float) -> tuple[float, float]:
    """Find the largest bound over all prices of a visit, and the last price tried: it is near to the best.

    Each bound is proved, so that a search cut short is safe.
    Few pages have slopes that fall in steps: the best price is where two tangents meet. For many pages secants of the
    slopes are faster (the Illinois rule: a side that stays for a second time counts half).
    """

    def dual(price: float) -> tuple[float, float]:
        value, visits = whole_gap_sums(*columns, price)
        return float(value + price * (visits - total)), float(visits - total)

    low, high = 0.0, float(columns[-1].max())
    best, slope = dual(low)
    if slope <= 0.0 or high == 0.0:
        return best, low
    (low_value, low_slope), (high_value, high_slope) = (best, slope), dual(high)
    best, price, many = max(best, high_value), high, len(columns[-1]) >= MANY
    left, right, before = low_slope, high_slope, 0.0
    guess, beside = _price_of_some(columns, total) if many else 0.0, BESIDE
    for turn in range(200):
        if low < guess < high:
            price = guess
        elif high > 4.0 * low:  # powers of ten may lie between them: halve these first
            price = math.sqrt(max(low, LEAST_PRICE)) * math.sqrt(high)
        else:
            meeting = low + (high_value - low_value + high_slope * (low - high)) / (low_slope - high_slope)
            price = min(max(meeting, low), high)
            if low_value + low_slope * (price - low) - best <= 1e-15 * best:
                break
            secant = (left * high - right * low) / (left - right)
            if many and turn % 8 and low < secant < high:
                price = secant
        if not low < price < high:
            break
        value, slope = dual(price)
        best = max(best, value)
        if slope > 0.0:
            low, low_value, low_slope = price, value, slope
            left, right = slope, 0.5 * right if before > 0.0 else high_slope
        else:
            high, high_value, high_slope = price, value, slope
            left, right = 0.5 * left if before < 0.0 else low_slope, slope
        # Beside a guess, on the side where the best price is; a second one beyond it has done its work.
        guess = price * (1.0 + beside if slope > 0.0 else 1.0 - beside) if price == guess and beside < 1.0 else 0.0
        before, beside = slope, 4.0 * beside
    return best, price


def _price_of_some(columns: Columns, total: float) -> float:
    weights, loads, decays, deficits, worths = (np.ascontiguousarray(column[::ONE_IN]) for column in columns)
    return best_whole_gap_bound((weights, loads, decays, deficits, worths), total * len(worths) / len(columns[-1]))[1]


@njit(cache=True)
def whole_gap_rate(load: float, decay: float, deficit: float, frequency: float) -> float:
    """Compute the least fraction of time that a page of this frequency is out of date, its gaps being whole."""
    if load == 0.0:
        return 0.0
    if frequency == 0.0:
        return 1.0
    mean = max(1.0, 1.0 / frequency)
    short = float(np.floor(mean))
    if mean == np.inf or decay * mean == np.inf:
        return 1.0
    long = mean - short
    missed = (1.0 - long) * exp_excess(decay * short) + long * exp_excess(decay * (short + 1.0))
    return min(1.0, (deficit + missed / mean) / load)


@njit(cache=True)
def whole_gap(decay: float, worth: float, price: float) -> float:
    """Find the gap at which one visit more per slot is worth its price; infinite if none is."""
    if worth <= price:
        return np.inf
    root, rest = math.sqrt(2.0 * price) / math.sqrt(worth), (worth - price) / worth
    k = max(1.0, float(np.floor(inverse_at(root, rest) / decay)))
    if k > 1.0 and _gain_of_whole_gap(decay, k - 1.0) * worth >= price:
        return k - 1.0
    if _gain_of_whole_gap(decay, k) * worth >= price:
        return k
    return k + 1.0


@njit(cache=True)
def _gain_of_whole_gap(decay: float, k: float) -> float:
    """Return s_k = h**k ((1 / h**k - 1 - l k) + k (l - 1 + h)), a sum of positive terms."""
    u = decay * k
    if u > 1.0:
        return float(1.0 - (1.0 - k * math.expm1(-decay)) * math.exp(-u))
    return float(u * u * gain_share(u) + k * exp_excess(decay) * math.exp(-u))


@njit(cache=True)
def whole_gap_sums(
    weights: Vector, loads: Vector, decays: Vector, deficits: Vector, worths: Vector, price: float
) -> tuple[float, float]:
    """Sum up the cost of gaps that are best at this price, and the visits per slot they take; compensated."""
    values, visits = np.empty(len(loads)), np.zeros(len(loads))
    for page in range(len(loads)):
        if worths[page] > price:
            visits[page] = 1.0 / whole_gap(decays[page], worths[page], price)
        values[page] = whole_gap_rate(loads[page], decays[page], deficits[page], visits[page])
    return sum_of_products(weights, values), sum_of_products(visits, np.ones(len(visits)))
