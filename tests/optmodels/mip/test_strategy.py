"""Exact answers through a solver that is not believed."""

import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyomo.environ as pyo
import pytest

import optmodels as om
from heuristics import BinaryVectors, Budget, Disagreement, Evaluation, Status, UnsupportedProblem, run
from heuristics.running import refusal
from heuristics.search import EvaluatedWalk, Exhaustive
from optmodels.formulas import Expression
from optmodels.mip import Highs, Solver, SolverFailure, UnboundedProgram, compile_model, raised_to_step
from optmodels.mip import strategy as mip
from optmodels.mip.process import SolverProcess
from optmodels.mip.program import Incumbent, Request

EXTRAS = {"highs": "highspy", "scip": "pyscipopt", "cpsat": "ortools"}
MISSING = {
    name: pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"needs {package}")
    for name, package in EXTRAS.items()
}
SOLVERS = [pytest.param(name, marks=MISSING[name]) for name in EXTRAS]
# CP-SAT takes seconds to import: in most tests it is left to the slow ones.
SOLVERS_OR_SLOW = [*SOLVERS[:2], pytest.param("cpsat", marks=[MISSING["cpsat"], pytest.mark.slow])]


@dataclass(frozen=True)
class Cover:
    """Choose columns of least cost that cover every row: 10 columns and 6 rows unless said otherwise."""

    columns: int = 10
    rows: int = 6
    seed: int = 1
    share: float = 0.4
    name: str = "cover"
    objective_step: float | None = 1.0

    @property
    def space(self):
        return BinaryVectors(self.columns)

    @property
    def cost(self):
        return np.random.default_rng(self.seed).integers(10, 60, self.columns)

    @property
    def weight(self):
        return np.random.default_rng(self.seed + 1).integers(1, 50, (self.rows, self.columns))

    @property
    def need(self):
        return np.ceil(self.share * self.weight.sum(axis=1))

    def evaluate(self, decision):
        missing = self.need - self.weight @ np.array(decision)
        return Evaluation(
            float(self.cost @ np.array(decision)), {f"row {i}": float(m) for i, m in enumerate(missing) if m > 0}
        )

    def to_pyomo(self):
        model = pyo.ConcreteModel(name=self.name)
        cost, weight, need = self.cost.tolist(), self.weight.tolist(), self.need.tolist()
        model.x = pyo.Var(range(self.columns), domain=pyo.Binary)
        model.total = pyo.Objective(expr=sum(cost[j] * model.x[j] for j in range(self.columns)))
        model.covered = pyo.Constraint(
            range(self.rows), rule=lambda m, i: sum(weight[i][j] * m.x[j] for j in range(self.columns)) >= need[i]
        )
        return model

    def from_pyomo(self, model):
        return tuple(int(model.x[j].value) for j in range(self.columns))


@dataclass(frozen=True)
class WalkingCover(Cover):
    """The same with a walk, a way to write a decision into the model, and a bound."""

    def start(self, decision):
        return EvaluatedWalk(self, decision)

    def start_pyomo(self, model, decision):
        for j, value in enumerate(decision):
            model.x[j].set_value(value)

    def lower_bound(self):
        return 0.0


HARD = {"columns": 150, "rows": 40}


@dataclass(frozen=True)
class Knapsack:
    """The most worth within 15 kg: 148, so the objective is -148."""

    name: str = "knapsack"
    weights: ClassVar = (5, 4, 3, 2, 7, 8, 1, 6)
    worth: ClassVar = (10, 40, 30, 50, 35, 40, 9, 21)

    @property
    def space(self):
        return BinaryVectors(8)

    def evaluate(self, decision):
        excess = sum(w * x for w, x in zip(self.weights, decision, strict=True)) - 15
        worth = 7 + sum(v * x for v, x in zip(self.worth, decision, strict=True))
        return Evaluation(-float(worth), {"weight": excess} if excess > 0 else {})

    def to_pyomo(self):
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(8), domain=pyo.Binary)
        model.worth = pyo.Objective(expr=7 + sum(self.worth[i] * model.x[i] for i in range(8)), sense=pyo.maximize)
        model.weight = pyo.Constraint(expr=sum(self.weights[i] * model.x[i] for i in range(8)) <= 15)
        return model

    def from_pyomo(self, model):
        return tuple(model.x[i].value for i in range(8))


class Reals:
    """All tuples of numbers: what a linear program decides on."""

    size = math.inf

    def check(self, decision):
        return tuple(float(value) for value in decision)


@dataclass(frozen=True)
class Written:
    """A problem given by a function that writes its model, judged by the model's own expressions."""

    write: Any
    name: str = "written"
    space: Any = field(default_factory=Reals)

    def to_pyomo(self):
        return self.write()

    def from_pyomo(self, model):
        return tuple(float(variable.value) for variable in model.component_data_objects(pyo.Var))

    def evaluate(self, decision):
        model = self.write()
        for variable, value in zip(model.component_data_objects(pyo.Var), decision, strict=True):
            variable.set_value(value, skip_validation=True)
        broken = {
            constraint.name: -min(constraint.lslack(), constraint.uslack())
            for constraint in model.component_data_objects(pyo.Constraint)
            if min(constraint.lslack(), constraint.uslack()) < -1e-6
        }
        objectives = list(model.component_data_objects(pyo.Objective))
        value = float(pyo.value(objectives[0])) if objectives else 0.0
        return Evaluation(-value if objectives and objectives[0].sense == pyo.maximize else value, broken)


