"""Branch and bound: the linear relaxation with the best value is divided at a variable that is not whole."""

import heapq
import itertools

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from optmodels.mip.program import Incumbent, Outcome, Request
from optmodels.mip.worker import Channel

WHOLE = 1e-6


def solve(request: Request, channel: Channel) -> Outcome:
    """Solve the program, telling incumbents and bounds as they come."""
    program = request.program
    matrix = csc_array((program.values, program.rows, program.starts), shape=program.shape)
    rows = LinearConstraint(matrix, program.row_lower, program.row_upper)

    def relaxed(lower, upper):
        """The relaxation between these bounds, as a value to be made small and a point; a word if there is none."""
        seconds = min(channel.remaining_seconds, 1e6)
        found = milp(program.sign * program.cost, constraints=rows if program.shape[0] else None,
                     bounds=Bounds(lower, upper), options={"time_limit": max(seconds, 1e-3)})  # fmt: skip
        if found.status == 0:
            return float(found.fun), found.x
        return {1: "seconds", 2: "infeasible", 3: "unbounded"}.get(found.status, "gave up"), None

    def stated(value):
        """A value as the program states it."""
        return program.sign * value + program.offset

    best, point = np.inf, None
    if request.start is not None and program.broken_row(request.start) is None:
        point = program.rounded(request.start)
        best = program.sign * (program.objective(point) - program.offset)
        channel.send(Incumbent(point, program.objective(point)))
    order = itertools.count()
    lower, upper = program.column_lower, program.column_upper
    value, at = relaxed(lower, upper)
    if at is None:
        return Outcome(value)
    open_nodes = [(value, next(order), lower, upper, at)]
    while open_nodes and open_nodes[0][0] < best - WHOLE * max(1.0, abs(best) if np.isfinite(best) else 1.0):
        if channel.stopped or channel.remaining_seconds <= 0:
            word = "interrupt" if channel.stopped else "seconds"
            return Outcome(word, None if point is None else stated(best), stated(open_nodes[0][0]))
        channel.bound(stated(open_nodes[0][0]))
        value, _, lower, upper, at = heapq.heappop(open_nodes)
        distance = np.where(program.whole, np.abs(at - np.round(at)), 0.0)
        if distance.max(initial=0.0) <= WHOLE:
            clean = program.rounded(at)
            if program.broken_row(clean) is None and value < best:
                best, point = program.sign * (program.objective(clean) - program.offset), clean
                channel.send(Incumbent(clean, program.objective(clean)))
            continue
        chosen = int(distance.argmax())
        for low, high in ((lower[chosen], np.floor(at[chosen])), (np.ceil(at[chosen]), upper[chosen])):
            below, above = lower.copy(), upper.copy()
            below[chosen], above[chosen] = low, high
            value, there = relaxed(below, above)
            if there is not None and value < best:
                heapq.heappush(open_nodes, (value, next(order), below, above, there))
            elif value in ("seconds", "gave up"):
                return Outcome("seconds", None if point is None else stated(best))
    if point is None:
        return Outcome("infeasible")
    return Outcome("optimal", program.objective(point), program.objective(point))
