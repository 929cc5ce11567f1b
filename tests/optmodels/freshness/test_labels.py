"""Numbers of hosts are labels, and tables of pages that are none are refused in one sentence."""

import hashlib
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import optmodels as om
from heuristics import UnsupportedProblem
from optmodels.cli import main
from optmodels.errors import InstanceError
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.rules import numbered
from optmodels.freshness.schedules import write_visits

SIX = {
    "change_rates": [0.5, 1.0, 2.0, 0.1, 0.7, 3.0],
    "weights": [1.0, 2.0, 1.0, 3.0, 1.0, 1.0],
    "access_time": {"law": "constant", "value": 1.0},
}
POLITE = ("lagrangian", "greedy", "whittle", "uniform", "proportional")


def of(hosts, **more):
    return FreshnessProblem.from_data(SIX | {"hosts": hosts} | more, name="six")


# -- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more", [{"host_caps": 0.5}, {"host_gap": 2}, {"host_gap": 3, "host_caps": 0.3333333333333333}]
)
def test_another_numbering_of_hosts_changes_nothing(more):
    plain, far = of([0, 1, 2, 0, 1, 2], **more), of([5, 70, 9_999_999, 5, 70, 9_999_999], **more)
    for name in POLITE:
        first, second = om.solve(plain, name), om.solve(far, name)
        assert first.objective == second.objective, name
        assert str(first.decision) == str(second.decision), name
    assert far.rules.host_count == 3  # tables are as long as there are hosts


def test_two_pages_on_far_hosts_take_ordinary_memory():
    """Tables as long as the largest label took 1.35 GB."""
    two = SIX | {"change_rates": [1.0, 2.0], "weights": [1, 1], "hosts": [0, 9_999_999], "host_caps": 0.7}
    problem = FreshnessProblem.from_data(two, name="two")
    assert (problem.rules.hosts.tolist(), problem.rules.labels.tolist()) == ([0, 1], [0, 9_999_999])
    assert len(problem.rules.shares) == len(problem.allocation().host_multipliers) == 2
    assert problem.to_data()["host_caps"] == 0.7


def test_caps_in_a_list_are_found_by_label_and_written_back_so():
    caps = [None, 0.25, None, None, 0.75]
    problem = of([1, 4, 4, 1, 4, 4], host_caps=caps)
    assert problem.rules.caps.tolist() == [0.25, 0.75]
    assert problem.to_data()["host_caps"] == [None, 0.25, None, None, 0.75]
    assert of([1, 4, 4, 1, 4, 4], host_caps=problem.to_data()["host_caps"]).to_data() == problem.to_data()
    with pytest.raises(InstanceError, match=r"each of the hosts 0 to 4 needs one, null for none, and here are 2\."):
        of([1, 4, 4, 1, 4, 4], host_caps=[0.25, 0.75])


def test_a_crowded_host_is_named_as_in_the_file():
    with pytest.raises(InstanceError, match=r"least frequencies of the pages on host 40 add up to 0\.3 visits"):
        of([40, 40, 7, 7, 7, 7], host_caps=[None] * 7 + [1.0] + [None] * 32 + [0.2], min_frequency=0.15)


def test_visits_are_written_with_the_labels_of_the_file(tmp_path):
    problem = of([5, 70, 9_999_999, 5, 70, 9_999_999], host_gap=3)
    write_visits(problem, om.solve(problem, "greedy").decision, tmp_path / "v.csv", slots=9)
    lines = [line.split(",") for line in (tmp_path / "v.csv").read_text().splitlines()]
    column = lines[0].index("host")
    assert {line[column] for line in lines[1:]} == {"5", "70", "9999999"}


def test_hosts_are_numbered_in_the_order_of_their_labels():
    rng = np.random.default_rng(1)
    for largest in (3, 50, 10**4, 10**7 - 1):
        labels = rng.integers(0, largest + 1, 40)
        hosts, names = numbered(labels)
        assert set(hosts.tolist()) == set(range(len(set(labels.tolist()))))
        np.testing.assert_array_equal(hosts if names is None else names[hosts], labels)
        assert names is None or (np.diff(names) > 0).all()


def test_adaptive_says_why_it_takes_no_hosts():
    problem = of([0, 1, 2, 0, 1, 2], host_gap=2)
    with pytest.raises(UnsupportedProblem, match=r"'adaptive' .* keeps no gaps and caps of hosts, and 'six' "):
        om.solve(problem, "adaptive")
    with pytest.raises(UnsupportedProblem, match=r"'adaptive' .* no least frequencies"):
        om.solve(FreshnessProblem.from_data(SIX | {"min_frequency": 0.01}, name="six"), "adaptive")
    assert om.solve(of([0, 1, 2, 0, 1, 2]), "adaptive:rounds=2,replications=0").decision is not None  # hosts, no rule


# -- tables that are none ---------------------------------------------------------------------------------------------


@pytest.fixture
def instance(tmp_path, monkeypatch):
    """The path of an instance whose pages are in the file `pages.parquet` beside it."""
    monkeypatch.chdir(tmp_path)
    data = {"pages": "pages.parquet", "access_time": {"law": "constant", "value": 1.0}}
    content = {"format": 1, "kind": "freshness", "name": "odd", "data": data}
    (tmp_path / "odd.json").write_text(json.dumps(content))
    return tmp_path / "odd.json"


def refused(capsys, *words):
    code = main([str(word) for word in words])
    told = capsys.readouterr()
    assert (code, told.out, told.err.count("\n")) == (2, "", 1)
    return told.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.timeout(60)
def test_a_pipe_is_no_table_of_pages(instance, capsys):
    os.mkfifo(instance.parent / "pages.parquet")
    assert "pages.parquet: this is neither a file nor a folder" in refused(
        capsys, "solve", instance, "--strategy", "lagrangian"
    )


def test_a_table_without_columns_is_refused(instance, capsys):
    pq.write_table(pa.table({}), instance.parent / "pages.parquet")
    assert "column change_rate is missing" in refused(capsys, "solve", instance, "--strategy", "greedy")


def test_a_decision_without_columns_is_refused(instance, capsys):
    pq.write_table(pa.table({"change_rate": [1.0, 2.0], "weight": [1.0, 1.0]}), instance.parent / "pages.parquet")
    assert main(["solve", str(instance), "--strategy", "lagrangian", "--out", "answer.json"]) == 0
    capsys.readouterr()
    answer = json.loads((instance.parent / "answer.json").read_text())
    for table, sentence in (
        (pa.table({}), "a column of frequencies is one column, and here are 0."),
        (pa.table({"a": [0.5, 0.5], "b": [0.5, 0.5]}), "a column of frequencies is one column, and here are 2."),
        (None, "this is no Parquet file"),
    ):
        file = instance.parent / "f.parquet"
        if table is None:
            file.write_bytes(b"PAR1 is how it begins")
        else:
            pq.write_table(table, file)
        told = {"file": "f.parquet", "rows": 2, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        (instance.parent / "answer.json").write_text(json.dumps(answer | {"decision": told}))
        assert sentence in refused(capsys, "verify", "answer.json", instance)


def test_pages_cannot_be_written_to_parquet_without_pyarrow(tmp_path, monkeypatch, capsys):
    for module in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = ["generate", "freshness", "--pages", "10", "--seed", "1", "--out", str(tmp_path / "x.parquet")]
    assert "Parquet files need pyarrow: pip install 'optmodels[scale]'." in refused(capsys, *words)
    assert list(tmp_path.iterdir()) == []