@pytest.fixture
def spy(monkeypatch):
    """Every process that was started, what it was asked and what it said."""

    class Spied(mip.SolverProcess):
        started: ClassVar[list] = []

        def __init__(self, backend):
            self.requests, self.messages = [], []
            super().__init__(backend)
            self.started.append(self)

        def ask(self, request, seconds=math.inf, **options):
            self.requests.append(request)
            for message in super().ask(request, seconds, **options):
                self.messages.append(message)
                yield message

    monkeypatch.setattr(mip, "SolverProcess", Spied)
    return Spied.started


@pytest.fixture
def backend(tmp_path, monkeypatch):
    """Make the solver "mine" from the text of its function."""

    def make(text):
        preamble = (
            "import time\nfrom dataclasses import replace\nimport numpy as np\n"
            "from optmodels.mip import highs as mip_highs\n"
            "from optmodels.mip.program import Bound, Incumbent, Outcome\n\n"
        )
        (tmp_path / "mine.py").write_text(preamble + textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setitem(mip.SOLVERS, "mine", Solver("mine:solve", "numpy"))
        return Highs("mine")

    return make


# -- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_optimum_is_that_of_full_enumeration(solver):
    problem = Cover()
    exact, judge = run(problem, Highs(solver)), run(problem, Exhaustive())
    assert exact.status == Status.OPTIMAL and exact.checked
    assert exact.objective == judge.objective == exact.bound
    assert exact.stopped_by == "complete"


@pytest.mark.parametrize("seed", range(2, 5))
def test_highs_and_enumeration_agree_on_random_covers(seed):
    problem = Cover(seed=seed, columns=8)
    assert run(problem, Highs()).objective == run(problem, Exhaustive()).objective


@pytest.mark.parametrize("solver", SOLVERS_OR_SLOW)
def test_a_maximisation_is_minimised_with_the_sign_turned(solver):
    result = run(Knapsack(), Highs(solver))
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, -148.0, -148.0)


@pytest.mark.parametrize("solver", SOLVERS_OR_SLOW)
def test_an_optimum_of_zero_has_a_bound_of_zero(solver):
    result = run(Cover(share=0.0), Highs(solver))
    assert result.status == Status.OPTIMAL
    assert result.objective == 0.0 and result.bound == 0.0


def linear():
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(0, 3)), pyo.Var(domain=pyo.NonNegativeReals)
    model.cost = pyo.Objective(expr=2 * model.x + 3 * model.y)
    model.least = pyo.Constraint(expr=model.x + model.y >= 4)
    return model


@pytest.mark.parametrize("solver", SOLVERS[:2])
def test_a_program_without_whole_numbers_is_solved_and_proved(solver):
    result = run(Written(linear), Highs(solver))
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(9) and result.bound == result.objective


@pytest.mark.parametrize("solver", SOLVERS_OR_SLOW)
def test_a_model_without_objective_is_a_question_of_feasibility(solver):
    def write():
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(3), domain=pyo.Binary)
        model.two = pyo.Constraint(expr=sum(model.x[i] for i in range(3)) == 2)
        return model

    result = run(Written(write), Highs(solver))
    assert (result.status, result.objective, sum(result.decision)) == (Status.OPTIMAL, 0.0, 2)


def test_a_model_without_variables_has_its_constant():
    def write():
        model = pyo.ConcreteModel()
        model.cost = pyo.Objective(expr=5.0)
        return model

    result = run(Written(write), Highs())
    assert (result.status, result.objective, result.decision) == (Status.OPTIMAL, 5.0, ())


def test_a_linear_program_has_no_bound_before_it_is_solved():
    result = run(Written(linear), Highs(), Budget(seconds=1e-6))
    assert (result.status, result.bound, result.stopped_by) == (Status.UNKNOWN, None, "seconds")


def test_threads_may_differ_from_one_solve_to_the_next():
    results = [run(Cover(), Highs(threads=threads)) for threads in (1, 2, 1)]
    assert {result.status for result in results} == {Status.OPTIMAL}
    assert len({result.objective for result in results}) == 1


def test_a_gap_that_may_stay_open_is_named():
    result = run(Cover(columns=60, rows=30, share=0.5, objective_step=None), Highs(gap=0.1, presolve=False))
    assert result.stopped_by == "gap" and result.status == Status.FEASIBLE
    assert 0 < result.gap() <= 0.1 / 0.9


