"""Limits on measures of robots as rows of a program, which of them no policy keeps, and control under them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import BudgetSpent, Decision, interrupting
from queueing import best_policy
from queueing.robots.fleet import EventMoves, RobotFleet, best_fleet_policy, event_moves, fleet_of, fleet_rates

from ..costs import ROUNDING, Limits
from .linear_program import LinearLimit

if TYPE_CHECKING:
    from .fleet import RobotFleetProblem
    from .problem import RobotsProblem

Vector = NDArray[np.float64]
Actions = NDArray[np.int64]

#: Columns of `fleet_rates` by measure, and that of the time in which the server works.
COLUMNS, BUSY = {"starvation": 0, "loss_rate": 1, "active_robots": 2, "mean_length": 3}, 4


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


def control_of(problem: RobotsProblem | RobotFleetProblem) -> LimitedControl:
    """What there is to control."""
    if hasattr(problem, "queue"):
        queue = problem.queue
        fleet = fleet_of(queue.robots, queue.capacity, queue.arrival_rate, queue.service_rate)
        shape = queue.shape

        def best(cost: Vector) -> Best:
            found = best_policy(queue, np.ascontiguousarray(cost.reshape(shape)), pause=interrupting.check)
            return Best(found.policy.astype(np.int64).ravel(), found.lower)

        def decision(actions: Actions) -> Decision:
            return tuple(actions.tolist())

    else:
        fleet, decision = problem.fleet, problem.decision_of

        def best(cost: Vector) -> Best:
            wanted = cost.copy()
            wanted[: fleet.environments] = 0.0
            with problem._telling("improved from policy to policy"):
                found = best_fleet_policy(fleet, wanted, pause=interrupting.check)
            return Best(found.actions, found.lower)

    cost = np.zeros(fleet.states) if problem.unimprovable() else np.asarray(problem.state_costs, dtype=np.float64)
    return LimitedControl(fleet, cost.ravel().copy(), tuple(linear_limits(fleet, problem.limits)), best, decision)


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


def told_in_time(problem: Any) -> str | None:
    """What `why_infeasible` says, or nothing where time is over before."""
    try:
        return why_infeasible(problem) if problem.limits else None
    except BudgetSpent:
        return None


def why_infeasible(problem: Any) -> str | None:
    """A sentence if one limit alone is beyond every policy, proved by the bracket of the least value."""
    control = control_of(problem)
    for limit in control.limits:
        lower = control.best(limit.rates).lower
        scale = abs(limit.bound) or float(np.abs(limit.rates).max())
        if lower > limit.bound + ROUNDING * scale:
            return f"every policy has {limit.told}."
    return None
