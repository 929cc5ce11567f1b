r"""Krylov methods: GMRES for x = F x, and BiCGSTAB on the assembled generator of a threshold queue.

GMRES solves x = F x with applications of F alone, for linear maps too large for matrices (`fixed_point`). BiCGSTAB,
with Jacobi's preconditioner, is compiled into one loop with the product by the generator; where it does not come to an
end, GMRES goes on.

p Q = 0 is solved for :math:`z = p / s`, s the guessed mass of a level by the root of its size, so that levels of
little mass are held to the same relative accuracy as others. Divided by the diagonal the system is
:math:`z - \hat P z = 0` with :math:`\hat P \ge 0`: singular, but consistent from any start, since residuals never
leave the range. The iteration begins with a guess whose level masses are exact for exponential patience.

Measured, this is the fastest way up to some thousand states, where a solution takes milliseconds and starting compiled
code is most of them; above, :mod:`queueing.threshold.methods.matrix_free` is faster, twice at 16 000 states and eight
times at 260 000, since it has no matrix to write and read.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numerics import Vector
from ..model import Flows, Method, ModeByLevel, ThresholdModel
from .chain import Chain, Incoming, Places, Sources, assemble, chain_of, level_offsets
from .flows import COARSER, flows_of_rows, guessed_row, judged
from .phase_words import Letters, Numbers, plain_letters, rotated, triangular_letters

# Numbers worked on together: they stay in the nearest cache.
_RUN = 1024

# Relative to a vector, what rounding may leave of nothing.
_ROUNDING = 1e-14

#: Most states of the method; their generator takes about 30 entries a state, 12 bytes each.
KRYLOV_LIMIT = 300_000

#: Above so many states, 'matrix-free' was measured to be faster.
KRYLOV_PREFERRED = 5_000

#: Residual, relative to the solution, at which the iteration ends unless said.
KRYLOV_TOLERANCE = 1e-13

# Beginnings of BiCGSTAB with another shadow before GMRES is asked, and steps of each.
_BEGINNINGS, _STEPS = 4, 400

# A residual that is not reached but is below this is told as it is, with its error; above, there is no result.
_HOPELESS = 1e-8

# Sums may be taken in any order: long chains of additions wait for one another.
_summing = njit(cache=True, fastmath={"reassoc", "contract"})


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
    """Solve x = F x by GMRES, with applications of F alone.

    Parameters
    ----------
    apply
        F; its argument may be overwritten, its result is.
    start
        the vector to begin with, which must not be orthogonal to the solution.
    coarse, fine
        the residual below which the last iterate before it is kept to compare with, and the one to end at.
    window
        steps before the iteration begins anew: as many vectors are kept.
    steps
        most applications of F.

    Returns
    -------
    Iterates
        an earlier and the last approximation, with their residuals.
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
    """Find factors of the first basis vectors whose sum makes the residual least."""
    return np.asarray(np.linalg.solve(triangle[:count, :count], right[:count]))


# Compiled, a run at a time: libraries of linear algebra go through the whole vector once for each of the basis, and
# their threads wait for one another on a busy machine.


@njit(cache=True, fastmath={"reassoc", "contract"})
def norm_of(vector: Numbers) -> float:
    """Return the Euclidean norm of a vector that may be complex."""
    total = 0.0
    for place in range(len(vector)):
        total += vector[place].real * vector[place].real + vector[place].imag * vector[place].imag
    return float(np.sqrt(total))


@njit(cache=True, fastmath={"reassoc", "contract"})
def _parts(basis: Numbers, count: int, vector: Numbers) -> Numbers:
    """Return the products of the first basis vectors with `vector`."""
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


