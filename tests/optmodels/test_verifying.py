"""Answers are checked without the strategy that gave them."""

from dataclasses import replace

import pytest

from heuristics import Evaluation, Result, Status
from heuristics.testing import Knapsack
from optmodels import instance as instances
from optmodels.errors import InstanceError
from optmodels.solving import evaluate, solve
from optmodels.verifying import verify


@pytest.fixture(scope="module")
def file(instances):
    return instances / "placement" / "gautam-2x3.json"


@pytest.fixture(scope="module")
def problem(file):
    return instances.load(file)


@pytest.fixture(scope="module")
def content(file):
    return instances.read(file)


@pytest.fixture(scope="module")
def answer(problem) -> Result:
    return solve(problem, "exhaustive")


def test_a_true_answer_is_confirmed(answer, problem, content):
    findings = verify(answer, problem, content).findings
    assert findings == (
        "objective 8 recomputed",
        "feasible",
        "bound 8 not above it",
        "equal to the best known, 8",
    )


def test_an_answer_without_an_instance_is_confirmed():
    result = solve(Knapsack(), "exhaustive")
    assert "feasible" in verify(result, Knapsack()).findings


def test_an_evaluation_with_violations_is_confirmed_as_such(problem, content):
    assert any("as the result says" in f for f in verify(evaluate(problem, (0,) * 6), problem, content).findings)


def evaluation(objective=8.0, **measures):
    return Evaluation(objective, {}, measures)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"problem": "other"}, "problem is .* an answer to another problem"),
        ({"kind": "routing"}, "kind is .* the problem is of kind 'placement'"),
        ({"evaluation": evaluation(7.0)}, "objective is 7.0; the evaluator finds 8.0"),
        ({"evaluation": evaluation(8.0, opening=9.0)}, "measures.opening is 9.0; the evaluator finds 8.0"),
        ({"evaluation": evaluation(8.0, opening=None)}, "measures.opening is null"),
        ({"evaluation": evaluation(8.0, beauty=1.0)}, "measures.beauty is 1.0; the evaluator finds None"),
        ({"decision": (0, 0, 1, 1, 1)}, r"decision is \[0, 0, 1, 1, 1\]"),
        ({"decision": (1, 1, 1, 1, 1, 1)}, "objective is 8.0; the evaluator finds 23.0"),
        ({"decision": (0,) * 6, "evaluation": evaluation(0.0)}, 'status is "optimal"; the decision is not feasible'),
        ({"decision": None, "evaluation": None}, "without a decision it is infeasible or unknown"),
        ({"status": Status.INFEASIBLE}, "proved infeasible has no decision"),
        ({"status": Status.UNKNOWN}, "the decision is feasible"),
        ({"bound": None}, "comes with the bound that proves it"),
        ({"bound": 7.0}, "the bound 7.0 leaves room"),
        ({"bound": 9.0}, "bound is 9.0; a feasible decision has the objective 8.0"),
    ],
)
def test_a_false_claim_is_found(answer, problem, content, change, sentence):
    with pytest.raises(InstanceError, match=sentence):
        verify(replace(answer, **change), problem, content)


def test_a_false_proof_of_infeasibility_is_found_by_the_best_known(answer, problem, content):
    nothing = replace(answer, status=Status.INFEASIBLE, decision=None, evaluation=None, bound=None)
    with pytest.raises(InstanceError, match=r"the best-known decision is feasible, objective 8.0"):
        verify(nothing, problem, content)


def test_a_bound_above_the_best_known_is_found(answer, problem, content):
    worse = replace(
        answer, decision=(1,) * 6, evaluation=problem.evaluate((1,) * 6), bound=10.0, status=Status.FEASIBLE
    )
    with pytest.raises(InstanceError, match=r"bound is 10.0; the best-known decision has the objective 8.0"):
        verify(worse, problem, content)


def test_an_answer_below_a_proved_optimum_is_a_contradiction(answer, problem, content):
    best = content.best_known.model_copy(update={"objective": 9.0, "decision": None, "proved": True})
    with pytest.raises(InstanceError, match=r"objective is 8.0; it is below 9.0, which the instance calls proved"):
        verify(answer, problem, content.model_copy(update={"best_known": best}))


def test_a_worse_answer_is_told_by_how_much(answer, problem, content):
    worse = evaluate(problem, (1,) * 6)
    assert "15 above the best known, 8" in verify(worse, problem, content).findings
