r"""Levels of a threshold queue seen in small spaces of patience phases, solved as they are: level by level, directly.

Seen in the spaces of :mod:`queueing.threshold.tensor.bases` a level is a matrix, arrival and service phases by
dimensions of its space, and the queue a chain of such levels that falls one level at a time. From the highest down,

.. math::  F_i = (-T_i)^{-1} Q_{i,i-1}, \qquad T_i = Q_{i,i} + \sum_k Q_{i,i+k} F_{i+k} \cdots F_{i+1},

F_i what becomes of level i until it is first left downwards. Rows x with x Q = 0 then follow from the empty queue up,
and so do columns h with :math:`Q h = \bar g e - g`: the worth of each state for a mean g.

Sojourn times follow Avrachenkov et al. (2011), theorem 4, in the same spaces: for a page with n sites of patience, its
own the youngest, v and w (see :mod:`queueing.threshold.methods.generator`) are columns over service phases and the
space of n waiting pages, for both outcomes, served and out of date (`Outlooks`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from ...numerics import Matrix, Vector
from ..methods import Chain
from .bases import ScaledLaw, Spaces

#: Numbers with three indices: phases, dimensions of a space, and goals or outcomes.
Columns = NDArray[np.float64]


class Eliminated(NamedTuple):
    """Factors of -T_i, and F_i, by level; T_0 itself. Index 0 of the lists is empty."""

    factors: list[Any]
    falls: list[Matrix]
    empty: Matrix


def sites(level: int) -> int:
    """Count the pages that wait at a level."""
    return max(level - 1, 0)


@dataclass(frozen=True)
class Moves:
    """Moves of arrival and service phases by level.

    Attributes
    ----------
    chain
        the policy.
    staying
        by level: moves within it.
    climbing
        by level and number of pages that enter: moves then.
    renewing, emptying
        moves when a service ends: and another begins, and nobody is left.
    """

    chain: Chain
    staying: list[Matrix]
    climbing: list[list[Matrix]]
    renewing: Matrix
    emptying: Matrix

    def reach(self, level: int) -> int:
        """Return the most pages that may enter."""
        return len(self.climbing[level]) - 1


def moves_of(chain: Chain) -> Moves:
    """Return the moves of a policy."""
    phases, order = np.eye(chain.climbs.shape[2]), np.eye(len(chain.start))
    served = product(phases, chain.service)
    staying = [chain.climbs[0, 0]] + [product(blocks[0], order) + served for blocks in chain.climbs[1:]]
    climbing = []
    for level, blocks in enumerate(chain.climbs):
        most = min(len(blocks) - 1, chain.top - level)
        climbing.append([product(block, order if level else chain.start[np.newaxis]) for block in blocks[: most + 1]])
    return Moves(
        chain,
        staying,
        climbing,
        renewing=product(phases, np.outer(chain.ending, chain.start)),
        emptying=product(phases, chain.ending[:, np.newaxis]),
    )


def eliminate(moves: Moves, spaces: Spaces) -> Eliminated:
    """Eliminate all levels, from the highest down."""
    chain = moves.chain
    sizes = spaces.dimensions
    factors: list[Any] = [None] * (chain.top + 1)
    falls = [np.zeros((0, 0))] * (chain.top + 1)
    for level in range(chain.top, -1, -1):
        here = sites(level)
        block = _beside(moves.staying[level], sizes[here], spaces.change[here])
        pending: Matrix | None = None
        entries = _entries(spaces, level, moves.reach(level))
        for count in range(moves.reach(level), 0, -1):
            climb = moves.climbing[level][count]
            if climb.any():
                step = product(climb, entries[count])
                pending = step if pending is None else pending + step
            if pending is not None:
                pending = pending @ falls[level + count]
        if pending is not None:
            block += pending
        if level == 0:
            return Eliminated(factors, falls, block)
        factors[level] = lu_factor(-block, overwrite_a=True, check_finite=False)
        if level == 1:
            down = moves.emptying
        else:
            down = product(moves.renewing, spaces.head[here]) + product(np.eye(chain.inner), spaces.fading[here])
        falls[level] = lu_solve(factors[level], down, check_finite=False)
    raise AssertionError("level 0 ends the loop")


def stationary_rows(moves: Moves, spaces: Spaces, eliminated: Eliminated) -> list[Matrix]:
    """Return the rows of all levels: arrival and service phases by dimensions, first coordinates summing to 1."""
    chain, sizes = moves.chain, spaces.dimensions
    system = eliminated.empty.T.copy()
    system[0] = 1.0
    right = np.zeros(len(system))
    right[0] = 1.0
    rows: list[Matrix] = [np.asarray(np.linalg.solve(system, right)[:, np.newaxis], dtype=np.float64)]
    coming: list[Any] = [np.zeros(chain.inner * sizes[sites(level)]) for level in range(chain.top + 1)]
    for level in range(chain.top + 1):
        if level > 0:
            solved = lu_solve(eliminated.factors[level], coming[level], trans=1, check_finite=False)
            rows.append(solved.reshape(chain.inner, -1))
        pending = None
        entries = _entries(spaces, level, moves.reach(level))
        for count in range(moves.reach(level), 0, -1):
            step = (moves.climbing[level][count].T @ rows[level] @ entries[count]).ravel()
            pending = step if pending is None else step + pending @ eliminated.falls[level + count + 1]
            coming[level + count] += pending
    total = sum(row[:, 0].sum() for row in rows)
    return [row / total for row in rows]


def worths(
    moves: Moves, spaces: Spaces, eliminated: Eliminated, goals: Sequence[Columns], rows: Sequence[Matrix]
) -> tuple[list[Columns], list[Columns]]:
    """Find the columns of all levels for each goal, and what goals and batches bring to them within the space.

    Goals are columns by level: arrival and service phases by dimensions by goals; rows are the stationary ones.
    """
    top, centred = moves.chain.top, _centred(goals, rows)
    gains: list[Any] = [None] * (top + 1)
    for level in range(top, -1, -1):
        right = centred[level].copy()
        fallen: list[Columns] = []
        for count in range(1, moves.reach(level) + 1):
            above = gains[level + count]
            if fallen:
                above = above + _fallen(eliminated.falls[level + count], fallen[-1], above.shape)
            fallen.append(above)
        right += _climbed(moves, spaces, level, fallen)
        if level > 0:
            solved = lu_solve(eliminated.factors[level], right.reshape(-1, right.shape[2]), check_finite=False)
            gains[level] = solved.reshape(right.shape)
    system, bottom = -eliminated.empty, right[:, 0].copy()
    system[0], bottom[0] = 0.0, 0.0
    system[0, 0] = 1.0
    columns: list[Columns] = [np.asarray(np.linalg.solve(system, bottom)[:, np.newaxis], dtype=np.float64)]
    for level in range(1, top + 1):
        columns.append(gains[level] + _fallen(eliminated.falls[level], columns[-1], gains[level].shape))
    brought = [
        centred[level] + _climbed(moves, spaces, level, columns[level + 1 : level + 1 + moves.reach(level)])
        for level in range(top + 1)
    ]
    return columns, brought


def _centred(goals: Sequence[Columns], rows: Sequence[Matrix]) -> list[Columns]:
    """Return the goals without their means."""
    means: Vector = np.sum([np.einsum("ar,arg->g", row, goal) for row, goal in zip(rows, goals, strict=True)], axis=0)
    centred = []
    for goal in goals:
        apart = goal.copy()
        apart[:, 0] -= means
        centred.append(apart)
    return centred


def _fallen(fall: Matrix, below: Columns, shape: tuple[int, ...]) -> Columns:
    return np.asarray(fall @ below.reshape(-1, below.shape[2])).reshape(shape)


def _climbed(moves: Moves, spaces: Spaces, level: int, above: Sequence[Columns]) -> Columns:
    """Return the columns of the levels above, seen from this one before a batch enters."""
    total: Any = 0.0
    for count in range(len(above), 0, -1):
        total = total + np.einsum("ab,brg->arg", moves.climbing[level][count], above[count - 1])
        if sites(level + count) > sites(level + count - 1):
            total = np.einsum("qr,arg->aqg", spaces.entry[sites(level + count)], total)
    return np.asarray(total)


def _entries(spaces: Spaces, level: int, most: int) -> list[Matrix]:
    """Return the products of the entries of 0, ..., `most` pages."""
    products = [np.eye(spaces.dimensions[sites(level)])]
    for count in range(1, most + 1):
        more = sites(level + count) > sites(level + count - 1)
        products.append(products[-1] @ spaces.entry[sites(level + count)] if more else products[-1])
    return products


def _beside(first: Matrix, size: int, second: Matrix) -> Matrix:
    """Return the Kronecker sum of a matrix and one of this size."""
    return product(first, np.eye(size)) + product(np.eye(len(first)), second)


def product(first: Matrix, second: Matrix) -> Matrix:
    """Return the Kronecker product of two matrices."""
    return (first[:, np.newaxis, :, np.newaxis] * second[np.newaxis, :, np.newaxis, :]).reshape(
        len(first) * len(second), -1
    )


class Outlooks(NamedTuple):
    """By number of waiting pages up to the one watched: by outcome, service phase and dimension, v and w.

    Where they are scaled, `unit` is the scale of v, and `pace` that of w by that of v.
    """

    chances: list[Columns]
    times: list[Columns]
    unit: float = 1.0
    pace: float = 1.0


def outlooks_of(chain: Chain, law: ScaledLaw, spaces: Spaces) -> Outlooks:
    """Return the chances of both outcomes and times until them."""
    order = len(chain.start)
    chances, times = np.zeros((2, order, 1)), np.zeros((2, order, 1))
    chances[0] = 1.0
    times[0, :, 0] = np.linalg.solve(-chain.service, np.ones(order))
    result = Outlooks([chances], [times])
    renewed = np.outer(chain.ending, chain.start)
    for pages in range(1, chain.top):
        size = spaces.dimensions[pages]
        block = product(chain.service, np.eye(size)) + product(np.eye(order), spaces.change[pages])
        factors = lu_factor(-block, overwrite_a=True, check_finite=False)
        head, others = spaces.head[pages].T, spaces.others[pages].T
        own = law.fading @ spaces.cores[pages][:, :, 0].T
        for outlook in (result.chances, result.times):
            right = np.einsum("mk,okr->omr", renewed, outlook[-1] @ head) + outlook[-1] @ others
            if outlook is result.times:
                right += result.chances[-1]
            else:
                right[1] += own
            solved = lu_solve(factors, right.reshape(2, -1).T, check_finite=False)
            outlook.append(np.ascontiguousarray(solved.T).reshape(2, order, size))
    return result


def entering_pages(chain: Chain, spaces: Spaces, outlooks: Outlooks) -> list[Columns]:
    """Return, by level and state, rates of pages that enter and will be served, or not, each with their time."""
    phases, order = chain.climbs.shape[2], len(chain.start)
    result: list[Columns] = []
    for level in range(chain.top + 1):
        size = spaces.dimensions[sites(level)]
        seen = np.zeros((phases, order, size, 4))
        most = min(chain.climbs.shape[1] - 1, chain.top - level)
        total = np.zeros((phases, order, spaces.dimensions[sites(level + most)], 4))
        for place in range(most, 0, -1):
            waiting = sites(level + place)
            ahead = [outlooks.chances[waiting], outlooks.times[waiting]]
            columns = np.stack([kind[outcome] for outcome in range(2) for kind in ahead], axis=-1)
            total = total + chain.joining[level, place][:, np.newaxis, np.newaxis, np.newaxis] * columns
            if waiting > sites(level + place - 1):
                total = np.einsum("qr,nmrk->nmqk", spaces.entry[waiting], total)
        seen += total
        if level == 0:
            result.append(np.einsum("m,nmrk->nrk", chain.start, seen))
        else:
            result.append(seen.reshape(phases * order, size, 4))
    return result
