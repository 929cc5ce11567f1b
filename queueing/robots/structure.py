r"""Shapes of an optimal policy of the robot queue: a monotone switching curve, as Talim et al. conjecture, or not.

With values J let :math:`d(q, r) = J(q, r+1) - J(q, r)`, what one more robot is worth; it is activated where d < 0. If J
is convex in r, d rises with r; if J is supermodular in (q, r), d rises with q. Either makes one half of the conjecture,
that :math:`\varphi(q, r)` falls in q and in r. Each shape is reported with its largest violation as a part of the span
of J, so that rounding (1e-15) and a counterexample (1e-6) can be told apart, and with the smallest decision gap: where
|d| is within rounding, two policies are equally good and either may be found.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .control import PolicyStep
from .feedback_states import Grid, Policy

#: Violations below this part of the span of values are rounding.
ROUNDING = 1e-11


@dataclass(frozen=True)
class RobotStructure:
    r"""What a policy and its values look like.

    Attributes
    ----------
    monotone
        whether the policy is a monotone switching curve, as it stands.
    switching, convexity, supermodularity
        largest violations, 0 if there is none: of the sign of d, of :math:`d(q, r) \le d(q, r+1)`, of
        :math:`d(q, r) \le d(q+1, r)`. The first is how far the values would have to move to make the policy monotone.
    gap
        smallest \|d\|, as a part of the span of values.
    departure_curve, arrival_curve
        by active robots r, :math:`f_0(r)` and :math:`f_1(r)` of Talim et al. (2001): a robot is activated at q pages or
        fewer, seen before the event; if never, 0 after a departure, of which there is a page at least, and -1 after an
        arrival. Of a policy that is no curve, the largest q. :math:`f_1(0)` does not exist: None.
    """

    monotone: bool
    switching: float
    convexity: float
    supermodularity: float
    gap: float
    departure_curve: tuple[int, ...]
    arrival_curve: tuple[int | None, ...]

    @property
    def convex(self) -> bool:
        """Whether values are convex in the robots, but for rounding."""
        return self.convexity <= ROUNDING

    @property
    def supermodular(self) -> bool:
        """Whether values are supermodular in pages and robots, but for rounding."""
        return self.supermodularity <= ROUNDING

    @property
    def tied(self) -> bool:
        """Whether somewhere two actions are equally good, but for rounding."""
        return self.gap <= ROUNDING


def robot_structure(step: PolicyStep) -> RobotStructure:
    """The shapes of a policy and its values; those of the best one if nothing was left to improve.

    Parameters
    ----------
    step
        a step of policy iteration, as `best_policy` returns it.

    Returns
    -------
    RobotStructure
        whether the policy is a monotone switching curve, its curves, and violations of convexity and supermodularity.

    Examples
    --------
    >>> from queueing.robots import RobotQueue, best_policy, robot_structure
    >>> queue = RobotQueue(robots=4, capacity=3, arrival_rate=0.5)
    >>> found = robot_structure(best_policy(queue, queue.cost(starvation=2.0)))
    >>> found.monotone, found.convex, found.supermodular
    (True, True, True)
    """
    return structure_of(step.policy, step.values, step.gap)


def structure_of(policy: Policy, values: Grid, gap: float | None = None) -> RobotStructure:
    """The shapes of any policy and values.

    Parameters
    ----------
    policy
        1 where one more robot is activated, by pages and active robots.
    values
        relative values J by state.
    gap
        smallest difference between activating a robot and not, if it is known to more digits than values have.

    Returns
    -------
    RobotStructure
        violations, in parts of the span of J, of what a monotone curve needs: with
        :math:`d(q, r) = J(q, r+1) - J(q, r)`, that d rises in r (convexity) and in q (supermodularity).

    Examples
    --------
    >>> from queueing.robots import RobotQueue, policy_step, structure_of
    >>> queue = RobotQueue(robots=4, capacity=3, arrival_rate=0.5)
    >>> step = policy_step(queue, queue.cost(starvation=2.0), queue.base_stock(2))
    >>> structure_of(step.policy, step.values).departure_curve
    (3, 3, 0, 0, 0)
    """
    states = np.ones(values.shape, dtype=bool)
    states[0, 0] = False  # no state: a robot is always activated there
    scale = float(np.ptp(values[states])) or 1.0
    known: Grid = np.where(states, values, np.nan)
    worth = np.diff(known, axis=1)
    smallest = float(np.nanmin(np.abs(worth))) if gap is None else gap
    signs = [_opposed(worth[:, :-1], worth[:, 1:]), _opposed(worth[:-1], worth[1:])]
    departure, arrival = curves(policy)
    return RobotStructure(
        monotone=is_monotone(policy),
        switching=max(signs) / scale,
        convexity=_fall(worth[:, :-1], worth[:, 1:]) / scale,
        supermodularity=_fall(worth[:-1], worth[1:]) / scale,
        gap=smallest / scale,
        departure_curve=departure,
        arrival_curve=arrival,
    )


def is_monotone(policy: Policy) -> bool:
    """Whether activation ends for good as pages, or robots, become more.

    Parameters
    ----------
    policy
        1 where one more robot is activated, by pages and active robots.

    Returns
    -------
    bool
        whether the policy falls in both, as Talim et al. (2001) conjecture of an optimal one.

    Examples
    --------
    >>> from queueing.robots import RobotQueue, is_monotone
    >>> is_monotone(RobotQueue(robots=4, capacity=3, arrival_rate=0.5).base_stock(2))
    True
    """
    return bool((np.diff(policy, axis=0) <= 0).all() and (np.diff(policy, axis=1) <= 0).all())


def curves(policy: Policy) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """The switching curves after a departure and after an arrival, both read off the one array of a policy.

    Parameters
    ----------
    policy
        1 where one more robot is activated, by pages and active robots.

    Returns
    -------
    tuple
        :math:`f_0(r)` and :math:`f_1(r)` for r = 0, ..., N: a robot is activated at that many pages or fewer, seen
        before the event; :math:`f_1(0)` does not exist and is None.

    Notes
    -----
    A departure from (q, r) asks the policy at (q-1, r), an arrival to (q, r) at (min(q+1, K), r-1).

    Examples
    --------
    >>> from queueing.robots import RobotQueue, curves, first_policy
    >>> curves(first_policy(RobotQueue(robots=4, capacity=3, arrival_rate=0.5)))
    ((3, 3, 2, 0, 0), (None, 3, 3, 0, -1))
    """
    most = policy.shape[0] - 1
    last = [int(np.flatnonzero(column)[-1]) if column.any() else -1 for column in policy.T]
    departure = tuple(min(top + 1, most) for top in last)
    return departure, (None, *(most if top == most else max(top - 1, -1) for top in last[:-1]))


def _fall(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Largest fall from one to the other; 0 where there is no state."""
    return float(np.nan_to_num(one - other).max(initial=0.0))


def _opposed(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Largest change of both that leaves no pair with a positive first and a negative second number."""
    return float(np.minimum(np.nan_to_num(one), -np.nan_to_num(other)).max(initial=0.0))
