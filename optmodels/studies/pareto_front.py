r"""The Pareto front of two measures: every decision that is not beaten in both.

Small spaces are enumerated, and the front is exact. Otherwise a strategy is asked again and again for the least first
measure while the second one is limited (the epsilon-constraint method), and the front is exact if every answer was
proved and no room is left between neighbours.

References
----------
.. [1] M. Ehrgott, *Multicriteria Optimization*, 2nd edition, Springer (2005), chapters 3 and 4.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heuristics import Budget, Decision, Estimating, Problem, Strategy, clock, parameters, warm_up
from heuristics.search import Exhaustive, spelled

from ..costs import WeightedSum
from ..data import as_whole, columns, csv_text, number, write_text
from ..errors import RequestError, suggestion
from ..protocols import kind_of, measure_names
from ..registry import make_strategy
from ..results import plain
from ..solving import ProblemLike, as_problem, check_seed, make_budget, versions
from .pareto_search import Objective, Sweep, enumerated, require, supports, with_cost
from .runs import BatchProgress, following_batch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: Larger spaces are enumerated only if that is asked for.
SMALL = 1_000_000

#: Most runs of a strategy unless told otherwise.
RUNS = 50

#: What is told of a front and of its points in JSON.
_TOLD = (
    "problem", "kind", "strategy", "parameters", "seed", "exact", "stopped_by", "runs", "evaluations", "feasible",
    "seconds",
)  # fmt: skip
_TOLD_OF_POINT = ("decision", "values", "measures", "supported", "weights", "gap", "equivalent", "proved")


@dataclass(frozen=True)
class FrontPoint:
    """A decision on the front.

    Attributes
    ----------
    values
        Its two measures, as the problem tells them.
    decision
        The first one met with these measures.
    equivalent
        How many decisions have them, as far as seen.
    weights
        Smallest and largest w for which it is best in "first + w second" (measures to be maximised count negative)
        among all points found, ``inf`` without end; ``None`` if no weighted sum finds it.
    gap
        How much better in the first measure the hull of the front is at this second one; 0 for supported points.
    proved
        No feasible decision with as good a second measure has a better first one.
    measures
        All the problem tells of it.
    """

    values: tuple[float, float]
    decision: Decision
    equivalent: int
    weights: tuple[float, float] | None
    gap: float
    proved: bool
    measures: Mapping[str, float | None] = field(repr=False)

    @property
    def supported(self) -> bool:
        """Whether it lies on the convex hull: some weighted sum of both measures finds it."""
        return self.weights is not None


@dataclass(frozen=True, repr=False)
class Front:
    """The front of two measures, best in the first one first.

    Attributes
    ----------
    problem, kind
        Whose front it is.
    objectives
        The two measures, and whether less or more of each is wanted.
    points
        Those of the front, as far as found.
    exact
        These are all points of the front, and each is proved.
    stopped_by
        ``"complete"``, ``"seconds"``, ``"evaluations"``, ``"runs"`` or ``"interrupt"``.
    strategy, parameters, seed
        What looked for it.
    runs, evaluations, seconds
        What that took.
    feasible
        Decisions seen that keep every limit and have both measures.
    dominated
        Measures of decisions that are not on the front; a sample if they are many.

    Examples
    --------
    >>> from optmodels import pareto
    >>> front = pareto("instances/placement/gautam-2x3.json", ["opening", "mean_delay"])
    >>> front.names, front.points[0].decision
    (('opening', 'mean_delay'), (0, 0, 1, 1, 1, 0))
    """

    problem: str
    kind: str | None
    objectives: tuple[Objective, Objective]
    points: tuple[FrontPoint, ...]
    exact: bool
    stopped_by: str
    strategy: str
    parameters: Mapping[str, Any]
    seed: int
    runs: int
    evaluations: int
    feasible: int
    seconds: float
    dominated: tuple[tuple[float, float], ...] = field(default=(), repr=False)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two measures, in order."""
        return self.objectives[0].measure, self.objectives[1].measure

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per point, as in the CSV file; an open end of the weights is ``inf``."""
        return [
            dict(zip(self.names, point.values, strict=True))
            | {"supported": point.supported}
            | dict(zip(("weight_from", "weight_to"), point.weights or ("", ""), strict=True))
            | {name: getattr(point, name) for name in ("gap", "equivalent", "proved")}
            | {"decision": json.dumps(plain(point.decision))}
            for point in self.points
        ]

    def to_frame(self) -> DataFrame:
        """A table of pandas, one row per point, best in the first measure first.

        Columns: the two measures, ``supported``, ``weight_from`` and ``weight_to`` (not a number where no weighted sum
        finds the point), ``gap``, ``equivalent``, ``proved`` and ``decision`` (as text).
        """
        from ..notebook import frame

        rows = [{name: None if value == "" else value for name, value in row.items()} for row in self.rows()]
        return frame(rows, self.names)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the front, on a figure of its own unless axes are given."""
        from .pareto_plots import plot_front

        return plot_front(self, ax=ax)

    def _repr_html_(self) -> str:
        from ..notebook import page

        head, *rows = self._cells()
        return page(self.problem, head, rows, self.plot if self.points else None, [str(self)])

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per point, the whole file or nothing."""
        write_text(path, csv_text(self.rows()))

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object.

        ``measures`` lists both measures with their ``sense``, ``min`` or ``max``. Each of the ``points`` has
        ``decision``, ``values`` (the two measures, in this order), ``measures`` (all), ``supported``, ``weights``
        (``[from, to]``, ``to`` null without end; null if not supported), ``gap``, ``equivalent`` and ``proved``.
        """
        senses = [{"name": one.measure, "sense": "max" if one.maximise else "min"} for one in self.objectives]
        told: dict[str, Any] = {name: plain(getattr(self, name)) for name in _TOLD}
        points = [{name: plain(getattr(point, name)) for name in _TOLD_OF_POINT} for point in self.points]
        return {"format": 1, "measures": senses, **told, "points": points, "versions": versions()}

    def table(self) -> str:
        """The points as text, and what is known of them."""
        return "\n".join([columns(self._cells()), str(self)])

    def _cells(self) -> list[list[str]]:
        """What is shown of each point, below its head."""
        head = [*self.names, "supported", "weights of the second", "gap", "decisions", "decision"]
        rows = [head]
        for point in self.points:
            ends = "-" if point.weights is None else " to ".join(number(end) for end in point.weights)
            shown = json.dumps(plain(point.decision)).replace(" ", "").strip("[]")
            shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
            values = [number(value) for value in point.values]
            gap = number(point.gap) if point.gap else "-"
            rows.append([*values, "yes" if point.supported else "no", ends, gap, str(point.equivalent), shown])
        return rows

    def __repr__(self) -> str:
        return f"<Front {self}>"

    def __str__(self) -> str:
        supported = sum(point.supported for point in self.points)
        known = "exact" if self.exact else "not proved to be all"
        known += "" if self.stopped_by == "complete" else f", ended by {self.stopped_by}"
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return (
            f"{self.problem}: {len(self.points)} points, {supported} of them supported, {known} "
            f"({self.strategy}, {runs}, {self.evaluations} evaluations, {self.seconds:.2f} s)"
        )


