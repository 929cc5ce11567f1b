"""A fixed number of active robots: which one is best, and strategy `static`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from heuristics import Oracle, Result
from heuristics.protocols import Problem
from queueing import RobotQueue, best_static, static_measures

from .robots_data import is_additive

if TYPE_CHECKING:
    from .robots import RobotsProblem

#: Numbers of robots looked at one by one, where prices other than of starvation and losses leave no shorter way.
MOST_LOOKED_AT = 100_000


@dataclass(frozen=True)
class BestStatic:
    """A fixed number of robots and what it costs."""

    robots: int
    objective: float

    def to_data(self) -> dict[str, Any]:
        """For ``extra``."""
        return asdict(self)


def best_fixed(problem: RobotsProblem, most: int | None) -> BestStatic | None:
    """The best fixed number of robots among 1, ..., `most`, or of all; ``None`` without a cost, or if not known."""
    queue, prices = problem.queue, problem.prices
    if problem.cost is None:
        return None
    if is_additive(problem.cost) and not any(prices.get(name, 0) for name in ("mean_length", "active_robots")):
        return _by_proposition(problem, most)
    best: BestStatic | None = None
    for robots in range(1, (most or MOST_LOOKED_AT) + 1):
        measures = static_measures(queue, robots).scalars()
        objective = problem.judge(measures).objective
        if best is None or objective < best.objective:
            best = BestStatic(robots, objective)
        if is_additive(problem.cost):
            # More robots mean more losses, longer queues and more robots: their price is a bound for all that follow.
            ahead = sum(weight * (measures[name] or 0.0) for name, weight in prices.items() if name != "starvation")
            if ahead >= best.objective:
                return best
    return best if most is not None else None


def _by_proposition(problem: RobotsProblem, most: int | None) -> BestStatic | None:
    """Costs fall, then rise with the number of robots (Proposition 3), so that the nearest within N is best there."""
    queue, prices = problem.queue, problem.prices
    if prices["loss_rate"] == 0:
        if most is None:
            return None  # the more the better
        robots = most
    else:
        robots = best_static(queue, prices["starvation"], prices["loss_rate"])
        robots = robots if most is None else min(most, robots)
    return BestStatic(robots, problem.judge(static_measures(queue, robots).scalars()).objective)


@runtime_checkable
class RobotControl(Problem, Protocol):
    """A problem of kind "robots"."""

    @property
    def queue(self) -> RobotQueue: ...
    @property
    def best_static(self) -> BestStatic | None: ...
    def decision_of(self, policy: Any) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Static:
    """The best fixed number of robots within N: nothing is proved about other policies.

    ``extra.best_static_unrestricted`` has the best number if there were any number of robots. With limits, or where
    costs are no sum of prices of states, every number is judged.
    """

    name: ClassVar[str] = "static"
    needs: ClassVar[type] = RobotControl
    deterministic: ClassVar[bool] = True

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Show the best, or all."""
        problem: RobotsProblem = oracle.problem
        static = problem.best_static
        counts = [static.robots] if static is not None else []
        if problem.limits or not is_additive(problem.cost):
            counts += [robots for robots in range(1, problem.queue.robots + 1) if robots not in counts]
        for robots in counts:
            oracle(problem.decision_of(problem.queue.base_stock(robots)))
        return oracle.result(extra={"static_robots": None if oracle.best is None else _kept(problem, oracle)})


def _kept(problem: RobotsProblem, oracle: Oracle[Any]) -> int:
    assert oracle.best is not None
    return int(problem.policy_of(oracle.best.decision)[-1].sum())
