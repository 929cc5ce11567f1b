"""The picture of a policy that sees the state: robots by number of pages and phases, and how often each is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting import COLOURS, literal, new_figure, number, plain
from .policy_pairs import modes_and_chances, policy_map
from .problem import ThresholdProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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


def _summary(problem: ThresholdProblem, decision: Mapping[str, Any], result: Mapping[str, Any] | None) -> str:
    judged = problem.evaluate(decision)
    words = ["policy by state"]
    words += [f"objective {number(judged.objective)}"] if problem.has_objective else []
    told = result or {}
    words += [plain(told["status"], 20)] if told.get("status") is not None else []
    words += [] if judged.feasible else ["breaks limits"]
    extra = told.get("extra")
    price = extra.get("price_of_thresholds") if isinstance(extra, Mapping) else None
    words += [f"best thresholds cost {100 * price:.2f} % more"] if isinstance(price, float) else []
    return ", ".join(words)


def _colour(mode: int) -> str:
    return str(COLOURS[mode % len(COLOURS)])


def _draw_map(axes: Axes, problem: ThresholdProblem, decision: Mapping[str, Any]) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    phases, order = problem.modes[0].arrivals.phases, problem.queue.model.service.order
    rows = policy_map(problem, decision)
    # With no page there is no service: the cell of an arrival phase stands for all service phases.
    grid = np.array([np.repeat(rows[0], order), *rows[1:]]).T
    count = len(problem.modes)
    colours, norm = ListedColormap([_colour(mode) for mode in range(count)]), BoundaryNorm(np.arange(count + 1), count)
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
    """Cells (level, pair of phases) whose mode depends on the phases of waiting pages too."""
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
        robots = problem.modes[mode].robots
        label = f"{robots} robot{'' if robots == 1 else 's'} ({100 * here.sum():.1f} % of the time)"
        axes.bar(levels, here, bottom=below, width=0.7, color=_colour(mode), label=label, gid=f"levels-{robots}")
        below = below + here
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_xlabel("pages in the system")
    axes.set_ylabel("probability")
    axes.legend(fontsize=7)
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
