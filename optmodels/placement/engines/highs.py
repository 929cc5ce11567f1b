"""HiGHS on clauses, in its own process: rows are added round by round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import highspy
import numpy as np

from ...mip.highs import load
from ...mip.program import Outcome, Request
from ...mip.worker import Channel
from ..clauses.pool import Clause
from .rounds import Answer, MasterRequest, complete


def solve(request: Request, channel: Channel) -> Outcome:
    """Find the cheapest placement that overloads nobody; the program holds the clauses known as rows."""
    assert isinstance(request, MasterRequest)
    highs = load(request.program)
    met: list[np.ndarray[Any, Any]] = []

    def add(clauses: Iterable[Clause]) -> None:
        for clause in clauses:
            columns = np.array([abs(literal) - 1 for literal in clause], np.int32)
            values = np.array([1.0 if literal > 0 else -1.0 for literal in clause])
            highs.addRow(1.0 - float((values < 0).sum()), np.inf, len(columns), columns, values)

    def improved(event: Any) -> None:
        met.append((np.array(event.data_out.mip_solution) > 0.5).astype(np.uint8))
        channel.bound(float(event.data_out.mip_dual_bound))

    def polled(event: Any) -> None:
        channel.bound(float(event.data_out.mip_dual_bound))
        if channel.stopped:
            event.interrupt()

    highs.cbMipImprovingSolution += improved
    highs.cbMipInterrupt += polled
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "random_seed": request.seed % 2**31}
    for name, value in (options | {"threads": request.threads or 0}).items():
        highs.setOptionValue(name, value)

    def cheapest() -> Answer:
        met.clear()
        highs.setOptionValue("time_limit", highs.getRunTime() + channel.remaining_seconds)
        if request.start is not None:
            start = highspy.HighsSolution()
            start.col_value = request.start
            start.value_valid = True
            highs.setSolution(start)
        highs.run()
        status, info = highs.getModelStatus(), highs.getInfo()
        detail = {"version": highs.version(), "nodes": max(0, int(info.mip_node_count))}
        message = highs.modelStatusToString(status)
        if status == highspy.HighsModelStatus.kInfeasible:
            return Answer(Outcome("infeasible", message=message, detail=detail), tuple(met))
        if status == highspy.HighsModelStatus.kOptimal:
            last = (np.array(highs.getSolution().col_value) > 0.5).astype(np.uint8)
            value = float(request.program.cost @ last)
            bound = float(info.mip_dual_bound)
            bound = bound if np.isfinite(bound) else value
            channel.bound(bound)
            return Answer(Outcome("optimal", value, bound, message, detail), (*met, last))
        word = "interrupt" if channel.stopped else "seconds" if channel.remaining_seconds <= 0 else "gave up"
        return Answer(Outcome(word, None, float(info.mip_dual_bound), message, detail), tuple(met))

    return complete(request, channel, cheapest, add)
