"""Tables for people and for programs: aligned text, and CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Cells that begin so are computed by spreadsheets, not shown.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def number(value: Any) -> str:
    """Write a number for people, a dash where there is none.

    Parameters
    ----------
    value
        A number, or ``None``.

    Returns
    -------
    str
        Six digits of it.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Align rows of text in columns.

    Parameters
    ----------
    rows
        Cells, as many in each row.
    indent
        Stands before each line.

    Returns
    -------
    str
        A line for each row.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return "\n".join(
        (indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    )


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Write records as CSV with a head line.

    Parameters
    ----------
    records
        Values by column; columns stand in the order in which they are first met.

    Returns
    -------
    str
        The head, and a line for each record.
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    return csv_rows([names, *([record.get(name, "") for name in names] for record in records)])


def csv_rows(rows: Iterable[Iterable[Any]]) -> str:
    """Write rows as CSV; texts that would be formulas are marked as texts, see `guarded`.

    Parameters
    ----------
    rows
        Cells of each row.

    Returns
    -------
    str
        A line for each row.
    """
    stream = io.StringIO()
    ordinary = csv.writer(stream, lineterminator="\n")
    quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [guarded(cell) for cell in row]
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)  # which Python leaves bare before 3.13
        (quoted if returns else ordinary).writerow(cells)
    return stream.getvalue()


def guarded(cell: Any) -> Any:
    """A cell that is shown, never computed: a text that begins like a formula gets an apostrophe before it.

    Names and addresses come from others, and a spreadsheet would run them. Numbers are left alone; `unguarded` takes
    the apostrophe away again.

    >>> guarded("=1+1"), guarded("-1.5"), guarded(-1.5), guarded("a=b")
    ("'=1+1", '-1.5', -1.5, 'a=b')
    """
    return f"'{cell}" if isinstance(cell, str) and _like_a_formula(cell) and not _is_number(cell) else cell


def unguarded(cell: str) -> str:
    """Take away the apostrophe that `guarded` put before a text.

    Parameters
    ----------
    cell
        As it stands in a CSV file.

    Returns
    -------
    str
        What `guarded` was given.
    """
    return cell[1:] if cell.startswith("'") and _like_a_formula(cell) else cell


def _like_a_formula(text: str) -> bool:
    return text.lstrip("'").startswith(FORMULAS)  # apostrophes of its own get one more, so that none is lost


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
