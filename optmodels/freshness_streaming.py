r"""The best frequencies of a table of pages that does not fit into memory.

Two passes. The first counts pages by worth (`queueing.freshness_histogram`), from which comes the price :math:`\lambda`
of a visit; the second sums the cost of the frequencies at that price, their number and hence the value of the dual,
compensated and over all pages: objective, bound and gap are those of the pages, not of the histogram. A third pass, if
it is asked for, writes the frequencies, and a fourth judges any frequencies whatever, as the evaluator does in memory.

Passes are made by an *engine*: `Threads` here, a cluster in `optmodels.scaling`. Whatever the engine and its number of
workers, pages are summed in the order of the table, piece by piece.

Where all worths are equal (weights are change rates) the price need not be a number that a double can hold; then eq.
(10) is used, :math:`f_i \propto \ell_i`, which is also found in one pass.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from heuristics import interrupting
from queueing.freshness import cost, even_obsolescence, traits
from queueing.freshness_histogram import Histogram, histogram_of, solve
from queueing.freshness_nodes import Nodes, nodes_of
from queueing.freshness_passes import PassSums, added, frequencies_at, objective_pass

from .freshness_output import Part, Written, write_npy, write_parquet

if TYPE_CHECKING:
    from queueing.laws import AccessTime

    from .freshness_pages import Chunk, PageTable, Piece

T = TypeVar("T")
S = TypeVar("S")
Vector = NDArray[np.float64]

#: Called with what is done, and the number of pages done and to do.
Tell = Callable[[str, int, int], None]

#: Worths that differ by less than this, relative, are taken as equal; the bound is lowered by as much.
EQUAL = 1e-10

#: The column of files that are written.
FREQUENCY = "frequency"


@dataclass(frozen=True)
class Rule:
    """How the frequency of a page follows from its rate and weight.

    Attributes
    ----------
    kind
        ``"price"``: what is best at the price `multiplier`, times `scale`; ``"decay"``: `scale` times the decay (all
        worths are equal); ``"even"``: `scale` (no page gains by a visit).
    """

    kind: str
    multiplier: float
    scale: float

    def frequencies(self, rates: Vector, weights: Vector, law: AccessTime) -> Vector:
        """Visits of each of these pages per slot."""
        if self.kind == "price":
            return frequencies_at(rates, weights, law, self.multiplier, self.scale)
        if self.kind == "decay":
            return np.where(weights > 0, law.decay(rates) * self.scale, 0.0)
        return np.full(len(rates), self.scale)


@dataclass(frozen=True)
class Judged:
    """Frequencies judged over some pages, visits evenly spaced.

    Attributes
    ----------
    cost, frequencies
        Sums of c r and f, each a rounded sum and what it lacks.
    unvisited
        How many pages have frequency 0.
    least, most
        Of the frequencies that are not 0.
    """

    cost: tuple[float, float]
    frequencies: tuple[float, float]
    unvisited: int
    least: float
    most: float

    def merged(self, other: Judged) -> Judged:
        """All pages of both."""
        return Judged(
            added(self.cost, other.cost),
            added(self.frequencies, other.frequencies),
            self.unvisited + other.unvisited,
            min(self.least, other.least),
            max(self.most, other.most),
        )


@dataclass(frozen=True)
class StreamedAllocation:
    """The best frequencies of all pages, as a rule, and what is known about them.

    Attributes
    ----------
    rule
        How the frequency of a page follows from its rate and weight.
    multiplier
        lambda: what one more visit per slot would save.
    objective
        Cost of the frequencies, evenly spaced.
    bound
        A lower bound on the cost of any frequencies with the same sum.
    gap
        Objective less bound, in parts of the objective.
    visited
        Pages with a frequency above 0.
    missed
        By how much the frequencies at the price of the histogram missed their sum, relative, before they were scaled.
    """

    rule: Rule
    multiplier: float
    objective: float
    bound: float
    gap: float
    visited: int
    missed: float


class Engine(Protocol):
    """Whoever goes over pages: a task gets neighbouring pieces, results are put together in the order of the table.

    What it writes has names that end in `suffix`.
    """

    @property
    def suffix(self) -> str: ...
    def reduce(
        self,
        task: Callable[[Sequence[Piece]], T],
        merge: Callable[[T, T], T],
        pieces: Sequence[Piece],
        tell: Tell | None,
    ) -> T: ...
    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Written: ...


# -- passes -----------------------------------------------------------------------------------------------------------


def allocate_pages(
    table: PageTable, law: AccessTime, total: float = 1.0, *, engine: Engine | None = None, tell: Tell | None = None
) -> StreamedAllocation:
    """The frequencies of least cost of all pages of a table, visits evenly spaced, and the bound that proves them.

    Parameters
    ----------
    total
        Visits per slot of all pages together.
    engine
        Who goes over the pages; threads of this process by default.
    tell
        Called now and then with what is done, and pages done and to do.
    """
    work = engine or Threads()
    counted = work.reduce(partial(count, law=law), Histogram.merged, table.pieces, _named("counting", tell))
    if not len(counted.moments):
        return _without_worth(table, law, total, work, tell)
    nodes = nodes_of(counted.first, counted.moments, 0.0)
    if nodes.worths[0] - nodes.worths[-1] <= EQUAL * nodes.worths[0]:
        return _of_equal_worth(table, law, total, work, tell, nodes)
    multiplier = solve(counted, total)
    sums = work.reduce(
        partial(sum_up, law=law, multiplier=multiplier), PassSums.merged, table.pieces, _named("proving", tell)
    )
    if sums.visited == 0:  # between two doubles: the frequencies of pages whose worths are nearly equal
        return _of_equal_worth(table, law, total, work, tell, nodes)
    objective, bound, scale = sums.objective(total), sums.bound(total), sums.scale(total)
    return StreamedAllocation(
        Rule("price", multiplier, scale),
        multiplier,
        objective,
        bound,
        _gap(objective, bound),
        sums.visited,
        abs(scale - 1),
    )


def judge_pages(
    table: PageTable,
    law: AccessTime,
    frequencies: Frequencies,
    *,
    engine: Engine | None = None,
    tell: Tell | None = None,
) -> Judged:
    """Cost and sum of any frequencies of the pages of a table, by the road that judges them in memory."""
    task = partial(judge, law=law, frequencies=frequencies)
    return (engine or Threads()).reduce(task, Judged.merged, table.pieces, _named("judging", tell))


def write_frequencies(
    table: PageTable,
    law: AccessTime,
    rule: Rule,
    target: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    tell: Tell | None = None,
) -> Written:
    """Write the frequency of every page, in the order of the table, whole or not at all.

    Parameters
    ----------
    target
        ``x.npy``, or ``x.parquet`` with a column ``frequency``; a cluster writes a folder of Parquet files.
    """
    return (engine or Threads()).write(rule, law, table, Path(target), _named("writing", tell))


# -- what a task does with its pieces ---------------------------------------------------------------------------------


class Frequencies(Protocol):
    """The frequencies of all pages of a table, however they are kept."""

    def __len__(self) -> int: ...
    def of(self, chunk: Chunk) -> Vector: ...


def chunks_of(pieces: Iterable[Piece], use: Callable[[Chunk], T]) -> Iterator[T]:
    """What comes of every chunk of some pieces; numbers that cannot be used are refused with file, row and column."""
    for piece in pieces:
        for chunk in piece.chunks():
            try:
                found = use(chunk)
            except ValueError as failure:
                chunk.refuse(failure)
            yield found


def count(pieces: Sequence[Piece], law: AccessTime) -> Histogram:
    """Pages by worth."""
    return reduce(Histogram.merged, chunks_of(pieces, lambda chunk: histogram_of(chunk.rates, chunk.weights, law)))


def sum_up(pieces: Sequence[Piece], law: AccessTime, multiplier: float) -> PassSums:
    """Cost and number of the visits that are best at a price."""
    found = chunks_of(pieces, lambda chunk: objective_pass(chunk.rates, chunk.weights, law, multiplier))
    return reduce(PassSums.merged, found)


def judge(pieces: Sequence[Piece], law: AccessTime, frequencies: Frequencies) -> Judged:
    """Cost of visits at given frequencies."""

    def judged(chunk: Chunk) -> Judged:
        visits = frequencies.of(chunk)
        pages = traits(chunk.rates, chunk.weights, law)
        made = visits[visits > 0]
        least, most = (float(made.min()), float(made.max())) if len(made) else (np.inf, 0.0)
        price = cost(pages, even_obsolescence(pages, visits))
        return Judged((price, 0.0), (float(visits.sum()), 0.0), len(visits) - len(made), least, most)

    return reduce(Judged.merged, chunks_of(pieces, judged))


# -- threads ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threads:
    """Passes made by threads of this process; each holds one chunk of pages.

    Parameters
    ----------
    workers
        How many; ``None``: one for each processor.
    """

    workers: int | None = None
    suffix: ClassVar[str] = ".npy"

    def reduce(
        self,
        task: Callable[[Sequence[Piece]], T],
        merge: Callable[[T, T], T],
        pieces: Sequence[Piece],
        tell: Tell | None,
    ) -> T:
        """Put results together as they come, in the order of the table."""
        rows, done = sum(piece.rows for piece in pieces), 0
        answer: T | None = None
        for piece, found in zip(pieces, in_order(task, [(piece,) for piece in pieces], self.workers), strict=True):
            answer = found if answer is None else merge(answer, found)
            done += piece.rows
            if tell is not None:
                tell("", done, rows)
        assert answer is not None
        return answer

    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Written:
        """One file."""
        values = self._told(
            in_order(partial(_frequencies_of, rule=rule, law=law), table.pieces, self.workers), table, tell
        )
        part: Part
        if target.suffix == ".npy":
            part = write_npy(target, values, table.rows)
        else:
            part = write_parquet(target, ({FREQUENCY: chunk} for chunk in values))
        return Written(part.file, part.rows, part.sha256)

    def _told(self, values: Iterator[Vector], table: PageTable, tell: Tell | None) -> Iterator[Vector]:
        done = 0
        for chunk in values:
            yield chunk
            done += len(chunk)
            if tell is not None:
                tell("", done, table.rows)


def _frequencies_of(piece: Piece, rule: Rule, law: AccessTime) -> Vector:
    parts = list(chunks_of((piece,), lambda chunk: rule.frequencies(chunk.rates, chunk.weights, law)))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def in_order(task: Callable[[S], T], items: Iterable[S], workers: int | None = None) -> Iterator[T]:
    """What a task makes of each item, several at a time, in the order of the items; few results wait for their turn.

    An interrupt, also one that was only noted, ends all: items not begun are left, those begun are waited for.
    """
    count = workers or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(count) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(task, item))
                if len(waiting) > count + 1:
                    yield waiting.popleft().result()
                    interrupting.check()
            while waiting:
                yield waiting.popleft().result()
                interrupting.check()
        finally:
            for future in waiting:
                future.cancel()


# -- inside -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByRule:
    """Frequencies that follow from a rule."""

    rule: Rule
    law: AccessTime
    rows: int

    def __len__(self) -> int:
        return self.rows

    def of(self, chunk: Chunk) -> Vector:
        """Those of a chunk."""
        return self.rule.frequencies(chunk.rates, chunk.weights, self.law)


def _of_equal_worth(
    table: PageTable, law: AccessTime, total: float, work: Engine, tell: Tell | None, nodes: Nodes
) -> StreamedAllocation:
    """Eq. (10); the bound is that of pages which all have the least worth."""
    worths, decays = nodes
    u = float(np.sum(decays)) / total
    rule = Rule("decay", float(worths[0] * -np.expm1(np.log1p(u) - u)), 1.0 / u)
    found = judge_pages(table, law, ByRule(rule, law, table.rows), engine=work, tell=tell)
    objective = sum(found.cost)
    bound = objective * float(worths[-1] / worths[0])
    visited = table.rows - found.unvisited
    missed = abs(sum(found.frequencies) - total) / total
    return StreamedAllocation(rule, rule.multiplier, objective, bound, _gap(objective, bound), visited, missed)


def _without_worth(
    table: PageTable, law: AccessTime, total: float, work: Engine, tell: Tell | None
) -> StreamedAllocation:
    """Pages that never change, or weigh nothing, cost nothing however they are visited."""
    rule = Rule("even", 0.0, total / table.rows)
    found = judge_pages(table, law, ByRule(rule, law, table.rows), engine=work, tell=tell)
    objective = sum(found.cost)
    return StreamedAllocation(rule, 0.0, objective, objective, 0.0, table.rows, 0.0)


def _gap(objective: float, bound: float) -> float:
    return (objective - bound) / objective if objective > 0 else 0.0


def _named(phase: str, tell: Tell | None) -> Tell | None:
    return None if tell is None else lambda _, done, rows: tell(phase, done, rows)
