r"""The phases of the pages that wait, as words: patience in triangular coordinates, and compiled moves on all words.

With n pages waiting, a level is a vector over words of n letters, one for the patience phase of each page, the
*youngest first*; for each word stand `inner` numbers, the phases of arrivals and service. A batch then adds letters in
front, which is copying, and every other move is a loop over long runs of neighbouring numbers.

All phases change at once by :math:`\Gamma \oplus \cdots \oplus \Gamma`. With Schur's :math:`\Gamma = U T U^*`, T upper
triangular, a row p over words becomes :math:`p\,(U \otimes \cdots \otimes U)`, U unitary, so that no digits are lost;
the law becomes :math:`\gamma U, T, U^* \Gamma_0, U^* e`, and systems with the diagonal block of a level are solved in
one pass from the first word to the last. Where phases are never met again (Erlang, hyperexponential, Coxian laws), U
only puts them in order and all numbers stay positive; it is complex where eigenvalues are.
"""

from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Integers, Matrix, Vector, communicating_classes

#: Numbers that may be complex.
Numbers = NDArray[Any]

# Words are worked on in runs of about so many numbers, which stay in the nearest cache.
_RUN = 2048


class Letters(NamedTuple):
    r"""Patience of one page in triangular coordinates.

    Attributes
    ----------
    start, change, fading, whole
        :math:`\gamma U`, T, :math:`U^* \Gamma_0`, :math:`U^* e`.
    rotation
        U.
    """

    start: Numbers
    change: Numbers
    fading: Numbers
    whole: Numbers
    rotation: Numbers

    @property
    def order(self) -> int:
        """Number of letters."""
        return len(self.start)


def plain_letters(start: Vector, generator: Matrix, fading: Vector) -> Letters:
    """Take a law of patience as it is, its generator triangular or not.

    Parameters
    ----------
    start, generator, fading
        gamma, Gamma and Gamma_0, as in `ThresholdModel.patience_rates`.

    Returns
    -------
    Letters
        the law, with U = I.
    """
    return Letters(np.array(start), np.array(generator), np.array(fading), np.ones(len(start)), np.eye(len(start)))


def triangular_letters(start: Vector, generator: Matrix, fading: Vector) -> Letters:
    """Write a law of patience in coordinates that make its generator upper triangular.

    Parameters
    ----------
    start, generator, fading
        gamma, Gamma and Gamma_0, as in `ThresholdModel.patience_rates`.

    Returns
    -------
    Letters
        the law; complex where its generator has complex eigenvalues.
    """
    count = communicating_classes(generator - np.diag(np.diagonal(generator)))[0]
    rotation: Numbers
    if count == len(start):
        rotation = np.eye(count)[:, _downstream(generator)]
        change: Numbers = rotation.T @ generator @ rotation
    else:
        from scipy.linalg import schur  # rarely needed, and slow to load

        change, rotation = schur(generator, output="real")
        if np.tril(change, -1).any():
            change, rotation = schur(generator, output="complex")
    back = rotation.conj().T
    return Letters(start @ rotation, np.triu(change), back @ fading, back.sum(axis=1), np.ascontiguousarray(rotation))


def reversed_letters(letters: Letters) -> Letters:
    """Turn a law for rows over words into one for columns, upper triangular again.

    Parameters
    ----------
    letters
        the law; upper triangular.

    Returns
    -------
    Letters
        letters in falling order: a word of these is the word of those at the mirrored place of the vector.
    """
    return Letters(
        start=letters.start[::-1].copy(),
        change=np.ascontiguousarray(letters.change.T[::-1, ::-1]),
        fading=letters.fading[::-1].copy(),
        whole=letters.whole[::-1].copy(),
        rotation=letters.rotation[:, ::-1].copy(),
    )


def _downstream(generator: Matrix) -> list[int]:
    """Put phases in an order in which each leads to later ones only; there must be such an order."""
    left = set(range(len(generator)))
    order: list[int] = []
    while left:
        free = [phase for phase in sorted(left) if not any(generator[other, phase] > 0 for other in left - {phase})]
        order += free
        left -= set(free)
    return order


