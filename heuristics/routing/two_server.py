r"""Two servers need no search: one packet for the one, then n - 1 for the other, and n is found by bisection.

Used at a density x, with gaps as even as whole slots can be, server s costs :math:`\varphi_s(x)`, convex and linear
between the densities :math:`1/d`, with slope :math:`-\theta_s(d)` between :math:`1/(d + 1)` and :math:`1/d`, where

.. math::  \theta_s(d) = d f_s(d + 1) - (d + 1) f_s(d)

rises with d. No word is cheaper than :math:`\varphi_s(x) + \varphi_o(1 - x)`; with :math:`x \le 1/2` the other server
has gaps of 1 and 2 only, so this is least at :math:`x = 1/n` with the first n >= 2 such that
:math:`\theta_s(n) \ge \theta_o(1) = f_o(2) - 2 f_o(1)`, and the word :math:`s\, o^{n-1}` attains it. This holds for all
convex costs and all stationary arrivals [1]_ shows the form for. Where :math:`\theta_s` stays below, up to its limit
:math:`-C_s`, server s is best never used.

References
----------
.. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684, section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from ..oracle import Oracle
from ..protocols import Matrix, Vector
from ..result import Result, meets
from ..running import explain_refusal, last_word
from .balanced import OF_DENSITIES, is_convex, proved
from .problem import GapTable, GapTables, Pause, RoutedProblem, no_pause
from .server_densities import ROUNDING, dual_bound

#: Gaps in the first table; longest periods, and those where slopes are not known, so that nothing would be proved.
FEWEST, MOST, MOST_UNPROVED = 64, 1_000_000, 4096

#: Why a word may not be proved best.
UNKNOWN_SLOPES = "what a slot costs in a long gap is not known, so that nothing is known of long periods"
NOT_CONVEX = "costs of gaps are not convex, up to rounding, as far as they were looked at"
TOO_LONG = f"the best period may be longer than {MOST} slots, the longest looked at"
TOO_FEW_DIGITS = "costs of gaps are so near to each other that their digits do not tell which period is best"

#: A period that the table is too short for.
UNKNOWN = -1


@dataclass(frozen=True)
class Split:
    """One packet in `period` for `rare`, the others for `usual`; a period of 0: all for `usual`.

    Attributes
    ----------
    rare, usual
        Servers.
    period
        n.
    cost
        Of the word, per slot.
    bound
        What no word goes below; minus infinity where slopes are not known, or costs not convex.
    unproved
        Why the bound does not prove the word best; ``None`` if it does.

    Examples
    --------
    >>> Split(rare=0, usual=1, period=3, cost=0.1, bound=0.1).word
    (0, 1, 1)
    """

    rare: int
    usual: int
    period: int
    cost: float
    bound: float
    unproved: str | None = None

    @property
    def word(self) -> tuple[int, ...]:
        """One period."""
        return (self.rare,) + (self.usual,) * (self.period - 1) if self.period else (self.usual,)


def closed_form(gap_table: GapTables, pause: Pause = no_pause) -> Split:
    r"""Find the best word for two servers, from tables that are doubled until they are long enough.

    Parameters
    ----------
    gap_table
        Costs of gaps of two servers, up to a number.
    pause
        Called between tables; may raise.

    Returns
    -------
    Split
        The word, what it costs, and a bound that proves it best unless there is a doubt.

    Notes
    -----
    The period is the first :math:`n \ge 2` with :math:`\theta_s(n) \ge f_o(2) - 2 f_o(1)`, where
    :math:`\theta_s(d) = d f_s(d + 1) - (d + 1) f_s(d)`.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
    Applied Probability* 37 (2000), 668-684, section 5.

    Examples
    --------
    >>> from heuristics.testing import losses
    >>> split = closed_form(losses((1.0, 6.0)))
    >>> split.word, round(split.cost, 6), split.unproved
    ((0, 1, 1, 1), 0.092156, None)
    """
    count = FEWEST
    while True:
        table = gap_table(count)
        found = [_first_period(table.costs, table.slopes, table.limits, rare, count) for rare in (0, 1)]
        most = MOST if table.known else MOST_UNPROVED
        if UNKNOWN not in found or count > most:
            break
        pause()
        count = min(2 * count, most + 1)
    best = [_nearby(table.costs, table.slopes, rare, period, count) for rare, period in enumerate(found)]
    rare = 0 if best[0][0] <= best[1][0] else 1
    cost, period = best[rare]
    if not table.known:
        return Split(rare, 1 - rare, period, cost, -math.inf, UNKNOWN_SLOPES)
    if not is_convex(table):
        return Split(rare, 1 - rare, period, cost, -math.inf, NOT_CONVEX)
    price = max(_index(table.costs, table.slopes, m, 1) for m in ((0, 1) if period == 2 else (1 - rare,)))
    bound = max(dual_bound(table, price), _certified(table, rare, period))
    reason = None
    if not meets(bound, cost):
        reason = TOO_LONG if UNKNOWN in found else TOO_FEW_DIGITS
    return Split(rare, 1 - rare, period, cost, bound, reason)


def _certified(table: GapTable, rare: int, period: int) -> float:
    """Compute what the word costs, less rounding, if indices say beyond doubt that its gaps are cheapest at one price.

    At a price between the indices of both servers at the gaps n - 1 and n (the usual server: at its gap 1, where two
    gaps cost the same) no server has cheaper gaps, and densities add up to 1, so that the price itself cancels: nothing
    is lost where it is much larger than the cost. Minus infinity if rounding leaves a doubt.
    """
    usual, costs, slopes = 1 - rare, table.costs, table.slopes
    level = _index(costs, slopes, usual, 1)
    doubt = _doubt(table, usual, 1)
    if period == 0:
        certain = math.isfinite(slopes[rare]) and level - doubt >= -table.limits[rare]
        terms = [costs[usual, 0], slopes[rare]]
    elif period == 2:
        low = max(_index(costs, slopes, m, 1) + _doubt(table, m, 1) for m in (0, 1))
        certain = low <= min(_index(costs, slopes, m, 2) - _doubt(table, m, 2) for m in (0, 1))
        terms = [costs[m, 1] / 2 for m in (0, 1)]
    else:
        before, after = (_index(costs, slopes, rare, gap) for gap in (period - 1, period))
        margin = doubt + _doubt(table, rare, period)
        certain = before + margin <= level <= after - margin
        terms = [costs[rare, period - 1] / period, (period - 2) * costs[usual, 0] / period, costs[usual, 1] / period]
    return math.fsum(terms) - ROUNDING * math.fsum(map(abs, terms)) if certain else -math.inf


def _doubt(table: GapTable, server: int, gap: int) -> float:
    """Bound by how much rounding may have moved an index."""
    slope = abs(table.slopes[server]) if math.isfinite(table.slopes[server]) else 0.0
    here, after = (abs(table.costs[server, at]) for at in (gap - 1, gap))
    return float(ROUNDING * (gap + 1) * (here + after + 2 * slope * (gap + 1)))


@njit(cache=True)
def _first_period(costs: Matrix, slopes: Vector, limits: Vector, rare: int, count: int) -> int:
    """Find the first n >= 2 whose index is high enough, 0 where none is, `UNKNOWN` where the table is too short."""
    level = _index(costs, slopes, 1 - rare, 1)
    if math.isfinite(slopes[rare]) and -limits[rare] <= level:
        return 0
    low, high = 2, count - 1
    if _index(costs, slopes, rare, high) < level:
        return UNKNOWN
    while low < high:
        middle = (low + high) // 2
        if _index(costs, slopes, rare, middle) >= level:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def _index(costs: Matrix, slopes: Vector, server: int, gap: int) -> float:
    """Compute the index at a gap; a slope, which it does not depend on, is left out of the costs to keep digits."""
    slope = slopes[server] if math.isfinite(slopes[server]) else 0.0
    here, after = costs[server, gap - 1] - slope * gap, costs[server, gap] - slope * (gap + 1)
    return float(gap * after - (gap + 1) * here)


@njit(cache=True)
def _nearby(costs: Matrix, slopes: Vector, rare: int, period: int, count: int) -> tuple[float, int]:
    """Find the least cost at a period, beside it, where rounding may have put the best one, or without the rare server.

    Where no period in the table is long enough, the longest is the best of them.
    """
    usual = costs[1 - rare]
    least, best = usual[0] + (math.inf if math.isnan(slopes[rare]) else slopes[rare]), 0
    middle = count - 1 if period == UNKNOWN else period
    if middle > 0:
        for n in range(max(2, middle - 1), min(middle + 2, count)):
            cost = (costs[rare, n - 1] + (n - 2) * usual[0] + usual[1]) / n
            if cost < least:
                least, best = cost, n
    return least, best


@dataclass(frozen=True)
class TwoServer:
    """Find the best sequence for two servers in closed form, with a proof, over all periods up to a million.

    ``extra.argument`` says why nothing is better, or ``extra.unproved`` why that is not certain.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
    Applied Probability* 37 (2000), 668-684, section 5.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Routed, losses
    >>> result = run(Routed(losses((1.0, 6.0))), TwoServer())
    >>> result.decision, result.status.value
    ((0, 1, 1, 1), 'optimal')
    """

    name: ClassVar[str] = "two-server"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False
    linear_cost_only: ClassVar[bool] = True

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse other numbers of servers, and words that are not free."""
        if problem.server_count != 2:
            return f"strategy {self.name!r} is for two servers, and {problem.name!r} has {problem.server_count}."
        return explain_refusal(self.name, problem, problem.unroutable())

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Find the period, show the word."""
        return show(oracle, find(oracle))


def find(oracle: Oracle[RoutedProblem]) -> Split:
    """Find the closed form for a problem with two servers, in the time there is."""
    oracle.require()
    with oracle.in_time():
        return closed_form(oracle.problem.gap_table, oracle.require)


def show(oracle: Oracle[RoutedProblem], found: Split) -> Result:
    """Show the word, and tell what is proved about it."""
    late = oracle.remaining_seconds <= 0
    last_word(oracle, found.word)
    if found.unproved is not None:
        oracle.extra["unproved"] = found.unproved
    return proved(oracle, found.bound, OF_DENSITIES, "seconds" if late else "complete")
