r"""The price of a visit to the pages of a table, from one pass over them.

Pages are counted by worth (`queueing.freshness.large.histogram`), and from the histogram come the price :math:`\lambda`
of a visit and the least cost. Pages near the price are better taken as they are. A few pieces of the table, looked at
before, tell which these will be, so that they are collected on the way; a second pass is made if they told wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from queueing.freshness.large import (
    FEW,
    NEAR,
    Histogram,
    Marginal,
    Nodes,
    bin_of,
    cost_at,
    cut_out,
    histogram_of,
    lower_edge,
    marginal_within,
    pages_between,
    priced,
    solve_marginal,
    solved_nodes,
)

from .engine import Engine, Tell, Threads, chunks_of, named

if TYPE_CHECKING:
    from queueing.processes import AccessTime

    from .pages import Chunk, PageTable, Piece

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
        """All pages of both."""
        return Counted(self.histogram.merged(other.histogram), _joined(self.pages, other.pages))


@dataclass(frozen=True, eq=False)
class PricedTable:
    """What is known of pages that have been counted.

    Attributes
    ----------
    multiplier, objective
        Price of a visit, and least cost.
    collected
        Pages around the price that were taken as they are.
    marginal
        Pages of one worth just above the price, where the price does not say how often they are visited.
    """

    multiplier: float
    objective: float
    collected: int
    marginal: Marginal | None


def price_table(
    table: PageTable, law: AccessTime, total: float = 1.0, *, engine: Engine | None = None, tell: Tell | None = None
) -> PricedTable:
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
    PricedTable
        The dual price of a visit, the least cost, and the pages that the price alone does not settle.
    """
    work = engine or Threads()
    window = None
    if len(table.pieces) >= FEW_PIECES:
        pilot = work.reduce(partial(count, law=law), Counted.merged, table.pieces[::PILOT], None).histogram
        window = _window(pilot, solved_nodes(pilot, total * pilot.pages / table.rows)[1], table.rows, REACH)
    counted = work.reduce(partial(count, law=law, window=window), Counted.merged, table.pieces, named("counting", tell))
    histogram, pages = counted.histogram, counted.pages
    if not len(histogram.moments):
        return PricedTable(0.0, 0.0, 0, None)
    nodes, price = solved_nodes(histogram, total)
    if window is None or not _well_inside(price, window):
        window, pages = _window(histogram, price, table.rows, NEAR), None
        if window is not None:
            task = partial(collect, law=law, window=window)
            pages = work.reduce(task, _joined, table.pieces, named("collecting", tell))
    if window is None or pages is None:
        price, marginal = solve_marginal(histogram, total)
    else:
        nodes = cut_out(nodes, *window, _all_of(pages))
        found = priced(nodes, total, price)
        price, marginal = found.price, marginal_within(window, found)
    objective = cost_at(nodes, histogram.fixed, price, total)
    return PricedTable(price, objective, sum(len(part.worths) for part in pages or ()), marginal)


def count(pieces: Sequence[Piece], law: AccessTime, window: tuple[float, float] | None = None) -> Counted:
    """Pages by worth, and those within a window as they are."""

    def counted(chunk: Chunk) -> Counted:
        histogram = histogram_of(chunk.rates, chunk.weights, law)
        return Counted(histogram, None if window is None else _collected(chunk, law, window))

    return reduce(Counted.merged, chunks_of(pieces, counted))


def collect(pieces: Sequence[Piece], law: AccessTime, window: tuple[float, float]) -> Collected:
    """Pages with worths within a window, as they are."""
    return reduce(_joined, chunks_of(pieces, lambda chunk: _collected(chunk, law, window)))


# -- inside -----------------------------------------------------------------------------------------------------------


def _window(histogram: Histogram, price: float, rows: int, reach: int) -> tuple[float, float] | None:
    """Worths within so many bins of a price, if the pages there are few enough to be sent around."""
    if price <= 0.0:
        return None
    first, last = bin_of(price) - reach, bin_of(price) + reach + 1
    inside = histogram.moments[max(0, first - histogram.first) : max(0, last - histogram.first), 0].sum()
    share = inside / histogram.moments[:, 0].sum()
    return (lower_edge(first), lower_edge(last)) if share <= FEW and share * rows <= MOST_COLLECTED else None


def _well_inside(price: float, window: tuple[float, float]) -> bool:
    """Whether enough pages on both sides of a price were collected."""
    low, high = bin_of(window[0]), bin_of(window[1])
    return abs(bin_of(price) - (low + high) // 2) <= ASTRAY


def _collected(chunk: Chunk, law: AccessTime, window: tuple[float, float]) -> Collected:
    found = pages_between(chunk.rates, chunk.weights, law, *window)
    return None if found is None else (Nodes(*map(np.copy, found)),)  # not the room around them


def _joined(one: Collected, other: Collected) -> Collected:
    return None if one is None or other is None else one + other


def _all_of(parts: tuple[Nodes, ...]) -> Nodes:
    return Nodes(np.concatenate([part.worths for part in parts]), np.concatenate([part.decays for part in parts]))
