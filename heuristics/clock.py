"""The clock of runs, which stands still while code is compiled.

Kernels are compiled when they are first called, which takes seconds, and kept on disk for the next time. A run must not
pay for it, or its answer would depend on what was run before. Numba tells when it begins and ends to compile a
function, or to load one from its cache (events of its compiler lock: :mod:`numba.core.event`); meanwhile `now` does not
move, whichever thread compiles, and whoever wrote the function.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_guard = threading.RLock()  # signal handlers ask for the time, too
_depths: dict[int, int] = {}  # threads that compile, and how deeply
_lost = 0.0  # seconds spent compiling, but for those since `_since`
_since = 0.0
_watching = False
_tell: Callable[[], None] | None = None
_afterwards: dict[int, Callable[[], None]] = {}


def now() -> float:
    """Seconds on the clock of runs: wall-clock time less what went into compiling since `start` was first called."""
    with _guard:
        return (_since if _depths else time.perf_counter()) - _lost


def lost() -> float:
    """Seconds that went into compiling, or into loading what was compiled, since anybody listened (`watch`)."""
    with _guard:
        return _lost + (time.perf_counter() - _since if _depths else 0.0)


def start() -> float:
    """The time now, for a run that begins; from now on nothing is compiled unnoticed."""
    watch()
    with _guard:
        if _depths.pop(threading.get_ident(), None) and not _depths:  # torn out of the compiler, it never told the end
            _resume()
        return now()


def compiling() -> bool:
    """Whether this thread is compiling (asked by a handler of signals: the compiler must not be torn apart)."""
    return threading.get_ident() in _depths


def afterwards(call: Callable[[], None]) -> None:
    """Call this, which may raise, as soon as this thread has compiled what it is compiling."""
    _afterwards[threading.get_ident()] = call


@contextmanager
def standing() -> Iterator[None]:
    """A block that is not counted, as what is imported or compiled is not: processes that start for a run, say."""
    _stop()
    try:
        yield
    finally:
        _go_on()


@contextmanager
def telling(how: Callable[[], None]) -> Iterator[None]:
    """A block in which `how` is called whenever something must be compiled, that is, when no cache holds it."""
    global _tell
    before, _tell = _tell, how
    try:
        yield
    finally:
        _tell = before


def tell() -> None:
    """Tell that something is being compiled, here or by a process that works for this one."""
    if _tell is not None:
        _tell()


def watch() -> None:
    """Listen to Numba from now on (it is imported here, since much of `heuristics` does without)."""
    global _watching
    if _watching:
        return
    from numba.core import event

    class Lock(event.Listener):
        def on_start(self, event: Any) -> None:
            _stop()

        def on_end(self, event: Any) -> None:
            _go_on()

    class Compilation(event.Listener):
        def on_start(self, event: Any) -> None:
            tell()

        def on_end(self, event: Any) -> None:
            pass

    with _guard:
        if not _watching:
            _watching = True
            for kind, listener in (("numba:compiler_lock", Lock()), ("numba:compile", Compilation())):
                event.register(kind, listener)  # type: ignore[no-untyped-call]


# -- inside -----------------------------------------------------------------------------------------------------------


def _stop() -> None:
    global _since
    thread = threading.get_ident()
    with _guard:
        if not _depths:
            _since = time.perf_counter()
        _depths[thread] = _depths.get(thread, 0) + 1


def _go_on() -> None:
    thread = threading.get_ident()
    with _guard:
        if thread not in _depths:  # it was compiling before anybody listened
            return
        _depths[thread] -= 1
        if _depths[thread] > 0:
            return
        del _depths[thread]
        if not _depths:
            _resume()
        call = _afterwards.pop(thread, None)
    if call is not None:
        call()


def _resume() -> None:
    global _lost
    _lost += time.perf_counter() - _since
