"""Shares that add up to a total: a space of decisions that is a continuum."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .entries import as_numbers, as_whole, passes

#: Points of a simplex with more entries than this stay arrays: a tuple of 1e8 floats would take gigabytes.
LONGEST_TUPLE = 5_000

#: Entries of a point of a simplex may miss their total by this much, relative.
TOTAL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Simplex:
    """All vectors of `length` non-negative numbers that add up to `total`: a continuum, without iteration.

    Points with more than 5000 entries are read-only arrays, shorter ones tuples.
    """

    length: int
    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", as_whole("length", self.length, least=1))
        if not (math.isfinite(self.total) and self.total > 0):
            raise ValueError(f"total must be a positive number, got {self.total!r}.")
        object.__setattr__(self, "total", float(self.total))

    @property
    def size(self) -> float:
        """Infinite."""
        return math.inf

    def check(self, decision: Any) -> Any:
        values = as_numbers(decision, self.length)
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            position = int(np.argmax(wrong))
            raise ValueError(f"entry {position} is {float(values[position])!r}; entries are numbers, zero or more.")
        total = float(values.sum())
        if not math.isclose(total, self.total, rel_tol=TOTAL_TOLERANCE):
            raise ValueError(f"the entries add up to {total!r}; they must add up to {self.total!r}.")
        return self._point(values)

    def __contains__(self, decision: object) -> bool:
        return passes(self.check, decision)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a simplex is a continuum: its points cannot be listed.")

    def sample(self, rng: np.random.Generator) -> Any:
        """Uniform over the simplex: independent exponential numbers, scaled."""
        return self._scaled(rng.standard_exponential(self.length))

    def neighbour(self, decision: Any, rng: np.random.Generator) -> Any:
        """Move a random part of one positive entry to another entry."""
        if self.length == 1:
            return decision
        values = np.array(decision, dtype=float)
        giver = int(rng.choice(np.flatnonzero(values > 0)))
        taker = (giver + 1 + int(rng.integers(self.length - 1))) % self.length
        moved = values[giver] * (1.0 - rng.random())
        values[giver] -= moved
        values[taker] += moved
        return self._scaled(values)

    def neighbours(self, decision: Any) -> Iterator[Any]:
        raise TypeError("a simplex is a continuum: the neighbours of a point cannot be listed.")

    def crossover(self, first: Any, second: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """Two points of the segment between the parents, mirror images of each other."""
        weight = rng.random()
        one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        return self._scaled(weight * one + (1 - weight) * other), self._scaled((1 - weight) * one + weight * other)

    def repair(self, values: Sequence[float]) -> Any:
        r"""The nearest point in the Euclidean norm, :math:`\max(v_i - \theta, 0)` with the fitting :math:`\theta`."""
        array = as_numbers(values, self.length)
        if not np.isfinite(array).all():
            position = int(np.argmin(np.isfinite(array)))
            raise ValueError(f"entry {position} is {float(array[position])!r}; entries are finite numbers.")
        falling = np.sort(array)[::-1]
        surplus = (np.cumsum(falling) - self.total) / np.arange(1, self.length + 1)
        threshold = surplus[np.flatnonzero(falling > surplus)[-1]]
        return self._scaled(np.maximum(array - threshold, 0.0))

    def _scaled(self, values: NDArray[np.float64]) -> Any:
        return self._point(values * (self.total / values.sum()))

    def _point(self, values: NDArray[np.float64]) -> Any:
        if self.length <= LONGEST_TUPLE:
            return tuple(values.tolist())
        if values.flags.writeable:
            values = values.copy()
            values.flags.writeable = False
        return values
