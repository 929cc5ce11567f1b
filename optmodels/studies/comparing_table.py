"""The table of a comparison: a line per problem and strategy, computed from the runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from statistics import fmean
from textwrap import wrap
from typing import TYPE_CHECKING

from heuristics import Status, relative_gap

from ..errors import printable

if TYPE_CHECKING:
    from .comparison import Comparison, Run

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


@dataclass(frozen=True)
class Column:
    """A column of the table: its head, the same in few letters, and whether it holds text."""

    head: str
    brief: str
    text: bool = False


COLUMNS = {
    "problem": Column("problem", "problem", True),
    "strategy": Column("strategy", "strategy", True),
    "runs": Column("runs", "runs"),
    "status": Column("status", "status", True),
    "best": Column("objective", "obj."),
    "mean": Column("mean", "mean"),
    "worst": Column("worst", "worst"),
    "bound": Column("bound", "bound"),
    "gap": Column("gap to {}", "gap ({})"),
    "evaluations": Column("evals", "evals"),
    "seconds": Column("seconds", "sec."),
    "seconds_to_best": Column("to best", "to best"),
    "ended_by": Column("ended by", "ended by", True),
}

#: References in the brief head of the gap.
BRIEF = {OPTIMUM: "opt.", BOUND: "bound", BEST_KNOWN: "known", BEST_SEEN: "seen"}

#: What goes first when the table is wider than the terminal; the rest is folded.
DISPENSABLE = ("evaluations", "runs", "seconds_to_best", "ended_by", "worst", "mean", "seconds")

#: Texts are folded into no fewer letters than these.
NARROWEST = 8


def table_text(comparison: Comparison, width: int | None = None) -> str:
    """The table as text: a head for each kind of reference, because the head of the gap names it.

    Parameters
    ----------
    width
        Columns of the terminal. What is least needed is left out until the table fits, and said to be; then long names
        are folded. ``None``: all of it.
    """
    if not comparison.runs:
        return "no run was finished."
    lines = comparison.summaries
    single = all(line.runs == 1 for line in lines)  # then mean and worst say what the objective says
    shown = [name for name in COLUMNS if not (single and name in ("mean", "worst"))]
    layout = _Layout(lines, shown)
    if width is not None:
        layout = _fitting(layout, width)
    notes = _footnotes(comparison, layout.names)
    hidden = [COLUMNS[name].head for name in shown if name not in layout.names]
    if hidden:
        notes.append(f"left out to fit into {width} columns: {', '.join(hidden)}")
    if width is not None:
        notes = [piece for note in notes for piece in wrap(note, max(width, 20), subsequent_indent="  ")]
    return "\n\n".join([*layout.blocks(), "\n".join(notes)])


class _Layout:
    """Which columns are shown, under which heads, how wide."""

    def __init__(
        self, lines: Sequence[Summary], names: Sequence[str], *, brief: bool = False, room: int | None = None
    ) -> None:
        self.lines, self.names, self.brief = lines, list(names), brief
        self.groups = [(kind, list(group)) for kind, group in groupby(lines, key=lambda line: line.reference)]
        self.rows = [
            [self._head(kind), *([_cell(line, name) for name in names] for line in group)]
            for kind, group in self.groups
        ]
        self.widths = [max(len(row[i]) for block in self.rows for row in block) for i in range(len(names))]
        texts = [i for i, name in enumerate(names) if COLUMNS[name].text]
        while room is not None and self.total > room:
            widest = max(texts, key=lambda i: self.widths[i])
            if self.widths[widest] <= NARROWEST:
                break
            self.widths[widest] -= 1

    @property
    def total(self) -> int:
        """Letters in a line."""
        return sum(self.widths) + 2 * (len(self.widths) - 1)

    def blocks(self) -> list[str]:
        """A block of text for each kind of reference."""
        texts = []
        for head, *rows in self.rows:
            lines = [line for row in rows for line in self._aligned(row)]
            rule = "-" * max(len(line) for line in [*self._aligned(head), *lines])
            texts.append("\n".join([*self._aligned(head), rule, *lines]))
        return texts

    def _head(self, reference: str) -> list[str]:
        heads = [COLUMNS[name].brief if self.brief else COLUMNS[name].head for name in self.names]
        word = BRIEF.get(reference, "") if self.brief else reference
        return [head.format(word) if word else head.split(" to {}")[0].split(" ({})")[0] for head in heads]

    def _aligned(self, row: Sequence[str]) -> list[str]:
        """A row as lines: one, or several where a text was folded."""
        folded = [_fold(cell, width) for cell, width in zip(row, self.widths, strict=True)]
        return ["  ".join(self._align(i, cell) for i, cell in enumerate(line)).rstrip() for line in _beside(folded)]

    def _align(self, column: int, cell: str) -> str:
        width = self.widths[column]
        return cell.ljust(width) if COLUMNS[self.names[column]].text else cell.rjust(width)


def _fitting(layout: _Layout, width: int) -> _Layout:
    """The fullest layout that fits: without the least needed columns, under brief heads, with folded names."""
    names, lines = layout.names, layout.lines
    single = all(line.runs == 1 for line in lines)
    stages = [names, [name for name in names if name != "evaluations"]]
    for gone in DISPENSABLE[1:]:
        if gone != "runs" or single:
            stages.append([name for name in stages[-1] if name != gone])
    heads = [(stages[0], False), (stages[1], False), *((stage, True) for stage in stages[1:])]
    plain = (_Layout(lines, stage, brief=brief) for stage, brief in heads)
    folded = (_Layout(lines, stage, brief=True, room=width) for stage in stages[3:])
    narrowest = _Layout(lines, stages[-1], brief=True, room=width)
    return next((candidate for candidate in chain(plain, folded) if candidate.total <= width), narrowest)


def _fold(text: str, width: int) -> list[str]:
    """A text in pieces of at most `width` letters, cut after a mark between words where there is one."""
    pieces = []
    while len(text) > width:
        cut = max((i + 1 for i in range(width) if text[i] in " :,-"), default=width)
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]


def _beside(cells: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Folded cells line by line."""
    return list(zip_longest(*cells, fillvalue=""))


