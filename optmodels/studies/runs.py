"""The runs that a study asks for: what makes two of them the same run, and how they are made."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heuristics import Budget, Problem, Strategy, parameters

from ..costs import cost_to_data
from ..data import parameter_fields
from ..errors import InstanceError, RequestError, UnreadableFile
from ..protocols import Stored, cost_of, followed, limits_of, lists
from ..results import file_stem, plain, result_from_data, result_to_data
from ..solving import Result, answer, nothing_found
from .pool import Answer, call_all
from .resources import limited_threads

#: The status of a run that was never made, because the strategy does not take the problem.
NOT_APPLICABLE = "not applicable"

#: Called when a run begins, and after each run: runs done, runs in all, what is running (after the last, what was run).
BatchProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Cell:
    """A run that is asked for.

    Parameters
    ----------
    problem, strategy, seed
        What is run.
    subject, label
        What people call the problem and the strategy.
    key
        The same for the same run, see `run_key`.
    reason
        Why `strategy` was chosen, where ``auto`` was asked for.
    """

    problem: Problem
    strategy: Strategy
    seed: int
    subject: str
    label: str
    key: str
    reason: str | None = None

    @property
    def shown(self) -> str:
        """What people read while it runs."""
        drawn = "" if is_deterministic(self.strategy) else f", seed {self.seed}"
        return f"{self.subject} by {self.label}{drawn}"

    def run(self, answer: Answer) -> Run:
        """The run, answered or failed."""
        told = {"strategy": self.strategy.name, "parameters": parameters(self.strategy), "seed": self.seed}
        ended = NOT_APPLICABLE if answer.refused else "error"
        result = answer.value or nothing_found(self.problem, told | {"stopped_by": ended})
        error, reason = (None, answer.error) if answer.refused else (answer.error, None)
        # One that comes from another process has left its problem there.
        run = Run(self.subject, self.label, self.seed, result.of(self.problem), error, self.key, reason)
        return replace(run, megabytes=answer.megabytes)


@dataclass(frozen=True)
class Run:
    """One cell of a comparison: a result, or a sentence on why there is none.

    Parameters
    ----------
    problem, strategy, seed
        What people call the problem and the strategy, and the seed.
    result
        What was found; without a decision where the run failed, or was never made.
    error
        Why the run failed.
    key
        The same for the same run, see `run_key`.
    reason
        Why the strategy does not take the problem: the run was never made, and that is no failure.
    threads
        How many threads the run was allowed.
    megabytes
        Peak of the memory of its process, in units of 1e6 bytes; ``None`` where it was not measured.
    study
        Checksum of the study that asked for it, see `study_digest`.
    machine
        Checksum of the description of the machine on which it was made.
    budget
        Its limits.
    """

    problem: str
    strategy: str
    seed: int
    result: Result
    error: str | None = None
    key: str = ""
    reason: str | None = None
    threads: int | None = None
    megabytes: float | None = None
    study: str | None = None
    machine: str | None = None
    budget: Budget | None = None

    @property
    def status(self) -> str:
        """What became of it: the status of the result, ``"error"``, or ``"not applicable"``."""
        return "error" if self.error else NOT_APPLICABLE if self.reason else str(self.result.status)

    @property
    def answered(self) -> bool:
        """Whether the run was made and ended well, with a decision or without."""
        return self.error is None and self.reason is None

    @property
    def beyond(self) -> bool:
        """Whether the answer is none of the decisions that the space lists, but one of a wider class."""
        decision, asked = self.result.decision, getattr(self.result, "asked", None)
        return decision is not None and asked is not None and not lists(asked, decision)

    @property
    def stem(self) -> str:
        """Name of the file of the run, without its suffix."""
        return file_stem(self.problem, self.strategy, self.seed)

    def to_data(self, *, folder: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """The line of ``runs.jsonl``: a result and what identifies the run."""
        return result_to_data(self.result, folder=folder, stem=self.stem) | self.further()

    def further(self) -> dict[str, Any]:
        """What a line, or the file of a result, tells of the run beside its result."""
        return {
            "label": {"problem": self.problem, "strategy": self.strategy},
            "key": self.key,
            "error": self.error,
            "reason": self.reason,
            "threads": self.threads,
            "megabytes": self.megabytes,
            "study": self.study,
            "machine": self.machine,
            "budget": plain(self.budget),
        }

    @classmethod
    def from_data(cls, data: Any, *, folder: Path | None = None) -> Run:
        """Read a line of ``runs.jsonl`` back."""
        label = data.get("label") if isinstance(data, Mapping) else None
        if not isinstance(label, Mapping) or not isinstance(data.get("key"), str):
            raise UnreadableFile("a line of a comparison has a label and a key.")
        for name in ("problem", "strategy"):
            if not isinstance(label.get(name), str):
                raise InstanceError(f"label.{name}", label.get(name), "a label is a text.")
        result = result_from_data(data, folder=folder)
        texts = {name: _optional(data, name, str, "a text") for name in ("error", "reason", "study", "machine")}
        return cls(
            label["problem"],
            label["strategy"],
            result.seed or 0,
            result,
            key=data["key"],
            threads=_optional(data, "threads", int, "a whole number"),
            megabytes=_optional(data, "megabytes", (int, float), "a number"),
            budget=budget_from_data(data.get("budget")),
            **texts,
        )


def budget_from_data(data: Any) -> Budget | None:
    """Read the limits of a run back."""
    if data is None:
        return None
    if not isinstance(data, Mapping) or not set(data) <= {"seconds", "evaluations", "stall"}:
        raise InstanceError("budget", data, "a budget has seconds, evaluations and stall.")
    try:
        return Budget(**data)
    except ValueError as failure:
        raise InstanceError("budget", dict(data), str(failure)) from None


def _optional(data: Mapping[str, Any], name: str, kind: Any, noun: str) -> Any:
    value = data.get(name)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise InstanceError(name, value, f"this is {noun}, or null.")
    return value


def make_runs(
    cells: Sequence[Cell],
    budget: Budget,
    workers: int,
    cluster: str | None,
    finish: Callable[[int, Answer], None],
    done: int = 0,
    progress: BatchProgress | None = None,
    *,
    threads: int | None = None,
    memory: bool = False,
) -> bool:
    """Make runs, and tell whether all of them were made: Ctrl-C ends them.

    Parameters
    ----------
    cells, budget
        What is run, and the limits of each run.
    workers, cluster
        Who shares the runs, see `optmodels.studies.pool.call_all`.
    finish
        Called with the number of each cell and what became of it, in the order in which they end.
    done
        Runs that were made before.
    progress
        Told of what is done and what is running.
    threads
        How many threads each run may use; by default what the libraries choose.
    memory
        Give each run a process of its own, and measure its memory.
    """
    total = done + len(cells)
    running: dict[int, str] = {}

    def tell(what: str) -> None:
        if progress:
            progress(done, total, ", ".join(running.values()) or what)

    def begin(index: int) -> None:
        running[index] = cells[index].shown
        tell("")

    tell("starting" if cells else "nothing left to run")
    calls = [(cell.problem, cell.strategy, budget, cell.seed, cell.reason, threads) for cell in cells]
    answers = call_all(solve_cell, calls, workers, cluster, begin, threads=threads, fresh=memory)
    try:
        for answer in answers:
            if answer.value is not None and answer.value.stopped_by == "interrupt":
                return False
            finish(answer.index, answer)
            done += 1
            running.pop(answer.index, None)
            tell(cells[answer.index].shown)
    except KeyboardInterrupt:
        return False
    finally:
        answers.close()
    return True


def following_batch(
    progress: bool | BatchProgress | None, label: str
) -> contextlib.AbstractContextManager[BatchProgress | None]:
    """Who is told how many runs stand: nobody, a function that was given, or whoever looks at the screen."""

    def on_screen() -> contextlib.AbstractContextManager[BatchProgress]:
        from ..notebook import follow_batch

        return follow_batch(label)

    return followed(progress, on_screen, ("what is done", "what is to do", "a word on it"))


def solve_cell(
    problem: Problem,
    strategy: Strategy,
    budget: Budget,
    seed: int,
    reason: str | None = None,
    threads: int | None = None,
) -> Result:
    """Make one run; at the top of the module so that other processes find it."""
    with limited_threads(threads):
        return answer(problem, strategy, budget, seed, reason=reason, helpful=False)


def problem_digest(problem: Problem) -> str:
    """Compute a checksum of what a problem is, whatever it is called: kind, data, cost and limits.

    Parameters
    ----------
    problem
        Of any kind.

    Returns
    -------
    str
        The same for problems that are the same.
    """
    if not isinstance(problem, Stored):
        try:
            content = pickle.dumps(problem, protocol=4)
        except Exception:  # a problem defined in a notebook cell
            content = repr(problem).encode()
        return hashlib.sha256(content).hexdigest()
    cost, limits = cost_of(problem), limits_of(problem)
    try:
        cost_data: Any = cost_to_data(cost)
    except RequestError:
        cost_data = repr(cost)
    return _checksum([problem.kind, problem.to_data(), cost_data, limits.to_data() if limits else None])


def run_key(digest: str, strategy: Strategy, seed: int, budget: Budget, threads: int | None = None) -> str:
    """Compute what makes two runs the same run."""
    return stored_key(digest, strategy.name, parameters(strategy), seed, budget, threads)


def stored_key(
    digest: str, strategy: str | None, given: Mapping[str, Any], seed: int, budget: Budget, threads: int | None
) -> str:
    """Compute the key of a run from what its line tells; one thread is what a run has unless more is said."""
    several = [] if threads in (None, 1) else [threads]
    return _checksum([digest, strategy, given, seed, budget, *several])[:32]


def study_digest(
    problems: Mapping[str, str],
    strategies: Iterable[Strategy],
    seeds: Mapping[str, Iterable[int]],
    budget: Budget,
    threads: int,
) -> str:
    """Compute a checksum of what determines the results of a study, in whichever order and by whichever way it is told.

    Parameters
    ----------
    problems
        The checksum of each problem, by what people call it.
    strategies
        Who takes part, with their parameters; what people call them does not matter.
    seeds
        Of the runs, by problem.
    budget, threads
        Of the runs.
    """
    told = sorted(json.dumps([one.name, plain(parameters(one))], sort_keys=True) for one in strategies)
    return _checksum(
        [sorted(problems.items()), told, {name: sorted(set(own)) for name, own in seeds.items()}, budget, threads]
    )


def label_of(strategy: Strategy) -> str:
    """Write the string a strategy could be made from: its name and the parameters that are not the defaults.

    Parameters
    ----------
    strategy
        An object.

    Returns
    -------
    str
        Such as ``genetic:population=100``.
    """
    fields = parameter_fields(type(strategy)).values()
    changed = [f"{f.name}={getattr(strategy, f.name)}" for f in fields if getattr(strategy, f.name) != f.default]
    return f"{strategy.name}:{','.join(changed)}" if changed else strategy.name


def is_deterministic(strategy: Strategy) -> bool:
    """Tell whether a strategy draws no random numbers, so that one seed is as good as many."""
    return bool(getattr(strategy, "deterministic", False))


def _checksum(content: Any) -> str:
    return hashlib.sha256(json.dumps(plain(content), sort_keys=True).encode()).hexdigest()
