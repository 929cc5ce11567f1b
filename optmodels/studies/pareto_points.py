r"""Which of many points are worth having when two numbers are to be small, and which of those a weighted sum finds.

A point (a, b) is on the *front* if no other is as good in both numbers and better in one. It is *supported* if it lies
on the lower left convex hull of all points: then some weight :math:`w \ge 0` makes it the least of :math:`a + w b`. A
point of the front above the hull is the least of no weighted sum; its height above the hull, in units of a, is the gap
that no Lagrange multiplier closes in the problem "least a while b stays at most what this point has".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heuristics import NOTHING, Decision

Floats = NDArray[np.float64]

#: Numbers this close are one number computed twice: relative to themselves, and to the largest.
SAME, SAME_OF_LARGEST = 1e-9, 1e-15

#: A point counts as on the hull if it is no further above it than this part of what the front spans.
ON_HULL = 1e-10

#: Points merged into an archive at a time.
MERGED_AT_ONCE = 4096

#: Points kept for the reader's eye; more are thinned out evenly.
SHOWN = 20_000


@dataclass(frozen=True)
class Candidate:
    """A decision and its two numbers, both to be small.

    Attributes
    ----------
    first, second
        The numbers.
    decision
        The first decision met that has them.
    equivalent
        How many decisions have them.
    proved
        No feasible decision with as small a second number has a smaller first one.
    measures
        All the problem tells.
    """

    first: float
    second: float
    decision: Decision
    equivalent: int = 1
    proved: bool = True
    measures: Mapping[str, float | None] = field(default_factory=lambda: NOTHING)


class Support(NamedTuple):
    """Where a point of the front lies with respect to the hull.

    Attributes
    ----------
    weights
        Smallest and largest weight of the second number for which the point is the least of the weighted sum, ``inf``
        without end; ``None`` if there is none.
    gap
        Height above the hull in units of the first number, 0 on it.
    """

    weights: tuple[float, float] | None
    gap: float


class Archive:
    """The front of all points shown so far, and a sample of the others."""

    def __init__(self) -> None:
        self.count = 0
        self._front: list[Candidate] = []
        self._new: list[Candidate] = []
        self._shown: list[tuple[float, float]] = []
        self._stride = 1

    def add(self, candidate: Candidate) -> None:
        """Take a point into account; of equal ones the first is kept."""
        if self.count % self._stride == 0:
            self._shown.append((candidate.first, candidate.second))
            if len(self._shown) > SHOWN:
                self._shown, self._stride = self._shown[::2], 2 * self._stride
        self.count += 1
        self._new.append(candidate)
        if len(self._new) >= MERGED_AT_ONCE:
            self.front()

    def front(self) -> tuple[Candidate, ...]:
        """Points that no other one dominates, those with the smallest first number first."""
        self._front, self._new = non_dominated([*self._front, *self._new]), []
        return tuple(self._front)

    def dominated(self) -> tuple[tuple[float, float], ...]:
        """Points that are not on the front, without repeats; a sample if they are many."""
        kept = {(point.first, point.second) for point in self.front()}
        return tuple(sorted(set(self._shown) - kept))


def non_dominated(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The front of some points, with equal ones (up to rounding) counted in the first of them."""
    if not candidates:
        return []
    first = merged(np.array([one.first for one in candidates]))
    second = merged(np.array([one.second for one in candidates]))
    front: list[Candidate] = []
    lowest, leftmost = math.inf, math.inf
    for index in np.lexsort((np.arange(len(candidates)), second, first)).tolist():
        one = candidates[index]
        if second[index] < lowest:
            front.append(one)
            lowest, leftmost = second[index], first[index]
        elif second[index] == lowest and first[index] == leftmost:
            known = front[-1]
            front[-1] = replace(known, equivalent=known.equivalent + one.equivalent, proved=known.proved or one.proved)
    return front


def merged(values: Floats) -> Floats:
    """The same numbers, those that differ by rounding alone made equal."""
    order = np.argsort(values, kind="stable")
    rising = values[order]
    apart = SAME * np.abs(rising[1:]) + SAME_OF_LARGEST * np.abs(values).max()
    starts = np.concatenate(([True], np.diff(rising) > apart))
    equal = np.empty_like(values)
    equal[order] = rising[starts][np.cumsum(starts) - 1]
    return equal


def supports(front: Sequence[tuple[float, float]]) -> list[Support]:
    """Weights and gap of each point of a front (first numbers rising, second ones falling)."""
    if not front:
        return []
    points = np.array(front, dtype=np.float64)
    span = np.maximum(np.ptp(points, axis=0), np.finfo(float).tiny)
    corners = _corners((points - points.min(axis=0)) / span)
    slopes = [
        (points[after, 0] - points[before, 0]) / (points[before, 1] - points[after, 1])
        for before, after in pairwise(corners)
    ]
    bounds = [0.0, *slopes, math.inf]
    found: list[Support] = []
    edge = 0
    for index, (first, second) in enumerate(points.tolist()):
        if edge + 1 < len(corners) and index >= corners[edge + 1]:
            edge += 1
        if index == corners[edge]:
            found.append(Support((float(bounds[edge]), float(bounds[edge + 1])), 0.0))
            continue
        start, slope = points[corners[edge]], float(slopes[edge])
        height = first - float(start[0] + slope * (start[1] - second))
        found.append(Support((slope, slope), 0.0) if height <= ON_HULL * span[0] else Support(None, float(height)))
    return found


def _corners(points: Floats) -> list[int]:
    """Indices of the corners of the lower left hull of a front, from the smallest first number on."""
    corners: list[int] = []
    for index, (first, second) in enumerate(points.tolist()):
        while len(corners) > 1:
            (a, b), (c, d) = points[corners[-2]].tolist(), points[corners[-1]].tolist()
            # The corner in the middle goes if the line past it runs at or below it.
            if (c - a) * (b - second) >= (first - a) * (b - d):
                corners.pop()
            else:
                break
        corners.append(index)
    return corners
