r"""Sweeps of relative value iteration over a graph of gaps.

Moves between states are certain, so that best cycles may have a period and plain sweeps go round with it. A sweep stays
where it is with probability 1/2 (at half the cost), which leaves means per unit of time, doubled, as they are:

.. math:: T(h)(x) = h(x) + \tfrac12 \left(\min_y c(x, y) + h(y) - h(x)\right) .

The least and the largest doubled difference :math:`T(h) - h` bracket the least mean cost *on the graph*: its lower end
is a lower bound for all policies, its upper one is not, unless the best cycle has exact gaps only
(:mod:`heuristics.routing.gap_graph`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..dynamic import Closing, Swept
from ..protocols import Decision, Matrix, Vector, Whole
from .gap_graph import Charges, GapGraph, Kinds, TooManyStates
from .howard import ROUNDING, Policy, cycle_word, greedy
from .problem import GapTables, word_cost
from .server_densities import densities

#: Most states of a graph.
STATES = 1_000_000


@dataclass(frozen=True, eq=False)
class RoutingSweeps:
    """Value iteration on one graph of gaps; values are one number for each state.

    Parameters
    ----------
    graph
        Of gaps.
    charges
        On it.
    kinds
        Servers with the same costs.
    gap_table
        Costs of gaps up to a number.
    known
        Whether slopes are known, so that something is proved.
    tolerance
        As `heuristics.dynamic.Sweeps` wants it; no publication iterates values.

    Examples
    --------
    >>> from heuristics.testing import losses
    >>> sweeps = RoutingSweeps.of(losses((1.0, 2.0, 6.0)))
    >>> swept = sweeps.sweep(sweeps.start())
    >>> sweeps.graph.states, swept.lower < 0.0289 < swept.upper
    (83, True)
    """

    graph: GapGraph
    charges: Charges
    kinds: Kinds
    gap_table: GapTables
    known: bool = True

    tolerance: float = 0.0

    @classmethod
    def of(cls, gap_table: GapTables, states: int = STATES) -> RoutingSweeps:
        """Choose limits half as long again as the gaps at which densities alone are best, or as long as fits.

        Raises
        ------
        TooManyStates
            If there are more even without.
        """
        found = densities(gap_table)
        kinds = Kinds.of(gap_table(max(found.table.count, 2 * int(found.gaps.max()) + 5)))
        gaps = found.gaps[kinds.firsts]
        asymptotic = (gaps == 0) & np.isfinite(found.table.slopes[kinds.firsts])
        for more in (0.5, 0.25, 0.0):
            limits: Whole = np.where(asymptotic, 4, gaps + (more * gaps).astype(np.int64) + 2)
            try:
                graph = GapGraph.of(limits, kinds.sizes, states)
                break
            except TooManyStates:
                if more == 0.0:
                    raise
        charges = Charges.of(gap_table(int(limits.max()) + 1), kinds, limits, asymptotic)
        return cls(graph, charges, kinds, gap_table, found.table.known)

    def start(self) -> Vector:
        """Begin with values of 0: no state is better than another."""
        return np.zeros(self.graph.states)

    def sweep(self, values: Vector) -> Swept:
        """Sweep once, and tell what that proves about the graph."""
        swept = np.empty_like(values)
        low, high = sweep_states(self.graph, self.charges.values, values, swept)
        base = self.charges.base
        swept -= swept[0]
        return Swept(swept, base + low if self.known else -np.inf, base + high)

    def greedy(self, values: Vector) -> Decision:
        """Find the word on which the policy that is greedy for the values ends."""
        policy = greedy(self.graph, self.charges.values, values)
        return self.kinds.servers(cycle_word(self.graph, policy, settled(self.graph, policy)))

    def close(self, values: Vector) -> Closing:
        """Tell size and limits of the graph, and a bracket for all words: the upper end is the true cost of one."""
        details = {"states": self.graph.states, "limits": list(self.kinds.spread(self.graph.limits))}
        if not self.known:
            return Closing(details=details)
        word = self.greedy(values)
        bracket = [self.sweep(values).lower, word_cost(self.gap_table(len(word) + 1), word)]
        return Closing(details=details | {"bracket": bracket})


def too_many_gaps(gap_table: GapTables, states: int = STATES) -> str | None:
    """Refuse to iterate the values of all gaps where there are too many.

    Parameters
    ----------
    gap_table
        Costs of gaps up to a number.
    states
        Most states of the graph of gaps.

    Returns
    -------
    str or None
        One clause; ``None`` where there are not too many.

    Examples
    --------
    >>> from heuristics.testing import losses
    >>> too_many_gaps(losses((1.0, 2.0, 6.0)), states=10)
    'the gaps of its 3 servers have more than 10 states.'
    """
    try:
        RoutingSweeps.of(gap_table, states)
    except TooManyStates:
        return f"the gaps of its {gap_table(1).servers} servers have more than {states} states."
    return None


@njit(cache=True)
def settled(graph: GapGraph, policy: Policy) -> int:
    """Follow a policy for as many steps as there are states: to a state on its cycle."""
    state = 0
    for _ in range(len(policy)):
        state = graph.following[state, policy[state]]
    return state


@njit(cache=True)
def sweep_states(graph: GapGraph, charges: Matrix, values: Vector, swept: Vector) -> tuple[float, float]:
    """Sweep once, and bracket the least mean, rounding allowed for at the lower end."""
    following, gaps = graph.following, graph.gaps
    low, high = np.inf, -np.inf
    for state in range(len(following)):
        here, best = values[state], np.inf
        for k in range(following.shape[1]):
            best = min(best, charges[k, gaps[state, k] - 1] + values[following[state, k]])
        difference = best - here
        swept[state] = here + 0.5 * difference
        low = min(low, difference - ROUNDING * (abs(best) + abs(here)))
        high = max(high, difference)
    return low, high
