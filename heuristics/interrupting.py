"""Ctrl-C that neither breaks anything nor gets lost.

Raised at any moment, a ``KeyboardInterrupt`` may land inside compiled code, which turns it into an obscure error, or
inside a library that swallows it. A program whose signal handler calls `interrupt` is safe from both: while a strategy
is at work the wish is only noted, and the oracle raises it at the next question. Code that asks nothing for long says
so by `immediate`. Asked twice, the interrupt comes at once, wherever that is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_noted = threading.Event()
_waits = False


def interrupt() -> None:
    """Note that the run under way is to end; raise ``KeyboardInterrupt`` unless somebody will soon look at the note."""
    again = _noted.is_set()
    _noted.set()
    if again or not _waits:
        raise KeyboardInterrupt


def check() -> None:
    """Raise ``KeyboardInterrupt`` if one was noted and not yet answered."""
    if _noted.is_set():
        raise KeyboardInterrupt


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
def _waiting(waits: bool) -> Iterator[None]:
    global _waits
    before, _waits = _waits, waits
    try:
        yield
    finally:
        _waits = before
