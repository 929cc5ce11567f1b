"""Answers are checked without the strategy that gave them."""

import json
import math
import re
from dataclasses import dataclass, replace

import pytest

import optmodels as om
from heuristics import Evaluation, Result, Status
from heuristics.testing import Knapsack, Separable
from optmodels import instance as instances
from optmodels.errors import InstanceError
from optmodels.registry import make_strategy
from optmodels.results import result_to_data, write_result
from optmodels.solving import evaluate, interrupted, solve
from optmodels.verification import verify
from optmodels.verification.verifying import verify_file


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
    found = verify(answer, problem, content)
    assert found.verified
    assert found.findings == (
        "objective confirmed: 8, as the evaluator finds again",
        "feasibility confirmed: all constraints are kept",
        "measures confirmed: as the evaluator finds again, and so are the further results",
        "bound confirmed: nothing lies below 8, proved again by enumeration of all 64 decisions",
        "status confirmed: optimal: nothing lies below 8, proved again by enumeration of all 64 decisions",
        "equal to the best known, 8",
    )


def test_an_answer_without_an_instance_is_confirmed():
    result = solve(Knapsack(), "exhaustive")
    assert verify(result, Knapsack()).verified


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
        ({"evaluation": Evaluation(8.0, {"overload": 2.0})}, "violations.overload is 2.0; the evaluator finds 0.0"),
        ({"evaluation": Evaluation(8.0, {"beauty": -1.0})}, "violations.beauty is -1.0; the evaluator finds 0.0"),
        (
            {"extra": {"load": [None, None, 16, 25, 12, None]}},
            r"extra.load is .* the problem gives \[null, null, 16, 25",
        ),
        ({"extra": {"load": [None, None, 16]}}, "extra.load is"),
        ({"extra": {"farthest": None}}, "extra.farthest is null"),
        ({"checked": False}, "checked is false; an answer says that the evaluator has confirmed it"),
        ({"seconds": -1.0}, "seconds is -1.0; this is zero or more"),
        ({"evaluations": -1}, "evaluations is -1; this is zero or more"),
        ({"bound": None}, "comes with the bound that proves it"),
        ({"bound": 7.0}, "the bound 7.0 leaves room"),
        ({"bound": 9.0}, "bound is 9.0; a feasible decision has the objective 8.0"),
    ],
)
def test_a_false_claim_is_found(answer, problem, content, change, sentence):
    with pytest.raises(InstanceError, match=sentence):
        verify(replace(answer, **change), problem, content).check()


def test_a_false_proof_of_infeasibility_is_found_by_the_best_known(answer, problem, content):
    nothing = replace(answer, status=Status.INFEASIBLE, decision=None, evaluation=None, bound=None)
    with pytest.raises(InstanceError, match=r"the best-known decision is feasible, objective 8.0"):
        verify(nothing, problem, content).check()


def test_a_bound_above_the_best_known_is_found(answer, problem, content):
    worse = replace(evaluate(problem, (1,) * 6), bound=10.0)
    with pytest.raises(InstanceError, match=r"bound is 10.0; the best-known decision has the objective 8.0"):
        verify(worse, problem, content).check()


def test_an_answer_below_a_proved_optimum_is_a_contradiction(answer, problem, content):
    best = content.best_known.model_copy(update={"objective": 9.0, "decision": None, "proved": True})
    with pytest.raises(InstanceError, match=r"objective is 8.0; it is below 9.0, which the instance calls proved"):
        verify(answer, problem, content.model_copy(update={"best_known": best}))


@pytest.mark.parametrize("name", ["load", "farthest", "capacity", "throughput", "delay_probability", "utilisation"])
def test_what_is_told_site_by_site_is_held_against_the_problem(answer, problem, content, name):
    values = list(answer.extra[name])
    place = next(i for i, value in enumerate(values) if value is not None)
    rounded = [*values[:place], values[place] * (1 + 1e-12), *values[place + 1 :]]
    verify(replace(answer, extra={**answer.extra, name: rounded}), problem, content).check()
    for changed in (values[place] * (1 + 1e-7) + 2e-12, None, "many"):
        with pytest.raises(InstanceError, match=f"extra.{name} is .*; the problem gives"):
            wrong = [*values[:place], changed, *values[place + 1 :]]
            verify(replace(answer, extra={**answer.extra, name: wrong}), problem, content).check()


