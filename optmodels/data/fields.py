"""Checks of fields in instance files, for every kind: each complaint is one sentence that names the place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InstanceError, nearest
from .strict_json import join_place

Matrix = NDArray[np.float64]
Made = TypeVar("Made")

#: Larger numbers in matrices are refused: sums of them must be numbers, in whatever unit of time.
LARGEST = 1e300


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number (not a truth value), and no int too large for a double.

    Parameters
    ----------
    value
        Anything.

    Returns
    -------
    bool
        Whether it is.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number: 3 and 3.0 are, True, "3", 3.5 and what no double holds are not.

    Parameters
    ----------
    value
        Anything.

    Returns
    -------
    bool
        Whether it is.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return float(value).is_integer()
    except OverflowError:  # an int of hundreds of digits; infinity and nan are floats that are no integers
        return False


def refuse_unknown(data: Mapping[str, Any], known: set[str], place: str = "") -> None:
    """Refuse fields nobody reads: they are misspellings.

    Parameters
    ----------
    data
        An object of a file.
    known
        Names of its fields.
    place
        Where it stands.

    Raises
    ------
    InstanceError
        With the first field that is not known.
    """
    for field in data:
        if field not in known:
            meant = nearest(str(field), known)
            question = "" if meant is None else f" (did you mean {meant!r}?)"
            rule = f"no such field{question}; known are {', '.join(sorted(known))}."
            raise InstanceError(join_place(place, field), data[field], rule)


def read_list(value: Any, place: str, rule: str) -> list[Any]:
    """Read a list that is not empty.

    Parameters
    ----------
    value
        As it stands in the file.
    place
        Where it stands.
    rule
        Told of anything else.

    Returns
    -------
    list
        Its entries.

    Raises
    ------
    InstanceError
        If it is none.
    """
    if not isinstance(value, list | tuple) or not value:
        raise InstanceError(place, value, rule)
    return list(value)


def read_numbers(value: Any, place: str = "") -> list[float]:
    """Read a list of finite numbers, one at least.

    Parameters
    ----------
    value
        As it stands in the file.
    place
        Where it stands.

    Returns
    -------
    list of float
        The numbers.

    Raises
    ------
    InstanceError
        With the first entry that is wrong.
    """
    listed = read_list(value, place, "this is a list of numbers.")
    for index, entry in enumerate(listed):
        if not is_number(entry):
            raise InstanceError(f"{place}[{index}]", entry, "finite numbers stand here.")
    return [float(entry) for entry in listed]


def read_matrix(value: Any, place: str = "") -> Matrix:
    """Read a square matrix of finite numbers.

    Parameters
    ----------
    value
        As it stands in the file.
    place
        Where it stands.

    Returns
    -------
    Matrix
        The numbers.

    Raises
    ------
    InstanceError
        With the first row or entry that is wrong.
    """
    rows = read_list(value, place, "a matrix is a list of rows.")
    for index, row in enumerate(rows):
        entries = read_numbers(row, f"{place}[{index}]")
        if len(entries) != len(rows):
            rule = f"a square matrix of {len(rows)} rows has {len(rows)} numbers in each, and here are {len(entries)}."
            raise InstanceError(f"{place}[{index}]", row, rule)
        for column, entry in enumerate(entries):
            if abs(entry) > LARGEST:
                rule = f"numbers of a matrix are {LARGEST:g} at most, or sums of them would be none."
                raise InstanceError(f"{place}[{index}][{column}]", entry, rule)
    return np.array(rows, dtype=np.float64)


def refuse_negative(matrix: Matrix, place: str, rule: str, *, diagonal: bool) -> None:
    """Refuse negative entries of a matrix.

    Parameters
    ----------
    matrix
        The matrix.
    place
        Where it stands.
    rule
        Told of the first of them.
    diagonal
        Whether those on the diagonal are refused, too.

    Raises
    ------
    InstanceError
        If there is one.
    """
    for row, column in np.argwhere(matrix < 0).tolist():
        if diagonal or row != column:
            raise InstanceError(f"{place}[{row}][{column}]", float(matrix[row, column]), rule)


def told(make: Callable[[], Made], place: str, value: Any) -> Made:
    """Make something of the queueing package; what that refuses gets its place in the file.

    Parameters
    ----------
    make
        Makes it.
    place
        Where what it is made of stands.
    value
        What stands there.

    Returns
    -------
    Made
        What was made.

    Raises
    ------
    InstanceError
        If `make` raises ``ValueError``.
    """
    try:
        return make()
    except ValueError as refusal:
        raise InstanceError(place, value, str(refusal)) from None
