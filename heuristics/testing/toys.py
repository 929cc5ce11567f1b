"""Toy problems, one of each kind that strategies meet: small enough to know the truth by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..protocols import Decision, Evaluation, Followed, Moves, Problem
from ..routing import GapTable, GapTables, word_cost
from ..spaces import BinaryVectors, IntegerBox, OrderedIntegers, Policies, Simplex, Words


@dataclass(frozen=True)
class Separable:
    """Entries that do not influence each other: the optimum is `target`, at 1.

    Parameters
    ----------
    target
        The entries that are right.
    name
        For the reader.
    """

    target: tuple[int, ...] = (1, 0, 1, 1, 0, 0, 1)
    name: str = "separable"

    @property
    def space(self) -> BinaryVectors:
        """One 0 or 1 per entry."""
        return BinaryVectors(len(self.target))

    def evaluate(self, decision: Decision) -> Evaluation:
        """One plus the weights of the entries that are wrong."""
        wrong = [i + 1.0 for i, (bit, right) in enumerate(zip(decision, self.target, strict=True)) if bit != right]
        return Evaluation(1.0 + sum(wrong), measures={"wrong": float(len(wrong))})


@dataclass(frozen=True)
class Knapsack:
    """Pack as much value as the weight allows; the objective is minus the value.

    Parameters
    ----------
    values, weights
        Of each item.
    capacity
        Weight that can be carried.
    name
        For the reader.
    """

    values: tuple[float, ...] = (6.0, 5.5, 9.0, 3.0, 7.0, 1.0, 4.5, 2.5)
    weights: tuple[int, ...] = (5, 4, 7, 3, 6, 1, 4, 2)
    capacity: int = 14
    name: str = "knapsack"

    @property
    def space(self) -> BinaryVectors:
        """One 0 or 1 per item."""
        return BinaryVectors(len(self.values))

    def evaluate(self, decision: Decision) -> Evaluation:
        """Minus the value; too much weight is a violation."""
        value = sum(v for v, bit in zip(self.values, decision, strict=True) if bit)
        return Evaluation(-value, {"weight": float(max(0, self._weight(decision) - self.capacity))})

    def _weight(self, decision: Decision) -> int:
        return sum(w for w, bit in zip(self.weights, decision, strict=True) if bit)


@dataclass(frozen=True)
class MendedKnapsack(Knapsack):
    """A knapsack that can throw out items until the rest fits (`Repairable`).

    Parameters
    ----------
    values, weights, capacity, name
        As for `Knapsack`.
    """

    name: str = "mended knapsack"

    def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
        """Throw out items in random order."""
        bits = list(decision)
        for item in rng.permutation(len(bits)).tolist():
            if self._weight(bits) <= self.capacity:
                break
            bits[item] = 0
        return tuple(bits)


class Ladder:
    """Three non-decreasing thresholds near uneven marks, with a price for equal ones."""

    name = "ladder"
    space = OrderedIntegers(3, 0, 6)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Add up squared distances from the marks, and 1/2 per equal pair."""
        equal = sum(1 for one, other in pairwise(decision) if one == other)
        return Evaluation(sum((x - mark) ** 2 for x, mark in zip(decision, (1.2, 3.9, 4.1), strict=True)) + 0.5 * equal)


class Box:
    """Whole numbers in a box under a plane that must not be passed."""

    name = "box"
    space = IntegerBox((0, -2, 1), (4, 2, 5))

    def evaluate(self, decision: Decision) -> Evaluation:
        """Compute a quadratic form with one constraint."""
        x, y, z = decision
        return Evaluation(float((x - 3) ** 2 + (y - 1) ** 2 + z * y), {"plane": float(max(0, x + y + z - 5))})


