r"""The best periodic routing for any number of servers, proved: a cycle of least mean cost on a graph of gaps.

Graphs grow. Each one is a relaxation (:mod:`heuristics.routing_graph`), so that its least mean cost is a lower bound
over all policies, periodic or not; its cycle is a word, whose true cost is an upper one. If the two differ, the word
has gaps that the graph charged too little for, and only the limits of those servers are raised. The first limits are
the gaps at which densities alone would be best (:mod:`heuristics.routing_index`), or a little longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .oracle import Oracle
from .policy_iteration import report_bound
from .result import Result
from .routing import GapTable, RoutedProblem, Vector, Whole, word_cost
from .routing_graph import Charges, GapGraph, Kinds, TooManyStates, carry
from .routing_howard import least_mean_cycle, no_pause
from .routing_index import Densities, densities, exchanged, index_word
from .searching import require_fields

#: A bound this near to the cost of a word, relative, proves it; values of states that improve by less stay as they are.
PROVED, PRECISION = 9e-10, 2e-10


@dataclass(frozen=True, eq=False)
class CycleStep:
    """The best cycle of one graph.

    Attributes
    ----------
    word
        Servers, one period.
    cost
        What it costs in truth.
    lower
        A lower bound on the cost of all words, if all slopes are known.
    limits
        Of the gaps of each server.
    states
        Of the graph.
    iterations
        Of Howard's algorithm.
    """

    word: tuple[int, ...]
    cost: float
    lower: float
    limits: tuple[int, ...]
    states: int
    iterations: int


def best_cycles(
    gap_table: Callable[[int], GapTable],
    found: Densities,
    *,
    upper: float = math.inf,
    states: int = 5_000_000,
    pause: Callable[[], None] = no_pause,
) -> Iterator[CycleStep]:
    """The best cycles of larger and larger graphs, the last one exact.

    Parameters
    ----------
    gap_table
        Costs of gaps up to a number.
    found
        Densities at which to start.
    upper
        The cost of the best word known.
    states
        Most states of a graph.
    pause
        Called a few times a second; may raise.

    Raises
    ------
    TooManyStates
        If the next graph has more.
    """
    kinds = Kinds.of(found.table)
    gaps = found.gaps[kinds.firsts]
    finite = np.isfinite(found.table.slopes[kinds.firsts])
    asymptotic = (gaps == 0) & finite
    limits: Whole = np.where(asymptotic, 1, gaps + 1)
    known: tuple[GapGraph, Vector] | None = None
    while True:
        charges = Charges.of(gap_table(int(limits.max()) + 1), kinds, limits, asymptotic)
        graph = GapGraph.of(limits, kinds.sizes, states, pause)
        values = None if known is None else _carried(graph, *known)
        known = None  # no need to hold both
        precision = PRECISION * abs(upper) if math.isfinite(upper) else 0.0
        cycle = least_mean_cycle(graph.following, graph.gaps, charges.values, values, precision=precision, pause=pause)
        word = kinds.servers(cycle.word)
        longest = _longest_gaps(word, kinds)
        cost = word_cost(gap_table(max(int(longest.max()), 2)), word)
        upper = min(upper, cost)
        yield CycleStep(
            word,
            cost,
            charges.base + cycle.lower,
            kinds.spread(limits),
            graph.states,
            cycle.iterations,
        )
        larger, lines = _grown(limits, asymptotic, longest, finite, best=cost <= upper)
        if np.array_equal(larger, limits) and np.array_equal(lines, asymptotic):
            return
        limits, asymptotic, known = larger, lines, (graph, cycle.values)


def _carried(graph: GapGraph, old: GapGraph, values: Vector) -> Vector:
    carried: Vector = carry(graph.keys, graph.limits, graph.sizes, old.keys, old.places, old.limits, values)
    return carried


def _longest_gaps(word: tuple[int, ...], kinds: Kinds) -> Whole:
    """The longest gap of each kind of server; 0 if one of them is never used."""
    letters, longest = np.array(word), np.zeros(len(kinds.members), np.int64)
    for k, members in enumerate(kinds.members):
        for m in members:
            slots = np.flatnonzero(letters == m)
            gap = int(np.diff(slots, append=slots[0] + len(letters)).max()) if len(slots) else 0
            if gap == 0:
                longest[k] = 0
                break
            longest[k] = max(longest[k], gap)
    return longest


def _grown(
    limits: Whole, asymptotic: NDArray[np.bool_], longest: Whole, finite: NDArray[np.bool_], best: bool
) -> tuple[Whole, NDArray[np.bool_]]:
    """Limits and lines with which the gaps of the cycle would be exact; unchanged where they are."""
    limits, asymptotic = limits.copy(), asymptotic.copy()
    for k, (limit, gap) in enumerate(zip(limits.tolist(), longest.tolist(), strict=True)):
        if gap == 0:
            if asymptotic[k]:
                continue
            if best and finite[k]:  # never to use it may be right
                asymptotic[k] = True
            else:
                limits[k] += max(2, limit // 8)
        elif gap > (limit - 1 if asymptotic[k] else limit + 1):
            asymptotic[k] = False
            # Not all at once: a cycle that is too cheap may have gaps that no good one has.
            limits[k] = max(min(gap - 1, limit + max(2, limit // 2)), limit + max(1, limit // 16))
    return limits, asymptotic


@dataclass(frozen=True)
class MinMeanCycle:
    """The best of all periodic words, by Howard's algorithm on graphs of gaps that grow until the answer is proved.

    The word of the index rule, improved by exchanges, is shown first, together with the integer-density bound, so that
    a run that was stopped has a bracket, too. ``extra`` has the ``limits`` of gaps and the ``states`` of the largest
    graph, the ``bracket``, and the ``density_bound``. Where slopes of costs are unknown nothing is proved.

    Parameters
    ----------
    states
        Most states of a graph; some 60 bytes each.
    """

    states: int = 5_000_000

    name: ClassVar[str] = "min-mean-cycle"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, states=(1 <= self.states < 2**31, "between 1 and 2147483647"))

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse problems that do not ask for the best of all words."""
        sentence = problem.unroutable()
        return None if sentence is None else f"strategy {self.name!r} cannot take {problem.name!r}: {sentence}"

    def prepare(self, problem: RoutedProblem) -> None:
        """Compile."""
        rates = np.array([[0.5], [0.3], [0.1]])
        found = densities(lambda count: GapTable(rates ** np.arange(1, count + 1), np.zeros(3), np.zeros(3)))
        exchanged(found.table, index_word(found))
        for step in best_cycles(lambda count: found.table, found):
            assert step.states > 0

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Show better and better words, report better and better bounds."""
        problem = oracle.problem
        oracle.require()
        with oracle.in_time():
            found = densities(problem.gap_table, oracle.require)
        proving = found.table.known
        word = index_word(found)
        upper = self._show(oracle, word_cost(found.table, word), tuple(word.tolist()))
        if proving:
            oracle.extra["density_bound"] = found.bound
            self._tell(oracle, found.bound, upper)
        word = exchanged(found.table, word)
        upper = self._show(oracle, min(upper, word_cost(found.table, word)), tuple(word.tolist()))
        lower, stopped_by = found.bound, "complete"
        steps = best_cycles(problem.gap_table, found, upper=upper, states=self.states, pause=oracle.require)
        try:
            while not (proving and lower >= upper - PROVED * abs(upper)):
                step = next(steps, None)
                if step is None:
                    break
                upper = self._show(oracle, min(upper, step.cost), step.word)
                oracle.extra |= {"limits": list(step.limits), "states": step.states}
                oracle.extra["iterations"] = oracle.extra.get("iterations", 0) + step.iterations
                if proving:
                    lower = max(lower, step.lower)
                    self._tell(oracle, lower, upper)
        except TooManyStates:
            stopped_by = "states"
        return oracle.result(stopped_by=stopped_by)

    def _show(self, oracle: Oracle[Any], cost: float, word: tuple[int, ...]) -> float:
        """Show a word, unless it is longer than words of the problem may be; the least cost known."""
        if word not in oracle.problem.space:
            oracle.extra["unshown"] = f"a word of {len(word)} letters is not among the words of the problem"
            return cost
        objective = oracle(word).objective
        return min(cost, objective)

    def _tell(self, oracle: Oracle[Any], lower: float, upper: float) -> None:
        oracle.extra["bracket"] = [lower, upper]
        report_bound(oracle, lower)
