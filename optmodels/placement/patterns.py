r"""Whom a site can serve at once: the patterns behind the integer program of a placement.

A *service* of cell k by site j says with which share: one of :math:`\lceil N_k / t \rceil`, where t sites tie for k;
tie counts with the same share are one service. A *pattern* of a site is a set of services that it can have at the same
time. Three facts keep them few.

* The load may not exceed the capacity :math:`\psi_j(l)` at the highest level l of the pattern.
* If j is a nearest open site of k, it is one of every cell m *on the way*: one where every site that is nearer to m
  than j is nearer to k, too. Cells on a shortest path from k to j are.
* If sites no farther from m than j are no farther from k than j, either, those that tie for m tie for k, so m has no
  more tied sites than k.

A cell with a single nearest site is at *home* there: when that is open it serves the cell, alone.

Where a site has too many patterns, only cells up to some level are enumerated, together with an upper limit on the
levels of all cells served, also of those that are not part of the pattern.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .measures import report_service

if TYPE_CHECKING:
    from .problem import PlacementProblem

Floats = NDArray[np.float64]

#: Comparisons of cells with cells by sites, for one site: beyond, no cell is known to be on the way to another.
MOST_COMPARED = 300_000_000


class Service(NamedTuple):
    """A share of a cell's clients, and between which numbers of tied sites each gets it."""

    share: int
    fewest: int
    most: int


class Pattern(NamedTuple):
    """Services of a site that go together.

    The cells at home are always served and not listed; they count in the load and in the farthest.
    """

    services: tuple[tuple[int, Service], ...]  #: cells and how they are served
    load: int
    farthest: int  #: highest level of the cells of the pattern, 0 if there are none
    level: int  #: no cell of a higher level is served, whether of the pattern or not


