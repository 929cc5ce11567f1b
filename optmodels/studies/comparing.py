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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from heuristics import Budget, Problem, Result, Status, Strategy, parameters

from ..costs import cost_to_data
from ..data import append_line, csv_text, parse_json, whole_lines, write_text
from ..errors import InstanceError, RequestError, UnreadableFile, brief, printable, short
from ..instance import Instance, check_best_known, problem_of, read
from ..registry import make_strategy, parameter_fields
from ..results import file_stem, plain, result_from_data, result_to_data, write_result
from ..solving import ProblemLike, as_problem, check_seed, make_budget, solve
from ..verification import judge
from .comparing_table import Summary, reference_of, summarise, table_text
from .pool import call_all

#: More runs than this are a slip of the pen.
MOST_RUNS = 100_000

#: Called when a run begins, and after each run: runs done, runs in all, what is running (after the last, what was run).
BatchProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Run:
    """One cell of a comparison: a result, or a sentence on why there is none."""

    problem: str
    strategy: str
    seed: int
    result: Result
    error: str | None = None
    key: str = ""

    def to_data(self, *, folder: str | os.PathLike[str] | None = None, stem: str | None = None) -> dict[str, Any]:
        """The line of ``runs.jsonl``: a result and what identifies the run."""
        data = result_to_data(self.result, folder=folder, stem=stem)
        return data | {
            "label": {"problem": self.problem, "strategy": self.strategy},
            "key": self.key,
            "error": self.error,
        }

    @classmethod
    def from_data(cls, data: Any, *, folder: Path | None = None) -> Run:
        """Read a line of ``runs.jsonl`` back."""
        label = data.get("label") if isinstance(data, Mapping) else None
        if not isinstance(label, Mapping) or not isinstance(data.get("key"), str):
            raise UnreadableFile("a line of a comparison has a label and a key.")
        result = result_from_data(data, folder=folder)
        return cls(
            str(label["problem"]), str(label["strategy"]), result.seed or 0, result, data.get("error"), data["key"]
        )


@dataclass(frozen=True)
class Comparison:
    """The runs, in the order of problems, strategies and seeds.

    Parameters
    ----------
    runs
        One per problem, strategy and seed.
    best_known
        Objective the instance calls best known, by problem.
    budget
        The limits every run had.
    complete
        ``False`` if the comparison was ended early.
    warnings
        What a reader must know, one sentence each: best-known decisions that were not confirmed, and lines of a
        comparison that were not believed.
    """

    runs: tuple[Run, ...]
    best_known: Mapping[str, float] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    complete: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """One line of the table per problem and strategy."""
        return summarise(self)

    def table(self, width: int | None = None) -> str:
        """The table, as text; in full, or made to fit into `width` columns."""
        return table_text(self, width)

    def best(self, problem: str) -> Run | None:
        """The run with the lowest objective; among equals one that is proved, then the quickest."""
        answered = [run for run in self.runs if run.problem == problem and run.result.objective is not None]
        return min(answered, key=_merit, default=None)

    @property
    def problems(self) -> tuple[str, ...]:
        """Names of the problems, in order."""
        return tuple(dict.fromkeys(run.problem for run in self.runs))

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per run: enough to run it again."""
        references = {problem: reference_of(self, problem) for problem in self.problems}
        return [_record(run, references[run.problem], self.budget) for run in self.runs]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per run, with parameters, seed and versions."""
        write_text(path, csv_text(self.rows()))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one result per line."""
        folder = Path(path).parent
        lines = [json.dumps(run.to_data(folder=folder, stem=_stem(run)), allow_nan=False) for run in self.runs]
        write_text(path, "".join(f"{line}\n" for line in lines))

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        return {
            "format": 1,
            "complete": self.complete,
            "budget": plain(self.budget),
            "runs": [run.to_data() for run in self.runs],
            "table": [plain(asdict(summary)) for summary in self.summaries],
            "warnings": list(self.warnings),
        }


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
    """
    if resume and out is None:
        raise RequestError("resuming needs the folder of the comparison to resume: give out as well.")
    limits = make_budget(budget, seconds, evaluations)
    subjects = _subjects(problems)
    cells = _cells(subjects, _strategies(strategies), _seeds(seeds), limits)
    store = None if out is None else _Store(Path(out), resume)
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
    to_data = getattr(problem, "to_data", None)
    if to_data is None:
        try:
            content = pickle.dumps(problem, protocol=4)
        except Exception:  # a problem defined in a notebook cell
            content = repr(problem).encode()
        return hashlib.sha256(content).hexdigest()
    cost, limits = getattr(problem, "cost", None), getattr(problem, "limits", None)
    try:
        cost_data: Any = cost_to_data(cost)
    except RequestError:
        cost_data = repr(cost)
    content_data = [getattr(problem, "kind", None), to_data(), cost_data, limits.to_data() if limits else None]
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
class _Subject:
    """A problem that takes part."""

    label: str
    problem: Problem
    digest: str
    best_known: float | None = None
    warning: str | None = None


@dataclass(frozen=True)
class _Cell:
    """A run that is asked for."""

    subject: _Subject
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
                kind=getattr(self.subject.problem, "kind", None),
            )
        return Run(self.subject.label, self.label, self.seed, result, error, self.key)


