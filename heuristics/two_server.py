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
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .balanced import OF_DENSITIES, is_convex, proved
from .lagrangian import last_word
from .oracle import Oracle
from .result import Result
from .routing import GapTable, RoutedProblem
from .routing_index import dual_bound

#: Gaps in the first table; longest periods, and those where slopes are not known, so that nothing would be proved.
FEWEST, MOST, MOST_UNPROVED = 64, 1_000_000, 4096


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
    """

    rare: int
    usual: int
    period: int
    cost: float
    bound: float

    @property
    def word(self) -> tuple[int, ...]:
        """One period."""
        return (self.rare,) + (self.usual,) * (self.period - 1) if self.period else (self.usual,)


def closed_form(gap_table: Callable[[int], GapTable], pause: Callable[[], None] | None = None) -> Split:
    """The best word for two servers, from tables that are doubled until they are long enough.

    Parameters
    ----------
    gap_table
        Of two servers.
    pause
        Called between tables: may raise.
    """
    count = FEWEST
    while True:
        table = gap_table(count)
        periods = [_first_period(table, rare, count) for rare in (0, 1)]
        most = MOST if table.known else MOST_UNPROVED
        if None not in periods or count > most:
            break
        if pause is not None:
            pause()
        count = min(2 * count, most + 1)
    candidates = []
    for rare, period in enumerate(periods):
        # Where no period is long enough for the table, the longest is the best of those that are in it.
        for nearby in {0, *(range(period - 1, period + 2) if period else (count - 1,))}:
            if nearby == 0 or 2 <= nearby < count:
                candidates.append((_cost(table, rare, nearby), nearby, rare))
    cost, period, rare = min(candidates)
    price = max(_index(table, m, 1) for m in ((0, 1) if period == 2 else (1 - rare,)))
    return Split(rare, 1 - rare, period, cost, dual_bound(table, price) if is_convex(table) else -math.inf)


def _first_period(table: GapTable, rare: int, count: int) -> int | None:
    """The first n >= 2 at which the index is high enough; 0 where none is; ``None`` where the table is too short."""
    level = _index(table, 1 - rare, 1)
    if math.isfinite(table.slopes[rare]) and -table.limits[rare] <= level:
        return 0
    low, high = 2, count - 1
    if _index(table, rare, high) < level:
        return None
    while low < high:
        middle = (low + high) // 2
        if _index(table, rare, middle) >= level:
            high = middle
        else:
            low = middle + 1
    return low


def _index(table: GapTable, server: int, gap: int) -> float:
    """The index at a gap; a slope, which it does not depend on, is left out of the costs to keep digits."""
    slope = table.slopes[server] if math.isfinite(table.slopes[server]) else 0.0
    costs = table.costs[server]
    here, after = float(costs[gap - 1] - slope * gap), float(costs[gap] - slope * (gap + 1))
    return gap * after - (gap + 1) * here


def _cost(table: GapTable, rare: int, period: int) -> float:
    """What the word of a period costs a slot."""
    usual = table.costs[1 - rare]
    if period == 0:
        slope = float(table.slopes[rare])
        return float(usual[0]) + (math.inf if math.isnan(slope) else slope)
    return float((table.costs[rare, period - 1] + (period - 2) * usual[0] + usual[1]) / period)


@dataclass(frozen=True)
class TwoServer:
    """The best word for two servers in closed form, and its proof; for all periods up to a million.

    ``extra.argument`` says why nothing is better.
    """

    name: ClassVar[str] = "two-server"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False
    linear_cost_only: ClassVar[bool] = True

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse other numbers of servers, and words that are not free."""
        if problem.servers != 2:
            return f"strategy {self.name!r} takes two servers, and {problem.name!r} has {problem.servers}."
        sentence = problem.unroutable()
        return None if sentence is None else f"strategy {self.name!r} cannot take {problem.name!r}: {sentence}"

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Find the period, show the word."""
        oracle.require()
        with oracle.in_time():
            found = closed_form(oracle.problem.gap_table, oracle.require)
        late = oracle.remaining_seconds <= 0
        last_word(oracle, found.word)
        return proved(oracle, found.bound, OF_DENSITIES, "seconds" if late else "complete")
