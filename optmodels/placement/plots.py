"""The picture of a placement: where the clients are, which sites are open, who goes where, how full each site is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plotting import decision_of, literal, new_figure, number, plain
from .layout import Grid, Layout, Network, Piece
from .problem import PlacementProblem

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Networks up to this size are laid out by all distances, larger ones by springs.
SPRINGS_FROM = 301
#: Width of the mark of a site on a network, in inches, where there is room.
_MARK = 0.4
#: Letters smaller than this many points are left out: nobody reads them.
SMALLEST_LETTERS = 4.2

_LINE = "#0072B2"
_ALARM = "#D55E00"
_POINTS = 72.0

#: Marks of open sites: lying plates, which leave the corner of a cell free for its demand.
_PLATE = ((-1.0, -0.52), (1.0, -0.52), (1.0, 0.52), (-1.0, 0.52), (-1.0, -0.52))
_POINTED = ((-1.15, 0.0), (-0.8, 0.58), (0.8, 0.58), (1.15, 0.0), (0.8, -0.58), (-0.8, -0.58), (-1.15, 0.0))


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


def draw_placement(problem: PlacementProblem, result: Mapping[str, Any] | None) -> Figure:
    """Draw the demand of a placement problem and, if `result` has a decision, what it means.

    Cells are shaded by demand. An open site is a plate with its load and capacity on it, coloured by their ratio; an
    overloaded one is black and pointed. A line joins every cell with clients to its nearest open site, dashed where
    several are equally near and share them.

    Parameters
    ----------
    problem
        A placement problem, on a grid or a network.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: the demand alone.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.

    Examples
    --------
    >>> from optmodels.placement import PlacementGenerator, draw_placement
    >>> problem = PlacementGenerator(rows=2, columns=3, seed=1).instance().problem()
    >>> figure = draw_placement(problem, {"decision": [1, 0, 0, 1, 0, 1]})
    >>> figure.axes[0].get_label()
    'placement'
    """
    decision = decision_of(problem, result)
    whole, cells = _whole(problem.layout)
    frame = _grid_frame(whole, cells) if isinstance(whole, Grid) else _network_frame(whole, cells)
    figure = new_figure(6.6, 6.6)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), label="placement")
    axes.set_xlim(*frame.limits[:2])
    axes.set_ylim(*frame.limits[2:])
    if isinstance(whole, Grid):
        bars = [(_draw_grid(axes, whole, cells, problem.demand, frame), "demand (clients)")]
    else:
        bars = [(_draw_network(axes, problem.demand, frame), "demand (clients)")]
    if decision is not None:
        bars.append((_draw_decision(axes, problem, np.array(decision, bool), frame), "load / capacity"))
    heading = problem.name, _summary(problem, result, decision)
    _arrange(figure, axes, frame, bars, heading)
    return figure


def _arrange(
    figure: Figure, axes: Axes, frame: Frame, bars: list[tuple[ScalarMappable, str]], heading: tuple[str, str]
) -> None:
    """Put axes, colour bars, title and legend side by side, measured in inches so that nothing overlaps."""
    from matplotlib.ticker import MaxNLocator

    on_grid = axes.axison
    before, after, above = 0.55 if on_grid else 0.15, 0.3 + 0.72 * len(bars), 0.62
    width = max(before + frame.width + after, 6.6)
    columns = 2 if width < 9.5 else 3
    entries = _legend(axes)
    below = (0.5 if on_grid else 0.1) + 0.19 * math.ceil(len(entries) / columns) + 0.12
    height = below + frame.height + above
    left = before + (width - before - frame.width - after) / 2
    figure.set_size_inches(width, height)
    axes.set_position((left / width, below / height, frame.width / width, frame.height / height))
    bar_height = min(frame.height, 3.6)
    bottom = below + (frame.height - bar_height) / 2
    for place, (colours, label) in enumerate(bars):
        x = left + frame.width + 0.25 + 0.75 * place
        bar = figure.add_axes((x / width, bottom / height, 0.13 / width, bar_height / height), label=label)
        figure.colorbar(colours, cax=bar).set_label(label, fontsize=8)
        bar.tick_params(labelsize=7, width=0.5)
        if label.startswith("demand"):
            bar.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    title = f"{plain(heading[0], int(width * 11))}\n{heading[1]}"
    literal(figure.suptitle(title, y=1 - 0.1 / height, va="top", fontsize=10, linespacing=1.4))
    figure.legend(
        handles=entries,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.04 / height),
        ncols=columns,
        frameon=False,
        handlelength=2.4,
        columnspacing=2.0,
    )


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _summary(problem: PlacementProblem, result: Mapping[str, Any] | None, decision: tuple[int, ...] | None) -> str:
    """The second line of the title: what is known."""
    if result is None:
        places = "nodes" if isinstance(_whole(problem.layout)[0], Network) else "cells"
        return f"{int(problem.demand.sum())} clients in {problem.layout.sites} {places}"
    words = [] if result.get("bound") is None else [f"bound {number(result['bound'])}"]
    words += [] if result.get("status") is None else [plain(result["status"], 20)]
    if decision is None:
        return ", ".join([*words, "no placement"])
    stated, count = result.get("objective"), sum(decision)
    objective = problem.evaluate(decision).objective if stated is None else stated
    words = [f"objective {number(objective)}", *words, f"{count} open site{'' if count == 1 else 's'}"]
    overloaded = int((problem.overloaded(decision) > 0).sum())
    return ", ".join([*words, f"{overloaded} overloaded"] if overloaded else words)


def _whole(layout: Layout) -> tuple[Grid | Network, Ints]:
    """The grid or network that a layout is a piece of, and where its sites are there."""
    if isinstance(layout, Piece):
        whole, cells = _whole(layout.whole)
        return whole, cells[np.array(layout.cells, np.int64)]
    return layout, np.arange(layout.sites)


# -- where it is drawn -------------------------------------------------------------------------------------------------


def _grid_frame(grid: Grid, cells: Ints) -> Frame:
    side = min(0.95, max(11.0 / grid.columns, 2.2 / grid.rows), 14.0 / grid.columns, 9.0 / grid.rows)
    row, column = np.divmod(cells, grid.columns)
    return Frame(
        positions=np.column_stack([column, row]).astype(float),
        spacing=side * _POINTS,
        width=side * grid.columns,
        height=side * grid.rows,
        limits=(-0.5, grid.columns - 0.5, grid.rows - 0.5, -0.5),  # row 0 on top, as in the file
    )


def _network_frame(network: Network, cells: Ints) -> Frame:
    everything = node_positions(network)
    extent = np.ptp(everything, axis=0)
    # The longer side grows with the root of the number of nodes, within what fits on a page.
    longer = float(np.clip(0.95 * math.sqrt(network.nodes), 4.0, 10.5))
    scale = longer / max(float(extent.max()), 1e-9)
    pad = 0.35
    middle = (everything.max(axis=0) + everything.min(axis=0)) / 2
    inches = spread((everything - middle) * scale, min(_MARK, 0.6 * longer / math.sqrt(network.nodes)))
    width, height = (max(2 * float(np.abs(inches[:, axis]).max()), 1.5) + 2 * pad for axis in (0, 1))
    apart = np.sqrt(((inches[:, None] - inches) ** 2).sum(axis=2)) + np.diag(np.full(len(inches), np.inf))
    spacing = float(np.quantile(apart.min(axis=1), 0.1)) * _POINTS if len(inches) > 1 else 60.0
    links = inches[np.array(network.edges, np.int64).reshape(-1, 2)]
    return Frame(inches[cells], spacing, width, height, (-width / 2, width / 2, -height / 2, height / 2), links)


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


def node_positions(network: Network) -> Floats:
    """Where to draw the nodes of a network: near in hops is near on paper, the longer side flat, always the same."""
    import networkx as nx

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


# -- demand ------------------------------------------------------------------------------------------------------------


def _greys(demand: Ints) -> ScalarMappable:
    """Light greys only, so that lines and letters stay readable on them."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = LinearSegmentedColormap.from_list("demand", matplotlib.colormaps["Greys"](np.linspace(0.0, 0.5, 64)))
    return ScalarMappable(Normalize(0, max(int(demand.max(initial=0)), 1)), shades)


