"""The strategy ``best-of``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heuristics import Budget, BudgetSpent, Oracle, Problem, Result

from ..registry import make_strategy
from .crew import CannotStart, Crew
from .members import Member, fitting_members, written
from .rounds import Rounds, common_bound

#: More processes than this are a slip of the pen.
MOST_CORES = 1024


@dataclass(frozen=True)
class BestOf:
    """Share one budget among several strategies, and answer with the best decision and the best bound of all.

    Decisions that one finds are where the others start, and a bound that one proves ends all as soon as the best
    decision meets it: the answer is then optimal, even if bound and decision are due to different strategies. Members
    take turns, short ones first. ``extra["best_of"]`` tells what each of them did: status, objective and bound of its
    own, evaluations, seconds; a strategy that does not take the problem is left out, and told in ``extra["left_out"]``.

    Parameters
    ----------
    strategies
        Names with ``+`` between them: ``highs+annealing``. A member may have parameters, with ``;`` between them:
        ``highs:solver=scip+genetic:population=50;mutation=0.1``. By default those among which the kind of the problem
        shares a budget (sites: one that proves, and one that searches), or what `auto` would choose, and the strategies
        that are recommended for the kind.
    cores
        Processes among which members are dealt out, where the budget is one of seconds; better decisions and bounds go
        from one to the other at once. With 1, and with a budget in evaluations, members take turns in one process, and
        the same seed and evaluations give the same answer.

    Examples
    --------
    >>> from optmodels import solve
    >>> best = solve("gautam-2x3", "best-of:strategies=annealing+exhaustive", evaluations=500)
    >>> print(best.status, best.objective, best.extra["best_of"]["bound_by"])
    optimal 8.0 exhaustive
    """

    strategies: str | None = None
    cores: int = 1

    name: ClassVar[str] = "best-of"
    needs: ClassVar[type] = Problem
    beside: ClassVar[int] = 400  # one member evaluates something of itself: clauses that, highs less

    def __post_init__(self) -> None:
        if isinstance(self.cores, bool) or not 1 <= self.cores <= MOST_CORES:
            raise ValueError(f"cores must be a whole number from 1 to {MOST_CORES}, got {self.cores!r}.")
        if self.strategies is None:
            return
        if not isinstance(self.strategies, str):
            raise ValueError(f"strategies must be a text such as 'highs+annealing', got {self.strategies!r}.")
        for label in written(self.strategies):
            make_strategy(label)

    def refuses(self, problem: Problem) -> str | None:
        """Refuse what no member takes."""
        members, left_out = fitting_members(problem, self.strategies)
        if members:
            return None
        if not left_out:
            return f"strategy {self.name!r} cannot take {problem.name!r}: no strategy that is recommended takes it."
        reason = next(iter(left_out.values()))
        return f"strategy {self.name!r} cannot take {problem.name!r}: none of {', '.join(left_out)} does; {reason}"

    def prepare(self, problem: Problem) -> None:
        """Let every member import and compile."""
        for member in fitting_members(problem, self.strategies)[0]:
            prepare = getattr(member.strategy, "prepare", None)
            if prepare is not None:
                prepare(problem)

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Let the members take turns, and close on what all of them found and proved."""
        members, left_out = fitting_members(oracle.problem, self.strategies)
        rounds: Rounds | Crew = Rounds(oracle, members, left_out)
        try:
            if self._in_processes(oracle.budget, members):
                try:
                    rounds = Crew(oracle, members, left_out, self.cores)
                    stopped_by = rounds.work(rng)
                except CannotStart as reason:
                    oracle.extra["note"] = f"all members worked in one process: {reason}."
                    rounds = Rounds(oracle, members, left_out)
                    stopped_by = rounds.work(rng)
            else:
                stopped_by = rounds.work(rng)
        except KeyboardInterrupt:
            stopped_by = "interrupt"
        oracle.extra |= self._told(rounds)
        oracle.report(common_bound(oracle, rounds.members))
        if stopped_by == "interrupt":
            raise KeyboardInterrupt
        if stopped_by in ("seconds", "evaluations", "stall"):
            raise BudgetSpent(stopped_by)
        return oracle.result(proved=rounds.infeasible, stopped_by=stopped_by)

    def _in_processes(self, budget: Budget, members: Sequence[Member]) -> bool:
        """Whether members work side by side: evaluations cannot be shared out among processes and stay the same."""
        counted = budget.evaluations is not None or budget.stall is not None
        return self.cores > 1 and len(members) > 1 and budget.seconds is not None and not counted

    def _told(self, rounds: Rounds | Crew) -> dict[str, Any]:
        """What each member did, whose decision and whose bound the answer has, and what was left out."""
        members, best = rounds.members, rounds.oracle.best
        bound = common_bound(rounds.oracle, members)
        objective = None if best is None else best.evaluation.objective
        by = next((m for m in members if objective is not None and m.objective == objective), None)
        proving = next((m for m in members if bound is not None and m.bound == bound), None)
        told: dict[str, Any] = {}
        for member in (proving, by):
            told |= {} if member is None else member.extra
        told["best_of"] = {
            "decision_by": None if by is None else by.label,
            "bound_by": None if proving is None else proving.label,
            "members": [member.to_data() for member in members],
        }
        if rounds.left_out:
            told["best_of"]["left_out"] = dict(rounds.left_out)
            told["left_out"] = " ".join(f"{label}: {sentence}" for label, sentence in rounds.left_out.items())
        return told