def _cell(line: Summary, name: str) -> str:
    value = getattr(line, name)
    if name == "gap":
        return "-" if value is None else f"{value:.2%}" if math.isfinite(value) else "inf"
    if name == "evaluations":
        return "-" if value is None else f"{value:.0f}"
    if name in ("seconds", "seconds_to_best"):
        return _seconds(value)
    return value if isinstance(value, str) else str(value) if name == "runs" else _number(value)


def _footnotes(comparison: Comparison, shown: Sequence[str]) -> list[str]:
    limits = {"seconds": "s", "evaluations": "evaluations", "stall": "evaluations without progress"}
    given = [
        f"{getattr(comparison.budget, name):g} {unit}"
        for name, unit in limits.items()
        if getattr(comparison.budget, name)
    ]
    several = any(line.runs > 1 for line in comparison.summaries)
    notes = [
        f"budget of a run: {', '.join(given) or 'none'}"
        + ("; objective: best over the runs; gap: of the mean" if several else "")
    ]
    held = {line.problem: line.reference for line in comparison.summaries}
    known = [
        f"{problem} {_number(comparison.best_known[problem])}"
        for problem, reference in held.items()
        if reference in (BOUND, BEST_KNOWN) and problem in comparison.best_known
    ]
    notes += [f"best known: {', '.join(known)}"] if known else []
    started = any(run.result.strategy == "highs" and run.result.evaluations for run in comparison.runs)
    if started and "evaluations" in shown:
        notes.append("evals of highs: decisions judged in its search for a start; the solver's own work is not counted")
    for line in comparison.summaries:
        notes += [f"{line.problem} by {line.strategy}: {printable(error)}" for error in line.errors]
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


def _tally(words: Sequence[str]) -> str:
    counts = Counter(words).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{word} {count}" for word, count in counts)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}" if value >= 10 else f"{value:.3f}"
