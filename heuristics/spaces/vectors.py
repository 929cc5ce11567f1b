"""Sets of decisions, and the ways to move in them.

Positions are counted from 0. A decision of a discrete space is a tuple of Python integers in canonical form: two
decisions mean the same exactly if they are equal. ``neighbour`` returns the decision itself only where it has no
neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BinaryVectors", "IntegerBox", "OrderedIntegers", "Policies", "Simplex", "Words"]

Integers: TypeAlias = tuple[int, ...]

#: Points of a simplex with more entries than this stay arrays: a tuple of 1e8 floats would take gigabytes.
LONGEST_TUPLE = 5_000

#: Entries of a point of a simplex may miss their total by this much, relative.
TOTAL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class BinaryVectors:
    """All vectors of `length` zeros and ones.

    Iteration counts in binary, entry 0 being the most significant bit. Neighbours differ in one entry.
    """

    length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", _whole("length", self.length, least=1))

    @property
    def size(self) -> int:
        """``2 ** length``."""
        return 1 << self.length

    def check(self, decision: Any) -> Integers:
        values = _integers(decision, self.length, "0 or 1")
        if not _BITS.issuperset(values):
            position = next(i for i, value in enumerate(values) if value not in _BITS)
            raise ValueError(f"entry {position} is {values[position]}; entries are 0 or 1.")
        return values

    def __contains__(self, decision: object) -> bool:
        return _passes(self.check, decision)

    def __iter__(self) -> Iterator[Integers]:
        return product((0, 1), repeat=self.length)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Every vector is equally likely."""
        return tuple(rng.integers(0, 2, size=self.length).tolist())

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        position = int(rng.integers(self.length))
        return _replaced(decision, position, 1 - decision[position])

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        for position, value in enumerate(decision):
            yield _replaced(decision, position, 1 - value)

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange a stretch between two random cuts."""
        return _exchanged(first, second, rng)

    def repair(self, values: Sequence[float]) -> Integers:
        """The nearest vector; one half becomes 1."""
        return tuple((_numbers(values, self.length) >= 0.5).astype(int).tolist())


@dataclass(frozen=True)
class IntegerBox:
    """All integer vectors ``x`` with ``lower[i] <= x[i] <= upper[i]``.

    Iteration is lexicographic. Neighbours differ by 1 in one entry.
    """

    lower: Integers
    upper: Integers

    def __post_init__(self) -> None:
        lower = tuple(_whole(f"lower[{i}]", value) for i, value in enumerate(self.lower))
        upper = tuple(_whole(f"upper[{i}]", value) for i, value in enumerate(self.upper))
        if not lower or len(lower) != len(upper):
            raise ValueError(
                f"a box needs as many lower as upper limits, one or more, got {len(lower)} and {len(upper)}."
            )
        for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
            if low > high:
                raise ValueError(
                    f"entry {i} may be no less than {low} and no more than {high}; there is no such number."
                )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def size(self) -> int:
        """Product of the widths."""
        return math.prod(high - low + 1 for low, high in zip(self.lower, self.upper, strict=True))

    def check(self, decision: Any) -> Integers:
        values = _integers(decision, len(self.lower), "whole numbers")
        for i, (low, value, high) in enumerate(zip(self.lower, values, self.upper, strict=True)):
            if not low <= value <= high:
                raise ValueError(f"entry {i} is {value}; it lies between {low} and {high}.")
        return values

    def __contains__(self, decision: object) -> bool:
        return _passes(self.check, decision)

    def __iter__(self) -> Iterator[Integers]:
        return product(*(range(low, high + 1) for low, high in zip(self.lower, self.upper, strict=True)))

    def sample(self, rng: np.random.Generator) -> Integers:
        """Every vector is equally likely."""
        return tuple(rng.integers(self.lower, self.upper, endpoint=True).tolist())

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        steps = list(self._steps(decision))
        return _replaced(decision, *steps[int(rng.integers(len(steps)))]) if steps else decision

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        for position, value in self._steps(decision):
            yield _replaced(decision, position, value)

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange a stretch between two random cuts."""
        return _exchanged(first, second, rng)

    def repair(self, values: Sequence[float]) -> Integers:
        """The nearest vector: round, then clip."""
        rounded = _rounded(_numbers(values, len(self.lower)))
        return tuple(min(max(v, low), high) for v, low, high in zip(rounded, self.lower, self.upper, strict=True))

    def _steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        for position, value in enumerate(decision):
            if value > self.lower[position]:
                yield position, value - 1
            if value < self.upper[position]:
                yield position, value + 1


