r"""Stationary distributions under policies that choose the mode by state.

Where patience has one phase, levels are taken out from the top as in :mod:`queueing.threshold_elimination`, without a
subtraction; the only difference is that every row of a level has a mode of its own. Otherwise the chain is eliminated
as one dense matrix if it is small, and else p Q = 0 is solved by Krylov's way: p of

.. math::  (e w^{\mathsf T} - Q)^{\mathsf T} p = w,  \qquad w > 0,

the matrix being regular for a chain with one closed class, and p e = 1 following from Q e = 0.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, bicgstab, gmres

from .markov import factor_in_place, solve_in_place, solve_left_in_place, stationary_of_rates
from .matrices import Matrix, Vector
from .threshold_elimination import Blocks, _climb, _multiply, _Rates, _reach

Modes = NDArray[np.int64]

#: Most states that are eliminated as one dense matrix.
DENSE_STATES = 1000

# Unnormalised probabilities above this are brought down, with all others.
_LARGE = 1e200

# Residual of the iteration, relative to what each state is left with; above the second there is no result.
_TOLERANCE, _HOPELESS = 1e-14, 1e-9


def stationary_of_states(generator: csr_array, inside: Modes) -> tuple[Vector, str]:
    """Probability of each state, and the method used; `inside` are the states of the one closed class."""
    result = np.zeros(generator.shape[0])
    core = csr_array(generator[inside][:, inside])
    if len(inside) <= DENSE_STATES:
        result[inside] = stationary_of_rates(core.toarray())
        return result, "reference"
    result[inside] = _iterated(core)
    return result, "krylov"


def _iterated(generator: csr_array) -> Vector:
    leaving = -generator.diagonal()
    weights = np.full(len(leaving), float(leaving.mean()) / len(leaving))
    transposed = csr_array(generator.T)

    def apply(p: Vector) -> Vector:
        return np.asarray(weights * p.sum() - transposed @ p)

    matrix = LinearOperator(generator.shape, matvec=apply, dtype=np.float64)
    scaling = LinearOperator(generator.shape, matvec=lambda p: p / leaving, dtype=np.float64)
    p = np.full(len(leaving), 1.0 / len(leaving))
    for attempt in range(4):
        if attempt < 3:
            found, _ = bicgstab(matrix, weights, x0=p, rtol=_TOLERANCE, atol=0.0, M=scaling, maxiter=2000)
        else:
            found, _ = gmres(matrix, weights, x0=p, rtol=_TOLERANCE, atol=0.0, M=scaling, maxiter=60, restart=60)
        if np.isfinite(found).all() and _residual(generator, found) <= _residual(generator, p):
            p = found
        if _residual(generator, p) <= 10 * _TOLERANCE:
            break
    left = _residual(generator, p)
    if left > _HOPELESS:
        raise ValueError(
            f"the stationary distribution of a policy must be found to {_HOPELESS}, but {left:.1e} is left after all "
            "attempts; bring the rates of the queue nearer to one another."
        )
    positive = np.maximum(p, 0.0)
    return np.asarray(positive / positive.sum())


def _residual(generator: csr_array, p: Vector) -> float:
    """Flow that is not balanced, by the flow there is."""
    return float(np.abs(p @ generator).sum() / np.abs(p * generator.diagonal()).sum())


# Kernels as in `queueing.threshold_elimination`: matrices of levels have room for n states; at level 0 only the first W
# are used.


def eliminated(rates: _Rates, modes: Modes) -> Vector:
    """Probability of each state (level, arrival phase, service phase), in order, under the mode of each."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    by_level = np.zeros((rates.top + 1, phases * order), dtype=np.int64)
    by_level[0, :phases] = modes[:phases]
    by_level[1:] = modes[phases:].reshape(rates.top, phases * order)
    passages, factors, totals, bottom = _eliminate(rates, by_level)
    levels = _distribute(rates, by_level, stationary_of_rates(bottom), passages, factors, totals)
    return np.concatenate([levels[0, : phases * order].reshape(phases, order).sum(axis=1), levels[1:].ravel()])


