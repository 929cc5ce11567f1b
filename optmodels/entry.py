"""Where the command begins: signals are taken before anything else is imported.

Before there is an answer to lose, SIGINT and SIGTERM end the process with one sentence, at once: an exception raised
while libraries are imported may be swallowed, or come out as something else.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = "interrupted before there was an answer."

#: No feasible decision, and none will come.
EXIT = 3


def main() -> NoReturn:
    """Run the command that the process was started for, and end the process.

    Once the answer is written the process ends without taking apart what it holds: a large model takes seconds.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    from .cli import main as command

    code = command()
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):  # stdout was flushed, or could not be, when the answer was delivered
        sys.stderr.flush()
    os._exit(code)


def leave() -> NoReturn:
    """End the process now, with a sentence."""
    try:
        os.write(2, f"optmodels: {INTERRUPTED}\n".encode())
    finally:  # whether or not somebody reads it
        os._exit(EXIT)


def interrupt_or_leave(number: int, frame: FrameType | None) -> None:
    """Interrupt what is under way; leave if nothing is, but imports."""
    interrupting = sys.modules.get("heuristics.interrupting")
    if not getattr(interrupting, "begun", bool)() and _importing(frame):
        leave()
    interrupt(number, frame)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupt what is under way."""
    interrupting: Any = sys.modules.get("heuristics.interrupting")
    if interrupting is None or not hasattr(interrupting, "interrupt"):  # there is no run to end
        raise KeyboardInterrupt
    interrupting.interrupt()


def hear_lost_interrupts(event: Any) -> None:
    """What `sys.unraisablehook` is set to: an interrupt raised where it cannot be heard comes again, without a word."""
    interrupting: Any = sys.modules.get("heuristics.interrupting")
    if issubclass(event.exc_type, KeyboardInterrupt) and interrupting is not None:
        interrupting.lost()
    elif event.exc_type.__name__ != "BudgetSpent":  # a time limit, whose timer rings again (`optmodels.mip.timing`)
        sys.__unraisablehook__(event)


def _leave(number: int, frame: FrameType | None) -> None:
    leave()


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
