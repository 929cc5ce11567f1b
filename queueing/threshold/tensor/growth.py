r"""Better spaces of patience phases: what rows and worths fill is kept, what they leave of their equations is added.

Rows x, worths h and outlooks v, w solve their equations as far as spaces can say; what is left over has parts outside
the spaces, and shows where they should grow. The error of a mean is a product of two: of the part of the stationary
rows and the part of the worths that the spaces miss. So both are treated alike, and each may stay large; at a level of
probability p rows are divided, and columns multiplied, by the root of p, so that products count alike at all levels.

From the most pages down, the Gram matrix of the coefficients of all parts at all levels above is found, on the traits
below; from one page up, the directions in which these parts are largest.

What is left over are rows of moves of bases: :math:`B_n \Gamma^{\oplus n}`, :math:`B_{n+1}` with a page taken out,
:math:`B_{n-1}` with a page put in, ... With one page more each of these is made of the same ones with one page less, as
bases are: *traits* :math:`V_n = F_n (V_{n-1} \otimes I)`, a few times as many as dimensions.

What is left over shows the fast changes best. The same after some time t of phases changing,
:math:`\exp t (D_0 \oplus S \oplus \Gamma \oplus \cdots \oplus \Gamma)`, shows the slow ones; since that is a product
over pages, each letter of F_n is only multiplied by :math:`\exp t \Gamma`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, expm

from ...numerics import Matrix, Vector
from .bases import Core, ScaledLaw, Spaces, whole_row
from .levels import Columns, Moves, Outlooks

# Parts of rows and of worths, each as it is and later.
_KINDS = ((0, 0), (0, 1), (1, 0), (1, 1))

# Directions whose Gram eigenvalue is this small beside the largest are rounding.
_NOISE = 1e-13


class Block(NamedTuple):
    """A part of F_n that is not zero: places of traits, of traits of one page less, and by letter a matrix."""

    rows: slice
    columns: slice
    values: Core


class Transfer(NamedTuple):
    """F_n by its blocks, with the change of one page over some time: by letter, letters it comes from."""

    blocks: list[Block]
    height: int
    width: int
    passage: Matrix

    def pulled(self, gram: Matrix) -> Matrix:
        """Return a Gram matrix on traits, seen on those of one page less."""
        moved = np.zeros((len(self.passage), self.height, self.width))
        for rows, columns, values in self.blocks:
            moved[:, :, columns] += gram[:, rows] @ values
        moved = np.tensordot(self.passage.T @ self.passage, moved, 1)
        result = np.zeros((self.width, self.width))
        for rows, columns, values in self.blocks:
            for letter, value in enumerate(values):
                result[columns] += value.T @ moved[letter, rows]
        return result

    def applied(self, before: Matrix) -> Matrix:
        """Write traits in coordinates of a space of one page less and a letter, from those of one page less in it."""
        moved = np.zeros((len(self.passage), self.height, before.shape[1]))
        for rows, columns, values in self.blocks:
            moved[:, rows] += values @ before[columns]
        return np.ascontiguousarray(np.tensordot(self.passage, moved, 1).transpose(1, 0, 2)).reshape(self.height, -1)


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *sizes])
    return [slice(int(begin), int(end)) for begin, end in pairwise(ends)]


@dataclass(frozen=True)
class RowTraits:
    """Traits of x Q: bases, their change, a page out of date, the oldest page taken, and pages that have come.

    Of the last there are `inner` for each number of pages of the batch that are still to come. All after some time.
    """

    moves: Moves
    law: ScaledLaw
    spaces: Spaces
    rows: Sequence[Matrix]
    time: float

    @cached_property
    def passage(self) -> Matrix:
        """Phases of one page after the time."""
        return np.asarray(expm(self.time * self.law.change).T)

    def sizes(self, pages: int) -> list[int]:
        """Count the traits of each kind."""
        own = self.spaces.dimensions[pages]
        above = self.spaces.dimensions[pages + 1] if pages + 1 < self.moves.chain.top else 0
        return [own, own, above, above, self.moves.chain.inner * self.moves.chain.climbs.shape[1]]

    def part(self, pages: int) -> Matrix:
        """Tell what is left over at the level with so many pages waiting, by arrival and service phases."""
        level, sizes = pages + 1, self.sizes(pages)
        base, change, fading, head, come = _slices(sizes)
        part = np.zeros((self.moves.chain.inner, sum(sizes)))
        part[:, base] = self.moves.staying[level].T @ self.rows[level]
        part[:, change] = self.rows[level]
        if level < self.moves.chain.top:
            part[:, fading], part[:, head] = self.rows[level + 1], self.moves.renewing.T @ self.rows[level + 1]
        part[:, come.start : come.start + self.moves.chain.inner] = np.eye(self.moves.chain.inner)
        return np.asarray(expm(self.time * self.moves.staying[level]).T @ part) if self.time else part

    def values(self) -> Matrix:
        """Return all traits without pages."""
        chain, law, inner, sizes = self.moves.chain, self.law, self.moves.chain.inner, self.sizes(0)
        base, _, fading, head, come = _slices(sizes)
        values = np.zeros((sum(sizes), 1))
        values[base] = 1.0
        if chain.top > 1:
            values[fading] = np.einsum("alq,l->aq", self.spaces.cores[1], law.fading)
            values[head] = np.einsum("alq,l->aq", self.spaces.cores[1], law.whole)
        for rest in range(1, self.moves.reach(1) + 1):
            values[come.start + rest * inner :][:inner] += self.moves.climbing[1][rest].T @ self.rows[1]
        for count in range(1, self.moves.reach(0) + 1):
            values[come.start + (count - 1) * inner :][:inner] += self.moves.climbing[0][count].T @ self.rows[0]
        return values

    def transfer(self, pages: int) -> Transfer:
        """Write F_n, which makes traits of so many pages from those of one page less."""
        chain, law, level, inner = self.moves.chain, self.law, pages + 1, self.moves.chain.inner
        sizes, before = self.sizes(pages), self.sizes(pages - 1)
        base, change, fading, head, come = _slices(sizes)
        base_, change_, fading_, head_, come_ = _slices(before)
        core = self.spaces.cores[pages].transpose(1, 0, 2)
        blocks = [
            Block(base, base_, core),
            Block(change, change_, core),
            Block(change, base_, np.einsum("laq,lk->kaq", core, law.change)),
        ]
        if level < chain.top:
            longer = self.spaces.cores[pages + 1].transpose(1, 0, 2)
            blocks += [
                Block(fading, fading_, longer),
                Block(head, head_, longer),
                Block(fading, base_, np.tensordot(law.fading, longer, 1) @ core),
            ]
        # Of a batch that may still end at this level or above, one page more has come.
        open_ = inner * min(chain.climbs.shape[1] - 1, chain.top - level + 1)
        blocks.append(
            Block(
                slice(come.start, come.start + open_),
                slice(come_.start + inner, come_.start + inner + open_),
                law.start[:, None, None] * np.eye(open_),
            )
        )
        if self.moves.reach(level):
            joining = np.vstack([climb.T @ self.rows[level] for climb in self.moves.climbing[level][1:]])
            blocks.append(Block(slice(come.start + inner, come.start + inner + len(joining)), base_, joining @ core))
        return Transfer(blocks, sum(sizes), sum(before), self.passage)


@dataclass(frozen=True)
class ColumnTraits:
    """Traits of Q h, and of the equations of outlooks: bases, their change, and a page put back in, by its place.

    Places are: before the youngest page, behind it, and as the oldest one. `brought` is what goals and batches bring.
    """

    moves: Moves
    law: ScaledLaw
    spaces: Spaces
    columns: Sequence[Columns]
    brought: Sequence[Columns]
    outlooks: Outlooks
    time: float

    @cached_property
    def passage(self) -> Matrix:
        """Phases of one page after the time."""
        return np.asarray(expm(self.time * self.law.change))

    def sizes(self, pages: int) -> list[int]:
        """Count the traits of each kind."""
        own = self.spaces.dimensions[pages]
        fewer = self.spaces.dimensions[pages - 1] if pages else 0
        return [own, own if pages else 0, fewer, fewer, fewer]

    def part(self, pages: int) -> Matrix:
        """Tell what is left over at the level with so many pages waiting, and of outlooks behind so many."""
        level, chain, sizes = pages + 1, self.moves.chain, self.sizes(pages)
        if pages == 0:
            return np.zeros((0, sum(sizes)))
        base, change, before, behind, oldest = _slices(sizes)
        here, below = self.columns[level].transpose(0, 2, 1), self.columns[level - 1].transpose(0, 2, 1)
        part = np.zeros((*here.shape[:2], sum(sizes)))
        part[..., base] = np.einsum("ab,bgr->agr", self.moves.staying[level], here) + self.brought[level].transpose(
            0, 2, 1
        )
        part[..., change] = here
        part[..., before] = part[..., behind] = below
        part[..., oldest] = np.einsum("ab,bgr->agr", self.moves.renewing, below)
        parts = [_after(self.time * self.moves.staying[level], part).reshape(-1, sum(sizes))]
        for outlook in (self.outlooks.chances, self.outlooks.times):
            now, then = outlook[pages], outlook[pages - 1]
            part = np.zeros((*now.shape[:2], sum(sizes)))  # by outcome and service phase
            part[..., base] = np.einsum("ab,obr->oar", chain.service, now)
            part[..., change] = now
            part[..., before] = then
            part[..., oldest] = np.einsum("ab,obr->oar", np.outer(chain.ending, chain.start), then)
            if outlook is self.outlooks.chances:
                part[1, :, behind.start] += self.outlooks.unit  # the page's own end, others being as they like
            else:
                part[..., base] += self.outlooks.chances[pages] * self.outlooks.pace
            parts.append(_after(self.time * chain.service, part.transpose(1, 0, 2)).reshape(-1, sum(sizes)))
        return np.vstack(parts)

    def values(self) -> Matrix:
        """Return all traits without pages."""
        return np.ones((1, 1))

    def transfer(self, pages: int) -> Transfer:
        """Write F_n, which makes traits of so many pages from those of one page less."""
        law, sizes, before = self.law, self.sizes(pages), self.sizes(pages - 1)
        base, change, inserted, behind, oldest = _slices(sizes)
        base_, change_, inserted_, behind_, oldest_ = _slices(before)
        core = self.spaces.cores[pages].transpose(1, 0, 2)
        blocks = [
            Block(base, base_, core),
            Block(change, base_, np.einsum("laq,kl->kaq", core, law.change)),
            Block(behind, base_, law.fading[:, None, None] * np.eye(core.shape[2])),
        ]
        if pages == 1:
            blocks.append(Block(oldest, base_, law.whole[:, None, None]))
        else:
            shorter = self.spaces.cores[pages - 1].transpose(1, 0, 2)
            blocks += [
                Block(change, change_, core),
                Block(inserted, inserted_, shorter),
                Block(inserted, behind_, shorter),
                Block(oldest, oldest_, shorter),
            ]
        return Transfer(blocks, sum(sizes), sum(before), self.passage)


def _after(change: Matrix, part: Columns) -> Columns:
    """Return the columns after the time by which `change` is multiplied."""
    if not change.any():
        return part
    return np.asarray(np.tensordot(expm(change), part, 1))


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
    """Find, from the most pages down, what is there to be kept and to be added, above the two thresholds."""
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
    """Return the cores of better spaces, from one page up.

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
    """Estimate the fastest rate at which a state of a level is left."""
    inner = float(np.abs(np.diagonal(moves.staying[pages + 1])).max())
    return inner + pages * float(np.abs(np.diagonal(law.change)).max())


def _scaled(masses: Vector, solution: Solution) -> tuple[list[Columns], list[Columns], Outlooks]:
    """Make worths as long, in the mean over levels, as they are important, and outlooks of length 1.

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
    """Return all columns of a level as rows."""
    column = worths[pages + 1].transpose(0, 2, 1)
    size = column.shape[2]
    parts = [column.reshape(-1, size)]
    return np.vstack(parts + [values[pages].reshape(-1, size) for values in (outlooks.chances, outlooks.times)])


def _outside(found: Matrix, gram: Matrix) -> Matrix:
    """Return a Gram matrix of the parts outside the span of orthonormal columns."""
    half = gram - found @ (found.T @ gram)
    return np.asarray(half - (half @ found) @ found.T)


def _joined(found: Matrix, gram: Matrix, most: int, least: float) -> Matrix:
    """Make orthonormal columns, the first as it is, with directions of a Gram matrix of eigenvalues above `least`."""
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
