r"""Howard's algorithm for the cycle of least mean cost on a graph of gaps.

A policy chooses one edge in every state, so that all walks end in cycles. Of these the best, with mean :math:`\gamma`,
gives values :math:`h` to all states from which it is reached,
:math:`h(x) = c(x, \pi(x)) - \gamma + h(\pi(x))`; other states keep the ones they had. Then every state takes the edge
with the least :math:`c - \gamma + h`, if that lowers its value. When nothing is lowered, no cycle has a mean below
:math:`\gamma`. Evaluating each cycle with a mean of its own, as textbooks do, goes round for ever where cycles tie;
one vector of values does not [1]_. Where the mean no longer falls, states that lead to another cycle are turned towards
the best one, since their old values would improve for long, a little at a time.

Whatever the values are, adding up :math:`c(x, y) + h(y) - h(x)` round a cycle gives its cost, so that

.. math:: \min_{(x, y)} c(x, y) + h(y) - h(x)

is a lower bound on the mean of every cycle: the proof of the answer, and one of a run that was stopped.

References
----------
.. [1] A. Dasdan, "Experimental analysis of the fastest optimum cycle ratio and mean algorithms", *ACM Transactions on
   Design Automation of Electronic Systems* 9 (4), 2004, 385-418.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..protocols import Matrix, Vector, Whole
from .gap_graph import GapGraph, Links
from .problem import Pause, no_pause

Policy: TypeAlias = NDArray[np.uint16]

#: Improvements smaller than this part of what is added up are rounding.
ROUNDING = 4 * float(np.finfo(float).eps)

#: Values are sums over long paths: what rounding may do to them, relative to the largest.
SUMMED = 1e-14

#: Iterations that nothing needs: far from it, the bound still holds.
MOST_ITERATIONS = 10_000

#: How often states are turned towards the best cycle at most: values that only fall come to an end in any case.
TURNS = 50

#: Means that differ by less, relative, are the same.
TIED = 1e-13

#: The mark of states from which a policy reaches the best cycle.
REACHING = 1


@dataclass(frozen=True, eq=False)
class MeanCycle:
    """A cycle of least mean cost.

    Attributes
    ----------
    mean
        Its mean cost.
    lower
        A proved lower bound on the mean cost of all cycles.
    word
        Its choices, one after the other.
    values
        Of all states.
    iterations
        Policies that were evaluated.
    """

    mean: float
    lower: float
    word: Whole
    values: Vector
    iterations: int


def least_mean_cycle(
    graph: GapGraph, charges: Matrix, values: Vector | None = None, *, precision: float = 0.0, pause: Pause = no_pause
) -> MeanCycle:
    """Find the cycle of least mean cost on a graph of gaps, by Howard's algorithm.

    Parameters
    ----------
    graph
        Its states, and where choices lead.
    charges
        What choices cost: choice k in state x costs ``charges[k, graph.gaps[x, k] - 1]``.
    values
        Of states, to start from.
    precision
        Improvements of a value by less than this do not matter; the bound may be lower by as much.
    pause
        Called between iterations; may raise.

    Returns
    -------
    MeanCycle
        The cycle, and the proof that no mean is lower.

    References
    ----------
    A. Dasdan, "Experimental analysis of the fastest optimum cycle ratio and mean algorithms", *ACM Transactions on
    Design Automation of Electronic Systems* 9 (4), 2004, 385-418.

    Examples
    --------
    >>> graph = GapGraph.of(limits=np.array([2, 2]), sizes=np.array([1, 1]), most=100)
    >>> cycle = least_mean_cycle(graph, np.array([[-4.0, -6.0], [-4.0, -6.0]]))
    >>> cycle.mean, sorted(cycle.word.tolist())
    (-6.0, [0, 1])
    """
    values = np.zeros(graph.states) if values is None else values.copy()
    policy = greedy(graph, charges, values)
    marks, path = np.empty(graph.states, np.int32), np.empty(graph.states, np.int32)
    mean, root, count, turns = np.inf, 0, 0, 0
    while count < MOST_ITERATIONS:
        pause()
        count += 1
        before = mean
        mean, root = best_cycle(graph, charges, policy, marks, root)
        value_states(graph, charges, policy, values, mean, root, marks, path)
        if count > 1 and mean >= before - TIED * abs(before) and turns < TURNS:
            turns += 1
            turn(graph, charges, policy, values, mean, marks)
        pause()
        precision = max(precision, SUMMED * float(np.abs(values).max()))
        if improve(graph, charges, policy, values, mean, precision) == 0:
            break
    lower = lowest_slack(graph, charges, values)
    return MeanCycle(mean, min(lower, mean), cycle_word(graph, policy, root), values, count)


@njit(cache=True)
def greedy(graph: GapGraph, charges: Matrix, values: Vector) -> Policy:
    """Choose the best edge of every state."""
    following, gaps = graph.following, graph.gaps
    policy = np.zeros(len(following), np.uint16)
    for state in range(len(following)):
        least = np.inf
        for k in range(following.shape[1]):
            value = charges[k, gaps[state, k] - 1] + values[following[state, k]]
            if value < least:
                least, policy[state] = value, k
    return policy


@njit(cache=True)
def best_cycle(graph: GapGraph, charges: Matrix, policy: Policy, marks: Links, root: int) -> tuple[float, int]:
    """Of all cycles of a policy find the least mean cost, and a state there; if they tie, where `root` leads to."""
    following, gaps = graph.following, graph.gaps
    marks[:] = -1
    best, chosen = np.inf, root
    for i in range(-1, len(following)):
        start = root if i < 0 else i
        if marks[start] >= 0:
            continue
        state = start
        while marks[state] < 0:
            marks[state] = start
            state = following[state, policy[state]]
        if marks[state] != start:
            continue
        total, length, first = 0.0, 0, state
        while True:
            total += charges[policy[state], gaps[state, policy[state]] - 1]
            length += 1
            state = following[state, policy[state]]
            if state == first:
                break
        if best == np.inf or total / length < best - TIED * abs(best):
            best, chosen = total / length, first
    return best, chosen


@njit(cache=True)
def value_states(
    graph: GapGraph, charges: Matrix, policy: Policy, values: Vector, mean: float, root: int, marks: Links, path: Links
) -> None:
    """Give values to all states from which the policy reaches `root`."""
    following, gaps = graph.following, graph.gaps
    unseen, seen, reaching, lost = -1, 0, REACHING, 2
    marks[:] = unseen
    marks[root] = reaching
    for start in range(len(following)):
        if marks[start] != unseen:
            continue
        state, length = start, 0
        while marks[state] == unseen:
            marks[state] = seen
            path[length] = state
            length += 1
            state = following[state, policy[state]]
        end = reaching if marks[state] == reaching else lost
        for i in range(length - 1, -1, -1):
            state = path[i]
            marks[state] = end
            if end == reaching:
                chosen = policy[state]
                values[state] = charges[chosen, gaps[state, chosen] - 1] - mean + values[following[state, chosen]]


@njit(cache=True)
def turn(graph: GapGraph, charges: Matrix, policy: Policy, values: Vector, mean: float, marks: Links) -> None:
    """Turn states that do not reach the best cycle towards states that do, and give them values."""
    following, gaps = graph.following, graph.gaps
    turned = 1
    while turned:
        turned = 0
        for state in range(len(following)):
            if marks[state] != REACHING:
                least = np.inf
                for k in range(following.shape[1]):
                    after = following[state, k]
                    if marks[after] == REACHING:
                        value = charges[k, gaps[state, k] - 1] - mean + values[after]
                        if value < least:
                            least, policy[state] = value, k
                if least < np.inf:
                    values[state], marks[state] = least, REACHING
                    turned += 1


@njit(cache=True)
def improve(graph: GapGraph, charges: Matrix, policy: Policy, values: Vector, mean: float, precision: float) -> int:
    """Take better edges wherever there are some, and count the states in which there were."""
    following, gaps = graph.following, graph.gaps
    changes = 0
    for state in range(len(following)):
        now = values[state]
        for k in range(following.shape[1]):
            charge = charges[k, gaps[state, k] - 1]
            then = values[following[state, k]]
            value = charge - mean + then
            if value < now - precision - ROUNDING * (abs(charge) + abs(then) + abs(now)):
                now = value
                policy[state] = k
        if now < values[state]:
            values[state] = now
            changes += 1
    return changes


@njit(cache=True)
def lowest_slack(graph: GapGraph, charges: Matrix, values: Vector) -> float:
    """Find the least of c + h' - h over all edges, rounding allowed for."""
    following, gaps = graph.following, graph.gaps
    least = np.inf
    for state in range(len(following)):
        here = values[state]
        for k in range(following.shape[1]):
            charge = charges[k, gaps[state, k] - 1]
            then = values[following[state, k]]
            slack = charge + then - here
            if slack < least:
                least = min(least, slack - ROUNDING * (abs(charge) + abs(then) + abs(here)))
    return least


def cycle_word(graph: GapGraph, policy: Policy, root: int) -> Whole:
    """List the choices of a policy on its way from a state on a cycle back to it."""
    word, state = [], root
    while True:
        word.append(int(policy[state]))
        state = int(graph.following[state, policy[state]])
        if state == root:
            return np.array(word, dtype=np.int64)
