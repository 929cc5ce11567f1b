"""Results as JSON, and back."""

import doctest
import hashlib
import json
import math
import os
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

import optmodels as om
import optmodels.results
from heuristics import Evaluation, Result, Status, TracePoint
from optmodels.errors import InstanceError, RequestError
from optmodels.results import FIELDS, file_stem, plain, read_result, result_from_data, result_to_data, write_result

RESULT = Result(
    problem="p",
    status=Status.FEASIBLE,
    decision=(0, 1, 1),
    evaluation=Evaluation(8.0, {"kept": 0.0}, {"opening": 8.0, "undefined": None}),
    bound=7.5,
    stopped_by="seconds",
    evaluations=64,
    judged_in_full=3,
    seconds=0.25,
    trace=(TracePoint(0.1, 3, 9.0), TracePoint(0.2, 5, 8.0, 7.5)),
    extra={"load": [1, None]},
    checked=True,
    strategy="annealing",
    parameters={"steps": None},
    seed=4,
    kind="placement",
    versions={"optmodels": "0.1.0"},
)

CONTRACT = (
    "format", "problem", "kind", "strategy", "parameters", "seed", "status", "objective", "bound", "gap", "decision",
    "measures", "violations", "extra", "evaluations", "seconds", "stopped_by", "checked", "versions",
)  # fmt: skip


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.results).failed == 0


def test_a_result_has_every_name_of_the_contract_and_a_trace():
    data = result_to_data(RESULT)
    assert set(CONTRACT) | {"trace", "judged_in_full"} == set(data) == set(FIELDS)
    assert (data["format"], data["status"], data["objective"], data["bound"]) == (1, "feasible", 8.0, 7.5)
    assert data["gap"] == pytest.approx(0.5 / 7.5)
    assert data["violations"] == {}
    assert data["trace"][1] == {"seconds": 0.2, "evaluations": 5, "objective": 8.0, "bound": 7.5}


def test_a_result_survives_the_way_to_a_file_and_back(tmp_path):
    write_result(RESULT, tmp_path / "r.json")
    again = read_result(tmp_path / "r.json")
    assert again == replace(RESULT, evaluation=Evaluation(8.0, {}, {"opening": 8.0, "undefined": None}))
    assert result_to_data(again) == result_to_data(RESULT)


def test_a_result_without_a_decision_survives_too(tmp_path):
    nothing = replace(RESULT, decision=None, evaluation=None, status=Status.INFEASIBLE, bound=None)
    write_result(nothing, tmp_path / "r.json")
    assert read_result(tmp_path / "r.json") == nothing
    assert json.loads((tmp_path / "r.json").read_text())["decision"] is None


def test_numbers_are_finite_or_null():
    strange = replace(RESULT, bound=-math.inf, extra={"a": math.nan, "b": np.array([1.0, math.inf]), "c": np.int64(3)})
    data = result_to_data(strange)
    assert data["bound"] is None
    assert data["gap"] is None
    assert data["extra"] == {"a": None, "b": [1.0, None], "c": 3}
    json.dumps(data, allow_nan=False)


def test_whatever_stands_in_extra_becomes_json():
    value = {1: (Status.OPTIMAL, {3}, np.bool_(True), Evaluation(1.0)), "n": np.float32(0.5), "o": object}
    assert json.loads(json.dumps(plain(value)))["1"][:3] == ["optimal", [3], True]


@pytest.mark.parametrize("wrap", [tuple, np.array, lambda v: {"schedule": v}], ids=["tuple", "array", "object"])
def test_a_long_decision_goes_to_a_file_of_its_own(tmp_path, monkeypatch, wrap):
    monkeypatch.setattr(optmodels.results, "LONGEST_DECISION", 5)
    values = [0.25 * i for i in range(8)]
    write_result(replace(RESULT, decision=wrap(values)), tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text())["decision"]
    told = told.get("schedule", told)
    assert told["rows"] == 8
    assert (tmp_path / told["file"]).is_file()
    read = read_result(tmp_path / "r.json").decision
    assert list(read["schedule"] if isinstance(read, dict) else read) == values


def test_a_decision_of_just_the_longest_length_stays_in_the_result():
    decision = (0,) * optmodels.results.LONGEST_DECISION
    assert len(result_to_data(replace(RESULT, decision=decision))["decision"]) == 100_000


