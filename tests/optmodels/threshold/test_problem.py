"""Threshold problems: decisions, costs, limits, what is told about an answer, and strategies that find it."""

import json
import math
import pickle
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.errors import InstanceError, RequestError
from optmodels.instance import Instance, load, read
from optmodels.solving import evaluate, solve
from optmodels.testing import check_problem
from optmodels.threshold import ThresholdProblem
from optmodels.threshold.subsets import of_subset, single_mode, subsets
from queueing import BMAP, Mode, PhaseType, ThresholdQueue

PRICES = {"loss_rate": 5, "obsolescence_rate": 10, "response_time": 2, "active_robots": 20, "starvation": 300}


@pytest.fixture(scope="module")
def paper(instances) -> ThresholdProblem:
    """The example of section 7, K = 5."""
    return load(instances / "threshold" / "avrachenkov-k5.json")


def small(**changes) -> ThresholdProblem:
    """Poisson arrivals, two modes, room for three pages."""
    fields = {"modes": (Mode(1, BMAP.poisson(0.5)), Mode(2, BMAP.poisson(1.5))), "service": PhaseType.exponential(1.0)}
    fields |= {"patience": PhaseType.exponential(0.2), "capacity": 3}
    return ThresholdProblem(**{"name": "small", "cost": PRICES} | fields | changes)


# -- decisions ---------------------------------------------------------------------------------------------------------


def test_decisions_are_all_non_decreasing_thresholds(paper):
    assert list(paper.space) == list(combinations_with_replacement(range(-1, 6), 3))
    assert paper.space.size == 84


def test_decisions_that_use_all_modes_have_thresholds_from_0_to_k_minus_1(paper):
    chosen = replace(paper, use_all_modes=True)
    assert list(chosen.space) == list(combinations_with_replacement(range(5), 3))
    found = solve(chosen, "exhaustive")
    assert found.decision == (0, 2, 2)
    assert found.objective == pytest.approx(67.5207, abs=5e-5)


@pytest.mark.parametrize("strategy", ["exhaustive", "local-search", "annealing", "genetic"])
def test_one_mode_has_the_one_decision_without_thresholds(strategy):
    problem = small(modes=(Mode(3, BMAP.poisson(1.0)),))
    assert list(problem.space) == [()]
    found = solve(problem, strategy, evaluations=50)
    assert found.decision == ()
    assert found.extra["mode_probabilities"] == [pytest.approx(1.0)]
    check_problem(problem, decisions=3)


def test_a_sub_set_of_modes_is_a_decision_of_all(paper):
    assert of_subset(paper, (2, 0), (2,)) == (-1, 2, 2)
    assert of_subset(paper, (3, 1, 0), (1, 2)) == (1, 1, 2)
    assert of_subset(paper, (3, 2, 1, 0), (0, 2, 3)) == (0, 2, 3)
    assert [single_mode(paper, index) for index in range(4)] == [(-1, -1, -1), (-1, -1, 5), (-1, 5, 5), (5, 5, 5)]
    assert len(list(subsets(paper))) == 15


def test_a_decision_runs_the_modes_of_its_sub_set_and_no_others(paper):
    rng = np.random.default_rng(1)
    for modes in subsets(paper):
        thresholds = np.sort(rng.integers(0, 5, len(modes) - 1)).tolist()
        by_level = paper.queue.mode_by_level(of_subset(paper, modes, thresholds))
        expected = [modes[sum(level > limit for limit in thresholds)] for level in range(6)]
        assert by_level.tolist() == expected


def test_thresholds_that_are_equal_move_alone_or_together(paper):
    assert set(paper.space.neighbours((-1, 3, 3))) == {(0, 3, 3), (-1, 2, 3), (-1, 2, 2), (-1, 3, 4), (-1, 4, 4)}
    assert set(paper.space.neighbours((5, 5, 5))) == {(4, 5, 5), (4, 4, 5), (4, 4, 4)}


def test_neighbourhood_is_mutual_and_listed_once(paper):
    around = {decision: list(paper.space.neighbours(decision)) for decision in paper.space}
    for decision, near in around.items():
        assert len(set(near)) == len(near)
        assert decision not in near
        assert all(one in paper.space and decision in around[one] for one in near)


# -- judging -----------------------------------------------------------------------------------------------------------


def test_the_best_policy_of_the_paper(paper):
    found = solve(paper, "exhaustive")
    assert found.status == "optimal"
    assert found.decision == (-1, 2, 2)
    assert found.objective == pytest.approx(63.5425, abs=5e-5)
    assert found.evaluations == 84


