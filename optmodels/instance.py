"""Instances: problems as JSON files.

`Instance` checks the envelope; each kind's ``from_data`` checks its own data. Files are data: nothing in one is
executed, and a path in one stays inside its folder.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator

from .costs import Limits, check_measures, cost_from_data, cost_to_data
from .data import check_tree, join_place, write_text
from .data import parse_json as parse_json
from .data import pretty as pretty
from .data import read_json as read_json
from .errors import InstanceError, MissingField, RequestError, UnknownName, UnreadableFile, short, suggestion
from .registry import kinds

if TYPE_CHECKING:
    from heuristics import Evaluation, Problem

    from .data import FieldRow
    from .solving import ProblemLike

#: `best_known` and its evaluation may differ by this much, relative.
BEST_KNOWN_TOLERANCE = 1e-6


class BestKnown(BaseModel):
    """The best decision anybody has shown; updated by hand.

    Parameters
    ----------
    objective
        Of the decision.
    decision
        The decision itself, if it is known.
    proved
        Whether nothing better can exist.
    by
        How it was found.
    bound
        No decision has a lower objective than this.

    Examples
    --------
    >>> from optmodels import read_instance
    >>> best = read_instance("instances/placement/gautam-2x3.json").best_known
    >>> best.objective, best.proved
    (8.0, True)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    objective: float = Field(description="objective of the decision")
    decision: list[Any] | dict[str, Any] | None = Field(default=None, description="the decision itself")
    proved: bool = Field(default=False, description="whether nothing better can exist")
    by: str | None = Field(default=None, description="how it was found")
    bound: float | None = Field(default=None, description="no decision has a lower objective than this")


