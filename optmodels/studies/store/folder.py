"""The folder of a comparison: all that is needed to read it again, on this machine or on another.

| file | what it holds |
|---|---|
| ``comparison.json`` | study, budget, threads, machines, versions, instances, keys of the runs asked for |
| ``study.toml`` | the study file, where there was one |
| ``instances/`` | the instances; one that is too large, or that names other files, is a reference with a checksum |
| ``runs.jsonl`` | a line for each run, added when it ends |
| ``results/``, ``best/`` | a result file for each run, and the best of each problem |
| ``runs.csv``, ``table.txt``, ``table.csv`` | written at the end, from the runs |

Every file is written whole or not at all. ``comparison.json`` and the instances are there before the first run begins,
so that a comparison that is killed at any moment can be read, and resumed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from heuristics import Budget, Result, parameters, refusal

from ...cluster import processors
from ...data import append_line, csv_text, parse_json, pretty, read_json, whole_lines, write_text
from ...errors import InstanceError, RequestError, UnreadableFile, printable, short
from ...instance import Instance
from ...protocols import origin_of
from ...results import file_stem, plain, write_result
from ...solving import as_instance
from ...verification import judge
from ..comparison import Comparison
from ..pool import sentence
from ..runs import Cell, Run, budget_from_data, problem_digest
from .subjects import Subject

#: Letters of an instance that is kept in the folder; a longer one is a reference with a checksum.
LONGEST_INSTANCE = 10_000_000

ADVICE = "add --resume to go on with {them}, --append to add others, or choose another folder."

LINES, RECORD, INSTANCES = "runs.jsonl", "comparison.json", "instances"


@dataclass(frozen=True)
class Record:
    """What ``comparison.json`` tells.

    Parameters
    ----------
    study
        Checksum of the study that was asked for last, see `optmodels.studies.runs.study_digest`.
    budget, threads
        Of each run.
    asked
        Keys of the runs that were asked for, in the order of the table.
    instances
        By label: ``digest``, and ``file`` (in the folder) or ``reference`` (elsewhere), where there is one.
    machines
        Descriptions of the machines on which runs were made, by their checksums.
    versions
        Of Python, this package and what it stands on, when the folder was last written to.
    """

    study: str | None = None
    budget: Budget = field(default_factory=Budget)
    threads: int | None = None
    asked: tuple[str, ...] = ()
    instances: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        """The JSON object of the file."""
        return {"format": 1, **plain(self)}

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """Read the file of a folder; ``None`` where there is none."""
        path = folder / RECORD
        if not path.exists():
            return None
        data = read_json(path)
        try:
            return cls._from_data(data)
        except InstanceError as failure:
            raise failure if failure.file else failure.at(os.fspath(path)) from None

    @classmethod
    def _from_data(cls, data: Any) -> Record:
        if not isinstance(data, Mapping) or data.get("format") != 1:
            raise UnreadableFile("this is no record of a comparison, format 1.")
        asked, instances = data.get("asked"), data.get("instances")
        if not isinstance(asked, list) or not all(isinstance(key, str) for key in asked):
            raise InstanceError("asked", asked, "this is a list of the keys of runs.")
        for name in ("instances", "machines", "versions"):
            if not isinstance(data.get(name), Mapping):
                raise InstanceError(name, data.get(name), "this is an object.")
        assert isinstance(instances, Mapping)
        for label, told in instances.items():
            if not isinstance(told, Mapping) or not all(isinstance(value, str) for value in told.values()):
                raise InstanceError(f"instances.{label}", told, "an instance has a digest, and a file or a reference.")
        return cls(
            study=data.get("study"),
            budget=budget_from_data(data.get("budget")) or Budget(),
            threads=data.get("threads"),
            asked=tuple(asked),
            instances=instances,
            machines=data["machines"],
            versions=data["versions"],
        )


def machine() -> dict[str, Any]:
    """Describe this machine: processor, cores, memory, system, Python; no name, no address.

    Returns
    -------
    dict
        Of texts and numbers.
    """
    return {
        "cpu": _cpu(),
        "cores": processors(),
        "cores_in_all": os.cpu_count(),
        "memory_gigabytes": _memory(),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def machine_digest(described: Mapping[str, Any]) -> str:
    """Compute a short checksum of the description of a machine, which stands in the line of each run.

    Parameters
    ----------
    described
        Of `machine`.

    Returns
    -------
    str
        Twelve hexadecimal digits.
    """
    return hashlib.sha256(json.dumps(plain(described), sort_keys=True).encode()).hexdigest()[:12]


class Store:
    """The folder of a comparison, for writing.

    Parameters
    ----------
    folder
        Where; it is made if it is not there.
    resume
        Whether runs may be there already.
    advice
        What to do if they are and may not, as the end of a sentence.
    """

    def __init__(self, folder: Path, resume: bool = False, advice: str = ADVICE) -> None:
        if folder.is_file():
            raise RequestError(f"{folder}: the folder cannot be created: this is a file; name a folder.")
        self.folder = folder
        self.lines = folder / LINES
        held = 0 if resume else _count_lines(self.lines)
        if held:
            runs, them = ("1 run", "it") if held == 1 else (f"{held} runs", "them")
            raise RequestError(f"{folder} already holds {runs}; {advice.format(them=them)}")
        try:
            for name in ("results", "best", INSTANCES):
                (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise UnreadableFile(
                f"the folder cannot be created: {failure.strerror or failure}.", os.fspath(folder)
            ) from None
        self.record = Record.read(folder) or Record()

    def open(self, record: Record, subjects: Iterable[Subject], study: str | None = None) -> None:
        """Write what is known before the first run: instances, the study file, and the record.

        Parameters
        ----------
        record
            What was asked for; instances and machines that the folder knows from before are kept beside its own.
        subjects
            The problems.
        study
            Text of the study file.
        """
        kept = {**self.record.instances, **record.instances}
        for subject in subjects:
            kept[subject.label] = self._kept(subject, kept.get(subject.label))
        machines = {**self.record.machines, **record.machines}
        self.record = replace(record, instances=kept, machines=machines)
        if study is not None:
            write_text(self.folder / "study.toml", study)
        write_text(self.folder / RECORD, pretty(self.record.to_data()) + "\n")

    def _kept(self, subject: Subject, before: Mapping[str, str] | None) -> Mapping[str, str]:
        """Keep an instance, and tell where it is."""
        same = before is not None and before.get("digest") == subject.digest
        if before is not None and same and "file" in before and (self.folder / before["file"]).is_file():
            return before
        told = {"digest": subject.digest}
        text = _portable(subject)
        if text is not None:
            file = f"{INSTANCES}/{file_stem(subject.label)}.json"
            write_text(self.folder / file, text)
            return told | {"file": file}
        origin = origin_of(subject.problem).file
        if origin is None:
            return told
        return told | {"reference": os.path.abspath(origin) if os.path.exists(origin) else origin}

    def finished(self, cells: Sequence[Cell]) -> tuple[dict[str, Run], list[str]]:
        """Runs on disk that are asked for again and hold, and a sentence for each line that is not believed.

        Failed runs are tried anew, and so are those that another version, a torn disk or a hand has made say what the
        evaluator does not find. A strategy that did not take its problem is asked again: it may have been for want of a
        solver that is there now.
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
                if run.reason is not None and refusal(cell.problem, cell.strategy) is None:
                    continue
                _require(run.result, cell)
            except Exception as failure:  # one line must not take the others down
                doubts.append(doubt(self.lines, number, failure))
                continue
            known = run.result.of(cell.problem)
            found[run.key] = replace(run, problem=cell.subject, strategy=cell.label, result=known)
        for run in found.values():
            if run.answered and not _has_content(self.folder / "results" / f"{run.stem}.json"):
                self._write_result(run)
        return found, doubts

    def add(self, run: Run) -> None:
        """Write a finished run: its own file first, then its line, which is on the disk when this returns."""
        if run.answered:
            self._write_result(run)
        append_line(self.lines, json.dumps(run.to_data(folder=self.folder), allow_nan=False))

    def _write_result(self, run: Run) -> None:
        path = self.folder / "results" / f"{run.stem}.json"
        write_result(run.result, path, further=run.further(), durable=False)  # the line says the same

    def close(self, comparison: Comparison) -> None:
        """Write the tables and the best answers."""
        write_text(self.folder / "table.txt", comparison.table() + "\n")
        write_text(self.folder / "table.csv", csv_text([plain(asdict(line)) for line in comparison.summaries]))
        comparison.to_csv(self.folder / "runs.csv")
        for problem in comparison.problems:
            best = comparison.best(problem)
            if best is not None:
                path = self.folder / "best" / f"{file_stem(problem)}.json"
                write_result(best.result, path, further=best.further())


