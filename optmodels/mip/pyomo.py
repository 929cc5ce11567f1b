"""From a Pyomo model to a program and back.

The model is compiled to its standard form at once. Tests hold the program against the one that Pyomo's own interface
hands to HiGHS: slower, without start, trace or cancel, but not ours.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.repn import generate_standard_repn
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from .program import FEASIBILITY, Numbers, Program


class InfeasibleConstraint(ValueError):  # noqa: N818 - reads as what happened
    """A constraint without variables is broken, so the model has no solution.

    Parameters
    ----------
    name
        Of the constraint.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"constraint {name} holds for no values of the variables: nothing in it varies.")
        self.name = name


@dataclass(frozen=True)
class CompiledModel:
    """A Pyomo model, its program, and the Pyomo variable of each column."""

    model: Any
    program: Program
    variables: tuple[Any, ...]

    def load(self, point: Numbers) -> Any:
        """The model with the values of a point (whole numbers rounded) in its variables."""
        clean = self.program.rounded(point)
        for variable, value, whole in zip(self.variables, clean.tolist(), self.program.whole.tolist(), strict=True):
            variable.set_value(int(value) if whole else value, skip_validation=True)
        return self.model

    def point(self) -> Numbers | None:
        """The values now in the model's variables, or ``None`` if one has none."""
        values = [variable.value for variable in self.variables]
        return None if any(value is None for value in values) else np.array(values, dtype=float)

    def start(self) -> tuple[Numbers | None, str]:
        """The values now in the variables as a point to start from; or ``None``, and why it is none."""
        point = self.point()
        broken = None if point is None else self.program.broken_row(point)
        if point is None:
            return None, "start_pyomo left a variable without a value"
        return (self.program.rounded(point), "") if broken is None else (None, f"it breaks {broken}")


@contextlib.contextmanager
def quiet_pyomo(part: str = "pyomo", least: int = logging.CRITICAL + 1) -> Iterator[None]:
    """Keep Pyomo from writing to stdout when a block is cut short: what goes wrong is raised as well as logged.

    Parameters
    ----------
    part
        Name of the logger that is silenced.
    least
        Level from which on it may still speak.

    Yields
    ------
    None
        The level of the logger is given back after the block.
    """
    logger = logging.getLogger(part)
    level = logger.level
    logger.setLevel(least)
    try:
        yield
    finally:
        logger.setLevel(level)


def compile_model(model: Any) -> CompiledModel:
    """Compile a linear Pyomo model.

    A range constraint is one row. Fixed variables are gone, their part is in the constants. A variable that appears
    nowhere is no column; it gets a value within its bounds, so that all variables can be read afterwards.

    Parameters
    ----------
    model
        A `pyomo.environ.ConcreteModel`.

    Returns
    -------
    CompiledModel
        The model, its program, and the variable of each column.

    Raises
    ------
    InfeasibleConstraint
        If a constraint without variables is broken by more than noise.
    ValueError
        If the model is not linear, has more than one objective, or variables that are neither continuous nor integer.
    """
    form = _standard_form(model)
    if len(form.objectives) > 1:
        names = ", ".join(objective.name for objective in form.objectives)
        raise ValueError(f"a model has one active objective, and this one has {len(form.objectives)}: {names}.")
    columns = tuple(form.columns)
    count = len(columns)
    cost = np.zeros(count) if not form.objectives else np.asarray(form.c.todense(), dtype=float).reshape(count)
    offset = float(form.c_offset[0]) if form.objectives else 0.0
    maximise = bool(form.objectives) and form.objectives[0].sense == pyo.maximize

    kinds = np.array([row.bound_type for row in form.rows], dtype=int)  # 0 equality, 1 upper, -1 lower
    right = np.asarray(form.rhs, dtype=float).reshape(len(form.rows))
    lower = np.where(kinds <= 0, right, -np.inf)
    upper = np.where(kinds >= 0, right, np.inf)
    # The compiler writes a range as two rows, upper then lower: keep the first and give it both bounds.
    constraints = [row.constraint for row in form.rows]
    second = [i for i in range(1, len(constraints)) if constraints[i] is constraints[i - 1]]
    for i in second:
        lower[i - 1] = max(lower[i - 1], lower[i])
    kept = np.setdiff1d(np.arange(len(constraints)), second)
    matrix = form.A.tocsr()[kept, :].tocsc() if second else form.A.tocsc()
    matrix.sort_indices()

    bounds = np.array([column.bounds for column in columns], dtype=float).reshape(count, 2)
    bounds = np.where(np.isnan(bounds), (-np.inf, np.inf), bounds)  # None: there is none
    program = Program(
        cost=cost,
        offset=offset,
        maximise=maximise,
        starts=matrix.indptr.astype(np.int32),
        rows=matrix.indices.astype(np.int32),
        values=matrix.data.astype(float),
        row_lower=lower[kept],
        row_upper=upper[kept],
        column_lower=bounds[:, 0],
        column_upper=bounds[:, 1],
        whole=np.array([_is_whole(column) for column in columns], dtype=bool),
        row_names=tuple(constraints[i].name for i in kept),
        column_names=tuple(column.name for column in columns),
        name=str(model.name),
        implied_whole=bool(getattr(model, "implied_whole", False)),
        tolerance=getattr(model, "tolerance", None),
    )
    known = {id(column) for column in columns}
    for variable in model.component_data_objects(pyo.Var, active=True):
        if id(variable) not in known and variable.value is None:
            low, high = variable.bounds
            variable.set_value(min(max(0, -math.inf if low is None else low), math.inf if high is None else high))
    return CompiledModel(model, program, columns)


@functools.cache
def warm_up() -> None:
    """Compile a model of one variable: Pyomo imports much of SciPy only then, which takes seconds."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Binary)
    model.cost = pyo.Objective(expr=model.x)
    compile_model(model)


def _standard_form(model: Any) -> Any:
    while True:
        try:
            with quiet_pyomo("pyomo.repn", logging.ERROR):  # it warns of suffixes, which solvers may use and we do not
                return LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
        except InfeasibleConstraintException as error:
            # The compiler allows no noise at all; 1e-17 above a bound is not a proof.
            broken = _broken_constants(model)
            for constraint, excess in broken:
                if excess > FEASIBILITY:
                    raise InfeasibleConstraint(constraint.name) from error
            if not broken:
                raise
            for constraint, _ in broken:
                constraint.deactivate()


def _broken_constants(model: Any) -> list[tuple[Any, float]]:
    """Constraints in which nothing varies and which do not hold, and by how much."""
    broken = []
    for constraint in model.component_data_objects(pyo.Constraint, active=True):
        lower, body, upper = constraint.to_bounded_expression(evaluate_bounds=True)
        form = generate_standard_repn(body, compute_values=True)
        if not form.is_constant():
            continue
        constant = float(form.constant)
        excess = max(-math.inf if lower is None else lower - constant, -math.inf if upper is None else constant - upper)
        if excess > 0:
            broken.append((constraint, excess / (1.0 + abs(constant))))
    return broken


def _is_whole(variable: Any) -> bool:
    if variable.is_continuous():
        return False
    if variable.is_integer() or variable.is_binary():
        return True
    raise ValueError(
        f"variable {variable.name} has the domain {variable.domain}; "
        "solvers take continuous and whole-number variables only."
    )