def test_the_extra_tells_about_the_solver_and_its_log():
    result = run(Cover(), Highs(log=True))
    told = result.extra["solver"]
    assert (told["name"], told["rows"], told["columns"], told["whole_columns"]) == ("highs", 6, 10, 10)
    assert told["seconds"] >= 0 and told["version"]
    assert "Solving report" in result.extra["solver_log"]
    assert json.dumps(result.extra)
    assert "solver_log" not in run(Cover(), Highs()).extra


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "step", "raised"),
    [
        (7.1, 1.0, 8.0),
        (7.0000004, 1.0, 7.0),
        (6.9999996, 1.0, 7.0),
        (0.0, 1.0, 0.0),
        (-0.5, 1.0, 0.0),
        (-7.9, 1.0, -7.0),
        (7.1, 0.5, 7.5),
        (7.1, None, 7.1),
        (7.1, 1e-7, 7.1),
        (-math.inf, 1.0, -math.inf),
        (1e9 + 0.1, 1.0, 1e9 + 0.1),
        (7.1e-200, 1e-200, 8e-200),
        (7.0000004e-200, 1e-200, 7e-200),
        (7.1e200, 1e200, 8e200),
    ],
)
def test_bounds_are_raised_to_the_next_multiple_but_for_noise(bound, step, raised):
    assert raised_to_step(bound, step) == pytest.approx(raised, rel=1e-15, abs=0)


def test_a_bound_within_one_step_proves_by_integrality(backend):
    lazy = """
        def solve(request, channel):
            outcome = mip_highs.solve(request, channel)
            return replace(outcome, status="seconds", bound=outcome.objective - 0.9)
    """
    assert run(Cover(), backend(lazy)).status == Status.OPTIMAL
    assert run(Cover(objective_step=None), backend(lazy)).status == Status.FEASIBLE


def test_a_bound_that_misses_by_more_than_1e_9_proves_nothing(backend):
    lazy = """
        def solve(request, channel):
            outcome = mip_highs.solve(request, channel)
            return replace(outcome, bound=outcome.objective * (1 - {miss}))
    """
    near = run(Cover(objective_step=None), backend(lazy.format(miss=1e-10)))
    assert near.status == Status.OPTIMAL and near.bound < near.objective and near.stopped_by == "complete"
    far = run(Cover(objective_step=None), backend(lazy.format(miss=1e-8)))
    assert (far.status, far.stopped_by) == (Status.FEASIBLE, "gap")
    assert far.gap() == pytest.approx(1e-8, rel=1e-3)


def test_a_step_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="objective_step of 'cover' must be positive, got 0"):
        run(Cover(objective_step=0.0), Highs())


def test_time_spent_before_the_solver_starts_still_leaves_a_bound_and_a_decision(monkeypatch):
    problem = WalkingCover(**HARD)
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle((1,) * 150))
    monkeypatch.setattr(WalkingCover, "to_pyomo", lambda self: wait_and(Cover.to_pyomo, self))
    result = run(problem, Highs(), Budget(seconds=0.5))
    assert result.bound == 0.0 and result.stopped_by == "seconds"
    assert result.decision == (1,) * 150


def wait_and(function, *arguments):
    import time

    time.sleep(0.6)
    return function(*arguments)


def test_a_time_limit_leaves_an_incumbent_and_a_bound():
    result = run(WalkingCover(**HARD), Highs(), Budget(seconds=4))
    assert result.status == Status.FEASIBLE and result.stopped_by == "seconds"
    assert 0 < result.bound < result.objective
    assert any(point.bound for point in result.trace)


# -- when it is over --------------------------------------------------------------------------------------------------

#: A solver that says what it knows and then does not end, unless it is told to.
ENDLESS = """
    def solve(request, channel):
        {says}
        while not channel.stopped:
            time.sleep(0.01)
        return Outcome("interrupt", detail={{"nodes": 7}})
"""


def test_a_solver_is_ended_when_its_bound_meets_the_best_decision_known(backend, monkeypatch):
    best = run(Cover(), Exhaustive())
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle(best.decision))
    for miss in (0.0, 0.9):  # raised to the next possible value, it meets it
        says = f"channel.send(Bound({best.objective} - {miss}))"
        result = run(Cover(), backend(ENDLESS.format(says=says)), Budget(seconds=100))
        assert (result.status, result.stopped_by, result.bound) == (Status.OPTIMAL, "complete", best.objective)
        assert result.extra["solver"]["status"] == "the bound met the best decision known"
        assert result.extra["solver"]["nodes"] == 7


def test_a_solver_is_ended_when_its_decision_meets_the_bound(backend):
    best = run(Cover(), Exhaustive())
    point = f"np.array({list(best.decision)}, dtype=float)"
    says = f"channel.send(Bound({best.objective})); channel.send(Incumbent({point}, {best.objective}))"
    result = run(Cover(), backend(ENDLESS.format(says=says)), Budget(seconds=100))
    assert (result.status, result.stopped_by, result.decision) == (Status.OPTIMAL, "complete", best.decision)


def test_a_solver_is_ended_when_the_bound_of_the_relaxation_meets_the_best_decision_known(backend, monkeypatch):
    best = run(Cover(), Exhaustive())
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle(best.decision))
    monkeypatch.setattr(mip, "COMPANION_ENTRIES", 1)

    class Companion:
        bound = best.objective - 0.5

        def __init__(self, program, seconds):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    monkeypatch.setattr("optmodels.mip.relaxation.Companion", Companion)
    result = run(Cover(), backend(ENDLESS.format(says="pass")), Budget(seconds=100))
    assert (result.status, result.stopped_by) == (Status.OPTIMAL, "complete")


