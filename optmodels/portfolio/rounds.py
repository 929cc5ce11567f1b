r"""Members at work one after the other, in rounds, in this process.

A budget :math:`B` is spent in rounds of :math:`B/7` and the rest: first everybody has a short turn, which shows who
finds something; what is found is where the long turns begin. A turn is an equal part of what the round has left, so
that what one leaves is for the next; those who prove bounds have the last turns of a long round, since they begin anew
each time, and cannot have time enough.

Where the budget is one of seconds, those who call solvers have no short turn, which would be lost, unless nobody else
takes part: the others search for a while, and then a solver has the first long turn. So a proof that takes a few
seconds is not held up by searches that have long found what it proves.

With a budget in evaluations nothing depends on the clock: the same seed gives the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from heuristics import Budget, BudgetSpent, Oracle, Problem, Result, Share, Status, UnsupportedProblem

from ..errors import RequestError
from ..mip import SolverFailure
from ..protocols import Listing, lists
from .informed import Known, informed
from .members import Member

#: Part of the budget that the first round may spend; those that follow may spend everything.
FIRST = 1 / 7


class Rounds:
    """A portfolio at work.

    Parameters
    ----------
    oracle
        Of the run: it sees all that members find, and pays.
    members
        In the order of their turns.
    left_out
        Why others do not take part; those that give up on the way join them.
    """

    def __init__(self, oracle: Oracle[Any], members: Sequence[Member], left_out: dict[str, str]) -> None:
        self.oracle, self.members, self.left_out = oracle, list(members), left_out
        self.known = Known()
        self.twin = informed(oracle.problem, self.known)
        # What is proved of the decisions that a space lists need not hold for those beyond, which others may find.
        self.common = not isinstance(oracle.problem.space, Listing)
        self.infeasible = False
        self.failure: Exception | None = None

    @property
    def done(self) -> bool:
        """Whether nothing is left to look for, or to spend."""
        oracle = self.oracle
        spent = oracle.remaining_seconds <= 0 or oracle.remaining_evaluations < 1
        return spent or self.infeasible or (self.common and oracle.settled)

    def work(self, rng: np.random.Generator) -> str:
        """Make rounds until there is nothing to look for, nothing to spend, or nobody to ask; tell why it ended."""
        budget = self.oracle.budget
        limited = any(limit is not None for limit in (budget.seconds, budget.evaluations, budget.stall))
        turn = 0
        while not self.done:
            asked = [member for member in self.members if not member.retired]
            if not asked:
                return "complete"
            part = FIRST if limited and turn == 0 and len(asked) > 1 else 1.0
            if turn > 0:
                asked.sort(key=lambda member: -1 if member.turns == 0 else member.bound is not None)
            elif budget.seconds is not None and not all(member.begins_anew for member in asked):
                searching = [member for member in asked if not member.begins_anew]
                part, asked = part * len(searching) / len(asked), searching
            before = self.oracle.evaluations
            if self._round(asked, part, rng) == "interrupt":
                return "interrupt"
            turn += 1
            if budget.seconds is None and turn > 1 and self.oracle.evaluations == before:
                return "complete"  # all that members find is known, and costs nothing: no limit would ever end this
            if not limited:
                break
        if self.infeasible or (self.common and self.oracle.settled) or not limited:
            return "complete"
        if all(member.retired for member in self.members):
            return "complete"
        if self.oracle.remaining_seconds <= 0:
            return "seconds"
        spent = budget.evaluations is not None and self.oracle.evaluations >= budget.evaluations
        return "evaluations" if spent else "stall"

    def _round(self, asked: list[Member], part: float, rng: np.random.Generator) -> str | None:
        """Give every member that is still asked one turn; say "interrupt" if one was interrupted."""
        oracle = self.oracle
        seconds_after = (1 - part) * oracle.remaining_seconds
        evaluations_after = (1 - part) * oracle.remaining_evaluations
        for index, (member, own) in enumerate(zip(asked, rng.spawn(len(asked)), strict=True)):
            if self.done:
                break
            to_come = len(asked) - index
            share = Budget(
                seconds=_share(oracle.remaining_seconds, seconds_after, to_come),
                evaluations=_whole(_share(oracle.remaining_evaluations, evaluations_after, to_come)),
            )
            try:
                if self.turn(member, share, own).stopped_by == "interrupt":
                    return "interrupt"
            except (UnsupportedProblem, RequestError, SolverFailure) as failure:
                self.left_out[member.label] = " ".join(str(failure).split())
                self.members.remove(member)
                self.failure = failure
        if not self.members and self.failure is not None:
            raise self.failure
        return None

    def turn(self, member: Member, budget: Budget, rng: np.random.Generator) -> Result:
        """Let one member work within a share of the budget."""
        oracle, problem = self.oracle, self.oracle.problem
        before = oracle.best
        share: Share[Problem] = Share(oracle, self.twin, budget, bounds=self.common)
        try:
            result = member.strategy.solve(share, rng)
        except BudgetSpent as spent:
            result = share.result(stopped_by=spent.limit)
        except KeyboardInterrupt:
            member.take(share.result(stopped_by="interrupt"), share.spent_seconds, improved=oracle.best is not before)
            raise
        member.take(result, share.spent_seconds, improved=oracle.best is not before)
        member.beyond |= result.decision is not None and not lists(problem, result.decision)
        if result.status is Status.INFEASIBLE:
            self.infeasible = True
        if self.common:
            oracle.report(result.bound)
        if oracle.best is not None:
            self.known.add(problem, oracle.best.decision)
        return result


def common_bound(oracle: Oracle[Any], members: Sequence[Member]) -> float | None:
    """Find the best bound that holds for all decisions that members have shown.

    Where the space lists its decisions and the best one lies beyond them, only bounds of members that look beyond hold.
    """
    best = oracle.best
    beyond = best is not None and not lists(oracle.problem, best.decision)
    return max((m.bound for m in members if m.bound is not None and (m.beyond or not beyond)), default=None)


def _share(left: float, after: float, turns: int) -> float | None:
    """Divide what a round may spend by the turns to come; ``None`` without a limit."""
    return None if math.isinf(left) else max((left - after) / turns, 1e-6)


def _whole(count: float | None) -> int | None:
    return None if count is None else max(1, round(count))
