"""Random days: instances of kind "staffing"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optmodels.instance import Instance


@dataclass(frozen=True)
class StaffingGenerator:
    """A day with one peak, and rates that scatter around it.

    Parameters
    ----------
    hours
        How many.
    peak
        Customers per hour at the busiest time, on average.
    most_servers
        In any hour.
    seed
        Same options and seed: same instance.
    """

    hours: int = 8
    peak: float = 40.0
    most_servers: int = 20
    seed: int = 0

    kind: ClassVar[str] = "staffing"

    def instance(self) -> Instance:
        """The instance of these options."""
        rng = np.random.default_rng(self.seed)
        day = [math.sin(math.pi * (hour + 0.5) / self.hours) for hour in range(self.hours)]
        data = {
            "arrival_rates": [round(float(self.peak * height * rng.uniform(0.8, 1.2)), 2) for height in day],
            "service_rate": 6.0,
            "wages": [1.0] * self.hours,
            "most_servers": self.most_servers,
            "max_waiting_probability": 0.3,
        }
        return Instance(format=1, kind=self.kind, name=f"staffing-{self.hours}-{self.seed}", data=data)
