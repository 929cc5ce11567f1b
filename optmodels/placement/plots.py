"""The picture of a placement: clients, opening costs, which sites are open, who goes where, how full each site is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RequestError
from ..plotting import (
    COLOURS,
    HEADING,
    LABEL,
    NARROW,
    TICK,
    Panels,
    columns_of,
    decision_of,
    entitle,
    heading,
    label_axes,
    literal,
    new_figure,
    open_panels,
    told_by,
)  # fmt: skip
from .framing import POINTS, Frame, fitted, grid_frame, network_frame, sides_of_names, whole_layout
from .geometry import DistanceMatrix
from .layout import Grid, Network
from .problem import PlacementProblem

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from matplotlib.path import Path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Letters smaller than this many points are left out: nobody reads them.
SMALLEST_LETTERS = 4.8

_LINE = COLOURS[0]
_ALARM = COLOURS[1]
_COST = "#8A3A00"

#: Marks of open sites: lying plates, which leave the corner of a cell free for its demand.
_PLATE = ((-1.0, -0.52), (1.0, -0.52), (1.0, 0.52), (-1.0, 0.52), (-1.0, -0.52))
_POINTED = ((-1.15, 0.0), (-0.8, 0.58), (0.8, 0.58), (1.15, 0.0), (0.8, -0.58), (-0.8, -0.58), (-1.15, 0.0))


def draw_placement(
    problem: PlacementProblem,
    result: Mapping[str, Any] | None,
    *,
    ax: Axes | None = None,
    panel: str | None = None,
) -> Figure:
    """Draw the demand and the opening costs of a placement problem and, if `result` has a decision, what it means.

    Cells are shaded by demand; what opening a site costs is written in a corner or, where there is no room, shown by
    the size of a mark. An open site is a plate with its load and capacity on it, coloured by their ratio; an overloaded
    one is black and pointed. A line joins every cell with clients to its nearest open site, dashed where several are
    equally near and share them.

    Parameters
    ----------
    problem
        A placement problem, on a grid or a network.
    result
        What was found, as a result file has it; ``decision`` is drawn, and ``strategy``, ``bound``, ``best_known`` and
        ``status`` are told. ``None``: demand and opening costs alone.
    ax
        Axes of the caller to draw the map into; ``None``: a figure of its own.
    panel
        ``"placement"``, the only one.

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
    whole_problem = problem
    problem, told = whole_problem.pictured(decision)
    whole, cells = whole_layout(problem.layout)
    if isinstance(whole, DistanceMatrix) and (whole.places is None or not whole.together):
        raise RequestError("a matrix of distances has no map: nothing says where its sites and cells lie.")
    frame = grid_frame(whole, cells) if isinstance(whole, Grid) else network_frame(whole, cells)
    if ax is None and panel in (None, "placement"):
        figure = new_figure(NARROW, NARROW)
        panels = Panels(figure, {"placement": figure.add_axes((0.0, 0.0, 1.0, 1.0), label="placement")})
    else:
        panels = open_panels([["placement"]], ax, panel, size=(NARROW, NARROW))
        frame = fitted(frame, panels["placement"])
    axes = panels["placement"]
    axes.set_xlim(*frame.limits[:2])
    axes.set_ylim(*frame.limits[2:])
    if isinstance(whole, Grid):
        bars = [(_draw_grid(axes, whole, cells, problem.demand, frame), "demand (clients)")]
    else:
        bars = [(_draw_network(axes, problem.demand, frame), "demand (clients)")]
        _draw_names(axes, whole, cells, frame, decision)
    _draw_opening_costs(axes, problem.opening_cost, frame, decision)
    if decision is not None:
        bars.append((_draw_decision(axes, problem, np.array(decision, bool), frame), "load as a share of capacity"))
    words, entries = [*_summary(whole_problem, problem, result, decision), *told], _legend(axes, problem)
    if panels.owned:
        _arrange(panels.figure, axes, frame, bars, entries, (problem.name, words))
    else:
        entitle(axes, "", entries)
        panels.head(problem.name, words)
    return panels.figure


