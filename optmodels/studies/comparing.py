"""Problems times strategies times seeds, under one budget.

Each run is one `Result`; every figure of the table is computed from them. With `out` each finished run is on disk
before the next one counts, so that nothing is lost when a comparison is ended, and it can be resumed, or added to.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from heuristics import Budget, Strategy

from ..data import as_path, as_whole, check_switch
from ..errors import RequestError, brief, short
from ..registry import AUTO, make_strategy
from ..solving import ProblemLike, check_seed, choose, make_budget, versions
from .comparison import Comparison
from .pool import Answer
from .resources import check_threads
from .runs import (
    BatchProgress,
    Cell,
    following_batch,
    is_deterministic,
    label_of,
    make_runs,
    run_key,
    study_digest,
)
from .store import (
    Part,
    Record,
    Store,
    Study,
    Subject,
    is_study,
    machine,
    machine_digest,
    ordered,
    read_folder,
    read_study,
    subjects_of,
)

#: More runs than this are a slip of the pen.
MOST_RUNS = 100_000


def compare(
    problems: ProblemLike | Iterable[ProblemLike],
    strategies: str | Strategy | Iterable[str | Strategy] | Mapping[str, str | Strategy] | None = None,
    *,
    seeds: int | Iterable[int] | Mapping[str, int | Iterable[int]] | None = None,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    workers: int | None = None,
    threads: int | None = None,
    memory: bool | None = None,
    cluster: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    append: bool = False,
    progress: bool | BatchProgress | None = None,
) -> Comparison:
    """Run every strategy on every problem with every seed, under the same budget, with the same number of threads.

    Deterministic strategies are run once. A strategy that does not take a problem gives a line that says so, and one
    that fails on it a line that says why. Ctrl-C ends the comparison and keeps what is finished.

    Parameters
    ----------
    problems, strategies
        One or several; problems, instances, files and names as in `optmodels.solve`. Strategies may have labels: a
        mapping from label to strategy. Or the path of a study file (``.toml``) alone, which says all that follows;
        what is given beside it overrides what it says, and the comparison warns of that.
    seeds
        How many, or which; 1 by default. The same for all problems, or by the name of the problem.
    budget, seconds, evaluations
        Limits of each run; exact solvers keep the seconds only.
    workers
        Processes that share the runs; 1 by default.
    threads
        How many threads each run may use, 1 by default: those of BLAS, OpenMP and Numba, and of solvers that are not
        told otherwise by a parameter of their own.
    memory
        Give each run a process of its own, and measure the peak of its memory.
    cluster
        Address of a Dask cluster whose workers share the runs instead, or ``"local"``.
    out
        Folder for ``runs.jsonl`` and ``runs.csv`` (one line per run), ``table.txt`` and ``table.csv``, ``results/``
        (one file per run) and ``best/`` (one file per problem), and for what is needed to read them later:
        ``instances/``, the study file, and ``comparison.json`` with machine and versions. See `read_comparison`.
    resume
        Skip the runs that `out` holds already; the same problem, strategy, parameters, seed, budget and threads make
        the same run. Stored answers are evaluated again (bounds that contradict nothing are taken on trust); what
        does not hold is run again, with a warning. Without it a folder that holds runs is refused, so that none is
        lost.
    append
        Add to the runs that `out` holds: other problems, strategies or seeds, under the same budget, which need not be
        given again. The comparison then covers all of them.
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
    for name, switch in (("resume", resume), ("append", append)):
        check_switch(name, switch)
    given = _Request(problems, strategies, seeds, budget, seconds, evaluations, workers, threads, memory, cluster, out)
    asked, notes = given.settled()
    if (resume or append) and asked.out is None:
        verb = "resuming" if resume else "appending"
        raise RequestError(f"{verb} needs the folder of the comparison: give out as well.")
    folder = as_path("out", asked.out)
    store = None if folder is None else Store(folder, resume or append)
    earlier = read_folder(store.folder) if store and append and store.lines.is_file() else None
    limits, allowed = _conditions(asked, earlier)
    kept = store.record.instances if store and append else {}
    taken = {label: told.get("digest", "") for label, told in kept.items()}
    subjects = subjects_of(asked.problems, taken)
    chosen = _strategies(asked.strategies)
    numbers = _seeds_by_problem(1 if asked.seeds is None else asked.seeds, subjects)
    cells = _cells(subjects, chosen, numbers, limits, allowed)
    described = machine()
    circumstances: dict[str, Any] = {
        "study": study_digest({one.label: one.digest for one in subjects}, chosen.values(), numbers, limits, allowed),
        "machine": machine_digest(described) if asked.cluster is None else None,
        "budget": limits,
    }
    finished, doubts = store.finished(cells) if store else ({}, [])
    missing = [cell for cell in cells if cell.key not in finished]
    before = [] if earlier is None else [run for run in earlier.runs if run.key not in {cell.key for cell in cells}]
    if store:
        record = Record(
            study=circumstances["study"],
            budget=limits,
            threads=allowed,
            asked=_asked(cells, earlier),
            machines={machine_digest(described): described} if asked.cluster is None else {},
            versions={"python": described["python"], **versions()},
        )
        store.open(record, subjects, given.text)

    def finish(index: int, answer: Answer) -> None:
        cell = missing[index]
        run = replace(cell.run(answer), threads=_own_threads(cell.strategy) or allowed, **circumstances)
        finished[cell.key] = run
        if store:
            store.add(run)

    with following_batch(progress, "comparison") as follow:
        complete = make_runs(
            missing,
            limits,
            1 if asked.workers is None else asked.workers,
            asked.cluster,
            finish,
            len(cells) - len(missing),
            follow,
            threads=allowed,
            memory=bool(asked.memory),
        )
    runs = [*before, *(finished[cell.key] for cell in cells if cell.key in finished)]
    known = {one.label: one.best_known for one in subjects if one.best_known is not None}
    proved = frozenset(one.label for one in subjects if one.proved)
    if earlier is not None:
        runs, complete = ordered(runs), complete and earlier.complete
        known = dict(earlier.comparison.best_known) | known
        proved |= earlier.comparison.proved
    warnings = [*notes, *_greedy(chosen, allowed), *(one.warning for one in subjects if one.warning is not None)]
    warnings += [*doubts, *(told for told in (earlier.warnings if earlier else ()) if told not in doubts)]
    comparison = Comparison(tuple(runs), known, limits, complete, tuple(dict.fromkeys(warnings)), proved).doubted
    if store:
        store.close(comparison)
    return comparison


