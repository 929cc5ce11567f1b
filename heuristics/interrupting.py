"""Ctrl-C that neither breaks anything nor gets lost.

Raised at any moment, a ``KeyboardInterrupt`` may land inside compiled code, which turns it into an obscure error, or
inside a library that swallows it. A program whose signal handler calls `interrupt` is safe from both: while a strategy
is at work the wish is only noted, and the oracle raises it at the next question; if none comes for `PATIENCE`, the
interrupt comes all the same, wherever that is. Code that asks nothing for long says so by `immediate`. Asked twice, the
interrupt comes at once. A kernel that is being compiled is compiled to its end first. Long computations call `check` a
few times a second; within a time limit (`within`) it ends them, too. Runs in several threads do not meet here: what one
says of itself holds for its own thread, and for threads that say nothing if it is the main one.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import clock

#: Seconds a noted interrupt waits to be looked at.
PATIENCE = 0.8

_noted = False
_heard = False
_waits: set[int] = set()  # threads whose work checks often enough
_begun = False
_answers = 0
_limits: dict[int, Callable[[], None]] = {}  # by thread


def interrupt() -> None:
    """Note that the run under way is to end; raise ``KeyboardInterrupt`` unless somebody will soon look at the note."""
    global _noted, _heard
    again, waits = _noted, threading.get_ident() in _waits
    _noted = True
    if clock.compiling():
        clock.afterwards(check if again or not waits else remind)
    elif again or not waits:
        _heard = True
        raise KeyboardInterrupt
    else:
        remind()


def remind(seconds: float | None = None) -> None:
    """See to it that a noted interrupt that nobody looks at comes again, to the main thread, after so many seconds."""
    after = PATIENCE if seconds is None else seconds
    _thread.start_new_thread(
        _come_again, (after, _answers)
    )  # in a signal handler the locks of `threading` may be taken


def lost() -> None:
    """Tell that an interrupt was raised where nobody heard it (in the deletion of an object, say): it comes again."""
    global _heard
    _heard = False
    remind(0.05)


def note() -> None:
    """Leave to whoever looks next an interrupt that came already."""
    global _noted
    _noted = True


def check() -> None:
    """Raise ``KeyboardInterrupt`` if one was noted and not yet answered, or what the limit in force raises."""
    global _heard
    if _noted:
        _heard = True
        raise KeyboardInterrupt
    limit = _limits.get(threading.get_ident()) or _limits.get(threading.main_thread().ident or 0)
    if limit is not None:
        limit()


def answered() -> None:
    """Forget the note: the run has ended."""
    global _noted, _heard, _answers
    _noted, _heard, _answers = False, False, _answers + 1


def begin() -> None:
    """Tell that there is something to lose from now on: a run has begun."""
    global _begun
    _begun = True


def begun() -> bool:
    """Whether a run has begun in this process, now or before."""
    return _begun


@contextmanager
def deferred() -> Iterator[None]:
    """A block that checks often enough by itself."""
    with _waiting(True):
        yield


@contextmanager
def immediate() -> Iterator[None]:
    """A block that does not check, and may be left at any moment."""
    check()
    with _waiting(False):
        yield


@contextmanager
def within(limit: Callable[[], None]) -> Iterator[None]:
    """A block in which `check` asks `limit`, too, which raises when there is no time left."""
    thread = threading.get_ident()
    before = _limits.get(thread)
    _limits[thread] = limit
    try:
        yield
    finally:
        if before is None:
            del _limits[thread]
        else:
            _limits[thread] = before


@contextmanager
def _waiting(waits: bool) -> Iterator[None]:
    thread = threading.get_ident()
    before = thread in _waits
    (_waits.add if waits else _waits.discard)(thread)
    try:
        yield
    finally:
        (_waits.add if before else _waits.discard)(thread)


def _come_again(seconds: float, answers: int) -> None:
    time.sleep(seconds)
    main = threading.main_thread().ident
    if _noted and answers == _answers and not _heard and main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
