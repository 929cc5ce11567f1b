"""Problems times strategies times seeds, under one budget.

Each run is one `Result`; every figure of the table is computed from them. With `out` each finished run is on disk
before the next one counts, so that nothing is lost when a comparison is ended, and it can be resumed.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from heuristics import Budget, Problem, Result, Strategy, parameters

from ..data import append_line, as_path, as_whole, check_switch, csv_text, parse_json, whole_lines, write_text
from ..errors import InstanceError, RequestError, UnreadableFile, brief, printable, short
from ..instance import Instance, check_best_known
from ..protocols import origin_of
from ..registry import AUTO, make_strategy
from ..results import file_stem, plain, write_result
from ..solving import ProblemLike, as_problem, check_seed, choose, make_budget
from ..verification import judge
from .comparison import Comparison
from .pool import Answer, sentence
from .runs import (
    BatchProgress,
    Cell,
    Run,
    following_batch,
    is_deterministic,
    label_of,
    make_runs,
    problem_digest,
    run_key,
)

#: More runs than this are a slip of the pen.
MOST_RUNS = 100_000


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
    progress: bool | BatchProgress | None = None,
) -> Comparison:
    """Run every strategy on every problem with every seed, under the same budget.

    Deterministic strategies are run once. A strategy that cannot take a problem, or fails on it, gives a line that says
    why. Ctrl-C ends the comparison and keeps what is finished.

    Parameters
    ----------
    problems, strategies
        One or several; problems, instances, files and names as in `optmodels.solve`.
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
        run. Stored answers are evaluated again (bounds that contradict nothing are taken on trust); what
        does not hold is run again, with a warning. Without it a folder that holds runs is refused, so that none is
        lost.
    progress
        Called with what is done, what is to do, and a word on it; ``True`` tells it in a line on stderr, or in a
        notebook.

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
    check_switch("resume", resume)
    folder = as_path("out", out)
    if resume and folder is None:
        raise RequestError("resuming needs the folder of the comparison to resume: give out as well.")
    limits = make_budget(budget, seconds, evaluations)
    subjects = _subjects(problems)
    cells = _cells(subjects, _strategies(strategies), _seeds(seeds), limits)
    store = None if folder is None else Store(folder, resume)
    finished, doubts = store.finished(cells) if store else ({}, [])
    missing = [cell for cell in cells if cell.key not in finished]

    def finish(index: int, answer: Answer) -> None:
        run = finished[missing[index].key] = missing[index].run(answer)
        if store:
            store.add(run)

    with following_batch(progress, "comparison") as follow:
        complete = make_runs(missing, limits, workers, cluster, finish, len(cells) - len(missing), follow)
    runs = tuple(finished[cell.key] for cell in cells if cell.key in finished)
    known = {subject.label: subject.best_known for subject in subjects if subject.best_known is not None}
    proved = frozenset(subject.label for subject in subjects if subject.proved)
    warnings = [subject.warning for subject in subjects if subject.warning is not None]
    comparison = Comparison(runs, known, limits, complete, (*warnings, *doubts), proved)
    contradictions = [one.contradiction for one in comparison.references.values() if one.contradiction]
    comparison = replace(comparison, warnings=(*comparison.warnings, *contradictions))
    if store:
        store.close(comparison)
    return comparison


# -- inside -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A problem that takes part."""

    label: str
    problem: Problem
    digest: str
    best_known: float | None = None
    warning: str | None = None
    proved: bool = False


def _subjects(problems: ProblemLike | Iterable[ProblemLike]) -> list[Subject]:
    one = isinstance(problems, (str, os.PathLike, Instance, Problem)) or not isinstance(problems, Iterable)
    given: list[Any] = [problems] if one else list(cast(Iterable[Any], problems))
    if not given:
        raise RequestError("a comparison needs at least one problem.")
    subjects: list[Subject] = []
    for one in given:
        problem = as_problem(one)
        best, warning = _confirmed(problem)
        digest = problem_digest(problem)
        if any(subject.digest == digest and subject.problem.name == problem.name for subject in subjects):
            continue  # the same file by two paths
        taken = sum(subject.problem.name == problem.name for subject in subjects)
        label = f"{problem.name} ({taken + 1})" if taken else problem.name
        stated = origin_of(problem).best_known
        proved = best is not None and stated is not None and stated.proved
        subjects.append(Subject(label, problem, digest, best, warning, proved))
    return subjects


def _confirmed(problem: Problem) -> tuple[float | None, str | None]:
    """The best-known objective if the evaluator confirms it; else a sentence on why it is not used."""
    origin = origin_of(problem)
    best, file = origin.best_known, origin.file or problem.name
    if best is None:
        return None, None
    if best.decision is None:
        return None, f"{file}: best_known has no decision that would confirm its objective; it is not used."
    try:
        check_best_known(best, problem)
    except InstanceError as failure:
        return None, f"{str(failure.at(file)).rstrip('.')}; it is not used."
    except Exception as failure:  # the runs will tell more; one instance must not take the others down
        return None, f"{file}: best_known cannot be evaluated ({printable(sentence(failure))}); it is not used."
    return best.objective, None


