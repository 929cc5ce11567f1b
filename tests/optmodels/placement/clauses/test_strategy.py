"""Engines against enumeration, against one another, and what they refuse."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from random_placements import random_placement

import optmodels as om
from heuristics import Budget, Oracle, Status, run
from heuristics.search import Exhaustive
from optmodels.placement import PlacementGenerator
from optmodels.placement.clauses import Clauses
from optmodels.placement.clauses.search import Search
from optmodels.placement.engines import missing

NEEDS = {
    "sat": pytest.mark.skipif(missing() is not None, reason="the extra 'sat' is not installed"),
    "cpsat": pytest.mark.skipif(importlib.util.find_spec("ortools") is None, reason="no extra 'cpsat'"),
    "highs": (),
}


def on(engine, *values, slow=False):
    marks = [mark for mark in [NEEDS[engine]] if mark] + ([pytest.mark.slow] if slow else [])
    return pytest.param(engine, *values, marks=marks)


def cases(quick, slow):
    """Engine and seed: a few always, many among the slow tests."""
    return [on(engine, seed, slow=seed >= count) for engine, count in quick.items() for seed in range(slow)]


def optimum(problem):
    return run(problem, Exhaustive())


@pytest.mark.parametrize(("engine", "seed"), cases({"sat": 12, "cpsat": 3, "highs": 4}, 60))
def test_the_optimum_is_that_of_enumeration(engine, seed):
    problem = random_placement(seed, most=11)
    best, found = optimum(problem), run(problem, Clauses(engine), seed=seed)
    assert found.status == best.status
    assert found.objective == (None if best.objective is None else pytest.approx(best.objective, rel=1e-12))
    if found.status is Status.OPTIMAL:
        assert found.bound == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize(("engine", "seed"), cases({"sat": 6, "cpsat": 1, "highs": 1}, 40))
def test_the_number_of_open_sites_may_be_limited(engine, seed):
    problem = random_placement(seed, most=10)
    rng = np.random.default_rng(seed)
    low, high = sorted(rng.integers(0, problem.layout.sites + 1, 2).tolist())
    problem = replace(problem, limits={"open_sites": {"min": low, "max": high}})
    best, found = optimum(problem), run(problem, Clauses(engine), seed=seed)
    assert found.status == best.status
    assert found.objective == (None if best.objective is None else pytest.approx(best.objective, rel=1e-12))


@pytest.mark.parametrize("engine", [on("sat"), on("cpsat")])
def test_bounds_rise_and_stay_below_the_optimum(engine):
    problem = PlacementGenerator(rows=6, columns=6, seed=3).instance().problem()
    found = run(problem, Clauses(engine))
    assert found.status is Status.OPTIMAL
    bounds = [point.bound for point in found.trace if point.bound is not None]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= found.objective


@pytest.mark.parametrize("engine", [on("sat"), on("cpsat"), on("highs")])
def test_a_limit_of_time_is_kept(engine):
    problem = PlacementGenerator(rows=14, columns=14, seed=1).instance().problem()
    found = run(problem, Clauses(engine), Budget(seconds=1.0))
    assert found.stopped_by == "seconds"
    assert found.status is Status.FEASIBLE
    assert 0 < found.bound < found.objective
    assert found.seconds < 10


def test_what_clauses_cannot_hold_is_refused_in_a_sentence():
    problem = om.load("gautam-2x3")
    late = {"name": "weighted-sum", "weights": {"opening": 1.0, "mean_delay": 1.0}}
    with pytest.raises(Exception, match="prices opening, open_sites and operating, not mean_delay"):
        om.solve(replace(problem, cost=late), "clauses")
    with pytest.raises(Exception, match="limits open_sites, not mean_delay"):
        om.solve(replace(problem, limits={"mean_delay": 1.0}), "clauses")
    with pytest.raises(Exception, match="not negative"):
        om.solve(replace(problem, cost={"name": "weighted-sum", "weights": {"opening": -1.0}}), "clauses")
    with pytest.raises(Exception, match="engine must be one of sat, cpsat, highs"):
        om.solve(problem, "clauses:engine=kissat")
    with pytest.raises(Exception, match="is for problems of kind placement"):
        om.solve("loss-3", "clauses")


def test_the_answer_tells_how_it_was_proved():
    told = om.solve("gautam-2x3", "clauses:engine=highs").extra["clauses"]
    assert told["engine"] == "highs"
    assert told["clauses"] > 0


def test_clauses_are_made_as_long_as_there_is_time():
    problem = om.load("instances/placement/gautam-11x11.json")
    made = []
    for budget in (Budget(seconds=1e-9), Budget()):
        search = Search(Oracle(problem, budget), np.random.default_rng(0), ("highs",))
        beginning = len(list(search.source.beginning()))
        search.make_clauses()
        made.append(len(search.pool) - beginning)
    assert made[0] <= 0 < made[1]
