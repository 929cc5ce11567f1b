"""Random queues with robots that are sent out one at a time: instances of kind "robots"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .instance import Instance


def _rounded(value: float) -> float:
    """Three digits: few enough to read."""
    return float(f"{value:.3g}")


@dataclass(frozen=True)
class RobotsGenerator:
    """Queues like those of Talim et al. (2001); the rate of service is 1.

    Parameters
    ----------
    robots
        N; 0: as many as ever help.
    capacity
        K: most pages in the system, the one in service included.
    load
        Pages that all robots together bring during a mean time of service, give or take a third; of one robot if their
        number is 0.
    gamma
        Price of starvation; ``None``: drawn around (K + 2)/K, at which arrivals should balance services.
    holding, activity
        Largest prices of a page in the system and of an active robot per unit of time; drawn between 0 and them.
    seed
        Same options and seed: same instance.
    name
        Of the instance.
    """

    robots: int = 20
    capacity: int = 10
    load: float = 1.5
    gamma: float | None = None
    holding: float = 0.0
    activity: float = 0.0
    seed: int = 0
    name: str | None = None

    kind: ClassVar[str] = "robots"

    def __post_init__(self) -> None:
        for option, least, most in (
            ("robots", 0, 1_000_000),
            ("capacity", 2, 1_000_000),
            ("holding", 0, 1e6),
            ("activity", 0, 1e6),
            ("seed", 0, math.inf),
        ):
            value = getattr(self, option)
            if not least <= value <= most:
                limit = f"{least} or more" if most == math.inf else f"between {least} and {most}"
                raise ValueError(f"{option} must be {limit}, got {value!r}.")
        if not 1e-3 <= self.load <= 1e3:
            raise ValueError(f"load must be between 0.001 and 1000, got {self.load!r}.")
        if self.gamma is not None and not 1e-6 <= self.gamma <= 1e6:
            raise ValueError(f"gamma must be between 1e-06 and 1000000.0, got {self.gamma!r}.")

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
        count = str(self.robots) if self.robots else "any"
        content = {
            "format": 1,
            "kind": self.kind,
            "name": self.name or f"robots-{count}-k{self.capacity}-{self.seed}",
            "source": f"optmodels generate robots, {count} robots, load {self.load}, seed {self.seed}",
            "data": {
                "robots": self.robots or None,
                "capacity": self.capacity,
                "arrival_rate": _rounded(rate),
                "service_rate": 1.0,
            },
            "cost": {"name": "weighted-sum", "weights": {name: weight for name, weight in weights.items() if weight}},
        }
        return Instance.from_data(content)
