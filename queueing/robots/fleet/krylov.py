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

#: Most steps of one solution, and products of numbers between two pauses.
STEPS, AT_ONCE = 3000, 1e8

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
def _risen(matrix: Shifted, vector: Vector, found: Vector) -> None:
    """(1 - U)^-1 vector."""
    for state in range(len(vector) - 1, -1, -1):
        value = vector[state]
        for k in range(matrix.middles[state], matrix.pointers[state + 1]):
            value += matrix.chances[k] * found[matrix.targets[k]]
        found[state] = value


@njit(cache=True)
def _applied(matrix: Shifted, vector: Vector, risen: Vector, found: Vector) -> None:
    """The product of the preconditioned matrix and a vector; `risen` is filled on the way."""
    _risen(matrix, vector, risen)
    total = _dot(matrix.left, risen)
    for state in range(len(vector)):
        value = vector[state] - risen[state] + matrix.right[state] / matrix.leaving[state] * total
        for k in range(matrix.pointers[state], matrix.middles[state]):
            value += matrix.chances[k] * found[matrix.targets[k]]
        found[state] = value
    for state in range(len(vector)):
        found[state] += risen[state]


@njit(cache=True)
def _dot(first: Vector, second: Vector) -> float:
    total = 0.0
    for place in range(len(first)):
        total += first[place] * second[place]
    return total


class _Search(NamedTuple):
    """Where BiCGStab stands: its vectors, and rho, alpha, omega, the rest at first, the least rest, steps taken."""

    solution: Vector
    best: Vector
    rest: Vector
    shadow: Vector
    direction: Vector
    image: Vector
    moved: Vector
    risen: Vector
    numbers: Vector


def solved(
    matrix: Shifted, wanted: Vector, tolerance: float, steps: int, pause: Pause | None = None
) -> tuple[Vector, float, int]:
    """Solve matrix x = wanted until the rest, preconditioned, is below `tolerance` in parts of that of `wanted`.

    Parameters
    ----------
    pause
        called a few times a second; what it raises ends the search.

    Returns
    -------
    tuple
        the best x met, that part, and the steps taken.
    """
    # In a power of two near the largest number: nothing is rounded, and squares of prices like 1e200 are numbers.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(wanted / matrix.leaving).max(initial=0.0))[1]))
    search = _begun(matrix, wanted / unit)
    at_once = max(1, int(AT_ONCE / (len(matrix.targets) + 10.0 * len(wanted))))
    while not _advanced(matrix, search, tolerance, steps, at_once):
        if pause is not None:
            pause()
    found = np.zeros(len(wanted))
    _risen(matrix, search.best, found)
    begun, least, count = search.numbers[3:]
    return found * unit, least / begun if begun > 0.0 else 0.0, int(count)


@njit(cache=True)
def _begun(matrix: Shifted, wanted: Vector) -> _Search:
    size = len(wanted)
    rest = np.zeros(size)
    for state in range(size):
        value = wanted[state] / matrix.leaving[state]
        for k in range(matrix.pointers[state], matrix.middles[state]):
            value += matrix.chances[k] * rest[matrix.targets[k]]
        rest[state] = value
    begun = np.sqrt(_dot(rest, rest))
    return _Search(
        np.zeros(size),
        np.zeros(size),
        rest,
        rest.copy(),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.array([1.0, 1.0, 1.0, begun, begun, 0.0]),
    )


@njit(cache=True)
def _advanced(matrix: Shifted, search: _Search, tolerance: float, steps: int, at_once: int) -> bool:
    """Take some steps; tells whether the search has come to its end, with `best` as good as it gets."""
    solution, best, rest, shadow, direction, image, moved, risen, numbers = search
    rho, alpha, omega, begun, least, counted = numbers
    size, count, lost = len(rest), int(counted), not np.isfinite(least)
    last = min(steps, count + at_once)
    while count < last and least > tolerance * begun and not lost:
        count += 1
        new = _dot(shadow, rest)
        if abs(new) <= 1e-14 * np.sqrt(_dot(shadow, shadow) * _dot(rest, rest)) or omega == 0.0:
            shadow[:] = rest  # begin anew where the shadow has gone blind
            direction[:] = 0.0
            image[:] = 0.0
            rho, alpha, omega = 1.0, 1.0, 1.0
            new = _dot(shadow, rest)
        beta = new / rho * alpha / omega
        rho = new
        for state in range(size):
            direction[state] = rest[state] + beta * (direction[state] - omega * image[state])
        _applied(matrix, direction, risen, image)
        along = _dot(shadow, image)
        alpha = rho / along if along != 0.0 else 0.0
        for state in range(size):
            rest[state] -= alpha * image[state]
        _applied(matrix, rest, risen, moved)
        square = _dot(moved, moved)
        omega = _dot(moved, rest) / square if square > 0.0 else 0.0
        for state in range(size):
            solution[state] += alpha * direction[state] + omega * rest[state]
            rest[state] -= omega * moved[state]
        now = np.sqrt(_dot(rest, rest))
        lost = not np.isfinite(now)
        if not lost:
            if now < 0.5 * least:  # a copy costs: only what is worth it
                best[:] = solution
            least = min(least, now)
    numbers[:] = np.array([rho, alpha, omega, begun, least, float(count)])
    if count > 0 and least <= tolerance * begun:
        best[:] = solution
        return True
    return bool(lost or count >= steps or least <= tolerance * begun)
