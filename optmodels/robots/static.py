"""A fixed number of active robots: which one is best, and strategy `static`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heuristics import BudgetSpent, Evaluation, Oracle, Problem, Result, interrupting
from queueing import RobotQueue, best_static, static_measures
from queueing.robots import MEASURES, static_shares

from .pricing import is_additive

if TYPE_CHECKING:
    from .problem import RobotsProblem

#: Numbers of robots looked at, however many there are, where prices other than of starvation and losses leave no
#: shorter way; those judged one by one to tell of them; and most numbers in a table.
MOST_LOOKED_AT, MOST_ONE_BY_ONE, MOST_NUMBERS = 100_000, 10_000, 5_000_000

#: How many robots are always active: a number, or one for each class of them.
Numbers: TypeAlias = int | tuple[int, ...]


@dataclass(frozen=True)
class BestStatic:
    """A fixed number of robots, or one of each class, and what it costs."""

    robots: Numbers
    objective: float

    def to_data(self) -> dict[str, Any]:
        """For ``extra``."""
        return {"robots": told(self.robots), "objective": self.objective}


@dataclass
class Search:
    """The best of the fixed numbers looked at so far, at first a guess: the answer of whoever has to end the search."""

    best: Numbers
    order: tuple[float, float] = (math.inf, math.inf)

    def note(self, robots: Numbers, judged: Evaluation) -> None:
        """Keep these numbers if they break limits by less than those before, or by as much at a lower cost."""
        order = judged.violation, judged.objective
        if order < self.order:
            self.best, self.order = robots, order


def given_up(problem: Any) -> bool:
    """Whether the search for the best fixed numbers was begun and ended: nobody who tells of a policy begins anew."""
    return "search" in vars(problem) and "best_static" not in vars(problem)


def relative_gain(static: BestStatic | None, objective: float) -> float | None:
    """Relate what a decision gains over the best fixed numbers to its cost: (C_s - C) / C."""
    return (static.objective - objective) / objective if static is not None and objective > 0 else None


def told(robots: Numbers) -> Any:
    """Numbers of robots as JSON has them."""
    return robots if isinstance(robots, int) else list(robots)


def best_fixed(problem: RobotsProblem, most: int | None) -> BestStatic | None:
    """The best fixed number of robots among 1, ..., `most`, or of all; ``None`` without a cost, or if not known."""
    prices = problem.prices
    if problem.cost is None:
        return None
    if is_additive(problem.cost) and not any(prices.get(name, 0) for name in ("mean_length", "active_robots")):
        return _by_proposition(problem, most)
    if most is None and not is_additive(problem.cost):
        return None  # nothing would bound what is not looked at
    if set(prices) - set(MEASURES) or not prices:
        assert most is not None
        return _one_by_one(problem, most)
    return _at_once(problem, most)


def is_soon_found(problem: RobotsProblem) -> bool:
    """Whether the best fixed number is found without a look at a clock."""
    by_formula = bool(problem.prices) and not set(problem.prices) - set(MEASURES)
    return by_formula or problem.queue.robots <= MOST_ONE_BY_ONE


def _at_once(problem: RobotsProblem, most: int | None) -> BestStatic | None:
    """The cheapest number, stretch by stretch, each by one formula for all numbers in it."""
    queue, prices = problem.queue, problem.prices
    best, least, first, size = 1, math.inf, 1, 1024
    while first <= (most or MOST_LOOKED_AT):
        interrupting.check()
        numbers = np.arange(first, min(first + size, 1 + (most or MOST_LOOKED_AT)))
        measures = fixed_measures(queue, numbers)
        ahead = np.zeros(len(numbers))
        for name, weight in prices.items():
            if weight and name != "starvation":
                ahead += weight * measures[name]
        costs = prices.get("starvation", 0.0) * measures["starvation"] + ahead
        if costs.min() < least:
            best, least = int(numbers[np.argmin(costs)]), float(costs.min())
        # More robots mean more losses, longer queues and more robots: their price is a bound for all that follow.
        if is_additive(problem.cost) and ahead[-1] >= least:
            break
        first, size = first + size, min(2 * size, MOST_LOOKED_AT, max(1, MOST_NUMBERS // queue.capacity))
    else:
        if most is None:
            return None
    judged = problem.judge(static_measures(queue, best).scalars())
    if most is not None:
        problem.search.note(best, judged)
    return BestStatic(best, judged.objective)


def fixed_measures(queue: RobotQueue, numbers: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Measures of fixed numbers of robots, all at once."""
    shares = static_shares(queue, numbers)
    length, busy = np.arange(queue.capacity + 1.0) @ shares, shares[1:].sum(axis=0)
    active = numbers.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # a server that never works: no number is known
        response = length / (busy * queue.service_rate)
    return {
        "starvation": shares[0],
        "loss_rate": shares[-1] * active * queue.arrival_rate,
        "active_robots": active,
        "mean_length": length,
        "response_time": np.where(np.isfinite(response), response, np.inf),
        "fewest_robots": active,
        "most_robots": active,
    }


