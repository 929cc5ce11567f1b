"""The table of a comparison: for a terminal of any width, for Markdown, for LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data import number
from ..errors import RequestError, UnknownName, printable, short, suggestion
from ..statistics import CONFIDENCE

if TYPE_CHECKING:
    from ..statistics import Reference
    from .comparison import Comparison, Summary

#: Behind a gap to a best known value that is proved to be the optimum.
PROVED = "*"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}" if math.isfinite(value) else "inf"


def _interval(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{_percent(ends[0])} to {_percent(ends[1])}"


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


#: All columns, by the name of what they show in a `Summary`.
COLUMNS = {
    "problem": Column("problem", "problem", text=True),
    "strategy": Column("strategy", "strategy", text=True),
    "runs": Column("runs", "runs", _count),
    "status": Column("status", "status", text=True),
    "objective": Column("objective", "obj."),
    "best": Column("best", "best"),
    "mean": Column("mean", "mean"),
    "worst": Column("worst", "worst"),
    "bound": Column("bound", "bound"),
    "best_known": Column("best known", "known"),
    "gap_to_best_known": Column("gap to best known", "to known", _percent),
    "interval": Column("interval", "interval", _interval),
    "worst_gap": Column("worst gap", "worst gap", _percent),
    "gap_to_bound": Column("gap to bound", "to bound", _percent),
    "evaluations": Column("evals", "evals", _count),
    "seconds": Column("seconds", "sec.", _seconds),
    "seconds_to_best": Column("to best", "to best", _seconds),
    "megabytes": Column("MB", "MB", _count),
    "ended_by": Column("ended by", "ended by", text=True),
}

#: Shown unless columns are asked for: the best of several runs never stands alone, and so it does not stand here.
USUAL = tuple(name for name in COLUMNS if name not in ("best", "mean", "best_known", "worst_gap"))

#: Shown only where some strategy has several runs on a problem.
OF_SEVERAL = ("worst", "interval")

#: What goes first when the table is wider than the terminal; the rest is folded. Seconds stay.
DISPENSABLE = (
    "evaluations",
    "runs",
    "seconds_to_best",
    "ended_by",
    "interval",
    "worst",
    "bound",
    "megabytes",
    "gap_to_bound",
)

#: Values that gaps are measured from are listed below the table for so many instances at most.
LISTED = 12

#: Texts are folded into no fewer letters than these.
NARROWEST = 8


def check_columns(names: Sequence[str] | None, known: Sequence[str]) -> None:
    """Refuse names of columns that there are not, and tell which there are."""
    for name in names or ():
        if name not in known:
            raise UnknownName(f"there is no column {short(name)}. {suggestion(name, known)}")
    if names is not None and not names:
        raise RequestError(f"a table needs at least one column: {', '.join(known)}.")


def sorted_rows(rows: Sequence[Any], column: str | None, value: Callable[[Any, str], Any]) -> list[Any]:
    """Rows in the order of a column, downwards after a minus sign; what has no value comes last."""
    if column is None:
        return list(rows)
    name = column.removeprefix("-")
    told = [row for row in rows if value(row, name) is not None]
    texts = any(not isinstance(value(row, name), int | float) for row in told)
    told.sort(key=lambda row: str(value(row, name)) if texts else value(row, name), reverse=column.startswith("-"))
    return told + [row for row in rows if value(row, name) is None]


class Table:
    """The lines of a comparison under some of their columns, in some order.

    Parameters
    ----------
    comparison
        What is told of.
    columns
        Names out of `COLUMNS`; ``None``: those that say something here.
    sort
        A column to sort by, downwards after a minus sign; ``None``: in the order of the runs.
    """

    def __init__(self, comparison: Comparison, columns: Sequence[str] | None = None, sort: str | None = None) -> None:
        check_columns(columns, list(COLUMNS))
        check_columns(None if sort is None else [sort.removeprefix("-")], list(COLUMNS))
        self.comparison = comparison
        self.lines: list[Summary] = sorted_rows(comparison.summaries, sort, getattr)
        self.chosen = columns is not None
        several = any(line.runs > 1 for line in self.lines)
        weighed = any(line.megabytes is not None for line in self.lines)
        left = (*(() if several else OF_SEVERAL), *(() if weighed else ("megabytes",)))
        self.names = list(columns) if columns is not None else [name for name in USUAL if name not in left]
        self.several = several

    def text(self, width: int | None = None) -> str:
        """For a terminal of so many columns; ``None``: all of it, however wide."""
        layout = _Layout(self.lines, self.names)
        if width is not None:
            layouts = _layouts(self.lines, self.names, width, () if self.chosen else DISPENSABLE)
            layout = next(layouts)
            while layout.total > width and (narrower := next(layouts, None)):
                layout = narrower
        notes = self.notes(layout.names)
        hidden = [COLUMNS[name].head for name in self.names if name not in layout.names]
        if hidden:
            notes.append(f"left out to fit into {width} columns: {', '.join(hidden)}")
        if width is not None:
            notes = [piece for note in notes for piece in wrap(note, max(width, 20), subsequent_indent="  ")]
        return "\n".join([*layout.lines(), "", *notes])

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Heads, and rows of cells, as they are written."""
        return [COLUMNS[name].head for name in self.names], [_cells(line, self.names) for line in self.lines]

    def markdown(self) -> str:
        """A table as GitHub and most note-taking programs read it, notes below."""
        heads, rows = self.cells()
        marks = [":--" if COLUMNS[name].text else "--:" for name in self.names]
        body = [[_in_markdown(cell) for cell in row] for row in rows]
        lines = [f"| {' | '.join(row)} |" for row in (heads, marks, *body)]
        return "\n".join([*lines, "", *(f"- {_in_markdown(note)}" for note in self.notes(self.names))])

    def latex(self) -> str:
        """A `tabular` with the rules of the package booktabs, notes as comments above."""
        heads, rows = self.cells()
        sides = "".join("l" if COLUMNS[name].text else "r" for name in self.names)
        body = [" & ".join(map(_in_latex, row)) + r" \\" for row in rows]
        notes = [f"% {printable(note)}" for note in self.notes(self.names)]
        return "\n".join(
            [
                *notes,
                rf"\begin{{tabular}}{{{sides}}}",
                r"\toprule",
                " & ".join(map(_in_latex, heads)) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
            ]
        )

    def notes(self, shown: Sequence[str]) -> list[str]:
        """What a reader must know besides."""
        comparison = self.comparison
        limits = {"seconds": "s", "evaluations": "evaluations", "stall": "evaluations without progress"}
        given = [f"{value:g} {unit}" for name, unit in limits.items() if (value := getattr(comparison.budget, name))]
        notes = [f"budget of a run: {', '.join(given) or 'none'}"]
        if self.several:
            middle = "objective, gaps, evals and times: median over the runs of a line; worst: the worst run"
            fewest = min(line.runs for line in self.lines if line.runs > 1)
            sure = f"{100 * min(CONFIDENCE, 1 - 0.5 ** (fewest - 1)):.3g}%"  # no interval leaves what was seen
            interval = f"; interval: of the median gap to best known, {sure} or more, by bootstrap over the seeds"
            notes.append(middle + (interval if "interval" in shown else ""))
        if "gap_to_best_known" in shown:
            notes += _note_on(comparison.references)
        started = any(run.result.strategy == "highs" and run.result.evaluations for run in comparison.runs)
        if started and "evaluations" in shown:
            notes.append("evals of highs: decisions evaluated in its search for a start, without the solver's own work")
        wider = dict.fromkeys(f"{run.strategy} on {run.problem}" for run in comparison.runs if run.beyond)
        if wider:
            told = "decisions of a wider class than the one asked for, which may cost less than the best of that"
            notes.append(f"{told}: {', '.join(wider)}")
        for line in comparison.summaries:
            notes += [f"{line.problem} by {line.strategy}: {printable(error)}" for error in line.errors]
        if not comparison.complete:
            notes.append("the comparison was ended early: runs are missing")
        return notes


