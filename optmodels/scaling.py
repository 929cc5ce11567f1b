"""The same passes over pages, and the same runs of a study, on a cluster: ``optmodels[scale]``.

Workers of a Dask cluster take neighbouring pieces of the table, some millions of pages at a time, and read the files
for themselves: the paths must mean the same to all of them. One pass counts pages by worth, and histograms are added up
in a tree; the price found from them, one number, goes out with the second pass; a third lets every worker write its
part of the frequencies. No page ever travels. The tree has the same shape whoever computes its parts, and however
often: the answer does not depend on workers that come, go or die.

    >>> with cluster("local") as engine:                                            # doctest: +SKIP
    ...     allocate_pages(open_pages("pages.parquet"), Exponential(1.0), engine=engine)
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from heuristics import interrupting

from .data_written import Part, Written, whole_folder, write_manifest, write_parquet
from .errors import RequestError, UnreadableFile, brief
from .freshness_engine import FREQUENCY, Tell, chunks_of, processors
from .pool import Answer
from .strict_json import read_json

if TYPE_CHECKING:
    from queueing.laws import AccessTime

    from .freshness_large import LargeFreshnessProblem
    from .freshness_pages import PageTable, Piece
    from .freshness_streaming import Rule

T = TypeVar("T")

#: Pages of a task; the scheduler takes about a millisecond for each task, whatever it does.
TASK = 4_000_000

#: Results that are put together at a time.
BRANCHES = 8

#: In place of an address: processes of this machine.
LOCAL = "local"

#: Where processes of this machine listen: no other machine hears of them.
LOOPBACK = "127.0.0.1"

#: Seconds a scheduler is given to answer.
PATIENCE = 5.0

STRANGER = "what listens there is no Dask scheduler"
ADVICE = "give the address of one, such as tcp://10.0.0.1:8786, its .json file, or 'local'"

Pieces = tuple["Piece", ...]


@contextlib.contextmanager
def cluster(address: str = LOCAL, workers: int | None = None) -> Iterator[Cluster]:
    """Connect to a cluster, or start one on this machine, for the length of a block.

    Parameters
    ----------
    address
        Of a scheduler, such as ``tcp://10.0.0.1:8786``; a ``.json`` file that tells it; ``"local"``: processes of this
        machine, started here and ended with the block, which nobody outside it can reach.
    workers
        How many processes of this machine; one for each processor by default.
    """
    dask = _distributed()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_without_logs())
        if address == LOCAL:
            count = workers or processors()
            own = {"host": LOOPBACK, "dashboard_address": f"{LOOPBACK}:0", "worker_dashboard_address": f"{LOOPBACK}:0"}
            with _undisturbed():
                local = dask.LocalCluster(
                    n_workers=count, threads_per_worker=1, processes=True, silence_logs=logging.CRITICAL, **own
                )
                client = stack.enter_context(dask.Client(stack.enter_context(local)))
            interrupting.check()
        else:
            place = _scheduler_in(address) if address.endswith(".json") else address
            _knock(place)
            try:
                client = stack.enter_context(dask.Client(address=place, timeout=PATIENCE))
            except (OSError, ValueError, TypeError) as failure:  # a timeout is an OSError
                raise _nobody(place, failure) from None
        yield Cluster(client)


@contextlib.contextmanager
def on_cluster(file: str | os.PathLike[str], address: str = LOCAL) -> Iterator[LargeFreshnessProblem]:
    """The problem of an instance with a table of pages, however many, with a cluster to go over them."""
    from .costs import Limits, cost_from_data
    from .errors import InstanceError
    from .freshness_large import HELD, LargeFreshnessProblem, large_fields
    from .instance import read

    content = read(file)
    try:
        folder = Path(file).resolve().parent
        fields = large_fields(content.data, folder, least=0) if content.kind == "freshness" else None
        cost, limits = cost_from_data(content.cost), Limits.from_data(content.limits)
    except InstanceError as failure:
        raise failure if failure.file else failure.at(os.fspath(file)) from None
    if fields is None:
        rule = f"a cluster goes over tables of pages (kind freshness, data.pages) without {', '.join(HELD)}"
        raise RequestError(f"{os.fspath(file)}: {rule}; leave --cluster out.")
    with cluster(address) as engine:
        yield LargeFreshnessProblem(content.name, *fields, cost, limits, engine=engine)


def call_on_cluster(
    address: str,
    attempt: Callable[[int, tuple[Any, ...]], Answer],
    calls: Sequence[tuple[Any, ...]],
    workers: int | None = None,
) -> Generator[Answer, None, None]:
    """Independent calls made by the workers of a cluster; answers come as they are ready, see `optmodels.pool`."""
    if not calls:
        return
    with cluster(address, workers) as engine:
        futures = {
            engine.client.submit(attempt, index, arguments, pure=False): index for index, arguments in enumerate(calls)
        }
        try:
            for future in _distributed().as_completed(list(futures)):
                try:
                    answer: Answer = future.result()
                except (_distributed().KilledWorker, CancelledError, OSError) as failure:
                    answer = Answer(futures[future], error=f"the cluster gave up: {' '.join(str(failure).split())}")
                yield answer
        finally:
            engine.client.cancel(list(futures), force=True)


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

    def reduce(
        self,
        task: Callable[[Sequence[Piece]], T],
        merge: Callable[[T, T], T],
        pieces: Sequence[Piece],
        tell: Tell | None,
    ) -> T:
        """A task for each group of pieces, and a tree of sums over neighbours."""
        groups = grouped(pieces, self.task)
        layer = self._submitted(task, groups)
        leaves = list(zip(layer, groups, strict=True))
        joined = partial(_merged, merge)
        while len(layer) > 1:
            layer = [
                self.client.submit(joined, layer[first : first + BRANCHES], pure=False)
                for first in range(0, len(layer), BRANCHES)
            ]
        self._follow(leaves, tell)
        answer: T = self._gathered(layer)[0]
        return answer

    def write(self, rule: Rule, law: AccessTime, table: PageTable, target: Path, tell: Tell | None) -> Written:
        """A folder of Parquet files, one for each task, and a manifest."""
        absolute = target.resolve()
        groups = grouped(table.pieces, self.task)
        with whole_folder(absolute) as folder:
            numbered = [(folder / f"part-{number:05d}.parquet", group) for number, group in enumerate(groups)]
            futures = self._submitted(partial(write_part, rule=rule, law=law), numbered)
            self._follow(list(zip(futures, groups, strict=True)), tell)
            parts: list[Part] = self._gathered(futures)
            for left in folder.glob(".*.tmp"):  # of workers that died while they wrote
                left.unlink(missing_ok=True)
            rows, sha256 = write_manifest(folder, parts)
        return Written(target.name, rows, sha256)

    def _submitted(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        futures: list[Any] = self.client.map(task, items, pure=False)
        return futures

    def _follow(self, leaves: list[tuple[Any, Pieces]], tell: Tell | None) -> None:
        """Wait for all tasks; tell how many pages are done, and take interrupts on the way."""
        rows = {future.key: sum(piece.rows for piece in group) for future, group in leaves}
        done, total = 0, sum(rows.values())
        try:
            for future in _distributed().as_completed([future for future, _ in leaves]):
                if future.status == "error":
                    self._gathered([future])
                done += rows[future.key]
                if tell is not None:
                    tell("", done, total)
                interrupting.check()
        except BaseException:
            self.client.cancel([future for future, _ in leaves], force=True)
            raise

    def _gathered(self, futures: list[Any]) -> list[Any]:
        try:
            found: list[Any] = self.client.gather(futures)
        except (_distributed().KilledWorker, CancelledError, OSError) as failure:
            raise RequestError(f"the cluster gave up: {' '.join(str(failure).split())}") from None
        return found


def _scheduler_in(file: str) -> str:
    """The address that a scheduler has left in a file."""
    content = read_json(file)
    address = content.get("address") if isinstance(content, dict) else None
    if not isinstance(address, str) or not address:
        raise UnreadableFile('this is no file of a Dask scheduler: it holds no "address".', file)
    return address


def _knock(address: str) -> None:
    """See that a Dask scheduler answers at an address; a client would wait for ever for one that is something else.

    In a thread of its own: a caller may have a loop of events already, and what does not answer is left behind.
    """
    outcome: list[Any] = []

    def ask() -> None:
        try:
            outcome.append(asyncio.run(_identity(address)))
        except BaseException as failure:  # whatever a stranger's bytes are taken for: sizes of arrays, codes, texts
            outcome.append(failure)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE + 2.0)
    answer = outcome[0] if outcome else TimeoutError(f"it was silent for {PATIENCE:g} s")
    if isinstance(answer, BaseException):
        raise _nobody(address, answer)
    if not isinstance(answer, dict) or answer.get("type") != "Scheduler":
        raise RequestError(f"no cluster answers at {brief(address)!r}: {STRANGER}; {ADVICE}.")


async def _identity(address: str) -> Any:
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # nothing to print: it is raised here
    comm, security = import_module("distributed.comm"), import_module("distributed.security").Security()

    async def asked() -> Any:
        line = await comm.connect(address, timeout=PATIENCE, **security.get_connection_args("client"))
        try:
            await line.write({"op": "identity", "reply": True})
            return await line.read()
        finally:
            line.abort()

    return await asyncio.wait_for(asked(), PATIENCE)


def _nobody(address: str, failure: BaseException) -> RequestError:
    if isinstance(failure, TimeoutError) or "Timed out" in str(failure):
        reason = f"nothing comes in {PATIENCE:g} s"
    elif isinstance(failure, ValueError) and "address" in str(failure):
        reason = " ".join(str(failure).split())
    else:  # strangers' bytes are taken for all sorts of things: sizes of arrays, codes, texts
        reason = STRANGER
    return RequestError(f"no cluster answers at {brief(address)!r}: {brief(reason, 160)}; {ADVICE}.")


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    """A block in which Dask prints nothing about connections that are lost: whoever needs them complains."""
    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    try:
        for handler, _ in handlers:
            handler.setLevel(logging.CRITICAL)
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A block that Ctrl-C does not end, and whose threads and processes never hear of one.

    A terminal sends it to all processes in front: workers that died of it would leave nobody to finish what was begun.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # whoever starts it later lets the signal through again
    with interrupting.deferred():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started now has this mask, too
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
    """What a worker does: frequencies of its pieces, in a file that is there whole or not at all."""
    path, pieces = numbered
    chunks = chunks_of(pieces, lambda chunk: {FREQUENCY: rule.frequencies(chunk.rates, chunk.weights, law)})
    return write_parquet(path, chunks)


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as failure:
        raise RequestError("a cluster needs dask.distributed: pip install 'optmodels[scale]'.") from failure
    except Exception as failure:  # Dask looks for plug-ins of its own, and fails where a distribution is malformed
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise RequestError(f"a cluster needs dask.distributed, which cannot be imported here ({reason}).") from failure


def _merged(merge: Callable[[T, T], T], parts: list[T]) -> T:
    return reduce(merge, parts)
