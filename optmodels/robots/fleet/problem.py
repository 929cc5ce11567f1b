"""Fleets of robots: several classes, long journeys, a world that changes, several sent out at once; kind "robots".

As in `optmodels.robots`, robots bring pages to one indexing server, and after every arrival and every service idle ones
may be sent out. What is more is in `queueing.robots.fleet.model`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from heuristics import Decision, interrupting
from heuristics.dynamic import Improvement, Rule
from queueing import RobotQueue
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
    greedy,
    keep_out,
    krylov,
    mean_loads,
    moves_of,
    sweep,
)

from ...costs import CostFunction, Limits, WeightedSum
from ...data import read_as
from ..data import QueueData
from ..enough import enough_robots, twice_the_best_fixed
from ..pricing import Best, Vector, of_states, priced_cost, refuse_unbounded
from ..problem import ControlledRobots
from ..static import BestStatic, Numbers, Search, given_up, relative_gain
from ..value_iteration import StateSweeps
from .static import all_numbers, balanced, best_fixed_numbers, is_exponential
from .structure import habits

#: A policy of three robots and two pages that ends in one of two closed classes: most that there is to compile.
TWO_ENDS = (1, 1, 0, 0, 2, 0, 1, 0, 1, 1, 0, 0)


#: Numbers of pages times numbers of robots up to which it is looked for how many robots help, and states up to which
#: that is finished whatever the clock says.
MOST_SEARCHED, UNPAUSED_STATES = 100_000, 2_000


@dataclass(frozen=True, eq=False)
class RobotFleetProblem(ControlledRobots):
    """Choose what is sent out in each state of a fleet.

    A decision has an entry for each state (q pages, robots by class and phase, environment), in the order of
    `queueing.robots.fleet.RobotFleet`; see `optmodels.robots.space.RobotPolicies`.

    Parameters
    ----------
    name
        For the reader.
    plan
        The data.
    cost
        Price of the measures; in a weighted sum losses cost 1 unless said. ``None``: there is nothing to minimise,
        decisions can only be evaluated.
    limits
        Limits on measures.
    """

    name: str
    plan: QueueData
    cost: CostFunction | None = None
    limits: Limits = field(default_factory=Limits)

    most_explained: ClassVar[int] = 5_000
    words: ClassVar[tuple[str, str]] = ("out", "send")

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", priced_cost(self.cost, *self.plan.paces))
        if self.plan.sorts[0].robots is None:
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
    ) -> RobotFleetProblem:
        """Read the ``data`` of an instance file."""
        return cls(name=name, plan=read_as(QueueData, data), cost=cost, limits=limits or Limits())

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        return self.plan.to_data()

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def fleet(self) -> RobotFleet:
        """The fleet, with as many robots as there are or as ever help."""
        return self.plan.fleet(enough_of_fleet(self) if self.plan.sorts[0].robots is None else 1)

    @property
    def is_sought(self) -> bool:
        """Whether it is still to be found how many robots help."""
        return self.plan.sorts[0].robots is None and "fleet" not in vars(self)

    @cached_property
    def state_costs(self) -> Vector:
        """Cost per unit of time by state, where the cost is a sum of such."""
        return state_costs(self.fleet, self.prices)

    @cached_property
    def _last(self) -> dict[str, Vector]:
        """Values of the last step of policy iteration, if there was one: iterations begin near them."""
        return {}

    # -- judging ------------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations and steps need, those of large fleets too."""
        data = {"robots": 3, "capacity": 2, "arrival_rate": 1.0, "service_rate": 1.0, "switching": "any"}
        small = RobotFleetProblem("small", read_as(QueueData, data), WeightedSum({"starvation": 1.0}))
        small.first_policy(quick=True)
        small.describe(TWO_ENDS)
        small.policy_step(TWO_ENDS)
        chain = chain_of(moves_of(small.fleet), small.actions_of(TWO_ENDS))
        for matrix in (krylov.forward(chain, 1), krylov.backward(chain, 1)):
            solution, _, _ = krylov.solved(matrix, matrix.right, 0.1, 1)
            krylov.left_over(matrix, matrix.right, solution)

    def measures(self, decision: Decision) -> FleetMeasures:
        """Ask the fleet for the measures of a policy."""
        with self.telling("evaluated at this decision"):
            return fleet_measures(self.fleet, self.actions_of(decision), interrupting.check)

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a policy means, and what it gains over fixed numbers of robots.

        Means of robots out and robots sent per unit of time by class, the estimated error of measures where they were
        iterated (a power of ten), and what `optmodels.robots.fleet.structure.habits` tells.
        """
        found = self.measures(decision)
        objective, static = self.judge(found.scalars()).objective, None if given_up(self) else self.best_static
        return {
            "robots_used": sum(one.robots for one in self.fleet.classes),
            "states": self.fleet.states,
            "robots_by_class": list(found.by_class),
            "best_static": None if static is None else static.to_data(),
            "relative_improvement": relative_gain(static, objective),
            "error_estimate": _power_of_ten(found.error),
            **habits(self.fleet, self.actions_of(decision)),
        }

    @cached_property
    def best_static(self) -> BestStatic | None:
        """The best fixed numbers found of the robots that there are; limits are not looked at."""
        if self.cost is None:
            return None
        return best_fixed_numbers(self, lambda judged: judged.objective)

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

    def keeping(self, robots: Numbers) -> tuple[int, ...]:
        """The policy that keeps so many robots of each class out."""
        return self.decision_of(keep_out(self.fleet, (robots,) if isinstance(robots, int) else robots))

    # -- policies and values ------------------------------------------------------------------------------------------

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
        if not quick:
            return self.decision_of(first_actions(self.fleet))
        latest = first_actions(self.fleet)

        def keep(step: FleetStep) -> None:
            nonlocal latest
            latest, self._last["values"] = step.actions, step.values
            interrupting.check()

        try:
            with self.telling("improved from policy to policy"):
                keep(best_fleet_policy(self.fleet, self.state_costs, watch=keep, pause=interrupting.check))
        except KeyboardInterrupt:
            interrupting.note()  # whoever asks next ends the run, and has the latest policy to tell
        return self.decision_of(latest)

    def policy_step(self, decision: Decision) -> Improvement:
        """Evaluate a policy, improve it, and bracket the least cost."""
        with self.telling("improved from policy to policy"):
            step = fleet_step(
                self.fleet,
                self.state_costs,
                self.actions_of(decision),
                near=self._last.get("values"),
                pause=interrupting.check,
            )
        self._last["values"] = step.values
        return self.improvement(step, step.actions)

    def unsweepable(self, rule: Rule) -> str | None:
        """Why values cannot be iterated, if they cannot."""
        if rule == "paper":
            return "the paper's own iteration is for robots of one sort that are sent out one at a time."
        return self.unimprovable()

    def sweeps(self, rule: Rule) -> StateSweeps:
        """Values by state after a decision."""
        return StateSweeps(
            (self.fleet.states,),
            lambda values: sweep(self.fleet, self.state_costs, values),
            lambda values: self.decision_of(greedy(self.fleet, values)),
        )


def state_costs(fleet: RobotFleet, weights: Mapping[str, float]) -> Vector:
    """Cost per unit of time by state, for these prices of measures."""
    return fleet_cost(fleet, **of_states(weights))


def enough_of_fleet(problem: RobotFleetProblem) -> int:
    """How many robots of one class are as good as any number: as many as the best policy ever wants to have out."""
    plan = problem.plan

    def wanted(robots: int) -> int:
        fleet = plan.fleet(robots)
        costs = state_costs(fleet, problem.prices)
        pause = interrupting.check if fleet.states > UNPAUSED_STATES else (lambda: None)
        with problem.telling("given as many robots as help"):
            found = best_fleet_policy(fleet, costs, watch=lambda step: pause(), pause=pause)
        actions = found.actions.reshape(fleet.shape)
        out = fleet.robots_out.sum(axis=1)[np.newaxis, :, np.newaxis] + actions
        return int(out[actions > 0].max())

    # As a guess, journeys are exponential, and the world is what it is on average.
    small = plan.fleet(1)
    alike = RobotQueue(1, plan.capacity, float(mean_loads(small)[0]) * plan.service_rate, plan.service_rate)
    return enough_robots(plan.capacity, twice_the_best_fixed(alike, problem.prices), wanted, MOST_SEARCHED)


def _power_of_ten(error: float) -> float:
    """The next power of ten: the digits of an estimate say nothing."""
    return float(10.0 ** math.ceil(math.log10(error))) if error > 0 else 0.0
