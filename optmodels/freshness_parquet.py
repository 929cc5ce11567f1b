"""Parquet files of pages: what they say of themselves, and their columns, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InstanceError, MissingField, RequestError, UnreadableFile
from .freshness_columns import HOST, RATE, RULES, URL, WEIGHT, Vector, cell, reason

if TYPE_CHECKING:
    import pyarrow as pa

#: Larger column chunks of Parquet are read through a buffer, not as a whole.
LARGEST_READ = 64 * 2**20
BUFFER = 2**20

#: Where the label of synthetic pages stands in the metadata of a Parquet file.
LABEL = b"optmodels.synthetic"


def parquet() -> Any:
    """``pyarrow.parquet``, or a sentence that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError as failure:
        raise RequestError("Parquet files need pyarrow: pip install 'optmodels[scale]'.") from failure
    return pyarrow.parquet


def known_columns(footer: Any, file: str, columns: tuple[str, str]) -> tuple[str, ...]:
    """The columns we know that are there, or the first one that is not what it should be."""
    import pyarrow as pa

    schema = footer.schema.to_arrow_schema()
    for name in dict.fromkeys(columns):
        if name not in schema.names:
            there = ", ".join(schema.names[:10]) or "none"
            raise MissingField(
                f"column {name}", f"a table of pages has {RATE} and {WEIGHT}, and here are: {there}.", file
            )
    for name in {*columns, HOST, URL}:
        if schema.names.count(name) > 1:
            rule = "every column has a name of its own."
            raise InstanceError(f"column {name}", f"there {schema.names.count(name)} times", rule, file)
    for name in dict.fromkeys(columns):
        kind = schema.field(name).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise InstanceError(f"column {name}", str(kind), "it is one column of numbers.", file)
    for name, allowed, rule in (
        (HOST, _host_kind, "hosts are whole numbers or texts."),
        (URL, _text_kind, "URLs are texts."),
    ):
        if name in schema.names and not allowed(schema.field(name).type):
            raise InstanceError(f"column {name}", str(schema.field(name).type), rule, file)
    return tuple(name for name in (RATE, WEIGHT, HOST, URL) if name in schema.names)


def _host_kind(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind)) or _text_kind(kind)


def _text_kind(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@lru_cache(maxsize=64)
def footer_of(file: str, stamp: tuple[int, int]) -> Any:
    """What a Parquet file tells of itself; kept, as every piece of the file asks for it again."""
    read = parquet()
    import pyarrow as pa

    try:
        footer = read.read_metadata(file)
        footer.schema.to_arrow_schema()
    except pa.ArrowMemoryError:
        raise
    except (OSError, pa.ArrowException) as failure:
        raise UnreadableFile(f"this is no Parquet file, or only a part of one: {reason(failure)}", file) from None
    return footer


def batches_of(
    file: str, stamp: tuple[int, int], groups: Sequence[int], names: Sequence[str], size: int
) -> Iterator[pa.RecordBatch]:
    """Columns of some row groups as they are, so many rows at a time."""
    import pyarrow as pa

    footer = footer_of(file, stamp)
    largest = max(
        footer.row_group(group).column(column).total_compressed_size
        for group in groups
        for column in range(footer.num_columns)
    )
    buffer = BUFFER if largest > LARGEST_READ else 0
    try:
        with parquet().ParquetFile(file, metadata=footer, pre_buffer=False, buffer_size=buffer) as opened:
            yield from opened.iter_batches(size, list(groups), list(names), use_threads=False)
    except pa.ArrowMemoryError:
        raise
    except (OSError, pa.ArrowException) as failure:
        raise UnreadableFile(f"the file is damaged: {reason(failure)}", file) from None


def numbers_of(column: pa.Array, name: str, row: int, file: str) -> Vector:
    """One batch of a column as floats, without a copy where it has them."""
    if column.null_count:
        missing = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
        raise InstanceError(cell(row + missing, name), None, RULES[name], file)
    values: Vector = column.to_numpy(zero_copy_only=True).astype(np.float64, copy=False)
    return values
