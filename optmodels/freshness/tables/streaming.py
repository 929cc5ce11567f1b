r"""The best frequencies of a table of pages that does not fit into memory.

One pass finds the price :math:`\lambda` of a visit. Pages are counted by worth
(`queueing.freshness.large.histogram`), and from the histogram come price and least cost. Pages near the price are
better taken as they are. A few pieces of the table, looked at before, tell which these will be, so that they are
collected on the way; a second pass is made if they told wrong.

Another pass sums the cost of the frequencies at that price and their number, and hence the value of the dual,
compensated and over all pages: objective, bound and gap are those of the pages, not of a histogram. A third, if it is
asked for, writes the frequencies, and one more evaluates any frequencies as the evaluator in memory does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

import numpy as np

from queueing.freshness import cost, even_obsolescence, refuse_extremes, traits
from queueing.freshness.large import (
    FEW,
    NEAR,
    Histogram,
    Marginal,
    Nodes,
    PassSums,
    PricedPages,
    added,
    bin_of,
    cost_at,
    cut_out,
    frequencies_at,
    histogram_of,
    marginal_within,
    objective_pass,
    pages_between,
    priced,
    solved_nodes,
    tied_pages,
    window_of,
)
from queueing.processes import AccessTime

from ...data import Part
from .engine import Engine, Tell, Threads, chunks_of, named
from .pages import Chunk, PageTable, Piece, Vector

#: Every so manieth piece is looked at before all are, to guess the price; tables of few pieces are not.
PILOT, FEW_PIECES = 64, 8

#: Bins on both sides of a price guessed from some pieces whose pages are collected; and how far, in bins, the price of
#: all pages may be from the guess. Nodes are single bins as far as both together.
REACH, ASTRAY = 40, 16

#: Pages around the price are collected if they are no more than this.
MOST_COLLECTED = 4_000_000

#: Pages that are kept as they are, in parts; ``None`` if they are too many.
Collected = tuple[Nodes, ...] | None


@dataclass(frozen=True, eq=False)
class Counted:
    """Pages by worth, and some of them as they are."""

    histogram: Histogram
    pages: Collected

    def merged(self, other: Counted) -> Counted:
        """Put together the pages of both."""
        return Counted(self.histogram.merged(other.histogram), _joined(self.pages, other.pages))


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

    def of(self, law: AccessTime, chunk: Chunk) -> Vector:
        """Visits of each page of a chunk per slot."""
        if self.multiplier == 0.0:
            return np.full(len(chunk.rates), self.scale)
        return frequencies_at(chunk.rates, chunk.weights, law, self.multiplier, self.scale, self.marginal)


@dataclass(frozen=True)
class Judged:
    """Frequencies evaluated over some pages, visits evenly spaced.

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
        """Put together the pages of both."""
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