@dataclass(frozen=True)
class OrderedIntegers:
    """All non-decreasing integer vectors: ``lower <= x[0] <= x[1] <= ... <= upper``; of length 0, the empty one.

    There are ``C(upper - lower + length, length)`` of them. Iteration is lexicographic. Neighbours differ by 1 in one
    entry.
    """

    length: int
    lower: int
    upper: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", _whole("length", self.length, least=0))
        object.__setattr__(self, "lower", _whole("lower", self.lower))
        object.__setattr__(self, "upper", _whole("upper", self.upper))
        if self.lower > self.upper:
            raise ValueError(f"lower must be no more than upper, got {self.lower} and {self.upper}.")

    @property
    def size(self) -> int:
        """Multisets of `length` numbers out of the range."""
        return math.comb(self.upper - self.lower + self.length, self.length)

    def check(self, decision: Any) -> Integers:
        values = _integers(decision, self.length, "whole numbers")
        for i, value in enumerate(values):
            if not self.lower <= value <= self.upper:
                raise ValueError(f"entry {i} is {value}; entries lie between {self.lower} and {self.upper}.")
            if i and value < values[i - 1]:
                raise ValueError(f"entry {i} is {value} after {values[i - 1]}; entries never decrease.")
        return values

    def __contains__(self, decision: object) -> bool:
        return _passes(self.check, decision)

    def __iter__(self) -> Iterator[Integers]:
        return combinations_with_replacement(range(self.lower, self.upper + 1), self.length)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Every vector is equally likely: a random subset, made non-decreasing by taking out the steps of 1."""
        chosen = rng.choice(self.upper - self.lower + self.length, size=self.length, replace=False, shuffle=False)
        return tuple((np.sort(chosen) - np.arange(self.length) + self.lower).tolist())

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        steps = list(self._steps(decision))
        return _replaced(decision, *steps[int(rng.integers(len(steps)))]) if steps else decision

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        for position, value in self._steps(decision):
            yield _replaced(decision, position, value)

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange a stretch between two random cuts, then sort."""
        one, other = _exchanged(first, second, rng)
        return tuple(sorted(one)), tuple(sorted(other))

    def repair(self, values: Sequence[float]) -> Integers:
        """Round, clip and sort."""
        rounded = _rounded(_numbers(values, self.length))
        return tuple(sorted(min(max(value, self.lower), self.upper) for value in rounded))

    def _steps(self, decision: Integers) -> Iterator[tuple[int, int]]:
        last = self.length - 1
        for position, value in enumerate(decision):
            if value > (decision[position - 1] if position else self.lower):
                yield position, value - 1
            if value < (decision[position + 1] if position < last else self.upper):
                yield position, value + 1


