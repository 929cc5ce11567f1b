"""Two roads from a Pyomo model to the same program: ours, and Pyomo's own interface to HiGHS."""

import math
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

from optmodels import load
from optmodels.mip import common_step, compile_model
from optmodels.mip.program import Program
from optmodels.mip.pyomo import InfeasibleConstraint
from optmodels.robots import RobotFleetProblem, RobotsProblem
from optmodels.robots.areas import RobotAreasProblem


def knapsack():
    """Eight things, a range on the weight, a constant in the objective, maximised: optimum 148."""
    model = pyo.ConcreteModel(name="knapsack")
    weight, value = [5, 4, 3, 2, 7, 8, 1, 6], [10, 40, 30, 50, 35, 40, 9, 21]
    model.take = pyo.Var(range(8), domain=pyo.Binary)
    model.worth = pyo.Objective(expr=7 + sum(value[i] * model.take[i] for i in range(8)), sense=pyo.maximize)
    model.weight = pyo.Constraint(expr=(2, sum(weight[i] * model.take[i] for i in range(8)), 15))
    return model


def facilities():
    """Four sites, six clients, continuous shares; one site is fixed open."""
    rng = np.random.default_rng(5)
    model = pyo.ConcreteModel(name="facilities")
    sites, clients = range(4), range(6)
    distance = rng.integers(1, 20, (4, 6)).tolist()
    model.open = pyo.Var(sites, domain=pyo.Binary)
    model.share = pyo.Var(sites, clients, bounds=(0, 1))
    model.total = pyo.Objective(
        expr=sum(15.5 * model.open[i] for i in sites)
        + sum(distance[i][j] * model.share[i, j] for i in sites for j in clients)
    )
    model.served = pyo.Constraint(clients, rule=lambda m, j: sum(m.share[i, j] for i in sites) == 1)
    model.by_open = pyo.Constraint(sites, clients, rule=lambda m, i, j: m.share[i, j] <= m.open[i])
    model.open[2].fix(1)
    return model


def mixture():
    """General whole numbers, a free variable, an infinite upper bound, negative bounds, constants on both sides."""
    model = pyo.ConcreteModel(name="mixture")
    model.count = pyo.Var([1, 2], domain=pyo.Integers, bounds=(-3, 9))
    model.level = pyo.Var()
    model.stock = pyo.Var(domain=pyo.NonNegativeReals)
    model.price = pyo.Objective(expr=2.5 * model.count[1] - model.count[2] + 0.3 * model.stock - 4 + model.level)
    model.balance = pyo.Constraint(expr=model.level + model.stock - 1 == model.count[1] + 3)
    model.least = pyo.Constraint(expr=model.stock + model.count[2] >= 1.5)
    model.floor = pyo.Constraint(expr=(-7.25, model.level + 0.5 * model.count[2], 30))
    return model


def shipped(name):
    """The program of a shipped placement."""

    def make():
        return load(INSTANCES / f"{name}.json").to_pyomo()

    make.__name__ = name
    return make


def limited_robots():
    """Occupation measures, binary decisions and trails of robots of two classes under limits."""
    classes = [{"robots": 1, "arrival_rate": 0.4}, {"robots": 1, "arrival_rate": 0.9}]
    limits = {"loss_rate": {"max": 0.1}, "response_time": {"max": 1.9}}
    fields = {"classes": classes, "capacity": 2, "service_rate": 1.0}
    return RobotFleetProblem(cost={"starvation": 1.0}, limits=limits, **fields).to_pyomo()


def free_robots():
    """The linear program of average costs."""
    return RobotsProblem(robots=3, capacity=3, arrival_rate=0.4, service_rate=1.0, cost={"starvation": 1.0}).to_pyomo()


def areas():
    """A knapsack with one choice for each area."""
    areas = [{"capacity": 3, "arrival_rate": rate, "service_rate": 1.0} for rate in (0.3, 0.5)]
    limits = {"loss_rate": {"max": 0.5}}
    return RobotAreasProblem(robots=4, areas=areas, cost={"starvation": 1.0}, limits=limits).to_pyomo()


INSTANCES = Path(__file__).parents[3] / "instances" / "placement"
MODELS = [knapsack, facilities, mixture, *map(shipped, ("gautam-2x3", "gautam-2x3-printed", "gautam-4x4"))]
MODELS += [limited_robots, free_robots, areas]


def reference_solver():
    from pyomo.contrib.solver.common.factory import SolverFactory

    return SolverFactory("highs")


