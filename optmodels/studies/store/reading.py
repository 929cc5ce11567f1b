"""One or several folders read back into a comparison, every answer judged again; merging.

An answer is not believed because it is on disk. As when a comparison is resumed, each stored decision is evaluated
again by the problem, which is read from the folder itself, and the line is left out, with a sentence, if it says
something else. What cannot be judged, because the folder does not hold the problem, is kept and said to be on trust.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heuristics import AGREEMENT, Budget

from ...data import parse_json, whole_lines
from ...errors import InstanceError, RequestError, UnreadableFile, printable
from ...instance import inside, load
from ...registry import AUTO
from ...verification import judge
from ..comparison import Comparison
from ..pool import sentence
from ..runs import Run, problem_digest, stored_key
from .folder import LINES, Record, Store, doubt
from .subjects import Subject, free_label


@dataclass(frozen=True)
class Part:
    """What one folder holds.

    Parameters
    ----------
    folder
        Where it was read.
    record
        What was asked for; ``None`` in a folder of an earlier version.
    runs
        The runs that are believed, failed ones included, in the order of the table.
    subjects
        The problems that the folder holds, by label.
    warnings
        A sentence for each line that is not believed, and for each problem that is not known.
    complete
        Whether every run that was asked for is there.
    """

    folder: Path
    record: Record | None
    runs: tuple[Run, ...]
    subjects: Mapping[str, Subject]
    warnings: tuple[str, ...]
    complete: bool

    @property
    def budget(self) -> Budget:
        """The limits of its runs."""
        return self.record.budget if self.record else next((run.budget for run in self.runs if run.budget), Budget())

    @property
    def comparison(self) -> Comparison:
        """The same as a comparison."""
        known = {label: one.best_known for label, one in self.subjects.items() if one.best_known is not None}
        proved = frozenset(label for label, one in self.subjects.items() if one.proved)
        return Comparison(self.runs, known, self.budget, self.complete, self.warnings, proved).doubted


def read_comparison(*folders: str | os.PathLike[str]) -> Comparison:
    """Read the folders of comparisons back, as one comparison; each stored answer is evaluated again.

    Parameters
    ----------
    *folders
        Of `optmodels.compare` with `out`; several, from several machines, say, are merged: a run that is in two of them
        counts once.

    Returns
    -------
    Comparison
        The runs with their traces. Its warnings say, in a sentence each, which lines are not believed, which problems
        could not be loaded, and where folders differ or contradict each other.

    Raises
    ------
    RequestError
        If a folder holds no comparison, or if the budgets of two folders differ.

    Examples
    --------
    >>> import tempfile
    >>> from optmodels.studies import compare, read_comparison
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = compare("gautam-2x3", ["exhaustive", "local-search"], evaluations=100, out=folder)
    ...     again = read_comparison(folder)
    >>> again.table() == made.table()
    True
    """
    if not folders:
        raise RequestError("name at least one folder of a comparison.")
    parts = [read_folder(folder) for folder in folders]
    return parts[0].comparison if len(parts) == 1 else merge_parts(parts).comparison


def merge_comparisons(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Comparison:
    """Merge the folders of comparisons into a new one.

    Parameters
    ----------
    folders
        What is merged; they are left as they are.
    out
        The new folder, which holds no runs yet.

    Returns
    -------
    Comparison
        As `read_comparison` would read it from the folders.

    Raises
    ------
    RequestError
        If a folder holds no comparison, if budgets differ, or if `out` holds runs.
    """
    if not folders:
        raise RequestError("name at least one folder of a comparison.")
    whole = merge_parts([read_folder(folder) for folder in folders])
    store = Store(Path(out), advice="choose another folder.")
    assert whole.record is not None
    store.open(whole.record, whole.subjects.values())
    for run in whole.runs:
        store.add(run)
    store.close(whole.comparison)
    return whole.comparison


def read_folder(folder: str | os.PathLike[str]) -> Part:
    """Read one folder, and judge each of its answers.

    Parameters
    ----------
    folder
        Of a comparison.

    Returns
    -------
    Part
        What it holds and what is believed of it.
    """
    place = Path(folder)
    lines = place / LINES
    if not lines.is_file():
        raise UnreadableFile(f"there is no comparison in this folder: it has no {LINES}.", os.fspath(folder))
    record = Record.read(place)
    subjects, digests, warnings = _subjects(place, record)
    found, doubts, others = _lines(place, record, subjects, digests)
    asked = list(found) if record is None else [key for key in record.asked if key in found]
    runs = ordered([found[key] for key in asked])
    unknown = [label for label in dict.fromkeys(run.problem for run in runs) if label not in subjects]
    warnings += [
        f"{place}: the problem {label!r} is not in the folder; its answers are taken on trust."
        for label in unknown
        if not any(repr(label) in told for told in warnings)
    ]
    if others:
        noun = "1 line is of a run" if others == 1 else f"{others} lines are of runs"
        warnings.append(f"{lines}: {noun} that the last comparison in this folder did not ask for; left out.")
    warnings += [one.warning for one in subjects.values() if one.warning is not None]
    complete = record is None or len(runs) == len(record.asked)
    return Part(place, record, tuple(runs), subjects, (*warnings, *doubts), complete)


def merge_parts(parts: Sequence[Part]) -> Part:
    """Put folders together: each run once, each problem under one name; what differs is said.

    Parameters
    ----------
    parts
        At least one; the first one's runs come first.

    Returns
    -------
    Part
        Of no folder in particular: that of the first.
    """
    first = parts[0]
    for other in parts[1:]:
        if other.budget != first.budget:
            raise RequestError(
                f"{other.folder}: its runs had another budget ({_told(other.budget)}) than those of {first.folder} "
                f"({_told(first.budget)}); only runs under the same budget are compared."
            )
    warnings = [told for part in parts for told in part.warnings]
    taken: dict[str, str] = {}
    subjects: dict[str, Subject] = {}
    instances: dict[str, Mapping[str, str]] = {}
    runs: dict[str, Run] = {}
    homes: dict[str, Path] = {}
    missing = False
    for part in parts:
        rename = _labels(part, taken, subjects, instances)
        for run in part.runs:
            renamed = _renamed(run, rename[run.problem], taken.get(rename[run.problem], ""))
            held = runs.get(renamed.key)
            if held is None or (held.error is not None and renamed.error is None):
                runs[renamed.key], homes[renamed.key] = renamed, part.folder
            elif renamed.error is None and (told := _contradiction(held, renamed)):
                warnings.append(f"{homes[renamed.key]} and {part.folder} contradict each other: {told}")
        missing = missing or not part.complete
    machines = {name: told for part in parts if part.record for name, told in part.record.machines.items()}
    kept = ordered(list(runs.values()))
    warnings += differences(kept, machines)
    asked = [key for part in parts if part.record for key in part.record.asked if key not in runs] if missing else []
    record = replace(
        next((part.record for part in parts if part.record), Record(budget=first.budget)),
        study=_only({part.record.study for part in parts if part.record}),
        asked=(*(run.key for run in kept), *dict.fromkeys(asked)),
        instances=instances,
        machines=machines,
    )
    return Part(first.folder, record, tuple(kept), subjects, tuple(dict.fromkeys(warnings)), not missing)


def ordered(runs: Sequence[Run]) -> list[Run]:
    """Put runs in the order of a table: by problem and strategy, each in the order in which they first appear.

    Parameters
    ----------
    runs
        In any order.

    Returns
    -------
    list of Run
        The same, with those of one problem and one strategy together, by seed.
    """
    problems = {name: place for place, name in enumerate(dict.fromkeys(run.problem for run in runs))}
    strategies = {name: place for place, name in enumerate(dict.fromkeys(run.strategy for run in runs))}
    return sorted(runs, key=lambda run: (problems[run.problem], strategies[run.strategy]))


def differences(runs: Sequence[Run], machines: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say in a sentence each what was not the same for all runs: machines and threads.

    Parameters
    ----------
    runs
        Those that are compared.
    machines
        Descriptions of machines, by their checksums.

    Returns
    -------
    list of str
        Nothing where all is the same.
    """
    told = []
    made = [run for run in runs if run.answered]
    used = dict.fromkeys(run.machine for run in made if run.machine)
    if len(used) > 1:
        names = [f"{machines.get(name, {}).get('cpu', name)} ({sum(r.machine == name for r in made)})" for name in used]
        told.append(
            printable(f"runs were made on different machines: {', '.join(names)}; their seconds cannot be compared.")
        )
    threads = sorted({run.threads for run in made if run.threads is not None})
    if len(threads) > 1:
        told.append(f"runs had different numbers of threads: {', '.join(map(str, threads))}.")
    return told


