r"""What strategies for open-loop routing ask of a problem: costs of gaps.

Packets come one by one, slot by slot, and each is sent to one of M servers. A server that gets a packet d slots after
its last one costs :math:`f_m(d)`, convex in the gap d; a word of length n that is repeated for ever costs

.. math:: g = \frac1n \sum_m \sum_j f_m(\delta^m_j)

a slot, the sum over all gaps of all servers. Where :math:`f_m(d) = a_m d + C_m + r_m(d)` with a remainder that falls to
0, a server never used costs its slope :math:`a_m` a slot; where :math:`f_m` rises faster than linearly
(:math:`a_m = \infty`), every server has to be used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from ..protocols import Matrix, Problem, Vector, Whole
from ..running import explain_refusal


@dataclass(frozen=True, eq=False)
class GapTable:
    """Costs of gaps, server by server.

    Attributes
    ----------
    costs
        What gaps of 1, 2, ... slots cost, a row for each server: convex.
    slopes
        What a slot costs in a long gap, in the limit: infinite where gaps cost more and more, nan where nobody knows.
    limits
        What a long gap costs beyond its slope, in the limit; nan where there is no limit, or nobody knows it.

    Examples
    --------
    >>> costs = np.array([[1.0, 4.0, 9.0], [2.0, 8.0, 18.0]])
    >>> table = GapTable(costs, slopes=np.full(2, np.inf), limits=np.full(2, np.nan))
    >>> table.servers, table.count, table.known
    (2, 3, True)
    """

    costs: Matrix
    slopes: Vector
    limits: Vector

    @property
    def servers(self) -> int:
        """Number of servers."""
        return int(self.costs.shape[0])

    @property
    def count(self) -> int:
        """Longest gap in the table."""
        return int(self.costs.shape[1])

    @property
    def known(self) -> bool:
        """Whether all slopes are known: without them nothing is proved."""
        return not bool(np.any(np.isnan(self.slopes)))


#: Costs of gaps up to a number.
GapTables: TypeAlias = Callable[[int], GapTable]

#: Called a few times a second; may raise.
Pause: TypeAlias = Callable[[], None]


def no_pause() -> None:
    """Go on at once."""


@runtime_checkable
class RoutedProblem(Problem, Protocol):
    """A problem whose decisions are words of server numbers, one period each, evaluated by the costs of their gaps.

    ``gap_table(count)`` has the costs of gaps up to `count`; ``unroutable()`` tells in a sentence why the best of all
    words is not what the problem asks for, else ``None``.
    """

    @property
    def server_count(self) -> int: ...
    def gap_table(self, count: int) -> GapTable: ...
    def unroutable(self) -> str | None: ...


def refuses_prices(strategy: str, problem: Problem) -> str | None:
    """Refuse a problem in which something else than gaps has a price: it may say so by a method ``unpriced``.

    Parameters
    ----------
    strategy
        The name of the strategy that would be asked.
    problem
        Any problem.

    Returns
    -------
    str or None
        One sentence; ``None`` where nothing else has a price.

    Examples
    --------
    >>> from heuristics.testing import Routed, losses
    >>> refuses_prices("balanced", Routed(losses((1.0, 6.0)))) is None
    True
    """
    unpriced: Callable[[], str | None] | None = getattr(problem, "unpriced", None)
    return explain_refusal(strategy, problem, unpriced() if unpriced is not None else None)


def word_cost(table: GapTable, word: ArrayLike) -> float:
    r"""Compute what a word costs a slot, :math:`\frac1n \sum_m \sum_j f_m(\delta^m_j)`.

    Parameters
    ----------
    table
        Costs of gaps; longer ones are charged along the slope at its end.
    word
        The server of each packet of one period.

    Returns
    -------
    float
        The mean cost; infinite where a server is never used whose slope is infinite, or unknown.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
    Applied Probability* 37 (2000), 668-684, eq. (6).

    Examples
    --------
    >>> squares = np.array([[1.0, 4.0, 9.0]] * 2)
    >>> word_cost(GapTable(squares, np.full(2, np.inf), np.full(2, np.nan)), (0, 1))
    4.0
    """
    letters = np.ascontiguousarray(word, dtype=np.int64)
    return float(cyclic_cost(table.costs, later_slopes(table), table.slopes, letters))


def later_slopes(table: GapTable) -> Vector:
    """Find the slopes at the end of a table, along which costs go on there: not above the true ones, hardly below.

    Parameters
    ----------
    table
        Costs of gaps.

    Returns
    -------
    array of float
        A slope for each server; in a table of one gap the limit where it is finite, else 0.

    Examples
    --------
    >>> later_slopes(GapTable(np.array([[1.0, 4.0, 9.0]]), np.array([np.inf]), np.array([np.nan]))).tolist()
    [5.0]
    """
    if table.count == 1:
        return np.where(np.isfinite(table.slopes), table.slopes, 0.0)
    slopes: Vector = table.costs[:, -1] - table.costs[:, -2]
    return slopes


@njit(cache=True)
def cyclic_cost(costs: Matrix, later: Vector, slopes: Vector, word: Whole) -> float:
    """Compute the mean cost of a word, for kernels; see `word_cost`.

    Parameters
    ----------
    costs
        What gaps of 1, 2, ... slots cost, a row for each server.
    later
        Slopes at the end of the rows, see `later_slopes`.
    slopes
        What a server costs that is never used; nan, unknown, counts as infinite.
    word
        The server of each packet of one period.

    Returns
    -------
    float
        The mean cost of a slot.

    Examples
    --------
    >>> squares = np.array([[1.0, 4.0, 9.0]] * 2)
    >>> cyclic_cost(squares, np.full(2, 5.0), np.full(2, np.inf), np.array([0, 1]))
    4.0
    """
    servers = len(costs)
    length = len(word)
    first, last = np.full(servers, -1), np.full(servers, -1)
    total = 0.0
    for slot in range(length):
        m = word[slot]
        if last[m] < 0:
            first[m] = slot
        else:
            total += gap_cost(costs, later, m, slot - last[m])
        last[m] = slot
    never = 0.0
    for m in range(servers):
        if last[m] >= 0:
            total += gap_cost(costs, later, m, first[m] + length - last[m])
        else:
            never += math.inf if math.isnan(slopes[m]) else slopes[m]
    return total / length + never


@njit(cache=True)
def gap_cost(costs: Matrix, later: Vector, server: int, gap: int) -> float:
    """Look up what a gap costs, beyond the table along the slope at its end."""
    count = costs.shape[1]
    if gap <= count:
        return float(costs[server, gap - 1])
    return float(costs[server, count - 1] + (gap - count) * later[server])
