r"""One page of a threshold queue from its arrival to its end: an absorbing chain in which no later arrival matters.

With a pages before it, the future of a page depends on the phase of service, on the patience phases of the a - 1 pages
that wait before it and on its own. This chain, with generator T, falls from a to a - 1 pages, and ends by service from
a = 0 or, while the page waits, by its own obsolescence. With :math:`r` the rates of one of these ends and
:math:`\alpha` the chain's law at arrival,

.. math::  v = (-T)^{-1} r, \quad E[e^{-sV}; r] = \alpha (sI - T)^{-1} r, \quad E[V^n; r] = n!\,\alpha (-T)^{-n} v,
           \quad \int_0^\infty e^{-st} P(V > t; r)\,dt = \alpha (sI - T)^{-1} v.

All are solutions of :math:`(sI - T) x = b`, found level by level from a = 0 up, as in Avrachenkov et al. (2011),
theorem 4:

.. math::  (sI - A_a) x_a = b_a + \hat B_{a-1} x_{a-1}, \qquad A_a = S \oplus \Gamma^{\oplus a}.

Columns are kept by number of pages ahead, for both ends at once: over words of patience phases, the page's own first
and the oldest last, and the phases of service. Where patience has one phase, levels are solved without a subtraction;
otherwise in triangular coordinates (:mod:`queueing.threshold.methods.phase_words`), in one pass over all words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit

from ...numerics import Matrix, Vector
from ..methods import (
    Letters,
    Numbers,
    classes_of_words,
    reversed_letters,
    rotated,
    solve_level,
    triangular_letters,
    weights_of_words,
)

#: By number of pages ahead: (end, word, phase of service); the ends are service and obsolescence.
Columns = list[Numbers]


@dataclass(frozen=True, eq=False)
class TaggedPage:
    r"""The chain of one page.

    Attributes
    ----------
    service, start, ending
        S, beta, :math:`S_0`.
    letters
        the law of patience as it is.
    arrival
        :math:`\alpha`: by number of pages ahead, probabilities of (word, phase of service) at arrival; what they lack
        of 1 is the probability that the page finds no room.
    """

    service: Matrix
    start: Vector
    ending: Vector
    letters: Letters
    arrival: tuple[Matrix, ...]

    @cached_property
    def solver(self) -> "_OnePhase | _Words":
        """What solves (sI - T) x = b."""
        return _OnePhase(self) if self.letters.order == 1 else _Words(self)

    @cached_property
    def chances(self) -> Columns:
        """V: probabilities of both ends, in the coordinates of the solver."""
        return self.solver.resolved(0.0, self.solver.sources)

    @cached_property
    def probabilities(self) -> Vector:
        """Probabilities of both ends: service and obsolescence."""
        return np.asarray(self.solver.met(self.chances).real)

    def moments(self, order: int) -> Vector:
        """Return E[V**order; end] for both ends."""
        columns = self.chances
        for power in range(1, order + 1):
            columns = [power * column for column in self.solver.resolved(0.0, columns)]
        return np.asarray(self.solver.met(columns).real)

    def transforms(self, shift: complex) -> Numbers:
        """Return E[exp(-shift V); end] for both ends."""
        return self.solver.met(self.solver.resolved(shift, self.solver.sources))

    def survival_transforms(self, shift: complex) -> Numbers:
        """Return transforms of P(V > t; end) for both ends."""
        return self.solver.met(self.solver.resolved(shift, self.chances))


class _OnePhase:
    """Solve (sI - T) x = b where patience has one phase: a level is no more than the phases of service.

    `sources` are the rates of both ends.
    """

    def __init__(self, page: TaggedPage) -> None:
        self._page = page
        self._fading = float(page.letters.fading[0])
        served = np.zeros((2, 1, len(page.start)))
        served[0, 0] = page.ending
        waits = np.zeros((2, 1, len(page.start)))
        waits[1] = self._fading
        self.sources: Columns = [served, *[waits] * (len(page.arrival) - 1)]

    def resolved(self, shift: complex, right: Columns) -> Columns:
        """Return x for a shift s whose real part is not negative; real if s and b are."""
        stacked = np.concatenate(right, axis=1)
        moved: Any = shift if isinstance(shift, complex) else float(shift)
        if isinstance(moved, complex) or np.iscomplexobj(stacked):
            stacked, moved = stacked.astype(np.complex128), complex(moved)
        page = self._page
        found = _resolve_levels(page.service, page.start, page.ending, self._fading, moved, stacked)
        return [found[:, level : level + 1] for level in range(found.shape[1])]

    def met(self, columns: Columns) -> Numbers:
        """Return columns as an arriving page expects them, for both ends."""
        return _met(self._page.arrival, columns)

    def spelled(self, columns: Columns) -> list[Matrix]:
        """Return real columns over words of the phases themselves."""
        return [np.asarray(column.real) for column in columns]


class _Words:
    """Do the same for patience of several phases, in triangular coordinates, letters in falling order."""

    def __init__(self, page: TaggedPage) -> None:
        letters = page.letters
        self._page = page
        self._triangular = triangular_letters(letters.start.real, letters.change.real, letters.fading.real)
        self._columns = reversed_letters(self._triangular)
        longest, size = len(page.arrival) - 1, len(page.start)
        self._classes = classes_of_words(self._columns, longest)
        whole = weights_of_words(self._columns, longest)[0]
        kind = self._columns.fading.dtype
        self.sources: Columns = [np.zeros((2, 1, size), dtype=kind)]
        self.sources[0][0, 0] = page.ending
        for ahead in range(1, longest + 1):
            waits = np.zeros((2, letters.order**ahead, size), dtype=kind)
            waits[1] = np.outer(self._columns.fading, whole[ahead - 1]).ravel()[:, np.newaxis]
            self.sources.append(waits)
        self._arrival = [  # mirrored: the columns have their letters in falling order
            rotated(self._triangular, row.ravel(), ahead, size).reshape(row.shape)[::-1]
            for ahead, row in enumerate(page.arrival)
        ]

    def resolved(self, shift: complex, right: Columns) -> Columns:
        """Return x for a shift s whose real part is not negative."""
        page, letters = self._page, self._columns
        kind = np.result_type(right[-1], letters.change, type(shift))
        change = letters.change.astype(kind)
        identity = np.eye(len(page.start))
        columns: Columns = []
        for ahead, given in enumerate(right):
            column = given.astype(kind)
            if ahead > 0:
                column += _passed(columns[-1], ahead, page.start, page.ending, letters.whole, letters.fading)
            leaving = (shift - self._classes.shifts[ahead])[:, np.newaxis, np.newaxis] * identity - page.service.T
            inverses = np.linalg.inv(leaving).astype(kind)
            for end in range(2):
                flat = np.ascontiguousarray(column[end]).ravel()
                solve_level(flat, ahead, len(page.start), change, self._classes.members[ahead], inverses)
                column[end] = flat.reshape(column[end].shape)
            columns.append(column)
        return columns

    def met(self, columns: Columns) -> Numbers:
        """Return columns as an arriving page expects them, for both ends."""
        return _met(self._arrival, columns)

    def spelled(self, columns: Columns) -> list[Matrix]:
        """Return real columns over words of the phases themselves."""
        back = self._triangular._replace(rotation=np.ascontiguousarray(self._triangular.rotation.T))
        result = []
        for ahead, column in enumerate(columns):
            ends = [rotated(back, part[::-1].ravel(), ahead, part.shape[1]).reshape(part.shape) for part in column]
            result.append(np.array(ends).real)
        return result


def _met(rows: Sequence[Numbers], columns: Columns) -> Numbers:
    return np.asarray(sum(np.einsum("wm,ewm->e", row, column) for row, column in zip(rows, columns, strict=True)))


def _passed(before: Numbers, ahead: int, start: Vector, ending: Vector, whole: Numbers, fading: Numbers) -> Numbers:
    """Find what a page with `ahead` pages before it can expect when one of them leaves."""
    order, size = len(fading), len(start)
    begun = before @ start  # the oldest page, the last letter, begins its service
    result = np.einsum("ew,r,m->ewrm", begun, whole, ending).reshape(2, -1, size)
    stride = size
    for _ in range(ahead - 1):  # one of those that wait goes out of date
        there = result.reshape(2, -1, order, stride)
        there += fading[:, np.newaxis] * before.reshape(2, -1, 1, stride)
        stride *= order
    return np.asarray(result)


@njit(cache=True)
def _resolve_levels(
    service: Matrix, start: Vector, ending: Vector, fading: float, shift: Any, right: Numbers
) -> Numbers:
    """Solve all levels where patience has one phase, without a subtraction (see :mod:`queueing.numerics`).

    The same sums and quotients hold for a complex shift: its real part is not negative, so no total is 0.
    """
    size = len(start)
    result = right.copy()
    factors = np.zeros((size, size), dtype=right.dtype)
    leaving, totals = np.zeros(size, dtype=right.dtype), np.zeros(size, dtype=right.dtype)
    for ahead in range(right.shape[1]):
        for x in range(size):
            leaving[x] = ending[x] + ahead * fading + shift
            for y in range(size):
                factors[x, y] = service[x, y]
        for x in range(size - 1, -1, -1):
            total = leaving[x]
            for y in range(x):
                total += factors[x, y]
            totals[x] = total
            for z in range(x):
                share = factors[z, x] / total
                factors[z, x] = share
                leaving[z] += share * leaving[x]
                for y in range(x):
                    factors[z, y] += share * factors[x, y]
        for end in range(2):
            here = result[end, ahead]
            if ahead > 0:
                below = result[end, ahead - 1]
                begun = below[0] * start[0]
                for x in range(1, size):
                    begun += below[x] * start[x]
                for x in range(size):
                    here[x] += ending[x] * begun + (ahead - 1) * fading * below[x]
            for x in range(size - 1, 0, -1):
                for z in range(x):
                    here[z] += factors[z, x] * here[x]
            for x in range(size):
                for y in range(x):
                    here[x] += factors[x, y] * here[y]
                here[x] /= totals[x]
    return result
