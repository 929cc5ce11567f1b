r"""Neighbours of words, as multimodular functions know them: letters changed to and fro, alternately.

With 0 and 1 for two servers, :math:`x + \sum_i \alpha_i b_i` has the entries :math:`x_k + \alpha_k - \alpha_{k-1}`.
That is a word of 0 and 1 only if :math:`\alpha` rises at zeros of x and falls at ones: the feasible neighbours are the
words that differ from x in slots, any number of them, whose letters alternate. They are far fewer than the
:math:`2^{n+1} - 2` points of the neighbourhood, and are listed directly: at most some :math:`1.62^n`, and few where
letters come in long runs.

For more servers two of them are taken at a time, and the slots of all others stay as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..routing import Matrix, Vector, Whole, cyclic_cost, horizon_total

#: Slots that are changed at once as long as this helps.
SHALLOW = 2


@dataclass(frozen=True, eq=False)
class WordCosts:
    """What words cost: repeated for ever, or once, between a beginning and an end.

    Attributes
    ----------
    costs
        Of gaps of 1, 2, ... slots, a row for each server.
    first
        Once: costs of first gaps, see `heuristics.routing.HorizonCosts`; for ever: empty.
    later, slopes
        For ever: as `heuristics.routing.cyclic_cost` takes them.
    """

    costs: Matrix
    first: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    later: Vector = field(default_factory=lambda: np.zeros(0))
    slopes: Vector = field(default_factory=lambda: np.zeros(0))

    def total(self, word: Whole) -> float:
        """The cost of a word."""
        return float(judged(self.costs, self.first, self.later, self.slopes, word))

    def rounding(self, word: Whole) -> float:
        """What rounding may do to the cost of a word like this one."""
        terms = len(word) + len(self.costs)
        size = judged(np.abs(self.costs), np.abs(self.first), np.abs(self.later), np.abs(self.slopes), word)
        return 2 * terms * float(np.finfo(float).eps) * float(size)


@njit(cache=True)
def judged(costs: Matrix, first: Matrix, later: Vector, slopes: Vector, word: Whole) -> float:
    """Evaluate a word: the one kernel of all searches.

    Parameters
    ----------
    costs
        Costs of gaps of 1, 2, ... slots, a row for each server.
    first
        Costs of first gaps where the horizon is finite; without rows the word is repeated for ever.
    later, slopes
        What a slot costs beyond the table, and in the limit, as for :func:`heuristics.routing.cyclic_cost`.
    word
        The server of each packet.

    Returns
    -------
    float
        The mean cost of a slot, or the total cost of a finite horizon.
    """
    if len(first):
        return horizon_total(costs, first, word)
    return cyclic_cost(costs, later, slopes, word)


class Descent:
    """A walk to better neighbours, some evaluations at a time.

    The first better one is taken. Words that differ in one or two slots are tried first, and all the others only when
    these are no better: then most of the walk is short.

    Parameters
    ----------
    costs
        Of words.
    word
        Where to begin.
    deepest
        How many slots may be changed at once; by default all.
    """

    def __init__(self, costs: WordCosts, word: Whole, deepest: int | None = None) -> None:
        servers = len(costs.costs)
        self.costs = costs
        self.word = np.array(word, dtype=np.int64)
        self.cost = costs.total(self.word)
        self.progress = costs.rounding(self.word) if math.isfinite(self.cost) else 0.0
        self.pairs = np.array([(i, j) for i in range(servers) for j in range(i + 1, servers)], dtype=np.int64)
        self.stack = np.empty(len(word) + 1, dtype=np.int64)
        self.deepest = len(word) if deepest is None else deepest
        # Depth of the stack, pair at hand, pairs looked at in vain, slots that may be changed at once for now.
        self.place = np.array([0, 0, 0, min(SHALLOW, self.deepest)], dtype=np.int64)

    @property
    def done(self) -> bool:
        """Whether no neighbour is better."""
        return bool(self.place[2] >= len(self.pairs))

    def follow(self, evaluations: int) -> int:
        """Judge so many neighbours at most, go to better ones; how many were judged."""
        costs = self.costs
        count, self.cost = _follow(
            costs.costs,
            costs.first,
            costs.later,
            costs.slopes,
            self.word,
            self.cost,
            self.progress,
            self.pairs,
            self.stack,
            self.place,
            self.deepest,
            evaluations,
        )
        return int(count)

    @property
    def reached(self) -> tuple[int, ...]:
        """The best word so far: the one at hand without the changes under trial."""
        word = self.word.copy()
        for slot in self.stack[: self.place[0]]:
            i, j = self.pairs[self.place[1]]
            word[slot] = i + j - word[slot]
        return tuple(word.tolist())


@njit(cache=True)
def _follow(
    costs: Matrix,
    first: Matrix,
    later: Vector,
    slopes: Vector,
    word: Whole,
    cost: float,
    progress: float,
    pairs: Whole,
    stack: Whole,
    place: Whole,
    deepest: int,
    evaluations: int,
) -> tuple[int, float]:
    """Go on where the stack of changed slots says; the first better word is kept and all begins anew."""
    depth, pair, vain, limit = place
    count = 0
    while count < evaluations and vain < len(pairs):
        i, j = pairs[pair]
        depth = _next(word, i, j, stack, depth, limit)
        if depth == 0:
            pair = (pair + 1) % len(pairs)
            vain += 1
            if vain == len(pairs) and limit < deepest:
                vain, limit = 0, deepest
            continue
        value = judged(costs, first, later, slopes, word)
        count += 1
        if value < cost - progress:
            cost, depth, vain, limit = value, 0, 0, min(SHALLOW, deepest)
    place[0], place[1], place[2], place[3] = depth, pair, vain, limit
    return count, cost


@njit(cache=True)
def _next(word: Whole, i: int, j: int, stack: Whole, depth: int, deepest: int) -> int:
    """Change the word to its next neighbour: one slot more, or the last ones taken back and a later one changed.

    A changed slot shows the other letter of the two, which is the one that the next changed slot must have.
    """
    slot = stack[depth - 1] + 1 if depth > 0 else 0
    if depth == deepest:
        depth -= 1
        word[stack[depth]] = i + j - word[stack[depth]]
    while True:
        while slot < len(word):
            letter = word[slot]
            if letter in (i, j) and (depth == 0 or letter == word[stack[depth - 1]]):
                word[slot] = i + j - letter
                stack[depth] = slot
                return depth + 1
            slot += 1
        if depth == 0:
            return 0
        depth -= 1
        slot = stack[depth] + 1
        word[stack[depth]] = i + j - word[stack[depth]]


@njit(cache=True)
def least_word(costs: Matrix, later: Vector, slopes: Vector, length: int) -> tuple[float, Whole]:
    """Enumerate all 2^n words of two servers, for comparison.

    Parameters
    ----------
    costs, later, slopes
        As for `judged`.
    length
        n.

    Returns
    -------
    least : float
        The least mean cost of a slot.
    word : array of int
        The first word that has it.
    """
    word = np.zeros(length, dtype=np.int64)
    first = np.zeros((0, 0))
    least, best = np.inf, word.copy()
    for _ in range(1 << length):
        value = judged(costs, first, later, slopes, word)
        if value < least:
            least = value
            best[:] = word
        slot = 0
        while slot < length and word[slot] == 1:  # count in binary
            word[slot] = 0
            slot += 1
        if slot < length:
            word[slot] = 1
    return least, best


def neighbours_of(word: tuple[int, ...], first: int = 0, second: int = 1) -> list[tuple[int, ...]]:
    """All feasible neighbours of a word that differ in letters of two servers."""
    letters = np.array(word, dtype=np.int64)
    stack: NDArray[np.int64] = np.empty(len(word) + 1, dtype=np.int64)
    found: list[tuple[int, ...]] = []
    depth = _next(letters, first, second, stack, 0, len(word))
    while depth:
        found.append(tuple(letters.tolist()))
        depth = _next(letters, first, second, stack, depth, len(word))
    return found
