"""Where costs are continuous, an optimum is believed only after a solver was asked for something better, in vain."""

import itertools
import math
import textwrap
from dataclasses import dataclass, replace

import numpy as np
import pyomo.environ as pyo
import pytest

from heuristics import BinaryVectors, Budget, Evaluation, Status, run
from optmodels.mip import Highs, Solver, compile_model
from optmodels.mip import strategy as mip

#: Solvers that are caught: what they do at first, and what they do once they are asked for something better.
PREAMBLE = """
import time
from dataclasses import replace
import numpy as np
from optmodels.mip import highs as mip_highs
from optmodels.mip.program import Bound, Incumbent, Outcome

def again(request):
    return "better_than_the_best_known" in request.program.row_names

def early(request, channel):
    # Shows all columns at once and calls them optimal.
    point = np.ones(request.program.shape[1])
    value = request.program.objective(point)
    channel.send(Incumbent(point, value))
    return Outcome("optimal", value, value)
"""


@dataclass(frozen=True)
class Cover:
    """Choose columns of least cost that cover every row; costs are multiples of no number."""

    columns: int = 8
    seed: int = 1
    scale: float = 1.0
    maximise: bool = False
    slack: bool = False
    name: str = "cover"

    @property
    def space(self):
        return BinaryVectors(self.columns)

    @property
    def cost(self):
        return self.scale * np.random.default_rng(self.seed).uniform(10, 60, self.columns)

    @property
    def weight(self):
        return np.random.default_rng(self.seed + 1).integers(1, 50, (5, self.columns))

    @property
    def need(self):
        return np.ceil(0.4 * self.weight.sum(axis=1))

    @property
    def objective_exact(self):
        return not self.slack

    def evaluate(self, decision):
        missing = self.need - self.weight @ np.array(decision)
        broken = {f"row {i}": float(m) for i, m in enumerate(missing) if m > 0}
        return Evaluation(math.fsum(self.cost * np.array(decision)), broken)

    def to_pyomo(self):
        model = pyo.ConcreteModel(name=self.name)
        columns, cost, weight, need = range(self.columns), self.cost.tolist(), self.weight.tolist(), self.need.tolist()
        model.x = pyo.Var(columns, domain=pyo.Binary)
        total = sum(cost[j] * model.x[j] for j in columns)
        if self.slack:  # a continuous variable that holds the price, so that patterns do not tell all of a point
            model.price = pyo.Var(bounds=(0, 100 * self.columns * self.scale))
            model.held = pyo.Constraint(expr=model.price >= total)
            total = model.price
        model.total = pyo.Objective(
            expr=-total if self.maximise else total, sense=pyo.maximize if self.maximise else pyo.minimize
        )
        model.covered = pyo.Constraint(
            range(5), rule=lambda m, i: sum(weight[i][j] * m.x[j] for j in columns) >= need[i]
        )
        return model

    def from_pyomo(self, model):
        return tuple(int(model.x[j].value) for j in range(self.columns))


def best_of(problem):
    judged = (problem.evaluate(decision) for decision in itertools.product((0, 1), repeat=problem.columns))
    return min(found.objective for found in judged if found.feasible)


@pytest.fixture
def backend(tmp_path, monkeypatch):
    """Make the solver "mine" from the text of its function."""

    def make(text):
        (tmp_path / "mine.py").write_text(PREAMBLE + textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setitem(mip.SOLVERS, "mine", Solver("mine:solve", "numpy"))
        return Highs("mine")

    return make


# -- programs with a row more -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("maximise", [False, True])
def test_a_row_holds_the_points_that_are_no_worse_than_a_value(maximise):
    problem = Cover(maximise=maximise)
    program = replace(compile_model(problem.to_pyomo()).program, offset=3.0)
    points = [np.array(point, float) for point in itertools.product((0.0, 1.0), repeat=8)]
    value = sorted(program.objective(point) for point in points)[100]
    held = program.better_than(value)
    assert held.shape == (program.shape[0] + 1, program.shape[1])
    for point in points:
        kept = held.row_lower[-1] <= held.activity(point)[-1] <= held.row_upper[-1]
        better = program.objective(point) >= value if maximise else program.objective(point) <= value
        assert kept == better or program.objective(point) == pytest.approx(value)
        assert (held.activity(point)[:-1] == program.activity(point)).all()


# -- honest solvers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("options", [{}, {"scale": 1e-7}, {"scale": 1e9}, {"maximise": True}, {"slack": True}])
def test_an_optimum_of_continuous_costs_is_asked_for_twice(solver, options):
    if mip.SOLVERS[solver].missing(solver):
        pytest.skip("the extra is not installed")
    problem = Cover(**options)
    result = run(problem, Highs(solver))
    assert result.status == Status.OPTIMAL
    assert result.objective == result.bound == pytest.approx(best_of(problem), rel=1e-12)
    assert result.extra["proved_to"] == 1e-7
    assert result.extra["solver"]["asked_once_more"] == 1
    assert "claims_refuted" not in result.extra["solver"]


@dataclass(frozen=True)
class Counted(Cover):
    """The same with costs that are whole numbers, which nobody says but the program."""

    @property
    def cost(self):
        return np.random.default_rng(self.seed).integers(10, 60, self.columns).astype(float)


@dataclass(frozen=True)
class Stepped(Counted):
    """A problem that says so."""

    objective_step: float = 1.0


@pytest.mark.parametrize("problem", [Counted(), Stepped()])
def test_objectives_that_are_counted_need_no_second_question(problem):
    result = run(problem, Highs())
    assert result.status == Status.OPTIMAL
    assert result.objective == best_of(problem)
    assert result.extra["proved_to"] == 0.0
    assert "asked_once_more" not in result.extra["solver"]


def test_an_objective_of_zero_is_proved_too(backend):
    problem = replace(Cover(), scale=0.0, slack=True)
    result = run(problem, Highs())
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 0.0, 0.0)


