r"""The relative value iteration of Talim, Liu, Nain and Coffman (2001), on their own chain, event types included.

States are (q, r, s): pages and active robots *before* a decision, and the event that calls for it, s = 0 a departure,
1 an arrival, 2 nothing. Epochs form a Poisson process of rate :math:`\nu = \lambda N + \mu`. Written from the article
alone, as a rival and a witness: nothing here rests on the rest of the robot queue. Their equations are read with the
misprints mended (docs/robots.md lists them): in (2) the robots *after* the decision bring pages, in (3) the queue is
cut off at K, and :math:`\theta = T(h)(\hat x)` in Proposition 2.

They name neither :math:`\hat x` nor :math:`h_0`. With :math:`\hat x = (1, 1, 1)` and :math:`h_0 = 0` the printed
iteration counts come out, those of Table 1 one higher.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics import Matrix


@dataclass(frozen=True, eq=False)
class PaperIteration:
    """Where the relative value iteration of Talim et al. (2001) stopped.

    Attributes
    ----------
    cost
        theta, the value of T(h) at the reference state.
    iterations
        applications of T before the last one, whose result is `cost`.
    policy
        by pages and active robots after an event, 1 where one more is activated; of two equal actions, none.
    lower, upper
        least and largest T(h) - h: the least average cost lies between them.

    Examples
    --------
    >>> from queueing.robots import paper_iteration
    >>> found = paper_iteration(2, 3, 0.5, 1.0, gamma=2.0)
    >>> found.lower <= found.cost <= found.upper
    True
    """

    cost: float
    iterations: int
    policy: NDArray[np.int8]
    lower: float
    upper: float


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


def paper_iteration(
    robots: int,
    capacity: int,
    arrival_rate: float,
    service_rate: float,
    gamma: float,
    tau: float = 0.99999,
    tolerance: float = 1e-5,
    *,
    certified: bool = False,
    most: int = 10_000_000,
) -> PaperIteration:
    r"""The relative value iteration of Talim et al. (2001), Proposition 2.

    Parameters
    ----------
    robots, capacity, arrival_rate, service_rate, gamma
        N, K, lambda, mu and the weight of starvation; losses weigh 1.
    tau, tolerance
        as published: it stops when no value changes by more than `tolerance` of itself.
    certified
        stop instead when `upper` - `lower` is at most `tolerance` times `lower`: then the cost is proved so far.
    most
        iterations after which to stop in any case.

    Returns
    -------
    PaperIteration
        cost, policy, and a bracket of the least cost.

    Notes
    -----
    :math:`h \leftarrow (1-\tau) h + \tau (T(h) - T(h)(\hat x))` from 0, with :math:`\hat x = (1, 1, 1)`.

    Examples
    --------
    The system of Figure 3 of Talim et al. (2001), which prints a cost of 0.25924.

    >>> from queueing.robots import paper_iteration
    >>> round(paper_iteration(16, 5, 0.1, 1.0, gamma=1.4).cost, 5)
    0.25924
    """
    chain = paper_chain(robots, capacity, arrival_rate, service_rate, gamma)
    values = np.zeros(chain.costs.shape)
    count = 0
    while True:
        image = chain.applied(values)
        if certified and count % 10 == 0:  # looked at now and then: it takes as long as an iteration
            lower, upper = _bracket(chain, image, values)
            if upper - lower <= tolerance * lower:
                break
        following = tau * (image - image[1, 1, 1])
        following += (1.0 - tau) * values
        following[~chain.states] = 0.0
        count += 1
        settled = not certified and bool((np.abs(following - values) <= tolerance * np.abs(values)).all())
        values = following
        if settled or count >= most:
            image = chain.applied(values)
            lower, upper = _bracket(chain, image, values)
            break
    decided = chain.decided(values)
    policy = np.zeros(decided.shape, dtype=np.int8)
    policy[:, :-1] = decided[:, 1:] < decided[:, :-1]
    policy[0, 0] = 1
    return PaperIteration(float(image[1, 1, 1]), count, policy, lower, upper)


def _bracket(chain: PaperChain, image: Matrix, values: Matrix) -> tuple[float, float]:
    moved = (image - values)[chain.states]
    return float(moved.min()), float(moved.max())
