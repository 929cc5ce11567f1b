"""Parameter studies: one instance, some of its numbers varied, one answer per point.

With a CSV file to write to, each finished point is on disk before the next one counts; a sweep that was ended goes on
from its file.
"""

from __future__ import annotations

import copy
import csv
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics import Budget, Problem, Result, Strategy

from ..data import (
    append_to,
    columns,
    csv_rows,
    csv_text,
    locked,
    number,
    unguarded,
    whole_lines,
    whole_part,
    write_text,
)
from ..errors import InstanceError, RequestError, printable, short
from ..instance import Instance, problem_of, read
from ..protocols import Summarised, measure_names
from ..registry import make_strategy
from ..results import plain
from ..solving import check_seed, make_budget
from ..verification import judge
from .comparing import BatchProgress, problem_digest, run_key, solve_cell
from .pool import call_all
from .sweeping_stored import cells, decision_text, stored

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: More points than this are a slip of the pen.
MOST_POINTS = 100_000

#: Parts of an instance that may be varied.
ROOTS = ("data", "cost", "limits")

OUTCOME = (
    "status", "objective", "bound", "gap", "evaluations", "seconds", "stopped_by", "decision", "error",
    "strategy", "seed", "budget_seconds", "budget_evaluations", "key",
)  # fmt: skip


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
        path, equals, values = text.partition("=")
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


@dataclass(frozen=True)
class Sweep:
    """The points of a parameter study, in order."""

    name: str
    axes: tuple[Axis, ...]
    strategy: str
    points: tuple[Point, ...]
    complete: bool = True
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per point."""
        return [dict(point.record) for point in self.points]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per point."""
        write_text(path, csv_text(self.rows()))

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        axes = {axis.path: list(axis.values) for axis in self.axes}
        return {
            "format": 1,
            "problem": self.name,
            "vary": axes,
            "strategy": self.strategy,
            "complete": self.complete,
            "points": self.rows(),
            "warnings": list(self.warnings),
        }

    def table(self) -> str:
        """The points as text."""
        shown = [*(axis.path for axis in self.axes), "status", "objective", "bound", "seconds", "stopped_by"]
        rows = [shown, *([number(_read(str(point.record[name]))) for name in shown] for point in self.points)]
        notes = [f"{_coordinates(self.axes, point.values)}: {point.error}" for point in self.points if point.error]
        notes += [] if self.complete else ["the sweep was ended early: points are missing"]
        return "\n".join([columns(rows), *notes])


def sweep(
    instance: str | os.PathLike[str] | Instance,
    vary: str | Axis | Iterable[str | Axis] | Mapping[str, Sequence[Any]],
    strategy: str | Strategy,
    *,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    workers: int = 1,
    cluster: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: BatchProgress | None = None,
) -> Sweep:
    """Solve an instance again and again with some of its values changed.

    Parameters
    ----------
    instance
        A file, or an instance read from one.
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
    """
    axes = _axes(vary)
    chosen = make_strategy(strategy)
    label = strategy.strip() if isinstance(strategy, str) else chosen.name
    limits, seed = make_budget(budget, seconds, evaluations), check_seed(seed)
    base, make = _maker(instance)
    grid = list(itertools.product(*(axis.values for axis in axes)))
    table = _Table(None if out is None else Path(out), axes, label, limits, seed)
    records: dict[int, dict[str, Any]] = {}
    asked: list[tuple[int, Problem, str]] = []
    for index, values in enumerate(grid):
        try:
            problem = make(_changed(base, axes, values))
        except RequestError as failure:
            records[index] = table.failed(values, "", str(failure))
            continue
        key = run_key(problem_digest(problem), chosen, seed, limits)
        known = table.known(key, values, problem)
        if known is None:
            asked.append((index, problem, key))
        else:
            records[index] = table.place(values) | known
    if len(records) == len(grid) and all(record["error"] for record in records.values()):
        raise RequestError(str(records[0]["error"]))  # not one point makes sense: the request does not
    complete, done = True, len(records)
    answers = call_all(solve_cell, [(problem, chosen, limits, seed) for _, problem, _ in asked], workers, cluster)
    try:
        for answer in answers:
            index, problem, key = asked[answer.index]
            if answer.value is not None and answer.value.stopped_by == "interrupt":
                raise KeyboardInterrupt
            record = (
                table.failed(grid[index], key, answer.error or "")
                if answer.value is None
                else table.answered(grid[index], key, answer.value, problem)
            )
            records[index] = record
            table.add(record)
            done += 1
            if progress:
                progress(done, len(grid), _coordinates(axes, grid[index]))
    except KeyboardInterrupt:
        complete = False
    finally:
        answers.close()
    points = tuple(Point(grid[index], records[index]) for index in sorted(records))
    table.close([dict(point.record) for point in points])
    return Sweep(base["name"], axes, label, points, complete, tuple(table.warnings))


