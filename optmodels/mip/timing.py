"""Ending in time what has no clock of its own."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from heuristics import BudgetSpent, clock

#: Seconds until the signal comes again, and between two looks at whether something is still being compiled.
AGAIN, LOOK = 0.5, 0.05


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """End the block by `BudgetSpent` when the time is up, whatever it does.

    By a timer signal, so in the main thread and on Unix only; elsewhere the block takes as long as it takes. A signal
    that comes while rubbish is collected or an object deleted is lost, so it comes again. A timer that was running
    before is set again afterwards. The time is that of `heuristics.clock`: what is being compiled does not count, and
    is not ended. A library that turns every exception into one of its own (`inspect.getfullargspec` makes it a
    ``TypeError``) does not hide the end of the time: what leaves the block is `BudgetSpent` all the same.
    """
    timed = math.isfinite(seconds) and hasattr(signal, "setitimer")
    if not timed or threading.current_thread() is not threading.main_thread():
        yield
        return

    deadline = clock.start() + seconds

    def ring(number: int, frame: FrameType | None) -> None:
        left = deadline - clock.now()
        if left <= 0 and not clock.compiling():
            raise BudgetSpent("seconds")
        signal.setitimer(signal.ITIMER_REAL, max(left, LOOK), AGAIN)

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), AGAIN)
    began = time.monotonic()
    try:
        yield
    except Exception as error:
        spent = _budget_spent_behind(error)
        if spent is None or spent is error:
            raise
        raise BudgetSpent(spent.limit) from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, left - (time.monotonic() - began)), interval)


def _budget_spent_behind(error: BaseException) -> BudgetSpent | None:
    """Find the `BudgetSpent` that an exception is, was raised from or was raised in the handling of."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, BudgetSpent):
        behind = behind.__cause__ or behind.__context__
    return behind
