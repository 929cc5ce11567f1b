"""Tables of pages too large for memory: Parquet files, a folder of them, or a folder of ``.npy`` columns.

A table has a column ``change_rate``, a column ``weight``, and perhaps ``host`` and ``url``. It is cut into pieces of
about a million pages (row groups of Parquet, windows of a memory-mapped column), and a piece is read in chunks of at
most as many; nobody ever holds more. A piece is a handful of names and numbers that travels to other processes, which
open the file for themselves.

Every number is looked at by whoever uses it first. A complaint names file, row and column; rows count from 0 in each
file.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from queueing.freshness import PageError
from queueing.processes import first_negative

from ...data import batches_of, check_manifest, footer_of, npy_layout, npy_window, stamp_of
from ...errors import InstanceError, MissingField, UnreadableFile
from ..data import MOST_HOSTS, misnamed

if TYPE_CHECKING:
    import pyarrow as pa

Vector = NDArray[np.float64]

RATE, WEIGHT, HOST, URL = "change_rate", "weight", "host", "url"
RULES = {RATE: "change rates are finite numbers, zero or more.", WEIGHT: "weights are finite numbers, zero or more."}

#: Where the label of synthetic pages stands in the metadata of a Parquet file.
LABEL = b"optmodels.synthetic"

#: Pages of a piece, the unit that threads and processes take; a single larger row group is a piece, too.
PIECE = 1_000_000

#: Pages read at once.
CHUNK = 1_000_000

HOST_RULE = f"hosts are whole numbers from 0, below {MOST_HOSTS}, or texts."


def cell(row: int, column: str) -> str:
    """Name the place of a number in its file."""
    return f"row {row}, column {column}"


@dataclass(frozen=True)
class Piece:
    """Neighbouring rows of one file.

    Attributes
    ----------
    file
        The Parquet file, or the folder of the ``.npy`` columns.
    page
        Number of the first page in the whole table.
    first, rows
        First row of the file, and how many.
    groups
        Their row groups; empty for ``.npy``.
    columns
        Which column has the rates and which the weights; the same one if weights are the change rates.
    stamp
        Size and time of the file when the table was opened.
    """

    file: str
    page: int
    first: int
    rows: int
    groups: tuple[int, ...]
    columns: tuple[str, str]
    stamp: tuple[int, int]

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """Rates and weights, so many pages at a time; not looked at, see `Chunk.refuse`."""
        needed = tuple(dict.fromkeys(self.columns))
        row = 0
        for values in self._arrays(needed, size or CHUNK):
            yield Chunk(self, row, values[0], values[-1])
            row += len(values[0])
        if row != self.rows:
            raise UnreadableFile(f"{self.rows} rows were promised, and {row} are there.", self.file)

    def _arrays(self, names: Sequence[str], size: int) -> Iterator[list[Vector]]:
        """Read so many rows of columns at a time; ``.npy`` files window by window: address space is bounded."""
        if self.groups:
            row = self.first
            for batch in self.batches(names, size):
                yield [numbers_of(batch.column(name), name, row, self.file) for name in names]
                row += batch.num_rows
            return
        files = [os.path.join(self.file, f"{name}.npy") for name in names]
        if stamp_of(os.path.join(self.file, f"{RATE}.npy")) != self.stamp:
            raise UnreadableFile("the file has changed since it was opened.", files[0])
        last = self.first + self.rows
        for first in range(self.first, last, size):
            yield [npy_window(file, first, min(size, last - first)) for file in files]

    def batches(self, names: Sequence[str], size: int = CHUNK) -> Iterator[pa.RecordBatch]:
        """Read columns of a Parquet file as they are."""
        if stamp_of(self.file) != self.stamp:
            raise UnreadableFile("the file has changed since it was opened.", self.file)
        yield from batches_of(self.file, self.stamp, self.groups, names, size)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some pages of a piece: from which row of it, their rates and weights."""

    piece: Piece
    row: int
    rates: Vector
    weights: Vector

    @property
    def page(self) -> int:
        """Number of the first page in the whole table."""
        return self.piece.page + self.row

    def check(self) -> None:
        """Refuse the first number that is no rate or weight."""
        for name, column in zip(self.piece.columns, (self.rates, self.weights), strict=True):
            wrong = first_negative(column)
            if wrong >= 0:
                place = cell(self.piece.first + self.row + wrong, name)
                raise InstanceError(place, float(column[wrong]), RULES[name], self.piece.file)

    def refuse(self, failure: ValueError) -> NoReturn:
        """Say in which file and row a kernel met with numbers that it cannot take."""
        self.check()
        first = self.piece.first + self.row
        if isinstance(failure, PageError):
            raise InstanceError(cell(first + failure.page, RATE), failure.rate, failure.rule, self.piece.file) from None
        where = f"in rows {first} to {first + len(self.rates) - 1}"
        raise UnreadableFile(f"{where}, counted from the first of them: {failure}", self.piece.file) from None


