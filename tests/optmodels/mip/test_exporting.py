"""Programs as files: what others read from them has our optimum, and names that people can read."""

import importlib
import json
import math
from dataclasses import replace
from pathlib import Path

import highspy
import numpy as np
import pytest

import optmodels as om
from heuristics.testing import Knapsack
from optmodels.cli import main
from optmodels.costs import WeightedSum
from optmodels.errors import RequestError
from optmodels.mip.checking import enumerated, integers, knapsack, mixed, program
from optmodels.mip.exporting import exporting_kinds, lp_text, mps_text, symbols
from optmodels.registry import kinds

PLUGIN = Path(__file__).parents[2] / "plugins" / "optmodels-staffing"


def read(path):
    """A file as HiGHS reads it, solved."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    assert highs.run() == highspy.HighsStatus.kOk
    return highs


def by_scip(path):
    """The optimum of a file as SCIP reads it."""
    model = pytest.importorskip("pyscipopt").Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    return model.getObjVal()


# -- instances ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["mps", "lp"])
@pytest.mark.parametrize("name", ["gautam-2x3", "gautam-4x4"])
def test_what_others_read_has_our_optimum(name, ending, tmp_path):
    file = tmp_path / f"model.{ending}"
    written = om.export(name, file)
    best = om.solve(name, "highs").objective
    highs = read(file)
    assert highs.getInfo().objective_function_value == pytest.approx(best, rel=1e-6)
    assert by_scip(file) == pytest.approx(best, rel=1e-6)
    lp = highs.getLp()
    assert sorted(lp.col_names_) == sorted(written.column_names)
    assert set(lp.row_names_) == set(written.row_names)
    assert int(sum(kind == highspy.HighsVarType.kInteger for kind in lp.integrality_)) == int(written.whole.sum())


def test_the_decision_in_a_file_is_read_by_the_names_of_sites(tmp_path):
    problem = om.load("gautam-2x3")
    om.export(problem, tmp_path / "model.mps")
    highs = read(tmp_path / "model.mps")
    values = dict(zip(highs.getLp().col_names_, highs.getSolution().col_value, strict=True))
    decision = tuple(round(values[f"is_open_cell_{row}_{column}"]) for row in range(2) for column in range(3))
    assert problem.evaluate(decision).feasible
    assert problem.evaluate(decision).objective == 8.0


@pytest.mark.parametrize("ending", ["mps", "lp"])
@pytest.mark.parametrize("weight", [1e-3, 1 / 3, 1e5])
def test_costs_are_in_the_unit_of_the_instance(weight, ending, tmp_path):
    problem = replace(om.load("gautam-2x3"), cost=WeightedSum({"opening": weight, "open_sites": weight / 7}))
    om.export(problem, tmp_path / f"model.{ending}")
    best = om.solve(problem, "exhaustive").objective
    assert read(tmp_path / f"model.{ending}").getInfo().objective_function_value == pytest.approx(best, rel=1e-6)


def test_a_kind_of_another_distribution_is_exported_too(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(PLUGIN))
    record = importlib.import_module("optmodels_staffing.kind").KIND
    kinds.register(record.name, record)
    try:
        om.export(record.example_file(), tmp_path / "day.lp")
        assert exporting_kinds() == sorted(exporting_kinds()) and {"placement", "staffing"} <= set(exporting_kinds())
    finally:
        kinds.unregister(record.name)
    assert read(tmp_path / "day.lp").getInfo().objective_function_value == pytest.approx(15.0)
    assert "chosen_0_3" in (tmp_path / "day.lp").read_text()


# -- programs ----------------------------------------------------------------------------------------------------------

INF = math.inf
FREE = program(
    [1.0, -2.0, 0.5, 1.0, 0.0],
    [[1, 1, 0, 0, 0], [0, 1, -1, 0, 0], [1, 0, 0, 1e-7, 0], [0, 0, 0, 0, 0]],
    [(-4.5, INF), (-INF, 2.25), (-10.0, 12.0), (-INF, 3.0)],
    [(-INF, INF), (-INF, 3.0), (-1.5, INF), (2.0, 2.0), (0.0, 1.0)],
    [False, True, False, False, True],
    offset=-1e-3,
    name="free",
)


@pytest.mark.parametrize("text", [mps_text, lp_text], ids=["mps", "lp"])
@pytest.mark.parametrize(
    ("listed", "best"),
    [
        (knapsack(), enumerated(knapsack())),
        (integers(), enumerated(integers())),
        (mixed(), 5.5),
        (FREE, None),
    ],
    ids=["knapsack", "integers", "mixed", "free"],
)
def test_a_program_survives_the_way_to_a_file(listed, best, text, tmp_path):
    file = tmp_path / ("model.mps" if text is mps_text else "model.lp")
    file.write_text(text(listed))
    highs = read(file)
    lp = highs.getLp()
    place = {name: j for j, name in enumerate(lp.col_names_)}
    order = [place[name] for name in listed.column_names]
    assert np.array_equal(np.array(lp.col_cost_)[order], listed.cost)
    assert np.array_equal(np.array(lp.col_lower_)[order], listed.column_lower)
    assert np.array_equal(np.array(lp.col_upper_)[order], listed.column_upper)
    assert lp.offset_ == listed.offset
    assert (lp.sense_ == highspy.ObjSense.kMaximize) == listed.maximise
    if best is None:
        found = om.mip.load(listed)
        found.run()
        best = found.getInfo().objective_function_value
        assert math.isfinite(best)
    assert highs.getInfo().objective_function_value == pytest.approx(best, rel=1e-9)
    assert by_scip(file) == pytest.approx(best, rel=1e-6)


def test_symbols_are_different_and_none_means_something_else(tmp_path):
    names = ["free", "e1", "x[1,2]", "x_1_2", "1st", "märz", "", "st", "binary", "x" * 500, "x" * 500 + "y"]
    found = symbols(names, {})
    assert len(set(found)) == len(names)
    columns = len(names)
    listed = program([1.0] * columns, [[1.0] * columns], [(3.0, INF)], [(0.0, 1.0)] * columns, [True] * columns)
    for ending, text in (("mps", mps_text), ("lp", lp_text)):
        (tmp_path / f"m.{ending}").write_text(text(replace(listed, column_names=found)))
        highs = read(tmp_path / f"m.{ending}")
        assert highs.getInfo().objective_function_value == 3.0
        assert set(highs.getLp().col_names_) == set(found)


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_problem_that_is_no_program_is_refused_with_the_kinds_that_are(tmp_path):
    with pytest.raises(RequestError, match=r"'knapsack' cannot be exported: .*of kind .*placement"):
        om.export(Knapsack(), tmp_path / "model.mps")
    assert not list(tmp_path.iterdir())


def test_a_cost_that_is_not_linear_is_refused(tmp_path):
    problem = replace(om.load("gautam-2x3"), cost=lambda measures: measures["opening"] ** 2)
    with pytest.raises(RequestError, match=r"cannot be exported: .*linear"):
        om.export(problem, tmp_path / "model.mps")


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(RequestError, match=r"model\.txt: .* ends in \.mps or \.lp"):
        om.export("gautam-2x3", tmp_path / "model.txt")


def test_the_command_writes_and_tells(tmp_path, capsys):
    out = tmp_path / "model.mps"
    assert main(["export", "gautam-2x3", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(out) and told["columns"] > told["whole_columns"] >= 6
    assert read(out).getInfo().objective_function_value == pytest.approx(8.0)


def test_the_command_leaves_alone_what_it_reads_and_what_is_there(tmp_path, capsys):
    file = tmp_path / "mine.lp"
    file.write_bytes(Path("instances/placement/gautam-2x3.json").read_bytes())
    before = file.read_bytes()
    assert main(["export", str(file), "--out", str(file)]) == 2
    assert "this is, or lies in, what is read from" in capsys.readouterr().err
    assert main(["export", "gautam-2x3", "--out", str(tmp_path / "no" / "m.lp")]) == 2
    assert "there is no folder 'no'" in capsys.readouterr().err
    assert file.read_bytes() == before and list(tmp_path.iterdir()) == [file]
