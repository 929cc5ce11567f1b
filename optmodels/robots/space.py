"""Policies of the robot queue: a 0 or 1 for each number of pages and of active robots, some of them given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics.spaces import BinaryVectors

if TYPE_CHECKING:
    from .problem import RobotsProblem


@dataclass(frozen=True)
class RobotPolicies:
    """All policies of a queue for `capacity` pages and `robots` robots.

    Entry q(N+1)+r says whether one more robot is activated when an event leaves q pages and r active robots. At r = N
    it is 0, at (0, 0) it is 1; the others are free. Iteration counts in binary over the free entries, the first being
    the most significant bit. Neighbours differ in one entry.
    """

    robots: int
    capacity: int

    @property
    def length(self) -> int:
        """Entries of a policy."""
        return (self.capacity + 1) * (self.robots + 1)

    @property
    def size(self) -> int:
        """2 to the number of free entries."""
        return 1 << ((self.capacity + 1) * self.robots - 1)

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Positions of entries that can be chosen."""
        positions = np.arange(self.length)
        free = (positions % (self.robots + 1) != self.robots) & (positions > 0)
        return np.flatnonzero(free)

    @cached_property
    def _vectors(self) -> BinaryVectors:
        return BinaryVectors(self.length)

    def check(self, decision: Any) -> tuple[int, ...]:
        """The decision as a tuple of whole numbers, or one sentence on what is wrong with it."""
        values = self._vectors.check(decision)
        if values[0] != 1:
            raise ValueError("entry 0 is 0; without pages and active robots one is always activated, so that it is 1.")
        last = values[self.robots :: self.robots + 1]
        if any(last):
            position = last.index(1) * (self.robots + 1) + self.robots
            raise ValueError(f"entry {position} is 1; with all {self.robots} robots active none is left to activate.")
        return values

    def __contains__(self, decision: object) -> bool:
        try:
            self.check(decision)
        except (ValueError, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self._with(bits) for bits in product((0, 1), repeat=len(self.free)))

    def sample(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Every policy is equally likely."""
        return self._with(rng.integers(0, 2, size=len(self.free)))

    def neighbour(self, decision: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """Another action in one state, each equally likely."""
        return _flipped(decision, int(self.free[rng.integers(len(self.free))]))

    def neighbours(self, decision: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Another action in one state after the other."""
        for position in self.free.tolist():
            yield _flipped(decision, position)

    def crossover(
        self, first: tuple[int, ...], second: tuple[int, ...], rng: np.random.Generator
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Exchange the actions of a stretch of states between two random cuts; given entries agree already."""
        return self._vectors.crossover(first, second, rng)

    def repair(self, values: Sequence[float]) -> tuple[int, ...]:
        """The nearest policy: entries rounded, the given ones put right."""
        return self._with(np.asarray(self._vectors.repair(values))[self.free])

    def _with(self, bits: Any) -> tuple[int, ...]:
        entries = np.zeros(self.length, dtype=np.int64)
        entries[0] = 1
        entries[self.free] = bits
        return tuple(entries.tolist())


class SoughtPolicies(RobotPolicies):
    """The policies of a problem that has as many robots as ever help: how many is found when it is first asked for.

    Whether something is a problem at all is asked before any clock starts, and must not take long.
    """

    def __init__(self, problem: RobotsProblem) -> None:
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "capacity", problem.capacity)

    @property
    def robots(self) -> int:
        """As many as the problem's queue has."""
        problem: RobotsProblem = vars(self)["problem"]
        return problem.queue.robots


def _flipped(decision: tuple[int, ...], position: int) -> tuple[int, ...]:
    return (*decision[:position], 1 - decision[position], *decision[position + 1 :])
