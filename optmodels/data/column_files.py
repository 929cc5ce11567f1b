"""Columns of numbers in files: ``.npy`` mapped into memory, Parquet batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RequestError, UnreadableFile

if TYPE_CHECKING:
    import pyarrow as pa

Vector = NDArray[np.float64]

#: Larger column chunks of Parquet are read through a buffer, not as a whole.
LARGEST_READ = 64 * 2**20
BUFFER = 2**20


def stamp_of(file: str) -> tuple[int, int]:
    """Tell size and time of a file: another stamp, another file.

    Parameters
    ----------
    file
        Path of the file.

    Returns
    -------
    tuple of int
        Bytes, and nanoseconds of the last change.

    Raises
    ------
    UnreadableFile
        If there is no such file.
    """
    try:
        status = os.stat(file)
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror}.", file) from None
    return status.st_size, status.st_mtime_ns


def reason(failure: BaseException) -> str:
    """Take what a library says as the end of a sentence.

    Parameters
    ----------
    failure
        What was raised.

    Returns
    -------
    str
        Its text on one line, with a full stop.
    """
    text = " ".join(str(failure).split()) or type(failure).__name__
    return text if text.endswith(".") else f"{text}."


# -- .npy -------------------------------------------------------------------------------------------------------------


def npy_window(file: str, first: int, count: int) -> Vector:
    """Read some rows of a column as floats, mapped into memory where it has them.

    Parameters
    ----------
    file
        Path of a ``.npy`` file.
    first
        The first row.
    count
        How many rows.

    Returns
    -------
    Vector
        The rows.

    Raises
    ------
    UnreadableFile
        If the file is damaged.
    """
    kind, offset, _ = npy_layout(file, stamp_of(file))
    try:
        window = np.memmap(file, kind, "r", offset + first * kind.itemsize, (count,))
    except (OSError, ValueError) as failure:
        raise UnreadableFile(f"the file is damaged: {reason(failure)}", file) from None
    return np.asarray(window, dtype=np.float64)


@lru_cache(maxsize=64)
def npy_layout(file: str, stamp: tuple[int, int]) -> tuple[np.dtype[Any], int, tuple[int, ...]]:
    """Read kind, offset and shape of a column; nothing is mapped, as a whole column may not fit.

    Parameters
    ----------
    file
        Path of a ``.npy`` file.
    stamp
        Its `stamp_of`.

    Returns
    -------
    tuple
        Kind of the numbers, where they begin, and the shape.

    Raises
    ------
    UnreadableFile
        If this is no ``.npy`` file, or only a part of one.
    """
    try:
        with open(file, "rb") as stream:
            version = np.lib.format.read_magic(stream)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, _, kind = read(stream)
            offset = stream.tell()
        if stamp[0] < offset + kind.itemsize * int(np.prod(shape)):
            raise ValueError(f"{shape} numbers do not fit into {stamp[0]} bytes")
    except (OSError, ValueError, KeyError) as failure:
        raise UnreadableFile(f"this is no .npy file, or only a part of one: {reason(failure)}", file) from None
    return kind, offset, shape


# -- Parquet ----------------------------------------------------------------------------------------------------------


def parquet() -> Any:
    """Import ``pyarrow.parquet``, or say how to get it.

    Returns
    -------
    module
        ``pyarrow.parquet``.

    Raises
    ------
    RequestError
        If pyarrow is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as failure:
        raise RequestError("Parquet files need pyarrow: pip install 'optmodels[scale]'.") from failure
    return pyarrow.parquet


@lru_cache(maxsize=64)
def footer_of(file: str, stamp: tuple[int, int]) -> Any:
    """Read what a Parquet file tells of itself; it is kept, as every piece of the file asks for it again.

    Parameters
    ----------
    file
        Path of the file.
    stamp
        Its `stamp_of`: a file that changed is read again.

    Returns
    -------
    pyarrow.parquet.FileMetaData
        Schema, row groups and sizes.

    Raises
    ------
    UnreadableFile
        If this is no Parquet file, or only a part of one.
    """
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
    """Read columns of some row groups as they are, so many rows at a time.

    Parameters
    ----------
    file
        Path of a Parquet file.
    stamp
        Its `stamp_of`.
    groups
        Numbers of the row groups.
    names
        Names of the columns.
    size
        Most rows of a batch.

    Yields
    ------
    pa.RecordBatch
        The next rows.

    Raises
    ------
    UnreadableFile
        If the file is damaged.
    """
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
