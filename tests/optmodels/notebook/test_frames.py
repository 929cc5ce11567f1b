"""Tables of pandas: a row for each run, point or decision, with the columns that the documentation tells."""

import sys

import pytest

import optmodels as om
from heuristics.testing import Knapsack
from optmodels.errors import RequestError
from optmodels.notebook import COLUMNS, frame, run_row

MEASURES = [
    "opening",
    "operating",
    "open_sites",
    "mean_distance",
    "worst_throughput",
    "worst_delay_probability",
    "mean_delay",
]


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def answer():
    return om.solve("gautam-2x3", "exhaustive")


def test_a_result_is_one_row(pandas, answer):
    table = answer.to_frame()
    assert list(table.columns) == [*COLUMNS, *MEASURES]
    assert len(table) == 1
    row = table.iloc[0]
    assert (row.problem, row.kind, row.strategy, row.status, row.objective) == (
        "gautam-2x3", "placement", "exhaustive", "optimal", 8.0,
    )  # fmt: skip
    assert (row.gap_to_bound, row.gap_to_best_known, row.opening, row.decision) == (0.0, 0.0, 8.0, (0, 0, 1, 1, 1, 0))


def test_a_comparison_has_a_row_for_each_run(pandas):
    comparison = om.compare(
        ["gautam-2x3", Knapsack(), "coffman-4"], ["exhaustive", "annealing"], seeds=2, evaluations=9
    )
    table = comparison.to_frame()
    assert len(table) == len(comparison.runs)
    assert set(COLUMNS) | set(MEASURES) <= set(table.columns)
    told = "problem strategy status objective bound gap_to_bound gap_to_best_known seconds evaluations seed"
    assert set(told.split()) <= set(table.columns)  # as rows of `compare --format json`
    for row, run in zip(table.itertuples(), comparison.runs, strict=True):
        assert (row.problem, row.strategy, row.seed, row.status) == (run.problem, run.strategy, run.seed, run.status)
    ours = table[table.problem == "gautam-2x3"]
    assert ours.gap_to_best_known.notna().sum() == ours.objective.notna().sum() > 0
    assert table[table.problem != "gautam-2x3"].opening.isna().all()
    failed = table[(table.problem == "coffman-4") & (table.strategy == "exhaustive")]
    assert failed.status.tolist() == ["not applicable"]
    assert "strategy 'exhaustive'" in failed.reason.iloc[0]


def test_a_comparison_without_runs_has_columns_all_the_same(pandas):
    table = om.Comparison(()).to_frame()
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 0


def test_a_sweep_has_a_row_for_each_point(pandas):
    study = om.sweep("gautam-2x3", {"data.service_rate": [20, 25], "data.demand[0][0]": [14, 15]}, "exhaustive")
    table = study.to_frame()
    assert len(table) == 4
    first = ["data.service_rate", "data.demand[0][0]", "status", "objective", "bound", "gap", "evaluations", "seconds"]
    last = ["decision", "error", "strategy", "seed", "budget_seconds", "budget_evaluations", "key"]
    assert list(table.columns) == [*first, "stopped_by", *MEASURES, *last]
    assert table["data.service_rate"].tolist() == [20, 20, 25, 25]


def test_a_front_has_a_row_for_each_point(pandas):
    front = om.pareto("gautam-2x3", ["opening", "mean_delay"])
    table = front.to_frame()
    names = ["supported", "weight_from", "weight_to", "gap", "equivalent", "proved", "decision"]
    assert list(table.columns) == ["opening", "mean_delay", *names]
    assert len(table) == len(front.points) == 9
    assert table.weight_from.isna().tolist() == [not point.supported for point in front.points]


def test_a_measure_does_not_hide_a_column(answer):
    from dataclasses import replace

    from heuristics import Evaluation

    odd = replace(answer, evaluation=Evaluation(8.0, {}, {"seconds": 3.0, "opening": 8.0}))
    row = run_row(odd)
    assert (row["seconds"], row["measure.seconds"], row["opening"]) == (odd.seconds, 3.0, 8.0)


def test_a_frame_of_columns_has_a_row_for_each_entry(pandas):
    assert len(frame(om.visits(om.solve("coffman-4", "lagrangian"), slots=7))) == 7


def test_without_pandas_one_sentence_names_the_extra(monkeypatch, answer, root):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RequestError, match=r"^frames need an extra: pip install 'optmodels\[frames\]'$"):
        answer.to_frame()
    assert 'frames = ["pandas' in (root / "pyproject.toml").read_text(encoding="utf-8")
