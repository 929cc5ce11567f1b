"""A walk for problems that have no cheaper way than to judge every step in full."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..protocols import Decision, Evaluation, Followed, Moves, Problem


@dataclass(eq=False)
class EvaluatedWalk:
    """A walk over binary vectors, every step judged by ``problem.evaluate``."""

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
        """Penalised objective there."""
        return self.evaluation.penalised

    @property
    def feasible(self) -> bool:
        """Whether all constraints are kept there."""
        return self.evaluation.feasible

    def flip(self, index: int) -> float:
        """Turn entry `index` from 0 to 1 or back."""
        return self._go(self._turned((index,)))

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Half single flips, half pairs of entries."""
        length = len(self.decision)
        first = rng.integers(length, size=count)
        second = np.where(rng.random(count) < 0.5, rng.integers(length, size=count), -1)
        return np.stack([first, np.where(second == first, -1, second)], axis=1).astype(np.int64)

    def follow(self, moves: Moves, tolerances: NDArray[np.float64], below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        kept, best = 0, None
        for move, tolerance in zip(moves.tolist(), tolerances.tolist(), strict=True):
            here, judged = self.decision, self.evaluation
            if self._go(self._turned([index for index in move if index >= 0])) > tolerance:
                self.decision, self.evaluation = here, judged
                continue
            kept += 1
            if self.feasible and self.penalised < below:
                below, best = self.penalised, self.decision
        return Followed(kept, best, None if best is None else below)

    def _turned(self, indices: tuple[int, ...] | list[int]) -> Decision:
        entries = list(self.decision)
        for index in indices:
            entries[index] = 1 - entries[index]
        return tuple(entries)

    def _go(self, decision: Decision) -> float:
        before = self.penalised
        self.decision, self.evaluation = decision, self.problem.evaluate(decision)
        return self.penalised - before
