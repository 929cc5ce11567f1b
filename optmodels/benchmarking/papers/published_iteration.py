r"""The relative value iteration of Talim, Liu, Nain and Coffman (2001), on whole arrays, with their stopping rule.

A rival of the robot benchmarks, and the witness of the published tests: it runs on the paper's own chain
(`queueing.robots.paper_chain`), and nothing here rests on the rest of the robot queue. They name neither
:math:`\hat x` nor :math:`h_0`. With :math:`\hat x = (1, 1, 1)` and :math:`h_0 = 0` the printed iteration counts come
out, those of Table 1 one higher.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from queueing.robots import PaperChain, paper_chain


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
    """

    cost: float
    iterations: int
    policy: NDArray[np.int8]
    lower: float
    upper: float


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


def _bracket(chain: PaperChain, image: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[float, float]:
    moved = (image - values)[chain.states]
    return float(moved.min()), float(moved.max())
