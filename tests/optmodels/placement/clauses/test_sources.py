"""What any geometry, classes and scenarios forbid: clauses against all placements, and optima against enumeration."""

import importlib.util
from itertools import product

import numpy as np
import pytest
from random_placements import random_classes, random_matrix, random_scenarios

import optmodels as om
from heuristics import Budget, Status, run
from heuristics.search import Exhaustive
from optmodels.placement.clauses import Clauses
from optmodels.placement.clauses.sources import in_units, setting_of
from optmodels.placement.engines import missing
from optmodels.placement.engines.sat import counting_order

DRAWN = {"matrix": random_matrix, "classes": random_classes, "scenarios": random_scenarios}

NEEDS = {
    "sat": pytest.mark.skipif(missing() is not None, reason="the extra 'sat' is not installed"),
    "cpsat": pytest.mark.skipif(importlib.util.find_spec("ortools") is None, reason="no extra 'cpsat'"),
    "highs": pytest.mark.skipif(False, reason="always there"),
}


def cases(quick, slow):
    """Sort of problem and seed: a few always, many among the slow tests."""
    return [
        pytest.param(sort, seed, marks=[pytest.mark.slow] if seed >= quick else [])
        for sort in DRAWN
        for seed in range(slow)
    ]


def true(point, clause):
    return any(point[abs(literal) - 1] == (literal > 0) for literal in clause)


def within(point, limits):
    return all(
        sum(w * point[at] for at, w in zip(one.variables, one.weights, strict=True)) <= one.most for one in limits
    )


@pytest.mark.parametrize(("sort", "seed"), cases(8, 150))
def test_every_feasible_placement_keeps_every_clause_and_every_limit(sort, seed):
    problem = DRAWN[sort](seed)
    source, rng = problem.clause_source(), np.random.default_rng(seed)
    everything = np.array(list(product((0, 1), repeat=source.sites)), np.uint8)
    clauses = {*source.beginning(), *source.broken(everything & source.allowed, rng)}
    for placement in everything:
        feasible = problem.evaluate(tuple(placement.tolist())).feasible
        assert source.keeps(placement) == feasible
        if feasible:
            point = source.point(placement)
            assert len(point) == source.variables
            assert within(point, source.limits)
            assert all(true(point, clause) for clause in clauses)


@pytest.mark.parametrize(("sort", "seed"), cases(8, 150))
def test_clauses_leave_no_infeasible_placement_whatever_is_given_up(sort, seed):
    problem = DRAWN[sort](seed)
    source, rng = problem.clause_source(), np.random.default_rng(seed)
    beginning = source.beginning()
    for placement in product((0, 1), repeat=source.sites):
        if problem.evaluate(placement).feasible:
            continue
        if any(bit and not may for bit, may in zip(placement, source.allowed, strict=True)):
            continue  # a clause of its own
        clauses = [*beginning, *source.broken(np.array([placement], np.uint8), rng)]
        for given_up in product((0, 1), repeat=source.variables - source.sites):
            assert not all(true((*placement, *given_up), clause) for clause in clauses)


@pytest.mark.parametrize("seed", range(10))
def test_clauses_of_any_geometry_and_of_classes_are_minimal(seed):
    for problem in (random_matrix(seed), random_classes(seed)):
        source, rng = problem.clause_source(), np.random.default_rng(seed)
        drawn = rng.integers(0, 2, (20, source.sites)).astype(np.uint8) & source.allowed
        for clause in source.broken(drawn, rng):
            (closed,) = (-literal - 1 for literal in clause if literal < 0)
            opened = [literal - 1 for literal in clause if literal > 0]
            for left in [None, *opened]:
                is_open = problem.allowed.astype(int)
                is_open[[site for site in opened if site != left]] = 0
                assert (problem.overloaded(is_open)[closed] > 0) == (left is None)


