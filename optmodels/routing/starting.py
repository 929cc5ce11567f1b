"""A good word of a given number of slots, for integer programs to start from and to leave out what is dearer.

Servers get the numbers of packets that would be best if nothing but numbers had to add up, spread evenly over the word;
or it is the word of Whittle's index rule, cut to the length. Then letters are replaced and exchanged as long as that
helps, and some of the best word at random to start again, from a fixed seed: a model of one problem is the same every
time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heuristics import Oracle, refusal
from heuristics.routing import IndexRule
from queueing.routing import GapCosts, words_cost

from .counting import Counts

if TYPE_CHECKING:
    from .problem import RoutingProblem

Word = NDArray[np.int64]

#: Words to start from; how often the best one is shaken to start again, in how many slots; letters looked at in all.
BEGINNINGS, AGAIN, SHAKEN, LETTERS = 12, 10, 5, 16_000_000

#: Up to this length any two letters are exchanged, beyond it those at most so many places apart.
NEAR = 60

#: A step that gains less than this part is rounding.
NOTABLE = 1e-12


def good_word(problem: RoutingProblem, counts: Counts, weight: float) -> tuple[int, ...] | None:
    """Find a word that is feasible and costs little, ``None`` where no feasible one is found.

    Parameters
    ----------
    problem
        With a period.
    counts
        Its best numbers of packets.
    weight
        Price of the measure `cost`.
    """
    costs = problem.costs
    known = GapCosts(costs.source, np.where(np.isnan(costs.slopes), np.inf, costs.slopes), costs.limits)
    rng = np.random.default_rng(0)
    best: Word | None = None
    least, left = np.inf, LETTERS
    for begun in itertools.chain(_beginnings(problem, counts), itertools.repeat(None, AGAIN * counts.slots)):
        word = begun if begun is not None or best is None else _shaken(best, rng)
        if word is None or left <= 0:
            break
        word, value, looked_at = _improved(known, weight, word)
        left -= looked_at
        if value < least - NOTABLE * (abs(least) if best is not None else 0.0):
            best, least = word, value
    if best is None or not problem.evaluate(tuple(best.tolist())).feasible:
        return None
    return problem.space.check(best.tolist())


def _improved(costs: GapCosts, weight: float, word: Word) -> tuple[Word, float, int]:
    """Go to the best neighbour as long as it is better; tell the price, and how many letters were looked at."""
    looked_at = 0
    while True:
        near = _neighbours(word, costs.servers)
        looked_at += near.size
        prices = words_cost(costs, near)
        values = np.where(np.isfinite(prices), weight * prices, np.inf)  # the first is that of the word itself
        chosen = int(values.argmin())
        if not values[chosen] < values[0] - NOTABLE * (abs(values[0]) if np.isfinite(values[0]) else 0.0):
            return word, float(values[0]), looked_at
        word = near[chosen]


def _shaken(word: Word, rng: np.random.Generator) -> Word:
    """Exchange letters of a few slots."""
    shaken = word.copy()
    places = rng.permutation(len(word))[:SHAKEN]
    shaken[places] = shaken[np.roll(places, 1)]
    return shaken


def _beginnings(problem: RoutingProblem, counts: Counts) -> Iterator[Word]:
    """Words to improve: numbers that are best spread by several phases, and that of the index rule."""
    period, servers = counts.slots, problem.server_count
    numbers = np.array(counts.best()) if np.isfinite(counts.bound) else np.bincount(np.arange(period) % servers)
    letters = np.repeat(np.arange(len(numbers)), numbers)
    places = np.concatenate([np.arange(n) for n in numbers])
    for turn in range(BEGINNINGS):
        phases = (np.arange(len(numbers)) + 1) * (turn + 1) * 0.6180339887498949 % 1.0
        order = np.argsort((places + phases[letters]) / numbers[letters], kind="stable")
        yield letters[order].astype(np.int64)
        if turn == 0:
            relaxed, rule = problem.relaxed(), IndexRule(period)
            if refusal(relaxed, rule) is None:
                found = rule.solve(Oracle(relaxed), np.random.default_rng(0)).decision
                if found is not None:  # there is none where more servers must be used than there are slots
                    yield np.resize(np.array(found, dtype=np.int64), period)


def _neighbours(word: Word, servers: int) -> Word:
    """List a word and all that differ from it by one letter, or by the exchange of two."""
    period = len(word)
    slots, letters = (part.ravel() for part in np.mgrid[:period, :servers])
    one, other = np.triu_indices(period, 1)
    apart = (word[one] != word[other]) & ((period <= NEAR) | (other - one <= 2))
    one, other = one[apart], other[apart]
    near = np.tile(word, (1 + len(slots) + len(one), 1))
    rows = np.arange(1, 1 + len(slots))
    near[rows, slots] = letters
    rows = np.arange(1 + len(slots), len(near))
    near[rows, one], near[rows, other] = word[other], word[one]
    return near
