"""Solving and evaluating by name and by file."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

import optmodels as om
from heuristics import Budget, Evaluation, Problem, Status, UnsupportedProblem, run
from heuristics.running import warm_up
from heuristics.search import Exhaustive
from heuristics.testing import Continuous, Hopeless, Knapsack, Separable
from optmodels.errors import RequestError
from optmodels.kinds import Kind
from optmodels.placement.clauses import Clauses
from optmodels.registry import kinds, make_strategy
from optmodels.solving import LIBRARIES, Auto, choose, evaluate, solve, versions


@dataclass(frozen=True)
class Costless(Separable):
    """Has measures, and nothing to minimise."""

    has_objective: ClassVar[bool] = False

    def evaluate(self, decision: Any) -> Evaluation:
        return Evaluation(float("nan"), measures={"ones": float(sum(decision))})


@pytest.fixture
def small(instances):
    return instances / "placement" / "gautam-2x3.json"


def test_a_file_is_solved_by_a_name(small):
    result = solve(small, "exhaustive")
    assert (result.status, result.objective, result.decision) == (Status.OPTIMAL, 8.0, (0, 0, 1, 1, 1, 0))
    assert (result.strategy, result.kind, result.problem, result.seed) == ("exhaustive", "placement", "gautam-2x3", 0)
    assert result.checked


def test_a_problem_is_solved_by_a_strategy():
    assert solve(Separable(), Exhaustive()).objective == 1.0
    assert solve(Separable(), Exhaustive()).kind is None


def test_the_parameters_of_the_string_reach_the_strategy():
    result = solve(Separable(), "annealing:steps=30", seed=3)
    assert result.parameters["steps"] == 30
    assert result.seed == 3


def test_a_budget_can_be_given_whole_or_in_parts():
    for given in ({"budget": Budget(evaluations=5)}, {"evaluations": 5}):
        result = solve(Knapsack(), "exhaustive", **given)
        assert (result.evaluations, result.stopped_by) == (5, "evaluations")
    with pytest.raises(RequestError, match="not both"):
        solve(Knapsack(), "exhaustive", budget=Budget(), seconds=1)


@pytest.mark.parametrize(
    ("limit", "value"), [("seconds", 0), ("seconds", float("nan")), ("evaluations", -1), ("evaluations", 1.5)]
)
def test_a_budget_that_makes_no_sense_is_refused(limit, value):
    with pytest.raises(RequestError, match=f"{limit} must be"):
        solve(Knapsack(), "exhaustive", **{limit: value})


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, None])
def test_a_seed_that_makes_no_sense_is_refused(seed):
    with pytest.raises(RequestError, match="a seed is a whole number, zero or more"):
        solve(Knapsack(), "exhaustive", seed=seed)


def test_what_is_no_problem_is_refused():
    with pytest.raises(
        RequestError,
        match="the name of a shipped instance, an Instance, or what has a name, a space",
    ):
        solve(3, "exhaustive")


def test_a_strategy_refuses_what_it_cannot_take():
    with pytest.raises(UnsupportedProblem, match=r"strategy 'highs' does not apply to .* has no from_pyomo, to_pyomo"):
        solve(Separable(), "highs")


def test_a_problem_without_a_cost_is_evaluated_but_not_solved():
    problem = Costless()
    assert isinstance(problem, Problem)
    with pytest.raises(RequestError, match="has no cost to minimise"):
        solve(problem, "exhaustive")
    result = evaluate(problem, (1, 0, 0, 0, 0, 0, 1))
    assert om.result_to_data(result)["objective"] is None
    assert result.evaluation.measures == {"ones": 2.0}


def test_an_evaluation_looks_like_a_result(small):
    result = evaluate(small, [0, 0, 1, 1, 1, 0])
    assert (result.status, result.objective, result.strategy, result.seed) == (Status.FEASIBLE, 8.0, None, None)
    assert result.checked
    assert len(result.extra["load"]) == 6


def test_a_decision_that_breaks_constraints_is_of_unknown_status(small):
    result = evaluate(small, (0, 0, 0, 0, 0, 0))
    assert result.status == Status.UNKNOWN
    assert om.result_to_data(result)["violations"]


@pytest.mark.parametrize("decision", [(), (1,), (2, 0, 0, 0, 0, 0), "abc", {"a": 1}, None, 5, (0.5,) * 6])
def test_what_is_no_decision_is_refused_in_one_sentence(small, decision):
    with pytest.raises(RequestError, match="is not a valid decision for 'gautam-2x3'") as failure:
        evaluate(small, decision)
    assert "\n" not in str(failure.value)


def test_nothing_feasible_is_an_answer():
    result = solve(Hopeless(), "exhaustive")
    assert result.decision is None
    assert result.status == Status.INFEASIBLE


def test_progress_is_told():
    seen = []
    solve(Knapsack(), "exhaustive", progress=seen.append)
    assert seen
    assert seen[-1].objective is not None


def test_versions_name_optmodels_and_what_was_in_use(small):
    found = solve(small, "exhaustive").versions
    assert found["optmodels"] == om.__version__
    assert {"numpy", "numba"} <= set(found)
    assert "unknown" not in found.values()


def test_the_version_of_a_solver_in_its_own_process_is_told():
    from optmodels.mip import Highs

    assert "highspy" in versions(Highs())


def test_asking_for_versions_imports_nothing():
    code = (
        "import sys, json; from optmodels.solving import versions, LIBRARIES; before = set(sys.modules); versions(); "
        "print(json.dumps([m for m in LIBRARIES if m in sys.modules and m not in before]))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == []
    assert "numpy" in LIBRARIES


def test_a_problem_prepares_once_for_each_class_and_nothing_is_judged_before_the_clock_starts():
    calls = []

    @dataclass(frozen=True)
    class Cold(Separable):
        def evaluate(self, decision: Any) -> Evaluation:
            calls.append(decision)
            return super().evaluate(decision)

    @dataclass(frozen=True)
    class Prepared(Cold):
        def prepare(self) -> None:
            calls.append("prepared")

    warm_up(Cold())
    assert calls == []
    warm_up(Prepared())
    warm_up(Prepared())
    assert calls == ["prepared"]


def test_what_a_strategy_refuses_is_refused_before_anything_is_compiled():
    class Large(Separable):
        def prepare(self) -> None:
            raise AssertionError("compiled for nothing")

    with pytest.raises(UnsupportedProblem, match="keeps a population of 50"):
        solve(Large((0, 1) * 300_000), "genetic")


# -- auto -------------------------------------------------------------------------------------------------------------


CLAUSES = pytest.mark.skipif(Clauses().engines() == ("highs",), reason="neither extra 'sat' nor 'cpsat' is installed")


@pytest.mark.parametrize(
    ("name", "strategy", "said"),
    [
        ("avrachenkov-k5", "exhaustive", "the 84 decisions can all be evaluated"),
        ("avrachenkov-k5-starvation", "exhaustive", "which proves the best one"),
        ("talim-two-robots", "policy-iteration", "without limits"),
        ("talim-fig3-starvation", "linear-program", "limits on measures"),
        ("fleet-two-robots", "policy-iteration", "average over states"),
        ("areas-3", "linear-program", "divided among areas"),
        ("coffman-4", "lagrangian", "for an order of visits use --strategy whittle"),
        ("zipf-hosts-200", "lagrangian", "best frequencies"),
        ("loss-3", "min-mean-cycle", "the period may have any length"),
        ("loss-4-short", "exhaustive", "the 40734 decisions"),
        ("loss-5-20", "highs", "the period is fixed"),
        ("horizon-40", "backward-induction", "the horizon is finite"),
        ("gautam-4x4", "highs", "the integer program of 16 sites"),
        ("gautam-6x6", "clauses", "the best decision of 36 sites"),
        pytest.param("tatanld", "clauses", "the best decision of 143 sites", marks=CLAUSES),
        ("gautam-11x22", "large-neighbourhood", "a proof may take long for 242 sites"),
    ],
)
def test_auto_chooses_what_the_kind_says(name, strategy, said):
    chosen, reason = choose(make_strategy("auto"), om.load(name))
    assert chosen.name == strategy
    assert said in reason
    assert not reason.endswith(".")


def test_auto_takes_clauses_less_far_by_highs_alone(monkeypatch):
    monkeypatch.setattr(Clauses, "engines", lambda *_: ("highs",))
    for name, strategy in (("gautam-4x4", "highs"), ("germany50", "clauses"), ("gautam-8x8", "large-neighbourhood")):
        assert choose(make_strategy("auto"), om.load(name))[0].name == strategy


def test_auto_leaves_to_the_integer_program_what_clauses_do_not_hold():
    problem = replace(om.load("gautam-6x6"), limits={"mean_distance": 2.0})
    assert choose(make_strategy("auto"), problem)[0].name == "highs"


def test_without_a_strategy_the_choice_is_told_in_the_result(small):
    result = solve(small)
    assert (result.strategy, result.status, result.objective) == ("highs", Status.OPTIMAL, 8.0)
    assert "6 sites" in result.extra["auto"]
    assert "auto" not in solve(small, "exhaustive").extra


def test_auto_enumerates_no_more_than_takes_a_minute(instances):
    data = json.loads((instances / "threshold" / "avrachenkov-k100.json").read_text())
    data["data"]["capacity"] = 250
    chosen, reason = choose(make_strategy("auto"), om.Instance.from_data(data).problem())
    assert (chosen.name, "decisions (more than 1000000)" in reason) == ("highs", True)
    data["data"]["capacity"] = 1000  # more than the program takes
    chosen, reason = choose(make_strategy("auto"), om.Instance.from_data(data).problem())
    assert (chosen.name, "decisions (more than 1000000)" in reason) == ("local-search", True)


def test_auto_takes_the_next_where_the_first_choice_refuses():
    """With a price of the period nothing but a search fits: the choice of the kind is asked in order."""
    data = {"servers": [{"rate": 1}, {"rate": 2}], "arrivals": {"law": "poisson", "rate": 1.0}, "application": "loss"}
    content = {"format": 1, "kind": "routing", "name": "short", "data": {**data, "max_period": 6}}
    cost = {"name": "weighted-sum", "weights": {"cost": 1.0, "period": 0.01}}
    result = solve(om.Instance.from_data({**content, "cost": cost}).problem())
    assert (result.strategy, result.status) == ("exhaustive", Status.OPTIMAL)
    larger = om.Instance.from_data({**content, "cost": cost, "data": {**data, "max_period": 30}}).problem()
    assert choose(make_strategy("auto"), larger)[0].name == "local-search"


def test_a_problem_of_no_kind_is_enumerated_if_that_can_be_done():
    result = solve(Knapsack())
    assert (result.strategy, result.status) == ("exhaustive", Status.OPTIMAL)
    assert result.extra["auto"].startswith("of the strategies recommended for problems without a kind")


def test_a_kind_without_a_choice_gets_the_first_recommended_that_takes_it():
    @dataclass(frozen=True)
    class Stated(Separable):
        kind: ClassVar[str] = "stated"

    record = {"name": "stated", "question": "Which?", "paper": "none", "problem": Stated, "measures": {"x": "none"}}
    kinds.register("stated", Kind(**record, recommended=("lagrangian", "local-search", "exhaustive")))
    try:
        result = solve(Stated((1, 0, 1)), evaluations=50)
        assert result.strategy == "local-search"
        assert "recommended for kind stated" in result.extra["auto"]
    finally:
        kinds.unregister("stated")


def test_a_choice_that_fails_names_its_distribution(monkeypatch):
    @dataclass(frozen=True)
    class Stated(Separable):
        kind: ClassVar[str] = "stated"

    def fails(problem):
        raise KeyError("no such thing")

    record = {"name": "stated", "question": "Which?", "paper": "none", "problem": Stated, "measures": {"x": "none"}}
    kinds.register("stated", Kind(**record, choice=fails))
    try:
        with pytest.raises(RequestError, match=r"choice 'stated' \(this process\) fails: KeyError"):
            solve(Stated((1, 0, 1)))
    finally:
        kinds.unregister("stated")


def test_a_problem_that_nothing_recommended_takes_is_refused():
    result = choose(make_strategy("auto"), Continuous())
    assert isinstance(result[0], Auto)
    with pytest.raises(UnsupportedProblem, match="no strategy that is recommended takes"):
        solve(Continuous())


def test_auto_hands_the_run_over_where_it_is_run_as_it_is(small):
    result = run(om.load(small), make_strategy("auto"))
    assert (result.strategy, result.status) == ("auto", Status.OPTIMAL)
    assert result.extra["auto"].startswith("highs: the integer program")


def test_a_strategy_that_does_not_fit_is_answered_with_those_that_do(small, monkeypatch):
    with pytest.raises(
        UnsupportedProblem,
        match=r"index_rule .* Strategies that apply: .*, highs, large-neighbourhood, local-search\.$",
    ):
        solve(small, "whittle")

    def fails(problem):
        raise ArithmeticError("a problem that cannot be asked")

    monkeypatch.setattr("optmodels.solving.fitting", fails)
    with pytest.raises(UnsupportedProblem, match=r"index_rule \(see heuristics.dynamic.whittle.Indexed\)\.$"):
        solve(small, "whittle")


def test_no_other_strategy_is_called_auto():
    with pytest.raises(RequestError, match="'auto' is the one that chooses"):
        om.registry.strategies.register("auto", Exhaustive)
    with pytest.raises(RequestError, match="'auto' has no parameter 'x'"):
        make_strategy("auto:x=1")
