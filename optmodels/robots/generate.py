"""Random queues with robots that are sent out: instances of kind "robots"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..data import check_ranges, draw_law
from ..instance import Instance


def _rounded(value: float) -> float:
    """Three digits: few enough to read."""
    return float(f"{value:.3g}")


@dataclass(frozen=True)
class RobotsGenerator:
    """Draw queues like those of Talim et al. (2001); the rate of service is 1.

    Parameters
    ----------
    robots
        N, the number of robots of all classes; 0: as many as are useful.
    capacity
        K, the largest number of pages in the system, the one in service included.
    load
        Pages that all robots together bring during a mean time of service, give or take a third; of one robot if their
        number is 0.
    gamma
        Price of starvation; ``None``: drawn around (K + 2)/K, at which arrivals should balance services.
    holding, activity
        Largest prices of a page in the system and of an active robot per unit of time; drawn between 0 and them.
    classes
        Number of classes of robots, some up to seven times as fast as others.
    phases
        Number of phases of a journey; equal ones if any number of robots may be sent out, else drawn at random.
    environment
        Number of states of the environment that modulates the robots' rates; 1: it never changes.
    switching
        Whether ``"one"`` robot at a time may be sent out, or ``"any"`` number.
    seed
        Same options and seed: same instance.
    name
        Name of the instance.

    Examples
    --------
    >>> from optmodels.robots import RobotsGenerator
    >>> instance = RobotsGenerator(robots=3, capacity=4).instance()
    >>> instance.name
    'robots-3-k4-0'
    >>> instance.data["capacity"]
    4
    """

    robots: int = 20
    capacity: int = 10
    load: float = 1.5
    gamma: float | None = None
    holding: float = 0.0
    activity: float = 0.0
    classes: int = 1
    phases: int = 1
    environment: int = 1
    switching: Literal["one", "any"] = "one"
    seed: int = 0
    name: str | None = None

    kind: ClassVar[str] = "robots"

    def __post_init__(self) -> None:
        check_ranges(
            self,
            robots=(0, 1_000_000),
            capacity=(2, 1_000_000),
            holding=(0, 1e6),
            activity=(0, 1e6),
            classes=(1, 20),
            phases=(1, 20),
            environment=(1, 100),
            seed=(0, math.inf),
        )
        if not 1e-3 <= self.load <= 1e3:
            raise ValueError(f"load must be between 0.001 and 1000, got {self.load!r}.")
        if self.gamma is not None and not 1e-6 <= self.gamma <= 1e6:
            raise ValueError(f"gamma must be between 1e-06 and 1000000.0, got {self.gamma!r}.")
        if 0 < self.robots < self.classes:
            raise ValueError(f"robots must be as many as classes at least, got {self.robots} and {self.classes}.")
        if self.robots == 0 and max(self.classes, self.phases, self.environment) > 1:
            raise ValueError("robots must be 1 or more with several classes, phases or states of the environment.")

    def instance(self) -> Instance:
        """Draw the rate of a robot, then prices."""
        rng = np.random.default_rng(self.seed)
        rate = self.load / max(self.robots, 1) * float(rng.uniform(2 / 3, 4 / 3))
        gamma = (self.capacity + 2) / self.capacity * float(np.exp(rng.uniform(-1.0, 1.0)))
        weights = {
            "starvation": _rounded(gamma) if self.gamma is None else self.gamma,
            "loss_rate": 1,
            "mean_length": _rounded(self.holding * float(rng.uniform())),
            "active_robots": _rounded(self.activity * float(rng.uniform())),
        }
        data = self._robots(rate, rng) | {"capacity": self.capacity, "service_rate": 1.0}
        if self.environment > 1:
            data["environment"] = self._environment(rate, rng)
        if self.switching != "one":
            data["switching"] = self.switching
        count = str(self.robots) if self.robots else "any"
        content = {
            "format": 1,
            "kind": self.kind,
            "name": self.name or f"robots-{count}-k{self.capacity}-{self.seed}",
            "source": f"optmodels generate robots, {count} robots, load {self.load}, seed {self.seed}",
            "data": data,
            "cost": {"name": "weighted-sum", "weights": {name: weight for name, weight in weights.items() if weight}},
        }
        return Instance.from_data(content)

    def _robots(self, rate: float, rng: np.random.Generator) -> dict[str, Any]:
        """Robots and journeys at the top, or by class; the rates of classes are `rate` on average."""
        if self.classes == 1:
            return {"robots": self.robots or None} | self._journey(rate, rng)
        speeds = np.exp(rng.uniform(-1.0, 1.0, self.classes))
        counts = np.full(self.classes, self.robots // self.classes)
        counts[: self.robots % self.classes] += 1
        speeds *= rate * self.robots / float(counts @ speeds)
        pairs = zip(counts.tolist(), speeds.tolist(), strict=True)
        return {"classes": [{"robots": count} | self._journey(speed, rng) for count, speed in pairs]}

    def _journey(self, rate: float, rng: np.random.Generator) -> dict[str, Any]:
        if self.phases == 1:
            return {"arrival_rate": _rounded(rate)}
        law = "erlang" if self.switching == "any" else "phase-type"
        return {"travel_time": draw_law(law, self.phases, 1.0 / rate, rng)}

    def _environment(self, rate: float, rng: np.random.Generator) -> dict[str, Any]:
        """Changes are about as rare as journeys of one robot; paces are 1 on average, give or take."""
        moves = np.array(
            [[_rounded(rate * value) for value in row] for row in rng.uniform(0.1, 1.0, (self.environment,) * 2)]
        )
        np.fill_diagonal(moves, 0.0)
        np.fill_diagonal(moves, -moves.sum(axis=1))
        return {
            "generator": moves.tolist(),
            "factors": [_rounded(value) for value in rng.uniform(0.3, 1.7, self.environment)],
        }
