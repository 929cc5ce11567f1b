"""Where the command begins: signals are taken before anything else is imported.

Before there is an answer to lose, SIGINT and SIGTERM end the process with one sentence, at once: an exception raised
while libraries are imported may be swallowed, or come out as something else. Where a result in JSON was asked for, one
without a decision is printed even then, so that whoever reads it finds what was promised.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

from . import __version__

INTERRUPTED = "interrupted before there was an answer."

#: No feasible decision, and none will come.
EXIT = 3

#: Commands whose answer is a result.
ANSWERED_BY_RESULTS = ("evaluate", "solve")

#: The result of such a command that ended before its run: whatever is not known yet is null. Made in advance, because
#: a signal may come while the module that makes JSON is being imported.
NO_RESULT = json.dumps(
    {
        "format": 1,
        "problem": None,
        "kind": None,
        "strategy": None,
        "parameters": {},
        "seed": None,
        "status": "unknown",
        "objective": None,
        "bound": None,
        "gap": None,
        "decision": None,
        "measures": {},
        "violations": {},
        "extra": {"reason": "interrupted before the run began"},
        "evaluations": 0,
        "judged_in_full": 0,
        "seconds": 0.0,
        "stopped_by": "interrupt",
        "checked": False,
        "versions": {"optmodels": __version__},
        "trace": [],
    }
)


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
    """End the process now, with a sentence, and a result without a decision where one was asked for."""
    result = unanswered(sys.argv[1:])
    try:
        if result is not None:
            with contextlib.suppress(OSError):  # a reader who has gone is no reason to be silent
                os.write(1, f"{result}\n".encode())
        os.write(2, f"optmodels: {INTERRUPTED}\n".encode())
    finally:  # whether or not somebody reads it
        os._exit(EXIT)


def unanswered(words: Sequence[str]) -> str | None:
    """Return what a command prints on stdout if it is interrupted before its run.

    >>> unanswered(["-q", "--log", "run.log", "list", "--json"]) is None
    True

    Parameters
    ----------
    words
        Those of the command.

    Returns
    -------
    str or None
        A result in JSON; ``None`` where none was asked for.
    """
    ours = [*words[: words.index("--")]] if "--" in words else [*words]
    if "--json" not in ours:
        return None
    named = (word for word, before in zip(ours, ["", *ours], strict=False) if before != "--log")
    command = next((word for word in named if not word.startswith("-")), None)
    return NO_RESULT if command in ANSWERED_BY_RESULTS else None


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
