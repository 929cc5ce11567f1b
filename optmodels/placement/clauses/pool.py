"""Clauses that every feasible placement keeps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .kernels import Setting, overload_clauses, service_clauses

Clause = tuple[int, ...]


@dataclass
class Pool:
    """Clauses over sites, each once."""

    clauses: dict[Clause, None] = field(default_factory=dict)

    def add(self, clauses: Iterable[Clause]) -> list[Clause]:
        """Take in clauses, and return those that are new."""
        new = []
        for clause in clauses:
            if clause not in self.clauses:
                self.clauses[clause] = None
                new.append(clause)
        return new

    def __iter__(self) -> Iterator[Clause]:
        return iter(self.clauses)

    def __len__(self) -> int:
        return len(self.clauses)


def from_placements(
    setting: Setting, placements: NDArray[np.uint8], rng: np.random.Generator, most: int = 1 << 30
) -> list[Clause]:
    """Clauses that placements break: for each overloaded site one, minimal; half of them far sites opened first."""
    noise = rng.random(placements.shape)
    far = rng.choice([0.0, 0.3, 1.0, 10.0], len(placements))
    return _tuples(*overload_clauses(setting, placements, noise, far, most))


def around_clients(setting: Setting) -> list[Clause]:
    """Clauses of who can serve each cell, and why others cannot, see `service_clauses`."""
    return _tuples(*service_clauses(setting))


def _tuples(literals: NDArray[np.int32], starts: NDArray[np.int64]) -> list[Clause]:
    flat, ends = literals.tolist(), starts.tolist()
    return [tuple(sorted(flat[a:b])) for a, b in itertools.pairwise(ends)]
