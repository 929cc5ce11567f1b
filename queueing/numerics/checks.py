"""Checks of numbers, vectors and matrices handed to the models: one sentence for each refusal.

A sentence names the thing, its place, its value and the rule. The types of arrays that models hand to one another,
`Vector`, `Matrix` and `Integers`, are here as well.
"""

import math
import operator
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Sums that should be 0 or 1 may miss it by this much, relative to the terms: data are typed in and rounded.
SUM_TOLERANCE = 1e-9

#: A difference of rates is taken for 0 below this many times the rates: it is what rounding leaves of nothing.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def positive(name: str, value: float) -> float:
    """Return `value` as a float, or refuse it unless it is finite and above zero.

    Parameters
    ----------
    name
        what the value is called in the error.
    value
        what was given.

    Returns
    -------
    float
        the value.

    Raises
    ------
    ValueError
        if it is no such number; one sentence names it.
    """
    if not _is_finite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, but it is {value!r}; give a positive number.")
    return float(value)


def not_negative(name: str, value: float) -> float:
    """Return `value` as a float, or refuse it unless it is finite and at least zero.

    Parameters
    ----------
    name
        what the value is called in the error.
    value
        what was given.

    Returns
    -------
    float
        the value.

    Raises
    ------
    ValueError
        if it is no such number; one sentence names it.
    """
    if not _is_finite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, but it is {value!r}; give such a number.")
    return float(value)


def whole(name: str, value: SupportsIndex, *, least: int) -> int:
    """Return `value` as an int, or refuse it unless it is a whole number of at least `least`.

    Parameters
    ----------
    name
        what the value is called in the error.
    value
        what was given.
    least
        the smallest number that is taken.

    Returns
    -------
    int
        the value.

    Raises
    ------
    ValueError
        if it is no such number; truth values and floats are none.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, but it is {value!r}; give such a number.")
    return number


def comparable(service_rate: float, think_time: float) -> None:
    """Refuse a rate and a time whose product a double cannot hold.

    Parameters
    ----------
    service_rate, think_time
        two positive numbers; their product must lie between 1e-250 and 1e250.

    Raises
    ------
    ValueError
        if it does not.
    """
    if not 1e-250 < service_rate * think_time < 1e250:
        raise ValueError(
            f"service_rate x think_time must be between 1e-250 and 1e250, but it is {service_rate * think_time!r}; "
            "give rates and times that are nearer to one another."
        )


def numbers(name: str, value: ArrayLike, dimensions: int) -> Vector:
    """Return `value` as a read-only array of finite floats with so many dimensions, or refuse it.

    Parameters
    ----------
    name
        what the value is called in the error.
    value
        what was given.
    dimensions
        1 for a list of numbers, 2 for a matrix.

    Returns
    -------
    Vector
        a copy that cannot be written to.

    Raises
    ------
    ValueError
        if it has another shape, is empty, or has an entry that is not finite; the first such entry is named.
    """
    wanted = "a list of numbers" if dimensions == 1 else "a matrix: rows of numbers, all of one length"
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != dimensions or array.size == 0:
        raise ValueError(f"{name} must be {wanted}, but it is {_shortened(value)}; give such a thing.")
    if not np.isfinite(array).all():
        place, wrong = first_wrong(array, ~np.isfinite(array))
        raise ValueError(f"{name}{place} must be a finite number, but it is {wrong}; give a finite one.")
    array.flags.writeable = False
    return array


def square(name: str, value: ArrayLike) -> Matrix:
    """Return `value` as a read-only square matrix of finite floats, or refuse it.

    Parameters
    ----------
    name
        what the value is called in the error.
    value
        what was given.

    Returns
    -------
    Matrix
        a copy that cannot be written to.

    Raises
    ------
    ValueError
        if it is no matrix of finite numbers, or not square.
    """
    matrix = numbers(name, value, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix, but it has {matrix.shape[0]} rows and {matrix.shape[1]} columns; "
            "give as many rows as columns."
        )
    return matrix


def not_negative_rates(name: str, matrix: Matrix, *, diagonal: bool) -> None:
    """Refuse a matrix with a negative rate.

    Parameters
    ----------
    name
        what the matrix is called in the error.
    matrix
        rates.
    diagonal
        whether the diagonal must not be negative either; that of a generator always is.

    Raises
    ------
    ValueError
        if a rate is negative; the first such entry is named.
    """
    wrong = matrix < 0
    if not diagonal:
        wrong &= ~np.eye(len(matrix), dtype=bool)
    if wrong.any():
        place, rate = first_wrong(matrix, wrong)
        raise ValueError(
            f"{name}{place} must be a rate of at least 0, but it is {rate!r}; give a rate, not a difference."
        )


def distribution(name: str, value: ArrayLike) -> Vector:
    """Return `value` as probabilities that sum to one, or refuse it.

    Parameters
    ----------
    name
        what the value is called in the error.
    value
        probabilities; their sum may miss 1 by `SUM_TOLERANCE`, and they are then divided by it.

    Returns
    -------
    Vector
        probabilities that cannot be written to.

    Raises
    ------
    ValueError
        if one of them is negative, or if they do not sum to 1.
    """
    vector = numbers(name, value, 1)
    if (vector < 0).any():
        place, chance = first_wrong(vector, vector < 0)
        raise ValueError(f"{name}{place} must be a probability of at least 0, but it is {chance!r}; give one.")
    total = float(vector.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise ValueError(f"{name} must sum to 1, but it sums to {total!r}; divide by the sum if that is what is meant.")
    if abs(total - 1.0) > ROUNDING:
        vector = vector / total
        vector.flags.writeable = False
    return vector


def refuse_rows(name: str, sums: Vector, wrong: NDArray[np.bool_], rule: str, advice: str) -> None:
    """Refuse a matrix if the sum of some row is wrong.

    Parameters
    ----------
    name
        what the matrix is called in the error.
    sums
        of its rows.
    wrong
        by row, whether its sum is wrong.
    rule, advice
        what rows must sum to, and what to do about it.

    Raises
    ------
    ValueError
        if a row is wrong; the first such row is named.
    """
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"Row {row} of {name} must sum to {rule}, but it sums to {float(sums[row])!r}; {advice}")


def equally_many(names: str, first: int, second: int, advice: str) -> None:
    """Refuse two lists that must have the same length.

    Parameters
    ----------
    names
        what the lists are called in the error.
    first, second
        their lengths.
    advice
        what to do about it.

    Raises
    ------
    ValueError
        if the lengths differ.
    """
    if first != second:
        raise ValueError(f"{names} must be equally many, but there are {first} and {second}; {advice}")


def first_wrong(array: Matrix, wrong: NDArray[np.bool_]) -> tuple[str, float]:
    """Find the first wrong entry: its index as in Python, [0] or [1][0], and its value."""
    index = np.argwhere(wrong)[0]
    return "".join(f"[{part}]" for part in index), float(array[tuple(index)])


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _is_finite(value: object) -> bool:
    """Tell whether a value, no text and no truth value, is a finite number."""
    try:
        return not isinstance(value, bool | str) and math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
