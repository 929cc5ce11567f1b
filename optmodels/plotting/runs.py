"""Pictures of runs: gaps of strategies, answers along a parameter."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from heuristics import Result, relative_gap

from ..errors import UnknownName, suggestion
from ..registry import kinds
from .canvas import COLOURS, INK, MARKERS, NARROW, check_path, house_style, number, plain, save
from .panels import (
    Panels,
    entitle,
    finite,
    heading,
    label_axes,
    legend_below,
    measure_words,
    name_ticks,
    open_panels,
    whole_ticks,
)
from .rows import (
    BOUND,
    NO_GAP,
    NONE_FOUND,
    Row,
    answer_of,
    column_of,
    count_out,
    distinct,
    explained,
    label_of,
    problem_of,
    rows_of,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Instances of a picture of gaps; more are left out, and counted.
MOST_INSTANCES = 40


def plot_gaps(
    rows: Iterable[Result | Row], path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None
) -> Figure:
    """Draw the gap of every run of a comparison, by instance and strategy, with a bar at the median of several runs.

    The gap is the relative distance of the objective above a reference that all runs of an instance share: the
    ``reference_value`` of the rows if given, else an optimum that one of them proved, else the best bound, else the
    best objective. Which of these it is stands below the name of the instance.

    Parameters
    ----------
    rows
        One for each run, as `optmodels.Comparison.rows` makes them, or results.
    path
        Where to write the picture.
    ax
        Axes of the caller to draw into; ``None``: a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    runs = rows_of(rows, "a row of a comparison")
    problems = distinct(problem_of(run) for run in runs)
    labels = distinct(label_of(run) for run in runs)
    shown = problems[:MOST_INSTANCES]
    height = 0.9 + 0.16 * math.ceil(len(labels) / 3) + len(shown) * max(0.38, 0.13 * len(labels))
    check_path(path)
    with house_style():
        panels = open_panels([["gaps"]], ax, size=(NARROW, max(2.2, height)))
        axes = panels["gaps"]
        names, failed = [], []
        for at, problem in enumerate(shown):
            of_problem = [run for run in runs if problem_of(run) == problem]
            reference, origin = _reference(of_problem)
            names.append(plain(problem, 24) + (f"\n{origin} {number(reference)}" if reference is not None else ""))
            for place, label in enumerate(labels):
                y = at + (place - (len(labels) - 1) / 2) * 0.8 / len(labels)
                of_label = [run for run in of_problem if label_of(run) == label]
                gaps = [_gap(answer_of(run), reference) for run in of_label]
                failed += [y for gap in gaps if gap is None]
                _draw_strip(axes, y, [100 * gap for gap in gaps if gap is not None], place, label, 0.8 / len(labels))
        _draw_crosses(axes, failed, 0.97, NO_GAP, along="y")
        for edge in range(1, len(shown)):
            axes.axhline(edge - 0.5, color="#CCCCCC", lw=0.6)
        axes.axvline(0.0, color="black", lw=0.6, zorder=1)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        name_ticks(axes.yaxis, range(len(names)), names, 40)
        axes.tick_params(axis="y", length=0)
        label_axes(axes, "gap above the reference (%)", grid="x")
        entries = explained([axes], labels)
        _close(panels, "", entries, len(problems) - len(shown), "instance")
        save(panels.figure, path)
    return panels.figure


def _close(panels: Panels, title: str, entries: Sequence[Artist], left_out: int = 0, noun: str = "") -> None:
    """Add title and legend to a picture of one panel: below it on a figure of its own, else above it."""
    (axes,) = panels.axes.values()
    entitle(axes, title, [] if panels.owned else entries)
    if panels.owned and entries:
        legend_below(panels.figure, entries)
    count_out(panels.figure if panels.owned else None, left_out, noun)


def _draw_strip(axes: Axes, y: float, gaps: Sequence[float], place: int, label: str, width: float) -> None:
    if not gaps:
        return
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    # Spread evenly in the order of the runs: no random jitter, so the same picture every time.
    step = 0.5 * width / max(len(gaps) - 1, 1)
    ys = [y + (k - (len(gaps) - 1) / 2) * step for k in range(len(gaps))]
    axes.plot(gaps, ys, ls="none", marker=marker, color=colour, ms=4.5, mec="black", mew=0.4, label=label, gid="gaps")
    if len(gaps) > 1:
        axes.vlines(median(gaps), y - 0.42 * width, y + 0.42 * width, color=colour, lw=2.0, zorder=2, gid="medians")


def _reference(runs: Sequence[Row]) -> tuple[float | None, str]:
    """What the runs of an instance are measured against, and what it is."""
    for run in runs:
        value = finite(run.get("reference_value"))
        if value is not None:
            return value, plain(run.get("reference") or "reference", 24)
    found = [(value, run.get("status")) for run in runs if (value := answer_of(run)) is not None]
    optima = [value for value, status in found if status == "optimal"]
    bounds = [value for run in runs if (value := finite(run.get("bound"))) is not None]
    if optima:
        return min(optima), "optimum"
    if bounds:
        return max(bounds), "bound"
    return (min(value for value, _ in found), "best seen") if found else (None, "")


def _gap(objective: float | None, reference: float | None) -> float | None:
    return None if objective is None or reference is None else finite(relative_gap(objective, reference))


