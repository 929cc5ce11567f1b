r"""The bound of whole gaps: what even spacing promises, and no schedule can keep.

Gaps between visits are whole numbers of slots. Of all gaps with mean 1/f the best are :math:`\lfloor 1/f \rfloor` and
:math:`\lceil 1/f \rceil`, mixed, so the fraction of time out of date is at least that of the mixture: above that of
even spacing unless 1/f is whole, and linear in f between 1/(k+1) and 1/k. The least cost over all frequencies is again
found by one price :math:`\lambda` per visit: a page takes the gap k that minimises :math:`c\, r(1/k) + \lambda / k`,
the first k with

.. math::  s_k = 1 - (1 + k (1 - h)) h^k \ge \lambda / a, \qquad h = e^{-\ell},

or no visit if :math:`\lambda \ge a`. The sum of these minima less :math:`\lambda` times the visits per slot is a bound
at every price, concave and piecewise linear; the best price is found where its tangents meet.
"""

import math

import numpy as np
from numba import njit

from .freshness_inverse import gain_share, inverse_at
from .laws import exp_excess
from .matrices import Vector
from .sums import sum_of_products

#: Prices are looked for above this.
LEAST_PRICE = 1e-300


def best_whole_gap_bound(
    weights: Vector, loads: Vector, decays: Vector, deficits: Vector, worths: Vector, total: float
) -> float:
    """The largest of the bounds over all prices of a visit; each of them is proved, so a search cut short is safe."""

    def dual(price: float) -> tuple[float, float]:
        value, visits = whole_gap_sums(weights, loads, decays, deficits, worths, price)
        return float(value + price * (visits - total)), float(visits - total)

    low, high = 0.0, float(worths.max())
    best, slope = dual(low)
    if slope <= 0.0 or high == 0.0:
        return best
    (low_value, low_slope), (high_value, high_slope) = (best, slope), dual(high)
    best = max(best, high_value)
    for _ in range(200):
        if high > 4.0 * low:  # powers of ten may lie between them: halve these first
            price = math.sqrt(max(low, LEAST_PRICE)) * math.sqrt(high)
        else:
            meeting = low + (high_value - low_value + high_slope * (low - high)) / (low_slope - high_slope)
            price = min(max(meeting, low), high)
            if low_value + low_slope * (price - low) - best <= 1e-15 * best:
                break
        if not low < price < high:
            break
        value, slope = dual(price)
        best = max(best, value)
        if slope > 0.0:
            low, low_value, low_slope = price, value, slope
        else:
            high, high_value, high_slope = price, value, slope
    return best


@njit(cache=True)
def whole_gap_rate(load: float, decay: float, deficit: float, frequency: float) -> float:
    """Least fraction of time that a page is out of date when it has this frequency and its gaps are whole."""
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
    """The gap at which one visit more per slot is worth its price; infinite if none is."""
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
    """The cost of gaps that are best at this price, and the visits per slot they take; compensated sums."""
    values, visits = np.empty(len(loads)), np.zeros(len(loads))
    for page in range(len(loads)):
        if worths[page] > price:
            visits[page] = 1.0 / whole_gap(decays[page], worths[page], price)
        values[page] = whole_gap_rate(loads[page], decays[page], deficits[page], visits[page])
    return sum_of_products(weights, values), sum_of_products(visits, np.ones(len(visits)))
