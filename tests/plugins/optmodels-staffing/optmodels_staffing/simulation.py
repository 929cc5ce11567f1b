"""Days of kind "staffing", tried out customer by customer; nothing of the evaluator is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import RequestError

if TYPE_CHECKING:
    from .problem import StaffingProblem


@dataclass(frozen=True)
class Seen:
    """What one replication saw, per hour of simulated time: customers, those who waited, their waits; hour by hour."""

    observation: NDArray[np.float64]
    events: int


@dataclass(frozen=True)
class StaffingExperiment:
    """A number of servers for each hour; every hour goes on until it is in its steady state, and is then watched."""

    arrival_rates: tuple[float, ...]
    service_rate: float
    servers: tuple[int, ...]

    def usual_time(self, events: int, seed: int) -> float:
        """Hours in which about so many customers come."""
        return events / sum(self.arrival_rates)

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """One finished replication after another, without end; ``None`` in between."""
        for stream in np.random.SeedSequence(seed).generate_state(2**16):
            rng = np.random.default_rng(int(stream))
            rows = []
            for rate, servers in zip(self.arrival_rates, self.servers, strict=True):
                rows.append(_watch(rate, self.service_rate, servers, time, rng))
                yield None
            yield Seen(np.concatenate(rows) / time, int(sum(row[0] for row in rows)))

    def measures(self, means: NDArray[np.float64]) -> Mapping[str, float | None]:
        """The measures that depend on chance."""
        customers, waited, waits = means.reshape(-1, 3).T
        return {
            "worst_waiting_probability": float((waited / customers).max()),
            "worst_mean_wait": float((waits / customers).max()),
        }

    def occurrences(self, means: NDArray[np.float64]) -> Mapping[str, tuple[float, float]]:
        """Those who waited in the worst hour, among all who came in it."""
        customers, waited, _ = means.reshape(-1, 3).T
        worst = int((waited / customers).argmax())
        return {"worst_waiting_probability": (float(waited[worst]), float(customers[worst]))}

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """The mean wait of each hour."""
        customers, _, waits = np.mean([seen.observation for seen in done], axis=0).reshape(-1, 3).T
        return {"mean_waits": (waits / customers).tolist()}


def experiment_of(problem: StaffingProblem, servers: tuple[int, ...]) -> StaffingExperiment:
    """Take the data of a problem, and refuse queues that have no steady state."""
    for hour, (rate, number) in enumerate(zip(problem.arrival_rates, servers, strict=True)):
        if rate >= number * problem.service_rate:
            raise RequestError(f"{problem.name!r} cannot be simulated so: in hour {hour} the queue grows for ever.")
    return StaffingExperiment(problem.arrival_rates, problem.service_rate, servers)


def _watch(
    rate: float, service_rate: float, servers: int, time: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Customers who come in so much time, how many of them wait, and how long; after a tenth of it as a warm-up."""
    begin, end = 0.1 * time, 1.1 * time
    arrivals = np.sort(rng.uniform(0.0, end, rng.poisson(rate * end)))
    services = rng.exponential(1.0 / service_rate, len(arrivals))
    free = [0.0] * servers
    heapify(free)
    customers, waited, waits = 0, 0, 0.0
    for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        start = max(arrival, free[0])
        heapreplace(free, start + service)
        if arrival >= begin:
            customers += 1
            waited += start > arrival
            waits += start - arrival
    return np.array([customers, waited, waits])
