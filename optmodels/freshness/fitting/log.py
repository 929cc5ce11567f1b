"""Crawl logs: which page was visited when, and whether it had changed.

A log is a CSV file with a head line, or a Parquet file, with a column ``url`` or ``page``, a column ``interval`` (time
since the visit before) or ``timestamp`` (numbers, or dates and times by ISO 8601), and a column ``changed``. Rows come
in any order where they have timestamps. The first visit to a page only begins its first interval.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queueing.freshness.estimation import History, history

from ...data import collector_off, naming, parquet, reason
from ...errors import InstanceError, MissingField, RequestError, UnreadableFile, suggestion

Vector = NDArray[np.float64]
Whole = NDArray[np.int64]
Progress = Callable[[int, int, str], None]

#: Rows taken at once.
CHUNK = 5_000

#: Lengths of units of time, in seconds, for dates.
UNITS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}

NAMES, INTERVAL, TIMESTAMP, CHANGED = ("url", "page"), "interval", "timestamp", "changed"

#: Whether a page had changed, by what stands in the column.
SAID = dict.fromkeys(("1", "true", "yes", "t", "y", "1.0"), 1) | dict.fromkeys(("0", "false", "no", "f", "n", "0.0"), 0)

#: Times and weights beyond have squares or quotients that no double can hold.
SHORTEST, LONGEST = 1e-100, 1e100

#: `changed` of the first visit to a page, where nothing can be said.
UNSAID = -1


@dataclass(frozen=True, eq=False)
class CrawlLog:
    """What a log tells.

    Attributes
    ----------
    file
        Where it was read from.
    column, names
        ``"url"`` or ``"page"``, and what pages are called, in the order of their first row.
    seen
        Intervals and changes by page.
    visits
        Rows of each page.
    weights
        The newest weight of each page; ``None``: none was asked for.
    unit
        Unit of time that dates were measured in; ``None``: times were numbers.
    """

    file: str
    column: str
    names: list[str]
    seen: History
    visits: Whole
    weights: Vector | None
    unit: str | None


def read_log(
    path: str | os.PathLike[str], *, weights: str | None = None, unit: str = "days", progress: Progress | None = None
) -> CrawlLog:
    """Read a log, every row checked.

    Parameters
    ----------
    path
        Ends in ``.csv`` or ``.parquet``.
    weights
        Column with the weights of pages; the newest row of a page counts.
    unit
        In which dates are measured: seconds, minutes, hours or days.
    progress
        Called now and then with how much was read, how much there is, and what is counted.

    Returns
    -------
    CrawlLog
        The visits, page by page.

    Raises
    ------
    InstanceError
        One sentence with file, row, column, value and rule.
    """
    if unit not in UNITS:
        raise RequestError(f"dates are measured in {', '.join(UNITS)}, got {unit!r}.")
    file = os.fspath(path)
    suffix = Path(file).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise RequestError(f"{file}: a crawl log ends in .csv or .parquet.")
    if not Path(file).is_file():
        rule = "this is a directory; name a file." if Path(file).is_dir() else "there is no such file."
        raise UnreadableFile(rule, file)
    rows = _csv_rows(file, progress) if suffix == ".csv" else _parquet_rows(file, weights, progress)
    with naming(file), collector_off():
        return _gathered(file, rows, weights, unit)


@dataclass(frozen=True)
class _Columns:
    """Rows of a file: where each stands, and its values by column."""

    places: Sequence[int]
    where: str
    values: Mapping[str, Sequence[Any]]

    def refuse(self, row: int, column: str, rule: str) -> InstanceError:
        value = self.values[column][row]
        value = value.item() if isinstance(value, np.generic) else value
        return InstanceError(f"{self.where} {self.places[row]}, column {column}", value, rule)


# -- from files -------------------------------------------------------------------------------------------------------


def _csv_rows(file: str, progress: Progress | None) -> Iterator[_Columns]:
    """Read the head line, as rows of which there is none, and then all others; lines count from 1."""
    size = os.path.getsize(file)
    try:
        with open(file, "rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            head = [name.strip() for name in next(reader, [])]
            if len(set(head)) < len(head):
                twice = next(name for name in head if head.count(name) > 1)
                raise UnreadableFile(f"line 1: column {twice!r} stands twice in the head line.")
            yield _Columns([], "line", dict.fromkeys(head, ()))
            numbered = ((reader.line_num, row) for row in reader if row)
            while chunk := list(islice(numbered, CHUNK)):
                for line, row in chunk:
                    if len(row) != len(head):
                        raise UnreadableFile(f"line {line}: it has {len(row)} values, and the head line {len(head)}.")
                columns = zip(*(row for _, row in chunk), strict=True)
                yield _Columns([line for line, _ in chunk], "line", dict(zip(head, columns, strict=True)))
                if progress:
                    progress(min(raw.tell(), size), size, "bytes read")
    except UnicodeDecodeError:
        raise UnreadableFile(f"behind line {reader.line_num}: this is not text in UTF-8.") from None
    except csv.Error as failure:
        raise UnreadableFile(f"line {reader.line_num}: this is not CSV: {reason(failure)}") from None
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.") from None


def _parquet_rows(file: str, weights: str | None, progress: Progress | None) -> Iterator[_Columns]:
    """Read the columns that are needed; rows count from 0."""
    read = parquet()
    import pyarrow as pa

    try:
        table = read.ParquetFile(file)
        present = table.schema_arrow.names
        yield _Columns([], "row", dict.fromkeys(present, ()))
        wanted = [
            name for name in (*NAMES, INTERVAL, TIMESTAMP, CHANGED, weights) if name is not None and name in present
        ]
        first, total = 0, table.metadata.num_rows
        for batch in table.iter_batches(CHUNK, columns=wanted):
            values = {name: _plain(batch.column(name)) for name in wanted}
            yield _Columns(range(first, first + batch.num_rows), "row", values)
            first += batch.num_rows
            if progress:
                progress(first, total, "rows read")
    except (OSError, pa.ArrowException) as failure:
        raise UnreadableFile(f"this is no Parquet file, or only a part of one: {reason(failure)}") from None


def _plain(column: Any) -> list[Any]:
    """Return values of Python; times to the microsecond, as Python has no others."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    values: list[Any] = column.to_pylist()
    return values


