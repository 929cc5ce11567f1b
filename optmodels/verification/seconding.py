"""A second opinion on an answer, from another solver or by another road, within what is left of the same time.

The one that answered is not asked again: an exact strategy that is not the one that answered, or the same program with
another solver, solves the problem anew (`optmodels.verification.proving`), and what it proves and finds is held against
the answer. Where there is no other, or it proves nothing, the cheap roads of ``verify`` are tried.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import heuristics
from heuristics import Budget, Problem, Progress, Status, Strategy, parameters

from ..errors import RequestError
from ..registry import make_strategy
from ..results import plain
from ..solving import Result, answer
from .proving import PROVE_SECONDS, Proved, other_roads, prove_again, solve_again

#: Part of the time that is kept for the second opinion; what the first leaves over is added.
KEPT = 1 / 3

CONFIRMED, REFUTED, BETTER, NO_ANSWER = "confirmed", "refuted", "better decision found", "no answer in time"


@dataclass(frozen=True)
class Opinion:
    """What the second one says.

    Parameters
    ----------
    verdict
        ``"confirmed"``, ``"refuted"`` (a claim does not hold), ``"better decision found"`` (nothing was claimed that
        does not hold, but there is a better one) or ``"no answer in time"``.
    reason
        Why, in words.
    proved
        What was proved and found.
    seconds
        What it took.
    """

    verdict: str
    reason: str
    proved: Proved
    seconds: float

    def to_data(self) -> dict[str, Any]:
        """As ``extra.second_opinion`` of a result has it."""
        better = self.verdict in (REFUTED, BETTER) and self.proved.best is not None
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "asked": list(self.proved.tried),
            "bound": plain(self.proved.bound),
            "proved_by": self.proved.by or None,
            "objective": plain(self.proved.least),
            "decision": plain(self.proved.best.decision) if better and self.proved.best is not None else None,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


def first_share(budget: Budget) -> Budget:
    """Keep a part of the time for the second opinion.

    >>> first_share(Budget(seconds=30.0)).seconds, first_share(Budget(evaluations=10)).seconds
    (20.0, None)
    """
    return budget if budget.seconds is None else replace(budget, seconds=(1 - KEPT) * budget.seconds)


def answer_twice(
    problem: Problem,
    strategy: Strategy,
    budget: Budget,
    seed: int,
    *,
    reason: str | None = None,
    progress: bool | Callable[[Progress], None] | None = None,
) -> Result:
    """Solve a problem, and ask a second one what it thinks of the answer, within one budget.

    Parameters
    ----------
    problem, strategy, seed, reason, progress
        As `optmodels.solving.answer` takes them.
    budget
        Of both together: a third of the seconds is kept for the second, with what the first leaves over; without
        seconds the second has a minute.

    Returns
    -------
    Result
        The answer of the first, with what the second says in ``extra["second_opinion"]``.
    """
    result = answer(problem, strategy, first_share(budget), seed, reason=reason, progress=progress)
    left = PROVE_SECONDS if budget.seconds is None else max(0.0, budget.seconds - result.seconds)
    opinion = Opinion(NO_ANSWER, "it was interrupted", Proved(), 0.0)
    if result.stopped_by != "interrupt":
        with contextlib.suppress(KeyboardInterrupt):  # the answer is not lost
            opinion = second_opinion(problem, result, left)
    return replace(result, extra={**result.extra, "second_opinion": opinion.to_data()})


def second_opinion(problem: Problem, result: heuristics.Result, seconds: float = PROVE_SECONDS) -> Opinion:
    """Let another exact strategy, or another solver, solve a problem, and hold what it says against an answer.

    Parameters
    ----------
    problem
        What was asked.
    result
        The answer of the first.
    seconds
        For the second.

    Returns
    -------
    Opinion
        Confirmed, refuted, a better decision, or no answer in time.

    Examples
    --------
    >>> from optmodels import load, solve
    >>> problem = load("gautam-2x3")
    >>> print(second_opinion(problem, solve(problem, "annealing", evaluations=500)))
    confirmed: highs proves that nothing lies below 8
    """
    began = time.monotonic()
    first = _who_proved(result)
    proved = Proved()

    def settled(now: Proved) -> bool:
        return _judged(result, now)[0] != NO_ANSWER

    if other_roads(problem, first):
        proved = solve_again(problem, first, proved, seconds=seconds, settled=settled)
    left = seconds - (time.monotonic() - began)
    if not settled(proved) and left > 0:
        cheap = prove_again(problem, result.decision, seconds=left, settled=settled, without=first.strategy)
        proved = replace(cheap, tried=proved.tried) if settled(cheap) or not proved.tried else proved
    return Opinion(*_judged(result, proved), proved, time.monotonic() - began)


def _who_proved(result: heuristics.Result) -> heuristics.Result:
    """The result as that of the strategy behind it: of a portfolio the member that proved, or found, its answer."""
    told = result.extra.get("best_of")
    label = (told.get("bound_by") or told.get("decision_by")) if isinstance(told, dict) else None
    if label is None:
        return result
    try:
        member = make_strategy(label)
    except RequestError:
        return result
    return replace(result, strategy=member.name, parameters=parameters(member))


def _judged(result: heuristics.Result, proved: Proved) -> tuple[str, str]:
    """A verdict on the answer, and the reason."""
    by, found_by = proved.by or "it", proved.found_by or "it"
    who = ", ".join(proved.tried) or "no other exact strategy"
    silent = f"{who} did not settle it" if proved.tried else "no other exact strategy takes the problem"
    objective = result.objective
    if objective is None:
        if proved.best is not None:
            verdict = REFUTED if result.status is Status.INFEASIBLE else BETTER
            return verdict, f"{found_by} finds a feasible decision of objective {_number(proved.least)}"
        if proved.infeasible is not None:
            return CONFIRMED, f"no decision is feasible: {proved.infeasible.rstrip('.')}"
        return NO_ANSWER, silent
    if proved.infeasible is not None:
        return REFUTED, f"nothing is said to be feasible, and a decision is: {proved.infeasible.rstrip('.')}"
    bound = result.bound
    if bound is not None and proved.lies_below(bound):
        told = f"{found_by} finds a decision of objective {_number(proved.least)}"
        return REFUTED, f"{told}, below the bound {_number(bound)}"
    if proved.reaches(objective):
        return CONFIRMED, f"{by} proves that nothing lies below {_number(objective)}"
    if result.status is not Status.OPTIMAL and proved.lies_below(objective):
        return BETTER, f"{found_by} finds a decision of objective {_number(proved.least)}"
    told = f"; {by} proves that nothing lies below {_number(proved.bound)}" if math.isfinite(proved.bound) else ""
    return NO_ANSWER, silent + told


def _number(value: float) -> str:
    return f"{value:.10g}"
