"""Which sites have a server, and of which type, as a space of decisions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from heuristics.spaces import IntegerBox, Vectors, flattened

from ..geometry.fixed import CLOSED, OPEN

Integers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class SiteTypes(Vectors):
    """For every site 0, or the number of a type, from 1; neighbours differ at one site, or have one server moved.

    Where sites are fixed, all decisions made here keep that; others may still be asked about.

    Parameters
    ----------
    kinds
        How many types there are.
    fixed
        Per site: 1 if it is open, 0 if it is closed, -1 otherwise.
    rows
        Decisions may also be given as matrices of so many rows; ``None``: they may not.
    """

    kinds: int
    fixed: Integers
    rows: int | None = field(default=None, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Number of sites."""
        return len(self.fixed)

    @cached_property
    def values(self) -> tuple[range, ...]:
        """What each site may have."""
        every = range(self.kinds + 1)
        return tuple(every[:1] if state == CLOSED else every[1:] if state == OPEN else every for state in self.fixed)

    @property
    def size(self) -> int:
        """Number of decisions."""
        return math.prod(map(len, self.values))

    def check(self, decision: Any) -> Integers:
        """Return a decision as integers, or say what is wrong with it."""
        if self.rows is not None:
            decision = flattened(decision, self.rows, self.length)
        return self._box.check(decision)

    @cached_property
    def _box(self) -> IntegerBox:
        return IntegerBox((0,) * self.length, (self.kinds,) * self.length)

    def __iter__(self) -> Iterator[Integers]:
        return product(*self.values)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a decision; each is equally likely."""
        return tuple(int(rng.choice(some)) for some in self.values)

    def steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        """Go through the sites, and what else each of them may have."""
        for site, (own, some) in enumerate(zip(decision, self.values, strict=True)):
            yield from ((site, value) for value in some if value != own)

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        """Go through all neighbours: another value at a site, then servers that move to a closed site."""
        yield from super().neighbours(decision)
        closed = [site for site, value in enumerate(decision) if value == 0]
        for site, value in enumerate(decision):
            for other in closed if value else ():
                if 0 in self.values[site] and value in self.values[other]:
                    entries = list(decision)
                    entries[site], entries[other] = 0, value
                    yield tuple(entries)

    def repair(self, values: Sequence[float]) -> Integers:
        """Round, then clip."""
        rounded = self._box.repair(values)
        return tuple(min(max(value, some[0]), some[-1]) for value, some in zip(rounded, self.values, strict=True))
