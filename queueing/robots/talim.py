r"""The decision process of Talim, Liu, Nain and Coffman (2001), on their own chain, event types included.

States are (q, r, s): pages and active robots *before* a decision, and the event that calls for it, s = 0 a departure,
1 an arrival, 2 nothing. Epochs form a Poisson process of rate :math:`\nu = \lambda N + \mu`. Written from the article
alone, as a rival and a witness: nothing here rests on the rest of the robot queue. Their equations are read with the
misprints mended (docs/robots.md lists them): in (2) the robots *after* the decision bring pages, in (3) the queue is
cut off at K, and :math:`\theta = T(h)(\hat x)` in Proposition 2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics import Matrix


@dataclass(frozen=True, eq=False)
class PaperChain:
    """The decision process of Talim et al. (2001) by event, pages and robots, with zeros for states that do not exist.

    Attributes
    ----------
    chances
        after a decision that leaves (q, r), probabilities of the next event.
    costs
        c(x), equation (1).
    states
        which exist.

    Examples
    --------
    >>> from queueing.robots import paper_chain
    >>> chain = paper_chain(2, 3, 0.5, 1.0, gamma=2.0)
    >>> chain.states.shape, int(chain.states.sum())
    ((3, 4, 3), 28)
    """

    chances: Matrix
    costs: Matrix
    states: NDArray[np.bool_]

    def decided(self, values: Matrix) -> Matrix:
        """By (q, r) after a decision, the expected value of the next state."""
        found: Matrix = np.einsum("sqr,sqr->qr", self.chances, values)
        found[0, 0] = found[0, 1]  # the empty system without robots is forbidden: one is activated
        return found

    def applied(self, values: Matrix) -> Matrix:
        """T(h), and 0 where there is no state."""
        decided = self.decided(values)
        best = decided.copy()
        np.minimum(decided[:, :-1], decided[:, 1:], out=best[:, :-1])
        found = self.costs.copy()
        found[0, 1:] += best[:-1]
        found[1, :-1, 1:] += best[1:, :-1]
        found[1, -1, 1:] += best[-1, :-1]
        found[2] += decided
        found[2, 0, 0] = 0.0
        return found


def paper_chain(robots: int, capacity: int, arrival_rate: float, service_rate: float, gamma: float) -> PaperChain:
    r"""The chain of Talim et al. (2001), with the misprints of its transition probabilities mended.

    Parameters
    ----------
    robots, capacity, arrival_rate, service_rate
        N, K, lambda and mu.
    gamma
        the weight of starvation.

    Returns
    -------
    PaperChain
        probabilities of equations (2) to (4), and the cost of equation (1),
        :math:`c(x) = \gamma 1(q = 0) + \nu 1(q = K, s = 1)` with :math:`\nu = \lambda N + \mu`.

    Examples
    --------
    >>> from queueing.robots import paper_chain
    >>> chain = paper_chain(2, 3, 0.5, 1.0, gamma=2.0)
    >>> chain.chances[:, 1, 1]
    array([0.5 , 0.25, 0.25])
    """
    lengths, active = np.indices((capacity + 1, robots + 1))
    pace = arrival_rate * robots + service_rate
    served = np.where(lengths > 0, service_rate / pace, 0.0)
    brought = arrival_rate * active / pace
    costs = np.where(lengths == 0, gamma, 0.0) * np.ones((3, 1, 1))
    costs[1, -1] += pace
    states = np.ones(costs.shape, dtype=bool)
    states[0, 0, :] = states[1, :, 0] = states[2, 0, 0] = False
    return PaperChain(np.stack([served, brought, 1.0 - served - brought]), np.where(states, costs, 0.0), states)
