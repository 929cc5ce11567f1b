r"""Chains whose states can be ordered so that transitions are short, eliminated without a subtraction.

States are taken out from the last to the first (Grassmann, Taksar, Heyman) until only one is left, the *end*; within a
band of width w that takes :math:`n w^2` steps. The end may stand anywhere in the order: rates that lead to it and from
it are kept in a column and a row of their own. It must recur. For relative values it should be a likely state, as they
are sums over the way there; shares of time have all their digits whichever it is.
"""

from collections.abc import Iterable
from itertools import chain as one_after_another
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...numerics import Matrix, Vector
from .transitions import Chain

Order = NDArray[np.int64]

#: Most steps of an elimination, and numbers in its band; beyond them iterations are faster.
MOST_STEPS, MOST_NUMBERS = 3e8, 3e7

#: States up to which orders are searched for, and steps up to which it is not worth it: the first is good enough.
MOST_STATES, FEW_STEPS = 100_000, 3e5

#: Rates of going on that are smaller cannot be told from none.
LEAST = 1e-280


class Factors(NamedTuple):
    """A chain whose states were eliminated, all but one.

    Attributes
    ----------
    order
        states in the order of elimination, the last one first to go.
    band
        row x, column w + y - x: for y < x the rate from x to y when higher states are left out; for y > x the share of
        y's visits that follow on one to x; nothing of the end.
    pivots
        rate of going to lower states, or to the end; 0 at the end itself.
    begun
        share of x's visits that follow on one to the end.
    end
        place of the end in the order.
    """

    order: Order
    band: Matrix
    pivots: Vector
    begun: Vector
    end: int


def short_order(chain: Chain, present: Order, layouts: Iterable[Order]) -> tuple[Order, int]:
    """An order of the present states with a narrow band, and its width; `layouts` are orders to try.

    The best of these, and of one made from the graph; of large chains only of these.
    """
    best, width = present, len(chain.leaving)
    for candidate in one_after_another([present], layouts):
        span = _width(chain, candidate)
        if span < width:
            best, width = candidate, span
        if len(present) * float(width) ** 2 <= FEW_STEPS:
            return np.ascontiguousarray(best), width
    if len(present) <= MOST_STATES:
        graph = csr_array(chain.matrix()[present][:, present])
        candidate = present[reverse_cuthill_mckee(csr_array(graph + graph.T), symmetric_mode=True)]
        span = _width(chain, candidate)
        if span < width:
            best, width = candidate, span
    return np.ascontiguousarray(best, dtype=np.int64), width


@njit(cache=True)
def _width(chain: Chain, order: Order) -> int:
    """The longest move in an order."""
    places, longest = np.zeros(len(chain.leaving), dtype=np.int64), 1
    for place in range(len(order)):
        places[order[place]] = place
    for state in order:
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            longest = max(longest, abs(places[chain.targets[k]] - places[state]))
    return longest


def fits(states: int, width: int) -> bool:
    """Whether an elimination is worth its steps."""
    return states * float(width) ** 2 <= MOST_STEPS and states * (2.0 * width + 1) <= MOST_NUMBERS


@njit(cache=True)
def eliminated(chain: Chain, order: Order, width: int, end: int) -> Factors:
    """Take out all states but `end`, which every state must lead to."""
    size = len(order)
    places = np.full(len(chain.leaving), -1, dtype=np.int64)
    for place in range(size):
        places[order[place]] = place
    last = places[end]
    band, to_end, begun, pivots = np.zeros((size, 2 * width + 1)), np.zeros(size), np.zeros(size), np.zeros(size)
    for x in range(size):
        for k in range(chain.pointers[order[x]], chain.pointers[order[x] + 1]):
            y = places[chain.targets[k]]
            if y == last:
                to_end[x] += chain.rates[k]
            elif x == last:
                begun[y] += chain.rates[k]
            else:
                band[x, width + y - x] += chain.rates[k]
    for x in range(size - 1, -1, -1):
        if x == last:
            continue
        low = max(0, x - width)
        pivot = to_end[x]
        for y in range(low, x):
            pivot += band[x, width + y - x]
        if pivot < LEAST:
            raise ValueError("shares of time must lie less than 1e280 apart, but they do not; bring rates nearer.")
        pivots[x] = pivot
        for z in range(low, x):
            rate = band[z, width + x - z]
            if rate > 0.0:
                share = rate / pivot
                band[z, width + x - z] = share
                to_end[z] += share * to_end[x]
                for y in range(low, x):
                    band[z, width + y - z] += share * band[x, width + y - x]
        if begun[x] > 0.0:
            begun[x] /= pivot
            for y in range(low, x):
                begun[y] += begun[x] * band[x, width + y - x]
    return Factors(order, band, pivots, begun, last)


@njit(cache=True)
def collected(factors: Factors, rates: Vector) -> Vector:
    """By place in the order, what is collected before lower states, or the end; `rates`: per unit of time by state."""
    width = factors.band.shape[1] // 2
    loads = rates[factors.order]
    for x in range(len(loads) - 1, -1, -1):
        if x != factors.end:
            for z in range(max(0, x - width), x):
                loads[z] += factors.band[z, width + x - z] * loads[x]
            loads[factors.end] += factors.begun[x] * loads[x]
    return loads


@njit(cache=True)
def expectations(factors: Factors, loads: Vector, size: int) -> Vector:
    """By state, what is collected until the end is met, given `collected` loads."""
    width = factors.band.shape[1] // 2
    at, found = np.zeros(len(loads)), np.zeros(size)
    for x in range(len(loads)):
        if x != factors.end:
            total = loads[x]
            for y in range(max(0, x - width), x):
                total += factors.band[x, width + y - x] * at[y]
            at[x] = total / factors.pivots[x]
        found[factors.order[x]] = at[x]
    return found


@njit(cache=True)
def shares_of_time(factors: Factors, size: int) -> Vector:
    """The stationary distribution by state."""
    width, end = factors.band.shape[1] // 2, factors.end
    visits, found = np.zeros(len(factors.order)), np.zeros(size)
    visits[end] = total = 1.0
    for x in range(len(visits)):
        if x == end:
            continue
        value = visits[end] * factors.begun[x]
        for z in range(max(0, x - width), x):
            value += visits[z] * factors.band[z, width + x - z]
        visits[x] = value
        total += value
        if total > 1e200:  # the end is an unlikely state: what is smaller by 1e300 counts for nothing
            visits /= total
            total = 1.0
    for x in range(len(visits)):
        found[factors.order[x]] = visits[x] / total
    return found
