r"""How to split crawler robots over areas of the web: kind "robots" with ``areas``.

Each area has its own server, queue and rates. Robots stay where they are sent: area a gets :math:`n_a` of them,
together N at most. Within an area they are all active all the time (``static``, an M/M/1/K queue), or the best
activation policy of [1]_ is used (``dynamic``). What areas cost, times their importance, adds up, and :math:`c_a(n)` is
found once for each area and number.

*As far as more robots help, costs fall by less and less*, so that giving the next robot to whoever gains most is
optimal (:mod:`heuristics.allocation.marginal_analysis`):

* Static. With :math:`\rho = n\lambda/\mu`, starvation is :math:`p_0 = 1/\sum_{i \le K} \rho^i`. It is convex in
  :math:`\rho` if :math:`E[X(X-1)] \le 2 E[X]^2` for the number of pages X, and that holds as :math:`E[X(X-1)]/2 =
  \sum_{i,j \ge 1} P(X \ge i+j) \le \sum_{i,j \ge 1} P(X \ge i) P(X \ge j)`: a truncated geometric law ages. The loss
  rate is :math:`n\lambda - \mu(1 - p_0)`, convex too. The mean length is not, and with a price on it costs bend after
  their minimum; before it they are convex if :math:`p_0` is convex as a function of the mean length, that is
  :math:`m^2 \kappa_2 + m \kappa_3 \ge \kappa_2^2` for mean and cumulants of X (equality at K = 1), seen on all grids
  tried.
* Dynamic. A page brought needs a robot active for :math:`1/\lambda` in the mean, is served for :math:`1/\mu` and ends
  as much starvation, so that no robots help unless :math:`h + r\mu/\lambda < \gamma` for the prices h, r,
  :math:`\gamma` of pages, robots and starvation; if so, one robot sent out only when the area is empty helps already.
  Beyond that no proof is known: in hundreds of thousands of random areas costs were convex
  (``benchmarks/search_areas_convexity.py``).

The strategy `marginal-analysis` relies on none of this: it has its own proof from the tables.

References
----------
.. [1] J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM
   Sigmetrics* 2001, *Performance Evaluation Review* 29 (1), 236-244.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation, Oracle, interrupting
from heuristics.allocation import least_split, total
from heuristics.spaces import Splits
from queueing import RobotMeasures, RobotQueue, best_policy, static_measures
from queueing.robots import Policy, PolicyStep

from ...costs import CostFunction, linear_weights, price_of
from ...data import read_as
from ...errors import InstanceError, MissingField
from ...registry import costs
from ..data import AreasData
from ..data import Control as Control
from ..pricing import PRICED, PricedRobots, is_additive, priced_cost, state_costs
from ..simulation import AreasExperiment, areas_experiment
from ..static import BestStatic, relative_gain
from ..structure import switching_curves

#: Additions up to which the best static split is told beside others.
MOST_ADDITIONS = 100_000_000

#: Most numbers of robots in areas that are written as an integer program.
MOST_CHOICES = 100_000

#: Splits that break limits by no more than this (`optmodels.costs.Limits.excess`) may be solvers' rounding.
ALMOST = 1e-6

#: Fields of robots that areas do not share.
FIELDS = ("capacity", "arrival_rate", "travel_time", "service_rate", "classes", "environment", "switching")

#: An area without robots.
NOTHING = RobotMeasures(1.0, 0.0, 0.0, 0.0, None, 0, 0)


@dataclass(frozen=True)
class Area:
    """A part of the web with its own server and queue, and rates of its own; see `queueing.RobotQueue`.

    Parameters
    ----------
    capacity
        K: most pages in its system, the one in service included.
    arrival_rate, service_rate
        Pages that one active robot brings, and that its server takes, per unit of time.
    importance
        Multiplies what the area costs.
    name
        For the reader; without one it is called by its place.
    """

    capacity: int
    arrival_rate: float
    service_rate: float
    importance: float = 1.0
    name: str | None = None

    def queue(self, robots: int) -> RobotQueue:
        """The queue with so many robots, one or more."""
        return RobotQueue(robots, self.capacity, self.arrival_rate, self.service_rate)

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Outcome:
    """What an area does with its robots, what that costs (importance included), and a lower bound of the least cost."""

    measures: RobotMeasures
    objective: float
    lower: float


class RobotAreasProblem(PricedRobots):
    """Choose how many of the robots each area gets.

    Parameters
    ----------
    robots
        N: how many there are.
    areas
        Where they may be sent.
    control
        What an area does with its robots: ``"dynamic"``, the best activation policy at these prices, or ``"static"``,
        all of them always active.
    capacity, arrival_rate, travel_time, service_rate, classes, environment, switching
        Left out: each area has its own capacity and rates, and the rest is of robots without areas.
    name
        For the reader.
    cost
        Weighted sum of starvation, losses (1 unless said), pages and active robots, the same prices in all areas.
        ``None``, only with static control: decisions can only be evaluated.
    limits
        Limits on the measures of all areas together. Policies within areas do not look at them.
    """

    #: The integer program contains limits, and costs of areas, however important they are.
    algebraic_limits: ClassVar[bool] = True
    algebraic_cost: ClassVar[bool] = True

    if TYPE_CHECKING:
        robots: int

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: AreasData = read_as(AreasData, data)
        self._keep(**dict.fromkeys(FIELDS), **beside)
        self._keep(robots=found.robots, areas=tuple(Area(**dict(one)) for one in found.areas), control=found.control)
        self._keep(cost=area_prices(self.cost, self.control, self.areas))

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        return {"robots": self.robots, "areas": [area.to_data() for area in self.areas], "control": self.control}

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def space(self) -> Splits:
        """Numbers of robots by area, all together at most N."""
        return Splits(len(self.areas), self.robots)

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures: no area is more important than another."""
        return all(area.importance == 1 for area in self.areas)

    @cached_property
    def _outcomes(self) -> dict[tuple[int, int, Control], Outcome]:
        return {}

    def outcome(self, area: int, robots: int, control: Control | None = None) -> Outcome:
        """What an area does with so many robots; found once."""
        control = control or self.control
        if robots and control == "dynamic":
            robots = min(robots, self._wanted(area))
        key = area, robots, control
        found = self._outcomes.get(key)
        if found is None:
            found = self._outcomes[key] = self._fixed(*key[:2]) if control == "static" else self._controlled(*key[:2])
        return found

    def _fixed(self, area: int, robots: int) -> Outcome:
        measures = static_measures(self.areas[area].queue(1), robots) if robots else NOTHING
        objective = self._price(area, measures)
        return Outcome(measures, objective, objective)

    def _controlled(self, area: int, robots: int) -> Outcome:
        if robots == 0:
            return self._fixed(area, 0)
        policy, lower = self._best(area, robots)
        measures = self.areas[area].queue(robots).measures(policy)
        objective = self._price(area, measures)
        return Outcome(measures, objective, min(max(self.areas[area].importance * lower, 0.0), objective))

    def _price(self, area: int, measures: RobotMeasures) -> float:
        return math.nan if self.cost is None else self.areas[area].importance * price_of(self.cost, measures.scalars())

    # -- policies within areas ----------------------------------------------------------------------------------------

    @cached_property
    def _largest(self) -> dict[int, PolicyStep]:
        return {}

    def _with_all(self, area: int) -> PolicyStep:
        """The best policy of an area that has all robots."""
        if area not in self._largest:
            queue = self.areas[area].queue(self.robots)
            self._largest[area] = best_policy(queue, state_costs(queue, self.prices), pause=interrupting.check)
        return self._largest[area]

    def _wanted(self, area: int) -> int:
        """Robots that the best policy with all of them ever asks for.

        It is a policy with so many robots, too, and more cannot do better than all: costs are the same from here on.
        """
        return 1 + int(np.flatnonzero(self._with_all(area).policy.any(axis=0))[-1])

    def _best(self, area: int, robots: int) -> tuple[Policy, float]:
        """The best policy of an area with so many robots, the same whatever was asked before, and a lower bound."""
        largest = self._with_all(area)
        policy: Policy = np.ascontiguousarray(largest.policy[:, : robots + 1])
        if robots == self._wanted(area):
            return policy, largest.lower
        policy[:, -1] = 0
        queue = self.areas[area].queue(robots)
        step = best_policy(queue, state_costs(queue, self.prices), policy, pause=interrupting.check)
        return step.policy, step.lower

    # -- evaluating --------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compile, before any clock starts, what the best policies of areas need; control may be another next time."""
        queue = Area(2, 1.0, 1.0).queue(2)
        queue.measures(best_policy(queue, queue.cost(1.0)).policy)

    def evaluate(self, decision: Decision) -> Evaluation:
        """The measures of all areas together, and what areas cost."""
        outcomes = [self.outcome(area, robots) for area, robots in enumerate(decision)]
        objective = math.fsum(one.objective for one in outcomes)
        return self.judge(_together([one.measures for one in outcomes]), objective)

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What each area does with its robots, and what is gained over the best split of robots that are always active.

        By area: ``objective``, its part of the objective; ``static_objective``, the same if all its robots were always
        active; with dynamic control the ``bracket`` of the least cost, and ``switching_curves`` as without areas.
        """
        objective = math.fsum(self.outcome(area, robots).objective for area, robots in enumerate(decision))
        static = self.best_static
        return {
            "areas": [self._told(area, robots) for area, robots in enumerate(decision)],
            "robots_used": sum(decision),
            "best_static": None if static is None else static.to_data(),
            "relative_improvement": relative_gain(static, objective),
        }

    def _told(self, area: int, robots: int) -> dict[str, Any]:
        found = self.outcome(area, robots)
        told = {
            "name": self.areas[area].name or f"area {area}",
            "robots": robots,
            "objective": found.objective,
            "static_objective": self.outcome(area, robots, "static").objective,
            "measures": found.measures.scalars(),
        }
        if self.control == "static":
            return told
        curves = None
        if robots:
            curves = switching_curves(self._best(area, min(robots, self._wanted(area)))[0])
        return told | {"bracket": [found.lower, found.objective], "switching_curves": curves}

    @cached_property
    def best_static(self) -> BestStatic | None:
        """The best split with all robots active, whatever the limits; ``None`` without a cost, or if too large."""
        if self.cost is None or len(self.areas) * (self.robots + 1) ** 2 > MOST_ADDITIONS:
            return None
        tables = self.costs("static")
        counts, _ = least_split(tables, self.robots)
        return BestStatic(counts, total(tables, counts))

    def costs(self, control: Control) -> list[NDArray[np.float64]]:
        """What each area costs with 0, 1, ..., N robots."""
        numbers, areas = range(self.robots + 1), range(len(self.areas))
        return [np.array([self.outcome(area, robots, control).objective for robots in numbers]) for area in areas]

    # -- for strategies -----------------------------------------------------------------------------------------------

    def suggestions(self, rng: np.random.Generator) -> Iterable[Decision]:
        """As many robots as balance arrivals and services in each area, or that in proportion."""
        balanced = np.array([area.queue(1).balanced for area in self.areas])
        yield self.space.repair((balanced * min(1.0, self.robots / balanced.sum())).tolist())

    def known_states(self) -> int:
        """How many numbers of robots there are in all areas: columns of a program."""
        return len(self.areas) * (self.robots + 1)

    @property
    def units(self) -> int:
        """Robots to hand out."""
        return self.robots

    @property
    def activities(self) -> int:
        """Areas that may get them."""
        return len(self.areas)

    def allocation_cost(self, activity: int, count: int) -> tuple[float, float]:
        """Lower and upper end of what an area costs at least with so many robots."""
        found = self.outcome(activity, count)
        return found.lower, found.objective

    def algebraic_refusal(self) -> str | None:
        """Tell why the split cannot be written as an integer program."""
        choices = self.known_states()
        if choices <= MOST_CHOICES:
            return None
        return (
            f"the model of {self.name!r} has {choices} numbers of robots in areas, and at most {MOST_CHOICES} are "
            "written; use marginal-analysis, or local-search under limits."
        )

    def to_pyomo(self) -> Any:
        """Write the split as a knapsack, see `optmodels.robots.areas.mip`."""
        from .mip import build

        return build(self)

    def from_pyomo(self, model: Any) -> Decision:
        """Read the split from a solved model."""
        from .mip import read

        return read(model)

    def begin_pyomo(self, oracle: Oracle[Any]) -> bool:
        """Show the split in proportion to what balances arrivals and services."""
        for decision in self.suggestions(np.random.default_rng(0)):
            oracle(decision)
        return False

    def start_pyomo(self, model: Any, decision: Decision) -> None:
        """Give the variables of the model their values for a split."""
        from .mip import start

        start(model, decision)

    def almost_feasible(self, decision: Decision) -> bool:
        """Whether the split breaks limits by no more than solvers take for rounding."""
        return self.limits.excess(self.evaluate(decision).measures) <= ALMOST

    def experiment(self, decision: Decision) -> AreasExperiment:
        """A split to be tried out event by event, see `optmodels.studies.simulating`."""
        found: list[tuple[RobotQueue, Policy] | None] = []
        for area, given in enumerate(decision):
            robots = min(given, self._wanted(area)) if given and self.control == "dynamic" else given
            if robots == 0:
                found.append(None)
                continue
            queue = self.areas[area].queue(robots)
            policy = queue.base_stock(robots) if self.control == "static" else self._best(area, robots)[0]
            found.append((queue, policy))
        return areas_experiment(self.name, found)


def _together(measures: Sequence[RobotMeasures]) -> dict[str, float | None]:
    """Measures of all areas: sums, and by Little's law the mean time in the system of pages that are not lost."""
    names = ("starvation", "loss_rate", "active_robots", "mean_length")
    found: dict[str, float | None] = {name: math.fsum(getattr(one, name) for one in measures) for name in names}
    served = math.fsum(one.mean_length / one.response_time for one in measures if one.response_time)
    length = found["mean_length"] or 0.0
    found["response_time"] = length / served if served > 0 else None
    found["fewest_robots"] = sum(one.fewest_robots for one in measures)
    found["most_robots"] = sum(one.most_robots for one in measures)
    return found


def area_prices(cost: CostFunction | None, control: Control, areas: Sequence[Area]) -> CostFunction | None:
    """The cost with its defaults, refused if what areas cost does not add up."""
    if cost is None:
        if control == "dynamic":
            raise MissingField("cost", "which policy is best in an area depends on its prices.")
        return None
    rule = f"costs of areas are added up, so that they are weighted sums of {', '.join(PRICED)}."
    weights = linear_weights(cost)
    if weights is None:
        raise InstanceError("cost.name", costs.name_of(type(cost)) or type(cost).__name__, rule)
    if not is_additive(cost):
        name, weight = next(item for item in weights.items() if item[1] != 0 and item[0] not in PRICED)
        raise InstanceError(f"cost.weights.{name}", weight, rule)
    return priced_cost(cost, *(rate for area in areas for rate in (area.arrival_rate, area.service_rate)))
