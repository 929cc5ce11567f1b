"""Operating costs in clauses: utilisation against the evaluator, clauses against all placements, optima against all."""

import importlib.util
import itertools
from dataclasses import replace

import numpy as np
import pytest
from random_placements import random_classes, random_operating, random_scenarios

import optmodels as om
from heuristics import Budget, Status, run
from heuristics.search import Exhaustive
from optmodels.placement.clauses import Clauses
from optmodels.placement.clauses.operating import Operated
from optmodels.placement.engines import missing

SAT = pytest.mark.skipif(missing() is not None, reason="the extra 'sat' is not installed")


def placements_of(problem):
    return np.array(list(itertools.product((0, 1), repeat=problem.layout.sites)), np.uint8)


def true(point, clause):
    return any(point[abs(literal) - 1] == (literal > 0) for literal in clause)


def seeds(quick, slow):
    return [pytest.param(seed, marks=[pytest.mark.slow] if seed >= quick else []) for seed in range(slow)]


@pytest.mark.parametrize("seed", seeds(6, 80))
def test_costs_are_those_of_the_evaluator_and_utilisation_never_falls_when_a_site_is_closed(seed):
    problem = random_operating(seed)
    source = problem.clause_source()
    assert isinstance(source, Operated)
    used = {tuple(placement.tolist()): source.used(placement) for placement in placements_of(problem)}
    for placement, utilisation in used.items():
        judged = problem.evaluate(placement)
        if judged.feasible:
            assert source.cost(np.array(placement, np.uint8)) == pytest.approx(judged.objective, rel=1e-11, abs=1e-15)
        for site in np.flatnonzero(placement):
            fewer = tuple(bit and at != site for at, bit in enumerate(placement))
            others = np.flatnonzero(fewer)
            assert (used[tuple(int(bit) for bit in fewer)][others] >= utilisation[others] * (1 - 1e-13)).all()


@pytest.mark.parametrize("seed", seeds(6, 80))
def test_steps_are_kept_by_every_placement_and_cost_no_more_than_it_does(seed):
    problem = random_operating(seed)
    source, rng = problem.clause_source(), np.random.default_rng(seed)
    everything = placements_of(problem) & source.allowed
    clauses = {*source.beginning()}
    for placement in everything:
        clauses |= {*source.broken(placement[None], rng)}
    prices = source.priced(problem.site_prices)
    assert len(prices) == source.variables and (prices >= 0).all()
    for placement in everything:
        judged = problem.evaluate(tuple(placement.tolist()))
        if judged.feasible:
            point = source.point(placement)
            assert all(true(point, clause) for clause in clauses)
            assert prices @ point <= judged.objective * (1 + 1e-13)
            without = np.pad(placement, (0, source.variables - source.sites))
            assert source.rises(point, rng) == []
            for clause in source.rises(without, rng):
                assert not true(without, clause)


@pytest.mark.parametrize("seed", seeds(6, 80))
def test_what_a_dear_clause_cuts_off_costs_as_much_as_the_best(seed):
    problem = random_operating(seed)
    source, rng = problem.clause_source(), np.random.default_rng(seed)
    everything = [x for x in placements_of(problem) if problem.evaluate(tuple(x.tolist())).feasible]
    costs = [source.cost(placement) for placement in everything]
    for number in rng.permutation(len(everything))[:20]:
        best = costs[number] * float(rng.choice([1.0, 0.9, 0.7]))
        clause = source.dear(everything[number], best, rng)
        assert not true(everything[number], clause)
        for placement, cost in zip(everything, costs, strict=True):
            assert true(placement, clause) or cost >= best * (1 - 1e-9)


@pytest.mark.parametrize(
    ("engine", "seed"),
    [
        pytest.param(engine, seed, marks=[*marks, *([pytest.mark.slow] if seed >= quick else [])])
        for engine, quick, marks in (("sat", 2, [SAT]), ("highs", 1, []))
        for seed in range(30)
    ],
)
def test_the_optimum_is_that_of_enumeration(engine, seed):
    problem = random_operating(seed, most=8)
    best, found = run(problem, Exhaustive()), run(problem, Clauses(engine), Budget(seconds=60), seed=seed)
    assert found.status == best.status
    assert found.objective == (None if best.objective is None else pytest.approx(best.objective, rel=1e-9))
    if found.status is Status.OPTIMAL:
        assert found.bound == pytest.approx(found.objective, rel=1e-9)


def test_what_has_no_price_in_clauses_is_refused_in_a_sentence(tmp_path):
    problem = random_operating(1)
    with pytest.raises(Exception, match="under the guarantee 'worst-case', as else it may fall where far clients join"):
        om.solve(replace(problem, quality=replace(problem.quality, guarantee="farthest")), "clauses")
    for several in (random_classes(3), random_scenarios(1)):
        with pytest.raises(Exception, match="for one demand of one class"):
            om.solve(replace(several, operating_cost=np.ones(several.layout.sites)), "clauses")
    weights = {"opening": 1.0, "operating": -1.0}
    with pytest.raises(Exception, match="if its weight is not negative"):
        om.solve(replace(problem, cost={"name": "weighted-sum", "weights": weights}), "clauses")
    if importlib.util.find_spec("ortools") is not None:
        with pytest.raises(Exception, match="engine 'cpsat' does not price utilisation"):
            om.solve(problem, "clauses:engine=cpsat")
    if missing() is None:
        with pytest.raises(Exception, match="proofs are about prices of open sites"):
            om.solve(problem, "clauses", proof=tmp_path / "a.proof")
