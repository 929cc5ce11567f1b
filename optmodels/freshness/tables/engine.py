"""Whoever goes over the pages of a table, piece by piece: threads of this process, or a cluster (``optmodels[scale]``).

Results are put together in the order of the table, whatever the number of workers, so that answers do not depend on it.

Workers of a Dask cluster take neighbouring pieces of the table, some millions of pages at a time, and read the files
for themselves: the paths must mean the same to all of them. One pass counts pages by worth, and histograms are added up
in a tree; the price found from them, one number, goes out with the second pass; a third lets every worker write its
part of the frequencies. No page ever travels. The tree has the same shape whoever computes its parts, and however
often: the answer does not depend on workers that come, go or die.

    >>> with cluster("local") as engine:                                            # doctest: +SKIP
    ...     allocate_pages(open_pages("pages.parquet"), Exponential(1.0), engine=engine)
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np

from heuristics import interrupting

from ...cluster import LOCAL, allowed_threads, connected, distributed, processors
from ...data import Part, naming, read_as, whole_folder, write_manifest, write_npy, write_parquet
from ...errors import RequestError

if TYPE_CHECKING:
    from queueing.processes import AccessTime

    from .pages import Chunk, PageTable, Piece, Vector
    from .problem import LargeFreshnessProblem
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

#: Pages of a task of a cluster; the scheduler takes about a millisecond for each task, whatever it does.
TASK = 4_000_000

#: Results that are put together at a time.
BRANCHES = 8

Pieces = tuple["Piece", ...]


class Engine(Protocol):
    """Whoever goes over pages: a task gets neighbouring pieces, results are put together in the order of the table.

    What it writes has names that end in `suffix`.
    """

    @property
    def suffix(self) -> str: ...
    def reduce(self, task: Task[T], merge: Merge[T], pieces: Sequence[Piece], tell: Tell | None) -> T: ...
    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Part: ...


def chunks_of(pieces: Iterable[Piece], use: Callable[[Chunk], T]) -> Iterator[T]:
    """Use every chunk of some pieces; numbers that cannot be used are refused with file, row and column."""
    for piece in pieces:
        for chunk in piece.chunks():
            try:
                found = use(chunk)
            except ValueError as failure:
                chunk.refuse(failure)
            yield found


def told(found: Iterable[tuple[T, int]], total: int, tell: Tell | None) -> Iterator[T]:
    """Go through what is found, each with its number of pages, and tell how many pages are done."""
    done = 0
    for one, rows in found:
        yield one
        done += rows
        if tell is not None:
            tell("", done, total)


def named(phase: str, tell: Tell | None) -> Tell | None:
    """Make the same callback, which says what is done."""
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
        rows = [piece.rows for piece in pieces]
        found = in_order(task, [(piece,) for piece in pieces], self.workers)
        return reduce(merge, told(zip(found, rows, strict=True), sum(rows), tell))

    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Part:
        """Write one file, ``.npy`` or ``.parquet``."""
        found = in_order(partial(_frequencies_of, rule=rule, law=law), table.pieces, self.workers)
        values = told(((chunk, len(chunk)) for chunk in found), table.rows, tell)
        if target.suffix == ".npy":
            return write_npy(target, values, table.rows)
        return write_parquet(target, ({FREQUENCY: chunk} for chunk in values))


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
    count = workers or allowed_threads() or processors()
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


# -- a cluster --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def cluster(address: str = LOCAL, workers: int | None = None) -> Iterator[Cluster]:
    """Have passes made by a cluster for the length of a block, see `optmodels.cluster.connected`.

    Parameters
    ----------
    address
        Of a scheduler, such as ``tcp://10.0.0.1:8786``; a ``.json`` file that tells it; ``"local"``: processes of this
        machine.
    workers
        How many processes of this machine; one for each processor by default.

    Yields
    ------
    Cluster
        An engine for `price_table`, `allocate_pages` and `write_frequencies`.
    """
    with connected(address, workers) as client:
        yield Cluster(client)


@contextlib.contextmanager
def on_cluster(file: str | os.PathLike[str], address: str = LOCAL) -> Iterator[LargeFreshnessProblem]:
    """Read an instance with a table of pages, however many, and have a cluster go over them.

    Parameters
    ----------
    file
        An instance of kind "freshness" whose ``data`` name a table of pages.
    address
        Of a cluster, see `cluster`.

    Yields
    ------
    LargeFreshnessProblem
        The problem; its passes are made by the cluster for the length of the block.

    Raises
    ------
    InstanceError
        If the file is not an instance.
    RequestError
        If it has no table of pages, or asks for what needs them in memory.
    """
    from ...costs import Limits, cost_from_data
    from ...instance import read
    from ..data import HELD, FreshnessData
    from .problem import LargeFreshnessProblem

    content, folder = read(file), Path(file).resolve().parent
    with naming(file):
        fields = read_as(FreshnessData, content.data) if content.kind == "freshness" else None
        if fields is None or fields.held:
            rule = f"a cluster goes over tables of pages (kind freshness, data.pages) without {', '.join(HELD)}"
            raise RequestError(f"{os.fspath(file)}: {rule}; leave --cluster out.")
        pages = fields.read_pages(folder, least=0)
        cost, limits = cost_from_data(content.cost), Limits.from_data(content.limits)
    with cluster(address) as engine:
        problem: LargeFreshnessProblem = object.__new__(LargeFreshnessProblem)
        problem._fill(fields, content.data, pages, name=content.name, cost=cost, limits=limits, engine=engine)
        yield problem


@dataclass(frozen=True, eq=False)
class Cluster:
    """Passes over pages made by the workers of a Dask cluster.

    Parameters
    ----------
    client
        A connected ``distributed.Client``.
    task
        Pages of a task.
    """

    client: Any
    task: int = TASK
    suffix: ClassVar[str] = ".parquet"

    def everywhere(self, task: Callable[..., Any], *arguments: Any) -> None:
        """Let every worker do the same, and wait for all."""
        self.client.run(task, *arguments)

    def reduce(self, task: Task[T], merge: Merge[T], pieces: Sequence[Piece], tell: Tell | None) -> T:
        """Submit a task for each group of pieces, and a tree of sums over neighbours."""
        groups = grouped(pieces, self.task)
        layer = self.client.map(task, groups, pure=False)
        leaves = list(zip(layer, groups, strict=True))
        joined = partial(reduce, merge)
        while len(layer) > 1:
            layer = [
                self.client.submit(joined, layer[first : first + BRANCHES], pure=False)
                for first in range(0, len(layer), BRANCHES)
            ]
        self._follow(leaves, tell)
        answer: T = self._gathered(layer)[0]
        return answer

    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Part:
        """Write a folder of Parquet files, one for each task, and a manifest."""
        absolute = target.resolve()
        groups = grouped(table.pieces, self.task)
        with whole_folder(absolute) as folder:
            numbered = [(folder / f"part-{number:05d}.parquet", group) for number, group in enumerate(groups)]
            futures = self.client.map(partial(write_part, rule=rule, law=law), numbered, pure=False)
            self._follow(list(zip(futures, groups, strict=True)), tell)
            parts: list[Part] = self._gathered(futures)
            for left in folder.glob(".*.tmp"):  # of workers that died while they wrote
                left.unlink(missing_ok=True)
            rows, sha256 = write_manifest(folder, parts)
        return Part(target.name, rows, sum(part.bytes for part in parts), sha256)

    def _follow(self, leaves: list[tuple[Any, Pieces]], tell: Tell | None) -> None:
        """Wait for all tasks; tell how many pages are done, and take interrupts on the way."""
        rows = {future.key: sum(piece.rows for piece in group) for future, group in leaves}
        try:
            completed = distributed().as_completed([future for future, _ in leaves])
            for future in told(((future, rows[future.key]) for future in completed), sum(rows.values()), tell):
                if future.status == "error":
                    self._gathered([future])
                interrupting.check()
        except BaseException:
            self.client.cancel([future for future, _ in leaves], force=True)
            raise

    def _gathered(self, futures: list[Any]) -> list[Any]:
        try:
            found: list[Any] = self.client.gather(futures)
        except (distributed().KilledWorker, CancelledError, OSError) as failure:
            raise RequestError(f"the cluster gave up: {' '.join(str(failure).split())}") from None
        return found


def grouped(pieces: Sequence[Piece], rows: int) -> list[Pieces]:
    """Neighbouring pieces put together until they have so many rows."""
    groups: list[Pieces] = []
    group: list[Piece] = []
    for piece in pieces:
        group.append(piece)
        if sum(one.rows for one in group) >= rows:
            groups.append(tuple(group))
            group = []
    return [*groups, tuple(group)] if group else groups


def write_part(numbered: tuple[Path, Pieces], rule: Rule, law: AccessTime) -> Part:
    """Write the frequencies of the pieces of a worker, in a file that is there whole or not at all."""
    path, pieces = numbered
    chunks = chunks_of(pieces, lambda chunk: {FREQUENCY: rule.of(law, chunk)})
    return write_parquet(path, chunks)
