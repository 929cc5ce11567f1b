"""A solver in a process of its own, which is stopped in time whatever it does."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO, Any, cast

from heuristics import Disagreement, Oracle, Result, interrupting

from .program import Log, Message, Outcome, Program, Request

#: Seconds after the limit at which a solver that did not stop is ended: some, and a share of the limit.
GRACE, GRACE_SHARE = 1.0, 0.05

#: Seconds after the limit at which it is asked to stop.
STOP_AFTER = 0.2

#: Seconds between two looks at whether an interrupt was asked for.
LOOK = 0.1

#: Seconds to look for an infeasible sub-set, and names shown of it.
EXPLAIN_SECONDS, EXPLAIN_NAMES = 10.0, 20

_EXPLAINER = "optmodels.mip.highs:explain"

#: Seconds a solver gets to stop by itself after Ctrl-C.
WIND_UP = 0.5

# The package's own __init__ is passed by: the solver's process then does not depend on what the front door imports
# (OR-Tools and highspy cannot share a process), and it never sees the caller's __main__.
_BOOT = """
import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
import pickle, sys, types
boot = pickle.load(sys.stdin.buffer)
sys.path[:] = boot["path"]
package = types.ModuleType(boot["package"]); package.__path__ = [boot["folder"]]
sys.modules[boot["package"]] = package
import importlib
importlib.import_module(boot["package"] + ".worker").main(boot["backend"], boot["parent"])
"""


class SolverFailure(RuntimeError):  # noqa: N818 - reads as what happened
    """A solver ended with an error: a defect of ours or of the solver, not an answer."""


class SolverProcess:
    """A child process that answers one request; a context manager that leaves no process behind.

    The process starts, and imports its solver, as soon as this object is made; the request may come later.

    Parameters
    ----------
    backend
        ``"module:function"``, see `optmodels.mip.worker`.
    """

    def __init__(self, backend: str) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._ended = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            process_group=0,  # a signal to the group of processes is for the parent, which decides what it means
        )
        self._outbox.put(
            {
                "path": [entry or os.getcwd() for entry in sys.path],
                "package": __package__,
                "folder": os.path.dirname(os.path.abspath(__file__)),
                "backend": backend,
                "parent": os.getpid(),
            }
        )
        # Both ways have a thread of their own: a process that neither reads nor writes cannot hold up the guard.
        threading.Thread(target=self._write, daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """Number of the process, as the system counts."""
        return self._process.pid

    def ask(
        self,
        request: Request,
        seconds: float = math.inf,
        check: Callable[[], None] = interrupting.check,
        settled: Callable[[], bool] = lambda: False,
    ) -> Iterator[Message]:
        """Hand over the request and yield what comes back; the last message is always an `Outcome`.

        Parameters
        ----------
        request
            Its deadline is filled in here.
        seconds
            Time limit. A solver that overruns it is asked to stop, and ended soon after.
        check
            Called a few times a second, and may raise.
        settled
            Asked now and then whether the answer is known without the solver's last word; then it is ended, too.
        """
        deadline = time.monotonic() + seconds
        self._outbox.put(replace(request, deadline=deadline))
        reminder = deadline + STOP_AFTER
        guard = deadline + GRACE + GRACE_SHARE * seconds
        reminded = False
        while True:
            now = time.monotonic()
            if now >= guard:
                self.kill()
                yield from self._rest()
                yield Outcome("seconds", message=f"the solver was ended {now - deadline:.1f} s after its limit")
                return
            if now >= reminder and not reminded:
                self.stop()
                reminded = True
            check()
            if settled():
                last = [message for message in self.wind_up() if isinstance(message, (Log, Outcome))]
                detail = last[-1].detail if last and isinstance(last[-1], Outcome) else {}
                yield from (message for message in last if isinstance(message, Log))
                yield Outcome("settled", message="the bound met the best decision known", detail=detail)
                return
            message = self._next(min(guard if reminded else reminder, now + LOOK) - now)
            if message is None:
                continue
            if isinstance(message, Outcome):
                late = reminded and message.status == "interrupt"
                yield replace(message, status="seconds") if late else message
                return
            yield message

    def wind_up(self, seconds: float = WIND_UP) -> list[Message]:
        """Ask the solver to stop, end it if it does not, and return what it had still said."""
        self.stop()
        messages: list[Message] = []
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            message = self._next(left)
            if message is not None:
                messages.append(message)
            if isinstance(message, Outcome):
                break
        self.kill()
        messages += self._rest()
        return messages

    def stop(self) -> None:
        """Ask the solver to stop."""
        self._outbox.put("stop")

    def kill(self) -> None:
        """End the process now, whatever it is doing."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process if it still runs, and let go of the pipes."""
        self.kill()
        self._outbox.put(None)
        self._errors.close()

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        pipe = cast("IO[bytes]", self._process.stdin)
        with contextlib.suppress(OSError), pipe:  # if the process is gone, the reader says so
            while (message := self._outbox.get()) is not None:
                pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
                pipe.flush()

    def _read(self) -> None:
        pipe = cast("IO[bytes]", self._process.stdout)
        with contextlib.suppress(Exception), pipe:  # a message cut off by the end of the process is no message
            while True:
                self._inbox.put(cast(Message, pickle.load(pipe)))
        self._inbox.put(None)

    def _take(self, timeout: float) -> Message | None:
        """The next message, ``None`` if nothing came in time, or nothing will come any more."""
        if self._ended:
            return None
        try:
            message = self._inbox.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return None
        self._ended = message is None
        return message

    def _next(self, timeout: float) -> Message | None:
        """The next message, an `Outcome` if the process has ended without one, ``None`` if nothing came in time."""
        message = self._take(timeout)
        return self._obituary() if message is None and self._ended else message

    def _rest(self) -> list[Message]:
        """What was said before the process was ended."""
        messages: list[Message] = []
        while (message := self._take(WIND_UP)) is not None:
            messages.append(message)
        self._ended = True
        return messages

    def _obituary(self) -> Outcome:
        try:
            code = self._process.wait(timeout=WIND_UP)
        except subprocess.TimeoutExpired:  # it closed its pipe and lives on
            self.kill()
            code = 1
        self._errors.seek(0)
        last_words = self._errors.read().decode(errors="replace").strip()[-2000:]
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            return Outcome("died", message=name, detail={"stderr": last_words})
        return Outcome("error", message=f"the solver's process ended with code {code}. {last_words}")


def explain(program: Program, seconds: float) -> dict[str, Any]:
    """Constraints and bounds that cannot all be kept, as ``infeasible_subset``; its size if some are not shown."""
    with SolverProcess(_EXPLAINER) as process:
        *_, outcome = process.ask(Request(program), seconds)
    if not isinstance(outcome, Outcome) or outcome.status != "infeasible":
        return {}
    names = [*outcome.detail["rows"], *(f"bounds of {column}" for column in outcome.detail["columns"])]
    shown: dict[str, Any] = {"infeasible_subset": names[:EXPLAIN_NAMES]}
    if len(names) > EXPLAIN_NAMES:
        shown["infeasible_subset_size"] = len(names)
    return shown


def close_infeasible(oracle: Oracle[Any], extra: dict[str, Any]) -> Result:
    """Close a run on "infeasible", unless the evaluator knows better."""
    if oracle.best is not None:
        raise Disagreement(
            f"{oracle.problem.name}: the program has no solution, but the evaluator knows a feasible decision "
            f"of objective {oracle.best.evaluation.objective!r}."
        )
    return oracle.result(proved=True, extra=extra)
