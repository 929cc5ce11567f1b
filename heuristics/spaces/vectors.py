"""Vectors of whole numbers as decisions, and the ways to move among them.

Positions are counted from 0. A decision of a discrete space is a tuple of Python integers in canonical form: two
decisions mean the same exactly if they are equal. ``neighbour`` returns the decision itself only where it has no
neighbour. What all spaces share stands here, too: membership, and how entries are checked, rounded and exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, product
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# -- entries that are checked, rounded, replaced and exchanged ---------------------------------------------------------

Integers: TypeAlias = tuple[int, ...]

_INT = frozenset((int,))


class Checked:
    """A space that holds every decision in which `check` finds nothing wrong."""

    def check(self, decision: Any) -> Any:
        """Return the decision in canonical form, or raise `ValueError` with one sentence on what is wrong with it."""
        raise NotImplementedError  # what is wrong differs from space to space: each has its own

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
        raise ValueError(f"expected {length} entries, got {len(decision)}.")
    if not _INT.issuperset(map(type, decision)):
        return tuple(_entry(i, value, rule) for i, value in enumerate(decision))
    entries: Integers = decision
    return entries


def flattened(decision: Any, rows: int, length: int) -> Any:
    """Return a matrix of so many rows, and entries in all, as one flat list, row by row; anything else as it is.

    Parameters
    ----------
    decision
        An array, nested lists, or anything else.
    rows, length
        Of a matrix that is meant.

    Returns
    -------
    Any
        A tuple, or the decision.

    Examples
    --------
    >>> flattened([[0, 1], [1, 0]], 2, 4)
    (0, 1, 1, 0)
    """
    if isinstance(decision, np.ndarray):
        matrix = decision.ndim == 2 and decision.shape[0] == rows and decision.size == length
        return tuple(decision.ravel().tolist()) if matrix else decision
    if not isinstance(decision, (list, tuple)) or len(decision) != rows:
        return decision
    if not all(isinstance(row, (list, tuple, np.ndarray)) and len(row) * rows == length for row in decision):
        return decision
    return tuple(entry for row in decision for entry in row)


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
        raise ValueError(f"expected {length} entries, got {len(array)}.")
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


# -- vectors -----------------------------------------------------------------------------------------------------------

_BITS = frozenset((0, 1))


class Vectors(Checked):
    """Vectors of whole numbers whose neighbours differ in one entry: what a space of them need not say by itself.

    Such a space says by `steps` which entries may change to what, and by `check`, ``__iter__``, `sample`, `repair` and
    `size` what its decisions are.
    """

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        """Draw a neighbour; each is equally likely."""
        steps = list(self.steps(decision))
        return replace(decision, *steps[int(rng.integers(len(steps)))]) if steps else decision

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        """Go through all neighbours, entry by entry."""
        for position, value in self.steps(decision):
            yield replace(decision, position, value)

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange a stretch between two random cuts."""
        return exchange(first, second, rng)

    def steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        """Go through the positions and values in which neighbours of a decision differ from it."""
        raise NotImplementedError  # each space of vectors has its own


