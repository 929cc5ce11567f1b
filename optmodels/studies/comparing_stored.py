"""The folder of a comparison: every finished run on disk, and what of it holds when the comparison is resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics import Result, parameters

from ..data import append_line, csv_text, parse_json, whole_lines, write_text
from ..errors import InstanceError, RequestError, UnreadableFile, printable, short
from ..results import file_stem, plain, write_result
from ..verification import judge
from .comparison import Comparison, Run, stem_of

if TYPE_CHECKING:
    from .comparing import Cell


class Store:
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
                cell = asked.get(_key(data))
                run = None if cell is None else Run.from_data(data, folder=self.folder)
                if cell is None or run is None or run.error is not None:
                    continue
                _require(run.result, cell)
            except Exception as failure:  # one line must not take the others down
                reason = str(failure.at("")) if isinstance(failure, InstanceError) else reason_of(failure)
                doubts.append(f"{self.lines}: line {number} is not used: {reason}")
                continue
            found[run.key] = replace(run, problem=cell.subject.label, strategy=cell.label)
        return found, doubts

    def add(self, run: Run) -> None:
        """Write a finished run: its own file first, then its line."""
        stem = stem_of(run)
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


def _require(result: Result, cell: Cell) -> None:
    """Refuse a stored answer that is not one of this run, or that the evaluator does not find."""
    asked = {"strategy": cell.strategy.name, "parameters": plain(parameters(cell.strategy)), "seed": cell.seed}
    for name, value in asked.items():
        told = plain(getattr(result, name))
        if told != value:
            raise InstanceError(name, told, f"its key is that of a run with {short(value)}.")
    judge(result, cell.subject.problem, extra=False).check()


def reason_of(failure: Exception) -> str:
    """Write a failure as one line that can be printed."""
    return printable(" ".join(f"{type(failure).__name__}: {failure}".split()))


def _count_lines(path: Path) -> int:
    """Runs in a file, one that was torn off included; none where there is no such file."""
    try:
        return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", os.fspath(path)) from None
