"""Cyclic words: a space of decisions in which a rotation is the same decision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .vectors import Checked, Integers, as_integers, as_numbers, as_whole, keep_whole, round_entries

#: Common multiple of many small numbers: keeps the weights of `Words.sample` whole up to a relative error of 1e-30.
_PRECISION = 10**40


@dataclass(frozen=True)
class Words(Checked):
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

    Examples
    --------
    >>> space = Words(2, (3,))
    >>> list(space)
    [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    >>> space.check([1, 0, 0])
    (0, 0, 1)
    """

    alphabet: int
    lengths: Integers

    def __post_init__(self) -> None:
        keep_whole(self, alphabet=1)
        given: Iterable[Any] = self.lengths if isinstance(self.lengths, Iterable) else (self.lengths,)
        lengths = tuple(sorted({as_whole("a length", length, least=1) for length in given}))
        if not lengths:
            raise ValueError("words need at least one length, got none.")
        object.__setattr__(self, "lengths", lengths)

    @property
    def size(self) -> int:
        """Number of cyclic words."""
        return sum(self._count(length) for length in self.lengths)

    def check(self, decision: Any) -> Integers:
        word = as_integers(decision, None, "whole numbers")
        if len(word) not in self.lengths:
            raise ValueError(f"the word has {len(word)} letters; words have {_spelled(self.lengths)}.")
        for i, letter in enumerate(word):
            if not 0 <= letter < self.alphabet:
                raise ValueError(f"entry {i} is {letter}; letters lie between 0 and {self.alphabet - 1}.")
        return _least_rotation(word)

    def __iter__(self) -> Iterator[Integers]:
        for length in self.lengths:
            yield from _necklaces(length, self.alphabet)

    def sample(self, rng: np.random.Generator) -> Integers:
        """Draw a cyclic word; each is equally likely.

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
        letters = round_entries(as_numbers(values, None)) or [0]
        word = tuple(min(max(letter, 0), self.alphabet - 1) for letter in letters)
        length = min(self.lengths, key=lambda allowed: abs(allowed - len(word)))
        return _least_rotation((word * (length // len(word) + 1))[:length])

    def _count(self, length: int) -> int:
        """Count the cyclic words of one length."""
        return sum(_totient(d) * int(self.alphabet ** (length // d)) for d in _divisors(length)) // length

    def _moves(self, word: Integers) -> list[tuple[int, int, Integers]]:
        """List what leads to a neighbour: where letters are taken out, how many, and which take their place."""
        length, letters = len(word), range(self.alphabet)
        moves: list[tuple[int, int, Integers]] = []
        moves += [(i, 1, (a,)) for i in range(length) for a in letters if a != word[i]]
        moves += [(i - 1, 2, (word[i], word[i - 1])) for i in range(length) if word[i] != word[i - 1]]
        shorter = [allowed for allowed in self.lengths if allowed < length]
        longer = [allowed for allowed in self.lengths if allowed > length]
        if shorter:
            moves += [(i, length - shorter[-1], ()) for i in range(length)]
        if longer:
            moves += [(i, 0, (a,) * (longer[0] - length)) for i in range(length) for a in letters]
        return moves

    @staticmethod
    def _moved(word: Integers, move: tuple[int, int, Integers]) -> Integers:
        """Make one of the moves."""
        position, removed, inserted = move
        return _least_rotation(inserted + _turned(word, position)[removed:])


def _normalised(weights: list[float]) -> list[float]:
    """Scale weights to a sum of 1."""
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _spelled(lengths: Integers) -> str:
    """Write down lengths as people would: 4, 1 to 20, or 2, 3 or 5."""
    if len(lengths) == 1:
        return f"{lengths[0]}"
    if lengths == tuple(range(lengths[0], lengths[-1] + 1)):
        return f"{lengths[0]} to {lengths[-1]}"
    return f"{', '.join(map(str, lengths[:-1]))} or {lengths[-1]}"


def _turned(word: Integers, amount: int) -> Integers:
    """Rotate a word to the left."""
    return word[amount:] + word[:amount]


def _least_rotation(word: Integers) -> Integers:
    """Find the lexicographically least rotation, in linear time (two candidates run against each other)."""
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
    """Yield all least rotations of one length in lexicographic order (Fredricksen, Kessler and Maiorana)."""
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
    """List the divisors of a number."""
    return [d for d in range(1, number + 1) if number % d == 0]


def _totient(number: int) -> int:
    """Count the numbers up to this one that are coprime to it."""
    return sum(1 for i in range(1, number + 1) if math.gcd(i, number) == 1)
