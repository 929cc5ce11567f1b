r"""Value iteration for a robot fleet: a sweep replaces values J by :math:`J + b / \Lambda`.

:math:`b` is that of :mod:`queueing.robots.fleet.relative_values` in plain doubles, :math:`\Lambda` a rate above every
rate of leaving a state. The least average cost lies between the least and the largest b.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Vector
from .model import RobotFleet
from .policies import first_actions
from .relative_values import greedy as best_actions
from .transitions import Actions, Moves, moves_of

#: Rate of steps, in multiples of the largest rate of leaving a state: above 1, or values might swing for ever.
PACE = 1.0 + 1e-3

#: Rounding of one operation, relative.
HALF_A_DIGIT = 2.0**-53


def sweep(fleet: RobotFleet, cost: Vector, values: Vector) -> tuple[Vector, float, float]:
    """Improve values by one sweep over all states.

    Parameters
    ----------
    fleet
        The fleet.
    cost
        Per unit of time, by state.
    values
        Any values by state.

    Returns
    -------
    tuple[Vector, float, float]
        The values after the sweep, and the lower and upper end of a bracket of the least average cost.
    """
    return _swept(moves_of(fleet), cost, values)


def greedy(fleet: RobotFleet, values: Vector) -> Actions:
    """Find the policy that is best for given values.

    Parameters
    ----------
    fleet
        The fleet.
    values
        By state.

    Returns
    -------
    NDArray[np.int64]
        An action for each state; of equal actions the first is taken.
    """
    found = best_actions(moves_of(fleet), fleet.idle, first_actions(fleet), values, np.zeros(len(values)), 0.0)
    return np.asarray(found[1])


@njit(cache=True)
def _swept(moves: Moves, cost: Vector, values: Vector) -> tuple[Vector, float, float]:
    states, absent = len(values), moves.environments
    best, image = decided(moves, values), np.zeros(states)
    lower, upper, fastest, mixed = np.inf, -np.inf, 0.0, ((moves.chances > 0.0) & (moves.chances < 1.0)).sum()
    for state in range(absent, states):
        moved, leaving, here = cost[state], 0.0, values[state]
        first, last = moves.pointers[state], moves.pointers[state + 1]
        sizes, blurred = abs(cost[state]), 0.0
        for k in range(first, last):
            there = best[moves.targets[k]] if moves.decided[k] else values[moves.targets[k]]
            flow = moves.rates[k] * (there - here)
            moved += flow
            sizes += abs(flow)
            blurred += moves.rates[k] * abs(there)
            leaving += moves.rates[k]
        image[state] = moved
        # Sums are rounded, and so are means over the phases that a journey may begin in: brackets are wider by it.
        slack = HALF_A_DIGIT * ((last - first + 6) * sizes + 2 * mixed * blurred)
        lower, upper, fastest = min(lower, moved - slack), max(upper, moved + slack), max(fastest, leaving)
    shift = values[absent] + image[absent] / (PACE * fastest)
    for state in range(absent, states):
        image[state] = values[state] + image[state] / (PACE * fastest) - shift
    return image, lower, upper


@njit(cache=True)
def decided(moves: Moves, values: Vector) -> NDArray[np.float64]:
    """By state that an event leaves, the least expected value after an action."""
    states, places, worlds, phases = len(values), len(moves.sent), moves.environments, len(moves.chances)
    classes, first = moves.owners[phases - 1] + 1, np.argmax(moves.chances)
    best, expected = np.zeros(states), np.zeros(classes)
    for q in range(states // (places * worlds) - 1, -1, -1):
        for place in range(places - 1, -1, -1):
            for j in range(worlds):
                state = (q * places + place) * worlds + j
                least = np.inf if state < worlds else values[state]
                if moves.several:
                    if moves.sent[place, first] >= 0:
                        least = min(least, best[(q * places + moves.sent[place, first]) * worlds + j])
                else:
                    expected[:] = 0.0
                    for phase in range(phases):
                        if moves.chances[phase] > 0.0:
                            there = moves.sent[place, phase]
                            if there >= 0:
                                value = moves.chances[phase] * values[(q * places + there) * worlds + j]
                                expected[moves.owners[phase]] += value
                            else:
                                expected[moves.owners[phase]] = np.inf
                    for index in range(classes):
                        least = min(least, expected[index])
                best[state] = least
    return best