def test_no_solver_is_asked_where_the_start_meets_the_bound(spy, monkeypatch):
    best = run(Cover(), Exhaustive())
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle(best.decision))
    monkeypatch.setattr(WalkingCover, "lower_bound", lambda self: best.objective - 0.3)
    result = run(WalkingCover(), Highs())
    assert (result.status, result.stopped_by, result.bound) == (Status.OPTIMAL, "complete", best.objective)
    assert not spy[0].requests


@dataclass(frozen=True)
class Hairy(Cover):
    """Two decisions, the cheapest, break a limit that is none of the model's by a hair; others break it for good."""

    barred: tuple[tuple[int, ...], ...] = ()
    hair: bool = True

    def evaluate(self, decision):
        judged = super().evaluate(decision)
        return replace(judged, violations={"a hair": 1e-8}) if tuple(decision) in self.barred else judged

    def almost_feasible(self, decision):
        return self.hair


def test_decisions_that_are_feasible_for_the_solver_alone_are_cut_off_one_by_one():
    barred: list[tuple[int, ...]] = []
    for _ in range(2):
        barred.append(run(Hairy(barred=tuple(barred)), Exhaustive()).decision)
    problem = Hairy(barred=tuple(barred))
    listed, solved = run(problem, Exhaustive()), run(problem, Highs())
    assert (solved.status, solved.objective, solved.bound) == (Status.OPTIMAL, listed.objective, listed.objective)
    assert solved.extra["solver"]["decisions_cut_off"] >= 1
    with pytest.raises(Disagreement, match="claimed feasible breaks a hair"):
        run(replace(problem, hair=False), Highs())


@dataclass(frozen=True)
class Flattering(Cover):
    """Some decisions cost more than the model says."""

    objective_step: float | None = None
    flattered: tuple[tuple[int, ...], ...] = ()
    model_mistakable: bool = True

    def evaluate(self, decision):
        judged = super().evaluate(decision)
        return replace(judged, objective=judged.objective + 0.4) if tuple(decision) in self.flattered else judged


def test_decisions_worth_less_than_the_solver_claims_are_cut_off_and_still_count():
    flattered: list[tuple[int, ...]] = []
    for _ in range(2):
        flattered.append(run(Flattering(flattered=tuple(flattered)), Exhaustive()).decision)
    problem = Flattering(flattered=tuple(flattered))
    listed, solved = run(problem, Exhaustive()), run(problem, Highs(start=False))
    assert (solved.status, solved.objective, solved.bound) == (Status.OPTIMAL, listed.objective, listed.objective)
    assert solved.extra["solver"]["decisions_cut_off"] >= 1
    with pytest.raises(Disagreement, match="was claimed where the evaluator finds"):
        run(replace(problem, model_mistakable=False), Highs(start=False))


@dataclass(frozen=True)
class Telling(Flattering):
    """A problem that tells which variables make a decision what it is: those of 1."""

    def deciding_variables(self, model, decision):
        self.asked.append(decision)
        return [variable for variable in model.component_data_objects(pyo.Var) if variable.value == 1]

    asked: list[Any] = field(default_factory=list, hash=False, compare=False)


def test_a_problem_is_asked_which_variables_make_a_decision_what_it_is():
    best = run(Flattering(), Exhaustive()).decision
    problem = Telling(flattered=(best,))
    solved = run(problem, Highs(start=False))
    assert best in problem.asked
    assert solved.status == Status.OPTIMAL


class Opening(Cover):
    """A problem that knows where to begin."""

    def begin_pyomo(self, oracle):
        oracle((1,) * 10)
        oracle.report(bound=0.25)
        return False


def test_a_problem_that_knows_where_to_begin_is_asked(spy):
    result = run(Opening(), Highs())
    assert result.trace[0].bound in (None, 0.25)
    assert any(point.bound == 0.25 for point in result.trace)
    assert result.evaluations == 1
    assert result.objective == run(Cover(), Exhaustive()).objective


# -- starts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_start_reaches_the_solver_and_is_its_first_incumbent(solver, spy, monkeypatch):
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle((1,) * 10))
    result = run(WalkingCover(), Highs(solver))
    (process,) = spy
    incumbents = [message for message in process.messages if isinstance(message, Incumbent)]
    assert process.requests[0].start.tolist() == [1.0] * 10
    assert incumbents[0].point.tolist() == [1.0] * 10
    assert incumbents[0].objective == WalkingCover().cost.sum() == result.extra["solver"]["start"]
    assert result.status == Status.OPTIMAL


def test_the_start_is_found_by_a_short_search_that_is_charged(spy):
    result = run(WalkingCover(), Highs())
    assert result.evaluations > 0
    assert spy[0].requests[0].start is not None
    assert run(WalkingCover(), Highs(start=False)).evaluations == 0
    assert spy[1].requests[0].start is None


def test_a_budget_of_evaluations_limits_the_start_and_not_the_solver():
    result = run(WalkingCover(), Highs(), Budget(evaluations=7))
    assert result.evaluations <= 7
    assert result.status == Status.OPTIMAL


