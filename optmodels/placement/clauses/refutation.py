"""What a proof is made of, kept for those who ask."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .counter import Counter
from .pool import Clause


@dataclass(frozen=True, eq=False)
class Limited:
    """A sum that a counter limits.

    Parameters
    ----------
    sum
        ``"cost"`` (of the open sites, in units), ``"open"`` or ``"closed"`` (their numbers).
    most
        The limit.
    order
        Of the sites in the counter.
    counter
        Its clauses.
    """

    sum: str
    most: int
    order: tuple[int, ...]
    counter: Counter


@dataclass(frozen=True, eq=False)
class Refutation:
    """Clauses and limits that cannot be kept together, so that nothing is cheaper; or what is known on the way there.

    Parameters
    ----------
    clauses
        Each follows from overloads alone: with its open sites closed and all others open, close all that are overloaded
        until nobody is; then the site that it closes is closed, or, where it closes none, all are.
    prices
        Of the sites, in whole units.
    unit
        What one unit is worth; prices are rounded down.
    decision, objective
        The best placement, and what it costs; ``None``: there is none.
    bound
        Below which nothing lies.
    log
        What happened, line by line.
    dear
        Clauses that no placement cheaper than the best one breaks: sites that together cost as much.
    lemmas
        Clauses that follow from `clauses` by propagation, one after the other.
    limits
        Counters; none: this is a checkpoint.
    engine, versions
        Who found that they cannot be kept together.
    drat
        How: for the `lemmas` (and `clauses`), `dear` and the counters.

    Examples
    --------
    >>> Refutation(((1, 2),), (3, 4), 1.0, (1, 0), 3.0, 3.0, ()).complete
    False
    """

    clauses: tuple[Clause, ...]
    prices: tuple[int, ...]
    unit: float
    decision: tuple[int, ...] | None
    objective: float | None
    bound: float | None
    log: tuple[str, ...]
    dear: tuple[Clause, ...] = ()
    lemmas: tuple[Clause, ...] = ()
    limits: tuple[Limited, ...] = ()
    engine: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    drat: Path | None = None

    @property
    def complete(self) -> bool:
        """Whether this is a proof, not a checkpoint."""
        return bool(self.limits)


class Keeper(Protocol):
    """Who keeps the proof of one run, and knows what an earlier run kept."""

    @property
    def folder(self) -> Path:
        """For the files of solvers."""

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """To go on from; they were checked."""

    @property
    def decision(self) -> NDArray[np.uint8] | None:
        """To go on from; it was checked."""

    @property
    def due(self) -> bool:
        """Whether the last checkpoint is old."""

    def keep(self, found: Refutation) -> None:
        """Write a proof, or a checkpoint."""


KEEPER: ContextVar[Keeper | None] = ContextVar("keeper", default=None)