def test_what_only_the_strategy_knows_is_left_alone(answer, problem, content):
    verify(replace(answer, extra={"stages": [1, 2, 3]}), problem, content).check()


@dataclass(frozen=True)
class Endless(Separable):
    """A problem with a measure that is not finite."""

    def evaluate(self, decision):
        return replace(super().evaluate(decision), measures={"wait": math.inf, "length": math.nan, "none": None})


def test_measures_that_are_not_finite_are_null_in_a_file_and_no_contradiction(tmp_path):
    result = replace(solve(Endless(), "exhaustive"), kind="endless")
    verify(result, Endless()).check()
    write_result(result, tmp_path / "r.json")
    assert verify_file(tmp_path / "r.json", Endless()).verified


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def written(answer, tmp_path):
    """Write the true answer with some fields changed, or taken away."""

    def write(*, without=(), **changes):
        data = {key: value for key, value in (result_to_data(answer) | changes).items() if key not in without}
        (tmp_path / "r.json").write_text(json.dumps(data))
        return tmp_path / "r.json"

    return write


def test_a_true_file_is_confirmed(written, problem, content):
    assert verify_file(written(), problem, content).findings[-1] == "equal to the best known, 8"
    assert verify_file(written(without=("trace", "judged_in_full")), problem, content)


@pytest.mark.parametrize(
    "name",
    [
        "format", "problem", "kind", "strategy", "parameters", "seed", "status", "objective", "bound", "gap",
        "decision", "measures", "violations", "extra", "evaluations", "seconds", "stopped_by", "checked", "versions",
    ],
)  # fmt: skip
def test_a_field_that_is_missing_is_named(written, problem, content, name):
    path = written(without=(name,))
    with pytest.raises(InstanceError, match=f"^{re.escape(str(path))}: {name} is (missing|null); "):
        verify_file(path, problem, content)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gap": 0.5}, "gap is 0.5; objective 8.0 and bound 8.0 make it 0.0."),
        ({"gap": None}, "gap is null; objective 8.0 and bound 8.0 make it 0.0."),
        ({"gap": "0"}, 'gap is "0"; '),
        ({"violations": {"overload": 3}}, "violations.overload is 3.0; the evaluator finds 0.0"),
        ({"checked": False}, "checked is false; "),
        ({"checked": "yes"}, 'checked is "yes"; this is true or false.'),
        ({"checked": None}, "checked is null; this is true or false."),
        ({"seconds": -0.1}, "seconds is -0.1; a time is zero or more."),
        ({"seconds": None}, "seconds is null; "),
        ({"evaluations": -3}, "evaluations is -3; this is a whole number, zero or more."),
        ({"evaluations": 1.5}, "evaluations is 1.5; this is a whole number, zero or more."),
        ({"judged_in_full": -1}, "judged_in_full is -1; "),
        ({"trace": [{"seconds": -1, "evaluations": 1, "objective": 8}]}, r"trace\[0\].seconds is -1; a time is"),
        ({"trace": 5}, "trace is 5; this is a list."),
        ({"extra": {"load": [1, 2]}}, r"extra.load is \[1, 2\]; the problem gives"),
        ({"decision": None, "status": "unknown"}, "objective is 8.0; without a decision there is no objective."),
        ({"kind": None}, "kind is null; every result has this field."),
    ],
)
def test_a_false_claim_in_a_file_is_found(written, problem, content, changes, sentence):
    with pytest.raises(InstanceError, match=sentence):
        verify_file(written(**changes), problem, content).check()


def test_an_answer_that_never_came_is_confirmed_as_such(problem, content, tmp_path):
    nothing = interrupted(problem, make_strategy("annealing"), 0)
    write_result(nothing, tmp_path / "r.json")
    assert verify_file(tmp_path / "r.json", problem, content).findings[0] == (
        "objective not claimed: there is no decision to evaluate"
    )


def test_a_worse_answer_is_told_by_how_much(answer, problem, content):
    worse = evaluate(problem, (1,) * 6)
    assert "15 above the best known, 8" in verify(worse, problem, content).findings


# -- how near is near enough ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken(Separable):
    """A problem with a measure near 0, one of ordinary size, and a constraint that all decisions break."""

    def evaluate(self, decision):
        judged = super().evaluate(decision)
        return replace(judged, violations={"rule": 0.25}, measures={"chance": 3e-10, "length": 7.0})


