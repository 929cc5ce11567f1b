"""Many independent calls, in this process or in several.

The processes are our own rather than a `concurrent.futures` pool: one that dies (a solver that crashes, a machine short
of memory) costs one call and not all of them, they may start processes themselves, Ctrl-C ends them at once, and none
outlives a parent that was killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, cast

from heuristics import UnsupportedProblem, clock

from ..data import as_whole
from ..errors import RequestError, short
from ..registry import shield
from .resources import MemoryPeak, thread_environment

#: What a worker says when something must be compiled first.
COMPILING = True

#: Seconds a process is given to end by itself before it is ended.
PATIENCE = 3.0


#: More processes than this are a slip of the pen.
MOST_WORKERS = 1024


@dataclass(frozen=True)
class Answer:
    """What became of one call: its value, or a sentence on why there is none."""

    index: int
    value: Any = None
    error: str | None = None
    #: Whether the error is a refusal: the strategy does not take this problem.
    refused: bool = False
    #: Peak of the memory that the process of this call held; only where each call has a process of its own.
    megabytes: float | None = None


def call_all(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    workers: int = 1,
    cluster: str | None = None,
    begun: Callable[[int], None] = lambda index: None,
    *,
    threads: int | None = None,
    fresh: bool = False,
) -> Generator[Answer, None, None]:
    """Call `function` with each tuple of arguments and yield the answers as they come.

    Parameters
    ----------
    function
        Defined at the top of a module, so that other processes find it.
    calls
        Arguments; picklable if there is more than one worker.
    workers
        Number of processes; 1 makes the calls here, in order.
    cluster
        Address of a Dask cluster whose workers make the calls, see `optmodels.cluster.connected`; one called
        ``"local"`` has as many processes as `workers` says, or one for each processor where that is 1.
    begun
        Called with the index of a call when it is made; a cluster does not tell.
    threads
        How many threads libraries start in the processes; by default what they choose.
    fresh
        Give every call a process of its own, also where there is one worker, and measure its memory.

    Yields
    ------
    Answer
        The index of a call, and its value or a sentence on why there is none.

    Notes
    -----
    Closing the iterator, or an exception at the caller such as Ctrl-C, ends the processes.
    """
    count = as_whole(workers)
    if count is None:
        raise RequestError(f"workers must be a whole number, 1 or more, got {short(workers)}.")
    if count < 1:
        raise RequestError(f"workers must be 1 or more, got {workers}.")
    workers = count
    if workers > MOST_WORKERS:
        raise RequestError(f"a machine runs at most {MOST_WORKERS} workers, got {workers}; ask a --cluster for more.")
    if cluster is not None:
        if fresh:
            raise RequestError("the memory of runs is measured in processes of this machine, not of a cluster.")
        yield from call_on_cluster(cluster, partial(attempt, function), calls, workers if workers > 1 else None)
        return
    if not fresh and (workers == 1 or len(calls) < 2):
        for index, arguments in enumerate(calls):
            begun(index)
            yield attempt(function, index, arguments)
        return
    waiting = list(reversed(range(len(calls))))
    crew = [_Worker(threads, fresh) for _ in range(min(workers, len(calls)))]
    try:
        while True:
            for worker in crew:
                while waiting and worker.busy_with is None and not worker.lost:
                    index = waiting.pop()
                    failure = worker.give(index, function, calls[index])
                    if failure is not None:
                        yield failure
                    else:
                        begun(index)
            if not any(worker.busy_with is not None for worker in crew):
                return
            for ready in wait([worker.connection for worker in crew]):
                worker = next(member for member in crew if member.connection is ready)
                answer = worker.take()
                if answer is not None:
                    yield answer
                if worker.lost or (fresh and answer is not None):
                    worker.end()
                    place = crew.index(worker)
                    crew[place : place + 1] = [_Worker(threads, fresh)] if waiting else []
    finally:
        for worker in crew:
            worker.end()


def call_on_cluster(
    address: str,
    attempt: Callable[[int, tuple[Any, ...]], Answer],
    calls: Sequence[tuple[Any, ...]],
    workers: int | None = None,
) -> Generator[Answer, None, None]:
    """Independent calls made by the workers of a cluster; answers come as they are ready."""
    from concurrent.futures import CancelledError

    from ..cluster import connected, distributed

    if not calls:
        return
    with connected(address, workers) as client:
        futures = {client.submit(attempt, index, arguments, pure=False): index for index, arguments in enumerate(calls)}
        try:
            for future in distributed().as_completed(list(futures)):
                try:
                    answer: Answer = future.result()
                except (distributed().KilledWorker, CancelledError, OSError) as failure:
                    answer = Answer(futures[future], error=f"the cluster gave up: {' '.join(str(failure).split())}")
                yield answer
        finally:
            client.cancel(list(futures), force=True)


def sentence(failure: BaseException) -> str:
    """One sentence on what went wrong; a defect names its class."""
    text = " ".join(str(failure).split())
    if isinstance(failure, (RequestError, UnsupportedProblem)):
        return text
    return f"{type(failure).__name__}: {text}" if text else f"{type(failure).__name__}."


def attempt(function: Callable[..., Any], index: int, arguments: tuple[Any, ...]) -> Answer:
    """One call: its value, or a sentence."""
    try:
        return Answer(index, function(*arguments))
    except Exception as failure:
        return Answer(index, error=sentence(failure), refused=isinstance(failure, UnsupportedProblem))


class _Worker:
    """One process and the pipe to it; libraries in it start so many threads, and it may measure its memory."""

    def __init__(self, threads: int | None = None, measured: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, measured), name="optmodels worker")
        self.busy_with: int | None = None
        self.lost = False
        self._greeted = False
        main = threading.current_thread() is threading.main_thread()
        # Ctrl-C reaches the whole group of processes: children ignore it from their first moment, the parent ends them.
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
        try:
            with thread_environment(threads, kernels=True):
                self.process.start()
        finally:
            if main:
                signal.signal(signal.SIGINT, previous)
        theirs.close()

    def give(self, index: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Answer | None:
        """Send a call; an answer comes back at once only if it cannot be sent."""
        try:
            parcel = pickle.dumps((function, arguments))
        except Exception as failure:
            error = f"this run cannot travel to another process ({sentence(failure)}); use one worker."
            return Answer(index, error=error)
        self.busy_with = index
        with contextlib.suppress(OSError):  # it has died; `take` will notice
            self.connection.send((index, parcel))
        return None

    def take(self) -> Answer | None:
        """Receive what the process says; find out that it has died."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.lost = True
            self.process.join(PATIENCE)
            if not self._greeted:
                raise RequestError(
                    "worker processes cannot start; a script that asks for workers must keep its own work under "
                    "if __name__ == '__main__':."
                ) from None
            index, self.busy_with = self.busy_with, None
            code = self.process.exitcode
            self.end()
            if index is None:
                return None
            return Answer(index, error=f"the process of this run died (exit code {code}).")
        if message is None:
            self._greeted = True
            return None
        if message is COMPILING:
            clock.tell()
            return None
        self.busy_with = None
        return cast(Answer, message)

    def end(self) -> None:
        """End the process: ask, then insist."""
        self.connection.close()
        if self.busy_with is not None:
            self.process.terminate()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(PATIENCE)