@pytest.mark.parametrize(
    ("engine", "sort", "seed"),
    [
        pytest.param(engine, sort, seed, marks=[NEEDS[engine]] + ([pytest.mark.slow] if seed >= quick else []))
        for engine, quick in {"sat": 3, "cpsat": 1, "highs": 1}.items()
        for sort in DRAWN
        for seed in range(30)
    ],
)
def test_the_optimum_is_that_of_enumeration(engine, sort, seed):
    problem = DRAWN[sort](seed + 5)
    best, found = run(problem, Exhaustive()), run(problem, Clauses(engine), Budget(seconds=60), seed=seed)
    assert found.status == best.status
    assert found.objective == (None if best.objective is None else pytest.approx(best.objective, rel=1e-12))
    if found.status is Status.OPTIMAL:
        assert found.bound == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_what_may_be_given_up_is_within_the_limit_in_units(seed):
    """Else an optimum would be lost; and where probabilities are multiples of a unit, nothing else is."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    weights = rng.integers(1, 20, count) if seed % 2 else rng.uniform(1e-6, 1.0, count)
    probabilities = weights / weights.sum()
    least = float(rng.choice([probabilities[0], 0.5, 0.9, 1.0, 1.0 - probabilities[-1]]))
    units, most = in_units(probabilities, least)
    for given_up in product((False, True), repeat=count):
        chosen = np.array(given_up)
        sure = float(np.cumsum(probabilities[~chosen])[-1]) >= least - 1e-9 if (~chosen).any() else least <= 1e-9
        counted = int(np.array(units)[chosen].sum()) <= most
        assert counted or not sure
        if seed % 2:
            assert counted == sure


@pytest.mark.parametrize("seed", range(8))
def test_tables_of_crowds_say_what_servers_say(seed):
    """Crowd by crowd and level by level, against the server itself."""
    problem = random_classes(seed)
    offsets, strides, deepest = problem.servers.tables
    rng = np.random.default_rng(seed)
    for site in range(problem.layout.sites):
        server, number = problem.servers.by_site[site], problem.servers.numbers[site]
        assert server is problem.servers.different[number]
        crowds = list(np.ndindex(*(most + 1 for most in server.room)))
        for crowd in [crowds[at] for at in rng.permutation(len(crowds))[:60]]:
            allowed = deepest[offsets[number] + strides[number] @ crowd]
            for farthest in product(*(range(1, len(curve) + 1) for curve in server.curves)):
                fits = all(load == 0 or far <= most for load, far, most in zip(crowd, farthest, allowed, strict=True))
                assert fits == server.keeps(crowd, farthest)


def test_neighbours_stand_near_in_the_order_of_counting_whatever_distances_are():
    rng = np.random.default_rng(3)
    places = rng.permutation(60)
    line = om.PlacementProblem(
        distances=1.0 + 0.5 * np.abs(places[:, None] - places),
        think_time={"base": 0.4, "per_distance": 0.1},
        demand=[1] * 60,
        opening_cost=[1] * 60,
        service_rate=40.0,
        quality={"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16},
    )
    order = counting_order(line)
    assert sorted(order) == list(range(60))
    assert np.abs(np.diff(places[order])).max() <= 6


@pytest.mark.parametrize("name", ["requests-4x4", "classes-4x4", "scenarios-4x4", "distances-9x16", "pairs-4x4"])
def test_shipped_extensions_are_proved(name):
    found = om.solve(name, "clauses", budget=Budget(seconds=60))
    assert found.status is Status.OPTIMAL
    assert found.gap_to_best_known == pytest.approx(0.0, abs=1e-9)


def test_more_crowds_than_a_table_holds_are_refused_in_a_sentence():
    times, promise = {"base": 90.0, "per_distance": 1.0}, {"max_delay_probability": 0.5, "delay": 1.0}
    classes = [{"name": name, "demand": [500, 500], "think_time": times} for name in "abc"]
    problem = om.PlacementProblem(
        network={"nodes": 2, "edges": [[0, 1]]},
        classes=classes,
        opening_cost=[1, 1],
        service_rate=20,
        quality=promise | {"min_throughput": 0.0},
    )
    with pytest.raises(Exception, match=r"keeps a table of all crowds .* take fewer classes, or a search"):
        om.solve(problem, "clauses")


def test_a_setting_of_steps_has_their_distances_as_ranks_and_levels():
    problem = om.load("gautam-4x4")
    setting = setting_of(problem)
    assert (setting.ranks == problem.distances).all() and (setting.levels[0] == problem.distances).all()
