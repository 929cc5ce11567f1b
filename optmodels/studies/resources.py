"""Threads and memory of runs: the same number of threads for all of them, and the peak of what a process holds.

Threads are limited in three places. Libraries that are loaded already are told (BLAS and OpenMP by threadpoolctl, Numba
by its own function); those that are loaded later, and solvers, which are processes of their own, read the environment;
and ``OPTMODELS_THREADS`` tells the parts of this package that choose a number by themselves
(`optmodels.cluster.allowed_threads`).

Memory is what the system counts as resident, interpreter and libraries included.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from ..cluster import THREADS
from ..errors import RequestError

#: What libraries read when they are loaded.
VARIABLES = (
    THREADS,
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

#: Read by Numba when it is loaded, and refused by it afterwards.
KERNELS = "NUMBA_NUM_THREADS"

#: More threads than this are a slip of the pen.
MOST_THREADS = 1024

#: Seconds between two looks at the processes that a run has started.
LOOK = 0.02


def check_threads(threads: object) -> int:
    """Refuse what is no number of threads."""
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:
        raise RequestError(f"threads is a whole number from 1 to {MOST_THREADS}, got {threads!r}.")
    return threads


@contextlib.contextmanager
def thread_environment(threads: int | None, *, kernels: bool = False) -> Iterator[None]:
    """Let processes that are started in the block, and libraries that are loaded in it, use so many threads.

    Parameters
    ----------
    threads
        How many; ``None`` leaves the environment alone.
    kernels
        Whether Numba is told, too: for processes that have not loaded it.
    """
    if threads is None:
        yield
        return
    names = (*VARIABLES, KERNELS) if kernels else VARIABLES
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    """Let whatever runs in the block use so many threads; ``None`` leaves it to the libraries."""
    if threads is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    with thread_environment(threads), threadpool_limits(threads), _limited_kernels(threads):
        yield


@contextlib.contextmanager
def _limited_kernels(threads: int) -> Iterator[None]:
    """Limit the threads of kernels that Numba made parallel, where any was loaded or can be."""
    import numba

    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if most == 1:  # asking for it would start its pool of threads
        yield
        return
    try:
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, most))
    except Exception:  # no pool of threads can be started here, so that no kernel has any
        yield
        return
    try:
        yield
    finally:
        numba.set_num_threads(before)


class MemoryPeak:
    """A block whose memory is measured: that of this process at its peak, and of processes that it starts.

    On Linux a thread looks at the started ones (solvers) now and then, since their peak is gone with them. Elsewhere
    the system tells the largest of them.

    Parameters
    ----------
    measured
        Whether it is measured at all.
    """

    def __init__(self, measured: bool = True) -> None:
        self.measured = measured
        self._started = 0.0
        self._ended = threading.Event()
        self._watch: threading.Thread | None = None

    @property
    def megabytes(self) -> float | None:
        """The peak in units of 1e6 bytes; ``None`` where it was not measured."""
        if not self.measured:
            return None
        own = _peak("self")
        if own is not None:
            return round((own + self._started) / 1e6, 3)
        try:
            import resource
        except ImportError:  # not on every system
            return None
        unit = 1 if sys.platform == "darwin" else 1024
        usage = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return round(sum(usage) * unit / 1e6, 3)

    def __enter__(self) -> Self:
        if self.measured and sys.platform == "linux":
            self._watch = threading.Thread(target=self._look, daemon=True)
            self._watch.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._ended.set()
        if self._watch is not None:
            self._watch.join()

    def _look(self) -> None:
        while True:
            together = sum(_peak(number) or 0.0 for number in _children())
            self._started = max(self._started, together)
            if self._ended.wait(LOOK):
                return


def _peak(process: str) -> float | None:
    """The largest resident size of a process so far, in bytes, as Linux tells it."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return 1024.0 * float(line.split()[1])
    return None


def _children() -> list[str]:
    """Numbers of the processes that threads of this one have started and that still run."""
    found: list[str] = []
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += task.read_text(encoding="ascii").split()
    return found
