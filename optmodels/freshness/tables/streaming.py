r"""The best frequencies of a table of pages that does not fit into memory.

One pass finds the price :math:`\lambda` of a visit (`optmodels.freshness.tables.pricing`). A second one sums the cost
of the frequencies at that price and their number, and hence the value of the dual, compensated and over all pages:
objective, bound and gap are those of the pages, not of a histogram. A third, if it is asked for, writes the
frequencies, and another judges any frequencies whatever, by the road of the evaluator in memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from queueing.freshness import cost, even_obsolescence, refuse_extremes, traits
from queueing.freshness.large import Marginal, PassSums, added, frequencies_at, objective_pass

from .columns import Vector
from .engine import Engine, Tell, Threads, chunks_of, named
from .pricing import price_table

if TYPE_CHECKING:
    from queueing.processes import AccessTime

    from ...data import Written
    from .pages import Chunk, PageTable, Piece


@dataclass(frozen=True)
class Rule:
    """How the frequency of a page follows from its rate and weight.

    Attributes
    ----------
    multiplier
        The price: every page is visited as is best at it; 0: no page gains by a visit, and all are visited alike.
    scale
        Frequencies are multiplied by this, so that they have the right sum.
    marginal
        How often pages of one worth are visited for which the price does not tell it.
    """

    multiplier: float
    scale: float
    marginal: Marginal | None = None

    def frequencies(self, rates: Vector, weights: Vector, law: AccessTime) -> Vector:
        """Visits of each of these pages per slot."""
        if self.multiplier == 0.0:
            return np.full(len(rates), self.scale)
        return frequencies_at(rates, weights, law, self.multiplier, self.scale, self.marginal)


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


# -- passes -----------------------------------------------------------------------------------------------------------


def allocate_pages(
    table: PageTable, law: AccessTime, total: float = 1.0, *, engine: Engine | None = None, tell: Tell | None = None
) -> StreamedAllocation:
    """Find the frequencies of least cost of a table, visits evenly spaced, and the bound that proves them.

    Parameters
    ----------
    table
        The pages.
    law
        Of the time of a visit.
    total
        Visits per slot of all pages together.
    engine
        Who goes over the pages; threads of this process by default.
    tell
        Called now and then with what is done, and pages done and to do.

    Returns
    -------
    StreamedAllocation
        The frequencies as a rule, their cost, a lower bound and the optimality gap.
    """
    work = engine or Threads()
    priced = price_table(table, law, total, engine=work, tell=tell)
    if priced.multiplier == 0.0:
        return _without_worth(table, law, total, work, tell)
    task = partial(sum_up, law=law, multiplier=priced.multiplier, marginal=priced.marginal)
    sums = work.reduce(task, PassSums.merged, table.pieces, named("proving", tell))
    objective, bound, scale = sums.objective(total), sums.bound(total), sums.scale(total)
    rule = Rule(priced.multiplier, scale, priced.marginal)
    gap = (objective - bound) / objective if objective > 0 else 0.0
    return StreamedAllocation(rule, priced.multiplier, objective, bound, gap, sums.visited, abs(scale - 1.0))


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
    return (engine or Threads()).reduce(task, Judged.merged, table.pieces, named("judging", tell))


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
    table
        The pages.
    law
        Of the time of a visit.
    rule
        How the frequency of a page follows from its rate and weight, see `allocate_pages`.
    target
        ``x.npy``, or ``x.parquet`` with a column ``frequency``; a cluster writes a folder of Parquet files.
    engine
        Who goes over the pages; threads of this process by default.
    tell
        Called now and then with what is done, and pages done and to do.

    Returns
    -------
    Written
        Name, rows and checksum of the file or folder.
    """
    return (engine or Threads()).write(rule, law, table, Path(target), named("writing", tell))


# -- what a task does with its pieces ---------------------------------------------------------------------------------


class Frequencies(Protocol):
    """The frequencies of all pages of a table, however they are kept."""

    def __len__(self) -> int: ...
    def of(self, chunk: Chunk) -> Vector: ...


def sum_up(pieces: Sequence[Piece], law: AccessTime, multiplier: float, marginal: Marginal | None) -> PassSums:
    """Cost and number of the visits that are best at a price."""
    found = chunks_of(pieces, lambda chunk: objective_pass(chunk.rates, chunk.weights, law, multiplier, marginal))
    return reduce(PassSums.merged, found)


def judge(pieces: Sequence[Piece], law: AccessTime, frequencies: Frequencies) -> Judged:
    """Cost of visits at given frequencies."""

    def judged(chunk: Chunk) -> Judged:
        visits = frequencies.of(chunk)
        pages = traits(chunk.rates, chunk.weights, law)
        refuse_extremes(pages)
        made = visits[visits > 0]
        least, most = (float(made.min()), float(made.max())) if len(made) else (np.inf, 0.0)
        price = cost(pages, even_obsolescence(pages, visits))
        return Judged((price, 0.0), (float(visits.sum()), 0.0), len(visits) - len(made), least, most)

    return reduce(Judged.merged, chunks_of(pieces, judged))


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


def _without_worth(
    table: PageTable, law: AccessTime, total: float, work: Engine, tell: Tell | None
) -> StreamedAllocation:
    """Pages that never change, or weigh nothing, cost nothing however they are visited."""
    rule = Rule(0.0, total / table.rows)
    found = judge_pages(table, law, ByRule(rule, law, table.rows), engine=work, tell=tell)
    objective = sum(found.cost)
    return StreamedAllocation(rule, 0.0, objective, objective, 0.0, table.rows, 0.0)
