"""Policy iteration: evaluate a policy, improve it wherever that helps, until nothing is left to improve.

The problem knows its own structure; the strategy asks for one step after the other, shows every policy to the oracle,
and keeps the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ..oracle import BudgetSpent, Oracle
from ..protocols import Decision, Problem
from ..result import Result
from ..running import explain_refusal, require_fields, word_of

#: Steps without a lower cost or a higher bound after which rounding is what is left to improve.
IDLE = 20


@dataclass(frozen=True)
class Improvement:
    """One step of policy iteration.

    Attributes
    ----------
    decision
        The policy that was evaluated: the one asked about, or one made of it that is no worse.
    better
        The policy that is greedy for its values.
    changes
        In how many states they differ; none: `decision` is best.
    lower, upper
        The least cost of all policies lies between them.
    details
        What else is worth telling; computed when asked for.
    """

    decision: Decision
    better: Decision
    changes: int
    lower: float
    upper: float
    details: Callable[[], Mapping[str, Any]] = dict


@runtime_checkable
class Improvable(Problem, Protocol):
    """A problem whose decisions are policies that can be improved.

    ``unimprovable()`` returns a sentence where costs do not allow it, else ``None``; ``first_policy(quick)`` returns a
    policy to start from, with `quick` one that was already improved without a look at the clock.
    """

    def unimprovable(self) -> str | None: ...
    def first_policy(self, quick: bool = False) -> Decision: ...
    def policy_step(self, decision: Decision) -> Improvement: ...


@dataclass(frozen=True)
class PolicyIteration:
    """Run Howard's policy iteration; every step brackets the least cost, and the last one proves optimality.

    ``extra.bracket`` has the best lower and upper end met. Without a budget the first steps are taken by the problem
    itself, at once; with one, each counts as an evaluation. A policy at hand when time is up is evaluated all the same.

    Parameters
    ----------
    steps
        Most steps.
    """

    steps: int = 1000

    name: ClassVar[str] = "policy-iteration"
    needs: ClassVar[type] = Improvable
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, steps=(self.steps >= 1, "1 or more"))

    def refuses(self, problem: Improvable) -> str | None:
        """Refuse costs that are not averages over states."""
        return explain_refusal(self.name, problem, problem.unimprovable())

    def solve(self, oracle: Oracle[Improvable], rng: np.random.Generator) -> Result:
        """Improve until nothing changes."""
        limited = math.isfinite(oracle.remaining_seconds) or math.isfinite(oracle.remaining_evaluations)
        return iterate(oracle, oracle.problem.first_policy(quick=not limited), self.steps)


def iterate(oracle: Oracle[Improvable], decision: Decision, steps: int = 1000) -> Result:
    """Iterate policies from a given one; the result is closed on the best.

    Parameters
    ----------
    oracle
        Of the run.
    decision
        The first policy.
    steps
        Most improvements.

    Returns
    -------
    Result
        The best policy, with the best bound; ``extra`` has the ``bracket`` and the number of ``iterations``.
    """
    problem = oracle.problem
    lower, upper, least = -math.inf, math.inf, math.inf
    last: Improvement | None = None
    idle, stopped_by, unseen = 0, "steps", True
    try:
        for count in range(1, steps + 1):
            oracle.require()
            with oracle.in_time():
                step = problem.policy_step(decision)
            decision, unseen = step.decision, True
            objective, unseen = oracle(decision).objective, False
            # Equal costs are no reason to stop: states that do not recur are put right last, the proof needs them.
            idle = 0 if objective < least or step.lower > lower else idle + 1
            if last is None or (objective, -step.lower) <= (least, -last.lower):
                last = step
            least, lower, upper = min(least, objective), max(lower, step.lower), min(upper, step.upper)
            oracle.extra |= {"bracket": [lower, upper], "iterations": count}
            oracle.report(bound=lower)
            if step.changes == 0 or idle > IDLE:
                stopped_by = "complete"
                break
            decision = step.better
    except (BudgetSpent, KeyboardInterrupt) as ended:
        if not unseen:
            raise
        return oracle.result(decision, stopped_by=word_of(ended))
    assert last is not None
    return oracle.result(stopped_by=stopped_by, extra=last.details())
