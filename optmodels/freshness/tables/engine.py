"""Whoever goes over the pages of a table, piece by piece: threads of this process.

A cluster does the same in `cluster_passes`. Results are put together in the order of the table, whatever the number
of workers, so that answers do not depend on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np

from heuristics import interrupting

from ...cluster import processors
from ...data import Part, Written, write_npy, write_parquet

if TYPE_CHECKING:
    from queueing.processes import AccessTime

    from .pages import Chunk, PageTable, Piece, Vector
    from .streaming import Rule

T = TypeVar("T")
S = TypeVar("S")

#: What is done with neighbouring pieces, and how two results become one.
Task: TypeAlias = "Callable[[Sequence[Piece]], T]"
Merge: TypeAlias = Callable[[T, T], T]

#: Called with what is done, and the number of pages done and to do.
Tell = Callable[[str, int, int], None]

#: The column of files that are written.
FREQUENCY = "frequency"


class Engine(Protocol):
    """Whoever goes over pages: a task gets neighbouring pieces, results are put together in the order of the table.

    What it writes has names that end in `suffix`.
    """

    @property
    def suffix(self) -> str: ...
    def reduce(self, task: Task[T], merge: Merge[T], pieces: Sequence[Piece], tell: Tell | None) -> T: ...
    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Written: ...


def chunks_of(pieces: Iterable[Piece], use: Callable[[Chunk], T]) -> Iterator[T]:
    """What comes of every chunk of some pieces; numbers that cannot be used are refused with file, row and column."""
    for piece in pieces:
        for chunk in piece.chunks():
            try:
                found = use(chunk)
            except ValueError as failure:
                chunk.refuse(failure)
            yield found


def named(phase: str, tell: Tell | None) -> Tell | None:
    """The same callback, which says what is done."""
    return None if tell is None else lambda _, done, rows: tell(phase, done, rows)


# -- threads ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threads:
    """Passes made by threads of this process; each holds one chunk of pages.

    Parameters
    ----------
    workers
        How many; ``None``: one for each processor.
    """

    workers: int | None = None
    suffix: ClassVar[str] = ".npy"

    def reduce(self, task: Task[T], merge: Merge[T], pieces: Sequence[Piece], tell: Tell | None) -> T:
        """Put results together as they come, in the order of the table."""
        rows, done = sum(piece.rows for piece in pieces), 0
        answer: T | None = None
        for piece, found in zip(pieces, in_order(task, [(piece,) for piece in pieces], self.workers), strict=True):
            answer = found if answer is None else merge(answer, found)
            done += piece.rows
            if tell is not None:
                tell("", done, rows)
        assert answer is not None
        return answer

    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Written:
        """Write one file, ``.npy`` or ``.parquet``."""
        values = self._told(
            in_order(partial(_frequencies_of, rule=rule, law=law), table.pieces, self.workers), table, tell
        )
        part: Part
        if target.suffix == ".npy":
            part = write_npy(target, values, table.rows)
        else:
            part = write_parquet(target, ({FREQUENCY: chunk} for chunk in values))
        return Written(part.file, part.rows, part.sha256)

    def _told(self, values: Iterator[Vector], table: PageTable, tell: Tell | None) -> Iterator[Vector]:
        done = 0
        for chunk in values:
            yield chunk
            done += len(chunk)
            if tell is not None:
                tell("", done, table.rows)


def _frequencies_of(piece: Piece, rule: Rule, law: AccessTime) -> Vector:
    parts = list(chunks_of((piece,), partial(rule.of, law)))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def in_order(task: Callable[[S], T], items: Iterable[S], workers: int | None = None) -> Iterator[T]:
    """Run a task on each item, several at a time, and yield results in the order of items; few wait for their turn.

    An interrupt, also one that was only noted, ends all: items not begun are left, those begun are waited for.

    Parameters
    ----------
    task
        Called with each item, in threads.
    items
        What there is to do.
    workers
        How many threads; one for each processor by default.

    Yields
    ------
    T
        What the task returned, in the order of the items.
    """
    count = workers or processors()
    with ThreadPoolExecutor(count) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(task, item))
                if len(waiting) > count + 1:
                    yield waiting.popleft().result()
                    interrupting.check()
            while waiting:
                yield waiting.popleft().result()
                interrupting.check()
        finally:
            for future in waiting:
                future.cancel()
