"""The inside of a lane: a process that works on some members of a portfolio, and talks to the others as it goes.

It reads a `Task`, prepares, says that it is ready, and begins when it is told to. Every better decision and every
better bound is sent at once; those of other lanes come in meanwhile, and are where the next turns begin.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from heuristics import Budget, Decision, Evaluation, Oracle, Problem, clock, interrupting
from heuristics.result import meets
from heuristics.running import warm_up

from ..mip import die_with
from .members import Member
from .rounds import Rounds

READY, BEAT, FOUND, BOUND, DONE, FAILED = "ready", "beat", "found", "bound", "done", "failed"
GO, KNOWN, STOP = "go", "known", "stop"

#: Seconds between two messages that say nothing but how long the clock of a lane has stood still.
BEAT_SECONDS = 0.1

_sending = threading.Lock()


@dataclass(frozen=True)
class Task:
    """What a lane works on: a problem, its members, and a stream of random numbers of its own."""

    problem: Problem
    members: tuple[Member, ...]
    rng: np.random.Generator


@dataclass(frozen=True)
class Message:
    """What a lane says, with what it has spent until then, and for how long it had to compile, or to load kernels."""

    word: str
    lost: float = 0.0
    evaluations: int = 0
    judged_in_full: int = 0
    decision: Decision | None = None
    evaluation: Evaluation | None = None
    bound: float | None = None
    members: tuple[Member, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    infeasible: bool = False
    sentence: str = ""


class Wire(Oracle[Problem]):
    """The oracle of a lane: it tells what is found, and hears what others found."""

    def __init__(self, problem: Problem, budget: Budget, out: BinaryIO) -> None:
        super().__init__(problem, budget)
        self._out, self._lost = out, clock.lost()
        self.objective_elsewhere: float | None = None
        self.bound_elsewhere: float | None = None

    @property
    def settled(self) -> bool:
        """Whether the best bound of all lanes meets the best decision of all lanes."""
        own = None if self.best is None else self.best.evaluation.objective
        objectives = [value for value in (own, self.objective_elsewhere) if value is not None]
        bounds = [value for value in (self.bound, self.bound_elsewhere) if value is not None]
        return bool(objectives and bounds) and meets(max(bounds), min(objectives))

    def say(self, word: str, **told: Any) -> None:
        """Send a message to whoever started this process."""
        send(self._out, Message(word, clock.lost() - self._lost, self.evaluations, self.judged_in_full, **told))

    def report(self, bound: float | None = None) -> None:
        """Note a better proved `bound`, and send it."""
        before = self.bound
        super().report(bound)
        if self.bound != before:
            self.say(BOUND, bound=self.bound)

    def _consider(self, decision: Decision, evaluation: Evaluation) -> None:
        before = self.best
        super()._consider(decision, evaluation)
        if self.best is not before:
            self.say(FOUND, decision=decision, evaluation=evaluation)


def send(out: BinaryIO, message: object) -> None:
    """Send one message at once."""
    with _sending:  # the beat has a thread of its own
        pickle.dump(message, out, protocol=pickle.HIGHEST_PROTOCOL)
        out.flush()


def serve(parent: int) -> None:
    """Work on one task, read from standard input, and answer on standard output; then end the process."""
    die_with(parent)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print
    commands = sys.stdin.buffer
    try:
        task: Task = pickle.load(commands)
        warm_up(task.problem)
        for member in task.members:
            prepare = getattr(member.strategy, "prepare", None)
            if prepare is not None:
                prepare(task.problem)
        interrupting.begin()
        send(out, Message(READY))
        word, seconds = pickle.load(commands)
        if word == GO:
            _work(task, Budget(seconds=seconds), out, commands)
    except EOFError:
        pass  # nobody asks any more
    except BaseException as failure:
        last = traceback.format_exception_only(failure)[-1]
        send(out, Message(FAILED, sentence=" ".join(last.split())))
    os._exit(0)  # threads of libraries may not end in time


def _work(task: Task, budget: Budget, out: BinaryIO, commands: BinaryIO) -> None:
    """Make rounds among the members of this lane, and tell what each of them did."""
    wire = Wire(task.problem, budget, out)
    rounds = Rounds(wire, task.members, {})
    threading.Thread(target=_listen, args=(wire, rounds, commands), daemon=True).start()
    done = threading.Event()
    beat = threading.Thread(target=_beat, args=(wire, done), daemon=True)
    beat.start()
    try:
        with interrupting.deferred():
            rounds.work(task.rng)
    except KeyboardInterrupt:  # it was told to stop
        pass
    done.set()
    beat.join()
    members = tuple(rounds.members)
    wire.say(DONE, members=members, left_out=rounds.left_out, infeasible=rounds.infeasible)


def _beat(wire: Wire, done: threading.Event) -> None:
    """Tell how long the clock of this lane has stood still, so that the clock of the run does, too."""
    while not done.wait(BEAT_SECONDS):
        wire.say(BEAT)


def _listen(wire: Wire, rounds: Rounds, commands: BinaryIO) -> None:
    """Take in what other lanes found, and the word to stop; if nobody is there any more, end at once."""
    try:
        while True:
            word, decision, objective, bound = pickle.load(commands)
            if word == STOP:
                interrupting.note()
                continue
            if bound is not None:
                wire.bound_elsewhere = bound
            if objective is not None:
                wire.objective_elsewhere = objective
                rounds.known.add(wire.problem, decision)
    except Exception:
        os._exit(1)
