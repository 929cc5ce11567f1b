"""How DEJAVU cuts a grid or a network into blocks small enough to enumerate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Sites: TypeAlias = tuple[int, ...]

#: Cells of the largest block enumerated (4096 placements), nodes of the largest and the smallest piece of a network.
LARGEST_BLOCK, LARGEST_PIECE, SMALLEST_PIECE = 12, 9, 4


@dataclass(frozen=True)
class Block:
    """Cells of a matrix, first and last row and column included, counted from 1 as in Gautam (2002)."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


@dataclass(frozen=True)
class Reading:
    """One way to go through the sites: the order in which they are scanned, and the blocks they are cut into."""

    name: str
    order: Sites
    blocks: tuple[Sites, ...]


def is_decomposable(rows: int, columns: int) -> bool:
    """Tell whether `decompose` is defined: with 5 columns its number of 3-column blocks would be -1."""
    return rows >= 2 and columns >= 6


def decompose(rows: int, columns: int) -> list[Block]:
    r"""Cut an :math:`A \times B` matrix into blocks of 3 x 3, 2 x 3, 3 x 2 and 2 x 4 cells: algorithm DECOMPOSE.

    Step 1 counts strips: :math:`A_3` of three rows and :math:`A_2` of two, :math:`B_3` of three columns and
    :math:`B_4` of four. Gautam (2002) divides the remainders a and b where it must divide A and B, and does not start
    again at the left in each strip (`v` is not reset); with both put right 10 x 13 gives its 18 blocks and 11 x 22 its
    31.
    """
    if not is_decomposable(rows, columns):
        raise ValueError(f"DECOMPOSE needs 2 rows and 6 columns or more, got {rows} x {columns}.")
    a, b = rows % 3, columns % 3
    threes, twos = rows // 3 - (1 if a == 1 else 0), (0, 2, 1)[a]
    wide_threes, fours = columns // 3 - b, b
    high, low = _strips(0, threes, 3), _strips(3 * threes, twos, 2)
    narrow, right = _strips(0, wide_threes, 3), 3 * wide_threes
    steps = (  # 2 to 5
        (high, narrow),
        (low, narrow),
        (high, _strips(right, 2 * fours, 2)),
        (low, _strips(right, fours, 4)),
    )
    return [Block(*row, *column) for across, down in steps for row in across for column in down]


def _strips(start: int, count: int, width: int) -> list[tuple[int, int]]:
    """First and last line of `count` strips of so many lines each, after line `start`."""
    return [(start + k * width + 1, start + (k + 1) * width) for k in range(count)]


def cut(rows: int, columns: int) -> list[Block]:
    """Cut any matrix: by DECOMPOSE where it is defined, else one block of up to 12 cells, else strips."""
    if is_decomposable(rows, columns):
        return decompose(rows, columns)
    if rows * columns <= LARGEST_BLOCK:
        return [Block(1, rows, 1, columns)]
    if rows >= columns:
        return [Block(first, last, 1, columns) for first, last in _stretches(rows, LARGEST_BLOCK // columns)]
    return [Block(1, rows, first, last) for first, last in _stretches(columns, LARGEST_BLOCK // rows)]


def _stretches(length: int, most: int) -> list[tuple[int, int]]:
    """Cut 1..length into as few stretches as possible, none longer than `most`, all nearly equal."""
    count = -(-length // most)
    ends = [length * part // count for part in range(count + 1)]
    return [(first + 1, last) for first, last in pairwise(ends)]


def grid_readings(rows: int, columns: int, transpose: bool) -> list[Reading]:
    """Read a grid by rows, and by columns if asked to or if only the transposed matrix can be decomposed."""
    number = np.arange(rows * columns).reshape(rows, columns)
    only_transposed = not is_decomposable(rows, columns) and is_decomposable(columns, rows)
    chosen = [] if only_transposed and not transpose else [("rows", number)]
    chosen += [("columns", number.T)] if only_transposed or transpose else []
    return [Reading(name, *_read(matrix)) for name, matrix in chosen]


def _read(number: NDArray[np.int64]) -> tuple[Sites, tuple[Sites, ...]]:
    blocks = [
        number[block.first_row - 1 : block.last_row, block.first_column - 1 : block.last_column]
        for block in cut(*number.shape)
    ]
    return tuple(number.ravel().tolist()), tuple(tuple(block.ravel().tolist()) for block in blocks)


def network_reading(distances: NDArray[np.int64]) -> Reading:
    """Read a network node by node, cut into connected pieces of 4 to 9 nodes."""
    return Reading("pieces", tuple(range(len(distances))), tuple(pieces(distances)))


def pieces(distances: NDArray[np.int64]) -> list[Sites]:
    """Cut a network into connected pieces of up to 9 nodes, and of at least 4 where its shape allows.

    A piece grows from the free node with the fewest free neighbours, always by the node with the most links into the
    piece, so that dead ends are not left behind. What is left of fewer than 4 nodes joins a neighbouring piece, which
    is cut in two if it gets too large; it stays alone only if no neighbour can be cut like that (the leaves of a star).
    """
    linked = distances == 2
    free = np.ones(len(distances), bool)
    grown: list[list[int]] = []
    while free.any():
        neighbours = (linked & free).sum(axis=1)
        piece = [int(min(np.flatnonzero(free), key=lambda node: (neighbours[node], node)))]
        free[piece[0]] = False
        while len(piece) < LARGEST_PIECE:
            links = np.where(free, linked[piece].sum(axis=0), 0)
            if not links.any():
                break
            # Among equally linked nodes the one with the fewest other ways out.
            best = max(np.flatnonzero(links == links.max()), key=lambda node: (-(linked[node] & free).sum(), -node))
            piece.append(int(best))
            free[best] = False
        grown.append(piece)
    return [tuple(sorted(piece)) for piece in _without_crumbs(grown, linked)]


def _without_crumbs(grown: list[list[int]], linked: NDArray[np.bool_]) -> list[list[int]]:
    kept = [piece for piece in grown if len(piece) >= SMALLEST_PIECE]
    for crumb in (piece for piece in grown if len(piece) < SMALLEST_PIECE):
        hosts = [piece for piece in kept if linked[np.ix_(piece, crumb)].any()]
        for host in sorted(hosts, key=len):
            parts = _halves(host + crumb, linked)
            if parts:
                kept.remove(host)
                kept.extend(parts)
                break
        else:
            kept.append(crumb)
    return kept


def _halves(nodes: list[int], linked: NDArray[np.bool_]) -> list[list[int]]:
    """The nodes as one piece, or as two connected ones cut at an edge of a spanning tree; empty if neither can be."""
    if len(nodes) <= LARGEST_PIECE:
        return [nodes]
    best: list[list[int]] = []
    for root in nodes:
        for branch in _branches(root, nodes, linked):
            rest = [node for node in nodes if node not in branch]
            if min(len(branch), len(rest)) >= max(SMALLEST_PIECE, 1 + len(min(best, key=len, default=[]))):
                best = [branch, rest]
    return best


def _branches(root: int, nodes: list[int], linked: NDArray[np.bool_]) -> list[list[int]]:
    """The nodes below each node of a depth-first tree from `root`: cutting one off leaves the rest connected."""
    below: list[list[int]] = []
    seen = {root}

    def visit(node: int) -> list[int]:
        branch = [node]
        for other in nodes:
            if other not in seen and linked[node, other]:
                seen.add(other)
                found = visit(other)
                below.append(found)
                branch.extend(found)
        return branch

    visit(root)
    return below
