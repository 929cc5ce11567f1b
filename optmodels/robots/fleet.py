"""Robots of one server in general: several classes, long journeys, a world that changes, several sent out at once.

As in the base model, which is a fleet of one class, robots bring pages to one indexing server, and after every arrival
and every service idle ones may be sent out. What is more is in `queueing.robots.fleet.model`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation, Oracle, interrupting
from heuristics.dynamic import Improvement
from queueing import RobotMeasures
from queueing.robots import PolicyStep
from queueing.robots.fleet import (
    FleetMeasures,
    FleetStep,
    RobotFleet,
    best_fleet_policy,
    chain_of,
    first_actions,
    fleet_cost,
    fleet_measures,
    fleet_step,
    keep_out,
    krylov,
    moves_of,
)

from ..costs import WeightedSum
from ..data import read_as
from ..errors import RequestError
from .data import MOST_STATES, QueueData
from .pricing import (
    Actions,
    Best,
    PricedRobots,
    Vector,
    control_of,
    of_states,
    priced_cost,
    refuse_unbounded,
    told_in_time,
)
from .space import RobotPolicies, SoughtPolicies
from .static import (
    BestStatic,
    Numbers,
    Search,
    all_numbers,
    balanced,
    best_fixed_numbers,
    is_exponential,
    judged_by_formula,
    relative_gain,
)
from .structure import habits

if TYPE_CHECKING:
    from heuristics.dynamic import Rule, Sweeps

    from .simulation import RobotsExperiment

#: Fields of the data of a queue with robots.
FIELDS = {*QueueData.model_fields}

#: Steps of policy iteration from the solution of a linear program, at most.
MOST_STEPS = 100

#: A policy of three robots and two pages that ends in one of two closed classes: most that there is to compile.
TWO_ENDS = (1, 1, 0, 0, 2, 0, 1, 0, 1, 1, 0, 0)


class ControlledRobots(PricedRobots):
    """Choose what is sent out in each state of robots that bring pages to one server.

    A decision has an entry for each state (q pages, robots by class and phase, environment), in the order of
    `queueing.robots.fleet.RobotFleet`; see `optmodels.robots.space.RobotPolicies`. Everything here is for robots of any
    sort; the base model has faster ways, and takes those instead.
    """

    if TYPE_CHECKING:

        @property
        def plan(self) -> QueueData: ...

    #: States up to which it is looked into whether a limit is beyond all policies.
    most_explained: ClassVar[int] = MOST_STATES

    #: The integer program contains limits, and what it claims may be less than policies are worth (see `.mip`).
    algebraic_limits: ClassVar[bool] = True
    model_mistakable: ClassVar[bool] = True

    #: What robots are that were sent, and what is done with them, in sentences.
    words: ClassVar[tuple[str, str]] = ("out", "send")

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: QueueData = read_as(QueueData, data)
        kept = {name: value for name, value in found if name in FIELDS}
        self._keep(plan=found, areas=None, control=None, **kept | {"classes": found.classes or None}, **beside)
        self._keep(cost=priced_cost(self.cost, *found.paces))
        if found.sorts[0].robots is None:
            refuse_unbounded(self.cost, self.limits)

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        return self.plan.to_data()

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def fleet(self) -> RobotFleet:
        """The robots, as many as there are or as ever help."""
        if self.plan.sorts[0].robots is not None:
            return self.plan.fleet(1)
        if isinstance(self._found, RequestError):
            raise self._found
        return self.plan.fleet(self._found)

    @cached_property
    def _found(self) -> int | RequestError:
        """How many robots are as good as any number, or why that was not found: whoever asks again need not wait."""
        try:
            return self.enough()
        except RequestError as failure:
            return failure

    @property
    def is_sought(self) -> bool:
        """Whether it is still to be found how many robots help."""
        return self.plan.sorts[0].robots is None and "fleet" not in vars(self)

    def enough(self) -> int:
        """Find how many robots are as good as any number."""
        with self.telling("given as many robots as help"):
            from .enough import enough_of_fleet

            return enough_of_fleet(self.plan, self.prices, interrupting.check)

    @cached_property
    def state_costs(self) -> Vector:
        """Cost per unit of time by state, where the cost is a sum of such."""
        return fleet_cost(self.fleet, **of_states(self.prices))

    @cached_property
    def _last(self) -> dict[str, Vector]:
        """Values of the last step of policy iteration, if there was one: iterations begin near them."""
        return {}

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

    # -- evaluating --------------------------------------------------------------------------------------------------

    def measures(self, decision: Decision) -> RobotMeasures:
        """Ask the fleet for the measures of a policy."""
        with self.telling("evaluated at this decision"):
            return fleet_measures(self.fleet, self.actions_of(decision), interrupting.check)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Compute all measures of a policy and their price."""
        return self.judge(self.measures(decision).scalars())

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a policy means, and what it gains over fixed numbers of robots; `details` tells the rest."""
        found = self.measures(decision)
        static = self.told_static
        return {
            "robots_used": sum(one.robots for one in self.fleet.classes),
            "best_static": None if static is None else static.to_data(),
            "relative_improvement": relative_gain(static, self.judge(found.scalars()).objective),
            **self.details(decision, found),
        }

    def details(self, decision: Decision, found: RobotMeasures) -> dict[str, Any]:
        """What else is told of a policy.

        Means of robots out and robots sent per unit of time by class, the estimated error of measures where they were
        iterated (a power of ten), and what `optmodels.robots.structure.habits` tells.
        """
        assert isinstance(found, FleetMeasures)
        return {
            "states": self.fleet.states,
            "robots_by_class": list(found.by_class),
            "error_estimate": _power_of_ten(found.error),
            **habits(self.fleet, self.actions_of(decision)),
        }

    def experiment(self, decision: Decision) -> RobotsExperiment:
        """Take a policy to be tried out event by event, see `optmodels.studies.simulating`."""
        from .simulation import experiment_of

        return experiment_of(self.name, self.fleet, self.actions_of(decision))

    def infeasibility(self) -> str | None:
        """Tell why no policy keeps the limits, if one of them is beyond all policies."""
        return self._infeasibility

    @cached_property
    def _infeasibility(self) -> str | None:
        # How many robots help is found inside the clock, before anything else.
        return told_in_time(self) if self.fleet.states <= self.most_explained else None

    # -- the integer program ------------------------------------------------------------------------------------------

    def algebraic_refusal(self) -> str | None:
        """Tell why the policies cannot be written as a linear program, with whole numbers if averages are limited."""
        from .mip import refuses

        return refuses(self)

    def to_pyomo(self) -> Any:
        """Write the program of occupation measures, see `optmodels.robots.mip`."""
        from .mip import build

        return build(self)

    def from_pyomo(self, model: Any) -> Decision:
        """Read the policy from a solved model; without limits, policy iteration decides where solvers' digits end."""
        from .mip import read

        decision = read(model)
        for _ in range(0 if self.limits else MOST_STEPS):
            step = self.policy_step(decision)
            if step.changes == 0:
                break
            decision = step.better
        return decision

    @property
    def objective_exact(self) -> bool:
        """Whether the model claims what decisions are worth: without limits they may have been improved."""
        return bool(self.limits)

    def begin_pyomo(self, oracle: Oracle[Any]) -> bool:
        """Search briefly for a policy that keeps the limits, and prove a bound."""
        from .mip import begin

        begin(self, oracle)
        return False

    def start_pyomo(self, model: Any, decision: Decision) -> None:
        """Give the variables of the model their values for a policy that keeps the limits."""
        from .mip import start

        start(self, model, decision)

    def almost_feasible(self, decision: Decision) -> bool:
        """Whether limits broken by a policy may be a solver's rounding: all may, where numbers lie far apart."""
        return bool(control_of(self).limits)

    def deciding_variables(self, model: Any, decision: Decision) -> Iterable[Any]:
        """Choices that make a policy what it is; decisions in other states do not matter."""
        from .mip import deciding

        return deciding(self, model, decision)

    # -- fixed numbers of robots --------------------------------------------------------------------------------------

    @cached_property
    def best_static(self) -> BestStatic | None:
        """The best fixed numbers found of the robots that there are; limits are not looked at."""
        return None if self.cost is None else best_fixed_numbers(self, lambda judged: judged.objective)

    @property
    def told_static(self) -> BestStatic | None:
        """The best fixed numbers, unless a search for them was begun and ended: none is begun anew to tell of them."""
        return None if "search" in vars(self) and "best_static" not in vars(self) else self.best_static

    @cached_property
    def search(self) -> Search:
        """The best fixed numbers so far, at first a guess."""
        return Search(balanced(self.fleet))

    def fixed_numbers(self) -> Iterable[Numbers]:
        """All numbers of robots of one class; of several, those that a search with limits ends with."""
        robots = [one.robots for one in self.fleet.classes]
        if len(robots) == 1:
            return (counts[0] for counts in all_numbers(robots))
        found = best_fixed_numbers(self, lambda judged: judged.penalised)
        return [] if found is None else [found.robots]

    def judge_fixed(self, counts: tuple[int, ...]) -> Evaluation:
        """What robots with exponential journeys achieve if so many of each class are always out."""
        return judged_by_formula(self, counts)

    def keeping(self, robots: Numbers) -> tuple[int, ...]:
        """The policy that keeps so many robots of each class out."""
        return self.decision_of(keep_out(self.fleet, (robots,) if isinstance(robots, int) else robots))

    # -- policies and values ------------------------------------------------------------------------------------------

    def actions_of(self, decision: Decision) -> Actions:
        """Take the actions of the fleet that a decision stands for."""
        return np.array(decision, dtype=np.int64) + self.space.shift

    def decision_of(self, actions: NDArray[Any]) -> tuple[int, ...]:
        """Take the decision that actions of the fleet, by state, stand for."""
        return tuple((actions.ravel() - self.space.shift).tolist())

    def best_for(self, cost: Vector) -> Best:
        """Find the best policy under a cost by state, limits not looked at."""
        wanted = cost.copy()
        wanted[: self.fleet.environments] = 0.0
        with self.telling("improved from policy to policy"):
            found = best_fleet_policy(self.fleet, wanted, pause=interrupting.check)
        return Best(found.actions, found.lower)

    def suggestions(self, rng: np.random.Generator) -> Iterable[Decision]:
        """The best fixed numbers of robots where they are soon found, and a guess."""
        static = self.best_static if is_exponential(self.fleet) else None
        if static is not None:
            yield self.keeping(static.robots)
        yield self.decision_of(first_actions(self.fleet))

    def first_policy(self, quick: bool = False) -> Decision:
        """A guess that lets robots bring what is served; quick: already improved."""
        self._last.clear()
        latest = first_actions(self.fleet)

        def keep(step: FleetStep) -> None:
            nonlocal latest
            latest, self._last["values"] = step.actions, step.values
            interrupting.check()

        if quick:
            try:
                with self.telling("improved from policy to policy"):
                    keep(best_fleet_policy(self.fleet, self.state_costs, watch=keep, pause=interrupting.check))
            except KeyboardInterrupt:
                interrupting.note()  # whoever asks next ends the run, and has the latest policy to tell
        return self.decision_of(latest)

    def policy_step(self, decision: Decision) -> Improvement:
        """Evaluate a policy, improve it, and bracket the least cost."""
        near, actions = self._last.get("values"), self.actions_of(decision)
        with self.telling("improved from policy to policy"):
            step = fleet_step(self.fleet, self.state_costs, actions, near=near, pause=interrupting.check)
        self._last["values"] = step.values
        return self.improvement(step, step.actions)

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

    def unsweepable(self, rule: Rule) -> str | None:
        """Why values cannot be iterated, if they cannot."""
        if rule == "paper":
            return "the paper's own iteration is for robots of one sort that are sent out one at a time."
        return self.unimprovable()

    def sweeps(self, rule: Rule) -> Sweeps:
        """Values by state after a decision."""
        from queueing.robots.fleet import greedy, sweep

        from .value_iteration import StateSweeps

        return StateSweeps(
            (self.fleet.states,),
            lambda values: sweep(self.fleet, self.state_costs, values),
            lambda values: self.decision_of(greedy(self.fleet, values)),
        )


