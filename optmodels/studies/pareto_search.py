r"""Two roads to a Pareto front: evaluate every decision, or solve again and again under limits on one measure.

A point (a, b) is on the *front* if no other is as good in both numbers and better in one. It is *supported* if it lies
on the lower left convex hull of all points: then some weight :math:`w \ge 0` makes it the least of :math:`a + w b`. A
point of the front above the hull is the least of no weighted sum; its height above the hull, in units of a, is the gap
that no Lagrange multiplier closes in the problem "least a while b stays at most what this point has".
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heuristics import (
    NOTHING,
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
    word_of,
)
from heuristics.search import LARGEST_BATCH

from ..costs import ROUNDING, Limit, Limits, WeightedSum
from ..errors import RequestError
from ..protocols import has_objective, limits_of
from ..results import plain
from ..solving import solve
from .runs import BatchProgress

# -- points that are worth having --------------------------------------------------------------------------------------

Floats = NDArray[np.float64]

#: Numbers this close are one number computed twice: relative to themselves, and to the largest.
SAME, SAME_OF_LARGEST = 1e-9, 1e-15

#: A point counts as on the hull if it is no further above it than this part of what the front spans.
ON_HULL = 1e-10

#: Points merged into an archive at a time.
MERGED_AT_ONCE = 4096

#: Points kept for the reader's eye; more are thinned out evenly.
SHOWN = 20_000


@dataclass(frozen=True)
class Candidate:
    """A decision and its two numbers, both to be small.

    Attributes
    ----------
    first, second
        The numbers.
    decision
        The first decision met that has them.
    equivalent
        How many decisions have them.
    proved
        No feasible decision with as small a second number has a smaller first one.
    measures
        All the problem tells.
    """

    first: float
    second: float
    decision: Decision
    equivalent: int = 1
    proved: bool = True
    measures: Mapping[str, float | None] = field(default_factory=lambda: NOTHING)


class Support(NamedTuple):
    """Where a point of the front lies with respect to the hull.

    Attributes
    ----------
    weights
        Smallest and largest weight of the second number for which the point is the least of the weighted sum, ``inf``
        without end; ``None`` if there is none.
    gap
        Height above the hull in units of the first number, 0 on it.
    """

    weights: tuple[float, float] | None
    gap: float


class Archive:
    """The front of all points shown so far, and a sample of the others."""

    def __init__(self) -> None:
        self.count = 0
        self._front: list[Candidate] = []
        self._new: list[Candidate] = []
        self._shown: list[tuple[float, float]] = []
        self._stride = 1

    def add(self, candidate: Candidate) -> None:
        """Take a point into account; of equal ones the first is kept."""
        if self.count % self._stride == 0:
            self._shown.append((candidate.first, candidate.second))
            if len(self._shown) > SHOWN:
                self._shown, self._stride = self._shown[::2], 2 * self._stride
        self.count += 1
        self._new.append(candidate)
        if len(self._new) >= MERGED_AT_ONCE:
            self.front()

    def front(self) -> tuple[Candidate, ...]:
        """Points that no other one dominates, those with the smallest first number first."""
        self._front, self._new = non_dominated([*self._front, *self._new]), []
        return tuple(self._front)

    def dominated(self) -> tuple[tuple[float, float], ...]:
        """Points that are not on the front, without repeats; a sample if they are many."""
        kept = {(point.first, point.second) for point in self.front()}
        return tuple(sorted(set(self._shown) - kept))


def non_dominated(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The front of some points, with equal ones (up to rounding) counted in the first of them."""
    if not candidates:
        return []
    first = merged(np.array([one.first for one in candidates]))
    second = merged(np.array([one.second for one in candidates]))
    front: list[Candidate] = []
    lowest, leftmost = math.inf, math.inf
    for index in np.lexsort((np.arange(len(candidates)), second, first)).tolist():
        one = candidates[index]
        if second[index] < lowest:
            front.append(one)
            lowest, leftmost = second[index], first[index]
        elif second[index] == lowest and first[index] == leftmost:
            known = front[-1]
            front[-1] = replace(known, equivalent=known.equivalent + one.equivalent, proved=known.proved or one.proved)
    return front


def merged(values: Floats) -> Floats:
    """The same numbers, those that differ by rounding alone made equal."""
    order = np.argsort(values, kind="stable")
    rising = values[order]
    apart = SAME * np.abs(rising[1:]) + SAME_OF_LARGEST * np.abs(values).max()
    starts = np.concatenate(([True], np.diff(rising) > apart))
    equal = np.empty_like(values)
    equal[order] = rising[starts][np.cumsum(starts) - 1]
    return equal


def supports(front: Sequence[tuple[float, float]]) -> list[Support]:
    """Weights and gap of each point of a front (first numbers rising, second ones falling)."""
    if not front:
        return []
    points = np.array(front, dtype=np.float64)
    span = np.maximum(np.ptp(points, axis=0), np.finfo(float).tiny)
    corners = _corners((points - points.min(axis=0)) / span)
    slopes = [
        (points[after, 0] - points[before, 0]) / (points[before, 1] - points[after, 1])
        for before, after in pairwise(corners)
    ]
    bounds = [0.0, *slopes, math.inf]
    found: list[Support] = []
    edge = 0
    for index, (first, second) in enumerate(points.tolist()):
        if edge + 1 < len(corners) and index >= corners[edge + 1]:
            edge += 1
        if index == corners[edge]:
            found.append(Support((float(bounds[edge]), float(bounds[edge + 1])), 0.0))
            continue
        start, slope = points[corners[edge]], float(slopes[edge])
        height = first - float(start[0] + slope * (start[1] - second))
        found.append(Support((slope, slope), 0.0) if height <= ON_HULL * span[0] else Support(None, float(height)))
    return found


def _corners(points: Floats) -> list[int]:
    """Indices of the corners of the lower left hull of a front, from the smallest first number on."""
    corners: list[int] = []
    for index, (first, second) in enumerate(points.tolist()):
        while len(corners) > 1:
            (a, b), (c, d) = points[corners[-2]].tolist(), points[corners[-1]].tolist()
            # The corner in the middle goes if the line past it runs at or below it.
            if (c - a) * (b - second) >= (first - a) * (b - d):
                corners.pop()
            else:
                break
        corners.append(index)
    return corners


# -- two roads to a front ----------------------------------------------------------------------------------------------

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
        sense, colon, name = text.rpartition(":") if isinstance(text, str) else ("", "", "")
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
    except (BudgetSpent, KeyboardInterrupt) as ended:
        stopped_by = word_of(ended)
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
                f"strategy {self.strategy.name!r} does not handle limits on measures of {self.problem.name!r}, and the "
                f"front is found by limits on {self.second.measure!r}; choose one that does, such as 'annealing'."
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