def test_suggestions_serve_as_starts(spy):
    @dataclass(frozen=True)
    class Suggested(Cover):
        def suggestions(self, rng):
            return [(1,) * 10]

        def start_pyomo(self, model, decision):
            WalkingCover.start_pyomo(self, model, decision)

    result = run(Suggested(), Highs())
    assert spy[0].requests[0].start is not None and result.status == Status.OPTIMAL


def test_a_start_that_breaks_the_program_is_not_passed_on(spy, monkeypatch):
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle((1,) * 10))
    monkeypatch.setattr(WalkingCover, "start_pyomo", lambda self, model, decision: zero(model))
    result = run(WalkingCover(), Highs())
    assert spy[0].requests[0].start is None
    assert result.extra["solver"]["start"].startswith("refused: it breaks covered[")
    assert result.status == Status.OPTIMAL


def zero(model):
    for j in model.x:
        model.x[j].set_value(0)


def test_an_incomplete_start_is_not_passed_on(spy, monkeypatch):
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle((1,) * 10))
    monkeypatch.setattr(WalkingCover, "start_pyomo", lambda self, model, decision: model.x[0].set_value(1))
    result = run(WalkingCover(), Highs())
    assert spy[0].requests[0].start is None and "without a value" in result.extra["solver"]["start"]


# -- nothing is believed ----------------------------------------------------------------------------------------------


def test_a_solver_with_an_altered_objective_ends_in_a_disagreement(backend):
    strategy = backend("""
        def solve(request, channel):
            send = channel.send
            channel.send = lambda m: send(replace(m, objective=m.objective + 1) if isinstance(m, Incumbent) else m)
            return mip_highs.solve(request, channel)
    """)
    with pytest.raises(Disagreement, match="the solver claims"):
        run(Cover(), strategy)


def test_a_solver_with_an_altered_decision_ends_in_a_disagreement(backend):
    strategy = backend("""
        def solve(request, channel):
            send = channel.send
            channel.send = lambda m: send(replace(m, point=1 - m.point) if isinstance(m, Incumbent) else m)
            return mip_highs.solve(request, channel)
    """)
    with pytest.raises(Disagreement):
        run(Cover(), strategy)


def test_a_decision_altered_together_with_its_objective_ends_in_a_disagreement(backend):
    strategy = backend("""
        def solve(request, channel):
            channel.send(Incumbent(np.zeros(10), 0.0))
            return Outcome("optimal", 0.0, 0.0)
    """)
    with pytest.raises(Disagreement, match="claimed feasible breaks row"):
        run(Cover(), strategy)


def test_a_fractional_decision_ends_in_a_disagreement(backend):
    strategy = backend("""
        def solve(request, channel):
            point = np.full(10, 0.5)
            channel.send(Incumbent(point, request.program.objective(point)))
            return Outcome("optimal", 0.0, 0.0)
    """)
    with pytest.raises(Disagreement, match="must be a whole number"):
        run(Cover(), strategy)


@dataclass(frozen=True)
class WrongEvaluator(Cover):
    """An evaluator that adds what the model does not know of."""

    def evaluate(self, decision):
        judged = super().evaluate(decision)
        return replace(judged, objective=judged.objective + 1)


@dataclass(frozen=True)
class StricterEvaluator(Cover):
    """An evaluator with a constraint that the model lacks."""

    def evaluate(self, decision):
        return replace(super().evaluate(decision), violations={"surprise": 1.0})


def test_an_evaluator_with_another_objective_ends_in_a_disagreement():
    with pytest.raises(Disagreement, match="was claimed where the evaluator finds"):
        run(WrongEvaluator(), Highs())


def test_an_evaluator_with_another_constraint_ends_in_a_disagreement():
    with pytest.raises(Disagreement, match="surprise"):
        run(StricterEvaluator(), Highs())


def test_an_altered_bound_ends_in_a_disagreement(backend):
    strategy = backend("""
        def solve(request, channel):
            outcome = mip_highs.solve(request, channel)
            return replace(outcome, bound=outcome.bound + 5)
    """)
    with pytest.raises(Disagreement, match="a bound of"):
        run(Cover(), strategy)


def test_a_solver_that_misses_a_better_known_decision_ends_in_a_disagreement(backend, monkeypatch):
    best = run(Cover(), Exhaustive()).decision
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle(best))
    strategy = backend("""
        def solve(request, channel):
            point = np.ones(10)
            value = request.program.objective(point)
            channel.send(Incumbent(point, value))
            return Outcome("optimal", value, value)
    """)
    with pytest.raises(Disagreement, match="a bound of"):
        run(Cover(), strategy)


def test_infeasible_is_not_believed_where_a_feasible_decision_is_known(backend, monkeypatch):
    monkeypatch.setattr(mip, "find_start", lambda oracle, rng: oracle((1,) * 10))
    with pytest.raises(Disagreement, match="the evaluator knows a feasible decision"):
        run(Cover(), backend("def solve(request, channel):\n    return Outcome('infeasible')\n"))


def test_an_optimum_without_a_point_is_a_failure(backend):
    with pytest.raises(SolverFailure, match="shows no point"):
        run(Cover(), backend("def solve(request, channel):\n    return Outcome('optimal', 1.0, 1.0)\n"))


