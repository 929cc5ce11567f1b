"""A search for policies that keep limits and leave nothing to chance, from what the linear program says.

Starts are the policies of the program with their few random decisions made one way or the other, the best policies at
higher prices of the limits, fixed numbers of robots, and straight switching curves. From the best of them one decision
is changed after the other, then two at a time: one that saves, though it may break a limit, and one that makes up for
it; then the same from the best policy with a few decisions changed at random (always the same ones). Where there are
few policies, all of them are evaluated in the end, which proves what was found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from heuristics import Evaluation, Oracle
from queueing.robots.fleet import allowed_actions, likeliest, shares_from_start

from ..pricing import Actions, LimitedControl, Vector
from .mixture import RARE, Part

#: Random decisions that are made in all ways, at most.
MOST_MIXED = 5

#: Times that the prices of limits are raised, at most, until a policy keeps them; then halvings towards the first.
RAISES, HALVINGS = 40, 16

#: Descents from what the program says, from feasible starts and from those that break limits; and changes that save,
#: which others may make up for.
NEAR, FEASIBLE, BROKEN, SAVING = 2, 3, 2, 12

#: Descents from the best policy with so many decisions changed at random.
RESTARTS, SHAKEN = 8, 4

#: Policies that are all evaluated, at most; a search evaluates some hundreds.
FEW = 1024

#: States up to which all decisions are changed, beyond that those that are ever asked for.
ALL_STATES = 300

#: Slopes of straight curves, in robots per page, and numbers of robots up to which they are tried.
SLOPES, MOST_CURVES = (0.5, 1.0, 2.0), 60

Rank = tuple[int, float]


@dataclass
class LimitedSearch:
    """One search: what there is to control, what it may cost, and the best starts so far.

    Parameters
    ----------
    oracle, control
        Who evaluates, and what is evaluated.
    work
        States in policies evaluated, all together, after which the search ends.
    bound
        No policy that keeps the limits to the letter costs less.
    seen, judged
        The starts so far with their ranks, and how many policies were evaluated.
    """

    oracle: Oracle[Any]
    control: LimitedControl
    work: int
    bound: float = -math.inf
    seen: list[tuple[Rank, Actions]] = field(default_factory=list)
    judged: int = 0

    def run(self, parts: list[Part], prices: Vector) -> None:
        """Evaluate the starts, then change the best of them."""
        known = len(self.seen)
        for actions in self.rounded(parts):
            self.judge(actions, start=True)
        near = [actions for _, actions in sorted(self.seen[known:], key=lambda entry: entry[0])]  # to the program
        self.raise_prices(prices)
        for actions in self.curves():
            if self.proved:
                return
            self.judge(actions, start=True)
        self.seen.sort(key=lambda entry: entry[0])
        feasible = [actions for rank, actions in self.seen if rank[0] == 0]
        broken = [actions for rank, actions in self.seen if rank[0] == 1]
        ends = []
        for actions in _distinct(near[:NEAR] + _distinct(feasible)[:FEASIBLE] + _distinct(broken)[:BROKEN]):
            if self.proved:
                return
            ends.append(self.descend(actions))
        best, rank = min(ends, key=lambda end: end[1])
        rng = np.random.default_rng(0)
        for count in range(RESTARTS):
            if self.proved or self.spent:
                return
            found = self.descend(self._shaken(near[0] if near and count % 2 else best, rng))
            if found[1] < rank:
                best, rank = found

    def judge_all(self) -> bool:
        """Evaluate every policy if they are few; return whether that was done, so that the best is proved."""
        space = self.oracle.problem.space
        if space.size > FEW or space.size * self.control.fleet.states > self.work:
            return False
        for decision in space:
            self.oracle(decision)
        return True

    # -- starts -------------------------------------------------------------------------------------------------------

    def rounded(self, parts: list[Part]) -> Iterator[Actions]:
        """Policies of the program, their random decisions made in all ways, or the likeliest where they are many."""
        moves = self.control.moves
        for part in parts:
            yield part.actions
            random = np.flatnonzero(((part.chances > RARE) & (part.chances < 1 - RARE)).any(axis=0))
            if 0 < len(random) <= MOST_MIXED:
                choices = [np.flatnonzero(part.chances[:, state] > RARE).tolist() for state in random]
                for chosen in product(*choices):
                    chances = part.chances.copy()
                    chances[:, random] = 0.0
                    chances[chosen, random] = 1.0
                    yield likeliest(moves, chances)

    def curves(self) -> Iterator[Actions]:
        """Straight switching curves: as many robots out as are left of a number, fewer for each page."""
        fleet, moves = self.control.fleet, self.control.moves
        robots = fleet.classes[0].robots
        if len(fleet.classes) == 1 and robots <= MOST_CURVES:
            places = np.arange(fleet.states) // fleet.environments % fleet.places
            lengths = np.arange(fleet.states) // (fleet.environments * fleet.places)
            out = fleet.robots_out[places, 0]
            for number, slope in product(range(1, robots + fleet.capacity + 1), SLOPES):
                lacking = np.clip(np.ceil(number - slope * lengths - out), 0, robots - out).astype(np.int64)
                actions = lacking if moves.again else np.minimum(lacking, 1)
                actions[: fleet.environments] = np.maximum(1, actions[: fleet.environments])
                yield actions

    def raise_prices(self, prices: Vector) -> None:
        """Raise the prices of limits until the best policy keeps them, then come back as near as that stays so."""

        def keeps(factor: float) -> bool:
            self.oracle.require()
            return self.judge(self.control.priced(prices * factor).actions, start=True).feasible

        if not np.any(prices):
            self.judge(self.control.priced(prices).actions, start=True)
            return
        low, high = 1.0, 1.0 + 1e-6
        if keeps(low):
            return
        halvings = HALVINGS if self.control.fleet.states <= 2000 else HALVINGS // 2
        for _ in range(RAISES):
            if keeps(high):
                break
            low, high = high, 1.0 + 4.0 * (high - 1.0)
        else:
            return
        for _ in range(halvings):
            middle = 1.0 + math.sqrt(max(low - 1.0, 1e-8) * (high - 1.0))
            low, high = (low, middle) if keeps(middle) else (middle, high)

    def fixed(self) -> None:
        """Evaluate fixed numbers of robots as strategy `static` does, by formula where there is one."""
        problem = self.oracle.problem
        numbers = list(problem.fixed_numbers())
        if hasattr(problem, "queue"):
            numbers = sorted(numbers, key=lambda number: rank_of(problem.judge_fixed((number,))))[:2]
        for number in numbers:
            self.judge(np.array(problem.keeping(number), dtype=np.int64) + problem.space.shift, start=True)

    # -- changes ------------------------------------------------------------------------------------------------------

    def descend(self, start: Actions) -> tuple[Actions, Rank]:
        """Change one decision after the other, and two at a time where one does not help; where that ends."""
        current, rank = start, rank_of(self.judge(start))
        while True:
            current, rank, saving = self._single(current, rank)
            found = self._pair(current, rank, saving)
            if found is None:
                return current, rank
            current, rank = found

    def _shaken(self, actions: Actions, rng: np.random.Generator) -> Actions:
        """The policy with a few decisions changed at random."""
        states, found = self._asked(actions), actions
        for state in rng.choice(states, min(SHAKEN, len(states)), replace=False).tolist():
            others = self._others(found, state)
            if others:
                found = _changed(found, state, others[int(rng.integers(len(others)))])
        return found

    def _single(self, current: Actions, rank: Rank) -> tuple[Actions, Rank, list[tuple[float, int, int]]]:
        """A policy that no single change improves; and single changes that save, though they break limits."""
        states = self._asked(current)
        place, idle = 0, 0
        saving: list[tuple[float, int, int]] = []
        while idle < len(states):
            if place == 0:
                saving = []
            state = int(states[place])
            improved = False
            for action in self._others(current, state):
                if self.spent:
                    return current, rank, []
                changed = _changed(current, state, action)
                judged = self.judge(changed)
                if rank_of(judged) < rank:
                    current, rank, improved = changed, rank_of(judged), True
                elif not judged.feasible and judged.objective < rank[1]:
                    saving.append((judged.penalised, state, action))
            idle = 0 if improved else idle + 1
            place = (place + 1) % len(states)
        return current, rank, sorted(saving)[: 2 * SAVING]

    def _pair(self, current: Actions, rank: Rank, saving: list[tuple[float, int, int]]) -> tuple[Actions, Rank] | None:
        """A better policy two changes away."""
        if rank[0] == 1:
            return None
        for _, state, action in saving[:SAVING]:
            once = _changed(current, state, action)
            for other in self._asked(once).tolist():
                if other == state:
                    continue
                for second in self._others(once, other):
                    if self.spent:
                        return None
                    changed = _changed(once, other, second)
                    found = rank_of(self.judge(changed))
                    if found < rank:
                        return changed, found
        return None

    def _asked(self, actions: Actions) -> Actions:
        """States whose decisions may matter."""
        fleet = self.control.fleet
        choices = allowed_actions(fleet).sum(axis=1) if not self.control.moves.again else 1 + fleet.idle[:, 0]
        free = choices[np.arange(fleet.states) // fleet.environments % fleet.places] > 1
        if not self.control.moves.again and len(fleet.classes) == 1:
            free[: fleet.environments] = False
        if fleet.states > ALL_STATES:
            recurs = shares_from_start(fleet, actions).recurs
            free &= np.asarray(self.control.moves.events[np.flatnonzero(recurs)].sum(axis=0)).ravel() > 0
        return np.flatnonzero(free)

    def _others(self, actions: Actions, state: int) -> list[int]:
        """Other actions in a state; of many numbers those next to the present one."""
        fleet = self.control.fleet
        least = 1 if state < fleet.environments else 0
        if self.control.moves.again:
            most = int(fleet.idle[state // fleet.environments % fleet.places, 0])
            near = {int(actions[state]) + step for step in (-2, -1, 1, 2)} if most > 4 else set(range(most + 1))
            return sorted(near & set(range(least, most + 1)) - {int(actions[state])})
        possible = np.flatnonzero(self.control.moves.allowed[:, state]).tolist()
        return [action for action in possible if action != actions[state] and action >= least]

    # -- evaluating --------------------------------------------------------------------------------------------------

    @property
    def proved(self) -> bool:
        """Whether the best policy meets the bound."""
        return self.oracle.meets(self.bound)

    @property
    def spent(self) -> bool:
        """Whether as many states were evaluated as are asked for."""
        return self.judged * self.control.fleet.states > self.work

    def judge(self, actions: Actions, start: bool = False) -> Evaluation:
        """What the oracle says of a policy."""
        self.judged += not start
        found = self.oracle(self.control.decision(actions))
        if start:
            self.seen.append((rank_of(found), actions))
        return found


def rank_of(judged: Evaluation) -> Rank:
    """Tell which of two evaluations is better, the lower one: kept limits first, then costs.

    Parameters
    ----------
    judged
        What a policy, or a split, achieves.

    Returns
    -------
    tuple
        0 and the cost where limits are kept, else 1 and the cost with its penalty.
    """
    return (0, judged.objective) if judged.feasible else (1, judged.penalised)


def _changed(actions: Actions, state: int, action: int) -> Actions:
    found = actions.copy()
    found[state] = action
    return found


def _distinct(policies: list[Actions]) -> list[Actions]:
    known: dict[bytes, Actions] = {}
    for actions in policies:
        known.setdefault(actions.tobytes(), actions)
    return list(known.values())
