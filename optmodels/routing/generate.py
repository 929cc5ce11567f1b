"""Random servers to route packets to: instances of kind "routing"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..data import check_ranges
from ..instance import Instance

# Digits of rates and weights: few enough to read.
_DIGITS = 4


@dataclass(frozen=True)
class RoutingGenerator:
    """Draw synthetic servers with lognormal rates, and packets that come one per unit of time on average.

    Parameters
    ----------
    servers
        Number of servers.
    spread
        Standard deviation of the logarithm of rates; 0: equal servers.
    load
        Packets per unit of time, divided by the total rate of all servers.
    application
        As in an instance file.
    weights
        ``"equal"``; ``"rates"``: equal to the rates; ``"drawn"``: lognormal, independent of the rates.
    arrivals
        ``"poisson"``, ``"deterministic"``, or ``"mmpp"``: Poisson with two rates, one four times the other,
        that alternate at random.
    service_phases
        1: exponential services; more: mixtures of exponential services of the same mean.
    period, max_period
        As in an instance file; 0: absent.
    seed
        Same options and seed: same instance.
    name
        Name of the instance.

    Examples
    --------
    >>> from optmodels.routing import RoutingGenerator
    >>> instance = RoutingGenerator(servers=2).instance()
    >>> instance.name
    'synthetic-loss-2-0'
    >>> len(instance.data["servers"])
    2
    """

    servers: int = 3
    spread: float = 1.0
    load: float = 0.5
    application: Literal["loss", "freshness"] = "loss"
    weights: Literal["equal", "rates", "drawn"] = "equal"
    arrivals: Literal["poisson", "deterministic", "mmpp"] = "poisson"
    service_phases: int = 1
    period: int = 0
    max_period: int = 0
    seed: int = 0
    name: str | None = None

    kind: ClassVar[str] = "routing"

    def __post_init__(self) -> None:
        check_ranges(
            self,
            servers=(1, 1000),
            spread=(0, 5),
            load=(1e-3, 1e3),
            service_phases=(1, 20),
            period=(0, 10_000),
            max_period=(0, 1000),
            seed=(0, math.inf),
        )

    @classmethod
    def contradiction(cls, options: Mapping[str, Any]) -> str | None:
        """Tell why these options contradict each other, if they do."""
        if options.get("period") and options.get("max_period"):
            return "the period is fixed; give period or max_period, not both."
        return None

    def instance(self) -> Instance:
        """Draw rates, then weights, then what mixtures are made of."""
        rng = np.random.default_rng(self.seed)
        rates = np.exp(rng.normal(0.0, self.spread, self.servers))
        rates /= self.load * rates.sum()
        weights = np.ones(self.servers) if self.weights == "equal" else rates
        if self.weights == "drawn":
            weights = np.exp(rng.normal(0.0, 1.0, self.servers))
        servers = [self._server(rate, weight, rng) for rate, weight in zip(rates, weights, strict=True)]
        data: dict[str, Any] = {"servers": servers, "arrivals": self._source(), "application": self.application}
        data |= {key: getattr(self, key) for key in ("period", "max_period") if getattr(self, key)}
        drawn = f"{self.servers} servers, spread {self.spread:g}, load {self.load:g}, seed {self.seed}"
        return Instance.from_data(
            {
                "format": 1,
                "kind": self.kind,
                "name": self.name or f"synthetic-{self.application}-{self.servers}-{self.seed}",
                "source": f"optmodels generate routing, synthetic: {drawn}",
                "data": data,
            }
        )

    def _server(self, rate: float, weight: float, rng: np.random.Generator) -> dict[str, Any]:
        """Write down a server: its rate, or a mixture of exponential services of the same mean."""
        entry: dict[str, Any]
        if self.service_phases == 1:
            entry = {"rate": _rounded(rate)}
        else:
            chances = rng.dirichlet(np.ones(self.service_phases))
            means = np.exp(rng.normal(0.0, 1.0, self.service_phases))
            means /= float(chances @ means) * rate
            chances = np.round(chances, _DIGITS)
            chances[-1] = round(1.0 - float(chances[:-1].sum()), _DIGITS)
            generator = np.diag([-_rounded(1.0 / mean) for mean in means]).tolist()
            entry = {"service": {"initial": chances.tolist(), "generator": generator}}
        return entry if self.weights == "equal" else entry | {"weight": _rounded(weight)}

    def _source(self) -> dict[str, Any]:
        """Write down the arrivals: one packet per unit of time on average."""
        if self.arrivals == "poisson":
            return {"law": "poisson", "rate": 1.0}
        if self.arrivals == "deterministic":
            return {"law": "deterministic", "interval": 1.0}
        return {"law": "mmpp", "generator": [[-0.1, 0.1], [0.1, -0.1]], "rates": [1.6, 0.4]}


def _rounded(value: float) -> float:
    """Round to a few significant digits."""
    return float(f"{value:.{_DIGITS}g}")
