"""When pages are visited next: a table for a crawler, as CSV or Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from heuristics.sequencing import greedy

from ...data import Part, csv_rows, whole_file, write_parquet
from ...errors import RequestError, short
from ..partition import given_parts
from ..problem import FreshnessProblem
from ..rules import Indices
from ..space import IDLE, Visits

SUFFIXES = (".csv", ".parquet")

#: Rows made at a time, and most of them.
CHUNK, MOST_ROWS = 100_000, 1_000_000_000

#: Slots for each page where a decision has no cycle.
SLOTS_FOR_EACH = 10


def write_visits(
    problem: FreshnessProblem, decision: Any, path: str | os.PathLike[str], *, slots: int | None = None, seed: int = 0
) -> Part:
    """Write a line for each visit that a decision makes, in order of time, the whole file or nothing.

    Columns: ``page`` (its number), ``url`` and ``host`` where they are known, ``robot``, ``slot`` (from 0) and
    ``next_visit``, the expected time at which the visit begins: slot times the mean access time.

    Parameters
    ----------
    problem
        The pages, and who visits them.
    decision
        A cycle is followed, draws are made with `seed`; frequencies are turned into visits by `greedy`.
    path
        Ends in ``.csv`` or ``.parquet``.
    slots
        How many slots of each robot; by default the longest cycle once, or, without a cycle, 10 for each page and 1000
        at least.
    seed
        Of draws, where a decision asks for them.

    Returns
    -------
    Part
        Name, rows and checksum of the file.

    Raises
    ------
    RequestError
        If the file has another ending, or slots are not a number that can be written.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise RequestError(f"visits are written as .csv or .parquet, and {short(os.fspath(path))} ends in neither.")
    cycles, length = _planned(problem, decision, slots, seed)
    tables = _tables(problem, cycles, length)
    if target.suffix.lower() == ".parquet":
        return write_parquet(target, tables)
    written = 0
    with whole_file(target) as stream:
        for number, table in enumerate(tables):
            rows = zip(*map(_cells, table.values()), strict=True)
            written += len(table["page"])
            stream.write(csv_rows(rows if number else [table, *rows]).encode())
    return Part(target.name, written, stream.bytes, stream.sha256)


def list_visits(
    problem: FreshnessProblem,
    decision: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    slots: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """List the visits that a decision makes, in order of time, or write them to a file.

    Parameters
    ----------
    problem, decision, slots, seed
        As for `write_visits`, which tells the columns.
    out
        File to write instead.

    Returns
    -------
    dict
        The columns by name; of a file its name, rows and checksum.
    """
    if out is not None:
        return write_visits(problem, decision, out, slots=slots, seed=seed).to_data()
    tables = list(_tables(problem, *_planned(problem, decision, slots, seed)))
    joined: dict[str, Any] = {}
    for name, first in tables[0].items():
        parts = [table[name] for table in tables]
        joined[name] = [text for part in parts for text in part] if isinstance(first, list) else np.concatenate(parts)
    return joined


def _planned(problem: FreshnessProblem, decision: Any, slots: int | None, seed: int) -> tuple[list[Indices], int]:
    """The order of visits of each robot, and how many slots are told of."""
    if slots is not None and not 1 <= slots <= MOST_ROWS // problem.rules.robots:
        raise RequestError(f"slots are a whole number from 1 to {MOST_ROWS // problem.rules.robots}, got {slots}.")
    cycles = cycles_of(problem, decision, slots, seed)
    return cycles, max(map(len, cycles)) if slots is None else slots


def cycles_of(problem: FreshnessProblem, decision: Any, slots: int | None = None, seed: int = 0) -> list[Indices]:
    """Order the visits of each robot; to be repeated if the decision is a cycle."""
    try:
        checked = problem.visits_of(decision)
    except ValueError as failure:
        raise RequestError(f"this is not a valid decision for {problem.name!r}: {failure}") from None
    if isinstance(checked, Visits) and checked.form != "randomized":
        return list(checked.cycles)
    drawn = isinstance(checked, Visits)
    frequencies = np.asarray(checked["randomized"] if drawn else checked, dtype=np.float64)
    if not frequencies.any():
        raise RequestError("these frequencies are all 0, so that no page is ever visited.")
    parts = given_parts(problem.traits, problem.rules, frequencies)
    rng = np.random.default_rng(seed)
    cycles = []
    for part in parts:
        length = slots or max(1000, SLOTS_FOR_EACH * len(part.pages))
        if drawn:
            cycles.append(part.pages[rng.choice(len(part.pages), size=length, p=part.frequencies)])
        else:
            cycles.append(part.pages[greedy(part.frequencies, length, part.hosts, problem.rules.gap)])
    return cycles


def _tables(problem: FreshnessProblem, cycles: list[Indices], length: int) -> Iterator[dict[str, Any]]:
    """Columns of a part of the visits at a time, by slot, then by robot."""
    pages, mean = problem.columns, problem.access_time.mean
    step = max(1, CHUNK // len(cycles))
    for first in range(0, length, step):
        slot = np.arange(first, min(first + step, length))
        page = np.stack([cycle[slot % len(cycle)] for cycle in cycles], axis=1).ravel()
        visited = page != IDLE
        page = page[visited]
        table: dict[str, Any] = {"page": page}
        if pages.urls is not None:
            table["url"] = [pages.urls[index] for index in page.tolist()]
        if pages.hosts is not None:
            table["host"] = pages.hosts[page]
        slots = np.repeat(slot, len(cycles))[visited]
        robots = np.tile(np.arange(len(cycles)), len(slot))[visited]
        yield table | {"robot": robots, "slot": slots, "next_visit": slots * mean}


def _cells(column: Any) -> list[Any]:
    """Format a column as it is written; times without the digits that rounding left."""
    if isinstance(column, list):
        return column
    return [f"{value:.12g}" for value in column.tolist()] if column.dtype.kind == "f" else column.tolist()
