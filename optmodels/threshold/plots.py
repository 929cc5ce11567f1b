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
from ..plotting import COLOURS, MARKERS, decision_of, literal, new_figure, plain
from .policy_plots import colour_of, draw_policy, mode_label, status_of, summary_words, whole_ticks
from .problem import ThresholdProblem
from .sojourn import NAMES, cheap_sojourn
from .subsets import of_subset

if TYPE_CHECKING:
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
#: Levels that are drawn as bars; where there are more, those that hold all but `FAINT` of the time, as a line.
MOST_BARS, FAINT = 400, 1e-6
#: Lines of more points than this have no markers.
MARKED = 40

_BEST = "#000000"


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


def draw_threshold(problem: ThresholdProblem, result: Mapping[str, Any] | None) -> Figure:
    """Draw what policies of two and of three modes cost, what the policy of `result` does, and how long pages stay.

    Two modes have one threshold: a line for each pair of modes, as in Figure 1 of Avrachenkov et al.
    (2011). Three modes have two: a map of the best three. Without a result the policy is the best of those drawn. A
    policy by state has a picture of its own.

    Parameters
    ----------
    problem
        A problem of kind "threshold".
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn.

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
        return draw_policy(problem, decision, result)
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
    figure = new_figure(5.4 * width + 1.2, 3.4 * len(rows) + 0.5, layout="constrained")
    layout: Any = rows  # its type knows lists of lists of one depth only
    panels = figure.subplot_mosaic(layout, height_ratios=[1.25, 1.0][: len(rows)] if above else [1.0])
    for name, axes in panels.items():
        axes.set_label(name)
    if pairs:
        _draw_pairs(panels["pairs"], problem, pairs)
    if three:
        _draw_three(figure, panels["three"], problem, three)
    if decision is not None:
        _draw_policy(panels["policy"], problem, decision)
    if times is not None and times.all is not None:
        draw_sojourn(panels["sojourn"], times)
    literal(figure.suptitle(f"{plain(problem.name, 90)}\n{_summary(problem, result, decision)}", fontsize=10))
    return figure


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


def _summary(problem: ThresholdProblem, result: Mapping[str, Any] | None, decision: tuple[int, ...] | None) -> str:
    """Return the second line of the title: what is known."""
    if decision is None:
        return "no policy keeps the limits"
    what = f"thresholds {plain(', '.join(map(str, decision)), 80) or 'none'}"
    status = "the best of those drawn" if result is None else status_of(result)
    return ", ".join(summary_words(problem, decision, what, status))


def _robots(problem: ThresholdProblem, modes: Sequence[int]) -> str:
    return " or ".join(str(problem.modes[index].robots) for index in modes)


# -- the cost landscape ------------------------------------------------------------------------------------------------


def _draw_pairs(axes: Axes, problem: ThresholdProblem, pairs: Sequence[Landscape]) -> None:
    for index, pair in enumerate(pairs):
        thresholds = [key[0] for key in pair.judged]
        costs = [one.objective for one in pair.judged.values()]
        marker = MARKERS[index] if len(costs) <= MARKED else ""
        axes.plot(
            thresholds,
            costs,
            color=COLOURS[index],
            marker=marker,
            markersize=4,
            linewidth=1.2,
            label=f"{_robots(problem, pair.modes)} robots",
            gid=f"pair-{_robots(problem, pair.modes)}",
        )
        broken = [key for key, one in pair.judged.items() if not one.feasible]
        if broken:
            heights = [pair.judged[key].objective for key in broken]
            look: dict[str, Any] = {"color": COLOURS[index], "marker": "x", "linestyle": "", "markersize": 7}
            axes.plot([key[0] for key in broken], heights, gid="broken-limits", **look)
    least, best = pairs[0].best
    if math.isfinite(least):
        axes.plot(
            [best[0]], [least], marker="*", color=_BEST, markersize=12, linestyle="", label="best", gid="best-of-pairs"
        )
    axes.set_xlabel("threshold: more robots up to so many pages")
    axes.set_ylabel("objective")
    axes.set_title(f"two modes{_part(problem, pairs)}")
    if len(pairs[0].judged) < problem.queue.capacity + 2:
        axes.set_xscale("symlog", linthresh=10)
        axes.xaxis.set_major_formatter(lambda level, _: f"{level:g}")  # no TeX
    else:
        whole_ticks(axes.xaxis)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def _draw_three(figure: Figure, axes: Axes, problem: ThresholdProblem, three: Landscape) -> None:
    steps = problem.queue.capacity + 2
    costs = np.full((steps, steps), np.nan)
    for (first, second), one in three.judged.items():
        costs[second + 1, first + 1] = one.objective
    edges = np.arange(-1, steps) - 0.5
    shades = axes.pcolormesh(edges, edges, np.ma.masked_invalid(costs), cmap="viridis_r", gid="three-modes")
    broken = [key for key, one in three.judged.items() if not one.feasible]
    if broken:
        axes.plot(
            *zip(*broken, strict=True), marker="x", color="white", linestyle="", markersize=5, gid="broken-limits"
        )
    least, best = three.best
    if math.isfinite(least):
        look: dict[str, Any] = {"marker": "*", "color": "white", "markeredgecolor": _BEST, "linestyle": ""}
        axes.plot([best[0]], [best[1]], markersize=13, gid="best-of-three", **look)
    most, middle, fewest = (problem.modes[index].robots for index in three.modes)
    axes.set_xlabel(f"{most} robots up to so many pages")
    axes.set_ylabel(f"{middle} robots up to so many pages, {fewest} beyond")
    tried = _modes_tried(problem)
    axes.set_title(f"the best three of {tried} modes" if tried < len(problem.modes) else "the best three modes")
    axes.set_aspect("equal")
    for axis in (axes.xaxis, axes.yaxis):
        whole_ticks(axis)
    figure.colorbar(shades, ax=axes, label="objective")


# -- the policy --------------------------------------------------------------------------------------------------------


def _draw_policy(axes: Axes, problem: ThresholdProblem, decision: tuple[int, ...]) -> None:
    found = problem.measures(decision)
    by_level = problem.queue.mode_by_level(decision)
    chances = np.array(found.level_probabilities)
    if len(chances) > MOST_BARS:
        beyond = np.cumsum(chances[::-1])[::-1]  # at this level and above
        chances = chances[: max(int(np.count_nonzero(beyond > FAINT)), 2)]
    levels, by_level = np.arange(len(chances)), by_level[: len(chances)]
    for mode in range(len(problem.modes) - 1, -1, -1):
        here = by_level == mode
        if not here.any():
            continue
        robots, colour = problem.modes[mode].robots, colour_of(mode)
        first, last = levels[here][0], levels[here][-1]
        axes.axvspan(first - 0.5, last + 0.5, color=colour, alpha=0.15, linewidth=0, gid=f"strip-{robots}")
        label = mode_label(problem, mode, found.mode_probabilities[mode])
        look: dict[str, Any] = {"color": colour, "label": label, "gid": f"levels-{robots}"}
        if len(levels) > MOST_BARS:
            axes.fill_between(levels[here], chances[here], step="mid", linewidth=0.5, **look)
        else:
            axes.bar(levels[here], chances[here], width=0.7, **look)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    rest = f", {FAINT:g} of the time at most beyond" if len(levels) < len(found.level_probabilities) else ""
    axes.set_xlabel(f"pages in the system{rest}")
    axes.set_ylabel("probability")
    axes.set_title("robots in use by number of pages")
    whole_ticks(axes.xaxis)
    axes.legend(fontsize=7)


def draw_sojourn(axes: Axes, times: SojournTimes) -> None:
    """Draw P(time in the system <= t) of served, obsolete and all pages; dots mark medians and 95 % quantiles."""
    laws: dict[str, SojournLaw] = {
        name: law for name in NAMES if (law := getattr(times, name)) is not None and law.mean > 0.0
    }
    last = max((law.quantile(0.995) for law in laws.values()), default=1.0)
    grid = np.linspace(0.0, last, 161)
    for index, (name, law) in enumerate(laws.items()):
        colour = COLOURS[index]
        median, most = law.quantile(0.5), law.quantile(0.95)
        share = f" ({100 * law.probability:.1f} % of pages)" if name != "all" else ""
        axes.plot(
            grid,
            [law.cdf(time) for time in grid],
            color=colour,
            linestyle=("-", "--", ":")[index],
            linewidth=1.4,
            label=f"{NAMES[name]}{share}: half by {median:.3g}, 95 % by {most:.3g}",
            gid=f"sojourn-{name}",
        )
        axes.plot([median, most], [law.cdf(median), law.cdf(most)], "o", color=colour, markersize=4, gid=f"mark-{name}")
    axes.set_xlim(0.0, last)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("time in the system")
    axes.set_ylabel("share of pages that have left")
    axes.set_title("how long pages stay")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, loc="lower right")
