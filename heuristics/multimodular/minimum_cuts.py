r"""Minimise L-natural convex functions by steepest descent: the best step up, or down, is a minimum cut.

A function h of whole numbers :math:`p_1, \dots, p_n` that is L-natural convex is least at p if no set X of entries, all
of them one more, or all one less, gives less [1]_; and the best set can be taken until there is none. Sums of convex
functions of entries and of differences of two entries are L-natural convex,

.. math::  h(p) = \sum_i u_i(p_i) + \sum_{(i,j)} v_{ij}(p_j - p_i),

and their best set is a minimum cut. With :math:`d = p_j - p_i`, :math:`A = v(d + 1) - v(d)` where only j is in X, and
:math:`B = v(d - 1) - v(d)` where only i is,

.. math::  A x_j (1 - x_i) + B x_i (1 - x_j) = A (x_j - x_i) + (A + B) x_i (1 - x_j), \qquad A + B \ge 0.

References
----------
.. [1] K. Murota, *Discrete Convex Analysis*, SIAM 2003, chapter 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .functions import Function, Point

#: A step must give this much, relative to the numbers it is made of: what is less is rounding.
PROGRESS = 1e-12

#: Sets are tried one by one up to so many entries.
MOST_ENTRIES = 20


class Cut(NamedTuple):
    """A minimum cut.

    Attributes
    ----------
    value
        The capacity of the edges that leave `inside`: no flow is larger.
    inside
        Nodes on the side of the source.
    """

    value: float
    inside: NDArray[np.bool_]


class Step(NamedTuple):
    """The best set of entries to move together, and what that changes; nothing (and 0) where no set gives less."""

    chosen: NDArray[np.bool_]
    change: float


class Term(NamedTuple):
    """A convex function of :math:`p_{second} - p_{first}`."""

    first: int
    second: int
    function: Callable[[int], float]


@dataclass(frozen=True)
class DifferenceSum:
    """A sum of convex functions of single entries and of differences of two: L-natural convex.

    They may be infinite beyond some numbers.

    Parameters
    ----------
    entries
        One function for each entry; ``None`` for none.
    terms
        Functions of differences.
    """

    entries: Sequence[Callable[[int], float] | None]
    terms: Sequence[Term]

    def __call__(self, point: Point) -> float:
        """The value at a point."""
        return math.fsum(
            [single(value) for single, value in zip(self.entries, point, strict=True) if single is not None]
            + [term.function(point[term.second] - point[term.first]) for term in self.terms]
        )

    def step(self, point: Point, sign: int) -> Step:
        """The best set of entries to raise (`sign` 1) or to lower (-1), by one minimum cut."""
        size = len(self.entries)
        single = np.zeros(size)
        for i, function in enumerate(self.entries):
            if function is not None:
                single[i] = function(point[i] + sign) - function(point[i])
        tails, heads, capacities = [], [], []
        for i, j, function in self.terms:
            here = point[j] - point[i]
            value = function(here)
            only_second, only_first = function(here + sign) - value, function(here - sign) - value
            if math.isinf(only_second):  # the same, with the names of the two exchanged
                i, j, only_first, only_second = j, i, only_second, only_first
            if math.isfinite(only_second):
                single[j] += only_second
                single[i] -= only_second
            else:
                only_second = 0.0
                tails.append(j)
                heads.append(i)
                capacities.append(math.inf)
            tails.append(i)
            heads.append(j)
            capacities.append(max(0.0, only_first + only_second))
        chosen = best_set(single, tails, heads, capacities)
        if not chosen.any():
            return Step(chosen, 0.0)
        moved = tuple(p + sign * int(x) for p, x in zip(point, chosen.tolist(), strict=True))
        return Step(chosen, self(moved) - self(point))


def best_set(single: ArrayLike, tails: ArrayLike, heads: ArrayLike, capacities: ArrayLike) -> NDArray[np.bool_]:
    r"""The least set X at which :math:`\sum_{i \in X} s_i` and the capacities of edges leaving X are least together."""
    costs = np.asarray(single, dtype=float)
    size = len(costs)
    nodes = np.arange(size)
    cut = minimum_cut(
        size + 2,
        np.concatenate([np.asarray(tails, dtype=np.int64), np.full(size, size), nodes]),
        np.concatenate([np.asarray(heads, dtype=np.int64), nodes, np.full(size, size + 1)]),
        np.concatenate([np.asarray(capacities, dtype=float), np.maximum(-costs, 0.0), np.maximum(costs, 0.0)]),
        size,
        size + 1,
    )
    return cut.inside[:size]


def minimum_cut(nodes: int, tails: ArrayLike, heads: ArrayLike, capacities: ArrayLike, source: int, sink: int) -> Cut:
    """A minimum cut between two nodes, by Dinic's algorithm: capacities are any numbers, infinity among them.

    Of all minimum cuts it is the one with the fewest nodes on the side of the source, up to rounding.
    """
    start, end = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
    limits = np.asarray(capacities, dtype=float)
    if np.any(np.isnan(limits)) or np.any(limits < 0):
        raise ValueError(f"capacities must be 0 or more, got {float(limits[~(limits >= 0)][0])!r}.")
    finite = float(limits[np.isfinite(limits)].sum())
    room = np.where(np.isfinite(limits), limits, 2.0 * finite + 1.0)  # never worth cutting
    kept = (start != end) & (room > 0)
    start, end, room = start[kept], end[kept], room[kept]
    order, first = _adjacency(nodes, start, end)
    residual = np.concatenate([room, np.zeros(len(room))])
    least = np.finfo(float).eps * float(limits[np.isfinite(limits)].max(initial=0.0))
    inside = _saturated(nodes, np.concatenate([end, start]), order, first, residual, source, sink, least)
    value = float(limits[kept][inside[start] & ~inside[end]].sum())
    return Cut(value, inside)


def _adjacency(
    nodes: int, start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges and their reverses (number e + edges) by the node they leave."""
    leaving = np.concatenate([start, end])
    order = np.argsort(leaving, kind="stable").astype(np.int64)
    first = np.searchsorted(leaving[order], np.arange(nodes + 1)).astype(np.int64)
    return order, first


