"""Cost and limits of kind "robots": prices, limits as rows of a program, and which of them no policy keeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import BudgetSpent, Decision, Evaluation
from queueing.robots import MEASURES
from queueing.robots.fleet import EventMoves, RobotFleet, event_moves, fleet_rates

from ..costs import ROUNDING, CostFunction, Limits, Measures, is_linear, linear_weights
from .data import PRICED, is_additive
from .linear_program import LinearLimit

if TYPE_CHECKING:
    from .problem import ControlledRobots

Vector = NDArray[np.float64]
Actions = NDArray[np.int64]

#: Columns of `fleet_rates` by measure, and that of the time in which the server works.
COLUMNS, BUSY = {"starvation": 0, "loss_rate": 1, "active_robots": 2, "mean_length": 3}, 4

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


# -- limits ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Best:
    """The best policy under some cost by state, and a lower bound of its average."""

    actions: Actions
    lower: float


@dataclass(frozen=True, eq=False)
class LimitedControl:
    """Robots of one server as programs and searches see them: a fleet, which those of the base model are, too.

    ``best(cost)`` is the best policy under a cost by state, limits not looked at; ``decision(actions)`` what stands for
    a policy in a file.
    """

    fleet: RobotFleet
    cost: Vector
    limits: tuple[LinearLimit, ...]
    best: Callable[[Vector], Best]
    decision: Callable[[Actions], Decision]

    @cached_property
    def moves(self) -> EventMoves:
        """The moves of the fleet as matrices."""
        return event_moves(self.fleet)

    def priced(self, prices: Vector) -> Best:
        """The best policy where limits have prices in the place of bounds."""
        total = self.cost.copy()
        for price, limit in zip(prices, self.limits, strict=True):
            total += price * limit.rates
        return self.best(total)

    def bounds(self, prices: Vector) -> tuple[float, float]:
        """What prices of limits prove: no policy, randomised or not, that keeps the limits costs less.

        The first number is for limits that are kept to the letter; the second lets them be missed by rounding, which
        counts as kept, and is lower by what that may save.
        """
        exact = self.priced(prices).lower - math.fsum(
            price * limit.bound for price, limit in zip(prices, self.limits, strict=True)
        )
        return exact, exact - math.fsum(price * limit.slack for price, limit in zip(prices, self.limits, strict=True))


def control_of(problem: ControlledRobots) -> LimitedControl:
    """Take what there is to control."""
    fleet = problem.fleet
    cost = np.zeros(fleet.states) if problem.unimprovable() else np.asarray(problem.state_costs, dtype=np.float64)
    limits = tuple(linear_limits(fleet, problem.limits))
    return LimitedControl(fleet, cost.ravel().copy(), limits, problem.best_for, problem.decision_of)


def linear_limits(fleet: RobotFleet, limits: Limits) -> Iterator[LinearLimit]:
    """Limits as costs of states whose average must not exceed a number; those on the range of robots are left out.

    A limit W on the response time L / (mu B), with B the share of time at work, is one on the average of L - W mu B.
    """
    if not limits:
        return
    rates = fleet_rates(fleet)
    rates[:, : fleet.environments] = 0.0  # no states
    for name, limit in limits.by_measure.items():
        for sign, bound, side in ((1.0, limit.maximum, "above"), (-1.0, limit.minimum, "below")):
            if not math.isfinite(bound):
                continue
            told = f"{name} {side} {bound:g}"
            if name in COLUMNS:
                yield LinearLimit(told, sign * rates[COLUMNS[name]], sign * bound, ROUNDING * abs(bound))
            elif name == "response_time":
                length, busy = rates[COLUMNS["mean_length"]], rates[BUSY]
                slack = ROUNDING * abs(bound) * fleet.service_rate
                yield LinearLimit(told, sign * (length - bound * fleet.service_rate * busy), 0.0, slack)


def told_in_time(problem: ControlledRobots) -> str | None:
    """What `why_infeasible` says, or nothing where time is over before."""
    try:
        return why_infeasible(problem) if problem.limits else None
    except BudgetSpent:
        return None


def why_infeasible(problem: ControlledRobots) -> str | None:
    """A sentence if one limit alone is beyond every policy, proved by the bracket of the least value."""
    control = control_of(problem)
    for limit in control.limits:
        lower = control.best(limit.rates).lower
        scale = abs(limit.bound) or float(np.abs(limit.rates).max())
        if lower > limit.bound + ROUNDING * scale:
            return f"every policy has {limit.told}."
    return None
