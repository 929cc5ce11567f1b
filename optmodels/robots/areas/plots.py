"""The picture of robots split over areas: who gets how many, what that costs, and what another robot would be worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.allocation import least_split

from ...errors import RequestError
from ...plotting import COLOURS, literal, new_figure, number, plain
from ..plots import given_decision
from .problem import Control, RobotAreasProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Bars beyond this many areas could not be told apart.
MOST_AREAS = 60
#: Areas times robots up to which costs are found for every number of robots.
MOST_COSTS = 20_000

_DYNAMIC, _STATIC = COLOURS[0], COLOURS[1]


def draw_areas(problem: RobotAreasProblem, result: Mapping[str, Any] | None) -> Figure:
    """Draw the split of `result`, the best one without: robots and cost by area, least cost by number of robots.

    Parameters
    ----------
    problem
        Robots split over areas, with a cost.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: the best one.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.
    """
    if len(problem.areas) > MOST_AREAS:
        raise RequestError(f"{problem.name!r} has {len(problem.areas)} areas; a picture has room for {MOST_AREAS}.")
    if not problem.has_objective:
        raise RequestError(f'{problem.name!r} has no cost to be drawn; add a "cost" to the instance.')
    swept = len(problem.areas) * (problem.robots + 1) <= MOST_COSTS
    decision = given_decision(problem, result)
    if decision is None:
        if problem.limits or not swept:
            raise RequestError(f"the best split of {problem.name!r} is not found in a moment; give a result to draw.")
        decision = least_split(problem.costs(problem.control), problem.robots)[0]
    figure = new_figure(9.6, 6.8 if swept else 3.8, layout="constrained")
    layout: Any = [["robots", "cost"], ["total", "total"]] if swept else [["robots", "cost"]]
    panels = figure.subplot_mosaic(layout)
    for name, axes in panels.items():
        axes.set_label(name)
    told = problem.describe(decision)["areas"]
    _draw_bars(panels["robots"], told, {"robots": COLOURS[2]}, "robots")
    costs = {"static_objective": _STATIC} | ({"objective": _DYNAMIC} if problem.control == "dynamic" else {})
    _draw_bars(panels["cost"], told, costs, "part of the objective")
    if swept:
        _draw_total(panels["total"], problem)
    judged = problem.evaluate(decision)
    words = [f"objective {number(judged.objective)}", f"{sum(decision)} of {problem.robots} robots, {problem.control}"]
    words += [] if judged.feasible else ["breaks limits"]
    literal(figure.suptitle(f"{plain(problem.name, 90)}\n{', '.join(words)}", fontsize=10))
    return figure


def _draw_bars(axes: Axes, told: list[dict[str, Any]], shown: dict[str, str], label: str) -> None:
    """Bars by area, side by side for each thing that is shown, with its colour."""
    from matplotlib.ticker import MaxNLocator

    places, width = np.arange(len(told)), 0.8 / len(shown)
    words = {"robots": "robots", "static_objective": "always active", "objective": "best policy"}
    for index, (name, colour) in enumerate(shown.items()):
        heights = [area[name] for area in told]
        axes.bar(places - 0.4 + (index + 0.5) * width, heights, width, color=colour, label=words[name])
    names = [plain(area["name"], 14) for area in told]
    axes.set_xticks(places, names, rotation=0 if sum(map(len, names)) < 40 else 60)
    for text in axes.get_xticklabels():
        literal(text)
    axes.set_ylabel(label)
    if "robots" in shown:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    if len(shown) > 1:
        axes.legend()


def _draw_total(axes: Axes, problem: RobotAreasProblem) -> None:
    robots = np.arange(problem.robots + 1)
    lines: list[tuple[Control, str, str, str]] = [("static", "always active", _STATIC, "s")]
    lines += [("dynamic", "best policies", _DYNAMIC, "o")] if problem.control == "dynamic" else []
    for control, label, colour, marker in lines:
        values = least_split(problem.costs(control), problem.robots)[1]
        axes.plot(robots, values, color=colour, marker=marker, markersize=3, label=label, gid=control)
    axes.set_xlabel("robots, split in the best way")
    axes.set_ylabel("least objective")
    axes.set_ylim(bottom=0)
    axes.legend()
