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
from typing import NamedTuple

import numpy as np
from numba import njit

from ..protocols import Matrix, Vector, Whole
from ..routing import cyclic_cost, horizon_total

#: Slots that are changed at once as long as this helps.
SHALLOW = 2


class WordCosts(NamedTuple):
    """What words cost: repeated for ever, or once, between a beginning and an end.

    Parameters
    ----------
    costs
        Of gaps of 1, 2, ... slots, a row for each server.
    first
        Once: costs of first gaps, see `heuristics.routing.HorizonCosts`; for ever: empty.
    later, slopes
        For ever: as `heuristics.routing.cyclic_cost` takes them.
    """

    costs: Matrix
    first: Matrix = np.zeros((0, 0))
    later: Vector = np.zeros(0)
    slopes: Vector = np.zeros(0)

    def rounding(self, word: Whole) -> float:
        """Bound what rounding may do to the cost of a word like this one."""
        terms = len(word) + len(self.costs)
        return 2 * terms * float(np.finfo(float).eps) * evaluate_word(WordCosts(*map(np.abs, self)), word)


@njit(cache=True)
def evaluate_word(costs: WordCosts, word: Whole) -> float:
    """Evaluate a word: the one kernel of all searches.

    Parameters
    ----------
    costs
        Of its gaps.
    word
        The server of each packet.

    Returns
    -------
    float
        The mean cost of a slot, or the total cost of a finite horizon.
    """
    if len(costs.first):
        return horizon_total(costs.costs, costs.first, word)
    return cyclic_cost(costs.costs, costs.later, costs.slopes, word)


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
        self.cost = evaluate_word(costs, self.word)
        self.progress = costs.rounding(self.word) if math.isfinite(self.cost) else 0.0
        self.pairs = np.array([(i, j) for i in range(servers) for j in range(i + 1, servers)], dtype=np.int64)
        self.stack = np.empty(len(word) + 1, dtype=np.int64)
        most = len(word) if deepest is None else deepest
        # Depth of the stack, pair at hand, pairs looked at in vain, slots that may be changed at once now, and ever.
        self.place = np.array([0, 0, 0, min(SHALLOW, most), most], dtype=np.int64)

    @property
    def done(self) -> bool:
        """Whether no neighbour is better."""
        return bool(self.place[2] >= len(self.pairs))

    def follow(self, evaluations: int) -> int:
        """Evaluate at most so many neighbours and go to better ones; return how many were evaluated."""
        count, self.cost = _follow(
            self.costs, self.word, self.cost, self.progress, self.pairs, self.stack, self.place, evaluations
        )
        return int(count)

    @property
    def reached(self) -> tuple[int, ...]:
        """The best word so far: the one at hand without the changes under trial."""
        word = self.word.copy()
        for slot in self.stack[: self.place[0]]:
            word[slot] = self.pairs[self.place[1]].sum() - word[slot]
        return tuple(word.tolist())


@njit(cache=True)
def _follow(
    costs: WordCosts, word: Whole, cost: float, progress: float, pairs: Whole, stack: Whole, place: Whole, most: int
) -> tuple[int, float]:
    """Go on where the stack of changed slots says; the first better word is kept and all begins anew."""
    depth, pair, vain, limit, deepest = place
    count = 0
    while count < most and vain < len(pairs):
        i, j = pairs[pair]
        depth = _next(word, i, j, stack, depth, limit)
        if depth == 0:
            pair = (pair + 1) % len(pairs)
            vain += 1
            if vain == len(pairs) and limit < deepest:
                vain, limit = 0, deepest
            continue
        value = evaluate_word(costs, word)
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
