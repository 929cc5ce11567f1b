"""All statistics of a comparison with one call: `judge`.

Gaps are relative distances to the reference of a problem (`references`), as in the tables; a run that found nothing, or
failed, has an infinite gap, and so it is worse than any answer. Values of one strategy on one problem are medians over
seeds; values of a strategy over all problems are medians of these. Worst means worst: over all runs. Integrals are
means of the gap over the horizon, between 0 and 1, where the horizon is the budget, or without one the longest run on
the problem. A failed run is charged the whole horizon. Runs whose status is ``not applicable`` are no failures: they
have no part in medians and tests, and count as never solved in profiles and ECDF, where all must have the same
instances.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heuristics import OPTIMALITY_TOLERANCE, Budget, Status, relative_gap

from .anytime import (
    TARGETS,
    Clock,
    StepCurve,
    curve_of,
    expected_running_time,
    primal_dual_gap,
    primal_dual_integral,
    primal_gap,
    primal_integral,
    times_to_targets,
)
from .distributions import Matrix, Vector
from .intervals import CONFIDENCE, RESAMPLES, Interval, median_interval, nested_interval
from .pairs import compare_pairs
from .ranks import rank_strategies
from .references import NOT_APPLICABLE, Compared, JudgedRun, Reference, references_of
from .scores import Score, Standing, Statistics, table_of
from .sentences import sentences_of

CLOCKS: tuple[Clock, Clock] = ("seconds", "evaluations")


def judge(
    comparison: Compared,
    *,
    proved: Collection[str] | None = None,
    targets: Sequence[float] = TARGETS,
    clock: Clock = "seconds",
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Statistics:
    """Compute all statistics of a comparison: gaps, integrals, times to targets, intervals, tests, and a summary.

    Parameters
    ----------
    comparison
        Its runs, best known objectives and budget: a `optmodels.studies.Comparison`.
    proved
        Problems whose file says that its best known is proved; ``None`` takes them from the comparison, if it tells.
    targets
        Relative gaps to the reference.
    clock
        What time of integrals is counted in; times to targets are given by both.
    confidence, resamples, seed
        Of the bootstrap intervals.

    Returns
    -------
    Statistics
        For tables and reports.

    Examples
    --------
    >>> from optmodels import compare
    >>> statistics = judge(compare("instances/placement/gautam-2x3.json", ["exhaustive", "dejavu"]))
    >>> statistics.references["gautam-2x3"].proved
    True
    >>> print(statistics.sentences[0])
    On one problem nobody can be said to be better: six or more that differ are needed for a test.
    """
    wanted = tuple(float(target) for target in targets)
    told: Collection[str] = getattr(comparison, "proved", ()) if proved is None else proved
    runs = comparison.runs
    problems = tuple(dict.fromkeys(run.problem for run in runs))
    strategies = tuple(dict.fromkeys(run.strategy for run in runs))
    fitting = [run for run in runs if run.status != NOT_APPLICABLE]
    references = {problem: Reference(problem, None, "", False) for problem in problems} | references_of(
        fitting, comparison.best_known, told
    )
    horizons = {by: _horizons(fitting, problems, comparison.budget, by) for by in CLOCKS}
    groups: dict[tuple[str, str], list[JudgedRun]] = {}
    unfit: dict[tuple[str, str], int] = {}
    for run in runs:
        cell = run.problem, run.strategy
        if run.status == NOT_APPLICABLE:
            unfit[cell] = unfit.get(cell, 0) + 1
        else:
            groups.setdefault(cell, []).append(run)
    drawing = _Drawing(confidence, resamples, seed)
    scores = {
        cell: _score(group, references[cell[0]], {by: horizons[by][cell[0]] for by in CLOCKS}, wanted, clock, drawing)
        for cell, group in groups.items()
    }
    gaps = table_of(scores, problems, strategies, lambda score: score.median_gap)
    ranking = rank_strategies(gaps)
    lowest = np.nanmin(np.where(np.isnan(gaps), math.inf, gaps), axis=1, keepdims=True) if gaps.size else gaps
    with np.errstate(invalid="ignore"):
        ahead = (gaps <= lowest + OPTIMALITY_TOLERANCE) & np.isfinite(gaps)
    standings = {
        strategy: _standing(
            strategy,
            [score for (_, name), score in scores.items() if name == strategy],
            tuple(problem for problem, name in unfit if name == strategy),
            int(ahead[:, place].sum()),
            ranking.mean_ranks[place],
            drawing,
        )
        for place, strategy in enumerate(strategies)
    }
    tests = compare_pairs(
        {name: gaps[:, place] for place, name in enumerate(strategies)}, tolerance=OPTIMALITY_TOLERANCE
    )
    found = (problems, strategies, references, wanted, clock, horizons[clock], scores, standings, tests, ranking, unfit)
    return Statistics(*found, sentences_of(Statistics(*found)))


# -- inside ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawing:
    """How intervals are drawn."""

    confidence: float
    resamples: int
    seed: int

    def nested(self, groups: Sequence[ArrayLike]) -> Interval | None:
        return nested_interval(groups, confidence=self.confidence, resamples=self.resamples, seed=self.seed)

    def single(self, values: ArrayLike) -> Interval | None:
        return median_interval(values, confidence=self.confidence, resamples=self.resamples, seed=self.seed)


def _horizons(runs: Iterable[JudgedRun], problems: Iterable[str], budget: Budget, clock: Clock) -> dict[str, float]:
    given = getattr(budget, clock)
    if given is not None:
        return dict.fromkeys(problems, float(given))
    longest = dict.fromkeys(problems, 0.0)
    for run in runs:
        longest[run.problem] = max(longest[run.problem], float(getattr(run.result, clock)))
    return longest


def _score(
    runs: Sequence[JudgedRun],
    reference: Reference,
    horizons: Mapping[Clock, float],
    targets: tuple[float, ...],
    clock: Clock,
    drawing: _Drawing,
) -> Score:
    value = reference.value
    gaps, bound_gaps, primal, dual = [], [], [], []
    times: dict[Clock, Matrix] = {by: np.full((len(runs), len(targets)), math.inf) for by in CLOCKS}
    spent: dict[Clock, Vector] = {by: np.zeros(len(runs)) for by in CLOCKS}
    for row, run in enumerate(runs):
        result = run.result
        if run.error is not None:
            for by in CLOCKS:
                spent[by][row] = max(float(getattr(result, by)), horizons[by])
            gaps.append(math.inf)
            bound_gaps.append(math.inf)
            primal.append(1.0)
            dual.append(1.0)
            continue
        curves = {by: curve_of(result, by) for by in CLOCKS}
        for by, curve in curves.items():
            spent[by][row] = curve.end
            if value is not None:
                times[by][row] = times_to_targets(curve, value, targets)
        own = result.gap()
        objective = result.objective
        gaps.append(math.inf if objective is None or value is None else relative_gap(objective, value))
        bound_gaps.append(math.inf if own is None else own)
        primal.append(_mean_primal(curves[clock], value, horizons[clock]))
        dual.append(_mean_primal_dual(curves[clock], horizons[clock]))
    return Score(
        problem=runs[0].problem,
        strategy=runs[0].strategy,
        runs=len(runs),
        failed=sum(run.error is not None for run in runs),
        unanswered=sum(run.error is None and run.result.objective is None for run in runs),
        optimal=sum(run.error is None and run.result.status == Status.OPTIMAL for run in runs),
        gaps=tuple(gaps),
        median_gap=_median(gaps),
        worst_gap=max(gaps),
        interval=drawing.single(gaps),
        bound_gap=_median(bound_gaps) if min(bound_gaps) < math.inf else None,
        primal_integral=_median(primal),
        primal_dual_integral=_median(dual),
        solved=sum(gap <= OPTIMALITY_TOLERANCE for gap in gaps) / len(gaps),
        times=times,
        spent=spent,
    )


def _mean_primal(curve: StepCurve, reference: float | None, horizon: float) -> float:
    """Average the primal gap over the horizon; where no time passes, it is the last one."""
    if reference is None:
        return 1.0
    if horizon <= 0:
        return float(primal_gap(curve.objectives[-1], reference))
    return primal_integral(curve, reference, horizon, normalized=True)


def _mean_primal_dual(curve: StepCurve, horizon: float) -> float:
    """Average the gap to the run's own bound over the horizon; where no time passes, it is the last one."""
    if horizon <= 0:
        return float(primal_dual_gap(curve.objectives[-1], curve.bounds[-1]))
    return primal_dual_integral(curve, horizon, normalized=True)


