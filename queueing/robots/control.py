r"""The best activation policy of the robot queue, by policy iteration on its structure, with a certificate.

A step of policy iteration evaluates a policy, improves it from relative values of twice the digits, and brackets the
least cost (:mod:`queueing.robots.relative_values`). A policy that is a monotone curve is evaluated level by level
(:mod:`queueing.robots.levels`), and improved to another such curve as long as there is one; what is not, through its
cuts (:mod:`queueing.robots.feedback_states`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .feedback_states import Grid, Policy, closed_class, expectations, solved, turns_of
from .fleet import fleet_step, led_to, moves_of
from .levels import Curve, curve_of, improved_curve, level_values, levels_of, policy_of
from .queue import FEW_CUTS, MOST_CUTS, MOST_PAGES, RobotQueue, static_shares
from .relative_values import bracket, greedy, refined, refined_curve

#: Called between parts of a long computation; what it raises ends it.
Pause = Callable[[], None]

#: Work of one stretch of a descent, in numbers touched: some tenths of a second.
STRETCH = 50_000_000

#: What a descent ends with: policy, gain, values, changes that are left (-1: not known), lower and upper end, gap.
Descent = tuple[Policy, float, Grid, int, float, float, float]


@dataclass(frozen=True, eq=False)
class PolicyStep:
    """A policy, what it costs, and a better one: one step of policy iteration.

    Attributes
    ----------
    policy, gain
        the policy that was evaluated, and its average cost; one with several closed classes was first led to the
        cheapest.
    values
        relative values by state, 0 somewhere in its closed class.
    better, changes
        the policy that is greedy for these values, and in how many states it differs.
    lower, upper
        the least average cost of all policies lies between them.
    gap
        smallest difference, in absolute value, between activating a robot and not.

    Examples
    --------
    >>> from queueing import RobotQueue, best_policy
    >>> queue = RobotQueue(robots=4, capacity=3, arrival_rate=0.5)
    >>> step = best_policy(queue, queue.cost(starvation=2.0))
    >>> step.changes, step.lower <= step.gain <= step.upper
    (0, True)
    """

    policy: Policy
    gain: float
    values: Grid
    better: Policy
    changes: int
    lower: float
    upper: float
    gap: float


def policy_step(queue: RobotQueue, cost: Grid, policy: Policy, pause: Pause | None = None) -> PolicyStep:
    r"""Evaluate a policy under a cost by state, and improve it.

    Parameters
    ----------
    queue
        what is controlled.
    cost
        cost per unit of time by state, as `RobotQueue.cost` makes it.
    policy
        1 where one more robot is activated, by pages and active robots.
    pause
        called now and then where that takes long; what it raises ends the work.

    Returns
    -------
    PolicyStep
        gain and relative values of the policy, the greedy policy, and a bracket of the least cost of all policies.

    Notes
    -----
    Relative values J and gain g solve, with :math:`M(q, r)` the value after the decision at (q, r),

    .. math::  g = c(q, r) + \mu 1(q > 0)\, [M(q-1, r) - J(q, r)] + \lambda r\, [M(\min(q+1, K), r-1) - J(q, r)],

    which is equation (7) of Talim et al. (2001) per unit of time, the policy in place of the minimum. Values have twice
    the digits of a double, so that decisions which hardly matter are still made right.

    Examples
    --------
    >>> from queueing import RobotQueue, policy_step
    >>> queue = RobotQueue(robots=4, capacity=3, arrival_rate=0.5)
    >>> cost = queue.cost(starvation=2.0)
    >>> step = policy_step(queue, cost, queue.base_stock(2))
    >>> round(step.gain, 6), round(policy_step(queue, cost, step.better).gain, 6)
    (0.75, 0.397306)
    """
    arrival, service = queue.arrival_rate, queue.service_rate
    curve, falls = curve_of(policy)
    if falls and queue.capacity <= MOST_PAGES:
        gain, values, rest = refined_curve(policy, curve, arrival, service, cost)
    elif falls or not has_few_cuts(policy, arrival, service):
        return _as_a_fleet(queue, cost, policy, pause)
    else:
        policy, gain, values, rest = _through_cuts(queue, cost, policy)
    if not (np.isfinite(gain) and np.isfinite(values).all() and np.isfinite(rest).all()):
        return _as_a_fleet(queue, cost, policy, pause)
    better, choice, changes, gap = greedy(policy, values, rest)
    lower, upper = bracket(choice, arrival, service, cost, values, rest)
    return PolicyStep(
        policy, gain, values, better, changes, max(float(cost.min()), min(lower, gain)), max(upper, gain), gap
    )


def _as_a_fleet(queue: RobotQueue, cost: Grid, policy: Policy, pause: Pause | None) -> PolicyStep:
    """The step where times between visits are beyond all numbers, or cuts too many: states are taken out one by one."""
    found = fleet_step(
        queue.fleet,
        np.where(np.arange(cost.size) > 0, cost.ravel(), 0.0),
        policy.astype(np.int64).ravel(),
        pause=pause,
    )
    actions, better = (part.reshape(queue.shape).astype(np.int8) for part in (found.actions, found.better))
    values = found.values.reshape(queue.shape)
    return PolicyStep(actions, found.gain, values, better, found.changes, found.lower, found.upper, found.gap)


def lead_to(queue: RobotQueue, policy: Policy, aim: NDArray[np.bool_]) -> Policy:
    """Change a policy outside a closed class so that every state leads there."""
    led = led_to(moves_of(queue.fleet), policy.astype(np.int64).ravel(), queue.fleet.idle, aim.ravel())
    return np.asarray(led, dtype=np.int8).reshape(queue.shape)


def has_few_cuts(policy: Policy, arrival: float, service: float, most: int = MOST_CUTS) -> bool:
    """Whether a chain on the cuts of a policy can be eliminated."""
    return policy.size <= most or len(turns_of(policy, arrival, service).cuts) <= most


def _through_cuts(queue: RobotQueue, cost: Grid, policy: Policy) -> tuple[Policy, float, Grid, Grid]:
    """Any policy, led to its cheapest closed class, its gain, and its values as sums of two doubles."""
    costs = np.stack([cost, queue.rates[-1]])
    turns, reduced = queue.reduced(policy, costs)
    gains = reduced.loads[0, reduced.ends] / reduced.loads[1, reduced.ends]
    if len(reduced.ends) > 1:
        best = turns.cuts[reduced.ends[int(np.argmin(gains))]]
        policy = lead_to(queue, policy, closed_class(policy, int(best[0]), int(best[1])))
        turns, reduced = queue.reduced(policy, costs)
        gains = reduced.loads[0, reduced.ends] / reduced.loads[1, reduced.ends]
    gain = float(gains[0])
    return policy, gain, *refined(policy, turns, reduced, queue.arrival_rate, queue.service_rate, cost, gain)


def best_base_stock(queue: RobotQueue, cost: Grid) -> int:
    """The number of robots, within N, that costs least if it is always active."""
    numbers = np.arange(1, queue.robots + 1)
    costs = np.einsum("qr,qr->r", static_shares(queue, numbers), cost[:, 1:])
    return 1 + int(np.argmin(costs))


def first_policy(queue: RobotQueue, cost: Grid | None = None) -> Policy:
    r"""A guess: keep the best fixed number m of robots active at half a buffer, and fewer the fuller it is.

    Parameters
    ----------
    queue
        what is controlled.
    cost
        cost per unit of time by state; m is :math:`\mu / \lambda` without it.

    Returns
    -------
    Policy
        a falling switching curve.

    Notes
    -----
    The number in use swings by about :math:`\sqrt{m}`; a third of it per page saves a third of the steps that a fixed
    number of robots would need in large systems. Where prices are lopsided, m is far from :math:`\mu/\lambda`, and a
    guess around that, as it is made without a cost, would be improved in as many steps as there are robots in between.

    Examples
    --------
    >>> from queueing.robots import RobotQueue, first_policy
    >>> first_policy(RobotQueue(robots=4, capacity=3, arrival_rate=0.5))
    array([[1, 1, 1, 0, 0],
           [1, 1, 1, 0, 0],
           [1, 1, 0, 0, 0],
           [1, 1, 0, 0, 0]], dtype=int8)
    """
    aim = queue.balanced if cost is None else float(best_base_stock(queue, cost))
    lengths, robots = np.arange(queue.capacity + 1), np.arange(queue.robots + 1)
    aims = aim + 0.3 * np.sqrt(aim) * (queue.capacity / 2 - lengths)
    policy: Policy = (robots < aims[:, None]).astype(np.int8)
    policy[:, -1], policy[0, 0] = 0, 1
    return policy


def best_policy(
    queue: RobotQueue,
    cost: Grid,
    start: Policy | None = None,
    *,
    steps: int = 1000,
    accuracy: float = 0.0,
    pause: Pause | None = None,
) -> PolicyStep:
    """Improve a policy until nothing is left to improve: Howard's policy iteration, with a certificate.

    Parameters
    ----------
    queue, cost
        what is controlled, and its cost by state.
    start
        where to begin; `first_policy` unless said.
    steps
        most policies that are evaluated to twice the digits.
    accuracy
        part of the cost to which it need not be proved better: values of twice the digits are then not found where
        plain ones do. Unless said, the bracket is as narrow as can be.
    pause
        called between steps; what it raises ends the work.

    Returns
    -------
    PolicyStep
        the best policy that was found; the least average cost lies between `lower` and `upper`.

    References
    ----------
    .. [1] J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM
       Sigmetrics* 2001, *Performance Evaluation Review* 29 (1), 236-244; equation (7), and Figure 3 for the example.

    Examples
    --------
    >>> from queueing import RobotQueue, best_policy
    >>> queue = RobotQueue(robots=16, capacity=5, arrival_rate=0.1)
    >>> round(best_policy(queue, queue.cost(starvation=1.4)).gain, 5)
    0.25924
    """
    policy = first_policy(queue, cost) if start is None else start
    policy, gain, values, changes, lower, upper, gap = descended(
        policy, queue.arrival_rate, queue.service_rate, cost, pause
    )
    if changes == 0 and upper - lower <= accuracy * gain:
        return PolicyStep(policy, gain, values, policy, changes, min(lower, gain), max(upper, gain), gap)
    best: PolicyStep | None = None
    idle = 0
    for _ in range(steps):
        if pause is not None:
            pause()
        found = policy_step(queue, cost, policy, pause)
        # Equal costs are no reason to stop: states that do not recur are put right last, and the bracket needs them.
        if best is None or (found.gain, -found.lower) < (best.gain, -best.lower):
            best, idle = found, 0
        else:
            idle += 1
        if found.changes == 0 or idle > 20 or not is_evaluable(found.better, queue.arrival_rate, queue.service_rate):
            break
        policy = found.better
    assert best is not None
    return best


def is_evaluable(policy: Policy, arrival: float, service: float) -> bool:
    """Whether a step can be taken from a policy: it is a falling curve, or has few enough cuts."""
    return bool(curve_of(policy)[1]) or has_few_cuts(policy, arrival, service)


@njit(cache=True)
def curve_descended(curve: Curve, arrival: float, service: float, cost: Grid, steps: int) -> Descent:
    """Policy iteration from curve to curve in plain doubles, as long as costs fall, or for so many steps.

    Decisions change near the levels that recur, so that values are found there alone until nothing changes any more.
    After the last step there are -2 changes left.
    """
    most, robots = cost.shape[0] - 1, cost.shape[1] - 1
    rest = np.zeros(cost.shape)
    least, idle = np.inf, 0
    for _ in range(steps):
        levels = levels_of(curve, arrival, service, cost)
        gain = levels.inside[0, levels.end] / levels.inside[1, levels.end]
        idle = 0 if gain < least else idle + 1
        if idle > 3:
            return policy_of(curve, most), gain, rest, -1, -np.inf, np.inf, 0.0
        least = min(gain, least)
        margin = 8 + (levels.high - levels.low) // 4
        first, last = max(0, levels.low - margin), min(robots, levels.high + margin)
        values = level_values(levels, arrival, service, cost, gain, first, last)
        following, changes = improved_curve(curve, values, first, last)
        if changes == 0:
            if first > 0 or last < robots:
                values = level_values(levels, arrival, service, cost, gain, 0, robots)
                following, changes = improved_curve(curve, values, 0, robots)
            if changes == 0:
                policy = policy_of(curve, most)
                _, choice, changes, gap = greedy(policy, values, rest)
                lower, upper = bracket(choice, arrival, service, cost, values, rest)
                return policy, gain, values, changes, lower, upper, gap
        curve = following
    return policy_of(curve, most), least, rest, -2, -np.inf, np.inf, 0.0


def descended(policy: Policy, arrival: float, service: float, cost: Grid, pause: Pause | None = None) -> Descent:
    """Policy iteration in plain doubles: from curve to curve, then through cuts if something is left to improve.

    `pause` is called between stretches of it; what it raises ends the work.
    """
    if len(policy) > MOST_PAGES + 1:  # left to steps that take states out one by one
        return policy, np.inf, np.zeros(cost.shape), -1, -np.inf, np.inf, 0.0
    curve, falls = curve_of(policy)
    if falls:
        steps, least = max(8, STRETCH // (cost.size * cost.shape[0])), np.inf
        while True:
            found = curve_descended(curve, arrival, service, cost, steps)
            if found[3] != -2 or not found[1] < least:
                break
            least, (curve, _) = found[1], curve_of(found[0])
            if pause is not None:
                pause()
        policy = found[0]
        if found[3] == 0 or not has_few_cuts(policy, arrival, service, FEW_CUTS):
            return found
    return cut_descended(policy, arrival, service, cost)


@njit(cache=True)
def cut_descended(policy: Policy, arrival: float, service: float, cost: Grid) -> Descent:
    """Policy iteration in plain doubles, as long as costs fall and policies have one closed class."""
    costs = np.ones((2, *cost.shape))
    costs[0] = cost
    nothing, rest = np.zeros(1), np.zeros(cost.shape)
    least = np.inf
    while True:
        turns, reduced = solved(policy, arrival, service, costs)
        gain = reduced.loads[0, reduced.ends[0]] / reduced.loads[1, reduced.ends[0]]
        if len(reduced.ends) > 1 or not gain < least:
            return policy, gain, rest, -1, -np.inf, np.inf, 0.0
        least = gain
        loads = reduced.loads[0] - gain * reduced.loads[1]
        values = expectations(turns, reduced, loads, cost - gain, nothing)
        better, choice, changes, gap = greedy(policy, values, rest)
        if changes == 0:
            lower, upper = bracket(choice, arrival, service, cost, values, rest)
            return policy, gain, values, changes, lower, upper, gap
        policy = better


def descend(policy: Policy, arrival: float, service: float, cost: Grid, pause: Pause | None = None) -> Policy:
    """The policy that policy iteration in plain doubles ends with.

    Parameters
    ----------
    policy
        where to begin.
    arrival, service
        lambda of one robot, and mu.
    cost
        cost per unit of time by state.
    pause
        called between parts of the work; what it raises ends it.

    Returns
    -------
    Policy
        one that plain doubles cannot improve: nothing is proved of it, see `best_policy`.

    Examples
    --------
    >>> from queueing.robots import RobotQueue, descend, first_policy
    >>> queue = RobotQueue(robots=4, capacity=3, arrival_rate=0.5)
    >>> descend(first_policy(queue), 0.5, 1.0, queue.cost(starvation=2.0))
    array([[1, 1, 1, 1, 0],
           [1, 1, 1, 0, 0],
           [1, 1, 0, 0, 0],
           [0, 0, 0, 0, 0]], dtype=int8)
    """
    return descended(policy, arrival, service, cost, pause)[0]
