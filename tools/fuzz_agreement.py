"""Small random instances on which every strategy of a kind is held against plain enumeration.

The enumeration is a loop over the space and the evaluator, nothing else. What must hold, relative to 1e-9 whatever the
size of the costs: no answer lies below the enumerated optimum, no bound above it, "optimal" is optimal, "infeasible"
has nothing feasible, and exact strategies do prove. Costs are multiplied by powers of ten, and limits are drawn near
the measures of random decisions, so that some of the instances are tight and some hopeless.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import optmodels as om
from heuristics import Status, refusal
from heuristics.running import UnsupportedProblem
from optmodels.generating import generate
from optmodels.instance import problem_of
from optmodels.registry import make_strategy, strategies

#: Relative difference that rounding may make.
TOLERANCE = 1e-9

#: Strategies that prove what they answer wherever they take a problem without limits and without a larger space.
EXACT = {"exhaustive", "highs", "policy-iteration", "backward-induction"}

#: Decisions that are enumerated at most.
LARGEST = 5_000


def agree_all(count: int, seed: int) -> list[str]:
    """Disagreements on `count` random instances, one sentence each."""
    found: list[str] = []
    for number in range(count):
        rng = random.Random(f"agreement-{seed}-{number}")
        instance = MAKERS[number % len(MAKERS)](rng, number)
        found += [f"instance {number} ({instance.kind} {instance.name}): {each}" for each in disagreements(instance)]
    return found


def disagreements(instance: Any) -> list[str]:
    """What does not fit together on one instance."""
    problem = problem_of(instance, f"{instance.name}.json")
    best, listed = enumerated(problem)
    found = []
    for name in sorted(strategies):
        strategy = make_strategy(name)
        if refusal(problem, strategy) is not None:
            continue
        try:
            result = om.solve(problem, strategy, evaluations=5_000, seconds=30, seed=1)
        except (UnsupportedProblem, om.RequestError):
            continue  # told in a sentence, after a closer look
        found += [f"{name}: {each}" for each in _judge(name, result, best, listed, problem)]
    return found


def enumerated(problem: Any) -> tuple[float | None, bool]:
    """The least objective of a feasible decision, and whether all decisions were looked at."""
    space = problem.space
    if space.size > LARGEST:
        return None, False
    objectives = [evaluation.objective for evaluation in map(problem.evaluate, space) if evaluation.feasible]
    return min(objectives, default=None), True


def _judge(name: str, result: Any, best: float | None, listed: bool, problem: Any) -> list[str]:
    found = []
    objective, bound = result.objective, result.bound
    reach = 0.0 if best is None else TOLERANCE * abs(best)
    if objective is not None and bound is not None and bound > objective + TOLERANCE * abs(objective):
        found.append(f"bound {bound!r} above the objective {objective!r}")
    if not listed:
        return found
    same_space = result.decision is None or getattr(problem.space, "lists", lambda _: True)(result.decision)
    if best is None:
        if objective is not None and same_space:
            found.append(f"answers {objective!r} where nothing is feasible")
        return found
    if result.status == Status.INFEASIBLE:
        found.append(f"infeasible, but enumeration finds {best!r}")
    if bound is not None and bound > best + reach:
        found.append(f"bound {bound!r} above the optimum {best!r}")
    if objective is not None and objective < best - reach and same_space:
        found.append(f"objective {objective!r} below the optimum {best!r}")
    if result.status == Status.OPTIMAL and same_space and objective > best + reach:
        found.append(f"calls {objective!r} optimal, enumeration finds {best!r}")
    if name in EXACT and not problem.limits and same_space and result.status != Status.OPTIMAL:
        found.append(f"is {result.status} where it proves, ended by {result.stopped_by}")
    return found


# -- instances --------------------------------------------------------------------------------------------------------


def _scaled(instance: Any, weights: dict[str, float], rng: random.Random, measures: tuple[str, ...]) -> Any:
    """The instance with weights times a power of ten and, in half the cases, a limit near a random decision."""
    power = 10.0 ** rng.choice((0, 0, -12, -8, 8, 12, -40, 40))
    cost = {"name": "weighted-sum", "weights": {name: value * power for name, value in weights.items()}}
    changed = instance.model_copy(update={"cost": cost})
    if not measures or rng.random() < 0.5:
        return changed
    problem = problem_of(changed, f"{changed.name}.json")
    decision = problem.space.sample(np.random.default_rng(rng.randrange(1_000)))
    name = rng.choice(measures)
    value = problem.evaluate(decision).measures[name]
    if value is None or not np.isfinite(value):
        return changed
    limit = float(value) * rng.choice((0.9, 1.0, 1.1)) + 1e-12
    return changed.model_copy(update={"limits": {name: {"max": limit}}})


def _placement(rng: random.Random, number: int) -> Any:
    rows, columns = rng.choice(((1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (2, 5)))
    made = generate("placement", rows=rows, columns=columns, seed=number)
    return _scaled(made, {"opening": 1.0}, rng, ("opening", "open_sites", "mean_delay", "mean_distance"))


def _threshold(rng: random.Random, number: int) -> Any:
    made = generate(
        "threshold", modes=rng.randint(2, 4), capacity=rng.randint(1, 6), phases=rng.randint(1, 2),
        patience_phases=1, largest_batch=rng.randint(1, 3), seed=number,
    )  # fmt: skip
    weights = {"loss_rate": 200.0, "response_time": 10.0, "active_robots": 2.0, "starvation": 30.0}
    return _scaled(made, weights, rng, ("loss", "starvation", "response_time"))


def _robots(rng: random.Random, number: int) -> Any:
    robots, capacity = rng.choice(((1, 2), (1, 3), (2, 2), (1, 5), (2, 3), (3, 2)))
    made = generate("robots", robots=robots, capacity=capacity, load=10.0 ** rng.uniform(-2, 1.5), seed=number)
    weights = {"starvation": 10.0 ** rng.uniform(-2, 1), "loss_rate": 1.0, "mean_length": rng.choice((0.0, 0.01))}
    return _scaled(made, weights, rng, ("loss_rate", "active_robots", "starvation"))


def _routing(rng: random.Random, number: int) -> Any:
    servers = rng.randint(2, 3)
    return generate(
        "routing", servers=servers, spread=rng.uniform(0.1, 3), load=10.0 ** rng.uniform(-1, 1),
        period=rng.choice((0, 3, 4, 5)), seed=number,
    )  # fmt: skip


def _freshness(rng: random.Random, number: int) -> Any:
    spread, load = rng.uniform(0, 6), 10.0 ** rng.uniform(-2, 1)
    return generate("freshness", pages=rng.randint(1, 30), spread=spread, load=load, seed=number)


#: How to draw an instance, one for each kind.
MAKERS = (_placement, _threshold, _robots, _routing, _freshness)
