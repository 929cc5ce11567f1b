r"""Stationary distributions under policies that choose the mode by state.

Where patience has one phase, levels are taken out from the top as in :mod:`queueing.threshold.methods.elimination`,
without a subtraction, every state with a mode of its own. Otherwise the chain is eliminated
as one dense matrix if it is small, and else iterated by :mod:`queueing.threshold.methods.krylov`.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.linalg import LinearOperator, bicgstab

from ...numerics import Matrix, Vector, stationary_of_rates
from ..methods import (
    Incoming,
    Rates,
    departures_ahead,
    krylov_iterates,
    phase_generator,
    scaled_rates,
    stationary_by_state,
)
from ..model import ThresholdModel
from .states import Modes

#: Most states that are eliminated as one dense matrix.
DENSE_STATES = 1000

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
        weights = scaled_rates(entries, scale)
        coarse, fine, shrinking = krylov_iterates(
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
    :mod:`queueing.threshold.methods.generator`, its systems solved by iteration where they are large.
    """
    order = model.service.order
    fading = model.patience_rates[2]
    mean = np.linalg.solve(-model.service.generator, np.ones(order))
    outcomes = [np.array([np.ones(order), mean, np.zeros(order), np.zeros(order)])]
    for ahead in range(1, model.top):
        passing, leaving = departures_ahead(model, ahead), csr_array(-phase_generator(model, ahead))
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


def eliminated(rates: Rates, modes: Modes) -> Vector:
    """Probability of each state (level, arrival phase, service phase), in order, under the mode of each."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    by_level = np.zeros((rates.top + 1, phases * order), dtype=np.int64)
    by_level[0, :phases] = modes[:phases]
    by_level[1:] = modes[phases:].reshape(rates.top, phases * order)
    levels = stationary_by_state(rates, by_level)
    return np.concatenate([levels[0, : phases * order].reshape(phases, order).sum(axis=1), levels[1:].ravel()])
