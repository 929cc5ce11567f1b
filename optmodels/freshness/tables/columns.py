"""Names and rules of the columns of a table of pages, and what Parquet files of pages must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InstanceError, MissingField

if TYPE_CHECKING:
    import pyarrow as pa

Vector = NDArray[np.float64]

RATE, WEIGHT, HOST, URL = "change_rate", "weight", "host", "url"
RULES = {RATE: "change rates are finite numbers, zero or more.", WEIGHT: "weights are finite numbers, zero or more."}

#: Where the label of synthetic pages stands in the metadata of a Parquet file.
LABEL = b"optmodels.synthetic"


def cell(row: int, column: str) -> str:
    """Where a number stands in its file."""
    return f"row {row}, column {column}"


# -- Parquet ----------------------------------------------------------------------------------------------------------


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


def numbers_of(column: pa.Array, name: str, row: int, file: str) -> Vector:
    """One batch of a column as floats, without a copy where it has them."""
    if column.null_count:
        missing = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
        raise InstanceError(cell(row + missing, name), None, RULES[name], file)
    values: Vector = column.to_numpy(zero_copy_only=True).astype(np.float64, copy=False)
    return values