@dataclass(frozen=True)
class PageTable:
    """All pages of a table, none of them in memory.

    Attributes
    ----------
    path
        As it was given.
    rows
        Number of pages.
    pieces
        In order.
    columns
        Names of the columns that are there.
    synthetic
        How the pages were drawn, if they were; ``None``: nobody says so.
    """

    path: str
    rows: int
    pieces: tuple[Piece, ...]
    columns: tuple[str, ...]
    synthetic: str | None = None

    def refuse(self, failure: PageError) -> NoReturn:
        """Say where a page stands that cannot be reckoned with."""
        self._refuse(failure.page, RATE, failure.rate, failure.rule)

    def _refuse(self, page: int, column: str, value: Any, rule: str) -> NoReturn:
        piece = self.pieces[bisect_right(self.pieces, page, key=lambda piece: piece.page) - 1]
        raise InstanceError(cell(page - piece.page + piece.first, column), value, rule, piece.file) from None

    def read(self) -> tuple[Vector, Vector]:
        """Read all rates and weights, for tables that fit into memory."""
        rates = np.empty(self.rows)
        weights = rates if self.pieces[0].columns[0] == self.pieces[0].columns[1] else np.empty(self.rows)
        for piece in self.pieces:
            for chunk in piece.chunks():
                chunk.check()
                here = slice(chunk.page, chunk.page + len(chunk.rates))
                rates[here], weights[here] = chunk.rates, chunk.weights
        return rates, weights

    def hosts(self) -> tuple[NDArray[np.int64], tuple[str, ...] | None] | None:
        """Number of the host of each page, and their names if hosts are texts; ``None`` without such a column."""
        if HOST not in self.columns:
            return None
        hosts = np.empty(self.rows, dtype=np.int64)
        known: dict[str, int] = {}
        row = 0
        for piece in self.pieces:
            for numbers in _hosts(piece, known):
                hosts[row : row + len(numbers)] = numbers
                row += len(numbers)
        return hosts, tuple(known) or None

    def urls(self) -> tuple[str, ...] | None:
        """Read what pages are called; ``None`` without such a column."""
        if URL not in self.columns:
            return None
        found = [
            text for piece in self.pieces for batch in piece.batches([URL]) for text in batch.column(0).to_pylist()
        ]
        if (wrong := misnamed(found)) is not None:
            self._refuse(wrong[0], URL, found[wrong[0]], wrong[1])
        return tuple(found)


