r"""The linear program of average costs for the robot queue, and what its solution means.

Variables are p(q, r), the share of time in a state after a decision, and the rates :math:`y_a(q, r)` at which events
that leave q pages and r active robots are answered by action a:

.. math::

   \min \sum c \, p, \quad
   (\mu 1(q>0) + \lambda r) \, p(q, r) = y_0(q, r) + y_1(q, r-1), \quad
   y_0(q, r) + y_1(q, r) = \text{rate of these events}, \quad \sum p = 1.

Multipliers of the first rows are relative values of states. Limits on averages are further rows, and their multipliers
are prices: with them the best policy of the priced queue gives a bound that holds whatever the solver's tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack, vstack

from queueing import RobotQueue

Grid = NDArray[np.float64]

METHODS = {"simplex": "highs-ds", "interior-point": "highs-ipm"}

#: Smallest tolerance HiGHS takes.
TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """What the solver said.

    Attributes
    ----------
    status
        ``"optimal"``, ``"infeasible"``, ``"seconds"`` (out of time) or ``"unsolved"``.
    objective
        Least average cost of all policies, randomised ones included.
    shares
        p(q, r).
    stays, activations
        y_0 and y_1, in the mean time of a service.
    values
        Relative values of states.
    prices
        Multiplier of each limit, zero or more.
    """

    status: str
    objective: float
    shares: Grid
    stays: Grid
    activations: Grid
    values: Grid
    prices: NDArray[np.float64]

    def probabilities(self) -> Grid:
        """Probability of activating one more robot by state; 0 where no event ever leads."""
        total = self.stays + self.activations
        found: Grid = np.divide(self.activations, total, out=np.zeros(total.shape), where=total > TOLERANCE)
        found[0, 0] = 1.0
        return found


def solve_program(
    queue: RobotQueue,
    cost: Grid,
    limits: Sequence[tuple[Grid, float]] = (),
    *,
    method: str = "simplex",
    seconds: float = np.inf,
    relaxed: bool = False,
) -> ProgramAnswer:
    """Solve the program; `relaxed`: find instead how far the averages must go beyond the limits, largest first.

    Parameters
    ----------
    queue, cost
        The queue, and cost per unit of time by state.
    limits
        Rates by state, and what their averages must not exceed.
    method
        ``"simplex"`` or ``"interior-point"``.
    seconds
        For the solver.
    relaxed
        Minimise the largest excess over all limits; the cost is not looked at.
    """
    states = cost.size
    equations, right = _balance(queue)
    width = equations.shape[1]
    # Tolerances are absolute: time is measured in services, money and what is limited in what there is of them.
    unit = 1.0 if relaxed else _size(cost)
    sizes = [max(_size(rates), _size(np.array(bound))) for rates, bound in limits]
    prices = np.zeros(width)
    prices[:states] = 0.0 if relaxed else cost.ravel() / unit
    rows = [
        csr_array((rates.ravel() / size, (np.zeros(states, int), np.arange(states))), (1, width))
        for (rates, _), size in zip(limits, sizes, strict=True)
    ]
    upper = np.full(width, np.inf)
    upper[[0, states]] = 0.0  # neither the state (0, 0) nor the decision to stay in it exists
    upper[2 * states + queue.robots :: queue.robots + 1] = 0.0  # none is left to activate
    if relaxed:
        equations = csr_array(hstack([equations, csr_array((equations.shape[0], 1))]))
        rows = [csr_array(_with_last(row, width)) for row in rows]
        prices, upper = np.append(prices, 1.0), np.append(upper, np.inf)
    minimise: Any = linprog
    answer = minimise(
        prices,
        A_ub=vstack(rows) if rows else None,
        b_ub=[bound / size for (_, bound), size in zip(limits, sizes, strict=True)] if rows else None,
        A_eq=equations,
        b_eq=right,
        bounds=np.column_stack([np.zeros(len(upper)), upper]),
        method=METHODS[method],
        options={
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
            **({"time_limit": max(seconds, 0.01)} if np.isfinite(seconds) else {}),
        },
    )
    if answer.status != 0 or answer.x is None:
        status = {1: "seconds", 2: "infeasible"}.get(answer.status, "unsolved")
        nothing = np.zeros(queue.shape)
        return ProgramAnswer(status, np.nan, nothing, nothing, nothing, nothing, np.zeros(len(limits)))
    shares, stays, activations = answer.x[: 3 * states].reshape(3, *queue.shape)
    return ProgramAnswer(
        status="optimal",
        objective=float(answer.fun) * unit,
        shares=shares,
        stays=stays,
        activations=activations,
        values=np.asarray(answer.eqlin.marginals)[:states].reshape(queue.shape) * (unit / queue.service_rate),
        prices=np.maximum(0.0, -np.asarray(answer.ineqlin.marginals)) * unit / np.array(sizes) if rows else np.zeros(0),
    )


def _size(values: Grid) -> float:
    """A power of two near the largest of them."""
    largest = float(np.abs(values).max())
    return 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0


def _balance(queue: RobotQueue) -> tuple[csr_array, NDArray[np.float64]]:
    """Rows: flow out of each state, flow into each decision, total share; columns: p, y_0, y_1; time in services."""
    most, robots = queue.capacity, queue.robots
    states = (most + 1) * (robots + 1)
    lengths, active = (grid.ravel() for grid in np.indices(queue.shape))
    here = np.arange(states)
    serves, brings = here[lengths > 0], here[active > 0]
    arrival_rate = queue.arrival_rate / queue.service_rate
    rate = (lengths > 0) + arrival_rate * active
    after_service = serves - (robots + 1)
    after_arrival = np.minimum(lengths[brings] + 1, most) * (robots + 1) + active[brings] - 1
    sends = here[active < robots]
    entries = [
        (here, here, rate),
        (here, states + here, np.full(states, -1.0)),
        (sends + 1, 2 * states + sends, np.full(len(sends), -1.0)),
        (states + here, states + here, np.ones(states)),
        (states + here, 2 * states + here, np.ones(states)),
        (states + after_service, serves, np.full(len(serves), -1.0)),
        (states + after_arrival, brings, -arrival_rate * active[brings]),
        (np.full(states, 2 * states), here, np.ones(states)),
    ]
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    right = np.zeros(2 * states + 1)
    right[-1] = 1.0
    return csr_array(coo_array((value, (row, column)), (2 * states + 1, 3 * states))), right


def _with_last(row: csr_array, width: int) -> coo_array:
    """The row with a -1 in a further column, in multiples of its largest entry."""
    scale = float(np.abs(row.data).max()) if row.nnz else 1.0
    entries = coo_array(row)
    column = np.append(entries.col, width)
    return coo_array((np.append(entries.data, -scale), (np.zeros(len(column), int), column)), (1, width + 1))
