"""Sites that are fixed, and limits on the number of open sites: every strategy against plain enumeration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import optmodels as om
from heuristics import Oracle, run
from heuristics.search import Exhaustive, LocalSearch
from heuristics.testing import check_space, check_walk
from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.errors import InstanceError
from optmodels.placement import PlacementProblem
from optmodels.placement.clauses.search import Search
from optmodels.placement.geometry import fixed_sites
from optmodels.placement.proofs import verify_proof
from optmodels.placement.proofs.verifying import is_overload
from optmodels.placement.walk import PlacementWalk

SERVER = {
    "service_rate": 50,
    "think_time": {"base": 0.48, "per_distance": 0.02},
    "quality": {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16, "guarantee": "farthest"},
}


def grid(seed: int, rows: int = 2, columns: int = 4, **changes) -> PlacementProblem:
    rng = np.random.default_rng(seed)
    shape = (rows, columns)
    costs = rng.integers(0, 4, shape) if seed % 2 else rng.uniform(0.5, 3.0, shape).round(2)
    data = {"demand": rng.integers(0, 15, shape), "opening_cost": costs, **SERVER, **changes}
    return PlacementProblem(name="grid", **data)


def some_sites(rng: np.random.Generator, sites: int) -> dict[str, list[int]]:
    """Up to a third of the sites fixed open, and as many closed."""
    order = rng.permutation(sites).tolist()
    first, second = rng.integers(0, sites // 3 + 1, 2)
    return {"fixed_open": order[:first], "fixed_closed": order[first : first + second]}


def by_enumeration(problem: PlacementProblem) -> list[tuple[float, tuple[int, ...]]]:
    """Feasible placements, cheapest first, by loads and capacities: nothing that knows of fixed sites is asked."""
    free = replace(problem, fixed_open=[], fixed_closed=[], limits=None)
    fewest, most = problem.limits.by_measure.get("open_sites", Limit()).minimum, problem.numbers[1]
    kept = []
    for decision in product((0, 1), repeat=problem.layout.sites):
        misplaced = any(not decision[site] for site in problem.fixed_open)
        misplaced |= any(decision[site] for site in problem.fixed_closed)
        if misplaced or not fewest <= sum(decision) <= most or not any(decision):
            continue
        if not free.overloaded(decision).any():
            kept.append((free.evaluate(decision).objective, decision))
    return sorted(kept)


def restricted(seed: int, columns: int = 4) -> PlacementProblem:
    """A grid with fixed sites, and for two seeds of three a limit on their number."""
    rng = np.random.default_rng(1000 + seed)
    problem = replace(grid(seed, columns=columns), **some_sites(rng, 2 * columns))
    count = int(rng.integers(1, 2 * columns))
    limits = ({}, {"open_sites": {"min": count, "max": count}}, {"open_sites": {"min": count}})[seed % 3]
    weights = {"opening": 1.0} if seed % 2 else {"opening": 0.5, "open_sites": 0.25, "mean_distance": 3.0}
    return replace(problem, limits=limits, cost=WeightedSum(weights))


@pytest.mark.parametrize("seed", range(30))
def test_evaluation_and_enumeration_keep_fixed_sites(seed):
    problem = restricted(seed, columns=3)
    listed = by_enumeration(problem)
    feasible = {decision for decision in product((0, 1), repeat=6) if problem.evaluate(decision).feasible}
    assert feasible == {decision for _, decision in listed}
    found = run(problem, Exhaustive())
    assert found.status == ("optimal" if listed else "infeasible")
    if listed:
        assert found.objective == pytest.approx(listed[0][0], rel=1e-12)
        assert problem.lower_bound() <= listed[0][0] + 1e-9
    everywhere = np.any([decision for _, decision in listed], axis=0) if listed else np.zeros(6, bool)
    assert (problem.allowed >= everywhere).all()


def test_the_enumerations_had_answers_and_had_none():
    statuses = [bool(by_enumeration(restricted(seed, columns=3))) for seed in range(30)]
    assert 3 <= sum(statuses) <= 27


@pytest.mark.parametrize("seed", range(12))
def test_walks_and_spaces_keep_fixed_sites_and_numbers(seed):
    problem, rng = restricted(seed), np.random.default_rng(seed)
    check_space(problem.space, rng)
    assert all(decision[site] for decision in problem.space for site in problem.fixed_open)
    for start in (problem.space.sample(rng), tuple(rng.integers(0, 2, 8).tolist())):  # the other may break them
        assert isinstance(problem.start(start), PlacementWalk)
        check_walk(problem, start, rng, 60)
    moves = problem.start(problem.space.sample(rng)).draw(rng, 500)
    fixed = {*problem.fixed_open, *problem.fixed_closed}
    assert not problem.allowed.any() or not fixed & {int(site) for site in moves.ravel() if site >= 0}


@pytest.mark.parametrize("seed", range(12))
def test_repair_keeps_fixed_sites_and_opens_as_many_as_asked(seed):
    problem, rng = restricted(seed), np.random.default_rng(seed)
    if problem.infeasibility() is not None:
        return
    most = problem.numbers[1]
    for _ in range(10):
        repaired = problem.repair(tuple(rng.integers(0, 2, 8).tolist()), rng)
        broken = problem.evaluate(repaired).violations
        assert not broken or (sum(repaired) > most and len(broken) == 1)  # whom a limit keeps closed is not looked at


@pytest.mark.parametrize("strategy", ["dejavu", "annealing", "genetic:population=10", "local-search"])
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_searches_keep_fixed_sites(strategy, seed):
    problem = restricted(seed)
    listed = by_enumeration(problem)
    found = om.solve(problem, strategy, evaluations=3000, seed=seed)
    if found.status == "feasible":
        assert found.decision in [decision for _, decision in listed]
        if strategy != "dejavu":
            assert found.objective == pytest.approx(listed[0][0], rel=1e-9)
    else:
        assert strategy == "dejavu" or not listed


@pytest.mark.parametrize("strategy", ["highs", "clauses:engine=highs"])
@pytest.mark.parametrize("seed", [1, 5, 7])
def test_proofs_keep_fixed_sites_and_numbers(strategy, seed):
    problem = restricted(seed)
    listed = by_enumeration(problem)
    found = om.solve(problem, strategy)
    assert found.status == ("optimal" if listed else "infeasible")
    if listed:
        assert found.objective == pytest.approx(listed[0][0], rel=1e-9)


def test_exactly_p_sites_by_highs_clauses_and_searches():
    problem = grid(11, limits={"open_sites": {"min": 5, "max": 5}})
    least = by_enumeration(problem)[0][0]
    assert least > by_enumeration(replace(problem, limits=None))[0][0]  # so the limit says something
    for strategy in ("highs", "clauses:engine=highs", "exhaustive", "annealing", "local-search"):
        found = om.solve(problem, strategy, evaluations=None if "=" in strategy or strategy == "highs" else 5000)
        assert (sum(found.decision), found.objective) == (5, pytest.approx(least, rel=1e-12))


def test_parts_of_a_problem_have_its_fixed_sites():
    problem = grid(3, fixed_open=[1, 6], fixed_closed=[2])
    part = problem.restrict([6, 5, 2, 1])
    assert (part.fixed_open, part.fixed_closed) == ((0, 3), (2,))


@pytest.mark.parametrize("kind", ["scenarios", "classes"])
@pytest.mark.parametrize("seed", range(4))
def test_scenarios_and_classes_keep_fixed_sites(kind, seed):
    rng = np.random.default_rng(seed)
    fixed = some_sites(rng, 6)
    demands = rng.integers(0, 9, (2, 2, 3)).tolist()
    quality = SERVER["quality"] | {"guarantee": "worst-case"}
    costs = rng.integers(1, 4, (2, 3)).tolist()
    given = {"opening_cost": costs, "service_rate": 50, "quality": quality, **fixed}
    if kind == "scenarios":
        given["scenarios"] = [{"probability": 0.5, "demand": demand} for demand in demands]
        given["think_time"] = SERVER["think_time"]
    else:
        listed = zip("ab", demands, strict=True)
        given["classes"] = [{"name": n, "demand": d, "think_time": SERVER["think_time"]} for n, d in listed]
    problem, free = PlacementProblem(**given), PlacementProblem(**given | {"fixed_open": (), "fixed_closed": ()})
    kept = [
        decision
        for decision in product((0, 1), repeat=6)
        if free.evaluate(decision).feasible
        and all(decision[site] for site in problem.fixed_open)
        and not any(decision[site] for site in problem.fixed_closed)
    ]
    assert {d for d in product((0, 1), repeat=6) if problem.evaluate(d).feasible} == set(kept)
    found = run(problem, Exhaustive())
    assert found.status == ("optimal" if kept else "infeasible")
    if kept:
        assert found.objective == min(free.evaluate(decision).objective for decision in kept)
        assert problem.repair(problem.space.sample(rng), rng) in kept
        assert run(problem, LocalSearch(restarts=3)).decision in kept


def test_fixed_sites_are_written_and_read():
    problem = grid(3, fixed_open=np.array([1, 6]), fixed_closed=[2])
    assert {name: problem.to_data()[name] for name in ("fixed_open", "fixed_closed")} == {
        "fixed_open": [1, 6],
        "fixed_closed": [2],
    }
    assert PlacementProblem.from_data(problem.to_data()) == replace(problem, name="placement")
    assert "fixed_open" not in grid(3).to_data()
    assert replace(problem, fixed_open=()).fixed_open == ()


def test_broken_sites_are_told_by_field():
    problem = grid(3, fixed_open=[1, 6], fixed_closed=[2])
    violations = problem.evaluate((1, 0, 1, 1, 1, 1, 0, 1)).violations
    assert (violations["fixed_open"], violations["fixed_closed"]) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("fixed", "place", "rule"),
    [
        ({"fixed_open": [8]}, r"fixed_open\[0\]", "there are 8 sites, numbered from 0"),
        ({"fixed_closed": [1, -1]}, r"fixed_closed\[1\]", "fixed sites are a list of site numbers from 0"),
        ({"fixed_closed": [1, 1]}, r"fixed_closed\[1\]", "each once"),
        ({"fixed_closed": 3}, "fixed_closed", "fixed sites are a list"),
        ({"fixed_open": [1.5]}, r"fixed_open\[0\]", "site numbers"),
        ({"fixed_open": [True]}, r"fixed_open\[0\]", "site numbers"),
        ({"fixed_open": [4, 1], "fixed_closed": [0, 1]}, r"fixed_closed\[1\]", "this site is fixed open, too"),
    ],
)
def test_what_cannot_be_fixed_is_refused_by_place(fixed, place, rule):
    with pytest.raises(InstanceError, match=place) as failure:
        grid(3, **fixed)
    assert rule in str(failure.value)


def test_why_nothing_is_feasible_is_told():
    assert "fixed closed" in grid(3, fixed_closed=range(8)).infeasibility()
    told = grid(3, fixed_open=[1, 2, 3], limits={"open_sites": 2}).infeasibility()
    assert told == "3 sites are fixed open, and the limits allow 2 at most."
    told = grid(3, fixed_closed=[1, 2], limits=Limits({"open_sites": Limit(minimum=7)})).infeasibility()
    assert told == "6 sites can be open, and the limits ask for 7 at least."
    crowded = np.array([[14, 1, 1, 1], [1, 1, 1, 1]])
    slow = np.full((2, 4), 50.0)
    slow[0, 0] = 20.0  # too slow for the clients next to it
    problem = grid(3, demand=crowded, service_rate=slow, fixed_open=[0])
    assert problem.infeasibility() == "cell (0, 0) is fixed open, and overloaded even with all other sites open."
    assert replace(problem, fixed_open=[]).infeasibility() is None


def test_sites_are_noted_once():
    assert fixed_sites([], [1], 3).tolist() == [-1, 0, -1]


def test_proofs_about_fixed_sites_are_verified_and_not_without_them(tmp_path):
    pytest.importorskip("pysat", reason="the extra 'sat' is not installed")
    problem = grid(11, rows=3, fixed_open=[1], fixed_closed=[6, 10])
    file = tmp_path / "fixed.proof"
    found = om.solve(problem, "clauses:engine=sat", seed=1, proof=str(file))
    listed = by_enumeration(problem)
    assert (found.status, found.objective) == ("optimal", pytest.approx(listed[0][0]))
    assert verify_proof(file, problem).verified
    assert is_overload(problem, (-7,)) and is_overload(problem, (2, 3))  # closed whatever else is; one that is open
    free = replace(problem, fixed_open=(), fixed_closed=())
    assert not is_overload(free, (-7,)) and not is_overload(free, (2, 3))


def test_clauses_know_of_sites_that_nobody_needs_and_that_are_fixed_open():
    free = grid(11)
    best = by_enumeration(free)[0][1]
    idle = max((site for site in range(8) if not best[site]), key=lambda site: free.opening_cost[site])
    problem = replace(free, fixed_open=[idle])
    listed = by_enumeration(problem)
    assert listed[0][0] > by_enumeration(free)[0][0]
    search = Search(Oracle(problem), np.random.default_rng(0), ("highs",))
    search.make_clauses()
    assert (idle + 1,) in set(search.pool)
    found = om.solve(problem, "clauses:engine=highs", seconds=30)
    assert (found.status, found.objective) == ("optimal", pytest.approx(listed[0][0]))
