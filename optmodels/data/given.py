"""Constructors of problems: fields as they come to a Python user, read by the models that read files.

A problem is a frozen dataclass whose fields are those of the ``data`` of a file. Its constructor takes them by name,
with arrays for lists, laws for objects and whatever else its class takes, makes plain values of them and has them read
as those of a file are; what it keeps it takes again, so that ``dataclasses.replace`` makes the problem that would have
been made from scratch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import wraps
from inspect import Parameter, Signature
from pathlib import Path
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from ..errors import InstanceError, RequestError, suggestion

if TYPE_CHECKING:
    from queueing.processes import AccessTime, PhaseType

    from .named_laws import NamedLaw

Taken = TypeVar("Taken", contravariant=True)
Kept = TypeVar("Kept", covariant=True)
Class = TypeVar("Class", bound=type[Any])
Shared = TypeVar("Shared")

#: Defaults of fields: one that must be given, which is told missing as in a file, and one that may be left out.
REQUIRED: Any = ...
OPTIONAL: Any = None

#: What a field takes that holds a law: a name with parameters, a law ready made, or the object of a file.
LawLike: TypeAlias = "NamedLaw | PhaseType | AccessTime | Mapping[str, Any]"

#: Values that are plain already.
SCALARS = {int, float, str, bool, NoneType}

_PLACE = re.compile(r"\bdata\.(?=\w)")


class Takes(Generic[Taken, Kept]):
    """Type of a field: what its constructor takes, and what the problem keeps.

    To type checkers it is a descriptor, whose setter is the constructor; when the program runs it is a word.
    """

    if TYPE_CHECKING:

        def __get__(self, problem: object, owner: object = None) -> Kept: ...
        def __set__(self, problem: object, value: Taken) -> None: ...


def plain(value: Any) -> Any:
    """Make of a value what would stand in a file: lists of arrays, numbers of theirs.

    Parameters
    ----------
    value
        Anything; what no file could hold is left as it is.

    Returns
    -------
    Any
        A value that shares no list and no object with the first.

    Examples
    --------
    >>> plain({"initial": np.array([0.5, 0.5]), "stages": np.int64(2)})
    {'initial': [0.5, 0.5], 'stages': 2}
    """
    if type(value) in SCALARS:
        return value
    if isinstance(value, np.generic | np.ndarray):
        made = value.tolist()
        return plain(made) if value.dtype.hasobject else made
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return list(value) if {type(entry) for entry in value} <= SCALARS else [plain(entry) for entry in value]
    if hasattr(type(value), "__array__"):  # columns of tables, arrays of other libraries
        return plain(np.asarray(value))
    return value


def refuse_masked(name: str, value: Any) -> None:
    """Refuse arrays with masked entries, which neither a list nor a file can hold.

    Parameters
    ----------
    name
        Of the field, for the sentence.
    value
        Anything; lists and objects are looked into.

    Raises
    ------
    InstanceError
        If an entry is masked.
    """
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise InstanceError(name, value, "some entries are masked; fill them, as by .filled(0), or leave them out.")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            refuse_masked(f"{name}.{key}", entry)
    elif isinstance(value, list | tuple) and not {type(entry) for entry in value} <= SCALARS:
        for index, entry in enumerate(value):
            refuse_masked(f"{name}[{index}]", entry)


@contextmanager
def by_field() -> Iterator[None]:
    """Tell what is wrong with data by the names of fields alone: there is no file.

    Yields
    ------
    None
        Inside, places may begin with ``data.``.
    """
    try:
        yield
    except InstanceError as failure:
        failure.field = failure.field.removeprefix("data.")
        failure.rule = _PLACE.sub("", failure.rule)
        raise failure from None
    except RequestError:
        raise
    except (ValueError, OverflowError, RecursionError) as failure:
        raise RequestError(f"these data cannot be used: {' '.join(str(failure).split())}") from failure


class Constructed:
    """A problem that is made of its fields, by name, or of the ``data`` of a file.

    A class says in ``_read`` how data become its fields, in ``_natural`` what else its constructor takes, and in
    ``_class_of`` which class of its kind data ask for.

    Parameters
    ----------
    args, given
        Fields are given by name, and nothing else is.
    """

    if TYPE_CHECKING:
        kind: ClassVar[str]
        measure_names: ClassVar[tuple[str, ...]]

    #: Fields that are no data, besides those of every problem, and data that are those of another class of the kind.
    beside: ClassVar[tuple[str, ...]] = ()
    accepted: ClassVar[tuple[str, ...]] = ()

    def __new__(cls, *args: Any, **given: Any) -> Any:
        """Make a problem of the class that the fields ask for; without any, it is filled by whoever asks."""
        told = {name: value for name, value in given.items() if value is not None and value is not ...}
        chosen = cls._class_of(told) if given else cls
        if issubclass(chosen, cls):
            return object.__new__(chosen)
        return chosen(**{name: value for name, value in given.items() if name not in cls.beside})

    def __eq__(self, other: object) -> bool:
        """Tell whether another problem says the same: data, name, cost and limits."""
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        first: Any = self
        second: Any = other
        if (first.name, first.cost, first.limits) != (second.name, second.cost, second.limits):
            return False
        try:
            return bool(first.to_data() == second.to_data())
        except ValueError:  # what no file can say is equal to itself alone
            return False

    def __hash__(self) -> int:
        return hash((type(self), self.name))  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"problems do not change: make another by dataclasses.replace(problem, {name}=...).")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"problems do not change, and keep their {name}.")

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        *,
        name: str | None = None,
        cost: Any = None,
        limits: Any = None,
        folder: Path | None = None,
    ) -> Any:
        """Read the ``data`` of an instance file, whose fields ``optmodels schema`` tells of each kind.

        Parameters
        ----------
        data
            The object of the file.
        name
            For the reader; the kind unless said.
        cost, limits
            Price of the measures, and limits on them.
        folder
            Where the file lies; paths inside the data are relative to it.

        Returns
        -------
        Problem
            Of this class, or of the class of the kind that the data ask for.
        """
        from ..costs import Limits

        chosen = cls._class_of(data)
        problem = object.__new__(chosen)
        problem._read(data, name=name or cls.kind, cost=cost, limits=limits or Limits(), folder=folder)
        return problem

    @classmethod
    def _class_of(cls, data: Mapping[str, Any]) -> type[Any]:
        """Choose the class of the problem that data ask for."""
        return cls

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make of the fields that Python gave what their model reads."""
        return {name: plain(value) for name, value in given.items()}

    def __repr__(self) -> str:
        told = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        kept = {name: value for name, value in told.items() if value is not None and (name != "limits" or value)}
        return f"{type(self).__name__}({', '.join(f'{name}={_brief(value)}' for name, value in kept.items())})"

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        """Read data, and keep what they say."""
        raise NotImplementedError  # each kind has its own

    def _keep(self, **values: Any) -> None:
        """Keep values of fields, and what follows from them."""
        vars(self).update(values)