def plot_sweep(
    rows: Iterable[Result | Row],
    x: str,
    y: str = "objective",
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw one measure along a varied parameter, a line for each strategy, and its bound if it is the objective.

    Lines over whole numbers are steps: there is nothing between two of them.

    Parameters
    ----------
    rows
        One for each run.
    x, y
        Names of columns; ``"measures.mean_delay"`` is the column itself or the entry ``mean_delay`` of the column
        ``measures``. Of several runs with the same x the line goes through the median.
    path
        Where to write the picture.
    ax
        Axes of the caller to draw into; ``None``: a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    runs = rows_of(rows, "a row of a sweep")
    for name in (x, y):
        if all(column_of(run, name, NONE_FOUND) is NONE_FOUND for run in runs):
            raise UnknownName(f"no row has a column {name!r}. {suggestion(name, {key for run in runs for key in run})}")
    labels = distinct(label_of(run) for run in runs)
    check_path(path)
    with house_style():
        panels = open_panels([["sweep"]], ax, size=(NARROW, 3.2))
        axes = panels["sweep"]
        values = [column_of(run, x) for run in runs]
        numeric = all(finite(value) is not None for value in values)
        names = distinct(plain(value, 16) for value in values)
        where = [float(value) if numeric else float(names.index(plain(value, 16))) for value in values]
        style = (
            {} if not all(at.is_integer() for at in where) else {"drawstyle": "steps-mid"} if numeric else {"ls": ""}
        )
        failed: list[float] = []
        for place, label in enumerate(labels):
            mine = [(at, run) for at, run in zip(where, runs, strict=True) if label_of(run) == label]
            known = [(at, value) for at, run in mine if (value := answer_of(run, y)) is not None]
            failed += [at for at, run in mine if answer_of(run, y) is None]
            colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
            look = {"color": colour, "marker": marker, "ms": 4.5, "lw": 1.2, "gid": "values"}
            _draw_line(axes, known, label, look | style)
            bounds = [(at, value) for at, run in mine if (value := finite(run.get("bound"))) is not None]
            if y == "objective":
                look = {"color": colour, "lw": 1.0, "ls": BOUND, "gid": "bounds"}
                _draw_line(axes, bounds, f"{label}: bound", look | ({"marker": "_"} if "ls" in style else style), max)
        _draw_crosses(axes, failed, 0.03, NONE_FOUND)
        if not numeric:
            name_ticks(axes.xaxis, range(len(names)), names, 16)
        elif style:
            whole_ticks(axes.xaxis)
        kind = next((str(run["kind"]) for run in runs if run.get("kind")), None)
        label_axes(axes, place_words(kind, x), measure_words(kind, y.removeprefix("measures.")), grid="both")
        problems = distinct(str(run["problem"]) for run in runs if run.get("problem"))
        title = heading(problems[0], (), 3.4) if len(problems) == 1 else ""
        _close(panels, title, explained([axes], labels))
        save(panels.figure, path)
    return panels.figure


def place_words(kind: str | None, path: str) -> str:
    """Write a place in an instance in words, with the unit that the fields of its kind tell.

    Parameters
    ----------
    kind
        Name of a kind, if known.
    path
        Such as ``data.servers[1].rate``.

    Returns
    -------
    str
        Plain text.

    Examples
    --------
    >>> place_words("routing", "data.servers[1].rate")
    'rate (per unit of time), servers[1].rate'
    """
    root, _, place = path.partition(".")
    if root not in ("data", "cost", "limits") or not place:
        return plain(measure_words(kind, path), 60)
    leaf = re.sub(r"\[\d+\]|\.\d+", "", place).rpartition(".")[2].replace("_", " ")
    unit = ""
    if root == "data" and kind is not None and kind in kinds and kinds[kind].data is not None:
        from ..instance import data_fields

        field = re.sub(r"\[\d+\]|\.\d+", "[]", place)
        told = {row.field.partition(" (")[0]: row.unit for row in data_fields(kind)}
        unit = told.get(field, "") or told.get(field.replace("[]", ""), "")
    words = f"{leaf} ({unit})" if unit else leaf
    return plain(words if leaf == place.replace("_", " ") else f"{words}, {place}", 60)


def _draw_line(
    axes: Axes, known: Sequence[tuple[float, float]], label: str, look: Mapping[str, Any], best: Any = median
) -> None:
    if not known:
        return
    xs = sorted({at for at, _ in known})
    axes.plot(xs, [best([value for at, value in known if at == here]) for here in xs], label=label, **look)
    if best is median and len(xs) < len(known):
        axes.plot(*zip(*known, strict=True), ls="none", marker=".", color=look["color"], alpha=0.5, gid="runs")


def _draw_crosses(
    axes: Axes, places: Sequence[float], height: float, label: str, along: Literal["x", "y"] = "x"
) -> None:
    """Mark runs without a value near an edge of the picture, whatever its scale."""
    if places:
        across = axes.get_xaxis_transform() if along == "x" else axes.get_yaxis_transform()
        points = (places, [height] * len(places)) if along == "x" else ([height] * len(places), places)
        axes.plot(*points, "x", color=INK, ms=6, transform=across, label=label, gid="failed")
        room: dict[str, Any] = {"y" if along == "x" else "x": 0.12}
        axes.margins(**room)
