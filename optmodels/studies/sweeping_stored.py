"""Points of a parameter study as they stand in its CSV file, and back."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any

from heuristics import Evaluation, Problem, Result, Status

from ..data import parse_json
from ..errors import InstanceError
from ..protocols import WrittenOnTheWay, measure_names
from ..results import LONGEST_DECISION, plain

#: Letters of a cell: those of the longest decision.
LONGEST_CELL = 40 * LONGEST_DECISION


def decision_text(decision: Any) -> str | None:
    """A decision as it stands in a cell; ``None`` where it is too long for one: such a point is solved again."""
    if decision is None or isinstance(decision, WrittenOnTheWay):
        return None
    parts = decision.values() if isinstance(decision, Mapping) else [decision]
    return None if any(len(part) > LONGEST_DECISION for part in parts) else json.dumps(plain(decision))


def cells(lines: Sequence[str]) -> list[list[str]]:
    """The cells of a CSV file; decisions may be longer than the library takes unless told."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        return list(csv.reader(lines))
    finally:
        csv.field_size_limit(before)


def stored(record: Mapping[str, Any], problem: Problem) -> Result:
    """The answer that a line of the file tells of."""
    if record["status"] not in list(Status):
        raise InstanceError("status", record["status"], f"a status is one of {', '.join(Status)}.")
    decision = None if record.get("decision") is None else parse_json(str(record["decision"]), "decision")
    if decision is None and record["objective"] is not None:
        raise InstanceError("decision", None, "there is an objective, and no decision that has it.")
    measures = {name: _number(record, name) for name in measure_names(problem) if name in record}
    objective = _number(record, "objective")
    return Result(
        problem=problem.name,
        status=Status(record["status"]),
        decision=tuple(decision) if isinstance(decision, list) else decision,
        evaluation=None if objective is None else Evaluation(objective, {}, measures),
        bound=_number(record, "bound"),
        checked=True,
    )


def _number(record: Mapping[str, Any], name: str) -> float | None:
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InstanceError(name, value, "this is a number.")
    return float(value)