@njit(cache=True)
def _watched(rates: _Rates, modes: Modes, level: int, passages: Blocks) -> Matrix:
    """Rates of moves from `level` back to it, directly or through higher levels, service phases standing still."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    size = phases * order
    within = np.zeros((size, size))
    for step in range(_reach(rates, level), -1, -1):
        for before in range(phases):
            for phase in range(order if level > 0 else 1):
                row = before * order + phase if level > 0 else before
                climb = _climb(rates, modes[level, row], level, step)
                for after in range(phases):
                    if level > 0:
                        within[row, after * order + phase] += climb[before, after]
                    elif step > 0:
                        for begun in range(order):
                            within[row, after * order + begun] += climb[before, after] * rates.start[begun]
                    else:
                        within[row, after] += climb[before, after]
        if step > 0:
            within = _multiply(within, passages[level + step])
    return within


@njit(cache=True)
def _eliminate(rates: _Rates, modes: Modes) -> tuple[Blocks, Blocks, Matrix, Matrix]:
    """G_i, the factors of -Qbar_ii with their totals, and the chain watched at level 0."""
    phases, order, top = rates.blocks.shape[2], len(rates.start), rates.top
    size = phases * order
    passages = np.zeros((top + 1, size, size))
    factors = np.zeros((top + 1, size, size))
    totals = np.zeros((top + 1, size))
    exits = np.zeros(size)
    for level in range(top, 0, -1):
        within = _watched(rates, modes, level, passages)
        fading = (level - 1) * rates.fading
        for nu in range(phases):
            for phase in range(order):
                state = nu * order + phase
                exits[state] = rates.ending[phase] + fading
                for other in range(order):
                    within[state, nu * order + other] += rates.service[phase, other]
                    if level > 1:
                        passages[level, state, nu * order + other] = rates.ending[phase] * rates.start[other]
                if level > 1:
                    passages[level, state, state] += fading
                else:
                    passages[level, state, nu] = rates.ending[phase]
        for state in range(size):
            for other in range(size):
                factors[level, state, other] = within[state, other]
        factor_in_place(factors[level], exits, totals[level])
        solve_in_place(factors[level], totals[level], passages[level])
    watched = _watched(rates, modes, 0, passages)
    bottom = np.zeros((phases, phases))
    for nu in range(phases):
        for other in range(phases):
            bottom[nu, other] = watched[nu, other]
    return passages, factors, totals, bottom


@njit(cache=True)
def _send(rates: _Rates, modes: Modes, level: int, probabilities: Matrix, pending: Matrix) -> int:
    """Add the flow from a level straight into those above; the highest of them."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    reach = _reach(rates, level)
    for step in range(1, reach + 1):
        for before in range(phases):
            for phase in range(order):
                mass = probabilities[level, before * order + phase]
                climb = _climb(rates, modes[level, before * order + phase if level > 0 else before], level, step)
                for after in range(phases):
                    pending[level + step, after * order + phase] += mass * climb[before, after]
    return level + reach


@njit(cache=True)
def _distribute(
    rates: _Rates, modes: Modes, empty: Vector, passages: Blocks, factors: Blocks, totals: Matrix
) -> Matrix:
    """Probabilities of all states by level; at level 0 of (nu, the phase the next service will begin in)."""
    phases, order, top = rates.blocks.shape[2], len(rates.start), rates.top
    size = phases * order
    probabilities = np.zeros((top + 1, size))
    pending = np.zeros((top + 1, size))
    for nu in range(phases):
        for phase in range(order):
            probabilities[0, nu * order + phase] = empty[nu] * rates.start[phase]
    highest = _send(rates, modes, 0, probabilities, pending)
    total = 1.0
    inflow, falling = np.zeros(size), np.zeros(size)
    for level in range(1, top + 1):
        for state in range(size):
            inflow[state] = 0.0
        for above in range(highest, level, -1):
            for state in range(size):
                falling[state] = 0.0
            for state in range(size):
                value = inflow[state] + pending[above, state]
                for other in range(size):
                    falling[other] += value * passages[above, state, other]
            for state in range(size):
                inflow[state] = falling[state]
        for state in range(size):
            probabilities[level, state] = inflow[state] + pending[level, state]
        solve_left_in_place(factors[level], totals[level], probabilities[level])
        for state in range(size):
            total += probabilities[level, state]
        if total > _LARGE:
            for other in range(top + 1):
                for state in range(size):
                    probabilities[other, state] /= _LARGE
                    pending[other, state] /= _LARGE
            total /= _LARGE
        highest = max(highest, _send(rates, modes, level, probabilities, pending))
    for level in range(top + 1):
        for state in range(size):
            probabilities[level, state] /= total
    return probabilities
