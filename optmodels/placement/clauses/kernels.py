"""Who is overloaded when some sites are closed, and why: in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bits = NDArray[np.uint8]


class Setting(NamedTuple):
    r"""All that decides whether a site is overloaded: what clauses are made from.

    Parameters
    ----------
    ranks
        Of every cell (row) to every site (column): 1 for the nearest, equal where distances are.
    order
        Per cell: all sites by growing rank.
    levels
        Per class, site and cell: 1 where the clients of the site think shortest.
    demand
        Clients by class and cell.
    capacity
        Per class, site and level (from 1) of its farthest clients: the largest load without clients of other classes;
        non-increasing in the level.
    allowed
        Sites that are open in some feasible placement.
    servers
        Per site: which of the servers it has.
    offsets, strides
        Per server: where its table begins, and the step of each class there.
    deepest
        Per entry of the tables, for the loads :math:`L_c` with number offset + :math:`\sum_c` stride :math:`L_c`, and
        class: the largest level of its farthest client at which the class is kept, 0 if at none. Without entries
        where there is one class. It must not grow with the loads.

    Notes
    -----
    Clients of a cell go to the open sites of the least rank, and t of them share equally, rounded up. So when a site
    is opened, another keeps a cell with t or more sites at the same rank, or loses it: no load :math:`L_{jc}` rises,
    and no farthest level. A site is overloaded where a capacity or a table says so, and these never allow more for more
    clients or for a higher level. So "overloaded" is monotone in the set of closed sites, whatever ranks and levels
    are: distances need be no metric, nor the same both ways, nor in the order of think times.
    """

    ranks: Ints
    order: Ints
    levels: NDArray[np.int64]
    demand: Ints
    capacity: NDArray[np.int64]
    allowed: Bits
    servers: Ints
    offsets: Ints
    strides: Ints
    deepest: Ints


@njit(cache=True)
def fits(setting: Setting, site: int, load: Ints, farthest: Ints) -> bool:
    """Whether a site keeps its classes, given clients and level of the farthest by class."""
    classes = len(load)
    for c in range(classes):
        if load[c] > 0 and load[c] > setting.capacity[c, site, farthest[c] - 1]:
            return False
    if classes > 1:
        server = setting.servers[site]
        entry = setting.offsets[server]
        for c in range(classes):
            entry += setting.strides[server, c] * load[c]
        for c in range(classes):
            if load[c] > 0 and farthest[c] > setting.deepest[entry, c]:
                return False
    return True


@njit(cache=True)
def _has_clients(setting: Setting, cell: int) -> bool:
    for c in range(len(setting.demand)):  # noqa: SIM110 - compiled
        if setting.demand[c, cell] > 0:
            return True
    return False


@njit(cache=True)
def serve(setting: Setting, is_open: Bits, nearest: Ints, ties: Ints) -> None:
    """Find the nearest open sites of every cell with clients: their rank (0 if none is open) and number."""
    for cell in range(len(nearest)):
        nearest[cell] = 0
        ties[cell] = 0
        if not _has_clients(setting, cell):
            continue
        for at in range(setting.order.shape[1]):
            site = setting.order[cell, at]
            if nearest[cell] > 0 and setting.ranks[cell, site] > nearest[cell]:
                break
            if is_open[site]:
                nearest[cell] = setting.ranks[cell, site]
                ties[cell] += 1


@njit(cache=True)
def crowd(setting: Setting, is_open: Bits, nearest: Ints, ties: Ints, over: Bits) -> int:
    """Mark the overloaded sites and count them, given the nearest open sites."""
    sites, classes = len(is_open), len(setting.demand)
    load = np.zeros((sites, classes), np.int64)
    farthest = np.zeros((sites, classes), np.int64)
    for cell in range(len(nearest)):
        if ties[cell] == 0:
            continue
        for at in range(sites):
            site = setting.order[cell, at]
            d = setting.ranks[cell, site]
            if d > nearest[cell]:
                break
            if d == nearest[cell] and is_open[site]:
                for c in range(classes):
                    if setting.demand[c, cell] > 0:
                        load[site, c] += (setting.demand[c, cell] + ties[cell] - 1) // ties[cell]
                        farthest[site, c] = max(farthest[site, c], setting.levels[c, site, cell])
    count = 0
    for site in range(sites):
        over[site] = not fits(setting, site, load[site], farthest[site])
        count += over[site]
    return count


@njit(cache=True)
def losing(setting: Setting, placements: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each placement overloads somebody, or leaves clients without a site."""
    cells, sites = setting.ranks.shape
    nearest, ties, over = np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.zeros(sites, np.uint8)
    lost = np.zeros(len(placements), np.bool_)
    for i in range(len(placements)):
        serve(setting, placements[i], nearest, ties)
        lost[i] = crowd(setting, placements[i], nearest, ties, over) > 0
        for cell in range(cells):
            lost[i] |= ties[cell] == 0 and _has_clients(setting, cell)
    return lost


