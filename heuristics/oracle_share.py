"""An oracle for one of several strategies that work for the same run, each with a share of its budget."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from .oracle import BudgetSpent, Oracle
from .protocols import Decision, Evaluation, Problem
from .result import Budget, Result

P = TypeVar("P", bound=Problem)


class Share(Oracle[P]):
    """Answers one strategy within a share of a run's budget, and shows all that it finds to the run.

    What this oracle remembers as best, proved and spent is the strategy's own. The oracle of the run sees every
    decision and every bound as well, pays for each evaluation, and remembers evaluations for all: a decision that one
    strategy has asked about is free for the next.

    Parameters
    ----------
    whole
        The oracle of the run.
    problem
        That of the run, or one with the same decisions and the same evaluator.
    budget
        The share: it ends with these seconds and evaluations, or with the budget of the run, whichever is first.
    bounds
        Whether what this strategy proves holds for the decisions of all others. If so its bounds are told to the run,
        and it ends as soon as the best bound of all meets the best decision of all.

    Examples
    --------
    >>> from heuristics.testing import Separable
    >>> whole = Oracle(Separable((1, 0, 1)), Budget(evaluations=3))
    >>> first, second = (Share(whole, whole.problem, Budget(evaluations=2)) for _ in range(2))
    >>> first((0, 0, 0)).objective, first((1, 0, 0)).objective, second((1, 0, 0)).objective
    (5.0, 4.0, 4.0)
    >>> whole.evaluations, second.evaluations, second.best.decision
    (2, 0, (1, 0, 0))
    >>> first((1, 0, 1))
    Traceback (most recent call last):
    heuristics.oracle.BudgetSpent: the budget of evaluations is spent
    """

    def __init__(self, whole: Oracle[Any], problem: P, budget: Budget | None = None, *, bounds: bool = True) -> None:
        super().__init__(problem, budget or Budget(), parent=whole)
        self._whole = whole
        self._cache = whole._cache
        self._began = whole.seconds
        self._bounds = bounds
        self._closing = False

    @property
    def spent_seconds(self) -> float:
        """Seconds since this share began."""
        return self.seconds - self._began

    @property
    def remaining_seconds(self) -> float:
        """What is left of the share's time, never more than the run has left."""
        own = math.inf if self.budget.seconds is None else self.budget.seconds - self.spent_seconds
        return max(0.0, min(own, self._whole.remaining_seconds))

    @property
    def remaining_evaluations(self) -> float:
        """What is left of the share's evaluations, never more than the run has left."""
        own = math.inf if self.budget.evaluations is None else self.budget.evaluations - self.evaluations
        return max(0, min(own, self._whole.remaining_evaluations))

    @property
    def settled(self) -> bool:
        """Whether nothing is left to look for: by what was found here or, if bounds hold for all, by all together."""
        return super().settled or (self._bounds and not self._closing and self._whole.settled)

    def report(self, bound: float | None = None) -> None:
        """Note a better proved `bound`, here and, if bounds hold for all, for the run."""
        super().report(bound)
        if bound is not None and self._bounds:
            self._whole.report(bound)

    def result(self, *incumbent: Decision, **told: Any) -> Result:
        """Close on the best decision shown here; what others have proved of it is not this strategy's merit."""
        self._closing = True
        try:
            return super().result(*incumbent, **told)
        finally:
            self._closing = False

    # -- inside -------------------------------------------------------------------------------------------------------

    def _require(self, count: int) -> None:
        super()._require(count)
        self._require_seconds()
        if self.remaining_evaluations < count:
            raise BudgetSpent("evaluations")
        if self._bounds and self._whole.settled:
            raise BudgetSpent("settled")

    def _recall(self, decision: Decision) -> tuple[Decision, Evaluation | None]:
        decision, known = super()._recall(decision)
        if known is not None:  # another strategy may have asked: here it is new
            self._consider(decision, known)
        return decision, known

    def _remember(self, decision: Decision, evaluation: Evaluation) -> None:
        self._whole._remember(decision, evaluation)

    def _consider(self, decision: Decision, evaluation: Evaluation) -> None:
        super()._consider(decision, evaluation)
        self._whole._consider(decision, evaluation)


def adopt(whole: Oracle[Any], decision: Decision, evaluation: Evaluation) -> None:
    """Show a decision that was evaluated elsewhere, in a process that works for the run, to the oracle of the run.

    It is evaluated anew, as every answer, if the run is closed on it.

    Parameters
    ----------
    whole
        The oracle of the run.
    decision
        In canonical form.
    evaluation
        What the problem said of it there.

    Examples
    --------
    >>> from heuristics.testing import Separable
    >>> whole = Oracle(Separable((1, 0, 1)))
    >>> adopt(whole, (1, 0, 0), Evaluation(4.0))
    >>> whole.best.decision, whole.evaluations
    ((1, 0, 0), 0)
    """
    whole._consider(decision, evaluation)
