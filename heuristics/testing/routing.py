"""Routing by plain tables of gap costs, for tests and benchmarks of strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Decision, Evaluation, Vector, Whole
from ..routing import GapTable, GapTables, word_cost
from ..spaces import Words


@dataclass(frozen=True)
class Routed:
    """Words of servers whose costs a function tabulates.

    Parameters
    ----------
    tables
        Costs of gaps up to a number.
    name
        For the reader.
    longest
        Longest words.
    refusal
        Why the best of all words is not what is asked for.
    """

    tables: GapTables
    name: str = "routed"
    longest: int = 30_000
    refusal: str | None = None

    @property
    def servers(self) -> int:
        """Number of servers."""
        return self.tables(1).servers

    @cached_property
    def space(self) -> Words:
        """Words of all lengths up to the longest."""
        return Words(self.servers, tuple(range(1, self.longest + 1)))

    def gap_table(self, count: int) -> GapTable:
        """Costs of gaps up to `count`."""
        return self.tables(count)

    def unroutable(self) -> str | None:
        """What was given."""
        return self.refusal

    def evaluate(self, decision: Decision) -> Evaluation:
        """The mean cost of a word."""
        return Evaluation(word_cost(self.tables(len(decision) + 1), decision))


def losses(rates: ArrayLike, weights: ArrayLike = 1.0, arrivals: float = 1.0) -> GapTables:
    """Tabulate losses: the chance that a packet meets the one before still in service.

    Arrivals are Poisson, and services exponential.

    Parameters
    ----------
    rates
        Of the services.
    weights
        Of a loss, by server.
    arrivals
        Rate of arrivals.

    Returns
    -------
    callable
        From a number of slots to the costs of gaps up to it.
    """
    rates, weights = _weighted(rates, weights)
    nothing = np.zeros(len(rates))

    def tables(count: int) -> GapTable:
        left = np.exp(-np.log1p(rates / arrivals)[:, None] * _gaps(count))
        return GapTable(weights[:, None] * left, nothing, nothing)

    return tables


def stale_times(rates: ArrayLike, weights: ArrayLike = 1.0) -> GapTables:
    """Tabulate how long a page is out of date in a gap, in slots: Poisson slots, and exponential changes."""
    rates, weights = _weighted(rates, weights)

    def tables(count: int) -> GapTable:
        fresh = -np.expm1(-np.log1p(rates)[:, None] * _gaps(count)) / rates[:, None]
        return GapTable(weights[:, None] * (_gaps(count) - fresh), weights, -weights / rates)

    return tables


def powers(weights: ArrayLike, exponent: float) -> GapTables:
    """Tabulate costs that rise faster and faster, weights times a power of the gap."""
    weights, _ = _weighted(weights, 1.0)

    def tables(count: int) -> GapTable:
        costs = weights[:, None] * _gaps(count) ** float(exponent)
        return GapTable(costs, np.full(len(weights), np.inf), np.full(len(weights), np.nan))

    return tables


def forgotten(tables: GapTables) -> GapTables:
    """Tabulate the same costs, of which nobody knows how they go on."""

    def unknown(count: int) -> GapTable:
        known = tables(count)
        nothing = np.full(known.servers, np.nan)
        return GapTable(known.costs, nothing, nothing)

    return unknown


def _weighted(rates: ArrayLike, weights: ArrayLike) -> tuple[Vector, Vector]:
    """Bring rates and weights to one length."""
    rates = np.atleast_1d(np.asarray(rates, float))
    return rates, np.broadcast_to(np.asarray(weights, float), rates.shape)


def _gaps(count: int) -> Whole:
    """List gaps from 1 on."""
    return np.arange(1, count + 1)
