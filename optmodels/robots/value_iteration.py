"""What `value-iteration` iterates for kind "robots": values after a decision, or those of Talim et al. (2001)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision
from heuristics.dynamic import Closing, Swept
from queueing.robots import PaperChain, greedy, paper_chain

if TYPE_CHECKING:
    from .problem import RobotsProblem

Array = NDArray[np.float64]

#: Of Proposition 2: weight of the new values, and largest relative change of a value at the end.
TAU, TOLERANCE = 0.99999, 1e-5


@dataclass(frozen=True, eq=False)
class StateSweeps:
    """Sweeps over states after a decision, with a bracket at each.

    `step` returns values after one sweep with the lower and upper end of the bracket, `best` what is best for values.
    """

    shape: tuple[int, ...]
    step: Callable[[Array], tuple[Array, float, float]]
    best: Callable[[Array], Decision]
    tolerance: float = TOLERANCE

    def start(self) -> Array:
        """Begin with zeros."""
        return np.zeros(self.shape)

    def sweep(self, values: Array) -> Swept:
        """Iterate once over all states."""
        return Swept(*self.step(values))

    def greedy(self, values: Array) -> Decision:
        """Take what is best for these values."""
        return self.best(values)

    def close(self, values: Array) -> Closing:
        """Add nothing to what was told."""
        return Closing()


@dataclass(frozen=True, eq=False)
class PaperSweeps:
    """Talim et al. (2001), Proposition 2: states (q, r, s) before a decision, relative to (1, 1, 1), tau = 0.99999."""

    problem: RobotsProblem
    tolerance: float = TOLERANCE

    @cached_property
    def chain(self) -> PaperChain:
        """States by event, pages and robots."""
        queue = self.problem.queue
        gamma = float(self.problem.prices["starvation"])
        return paper_chain(queue.robots, queue.capacity, queue.arrival_rate, queue.service_rate, gamma)

    def start(self) -> Array:
        """Begin with zeros."""
        return np.zeros(self.chain.costs.shape)

    def sweep(self, values: Array) -> Swept:
        """Damp values relative to the reference state, and their largest relative change."""
        image = self.chain.applied(values)
        found = TAU * (image - image[1, 1, 1]) + (1.0 - TAU) * values
        found[~self.chain.states] = 0.0
        change, size = np.abs(found - values), np.abs(values)
        with np.errstate(over="ignore"):  # infinitely much, then
            relative = np.divide(change, size, out=np.where(change > 0, np.inf, 0.0), where=size > 0)
        return Swept(found, change=float(relative.max()))

    def greedy(self, values: Array) -> Decision:
        """Take what is best for these values."""
        return self.problem.decision_of(greedy(self.chain.decided(values)))

    def close(self, values: Array) -> Closing:
        """Tell the cost that Talim et al. (2001) print, and the bracket that these values prove."""
        image = self.chain.applied(values)
        moved = (image - values)[self.chain.states]
        details: dict[str, Any] = {"printed_cost": float(image[1, 1, 1])}
        return Closing(float(moved.min()), float(moved.max()), details)
