"""The table of a comparison: a line per problem and strategy, computed from the runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from heuristics.result import OPTIMALITY_TOLERANCE, Status

if TYPE_CHECKING:
    from .comparing import Comparison, Run

#: What a gap can be measured from, best first.
OPTIMUM, BOUND, BEST_KNOWN, BEST_SEEN = "optimum", "bound", "best known", "best seen"


@dataclass(frozen=True)
class Summary:
    """One strategy on one problem, over its seeds.

    Parameters
    ----------
    status
        What the runs say, with their numbers where they differ; ``error`` if none gave an answer.
    best, mean, worst
        Objectives over the runs that found a feasible decision.
    bound
        The highest proved.
    reference, reference_value, gap
        What the mean objective is held against, and how far above it lies, relative.
    evaluations, seconds, seconds_to_best
        Means over the runs.
    ended_by
        What ended the runs.
    """

    problem: str
    strategy: str
    runs: int
    status: str
    best: float | None
    mean: float | None
    worst: float | None
    bound: float | None
    reference: str
    reference_value: float | None
    gap: float | None
    evaluations: float | None
    seconds: float | None
    seconds_to_best: float | None
    ended_by: str
    errors: tuple[str, ...] = ()


def summarise(comparison: Comparison) -> tuple[Summary, ...]:
    """The lines of the table, in the order of the runs."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in comparison.runs:
        groups.setdefault((run.problem, run.strategy), []).append(run)
    references = {problem: reference_of(comparison, problem) for problem in comparison.problems}
    return tuple(_summary(runs, references[problem]) for (problem, _), runs in groups.items())


def reference_of(comparison: Comparison, problem: str) -> tuple[str, float] | None:
    """What gaps on a problem are measured from, and its value.

    In this order: an optimum proved in this comparison, the best proved bound, the best-known objective of the
    instance, the best seen here.
    """
    results = [run.result for run in comparison.runs if run.problem == problem]
    optima = [
        result.objective for result in results if result.status == Status.OPTIMAL and result.objective is not None
    ]
    if optima:
        return OPTIMUM, min(optima)
    bounds = [result.bound for result in results if result.bound is not None and math.isfinite(result.bound)]
    if bounds:
        return BOUND, max(bounds)
    if problem in comparison.best_known:
        return BEST_KNOWN, comparison.best_known[problem]
    seen = [result.objective for result in results if result.objective is not None]
    return (BEST_SEEN, min(seen)) if seen else None


def table_text(comparison: Comparison) -> str:
    """The table as text: a head for each kind of reference, because the head of the gap names it."""
    if not comparison.runs:
        return "no run was finished."
    blocks: list[tuple[str, list[Summary]]] = []
    for line in comparison.summaries:
        if not blocks or blocks[-1][0] != line.reference:
            blocks.append((line.reference, []))
        blocks[-1][1].append(line)
    rows = [[_head(reference), *(_cells(line) for line in lines)] for reference, lines in blocks]
    widths = [max(len(row[i]) for block in rows for row in block) for i in range(len(HEAD))]
    texts = []
    for block in rows:
        aligned = ["  ".join(_align(i, cell, widths[i]) for i, cell in enumerate(row)).rstrip() for row in block]
        rule = "-" * max(len(line) for line in aligned)
        texts.append("\n".join([aligned[0], rule, *aligned[1:]]))
    return "\n\n".join([*texts, "\n".join(_footnotes(comparison))])


HEAD = (
    "problem", "strategy", "runs", "status", "objective", "mean", "worst", "bound", "gap to {}", "evals", "seconds",
    "to best", "ended by",
)  # fmt: skip
LEFT = {0, 1, 3, 12}


def _head(reference: str) -> list[str]:
    return [head.format(reference) if reference else head.removesuffix(" to {}") for head in HEAD]


def _cells(line: Summary) -> list[str]:
    gap = "-" if line.gap is None else f"{line.gap:.2%}" if math.isfinite(line.gap) else "inf"
    numbers = [_number(value) for value in (line.best, line.mean, line.worst, line.bound)]
    evaluations = "-" if line.evaluations is None else f"{line.evaluations:.0f}"
    times = [_seconds(line.seconds), _seconds(line.seconds_to_best)]
    return [line.problem, line.strategy, str(line.runs), line.status, *numbers, gap, evaluations, *times, line.ended_by]


def _footnotes(comparison: Comparison) -> list[str]:
    notes = []
    limits = {"seconds": "s", "evaluations": "evaluations", "stall": "evaluations without progress"}
    given = [
        f"{getattr(comparison.budget, name):g} {unit}"
        for name, unit in limits.items()
        if getattr(comparison.budget, name)
    ]
    notes.append(f"budget of a run: {', '.join(given) or 'none'}; objective: best over the runs; gap: of the mean")
    for line in comparison.summaries:
        notes += [f"{line.problem} by {line.strategy}: {error}" for error in line.errors]
    if not comparison.complete:
        notes.append("the comparison was ended early: runs are missing")
    return notes


def _summary(runs: Sequence[Run], reference: tuple[str, float] | None) -> Summary:
    answered = [run.result for run in runs if run.error is None]
    objectives = [result.objective for result in answered if result.objective is not None]
    bounds = [result.bound for result in answered if result.bound is not None]
    to_best = [result.seconds_to_best for result in answered if result.seconds_to_best is not None]
    mean = fmean(objectives) if objectives else None
    kind, value = reference or ("", None)
    return Summary(
        problem=runs[0].problem,
        strategy=runs[0].strategy,
        runs=len(runs),
        status=_tally(["error" if run.error else str(run.result.status) for run in runs]),
        best=min(objectives, default=None),
        mean=mean,
        worst=max(objectives, default=None),
        bound=max(bounds, default=None),
        reference=kind,
        reference_value=value,
        gap=None if mean is None or value is None else relative_gap(mean, value),
        evaluations=fmean(result.evaluations for result in answered) if answered else None,
        seconds=fmean(result.seconds for result in answered) if answered else None,
        seconds_to_best=fmean(to_best) if to_best else None,
        ended_by=_tally([run.result.stopped_by for run in runs]),
        errors=tuple(dict.fromkeys(run.error for run in runs if run.error)),
    )


def relative_gap(value: float, reference: float) -> float:
    """How far `value` lies above `reference`, relative; as `Result.gap`."""
    distance = value - reference
    if abs(distance) <= OPTIMALITY_TOLERANCE * max(1.0, abs(reference)):
        return 0.0
    return distance / abs(reference) if reference else math.copysign(math.inf, distance)


def _tally(words: Sequence[str]) -> str:
    counts = Counter(words).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{word} {count}" for word, count in counts)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _align(column: int, cell: str, width: int) -> str:
    return cell.ljust(width) if column in LEFT else cell.rjust(width)
