"""Solvers of integer programs and plain enumeration agree, on small random instances of every kind.

The enumeration is a loop over the space and the evaluator, nothing else: no model, no solver, no bound. A kind takes
part as soon as its problems write themselves as integer programs and nothing refuses them; until then it is passed by.
Twenty instances are tried by default, two hundred with the slow tests.
"""

import functools
import math
import random
from dataclasses import replace

import numpy as np
import pytest

from heuristics import Status, UnsupportedProblem, refusal, run
from optmodels import RequestError
from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.generating import generate
from optmodels.instance import Instance
from optmodels.mip import SOLVERS, AlgebraicProblem, Highs

#: Kinds that must take part: a kind that has learnt to write itself as an integer program is named here.
TAKING_PART = ("placement", "threshold", "robots", "routing", "freshness")

#: Instances, and how many of them are tried by default.
INSTANCES, FAST = 200, 20

#: Decisions that are enumerated at most.
MOST_DECISIONS = 1_500

#: Relative difference that rounding may make.
ROUNDING = 1e-9


# -- how to draw an instance, one function for each kind ---------------------------------------------------------------


def placement(rng):
    """Grids of one to ten sites: ties, cells without clients, slow servers, prices over many decades, p-medians."""
    rows, columns = rng.choice(((1, 1), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (2, 5)))
    options = {"cost_law": rng.choice(("integers", "continuous", "lognormal")), "seed": rng.randrange(10**6)}
    options["guarantee"] = rng.choice(("worst-case", "farthest"))
    data = dict(generate("placement", rows=rows, columns=columns, **options).data)
    data["demand"] = [[rng.choice((0, entry, entry, 4)) for entry in row] for row in data["demand"]]
    data["service_rate"] = rng.choice((18.0, 30.0, 50.0, 500.0))
    weights = {"opening": rng.choice((0.0, 1.0, 1.0, 2.5))}
    if rng.random() < 0.3:
        weights["open_sites"] = rng.choice((1.0, 0.1))
    if rng.random() < 0.4 and any(map(any, data["demand"])):
        weights["mean_distance"] = rng.choice((1.0, 7.3))
    if rng.random() < 0.3:
        weights["operating"] = 1.0
        data["operating_cost"] = [[rng.choice((0.0, 0.7, 2.5)) for _ in row] for row in data["demand"]]
    return drawn("placement", data, weights, rng, ("opening", "open_sites"))


def threshold(rng):
    """Two or three modes and little room."""
    options = {"modes": rng.randint(2, 3), "capacity": rng.randint(1, 5), "phases": rng.randint(1, 2)}
    made = generate(
        "threshold", **options, patience_phases=1, largest_batch=rng.randint(1, 2), seed=rng.randrange(10**6)
    )
    weights = {"loss_rate": 200.0, "active_robots": rng.choice((0.0, 2.0)), "starvation": 30.0}
    return drawn("threshold", made.data, weights, rng, ("loss_rate", "starvation"))


def robots(rng):
    """One to three robots at a server with little room."""
    count, capacity = rng.choice(((1, 2), (1, 3), (2, 2), (1, 5), (2, 3)))
    made = generate(
        "robots", robots=count, capacity=capacity, load=10.0 ** rng.uniform(-2, 1.5), seed=rng.randrange(10**6)
    )
    weights = {"starvation": 10.0 ** rng.uniform(-2, 1), "loss_rate": 1.0, "mean_length": rng.choice((0.0, 0.01))}
    return drawn("robots", made.data, weights, rng, ("loss_rate", "starvation"))


def routing(rng):
    """Words of up to six packets to two or three servers, some of them equal, with and without a limit on the cost."""
    servers, period = rng.choice(((2, 3), (2, 4), (2, 6), (3, 3), (3, 4), (2, 1)))
    options = {"spread": rng.uniform(0.1, 3), "load": 10.0 ** rng.uniform(-1, 1), "seed": rng.randrange(10**6)}
    data = dict(generate("routing", servers=servers, period=period, **options).data)
    if rng.random() < 0.3:
        data["servers"] = [data["servers"][0], *data["servers"][:-1]]
    return drawn("routing", data, {"cost": 1.0}, rng, ("cost",))


def freshness(rng):
    """Cycles of up to six slots of one to three pages, some of them equal, with and without limits on gaps."""
    pages, slots = rng.choice(((1, 1), (2, 3), (2, 6), (3, 3), (3, 5)))
    spread = rng.choice((0.0, rng.uniform(0, 3), rng.uniform(0, 3)))
    made = generate("freshness", pages=pages, spread=spread, seed=rng.randrange(10**6))
    limited = ("largest_gap", "pages_never_visited")
    return drawn("freshness", {**made.data, "cycle": slots}, {"obsolescence": 1.0}, rng, limited)


DRAW = {draw.__name__: draw for draw in (placement, threshold, robots, routing, freshness)}


