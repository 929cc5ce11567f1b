r"""Chains of a million states: relative values and shares of time by a Krylov method.

With weights w on the states, :math:`(e w^T - Q) h = c` has the relative values as solution, :math:`w^T h` being the
average cost, and :math:`p \, (e w^T - Q) = w` the shares of time. Both are solved by BiCGStab, preconditioned by a
sweep of Gauss and Seidel over the states in both directions: pages and robots spread step by step, and a sweep carries
them all the way.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from .robots_fleet import Vector
from .robots_fleet_moves import Chain

#: Most steps of one solution.
STEPS = 4000


class Shifted(NamedTuple):
    """The matrix e w' - Q, or its transpose: `chain` and a matrix of rank one, ``right left'``."""

    chain: Chain
    left: Vector
    right: Vector


def forward(chain: Chain, absent: int) -> Shifted:
    """The matrix for relative values; the first `absent` states are none."""
    size = len(chain.leaving)
    ones = np.ones(size)
    ones[:absent] = 0.0
    return Shifted(chain, ones * (chain.leaving[absent:].mean() / (size - absent)), ones)


def backward(chain: Chain, absent: int) -> Shifted:
    """The matrix for shares of time."""
    turned = csr_array(chain.matrix().T.tocsr())
    pointers, targets = (np.asarray(part, dtype=np.int64) for part in (turned.indptr, turned.indices))
    shifted = forward(chain, absent)
    return Shifted(Chain(pointers, targets, turned.data, chain.leaving), shifted.right, shifted.left)


@njit(cache=True)
def applied(matrix: Shifted, vector: Vector, found: Vector) -> None:
    """Matrix times vector."""
    chain, total = matrix.chain, 0.0
    for state in range(len(vector)):
        total += matrix.left[state] * vector[state]
    for state in range(len(vector)):
        value = chain.leaving[state] * vector[state]
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            value -= chain.rates[k] * vector[chain.targets[k]]
        found[state] = value + matrix.right[state] * total


@njit(cache=True)
def _swept(chain: Chain, vector: Vector, found: Vector) -> None:
    """One sweep there and back: (D - L) D^-1 (D - U) x = vector."""
    for state in range(len(vector)):
        value = vector[state]
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            if chain.targets[k] < state:
                value += chain.rates[k] * found[chain.targets[k]]
        found[state] = value / chain.leaving[state]
    for state in range(len(vector) - 1, -1, -1):
        value = 0.0
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            if chain.targets[k] > state:
                value += chain.rates[k] * found[chain.targets[k]]
        found[state] += value / chain.leaving[state]


@njit(cache=True)
def _dot(first: Vector, second: Vector) -> float:
    total = 0.0
    for place in range(len(first)):
        total += first[place] * second[place]
    return total


@njit(cache=True)
def solved(matrix: Shifted, wanted: Vector, start: Vector, tolerance: float, steps: int) -> tuple[Vector, float, int]:
    """Solve matrix x = wanted from a start until the rest is below `tolerance` times the size of `wanted`.

    Returns
    -------
    tuple
        the best x met, the size of its rest in multiples of that of `wanted`, and the steps taken.
    """
    size = len(wanted)
    solution, best = start.copy(), start.copy()
    image, ahead, second, moved = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    rest, half = np.zeros(size), np.zeros(size)
    applied(matrix, solution, image)
    for place in range(size):
        rest[place] = wanted[place] - image[place]
    goal = np.sqrt(_dot(wanted, wanted))
    least = np.sqrt(_dot(rest, rest))
    scale = goal if goal > 0.0 else 1.0
    goal *= tolerance
    shadow, direction = rest.copy(), np.zeros(size)
    rho, alpha, omega = 1.0, 1.0, 1.0
    image[:] = 0.0
    count = 0
    while count < steps and least > goal:
        count += 1
        new = _dot(shadow, rest)
        if abs(new) <= 1e-14 * np.sqrt(_dot(shadow, shadow) * _dot(rest, rest)) or omega == 0.0:
            applied(matrix, best, image)  # begin anew where the shadow has gone blind
            for place in range(size):
                solution[place] = best[place]
                rest[place] = wanted[place] - image[place]
                shadow[place] = rest[place]
                direction[place], image[place] = 0.0, 0.0
            rho, alpha, omega = 1.0, 1.0, 1.0
            new = _dot(shadow, rest)
        beta = new / rho * alpha / omega
        rho = new
        for place in range(size):
            direction[place] = rest[place] + beta * (direction[place] - omega * image[place])
        _swept(matrix.chain, direction, ahead)
        applied(matrix, ahead, image)
        along = _dot(shadow, image)
        alpha = rho / along if along != 0.0 else 0.0
        for place in range(size):
            half[place] = rest[place] - alpha * image[place]
        _swept(matrix.chain, half, second)
        applied(matrix, second, moved)
        square = _dot(moved, moved)
        omega = _dot(moved, half) / square if square > 0.0 else 0.0
        for place in range(size):
            solution[place] += alpha * ahead[place] + omega * second[place]
            rest[place] = half[place] - omega * moved[place]
        now = np.sqrt(_dot(rest, rest))
        if not np.isfinite(now):
            break
        if now < least:
            least = now
            best[:] = solution
    return best, least / scale, count
