"""Walks through decisions whose steps an oracle counts and pays for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .protocols import Decision, Followed, Lenient, Moves, Walk

if TYPE_CHECKING:
    from .oracle import Oracle


class OracleWalk:
    """A walk whose steps are charged in bulk; every incumbent is evaluated in full before it counts.

    Parameters
    ----------
    oracle
        Who pays for the steps.
    walk
        Of the problem that the oracle asks.

    Examples
    --------
    >>> from heuristics import Oracle
    >>> from heuristics.testing import Ring
    >>> ring = Ring()
    >>> oracle = Oracle(ring)
    >>> walk = oracle.walk((0,) * ring.space.length)
    >>> change = walk.flip(0)
    >>> walk.current[0], oracle.evaluations
    (1, 2)
    """

    def __init__(self, oracle: Oracle[Any], walk: Walk) -> None:
        self._oracle = oracle
        self._walk = walk
        self._largest = abs(walk.penalised)  # steps are summed up, and rounded on the scale of where they came from

    @property
    def current(self) -> Decision:
        """The decision the walk stands on."""
        return self._walk.current

    @property
    def penalised(self) -> float:
        """Its penalised objective, as the walk knows it."""
        return self._walk.penalised

    @property
    def feasible(self) -> bool:
        """Whether it keeps all constraints, as the walk knows it."""
        return self._walk.feasible

    def weigh(self, factor: float) -> bool:
        """Charge `factor` times the penalty for broken constraints from here on; tell whether the walk can."""
        if not isinstance(self._walk, Lenient):
            return False
        self._walk.weigh(factor)
        return True

    def flip(self, index: int) -> float:
        """Apply one elementary change and return the change of the penalised objective."""
        self._oracle.require()
        change = self._walk.flip(index)
        self._largest = max(self._largest, abs(self._walk.penalised))
        self._oracle.charge(1)
        best, penalised = self._oracle.best, self._walk.penalised
        if self._walk.feasible and (best is None or penalised < best.evaluation.objective):
            self._oracle.confirm(self._walk.current, penalised, self._largest)
        return change

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Random moves of the problem's natural neighbourhood."""
        return self._walk.draw(rng, count)

    def follow(self, moves: Moves, tolerances: NDArray[np.float64]) -> Followed:
        """Follow as many of the moves as the budget has room for, then raise `BudgetSpent` if some were left."""
        kept, done = 0, 0
        decision: Decision | None = None
        lowest: float | None = None
        while done < len(moves):  # more than once only if an improvement gave a run limited by stall new room
            self._oracle.require()
            until = done + int(min(len(moves) - done, self._oracle.remaining_evaluations))
            best = self._oracle.best
            below = math.inf if best is None else best.evaluation.objective
            followed = self._walk.follow(moves[done:until], tolerances[done:until], below)
            self._oracle.charge(until - done)
            kept, done = kept + followed.kept, until
            if followed.best is not None and followed.lowest is not None:
                self._oracle.confirm(followed.best, followed.lowest, self._largest)
                decision, lowest = followed.best, followed.lowest
        if self._oracle.best is None:
            self._oracle.confirm(self._walk.current)  # how far from feasible
        return Followed(kept, decision, lowest)