def plot_sweep(study: Sweep, path: str | os.PathLike[str] | None = None, y: str = "objective") -> Figure:
    """Draw objective and bound, or another column, over the first axis, a line for each value of the others."""
    from ..plotting import problems as plots

    first, *others = study.axes
    rows = [
        {
            **point.record,
            "problem": study.name,
            "strategy": _coordinates(others, point.values[1:]) if others else study.strategy,
            "parameters": {},
            first.path: point.values[0],
        }
        for point in study.points
    ]
    return plots.plot_sweep(rows, first.path, y, path=path)


# -- places in an instance --------------------------------------------------------------------------------------------


def steps(path: str) -> list[str | int]:
    """The steps of a dotted path; numbers, dotted or in brackets, are places in a list.

    >>> steps("data.demand[0].3")
    ['data', 'demand', 0, 3]
    """
    if not re.fullmatch(r"[^.\[\]=]+(\.[^.\[\]=]+|\[\d+\])*", path):
        raise RequestError(f"a place in an instance is written data.capacity or data.demand[0][3], got {path!r}.")
    found: list[str | int] = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
    if found[0] not in ROOTS or len(found) < 2:
        raise RequestError(f"a place in an instance begins with {', '.join(ROOTS)} and a field of it, got {path!r}.")
    return found


def put(content: Any, path: str, value: Any) -> None:
    """Change the value at a place; a new field of an object is made, a place beyond a list is refused."""
    route = steps(path)
    here = content
    for position, step in enumerate(route):
        last = position == len(route) - 1
        so_far = ".".join(str(part) for part in route[:position])
        if isinstance(here, list):
            if not isinstance(step, int) or step >= len(here):
                raise InstanceError(path, value, f"{so_far} is a list of {len(here)}, and {step!r} is no place in it.")
            if last:
                here[step] = value
            else:
                here = here[step]
        elif isinstance(here, dict):
            key = str(step)
            if last:
                here[key] = value
            elif here.get(key) is None:
                if position:
                    raise InstanceError(path, value, f"{so_far} has no field {key!r}.")
                here[key] = {}
            here = here[key]
        else:
            raise InstanceError(path, value, f"{so_far} is {short(here)} and has no fields.")


# -- inside -----------------------------------------------------------------------------------------------------------