def test_an_exception_in_the_solver_is_a_failure_in_one_sentence(backend):
    with pytest.raises(SolverFailure, match="solver 'mine' failed: ValueError: out of luck"):
        run(Cover(), backend("def solve(request, channel):\n    raise ValueError('out of luck')\n"))


def test_noise_in_whole_numbers_is_rounded_before_it_is_read(backend):
    strategy = backend("""
        def solve(request, channel):
            send = channel.send
            def noisy(m):
                if isinstance(m, Incumbent):
                    point = m.point + 1e-6 * np.where(m.point > 0.5, -1, 1)
                    m = Incumbent(point, request.program.objective(point))
                send(m)
            channel.send = noisy
            return mip_highs.solve(request, channel)
    """)
    result = run(Cover(), strategy)
    assert result.status == Status.OPTIMAL
    assert result.objective == run(Cover(), Exhaustive()).objective


@dataclass(frozen=True)
class SlackCost:
    """One whole number and a cost variable that is held from below only; the cheapest choice costs 2."""

    objective_exact: bool
    name: str = "slack"
    space: Any = field(default_factory=lambda: BinaryVectors(1))

    def evaluate(self, decision):
        return Evaluation(4.0 - 2.0 * decision[0])

    def to_pyomo(self):
        model = pyo.ConcreteModel()
        model.x, model.cost = pyo.Var(domain=pyo.Binary), pyo.Var(bounds=(0, 10))
        model.total = pyo.Objective(expr=model.cost)
        model.held = pyo.Constraint(expr=model.cost >= 4 - 2 * model.x)
        return model

    def from_pyomo(self, model):
        return (model.x.value,)


def test_slack_in_a_cost_variable_is_an_error_unless_the_problem_allows_it(backend):
    strategy = backend("""
        def solve(request, channel):
            if "better_than_the_best_known" in request.program.row_names:
                return Outcome("infeasible")
            for x, cost in ((0, 9.0), (1, 2.0)):
                values = {"x": x, "cost": cost}
                point = np.array([values[name] for name in request.program.column_names])
                value = request.program.objective(point)
                channel.send(Incumbent(point, value))
            return Outcome("optimal", value, value)
    """)
    assert run(SlackCost(objective_exact=False), strategy).status == Status.OPTIMAL
    with pytest.raises(Disagreement, match=r"9\.0 was claimed where the evaluator finds 4\.0"):
        run(SlackCost(objective_exact=True), strategy)


def test_a_cost_below_that_of_the_evaluator_is_an_error_in_any_case(backend):
    strategy = backend("""
        def solve(request, channel):
            value = request.program.objective(np.ones(2))
            channel.send(Incumbent(np.ones(2), value))
            return Outcome("optimal", value, value)
    """)
    with pytest.raises(Disagreement, match=r"1\.0 was claimed where the evaluator finds 2\.0"):
        run(SlackCost(objective_exact=False), strategy)


# -- no solution ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rough(Knapsack):
    """A knapsack whose evaluator finds a little more worth than its model."""

    more: float = 1e-3

    def evaluate(self, decision):
        return replace(super().evaluate(decision), objective=super().evaluate(decision).objective - self.more)


class KnownToBeRough(Rough):
    model_noise = 1e-3


def test_noise_of_a_model_that_tells_of_it_is_no_disagreement_and_lowers_the_bound():
    with pytest.raises(Disagreement):
        run(Rough(), Highs())
    found = run(KnownToBeRough(), Highs())
    assert found.objective == -148.001
    assert found.bound == pytest.approx(-148.0 - 1e-3 * 148)
    assert found.status == "feasible"
    with pytest.raises(Disagreement):
        run(KnownToBeRough(more=1.0), Highs())


@pytest.mark.parametrize(("tolerance", "status"), [(None, "optimal"), (1e-9, "infeasible")])
def test_a_model_may_ask_for_less_noise(tolerance, status):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Binary)
    model.y = pyo.Var(bounds=(0, 2))
    model.worth = pyo.Objective(expr=model.x + model.y)
    model.above = pyo.Constraint(expr=model.y - model.x >= 1)
    model.below = pyo.Constraint(expr=model.y + model.x <= 1 - 1e-7)
    model.tolerance = tolerance
    request = Request(compile_model(model).program, presolve=False, tolerance=tolerance)
    with SolverProcess(mip.SOLVERS["highs"].backend) as process:
        *_, outcome = process.ask(request, 30.0)
    assert outcome.status == status


@pytest.mark.parametrize("solver", SOLVERS_OR_SLOW)
def test_infeasible_is_confirmed_without_presolve_and_explained(solver, spy):
    problem = Cover(share=1.5)
    result = run(problem, Highs(solver))
    assert result.status == Status.INFEASIBLE and result.decision is None
    assert [process.requests[0].presolve for process in spy[:2]] == [True, False]
    assert result.extra["solver"]["infeasible_with_and_without_presolve"]
    assert any(name.startswith("covered[") for name in result.extra["infeasible_subset"])


