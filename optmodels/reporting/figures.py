"""Which charts a report has: performance profiles, data profiles, ECDF, and the anytime curves of every instance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..data import number
from ..statistics import Clock, Distribution, Reference, StepCurve, curve_of
from .charts import Axis, Chart, Line, Vector, band, level, marks, share_axis, steps, time_axis, value_axis
from .writing import name_of
from .writing import target as written

if TYPE_CHECKING:
    from ..statistics import Statistics
    from ..studies import Run

#: Times below this many seconds are taken for it: less is noise of the clock.
CLOCK_FLOOR = 1e-3

#: First values this much above the best, relative to it, are far above: the chart begins below them.
FAR = 0.5
#: What part of the range of all values is always shown above the best one.
SHOWN = 0.3


def overview(statistics: Statistics, looks: Mapping[str, int]) -> list[Chart]:
    """Draw how strategies did over all instances, as far as there is something to draw.

    Parameters
    ----------
    statistics
        Of the comparison.
    looks
        Number of the look of every strategy.

    Returns
    -------
    list of Chart
        ECDF by seconds, performance profiles at the loosest and the tightest target, data profiles.
    """
    charts = [_ecdf(statistics, looks, "seconds")]
    tightest, loose = min(statistics.targets), _loose(statistics.targets)
    for target in dict.fromkeys((loose, tightest)):
        charts.append(_performance(statistics, looks, target))
    charts.append(_data(statistics, looks, loose))
    return [chart for chart in charts if chart is not None]


def _loose(targets: Sequence[float]) -> float:
    """The target of a profile that most strategies reach: the one nearest to one percent."""
    return min(targets, key=lambda target: abs(math.log10(max(target, 1e-6)) + 2))


def _within(target: float) -> str:
    return "the best value known" if target == 0 else f"a gap of {written(target)}"


def _ecdf(statistics: Statistics, looks: Mapping[str, int], clock: Clock) -> Chart | None:
    found = {name: statistics.ecdf(name, clock) for name in statistics.strategies}
    listed = ", ".join(map(written, statistics.targets))
    return _shares(
        "Targets reached over time (ECDF)",
        f"Share of all triples of instance, seed and target that were reached within a time. Targets are gaps to the "
        f"best known value: {listed}. Higher and further left is better; what is missing at the right end was never "
        "reached.",
        f"time of a run ({clock})",
        "share of targets reached",
        found,
        looks,
    )


def _performance(statistics: Statistics, looks: Mapping[str, int], target: float) -> Chart | None:
    found = statistics.performance_profiles(target, floor=CLOCK_FLOOR)
    count = max((profile.count for profile in found.values()), default=0)
    instances = "1 instance" if count == 1 else f"{count} instances"
    return _shares(
        f"Performance profiles: {_within(target)}",
        f"Share of {instances} on which a strategy reached {_within(target)} in an expected running time of at "
        "most so many times that of the fastest (Dolan and Moré 2002). At the left end: how often it was the fastest; "
        f"at the right end: how often it got there at all. Times below {CLOCK_FLOOR:g} s count as equal.",
        "factor to the fastest strategy",
        "share of instances",
        found,
        looks,
        least=1.0,
    )


def _data(statistics: Statistics, looks: Mapping[str, int], target: float) -> Chart | None:
    found = statistics.data_profiles(target)
    positive = {name: profile for name, profile in found.items() if not len(profile.points) or profile.points[0] > 0}
    return _shares(
        f"Data profiles: {_within(target)}",
        f"Share of instances on which a strategy reached {_within(target)} in an expected number of evaluations "
        "(Moré and Wild 2009). Strategies that reach the target without evaluations of their own, such as integer "
        "programs, are left out.",
        "evaluations",
        "share of instances",
        positive,
        looks,
    )


def _shares(
    title: str,
    caption: str,
    across: str,
    up: str,
    found: Mapping[str, Distribution],
    looks: Mapping[str, int],
    least: float | None = None,
) -> Chart | None:
    """A chart of distributions; ``None`` where none of them has a step."""
    points = [float(point) for done in found.values() for point in done.points]
    if not points:
        return None
    moments = [max(point, least or 0.0) for point in points] + ([] if least is None else [least])
    if least is None:
        x = time_axis(across, moments)
    else:
        x = Axis(f"{across}, logarithmic scale", least, max(*moments, least * 2) * 1.15, log=True)
    y = share_axis(up)
    lines = []
    for name, done in found.items():
        xs, ys = done.steps(x.high)
        if not len(xs):
            continue
        xs, ys = np.append(x.low, xs), np.append(done.at(x.low), ys)
        look = looks[name]
        lines.append(Line(name_of(name), look, steps(x, y, xs, ys, x.high), marks=marks(x, y, xs, ys, look)))
    return Chart(title, caption, x, y, tuple(lines))


def anytime(problem: str, runs: Sequence[Run], reference: Reference, looks: Mapping[str, int]) -> Chart | None:
    """Draw the best objective so far and the best bound of every strategy on one instance against seconds.

    Parameters
    ----------
    problem
        Name of the instance.
    runs
        On it, of all strategies and seeds.
    reference
        What is known to be best.
    looks
        Number of the look of every strategy.

    Returns
    -------
    Chart or None
        The median over seeds as a line, lowest to highest as a band, the best bound as a dashed line; ``None`` where
        no run has an answer or a bound.
    """
    groups: dict[str, list[StepCurve]] = {}
    for run in runs:
        if run.error is None:
            groups.setdefault(run.strategy, []).append(curve_of(run.result, "seconds"))
    curves = [curve for group in groups.values() for curve in group]
    known = None if reference.value is None or not math.isfinite(reference.value) else reference.value
    x = time_axis("time of a run (seconds)", [_first(curve) for curve in curves] + [curve.end for curve in curves])
    xs = x.columns()
    looked_up = {name: _over_seeds(group, xs) for name, group in groups.items()}
    y, above = _value_scale(looked_up, known)
    if y is None:
        return None
    lines: list[Line] = []
    for name, (low, middle, high, bound) in looked_up.items():
        look, label = looks[name], name_of(name)
        if len(groups[name]) > 1 and (area := band(x, y, xs, low, high)):
            lines.append(Line(label, look, area, "band"))
        if proved := steps(x, y, xs, np.where(bound >= y.low, bound, math.nan)):
            lines.append(Line(f"{label}: bound", look, proved, "bound"))
        if path := steps(x, y, xs, middle):
            lines.append(Line(label, look, path, marks=marks(x, y, xs, middle, look, 3)))
    if known is not None:
        lines.insert(0, Line(f"{reference.label} {number(known)}", 0, level(x, y, known), "level"))
    told = [f"Best objective so far on {name_of(problem)} against seconds"]
    if any(line.kind == "band" for line in lines):
        told.append("; lines are medians over seeds, bands go from the lowest to the highest")
    if any(line.kind == "bound" for line in lines):
        told.append("; dashed lines are the best bounds proved")
    if known is not None:
        told.append(f"; dotted: {reference.label}, {number(known)}")
    if above is not None:
        told.append(f". First values, up to {number(above)}, lie above the chart")
    return Chart("Best objective so far", "".join(told) + ".", x, y, tuple(lines))


def _first(curve: StepCurve) -> float:
    """When a run had its first answer, infinite without one."""
    found = np.flatnonzero(np.isfinite(curve.objectives))
    return float(curve.times[found[0]]) if len(found) else math.inf


def _over_seeds(group: Sequence[StepCurve], xs: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Lowest, middle and highest objective over seeds at some moments, and the best bound; infinite without any.

    The middle of an even number of seeds is the higher of the two in the middle: an objective that was reached.
    """
    looked_up = [curve.at(xs) for curve in group]
    objectives = np.sort(np.stack([objective for objective, _ in looked_up]), axis=0)
    bounds = np.stack([bound for _, bound in looked_up])
    return objectives[0], objectives[len(group) // 2], objectives[-1], bounds.max(axis=0)


def _value_scale(
    curves: Mapping[str, tuple[Vector, Vector, Vector, Vector]], known: float | None
) -> tuple[Axis | None, float | None]:
    """Choose what part of the plane is worth looking at, and tell the highest value if it lies above."""
    kept = [middle[np.isfinite(middle)] for _, middle, _, _ in curves.values()]
    first = [float(values[0]) for values in kept if len(values)]
    last = [float(values[-1]) for values in kept if len(values)]
    bounds = [float(bound[-1]) for *_, bound in curves.values() if np.isfinite(bound[-1])]
    values = [*last, *bounds, *([] if known is None else [known])]
    if not last and not bounds:
        return None, None
    best, high = min(last, default=max(values)), max(first, default=max(values))
    low = min(values)
    if best - low > FAR * abs(best) and bounds:  # a bound that says little must not flatten the answers
        low = max(low, best - max(SHOWN * (high - best), 2.5 * (max(last, default=best) - best), 0.1 * abs(best)))
    if high - best <= FAR * abs(best):
        return value_axis("best objective so far", [low, high, best]), None
    top = best + max(2.5 * (max(last) - best), SHOWN * (high - low))
    if top >= high:
        return value_axis("best objective so far", [low, high, best]), None
    return value_axis("best objective so far", [low, top, best]), high
