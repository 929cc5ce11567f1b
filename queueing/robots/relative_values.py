r"""Relative values of the robot queue to twice the digits of a double, and the step of policy iteration from them.

With values J the number

.. math::  b(q, r) = c(q, r) + \mu 1(q>0) \, [M(q-1, r) - J(q, r)] + \lambda r \, [M(\min(q+1, K), r-1) - J(q, r)],
           \qquad M(q, r) = \min \{ J(q, r), J(q, \min(r+1, N)) \},

brackets the least average cost, :math:`\min b \le g^* \le \max b`, whatever J is. It is a difference of values that
may be 1e10 times as large, so that doubles prove little where costs are small. Values are therefore kept as sums of two
doubles, the second one solved for from the residual of the first, and b is summed without rounding errors that count.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import plus, plus_product
from .feedback_states import Grid, Policy, Reduced, Turns, after_arrival, after_service, collected, expectations
from .levels import Curve, level_values, levels_of


@njit(cache=True)
def _plus_flow(
    high: float, low: float, rate: float, values: Grid, rest: Grid, a: int, b: int, q: int, r: int
) -> tuple[float, float]:
    """Add rate x (value at (a, b) - value at (q, r))."""
    change, lost = plus(values[a, b], 0.0, -values[q, r])
    high, low = plus_product(high, low, rate, change)
    return high, low + rate * (lost + (rest[a, b] - rest[q, r]))


@njit(cache=True)
def residuals(
    policy: Policy, arrival: float, service: float, cost: Grid, gain: float, values: Grid, rest: Grid
) -> Grid:
    """By state, c - g + Q J under a policy: 0 if values and gain are exact."""
    found = np.zeros(values.shape)
    for q in range(values.shape[0]):
        for r in range(1 if q == 0 else 0, values.shape[1]):
            high, low = plus(cost[q, r], 0.0, -gain)
            if q > 0:
                a, b = after_service(policy, q, r)
                high, low = _plus_flow(high, low, service, values, rest, a, b, q, r)
            if r > 0:
                a, b = after_arrival(policy, q, r)
                high, low = _plus_flow(high, low, arrival * r, values, rest, a, b, q, r)
            found[q, r] = high + low
    return found


@njit(cache=True)
def refined(
    policy: Policy, turns: Turns, reduced: Reduced, arrival: float, service: float, cost: Grid, gain: float
) -> tuple[Grid, Grid]:
    """Values of a policy with one closed class as sums of two doubles, 0 at its end.

    What is left of the equations has an average, by which the gain was rounded: it is taken away, or all of it would be
    left over at the end.
    """
    nothing = np.zeros(len(reduced.ends))
    loads = reduced.loads[0] - gain * reduced.loads[-1]
    values = expectations(turns, reduced, loads, cost - gain, nothing)
    rest = np.zeros(values.shape)
    for _ in range(2):
        left = residuals(policy, arrival, service, cost, gain, values, rest)
        columns = left.reshape((1, *left.shape))
        loads = collected(turns, columns, reduced.steps, reduced.pivots)[0]
        rounded = loads[reduced.ends[0]] / reduced.loads[-1, reduced.ends[0]]
        rest += expectations(turns, reduced, loads - rounded * reduced.loads[-1], left - rounded, nothing)
    return values, rest


@njit(cache=True)
def refined_curve(policy: Policy, curve: Curve, arrival: float, service: float, cost: Grid) -> tuple[float, Grid, Grid]:
    """Gain and values, as by `refined`, of a policy that is a falling curve, level by level."""
    last = len(curve) - 1
    levels = levels_of(curve, arrival, service, cost)
    gain, rest = levels.inside[0, levels.end] / levels.inside[1, levels.end], np.zeros(cost.shape)
    values = level_values(levels, arrival, service, cost, gain, 0, last)
    for _ in range(2):
        left = residuals(policy, arrival, service, cost, gain, values, rest)
        levels = levels_of(curve, arrival, service, left)
        rounded = levels.inside[0, levels.end] / levels.inside[1, levels.end]
        rest += level_values(levels, arrival, service, left, rounded, 0, last)
    return gain, values, rest


@njit(cache=True)
def greedy(policy: Policy, values: Grid, rest: Grid) -> tuple[Policy, NDArray[np.int64], int, float]:
    """The policy that is greedy for these values, which of two equal actions stays.

    Returns
    -------
    tuple
        policy, robots after the best action in each state, number of changes, smallest decision gap: least absolute
        difference between activating a robot and not.
    """
    most, robots = policy.shape[0] - 1, policy.shape[1] - 1
    better = policy.copy()
    choice = np.zeros(policy.shape, dtype=np.int64)
    changes, gap = 0, np.inf
    for q in range(most + 1):
        for r in range(robots + 1):
            choice[q, r] = r
            if q == 0 and r == 0:
                choice[q, r] = 1
            elif r < robots:
                change = (values[q, r + 1] - values[q, r]) + (rest[q, r + 1] - rest[q, r])
                gap = min(gap, abs(change))
                if change < 0.0:
                    choice[q, r] = r + 1
                # Twice the digits are there, but they are worth nothing beyond the rounding of the costs themselves.
                if abs(change) > 1e-15 * (abs(values[q, r]) + abs(values[q, r + 1])) * 1e-6:
                    wanted = 1 if change < 0.0 else 0
                    if wanted != policy[q, r]:
                        better[q, r] = wanted
                        changes += 1
    return better, choice, changes, gap


@njit(cache=True)
def bracket(
    choice: NDArray[np.int64], arrival: float, service: float, cost: Grid, values: Grid, rest: Grid
) -> tuple[float, float]:
    """The least cost lies between these; `choice` is that of `greedy`."""
    most, robots = cost.shape[0] - 1, cost.shape[1] - 1
    lower, upper = np.inf, -np.inf
    for q in range(most + 1):
        for r in range(1 if q == 0 else 0, robots + 1):
            high, low = cost[q, r], 0.0
            if q > 0:
                high, low = _plus_flow(high, low, service, values, rest, q - 1, choice[q - 1, r], q, r)
            if r > 0:
                there = min(q + 1, most)
                high, low = _plus_flow(high, low, arrival * r, values, rest, there, choice[there, r - 1], q, r)
            lower, upper = min(lower, high + low), max(upper, high + low)
    return lower, upper
