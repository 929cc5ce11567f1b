"""Fixed numbers of active robots: which are best, and strategy `static`.

Robots that are always out bring a Poisson stream where journeys are exponential and the world does not change: an
M/M/1/K queue, which has closed forms. Other fixed numbers are evaluated one by one, or searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heuristics import BudgetSpent, Evaluation, Oracle, Problem, Result, interrupting, word_of
from queueing import RobotQueue, best_static, static_measures
from queueing.robots import MEASURES
from queueing.robots.fleet import RobotFleet, fleet_measures, keep_out, mean_loads

from .pricing import is_additive

if TYPE_CHECKING:
    from .fleet import ControlledRobots
    from .problem import RobotsProblem

#: Numbers of robots looked at, however many there are, where prices other than of starvation and losses leave no
#: shorter way; those evaluated one by one to tell of them.
MOST_LOOKED_AT, MOST_TOLD = 100_000, 10_000

#: Vectors of numbers that are all looked at: by one formula for all, by one judgement each.
MOST_AT_ONCE, MOST_ONE_BY_ONE = 1_000_000, 20_000

#: States of all fleets together up to which every number is evaluated by the fleet itself.
MOST_STATES = 200_000

#: How many robots are always active: a number, or one for each class of them.
Numbers: TypeAlias = int | tuple[int, ...]

Counts = tuple[int, ...]
Price = Callable[[Evaluation], float]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BestStatic:
    """A fixed number of robots, or one of each class, and what it costs."""

    robots: Numbers
    objective: float

    def to_data(self) -> dict[str, Any]:
        """Write it down for ``extra`` of a result."""
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


def relative_gain(static: BestStatic | None, objective: float) -> float | None:
    """Relate what a decision gains over the best fixed numbers to its cost: (C_s - C) / C."""
    return (static.objective - objective) / objective if static is not None and objective > 0 else None


def told(robots: Numbers) -> Any:
    """Numbers of robots as JSON has them."""
    return robots if isinstance(robots, int) else list(robots)


# -- the formula of M/M/1/K -------------------------------------------------------------------------------------------


def is_exponential(fleet: RobotFleet) -> bool:
    """Whether robots that are always out bring a Poisson stream."""
    return fleet.environment is None and all(one.journey.order == 1 for one in fleet.classes)


def judged_by_formula(problem: ControlledRobots, counts: Counts) -> Evaluation:
    """What robots with exponential journeys achieve if so many of each class are always out: M/M/1/K."""
    fleet, out = problem.fleet, sum(counts)
    rate = sum(count * one.rate for count, one in zip(counts, fleet.classes, strict=True))
    found = static_measures(RobotQueue(1, fleet.capacity, rate, fleet.service_rate), 1)
    return problem.judge(replace(found, active_robots=float(out), fewest_robots=out, most_robots=out).scalars())


def closed_form(load: Vector, capacity: int) -> tuple[Vector, Vector, Vector, Vector]:
    """Probability of an empty, of a full and of a busy M/M/1/K queue, and its mean length, by load.

    Powers of loads above 1 are taken of their inverse, from the full queue down; nothing is subtracted but from the
    capacity.
    """
    base = np.minimum(load, 1.0 / load)
    power, inner, moment = np.ones(load.shape), np.zeros(load.shape), np.zeros(load.shape)
    for pages in range(1, capacity):
        power *= base
        inner += power
        moment += pages * power
    last = power * base
    total = 1.0 + inner + last
    near, far, mean = 1.0 / total, last / total, (moment + capacity * last) / total
    light = load <= 1.0
    busy = (inner + np.where(light, last, 1.0)) / total
    return np.where(light, near, far), np.where(light, far, near), busy, np.where(light, mean, capacity - mean)


def fixed_measures(fleet: RobotFleet, counts: NDArray[np.int64]) -> dict[str, Vector]:
    """Measures of fixed numbers of robots by class (rows), all at once; journeys are exponential."""
    rates = np.array([one.rate for one in fleet.classes]) @ counts
    starvation, full, busy, length = closed_form(rates / fleet.service_rate, fleet.capacity)
    active = counts.sum(axis=0, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # a server that never works: no number is known
        response = length / (busy * fleet.service_rate)
    response = np.where(np.isfinite(response), response, np.inf)
    return dict(zip(MEASURES, (starvation, full * rates, active, length, response, active, active), strict=True))


def _costs(problem: ControlledRobots, counts: NDArray[np.int64]) -> tuple[Vector, Vector]:
    """What fixed numbers cost, and what of it is not starvation, which alone falls as robots become more."""
    measures, prices = fixed_measures(problem.fleet, counts), problem.prices
    ahead = np.zeros(counts.shape[1])
    for name, weight in prices.items():
        if weight and name != "starvation":
            ahead += weight * measures[name]
    return prices.get("starvation", 0.0) * measures["starvation"] + ahead, ahead


# -- the base model ---------------------------------------------------------------------------------------------------


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
    return by_formula or problem.queue.robots <= MOST_TOLD


def _at_once(problem: RobotsProblem, most: int | None) -> BestStatic | None:
    """The cheapest number, stretch by stretch, each by one formula for all numbers in it."""
    best, least, first, size = 1, math.inf, 1, 1024
    while first <= (most or MOST_LOOKED_AT):
        interrupting.check()
        numbers = np.arange(first, min(first + size, 1 + (most or MOST_LOOKED_AT)))
        costs, ahead = _costs(problem, numbers[np.newaxis])
        if costs.min() < least:
            best, least = int(numbers[np.argmin(costs)]), float(costs.min())
        # More robots mean more losses, longer queues and more robots: their price is a bound for all that follow.
        if is_additive(problem.cost) and ahead[-1] >= least:
            break
        first, size = first + size, min(2 * size, MOST_LOOKED_AT)
    else:
        if most is None:
            return None
    judged = problem.judge_fixed((best,))
    if most is not None:
        problem.search.note(best, judged)
    return BestStatic(best, judged.objective)


def _one_by_one(problem: RobotsProblem, most: int) -> BestStatic:
    """The cheapest number, every one evaluated."""
    best = BestStatic(1, math.inf)
    for robots in range(1, most + 1):
        interrupting.check()
        judged = problem.judge_fixed((robots,))
        problem.search.note(robots, judged)
        if judged.objective < best.objective:
            best = BestStatic(robots, judged.objective)
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
    return BestStatic(robots, problem.judge_fixed((robots,)).objective)


# -- fleets -----------------------------------------------------------------------------------------------------------


def best_fixed_numbers(problem: ControlledRobots, price: Price) -> BestStatic | None:
    """The best fixed numbers of robots found; `price` is what is least of an evaluation.

    One class is searched over its numbers, all of them if states are few, else by golden section; several classes of
    exponential journeys without an environment by the closed form, over all vectors unless they are too many; anything
    else class by class in turns. Nothing is claimed of what was not looked at. ``None``: none of them can be evaluated,
    as rates lie too far apart.
    """
    fleet = problem.fleet
    robots = [one.robots for one in fleet.classes]
    vectors = math.prod(count + 1 for count in robots)
    exponential = is_exponential(fleet)
    if exponential and is_additive(problem.cost) and not problem.limits and vectors <= MOST_AT_ONCE:
        grids = np.indices([count + 1 for count in robots]).reshape(len(robots), -1)[:, 1:]
        best = tuple(grids[:, int(np.argmin(_costs(problem, grids)[0]))].tolist())
        return BestStatic(_numbers(best), problem.judge_fixed(best).objective)
    known: dict[Counts, Evaluation] = {}
    search = problem.search

    def judged(counts: Counts) -> float:
        if counts not in known:
            interrupting.check()
            if exponential:
                known[counts] = problem.judge_fixed(counts)
            else:
                try:
                    measures = fleet_measures(fleet, keep_out(fleet, counts), interrupting.check)
                except ValueError:
                    known[counts] = Evaluation(math.inf)
                    return math.inf
                known[counts] = problem.judge(measures.scalars())
            search.note(_numbers(counts), known[counts])
        return price(known[counts])

    if vectors <= (MOST_ONE_BY_ONE if exponential else MOST_STATES / fleet.states):
        best = min(all_numbers(robots), key=judged)
    else:
        best = _in_turns(judged, robots, _balanced(fleet))
    return BestStatic(_numbers(best), known[best].objective) if math.isfinite(known[best].objective) else None


def all_numbers(robots: list[int]) -> Iterator[Counts]:
    """All numbers by class, but for none at all."""
    return (counts for counts in product(*(range(count + 1) for count in robots)) if any(counts))


def balanced(fleet: RobotFleet) -> Numbers:
    """Guess the numbers that a search begins with."""
    return _numbers(tuple(_balanced(fleet)))


def _balanced(fleet: RobotFleet) -> list[int]:
    """Numbers that bring about what is served, as many of each class as its share of all robots."""
    robots = np.array([one.robots for one in fleet.classes])
    share = min(1.0, 1.0 / float(robots @ mean_loads(fleet)))
    return [max(1, round(share * count)) for count in robots.tolist()]


def _in_turns(judged: Callable[[Counts], float], robots: list[int], start: list[int]) -> Counts:
    """Golden section over one class after the other until nothing gets better."""
    from .enough import least_of

    best = tuple(start)
    while True:
        before = judged(best)
        for index, most in enumerate(robots):
            least = 0 if any(best[:index] + best[index + 1 :]) else 1

            def with_number(number: int, index: int = index, best: Counts = best) -> float:
                return judged((*best[:index], number, *best[index + 1 :]))

            found = least_of(with_number, least, most)
            if with_number(found) < judged(best):
                best = (*best[:index], found, *best[index + 1 :])
        if len(robots) == 1 or not judged(best) < before:
            return best


def _numbers(counts: Counts) -> Numbers:
    """One number where there is one class."""
    return counts[0] if len(counts) == 1 else counts


# -- the strategy -----------------------------------------------------------------------------------------------------


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
    costs are no sum of prices of states, every number is evaluated. A search that is ended gives the best one so far.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.robots import RobotsProblem, Static
    >>> problem = RobotsProblem(robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, cost={"starvation": 1.5})
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
            stopped_by = word_of(ended)
            for robots in [search.best] if static is None else [static.robots, search.best]:
                if oracle.best is None and oracle.confirm(problem.keeping(robots)).feasible:
                    kept = robots
        return oracle.result(stopped_by=stopped_by, extra={"static_robots": None if kept is None else told(kept)})
