"""What all spaces share: membership, and entries that are checked, rounded, replaced and exchanged."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = tuple[int, ...]

_INT = frozenset((int,))


class Checked:
    """A space that holds every decision in which `check` finds nothing wrong."""

    def check(self, decision: Any) -> Any:
        """Return the decision in canonical form, or raise `ValueError` with one sentence on what is wrong with it."""
        raise NotImplementedError

    def __contains__(self, decision: object) -> bool:
        try:
            self.check(decision)
        except ValueError:
            return False
        return True


def as_whole(name: str, value: Any, least: int | None = None) -> int:
    """Return `value` as a Python integer, or raise an error that says what `name` must be."""
    rule = "a whole number" if least is None else f"a whole number, {least} or more"
    try:
        number: int = index(value)
    except TypeError:
        raise ValueError(f"{name} must be {rule}, got {value!r}.") from None
    if isinstance(value, bool) or (least is not None and number < least):
        raise ValueError(f"{name} must be {rule}, got {value!r}.")
    return number


def as_integers(decision: Any, length: int | None, rule: str) -> Integers:
    """Return the entries as Python integers; a tuple of these passes through untouched."""
    if type(decision) is not tuple:
        if isinstance(decision, np.ndarray):
            if decision.ndim != 1:
                raise ValueError(f"the decision has {decision.ndim} dimensions; a decision is a flat list.")
            decision = tuple(decision.tolist())
        elif isinstance(decision, (str, bytes)) or not isinstance(decision, Iterable):
            raise ValueError(f"the decision is {decision!r}; a decision is a list of numbers.")
        else:
            decision = tuple(decision)
    if length is not None and len(decision) != length:
        raise ValueError(f"the decision has {len(decision)} entries; it needs {length}.")
    if not _INT.issuperset(map(type, decision)):
        return tuple(_entry(i, value, rule) for i, value in enumerate(decision))
    entries: Integers = decision
    return entries


def _entry(position: int, value: Any, rule: str) -> int:
    """Return one entry as a Python integer; 1.0 and numpy's integers are accepted, 1.5 is not."""
    try:
        number = int(value)
        if number == value and not isinstance(value, (str, bytes)):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"entry {position} is {value!r}; entries are {rule}.")


def as_numbers(values: Any, length: int | None) -> NDArray[np.float64]:
    """Return the entries as an array of floats, or say why this is not possible."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("the decision holds something that is not a number; entries are numbers.") from None
    if array.ndim != 1:
        raise ValueError(f"the decision has {array.ndim} dimensions; a decision is a flat list.")
    if length is not None and len(array) != length:
        raise ValueError(f"the decision has {len(array)} entries; it needs {length}.")
    return array


def round_entries(array: NDArray[np.float64]) -> list[int]:
    """Round to the nearest integers, halves up; nan counts as 0, infinity as more than any limit in use."""
    return [int(value) for value in np.floor(np.nan_to_num(array, nan=0.0, posinf=2.0**62, neginf=-(2.0**62)) + 0.5)]


def keep_whole(space: Any, **least: int | None) -> None:
    """Keep the named fields of a frozen space as Python integers, none less than it may be; ``None``: no least."""
    for name, bound in least.items():
        object.__setattr__(space, name, as_whole(name, getattr(space, name), bound))


def replace(decision: Integers, position: int, value: int) -> Integers:
    """Return the decision with another value at one position."""
    return (*decision[:position], value, *decision[position + 1 :])


def exchange(first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Exchange the entries between two random cuts."""
    start, stop = sorted(rng.integers(0, len(first) + 1, size=2).tolist())
    return (
        first[:start] + second[start:stop] + first[stop:],
        second[:start] + first[start:stop] + second[stop:],
    )
