"""A total that is shared: in any parts (`Simplex`, a continuum), or in whole units (`Splits`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .vectors import Checked, IntegerBox, Integers, OrderedIntegers, as_numbers, keep_whole

#: Points of a simplex with more entries than this stay arrays: a tuple of 1e8 floats would take gigabytes.
LONGEST_TUPLE = 5_000

#: Entries of a point of a simplex may miss their total by this much, relative.
TOTAL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Simplex(Checked):
    """All vectors of `length` non-negative numbers that add up to `total`: a continuum, without iteration.

    Points with more than 5000 entries are read-only arrays, shorter ones tuples.

    Parameters
    ----------
    length
        Number of entries, 1 or more.
    total
        What they add up to, above 0.

    Examples
    --------
    >>> space = Simplex(3)
    >>> (0.5, 0.5, 0.0) in space, (0.5, 0.6, 0.0) in space
    (True, False)
    >>> space.repair([1.0, 1.0, 0.0])
    (0.5, 0.5, 0.0)
    """

    length: int
    total: float = 1.0

    def __post_init__(self) -> None:
        keep_whole(self, length=1)
        if not (math.isfinite(self.total) and self.total > 0):
            raise ValueError(f"total must be a positive number, got {self.total!r}.")
        object.__setattr__(self, "total", float(self.total))

    @property
    def size(self) -> float:
        """Infinitely many: a continuum."""
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

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a simplex is a continuum: its points cannot be listed.")

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a point, uniform over the simplex: independent exponential numbers, scaled."""
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
        """Draw two points of the segment between the parents, mirror images of each other."""
        weight = rng.random()
        one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        return self._scaled(weight * one + (1 - weight) * other), self._scaled((1 - weight) * one + weight * other)

    def repair(self, values: Sequence[float]) -> Any:
        r"""Find the nearest point in the Euclidean norm: :math:`\max(v_i - \theta, 0)` for some :math:`\theta`."""
        array = as_numbers(values, self.length)
        if not np.isfinite(array).all():
            position = int(np.argmin(np.isfinite(array)))
            raise ValueError(f"entry {position} is {float(array[position])!r}; entries are finite numbers.")
        falling = np.sort(array)[::-1]
        surplus = (np.cumsum(falling) - self.total) / np.arange(1, self.length + 1)
        threshold = surplus[np.flatnonzero(falling > surplus)[-1]]
        return self._scaled(np.maximum(array - threshold, 0.0))

    def _scaled(self, values: NDArray[np.float64]) -> Any:
        """Bring non-negative numbers to the total."""
        return self._point(values * (self.total / values.sum()))

    def _point(self, values: NDArray[np.float64]) -> Any:
        """Return numbers as a tuple, or as a read-only array if there are many."""
        if self.length <= LONGEST_TUPLE:
            return tuple(values.tolist())
        if values.flags.writeable:
            values = values.copy()
            values.flags.writeable = False
        return values


@dataclass(frozen=True)
class Splits(Checked):
    r"""All vectors of `parts` whole numbers, zero or more, that add up to `total` at most.

    Their partial sums are the non-decreasing vectors from 0 to `total`, so that there are
    :math:`\binom{total + parts}{parts}` of them. Iteration is lexicographic. Neighbours: one unit given, taken away, or
    moved from one part to another.

    Parameters
    ----------
    parts
        Number of entries, 1 or more.
    total
        What they add up to at most, 0 or more.

    Examples
    --------
    >>> list(Splits(parts=2, total=2))
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    >>> Splits(2, 2).repair([2.0, 1.0])
    (2, 0)
    """

    parts: int
    total: int

    def __post_init__(self) -> None:
        keep_whole(self, parts=1, total=0)

    @property
    def size(self) -> int:
        """Number of splits: they correspond to multisets of partial sums."""
        return self._sums.size

    @cached_property
    def _sums(self) -> OrderedIntegers:
        return OrderedIntegers(self.parts, 0, self.total)

    @cached_property
    def _box(self) -> IntegerBox:
        return IntegerBox((0,) * self.parts, (self.total,) * self.parts)

    def check(self, decision: Any) -> Integers:
        """Return the decision as a tuple of whole numbers, or raise one sentence on what is wrong with it."""
        values = self._box.check(decision)
        if sum(values) > self.total:
            raise ValueError(f"the entries add up to {sum(values)}; they add up to {self.total} at most.")
        return values

    def __iter__(self) -> Iterator[Integers]:
        return map(_differences, self._sums)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a split; each is equally likely."""
        return _differences(self._sums.sample(rng))

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        """Draw a neighbour; each is equally likely."""
        givers = [part for part, count in enumerate(decision) if count > 0]
        takers = self.parts if sum(decision) < self.total else 0
        moves = len(givers) * self.parts  # to each of the other parts, and to none
        if moves + takers == 0:
            return decision
        chosen = int(rng.integers(moves + takers))
        if chosen >= moves:
            return _moved(decision, None, chosen - moves)
        giver, taker = givers[chosen // self.parts], chosen % self.parts
        return _moved(decision, giver, None if taker == giver else taker)

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        """Take one unit away or move it, from one part after the other; then give one."""
        for giver, count in enumerate(decision):
            if count > 0:
                yield _moved(decision, giver, None)
                yield from (_moved(decision, giver, taker) for taker in range(self.parts) if taker != giver)
        if sum(decision) < self.total:
            yield from (_moved(decision, None, taker) for taker in range(self.parts))

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange a stretch between two random cuts, then bring down what adds up to too much."""
        one, other = self._box.crossover(first, second, rng)
        return self.repair(one), self.repair(other)

    def repair(self, values: Sequence[float]) -> Integers:
        """Round; if that is too much, take the nearest point with the right total, by the largest remainders."""
        rounded = self._box.repair(values)
        if sum(rounded) <= self.total:
            return rounded
        wished = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=1e300, neginf=-1e300)
        # Only how much entries differ matters for the nearest point, and whoever is `total` below the first gets none.
        shifted = np.clip(wished - wished.max() + self.total, 0.0, None)
        point = np.asarray(Simplex(self.parts, float(self.total)).repair(shifted.tolist()))
        whole = np.floor(point).astype(np.int64)
        left = self.total - int(whole.sum())
        whole[np.argsort(whole - point, kind="stable")[: max(left, 0)]] += 1
        return tuple(whole.tolist())


def _differences(sums: Integers) -> Integers:
    """Find the parts whose partial sums these are."""
    return tuple(after - before for before, after in zip((0, *sums), sums, strict=False))


def _moved(decision: Integers, giver: int | None, taker: int | None) -> Integers:
    """Take a unit from one part, or from none, and give it to another, or to none."""
    values = list(decision)
    if giver is not None:
        values[giver] -= 1
    if taker is not None:
        values[taker] += 1
    return tuple(values)
