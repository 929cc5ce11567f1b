"""Options of verbs as Python gives them: what cannot be meant is refused in one sentence, before anything is run."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable
from inspect import signature
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import RequestError, short


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
        taken = signature(function)
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