def pareto(
    problem: ProblemLike,
    measures: Sequence[str | Objective],
    *,
    strategy: str | Strategy | None = None,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    runs: int = RUNS,
    progress: bool | BatchProgress | None = None,
) -> Front:
    """Find the Pareto front of two measures of a problem, among decisions that keep all its limits.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance; its cost plays no part.
    measures
        Two, each to be small, or large if written ``"max:success"``.
    strategy
        ``"exhaustive"``, the default for spaces of up to a million decisions, enumerates. Any other one that takes
        limits is asked for the least first measure under limits on the second.
    budget, seconds, evaluations, seed
        As in `optmodels.solve`, for each run.
    runs
        Most runs of a strategy that does not enumerate. The first ones spread points over the front; where all of them
        are proved, further ones close the gaps between neighbours until the front is exact.
    progress
        Called with what is done, what is to do, and a word on it; ``True`` tells it in a line on stderr, or in a
        notebook.

    Returns
    -------
    Front
        Its points, and whether it is exact.

    Raises
    ------
    UnsupportedProblem
        If the strategy cannot take the problem, or limits on it.

    Examples
    --------
    >>> from optmodels import pareto
    >>> front = pareto("instances/placement/gautam-2x3.json", ["opening", "mean_delay"])
    >>> front.exact, len(front.points)
    (True, 9)
    """
    asked = as_problem(problem)
    first, second = _objectives(asked, measures)
    limits, seed = make_budget(budget, seconds, evaluations), check_seed(seed)
    most = as_whole(runs)
    if most is None or most < 1:
        raise RequestError(f"runs are counted from 1 on, got {runs!r}.")
    if strategy is None and not asked.space.size <= SMALL:
        size = "infinitely many" if asked.space.size == math.inf else spelled(int(asked.space.size))
        raise RequestError(
            f"{asked.name!r} has {size} decisions, too many to enumerate in passing; name a strategy, with --strategy "
            "on the command line."
        )
    chosen = make_strategy("exhaustive" if strategy is None else strategy)
    priced = with_cost(asked, WeightedSum({first.measure: first.sign}))
    began = clock.start()
    with following_batch(progress, f"front of {asked.name}") as follow:
        if isinstance(chosen, Exhaustive):
            require(priced, chosen)
            warm_up(priced)
            began = clock.now()
            found = enumerated(priced, first, second, limits, follow)
        else:
            found = Sweep(priced, first, second, chosen, limits, seed, most, follow).done()
    front = found.archive.front()
    supported = supports([(one.first, one.second) for one in front])
    points = (
        FrontPoint(values, one.decision, one.equivalent, *support, one.proved, one.measures)
        for one, support in zip(front, supported, strict=True)
        for values in [(first.sign * one.first, second.sign * one.second)]
    )
    return Front(
        problem=asked.name,
        kind=kind_of(asked),
        objectives=(first, second),
        points=tuple(points),
        exact=found.exact and not (isinstance(asked, Estimating) and asked.estimated),
        stopped_by=found.stopped_by,
        strategy=chosen.name,
        parameters=parameters(chosen),
        seed=seed,
        runs=found.runs,
        evaluations=found.evaluations,
        feasible=found.archive.count,
        seconds=clock.now() - began,
        dominated=tuple((first.sign * a, second.sign * b) for a, b in found.archive.dominated()),
    )


# -- inside -----------------------------------------------------------------------------------------------------------


def _objectives(problem: Problem, measures: Sequence[str | Objective]) -> tuple[Objective, Objective]:
    if isinstance(measures, str) or not isinstance(measures, Sequence) or len(measures) != 2:
        given = 1 if isinstance(measures, str) else len(measures) if isinstance(measures, Sequence) else repr(measures)
        raise RequestError(f"a Pareto front needs two measures, got {given}; write for example: loss max:success.")
    first, second = (Objective.parse(one) for one in measures)
    offered = measure_names(problem) or tuple(problem.evaluate(next(iter(problem.space))).measures)
    for one in (first, second):
        if one.measure not in offered:
            raise RequestError(f"{problem.name!r} has no measure {one.measure!r}. {suggestion(one.measure, offered)}")
    if first.measure == second.measure:
        raise RequestError(f"a front has two different measures, got {first.measure!r} twice.")
    return first, second
