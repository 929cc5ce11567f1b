r"""Threshold queues without a matrix: millions of states, each level solved by itself, from the top down.

Given what batches bring to each level from below, levels are solved from the highest down: level i from those batches
and from level i + 1, by its diagonal block, in the triangular coordinates of
:mod:`queueing.threshold.methods.phase_words`. This is a sweep of block Gauss-Seidel, in place, at about twenty
operations a state. A sweep reads only the levels that batches can leave, so GMRES is given :math:`x = F x`, x these
levels, F a sweep: some twenty sweeps instead of a hundred, on vectors of half the size.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Integers, Matrix, Vector
from ..model import Flows, Method, ModeByLevel, ThresholdModel
from .chain import Blocks, Chain, chain_of, level_offsets
from .flows import COARSER, balance, flows_of_rows, guessed_row, judged
from .krylov import fixed_point, norm_of
from .phase_words import (
    Classes,
    Letters,
    Numbers,
    add_letter,
    classes_of_words,
    delete_letter,
    solve_level,
    triangular_letters,
    weights_of_words,
)

#: Most states of the method.
MATRIX_FREE_LIMIT = 6_000_000

#: Residual, relative to the solution, at which the iteration ends unless said.
MATRIX_FREE_TOLERANCE = 1e-13

# Vectors kept by the iteration, and most sweeps.
_WINDOW, _STEPS = 24, 400

# Sweeps before it, each with level masses put right.
_AGGREGATIONS = 3

# A residual that is not reached but is below this is told as it is, with its error; above, there is no result.
_HOPELESS = 1e-8


class Tables(NamedTuple):
    """What a sweep needs beside the row: chain and law, and the inverses of the diagonal blocks by class of words."""

    offsets: Integers
    climbs: Blocks
    used: NDArray[np.bool_]
    start: Vector
    ending: Vector
    first: Numbers
    change: Numbers
    fading: Numbers
    whole: Numbers
    members: NDArray[np.int32]
    inverses: Numbers
    kinds: Integers
    empty: Numbers


def matrix_free_flows(model: ThresholdModel, modes: ModeByLevel, tolerance: float = MATRIX_FREE_TOLERANCE) -> Flows:
    """Compute all flows of a policy; the iteration ends at a residual of `tolerance`, relative to the solution."""
    chain = chain_of(model, modes)
    letters = triangular_letters(*model.patience_rates)
    rows, shrinking = stationary_rows(chain, letters, tolerance)
    slow, fast = flows_of_rows(model, chain, letters, rows)
    return judged(fast, slow, modes, shrinking)


def stationary_rows(
    chain: Chain, letters: Letters, tolerance: float = MATRIX_FREE_TOLERANCE
) -> tuple[list[Numbers], float]:
    """Find an earlier and the last iterate of the stationary row, and the quotient of their residuals.

    `letters` must be triangular; rows are in their coordinates, of any sum.
    """
    row, masses = guessed_row(chain, letters)
    if chain.top == 0:
        return [row.copy(), row], 0.0
    classes = classes_of_words(letters, chain.top - 1)
    inverses = [level_inverses(chain, level, classes) for level in range(1, chain.top + 1)]
    tables = tables_of(chain, letters, np.concatenate(classes.members), inverses)
    weights = weights_of_words(letters, chain.top - 1)
    for _ in range(_AGGREGATIONS):  # the guess knows little of how light the highest levels are
        sweep(tables, row)
        masses = balance(chain, letters, row, weights)
    del weights
    rows, residuals = iterated(tables, chain, row, masses, tolerance)
    if not residuals[1] <= max(_HOPELESS, tolerance):
        raise ValueError(
            f"Method 'matrix-free' must bring the residual below {_HOPELESS}, but it is {residuals[1]:.1e} after "
            f"{_STEPS} sweeps; bring the rates nearer to one another."
        )
    return rows, residuals[1] / residuals[0] if residuals[0] > 0 else 0.0


def iterated(
    tables: Tables, chain: Chain, row: Numbers, masses: Matrix, tolerance: float
) -> tuple[list[Numbers], list[float]]:
    """Approximate the stationary row by GMRES on sweeps.

    Parameters
    ----------
    tables
        of the chain, by `tables_of`.
    chain
        one policy, as `chain_of` writes it.
    row
        the row to begin with, which is used up.
    masses
        its level masses.
    tolerance
        residual, relative to the solution, at which the iteration ends.

    Returns
    -------
    rows : list of Numbers
        an earlier and the last iterate, over all states.
    residuals : list of float
        their true residuals.
    """
    leaving = 1 + max(level for level in range(chain.top) if chain.climbs[level, 1:].any())
    sizes = np.diff(tables.offsets)
    scale = np.repeat(masses.sum(axis=1) / np.sqrt(sizes), sizes)[: tables.offsets[leaving]]
    start = row[: len(scale)] / scale

    def apply(x: Numbers) -> Numbers:
        np.multiply(x, scale, out=row[: len(scale)])
        sweep(tables, row)
        return np.asarray(np.divide(row[: len(scale)], scale, out=x))

    iterates = fixed_point(apply, start, coarse=COARSER * tolerance, fine=tolerance, window=_WINDOW, steps=_STEPS)
    rows, residuals = [], []
    for x in (iterates.coarse, iterates.fine):
        after = apply(x.copy())
        residuals.append(float(norm_of(after - x) / norm_of(x)))
        rows.append(row.copy())
    return rows, residuals


MATRIX_FREE = Method(
    name="matrix-free",
    refusal=lambda model: f"takes at most {MATRIX_FREE_LIMIT} states" if model.states > MATRIX_FREE_LIMIT else None,
    flows=matrix_free_flows,
)


def level_inverses(chain: Chain, level: int, classes: Classes) -> Numbers:
    """Invert the part of a diagonal block on arrivals and service, for each class of words.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    level
        number of pages in the system, at least 1.
    classes
        classes of words, by `classes_of_words`.

    Returns
    -------
    Numbers
        by class, the inverse of minus that part, shifted by the diagonal of the phases of patience.
    """
    block = np.kron(chain.climbs[level, 0], np.eye(len(chain.start)))
    block += np.kron(np.eye(chain.climbs.shape[2]), chain.service)
    shifts = classes.shifts[level - 1]
    return np.asarray(np.linalg.inv(-block - shifts[:, np.newaxis, np.newaxis] * np.eye(chain.inner)))


def tables_of(chain: Chain, letters: Letters, members: NDArray[np.int32], inverses: Sequence[Numbers]) -> Tables:
    """Collect what a sweep needs beside the row.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    letters
        patience of one page.
    members
        classes of all words, of every length, one after the other.
    inverses
        `level_inverses` of levels 1, 2, ...

    Returns
    -------
    Tables
        what `sweep` is given.
    """
    return Tables(
        offsets=np.array(level_offsets(chain, letters.order), dtype=np.int64),
        climbs=chain.climbs,
        used=np.asarray(chain.climbs.any(axis=(2, 3))),
        start=chain.start,
        ending=chain.ending,
        first=letters.start,
        change=letters.change,
        fading=letters.fading,
        whole=letters.whole,
        members=members,
        inverses=np.concatenate(inverses),
        kinds=np.cumsum([0, *(len(block) for block in inverses)], dtype=np.int64),
        empty=np.linalg.inv(-chain.climbs[0, 0]).astype(letters.start.dtype),
    )


@njit(cache=True)
def sweep(tables: Tables, row: Numbers) -> None:
    """Solve all levels once, from the top down, in place.

    Parameters
    ----------
    tables
        of the chain, by `tables_of`.
    row
        a row over all states; only levels that batches leave are read.
    """
    offsets = tables.offsets
    phases, size, order = tables.climbs.shape[2], len(tables.start), len(tables.first)
    inner, top = phases * size, len(offsets) - 2
    longest = offsets[top + 1] - offsets[top] if top == 1 else offsets[top] - offsets[top - 1]
    first, second = np.zeros(longest, dtype=row.dtype), np.zeros(longest, dtype=row.dtype)
    words, member = order ** (top - 1), 0
    for length in range(top - 1):
        member += order**length
    for level in range(top, 0, -1):
        out = row[offsets[level] : offsets[level + 1]]
        _bring(tables, row, level, first, second, out)
        if level < top:
            above = row[offsets[level + 1] : offsets[level + 2]]
            _serve(above, phases, tables.start, tables.ending, tables.whole, out)
            delete_letter(above, level, inner, tables.fading, out)
        members = tables.members[member : member + words]
        inverses = tables.inverses[tables.kinds[level - 1] : tables.kinds[level]]
        solve_level(out, level - 1, inner, tables.change, members, inverses)
        words //= order
        member -= words
    for nu in range(phases):
        first[nu] = 0.0
        for phase in range(size):
            first[nu] += row[offsets[1] + nu * size + phase] * tables.ending[phase]
    for nu in range(phases):
        row[nu] = 0.0
        for before in range(phases):
            row[nu] += first[before] * tables.empty[before, nu]


@njit(cache=True)
def _bring(tables: Tables, row: Numbers, level: int, first: Numbers, second: Numbers, out: Numbers) -> None:
    """Set `out` to what batches bring to a level: from the lowest level they come from, a letter at a time."""
    phases, size = tables.climbs.shape[2], len(tables.start)
    inner, farthest = phases * size, tables.climbs.shape[1] - 1
    lowest = max(1, level - farthest)
    count = tables.offsets[lowest + 1] - tables.offsets[lowest]
    here = out if lowest == level else first
    here[:count] = 0.0
    if level <= farthest:
        for before in range(phases):
            for nu in range(phases):
                rate = tables.climbs[0, level, before, nu]
                for phase in range(size):
                    here[nu * size + phase] += row[before] * rate * tables.start[phase]
    for source in range(lowest, level):
        if tables.used[source, level - source]:
            climb, base = tables.climbs[source, level - source], tables.offsets[source]
            for word in range(0, count, inner):
                for before in range(phases):
                    for nu in range(phases):
                        rate = climb[before, nu]
                        for phase in range(size):
                            here[word + nu * size + phase] += rate * row[base + word + before * size + phase]
        there = out if source == level - 1 else second
        add_letter(here, count, tables.first, there)
        if source < level - 1:
            first, second = second, first
            here = first
        count *= len(tables.first)


@njit(cache=True)
def _serve(above: Numbers, phases: int, start: Vector, ending: Vector, whole: Numbers, out: Numbers) -> None:
    """Add the flow of services that end: the oldest of the waiting pages, the last letter, begins its own."""
    size, order = len(start), len(whole)
    inner = phases * size
    for word in range(len(out) // inner):
        for nu in range(phases):
            total = above[0] * 0.0
            for letter in range(order):
                base = (word * order + letter) * inner + nu * size
                for phase in range(size):
                    total += whole[letter] * ending[phase] * above[base + phase]
            for phase in range(size):
                out[word * inner + nu * size + phase] += start[phase] * total
