"""Placements for one of several demands, against loads counted in plain Python for every scenario."""

import itertools
import math

import numpy as np
import pytest

from heuristics import refusal, run
from heuristics.search import Annealing, Exhaustive, Genetic
from heuristics.siting import Dejavu
from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.placement import PlacementProblem
from optmodels.placement.scenarios import ScenarioPlacement

QUALITY = {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16}


def draw(seed: int, count: int | None = None, operating: bool = False, **more) -> ScenarioPlacement:
    """A small random problem: grids and networks, ties, cells and scenarios without clients, slow servers."""
    rng = np.random.default_rng(seed)
    grid = rng.random() < 0.5
    sites = 6
    where = {"shape": [2, 3]} if grid else {"network": {"nodes": sites, "edges": [[0, leaf] for leaf in range(1, 6)]}}

    def shaped(values):
        return np.reshape(values, (2, 3)).tolist() if grid else np.asarray(values).tolist()

    count = count or int(rng.integers(2, 7))
    weights = rng.integers(1, 5, count)
    scenarios = [
        {
            "probability": float(weight / weights.sum()),
            "demand": shaped(rng.integers(0, 14, sites) * (rng.random(sites) < rng.choice([0.3, 0.9]))),
        }
        for weight in weights
    ]
    if rng.random() < 0.2:
        scenarios[0]["demand"] = shaped([0] * sites)
    guarantee = str(rng.choice(["worst-case", "farthest"]))
    return PlacementProblem.from_data(
        {
            **where,
            "scenarios": scenarios,
            "opening_cost": shaped(rng.integers(1, 5, sites)),
            **({"operating_cost": shaped(rng.integers(0, 3, sites))} if operating else {}),
            "service_rate": shaped(rng.choice([26.0, 40.0, 50.0], sites)),
            "think_time": {"base": 0.48, "per_distance": float(rng.choice([0.005, 0.02]))},
            "quality": QUALITY
            | {"guarantee": guarantee, "scenario_probability": float(rng.choice([0.4, 0.7, 0.9, 1.0]))},
        },
        name="drawn",
        **more,
    )


