"""Pictures of kind "routing": which packets go where, what gaps cost, and the best period as a rate grows."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from queueing.routing import word_gaps

from ..errors import RequestError
from ..plotting import (
    COLOURS,
    INK,
    MARKERS,
    NARROW,
    NOTE,
    WIDE,
    check_path,
    decision_of,
    entitle,
    house_style,
    label_axes,
    log_ticks,
    name_ticks,
    open_panels,
    save,
    told_by,
    whole_ticks,
)  # fmt: skip
from ..solving import solve
from .horizon import RoutingHorizonProblem
from .problem import RoutingProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Routed: TypeAlias = RoutingProblem | RoutingHorizonProblem

#: Slots of a strip: a period is repeated until there are the fewest, and cut off at the most.
FEWEST_SLOTS, MOST_SLOTS = 36, 120

#: Servers up to which gaps are written into the strip, and their costs drawn; slots up to which there is room for that.
MOST_TOLD, MOST_WRITTEN = 10, 60

#: Servers up to which each has a row of its own with its name; of more, those that are used stand by share.
MOST_ROWS = 24

#: Gaps whose costs are drawn at least.
FEWEST_GAPS = 12

#: Points of a curve of best periods, and halvings that find where they change.
POINTS, HALVINGS = 120, 40


def draw_routing(
    problem: Routed, result: Mapping[str, Any] | None, *, ax: Axes | None = None, panel: str | None = None
) -> Figure:
    """Draw the packets of `result`: a strip with a row for each server, shares of servers, and what their gaps cost.

    Parameters
    ----------
    problem
        A problem of kind "routing", with a finite horizon or without.
    result
        What was found, as a result file has it; of its fields ``decision`` is drawn. ``None``: costs of gaps alone.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own.
    panel
        ``"strip"``, ``"shares"`` or ``"costs"``; by default all of them, with `ax` the first that there is.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; nothing is written to a file.

    Raises
    ------
    RequestError
        If there is no result, and too many servers to draw their costs.

    Examples
    --------
    >>> from optmodels.routing import Power, RoutingProblem, draw_routing
    >>> problem = RoutingProblem.of_costs([Power(), Power(2.0)])
    >>> [axes.get_label() for axes in draw_routing(problem, None).axes]
    ['costs']
    """
    decision: tuple[int, ...] | None = decision_of(problem, result)
    told = problem.server_count <= MOST_TOLD
    if decision is None and not told:
        raise RequestError(
            f"{problem.name!r} has {problem.server_count} servers; costs of gaps are drawn of {MOST_TOLD} at most, so "
            "give a result."
        )
    layout = [["strip", "shares"]] if decision is not None else []
    layout += [["costs", "costs"]] if told else []
    rows = _rows(problem, decision)
    tall = min(len(rows), MOST_ROWS)
    heights = [0.9 + (0.27 if tall <= 12 else 0.19) * tall] if decision is not None else []
    heights += [2.6] if told else []
    panels = open_panels(layout, ax, panel, size=(WIDE, 0.6 + sum(heights)), heights=heights, widths=[4.0, 1.0])
    word = None if decision is None else np.array(decision, dtype=np.int64)
    gaps = word_gaps(word, problem.server_count) if word is not None and isinstance(problem, RoutingProblem) else []
    for name, axes in panels.axes.items():
        if name == "costs":
            _draw_costs(axes, problem, gaps)
        elif word is not None:
            (_draw_strip if name == "strip" else _draw_shares)(axes, problem, word, rows)
    panels.head(problem.name, _summary(problem, decision, result or {}))
    return panels.figure


def plot_periods(
    problem: RoutingProblem,
    rates: Sequence[float] | None = None,
    server: int = -1,
    strategy: str = "two-server",
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw the best period and its cost as the rate of one server grows (Figure 1 of Altman et al. (2000)).

    Parameters
    ----------
    problem
        Without `period` and `max_period`; servers with rates.
    rates
        The rates looked at, rising; by default from 1 to 200 times the slowest rate of the others.
    server
        Whose rate it is; the last one by default.
    strategy
        That answers for each rate.
    path
        Where to write the picture.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Examples
    --------
    >>> from optmodels.routing import RoutingProblem, plot_periods
    >>> problem = RoutingProblem.from_data({
    ...     "servers": [{"rate": 0.3}, {"rate": 1.0}],
    ...     "arrivals": {"law": "poisson", "rate": 1.0},
    ...     "application": "loss",
    ... })
    >>> [axes.get_label() for axes in plot_periods(problem, [1.0, 2.0]).axes]
    ['periods', 'costs']
    """
    speeds = list(default_rates(problem, server) if rates is None else rates)
    check_path(path)
    with house_style():
        panels = open_panels([["periods"], ["costs"]], size=(NARROW, 4.6), heights=[2.0, 1.0], sharex=True)
        above, below = panels["periods"], panels["costs"]
        answers = [best_period(problem, rate, server, strategy) for rate in speeds]
        periods, costs = [period for period, _ in answers], [cost for _, cost in answers]
        steps = changes_of_period(problem, speeds, periods, server, strategy)
        _draw_staircase(above, speeds, periods, steps)
        below.plot(speeds, costs, color=COLOURS[1], lw=1.5, gid="costs")
        service = f"service rate of server {server % problem.server_count} (per unit of time)"
        label_axes(below, service, "least cost\nof a packet", grid="both")
        panels.head(problem.name, ())
        save(panels.figure, path)
    return panels.figure


