"""Instances: problems as JSON files.

`Instance` checks the envelope; each kind's ``from_data`` checks its own data. Files are data: nothing in one is
executed, and a path in one stays inside its folder.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from .costs import Limits, cost_from_data, cost_to_data, measures_used
from .errors import InstanceError, MissingField, RequestError, UnknownName, UnreadableFile, suggestion
from .registry import problems

if TYPE_CHECKING:
    from heuristics.evaluation import Evaluation
    from heuristics.protocols import Problem

#: Larger files are refused: bulk data belong into columns beside the file.
LARGEST_FILE = 512 * 2**20

#: Deeper nesting is refused: no field needs it, and recursive readers fail on it.
DEEPEST = 60

#: `best_known` and its evaluation may differ by this much, relative.
BEST_KNOWN_TOLERANCE = 1e-6


class BestKnown(BaseModel):
    """The best decision anybody has shown; updated by hand."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    objective: float = Field(description="objective of the decision")
    decision: list[Any] | dict[str, Any] | None = Field(default=None, description="the decision itself")
    proved: bool = Field(default=False, description="whether nothing better can exist")
    by: str | None = Field(default=None, description="how it was found")
    bound: float | None = Field(default=None, description="no decision has a lower objective than this")


class Instance(BaseModel):
    """One problem as it stands in a file: the envelope of every kind."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, json_schema_extra={"title": "optmodels instance"}
    )

    format: Literal[1] = Field(description="version of this format")
    kind: str = Field(description="which model the data belong to, see `optmodels list`")
    name: str = Field(min_length=1, max_length=200, description="short name used in tables")
    source: str | None = Field(default=None, description="where the data come from")
    notes: str | None = Field(default=None, description="what a reader must know: misprints, choices")
    data: dict[str, Any] = Field(description="by kind")
    cost: dict[str, Any] | None = Field(default=None, description='{"name": registered cost, ...its parameters}')
    limits: dict[str, Any] | None = Field(
        default=None, description='measure -> {"max": x, "min": y}; a number means max'
    )
    best_known: BestKnown | None = None

    @field_validator("format", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        if isinstance(value, bool):  # which Python takes for 1
            raise ValueError(RULES["format"])
        return value

    @field_validator("name", "kind")
    @classmethod
    def _printable(cls, value: str) -> str:
        if not value.isprintable() or not value.strip():
            raise ValueError("names are printable text on one line.")
        return value

    @classmethod
    def from_data(cls, data: Any) -> Instance:
        """Check the envelope of what was read from a file; `InstanceError` names field, value and rule."""
        if not isinstance(data, dict):
            raise UnreadableFile(f"an instance is a JSON object, and this is {_noun(data)}.")
        _check_tree(data)
        try:
            return cls.model_validate(data)
        except ValidationError as failure:
            raise _as_instance_error(failure, cls) from None

    @classmethod
    def from_problem(
        cls,
        problem: Any,
        *,
        source: str | None = None,
        notes: str | None = None,
        best_known: Mapping[str, Any] | None = None,
    ) -> Instance:
        """Write a problem of a registered kind back into the form of a file."""
        limits: Limits = getattr(problem, "limits", None) or Limits()
        cost = cost_to_data(getattr(problem, "cost", None))
        content: dict[str, Any] = {"format": 1, "kind": problem.kind, "name": problem.name}
        content |= {"source": source, "notes": notes, "data": problem.to_data(), "cost": cost}
        content |= {"limits": limits.to_data() or None, "best_known": None if best_known is None else dict(best_known)}
        return cls.from_data(content)

    def to_data(self) -> dict[str, Any]:
        """The JSON object of the file; optional fields that say nothing are left out."""
        return self.model_dump(exclude_defaults=True)

    def problem(self, *, folder: Path | None = None) -> Problem:
        """The problem this instance describes, with its cost and its limits.

        Parameters
        ----------
        folder
            Where the file lies; paths inside the data are relative to it and stay inside.
        """
        try:
            target = problems[self.kind]
        except UnknownName as unknown:
            raise InstanceError("kind", self.kind, str(unknown)) from None
        cost, limits = cost_from_data(self.cost), Limits.from_data(self.limits)
        offered = getattr(target, "measure_names", None)
        if offered is not None:
            used = measures_used(cost) | {
                name: (f"limits.{name}", limit) for name, limit in (self.limits or {}).items()
            }
            for name, (place, value) in used.items():
                if name not in offered:
                    rule = f"kind {self.kind!r} has no such measure. {suggestion(name, offered)}"
                    raise InstanceError(place, value, rule)
        try:
            problem: Problem = target.from_data(self.data, name=self.name, cost=cost, limits=limits, folder=folder)
        except RequestError:
            raise
        except (ValueError, OverflowError) as failure:
            raise UnreadableFile(f"kind {self.kind!r} refuses the data: {' '.join(str(failure).split())}") from failure
        return problem


def schema() -> dict[str, Any]:
    """JSON Schema of the envelope; ``data`` is described in the documentation of each kind."""
    described = Instance.model_json_schema()
    described["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return described


# -- files ------------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> Instance:
    """Read and check the envelope of an instance file."""
    try:
        return Instance.from_data(read_json(path))
    except InstanceError as failure:
        raise failure if failure.file else failure.at(os.fspath(path)) from None


def load(path: str | os.PathLike[str]) -> Problem:
    """Read an instance file and make its problem.

    Raises
    ------
    InstanceError
        One sentence with file, field, value and rule.
    """
    return problem_of(read(path), path)


def problem_of(instance: Instance, path: str | os.PathLike[str]) -> Problem:
    """The problem of an instance read from `path`; errors name the file."""
    try:
        return instance.problem(folder=Path(path).parent)
    except InstanceError as failure:
        raise failure if failure.file else failure.at(os.fspath(path)) from None


def write(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance file, whole or not at all."""
    write_text(path, pretty(instance.to_data()) + "\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file of moderate size, strictly: UTF-8, no repeated keys, finite numbers, sane nesting."""
    file = os.fspath(path)
    try:
        content = _parse(_read_bytes(Path(path)))
        _check_tree(content)
    except InstanceError as failure:
        raise failure.at(file) from None
    return content


def parse_json(text: str, origin: str) -> Any:
    """Read JSON that did not come from a file, as strictly as `read_json`; `origin` is named in errors."""
    try:
        content = _parse(text.encode("utf-8", "surrogateescape"))
        _check_tree(content)
    except InstanceError as failure:
        raise failure.at(origin) from None
    return content


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace the content of a file in one step: a reader, or a crash, never sees half of it."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
    except OSError as failure:
        raise UnreadableFile(f"cannot be written: {failure.strerror or failure}.", os.fspath(path)) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes files only their owner can read
        os.replace(temporary, target)
    except OSError as failure:
        _remove(temporary)
        raise UnreadableFile(f"cannot be written: {failure.strerror or failure}.", os.fspath(path)) from None
    except BaseException:
        _remove(temporary)
        raise


def inside(folder: str | os.PathLike[str] | None, path: Any, field: str = "path") -> Path:
    """The file a path inside an instance stands for, refused unless it stays inside the folder of the instance.

    Parameters
    ----------
    folder
        Folder of the instance file; ``None`` for data that did not come from a file.
    path
        As written in the file: relative, without ``..``; symbolic links must not lead out either.
    field
        Place of the path, for the sentence.
    """
    rule = "paths in a file are relative and stay inside its folder."
    if folder is None:
        raise InstanceError(field, path, "only an instance read from a file can name other files.")
    if not isinstance(path, str) or not path or "\0" in path:
        raise InstanceError(field, path, rule)
    pure = Path(path)
    root = Path(folder).resolve()
    if pure.is_absolute() or pure.drive or ".." in pure.parts or "\\" in path:
        raise InstanceError(field, path, rule)
    try:
        resolved = (root / pure).resolve()
    except (OSError, RuntimeError):  # a loop of links
        raise InstanceError(field, path, rule) from None
    if not resolved.is_relative_to(root):
        raise InstanceError(field, path, rule)
    return resolved


def pretty(value: Any, indent: int = 0, width: int = 120) -> str:
    """JSON for people: objects one field per line, a list on one line where it fits, a matrix one row per line."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    simple = not isinstance(value, dict) and not (
        isinstance(value, list) and any(isinstance(v, (list, dict)) for v in value)
    )
    if simple or len(flat) + indent <= width // 2 or not value:
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        lines = [
            f"{pad}{json.dumps(key, ensure_ascii=False)}: {pretty(entry, indent + 2, width)}"
            for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(f"{pad}{pretty(entry, indent + 2, width)}" for entry in value) + "\n" + " " * indent + "]"


# -- best known -------------------------------------------------------------------------------------------------------


def check_best_known(instance: Instance, problem: Problem) -> Evaluation | None:
    """Evaluate the best-known decision again; ``None`` if the instance has none.

    Raises
    ------
    InstanceError
        If the decision is not in the space, breaks a constraint, or has another objective (1e-6 relative).
    """
    best = instance.best_known
    if best is None:
        return None
    slack = BEST_KNOWN_TOLERANCE * abs(best.objective)
    if best.bound is not None and best.bound > best.objective + slack:
        raise InstanceError(
            "best_known.bound", best.bound, f"the objective, {best.objective!r}, lies below this bound."
        )
    if best.decision is None:
        return None
    try:
        decision = problem.space.check(tuple(best.decision) if isinstance(best.decision, list) else best.decision)
    except ValueError as failure:
        raise InstanceError("best_known.decision", best.decision, " ".join(str(failure).split())) from None
    evaluation = problem.evaluate(decision)
    if not evaluation.feasible:
        broken = ", ".join(f"{name} by {amount:g}" for name, amount in evaluation.violations.items() if amount > 0)
        raise InstanceError("best_known.decision", best.decision, f"it is not feasible: it breaks {broken}.")
    if not math.isclose(evaluation.objective, best.objective, rel_tol=BEST_KNOWN_TOLERANCE):
        raise InstanceError(
            "best_known.objective", best.objective, f"the evaluator finds {evaluation.objective!r} for this decision."
        )
    return evaluation


# -- inside -----------------------------------------------------------------------------------------------------------


class _Repeated(dict[str, Any]):
    """An object of the file in which a key stands twice; found again by `_check_tree`, which knows the place."""

    key: str = ""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    repeated, seen = _Repeated(content), set[str]()
    for key, _ in pairs:
        if key in seen:
            repeated.key = key
        seen.add(key)
    return repeated


def _read_bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UnreadableFile("this is a directory; name an instance file.")
        if not path.exists():
            raise UnreadableFile("there is no such file.")
        if not path.is_file():
            raise UnreadableFile("this is not a regular file.")
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UnreadableFile(f"the file has {size:.2g} bytes; at most {LARGEST_FILE:.2g} are read.")
        return path.read_bytes()
    except (OSError, ValueError) as failure:
        if isinstance(failure, InstanceError):
            raise
        raise UnreadableFile(f"cannot be read: {getattr(failure, 'strerror', None) or failure}.") from None


def _parse(content: bytes) -> Any:
    if not content.strip():
        raise UnreadableFile("it is empty; a JSON object was expected.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise UnreadableFile(f"this is not a text file: byte {failure.start} is not UTF-8.") from None
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except json.JSONDecodeError as failure:
        raise UnreadableFile(
            f"this is not JSON: {failure.msg} (line {failure.lineno}, column {failure.colno})."
        ) from None
    except RecursionError:
        raise UnreadableFile(f"lists and objects are nested deeper than {DEEPEST} levels.") from None
    except ValueError:  # an integer of more than 4300 digits
        raise UnreadableFile("a number has thousands of digits; numbers lie below 2^63.") from None


def _check_tree(content: Any) -> None:
    """Refuse what JSON text can carry and no instance may: repeated keys, NaN, huge numbers, endless nesting."""
    stack: list[tuple[Any, str, int]] = [(content, "", 0)]
    while stack:
        value, place, depth = stack.pop()
        if isinstance(value, (dict, list)):
            if depth > DEEPEST:
                raise UnreadableFile(f"lists and objects are nested deeper than {DEEPEST} levels.")
            if isinstance(value, _Repeated):
                raise InstanceError(_join(place, value.key), value[value.key], "this key stands twice in its object.")
            if isinstance(value, dict):
                for key in value:
                    _check_text(key, _join(place, "a key"))
                stack.extend((entry, _join(place, key), depth + 1) for key, entry in value.items())
            elif not all(type(entry) is float and math.isfinite(entry) for entry in value):
                stack.extend((entry, f"{place}[{index}]", depth + 1) for index, entry in enumerate(value))
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise InstanceError(place or "the file", value, "numbers are finite.")
        elif isinstance(value, int):
            if abs(value) >= 2**63:
                raise InstanceError(place or "the file", value, "whole numbers lie below 2^63.")
        elif isinstance(value, str):
            _check_text(value, place or "the file")


def _check_text(text: str, place: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InstanceError(place, text, "texts are valid Unicode.") from None


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _as_instance_error(failure: ValidationError, model: type[BaseModel]) -> InstanceError:
    first = failure.errors(include_url=False)[0]
    place = ""
    for step in first["loc"]:
        if step in ("list[any]", "dict[str,any]"):  # the branch of a union, not a place in the file
            continue
        place = f"{place}[{step}]" if isinstance(step, int) else _join(place, str(step))
    if first["type"] == "missing":
        return MissingField(place, RULES.get(place, "the field is required."))
    if first["type"] == "extra_forbidden":
        parent = BestKnown if place.startswith("best_known.") else model
        rule = f"there is no such field. {suggestion(place.rsplit('.', 1)[-1], parent.model_fields)}"
        return InstanceError(place, first["input"], rule)
    if first["type"] == "value_error":
        return InstanceError(place, first["input"], str(first["ctx"]["error"]))
    return InstanceError(place, first["input"], RULES.get(place, f"{first['msg'][0].lower()}{first['msg'][1:]}."))


RULES: dict[str, str] = {
    "format": "this version reads format 1.",
    "kind": "name the kind of problem as a text, see `optmodels list`.",
    "name": "give the instance a short name of 1 to 200 characters.",
    "source": "the source is a text.",
    "notes": "notes are a text.",
    "data": "the data of the kind are an object.",
    "cost": 'a cost is an object such as {"name": "weighted-sum", "weights": {...}}.',
    "limits": 'limits are an object such as {"loss": {"max": 0.02}}.',
    "best_known": 'the best known is an object such as {"objective": 8, "decision": [0, 1]}.',
    "best_known.objective": "the objective is a finite number.",
    "best_known.decision": "a decision is a list or an object.",
    "best_known.proved": "proved is true or false.",
    "best_known.by": "say by what it was found, as a text.",
    "best_known.bound": "the bound is a finite number.",
}


def _noun(value: Any) -> str:
    names: dict[type, str] = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
