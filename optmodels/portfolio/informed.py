"""The problem of a run, with what is known by now among its suggestions.

Strategies that look for a start ask the problem (`heuristics.Suggesting`): searches begin there, and `highs` hands it
to its solver. So a decision that one member of a portfolio has found reaches the others without any of them knowing of
the portfolio.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from heuristics import Decision, Problem

from ..protocols import lists


class Known:
    """The best decisions known to a portfolio, the latest first; few are kept."""

    #: Decisions that are passed on.
    MOST = 3

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self.decisions: list[Decision] = list(decisions)

    def add(self, problem: Problem, decision: Decision) -> None:
        """Put a decision first, if it is one of those that the space lists: others are answers to a wider question."""
        if not lists(problem, decision):
            return
        if not isinstance(decision, tuple) or decision in self.decisions:  # long ones are arrays, and few ask for them
            return
        self.decisions = [decision, *self.decisions][: self.MOST]


def informed(problem: Problem, known: Known) -> Problem:
    """Make a twin of a problem that suggests what is known before its own suggestions.

    The twin is of a class derived from that of the problem, so that it has all its abilities, and shares its data. It
    describes no decisions, which may take long: the problem itself describes the answer in the end.

    Parameters
    ----------
    problem
        Of any kind.
    known
        May grow while the twin is in use.

    Returns
    -------
    Problem
        The twin; the problem itself where no twin can be made (a class with slots, say).

    Examples
    --------
    >>> from heuristics.testing import Knapsack
    >>> twin = informed(Knapsack(), Known([(0,) * 8]))
    >>> list(twin.suggestions(None)), isinstance(twin, Knapsack)
    ([(0, 0, 0, 0, 0, 0, 0, 0)], True)
    """
    kind = type(problem)
    own = getattr(kind, "suggestions", None)

    def suggestions(self: Any, rng: np.random.Generator) -> Iterator[Decision]:
        """Suggest what is known, then what the problem suggests."""
        yield from (decision for decision in tuple(known.decisions) if decision in self.space)
        if own is not None:
            yield from own(self, rng)

    body: dict[str, Any] = {"suggestions": suggestions, "__doc__": kind.__doc__, "__module__": kind.__module__}
    if hasattr(kind, "describe"):
        body["describe"] = lambda self, decision: {}
    try:
        twin = copy.copy(problem)
        object.__setattr__(twin, "__class__", type(kind.__name__, (kind,), body))
    except TypeError:
        return problem
    return twin
