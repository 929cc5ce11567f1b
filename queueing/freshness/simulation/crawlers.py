"""Robots of the simulation: who visits which pages, and by which rule."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import positive
from ...processes import not_negative_numbers
from ...simulation import Drawn, Vector, Whole
from .kernel import CHANGED, Plan, State, first_plan, follow_cycle, visit_at_random, visit_the_earliest_due, walker

#: What a sum of frequencies may differ from 1 by.
_ROUNDING = 1e-9


class Ground(NamedTuple):
    """What robots have in common: change rates of pages, the mean time of an access, and how to draw it."""

    rates: Vector
    mean: float
    drawn: Drawn


class Robot(Protocol):
    """Who visits which pages by which rule."""

    @property
    def pages(self) -> Whole:
        """Pages that it may visit."""

    @property
    def shares(self) -> Vector:
        """Visits per slot to each of them, about."""

    def slots(self, wanted: float) -> tuple[int, int]:
        """Accesses before and while it is observed, if so many are wanted."""

    def start(self, ground: Ground, state: State, rng: np.random.Generator) -> Callable[[int], None]:
        """Make a function that lets it make so many accesses."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """Visit pages in one order, for ever.

    Parameters
    ----------
    order
        Pages, numbers from 0, as they are visited in one round, one at least; -1: none is visited in this slot.
    """

    order: ArrayLike

    def __post_init__(self) -> None:
        order = np.asarray(self.order)
        if order.ndim != 1 or not len(order) or order.dtype.kind not in "iu" or order.min() < -1:
            told = "a cycle must be a list of pages, numbers from 0 (-1: none), with one at least; give such a list."
            raise ValueError(told)
        object.__setattr__(self, "order", np.ascontiguousarray(order, dtype=np.int64))

    @cached_property
    def pages(self) -> Whole:
        """Pages of the cycle."""
        found = np.unique(np.asarray(self.order))
        return found[found >= 0]

    @property
    def shares(self) -> Vector:
        """Visits per slot to each of them."""
        order = np.asarray(self.order)
        return np.asarray(np.bincount(order[order >= 0])[self.pages] / len(order))

    def slots(self, wanted: float) -> tuple[int, int]:
        """One round, and whole rounds."""
        length = len(np.asarray(self.order))
        return length, length * max(1, math.ceil(wanted / length))

    def start(self, ground: Ground, state: State, rng: np.random.Generator) -> Callable[[int], None]:
        """From the beginning of the cycle."""
        order = np.asarray(self.order)
        return lambda slots: follow_cycle(order, ground.drawn, state, rng, slots)


@dataclass(frozen=True, eq=False)
class Draws:
    """Visit a page drawn at random in each slot, and none with the probability that is left.

    Parameters
    ----------
    pages
        those that can be drawn.
    frequencies
        of each of them, in visits per slot.
    """

    pages: Whole
    frequencies: Vector

    def __post_init__(self) -> None:
        frequencies = not_negative_numbers("frequencies", self.frequencies)
        pages = np.ascontiguousarray(self.pages, dtype=np.int64)
        if len(pages) != len(frequencies):
            raise ValueError(
                f"every page must have a frequency, but there are {len(pages)} and {len(frequencies)}; give one each."
            )
        total = math.fsum(frequencies)
        if not 0 < total <= 1 + _ROUNDING:
            raise ValueError(
                f"frequencies of a robot must sum to at most 1, its visits per slot, but they sum to {total!r}; "
                "divide them by their sum."
            )
        object.__setattr__(self, "pages", pages[frequencies > 0])
        object.__setattr__(self, "frequencies", frequencies[frequencies > 0])

    @property
    def shares(self) -> Vector:
        """Visits per slot to each of them."""
        return self.frequencies

    def slots(self, wanted: float) -> tuple[int, int]:
        """Four visits to a page on average, and one before."""
        count = max(math.ceil(wanted), 4 * len(self.pages))
        return max(count // 10, len(self.pages)), count

    def start(self, ground: Ground, state: State, rng: np.random.Generator) -> Callable[[int], None]:
        """From pages about as fresh as they will be: as if visits were as random as changes."""
        with np.errstate(divide="ignore"):
            visited = rng.standard_exponential(len(self.pages)) * ground.mean / self.frequencies
            changed = rng.standard_exponential(len(self.pages)) / ground.rates[self.pages]
            ahead = rng.standard_exponential(len(self.pages)) / ground.rates[self.pages]
        state.pages[self.pages, CHANGED] = np.where(changed < visited, 0.0, ahead)
        idle = 1.0 - math.fsum(self.frequencies)
        table = walker(np.append(self.frequencies, idle) if idle > _ROUNDING else self.frequencies)
        return lambda slots: visit_at_random(self.pages, table, ground.drawn, state, rng, slots)


@dataclass(frozen=True, eq=False)
class Adapting:
    """Divide the interval of a page that had changed, multiply that of a page that had not; earliest due first.

    The robot never rests: where intervals ask for less than it can do, all are shortened by one factor; where they ask
    for more, visits are late, all by about as much. It knows nothing of rates and weights. The factors are those that
    Apache Nutch ships with its adaptive schedule (intervals times 0.8 or 1.4).

    Parameters
    ----------
    pages
        those of the robot.
    faster, slower
        the factors: divided by the first after a change, else multiplied by the second.
    least, most
        intervals stay between these multiples of the one that all pages would have if they were visited in turn.
    rounds
        visits to a page on average while it is observed; as many before, for intervals to settle.
    record
        how many of the last visits are kept.
    """

    pages: Whole
    faster: float = 1.25
    slower: float = 1.4
    least: float = 0.01
    most: float = 20.0
    rounds: int = 60
    record: int = 0

    def __post_init__(self) -> None:
        pages = np.ascontiguousarray(self.pages, dtype=np.int64)
        if not len(pages):
            raise ValueError("pages of a robot must not be empty, but they are; leave this robot out.")
        for name in ("faster", "slower"):
            if not 1 < getattr(self, name) < math.inf:
                raise ValueError(
                    f"{name} must be a finite number above 1, but it is {getattr(self, name)!r}; give such a factor."
                )
        if not positive("least", self.least) <= 1 <= positive("most", self.most):
            raise ValueError(
                f"least and most must lie on both sides of 1, but they are {self.least!r} and {self.most!r}; "
                "they are multiples of the interval of pages that are visited in turn."
            )
        object.__setattr__(self, "pages", pages)

    @property
    def shares(self) -> Vector:
        """Visits per slot to each of them, as long as nothing is known."""
        return np.full(len(self.pages), 1.0 / len(self.pages))

    def slots(self, wanted: float) -> tuple[int, int]:
        """So many visits to a page, and as many before."""
        count = self.rounds * len(self.pages)
        return count, count

    def start(self, ground: Ground, state: State, rng: np.random.Generator) -> Callable[[int], None]:
        """Start from equal intervals, pages in random order."""
        return self.follow(self.plan(ground, rng), ground, state, rng)

    def plan(self, ground: Ground, rng: np.random.Generator) -> Plan:
        """Plan equal intervals."""
        return first_plan(self.pages, ground.mean, rng, self.record)

    def follow(self, plan: Plan, ground: Ground, state: State, rng: np.random.Generator) -> Callable[[int], None]:
        """Make a function that lets the robot make so many accesses by a plan."""
        turn, factors = ground.mean * len(self.pages), (float(self.faster), float(self.slower))
        least, most = self.least * turn, self.most * turn
        return lambda slots: visit_the_earliest_due(
            plan, factors, least, most, ground.mean, ground.drawn, state, rng, slots
        )