def _brief(value: Any) -> str:
    """A value in a few words, on one line."""
    if isinstance(value, np.ndarray):
        value = value.ravel()[:20].tolist()
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


#: Fields of every problem that are no data.
BESIDE = ("name", "cost", "limits")


def natural(problem: Class) -> Class:
    """Let the constructor of a dataclass take fields as they come to a Python user.

    Parameters
    ----------
    problem
        A subclass of `Constructed`.

    Returns
    -------
    type
        The same class, with another ``__init__``.
    """
    made = problem.__init__

    @wraps(made)
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        if args:
            example = next(iter(given), fields(problem)[0].name)
            raise RequestError(f"the fields of {problem.__name__} are given by name, such as {example}=...")
        construct(self, given)

    problem.__init__ = __init__
    told = _signature(problem)
    __init__.__signature__ = told  # type: ignore[attr-defined]
    problem.__signature__ = told.replace(parameters=[*told.parameters.values()][1:])
    return problem


def _signature(problem: type[Any]) -> Signature:
    """Tell what the constructor takes: its fields, and those that make the problem another class."""
    told = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for one in fields(problem):
        default = Parameter.empty if one.default is REQUIRED else _default(one)
        told.append(Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=one.type))
    told += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in problem.accepted]
    return Signature(told)


def construct(problem: Any, given: dict[str, Any]) -> None:
    """Fill a problem from the fields that Python gave.

    Parameters
    ----------
    problem
        Not filled yet.
    given
        By name.

    Raises
    ------
    RequestError
        One sentence that names the field.
    """
    from ..costs import as_cost, as_limits, check_measures

    known = {one.name: one for one in fields(problem)}
    for name, value in given.items():
        if name not in known and name not in problem.accepted:
            taken = suggestion(name, [*known, *problem.accepted])
            raise InstanceError(name, value, f"there is no such field. {taken}")
        refuse_masked(name, value)
    beside = {name: given[name] if name in given else _default(known[name]) for name in (*BESIDE, *problem.beside)}
    if not isinstance(beside["name"], str) or not beside["name"].strip() or not beside["name"].isprintable():
        raise InstanceError("name", beside["name"], "names are printable text on one line.")
    with by_field():
        beside["cost"], beside["limits"] = as_cost(beside["cost"]), as_limits(beside["limits"])
        check_measures(problem.kind, problem.measure_names, beside["cost"], beside["limits"].to_data())
        data = {name: value for name, value in given.items() if name not in beside}
        data = {name: value for name, value in data.items() if not _left_out(value, known.get(name))}
        problem._read(problem._natural(data), **beside, folder=None)


def _default(known: Any) -> Any:
    return known.default if known.default_factory is MISSING else known.default_factory()


def _left_out(value: Any, known: Any) -> bool:
    """Tell whether a field was left out: ``None`` says so where it is the default, or the field is not of the class."""
    return isinstance(value, EllipsisType) or (value is None and (known is None or known.default is None))


_SHARED: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def shared(make: type[Shared], *parts: Any, **more: Any) -> Shared:
    """Make something of parts, or take what was made of the same parts before, with all that it found out since.

    Problems that differ in cost alone, which searches make by the hundred, share their queue.

    Parameters
    ----------
    make
        A class.
    parts, more
        What is made of; laws and processes are the same if they are one object, numbers and texts if they are equal.

    Returns
    -------
    Shared
        As long as somebody has it, there is one.
    """
    try:
        key = make, parts, tuple(more.items())
        found: Shared | None = _SHARED.get(key)
    except TypeError:  # a part that has no hash
        return make(*parts, **more)
    if found is None:
        _SHARED[key] = found = make(*parts, **more)
    return found
