"""HiGHS inside its own process: solve, and name an infeasible part."""

from __future__ import annotations

import math
from typing import Any

import highspy
import numpy as np

from .program import NOTHING, Incumbent, Log, Outcome, Program, Request
from .worker import Channel

_FEASIBLE_POINT = 2  # kSolutionStatusFeasible

#: Ways to look for an infeasible sub-set: from a ray of the LP, reduced to an irreducible one, relaxing whole numbers.
_IIS_FROM_LP, _IIS_REDUCE, _IIS_RELAX = 2, 4, 16

#: What a program may ask to be smaller than usual.
_TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance")

_STATUS = {  # by name: not every version knows all of them
    "kOptimal": "optimal",
    "kInfeasible": "infeasible",
    "kUnbounded": "unbounded",
    "kUnboundedOrInfeasible": "unclear",
    "kTimeLimit": "seconds",
    "kInterrupt": "interrupt",
    "kHighsInterrupt": "interrupt",
}


def solve(request: Request, channel: Channel) -> Outcome:
    """Solve the program, telling incumbents and bounds as they come."""
    program = request.program
    if program.shape[1] == 0:  # HiGHS calls this empty and does not look at the rows
        broken = program.broken_row(np.zeros(0))
        if broken:
            return Outcome("infeasible", message=f"{broken} has no variables and is broken")
        channel.send(Incumbent(np.zeros(0), program.offset))
        return Outcome("optimal", program.offset, program.offset, detail=_detail(_new()))

    highs = load(program)
    options: dict[str, Any] = {
        "mip_rel_gap": request.gap,
        "mip_abs_gap": 0.0 if request.gap == 0 else 1e-6,
        "presolve": "on" if request.presolve else "off",
        "random_seed": 0,
        "threads": request.threads or 0,  # 0: it chooses
        "time_limit": channel.remaining_seconds,
    }
    if request.tolerance is not None:
        options |= dict.fromkeys(_TOLERANCES, request.tolerance)
    for name, value in options.items():
        if highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            return Outcome("error", message=f"HiGHS does not take {value!r} for its option {name!r}.")
    whole = bool(program.whole.any())
    if request.start is not None and whole:
        start = highspy.HighsSolution()
        start.col_value = request.start
        start.value_valid = True
        highs.setSolution(start)

    def improved(event: Any) -> None:
        found = event.data_out
        channel.send(Incumbent(np.array(found.mip_solution, dtype=float), float(found.objective_function_value)))
        channel.bound(float(found.mip_dual_bound))

    def polled(event: Any) -> None:
        channel.bound(float(event.data_out.mip_dual_bound))
        if channel.stopped:
            event.interrupt()

    highs.cbMipImprovingSolution += improved
    highs.cbMipInterrupt += polled
    highs.cbLogging += lambda event: channel.send(Log(event.message))
    highs.run()

    status = highs.getModelStatus()
    info = highs.getInfo()
    word = _STATUS.get(status.name, "gave up")
    # The flag of the solution alone is not to be trusted: a stopped LP has "values" that break its rows.
    has_point = info.primal_solution_status == _FEASIBLE_POINT and word not in NOTHING
    objective = float(info.objective_function_value) if has_point else None
    if objective is not None:
        channel.send(Incumbent(np.array(highs.getSolution().col_value, dtype=float), objective))
    bound = float(info.mip_dual_bound) if whole else objective if word == "optimal" else None
    if word == "optimal" and bound is not None and not math.isfinite(bound):
        bound = objective  # presolve saw that nothing is better than the start, and HiGHS tells no bound then
    return Outcome(word, objective, bound, message=highs.modelStatusToString(status), detail=_detail(highs))


def explain(request: Request, channel: Channel) -> Outcome:
    """Names of constraints and bounds of an infeasible program that cannot all be kept."""
    highs = load(request.program)
    highs.setOptionValue("iis_strategy", _IIS_FROM_LP | _IIS_REDUCE | _IIS_RELAX)
    highs.setOptionValue("iis_time_limit", channel.remaining_seconds)
    highs.cbLogging += lambda event: channel.send(Log(event.message))
    status, found = highs.getIis()
    if status == highspy.HighsStatus.kError or not found.valid_:
        return Outcome("error", message="HiGHS found no infeasible sub-set in time.")
    detail = {
        "rows": [request.program.row_names[i] for i in found.row_index_],
        "columns": [request.program.column_names[j] for j in found.col_index_],
    }
    return Outcome("infeasible", detail=detail)


def load(program: Program) -> Any:
    """Put a program into HiGHS; its log goes to the callback only.

    Parameters
    ----------
    program
        What to solve.

    Returns
    -------
    highspy.Highs
        With the program in it, not yet run.
    """
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = program.shape
    lp.col_cost_, lp.offset_ = program.cost, program.offset
    lp.sense_ = highspy.ObjSense.kMaximize if program.maximise else highspy.ObjSense.kMinimize
    lp.col_lower_, lp.col_upper_ = program.column_lower, program.column_upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = program.starts, program.rows, program.values
    if program.whole.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[whole] for whole in program.whole.tolist()]
    highs = _new()
    highs.setOptionValue("output_flag", True)  # without it the callbacks for the log stay silent, too
    highs.setOptionValue("log_to_console", False)
    if program.tolerance is not None:  # the smallest that it takes: where noise matters, so do small entries
        highs.setOptionValue("small_matrix_value", 1e-12)
    if highs.passModel(lp) == highspy.HighsStatus.kError:
        raise ValueError("HiGHS does not take the program: are all its coefficients finite?")
    return highs


def _new() -> Any:
    return highspy.Highs()  # type: ignore[no-untyped-call]


def _detail(highs: Any) -> dict[str, Any]:
    info = highs.getInfo()
    return {
        "version": highs.version(),
        "nodes": max(0, int(info.mip_node_count)),
        "iterations": max(0, int(info.simplex_iteration_count)),
        "seconds": float(highs.getRunTime()),
    }
