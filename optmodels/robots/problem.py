"""When to send crawler robots out and when to keep them back: kind "robots".

Robots bring pages to one indexing server. After every arrival and every service one more robot may be activated, with
the numbers of pages and of active robots in view. Few robots starve the server, many fill the buffer, and pages are
lost. Find for every state what to do.

References
----------
.. [1] J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM
   Sigmetrics* 2001, *Performance Evaluation Review* 29 (1), 236-244.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation, interrupting
from heuristics.dynamic import Improvement, Rule, Sweeps
from queueing import RobotMeasures, RobotQueue, best_policy, policy_step
from queueing.robots import PolicyStep, curves, descend, first_policy, greedy, is_monotone, structure_of, sweep
from queueing.robots.fleet import FleetStep, RobotFleet, fleet_of

from ..costs import CostFunction, Limits, WeightedSum
from ..data import read_as
from ..errors import RequestError
from .data import MOST_STATES, AreasData, QueueData, RobotsData
from .enough import enough_of_queue
from .pricing import (
    PRICED,
    Actions,
    Best,
    PricedRobots,
    Vector,
    priced_cost,
    refuse_unbounded,
    state_costs,
    told_in_time,
)
from .simulation import RobotsExperiment, experiment_of
from .space import RobotPolicies, SoughtPolicies
from .static import BestStatic, Numbers, Search, best_fixed, given_up, is_soon_found, relative_gain
from .value_iteration import PaperSweeps, StateSweeps


class ControlledRobots(PricedRobots):
    """What problems of policies have in common: robots of one server are a fleet, those of the base model too.

    ``fleet`` is the fleet; `is_sought` says whether it is still to be found how many robots it has. ``state_costs`` has
    the cost per unit of time by state, and ``best_for(cost)`` the best policy under any such cost.
    """

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...
        @property
        def fleet(self) -> RobotFleet: ...
        @property
        def is_sought(self) -> bool: ...
        @property
        def state_costs(self) -> Vector: ...
        def measures(self, decision: Decision) -> RobotMeasures: ...
        def best_for(self, cost: Vector) -> Best: ...

    #: States up to which it is looked into whether a limit is beyond all policies.
    most_explained: ClassVar[int] = MOST_STATES

    #: What robots are that were sent, and what is done with them, in sentences.
    words: ClassVar[tuple[str, str]] = ("active", "activate")

    @cached_property
    def space(self) -> RobotPolicies:
        """Policies: an entry for each state."""
        return SoughtPolicies(self) if self.is_sought else RobotPolicies(self.fleet, self.words)

    def known_states(self) -> int | None:
        """Count the states; ``None`` while it was not found how many robots help."""
        return None if self.is_sought else self.fleet.states

    @contextmanager
    def telling(self, what: str) -> Iterator[None]:
        """Tell refusals of the work inside as a sentence about this problem."""
        try:
            yield
        except ValueError as refusal:
            raise RequestError(f"{self.name!r} cannot be {what}: {refusal}") from None

    def evaluate(self, decision: Decision) -> Evaluation:
        """Compute all measures of a policy and their price."""
        return self.judge(self.measures(decision).scalars())

    def experiment(self, decision: Decision) -> RobotsExperiment:
        """Take a policy to be tried out event by event, see `optmodels.studies.simulating`."""
        return experiment_of(self.name, self.fleet, self.actions_of(decision))

    def infeasibility(self) -> str | None:
        """Tell why no policy keeps the limits, if one of them is beyond all policies."""
        return self._infeasibility

    @cached_property
    def _infeasibility(self) -> str | None:
        # How many robots help is found inside the clock, before anything else.
        return told_in_time(self) if self.fleet.states <= self.most_explained else None

    def actions_of(self, decision: Decision) -> Actions:
        """Take the actions of the fleet that a decision stands for."""
        return np.array(decision, dtype=np.int64) + self.space.shift

    def decision_of(self, actions: NDArray[Any]) -> tuple[int, ...]:
        """Take the decision that actions of the fleet, by state, stand for."""
        return tuple((actions.ravel() - self.space.shift).tolist())

    def improvement(
        self, step: PolicyStep | FleetStep, actions: NDArray[Any], details: Callable[[], dict[str, Any]] = dict
    ) -> Improvement:
        """Tell a step of policy iteration from these actions, as strategies take it."""
        return Improvement(
            decision=self.decision_of(actions),
            better=self.decision_of(step.better),
            changes=step.changes,
            lower=step.lower,
            upper=step.upper,
            details=lambda: {"decision_gap": step.gap if math.isfinite(step.gap) else None, **details()},
        )


@dataclass(frozen=True, eq=False)
class RobotsProblem(ControlledRobots):
    """Choose in which states one more robot is activated.

    A decision has (K+1)(N+1) entries 0 or 1; entry q(N+1)+r is 1 if, when an event leaves q pages and r active robots,
    one more is activated.

    Parameters
    ----------
    name
        For the reader.
    robots
        N; ``None``: as many as ever help, found from the prices.
    capacity
        K: most pages in the system, the one in service included.
    arrival_rate, service_rate
        Pages that one active robot brings, and that the server takes, per unit of time.
    cost
        Price of the measures; in a weighted sum losses cost 1 unless said. ``None``: there is nothing to minimise,
        decisions can only be evaluated.
    limits
        Limits on measures.

    References
    ----------
    J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM Sigmetrics*
    2001, *Performance Evaluation Review* 29 (1), 236-244.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.costs import WeightedSum
    >>> from optmodels.robots import RobotsProblem
    >>> problem = RobotsProblem("two robots", 2, 3, 0.6, 1.0, WeightedSum({"starvation": 1.5}))
    >>> problem.space.length
    12
    >>> result = solve(problem, "policy-iteration")
    >>> result.decision
    (1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0)
    >>> round(result.objective, 6)
    0.333037
    """

    name: str
    robots: int | None
    capacity: int
    arrival_rate: float
    service_rate: float
    cost: CostFunction | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", priced_cost(self.cost, self.arrival_rate, self.service_rate))
        if self.robots is None:
            refuse_unbounded(self.cost, self.limits)

    # -- from and to files --------------------------------------------------------------------------------------------

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        *,
        name: str = "robots",
        cost: CostFunction | None = None,
        limits: Limits | None = None,
        folder: Path | None = None,
    ) -> PricedRobots:
        """Read the ``data`` of an instance file (`optmodels.robots.data` has the fields)."""
        found: QueueData | AreasData = read_as(RobotsData, data)
        if isinstance(found, AreasData):
            from .areas import RobotAreasProblem

            return RobotAreasProblem.of(found, name, cost, limits)
        if not found.is_base:
            from .fleet import RobotFleetProblem

            return RobotFleetProblem(name, found, cost, limits or Limits())
        rates = found.arrival_rate, found.service_rate
        return cls(name, found.robots, found.capacity, *rates, cost, limits or Limits())

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        return {
            "robots": self.robots,
            "capacity": self.capacity,
            "arrival_rate": self.arrival_rate,
            "service_rate": self.service_rate,
            "switching": "one",
        }

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def queue(self) -> RobotQueue:
        """The queue, with as many robots as there are or as ever help."""
        queue = RobotQueue(self.robots or 1, self.capacity, self.arrival_rate, self.service_rate)
        if self.robots is not None:
            return queue
        enough = enough_of_queue(queue, self.prices, interrupting.check)
        return RobotQueue(enough, self.capacity, self.arrival_rate, self.service_rate)

    @cached_property
    def fleet(self) -> RobotFleet:
        """The queue as a fleet of one class."""
        queue = self.queue
        return fleet_of(queue.robots, queue.capacity, queue.arrival_rate, queue.service_rate)

    @property
    def is_sought(self) -> bool:
        """Whether it is still to be found how many robots help."""
        return self.robots is None and "queue" not in vars(self)

    @cached_property
    def state_costs(self) -> NDArray[np.float64]:
        """Cost per unit of time by state, where the cost is a sum of such."""
        found: NDArray[np.float64] = state_costs(self.queue, self.prices)
        return found

    # -- judging ------------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations and steps of policy iteration need."""
        small = RobotsProblem("small", 2, 2, 1.0, 1.0, WeightedSum({"starvation": 1.0}))
        decision = small.first_policy(quick=True)
        small.evaluate(decision)
        small.policy_step(decision)
        small.policy_step((1, 0, 0, 1, 1, 0, 0, 0, 0))  # no falling curve, which is evaluated in another way

    def measures(self, decision: Decision) -> RobotMeasures:
        """Ask the queue for the measures of a policy."""
        with self.telling("evaluated at this decision"):
            return self.queue.measures(np.array(decision, dtype=np.int8))

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a policy means, and what it gains over a fixed number of robots.

        ``switching_curves`` has f_0 (after a departure) and f_1 (after an arrival) of the paper, by number of active
        robots before the event: one more is activated while the pages before the event are at most f. 0 in f_0 and -1
        in f_1 stand for never; ``None``: no such event. The relative improvement is (C_s - C) / C, with the best fixed
        number within N.
        """
        policy = self.policy_of(decision)
        objective = self.judge(self.measures(decision).scalars()).objective
        static, free = None, None
        if not given_up(self) and ("best_static" in vars(self) or is_soon_found(self)):
            static, free = self.best_static, self.best_static_unrestricted
        return {
            "robots_used": self.queue.robots,
            "switching_curves": switching_curves(policy),
            "best_static": None if static is None else static.to_data(),
            "best_static_unrestricted": None if free is None else free.to_data(),
            "relative_improvement": relative_gain(static, objective),
        }

    @cached_property
    def best_static(self) -> BestStatic | None:
        """The best fixed number of the robots that there are; limits are not looked at."""
        return best_fixed(self, self.queue.robots)

    @cached_property
    def search(self) -> Search:
        """The best fixed number so far, at first the one that balances arrivals and services."""
        return Search(min(self.queue.robots, max(1, round(self.queue.balanced))))

    @cached_property
    def best_static_unrestricted(self) -> BestStatic | None:
        """The best fixed number of robots, however many there are; ``None`` if that is not known."""
        return best_fixed(self, None)

    def fixed_numbers(self) -> Iterable[Numbers]:
        """All numbers of robots."""
        return range(1, self.queue.robots + 1)

    def keeping(self, robots: Numbers) -> tuple[int, ...]:
        """The policy that keeps so many robots active."""
        assert isinstance(robots, int)
        return self.decision_of(self.queue.base_stock(robots))

    # -- policies and values ------------------------------------------------------------------------------------------

    def policy_of(self, decision: Decision) -> NDArray[np.int8]:
        """A decision by queue length and number of active robots."""
        return np.array(decision, dtype=np.int8).reshape(self.queue.shape)

    def suggestions(self, rng: np.random.Generator) -> Iterable[Decision]:
        """The best fixed number of robots, as a policy."""
        static = self.best_static
        if static is not None:
            yield self.keeping(static.robots)

    def first_policy(self, quick: bool = False) -> Decision:
        """A guess around the best fixed number of robots, or that of balance if no cost says more; quick: improved."""
        queue = self.queue
        if self.unimprovable() is not None:
            return self.decision_of(queue.base_stock(min(queue.robots, max(1, round(queue.balanced)))))
        policy = first_policy(queue, self.state_costs)
        if quick:
            try:
                policy = descend(policy, queue.arrival_rate, queue.service_rate, self.state_costs, interrupting.check)
            except KeyboardInterrupt:
                interrupting.note()  # whoever asks next ends the run, and has a policy to tell
        return self.decision_of(policy)

    def policy_step(self, decision: Decision) -> Improvement:
        """Evaluate a policy, improve it, and bracket the least cost."""
        step = policy_step(self.queue, self.state_costs, self.policy_of(decision), interrupting.check)
        return self.improvement(step, step.policy, lambda: {"structure": structure(step.policy, step.values)})

    def unsweepable(self, rule: Rule) -> str | None:
        """Why values cannot be iterated, if they cannot."""
        if rule == "paper" and self.unimprovable() is None:
            others = {name for name in PRICED[2:] if self.prices.get(name, 0) != 0}
            if others or self.prices["loss_rate"] != 1:
                return "the paper's own iteration prices starvation, and losses at 1, and nothing else."
        return self.unimprovable()

    def sweeps(self, rule: Rule) -> Sweeps:
        """Values by state after a decision; with the rule of the paper, by its states."""
        if rule == "paper":
            return PaperSweeps(self)
        rates = self.queue.arrival_rate, self.queue.service_rate
        return StateSweeps(
            self.queue.shape,
            lambda values: sweep(*rates, self.state_costs, values),
            lambda values: self.decision_of(greedy(values)),
        )

    def best_for(self, cost: Vector) -> Best:
        """Find the best policy under a cost by state, limits not looked at."""
        grid = np.ascontiguousarray(cost.reshape(self.queue.shape))
        found = best_policy(self.queue, grid, pause=interrupting.check)
        return Best(found.policy.astype(np.int64).ravel(), found.lower)


def switching_curves(policy: NDArray[np.int8]) -> dict[str, Any]:
    r"""Give the curves of Talim et al. (2001), :math:`\pi(q, r, s) = 1(q \le f_s(r))`; ``monotone``: they say all."""
    departure, arrival = curves(policy)
    return {"departure": list(departure), "arrival": list(arrival), "monotone": is_monotone(policy)}


def structure(policy: NDArray[np.int8], values: NDArray[np.float64]) -> dict[str, Any]:
    """Tell whether the policy is a monotone switching curve, its values convex and supermodular; largest violations.

    Violations are parts of the span of values; below 1e-11 they are rounding.
    """
    found = structure_of(policy, values)
    return {
        "monotone_switching_curve": found.monotone,
        "convex_in_robots": found.convex,
        "supermodular": found.supermodular,
        "violations": {
            "switching": found.switching,
            "convexity": found.convexity,
            "supermodularity": found.supermodularity,
        },
    }