def test_a_decision_file_that_was_changed_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(optmodels.results, "LONGEST_DECISION", 2)
    write_result(RESULT, tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text())["decision"]
    np.save(tmp_path / told["file"], np.array([1, 1, 1]))
    with pytest.raises(InstanceError, match="has changed since it was written"):
        read_result(tmp_path / "r.json")
    (tmp_path / told["file"]).unlink()
    with pytest.raises(InstanceError, match="there is no such file beside the result"):
        read_result(tmp_path / "r.json")


def told_of(file, rows):
    """A result that names a file beside it, as it stands there."""
    told = {"file": file.name, "rows": rows, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    result = file.parent / "r.json"
    result.write_text(json.dumps(result_to_data(RESULT) | {"decision": told}))
    return result


@pytest.mark.parametrize("rows", [2, 4, 0, -3, None, "3", True, 3.5, [3]])
def test_a_decision_file_with_more_rows_than_told_or_fewer_is_refused(tmp_path, rows):
    np.save(tmp_path / "d.npy", np.array([0.0, 0.5, 0.5]))
    assert len(read_result(told_of(tmp_path / "d.npy", 3)).decision) == 3
    with pytest.raises(InstanceError, match=r"r.json: decision.rows is .*; d.npy holds 3\.$"):
        read_result(told_of(tmp_path / "d.npy", rows))


@pytest.mark.parametrize("rows", [2, 4])
def test_a_parquet_file_with_more_rows_than_told_or_fewer_is_refused(tmp_path, rows):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"frequency": [0.0, 0.5, 0.5]}), tmp_path / "d.parquet")
    assert len(read_result(told_of(tmp_path / "d.parquet", 3)).decision) == 3
    with pytest.raises(InstanceError, match=r"decision.rows is .*; d.parquet holds 3\.$"):
        read_result(told_of(tmp_path / "d.parquet", rows))


def odd_files(folder):
    """Files that hold no column of numbers, each in its own way."""
    np.save(folder / "zero-dimensional.npy", np.array(3.0))
    np.savez(folder / "several.npy", a=np.ones(2))
    (folder / "several.npy.npz").rename(folder / "several.npy")
    (folder / "empty.npy").write_bytes(b"")
    (folder / "text.npy").write_bytes(b"not an array at all")
    (folder / "torn.npy").write_bytes((folder / "zero-dimensional.npy").read_bytes()[:20])
    (folder / "text.parquet").write_bytes(b"PAR1 and no more")
    (folder / "empty.parquet").write_bytes(b"")
    (folder / "folder.npy").mkdir()
    return [file for file in sorted(folder.iterdir()) if file.is_file()]


def test_files_that_hold_no_column_are_refused_in_one_sentence(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({}), tmp_path / "no-columns.parquet")
    for file in odd_files(tmp_path):
        names = r"r.json: decision.file is .*; it holds no column of numbers: |parquet: (this is no|a column of)"
        with pytest.raises(InstanceError, match=rf"({names}).+\.$"):
            read_result(told_of(file, 0))
    told = {"file": "folder.npy", "rows": 0, "sha256": ""}
    (tmp_path / "r.json").write_text(json.dumps(result_to_data(RESULT) | {"decision": told}))
    with pytest.raises(InstanceError, match="there is no such file beside the result"):
        read_result(tmp_path / "r.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are for Unix")
@pytest.mark.parametrize("name", ["pipe.npy", "pipe.parquet"])
def test_a_pipe_is_no_decision_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    told = {"file": name, "rows": 0, "sha256": ""}
    (tmp_path / "r.json").write_text(json.dumps(result_to_data(RESULT) | {"decision": told}))
    with pytest.raises(InstanceError, match="there is no such file beside the result"):
        read_result(tmp_path / "r.json")


def test_a_decision_file_elsewhere_is_refused(tmp_path):
    data = result_to_data(RESULT) | {"decision": {"file": "../x.npy", "rows": 1, "sha256": ""}}
    (tmp_path / "r.json").write_text(json.dumps(data))
    with pytest.raises(InstanceError, match="stay inside its folder"):
        read_result(tmp_path / "r.json")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "format is 2; this version reads results of format 1"),
        ({"status": "great"}, 'status is "great"; a status is one of optimal'),
        ({"objective": "8"}, 'objective is "8"; this is a finite number'),
        ({"seed": 1.5}, "seed is 1.5; a seed is a whole number"),
        ({"measures": [1]}, "measures is \\[1\\]; this is an object"),
        ({"measures": {"a": "b"}}, 'measures.a is "b"; this is a finite number'),
        ({"trace": [3]}, "trace\\[0\\] is 3; each point"),
        ({"trace": 5}, "trace is 5; this is a list"),
        ({"trace": {"seconds": 1}}, 'trace is {"seconds": 1}; this is a list'),
        ({"trace": "abc"}, 'trace is "abc"; this is a list'),
        ({"trace": [{"objective": "8"}]}, 'trace\\[0\\].objective is "8"; this is a finite number'),
        ({"objective": 10**400}, "objective is 1000.*; this is a finite number"),
        ({"bound": True}, "bound is true; this is a finite number"),
        ({"evaluations": 10**400}, "evaluations is 1000.*; this is a finite number"),
        ({"kind": 3}, "kind is 3; this is a text"),
        ({"desicion": []}, "desicion is \\[\\]; a result has no such field. Did you mean 'decision'"),
    ],
)
def test_a_result_not_understood_is_refused(change, sentence):
    with pytest.raises(InstanceError, match=f"^{sentence}"):
        result_from_data(result_to_data(RESULT) | change)