@dataclass(frozen=True)
class BinaryVectors(Vectors):
    """All vectors of `length` zeros and ones.

    Iteration counts in binary, entry 0 being the most significant bit. Neighbours differ in one entry. Where entries
    are fixed, all vectors made here keep them; others may still be asked about.

    Parameters
    ----------
    length
        Number of entries, 1 or more.
    rows
        Decisions may also be given as matrices of so many rows; ``None``: they may not.
    fixed
        Pairs of an entry and the value that it keeps.

    Examples
    --------
    >>> list(BinaryVectors(2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> list(BinaryVectors(3, fixed=((1, 1),)))
    [(0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1)]
    >>> list(BinaryVectors(2).neighbours((0, 1)))
    [(1, 1), (0, 0)]
    """

    length: int
    rows: int | None = field(default=None, compare=False, repr=False)
    fixed: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        keep_whole(self, length=1)
        for entry, value in self.fixed:
            if not 0 <= entry < self.length or value not in _BITS:
                raise ValueError(f"entry {entry} cannot be fixed at {value}; there are {self.length}, each 0 or 1.")

    @cached_property
    def free(self) -> Integers:
        """Entries that are not fixed."""
        fixed = dict(self.fixed)
        return tuple(entry for entry in range(self.length) if entry not in fixed)

    @property
    def size(self) -> int:
        """2 to the power of the number of free entries."""
        return 1 << len(self.free)

    def check(self, decision: Any) -> Integers:
        if self.rows is not None:
            decision = flattened(decision, self.rows, self.length)
        values = as_integers(decision, self.length, "0 or 1")
        if not _BITS.issuperset(values):
            position = next(i for i, value in enumerate(values) if value not in _BITS)
            raise ValueError(f"entry {position} is {values[position]}; entries are 0 or 1.")
        return values

    def __iter__(self) -> Iterator[Integers]:
        fixed = dict(self.fixed)
        return product(*((fixed[entry],) if entry in fixed else (0, 1) for entry in range(self.length)))

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a vector; each is equally likely."""
        return self._kept(rng.integers(0, 2, size=self.length).tolist())

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        """Flip one entry, each equally likely."""
        if not self.free:
            return decision
        position = self.free[int(rng.integers(len(self.free)))]
        return replace(decision, position, 1 - decision[position])

    def steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        return ((position, 1 - decision[position]) for position in self.free)

    def repair(self, values: Sequence[float]) -> Integers:
        """Round to the nearest vector; one half becomes 1."""
        return self._kept((as_numbers(values, self.length) >= 0.5).astype(int).tolist())

    def _kept(self, entries: list[int]) -> Integers:
        for entry, value in self.fixed:
            entries[entry] = value
        return tuple(entries)


@dataclass(frozen=True)
class IntegerBox(Vectors):
    """All integer vectors ``x`` with ``lower[i] <= x[i] <= upper[i]``.

    Iteration is lexicographic. Neighbours differ by 1 in one entry.

    Parameters
    ----------
    lower, upper
        The least and the largest value of each entry, both included.

    Examples
    --------
    >>> space = IntegerBox((0, -1), (2, 1))
    >>> space.size
    9
    >>> space.check([2, 5])
    Traceback (most recent call last):
    ValueError: entry 1 is 5; ...
    """

    lower: Integers
    upper: Integers

    def __post_init__(self) -> None:
        lower = tuple(as_whole(f"lower[{i}]", value) for i, value in enumerate(self.lower))
        upper = tuple(as_whole(f"upper[{i}]", value) for i, value in enumerate(self.upper))
        if not lower or len(lower) != len(upper):
            counts = f"{len(lower)} and {len(upper)}"
            raise ValueError(f"a box needs as many lower as upper limits, one or more, got {counts}.")
        for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
            if low > high:
                raise ValueError(
                    f"entry {i} may be no less than {low} and no more than {high}; there is no such number."
                )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def size(self) -> int:
        """Number of vectors: the product of the widths."""
        return math.prod(high - low + 1 for low, high in zip(self.lower, self.upper, strict=True))

    def check(self, decision: Any) -> Integers:
        values = as_integers(decision, len(self.lower), "whole numbers")
        for i, (low, value, high) in enumerate(zip(self.lower, values, self.upper, strict=True)):
            if not low <= value <= high:
                raise ValueError(f"entry {i} is {value}; it lies between {low} and {high}.")
        return values

    def __iter__(self) -> Iterator[Integers]:
        return product(*(range(low, high + 1) for low, high in zip(self.lower, self.upper, strict=True)))

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a vector; each is equally likely."""
        return tuple(rng.integers(self.lower, self.upper, endpoint=True).tolist())

    def repair(self, values: Sequence[float]) -> Integers:
        """Round, then clip: this is the nearest vector."""
        rounded = round_entries(as_numbers(values, len(self.lower)))
        return tuple(min(max(v, low), high) for v, low, high in zip(rounded, self.lower, self.upper, strict=True))

    def steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        for position, value in enumerate(decision):
            if value > self.lower[position]:
                yield position, value - 1
            if value < self.upper[position]:
                yield position, value + 1


