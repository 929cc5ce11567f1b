"""A portfolio: one budget, incumbents and bounds that are passed on, an honest status, and who is left out."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from heuristics import Budget, Disagreement, Oracle, Problem, run
from heuristics.testing import Knapsack
from optmodels import load, read_instance, solve
from optmodels.errors import RequestError
from optmodels.portfolio import BestOf
from optmodels.portfolio.informed import Known, informed
from optmodels.portfolio.members import Member, written
from optmodels.portfolio.rounds import Rounds
from optmodels.protocols import UnsupportedProblem
from optmodels.registry import make_strategy, strategies


def told(result):
    """What each member did, by its label."""
    return {member["strategy"]: member for member in result.extra["best_of"]["members"]}


@dataclass(frozen=True)
class Bounding:
    """Proves a bound and shows no decision."""

    bound: float = -18.0
    name: ClassVar[str] = "bounding"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = True

    def solve(self, oracle, rng):
        return oracle.result(bound=self.bound)


@dataclass(frozen=True)
class Starting:
    """Shows the first suggestion of the problem, and nothing else."""

    name: ClassVar[str] = "starting"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = True

    def solve(self, oracle, rng):
        suggested = list(getattr(oracle.problem, "suggestions", lambda _: [])(rng))
        for decision in suggested[:1]:
            oracle(decision)
        return oracle.result(extra={"suggested": [list(decision) for decision in suggested]})


@dataclass(frozen=True)
class Showing:
    """Shows the best known decision of an instance."""

    name: ClassVar[str] = "showing"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = True

    def solve(self, oracle, rng):
        oracle(tuple(read_instance("instances/placement/gautam-6x6.json").best_known.decision))
        return oracle.result()


@pytest.fixture
def own():
    """Strategies that this process alone knows."""
    for target in (Bounding, Showing, Starting):
        strategies.register(target.name, target)
    yield
    for target in (Bounding, Showing, Starting):
        strategies.unregister(target.name)


# -- one budget --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluations", [1, 2, 7, 400])
def test_members_together_spend_no_more_than_the_budget(evaluations):
    best = solve("gautam-6x6", "best-of:strategies=annealing+local-search+genetic", evaluations=evaluations, seed=2)
    members = told(best).values()
    assert best.evaluations == sum(member["evaluations"] for member in members) <= evaluations
    if evaluations == 400:
        assert best.evaluations == evaluations and best.stopped_by == "evaluations"
        assert all(member["evaluations"] > 50 for member in members)


def test_a_budget_in_evaluations_gives_the_same_answer_again():
    spec = "best-of:strategies=annealing+genetic"
    first, second, other = (solve("gautam-6x6", spec, evaluations=600, seed=seed) for seed in (5, 5, 6))
    assert (first.decision, first.evaluations) == (second.decision, second.evaluations)
    keep = ("strategy", "objective", "evaluations", "turns")
    shown = [[{key: one[key] for key in keep} for one in told(best).values()] for best in (first, second, other)]
    assert shown[0] == shown[1] != shown[2]


def test_seconds_are_shared():
    began = time.monotonic()
    best = solve("gautam-6x6", "best-of:strategies=annealing+local-search", seconds=1.0)
    assert best.stopped_by == "seconds" and time.monotonic() - began < 4.0
    parts = [member["seconds"] for member in told(best).values()]
    assert sum(parts) <= best.seconds + 0.2 and min(parts) > 0.2


def test_without_a_budget_everybody_has_one_turn():
    best = solve("gautam-2x3", "best-of:strategies=dejavu+annealing")
    assert best.stopped_by == "complete"
    assert [member["turns"] for member in told(best).values()] == [1, 1]


# -- what is passed on -------------------------------------------------------------------------------------------------


def test_bound_of_one_and_decision_of_another_make_an_optimum(own):
    best = run(Knapsack(), make_strategy("best-of:strategies=bounding+local-search"), Budget(evaluations=2000), seed=1)
    assert (best.status, best.objective, best.bound, best.stopped_by) == ("optimal", -18.0, -18.0, "complete")
    members = told(best)
    assert (members["bounding"]["status"], members["bounding"]["objective"]) == ("unknown", None)
    assert (members["local-search"]["status"], members["local-search"]["bound"]) == ("feasible", None)
    assert members["local-search"]["stopped_by"] == "settled"
    assert (best.extra["best_of"]["decision_by"], best.extra["best_of"]["bound_by"]) == ("local-search", "bounding")


def test_a_bound_that_is_not_met_makes_none(own):
    spec = "best-of:strategies=bounding:bound=-20+local-search"
    best = run(Knapsack(), make_strategy(spec), Budget(evaluations=2000), seed=1)
    assert (best.status, best.objective, best.bound) == ("feasible", -18.0, -20.0)


def test_a_bound_above_a_decision_is_a_defect(own):
    with pytest.raises(Disagreement):
        spec = "best-of:strategies=local-search+bounding:bound=-10"
        run(Knapsack(), make_strategy(spec), Budget(evaluations=2000), seed=1)


def test_a_decision_is_where_the_next_begins(own):
    best = run(Knapsack(), make_strategy("best-of:strategies=local-search+starting"), Budget(evaluations=2000), seed=1)
    members = told(best)
    assert members["starting"]["objective"] == members["local-search"]["objective"] == -18.0
    assert members["starting"]["evaluations"] == 0  # what one has asked is free for the others


def test_highs_starts_from_what_another_found(own):
    known = read_instance("instances/placement/gautam-6x6.json").best_known
    best = solve("gautam-6x6", "best-of:strategies=showing+highs", evaluations=2)
    assert (best.status, best.objective, best.extra["solver"]["start"]) == ("optimal", 23.0, known.objective)
    alone = solve("gautam-6x6", "highs", evaluations=2)
    assert alone.extra["solver"]["start"] > known.objective


def test_an_informed_problem_suggests_what_is_known_first():
    problem = load("gautam-2x3")
    decision = (1, 1, 1, 1, 1, 1)
    known = Known()
    twin = informed(problem, known)
    first = next(iter(problem.suggestions(None)))
    assert next(iter(twin.suggestions(None))) == first
    known.add(problem, decision)
    assert next(iter(twin.suggestions(None))) == decision
    assert next(iter(problem.suggestions(None))) == first  # the problem itself is as it was
    assert twin.describe(decision) == {} != problem.describe(decision)
    assert twin.evaluate(decision) == problem.evaluate(decision)


def test_decisions_beyond_the_space_are_not_suggested_and_not_bounded_from_below():
    """Enumeration proves the best threshold; a policy by phases lies below it, and that is no contradiction."""
    best = solve("avrachenkov-k5", "best-of:strategies=exhaustive+optimal-policy", evaluations=5000)
    members = told(best)
    assert members["exhaustive"]["bound"] == pytest.approx(63.5425, abs=1e-4)
    assert best.objective == pytest.approx(53.9179, abs=1e-4)
    assert best.bound is None or best.bound <= best.objective
    assert best.extra["best_of"]["bound_by"] == "optimal-policy"


def test_infeasible_is_said_if_one_member_proves_it():
    from optmodels.costs import Limits

    problem = load("avrachenkov-k5")
    narrow = type(problem)(**{**vars_of(problem), "limits": Limits.from_data({"loss": {"max": 1e-9}})})
    best = solve(narrow, "best-of:strategies=annealing+exhaustive", evaluations=2000)
    assert (best.status, best.decision) == ("infeasible", None)


def vars_of(problem):
    from dataclasses import fields

    return {field.name: getattr(problem, field.name) for field in fields(problem) if field.init}


# -- who takes part ----------------------------------------------------------------------------------------------------


def test_who_does_not_take_the_problem_is_left_out_with_a_note():
    best = solve("gautam-2x3", "best-of:strategies=lagrangian+annealing", evaluations=200)
    assert list(told(best)) == ["annealing"]
    assert "'lagrangian' does not apply to 'gautam-2x3'" in best.extra["left_out"]
    assert list(best.extra["best_of"]["left_out"]) == ["lagrangian"]


def test_if_nobody_takes_it_those_who_do_are_named():
    with pytest.raises(UnsupportedProblem, match=r"none of lagrangian, whittle does; .* apply: annealing, .*highs"):
        solve("gautam-2x3", "best-of:strategies=lagrangian+whittle")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("best-of:strategies=best-of+highs", "must not hold best-of itself"),
        ("best-of:strategies=highs++annealing", "names with \\+ between them"),
        ("best-of:strategies=highs+highs", "'highs' is named twice"),
        ("best-of:strategies=annealing+genetik", "Did you mean 'genetic'"),
        ("best-of:strategies=genetic:population=0+highs", "population"),
        ("best-of:members=highs", "has no parameter 'members'"),
    ],
)
def test_what_cannot_be_a_portfolio_is_refused_in_a_sentence(spec, sentence):
    with pytest.raises(RequestError, match=sentence):
        make_strategy(spec)


def test_members_have_parameters_of_their_own():
    assert written("highs:solver=scip + genetic:population=50;mutation=0.1") == (
        "highs:solver=scip",
        "genetic:population=50,mutation=0.1",
    )
    best = solve("gautam-2x3", "best-of:strategies=annealing:steps=50+local-search:restarts=2", evaluations=500)
    assert list(told(best)) == ["annealing:steps=50", "local-search:restarts=2"]


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("gautam-2x3", ["highs", "large-neighbourhood"]),
        ("classes-4x4", ["clauses", "annealing"]),
        ("talim-two-robots", ["policy-iteration", "linear-program", "annealing"]),
        ("coffman-4", ["lagrangian", "greedy", "whittle"]),
    ],
)
def test_without_names_those_that_suit_the_kind_take_part(name, members):
    best = solve(name, BestOf(), evaluations=100)
    assert list(told(best)) == members
    assert best.status == "optimal"


# -- whose turn it is --------------------------------------------------------------------------------------------------

TURNS = []


@dataclass(frozen=True)
class Waiting:
    """Notes how much of the time it may have, and lets some of it pass."""

    part: float = 0.5
    name: ClassVar[str] = "waiting"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        TURNS.append((self.name, oracle.remaining_seconds))
        time.sleep(self.part * oracle.remaining_seconds)
        return oracle.result(stopped_by="seconds")


@dataclass(frozen=True)
class Solving(Waiting):
    """The same, and calls a solver."""

    name: ClassVar[str] = "solving"
    beside: ClassVar[int] = 1


@pytest.mark.parametrize("searching", [1, 2])
def test_who_calls_a_solver_has_no_short_turn_and_the_first_long_one(searching):
    TURNS.clear()
    members = [Member("solver", Solving()), *(Member(str(n), Waiting()) for n in range(searching))]
    oracle = Oracle(Knapsack(), Budget(seconds=0.7))
    Rounds(oracle, members, {}).work(np.random.default_rng(0))
    order = [name for name, _ in TURNS]
    assert order[: searching + 1] == ["waiting"] * searching + ["solving"]
    assert TURNS[searching][1] > 2 * TURNS[0][1]
    assert sum(seconds for name, seconds in TURNS[:searching]) < 0.7 / 7


def test_solvers_alone_have_turns_like_all_others():
    TURNS.clear()
    members = [Member(str(n), Solving()) for n in range(2)]
    Rounds(Oracle(Knapsack(), Budget(seconds=0.35)), members, {}).work(np.random.default_rng(0))
    assert TURNS[0][1] < 0.35 / 7 and len(TURNS) >= 4


# -- from the command line ---------------------------------------------------------------------------------------------


def test_an_interrupt_returns_the_best_so_far():
    words = [
        "solve",
        "gautam-6x6",
        "--strategy",
        "best-of:strategies=annealing+local-search",
        "--seconds",
        "60",
        "--json",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "optmodels", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(8.0)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    answer = json.loads(out)
    assert (answer["stopped_by"], answer["checked"]) == ("interrupt", True)
    assert answer["objective"] <= 25.0
    assert [member["strategy"] for member in answer["extra"]["best_of"]["members"]] == ["annealing", "local-search"]


def test_a_budget_that_the_space_cannot_use_up_ends_the_run():
    """84 decisions are known after 84 evaluations; what is known costs nothing, so that no limit would be reached."""
    script = (
        "import optmodels as om; r = om.solve('avrachenkov-k5', 'best-of:strategies=genetic+optimal-policy', "
        "evaluations=400, seed=3); print(r.status, r.evaluations, r.stopped_by)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    status, evaluations, stopped_by = done.stdout.split()
    assert (status, stopped_by) == ("optimal", "complete")
    assert int(evaluations) < 400


def test_what_members_evaluate_of_themselves_is_told():
    assert BestOf.beside >= max(getattr(make_strategy(name), "beside", 0) for name in strategies)
