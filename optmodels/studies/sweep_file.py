"""The CSV file of a parameter study: its points as lines, and what of it holds when the study goes on."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics import Problem, Result

from ..data import append_to, csv_rows, csv_text, locked, parse_json, unguarded, whole_lines, whole_part, write_text
from ..errors import InstanceError, RequestError, printable
from ..protocols import Summarised, WrittenOnTheWay, measure_names
from ..registry import AUTO
from ..results import LONGEST_DECISION, plain, result_from_data
from ..verification import judge
from .pool import sentence

if TYPE_CHECKING:
    from .sweeping import Axis

#: Letters of a cell: those of the longest decision.
LONGEST_CELL = 40 * LONGEST_DECISION

#: What every point tells, first; an error has no more than the first of them.
OUTCOME = ("status", "objective", "bound", "gap", "evaluations", "seconds", "stopped_by")


class SweepFile:
    """The CSV file of a sweep, or nothing.

    Parameters
    ----------
    path
        Of the file; ``None``: there is none, and nothing is written.
    axes
        What the sweep varies: the first columns.
    same
        The columns that are the same in all lines.
    """

    def __init__(self, path: Path | None, axes: Sequence[Axis], same: Mapping[str, Any]) -> None:
        self.path, self.axes, self.same = path, axes, same
        self.warnings: list[str] = []
        lines = [] if path is None else ["a folder"] if path.is_dir() else whole_lines(path)
        self._old = {record["key"]: record for record in self._records(lines) if _is_answer(record)}

    def _records(self, lines: Sequence[str]) -> list[dict[str, Any]]:
        """What stands in the file of a sweep over the same places."""
        if not lines:
            return []
        before = csv.field_size_limit(LONGEST_CELL)  # decisions may be longer than the library takes unless told
        try:
            head, *rows = ([unguarded(cell) for cell in row] for row in csv.reader(lines))
        except csv.Error as failure:
            raise RequestError(f"{self.path}: this is no CSV file: {failure}; choose another, or remove it.") from None
        finally:
            csv.field_size_limit(before)
        self._check_head(head)
        return [
            {name: text if name == "key" else read_value(text) for name, text in zip(head, row, strict=True)}
            for row in rows
            if len(row) == len(head)
        ]

    def _check_head(self, head: Sequence[str]) -> None:
        names = [axis.path for axis in self.axes]
        if not {"key", "status", "objective", *names} <= set(head):
            raise RequestError(
                f"{self.path}: this file is not of a sweep over {', '.join(names)}; choose another, or remove it."
            )

    def known(self, key: str, values: Sequence[Any], problem: Problem) -> dict[str, Any] | None:
        """The record of a point that is done and holds."""
        record = self._old.get(key)
        if record is None:
            return None
        try:
            judge(_stored(record, problem), problem, extra=False).check()
        except Exception as failure:  # written by another version, or by hand: one line must not take the others down
            reason, place = printable(sentence(failure)), coordinates(self.axes, values)
            self.warnings.append(f"{self.path}: the line of {place} is not used: {reason}")
            return None
        return record | self._place(values)

    def _place(self, values: Sequence[Any]) -> dict[str, Any]:
        """The first columns of a record."""
        return {axis.path: value for axis, value in zip(self.axes, values, strict=True)}

    def record(
        self, values: Sequence[Any], key: str, problem: Problem | None, result: Result | None, error: str | None
    ) -> dict[str, Any]:
        """The record of a point: outcome, measures, and what the kind calls its ``summary_names``; or an error."""
        outcome: dict[str, Any] = {name: getattr(result, name, None) for name in OUTCOME}
        if result is None:
            outcome["status"] = "error"
        else:
            outcome["gap"] = result.gap()
            found = {} if result.evaluation is None else result.evaluation.measures
            outcome |= {name: found.get(name) for name in (measure_names(problem) or found)}
            summary: Sequence[str] = problem.summary_names if isinstance(problem, Summarised) else ()
            for name in summary:
                told = result.extra.get(name)
                parts = told.items() if isinstance(told, Mapping) else ()
                outcome |= {f"{name}.{part}": value for part, value in parts} or {name: told}
        decision = _decision_text(getattr(result, "decision", None))
        same = dict(self.same)
        if same["strategy"] == AUTO and result is not None:  # which may be another one at every point
            same["strategy"] = result.strategy
        return dict(plain(self._place(values) | outcome), decision=decision, error=error, **same, key=key)

    def add(self, record: Mapping[str, Any]) -> None:
        """Write a finished point to the end of the file, whoever else writes to it."""
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
                self._check_head(head)
            append_to(stream, csv_rows([[record.get(name) for name in head]]).rstrip("\n"))

    def close(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Put the file in the order of the points; what other sweeps have written to it meanwhile is kept, below."""
        if self.path is None:
            return
        keys, places = {record["key"] for record in records}, {self._identity(record) for record in records}
        with locked(self.path) as stream:
            others = [
                record
                for record in self._records(whole_part(stream).decode("utf-8", "replace").split("\n")[:-1])
                if (record["key"] not in keys if _is_answer(record) else self._identity(record) not in places)
            ]
            ordered = sorted(records, key=lambda record: bool(record["error"])) if others else records
            write_text(self.path, csv_text([*ordered, *others]))

    def _identity(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """What tells a point from others where it has no answer, and perhaps no key."""
        return tuple(str(record.get(name)) for name in (*(axis.path for axis in self.axes), *self.same))


def coordinates(axes: Sequence[Axis], values: Sequence[Any]) -> str:
    """Write where a point lies."""
    return ", ".join(f"{axis.path} = {value}" for axis, value in zip(axes, values, strict=True))


def read_value(text: str) -> Any:
    """Read a number, true, false or null; else the text itself."""
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


def _is_answer(record: Mapping[str, Any]) -> bool:
    return bool(record["key"]) and not record.get("error")


def _decision_text(decision: Any) -> str | None:
    """A decision as it stands in a cell; ``None`` where it is too long for one: such a point is solved again."""
    if decision is None or isinstance(decision, WrittenOnTheWay):
        return None
    parts = decision.values() if isinstance(decision, Mapping) else [decision]
    return None if any(len(part) > LONGEST_DECISION for part in parts) else json.dumps(plain(decision))


def _stored(record: Mapping[str, Any], problem: Problem) -> Result:
    """The answer that a line of the file tells of."""
    decision = None if record.get("decision") is None else parse_json(str(record["decision"]), "decision")
    if decision is None and record["objective"] is not None:
        raise InstanceError("decision", None, "there is an objective, and no decision that has it.")
    told = {name: record.get(name) for name in ("status", "objective", "bound")}
    measures = {name: record[name] for name in measure_names(problem) if name in record}
    further = {"format": 1, "problem": problem.name, "decision": decision, "measures": measures, "checked": True}
    return result_from_data(told | further)
