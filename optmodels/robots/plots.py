"""Pictures of robot problems: maps as in Figures 2 to 4 of Talim et al. (2001), what control gains, maps of fleets."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import Problem
from queueing import best_policy
from queueing.robots import curves
from queueing.robots.fleet import RobotFleet

from ..costs import WeightedSum
from ..errors import InstanceError, RequestError
from ..plotting import (
    COLOURS,
    INK,
    MARKERS,
    NARROW,
    WIDE,
    Panels,
    check_path,
    entitle,
    house_style,
    label_axes,
    legend_below,
    log_ticks,
    number,
    open_panels,
    plain,
    save,
    told_by,
    whole_ticks,
)  # fmt: skip
from .fleet import ControlledRobots
from .pricing import PricedRobots
from .problem import RobotsProblem
from .static import Numbers
from .structure import decision_rates, targets

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: States up to which a picture shows what control gains at other prices too: the best policy is found for each.
MOST_STATES = 5_000
#: Weights of starvation that are tried, and how far from that of the problem.
WEIGHTS, SPREAD = 25, 10.0

#: States up to which the best policy of a fleet is found for a picture without a result.
MOST_FLEET_STATES = 100_000
#: States of the environment, and classes, that a picture has room for.
MOST_WORLDS, MOST_CLASSES = 4, 6
#: Cells of a map of a fleet up to which each is drawn as a shape of its own: files with more of them grow large.
MOST_CELLS = 200
#: What comes up in fewer decisions than one of so many is drawn pale.
RARE = 1e6

Grid = NDArray[np.float64]

ON, OFF, _NONE = COLOURS[0], "#DDE6EC", "#FFFFFF"


def draw_robots(
    problem: PricedRobots, result: Mapping[str, Any] | None, *, ax: Axes | None = None, panel: str | None = None
) -> Figure:
    """Draw a problem of kind "robots" and the decision of `result`, the best one without.

    Parameters
    ----------
    problem
        A problem of kind "robots": the base model, a fleet, or areas.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: the best policy.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own.
    panel
        Name of a panel: ``"arrival"``, ``"departure"`` or ``"gamma"`` of the base model; ``"robots"``, ``"cost"`` or
        ``"total"`` of areas; of a fleet what the axes of its picture are called. With `ax`, the first of these.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.

    Examples
    --------
    >>> from optmodels.robots import RobotsProblem, draw_robots
    >>> problem = RobotsProblem(robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, cost={"starvation": 1.5})
    >>> [axes.get_label() for axes in draw_robots(problem, None).axes]
    ['departure', 'arrival', 'gamma']
    """
    from .areas import RobotAreasProblem, draw_areas

    if isinstance(problem, RobotAreasProblem):
        return draw_areas(problem, result, ax=ax, panel=panel)
    if isinstance(problem, RobotsProblem):
        return draw_policy(problem, result, ax=ax, panel=panel)
    if isinstance(problem, ControlledRobots):
        return draw_fleet(problem, result, ax=ax, panel=panel)
    raise RequestError(f"no picture is known of problems like {getattr(problem, 'name', problem)!r}.")


def draw_policy(
    problem: RobotsProblem, result: Mapping[str, Any] | None, *, ax: Axes | None = None, panel: str | None = None
) -> Figure:
    """Draw the policy of `result`, the best one without: after a departure, after an arrival, and its price.

    Where prices are those of Talim et al. (2001) and the system is small, a third panel shows the least cost and that
    of the best fixed number of robots as functions of the weight of starvation.
    """

    def best() -> tuple[int, ...]:
        return problem.decision_of(best_policy(problem.queue, problem.state_costs).policy)

    decision = decision_to_draw(problem, result, best)
    policy = problem.policy_of(decision)
    swept = _gamma(problem) is not None and policy.size <= MOST_STATES
    layout = [["departure", "arrival"], *([["gamma", "gamma"]] if swept else [])]
    size, heights = (WIDE, 5.4 if swept else 3.1), [1.2, 1.0] if swept else [1.0]
    first = panel or "arrival" if ax is not None else panel
    panels = open_panels(layout, ax, first, size=size, heights=heights)
    for name, axes in panels.axes.items():
        if name == "gamma":
            _draw_gammas(axes, problem, default_gammas(problem))
        else:
            _draw_map(axes, policy, ("departure", "arrival").index(name))
    panels.head(problem.name, summary(problem, decision, result))
    return panels.figure


def plot_static_dynamic(
    problem: RobotsProblem,
    gammas: Sequence[float] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the least cost and that of the best fixed number of robots, for these weights of starvation.

    Parameters
    ----------
    problem
        A problem of the base model that is priced by starvation and losses alone.
    gammas
        Weights of starvation; by default some around that of the problem.
    path
        Where to write the picture; ``None``: it is only returned.
    ax
        Axes of the caller to draw into; ``None``: a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    RequestError
        If other measures are priced, or the file cannot be written.

    Examples
    --------
    >>> from optmodels.robots import RobotsProblem, plot_static_dynamic
    >>> problem = RobotsProblem(robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, cost={"starvation": 1.5})
    >>> [axes.get_label() for axes in plot_static_dynamic(problem, [0.5, 1.0]).axes]
    ['gamma']
    """
    if _gamma(problem) is None:
        raise RequestError(
            f"{problem.name!r} must be priced by starvation and losses alone to be drawn over the weight of "
            "starvation, and it is not; leave the other prices out."
        )
    check_path(path)
    with house_style():
        panels = open_panels([["gamma"]], ax, size=(NARROW, 3.2))
        _draw_gammas(panels["gamma"], problem, default_gammas(problem) if gammas is None else gammas)
        panels.head(problem.name, ())
        save(panels.figure, path)
    return panels.figure


