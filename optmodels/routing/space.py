"""What can be decided about routing: one period of server numbers, or those of a finite number of slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heuristics.spaces import Policies, Words

#: Periods that are searched where nothing is said about them.
SEARCHED = 20

#: Longer words are refused: they are kept as tuples.
LONGEST_WORD = 1_000_000


@dataclass(frozen=True)
class RoutingWords(Words):
    """Periods of routing: words of server numbers, written as the least of their rotations.

    Where no period is given, words of all lengths are decisions, and those of the `lengths` are the ones that are
    listed, counted and walked to: no list of these proves an optimum.

    Parameters
    ----------
    complete
        Whether all decisions are listed.
    """

    complete: bool = True

    def check(self, decision: Any) -> tuple[int, ...]:
        """Return the least rotation of a period, or raise one sentence on what is wrong with it."""
        if isinstance(decision, (str, bytes, dict)) or not hasattr(decision, "__len__"):
            raise ValueError(f"the decision is {decision!r}; it is one period, a list of server numbers.")
        length = len(decision)
        if length == 0:
            raise ValueError("the period is empty; it needs one server number at least.")
        if length > LONGEST_WORD:
            raise ValueError(f"the period has {length} slots; it has {LONGEST_WORD} at most.")
        if self.complete or length in self.lengths:
            return super().check(decision)
        return Words(self.alphabet, (length,)).check(decision)


@dataclass(frozen=True)
class RoutingActions(Policies):
    """One server number for each slot of a finite horizon, in order."""

    def check(self, decision: Any) -> tuple[int, ...]:
        """Return the server numbers as a tuple, or raise one sentence on what is wrong with them."""
        if isinstance(decision, (str, bytes, dict)) or not hasattr(decision, "__len__"):
            raise ValueError(f"the decision is {decision!r}; it is a list of server numbers, one for each slot.")
        if len(decision) != len(self.actions):
            slots = len(self.actions)
            raise ValueError(f"{len(decision)} server numbers are given; each of the {slots} slots needs one.")
        return super().check(decision)