class Classes(NamedTuple):
    """Words of each length by the number of each of their letters: all that the diagonal of a level depends on.

    Attributes
    ----------
    shifts
        by length: by class, the sum of the diagonal of T over the letters.
    members
        by length: by word, its class.
    """

    shifts: tuple[Numbers, ...]
    members: tuple[NDArray[np.int32], ...]


def classes_of_words(letters: Letters, longest: int) -> Classes:
    """Sort words of 0, ..., longest letters by how often each letter stands in them.

    Parameters
    ----------
    letters
        patience of one page.
    longest
        length of the longest words.

    Returns
    -------
    Classes
        by length, the classes and their words.
    """
    diagonal = np.diagonal(letters.change)
    members = [np.zeros(1, dtype=np.int32)]
    shifts: list[Numbers] = [np.zeros(1, dtype=diagonal.dtype)]
    for length in range(1, longest + 1):
        counts, longer = _multisets(letters.order, length)
        shifts.append(counts @ diagonal)
        members.append(np.ascontiguousarray(longer[members[-1]].T).ravel())
    return Classes(tuple(shifts), tuple(members))


@lru_cache(maxsize=256)
def _multisets(order: int, length: int) -> tuple[Integers, NDArray[np.int32]]:
    """Count each letter by class, and find, by class of words shorter by one, the class with each letter more."""
    index = {word: place for place, word in enumerate(combinations_with_replacement(range(order), length))}
    counts = np.zeros((len(index), order), dtype=np.int64)
    for word, place in index.items():
        for letter in word:
            counts[place, letter] += 1
    longer = [
        [index[tuple(sorted((*word, letter)))] for letter in range(order)]
        for word in combinations_with_replacement(range(order), length - 1)
    ]
    return counts, np.array(longer, dtype=np.int32)


def weights_of_words(letters: Letters, longest: int) -> tuple[list[Numbers], list[Numbers]]:
    """Find the weights of words by which rows are summed.

    Parameters
    ----------
    letters
        patience of one page.
    longest
        length of the longest words.

    Returns
    -------
    masses, rates : list of Numbers
        by length, by word: the weight that gives the mass of a row, and the one that gives its rate of obsolescence.
    """
    masses: list[Numbers] = [np.ones(1, dtype=letters.whole.dtype)]
    rates: list[Numbers] = [np.zeros(1, dtype=letters.whole.dtype)]
    for _ in range(longest):
        masses.append(np.outer(letters.whole, masses[-1]).ravel())
        rates.append((np.outer(letters.whole, rates[-1]) + np.outer(letters.fading, masses[-2])).ravel())
    return masses, rates


def rotated(letters: Letters, row: Numbers, length: int, inner: int) -> Numbers:
    """Write a row over words of phases in the coordinates of `letters`.

    Parameters
    ----------
    letters
        patience of one page.
    row
        a row over words and inner numbers.
    length
        number of letters of its words.
    inner
        number of entries for each word.

    Returns
    -------
    Numbers
        the row in the new coordinates.
    """
    result = row
    for place in range(length):
        blocks = result.reshape(-1, letters.order, letters.order**place * inner)
        result = np.einsum("arb,rs->asb", blocks, letters.rotation)
    return np.ascontiguousarray(result).ravel()


# Kernels work entry by entry: array expressions would take numba minutes to compile, not seconds. They add to `out`.


@njit(cache=True)
def sum_of_words(weights: Numbers, block: Numbers) -> Numbers:
    """Sum a row, given as words by inner numbers, over its words with these weights."""
    total = np.zeros(block.shape[1], dtype=block.dtype)
    for word in range(len(weights)):
        for place in range(block.shape[1]):
            total[place] += weights[word] * block[word, place]
    return total


@njit(cache=True)
def letters_in_run(order: int, length: int, inner: int) -> int:
    """Tell how many of the last letters are worked on together."""
    low, run = 0, inner
    while low < length and run * order <= _RUN:
        low += 1
        run *= order
    return low


@njit(cache=True)
def _add(rate: Any, x: Numbers, source: int, count: int, out: Numbers, target: int) -> None:
    # Slices, and places that count from 0: only then does compiled code work on several numbers at once.
    taken, given = x[source : source + count], out[target : target + count]
    for place in range(count):
        given[place] += rate * taken[place]


