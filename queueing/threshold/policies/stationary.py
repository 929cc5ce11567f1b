r"""Stationary distributions under policies that choose the mode by state.

Where patience has one phase, levels are taken out from the top as in :mod:`queueing.threshold.methods.elimination`,
without a subtraction, every state with a mode of its own. Otherwise the chain is eliminated
as one dense matrix if it is small, and else iterated by :mod:`queueing.threshold.methods.krylov`.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from ...numerics import Integers, Vector, stationary_of_rates
from ..methods import (
    Incoming,
    Rates,
    krylov_iterates,
    stationary_by_state,
)

#: Most states that are eliminated as one dense matrix.
DENSE_STATES = 1000

# Residuals of the iteration, relative: to learn how heavy levels are, and in the end.
_FIRST, _TOLERANCE = 1e-8, 1e-13


class Iterates(NamedTuple):
    """Probabilities of states, as good as they got and somewhat worse, and how much the residual fell in between."""

    fine: Vector
    coarse: Vector
    shrinking: float


def stationary_of_states(generator: csr_array, inside: Integers, level: Integers) -> tuple[Iterates, str]:
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


def _iterated(generator: csr_array, level: Integers) -> tuple[Vector, Vector, float]:
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
        coarse, fine, shrinking = krylov_iterates(entries, scale, solution, tolerance)
        solution = np.maximum(fine, 0.0)
        solution /= solution.sum()
        if tolerance == _FIRST:  # levels of little mass are held to the same relative accuracy as others
            masses: Vector = np.zeros(int(level.max()) + 1)
            np.add.at(masses, level, solution)
            sizes = np.maximum(np.bincount(level), 1)
            scale = np.asarray((np.maximum(masses, 1e-250) / np.sqrt(sizes))[level])
    before = np.maximum(coarse, 0.0)
    return before / before.sum(), solution, shrinking


def eliminated(rates: Rates, modes: Integers) -> Vector:
    """Probability of each state (level, arrival phase, service phase), in order, under the mode of each."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    by_level = np.zeros((rates.top + 1, phases * order), dtype=np.int64)
    by_level[0, :phases] = modes[:phases]
    by_level[1:] = modes[phases:].reshape(rates.top, phases * order)
    levels = stationary_by_state(rates, by_level)
    return np.concatenate([levels[0, : phases * order].reshape(phases, order).sum(axis=1), levels[1:].ravel()])
