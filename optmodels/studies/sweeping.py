"""Parameter studies: one instance, some of its numbers varied, one answer per point.

With a CSV file to write to, each finished point is on disk before the next one counts; a sweep that was ended goes on
from its file.
"""

from __future__ import annotations

import copy
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heuristics import Budget, Problem, Strategy

from ..data import as_path, columns, csv_text, number, write_text
from ..errors import InstanceError, RequestError, short, suggestion
from ..instance import Instance
from ..protocols import origin_of
from ..registry import AUTO, make_strategy
from ..results import plain
from ..solving import ProblemLike, as_instance, check_seed, choose, make_budget
from .pool import Answer
from .runs import BatchProgress, Cell, following_batch, make_runs, problem_digest, run_key
from .sweep_file import SweepFile, coordinates, read_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: More points than this are a slip of the pen.
MOST_POINTS = 100_000

#: Parts of an instance that may be varied.
ROOTS = ("data", "cost", "limits")


@dataclass(frozen=True)
class Axis:
    """A place in an instance and the values put there.

    >>> Axis.parse("data.capacity=1..9..4")
    Axis(path='data.capacity', values=(1, 5, 9))
    """

    path: str
    values: tuple[Any, ...]

    @classmethod
    def parse(cls, text: str) -> Axis:
        """Read ``path=values``: a range ``a..b`` or ``a..b..step``, or a list of numbers, texts and ranges."""
        path, equals, values = text.partition("=") if isinstance(text, str) else ("", "", "")
        if not equals or not path.strip() or not values.strip():
            raise RequestError(f'what to vary is written "data.capacity=1..30" or "data.capacity=1,2,5", got {text!r}.')
        path = path.strip()
        steps(path)  # refuses a path that makes no sense before anything is run
        found = tuple(value for part in values.split(",") for value in _values(part.strip(), text))
        return cls(path, tuple(dict.fromkeys(found)))


@dataclass(frozen=True)
class Point:
    """One point of a sweep: its coordinates and what came of it, as one flat record."""

    values: tuple[Any, ...]
    record: Mapping[str, Any]

    @property
    def error(self) -> str | None:
        """Why there is no answer, if there is none."""
        return self.record.get("error") or None


@dataclass(frozen=True, repr=False)
class Sweep:
    """The points of a parameter study, in order.

    Parameters
    ----------
    name
        Of the instance.
    axes
        What was varied.
    strategy
        By which every point was solved.
    points
        Coordinates and outcome of each.
    complete
        ``False`` if the study was ended early.
    warnings
        Lines of its file that were not believed, one sentence each.
    kind
        Of the instance.

    Examples
    --------
    >>> from optmodels import sweep
    >>> study = sweep("instances/placement/gautam-2x3.json", "data.service_rate=20,25", "exhaustive")
    >>> [(row["data.service_rate"], row["objective"]) for row in study.rows()]
    [(20, 8.0), (25, 5.0)]
    """

    name: str
    axes: tuple[Axis, ...]
    strategy: str
    points: tuple[Point, ...]
    complete: bool = True
    warnings: tuple[str, ...] = ()
    kind: str | None = None

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per point."""
        return [dict(point.record) for point in self.points]

    def to_frame(self) -> DataFrame:
        """A table of pandas, one row per point, with the columns of the CSV file.

        A column for each place that is varied, then ``status``, ``objective``, ``bound``, ``gap``, ``evaluations``,
        ``seconds``, ``stopped_by``, one for each measure, ``decision`` (as text), ``error``, ``strategy``, ``seed``,
        ``budget_seconds``, ``budget_evaluations`` and ``key``.
        """
        from ..notebook import frame

        return frame(self.rows(), [axis.path for axis in self.axes])

    def plot(self, ax: Axes | None = None, y: str = "objective") -> Figure:
        """Draw objective and bound, or another column, over the first axis; on a new figure unless axes are given."""
        return plot_sweep(self, y=y, ax=ax)

    def __repr__(self) -> str:
        early = "" if self.complete else ", ended early"
        varied = ", ".join(axis.path for axis in self.axes)
        return f"<Sweep of {self.name} over {varied} by {self.strategy}: points {len(self.points)}{early}>"

    def _repr_html_(self) -> str:
        from ..notebook import page

        head, *rows = self._cells()
        title = f"{self.name} by {self.strategy}"
        return page(title, head, rows, self.plot if self.points else None, [*self._notes(), *self.warnings])

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per point."""
        write_text(path, csv_text(self.rows()))

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        return {
            "format": 1,
            "problem": self.name,
            "vary": {axis.path: list(axis.values) for axis in self.axes},
            "strategy": self.strategy,
            "complete": self.complete,
            "points": self.rows(),
            "warnings": list(self.warnings),
        }

    def table(self) -> str:
        """The points as text, a line each, and why some have no answer."""
        return "\n".join([columns(self._cells()), *self._notes()])

    def _cells(self) -> list[list[str]]:
        """What is shown of each point, below its head."""
        shown = [*(axis.path for axis in self.axes), "status", "objective", "bound", "seconds", "stopped_by"]
        return [shown, *([number(read_value(str(point.record[name]))) for name in shown] for point in self.points)]

    def _notes(self) -> list[str]:
        """What is wrong, a sentence each."""
        notes = [f"{coordinates(self.axes, point.values)}: {point.error}" for point in self.points if point.error]
        return notes if self.complete else [*notes, "the sweep was ended early: points are missing"]


