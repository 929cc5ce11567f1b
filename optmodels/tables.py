"""Tables for people and for programs: aligned text, CSV, and files that grow line by line."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import UnreadableFile


def number(value: Any) -> str:
    """A number for people, a dash where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Rows of text aligned in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return "\n".join(
        (indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    )


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV with a head line."""
    stream = io.StringIO()
    names = list(dict.fromkeys(name for record in records for name in record))
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and see it onto the disk; a reader never sees two lines run together."""
    try:
        with path.open("ab") as stream:
            stream.write(line.encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as failure:
        raise UnreadableFile(f"cannot be written: {failure.strerror or failure}.", os.fspath(path)) from None


def whole_lines(path: Path) -> list[str]:
    """Lines of a file that may have been torn off in the middle of the last one; the torn piece is cut away."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", os.fspath(path)) from None
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as stream:
            stream.truncate(whole)
    return content[:whole].decode("utf-8", "replace").splitlines()