def _arrange(
    figure: Figure,
    axes: Axes,
    frame: Frame,
    bars: list[tuple[ScalarMappable, str]],
    entries: list[Artist],
    told: tuple[str, list[str]],
) -> None:
    """Put map, colour bars, heading and legend side by side, measured in inches so that nothing overlaps."""
    on_grid = axes.axison
    flat = frame.width > 4.6 or frame.height < 2.0  # bars lie below the map: wide ones need the room, low ones lack it
    before, after = 0.55 if on_grid else 0.12, 0.12 if flat else 0.25 + 0.66 * len(bars)
    width = max(before + frame.width + after, NARROW)
    labels = [str(entry.get_label()) for entry in entries]
    columns = columns_of(labels, width - 0.1)
    title = heading(told[0], told[1], width)
    above = 0.14 + 0.165 * (title.count("\n") + 1)
    legend = 0.16 * math.ceil(len(entries) / columns) + 0.12
    below = legend + (0.46 if on_grid else 0.06) + (0.52 if flat else 0.0)
    height = below + frame.height + above
    left = before + (width - before - frame.width - after) / 2
    figure.set_size_inches(width, height)
    axes.set_position((left / width, below / height, frame.width / width, frame.height / height))
    for place, (colours, label) in enumerate(bars):
        if flat:
            span = max(frame.width, min(width - 0.3, 3.6))
            start, share = left + (frame.width - span) / 2, span / len(bars)
            box = (start + share * place + 0.08 * share, legend + 0.36, 0.84 * share, 0.1)
        else:
            tall = min(frame.height, 2.6)
            box = (left + frame.width + 0.18 + 0.66 * place, below + (frame.height - tall) / 2, 0.11, tall)
        _draw_bar(figure, (box[0] / width, box[1] / height, box[2] / width, box[3] / height), colours, label, flat)
    literal(figure.suptitle(title, y=1 - 0.08 / height, va="top", fontsize=HEADING, linespacing=1.3))
    found = figure.legend(
        handles=entries,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.02 / height),
        ncols=columns,
        frameon=False,
        fontsize=TICK,
        labelspacing=0.3,
        borderpad=0.2,
        handlelength=2.2,
    )
    for text in found.get_texts():
        literal(text)


def _draw_bar(
    figure: Figure, box: tuple[float, float, float, float], colours: ScalarMappable, label: str, flat: bool
) -> None:
    from matplotlib.ticker import MaxNLocator

    bar = figure.add_axes(box, label=label)
    drawn = figure.colorbar(colours, cax=bar, orientation="horizontal" if flat else "vertical")
    drawn.set_label(label, fontsize=LABEL)
    bar.tick_params(labelsize=TICK, width=0.5)
    if label.startswith("demand"):
        (bar.xaxis if flat else bar.yaxis).set_major_locator(MaxNLocator(6, integer=True))


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _summary(
    whole: PlacementProblem, problem: PlacementProblem, result: Mapping[str, Any] | None, decision: Any
) -> list[str]:
    """What is known, for the heading."""
    if result is None:
        places = "cells" if isinstance(whole_layout(problem.layout)[0], Grid) else "nodes"
        return [f"{int(problem.demand.sum())} clients in {problem.layout.sites} {places}"]
    if decision is None:
        return [*told_by({**result, "objective": None}), "no placement"]
    stated, count = result.get("objective"), sum(site > 0 for site in decision)
    objective = whole.evaluate(decision).objective if stated is None else stated
    words = [*told_by(result, objective), f"{count} of {problem.layout.sites} sites open"]
    overloaded = int((problem.overloaded(np.sign(decision)) > 0).sum())
    return [*words, f"{overloaded} overloaded"] if overloaded else words


# -- demand ------------------------------------------------------------------------------------------------------------


