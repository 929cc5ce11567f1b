r"""Threshold queues by their full generator: the references every other method is tested against.

The lemma of section 3 of Avrachenkov et al. (2011), block by block, any patience law, any admission rule. Three methods
solve the chain:

`reference`
    one dense matrix, eliminated state by state without subtractions;
`block`
    the algorithm of Klimenok et al. (2005) that Avrachenkov et al. (2011) take, level by level, with dense blocks;
`recursion`
    the block-tridiagonal recursion of Avrachenkov et al. (2011), section 6, which takes pages that come one by one:
    what `block` becomes without batches.

Without batches a level is left for its neighbours only. From the top down,

.. math::  G_i = \bigl[-(Q_{i+1,i+1} + Q_{i+1,i+2} G_{i+1})\bigr]^{-1} Q_{i+1,i}, \qquad
           G_{K-1} = (-Q_{KK})^{-1} Q_{K,K-1},

:math:`p_0 (Q_{00} + Q_{01} G_0) = 0`, and from the bottom up
:math:`p_i = p_{i-1} Q_{i-1,i} [-(Q_{ii} + Q_{i,i+1} G_i)]^{-1}`: their :math:`p_0 F_i`, without the matrices
:math:`F_i`. The matrices in brackets are given their diagonals from rates that are all positive, so nothing cancels
before they are inverted. Their :math:`P_{loss}` has the arrivals of one robot at level K, which is right only if
:math:`j_{N-1} < K`; here those of the mode in force are taken, whatever the thresholds are.

Sojourn times follow their theorem 4: a page that has i pages before it and is to be served is watched by
:math:`v_i, w_i` over (m, eta_1, ..., eta_{i-1}, its own eta), the probability of the outcome and the mean time with
that outcome,

.. math::  -A_i v_i = r_i + \hat B_{i-1} v_{i-1}, \qquad -A_i w_i = v_i + \hat B_{i-1} w_{i-1},
           \qquad A_i = S \oplus \Gamma^{\oplus i},

with :math:`r_i = 0`, :math:`v_0 = e` for service and :math:`r_i = e \otimes \Gamma_0`, :math:`v_0 = 0` for
obsolescence. When the last page before it leaves, the page begins its service and its patience no longer counts:
:math:`\hat B_0 = S_0 \beta \otimes e_R`, where they print an undefined matrix of the wrong size. Their closed form of
the second pair has the wrong sign; the recursion has no sign to get wrong.
"""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from scipy.sparse import block_array, csc_array, csr_array, eye_array
from scipy.sparse import kron as sparse_kron
from scipy.sparse.linalg import spsolve

from ...numerics import DENSE_LIMIT, Matrix, Vector, stationary_by_levels, stationary_of_rates
from ..model import Flows, Method, ModeByLevel, ThresholdModel, direct_flows

#: Most states the methods `block` and `recursion` take; some 8000 take a quarter of a minute.
BLOCK_LIMIT = 10_000

#: A way to find the stationary probabilities of the states of each level.
Levels = Callable[[ThresholdModel, ModeByLevel], list[Vector]]

#: A way to solve a sparse system for several right sides, the columns of a matrix.
Solver = Callable[[csr_array, Matrix], Matrix]


def full_generator(model: ThresholdModel, modes: ModeByLevel) -> csr_array:
    """Write the generator of the whole chain.

    Parameters
    ----------
    model
        the queue.
    modes
        for each level, the mode in force there.

    Returns
    -------
    csr_array
        states by level, and then in lexicographic order.
    """
    rows = level_blocks(model, modes)
    grid: list[list[csr_array | None]] = [[None] * len(rows) for _ in rows]
    for level, row in enumerate(rows):
        for target, block in row.items():
            grid[level][target] = block
    return csr_array(block_array(grid, format="csr"))


