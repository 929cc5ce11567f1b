"""The best cycle of so many slots as a problem: evaluations, walks, bounds, strategies, sentences."""

import dataclasses
import itertools
import json

import cycle_problems
import numpy as np
import pytest

import optmodels as om
from heuristics.testing import check_walk
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.cycles import CycleProblem
from optmodels.testing import check_problem

RATES, WEIGHTS = [0.1, 0.4, 0.2, 0.9], [1.0, 1.0, 2.0, 0.5]


def four(cycle=6, **asked):
    return FreshnessProblem(change_rates=RATES, weights=WEIGHTS, access_time=1.0, cycle=cycle, **asked)


@pytest.mark.parametrize("seed", [*range(14), *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(14, 40)]])
def test_a_random_problem_keeps_the_rules_for_problems(seed):
    problem = cycle_problems.random_cycles(seed)
    if problem is None:
        pytest.skip("its data are refused")
    check_problem(problem, decisions=4, steps=60)
    best = cycle_problems.best_cycle(problem) if problem.space.size < 3000 else None
    if problem.infeasibility():
        assert best is None
    if best is not None:
        assert problem.lower_bound() <= best * (1 + 1e-9)
    for suggested in problem.suggestions(np.random.default_rng(seed)):
        assert problem.space.check(tuple(suggested)) == suggested


@pytest.mark.parametrize("seed", range(12))
def test_a_long_walk_stays_with_the_evaluator(seed):
    rng = np.random.default_rng(seed)
    pages = 12
    problem = FreshnessProblem(
        change_rates=10.0 ** rng.uniform(-8, 3, pages),
        weights=10.0 ** rng.uniform(-8, 3, pages),
        access_time=1.0,
        cycle=int(rng.integers(2, 40)),
        robots=int(rng.integers(1, 3)),
        hosts=np.arange(pages) % 8,
        host_gap=3 if seed % 3 else 1,
        min_frequency=1e-3 if seed % 2 else None,
    )
    walk = problem.start(problem.space.sample(rng))
    walk.follow(walk.draw(rng, 20_000), np.full(20_000, np.inf), -np.inf)
    walk.follow(walk.draw(rng, 20_000), np.zeros(20_000), -np.inf)
    judged = problem.evaluate(walk.current)
    assert walk.penalised == pytest.approx(judged.penalised, rel=1e-9)
    assert walk.feasible == judged.feasible
    check_walk(problem, problem.space.check(walk.current), rng, 50)


def test_idle_slots_cost_what_longer_gaps_do():
    problem = four(4)
    idle, full = ({"schedule": [0, 1, page, 1]} for page in (-1, 0))
    assert problem.evaluate(idle).feasible  # a slot without a visit is no rule broken
    assert problem.evaluate(full).objective < problem.evaluate(idle).objective
    any_length = FreshnessProblem(change_rates=RATES, weights=WEIGHTS, access_time=1.0)
    assert any_length.evaluate(idle).objective == problem.evaluate(idle).objective
    assert any_length.evaluate(idle).feasible


def test_where_a_host_must_rest_no_cycle_of_three_slots_is_full():
    problem = FreshnessProblem(
        change_rates=[1.0, 1.0], weights=[1.0, 1.0], access_time=1.0, hosts=[0, 1], host_gap=2, cycle=3
    )
    found = om.solve(problem, "exhaustive")
    assert sorted(found.decision["schedule"]) == [-1, 0, 1]
    for strategy in ("whittle", "greedy"):
        assert om.solve(problem, strategy).objective == pytest.approx(found.objective)


def test_searches_find_the_best_of_all_cycles():
    problem = four(5, robots=2)
    best = om.solve(problem, "exhaustive")
    assert best.status.value == "optimal"
    for strategy in ("annealing", "genetic", "local-search"):
        assert om.solve(problem, strategy, evaluations=20_000, seed=1).objective == pytest.approx(best.objective)


@pytest.mark.parametrize("strategy", ["whittle", "greedy", "regular", "golden-ratio:form=stateless", "uniform"])
def test_rules_make_cycles_of_the_length_that_is_asked_for(strategy):
    for slots in (1, 5, 30, 45):
        found = om.solve(four(slots), strategy)
        assert len(found.decision["schedule"]) == slots
        assert found.bound <= found.objective


def test_rules_that_make_no_such_cycle_say_so():
    assert len(om.solve(four(8), "power-of-two").decision) == 8
    assert len(om.solve(four(13), "golden-ratio").decision) == 13
    for strategy in ("power-of-two", "golden-ratio", "randomized", "adaptive"):
        with pytest.raises(om.UnsupportedProblem, match=r"makes no cycle of 30 slots.*greedy, whittle and regular"):
            om.solve(four(30), strategy)
    with pytest.raises(om.UnsupportedProblem, match="asks for the best cycle of 30 slots, and frequencies are none"):
        om.solve(four(30), "lagrangian")


def test_the_count_bound_is_that_of_the_best_numbers_of_visits():
    problem = four(9)
    costs = problem.counts.costs
    numbers = (counts for counts in itertools.product(range(10), repeat=4) if sum(counts) == 9)
    best = min(sum(costs[page, count] for page, count in enumerate(counts)) for counts in numbers)
    assert problem.counts.bound == pytest.approx(best, rel=1e-12)
    assert problem.lower_bound() > problem.schedule_bound > problem.relaxed_bound


def test_a_cycle_makes_the_problem_and_without_one_it_is_another():
    plain = FreshnessProblem(change_rates=RATES, weights=WEIGHTS, access_time=1.0)
    cyclic = dataclasses.replace(plain, cycle=5)
    assert type(cyclic) is CycleProblem
    assert type(dataclasses.replace(cyclic, cycle=None)) is FreshnessProblem
    assert cyclic.to_data()["cycle"] == 5
    assert FreshnessProblem.from_data(cyclic.to_data()) == cyclic


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"cycle": 0}, "cycle is 0; slots of a cycle are counted in whole numbers, 1 to 100000"),
        ({"cycle": 2.5}, "slots of a cycle are counted in whole numbers"),
        ({"cycle": 100_001}, "slots of a cycle are counted in whole numbers, 1 to 100000"),
        ({"cycle": 60_000, "robots": 2}, "2 robots would have 120000 slots; 100000 are the most"),
    ],
)
def test_bad_lengths_are_refused(asked, told):
    with pytest.raises(om.RequestError, match=told):
        FreshnessProblem(change_rates=RATES, weights=WEIGHTS, access_time=1.0, **asked)


def test_least_frequencies_that_no_whole_visits_keep():
    problem = four(2, min_frequency=0.2)
    assert "ask for 4 whole visits" in problem.infeasibility()
    assert om.solve(problem, "annealing").status.value == "infeasible"


def test_files_pictures_tables_and_simulations_take_cycles(tmp_path):
    pytest.importorskip("matplotlib")
    problem = FreshnessProblem(
        change_rates=RATES, weights=WEIGHTS, access_time=1.0, hosts=[0, 0, 1, 1], host_gap=2, cycle=5
    )
    answer = om.solve(problem, "annealing", evaluations=2000)
    assert -1 in answer.decision["schedule"]
    data = json.loads(json.dumps(om.result_to_data(answer)))
    assert om.evaluate(problem, data["decision"]).objective == answer.objective
    assert om.plot(problem, answer) is not None
    assert om.plot(problem) is not None
    visits = om.visits(problem, answer)
    assert len(visits["page"]) == 5 - list(answer.decision).count(-1)
    assert om.simulate(problem, answer.decision, replications=5, seed=1).agree is not False