class _Store:
    """The folder of a comparison."""

    def __init__(self, folder: Path, resume: bool) -> None:
        self.folder = folder
        self.lines = folder / "runs.jsonl"
        held = 0 if resume else _count_lines(self.lines)
        if held:
            runs, them = ("1 run", "it") if held == 1 else (f"{held} runs", "them")
            raise RequestError(
                f"{folder} already holds {runs}; add --resume to go on with {them}, or choose another folder."
            )
        try:
            for name in ("results", "best"):
                (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise UnreadableFile(
                f"cannot be made a folder: {failure.strerror or failure}.", os.fspath(folder)
            ) from None

    def finished(self, cells: Sequence[_Cell]) -> tuple[dict[str, Run], list[str]]:
        """Runs on disk that are asked for again and hold, and a sentence for each line that is not believed.

        Failed runs are tried anew, and so are those that another version, a torn disk or a hand has made say what the
        evaluator does not find.
        """
        asked = {cell.key: cell for cell in cells}
        found: dict[str, Run] = {}
        doubts: list[str] = []
        for number, line in enumerate(whole_lines(self.lines), 1):
            try:
                data = parse_json(line, os.fspath(self.lines))
                cell = asked.get(_key(data))
                run = None if cell is None else Run.from_data(data, folder=self.folder)
                if cell is None or run is None or run.error is not None:
                    continue
                _require(run.result, cell)
            except Exception as failure:  # one line must not take the others down
                reason = str(failure.at("")) if isinstance(failure, InstanceError) else _reason(failure)
                doubts.append(f"{self.lines}: line {number} is not used: {reason}")
                continue
            found[run.key] = replace(run, problem=cell.subject.label, strategy=cell.label)
        return found, doubts

    def add(self, run: Run) -> None:
        """Write a finished run: its own file first, then its line."""
        stem = _stem(run)
        if run.error is None:
            write_result(run.result, self.folder / "results" / f"{stem}.json")
        append_line(self.lines, json.dumps(run.to_data(folder=self.folder, stem=stem), allow_nan=False))

    def close(self, comparison: Comparison) -> None:
        """Write the tables and the best answers."""
        write_text(self.folder / "table.txt", comparison.table() + "\n")
        write_text(self.folder / "table.csv", csv_text([plain(asdict(line)) for line in comparison.summaries]))
        comparison.to_csv(self.folder / "runs.csv")
        for problem in comparison.problems:
            best = comparison.best(problem)
            if best is not None:
                write_result(best.result, self.folder / "best" / f"{file_stem(problem)}.json")


def _key(data: Any) -> str:
    """What tells a run from others."""
    key = data.get("key") if isinstance(data, Mapping) else None
    if not isinstance(key, str):
        raise UnreadableFile("a line of a comparison has a label and a key.")
    return key


def _require(result: Result, cell: _Cell) -> None:
    """Refuse a stored answer that is not one of this run, or that the evaluator does not find."""
    asked = {"strategy": cell.strategy.name, "parameters": plain(parameters(cell.strategy)), "seed": cell.seed}
    for name, value in asked.items():
        told = plain(getattr(result, name))
        if told != value:
            raise InstanceError(name, told, f"its key is that of a run with {short(value)}.")
    judge(result, cell.subject.problem, extra=False).check()


def _reason(failure: Exception) -> str:
    return printable(" ".join(f"{type(failure).__name__}: {failure}".split()))


def _count_lines(path: Path) -> int:
    """Runs in a file, one that was torn off included; none where there is no such file."""
    try:
        return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", os.fspath(path)) from None


def _subjects(problems: ProblemLike | Iterable[ProblemLike]) -> list[_Subject]:
    given = [problems] if isinstance(problems, (str, os.PathLike, Problem)) else list(problems)
    if not given:
        raise RequestError("a comparison needs at least one problem.")
    subjects: list[_Subject] = []
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
        subjects.append(_Subject(label, problem, digest, best, warning))
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
        return None, f"{file}: best_known cannot be evaluated ({_reason(failure)}); it is not used."
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
    subjects: Sequence[_Subject], strategies: Mapping[str, Strategy], seeds: Sequence[int], budget: Budget
) -> list[_Cell]:
    runs = len(subjects) * sum(1 if _is_deterministic(strategy) else len(seeds) for strategy in strategies.values())
    if runs > MOST_RUNS:
        raise RequestError(
            f"a comparison has at most {MOST_RUNS} runs, and these problems, strategies and seeds are {runs}."
        )
    cells: dict[str, _Cell] = {}
    for subject in subjects:
        for label, strategy in strategies.items():
            for seed in seeds[:1] if _is_deterministic(strategy) else seeds:
                key = run_key(subject.digest + subject.label, strategy, seed, budget)
                cells.setdefault(key, _Cell(subject, label, strategy, seed, key))
    return list(cells.values())


def _is_deterministic(strategy: Strategy) -> bool:
    return bool(getattr(strategy, "deterministic", False))


def _merit(run: Run) -> tuple[float, bool, float]:
    objective = run.result.objective
    assert objective is not None
    return objective, run.result.status != Status.OPTIMAL, run.result.seconds


def _stem(run: Run) -> str:
    return file_stem(run.problem, run.strategy, run.seed)


def _record(run: Run, reference: tuple[str, float] | None, budget: Budget) -> dict[str, Any]:
    result = run.result
    kind, value = reference or ("", None)
    return {
        "problem": run.problem,
        "kind": result.kind,
        "strategy": run.strategy,
        "parameters": json.dumps(plain(result.parameters)),
        "seed": run.seed,
        "budget_seconds": budget.seconds,
        "budget_evaluations": budget.evaluations,
        "status": "error" if run.error else str(result.status),
        "objective": plain(result.objective),
        "bound": plain(result.bound),
        "gap": plain(result.gap()),
        "reference": kind,
        "reference_value": plain(value),
        "gap_to_reference": plain(result.gap(value)) if value is not None else None,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "seconds_to_best": result.seconds_to_best,
        "stopped_by": result.stopped_by,
        "checked": result.checked,
        "error": run.error,
        "versions": json.dumps(dict(result.versions)),
        "key": run.key,
    }
