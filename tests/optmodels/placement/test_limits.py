"""Limits on opening, open_sites and operating as rows of the integer program, against full enumeration."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heuristics import run
from heuristics.search import Exhaustive
from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.mip import Highs
from optmodels.mip import strategy as mip
from optmodels.placement import PlacementProblem

INSTANCES = Path(__file__).parents[3] / "instances" / "placement"


def grid(rng: np.random.Generator, rows: int = 3, columns: int = 3, **options) -> PlacementProblem:
    """A small grid, with prices that are whole or not, and of operation or not."""
    shape = (rows, columns)
    whole = rng.random() < 0.5
    data = {
        "shape": list(shape),
        "demand": rng.integers(0, 16, shape).tolist(),
        "opening_cost": (rng.integers(1, 9, shape) if whole else rng.uniform(0.5, 4.0, shape)).tolist(),
        "operating_cost": rng.uniform(0.0, 3.0, shape).tolist(),
        "service_rate": 50,
        "think_time": {"base": 0.48, "per_distance": 0.02},
        "quality": {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16, "guarantee": "farthest"},
    }
    weights = {name: float(rng.integers(0, 4)) for name in ("opening", "operating", "open_sites")}
    cost = WeightedSum(weights if any(weights.values()) else {"opening": 1.0})
    return PlacementProblem.from_data(data, name="grid", cost=cost, **options)


def measured(problem: PlacementProblem) -> list[dict[str, float]]:
    """Measures of all placements that keep the quality, cheapest first."""
    judged = [problem.evaluate(decision) for decision in problem.space]
    kept = sorted((one for one in judged if one.feasible), key=lambda one: one.objective)
    return [dict(one.measures) for one in kept]


def random_limits(rng: np.random.Generator, problem: PlacementProblem) -> Limits:
    """Limits at, just below or just above the values of some placement, or at random."""
    found = measured(problem)
    limits = {}
    for name in ("opening", "open_sites", "operating"):
        if rng.random() < 0.4:
            continue
        value = found[int(rng.integers(len(found)))][name] if found else 1.0
        value *= float(rng.choice([1.0, 1.0 + 3e-8, 1.0 - 3e-8, 1.0 - 3e-9, 1.0 - 1e-6, rng.uniform(0.5, 1.5)]))
        limits[name] = Limit(minimum=value) if rng.random() < 0.4 else Limit(maximum=value)
    return Limits(limits)


def check_against_enumeration(seed: int, solver: str = "highs", shape: tuple[int, int] = (3, 3)) -> str:
    rng = np.random.default_rng(seed)
    problem = grid(rng, *shape)
    limited = replace(problem, limits=random_limits(rng, problem))
    listed, solved = run(limited, Exhaustive()), run(limited, Highs(solver))
    assert solved.status == listed.status
    if listed.objective is not None:
        assert solved.objective == pytest.approx(listed.objective, rel=1e-9)
        assert solved.bound <= listed.objective
    return str(solved.status)


@pytest.mark.parametrize("seed", [1])
def test_limited_placements_are_those_of_enumeration(seed):
    check_against_enumeration(seed, shape=(2, 3))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_limited_placements_are_those_of_enumeration_on_many_grids(solver):
    if mip.SOLVERS[solver].missing(solver):
        pytest.skip(f"needs the extra {solver}, which users may leave out; `make test-all` installs it")
    seen = {check_against_enumeration(seed, solver) for seed in range(30)}
    assert seen == {"optimal", "infeasible"}


def test_a_limit_at_the_very_value_of_a_placement_is_kept_and_one_below_it_is_not():
    data = json.loads((INSTANCES / "gautam-2x3.json").read_text())["data"]
    problem = PlacementProblem.from_data(data, name="2x3", cost=WeightedSum({"open_sites": 1.0, "opening": 1e-3}))
    least = run(replace(problem, cost=None), Highs(start=False)).evaluation.measures["opening"]
    at = replace(problem, limits=Limits({"opening": Limit(maximum=least)}))
    below = replace(problem, limits=Limits({"opening": Limit(maximum=least * (1 - 1e-7))}))
    assert run(at, Highs(start=False)).evaluation.measures["opening"] == least
    assert run(below, Highs(start=False)).status == "infeasible"


@pytest.mark.slow
def test_a_placement_that_a_solver_takes_for_feasible_by_rounding_is_cut_off_and_the_next_one_found():
    """Utilisations are no whole numbers: a limit a hair below that of the cheapest placement is within a tolerance."""
    data = json.loads((INSTANCES / "gautam-2x3.json").read_text())["data"]
    cost = WeightedSum({"opening": 1.0, "operating": 0.1})
    problem = PlacementProblem.from_data(data | {"operating_cost": 1.0}, name="2x3", cost=cost)
    best = run(problem, Exhaustive())
    limits = Limits({"operating": Limit(maximum=best.evaluation.measures["operating"] * (1 - 2e-9))})
    limited = replace(problem, limits=limits)
    listed, solved = run(limited, Exhaustive()), run(limited, Highs(start=False))
    assert best.decision != listed.decision
    assert (solved.status, solved.decision) == ("optimal", listed.decision)


@pytest.mark.slow
def test_a_limit_on_what_is_always_zero_is_kept_or_makes_the_problem_infeasible():
    data = json.loads((INSTANCES / "gautam-2x3.json").read_text())["data"]
    problem = PlacementProblem.from_data(data, name="2x3")
    free = replace(problem, limits=Limits({"operating": Limit(maximum=0.0)}))
    asked = replace(problem, limits=Limits({"operating": Limit(minimum=0.1)}))
    assert run(free, Highs()).objective == 8.0
    assert run(asked, Highs()).status == "infeasible"