def _one_by_one(problem: RobotsProblem, most: int) -> BestStatic:
    """The cheapest number, every one judged."""
    best: BestStatic | None = None
    for robots in range(1, most + 1):
        interrupting.check()
        judged = problem.judge(static_measures(problem.queue, robots).scalars())
        problem.search.note(robots, judged)
        if best is None or judged.objective < best.objective:
            best = BestStatic(robots, judged.objective)
    assert best is not None
    return best


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
    """A problem of kind "robots".

    ``best_static`` is the best fixed number of robots, limits not looked at; ``fixed_numbers()`` lists those worth a
    look where limits are; ``search`` has the best of those looked at where this was ended; ``keeping(robots)`` is the
    policy that keeps so many active.
    """

    @property
    def best_static(self) -> BestStatic | None: ...
    def fixed_numbers(self) -> Iterable[Numbers]: ...
    @property
    def search(self) -> Search: ...
    def keeping(self, robots: Numbers) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Static:
    """Find the best fixed number of robots within N; nothing is proved about other policies.

    ``extra.best_static_unrestricted`` has the best number if there were any number of robots. With limits, or where
    costs are no sum of prices of states, every number is judged. A search that is ended gives the best number so far.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.costs import WeightedSum
    >>> from optmodels.robots import RobotsProblem, Static
    >>> problem = RobotsProblem("two robots", 2, 3, 0.6, 1.0, WeightedSum({"starvation": 1.5}))
    >>> result = solve(problem, Static())
    >>> result.extra["static_robots"], round(result.objective, 6)
    (2, 0.665723)
    """

    name: ClassVar[str] = "static"
    needs: ClassVar[type] = RobotControl
    deterministic: ClassVar[bool] = True

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Show the best, or all."""
        problem: Any = oracle.problem
        search: Search = problem.search
        static: BestStatic | None = None
        kept: Numbers | None = None
        stopped_by = "complete"
        try:
            with oracle.in_time():
                static = problem.best_static
                counts: list[Numbers] = [] if static is None else [static.robots]
                if static is None or problem.limits or not is_additive(problem.cost):
                    counts += [robots for robots in problem.fixed_numbers() if robots not in counts]
            for robots in counts:
                before = oracle.best
                oracle(problem.keeping(robots))
                kept = robots if oracle.best is not before else kept
        except (BudgetSpent, KeyboardInterrupt) as ended:
            stopped_by = ended.limit if isinstance(ended, BudgetSpent) else "interrupt"
            if stopped_by == "interrupt":
                interrupting.answered()  # the last word may take its time
            for robots in [search.best] if static is None else [static.robots, search.best]:
                if oracle.best is None and oracle.confirm(problem.keeping(robots)).feasible:
                    kept = robots
        return oracle.result(stopped_by=stopped_by, extra={"static_robots": None if kept is None else told(kept)})
