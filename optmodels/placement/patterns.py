r"""Whom a site can serve at once: the patterns behind the integer program of a placement.

A *service* of cell k by site j says with which share: one of :math:`\lceil N_k / t \rceil`, where t sites tie for k;
tie counts with the same share are one service. A *pattern* of a site is a set of services that it can have at the same
time. Three facts keep them few.

* The load may not exceed the capacity :math:`\psi_j(d)` at the farthest distance d of the pattern.
* If j is a nearest open site of k, it is one of every cell m on a shortest path from k to j: a site nearer to m would
  be nearer to k, too. So patterns are closed under shortest paths.
* Sites that tie for m tie for k, so m has no more tied sites than k.

Where a site has too many patterns, only cells up to some distance are enumerated, together with a *level*: an upper
limit on the distance of all cells served, also of those that are not part of the pattern.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .measures import report_service

if TYPE_CHECKING:
    from .problem import PlacementProblem

Floats = NDArray[np.float64]


class Service(NamedTuple):
    """A share of a cell's clients, and between which numbers of tied sites each gets it."""

    share: int
    fewest: int
    most: int


class Pattern(NamedTuple):
    """Services of a site that go together.

    The site's own cell is always served and not listed; it counts in the load and the farthest distance.
    """

    services: tuple[tuple[int, Service], ...]  #: cells and how they are served
    load: int
    farthest: int  #: distance of the farthest cell of the pattern, 0 if there is none
    level: int  #: no cell farther than this is served, whether of the pattern or not


@dataclass(frozen=True)
class SitePatterns:
    """The patterns of one site over the cells `within` a distance; ``inf``: over all cells it can serve."""

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
        Per site and other cell: the possible services, large shares first. Pairs without any are absent.
    on_the_way
        Per site and cell of `services`: the other cells with demand on their shortest paths.
    """

    problem: PlacementProblem
    sites: tuple[int, ...]
    clients: tuple[int, ...]
    services: Mapping[tuple[int, int], tuple[Service, ...]]
    on_the_way: Mapping[tuple[int, int], tuple[int, ...]]

    @classmethod
    def of(cls, problem: PlacementProblem) -> Reach:
        """Find the services that fit a site's capacity together with its own cell and the cells on the way."""
        distances, demand = problem.distances, problem.demand
        sites = np.flatnonzero(problem.allowed)
        clients = np.flatnonzero(demand > 0)
        largest = problem.capacity.shape[1]
        ties = np.zeros((len(demand), largest + 1), np.int64)  # cell x distance: sites that can be open there
        for site in sites.tolist():
            ties[np.arange(len(demand)), distances[:, site]] += 1
        classes = {(int(cell), int(count)): _services(int(demand[cell]), int(count))
                   for cell in clients for count in np.unique(ties[cell]) if count}  # fmt: skip
        services: dict[tuple[int, int], tuple[Service, ...]] = {}
        on_the_way: dict[tuple[int, int], tuple[int, ...]] = {}
        for site in sites.tolist():
            room = problem.capacity[site]
            near = clients[(distances[site, clients] <= np.count_nonzero(room)) & (clients != site)]
            there = distances[site, near]
            between = there[None, :] + distances[np.ix_(near, near)] - 1 == there[:, None]
            np.fill_diagonal(between, False)
            for row, cell in enumerate(near.tolist()):
                d = int(there[row])
                way = near[between[row]]
                way_ties = ties[way, distances[site, way]]
                left = int(room[d - 1] - demand[site])
                possible = tuple(
                    service
                    for service in classes[cell, int(ties[cell, d])]
                    if service.share + int(np.sum(-(-demand[way] // np.minimum(way_ties, service.most)))) <= left
                )
                if possible:
                    services[site, cell] = possible
                    on_the_way[site, cell] = tuple(way.tolist())
        _drop_lonely(services, problem)
        return cls(problem, tuple(sites.tolist()), tuple(clients.tolist()), services, on_the_way)

    @cached_property
    def _cells(self) -> Mapping[int, list[int]]:
        """Per site: the cells that it can serve besides its own, near ones first."""
        cells: dict[int, list[int]] = {site: [] for site in self.sites}
        for _, cell, site in sorted((self.problem.distances[site, cell], cell, site) for site, cell in self.services):
            cells[site].append(cell)
        return cells

    def patterns(self, site: int, most: int, within: float = math.inf) -> SitePatterns | None:
        """All patterns of a site over the cells within a distance; ``None`` if there are more than `most`."""
        kept: list[Pattern] = []
        for count, pattern in enumerate(self._near_patterns(site, within)):
            if count >= most or len(kept) >= most:
                return None
            kept.append(pattern)
            kept += self._levels(site, pattern, within)
        return SitePatterns(within, tuple(kept)) if len(kept) <= most else None

    def _near_patterns(self, site: int, within: float) -> Iterator[Pattern]:
        distance = self.problem.distances[site].tolist()
        room = self.problem.capacity[site].tolist()
        own = int(self.problem.demand[site])
        cells = [cell for cell in self._cells[site] if distance[cell] <= within]
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
            for service in self.services[site, cell]:
                if service.most >= fewest and load + service.share <= room[distance[cell] - 1]:
                    chosen[cell] = service
                    yield from extend(at + 1, load + service.share, distance[cell])
                    del chosen[cell]

        yield from extend(0, own, 1 if own else 0)

    def _levels(self, site: int, pattern: Pattern, within: float) -> list[Pattern]:
        """The pattern with every level at which it leaves room for a cell beyond `within`."""
        if math.isinf(within):
            return []
        distance, room = self.problem.distances[site], self.problem.capacity[site]
        part = {cell for cell, _ in pattern.services}
        levels = set()
        for cell in self._cells[site]:
            d = int(distance[cell])
            if d <= within or d in levels:
                continue
            near_way = {other for other in self.on_the_way[site, cell] if distance[other] <= within}
            if near_way <= part and pattern.load + self.services[site, cell][-1].share <= room[d - 1]:
                levels.add(d)
        return [pattern._replace(level=level) for level in sorted(levels)]


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
            offers[cell, int(problem.distances[site, cell]), service.share] += 1
    for (site, cell), possible in list(services.items()):
        d = int(problem.distances[site, cell])
        kept = tuple(service for service in possible if offers[cell, d, service.share] >= service.fewest)
        if kept:
            services[site, cell] = kept
        else:
            del services[site, cell]


def utilisations(problem: PlacementProblem, site: int, patterns: tuple[Pattern, ...]) -> Floats:
    """Utilisation of a site in each of its patterns (over all cells), as the evaluator computes it."""
    mix = np.zeros((len(patterns), problem.think_times.shape[1]), np.int64)
    mix[:, 0] = problem.demand[site]
    for number, pattern in enumerate(patterns):
        for cell, service in pattern.services:
            mix[number, problem.distances[site, cell] - 1] += service.share
    farthest = np.array([pattern.farthest for pattern in patterns])
    report = report_service(problem, farthest, mix, np.full(len(patterns), site))
    return np.nan_to_num(report.utilisation)
