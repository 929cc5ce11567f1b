r"""Small spaces for the patience phases of all waiting pages, nested from the oldest on, and the queue seen in them.

With n pages waiting, phases are a row over :math:`R^n` words. It is looked for in a space of few dimensions, the span
of the orthonormal rows :math:`B_n`, which all levels share:

.. math::  B_n = C_n (B_{n-1} \otimes I_R), \qquad B_0 = 1,

page n being the youngest. Rows of C_n, a *core* of :math:`r_n \times R r_{n-1}` numbers, are all that is ever stored: a
tensor train whose cores levels share. All moves of the queue, seen in these spaces, follow by recursion without words:

.. math::
    G_n &= C_n (G_{n-1} \otimes I + I \otimes \Gamma) C_n^T &&\text{phases change,} \\
    D_n &= C_n \big( (D_{n-1} \otimes I) C_{n-1}^T + I \otimes \Gamma_0 \big) &&\text{a page goes out of date,} \\
    H_n &= C_n (H_{n-1} \otimes I) C_{n-1}^T &&\text{the oldest page begins its service,} \\
    A_n &= (I \otimes \gamma) C_n^T &&\text{a page comes.}

Coordinates of one page are divided by the root of a distribution :math:`\pi` of phases that waiting pages have: then
the Euclidean norm of a row is about its probability, however many pages wait, and e is of norm 1. The first row of
every B_n is e itself, which makes the first coordinate of a level its probability, and keeps probabilities exactly.

Spaces begin with what each waiting page is like by itself (`marginal_cores`). If, given the level, pages were
independent of one another and of the phases of arrivals and service, the phase of the j-th oldest of i - 1 waiting
pages would follow from one linear system for rows :math:`x_{i,j}`: pages ahead leave and it moves up, pages come and go
behind it, its own phase changes. Rates at which the others leave follow from the same rows, so the system is solved a
few times. Spaces then hold the products of these phases at some levels.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, eye_array, kron
from scipy.sparse.linalg import splu

from ...numerics import Matrix, Vector
from ..methods import Chain

#: Numbers with three indices. A core has: dimension of its space, letter, dimension of the space before.
Core = NDArray[np.float64]

# Least share of every phase in the distribution that coordinates are divided by, times their number.
_FLOOR = 0.01

# Levels whose products begin the spaces, at most, and solutions of the system.
_LEVELS, _TIMES = 8, 4

# A product that is this near to the span of others adds nothing.
_APART = 1e-4

# Below this probability a level is left out.
_LEAST = 1e-9


class ScaledLaw(NamedTuple):
    r"""Patience of one page in scaled coordinates: :math:`\gamma, \Gamma, \Gamma_0, e`."""

    start: Vector
    change: Matrix
    fading: Vector
    whole: Vector

    @property
    def order(self) -> int:
        """Number of phases."""
        return len(self.start)


def scaled_law(start: Vector, change: Matrix, fading: Vector, leaving: float) -> ScaledLaw:
    r"""Return the law divided by the phases of a page that waits until a moment of rate `leaving`, or its own end.

    :math:`\pi = \gamma (\theta I - \Gamma)^{-1}`, scaled to sum 1: with the true mean wait :math:`1 / \theta` it is
    what a waiting page is like. Old pages alone would be a bad measure of young ones, and the other way round.
    """
    typical = np.linalg.solve(leaving * np.eye(len(start)) - change.T, start)
    typical = (1 - _FLOOR) * np.abs(typical) / np.abs(typical).sum() + _FLOOR / len(start)
    root = np.sqrt(typical / typical.sum())
    return ScaledLaw(start / root, root[:, np.newaxis] * change / root, root * fading, root)


class Spaces(NamedTuple):
    """Spaces of 0, 1, ... waiting pages, and the moves between them; index 0 of moves from one page less is empty.

    Attributes
    ----------
    cores
        C_1, C_2, ...; index 0 is empty.
    change, fading, head, entry
        G_n, D_n, H_n by number of pages before the move, A_n by number after it.
    others
        D_n without the youngest page.
    dimensions
        of the spaces.
    """

    cores: list[Core]
    change: list[Matrix]
    fading: list[Matrix]
    head: list[Matrix]
    entry: list[Matrix]
    others: list[Matrix]
    dimensions: list[int]


def spaces_of(law: ScaledLaw, cores: Sequence[Core]) -> Spaces:
    """Return the moves in the spaces of these cores, C_1 first."""
    nothing = np.zeros((0, 0))
    spaces = Spaces([np.zeros((0, 0, 0)), *cores], [np.zeros((1, 1))], [nothing], [nothing], [nothing], [nothing], [1])
    for pages, core in enumerate(cores, start=1):
        size, letters, before = core.shape
        flat = core.reshape(size, letters * before)
        moved = core @ spaces.change[-1] + np.einsum("alq,lk->akq", core, law.change)
        spaces.dimensions.append(size)
        spaces.change.append(moved.reshape(size, -1) @ flat.T)
        if pages == 1:
            spaces.others.append(np.zeros((size, 1)))
            spaces.head.append(np.einsum("alq,l->aq", core, law.whole))
        else:
            shorter = spaces.cores[pages - 1].reshape(before, -1).T
            spaces.others.append((core @ spaces.fading[-1]).reshape(size, -1) @ shorter)
            spaces.head.append((core @ spaces.head[-1]).reshape(size, -1) @ shorter)
        spaces.fading.append(spaces.others[-1] + np.einsum("alq,l->aq", core, law.fading))
        spaces.entry.append(np.ascontiguousarray(np.einsum("alq,l->aq", core, law.start).T))
    return spaces


def whole_row(law: ScaledLaw, before: int) -> Vector:
    """Return the coordinates of e before a core is applied to a space of `before` dimensions."""
    row = np.zeros((law.order, before))
    row[:, 0] = law.whole
    return row.ravel()


def first_cores(law: ScaledLaw, longest: int) -> list[Core]:
    """Return the spaces to begin with: all pages alike, and the youngest one new."""
    cores: list[Core] = []
    before = 1
    for _ in range(longest):
        rows = [whole_row(law, before)]
        newest = np.zeros((law.order, before))
        newest[:, 0] = law.start
        apart = newest.ravel() - rows[0] * (rows[0] @ newest.ravel())
        if np.linalg.norm(apart) > 1e-8 * np.linalg.norm(newest):
            rows.append(apart / np.linalg.norm(apart))
        cores.append(np.array(rows).reshape(len(rows), law.order, before))
        before = len(rows)
    return cores


def marginal_cores(
    chain: Chain, law: ScaledLaw, start: Vector, change: Matrix, fading: Vector, rows: list[Matrix]
) -> list[Core]:
    """Make cores of spaces that hold e and products of single phases, by the level masses of `rows` in other spaces.

    `start`, `change` and `fading` are the law as it is, `law` the scaled one.
    """
    masses = np.array([max(float(row[:, 0].sum()), 0.0) for row in rows])
    climbs, ends = _mean_rates(chain, rows, masses)
    wanted = _chosen(masses)
    shares = np.tile(start, (chain.top + 1, chain.top, 1))
    for _ in range(_TIMES):
        shares = _phases(chain.top, masses, climbs, ends, start, change, fading, shares)
    cores: list[Core] = []
    seen = np.ones((len(wanted), 1))
    for pages in range(1, chain.top):
        before = seen.shape[1]
        # Above its own level a product goes on with new pages.
        own = [shares[level, pages - 1] if pages < level else start for level in wanted]
        products = [np.outer(phase / law.whole, row).ravel() for phase, row in zip(own, seen, strict=True)]
        newest = np.outer(law.start, np.eye(1, before)[0]).ravel()
        basis = _orthonormal(whole_row(law, before), [*products, newest])
        cores.append(basis.reshape(len(basis), law.order, before))
        seen = np.array(products).reshape(len(wanted), -1) @ basis.T
        seen /= np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-300)
    return cores


def _orthonormal(first: Vector, others: list[Vector]) -> Matrix:
    """Make orthonormal rows: the first, and those of the others that are not nearly in the span of the ones before."""
    found = [first]
    for other in others:
        apart = other
        for _ in range(2):
            for row in found:
                apart = apart - row * (row @ apart)
        length = float(np.linalg.norm(apart))
        if length > _APART * float(np.linalg.norm(other)):
            found.append(apart / length)
    return np.array(found)


def _chosen(masses: Vector) -> list[int]:
    """Return the levels with pages waiting, spread over the distribution and its tails."""
    levels = np.flatnonzero(masses > _LEAST)
    levels = levels[levels >= 2]
    if len(levels) <= _LEVELS:
        return [int(level) for level in levels]
    return sorted({int(level) for level in np.quantile(levels, np.linspace(0, 1, _LEVELS), method="nearest")})


def _mean_rates(chain: Chain, rows: list[Matrix], masses: Vector) -> tuple[Matrix, Vector]:
    """Return mean rates by level: of batches by pages that enter, and of services that end."""
    count, phases = chain.climbs.shape[1], chain.climbs.shape[2]
    climbs, ends = np.zeros((chain.top + 1, count)), np.zeros(chain.top + 1)
    for level, row in enumerate(rows):
        inner = np.maximum(row[:, 0], 0.0).reshape(phases, -1)
        if masses[level] <= 0:
            inner = np.ones_like(inner)
        inner = inner / inner.sum()
        climbs[level, 1:] = np.einsum("n,knm->k", inner.sum(axis=1), chain.climbs[level, 1:])
        if level > 0:
            ends[level] = float(inner.sum(axis=0) @ chain.ending)
    return climbs, ends


def _phases(
    top: int,
    masses: Vector,
    climbs: Matrix,
    ends: Vector,
    start: Vector,
    change: Matrix,
    fading: Vector,
    shares: Core,
) -> Core:
    """Return, by level and place, the distribution of the phase, others leaving at the rates of `shares`."""
    order = len(start)
    places = [(level, place) for level in range(2, top + 1) for place in range(level - 1)]
    index = {pair: number for number, pair in enumerate(places)}
    leaving = shares @ fading  # by level and place
    entries: list[tuple[int, int, float]] = []  # source, target, rate
    right = np.zeros((len(places), order))
    own = np.zeros(len(places))
    for (level, place), number in index.items():
        ahead, behind = float(leaving[level, :place].sum()), float(leaving[level, place + 1 : level - 1].sum())
        own[number] = climbs[level, 1:].sum() + ends[level] + ahead + behind
        for count in range(1, climbs.shape[1]):
            if climbs[level, count] > 0:
                entries.append((number, index[level + count, place], climbs[level, count]))
        if level > 2:
            if place > 0 and ends[level] + ahead > 0:
                entries.append((number, index[level - 1, place - 1], ends[level] + ahead))
            if place < level - 2 and behind > 0:
                entries.append((number, index[level - 1, place], behind))
        for count in range(1, climbs.shape[1]):
            below = level - count
            if below >= 0 and place >= max(below - 1, 0):
                right[number] += masses[below] * climbs[below, count] * start
    size = len(places)
    sources, targets, rates = ([entry[part] for entry in entries] for part in range(3))
    moves = coo_array((rates, (targets, sources)), shape=(size, size))
    leaves = coo_array((own, (np.arange(size), np.arange(size))), shape=(size, size))
    system = csc_array(kron(leaves - moves, eye_array(order)) - kron(eye_array(size), change.T))
    solved = np.asarray(splu(system).solve(right.ravel())).reshape(size, order)
    result = np.tile(start, (top + 1, top, 1))
    totals = solved.sum(axis=1)
    for (level, place), number in index.items():
        if totals[number] > 0:
            result[level, place] = np.maximum(solved[number], 0.0) / totals[number]
    return result
