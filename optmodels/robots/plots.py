"""The picture of a robot problem: maps of a policy as in Figures 2 to 4 of the paper, and what control gains."""

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

from ..costs import WeightedSum
from ..errors import InstanceError, RequestError
from ..plotting import COLOURS, check_path, house_style, literal, new_figure, number, plain, save
from .pricing import PricedRobots
from .problem import RobotsProblem
from .static import Numbers, best_fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: States up to which a picture shows what control gains at other prices too: the best policy is found for each.
MOST_STATES = 5_000
#: Weights of starvation that are tried, and how far from that of the problem.
WEIGHTS, SPREAD = 25, 10.0

ON, OFF, _NONE = COLOURS[0], "#DDE6EC", "#FFFFFF"


def draw_robots(problem: PricedRobots, result: Mapping[str, Any] | None) -> Figure:
    """Draw a problem of kind "robots" and the decision of `result`, the best one without.

    Parameters
    ----------
    problem
        A problem of kind "robots": the base model, a fleet, or areas.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: the best policy.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.

    Examples
    --------
    >>> from optmodels.costs import WeightedSum
    >>> from optmodels.robots import RobotsProblem, draw_robots
    >>> problem = RobotsProblem("two robots", 2, 3, 0.6, 1.0, WeightedSum({"starvation": 1.5}))
    >>> [axes.get_label() for axes in draw_robots(problem, None).axes]
    ['departure', 'arrival', 'gamma']
    """
    from .areas import RobotAreasProblem

    if isinstance(problem, RobotAreasProblem):
        from .areas import draw_areas

        return draw_areas(problem, result)
    from .fleet import RobotFleetProblem

    if isinstance(problem, RobotFleetProblem):
        from .fleet import draw_fleet

        return draw_fleet(problem, result)
    if not isinstance(problem, RobotsProblem):
        raise RequestError(f"no picture is known of problems like {getattr(problem, 'name', problem)!r}.")
    return draw_policy(problem, result)


def draw_policy(problem: RobotsProblem, result: Mapping[str, Any] | None) -> Figure:
    """Draw the policy of `result`, the best one without: after a departure, after an arrival, and its price.

    Where the prices are those of the paper and the system is small, a third panel shows the least cost and that of the
    best fixed number of robots as functions of the weight of starvation.
    """

    def best() -> tuple[int, ...]:
        return problem.decision_of(best_policy(problem.queue, problem.state_costs).policy)

    decision = decision_to_draw(problem, result, best)
    policy = problem.policy_of(decision)
    swept = _gamma(problem) is not None and policy.size <= MOST_STATES
    figure = new_figure(9.6, 6.8 if swept else 3.8, layout="constrained")
    layout: Any = [["departure", "arrival"], ["gamma", "gamma"]] if swept else [["departure", "arrival"]]
    panels = figure.subplot_mosaic(layout, height_ratios=[1.15, 1.0] if swept else [1.0])
    for name, axes in panels.items():
        axes.set_label(name)
    _draw_map(panels["departure"], policy, 0)
    _draw_map(panels["arrival"], policy, 1)
    panels["arrival"].legend(loc="lower left", framealpha=0.95)
    if swept:
        _draw_gammas(panels["gamma"], problem, default_gammas(problem))
    literal(figure.suptitle(f"{plain(problem.name, 90)}\n{summary(problem, decision, result)}", fontsize=10))
    return figure


def plot_static_dynamic(
    problem: RobotsProblem, gammas: Sequence[float] | None = None, path: str | os.PathLike[str] | None = None
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
    >>> from optmodels.costs import WeightedSum
    >>> from optmodels.robots import RobotsProblem, plot_static_dynamic
    >>> problem = RobotsProblem("two robots", 2, 3, 0.6, 1.0, WeightedSum({"starvation": 1.5}))
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
        figure = new_figure(7.2, 4.0, layout="constrained")
        axes = figure.add_subplot(label="gamma")
        _draw_gammas(axes, problem, default_gammas(problem) if gammas is None else gammas)
        literal(figure.suptitle(plain(problem.name, 90), fontsize=10))
        save(figure, path)
    return figure


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
            problem.name, problem.robots, problem.capacity, problem.arrival_rate, problem.service_rate, cost
        )
        fixed = best_fixed(asked, asked.queue.robots)
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


def summary(problem: Any, decision: tuple[int, ...], result: Mapping[str, Any] | None) -> str:
    """What a policy costs, what is known about it, and what the best fixed number of robots costs."""
    judged = problem.evaluate(decision)
    words = [f"objective {number(judged.objective)}"] if problem.has_objective else []
    told = result or {}
    words += [plain(told["status"], 20)] if told.get("status") is not None else []
    words += [] if judged.feasible else ["breaks limits"]
    fixed = problem.best_static if problem.has_objective else None
    if fixed is not None and math.isfinite(fixed.objective):
        robots = fixed.robots if isinstance(fixed.robots, int) else " + ".join(map(str, fixed.robots))
        words.append(f"best fixed number {robots}: {number(fixed.objective)}")
    return ", ".join(words)


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
    from matplotlib.ticker import MaxNLocator

    grid = actions(policy, event)
    edges = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    lines: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.6} if max(grid.shape) <= 45 else {}
    colours, norm = ListedColormap([_NONE, OFF, ON]), BoundaryNorm([-1.5, -0.5, 0.5, 1.5], 3)
    mesh: Any = axes.pcolormesh(*edges, grid, cmap=colours, norm=norm, gid=f"map-{event}", **lines)
    mesh.set_rasterized(grid.size > 20_000)
    robots = np.arange(grid.shape[1])
    curve = np.array([np.nan if value is None else value for value in curves(policy)[event]], dtype=np.float64)
    axes.step(robots, curve + 0.5, where="mid", color=COLOURS[1], linewidth=1.4, gid=f"curve-{event}")
    axes.set_title("after a departure, s = 0" if event == 0 else "after an arrival, s = 1")
    axes.set_xlabel("active robots r, before the event")
    axes.set_ylabel("pages q, before the event")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    if event == 1:
        for colour, label in ((ON, "activate"), (OFF, "do not")):
            axes.fill_between([], [], [], color=colour, label=label)
        axes.plot([], [], color=COLOURS[1], label="switching curve")


def _draw_gammas(axes: Axes, problem: RobotsProblem, gammas: Sequence[float]) -> None:
    found = static_and_dynamic(problem, gammas)
    dynamic, static = [row[0] for row in found], [row[1] for row in found]
    axes.plot(gammas, static, color=COLOURS[1], marker="s", markersize=3, label="best fixed number", gid="static")
    axes.plot(gammas, dynamic, color=COLOURS[0], marker="o", markersize=3, label="best policy", gid="dynamic")
    own = _gamma(problem)
    if own is not None and min(gammas) <= own <= max(gammas):
        axes.axvline(own, color="#777777", linewidth=0.8, linestyle=":", gid="own")
    axes.set_xscale("log")
    _plain_ticks(axes.xaxis)
    if min(dynamic) > 0:
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis)
    axes.set_xlabel("weight of starvation, gamma")
    axes.set_ylabel("average cost")
    axes.set_title("control against the best fixed number of robots")
    axes.legend()


def _plain_ticks(axis: Axis) -> None:
    """Powers in plain numbers: mathematics is not drawn, so that names may have dollar signs."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_minor_formatter(NullFormatter())
