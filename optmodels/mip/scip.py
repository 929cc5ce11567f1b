"""SCIP inside its own process."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyscipopt
from pyscipopt.scip import PY_SCIP_EVENTTYPE, PY_SCIP_PARAMSETTING

from .program import NOTHING, Incumbent, Outcome, Request
from .worker import Channel

_EVENTS = PY_SCIP_EVENTTYPE

#: What SCIP takes for infinite.
_INFINITE = 1e20

_STATUS = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "infeasible": "infeasible",
    "unbounded": "unbounded",
    "inforunbd": "unclear",
    "timelimit": "seconds",
    "userinterrupt": "interrupt",
}


def solve(request: Request, channel: Channel) -> Outcome:
    """Solve the program, telling incumbents and bounds as they come."""
    program = request.program
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("misc/catchctrlc", False)
    model.setParam("limits/gap", request.gap)
    model.setParam("limits/time", min(channel.remaining_seconds, _INFINITE))
    if request.tolerance is not None:
        model.setParam("numerics/feastol", request.tolerance)
        model.setParam("numerics/dualfeastol", request.tolerance)
    if request.threads is not None:
        model.setParam("parallel/maxnthreads", request.threads)
        model.setParam("lp/threads", request.threads)
    if not request.presolve:
        model.setPresolve(PY_SCIP_PARAMSETTING.OFF)
        model.setParam("misc/usesymmetry", 0)

    rows, columns = program.shape
    variables = [
        model.addVar(
            name=f"c{j}",
            vtype="I" if program.whole[j] else "C",
            lb=max(float(program.column_lower[j]), -_INFINITE),
            ub=min(float(program.column_upper[j]), _INFINITE),
        )
        for j in range(columns)
    ]
    terms: list[list[Any]] = [[] for _ in range(rows)]
    for i, j, value in zip(program.rows.tolist(), program.columns.tolist(), program.values.tolist(), strict=True):
        terms[i].append(value * variables[j])
    nothing = model.addVar(name="nothing", lb=0.0, ub=0.0)  # rows without entries need a variable to stand on
    for i in range(rows):
        body = pyscipopt.quicksum(terms[i]) if terms[i] else 1.0 * nothing
        lower, upper = float(program.row_lower[i]), float(program.row_upper[i])
        if lower == upper:
            model.addCons(body == lower, name=f"r{i}")
            continue
        if math.isfinite(lower):
            model.addCons(body >= lower, name=f"l{i}")
        if math.isfinite(upper):
            model.addCons(body <= upper, name=f"u{i}")
    objective = pyscipopt.quicksum(cost * variables[j] for j, cost in enumerate(program.cost.tolist()) if cost != 0)
    model.setObjective(objective + program.offset + 0.0 * nothing, "maximize" if program.maximise else "minimize")

    if request.start is not None:
        start = model.createSol()
        for variable, value in zip([*variables, nothing], [*request.start.tolist(), 0.0], strict=True):
            model.setSolVal(start, variable, value)
        if model.addSol(start):  # SCIP tells of it only after presolving
            channel.send(Incumbent(request.start, program.objective(request.start)))

    class Watch(pyscipopt.Eventhdlr):
        """Tells what SCIP finds, and stops it."""

        def eventinit(self) -> None:
            self.model.catchEvent(_EVENTS.BESTSOLFOUND, self)
            self.model.catchEvent(_EVENTS.NODESOLVED, self)
            self.model.catchEvent(_EVENTS.FIRSTLPSOLVED, self)
            self.model.catchEvent(_EVENTS.LPSOLVED, self)

        def eventexec(self, event: Any) -> dict[str, Any]:
            if event.getType() == _EVENTS.BESTSOLFOUND:
                best = self.model.getBestSol()
                channel.send(Incumbent(point_of(best), float(self.model.getSolObjVal(best))))
            channel.bound(_finite(self.model, self.model.getDualbound()))
            if channel.stopped:
                self.model.interruptSolve()
            return {}

    def point_of(solution: Any) -> Any:
        return np.array([model.getSolVal(solution, variable) for variable in variables], dtype=float)

    model.includeEventhdlr(Watch(), "watch", "tells incumbents and bounds")
    getattr(model, "optimizeNogil", model.optimize)()  # without the lock the stop can be heard while SCIP works

    word = _STATUS.get(model.getStatus(), "gave up")
    found: float | None = None
    if word not in NOTHING and model.getNSols() > 0:
        best = model.getBestSol()
        found = float(model.getSolObjVal(best))
        channel.send(Incumbent(point_of(best), found))
    detail = {
        "version": str(model.version()),
        "nodes": int(model.getNTotalNodes()),
        "seconds": float(model.getSolvingTime()),
    }
    return Outcome(word, found, _finite(model, model.getDualbound()), message=model.getStatus(), detail=detail)


def _finite(model: Any, value: float) -> float:
    return math.inf if model.isInfinity(abs(value)) else float(value)
