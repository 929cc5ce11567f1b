"""Ctrl-C that neither breaks anything nor gets lost.

Raised at any moment, a ``KeyboardInterrupt`` may land inside compiled code, which turns it into an obscure error, or
inside a library that swallows it. A program whose signal handler calls `interrupt` is safe from both: while a strategy
is at work the wish is only noted, and the oracle raises it at the next question. Code that asks nothing for long says
so by `immediate`. Asked twice, the interrupt comes at once, wherever that is. Long computations call `check` a few
times a second; within a time limit (`within`) it ends them, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_noted = threading.Event()
_waits = False
_limit: Callable[[], None] | None = None


def interrupt() -> None:
    """Note that the run under way is to end; raise ``KeyboardInterrupt`` unless somebody will soon look at the note."""
    again = _noted.is_set()
    _noted.set()
    if again or not _waits:
        raise KeyboardInterrupt


def note() -> None:
    """Leave to whoever looks next an interrupt that came already."""
    _noted.set()


def check() -> None:
    """Raise ``KeyboardInterrupt`` if one was noted and not yet answered, or what the limit in force raises."""
    if _noted.is_set():
        raise KeyboardInterrupt
    if _limit is not None:
        _limit()


def answered() -> None:
    """Forget the note: the run has ended."""
    _noted.clear()


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
    global _limit
    before, _limit = _limit, limit
    try:
        yield
    finally:
        _limit = before


@contextmanager
def _waiting(waits: bool) -> Iterator[None]:
    global _waits
    before, _waits = _waits, waits
    try:
        yield
    finally:
        _waits = before