def default_rates(problem: RoutingProblem, server: int = -1) -> list[float]:
    """Choose rates from the slowest of the others to 200 times that, evenly in logarithms."""
    others = [one.service for one in problem.servers]
    del others[server % problem.server_count]
    least = min((rate for rate in others if isinstance(rate, float)), default=1.0)
    return [float(rate) for rate in np.geomspace(least, 200.0 * least, POINTS)]


def best_period(problem: RoutingProblem, rate: float, server: int, strategy: str) -> tuple[int, float]:
    """Find the period of the best word where one server has another rate, and what it costs."""
    own = server % problem.server_count
    servers = list(problem.servers)
    if not isinstance(servers[own].service, float):
        raise RequestError(f"server {own} of {problem.name!r} has no rate that could grow; choose one that has.")
    servers[own] = replace(servers[own], service=float(rate))
    found = solve(replace(problem, servers=servers), strategy)
    if found.decision is None or found.objective is None:
        raise RequestError(f"strategy {strategy!r} finds nothing feasible for {problem.name!r} with the rate {rate:g}.")
    return len(found.decision), found.objective


def changes_of_period(
    problem: RoutingProblem,
    rates: Sequence[float],
    periods: Sequence[int],
    server: int = -1,
    strategy: str = "two-server",
) -> list[tuple[float, int, int]]:
    """Find the rates at which the best period changes, by halving; with the periods on both sides."""
    found = []
    for (low, before), (high, after) in pairwise(zip(rates, periods, strict=True)):
        if before == after:
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            here = best_period(problem, middle, server, strategy)[0]
            if here == before:
                low = middle
            else:
                high, after = middle, here
        found.append((0.5 * (low + high), before, after))
    return found


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _rows(problem: Routed, decision: tuple[int, ...] | None) -> NDArray[np.int64]:
    """List the servers in the order of their rows."""
    if problem.server_count <= MOST_ROWS or decision is None:
        return np.arange(problem.server_count)
    counts = np.bincount(np.array(decision), minlength=problem.server_count)
    return np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts))]