def open_pages(
    path: str | os.PathLike[str], *, root: str | os.PathLike[str] | None = None, proportional: bool = False
) -> PageTable:
    """Look at a table of pages: names and kinds of its columns, and how many rows; the pages themselves are left alone.

    Parameters
    ----------
    path
        A Parquet file, a folder of them, or a folder with ``change_rate.npy``, ``weight.npy`` and perhaps ``host.npy``.
    root
        Links must not lead out of this folder.
    proportional
        Weights are the change rates; a column of weights is not looked at.

    Returns
    -------
    PageTable
        Where the pages are, piece by piece.

    Raises
    ------
    InstanceError
        One sentence that names the file and what is wrong with it.
    """
    place = Path(path)
    if not place.exists():
        raise UnreadableFile("there is no such file or folder.", os.fspath(path))
    if place.suffix == ".npy" and place.is_file():
        raise UnreadableFile(
            f"this is one column; name the folder in which {RATE}.npy and {WEIGHT}.npy lie.", str(place)
        )
    columns = (RATE, RATE if proportional else WEIGHT)
    if not place.is_dir():
        if not place.is_file():  # a pipe would keep whoever opens it waiting
            raise UnreadableFile("this is neither a file nor a folder; a table of pages is one of them.", str(place))
        return _parquet(place, [place], columns)
    # Names that begin with a dot or an underscore are notes of programs, or files half written.
    listed = [file for file in sorted(place.rglob("*.parquet")) if file.is_file()]
    files = [file for file in listed if all(part[0] not in "._" for part in file.relative_to(place).parts)]
    arrays = sorted(file for file in place.glob("*.npy") if file.is_file())
    for file in [*files, *arrays]:
        if root is not None and not file.resolve().is_relative_to(Path(root).resolve()):
            raise UnreadableFile("this link leads out of the folder of the instance.", str(file))
    if files and arrays:
        raise UnreadableFile(
            "there are .parquet files and .npy columns in this folder; keep one of the two.", str(place)
        )
    if arrays:
        return _npy(place, arrays, columns)
    if not files:
        raise UnreadableFile(f"there is no .parquet file in this folder, and no {RATE}.npy.", str(place))
    check_manifest(place)
    return _parquet(place, files, columns)


# -- Parquet ----------------------------------------------------------------------------------------------------------


def _parquet(place: Path, files: Sequence[Path], columns: tuple[str, str]) -> PageTable:
    pieces: list[Piece] = []
    offered: tuple[str, ...] = ()
    label, rows = None, 0
    for number, file in enumerate(files):
        stamp = stamp_of(str(file))
        footer = footer_of(str(file), stamp)
        found = known_columns(footer, str(file), columns)
        if number == 0:
            offered, label = found, (footer.metadata or {}).get(LABEL)
        elif found != offered:
            odd = sorted({*found} ^ {*offered})[0]
            rule = f"a column {odd} is in {'this' if odd in found else 'that'} file only; all files have the same ones."
            raise UnreadableFile(f"this file does not go with {files[0].name}: {rule}", str(file))
        pieces += _pieces_of(footer, rows, str(file), columns, stamp)
        rows += footer.num_rows
    if rows == 0:
        raise UnreadableFile("there is no page in it.", str(place))
    return PageTable(
        str(place), rows, tuple(pieces), offered, None if label is None else label.decode(errors="replace")
    )


def _pieces_of(footer: Any, page: int, file: str, columns: tuple[str, str], stamp: tuple[int, int]) -> Iterator[Piece]:
    """Put together row groups, neighbours as long as they are small."""
    first = row = 0
    groups: list[int] = []
    for group in range(footer.num_row_groups):
        count = footer.row_group(group).num_rows
        if groups and row - first + count > PIECE:
            yield Piece(file, page + first, first, row - first, tuple(groups), columns, stamp)
            first, groups = row, []
        groups.append(group)
        row += count
    if row > first:
        yield Piece(file, page + first, first, row - first, tuple(groups), columns, stamp)


