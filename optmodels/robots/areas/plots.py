"""The picture of robots split over areas: who gets how many, what that costs, and what another robot would be worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.allocation import least_split

from ...errors import RequestError
from ...plotting import COLOURS, WIDE, entitle, label_axes, name_ticks, open_panels, told_by, whole_ticks
from ..plots import given_decision
from .problem import Control, RobotAreasProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Areas that have bars of their own, those with most robots first; the others are counted.
MOST_AREAS = 30
#: Areas times robots up to which costs are found for every number of robots.
MOST_COSTS = 20_000

_DYNAMIC, _STATIC = COLOURS[0], COLOURS[1]


def draw_areas(
    problem: RobotAreasProblem, result: Mapping[str, Any] | None, *, ax: Axes | None = None, panel: str | None = None
) -> Figure:
    """Draw the split of `result`, the best one without: robots and cost by area, least cost by number of robots.

    Parameters
    ----------
    problem
        Robots split over areas, with a cost.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: the best one.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own.
    panel
        ``"robots"``, ``"cost"`` or ``"total"``; by default all of them, with `ax` the first.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.
    """
    if not problem.has_objective:
        raise RequestError(f'{problem.name!r} has no cost to be drawn; add a "cost" to the instance.')
    swept = len(problem.areas) * (problem.robots + 1) <= MOST_COSTS
    decision = given_decision(problem, result)
    if decision is None:
        if problem.limits or not swept:
            raise RequestError(f"the best split of {problem.name!r} is not found in a moment; give a result to draw.")
        decision = least_split(problem.costs(problem.control), problem.robots)[0]
    told = problem.describe(decision)["areas"]
    if len(told) > MOST_AREAS:
        kept = sorted(sorted(range(len(told)), key=lambda area: (-decision[area], area))[:MOST_AREAS])
        told, left_out = [told[area] for area in kept], len(told) - MOST_AREAS
    else:
        left_out = 0
    bars = 1.0 + 0.21 * len(told)
    layout = [["robots", "cost"], *([["total", "total"]] if swept else [])]
    heights = [bars, 2.4] if swept else [bars]
    panels = open_panels(layout, ax, panel, size=(WIDE, sum(heights) + 0.6), heights=heights)
    note = f" ({left_out} areas with fewest robots left out)" if left_out else ""
    costs = {"static_objective": _STATIC} | ({"objective": _DYNAMIC} if problem.control == "dynamic" else {})
    for name, axes in panels.axes.items():
        if name == "robots":
            _draw_bars(axes, told, {"robots": COLOURS[2]}, "number of robots", f"Robots by area{note}")
            whole_ticks(axes.xaxis)
        elif name == "cost":
            _draw_bars(axes, told, costs, "cost per unit of time", "Cost by area")
        else:
            _draw_total(axes, problem)
    judged = problem.evaluate(decision)
    words = [*told_by(result, judged.objective), f"{sum(decision)} of {problem.robots} robots, {problem.control}"]
    panels.head(problem.name, words + ([] if judged.feasible else ["breaks limits"]))
    return panels.figure


def _draw_bars(axes: Axes, told: list[dict[str, Any]], shown: dict[str, str], label: str, title: str) -> None:
    """Bars by area, one below the other for each thing that is shown, with its colour."""
    places, width = np.arange(len(told)), 0.8 / len(shown)
    words = {"robots": "robots", "static_objective": "always active", "objective": "best policy"}
    for index, (name, colour) in enumerate(shown.items()):
        lengths = [area[name] for area in told]
        look: dict[str, Any] = {"color": colour, "label": words[name], "edgecolor": "black", "linewidth": 0.4}
        axes.barh(places - 0.4 + (index + 0.5) * width, lengths, width, hatch="////" if index else None, **look)
    name_ticks(axes.yaxis, places.tolist(), [area["name"] for area in told], 18)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(told) - 0.5, -0.5)
    label_axes(axes, label, grid="x")
    entitle(axes, title, None if len(shown) > 1 else [])


def _draw_total(axes: Axes, problem: RobotAreasProblem) -> None:
    robots = np.arange(problem.robots + 1)
    lines: list[tuple[Control, str, str, str]] = [("static", "always active", _STATIC, "s")]
    lines += [("dynamic", "best policies", _DYNAMIC, "o")] if problem.control == "dynamic" else []
    for control, label, colour, marker in lines:
        values = least_split(problem.costs(control), problem.robots)[1]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3, "linewidth": 1.0}
        axes.plot(robots, values, drawstyle="steps-mid", label=label, gid=control, **look)
    axes.set_ylim(bottom=0)
    whole_ticks(axes.xaxis, 12)
    label_axes(axes, "number of robots, split in the best way", "least cost per unit of time", grid="y")
    entitle(axes, "What robots are worth")
