"""Connections to a cluster of Dask, or to one that is started on this machine: ``optmodels[scale]``.

What its workers do is up to others: calls of a study (`optmodels.studies.pool`), passes over pages
(`optmodels.freshness.tables.engine`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterator
from importlib import import_module
from multiprocessing import resource_tracker
from typing import Any

from heuristics import interrupting

from .data import read_json
from .errors import RequestError, UnreadableFile, brief, short

#: In place of an address: processes of this machine.
LOCAL = "local"

#: Variable of the environment that limits the threads of a run.
THREADS = "OPTMODELS_THREADS"

#: Where processes of this machine listen: no other machine hears of them.
LOOPBACK = "127.0.0.1"

#: Seconds a scheduler is given to answer.
PATIENCE = 5.0

STRANGER = "what listens there is no Dask scheduler"
ADVICE = "give the address of one, such as tcp://10.0.0.1:8786, its .json file, or 'local'"


@contextlib.contextmanager
def connected(address: str = LOCAL, workers: int | None = None) -> Iterator[Any]:
    """Connect a ``distributed.Client`` to a cluster, or to one started on this machine, for the length of a block.

    Parameters
    ----------
    address
        Of a scheduler, such as ``tcp://10.0.0.1:8786``; a ``.json`` file that tells it; ``"local"``: processes of this
        machine, started here and ended with the block, which nobody outside it can reach.
    workers
        How many processes of this machine; one for each processor by default.
    """
    if not isinstance(address, (str, os.PathLike)):
        raise RequestError(f"a cluster is text, got {short(address)}; {ADVICE}.")
    address = os.fspath(address)
    dask = distributed()
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
        yield client


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def allowed_threads() -> int | None:
    """How many threads a run may use where it would choose by itself (``OPTMODELS_THREADS``); ``None``: any number."""
    told = os.environ.get(THREADS, "")
    return int(told) if told.isascii() and told.isdigit() and int(told) > 0 else None


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
    import asyncio  # a twentieth of a second, for those who ask

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
    import asyncio

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


def distributed() -> Any:
    """Import ``distributed``, or say in a sentence how to get it."""
    try:
        return import_module("distributed")
    except ImportError as failure:
        raise RequestError("a cluster needs dask.distributed: pip install 'optmodels[scale]'.") from failure
    except Exception as failure:  # Dask looks for plug-ins of its own, and fails where a distribution is malformed
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise RequestError(f"a cluster needs dask.distributed, which cannot be imported here ({reason}).") from failure
