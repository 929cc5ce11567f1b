r"""How often each server can be used in the best words of T slots, and with which gaps.

Where only numbers of packets have to add up, n packets to server m cost the least sum of n gaps that add up to T,

.. math::  C_m(n) = \min \Big\{ \sum_{j=1}^n f_m(d_j) : \sum_j d_j = T \Big\}, \qquad C_m(0) = c_m,

and no word costs less than :math:`\min \{\sum_m C_m(n_m) : \sum_m n_m = T\}`. Both are found by dynamic programming for
any costs, convex or not. A word whose cost is known rules out all numbers and gaps with which this bound is above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Counts:
    """Least costs by numbers of packets.

    Parameters
    ----------
    costs
        What gaps of 1, 2, ..., T slots cost, a row for each server.
    unused
        What a server costs that is never used; infinite where it must be.
    """

    costs: Numbers
    unused: Numbers

    @property
    def slots(self) -> int:
        """Number of slots of a word, T."""
        return int(self.costs.shape[1])

    @cached_property
    def sums(self) -> list[Numbers]:
        """By server: entry [n, s] is the least cost of n gaps that add up to s."""
        found = []
        for row in self.costs:
            best = np.full((self.slots + 1, self.slots + 1), np.inf)
            best[0, 0] = 0.0
            for n in range(1, self.slots + 1):
                for gap in range(1, self.slots + 1):
                    np.minimum(best[n, gap:], row[gap - 1] + best[n - 1, :-gap], out=best[n, gap:])
            found.append(best)
        return found

    @cached_property
    def least(self) -> Numbers:
        """What n = 0, 1, ..., T packets to a server cost at least, a row for each server."""
        rows = np.array([best[:, self.slots] for best in self.sums])
        rows[:, 0] = self.unused
        return rows

    @cached_property
    def _from_front(self) -> list[Numbers]:
        """By server: what numbers of packets to those before it cost at least."""
        found = [np.where(np.arange(self.slots + 1) == 0, 0.0, np.inf)]
        for row in self.least:
            found.append(_together(found[-1], row))
        return found

    @cached_property
    def others(self) -> Numbers:
        """What 0, 1, ..., T packets to all servers but one cost at least, a row for each server."""
        rows, after = [], self._from_front[0]
        for m in reversed(range(len(self.least))):
            rows.append(_together(self._from_front[m], after))
            after = _together(after, self.least[m])
        return np.array(rows[::-1])

    @property
    def bound(self) -> float:
        """No word costs less."""
        return float(self._from_front[-1][self.slots])

    def best(self) -> list[int]:
        """Numbers of packets at which the bound is met."""
        left, found = self.slots, []
        for m in reversed(range(len(self.least))):
            n = int(np.argmin(self.least[m, : left + 1] + self._from_front[m][left::-1]))
            found.append(n)
            left -= n
        return found[::-1]

    def with_number(self) -> Numbers:
        """Bound the cost of words in which a server has 0, 1, ..., T packets, a row for each server."""
        bounds: Numbers = self.least + self.others[:, ::-1]
        return bounds

    def with_gap(self) -> Numbers:
        """Bound the cost of words in which a server has a gap of 1, 2, ..., T slots, a row for each server."""
        found = np.empty(self.costs.shape)
        for m, (row, best) in enumerate(zip(self.costs, self.sums, strict=True)):
            rest = self.others[m, self.slots - 1 :: -1, None] + best[:-1]  # n - 1 gaps more, T - n packets elsewhere
            found[m] = row + rest.min(axis=0)[self.slots - 1 :: -1]
        return found


def _together(one: Numbers, other: Numbers) -> Numbers:
    """Share numbers of packets between two, at least cost."""
    found = np.full(len(one), np.inf)
    for n, cost in enumerate(one.tolist()):
        if cost < np.inf:
            np.minimum(found[n:], cost + other[: len(one) - n], out=found[n:])
    return found
