r"""Stationary distributions under policies that choose the mode by state.

Where patience has one phase, levels are taken out from the top as in :mod:`queueing.threshold_elimination`, without a
subtraction; the only difference is that every row of a level has a mode of its own. Otherwise the chain is eliminated
as one dense matrix if it is small, and else iterated by :mod:`queueing.threshold_krylov`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.linalg import LinearOperator, bicgstab

from .markov import factor_in_place, solve_in_place, solve_left_in_place, stationary_of_rates
from .matrices import Matrix, Vector
from .threshold_assembly import Incoming
from .threshold_elimination import Blocks, _climb, _multiply, _Rates, _reach
from .threshold_generator import _life, _passing
from .threshold_krylov import _scaled, _stationary
from .threshold_model import ThresholdModel

Modes = NDArray[np.int64]

#: Most states that are eliminated as one dense matrix.
DENSE_STATES = 1000

# Unnormalised probabilities above this are brought down, with all others.
_LARGE = 1e200

# Residuals of iterations, relative: to learn how heavy levels are, and in the end; above the third there is no result.
_FIRST, _TOLERANCE, _HOPELESS = 1e-8, 1e-13, 1e-9


class Iterates(NamedTuple):
    """Probabilities of states, as good as they got and somewhat worse, and how much the residual fell in between."""

    fine: Vector
    coarse: Vector
    shrinking: float


def stationary_of_states(generator: csr_array, inside: Modes, level: Modes) -> tuple[Iterates, str]:
    """Probability of each state, and the method used; `inside` are the states of the one closed class."""
    core = csr_array(generator[inside][:, inside])
    if len(inside) <= DENSE_STATES:
        found = stationary_of_rates(core.toarray())
        coarse, fine, shrinking, method = found, found, 0.0, "reference"
    else:
        coarse, fine, shrinking = _iterated(core, level[inside])
        method = "krylov"
    rows = np.zeros((2, generator.shape[0]))
    rows[:, inside] = fine, coarse
    return Iterates(rows[0], rows[1], shrinking), method


def _iterated(generator: csr_array, level: Modes) -> tuple[Vector, Vector, float]:
    diagonal = generator.diagonal()
    moves = coo_array(generator)
    real = moves.row != moves.col
    shape = generator.shape
    incoming = csc_array((moves.data[real], (moves.row[real], moves.col[real])), shape=shape)
    entries = Incoming(
        incoming.indptr.astype(np.uint64), incoming.indices.astype(np.uint32), np.array(incoming.data), diagonal
    )
    scale, solution = np.ones(len(diagonal)), np.full(len(diagonal), 1.0 / len(diagonal))
    for tolerance in (_FIRST, _TOLERANCE):
        weights = _scaled(entries, scale)
        coarse, fine, shrinking = _stationary(
            entries.begins, entries.sources, weights, solution / scale, max(tolerance, _TOLERANCE)
        )
        solution = np.maximum(scale * fine, 0.0)
        solution /= solution.sum()
        if tolerance == _FIRST:  # levels of little mass are held to the same relative accuracy as others
            masses: Vector = np.zeros(int(level.max()) + 1)
            np.add.at(masses, level, solution)
            sizes = np.maximum(np.bincount(level), 1)
            scale = np.asarray((np.maximum(masses, 1e-250) / np.sqrt(sizes))[level])
    before = np.maximum(scale * coarse, 0.0)
    return before / before.sum(), solution, shrinking


def outcomes_by_ahead(model: ThresholdModel) -> list[Matrix]:
    """By pages ahead of a page: served or not and how long, out of date or not and how long, a row for each.

    Columns are over (service phase, patience phases of those that wait and of the page itself). The recursion of
    :mod:`queueing.threshold_generator`, its systems solved by iteration where they are large.
    """
    order = model.service.order
    fading = model.patience_rates[2]
    mean = np.linalg.solve(-model.service.generator, np.ones(order))
    outcomes = [np.array([np.ones(order), mean, np.zeros(order), np.zeros(order)])]
    for ahead in range(1, model.top):
        passing, leaving = _passing(model, ahead), csr_array(-_life(model, ahead))
        served, served_time, obsolete, obsolete_time = outcomes[-1]
        ends = np.tile(fading, leaving.shape[0] // len(fading))
        chances = [_left_behind(leaving, right) for right in (passing @ served, ends + passing @ obsolete)]
        rights = (chances[0] + passing @ served_time, chances[1] + passing @ obsolete_time)
        times = [_left_behind(leaving, right) for right in rights]
        outcomes.append(np.array([chances[0], times[0], chances[1], times[1]]))
    return outcomes


def _left_behind(leaving: csr_array, right: Vector) -> Vector:
    """X of (-A) X = right, A the generator of phases that are left for good."""
    if leaving.shape[0] <= DENSE_STATES:
        return np.asarray(np.linalg.solve(leaving.toarray(), right))
    diagonal = leaving.diagonal()
    scaling = LinearOperator(leaving.shape, matvec=lambda x: x / diagonal, dtype=np.float64)
    found, _ = bicgstab(leaving, right, rtol=_TOLERANCE, atol=0.0, M=scaling, maxiter=2000)
    left = float(np.linalg.norm(right - leaving @ found))
    if not left <= _HOPELESS * float(np.linalg.norm(right)):
        raise ValueError(
            f"what becomes of a page must be found to {_HOPELESS}, but {left:.1e} is left after all attempts; bring "
            "the rates of the queue nearer to one another."
        )
    return np.asarray(found)


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