@dataclass(frozen=True)
class SitePatterns:
    """The patterns of one site over the cells `within` a level; ``inf``: over all cells it can serve."""

    within: float
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, eq=False)
class Reach:
    """Who can serve whom, and how.

    Parameters
    ----------
    sites, clients
        Sites that can be open; cells with demand.
    services
        Per site and cell not at home there: the possible services, large shares first. Pairs without any are absent.
    on_the_way
        Per site and cell of `services`: other cells with demand that are served if that is, none of a higher level.
    home_of
        Per cell with a single nearest site: that site.
    """

    problem: PlacementProblem
    sites: tuple[int, ...]
    clients: tuple[int, ...]
    services: Mapping[tuple[int, int], tuple[Service, ...]]
    on_the_way: Mapping[tuple[int, int], tuple[int, ...]]
    home_of: Mapping[int, int]

    @cached_property
    def homes(self) -> Mapping[int, tuple[int, ...]]:
        """Per site: the cells with demand that are at home there."""
        found: dict[int, list[int]] = {site: [] for site in self.sites}
        for cell, site in self.home_of.items():
            if site in found and self.problem.demand[cell] > 0:
                found[site].append(cell)
        return {site: tuple(cells) for site, cells in found.items()}

    def always(self, site: int) -> tuple[int, int]:
        """Load and highest level of the cells that a site serves whenever it is open."""
        cells = list(self.homes[site])
        if not cells:
            return 0, 0
        return int(self.problem.demand[cells].sum()), int(self.problem.levels[site, cells].max())

    @classmethod
    def of(cls, problem: PlacementProblem) -> Reach:
        """Find the services that fit a site's capacity together with the cells at home and those on the way."""
        ranks, levels, demand = problem.layout.ranks, problem.levels, problem.demand
        sites = np.flatnonzero(problem.allowed)
        clients = np.flatnonzero(demand > 0)
        single = np.flatnonzero((ranks == 1).sum(axis=1) == 1)
        home_of = dict(zip(single.tolist(), ranks[single].argmin(axis=1).tolist(), strict=True))
        found = cls(problem, tuple(sites.tolist()), tuple(clients.tolist()), {}, {}, home_of)
        ties = np.zeros((len(demand), int(ranks.max()) + 1), np.int64)  # cell x rank: sites that can be open there
        first = np.unique(problem.layout.lots[sites], return_index=True)[1]
        for site in sites[first].tolist():
            ties[np.arange(len(demand)), ranks[:, site]] += 1
        classes = {(int(cell), int(count)): _services(int(demand[cell]), int(count))
                   for cell in clients for count in np.unique(ties[cell]) if count}  # fmt: skip
        services: dict[tuple[int, int], tuple[Service, ...]] = {}
        on_the_way: dict[tuple[int, int], tuple[int, ...]] = {}
        for site in sites.tolist():
            room = problem.capacity[site]
            at_home, highest = found.always(site)
            near = clients[levels[site, clients] <= np.count_nonzero(room)]
            near = near[[home_of.get(cell) != site for cell in near.tolist()]]
            between = _between(problem, site, near, sites)
            for row, cell in enumerate(near.tolist()):
                way = near[between[row]]
                way_ties = ties[way, ranks[way, site]]
                left = int(room[max(highest, int(levels[site, cell])) - 1] - at_home)
                possible = tuple(
                    service
                    for service in classes[cell, int(ties[cell, ranks[cell, site]])]
                    if service.share + int(np.sum(-(-demand[way] // np.minimum(way_ties, service.most)))) <= left
                )
                if possible:
                    services[site, cell] = possible
                    on_the_way[site, cell] = tuple(way.tolist())
        _drop_lonely(services, problem)
        return replace(found, services=services, on_the_way=on_the_way)

    @cached_property
    def _cells(self) -> Mapping[int, list[int]]:
        """Per site: the cells that it can serve besides those at home, by level."""
        cells: dict[int, list[int]] = {site: [] for site in self.sites}
        for _, cell, site in sorted((self.problem.levels[site, cell], cell, site) for site, cell in self.services):
            cells[site].append(cell)
        return cells

    def patterns(self, site: int, most: int, within: float = math.inf) -> SitePatterns | None:
        """All patterns of a site over the cells within a level; ``None`` if there are more than `most`."""
        kept: list[Pattern] = []
        for count, pattern in enumerate(self._near_patterns(site, within)):
            if count >= most or len(kept) >= most:
                return None
            kept.append(pattern)
            kept += self._levels(site, pattern, within)
        return SitePatterns(within, tuple(kept)) if len(kept) <= most else None

    def _near_patterns(self, site: int, within: float) -> Iterator[Pattern]:
        levels = self.problem.levels[site].tolist()
        room = self.problem.capacity[site].tolist()
        cells = [cell for cell in self._cells[site] if levels[cell] <= within]
        chosen: dict[int, Service] = {}

        def extend(at: int, load: int, farthest: int) -> Iterator[Pattern]:
            if at == len(cells):
                yield Pattern(tuple(chosen.items()), load, farthest, farthest)
                return
            yield from extend(at + 1, load, farthest)
            cell = cells[at]
            way = self.on_the_way[site, cell]
            if not all(other in chosen for other in way):
                return
            fewest = max((chosen[other].fewest for other in way), default=1)
            level = max(farthest, levels[cell])
            for service in self.services[site, cell]:
                if service.most >= fewest and load + service.share <= room[level - 1]:
                    chosen[cell] = service
                    yield from extend(at + 1, load + service.share, level)
                    del chosen[cell]

        yield from extend(0, *self.always(site))

    def _levels(self, site: int, pattern: Pattern, within: float) -> list[Pattern]:
        """The pattern with every level at which it leaves room for a cell beyond `within`."""
        if math.isinf(within):
            return []
        level_of, room = self.problem.levels[site], self.problem.capacity[site]
        part = {cell for cell, _ in pattern.services}
        levels: set[int] = set()
        for cell in self._cells[site]:
            level = int(level_of[cell])
            if level <= max(within, pattern.farthest) or level in levels:
                continue
            near_way = {other for other in self.on_the_way[site, cell] if level_of[other] <= within}
            if near_way <= part and pattern.load + self.services[site, cell][-1].share <= room[level - 1]:
                levels.add(level)
        return [pattern._replace(level=level) for level in sorted(levels)]


def _between(
    problem: PlacementProblem, site: int, near: NDArray[np.intp], sites: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Which of some cells (columns) a site serves whenever it serves another (rows), none of a higher level."""
    layout, levels = problem.layout, problem.levels[site, near]
    if layout.stepwise:
        there = problem.distances[site, near]
        between = there[None, :] + problem.distances[np.ix_(near, near)] - 1 == there[:, None]
    elif len(near) ** 2 * len(sites) > MOST_COMPARED:
        return np.zeros((len(near), len(near)), bool)
    else:
        others, own = layout.ranks[np.ix_(near, sites)], layout.ranks[near, site][:, None]
        between = _contained(others < own) & _contained(others <= own)
    before = np.lexsort((near, levels)).argsort()  # the order in which patterns are made of cells
    return np.asarray(between & (before[None, :] < before[:, None]))


def _contained(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per pair of rows: whether the set of the second is part of that of the first."""
    return np.asarray((~sets).astype(np.float32) @ sets.T.astype(np.float32) == 0)


def _services(demand: int, ties: int) -> tuple[Service, ...]:
    services: list[Service] = []
    for count in range(1, ties + 1):
        share = -(-demand // count)
        if services and services[-1].share == share:
            services[-1] = services[-1]._replace(most=count)
        else:
            services.append(Service(share, count, count))
    return tuple(services)


def _drop_lonely(services: dict[tuple[int, int], tuple[Service, ...]], problem: PlacementProblem) -> None:
    """Drop services that too few sites can give: all that tie for a cell must be able to."""
    offers: dict[tuple[int, int, int], int] = defaultdict(int)
    for (site, cell), possible in services.items():
        for service in possible:
            offers[cell, int(problem.layout.ranks[cell, site]), service.share] += 1
    for (site, cell), possible in list(services.items()):
        d = int(problem.layout.ranks[cell, site])
        kept = tuple(service for service in possible if offers[cell, d, service.share] >= service.fewest)
        if kept:
            services[site, cell] = kept
        else:
            del services[site, cell]


def utilisations(reach: Reach, site: int, patterns: tuple[Pattern, ...]) -> Floats:
    """Utilisation of a site in each of its patterns (over all cells), as the evaluator computes it."""
    problem, levels = reach.problem, reach.problem.levels[site]
    mix = np.zeros((len(patterns), problem.think_times.shape[1]), np.int64)
    for cell in reach.homes[site]:
        mix[:, levels[cell] - 1] += problem.demand[cell]
    for number, pattern in enumerate(patterns):
        for cell, service in pattern.services:
            mix[number, levels[cell] - 1] += service.share
    farthest = np.array([pattern.farthest for pattern in patterns])
    report = report_service(problem, farthest, mix, np.full(len(patterns), site))
    return np.nan_to_num(report.utilisation)
