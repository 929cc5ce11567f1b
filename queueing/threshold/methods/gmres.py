"""Fixed points of linear maps too large for matrices, by GMRES: x = F x is solved with applications of F alone."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Numbers = NDArray[Any]

# Numbers worked on together: they stay in the nearest cache.
_RUN = 1024

# Relative to a vector, what rounding may leave of nothing.
_ROUNDING = 1e-14


class Iterates(NamedTuple):
    """Two approximations of a fixed point.

    Attributes
    ----------
    coarse, fine
        an earlier one and the last one.
    residuals
        of both: norm of F x - x by the norm of x, as the iteration knows it.
    """

    coarse: Numbers
    fine: Numbers
    residuals: tuple[float, float]


def fixed_point(
    apply: Callable[[Numbers], Numbers],
    start: Numbers,
    *,
    coarse: float,
    fine: float,
    window: int,
    steps: int,
) -> Iterates:
    """Solve x = F x from `start`, which must not be orthogonal to the solution.

    Parameters
    ----------
    apply
        F; its argument may be overwritten, its result is.
    coarse, fine
        the residual below which the last iterate before it is kept to compare with, and the one to end at.
    window
        steps before the iteration begins anew: as many vectors are kept.
    steps
        most applications of F.
    """
    x, earlier = start, start
    basis = np.empty((window + 1, len(start)), dtype=start.dtype)
    residuals = [np.inf, np.inf]
    done = 0
    while done < steps:
        size = float(norm_of(x))
        first = apply(x.copy())
        first -= x
        done += 1
        norm = float(norm_of(first))
        if not norm < residuals[1] * size * 0.9:  # no longer falling: rounding is all that is left
            return Iterates(earlier, x, (residuals[0], min(residuals[1], norm / size)))
        residuals[1] = norm / size
        if residuals[1] > coarse or not residuals[0] < np.inf:
            earlier, residuals[0] = x, residuals[1]
        # One step at least, for something to compare with; but nothing is learnt from a residual of mere rounding.
        if residuals[1] <= _ROUNDING or (residuals[1] <= fine and x is not start):
            break
        np.divide(first, norm, out=basis[0])
        triangle = np.zeros((window + 1, window), dtype=start.dtype)
        right = np.zeros(window + 1, dtype=start.dtype)
        right[0] = norm
        cosines, sines = np.zeros(window), np.zeros(window, dtype=start.dtype)
        kept = 0  # columns after which the residual was still above `coarse`
        used = 0
        for column in range(window):
            vector = basis[column] - apply(basis[column].copy())
            done += 1
            entries = np.zeros(column + 2, dtype=start.dtype)
            length = float(norm_of(vector))
            for _ in range(2):
                before = length
                parts = _parts(basis, column + 1, vector)
                _add(basis, -parts, vector)
                entries[:-1] += parts
                length = float(norm_of(vector))
                if length > 0.1 * before:  # else much of what is left is rounding: once more
                    break
            entries[-1] = length
            for row in range(column):
                upper = cosines[row] * entries[row] + sines[row] * entries[row + 1]
                entries[row + 1] = -np.conj(sines[row]) * entries[row] + cosines[row] * entries[row + 1]
                entries[row] = upper
            radius = float(np.hypot(abs(entries[column]), length))
            if not radius > _ROUNDING or not np.isfinite(radius):  # along the solution itself there is nothing to solve
                break
            if abs(entries[column]) > 0.0:
                cosines[column] = abs(entries[column]) / radius
                sines[column] = entries[column] / abs(entries[column]) * length / radius
                entries[column] *= radius / abs(entries[column])
            else:
                cosines[column], sines[column], entries[column] = 0.0, 1.0, length
            triangle[: column + 1, column] = entries[:-1]
            right[column + 1] = -np.conj(sines[column]) * right[column]
            right[column] *= cosines[column]
            used = column + 1
            estimate = float(abs(right[used])) / size
            if estimate > coarse:
                kept = used
            if estimate <= fine or done >= steps or not length > 1e-14 * radius:
                break
            np.divide(vector, length, out=basis[used])
        if kept > 0:
            earlier = x.copy()
            _add(basis, _factors(triangle, right, kept), earlier)
            residuals[0] = float(abs(right[kept])) / float(norm_of(earlier))
        if used == 0:
            break
        x = x.copy()
        _add(basis, _factors(triangle, right, used), x)
    return Iterates(earlier, x, (residuals[0], residuals[1]))


def _factors(triangle: Numbers, right: Numbers, count: int) -> Numbers:
    """Of the first basis vectors: their sum makes the residual least."""
    return np.asarray(np.linalg.solve(triangle[:count, :count], right[:count]))


# Compiled, a run at a time: libraries of linear algebra go through the whole vector once for each of the basis, and
# their threads wait for one another on a busy machine.


@njit(cache=True, fastmath={"reassoc", "contract"})
def norm_of(vector: Numbers) -> float:
    """Euclidean norm."""
    total = 0.0
    for place in range(len(vector)):
        total += vector[place].real * vector[place].real + vector[place].imag * vector[place].imag
    return float(np.sqrt(total))


@njit(cache=True, fastmath={"reassoc", "contract"})
def _parts(basis: Numbers, count: int, vector: Numbers) -> Numbers:
    """Products of the first basis vectors with `vector`."""
    parts = np.zeros(count, dtype=vector.dtype)
    for begin in range(0, len(vector), _RUN):
        there = vector[begin : begin + _RUN]
        for number in range(count):
            here = basis[number, begin : begin + _RUN]
            total = here[0] * 0.0
            for place in range(len(there)):
                total += np.conj(here[place]) * there[place]
            parts[number] += total
    return parts


@njit(cache=True)
def _add(basis: Numbers, factors: Numbers, vector: Numbers) -> None:
    """Add the first basis vectors with these factors to `vector`."""
    for begin in range(0, len(vector), _RUN):
        there = vector[begin : begin + _RUN]
        for number in range(len(factors)):
            here, factor = basis[number, begin : begin + _RUN], factors[number]
            for place in range(len(there)):
                there[place] += factor * here[place]