def solve_with_pyomo(model):
    """Solve a model through the plain Pyomo interface to HiGHS; the best point is left in the model's variables."""
    answer = reference_solver().solve(model, rel_gap=0.0, load_solutions=False)
    answer.solution_loader.load_vars()
    assert answer.termination_condition.name == "convergenceCriteriaSatisfied"
    return answer.incumbent_objective


def reference_program(model):
    """The program that the plain Pyomo interface hands to HiGHS, read back from there."""
    from scipy.sparse import csc_array, csr_array

    solver = reference_solver()
    solver.set_instance(model)
    lp = solver._solver_model.getLp()
    row_of = {index: constraint for constraint, index in solver._pyomo_con_to_solver_con_map.items()}
    variable_of = {id(variable): variable for variable in model.component_data_objects(pyo.Var)}
    column_of = {index: variable_of[key] for key, index in solver._pyomo_var_to_solver_var_map.items()}
    # A fixed variable stays there as a column without cost and entries; in the standard form it is no column.
    kept = np.array([j for j in range(lp.num_col_) if not column_of[j].fixed], dtype=int)
    held = lp.a_matrix_
    parts = (np.array(held.value_, dtype=float), np.array(held.index_, dtype=np.int32), np.array(held.start_))
    form = csr_array if str(held.format_).endswith("kRowwise") else csc_array
    matrix = form(parts, shape=(lp.num_row_, lp.num_col_)).tocsc()[:, kept]
    kinds = [str(kind) for kind in lp.integrality_] or ["kContinuous"] * lp.num_col_
    return Program(
        cost=np.array(lp.col_cost_, dtype=float)[kept],
        offset=float(lp.offset_),
        maximise=str(lp.sense_).endswith("kMaximize"),
        starts=matrix.indptr.astype(np.int32),
        rows=matrix.indices.astype(np.int32),
        values=matrix.data,
        row_lower=np.array(lp.row_lower_, dtype=float),
        row_upper=np.array(lp.row_upper_, dtype=float),
        column_lower=np.array(lp.col_lower_, dtype=float)[kept],
        column_upper=np.array(lp.col_upper_, dtype=float)[kept],
        whole=np.array([kinds[j].endswith("kInteger") for j in kept], dtype=bool),
        row_names=tuple(row_of[i].name for i in range(lp.num_row_)),
        column_names=tuple(column_of[j].name for j in kept),
        name=str(model.name),
    )


def sorted_by_name(program):
    """The same program with rows and columns in alphabetical order and entries in order within a column."""
    row_order, column_order = np.argsort(program.row_names), np.argsort(program.column_names)
    rows, columns = np.argsort(row_order)[program.rows], np.argsort(column_order)[program.columns]
    order = np.lexsort((rows, columns))
    return replace(
        program,
        starts=np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=program.shape[1]))]),
        rows=rows[order],
        values=program.values[order],
        row_names=tuple(program.row_names[i] for i in row_order),
        column_names=tuple(program.column_names[j] for j in column_order),
        **{name: getattr(program, name)[row_order] for name in ("row_lower", "row_upper")},
        **{name: getattr(program, name)[column_order] for name in ("cost", "column_lower", "column_upper", "whole")},
    )


