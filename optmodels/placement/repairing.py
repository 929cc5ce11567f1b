"""Feasible placements out of others, in compiled code: sites opened where too many clients come, others closed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .walk import Ints, Sites, Standing, flip


@njit(cache=True)
def append(sites: Sites, standing: Standing, allowed: NDArray[np.uint8], order: Ints) -> None:
    """Open sites until nobody has too many clients: where the farthest clients of an overloaded site are.

    Of several overloaded sites the first in the given order is helped first.
    """
    while standing.totals[2] + standing.totals[3] > 0:
        chosen = -1
        for site in order:
            if not standing.is_open[site] or standing.load[site] == 0:
                continue
            far = standing.farthest[site]
            if standing.excess[site] == 0:
                continue
            if not allowed[site]:
                flip(sites, standing, site)  # it can never do: somebody else must take its clients
                chosen = -2
                break
            most = 0
            for cell in range(len(sites.demand)):
                served_here = sites.levels[site, cell] == far and standing.nearest[cell] == sites.ranks[cell, site]
                if served_here and sites.demand[cell] > most:
                    closer = closer_to(sites, standing, allowed, cell)
                    if closer >= 0:
                        chosen, most = closer, sites.demand[cell]
            if chosen < 0:
                chosen = closed_and_allowed(sites, standing, allowed, site)
            break
        if chosen == -2:
            continue
        if chosen < 0:  # only clients without any site are left: open the first site that may
            chosen = closed_and_allowed(sites, standing, allowed, order[0])
        if chosen < 0:
            return
        flip(sites, standing, chosen)


@njit(cache=True)
def closer_to(sites: Sites, standing: Standing, allowed: NDArray[np.uint8], cell: int) -> int:
    """The nearest site that may be opened for a cell, no farther than those it has; -1 if there is none."""
    for at in range(sites.ring[cell, standing.nearest[cell]]):
        candidate: int = sites.order[cell, at]
        if allowed[candidate] and not standing.is_open[candidate]:
            return candidate
    return -1


@njit(cache=True)
def closed_and_allowed(sites: Sites, standing: Standing, allowed: NDArray[np.uint8], site: int) -> int:
    """The first site that may be opened, of those near the cell nearest to a site; -1 if there is none."""
    for at in range(sites.order.shape[1]):
        candidate: int = sites.order[sites.anchor[site], at]
        if allowed[candidate] and not standing.is_open[candidate]:
            return candidate
    return -1


@njit(cache=True)
def unplug(sites: Sites, standing: Standing, order: Ints) -> None:
    """Close sites in the given order wherever nobody gets too many clients by it."""
    for site in order:
        if standing.is_open[site]:
            flip(sites, standing, site)
            if standing.totals[2] + standing.totals[3] > 0:
                flip(sites, standing, site)
