"""Loads of a placement, from scratch and flip by flip, in compiled code.

`assign` is the plain road: for every cell, look at every open site. `flip` changes one site and touches only the cells
whose nearest sites change and the sites that share them; annealing, local search, DEJAVU and repair all step by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from heuristics import Decision, Followed, Moves

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(cache=True)
def assign(
    is_open: NDArray[np.uint8], distances: Ints, demand: Ints, largest: int
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    r"""Send every client to the nearest open sites, ties shared equally and rounded up.

    Parameters
    ----------
    is_open
        0 or 1 per site.
    distances, demand
        Of every cell and site, from 1; clients per cell.
    largest
        The largest of the distances.

    Returns
    -------
    nearest, ties
        Per cell: distance of its nearest open sites (0 if none is open) and how many there are.
    load, farthest
        Per site: clients, and the distance of the farthest (0 without clients).
    mix
        Per site and distance (from 1): clients at that distance.

    Notes
    -----
    Where t open sites tie for a cell of N clients, each serves :math:`\lceil N / t \rceil` of them.

    References
    ----------
    .. [1] N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal
       of Operational Research* 142 (2002), 396-418; loads L(N, X) and farthest clients S(N, X).

    Examples
    --------
    >>> import numpy as np
    >>> from optmodels.placement import assign
    >>> distances = np.array([[1, 2, 3], [2, 1, 2], [3, 2, 1]])
    >>> nearest, ties, load, farthest, mix = assign(np.array([1, 0, 1], np.uint8), distances, np.array([4, 5, 6]), 3)
    >>> load, farthest
    (array([7, 0, 9]), array([2, 0, 2]))
    """
    cells = len(demand)
    nearest = np.zeros(cells, np.int64)
    ties = np.zeros(cells, np.int64)
    load = np.zeros(cells, np.int64)
    farthest = np.zeros(cells, np.int64)
    mix = np.zeros((cells, largest), np.int64)
    open_sites = np.flatnonzero(is_open)
    tied = np.zeros(cells, np.int64)
    for cell in range(cells):
        d, count = largest + 1, 0
        for site in open_sites:
            there = distances[cell, site]
            if there < d:
                d, count = there, 0
            if there == d:
                tied[count] = site
                count += 1
        if count == 0:
            continue
        nearest[cell], ties[cell] = d, count
        if demand[cell] == 0:
            continue
        share = (demand[cell] + count - 1) // count
        for at in range(count):
            site = tied[at]
            load[site] += share
            mix[site, d - 1] += share
            farthest[site] = max(farthest[site], d)
    return nearest, ties, load, farthest, mix


class Sites(NamedTuple):
    """What does not change during a walk (arrays only, so that compiled code can take it)."""

    distances: Ints  #: cell x site
    order: Ints  #: per cell: all sites by growing distance
    ring: Ints  #: per cell and distance d: where the sites at distance d + 1 begin in `order`
    demand: Ints
    opening: Floats  #: price of opening each site
    operating: Floats  #: site x farthest x load: price of operating it; one entry if there is none
    capacity: Ints  #: site x farthest: largest load
    penalty: float  #: price of one client too many
    geodesic: bool  #: whether a ring of untouched cells shields all cells behind it
    distance: float  #: price of one client's distance to its nearest open sites


class Standing(NamedTuple):
    """Where a walk stands: the placement, and all that follows from it."""

    is_open: NDArray[np.uint8]
    nearest: Ints  #: per cell, one more than the largest distance if nothing is open
    ties: Ints
    load: Ints
    clients: Ints  #: site x distance: cells with demand served there
    touched: Ints  #: scratch: sites changed by the flip under way, their number in the last entry
    mark: NDArray[np.uint8]  #: scratch: whether a site is among them
    totals: Floats  #: opening price, operating price, clients too many, clients without a site, sum of distances


@njit(cache=True)
def _farthest(standing: Standing, site: int) -> int:
    for d in range(standing.clients.shape[1] - 1, 0, -1):
        if standing.clients[site, d] > 0:
            return d
    return 0


@njit(cache=True)
def _count(sites: Sites, standing: Standing, site: int, sign: int) -> None:
    """Add or take away what one site contributes to the totals."""
    if not standing.is_open[site] or standing.load[site] == 0:
        return
    excess = standing.load[site] - sites.capacity[site, _farthest(standing, site) - 1]
    if excess > 0:
        standing.totals[2] += sign * excess
    if sites.operating.shape[2] > 1:
        standing.totals[1] += sign * _operating(sites, standing, site)


@njit(cache=True)
def _operating(sites: Sites, standing: Standing, site: int) -> float:
    """Price of operating an open site."""
    if sites.operating.shape[2] == 1 or standing.load[site] == 0:
        return 0.0
    load = min(standing.load[site], sites.operating.shape[2] - 1)
    return float(sites.operating[site, _farthest(standing, site) - 1, load])


@njit(cache=True)
def _touch(sites: Sites, standing: Standing, site: int) -> None:
    if not standing.mark[site]:
        standing.mark[site] = 1
        standing.touched[standing.touched[-1]] = site
        standing.touched[-1] += 1
        _count(sites, standing, site, -1)


@njit(cache=True)
def _serve(sites: Sites, standing: Standing, cell: int, sign: int) -> None:
    """Give a cell's shares to its nearest open sites, or take them back."""
    demand = sites.demand[cell]
    if demand == 0:
        return
    d, ties = standing.nearest[cell], standing.ties[cell]
    if ties == 0:
        standing.totals[3] += sign * demand
        return
    standing.totals[4] += sign * demand * d
    share = (demand + ties - 1) // ties
    for at in range(sites.ring[cell, d - 1], sites.ring[cell, d]):
        site = sites.order[cell, at]
        if standing.is_open[site]:
            _touch(sites, standing, site)
            standing.load[site] += sign * share
            standing.clients[site, d] += sign


