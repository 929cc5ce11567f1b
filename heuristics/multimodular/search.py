r"""Local search in the neighbourhood of multimodular functions, and what it proves.

For two servers and finitely many packets, with the initial state and the terminal cost of [1]_, costs are multimodular:
a word that no neighbour betters is optimal, whatever the length. For words that are repeated for ever they are not
(from four slots on, against Lemma 4.3 and Theorem 4.4 of [1]_), though no search from any start was seen to fail for
two servers. What is proved about these is proved by a bound. For three servers and more, searches over pairs of servers
do stop at words that are not the best: at (1, 0, 2, 0) for pages that change at rates 1.0012, 1.3482 and .7602, visited
at the times of a Poisson process of rate 1 and weighted by their rates, where (0, 1, 2, 1) is 1.2 % better.

Two servers and finitely many packets are multimodular for the following reason, which also finds the best neighbour.
Write :math:`p_t` for the packets of server 1 among the first t, and :math:`F_m(t)` for the cost of a first gap that
ends after t packets. Other gaps cost :math:`f_m(d) = f_m(1) + \Delta_m (d - 1) + \sum_k c_{m,k} (d - k)^+`, and
:math:`\sum_j (d_j - k)^+` counts the windows of k slots in which server m gets nothing. So it costs, up to a constant,

.. math::
    (f_m(1) - \Delta_m) P_m + \sum_{i < j} w_m(i, j) [\text{server m gets nothing in slots } i + 1, \dots, j], \qquad
    w_m(0, j) = F_m(j) - F_m(j - 1) - (f_m(j) - f_m(j - 1)), \quad w_m(i, j) = c_{m, j-i} \; (i > 0),

:math:`P_m` the packets it gets (and :math:`w_m(0, 1)` with :math:`\Delta_m` for what is subtracted). Empty is
:math:`(1 - (p_j - p_i))^+ = 1` for server 1, and :math:`(1 - (j - i) + (p_j - p_i))^+ = 1` for server 0: convex
functions of differences. So the cost is L-natural convex in p, that is, multimodular in the word, if no w(i, j) with
:math:`j > i + 1` is negative, as is the case where :math:`f_m` is convex and :math:`F_m(t) = f_m(x_m + t)`. This is
checked, and weights that are negative, by rounding or in truth, are charged to the bound.

If no neighbour of x costs less than :math:`g(x) - \varepsilon`, no word does less than :math:`g(x) - T \varepsilon`:
on the line to any word, convex, the first atom ends no earlier than after a T-th of the way.

References
----------
.. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from .. import interrupting
from ..oracle import BudgetSpent, Oracle
from ..protocols import Problem, Vector, Whole
from ..result import Result
from ..routing import (
    GapTable,
    HorizonCosts,
    closed,
    horizon_costs,
    later_slopes,
    lengths_of,
    proved,
    refuses_lengths,
    refuses_prices,
)
from ..running import require_fields
from .minimum_cuts import best_set
from .words import Descent, WordCosts, evaluate_word

#: Longest words all of whose neighbours are listed, and longest in which four slots are changed at once, not two.
LISTED, FOUR = 24, 64

#: Longest horizon whose neighbours are looked at by minimum cuts.
MOST_PACKETS = 500

#: Slots of words evaluated between two looks at the clock.
SLICE = 2_000_000

#: What a later word must be better by than an earlier one, which may be shorter, relative to its cost.
NOTABLE = 1e-13

#: Starts of each length for three servers and more.
STARTS = 10

#: Why a word for finitely many packets is optimal.
ARGUMENT = "costs of finitely many packets for two servers are multimodular, and no neighbour of the word costs less"

#: What to think of three servers and more.
CAUTION = "searches over pairs of servers may stop at words that are not the best"


@runtime_checkable
class GapProblem(Problem, Protocol):
    """A problem of routing, for ever or once: `RoutedProblem` or `HorizonProblem` of :mod:`heuristics.routing`."""

    @property
    def server_count(self) -> int: ...
    def gap_table(self, count: int) -> GapTable: ...


@dataclass(frozen=True)
class Multimodular:
    """Go to better words in the neighbourhood of multimodular functions until there is none.

    Only neighbours that are words are evaluated: all of them up to 24 slots, else those that differ in at most four
    slots, or in two beyond 64. A finite horizon with two servers is proved optimal, up to 500 packets (beyond 24 the
    best neighbour is a minimum cut); words repeated for ever only where they meet a bound. ``extra.argument`` tells
    which.

    Parameters
    ----------
    max_period
        Longest words; by default those of the problem.
    starts
        Searches for each length: the first begins with the servers in turns, the others at random. By default 1 for two
        servers, and 10 for more.
    """

    max_period: int | None = None
    starts: int | None = None

    name: ClassVar[str] = "multimodular"
    needs: ClassVar[type] = GapProblem
    takes_limits: ClassVar[bool] = False
    linear_cost_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_fields(
            self,
            max_period=(self.max_period is None or self.max_period >= 1, "1 or more"),
            starts=(self.starts is None or self.starts >= 1, "1 or more"),
        )

    def refuses(self, problem: Any) -> str | None:
        """Refuse one server, other prices than those of gaps, and too many packets."""
        if problem.server_count < 2:
            return f"strategy {self.name!r} needs two servers or more, and {problem.name!r} has {problem.server_count}."
        sentence = refuses_prices(self.name, problem)
        if sentence is not None:
            return sentence
        horizon = getattr(problem, "horizon", None)
        if horizon is None:
            return refuses_lengths(self.name, problem, self.max_period)
        if problem.server_count == 2 and horizon > MOST_PACKETS:
            return (
                f"strategy {self.name!r} handles up to {MOST_PACKETS} packets for two servers, and {problem.name!r} "
                f"has {horizon}; 'backward-induction' handles more."
            )
        return None

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Search from all starts, then say what is proved."""
        if getattr(oracle.problem, "horizon", None) is None:
            return self._for_ever(oracle, rng)
        return self._once(oracle, rng)

    def _for_ever(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Search words of all lengths that are repeated for ever."""
        problem = oracle.problem
        lengths = lengths_of(problem, self.max_period)
        table = problem.gap_table(max(lengths))
        costs = WordCosts(table.costs, later=later_slopes(table), slopes=table.slopes)
        for length in lengths:
            self._search(oracle, costs, length, rng)
        return closed(oracle)

    def _once(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Search words for a finite horizon."""
        horizon, servers = oracle.problem.horizon, oracle.problem.server_count
        finite = horizon_costs(oracle.problem)
        costs = WordCosts(finite.later, first=finite.first)
        if servers > 2:
            self._search(oracle, costs, horizon, rng)
            return oracle.result()
        if not np.all(np.isfinite(finite.first)):  # a gap without end that costs without end, whatever is done
            return oracle.result(tuple(next(self._begun(horizon, servers, rng)).tolist()))
        windows = Windows(finite)
        bounds = []
        for start in self._begun(horizon, servers, rng):
            if horizon <= LISTED:
                found = Descent(costs, start)
                descended(oracle, found)
                cost, doubt = found.cost, 2 * found.progress
            else:
                cost, doubt = cut_descent(oracle, costs, windows, start)
            bounds.append(cost - horizon * doubt - (horizon + 1) * windows.negative)
        return proved(oracle, max(bounds), ARGUMENT)

    def _search(self, oracle: Oracle[Any], costs: WordCosts, length: int, rng: np.random.Generator) -> None:
        """Search words of one length from all starts."""
        if oracle.problem.server_count > 2:
            oracle.extra["caution"] = CAUTION
        deepest = length if length <= LISTED else 4 if length <= FOUR else 2
        for start in self._begun(length, oracle.problem.server_count, rng):
            descended(oracle, Descent(costs, start, deepest))

    def _begun(self, length: int, servers: int, rng: np.random.Generator) -> Iterator[Whole]:
        """Starts of one length: in turns, then at random."""
        yield np.arange(length) % servers
        for _ in range((self.starts or (1 if servers == 2 else STARTS)) - 1):
            yield rng.integers(servers, size=length)


def descended(oracle: Oracle[Any], descent: Descent) -> None:
    """Follow a walk to its end, slice by slice; the best word is shown whatever ends it."""
    size = max(1, SLICE // len(descent.word))
    try:
        while not descent.done:
            oracle.require()
            oracle.charge(descent.follow(int(min(size, oracle.remaining_evaluations))))
    except (BudgetSpent, KeyboardInterrupt):
        oracle.confirm(descent.reached)
        raise
    best = math.inf if oracle.best is None else oracle.best.evaluation.objective
    if math.isinf(best) or descent.cost < best - NOTABLE * abs(best):
        # A word that leaves out a server that must be used may be no answer.
        oracle.confirm(descent.reached, descent.cost if math.isfinite(descent.cost) else None)


def cut_descent(oracle: Oracle[Any], costs: WordCosts, windows: Windows, start: Whole) -> tuple[float, float]:
    """Go to best neighbours, found by cuts: the cost reached, and what neighbours may cost less by."""
    word, cost = start, evaluate_word(costs, start)
    progress = costs.rounding(start)
    try:
        while True:
            oracle.require()
            with oracle.in_time():
                interrupting.check()
                better, wrong = windows.step(word)
            oracle.charge(1)
            value = evaluate_word(costs, better)
            if not value < cost - progress:
                break
            word, cost = better, value
    except (BudgetSpent, KeyboardInterrupt):
        oracle.confirm(tuple(word.tolist()))
        raise
    oracle.confirm(tuple(word.tolist()), cost)
    return cost, 2 * progress + wrong


class Windows:
    """Costs of a finite horizon as a sum over windows of slots.

    Attributes
    ----------
    first, second
        i and j of the windows.
    ones, zeros
        :math:`w_1` and :math:`w_0`.
    price
        What one more packet for server 1, and one less for server 0, costs beyond windows.
    negative
        Sum of the weights that are negative and should not be.
    """

    def __init__(self, costs: HorizonCosts) -> None:
        horizon = costs.horizon
        self.first, self.second = np.triu_indices(horizon + 1, 1)
        self.zeros, self.ones = (self._weights(costs, m) for m in (0, 1))
        long = self.second - self.first > 1
        self.negative = float(sum(-weights[long & (weights < 0)].sum() for weights in (self.zeros, self.ones)))
        bends = costs.later[:, 1] - costs.later[:, 0] if horizon > 1 else np.zeros(2)
        prices = costs.later[:, 0] - bends
        self.price = float(prices[1] - prices[0])

    def _weights(self, costs: HorizonCosts, server: int) -> Vector:
        later, first = costs.later[server], costs.first[server]
        horizon = costs.horizon
        bends = np.zeros(horizon + 1)
        bends[2:horizon] = later[2:] - 2 * later[1:-1] + later[:-2]
        rises = np.zeros(horizon + 1)
        rises[2:] = np.diff(later)
        rises[1] = rises[2] if horizon > 1 else 0.0
        begins = np.concatenate([[0.0], np.diff(first)]) - rises
        return np.where(self.first == 0, begins[self.second], bends[self.second - self.first])

    def step(self, word: Whole) -> tuple[Whole, float]:
        """The best neighbour of a word by one minimum cut, and what the cut may be wrong by."""
        sums = np.concatenate([[0], np.cumsum(word)])
        i, j = self.first, self.second
        ones = sums[j] - sums[i]
        zeros = j - i - ones
        here = self.empty(ones, zeros)
        only_second, only_first = self.empty(ones + 1, zeros - 1) - here, self.empty(ones - 1, zeros + 1) - here
        slot = j - i == 1
        full = slot & (ones == 1)  # may be emptied, not filled
        sizes = np.where(full, -only_first, only_second)
        single = np.zeros(len(sums))
        np.add.at(single, j, sizes)
        np.add.at(single, i, -sizes)
        single[-1] += self.price
        single[0] -= self.price
        tails, heads = np.where(full, j, i), np.where(full, i, j)
        capacities = np.where(slot, np.inf, np.maximum(only_first + only_second, 0.0))
        kept = capacities > 0
        chosen = best_set(single, tails[kept], heads[kept], capacities[kept])
        # Edges of a cut are full but for rounding in the last digit of the largest capacity.
        largest = max(float(capacities[~slot].max(initial=0.0)), float(np.abs(single).max()))
        wrong = 4 * (int(np.count_nonzero(kept)) + len(single)) * float(np.finfo(float).eps) * largest
        raised = chosen.astype(np.int64)
        return word + raised[1:] - raised[:-1], wrong

    def empty(self, ones: Whole, zeros: Whole) -> Vector:
        """What windows cost with so many packets for each server."""
        found: Vector = self.ones * np.maximum(1 - ones, 0) + self.zeros * np.maximum(1 - zeros, 0)
        return found
