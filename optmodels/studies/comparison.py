"""The runs of a comparison, and what is told about them: the table, the best answers, one record per run."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, zip_longest
from pathlib import Path
from statistics import fmean
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from heuristics import Budget, Status, relative_gap

from ..data import csv_text, number, write_text
from ..errors import printable
from ..results import plain
from .runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: What the record of a run takes from its result as it is.
_TOLD = ("evaluations", "seconds", "seconds_to_best", "stopped_by", "checked")

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


@dataclass(frozen=True, repr=False)
class Comparison:
    """The runs, in the order of problems, strategies and seeds.

    Parameters
    ----------
    runs
        One per problem, strategy and seed.
    best_known
        Objective the instance calls best known, by problem.
    budget
        The limits every run had.
    complete
        ``False`` if the comparison was ended early.
    warnings
        What a reader must know, one sentence each: best-known decisions that were not confirmed, and lines of a
        comparison that were not believed.

    Examples
    --------
    >>> from optmodels import compare
    >>> comparison = compare("instances/placement/gautam-2x3.json", ["exhaustive", "dejavu"])
    >>> comparison.best("gautam-2x3").strategy
    'exhaustive'
    >>> [(line.strategy, line.status, line.best) for line in comparison.summaries]
    [('exhaustive', 'optimal', 8.0), ('dejavu', 'feasible', 8.0)]
    """

    runs: tuple[Run, ...]
    best_known: Mapping[str, float] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    complete: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """One line of the table per problem and strategy, in the order of the runs."""
        groups: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs:
            groups.setdefault((run.problem, run.strategy), []).append(run)
        references = {problem: reference_of(self, problem) for problem in self.problems}
        return tuple(_summary(runs, references[problem]) for (problem, _), runs in groups.items())

    def table(self, width: int | None = None) -> str:
        """The table as text: a head for each kind of reference, because the head of the gap names it.

        Parameters
        ----------
        width
            Columns of the terminal. What is least needed is left out until the table fits, and said to be; then long
            names are folded. ``None``: all of it.
        """
        if not self.runs:
            return "no run was finished."
        lines = self.summaries
        single = all(line.runs == 1 for line in lines)  # then mean and worst say what the objective says
        shown = [name for name in COLUMNS if not (single and name in ("mean", "worst"))]
        layout = _Layout(lines, shown)
        if width is not None:
            layouts = _layouts(lines, shown, width)
            layout = next(layouts)
            while layout.total > width and (narrower := next(layouts, None)):
                layout = narrower
        notes = _footnotes(self, layout.names)
        hidden = [COLUMNS[name].head for name in shown if name not in layout.names]
        if hidden:
            notes.append(f"left out to fit into {width} columns: {', '.join(hidden)}")
        if width is not None:
            notes = [piece for note in notes for piece in wrap(note, max(width, 20), subsequent_indent="  ")]
        return "\n\n".join([*layout.blocks(), "\n".join(notes)])

    def best(self, problem: str) -> Run | None:
        """The run with the lowest objective; among equals one that is proved, then the quickest."""
        answered = [run for run in self.runs if run.problem == problem and run.result.objective is not None]
        return min(answered, key=_merit, default=None)

    @property
    def problems(self) -> tuple[str, ...]:
        """Names of the problems, in order."""
        return tuple(dict.fromkeys(run.problem for run in self.runs))

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per run: enough to run it again."""
        references = {problem: reference_of(self, problem) for problem in self.problems}
        return [_record(run, references[run.problem], self.budget) for run in self.runs]

    def to_frame(self) -> DataFrame:
        """A table of pandas, one row per run, in the order of the runs.

        Columns: ``problem``, ``kind``, ``strategy``, ``seed``, ``status``, ``objective``, ``bound``, ``gap_to_bound``
        and ``gap_to_best_known`` (relative; of a best known objective that the evaluator has confirmed),
        ``evaluations``, ``seconds``, ``seconds_to_best``, ``stopped_by``, ``error``, ``decision``, ``reason``
        (why a strategy does not take the problem), ``threads``, ``megabytes``, and one for each measure.
        """
        from ..notebook import COLUMNS, frame, run_row

        rows = []
        for run in self.runs:
            known = self.best_known.get(run.problem)
            told: dict[str, Any] = {"problem": run.problem, "strategy": run.strategy, "status": run.status}
            told |= {name: getattr(run, name) for name in ("error", "reason", "threads", "megabytes")}
            gap = None if known is None else run.result.gap(known)
            rows.append(run_row(run.result, **told, gap_to_best_known=gap))
        return frame(rows, COLUMNS)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the gap of every run, by instance and strategy, on a figure of its own unless axes are given."""
        from ..plotting import plot_gaps

        return plot_gaps(self.rows(), ax=ax)

    def __repr__(self) -> str:
        early = "" if self.complete else ", ended early"
        strategies = len({run.strategy for run in self.runs})
        return f"<Comparison: problems {len(self.problems)}, strategies {strategies}, runs {len(self.runs)}{early}>"

    def _repr_html_(self) -> str:
        from ..notebook import page

        head = [COLUMNS[name].head.partition(" to {}")[0] for name in COLUMNS]
        rows = [[COLUMNS[name].write(getattr(line, name)) for name in COLUMNS] for line in self.summaries]
        head.insert(head.index("gap") + 1, "gap to")
        for row, line in zip(rows, self.summaries, strict=True):
            row.insert(head.index("gap to"), line.reference)
        notes = [*_footnotes(self, list(COLUMNS)), *self.warnings]
        return page("comparison", head, rows, self.plot if self.runs else None, notes)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per run, with parameters, seed and versions."""
        write_text(path, csv_text(self.rows()))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one result per line."""
        folder = Path(path).parent
        write_text(path, "".join(json.dumps(run.to_data(folder=folder), allow_nan=False) + "\n" for run in self.runs))

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        return {
            "format": 1,
            "complete": self.complete,
            "budget": plain(self.budget),
            "runs": [run.to_data() for run in self.runs],
            "table": [plain(asdict(summary)) for summary in self.summaries],
            "warnings": list(self.warnings),
        }


def _merit(run: Run) -> tuple[float, bool, float]:
    objective = run.result.objective
    assert objective is not None
    return objective, run.result.status != Status.OPTIMAL, run.result.seconds


def _record(run: Run, reference: tuple[str, float] | None, budget: Budget) -> dict[str, Any]:
    result = run.result
    kind, value = reference or ("", None)
    told = {
        "problem": run.problem,
        "kind": result.kind,
        "strategy": run.strategy,
        "parameters": json.dumps(plain(result.parameters)),
        "seed": run.seed,
        "budget_seconds": budget.seconds,
        "budget_evaluations": budget.evaluations,
        "status": run.status,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap(),
        "reference": kind,
        "reference_value": value,
        "gap_to_reference": None if value is None else result.gap(value),
        **{name: getattr(result, name) for name in _TOLD},
        "error": run.error,
        **{name: getattr(run, name) for name in ("reason", "threads", "megabytes", "study", "machine")},
        "versions": json.dumps(dict(result.versions)),
        "key": run.key,
    }
    return dict(plain(told))


# -- the table --------------------------------------------------------------------------------------------------------


def reference_of(comparison: Comparison, problem: str) -> tuple[str, float] | None:
    """What gaps on a problem are measured from, and its value.

    In this order: an optimum proved in this comparison, the best proved bound, the best-known objective of the
    instance, the best seen here.
    """
    results = [run.result for run in comparison.runs if run.problem == problem]
    seen = [(result.objective, result.status) for result in results if result.objective is not None]
    optima = [objective for objective, status in seen if status == Status.OPTIMAL]
    if optima:
        return OPTIMUM, min(optima)
    bounds = [result.bound for result in results if result.bound is not None and math.isfinite(result.bound)]
    if bounds:
        return BOUND, max(bounds)
    if problem in comparison.best_known:
        return BEST_KNOWN, comparison.best_known[problem]
    return (BEST_SEEN, min(objective for objective, _ in seen)) if seen else None


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}" if math.isfinite(value) else "inf"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


class Column(NamedTuple):
    """A column of the table: its head, the same in few letters, how a value is written, whether it is a text."""

    head: str
    brief: str
    write: Callable[[Any], str] = number
    text: bool = False


COLUMNS = {
    "problem": Column("problem", "problem", text=True),
    "strategy": Column("strategy", "strategy", text=True),
    "runs": Column("runs", "runs"),
    "status": Column("status", "status", text=True),
    "best": Column("objective", "obj."),
    "mean": Column("mean", "mean"),
    "worst": Column("worst", "worst"),
    "bound": Column("bound", "bound"),
    "gap": Column("gap to {}", "gap ({})", _percent),
    "evaluations": Column("evals", "evals", _count),
    "seconds": Column("seconds", "sec.", _seconds),
    "seconds_to_best": Column("to best", "to best", _seconds),
    "ended_by": Column("ended by", "ended by", text=True),
}

#: References in the brief head of the gap.
BRIEF = {OPTIMUM: "opt.", BOUND: "bound", BEST_KNOWN: "known", BEST_SEEN: "seen"}

#: What goes first when the table is wider than the terminal; the rest is folded.
DISPENSABLE = ("evaluations", "runs", "seconds_to_best", "ended_by", "worst", "mean", "seconds")

#: Texts are folded into no fewer letters than these.
NARROWEST = 8


class _Layout:
    """Which columns are shown, under which heads, how wide; texts are folded into `room`."""

    def __init__(
        self, lines: Sequence[Summary], names: Sequence[str], brief: bool = False, room: int | None = None
    ) -> None:
        self.names = names
        self.rows = [
            [
                _heads(names, kind, brief),
                *([COLUMNS[name].write(getattr(line, name)) for name in names] for line in group),
            ]
            for kind, group in groupby(lines, key=lambda line: line.reference)
        ]
        self.widths = [max(len(row[i]) for block in self.rows for row in block) for i in range(len(names))]
        texts = [i for i, name in enumerate(names) if COLUMNS[name].text]
        while room is not None and self.total > room and max(self.widths[i] for i in texts) > NARROWEST:
            self.widths[max(texts, key=lambda i: self.widths[i])] -= 1

    @property
    def total(self) -> int:
        """How many letters a line has."""
        return sum(self.widths) + 2 * (len(self.widths) - 1)

    def blocks(self) -> Iterator[str]:
        """A block of text for each kind of reference."""
        for head, *rows in ([self._aligned(row) for row in block] for block in self.rows):
            lines = [line for row in rows for line in row]
            yield "\n".join([*head, "-" * max(len(line) for line in [*head, *lines]), *lines])

    def _aligned(self, row: Sequence[str]) -> list[str]:
        """A row as lines: one, or several where a text was folded."""
        folded = (_fold(cell, width) for cell, width in zip(row, self.widths, strict=True))
        return [
            "  ".join(
                cell.ljust(width) if COLUMNS[name].text else cell.rjust(width)
                for name, cell, width in zip(self.names, line, self.widths, strict=True)
            ).rstrip()
            for line in zip_longest(*folded, fillvalue="")
        ]


def _heads(names: Sequence[str], reference: str, brief: bool) -> list[str]:
    heads = [COLUMNS[name].brief if brief else COLUMNS[name].head for name in names]
    word = BRIEF.get(reference, "") if brief else reference
    return [head.format(word) if word else head.split(" to {}")[0].split(" ({})")[0] for head in heads]


def _layouts(lines: Sequence[Summary], names: Sequence[str], width: int) -> Iterator[_Layout]:
    """Layouts from the fullest on: without the least needed columns, under brief heads, with folded names."""
    stages = [names]
    for gone in DISPENSABLE:
        if gone != "runs" or all(line.runs == 1 for line in lines):
            stages.append([name for name in stages[-1] if name != gone])
    yield from (_Layout(lines, stage) for stage in stages[:2])
    yield from (_Layout(lines, stage, brief=True) for stage in stages[1:])
    yield from (_Layout(lines, stage, brief=True, room=width) for stage in stages[3:])


def _fold(text: str, width: int) -> list[str]:
    """A text in pieces of at most `width` letters, cut after a mark between words where there is one."""
    pieces = []
    while len(text) > width:
        cut = max((i + 1 for i in range(width) if text[i] in " :,-"), default=width)
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]


def _footnotes(comparison: Comparison, shown: Sequence[str]) -> list[str]:
    limits = {"seconds": "s", "evaluations": "evaluations", "stall": "evaluations without progress"}
    given = [f"{value:g} {unit}" for name, unit in limits.items() if (value := getattr(comparison.budget, name))]
    several = any(line.runs > 1 for line in comparison.summaries)
    over = "; objective: best over the runs; gap: of the mean" if several else ""
    notes = [f"budget of a run: {', '.join(given) or 'none'}{over}"]
    held = {line.problem: line.reference for line in comparison.summaries}
    known = [
        f"{problem} {number(comparison.best_known[problem])}"
        for problem, reference in held.items()
        if reference in (BOUND, BEST_KNOWN) and problem in comparison.best_known
    ]
    notes += [f"best known: {', '.join(known)}"] if known else []
    started = any(run.result.strategy == "highs" and run.result.evaluations for run in comparison.runs)
    if started and "evaluations" in shown:
        notes.append("evals of highs: decisions evaluated in its search for a start, without the solver's own work")
    for line in comparison.summaries:
        notes += [f"{line.problem} by {line.strategy}: {printable(error)}" for error in line.errors]
    if not comparison.complete:
        notes.append("the comparison was ended early: runs are missing")
    return notes


def _summary(runs: Sequence[Run], reference: tuple[str, float] | None) -> Summary:
    answered = [run.result for run in runs if run.answered]
    objectives = [result.objective for result in answered if result.objective is not None]
    bounds = [result.bound for result in answered if result.bound is not None]
    to_best = [result.seconds_to_best for result in answered if result.seconds_to_best is not None]
    mean = fmean(objectives) if objectives else None
    kind, value = reference or ("", None)
    return Summary(
        problem=runs[0].problem,
        strategy=runs[0].strategy,
        runs=len(runs),
        status=_tally([run.status for run in runs]),
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
        errors=tuple(dict.fromkeys(told for run in runs if (told := run.error or run.reason))),
    )


def _tally(words: Sequence[str]) -> str:
    counts = Counter(words).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{word} {count}" for word, count in counts)
