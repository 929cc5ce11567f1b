"""The tables of a report: strategies, pairs of them, instances, strategies on instances, and runs.

A cell is a text; the template escapes it. Columns of numbers are aligned to the right, and the script of the page sorts
them by the numbers that are read there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from ..statistics import NOT_APPLICABLE, Interval, Score, Statistics
from .writing import NOTHING, count, gap, name_of, seconds, sentence_of, target, value

if TYPE_CHECKING:
    from ..studies import Comparison, Run


#: How sure an interval is.
SURE = "95%, less for fewer than 6 runs"


@dataclass(frozen=True)
class Column:
    """A column: its head, whether it holds texts, and what it means, for who asks."""

    head: str
    text: bool = False
    meaning: str = ""


@dataclass(frozen=True)
class Row:
    """A row: its cells, and a place on the page to which the first of them leads, if there is one."""

    cells: tuple[str, ...]
    leads_to: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Parameters
    ----------
    name
        Its place on the page.
    caption
        What it shows.
    columns, rows
        What it holds.
    notes
        Sentences below it.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())


def further_tables(given: Any) -> list[Table]:
    """Read tables that stand on the page as they are, from data.

    Parameters
    ----------
    given
        A list of ``{"caption": text, "columns": [text, ...], "rows": [[text, ...], ...], "notes": [text, ...]}``.

    Returns
    -------
    list of Table
        The same as tables, texts shortened where they are very long.

    Raises
    ------
    ValueError
        If the data is something else, in a sentence.

    Examples
    --------
    >>> table, = further_tables([{"caption": "Primes", "columns": ["n", "prime"], "rows": [["1", "2"], ["2", "3"]]}])
    >>> table.caption, [row.cells for row in table.rows]
    ('Primes', [('1', '2'), ('2', '3')])
    """
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ValueError(f"further tables must be a list, not {type(given).__name__}.")
    tables = []
    for place, one in enumerate(given):
        if not isinstance(one, Mapping):
            raise ValueError(f"table {place} must be an object with caption, columns and rows.")
        heads, rows = _texts(one.get("columns"), f"columns of table {place}"), one.get("rows")
        if not isinstance(rows, Sequence) or isinstance(rows, str):
            raise ValueError(f"rows of table {place} must be a list.")
        cells = [_texts(row, f"row {number} of table {place}") for number, row in enumerate(rows)]
        for number, row in enumerate(cells):
            if len(row) != len(heads):
                raise ValueError(
                    f"row {number} of table {place} has {len(row)} cells, and there are {len(heads)} columns."
                )
        tables.append(
            Table(
                f"further-{place}",
                sentence_of(str(one.get("caption", ""))),
                tuple(Column(head, text=True) for head in heads),
                tuple(Row(row) for row in cells),
                _texts(one.get("notes", ()), f"notes of table {place}"),
            )
        )
    return tables


def _texts(given: Any, what: str) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(one, str) for one in given):
        raise ValueError(f"{what} must be a list of texts.")
    return tuple(map(sentence_of, given))


def strategies_table(statistics: Statistics) -> Table:
    """Tell how every strategy did over all instances.

    Parameters
    ----------
    statistics
        Of the comparison.

    Returns
    -------
    Table
        A row per strategy.
    """
    near = _near(statistics)
    place = statistics.targets.index(near)
    columns = (
        Column("strategy", text=True),
        Column("instances", meaning="that it was tried on"),
        Column("runs"),
        Column("proved", meaning="runs that proved their answer optimal"),
        Column("failed", meaning="runs that ended in an error or without a feasible decision"),
        Column("best on", meaning="instances on which no strategy has a lower median gap; ties count for all"),
        Column("median gap", meaning="median over instances of medians over seeds, to the best value known"),
        Column("interval", text=True, meaning=f"of the median gap, by bootstrap over instances and seeds; {SURE}"),
        Column("worst gap", meaning="over all runs"),
        Column("mean gap over time", meaning="primal integral over the horizon, as a share of it (Berthold 2013)"),
        Column(f"s to {target(near)}", meaning="expected running time in seconds to this gap (Hansen et al. 2021)"),
        Column("mean rank", meaning="by median gap, 1 is best"),
    )
    rows = [
        Row(
            (
                name_of(one.strategy),
                str(one.problems),
                str(one.runs),
                str(one.optimal),
                str(one.failed + one.unanswered),
                str(one.best_on),
                gap(one.median_gap),
                _interval(one.interval),
                gap(one.worst_gap),
                gap(one.primal_integral),
                seconds(float(one.expected["seconds"][place])),
                f"{one.mean_rank:.2f}" if one.mean_rank == one.mean_rank else NOTHING,
            )
        )
        for one in statistics.standings.values()
    ]
    return Table("strategies", "Strategies over all instances", columns, tuple(rows))


def pairs_table(statistics: Statistics) -> Table:
    """Tell of every two strategies which is better, and how surely.

    Parameters
    ----------
    statistics
        Of the comparison.

    Returns
    -------
    Table
        A row per pair.
    """
    columns = (
        Column("strategy", text=True),
        Column("against", text=True),
        Column("instances", meaning="that both were tried on"),
        Column("lower", meaning="instances on which the first has the lower median gap"),
        Column("higher", meaning="instances on which it has the higher one"),
        Column("same"),
        Column("effect", meaning="rank-biserial correlation: -1 if the first is always lower, 1 if always higher"),
        Column("p", meaning="two-sided Wilcoxon signed-rank test, corrected after Holm"),
        Column("shown to be better", text=True, meaning="at the level of 0.05"),
    )
    rows = [
        Row(
            (
                name_of(test.first),
                name_of(test.second),
                str(test.pairs),
                str(test.wins),
                str(test.losses),
                str(test.ties),
                NOTHING if test.effect is None else f"{test.effect:.2f}",
                NOTHING if test.adjusted is None else f"{test.adjusted:.2g}",
                name_of(test.winner) if test.winner else "too few to test" if test.p_value is None else "not shown",
            )
        )
        for test in statistics.tests
    ]
    note = "A test is made where at least six instances differ; p-values are corrected after Holm for all tests made."
    return Table("pairs", "Every two strategies, by median gap on the same instances", columns, tuple(rows), (note,))


def cells_table(comparison: Comparison, statistics: Statistics, places: Mapping[str, str]) -> Table:
    """Tell how every strategy did on every instance.

    Parameters
    ----------
    comparison, statistics
        The runs, and what was computed from them.
    places
        By instance, where the page tells more of it.

    Returns
    -------
    Table
        A row per instance and strategy.
    """
    near = _near(statistics)
    place = statistics.targets.index(near)
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in comparison.runs:
        groups.setdefault((run.problem, run.strategy), []).append(run)
    columns = (
        Column("instance", text=True),
        Column("strategy", text=True),
        Column("runs"),
        Column("status", text=True),
        Column("median objective"),
        Column("median gap", meaning="to the best value known, over seeds"),
        Column("interval", text=True, meaning=f"of the median gap, by bootstrap over seeds; {SURE}"),
        Column("worst gap"),
        Column("gap to bound", meaning="median over seeds of the gap of a run to the bound it proved itself"),
        Column("mean gap over time", meaning="primal integral over the horizon, as a share of it (Berthold 2013)"),
        Column(f"s to {target(near)}", meaning="expected running time in seconds to this gap (Hansen et al. 2021)"),
        Column("seconds", meaning="median time of a run"),
        Column("evaluations", meaning="median over runs"),
    )
    rows = []
    for (problem, strategy), runs in groups.items():
        score = statistics.scores.get((problem, strategy))
        best = score is not None and score.median_gap == _lowest(statistics, problem)
        rows.append(
            Row(
                (name_of(problem), name_of(strategy), str(len(runs)), tally(runs), *_scored(score, runs, place)),
                places.get(problem, ""),
                "best" if best else "",
            )
        )
    notes = ("In bold: the lowest median gap on an instance.",) if rows else ()
    return Table("cells", "Strategies on instances", columns, tuple(rows), notes)


def _scored(score: Score | None, runs: Sequence[Run], place: int) -> tuple[str, ...]:
    if score is None:
        return (NOTHING,) * 9
    found = [run.result.objective for run in runs if run.error is None and run.result.objective is not None]
    return (
        value(median(found) if found else None),
        gap(score.median_gap),
        _interval(score.interval),
        gap(score.worst_gap),
        gap(score.bound_gap) if score.bound_gap is not None and score.bound_gap < float("inf") else NOTHING,
        gap(score.primal_integral),
        seconds(float(score.expected("seconds")[place])),
        seconds(median(run.result.seconds for run in runs)),
        count(median(run.result.evaluations for run in runs)),
    )


def _lowest(statistics: Statistics, problem: str) -> float:
    gaps = [score.median_gap for (of, _), score in statistics.scores.items() if of == problem]
    return min((one for one in gaps if one < float("inf")), default=float("-inf"))


def runs_table(comparison: Comparison, statistics: Statistics, places: Mapping[str, str]) -> Table:
    """List all runs.

    Parameters
    ----------
    comparison, statistics
        The runs, and what was computed from them.
    places
        By instance, where the page tells more of it.

    Returns
    -------
    Table
        A row per run.
    """
    measured = any(run.megabytes is not None for run in comparison.runs)
    columns = (
        Column("instance", text=True),
        Column("strategy", text=True),
        Column("seed"),
        Column("status", text=True),
        Column("objective"),
        Column("bound", meaning="proved by this run"),
        Column("gap", meaning="to the best value known"),
        Column("gap to bound", meaning="to the bound of this run"),
        Column("seconds"),
        Column("s to best", meaning="seconds until the answer was found"),
        Column("evaluations"),
        *((Column("MB", meaning="peak memory of its process"),) if measured else ()),
        Column("ended by", text=True),
    )
    rows = []
    for run in comparison.runs:
        result, known = run.result, statistics.references[run.problem].value
        made = run.status not in ("error", NOT_APPLICABLE)
        rows.append(
            Row(
                (
                    name_of(run.problem),
                    name_of(run.strategy),
                    str(run.seed),
                    run.status,
                    value(result.objective),
                    value(result.bound),
                    gap(None if known is None else result.gap(known)),
                    gap(result.gap()),
                    seconds(result.seconds) if made else NOTHING,
                    seconds(result.seconds_to_best),
                    count(result.evaluations) if made else NOTHING,
                    *((count(run.megabytes),) if measured else ()),
                    name_of(result.stopped_by),
                ),
                places.get(run.problem, ""),
                "failed" if run.status == "error" else "",
            )
        )
    return Table("runs", "All runs", columns, tuple(rows))


def tally(runs: Sequence[Run]) -> str:
    """Tell what became of runs, with numbers where they differ.

    Parameters
    ----------
    runs
        Some.

    Returns
    -------
    str
        One status, or several with their counts.
    """
    counts = Counter(run.status for run in runs).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{word} {many}" for word, many in counts)


def _near(statistics: Statistics) -> float:
    """The target of which expected times are told: one percent, or what is nearest to it."""
    return min(statistics.targets, key=lambda one: abs(one - 0.01))


def _interval(interval: Interval | None) -> str:
    return NOTHING if interval is None else f"{gap(interval.low)} to {gap(interval.high)}"
