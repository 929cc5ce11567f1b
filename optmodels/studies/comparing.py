"""Problems times strategies times seeds, under one budget.

Each run is one `Result`; every figure of the table is computed from them. With `out` each finished run is on disk
before the next one counts, so that nothing is lost when a comparison is ended, and it can be resumed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heuristics import Budget, Problem, Result, Status, Strategy, parameters

from ..costs import cost_to_data
from ..data import parameter_fields
from ..errors import InstanceError, RequestError, brief
from ..instance import Instance, check_best_known, problem_of, read
from ..protocols import Stored, cost_of, kind_of, limits_of
from ..registry import make_strategy
from ..results import plain
from ..solving import ProblemLike, as_problem, check_seed, make_budget, solve
from .comparing_stored import Store, reason_of
from .comparison import Comparison, Run
from .pool import call_all

#: More runs than this are a slip of the pen.
MOST_RUNS = 100_000

#: Called when a run begins, and after each run: runs done, runs in all, what is running (after the last, what was run).
BatchProgress = Callable[[int, int, str], None]


def compare(
    problems: ProblemLike | Iterable[ProblemLike],
    strategies: str | Strategy | Iterable[str | Strategy],
    *,
    seeds: int | Iterable[int] = 1,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    workers: int = 1,
    cluster: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: BatchProgress | None = None,
) -> Comparison:
    """Run every strategy on every problem with every seed, under the same budget.

    Deterministic strategies are run once. A strategy that cannot take a problem, or fails on it, gives a line that says
    why. Ctrl-C ends the comparison and keeps what is finished.

    Parameters
    ----------
    problems, strategies
        One or several; files and names as in `optmodels.solve`.
    seeds
        How many, or which.
    budget, seconds, evaluations
        Limits of each run; exact solvers keep the seconds only.
    workers
        Processes that share the runs.
    cluster
        Address of a Dask cluster whose workers share the runs instead, or ``"local"``.
    out
        Folder for ``runs.jsonl`` and ``runs.csv`` (one line per run), ``table.txt`` and ``table.csv``, ``results/``
        (one file per run) and ``best/`` (one file per problem).
    resume
        Skip the runs that `out` holds already; the same problem, strategy, parameters, seed and budget make the same
        run. Stored answers are judged again by the evaluator (bounds that contradict nothing are taken on trust); what
        does not hold is run again, with a warning. Without it a folder that holds runs is refused, so that none is
        lost.
    progress
        Called with what is done, what is to do, and a word on it.

    Returns
    -------
    Comparison
        All runs, and tables of them.

    Examples
    --------
    >>> from optmodels import compare
    >>> comparison = compare("instances/placement/gautam-2x3.json", ["exhaustive", "local-search"], evaluations=100)
    >>> len(comparison.runs), comparison.complete
    (2, True)
    """
    if resume and out is None:
        raise RequestError("resuming needs the folder of the comparison to resume: give out as well.")
    limits = make_budget(budget, seconds, evaluations)
    subjects = _subjects(problems)
    cells = _cells(subjects, _strategies(strategies), _seeds(seeds), limits)
    store = None if out is None else Store(Path(out), resume)
    finished, doubts = store.finished(cells) if store else ({}, [])
    missing = [cell for cell in cells if cell.key not in finished]
    calls = [(cell.subject.problem, cell.strategy, limits, cell.seed) for cell in missing]
    complete, done = True, len(cells) - len(missing)
    running: dict[int, str] = {}

    def tell(what: str = "") -> None:
        if progress:
            progress(done, len(cells), ", ".join(running.values()) or what)

    def begin(index: int) -> None:
        running[index] = missing[index].shown
        tell()

    tell("nothing left to run" if not missing else "starting")
    answers = call_all(solve_cell, calls, workers, cluster, begin)
    try:
        for answer in answers:
            cell = missing[answer.index]
            run = cell.run(answer.value, answer.error)
            if run.result.stopped_by == "interrupt":
                raise KeyboardInterrupt
            finished[cell.key] = run
            if store:
                store.add(run)
            done += 1
            running.pop(answer.index, None)
            tell(cell.shown)
    except KeyboardInterrupt:
        complete = False
    finally:
        answers.close()
    runs = tuple(finished[cell.key] for cell in cells if cell.key in finished)
    known = {subject.label: subject.best_known for subject in subjects if subject.best_known is not None}
    warnings = [subject.warning for subject in subjects if subject.warning is not None]
    comparison = Comparison(runs, known, limits, complete, (*warnings, *doubts))
    if store:
        store.close(comparison)
    return comparison


def solve_cell(problem: Problem, strategy: Strategy, budget: Budget, seed: int) -> Result:
    """One run; at the top of the module so that other processes find it."""
    return solve(problem, strategy, budget=budget, seed=seed)


def problem_digest(problem: Problem) -> str:
    """A checksum of what a problem is, whatever it is called: kind, data, cost and limits."""
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
    content_data = [problem.kind, problem.to_data(), cost_data, limits.to_data() if limits else None]
    return hashlib.sha256(json.dumps(plain(content_data), sort_keys=True).encode()).hexdigest()


def run_key(digest: str, strategy: Strategy, seed: int, budget: Budget) -> str:
    """What makes two runs the same run."""
    content = [digest, strategy.name, parameters(strategy), seed, budget]
    return hashlib.sha256(json.dumps(plain(content), sort_keys=True).encode()).hexdigest()[:32]


def label_of(strategy: Strategy) -> str:
    """The string a strategy could be made from: its name and the parameters that are not the defaults."""
    fields = parameter_fields(type(strategy)).values()
    changed = [f"{f.name}={getattr(strategy, f.name)}" for f in fields if getattr(strategy, f.name) != f.default]
    return f"{strategy.name}:{','.join(changed)}" if changed else strategy.name


# -- inside -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A problem that takes part."""

    label: str
    problem: Problem
    digest: str
    best_known: float | None = None
    warning: str | None = None