def known_columns(footer: Any, file: str, columns: tuple[str, str]) -> tuple[str, ...]:
    """List the columns we know that are there, or refuse the first one that is not what it should be."""
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
    for name, whole, rule in ((HOST, True, "hosts are whole numbers or texts."), (URL, False, "URLs are texts.")):
        kind = schema.field(name).type if name in schema.names else pa.string()
        if not (_text_kind(kind) or (whole and pa.types.is_integer(kind))):
            raise InstanceError(f"column {name}", str(kind), rule, file)
    return tuple(name for name in (RATE, WEIGHT, HOST, URL) if name in schema.names)


def _text_kind(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def numbers_of(column: pa.Array, name: str, row: int, file: str) -> Vector:
    """Read one batch of a column as floats, without a copy where it has them."""
    if column.null_count:
        missing = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
        raise InstanceError(cell(row + missing, name), None, RULES[name], file)
    values: Vector = column.to_numpy(zero_copy_only=True).astype(np.float64, copy=False)
    return values


# -- .npy -------------------------------------------------------------------------------------------------------------


def _npy(folder: Path, files: Sequence[Path], columns: tuple[str, str]) -> PageTable:
    offered = {file.stem: file for file in files}
    needed = tuple(dict.fromkeys(columns))
    for name in needed:
        if name not in offered:
            rule = f"a folder of columns has {RATE}.npy and {WEIGHT}.npy."
            raise MissingField(f"column {name}", rule, str(folder))
    label = check_manifest(folder)
    lengths = {}
    for name in (*needed, HOST):
        if name in offered:
            file = str(offered[name])
            kind, _, shape = npy_layout(file, stamp_of(file))
            if len(shape) != 1 or kind.kind not in ("iu" if name == HOST else "iuf"):
                found = f"{len(shape)}-dimensional {kind}"
                raise InstanceError(f"column {name}", found, "it is one column of numbers.", file)
            lengths[name] = shape[0]
    rows = lengths[RATE]
    for name, length in lengths.items():
        if length != rows:
            rule = f"{RATE}.npy has {rows} rows, and all columns have as many."
            raise InstanceError(f"column {name}", f"{length} rows", rule, str(offered[name]))
    if rows == 0:
        raise UnreadableFile("there is no page in it.", str(folder))
    stamp = stamp_of(str(offered[RATE]))
    pieces = tuple(
        Piece(str(folder), first, first, min(PIECE, rows - first), (), columns, stamp)
        for first in range(0, rows, PIECE)
    )
    return PageTable(str(folder), rows, pieces, tuple(name for name in (RATE, WEIGHT, HOST) if name in offered), label)


# -- both -------------------------------------------------------------------------------------------------------------


def _hosts(piece: Piece, known: dict[str, int]) -> Iterator[NDArray[np.int64]]:
    """Yield numbers of hosts batch by batch; texts are numbered as they come, which `known` remembers."""
    if not piece.groups:
        yield _whole(npy_window(f"{piece.file}/{HOST}.npy", piece.first, piece.rows), piece.first, piece.file)
        return
    import pyarrow as pa

    row = piece.first
    for batch in piece.batches([HOST]):
        column = batch.column(0)
        if column.null_count:
            missing = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
            raise InstanceError(cell(row + missing, HOST), None, HOST_RULE, piece.file)
        if hasattr(column, "indices") or not pa.types.is_integer(column.type):
            coded = column if hasattr(column, "indices") else column.dictionary_encode()
            numbers = [known.setdefault(str(name), len(known)) for name in coded.dictionary.to_pylist()]
            yield np.array(numbers, dtype=np.int64)[coded.indices.to_numpy(zero_copy_only=False)]
        else:
            yield _whole(column.to_numpy(zero_copy_only=False), row, piece.file)
        row += batch.num_rows


def _whole(numbers: NDArray[Any], row: int, file: str) -> NDArray[np.int64]:
    wrong = (numbers < 0) | (numbers >= MOST_HOSTS)
    if wrong.any():
        position = int(np.argmax(wrong))
        raise InstanceError(cell(row + position, HOST), int(numbers[position]), HOST_RULE, file)
    return numbers.astype(np.int64)
