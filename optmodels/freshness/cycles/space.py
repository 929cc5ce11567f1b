"""Cycles of one length: a space of decisions.

In a file a decision is ``{"schedule": [page, ...]}``, of several robots ``{"schedules": [[page, ...], ...]}``; a slot
with -1 has no visit. To searches it is one flat tuple, robot after robot, in canonical form: a cycle may begin anywhere
and robots are alike, so each cycle begins where it is the least of its rotations, and the least comes first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from heuristics.spaces import Words

from ..space import IDLE, VisitPlans

Word = tuple[int, ...]

#: Draws of a neighbour until one is another decision.
TRIES = 100


class CycleOfVisits(tuple[int, ...]):
    """The cycles of all robots, one after the other, in canonical form: a tuple to searches, an object in files.

    Parameters
    ----------
    entries
        Page of each slot, robot after robot.
    robots
        How many there are.
    """

    robots: int

    def __new__(cls, entries: Sequence[int], robots: int) -> CycleOfVisits:
        """Keep entries that were checked by `VisitCycles`."""
        made = super().__new__(cls, entries)
        made.robots = robots
        return made

    def to_data(self) -> dict[str, Any]:
        """The decision as it stands in files."""
        cycles = [list(cycle) for cycle in self.cycles]
        return {"schedule": cycles[0]} if self.robots == 1 else {"schedules": cycles}

    @property
    def cycles(self) -> list[Word]:
        """The cycle of every robot."""
        slots = len(self) // self.robots
        return [tuple(self[robot * slots : (robot + 1) * slots]) for robot in range(self.robots)]

    def __getitem__(self, key: Any) -> Any:
        """An entry or a slice, or what the object of a file has under this name."""
        return self.to_data()[key] if isinstance(key, str) else super().__getitem__(key)

    def __reduce__(self) -> tuple[Any, ...]:
        return CycleOfVisits, (tuple(self), self.robots)

    def __repr__(self) -> str:
        return repr(self.to_data())


@dataclass(frozen=True)
class VisitCycles:
    """Cycles of `slots` slots for each of the robots; a page is visited by one robot at most.

    Parameters
    ----------
    pages, robots, slots
        How many there are; slots of each robot.
    idle
        Whether slots without a visit are listed, counted and walked to. They are decisions in any case: where nothing
        is asked of hosts, a visit in such a slot never costs more.

    Examples
    --------
    >>> space = VisitCycles(pages=2, robots=1, slots=3)
    >>> space.size, [decision["schedule"] for decision in space]
    (4, [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    >>> space.check({"schedule": [1, 0, 0]})
    {'schedule': [0, 0, 1]}
    """

    pages: int
    robots: int
    slots: int
    idle: bool = False

    @property
    def letters(self) -> int:
        """What a slot may hold: pages, and perhaps no visit."""
        return self.pages + self.idle

    @property
    def length(self) -> int:
        """Entries of a decision."""
        return self.robots * self.slots

    @cached_property
    def plans(self) -> VisitPlans:
        """Who knows how decisions stand in files."""
        return VisitPlans(self.pages, self.robots)

    # -- decisions ----------------------------------------------------------------------------------------------------

    def check(self, decision: Any) -> CycleOfVisits:
        """Return the cycles in canonical form, or raise `ValueError` with one sentence on what is wrong with them."""
        if type(decision) is CycleOfVisits and len(decision) == self.length and decision.robots == self.robots:
            return decision
        if not isinstance(decision, Mapping):
            decision = self._unflattened(decision)
        if "schedule" not in decision and "schedules" not in decision:
            raise ValueError(self._rule())
        cycles = self.plans.check(decision).cycles
        for robot, cycle in enumerate(cycles):
            if len(cycle) != self.slots:
                name = "schedule" if self.robots == 1 else f"schedules[{robot}]"
                raise ValueError(f"{name} has {len(cycle)} slots; the best cycle of {self.slots} slots is asked for.")
        return self.canonical(cycle.tolist() for cycle in cycles)

    def canonical(self, cycles: Any) -> CycleOfVisits:
        """Turn cycles that need no check to their least rotations, and put the least first."""
        words = sorted(map(_least_rotation, cycles))
        return CycleOfVisits([page for word in words for page in word], self.robots)

    def lists(self, decision: Any) -> bool:
        """Whether a decision is one of those that are listed."""
        return self.idle or IDLE not in decision

    def __contains__(self, decision: object) -> bool:
        try:
            self.check(decision)
        except (ValueError, TypeError):
            return False
        return True

    # -- all of them --------------------------------------------------------------------------------------------------

    @cached_property
    def size(self) -> int:
        r"""Number of decisions.

        With :math:`N_k` cyclic words over k letters, those with exactly j given pages are
        :math:`A_j = \sum_i (-1)^{j-i} \binom ji N_{i + e}`, e = 1 if slots may be idle. Robots whose cycles have pages
        take disjoint sets of them, and the order of robots does not matter.
        """
        if self.robots == 1:
            return Words(self.letters, (self.slots,)).size if self.letters else 0
        most = min(self.pages, self.slots)
        words = [Words(k, (self.slots,)).size if k else 0 for k in range(most + 1 + self.idle)]
        exact = [
            sum((-1) ** (j - i) * math.comb(j, i) * words[i + self.idle] for i in range(j + 1)) for j in range(most + 1)
        ]
        ways = {self.pages: 1}  # pages left, after so many robots that have some
        found = 1 if self.idle else 0
        for busy in range(1, self.robots + 1):
            after: dict[int, int] = {}
            for left, count in ways.items():
                for taken in range(1, min(left, most) + 1):
                    more = count * math.comb(left, taken) * exact[taken]
                    if more:
                        after[left - taken] = after.get(left - taken, 0) + more
            ways = after
            if self.idle or busy == self.robots:
                found += sum(ways.values()) // math.factorial(busy)
        return found

    def __iter__(self) -> Iterator[CycleOfVisits]:
        for words in self._combined(self.robots, frozenset(), ()):
            yield CycleOfVisits([page for word in words for page in word], self.robots)

    def _combined(self, robots: int, taken: frozenset[int], least: Word) -> Iterator[tuple[Word, ...]]:
        """List the cycles of so many robots, rising from `least`, without pages that are taken."""
        if robots == 0:
            yield ()
            return
        letters = [IDLE] * self.idle + [page for page in range(self.pages) if page not in taken]
        for numbers in Words(len(letters), (self.slots,)) if letters else ():
            word = tuple(letters[number] for number in numbers)
            if word >= least:
                own = taken | set(word) - {IDLE}
                yield from ((word, *others) for others in self._combined(robots - 1, own, word))

    # -- moving -------------------------------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> CycleOfVisits:
        """Draw which pages each robot has, and every slot from them."""
        order = rng.permutation(self.pages)
        owner = rng.integers(self.robots, size=self.pages)
        owner[order[: self.robots]] = np.arange(min(self.robots, self.pages))
        cycles = []
        for robot in range(self.robots):
            own = np.concatenate([np.full(int(self.idle), IDLE), np.flatnonzero(owner == robot)])
            cycles.append(own[rng.integers(len(own), size=self.slots)].tolist())
        return self.canonical(cycles)

    def neighbour(self, decision: Sequence[int], rng: np.random.Generator) -> CycleOfVisits:
        """Draw a neighbour: another page in a slot, two slots of a robot exchanged, or two pages of two robots."""
        here = self._kept(decision)
        for _ in range(TRIES):
            kind = rng.random()
            if kind < 0.5:
                moved = self._replaced(here, int(rng.integers(self.length)), int(rng.integers(self.letters)))
            elif kind < 0.9 or self.robots == 1:
                robot = int(rng.integers(self.robots)) * self.slots
                one, other = rng.integers(self.slots, size=2).tolist()
                moved = self._swapped(here, robot + one, robot + other)
            else:
                one, other = rng.integers(self.pages, size=2).tolist()
                moved = self._exchanged(here, one, other)
            if moved is not None and moved != here:
                return moved
        return here

    def neighbours(self, decision: Sequence[int]) -> Iterator[CycleOfVisits]:
        """List all neighbours, each once."""
        here = self._kept(decision)
        seen: set[CycleOfVisits | None] = {here, None}
        for moved in self._around(here):
            if moved not in seen:
                seen.add(moved)
                assert moved is not None
                yield moved

    def _around(self, here: CycleOfVisits) -> Iterator[CycleOfVisits | None]:
        for slot in range(self.length):
            yield from (self._replaced(here, slot, letter) for letter in range(self.letters))
        for robot in range(0, self.length, self.slots):
            for one, other in combinations(range(robot, robot + self.slots), 2):
                yield self._swapped(here, one, other)
        if self.robots > 1:
            yield from (self._exchanged(here, one, other) for one, other in combinations(range(self.pages), 2))

    def crossover(
        self, first: Sequence[int], second: Sequence[int], rng: np.random.Generator
    ) -> tuple[CycleOfVisits, CycleOfVisits]:
        """Turn the cycles by random amounts and exchange a beginning; pages of another robot do not change over."""
        one, other = self._turned(first, rng), self._turned(second, rng)
        cut = int(rng.integers(self.slots + 1))
        return self._joined(one, other, cut), self._joined(other, one, cut)

    def repair(self, values: Sequence[float]) -> CycleOfVisits:
        """Round and clip; cut or repeat to the length; a page is left to the first robot that has it."""
        numbers = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=self.pages, neginf=IDLE)
        least = IDLE if self.idle else 0
        clipped = np.clip(np.floor(numbers + 0.5), least, self.pages - 1).astype(np.int64)
        entries = np.resize(clipped if len(clipped) else np.zeros(1, np.int64), self.length).tolist()
        return self._joined(self._rows(entries), [[None] * self.slots] * self.robots, 0)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _rule(self) -> str:
        if self.robots == 1:
            return f'a decision is {{"schedule": [page, ...]}} of {self.slots} slots, the best cycle that is asked for.'
        return (
            f'a decision is {{"schedules": [[page, ...], ...]}}, {self.robots} cycles of {self.slots} slots, the best '
            "ones that are asked for."
        )

    def _unflattened(self, decision: Any) -> dict[str, Any]:
        """Make the object of a flat list of whole numbers, as searches hold decisions."""
        try:
            numbers = np.asarray(decision)
        except (TypeError, ValueError):
            raise ValueError(self._rule()) from None
        if numbers.ndim != 1 or len(numbers) != self.length or numbers.dtype.kind not in "iu":
            raise ValueError(self._rule())
        return {"schedules": self._rows(numbers.tolist())}

    def _kept(self, decision: Sequence[int]) -> CycleOfVisits:
        """The decision as it was checked; searches may have made a plain tuple of it."""
        return decision if type(decision) is CycleOfVisits else CycleOfVisits(decision, self.robots)

    def _rows(self, entries: Sequence[int]) -> list[list[int]]:
        return [list(entries[start : start + self.slots]) for start in range(0, self.length, self.slots)]

    def _turned(self, decision: Sequence[int], rng: np.random.Generator) -> list[list[int]]:
        turns = rng.integers(self.slots, size=self.robots).tolist()
        rows = self._rows(tuple(decision))
        return [row[turn:] + row[:turn] for row, turn in zip(rows, turns, strict=True)]

    def _joined(self, rows: list[list[int]], beginnings: list[Any], cut: int) -> CycleOfVisits:
        """Write beginnings over cycles; a page that another robot has stays away, and the slot as it was."""
        owner: dict[int, int] = {}
        for robot, row in enumerate(rows):
            for page in row:
                if page != IDLE:
                    owner.setdefault(page, robot)
        for robot in range(self.robots):
            self._give(owner, robot)
        spare = [next((page for page in owner if owner[page] == robot), IDLE) for robot in range(self.robots)]
        made = [
            [page if page == IDLE or owner[page] == robot else spare[robot] for page in row]
            for robot, row in enumerate(rows)
        ]
        for robot, row in enumerate(made):
            for slot, page in enumerate(beginnings[robot][:cut]):
                if page == IDLE or owner.setdefault(page, robot) == robot:
                    row[slot] = page
        return self.canonical(made)

    def _give(self, owner: dict[int, int], robot: int) -> None:
        """Give a robot without a page one of nobody, else one of a robot that has several; idle slots may do."""
        if self.idle or robot in owner.values():
            return
        counts = Counter(owner.values())
        free = [page for page in range(self.pages) if page not in owner]
        owner[free[0] if free else max(owner, key=lambda page: (counts[owner[page]], page))] = robot

    def _owner(self, here: Sequence[int], page: int) -> int | None:
        return here.index(page) // self.slots if page != IDLE and page in here else None

    def _replaced(self, here: CycleOfVisits, slot: int, letter: int) -> CycleOfVisits | None:
        """Put another page into a slot; ``None`` if another robot has it."""
        page = letter - self.idle
        if page == here[slot] or self._owner(here, page) not in (None, slot // self.slots):
            return None
        return self.canonical(self._rows([*here[:slot], page, *here[slot + 1 :]]))

    def _swapped(self, here: CycleOfVisits, one: int, other: int) -> CycleOfVisits | None:
        if here[one] == here[other]:
            return None
        entries = list(here)
        entries[one], entries[other] = entries[other], entries[one]
        return self.canonical(self._rows(entries))

    def _exchanged(self, here: CycleOfVisits, one: int, other: int) -> CycleOfVisits | None:
        """Let two pages change places wherever they stand; ``None`` if one robot has both, or nobody any."""
        if self._owner(here, one) == self._owner(here, other):
            return None
        names = {one: other, other: one}
        return self.canonical(self._rows([names.get(page, page) for page in here]))


def _least_rotation(cycle: Sequence[int]) -> Word:
    """Turn a cycle to its lexicographically least rotation."""
    shift = min(cycle)
    found: Word = Words(max(cycle) - shift + 1, (len(cycle),)).check([page - shift for page in cycle])
    return tuple(page + shift for page in found)
