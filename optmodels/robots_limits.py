"""Limits on measures of the robot queue: which of them no policy keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from queueing import RobotQueue, best_policy

from .costs import ROUNDING

if TYPE_CHECKING:
    from .robots import RobotsProblem

#: Columns of `RobotQueue.rates` by measure.
COLUMNS = {"starvation": 0, "loss_rate": 1, "active_robots": 2, "mean_length": 3}


def linear_limits(problem: RobotsProblem) -> Iterator[tuple[str, NDArray[np.float64], float]]:
    """Limits as costs of states whose average must not exceed a number; those on the range of robots are left out.

    A limit W on the response time L / (mu B), with B the share of time at work, is one on the average of L - W mu B.
    """
    queue = problem.queue
    for name, limit in problem.limits.by_measure.items():
        for sign, bound, side in ((1.0, limit.maximum, "above"), (-1.0, limit.minimum, "below")):
            if not math.isfinite(bound):
                continue
            told = f"{name} {side} {bound:g}"
            if name in COLUMNS:
                yield told, sign * queue.rates[COLUMNS[name]], sign * bound
            elif name == "response_time":
                yield told, sign * (queue.rates[3] - bound * queue.service_rate * queue.rates[4]), 0.0


def why_infeasible(problem: RobotsProblem) -> str | None:
    """A sentence if one limit alone is beyond every policy, proved by the bracket of the least value."""
    for told, rates, bound in linear_limits(problem):
        lower = least_average(problem.queue, rates)
        scale = abs(bound) or float(np.abs(rates).max())
        if lower > bound + ROUNDING * scale:
            return f"every policy has {told}."
    return None


def least_average(queue: RobotQueue, rates: NDArray[np.float64]) -> float:
    """A lower bound on the average of `rates` under every policy."""
    return best_policy(queue, np.ascontiguousarray(rates)).lower
