"""Hosts and URLs of a table of pages that fits into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...data import npy_window
from ...errors import InstanceError
from ..data import MOST_HOSTS
from .columns import HOST, URL, cell

if TYPE_CHECKING:
    from .pages import PageTable, Piece

HOST_RULE = f"hosts are whole numbers from 0, below {MOST_HOSTS}, or texts."
URL_RULE = "URLs are printable text on one line."


def read_hosts(table: PageTable) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Number of the host of each page, and the names of hosts that are texts, numbered as they come."""
    hosts = np.empty(table.rows, dtype=np.int64)
    known: dict[str, int] = {}
    row = 0
    for piece in table.pieces:
        for numbers in _npy_hosts(piece) if not piece.groups else _parquet_hosts(piece, known):
            hosts[row : row + len(numbers)] = numbers
            row += len(numbers)
    return hosts, tuple(known) or None


def read_urls(table: PageTable) -> tuple[str, ...]:
    """What pages are called."""
    found: dict[str, int] = {}
    for piece in table.pieces:
        row = piece.first
        for batch in piece.batches([URL]):
            for index, text in enumerate(batch.column(0).to_pylist()):
                if text is None or not text.strip() or not text.isprintable():
                    raise InstanceError(cell(row + index, URL), text, URL_RULE, piece.file)
                if found.setdefault(text, len(found)) != piece.page + row - piece.first + index:
                    rule = f"page {found[text]} is called so, too; a URL is that of one page."
                    raise InstanceError(cell(row + index, URL), text, rule, piece.file)
            row += batch.num_rows
    return tuple(found)


def _npy_hosts(piece: Piece) -> Any:
    numbers = npy_window(f"{piece.file}/{HOST}.npy", piece.first, piece.rows)
    yield _whole(numbers, piece.first, piece.file)


def _parquet_hosts(piece: Piece, known: dict[str, int]) -> Any:
    row = piece.first
    for batch in piece.batches([HOST]):
        column = batch.column(0)
        if column.null_count:
            missing = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
            raise InstanceError(cell(row + missing, HOST), None, HOST_RULE, piece.file)
        if hasattr(column, "indices") or not _are_numbers(column):
            coded = column if hasattr(column, "indices") else column.dictionary_encode()
            numbers = [known.setdefault(str(name), len(known)) for name in coded.dictionary.to_pylist()]
            yield np.array(numbers, dtype=np.int64)[coded.indices.to_numpy(zero_copy_only=False)]
        else:
            yield _whole(column.to_numpy(zero_copy_only=False), row, piece.file)
        row += batch.num_rows


def _are_numbers(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(column.type))


def _whole(numbers: NDArray[Any], row: int, file: str) -> NDArray[np.int64]:
    wrong = (numbers < 0) | (numbers >= MOST_HOSTS)
    if wrong.any():
        position = int(np.argmax(wrong))
        raise InstanceError(cell(row + position, HOST), int(numbers[position]), HOST_RULE, file)
    return numbers.astype(np.int64)