# -- solvers that claim too early -------------------------------------------------------------------------------------


def test_a_solver_that_claims_an_optimum_too_early_is_caught(backend):
    result = run(
        Cover(),
        backend("""
        def solve(request, channel):
            return mip_highs.solve(request, channel) if again(request) else early(request, channel)
        """),
    )
    best = best_of(Cover())
    assert result.status == Status.OPTIMAL
    assert result.objective == result.bound == pytest.approx(best, rel=1e-12)
    told = result.extra["solver"]
    assert told["claims_refuted"] == pytest.approx(Cover().cost.sum())
    assert told["asked_once_more"] == 2
    # What was said of bounds before is gone, and the way to the best decision is not.
    assert all(point.bound is None or point.bound <= best for point in result.trace)
    assert [point.objective for point in result.trace][-1] == result.objective


def test_an_optimum_that_is_wrong_by_a_millionth_is_caught(backend):
    """So little that no comparison of claims with judgements would notice."""

    @dataclass(frozen=True)
    class Close(Cover):
        @property
        def cost(self):
            return np.array([10.0, 10.0 * (1 + 3e-7), 50.0])

        @property
        def weight(self):
            return np.array([[1, 1, 0]])

        @property
        def need(self):
            return np.array([1.0])

        def to_pyomo(self):
            model = pyo.ConcreteModel()
            model.x = pyo.Var(range(3), domain=pyo.Binary)
            model.total = pyo.Objective(expr=sum(self.cost[j] * model.x[j] for j in range(3)))
            model.covered = pyo.Constraint(expr=model.x[0] + model.x[1] >= 1)
            return model

    second_best = """
        def solve(request, channel):
            if again(request):
                return mip_highs.solve(request, channel)
            point = np.array([0.0, 1.0, 0.0])
            value = request.program.objective(point)
            channel.send(Incumbent(point, value))
            return Outcome("optimal", value, value)
    """
    result = run(Close(columns=3), backend(second_best))
    assert result.objective == 10.0
    assert result.status == Status.OPTIMAL
    assert "claims_refuted" in result.extra["solver"]


@pytest.mark.parametrize(
    ("answer", "stopped_by"),
    [
        ('Outcome("seconds")', "seconds"),
        ('Outcome("interrupt")', "interrupt"),
        ('Outcome("gave up", message="no memory")', "solver gave up: no memory"),
        ('Outcome("unclear")', "solver gave up: asked for something better: unclear"),
        ('Outcome("refused", message="too fine")', "solver gave up: asked for something better: too fine"),
        ("early(request, channel)", "solver gave up: its optima are none"),
        ("1 / 0", "solver gave up"),
    ],
)
def test_only_infeasibility_proves(backend, answer, stopped_by, monkeypatch):
    monkeypatch.setattr(mip, "MOST_QUESTIONS", 2)
    result = run(
        Cover(),
        backend(f"""
        def solve(request, channel):
            return {answer} if again(request) else mip_highs.solve(request, channel)
        """),
    )
    assert result.status == Status.FEASIBLE
    assert result.objective == pytest.approx(best_of(Cover()), rel=1e-12)
    assert result.bound == pytest.approx(result.objective, rel=2e-7)
    assert result.bound < result.objective
    assert result.stopped_by.startswith(stopped_by)
    assert "proved_to" not in result.extra


def test_a_solver_that_gives_up_is_asked_with_presolve_and_without(backend):
    result = run(
        Cover(),
        backend("""
        def solve(request, channel):
            if again(request) and request.presolve:
                return Outcome("gave up", message="Solve error")
            return mip_highs.solve(request, channel)
        """),
    )
    assert result.status == Status.OPTIMAL
    assert result.extra["proved_to"] == 1e-7
    assert result.objective == pytest.approx(best_of(Cover()), rel=1e-12)


def test_the_second_question_keeps_the_time(backend):
    result = run(
        Cover(),
        backend("""
        def solve(request, channel):
            while again(request):
                time.sleep(0.01)
            return mip_highs.solve(request, channel)
        """),
        Budget(seconds=2.0),
    )
    assert result.status == Status.FEASIBLE
    assert result.stopped_by == "seconds"
    assert result.bound < result.objective == pytest.approx(best_of(Cover()), rel=1e-12)
    assert result.seconds < 10


def test_a_claim_that_is_refuted_when_the_time_is_up_leaves_no_bound(backend):
    result = run(
        Cover(),
        backend("""
        def solve(request, channel):
            if not again(request):
                return early(request, channel)
            return replace(mip_highs.solve(request, channel), status="seconds")
        """),
    )
    assert result.status == Status.FEASIBLE
    assert result.objective == pytest.approx(best_of(Cover()), rel=1e-12)
    assert result.bound is None


def test_the_best_decision_once_more_is_forbidden_where_prices_are_continuous(backend):
    """A solver that takes its tolerance for an improvement names the same decision, a little cheaper."""
    result = run(
        Cover(slack=True),
        backend("""
        def solve(request, channel):
            if not again(request) or any(name.startswith("without") for name in request.program.row_names):
                return mip_highs.solve(request, channel)
            program = replace(request.program, row_upper=np.where(
                [name == "better_than_the_best_known" for name in request.program.row_names], np.inf,
                request.program.row_upper))
            return mip_highs.solve(replace(request, program=program), channel)
        """),
    )
    assert result.status == Status.OPTIMAL
    assert result.extra["solver"]["asked_once_more"] == 2
    assert result.objective == pytest.approx(best_of(Cover()), rel=1e-12)
