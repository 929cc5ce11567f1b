"""Pictures of runs: objectives over time, gaps of strategies, answers along a parameter."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from statistics import median
from typing import TYPE_CHECKING, Any

from heuristics import relative_gap

from ..errors import RequestError, UnknownName, suggestion
from .canvas import COLOURS, MARKERS, figure_of, literal, number, plain, sheet, single_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
_CROSS = "#444444"
_DASHES = (0, (4, 2))
_NONE_FOUND = "no feasible decision found"
_NO_GAP = "no gap: nothing feasible found, or the reference is 0"


def plot_trace(results: Iterable[Row], path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the best objective so far against seconds: a step line for every run, dashed for the bound it proved.

    Parameters
    ----------
    results
        Results with a ``trace``, as files have them. Every problem gets a panel of its own, runs that differ in the
        seed alone one colour.
    path
        Where to write the picture.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    runs = _rows(results, "a result")
    problems = _distinct(_problem(run) for run in runs)
    labels = _distinct(_label(run) for run in runs)
    columns = min(len(problems), 2)
    lines = math.ceil(len(problems) / columns)
    with sheet(6.4 if columns == 1 else 10.0, 3.4 * lines + 0.8, path) as figure:
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        for panel, problem in zip(panels, problems, strict=False):
            _draw_traces(panel, [run for run in runs if _problem(run) == problem], labels)
            literal(panel.set_title(plain(problem, 60)))
        for panel in panels[len(problems) :]:
            panel.set_axis_off()
        _legend(figure, panels, labels)
    return figure


def _draw_traces(axes: Axes, runs: Sequence[Row], labels: Sequence[str]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    moments = [_finite(point.get("seconds")) for run in runs for point in run.get("trace") or ()]
    moments += [_finite(run.get("seconds")) for run in runs]
    earliest = min((moment for moment in moments if moment), default=1e-3)  # a logarithmic axis has no 0
    for run in runs:
        place = labels.index(_label(run))
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        points = list(run.get("trace") or ())
        closing = {"seconds": run.get("seconds"), "objective": run.get("objective"), "bound": run.get("bound")}
        for measure, look in (("objective", {"lw": 1.4}), ("bound", {"lw": 1.0, "ls": _DASHES})):
            known = [
                (max(_finite(point.get("seconds")) or 0.0, earliest), value)
                for point in [*points, closing]
                if (value := _finite(point.get(measure))) is not None
            ]
            if not known:
                continue
            end = max([moment for moment, _ in known] + [_finite(run.get("seconds")) or earliest])
            known.append((end, known[-1][1]))
            label = _label(run) if measure == "objective" else f"{_label(run)}: bound"
            (line,) = axes.step(*zip(*known, strict=True), where="post", color=colour, label=label, gid=measure, **look)
            if measure == "objective":
                line.set(marker=marker, markersize=4, markevery=[len(known) - 1])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("seconds (logarithmic)")
    axes.set_ylabel("objective")
    axes.grid(alpha=0.3, lw=0.5)


def plot_gaps(rows: Iterable[Row], path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw the gap of every run of a comparison, by instance and strategy, with a bar at the median of several runs.

    The gap is the relative distance of the objective above a reference that all runs of an instance share: the
    ``reference_value`` of the rows if given, else an optimum that one of them proved, else the best bound, else the
    best objective. Which of these it is stands below the name of the instance.

    Parameters
    ----------
    rows
        One for each run, as `optmodels.Comparison.rows` makes them, or results as files have them.
    path
        Where to write the picture.
    ax
        Axes to draw into; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    runs = _rows(rows, "a row of a comparison")
    problems = _distinct(_problem(run) for run in runs)
    labels = _distinct(_label(run) for run in runs)
    with single_panel(max(5.0, 1.5 + len(problems) * max(1.6, 0.4 * len(labels))), 4.2, path, ax) as axes:
        names, failed = [], []
        for at, problem in enumerate(problems):
            of_problem = [run for run in runs if _problem(run) == problem]
            reference, origin = _reference(of_problem)
            names.append(plain(problem, 24) + (f"\n{origin} {number(reference)}" if reference is not None else ""))
            for place, label in enumerate(labels):
                x = at + (place - (len(labels) - 1) / 2) * 0.8 / len(labels)
                of_label = [run for run in of_problem if _label(run) == label]
                gaps = [_gap(_answer(run), reference) for run in of_label]
                failed += [x for gap in gaps if gap is None]
                _draw_strip(axes, x, [100 * gap for gap in gaps if gap is not None], place, label, 0.8 / len(labels))
        _draw_crosses(axes, failed, 0.97, _NO_GAP)
        for edge in range(1, len(problems)):
            axes.axvline(edge - 0.5, color="#CCCCCC", lw=0.6)
        axes.axhline(0.0, color="black", lw=0.6, zorder=1)
        axes.set_xlim(-0.5, len(problems) - 0.5)
        _name_ticks(axes, names)
        axes.set_xlabel("instance")
        axes.set_ylabel("gap above the reference (%)")
        axes.grid(axis="y", alpha=0.3, lw=0.5)
        _legend(figure_of(axes) if ax is None else ax, [axes], labels)
    return figure_of(axes)


def _draw_strip(axes: Axes, x: float, gaps: Sequence[float], place: int, label: str, width: float) -> None:
    if not gaps:
        return
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    # Spread evenly in the order of the runs: no random jitter, so the same picture every time.
    step = 0.5 * width / max(len(gaps) - 1, 1)
    xs = [x + (k - (len(gaps) - 1) / 2) * step for k in range(len(gaps))]
    axes.plot(xs, gaps, ls="none", marker=marker, color=colour, ms=5, mec="black", mew=0.4, label=label, gid="gaps")
    if len(gaps) > 1:
        axes.hlines(median(gaps), x - 0.38 * width, x + 0.38 * width, color=colour, lw=2.0, zorder=2, gid="medians")


def _reference(runs: Sequence[Row]) -> tuple[float | None, str]:
    """What the runs of an instance are measured against, and what it is."""
    for run in runs:
        value = _finite(run.get("reference_value"))
        if value is not None:
            return value, plain(run.get("reference") or "reference", 24)
    found = [(value, run.get("status")) for run in runs if (value := _answer(run)) is not None]
    optima = [value for value, status in found if status == "optimal"]
    bounds = [value for run in runs if (value := _finite(run.get("bound"))) is not None]
    if optima:
        return min(optima), "optimum"
    if bounds:
        return max(bounds), "bound"
    return (min(value for value, _ in found), "best seen") if found else (None, "")


def _gap(objective: float | None, reference: float | None) -> float | None:
    return None if objective is None or reference is None else _finite(relative_gap(objective, reference))


def plot_sweep(
    rows: Iterable[Row],
    x: str,
    y: str = "objective",
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw one measure along a varied parameter, a line for each strategy, and its bound if it is the objective.

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
        Axes to draw into; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    runs = _rows(rows, "a row of a sweep")
    for name in (x, y):
        if all(_column(run, name, _NONE_FOUND) is _NONE_FOUND for run in runs):
            raise UnknownName(f"no row has a column {name!r}. {suggestion(name, {key for run in runs for key in run})}")
    labels = _distinct(_label(run) for run in runs)
    with single_panel(6.4, 4.2, path, ax) as axes:
        values = [_column(run, x) for run in runs]
        numeric = all(_finite(value) is not None for value in values)
        names = _distinct(plain(value, 16) for value in values)
        where = [float(value) if numeric else float(names.index(plain(value, 16))) for value in values]
        failed: list[float] = []
        for place, label in enumerate(labels):
            mine = [(at, run) for at, run in zip(where, runs, strict=True) if _label(run) == label]
            known = [(at, value) for at, run in mine if (value := _answer(run, y)) is not None]
            failed += [at for at, run in mine if _answer(run, y) is None]
            colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
            _draw_line(axes, known, label, {"color": colour, "marker": marker, "ms": 4.5, "lw": 1.4, "gid": "values"})
            bounds = [(at, value) for at, run in mine if (value := _finite(run.get("bound"))) is not None]
            if y == "objective":
                look = {"color": colour, "lw": 1.0, "ls": _DASHES, "gid": "bounds"}
                _draw_line(axes, bounds, f"{label}: bound", look, best=max)
        _draw_crosses(axes, failed, 0.03, _NONE_FOUND)
        if not numeric:
            _name_ticks(axes, names)
        literal(axes.xaxis.label).set_text(plain(x))
        literal(axes.yaxis.label).set_text(plain(y))
        problems = _distinct(str(run["problem"]) for run in runs if run.get("problem"))
        if len(problems) == 1:
            literal(axes.set_title(plain(problems[0])))
        axes.grid(alpha=0.3, lw=0.5)
        _legend(figure_of(axes) if ax is None else ax, [axes], labels)
    return figure_of(axes)


def _draw_line(
    axes: Axes, known: Sequence[tuple[float, float]], label: str, look: Mapping[str, Any], best: Any = median
) -> None:
    if not known:
        return
    xs = sorted({at for at, _ in known})
    axes.plot(xs, [best([value for at, value in known if at == here]) for here in xs], label=label, **look)
    if best is median and len(xs) < len(known):
        axes.plot(*zip(*known, strict=True), ls="none", marker=".", color=look["color"], alpha=0.5, gid="runs")


def _draw_crosses(axes: Axes, xs: Sequence[float], height: float, label: str) -> None:
    """Mark runs without a value near an edge of the picture, whatever its scale."""
    if xs:
        look: dict[str, Any] = {"color": _CROSS, "ms": 6, "transform": axes.get_xaxis_transform(), "gid": "failed"}
        axes.plot(xs, [height] * len(xs), "x", label=label, **look)
        axes.margins(y=0.12)


def _name_ticks(axes: Axes, names: Sequence[str]) -> None:
    for text in axes.set_xticks(range(len(names)), names):
        literal(text.label1)


# -- shared ------------------------------------------------------------------------------------------------------------


def _rows(rows: Iterable[Row], what: str) -> list[Row]:
    runs = list(rows)
    if not runs:
        raise RequestError("there is nothing to draw: no rows came; run something first.")
    for run in runs:
        if not isinstance(run, Mapping):
            raise RequestError(f"{what} is a dict, as a file has it, and {type(run).__name__} came.")
    return _named(runs)


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _named(runs: Sequence[Row]) -> list[Row]:
    """The runs, each with a label: that of a comparison, else the strategy and whatever parameters tell it apart.

    Results carry all parameters, most of them at their defaults: only those that differ between runs of the same
    strategy are worth reading.
    """
    values: dict[tuple[Any, Any], set[str]] = defaultdict(set)
    parameters = [given if isinstance(given := run.get("parameters"), Mapping) else {} for run in runs]
    for run, given in zip(runs, parameters, strict=True):
        for name, value in given.items():
            values[run.get("strategy"), name].add(str(value))
    named: list[Row] = []
    for run, given in zip(runs, parameters, strict=True):
        label, strategy = run.get("label"), run.get("strategy")
        if not isinstance(label, Mapping):
            told = ",".join(f"{k}={v}" for k, v in given.items() if len(values[strategy, k]) > 1)
            label = {"problem": run.get("problem"), "strategy": f"{strategy or 'decision'}{':' if told else ''}{told}"}
        named.append({**run, "label": label})
    return named


def _label(run: Row) -> str:
    return str(run["label"].get("strategy"))


def _problem(run: Row) -> str:
    return str(run["label"].get("problem") or "")


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        return None
    return float(value)


def _answer(run: Row, name: str = "objective") -> float | None:
    """A number of the run's decision, ``None`` if that is not feasible: such an objective compares with nothing."""
    if run.get("status") in ("infeasible", "unknown") or run.get("violations"):
        return None
    return _finite(_column(run, name))