# -- rows to histories ------------------------------------------------------------------------------------------------


def _gathered(file: str, rows: Iterator[_Columns], weights: str | None, unit: str) -> CrawlLog:
    head = next(rows)
    column, timed = _needed(head, weights)
    index: dict[str, int] = {}
    parts: list[tuple[Whole, Vector, NDArray[np.int8], Whole, Vector]] = []
    dated: bool | None = None
    for chunk in rows:
        pages = _pages(chunk, column, index)
        if timed:
            if dated is None:
                first = chunk.values[TIMESTAMP][0]
                dated = not isinstance(first, int | float) and math.isnan(_number(first))
            times = _dates(chunk, UNITS[unit]) if dated else _numbers(chunk, TIMESTAMP, -LONGEST, "a time is a number")
        else:
            times = _numbers(chunk, INTERVAL, SHORTEST, "an interval is a number above 0")
        worth = np.zeros(0) if weights is None else _numbers(chunk, weights, 0.0, "a weight is a number")
        parts.append((pages, times, _changes(chunk, timed), np.array(chunk.places, dtype=np.int64), worth))
    if not parts:
        raise UnreadableFile("there is no row below the head line.")
    pages, times, changed, places, worth = (np.concatenate(part) for part in zip(*parts, strict=True))
    count = len(index)
    order = np.lexsort((times, pages)) if timed else np.argsort(pages, kind="stable")
    newest = None
    if weights is not None:
        newest = np.zeros(count)
        newest[pages[order]] = worth[order]  # of several rows of a page the last one stays
    if timed:
        pages, times, changed = _intervals(pages[order], times[order], changed[order], places[order], head.where)
        visits = np.bincount(pages, minlength=count) + 1
    else:
        visits = np.bincount(pages, minlength=count)
    seen = history(pages, times, changed, count)
    return CrawlLog(file, column, list(index), seen, visits, newest, unit if dated else None)


