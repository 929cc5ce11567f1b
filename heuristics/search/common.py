"""What the searches over discrete spaces share: starts, slices of moves, and a walk that evaluates every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import clock
from ..oracle import Oracle
from ..oracle_walk import OracleWalk
from ..protocols import Decision, Evaluation, Followed, Moves, Problem, Suggesting

#: Moves of a walk followed at once where there is no clock to be kept.
SLICE = 256

#: Where there is one, slices grow or shrink to take about so many seconds.
SLICE_SECONDS, SMALLEST_SLICE, LARGEST_SLICE = 0.02, 8, 4096


#: Broken constraints cost this part of their penalty at least while a search is lenient. Where limits are tight, two
#: feasible decisions may have none but badly broken ones between them, and at the full price nothing walks from one to
#: the other: on a 7x7 grid all searches ended 30 % above the optimum.
LEAST_PENALTY = 0.03


def refuses_continuum(strategy: str, problem: Problem) -> str | None:
    """Refuse a problem whose decisions are a continuum, in a sentence."""
    if problem.space.size == math.inf:
        return f"strategy {strategy!r} needs discrete decisions, and those of {problem.name!r} are continuous."
    return None


def starting_points(problem: Problem, rng: np.random.Generator) -> Iterator[Decision]:
    """Yield what the problem suggests, then random decisions without end.

    Parameters
    ----------
    problem
        `Suggesting` or not.
    rng
        Draws them.

    Yields
    ------
    Decision
        In canonical form.

    Examples
    --------
    >>> from heuristics.testing import Separable
    >>> len(next(starting_points(Separable(), np.random.default_rng(0))))
    7
    """
    if isinstance(problem, Suggesting):
        for decision in problem.suggestions(rng):
            yield problem.space.check(decision)
    while True:
        yield problem.space.sample(rng)


class Slices:
    """Follows moves slice by slice, so that the clock is looked at often whatever the price of a step.

    Without a time limit all slices have one size: then the answer cannot depend on how fast the machine is.
    """

    def __init__(self, oracle: Oracle[Any]) -> None:
        self.oracle, self.timed = oracle, math.isfinite(oracle.remaining_seconds)
        self.size = SMALLEST_SLICE if self.timed else SLICE

    def follow(self, walk: OracleWalk, moves: Moves, tolerances: NDArray[np.float64]) -> Followed:
        """Follow one slice, `size` moves at most, and choose the size of the next."""
        began = clock.now()
        followed = walk.follow(moves, tolerances)
        if self.timed:
            pace = SLICE_SECONDS / max(clock.now() - began, 1e-6)
            self.size = int(min(max(1, self.size * min(2.0, pace)), LARGEST_SLICE))
        return followed

    def descend(
        self, walk: OracleWalk, moves: Moves, slack: Callable[[], float] = lambda: 0.0, until: float = math.inf
    ) -> int:
        """Offer moves in turn until a time on the oracle's clock; keep and count those that gain at least a slack."""
        kept = at = 0
        while at < len(moves) and self.oracle.seconds <= until:
            some = moves[at : at + self.size]
            at += len(some)
            kept += self.follow(walk, some, np.full(len(some), -slack())).kept
        return kept


def flipped(decision: Decision, indices: Iterable[int]) -> Decision:
    """Turn entries of a binary vector from 0 to 1 or back."""
    entries = list(decision)
    for index in indices:
        entries[index] = 1 - entries[index]
    return tuple(entries)


@dataclass(eq=False)
class EvaluatedWalk:
    """A walk over binary vectors of a problem that has no cheaper way than to evaluate every step in full.

    Parameters
    ----------
    problem
        Its ``evaluate`` is asked at every step.
    decision
        Where the walk begins, and where it stands.
    """

    problem: Problem
    decision: Decision
    evaluation: Evaluation = field(init=False)

    def __post_init__(self) -> None:
        self.evaluation = self.problem.evaluate(self.decision)

    @property
    def current(self) -> Decision:
        """Where the walk stands."""
        return self.decision

    @property
    def penalised(self) -> float:
        """The penalised objective there."""
        return self.evaluation.penalised

    @property
    def feasible(self) -> bool:
        """Whether all constraints are kept there."""
        return self.evaluation.feasible

    def flip(self, index: int) -> float:
        """Turn entry `index` from 0 to 1 or back."""
        return self._go(flipped(self.decision, (index,)))

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Draw moves: half are single flips, half pairs of entries."""
        free = np.array(getattr(self.problem.space, "free", range(len(self.decision))), np.int64)
        if not len(free):
            return np.full((count, 2), -1, np.int64)
        first = free[rng.integers(len(free), size=count)]
        second = np.where(rng.random(count) < 0.5, free[rng.integers(len(free), size=count)], -1)
        return np.stack([first, np.where(second == first, -1, second)], axis=1).astype(np.int64)

    def follow(self, moves: Moves, tolerances: NDArray[np.float64], below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        kept, best = 0, None
        for move, tolerance in zip(moves.tolist(), tolerances.tolist(), strict=True):
            here, judged = self.decision, self.evaluation
            if self._go(flipped(self.decision, [index for index in move if index >= 0])) > tolerance:
                self.decision, self.evaluation = here, judged
                continue
            kept += 1
            if self.feasible and self.penalised < below:
                below, best = self.penalised, self.decision
        return Followed(kept, best, None if best is None else below)

    def _go(self, decision: Decision) -> float:
        """Go to a decision, and tell how much more it costs than the last."""
        before = self.penalised
        self.decision, self.evaluation = decision, self.problem.evaluate(decision)
        return self.penalised - before
