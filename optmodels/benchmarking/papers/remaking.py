"""`remake`: every table and figure of the five papers, beside what is printed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ...data import columns, csv_text, write_text
from ...studies import call_all
from . import altman, avrachenkov, coffman, gautam, talim
from .tables import PaperTable, signed

PAPERS: dict[str, ModuleType] = {
    "avrachenkov": avrachenkov,
    "talim": talim,
    "coffman": coffman,
    "altman": altman,
    "gautam": gautam,
}


@dataclass(frozen=True)
class Remade:
    """Tables beside those of the papers.

    Parameters
    ----------
    tables
        In the order of the papers.
    missing
        What was not remade: paper, title and why.
    seconds
        Time that it took.
    complete
        ``False`` if it was ended early.
    """

    tables: tuple[PaperTable, ...]
    missing: tuple[tuple[str, str, str], ...]
    seconds: float
    complete: bool = True

    def text(self, *, full: bool = False) -> str:
        """Write all tables, or of each the cells that differ; then a summary, and what was not remade."""
        rows = [["paper", "", "values", "same", "differ", "of these no known erratum"]]
        for table in self.tables:
            counts = len(table.cells), len(table.cells) - len(table.differing), len(table.differing)
            rows.append([table.paper, table.title, *map(str, counts), str(len(table.unexplained))])
        absent = [f"not remade: {paper}, {title}: {why}" for paper, title, why in self.missing]
        parts = [*(table.text(full=full) for table in self.tables if full or table.differing), columns(rows)]
        return "\n\n".join([*parts, *(["\n".join(absent)] if absent else [])])

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "tables": [table.to_data() for table in self.tables],
            "missing": [dict(zip(("paper", "title", "why"), one, strict=True)) for one in self.missing],
            "seconds": self.seconds,
            "complete": self.complete,
        }

    def page_tables(self) -> list[dict[str, Any]]:
        """Write a table for each paper, and one of what was not remade, as `optmodels.reporting` shows them."""
        papers: dict[str, list[PaperTable]] = {}
        for table in self.tables:
            papers.setdefault(table.paper, []).append(table)
        tables: list[dict[str, Any]] = []
        for paper, parts in papers.items():
            values = sum(len(part.cells) for part in parts)
            same = values - sum(len(part.differing) for part in parts)
            rows = [
                [
                    part.title,
                    cell.row,
                    cell.column,
                    cell.printed,
                    cell.ours,
                    signed(cell.difference),
                    cell.told,
                    cell.why,
                ]
                for part in parts
                for cell in part.cells
            ]
            tables.append(
                {
                    "caption": f"{paper}: {same} of {values} printed values are the same",
                    "columns": ["where", "row", "column", "printed", "ours", "difference", "verdict", "why"],
                    "rows": rows,
                    "notes": [f"{part.title}: {part.note}" for part in parts if part.note],
                }
            )
        if self.missing:
            rows = [list(one) for one in self.missing]
            tables.append({"caption": "Not remade", "columns": ["paper", "where", "why"], "rows": rows, "notes": []})
        return tables

    def to_csv(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write a CSV file for each table; returns their paths."""
        written = []
        for table in self.tables:
            stem = re.sub(r"[^a-z0-9]+", "-", f"{table.paper} {table.title}".lower()).strip("-")
            path = Path(folder) / f"{stem}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, csv_text(table.records()))
            written.append(os.fspath(path))
        return written


def remake(
    workers: int = 1, progress: Callable[[int, int, str], None] | None = None, papers: Iterable[str] = tuple(PAPERS)
) -> Remade:
    """Compute every table and figure of the five papers, and hold them against what is printed.

    Parameters
    ----------
    workers
        Processes that share the tables.
    progress
        Called with the number of tables that stand, of all, and a word on it.
    papers
        Which, by the name of the first author.

    Returns
    -------
    Remade
        All tables; one that failed is listed among those that are missing, with its reason.
    """
    begun, papers = time.perf_counter(), tuple(papers)
    jobs = [(name, index) for name in papers for index in range(len(PAPERS[name].TABLES))]
    order = sorted(range(len(jobs)), key=lambda job: -_COSTLY.get(jobs[job], 0.0))
    found: dict[tuple[str, int], PaperTable] = {}
    missing = [(PAPERS[name].PAPER, title, why) for name in papers for title, why in PAPERS[name].MISSING.items()]
    complete = True
    answers = call_all(remake_one, [jobs[job] for job in order], workers)
    try:
        for answer in answers:
            job = jobs[order[answer.index]]
            if answer.value is None:
                title = PAPERS[job[0]].TABLES[job[1]].__name__
                missing.append((PAPERS[job[0]].PAPER, title, f"failed: {answer.error}"))
            else:
                found[job] = answer.value
            if progress is not None:
                progress(len(found), len(jobs), PAPERS[job[0]].PAPER)
    except KeyboardInterrupt:
        complete = False
    finally:
        answers.close()
    tables = tuple(found[job] for job in jobs if job in found)
    return Remade(tables, tuple(missing), time.perf_counter() - begun, complete)


def remake_one(paper: str, index: int) -> PaperTable:
    """Compute one table; at the top of the module so that other processes find it."""
    table: PaperTable = PAPERS[paper].TABLES[index]()
    return table


#: Seconds that the longest take: they begin first.
_COSTLY: dict[tuple[str, int], float] = {("talim", 0): 60.0, ("talim", 1): 50.0, ("avrachenkov", 8): 40.0}