def test_at_most_twenty_names_are_shown_and_the_rest_counted():
    result = run(Cover(columns=60, share=1.5), Highs())
    assert len(result.extra["infeasible_subset"]) == 20
    assert result.extra["infeasible_subset_size"] > 20


def test_infeasible_by_presolve_alone_is_not_believed(backend):
    strategy = backend("""
        def solve(request, channel):
            return Outcome("infeasible") if request.presolve else mip_highs.solve(request, channel)
    """)
    assert run(Cover(), strategy).status == Status.OPTIMAL


def test_infeasible_that_could_not_be_confirmed_in_time_is_unknown(backend):
    strategy = backend("""
        def solve(request, channel):
            return Outcome("infeasible" if request.presolve else "seconds")
    """)
    result = run(Cover(), strategy)
    assert (result.status, result.stopped_by) == (Status.UNKNOWN, "seconds")


def test_the_reason_of_the_problem_is_told():
    @dataclass(frozen=True)
    class Reasoned(Cover):
        def infeasibility(self):
            return "row 0 needs more than all columns give."

    result = run(Reasoned(share=1.5), Highs())
    assert result.status == Status.INFEASIBLE
    assert result.extra["reason"] == "row 0 needs more than all columns give."


def test_a_broken_constraint_without_variables_proves_infeasible_by_name():
    def write():
        model = linear()
        model.never = pyo.Constraint(expr=0 * model.x >= 1)
        return model

    result = run(Written(write), Highs())
    assert result.status == Status.INFEASIBLE
    assert result.extra["infeasible_subset"] == ["never"]


@pytest.mark.parametrize("solver", SOLVERS[:2])
@pytest.mark.parametrize("domain", [pyo.Reals, pyo.Integers])
def test_an_unbounded_program_is_an_error_in_one_sentence(solver, domain):
    def write():
        model = pyo.ConcreteModel()
        model.x, model.y = pyo.Var(domain=domain), pyo.Var(domain=domain, bounds=(0, 5))
        model.cost = pyo.Objective(expr=model.x + model.y)
        model.most = pyo.Constraint(expr=model.x - model.y <= 3)
        return model

    with pytest.raises(UnboundedProgram, match=r"the program of 'written' is (infeasible or )?unbounded"):
        run(Written(write), Highs(solver))


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_a_missing_extra_is_named_in_one_sentence(monkeypatch):
    monkeypatch.setitem(mip.SOLVERS, "scip", Solver("optmodels.mip.scip:solve", "no_such_package", "scip"))
    with pytest.raises(UnsupportedProblem, match=r"^solver 'scip' needs the extra: pip install optmodels\[scip\]$"):
        run(Cover(), Highs("scip"))


@MISSING["cpsat"]
def test_cpsat_refuses_continuous_variables():
    with pytest.raises(UnsupportedProblem, match="whole-number variables only, and x is continuous"):
        run(Written(linear), Highs("cpsat"))


@pytest.mark.slow
@MISSING["cpsat"]
@pytest.mark.parametrize(
    ("coefficient", "bounds", "sentence"),
    [
        (math.pi, (0, 5), "whole after scaling, and 3.14159"),
        (1, (0, None), "needs bounds of every variable, and n has none"),
    ],
)
def test_cpsat_refuses_what_it_cannot_count(coefficient, bounds, sentence):
    def write():
        model = pyo.ConcreteModel()
        model.n = pyo.Var(domain=pyo.Integers, bounds=bounds)
        model.cost = pyo.Objective(expr=model.n)
        model.least = pyo.Constraint(expr=coefficient * model.n >= 2)
        return model

    with pytest.raises(UnsupportedProblem, match=sentence):
        run(Written(write), Highs("cpsat"))


@pytest.mark.parametrize("solver", SOLVERS_OR_SLOW)
def test_fractions_are_scaled(solver):
    def write():
        model = pyo.ConcreteModel()
        model.n = pyo.Var([0, 1], domain=pyo.Integers, bounds=(0, 9))
        model.cost = pyo.Objective(expr=0.7 * model.n[0] + 0.25 * model.n[1] + 0.1)
        model.least = pyo.Constraint(expr=1.5 * model.n[0] + 0.4 * model.n[1] >= 3.1)
        return model

    result = run(Written(write), Highs(solver))
    best = min(0.7 * a + 0.25 * b + 0.1 for a in range(10) for b in range(10) if 1.5 * a + 0.4 * b >= 3.1 - 1e-9)
    assert result.status == Status.OPTIMAL and result.objective == pytest.approx(best, rel=1e-9)


def test_limits_are_refused_unless_the_model_contains_them():
    @dataclass(frozen=True)
    class Limited(Cover):
        limits: tuple = ("loss",)
        algebraic_limits: bool = False

    assert "does not handle limits on measures" in refusal(Limited(), Highs())
    assert refusal(Limited(algebraic_limits=True), Highs()) is None
    assert refusal(Limited(limits=()), Highs()) is None