def _note_on(references: Mapping[str, Reference]) -> list[str]:
    """Which values gaps are measured from, and what is known of them."""
    told: dict[str, list[str]] = {}
    for name, one in references.items():
        if one.value is not None:
            told.setdefault(one.source, []).append(f"{name} {number(one.value)}{PROVED * one.proved}")
    proved = [f"{PROVED} proved optimal"] if any(one.proved for one in references.values()) else []
    if sum(map(len, told.values())) > LISTED:
        sources = [f"{source} on {len(values)} instances" for source, values in told.items()]
        parts = [f"gaps to: {', '.join(sources)}; the column best_known has the values", *proved]
        return ["; ".join(parts)]
    parts = [*(f"{source}: {', '.join(values)}" for source, values in told.items()), *proved]
    return ["; ".join(parts)] if told else []


def _cells(line: Summary, names: Sequence[str]) -> list[str]:
    cells = [COLUMNS[name].write(getattr(line, name)) for name in names]
    if line.proved and "gap_to_best_known" in names and line.gap_to_best_known is not None:
        cells[list(names).index("gap_to_best_known")] += PROVED
    return cells


class _Layout:
    """Which columns are shown, under which heads, how wide; texts are folded into `room`."""

    def __init__(
        self, lines: Sequence[Summary], names: Sequence[str], brief: bool = False, room: int | None = None
    ) -> None:
        self.names = names
        heads = [COLUMNS[name].brief if brief else COLUMNS[name].head for name in names]
        self.rows = [heads, *(_cells(line, names) for line in lines)]
        self.widths = [max(len(row[i]) for row in self.rows) for i in range(len(names))]
        texts = [i for i, name in enumerate(names) if COLUMNS[name].text]
        while room is not None and texts and self.total > room and max(self.widths[i] for i in texts) > NARROWEST:
            self.widths[max(texts, key=lambda i: self.widths[i])] -= 1

    @property
    def total(self) -> int:
        """How many letters a line has."""
        return sum(self.widths) + 2 * (len(self.widths) - 1)

    def lines(self) -> list[str]:
        """Head, rule and rows."""
        head, *rows = ([*self._aligned(row)] for row in self.rows)
        body = [line for row in rows for line in row]
        return [*head, "-" * max(len(line) for line in [*head, *body]), *body]

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


