"""What problems of routing have in common: servers, costs of gaps, and the price of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import NOTHING, Evaluation
from heuristics.routing import GapTable
from queueing import PhaseType
from queueing.routing import GapCosts, not_convex

from ..costs import CostFunction, Limits, is_linear, sole_price
from ..errors import RequestError
from .data import Routing

MEASURES = ("cost", "period")

#: Gaps up to which costs of services with phases are held to be convex, or on until this part of services is left, as
#: far as numbers fit; others are so by proof.
CHECKED, LEFT, MOST = 1000, 1e-50, 4_000_000


def _falls(law: PhaseType) -> bool:
    """Whether the density of a service falls for certain, as its derivative is nowhere positive in any phase."""
    return bool((law.generator @ law.exit_rates <= 0).all())


@dataclass(frozen=True, eq=False)
class PricedRouting:
    """What problems of routing have in common: servers, what gaps cost, and a price of that.

    Parameters
    ----------
    name
        For the reader.
    routing
        Servers, arrivals and application.
    cost
        Price of the measures; ``None``: the measure `cost`.
    limits
        Limits on measures.
    """

    name: str
    routing: Routing
    cost: CostFunction | None = None
    limits: Limits = field(default_factory=Limits)

    kind: ClassVar[str] = "routing"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    has_objective: ClassVar[bool] = True

    @property
    def servers(self) -> int:
        """How many there are."""
        return len(self.routing.servers)

    @property
    def costs(self) -> GapCosts:
        """What gaps cost, server by server."""
        return self.routing.costs

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return is_linear(self.cost)

    @property
    def scale(self) -> float | None:
        """Price of the measure `cost` where nothing else has one; ``None`` where something has."""
        return sole_price(self.cost, "cost")

    def gap_table(self, count: int) -> GapTable:
        """Prices of gaps up to `count`, slot for slot in units of the objective."""
        scale = self.scale or 1.0
        return GapTable(scale * self.cost_table(count), scale * self.costs.slopes, scale * self.costs.limits)

    def cost_table(self, count: int) -> NDArray[np.float64]:
        """Costs of gaps up to `count`, or a sentence where one is too large to count with."""
        try:
            return self.costs.table(count)
        except ValueError as refusal:
            raise RequestError(f"{self.name!r} needs costs of gaps up to {count}: {refusal}") from None

    def unpriced(self) -> str | None:
        """Why gaps do not price decisions, where something else than the measure `cost` has a price."""
        return None if self.scale is not None else "its cost is not the measure 'cost', or a multiple of it."

    @cached_property
    def not_convex(self) -> str | None:
        """Why costs of gaps are not convex, if they are not: services with phases may make them so."""
        if self.routing.application == "freshness" or self.routing.arrivals is None:
            return None
        laws = [server.service for server in self.routing.servers]
        doubtful = [m for m, law in enumerate(laws) if isinstance(law, PhaseType) and not _falls(law)]
        if not doubtful:
            return None
        count = CHECKED
        while True:
            table = self.costs.table(count)
            fault = not_convex(self.costs, count)
            lasting = [m for m in doubtful if table[m, -1] > LEFT * table[m, 0]]
            if fault is not None or not lasting:
                return fault
            if 2 * count * self.servers > MOST:
                return (
                    f"Costs of gaps must be convex, and services of server {lasting[0]} last too long to tell: after "
                    f"{count} slots {float(table[lasting[0], -1] / table[lasting[0], 0])!r} of those are left that "
                    "were after the first; give services that end earlier, or whose density falls."
                )
            count *= 2

    def judge(self, measures: Mapping[str, float | None], broken: Mapping[str, float] = NOTHING) -> Evaluation:
        """Price and broken limits of measures, beside what is broken already; undefined ones count as nothing."""
        known = {name: 0.0 if value is None else value for name, value in measures.items()}
        objective = known["cost"] if self.cost is None else self.cost(known)
        violations = {**broken, **self.limits.violations(measures)} if self.limits else broken
        return Evaluation(objective, violations, dict(measures))
