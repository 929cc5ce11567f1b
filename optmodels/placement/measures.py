"""How well the sites of a placement serve: who goes where, capacities, the service of each site, and all measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from queueing import FiniteSourceQueue, capacity_by_distance
from queueing import placement as queues  # what it offers is loaded when used

from ..costs import ROUNDING
from .geometry.fixed import CLOSED, OPEN

if TYPE_CHECKING:
    from .problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MEASURES = (
    "opening",
    "operating",
    "open_sites",
    "mean_distance",
    "worst_throughput",
    "worst_delay_probability",
    "mean_delay",
)


@njit(cache=True)
def assign(
    is_open: NDArray[np.uint8], ranks: Ints, levels: Ints, demand: Ints, most: int
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    r"""Send every client to the nearest open sites, ties shared equally and rounded up.

    Parameters
    ----------
    is_open
        0 or 1 per site.
    ranks
        Per cell and site, from 1: the smallest are the nearest sites of the cell. Where distances are steps from 1,
        they are.
    levels
        Per site and cell, from 1: the largest is that of the farthest clients of a site. Where distances are steps from
        1, they are.
    demand
        Clients per cell.
    most
        The largest of the levels.

    Returns
    -------
    nearest, ties
        Per cell: rank of its nearest open sites (0 if none is open) and how many there are.
    load, farthest
        Per site: clients, and the level of the farthest (0 without clients).
    mix
        Per site and level (from 1): clients at that level.

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
    >>> demand = np.array([4, 5, 6])
    >>> nearest, ties, load, farthest, mix = assign(np.array([1, 0, 1], np.uint8), distances, distances, demand, 3)
    >>> load, farthest
    (array([7, 0, 9]), array([2, 0, 2]))
    """
    cells, sites = len(demand), len(is_open)
    nearest = np.zeros(cells, np.int64)
    ties = np.zeros(cells, np.int64)
    load = np.zeros(sites, np.int64)
    farthest = np.zeros(sites, np.int64)
    mix = np.zeros((sites, most), np.int64)
    open_sites = np.flatnonzero(is_open)
    tied = np.zeros(sites, np.int64)
    for cell in range(cells):
        d, count = np.iinfo(np.int64).max, 0
        for site in open_sites:
            there = ranks[cell, site]
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
            level = levels[site, cell]
            load[site] += share
            mix[site, level - 1] += share
            farthest[site] = max(farthest[site], level)
    return nearest, ties, load, farthest, mix


class PlacementMeasures(Mapping[str, float | None]):
    """The measures of one placement, computed when they are read.

    Searches evaluate many thousands of placements by their opening costs alone and keep what they evaluated, so nothing
    but the placement itself is held here until a measure of the queues is asked for.
    """

    def __init__(self, problem: PlacementProblem, is_open: NDArray[np.uint8], nearest: NDArray[Any]) -> None:
        self._problem, self._is_open = problem, is_open
        self._known: dict[str, float | None] = {
            "opening": float(np.dot(problem.opening_cost, is_open)),
            "open_sites": float(is_open.sum()),
            "mean_distance": mean_distance(problem.demand, nearest) if is_open.any() else None,
        }
        if problem.operating_cost is None:
            self._known["operating"] = 0.0

    def __getitem__(self, name: str) -> float | None:
        if name not in MEASURES:
            raise KeyError(name)
        if name not in self._known:
            self._known |= self._problem.report(self._is_open).measures(self._problem.operating_cost)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)

    def __contains__(self, name: object) -> bool:
        return name in MEASURES


def mean_distance(demand: Ints, nearest: NDArray[Any]) -> float | None:
    """Mean distance of all clients to their nearest open sites; ``None`` without clients."""
    clients = int(demand.sum())
    return float(np.dot(demand, nearest)) / clients if clients else None


class DefinedMeasures(Mapping[str, float]):
    """Measures of an infeasible placement for a cost: those that are not defined count 0."""

    def __init__(self, measures: Mapping[str, float | None]) -> None:
        self._measures = measures

    def __getitem__(self, name: str) -> float:
        return self._measures[name] or 0.0

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)


class ServiceReport(NamedTuple):
    """Service per site (``nan`` without clients): throughput and delay probability of the worst client there.

    ``requests`` is the rate at which a site answers and ``delay`` the mean time its requests spend there.
    """

    throughput: Floats
    delay_probability: Floats
    utilisation: Floats
    requests: Floats
    delay: Floats

    def measures(self, prices: Floats | None) -> dict[str, float | None]:
        """The measures of the queues, given the price of each site at full utilisation; ``None``: of no requests."""
        throughput, late = self.throughput, self.delay_probability
        total = np.nansum(self.requests)
        return {
            "operating": 0.0 if prices is None else float(np.dot(prices, np.nan_to_num(self.utilisation))),
            "worst_throughput": None if np.isnan(throughput).all() else float(np.nanmin(throughput)),
            "worst_delay_probability": None if np.isnan(late).all() else float(np.nanmax(late)),
            "mean_delay": float(np.nansum(self.requests * self.delay) / total) if total > 0 else None,
        }


class Server(NamedTuple):
    """A server, the think times of its clients by level, and where it stands (numbers of sites, or of crowds)."""

    rate: float
    processors: int
    curve: Floats
    places: NDArray[np.intp]
    tokens: tuple[int, float]  #: requests of a client, and the share of the first of its stations

    def queue(self, think_time: float) -> FiniteSourceQueue:
        """The server with clients that all think equally long."""
        return FiniteSourceQueue(self.rate, float(think_time), self.processors, *self.tokens)


def alike(problem: PlacementProblem, sites: NDArray[np.intp]) -> Iterator[Server]:
    """Group the places of a list of sites by their server and think times."""
    groups: dict[tuple[float, int, bytes], list[int]] = {}
    for place, site in enumerate(sites):
        key = (float(problem.service_rate[site]), int(problem.processors[site]), problem.think_times[site].tobytes())
        groups.setdefault(key, []).append(place)
    for (rate, processors, _), places in groups.items():
        curve, tokens = problem.think_times[sites[places[0]]], (problem.requests, problem.request_share)
        yield Server(rate, processors, curve, np.array(places, dtype=np.intp), tokens)


def capacities(problem: PlacementProblem) -> Ints:
    """Compute the largest load psi_j(l) of site j with its farthest client at level l: column l - 1."""
    table = np.zeros_like(problem.think_times, dtype=np.int64)
    for server in alike(problem, np.arange(problem.layout.sites)):
        psi = capacity_by_distance(
            server.rate,
            server.curve[np.isfinite(server.curve)].tolist(),
            server.processors,
            min_throughput=problem.quality.min_throughput or None,
            max_delay_probability=problem.quality.max_delay_probability,
            delay=problem.quality.delay,
            guarantee=problem.quality.guarantee,
            most=int(problem.demand.sum()),  # no site can have more: a capacity without end is cut there
            requests=problem.requests,
            request_share=problem.request_share,
        )
        table[server.places, : len(psi)] = psi
    table.setflags(write=False)
    return table


def infeasibility(problem: PlacementProblem) -> str | None:
    """Say why no placement can be feasible, in one sentence; ``None`` if all allowed sites together are one."""
    if problem.allowed.any() or not problem.demand.any():
        return _miscounted(problem)
    if not (problem.capacity[:, 0] > 0).any():
        where = "at distance 1" if problem.layout.stepwise else "of its nearest cell"
        return f"no server can meet the quality limits, not even for a single client {where}."
    for cell in np.argsort(-problem.demand, kind="stable"):
        if problem.demand[cell] > 0 and not _servable(problem, int(cell)):
            label = problem.layout.cell_label(int(cell))
            return (
                f"{label} has {problem.demand[cell]} clients, more than any site can take: "
                f"the largest capacity is {problem.capacity.max()}."
            )
    possible = openable(problem)
    for site in np.flatnonzero((problem.fixed == OPEN) & ~possible):
        if possible.any():
            return f"{problem.layout.label(int(site))} is fixed open, and overloaded even with all other sites open."
    others = " that are not fixed closed" if (problem.fixed == CLOSED).any() else ""
    return f"every site would be overloaded even with all other possible sites open{others}."


def assignment(problem: PlacementProblem, nearest: Ints, is_open: NDArray[np.uint8]) -> list[list[int]]:
    """List the sites that serve each cell, given the rank of its nearest open ones; none if it has no clients."""
    serves = (problem.layout.ranks == nearest[:, None]) & (is_open == 1) & (problem.demand[:, None] > 0)
    return [np.flatnonzero(row).tolist() for row in serves]


def openable(problem: PlacementProblem) -> NDArray[np.bool_]:
    """Sites that are not fixed closed, without those overloaded whatever else is open, see `allowed` of the problem."""
    found: NDArray[np.bool_] = problem.fixed != CLOSED
    while found.any():
        excess = problem._excess(found.astype(np.uint8))
        if not excess.any():
            break
        found &= excess == 0
    return found


def _miscounted(problem: PlacementProblem) -> str | None:
    """Say why the limits on the number of open sites cannot be kept, whatever else is; ``None`` if they may be."""
    fewest, most = problem.numbers
    possible, fixed = int(problem.allowed.sum()), int((problem.fixed == OPEN).sum())
    if possible < fewest * (1 - ROUNDING):
        return f"{possible} sites can be open, and the limits ask for {fewest:g} at least."
    if fixed > most * (1 + ROUNDING):
        return f"{fixed} sites are fixed open, and the limits allow {most:g} at most."
    return None


def _servable(problem: PlacementProblem, cell: int) -> bool:
    """Whether some set of equally distant sites could share the clients of `cell`, looking at nothing else."""
    ranks = problem.layout.ranks[cell]
    rooms = problem.capacity[np.arange(len(ranks)), problem.levels[:, cell] - 1]
    for rank in np.unique(ranks):
        room = np.sort(rooms[ranks == rank])[::-1]
        shares = -(-problem.demand[cell] // np.arange(1, len(room) + 1))
        if (room >= shares).any():
            return True
    return False


def report_service(
    problem: PlacementProblem, farthest: Ints, mix: Ints, sites: NDArray[np.intp] | None = None
) -> ServiceReport:
    """Evaluate the queue of every crowd of clients.

    With the guarantee ``"farthest"`` (the rule of Gautam, 2002) throughput and utilisation are those of all clients at
    the farthest distance, the delay probability that of all clients at distance 1. With ``"worst-case"`` all are exact
    for the mix of distances, and the worst client's values are given. Clients beyond the end of a think-time list get
    none.

    Parameters
    ----------
    problem
        The placement.
    farthest, mix
        Per crowd: level of the farthest client, 0 without any; clients at each level.
    sites
        The site of each crowd; by default crowd j is that of site j.

    Returns
    -------
    ServiceReport
        One entry for each crowd.
    """
    report = ServiceReport(*(np.full(len(farthest), np.nan) for _ in range(5)))
    served = np.flatnonzero(farthest > 0)
    report.utilisation[served] = 0.0
    for server in alike(problem, served if sites is None else sites[served]):
        here = server._replace(places=served[server.places])
        if problem.quality.guarantee == "farthest":
            _by_the_farthest(here, problem.quality.delay, farthest, mix, report)
        else:
            _by_the_mix(here, problem.quality.delay, mix[here.places], report)
    return report


def utilisation_table(problem: PlacementProblem) -> Floats:
    """Utilisation by site, farthest level and load, for the guarantee ``"farthest"``.

    Loads beyond the capacity count 1, a little too much, and so does the last column for all larger ones: a search
    must not gain by overloading a site.
    """
    most = int(problem.capacity.max())
    table = np.zeros((problem.layout.sites, problem.think_times.shape[1], most + 2))
    table[:, :, 1:] = np.arange(1, most + 2) > problem.capacity[:, :, None]
    for server in alike(problem, np.arange(problem.layout.sites)):
        group = server.places
        for far in np.flatnonzero(np.isfinite(server.curve)):
            queue = server.queue(server.curve[far])
            for load in range(1, int(problem.capacity[group, far].max()) + 1):
                table[group, far, load] = queue.utilisation(load)
    return table


def _by_the_farthest(server: Server, delay: float, farthest: Ints, mix: Ints, report: ServiceReport) -> None:
    @cache
    def service(clients: int, far: int) -> tuple[float, ...]:
        late = server.queue(server.curve[0]).delay_probability(clients, delay)
        if not np.isfinite(server.curve[far - 1]):
            return 0.0, late, 0.0, 0.0, 0.0
        queue = server.queue(server.curve[far - 1])
        each = queue.throughput_per_client(clients)
        return each, late, queue.utilisation(clients), clients * each, queue.mean_delay(clients)

    for place in server.places:
        _enter(report, place, service(int(mix[place].sum()), int(farthest[place])))


def _by_the_mix(server: Server, delay: float, mix: Ints, report: ServiceReport) -> None:
    """Evaluate crowds that share a server by the mix of distances, one row for each."""
    curve, places = server.curve, server.places
    reach = np.isfinite(curve) & (mix.sum(axis=0) > 0)[: len(curve)]
    counts = mix[:, reach]
    stranded = mix[:, ~np.isfinite(curve)].sum(axis=1) > 0
    if reach.any() and int(counts.sum(axis=1).max()) > queues.CLIENT_LIMIT:
        _by_the_worst_mix(server, delay, counts, curve[reach], report)
    elif reach.any():
        queue = queues.MixedSourceQueue(server.rate, tuple(curve[reach].tolist()), server.processors, *server.tokens)
        table = queue.measures_many(counts, delay)
        assert table.delay_probability is not None
        present = counts > 0
        report.throughput[places] = np.where(present, table.throughput, np.inf).min(axis=1)
        report.delay_probability[places] = np.where(present, table.delay_probability, 0.0).max(axis=1)
        report.utilisation[places] = table.utilisation
        flow = np.where(present, counts * table.throughput, 0.0)
        total = report.requests[places] = flow.sum(axis=1)
        weighted = (flow * np.where(present, table.mean_delay, 0.0)).sum(axis=1)
        report.delay[places] = np.divide(weighted, total, out=np.zeros(len(places)), where=total > 0)
    report.throughput[places[stranded]] = 0.0
    report.delay_probability[places[stranded]] = 1.0


def _by_the_worst_mix(server: Server, delay: float, counts: Ints, curve: Floats, report: ServiceReport) -> None:
    """Crowds too large for the exact mix: the values of the worst mix of that size, which no client falls short of."""
    queue = server.queue(server.curve[0])
    for place, row in zip(server.places, counts, strict=True):
        clients = int(row.sum())
        if clients == 0:  # all of them are out of reach
            continue
        wait, late = queue.mean_delay(clients), queue.delay_probability(clients, delay)
        each = 1.0 / (float(curve[np.flatnonzero(row)[-1]]) + wait)
        requests = clients * queue.throughput_per_client(clients)
        _enter(report, place, (each, late, queue.utilisation(clients), requests, wait))


def _enter(report: ServiceReport, place: int, values: Sequence[float]) -> None:
    for column, value in zip(report, values, strict=True):
        column[place] = value
