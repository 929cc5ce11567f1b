r"""Karp's algorithm for the least mean cost of a cycle: a second road, for small graphs.

With :math:`D_k(x)` the least cost of a walk of exactly k edges from a given state to x, on a strongly connected graph
of n states

.. math:: \gamma = \min_x \max_{0 \le k < n} \frac{D_n(x) - D_k(x)}{n - k}

[1]_. It takes n steps over all edges and :math:`n^2` numbers, whatever the costs are.

References
----------
.. [1] R. M. Karp, "A characterization of the minimum cycle mean in a digraph", *Discrete Mathematics* 23, 1978,
   309-311.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .gap_graph import Links, Short
from .problem import Matrix

#: Most states: the numbers take 200 MB.
MOST = 5000


def karp_mean(following: Links, gaps: Short, charges: Matrix) -> float:
    """The least mean cost of a cycle that can be reached from state 0.

    Choice k in state x leads to ``following[x, k]`` and costs ``charges[k, gaps[x, k] - 1]``.
    """
    if len(following) > MOST:
        raise ValueError(f"the graph has {len(following)} states; Karp's algorithm takes {MOST} at most.")
    return float(_karp(following, gaps, charges))


@njit(cache=True)
def _karp(following: Links, gaps: Short, charges: Matrix) -> float:
    states, choices = following.shape
    walks = np.full((states + 1, states), np.inf)
    walks[0, 0] = 0.0
    for k in range(states):
        for x in range(states):
            if walks[k, x] < np.inf:
                for choice in range(choices):
                    y = following[x, choice]
                    walks[k + 1, y] = min(walks[k + 1, y], walks[k, x] + charges[choice, gaps[x, choice] - 1])
    least = np.inf
    for x in range(states):
        if walks[states, x] < np.inf:
            most = -np.inf
            for k in range(states):
                if walks[k, x] < np.inf:
                    most = max(most, (walks[states, x] - walks[k, x]) / (states - k))
            least = min(least, most)
    return least