# -- what is asked for ------------------------------------------------------------------------------------------------


@dataclass
class _Request:
    """What was given, and behind it what a study file says."""

    problems: Any
    strategies: Any
    seeds: Any
    budget: Budget | None
    seconds: float | None
    evaluations: int | None
    workers: int | None
    threads: int | None
    memory: bool | None
    cluster: str | None
    out: str | os.PathLike[str] | None
    #: Text of the study file.
    text: str | None = None

    def settled(self) -> tuple[_Request, list[str]]:
        """What holds, and a sentence for each field of the study file that it overrides."""
        study = self._study()
        if study is None:
            if self.strategies is None:
                raise RequestError(
                    "a comparison needs at least one strategy: name some (--strategies A B), or give a study file "
                    "(.toml) that does."
                )
            limits = make_budget(self.budget, self.seconds, self.evaluations)
            return replace(self, budget=limits, seconds=None, evaluations=None), []
        self.text = study.text
        notes: list[str] = []
        held: dict[str, Any] = {"problems": list(study.instances), "budget": self._limits(study, notes)}
        for name in ("strategies", "seeds", "threads", "memory", "workers", "cluster", "out"):
            told, own = getattr(study, name), getattr(self, name)
            if name == "seeds" and own is not None and not isinstance(own, int | Mapping):
                own = list(own)
            if own is not None and told is not None and _shown(own) != _shown(told):
                notes.append(_note(study, name, own, told))
            held[name] = told if own is None else own
        if self.cluster is not None:
            held["workers"] = self.workers
        elif self.workers is not None:
            held["cluster"] = None
        return replace(self, **held, seconds=None, evaluations=None), notes

    def _study(self) -> Study | None:
        several = isinstance(self.problems, (list, tuple))
        files = [one for one in (self.problems if several else [self.problems]) if is_study(one)]
        if not files:
            return None
        if several and len(self.problems) > 1:
            raise RequestError(f"{os.fspath(files[0])}: a study file names its own instances; give it alone.")
        return read_study(files[0])

    def _limits(self, study: Study, notes: list[str]) -> Budget:
        """The limits of the study, each overridden by one that is given."""
        own = make_budget(self.budget, self.seconds, self.evaluations)
        limits = Budget() if self.budget is not None else study.budget
        for limit in fields(Budget):
            told, other = getattr(study.budget, limit.name), getattr(own, limit.name)
            if other is not None:
                limits = replace(limits, **{limit.name: other})
            if told is not None and getattr(limits, limit.name) != told:
                notes.append(_note(study, f"budget.{limit.name}", getattr(limits, limit.name), told))
        return limits