def default_gammas(problem: RobotsProblem) -> list[float]:
    """Weights of starvation around that of the problem."""
    own = _gamma(problem) or 1.0
    return [float(value) for value in np.geomspace(own / SPREAD, own * SPREAD, WEIGHTS)]


def static_and_dynamic(problem: RobotsProblem, gammas: Sequence[float]) -> list[tuple[float, float, Numbers]]:
    """By weight of starvation: least cost, cost of the best fixed number of the robots that there are, that number."""
    found: list[tuple[float, float, Numbers]] = []
    for gamma in gammas:
        cost = WeightedSum({"starvation": float(gamma), "loss_rate": problem.prices["loss_rate"]})
        asked = RobotsProblem(
            name=problem.name,
            robots=problem.robots,
            capacity=problem.capacity,
            arrival_rate=problem.arrival_rate,
            service_rate=problem.service_rate,
            cost=cost,
        )
        fixed = asked.best_static
        assert fixed is not None
        found.append((best_policy(asked.queue, asked.state_costs).gain, fixed.objective, fixed.robots))
    return found


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _gamma(problem: RobotsProblem) -> float | None:
    """The weight of starvation, if starvation and losses alone have a price."""
    prices = {name: weight for name, weight in problem.prices.items() if weight != 0}
    if set(prices) != {"starvation", "loss_rate"} or problem.limits or min(prices.values()) < 0:
        return None
    return prices["starvation"]


def decision_to_draw(
    problem: Any, result: Mapping[str, Any] | None, best: Callable[[], tuple[int, ...]] | None
) -> tuple[int, ...]:
    """The policy of a result, checked to be one of this problem; without, the best one, where it is soon found."""
    given = given_decision(problem, result)
    if given is not None:
        return given
    if best is None or problem.unimprovable() is not None or problem.limits:
        raise RequestError(
            f"{problem.name!r} has no best policy that could be found in a moment; give a result, whose policy can "
            "be drawn."
        )
    return best()


