r"""Chains of a million states: relative values and stationary distributions by a Krylov method.

With weights w on the states, :math:`(e w^T - Q) h = c` has the relative values as solution, :math:`w^T h` being the
average cost, and :math:`p \, (e w^T - Q) = w` the shares of time. With :math:`-Q = D (1 - L - U)`, L what leads to
lower states and U to higher ones, both are solved by BiCGStab for

.. math::  z \mapsto u + (1 - L)^{-1} \bigl[ z - u + D^{-1} e \, (w^T u) \bigr], \qquad u = (1 - U)^{-1} z,

that is with a sweep of Gauss and Seidel in both directions as preconditioner, which costs nothing beyond the product
itself (Eisenstat). Pages and robots spread step by step, and a sweep carries them all the way.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Vector
from .transitions import Chain

#: Most steps of one solution.
STEPS = 3000

Pause = Callable[[], None]


class Shifted(NamedTuple):
    """The matrix e w' - Q or its transpose: D (1 - L - U) and a matrix of rank one, ``right left'``.

    Attributes
    ----------
    pointers, middles
        entries of L of a state stand at ``pointers[s]:middles[s]``, those of U at ``middles[s]:pointers[s + 1]``.
    targets, chances
        states, and rates in parts of the rate of leaving.
    leaving
        D.
    left, right
        the matrix of rank one.
    """

    pointers: NDArray[np.int64]
    middles: NDArray[np.int64]
    targets: NDArray[np.int32]
    chances: Vector
    leaving: Vector
    left: Vector
    right: Vector


def forward(chain: Chain, absent: int) -> Shifted:
    """The matrix for relative values; the first `absent` states are none."""
    weights, ones = _weights(chain, absent)
    return Shifted(*_split(chain.pointers, chain.targets, chain.rates, chain.leaving), chain.leaving, weights, ones)


def backward(chain: Chain, absent: int) -> Shifted:
    """The matrix for shares of time."""
    weights, ones = _weights(chain, absent)
    turned = chain.matrix().T.tocsr()
    pointers, targets = (np.asarray(part, dtype=np.int64) for part in (turned.indptr, turned.indices))
    return Shifted(*_split(pointers, targets, turned.data, chain.leaving), chain.leaving, ones, weights)


def _weights(chain: Chain, absent: int) -> tuple[Vector, Vector]:
    ones = np.ones(len(chain.leaving))
    ones[:absent] = 0.0
    return ones * (chain.leaving[absent:].mean() / (len(ones) - absent)), ones


@njit(cache=True)
def _split(
    pointers: NDArray[np.int64], targets: NDArray[np.int64], rates: Vector, leaving: Vector
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], Vector]:
    """Entries of each row with those of lower states first."""
    middles, sorted_targets, chances = (
        pointers[:-1].copy(),
        np.zeros(len(targets), dtype=np.int32),
        np.zeros(len(rates)),
    )
    for state in range(len(leaving)):
        place = pointers[state]
        for lower in (True, False):
            for k in range(pointers[state], pointers[state + 1]):
                if (targets[k] < state) == lower:
                    sorted_targets[place], chances[place] = targets[k], rates[k] / leaving[state]
                    place += 1
            if lower:
                middles[state] = place
    return pointers, middles, sorted_targets, chances


@njit(cache=True)
def _dot(first: Vector, second: Vector) -> float:
    """Multiply two vectors in one thread: those of a library wait for one another."""
    total = 0.0
    for place in range(len(first)):
        total += first[place] * second[place]
    return total


@njit(cache=True)
def left_over(matrix: Shifted, wanted: Vector, vector: Vector) -> Vector:
    """What a vector leaves of the equation: wanted - matrix vector."""
    total, found = _dot(matrix.left, vector), np.zeros(len(vector))
    for state in range(len(vector)):
        value = vector[state]
        for k in range(matrix.pointers[state], matrix.pointers[state + 1]):
            value -= matrix.chances[k] * vector[matrix.targets[k]]
        found[state] = wanted[state] - (matrix.leaving[state] * value + matrix.right[state] * total)
    return found


@njit(cache=True)
def _rise(matrix: Shifted, vector: Vector, found: Vector) -> Vector:
    """Compute (1 - U)^-1 vector."""
    for state in range(len(vector) - 1, -1, -1):
        value = vector[state]
        for k in range(matrix.middles[state], matrix.pointers[state + 1]):
            value += matrix.chances[k] * found[matrix.targets[k]]
        found[state] = value
    return found


@njit(cache=True)
def _fall(matrix: Shifted, vector: Vector, found: Vector) -> Vector:
    """Compute (1 - L)^-1 vector."""
    for state in range(len(vector)):
        value = vector[state]
        for k in range(matrix.pointers[state], matrix.middles[state]):
            value += matrix.chances[k] * found[matrix.targets[k]]
        found[state] = value
    return found


@njit(cache=True)
def _apply(matrix: Shifted, vector: Vector, risen: Vector, found: Vector) -> None:
    """Multiply a vector by the preconditioned matrix; `risen` is filled on the way."""
    total = _dot(matrix.left, _rise(matrix, vector, risen))
    for state in range(len(vector)):
        value = vector[state] - risen[state] + matrix.right[state] / matrix.leaving[state] * total
        for k in range(matrix.pointers[state], matrix.middles[state]):
            value += matrix.chances[k] * found[matrix.targets[k]]
        found[state] = value
    for state in range(len(vector)):
        found[state] += risen[state]


def solved(
    matrix: Shifted, wanted: Vector, tolerance: float, steps: int, pause: Pause | None = None
) -> tuple[Vector, float, int]:
    """Solve matrix x = wanted until the rest, preconditioned, is below `tolerance` in parts of that of `wanted`.

    Parameters
    ----------
    pause
        called in every step; what it raises ends the search.

    Returns
    -------
    tuple
        the best x met, that part, and the steps taken.
    """
    # In a power of two near the largest number: nothing is rounded, and squares of prices like 1e200 are numbers.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(wanted / matrix.leaving).max(initial=0.0))[1]))
    # The solution, what it leaves, its shadow, the direction, images of both, and room.
    vectors = tuple(np.zeros((7, len(wanted))))
    vectors[1][:] = _fall(matrix, wanted / unit / matrix.leaving, vectors[2])
    begun = least = float(np.sqrt(_dot(vectors[1], vectors[1])))
    best, rho, alpha, omega, count = np.zeros(len(wanted)), 1.0, 1.0, 1.0, 0
    while count < steps and least > tolerance * begun:
        if pause is not None:
            pause()
        count += 1
        rho, alpha, omega, now = _step(matrix, vectors, rho, alpha, omega)
        if not np.isfinite(now):
            break
        if now < 0.5 * least or now <= tolerance * begun:  # a copy costs: only what is worth it
            best = vectors[0].copy()
        least = min(least, now)
    return _rise(matrix, best, vectors[0]) * unit, least / begun if begun > 0.0 else 0.0, count


@njit(cache=True)
def _step(
    matrix: Shifted, vectors: tuple[Vector, ...], rho: float, alpha: float, omega: float
) -> tuple[float, float, float, float]:
    """Take a step of BiCGStab, and tell how much is left; `vectors` are those of `solved`."""
    solution, rest, shadow, direction, image, moved, risen = vectors
    new = _dot(shadow, rest)
    if abs(new) <= 1e-14 * np.sqrt(_dot(shadow, shadow) * _dot(rest, rest)) or omega == 0.0:
        shadow[:] = rest  # begin anew where the shadow has gone blind
        direction[:] = image[:] = 0.0
        rho, alpha, omega, new = 1.0, 1.0, 1.0, _dot(rest, rest)
    beta = new / rho * alpha / omega
    for state in range(len(rest)):
        direction[state] = rest[state] + beta * (direction[state] - omega * image[state])
    _apply(matrix, direction, risen, image)
    along = _dot(shadow, image)
    alpha = new / along if along != 0.0 else 0.0
    for state in range(len(rest)):
        rest[state] -= alpha * image[state]
    _apply(matrix, rest, risen, moved)
    square = _dot(moved, moved)
    omega = _dot(moved, rest) / square if square > 0.0 else 0.0
    for state in range(len(rest)):
        solution[state] += alpha * direction[state] + omega * rest[state]
        rest[state] -= omega * moved[state]
    return new, alpha, omega, np.sqrt(_dot(rest, rest))
