r"""Balanced words for two servers: P packets of n for the one, spread as evenly as whole slots can be.

The bracket word of density P/n sends packet t to server 0 if :math:`\lfloor (t + 1) P / n \rfloor > \lfloor t P / n
\rfloor`. Its gaps at server 0 differ by one at most, and so do those at server 1. For convex costs, among words of
length n with P packets for server 0, no gaps are cheaper at either server: with :math:`n = q P + r`,

.. math::  \sum_j f_0(\delta_j) \ge (P - r) f_0(q) + r f_0(q + 1),

and likewise for server 1. So the best balanced word of a length is the best of all words of this length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit

from ..oracle import Oracle
from ..protocols import Matrix, Vector
from ..result import Result
from ..running import last_word, require_fields
from .problem import GapTable, RoutedProblem, refuses_prices
from .server_densities import ROUNDING, densities

#: Lengths that are searched where neither the problem nor the strategy says which.
SEARCHED = 20

#: What bounds stand for: that of all words, and that of words of the lengths allowed.
OF_DENSITIES = "no word is cheaper than its densities allow with gaps of whole slots, and this bound is met"
OF_LENGTHS = (
    "with each number of packets for a server, no gaps are cheaper at either server than those of the balanced word"
)


def balanced_word(length: int, ones: int) -> tuple[int, ...]:
    """Write down the bracket word with `ones` packets of `length` for server 1."""
    return tuple((t + 1) * ones // length - t * ones // length for t in range(length))


@njit(cache=True)
def share_costs(costs: Matrix, slopes: Vector, length: int) -> Vector:
    """Compute what balanced words of a length cost a slot, with 0, 1, ..., `length` packets for server 1."""
    found = np.empty(length + 1)
    for ones in range(length + 1):
        total = 0.0
        for m in range(2):
            packets = ones if m == 1 else length - ones
            if packets == 0:
                total += np.inf if np.isnan(slopes[m]) else slopes[m] * length
            else:
                gap, longer = length // packets, length % packets
                total += (packets - longer) * costs[m, gap - 1]
                if longer:
                    total += longer * costs[m, gap]
        found[ones] = total / length
    return found


@njit(cache=True)
def convex_minorant(costs: Vector) -> Vector:
    """Find the largest convex sequence that is nowhere above: equal to convex costs, up to rounding in their bends."""
    count = len(costs)
    corners = np.empty(count, dtype=np.int64)
    kept = 0
    for i in range(count):
        while kept >= 2:
            a, b = corners[kept - 2], corners[kept - 1]
            if (costs[b] - costs[a]) * (i - b) <= (costs[i] - costs[b]) * (b - a):
                break
            kept -= 1
        corners[kept] = i
        kept += 1
    found = costs.copy()
    for k in range(kept - 1):
        a, b = corners[k], corners[k + 1]
        for i in range(a + 1, b):
            found[i] = min(costs[i], costs[a] + (costs[b] - costs[a]) * ((i - a) / (b - a)))
    return found


def is_convex(table: GapTable) -> bool:
    """Tell whether costs are convex up to rounding, as far as the table goes; claims about longer gaps rest on it."""
    costs = table.costs
    bends = costs[:, 2:] - 2 * costs[:, 1:-1] + costs[:, :-2]
    return not bool((bends < -ROUNDING * np.abs(costs).max(axis=1, keepdims=True)).any())


def lengths_of(problem: RoutedProblem, longest: int | None) -> list[int]:
    """List the lengths of words to search: those of the problem, up to a longest if one is given.

    Parameters
    ----------
    problem
        Its space may have ``lengths``, and say whether it is ``complete``; else lengths up to 20 are searched.
    longest
        The longest wanted; ``None``: as the problem says.

    Returns
    -------
    list of int
        Lengths, rising.

    Examples
    --------
    >>> from heuristics.testing import Routed, losses
    >>> lengths_of(Routed(losses((1.0, 6.0)), longest=8), 4)
    [1, 2, 3, 4]
    """
    lengths: Iterable[int] | None = getattr(problem.space, "lengths", None)
    if lengths is None:
        return list(range(1, (longest or SEARCHED) + 1))
    if longest is not None and not getattr(problem.space, "complete", True):
        return list(range(1, longest + 1))  # words of all lengths are decisions
    return [length for length in lengths if longest is None or length <= longest]


def refuses_lengths(name: str, problem: RoutedProblem, longest: int | None) -> str | None:
    """Refuse a problem none of whose lengths of words is short enough.

    Parameters
    ----------
    name
        Of the strategy that would be asked.
    problem
        What would be asked.
    longest
        The longest words that are wanted; ``None``: all.

    Returns
    -------
    str or None
        One sentence; ``None`` where a length is left.

    Examples
    --------
    >>> from heuristics.testing import Routed, losses
    >>> refuses_lengths("balanced", Routed(losses((1.0, 6.0)), longest=8), 4) is None
    True
    """
    if lengths_of(problem, longest):
        return None
    return f"strategy {name!r} handles periods up to {longest}, and {problem.name!r} has longer ones only."


def least_of_lengths(table: GapTable, lengths: Iterable[int]) -> float:
    """Bound the cost of all words of these lengths for two servers from below; costs need not be convex."""
    below = np.array([convex_minorant(row) for row in table.costs])
    least = math.inf
    for length in lengths:
        least = min(least, float(share_costs(below, table.slopes, length).min()))
    if math.isinf(least):
        return least
    return least - ROUNDING * (abs(least) + float(np.abs(below[:, 0]).sum()))


@dataclass(frozen=True)
class Balanced:
    """Find the best balanced word for two servers, over all periods allowed and all shares of packets.

    A bound that says what any word of these lengths, or of all lengths, costs at least goes with it: only where it is
    met is the answer called optimal, and ``extra.argument`` says why.

    Parameters
    ----------
    max_period
        Longest words; by default those of the problem.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Routed, losses
    >>> run(Routed(losses((1.0, 6.0)), longest=8), Balanced()).decision
    (0, 1, 1, 1)
    """

    max_period: int | None = None

    name: ClassVar[str] = "balanced"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False
    linear_cost_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_fields(self, max_period=(self.max_period is None or self.max_period >= 1, "1 or more"))

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse other numbers of servers, and other prices than those of gaps."""
        if problem.server_count != 2:
            return f"strategy {self.name!r} is for two servers, and {problem.name!r} has {problem.server_count}."
        return refuses_prices(self.name, problem) or refuses_lengths(self.name, problem, self.max_period)

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Cost all balanced words, show the best."""
        problem = oracle.problem
        lengths = lengths_of(problem, self.max_period)
        table = problem.gap_table(max(lengths))
        least, word = math.inf, balanced_word(lengths[0], lengths[0] // 2)
        for length in lengths:
            oracle.require()
            costs = share_costs(table.costs, table.slopes, length)
            ones = int(np.argmin(costs))
            if costs[ones] < least - ROUNDING * abs(least) or math.isinf(least):
                least, word = float(costs[ones]), balanced_word(length, ones)
        last_word(oracle, word)
        return closed(oracle)


def closed(oracle: Oracle[RoutedProblem]) -> Result:
    """Report what is proved about all words the problem allows, and close the run.

    Parameters
    ----------
    oracle
        Of the run; the best word found was shown to it.

    Returns
    -------
    Result
        Optimal where the word meets the integer-density bound or, for two servers, that of the lengths allowed;
        ``extra.argument`` says which.

    Examples
    --------
    >>> from heuristics import Oracle
    >>> from heuristics.testing import Routed, losses
    >>> oracle = Oracle(Routed(losses((1.0, 6.0)), longest=8))
    >>> cost = oracle((0, 1, 1, 1)).objective
    >>> closed(oracle).status.value
    'optimal'
    """
    problem = oracle.problem
    found = densities(problem.gap_table)
    # A table may end before costs bend down: problems may know by an attribute ``not_convex``, a sentence.
    convex = is_convex(found.table) and getattr(problem, "not_convex", None) is None
    bound, argument = found.bound if convex else -math.inf, OF_DENSITIES
    if problem.server_count == 2 and getattr(problem.space, "complete", True) and not oracle.meets(bound):
        lengths = getattr(problem.space, "lengths", ())
        table = problem.gap_table(max(lengths, default=1))
        tighter = least_of_lengths(table, lengths) if lengths and table.known else -math.inf
        if tighter > bound:
            bound, argument = tighter, OF_LENGTHS
    return proved(oracle, bound, argument)


def proved(oracle: Oracle[Any], bound: float, argument: str, stopped_by: str = "complete") -> Result:
    """Close a run on a bound; if it is met, tell the argument behind it.

    Parameters
    ----------
    oracle
        Of the run.
    bound
        No word of the problem costs less.
    argument
        Why, in words; ``extra.argument`` of the result where the bound is met.
    stopped_by
        Why the run ended.

    Returns
    -------
    Result
        The best word shown, with the bound.

    Examples
    --------
    >>> from heuristics import Oracle
    >>> from heuristics.testing import Routed, losses
    >>> oracle = Oracle(Routed(losses((1.0, 6.0))))
    >>> cost = oracle((0, 1, 1, 1)).objective
    >>> proved(oracle, cost, "it was looked up").extra["argument"]
    'it was looked up'
    """
    oracle.report(bound=bound)
    return oracle.result(stopped_by=stopped_by, extra={"argument": argument} if oracle.meets(bound) else {})