def _greys(demand: Ints) -> ScalarMappable:
    """Light greys only, so that lines and letters stay readable on them."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = LinearSegmentedColormap.from_list("demand", matplotlib.colormaps["Greys"](np.linspace(0.0, 0.4, 64)))
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
    label_axes(axes, "column", "row")
    for axis, count in ((axes.xaxis, grid.columns), (axes.yaxis, grid.rows)):
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if count / step <= 25)
        axis.set_ticks(range(0, count, step))
    axes.tick_params(length=0)
    letters = _corner_letters(frame)
    look: dict[str, Any] = {"fontsize": letters, "ha": "left", "va": "top", "color": "#333333", "gid": "clients"}
    if letters >= SMALLEST_LETTERS:
        for (x, y), clients in zip(frame.positions, demand, strict=True):
            if clients:
                axes.text(x - 0.46, y - 0.47, str(clients), **look)
    return greys


def _corner_letters(frame: Frame) -> float:
    """Return the points of letters that fit above or below a plate."""
    return min(7.5, 0.25 * frame.spacing)


def _draw_opening_costs(axes: Axes, costs: Floats, frame: Frame, decision: tuple[int, ...] | None) -> None:
    """Write what it costs to open each site beside it; marks of growing size where letters would be too small."""
    from matplotlib.patheffects import withStroke

    if len(set(costs.tolist())) < 2:
        return  # the legend tells the one cost there is
    written = [f"{cost:.4g}" for cost in costs.tolist()]
    longest = max(map(len, written))
    letters = min(_corner_letters(frame), 0.42 * frame.spacing / (0.6 * longest))
    if letters < SMALLEST_LETTERS:
        sides = _cost_sides(costs, frame)
        corner = np.array([0.36, 0.36]) if axes.axison else np.array([0.3, -0.3]) * frame.spacing / POINTS
        at = frame.positions + corner
        axes.scatter(at[:, 0], at[:, 1], s=sides**2, marker="D", color=_COST, lw=0, zorder=5.5, gid="opening-sizes")
        return
    halo = [] if axes.axison else [withStroke(linewidth=1.2, foreground="white")]
    opened = np.zeros(len(costs), bool) if decision is None else np.array(decision, bool)
    for (x, y), text, plate in zip(frame.positions, written, opened, strict=True):
        look: dict[str, Any] = {"fontsize": letters, "color": _COST, "style": "italic", "zorder": 6.5}
        if axes.axison:
            axes.text(x + 0.46, y + 0.47, text, ha="right", va="bottom", gid="opening-costs", **look)
            continue
        away = (0.4 if plate else 0.27) * frame.spacing
        axes.annotate(
            text, (x, y), (0.0 if plate else away, -away), textcoords="offset points", ha="center", va="center",
            path_effects=halo, gid="opening-costs", **look,
        )  # fmt: skip


def _cost_sides(costs: Floats, frame: Frame) -> Floats:
    """Points of the side of a mark, by cost: areas tell costs."""
    largest = max(0.3 * frame.spacing, 2.4)
    return np.asarray(largest * np.sqrt(np.maximum(costs, 0.0) / max(float(costs.max()), 1e-300)), float)


def _draw_network(axes: Axes, demand: Ints, frame: Frame) -> ScalarMappable:
    from matplotlib.collections import LineCollection

    greys = _greys(demand)
    axes.set_axis_off()
    links = LineCollection(list(frame.links), colors="#BBBBBB", linewidths=0.8, gid="links", zorder=1)
    axes.add_collection(links, autolim=False)
    side = float(np.clip(0.52 * frame.spacing, 3.0, 13.0))
    faces = greys.to_rgba(demand)
    _mark(axes, frame.positions, side, "cells", facecolors=faces, edgecolors="#777777", linewidths=0.6, zorder=3)
    if 0.5 * side >= SMALLEST_LETTERS:
        for (x, y), clients in zip(frame.positions, demand, strict=True):
            axes.text(
                x, y, str(clients), fontsize=0.5 * side, ha="center", va="center_baseline", zorder=4, gid="clients"
            )
    return greys


def _draw_names(
    axes: Axes, network: Network | DistanceMatrix, cells: Ints, frame: Frame, decision: tuple[int, ...] | None
) -> None:
    """Write the names of the open sites above or below them, of all nodes where nothing is decided."""
    from matplotlib.patheffects import withStroke

    letters = min(7.0, 0.3 * frame.spacing)
    if network.names is None or letters < SMALLEST_LETTERS:
        return
    opened = np.ones(len(cells), bool) if decision is None else np.array(decision, bool)
    away = (0.3 if decision is None else 0.34) * min(frame.spacing, 41.0)
    halo = [withStroke(linewidth=1.4, foreground="white")]
    apart = np.sqrt(((frame.positions[:, None] - frame.positions) ** 2).sum(axis=2)) + np.diag([np.inf] * len(cells))
    scale = frame.spacing / float(np.quantile(apart.min(axis=1), 0.1)) if len(cells) > 1 else 1.0  # points of a unit
    names = [network.names[cell] for cell in cells[opened]]
    sides = sides_of_names(scale * frame.positions[opened], names, scale * frame.positions, letters, away)
    for place, name, side in zip(frame.positions[opened], names, sides, strict=True):
        text = axes.annotate(
            name, tuple(place), (0.0, side * away), textcoords="offset points", ha="center",
            va="bottom" if side > 0 else "top", fontsize=letters, color="#333333", zorder=6.5, gid="names",
            path_effects=halo,
        )  # fmt: skip
        literal(text)


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
    side = min((0.86 if axes.axison else 0.92) * frame.spacing, 38.0)
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
    labels = {site: f"{problem.marks[site]}: {label}" if problem.marks else label for site, label in labels.items()}
    # Load and capacity are written inside the marks, if letters of a readable size fit.
    letters = min(0.92 * side / (0.64 * max(map(len, labels.values()), default=1)), 0.4 * side, 8.0)
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


def _legend(axes: Axes, problem: PlacementProblem) -> list[Artist]:
    """One entry for every kind of mark that is there."""
    from matplotlib.lines import Line2D

    drawn = {artist.get_gid() for artist in axes.get_children()}
    place = "cell" if axes.axison else "node"
    told = "number of the type, " if problem.marks else ""
    inside = f", {told}clients / capacity on it" if "loads" in drawn else ", darker the fuller"
    shaded = f"{place}, shaded by demand"
    if "clients" in drawn:
        shaded += ", clients upper left" if place == "cell" else ", clients inside"

    def mark(shape: Any, face: str, edge: str, width: float, size: float, label: str) -> Line2D:
        return Line2D([], [], ls="none", marker=shape, mfc=face, mec=edge, mew=width, ms=size, label=label)

    def line(width: float, label: str, colour: str = _LINE, **look: Any) -> Line2D:
        return Line2D([], [], color=colour, lw=width, label=label, **look)

    dot: dict[str, Any] = {"marker": "o", "ms": 3.2, "markevery": [0]} if "homes" in drawn else {}
    low, high = float(problem.opening_cost.min()), float(problem.opening_cost.max())
    corner = "lower right" if place == "cell" else "below it"
    entries = {
        "cells": mark(*(("s", "#BBBBBB", "white") if place == "cell" else ("o", "#BBBBBB", "#777777")), 0.6, 7, shaded),
        "opening-costs": mark(_digit(), _COST, _COST, 0.0, 5.5, f"cost of opening the site, {corner}"),
        "opening-sizes": mark(
            "D", _COST, _COST, 0.0, 4.5, f"cost of opening the site, {low:.4g} to {high:.4g} by size"
        ),
        "links": line(0.8, "link", "#BBBBBB"),
        "open-sites": mark(_PLATE, "#35B779", "black", 0.8, 13, f"open site{inside}"),
        "idle-sites": mark(_PLATE, "white", "black", 0.8, 13, "open site without clients"),
        "overloaded-sites": mark(_POINTED, "black", _ALARM, 1.8, 13, "overloaded: more clients than its capacity"),
        "assignments": line(1.3, "clients go to their nearest open site", **dot),
        "shared-assignments": line(0.8, "clients shared by equally near sites", ls=(0, (4, 2))),
    }
    found: list[Artist] = [entry for gid, entry in entries.items() if gid in drawn]
    if low == high:
        found.append(mark("", "none", "none", 0.0, 1, f"opening any site costs {low:.4g}"))
    return found


def _digit() -> Path:
    """Return a digit as a mark, around its middle: the letters of the legend stand for themselves."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    outline = TextPath((0.0, 0.0), "3", size=1.0, prop=FontProperties(family="DejaVu Sans", style="italic"))
    box = outline.get_extents()
    middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    return Path(outline.vertices - middle, outline.codes)
