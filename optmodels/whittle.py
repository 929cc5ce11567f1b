"""Whittle's index rule, for visits to pages and for packets to servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heuristics.oracle import Oracle
from heuristics.protocols import Problem
from heuristics.result import Result
from heuristics.routing import RoutedProblem
from heuristics.routing_whittle import IndexRule
from heuristics.running import refusal

from .freshness_strategies import VisitProblem
from .freshness_strategies import Whittle as VisitRule


@dataclass(frozen=True)
class Whittle:
    """The page for which a visit now is worth most, or the server for which a packet is (Whittle's index).

    Parameters
    ----------
    slots
        The most slots of a cycle; by default 50 for each page, 100 for each server, and 1000 at least.
    """

    slots: int | None = None

    name: ClassVar[str] = "whittle"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        VisitRule(self.slots)  # refuses slots that are none

    def refuses(self, problem: Problem) -> str | None:
        """Refuse what neither rule takes."""
        if not isinstance(problem, RoutedProblem | VisitProblem):
            kinds = "pages to be visited (kind 'freshness') or words of servers (kind 'routing', no horizon)"
            return f"strategy {self.name!r} takes {kinds}, and {problem.name!r} has neither."
        return refusal(problem, self._rule(problem))

    def prepare(self, problem: Problem) -> None:
        """Compile."""
        rule: Any = self._rule(problem)  # of which each prepares for its own problems
        rule.prepare(problem)

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Follow the rule of the kind."""
        return self._rule(oracle.problem).solve(oracle, rng)

    def _rule(self, problem: Problem) -> IndexRule | VisitRule:
        return IndexRule(self.slots) if isinstance(problem, RoutedProblem) else VisitRule(self.slots)
