"""CP-SAT inside its own process, which it must not share with highspy."""

from __future__ import annotations

import importlib.metadata
import math
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from .program import FEASIBILITY, Incumbent, Outcome, Request
from .worker import Channel, Refusal

#: Largest denominator tried, and largest factor taken, to make coefficients whole.
_DENOMINATOR, _FACTOR = 10**6, 10**9

#: Largest whole number a double holds exactly; CP-SAT itself goes to 2^63.
_LARGEST = 2**53


def solve(request: Request, channel: Channel) -> Outcome:
    """Solve the program, telling incumbents and bounds as they come; refuse what is not purely integer."""
    program = request.program
    if not (program.whole.all() or program.implied_whole):
        name = program.column_names[int(np.argmin(program.whole))]
        raise Refusal(
            f"solver 'cpsat' takes whole-number variables only, and {name} is continuous; take highs or scip."
        )
    model = cp_model.CpModel()
    variables = []
    for j, name in enumerate(program.column_names):
        lower, upper = float(program.column_lower[j]), float(program.column_upper[j])
        if not (abs(lower) <= _LARGEST and abs(upper) <= _LARGEST):
            raise Refusal(f"solver 'cpsat' needs bounds of every variable, and {name} has none; take highs or scip.")
        low, high = math.ceil(lower - FEASIBILITY), math.floor(upper + FEASIBILITY)
        if low > high:
            return Outcome("infeasible", message=f"no whole number fits the bounds of {name}")
        variables.append(model.new_int_var(low, high, ""))
    entries: list[tuple[list[Any], list[float]]] = [([], []) for _ in program.row_names]
    for i, j, value in zip(program.rows.tolist(), program.columns.tolist(), program.values.tolist(), strict=True):
        entries[i][0].append(variables[j])
        entries[i][1].append(value)
    for i, name in enumerate(program.row_names):
        factor, coefficients = whole_multiple(entries[i][1], f"constraint {name}")
        # A row of whole numbers takes whole values: its bounds may be rounded inwards, but for noise.
        lower = _inwards(program.row_lower[i] * factor, math.ceil)
        upper = _inwards(program.row_upper[i] * factor, math.floor)
        model.add_linear_constraint(cp_model.LinearExpr.weighted_sum(entries[i][0], coefficients), lower, upper)
    factor, coefficients = whole_multiple(program.cost.tolist(), "the objective")
    if any(coefficients):
        expression = cp_model.LinearExpr.weighted_sum(variables, coefficients)
        (model.maximize if program.maximise else model.minimize)(expression)
    if request.start is not None:
        for variable, value in zip(variables, request.start.tolist(), strict=True):
            model.add_hint(variable, round(value))
        if program.broken_row(request.start) is None:  # CP-SAT does not say what becomes of a hint
            channel.send(Incumbent(request.start, program.objective(request.start)))

    solver = cp_model.CpSolver()
    settings = solver.parameters
    settings.relative_gap_limit = request.gap
    settings.absolute_gap_limit = 0.0
    settings.random_seed = 0
    settings.catch_sigint_signal = False
    settings.cp_model_presolve = request.presolve
    settings.num_workers = request.threads or min(8, os.cpu_count() or 1)
    settings.max_time_in_seconds = channel.remaining_seconds

    def stated(value: float) -> float:
        """A value of the scaled objective as the program states it."""
        return value / factor + program.offset

    class Tell(cp_model.CpSolverSolutionCallback):
        """Tells every solution that CP-SAT finds, and the bound it has then."""

        def on_solution_callback(self) -> None:
            point = np.array([self.value(variable) for variable in variables], dtype=float)
            channel.send(Incumbent(point, stated(self.objective_value)))
            channel.bound(stated(self.best_objective_bound))

    solver.best_bound_callback = lambda value: channel.bound(stated(value))
    finished = threading.Event()

    def stop_when_asked() -> None:
        while not finished.wait(0.05):
            if channel.stopped:
                solver.stop_search()

    threading.Thread(target=stop_when_asked, daemon=True).start()
    status = solver.solve(model, Tell())
    finished.set()
    if status == cp_model.MODEL_INVALID:
        raise Refusal(f"solver 'cpsat' does not take this program: {model.validate().strip().splitlines()[0]}")
    version = importlib.metadata.version("ortools")
    detail = {"version": version, "nodes": int(solver.num_branches), "seconds": float(solver.wall_time)}
    name = solver.status_name(status)
    if status == cp_model.INFEASIBLE:
        return Outcome("infeasible", message=name, detail=detail)
    objective = stated(solver.objective_value) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    word = "optimal" if status == cp_model.OPTIMAL else "interrupt" if channel.stopped else "seconds"
    return Outcome(word, objective, stated(solver.best_objective_bound), message=name, detail=detail)


def whole_multiple(numbers: list[float], place: str) -> tuple[int, list[int]]:
    """Smallest factor that makes the numbers whole, and the numbers times that factor."""
    fractions = [Fraction(number).limit_denominator(_DENOMINATOR) for number in numbers]
    factor = math.lcm(*(fraction.denominator for fraction in fractions)) if fractions else 1
    for number, fraction in zip(numbers, fractions, strict=True):
        if abs(float(fraction) - number) > 1e-15 * abs(number) or factor > _FACTOR:
            raise Refusal(
                f"solver 'cpsat' takes coefficients that are whole after scaling, and {number!r} in {place} is not; "
                "take highs or scip."
            )
    return factor, [int(fraction * factor) for fraction in fractions]


def _inwards(bound: float, rounding: Callable[[float], int]) -> int:
    if not math.isfinite(bound):
        return -(2**62) if bound < 0 else 2**62
    nearest = round(bound)
    return nearest if abs(bound - nearest) <= FEASIBILITY else rounding(bound)