def _serve(connection: Connection, measured: bool = False) -> None:
    """Work off calls until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    _die_with_parent()
    shield()
    try:
        connection.send(None)
        while True:
            index, parcel = connection.recv()
            try:
                function, arguments = pickle.loads(parcel)
            except Exception as failure:
                answer = Answer(index, error=f"this run cannot travel to another process ({sentence(failure)}).")
            else:
                with clock.telling(partial(connection.send, COMPILING)), MemoryPeak(measured) as peak:
                    answer = attempt(function, index, arguments)
                answer = replace(answer, megabytes=peak.megabytes)
            try:
                connection.send(answer)
            except Exception as failure:  # one that is of the pipe comes again, and ends this
                connection.send(
                    Answer(index, error=f"the answer cannot travel between processes ({sentence(failure)}).")
                )
    except (EOFError, OSError):
        return


def _die_with_parent() -> None:
    """End this process with its parent, however that ends: the kernel sees to it, or a thread that watches."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:
        return
    from ..mip import die_with

    threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()
    die_with(parent.pid)  # at once, also while compiled code lets no thread run; where there is no such kernel: nothing


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)  # there is nobody to answer


def _leave(number: int, frame: FrameType | None) -> None:
    # An exception, so that solvers started by this process are ended by those who started them.
    sys.exit(128 + number)