def level_blocks(model: ThresholdModel, modes: ModeByLevel) -> list[dict[int, csr_array]]:
    """Write the generator by blocks, as in the lemma of Avrachenkov et al. (2011), section 3.

    Parameters
    ----------
    model
        the queue.
    modes
        for each level, the mode in force there.

    Returns
    -------
    list of dict
        by level, the blocks of its row by target level.
    """
    gamma = model.patience_rates[0]
    start, ending = model.service.initial, model.service.exit_rates
    phases = model.arrivals[0].phases
    rows = []
    for level in range(model.top + 1):
        row: dict[int, csr_array] = {}
        for batch, block in enumerate(_batches(model, modes[level])):
            enter = model.admitted(level, batch)
            begun = [start, *[gamma] * (enter - 1)] if level == 0 and enter else [gamma] * enter
            same = model.level_size(level) // phases
            _add(row, level + enter, _chain([block, _identity(same), *(part[np.newaxis] for part in begun)]))
        if level >= 1:
            _add(row, level, _kron(_identity(phases), _phase_generator(model, level - 1)))
            down = csr_array(ending[:, np.newaxis]) if level == 1 else _departure(model, level - 1)
            _add(row, level - 1, _kron(_identity(phases), down))
        rows.append(row)
    return rows


def flows_of_distribution(model: ThresholdModel, modes: ModeByLevel, levels: Sequence[Vector]) -> Flows:
    """Return all flows by direct sums over the stationary distribution, a vector for each level."""
    gamma, _, fading = model.patience_rates
    arriving = lost = obsolete = served = 0.0
    outcomes = outcomes_ahead(model)
    totals = np.zeros(4)  # served, its time, obsolete, its time: as pages that enter will see it
    for level, probabilities in enumerate(levels):
        by_phase = probabilities.reshape(model.arrivals[0].phases, -1)
        for batch, block in enumerate(_batches(model, modes[level])):
            meeting = block.sum(axis=1) @ by_phase if batch else np.zeros(by_phase.shape[1])
            enter = model.admitted(level, batch)
            rate = float(meeting.sum())
            arriving += batch * rate
            lost += (batch - enter) * rate
            for position in range(1, enter + 1):
                begun = [model.service.initial, *[gamma] * (position - 1)] if level == 0 else [gamma] * position
                joined = reduce(np.kron, begun, meeting)
                totals += [float(joined @ column) for column in outcomes[level + position - 1]]
        if level >= 1:
            by_service = by_phase.sum(axis=0).reshape(model.service.order, -1)
            served += float(model.service.exit_rates @ by_service.sum(axis=1))
            obsolete += float(by_service.sum(axis=0) @ _sum_of_fading(fading, level - 1))
    by_level = np.array([level.sum() for level in levels])
    return direct_flows(model.top, by_level, arriving, lost, obsolete, served, totals.tolist())


def reference_levels(model: ThresholdModel, modes: ModeByLevel) -> list[Vector]:
    """Find the stationary distribution by one dense matrix, eliminated state by state.

    Parameters
    ----------
    model
        the queue.
    modes
        for each level, the mode in force there.

    Returns
    -------
    list of Vector
        by level, the probabilities of its states, in lexicographic order.
    """
    distribution = stationary_of_rates(full_generator(model, modes).toarray())
    sizes = [model.level_size(level) for level in range(model.top + 1)]
    return np.split(distribution, np.cumsum(sizes)[:-1])


def block_levels(model: ThresholdModel, modes: ModeByLevel) -> list[Vector]:
    """Find the stationary distribution by the algorithm of Klimenok et al. (2005), with dense blocks.

    Parameters
    ----------
    model
        the queue.
    modes
        for each level, the mode in force there.

    Returns
    -------
    list of Vector
        by level, the probabilities of its states, in lexicographic order.
    """
    blocks = [
        [
            row[target].toarray() if target in row else np.zeros((model.level_size(level), model.level_size(target)))
            for target in range(max(level - 1, 0), max(row) + 1)
        ]
        for level, row in enumerate(level_blocks(model, modes))
    ]
    return stationary_by_levels(blocks)


def _solved_by(name: str, limit: int, levels: Levels, single: bool = False) -> Method:
    """Return the method that finds the stationary distribution in this way, for so many states at most."""

    def refusal(model: ThresholdModel) -> str | None:
        if single and model.largest_batch > 1:
            return f"takes pages that come one by one, and here come batches of up to {model.largest_batch}"
        return f"takes at most {limit} states" if model.states > limit else None

    return Method(name, refusal, lambda model, modes: flows_of_distribution(model, modes, levels(model, modes)))


REFERENCE = _solved_by("reference", DENSE_LIMIT, reference_levels)
BLOCK = _solved_by("block", BLOCK_LIMIT, block_levels)
RECURSION = _solved_by("recursion", BLOCK_LIMIT, block_levels, single=True)


