"""The picture of a policy that sees the state: robots by number of pages and phases, and how often each is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import Decision

from ..plotting import COLOURS, literal, new_figure, number, plain
from .policy_pairs import modes_and_chances, policy_map
from .problem import ThresholdProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: More pairs of phases than this are not named.
NAMED = 24

#: Probability of another mode, within a pair of phases, from which on a cell is marked as mixed.
MIXED = 0.01


def draw_policy(problem: ThresholdProblem, decision: Mapping[str, Any], result: Mapping[str, Any] | None) -> Figure:
    """Draw the map of a policy, and below it the number of pages with the share of each mode."""
    phases, order = problem.modes[0].arrivals.phases, problem.queue.model.service.order
    height = min(9.0, 1.2 + 0.32 * phases * order)
    figure = new_figure(8.4, height + 3.2, layout="constrained")
    layout: Any = [["map"], ["levels"]]
    panels = figure.subplot_mosaic(layout, height_ratios=[height, 2.4], sharex=True)
    for name, axes in panels.items():
        axes.set_label(name)
    _draw_map(panels["map"], problem, decision)
    _draw_levels(panels["levels"], problem, decision)
    literal(figure.suptitle(f"{plain(problem.name, 90)}\n{_summary(problem, decision, result)}", fontsize=10))
    return figure


def summary_words(problem: ThresholdProblem, decision: Decision, what: str, status: str | None) -> list[str]:
    """Tell what a policy is, what it costs, how it was found and whether it keeps the limits."""
    judged = problem.evaluate(decision)
    words = [what]
    words += [f"objective {number(judged.objective)}"] if problem.has_objective else []
    words += [] if status is None else [status]
    return words + ([] if judged.feasible else ["breaks limits"])


def status_of(result: Mapping[str, Any]) -> str | None:
    """Tell how the policy of a result was found, if it says so."""
    return None if result.get("status") is None else plain(result["status"], 20)


def mode_label(problem: ThresholdProblem, mode: int, share: float) -> str:
    """Name a mode and its share of the time, for a legend."""
    robots = problem.modes[mode].robots
    return f"{robots} robot{'' if robots == 1 else 's'} ({100 * share:.1f} % of the time)"


def whole_ticks(axis: Axis) -> None:
    """Mark whole numbers only: of pages."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=12, integer=True))


def _summary(problem: ThresholdProblem, decision: Mapping[str, Any], result: Mapping[str, Any] | None) -> str:
    told = result or {}
    words = summary_words(problem, decision, "policy by state", status_of(told))
    extra = told.get("extra")
    price = extra.get("price_of_thresholds") if isinstance(extra, Mapping) else None
    words += [f"best thresholds cost {100 * price:.2f} % more"] if isinstance(price, float) else []
    return ", ".join(words)


def colour_of(mode: int) -> str:
    """Choose the colour of a mode."""
    return str(COLOURS[mode % len(COLOURS)])


def _draw_map(axes: Axes, problem: ThresholdProblem, decision: Mapping[str, Any]) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    phases, order = problem.modes[0].arrivals.phases, problem.queue.model.service.order
    rows = policy_map(problem, decision)
    # With no page there is no service: the cell of an arrival phase stands for all service phases.
    grid = np.array([np.repeat(rows[0], order), *rows[1:]]).T
    count = len(problem.modes)
    colours, norm = ListedColormap(list(map(colour_of, range(count)))), BoundaryNorm(np.arange(count + 1), count)
    edges = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    lines: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.8} if grid.shape[1] <= 60 else {}
    mesh: Any = axes.pcolormesh(*edges, grid, cmap=colours, norm=norm, gid="policy-map", **lines)
    mesh.set_rasterized(grid.size > 20_000)
    mixed = _mixed(problem, decision)
    if mixed:
        axes.plot(*zip(*mixed, strict=True), marker="x", color="white", linestyle="", markersize=4, gid="mixed")
    if phases * order <= NAMED:
        names = [f"{arrival + 1}, {service + 1}" for arrival in range(phases) for service in range(order)]
        axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_ylabel("arrival phase, service phase")
    axes.set_title("robots by number of pages and phases" + (" (x: also by patience phases)" if mixed else ""))


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
        look: dict[str, Any] = {"color": colour_of(mode), "label": mode_label(problem, mode, here.sum())}
        axes.bar(levels, here, bottom=below, width=0.7, gid=f"levels-{problem.modes[mode].robots}", **look)
        below = below + here
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_xlabel("pages in the system")
    axes.set_ylabel("probability")
    axes.legend(fontsize=7)
    whole_ticks(axes.xaxis)
