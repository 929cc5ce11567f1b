"""The picture of a policy that sees the state: robots by number of pages and phases, and how often each is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import Decision

from ..plotting import WIDE, entitle, label_axes, name_ticks, open_panels, ordered_colours, told_by, whole_ticks
from .policy_pairs import modes_and_chances, policy_map
from .problem import ThresholdProblem

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: More pairs of phases than this are not named.
NAMED = 24

#: Probability of another mode, within a pair of phases, from which on a cell is marked as mixed.
MIXED = 0.01


def draw_policy(
    problem: ThresholdProblem,
    decision: Mapping[str, Any],
    result: Mapping[str, Any] | None,
    *,
    ax: Axes | None = None,
    panel: str | None = None,
) -> Figure:
    """Draw the map of a policy, and below it the number of pages with the share of each mode."""
    phases, order = problem.modes[0].arrivals.phases, problem.queue.model.service.order
    height = min(6.0, 0.9 + 0.24 * phases * order)
    panels = open_panels(
        [["map"], ["levels"]], ax, panel, size=(0.75 * WIDE, height + 2.9), heights=[height, 2.1], sharex=True
    )
    if "map" in panels:
        _draw_map(panels["map"], problem, decision)
    if "levels" in panels:
        _draw_levels(panels["levels"], problem, decision)
    panels.head(problem.name, _summary(problem, decision, result))
    return panels.figure


def summary_words(problem: ThresholdProblem, decision: Decision, what: str, result: Mapping[str, Any]) -> list[str]:
    """Tell what a policy costs, how it was found, what it is, and whether it keeps the limits."""
    judged = problem.evaluate(decision)
    words = told_by(result, judged.objective if problem.has_objective else None)
    return [*words, what] + ([] if judged.feasible else ["breaks limits"])


def mode_label(problem: ThresholdProblem, mode: int, share: float) -> str:
    """Name a mode and its share of the time, for a legend."""
    return f"{_robots(problem, mode)} ({100 * share:.1f} % of the time)"


def _summary(problem: ThresholdProblem, decision: Mapping[str, Any], result: Mapping[str, Any] | None) -> list[str]:
    told = result or {}
    words = summary_words(problem, decision, "policy by state", told)
    extra = told.get("extra")
    price = extra.get("price_of_thresholds") if isinstance(extra, Mapping) else None
    return words + ([f"best thresholds cost {100 * price:.2f} % more"] if isinstance(price, float) else [])


def colours_of(problem: ThresholdProblem) -> list[str]:
    """Choose a colour for each mode: the more robots, the darker."""
    return ordered_colours(len(problem.modes))


def _draw_map(axes: Axes, problem: ThresholdProblem, decision: Mapping[str, Any]) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    phases, order = problem.modes[0].arrivals.phases, problem.queue.model.service.order
    rows = policy_map(problem, decision)
    # With no page there is no service: the cell of an arrival phase stands for all service phases.
    grid = np.array([np.repeat(rows[0], order), *rows[1:]]).T
    count = len(problem.modes)
    colours, norm = ListedColormap(colours_of(problem)), BoundaryNorm(np.arange(count + 1), count)
    edges = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    lines: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.8} if grid.shape[1] <= 60 else {}
    mesh: Any = axes.pcolormesh(*edges, grid, cmap=colours, norm=norm, gid="policy-map", **lines)
    mesh.set_rasterized(grid.size > 20_000)
    mixed = _mixed(problem, decision)
    if mixed:
        axes.plot(*zip(*mixed, strict=True), marker="x", color="white", linestyle="", markersize=4, gid="mixed")
    if phases * order <= NAMED:
        names = [f"{arrival + 1}, {service + 1}" for arrival in range(phases) for service in range(order)]
        name_ticks(axes.yaxis, range(len(names)), names)
    axes.invert_yaxis()
    whole_ticks(axes.xaxis, 12)
    axes.tick_params(labelbottom=True)
    label_axes(axes, "number of pages in the system", "arrival phase, service phase")
    shown = sorted(set(grid.ravel().tolist()), reverse=True)
    handles: list[Artist] = [Patch(color=colours_of(problem)[mode], label=_robots(problem, mode)) for mode in shown]
    title = "Robots in use by number of pages and phases" + (" (x: by phase of patience, too)" if mixed else "")
    entitle(axes, title, handles)


def _robots(problem: ThresholdProblem, mode: int) -> str:
    robots = problem.modes[mode].robots
    return f"{robots} robot{'' if robots == 1 else 's'}"


def _mixed(problem: ThresholdProblem, decision: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the cells (level, pair of phases) whose mode depends on the phases of waiting pages too."""
    order = problem.policies().order
    if order.pairs == order.states:
        return []
    modes, chances = modes_and_chances(problem, decision)
    shares = np.zeros((order.pairs, len(problem.modes)))
    np.add.at(shares, (order.pair, modes), chances)
    total = shares.sum(axis=1)
    found = np.flatnonzero(total - shares.max(axis=1) > MIXED * np.maximum(total, 1e-300))
    phases = problem.modes[0].arrivals.phases
    each = (order.pairs - phases) // problem.queue.model.top
    return [(1 + (pair - phases) // each, (pair - phases) % each) for pair in found.tolist() if pair >= phases]


def _draw_levels(axes: Axes, problem: ThresholdProblem, decision: Mapping[str, Any]) -> None:
    modes, chances = modes_and_chances(problem, decision)
    order = problem.policies().order
    shares = np.zeros((problem.queue.model.top + 1, len(problem.modes)))
    np.add.at(shares, (order.level, modes), chances)
    below = np.zeros(len(shares))
    levels = np.arange(len(shares))
    for mode in range(len(problem.modes) - 1, -1, -1):
        here = shares[:, mode]
        if not here.any():
            continue
        look: dict[str, Any] = {"color": colours_of(problem)[mode], "label": mode_label(problem, mode, here.sum())}
        axes.bar(levels, here, bottom=below, width=0.7, gid=f"levels-{problem.modes[mode].robots}", **look)
        below = below + here
    axes.set_xlim(-0.5, len(levels) - 0.5)
    whole_ticks(axes.xaxis, 12)
    label_axes(axes, "number of pages in the system", "share of the time")
    entitle(axes, "How many pages are in the system")