def assert_equal_programs(first: Program, second: Program) -> None:
    first, second = sorted_by_name(first), sorted_by_name(second)
    assert first.row_names == second.row_names
    assert first.column_names == second.column_names
    assert first.maximise == second.maximise
    assert first.offset == pytest.approx(second.offset, rel=1e-12)
    for name in ("starts", "rows", "whole"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    for name in ("cost", "values", "row_lower", "row_upper", "column_lower", "column_upper"):
        assert np.allclose(getattr(first, name), getattr(second, name), rtol=1e-12, atol=0), name


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_both_roads_give_the_same_matrix_up_to_order(make):
    assert_equal_programs(compile_model(make()).program, reference_program(make()))


def test_the_comparison_of_roads_sees_one_changed_entry():
    program = compile_model(knapsack()).program
    changed = pickle.loads(pickle.dumps(program))
    changed.values[3] += 1
    with pytest.raises(AssertionError):
        assert_equal_programs(program, changed)


def test_a_range_constraint_is_one_row():
    program = compile_model(knapsack()).program
    assert program.shape == (1, 8)
    assert (program.row_lower[0], program.row_upper[0]) == (2, 15)


def test_a_program_survives_pickling():
    program = compile_model(mixture()).program
    assert_equal_programs(pickle.loads(pickle.dumps(program)), program)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_the_reference_road_and_the_program_agree_on_the_objective(make):
    model = make()
    optimum = solve_with_pyomo(model)
    compiled = compile_model(model)
    point = compiled.point()
    assert compiled.program.objective(point) == pytest.approx(optimum, rel=1e-9)
    assert compiled.program.broken_row(point) is None


def test_the_knapsack_holds_148():
    assert solve_with_pyomo(knapsack()) == pytest.approx(148)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_the_model_as_a_file_solved_by_scip_gives_the_optimum_of_highs(make, tmp_path):
    pytest.importorskip("pyscipopt")
    make().write(str(tmp_path / "model.mps"))
    # In a process of its own: SCIP and HiGHS both bring their own libraries.
    script = (
        "import sys, pyscipopt; m = pyscipopt.Model(); m.hideOutput(); m.readProblem(sys.argv[1]); m.optimize(); "
        "print(m.getStatus(), repr(m.getObjVal()))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "model.mps")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()[-2:]
    assert answer[0] == "optimal"
    assert float(answer[1]) == pytest.approx(solve_with_pyomo(make()), rel=1e-7)


def test_fixed_variables_move_into_the_constants():
    program = compile_model(facilities()).program
    assert "open[2]" not in program.column_names
    assert program.offset == 15.5


def test_a_variable_that_appears_nowhere_gets_a_value_within_its_bounds():
    model = knapsack()
    model.idle = pyo.Var(bounds=(3, 5))
    model.other = pyo.Var(bounds=(None, -2))
    assert "idle" not in compile_model(model).program.column_names
    assert model.idle.value == 3
    assert model.other.value == -2


def test_points_that_agree_in_the_deciding_columns_are_left_out_together():
    program = compile_model(knapsack()).program
    point = np.array([1.0, 0, 1, 0, 0, 0, 0, 0])
    left = program.without(point, np.array([0, 1], dtype=np.int32))
    activity = [left.activity(np.array([a, b, *rest], dtype=float))[-1] for a in (0, 1) for b in (0, 1)
                for rest in ((0,) * 6, (1,) * 6)]  # fmt: skip
    kept = [value >= left.row_lower[-1] for value in activity]
    assert kept == [True] * 4 + [False] * 2 + [True] * 2  # all but those that begin with 1, 0
    whole = compile_model(mixture()).program
    continuous = np.flatnonzero(~whole.whole)[:1].astype(np.int32)
    with pytest.raises(ValueError, match="by whole numbers only"):
        whole.without(np.clip(np.zeros(whole.shape[1]), whole.column_lower, whole.column_upper), continuous)


def test_a_model_may_say_what_solvers_are_to_take_for_nothing():
    model = knapsack()
    assert compile_model(model).program.tolerance is None
    model.tolerance = 1e-9
    assert compile_model(model).program.tolerance == 1e-9


def test_a_model_without_objective_has_cost_zero():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Binary)
    model.c = pyo.Constraint(expr=model.x >= 1)
    program = compile_model(model).program
    assert program.cost.tolist() == [0.0] and program.offset == 0.0 and not program.maximise


def test_a_model_without_columns_is_a_program():
    model = pyo.ConcreteModel()
    model.o = pyo.Objective(expr=3.0)
    program = compile_model(model).program
    assert program.shape == (0, 0) and program.objective(np.zeros(0)) == 3.0


def test_a_broken_constraint_without_variables_is_named():
    model = knapsack()
    model.impossible = pyo.Constraint([1], rule=lambda m, i: 0 * m.take[1] <= -1)
    with pytest.raises(InfeasibleConstraint, match=r"impossible\[1\]"):
        compile_model(model)


def test_noise_in_a_constraint_without_variables_proves_nothing():
    model = knapsack()
    model.noise = pyo.Constraint(expr=0 * model.take[1] + (0.1 + 0.2) <= 0.3)
    assert compile_model(model).program.shape == (1, 8)


def test_two_objectives_are_refused():
    model = knapsack()
    model.second = pyo.Objective(expr=model.take[0])
    with pytest.raises(ValueError, match="one active objective, and this one has 2: worth, second"):
        compile_model(model)


def test_a_nonlinear_model_is_refused():
    model = knapsack()
    model.curve = pyo.Constraint(expr=model.take[0] * model.take[1] <= 1)
    with pytest.raises(ValueError, match="nonlinear"):
        compile_model(model)


def test_a_domain_with_steps_is_refused():
    model = knapsack()
    model.even = pyo.Var(domain=pyo.Set(initialize=[0, 2, 4]))
    model.use = pyo.Constraint(expr=model.even <= 3)
    with pytest.raises(ValueError, match="even"):
        compile_model(model)


def test_noise_is_rounded_and_more_than_noise_refused():
    compiled = compile_model(knapsack())
    point = np.array([1 - 1e-7, -1e-7, 0, 1, 0, 0, 0, 1e-6])
    model = compiled.load(point)
    assert [model.take[i].value for i in range(8)] == [1, 0, 0, 1, 0, 0, 0, 0]
    assert all(isinstance(model.take[i].value, int) for i in range(8))
    with pytest.raises(ValueError, match=r"take\[2\] must be a whole number between 0 and 1, the solver gave"):
        compiled.load(np.array([0, 0, 0.5, 0, 0, 0, 0, 0]))
    with pytest.raises(ValueError, match=r"take\[3\] must be"):
        compiled.load(np.array([0, 0, 0, 2.0, 0, 0, 0, 0]))
    with pytest.raises(ValueError, match="8 finite entries"):
        compiled.load(np.full(8, math.nan))


def test_a_broken_row_is_named():
    program = compile_model(knapsack()).program
    assert program.broken_row(np.ones(8)) == "weight"
    assert program.broken_row(np.zeros(8)) == "weight"
    assert program.broken_row(np.array([0, 0, 0, 1.0, 0, 0, 0, 0])) is None
    assert program.broken_row(np.array([0, 0, 0, 1.0, 0.5, 0, 0, 0])) == "take[4]"


# -- units ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-200, 1e-8, 1.0, 1e200])
@pytest.mark.parametrize(
    ("numbers", "step"),
    [
        ([1, 2, 3], 1.0),
        ([-4, 6, 0, 10], 2.0),
        ([0.1, 0.2, 0.3], 0.1),
        ([2.5, 5.0, 7.5], 2.5),
        ([1 / 3, 0.5], 1 / 6),
        ([0.1234567, 0.7654321], None),
        ([1.0, math.pi], None),
        ([1.0, 1e16], None),
        ([0.0, 0.0], None),
        ([], None),
    ],
)
def test_numbers_are_multiples_of_their_step(numbers, step, factor):
    found = common_step(factor * np.array(numbers, dtype=float))
    assert found is None if step is None else found == pytest.approx(factor * step, rel=1e-15, abs=0)


def covering(cost, whole=True):
    """Two of three things are needed."""
    model = pyo.ConcreteModel(name="covering")
    model.take = pyo.Var(range(3), domain=pyo.Binary if whole else pyo.UnitInterval)
    model.total = pyo.Objective(expr=sum(cost[i] * model.take[i] for i in range(3)))
    model.need = pyo.Constraint(expr=sum(model.take[i] for i in range(3)) >= 2)
    return compile_model(model).program


@pytest.mark.parametrize("factor", [1e-200, 1e-8, 0.3, 1e200])
def test_whole_costs_are_counted_in_their_step_whatever_its_size(factor):
    scaled, unit = covering([6 * factor, 4 * factor, 10 * factor]).in_unit()
    assert sorted(scaled.cost.tolist()) == [2.0, 3.0, 5.0]
    assert unit == pytest.approx(2 * factor, rel=1e-15, abs=0)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_other_costs_are_counted_in_a_power_of_two_so_that_objectives_are_large(factor, whole):
    program = covering([factor * 0.123456789, factor * 0.7654321, factor * 0.3141592], whole)
    best = program.objective(np.ones(3))
    for known in (None, best):
        scaled, unit = program.in_unit(known)
        assert math.frexp(unit)[0] == 0.5
        assert (scaled.cost * unit == program.cost).all()  # nothing is rounded
        assert 2.0**11 <= scaled.objective(np.ones(3)) <= 2.0**14


def test_a_thing_that_costs_more_than_a_known_point_is_left_out():
    program = covering([1.0, 2.0, 1e12])
    scaled, unit = program.in_unit(best=3.0)
    dear = program.column_names.index("take[2]")
    assert (scaled.column_upper[dear], scaled.cost[dear], unit) == (0.0, 0.0, 1.0)
    assert program.in_unit(best=1e12)[0].column_upper[dear] == 1.0  # it is no dearer
    assert program.in_unit()[0].column_upper[dear] == 1.0


def test_a_point_may_be_left_out_of_a_program():
    program = covering([1.0, 2.0, 3.0])
    point = np.array([1.0, 1.0, 0.0])
    less = program.without(point)
    assert program.broken_row(point) is None and less.broken_row(point) == less.row_names[-1]
    for kept in ([1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]):
        assert less.broken_row(np.array(kept)) is None
    assert less.without(np.ones(3)).broken_row(np.ones(3)) is not None
    with pytest.raises(ValueError, match="0 or 1 only"):
        compile_model(mixture()).program.without(np.full(4, 2.0))
