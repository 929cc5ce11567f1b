"""Walks through cycles of visits, each step at the price of the gaps that it changes.

Steps are numbered: first those that put another page into a slot, then exchanges of two slots of a robot, then
exchanges of two pages. That the same step undoes itself, the letter x of a slot becomes (k - x) modulo the number of
letters: with k drawn at random that is any letter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heuristics import Evaluation, Followed, Moves

from .kernel import COST, REST, Cycles, Pages, broken, follow, price, stand, step
from .space import CycleOfVisits, VisitCycles

if TYPE_CHECKING:
    from .problem import CycleProblem

#: Of the moves drawn, the part that puts pages into slots, and the part that exchanges slots; the rest does both, or
#: exchanges pages where several robots have some.
PUT, EXCHANGE = 0.4, 0.4


def pages_of(problem: CycleProblem, scale: float) -> Pages:
    """Take from a problem what the kernels need."""
    traits, rules = problem.traits, problem.rules
    held = rules.shares is not None and rules.hosts is not None
    return Pages(
        weights=scale * traits.weights,
        loads=traits.loads,
        decays=traits.decays,
        deficits=traits.deficits,
        least=np.empty(0) if rules.minimum is None else np.asarray(rules.minimum, dtype=np.float64),
        host=np.asarray(rules.hosts, dtype=np.int64) if held else np.empty(0, np.int64),
        shares=np.asarray(rules.shares, dtype=np.float64) if held else np.empty(0),
        gap=rules.gap if held else 1,
        idle=int(problem.space.idle),
    )


def draw_moves(space: VisitCycles, rng: np.random.Generator, count: int) -> Moves:
    """Draw moves of one step or two."""
    robots, slots, letters = space.robots, space.slots, space.letters
    puts = rng.integers(robots * slots * letters, size=(2, count))
    robot, (one, other) = rng.integers(robots, size=count), rng.integers(slots, size=(2, count))
    near = rng.random(count) < 0.5
    other = np.where(near, (one + 1) % slots, other)
    first = robots * slots * letters
    swaps = first + (robot * slots + one) * slots + other
    kind = rng.random(count)
    moves = np.full((count, 2), -1, dtype=np.int64)
    moves[:, 0] = np.where(kind < PUT, puts[0], swaps)
    last = kind >= PUT + EXCHANGE
    moves[last, 0], moves[last, 1] = puts[0][last], puts[1][last]
    if robots > 1:
        pairs = first + robots * slots * slots + rng.integers(space.pages**2, size=count)
        pages = last & (rng.random(count) < 0.5)
        moves[pages, 0], moves[pages, 1] = pairs[pages], -1
    return moves


@dataclass(eq=False)
class CycleWalk:
    """A walk by compiled steps, of problems whose price is that of the obsolescence and that have no limits.

    Parameters
    ----------
    space
        Of the problem.
    pages
        What the kernels need.
    cycles
        Where the walk begins, and where it stands.
    """

    space: VisitCycles
    pages: Pages
    cycles: Cycles
    factor: float = 1.0

    @property
    def current(self) -> CycleOfVisits:
        """Where the walk stands."""
        return self.space.canonical(self.cycles.word.tolist())

    @property
    def penalised(self) -> float:
        """The penalised objective there."""
        return float(price(self.cycles, self.factor))

    @property
    def feasible(self) -> bool:
        """Whether all rules are kept there."""
        return bool(broken(self.cycles) == 0.0)

    @property
    def objective(self) -> float:
        """The objective there."""
        return float(self.cycles.sums[COST] + self.cycles.sums[REST])

    def weigh(self, factor: float) -> None:
        """Charge `factor` times the penalty from here on."""
        self.factor = factor

    def flip(self, index: int) -> float:
        """Make a step; the same again undoes it."""
        before = self.penalised
        step(self.pages, self.cycles, index)
        return self.penalised - before

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Draw moves: other pages in slots, exchanges of slots, mostly neighbours, and both."""
        return draw_moves(self.space, rng, count)

    def follow(self, moves: Moves, tolerances: NDArray[np.float64], below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        kept, best, lowest = follow(self.pages, self.cycles, moves, tolerances, below, self.factor)
        if not math.isfinite(lowest):
            return Followed(int(kept), None, None)
        return Followed(int(kept), self.space.canonical(best.tolist()), float(lowest))


@dataclass(eq=False)
class EvaluatedCycleWalk:
    """The same steps, each evaluated in full: for other prices, and limits on measures."""

    problem: CycleProblem
    inner: CycleWalk
    evaluation: Evaluation = field(init=False)

    def __post_init__(self) -> None:
        self.evaluation = self.problem.evaluate(self.inner.current)

    @property
    def current(self) -> CycleOfVisits:
        """Where the walk stands."""
        return self.inner.current

    @property
    def penalised(self) -> float:
        """The penalised objective there."""
        return self.evaluation.penalised

    @property
    def feasible(self) -> bool:
        """Whether all rules and limits are kept there."""
        return self.evaluation.feasible

    def flip(self, index: int) -> float:
        """Make a step; the same again undoes it."""
        before = self.penalised
        self.inner.flip(index)
        self.evaluation = self.problem.evaluate(self.inner.current)
        return self.penalised - before

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Draw moves as `CycleWalk` does."""
        return self.inner.draw(rng, count)

    def follow(self, moves: Moves, tolerances: NDArray[np.float64], below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        kept, best = 0, None
        for move, tolerance in zip(moves.tolist(), tolerances.tolist(), strict=True):
            steps, here, judged = [number for number in move if number >= 0], self.penalised, self.evaluation
            for number in steps:
                self.inner.flip(number)
            self.evaluation = self.problem.evaluate(self.inner.current)
            if self.penalised - here > tolerance and self.penalised != here:
                for number in reversed(steps):
                    self.inner.flip(number)
                self.evaluation = judged
                continue
            kept += 1
            if self.feasible and self.penalised < below:
                below, best = self.penalised, self.inner.current
        return Followed(kept, best, None if best is None else below)


def begin(problem: CycleProblem, decision: CycleOfVisits) -> CycleWalk | EvaluatedCycleWalk:
    """Begin a walk at a decision."""
    simple = problem.scale is not None and not problem.limits
    pages = pages_of(problem, problem.scale if simple and problem.scale is not None else 1.0)
    word = np.array(problem.space.check(decision).cycles, dtype=np.int64)
    walk = CycleWalk(problem.space, pages, stand(pages, word))
    return walk if simple else EvaluatedCycleWalk(problem, walk)
