r"""The best periodic routing for any number of servers, proved: a cycle of least mean cost on a graph of gaps.

Graphs grow. Each one is a relaxation (:mod:`heuristics.routing.gap_graph`), so that its least mean cost is a lower
bound over all policies, periodic or not; its cycle is a word, whose true cost is an upper one. If the two differ, the
word has gaps that the graph charged too little for, and only the limits of those servers are raised. The first limits
are the gaps at which densities alone would be best (:mod:`heuristics.routing.server_densities`), or a little longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import interrupting
from ..oracle import Oracle
from ..protocols import Evaluation, Vector, Whole
from ..result import Result
from ..running import explain_refusal, last_word, require_fields
from . import two_server
from .gap_graph import Charges, GapGraph, Kinds, TooManyStates, carried, grown_limits
from .howard import least_mean_cycle
from .pricing import WORTHWHILE, priced_bounds
from .problem import GapTables, Pause, RoutedProblem, no_pause, word_cost
from .server_densities import Densities, densities, exchanged, index_word

#: Servers at most where keeping the gaps of some gives better bounds than densities do, in the time it takes.
KEEPING = 12

#: Most states of a graph, unless somebody says otherwise.
MOST = 5_000_000

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
    gap_table: GapTables, found: Densities, *, upper: float = math.inf, states: int = MOST, pause: Pause = no_pause
) -> Iterator[CycleStep]:
    """Find the best cycles of larger and larger graphs, the last one exact.

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
        cycle = least_mean_cycle(graph, charges.values, values, precision=precision, pause=pause)
        word = kinds.servers(cycle.word)
        longest = kinds.longest_gaps(word)
        cost = word_cost(gap_table(max(int(longest.max()), 2)), word)
        upper = min(upper, cost)
        lower = charges.base + cycle.lower
        yield CycleStep(word, cost, lower, kinds.spread(limits), graph.states, cycle.iterations)
        larger, lines = grown_limits(limits, asymptotic, longest, finite, best=cost <= upper)
        if np.array_equal(larger, limits) and np.array_equal(lines, asymptotic):
            return
        limits, asymptotic, known = larger, lines, (graph, cycle.values)


@dataclass(frozen=True)
class MinMeanCycle:
    """Find the best periodic sequence of servers by Howard's algorithm, on graphs that grow until it is proved.

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

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Routed, losses
    >>> result = run(Routed(losses((1.0, 2.0, 6.0))), MinMeanCycle())
    >>> result.decision, result.status.value
    ((0, 2, 1, 2), 'optimal')
    """

    states: int = MOST

    name: ClassVar[str] = "min-mean-cycle"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, states=(1 <= self.states < 2**31, "between 1 and 2147483647"))

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse problems that do not ask for the best of all words."""
        return explain_refusal(self.name, problem, problem.unroutable())

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Show better and better words, report better and better bounds; two servers need no search."""
        if oracle.problem.server_count == 2:
            split = two_server.find(oracle)
            if split.unproved is None and split.word in oracle.problem.space:
                oracle.extra |= {"density_bound": split.bound, "bracket": [split.bound, split.cost]}
                return two_server.show(oracle, split)
        found = densities(oracle.problem.gap_table, interrupting.check)
        word = index_word(found)
        run = _Run(oracle, found, word_cost(found.table, word))
        if tuple(word.tolist()) in oracle.problem.space:
            run.upper = min(run.upper, _cost(last_word(oracle, tuple(word.tolist()))))
        if found.table.known:
            oracle.extra["density_bound"] = found.bound
        run.tell(found.bound)
        oracle.require()
        word = exchanged(found.table, word)
        run.show(tuple(word.tolist()), word_cost(found.table, word))
        few, more = max(1, self.states // 100), max(1, self.states // 10)
        if run.exact(few):
            return oracle.result(stopped_by="complete")
        run.price(few)
        if run.exact(more) or run.exact(self.states):
            return oracle.result(stopped_by="complete")
        run.price(more)
        run.price(self.states)
        return oracle.result(stopped_by="complete" if run.proved else "states")


def _cost(shown: Evaluation) -> float:
    """What a word costs; one that leaves out a server it must not is no answer, whatever the others cost."""
    return shown.objective if shown.feasible else math.inf


@dataclass(eq=False)
class _Run:
    """How far a run has come."""

    oracle: Oracle[RoutedProblem]
    found: Densities
    upper: float
    lower: float = -math.inf

    @property
    def proved(self) -> bool:
        return self.lower >= self.upper - PROVED * abs(self.upper)  # never where slopes are unknown: nothing is told

    def exact(self, states: int) -> bool:
        """Look at graphs with all servers, and tell whether one was large enough."""
        oracle = self.oracle
        steps = best_cycles(oracle.problem.gap_table, self.found, upper=self.upper, states=states, pause=oracle.require)
        try:
            while not self.proved:
                step = next(steps, None)
                if step is None:
                    break
                self.show(step.word, step.cost)
                oracle.extra |= {"limits": list(step.limits), "states": step.states}
                oracle.extra["iterations"] = oracle.extra.get("iterations", 0) + step.iterations
                self.tell(step.lower)
        except TooManyStates:
            return False
        return True

    def price(self, states: int) -> None:
        """Look at graphs that keep the gaps of some servers only."""
        oracle, table = self.oracle, self.found.table
        if table.servers > KEEPING:
            return
        precision = 0.1 * WORTHWHILE * abs(self.upper)
        for step in priced_bounds(
            oracle.problem.gap_table, self.found, states=states, precision=precision, pause=oracle.require
        ):
            word = exchanged(table, np.array(step.word))
            cost = word_cost(table, word)
            if cost < self.upper:
                self.show(tuple(word.tolist()), cost)
            oracle.extra["kept"] = list(step.kept)
            self.tell(step.lower)

    def show(self, word: tuple[int, ...], cost: float) -> None:
        """Show a word, unless it is longer than words of the problem may be, and keep the least cost known."""
        self.upper = min(self.upper, cost)
        if word in self.oracle.problem.space:
            self.upper = min(self.upper, _cost(self.oracle(word)))
        else:
            told = f"a word of {len(word)} letters is not among the words of the problem"
            self.oracle.extra["unshown"] = told

    def tell(self, lower: float) -> None:
        """Report a bound, unless slopes are unknown: then nothing is proved."""
        if self.found.table.known:
            self.lower = max(self.lower, lower)
            self.oracle.extra["bracket"] = [self.lower, self.upper]
            self.oracle.report(bound=self.lower)
