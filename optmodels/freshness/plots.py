"""Pictures of kind "freshness": how often pages are visited, what orders of visits cost, and the first visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import refusal

from ..errors import RequestError
from ..plotting import COLOURS, decision_of, literal, new_figure, number, plain
from ..registry import make_strategy
from ..solving import solve
from .problem import FreshnessProblem
from .rules import Vector
from .space import Visits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Pages whose visits are drawn one by one, and pages up to which strategies are run for the picture.
MOST_DRAWN, MOST_SOLVED = 200_000, 2_000

#: Slots of the strip.
STRIP = 200

#: Strategies whose costs are drawn, the dearest first as a rule.
RIVALS = (
    "uniform", "proportional", "randomized", "golden-ratio", "power-of-two", "regular", "greedy", "whittle",
)  # fmt: skip

#: Distances from the bound below this are drawn as this: rounding, or nothing at all.
CLOSEST = 1e-7


def draw_freshness(problem: FreshnessProblem, result: Mapping[str, Any] | None) -> Figure:
    """Draw the visits of `result`, without one the frequencies of least cost: pages, costs of strategies, a strip.

    Parameters
    ----------
    problem
        A problem of kind "freshness".
    result
        What was found, as a result file has it: of its fields ``decision`` and ``strategy`` are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.

    Raises
    ------
    RequestError
        If there are too many pages to be drawn.

    Examples
    --------
    >>> from optmodels.freshness import FreshnessGenerator, draw_freshness
    >>> problem = FreshnessGenerator(pages=3).instance().problem()
    >>> [axes.get_label() for axes in draw_freshness(problem, {"decision": [0.3, 0.3, 0.4]}).axes][:2]
    ['pages', 'costs']
    """
    if problem.columns.count > MOST_DRAWN:
        raise RequestError(
            f"{problem.name!r} has {problem.columns.count} pages; a picture has room for {MOST_DRAWN} of them."
        )
    decision = decision_of(problem, result)
    if decision is None:
        decision = problem.relaxation().decision
    cycles = decision.cycles if isinstance(decision, Visits) and decision.form != "randomized" else ()
    ranked = problem.columns.count <= MOST_SOLVED and problem.scale is not None
    layout: list[list[str]] = [["pages", "costs"]] if ranked else [["pages", "pages"]]
    layout += [["strip", "strip"]] if cycles else []
    figure = new_figure(9.6, 6.4 if cycles else 3.9, layout="constrained")
    panels = figure.subplot_mosaic(layout, height_ratios=[1.5, 1.0] if cycles else [1.0])  # type: ignore[arg-type]
    for name, axes in panels.items():
        axes.set_label(name)
    frequencies = decision.frequencies if isinstance(decision, Visits) else np.asarray(decision, dtype=np.float64)
    _draw_pages(panels["pages"], problem, frequencies)
    if ranked:
        _draw_costs(panels["costs"], problem, decision, (result or {}).get("strategy"))
    if cycles:
        _draw_strip(panels["strip"], cycles, frequencies)
    literal(figure.suptitle(f"{plain(problem.name, 90)}\n{_summary(problem, decision)}", fontsize=10))
    return figure


def _draw_pages(axes: Axes, problem: FreshnessProblem, frequencies: Vector) -> None:
    """Frequency against change rate, coloured by weight; pages never visited at the bottom."""
    from matplotlib.colors import LogNorm

    rates, weights = problem.columns.rates, problem.columns.weights
    shown = (rates > 0) & (weights > 0)
    visited, never = shown & (frequencies > 0), shown & (frequencies == 0)
    if visited.any():
        low, high = float(weights[shown].min()), float(weights[shown].max())
        norm = LogNorm(low, high) if high > low else None
        dots = axes.scatter(
            rates[visited], frequencies[visited], c=weights[visited], s=_size(visited), cmap="viridis", norm=norm,
            label="visited", gid="visited", rasterized=bool(visited.sum() > 5_000),
        )  # fmt: skip
        figure = axes.get_figure()
        assert figure is not None
        if high > low:
            bar = figure.colorbar(dots, ax=axes, label="weight", pad=0.02)
            _plain_logs(bar.ax.yaxis, low, high)
    axes.set_xscale("log")
    axes.set_yscale("log")
    if not shown.any():
        axes.text(0.5, 0.5, "no page has both a rate and a weight", transform=axes.transAxes, ha="center", va="center")
    if never.any():
        floor = (frequencies[visited].min() if visited.any() else 1.0) / 2.5
        heights = np.full(int(never.sum()), floor)
        axes.scatter(
            rates[never], heights, marker="x", s=_size(never), color=COLOURS[1], linewidths=0.9, gid="never",
            label=f"never visited: {int(never.sum())}",
        )  # fmt: skip
        _legend_above(axes)
    _plain_logs(axes.xaxis, *axes.get_xlim())
    _plain_logs(axes.yaxis, *axes.get_ylim())
    axes.set_xlabel("changes per unit of time")
    axes.set_ylabel("visits per slot")


def _legend_above(axes: Axes) -> None:
    """Explain marks in a row above a panel, where it hides none of them."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.1, frameon=False, ncols=len(COLOURS))