def _mark(axes: Axes, positions: Floats, side: float, gid: str, **look: Any) -> None:
    """Put one mark, `side` points wide, at every position."""
    axes.scatter(positions[:, 0], positions[:, 1], s=side**2, gid=gid, **look)


def _draw_grid(axes: Axes, grid: Grid, cells: Ints, demand: Ints, frame: Frame) -> ScalarMappable:
    greys = _greys(demand)
    values = np.full(grid.sites, np.nan)
    values[cells] = demand
    mesh = axes.pcolormesh(
        np.arange(grid.columns + 1) - 0.5,
        np.arange(grid.rows + 1) - 0.5,
        np.ma.masked_invalid(values.reshape(grid.rows, grid.columns)),
        cmap=greys.cmap,
        edgecolors="white",
        linewidth=0.6,
        gid="cells",
    )
    mesh.set_clim(greys.get_clim())
    axes.set_xlabel("column")
    axes.set_ylabel("row")
    for axis, count in ((axes.xaxis, grid.columns), (axes.yaxis, grid.rows)):
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if count / step <= 25)
        axis.set_ticks(range(0, count, step))
    axes.tick_params(length=0)
    letters = min(8.0, 0.2 * frame.spacing)
    look: dict[str, Any] = {"fontsize": letters, "ha": "left", "va": "top", "color": "#333333", "gid": "clients"}
    if letters >= SMALLEST_LETTERS:
        for (x, y), clients in zip(frame.positions, demand, strict=True):
            if clients:
                axes.text(x - 0.45, y - 0.45, str(clients), **look)
    return greys


