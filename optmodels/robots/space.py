"""Policies of robots: an entry for each state, of those that idle robots allow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics.spaces import BinaryVectors, IntegerBox, Vectors, flattened
from queueing.robots.fleet import RobotFleet, allowed_actions

if TYPE_CHECKING:
    from .fleet import ControlledRobots

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RobotPolicies(Vectors):
    """All policies of a fleet, which the robots of the base model are, too.

    Entry (q * places + place) * environments + j says what is done when an event leaves q pages, the robots of this
    place out, and the environment in state j. With one class of robots it is how many are sent out, 0 or 1 unless any
    number may be; with several it is the class of which one is sent out, -1 for none. Robots must be idle to be sent,
    and without pages and robots one is always sent. Iteration is lexicographic. Neighbours take another action in one
    state. `words` say in refusals what robots are that were sent, and what is done with them.
    """

    fleet: RobotFleet
    words: tuple[str, str] = ("out", "send")

    @property
    def length(self) -> int:
        """Entries of a policy."""
        return self.fleet.states

    @property
    def several(self) -> bool:
        """Whether there are several classes, which entries are then."""
        return len(self.fleet.classes) > 1

    @property
    def shift(self) -> int:
        """What actions of the fleet are above entries."""
        return 1 if self.several else 0

    @cached_property
    def size(self) -> int:
        """Product of the numbers of actions."""
        numbers, times = np.unique(self.choices, return_counts=True)
        return math.prod(int(number) ** int(count) for number, count in zip(numbers, times, strict=True))

    @cached_property
    def choices(self) -> Whole:
        """By state, the number of actions."""
        by_place = self._allowed.sum(axis=1) if self.several else 1 + self._most
        return self._by_state(by_place) - self._skipped

    def check(self, decision: Any) -> tuple[int, ...]:
        """The decision as a tuple of whole numbers, or one sentence on what is wrong with it; rows by pages will do."""
        by_pages = flattened(decision, self.fleet.capacity + 1, self.length)
        values: tuple[int, ...] = self._box.check(by_pages)
        entries = np.array(values, dtype=np.int64)
        empty = entries[: self.fleet.environments] + self.shift
        if not empty.all():
            state = int(np.argmin(empty != 0))
            raise ValueError(f"entry {state} is {values[state]}; without pages and robots one is always sent out.")
        if self.several:
            bad = np.flatnonzero(~self._allowed[self._places, entries + 1])
        else:
            bad = np.flatnonzero(entries > self._by_state(self._most))
        if len(bad):
            state = int(bad[0])
            raise ValueError(f"entry {state} is {values[state]}; {self._why(state, values[state])}")
        return values

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return product(*(self._entries(state) for state in range(self.length)))

    def sample(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Every policy is equally likely."""
        ranks = rng.integers(0, self.choices) + self._skipped
        actions = self._table[self._places, ranks] if self.several else ranks
        return tuple((actions - self.shift).tolist())

    def neighbour(self, decision: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """Every neighbour is equally likely."""
        others = self._others
        if others[-1] == 0:
            return decision
        chosen = int(rng.integers(others[-1]))
        state = int(np.searchsorted(others, chosen, side="right"))
        left = [entry for entry in self._entries(state) if entry != decision[state]]
        taken = left[chosen - (int(others[state - 1]) if state else 0)]
        return (*decision[:state], taken, *decision[state + 1 :])

    def steps(self, decision: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Other actions in one state after the other."""
        for state in np.flatnonzero(self.choices > 1).tolist():
            yield from ((state, entry) for entry in self._entries(state) if entry != decision[state])

    def repair(self, values: Sequence[float]) -> tuple[int, ...]:
        """The nearest policy: entries rounded, those that are not possible replaced by the nearest that is."""
        actions = np.array(self._box.repair(values), dtype=np.int64) + self.shift
        if self.several:
            distance = np.abs(np.arange(self._allowed.shape[1]) - actions[:, np.newaxis]).astype(np.float64)
            distance[~self._allowed[self._places]] = np.inf
            distance[: self.fleet.environments, 0] = np.inf
            actions = distance.argmin(axis=1)
        else:
            actions = np.clip(actions, self._skipped, self._by_state(self._most))
        return tuple((actions - self.shift).tolist())

    # -- inside -------------------------------------------------------------------------------------------------------

    @cached_property
    def _box(self) -> BinaryVectors | IntegerBox:
        most = len(self.fleet.classes) - 1 if self.several else int(self._most.max())
        if not self.several and most == 1:
            return BinaryVectors(self.length)
        return IntegerBox((-self.shift,) * self.length, (most,) * self.length)

    @cached_property
    def _allowed(self) -> NDArray[np.bool_]:
        """By place and action, with several classes."""
        return allowed_actions(self.fleet)

    @cached_property
    def _table(self) -> Whole:
        """By place, its possible actions in their order, then the others, with several classes."""
        return np.argsort(~self._allowed, axis=1, kind="stable")

    @cached_property
    def _most(self) -> Whole:
        """By place, the most robots that can be sent out at once, with one class."""
        idle = self.fleet.classes[0].robots - self.fleet.robots_out[:, 0]
        return idle if self.fleet.switching == "any" else np.minimum(idle, 1)

    @cached_property
    def _skipped(self) -> Whole:
        """By state, how many of the first actions of its place are not possible: one without pages and robots."""
        skipped = np.zeros(self.length, dtype=np.int64)
        skipped[: self.fleet.environments] = 1
        return skipped

    @cached_property
    def _places(self) -> Whole:
        return np.arange(self.length) // self.fleet.environments % self.fleet.places

    @cached_property
    def _others(self) -> Whole:
        """Neighbours of a decision in the states up to each one."""
        return np.cumsum(self.choices - 1)

    def _by_state(self, by_place: Whole) -> Whole:
        return np.tile(np.repeat(by_place, self.fleet.environments), self.fleet.capacity + 1)

    def _entries(self, state: int) -> list[int]:
        """Possible entries of one state, in their order."""
        place, first = int(self._places[state]), int(self._skipped[state])
        ranks = range(first, first + int(self.choices[state]))
        return [int(self._table[place, rank]) - 1 for rank in ranks] if self.several else list(ranks)

    def _why(self, state: int, entry: int) -> str:
        out = self.fleet.robots_out[self._places[state]].tolist()
        if self.several:
            return f"with all {out[entry]} robots of class {entry} out none of them is left to send."
        robots, (away, send) = self.fleet.classes[0].robots, self.words
        if out[0] == robots:
            return f"with all {robots} robots {away} none is left to {send}."
        return f"with {out[0]} of {robots} robots {away} {robots - out[0]} are left to {send}."


class SoughtPolicies(RobotPolicies):
    """The policies of a problem that has as many robots as ever help: how many is found when it is first asked for.

    Whether something is a problem at all is asked before any clock starts, and must not take long.
    """

    def __init__(self, problem: ControlledRobots) -> None:
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "words", problem.words)

    @property
    def fleet(self) -> RobotFleet:
        """The fleet of the problem."""
        problem: ControlledRobots = vars(self)["problem"]
        return problem.fleet
