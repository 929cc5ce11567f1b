"""Progress of a run, or of many: a line on stderr, in a notebook one that is rewritten, and a picture that grows.

On a terminal the line is rewritten; where stderr goes to a file, a new line is written now and then, and the last one
always is. In a notebook the line is an output of its own, and below it stands the trace of the run where matplotlib can
draw it.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from html import escape
from importlib import import_module
from typing import Any, Protocol

from heuristics import Progress

from ..errors import printable

#: Seconds between two lines of a file, between two of a screen, and between two pictures.
SELDOM, OFTEN, DRAWN = 5.0, 0.2, 1.0


class Screen(Protocol):
    """Where progress is shown."""

    def show(self, line: str, *, last: bool = False) -> None: ...


class Stream:
    """Lines on stderr; on a terminal each replaces the one before."""

    def __init__(self) -> None:
        self.rewritten = sys.stderr.isatty()
        self._next, self._line, self._shown = 0.0, "", ""

    def show(self, line: str, *, last: bool = False) -> None:
        """Write a line, unless one was written just now; the last one is always written."""
        self._line = line or self._line
        now = time.monotonic()
        if (now < self._next and not last) or (last and not self.rewritten and self._line == self._shown):
            return
        self._next, self._shown = now + (OFTEN if self.rewritten else SELDOM), self._line
        text = printable(self._line)
        if self.rewritten:
            width = max(shutil.get_terminal_size().columns - 1, 20)
            text = f"\r{text[:width].ljust(width)}"
        with contextlib.suppress(OSError, ValueError):  # a stream that takes nothing is no reason to fail
            print(text, end="" if self.rewritten and not last else "\n", file=sys.stderr, flush=True)


class Cell:
    """One output of a notebook, rewritten; `draw` makes the picture below the line."""

    def __init__(self, draw: Callable[[], str] | None = None) -> None:
        self.draw = draw
        self._next, self._line, self._picture, self._next_picture = 0.0, "", "", 0.0
        shown: Any = import_module("IPython.display")  # some versions of it have types, others none
        self._html: Callable[[str], Any] = shown.HTML
        self._handle: Any = shown.display(shown.HTML(""), display_id=True)

    def show(self, line: str, *, last: bool = False) -> None:
        """Rewrite the output, unless that was done just now."""
        self._line = line or self._line
        now = time.monotonic()
        if now < self._next and not last:
            return
        if self.draw is not None and (last or now >= self._next_picture):
            self._picture = self.draw()
            self._next_picture = time.monotonic() + DRAWN
        self._next = now + OFTEN
        self._handle.update(self._html(f"<div>{escape(printable(self._line))}</div>{self._picture}"))


def in_notebook() -> bool:
    """Tell whether this process runs the cells of a notebook; a shell in a terminal is none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextlib.contextmanager
def follow_run(label: str) -> Iterator[Callable[[Progress], None]]:
    """Show how one run stands.

    Parameters
    ----------
    label
        What is run.

    Yields
    ------
    callable
        To be called with a `Progress` now and then.
    """
    seen: list[Progress] = []
    screen: Screen = Cell(lambda: _trace(label, seen)) if in_notebook() else Stream()

    def follow(progress: Progress) -> None:
        before = seen[-1] if seen else None
        if before is None or (before.objective, before.bound) != (progress.objective, progress.bound):
            seen.append(progress)
        screen.show(_told(label, progress))

    screen.show(f"{label}: started")
    try:
        yield follow
    finally:
        screen.show("", last=True)


@contextlib.contextmanager
def follow_batch(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show how many runs stand.

    Parameters
    ----------
    label
        What they are together.

    Yields
    ------
    callable
        To be called with what is done, of how much, and what is running.
    """
    screen: Screen = Cell() if in_notebook() else Stream()

    def follow(done: int, total: int, what: str) -> None:
        screen.show(f"{label}: {done} of {total}, {what}")

    try:
        yield follow
    finally:
        screen.show("", last=True)


def _told(label: str, progress: Progress) -> str:
    best = "nothing feasible yet" if progress.objective is None else f"objective {progress.objective:.8g}"
    bound = "" if progress.bound is None else f", bound {progress.bound:.8g}"
    return f"{label}: {best}{bound}, {progress.evaluations} evaluations, {progress.seconds:.1f} s"


def _trace(label: str, seen: list[Progress]) -> str:
    """The run so far as a picture; nothing where there is nothing to draw, or nothing to draw with."""
    from .html import image

    if not any(one.objective is not None for one in seen):
        return ""
    points = [{"seconds": one.seconds, "objective": one.objective, "bound": one.bound} for one in seen]
    run = {"problem": label, "strategy": "so far", "status": "feasible", "trace": points, **points[-1]}
    try:
        from ..plotting import plot_trace

        return image(plot_trace([run]), label)
    except Exception:  # a picture that fails must not end the run
        return ""
