"""Parameters of a class, made from text or from a file, and options of verbs, as Python gives them.

Strategies, costs and generators are dataclasses. An option that cannot be meant is refused in one sentence, before
anything is run.

>>> from_text("1e3", int), from_text("none", int | None), from_text("yes", bool)
(1000, None, True)
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import RequestError, UnknownName, nearest, short, suggestion

#: What a value of a type is, as the end of a sentence.
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def build(target: Any, given: Mapping[str, Any], noun: str) -> Any:
    """Make an object of a dataclass from its parameters, as text or as they are.

    Parameters
    ----------
    target
        A dataclass; its fields are the parameters.
    given
        Field name to value; a text is converted as the annotation of the field says.
    noun
        What is made, for the sentences: ``strategy 'genetic'``.

    Returns
    -------
    Any
        The object.

    Raises
    ------
    RequestError
        If a parameter is unknown, missing, or none of what it should be.
    """
    offered = parameter_fields(target)
    hints = field_types(target)
    unknown = [key for key in given if key not in offered]
    if unknown:
        meant = nearest(unknown[0], offered)
        question = "" if meant is None else f" (did you mean {meant!r}?)"
        raise RequestError(f"{noun} has no parameter {unknown[0]!r}{question}; it takes {parameter_list(target)}.")
    lacking = [name for name, field in offered.items() if is_required(field) and name not in given]
    if lacking:
        raise RequestError(f"{noun} needs the parameter {lacking[0]!r}; it takes {parameter_list(target)}.")
    values = {}
    for key, text in given.items():
        try:
            hint = hints.get(key, Any)
            values[key] = from_text(text, hint) if isinstance(text, str) else _fitting(text, hint)
        except ValueError as failure:
            raise RequestError(f"{noun}: parameter {key!r} {failure}, got {text!r}.") from None
    try:
        return target(**values)
    except RequestError:
        raise
    except (ValueError, TypeError) as failure:
        raise RequestError(f"{noun}: {' '.join(str(failure).split())}") from failure


def _fitting(value: Any, annotation: Any) -> Any:
    """Take numbers and truth values as annotated, 1e6 for a whole number too; what else is asked, the object checks."""
    options = _options(annotation)
    if not set(options) <= {*_WORDS, types.NoneType}:
        return value
    if getattr(value, "ndim", None) == 0:  # a number of numpy
        value = value.item()
    whole = as_whole(value)
    if whole is not None and (int in options or float in options):
        return whole if int in options else value
    if (isinstance(value, float) and float in options) or (isinstance(value, bool) and bool in options):
        return value
    if value is None and types.NoneType in options:
        return None
    raise ValueError(f"is {' or '.join(_WORDS[option] for option in options if option in _WORDS)}")


def check_ranges(record: Any, **ranges: tuple[float, float]) -> None:
    """Refuse parameters outside their ranges.

    Parameters
    ----------
    record
        What has the parameters.
    ranges
        By parameter the least and the largest value, infinity for no end.

    Raises
    ------
    ValueError
        With the first that is outside, and its range.
    """
    for name, (least, most) in ranges.items():
        value = getattr(record, name)
        if not least <= value <= most:
            limit = f"{least} or more" if most == math.inf else f"between {least} and {most:.12g}"
            raise ValueError(f"{name} must be {limit}, got {value!r}.")


def check_options(function: Callable[..., Any], options: Iterable[str], noun: str) -> None:
    """Refuse options that a function does not take by name, with the nearest one that it does.

    Parameters
    ----------
    function
        Its options are what it takes by keyword only.
    options
        Names that were given.
    noun
        Whose options they are, for the sentence.

    Raises
    ------
    UnknownName
        With the first option that is none.
    """
    taken = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in taken):
        return
    known = [one.name for one in taken if one.kind is one.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise UnknownName(f"{noun} has no option {name!r}. {suggestion(name, known)}")


def parameter_fields(target: Any) -> dict[str, Field[Any]]:
    """List the fields of a dataclass that can be given when it is made.

    Parameters
    ----------
    target
        A class.

    Returns
    -------
    dict
        Fields by name; none for a class that is no dataclass.
    """
    return {field.name: field for field in fields(target) if field.init} if is_dataclass(target) else {}


def parameter_list(target: Any) -> str:
    """Write the parameters of a class and their defaults, for a sentence.

    Parameters
    ----------
    target
        A class.

    Returns
    -------
    str
        Names with defaults, or "no parameters".
    """
    offered = parameter_fields(target)
    return ", ".join(f"{name}{_default(field)}" for name, field in offered.items()) or "no parameters"


def is_required(field: Field[Any]) -> bool:
    """Tell whether a field has no default.

    Parameters
    ----------
    field
        Of a dataclass.

    Returns
    -------
    bool
        Whether it must be given.
    """
    return field.default is MISSING and field.default_factory is MISSING


def field_types(target: Any) -> dict[str, Any]:
    """Resolve the annotations of a class; where one names something that is not there, the type of the default counts.

    Parameters
    ----------
    target
        A class.

    Returns
    -------
    dict
        Types by the names of fields.
    """
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        return {
            name: type(field.default) if field.default not in (MISSING, None) else Any
            for name, field in parameter_fields(target).items()
        }


def from_text(text: str, annotation: Any) -> Any:
    """Read a text as a value of the annotated type.

    Parameters
    ----------
    text
        As it was typed.
    annotation
        The type.

    Returns
    -------
    Any
        The value.

    Raises
    ------
    ValueError
        With the end of a sentence, if it is none.

    Examples
    --------
    >>> from_text("1e3", int), from_text("none", int | None), from_text("yes", bool)
    (1000, None, True)
    """
    options = _options(annotation)
    if type(None) in options and text.lower() in ("none", "null"):
        return None
    rules = []
    for option in sorted((option for option in options if option is not type(None)), key=_preference):
        try:
            return _from_text(text, option)
        except ValueError as failure:
            rules.append(str(failure))
    raise ValueError(" or ".join(dict.fromkeys(rules)) or "takes no value")


def whole_from_text(text: str) -> int:
    """Read a whole number as people write it, ``1e6`` too.

    Parameters
    ----------
    text
        As it was typed.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        With the end of a sentence, if it is none.
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer() or abs(number) > 2**53:
        raise ValueError("is a whole number")
    return int(number)