@njit(cache=True)
def flip(sites: Sites, standing: Standing, site: int) -> float:
    """Open a closed site or close an open one, and all that follows from it.

    Only cells whose nearest sites change are touched, and the sites that share them.

    Parameters
    ----------
    sites
        What does not change.
    standing
        Where the walk stands; it is changed.
    site
        Which one.

    Returns
    -------
    float
        The change of the penalised price.

    Examples
    --------
    >>> from optmodels.placement import PlacementGenerator
    >>> walk = PlacementGenerator(rows=2, columns=3, seed=1).instance().problem().start((1, 1, 1, 1, 1, 1))
    >>> walk.flip(1), walk.feasible  # a method that calls this function
    (-3.0, True)
    """
    before = _price(sites, standing)
    opens = not standing.is_open[site]
    largest = sites.ring.shape[1] - 1
    standing.touched[-1] = 0
    if not opens:
        _touch(sites, standing, site)
    for d in range(1, largest + 1):
        disturbed = False
        for at in range(sites.ring[site, d - 1], sites.ring[site, d]):
            cell = sites.order[site, at]  # distances are symmetric: the ring of the site is a ring of cells
            if standing.nearest[cell] < d:
                continue
            disturbed = True
            _serve(sites, standing, cell, -1)
            standing.is_open[site] = opens
            if not opens:
                standing.ties[cell] -= 1
                if standing.ties[cell] == 0:
                    _next_nearest(sites, standing, cell)
            elif standing.nearest[cell] == d:
                standing.ties[cell] += 1
            else:
                standing.nearest[cell], standing.ties[cell] = d, 1
            _serve(sites, standing, cell, 1)
            standing.is_open[site] = not opens  # not yet for the cells to come
        if sites.geodesic and not disturbed:
            break
    standing.is_open[site] = opens
    standing.totals[0] += sites.opening[site] if opens else -sites.opening[site]
    for at in range(standing.touched[-1]):
        changed = standing.touched[at]
        standing.mark[changed] = 0
        _count(sites, standing, changed, 1)
    return _price(sites, standing) - before


@njit(cache=True)
def _next_nearest(sites: Sites, standing: Standing, cell: int) -> None:
    largest = sites.ring.shape[1] - 1
    for d in range(standing.nearest[cell] + 1, largest + 1):
        ties = 0
        for at in range(sites.ring[cell, d - 1], sites.ring[cell, d]):
            ties += standing.is_open[sites.order[cell, at]]
        if ties:
            standing.nearest[cell], standing.ties[cell] = d, ties
            return
    standing.nearest[cell], standing.ties[cell] = largest + 1, 0