def _column(run: Row, name: str, absent: Any = None) -> Any:
    if name in run:
        return run[name]
    head, _, rest = name.partition(".")
    return _column(run[head], rest, absent) if rest and isinstance(run.get(head), Mapping) else absent


def _legend(owner: Figure | Axes, panels: Iterable[Axes], labels: Sequence[str]) -> None:
    """One entry for each label, below the panels, or in axes that were given: strategies, what is dashed, crossed."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    drawn: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            drawn.setdefault(label, handle)
    entries = [(drawn[label], plain(label, 40)) for label in labels if label in drawn]
    if any(label.endswith(": bound") for label in drawn):
        entries.append((Line2D([], [], color=_CROSS, lw=1.0, ls=_DASHES), "bound proved (same colour)"))
    if any(artist.get_gid() == "medians" for panel in panels for artist in panel.collections):
        entries.append((Line2D([], [], color=_CROSS, lw=2.0), "median of the runs"))
    entries += [(drawn[label], label) for label in (_NONE_FOUND, _NO_GAP) if label in drawn]
    if entries:
        handles, texts = zip(*entries, strict=True)
        if not isinstance(owner, Figure):
            for text in owner.legend(handles, texts, loc="best").get_texts():
                literal(text)
            return
        # As many columns as fit: letters are about 5 points wide, a handle and the space after it about 50.
        columns = int(72 * owner.get_figwidth() / (5 * max(len(text) for text in texts) + 50))
        columns = max(1, min(columns, len(handles), 4))
        legend = owner.legend(handles, texts, loc="outside lower center", ncols=columns, frameon=False)
        for text in legend.get_texts():
            literal(text)
