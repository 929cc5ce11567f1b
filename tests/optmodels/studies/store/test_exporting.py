"""The columns of a run, told and written."""

import json
import re
from pathlib import Path

import pytest

from heuristics.testing import Knapsack
from optmodels.errors import RequestError
from optmodels.studies import compare, write_parquet
from optmodels.studies.store.exporting import COLUMNS, NESTED, check_exports

ROOT = Path(__file__).parents[4]


@pytest.fixture
def made():
    return compare(["gautam-2x3", Knapsack()], ["exhaustive", "highs", "annealing:steps=30"], seeds=2, evaluations=50)


def test_every_column_is_described(made):
    for row in made.rows():
        assert list(row) == list(COLUMNS)


def test_the_page_lists_every_column_with_its_unit():
    page = (ROOT / "docs" / "guide" / "comparing.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.M))
    for name, told in {**COLUMNS, **NESTED}.items():
        assert rows.get(name) == f"{told.type} | {told.unit} | {told.meaning}", name


def test_a_parquet_file_holds_every_run_with_its_trace(made, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(made, tmp_path / "runs.parquet")
    table = parquet.read_table(tmp_path / "runs.parquet")
    assert table.column_names == [*COLUMNS, *NESTED]
    for name, told in COLUMNS.items():
        field = table.schema.field(name)
        assert str(field.type) == {"float64": "double"}.get(told.type, told.type)
        assert field.metadata[b"unit"].decode() == told.unit
    rows = table.to_pylist()
    assert [{name: row[name] for name in COLUMNS} for row in rows] == made.rows()
    for row, run in zip(rows, made.runs, strict=True):
        told = [(point["seconds"], point["evaluations"], point["objective"], point["bound"]) for point in row["trace"]]
        assert told == [(p.seconds, p.evaluations, p.objective, p.bound) for p in run.result.trace]
        decision = None if row["decision"] is None else tuple(json.loads(row["decision"]))
        assert decision == run.result.decision


def test_exports_that_will_not_be_possible_are_refused_before_the_work(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(RequestError, match="the folder is not empty"):
        check_exports(None, tmp_path / "full")
    with pytest.raises(RequestError, match="there is no such folder"):
        check_exports(tmp_path / "none" / "runs.parquet", None)
    with pytest.raises(RequestError, match="this is a directory"):
        check_exports(tmp_path / "full", None)
    check_exports(None, tmp_path / "new")
