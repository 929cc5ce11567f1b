"""Whittle's index rule: at each slot, whatever is worth most when it is chosen now.

Pages that are visited and servers that get packets both have such an index, and each has a road of its own from the
index to a cycle. The problem names the rule; the strategy only follows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ..oracle import Oracle
from ..protocols import Problem, Strategy
from ..result import Result
from ..running import refusal, require_fields


@runtime_checkable
class Indexed(Problem, Protocol):
    """A problem with an index rule; ``index_rule(slots)`` makes it, for cycles of at most so many slots."""

    def index_rule(self, slots: int | None) -> Strategy: ...


@dataclass(frozen=True)
class Whittle:
    """Take the page or server with the largest Whittle index in each slot.

    Parameters
    ----------
    slots
        The most slots of a cycle; by default 50 for each page, 100 for each server, and 1000 at least.
    """

    slots: int | None = None

    name: ClassVar[str] = "whittle"
    needs: ClassVar[type] = Indexed
    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_fields(self, slots=(self.slots is None or self.slots >= 1, "1 or more"))

    def refuses(self, problem: Indexed) -> str | None:
        """Refuse what the problem's rule refuses."""
        return refusal(problem, problem.index_rule(self.slots))

    def prepare(self, problem: Indexed) -> None:
        """Compile what the problem's rule needs."""
        rule: Any = problem.index_rule(self.slots)
        if hasattr(rule, "prepare"):
            rule.prepare(problem)

    def solve(self, oracle: Oracle[Indexed], rng: np.random.Generator) -> Result:
        """Follow the rule of the problem."""
        return oracle.problem.index_rule(self.slots).solve(oracle, rng)