def _plain_logs(axis: Any, low: float, high: float) -> None:
    """Label a logarithmic axis with numbers as people write them; powers would need mathematics, which is off."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if high <= low * 300:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high > low * 5 else tuple(range(1, 10))))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _size(chosen: Any) -> float:
    return float(np.clip(2_000.0 / max(int(chosen.sum()), 1), 3.0, 40.0))


def _draw_costs(axes: Axes, problem: FreshnessProblem, decision: Any, strategy: Any) -> None:
    """Draw how far above the bound strategies are, on a logarithmic scale; and the decision that is drawn."""
    bound = problem.allocation().bound
    rows = [(name, cost) for name in RIVALS if (cost := _cost(problem, name)) is not None]
    mine = problem.evaluate(decision).measures["obsolescence"]
    if isinstance(decision, Visits) and mine is not None:
        rows.append((f"shown: {plain(strategy, 24)}" if strategy else "shown", mine))
    above = [max(cost / bound - 1.0, CLOSEST) if bound > 0 else CLOSEST for _, cost in rows]
    places = np.arange(len(rows))[::-1]
    colours = [COLOURS[1] if name.startswith("shown") else COLOURS[0] for name, _ in rows]
    whole = problem.schedule_bound / bound - 1.0 if bound > 0 else 0.0
    left = max(CLOSEST, min([*above, whole or 1.0]) / 3)
    axes.hlines(places, left, above, color=colours, linewidth=1.2)
    axes.scatter(above, places, color=colours, s=22, zorder=3, gid="costs")
    if whole > CLOSEST:
        axes.axvline(whole, color="#444444", linestyle=(0, (4, 2)), linewidth=1.0, gid="schedule bound")
        axes.annotate(
            "no cycle is below", (whole, len(rows) - 0.45), fontsize=7, ha="left", va="bottom", xytext=(2, 0),
            textcoords="offset points", annotation_clip=False,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(left=left)
    _plain_logs(axes.xaxis, *axes.get_xlim())
    axes.set_ylim(-0.6, len(rows) - 0.1)
    axes.set_yticks(places, [name for name, _ in rows])
    for text in axes.get_yticklabels():
        literal(text)
    touched = " (none: at the left end)" if CLOSEST in above else ""
    axes.set_xlabel(f"obsolescence above the bound, relative{touched}")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _cost(problem: FreshnessProblem, name: str) -> float | None:
    """Compute what a strategy costs; ``None`` if it does not take the problem, or finds nothing feasible."""
    strategy = make_strategy(name)
    if refusal(problem, strategy) is not None:
        return None
    found = solve(problem, strategy)
    return None if found.evaluation is None else found.evaluation.measures["obsolescence"]


def _draw_strip(axes: Axes, cycles: Sequence[Any], frequencies: Vector) -> None:
    """Draw the pages of the first slots, those visited most often at the bottom."""
    rank = np.empty(len(frequencies), dtype=np.int64)
    rank[np.argsort(-frequencies, kind="stable")] = np.arange(len(frequencies))
    slots = np.arange(STRIP)
    for robot, cycle in enumerate(cycles):
        label = f"robot {robot}" if len(cycles) > 1 else "visits"
        colour = COLOURS[robot % len(COLOURS)]
        places = rank[np.asarray(cycle)[slots % len(cycle)]]
        axes.scatter(slots, places, marker="|", s=40 if len(frequencies) < 40 else 12, color=colour, label=label)
    visited = int(np.count_nonzero(frequencies))
    axes.set_xlim(-1, STRIP)
    axes.set_ylim(-0.8, max(visited, 1) - 0.2)
    axes.set_xlabel(f"slot, the first {STRIP}" + (f" (a cycle has {len(cycles[0])})" if len(cycles) == 1 else ""))
    axes.set_ylabel("page, by frequency")
    if 1 < len(cycles) <= len(COLOURS):
        _legend_above(axes)


def _summary(problem: FreshnessProblem, decision: Any) -> str:
    judged, told = problem.evaluate(decision), problem.describe(decision)
    words = [f"obsolescence {number(judged.measures['obsolescence'] or 0.0)}"]
    words.append(
        {"frequencies": "evenly spaced", "randomized": "drawn at random"}.get(told["form"], "a cycle of visits")
    )
    words.append(f"bound {number(told['relaxed_bound'])}")
    return ", ".join(words + ([] if judged.feasible else ["breaks rules"]))
