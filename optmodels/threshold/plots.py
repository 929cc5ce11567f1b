"""The picture of a threshold problem: its cost landscape, what a policy does at each level, and how long pages stay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import Evaluation
from queueing import SojournLaw, SojournTimes
from queueing.threshold import shares_work

from ..errors import RequestError
from ..plotting import (
    COLOURS,
    MARKERS,
    NARROW,
    WIDE,
    decision_of,
    entitle,
    label_axes,
    number,
    open_panels,
    plain,
    whole_ticks,
)
from .policy_plots import colours_of, draw_policy, mode_label, summary_words
from .problem import ThresholdProblem
from .sojourn import NAMES, cheap_sojourn
from .subsets import of_subset

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Pairs of modes that are drawn, the cheapest first.
MOST_PAIRS = len(COLOURS)
#: Policies times states that are evaluated for a picture where policies cannot share work.
MOST_WORK = 50_000
#: Policies times levels that are evaluated together: what they share is tables of that size.
MOST_CELLS = 5_000_000
#: Modes of which policies are drawn; of more, so many from the fewest to the most robots.
MOST_MODES = 12
#: Fewer thresholds than this make no line.
LEAST_POINTS = 12
#: Levels that are always drawn; of more, those that hold all but `FAINT` of the time, and the thresholds among them.
ALL_LEVELS, FAINT = 25, 1e-4
#: Levels that are drawn as bars; where there are more, as steps.
MOST_BARS = 400
#: Lines of more points than this have no markers.
MARKED = 30

_BEST = "#000000"
_COST = "objective (weighted sum)"


@dataclass(frozen=True)
class Landscape:
    """Evaluations of all policies of some of the modes.

    Attributes
    ----------
    modes
        Their indices, most robots first.
    judged
        By thresholds, each between -1 and the capacity; not all of them where they are many.
    """

    modes: tuple[int, ...]
    judged: Mapping[tuple[int, ...], Evaluation]

    @classmethod
    def of(cls, problem: ThresholdProblem, modes: Sequence[tuple[int, ...]], levels: Sequence[int]) -> list[Landscape]:
        """Evaluate all policies of several sub-sets of modes, equally many each, with thresholds among `levels`."""
        listed = list(combinations_with_replacement(levels, len(modes[0]) - 1))
        asked = [of_subset(problem, one, thresholds) for one in modes for thresholds in listed]
        judged = iter(problem.evaluate_many(asked))
        return [cls(one, {thresholds: next(judged) for thresholds in listed}) for one in modes]

    @property
    def best(self) -> tuple[float, tuple[int, ...]]:
        """Least objective of a feasible policy and its thresholds; infinity if there is none."""
        kept = [(one.objective, thresholds) for thresholds, one in self.judged.items() if one.feasible]
        return min(kept, default=(math.inf, ()))


def draw_threshold(
    problem: ThresholdProblem,
    result: Mapping[str, Any] | None,
    *,
    ax: Axes | None = None,
    panel: str | None = None,
) -> Figure:
    """Draw what policies of two and of three modes cost, what the policy of `result` does, and how long pages stay.

    Two modes have one threshold: steps for each pair of modes, as in Figure 1 of Avrachenkov et al.
    (2011). Three modes have two: a map of the best three. Without a result the policy is the best of those drawn. A
    policy by state has a picture of its own, with panels ``"map"`` and ``"levels"``.

    Parameters
    ----------
    problem
        A problem of kind "threshold".
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own.
    panel
        One of ``"policy"``, ``"sojourn"``, ``"pairs"`` and ``"three"``; with `ax`, the first of these that there is.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.

    Examples
    --------
    >>> from optmodels.threshold import ThresholdGenerator, draw_threshold
    >>> problem = ThresholdGenerator(modes=2, capacity=3).instance().problem()
    >>> [axes.get_label() for axes in draw_threshold(problem, {"decision": [2]}).axes]
    ['pairs', 'policy', 'sojourn']
    """
    decision = decision_of(problem, result)
    if isinstance(decision, Mapping):
        return draw_policy(problem, decision, result, ax=ax, panel=panel)
    pairs, three = _landscapes(problem)
    drawn = [*pairs, *([three] if three else [])]
    if decision is None:
        decision = _best_decision(problem, drawn)
    if decision is None and not drawn:
        raise RequestError(
            f"{problem.name!r} has no cost landscape that could be drawn in a moment; give a result, whose policy can."
        )
    above = [name for name, shown in (("pairs", pairs), ("three", three)) if shown]
    times = None if decision is None else cheap_sojourn(problem.queue, decision)
    below = ([] if decision is None else ["policy"]) + ([] if times is None or times.all is None else ["sojourn"])
    width = max(len(above), len(below))
    rows = [row if len(row) == width else row * width for row in (above, below) if row]
    first = panel or (below or above)[0] if ax is not None else panel
    size = WIDE if width > 1 else NARROW, 3.1 * len(rows) + 0.3
    panels = open_panels(rows, ax, first, size=size, heights=[1.15, 1.0][: len(rows)] if above else [1.0])
    for name, axes in panels.axes.items():
        if name == "pairs":
            _draw_pairs(axes, problem, pairs)
        elif name == "three" and three is not None:
            _draw_three(panels.figure, axes, problem, three)
        elif name == "policy" and decision is not None:
            _draw_policy(axes, problem, decision)
        elif times is not None:
            draw_sojourn(axes, times)
    panels.head(problem.name, _summary(problem, result, decision))
    return panels.figure


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _landscapes(problem: ThresholdProblem) -> tuple[list[Landscape], Landscape | None]:
    """Return the policies of pairs of modes, the cheapest first, and of the cheapest three modes."""
    count = len(problem.modes)
    if not problem.has_objective or count < 2:
        return [], None
    indices = np.linspace(count - 1, 0, _modes_tried(problem)).round().astype(int).tolist()
    twos, threes = list(combinations(indices, 2)), list(combinations(indices, 3))
    levels = _thresholds(problem, _most_policies(problem) // len(twos))
    if not levels:
        return [], None
    pairs = sorted(Landscape.of(problem, twos, levels), key=lambda one: (one.best[0], one.modes))[:MOST_PAIRS]
    steps = problem.queue.capacity + 2
    if not threes or len(threes) * steps * (steps + 1) // 2 > _most_policies(problem):
        return pairs, None
    return pairs, min(Landscape.of(problem, threes, range(-1, steps - 1)), key=lambda one: one.best)


def _modes_tried(problem: ThresholdProblem) -> int:
    """Tell how many modes are looked at: fewer where there would be too few thresholds for each pair."""
    most = _most_policies(problem) // min(LEAST_POINTS, problem.queue.capacity + 2)
    tried = min(len(problem.modes), MOST_MODES)
    while tried > 2 and math.comb(tried, 2) > most:
        tried -= 1
    return tried


def _most_policies(problem: ThresholdProblem) -> int:
    """Return the policies that are evaluated in a moment, and without much memory."""
    if shares_work(problem.queue):
        return min(5 * MOST_WORK, MOST_CELLS // max(problem.queue.capacity, len(problem.modes)))
    return MOST_WORK // problem.queue.model.states


def _thresholds(problem: ThresholdProblem, most: int) -> list[int]:
    """Choose all thresholds, or at most so many, the lowest closest together; none if they would make no line."""
    if most >= problem.queue.capacity + 2:
        return list(range(-1, problem.queue.capacity + 1))
    if most < LEAST_POINTS:
        return []
    spread = np.geomspace(1.0, problem.queue.capacity + 2.0, most).round().astype(int) - 2
    return [int(level) for level in np.unique(spread)]


def _part(problem: ThresholdProblem, pairs: Sequence[Landscape]) -> str:
    """Tell what of the landscape is drawn, if it is not all of it."""
    shown, steps = len(pairs[0].judged), problem.queue.capacity + 2
    words = [f"{shown} of {steps} thresholds"] if shown < steps else []
    tried, modes = _modes_tried(problem), len(problem.modes)
    words += [f"{tried} of {modes} modes"] if tried < modes else []
    return f" ({', '.join(words)})" if words else ""


def _best_decision(problem: ThresholdProblem, drawn: Sequence[Landscape]) -> tuple[int, ...] | None:
    found = min(drawn, key=lambda one: one.best, default=None)
    if found is None:
        return () if len(problem.modes) == 1 else None
    return None if math.isinf(found.best[0]) else of_subset(problem, found.modes, found.best[1])


def _summary(
    problem: ThresholdProblem, result: Mapping[str, Any] | None, decision: tuple[int, ...] | None
) -> list[str]:
    """Tell what is known, for the heading."""
    if decision is None:
        return ["no policy keeps the limits"]
    what = f"thresholds {plain(', '.join(map(str, decision)), 60) or 'none'}"
    return summary_words(problem, decision, what, {"status": "best of those drawn"} if result is None else result)


def _robots(problem: ThresholdProblem, modes: Sequence[int]) -> str:
    return " or ".join(str(problem.modes[index].robots) for index in modes)


# -- the cost landscape ------------------------------------------------------------------------------------------------


def _draw_pairs(axes: Axes, problem: ThresholdProblem, pairs: Sequence[Landscape]) -> None:
    for index, pair in enumerate(pairs):
        thresholds = [key[0] for key in pair.judged]
        costs = [one.objective for one in pair.judged.values()]
        axes.plot(
            thresholds,
            costs,
            drawstyle="steps-mid",
            color=COLOURS[index],
            marker=MARKERS[index],
            markersize=4,
            markevery=1 if len(costs) <= MARKED else max(1, len(costs) // 8),
            linewidth=1.0,
            label=_robots(problem, pair.modes),
            gid=f"pair-{_robots(problem, pair.modes)}",
        )
        broken = [key for key, one in pair.judged.items() if not one.feasible]
        if broken:
            heights = [pair.judged[key].objective for key in broken]
            look: dict[str, Any] = {"color": COLOURS[index], "marker": "x", "linestyle": "", "markersize": 7}
            axes.plot([key[0] for key in broken], heights, gid="broken-limits", **look)
    least, best = pairs[0].best
    if math.isfinite(least):
        look = {"marker": "*", "color": _BEST, "markersize": 10, "linestyle": "", "zorder": 4}
        axes.plot([best[0]], [least], label="best", gid="best-of-pairs", **look)
    if any(line.get_gid() == "broken-limits" for line in axes.get_lines()):
        axes.plot([], [], "x", color=_BEST, markersize=6, label="breaks limits")
    if len(pairs[0].judged) < problem.queue.capacity + 2:
        axes.set_xscale("symlog", linthresh=10)
        axes.xaxis.set_major_formatter(lambda level, _: f"{level:g}")  # no TeX
    else:
        whole_ticks(axes.xaxis)
    label_axes(axes, "threshold (most pages at which\nthe larger number of robots is in use)", _COST, grid="y")
    entitle(axes, f"Two modes, by their robots{_part(problem, pairs)}")


def _draw_three(figure: Figure, axes: Axes, problem: ThresholdProblem, three: Landscape) -> None:
    steps = problem.queue.capacity + 2
    costs = np.full((steps, steps), np.nan)
    for (first, second), one in three.judged.items():
        costs[second + 1, first + 1] = one.objective
    edges = np.arange(-1, steps) - 0.5
    shades = axes.pcolormesh(edges, edges, np.ma.masked_invalid(costs), cmap="viridis_r", gid="three-modes")
    broken = [key for key, one in three.judged.items() if not one.feasible]
    handles: list[Artist] = []
    if broken:
        look: dict[str, Any] = {"marker": "x", "color": "white", "linestyle": "", "markersize": 5}
        axes.plot(*zip(*broken, strict=True), gid="broken-limits", **look)
        handles += axes.plot([], [], "x", color=_BEST, markersize=5, label="breaks limits (white)")
    least, best = three.best
    if math.isfinite(least):
        look = {"marker": "*", "color": "white", "markeredgecolor": _BEST, "linestyle": "", "label": "best"}
        handles += axes.plot([best[0]], [best[1]], markersize=11, gid="best-of-three", **look)
    most, middle, fewest = (problem.modes[index].robots for index in three.modes)
    label_axes(axes, f"{most} robots up to this many pages", f"{middle} robots up to this many pages,\n{fewest} beyond")
    for axis in (axes.xaxis, axes.yaxis):
        whole_ticks(axis)
    tried = _modes_tried(problem)
    entitle(axes, f"The best three of {tried} modes" if tried < len(problem.modes) else "The best three modes", handles)
    bar = figure.colorbar(shades, ax=axes, location="bottom", aspect=30, pad=0.03)
    label_axes(bar.ax, _COST)


# -- the policy --------------------------------------------------------------------------------------------------------


def _draw_policy(axes: Axes, problem: ThresholdProblem, decision: tuple[int, ...]) -> None:
    found = problem.measures(decision)
    by_level, colours = problem.queue.mode_by_level(decision), colours_of(problem)
    chances = np.array(found.level_probabilities)
    if len(chances) > ALL_LEVELS:
        beyond = np.cumsum(chances[::-1])[::-1]  # at this level and above
        chances = chances[: max(int(np.count_nonzero(beyond > FAINT)), 2)]
    levels, by_level = np.arange(len(chances)), by_level[: len(chances)]
    for mode in range(len(problem.modes) - 1, -1, -1):
        here = by_level == mode
        if not here.any():
            continue
        robots, colour = problem.modes[mode].robots, colours[mode]
        first, last = levels[here][0], levels[here][-1]
        axes.axvspan(first - 0.5, last + 0.5, color=colour, alpha=0.15, linewidth=0, gid=f"strip-{robots}")
        label = mode_label(problem, mode, found.mode_probabilities[mode])
        look: dict[str, Any] = {"color": colour, "label": label, "gid": f"levels-{robots}"}
        if len(levels) > MOST_BARS:
            axes.fill_between(levels[here], chances[here], step="mid", linewidth=0.5, **look)
        else:
            axes.bar(levels[here], chances[here], width=0.7, **look)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    rest = f"\n(beyond: {100 * FAINT:g} % of the time at most)" if len(levels) < len(found.level_probabilities) else ""
    whole_ticks(axes.xaxis)
    label_axes(axes, f"number of pages in the system{rest}", "share of the time")
    entitle(axes, "Robots in use by number of pages")


def _short(time: float) -> str:
    """Write a time with three digits, and no powers where these are not needed."""
    return number(float(f"{time:.3g}"))


def draw_sojourn(axes: Axes, times: SojournTimes) -> None:
    """Draw the distribution of the time in the system of served, obsolete and all pages, medians and 95 % dotted."""
    laws: dict[str, SojournLaw] = {
        name: law for name in NAMES if (law := getattr(times, name)) is not None and law.mean > 0.0
    }
    last = max((law.quantile(0.995) for law in laws.values()), default=1.0)
    grid = np.linspace(0.0, last, 161)
    for index, (name, law) in enumerate(laws.items()):
        colour = COLOURS[index]
        median, most = law.quantile(0.5), law.quantile(0.95)
        share = f" ({100 * law.probability:.1f} %)" if name != "all" else ""
        axes.plot(
            grid,
            [law.cdf(time) for time in grid],
            color=colour,
            linestyle=("-", "--", ":")[index],
            linewidth=1.4,
            label=f"{NAMES[name]}{share}: half by {_short(median)}, 95 % by {_short(most)}",
            gid=f"sojourn-{name}",
        )
        axes.plot([median, most], [law.cdf(median), law.cdf(most)], "o", color=colour, markersize=4, gid=f"mark-{name}")
    axes.set_xlim(0.0, last)
    axes.set_ylim(0.0, 1.02)
    label_axes(axes, "time in the system (units of time)", "share of pages that have left", grid="both")
    entitle(axes, "How long pages stay")
