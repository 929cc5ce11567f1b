r"""The best periodic routing for any number of servers, proved: a cycle of least mean cost on a graph of gaps.

Graphs grow. Each one is a relaxation (:mod:`heuristics.routing.gap_graph`), so that its least mean cost is a lower
bound over all policies, periodic or not; its cycle is a word, whose true cost is an upper one. If the two differ, the
word has gaps that the graph charged too little for, and only the limits of those servers are raised. The first limits
are the gaps at which densities alone would be best (:mod:`heuristics.routing.server_densities`), or a little longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import interrupting
from ..evaluation import Evaluation
from ..oracle import Oracle
from ..result import Result
from ..running import explain_refusal, last_word, require_fields
from . import two_server
from .gap_graph import Charges, GapGraph, Kinds, TooManyStates, carried, grown_limits
from .howard import least_mean_cycle, no_pause
from .pricing import WORTHWHILE, priced_bounds
from .problem import GapTable, RoutedProblem, Vector, Whole, word_cost
from .server_densities import Densities, densities, exchanged, index_word

#: Servers at most where keeping the gaps of some gives better bounds than densities do, in the time it takes.
KEEPING = 12

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
        table = gap_table(int(limits.max()) + 1)
        if table.count > found.table.count:  # costs that were the same so far may part there
            parted = Kinds.of(table)
            if parted.members != kinds.members:
                limits = np.array(kinds.spread(limits))[parted.firsts]
                asymptotic = np.array(kinds.spread(asymptotic), dtype=bool)[parted.firsts]
                finite = np.isfinite(table.slopes[parted.firsts])
                kinds, known = parted, None
        charges = Charges.of(table, kinds, limits, asymptotic)
        graph = GapGraph.of(limits, kinds.sizes, states, pause)
        values = None if known is None else carried(graph, *known)
        known = None  # no need to hold both
        precision = PRECISION * abs(upper) if math.isfinite(upper) else 0.0
        cycle = least_mean_cycle(graph.following, graph.gaps, charges.values, values, precision=precision, pause=pause)
        word = kinds.servers(cycle.word)
        longest = kinds.longest_gaps(word)
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
        larger, lines = grown_limits(limits, asymptotic, longest, finite, best=cost <= upper)
        if np.array_equal(larger, limits) and np.array_equal(lines, asymptotic):
            return
        limits, asymptotic, known = larger, lines, (graph, cycle.values)


@dataclass(frozen=True)
class MinMeanCycle:
    """The best of all periodic words, by Howard's algorithm on graphs of gaps that grow until the answer is proved.

    The word of the index rule, improved by exchanges, is shown first, together with the integer-density bound, so that
    a run that was stopped has a bracket, too. Where graphs get too large, some servers are given a price instead of a
    gap (:mod:`heuristics.routing.pricing`), which narrows the bracket. ``extra`` has the ``limits`` of gaps and the
    ``states`` of the last graph with all servers, the servers ``kept`` in the last one without, the ``bracket``, and
    the ``density_bound``. Where slopes of costs are unknown nothing is proved. Two servers are handed to the closed
    form (:mod:`heuristics.routing.two_server`), unless it leaves a doubt.

    Parameters
    ----------
    states
        Most states of a graph; with seven servers some 130 bytes each.
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
        return explain_refusal(self.name, problem, problem.unroutable())

    def prepare(self, problem: RoutedProblem) -> None:
        """Compile, on three servers whose first graph is too small."""
        costs = np.array([[0.1], [0.2], [0.8]]) ** np.arange(1.0, 65.0)
        table = GapTable(costs, np.zeros(3), np.zeros(3))
        found = densities(lambda count: table)
        exchanged(table, index_word(found))
        assert len(list(best_cycles(lambda count: table, found))) > 1
        assert list(priced_bounds(lambda count: table, found, states=100))

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Show better and better words, report better and better bounds; two servers need no search."""
        if oracle.problem.servers == 2:
            split = two_server.find(oracle)
            if split.unproved is None and split.word in oracle.problem.space:
                oracle.extra |= {"density_bound": split.bound, "bracket": [split.bound, split.cost]}
                return two_server.show(oracle, split)
        found = densities(oracle.problem.gap_table, interrupting.check)
        word = index_word(found)
        run = _Run(oracle, found, word_cost(found.table, word), -math.inf)
        if tuple(word.tolist()) in oracle.problem.space:
            run.upper = min(run.upper, _cost(last_word(oracle, tuple(word.tolist()))))
        if found.table.known:
            oracle.extra["density_bound"] = found.bound
        self._tell(run, found.bound)
        oracle.require()
        word = exchanged(found.table, word)
        run.upper = self._show(oracle, min(run.upper, word_cost(found.table, word)), tuple(word.tolist()))
        few, more = max(1, self.states // 100), max(1, self.states // 10)
        if self._exact(run, few):
            return oracle.result(stopped_by="complete")
        self._priced(run, few)
        if self._exact(run, more) or self._exact(run, self.states):
            return oracle.result(stopped_by="complete")
        self._priced(run, more)
        self._priced(run, self.states)
        return oracle.result(stopped_by="complete" if run.proved else "states")

    def _exact(self, run: _Run, states: int) -> bool:
        """Look at graphs with all servers; whether one was large enough."""
        oracle, found = run.oracle, run.found
        steps = best_cycles(oracle.problem.gap_table, found, upper=run.upper, states=states, pause=oracle.require)
        try:
            while not run.proved:
                step = next(steps, None)
                if step is None:
                    break
                run.upper = self._show(oracle, min(run.upper, step.cost), step.word)
                oracle.extra |= {"limits": list(step.limits), "states": step.states}
                oracle.extra["iterations"] = oracle.extra.get("iterations", 0) + step.iterations
                self._tell(run, step.lower)
        except TooManyStates:
            return False
        return True

    def _priced(self, run: _Run, states: int) -> None:
        """Look at graphs that keep the gaps of some servers only."""
        oracle, found = run.oracle, run.found
        if found.table.servers > KEEPING:
            return
        steps = priced_bounds(
            oracle.problem.gap_table,
            found,
            states=states,
            precision=0.1 * WORTHWHILE * abs(run.upper),
            pause=oracle.require,
        )
        for step in steps:
            word = exchanged(found.table, np.array(step.word))
            cost = word_cost(found.table, word)
            if cost < run.upper:
                run.upper = self._show(oracle, cost, tuple(word.tolist()))
            oracle.extra["kept"] = list(step.kept)
            self._tell(run, step.lower)

    def _show(self, oracle: Oracle[Any], cost: float, word: tuple[int, ...]) -> float:
        """Show a word, unless it is longer than words of the problem may be; the least cost known."""
        if word not in oracle.problem.space:
            oracle.extra["unshown"] = f"a word of {len(word)} letters is not among the words of the problem"
            return cost
        return min(cost, _cost(oracle(word)))

    def _tell(self, run: _Run, lower: float) -> None:
        if run.found.table.known:
            run.lower = max(run.lower, lower)
            run.oracle.extra["bracket"] = [run.lower, run.upper]
            run.oracle.report(bound=run.lower)


def _cost(shown: Evaluation) -> float:
    """What a word costs; one that leaves out a server it must not is no answer, whatever the others cost."""
    return shown.objective if shown.feasible else math.inf


@dataclass(eq=False)
class _Run:
    """How far a run has come."""

    oracle: Oracle[RoutedProblem]
    found: Densities
    upper: float
    lower: float

    @property
    def proved(self) -> bool:
        return self.lower >= self.upper - PROVED * abs(self.upper)  # never where slopes are unknown: nothing is told