def _strategies(strategies: str | Strategy | Iterable[str | Strategy]) -> dict[str, Strategy]:
    single = isinstance(strategies, str) or hasattr(strategies, "solve")
    if not single and not isinstance(strategies, Iterable):
        raise RequestError(f"strategies are names, or objects with a method 'solve', got {short(strategies)}.")
    given: list[Any] = [strategies] if single else list(cast(Iterable[Any], strategies))
    if not given:
        raise RequestError("a comparison needs at least one strategy.")
    chosen: dict[str, Strategy] = {}
    for one in given:
        strategy = make_strategy(one)
        chosen.setdefault(one.strip() if isinstance(one, str) else label_of(strategy), strategy)
    return chosen


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    count = as_whole(seeds)
    if isinstance(seeds, bool) or (count is not None and count < 1):
        raise RequestError(f"the number of seeds is 1 or more, got {seeds!r}.")
    if count is None and (isinstance(seeds, str) or not isinstance(seeds, Iterable)):
        raise RequestError(f"seeds are how many, or a list of whole numbers, zero or more, got {short(seeds)}.")
    given = cast(Iterable[int], seeds) if count is None else range(count)
    chosen = [check_seed(seed) for seed in itertools.islice(given, MOST_RUNS + 1)]
    if len(chosen) > MOST_RUNS:
        raise RequestError(f"a comparison has at most {MOST_RUNS} runs, and {brief(str(seeds))} seeds are more.")
    if not chosen:
        raise RequestError("a comparison needs at least one seed.")
    return list(dict.fromkeys(chosen))


def _cells(
    subjects: Sequence[Subject], strategies: Mapping[str, Strategy], seeds: Sequence[int], budget: Budget
) -> list[Cell]:
    asked = [
        (subject, label, *choose(strategy, subject.problem))
        for subject in subjects
        for label, strategy in strategies.items()
    ]
    runs = sum(1 if is_deterministic(strategy) else len(seeds) for _, _, strategy, _ in asked)
    if runs > MOST_RUNS:
        raise RequestError(
            f"a comparison has at most {MOST_RUNS} runs, and these problems, strategies and seeds are {runs}."
        )
    cells: dict[str, Cell] = {}
    for subject, label, strategy, reason in asked:
        whose = subject.label if reason is None else f"{subject.label} {AUTO}"  # a line beside that of the strategy
        for seed in seeds[:1] if is_deterministic(strategy) else seeds:
            key = run_key(subject.digest + whose, strategy, seed, budget)
            cells.setdefault(key, Cell(subject.problem, strategy, seed, subject.label, label, key, reason))
    return list(cells.values())


class Store:
    """The folder of a comparison."""

    def __init__(self, folder: Path, resume: bool) -> None:
        if folder.is_file():
            raise RequestError(f"{folder}: the folder cannot be created: this is a file; name a folder.")
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
                f"the folder cannot be created: {failure.strerror or failure}.", os.fspath(folder)
            ) from None

    def finished(self, cells: Sequence[Cell]) -> tuple[dict[str, Run], list[str]]:
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
                key = data.get("key") if isinstance(data, Mapping) else None
                if isinstance(key, str) and key not in asked:
                    continue
                run = Run.from_data(data, folder=self.folder)
                if run.error is not None:
                    continue
                cell = asked[run.key]
                _require(run.result, cell)
            except Exception as failure:  # one line must not take the others down
                named = failure.at("") if isinstance(failure, InstanceError) else failure
                doubts.append(f"{self.lines}: line {number} is not used: {printable(sentence(named))}")
                continue
            known = run.result.of(cell.problem)
            found[run.key] = replace(run, problem=cell.subject, strategy=cell.label, result=known)
        return found, doubts

    def add(self, run: Run) -> None:
        """Write a finished run: its own file first, then its line."""
        if run.error is None:
            write_result(run.result, self.folder / "results" / f"{run.stem}.json")
        append_line(self.lines, json.dumps(run.to_data(folder=self.folder), allow_nan=False))

    def close(self, comparison: Comparison) -> None:
        """Write the tables and the best answers."""
        write_text(self.folder / "table.txt", comparison.table() + "\n")
        write_text(self.folder / "table.csv", csv_text([plain(asdict(line)) for line in comparison.summaries]))
        comparison.to_csv(self.folder / "runs.csv")
        for problem in comparison.problems:
            best = comparison.best(problem)
            if best is not None:
                write_result(best.result, self.folder / "best" / f"{file_stem(problem)}.json")


def _require(result: Result, cell: Cell) -> None:
    """Refuse a stored answer that is not one of this run, or that the evaluator does not find."""
    asked = {"strategy": cell.strategy.name, "parameters": plain(parameters(cell.strategy)), "seed": cell.seed}
    for name, value in asked.items():
        told = plain(getattr(result, name))
        if told != value:
            raise InstanceError(name, told, f"its key is that of a run with {short(value)}.")
    judge(result, cell.problem, extra=False).check()


def _count_lines(path: Path) -> int:
    """Runs in a file, one that was torn off included; none where there is no such file."""
    try:
        return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", os.fspath(path)) from None
