"""Lanes side by side: members of a portfolio in several processes, for budgets in seconds.

Each lane is a process of its own, with some of the members, which take turns there (`optmodels.portfolio.rounds`).
Better decisions and bounds go from lane to lane at once. The time in which processes start and import is not charged,
as that of any import; from there on one clock, that of the run, holds for all. It stands still while a lane compiles,
or loads what was compiled, as the clock of that lane does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Any, cast

import numpy as np

from heuristics import Oracle, adopt, clock, interrupting

from ..protocols import Listing
from .lane import BOUND, DONE, FAILED, FOUND, GO, KNOWN, READY, STOP, Message, Task
from .members import Member

#: Seconds until processes must have started; seconds that they get to stop; between two looks at the clock.
START_SECONDS, WIND_UP, LOOK = 120.0, 1.5, 0.05

_BOOT = """
import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)
import pickle, sys
path, parent = pickle.load(sys.stdin.buffer)
sys.path[:] = path
from optmodels.portfolio.lane import serve
serve(parent)
"""


class CannotStart(Exception):  # noqa: N818 - it is a reason, not an error
    """Processes cannot be started, or a problem cannot travel to them; the message says why."""


class Lane:
    """One process, seen from outside."""

    def __init__(self, number: int, task: Task, inbox: queue.SimpleQueue[tuple[int, Message | None]]) -> None:
        self.number, self.members, self.alive = number, task.members, True
        self.evaluations = self.judged_in_full = 0
        try:
            parcel = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as failure:
            raise CannotStart(f"the problem cannot travel to another process ({failure})") from failure
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for the parent, which decides what it means
        )
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._outbox.put(pickle.dumps(([entry or os.getcwd() for entry in sys.path], os.getpid())))
        self._outbox.put(parcel)
        # Both ways have a thread of their own: a process that neither reads nor writes holds nobody up.
        threading.Thread(target=self._write, daemon=True).start()
        threading.Thread(target=self._read, args=(inbox,), daemon=True).start()

    def tell(self, message: object) -> None:
        """Send a message."""
        self._outbox.put(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._outbox.put(None)

    def _write(self) -> None:
        pipe = cast("IO[bytes]", self._process.stdin)
        with contextlib.suppress(OSError), pipe:  # if the process is gone, the reader says so
            while (parcel := self._outbox.get()) is not None:
                pipe.write(parcel)
                pipe.flush()

    def _read(self, inbox: queue.SimpleQueue[tuple[int, Message | None]]) -> None:
        pipe = cast("IO[bytes]", self._process.stdout)
        with contextlib.suppress(Exception), pipe:  # a message cut off by the end of the process is no message
            while True:
                inbox.put((self.number, pickle.load(pipe)))
        inbox.put((self.number, None))


class Crew:
    """A portfolio at work in several processes.

    Parameters
    ----------
    oracle
        Of the run: it sees all that members find.
    members
        Dealt out among the lanes in turn.
    left_out
        Why others do not take part; those whose process dies join them.
    cores
        Number of lanes at most.
    """

    def __init__(self, oracle: Oracle[Any], members: Sequence[Member], left_out: dict[str, str], cores: int) -> None:
        self.oracle, self.members, self.left_out = oracle, list(members), left_out
        self.cores = min(cores, len(members))
        self.common = not isinstance(oracle.problem.space, Listing)
        self.infeasible = False
        self._inbox: queue.SimpleQueue[tuple[int, Message | None]] = queue.SimpleQueue()
        self._lanes: list[Lane] = []
        self._lost = 0.0

    def work(self, rng: np.random.Generator) -> str:
        """Let all lanes work until the time is over or nothing is left to look for; tell why it ended.

        Raises
        ------
        CannotStart
            If the problem, or a member, cannot travel to another process; nothing has been spent then.
        """
        try:
            with clock.standing():
                self._start(rng)
            for lane in self._lanes:
                lane.tell((GO, max(self.oracle.remaining_seconds, 1e-3)))
            return self._listen()
        except KeyboardInterrupt:
            self._wind_up("interrupt")
            return "interrupt"
        finally:
            for lane in self._lanes:
                lane.end()

    def _start(self, rng: np.random.Generator) -> None:
        streams = rng.spawn(self.cores)
        for number in range(self.cores):
            task = Task(self.oracle.problem, tuple(self.members[number :: self.cores]), streams[number])
            self._lanes.append(Lane(number, task, self._inbox))
        waiting, until = set(range(self.cores)), time.monotonic() + START_SECONDS
        while waiting:
            try:
                number, message = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise CannotStart(f"processes did not start in {START_SECONDS:g} s") from None
            if message is None or message.word != READY:
                raise CannotStart(message.sentence if message is not None else "a process ended as it started")
            waiting.discard(number)

    def _listen(self) -> str:
        while any(lane.alive for lane in self._lanes):
            interrupting.check()
            if self.infeasible or (self.common and self.oracle.settled):
                self._wind_up("settled")
                return "complete"
            if self.oracle.remaining_seconds <= 0:
                self._wind_up("seconds")
                return "seconds"
            self._take(LOOK)
        settled = self.infeasible or (self.common and self.oracle.settled)
        over = not settled and self.oracle.remaining_seconds <= LOOK and not all(m.retired for m in self.members)
        return "seconds" if over else "complete"

    def _wind_up(self, reason: str) -> None:
        """Ask all lanes to stop, for this reason, and take in what they still say, for a moment."""
        for lane in self._lanes:
            lane.tell((STOP, None, None, None))
        until = time.monotonic() + WIND_UP
        while any(lane.alive for lane in self._lanes) and time.monotonic() < until:
            self._take(LOOK)
        for member in self.members:
            member.stopped_by = reason if member.stopped_by in (None, "interrupt") else member.stopped_by

    def _take(self, seconds: float) -> None:
        """Take in one message, if there is one in time."""
        try:
            number, message = self._inbox.get(timeout=seconds)
        except queue.Empty:
            return
        lane = self._lanes[number]
        if message is None or message.word == FAILED:
            if lane.alive:
                reason = "its process died" if message is None else message.sentence
                self.left_out |= {member.label: reason for member in lane.members}
            lane.alive = False
            return
        oracle = self.oracle
        if message.lost > self._lost:
            oracle.restart(oracle.seconds - (message.lost - self._lost))
            self._lost = message.lost
        oracle.charge(message.evaluations - lane.evaluations)
        oracle.judged_in_full += message.judged_in_full - lane.judged_in_full
        lane.evaluations, lane.judged_in_full = message.evaluations, message.judged_in_full
        if message.word == FOUND and message.evaluation is not None:
            before = oracle.best
            adopt(oracle, message.decision, message.evaluation)
            if oracle.best is not before:
                self._pass_on(number, message.decision, message.evaluation.objective, None)
        elif message.word == BOUND and self.common:
            oracle.report(message.bound)
            self._pass_on(number, None, None, oracle.bound)
        elif message.word == DONE:
            lane.alive = False
            self.infeasible |= message.infeasible
            self.left_out |= message.left_out
            told = {member.label: member for member in message.members}
            dropped = {member.label for member in lane.members} - set(told)
            self.members = [told.get(member.label, member) for member in self.members if member.label not in dropped]

    def _pass_on(self, number: int, decision: Any, objective: float | None, bound: float | None) -> None:
        for other in self._lanes:
            if other.number != number and other.alive:
                other.tell((KNOWN, decision, objective, bound))
