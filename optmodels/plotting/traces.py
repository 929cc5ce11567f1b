"""Pictures of runs over time: the best objective so far, the bound, and the best known."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heuristics import Result

from ..errors import RequestError
from .canvas import COLOURS, DASHES, INK, MARKERS, NARROW, WIDE, check_path, house_style, number, save
from .panels import best_known_of, entitle, finite, heading, label_axes, legend_below, log_ticks, open_panels
from .rows import BOUND, Row, count_out, distinct, explained, label_of, problem_of, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A time axis is logarithmic where the last moment is so many times the first.
DECADES = 20.0
#: Problems of a picture; more are left out, and counted.
MOST_TRACED = 12
#: First values this much above the best, relative to it, are far above; first bounds this much below are far below.
FAR = 0.5
#: What part of the range of all values is always shown above the best one; higher starts are told in words.
SHOWN = 0.3


def plot_trace(
    results: Result | Row | Iterable[Result | Row],
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    best_known: float | None = None,
) -> Figure:
    """Draw the best objective so far against seconds: a step line for every run, dashed for the bound it proved.

    The picture begins where it becomes interesting: when the first run has a feasible decision, and below the range of
    first guesses where these are far above all answers; how far is written beside the axis. The time axis is
    logarithmic where it spans decades.

    Parameters
    ----------
    results
        Results with a ``trace``, of runs or as files have them. Every problem gets a panel of its own, runs that differ
        in the seed alone one colour.
    path
        Where to write the picture.
    ax
        Axes of the caller to draw into, for results of one problem; ``None``: a figure of its own.
    best_known
        Best objective known, for results of one problem; else each result may have its own ``best_known``.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    runs = rows_of([results] if isinstance(results, Result | Mapping) else results, "a result")
    if best_known is not None:
        runs = [{**run, "best_known": best_known} for run in runs]
    problems = distinct(problem_of(run) for run in runs)
    labels = distinct(label_of(run) for run in runs)
    if len(problems) > 1 and (ax is not None or best_known is not None):
        raise RequestError(
            f"results of {len(problems)} problems came, and ax and best_known are for one; draw them one by one."
        )
    shown = problems[:MOST_TRACED]
    columns = min(len(shown), 2)
    lines = math.ceil(len(shown) / columns)
    names = [f"trace-{place}" if place < len(shown) else "." for place in range(lines * columns)]
    layout = [names[line * columns : (line + 1) * columns] for line in range(lines)]
    check_path(path)
    with house_style():
        panels = open_panels(layout, ax, size=(NARROW if columns == 1 else WIDE, 2.5 * lines + 0.6))
        for name, problem in zip(panels.axes, shown, strict=True):
            mine = [run for run in runs if problem_of(run) == problem]
            _draw_traces(panels[name], mine, labels)
            entitle(panels[name], heading(problem, (), 3.4), [] if panels.owned else explained([panels[name]], labels))
        if panels.owned:
            legend_below(panels.figure, explained(panels.axes.values(), labels))
            count_out(panels.figure, len(problems) - len(shown), "problem")
        save(panels.figure, path)
    return panels.figure


def _draw_traces(axes: Axes, runs: Sequence[Row], labels: Sequence[str]) -> None:
    moments = [finite(point.get("seconds")) for run in runs for point in _points(run)]
    earliest = min((moment for moment in moments if moment), default=1e-3)  # a logarithmic axis has no 0
    begun, ended, first, last, bounds = [], [], [], [], []
    for run in runs:
        place = labels.index(label_of(run))
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for measure, look in (("objective", {"lw": 1.4}), ("bound", {"lw": 1.0, "ls": BOUND})):
            known = [
                (max(finite(point.get("seconds")) or 0.0, earliest), value)
                for point in _points(run)
                if (value := finite(point.get(measure))) is not None
            ]
            if not known:
                continue
            end = max([moment for moment, _ in known] + [finite(run.get("seconds")) or earliest])
            known.append((end, known[-1][1]))
            label = label_of(run) if measure == "objective" else f"{label_of(run)}: bound"
            (line,) = axes.step(*zip(*known, strict=True), where="post", color=colour, label=label, gid=measure, **look)
            ended.append(end)
            if measure == "bound":
                bounds += [value for _, value in known]
                continue
            marked = {len(known) - 1, *range(0, len(known), max(1, len(known) // 4))}
            line.set(marker=marker, markersize=3.5, markevery=sorted(marked))
            begun.append(known[0][0])
            first.append(known[0][1])
            last.append(known[-1][1])
    best = _draw_best_known(axes, runs)
    _frame(axes, begun, ended, first, last, bounds, best)


def _points(run: Row) -> list[Row]:
    """Every improvement, and how the run ended."""
    closing = {"seconds": run.get("seconds"), "objective": run.get("objective"), "bound": run.get("bound")}
    return [*(run.get("trace") or ()), closing]


def _draw_best_known(axes: Axes, runs: Sequence[Row]) -> float | None:
    known = [value for run in runs if (value := best_known_of(run)) is not None]
    if not known:
        return None
    axes.axhline(min(known), color=INK, lw=1.0, ls=DASHES[2], label="best known", gid="best-known", zorder=1.5)
    return min(known)


def _frame(
    axes: Axes, begun: list[float], ended: list[float], first: list[float], last: list[float], bounds: list[float],
    best: float | None,
) -> None:  # fmt: skip
    """Choose what part of the plane is worth looking at, and say so where first guesses lie above it."""
    said = "best objective so far"
    if last:
        low = min([*last, *([] if best is None else [best])])
        high, worst, least = max(first), max(last), min([low, *bounds])
        part, far = SHOWN * (high - least), FAR * abs(low)
        top = low + max(2.5 * (worst - low), part) if high - low > far else high
        if low - least > far:
            low = max(least, low - max(part, 2.5 * (low - max(bounds))))
        else:
            low = least
        if top < high:
            lines: list[Any] = [line for line in axes.get_lines() if line.get_gid() == "objective"]
            points = [point for line in lines for point in zip(line.get_xdata(), line.get_ydata(), strict=True)]
            begun = [float(moment) for moment, value in points if value <= top]
            said += f"\n(first values, up to {number(high)}, lie above)"
        room = 0.06 * (min(top, high) - low) or 0.05 * abs(low) or 1.0
        axes.set_ylim(low - room, min(top, high) + room)
    start, stop = min([*begun, *ended], default=0.0), max(ended, default=1.0)
    if begun:
        start = min(begun)
    if start > 0 and stop >= DECADES * start:
        axes.set_xscale("log")
        axes.set_xlim(start / 1.15, stop * 1.3)
        log_ticks(axes.xaxis)
        label_axes(axes, "time (seconds, logarithmic scale)", said, grid="both")
    else:
        room = 0.04 * (stop - start) or 0.5 * stop or 1.0
        axes.set_xlim(max(start - room, 0.0), stop + room)
        label_axes(axes, "time (seconds)", said, grid="both")
