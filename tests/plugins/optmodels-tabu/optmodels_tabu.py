"""A strategy from outside: it knows the contract in `heuristics`, and optmodels knows it by its entry point."""

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heuristics import Oracle, Problem, Result


@dataclass(frozen=True)
class Tabu:
    """Walk to the best of a few neighbours, uphill if need be, but never back to where it has just been.

    Parameters
    ----------
    steps
        Length of the walk.
    candidates
        Neighbours drawn at each step.
    tenure
        Number of latest decisions that are taboo.
    """

    steps: int = 200
    candidates: int = 5
    tenure: int = 20

    name: ClassVar[str] = "tabu"
    needs: ClassVar[type] = Problem

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        space = oracle.problem.space
        here = space.sample(rng)
        oracle(here)
        recent = deque([here], maxlen=self.tenure)
        for _ in range(self.steps):
            drawn = [space.neighbour(here, rng) for _ in range(self.candidates)]
            allowed = [decision for decision in drawn if decision not in recent]
            if not allowed:
                recent.popleft()  # walled in: forget the oldest
                if not recent:
                    recent.append(here)
                continue
            here = min(allowed, key=lambda decision: oracle(decision).penalised)
            recent.append(here)
        return oracle.result(stopped_by="steps")
