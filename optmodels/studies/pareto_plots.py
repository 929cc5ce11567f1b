"""The picture of a Pareto front: its points and steps, the hull that weighted sums reach, and what is dominated."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from ..plotting import (
    COLOURS,
    INK,
    NARROW,
    NOTE,
    check_path,
    entitle,
    house_style,
    label_axes,
    legend_below,
    measure_words,
    open_panels,
    save,
)  # fmt: skip
from .pareto_front import Front, FrontPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Fronts of more points have smaller markers, and no names of decisions.
FEW = 40
#: Nor are those of points this close to a named one, in widths of the picture.
CLOSE = 0.07
#: Decisions of more letters are not written beside their points.
LONGEST_NAME = 12

_FRONT, _HULL = COLOURS[0], COLOURS[1]


def plot_front(front: Front, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw a front: the second measure to the right, the first one upwards.

    Steps separate what is attained from what is not; the dashed line is the hull, and only points on it are found by
    weighted sums of the two measures.

    Parameters
    ----------
    front
        With one point at least.
    path
        Where to write the picture, in the format its name ends in.
    ax
        Axes of the caller to draw into; ``None``: a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.
    """
    if not front.points:
        raise RequestError(f"there is no point of a front of {front.problem!r} to draw.")
    check_path(path)
    with house_style():
        panels = open_panels([["front"]], ax, size=(NARROW, 3.8))
        axes = panels["front"]
        _draw(axes, front)
        handles = axes.get_legend_handles_labels()[0]
        entitle(axes, "", [] if panels.owned else handles)
        if panels.owned:
            legend_below(panels.figure, handles)
        supported = sum(point.supported for point in front.points)
        known = "all of the front" if front.exact else "not proved to be all"
        panels.head(front.problem, [f"{len(front.points)} points", f"{supported} of them on the hull", known])
        save(panels.figure, path)
    return panels.figure


def _draw(axes: Axes, front: Front) -> None:
    first, second = front.objectives
    if front.dominated:
        across, up = [b for _, b in front.dominated], [a for a, _ in front.dominated]
        axes.plot(
            across, up, ".", color="#B8B8B8", markersize=4, zorder=1, label="dominated", rasterized=len(up) > 2000
        )
    ordered = sorted(front.points, key=lambda point: point.values[1])
    # Between two points the one that is no worse in the second measure rules: on its left if more is wanted.
    rule = "steps-pre" if second.maximise else "steps-post"
    axes.plot(*_places(ordered), "-", drawstyle=rule, color=_FRONT, linewidth=1.0, alpha=0.6, zorder=2)
    hull = [point for point in ordered if point.supported]
    if len(hull) > 1:
        axes.plot(*_places(hull), "--", color=_HULL, linewidth=1.0, zorder=3, label="hull")
    size = 6.0 if len(ordered) <= FEW else 3.0
    for shown, label, filled in (
        (hull, "on the hull: a weighted sum finds it", True),
        ([point for point in ordered if not point.supported], "above the hull: no weighted sum does", False),
    ):
        if shown:
            axes.plot(
                *_places(shown),
                "o" if filled else "s",
                color=_FRONT,
                markerfacecolor=_FRONT if filled else "white",
                markersize=size,
                linestyle="none",
                zorder=4,
                label=label,
            )
    if len(ordered) <= FEW:
        _name(axes, hull)
    x, y = (
        f"{measure_words(front.kind, one.measure, width)}\n({'more' if one.maximise else 'less'} is better)"
        for one, width in ((second, 44), (first, 32))
    )
    axes.margins(0.08)
    label_axes(axes, x, y, grid="both")


def _places(points: Sequence[FrontPoint]) -> tuple[list[float], list[float]]:
    return [point.values[1] for point in points], [point.values[0] for point in points]


def _name(axes: Axes, points: Sequence[FrontPoint]) -> None:
    """Write short decisions beside their points, where there is room between neighbours."""
    from matplotlib.patheffects import withStroke

    width = points[-1].values[1] - points[0].values[1]
    last = -math.inf
    for point in points:
        text = ",".join(str(entry) for entry in point.decision) if isinstance(point.decision, tuple) else ""
        up, across = point.values
        if text and len(text) <= LONGEST_NAME and across - last >= CLOSE * width:
            halo = [withStroke(linewidth=1.5, foreground="white")]
            look: dict[str, Any] = {"textcoords": "offset points", "fontsize": NOTE, "color": INK, "zorder": 5}
            axes.annotate(text, (across, up), (4, 6), path_effects=halo, **look)
            last = across
