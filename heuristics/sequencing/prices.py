r"""What the index needs to know of pages: their shares of the slots, their worths, their decays, and one price.

Where frequencies maximise :math:`\sum a_i f_i (1 - e^{-l_i/f_i})` all visited pages have one price
:math:`\lambda = a_i \varphi(l_i/f_i)`. Frequencies may be bound from below, too: such a page has a lower price, its
index may never rise above those of the others, and it would wait for ever. It is taken to be worth
:math:`\lambda / \varphi(l_i/f_i)`, for which its frequency would be optimal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from .apportionment import Vector, numbers, shares_of
from .index import even_decay, even_price

#: Decay over a gap of pages that do not go out of date: any small number gives the same order.
NO_DECAY = 1e-6

#: Prices that differ by no more than this part are one.
ONE_PRICE = 1e-3


class Traits(NamedTuple):
    """Shares, worths and decays by page; whether all pages visited have one price, as at an optimum."""

    shares: Vector
    worths: Vector
    decays: Vector
    one_price: bool


def settled(decays: ArrayLike, worths: ArrayLike, frequencies: ArrayLike | float) -> Traits:
    """Check and complete traits; one number in place of frequencies is the price, from which they follow."""
    decays = numbers("decays", decays)
    worths = numbers("worths", worths, len(decays))
    if np.ndim(frequencies) == 0:
        shares = shares_of(_shares_at(decays, worths, frequencies))
    else:
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


def _shares_at(decays: Vector, worths: Vector, price: ArrayLike) -> Vector:
    multiplier = float(np.asarray(price, dtype=np.float64))
    most = float(worths.max(where=decays > 0, initial=0.0))
    if not 0 < multiplier < most:
        raise ValueError(
            f"multiplier must be above 0 and below the largest worth of a page that changes, {most}, "
            f"but it is {multiplier}."
        )
    return np.asarray(_frequencies_at(decays, worths, multiplier))


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


@njit(cache=True)
def _frequencies_at(decays: Vector, worths: Vector, price: float) -> Vector:
    frequencies = np.zeros(len(decays))
    for page in range(len(decays)):
        if decays[page] > 0 and worths[page] > price:
            frequencies[page] = decays[page] / even_decay(price / worths[page])
    return frequencies
