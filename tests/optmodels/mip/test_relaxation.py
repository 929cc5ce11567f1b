import json
import math
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from optmodels.mip import bounds, compile_model
from optmodels.mip.process import SolverProcess
from optmodels.mip.program import Bound, Outcome, Program, Request
from optmodels.mip.relaxation import Companion
from optmodels.placement import PlacementProblem, build

INSTANCES = Path(__file__).parents[3] / "instances" / "placement"


def program_of(matrix, cost, row_lower, row_upper, lower, upper, maximise=False, offset=0.0):
    from scipy.sparse import csc_array

    sparse = csc_array(np.array(matrix, dtype=float))
    rows, columns = sparse.shape
    return Program(
        cost=np.array(cost, dtype=float), offset=offset, maximise=maximise,
        starts=sparse.indptr.astype(np.int32), rows=sparse.indices.astype(np.int32), values=sparse.data,
        row_lower=np.array(row_lower, dtype=float), row_upper=np.array(row_upper, dtype=float),
        column_lower=np.array(lower, dtype=float), column_upper=np.array(upper, dtype=float),
        whole=np.ones(columns, dtype=bool),
        row_names=tuple(f"row {i}" for i in range(rows)), column_names=tuple(f"column {j}" for j in range(columns)),
    )  # fmt: skip


def draw(rng, maximise=False):
    """A feasible program with rows of all kinds."""
    rows, columns = rng.integers(3, 12), rng.integers(3, 15)
    matrix = rng.integers(-3, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.5)
    inside = rng.random(columns) * 2
    activity = matrix @ inside
    kind = rng.integers(4, size=rows)  # at least, at most, between, equal
    row_lower = np.where(kind == 1, -np.inf, activity - np.where(kind == 3, 0.0, rng.random(rows)))
    row_upper = np.where(kind == 0, np.inf, activity + np.where(kind == 3, 0.0, rng.random(rows)))
    return program_of(
        matrix, rng.normal(size=columns), row_lower, row_upper, np.zeros(columns), np.full(columns, 2.0),
        maximise, offset=float(rng.normal()),
    )  # fmt: skip


def value(program):
    """Value of the linear relaxation as a minimum, by another solver."""
    matrix = np.zeros(program.shape)
    matrix[program.rows, program.columns] = program.values
    equal = program.row_lower == program.row_upper
    above, below = np.isfinite(program.row_lower) & ~equal, np.isfinite(program.row_upper) & ~equal
    found = linprog(
        program.sign * program.cost,
        A_ub=np.vstack([-matrix[above], matrix[below]]),
        b_ub=np.concatenate([-program.row_lower[above], program.row_upper[below]]),
        A_eq=matrix[equal],
        b_eq=program.row_lower[equal],
        bounds=list(zip(program.column_lower, program.column_upper, strict=True)),
    )
    assert found.success
    return found.fun + program.sign * program.offset


@pytest.mark.parametrize("seed", range(20))
def test_every_bound_is_one_and_the_last_is_the_value_of_the_relaxation(seed):
    program = draw(np.random.default_rng(seed), maximise=seed % 2 == 1)
    exact = value(program)
    found = [bound for _, bound in islice(bounds(program), 2_000)]
    assert max(found) <= exact + 1e-9 * (1 + abs(exact))
    assert found[-1] == pytest.approx(exact, abs=1e-4)


def test_any_multipliers_give_a_bound():
    from optmodels.mip.relaxation import _Relaxation

    rng = np.random.default_rng(3)
    for _ in range(50):
        program = draw(rng)
        multipliers = rng.normal(size=program.shape[0]) * 10.0 ** rng.integers(-3, 3)
        assert _Relaxation(program).safe_bound(multipliers) <= value(program)


def test_a_column_without_bounds_gives_no_false_bound():
    program = program_of([[1.0, -1.0]], [1.0, 1.0], [1.0], [math.inf], [0.0, 0.0], [math.inf, math.inf])
    found = [bound for _, bound in islice(bounds(program), 50)]
    assert max(found) <= 1 + 1e-9
    unbounded = program_of([[1.0, 1.0]], [-1.0, 0.0], [0.0], [math.inf], [0.0, 0.0], [math.inf, 1.0])
    assert all(bound == -math.inf for _, bound in islice(bounds(unbounded), 20))


def test_programs_without_rows_or_entries_are_bounded_by_their_columns():
    no_rows = program_of(np.zeros((0, 2)), [1.0, -2.0], [], [], [0.0, 0.0], [1.0, 3.0], offset=5.0)
    assert [bound for _, bound in bounds(no_rows)] == pytest.approx([-1.0])
    no_entries = program_of(np.zeros((1, 2)), [1.0, -2.0], [-1.0], [1.0], [0.0, 0.0], [1.0, 3.0])
    assert max(bound for _, bound in islice(bounds(no_entries), 5)) == pytest.approx(-6.0)


@pytest.fixture(scope="module")
def grid():
    data = json.loads((INSTANCES / "gautam-6x6.json").read_text())["data"]
    return compile_model(build(PlacementProblem.from_data(data, name="6x6"))).program


def test_a_placement_is_bounded_well_after_a_thousand_steps(grid):
    best = max(bound for steps, bound in islice(bounds(grid), 26))
    assert 20.0 < best < 20.85  # the relaxation has 20.84, the simpler formulation 19.06, the optimum is 23


def test_the_backend_tells_bounds_as_they_come_and_stops_when_told(grid):
    told, last = [], None
    with SolverProcess("optmodels.mip.relaxation:solve") as process:
        for last in process.ask(Request(grid), 60.0):
            if isinstance(last, Bound):
                told.append(last.value)
            if len(told) == 3:
                process.stop()
    assert isinstance(last, Outcome)
    assert last.status == "interrupt"
    assert told == sorted(told)
    assert told[-1] <= last.bound < 20.85


def test_the_backend_keeps_its_time_limit(grid):
    with SolverProcess("optmodels.mip.relaxation:solve") as process:
        *_, last = process.ask(Request(grid), 0.5)
    assert last.status == "seconds"


def test_a_companion_bounds_while_others_work(grid):
    with Companion(grid, seconds=30.0) as companion:
        patience = time.monotonic() + 30.0
        while (companion.bound is None or companion.bound < 15) and time.monotonic() < patience:
            time.sleep(0.05)
        bound = companion.bound
    assert 15 <= bound < 20.85
    assert companion.bound >= bound
    assert companion._process._process.poll() is not None  # nothing is left behind
