"""Policies of robots, tried out event by event: of one queue, or of several areas side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queueing import RobotQueue
from queueing.robots.fleet import RobotFleet
from queueing.robots.simulation import (
    SERVED,
    FleetSimulation,
    Seen,
    SimulatedFleet,
    drifting,
    measures_of,
    occurrences_of,
    replicate,
    resolution_of,
    usual_time,
)
from queueing.simulation import interval_columns

from ..errors import RequestError, refusals

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Areas are not tried out side by side unless told for how long, if one needs so many times the time of another.
FARTHEST = 1e4


@dataclass(frozen=True)
class RobotsExperiment:
    """A fleet under a policy, and what is seen of it; the name of the problem is for sentences."""

    name: str
    fleet: SimulatedFleet

    def usual_time(self, events: int, seed: int) -> float:
        """Units of time in which about so many events happen."""
        with refusals(f"{self.name!r} cannot be simulated"):
            return usual_time(self.fleet, events, seed)

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """One finished replication after another; ``None`` in between."""
        with refusals(f"{self.name!r} cannot be simulated"):
            yield from replicate(self.fleet, time=time, seed=seed)

    def measures(self, means: Vector) -> Mapping[str, float | None]:
        """All measures that are averages."""
        return measures_of(self.fleet, means)

    def occurrences(self, means: Vector) -> Mapping[str, tuple[float, float]]:
        """How often happened what measures rest on, and among how many."""
        return occurrences_of(self.fleet, means)

    def resolution(self, time: float) -> Mapping[str, float]:
        """What measures would differ by, had something most unusual happened once in so much time."""
        return resolution_of(self.fleet, time)

    def drifting(self, observations: Matrix) -> bool:
        """Whether averages are still on their way."""
        return drifting(self.fleet, observations)

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """Shares of the time by pages and by robots out of each class, and where policies lead to by chance."""
        seen = FleetSimulation.of(self.fleet, done)
        return {
            "level_probabilities": interval_columns(seen.level_probabilities()),
            "robots_by_class": interval_columns(seen.robots_by_class()),
            "robot_probabilities": [interval_columns(shares) for shares in seen.robot_probabilities()],
            "closed_classes": None if self.fleet.closed is None else self.fleet.closed.number,
            "shares_of_classes": seen.ends(),
        }


@dataclass(frozen=True)
class AreasExperiment:
    """Areas that have nothing to do with one another; ``None`` stands for one without robots, which starves."""

    name: str
    areas: tuple[SimulatedFleet | None, ...]

    @property
    def _parts(self) -> list[tuple[int, SimulatedFleet, slice]]:
        """Areas with robots: number, fleet, and where its observation stands."""
        found, start = [], 0
        for area, fleet in enumerate(self.areas):
            if fleet is not None:
                found.append((area, fleet, slice(start, start := fleet.layout.drift.stop + start)))
        return found

    def usual_time(self, events: int, seed: int) -> float:
        """Units of time in which about so many events happen in each area, or more."""
        with refusals(f"{self.name!r} cannot be simulated"):
            times = [usual_time(fleet, events, seed) for _, fleet, _ in self._parts] or [1.0]
        if max(times) > FARTHEST * min(times):
            raise RequestError(
                f"{self.name!r} cannot be simulated as usual: one of its areas needs {max(times):.3g} units of time, "
                f"another {min(times):.3g}, more than {FARTHEST:g} times less; give a time."
            )
        return max(times)

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """All areas in one replication after another, each with random numbers of its own; ``None`` in between."""
        running = [replicate(fleet, time=time, seed=(seed, area)) for area, fleet, _ in self._parts]
        while True:
            done: list[Seen] = []
            for area in running:
                with refusals(f"{self.name!r} cannot be simulated"):
                    while (one := next(area)) is None:
                        yield None
                done.append(one)
            observation = np.concatenate([np.zeros(0), *(one.observation for one in done)])
            yield Seen(observation, sum(one.events for one in done))

    def measures(self, means: Vector) -> Mapping[str, float | None]:
        """Sums over areas; times are those of all pages."""
        found = [measures_of(fleet, means[part]) for _, fleet, part in self._parts]
        served = [float(means[part][SERVED]) for _, _, part in self._parts]
        names = ("starvation", "loss_rate", "active_robots", "mean_length")
        told: dict[str, float | None] = {name: sum(one[name] or 0.0 for one in found) for name in names}
        told["starvation"] = (told["starvation"] or 0.0) + sum(fleet is None for fleet in self.areas)
        times = sum((one["response_time"] or 0.0) * count for one, count in zip(found, served, strict=True))
        return told | {"response_time": times / sum(served) if sum(served) > 0 else None}

    def occurrences(self, means: Vector) -> Mapping[str, tuple[float, float]]:
        """The least of all areas: sums rest on each of them."""
        found = [occurrences_of(fleet, means[part]) for _, fleet, part in self._parts]
        names = ("active_robots", "mean_length", "response_time")
        told = {name: (min((one[name][0] for one in found), default=0.0), 0.0) for name in names}
        for name in ("starvation", "loss_rate"):
            settled = all(one["mean_length"][0] > 0 for one in found)
            told[name] = sum(one[name][0] for one in found) * settled, float(settled) * (name == "loss_rate")
        return told

    def resolution(self, time: float) -> Mapping[str, float]:
        """What measures would differ by, had something most unusual happened once in each area in so much time."""
        found = [resolution_of(fleet, time) for _, fleet, _ in self._parts]
        return {name: sum(one[name] for one in found) for name in ("active_robots", "mean_length")}

    def drifting(self, observations: Matrix) -> bool:
        """Whether averages are still on their way in some area."""
        return any(drifting(fleet, observations[:, part]) for _, fleet, part in self._parts)

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """What is seen of each area."""
        told: list[dict[str, Any] | None] = [None] * len(self.areas)
        for area, fleet, part in self._parts:
            seen = [Seen(one.observation[part], 0) for one in done]
            measures = FleetSimulation.of(fleet, seen).measures()
            found = {name: {"simulated": one.value, "half_width": one.half_width()} for name, one in measures.items()}
            told[area] = {"measures": found, **RobotsExperiment(self.name, fleet).describe(seen)}
        return {"areas": told}


def experiment_of(name: str, fleet: RobotFleet, actions: ArrayLike) -> RobotsExperiment:
    """A fleet under a policy; only its data are taken, nothing that evaluates."""
    with refusals(f"{name!r} cannot be simulated"):
        return RobotsExperiment(name, SimulatedFleet(fleet, np.asarray(actions)))


def areas_experiment(name: str, queues: Sequence[tuple[RobotQueue, ArrayLike] | None]) -> AreasExperiment:
    """Queues under policies, side by side; ``None``: an area without robots."""
    found = (one and SimulatedFleet(one[0].fleet, np.asarray(one[1], dtype=np.int64)) for one in queues)
    return AreasExperiment(name, tuple(found))