# -- inside -----------------------------------------------------------------------------------------------------------


def _subjects(place: Path, record: Record | None) -> tuple[dict[str, Subject], dict[str, str], list[str]]:
    """The problems that a folder holds, the checksum of each problem it names, and what is wrong with them."""
    subjects: dict[str, Subject] = {}
    warnings: list[str] = []
    told = record.instances if record else {}
    for label, kept in told.items():
        source = kept.get("file") or kept.get("reference")
        if source is None:
            continue
        try:
            problem = load(inside(place, source, "file") if "file" in kept else source)
            if problem_digest(problem) != kept.get("digest"):
                raise UnreadableFile("it has changed since the comparison", source)
        except Exception as failure:  # one instance must not take the others down
            reason = printable(sentence(failure)).rstrip(".")
            warnings.append(f"{place}: the problem {label!r} cannot be judged: {reason}; its answers are on trust.")
            continue
        subjects[label] = Subject.of(problem, label, kept["digest"])
    return subjects, {label: kept.get("digest", "") for label, kept in told.items()}, warnings


def _lines(
    place: Path, record: Record | None, subjects: Mapping[str, Subject], digests: Mapping[str, str]
) -> tuple[dict[str, Run], list[str], int]:
    """The last line of each run that holds, what is not believed, and how many lines are of other runs."""
    asked = None if record is None else set(record.asked)
    found: dict[str, Run] = {}
    doubts: list[str] = []
    others = 0
    for number, line in enumerate(whole_lines(place / LINES), 1):
        try:
            run = Run.from_data(parse_json(line, os.fspath(place / LINES)), folder=place)
            if asked is not None and run.key not in asked:
                others += 1
                continue
            _require(run, record, digests.get(run.problem))
            subject = subjects.get(run.problem)
            if subject is not None:
                if run.answered:
                    judge(run.result, subject.problem, extra=False).check()
                run = replace(run, result=run.result.of(subject.problem))
        except Exception as failure:  # one line must not take the others down
            doubts.append(doubt(place / LINES, number, failure))
            continue
        if run.error is None or run.key not in found or found[run.key].error is not None:
            found[run.key] = run
    return found, doubts, others


