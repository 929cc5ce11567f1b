"""CP-SAT on clauses, in its own process: one worker, guided by cores, no linear relaxation.

A core is a set of sites that cannot all be closed, found by assuming that they are. Bounds rise by cores alone; rows
with lower bounds on parts of the cost were measured to do harm.
"""

from __future__ import annotations

import importlib.metadata
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from ...mip.program import Outcome, Request
from ...mip.worker import Channel
from ..clauses.pool import Clause
from .rounds import Answer, MasterRequest, complete


def solve(request: Request, channel: Channel) -> Outcome:
    """Find the cheapest placement that overloads nobody; costs are whole numbers."""
    assert isinstance(request, MasterRequest)
    assert request.source is not None
    prices = [int(price) for price in request.program.cost.tolist()]
    model = cp_model.CpModel()
    is_true = [model.new_bool_var("") for _ in prices]
    is_open = is_true[: request.source.sites]

    def add(clauses: Iterable[Clause]) -> None:
        for clause in clauses:
            model.add_bool_or([is_true[at - 1] if at > 0 else is_true[-at - 1].negated() for at in clause])

    add(request.clauses)
    if request.fewest > 0 or request.most is not None:
        most = len(is_open) if request.most is None else request.most
        model.add_linear_constraint(sum(is_open), request.fewest, most)
    for limit in request.source.limits:
        counted = cp_model.LinearExpr.weighted_sum([is_true[at] for at in limit.variables], limit.weights)
        model.add(counted <= limit.most)
    model.minimize(cp_model.LinearExpr.weighted_sum(is_true, prices))
    finished = threading.Event()
    at_work: list[Any] = []

    def stop_when_asked() -> None:
        while not finished.wait(0.05):
            if channel.stopped and at_work:
                at_work[-1].stop_search()

    threading.Thread(target=stop_when_asked, daemon=True).start()

    def cheapest() -> Answer:
        solver = cp_model.CpSolver()
        at_work[:] = [solver]
        settings = solver.parameters
        settings.num_workers = 1
        settings.optimize_with_core = True
        settings.linearization_level = 0
        settings.random_seed = request.seed % 2**31
        settings.catch_sigint_signal = False
        settings.max_time_in_seconds = channel.remaining_seconds
        met: list[np.ndarray[Any, Any]] = []

        class Meet(cp_model.CpSolverSolutionCallback):
            """Keeps every placement that CP-SAT meets."""

            def on_solution_callback(self) -> None:
                met.append(np.array([self.boolean_value(variable) for variable in is_true], np.uint8))

        solver.best_bound_callback = channel.bound
        status = solver.solve(model, Meet())
        detail = {"version": importlib.metadata.version("ortools")}
        name = solver.status_name(status)
        if status == cp_model.INFEASIBLE:
            return Answer(Outcome("infeasible", message=name, detail=detail), tuple(met))
        if status == cp_model.OPTIMAL:
            value = solver.objective_value
            channel.bound(value)
            return Answer(Outcome("optimal", value, value, name, detail), tuple(met))
        word = "interrupt" if channel.stopped else "seconds" if channel.remaining_seconds <= 0 else "gave up"
        return Answer(Outcome(word, None, solver.best_objective_bound, name, detail), tuple(met))

    outcome = complete(request, channel, cheapest, add)
    finished.set()
    return outcome
