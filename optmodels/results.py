"""Results as JSON, and back.

Numbers are finite or null. A decision of more than 1e5 entries goes to a file of its own beside the result, of which
the result tells name, rows and checksum.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import heuristics
from heuristics import Evaluation, Status, TracePoint

from .data import read_json, replaced, write_text
from .errors import InstanceError, MissingField, RequestError, UnreadableFile, UnwritableFile, suggestion
from .instance import inside
from .protocols import WrittenAsObject, WrittenOnTheWay
from .solving import Result

#: Longer decisions are written to a file of their own.
LONGEST_DECISION = 100_000

FIELDS = (
    "format", "problem", "kind", "strategy", "parameters", "seed", "status", "objective", "bound", "gap", "decision",
    "measures", "violations", "extra", "evaluations", "judged_in_full", "seconds",
    "stopped_by", "checked", "versions", "trace",
)  # fmt: skip

#: What every result has, whoever wrote it; the other fields are ours.
REQUIRED = tuple(name for name in FIELDS if name not in ("judged_in_full", "trace"))

#: What a comparison adds to the line of a run.
FURTHER = (
    "key", "label", "error", "budget", "reference", "reason", "study", "machine", "threads", "megabytes",
)  # fmt: skip


def result_to_data(
    result: heuristics.Result,
    *,
    folder: str | os.PathLike[str] | None = None,
    stem: str | None = None,
    files: bool = True,
) -> dict[str, Any]:
    """Write a result as a JSON object, the one that `optmodels solve --json` prints.

    Parameters
    ----------
    result
        Of a run, or of `optmodels.evaluate`.
    folder, stem
        Where a very long decision is written, and how its file is called; by default the working directory, and
        problem, strategy and seed.
    files
        Whether one may be written; else the decision stands in the object, however long (null if it was never held in
        memory).

    Returns
    -------
    dict
        Of plain lists, texts and finite numbers.

    Examples
    --------
    >>> from optmodels import evaluate, result_to_data
    >>> data = result_to_data(evaluate("instances/placement/gautam-2x3.json", [0, 0, 1, 1, 1, 0]))
    >>> data["problem"], data["decision"]
    ('gautam-2x3', [0, 0, 1, 1, 1, 0])
    """
    evaluation = result.evaluation
    name = stem or file_stem(result.problem, result.strategy or "decision", result.seed or 0)
    return {
        "format": 1,
        "problem": result.problem,
        "kind": result.kind,
        "strategy": result.strategy,
        "parameters": plain(result.parameters),
        "seed": result.seed,
        "status": str(result.status),
        "objective": plain(result.objective),
        "bound": plain(result.bound),
        "gap": plain(result.gap()),
        "decision": _decision_to_data(result.decision, Path(folder or ".") if files else None, name),
        "measures": {} if evaluation is None else plain(evaluation.measures),
        "violations": {} if evaluation is None else {k: plain(v) for k, v in evaluation.violations.items() if v > 0},
        "extra": plain(result.extra),
        "evaluations": int(result.evaluations),
        "judged_in_full": int(result.judged_in_full),
        "seconds": plain(result.seconds),
        "stopped_by": result.stopped_by,
        "checked": bool(result.checked),
        "versions": dict(result.versions),
        "trace": [
            {
                "seconds": plain(p.seconds),
                "evaluations": p.evaluations,
                "objective": plain(p.objective),
                "bound": plain(p.bound),
            }
            for p in result.trace
        ],
    }


def result_from_data(data: Any, *, folder: str | os.PathLike[str] | None = None) -> Result:
    """Read back what `result_to_data` wrote.

    Parameters
    ----------
    data
        The JSON object.
    folder
        Where files named in the result lie.

    Returns
    -------
    Result
        As written: nothing that it claims is checked here, see `optmodels.verify`; `Result.of` tells it its problem.

    Raises
    ------
    InstanceError
        If a field is missing, unknown or none of what it should be.

    Examples
    --------
    >>> from optmodels import result_from_data
    >>> result_from_data({"format": 1, "problem": "small", "status": "solved", "decision": None})
    Traceback (most recent call last):
    optmodels.errors.InstanceError: status is "solved"; a status is one of optimal, feasible, infeasible, unknown.
    """
    if not isinstance(data, Mapping):
        raise UnreadableFile("a result is a JSON object.")
    if data.get("format") != 1:
        raise InstanceError("format", data.get("format"), "this version reads results of format 1.")
    for name in ("problem", "status", "decision"):
        if name not in data:
            raise MissingField(name, "this is not a result as `optmodels solve --json` prints it.")
    for name in data:
        if name not in FIELDS and name not in FURTHER:
            raise InstanceError(name, data[name], f"a result has no such field. {suggestion(name, FIELDS)}")
    if data["status"] not in list(Status):
        raise InstanceError("status", data["status"], f"a status is one of {', '.join(Status)}.")
    decision = _decision_from_data(data["decision"], folder)
    evaluation = None
    if decision is not None:
        objective = _number(data, "objective")
        violations = {key: _finite(value, f"violations.{key}") for key, value in _object(data, "violations").items()}
        measures = {
            key: None if value is None else _finite(value, f"measures.{key}")
            for key, value in _object(data, "measures").items()
        }
        evaluation = Evaluation(math.nan if objective is None else objective, violations, measures)
    seed = data.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise InstanceError("seed", seed, "a seed is a whole number.")
    return Result(
        problem=_text(data, "problem") or "",
        status=Status(data["status"]),
        decision=decision,
        evaluation=evaluation,
        bound=_number(data, "bound"),
        stopped_by=_text(data, "stopped_by") or "complete",
        evaluations=_count(data, "evaluations"),
        judged_in_full=_count(data, "judged_in_full"),
        seconds=_duration(data, "seconds"),
        trace=tuple(_trace_point(point, index) for index, point in enumerate(_list(data, "trace"))),
        extra=dict(_object(data, "extra")),
        checked=_flag(data, "checked"),
        strategy=_text(data, "strategy"),
        parameters=dict(_object(data, "parameters")),
        seed=seed,
        kind=_text(data, "kind"),
        versions=dict(_object(data, "versions")),
    )


def read_result(path: str | os.PathLike[str]) -> Result:
    """Read a result file as `optmodels solve --out` writes it.

    Parameters
    ----------
    path
        Of a JSON file; a very long decision is read from the file beside it.

    Returns
    -------
    Result
        As written: nothing that it claims is checked here, see `optmodels.verify`; `Result.of` tells it its problem.

    Raises
    ------
    InstanceError
        One sentence with file, field, value and rule.

    Examples
    --------
    >>> import tempfile
    >>> from optmodels import evaluate, read_result, write_result
    >>> answer = evaluate("instances/placement/gautam-2x3.json", [0, 0, 1, 1, 1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = write_result(answer, f"{folder}/answer.json")
    ...     read_result(f"{folder}/answer.json").decision
    (0, 0, 1, 1, 1, 0)
    """
    try:
        return result_from_data(read_json(path), folder=Path(path).parent)
    except InstanceError as failure:
        raise failure if failure.file else failure.at(os.fspath(path)) from None


def write_result(
    result: heuristics.Result,
    path: str | os.PathLike[str],
    *,
    further: Mapping[str, Any] | None = None,
    durable: bool = True,
) -> dict[str, Any]:
    """Write a result file, whole or not at all.

    Parameters
    ----------
    result
        Of a run, or of `optmodels.evaluate`.
    path
        Of the file; a very long decision goes into a file beside it.
    further
        What a comparison tells of the run besides: its key, study, threads and the like.
    durable
        Whether to wait for the disk: not where the same is kept elsewhere.

    Returns
    -------
    dict
        What was written, see `result_to_data`.

    Raises
    ------
    UnwritableFile
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from optmodels import evaluate, write_result
    >>> answer = evaluate("instances/placement/gautam-2x3.json", [0, 0, 1, 1, 1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = write_result(answer, f"{folder}/answer.json")
    >>> data["format"], data["status"]
    (1, 'feasible')
    """
    target = Path(path)
    data = result_to_data(result, folder=target.parent, stem=target.stem) | dict(further or {})
    write_text(target, json.dumps(data, allow_nan=False) + "\n", durable=durable)
    return data


def kept_result(result: heuristics.Result, path: str | os.PathLike[str] | None) -> tuple[dict[str, Any], str | None]:
    """Write a result if a file is named, and return what is told of it, with a sentence on what cannot be written.

    A full disk is no reason to lose an answer: what it keeps out of files is then in the object returned.
    """
    target = None if path is None else Path(path)
    place = {} if target is None else {"folder": target.parent, "stem": target.stem}
    try:
        data = result_to_data(result, **place)  # type: ignore[arg-type]
    except UnwritableFile as failure:
        data = result_to_data(result, files=False)
        lost = data["decision"] is None and result.decision is not None
        return data, f"{failure} {'Its decision was never in memory, and is lost.' if lost else ''}".rstrip()
    try:
        if target is not None:
            write_text(target, json.dumps(data, allow_nan=False) + "\n")
    except UnwritableFile as failure:
        return data, str(failure)
    return data, None


def decision_files(decision: Any) -> list[str]:
    """Name the files that a decision was written to, as a result tells it.

    >>> decision_files({"schedules": [{"file": "a.npy", "rows": 3, "sha256": "..."}, [0, 1]]})
    ['a.npy']
    """
    if isinstance(decision, Mapping):
        if _in_a_file(decision):
            return [str(decision["file"])]
        return [file for entry in decision.values() for file in decision_files(entry)]
    if isinstance(decision, list) and decision and isinstance(decision[0], (list, Mapping)):
        return [file for entry in decision for file in decision_files(entry)]
    return []


def plain(value: Any) -> Any:
    """A value as JSON can carry it: arrays and tuples become lists, numbers that are not finite null."""
    if value is None or (isinstance(value, (bool, str)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple) and isinstance(value, WrittenAsObject):
        return value.to_data()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return str(value)


def file_stem(*parts: Any) -> str:
    """Parts joined to a file name that every system takes; what was lost is told apart by a few digits of a checksum.

    >>> file_stem("grid-3x4", "genetic:population=100", 2)
    'grid-3x4_genetic-population-100_2-50f9a6'
    """
    joined = "_".join(str(part) for part in parts)
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in joined).lstrip(".-")[:100]
    if kept == joined:
        return kept
    return f"{kept or 'result'}-{hashlib.sha256(joined.encode('utf-8', 'replace')).hexdigest()[:6]}"


# -- inside -----------------------------------------------------------------------------------------------------------


def _decision_to_data(decision: Any, folder: Path | None, stem: str) -> Any:
    if isinstance(decision, tuple) and isinstance(decision, WrittenAsObject):
        decision = decision.to_data()
    if isinstance(decision, Mapping):
        return {str(key): _decision_to_data(entry, folder, f"{stem}-{key}") for key, entry in decision.items()}
    if isinstance(decision, (list, tuple)) and any(hasattr(entry, "__len__") for entry in decision):
        return [_decision_to_data(entry, folder, f"{stem}-{index}") for index, entry in enumerate(decision)]
    if isinstance(decision, WrittenOnTheWay):
        return None if folder is None else decision.write_to(folder, stem)
    short = not hasattr(decision, "__len__") or isinstance(decision, str) or len(decision) <= LONGEST_DECISION
    if short or folder is None:
        return plain(decision)
    import numpy as np

    values = np.asarray(decision)
    if values.dtype == object:
        return plain(decision)  # words of different lengths and the like have no columns
    file = folder / f"{stem}.decision.npy"
    with replaced(file) as stream:
        np.save(stream, values, allow_pickle=False)
    return {"file": file.name, "rows": len(values), "sha256": _checksum(file)}


def _decision_from_data(value: Any, folder: str | os.PathLike[str] | None) -> Any:
    if isinstance(value, list):
        nested = (list, Mapping)
        return tuple(_decision_from_data(entry, folder) if isinstance(entry, nested) else entry for entry in value)
    if not isinstance(value, Mapping):
        return value
    if not _in_a_file(value):
        return {key: _decision_from_data(entry, folder) for key, entry in value.items()}
    file = inside(folder, value["file"], "decision.file")
    if not file.is_file() and not (file.suffix == ".parquet" and file.is_dir()):
        raise InstanceError("decision.file", value["file"], "there is no such file beside the result.")
    try:
        values = _column(file, value)
    except RequestError:
        raise
    except (ValueError, LookupError, TypeError, OSError, EOFError, NotImplementedError) as failure:
        # What numpy and pyarrow raise on files of other kinds; the last on columns pyarrow cannot turn into numbers.
        reason = " ".join(str(failure).split()).rstrip(".")
        raise InstanceError("decision.file", value["file"], f"it holds no column of numbers: {reason}.") from None
    if isinstance(value["rows"], bool) or len(values) != value["rows"]:
        raise InstanceError("decision.rows", value["rows"], f"{file.name} holds {len(values)}.")
    return values


def _in_a_file(value: Mapping[str, Any]) -> bool:
    return set(value) == {"file", "rows", "sha256"}


def _column(file: Path, told: Mapping[str, Any]) -> Any:
    """What was written to a file, if it is still what the result tells of it."""
    import numpy as np

    if file.suffix == ".parquet":
        from .data import read_written

        return read_written(file, told)
    if _checksum(file) != told["sha256"]:
        raise InstanceError("decision.sha256", told["sha256"], f"{file.name} has changed since it was written.")
    values = np.load(file, mmap_mode="r", allow_pickle=False)
    if not isinstance(values, np.ndarray) or values.ndim == 0:
        raise ValueError("it holds one number" if isinstance(values, np.ndarray) else "it holds several arrays")
    return values


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _finite(value: Any, place: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, (int, float)) else float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise InstanceError(place, value, "this is a finite number.")
    return number


def _number(data: Mapping[str, Any], name: str, place: str | None = None) -> float | None:
    value = data.get(name)
    return None if value is None else _finite(value, place or name)


def _count(data: Mapping[str, Any], name: str, place: str | None = None) -> int:
    value = data.get(name)
    if value is None:
        return 0
    number = _finite(value, place or name)
    if number < 0 or not number.is_integer():
        raise InstanceError(place or name, value, "this is a whole number, zero or more.")
    return int(number)


def _duration(data: Mapping[str, Any], name: str, place: str | None = None) -> float:
    value = data.get(name)
    seconds = 0.0 if value is None else _finite(value, place or name)
    if seconds < 0:
        raise InstanceError(place or name, value, "a time is zero or more.")
    return seconds


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise InstanceError(name, value, "this is a text.")
    return value


def _flag(data: Mapping[str, Any], name: str) -> bool:
    value = data.get(name, False)
    if not isinstance(value, bool):
        raise InstanceError(name, value, "this is true or false.")
    return value


def _object(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InstanceError(name, value, "this is an object.")
    return value


def _list(data: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = data.get(name)
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise InstanceError(name, value, "this is a list.")
    return value


def _trace_point(point: Any, index: int) -> TracePoint:
    if not isinstance(point, Mapping):
        raise InstanceError(f"trace[{index}]", point, "each point of a trace is an object.")
    return TracePoint(
        _duration(point, "seconds", f"trace[{index}].seconds"),
        _count(point, "evaluations", f"trace[{index}].evaluations"),
        _number(point, "objective", f"trace[{index}].objective"),
        _number(point, "bound", f"trace[{index}].bound"),
    )