@njit(cache=True)
def remaining(setting: Setting, is_open: Bits) -> None:
    """Close overloaded sites, again and again, until nobody is overloaded: what is left is as open as can be.

    Opening a site never raises the load of another nor the distance of its farthest client, so no feasible placement
    within the given open sites opens any site that is closed here.
    """
    cells, sites = setting.ranks.shape
    nearest, ties, over = np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.zeros(sites, np.uint8)
    while True:
        serve(setting, is_open, nearest, ties)
        if crowd(setting, is_open, nearest, ties, over) == 0:
            return
        for site in range(sites):
            if over[site]:
                is_open[site] = 0


@njit(cache=True)
def shrink(
    setting: Setting, is_open: Bits, nearest: Ints, ties: Ints, site: int, noise: Floats, far: float, needed: Ints
) -> int:
    r"""Find few closed sites that overload a site, all others being open.

    The closed sites are opened one by one, and stay open while the site is overloaded. What is left is minimal: what
    could not be opened while more was closed cannot be opened later, as opening sites only helps.

    Parameters
    ----------
    setting
        Of the problem.
    is_open
        A configuration in which the site is overloaded.
    nearest, ties
        Of that configuration, see `serve`.
    site
        The overloaded one.
    noise, far
        Sites are tried by falling ``far * d + noise``, where d is their least rank among the clients of the site.
    needed
        Filled with the sites that must be closed.

    Returns
    -------
    int
        How many are needed.
    """
    cells, sites = setting.ranks.shape
    classes = len(setting.demand)
    load, farthest = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    clients, at = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    share = np.zeros(cells, np.int64)  # number of ties, 0 when served elsewhere
    count = 0
    for cell in range(cells):
        if ties[cell] > 0 and setting.ranks[cell, site] == nearest[cell]:
            clients[count], at[count], share[count] = cell, nearest[cell], ties[cell]
            count += 1
    keys = np.full(sites, -np.inf)
    found = 0
    for other in range(sites):
        if is_open[other] or not setting.allowed[other]:
            continue
        closest = np.int64(1 << 60)
        for i in range(count):
            d = setting.ranks[clients[i], other]
            if d <= at[i] and d < closest:
                closest = d
        if closest < 1 << 60:  # the others do not matter
            keys[other] = far * closest + noise[other]
            found += 1
    kept = 0
    for other in np.argsort(-keys)[:found]:
        load[:] = 0
        farthest[:] = 0
        for i in range(count):
            if share[i] == 0:
                continue
            cell = clients[i]
            d = setting.ranks[cell, other]
            if d < at[i]:
                continue
            tied = share[i] + 1 if d == at[i] else share[i]
            for c in range(classes):
                if setting.demand[c, cell] > 0:
                    load[c] += (setting.demand[c, cell] + tied - 1) // tied
                    farthest[c] = max(farthest[c], setting.levels[c, site, cell])
        if fits(setting, site, load, farthest):
            needed[kept] = other
            kept += 1
            continue
        for i in range(count):
            d = setting.ranks[clients[i], other]
            if share[i] > 0 and d < at[i]:
                share[i] = 0
            elif share[i] > 0 and d == at[i]:
                share[i] += 1
    return kept


