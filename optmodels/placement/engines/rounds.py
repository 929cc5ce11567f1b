"""Rounds of a solver that knows some clauses: its cheapest placement, the clauses that it breaks, and once more.

This runs in the solver's own process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heuristics import OPTIMALITY_TOLERANCE

from ...mip.program import Incumbent, Log, Outcome, Request
from ...mip.worker import Channel
from ..clauses.operating import Operated
from ..clauses.pool import Clause
from ..clauses.sources import Source

#: A placement that breaks something is looked at in this many random orders, with this many others near it, of which
#: this share of sites is flipped.
ORDERS, NEIGHBOURS, FLIPPED = 4, 40, 0.06


@dataclass(frozen=True)
class MasterRequest(Request):
    """A program of what clauses speak of, sites first, and what is needed to make more clauses for it.

    Parameters
    ----------
    source
        What decides who is overloaded.
    clauses
        Those known, where the program does not hold them as rows.
    fewest, most
        Sites that must and may be open.
    seed
        Of the random orders in which clauses are made minimal.
    best, unit
        The best cost known, and that of one unit of the program: where there are operating costs.
    """

    source: Source | None = None
    clauses: tuple[Clause, ...] = ()
    fewest: int = 0
    most: int | None = None
    seed: int = 0
    best: float = math.inf
    unit: float = 1.0


@dataclass(frozen=True)
class Learnt(Log):
    """Clauses made between two rounds, for whoever works beside."""

    clauses: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a solver says of the clauses it knows: its last word, and the placements it met, the cheapest last."""

    outcome: Outcome
    placements: tuple[NDArray[np.uint8], ...] = ()


def complete(
    request: MasterRequest,
    channel: Channel,
    cheapest: Callable[[], Answer],
    add: Callable[[Iterable[Clause]], None],
) -> Outcome:
    """Ask for the cheapest placement until it overloads nobody, or there is none.

    Parameters
    ----------
    request, channel
        As a backend gets them.
    cheapest
        Asks the solver.
    add
        Tells it more clauses.

    Returns
    -------
    Outcome
        The last word, with the clauses made on the way in its detail: ``clauses``, ``dear`` (those that only cut off
        what is no cheaper than the best), and ``rounds``.
    """
    source = request.source
    assert source is not None
    rng = np.random.default_rng(request.seed)
    made: dict[Clause, None] = {}
    dear: list[Clause] = []
    best = request.best
    detail: dict[str, Any] = {"rounds": 0, "dear": dear}
    while True:
        answer = cheapest()
        outcome = answer.outcome
        detail |= outcome.detail | {"rounds": detail["rounds"] + 1, "clauses": list(made)}
        broken = [clause for placement in answer.placements for clause in _broken(source, placement, rng)]
        last = answer.placements[-1] if answer.placements else None
        kept = last is not None and source.keeps(last[: source.sites])
        if kept and last is not None:
            price = float(request.program.cost @ last)
            channel.send(Incumbent(last.astype(float), price))
        if kept and last is not None and isinstance(source, Operated) and outcome.status == "optimal":
            placement = last[: source.sites]
            best = min(best, source.cost(placement))
            least = -math.inf if outcome.bound is None else request.unit * math.ceil(outcome.bound - 0.01)
            if least >= best * (1 - OPTIMALITY_TOLERANCE):
                detail["clauses"] = [*made, *broken]
                return Outcome("infeasible", message="nothing is cheaper", detail=detail)
            rises = [clause for clause in source.rises(last, rng) if clause not in made]
            broken += rises
            if not rises:
                dear.append(source.dear(placement, best, rng))
                add(dear[-1:])
            kept = False
        if outcome.status != "optimal" or kept:
            detail["clauses"] = [*made, *broken]
            return Outcome(outcome.status, outcome.objective, outcome.bound, outcome.message, detail)
        new = [clause for clause in dict.fromkeys(broken) if clause not in made]
        made.update(dict.fromkeys(new))
        add(new)
        channel.send(Learnt(f"{len(new)} clauses", tuple(new)))
        if channel.stopped or channel.remaining_seconds <= 0:
            word = "interrupt" if channel.stopped else "seconds"
            return Outcome(word, None, outcome.bound, "between two rounds", detail | {"clauses": list(made)})


def _broken(source: Source, point: NDArray[np.uint8], rng: np.random.Generator) -> Iterator[Clause]:
    """Clauses that a placement breaks, and some that placements near it do; none if it is feasible."""
    placement = point[: source.sites]
    if not source.keeps(placement):
        yield from source.broken(np.repeat(placement[None], ORDERS, axis=0), rng)
        near = np.repeat(placement[None], NEIGHBOURS, axis=0)
        near ^= (rng.random(near.shape) < FLIPPED).astype(np.uint8)
        yield from source.broken(near & source.allowed, rng)