@dataclass(frozen=True)
class Cell:
    """A run that is asked for."""

    subject: Subject
    label: str
    strategy: Strategy
    seed: int
    key: str

    @property
    def shown(self) -> str:
        """What people read while it runs."""
        drawn = "" if getattr(self.strategy, "deterministic", False) else f", seed {self.seed}"
        return f"{self.subject.label} by {self.label}{drawn}"

    def run(self, result: Result | None, error: str | None) -> Run:
        """The run, answered or failed."""
        if result is None:
            result = Result(
                problem=self.subject.problem.name,
                status=Status.UNKNOWN,
                decision=None,
                evaluation=None,
                stopped_by="error",
                strategy=self.strategy.name,
                parameters=parameters(self.strategy),
                seed=self.seed,
                kind=kind_of(self.subject.problem),
            )
        return Run(self.subject.label, self.label, self.seed, result, error, self.key)


def _subjects(problems: ProblemLike | Iterable[ProblemLike]) -> list[Subject]:
    given = [problems] if isinstance(problems, (str, os.PathLike, Problem)) else list(problems)
    if not given:
        raise RequestError("a comparison needs at least one problem.")
    subjects: list[Subject] = []
    for one in given:
        best, warning = None, None
        if isinstance(one, (str, os.PathLike)):
            instance = read(one)
            problem = problem_of(instance, one)
            best, warning = _confirmed(instance, problem, os.fspath(one))
        else:
            problem = as_problem(one)
        digest = problem_digest(problem)
        if any(subject.digest == digest and subject.problem.name == problem.name for subject in subjects):
            continue  # the same file by two paths
        taken = sum(subject.problem.name == problem.name for subject in subjects)
        label = f"{problem.name} ({taken + 1})" if taken else problem.name
        subjects.append(Subject(label, problem, digest, best, warning))
    return subjects


def _confirmed(instance: Instance, problem: Problem, file: str) -> tuple[float | None, str | None]:
    """The best-known objective if the evaluator confirms it; else a sentence on why it is not used."""
    best = instance.best_known
    if best is None:
        return None, None
    if best.decision is None:
        return None, f"{file}: best_known has no decision that would confirm its objective; it is not used."
    try:
        check_best_known(instance, problem)
    except InstanceError as failure:
        return None, f"{str(failure.at(file)).rstrip('.')}; it is not used."
    except Exception as failure:  # the runs will tell more; one instance must not take the others down
        return None, f"{file}: best_known cannot be evaluated ({reason_of(failure)}); it is not used."
    return best.objective, None


def _strategies(strategies: str | Strategy | Iterable[str | Strategy]) -> dict[str, Strategy]:
    single = isinstance(strategies, str) or hasattr(strategies, "solve")
    given: list[Any] = [strategies] if single else list(strategies)  # type: ignore[arg-type]
    if not given:
        raise RequestError("a comparison needs at least one strategy.")
    chosen: dict[str, Strategy] = {}
    for one in given:
        strategy = make_strategy(one)
        chosen.setdefault(one.strip() if isinstance(one, str) else label_of(strategy), strategy)
    return chosen


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    if isinstance(seeds, int) and (isinstance(seeds, bool) or seeds < 1):
        raise RequestError(f"the number of seeds is 1 or more, got {seeds!r}.")
    given = range(seeds) if isinstance(seeds, int) else seeds
    chosen = [check_seed(seed) for seed in itertools.islice(given, MOST_RUNS + 1)]
    if len(chosen) > MOST_RUNS:
        raise RequestError(f"a comparison has at most {MOST_RUNS} runs, and {brief(str(seeds))} seeds are more.")
    if not chosen:
        raise RequestError("a comparison needs at least one seed.")
    return list(dict.fromkeys(chosen))


def _cells(
    subjects: Sequence[Subject], strategies: Mapping[str, Strategy], seeds: Sequence[int], budget: Budget
) -> list[Cell]:
    runs = len(subjects) * sum(1 if _is_deterministic(strategy) else len(seeds) for strategy in strategies.values())
    if runs > MOST_RUNS:
        raise RequestError(
            f"a comparison has at most {MOST_RUNS} runs, and these problems, strategies and seeds are {runs}."
        )
    cells: dict[str, Cell] = {}
    for subject in subjects:
        for label, strategy in strategies.items():
            for seed in seeds[:1] if _is_deterministic(strategy) else seeds:
                key = run_key(subject.digest + subject.label, strategy, seed, budget)
                cells.setdefault(key, Cell(subject, label, strategy, seed, key))
    return list(cells.values())


def _is_deterministic(strategy: Strategy) -> bool:
    return bool(getattr(strategy, "deterministic", False))