@njit(cache=True)
def _price(sites: Sites, standing: Standing) -> float:
    opening, operating, excess, stranded, distance = standing.totals
    price: float = opening + operating + sites.penalty * (excess + stranded) + sites.distance * distance
    return price


@njit(cache=True)
def follow(
    sites: Sites, standing: Standing, moves: Moves, tolerances: Floats, below: float, best: NDArray[np.uint8]
) -> tuple[int, bool, float]:
    """Try moves in turn, keep those within tolerance; copy the best feasible placement below `below` into `best`."""
    kept, found = 0, False
    for step in range(len(moves)):
        first, second = moves[step]
        change = flip(sites, standing, first)
        # A pair swaps an open site for a closed one; two alike would only be two flips at once.
        paired = second >= 0 and second != first and standing.is_open[second] == standing.is_open[first]
        if paired:
            change += flip(sites, standing, second)
        if change > tolerances[step]:
            if paired:
                flip(sites, standing, second)
            flip(sites, standing, first)
            continue
        kept += 1
        if standing.totals[2] + standing.totals[3] == 0 and _price(sites, standing) < below:
            refresh(sites, standing)  # what looks better may be rounding
            price = _price(sites, standing)
            if below == np.inf or price < below - 1e-9 * abs(below):  # inf - inf is no number
                below, found = price, True
                best[:] = standing.is_open
    return kept, found, below


@njit(cache=True)
def sweep(sites: Sites, standing: Standing, flips: Ints, below: float, best: NDArray[np.uint8]) -> tuple[bool, float]:
    """Flip one site after the other; copy the best feasible placement below `below` into `best`.

    The price of a feasible placement is summed anew, without the rounding errors of the way there.
    """
    found = False
    for site in flips:
        flip(sites, standing, site)
        if standing.totals[2] + standing.totals[3] == 0:
            price = sites.distance * standing.totals[4]  # whole numbers, without rounding
            for j in range(len(standing.is_open)):
                if standing.is_open[j]:
                    price += sites.opening[j] + _operating(sites, standing, j)
            if price < below:
                below, found = price, True
                best[:] = standing.is_open
    return found, below


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
            far = _farthest(standing, site)
            if standing.load[site] <= sites.capacity[site, far - 1]:
                continue
            if not allowed[site]:
                flip(sites, standing, site)  # it can never do: somebody else must take its clients
                chosen = -2
                break
            for at in range(sites.ring[site, far - 1], sites.ring[site, far]):
                cell = sites.order[site, at]
                served_here = allowed[cell] and not standing.is_open[cell] and standing.nearest[cell] == far
                if served_here and (chosen < 0 or sites.demand[cell] > sites.demand[chosen]):
                    chosen = cell
            if chosen < 0:
                chosen = _closed_and_allowed(sites, standing, allowed, site)
            break
        if chosen == -2:
            continue
        if chosen < 0:  # only clients without any site are left: open the first site that may
            chosen = _closed_and_allowed(sites, standing, allowed, order[0])
        if chosen < 0:
            return
        flip(sites, standing, chosen)


@njit(cache=True)
def _closed_and_allowed(sites: Sites, standing: Standing, allowed: NDArray[np.uint8], site: int) -> int:
    for at in range(sites.order.shape[1]):
        candidate: int = sites.order[site, at]
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


def rings(distances: Ints) -> tuple[Ints, Ints]:
    """Sites of each cell by growing distance, and where each distance begins."""
    cells, largest = len(distances), int(distances.max())
    order = np.argsort(distances, axis=1, kind="stable").astype(np.int64)
    ring = np.zeros((cells, largest + 1), np.int64)
    for cell in range(cells):
        ring[cell] = np.searchsorted(distances[cell, order[cell]], np.arange(1, largest + 2))
    return order, ring