@dataclass(frozen=True)
class Simplex:
    """All vectors of `length` non-negative numbers that add up to `total`: a continuum, without iteration.

    Points with more than 5000 entries are read-only arrays, shorter ones tuples.
    """

    length: int
    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", _whole("length", self.length, least=1))
        if not (math.isfinite(self.total) and self.total > 0):
            raise ValueError(f"total must be a positive number, got {self.total!r}.")
        object.__setattr__(self, "total", float(self.total))

    @property
    def size(self) -> float:
        """Infinite."""
        return math.inf

    def check(self, decision: Any) -> Any:
        values = _numbers(decision, self.length)
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            position = int(np.argmax(wrong))
            raise ValueError(f"entry {position} is {float(values[position])!r}; entries are numbers, zero or more.")
        total = float(values.sum())
        if not math.isclose(total, self.total, rel_tol=TOTAL_TOLERANCE):
            raise ValueError(f"the entries add up to {total!r}; they must add up to {self.total!r}.")
        return self._point(values)

    def __contains__(self, decision: object) -> bool:
        return _passes(self.check, decision)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a simplex is a continuum: its points cannot be listed.")

    def sample(self, rng: np.random.Generator) -> Any:
        """Uniform over the simplex: independent exponential numbers, scaled."""
        return self._scaled(rng.standard_exponential(self.length))

    def neighbour(self, decision: Any, rng: np.random.Generator) -> Any:
        """Move a random part of one positive entry to another entry."""
        if self.length == 1:
            return decision
        values = np.array(decision, dtype=float)
        giver = int(rng.choice(np.flatnonzero(values > 0)))
        taker = (giver + 1 + int(rng.integers(self.length - 1))) % self.length
        moved = values[giver] * (1.0 - rng.random())
        values[giver] -= moved
        values[taker] += moved
        return self._scaled(values)

    def neighbours(self, decision: Any) -> Iterator[Any]:
        raise TypeError("a simplex is a continuum: the neighbours of a point cannot be listed.")

    def crossover(self, first: Any, second: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """Two points of the segment between the parents, mirror images of each other."""
        weight = rng.random()
        one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        return self._scaled(weight * one + (1 - weight) * other), self._scaled((1 - weight) * one + weight * other)

    def repair(self, values: Sequence[float]) -> Any:
        r"""The nearest point in the Euclidean norm, :math:`\max(v_i - \theta, 0)` with the fitting :math:`\theta`."""
        array = _numbers(values, self.length)
        if not np.isfinite(array).all():
            position = int(np.argmin(np.isfinite(array)))
            raise ValueError(f"entry {position} is {float(array[position])!r}; entries are finite numbers.")
        falling = np.sort(array)[::-1]
        surplus = (np.cumsum(falling) - self.total) / np.arange(1, self.length + 1)
        threshold = surplus[np.flatnonzero(falling > surplus)[-1]]
        return self._scaled(np.maximum(array - threshold, 0.0))

    def _scaled(self, values: NDArray[np.float64]) -> Any:
        return self._point(values * (self.total / values.sum()))

    def _point(self, values: NDArray[np.float64]) -> Any:
        if self.length <= LONGEST_TUPLE:
            return tuple(values.tolist())
        if values.flags.writeable:
            values = values.copy()
            values.flags.writeable = False
        return values


@dataclass(frozen=True)
class Words:
    r"""Cyclic words (necklaces) over the letters ``0 .. alphabet - 1``, of any of the given lengths.

    A word stands for all its rotations and is written as the least of them; `check` takes any rotation. The number of
    words of length :math:`n` over :math:`k` letters is :math:`\frac1n \sum_{d \mid n} \varphi(d)\, k^{n/d}`. Iteration
    goes through the lengths in increasing order, and through each in lexicographic order (the algorithm of Fredricksen,
    Kessler and Maiorana).

    Neighbours: one letter replaced, two adjacent letters exchanged, a stretch of letters cut out to reach the next
    shorter length, or one letter inserted as often as it takes to reach the next longer one.

    Parameters
    ----------
    alphabet
        Number of letters.
    lengths
        The lengths allowed: a range, a sequence or one number.
    """

    alphabet: int
    lengths: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphabet", _whole("alphabet", self.alphabet, least=1))
        given: Iterable[Any] = self.lengths if isinstance(self.lengths, Iterable) else (self.lengths,)
        lengths = tuple(sorted({_whole("a length", length, least=1) for length in given}))
        if not lengths:
            raise ValueError("words need at least one length, got none.")
        object.__setattr__(self, "lengths", lengths)

    @property
    def size(self) -> int:
        """Number of cyclic words."""
        return sum(self._count(length) for length in self.lengths)

    def check(self, decision: Any) -> Integers:
        word = _integers(decision, None, "whole numbers")
        if len(word) not in self.lengths:
            raise ValueError(f"the word has {len(word)} letters; words have {_spelled(self.lengths)}.")
        for i, letter in enumerate(word):
            if not 0 <= letter < self.alphabet:
                raise ValueError(f"entry {i} is {letter}; letters lie between 0 and {self.alphabet - 1}.")
        return _least_rotation(word)

    def __contains__(self, decision: object) -> bool:
        return _passes(self.check, decision)

    def __iter__(self) -> Iterator[Integers]:
        for length in self.lengths:
            yield from _necklaces(length, self.alphabet)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Every cyclic word is equally likely.

        By the orbit-counting lemma it is enough to draw a rotation and a word that this rotation leaves alone.
        """
        pairs = [
            (length, repeats, _totient(repeats) * self.alphabet ** (length // repeats) * (_PRECISION // length))
            for length in self.lengths
            for repeats in _divisors(length)
        ]
        whole = sum(weight for _, _, weight in pairs)
        chosen = rng.choice(len(pairs), p=_normalised([weight / whole for _, _, weight in pairs]))
        length, repeats, _ = pairs[int(chosen)]
        return _least_rotation(tuple(rng.integers(self.alphabet, size=length // repeats).tolist()) * repeats)

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        moves = self._moves(decision)
        for chosen in rng.permutation(len(moves)).tolist():
            moved = self._moved(decision, moves[chosen])
            if moved != decision:
                return moved
        return decision

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        seen = {decision}
        for move in self._moves(decision):
            moved = self._moved(decision, move)
            if moved not in seen:
                seen.add(moved)
                yield moved

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Turn both words by random amounts and exchange a beginning; the two lengths are those of the parents."""
        one, other = _turned(first, int(rng.integers(len(first)))), _turned(second, int(rng.integers(len(second))))
        cut = int(rng.integers(min(len(one), len(other)) + 1))
        return _least_rotation(other[:cut] + one[cut:]), _least_rotation(one[:cut] + other[cut:])

    def repair(self, values: Sequence[float]) -> Integers:
        """Round and clip the letters, cut or repeat the word to the nearest length, turn to the least rotation."""
        word = tuple(min(max(letter, 0), self.alphabet - 1) for letter in _rounded(_numbers(values, None))) or (0,)
        length = min(self.lengths, key=lambda allowed: abs(allowed - len(word)))
        return _least_rotation((word * (length // len(word) + 1))[:length])

    def _count(self, length: int) -> int:
        return sum(_totient(d) * int(self.alphabet ** (length // d)) for d in _divisors(length)) // length

    def _moves(self, word: Integers) -> list[tuple[str, int, int]]:
        length = len(word)
        moves = [("replace", i, a) for i in range(length) for a in range(self.alphabet) if a != word[i]]
        moves += [("exchange", i, 0) for i in range(length) if word[i] != word[i - 1]]
        shorter = [allowed for allowed in self.lengths if allowed < length]
        longer = [allowed for allowed in self.lengths if allowed > length]
        if shorter:
            moves += [("cut", i, length - shorter[-1]) for i in range(length)]
        if longer:
            moves += [(f"insert {longer[0] - length}", i, a) for i in range(length) for a in range(self.alphabet)]
        return moves

    @staticmethod
    def _moved(word: Integers, move: tuple[str, int, int]) -> Integers:
        kind, position, value = move
        if kind == "replace":
            return _least_rotation(_replaced(word, position, value))
        turned = _turned(word, position)
        if kind == "exchange":
            return _least_rotation((turned[-1], *turned[1:-1], turned[0]))
        if kind == "cut":
            return _least_rotation(turned[value:])
        return _least_rotation((value,) * int(kind.split()[1]) + turned)


@dataclass(frozen=True)
class Policies:
    """One action for every state; `actions` holds the number of actions of each state.

    Iteration is lexicographic. Neighbours take another action in one state.
    """

    actions: Integers

    def __post_init__(self) -> None:
        actions = tuple(_whole(f"actions[{i}]", count, least=1) for i, count in enumerate(self.actions))
        if not actions:
            raise ValueError("a policy needs at least one state, got none.")
        object.__setattr__(self, "actions", actions)

    @property
    def size(self) -> int:
        """Product of the numbers of actions."""
        return math.prod(self.actions)

    def check(self, decision: Any) -> Integers:
        values = _integers(decision, len(self.actions), "whole numbers")
        for state, (action, count) in enumerate(zip(values, self.actions, strict=True)):
            if not 0 <= action < count:
                raise ValueError(f"entry {state} is {action}; the actions of this state lie between 0 and {count - 1}.")
        return values

    def __contains__(self, decision: object) -> bool:
        return _passes(self.check, decision)

    def __iter__(self) -> Iterator[Integers]:
        return product(*map(range, self.actions))

    def sample(self, rng: np.random.Generator) -> Integers:
        """Every policy is equally likely."""
        return tuple(rng.integers(0, self.actions).tolist())

    def neighbour(self, decision: Integers, rng: np.random.Generator) -> Integers:
        """Every neighbour is equally likely."""
        others = sum(self.actions) - len(self.actions)
        if not others:
            return decision
        chosen = int(rng.integers(others))
        for state, count in enumerate(self.actions):
            if chosen < count - 1:
                return _replaced(decision, state, chosen + (chosen >= decision[state]))
            chosen -= count - 1
        raise AssertionError("the actions were counted wrongly.")  # unreachable: chosen < others

    def neighbours(self, decision: Integers) -> Iterator[Integers]:
        for state, (taken, count) in enumerate(zip(decision, self.actions, strict=True)):
            for action in range(count):
                if action != taken:
                    yield _replaced(decision, state, action)

    def crossover(self, first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Exchange the actions of a stretch of states between two random cuts."""
        return _exchanged(first, second, rng)

    def repair(self, values: Sequence[float]) -> Integers:
        """Round, then clip."""
        rounded = _rounded(_numbers(values, len(self.actions)))
        return tuple(min(max(v, 0), count - 1) for v, count in zip(rounded, self.actions, strict=True))


_BITS = frozenset((0, 1))
_INT = frozenset((int,))

#: Common multiple of many small numbers: keeps the weights of `Words.sample` whole up to a relative error of 1e-30.
_PRECISION = 10**40


def _whole(name: str, value: Any, least: int | None = None) -> int:
    """`value` as a Python integer, or an error that says what `name` must be."""
    rule = "a whole number" if least is None else f"a whole number, {least} or more"
    try:
        number: int = index(value)
    except TypeError:
        raise ValueError(f"{name} must be {rule}, got {value!r}.") from None
    if isinstance(value, bool) or (least is not None and number < least):
        raise ValueError(f"{name} must be {rule}, got {value!r}.")
    return number


def _integers(decision: Any, length: int | None, rule: str) -> Integers:
    """The entries as Python integers; a tuple of these passes through untouched."""
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
    """One entry as a Python integer; 1.0 and numpy's integers are taken, 1.5 is not."""
    try:
        number = int(value)
        if number == value and not isinstance(value, (str, bytes)):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"entry {position} is {value!r}; entries are {rule}.")


def _numbers(values: Any, length: int | None) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("the decision holds something that is not a number; entries are numbers.") from None
    if array.ndim != 1:
        raise ValueError(f"the decision has {array.ndim} dimensions; a decision is a flat list.")
    if length is not None and len(array) != length:
        raise ValueError(f"the decision has {len(array)} entries; it needs {length}.")
    return array


def _rounded(array: NDArray[np.float64]) -> list[int]:
    """Nearest integers, halves up; what is no number counts as 0, infinity as more than any limit in use."""
    return [int(value) for value in np.floor(np.nan_to_num(array, nan=0.0, posinf=2.0**62, neginf=-(2.0**62)) + 0.5)]


def _passes(check: Any, decision: object) -> bool:
    try:
        check(decision)
    except ValueError:
        return False
    return True


def _replaced(decision: Integers, position: int, value: int) -> Integers:
    return (*decision[:position], value, *decision[position + 1 :])


def _exchanged(first: Integers, second: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
    start, stop = sorted(rng.integers(0, len(first) + 1, size=2).tolist())
    return (
        first[:start] + second[start:stop] + first[stop:],
        second[:start] + first[start:stop] + second[stop:],
    )


def _normalised(weights: list[float]) -> list[float]:
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _spelled(lengths: Integers) -> str:
    if len(lengths) == 1:
        return f"{lengths[0]}"
    if lengths == tuple(range(lengths[0], lengths[-1] + 1)):
        return f"{lengths[0]} to {lengths[-1]}"
    return f"{', '.join(map(str, lengths[:-1]))} or {lengths[-1]}"


def _turned(word: Integers, amount: int) -> Integers:
    return word[amount:] + word[:amount]


def _least_rotation(word: Integers) -> Integers:
    """The lexicographically least rotation, in linear time (two candidates run against each other)."""
    length, first, second, matched = len(word), 0, 1, 0
    while second < length and matched < length and first < length:
        one, other = word[(first + matched) % length], word[(second + matched) % length]
        if one == other:
            matched += 1
            continue
        if one > other:
            first += matched + 1
        else:
            second += matched + 1
        if first == second:
            second += 1
        matched = 0
    return _turned(word, min(first, second))


def _necklaces(length: int, alphabet: int) -> Iterator[Integers]:
    """All least rotations of one length in lexicographic order (Fredricksen, Kessler and Maiorana)."""
    word = [0] * length
    yield tuple(word)
    while True:
        kept = length
        while kept and word[kept - 1] == alphabet - 1:
            kept -= 1
        if not kept:
            return
        word[kept - 1] += 1
        for i in range(kept, length):
            word[i] = word[i - kept]
        if length % kept == 0:
            yield tuple(word)


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _totient(number: int) -> int:
    return sum(1 for i in range(1, number + 1) if math.gcd(i, number) == 1)
