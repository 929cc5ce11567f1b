"""Descent to local optima from many starting points."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from .evaluation import Decision
from .oracle import Oracle, OracleWalk
from .protocols import Incremental, Problem, Space
from .result import Result
from .searching import Slices, refuses_continuum, require_fields, starting_points
from .spaces import BinaryVectors

#: Starting points where neither `restarts` nor a budget says how many.
RESTARTS = 10

#: Neighbours judged together.
BATCH = 64

#: A step must lower the penalised objective by this much (relative) to count: rounding errors must not make circles.
PROGRESS = 1e-9

#: A walk sums up its steps: what rounding leaves, relative to where it began, is no step.
NOISE = 1e-15


@dataclass(frozen=True)
class LocalSearch:
    """Step to better neighbours until there is none; begin anew from another starting point.

    The first descents begin at what the problem suggests, if it does, the others at random decisions. A local optimum
    of the penalised objective is nothing proved. On `Incremental` problems over binary vectors the neighbours are
    walked, not judged one by one.

    Parameters
    ----------
    restarts
        Number of descents; by default until the budget is spent (but no more than there are decisions), or 10 without
        a budget.
    improvement
        Step to the ``"first"`` better neighbour in the order of the space, or to the ``"best"`` of all.
    """

    restarts: int | None = None
    improvement: str = "first"

    name: ClassVar[str] = "local-search"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(
            self,
            restarts=(self.restarts is None or self.restarts >= 1, "1 or more"),
            improvement=(self.improvement in ("first", "best"), "'first' or 'best'"),
        )

    def refuses(self, problem: Problem) -> str | None:
        """Refuse a continuum."""
        return refuses_continuum(self.name, problem)

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Descend from one starting point after another."""
        problem = oracle.problem
        limited = math.isfinite(oracle.remaining_seconds) or math.isfinite(oracle.remaining_evaluations)
        restarts = self.restarts or (min(int(problem.space.size), sys.maxsize) if limited else RESTARTS)
        walks = isinstance(problem, Incremental) and isinstance(problem.space, BinaryVectors)
        slices = Slices(oracle)
        for optima, start in enumerate(islice(starting_points(problem, rng), restarts), start=1):
            if not walks:
                (_first if self.improvement == "first" else _best)(oracle, start)
            elif self.improvement == "first":
                _walk_first(oracle.walk(start), len(start), rng, slices)
            else:
                _walk_best(oracle.walk(start), len(start))
            oracle.extra["local_optima"] = optima
        return oracle.result()


def better(candidate: float, current: float) -> bool:
    """Whether a penalised objective is lower by more than rounding."""
    return candidate < current - PROGRESS * abs(current) if math.isfinite(current) else candidate < current


def _first(oracle: Oracle[Problem], current: Decision) -> Decision:
    """Take the first better neighbour; go on in the list where it was found, which spares looking at the same again."""
    space, judged = oracle.problem.space, oracle(current).penalised
    position = 0
    improved = True
    while improved:
        improved = False
        for offset, neighbour in _rotated(space, current, position):
            candidate = oracle(neighbour).penalised
            if better(candidate, judged):
                current, judged, position, improved = neighbour, candidate, offset, True
                break
    return current


def _rotated(space: Space, decision: Decision, start: int) -> Iterator[tuple[int, Decision]]:
    """Numbered neighbours from number `start` on, then those before it; made twice rather than kept."""
    later = islice(enumerate(space.neighbours(decision)), start, None)
    return chain(later, islice(enumerate(space.neighbours(decision)), start))


def _best(oracle: Oracle[Problem], current: Decision) -> Decision:
    space, judged = oracle.problem.space, oracle(current).penalised
    while True:
        neighbours = space.neighbours(current)
        step, lowest = None, judged
        while batch := list(islice(neighbours, BATCH)):
            for neighbour, evaluation in zip(batch, oracle.many(batch), strict=True):
                if better(evaluation.penalised, lowest):
                    step, lowest = neighbour, evaluation.penalised
        if step is None:
            return current
        current, judged = step, lowest


def _walk_first(walk: OracleWalk, length: int, rng: np.random.Generator, slices: Slices) -> None:
    """Flip entries in random order, keeping what helps, until a whole round keeps nothing."""
    noise = NOISE * abs(walk.penalised)
    kept = 1
    while kept:
        kept = 0
        moves = rng.permutation(length).astype(np.int64)[:, None]
        moves = np.hstack([moves, np.full_like(moves, -1)])
        at = 0
        while at < length:
            slack = PROGRESS * abs(walk.penalised) + noise
            some = moves[at : at + slices.size]
            at += len(some)
            kept += slices.follow(walk, some, np.full(len(some), -slack)).kept


def _walk_best(walk: OracleWalk, length: int) -> None:
    """Flip every entry and back, then flip the best for good."""
    noise = NOISE * abs(walk.penalised)
    while True:
        slack = PROGRESS * abs(walk.penalised) + noise
        changes = []
        for index in range(length):
            changes.append(walk.flip(index))
            walk.flip(index)
        chosen = int(np.argmin(changes))
        if changes[chosen] >= -slack:
            return
        walk.flip(chosen)