@pytest.mark.parametrize("strategy", ["local-search", "annealing", "genetic"])
@pytest.mark.parametrize("seed", range(3))
def test_searches_find_the_best_policy_of_the_paper(strategy, seed, paper):
    found = solve(paper, strategy, evaluations=2_000, seed=seed)
    assert found.decision == (-1, 2, 2)
    assert found.objective == pytest.approx(63.5425, abs=5e-5)
    assert found.status == "feasible"  # a search proves nothing


def test_many_decisions_are_judged_as_each_alone(paper):
    decisions = list(paper.space)[::5]
    for decision, judged in zip(decisions, paper.evaluate_many(decisions), strict=True):
        alone = paper.evaluate(decision)
        assert judged.objective == pytest.approx(alone.objective, rel=1e-12)
        assert dict(judged.measures) == {
            name: pytest.approx(value, rel=1e-12) for name, value in alone.measures.items()
        }


def test_the_cost_is_any_function_of_the_measures(paper):
    judged = replace(paper, cost=lambda measures: measures["loss"] ** 2).evaluate((-1, 2, 2))
    assert judged.objective == pytest.approx(0.173437**2, rel=1e-5)


def test_without_a_cost_policies_are_evaluated_and_not_compared(paper):
    priceless = replace(paper, cost=None)
    judged = evaluate(priceless, (-1, 2, 2))
    assert math.isnan(judged.evaluation.objective)
    assert judged.evaluation.measures["starvation"] == pytest.approx(0.064800, abs=5e-7)
    assert judged.extra["best_by_modes"] is judged.extra["relative_profit"] is None
    with pytest.raises(RequestError, match="has no cost to minimise"):
        solve(priceless, "exhaustive")
    check_problem(priceless)


def test_limits_on_measures_rule_policies_out(paper):
    strict = replace(paper, limits=Limits({"loss": Limit(maximum=0.02)}))
    assert not strict.evaluate((-1, 2, 2)).feasible
    found = solve(strict, "exhaustive")
    everything = [paper.evaluate(decision) for decision in paper.space]
    kept = [judged.objective for judged in everything if judged.measures["loss"] <= 0.02]
    assert kept == [] or found.objective == pytest.approx(min(kept))
    looser = solve(replace(paper, limits=Limits({"loss": Limit(maximum=0.15)})), "exhaustive")
    kept = [judged.objective for judged in everything if judged.measures["loss"] <= 0.15]
    assert 0 < len(kept) < 84
    assert looser.objective == pytest.approx(min(kept))
    assert looser.objective > 63.55


def test_no_policy_at_all_may_keep_the_limits(paper):
    impossible = replace(paper, limits=Limits({"loss": Limit(maximum=1e-9)}))
    assert solve(impossible, "exhaustive").status == "infeasible"
    assert all(row["free"] is None for row in impossible.best_by_modes)


def test_a_policy_without_arrivals_has_no_cost_and_is_not_the_answer():
    idle = Mode(0, BMAP(([[0.0]], [[0.0]])))
    problem = small(modes=(idle, Mode(1, BMAP.poisson(1.0))), cost=WeightedSum({"response_time": 1.0}))
    judged = problem.evaluate((-1,))
    assert judged.violations == {"response_time undefined": 1.0}
    found = solve(problem, "exhaustive")
    assert found.decision == (0,)  # a page at a time
    assert found.objective == pytest.approx(1.0)
    assert found.extra["single_mode_costs"]["0"] is None
    check_problem(problem)


@pytest.mark.parametrize(
    ("changes", "why"), [({"patience": None}, "patience is null"), ({"capacity": 1}, "ever waits")]
)
def test_a_price_on_obsolete_pages_where_there_are_none_is_refused(changes, why):
    data = small(**changes).to_data()
    with pytest.raises(InstanceError, match=f"^cost.weights.obsolete_time is 2.0; no page .*{why}"):
        ThresholdProblem.from_data(data, cost=WeightedSum({"obsolete_time": 2.0}))
    free = ThresholdProblem.from_data(data, cost=WeightedSum({"obsolete_time": 0.0, "loss": 1.0}))
    assert free.evaluate((1,)).measures["obsolete_time"] is None if changes.get("capacity") != 1 else True


def test_rates_too_far_apart_are_told_in_one_sentence(monkeypatch, paper):
    def refuse(*_):
        raise ValueError("loss came out as nan")

    monkeypatch.setattr(ThresholdQueue, "measures", refuse)
    with pytest.raises(RequestError, match=r"cannot be evaluated at \(-1, 2, 2\): loss came out as nan"):
        paper.evaluate((-1, 2, 2))


# -- what is told ------------------------------------------------------------------------------------------------------