def given_decision(problem: Problem, result: Mapping[str, Any] | None) -> tuple[int, ...] | None:
    """The decision of a result, checked to be one of this problem; ``None`` if there is none."""
    if result is None or result.get("decision") is None:
        return None
    of, given = result.get("problem"), result["decision"]
    if of is not None and of != problem.name:
        raise InstanceError("problem", of, f"the picture is of {problem.name!r}; give a result of that instance.")
    try:
        return tuple(problem.space.check(given))
    except (TypeError, ValueError) as refusal:
        raise InstanceError("decision", given, f"it is no policy of {problem.name!r}: {refusal}") from None


def summary(problem: Any, decision: tuple[int, ...], result: Mapping[str, Any] | None) -> list[str]:
    """What a policy costs, what is known about it, and what the best fixed number of robots costs."""
    judged = problem.evaluate(decision)
    words = told_by(result, judged.objective if problem.has_objective else None)
    words += [] if judged.feasible else ["breaks limits"]
    fixed = problem.best_static if problem.has_objective else None
    if fixed is not None and math.isfinite(fixed.objective):
        robots = fixed.robots if isinstance(fixed.robots, int) else " + ".join(map(str, fixed.robots))
        words.append(f"best fixed number {robots}: {number(fixed.objective)}")
    return words


def actions(policy: NDArray[np.int8], event: int) -> NDArray[np.int8]:
    """By pages and robots *before* an event, 0 a departure or 1 an arrival: the action, or -1 if there is none."""
    most = policy.shape[0] - 1
    found: NDArray[np.int8] = np.full(policy.shape, -1, dtype=np.int8)
    if event == 0:
        found[1:] = policy[:-1]
    else:
        found[:, 1:] = policy[np.minimum(np.arange(most + 1) + 1, most), :-1]
    return found


def _draw_map(axes: Axes, policy: NDArray[np.int8], event: int) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    grid = actions(policy, event)
    lines: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.6} if max(grid.shape) <= 25 else {}
    colours, norm = ListedColormap([_NONE, OFF, ON]), BoundaryNorm([-1.5, -0.5, 0.5, 1.5], 3)
    _draw_mesh(axes, grid, 20_000, ticks=10, cmap=colours, norm=norm, gid=f"map-{event}", **lines)
    robots = np.arange(grid.shape[1])
    curve = np.array([np.nan if value is None else value for value in curves(policy)[event]], dtype=np.float64)
    look: dict[str, Any] = {"color": COLOURS[1], "linewidth": 1.4, "label": "switching curve"}
    drawn = axes.step(robots, curve + 0.5, where="mid", gid=f"curve-{event}", **look)
    label_axes(axes, "active robots before the event", "pages in the system before the event")
    handles: list[Artist] = [Patch(color=ON, label="activate a robot"), Patch(color=OFF, label="do not")]
    if (grid < 0).any():
        handles.append(Patch(facecolor=_NONE, edgecolor=INK, linewidth=0.5, label="cannot be"))
    entitle(axes, "After a departure" if event == 0 else "After an arrival", [*handles, *drawn])


def _draw_mesh(axes: Axes, grid: NDArray[Any], most: int, ticks: int = 8, **style: Any) -> None:
    """A cell for each number, centred on its place; more than `most` of them as dots, or files grow large."""
    edges = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    mesh: Any = axes.pcolormesh(*edges, grid, **style)
    mesh.set_rasterized(grid.size > most)
    _whole_axes(axes, ticks)


def _whole_axes(axes: Axes, most: int = 8) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        whole_ticks(axis, most)


