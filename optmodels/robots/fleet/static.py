"""Fixed numbers of robots of a fleet: the best found, by closed forms where there are, else by search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heuristics import Evaluation, interrupting
from queueing import RobotQueue, static_measures
from queueing.robots.fleet import RobotFleet, fleet_measures, keep_out, mean_loads

from ..enough import least_of
from ..pricing import is_additive
from ..static import BestStatic, Numbers

if TYPE_CHECKING:
    from .problem import RobotFleetProblem

#: Vectors of numbers that are all looked at: by one formula for all, by one judgement each.
MOST_AT_ONCE, MOST_ONE_BY_ONE = 1_000_000, 20_000

#: States of all fleets together up to which every number is judged by the fleet itself.
MOST_STATES = 200_000

Counts = tuple[int, ...]
Price = Callable[[Evaluation], float]


def best_fixed_numbers(problem: RobotFleetProblem, price: Price) -> BestStatic | None:
    """The best fixed numbers of robots found; `price` is what is least of an evaluation.

    One class is searched over its numbers, all of them if states are few, else by golden section; several classes of
    exponential journeys without an environment by the closed form, over all vectors unless they are too many; anything
    else class by class in turns. Nothing is claimed of what was not looked at. ``None``: none of them can be judged, as
    rates lie too far apart.
    """
    fleet = problem.fleet
    robots = [one.robots for one in fleet.classes]
    vectors = math.prod(count + 1 for count in robots)
    exponential = is_exponential(fleet)
    if exponential and is_additive(problem.cost) and not problem.limits and vectors <= MOST_AT_ONCE:
        best = _by_formula(problem, robots)
        return BestStatic(_numbers(best), judged_by_formula(problem, best).objective)
    known: dict[Counts, Evaluation] = {}
    search = problem.search

    def judged(counts: Counts) -> float:
        if counts not in known:
            interrupting.check()
            if exponential:
                known[counts] = judged_by_formula(problem, counts)
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


def is_exponential(fleet: RobotFleet) -> bool:
    """Whether robots that are always out bring a Poisson stream."""
    return fleet.environment is None and all(one.journey.order == 1 for one in fleet.classes)


def judged_by_formula(problem: RobotFleetProblem, counts: Counts) -> Evaluation:
    """What robots with exponential journeys achieve if so many of each class are always out: M/M/1/K."""
    fleet, out = problem.fleet, sum(counts)
    rate = sum(count * one.rate for count, one in zip(counts, fleet.classes, strict=True))
    found = static_measures(RobotQueue(1, fleet.capacity, rate, fleet.service_rate), 1)
    return problem.judge(replace(found, active_robots=float(out), fewest_robots=out, most_robots=out).scalars())


def _by_formula(problem: RobotFleetProblem, robots: list[int]) -> Counts:
    """The cheapest of all vectors; sums over queue lengths are taken for all of them at once."""
    fleet, prices = problem.fleet, problem.prices
    grids = np.indices([count + 1 for count in robots]).reshape(len(robots), -1)[:, 1:]
    rates = np.array([one.rate for one in fleet.classes]) @ grids
    load = rates / fleet.service_rate
    starvation, full, length = closed_form(load, fleet.capacity)
    cost = prices.get("starvation", 0.0) * starvation + prices.get("loss_rate", 0.0) * rates * full
    cost += prices.get("mean_length", 0.0) * length + prices.get("active_robots", 0.0) * grids.sum(axis=0)
    return tuple(grids[:, int(np.argmin(cost))].tolist())


def closed_form(
    load: NDArray[np.float64], capacity: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Probability of an empty and of a full M/M/1/K queue, and its mean length, by load.

    Powers of loads above 1 are taken of their inverse, from the full queue down.
    """
    base = np.minimum(load, 1.0 / load)
    power, total, moment = np.ones(load.shape), np.ones(load.shape), np.zeros(load.shape)
    for pages in range(1, capacity + 1):
        power *= base
        total += power
        moment += pages * power
    near, far, mean = 1.0 / total, power / total, moment / total
    light = load <= 1.0
    return np.where(light, near, far), np.where(light, far, near), np.where(light, mean, capacity - mean)


def balanced(fleet: RobotFleet) -> Numbers:
    """Numbers to begin with."""
    return _numbers(tuple(_balanced(fleet)))


def _balanced(fleet: RobotFleet) -> list[int]:
    """Numbers that bring about what is served, as many of each class as its share of all robots."""
    robots = np.array([one.robots for one in fleet.classes])
    share = min(1.0, 1.0 / float(robots @ mean_loads(fleet)))
    return [max(1, round(share * count)) for count in robots.tolist()]


def _in_turns(judged: Callable[[Counts], float], robots: list[int], start: list[int]) -> Counts:
    """Golden section over one class after the other until nothing gets better."""
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