def _standing(
    strategy: str,
    scores: Sequence[Score],
    not_applicable: tuple[str, ...],
    best_on: int,
    mean_rank: float,
    drawing: _Drawing,
) -> Standing:
    runs = sum(score.runs for score in scores)
    expected: dict[Clock, Vector] = {}
    for by in CLOCKS:
        if scores:
            times = np.concatenate([score.times[by] for score in scores])
            expected[by] = expected_running_time(times, np.concatenate([score.spent[by] for score in scores]))
        else:
            expected[by] = np.empty(0)
    return Standing(
        strategy=strategy,
        problems=len(scores),
        not_applicable=not_applicable,
        runs=runs,
        failed=sum(score.failed for score in scores),
        unanswered=sum(score.unanswered for score in scores),
        optimal=sum(score.optimal for score in scores),
        median_gap=_median([score.median_gap for score in scores]),
        worst_gap=max((score.worst_gap for score in scores), default=math.nan),
        interval=drawing.nested([score.gaps for score in scores]),
        primal_integral=_median([score.primal_integral for score in scores]),
        primal_dual_integral=_median([score.primal_dual_integral for score in scores]),
        solved=sum(score.solved * score.runs for score in scores) / runs if runs else math.nan,
        expected=expected,
        best_on=best_on,
        mean_rank=mean_rank,
    )


def _median(values: Sequence[float]) -> float:
    """Return the median, also of infinite values; not a number of none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if low == high else low / 2 + high / 2
