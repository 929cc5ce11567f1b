r"""Robots split over areas under limits: a bound and a search, from a program over tables.

With :math:`c_a(n)` and :math:`g_{al}(n)` what area a costs and what it adds to limit l with n robots, splits are
choices :math:`x_{an}` of one number for each area:

.. math::

   \min \sum_{a,n} c_a(n) x_{an}, \quad \sum_n x_{an} = 1, \quad \sum_{a,n} n \, x_{an} \le N, \quad
   \sum_{a,n} g_{al}(n) \, x_{an} \le b_l.

Solved with fractions, the program gives prices :math:`u_l` of the limits. With prices in their place the best split is
found exactly (:func:`heuristics.allocation.least_split`), and its cost less :math:`\sum u_l b_l` is a bound on every
split that keeps the limits (Lagrange). Policies within areas do not look at limits, and the bound is one on splits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, vstack

from heuristics import Oracle, Result, interrupting
from heuristics.allocation import additions, envelope, least_split, marginal, total

from ...costs import ROUNDING, Limits
from ..linear_program import power_of_two, rank_of, solved_by_highs
from .problem import MOST_ADDITIONS, Outcome, RobotAreasProblem

Table = NDArray[np.float64]
Counts = tuple[int, ...]

#: By limit its name, what areas add to it by number of robots, and the bound.
Rows = list[tuple[str, list[Table], float]]

#: Times that prices of limits are raised, at most, and halvings afterwards; areas that the program leaves divided.
RAISES, HALVINGS, MOST_DIVIDED = 40, 12, 6

#: Starts that are searched from.
DESCENTS = 3


@dataclass(frozen=True, eq=False)
class Tables:
    """By area and number of robots, what areas cost and what they add to each limit; and the bounds of these."""

    costs: Table
    limits: Table
    bounds: Table

    @property
    def size(self) -> int:
        """Count the numbers of robots that an area may get, 0 included."""
        return int(self.costs.shape[1])

    def shared_anew(self, counts: Counts, first: int, second: int) -> Counts:
        """The split that is best if only two areas may change: limits kept first, then costs."""
        others = [area for area in range(len(counts)) if area not in (first, second)]
        free = self.size - 1 - sum(counts[area] for area in others)
        numbers = np.arange(free + 1)
        one = self.limits[:, first, : free + 1]
        cost, added = self.costs[first, : free + 1], one[:, :, np.newaxis]
        if second != first:
            cost = cost[:, np.newaxis] + self.costs[second, : free + 1]
            added = added + self.limits[:, second, np.newaxis, : free + 1]
            cost = np.where(numbers[:, np.newaxis] + numbers <= free, cost, np.inf)
        else:
            cost = cost[:, np.newaxis]
        rest = self.limits[:, others, [counts[area] for area in others]].sum(axis=1)
        beyond = added + (rest - self.bounds)[:, np.newaxis, np.newaxis]
        scale = np.maximum(np.abs(self.bounds), np.abs(self.limits).max(axis=(1, 2)))[:, np.newaxis, np.newaxis]
        excess = np.where(beyond > ROUNDING * scale, beyond / np.where(scale > 0, scale, 1.0), 0.0).sum(axis=0)
        excess = np.where(np.isfinite(cost), excess, np.inf)
        kept = np.where(excess <= excess.min(), cost, np.inf)
        x, y = np.unravel_index(int(np.argmin(kept)), kept.shape)
        found = list(counts)
        found[first] = int(x)
        if second != first:
            found[second] = int(y)
        return tuple(found)


def solve_areas(oracle: Oracle[Any], method: str, work: int) -> Result:
    """Bound splits that keep the limits, and search for a good one.

    Parameters
    ----------
    oracle
        Of a problem of areas with limits; shown the splits that are found, and told the bound.
    method
        That solves the linear program: ``"simplex"`` or ``"interior-point"``.
    work
        How many sharings may be looked at.

    Returns
    -------
    Result
        The best split that keeps the limits, with the bound, if one was found.
    """
    problem: RobotAreasProblem = oracle.problem
    with oracle.in_time():
        lower, rows = _tables(problem)
        names, bounds = [name for name, _, _ in rows], np.array([bound for _, _, bound in rows])
        status, shares, prices = _program(problem, lower, rows, method, oracle.remaining_seconds)
        told: dict[str, Any] = {"status": status, "method": method}
        if status == "optimal":
            told["objective"] = math.fsum(float(table @ share) for table, share in zip(lower, shares, strict=True))
        oracle.extra["program"] = told
        if rows and status == "optimal":
            oracle.extra["prices_of_limits"] = dict(zip(names, prices.tolist(), strict=True))
        if status == "infeasible":
            return _without_split(oracle, rows)
        slack, exact = ROUNDING * np.abs(bounds), -math.inf
        for price in (prices, np.zeros(len(rows))) if prices.any() else (prices,):
            _, least = _priced(problem, lower, rows, price)
            exact = max(exact, least - float(price @ bounds))
            oracle.report(bound=least - float(price @ (bounds + slack)))
        upper = np.array(
            [[problem.outcome(area, n).objective for n in range(len(lower[0]))] for area in range(len(lower))]
        )
        parts = np.array([tables for _, tables, _ in rows]).reshape(len(rows), *upper.shape)
        _search(oracle, _starts(oracle, lower, rows, shares, prices), Tables(upper, parts, bounds), work)
    return oracle.result(proved=oracle.meets(exact))


def _tables(problem: RobotAreasProblem) -> tuple[list[Table], Rows]:
    """By area, lower ends of costs by number of robots; and the rows of the limits."""
    outcomes: list[list[Outcome]] = []
    for area in range(len(problem.areas)):
        outcomes.append([])
        for robots in range(problem.robots + 1):
            interrupting.check()
            outcomes[-1].append(problem.outcome(area, robots))
    lower = [np.array([one.lower for one in line]) for line in outcomes]
    return lower, list(rows_of(outcomes, problem.limits))


def rows_of(outcomes: list[list[Outcome]], limits: Limits) -> Iterator[tuple[str, list[Table], float]]:
    """By side of a limit its name, what areas add to it by number of robots, and the bound."""
    for name, limit in limits.by_measure.items():
        for sign, bound, side in ((1.0, limit.maximum, "above"), (-1.0, limit.minimum, "below")):
            if not math.isfinite(bound):
                continue
            tables = [np.array([sign * _part(one, name, bound) for one in line]) for line in outcomes]
            yield f"{name} {side} {bound:g}", tables, 0.0 if name == "response_time" else sign * bound


def _part(outcome: Outcome, name: str, bound: float) -> float:
    """What an area adds to a limit; that on the response time L / served is one on L - bound x served."""
    found = outcome.measures
    if name != "response_time":
        return float(getattr(found, name))
    served = found.mean_length / found.response_time if found.response_time else 0.0
    return found.mean_length - bound * served


def _program(
    problem: RobotAreasProblem, lower: list[Table], rows: Rows, method: str, seconds: float
) -> tuple[str, list[Table], Table]:
    """Status, shares of numbers by area, and prices of the limits."""
    areas, width = len(lower), problem.robots + 1
    cost = np.concatenate(lower)
    unit = power_of_two(cost)
    choices = csc_array((np.ones(areas * width), (np.repeat(np.arange(areas), width), np.arange(areas * width))))
    robots = np.tile(np.arange(width, dtype=np.float64), areas) / max(problem.robots, 1)
    sizes = [max(power_of_two(np.concatenate(tables)), power_of_two(np.array([bound]))) for _, tables, bound in rows]
    limits = [np.concatenate(tables) / size for (_, tables, _), size in zip(rows, sizes, strict=True)]
    matrix = csc_array(vstack([choices, csc_array(np.array([robots, *limits]))]))
    low = np.concatenate([np.ones(areas), np.full(1 + len(rows), -np.inf)])
    high = np.concatenate(
        [np.ones(areas), [1.0], [bound / size for (_, _, bound), size in zip(rows, sizes, strict=True)]]
    )
    status, values, duals = solved_by_highs(matrix, cost / unit, np.ones(areas * width), low, high, method, seconds)
    if status != "optimal":
        return status, [], np.zeros(len(rows))
    prices = np.maximum(0.0, -duals[areas + 1 :]) * unit / np.array(sizes) if rows else np.zeros(0)
    return status, list(values.reshape(areas, width)), prices


def _priced(problem: RobotAreasProblem, costs: list[Table], rows: Rows, prices: Table) -> tuple[Counts, float]:
    """The best split where limits have prices in the place of bounds, and a lower bound of its cost."""
    tables = []
    for area, cost in enumerate(costs):
        table = cost.copy()
        for price, (_, parts, _) in zip(prices, rows, strict=True):
            table += price * parts[area]
        tables.append(table)
    units = problem.robots
    rounding = (
        8 * np.finfo(float).eps * (units + len(tables)) * math.fsum(float(np.abs(table).max()) for table in tables)
    )
    if additions(tables, units) <= MOST_ADDITIONS:
        counts, values = least_split(tables, units)
        return counts, float(values[-1]) - rounding
    envelopes = [envelope(table) for table in tables]
    return marginal(tables, units), total(envelopes, marginal(envelopes, units)) - rounding


def _without_split(oracle: Oracle[Any], rows: Rows) -> Result:
    """Prove that no split keeps the limits: even with fractions, the least of one of them is beyond it."""
    problem: RobotAreasProblem = oracle.problem
    for name, tables, bound in rows:
        _, least = _priced(problem, tables, [], np.zeros(0))
        if least > bound + ROUNDING * (abs(bound) or 1.0):
            return oracle.result(proved=True, extra={"reason": f"every split has {name}."})
    return oracle.result(stopped_by="unsolved")


def _starts(
    oracle: Oracle[Any], lower: list[Table], rows: Rows, shares: list[Table], prices: Table
) -> Iterator[Counts]:
    """Splits of the program with its divided areas taken one way or the other, and those at higher prices."""
    problem: RobotAreasProblem = oracle.problem
    choices = [np.flatnonzero(share > 1e-9).tolist() for share in shares]
    if choices and sum(len(options) > 1 for options in choices) <= MOST_DIVIDED:
        for counts in product(*choices):
            if sum(counts) <= problem.robots:
                yield tuple(int(count) for count in counts)

    def split(factor: float) -> Counts:
        return _priced(problem, lower, rows, prices * factor)[0]

    yield split(1.0)
    yield from ((0,) * area + (1,) + (0,) * (len(lower) - area - 1) for area in range(len(lower)) if problem.robots)
    yield (0,) * len(lower)
    low, high = 1.0, 1.0 + 1e-6
    if not prices.any() or oracle(split(low)).feasible:
        return
    for _ in range(RAISES):
        if oracle(split(high)).feasible:
            break
        low, high = high, 1.0 + 4.0 * (high - 1.0)
    for _ in range(HALVINGS):
        middle = 1.0 + math.sqrt(max(low - 1.0, 1e-8) * (high - 1.0))
        yield split(middle)
        low, high = (low, middle) if oracle(split(middle)).feasible else (middle, high)


def _search(oracle: Oracle[Any], starts: Iterator[Counts], tables: Tables, work: int) -> None:
    """From the best starts, share the robots of two areas, or some more, out anew as long as that helps."""
    judged = {counts: rank_of(oracle(counts)) for counts in starts}
    left = work
    for start in sorted(judged, key=lambda counts: judged[counts])[:DESCENTS]:
        current, rank = start, judged[start]
        improved = True
        while improved:
            improved = False
            for first, second in combinations_with_replacement(range(len(current)), 2):
                interrupting.check()
                left -= tables.size**2
                if left < 0:
                    return
                other = tables.shared_anew(current, first, second)
                found = rank_of(oracle(other))
                if found < rank:
                    current, rank, improved = other, found, True
