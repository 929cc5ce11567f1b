r"""Value iteration for the robot queue, on states (q, r) after a decision.

With :math:`\Lambda` above every rate of leaving a state, a sweep replaces J by

.. math::  J + b / \Lambda, \qquad
           b(q, r) = c(q, r) + \mu 1(q>0) \, [M(q-1, r) - J(q, r)] + \lambda r \, [M(\min(q+1, K), r-1) - J(q, r)],

with M as in :mod:`queueing.robots.relative_values`, and shifts it to 0 at (0, 1). The least average cost lies between
the least and the largest b.
"""

import numpy as np
from numba import njit

from .feedback_states import Grid, Policy
from .fleet import PACE

#: Rounding of a sum of three products, in parts of the sum of their sizes; brackets are wider by it.
ROUNDING = 8 * 2.0**-53


@njit(cache=True)
def sweep(arrival: float, service: float, cost: Grid, values: Grid) -> tuple[Grid, float, float]:
    r"""One sweep of value iteration, and a bracket of the least average cost.

    Parameters
    ----------
    arrival, service
        lambda of one robot, and mu.
    cost
        cost per unit of time by state.
    values
        J by state; 0 where there is no state.

    Returns
    -------
    tuple
        the values after the sweep, shifted to 0 at (0, 1), and the lower and the upper end of the bracket.

    Notes
    -----
    J becomes :math:`J + b / \Lambda`; the least average cost lies between the least and the largest b, see
    :mod:`queueing.robots.value_iteration`.

    Examples
    --------
    >>> import numpy as np
    >>> from queueing.robots import RobotQueue, sweep
    >>> queue = RobotQueue(robots=4, capacity=3, arrival_rate=0.5)
    >>> values = np.zeros(queue.shape)
    >>> for _ in range(200):
    ...     values, lower, upper = sweep(0.5, 1.0, queue.cost(starvation=2.0), values)
    >>> round(lower, 6), round(upper, 6)
    (0.338028, 0.338028)
    """
    most, robots = values.shape[0] - 1, values.shape[1] - 1
    best = np.empty(values.shape)
    for q in range(most + 1):
        for r in range(robots):
            best[q, r] = min(values[q, r], values[q, r + 1])
        best[q, robots] = values[q, robots]
    best[0, 0] = values[0, 1]
    pace = PACE * (service + arrival * robots)
    found = np.zeros(values.shape)
    lower, upper = np.inf, -np.inf
    for q in range(most + 1):
        above = min(q + 1, most)
        for r in range(1 if q == 0 else 0, robots + 1):
            here = values[q, r]
            down = service * (best[q - 1, r] - here) if q > 0 else 0.0
            up = arrival * r * (best[above, r - 1] - here) if r > 0 else 0.0
            moved = cost[q, r] + down + up
            slack = ROUNDING * (cost[q, r] + abs(down) + abs(up))
            lower, upper = min(lower, moved - slack), max(upper, moved + slack)
            found[q, r] = here + moved / pace
    shift = found[0, 1]
    for q in range(most + 1):
        for r in range(robots + 1):
            found[q, r] -= shift
    found[0, 0] = 0.0  # no state
    return found, lower, upper


def greedy(values: Grid) -> Policy:
    """The policy that is best for these values; of two equal actions, none is taken.

    Parameters
    ----------
    values
        J by state after a decision.

    Returns
    -------
    Policy
        1 where J(q, r + 1) < J(q, r), and at (0, 0).

    Examples
    --------
    >>> import numpy as np
    >>> from queueing.robots import greedy
    >>> greedy(np.array([[0.0, 1.0, 0.5], [2.0, 1.5, 3.0]]))
    array([[1, 1, 0],
           [1, 0, 0]], dtype=int8)
    """
    policy: Policy = np.zeros(values.shape, dtype=np.int8)
    policy[:, :-1] = values[:, 1:] < values[:, :-1]
    policy[0, 0] = 1
    return policy
