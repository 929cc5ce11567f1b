"""Measures of a placement: the service of each site, and the scalar measures, computed only if somebody reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from queueing import FiniteSourceQueue, MixedSourceQueue
from queueing.placement import CLIENT_LIMIT

if TYPE_CHECKING:
    from .problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MEASURES = ("opening", "operating", "open_sites", "worst_throughput", "worst_delay_probability", "mean_delay")


class PlacementMeasures(Mapping[str, float | None]):
    """Measures of one placement.

    Searches judge many thousands of placements by their opening costs alone and keep what they judged, so nothing but
    the placement itself is held here until a measure of the queues is asked for.
    """

    def __init__(self, problem: PlacementProblem, is_open: NDArray[np.uint8]) -> None:
        self._problem, self._is_open = problem, is_open
        self._known: dict[str, float | None] = {
            "opening": float(np.dot(problem.opening_cost, is_open)),
            "open_sites": float(is_open.sum()),
        }
        if problem.operating_cost is None:
            self._known["operating"] = 0.0

    def __getitem__(self, name: str) -> float | None:
        if name not in MEASURES:
            raise KeyError(name)
        if name not in self._known:
            report = self._problem.report(self._is_open)
            self._known |= {
                "operating": report.operating(self._problem.operating_cost),
                "worst_throughput": report.worst_throughput,
                "worst_delay_probability": report.worst_delay_probability,
                "mean_delay": report.mean_delay,
            }
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)

    def __contains__(self, name: object) -> bool:
        return name in MEASURES


class DefinedMeasures(Mapping[str, float]):
    """Measures of an infeasible placement for a cost: those that are not defined count 0."""

    def __init__(self, measures: PlacementMeasures) -> None:
        self._measures = measures

    def __getitem__(self, name: str) -> float:
        return self._measures[name] or 0.0

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)


@dataclass(frozen=True)
class ServiceReport:
    """Service per site (``nan`` without clients): throughput and delay probability of the worst client there.

    ``requests`` is the rate at which a site answers and ``delay`` the mean time its requests spend there.
    """

    throughput: Floats
    delay_probability: Floats
    utilisation: Floats
    requests: Floats
    delay: Floats

    @property
    def worst_throughput(self) -> float | None:
        """Least throughput of any client."""
        return None if np.isnan(self.throughput).all() else float(np.nanmin(self.throughput))

    @property
    def worst_delay_probability(self) -> float | None:
        """Largest probability of a long delay of any client."""
        return None if np.isnan(self.delay_probability).all() else float(np.nanmax(self.delay_probability))

    @property
    def mean_delay(self) -> float | None:
        """Mean time a request spends at its server, over all requests."""
        total = np.nansum(self.requests)
        return float(np.nansum(self.requests * self.delay) / total) if total > 0 else None

    def operating(self, prices: Floats | None) -> float:
        """Price of the utilisation of all sites."""
        return 0.0 if prices is None else float(np.dot(prices, np.nan_to_num(self.utilisation)))


def report_service(problem: PlacementProblem, farthest: Ints, mix: Ints) -> ServiceReport:
    """Evaluate the queue of every site with clients.

    With the guarantee ``"farthest"`` (the paper's rule) throughput and utilisation are those of all clients at the
    farthest distance, the delay probability that of all clients at distance 1. With ``"worst-case"`` all are exact for
    the mix of distances, and the worst client's values are given. Clients beyond the end of a think-time list get none.
    """
    sites = len(farthest)
    report = ServiceReport(*(np.full(sites, np.nan) for _ in range(5)))
    report.utilisation[:] = 0.0
    for group in alike(problem, np.flatnonzero(farthest > 0)):
        if problem.quality.guarantee == "farthest":
            _by_the_farthest(problem, group, farthest, mix, report)
        else:
            _by_the_mix(problem, group, mix, report)
    report.utilisation[farthest == 0] = np.nan
    return report


def alike(problem: PlacementProblem, sites: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Groups of sites with the same server and the same think times."""
    groups: dict[tuple[float, int, bytes], list[int]] = {}
    for site in sites:
        key = (float(problem.service_rate[site]), int(problem.processors[site]), problem.think_time[site].tobytes())
        groups.setdefault(key, []).append(int(site))
    for members in groups.values():
        yield np.array(members, dtype=np.intp)


def utilisation_table(problem: PlacementProblem) -> Floats:
    """Utilisation by site, farthest distance and load, for the guarantee ``"farthest"``.

    Loads beyond the capacity count 1, a little too much, and so does the last column for all larger ones: a search
    must not gain by overloading a site.
    """
    most = int(problem.capacity.max())
    table = np.zeros((problem.layout.sites, problem.think_time.shape[1], most + 2))
    table[:, :, 1:] = np.arange(1, most + 2) > problem.capacity[:, :, None]
    for group in alike(problem, np.arange(problem.layout.sites)):
        first = int(group[0])
        rate, processors = float(problem.service_rate[first]), int(problem.processors[first])
        for far, think in enumerate(problem.think_time[first]):
            if not np.isfinite(think):
                continue
            queue = FiniteSourceQueue(rate, float(think), processors)
            for load in range(1, int(problem.capacity[group, far].max()) + 1):
                table[group, far, load] = queue.utilisation(load)
    return table


def _by_the_farthest(
    problem: PlacementProblem, group: NDArray[np.intp], farthest: Ints, mix: Ints, report: ServiceReport
) -> None:
    first = int(group[0])
    rate, processors = float(problem.service_rate[first]), int(problem.processors[first])
    curve = problem.think_time[first]
    nearest = FiniteSourceQueue(rate, float(curve[0]), processors)
    known: dict[tuple[int, int], tuple[float, float, float, float, float]] = {}
    for site in group:
        clients, far = int(mix[site].sum()), int(farthest[site])
        if (clients, far) not in known:
            late = nearest.delay_probability(clients, problem.quality.delay)
            think = float(curve[far - 1])
            if np.isfinite(think):
                queue = FiniteSourceQueue(rate, think, processors)
                each = queue.throughput_per_client(clients)
                known[clients, far] = (
                    each,
                    late,
                    queue.utilisation(clients),
                    clients * each,
                    queue.mean_delay(clients),
                )
            else:
                known[clients, far] = (0.0, late, 0.0, 0.0, 0.0)
        for column, value in zip(_columns(report), known[clients, far], strict=True):
            column[site] = value


def _by_the_mix(problem: PlacementProblem, group: NDArray[np.intp], mix: Ints, report: ServiceReport) -> None:
    first = int(group[0])
    curve = problem.think_time[first]
    reach = np.isfinite(curve) & (mix[group].sum(axis=0) > 0)[: len(curve)]
    counts = mix[group][:, reach]
    stranded = mix[group][:, ~np.isfinite(curve)].sum(axis=1) > 0
    rate, processors = float(problem.service_rate[first]), int(problem.processors[first])
    if not reach.any():
        pass
    elif int(counts.sum(axis=1).max()) > CLIENT_LIMIT:
        _by_the_worst_mix(problem, group, counts, curve[reach], report)
    else:
        queue = MixedSourceQueue(rate, tuple(curve[reach].tolist()), processors)
        _by_the_exact_mix(queue, problem.quality.delay, group, counts, report)
    report.throughput[group[stranded]] = 0.0
    report.delay_probability[group[stranded]] = 1.0


def _by_the_exact_mix(
    queue: MixedSourceQueue, delay: float, group: NDArray[np.intp], counts: Ints, report: ServiceReport
) -> None:
    table = queue.measures_many(counts, delay)
    assert table.delay_probability is not None
    present = counts > 0
    report.throughput[group] = np.where(present, table.throughput, np.inf).min(axis=1)
    report.delay_probability[group] = np.where(present, table.delay_probability, 0.0).max(axis=1)
    report.utilisation[group] = table.utilisation
    flow = np.where(present, counts * table.throughput, 0.0)
    report.requests[group] = flow.sum(axis=1)
    weighted = (flow * np.where(present, table.mean_delay, 0.0)).sum(axis=1)
    report.delay[group] = np.divide(
        weighted, report.requests[group], out=np.zeros(len(group)), where=flow.sum(axis=1) > 0
    )


def _by_the_worst_mix(
    problem: PlacementProblem, group: NDArray[np.intp], counts: Ints, curve: Floats, report: ServiceReport
) -> None:
    """Crowds too large for the exact mix: the values of the worst mix of that size, which no client falls short of."""
    first = int(group[0])
    queue = FiniteSourceQueue(
        float(problem.service_rate[first]), float(problem.think_time[first, 0]), int(problem.processors[first])
    )
    for site, row in zip(group, counts, strict=True):
        clients = int(row.sum())
        if clients == 0:  # all of them are out of reach
            continue
        delay = queue.mean_delay(clients)
        think = float(curve[np.flatnonzero(row)[-1]])
        report.throughput[site] = 1.0 / (think + delay)
        report.delay_probability[site] = queue.delay_probability(clients, problem.quality.delay)
        report.utilisation[site] = queue.utilisation(clients)
        report.requests[site] = clients * queue.throughput_per_client(clients)
        report.delay[site] = delay


def _columns(report: ServiceReport) -> tuple[Floats, ...]:
    return (report.throughput, report.delay_probability, report.utilisation, report.requests, report.delay)
