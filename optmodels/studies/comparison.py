"""The runs of a comparison, and what is told about them: the table, the best answers, one record per run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heuristics import Budget, Result, Status

from ..data import csv_text, write_text
from ..errors import UnreadableFile
from ..results import file_stem, plain, result_from_data, result_to_data
from .comparing_table import Summary, reference_of, summarise, table_text


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
        lines = [json.dumps(run.to_data(folder=folder, stem=stem_of(run)), allow_nan=False) for run in self.runs]
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


def _merit(run: Run) -> tuple[float, bool, float]:
    objective = run.result.objective
    assert objective is not None
    return objective, run.result.status != Status.OPTIMAL, run.result.seconds


def stem_of(run: Run) -> str:
    """Name the file of a run, without its suffix."""
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
