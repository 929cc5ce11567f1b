"""What a proof is made of, kept for those who ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from .pool import Clause


@dataclass(frozen=True, eq=False)
class Refutation:
    """Clauses and a limit on cost that cannot be kept together, so that nothing costs less.

    Parameters
    ----------
    clauses
        Each follows from overloads alone: with its open sites closed and all others open, close all that are overloaded
        until nobody is; then the site that it closes is closed, or, where it closes none, all are.
    dear
        Clauses that no placement cheaper than the best one breaks: sites that together cost as much.
    prices
        Of the sites, in whole units.
    unit
        What one unit is worth; prices are rounded down.
    order
        Of the sites in the counter.
    most
        The limit, in units.
    engine, versions
        Who found that they cannot be kept together.
    log
        What happened, line by line.
    drat
        Proof of the clauses and the counter (`optmodels.placement.clauses.counter`) in this order, if it was asked for.

    Examples
    --------
    >>> Refutation(((1, 2),), (3, 4), (0, 1), 2, "sat", {}).dear  # one of two sites is open: at least 3
    ()
    """

    clauses: tuple[Clause, ...]
    prices: tuple[int, ...]
    order: tuple[int, ...]
    most: int
    engine: str
    versions: Mapping[str, str]
    log: tuple[str, ...] = ()
    drat: Path | None = None
    unit: float = 1.0
    dear: tuple[Clause, ...] = field(default=())


@dataclass
class Keeper:
    """Where proofs go: the files to a folder, the rest into a list."""

    folder: Path
    found: list[Refutation] = field(default_factory=list)


KEEPER: ContextVar[Keeper | None] = ContextVar("keeper", default=None)


@contextmanager
def keeping(folder: Path) -> Iterator[Keeper]:
    """Keep the proofs of all runs of the strategy `clauses` in this block.

    Parameters
    ----------
    folder
        Where proof files of solvers are written.

    Yields
    ------
    Keeper
        Its list ``found`` holds a `Refutation` for every optimum that engine ``sat`` proved.

    Examples
    --------
    >>> from pathlib import Path
    >>> with keeping(Path(".")) as keeper:
    ...     pass  # a run of the strategy would be here
    >>> keeper.found
    []
    """
    keeper = Keeper(folder)
    token = KEEPER.set(keeper)
    try:
        yield keeper
    finally:
        KEEPER.reset(token)
