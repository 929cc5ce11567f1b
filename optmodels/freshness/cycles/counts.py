r"""How often pages are visited in the best cycle at least: a bound, and beginnings for searches.

A page with n visits in a cycle of T slots has gaps that add up to T. The sum of a convex cost over them is least if
they differ by one at most, so the page costs :math:`C_i(n)` at least, with :math:`\lfloor T/n \rfloor` and one more as
gaps, and its weight if n = 0. :math:`C_i` is convex in n: the function that interpolates the cost of a gap between
whole numbers is convex, :math:`n \mapsto n\,f(T/n)` is its perspective, and the first visit gains more than any other.
The least :math:`\sum_i C_i(n_i)` over :math:`\sum n_i \le m T` is then found by giving one visit after the other to the
page that gains most; that stays true with least visits of pages and most visits of hosts, which are nested sets (a
polymatroid, Edmonds 1970). No cycle costs less. The bound knows that visits are whole numbers, as that of whole gaps
(:mod:`queueing.freshness.whole_gaps`) does not; what it does not know is that pages get in the way of one another.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from queueing.freshness import Traits
from queueing.processes import exp_excess

from ..rules import TOLERANCE, Indices, Rules, Vector

#: Larger tables of costs, pages times slots, are not made.
MOST_COSTS = 5_000_000


@dataclass(frozen=True, eq=False)
class CountBound:
    """Costs of pages by their visits in a cycle, and the visits of least cost.

    Parameters
    ----------
    traits, rules
        The pages, and what visits must keep to; with a length of the cycle.

    Examples
    --------
    >>> from queueing import Constant, traits
    >>> found = CountBound(traits([0.5, 0.1], [1.0, 2.0], Constant(1.0)), Rules(2, cycle=3))
    >>> found.visits.tolist(), round(found.bound, 6)
    ([2, 1], 0.588395)
    """

    traits: Traits
    rules: Rules

    @property
    def slots(self) -> int:
        """Of the cycle of a robot."""
        assert self.rules.cycle is not None
        return self.rules.cycle

    @cached_property
    def costs(self) -> Vector:
        """By page and number of visits: what the page costs at least."""
        traits = self.traits
        table: Vector = _even_costs(traits.weights, traits.loads, traits.decays, traits.deficits, self.slots)
        return table

    @cached_property
    def least(self) -> Indices:
        """Fewest visits of each page."""
        if self.rules.minimum is None:
            return np.zeros(self.rules.pages, dtype=np.int64)
        return np.ceil(self.rules.minimum * self.slots * (1.0 - TOLERANCE)).astype(np.int64)

    @cached_property
    def room(self) -> Indices | None:
        """Most visits of each host; ``None``: nothing is asked of hosts."""
        rules = self.rules
        if rules.shares is None or rules.hosts is None:
            return None
        most = np.full(rules.host_count, rules.robots * self.slots, dtype=np.float64)
        if rules.caps is not None:
            most = np.minimum(most, np.floor(rules.caps * self.slots * (1.0 + 2.0 * TOLERANCE)))
        if rules.gap > 1:  # and one robot
            most = np.minimum(most, self.slots // rules.gap)
        return most.astype(np.int64)

    def infeasibility(self) -> str | None:
        """Say why no cycle keeps the rules, where numbers of visits tell it."""
        least, room, slots = self.least, self.room, self.slots
        if least.max() > slots:  # only by rounding: a least frequency is 1 at most
            return f"page {int(np.argmax(least))} asks for more than {slots} visits in {slots} slots."
        if least.sum() > self.rules.robots * slots:
            return (
                f"least frequencies ask for {int(least.sum())} whole visits, and all cycles together have "
                f"{self.rules.robots * slots} slots; longer ones may do."
            )
        if room is not None:
            assert self.rules.hosts is not None
            wanted = np.bincount(self.rules.hosts, weights=least, minlength=len(room))
            over = np.flatnonzero(wanted > room)
            if len(over):
                host = int(over[0])
                return (
                    f"least frequencies of the pages on host {self.rules.label(host)} ask for {int(wanted[host])} "
                    f"whole visits in a cycle of {slots} slots, and the host may have {int(room[host])}."
                )
        return None

    @cached_property
    def visits(self) -> Indices:
        """The visits of least cost in a cycle; with several robots in all of their cycles."""
        counts = self.least.copy()
        room, hosts = self.room, self.rules.hosts
        left = None
        if room is not None and hosts is not None:
            left = room - np.bincount(hosts, weights=counts, minlength=len(room)).astype(np.int64)
        gains = -np.diff(self.costs, axis=1)
        heap = [
            (-float(gains[page, count]), page)
            for page, count in enumerate(counts.tolist())
            if count < self.slots and gains[page, count] > 0
        ]
        heapq.heapify(heap)
        free = self.rules.robots * self.slots - int(counts.sum())
        while heap and free > 0:
            _, page = heapq.heappop(heap)
            if left is not None:
                assert hosts is not None
                if left[hosts[page]] <= 0:
                    continue
                left[hosts[page]] -= 1
            counts[page] += 1
            free -= 1
            if counts[page] < self.slots and gains[page, counts[page]] > 0:
                heapq.heappush(heap, (-float(gains[page, counts[page]]), page))
        return counts

    @property
    def bound(self) -> float:
        """No cycle has a lower obsolescence; ``-inf`` for more pages and slots than are looked at."""
        if self.rules.pages * self.slots > MOST_COSTS or self.infeasibility() is not None:
            return -math.inf
        return math.fsum(self.costs[np.arange(self.rules.pages), self.visits])


@njit(cache=True)
def _even_costs(weights: Vector, loads: Vector, decays: Vector, deficits: Vector, slots: int) -> Vector:
    costs = np.zeros((len(weights), slots + 1))
    for page in range(len(weights)):
        if loads[page] == 0.0:
            continue
        costs[page, 0] = weights[page]
        for count in range(1, slots + 1):
            short = slots // count
            long = slots - count * short
            missed = (count - long) * exp_excess(decays[page] * short) + long * exp_excess(decays[page] * (short + 1))
            costs[page, count] = weights[page] * min(1.0, (deficits[page] + missed / slots) / loads[page])
    return costs


@njit(cache=True)
def gap_costs(weights: Vector, loads: Vector, decays: Vector, deficits: Vector, slots: int) -> Vector:
    r"""Cost of each page by gap d = 0..T: what one gap of d slots contributes, :math:`c_i ((q_i - \ell_i) d + E(\ell_i
    d)) / (q_i T)`; they add up to the cost of the page, as its gaps add up to T.
    """  # noqa: D205 - one sentence
    costs = np.zeros((len(weights), slots + 1))
    for page in range(len(weights)):
        if loads[page] == 0.0:
            continue
        for gap in range(1, slots + 1):
            missed = deficits[page] * gap + exp_excess(decays[page] * gap)
            costs[page, gap] = weights[page] * missed / (loads[page] * slots)
    return costs
