"""What `value-iteration` iterates for kind "robots": values after a decision, or those of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision
from heuristics.dynamic import Closing, Swept
from queueing.robots import PaperChain, greedy, paper_chain, sweep

if TYPE_CHECKING:
    from .problem import RobotsProblem

Array = NDArray[np.float64]

#: Of Proposition 2: weight of the new values, and largest relative change of a value at the end.
TAU, TOLERANCE = 0.99999, 1e-5


@dataclass(frozen=True, eq=False)
class ReducedSweeps:
    """Sweeps over states (q, r) after a decision, with a bracket at each."""

    problem: RobotsProblem
    tolerance: float = TOLERANCE

    def start(self) -> Array:
        """Zeros."""
        return np.zeros(self.problem.queue.shape)

    def sweep(self, values: Array) -> Swept:
        """One sweep."""
        queue = self.problem.queue
        found, lower, upper = sweep(queue.arrival_rate, queue.service_rate, self.problem.state_costs, values)
        return Swept(found, lower, upper)

    def greedy(self, values: Array) -> Decision:
        """What is best for these values."""
        return self.problem.decision_of(greedy(values))

    def close(self, values: Array) -> Closing:
        """Nothing that was not told."""
        return Closing()


@dataclass(frozen=True, eq=False)
class PaperSweeps:
    """Proposition 2 of the paper: states (q, r, s) before a decision, reference state (1, 1, 1), tau = 0.99999."""

    problem: RobotsProblem
    tolerance: float = TOLERANCE

    @cached_property
    def chain(self) -> PaperChain:
        """States by event, pages and robots."""
        queue = self.problem.queue
        gamma = float(self.problem.prices["starvation"])
        return paper_chain(queue.robots, queue.capacity, queue.arrival_rate, queue.service_rate, gamma)

    def start(self) -> Array:
        """Zeros."""
        return np.zeros(self.chain.costs.shape)

    def sweep(self, values: Array) -> Swept:
        """Damped values relative to the reference state, and their largest relative change."""
        image = self.chain.applied(values)
        found = TAU * (image - image[1, 1, 1]) + (1.0 - TAU) * values
        found[~self.chain.states] = 0.0
        change, size = np.abs(found - values), np.abs(values)
        with np.errstate(over="ignore"):  # infinitely much, then
            relative = np.divide(change, size, out=np.where(change > 0, np.inf, 0.0), where=size > 0)
        return Swept(found, change=float(relative.max()))

    def greedy(self, values: Array) -> Decision:
        """What is best for these values."""
        return self.problem.decision_of(greedy(self.chain.decided(values)))

    def close(self, values: Array) -> Closing:
        """What the paper prints, and what it proves."""
        image = self.chain.applied(values)
        moved = (image - values)[self.chain.states]
        details: dict[str, Any] = {"printed_cost": float(image[1, 1, 1])}
        return Closing(float(moved.min()), float(moved.max()), details)
