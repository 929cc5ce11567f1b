"""Cost and limits of problems of kind "robots", whatever queue the robots feed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from heuristics import Evaluation
from queueing.robots import MEASURES

from ..costs import CostFunction, Limits, Measures, is_linear, linear_weights
from .data import PRICED, is_additive

#: Price of a measure e - 1 times its limit beyond it, in objectives: at 1, searches settle just beyond tight limits.
PENALTY = 10.0


class PricedRobots:
    """A problem whose ``cost`` and ``limits`` are those of kind "robots"."""

    if TYPE_CHECKING:

        @property
        def cost(self) -> CostFunction | None: ...
        @property
        def limits(self) -> Limits: ...

    kind: ClassVar[str] = "robots"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    #: What `describe` tells that is worth a column in a parameter study.
    summary_names: ClassVar[tuple[str, ...]] = ("relative_improvement", "robots_used")

    @property
    def has_objective(self) -> bool:
        """Whether there is something to minimise."""
        return self.cost is not None

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return is_linear(self.cost)

    @property
    def prices(self) -> Mapping[str, float]:
        """Weights of the measures; none if the cost is no weighted sum."""
        weights = linear_weights(self.cost)
        return {} if weights is None else {"starvation": 0.0, "loss_rate": 0.0} | dict(weights)

    def judge(self, measures: Measures, objective: float | None = None) -> Evaluation:
        """The price of measures, unless it is known already, and the limits they break."""
        violations = self.limits.violations(measures) if self.limits else {}
        if objective is None:
            objective = math.nan if self.cost is None else self.cost(measures)
        if not violations:
            return Evaluation(objective, measures=measures)
        if self.cost is None:
            return Evaluation(objective, violations, measures)
        return Evaluation(
            objective, violations, measures, PENALTY * (1.0 + abs(objective)) * self.limits.excess(measures)
        )

    def unimprovable(self) -> str | None:
        """Why exact methods cannot take the cost, if they cannot."""
        if is_additive(self.cost):
            return None
        return f"its cost is no weighted sum of {', '.join(PRICED)}, which alone are averages over states."
