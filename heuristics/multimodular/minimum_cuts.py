r"""Minimum cuts for capacities that are any numbers, and the best sets that they find.

A sum of convex functions of entries :math:`p_i` and of differences :math:`p_j - p_i` of whole numbers is L-natural
convex: it is least at p if no set X of entries, all of them one more, or all one less, gives less [1]_. The best set is
a minimum cut. With :math:`d = p_j - p_i`, :math:`A = v(d + 1) - v(d)` where only j is in X, and
:math:`B = v(d - 1) - v(d)` where only i is,

.. math::  A x_j (1 - x_i) + B x_i (1 - x_j) = A (x_j - x_i) + (A + B) x_i (1 - x_j), \qquad A + B \ge 0.

References
----------
.. [1] K. Murota, *Discrete Convex Analysis*, SIAM 2003, chapter 10.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..protocols import Vector, Whole


def best_set(single: Vector, tails: Whole, heads: Whole, capacities: Vector) -> NDArray[np.bool_]:
    r"""Find the set X at which :math:`\sum_{i \in X} s_i` and the capacities of edges leaving X are least together.

    It is a minimum cut between a source, joined to the nodes that gain, and a sink, joined to those that cost. Of all
    best sets it is the one with the fewest nodes, up to rounding. Numbers may be infinite.
    """
    size = len(single)
    nodes = np.arange(size)
    start = np.concatenate([tails, np.full(size, size), nodes])
    end = np.concatenate([heads, nodes, np.full(size, size + 1)])
    limits = np.concatenate([capacities, np.maximum(-single, 0.0), np.maximum(single, 0.0)])
    finite = limits[np.isfinite(limits)]
    room = np.where(np.isfinite(limits), limits, 2.0 * float(finite.sum()) + 1.0)  # never worth cutting
    kept = (start != end) & (room > 0)
    start, end, room = start[kept], end[kept], room[kept]
    # Edges and their reverses (number e + edges) by the node they leave.
    leaving = np.concatenate([start, end])
    order = np.argsort(leaving, kind="stable")
    first = np.searchsorted(leaving[order], np.arange(size + 3))
    residual = np.concatenate([room, np.zeros(len(room))])
    least = np.finfo(float).eps * float(finite.max(initial=0.0))
    inside: NDArray[np.bool_] = _saturated(np.concatenate([end, start]), order, first, residual, least)
    return inside[:size]


@njit(cache=True)
def _saturated(heads: Whole, order: Whole, first: Whole, residual: Vector, least: float) -> NDArray[np.bool_]:
    """Send flow from the last node but one to the last along shortest ways; tell which nodes can be reached at the end.

    This is Dinic's algorithm; what a residual capacity keeps below `least` is rounding.
    """
    nodes, edges = len(first) - 1, len(heads) // 2
    source, sink = nodes - 2, nodes - 1
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