def sweep(
    problem: ProblemLike,
    vary: str | Axis | Iterable[str | Axis] | Mapping[str, Sequence[Any]],
    strategy: str | Strategy = AUTO,
    *,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    workers: int = 1,
    cluster: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | BatchProgress | None = None,
) -> Sweep:
    """Solve an instance again and again with some of its values changed.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
    vary
        What to change: ``"data.capacity=1..30"``, several of these (all combinations are run), or a mapping from dotted
        path to values. Lists are entered by index: ``data.demand[0][3]`` or ``data.demand.0.3``.
    strategy, budget, seconds, evaluations, seed
        As in `optmodels.solve`, the same for every point.
    workers
        Processes that share the points.
    cluster
        Address of a Dask cluster whose workers share the points instead, or ``"local"``.
    out
        CSV file; points it holds already are not run again if the evaluator finds the objective and the measures that
        the file has for their decision. Bounds that contradict nothing, and that nothing was found, are taken on trust;
        the columns ``seconds``, ``evaluations`` and ``stopped_by`` are believed.
    progress
        Called with what is done, what is to do, and a word on it; ``True`` tells it in a line on stderr, or in a
        notebook.

    Returns
    -------
    Sweep
        One point for each combination of values; a point that makes no sense has its error.

    Raises
    ------
    RequestError
        If nothing is varied, a place does not exist, or no point makes sense.

    Examples
    --------
    >>> from optmodels import sweep
    >>> study = sweep("instances/placement/gautam-2x3.json", {"data.service_rate": [20, 25]}, "exhaustive")
    >>> [point.record["status"] for point in study.points]
    ['optimal', 'optimal']
    """
    axes = _axes(vary)
    chosen = make_strategy(strategy)
    label = strategy.strip() if isinstance(strategy, str) else chosen.name
    limits, seed = make_budget(budget, seconds, evaluations), check_seed(seed)
    base, make = _maker(problem)
    grid = list(itertools.product(*(axis.values for axis in axes)))
    budget_told = {"budget_seconds": limits.seconds, "budget_evaluations": limits.evaluations}
    file = SweepFile(as_path("out", out), axes, {"strategy": label, "seed": seed, **budget_told})
    records: dict[int, dict[str, Any]] = {}
    cells: dict[int, Cell] = {}
    for index, values in enumerate(grid):
        try:
            point = make(_changed(base, axes, values))
        except RequestError as failure:
            records[index] = file.record(values, "", None, None, str(failure))
            continue
        taken, reason = choose(chosen, point)
        key = run_key(problem_digest(point), taken, seed, limits)
        known = file.known(key, values, point)
        if known is None:
            cells[index] = Cell(point, taken, seed, coordinates(axes, values), label, key, reason)
        else:
            records[index] = known
    if not cells and all(record["error"] for record in records.values()):
        raise RequestError(str(records[0]["error"]))  # not one point makes sense: the request does not
    places = list(cells)

    def finish(place: int, answer: Answer) -> None:
        index = places[place]
        cell = cells[index]
        records[index] = file.record(grid[index], cell.key, cell.problem, answer.value, answer.error)
        file.add(records[index])

    with following_batch(progress, f"sweep of {base['name']}") as follow:
        complete = make_runs(list(cells.values()), limits, workers, cluster, finish, len(records), follow)
    points = tuple(Point(grid[index], records[index]) for index in sorted(records))
    file.close([point.record for point in points])
    return Sweep(base["name"], axes, label, points, complete, tuple(file.warnings), base.get("kind"))


def plot_sweep(
    study: Sweep, path: str | os.PathLike[str] | None = None, y: str = "objective", *, ax: Axes | None = None
) -> Figure:
    """Draw objective and bound, or another column, over the first axis, a line for each value of the others."""
    from .. import plotting

    first, *others = study.axes
    rows = [
        {
            **point.record,
            "problem": study.name,
            "kind": study.kind,
            "strategy": coordinates(others, point.values[1:]) if others else study.strategy,
            "parameters": {},
            first.path: point.values[0],
        }
        for point in study.points
    ]
    return plotting.plot_sweep(rows, first.path, y, path=path, ax=ax)


# -- places in an instance --------------------------------------------------------------------------------------------


