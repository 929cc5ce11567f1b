"""Two roads to a Pareto front: evaluate every decision, or solve again and again under limits on one measure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice, pairwise
from typing import Any

from heuristics import (
    Batch,
    Budget,
    BudgetSpent,
    Decision,
    Evaluation,
    Oracle,
    Problem,
    Status,
    Strategy,
    UnsupportedProblem,
    clock,
    interrupting,
    refusal,
)
from heuristics.search import LARGEST_BATCH

from ..costs import ROUNDING, Limit, Limits, WeightedSum
from ..errors import RequestError
from ..protocols import has_objective, limits_of
from ..results import plain
from ..solving import solve
from .pareto_points import Archive, Candidate
from .runs import BatchProgress

#: Runs of a strategy that spread points over the front before gaps between neighbours are closed one by one.
OVERVIEW = 15

#: A step past a limit: beyond the rounding that a limit allows.
STEP, STEP_OF_LARGEST = 3 * ROUNDING, 1e-12


@dataclass(frozen=True)
class Objective:
    """A measure and whether less or more of it is wanted.

    >>> Objective.parse("max:success")
    Objective(measure='success', maximise=True)
    """

    measure: str
    maximise: bool = False

    @classmethod
    def parse(cls, text: str | Objective) -> Objective:
        """Read ``loss``, ``min:loss`` (the same) or ``max:success``."""
        if isinstance(text, Objective):
            return text
        sense, colon, name = text.rpartition(":")
        if (colon and sense not in ("min", "max")) or not name:
            raise RequestError(f"a measure is written loss, min:loss or max:success, got {text!r}.")
        return cls(name, sense == "max")

    @property
    def sign(self) -> float:
        """What makes the measure a number to be small."""
        return -1.0 if self.maximise else 1.0


@dataclass(frozen=True)
class Found:
    """What either road brings home."""

    archive: Archive
    exact: bool
    stopped_by: str
    runs: int
    evaluations: int


def with_cost(problem: Problem, cost: WeightedSum, limits: Limits | None = None) -> Problem:
    """The problem with another cost, and with other limits if given."""
    anything: Any = problem
    known = {entry.name for entry in fields(anything)} if is_dataclass(anything) else set()
    changes: dict[str, Any] = {"cost": cost} if limits is None else {"cost": cost, "limits": limits}
    if set(changes) <= known:
        changed: Problem = replace(anything, **changes)
        return changed
    if limits is None and has_objective(problem):
        return problem  # its own cost does no harm: decisions are evaluated by their measures
    lacking = ", ".join(sorted(set(changes) - known))
    raise RequestError(f"the front of {problem.name!r} cannot be made this way: the problem takes no other {lacking}.")


def enumerated(
    problem: Problem, first: Objective, second: Objective, budget: Budget, progress: BatchProgress | None
) -> Found:
    """Evaluate every decision of the space, and keep those that no other one dominates."""
    oracle, archive, stopped_by = Oracle(problem, budget), Archive(), "complete"
    try:
        with interrupting.deferred():
            for decision, judged in _judged(oracle, progress):
                candidate = _candidate(decision, judged, first, second)
                if candidate is not None:
                    archive.add(candidate)
    except BudgetSpent as spent:
        stopped_by = spent.limit
    except KeyboardInterrupt:
        interrupting.answered()
        stopped_by = "interrupt"
    return Found(archive, stopped_by == "complete", stopped_by, 1, oracle.evaluations)


def _judged(oracle: Oracle[Problem], progress: BatchProgress | None) -> Iterator[tuple[Decision, Evaluation]]:
    """Every decision and its evaluation, work shared where the problem can."""
    decisions, size = iter(oracle.problem.space), int(oracle.problem.space.size)
    count = 16
    while batch := list(islice(decisions, int(max(1, min(count, oracle.remaining_evaluations))))):
        began = clock.now()
        if isinstance(oracle.problem, Batch):
            yield from zip(batch, oracle.many(batch), strict=True)
        else:
            for decision in batch:
                yield decision, oracle(decision)
        if clock.now() - began < 0.1:
            count = min(2 * count, LARGEST_BATCH)
        if progress:
            progress(oracle.evaluations, size, oracle.problem.name)


def _candidate(
    decision: Decision, judged: Evaluation, first: Objective, second: Objective, proved: bool = True
) -> Candidate | None:
    """The point of a feasible decision; ``None`` if it is not one, or has no such measure."""
    if not judged.feasible:
        return None
    a, b = judged.measures[first.measure], judged.measures[second.measure]
    if a is None or b is None:
        return None
    return Candidate(first.sign * a, second.sign * b, decision, 1, proved, judged.measures)


def require(problem: Problem, strategy: Strategy) -> None:
    """Refuse a problem that a strategy cannot take, or limits on it."""
    sentence = refusal(problem, strategy)
    if sentence:
        raise UnsupportedProblem(sentence)


@dataclass
class Sweep:
    """The epsilon-constraint method: least first measure under limits on the second.

    Between neighbours p and q of the front (p better in the first measure) the second one lies in an open interval. A
    run with a limit in it answers q, and closes the part up to the limit, or finds a point between them.
    """

    problem: Problem
    first: Objective
    second: Objective
    strategy: Strategy
    budget: Budget
    seed: int
    most: int
    progress: BatchProgress | None
    archive: Archive = field(default_factory=Archive)
    runs: int = 0
    evaluations: int = 0
    proved: bool = True
    limits_tried: list[float] = field(default_factory=list)
    met: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        require(self.problem, self.strategy)
        if refusal(self._limited(0.0), self.strategy):
            raise UnsupportedProblem(
                f"strategy {self.strategy.name!r} takes no limits on measures of {self.problem.name!r}, and a front is "
                f"made by limiting {self.second.measure!r}; name one that takes them, such as 'annealing'."
            )

    def done(self) -> Found:
        """Ask until the front is closed, the runs are spent, or somebody has seen enough."""
        try:
            stopped_by = self._ask_on()
        except KeyboardInterrupt:
            interrupting.answered()
            stopped_by = "interrupt"
        exact = self.proved and stopped_by == "complete"
        return Found(self.archive, exact, stopped_by, self.runs, self.evaluations)

    def _ask_on(self) -> str:
        if self._run(self.problem) is None:
            return "complete"
        least = self._run(with_cost(self.problem, WeightedSum({self.second.measure: self.second.sign})), proves=False)
        if least is not None and self.runs < self.most:
            self._run_within(least.second)
        while True:
            gaps = self._gaps()
            if not gaps:
                return "complete"
            if self.runs >= self.most:
                return "runs"
            _, low, high = max(gaps)
            if self.runs < OVERVIEW:
                self._run_within((low + high) / 2)
            elif self.proved:
                self._run_within(high - self._step(high))
            else:
                return "complete"  # to close gaps one by one is worth while only if that proves something

    def _gaps(self) -> list[tuple[float, float, float]]:
        """Room left between neighbours: its area, and from where to where the second measure is not yet known."""
        gaps = []
        for before, after in pairwise(self.archive.front()):
            tried = [limit for limit in self.limits_tried if after.second <= limit < before.second]
            low = max([after.second, *tried])
            if before.second - low > 1.5 * self._step(before.second):
                gaps.append(((before.second - low) * (after.first - before.first), low, before.second))
        return gaps

    def _step(self, value: float) -> float:
        largest = max(abs(one.second) for one in self.archive.front())
        return STEP * abs(value) + STEP_OF_LARGEST * largest

    def _limited(self, value: float) -> Problem:
        """The problem with the second measure no worse than `value` (of the number to be small)."""
        known = limits_of(self.problem)
        old = known.by_measure.get(self.second.measure, Limit())
        if self.second.maximise:
            new = Limit(max(old.minimum, -value), old.maximum)
        else:
            new = Limit(old.minimum, min(old.maximum, value))
        limits = Limits({**known.by_measure, self.second.measure: new})
        return with_cost(self.problem, WeightedSum({self.first.measure: self.first.sign}), limits)

    def _run_within(self, value: float) -> None:
        self.limits_tried.append(value)
        self._run(self._limited(value))

    def _run(self, problem: Problem, *, proves: bool = True) -> Candidate | None:
        """One run; its answer goes into the archive."""
        result = solve(problem, self.strategy, budget=self.budget, seed=self.seed)
        self.runs += 1
        self.evaluations += result.evaluations
        self.proved &= result.status in (Status.OPTIMAL, Status.INFEASIBLE)
        candidate = None
        if result.evaluation is not None:
            optimal = proves and result.status is Status.OPTIMAL
            candidate = _candidate(result.decision, result.evaluation, self.first, self.second, optimal)
        if candidate is not None:
            name = json.dumps(plain(candidate.decision))  # a decision met again is no other one with the same measures
            self.archive.add(replace(candidate, equivalent=0) if name in self.met else candidate)
            self.met.add(name)
        if self.progress:
            self.progress(self.runs, self.most, f"{len(self.archive.front())} points")
        if result.stopped_by == "interrupt":
            raise KeyboardInterrupt
        return candidate
