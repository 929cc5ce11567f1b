"""Random queues with robots that are switched: instances of kind "threshold"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..data import DIGITS, check_ranges, draw_law
from ..instance import Instance

#: Weights of the example in section 7 of Avrachenkov et al. (2011).
WEIGHTS = {"loss_rate": 5, "obsolescence_rate": 10, "response_time": 2, "active_robots": 20, "starvation": 300}


@dataclass(frozen=True)
class ThresholdGenerator:
    """Draw queues like the example of Avrachenkov et al. (2011): correlated batches, phase-type service and patience.

    The mean time of service is 1. Robots of all modes are driven by one chain, and more robots bring more pages.

    Parameters
    ----------
    modes
        Number of modes: 1, 2, ..., this many robots.
    capacity
        Largest number of pages in the system, the one in service included.
    phases, service_phases
        Number of phases of the chain that drives arrivals, and of service; the mean service time is always 1.
    patience_phases
        Number of phases of the time for which a waiting page is worth indexing; 0: pages never go out of date.
    patience_law
        ``"phase-type"``: drawn at random; ``"erlang"``: a chain of equal phases, nearly constant times;
        ``"hyperexponential"``: a mixture of short and long times.
    patience
        Mean patience, in mean times of service.
    largest_batch
        Largest number of pages that robots bring at once.
    load
        Pages that all robots together bring during a mean time of service.
    admission
        As in an instance file.
    seed
        Same options and seed: same instance.
    name
        Name of the instance.

    Examples
    --------
    >>> from optmodels.threshold import ThresholdGenerator
    >>> instance = ThresholdGenerator(modes=2, capacity=3).instance()
    >>> instance.name
    'threshold-2-k3-0'
    >>> instance.problem().queue.capacity
    3
    """

    modes: int = 4
    capacity: int = 10
    phases: int = 2
    service_phases: int = 2
    patience_phases: int = 1
    patience_law: Literal["phase-type", "erlang", "hyperexponential"] = "phase-type"
    patience: float = 5.0
    largest_batch: int = 3
    load: float = 2.0
    admission: Literal["partial", "whole-batch", "complete"] = "partial"
    seed: int = 0
    name: str | None = None

    kind: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        check_ranges(
            self,
            modes=(1, 100),
            capacity=(1, 1_000_000),
            phases=(1, 50),
            service_phases=(1, 50),
            patience_phases=(0, 20),
            largest_batch=(1, 1000),
            seed=(0, math.inf),
        )
        for option in ("patience", "load"):
            if not 1e-3 <= getattr(self, option) <= 1e3:
                raise ValueError(f"{option} must be between 0.001 and 1000, got {getattr(self, option)!r}.")

    def instance(self) -> Instance:
        """Draw service, patience, the chain of arrivals, then what each further robot brings."""
        rng = np.random.default_rng(self.seed)
        service = draw_law("phase-type", self.service_phases, 1.0, rng)
        patience = (
            draw_law(self.patience_law, self.patience_phases, self.patience, rng) if self.patience_phases else None
        )
        data = {
            "capacity": self.capacity,
            "service": service,
            "patience": patience,
            "modes": self._modes(rng),
            "admission": self.admission,
        }
        options = f"{self.modes} modes, patience {self.patience_law} of order {self.patience_phases}, seed {self.seed}"
        content = {
            "format": 1,
            "kind": self.kind,
            "name": self.name or f"threshold-{self.modes}-k{self.capacity}-{self.seed}",
            "source": f"optmodels generate threshold, {options}",
            "data": data,
            "cost": {"name": "weighted-sum", "weights": WEIGHTS},
        }
        return Instance.from_data(content)

    def _modes(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """One chain that moves by itself; in each of its phases every robot brings batches at a rate of its own."""
        moves = np.round(rng.uniform(0.05, 0.5, (self.phases, self.phases)), DIGITS)
        np.fill_diagonal(moves, 0.0)
        sizes = rng.dirichlet(np.ones(self.largest_batch))
        mean = float(np.arange(1, self.largest_batch + 1) @ sizes)
        rate = self.load / (self.modes * mean)  # of batches, for one robot
        batches = rate * rng.uniform(0.2, 1.8, (self.modes, self.phases, 1)) * sizes
        brought = np.maximum(np.round(np.cumsum(batches, axis=0), DIGITS), 10.0**-DIGITS)
        result = []
        for robots, rates in enumerate(brought, start=1):
            later = [np.diag(rates[:, size]) for size in range(self.largest_batch)]
            quiet = moves - np.diag(moves.sum(axis=1) + rates.sum(axis=1))
            blocks = [np.round(block, DIGITS).tolist() for block in (quiet, *later)]
            result.append({"robots": robots, "arrivals": blocks})
        return result
