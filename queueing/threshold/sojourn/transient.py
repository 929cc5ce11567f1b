r"""How long a page stays: its chain (:mod:`queueing.threshold.sojourn.tagged_page`) in time, by two methods.

Uniformisation
    With q the fastest rate of the chain and :math:`P = I + T / q`,

    .. math::  P(V > t; r) = \sum_n e^{-qt} \frac{(qt)^n}{n!}\, \alpha P^n v, \qquad
               P(V \le t; r) = \sum_n e^{-qt} \frac{(qt)^n}{n!} \sum_{k<n} \alpha P^k r / q.

    The sequences do not depend on t: they are computed as far as they are needed and kept, so further times cost next
    to nothing. No term is negative: P(V > t) has its digits however small it is.

Inversion
    of the transform by Euler's method (Abate and Whitt, 1995), which takes over where uniformisation would be too long.
    Its error is exp(-A) and that of the transforms times exp(A / 2); A is chosen to make both equal. With transforms to
    the last digit they are some 1e-10, whatever the rates are; where they cannot be had to 1e-9, it is refused.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numerics import Integers, Matrix, Vector
from ..methods import Blocks
from .tagged_page import TaggedPage

#: Most products of a rate and a probability that uniformisation may take, some seconds, and most steps, which are kept.
WORK, MOST_STEPS = 4e9, 1_000_000
#: Steps that it may take in any case: they serve all times, and transforms only one.
STEPS = 2000

#: Error of a distribution by inversion that is too large to be told.
HOPELESS = 1e-6

_TERMS, _AVERAGED = 60, 16


@dataclass(frozen=True, eq=False)
class PageClock:
    """Distribution of the time V of a page, together with its end: P(V > t; end) and P(V <= t; end).

    Attributes
    ----------
    page
        the page that is watched, until it is served or goes out of date.
    """

    page: TaggedPage

    @cached_property
    def states(self) -> int:
        """Number of states of the chain."""
        return sum(part.size for part in self.page.arrival)

    def left(self, time: float) -> Vector:
        """Return P(V > time; end) for both ends."""
        return self._mixed(time, 0) if self.is_short(time) else self.left_by_inversion(time)

    def ended(self, time: float) -> Vector:
        """Return P(V <= time; end) for both ends."""
        if self.is_short(time):
            return self._mixed(time, 1)
        return np.maximum(self.page.probabilities - self.left_by_inversion(time), 0.0)

    def is_short(self, time: float) -> bool:
        """Tell whether uniformisation is short enough for this time."""
        chain = self._chain
        steps = _last_term(chain.fastest * time)
        if steps <= STEPS:
            return True
        return steps <= MOST_STEPS and steps * (len(chain.rates) + 5 * self.states) <= WORK

    def left_by_inversion(self, time: float) -> Vector:
        """Return P(V > time; end) for both ends, from transforms."""
        if time == 0.0:
            return self.page.probabilities
        if self.rounding ** (2 / 3) > HOPELESS:
            raise ValueError(
                f"Transforms must be known to {HOPELESS**1.5:g}, but rounding leaves {self.rounding:.1e}; "
                "bring the rates of the queue nearer to one another."
            )
        accuracy = -2 / 3 * math.log(self.rounding)
        scale = math.exp(accuracy / 2) / time
        values = np.empty((_TERMS + _AVERAGED + 1, 2))
        for term in range(len(values)):
            shift = complex(accuracy / (2 * time), term * math.pi / time)
            values[term] = self.page.survival_transforms(shift).real
        values[0] /= 2
        values[1::2] *= -1
        sums = np.cumsum(values, axis=0)[_TERMS:]
        weights = np.array([math.comb(_AVERAGED, count) for count in range(_AVERAGED + 1)]) / 2**_AVERAGED
        return np.asarray(np.clip(scale * (weights @ sums), 0.0, self.page.probabilities))

    @cached_property
    def rounding(self) -> float:
        """Relative error of transforms: how far the probabilities of both ends, from some state, are from 1."""
        certain = np.concatenate([column.sum(axis=0).ravel() for column in self.page.solver.spelled(self.page.chances)])
        return max(1e-15, float(np.abs(certain - 1.0).max()))

    def _mixed(self, time: float, which: int) -> Vector:
        chain = self._chain
        first, weights = poisson_weights(chain.fastest * time)
        self._sequence.extend(first + len(weights))
        values = self._sequence.values[which, :, first : first + len(weights)]
        return np.minimum(values @ weights, self.page.probabilities)

    @cached_property
    def _sequence(self) -> "_Sequence":
        return _Sequence(self.page, self._chain)

    @cached_property
    def _chain(self) -> "_Moves":
        return _moves(self.page)


class _Moves(NamedTuple):
    """The uniformised chain: rates into each state, divided by the fastest, and what each state means for both ends."""

    fastest: float
    begins: Integers
    sources: Integers
    rates: Vector
    staying: Vector
    chances: Matrix
    ending: Matrix


class _Sequence:
    """Terms n = 0, 1, ... of both sequences for both ends: as many as were asked for so far.

    `values` holds them by sequence (left, ended) and end.
    """

    def __init__(self, page: TaggedPage, chain: _Moves) -> None:
        self._chain = chain
        self._row = np.concatenate([part.ravel() for part in page.arrival])
        self._count = 1
        self.values = np.zeros((2, 2, 64))
        self.values[0, :, 0] = chain.chances @ self._row

    def extend(self, count: int) -> None:
        """Compute terms up to `count` - 1 unless they are known."""
        if count <= self._count:
            return
        if count > self.values.shape[2]:
            self.values = np.pad(self.values, ((0, 0), (0, 0), (0, max(count, self.values.shape[2]))))
        _advance(*self._chain[1:], self._row, self.values, self._count, count)
        self._count = count


def _last_term(mean: float) -> int:
    return math.ceil(mean + 10 * math.sqrt(mean) + 40)


def poisson_weights(mean: float) -> tuple[int, Vector]:
    """Return the probabilities of a Poisson law that count, down to 1e-20, and the place of the first.

    They are built from the most likely outwards, by ratios, and divided by their sum: each has all its digits.
    """
    if mean == 0.0:
        return 0, np.ones(1)
    mode = math.floor(mean)
    first = max(0, math.floor(mean - 40 * math.sqrt(mean) - 40))
    falling = np.cumprod(np.arange(mode, first, -1) / mean)[::-1]
    rising = np.cumprod(mean / np.arange(mode + 1, _last_term(mean) + 1))
    weights = np.concatenate([falling, [1.0], rising])
    return first, weights / weights.sum()


def _moves(page: TaggedPage) -> _Moves:
    order, size = page.letters.order, len(page.start)
    change, fading = page.letters.change.real, page.letters.fading.real
    offsets = np.cumsum([0, *(part.size for part in page.arrival)])
    states = int(offsets[-1])
    nothing = np.zeros(0, dtype=np.int64)
    sources, targets, rates = [nothing], [nothing], [np.zeros(0)]
    leaving, ending = np.zeros(states), np.zeros((2, states))

    def add(source: Integers, target: Integers, rate: Vector | float) -> None:
        values = np.broadcast_to(rate, source.shape)
        used = values > 0
        sources.append(source[used])
        targets.append(target[used])
        rates.append(values[used])

    for ahead in range(len(page.arrival)):
        words = np.arange(order**ahead)
        here = offsets[ahead] + words * size
        below = offsets[ahead - 1] if ahead else 0
        stays = np.zeros(len(words))
        for place in range(ahead if order > 1 else min(ahead, 1)):  # from the oldest; with one phase all at once
            alike, stride = (1, order**place) if order > 1 else (ahead, 1)
            letter = words // stride % order
            stays -= alike * change[letter, letter]
            for other in range(order):
                add_to = here + (other - letter) * stride * size
                for phase in range(size):
                    add(here + phase, add_to + phase, np.where(letter == other, 0.0, change[letter, other]))
            if place < ahead - 1:
                shorter = below + (words // (stride * order) * stride + words % stride) * size
                others = alike if order > 1 else ahead - 1
                for phase in range(size):
                    add(here + phase, shorter + phase, others * fading[letter])
        for phase in range(size):
            leaving[here + phase] = stays - page.service[phase, phase]
            for other in range(size):
                if other != phase:
                    add(here + phase, here + other, page.service[phase, other])
                if ahead:
                    add(here + phase, below + words // order * size + other, page.ending[phase] * page.start[other])
            if ahead:
                ending[1, here + phase] = fading[words // order ** (ahead - 1)]
            else:
                ending[0, here + phase] = page.ending[phase]
    fastest = float(leaving.max())
    places, where = np.unique(np.concatenate(targets) * states + np.concatenate(sources), return_inverse=True)
    chances = page.solver.spelled(page.chances)
    return _Moves(
        fastest=fastest,
        begins=np.searchsorted(places, np.arange(states + 1) * states),
        sources=places % states,
        rates=np.bincount(where, np.concatenate(rates)) / fastest,
        staying=1.0 - leaving / fastest,
        chances=np.maximum(np.concatenate([column.reshape(2, -1) for column in chances], axis=1), 0.0),
        ending=ending / fastest,
    )


@njit(cache=True)
def _advance(
    begins: Integers,
    sources: Integers,
    rates: Vector,
    staying: Vector,
    chances: Matrix,
    ending: Matrix,
    row: Vector,
    values: Blocks,
    first: int,
    last: int,
) -> None:
    """Write terms `first` to `last` - 1; `row` holds the probabilities of term `first` - 1 and goes with them."""
    after = np.zeros(len(row))
    for term in range(first, last):
        for end in range(2):
            gone = 0.0
            for state in range(len(row)):
                gone += row[state] * ending[end, state]
            values[1, end, term] = values[1, end, term - 1] + gone
        for state in range(len(row)):
            total = row[state] * staying[state]
            for entry in range(begins[state], begins[state + 1]):
                total += rates[entry] * row[sources[entry]]
            after[state] = total
        for end in range(2):
            left = 0.0
            for state in range(len(row)):
                left += after[state] * chances[end, state]
            values[0, end, term] = left
        row[:] = after