def krylov_flows(model: ThresholdModel, modes: ModeByLevel, tolerance: float = KRYLOV_TOLERANCE) -> Flows:
    """Compute all flows of a policy; the iteration ends at a residual of `tolerance`, relative to the solution."""
    chain = chain_of(model, modes)
    plain = plain_letters(*model.patience_rates)
    if chain.top == 0:
        return flows_of_rows(model, chain, plain, [guessed_row(chain, plain)[0]])[0]
    *iterates, shrinking = krylov_rows(chain, plain, tolerance)
    offsets, letters = level_offsets(chain, plain.order), triangular_letters(*model.patience_rates)
    rows = []
    for row in iterates:
        row /= row.sum()
        parts = [
            rotated(letters, part, max(level - 1, 0), chain.inner if level else 1)
            for level, part in enumerate(np.split(row, offsets[1:-1]))
        ]
        rows.append(np.concatenate(parts).astype(letters.start.dtype))
    slow, fast = flows_of_rows(model, chain, letters, rows)
    return judged(fast, slow, modes, shrinking)


KRYLOV = Method(
    name="krylov",
    refusal=lambda model: f"takes at most {KRYLOV_LIMIT} states" if model.states > KRYLOV_LIMIT else None,
    flows=krylov_flows,
    preferred=KRYLOV_PREFERRED,
)


def krylov_rows(chain: Chain, letters: Letters, tolerance: float = KRYLOV_TOLERANCE) -> tuple[Vector, Vector, float]:
    """Approximate the stationary row over all states, from a guess.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    letters
        patience of one page, in the coordinates of the law itself (`plain_letters`).
    tolerance
        residual, relative to the solution, at which the iteration ends.

    Returns
    -------
    coarse, fine : Vector
        an earlier and the last iterate, of any sum.
    shrinking : float
        the residual of the second, divided by that of the first.
    """
    row, masses = guessed_row(chain, letters)
    sizes = np.diff(level_offsets(chain, letters.order))
    scale = np.repeat(masses.sum(axis=1) / np.sqrt(sizes), sizes)
    return krylov_iterates(assemble(chain, letters), scale, row, tolerance)


def krylov_iterates(incoming: Incoming, scale: Vector, row: Vector, tolerance: float) -> tuple[Vector, Vector, float]:
    """Approximate p of p Q = 0 by BiCGSTAB, and by GMRES where that does not come to an end.

    Parameters
    ----------
    incoming
        the generator Q.
    scale
        sizes that the entries of p may be expected to have: unknowns are divided by them.
    row
        the vector to begin with.
    tolerance
        residual, relative to the solution, at which the iteration ends.

    Returns
    -------
    coarse, fine : Vector
        an earlier and the last iterate, of any sum.
    shrinking : float
        the residual of the second, divided by that of the first.

    Raises
    ------
    ValueError
        if the residual stays too large for any result.
    """
    begins, sources = incoming.begins, incoming.sources
    # Entries of the generator, scaled to a unit diagonal and to unknowns of one size.
    leaving = np.repeat(-1.0 / (incoming.diagonal * scale), np.diff(begins).astype(np.int64))
    weights = np.asarray(incoming.rates * leaving * scale[sources])
    start = row / scale
    fine, coarse = start.copy(), start.copy()
    rng = np.random.default_rng(0)
    shadow = np.zeros(len(start))  # zeros: the first residual itself
    levels = np.array([np.inf, np.inf])  # residuals of coarse and fine
    for _ in range(_BEGINNINGS):
        bicgstab(begins, sources, weights, fine, coarse, shadow, levels, COARSER * tolerance, tolerance, _STEPS)
        if levels[1] <= tolerance:
            break
        shadow = rng.standard_normal(len(start))
    else:
        _by_gmres(begins, sources, weights, fine, coarse, levels, tolerance)
    if not levels[1] <= max(_HOPELESS, tolerance) or not np.isfinite(fine).all():
        raise ValueError(
            f"Method 'krylov' must bring the residual below {_HOPELESS}, but it is {levels[1]:.1e} after "
            f"{_BEGINNINGS} beginnings; use method 'matrix-free', or bring the rates nearer to one another."
        )
    return scale * coarse, scale * fine, float(levels[1] / levels[0]) if levels[0] > 0 else 0.0