@pytest.mark.parametrize("data", [[], None, {}, {"format": 1}, {"format": 1, "problem": "p", "status": "optimal"}])
def test_what_is_no_result_is_refused(data):
    with pytest.raises(InstanceError):
        result_from_data(data)


def test_file_names_are_safe_and_distinct():
    assert file_stem("grid", "genetic", 1) == "grid_genetic_1"
    stems = {file_stem("a/b"), file_stem("a:b"), file_stem("a b"), file_stem("../a-b"), file_stem("a-b"), file_stem("")}
    assert len(stems) == 6
    assert not any("/" in stem or stem.startswith(".") for stem in stems)
    assert len(file_stem("x" * 500)) < 120


# -- what solve and evaluate return ------------------------------------------------------------------------------------


def test_a_result_is_pickled_without_its_problem_and_compares_as_before():
    answer = om.solve("gautam-2x3", "exhaustive")
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer
    assert (again.asked, again.best_known, again.gap_to_best_known) == (None, 8.0, 0.0)
    assert (type(again), again.of("gautam-2x3").asked.name) == (om.Result, "gautam-2x3")
    large = replace(answer, asked=type("Large", (), {"name": "x", "load": bytearray(10**6)})())
    assert len(pickle.dumps(large)) < 10_000


def test_equality_is_that_of_what_is_said():
    problem = om.load("gautam-2x3")
    answer = om.solve(problem, "exhaustive")
    plain_one = Result(**{one.name: getattr(answer, one.name) for one in fields(Result)})
    assert plain_one == answer
    assert answer == plain_one
    assert answer == replace(answer, asked=None, best_known=None)
    assert answer != replace(answer, bound=7.0)
    assert plain_one != replace(answer, seed=1)
    assert answer != "gautam-2x3"


def test_the_problem_of_a_result_goes_into_no_file(tmp_path):
    answer = om.solve("gautam-2x3", "exhaustive")
    assert answer.asked is not None
    data = write_result(answer, tmp_path / "r.json")
    assert set(data) == set(FIELDS)
    read = read_result(tmp_path / "r.json")
    assert type(read) is om.Result
    assert read == replace(answer, evaluation=Evaluation(8.0, {}, answer.measures), extra=data["extra"])
    assert (read.asked, read.gap_to_best_known) == (None, None)


def test_a_result_of_a_file_is_told_its_problem(tmp_path):
    write_result(om.solve("gautam-2x3", "exhaustive"), tmp_path / "r.json")
    read = read_result(tmp_path / "r.json")
    with pytest.raises(RequestError, match=r"does not hold its problem, 'gautam-2x3'; tell it: result\.of\(problem\)"):
        read.plot()
    with pytest.raises(RequestError, match="does not hold its problem"):
        om.verify(read)
    with pytest.raises(RequestError, match="this is an answer to 'gautam-2x3', not to 'gautam-4x4'"):
        read.of("gautam-4x4")
    told = read.of("gautam-2x3")
    assert told.gap_to_best_known == 0.0
    assert len(told.plot().axes) > 0
    assert om.verify(told).verified
    assert om.verify(tmp_path / "r.json", "gautam-2x3").verified


def test_measures_and_gaps_of_an_answer():
    best, worse = om.solve("gautam-2x3", "exhaustive"), om.evaluate("gautam-2x3", [1, 1, 1, 1, 1, 1])
    assert best.measures == dict(best.evaluation.measures)
    assert worse.gap_to_best_known == pytest.approx((23 - 8) / 8)
    assert replace(best, decision=None, evaluation=None).measures == {}
    assert replace(best, decision=None, evaluation=None).gap_to_best_known is None