@njit(cache=True)
def _add_two(rates: Numbers, x: Numbers, source: int, count: int, out: Numbers, target: int) -> None:
    """Do the same for two letters at once."""
    one, two, first, second = x[source : source + count], x[source + count : source + 2 * count], rates[0], rates[1]
    given = out[target : target + count]
    for place in range(count):
        given[place] += first * one[place] + second * two[place]


@njit(cache=True)
def delete_letter(x: Numbers, length: int, inner: int, fading: Numbers, out: Numbers) -> None:
    """Add the row after any one of `length` letters, of whatever place, is taken out at its rate."""
    order = len(fading)
    low = letters_in_run(order, length, inner)
    run = inner * order**low
    shorter = run // order
    for high in range(order ** (length - low)):
        stride = inner
        for _ in range(low):
            for block in range(shorter // stride):
                source, target = high * run + block * order * stride, high * shorter + block * stride
                if order == 2:
                    _add_two(fading, x, source, stride, out, target)
                else:
                    for letter in range(order):
                        _add(fading[letter], x, source + letter * stride, stride, out, target)
            stride *= order
    if length == low:
        return
    digits = np.zeros(length - low, dtype=np.int64)
    for high in range(order ** (length - 1 - low)):
        for letter in range(order):
            stride, rest, taken = 1, high, 1
            for position in range(length - low):
                # A letter put in beside its like gives the same word on either side: taken once, with both rates.
                if position < length - 1 - low and digits[position] == letter:
                    taken += 1
                else:
                    source = (high - rest * stride) + (rest * order + letter) * stride
                    _add(taken * fading[letter], x, source * run, run, out, high * run)
                    taken = 1
                stride *= order
                rest //= order
        for position in range(length - low):
            digits[position] += 1
            if digits[position] < order:
                break
            digits[position] = 0


@njit(cache=True)
def add_letter(x: Numbers, size: int, start: Numbers, out: Numbers) -> None:
    """Set `out` to the row with one more page in front."""
    for letter in range(len(start)):
        chance, written = start[letter], out[letter * size : (letter + 1) * size]
        for place in range(size):
            written[place] = chance * x[place]


@njit(cache=True)
def solve_level(
    x: Numbers, length: int, inner: int, change: Numbers, members: NDArray[np.int32], inverses: Numbers
) -> None:
    """Turn a row x into y of y (-Q) = x, Q the diagonal block of a level.

    Parameters
    ----------
    x
        the row, which becomes y.
    length
        number of letters of its words.
    inner
        number of entries for each word.
    change
        the generator of patience, upper triangular.
    members
        by word, its class.
    inverses
        by class of words, the inverse of minus the part of Q on arrivals and service, shifted by the diagonal of the
        phases of patience.

    Notes
    -----
    Once all words with some front and the letter d next are done, what they say to those with the same front and
    a later letter is said in one run.
    """
    order = len(change)
    diagonal = True
    for letter in range(order):
        for other in range(letter + 1, order):
            if change[letter, other] != 0.0:
                diagonal = False
    digits = np.zeros(length + 1, dtype=np.int64)
    scratch = np.zeros(inner, dtype=x.dtype)
    for word in range(order**length):
        here, inverse = x[word * inner : (word + 1) * inner], inverses[members[word]]
        if inner == 4:  # two phases of arrivals and of service: unrolled, three times as fast
            one, two, three, four = here[0], here[1], here[2], here[3]
            for place in range(4):
                here[place] = (
                    one * inverse[0, place] + two * inverse[1, place] + three * inverse[2, place]
                ) + four * inverse[3, place]
        else:
            for place in range(inner):
                scratch[place] = 0.0
            for source in range(inner):
                value = here[source]
                for place in range(inner):
                    scratch[place] += value * inverse[source, place]
            for place in range(inner):
                here[place] = scratch[place]
        if not diagonal:
            stride, done = inner, (word + 1) * inner
            for position in range(length):
                letter = digits[position]
                for other in range(letter + 1, order):
                    _add(change[letter, other], x, done - stride, stride, x, done + (other - letter - 1) * stride)
                digits[position] = letter + 1
                if letter + 1 < order:
                    break
                digits[position] = 0
                stride *= order