def standing_of(sites: Sites, decision: Sequence[int] | NDArray[np.integer[Any]]) -> Standing:
    """Build the state of a walk from scratch.

    Parameters
    ----------
    sites
        What does not change during the walk.
    decision
        0 or 1 per site.

    Returns
    -------
    Standing
        Loads, nearest sites and totals of the decision.

    Examples
    --------
    >>> from optmodels.placement import PlacementGenerator
    >>> walk = PlacementGenerator(rows=2, columns=3, seed=1).instance().problem().start((1, 0, 1, 1, 0, 0))
    >>> walk.standing.load  # made by this function
    array([12,  0, 19, 16,  0,  0])
    """
    is_open = np.array(decision, np.uint8)
    nearest, ties, load, _, _ = assign(is_open, sites.distances, sites.demand, sites.ring.shape[1] - 1)
    count, largest = len(is_open), sites.ring.shape[1] - 1
    nearest[ties == 0] = largest + 1
    standing = Standing(
        is_open=is_open,
        nearest=nearest,
        ties=ties,
        load=load,
        clients=np.zeros((count, largest + 1), np.int64),
        touched=np.zeros(count + 1, np.int64),
        mark=np.zeros(count, np.uint8),
        totals=np.zeros(5),
    )
    served = (sites.distances == nearest[:, None]) & (is_open[None, :] == 1) & (sites.demand[:, None] > 0)
    cell, site = np.nonzero(served)
    np.add.at(standing.clients, (site, nearest[cell]), 1)
    refresh(sites, standing)
    return standing


@njit(cache=True)
def refresh(sites: Sites, standing: Standing) -> None:
    """Sum the totals anew, so that rounding errors of many steps cannot pile up."""
    standing.totals[:] = 0.0
    for site in range(len(standing.is_open)):
        if standing.is_open[site]:
            standing.totals[0] += sites.opening[site]
            _count(sites, standing, site, 1)
        if standing.ties[site] == 0:
            standing.totals[3] += sites.demand[site]
        else:
            standing.totals[4] += sites.demand[site] * standing.nearest[site]


@dataclass(eq=False)
class PlacementWalk:
    """A placement that moves flip by flip (see `heuristics.protocols.Walk`)."""

    sites: Sites
    standing: Standing
    choices: Ints  #: sites worth flipping
    nearby: int  #: a swap partner is among this many sites nearest to the first
    full_penalty: float = field(init=False)  #: of one client too many, whatever the walk charges just now

    def __post_init__(self) -> None:
        self.full_penalty = self.sites.penalty

    @property
    def current(self) -> Decision:
        """The placement as a decision."""
        return tuple(int(value) for value in self.standing.is_open)

    @property
    def penalised(self) -> float:
        """Price, and penalty per client too many."""
        return float(_price(self.sites, self.standing))

    @property
    def feasible(self) -> bool:
        """Whether every site keeps its capacity and every client has a site."""
        return bool(self.standing.totals[2] + self.standing.totals[3] == 0)

    def weigh(self, factor: float) -> None:
        """Charge `factor` times the penalty for a client too many (see `heuristics.protocols.Lenient`)."""
        self.sites = self.sites._replace(penalty=factor * self.full_penalty)

    def flip(self, index: int) -> float:
        """Open or close one site."""
        return float(flip(self.sites, self.standing, index))

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Half flips, half swaps with one of the nearest sites."""
        first = rng.choice(self.choices, count)
        partner = rng.integers(1, self.nearby + 1, count) if self.nearby else np.zeros(count, np.int64)
        second = np.where(rng.random(count) < 0.5, self.sites.order[first, partner], -1)
        return np.stack([first, second], axis=1).astype(np.int64)

    def follow(self, moves: Moves, tolerances: Floats, below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        best = np.zeros_like(self.standing.is_open)
        refresh(self.sites, self.standing)
        kept, found, lowest = follow(self.sites, self.standing, moves, tolerances, below, best)
        return _followed(int(kept), best if found else None, float(lowest))

    def sweep(self, flips: Ints, below: float) -> Followed:
        """Flip these sites one after the other, whatever that costs (see `heuristics.search.exhaustive.Sweeping`)."""
        best = np.zeros_like(self.standing.is_open)
        found, lowest = sweep(self.sites, self.standing, flips, below, best)
        return _followed(len(flips), best if found else None, float(lowest))


def _followed(kept: int, best: NDArray[np.uint8] | None, lowest: float) -> Followed:
    return Followed(kept, None, None) if best is None else Followed(kept, tuple(int(value) for value in best), lowest)