def _needed(head: _Columns, weights: str | None) -> tuple[str, bool]:
    """Find the column with the names of pages, and whether visits have timestamps."""
    present = list(head.values)
    there = ", ".join(present[:10]) or "none"
    column = next((name for name in NAMES if name in present), None)
    if column is None:
        raise MissingField("column url", f"a crawl log has url or page, and here are: {there}.")
    if INTERVAL not in present and TIMESTAMP not in present:
        raise MissingField(f"column {INTERVAL}", f"a crawl log has {INTERVAL} or {TIMESTAMP}, and here are: {there}.")
    if CHANGED not in present:
        raise MissingField(f"column {CHANGED}", f"a crawl log says whether pages had changed, and here are: {there}.")
    if weights is not None and weights not in present:
        raise MissingField(f"column {weights}", f"it was asked for as weights. {suggestion(weights, present)}")
    return column, INTERVAL not in present


def _pages(chunk: _Columns, column: str, index: dict[str, int]) -> Whole:
    found = []
    for row, name in enumerate(chunk.values[column]):
        text = str(name)
        page = index.get(text)
        if page is None:
            if name is None or not text.strip() or not text.isprintable():
                raise chunk.refuse(row, column, "pages have names that are printable text on one line.")
            page = index[text] = len(index)
        found.append(page)
    return np.array(found, dtype=np.int64)


def _numbers(chunk: _Columns, column: str, least: float, rule: str) -> Vector:
    given = chunk.values[column]
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array([_number(value) for value in given])
    wrong = ~((found >= least) & (found <= LONGEST))
    if wrong.any():
        raise chunk.refuse(int(np.argmax(wrong)), column, f"{rule}, from {least:g} to {LONGEST:g}.")
    return found


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _dates(chunk: _Columns, unit: float) -> Vector:
    """Dates as numbers of units since 1970; without a time zone they are those of UTC."""
    found = []
    for row, value in enumerate(chunk.values[TIMESTAMP]):
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
        except ValueError:
            rule = "timestamps are all numbers, or all dates such as 2026-01-31T12:00:00Z."
            raise chunk.refuse(row, TIMESTAMP, rule) from None
        found.append((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / unit)
    return np.array(found)


def _changes(chunk: _Columns, timed: bool) -> NDArray[np.int8]:
    given, said = chunk.values[CHANGED], SAID | ({"": UNSAID} if timed else {})
    known = {value: said.get("" if value is None else str(value).strip().lower()) for value in set(given)}
    if None in known.values():
        row = next(row for row, value in enumerate(given) if known[value] is None)
        raise chunk.refuse(row, CHANGED, "it is 1 or true if the page had changed since the visit before, else 0.")
    return np.array([known[value] for value in given], dtype=np.int8)


def _intervals(
    pages: Whole, times: Vector, changed: NDArray[np.int8], places: Whole, where: str
) -> tuple[Whole, Vector, NDArray[np.int8]]:
    """Compute intervals between visits to one page, of rows sorted by page and time."""
    follows = np.diff(pages) == 0
    intervals = np.diff(times)
    same = follows & ~(intervals >= SHORTEST)
    if same.any():
        row = int(np.argmax(same))
        first, second = sorted(places[row : row + 2].tolist())
        raise InstanceError(
            f"{where} {second}, column {TIMESTAMP}",
            float(times[row]),
            f"the page was visited at the same time in {where} {first}; visits to one page lie apart.",
        )
    unsaid = follows & (changed[1:] == UNSAID)
    if unsaid.any():
        place = int(places[1:][unsaid].min())
        rule = "only the first visit to a page may leave it open whether the page had changed."
        raise InstanceError(f"{where} {place}, column {CHANGED}", "", rule)
    return pages[1:][follows], intervals[follows], changed[1:][follows]