@njit(cache=True)
def overload_clauses(
    setting: Setting, placements: NDArray[np.uint8], noise: Floats, far: Floats, most: int
) -> tuple[NDArray[np.int32], Ints]:
    """One clause for every overloaded site of every placement, in signs of DIMACS, one after the other.

    Parameters
    ----------
    setting
        Of the problem.
    placements
        One in each row.
    noise, far
        Of each placement, see `shrink`.
    most
        Of the overloaded sites of a placement, so many are looked at, in random order.

    Returns
    -------
    literals, starts
        Clause i is ``literals[starts[i]:starts[i + 1]]``: the site closed, or one of the others open.
    """
    cells, sites = setting.ranks.shape
    nearest, ties = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    over, needed = np.zeros(sites, np.uint8), np.zeros(sites, np.int64)
    literals, starts = np.zeros(1024, np.int32), np.zeros(256, np.int64)
    count = 0
    for i in range(len(placements)):
        is_open = placements[i]
        serve(setting, is_open, nearest, ties)
        if crowd(setting, is_open, nearest, ties, over) == 0:
            continue
        looked_at = 0
        for site in np.argsort(noise[i]):
            if not over[site]:
                continue
            if looked_at == most:
                break
            looked_at += 1
            kept = shrink(setting, is_open, nearest, ties, site, noise[i], far[i], needed)
            literals, starts = _written(literals, starts, count, site, needed[:kept])
            count += 1
    return literals[: starts[count]], starts[: count + 1]


@njit(cache=True)
def service_clauses(setting: Setting) -> tuple[NDArray[np.int32], Ints]:
    """For each cell with clients: who can serve it, and why others cannot.

    Close all sites nearer to a cell than site j. If j is overloaded then, that is a clause, which is made minimal. If
    not, j can serve the cell, and one of those that can is open: a clause without a closed site. Where the share of the
    cell is too much for j alone, even if all sites at its distance are open, there is no need for a clause.

    Returns
    -------
    literals, starts
        Clauses one after the other, as those of `overload_clauses`.
    """
    cells, sites = setting.ranks.shape
    nearest, ties = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    over, needed = np.zeros(sites, np.uint8), np.zeros(sites, np.int64)
    servers, noise = np.zeros(sites, np.int64), np.zeros(sites)
    classes = len(setting.demand)
    share, level = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    literals, starts = np.zeros(1024, np.int32), np.zeros(256, np.int64)
    count = 0
    for cell in range(cells):
        if not _has_clients(setting, cell):
            continue
        is_open = setting.allowed.copy()
        serving, at = 0, 0
        while at < sites:
            d = setting.ranks[cell, setting.order[cell, at]]
            end, ring = at, 0
            while end < sites and setting.ranks[cell, setting.order[cell, end]] == d:
                ring += is_open[setting.order[cell, end]]
                end += 1
            known = False
            for i in range(at, end):
                site = setting.order[cell, i]
                if not is_open[site]:
                    continue
                for c in range(classes):
                    share[c] = (setting.demand[c, cell] + ring - 1) // ring
                    level[c] = setting.levels[c, site, cell]
                if not fits(setting, site, share, level):
                    continue
                if not known:
                    serve(setting, is_open, nearest, ties)
                    crowd(setting, is_open, nearest, ties, over)
                    known = True
                if not over[site]:
                    servers[serving] = site
                    serving += 1
                    continue
                kept = shrink(setting, is_open, nearest, ties, site, noise, 1.0, needed)
                literals, starts = _written(literals, starts, count, site, needed[:kept])
                count += 1
            for i in range(at, end):
                is_open[setting.order[cell, i]] = 0
            at = end
        literals, starts = _written(literals, starts, count, -1, servers[:serving])
        count += 1
    return literals[: starts[count]], starts[: count + 1]


@njit(cache=True)
def _written(
    literals: NDArray[np.int32], starts: Ints, count: int, closed: int, opened: Ints
) -> tuple[NDArray[np.int32], Ints]:
    """Append a clause: a site closed (none if it is negative), or one of some open; the arrays may grow."""
    used = starts[count]
    if used + len(opened) + 1 > len(literals):
        literals = np.append(literals, np.zeros(max(len(literals), len(opened) + 1), np.int32))
    if count + 2 > len(starts):
        starts = np.append(starts, np.zeros(len(starts), np.int64))
    if closed >= 0:
        literals[used] = -(closed + 1)
        used += 1
    for site in opened:
        literals[used] = site + 1
        used += 1
    starts[count + 1] = used
    return literals, starts
