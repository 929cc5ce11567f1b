r"""The linear program of average costs for robots, and what its solution means.

Variables are p(s), the share of time in a state after a decision, and the rates :math:`y_a(e)` at which events that
leave state e are answered by action a:

.. math::

   \min \sum_s c(s) \, p(s), \quad
   r(s) \, p(s) = \sum_z r(z, s) \, p(z) + \sum_{e, a} y_a(e) \, \pi_a(e, s), \quad
   \sum_a y_a(e) = \text{rate of events that leave } e, \quad \sum_s p(s) = 1,

with :math:`r(z, s)` the rates of changes that are no events and :math:`\pi_a(e, s)` the probability that the action
leads to s. Limits on averages are further rows, and their multipliers are prices: with them the best policy of the
priced robots gives a bound that holds whatever the solver's tolerances.

Every solution is the long run of some policy, from the start: whatever was done, robots may be left alone until all are
back and all pages served, so that everything that can be reached at all can be reached from everywhere with certainty.
Where a process may be caught by chance in one of several parts, further variables are needed (Hordijk and Kallenberg
[1]_); here nothing is. But a solution may be a *mixture* of closed classes of states, each under a policy of its own:
then one of them is drawn, once and for all.

References
----------
.. [1] A. Hordijk, L. C. M. Kallenberg, "Constrained undiscounted stochastic dynamic programming", *Mathematics of
   Operations Research* 9 (2), 1984, 276-289.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csc_array, csr_array, diags_array, hstack, vstack

from heuristics import interrupting
from queueing.robots.fleet import EventMoves

Vector = NDArray[np.float64]

METHODS = {"simplex": "simplex", "interior-point": "ipm"}

#: Seconds between two looks at the clock, and those that HiGHS is given to let go.
POLL, PATIENCE = 0.05, 0.5

#: Smallest tolerance HiGHS takes.
TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class LinearLimit:
    """Limit the average of rates by state.

    Parameters
    ----------
    told
        What is so if the limit is broken.
    rates
        By state.
    bound
        What their average must not exceed.
    slack
        By how much it may, for rounding.
    """

    told: str
    rates: Vector
    bound: float
    slack: float = 0.0


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """What the solver says of a program.

    Attributes
    ----------
    status
        ``"optimal"``, ``"infeasible"``, ``"seconds"`` (out of time) or ``"unsolved"``.
    objective
        Least average cost of all policies, randomised ones included.
    shares
        p(s).
    flows
        y_a(e) by action and state, in the mean time of a service.
    prices
        Multiplier of each limit, zero or more.
    """

    status: str
    objective: float
    shares: Vector
    flows: NDArray[np.float64]
    prices: Vector


def solve_program(
    moves: EventMoves,
    service_rate: float,
    cost: Vector,
    limits: Sequence[LinearLimit] = (),
    *,
    method: str = "simplex",
    seconds: float = math.inf,
    relaxed: bool = False,
) -> ProgramAnswer:
    """Solve the program; `relaxed`: find instead how far the averages must go beyond the limits, largest first.

    Parameters
    ----------
    moves, service_rate, cost
        The robots, and cost per unit of time by state.
    limits
        What averages must not exceed.
    method
        ``"simplex"`` or ``"interior-point"``.
    seconds
        For the solver.
    relaxed
        Minimise the largest excess over all limits; the cost is not looked at.

    Returns
    -------
    ProgramAnswer
        Shares of time and multipliers, or why there are none.
    """
    states, actions = len(cost), len(moves.sending)
    matrix = _balance(moves, service_rate)
    rows, width = matrix.shape
    # Tolerances are absolute: time is measured in services, money and what is limited in what there is of them.
    unit = 1.0 if relaxed else power_of_two(cost)
    sizes = [max(power_of_two(limit.rates), power_of_two(np.array(limit.bound))) for limit in limits]
    prices = np.zeros(width)
    prices[:states] = 0.0 if relaxed else cost / unit
    upper = np.concatenate([np.where(moves.allowed[0], np.inf, 0.0), np.where(moves.allowed.ravel(), np.inf, 0.0)])
    lower_rows, upper_rows = np.zeros(rows), np.zeros(rows)
    lower_rows[-1] = upper_rows[-1] = 1.0
    for limit, size in zip(limits, sizes, strict=True):
        row = csr_array((limit.rates / size, (np.zeros(states, int), np.arange(states))), (1, width))
        matrix = csr_array(vstack([matrix, row]))
        lower_rows, upper_rows = np.append(lower_rows, -np.inf), np.append(upper_rows, limit.bound / size)
    if relaxed:
        scales = [
            max(float(np.abs(limit.rates).max()) / size, 1e-300) for limit, size in zip(limits, sizes, strict=True)
        ]
        excess = csr_array(np.concatenate([np.zeros(rows), -np.array(scales)])[:, np.newaxis])
        matrix = csr_array(hstack([matrix, excess]))
        prices, upper = np.append(prices, 1.0), np.append(upper, np.inf)
    status, values, duals = solved_by_highs(csc_array(matrix), prices, upper, lower_rows, upper_rows, method, seconds)
    if status != "optimal":
        nothing = np.zeros(states)
        return ProgramAnswer(status, math.nan, nothing, np.zeros((actions, states)), np.zeros(len(limits)))
    return ProgramAnswer(
        status="optimal",
        objective=float(prices @ values) * unit,
        shares=np.maximum(0.0, values[:states]),
        flows=np.maximum(0.0, values[states : (1 + actions) * states].reshape(actions, states)),
        prices=np.maximum(0.0, -duals[rows:]) * unit / np.array(sizes) if limits else np.zeros(0),
    )


def solved_by_highs(
    matrix: csc_array,
    prices: Vector,
    upper: Vector,
    lower_rows: Vector,
    upper_rows: Vector,
    method: str,
    seconds: float = math.inf,
) -> tuple[str, Vector, Vector]:
    """Minimise a linear program by HiGHS: one method after the other until one succeeds; interrupts end it.

    Parameters
    ----------
    matrix
        Coefficients, by row and column.
    prices, upper
        Price and upper bound of each column; all are 0 or more.
    lower_rows, upper_rows
        Between which each row lies.
    method
        The one that is tried first: ``"simplex"`` or ``"interior-point"``.
    seconds
        How long it may take.

    Returns
    -------
    tuple
        Status (see `ProgramAnswer`), values of the columns, and multipliers of the rows.
    """
    others = [name for name in METHODS if name != method]
    for way, presolve in [(method, "on"), (others[0], "on"), (method, "off")]:
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = matrix.shape
        program.col_cost_, program.col_lower_, program.col_upper_ = prices, np.zeros(len(prices)), upper
        program.row_lower_, program.row_upper_ = lower_rows, upper_rows
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
        program.a_matrix_.value_ = matrix.data
        options = {
            "output_flag": False,
            "solver": METHODS[way],
            "presolve": presolve,
            "threads": 1,
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
            **({"time_limit": max(seconds, 0.01)} if math.isfinite(seconds) else {}),
        }
        for name, value in options.items():
            highs.setOptionValue(name, value)
        if highs.passModel(program) == highspy.HighsStatus.kError:
            return "unsolved", prices, lower_rows
        _run(highs)
        status = highs.getModelStatus().name
        if status == "kOptimal":
            found = highs.getSolution()
            return "optimal", np.array(found.col_value), np.array(found.row_dual)
        if status in ("kInfeasible", "kTimeLimit"):
            return {"kInfeasible": "infeasible", "kTimeLimit": "seconds"}[status], prices, lower_rows
    return "unsolved", prices, lower_rows


def _run(highs: Any) -> None:
    """Let HiGHS work, beside, so that interrupts are heard in the middle of its long steps, too."""
    stop = threading.Event()

    def look(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    highs.cbSimplexInterrupt += look
    highs.cbIpmInterrupt += look
    worker = threading.Thread(target=highs.run, name="HiGHS", daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(POLL)
            interrupting.check()
    except BaseException:
        stop.set()
        worker.join(PATIENCE)
        raise


def power_of_two(values: Vector) -> float:
    """Take a power of two near the largest of some numbers, by which to divide them without rounding.

    Parameters
    ----------
    values
        One at least, of any sign.

    Returns
    -------
    float
        The least power of two above all of their sizes; 1 if all are 0.
    """
    largest = float(np.abs(values).max())
    return 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0


def _balance(moves: EventMoves, service_rate: float) -> csr_array:
    """Rows: flow out of each state, flow into each decision, total share; columns: p, y by action; time in services."""
    states = moves.plain.shape[0]
    plain, events = moves.plain / service_rate, moves.events / service_rate
    leaving: Vector = np.asarray(plain.sum(axis=1)).ravel() + np.asarray(events.sum(axis=1)).ravel()
    into_states = [csr_array(-matrix.T) for matrix in moves.sending]
    into_events = [csr_array(diags_array(np.ones(states))) for _ in moves.sending]
    if moves.again:  # "one more" leads to the next decision
        into_states[1] = csr_array((states, states))
        into_events[1] = csr_array(into_events[1] - moves.sending[1].T)
    balance = block_array(
        [
            [csr_array(diags_array(leaving) - plain.T), *into_states],
            [csr_array(-events.T), *into_events],
        ]
    )
    total = csr_array((np.ones(states), (np.zeros(states, int), np.arange(states))), (1, balance.shape[1]))
    return csr_array(vstack([balance, total]))