@njit(cache=True)
def _saturated(
    nodes: int,
    heads: NDArray[np.int64],
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    residual: NDArray[np.float64],
    source: int,
    sink: int,
    least: float,
) -> NDArray[np.bool_]:
    """Send flow along shortest ways until there is none; which nodes can still be reached."""
    edges = len(heads) // 2
    level = np.empty(nodes, dtype=np.int64)
    queue = np.empty(nodes, dtype=np.int64)
    at = np.empty(nodes, dtype=np.int64)
    path = np.empty(nodes, dtype=np.int64)
    while True:
        level[:] = -1
        level[source] = 0
        queue[0] = source
        done, waiting = 0, 1
        while done < waiting:
            node = queue[done]
            done += 1
            for k in range(first[node], first[node + 1]):
                edge = order[k]
                if residual[edge] > least and level[heads[edge]] < 0:
                    level[heads[edge]] = level[node] + 1
                    queue[waiting] = heads[edge]
                    waiting += 1
        if level[sink] < 0:
            return level >= 0
        for node in range(nodes):
            at[node] = first[node]
        depth, node = 0, source
        while True:
            if node == sink:
                amount = np.inf
                for k in range(depth):
                    amount = min(amount, residual[path[k]])
                cut_at = 0
                for k in range(depth - 1, -1, -1):
                    edge = path[k]
                    residual[edge] -= amount
                    residual[edge + edges if edge < edges else edge - edges] += amount
                    if residual[edge] <= least:
                        cut_at = k
                depth = cut_at
                edge = path[depth]
                node = heads[edge + edges if edge < edges else edge - edges]
                continue
            while at[node] < first[node + 1]:
                edge = order[at[node]]
                if residual[edge] > least and level[heads[edge]] == level[node] + 1:
                    break
                at[node] += 1
            if at[node] < first[node + 1]:
                path[depth] = order[at[node]]
                depth += 1
                node = heads[path[depth - 1]]
            else:
                level[node] = -1
                if depth == 0:
                    break
                depth -= 1
                edge = path[depth]
                node = heads[edge + edges if edge < edges else edge - edges]
                at[node] += 1


def tried_step(function: Function, point: Point, sign: int) -> Step:
    """The best set of entries to raise or to lower, by trying all sets: the second road, for any function."""
    if len(point) > MOST_ENTRIES:
        raise ValueError(f"sets of at most {MOST_ENTRIES} entries are tried one by one, got {len(point)} entries.")
    here = function(point)
    best, least = (0,) * len(point), here
    for chosen in product((0, 1), repeat=len(point)):
        value = function(tuple(p + sign * x for p, x in zip(point, chosen, strict=True)))
        if value < least:
            best, least = chosen, value
    return Step(np.array(best, dtype=bool), least - here)


def _best_step(function: Function | DifferenceSum, point: Point, sign: int) -> Step:
    return function.step(point, sign) if isinstance(function, DifferenceSum) else tried_step(function, point, sign)


def steepest_descent(
    function: Function | DifferenceSum, start: Sequence[int], *, progress: float = PROGRESS
) -> tuple[Point, float]:
    """The least point of an L-natural convex function, and its value, from a start where it is finite.

    Steps are minimum cuts for a `DifferenceSum`; for other functions all sets are tried.

    Parameters
    ----------
    function
        To be minimised; must be bounded below.
    start
        Where to begin.
    progress
        Steps that give less than this, relative to the value, are rounding.
    """
    point = tuple(int(p) for p in start)
    value = function(point)
    if not math.isfinite(value):
        raise ValueError(f"the function must be finite at the start, got {value!r}.")
    while True:
        steps = {sign: _best_step(function, point, sign) for sign in (1, -1)}
        sign = min(steps, key=lambda s: steps[s].change)
        if not steps[sign].change < -progress * abs(value):
            return point, value
        there = tuple(p + sign * int(x) for p, x in zip(point, steps[sign].chosen.tolist(), strict=True))
        lower = function(there)
        if not lower < value:  # terms that cancel left rounding alone
            return point, value
        point, value = there, lower
