r"""Marginal analysis: give the next unit to whoever gains most by it.

What :math:`a = 1, \dots, A` activities cost adds up, :math:`\sum_a c_a(n_a)`, and :math:`\sum_a n_a \le N` units are
handed out. Where costs are convex as far as units help, giving one unit after the other where it gains most is optimal
[1]_. Where they are not, it may end anywhere. Nothing is taken on trust here:

* the same done with the convex envelopes of the costs is a lower bound, whatever the costs, and meets the cost of
  marginal analysis where they are convex (it is the best Lagrangian bound);
* the programme :math:`f_a(m) = \min_n f_{a-1}(m - n) + c_a(n)` is exact, in :math:`A N^2` steps.

References
----------
.. [1] B. Fox, "Discrete optimization via marginal analysis", *Management Science* 13 (3), 1966, 210-216.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..oracle import Oracle
from ..protocols import Problem
from ..result import Result
from ..running import require_fields

Table = NDArray[np.float64]
Counts = tuple[int, ...]

#: Costs are not called convex, or not so, for differences below this part of them: that is rounding.
ROUNDING = 1e-12


@runtime_checkable
class AllocationProblem(Problem, Protocol):
    """A problem of allocating equal units to activities; a decision has a count for each, at most `units` together.

    ``allocation_cost(activity, count)`` returns two numbers, zero or more, between which the least cost of an activity
    with so many units lies; the evaluator's objective is the sum of the upper ones.
    """

    @property
    def units(self) -> int: ...
    @property
    def activities(self) -> int: ...
    def allocation_cost(self, activity: int, count: int) -> tuple[float, float]: ...


@dataclass(frozen=True)
class MarginalAnalysis:
    """Give each unit to whoever gains most (Fox); where that is not proved optimal, use dynamic programming.

    ``extra.greedy`` has the split of marginal analysis, its objective and how far above the answer it is;
    ``extra.convex`` tells whether all costs are convex as far as units help, within their brackets and rounding,
    ``extra.not_convex`` which are not; ``extra.last_unit_gains`` what the last unit was worth.

    Parameters
    ----------
    largest
        Additions up to which the programme is run; 0: never. Without it the answer is that of marginal analysis, and
        the bound that of the convex envelopes.
    """

    largest: int = 100_000_000

    name: ClassVar[str] = "marginal-analysis"
    needs: ClassVar[type] = AllocationProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, largest=(self.largest >= 0, "0 or more"))

    def solve(self, oracle: Oracle[AllocationProblem], rng: np.random.Generator) -> Result:
        """Make the tables, split by them, bound."""
        units = oracle.problem.units
        tables, complete = _tables(oracle)
        lower, upper = [table[0] for table in tables], [table[1] for table in tables]
        greedy = marginal(upper, units)
        if not complete:  # whoever was not asked gets nothing: not the best, but an answer
            left_out = (0,) * (oracle.problem.activities - len(tables))
            return oracle.result(greedy + left_out, stopped_by="seconds")
        envelopes = [envelope(table) for table in lower]
        best, bound = greedy, total(envelopes, marginal(envelopes, units))
        exact = additions(upper, units) + additions(lower, units) <= self.largest
        if exact:
            best, values = least_split(upper, units)
            bound = float(least_split(lower, units)[1][-1])
            gains = float(values[max(units - 1, 0)] - values[units])
        else:
            gains = total(upper, marginal(upper, max(units - 1, 0))) - total(upper, greedy)
        oracle(best)
        # Sums of this many numbers of one sign, and slopes of envelopes, are right to about so much.
        oracle.report(bound=bound * (1 - 8 * np.finfo(float).eps * (units + len(tables))))
        odd = [activity for activity, table in enumerate(tables) if not is_convex(*table)]
        paid, least = total(upper, greedy), total(upper, best)
        told = {
            "greedy": {"decision": list(greedy), "objective": paid, "gap": (paid - least) / (least or 1.0)},
            "convex": not odd,
            "not_convex": odd,
            "exact": exact,
            "last_unit_gains": gains,
        }
        return oracle.result(best, claimed=least, extra=told)


# -- what can be done with tables of costs, by count, from 0 ----------------------------------------------------------


def marginal(tables: Sequence[Table], units: int) -> Counts:
    """Give one unit after the other to whoever gains most, as long as somebody gains.

    Parameters
    ----------
    tables
        For each activity its costs with 0, 1, ... units.
    units
        How many may be given.

    Returns
    -------
    tuple of int
        Units of each activity.
    """
    counts = [0] * len(tables)
    waiting = [(float(table[1] - table[0]), activity) for activity, table in enumerate(tables) if units > 0]
    heapq.heapify(waiting)
    for _ in range(units):
        if not waiting or waiting[0][0] >= 0:
            break
        _, activity = waiting[0]
        counts[activity] += 1
        here, table = counts[activity], tables[activity]
        if here + 1 < len(table):
            heapq.heapreplace(waiting, (float(table[here + 1] - table[here]), activity))
        else:
            heapq.heappop(waiting)
    return tuple(counts)


def total(tables: Sequence[Table], counts: Counts) -> float:
    """Add up the costs of these counts.

    Parameters
    ----------
    tables
        For each activity its costs with 0, 1, ... units.
    counts
        Units of each activity.

    Returns
    -------
    float
        The sum, rounded once.
    """
    return math.fsum(table[count] for table, count in zip(tables, counts, strict=True))


def envelope(table: Table) -> Table:
    """Find the largest convex and non-increasing function below a table.

    Parameters
    ----------
    table
        Costs with 0, 1, ... units.

    Returns
    -------
    array of float
        The values of this function, as many.
    """
    falling = np.minimum.accumulate(table)
    kept: list[int] = []
    for place in range(len(falling)):
        while len(kept) > 1 and _above(falling, kept[-2], kept[-1], place):
            kept.pop()
        kept.append(place)
    return np.interp(np.arange(len(falling)), kept, falling[kept])


def is_convex(lower: Table, upper: Table) -> bool:
    """Whether the least cost with *at most* so many units may be convex: no second difference is surely negative."""
    low, high = np.minimum.accumulate(lower), np.minimum.accumulate(upper)
    return bool((high[:-2] + high[2:] - 2 * low[1:-1] >= -ROUNDING * high[:-2]).all())


def additions(tables: Sequence[Table], units: int) -> int:
    """Count the numbers that `least_split` adds.

    Parameters
    ----------
    tables, units
        As for `least_split`.

    Returns
    -------
    int
        How many there are.
    """
    return sum(len(_useful(table)) for table in tables) * (units + 1)


def least_split(tables: Sequence[Table], units: int) -> tuple[Counts, Table]:
    """Find the counts of least cost, by dynamic programming, and the least cost with 0, 1, ..., `units` units.

    Counts that cost no less than smaller ones are never needed.

    Parameters
    ----------
    tables
        For each activity its costs with 0, 1, ... units.
    units
        How many may be given.

    Returns
    -------
    counts : tuple of int
        Units of each activity.
    values : array of float
        The least cost with 0, 1, ..., `units` units.
    """
    values = np.zeros(units + 1)
    choices = []
    for table in tables:
        found, choice = np.full(units + 1, np.inf), np.zeros(units + 1, dtype=np.int64)
        for count in _useful(table):
            costs = values[: units + 1 - count] + table[count]
            better = np.flatnonzero(costs < found[count:]) + count
            found[better], choice[better] = costs[better - count], count
        values = found
        choices.append(choice)
    counts, left = [], units
    for choice in reversed(choices):
        counts.append(int(choice[left]))
        left -= counts[-1]
    return tuple(reversed(counts)), values


# -- inside -----------------------------------------------------------------------------------------------------------


def _tables(oracle: Oracle[Any]) -> tuple[list[tuple[Table, Table]], bool]:
    """Lower and upper costs of every activity by count, or of as many as the clock allows; and whether it did."""
    problem: AllocationProblem = oracle.problem
    tables: list[tuple[Table, Table]] = []
    for activity in range(problem.activities):
        rows = []
        for count in range(problem.units + 1):
            if oracle.remaining_seconds <= 0:
                return tables, False
            rows.append(problem.allocation_cost(activity, count))
        lower, upper = np.array(rows, dtype=np.float64).T
        if not ((lower >= 0) & (lower <= upper) & np.isfinite(upper)).all():
            raise ValueError(f"costs of activity {activity} must be brackets of numbers, zero or more, and are not.")
        tables.append((lower, upper))
    return tables, True


def _useful(table: Table) -> list[int]:
    """Counts that cost less than all smaller ones."""
    before = np.concatenate([[np.inf], np.minimum.accumulate(table)[:-1]])
    found: list[int] = np.flatnonzero(table < before).tolist()
    return found


def _above(table: Table, first: int, middle: int, last: int) -> bool:
    """Whether the middle point lies on or above the line through the others."""
    rise, run = table[last] - table[first], last - first
    return bool((table[middle] - table[first]) * run >= rise * (middle - first))