class Necklace:
    """Cyclic words over three letters whose equal letters should stand apart, with prescribed frequencies."""

    name = "necklace"
    space = Words(3, (4, 5, 6))

    def evaluate(self, decision: Decision) -> Evaluation:
        """Add up the distance from the frequencies 1/2, 1/3, 1/6 and the share of equal neighbours."""
        length = len(decision)
        shares = [decision.count(letter) / length for letter in range(3)]
        equal = sum(1 for i in range(length) if decision[i] == decision[i - 1]) / length
        return Evaluation(equal + sum(abs(share - 1 / k) for share, k in zip(shares, (2, 3, 6), strict=True)))


class Control:
    """Actions in the states of a small chain; some actions are not for two neighbours at once."""

    name = "control"
    space = Policies((2, 3, 1, 3, 2))

    def evaluate(self, decision: Decision) -> Evaluation:
        """Let high actions pay, and quick changes between neighbours cost."""
        pay = sum((state % 3) * action for state, action in enumerate(decision))
        change = sum((one - other) ** 2 for one, other in pairwise(decision))
        return Evaluation(float(change - pay), {"high": float(max(0, sum(decision) - 5))})


class Hopeless:
    """Binary vectors of which none is feasible."""

    name = "hopeless"
    space = BinaryVectors(4)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Break a constraint by one or more, whatever is decided."""
        return Evaluation(float(sum(decision)), {"impossible": 1.0 + decision[0]})


@dataclass(frozen=True)
class Ring:
    """Open some of the places around a ring so that none stands without an open neighbour (`Incremental`).

    Parameters
    ----------
    prices
        Of opening each place.
    penalty
        Of a place that is closed and so are its neighbours.
    name
        For the reader.
    """

    prices: tuple[float, ...] = (3.0, 1.0, 2.5, 2.0, 1.5, 3.5, 1.0, 2.0, 1.2)
    penalty: float = 4.0
    name: str = "ring"

    @property
    def space(self) -> BinaryVectors:
        """One 0 or 1 per place."""
        return BinaryVectors(len(self.prices))

    def evaluate(self, decision: Decision) -> Evaluation:
        """Price of the open places; a place with neither itself nor a neighbour open is bare."""
        price = sum(p for p, bit in zip(self.prices, decision, strict=True) if bit)
        bare = sum(1 for i in range(len(decision)) if self.bare(decision, i))
        return Evaluation(float(price), {"bare": float(bare)}, penalty=self.penalty * bare)

    def bare(self, decision: Sequence[int], place: int) -> bool:
        """Whether a place is closed and so are its neighbours."""
        return not (decision[place - 1] or decision[place] or decision[(place + 1) % len(decision)])

    def start(self, decision: Decision) -> RingWalk:
        """Begin a walk."""
        judged = self.evaluate(decision)
        return RingWalk(self, list(decision), judged.objective, round(judged.violation))


@dataclass(eq=False)
class RingWalk:
    """A walk around the `Ring`: a flip looks at three places only.

    Parameters
    ----------
    problem
        The ring.
    bits
        1 for each open place.
    price
        Of the open places.
    bare
        Number of places without an open neighbour.
    """

    problem: Ring
    bits: list[int]
    price: float
    bare: int

    @property
    def current(self) -> Decision:
        """The decision the walk stands on."""
        return tuple(self.bits)

    @property
    def penalised(self) -> float:
        """Price and penalty."""
        return self.price + self.problem.penalty * self.bare

    @property
    def feasible(self) -> bool:
        """Whether no place is bare."""
        return self.bare == 0

    def flip(self, index: int) -> float:
        """Open or close one place."""
        before = self.penalised
        places = {(index + step) % len(self.bits) for step in (-1, 0, 1)}
        self.bare -= sum(1 for place in places if self.problem.bare(self.bits, place))
        self.bits[index] = 1 - self.bits[index]
        self.bare += sum(1 for place in places if self.problem.bare(self.bits, place))
        self.price += self.problem.prices[index] * (1 if self.bits[index] else -1)
        return self.penalised - before

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Flips, and pairs of neighbours."""
        first = rng.integers(len(self.bits), size=count)
        second = np.where(rng.random(count) < 0.5, (first + 1) % len(self.bits), -1)
        return np.stack([first, second], axis=1).astype(np.int64)

    def follow(self, moves: Moves, tolerances: NDArray[np.float64], below: float) -> Followed:
        """Try each move in turn."""
        kept, best = 0, None
        for move, tolerance in zip(moves.tolist(), tolerances.tolist(), strict=True):
            indices = [index for index in move if index >= 0]
            if sum(self.flip(index) for index in indices) > tolerance:
                for index in indices:
                    self.flip(index)
                continue
            kept += 1
            if self.feasible and self.penalised < below - 1e-9 * abs(self.penalised):
                below, best = self.penalised, self.current
        return Followed(kept, best, None if best is None else below)