def _shown(value: Any) -> Any:
    """What is compared, and told, of a value: strategies by their labels, seeds as a list."""
    if isinstance(value, str) or not isinstance(value, (Iterable, Mapping)):
        return os.fspath(value) if isinstance(value, os.PathLike) else value
    return [label_of(one) if hasattr(one, "solve") else one for one in value]


def _note(study: Study, name: str, own: Any, told: Any) -> str:
    return f"{study.file}: {name} is overridden: {_shown(own)!r} in place of {_shown(told)!r}."


def _conditions(asked: _Request, earlier: Part | None) -> tuple[Budget, int]:
    """Budget and threads, which are those of earlier runs where there are any."""
    limits = asked.budget or Budget()
    allowed = None if asked.threads is None else check_threads(asked.threads)
    if earlier is None or not earlier.runs:
        return limits, allowed or 1
    if limits not in (Budget(), earlier.budget):
        raise RequestError(
            f"{earlier.folder}: its runs had the budget {earlier.budget!r}, and {limits!r} is another; only runs under "
            "the same budget are compared: leave it out, or choose another folder."
        )
    before = (earlier.record.threads if earlier.record else None) or 1
    if allowed not in (None, before):
        raise RequestError(
            f"{earlier.folder}: its runs were allowed {before} threads, and {allowed} is another number; leave it out, "
            "or choose another folder."
        )
    return earlier.budget, before


def _asked(cells: Sequence[Cell], earlier: Part | None) -> tuple[str, ...]:
    """Keys of all runs that the table covers, in its order."""
    keys = [cell.key for cell in cells]
    if earlier is None:
        return tuple(keys)
    held = [run.key for run in earlier.runs] if earlier.record is None else list(earlier.record.asked)
    return tuple(dict.fromkeys([*held, *keys]))


def _own_threads(strategy: Strategy) -> int | None:
    """The number of threads that a strategy asks for by a parameter of its own."""
    own = getattr(strategy, "threads", None)
    return own if isinstance(own, int) and not isinstance(own, bool) else None


def _greedy(chosen: Mapping[str, Strategy], allowed: int) -> list[str]:
    """A sentence for each strategy that takes more threads than the others are allowed."""
    return [
        f"{label} asks for {own} threads by a parameter of its own; the comparison allows {allowed}."
        for label, strategy in chosen.items()
        if (own := _own_threads(strategy)) is not None and own != allowed
    ]


def _strategies(
    strategies: str | Strategy | Iterable[str | Strategy] | Mapping[str, str | Strategy],
) -> dict[str, Strategy]:
    if isinstance(strategies, Mapping) and strategies:
        return {str(label): make_strategy(one) for label, one in strategies.items()}
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


def _seeds_by_problem(
    seeds: int | Iterable[int] | Mapping[str, int | Iterable[int]], subjects: Sequence[Subject]
) -> dict[str, list[int]]:
    labels = [subject.label for subject in subjects]
    if not isinstance(seeds, Mapping):
        return dict.fromkeys(labels, _seeds(seeds))
    lacking = [label for label in labels if label not in seeds]
    if lacking:
        raise RequestError(f"seeds that are given by problem are given for all of them, and {lacking[0]!r} has none.")
    return {label: _seeds(seeds[label]) for label in labels}


def _cells(
    subjects: Sequence[Subject],
    strategies: Mapping[str, Strategy],
    seeds: Mapping[str, Sequence[int]],
    budget: Budget,
    threads: int,
) -> list[Cell]:
    asked = [
        (subject, label, *choose(strategy, subject.problem))
        for subject in subjects
        for label, strategy in strategies.items()
    ]
    runs = sum(1 if is_deterministic(strategy) else len(seeds[subject.label]) for subject, _, strategy, _ in asked)
    if runs > MOST_RUNS:
        raise RequestError(
            f"a comparison has at most {MOST_RUNS} runs, and these problems, strategies and seeds are {runs}."
        )
    cells: dict[str, Cell] = {}
    for subject, label, strategy, reason in asked:
        whose = subject.label if reason is None else f"{subject.label} {AUTO}"  # a line beside that of the strategy
        own = seeds[subject.label]
        for seed in own[:1] if is_deterministic(strategy) else own:
            key = run_key(subject.digest + whose, strategy, seed, budget, _own_threads(strategy) or threads)
            cells.setdefault(key, Cell(subject.problem, strategy, seed, subject.label, label, key, reason))
    return list(cells.values())
