"""Routing by indices: each packet goes to the server for which one now is worth most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..oracle import Oracle
from ..result import Result
from ..running import last_word, require_fields
from .problem import GapTable, RoutedProblem
from .server_densities import MOST_SLOTS, densities, index_word


@dataclass(frozen=True)
class IndexRule:
    """The word of Whittle's index rule, for any number of servers, beside the integer-density bound.

    The rule is run for a while, and the stretch of it is taken that costs least when it is repeated.

    Parameters
    ----------
    slots
        The longest period; by default 100 slots for each server, and 1000 at least.
    """

    slots: int | None = None

    name: ClassVar[str] = "whittle"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, slots=(self.slots is None or self.slots >= 1, "1 or more"))

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse problems that do not ask for the best of all words."""
        sentence = problem.unroutable()
        return None if sentence is None else f"strategy {self.name!r} cannot take {problem.name!r}: {sentence}"

    def prepare(self, problem: RoutedProblem) -> None:
        """Compile."""
        rates = np.array([[0.5], [0.3]])
        index_word(densities(lambda count: GapTable(rates ** np.arange(1, count + 1), np.zeros(2), np.zeros(2))))

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Find densities, follow the rule, show a word, report the bound."""
        oracle.require()
        with oracle.in_time():
            found = densities(oracle.problem.gap_table, oracle.require)
        word = index_word(found, MOST_SLOTS if self.slots is None else self.slots)
        late = oracle.remaining_seconds <= 0
        last_word(oracle, tuple(word.tolist()))
        if found.table.known:
            oracle.report(bound=found.bound)
        return oracle.result(stopped_by="seconds" if late else "complete")
