"""Policies of a threshold queue, tried out event by event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queueing.simulation import interval_columns
from queueing.threshold.simulation import Seen, SimulatedQueue, Simulation, measures_of, replicate, settled, usual_time

from ..errors import RequestError, refusals, short

if TYPE_CHECKING:
    from .problem import ThresholdProblem

#: Times in the system that each replication keeps, of served pages and of those that went out of date, and how many
#: replications keep them.
SAMPLES, SAMPLED = 5000, 200

QUANTILES = (0.5, 0.9, 0.99)

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ThresholdExperiment:
    """A queue, and what is seen of it; the name of the problem is for sentences."""

    name: str
    queue: SimulatedQueue

    def usual_time(self, events: int, seed: int) -> float:
        """Return the units of time in which about so many events happen."""
        with refusals(f"{self.name!r} cannot be simulated"):
            return usual_time(self.queue, events, seed)

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """Yield one finished replication after another; ``None`` in between."""
        count, nothing = 0, np.zeros(0)
        with refusals(f"{self.name!r} cannot be simulated"):
            for one in replicate(self.queue, time=time, seed=seed, samples=SAMPLES):
                count += one is not None
                yield one if one is None or count <= SAMPLED else replace(one, served=nothing, obsolete=nothing)

    def measures(self, means: Vector) -> Mapping[str, float | None]:
        """Return all measures of the kind."""
        return measures_of(means, self.queue.robots_by_level)

    def occurrences(self, means: Vector) -> Mapping[str, tuple[float, float]]:
        """Return the measures that count pages, or happen once in a while: how often, among how many."""
        arrived, lost, obsolete, served = (float(value) for value in means[:4])
        starved = float(means[6]) * arrived  # arrivals see about this share of empty queues
        return {
            "arrival_rate": (arrived, 1.0),
            "active_robots": (arrived, 0.0),
            "mean_length": (arrived, 0.0),
            "loss": (lost, arrived),
            "loss_rate": (lost, 1.0),
            "obsolescence": (obsolete, arrived),
            "obsolescence_rate": (obsolete, 1.0),
            "obsolete_time": (obsolete, 0.0),
            "success": (served, arrived),
            "response_time": (served, 0.0),
            "sojourn_time": (served, 0.0),
            "starvation": (starved, arrived),
        }

    def settled(self, time: float) -> bool:
        """Tell whether a warm-up was long enough for the beginning to be forgotten."""
        return settled(self.queue, time)

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """Return the level probabilities, and quantiles of the times in the system."""
        seen = Simulation.of(self.queue, done)
        described: dict[str, Any] = {"level_probabilities": interval_columns(seen.level_probabilities())}
        for name, obsolete in (("response_time", False), ("obsolete_time", True)):
            quantiles = {str(share): seen.quantile(share, obsolete=obsolete) for share in QUANTILES}
            described[f"{name}_quantiles"] = {
                share: {"simulated": one.value, "half_width": one.half_width()} for share, one in quantiles.items()
            }
        return described


def experiment_of(problem: ThresholdProblem, decision: Any) -> ThresholdExperiment:
    """Return the queue of a problem under a policy; only its data are taken, nothing that evaluates."""
    if isinstance(decision, Mapping):
        raise RequestError(
            f"{short(decision)} cannot be simulated: only thresholds can, as a policy by state needs phases that the "
            "simulation does not follow; give thresholds."
        )
    queue = problem.queue
    with refusals(f"{problem.name!r} cannot be simulated"):
        return ThresholdExperiment(
            problem.name,
            SimulatedQueue(
                arrivals=[mode.arrivals.blocks for mode in queue.modes],
                service=queue.service,
                patience=queue.patience,
                thresholds=decision,
                capacity=queue.capacity,
                admission=queue.admission,
                robots=[mode.robots for mode in queue.modes],
            ),
        )
