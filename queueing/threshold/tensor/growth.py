r"""Better spaces of patience phases: what rows and worths fill is kept, what they leave of their equations is added.

Rows x, worths h and outlooks v, w solve their equations as far as spaces can say; what is left over has parts outside
the spaces, and shows where they should grow. The error of a mean is a product of two: of the part of the stationary
rows and the part of the worths that the spaces miss. So both are treated alike, and each may stay large; at a level of
probability p rows are divided, and columns multiplied, by the root of p, so that products count alike at all levels.

From the most pages down, the Gram matrix of the coefficients of all parts at all levels above is found, on the traits
of :mod:`queueing.threshold.tensor.residuals`; from one page up, the directions in which these parts are largest.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ...numerics import Matrix, Vector
from .bases import Core, ScaledLaw, Spaces, whole_row
from .flows import Outlooks
from .levels import Columns, Moves
from .residuals import ColumnTraits, RowTraits

# Parts of rows and of worths, each as it is and later.
_KINDS = ((0, 0), (0, 1), (1, 0), (1, 1))

# Directions whose Gram eigenvalue is this small beside the largest are rounding.
_NOISE = 1e-13


class Growth(NamedTuple):
    """New cores, and the largest parts outside: of rows and of worths, by the norms by which spaces are chosen."""

    cores: list[Core]
    rows_left: float
    worths_left: float


class Solution(NamedTuple):
    """All that is solved for in some spaces.

    `brought` is what goals and batches bring to worths, `importances` say how much each goal counts.
    """

    rows: Sequence[Matrix]
    worths: Sequence[Columns]
    brought: Sequence[Columns]
    outlooks: Outlooks
    importances: Vector


class Leftovers(NamedTuple):
    """What a solution fills of its spaces and what it leaves over, as Gram matrices by number of pages.

    `kept` are parts of rows and of worths divided by their thresholds; `left`, by kind (rows, worths) and moment (as it
    is, later), parts outside the spaces on their traits.
    """

    law: ScaledLaw
    spaces: Spaces
    thresholds: tuple[float, float]
    traits: list[list[RowTraits | ColumnTraits]]
    kept: list[Matrix]
    left: list[list[list[Matrix]]]


def leftovers(
    moves: Moves, law: ScaledLaw, spaces: Spaces, solution: Solution, thresholds: tuple[float, float]
) -> Leftovers:
    """From the most pages down: what is there to be kept and to be added, above the two thresholds."""
    chain = moves.chain
    later = 1.0 / float(np.abs(np.diagonal(moves.staying[chain.top])).max())
    masses = np.array([max(abs(row[:, 0].sum()), 1e-300) for row in solution.rows])
    worths, brought, outlooks = _scaled(masses, solution)
    traits: list[list[RowTraits | ColumnTraits]] = [
        [RowTraits(moves, law, spaces, solution.rows, time) for time in (0.0, later)],
        [ColumnTraits(moves, law, spaces, worths, brought, outlooks, time) for time in (0.0, later)],
    ]
    kept: list[Matrix] = []
    left: list[list[list[Matrix]]] = [[[], []], [[], []]]
    for pages in range(chain.top):
        root = float(np.sqrt(masses[pages + 1]))
        row = solution.rows[pages + 1] / (root * thresholds[0])
        column = _stacked(worths, outlooks, pages) * (root / thresholds[1])
        kept.append(row.T @ row + column.T @ column)
        for kind, moment in _KINDS:
            part = traits[kind][moment].part(pages) * (later if moment else 1.0 / _speed(moves, law, pages))
            part *= root if kind else 1.0 / root
            left[kind][moment].append(part.T @ part)
    for pages in range(chain.top - 2, 0, -1):
        for core in spaces.cores[pages + 1].transpose(1, 0, 2):
            kept[pages] += core.T @ kept[pages + 1] @ core
        for kind, moment in _KINDS:
            above = left[kind][moment][pages + 1]
            left[kind][moment][pages] += traits[kind][moment].transfer(pages + 1).pulled(above)
    return Leftovers(law, spaces, thresholds, traits, kept, left)


def grown(found: Leftovers, added: int, most: int) -> Growth:
    """Cores of better spaces, from one page up.

    Parts of rows and of worths above the two thresholds are kept; `added` directions of what is left over come to
    them; no space gets more than `most` dimensions.
    """
    law, spaces, traits = found.law, found.spaces, found.traits
    seen = {(kind, moment): traits[kind][moment].values() for kind, moment in _KINDS}
    bases = np.ones((1, 1))
    cores: list[Core] = []
    largest = [0.0, 0.0]
    for pages in range(1, len(found.kept)):
        before = bases.shape[1]
        bases = np.ascontiguousarray(spaces.cores[pages] @ bases).reshape(spaces.dimensions[pages], -1)
        basis = whole_row(law, before)[:, np.newaxis]
        basis = _joined(basis, bases.T @ found.kept[pages] @ bases, min(most - added, law.order * before), 1.0)
        wanted = np.zeros((law.order * before,) * 2)
        for kind, moment in _KINDS:
            now = traits[kind][moment].transfer(pages).applied(seen[kind, moment])
            outside = _outside(basis, now.T @ found.left[kind][moment][pages] @ now)
            largest[kind] = max(largest[kind], float(np.linalg.norm(outside)))
            wanted += outside / found.thresholds[kind] ** 2
            seen[kind, moment] = now
        basis = _joined(basis, wanted, min(basis.shape[1] + added, most, law.order * before), 0.0)
        cores.append(np.ascontiguousarray(basis.T).reshape(-1, law.order, before))
        bases = bases @ basis
        seen = {key: rows @ basis for key, rows in seen.items()}
    return Growth(cores, float(np.sqrt(largest[0])), float(np.sqrt(largest[1])))


def _speed(moves: Moves, law: ScaledLaw, pages: int) -> float:
    """About the fastest rate at which a state of a level is left."""
    inner = float(np.abs(np.diagonal(moves.staying[pages + 1])).max())
    return inner + pages * float(np.abs(np.diagonal(law.change)).max())


def _scaled(masses: Vector, solution: Solution) -> tuple[list[Columns], list[Columns], Outlooks]:
    """Worths made as long, in the mean over levels, as they are important, and outlooks of length 1.

    Worths that lie in e alone are left out.
    """
    count = solution.worths[0].shape[2]
    outside, whole = np.zeros(count), np.zeros(count)
    for mass, column in zip(masses[1:], solution.worths[1:], strict=True):
        outside += mass * (column[:, 1:] ** 2).sum(axis=(0, 1))
        whole += mass * (column**2).sum(axis=(0, 1))
    factor = np.where(outside > 1e-14 * whole, 1.0 / np.sqrt(np.maximum(outside, 1e-300)), 0.0)
    factor *= solution.importances
    shares = []
    for outlook in (solution.outlooks.chances, solution.outlooks.times):
        length = sum(
            float(mass * (values[..., 1:] ** 2).sum()) for mass, values in zip(masses[1:], outlook, strict=True)
        )
        shares.append(1.0 / np.sqrt(length) if length > 1e-290 else 1.0)
    outlooks = Outlooks(
        chances=[values * shares[0] for values in solution.outlooks.chances],
        times=[values * shares[1] for values in solution.outlooks.times],
        unit=shares[0],
        pace=shares[1] / shares[0],
    )
    return [c * factor for c in solution.worths], [b * factor for b in solution.brought], outlooks


def _stacked(worths: Sequence[Columns], outlooks: Outlooks, pages: int) -> Matrix:
    """All columns of a level as rows."""
    column = worths[pages + 1].transpose(0, 2, 1)
    size = column.shape[2]
    parts = [column.reshape(-1, size)]
    return np.vstack(parts + [values[pages].reshape(-1, size) for values in (outlooks.chances, outlooks.times)])


def _outside(found: Matrix, gram: Matrix) -> Matrix:
    """A Gram matrix of the parts outside the span of orthonormal columns."""
    half = gram - found @ (found.T @ gram)
    return np.asarray(half - (half @ found) @ found.T)


def _joined(found: Matrix, gram: Matrix, most: int, least: float) -> Matrix:
    """Orthonormal columns, the first as it is, with directions of a Gram matrix of eigenvalues above `least`."""
    room = most - found.shape[1]
    if room <= 0:
        return found
    values, vectors = eigh(_outside(found, gram), check_finite=False)
    count = min(room, int((values > max(least, _NOISE * max(values[-1], 1e-300))).sum()))
    if count == 0:
        return found
    new = vectors[:, -count:][:, ::-1]
    joined = np.linalg.qr(np.column_stack([found, new - found @ (found.T @ new)]))[0]
    joined[:, 0] = found[:, 0]
    return np.asarray(joined)
