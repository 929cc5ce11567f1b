r"""Chains whose states can be ordered so that moves are short, eliminated without a subtraction.

States are taken out from the last to the first (Grassmann, Taksar, Heyman); within a band of width w that takes
:math:`n w^2` steps. The lowest state of the closed class has nowhere lower to go: it is the *end*, and what leads there
from lower states, which do not recur, is kept in a column of its own.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from .robots_fleet import Matrix, Vector
from .robots_fleet_moves import Chain

Order = NDArray[np.int64]

#: Most steps of an elimination, numbers in its band, and states; beyond them iterations are faster.
MOST_STEPS, MOST_NUMBERS, MOST_STATES = 3e8, 3e7, 100_000


class Factors(NamedTuple):
    """An eliminated chain.

    Attributes
    ----------
    order
        states in the order of elimination, the last one first to go.
    band
        row x, column w + y - x: for y < x the rate from x to y when higher states are left out; for y > x the share of
        y's visits that follow on one to x.
    pivots
        rate of going to lower states, or to the end; 0 at the end itself.
    end
        place of the end in the order.
    """

    order: Order
    band: Matrix
    pivots: Vector
    end: int


def short_order(chain: Chain, present: Order, layouts: list[Order]) -> tuple[Order, int]:
    """The order of the present states with the narrowest band, and its width; `layouts` are orders to try.

    Chains with too many states are not looked at.
    """
    if len(present) > MOST_STATES:
        return present, len(present)
    graph = csr_array(chain.matrix()[present][:, present])
    best, width = present, np.inf
    candidates = [*layouts, present[reverse_cuthill_mckee(csr_array(graph + graph.T), symmetric_mode=True)]]
    places = np.zeros(len(chain.leaving), dtype=np.int64)
    rows = np.repeat(np.arange(len(chain.leaving)), np.diff(chain.pointers))
    for candidate in candidates:
        places[candidate] = np.arange(len(candidate))
        span = int(np.abs(places[rows] - places[chain.targets]).max(initial=1))
        if span < width:
            best, width = candidate, span
    return np.ascontiguousarray(best, dtype=np.int64), int(width)


def fits(states: int, width: int) -> bool:
    """Whether an elimination is worth its steps."""
    return states * float(width) ** 2 <= MOST_STEPS and states * (2.0 * width + 1) <= MOST_NUMBERS


@njit(cache=True)
def eliminated(chain: Chain, order: Order, width: int) -> Factors:
    """Take out states from the last to the first; the chain must have one closed class."""
    size = len(order)
    places = np.full(len(chain.leaving), -1, dtype=np.int64)
    for place in range(size):
        places[order[place]] = place
    band, to_end, pivots = np.zeros((size, 2 * width + 1)), np.zeros(size), np.zeros(size)
    for place in range(size):
        for k in range(chain.pointers[order[place]], chain.pointers[order[place] + 1]):
            band[place, width + places[chain.targets[k]] - place] += chain.rates[k]
    end = -1
    for x in range(size - 1, -1, -1):
        low = max(0, x - width)
        pivot = to_end[x]
        for y in range(low, x):
            pivot += band[x, width + y - x]
        pivots[x] = pivot
        if pivot == 0.0:
            end = x
            for z in range(low, x):
                to_end[z] += band[z, width + x - z]
                band[z, width + x - z] = 0.0
            continue
        for z in range(low, x):
            rate = band[z, width + x - z]
            if rate > 0.0:
                share = rate / pivot
                band[z, width + x - z] = share
                to_end[z] += share * to_end[x]
                for y in range(low, x):
                    band[z, width + y - z] += share * band[x, width + y - x]
    return Factors(order, band, pivots, end)


@njit(cache=True)
def collected(factors: Factors, rates: Vector) -> Vector:
    """By place in the order, what is collected before lower states, or the end; `rates`: per unit of time by state."""
    width = factors.band.shape[1] // 2
    loads = rates[factors.order]
    for x in range(len(loads) - 1, -1, -1):
        if factors.pivots[x] > 0.0:
            for z in range(max(0, x - width), x):
                loads[z] += factors.band[z, width + x - z] * loads[x]
    return loads


@njit(cache=True)
def expectations(factors: Factors, loads: Vector, size: int) -> Vector:
    """By state, what is collected until the end is met, given `collected` loads."""
    width = factors.band.shape[1] // 2
    at, found = np.zeros(len(loads)), np.zeros(size)
    for x in range(len(loads)):
        if factors.pivots[x] > 0.0:
            total = loads[x]
            for y in range(max(0, x - width), x):
                total += factors.band[x, width + y - x] * at[y]
            at[x] = total / factors.pivots[x]
        found[factors.order[x]] = at[x]
    return found


@njit(cache=True)
def shares_of_time(factors: Factors, size: int) -> Vector:
    """The stationary distribution by state."""
    width = factors.band.shape[1] // 2
    visits, found = np.zeros(len(factors.order)), np.zeros(size)
    visits[factors.end] = 1.0
    total = 1.0
    for x in range(factors.end + 1, len(visits)):
        value = 0.0
        for z in range(max(factors.end, x - width), x):
            value += visits[z] * factors.band[z, width + x - z]
        visits[x] = value
        total += value
        if total > 1e200:  # begun at an unlikely state: what is smaller by 1e300 counts for nothing
            for z in range(x + 1):
                visits[z] /= total
            total = 1.0
    for x in range(len(visits)):
        found[factors.order[x]] = visits[x] / total
    return found
