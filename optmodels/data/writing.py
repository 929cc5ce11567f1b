"""Every file this package writes is written here: whole or not at all, and never through a planted link.

A new content is written to a private file beside its target, one nobody else can have made or foreseen (a random name,
``O_EXCL``, ``O_NOFOLLOW``), seen onto the disk, and given its name in one step; a reader, a crash or a full disk never
shows half of it. It has the rights of the file it replaces, or of any new file. Files that grow line by line are locked
while a line is added, which is there in full or not at all.

Symbolic links: a target that is a link is *replaced* by the file, as ``mv`` does, and what the link points to is left
alone; a file to which lines are added must not be a link. Folders on the way may be links. What is no regular file (a
device, a pipe) is refused.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TextIO

from ..errors import UnwritableFile

try:
    import fcntl
except ImportError:  # not on every system; there two programs must not add to one file
    fcntl = None  # type: ignore[assignment]

_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a stream whose content takes the place of a file when the block ends well, and is gone otherwise.

    Parameters
    ----------
    path
        Of the file.
    durable
        Whether to wait for the disk. A file that can be made again need not survive the loss of power, only that of
        the program.

    Yields
    ------
    file
        The stream, for bytes.

    Raises
    ------
    UnwritableFile
        One sentence with the file and the reason: no folder, no rights, a full disk.
    """
    target = Path(path)
    with explained(target):
        rights = _rights(target)
        handle, temporary = _private(target, rights)
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                if rights is not None:
                    os.chmod(temporary, rights)  # the umask may have taken some
                if durable:
                    os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        if durable:
            sync_folder(target.parent)


def write_text(path: str | os.PathLike[str], text: str, *, durable: bool = True) -> None:
    """Replace the content of a file by a text, in UTF-8.

    Parameters
    ----------
    path
        Of the file.
    text
        The new content.
    durable
        Whether to wait for the disk, see `replaced`.

    Raises
    ------
    UnwritableFile
        One sentence with the file and the reason.
    """
    with replaced(path, durable=durable) as stream:
        stream.write(text.encode())


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], *, create: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for reading and for adding to its end, which no other program of ours changes meanwhile.

    The lock belongs to the file that has the name when the block begins: one that was replaced while we waited for it
    is let go, and its successor taken.

    Parameters
    ----------
    path
        Of the file.
    create
        Whether it is made where there is none.

    Yields
    ------
    file
        The stream, not buffered.

    Raises
    ------
    UnwritableFile
        One sentence with the file and the reason.
    """
    target = Path(path)
    flags = os.O_RDWR | os.O_APPEND | _SAFE | (os.O_CREAT if create else 0)
    with explained(target):
        while True:
            if target.is_symlink():
                raise UnwritableFile("lines are added to files only, and this is a symbolic link.", os.fspath(path))
            refuse_device(target)
            with os.fdopen(os.open(target, flags, 0o666), "r+b", buffering=0) as stream:
                if fcntl is not None:
                    with contextlib.suppress(OSError):  # a disk of another machine may know no locks
                        fcntl.flock(stream, fcntl.LOCK_EX)
                if _has_name(stream.fileno(), target):
                    yield stream
                    return


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Add a line to a file and see it onto the disk, in full or not at all; two lines never run together.

    Parameters
    ----------
    path
        Of the file.
    line
        Without its end.

    Raises
    ------
    UnwritableFile
        One sentence with the file and the reason.
    """
    with locked(path) as stream:
        append_to(stream, line)


def open_log(path: str | os.PathLike[str]) -> TextIO:
    """Open a file to which a program adds lines for as long as it runs.

    Parameters
    ----------
    path
        Of the file; what it holds is kept.

    Returns
    -------
    TextIO
        To be closed by the caller.

    Raises
    ------
    UnwritableFile
        One sentence with the file and the reason.
    """
    try:
        return open(path, "a", encoding="utf-8", errors="backslashreplace")
    except OSError as failure:
        reason = failure.strerror or failure
        raise UnwritableFile(f"the log cannot be written: {reason}.", os.fspath(path)) from None


def append_to(stream: IO[bytes], line: str) -> None:
    """Add a line to a locked file; what a program that died has left of a line is cut away before.

    Parameters
    ----------
    stream
        Of `locked`.
    line
        Without its end.
    """
    size = stream.seek(0, os.SEEK_END)
    if size:
        stream.seek(size - 1)
        if stream.read(1) != b"\n":
            size = len(whole_part(stream))
    try:
        rest = memoryview(line.encode() + b"\n")
        while rest:
            rest = rest[stream.write(rest) :]
        os.fsync(stream.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            stream.truncate(size)
        raise


def whole_part(stream: IO[bytes]) -> bytes:
    """Read the whole lines of a locked file; a torn piece at its end is cut away.

    Parameters
    ----------
    stream
        Of `locked`.

    Returns
    -------
    bytes
        All of them.
    """
    stream.seek(0)
    content = stream.read()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        stream.truncate(whole)
    return content[:whole]


def whole_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read the lines of a file that may have been torn off in the middle of the last one.

    Parameters
    ----------
    path
        Of the file.

    Returns
    -------
    list of str
        The whole lines; none where there is no file.
    """
    if not os.path.lexists(path):
        return []
    with locked(path, create=False) as stream:
        return whole_part(stream).decode("utf-8", "replace").split("\n")[:-1]


@contextlib.contextmanager
def explained(target: str | os.PathLike[str]) -> Iterator[None]:
    """Tell what the system finds wrong with a file in this block as one sentence that names the file.

    Parameters
    ----------
    target
        Path of the file.

    Yields
    ------
    None
        Nothing.

    Raises
    ------
    UnwritableFile
        The sentence.
    """
    try:
        yield
    except OSError as failure:
        raise UnwritableFile(f"cannot be written: {failure.strerror or failure}.", os.fspath(target)) from None


def refuse_device(path: str | os.PathLike[str]) -> None:
    """Refuse what is there and is no file: to replace ``/dev/null`` would harm every other program.

    Parameters
    ----------
    path
        That is to be written.

    Raises
    ------
    UnwritableFile
        If there is a folder, a device or a pipe.
    """
    target = Path(path)
    if (target.exists() and not target.is_file()) or target.parent.resolve() == Path("/dev"):
        kind = "a directory; name a file" if target.is_dir() else "not a regular file"
        raise UnwritableFile(f"cannot be written: this is {kind}.", os.fspath(path))


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """See the names of a folder onto the disk, where the system has a way to."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# -- inside -----------------------------------------------------------------------------------------------------------


def _private(target: Path, rights: int | None) -> tuple[int, str]:
    """A new file beside the target, opened; never one that was there before, and never a link."""
    while True:
        temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
        with contextlib.suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE
            return os.open(temporary, flags, 0o666 if rights is None else rights), os.fspath(temporary)


def _rights(target: Path) -> int | None:
    """Who may read and write the file to be replaced; ``None`` where there is none."""
    refuse_device(target)
    try:
        found = os.lstat(target).st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found) & 0o777 if stat.S_ISREG(found) else None


def _has_name(handle: int, target: Path) -> bool:
    """Whether an open file is still the one at this place."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(target))
    except FileNotFoundError:
        return False