def too_many(problem: ScenarioPlacement, demand, decision) -> int:
    """Clients too many, cell by cell and site by site."""
    open_sites = [site for site, bit in enumerate(decision) if bit]
    if not open_sites:
        return int(sum(demand))
    load, farthest = dict.fromkeys(open_sites, 0), dict.fromkeys(open_sites, 0)
    for cell, clients in enumerate(demand.tolist()):
        if clients == 0:
            continue
        least = min(problem.distances[cell][site] for site in open_sites)
        tied = [site for site in open_sites if problem.distances[cell][site] == least]
        for site in tied:
            load[site] += -(-clients // len(tied))
            farthest[site] = max(farthest[site], least)
    return sum(max(0, load[j] - int(problem.capacity[j, farthest[j] - 1])) for j in open_sites if load[j])


def kept_probability(problem: ScenarioPlacement, decision) -> float:
    return sum(one.probability for one in problem.outcomes if too_many(problem, one.demand, decision) == 0)


@pytest.mark.parametrize("seed", range(24))
def test_a_placement_is_feasible_if_scenarios_probable_enough_are_kept(seed):
    problem = draw(seed)
    least = problem.scenario_probability
    best, met = math.inf, 0
    for decision in problem.space:
        judged, kept = problem.evaluate(decision), kept_probability(problem, decision)
        assert judged.feasible == (kept >= least - 1e-9), decision
        assert judged.violations.get("scenario probability", 0.0) == pytest.approx(max(0.0, least - kept), abs=1e-9)
        assert problem.overloaded(decision).any() <= (not judged.feasible)
        if sum(decision) == 2:
            told = [one["too_many"] for one in problem.describe(decision)["scenarios"]]
            assert told == [too_many(problem, one.demand, decision) for one in problem.outcomes]
        if judged.feasible:
            met += 1
            best = min(best, judged.objective)
            assert judged.penalised == judged.objective
            assert not (np.array(decision) > problem.allowed).any()
        else:
            assert judged.penalised > judged.objective
    assert (problem.infeasibility() is None) == (met > 0)
    assert problem.lower_bound() <= best
    rng = np.random.default_rng(seed)
    for _ in range(5):
        repaired = problem.repair(problem.space.sample(rng), rng)
        assert problem.evaluate(repaired).feasible == (met > 0)
    assert all(problem.evaluate(one).feasible for one in itertools.islice(problem.suggestions(rng), 3))
    found = run(problem, Exhaustive())
    assert (found.objective if met else math.inf) == best


def test_the_drawn_problems_hold_what_they_should():
    problems = [draw(seed) for seed in range(24)]
    judged = [problem.infeasibility() for problem in problems]
    assert any(judged)
    assert not all(judged)
    assert any(not problem.allowed.all() and problem.allowed.any() for problem in problems)
    assert any(problem.scenario_probability < 1 for problem in problems)
    assert any(not one.demand.any() for problem in problems for one in problem.outcomes)


def test_the_penalty_is_what_the_least_crowded_scenarios_have_too_many():
    problem, met = draw(3, count=4), set()
    for decision in problem.space:
        amounts = sorted((too_many(problem, one.demand, decision), one.probability) for one in problem.outcomes)
        expected, reached = 0, 0.0
        for amount, probability in amounts:
            if reached < problem.scenario_probability - 1e-9:
                expected, reached = expected + amount, reached + probability
        met.add(expected)
        judged = problem.evaluate(decision)
        assert judged.penalty == problem.penalty_rate * expected
        assert judged.feasible == (expected == 0)
        assert problem.overloaded(decision).sum() == (expected if any(decision) else 0)
    assert len(met) > 5


# -- one scenario -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limited", [False, True])
def test_one_scenario_is_the_plain_problem(seed, limited):
    limits = Limits({"open_sites": Limit(maximum=3.0)} if limited else {})
    cost = WeightedSum({"opening": 1.0, "operating": 2.0, "mean_distance": 0.5}) if seed % 2 else None
    one = draw(100 + seed, count=1, operating=True, cost=cost, limits=limits)
    data = {name: value for name, value in one.to_data().items() if name != "scenarios"}
    data["quality"] = {name: value for name, value in data["quality"].items() if name != "scenario_probability"}
    data["demand"] = one.to_data()["scenarios"][0]["demand"]
    plain = PlacementProblem.from_data(data, name="drawn", cost=cost, limits=limits)
    assert type(plain) is PlacementProblem
    assert (one.capacity == plain.capacity).all()
    assert (one.allowed == plain.allowed).all()
    assert (one.infeasibility() is None) == (plain.infeasibility() is None)
    assert one.lower_bound() == plain.lower_bound()
    assert one.penalty_rate == plain.penalty_rate
    for decision in plain.space:
        ours, theirs = one.evaluate(decision), plain.evaluate(decision)
        assert (ours.objective, ours.feasible, dict(ours.measures)) == (
            theirs.objective,
            theirs.feasible,
            dict(theirs.measures),
        )
        assert ours.penalised == theirs.penalised
        assert (one.overloaded(decision) == plain.overloaded(decision)).all()
        told = one.describe(decision)
        assert told.pop("scenarios")[0]["probability"] == 1.0
        assert told == plain.describe(decision)
    rng = np.random.default_rng(seed)
    for decision in (one.space.sample(rng) for _ in range(10)):
        repaired = [problem.repair(decision, np.random.default_rng(seed)) for problem in (one, plain)]
        assert repaired[0] == repaired[1]


# -- measures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_measures_are_the_worst_or_the_expectation_over_all_scenarios(seed):
    problem = draw(200 + seed, operating=True)
    for decision in itertools.islice(problem.space, 1, None, 7):
        found = problem.evaluate(decision).measures
        alone = [part.evaluate(decision).measures for part in problem.parts]
        for name in ("operating", "mean_delay", "mean_distance"):
            pairs = [
                (one.probability, part[name])
                for one, part in zip(problem.outcomes, alone, strict=True)
                if part[name] is not None
            ]
            mean = sum(p * value for p, value in pairs) / sum(p for p, _ in pairs) if pairs else None
            assert found[name] == (None if mean is None else pytest.approx(mean, rel=1e-12))
        for name, worst in (("worst_throughput", min), ("worst_delay_probability", max)):
            assert found[name] == worst((part[name] for part in alone if part[name] is not None), default=None)


# -- strategies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1])
def test_searches_find_the_optimum_of_small_problems(number):
    feasible = (problem for seed in range(24) if (problem := draw(seed)).infeasibility() is None)
    problem = next(itertools.islice(feasible, number, None))
    best = run(problem, Exhaustive()).objective
    assert best is not None
    assert run(problem, Annealing(steps=500), seed=1).objective == best
    assert run(problem, Genetic(population=10, generations=3), seed=1).objective == best


def test_dejavu_looks_at_one_demand_and_is_refused():
    sentence = refusal(draw(0), Dejavu())
    assert sentence is not None
    assert "does not apply" in sentence


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_the_picture_is_that_of_the_most_crowded_scenario_that_is_kept():
    pytest.importorskip("matplotlib")
    from optmodels.placement import draw_placement

    feasible = (problem for seed in range(24) if (problem := draw(seed, count=4)).infeasibility() is None)
    problem = next(one for one in feasible if one.scenario_probability < 1 and one.allowed.any())
    decision = run(problem, Exhaustive()).decision
    told = problem.describe(decision)["scenarios"]
    shown, words = problem.pictured(decision)
    assert shown.demand.sum() == max(one["clients"] for one in told if one["kept"])
    figure = draw_placement(problem, {"decision": list(decision)})
    title = " ".join(figure.get_suptitle().split())
    assert all(word in title for word in words)
    assert f"{sum(one['kept'] for one in told)} scenarios kept" in title
    everyone = draw_placement(problem, None).get_suptitle()
    assert f"{max(one['clients'] for one in told)} clients" in " ".join(everyone.split())
