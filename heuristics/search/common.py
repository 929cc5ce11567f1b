"""What the searches over discrete spaces share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import clock
from ..evaluation import Decision
from ..oracle import Oracle
from ..oracle_walk import OracleWalk
from ..protocols import Followed, Moves, Problem, Suggesting

#: Moves of a walk followed at once where there is no clock to be kept.
SLICE = 256

#: Where there is one, slices grow or shrink to take about so many seconds.
SLICE_SECONDS, SMALLEST_SLICE, LARGEST_SLICE = 0.02, 8, 4096


#: Broken constraints cost this part of their penalty at least while a search is lenient. Where limits are tight, two
#: feasible decisions may have none but badly broken ones between them, and at the full price nothing walks from one to
#: the other: on a 7x7 grid all searches ended 30 % above the optimum.
LEAST_PENALTY = 0.03


def refuses_continuum(strategy: str, problem: Problem) -> str | None:
    """A sentence if the decisions of `problem` are a continuum, else ``None``."""
    if problem.space.size == math.inf:
        return f"strategy {strategy!r} takes discrete decisions only, and those of {problem.name!r} are a continuum."
    return None


def starting_points(problem: Problem, rng: np.random.Generator) -> Iterator[Decision]:
    """What the problem suggests, then random decisions without end."""
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
        self.timed = math.isfinite(oracle.remaining_seconds)
        self.size = SMALLEST_SLICE if self.timed else SLICE

    def follow(self, walk: OracleWalk, moves: Moves, tolerances: NDArray[np.float64]) -> Followed:
        """Follow one slice, `size` moves at most, and choose the size of the next."""
        began = clock.now()
        followed = walk.follow(moves, tolerances)
        if self.timed:
            pace = SLICE_SECONDS / max(clock.now() - began, 1e-6)
            self.size = int(min(max(1, self.size * min(2.0, pace)), LARGEST_SLICE))
        return followed