def _require(run: Run, record: Record | None, digest: str | None) -> None:
    """Refuse a line whose key is that of another run, as far as the folder tells."""
    if record is None or digest is None:
        return
    if run.budget is not None and run.budget != record.budget:
        raise InstanceError("budget", _told(run.budget), f"the comparison has {_told(record.budget)}.")
    if run.key != _key(run, run.problem, digest, record.budget):
        raise InstanceError("key", run.key, "it is that of another problem, strategy, parameter, seed or budget.")


def _key(run: Run, label: str, digest: str, budget: Budget) -> str:
    whose = f"{label} {AUTO}" if AUTO in run.result.extra else label
    result = run.result
    return stored_key(digest + whose, result.strategy, result.parameters, run.seed, budget, run.threads)


def _labels(
    part: Part, taken: dict[str, str], subjects: dict[str, Subject], instances: dict[str, Mapping[str, str]]
) -> dict[str, str]:
    """What each problem of a folder is called in the whole; all three collections are added to."""
    kept = part.record.instances if part.record else {}
    names: dict[str, str] = {}
    for label in dict.fromkeys([*kept, *(run.problem for run in part.runs)]):
        digest = kept.get(label, {}).get("digest", "")
        own = names[label] = free_label(label, digest, taken)
        taken[own] = digest
        if label in part.subjects and own not in subjects:
            subjects[own] = replace(part.subjects[label], label=own)
        if label in kept and "file" not in kept[label]:
            instances.setdefault(own, kept[label])  # one that is a file is written anew from its problem
    return names


def _renamed(run: Run, label: str, digest: str) -> Run:
    """The same run in the whole, where its problem may have another name."""
    if label == run.problem:
        return run
    return replace(run, problem=label, key=_key(run, label, digest, run.budget or Budget()))


def _contradiction(first: Run, second: Run) -> str | None:
    """What two records of one run say differently, if its budget leaves no room for that."""
    if first.budget is None or first.budget.seconds is not None or first.reason or second.reason:
        return None
    what: dict[str, Callable[[Run], Any]] = {
        "objective": lambda run: run.result.objective,
        "status": lambda run: str(run.result.status),
        "evaluations": lambda run: run.result.evaluations,
    }
    for name, value in what.items():
        one, other = value(first), value(second)
        close = (
            isinstance(one, float)
            and isinstance(other, float)
            and abs(one - other) <= AGREEMENT * max(abs(one), abs(other))
        )
        if one != other and not close:
            shown = f"{first.problem} by {first.strategy}, seed {first.seed}"
            return f"{shown} has {name} {one} and {other}; the first is kept."
    return None


def _told(budget: Budget) -> str:
    limits = {"seconds": "s", "evaluations": "evaluations", "stall": "evaluations without progress"}
    given = [f"{value:g} {unit}" for name, unit in limits.items() if (value := getattr(budget, name))]
    return ", ".join(given) or "none"


def _only(values: set[str | None]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None
