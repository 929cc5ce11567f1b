"""The format of IOHanalyzer: as it is described, and as the package iohinspector reads it."""

import json
import math

import pytest

from heuristics import Evaluation, Result, Status, TracePoint
from heuristics.testing import Hopeless, Knapsack
from optmodels.errors import RequestError
from optmodels.studies import compare, write_ioh
from optmodels.studies.runs import Run
from optmodels.studies.store.ioh import points


@pytest.fixture
def made():
    return compare(
        ["gautam-2x3", "avrachenkov-k5"], ["annealing:steps=60", "exhaustive", "genetic"], seeds=3, evaluations=80
    )


def wanted(comparison):
    """What must be found again: objectives by evaluations, for each strategy, problem and run."""
    found = {}
    for run in comparison.runs:
        found.setdefault((run.strategy, run.problem), []).append(points(run))
    return found


def test_the_folder_is_as_the_format_says(made, tmp_path):
    assert write_ioh(made, tmp_path / "ioh") == []
    files = sorted((tmp_path / "ioh").glob("*/*.json"))
    assert len(files) == 6
    for file in files:
        told = json.loads(file.read_text())
        (scenario,) = told["scenarios"]
        lines = (file.parent / scenario["path"]).read_text().splitlines()
        assert lines[0] == "evaluations raw_y"
        runs = []
        for line in lines[1:]:
            evaluations, value = line.split(" ")
            if evaluations == "1":
                runs.append([])
            runs[-1].append((int(evaluations), float(value)))
        assert runs == wanted(made)[told["algorithm"]["name"], told["function_name"]]
        assert len(scenario["runs"]) == len(runs)
        for run, values in zip(scenario["runs"], runs, strict=True):
            assert run["evals"] == values[-1][0]
            assert run["best"]["y"] == values[-1][1]
            assert (run["best"]["evals"], run["best"]["y"]) in values
        assert told["maximization"] is False


def test_iohinspector_reads_it_back(made, tmp_path):
    iohinspector = pytest.importorskip("iohinspector", reason="not in the environment; tools/ioh.sh brings it")
    write_ioh(made, tmp_path / "ioh")
    manager = iohinspector.DataManager()
    manager.add_folder(str(tmp_path / "ioh"))
    rows = manager.load(monotonic=False, include_meta_data=True).to_dicts()
    found = {}
    for row in rows:
        own = found.setdefault((row["algorithm_name"], row["function_name"]), {})
        own.setdefault(row["run_id"], []).append((row["evaluations"], row["raw_y"]))
    assert {name: [runs[number] for number in sorted(runs)] for name, runs in found.items()} == wanted(made)
    best = {(row["algorithm_name"], row["function_name"], row["run_id"]): row["best_y"] for row in rows}
    for (strategy, problem), runs in wanted(made).items():
        for number, values in enumerate(runs, 1):
            assert best[strategy, problem, number] == values[-1][1]


def run(trace, objective, evaluations):
    result = Result("p", Status.FEASIBLE, (1,), Evaluation(objective), trace=trace, evaluations=evaluations)
    return Run("p", "s", 0, result)


@pytest.mark.parametrize(
    ("trace", "evaluations", "found"),
    [
        ((TracePoint(0.1, 1, 9.0), TracePoint(0.2, 4, 8.0)), 10, [(1, 9.0), (4, 8.0), (10, 8.0)]),
        ((TracePoint(0.1, 0, None, 3.0), TracePoint(0.2, 4, 8.0)), 4, [(1, math.inf), (4, 8.0)]),
        ((TracePoint(0.1, 0, 9.0), TracePoint(0.2, 1, 8.0)), 0, [(1, 8.0)]),
        ((TracePoint(0.1, 5, 9.0), TracePoint(0.2, 5, 8.0)), 5, [(1, math.inf), (5, 8.0)]),
        ((), 7, [(1, math.inf), (7, 8.0)]),
    ],
)
def test_every_run_begins_with_its_first_evaluation_and_ends_with_its_last(trace, evaluations, found):
    assert points(run(trace, 8.0, evaluations)) == found


def test_what_the_format_cannot_hold_is_said(tmp_path):
    made = compare([Knapsack(), Hopeless()], ["exhaustive", "highs"], evaluations=20)
    left = write_ioh(made, tmp_path / "ioh")
    assert len(left) == 3
    assert "hopeless by exhaustive, seed 0: no feasible decision, left out." in left
    assert len(list((tmp_path / "ioh").glob("*/*.json"))) == 1


def test_a_folder_that_holds_something_is_refused(made, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RequestError, match="the folder is not empty"):
        write_ioh(made, tmp_path)
