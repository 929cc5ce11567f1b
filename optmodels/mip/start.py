"""A good decision for an exact solver to start from."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from heuristics import Budget, BudgetSpent, Decision, Incremental, Oracle, Problem, Suggesting
from heuristics.search import Annealing

#: A warm start may take this share of the time, but never more than so many seconds or steps per entry of a decision.
START_SHARE, START_SECONDS, START_STEPS = 0.05, 2.0, 2_000

#: Suggestions of a problem that are judged first; it may have them without end.
START_SUGGESTIONS = 10


def takes_start(problem: Problem) -> bool:
    """Whether it is worth looking for a start before the program is built."""
    return isinstance(problem, (Incremental, Suggesting)) and problem.space.size != math.inf


def find_start(oracle: Oracle[Any], rng: np.random.Generator) -> None:
    """Look for a good decision, briefly, and show the best to the oracle; what it took is charged.

    The problem's first suggestion is judged whatever it takes, so that a limit too short for anything else still ends
    with an answer. Then others, and annealing, get a share of the time, and no more evaluations than the budget has.
    """
    problem = oracle.problem
    if not takes_start(problem):
        return
    suggestions: Iterator[Decision] = iter(())
    if isinstance(problem, Suggesting):
        suggestions = islice(problem.suggestions(rng), START_SUGGESTIONS)
    for first in islice(suggestions, 1):
        oracle(first)
    seconds = min(START_SECONDS, START_SHARE * oracle.remaining_seconds)
    steps = min(START_STEPS * max(1, len(problem.space.sample(rng))), oracle.remaining_evaluations)
    if seconds <= 0 or steps < 1:
        return
    scout: Oracle[Any] = Oracle(problem, Budget(seconds=seconds, evaluations=int(steps)))
    try:
        with contextlib.suppress(BudgetSpent):
            for decision in suggestions:
                scout(decision)
            Annealing().solve(scout, rng)
    finally:  # Ctrl-C does not lose what was found
        oracle.charge(scout.evaluations)
        oracle.judged_in_full += scout.judged_in_full
        if scout.best is not None:
            oracle.confirm(scout.best.decision, scout.best.evaluation.objective)
