"""Tables of gap costs that tests of routing share; losses are in `heuristics.testing`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from heuristics.protocols import Vector, Whole
from heuristics.routing import GapTable, GapTables


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