def _draw_gammas(axes: Axes, problem: RobotsProblem, gammas: Sequence[float]) -> None:
    found = static_and_dynamic(problem, gammas)
    dynamic, static = [row[0] for row in found], [row[1] for row in found]
    axes.plot(gammas, static, color=COLOURS[1], marker="s", markersize=3, label="best fixed number", gid="static")
    axes.plot(gammas, dynamic, color=COLOURS[0], marker="o", markersize=3, label="best policy", gid="dynamic")
    own = _gamma(problem)
    if own is not None and min(gammas) <= own <= max(gammas):
        axes.axvline(own, color=INK, linewidth=0.8, linestyle=":", gid="own", label=f"this instance: {number(own)}")
    axes.set_xscale("log")
    log_ticks(axes.xaxis)
    if min(dynamic) > 0:
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
    label_axes(axes, "weight of starvation (gamma)", "cost per unit of time", grid="both")
    entitle(axes, "Control against the best fixed number of robots")


# -- fleets ------------------------------------------------------------------------------------------------------------


def draw_fleet(
    problem: ControlledRobots, result: Mapping[str, Any] | None, *, ax: Axes | None = None, panel: str | None = None
) -> Figure:
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
    ax
        Axes of the caller to draw one map into; ``None``: a figure of its own.
    panel
        Name of the map: ``"targets"``, ``"pages-5"``, ``"environment-0"``; by default all of them, with `ax` the first.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.
    """
    small = problem.fleet.states <= MOST_FLEET_STATES
    decision = decision_to_draw(problem, result, (lambda: problem.first_policy(quick=True)) if small else None)
    fleet, actions = problem.fleet, problem.actions_of(decision)
    if fleet.switching == "any":
        panels = open_panels([["targets"]], ax, panel, size=(NARROW, 3.2))
        _draw_targets(panels["targets"], fleet, actions)
    elif len(fleet.classes) == fleet.phases == 2:
        panels = _draw_pairs(problem, actions, ax, panel)
    else:
        panels = _draw_totals(problem, actions, ax, panel)
    panels.head(problem.name, summary(problem, decision, result))
    return panels.figure


def _draw_targets(axes: Axes, fleet: RobotFleet, actions: NDArray[np.int64]) -> None:
    by_pages = targets(fleet, actions)
    pages = np.arange(len(by_pages))
    for world in range(min(fleet.environments, MOST_WORLDS)):
        style: dict[str, Any] = {"color": COLOURS[world], "marker": MARKERS[world], "markersize": 4}
        label = f"environment {world}" if fleet.environments > 1 else None
        axes.step(pages, by_pages[:, world], where="mid", label=label, gid=f"target-{world}", **style)
    look: dict[str, Any] = {"color": INK, "linewidth": 0.8, "linestyle": ":"}
    axes.axhline(fleet.classes[0].robots, gid="robots", label="robots there are", **look)
    label_axes(axes, "pages in the system after the event", "robots out after the decision")
    _whole_axes(axes)
    entitle(axes, "How many robots are sent out, with none out before" + _shown(fleet))


def _draw_pairs(problem: ControlledRobots, actions: NDArray[np.int64], ax: Axes | None, panel: str | None) -> Panels:
    """Maps over the robots of two classes that are out, in the likeliest state of the environment."""
    fleet = problem.fleet
    world = 0 if fleet.environment is None else int(np.argmax(fleet.environment.shares))
    shape = (fleet.capacity + 1, fleet.classes[0].robots + 1, fleet.classes[1].robots + 1)
    grids = actions.reshape(fleet.shape)[:, :, world].reshape(shape)
    rates = decision_rates(fleet, actions).reshape(fleet.shape)[:, :, world].reshape(shape)
    lengths = sorted({min(1, fleet.capacity), fleet.capacity // 2, fleet.capacity - 1})
    names = {f"pages-{pages}": pages for pages in lengths}
    panels = open_panels([list(names)], ax, panel, size=(WIDE, 3.2), sharey=True)
    colours = _classes(problem)
    for name, axes in panels.axes.items():
        pages = names[name]
        _draw_actions(axes, grids[pages].astype(np.float64), rates[pages] / rates.sum(), colours)
        label_axes(axes, f"{plain(problem.plan.labels[1], 24)}: robots out")
        if axes is next(iter(panels.axes.values())):
            label_axes(axes, y=f"{plain(problem.plan.labels[0], 24)}: robots out")
        title = f"{pages} page{'s' if pages != 1 else ''} left" + (f", environment {world}" if world else "")
        entitle(axes, title, [] if panels.owned else _entries(colours, "send: "))
    if panels.owned:
        legend_below(panels.figure, _entries(colours, "send: "))
    return panels


def _draw_totals(problem: ControlledRobots, actions: NDArray[np.int64], ax: Axes | None, panel: str | None) -> Panels:
    """Maps over pages and all robots that are out, one for each state of the environment."""
    fleet = problem.fleet
    frequencies, rates = by_total(fleet, actions)
    several = len(fleet.classes) > 1
    shown = frequencies.argmax(axis=-1).astype(np.float64) if several else frequencies[..., 1]
    colours = _classes(problem) if several else {"no robot is sent": OFF, "one is sent": ON}
    worlds = min(fleet.environments, MOST_WORLDS)
    names = {f"environment-{world}": world for world in range(worlds)}
    size = NARROW if worlds == 1 else WIDE
    panels = open_panels([list(names)], ax, panel, size=(size, 3.2), sharey=True)
    entries = _entries(colours, "most often: " if several else "")
    for name, axes in panels.axes.items():
        world = names[name]
        _draw_actions(axes, shown[:, :, world], rates[:, :, world] / rates.sum(), colours)
        title = f"Environment {world}" if fleet.environments > 1 else ""
        if not several and fleet.phases > 1:
            title += f"{': ' if title else ''}share of decisions that send a robot"
        label_axes(axes, "robots out before the decision")
        if axes is next(iter(panels.axes.values())):
            label_axes(axes, y="pages in the system after the event")
        last = _shown(fleet) if world == worlds - 1 else ""
        entitle(axes, title[:1].upper() + title[1:] + last, [] if panels.owned else entries)
    if panels.owned:
        legend_below(panels.figure, entries)
    return panels


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


def _classes(problem: ControlledRobots) -> dict[str, str]:
    """What is done to its colour; classes beyond those that can be told apart share one."""
    labels = [plain(label, 30) for label in problem.plan.labels]
    return {"nobody": OFF} | {label: COLOURS[min(i, MOST_CLASSES - 1)] for i, label in enumerate(labels)}


def _draw_actions(axes: Axes, grid: Grid, shares: Grid, colours: Mapping[str, str]) -> None:
    """A map of actions, or of the probability of the second of two; pale where hardly anything is decided."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    listed = list(colours.values())
    style: dict[str, Any] = {"cmap": ListedColormap(listed), "vmin": -0.5, "vmax": len(listed) - 0.5}
    if len(listed) == 2:
        style = {"cmap": LinearSegmentedColormap.from_list("share", listed), "vmin": 0.0, "vmax": 1.0}
    style |= {"edgecolors": "white", "linewidth": 0.4} if max(grid.shape) <= 20 else {}
    _draw_mesh(axes, grid, MOST_CELLS, gid="map", **style)
    pale = np.ma.masked_where(shares * RARE >= 1.0, np.zeros(grid.shape))
    _draw_mesh(axes, pale, MOST_CELLS, cmap=ListedColormap(["white"]), alpha=0.6, gid="rare")


def _entries(colours: Mapping[str, str], kind: str = "") -> list[Artist]:
    from matplotlib.patches import Patch

    handles: list[Artist] = [Patch(color=colour, label=f"{kind}{label}") for label, colour in colours.items()]
    handles.append(Patch(facecolor="white", edgecolor="#BBBBBB", label="pale: less than once in a million decisions"))
    return handles


def _shown(fleet: RobotFleet) -> str:
    hidden = fleet.environments > MOST_WORLDS
    return f" ({MOST_WORLDS} of {fleet.environments} states of the environment)" if hidden else ""
