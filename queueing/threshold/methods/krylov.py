r"""Threshold queues by a Krylov method (BiCGSTAB with Jacobi's preconditioner) on the assembled generator.

p Q = 0 is solved for :math:`z = p / s`, s the guessed mass of a level by the root of its size, so that levels of
little mass are held to the same relative accuracy as others. Divided by the diagonal the system is
:math:`z - \hat P z = 0` with :math:`\hat P \ge 0`: singular, but consistent from any start, since residuals never
leave the range. The iteration begins with a guess whose level masses are exact for exponential patience.

Measured, this is the fastest way up to some thousand states, where a solution takes milliseconds and starting compiled
code is most of them; above, :mod:`queueing.threshold.methods.matrix_free` is faster, twice at 16 000 states and eight
times at 260 000, since it has no matrix to write and read.
"""

import numpy as np
from numba import njit

from ...numerics import Vector
from ..model import Flows, Method, ModeByLevel, ThresholdModel
from .accuracy import COARSER, judged
from .assembly import Incoming, Places, Sources, assemble
from .chain import chain_of
from .flows import flows_of_rows, guessed_row, level_offsets
from .gmres import fixed_point
from .phase_words import plain_letters, rotated, triangular_letters

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


def krylov_flows(model: ThresholdModel, modes: ModeByLevel, tolerance: float = KRYLOV_TOLERANCE) -> Flows:
    """All flows of a policy; the iteration ends at a residual of `tolerance`, relative to the solution."""
    chain = chain_of(model, modes)
    plain = plain_letters(*model.patience_rates)
    row, masses = guessed_row(chain, plain)
    if chain.top == 0:
        return flows_of_rows(model, chain, plain, [row])[0]
    incoming = assemble(chain, plain)
    offsets = level_offsets(chain, plain.order)
    sizes = np.diff(offsets)
    scale = np.repeat(masses.sum(axis=1) / np.sqrt(sizes), sizes)
    weights = scaled_rates(incoming, scale)
    coarse, fine, shrinking = krylov_iterates(incoming.begins, incoming.sources, weights, row / scale, tolerance)
    letters = triangular_letters(*model.patience_rates)
    rows = []
    for solution in (coarse, fine):
        probabilities = scale * solution
        probabilities /= probabilities.sum()
        parts = [
            rotated(letters, part, max(level - 1, 0), chain.inner if level else 1)
            for level, part in enumerate(np.split(probabilities, offsets[1:-1]))
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


def scaled_rates(incoming: Incoming, scale: Vector) -> Vector:
    """Return the entries of the generator, scaled to a unit diagonal and to unknowns of one size."""
    leaving = np.repeat(-1.0 / (incoming.diagonal * scale), np.diff(incoming.begins).astype(np.int64))
    return np.asarray(incoming.rates * leaving * scale[incoming.sources])


def krylov_iterates(
    begins: Places, sources: Sources, weights: Vector, start: Vector, tolerance: float
) -> tuple[Vector, Vector, float]:
    """Return two iterates of the scaled system, and the residual of the second divided by that of the first."""
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
    return coarse, fine, float(levels[1] / levels[0]) if levels[0] > 0 else 0.0


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
        for place in range(size):
            saved[place] = x[place]
    if best <= min(fine, 1e-15):  # else one step at least: there must be something to compare with
        return 0
    if _dot(shadow, shadow) == 0.0:
        for place in range(size):
            shadow[place] = r[place]
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
            for place in range(size):
                x[place] = saved[place]
            levels[1] = levels[0]
            return step
        current = np.sqrt(remaining / total)
        if current > coarse:
            levels[0] = current
            for place in range(size):
                saved[place] = x[place]
        if current <= fine or current > 1e6 * best:
            _residual(begins, sources, weights, x, other)
            true = np.sqrt(_dot(other, other) / total)
            levels[1] = true
            return step
    levels[1] = current
    return steps
