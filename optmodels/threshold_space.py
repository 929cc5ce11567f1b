"""Threshold vectors, and the steps between policies that are alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from heuristics.spaces import OrderedIntegers


@dataclass(frozen=True)
class Thresholds(OrderedIntegers):
    """All non-decreasing vectors of thresholds.

    Neighbours differ by 1 in one entry, or in several equal ones that stand together: a mode that is switched off
    between two equal thresholds stays off when these move together, so that policies of few modes have each other as
    neighbours.
    """

    def neighbour(self, decision: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """Any neighbour, equally likely; the decision itself if there is none."""
        around = list(self.neighbours(decision))
        return around[int(rng.integers(len(around)))] if around else decision

    def neighbours(self, decision: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """For each entry, it and its equals before it lowered by 1, and it and its equals after it raised by 1."""
        for position, value in enumerate(decision):
            first = decision.index(value)
            last = len(decision) - decision[::-1].index(value)
            if value > self.lower:
                moved = position + 1 - first
                yield (*decision[:first], *[value - 1] * moved, *decision[position + 1 :])
            if value < self.upper:
                yield (*decision[:position], *[value + 1] * (last - position), *decision[last:])
