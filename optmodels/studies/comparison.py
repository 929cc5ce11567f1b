"""The runs of a comparison, and what is told about them: the table, the best answers, one record per run."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from heuristics import Budget, Status, relative_gap

from ..data import csv_text, write_text
from ..errors import UnknownName, short, suggestion
from ..results import plain
from ..statistics import Reference, Statistics, comparable, judge, median_interval, references_of
from .comparison_table import COLUMNS, Table, check_columns, sorted_rows
from .runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: What the record of a run takes from its result as it is.
_TOLD = ("evaluations", "seconds", "seconds_to_best", "stopped_by", "checked")

#: What it takes from the run itself.
CIRCUMSTANCES = ("reason", "threads", "megabytes", "study", "machine")

#: What a gap can be measured from, best first.
OPTIMUM, BOUND, BEST_KNOWN, BEST_SEEN = "optimum", "bound", "best known", "best seen"


#: How a comparison is written: as a table, or as a record per run.
TABLES, RECORDS = ("text", "md", "latex"), ("csv", "json")


@dataclass(frozen=True)
class Summary:
    """One strategy on one problem, over its seeds.

    Parameters
    ----------
    status
        What the runs say, with their numbers where they differ; ``error`` if none gave an answer, ``not applicable`` if
        the strategy cannot take the problem.
    objective, best, mean, worst
        Median, least, mean and largest objective of the runs that found a feasible decision.
    bound
        The highest proved.
    best_known, proved
        The best value known of the problem, here or in its file, and whether nothing better exists.
    gap_to_best_known, interval, worst_gap
        Median of the relative gaps to the best known, a run without an answer counting as infinite; a bootstrap
        interval of it over the seeds, ``None`` for less than two runs; the largest of them.
    gap_to_bound
        Median of the relative gaps to the bound of the run itself.
    reference, reference_value, gap
        What the mean objective is held against, and how far above it lies, relative.
    evaluations, seconds, seconds_to_best, megabytes
        Medians over the runs.
    ended_by
        What ended the runs.
    """

    problem: str
    strategy: str
    runs: int
    status: str
    objective: float | None
    best: float | None
    mean: float | None
    worst: float | None
    bound: float | None
    best_known: float | None
    proved: bool
    gap_to_best_known: float | None
    interval: tuple[float, float] | None
    worst_gap: float | None
    gap_to_bound: float | None
    reference: str
    reference_value: float | None
    gap: float | None
    evaluations: float | None
    seconds: float | None
    seconds_to_best: float | None
    megabytes: float | None
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
    proved
        Problems whose instance says that nothing better exists.
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
    proved: frozenset[str] = frozenset()

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """One line of the table per problem and strategy, in the order of the runs."""
        groups: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs:
            groups.setdefault((run.problem, run.strategy), []).append(run)
        references = {problem: (reference_of(self, problem), self.references[problem]) for problem in self.problems}
        return tuple(_summary(runs, *references[problem]) for (problem, _), runs in groups.items())

    @cached_property
    def references(self) -> dict[str, Reference]:
        """By problem the best value known, of its file or of a run, and whether it is proved to be the best."""
        return references_of(self.runs, self.best_known, self.proved)

    @property
    def doubted(self) -> Comparison:
        """The same, with a warning for each answer that lies below what was claimed to be best."""
        found = [one.contradiction for one in self.references.values() if one.contradiction]
        return replace(self, warnings=tuple(dict.fromkeys((*self.warnings, *found))))

    @cached_property
    def statistics(self) -> Statistics:
        """Intervals, integrals, times to targets, tests and a summary in words: see `optmodels.statistics.judge`.

        Time is counted in evaluations where the budget is, else in seconds.
        """
        by_evaluations = self.budget.seconds is None and self.budget.evaluations is not None
        return judge(self, clock="evaluations" if by_evaluations else "seconds")

    def table(self, width: int | None = None, *, columns: Sequence[str] | None = None, sort: str | None = None) -> str:
        """The table as text.

        Parameters
        ----------
        width
            Columns of the terminal. What is least needed is left out until the table fits, and said to be; then long
            names are folded. ``None``: all of it.
        columns, sort
            Which columns, and by which the lines are sorted, as in `write`.
        """
        return Table(self, columns, sort).text(width) if self.runs else "no run was finished."

    def write(self, form: str = "text", *, columns: Sequence[str] | None = None, sort: str | None = None) -> str:
        """The comparison in some format.

        Parameters
        ----------
        form
            ``text``, ``md`` (Markdown) and ``latex`` (a tabular with booktabs) hold the table, a line per problem and
            strategy; ``csv`` and ``json`` (a list of objects) a record per run, as in `rows`.
        columns
            Names of columns of the table (`optmodels.studies.COLUMNS`), or fields of a record; those that say something
            unless given.
        sort
            A column to sort by, downwards after a minus sign; in the order of the runs unless given.

        Examples
        --------
        >>> from optmodels import compare
        >>> comparison = compare("instances/placement/gautam-2x3.json", ["exhaustive", "dejavu"])
        >>> print(comparison.write("csv", columns=["strategy", "objective", "gap_to_best_known"]).strip())
        strategy,objective,gap_to_best_known
        exhaustive,8.0,0.0
        dejavu,8.0,0.0
        """
        check_format(form, columns, sort)
        if form in RECORDS:
            rows = self._records(columns, sort)
            return csv_text(rows) if form == "csv" else json.dumps(rows, indent=2, allow_nan=False)
        if not self.runs:
            return "no run was finished."
        table = Table(self, columns, sort)
        return {"text": table.text, "md": table.markdown, "latex": table.latex}[form]()

    def _records(self, columns: Sequence[str] | None, sort: str | None) -> list[dict[str, Any]]:
        rows = sorted_rows(self.rows(), sort, dict.__getitem__)
        return rows if columns is None else [{name: row[name] for name in columns} for row in rows]

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
        references = {problem: (reference_of(self, problem), self.references[problem]) for problem in self.problems}
        return [_record(run, *references[run.problem], self.budget) for run in self.runs]

    def to_frame(self) -> DataFrame:
        """A table of pandas, one row per run, in the order of the runs.

        Columns: ``problem``, ``kind``, ``strategy``, ``seed``, ``status``, ``objective``, ``bound``, ``gap_to_bound``
        and ``gap_to_best_known`` (relative; of the best value that a file states and the evaluator has confirmed, or
        that a run found), ``evaluations``, ``seconds``, ``seconds_to_best``, ``stopped_by``, ``error``, ``decision``,
        ``reason`` (why a strategy does not take the problem), ``threads``, ``megabytes``, and one for each measure.
        """
        from ..notebook import COLUMNS, frame, run_row

        rows = []
        for run in self.runs:
            known = self.references[run.problem].value
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

        table = Table(self)
        notes = [*table.notes(table.names), *self.warnings]
        return page("comparison", *table.cells(), self.plot if self.runs else None, notes)

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


def check_format(form: str, columns: Sequence[str] | None = None, sort: str | None = None) -> None:
    """Refuse a format, columns or an order that `Comparison.write` does not know, before anything is run.

    Parameters
    ----------
    form, columns, sort
        As in `Comparison.write`.
    """
    if form not in (*TABLES, *RECORDS):
        raise UnknownName(f"there is no format {short(form)}. {suggestion(form, (*TABLES, *RECORDS))}")
    from .store.exporting import COLUMNS as FIELDS

    known = list(COLUMNS if form in TABLES else FIELDS)
    check_columns(columns, known)
    check_columns(None if sort is None else [sort.removeprefix("-")], known)


def _merit(run: Run) -> tuple[float, bool, float]:
    objective = run.result.objective
    assert objective is not None
    return objective, run.result.status != Status.OPTIMAL, run.result.seconds


def _record(run: Run, reference: tuple[str, float] | None, known: Reference, budget: Budget) -> dict[str, Any]:
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
        "gap_to_bound": result.gap(),
        "best_known": known.value,
        "best_known_proved": known.proved,
        "gap_to_best_known": None if known.value is None else result.gap(known.value),
        **{name: getattr(result, name) for name in _TOLD},
        "error": run.error,
        **{name: getattr(run, name) for name in CIRCUMSTANCES},
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
    runs = [run for run in comparison.runs if run.problem == problem]
    results = comparable(runs, comparison.best_known.get(problem))
    seen = [(result.objective, result.status) for result in results if result.objective is not None]
    optima = [objective for objective, status in seen if status == Status.OPTIMAL]
    if optima:
        return OPTIMUM, min(optima)
    bounds = [bound for run in runs if (bound := run.result.bound) is not None and math.isfinite(bound)]
    if bounds:
        return BOUND, max(bounds)
    if problem in comparison.best_known:
        return BEST_KNOWN, comparison.best_known[problem]
    return (BEST_SEEN, min(objective for objective, _ in seen)) if seen else None


def _summary(runs: Sequence[Run], reference: tuple[str, float] | None, known: Reference) -> Summary:
    answered = [run.result for run in runs if run.answered]
    objectives = [result.objective for result in answered if result.objective is not None]
    bounds = [result.bound for result in answered if result.bound is not None]
    to_best = [result.seconds_to_best for result in answered if result.seconds_to_best is not None]
    to_bound = [gap for result in answered if (gap := result.gap()) is not None]
    mean = fmean(objectives) if objectives else None
    kind, value = reference or ("", None)
    gaps = [] if known.value is None or not objectives else [_gap(run, known.value) for run in runs]
    return Summary(
        problem=runs[0].problem,
        strategy=runs[0].strategy,
        runs=len(runs),
        status=_tally([run.status for run in runs]),
        objective=_middle(objectives),
        best=min(objectives, default=None),
        mean=mean,
        worst=max(objectives, default=None),
        bound=max(bounds, default=None),
        best_known=known.value,
        proved=known.proved,
        gap_to_best_known=_middle(gaps),
        interval=_interval(gaps),
        worst_gap=max(gaps, default=None),
        gap_to_bound=_middle(to_bound),
        reference=kind,
        reference_value=value,
        gap=None if mean is None or value is None else relative_gap(mean, value),
        evaluations=_middle([result.evaluations for result in answered]),
        seconds=_middle([result.seconds for result in answered]),
        seconds_to_best=_middle(to_best),
        megabytes=_middle([run.megabytes for run in runs if run.megabytes is not None]),
        ended_by=_tally([run.result.stopped_by for run in runs]),
        errors=tuple(dict.fromkeys(told for run in runs if (told := run.error or run.reason))),
    )


def _gap(run: Run, value: float) -> float:
    """How far a run ended above a value, relative; infinitely far without an answer."""
    gap = run.result.gap(value)
    return math.inf if gap is None else gap


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _interval(gaps: Sequence[float]) -> tuple[float, float] | None:
    if len(gaps) < 2:
        return None
    found = median_interval(gaps)
    return None if found is None else (found.low, found.high)


def _tally(words: Sequence[str]) -> str:
    counts = Counter(words).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{word} {count}" for word, count in counts)
