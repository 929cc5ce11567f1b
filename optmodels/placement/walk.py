"""Loads of a placement flip by flip, in compiled code.

The plain road, `assign`, looks at every open site for every cell. `flip` changes one site and touches only the cells
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

from .measures import assign

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Sites(NamedTuple):
    """What does not change during a walk (arrays only, so that compiled code can take it)."""

    ranks: Ints  #: cell x site, 1 for the nearest sites
    levels: Ints  #: site x cell, 1 for the cells whose clients think shortest
    order: Ints  #: per cell: all sites by growing rank
    ring: Ints  #: per cell and rank d: where the sites of rank d + 1 begin in `order`
    length: Floats  #: cell x rank, or one row for all cells: the distance
    anchor: Ints  #: per site: its nearest cell
    demand: Ints
    opening: Floats  #: price of opening each site
    operating: Floats  #: site x farthest level x load: price of operating it; one entry if there is none
    capacity: Ints  #: site x farthest level: largest load
    penalty: float  #: price of one client too many
    geodesic: bool  #: whether a ring of untouched cells shields all cells behind it, and levels and ranks are steps
    whole: bool  #: whether distances are whole numbers, so that sums of them are exact
    distance: float  #: price of one client's distance to its nearest open sites
    fixed: NDArray[np.int8]  #: per site: 1 if it must be open, 0 if it must be closed, -1 otherwise
    numbers: Floats  #: how many sites must be open at least, and may be at most; whole, or infinite


class Standing(NamedTuple):
    """Where a walk stands: the placement, and all that follows from it."""

    is_open: NDArray[np.uint8]
    nearest: Ints  #: per cell: rank of its nearest open sites, one more than the largest if nothing is open
    ties: Ints
    load: Ints
    farthest: Ints  #: per site: level of its farthest clients, 0 without clients
    clients: Ints  #: site x level: cells with demand served there
    excess: Ints  #: per site: clients too many
    running: Floats  #: per site: price of operating it
    touched: Ints  #: scratch: sites changed by the flip under way
    mark: NDArray[np.uint8]  #: scratch: whether a site is among them
    totals: Floats  #: see below


#: Totals of a `Standing`: opening price, operating price, what is broken (clients too many, sites that are not as they
#: are fixed, open sites too many or too few), clients without a site, sum of distances, open sites.
TOTALS = 6


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
    before = price_of(sites, standing)
    _flip(sites, standing, site)
    return price_of(sites, standing) - before


@njit(cache=True, inline="always")
def _flip(sites: Sites, standing: Standing, site: int) -> None:
    """Hand the arrays over one by one: to pass records of arrays on would take longer than the flip."""
    _turn(
        sites.ranks, sites.levels, sites.order, sites.ring, sites.length, sites.demand, sites.opening,
        sites.operating, sites.capacity, sites.geodesic, sites.fixed, sites.numbers,
        standing.is_open, standing.nearest, standing.ties, standing.load, standing.farthest, standing.clients,
        standing.excess, standing.running, standing.touched, standing.mark, standing.totals, site,
    )  # fmt: skip


@njit(cache=True)
def _turn(
    ranks: Ints, levels: Ints, order: Ints, ring: Ints, length: Floats, demand: Ints, opening: Floats,
    operating: Floats, capacity: Ints, geodesic: bool, fixed: NDArray[np.int8], numbers: Floats,
    is_open: NDArray[np.uint8], nearest: Ints, ties: Ints, load: Ints, farthest: Ints, clients: Ints,
    excess: Ints, running: Floats, touched: Ints, mark: NDArray[np.uint8], totals: Floats, site: int,
) -> None:  # fmt: skip
    """Flip one site. While its cells are looked at it counts as closed: `others` are the open sites beside it."""
    opens = is_open[site] == 0
    largest = ring.shape[1] - 1
    is_open[site] = 0
    touched[0], mark[site], count = site, 1, 1
    apart = 1 if len(length) > 1 else 0  # whether each cell has distances of its own
    d, end, disturbed = 0, 0, True
    for at in range(len(demand)):
        if geodesic:  # steps are the same both ways: the sites around a site are the cells around it
            if at == end and not disturbed:
                break
            while at == end:
                d += 1
                end, disturbed = ring[site, d], False
            cell = order[site, at]
        else:
            cell = at
            d = ranks[cell, site]
        near, tied, people = nearest[cell], ties[cell], demand[cell]
        if near < d:
            continue
        disturbed = True
        away = length[cell * apart, d]
        others = tied if opens else tied - 1
        if opens and near == d:  # it joins the others
            ties[cell] = tied + 1
            share = (people + tied) // (tied + 1)
            given = share - (people + others - 1) // others
        elif opens:  # it takes the cell from the others, if there are any
            nearest[cell], ties[cell] = d, 1
            share = people
            given = -((people + others - 1) // others) if others else 0
            totals[4] += people * (away - length[cell * apart, near]) if others else people * away
            totals[3] -= 0 if others else people
        elif others:  # it leaves the cell to the others
            ties[cell] = others
            share = -((people + others) // tied)
            given = (people + others - 1) // others + share
        else:  # others, farther off, have to be found
            share = -people
            near = d + 1
            while near <= largest:
                for beside in range(ring[cell, near - 1], ring[cell, near]):
                    others += is_open[order[cell, beside]]
                if others:
                    break
                near += 1
            nearest[cell], ties[cell] = near, others
            given = (people + others - 1) // others if others else 0
            totals[4] += people * (length[cell * apart, near] - away) if others else -people * away
            totals[3] += 0 if others else people
        if people == 0:
            continue
        load[site] += share
        level = d if geodesic else levels[site, cell]
        clients[site, level] += 1 if opens else -1
        if opens:
            farthest[site] = max(farthest[site], level)
        moved = 0 if near == d else -1 if opens else 1
        if others == 0 or (given == 0 and moved == 0):
            continue
        for beside in range(ring[cell, near - 1], ring[cell, near]):
            other = order[cell, beside]
            if not is_open[other]:
                continue
            if not mark[other]:
                touched[count], mark[other] = other, 1
                count += 1
            load[other] += given
            level = near if geodesic else levels[other, cell]
            clients[other, level] += moved
            farthest[other] = max(farthest[other], level)
    is_open[site] = opens
    totals[0] += opening[site] if opens else -opening[site]
    if fixed[site] >= 0:
        totals[2] += -1 if opens == fixed[site] else 1
    totals[2] -= _miscounted(numbers, totals[5])
    totals[5] += 1 if opens else -1
    totals[2] += _miscounted(numbers, totals[5])
    for at in range(count):
        other = touched[at]
        mark[other] = 0
        far = farthest[other]
        while far > 0 and clients[other, far] == 0:
            far -= 1
        farthest[other] = far
        settle(operating, capacity, is_open, load, farthest, excess, running, totals, other)


@njit(cache=True, inline="always")
def settle(
    operating: Floats, capacity: Ints, is_open: NDArray[np.uint8], load: Ints, farthest: Ints, excess: Ints,
    running: Floats, totals: Floats, site: int,
) -> None:  # fmt: skip
    """Bring up to date what one site contributes to the totals."""
    beyond, price = 0, 0.0
    if is_open[site] and load[site] > 0:
        beyond = max(0, load[site] - capacity[site, farthest[site] - 1])
        if operating.shape[2] > 1:
            price = operating[site, farthest[site] - 1, min(load[site], operating.shape[2] - 1)]
    totals[2] += beyond - excess[site]
    totals[1] += price - running[site]
    excess[site], running[site] = beyond, price


@njit(cache=True, inline="always")
def _miscounted(numbers: Floats, count: float) -> float:
    """How many open sites are too many, or too few."""
    amount: float = max(0.0, count - numbers[1]) + max(0.0, numbers[0] - count)
    return amount


@njit(cache=True, inline="always")
def price_of(sites: Sites, standing: Standing) -> float:
    """Return the price of where a walk stands, with the penalty for clients too many."""
    opening, operating, excess, stranded, distance, _ = standing.totals
    price: float = opening + operating + sites.penalty * (excess + stranded) + sites.distance * distance
    return price


@njit(cache=True)
def follow(
    sites: Sites, standing: Standing, moves: Moves, tolerances: Floats, below: float, best: NDArray[np.uint8]
) -> tuple[int, bool, float]:
    """Try moves in turn, keep those within tolerance; copy the best feasible placement below `below` into `best`."""
    kept, found = 0, False
    is_open, totals, opening = standing.is_open, standing.totals, sites.opening
    by_opening = sites.operating.shape[2] == 1 and sites.distance == 0
    for step in range(len(moves)):
        first, second = moves[step]
        # A pair swaps an open site for a closed one; two alike would only be two flips at once.
        paired = second >= 0 and second != first and is_open[second] != is_open[first]
        before = price_of(sites, standing)
        if by_opening:  # at best nobody is left with too many clients: that may be too dear already
            least = -opening[first] if is_open[first] else opening[first]
            if paired:
                least += -opening[second] if is_open[second] else opening[second]
            least -= sites.penalty * (totals[2] + totals[3])
            if least > tolerances[step] + 1e-9 * abs(before):
                continue
        _flip(sites, standing, first)
        if paired:
            _flip(sites, standing, second)
        price = price_of(sites, standing)
        if price - before > tolerances[step]:
            if paired:
                _flip(sites, standing, second)
            _flip(sites, standing, first)
            continue
        kept += 1
        if totals[2] + totals[3] == 0 and price < below:
            refresh(sites, standing)  # what looks better may be rounding
            price = price_of(sites, standing)
            if below == np.inf or price < below - 1e-9 * abs(below):  # inf - inf is no number
                below, found = price, True
                best[:] = is_open
    return kept, found, below


@njit(cache=True)
def sweep(sites: Sites, standing: Standing, flips: Ints, below: float, best: NDArray[np.uint8]) -> tuple[bool, float]:
    """Flip one site after the other; copy the best feasible placement below `below` into `best`.

    The price of a feasible placement is summed anew, without the rounding errors of the way there.
    """
    found = False
    refresh(sites, standing)
    by_opening = sites.operating.shape[2] == 1 and sites.distance == 0
    rounding = 1e-9 * np.abs(sites.opening).sum()  # of the sums along the way, and more
    for site in flips:
        _flip(sites, standing, site)
        if by_opening and standing.totals[0] - rounding > below:
            continue
        if standing.totals[2] + standing.totals[3] == 0:
            price = sites.distance * (standing.totals[4] if sites.whole else _distance(sites, standing))
            for j in range(len(standing.is_open)):
                if standing.is_open[j]:
                    price += sites.opening[j] + standing.running[j]
            if price < below:
                below, found = price, True
                best[:] = standing.is_open
    return found, below


def rings(ranks: Ints) -> tuple[Ints, Ints]:
    """Sites of each cell by growing rank, and where each rank begins."""
    cells, largest = len(ranks), int(ranks.max())
    order = np.argsort(ranks, axis=1, kind="stable").astype(np.int64)
    ring = np.zeros((cells, largest + 1), np.int64)
    for cell in range(cells):
        ring[cell] = np.searchsorted(ranks[cell, order[cell]], np.arange(1, largest + 2))
    return order, ring


def partners(sites: Sites, most: int = 12) -> Ints:
    """For each site some others that are near: the nearest ones of its nearest cell."""
    count = min(most, len(sites.opening) - 1)
    near = sites.order[sites.anchor, : count + 1]
    others = np.argsort(near == np.arange(len(near))[:, None], axis=1, kind="stable")  # itself last, if it is there
    return np.ascontiguousarray(np.take_along_axis(near, others, axis=1)[:, :count])


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
    count, largest, most = len(is_open), sites.ring.shape[1] - 1, sites.capacity.shape[1]
    nearest, ties, load, farthest, _ = assign(is_open, sites.ranks, sites.levels, sites.demand, most)
    nearest[ties == 0] = largest + 1
    standing = Standing(
        is_open=is_open,
        nearest=nearest,
        ties=ties,
        load=load,
        farthest=farthest,
        clients=np.zeros((count, most + 1), np.int64),
        excess=np.zeros(count, np.int64),
        running=np.zeros(count),
        touched=np.zeros(count, np.int64),
        mark=np.zeros(count, np.uint8),
        totals=np.zeros(TOTALS),
    )
    served = (sites.ranks == nearest[:, None]) & (is_open[None, :] == 1) & (sites.demand[:, None] > 0)
    cell, site = np.nonzero(served)
    np.add.at(standing.clients, (site, sites.levels[site, cell]), 1)
    refresh(sites, standing)
    return standing


@njit(cache=True)
def refresh(sites: Sites, standing: Standing) -> None:
    """Sum the totals anew, so that rounding errors of many steps cannot pile up."""
    standing.totals[:] = 0.0
    standing.excess[:] = 0
    standing.running[:] = 0.0
    for site in range(len(standing.is_open)):
        if standing.is_open[site]:
            standing.totals[0] += sites.opening[site]
            standing.totals[5] += 1
            settle(
                sites.operating, sites.capacity, standing.is_open, standing.load, standing.farthest,
                standing.excess, standing.running, standing.totals, site,
            )  # fmt: skip
        if sites.fixed[site] >= 0 and standing.is_open[site] != sites.fixed[site]:
            standing.totals[2] += 1
    for cell in range(len(standing.ties)):
        if standing.ties[cell] == 0:
            standing.totals[3] += sites.demand[cell]
    standing.totals[2] += _miscounted(sites.numbers, standing.totals[5])
    standing.totals[4] = _distance(sites, standing)


@njit(cache=True)
def _distance(sites: Sites, standing: Standing) -> float:
    """Distances of all clients that have a site, summed anew."""
    total, apart = 0.0, 1 if len(sites.length) > 1 else 0
    for cell in range(len(standing.ties)):
        if standing.ties[cell] > 0:
            total += sites.demand[cell] * sites.length[cell * apart, standing.nearest[cell]]
    return total


@dataclass(eq=False)
class PlacementWalk:
    """A placement that moves flip by flip (see `heuristics.protocols.Walk`)."""

    sites: Sites
    standing: Standing
    choices: Ints  #: sites worth flipping
    partners: Ints  #: per site: some others that are near, one of which may be swapped with it
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
        return float(price_of(self.sites, self.standing))

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
        """Half flips, half swaps with one of the nearest sites; nothing that is fixed."""
        first = rng.choice(self.choices, count)
        nearby = self.partners.shape[1]
        partner = rng.integers(1, nearby + 1, count) - 1 if nearby else np.zeros(count, np.int64)
        others = self.partners[first, partner] if nearby else first
        second = np.where((rng.random(count) < 0.5) & (self.sites.fixed[others] < 0), others, -1)
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
