"""Ways to hand out equal units: a space of decisions, beside those of :mod:`heuristics.spaces`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .entries import Integers
from .simplex import Simplex
from .vectors import IntegerBox, OrderedIntegers


@dataclass(frozen=True)
class Splits:
    r"""All vectors of `parts` whole numbers, zero or more, that add up to `total` at most.

    Their partial sums are the non-decreasing vectors from 0 to `total`, so that there are
    :math:`\binom{total + parts}{parts}` of them. Iteration is lexicographic. Neighbours: one unit given, taken away, or
    moved from one part to another.
    """

    parts: int
    total: int

    def __post_init__(self) -> None:
        for name, least in (("parts", 1), ("total", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number, {least} or more, got {value!r}.")

    @property
    def size(self) -> int:
        """Multisets of partial sums."""
        return self._sums.size

    @cached_property
    def _sums(self) -> OrderedIntegers:
        return OrderedIntegers(self.parts, 0, self.total)

    @cached_property
    def _box(self) -> IntegerBox:
        return IntegerBox((0,) * self.parts, (self.total,) * self.parts)

    def check(self, decision: Any) -> Integers:
        """The decision as a tuple of whole numbers, or one sentence on what is wrong with it."""
        values = self._box.check(decision)
        if sum(values) > self.total:
            raise ValueError(f"the entries add up to {sum(values)}; they add up to {self.total} at most.")
        return values

    def __contains__(self, decision: object) -> bool:
        try:
            self.check(decision)
        except ValueError:
            return False
        return True

    def __iter__(self) -> Iterator[Integers]:
        return map(_differences, self._sums)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Every split is equally likely."""
        return _differences(self._sums.sample(rng))

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        """Every neighbour is equally likely."""
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
        """One unit taken away or moved, from one part after the other; then one given."""
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
        """Round; if that is too much, the nearest point with the right total, rounded by the largest remainders."""
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
    return tuple(after - before for before, after in zip((0, *sums), sums, strict=False))


def _moved(decision: Integers, giver: int | None, taker: int | None) -> Integers:
    values = list(decision)
    if giver is not None:
        values[giver] -= 1
    if taker is not None:
        values[taker] += 1
    return tuple(values)
