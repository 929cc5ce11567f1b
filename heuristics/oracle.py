"""The one door between a strategy and a problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import clock, interrupting
from .protocols import Batch, Decision, Describing, Estimating, Evaluation, Incremental, Problem
from .result import AGREEMENT, Budget, Result, Status, TracePoint, agree, meets, nothing_feasible

if TYPE_CHECKING:
    from .oracle_walk import OracleWalk

P = TypeVar("P", bound=Problem)

#: Decisions remembered per run, how long they may be, and how many numbers they may hold together (some 40 MB); beyond
#: that the oracle forgets and evaluates again.
CACHE_ENTRIES, CACHE_LENGTH, CACHE_NUMBERS = 100_000, 5_000, 5_000_000

#: A strategy that only repeats itself would never spend its evaluations: this many repeats in a row end the run.
REPEATS = 20_000

#: Seconds between two progress reports.
PROGRESS_INTERVAL = 0.2


class BudgetSpent(Exception):  # noqa: N818 - it ends a run, it is not an error
    """Raised by the oracle when nothing is left to spend; ``run`` closes the result on the best decision so far.

    Parameters
    ----------
    limit
        What is spent: a field of `Budget`, or a strategy's own word. The result says it was stopped by this.

    Examples
    --------
    >>> print(BudgetSpent("seconds"))
    the budget of seconds is spent
    """

    def __init__(self, limit: str) -> None:
        super().__init__(f"the budget of {limit} is spent")
        self.limit = limit


class Disagreement(RuntimeError):  # noqa: N818 - the word says it
    """Two computations of one decision differ: a defect, never an answer.

    Examples
    --------
    A road that claims an objective which the evaluator does not find:

    >>> from heuristics.testing import Separable
    >>> Oracle(Separable()).confirm((1, 0, 1, 1, 0, 0, 1), claimed=0.5)
    Traceback (most recent call last):
    heuristics.oracle.Disagreement: separable: ...
    """


@dataclass(frozen=True)
class Candidate:
    """A decision and what the evaluator said about it.

    Attributes
    ----------
    decision
        In canonical form, as the space returned it.
    evaluation
        Objective, violations and measures.

    Examples
    --------
    >>> Candidate((1, 0), Evaluation(2.5)).evaluation.objective
    2.5
    """

    decision: Decision
    evaluation: Evaluation


@dataclass(frozen=True)
class Progress:
    """A glance at a run under way.

    Attributes
    ----------
    seconds
        Time since the start of the run.
    evaluations
        Decisions evaluated so far.
    objective
        Of the best feasible decision so far; ``None`` before there is one.
    bound
        The largest lower bound proved so far; ``None`` before there is one.

    Examples
    --------
    >>> Progress(seconds=0.5, evaluations=200, objective=7.0, bound=None).objective
    7.0
    """

    seconds: float
    evaluations: int
    objective: float | None
    bound: float | None


class Oracle(Generic[P]):
    """Answers for one run: evaluates, counts, remembers the best, keeps the trace and the budget.

    A strategy never reports an objective; it shows decisions, and the result is closed on the best one shown.

    Parameters
    ----------
    problem
        What is asked about.
    budget
        When to stop answering.
    progress
        Called now and then with a `Progress`.
    parent
        An oracle that pays for this one, see `part`.

    Examples
    --------
    >>> from heuristics.testing import Separable
    >>> oracle = Oracle(Separable((1, 0, 1)), Budget(evaluations=2))
    >>> oracle((0, 0, 0)).objective, oracle((1, 0, 0)).objective
    (5.0, 4.0)
    >>> oracle.best.decision
    (1, 0, 0)
    >>> oracle((1, 0, 1))
    Traceback (most recent call last):
    heuristics.oracle.BudgetSpent: the budget of evaluations is spent
    >>> print(oracle.result().status)
    feasible
    """

    def __init__(
        self,
        problem: P,
        budget: Budget | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        parent: Oracle[Any] | None = None,
    ) -> None:
        self.problem = problem
        self.budget: Budget = budget or (Budget() if parent is None else parent.budget)
        self.best: Candidate | None = None
        self.nearest: Candidate | None = None  # to being feasible, as long as nothing is
        self.bound: float | None = None
        self.evaluations = 0
        self.judged_in_full = 0
        self.extra: dict[str, Any] = {}
        self._parent = parent
        self._progress = progress
        self._reported = 0.0
        self._started = clock.start()
        self._batch: Batch | None = problem if isinstance(problem, Batch) else None
        self._cache: dict[Decision, Evaluation] = {}
        self._cached_numbers = 0
        self._trace: list[TracePoint] = []
        self._improved_at = 0
        self._repeats = 0

    def restart(self, spent: float) -> None:
        """Set the clock of the run to `spent` seconds."""
        self._started = clock.start() - spent

    # -- asking -------------------------------------------------------------------------------------------------------

    def __call__(self, decision: Decision) -> Evaluation:
        """Evaluate one decision; a repeated one is answered from memory and costs nothing."""
        decision, known = self._recall(decision)
        if known is not None:
            return known
        self._require(1)
        with self.in_time():  # one evaluation may take long, too
            evaluation = self._judge(decision)
        self.charge(1)
        self._consider(decision, evaluation)
        return evaluation

    def many(self, decisions: Sequence[Decision]) -> list[Evaluation]:
        """Evaluate several decisions, sharing work where the problem can (`Batch`).

        If the budget ends in the middle, the part that fits is evaluated and remembered before `BudgetSpent` is raised.
        """
        if self._batch is None:
            return [self(decision) for decision in decisions]
        recalled = [self._recall(decision) for decision in decisions]
        answers = [known for _, known in recalled]
        asked: list[int] = []
        first: dict[Decision, int] = {}  # a decision that stands in the list twice is evaluated once
        repeated: list[tuple[int, int]] = []
        for i, (decision, known) in enumerate(recalled):
            if known is not None:
                continue
            try:
                earlier = first.setdefault(decision, i)
            except TypeError:  # an array
                earlier = i
            if earlier == i:
                asked.append(i)
            else:
                repeated.append((i, earlier))
        while asked:
            self._require(1)
            fitting = asked[: int(min(len(asked), self.remaining_evaluations))]
            asked = asked[len(fitting) :]
            with self.in_time():
                evaluations = self._batch.evaluate_many([recalled[i][0] for i in fitting])
            self._count_full(len(fitting))
            self.charge(len(fitting))
            for i, evaluation in zip(fitting, evaluations, strict=True):
                answers[i] = self._numbers_only(recalled[i][0], evaluation)
                self._remember(recalled[i][0], evaluation)
                self._consider(recalled[i][0], evaluation)
        for i, earlier in repeated:
            answers[i] = answers[earlier]
        return [answer for answer in answers if answer is not None]

    def confirm(self, decision: Decision, claimed: float | None = None, size: float = 0.0) -> Evaluation:
        """Evaluate in full, free of charge, a decision that was already paid for by another road.

        Parameters
        ----------
        decision
            Found by an incremental walk or by a solver with its own clock.
        claimed
            The objective this road computed; the evaluator must agree, and find the decision feasible.
        size
            Of the numbers `claimed` was summed up from, see `agree`.

        Raises
        ------
        Disagreement
            If it does not.
        """
        decision, evaluation = self._known(decision)  # not counted as a repeat: the last word never ends a run
        if evaluation is None:
            evaluation = self._judge(decision)
        if claimed is not None:
            if not evaluation.feasible:
                broken = ", ".join(
                    f"{name} by {amount:g}" for name, amount in evaluation.violations.items() if amount > 0
                )
                raise Disagreement(
                    f"{self.problem.name}: a decision claimed feasible breaks {broken} when the evaluator judges it."
                )
            if not agree(claimed, evaluation.objective, size):
                raise Disagreement(
                    f"{self.problem.name}: objective {claimed!r} was claimed where the evaluator finds "
                    f"{evaluation.objective!r}."
                )
        self._consider(decision, evaluation)
        return evaluation

    def walk(self, decision: Decision) -> OracleWalk:
        """Start a walk at `decision` (the problem must be `Incremental`); its steps are charged to this oracle."""
        from .oracle_walk import OracleWalk  # it is not needed by strategies that do not walk

        if not isinstance(self.problem, Incremental):
            raise TypeError(f"{self.problem.name} is not an incremental problem: it has no method 'start'.")
        decision = self.problem.space.check(decision)
        self(decision)
        return OracleWalk(self, self.problem.start(decision))

    def part(self, problem: P) -> Oracle[P]:
        """Make an oracle for a part of the problem that spends the budget of this one."""
        return Oracle(problem, parent=self)

    # -- paying -------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Wall-clock time since the start of the run, but for what went into compiling (see `heuristics.clock`)."""
        return self._parent.seconds if self._parent else clock.now() - self._started

    @property
    def remaining_seconds(self) -> float:
        """What is left of the time limit, ``inf`` without one, never negative."""
        if self._parent:
            return self._parent.remaining_seconds
        return math.inf if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds)

    @property
    def remaining_evaluations(self) -> float:
        """Decisions that may still be evaluated (stall included), ``inf`` without a limit."""
        if self._parent:
            return self._parent.remaining_evaluations
        left = math.inf
        if self.budget.evaluations is not None:
            left = self.budget.evaluations - self.evaluations
        if self.budget.stall is not None:
            left = min(left, self.budget.stall - (self.evaluations - self._improved_at))
        return max(0, left)

    def charge(self, count: int) -> None:
        """Count decisions evaluated, whichever road they took."""
        self.evaluations += count
        self._repeats = 0
        if self._parent:
            self._parent.charge(count)
        elif self._progress and self.seconds - self._reported > PROGRESS_INTERVAL:
            self.report()

    def report(self, bound: float | None = None) -> None:
        """Tell the progress callback how things stand; note a better proved `bound`."""
        if bound is not None and math.isfinite(bound) and (self.bound is None or bound > self.bound):
            self.bound = bound
            self._trace.append(TracePoint(self.seconds, self.evaluations, None, bound))
        if self._progress:
            self._reported = self.seconds
            self._progress(Progress(self.seconds, self.evaluations, self._objective, self.bound))

    def withdraw(self, bound: float | None) -> None:
        """Take back claims of bounds that a better decision has refuted, but for what is proved without them."""
        self.bound = bound
        self._trace = [replace(point, bound=bound) for point in self._trace if point.objective is not None]

    def require(self) -> None:
        """Raise `BudgetSpent` if nothing is left: for loops that do much between two questions."""
        self._require(1)

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """A block of long computations that are given up, with `BudgetSpent`, when the seconds are over."""
        with interrupting.within(self._require_seconds):
            yield

    # -- closing ------------------------------------------------------------------------------------------------------

    def result(
        self,
        incumbent: Decision | None = None,
        *,
        claimed: float | None = None,
        bound: float | None = None,
        proved: bool = False,
        stopped_by: str = "complete",
        extra: Mapping[str, Any] | None = None,
    ) -> Result:
        """Close the run on the best feasible decision shown.

        Parameters
        ----------
        incumbent
            A last decision to show; this last word is free, so that a clock that ran out does not lose it.
        claimed
            The objective the strategy believes `incumbent` has, see `confirm`.
        bound
            A proved lower bound on the objective of every feasible decision.
        proved
            The search was complete: the best decision is optimal, or without one the problem is infeasible; unless
            the problem says that it only estimates.
        stopped_by
            Why the run ended.
        extra
            Detail for the reader.
        """
        if incumbent is not None:
            self.confirm(incumbent, claimed)
        self.report(bound)
        objective = self._objective
        if proved and isinstance(self.problem, Estimating) and self.problem.estimated:
            proved = False
            self.extra["unproved"] = "all decisions were judged, but judgements are estimates with errors that matter"
        if objective is None:
            status = Status.INFEASIBLE if proved else Status.UNKNOWN
            self.extra |= nothing_feasible(
                self.problem, None if self.nearest is None else self.nearest.evaluation, proved
            )
        else:
            if self.bound is not None and self.bound > objective + AGREEMENT * abs(objective):
                raise Disagreement(
                    f"{self.problem.name}: a bound of {self.bound!r} was claimed, but a feasible decision has "
                    f"{objective!r}."
                )
            status = Status.OPTIMAL if proved or self.settled else Status.FEASIBLE
            if proved:  # nothing is left that could be better
                self.bound = objective
            elif self.bound is not None:  # two roads round differently; what is proved of a number holds below it
                self.bound = min(self.bound, objective)
        detail = dict(self.extra)
        if self.best is not None and isinstance(self.problem, Describing):
            detail |= self.problem.describe(self.best.decision)
        detail |= extra or {}
        return Result(
            problem=self.problem.name,
            status=status,
            decision=None if self.best is None else self.best.decision,
            evaluation=None if self.best is None else self.best.evaluation,
            bound=self.bound,
            stopped_by=stopped_by,
            evaluations=self.evaluations,
            judged_in_full=self.judged_in_full,
            seconds=self.seconds,
            trace=tuple(self._trace),
            extra=detail,
        )

    @property
    def settled(self) -> bool:
        """Whether the bound meets the best decision, so that there is nothing left to look for."""
        return self.bound is not None and self.meets(self.bound)

    def meets(self, bound: float) -> bool:
        """Tell whether a bound is so close to the best decision that it proves it optimal."""
        return self._objective is not None and meets(bound, self._objective)

    # -- inside -------------------------------------------------------------------------------------------------------

    @property
    def _objective(self) -> float | None:
        return None if self.best is None else self.best.evaluation.objective

    def _require(self, count: int) -> None:
        interrupting.check()
        if self._parent:
            self._parent._require(count)
            return
        self._require_seconds()
        if self.remaining_evaluations < count:
            spent = self.budget.evaluations is not None and self.evaluations + count > self.budget.evaluations
            raise BudgetSpent("evaluations" if spent else "stall")

    def _require_seconds(self) -> None:
        if self.remaining_seconds <= 0:
            raise BudgetSpent("seconds")

    def _known(self, decision: Decision) -> tuple[Decision, Evaluation | None]:
        """The decision in canonical form, and what is remembered about it."""
        try:
            known = self._cache.get(decision)
        except TypeError:  # a list or an array
            known = None
        if known is not None and type(decision) is tuple:
            return decision, known
        decision = self.problem.space.check(decision)
        try:
            return decision, self._cache.get(decision)
        except TypeError:  # an array: too long to remember
            return decision, None

    def _recall(self, decision: Decision) -> tuple[Decision, Evaluation | None]:
        """As `_known`; a strategy that only repeats itself is ended here."""
        decision, known = self._known(decision)
        if known is not None:
            self._repeats += 1
            if self._repeats > REPEATS:
                raise BudgetSpent("repeats")
            if self._repeats % 64 == 0 and self.remaining_seconds <= 0:
                raise BudgetSpent("seconds")
        return decision, known

    def _remember(self, decision: Decision, evaluation: Evaluation) -> None:
        if not isinstance(decision, tuple) or len(decision) > CACHE_LENGTH:
            return
        if len(self._cache) >= CACHE_ENTRIES or self._cached_numbers >= CACHE_NUMBERS:
            self._cache.clear()
            self._cached_numbers = 0
        self._cache[decision] = evaluation
        self._cached_numbers += len(decision)

    def _judge(self, decision: Decision) -> Evaluation:
        evaluation = self._numbers_only(decision, self.problem.evaluate(decision))
        self._count_full(1)
        self._remember(decision, evaluation)
        return evaluation

    def _numbers_only(self, decision: Decision, evaluation: Evaluation) -> Evaluation:
        if math.isnan(evaluation.objective) or math.isnan(evaluation.violation):
            raise Disagreement(
                f"{self.problem.name}: the evaluator found no number (nan) for decision {decision!r:.200}."
            )
        return evaluation

    def _count_full(self, count: int) -> None:
        self.judged_in_full += count
        if self._parent:
            self._parent._count_full(count)

    def _consider(self, decision: Decision, evaluation: Evaluation) -> None:
        if not evaluation.feasible:
            if self.best is None and evaluation.violation < (
                math.inf if self.nearest is None else self.nearest.evaluation.violation
            ):
                self.nearest = Candidate(decision, evaluation)
            return
        if self._objective is None or evaluation.objective < self._objective:
            self.best = Candidate(decision, evaluation)
            self._improved_at = self.evaluations
            self._trace.append(TracePoint(self.seconds, self.evaluations, evaluation.objective, self.bound))
            self.report()