class Shared(Ladder):
    """The ladder, evaluating many decisions in one go (`Batch`)."""

    name = "shared"

    def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]:
        """Evaluate all of them at once."""
        return [self.evaluate(decision) for decision in decisions]


class Continuous:
    """A quadratic over a simplex: a continuum, refused by discrete searches."""

    name = "continuous"
    space = Simplex(3)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Add up squared shares with different weights."""
        return Evaluation(float(sum((i + 1) * share**2 for i, share in enumerate(decision))))


@dataclass(frozen=True)
class Wide(Separable):
    """A hundred entries: too many decisions to look at all of them.

    Parameters
    ----------
    target, name
        As for `Separable`.
    """

    target: tuple[int, ...] = (1, 0, 0, 1) * 25
    name: str = "wide"


@dataclass(frozen=True)
class Routed:
    """Words of servers whose costs a function tabulates.

    Parameters
    ----------
    tables
        Costs of gaps up to a number.
    name
        For the reader.
    longest
        Longest words.
    refusal
        Why the best of all words is not what is asked for.
    """

    tables: GapTables
    name: str = "routed"
    longest: int = 30_000
    refusal: str | None = None

    @property
    def server_count(self) -> int:
        """Number of servers."""
        return self.tables(1).servers

    @cached_property
    def space(self) -> Words:
        """Words of all lengths up to the longest."""
        return Words(self.server_count, tuple(range(1, self.longest + 1)))

    def gap_table(self, count: int) -> GapTable:
        """Costs of gaps up to `count`."""
        return self.tables(count)

    def unroutable(self) -> str | None:
        """What was given."""
        return self.refusal

    def evaluate(self, decision: Decision) -> Evaluation:
        """The mean cost of a word."""
        return Evaluation(word_cost(self.tables(len(decision) + 1), decision))


def losses(rates: ArrayLike, weights: ArrayLike = 1.0, arrivals: float = 1.0) -> GapTables:
    """Tabulate losses: the chance that a packet meets the one before still in service.

    Arrivals are Poisson, and services exponential.

    Parameters
    ----------
    rates
        Of the services.
    weights
        Of a loss, by server.
    arrivals
        Rate of arrivals.

    Returns
    -------
    callable
        From a number of slots to the costs of gaps up to it.
    """
    speeds = np.atleast_1d(np.asarray(rates, float))[:, None] / arrivals
    worths, nothing = np.broadcast_to(weights, len(speeds))[:, None], np.zeros(len(speeds))

    def tables(count: int) -> GapTable:
        return GapTable(worths * np.exp(-np.log1p(speeds) * np.arange(1, count + 1)), nothing, nothing)

    return tables


def toy_problems() -> tuple[Problem, ...]:
    """Make one toy problem of each kind.

    Returns
    -------
    tuple of Problem
        Small ones, whose truth is known by enumeration, but for `Continuous` and `Wide`.
    """
    kinds = (
        Separable,
        Knapsack,
        MendedKnapsack,
        Ladder,
        Box,
        Necklace,
        Control,
        Hopeless,
        Ring,
        Shared,
        Continuous,
        Wide,
    )
    return tuple(kind() for kind in kinds)
