"""Cost and limits of kind "robots": prices, limits as rows of a program, and which of them no policy keeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heuristics import BudgetSpent, Decision, Evaluation
from queueing import RobotQueue
from queueing.robots import MEASURES
from queueing.robots.fleet import RobotFleet, fleet_rates

from ..costs import (
    ROUNDING,
    CostFunction,
    CostLike,
    Limits,
    LimitsLike,
    Measures,
    WeightedSum,
    is_linear,
    linear_weights,
    price_of,
)
from ..data import OPTIONAL, REQUIRED, Constructed, LawLike, Takes, natural, plain
from ..errors import InstanceError, MissingField

if TYPE_CHECKING:
    from queueing import PhaseType
    from queueing.robots.fleet import Environment, EventMoves

    from .areas import Area
    from .data import ClassData, Control
    from .fleet import ControlledRobots
    from .linear_program import LinearLimit

Vector = NDArray[np.float64]
Actions = NDArray[np.int64]

#: Columns of `fleet_rates` by measure, and that of the time in which the server works.
COLUMNS, BUSY = {"starvation": 0, "loss_rate": 1, "active_robots": 2, "mean_length": 3}, 4

#: Measures that are means over time, and so costs of states: what exact methods take prices of.
PRICED = ("starvation", "loss_rate", "active_robots", "mean_length")

#: Prices that come to more than this with the fastest rate or the longest time are refused: products of them must be
#: numbers.
DEAREST = 1e250

#: Price of a measure e - 1 times its limit beyond it, in objectives: at 1, searches settle just beyond tight limits.
PENALTY = 10.0


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class PricedRobots(Constructed):
    """A problem of kind "robots", in one of its three forms: the base model, a fleet, areas that share robots.

    All have one list of fields, and each constructor makes the form that the fields ask for.
    """

    robots: Takes[int | None, int | None] = REQUIRED
    capacity: Takes[int | None, int] = OPTIONAL
    arrival_rate: Takes[float | None, float] = OPTIONAL
    travel_time: Takes[LawLike | None, PhaseType | None] = OPTIONAL
    service_rate: Takes[float | None, float] = OPTIONAL
    classes: Takes[Sequence[Mapping[str, Any] | ClassData] | None, tuple[ClassData, ...] | None] = OPTIONAL
    environment: Takes[Mapping[str, ArrayLike] | Environment | None, Environment | None] = OPTIONAL
    switching: Takes[str | None, Literal["one", "any"]] = OPTIONAL
    areas: Takes[Sequence[Mapping[str, Any] | Area] | None, tuple[Area, ...]] = OPTIONAL
    control: Takes[str | None, Control] = OPTIONAL
    name: str = "robots"
    cost: Takes[CostLike | None, CostFunction | None] = OPTIONAL
    limits: Takes[LimitsLike | None, Limits] = OPTIONAL

    kind: ClassVar[str] = "robots"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    #: What `describe` tells that is worth a column in a parameter study.
    summary_names: ClassVar[tuple[str, ...]] = ("relative_improvement", "robots_used")

    @classmethod
    def _class_of(cls, data: Mapping[str, Any]) -> type[Any]:
        if "areas" in data:
            from .areas import RobotAreasProblem

            return RobotAreasProblem
        from .fleet import RobotFleetProblem
        from .problem import RobotsProblem

        if issubclass(cls, RobotFleetProblem):  # which the base model is, too
            return cls
        more = {"classes", "travel_time", "environment"} & {*data} or plain(data.get("switching", "one")) != "one"
        return RobotFleetProblem if more else cls if issubclass(cls, RobotsProblem) else RobotsProblem

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Robots of classes and of areas are counted there; areas are objects of a file again."""
        left = {"robots"} if "classes" in given and given.get("robots") is None else set[str]()
        return {name: _as_data(plain(value)) for name, value in given.items() if name not in left}

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
            objective = math.nan if self.cost is None else price_of(self.cost, measures)
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


def _as_data(value: Any) -> Any:
    """Write areas that were kept as objects of a file."""
    if isinstance(value, list):
        return [one.to_data() if hasattr(one, "importance") else one for one in value]
    return value


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
        from queueing.robots.fleet import event_moves

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
    from .linear_program import LinearLimit

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


# -- prices ------------------------------------------------------------------------------------------------------------


def priced_cost(cost: CostFunction | None, *rates: float) -> CostFunction | None:
    """The cost with its defaults: a price on starvation is needed, losses cost 1 unless said.

    Parameters
    ----------
    cost
        Of the measures.
    rates
        Of the model: prices times rates, and times the longest times, must be numbers.
    """
    given = linear_weights(cost)
    if given is None:
        return cost
    weights = dict(given)
    highest = DEAREST / max(1.0, *rates, *(1.0 / rate for rate in rates))
    if "starvation" not in weights:
        raise MissingField("cost.weights.starvation", "the price of an idle server, a number above 0, is needed.")
    for name, weight in weights.items():
        place = f"cost.weights.{name}"
        if name == "starvation" and not weight > 0:
            raise InstanceError(place, weight, "the price of an idle server is a number above 0.")
        if weight < 0:
            raise InstanceError(place, weight, "prices are zero or more.")
        if weight > highest:
            raise InstanceError(place, weight, f"prices are {highest:g} at most where rates are as here.")
    if not isinstance(cost, WeightedSum):  # what it says is what it costs
        return cost
    return WeightedSum({"starvation": weights["starvation"], "loss_rate": 1.0} | weights)


def is_additive(cost: CostFunction | None) -> bool:
    """Whether a cost is a sum of prices of states: a weighted sum of measures that are means over time."""
    weights = linear_weights(cost)
    return weights is not None and all(weight == 0 or name in PRICED for name, weight in weights.items())


def refuse_unbounded(cost: CostFunction | None, limits: Limits) -> None:
    """Refuse what leaves the question open how many robots help."""
    if limits:
        rule = "with limits on measures the number of robots must be given."
        raise InstanceError("data.robots", None, rule)
    if not is_additive(cost):
        names = ", ".join(PRICED)
        rule = f"how many robots ever help is only known for a weighted sum of {names}; give their number."
        raise InstanceError("data.robots", None, rule)
    if not any((linear_weights(cost) or {}).get(name, 0) > 0 for name in PRICED[1:]):
        rule = "robots without end would help where only starvation has a price; give their number."
        raise InstanceError("data.robots", None, rule)


def state_costs(queue: RobotQueue, weights: Mapping[str, float]) -> Any:
    """Cost per unit of time by state, for these prices of measures."""
    return queue.cost(**of_states(weights))


def of_states(weights: Mapping[str, float]) -> dict[str, float]:
    """Prices of what is counted in states, as `RobotQueue.cost` and `fleet_cost` take them."""
    names = {"starvation": "starvation", "loss_rate": "loss_rate", "length": "mean_length", "robots": "active_robots"}
    return {price: weights.get(measure, 0.0) for price, measure in names.items()}
