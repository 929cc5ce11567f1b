"""Pictures of kind "freshness": how often pages are visited, what orders of visits cost, and the first visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import refusal

from ..errors import RequestError
from ..plotting import (
    COLOURS,
    INK,
    WIDE,
    decision_of,
    entitle,
    label_axes,
    log_ticks,
    name_ticks,
    open_panels,
    plain,
    told_by,
    whole_ticks,
)  # fmt: skip
from ..registry import make_strategy
from ..solving import solve
from .problem import FreshnessProblem
from .rules import Vector
from .space import IDLE, Visits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Pages whose visits are drawn one by one, and pages up to which strategies are run for the picture.
MOST_DRAWN, MOST_SOLVED = 200_000, 2_000

#: Slots of the strip.
STRIP = 200

#: Marks of visits, one for each robot, so that a grey print tells them apart.
VISITS = ("|", "x", "_", ".", "+", "1")

#: Strategies whose costs are drawn, the dearest first as a rule.
RIVALS = (
    "uniform", "proportional", "randomized", "golden-ratio", "power-of-two", "regular", "greedy", "whittle",
)  # fmt: skip

#: Distances from the bound below this are drawn as this: rounding, or nothing at all.
CLOSEST = 1e-7


def draw_freshness(
    problem: FreshnessProblem,
    result: Mapping[str, Any] | None,
    *,
    ax: Axes | None = None,
    panel: str | None = None,
) -> Figure:
    """Draw the visits of `result`, without one the frequencies of least cost: pages, costs of strategies, a strip.

    Parameters
    ----------
    problem
        A problem of kind "freshness".
    result
        What was found, as a result file has it: of its fields ``decision`` and ``strategy`` are drawn.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own.
    panel
        ``"pages"``, ``"costs"`` or, of an order of visits, ``"strip"``; by default all of them, with `ax` the first.

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
    decision = _first_shown(problem) if decision is None else problem.visits_of(decision)
    cycles = decision.cycles if isinstance(decision, Visits) and decision.form != "randomized" else ()
    ranked = problem.columns.count <= MOST_SOLVED and problem.scale is not None
    layout: list[list[str]] = [["pages", "costs"]] if ranked else [["pages", "pages"]]
    layout += [["strip", "strip"]] if cycles else []
    heights = [1.4, 1.0] if cycles else [1.0]
    panels = open_panels(layout, ax, panel, size=(WIDE, 5.4 if cycles else 3.3), heights=heights)
    frequencies = decision.frequencies if isinstance(decision, Visits) else np.asarray(decision, dtype=np.float64)
    for name, axes in panels.axes.items():
        if name == "pages":
            _draw_pages(axes, problem, frequencies)
        elif name == "costs":
            _draw_costs(axes, problem, decision, (result or {}).get("strategy"))
        else:
            _draw_strip(axes, cycles, frequencies)
    panels.head(problem.name, _summary(problem, decision, result))
    return panels.figure


def _first_shown(problem: FreshnessProblem) -> Any:
    """What is drawn without a result: the frequencies of least cost, or a cycle where cycles are asked for."""
    if problem.rules.cycle is None:
        return problem.relaxation().decision
    suggested: Any = problem
    rng = np.random.default_rng(0)
    return problem.visits_of(next(suggested.suggestions(rng), problem.space.sample(rng)))


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
            label=f"visited: {int(visited.sum())}", gid="visited", edgecolors=INK, linewidths=0.2,
            rasterized=bool(visited.sum() > 5_000),
        )  # fmt: skip
        figure = axes.get_figure()
        assert figure is not None
        if high > low:
            bar = figure.colorbar(dots, ax=axes, pad=0.02, aspect=28)
            log_ticks(bar.ax.yaxis)
            label_axes(bar.ax, y="weight of the page")
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
    log_ticks(axes.xaxis)
    log_ticks(axes.yaxis)
    label_axes(axes, "changes of the page per unit of time", "visits of the page per slot")
    entitle(axes, "How often pages are visited")


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
        look: dict[str, Any] = {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1.0}
        axes.axvline(whole, gid="schedule bound", label="no order of visits is below", **look)
    axes.set_xscale("log")
    axes.set_xlim(left=left, right=2.0 * max([*above, whole]))
    log_ticks(axes.xaxis)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    name_ticks(axes.yaxis, places.tolist(), [name for name, _ in rows], 32)
    axes.tick_params(axis="y", length=0)
    touched = "\n(none: at the left end)" if CLOSEST in above else ""
    label_axes(axes, f"obsolescence above the bound (relative){touched}", grid="x")
    entitle(axes, "What strategies reach")


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
    visited = int(np.count_nonzero(frequencies))
    for robot, cycle in enumerate(cycles):
        label = f"robot {robot}" if len(cycles) > 1 else "visits"
        look: dict[str, Any] = {"color": COLOURS[robot % len(COLOURS)], "marker": VISITS[robot % len(VISITS)]}
        pages = np.asarray(cycle)[slots % len(cycle)]
        places = rank[pages[pages != IDLE]]
        axes.scatter(slots[pages != IDLE], places, s=40 if visited < 20 else 14, linewidths=1.0, label=label, **look)
    axes.set_xlim(-1, STRIP)
    axes.set_ylim(-0.8, max(visited, 1) - 0.2)
    whole_ticks(axes.yaxis)
    length = f" (the cycle has {len(cycles[0])})" if len(cycles) == 1 else ""
    label_axes(axes, f"slot, the first {STRIP}{length}", "page, 0 the\nmost visited")
    entitle(axes, "Order of visits", None if 1 < len(cycles) <= len(COLOURS) else [])


def _summary(problem: FreshnessProblem, decision: Any, result: Mapping[str, Any] | None) -> list[str]:
    judged, told = problem.evaluate(decision), problem.describe(decision)
    words = told_by(result, judged.measures["obsolescence"] or 0.0, "obsolescence", told["relaxed_bound"])
    forms = {"frequencies": "evenly spaced visits", "randomized": "visits drawn at random"}
    words.append(forms.get(told["form"], "a cycle of visits"))
    return words + ([] if judged.feasible else ["breaks rules"])