class RobotFleetProblem(ControlledRobots):
    """Choose what is sent out in each state of a fleet.

    Parameters
    ----------
    robots, arrival_rate, travel_time
        How many robots of one sort there are, and pages that one brings per unit of time, or the law of a journey.
    classes
        Instead of these three: robots of several sorts, each with its own.
    capacity, service_rate
        K, most pages in the system, and pages that the server takes per unit of time.
    environment
        A Markov chain that sets the pace of robots.
    switching
        How many robots are sent out after an event, at most: ``"one"`` or ``"any"``.
    areas, control
        Of areas that share robots: the problem is then a `RobotAreasProblem`.
    name
        For the reader.
    cost
        Price of the measures; in a weighted sum losses cost 1 unless said. ``None``: there is nothing to minimise,
        decisions can only be evaluated.
    limits
        Limits on measures.

    References
    ----------
    J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM Sigmetrics*
    2001, *Performance Evaluation Review* 29 (1), 236-244, of which this is a generalisation.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.robots import RobotFleetProblem
    >>> problem = RobotFleetProblem(
    ...     robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, switching="any", cost={"starvation": 1.5}
    ... )
    >>> solve(problem, "policy-iteration").decision
    (2, 1, 0, 2, 1, 0, 1, 0, 0, 0, 0, 0)
    """

    most_explained: ClassVar[int] = 5_000

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations and steps need, those of large fleets too."""
        data = {"robots": 3, "capacity": 2, "arrival_rate": 1.0, "service_rate": 1.0, "switching": "any"}
        small = RobotFleetProblem.from_data(data, cost=WeightedSum({"starvation": 1.0}))
        small.first_policy(quick=True)
        small.describe(TWO_ENDS)
        small.policy_step(TWO_ENDS)
        chain = chain_of(moves_of(small.fleet), small.actions_of(TWO_ENDS))
        for matrix in (krylov.forward(chain, 1), krylov.backward(chain, 1)):
            solution, _, _ = krylov.solved(matrix, matrix.right, 0.1, 1)
            krylov.left_over(matrix, matrix.right, solution)


def _power_of_ten(error: float) -> float:
    """The next power of ten: the digits of an estimate say nothing."""
    return float(10.0 ** math.ceil(math.log10(error))) if error > 0 else 0.0
