"""The time of exact solvers: a good decision to start from in a share of it, and an end for what has no clock."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np

from heuristics import Budget, BudgetSpent, Decision, Incremental, Oracle, Suggesting, clock
from heuristics.search import Annealing

from ..protocols import Beginning

#: A warm start may take this share of the time, but never more than so many seconds or steps per entry of a decision.
START_SHARE, START_SECONDS, START_STEPS = 0.05, 2.0, 2_000

#: Suggestions of a problem that are evaluated first; it may have them without end.
START_SUGGESTIONS = 10

#: Seconds until the signal comes again, and between two looks at whether something is still being compiled.
AGAIN, LOOK = 0.5, 0.05


def find_start(oracle: Oracle[Any], rng: np.random.Generator, steps: int = START_STEPS) -> None:
    """Look for a good decision, briefly, and show the best to the oracle; what it took is charged.

    A problem that knows where to begin (`Beginning`) does so before anything else.

    The problem's first suggestion is evaluated whatever it takes, so that a limit too short for anything else still
    ends with an answer. Then others, and annealing, get a share of the time, and no more evaluations than the budget
    has.

    Parameters
    ----------
    oracle
        Of the run.
    rng
        Where random numbers come from.
    steps
        Evaluations for each entry of a decision, at most.
    """
    problem = oracle.problem
    if isinstance(problem, Beginning) and not problem.begin_pyomo(oracle):
        return
    if not isinstance(problem, (Incremental, Suggesting)) or problem.space.size == math.inf:
        return
    suggestions: Iterator[Decision] = iter(())
    if isinstance(problem, Suggesting):
        suggestions = islice(problem.suggestions(rng), START_SUGGESTIONS)
    for first in islice(suggestions, 1):
        oracle(first)
    seconds = min(START_SECONDS, START_SHARE * oracle.remaining_seconds)
    most = min(steps * max(1, len(problem.space.sample(rng))), oracle.remaining_evaluations)
    if seconds <= 0 or most < 1:
        return
    scout: Oracle[Any] = Oracle(problem, Budget(seconds=seconds, evaluations=int(most)))
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


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """End the block by `BudgetSpent` when the time is up, whatever it does.

    By a timer signal, so in the main thread and on Unix only; elsewhere the block takes as long as it takes. A signal
    that comes while rubbish is collected or an object deleted is lost, so it comes again. A timer that was running
    before is set again afterwards. The time is that of `heuristics.clock`: what is being compiled does not count, and
    is not ended. A library that turns every exception into one of its own (`inspect.getfullargspec` makes it a
    ``TypeError``) does not hide the end of the time, nor does one that stumbles over what was lost with it (Pyomo, over
    a variable that was half made): what leaves the block is `BudgetSpent` all the same.

    Parameters
    ----------
    seconds
        For the block; infinite: no limit.

    Yields
    ------
    None
        The block runs.

    Raises
    ------
    BudgetSpent
        When the time is up.
    """
    timed = math.isfinite(seconds) and hasattr(signal, "setitimer")
    if not timed or threading.current_thread() is not threading.main_thread():
        yield
        return

    deadline = clock.start() + seconds
    rung = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        left = deadline - clock.now()
        if left <= 0 and not clock.compiling():
            rung = True
            raise BudgetSpent("seconds")
        signal.setitimer(signal.ITIMER_REAL, max(left, LOOK), AGAIN)

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), AGAIN)
    began = time.monotonic()
    try:
        yield
    except Exception as error:
        spent = _budget_spent_behind(error) or (BudgetSpent("seconds") if rung else None)
        if spent is None or spent is error:
            raise
        raise BudgetSpent(spent.limit) from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, left - (time.monotonic() - began)), interval)


def _budget_spent_behind(error: BaseException) -> BudgetSpent | None:
    """Find the `BudgetSpent` that an exception is, was raised from or was raised in the handling of."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, BudgetSpent):
        behind = behind.__cause__ or behind.__context__
    return behind
