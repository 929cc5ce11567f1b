"""Names and rules of the columns of a table of pages, and columns that are ``.npy`` files."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import UnreadableFile

Vector = NDArray[np.float64]

RATE, WEIGHT, HOST, URL = "change_rate", "weight", "host", "url"
RULES = {RATE: "change rates are finite numbers, zero or more.", WEIGHT: "weights are finite numbers, zero or more."}


def cell(row: int, column: str) -> str:
    """Where a number stands in its file."""
    return f"row {row}, column {column}"


def stamp_of(file: str) -> tuple[int, int]:
    """Size and time of a file: another stamp, another file."""
    try:
        status = os.stat(file)
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror}.", file) from None
    return status.st_size, status.st_mtime_ns


def reason(failure: BaseException) -> str:
    """What a library says, as the end of a sentence."""
    text = " ".join(str(failure).split()) or type(failure).__name__
    return text if text.endswith(".") else f"{text}."


# -- .npy -------------------------------------------------------------------------------------------------------------


def npy_window(file: str, first: int, count: int) -> Vector:
    """Some rows of a column as floats, mapped into memory where it has them."""
    kind, offset, _ = npy_layout(file, stamp_of(file))
    try:
        window = np.memmap(file, kind, "r", offset + first * kind.itemsize, (count,))
    except (OSError, ValueError) as failure:
        raise UnreadableFile(f"the file is damaged: {reason(failure)}", file) from None
    return np.asarray(window, dtype=np.float64)


@lru_cache(maxsize=64)
def npy_layout(file: str, stamp: tuple[int, int]) -> tuple[np.dtype[Any], int, tuple[int, ...]]:
    """Kind of the numbers, where they begin, and shape; nothing is mapped, as a whole column may not fit."""
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