@pytest.mark.parametrize("part", [-1e-7, 1e-7, -1e-5, 1e-5])
def test_numbers_agree_to_a_millionth_of_themselves(part):
    judged = evaluate(Broken(), next(iter(Broken().space)))
    told = judged.evaluation
    changes = {
        "objective": replace(told, objective=told.objective * (1 + part)),
        "measures": replace(told, measures={**told.measures, "length": 7.0 * (1 + part)}),
        "feasibility": replace(told, violations={"rule": 0.25 * (1 + part)}),
    }
    assert told.objective != 0
    for name, changed in changes.items():
        found = verify(replace(judged, evaluation=changed), Broken())
        assert (found.claims[name].verdict == "confirmed") == (abs(part) < 1e-6), name


def test_a_measure_near_zero_is_held_to_what_rounding_leaves():
    judged = evaluate(Broken(), next(iter(Broken().space)))
    for value, verdict in ((3e-10 + 5e-13, "confirmed"), (3.05e-10, "refuted"), (0.0, "refuted")):
        told = replace(judged.evaluation, measures={"chance": value})
        assert verify(replace(judged, evaluation=told), Broken()).claims["measures"].verdict == verdict


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_measures_and_objectives_of_any_scale_are_compared_relatively(problem, answer, scale):
    scaled = replace(problem, opening_cost=problem.opening_cost * scale)
    true = evaluate(scaled, answer.decision)
    assert verify(true, scaled).verified
    for part in (1e-5, -1e-5, 1.0):
        wrong = replace(true.evaluation, measures={"opening": true.objective * (1 + part)})
        assert verify(replace(true, evaluation=wrong), scaled).claims["measures"].verdict == "refuted"
        wrong = replace(true.evaluation, objective=true.objective * (1 + part))
        assert verify(replace(true, evaluation=wrong), scaled).claims["objective"].verdict == "refuted"


def test_a_gap_is_held_to_a_millionth(problem, content, tmp_path):
    worse = replace(evaluate(problem, (1,) * 6), bound=8.0, strategy="by hand")
    data = result_to_data(worse)
    assert data["gap"] == 1.875
    for part, verdict in ((1e-7, "confirmed"), (1e-5, "refuted")):
        (tmp_path / "r.json").write_text(json.dumps(data | {"gap": 1.875 * (1 + part)}))
        assert verify_file(tmp_path / "r.json", problem, content).claims["gap"].verdict == verdict


# -- what is said -----------------------------------------------------------------------------------------------------


def test_the_problem_may_be_given_by_its_file_and_its_best_known_counts(file, problem):
    worse = replace(evaluate(problem, (1,) * 6), status=Status.OPTIMAL, bound=23.0)
    found = om.verify(worse, file, seconds=0)
    assert found.refuted and not found.verified
    assert found.claims["bound"].reason == "the best-known decision has the objective 8.0, below this bound."
    assert str(found.error) == "bound is 23.0; the best-known decision has the objective 8.0, below this bound."
    assert str(found).startswith("gautam-2x3: refuted: bound, status\n")


def test_every_claim_is_told_in_json(answer, problem, content):
    told = verify(answer, problem, content).to_data()
    assert [told[name] for name in ("objective", "feasibility", "measures", "bound", "status")] == ["confirmed"] * 5
    assert (told["bound_proved_here"], told["best_met_here"], told["verified"]) == (8.0, 8.0, True)
    assert told["proved_by"] == "enumeration of all 64 decisions"
    assert set(told["reasons"]) == {"objective", "feasibility", "measures", "bound", "status"}
    assert told["error"] is None
    json.dumps(told, allow_nan=False)


def test_a_decision_that_is_none_refutes_what_is_said_of_it(answer, problem, content):
    for decision in ((1, 2), "all", 7, {"a": 1}, (10**400,) * 6, (math.nan,) * 6, ((),) * 6):
        found = verify(replace(answer, decision=decision), problem, content)
        assert found.claims["objective"].verdict == found.claims["feasibility"].verdict == "refuted"
        assert found.error.field == "decision"


def test_a_best_known_that_is_wrong_names_itself(answer, problem, content, written):
    best = content.best_known.model_copy(update={"objective": 9.0})
    with pytest.raises(InstanceError, match=r"^best_known.objective is 9.0; the evaluator finds 8.0"):
        verify_file(written(), problem, content.model_copy(update={"best_known": best}))