def _layouts(
    lines: Sequence[Summary], names: Sequence[str], width: int, dispensable: Sequence[str]
) -> Iterator[_Layout]:
    """Layouts from the fullest on: without the least needed columns, under brief heads, with folded names."""
    stages = [names]
    for gone in dispensable:
        if gone in names and (gone != "runs" or all(line.runs == 1 for line in lines)):
            stages.append([name for name in stages[-1] if name != gone])
    yield from (_Layout(lines, stage) for stage in stages[:2])
    yield from (_Layout(lines, stage, brief=True) for stage in stages[1:])
    yield from (_Layout(lines, stage, brief=True, room=width) for stage in stages[min(3, len(stages) - 1) :])


def _fold(text: str, width: int) -> list[str]:
    """A text in pieces of at most `width` letters, cut after a mark between words where there is one."""
    pieces = []
    while len(text) > width:
        cut = max((i + 1 for i in range(width) if text[i] in " :,-"), default=width)
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]


def _in_markdown(text: str) -> str:
    """A text that no mark in it makes more than a text."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|~!&" else letter for letter in printable(text))
    return " ".join(escaped.split())


#: What TeX reads as a command.
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def _in_latex(text: str) -> str:
    """A text that no mark in it makes more than a text."""
    return " ".join("".join(LATEX.get(letter, letter) for letter in printable(text)).split())