class _Table:
    """The CSV file of a sweep, or nothing."""

    def __init__(self, path: Path | None, axes: Sequence[Axis], strategy: str, budget: Budget, seed: int) -> None:
        self.path, self.axes = path, axes
        self.same = {
            "strategy": strategy,
            "seed": seed,
            "budget_seconds": budget.seconds,
            "budget_evaluations": budget.evaluations,
        }
        self._old: dict[str, dict[str, Any]] = {}
        self.warnings: list[str] = []
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        lines = whole_lines(path) if not path.is_dir() else ["a folder"]
        if not lines:
            return
        self._old = {record["key"]: record for record in self._records(path, lines) if _is_answer(record)}

    def _records(self, path: Path, lines: Sequence[str]) -> list[dict[str, Any]]:
        """What stands in the file of a sweep over the same places."""
        if not lines:
            return []
        try:
            head, *rows = ([unguarded(cell) for cell in row] for row in cells(lines))
        except csv.Error as failure:
            raise RequestError(f"{path}: this is no CSV file: {failure}; choose another, or remove it.") from None
        self._check_head(path, head)
        whole = [row for row in rows if len(row) == len(head)]
        return [
            {name: text if name == "key" else _read(text) for name, text in zip(head, row, strict=True)}
            for row in whole
        ]

    def _check_head(self, path: Path, head: Sequence[str]) -> None:
        if not {"key", "status", "objective", *(axis.path for axis in self.axes)} <= set(head):
            raise RequestError(f"{path}: this file is not of a sweep over {self._names}; choose another, or remove it.")

    @property
    def _names(self) -> str:
        return ", ".join(axis.path for axis in self.axes)

    def known(self, key: str, values: Sequence[Any], problem: Problem) -> dict[str, Any] | None:
        """The record of a point that is done and holds, without its coordinates."""
        record = self._old.get(key)
        if record is None:
            return None
        try:
            judge(stored(record, problem), problem, extra=False).check()
        except Exception as failure:  # written by another version, or by hand: one line must not take the others down
            reason = str(failure) if isinstance(failure, RequestError) else f"{type(failure).__name__}: {failure}"
            place = _coordinates(self.axes, values)
            self.warnings.append(f"{self.path}: the line of {place} is not used: {printable(reason)}")
            return None
        return {k: v for k, v in record.items() if k not in {axis.path for axis in self.axes}}

    def place(self, values: Sequence[Any]) -> dict[str, Any]:
        """The first columns of a record."""
        return {axis.path: value for axis, value in zip(self.axes, values, strict=True)}

    def answered(self, values: Sequence[Any], key: str, result: Result, problem: Problem) -> dict[str, Any]:
        """The record of a point with an answer: outcome, measures, and what the kind calls its ``summary_names``."""
        found = {} if result.evaluation is None else result.evaluation.measures
        measures = measure_names(problem)
        summary = problem.summary_names if isinstance(problem, Summarised) else ()
        record = self.place(values) | {
            "status": str(result.status),
            "objective": plain(result.objective),
            "bound": plain(result.bound),
            "gap": plain(result.gap()),
            "evaluations": result.evaluations,
            "seconds": result.seconds,
            "stopped_by": result.stopped_by,
        }
        record |= {name: plain(found.get(name)) for name in (measures or found)}
        for name in summary:
            told = plain(result.extra.get(name))
            record |= (
                {f"{name}.{part}": value for part, value in told.items()} if isinstance(told, dict) else {name: told}
            )
        record |= {
            "decision": decision_text(result.decision),
            "error": None,
            **self.same,
            "key": key,
        }
        return record

    def failed(self, values: Sequence[Any], key: str, error: str) -> dict[str, Any]:
        """The record of a point without an answer."""
        record = self.place(values) | dict.fromkeys(OUTCOME) | self.same
        return record | {"status": "error", "error": error, "key": key}

    def add(self, record: Mapping[str, Any]) -> None:
        """Write a finished point."""
        if self.path is None or record["error"]:
            return  # failed points are tried again by the next sweep; they are written at the end
        with locked(self.path) as stream:  # another sweep may have begun the file, or put it in order, since
            stream.seek(0)
            first = stream.readline().decode("utf-8", "replace")
            if not first.endswith("\n"):
                append_to(stream, csv_rows([record]).rstrip("\n"))
                head = list(record)
            else:
                head = [unguarded(cell) for cell in next(csv.reader([first]))]
                self._check_head(self.path, head)
            append_to(stream, csv_rows([[record.get(name) for name in head]]).rstrip("\n"))

    def close(self, records: Sequence[dict[str, Any]]) -> None:
        """Put the file in the order of the points; what other sweeps have written to it meanwhile is kept, below."""
        if self.path is None:
            return
        keys, places = {record["key"] for record in records}, {self._identity(record) for record in records}
        with locked(self.path) as stream:
            held = self._records(self.path, whole_part(stream).decode("utf-8", "replace").split("\n")[:-1])
            others = [
                record
                for record in held
                if (record["key"] not in keys if _is_answer(record) else self._identity(record) not in places)
            ]
            write_text(self.path, csv_text(sorted(records, key=_is_error) + others if others else records))

    def _identity(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """What tells a point from others where it has no answer, and perhaps no key."""
        return tuple(str(record.get(name)) for name in (*(axis.path for axis in self.axes), *self.same))


def _is_error(record: Mapping[str, Any]) -> bool:
    return bool(record["error"])


def _is_answer(record: Mapping[str, Any]) -> bool:
    return bool(record["key"]) and not record.get("error")


def _axes(vary: str | Axis | Iterable[str | Axis] | Mapping[str, Sequence[Any]]) -> tuple[Axis, ...]:
    if isinstance(vary, Mapping):
        axes = tuple(Axis(path, tuple(values)) for path, values in vary.items())
        for axis in axes:
            steps(axis.path)
    else:
        given = [vary] if isinstance(vary, (str, Axis)) else list(vary)
        axes = tuple(one if isinstance(one, Axis) else Axis.parse(one) for one in given)
    if not axes or not all(axis.values for axis in axes):
        raise RequestError('a sweep needs something to vary, such as "data.capacity=1..30".')
    if len({axis.path for axis in axes}) < len(axes):
        raise RequestError("every place in an instance can be varied once.")
    if math.prod(len(axis.values) for axis in axes) > MOST_POINTS:
        raise RequestError(f"a sweep has at most {MOST_POINTS} points, this one has more.")
    return axes


def _maker(instance: str | os.PathLike[str] | Instance) -> tuple[dict[str, Any], Callable[[dict[str, Any]], Problem]]:
    if isinstance(instance, Instance):
        return instance.to_data(), lambda data: Instance.from_data(data).problem()
    file = os.fspath(instance)

    def make(data: dict[str, Any]) -> Problem:
        try:
            changed = Instance.from_data(data)
        except InstanceError as failure:
            raise failure.at(file) from None
        return problem_of(changed, file)

    return read(instance).to_data(), make


def _changed(base: dict[str, Any], axes: Sequence[Axis], values: Sequence[Any]) -> dict[str, Any]:
    content = copy.deepcopy({key: value for key, value in base.items() if key != "best_known"})
    for axis, value in zip(axes, values, strict=True):
        put(content, axis.path, copy.deepcopy(value))
    return content


def _values(part: str, text: str) -> list[Any]:
    if ".." not in part:
        return [_read(part)]
    ends = [_read(piece) for piece in part.split("..")]
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


def _read(text: str) -> Any:
    """A number, true, false or null; else the text itself."""
    if text in ("", "None", "null"):
        return None
    if text in ("true", "True", "false", "False"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


def _coordinates(axes: Sequence[Axis], values: Sequence[Any]) -> str:
    return ", ".join(f"{axis.path} = {value}" for axis, value in zip(axes, values, strict=True))