def test_a_problem_without_a_model_is_refused():
    class Bare:
        name, space = "bare", BinaryVectors(2)

        def evaluate(self, decision):
            return Evaluation(0.0)

    assert "this one has no from_pyomo, to_pyomo" in refusal(Bare(), Highs())


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"solver": "guess"}, "solver must be one of highs, scip, cpsat, got 'guess'"),
        ({"threads": 0}, "threads must be 1 or more, got 0"),
        ({"gap": -1.0}, "gap must be 0 or more, got -1"),
        ({"gap": math.nan}, "gap must be 0 or more, got nan"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        Highs(**parameters)


# -- endings ----------------------------------------------------------------------------------------------------------


def test_a_solver_that_overruns_its_limit_is_ended_and_its_incumbent_kept(backend, spy):
    strategy = backend("""
        def solve(request, channel):
            point = np.ones(10)
            channel.send(Incumbent(point, request.program.objective(point)))
            channel.send(Bound(17.0))
            while True:
                time.sleep(60)
    """)
    result = run(Cover(), strategy, Budget(seconds=5))
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, "seconds")
    assert result.decision == (1,) * 10 and result.bound == 17.0
    assert_gone(spy)


def test_a_solver_killed_from_outside_leaves_its_incumbent(spy):
    def kill(progress):
        if progress.objective is not None and progress.bound and not killed:
            killed.append(spy[-1].pid)
            os.kill(spy[-1].pid, signal.SIGKILL)

    killed = []

    result = run(Cover(**HARD), Highs(), progress=kill)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, "solver ended by SIGKILL")
    assert result.bound > 0
    assert_gone(spy)


def test_an_interrupt_in_this_process_closes_on_the_incumbent(spy):
    def interrupt(progress):
        if progress.objective is not None and progress.bound and not interrupted:
            interrupted.append(progress)
            raise KeyboardInterrupt

    interrupted = []

    result = run(Cover(**HARD), Highs(), progress=interrupt)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, "interrupt")
    assert_gone(spy)


def test_an_interrupt_while_infeasible_is_being_confirmed_proves_nothing(backend, spy):
    strategy = backend("""
        def solve(request, channel):
            if request.presolve:
                return Outcome("infeasible")
            channel.send(Bound(17.0))
            while True:
                time.sleep(60)
    """)

    def interrupt(progress):
        if progress.bound is not None and not interrupted:
            interrupted.append(progress)
            raise KeyboardInterrupt

    interrupted = []
    result = run(Cover(), strategy, progress=interrupt)
    assert (result.status, result.stopped_by, len(spy)) == (Status.UNKNOWN, "interrupt", 2)
    assert_gone(spy)


def assert_gone(spied):
    assert spied
    for process in spied:
        assert process._process.poll() is not None


@pytest.mark.parametrize(
    "solver", ["highs", *(pytest.param(s, marks=[MISSING[s], pytest.mark.slow]) for s in ("scip", "cpsat"))]
)
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_ctrl_c_in_mid_solve_gives_the_incumbent(solver):
    script = f"""
        import importlib.util, json, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background jobs ignore it
        sys.path[:0] = {[entry for entry in sys.path if entry]!r}
        spec = importlib.util.spec_from_file_location("toys", {str(Path(__file__))!r})
        toys = importlib.util.module_from_spec(spec)
        sys.modules["toys"] = toys
        spec.loader.exec_module(toys)

        def tell(progress):
            if progress.objective is not None and progress.bound is not None:
                print("ready", flush=True)

        result = toys.run(toys.Cover(**toys.HARD), toys.Highs({solver!r}), progress=tell)
        print(json.dumps([result.status, result.stopped_by, result.objective, result.bound]), flush=True)
    """
    # The whole group gets the signal, as from a terminal.
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    status, stopped_by, objective, bound = json.loads(out.splitlines()[-1])
    assert (status, stopped_by, errors) == ("feasible", "interrupt", "")
    assert bound < objective
    with pytest.raises(ProcessLookupError):  # nobody is left in the group
        os.killpg(process.pid, 0)


def test_the_import_of_pyomo_is_not_charged_to_the_run():
    script = """
        import sys, time
        from importlib.machinery import PathFinder

        late, real = [0.0], time.perf_counter
        time.perf_counter = lambda: real() + late[0]

        class Slow(PathFinder):
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                late[0] += 1e6 * (name == "pyomo.environ")
                return None

        sys.meta_path.insert(0, Slow)
        import optmodels as om

        result = om.solve("areas-3", "highs")
        print(late[0], result.status, result.seconds < 1e6)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=100)
    assert (found.stdout, found.stderr) == ("1000000.0 optimal True\n", "")


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("gautam-2x3", "opening + 7"),
        ("loss-5-20", "cost + 7"),
        ("cycle-10", "obsolescence + 7"),
        ("talim-fig3-starvation", "starvation + 7"),
        ("avrachenkov-k5", "starvation + 7"),
    ],
)
def test_a_number_beside_a_weighted_sum_is_named(name, formula):
    problem = replace(om.load(name), cost=Expression(formula))
    assert refusal(problem, Highs()).endswith("leave out what it adds to a weighted sum, 7, which changes no decision.")
    assert refusal(replace(problem, cost=Expression(formula.removesuffix(" + 7"))), Highs()) is None
    assert refusal(replace(problem, cost=Expression(f"({formula})**2")), Highs()).endswith("is not.")
