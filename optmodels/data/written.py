"""Columns written whole or not at all.

A file is written under a name that begins with a dot and gets its own name at the end, in one step. A folder is made in
the same way, and holds a manifest that is written last: which files, how many rows, which checksums. What a program
left half done when it was killed has neither, and is never taken for a result.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InstanceError, RequestError, UnreadableFile
from .column_files import footer_of, parquet, stamp_of
from .strict_json import read_json
from .writing import explained, replaced, sync_folder, write_text

#: Beside the files of a folder; other readers of Parquet pass by names that begin so.
MANIFEST = "_manifest.json"

#: Rows of a row group.
ROW_GROUP = 1_000_000


@dataclass(frozen=True)
class Part:
    """A file that is complete, alone or one of a folder, or the folder itself.

    Parameters
    ----------
    file
        Its name.
    rows
        How many it holds.
    bytes
        Its size.
    sha256
        Its checksum; of a folder that of its manifest.
    """

    file: str
    rows: int
    bytes: int
    sha256: str

    def to_data(self) -> dict[str, Any]:
        """Tell of it as results do."""
        return {"file": self.file, "rows": self.rows, "sha256": self.sha256}


class HashingStream(io.RawIOBase):
    """A file that knows the checksum of what was written to it; whoever opened the file closes it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash = stream, hashlib.sha256()
        self.bytes = 0

    def write(self, data: Any) -> int:
        """Add bytes at the end, and return how many."""
        view = memoryview(data).cast("B")
        self._hash.update(view)
        self._stream.write(view)
        self.bytes += len(view)
        return len(view)

    def writable(self) -> bool:
        """Tell that it can be written to, as files do."""
        return True

    def tell(self) -> int:
        """Count the bytes written so far."""
        return self.bytes

    @property
    def sha256(self) -> str:
        """Checksum of what was written so far."""
        return self._hash.hexdigest()


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[HashingStream]:
    """Open a new file, which appears at its path when the block ends well, and not at all otherwise.

    Parameters
    ----------
    path
        Of the file.

    Yields
    ------
    HashingStream
        A stream that knows its checksum.
    """
    with replaced(path) as stream:
        yield HashingStream(stream)


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a new folder, which takes the place of `path` when the block ends well and has left a manifest in it.

    A folder that is there already is replaced if it is one of ours, or empty; nothing else is ever removed.

    Parameters
    ----------
    path
        Of the folder.

    Yields
    ------
    Path
        Where its files are written meanwhile.

    Raises
    ------
    RequestError
        If there is something else already.
    """
    target = Path(path)
    if target.exists() and not (target.is_dir() and ((target / MANIFEST).is_file() or not any(target.iterdir()))):
        raise RequestError(f"{target}: there is something else already; choose another name, or remove it.")
    with explained(target):
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent))
        try:
            os.chmod(temporary, 0o777 & ~_umask())
            yield temporary
            if not (temporary / MANIFEST).is_file():
                raise RuntimeError("a folder without its manifest is no result")
            sync_folder(temporary)
            if target.is_symlink():
                os.unlink(target)  # the link goes, what it points to stays
            if target.exists():
                aside = temporary.with_suffix(".old")
                os.rename(target, aside)
                try:
                    os.rename(temporary, target)
                except BaseException:
                    os.rename(aside, target)
                    raise
                shutil.rmtree(aside, ignore_errors=True)
            else:
                os.rename(temporary, target)
            sync_folder(target.parent)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


# -- files ------------------------------------------------------------------------------------------------------------


def write_npy(path: str | os.PathLike[str], chunks: Iterable[NDArray[Any]], rows: int, kind: Any = np.float64) -> Part:
    """Write one column in numpy's own format.

    Parameters
    ----------
    path
        Of the file.
    chunks
        The numbers, in order.
    rows
        How many they are together.
    kind
        Of the numbers.

    Returns
    -------
    Part
        What was written.
    """
    with whole_file(path) as stream:
        header = {"descr": np.lib.format.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": (rows,)}
        np.lib.format.write_array_header_1_0(stream, header)
        count = 0
        for chunk in chunks:
            stream.write(np.ascontiguousarray(chunk, dtype=kind))
            count += len(chunk)
        if count != rows:
            raise RuntimeError(f"{rows} rows were promised, and {count} came")
    return Part(Path(path).name, rows, stream.bytes, stream.sha256)


def write_parquet(
    path: str | os.PathLike[str], chunks: Iterable[Mapping[str, Any]], labels: Mapping[bytes, bytes] | None = None
) -> Part:
    """Write columns to a Parquet file, a row group for each chunk.

    Parameters
    ----------
    path
        Of the file.
    chunks
        Columns by name.
    labels
        What goes into its metadata.

    Returns
    -------
    Part
        What was written.
    """
    write = parquet()
    import pyarrow as pa

    writer: Any = None
    rows = 0
    with whole_file(path) as stream:
        sink = pa.PythonFile(stream, mode="w")
        try:
            for chunk in chunks:
                table = pa.table(dict(chunk))
                if writer is None:
                    table = table.replace_schema_metadata(labels)
                    words = [field.name for field in table.schema if not pa.types.is_floating(field.type)]
                    writer = write.ParquetWriter(sink, table.schema, use_dictionary=words or False)
                writer.write_table(table, row_group_size=ROW_GROUP)
                rows += table.num_rows
            if writer is None:
                raise RuntimeError("a file without a row was to be written")
        finally:
            if writer is not None:
                writer.close()
    return Part(Path(path).name, rows, stream.bytes, stream.sha256)


# -- manifests --------------------------------------------------------------------------------------------------------


def write_manifest(folder: Path, parts: Iterable[Part], label: str | None = None) -> tuple[int, str]:
    """Write the last file of a folder.

    Parameters
    ----------
    folder
        The folder.
    parts
        Its files.
    label
        How synthetic pages were drawn, if they were.

    Returns
    -------
    tuple
        Rows of all files together, and the checksum of the manifest.
    """
    listed = sorted(parts, key=lambda part: part.file)
    rows = sum(part.rows for part in listed)
    content: dict[str, Any] = {"format": 1, "rows": rows, "files": [asdict(part) for part in listed]}
    if label is not None:
        content["synthetic"] = label
    text = json.dumps(content, indent=1) + "\n"
    write_text(folder / MANIFEST, text)
    return rows, hashlib.sha256(text.encode()).hexdigest()


def check_manifest(folder: Path, *, required: bool = False, checksums: bool = False) -> str | None:
    """See that a folder is what its manifest says; returns the label of synthetic pages, if there is one.

    Parameters
    ----------
    folder
        The folder.
    required
        Refuse a folder without a manifest: it was not finished, or is not ours.
    checksums
        Read all files, not only their sizes.

    Returns
    -------
    str or None
        The label of synthetic pages, if there is one.

    Raises
    ------
    UnreadableFile
        If a file is missing, has changed, or is not in the manifest.
    """
    place = folder / MANIFEST
    if not place.is_file():
        if required:
            raise UnreadableFile(f"there is no {MANIFEST}: whoever wrote this folder has not finished.", str(folder))
        return None
    content = read_json(place)
    try:
        listed = [Part(**part) for part in content["files"]]
        label = content.get("synthetic")
    except (TypeError, KeyError, AttributeError):
        raise UnreadableFile("this is no manifest of columns.", str(place)) from None
    for part in listed:
        file = folder / part.file
        if Path(part.file).name != part.file or not file.is_file():
            raise UnreadableFile(f"{part.file} is in the manifest, and not in the folder.", str(folder))
        if file.stat().st_size != part.bytes or (checksums and checksum(file) != part.sha256):
            raise UnreadableFile("the file has changed since the manifest was written.", str(file))
    known = {part.file for part in listed}
    for file in folder.iterdir():
        if file.suffix in (".parquet", ".npy") and file.name[0] not in "._" and file.name not in known:
            raise UnreadableFile(f"the file is not in the {MANIFEST} of its folder.", str(file))
    return label if isinstance(label, str) else None


def read_written(path: Path, told: Mapping[str, Any]) -> NDArray[np.float64]:
    """Read the column that was written to a file or folder of Parquet, if it is still what a result tells of it.

    Parameters
    ----------
    path
        Of the file or folder.
    told
        ``sha256`` as the result has it.

    Returns
    -------
    array
        The column.

    Raises
    ------
    InstanceError
        If it has changed.
    """
    told_of = path / MANIFEST if path.is_dir() else path
    if path.is_dir():
        check_manifest(path, required=True, checksums=True)
    if checksum(told_of) != told["sha256"]:
        raise InstanceError("decision.sha256", told["sha256"], f"{path.name} has changed since it was written.")
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    parts = [_only_column(file) for file in files]
    values: NDArray[np.float64] = np.concatenate(parts)
    return values


def _only_column(file: Path) -> NDArray[np.float64]:

    footer_of(str(file), stamp_of(str(file)))  # refuses what is no Parquet file
    table = parquet().read_table(file)
    if table.num_columns != 1:
        raise UnreadableFile(f"a column of frequencies is one column, and here are {table.num_columns}.", str(file))
    values: NDArray[np.float64] = table.column(0).to_numpy()
    return values


def checksum(file: Path) -> str:
    """Compute the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
