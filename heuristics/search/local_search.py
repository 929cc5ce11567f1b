"""Descent to local optima from many starting points."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from ..oracle import Oracle
from ..oracle_walk import OracleWalk
from ..protocols import Decision, Incremental, Moves, Problem, Space
from ..result import Result
from ..running import require_fields
from ..spaces import BinaryVectors
from .common import LEAST_PENALTY, Slices, flipped, refuses_continuum, starting_points

#: Starting points where neither `restarts` nor a budget says how many.
RESTARTS = 10

#: Neighbours evaluated together.
BATCH = 64

#: Swaps drawn at once at most, whatever the length of the vectors.
MOST_SWAPS = 1_000_000

#: A step must lower the penalised objective by this much (relative) to count: rounding errors must not make circles.
PROGRESS = 1e-9

#: A walk sums up its steps: what rounding leaves, relative to where it began, is no step.
NOISE = 1e-15


@dataclass(frozen=True)
class LocalSearch:
    """Move to better neighbours until there is none, then restart from another decision.

    The first descents begin at what the problem suggests, if it does, the others at random decisions. A local optimum
    of the penalised objective is nothing proved. On `Incremental` problems over binary vectors the neighbours are
    walked, not evaluated one by one. Where walks can charge less for broken constraints (`Lenient`), a descent is first
    made at a random part of the penalty, from 0.03 to 1, and goes on from its end at all of it. Binary vectors have
    swaps for neighbours, too: where no single entry is worth flipping, a 1 and a 0 change places.

    ``extra`` has the ``local_optima`` reached, and ``descents`` where one more was begun and cut short by the budget.

    Parameters
    ----------
    restarts
        Number of descents; by default until the budget is spent (but no more than there are decisions), or 10 without
        a budget.
    improvement
        Step to the ``"first"`` better neighbour in the order of the space, or to the ``"best"`` of all.
    swaps
        Swaps tried for each entry of a binary vector before it is taken for a local optimum: all pairs of a 1 and a 0
        if these are no more, else as many at random. 0: none.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Knapsack
    >>> run(Knapsack(), LocalSearch(restarts=10), seed=1).objective
    -18.0
    """

    restarts: int | None = None
    improvement: str = "first"
    swaps: int = 50

    name: ClassVar[str] = "local-search"
    needs: ClassVar[type] = Problem
    tunable: ClassVar[Mapping[str, str]] = {"improvement": "first,best", "swaps": "0..200"}

    def __post_init__(self) -> None:
        require_fields(
            self,
            restarts=(self.restarts is None or self.restarts >= 1, "1 or more"),
            improvement=(self.improvement in ("first", "best"), "'first' or 'best'"),
            swaps=(self.swaps >= 0, "0 or more"),
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
            oracle.extra["descents"] = optima
            if not walks:
                _descend(oracle, start, self.improvement == "first", rng, self.swaps)
            else:
                walk = oracle.walk(start)
                descend = partial(_walk_first, slices=slices) if self.improvement == "first" else _walk_best
                if walk.weigh(1.0):
                    walk.weigh(LEAST_PENALTY ** rng.random())
                    descend(walk, len(start), rng, self.swaps)
                    walk.weigh(1.0)
                descend(walk, len(start), rng, self.swaps)
            oracle.extra["local_optima"] = optima
        del oracle.extra["descents"]
        return oracle.result()


def better(candidate: float, current: float) -> bool:
    """Tell whether a penalised objective is lower by more than rounding."""
    return candidate < current - PROGRESS * abs(current) if math.isfinite(current) else candidate < current


def swap_pairs(decision: Decision, rng: np.random.Generator, swaps: int) -> Moves:
    """Pair a 1 and a 0 of a binary vector: all pairs in random order or, if these are fewer, `swaps` for each entry."""
    entries = np.asarray(decision)
    ones, zeros = np.flatnonzero(entries == 1), np.flatnonzero(entries == 0)
    count = len(ones) * len(zeros)
    most = min(swaps * len(entries), MOST_SWAPS)
    chosen = rng.permutation(count) if count <= most else rng.integers(count, size=most)
    if not count:
        return np.empty((0, 2), np.int64)
    return np.stack([ones[chosen // len(zeros)], zeros[chosen % len(zeros)]], axis=1).astype(np.int64)


def _descend(oracle: Oracle[Problem], current: Decision, first: bool, rng: np.random.Generator, swaps: int) -> None:
    """Go down by neighbours and, on binary vectors, where that ends by swaps."""
    step: Decision | None = current
    while step is not None:
        current = (_first if first else _best)(oracle, step)
        if not isinstance(oracle.problem.space, BinaryVectors):
            return
        pairs = swap_pairs(current, rng, swaps).tolist()
        swapped = (flipped(current, pair) for pair in pairs)
        step, _ = _better(oracle, swapped, oracle(current).penalised, first)


def _better(
    oracle: Oracle[Problem], candidates: Iterator[Decision], lowest: float, first: bool = False
) -> tuple[Decision | None, float]:
    """Find the first candidate below a penalised objective, or the best; ``None`` if none is."""
    step = None
    while batch := list(islice(candidates, BATCH)):
        for candidate, evaluation in zip(batch, oracle.many(batch), strict=True):
            if better(evaluation.penalised, lowest):
                step, lowest = candidate, evaluation.penalised
                if first:
                    return step, lowest
    return step, lowest


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
    """Number the neighbours, and begin with number `start`; they are made twice rather than kept."""
    later = islice(enumerate(space.neighbours(decision)), start, None)
    return chain(later, islice(enumerate(space.neighbours(decision)), start))


def _best(oracle: Oracle[Problem], current: Decision) -> Decision:
    """Take the best of all neighbours until none is better."""
    lowest = oracle(current).penalised
    while True:
        step, lowest = _better(oracle, oracle.problem.space.neighbours(current), lowest)
        if step is None:
            return current
        current = step


def _walk_first(walk: OracleWalk, length: int, rng: np.random.Generator, swaps: int, slices: Slices) -> None:
    """Flip entries in random order, keeping what helps, until a whole round keeps nothing and no swap helps."""
    slack = partial(_slack, walk, NOISE * abs(walk.penalised))
    while True:
        flips = rng.permutation(length).astype(np.int64)[:, None]
        kept = slices.descend(walk, np.hstack([flips, np.full_like(flips, -1)]), slack)
        if not kept and not slices.descend(walk, swap_pairs(walk.current, rng, swaps), slack):
            return


def _walk_best(walk: OracleWalk, length: int, rng: np.random.Generator, swaps: int) -> None:
    """Flip every entry and back, then flip the best for good; where none helps, the same with swaps."""
    noise = NOISE * abs(walk.penalised)
    while True:
        changes = []
        for index in range(length):
            changes.append(walk.flip(index))
            walk.flip(index)
        chosen = [int(np.argmin(changes))]
        if changes[chosen[0]] > -_slack(walk, noise):
            pairs = swap_pairs(walk.current, rng, swaps).tolist()
            changes = []
            for one, other in pairs:
                changes.append(walk.flip(one) + walk.flip(other))
                walk.flip(other)
                walk.flip(one)
            if not changes or min(changes) > -_slack(walk, noise):
                return
            chosen = pairs[int(np.argmin(changes))]
        for index in chosen:
            walk.flip(index)


def _slack(walk: OracleWalk, noise: float) -> float:
    """Compute what a step must gain at least to count, more than nothing."""
    return max(PROGRESS * abs(walk.penalised) + noise, sys.float_info.min)
