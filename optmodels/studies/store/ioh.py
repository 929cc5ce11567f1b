"""The runs of a comparison in the format that IOHanalyzer and iohinspector read.

One folder for each strategy; in it, for each problem, a JSON file that describes the runs and a folder with their data:
a text file whose columns are ``evaluations raw_y``, in which every run begins with its evaluation number 1. IOHprofiler
knows problems by numbers and by dimension; ours are numbered in the order of the comparison, and the dimension is the
number of entries of a decision. The instance of IOHprofiler is 1 throughout: seeds are runs of one instance.

What the format cannot hold is left out: bounds, seconds, and runs without a feasible decision. Before the first
feasible decision the objective is ``inf``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...data import write_text
from ...errors import RequestError, UnreadableFile
from ...results import file_stem, plain

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..runs import Run

#: Version of the format, as IOHexperimenter writes it.
FORMAT = "0.3.5"

#: More than readers can hold in the number of a dimension.
MOST_DIMENSIONS = 65535


def write_ioh(comparison: Comparison, folder: str | os.PathLike[str]) -> list[str]:
    """Write a comparison for IOHanalyzer: objectives by evaluations.

    Parameters
    ----------
    comparison
        What is written.
    folder
        Where; it is made, and must be empty if it is there.

    Returns
    -------
    list of str
        A sentence for each run that the format cannot hold.

    Raises
    ------
    RequestError
        If the folder is not empty, or cannot be made.
    """
    place = Path(folder)
    new_folder(place)
    left: list[str] = []
    numbers = {problem: number for number, problem in enumerate(comparison.problems, 1)}
    for strategy in dict.fromkeys(run.strategy for run in comparison.runs):
        for problem, number in numbers.items():
            runs = [run for run in comparison.runs if (run.problem, run.strategy) == (problem, strategy)]
            told = [run for run in runs if run.answered and run.result.objective is not None]
            left += [
                f"{problem} by {strategy}, seed {run.seed}: no feasible decision, left out."
                for run in runs
                if run not in told
            ]
            if told:
                _write(place / file_stem(strategy), problem, number, strategy, told)
    return left


def new_folder(place: Path) -> None:
    """Make a folder, or refuse one that holds something."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise RequestError(f"{place}: the folder is not empty; IOHanalyzer would read all of it, choose another.")
    except OSError as failure:
        raise UnreadableFile(
            f"the folder cannot be created: {failure.strerror or failure}.", os.fspath(place)
        ) from None


def _write(folder: Path, problem: str, number: int, strategy: str, runs: Sequence[Run]) -> None:
    """Write the runs of one strategy on one problem."""
    stem = file_stem(problem)
    dimension = max(_dimension(run.result.decision) for run in runs)
    data = folder / f"data_f{number}_{stem}" / f"IOHprofiler_f{number}_DIM{dimension}.dat"
    data.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{evaluations} {_number(value)}" for run in runs for evaluations, value in points(run)]
    write_text(data, "\n".join(["evaluations raw_y", *lines]) + "\n")
    described = {
        "version": FORMAT,
        "suite": "optmodels",
        "function_id": number,
        "function_name": problem,
        "maximization": False,
        "algorithm": {
            "name": strategy,
            "info": f"optmodels {__version__} {json.dumps(plain(runs[0].result.parameters))}",
        },
        "experiment_attributes": [{"study": runs[0].study or ""}],
        "attributes": ["evaluations", "raw_y"],
        "scenarios": [
            {
                "dimension": dimension,
                "path": data.relative_to(folder).as_posix(),
                "runs": [_described(run) for run in runs],
            }
        ],
    }
    write_text(folder / f"IOHprofiler_f{number}_{stem}.json", json.dumps(described, indent=1, allow_nan=False) + "\n")


def points(run: Run) -> list[tuple[int, float]]:
    """List where the objective of a run improved, by evaluations, from its evaluation number 1 to its last.

    Parameters
    ----------
    run
        With a feasible decision.

    Returns
    -------
    list of tuple
        Evaluations, strictly increasing, and the best objective so far.
    """
    best = math.inf
    found: dict[int, float] = {1: math.inf}
    for point in run.result.trace:
        if point.objective is not None and point.objective < best:
            best = point.objective
            found[max(1, point.evaluations)] = best
    last = run.result.objective
    assert last is not None
    found[max(1, run.result.evaluations, *found)] = min(best, last)
    return sorted(found.items())


def _described(run: Run) -> dict[str, Any]:
    evaluations = [(number, value) for number, value in points(run) if math.isfinite(value)]
    value = evaluations[-1][1]
    first = next(number for number, each in evaluations if each == value)
    return {
        "instance": 1,
        "evals": evaluations[-1][0],
        "best": {"evals": first, "y": value, "x": []},
    }


def _dimension(decision: Any) -> int:
    return min(len(decision), MOST_DIMENSIONS) if hasattr(decision, "__len__") else 1


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else "inf"