def _draw_strip(axes: Axes, problem: Routed, word: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Draw a row for each server, a bar for each packet, a thin line for each gap; the first period is darkest."""
    cyclic = not isinstance(problem, RoutingHorizonProblem)
    length, slots = len(word), _slots(len(word), cyclic)
    shown = word[np.arange(slots) % length]
    few = len(rows) <= MOST_ROWS
    written = slots <= MOST_WRITTEN and problem.server_count <= MOST_TOLD
    for row, server in enumerate(rows.tolist()):
        used = np.flatnonzero(shown == server)
        colour = COLOURS[server % len(COLOURS)]
        if few:
            axes.hlines(row, -0.5, slots - 0.5, color="#eeeeee", lw=1.0, zorder=0)
        for start, stop in zip(used[:-1].tolist(), used[1:].tolist(), strict=True):
            width, alpha = (1.2, 0.55) if few else (0.5, 0.35)
            axes.plot([start + 0.36, stop - 0.36], [row, row], color=colour, zorder=1, lw=width, alpha=alpha)
            if written and stop - start > 1:
                axes.text(0.5 * (start + stop), row - 0.12, str(stop - start), fontsize=NOTE, ha="center", va="bottom")
        for first, alpha in ((True, 1.0), (False, 0.4)):
            mine = used[(used < length) == first] if cyclic else used[: len(used) * first]
            axes.bar(
                mine, 0.62 if few else 0.9, bottom=row - (0.31 if few else 0.45), width=0.72, color=colour, alpha=alpha,
                zorder=2, gid=f"server {server}" if first else None,
            )  # fmt: skip
    if cyclic:
        for border in range(length, slots, length):
            axes.axvline(border - 0.5, color=INK, lw=0.8, ls=(0, (4, 2)), zorder=3, gid="period")
    axes.set_xlim(-0.7, slots - 0.3)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if few:
        name_ticks(axes.yaxis, range(len(rows)), [_label(problem, server) for server in rows.tolist()])
    cut = f", the first {slots}" if slots < length else ""
    whole_ticks(axes.xaxis, 10)
    label_axes(axes, f"packet{cut} (the period has {length})" if cyclic else f"packet{cut}")
    label_axes(axes, y="server" if few else f"rank of the server by share,\n{_unused(problem, rows)}")
    axes.tick_params(axis="y", length=0)
    entitle(axes, "Which server each packet goes to", [])


def _unused(problem: Routed, rows: NDArray[np.int64]) -> str:
    unused = problem.server_count - len(rows)
    return f"{unused} of {problem.server_count} unused" if unused else f"all {problem.server_count} in use"


def _slots(length: int, cyclic: bool) -> int:
    """Choose how many slots are drawn: some periods if they are short, and a little of the next if they are long."""
    if not cyclic:
        return min(length, MOST_SLOTS)
    if length < FEWEST_SLOTS:
        return length * min(8, -(-FEWEST_SLOTS // length))
    return min(length + max(8, length // 4), MOST_SLOTS)


def _draw_shares(axes: Axes, problem: Routed, word: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    from matplotlib.ticker import MaxNLocator

    shares = (np.bincount(word, minlength=problem.server_count) / len(word))[rows]
    few = len(rows) <= MOST_ROWS
    colours = [COLOURS[server % len(COLOURS)] for server in rows.tolist()]
    axes.barh(range(len(rows)), shares, color=colours, height=0.62 if few else 0.9, gid="shares")
    for row, share in enumerate(shares.tolist()) if few else ():
        axes.text(share, row, f" {100 * share:.3g} %", va="center", fontsize=NOTE)
    axes.set_xlim(0, 1.75 * max(float(shares.max()), 1e-9))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(3))
    label_axes(axes, "share of packets")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_costs(axes: Axes, problem: Routed, gaps: Sequence[NDArray[np.int64]]) -> None:
    """Draw what a packet costs by the slots since the last one to its server; large marks where the word has such gaps.

    What is paid for each slot whatever is done, and what is paid for each packet at last, is left out.
    """
    longest = max([FEWEST_GAPS, *(int(one.max()) for one in gaps if len(one))])
    longest = min(longest + 2, 60)
    table, remainders = problem.costs.table(longest), problem.costs.remainders(longest)
    known = bool(np.isfinite(remainders).all())
    bare = known and bool((problem.costs.slopes == 0).all() and (problem.costs.limits == 0).all())
    values = remainders if known else table
    places = np.arange(1, longest + 1)
    for server in range(problem.server_count):
        colour, marker = COLOURS[server % len(COLOURS)], MARKERS[server % len(MARKERS)]
        look: dict[str, Any] = {"color": colour, "lw": 1.0, "marker": marker, "ms": 2.5}
        axes.plot(
            places, values[server], drawstyle="steps-mid", label=f"server {_label(problem, server)}", gid="cost", **look
        )
        if len(gaps) and len(gaps[server]):
            met, counts = np.unique(gaps[server][gaps[server] <= longest], return_counts=True)
            axes.scatter(
                met, values[server, met - 1], s=30.0 + 130.0 * counts / len(gaps[server]), color=colour, marker=marker,
                alpha=0.8, zorder=3, edgecolors="white", linewidths=0.6, gid=f"gaps of {server}",
            )  # fmt: skip
    if bool((values > 0).all()):
        axes.set_yscale("log")
        used = [
            float(values[server, int(one.max()) - 1])
            for server, one in enumerate(gaps)
            if len(one) and one.max() <= longest
        ]
        axes.set_ylim(bottom=max(float(values.min()), min(used, default=1e-6) / 100) / 2)
        log_ticks(axes.yaxis)
    axes.set_xlim(0.5, longest + 0.5)
    whole_ticks(axes.xaxis, 12)
    label_axes(axes, "gap: packets since the last one to the server", grid="y")
    label_axes(axes, y="cost of a packet" if bare or not known else "cost of a packet\nabove its asymptote")
    entitle(axes, "What gaps cost, by server" + (" (large marks: gaps of the decision)" if gaps else ""))


def _draw_staircase(
    axes: Axes, rates: Sequence[float], periods: Sequence[int], steps: Sequence[tuple[float, int, int]]
) -> None:
    places = [rates[0], *(step[0] for step in steps), rates[-1]]
    levels = [periods[0], *(step[2] for step in steps)]
    for start, stop, level in zip(places[:-1], places[1:], levels, strict=True):
        axes.plot([start, stop], [level, level], color=COLOURS[0], lw=2.2, solid_capstyle="butt", gid="period")
    for rate, before, after in steps:
        axes.plot([rate, rate], [before, after], color=COLOURS[0], lw=0.8, ls=":", gid="step")
        axes.annotate(
            f"{rate:.5g}",
            (rate, before),
            xytext=(3, -2),
            textcoords="offset points",
            fontsize=NOTE,
            va="top",
            ha="left",
        )
    axes.set_xscale("log")
    axes.set_xlim(rates[0] / 1.2, rates[-1] * 2.0)
    log_ticks(axes.xaxis)
    axes.set_yticks(sorted(set(levels)))
    axes.set_ylim(min(levels) - 0.7, max(levels) + 0.5)
    label_axes(axes, y="best period (packets)", grid="both")


def _label(problem: Routed, server: int) -> str:
    """Write the number of a server and, where it has one, its rate."""
    service = problem.servers[server].service
    return f"{server} (rate {service:g})" if isinstance(service, float) else f"{server}"


def _summary(problem: Routed, decision: tuple[int, ...] | None, result: Mapping[str, Any]) -> list[str]:
    count = f"{problem.server_count} server{'s' if problem.server_count > 1 else ''}"
    if decision is None:
        return [count]
    judged, bound = problem.evaluate(decision), None
    known = result.get("bound") is not None or result.get("status") == "optimal"
    if not known and isinstance(problem, RoutingProblem) and math.isfinite(problem.lower_bound()):
        bound = problem.lower_bound()
    words = [*told_by(result, judged.objective, "cost", bound), count]
    words += [f"period {len(decision)}"] if isinstance(problem, RoutingProblem) else []
    return words + ([] if judged.feasible else ["breaks rules"])
