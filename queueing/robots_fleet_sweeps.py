r"""Value iteration for a robot fleet: a sweep replaces values J by :math:`J + b / \Lambda`.

:math:`b` is that of :mod:`queueing.robots_fleet_bellman` in plain doubles, :math:`\Lambda` a rate above every rate of
leaving a state. The least average cost lies between the least and the largest b.
"""

import numpy as np
from numba import njit

from .robots_fleet import RobotFleet, Vector
from .robots_fleet_bellman import greedy as best_actions
from .robots_fleet_bellman import images
from .robots_fleet_moves import Actions, Moves, moves_of
from .robots_fleet_policies import allowed_actions, first_actions
from .robots_sweeps import PACE


def sweep(fleet: RobotFleet, cost: Vector, values: Vector) -> tuple[Vector, float, float]:
    """Values after one sweep, and the lower and upper end of a bracket of the least cost."""
    moves, absent = moves_of(fleet), fleet.environments
    rest = np.zeros(len(values))
    _, choice, _, _ = best_actions(moves, allowed_actions(fleet), first_actions(fleet), values, rest, 0.0)
    image = images(moves, choice, cost, values, rest)
    found = values + image / (PACE * fastest(moves))
    found -= found[absent]
    found[:absent] = 0.0
    return found, float(image[absent:].min()), float(image[absent:].max())


def greedy(fleet: RobotFleet, values: Vector) -> Actions:
    """The policy that is best for these values; of equal actions the first is taken."""
    found = best_actions(
        moves_of(fleet), allowed_actions(fleet), first_actions(fleet), values, np.zeros(len(values)), 0.0
    )
    return np.asarray(found[1])


@njit(cache=True)
def fastest(moves: Moves) -> float:
    """The largest rate of leaving a state."""
    most = 0.0
    for state in range(len(moves.pointers) - 1):
        total = 0.0
        for k in range(moves.pointers[state], moves.pointers[state + 1]):
            total += moves.rates[k]
        most = max(most, total)
    return most
