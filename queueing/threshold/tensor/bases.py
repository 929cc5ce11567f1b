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
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics import Matrix, Vector

#: A core: dimension of its space, letter, dimension of the space before.
Core = NDArray[np.float64]

# Least share of every phase in the distribution that coordinates are divided by, times their number.
_FLOOR = 0.01


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
    r"""The law divided by the phases of a page that waits until a moment of rate `leaving`, or its own end.

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
    """The moves in the spaces of these cores, C_1 first."""
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
    """Coordinates of e before a core is applied to a space of `before` dimensions."""
    row = np.zeros((law.order, before))
    row[:, 0] = law.whole
    return row.ravel()


def first_cores(law: ScaledLaw, longest: int) -> list[Core]:
    """Spaces to begin with: all pages alike, and the youngest one new."""
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
