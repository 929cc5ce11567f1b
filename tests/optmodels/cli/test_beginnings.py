"""What a new user meets first: a skeleton to begin with, kernels compiled once, and what is installed here."""

import json
import os

import pytest

import optmodels as om
from optmodels.cli import main
from optmodels.cli.doctor import cache, examined, extras
from optmodels.cli.starting import notes_on, skeleton
from optmodels.cli.warming import cases_of
from optmodels.instance import data_fields
from optmodels.kinds import Kind
from optmodels.registry import kinds

KINDS = ("freshness", "placement", "robots", "routing", "threshold")


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def bare():
    """A kind that has nothing to begin with."""
    kinds.register("bare", Kind("bare", "Which?", "none", "collections:Counter", {"x": "none"}))
    yield
    kinds.unregister("bare")


# -- new --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_is_checked_and_solved_as_it_is(call, kind):
    code, out, err = call("new", kind, "--out", "mine.json")
    assert (code, out) == (0, "")
    assert err.startswith("optmodels: wrote mine.json; its notes explain the fields. Edit it, then: optmodels check")
    assert call("check", "mine.json")[0] == 0
    code, out, _ = call("solve", "mine.json", "--json")
    assert (code, json.loads(out)["status"], json.loads(out)["problem"]) == (0, "optimal", f"my-{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_the_notes_of_a_skeleton_have_a_line_for_each_field_and_measure(kind):
    lines = notes_on(kind).splitlines()
    assert skeleton(kind).notes.splitlines() == lines
    for row in data_fields(kind):
        assert any(line.startswith(f"{row.field} (") and line.endswith(row.meaning) for line in lines)
    for measure, meaning in kinds[kind].measures.items():
        assert f"{measure}: {meaning}" in lines


def test_a_new_placement_begins_with_numbers_for_all_sites_and_the_safe_guarantee():
    data = skeleton("placement").data
    assert "guarantee" not in data["quality"]
    assert data["think_time"] == {"base": 0.8, "per_distance": 0.2}


def test_without_a_file_the_skeleton_goes_to_stdout(call):
    code, out, err = call("new", "routing")
    assert code == 0
    assert om.Instance.from_data(json.loads(out)) == skeleton("routing")
    assert "--out routing.json writes it to a file" in err


def test_a_file_that_is_there_is_not_overwritten(call, tmp_path):
    (tmp_path / "mine.json").write_text("my work")
    code, out, err = call("new", "placement", "--out", "mine.json")
    assert (code, out) == (2, "")
    assert err == "optmodels: mine.json: this file exists, and is not overwritten; choose another name.\n"
    assert (tmp_path / "mine.json").read_text() == "my work"
    code, out, err = call("new", "placement", "--out", "nowhere/mine.json")
    assert (code, "there is no folder 'nowhere'" in err) == (2, True)


def test_a_kind_that_is_not_known_or_has_nothing_to_begin_with_is_refused(call, bare):
    code, _, err = call("new", "placment")
    assert (code, "Did you mean 'placement'?" in err) == (2, True)
    code, _, err = call("new", "bare")
    assert (code, err) == (2, "optmodels: kind 'bare' has neither an example nor a generator to begin with.\n")


def test_a_skeleton_in_json_tells_where_it_is(call):
    code, out, _ = call("new", "robots", "--out", "mine.json", "--json")
    assert (code, json.loads(out)) == (0, {"file": "mine.json", "kind": "robots", "name": "my-robots"})


# -- warm-up ----------------------------------------------------------------------------------------------------------


def test_warming_up_runs_every_strategy_of_a_kind_and_counts(call):
    code, out, err = call("warm-up", "threshold")
    lines = err.splitlines()
    assert (code, out) == (0, "")
    assert lines[0] == "optmodels: 1 of 8: threshold by exhaustive"
    assert lines[7] == "optmodels: 8 of 8: threshold, simulated"
    assert lines[-1].startswith("optmodels: done; ")


def test_every_strategy_that_records_name_is_warmed_up():
    found = {(case.kind, case.strategy) for case in cases_of(KINDS)}
    assert {(kind, name) for kind in KINDS for name in kinds[kind].strategies} <= found
    assert {kind for kind, strategy in found if strategy is None} == {kind for kind in KINDS if kinds[kind].simulated}


def test_what_fails_is_told_and_the_others_go_on(call, monkeypatch):
    def failing(*arguments, **options):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("optmodels.solving.solve", failing)
    code, out, err = call("warm-up", "placement", "--json")
    told = json.loads(out)
    assert (code, told["runs"], len(told["failed"])) == (2, 9, 9)
    assert "placement by highs: RuntimeError: cannot cache function" in err


def test_ctrl_c_ends_warming_up_and_not_one_run_of_it(call, monkeypatch):
    made = []

    def interrupted(problem, strategy, **options):
        made.append(strategy)
        return om.Result(problem.name, om.Status.UNKNOWN, None, None, stopped_by="interrupt")

    monkeypatch.setattr("optmodels.solving.solve", interrupted)
    code, out, err = call("warm-up", "placement")
    assert (code, out, made) == (3, "", ["highs"])
    assert err.endswith("optmodels: interrupted before there was an answer.\n")


def test_a_kind_that_is_not_known_is_refused_before_anything_is_compiled(call):
    code, out, err = call("warm-up", "placement", "routin")
    assert (code, out) == (2, "")
    assert err.startswith("optmodels: no problem kind is called 'routin'. Did you mean 'routing'?")


def test_a_kind_without_instances_is_passed_by(call, bare):
    assert call("warm-up", "bare")[0] == 0


# -- doctor -----------------------------------------------------------------------------------------------------------


def test_the_doctor_tells_versions_solvers_extras_cache_cores_and_instances(call):
    code, out, err = call("doctor", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["versions"]["optmodels"] == om.__version__
    assert all(found["versions"].values())
    assert found["solvers"]["highs"]
    assert {"plots", "scale", "scip", "cpsat", "topohub"} <= set(found["extras"])
    assert "dev" not in found["extras"]
    assert found["cache"]["writable"] is True
    assert 1 <= found["cores"]["usable"] <= found["cores"]["of"]
    assert set(found["instances"]["kinds"]) == set(KINDS)
    text = call("doctor")[1]
    for name in ("numpy", "solvers", "extra plots", "cache", "cores", "instances", "plug-ins"):
        assert any(line.startswith(f"{name} ") for line in text.splitlines())


def test_a_cache_that_cannot_be_written_to_is_told(call, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    found = cache()
    assert (found["writable"], found["compiled"]) == (False, 0)
    assert "NOT writable" in call("doctor")[1]
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "not-yet"))
    assert "optmodels warm-up" in cache()["told"]
    assert not (tmp_path / "not-yet").exists()


def test_what_is_missing_is_told_with_the_command_that_brings_it(call, monkeypatch):
    before = examined.__globals__["_version"]
    monkeypatch.setattr("optmodels.cli.doctor._version", lambda name: None if name == "matplotlib" else before(name))
    assert extras()["plots"] == {
        "installed": False,
        "needs": ["matplotlib"],
        "command": "pip install 'optmodels[plots]'",
    }
    assert "missing: pip install 'optmodels[plots]'" in call("doctor")[1]


def test_cores_are_counted_where_no_system_call_tells(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert examined()["cores"]["usable"] == os.cpu_count()


def test_a_new_instance_begins_with_what_users_have(capsys):
    """Rates and arrivals, not costs of gaps; room for more than one page."""
    assert main(["new", "routing", "--json"]) == 0
    assert {"servers", "arrivals", "application"} <= set(json.loads(capsys.readouterr().out)["data"])
    assert main(["new", "threshold", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["capacity"] == 5
