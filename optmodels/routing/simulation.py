"""Words of routing, tried out packet by packet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queueing.routing.simulation import (
    RoutingSimulation,
    Seen,
    SimulatedRouting,
    fractions,
    losses,
    replicate,
    resolution_of,
    usual_time,
)
from queueing.simulation import interval_columns

from ..errors import RequestError, refusals

if TYPE_CHECKING:
    from heuristics import Decision

    from .problem import RoutingProblem

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RoutingExperiment:
    """Servers and packets, and what is seen of them; the name of the problem is for sentences."""

    name: str
    routing: SimulatedRouting
    freshness: bool

    def usual_time(self, events: int, seed: int) -> float:
        """Units of time in which about so many packets come."""
        return usual_time(self.routing, events)

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """One finished replication after another; ``None`` in between."""
        with refusals(f"{self.name!r} cannot be simulated"):
            yield from replicate(self.routing, time=time, seed=seed)

    def measures(self, means: Vector) -> Mapping[str, float | None]:
        """All measures of the kind."""
        seen = fractions(self.routing, means) if self.freshness else losses(means)
        return {"cost": float(self.routing.prices @ seen), "period": float(len(self.routing.word))}

    def occurrences(self, means: Vector) -> Mapping[str, tuple[float, float]]:
        """Packets lost, among all; or how many came, which ends as many times out of date."""
        packets = float(means[0])
        if self.freshness:
            return {"cost": (packets, 0.0)}
        count = len(self.routing.services)
        among = packets if bool((self.routing.prices == 1).all()) else 0.0
        return {"cost": (float(means[2 : 2 + count].sum()), among)}

    def resolution(self, time: float) -> Mapping[str, float]:
        """What the cost would differ by, had one thing more happened at a server that hardly sees any."""
        return {"cost": resolution_of(self.routing, time, freshness=self.freshness)}

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """Losses per packet, or fractions of time out of date, by server."""
        seen = RoutingSimulation.of(self.routing, done)
        found = seen.obsolescence_by_server() if self.freshness else seen.losses_by_server()
        return {"obsolescence_by_server" if self.freshness else "losses_by_server": interval_columns(found)}


def experiment_of(problem: RoutingProblem, decision: Decision) -> RoutingExperiment:
    """Set up the servers of a problem and packets sent as decided; only data are used, nothing that evaluates."""
    routing = problem.routing
    if routing.arrivals is None:
        raise RequestError(f"{problem.name!r} cannot be simulated: it has costs of gaps, and no packets that come.")
    services = [server.service for server in routing.servers if server.service is not None]
    weights = np.array([server.weight for server in routing.servers])
    with refusals(f"{problem.name!r} cannot be simulated"):
        simulated = SimulatedRouting(services, routing.arrivals, np.array(decision, dtype=np.int64), weights)
    return RoutingExperiment(problem.name, simulated, routing.application == "freshness")
