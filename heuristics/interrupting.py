"""Ctrl-C that cannot get lost.

A library that is busy importing, compiling or calling back may swallow a ``KeyboardInterrupt``. A program whose signal
handler calls `note` before it raises one is still heard: the oracle looks at the note at every question.
"""

from __future__ import annotations

import threading

_noted = threading.Event()


def note() -> None:
    """Remember that the run under way is to end."""
    _noted.set()


def check() -> None:
    """Raise ``KeyboardInterrupt`` if one was noted and not yet answered."""
    if _noted.is_set():
        raise KeyboardInterrupt


def answered() -> None:
    """Forget the note: the run has ended."""
    _noted.clear()