def _from_text(text: str, kind: Any) -> Any:
    if typing.get_origin(kind) is typing.Literal:
        choices = typing.get_args(kind)
        for choice in choices:
            if text == str(choice):
                return choice
        raise ValueError(f"is one of {', '.join(map(str, choices))}")
    if kind is bool:
        known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in known:
            raise ValueError("is true or false")
        return known[text.lower()]
    if kind is int:
        return whole_from_text(text)
    if kind is float:
        try:
            number = float(text)
        except ValueError:
            raise ValueError("is a number") from None
        if number != number:
            raise ValueError("is a number")
        return number
    if kind is str or kind is Any:
        return text
    raise ValueError("cannot be written as text")


def from_json(value: Any, annotation: Any) -> Any:
    """Read a value from a file as one of the annotated type.

    Types that JSON does not know (mappings, tuples of names) are left to the class itself.

    Parameters
    ----------
    value
        As JSON has it.
    annotation
        The type.

    Returns
    -------
    Any
        The value; a list becomes a tuple.

    Raises
    ------
    ValueError
        With the end of a sentence, if it is none.
    """
    options = _options(annotation)
    if value is None:
        if type(None) in options or Any in options:
            return None
        raise ValueError("must not be null")
    if not options or any(option not in _WORDS and option is not type(None) for option in options):
        return tuple(value) if isinstance(value, list) else value
    if isinstance(value, bool):
        accepted = bool in options
    elif isinstance(value, int):
        accepted = int in options or float in options
    else:
        accepted = type(value) in options
    if accepted:
        return value
    raise ValueError(f"is {' or '.join(_WORDS[option] for option in options if option in _WORDS)}")


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _preference(kind: Any) -> int:
    order = [bool, int, float]
    return order.index(kind) if kind in order else 4 if kind is str else 3


def _default(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"={field.default}" if isinstance(field.default, str) else f"={short(field.default)}"
    if field.default_factory is not MISSING:
        return f"={short(field.default_factory())}"
    return " (required)"


# -- options of verbs --------------------------------------------------------------------------------------------------


def as_whole(value: Any) -> int | None:
    """Read a whole number of Python or of numpy.

    Parameters
    ----------
    value
        Anything; truth values are no numbers, and 3.0 is whole.

    Returns
    -------
    int or None
        ``None`` for what is no whole number.

    Examples
    --------
    >>> as_whole(3.0), as_whole(2.5), as_whole(True), as_whole("3")
    (3, None, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)
    except TypeError:  # an array of several numbers too
        return None


def as_real(value: Any) -> float | None:
    """Read a finite number of Python or of numpy.

    Parameters
    ----------
    value
        Anything; truth values are no numbers.

    Returns
    -------
    float or None
        ``None`` for what is no finite number, or none that a float can hold.

    Examples
    --------
    >>> as_real(3), as_real(float("inf")), as_real(True), as_real("3")
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_path(name: str, value: Any) -> Path | None:
    """Read the path that an option gives.

    Parameters
    ----------
    name
        Of the option, for the sentence.
    value
        A path; ``None``: there is none.

    Returns
    -------
    Path or None
        The path.

    Raises
    ------
    RequestError
        If it is something else.
    """
    if value is None:
        return None
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise RequestError(f"{name} is the path of a file or folder, as text or as a pathlib.Path; got {short(value)}.")
    return Path(text)


def check_switch(name: str, value: Any) -> None:
    """Refuse what is neither true nor false.

    Parameters
    ----------
    name
        Of the option, for the sentence.
    value
        ``True`` or ``False``, of Python or of numpy.

    Raises
    ------
    RequestError
        If it is something else: a text such as ``"no"`` would count as true.
    """
    if type(value).__name__ not in ("bool", "bool_"):
        raise RequestError(f"{name} is True or False, got {short(value)}.")


def check_called(name: str, function: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    """Refuse a function that cannot be called with as many arguments as it will be.

    Parameters
    ----------
    name
        Of the option, for the sentence.
    function
        What will be called; one that does not tell what it takes is left alone.
    arguments
        What it will be called with, by position.

    Raises
    ------
    RequestError
        If it takes fewer, or needs more.
    """
    try:
        taken = inspect.signature(function)
    except (TypeError, ValueError):  # written in another language
        return
    try:
        taken.bind(*arguments)
    except TypeError:
        called = getattr(function, "__name__", type(function).__name__)
        raise RequestError(
            f"{name} is a function that is called with {' and '.join(arguments)}, and {called} takes "
            f"{taken}; give one that takes {len(arguments)} by position."
        ) from None