def _draw_network(axes: Axes, demand: Ints, frame: Frame) -> ScalarMappable:
    from matplotlib.collections import LineCollection

    greys = _greys(demand)
    axes.set_axis_off()
    links = LineCollection(list(frame.links), colors="#BBBBBB", linewidths=0.8, gid="links", zorder=1)
    axes.add_collection(links, autolim=False)
    side = float(np.clip(0.5 * frame.spacing, 3.0, 14.0))
    faces = greys.to_rgba(demand)
    _mark(axes, frame.positions, side, "cells", facecolors=faces, edgecolors="#777777", linewidths=0.6, zorder=3)
    if 0.5 * side >= SMALLEST_LETTERS:
        for (x, y), clients in zip(frame.positions, demand, strict=True):
            axes.text(
                x, y, str(clients), fontsize=0.5 * side, ha="center", va="center_baseline", zorder=4, gid="clients"
            )
    return greys


# -- the decision ------------------------------------------------------------------------------------------------------


def _draw_decision(axes: Axes, problem: PlacementProblem, is_open: NDArray[np.bool_], frame: Frame) -> ScalarMappable:
    """Draw assignment lines and sites, return the colours of load over capacity."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    _draw_lines(axes, problem, is_open, frame)
    decision = tuple(int(value) for value in is_open)
    load, farthest = problem.load_and_farthest(decision)
    room = problem.room(farthest)
    overloaded = problem.overloaded(decision) > 0
    idle = is_open & (load == 0)
    # Yellow to blue, dark enough for nothing and light enough not to be taken for black.
    scale = LinearSegmentedColormap.from_list("load", matplotlib.colormaps["viridis_r"](np.linspace(0.0, 0.8, 128)))
    filling = ScalarMappable(Normalize(0.0, 1.0), scale)
    share = load / np.maximum(room, 1)
    side = min((0.86 if axes.axison else 0.92) * frame.spacing, 46.0)
    kinds: tuple[tuple[str, NDArray[np.bool_], Any, dict[str, Any]], ...] = (
        ("open-sites", is_open & ~overloaded & ~idle, filling.to_rgba(share), {"marker": _PLATE}),
        ("idle-sites", idle, "white", {"marker": _PLATE}),
        ("overloaded-sites", overloaded, "black", {"marker": _POINTED, "edgecolors": _ALARM, "linewidths": 1.8}),
    )
    for gid, chosen, face, look in kinds:
        if chosen.any():
            style = {"edgecolors": "black", "linewidths": 0.8, "zorder": 5, **look}
            colours = face if isinstance(face, str) else face[chosen]
            _mark(axes, frame.positions[chosen], side, gid, facecolors=colours, **style)
    labels = {int(site): f"{load[site]}/{room[site]}" if load[site] else "0" for site in np.flatnonzero(is_open)}
    # Load and capacity are written inside the marks, if letters of a readable size fit.
    letters = min(0.92 * side / (0.64 * max(map(len, labels.values()), default=1)), 0.4 * side, 9.0)
    brightness = np.asarray(filling.to_rgba(share))[:, :3] @ (0.3, 0.59, 0.11)
    for site, label in labels.items() if letters >= SMALLEST_LETTERS else ():
        dark = overloaded[site] or (share[site] > 0 and brightness[site] < 0.5)
        axes.text(
            frame.positions[site, 0],
            frame.positions[site, 1],
            label,
            fontsize=letters * (0.85 if overloaded[site] else 1.0),
            fontweight="bold" if overloaded[site] else "normal",
            color="white" if dark else "black",
            ha="center",
            va="center_baseline",
            zorder=6,
            gid="loads",
        )
    return filling


def _draw_lines(axes: Axes, problem: PlacementProblem, is_open: NDArray[np.bool_], frame: Frame) -> None:
    """Join every cell with clients to each of its nearest open sites."""
    from matplotlib.collections import LineCollection

    open_sites, cells = np.flatnonzero(is_open), np.flatnonzero(problem.demand > 0)
    if not len(open_sites) or not len(cells):
        return
    reach = problem.distances[np.ix_(cells, open_sites)]
    nearest = reach == reach.min(axis=1, keepdims=True)
    which, where = np.nonzero(nearest)
    tied = (nearest.sum(axis=1) > 1)[which]
    ends = np.stack([frame.positions[cells[which]], frame.positions[open_sites[where]]], axis=1)
    looks: tuple[tuple[str, NDArray[np.bool_], dict[str, Any]], ...] = (
        ("assignments", ~tied, {"linewidths": 1.3}),
        ("shared-assignments", tied, {"linewidths": 0.8, "linestyles": (0, (4, 2))}),
    )
    for gid, chosen, look in looks:
        if chosen.any():
            lines = LineCollection(list(ends[chosen]), colors=_LINE, zorder=2, gid=gid, **look)
            axes.add_collection(lines, autolim=False)
    # A dot where clients live: a line that passes through a cell is told from one that begins there.
    if axes.axison:
        _mark(axes, frame.positions[cells], min(3.2, 0.1 * frame.spacing), "homes", color=_LINE, linewidths=0, zorder=3)


# -- what the marks mean -----------------------------------------------------------------------------------------------


def _legend(axes: Axes) -> list[Artist]:
    """One entry for every kind of mark that is there."""
    from matplotlib.lines import Line2D

    drawn = {artist.get_gid() for artist in axes.get_children()}
    place = "cell" if axes.axison else "node"
    inside = ", clients / capacity on it" if "loads" in drawn else ", coloured by load / capacity"

    shaded = f"{place}, shaded by demand"
    if "clients" in drawn:
        shaded += ", number of clients in the corner" if place == "cell" else ", number of clients inside"

    def mark(shape: Any, face: str, edge: str, width: float, size: float, label: str) -> Line2D:
        return Line2D([], [], ls="none", marker=shape, mfc=face, mec=edge, mew=width, ms=size, label=label)

    def line(width: float, label: str, colour: str = _LINE, **look: Any) -> Line2D:
        return Line2D([], [], color=colour, lw=width, label=label, **look)

    dot: dict[str, Any] = {"marker": "o", "ms": 3.2, "markevery": [0]} if "homes" in drawn else {}
    entries = {
        "cells": mark(*(("s", "#BBBBBB", "white") if place == "cell" else ("o", "#BBBBBB", "#777777")), 0.6, 8, shaded),
        "links": line(0.8, "link", "#BBBBBB"),
        "open-sites": mark(_PLATE, "#35B779", "black", 0.8, 15, f"open site{inside}"),
        "idle-sites": mark(_PLATE, "white", "black", 0.8, 15, "open site without clients"),
        "overloaded-sites": mark(_POINTED, "black", _ALARM, 1.8, 15, "overloaded site: more clients than its capacity"),
        "assignments": line(1.3, "clients go to their nearest open site", **dot),
        "shared-assignments": line(0.8, "clients shared by equally near sites", ls=(0, (4, 2))),
    }
    return [entry for gid, entry in entries.items() if gid in drawn]