def _by_gmres(
    begins: Places, sources: Sources, weights: Vector, fine: Vector, coarse: Vector, levels: Vector, tolerance: float
) -> None:
    """Go on with GMRES where BiCGSTAB does not come to an end."""

    def apply(x: Vector) -> Vector:
        moved = np.zeros_like(x)
        _residual(begins, sources, weights, x, moved)
        return moved + x

    iterates = fixed_point(apply, fine.copy(), coarse=COARSER * tolerance, fine=tolerance, window=40, steps=_STEPS)
    fine[:], coarse[:], levels[:] = iterates.fine, iterates.coarse, iterates.residuals


@_summing
def _residual(begins: Places, sources: Sources, weights: Vector, x: Vector, out: Vector) -> None:
    """Set `out` to P x - x."""
    for state in range(len(x)):
        total = 0.0
        for entry in range(begins[state], begins[state + 1]):
            total += weights[entry] * x[sources[entry]]
        out[state] = total - x[state]


@_summing
def _dot(first: Vector, second: Vector) -> float:
    total = 0.0
    for place in range(len(first)):
        total += first[place] * second[place]
    return total


@_summing
def bicgstab(
    begins: Places,
    sources: Sources,
    weights: Vector,
    x: Vector,
    saved: Vector,
    shadow: Vector,
    levels: Vector,
    coarse: float,
    fine: float,
    steps: int,
) -> int:
    """Improve x, a solution of x = P x, in place; the number of steps.

    `saved` is the last iterate before the residual fell below `coarse`; `levels` are the true residuals of both,
    relative to x. Ends at `fine`, at breakdown, after `steps`, or when the true residual no longer falls.
    """
    size = len(x)
    r, direction, image, other = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    _residual(begins, sources, weights, x, r)
    norm = np.sqrt(_dot(x, x))
    best = np.sqrt(_dot(r, r)) / norm
    levels[1] = best
    if not levels[0] < np.inf or levels[0] < best:
        levels[0] = best
        saved[:] = x
    if best <= min(fine, 1e-15):  # else one step at least: there must be something to compare with
        return 0
    if _dot(shadow, shadow) == 0.0:
        shadow[:] = r
    rho, alpha, omega = 1.0, 1.0, 1.0
    current = best
    for step in range(1, steps + 1):
        new_rho = _dot(shadow, r)
        if not abs(new_rho) > 1e-300 or omega == 0.0:
            return step
        beta = (new_rho / rho) * (alpha / omega) if step > 1 else 0.0
        rho = new_rho
        for place in range(size):
            direction[place] = r[place] + beta * (direction[place] - omega * image[place])
        _residual(begins, sources, weights, direction, image)
        along = 0.0
        for place in range(size):
            image[place] = -image[place]
            along += shadow[place] * image[place]
        if not abs(along) > 1e-300:
            return step
        alpha = rho / along
        for place in range(size):
            r[place] -= alpha * image[place]
        _residual(begins, sources, weights, r, other)
        square, product = 0.0, 0.0
        for place in range(size):
            other[place] = -other[place]
            square += other[place] * other[place]
            product += other[place] * r[place]
        omega = product / square if square > 0.0 else 0.0
        total, remaining = 0.0, 0.0
        for place in range(size):
            x[place] += alpha * direction[place] + omega * r[place]
            total += x[place] * x[place]
            r[place] -= omega * other[place]
            remaining += r[place] * r[place]
        if not total > 0.0 or not total < 1e300:
            x[:] = saved
            levels[1] = levels[0]
            return step
        current = np.sqrt(remaining / total)
        if current > coarse:
            levels[0] = current
            saved[:] = x
        if current <= fine or current > 1e6 * best:
            _residual(begins, sources, weights, x, other)
            true = np.sqrt(_dot(other, other) / total)
            levels[1] = true
            return step
    levels[1] = current
    return steps
