r"""What rows and worths leave of their equations: coefficients of a few kinds of moved bases, page by page.

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
from numpy.typing import NDArray
from scipy.linalg import expm

from ...numerics import Matrix
from .bases import ScaledLaw, Spaces
from .flows import Outlooks
from .levels import Columns, Moves

Letters = NDArray[np.float64]


class Block(NamedTuple):
    """A part of F_n that is not zero: places of traits, of traits of one page less, and by letter a matrix."""

    rows: slice
    columns: slice
    values: Letters


class Transfer(NamedTuple):
    """F_n by its blocks, with the change of one page over some time: by letter, letters it comes from."""

    blocks: list[Block]
    height: int
    width: int
    passage: Matrix

    def pulled(self, gram: Matrix) -> Matrix:
        """A Gram matrix on traits, seen on those of one page less."""
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
        """Traits in coordinates of a space of one page less and a letter, from those of one page less in that space."""
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
        """Number of traits of each kind."""
        own = self.spaces.dimensions[pages]
        above = self.spaces.dimensions[pages + 1] if pages + 1 < self.moves.chain.top else 0
        return [own, own, above, above, self.moves.chain.inner * self.moves.chain.climbs.shape[1]]

    def part(self, pages: int) -> Matrix:
        """What is left over at the level with so many pages waiting, by arrival and service phases."""
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
        """All traits without pages."""
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
        """F_n."""
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
        """Number of traits of each kind."""
        own = self.spaces.dimensions[pages]
        fewer = self.spaces.dimensions[pages - 1] if pages else 0
        return [own, own if pages else 0, fewer, fewer, fewer]

    def part(self, pages: int) -> Matrix:
        """What is left over at the level with so many pages waiting, and of outlooks behind so many."""
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
        """All traits without pages."""
        return np.ones((1, 1))

    def transfer(self, pages: int) -> Transfer:
        """F_n."""
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
    """Columns after the time by which `change` is multiplied."""
    if not change.any():
        return part
    return np.asarray(np.tensordot(expm(change), part, 1))