def steps(path: str) -> list[str | int]:
    """The steps of a dotted path; numbers, dotted or in brackets, are places in a list.

    >>> steps("data.demand[0].3")
    ['data', 'demand', 0, 3]
    """
    if not re.fullmatch(r"[^.\[\]=]+(\.[^.\[\]=]+|\[\d+\])*", path):
        raise RequestError(f"a field to vary is written data.capacity or data.demand[0][3], got {path!r}.")
    found: list[str | int] = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
    if found[0] not in ROOTS or len(found) < 2:
        raise RequestError(f"a field to vary begins with {', '.join(ROOTS)}, as in data.capacity, got {path!r}.")
    return found


def put(content: Any, path: str, value: Any) -> None:
    """Change the value at a place; a new field of an object is made, a place beyond a list is refused."""
    route = steps(path)
    here = content
    for position, step in enumerate(route):
        last = position == len(route) - 1
        so_far = ".".join(str(part) for part in route[:position])
        key: Any = step
        if isinstance(here, list):
            if not isinstance(step, int) or step >= len(here):
                raise InstanceError(path, value, f"{so_far} is a list of {len(here)}, and {step!r} is no place in it.")
        elif isinstance(here, dict):
            key = str(step)
            if not last and here.get(key) is None:
                if position:
                    raise InstanceError(path, value, f"{so_far} has no field {key!r}. {suggestion(key, here)}")
                here[key] = {}
        else:
            raise InstanceError(path, value, f"{so_far} is {short(here)} and has no fields.")
        if last:
            here[key] = value
        here = here[key]


# -- inside -----------------------------------------------------------------------------------------------------------


def _axes(vary: str | Axis | Iterable[str | Axis] | Mapping[str, Sequence[Any]]) -> tuple[Axis, ...]:
    if isinstance(vary, Mapping):
        axes = tuple(Axis(path, _listed(path, values)) for path, values in vary.items())
        for axis in axes:
            steps(axis.path)
    else:
        if not isinstance(vary, Iterable):
            raise RequestError(f'what to vary is written "data.capacity=1..30", or {{path: values}}; got {vary!r}.')
        given = [vary] if isinstance(vary, (str, Axis)) else list(vary)
        axes = tuple(one if isinstance(one, Axis) else Axis.parse(one) for one in given)
    if not axes or not all(axis.values for axis in axes):
        raise RequestError('a sweep needs something to vary, such as "data.capacity=1..30".')
    if len({axis.path for axis in axes}) < len(axes):
        raise RequestError("every place in an instance can be varied once.")
    if math.prod(len(axis.values) for axis in axes) > MOST_POINTS:
        raise RequestError(f"a sweep has at most {MOST_POINTS} points, this one has more.")
    return axes


def _listed(path: Any, values: Any) -> tuple[Any, ...]:
    """Read the values of one axis, as Python gives them."""
    if not isinstance(path, str) or isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise RequestError(
            f'what to vary is a path with a list of values, such as {{"data.capacity": [1, 2, 5]}}; got {short(path)} '
            f"with {short(values)}."
        )
    return tuple(plain(list(values)))


def _maker(problem: ProblemLike) -> tuple[dict[str, Any], Callable[[dict[str, Any]], Problem]]:
    base = as_instance(problem)
    origin = origin_of(base)

    def make(data: dict[str, Any]) -> Problem:
        try:
            return Instance.from_data(data).problem(folder=origin.folder)
        except InstanceError as failure:
            raise failure if failure.file or origin.file is None else failure.at(origin.file) from None

    return base.to_data(), make


def _changed(base: dict[str, Any], axes: Sequence[Axis], values: Sequence[Any]) -> dict[str, Any]:
    content = copy.deepcopy({key: value for key, value in base.items() if key != "best_known"})
    for axis, value in zip(axes, values, strict=True):
        put(content, axis.path, copy.deepcopy(value))
    return content


def _values(part: str, text: str) -> list[Any]:
    if ".." not in part:
        return [read_value(part)]
    ends = [read_value(piece) for piece in part.split("..")]
    if len(ends) not in (2, 3) or not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in ends):
        raise RequestError(f"a range is written 1..30 or 0..1..0.1, got {part!r} in {text!r}.")
    first, last = ends[:2]
    step = ends[2] if len(ends) == 3 else (1 if last >= first else -1)
    if step == 0 or (last - first) * step < 0:
        raise RequestError(f"the range {part!r} never comes to its end; its step must lead from the first to the last.")
    count = math.floor((last - first) / step + 1e-9) + 1
    if count > MOST_POINTS:
        raise RequestError(f"a sweep has at most {MOST_POINTS} points, the range {part!r} has more.")
    whole = all(isinstance(end, int) for end in (first, step))
    return [first + i * step if whole else float(f"{first + i * step:.12g}") for i in range(count)]