@dataclass(frozen=True)
class OrderedIntegers(Vectors):
    """All non-decreasing integer vectors: ``lower <= x[0] <= x[1] <= ... <= upper``; of length 0, the empty one.

    There are ``C(upper - lower + length, length)`` of them. Iteration is lexicographic. Neighbours differ by 1 in one
    entry.

    Parameters
    ----------
    length
        Number of entries, 0 or more.
    lower, upper
        The least and the largest value of an entry, both included.

    Examples
    --------
    >>> list(OrderedIntegers(2, 0, 2))
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    """

    length: int
    lower: int
    upper: int

    def __post_init__(self) -> None:
        keep_whole(self, length=0, lower=None, upper=None)
        if self.lower > self.upper:
            raise ValueError(f"lower must be no more than upper, got {self.lower} and {self.upper}.")

    @property
    def size(self) -> int:
        """Number of vectors: of multisets of `length` numbers out of the range."""
        return math.comb(self.upper - self.lower + self.length, self.length)

    def check(self, decision: Any) -> Integers:
        values = as_integers(decision, self.length, "whole numbers")
        for i, value in enumerate(values):
            if not self.lower <= value <= self.upper:
                raise ValueError(f"entry {i} is {value}; entries lie between {self.lower} and {self.upper}.")
            if i and value < values[i - 1]:
                raise ValueError(f"entry {i} is {value} after {values[i - 1]}; entries never decrease.")
        return values

    def __iter__(self) -> Iterator[Integers]:
        return combinations_with_replacement(range(self.lower, self.upper + 1), self.length)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a vector; each is equally likely: a random subset, made non-decreasing by taking out the steps of 1."""
        chosen = rng.choice(self.upper - self.lower + self.length, size=self.length, replace=False, shuffle=False)
        return tuple((np.sort(chosen) - np.arange(self.length) + self.lower).tolist())

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange a stretch between two random cuts, then sort."""
        one, other = exchange(first, second, rng)
        return tuple(sorted(one)), tuple(sorted(other))

    def repair(self, values: Sequence[float]) -> Integers:
        """Round, clip and sort."""
        rounded = round_entries(as_numbers(values, self.length))
        return tuple(sorted(min(max(value, self.lower), self.upper) for value in rounded))

    def steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        last = self.length - 1
        for position, value in enumerate(decision):
            if value > (decision[position - 1] if position else self.lower):
                yield position, value - 1
            if value < (decision[position + 1] if position < last else self.upper):
                yield position, value + 1


@dataclass(frozen=True)
class Policies(Vectors):
    """One action for every state; `actions` holds the number of actions of each state.

    Iteration is lexicographic. Neighbours take another action in one state.

    Parameters
    ----------
    actions
        Number of actions of each state, 1 or more; actions are counted from 0.

    Examples
    --------
    >>> space = Policies((2, 1, 3))
    >>> space.size
    6
    >>> (1, 0, 2) in space, (1, 1, 2) in space
    (True, False)
    """

    actions: Integers

    def __post_init__(self) -> None:
        actions = tuple(as_whole(f"actions[{i}]", count, least=1) for i, count in enumerate(self.actions))
        if not actions:
            raise ValueError("a policy needs at least one state, got none.")
        object.__setattr__(self, "actions", actions)

    @property
    def size(self) -> int:
        """Number of policies: the product of the numbers of actions."""
        return math.prod(self.actions)

    def check(self, decision: Any) -> Integers:
        values = as_integers(decision, len(self.actions), "whole numbers")
        for state, (action, count) in enumerate(zip(values, self.actions, strict=True)):
            if not 0 <= action < count:
                raise ValueError(f"entry {state} is {action}; the actions of this state lie between 0 and {count - 1}.")
        return values

    def __iter__(self) -> Iterator[Integers]:
        return product(*map(range, self.actions))

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a policy; each is equally likely."""
        return tuple(rng.integers(0, self.actions).tolist())

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        """Draw a neighbour; each is equally likely."""
        others = sum(self.actions) - len(self.actions)
        if not others:
            return decision
        chosen = int(rng.integers(others))
        for state, count in enumerate(self.actions):
            if chosen < count - 1:
                return replace(decision, state, chosen + (chosen >= decision[state]))
            chosen -= count - 1
        raise AssertionError("the actions were counted wrongly.")  # unreachable: chosen < others

    def steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        for state, (taken, count) in enumerate(zip(decision, self.actions, strict=True)):
            yield from ((state, action) for action in range(count) if action != taken)

    def repair(self, values: Sequence[float]) -> Integers:
        """Round, then clip."""
        rounded = round_entries(as_numbers(values, len(self.actions)))
        return tuple(min(max(v, 0), count - 1) for v, count in zip(rounded, self.actions, strict=True))
