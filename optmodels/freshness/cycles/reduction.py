r"""What cycles that cost no more than a known one cannot have: numbers of visits of a page, and gaps of a page.

At a price :math:`\lambda` of a visit no cycle costs less than :math:`D = \sum_i \min_n (C_i(n) + \lambda n) - \lambda m
T`, with :math:`C_i` as in :mod:`optmodels.freshness.cycles.counts`. A cycle in which page i has n visits costs at least
as much more as :math:`C_i(n) + \lambda n` lies above its minimum; one in which it has a gap of d slots,

.. math::  \min_n \; f_i(d) + C_i(n - 1, T - d) + \lambda n - \min_n (C_i(n) + \lambda n)

more, where the n - 1 other gaps are as even as they can be. What makes this dearer than a cycle that is known is left
out of the program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .counts import CountBound, gap_costs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A cycle is dearer than a known one if it costs more than this much more, relative: no rounding cuts the best one off.
SLACK = 1e-7


@dataclass(frozen=True, eq=False)
class Reduction:
    """What is left: fewest and most visits of each page, and by page and gap (from 1) whether there may be one."""

    fewest: Ints
    most: Ints
    gaps: NDArray[np.bool_]
    costs: Floats


def reduced(counts: CountBound, known: float) -> Reduction:
    """Leave out what no cycle has that costs `known` (an obsolescence, perhaps infinite) or less.

    Parameters
    ----------
    counts
        Of the problem.
    known
        What the best known cycle costs.
    """
    traits, slots = counts.traits, counts.slots
    by_gap = gap_costs(traits.weights, traits.loads, traits.decays, traits.deficits, slots)
    price = _best_price(counts)
    allowed = np.arange(slots + 1) >= counts.least[:, None]
    priced = np.where(allowed, counts.costs + price * np.arange(slots + 1), np.inf)
    lowest = priced.min(axis=1)
    dual = math.fsum(lowest) - price * counts.rules.robots * slots
    room = known + SLACK * abs(known) - dual
    if not math.isfinite(room):
        room = math.inf
    left = allowed & (priced - lowest[:, None] <= room)
    with_gap = _least_with_gap(by_gap, price, counts.least, slots)[:, 1:]
    gaps = np.isfinite(with_gap) & (with_gap - lowest[:, None] <= room)
    fewest = left.argmax(axis=1).astype(np.int64)
    most = (slots - left[:, ::-1].argmax(axis=1)).astype(np.int64)
    return Reduction(fewest, most, gaps, by_gap[:, 1:])


def _best_price(counts: CountBound) -> float:
    """Find the price of a visit with the largest bound, among the gains of visits that decide."""
    slots, visits = counts.slots, counts.visits
    gains = -np.diff(counts.costs, axis=1)
    pages = np.arange(len(visits))
    made, more = visits > counts.least, visits < slots
    last = gains[pages[made], visits[made] - 1]
    next_ones = gains[pages[more], visits[more]]
    tried = [0.0, *([float(last.min())] if len(last) else []), *([float(next_ones.max())] if len(next_ones) else [])]
    numbers = np.arange(slots + 1)

    def bound(price: float) -> float:
        priced = np.where(numbers >= counts.least[:, None], counts.costs + price * numbers, np.inf)
        return math.fsum(priced.min(axis=1)) - price * counts.rules.robots * slots

    return max((max(price, 0.0) for price in tried), key=bound)


@njit(cache=True)
def _least_with_gap(by_gap: Floats, price: float, least: Ints, slots: int) -> Floats:
    """By page and gap: the least cost of the page, visits at their price, if it has such a gap."""
    found = np.full((len(by_gap), slots + 1), np.inf)
    for page in range(len(by_gap)):
        costs = by_gap[page]
        for gap in range(1, slots + 1):
            rest = slots - gap
            if rest == 0:
                if least[page] <= 1:
                    found[page, gap] = costs[gap] + price
                continue
            best = np.inf
            for others in range(max(1, least[page] - 1), rest + 1):
                short = rest // others
                long = rest - others * short
                cost = (others - long) * costs[short] + price * (others + 1)
                if long > 0:
                    cost += long * costs[short + 1]
                best = min(best, cost)
            found[page, gap] = costs[gap] + best
    return found
