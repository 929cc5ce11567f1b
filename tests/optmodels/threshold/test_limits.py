"""Limits on the measures of threshold policies: who keeps them, who says so, and what happens where nobody can."""

import json
from dataclasses import replace

import pytest

from optmodels.cli import main
from optmodels.costs import Limit, Limits
from optmodels.instance import load, read
from optmodels.solving import evaluate, solve
from optmodels.threshold import ThresholdProblem


@pytest.fixture(scope="module")
def paper(instances) -> ThresholdProblem:
    """The example of section 7, K = 5."""
    return load(instances / "threshold" / "avrachenkov-k5.json")


def limited(problem: ThresholdProblem, **most: float) -> ThresholdProblem:
    """The same problem with measures limited from above."""
    return replace(problem, limits=Limits({name: Limit(maximum=value) for name, value in most.items()}))


@pytest.mark.parametrize("strategy", ["exhaustive", "local-search", "annealing", "genetic"])
def test_every_strategy_keeps_a_loss_below_15_percent(strategy, instances):
    found = solve(instances / "threshold" / "avrachenkov-k5-loss-15.json", strategy, evaluations=300)
    assert found.decision == (-1, 1, 1)
    assert found.objective == pytest.approx(67.4438, abs=5e-5)
    assert found.status == ("optimal" if strategy == "exhaustive" else "feasible")


@pytest.mark.parametrize(("strategy", "status"), [("exhaustive", "infeasible"), ("annealing", "unknown")])
def test_a_loss_below_2_percent_is_proved_impossible_by_enumeration_only(strategy, status, paper):
    found = solve(limited(paper, loss=0.02), strategy, evaluations=300)
    assert found.decision is None
    assert found.status == status


@pytest.mark.parametrize("strategy", ["local-search", "annealing", "genetic"])
def test_searches_find_the_few_policies_that_keep_a_tight_limit(strategy, instances):
    # The limit lets 20 of 2024 policies through, all far from where the cost alone would lead.
    problem = load(instances / "threshold" / "avrachenkov-k20.json")
    judged = problem.evaluate_many(list(problem.space))
    tight = limited(problem, starvation=sorted(one.measures["starvation"] for one in judged)[19])
    best = solve(tight, "exhaustive")
    assert solve(problem, "exhaustive").objective < 0.6 * best.objective
    found = [solve(tight, strategy, evaluations=1000, seed=seed).objective for seed in range(3)]
    assert min(value for value in found if value is not None) == pytest.approx(best.objective, rel=1e-9)


def test_a_limit_at_the_very_value_of_a_policy_is_kept_by_it_on_every_road(paper):
    # One policy and many are judged by different computations, which differ by rounding.
    for decision in [(-1, 2, 2), (0, 2, 4), (1, 1, 3)]:
        measures = paper.evaluate(decision).measures
        problem = limited(paper, **{name: measures[name] for name in ("loss", "response_time", "starvation")})
        assert problem.evaluate(decision).feasible
        assert all(one.feasible for one in problem.evaluate_many([decision]))
        assert solve(problem, "exhaustive").objective <= paper.evaluate(decision).objective * (1 + 1e-12)


def test_a_limit_from_below_is_kept_too(paper):
    wanted = replace(paper, limits=Limits({"success": Limit(minimum=0.7)}))
    found = solve(wanted, "exhaustive")
    assert found.evaluation.measures["success"] >= 0.7
    kept = [one for one in paper.evaluate_many(list(paper.space)) if one.measures["success"] >= 0.7]
    assert found.objective == min(one.objective for one in kept)


def test_the_table_of_sub_sets_has_only_policies_within_the_limits(instances):
    problem = load(instances / "threshold" / "avrachenkov-k5-loss-15.json")
    rows = {tuple(row["robots"]): row for row in problem.best_by_modes}
    assert rows[3,]["all_used"] is None  # three robots alone lose 38 %
    assert rows[3, 1]["all_used"]["thresholds"] == [1]
    assert rows[4, 3, 1] | {"robots": None} == {
        "robots": None,
        "all_used": None,
        "free": {"thresholds": [-1, 1], "objective": rows[3, 1]["free"]["objective"], "decision": [-1, 1, 1]},
    }
    told = [row[duty] for row in rows.values() for duty in ("all_used", "free") if row[duty] is not None]
    assert all(problem.evaluate(tuple(one["decision"])).feasible for one in told)


def test_a_broken_limit_is_told_with_its_amount(instances, capsys):
    file = str(instances / "threshold" / "avrachenkov-k5-loss-15.json")
    judged = evaluate(file, (-1, 2, 2))
    assert judged.status == "unknown"
    assert judged.evaluation.violations == {"loss above 0.15": pytest.approx(0.0234372, abs=5e-8)}
    assert main(["evaluate", file, "--at=-1,2,2"]) == 0
    assert "broken: loss above 0.15, by 0.0234372" in capsys.readouterr().out


def test_an_answer_beyond_the_limits_is_not_verified(instances, tmp_path, capsys):
    free, bound = (instances / "threshold" / f"avrachenkov-k5{name}.json" for name in ("", "-loss-15"))
    answer = tmp_path / "answer.json"
    assert main(["solve", str(free), "--strategy", "exhaustive", "--out", str(answer)]) == 0
    claimed = json.loads(answer.read_text()) | {"problem": "avrachenkov-k5-loss-15"}
    answer.write_text(json.dumps(claimed))
    capsys.readouterr()
    assert main(["verify", str(answer), str(bound)]) == 2
    assert "breaks loss above 0.15" in capsys.readouterr().err


def test_impossible_limits_end_with_exit_code_3(instances, tmp_path, capsys):
    content = read(instances / "threshold" / "avrachenkov-k5-loss-15.json").to_data()
    content |= {"limits": {"loss": 0.02}, "best_known": None}
    file = tmp_path / "impossible.json"
    file.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
    assert main(["solve", str(file), "--strategy", "exhaustive", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["status"] == "infeasible"


def test_far_from_a_limit_is_measured_on_the_scale_of_the_limit():
    tiny, long = Limits({"loss": Limit(maximum=1e-6)}), Limits({"mean_length": Limit(maximum=10.0)})
    assert tiny.excess({"loss": 2e-6}) == pytest.approx(long.excess({"mean_length": 20.0}))
    assert tiny.excess({"loss": 1e-6}) == 0
    assert Limits({"loss": Limit(maximum=0.0)}).excess({"loss": 1.0}) == pytest.approx(0.6931, abs=5e-5)