def test_a_policy_is_described_level_by_level_and_mode_by_mode(paper):
    told = paper.describe((-1, 2, 2))
    found = paper.queue.measures((-1, 2, 2))
    assert told["level_probabilities"] == list(found.level_probabilities)
    assert sum(told["level_probabilities"]) == pytest.approx(1)
    assert told["robots"] == [1, 2, 3, 4]
    assert told["mode_probabilities"][1] == told["mode_probabilities"][3] == 0
    assert sum(told["mode_probabilities"]) == pytest.approx(1)
    assert sum(told["level_probabilities"][:3]) == pytest.approx(told["mode_probabilities"][2])
    assert told["single_mode_costs"] == {
        "1": pytest.approx(149.9115, abs=5e-5),
        "2": pytest.approx(110.0090, abs=5e-5),
        "3": pytest.approx(89.4051, abs=5e-5),
        "4": pytest.approx(130.3125, abs=5e-5),
    }
    assert told["relative_profit"] == pytest.approx(0.28927, abs=5e-6)
    assert told["method"] == "elimination"
    assert 0 < told["error_estimate"] < 1e-12


def test_the_best_of_every_sub_set_of_modes_with_and_without_the_duty_to_use_them_all(paper):
    rows = {tuple(row["robots"]): row for row in paper.best_by_modes}
    assert len(rows) == 15
    for robots, row in rows.items():
        for name, lowest, highest in (("all_used", 0, 4), ("free", -1, 5)):
            indices = [value - 1 for value in robots]
            best = min(
                (paper.evaluate(of_subset(paper, indices, thresholds)).objective, thresholds)
                for thresholds in combinations_with_replacement(range(lowest, highest + 1), len(robots) - 1)
            )
            assert row[name]["objective"] == pytest.approx(best[0], rel=1e-12)
            assert paper.evaluate(tuple(row[name]["decision"])).objective == pytest.approx(best[0], rel=1e-12)
    assert rows[4, 3]["all_used"] == {
        "thresholds": [0],
        "objective": pytest.approx(94.1413, abs=5e-5),
        "decision": [0, 5, 5],
    }
    assert rows[4, 3]["free"]["thresholds"] == [-1]
    assert replace(paper, use_all_modes=True).best_by_modes == paper.best_by_modes


def test_sub_sets_of_long_searches_are_not_told_in_passing(instances):
    assert load(instances / "threshold" / "avrachenkov-k100.json").describe((-1, 3, 3))["best_by_modes"] is None


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_problem_survives_the_way_to_a_file(paper):
    data = json.loads(json.dumps(paper.to_data()))
    again = ThresholdProblem.from_data(data, name=paper.name, cost=paper.cost)
    assert again.queue == paper.queue
    assert again.to_data() == paper.to_data()
    assert pickle.loads(pickle.dumps(paper)).evaluate((-1, 2, 2)).objective == paper.evaluate((-1, 2, 2)).objective


def test_an_instance_can_be_written_from_a_problem(paper):
    content = Instance.from_problem(paper, source="a test")
    assert content.problem().evaluate((-1, 2, 2)).objective == pytest.approx(63.5425, abs=5e-5)


def test_shipped_answers_are_proved_and_there_is_a_file_for_every_row_of_the_paper(instances):
    files = sorted((instances / "threshold").glob("*.json"))
    assert len(files) == 14 + 14 + 21 + 6 + 5 + 2 + 3  # tables and figures, the crawler, two with limits, a formula
    assert all(read(file).best_known.proved for file in files)


@pytest.mark.parametrize("name", ["avrachenkov-k1", "avrachenkov-k10", "avrachenkov-service-15", "inria-quiet-mended"])
def test_enumeration_finds_the_shipped_answer(name, instances):
    content = read(instances / "threshold" / f"{name}.json")
    found = solve(instances / "threshold" / f"{name}.json", "exhaustive")
    assert list(found.decision) == content.best_known.decision
    assert found.objective == pytest.approx(content.best_known.objective, rel=1e-12)


def test_a_complete_search_proves_nothing_where_policies_are_only_estimated(instances):
    small = load(instances / "threshold" / "avrachenkov-fig4-3.json")
    large = replace(small, capacity=60)
    assert not small.estimated
    assert large.estimated
    assert not load(instances / "threshold" / "avrachenkov-k100.json").estimated


@pytest.mark.filterwarnings("error")
def test_a_price_beyond_all_numbers_is_infinite_one_by_one_and_together(paper):
    dear = replace(paper, cost=WeightedSum({"active_robots": 1.7e308, "starvation": 1.0}))
    policies = list(paper.space)[:20]
    together = [one.objective for one in dear.evaluate_many(policies)]
    assert together == pytest.approx([dear.evaluate(policy).objective for policy in policies], rel=1e-9)
    assert math.inf in together
