"""A second opinion: from somebody else, within the same time, and honest about what it could not find out."""

import json
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from heuristics import Budget, Problem, Status
from optmodels import load, registry, solve
from optmodels.cli import main
from optmodels.registry import make_strategy
from optmodels.verification import answer_twice, second_opinion


@pytest.fixture(scope="module")
def problem():
    return load("gautam-2x3")


@pytest.fixture(scope="module")
def best(problem):
    return solve(problem, "exhaustive")


@dataclass(frozen=True)
class Lying:
    """Calls the placement with all sites open optimal."""

    name: ClassVar[str] = "lying"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        judged = oracle((1,) * oracle.problem.space.length)
        return oracle.result(bound=judged.objective)


@pytest.fixture
def lying():
    registry.strategies.register("lying", Lying)
    yield
    registry.strategies.unregister("lying")


def test_an_optimum_is_confirmed_by_another_road(problem, best):
    opinion = second_opinion(problem, best)
    assert (opinion.verdict, opinion.proved.tried) == ("confirmed", ("highs",))
    assert opinion.to_data()["bound"] == 8.0 and opinion.to_data()["proved_by"] == "highs"


def test_the_one_that_answered_is_not_asked(problem):
    answer = solve(problem, "highs")
    opinion = second_opinion(problem, answer)
    assert opinion.verdict == "confirmed" and "highs" not in opinion.proved.tried
    assert opinion.proved.tried  # another solver, or another strategy


def test_the_member_of_a_portfolio_that_proved_is_not_asked_either(problem):
    answer = solve(problem, "best-of:strategies=highs+annealing", evaluations=500)
    assert answer.extra["best_of"]["bound_by"] == "highs"
    assert "highs" not in second_opinion(problem, answer).proved.tried


def test_a_good_decision_without_a_proof_is_confirmed_with_one(problem, best):
    guess = replace(best, status=Status.FEASIBLE, bound=None, strategy="annealing", parameters={})
    opinion = second_opinion(problem, guess)
    assert (opinion.verdict, opinion.reason) == ("confirmed", "highs proves that nothing lies below 8")


def test_a_better_decision_is_told(problem, best):
    worse = (1,) * 6
    guess = replace(
        best,
        status=Status.FEASIBLE,
        bound=None,
        decision=worse,
        evaluation=problem.evaluate(worse),
        strategy="annealing",
    )
    opinion = second_opinion(problem, guess)
    assert opinion.verdict == "better decision found"
    assert problem.evaluate(tuple(opinion.to_data()["decision"])).objective < guess.objective


def test_a_bound_that_does_not_hold_is_refuted(problem, best):
    worse = (1,) * 6
    judged = problem.evaluate(worse)
    false = replace(best, decision=worse, evaluation=judged, bound=judged.objective, strategy="highs", parameters={})
    opinion = second_opinion(problem, false)
    assert opinion.verdict == "refuted" and f"below the bound {judged.objective:g}" in opinion.reason


def test_infeasible_is_refuted_by_a_decision(problem, best):
    false = replace(best, status=Status.INFEASIBLE, decision=None, evaluation=None, bound=None)
    assert second_opinion(problem, false).verdict == "refuted"


def test_infeasible_is_confirmed_by_another_proof(problem):
    narrow = replace(problem, limits={"opening": {"max": 7.0}})
    answer = solve(narrow, "exhaustive")
    assert answer.status is Status.INFEASIBLE
    opinion = second_opinion(narrow, answer)
    assert opinion.verdict == "confirmed" and "no decision is feasible" in opinion.reason


def test_no_time_is_no_answer(best):
    opinion = second_opinion(load("gautam-6x6"), solve("gautam-6x6", "annealing", evaluations=2000), seconds=0.0)
    assert opinion.verdict == "no answer in time" and opinion.to_data()["bound"] is None


def test_both_share_one_budget():
    problem = load("gautam-6x6")
    began = time.monotonic()
    answer = answer_twice(problem, make_strategy("annealing"), Budget(seconds=3.0), 0)
    assert time.monotonic() - began < 3.0 + 4.0
    assert answer.seconds < 2.3
    assert answer.extra["second_opinion"]["asked"]
    assert answer.extra["second_opinion"]["seconds"] <= 1.0 + 2.5


# -- from the command line ---------------------------------------------------------------------------------------------


def test_the_command_prints_what_the_second_one_says(capsys):
    assert main(["solve", "gautam-2x3", "--strategy", "exhaustive", "--seconds", "30", "--verify"]) == 0
    assert "second opinion (highs): confirmed; highs proves that nothing lies below 8" in capsys.readouterr().out


def test_the_command_tells_it_in_json_and_in_the_file(tmp_path, capsys):
    out = tmp_path / "answer.json"
    words = ["solve", "talim-two-robots", "--verify", "--json", "--out", str(out)]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)["extra"]["second_opinion"]
    assert told["verdict"] == "confirmed" and "policy-iteration" not in told["asked"]
    assert json.loads(out.read_text())["extra"]["second_opinion"] == told


def test_a_refuted_answer_ends_with_code_2(lying, capsys):
    assert main(["solve", "gautam-2x3", "--strategy", "lying"]) == 0
    assert "second opinion" not in capsys.readouterr().out
    assert main(["solve", "gautam-2x3", "--strategy", "lying", "--verify"]) == 2
    assert "refuted; highs finds a decision of objective 8, below the bound" in capsys.readouterr().out
