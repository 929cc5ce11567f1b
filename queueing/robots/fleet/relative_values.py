r"""The step of policy iteration of a robot fleet, and the bracket of its least cost.

For values J, with M the least expected value that an action leads to from the state which an event leaves,

.. math::  b(s) = c(s) + \sum_{\text{events } e} r_e(s) \, [M(e) - J(s)]
           + \sum_{\text{changes } z} r_z(s) \, [J(z) - J(s)],

brackets the least average cost, :math:`\min b \le g^* \le \max b`, whatever J is. Values are sums of two doubles, as in
:mod:`queueing.robots.relative_values`.
"""

import numpy as np
from numba import njit

from ...numerics import Vector, plus, plus_product
from .model import Places
from .transitions import Actions, Chain, Moves, Outcomes, outcomes, room_for_outcomes


def in_two(first: Vector, second: Vector) -> tuple[Vector, Vector]:
    """The sum of two vectors as doubles, and what these lack of it."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)


@njit(cache=True)
def residuals(chain: Chain, cost: Vector, gain: float, values: Vector, rest: Vector, absent: int) -> Vector:
    """By state, c - g + Q J under a policy: 0 if values and gain are exact."""
    found = np.zeros(len(values))
    for state in range(absent, len(values)):
        high, low = plus(cost[state], 0.0, -gain)
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            high, low = _plus_flow(high, low, chain.rates[k], values, rest, chain.targets[k], state)
        found[state] = high + low
    return found


@njit(cache=True)
def _plus_flow(
    high: float, low: float, rate: float, values: Vector, rest: Vector, there: int, here: int
) -> tuple[float, float]:
    """Add rate x (value there - value here)."""
    high, low = plus_product(high, low, rate, values[there])
    high, low = plus_product(high, low, -rate, values[here])
    return high, low + rate * (rest[there] - rest[here])


@njit(cache=True)
def _above(
    moves: Moves, values: Vector, rest: Vector, state: int, action: int, reference: int, room: Outcomes
) -> float:
    """Expected value of an action, above that of a state."""
    total = 0.0
    for place in range(outcomes(moves, state, action, room)):
        there = room.states[place]
        total += room.chances[place] * ((values[there] - values[reference]) + (rest[there] - rest[reference]))
    return total


@njit(cache=True)
def greedy(
    moves: Moves, idle: Places, actions: Actions, values: Vector, rest: Vector, noise: float
) -> tuple[Actions, Actions, int, float]:
    """What is best against these values.

    Returns
    -------
    tuple
        the policy, where an action replaces the present one if it is better by more than `noise`; the best action in
        each state, noise or not; number of changes; smallest decision gap, between the best action and the next.
    """
    if moves.several:
        return _greedy_several(moves, actions, values, rest, noise)
    places, worlds, room = len(moves.sent), moves.environments, room_for_outcomes(moves)
    better, choice = actions.copy(), actions.copy()
    changes, gap = 0, np.inf
    for state in range(len(actions)):
        place = state // worlds % places
        outcomes(moves, state, actions[state], room)
        reference = room.states[0]
        present = _above(moves, values, rest, state, actions[state], reference, room)
        best, least, second = -1, np.inf, np.inf
        for action in range(1 if state < worlds else 0, idle.shape[1] + 1):
            if action == 0 or idle[place, action - 1] > 0:
                value = _above(moves, values, rest, state, action, reference, room)
                if value < least:
                    best, least, second = action, value, least
                elif value < second:
                    second = value
        choice[state] = best
        gap = min(gap, second - least) if second < np.inf else gap
        if least < present - noise:
            better[state] = best
            changes += 1
    return better, choice, changes, gap


@njit(cache=True)
def _greedy_several(
    moves: Moves, actions: Actions, values: Vector, rest: Vector, noise: float
) -> tuple[Actions, Actions, int, float]:
    """The same where any number may be sent: from the most robots out to the fewest, each the better of two."""
    states, places, worlds, first = len(actions), len(moves.sent), moves.environments, np.argmax(moves.chances)
    better, choice = actions.copy(), np.zeros(states, dtype=np.int64)
    best, runner_up = np.arange(states), np.full(states, -1)  # states that are best and second after a decision
    changes, gap = 0, np.inf
    for state in range(states - 1, -1, -1):
        j, place, q = state % worlds, state // worlds % places, state // (worlds * places)
        if moves.sent[place, first] >= 0:
            more = (q * places + moves.sent[place, first]) * worlds + j
            other = best[more]
            if state < worlds or _less(values, rest, other, state):
                best[state], runner_up[state], choice[state] = other, runner_up[more], 1 + choice[more]
                if state >= worlds and (runner_up[more] < 0 or _less(values, rest, state, runner_up[more])):
                    runner_up[state] = state
            else:
                runner_up[state] = other
            if runner_up[state] >= 0:
                next_best = runner_up[state]
                gap = min(gap, (values[next_best] - values[best[state]]) + (rest[next_best] - rest[best[state]]))
        at = place
        for _ in range(actions[state]):
            at = moves.sent[at, first]
        present = (q * places + at) * worlds + j
        if (values[best[state]] - values[present]) + (rest[best[state]] - rest[present]) < -noise:
            better[state] = choice[state]
            changes += 1
    return better, choice, changes, gap


@njit(cache=True)
def _less(values: Vector, rest: Vector, first: int, second: int) -> bool:
    return bool((values[first] - values[second]) + (rest[first] - rest[second]) < 0.0)


@njit(cache=True)
def images(moves: Moves, choice: Actions, cost: Vector, values: Vector, rest: Vector) -> Vector:
    """b(s) by state, given the best action in each; 0 where there is no state."""
    room, found = room_for_outcomes(moves), np.zeros(len(values))
    for state in range(moves.environments, len(values)):
        high, low = cost[state], 0.0
        for k in range(moves.pointers[state], moves.pointers[state + 1]):
            target = moves.targets[k]
            count = outcomes(moves, target, choice[target] if moves.decided[k] else 0, room)
            for place in range(count):
                rate, there = moves.rates[k] * room.chances[place], room.states[place]
                if there != state:
                    high, low = _plus_flow(high, low, rate, values, rest, there, state)
        found[state] = high + low
    return found