class Instance(BaseModel):
    """One problem as it stands in a file: the envelope of every kind.

    Parameters
    ----------
    format
        Version of this format: 1.
    kind
        Which model the data belong to, see ``optmodels list``.
    name
        Short name used in tables.
    source
        Where the data come from.
    notes
        What a reader must know: misprints, choices.
    data
        By kind, see ``optmodels schema KIND``.
    cost
        Name of a registered cost, and its parameters.
    limits
        Measures, and the largest and least values that they may take.
    best_known
        The best decision anybody has shown.

    Examples
    --------
    >>> from optmodels import Instance, read_instance
    >>> instance = read_instance("instances/placement/gautam-2x3.json")
    >>> instance.kind, Instance.from_data(instance.to_data()) == instance
    ('placement', True)
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, json_schema_extra={"title": "optmodels instance"}
    )

    format: Literal[1] = Field(description="version of this format")
    kind: str = Field(description="which model the data belong to, see `optmodels list`")
    name: str = Field(min_length=1, max_length=200, description="short name used in tables")
    source: str | None = Field(default=None, description="where the data come from")
    notes: str | None = Field(default=None, description="what a reader must know: misprints, choices")
    data: dict[str, Any] = Field(description="by kind")
    cost: dict[str, Any] | None = Field(
        default=None,
        description='{"name": registered cost, ...its parameters}, such as {"name": "expression", "formula": "2*loss"}',
    )
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
        if isinstance(data, dict):
            check_tree(data)
        return cls._of_sound(data)

    @classmethod
    def _of_sound(cls, data: Any) -> Instance:
        """The instance of what was read and looked at entry by entry before."""
        if not isinstance(data, dict):
            raise UnreadableFile(f"an instance is a JSON object, and this is {_noun(data)}.")
        try:
            return cls.model_validate(_asked(data))
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
        from .protocols import cost_of, limits_of

        limits, cost = limits_of(problem), cost_to_data(cost_of(problem))
        content: dict[str, Any] = {"format": 1, "kind": problem.kind, "name": problem.name}
        content |= {"source": source, "notes": notes, "data": problem.to_data(), "cost": cost}
        content |= {"limits": limits.to_data() or None, "best_known": None if best_known is None else dict(best_known)}
        return cls.from_data(content)

    def __repr__(self) -> str:
        return f"<Instance {self.name!r} of kind {self.kind!r}>"

    def to_data(self) -> dict[str, Any]:
        """The JSON object of the file; optional fields that say nothing are left out."""
        return self.model_dump(exclude_defaults=True)

    def problem(self, *, folder: Path | None = None) -> Problem:
        """The problem this instance describes, with its cost and its limits.

        Parameters
        ----------
        folder
            Where the file lies, unless it was read from there; paths inside the data are relative to it.
        """
        from .protocols import Origin, origin_of, remember

        try:
            target = kinds.part(self.kind, "problem")
        except UnknownName as unknown:
            raise InstanceError("kind", self.kind, str(unknown)) from None
        cost = cost_from_data(self.cost)
        offered = getattr(target, "measure_names", None)
        if offered is not None:
            check_measures(self.kind, offered, cost, self.limits)
        limits = Limits.from_data(self.limits)
        origin = origin_of(self)
        folder = folder or origin.folder
        with kinds.blame(self.kind, kinds.noun, on=" on these data"):
            try:
                problem: Problem = target.from_data(self.data, name=self.name, cost=cost, limits=limits, folder=folder)
            except RequestError:
                raise
            except (ValueError, OverflowError) as failure:
                reason = " ".join(str(failure).split())
                raise UnreadableFile(f"kind {self.kind!r} refuses the data: {reason}") from failure
        remember(problem, Origin(origin.file, folder, self.best_known))
        return problem


def schema(kind: str | None = None) -> dict[str, Any]:
    """JSON Schema of instance files.

    Parameters
    ----------
    kind
        Describe the ``data`` of this kind, too; without it ``data`` is any object.

    Examples
    --------
    >>> schema("routing")["$defs"]["PoissonSource"]["properties"]["rate"]["unit"]
    'per unit of time'
    """
    from .data import schema_of

    described = schema_of(Instance if kind is None else _of_kind(kind))
    described["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return described


def data_fields(kind: str) -> list[FieldRow]:
    """A row for each field of the ``data`` of a kind: what it is, its unit, default, rule and meaning."""
    from .data import field_rows

    described = schema(kind)
    return field_rows(described, described["properties"]["data"])


def _of_kind(kind: str) -> type[Instance]:
    """The envelope with the data of a kind in it."""
    model = kinds.part(kind, "data")
    if model is None:
        raise RequestError(f"problem kind {kind!r} ({kinds.origin(kind)}) does not describe its data.")
    data = Field(description=Instance.model_fields["data"].description)
    named: Any = Literal[kind]
    return create_model("Instance", __base__=Instance, kind=(named, ...), data=(model, data))


# -- files ------------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> Instance:
    """Read and check the envelope of an instance file.

    Parameters
    ----------
    path
        Of a JSON file, or the name of a shipped instance.

    Returns
    -------
    Instance
        What the file holds; its data are checked by `Instance.problem`.

    Raises
    ------
    InstanceError
        One sentence with file, field, value and rule.

    Examples
    --------
    >>> from optmodels import read_instance
    >>> instance = read_instance("instances/placement/gautam-2x3.json")
    >>> instance.kind, instance.name
    ('placement', 'gautam-2x3')
    """
    from .protocols import Origin, remember

    try:
        file = _file_of(path)
        instance = Instance._of_sound(read_json(file))
    except InstanceError as failure:
        raise failure if failure.file else failure.at(os.fspath(path)) from None
    remember(instance, Origin(os.fspath(path), file.parent, instance.best_known))
    return instance


def load(problem: ProblemLike) -> Problem:
    """Read an instance file and make its problem.

    Parameters
    ----------
    problem
        The path of a JSON file, the name of a shipped instance, an instance, or a problem, which is returned as it is.

    Returns
    -------
    Problem
        Of the class that the kind of the instance names.

    Raises
    ------
    InstanceError
        One sentence with file, field, value and rule.

    Examples
    --------
    >>> from optmodels import load
    >>> load("instances/placement/gautam-2x3.json").space.size, load("gautam-2x3").name
    (64, 'gautam-2x3')
    """
    from heuristics import Problem

    if isinstance(problem, (str, os.PathLike)):
        return problem_of(read(problem), problem)
    if isinstance(problem, Instance):
        return problem_of(problem)
    if not isinstance(problem, Problem):
        if callable(getattr(problem, "instance", None)):  # a fit, or a generator
            raise RequestError(
                f"{short(problem)} becomes a problem by its method 'instance', as in optmodels.solve(fitted.instance("
                "access_time=0.1)) for kind freshness; give what that returns."
            )
        raise RequestError(
            "a problem is the path of a file, the name of a shipped instance, an Instance, or what has a name, a space "
            f"and a method 'evaluate'; got {problem!r}."
        )
    return problem


def problem_of(instance: Instance, path: str | os.PathLike[str] | None = None) -> Problem:
    """The problem of an instance read from `path`, or from where it is remembered to be from; errors name the file."""
    from .protocols import origin_of

    file = origin_of(instance).file if path is None else os.fspath(path)
    try:
        return instance.problem(folder=None if path is None else _file_of(path).parent)
    except InstanceError as failure:
        raise failure if failure.file or file is None else failure.at(file) from None


def _file_of(path: str | os.PathLike[str]) -> Path:
    """Find the file of a path; what is no file may be the name of a shipped instance."""
    if os.path.exists(path):
        return Path(path)
    from .data import locate

    return locate(path)


def write(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance file, whole or not at all.

    Parameters
    ----------
    instance
        What the file shall hold.
    path
        Of the file; one that is there is replaced.

    Raises
    ------
    UnwritableFile
        If the file cannot be written; what was there before is kept.

    Examples
    --------
    >>> import tempfile
    >>> from optmodels import generate, read_instance, write_instance
    >>> instance = generate("placement", rows=2, columns=3, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_instance(instance, f"{folder}/small.json")
    ...     read_instance(f"{folder}/small.json") == instance
    True
    """
    write_text(path, pretty(instance.to_data()) + "\n")


#: As the front door calls them.
read_instance, write_instance = read, write


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


# -- best known -------------------------------------------------------------------------------------------------------


def check_best_known(known: Instance | BestKnown | None, problem: Problem) -> Evaluation | None:
    """Evaluate the best-known decision, that of an instance, again; ``None`` if there is none.

    Raises
    ------
    InstanceError
        If the decision is not in the space, breaks a constraint, or has another objective (1e-6 relative).
    """
    best = known.best_known if isinstance(known, Instance) else known
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


def _asked(data: dict[str, Any]) -> dict[str, Any]:
    """The fields an instance has, and of all others the first: each would be an error, and one is told."""
    best = data.get("best_known")
    kept = _with_one_other(data, Instance)
    return kept | {"best_known": _with_one_other(best, BestKnown)} if isinstance(best, dict) else kept


def _with_one_other(data: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    known = model.model_fields
    other = next((key for key in data if key not in known), None)
    return {key: value for key, value in data.items() if key in known or key == other}


def _as_instance_error(failure: ValidationError, model: type[BaseModel]) -> InstanceError:
    first = failure.errors(include_url=False)[0]
    place = ""
    for step in first["loc"]:
        if step in ("list[any]", "dict[str,any]"):  # the branch of a union, not a place in the file
            continue
        place = f"{place}[{step}]" if isinstance(step, int) else join_place(place, str(step))
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
