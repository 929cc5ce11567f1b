"""Policies of robots, tried out event by event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queueing.robots_fleet import RobotFleet
from queueing.robots_simulation import (
    FleetSimulation,
    Seen,
    SimulatedFleet,
    measures_of,
    occurrences_of,
    replicate,
    resolution_of,
    usual_time,
)
from queueing.simulation_intervals import Estimate

from .errors import RequestError

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RobotsExperiment:
    """A fleet under a policy, and what is seen of it; the name of the problem is for sentences."""

    name: str
    fleet: SimulatedFleet

    def usual_time(self, events: int, seed: int) -> float:
        """Units of time in which about so many events happen."""
        try:
            return usual_time(self.fleet, events, seed)
        except ValueError as refusal:
            raise RequestError(f"{self.name!r} cannot be simulated: {refusal}") from None

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """One finished replication after another; ``None`` in between."""
        try:
            yield from replicate(self.fleet, time=time, seed=seed)
        except ValueError as refusal:
            raise RequestError(f"{self.name!r} cannot be simulated: {refusal}") from None

    def measures(self, means: Vector) -> Mapping[str, float | None]:
        """All measures that are averages."""
        return measures_of(self.fleet, means)

    def occurrences(self, means: Vector) -> Mapping[str, tuple[float, float]]:
        """How often happened what measures rest on, and among how many."""
        return occurrences_of(self.fleet, means)

    def resolution(self, time: float) -> Mapping[str, float]:
        """What measures would differ by, had something most unusual happened once in so much time."""
        return resolution_of(self.fleet, time)

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """Shares of the time by pages and by robots out of each class, and where policies lead to by chance."""
        seen = FleetSimulation.of(self.fleet, done)
        return {
            "level_probabilities": _told(seen.level_probabilities()),
            "robots_by_class": _told(seen.robots_by_class()),
            "robot_probabilities": [_told(shares) for shares in seen.robot_probabilities()],
            "closed_classes": None if self.fleet.closed is None else self.fleet.closed.number,
            "shares_of_classes": seen.ends(),
        }


def experiment_of(name: str, fleet: RobotFleet, actions: ArrayLike) -> RobotsExperiment:
    """A fleet under a policy; only its data are taken, nothing that evaluates."""
    try:
        return RobotsExperiment(name, SimulatedFleet(fleet, np.asarray(actions)))
    except ValueError as refusal:
        raise RequestError(f"{name!r} cannot be simulated: {refusal}") from None


def _told(estimates: Sequence[Estimate]) -> dict[str, list[float | None]]:
    return {
        "simulated": [one.value for one in estimates],
        "half_width": [one.half_width() for one in estimates],
    }
