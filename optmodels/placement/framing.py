"""Where the sites of a placement are drawn: cells side by side, nodes that are near in hops near on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .geometry import DistanceMatrix
from .layout import Grid, Layout, Network, Piece

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Networks up to this size are laid out by all distances, larger ones by springs.
SPRINGS_FROM = 301
#: Width of the mark of a site on a network, in inches, where there is room.
MARK = 0.36
#: Inches of a map, at most: with its margins it stands across a page.
WIDEST, HIGHEST = 6.4, 8.0
#: Points of an inch.
POINTS = 72.0


@dataclass(frozen=True)
class Frame:
    """Where everything goes on the sheet.

    Parameters
    ----------
    positions
        x and y of every site, in units of the axes.
    spacing
        Points (1/72 inch) from a site to its neighbours: marks and letters are measured by it.
    width, height
        Of the axes, in inches.
    limits
        Left, right, bottom and top edge, in units of the axes.
    links
        Both ends of every link of a network, in units of the axes.
    """

    positions: Floats
    spacing: float
    width: float
    height: float
    limits: tuple[float, float, float, float]
    links: Floats = field(default_factory=lambda: np.zeros((0, 2, 2)))


def whole_layout(layout: Layout) -> tuple[Grid | Network | DistanceMatrix, Ints]:
    """Find the grid or network that a layout is a piece of, and where its sites are there."""
    if isinstance(layout, Piece):
        whole, cells = whole_layout(layout.whole)
        return whole, cells[np.array(layout.part, np.int64)]
    return layout, np.arange(layout.sites)


def grid_frame(grid: Grid, cells: Ints) -> Frame:
    """Lay out the cells of a grid, row 0 on top."""
    side = min(0.62, WIDEST / grid.columns, HIGHEST / grid.rows)
    row, column = np.divmod(cells, grid.columns)
    return Frame(
        positions=np.column_stack([column, row]).astype(float),
        spacing=side * POINTS,
        width=side * grid.columns,
        height=side * grid.rows,
        limits=(-0.5, grid.columns - 0.5, grid.rows - 0.5, -0.5),  # row 0 on top, as in the file
    )


def network_frame(network: Network | DistanceMatrix, cells: Ints) -> Frame:
    """Lay out the nodes of a network, or sites at given places, none on top of another."""
    everything = node_positions(network)
    extent = np.ptp(everything, axis=0)
    # The longer side grows with the root of the number of nodes, within what fits on a page.
    longer = float(np.clip(0.85 * math.sqrt(network.sites), 2.6, WIDEST - 0.5))
    scale = longer / max(float(extent.max()), 1e-9)
    pad = 0.28
    middle = (everything.max(axis=0) + everything.min(axis=0)) / 2
    inches = spread((everything - middle) * scale, min(MARK, 0.6 * longer / math.sqrt(network.sites)))
    width, height = (max(2 * float(np.abs(inches[:, axis]).max()), 1.5) + 2 * pad for axis in (0, 1))
    apart = np.sqrt(((inches[:, None] - inches) ** 2).sum(axis=2)) + np.diag(np.full(len(inches), np.inf))
    spacing = float(np.quantile(apart.min(axis=1), 0.1)) * POINTS if len(inches) > 1 else 60.0
    edges = network.edges if isinstance(network, Network) else ()
    links = inches[np.array(edges, np.int64).reshape(-1, 2)]
    return Frame(inches[cells], spacing, width, height, (-width / 2, width / 2, -height / 2, height / 2), links)


def fitted(frame: Frame, axes: Axes) -> Frame:
    """Measure marks and letters by the room that there is, in axes whose size is not ours."""
    box, figure = axes.get_window_extent(), axes.get_figure(root=True)
    assert figure is not None
    scale = min(box.width / figure.dpi / frame.width, box.height / figure.dpi / frame.height)
    axes.set_aspect("equal", adjustable="box")
    return replace(frame, spacing=frame.spacing * scale)


def spread(positions: Floats, gap: float, rounds: int = 150) -> Floats:
    """Push points that are closer than `gap` apart, a little in each round; points far from all others stay."""
    moved = positions.copy()
    turn = 2.399963 * np.arange(len(moved))  # the golden angle: directions for points that coincide
    aside = np.column_stack([np.cos(turn), np.sin(turn)])
    for _ in range(rounds if 1 < len(moved) <= 1000 else 0):
        step = moved[:, None] - moved
        length = np.sqrt((step**2).sum(axis=2))
        near = (length < gap) & ~np.eye(len(moved), dtype=bool)
        if not near.any():
            break
        far = np.maximum(length, 1e-9)[:, :, None]
        direction = np.where(far > 1e-9, step / far, aside[:, None])
        moved += (direction * (0.3 * (gap - length) * near)[:, :, None]).sum(axis=1)
    return moved


def sides_of_names(at: Floats, names: Sequence[str], others: Floats, letters: float, away: float) -> list[int]:
    """Choose for each name whether it stands above its place or below: where it covers less.

    Parameters
    ----------
    at, others
        Places of the names, and of all marks; x and y in points.
    names
        What is written.
    letters, away
        Size of the letters, and how far from its place a name begins, in points.

    Returns
    -------
    list of int
        1 above, -1 below.
    """
    taken: list[tuple[float, float, float]] = []
    chosen: list[int] = []
    high = 0.6 * letters
    for (x, y), name in zip(at.tolist(), names, strict=True):
        wide = 0.28 * letters * len(name)
        covered = {}
        for side in (1, -1):
            middle = y + side * (away + high)
            apart = np.abs(others - (x, middle))
            marks = int(((apart[:, 0] < wide + 0.8 * away) & (apart[:, 1] < high + 0.8 * away)).sum())
            texts = sum(abs(x - u) < wide + w and abs(middle - v) < 2 * high for u, v, w in taken)
            covered[side] = (marks + texts, -side)
        side = min(covered, key=lambda one: covered[one])
        chosen.append(side)
        taken.append((x, y + side * (away + high), wide))
    return chosen


def node_positions(network: Network | DistanceMatrix) -> Floats:
    """Choose where to draw nodes: at their coordinates, where they are known.

    Elsewhere near in hops is near on paper, the longer side is flat, and always the same. Degrees of longitude are
    drawn as long as they are in the middle of the map.
    """
    if network.places is not None:
        positions: Floats = network.places - network.places.mean(axis=0)
        if network.geographic:
            middle = (network.places[:, 1].min() + network.places[:, 1].max()) / 2
            positions[:, 0] *= math.cos(math.radians(float(middle)))
        return positions
    import networkx as nx

    assert isinstance(network, Network)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(network.nodes))
    graph.add_edges_from(network.edges)
    if network.nodes < SPRINGS_FROM:
        layout = nx.kamada_kawai_layout(graph)
    else:
        layout = nx.spring_layout(graph, seed=0)
    positions = np.array([layout[node] for node in range(network.nodes)], float).reshape(-1, 2)
    positions -= positions.mean(axis=0)
    if network.nodes < 3:
        return positions
    _, axes = np.linalg.eigh(positions.T @ positions)
    axes = axes[:, ::-1]  # the widest direction first
    # The opposite of an eigenvector is one too: always the one whose largest entry is positive.
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return np.asarray(positions @ axes, float)
