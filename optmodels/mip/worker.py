"""The inside of a solver's process: read a request, let the backend work on it, report as it goes.

A backend is a function ``solve(request, channel) -> Outcome``. It hears of a stop through `Channel.stopped` and tells
what it finds through `Channel.send` and `Channel.bound`. Of optmodels it imports this module and `program` only.
Whatever a solver's library prints to standard output goes to standard error.
"""

from __future__ import annotations

import importlib
import math
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import BinaryIO

from .program import Bound, Message, Outcome, Request

#: Seconds between two bounds sent: a solver may improve its bound a thousand times a second.
BOUND_INTERVAL = 0.05


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by a backend that does not take such programs; the message is a sentence."""


class Channel:
    """The way from a backend to those who asked."""

    def __init__(self, out: BinaryIO, request: Request) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._deadline = request.deadline
        self._sign = request.program.sign
        self._best_bound = -math.inf
        self._bound_sent = -math.inf

    @property
    def stopped(self) -> bool:
        """Whether the solver should end as soon as it can."""
        return self._stop.is_set()

    @property
    def remaining_seconds(self) -> float:
        """What is left of the time limit, never negative."""
        return max(0.0, self._deadline - time.monotonic())

    def send(self, message: Message) -> None:
        """Send a message to those who asked, at once."""
        with self._lock:  # several threads of a solver may call back
            pickle.dump(message, self._out, protocol=pickle.HIGHEST_PROTOCOL)
            self._out.flush()

    def bound(self, value: float) -> None:
        """Report a bound if it is finite, better than those before, and not too soon after the last."""
        better = math.isfinite(value) and self._sign * value > self._best_bound
        now = time.monotonic()
        if better and now - self._bound_sent >= BOUND_INTERVAL:
            self._best_bound, self._bound_sent = self._sign * value, now
            self.send(Bound(value))

    def watch(self, commands: BinaryIO) -> None:
        """Wait for the word to stop; if those who asked are gone, there is nobody to answer: end at once."""
        try:
            while True:
                if pickle.load(commands) == "stop":
                    self._stop.set()
        except Exception:
            os._exit(1)


Backend = Callable[[Request, Channel], Outcome]


def main(backend: str, parent: int) -> None:
    """Answer one request, read from standard input, on standard output; then end the process."""
    die_with(parent)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, function = backend.partition(":")
    solve: Backend | None = None
    try:
        solve = getattr(importlib.import_module(module), function)
    except Exception:
        failure = traceback.format_exc()
    try:
        request = pickle.load(sys.stdin.buffer)
    except EOFError:  # nobody asks any more
        os._exit(0)
    channel = Channel(out, request)
    threading.Thread(target=channel.watch, args=(sys.stdin.buffer,), daemon=True).start()
    try:
        outcome = solve(request, channel) if solve else Outcome("error", message=failure)
    except Refusal as refusal:
        outcome = Outcome("refused", message=str(refusal))
    except Exception:
        outcome = Outcome("error", message=traceback.format_exc())
    channel.send(outcome)
    os._exit(0)  # a solver's own threads may not end in time


def die_with(parent: int) -> None:
    """Ask the kernel to end this process with its parent, where it can (elsewhere the closed pipe tells).

    Parameters
    ----------
    parent
        Number of the process that is to be outlived by nobody.
    """
    if sys.platform != "linux":
        return
    import ctypes

    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before we asked
        os._exit(0)
