r"""Threshold queues without batches: the block-tridiagonal recursion of Avrachenkov et al. (2011), section 6.

Without batches a level is left for its neighbours only. From the top down,

.. math::  G_i = \bigl[-(Q_{i+1,i+1} + Q_{i+1,i+2} G_{i+1})\bigr]^{-1} Q_{i+1,i}, \qquad
           G_{K-1} = (-Q_{KK})^{-1} Q_{K,K-1},

:math:`p_0 (Q_{00} + Q_{01} G_0) = 0`, and from the bottom up
:math:`p_i = p_{i-1} Q_{i-1,i} [-(Q_{ii} + Q_{i,i+1} G_i)]^{-1}`: the paper's :math:`p_0 F_i`, without the matrices
:math:`F_i`. The matrices in brackets are given their diagonals from rates that are all positive, so nothing cancels
before they are factored.

The paper's :math:`P_{loss}` has the arrivals of one robot at level K, which is right only if :math:`j_{N-1} < K`; here
those of the mode in force are taken, whatever the thresholds are.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import csr_array

from ...numerics import Matrix, Vector, stationary_of_rates
from ..model import Flows, Method, ModeByLevel, ThresholdModel
from .generator import flows_of_distribution, level_blocks

#: Most states of the method; its blocks are dense.
RECURSION_LIMIT = 10_000


def stationary_by_recursion(model: ThresholdModel, modes: ModeByLevel) -> list[Vector]:
    """Stationary probabilities of the states of each level, ordered as in :mod:`.generator`."""
    rows = level_blocks(model, modes)
    factors: list[tuple[Matrix, NDArray[np.int32]]] = []  # of the matrices in brackets, the highest level first
    returns: Matrix | None = None  # Q_{i,i+1} G_i, the moves from level i back to it by way of level i + 1
    for level in range(model.top, 0, -1):
        down = _dense(rows[level][level - 1])
        within = _dense(rows[level][level])
        if returns is not None:
            within += returns
        factors.append(lu_factor(_leaving(within, down), check_finite=False))
        passage = lu_solve(factors[-1], down, check_finite=False)
        up = rows[level - 1].get(level)
        returns = np.zeros((down.shape[1],) * 2) if up is None else np.asarray(up @ passage)
    bottom = _dense(rows[0][0])
    levels = [stationary_of_rates(bottom if returns is None else bottom + returns)]
    for level in range(1, model.top + 1):
        up = rows[level - 1].get(level)
        inflow = np.zeros(model.level_size(level)) if up is None else levels[-1] @ up
        levels.append(np.asarray(lu_solve(factors[-level], inflow, trans=1, check_finite=False)))
    total = sum(float(level.sum()) for level in levels)
    return [level / total for level in levels]


def _leaving(within: Matrix, down: Matrix) -> Matrix:
    """Minus the generator of a level, its diagonal from the rates between its states and those that fall."""
    result = -within
    np.fill_diagonal(result, 0.0)
    np.fill_diagonal(result, down.sum(axis=1) - result.sum(axis=1))
    return result


def _dense(block: csr_array) -> Matrix:
    return np.asarray(block.toarray(), dtype=np.float64)


def _refusal(model: ThresholdModel) -> str | None:
    if model.largest_batch > 1:
        return f"takes pages that come one by one, and here come batches of up to {model.largest_batch}"
    return f"takes at most {RECURSION_LIMIT} states" if model.states > RECURSION_LIMIT else None


def _recursion_flows(model: ThresholdModel, modes: ModeByLevel) -> Flows:
    return flows_of_distribution(model, modes, stationary_by_recursion(model, modes))


RECURSION = Method(name="recursion", refusal=_refusal, flows=_recursion_flows)