def drawn(kind, data, weights, rng, limited):
    """The problem with prices times a power of ten and, now and then, a limit near what some decision has."""
    power = 10.0 ** rng.choice((0, 0, 0, -9, -3, 6, 12))
    cost = {"name": "weighted-sum", "weights": {name: weight * power for name, weight in weights.items()}}
    content = {"format": 1, "kind": kind, "name": f"{kind}-drawn", "data": data, "cost": cost}
    problem = Instance.from_data(content).problem()
    if not limited or rng.random() < 0.6:
        return problem
    name = rng.choice(limited)
    value = problem.evaluate(problem.space.sample(np.random.default_rng(rng.randrange(1_000)))).measures[name]
    if value is None or not math.isfinite(value):
        return problem
    return replace(problem, limits=Limits({name: Limit(maximum=float(value) * rng.choice((0.5, 1.0, 1.2)))}))


# -- who takes part ----------------------------------------------------------------------------------------------------


def takes_part(problem):
    """Whether a problem is written as an integer program, nothing refuses it, and its decisions can be enumerated."""
    if not isinstance(problem, AlgebraicProblem) or refusal(problem, Highs()) is not None:
        return False
    return problem.space.size <= MOST_DECISIONS


@functools.cache
def problem_of(kind, number):
    """The first of ten draws that takes part; ``None`` if none does."""
    for attempt in range(10):
        try:
            problem = DRAW[kind](random.Random(f"{kind}-{number}-{attempt}"))
        except RequestError:  # a field that this kind has not learnt yet
            return None
        if not isinstance(problem, AlgebraicProblem):
            return None
        if takes_part(problem):
            return problem
    return None


@functools.cache
def kinds_taking_part():
    return tuple(kind for kind in DRAW if any(problem_of(kind, number) is not None for number in range(3)))


def test_the_kinds_that_are_programs_take_part():
    assert set(TAKING_PART) <= set(kinds_taking_part())


# -- agreement ---------------------------------------------------------------------------------------------------------


def enumerated(problem):
    """The least objective of a feasible decision, ``None`` if there is none."""
    judged = (problem.evaluate(decision) for decision in problem.space)
    return min((found.objective for found in judged if found.feasible), default=None)


def disagreement(problem, result, best):
    """What a result says that enumeration refutes, in a sentence; ``None`` if they agree."""
    if best is None:
        return None if result.status == Status.INFEASIBLE else f"{result.status} where nothing is feasible"
    if result.status != Status.OPTIMAL:
        return f"{result.status}, ended by {result.stopped_by}, where {best!r} is the optimum"
    room = max(ROUNDING, result.extra["proved_to"]) * abs(best)
    if not problem.evaluate(result.decision).feasible:
        return f"the decision {result.decision} is not feasible"
    if not best - ROUNDING * abs(best) <= result.objective <= best + room:
        return f"{result.objective!r} is called optimal where {best!r} is"
    return None if result.bound <= best + ROUNDING * abs(best) else f"the bound {result.bound!r} is above {best!r}"


def solved(problem, solver, number):
    """The answer by a solver; ``None`` if it is not installed or does not take such programs."""
    if SOLVERS[solver].missing(solver):
        return None
    try:
        return run(problem, Highs(solver, start=number % 4 == 3), seed=number)
    except UnsupportedProblem:
        return None


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[] if number < FAST else [pytest.mark.slow]) for number in range(INSTANCES)]
)
def test_solvers_agree_with_enumeration(number):
    kinds = kinds_taking_part()
    problem = problem_of(kinds[number % len(kinds)], number // len(kinds))
    if problem is None:
        pytest.skip("no draw of this number is an integer program")
    best = enumerated(problem)
    # Processes that import CP-SAT take seconds: by default HiGHS solves all, and every fifth has another solver, too.
    solvers = (
        ["highs", "scip", "cpsat"] if number >= FAST else ["highs", *{1: ["scip"], 3: ["cpsat"]}.get(number % 10, [])]
    )
    for solver in solvers:
        result = solved(problem, solver, number)
        if result is not None:
            assert disagreement(problem, result, best) is None, (solver, problem.kind, number)


def test_a_wrong_answer_is_noticed():
    problem = problem_of("placement", 0)
    result, best = solved(problem, "highs", 0), enumerated(problem)
    assert disagreement(problem, result, best) is None
    assert disagreement(problem, result, None) is not None
    assert disagreement(problem, result, best * (1 + 1e-6) + 1e-300) is not None
    assert disagreement(problem, result, best * (1 - 1e-6) - 1e-300) is not None
    assert disagreement(problem, replace(result, status=Status.FEASIBLE), best) is not None
    assert disagreement(problem, replace(result, bound=best * (1 + 1e-6) + 1e-300), best) is not None


def test_the_draws_hold_what_they_should():
    """Sizes from one on, instances without a solution, ties, prices that are counted and others, over many decades."""
    problems = [problem for number in range(60) if (problem := problem_of("placement", number)) is not None]
    assert len(problems) > 54
    assert {1, 9, 10} <= {problem.layout.sites for problem in problems}
    assert any(problem.infeasibility() for problem in problems)
    assert any(problem.limits for problem in problems)
    assert any(not problem.demand.any() for problem in problems)
    stepped = sum(problem.objective_step is not None for problem in problems)
    assert 0.2 < stepped / len(problems) < 0.8
    assert all(isinstance(problem.cost, WeightedSum) for problem in problems)
    assert any("mean_distance" in problem.weights for problem in problems)
    assert any(problem.operating_cost is not None for problem in problems)
    weights = [max(problem.weights.values()) for problem in problems]
    assert max(weights) / min(weight for weight in weights if weight > 0) > 1e15