def _solve_sparse(matrix: csr_array, rights: Matrix) -> Matrix:
    """Solve for several right sides, the columns of a matrix, by SuperLU."""
    return np.asarray(spsolve(csc_array(matrix), rights)).reshape(rights.shape)


def outcomes_ahead(model: ThresholdModel, solve: Solver = _solve_sparse) -> list[tuple[Vector, Vector, Vector, Vector]]:
    """Find what becomes of a page with 0, 1, ... pages before it, by Avrachenkov et al. (2011), theorem 4.

    Parameters
    ----------
    model : ThresholdModel
        The queue.
    solve : callable
        It takes a sparse matrix and a matrix of right sides, and returns the solutions, a column for each.

    Returns
    -------
    list of tuple of Vector
        By pages ahead, four columns over (service phase, patience phases of those that wait and of the page itself):
        the probability that the page is served, the mean time it then spends (0 if it is not served), and the same two
        for a page that goes out of date.
    """
    size, fading = model.service.order, model.patience_rates[2]
    mean = np.linalg.solve(-model.service.generator, np.ones(size))
    outcomes = [(np.ones(size), np.asarray(mean), np.zeros(size), np.zeros(size))]
    for ahead in range(1, model.top):
        passing, leaving = _departures_ahead(model, ahead), csr_array(-_phase_generator(model, ahead))
        served, served_time, obsolete, obsolete_time = outcomes[-1]
        ends = np.tile(fading, leaving.shape[0] // len(fading))
        first = solve(leaving, np.column_stack([passing @ served, ends + passing @ obsolete]))
        later = np.column_stack([first[:, 0] + passing @ served_time, first[:, 1] + passing @ obsolete_time])
        second = solve(leaving, later)
        outcomes.append((first[:, 0], second[:, 0], first[:, 1], second[:, 1]))
    return outcomes


def _phase_generator(model: ThresholdModel, waiting: int) -> csr_array:
    """Return A, the generator of phases while nobody comes or goes: S (+) Gamma (+) ... (+) Gamma."""
    _, change, _ = model.patience_rates
    total = csr_array(model.service.generator)
    for _ in range(waiting):
        total = csr_array(_kron(total, _identity(len(change))) + _kron(_identity(total.shape[0]), csr_array(change)))
    return total


def _departure(model: ThresholdModel, waiting: int) -> csr_array:
    """Write B: a service ends and the oldest of the waiting pages begins its own, or one of them goes out of date."""
    _, _, fading = model.patience_rates
    order = len(fading)
    begun = np.outer(model.service.exit_rates, model.service.initial)
    total = _chain([begun, np.ones((order, 1)), _identity(order ** (waiting - 1))])
    for place in range(waiting):
        older, younger = _identity(order**place), _identity(order ** (waiting - 1 - place))
        gone = _chain([_identity(model.service.order), older, fading[:, np.newaxis], younger])
        total = csr_array(total + gone)
    return total


def _departures_ahead(model: ThresholdModel, ahead: int) -> csr_array:
    """Return B with one more page behind: the rates at which one of the pages ahead of it leaves."""
    if ahead == 1:
        begun = np.outer(model.service.exit_rates, model.service.initial)
        return _chain([begun, np.ones((model.patience_order, 1))])
    return _kron(_departure(model, ahead - 1), _identity(model.patience_order))


def _batches(model: ThresholdModel, mode: int) -> tuple[Matrix, ...]:
    """Return D_0, ..., D_m, m the largest batch that ever comes."""
    process = model.arrivals[mode]
    return process.blocks[: process.largest_batch + 1]


def _sum_of_fading(fading: Vector, waiting: int) -> Vector:
    """Return the total rate of obsolescence in each combination of phases of so many pages."""
    total = np.zeros(1)
    for _ in range(waiting):
        total = np.add.outer(total, fading).ravel()
    return total


def _chain(parts: Sequence[Matrix | csr_array]) -> csr_array:
    """Return the Kronecker product of them all."""
    return reduce(_kron, (csr_array(part) for part in parts))


def _kron(left: csr_array, right: csr_array) -> csr_array:
    return csr_array(sparse_kron(left, right, format="csr"))


def _identity(size: int) -> csr_array:
    return csr_array(eye_array(size))


def _add(row: dict[int, csr_array], target: int, block: csr_array) -> None:
    row[target] = csr_array(row[target] + block) if target in row else block