def price_table(
    table: PageTable, law: AccessTime, total: float = 1.0, *, engine: Engine | None = None, tell: Tell | None = None
) -> PricedPages:
    """Find the price of a visit and the least cost of a table in one pass; to some eleven digits, and unproved.

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
    PricedPages
        The dual price of a visit, the least cost, and the pages that the price alone does not settle.
    """
    work = engine or Threads()
    window, most = None, min(FEW, MOST_COLLECTED / table.rows)
    if len(table.pieces) >= FEW_PIECES:
        pilot = work.reduce(partial(count, law=law), Counted.merged, table.pieces[::PILOT], None).histogram
        window = window_of(pilot, solved_nodes(pilot, total * pilot.pages / table.rows)[1].price, REACH, most)
    counted = work.reduce(partial(count, law=law, window=window), Counted.merged, table.pieces, named("counting", tell))
    histogram, pages = counted.histogram, counted.pages
    if not len(histogram.moments):
        return PricedPages(0.0, 0.0, 0, None)
    nodes, found = solved_nodes(histogram, total)
    if window is None or not _well_inside(found.price, window):
        window, pages = window_of(histogram, found.price, NEAR, most), None
        if window is not None:
            task = partial(collect, law=law, window=window)
            pages = work.reduce(task, _joined, table.pieces, named("collecting", tell))
    if window is None or pages is None:
        marginal = tied_pages(histogram, found)
    else:
        nodes = cut_out(nodes, *window, Nodes(*map(np.concatenate, zip(*pages, strict=True))))
        found = priced(nodes, total, found.price)
        marginal = marginal_within(window, found)
    objective = cost_at(nodes, histogram.fixed, found.price, total)
    return PricedPages(found.price, objective, sum(len(part.worths) for part in pages or ()), marginal)


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
    frequencies: Callable[[Chunk], Vector],
    *,
    engine: Engine | None = None,
    tell: Tell | None = None,
) -> Judged:
    """Evaluate any frequencies of the pages of a table, by the road that evaluates them in memory."""
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
) -> Part:
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
    Part
        Name, rows and checksum of the file or folder.
    """
    return (engine or Threads()).write(rule, law, table, Path(target), named("writing", tell))


# -- what a task does with its pieces ---------------------------------------------------------------------------------


def count(pieces: Sequence[Piece], law: AccessTime, window: tuple[float, float] | None = None) -> Counted:
    """Count pages by worth, and keep those within a window as they are."""

    def counted(chunk: Chunk) -> Counted:
        histogram = histogram_of(chunk.rates, chunk.weights, law)
        return Counted(histogram, None if window is None else _collected(chunk, law, window))

    return reduce(Counted.merged, chunks_of(pieces, counted))


def collect(pieces: Sequence[Piece], law: AccessTime, window: tuple[float, float]) -> Collected:
    """Collect pages with worths within a window, as they are."""
    return reduce(_joined, chunks_of(pieces, lambda chunk: _collected(chunk, law, window)))


def sum_up(pieces: Sequence[Piece], law: AccessTime, multiplier: float, marginal: Marginal | None) -> PassSums:
    """Sum up cost and number of the visits that are best at a price."""
    found = chunks_of(pieces, lambda chunk: objective_pass(chunk.rates, chunk.weights, law, multiplier, marginal))
    return reduce(PassSums.merged, found)


def judge(pieces: Sequence[Piece], law: AccessTime, frequencies: Callable[[Chunk], Vector]) -> Judged:
    """Evaluate the cost of visits at given frequencies."""

    def judged(chunk: Chunk) -> Judged:
        visits = frequencies(chunk)
        pages = traits(chunk.rates, chunk.weights, law)
        refuse_extremes(pages)
        made = visits[visits > 0]
        least, most = (float(made.min()), float(made.max())) if len(made) else (np.inf, 0.0)
        price = cost(pages, even_obsolescence(pages, visits))
        return Judged((price, 0.0), (float(visits.sum()), 0.0), len(visits) - len(made), least, most)

    return reduce(Judged.merged, chunks_of(pieces, judged))


# -- inside -----------------------------------------------------------------------------------------------------------


def _well_inside(price: float, window: tuple[float, float]) -> bool:
    """Whether enough pages on both sides of a price were collected."""
    low, high = bin_of(window[0]), bin_of(window[1])
    return abs(bin_of(price) - (low + high) // 2) <= ASTRAY


def _collected(chunk: Chunk, law: AccessTime, window: tuple[float, float]) -> Collected:
    found = pages_between(chunk.rates, chunk.weights, law, *window)
    return None if found is None else (Nodes(*map(np.copy, found)),)  # not the room around them


def _joined(one: Collected, other: Collected) -> Collected:
    return None if one is None or other is None else one + other


def _without_worth(
    table: PageTable, law: AccessTime, total: float, work: Engine, tell: Tell | None
) -> StreamedAllocation:
    """Allocate to pages that never change, or weigh nothing: they cost nothing however they are visited."""
    rule = Rule(0.0, total / table.rows)
    found = judge_pages(table, law, partial(rule.of, law), engine=work, tell=tell)
    objective = sum(found.cost)
    return StreamedAllocation(rule, 0.0, objective, objective, 0.0, table.rows, 0.0)
