"""The picture of a robot fleet: up to how many robots are sent out, or who is sent in which state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queueing.robots.fleet import RobotFleet

from ...plotting import COLOURS, MARKERS, literal, new_figure, plain
from ..plots import OFF, ON, decision_to_draw, summary
from .problem import RobotFleetProblem
from .structure import decision_rates, targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: States up to which the best policy is found for a picture without a result.
MOST_STATES = 100_000
#: States of the environment, and classes, that a picture has room for.
MOST_WORLDS, MOST_CLASSES = 4, 6
#: Cells of a map up to which each is drawn as a shape of its own: files with more of them grow large.
MOST_CELLS = 200
#: What comes up in fewer decisions than one of so many is drawn pale.
RARE = 1e6

Grid = NDArray[np.float64]


def draw_fleet(problem: RobotFleetProblem, result: Mapping[str, Any] | None) -> Figure:
    """Draw the policy of `result`, the best one without.

    Where any number is sent: up to how many, by pages. With two classes of exponential journeys: who is sent, by robots
    of both classes that are out, at three numbers of pages. Else: who is sent, or how often, by pages and robots out,
    for each state of the environment.

    Parameters
    ----------
    problem
        A fleet of robots.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: the best one.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.
    """
    small = problem.fleet.states <= MOST_STATES
    decision = decision_to_draw(problem, result, (lambda: problem.first_policy(quick=True)) if small else None)
    fleet, actions = problem.fleet, problem.actions_of(decision)
    figure = new_figure(9.6, 3.9, layout="constrained")
    if fleet.switching == "any":
        _draw_targets(figure.add_subplot(label="targets"), fleet, actions)
    elif len(fleet.classes) == fleet.phases == 2:
        _draw_pairs(figure, problem, actions)
    else:
        _draw_totals(figure, problem, actions)
    literal(figure.suptitle(f"{plain(problem.name, 90)}\n{summary(problem, decision, result)}", fontsize=10))
    return figure


def _draw_targets(axes: Axes, fleet: RobotFleet, actions: NDArray[np.int64]) -> None:
    by_pages = targets(fleet, actions)
    pages = np.arange(len(by_pages))
    for world in range(min(fleet.environments, MOST_WORLDS)):
        style: dict[str, Any] = {"color": COLOURS[world], "marker": MARKERS[world], "markersize": 4}
        label = f"environment {world}" if fleet.environments > 1 else None
        axes.step(pages, by_pages[:, world], where="mid", label=label, gid=f"target-{world}", **style)
    axes.axhline(fleet.classes[0].robots, color="#777777", linewidth=0.8, linestyle=":", gid="robots")
    axes.set_xlabel("pages q that an event leaves")
    axes.set_ylabel("robots out after the decision")
    axes.set_title("up to how many robots are out after a decision that is taken with none out" + _shown(fleet))
    _whole_ticks(axes)
    if fleet.environments > 1:
        axes.legend()


def _draw_pairs(figure: Figure, problem: RobotFleetProblem, actions: NDArray[np.int64]) -> None:
    """Maps over the robots of two classes that are out, in the likeliest state of the environment."""
    fleet = problem.fleet
    world = 0 if fleet.environment is None else int(np.argmax(fleet.environment.shares))
    shape = (fleet.capacity + 1, fleet.classes[0].robots + 1, fleet.classes[1].robots + 1)
    grids = actions.reshape(fleet.shape)[:, :, world].reshape(shape)
    rates = decision_rates(fleet, actions).reshape(fleet.shape)[:, :, world].reshape(shape)
    lengths = sorted({min(1, fleet.capacity), fleet.capacity // 2, fleet.capacity - 1})
    panels: Any = figure.subplots(1, len(lengths), sharey=True, squeeze=False)[0]
    for axes, pages in zip(panels, lengths, strict=True):
        axes.set_label(f"pages-{pages}")
        _draw_map(axes, grids[pages].astype(np.float64), rates[pages] / rates.sum(), _classes(problem))
        axes.set_title(f"{pages} page{'s' if pages != 1 else ''} left" + (f", environment {world}" if world else ""))
        axes.set_xlabel(f"{plain(problem.plan.labels[1], 30)}: robots out")
    panels[0].set_ylabel(f"{plain(problem.plan.labels[0], 30)}: robots out")
    _add_legend(figure, _classes(problem))


def _draw_totals(figure: Figure, problem: RobotFleetProblem, actions: NDArray[np.int64]) -> None:
    """Maps over pages and all robots that are out, one for each state of the environment."""
    fleet = problem.fleet
    frequencies, rates = by_total(fleet, actions)
    several = len(fleet.classes) > 1
    shown = frequencies.argmax(axis=-1).astype(np.float64) if several else frequencies[..., 1]
    colours = _classes(problem) if several else {"no robot is sent": OFF, "one is sent": ON}
    worlds = min(fleet.environments, MOST_WORLDS)
    panels: Any = figure.subplots(1, worlds, sharey=True, squeeze=False)[0]
    for world, axes in enumerate(panels):
        axes.set_label(f"environment-{world}")
        _draw_map(axes, shown[:, :, world], rates[:, :, world] / rates.sum(), colours)
        title = f"environment {world}" if fleet.environments > 1 else ""
        if not several and fleet.phases > 1:
            title += f"{': ' if title else ''}share of decisions that send a robot"
        axes.set_title(title + (_shown(fleet) if world == worlds - 1 else ""))
        axes.set_xlabel("robots out, before the decision")
    panels[0].set_ylabel("pages q that an event leaves")
    _add_legend(figure, colours, "most often: " if several else "")


def by_total(fleet: RobotFleet, actions: NDArray[np.int64]) -> tuple[Grid, Grid]:
    """By pages, number of robots out and environment: how often each action is taken, and how often one is decided on.

    States that share these count as often as they come up, or all alike where none does.
    """
    out = fleet.robots_out.sum(axis=1)
    ways = np.bincount(out)[out].astype(np.float64)[:, np.newaxis, np.newaxis]
    # Places first: what is added up runs over the first axis.
    rates = np.moveaxis(decision_rates(fleet, actions).reshape(fleet.shape), 1, 0)
    taken = np.moveaxis(actions.reshape(fleet.shape), 1, 0)

    def added_up(by_place: Grid) -> Grid:
        found = np.zeros((int(out.max()) + 1, *by_place.shape[1:]))
        np.add.at(found, out, by_place)
        return found

    met = added_up(rates)
    weights = np.divide(rates, met[out], out=np.broadcast_to(1.0 / ways, rates.shape).copy(), where=met[out] > 0)
    frequencies = [added_up(weights * (taken == action)) for action in range(len(fleet.classes) + 1)]
    return np.moveaxis(np.stack(frequencies, axis=-1), 0, 1), np.moveaxis(met, 0, 1)


# -- parts -------------------------------------------------------------------------------------------------------------


def _classes(problem: RobotFleetProblem) -> dict[str, str]:
    """What is done to its colour; classes beyond those that can be told apart share one."""
    labels = [plain(label, 30) for label in problem.plan.labels]
    return {"nobody": OFF} | {label: COLOURS[min(i, MOST_CLASSES - 1)] for i, label in enumerate(labels)}


def _draw_map(axes: Axes, grid: Grid, shares: Grid, colours: Mapping[str, str]) -> None:
    """A map of actions, or of the probability of the second of two; pale where hardly anything is decided."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    edges = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    listed = list(colours.values())
    style: dict[str, Any] = {"cmap": ListedColormap(listed), "vmin": -0.5, "vmax": len(listed) - 0.5}
    if len(listed) == 2:
        style = {"cmap": LinearSegmentedColormap.from_list("share", listed), "vmin": 0.0, "vmax": 1.0}
    style |= {"edgecolors": "white", "linewidth": 0.4} if max(grid.shape) <= 45 else {}
    mesh: Any = axes.pcolormesh(*edges, grid, gid="map", **style)
    pale = np.ma.masked_where(shares * RARE >= 1.0, np.zeros(grid.shape))
    veil: Any = axes.pcolormesh(*edges, pale, cmap=ListedColormap(["white"]), alpha=0.6, gid="rare")
    for drawn in (mesh, veil):
        drawn.set_rasterized(grid.size > MOST_CELLS)
    _whole_ticks(axes)


def _add_legend(figure: Figure, colours: Mapping[str, str], kind: str = "") -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=f"{kind}{label}") for label, colour in colours.items()]
    handles.append(Patch(facecolor="white", edgecolor="#BBBBBB", label="pale: less than once in a million decisions"))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))


def _shown(fleet: RobotFleet) -> str:
    hidden = fleet.environments > MOST_WORLDS
    return f" ({MOST_WORLDS} of {fleet.environments} states of the environment)" if hidden else ""


def _whole_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=8, integer=True))