def doubt(lines: Path, number: int, failure: BaseException) -> str:
    """Say why a line is not believed."""
    named = failure.at("") if isinstance(failure, InstanceError) else failure
    return f"{lines}: line {number} is not used: {printable(sentence(named))}"


def _require(result: Result, cell: Cell) -> None:
    """Refuse a stored answer that is not one of this run, or that the evaluator does not find."""
    asked = {"strategy": cell.strategy.name, "parameters": plain(parameters(cell.strategy)), "seed": cell.seed}
    for name, value in asked.items():
        told = plain(getattr(result, name))
        if told != value:
            raise InstanceError(name, told, f"its key is that of a run with {short(value)}.")
    judge(result, cell.problem, extra=False).check()


def _portable(subject: Subject) -> str | None:
    """The text of an instance that says all by itself; ``None`` where there is none, or where it is too long."""
    try:
        text = pretty(as_instance(subject.problem).to_data()) + "\n"
        if len(text) > LONGEST_INSTANCE:
            return None
        again = Instance.from_data(json.loads(text)).problem()
    except RequestError:  # no registered kind, a cost that is code, or files that are named inside
        return None
    return text if problem_digest(again) == subject.digest else None


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _count_lines(path: Path) -> int:
    """Runs in a file, one that was torn off included; none where there is no such file."""
    try:
        return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", os.fspath(path)) from None


def _cpu() -> str:
    """The name of the processor, as the system knows it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    """Memory of the machine in units of 1e9 bytes."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None
