"""Parameter studies."""

import csv
import doctest
import json
import re
import subprocess
import sys

import pytest

import optmodels.studies.runs
import optmodels.studies.sweeping
from heuristics import Budget
from optmodels.data import csv_text
from optmodels.errors import InstanceError, RequestError
from optmodels.generating import generate
from optmodels.instance import Instance, read
from optmodels.registry import make_strategy
from optmodels.solving import solve
from optmodels.studies import sweep
from optmodels.studies.sweeping import Axis, plot_sweep, put, steps


@pytest.fixture
def small(instances):
    return instances / "placement" / "gautam-2x3.json"


@pytest.fixture
def counted(monkeypatch):
    """Count the runs that are made; end the sweep at the run called so."""
    made = []
    solve_cell = optmodels.studies.runs.solve_cell

    def counting(problem, strategy, budget, seed, *further):
        made.append(problem)
        if len(made) == counting.interrupt_at:
            raise KeyboardInterrupt
        return solve_cell(problem, strategy, budget, seed, *further)

    counting.interrupt_at = None
    made_by = counting
    monkeypatch.setattr(optmodels.studies.runs, "solve_cell", counting)
    return made, made_by


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.studies.sweeping).failed == 0


# -- what to vary -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("data.x=1..4", (1, 2, 3, 4)),
        ("data.x=4..1", (4, 3, 2, 1)),
        ("data.x=1..10..4", (1, 5, 9)),
        ("data.x=10..1..-4", (10, 6, 2)),
        ("data.x=0..1..0.25", (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("data.x=0..0.3..0.1", (0.0, 0.1, 0.2, 0.3)),
        ("data.x=-2..1", (-2, -1, 0, 1)),
        ("data.x=3", (3,)),
        ("data.x=1,2.5,7..9", (1, 2.5, 7, 8, 9)),
        ("data.x=worst-case,farthest", ("worst-case", "farthest")),
        ("data.x=true,null", (True, None)),
        ("data.x = 1, 2", (1, 2)),
        ("data.x=1,1,2", (1, 2)),
    ],
)
def test_values_are_ranges_lists_and_texts(text, values):
    axis = Axis.parse(text)
    assert (axis.path, axis.values) == ("data.x", values)
    assert [type(value) for value in axis.values] == [type(value) for value in values]


@pytest.mark.parametrize(
    "text",
    [
        "data.x", "=1..3", "data.x=", "data.x=1..", "data.x=a..b", "data.x=1..2..3..4", "data.x=1..5..0",
        "data.x=1..5..-1", "data.x=1..1e9", "name=3", "data=3", "best_known.objective=1", "data..x=1", "data[0=1",
        "data.x[a]=1",
    ],
)  # fmt: skip
def test_what_cannot_be_varied_is_refused_in_one_sentence(text):
    with pytest.raises(RequestError) as failure:
        Axis.parse(text)
    assert "\n" not in str(failure.value)


def test_places_are_entered_by_dots_and_brackets():
    assert steps("data.a[0].b.3") == ["data", "a", 0, "b", 3]
    content = {"data": {"a": [[1, 2], [3, 4]], "b": {"c": 1}}, "limits": None}
    for path in ("data.a[1][0]", "data.a.0.1", "data.b.c", "data.b.new", "limits.loss"):
        put(content, path, 9)
    assert content == {"data": {"a": [[1, 9], [9, 4]], "b": {"c": 9, "new": 9}}, "limits": {"loss": 9}}


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("data.a[2]", "data.a is a list of 2, and 2 is no place in it"),
        ("data.a.x", "data.a is a list of 2, and 'x' is no place in it"),
        ("data.b.c.d", "data.b.c is 1 and has no fields"),
        ("data.z.c", "data has no field 'z'"),
        ("data.bb.c", r"data has no field 'bb'\. Did you mean 'b'\? Known: a, b\."),
    ],
)
def test_a_place_that_is_not_there_is_refused(path, sentence):
    with pytest.raises(InstanceError, match=sentence):
        put({"data": {"a": [1, 2], "b": {"c": 1}}}, path, 9)


# -- running ----------------------------------------------------------------------------------------------------------


def test_every_point_is_the_instance_with_its_value_changed(small):
    study = sweep(small, "data.service_rate=14..26..6", "exhaustive")
    assert [point.values for point in study.points] == [(14,), (20,), (26,)]
    content = read(small).to_data()
    for point in study.points:
        content["data"]["service_rate"] = point.values[0]
        alone = solve(
            Instance.from_data({k: v for k, v in content.items() if k != "best_known"}).problem(), "exhaustive"
        )
        assert (point.record["objective"], point.record["status"]) == (alone.objective, str(alone.status))
    objectives = [point.record["objective"] for point in study.points]
    assert objectives == sorted(objectives, reverse=True)
    assert len(set(objectives)) > 1


def test_several_places_make_all_combinations(small):
    study = sweep(small, ["data.service_rate=18,20", "data.opening_cost[0][2]=3,30"], "exhaustive")
    assert [point.values for point in study.points] == [(18, 3), (18, 30), (20, 3), (20, 30)]
    assert study.points[2].record["objective"] < study.points[3].record["objective"]


def test_a_mapping_and_an_instance_do_as_well(small):
    study = sweep(read(small), {"data.quality.guarantee": ["worst-case", "farthest"]}, "exhaustive")
    assert [point.record["data.quality.guarantee"] for point in study.points] == ["worst-case", "farthest"]


def test_a_point_that_makes_no_sense_is_a_line_with_a_sentence(small, tmp_path):
    study = sweep(small, "data.service_rate=-1,20", "exhaustive", out=tmp_path / "s.csv")
    bad, good = study.points
    assert "data.service_rate is -1" in bad.error
    assert good.error is None
    assert [row["status"] for row in rows(tmp_path / "s.csv")] == ["error", "optimal"]
    assert "data.service_rate = -1: " in study.table()


def test_a_sweep_of_which_no_point_makes_sense_is_refused(small):
    with pytest.raises(RequestError, match=r"data.service_rat is 1"):
        sweep(small, "data.service_rat=1..3", "exhaustive")


@pytest.mark.parametrize(
    "vary", [[], {}, {"data.x": []}, ["data.x=1", "data.x=2"], ["data.x=1..1000", "data.y=1..1000"]]
)
def test_a_sweep_over_nothing_or_too_much_is_refused(small, vary):
    with pytest.raises(RequestError):
        sweep(small, vary, "exhaustive")


def test_two_processes_give_the_same_points_as_one(small):
    alone, shared = (sweep(small, "data.service_rate=18..22..2", "exhaustive", workers=workers) for workers in (1, 2))
    same = [(point.values, point.record["objective"], point.record["decision"]) for point in alone.points]
    assert [(point.values, point.record["objective"], point.record["decision"]) for point in shared.points] == same


def test_the_csv_has_a_line_per_point_with_coordinates_outcome_and_measures(small, tmp_path):
    sweep(small, "data.service_rate=18,20", "annealing:steps=40", seed=3, evaluations=50, out=tmp_path / "s.csv")
    first, second = rows(tmp_path / "s.csv")
    assert (first["data.service_rate"], second["data.service_rate"]) == ("18", "20")
    assert (first["strategy"], first["seed"], first["budget_evaluations"]) == ("annealing:steps=40", "3", "50")
    assert float(second["open_sites"]) == sum(json.loads(second["decision"]))


# -- resuming ---------------------------------------------------------------------------------------------------------


def test_a_kind_may_have_more_columns_than_measures(instances, tmp_path):
    study = sweep(
        instances / "threshold" / "avrachenkov-k5.json", "data.capacity=1,5", "exhaustive", out=tmp_path / "t.csv"
    )
    lines = rows(tmp_path / "t.csv")
    assert [float(line["relative_profit"]) for line in lines] == pytest.approx([0.21208, 0.28927], abs=5e-6)
    assert float(lines[1]["single_mode_costs.3"]) == pytest.approx(89.4051, abs=5e-5)
    assert [line["decision"] for line in lines] == ["[-1, 0, 0]", "[-1, 2, 2]"]
    again = sweep(
        instances / "threshold" / "avrachenkov-k5.json", "data.capacity=1,5", "exhaustive", out=tmp_path / "t.csv"
    )
    assert [row["relative_profit"] for row in again.rows()] == pytest.approx(
        [row["relative_profit"] for row in study.rows()]
    )


def test_a_sweep_goes_on_from_its_file(small, tmp_path, counted):
    made, _ = counted
    out = tmp_path / "s.csv"
    sweep(small, "data.service_rate=18,20", "exhaustive", out=out)
    study = sweep(small, "data.service_rate=18..21", "exhaustive", out=out)
    assert len(made) == 4
    assert [point.values[0] for point in study.points] == [18, 19, 20, 21]
    assert [row["data.service_rate"] for row in rows(out)] == ["18", "19", "20", "21"]
    assert all(isinstance(point.record["objective"], (int, float)) for point in study.points)


def test_an_ended_sweep_keeps_what_is_finished(small, tmp_path, counted):
    made, counting = counted
    out = tmp_path / "s.csv"
    counting.interrupt_at = 3
    study = sweep(small, "data.service_rate=18..21", "exhaustive", out=out)
    assert not study.complete
    assert [point.values[0] for point in study.points] == [18, 19]
    assert "ended early" in study.table()
    counting.interrupt_at = None
    assert sweep(small, "data.service_rate=18..21", "exhaustive", out=out).complete
    assert len(made) == 3 + 2


def test_a_torn_last_line_is_run_again(small, tmp_path, counted):
    made, _ = counted
    out = tmp_path / "s.csv"
    sweep(small, "data.service_rate=18,20", "exhaustive", out=out)
    out.write_bytes(out.read_bytes()[:-20])
    sweep(small, "data.service_rate=18,20", "exhaustive", out=out)
    assert len(made) == 3
    assert [row["data.service_rate"] for row in rows(out)] == ["18", "20"]


def test_failed_points_are_tried_again_and_take_their_place(small, tmp_path, monkeypatch):
    """A point that failed is written, so that the file is complete, and not believed."""
    out, asked = tmp_path / "s.csv", []
    solve_cell = optmodels.studies.runs.solve_cell

    def failing(problem, *arguments):
        asked.append(float(problem.service_rate[0]))
        if len(asked) <= 3 and asked[-1] == 20.0:
            raise RuntimeError("fell over")
        return solve_cell(problem, *arguments)

    monkeypatch.setattr(optmodels.studies.runs, "solve_cell", failing)
    first = sweep(small, "data.service_rate=18,20,22", "exhaustive", out=out)
    assert [bool(point.error) for point in first.points] == [False, True, False]
    assert [row["status"] for row in rows(out)] == ["optimal", "error", "optimal"]
    again = sweep(small, "data.service_rate=18,20,22", "exhaustive", out=out)
    assert asked == [18.0, 20.0, 22.0, 20.0]
    assert [point.error for point in again.points] == [None, None, None]
    assert again.points[1].record["objective"] == solve_cell(changed(small, 20), *again_arguments()).objective
    assert [row["status"] for row in rows(out)] == ["optimal", "optimal", "optimal"]
    assert again.warnings == ()


def changed(small, rate):
    content = read(small).to_data()
    put(content, "data.service_rate", rate)
    content.pop("best_known")
    return Instance.from_data(content).problem()


def again_arguments():
    return make_strategy("exhaustive"), Budget(), 0


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("objective", "-1e9", "objective is -1000000000.0; the evaluator finds"),
        ("objective", "many", 'objective is "many"; this is a finite number'),
        ("objective", "True", "objective is true; this is a finite number"),
        ("objective", "", "objective is null; the evaluator finds"),
        ("opening", "1", "measures.opening is 1.0; the evaluator finds"),
        ("bound", "1e9", "bound is 1000000000.0; a feasible decision has the objective"),
        ("status", "feasibel", 'status is "feasibel"; a status is one of'),
        ("status", "infeasible", "a problem proved infeasible has no decision"),
        ("decision", "", "decision is null; there is an objective, and no decision that has it"),
        ("decision", "[0, 0]", "decision is"),
        ("decision", "[0, 0, 0, 0, 0, 0]", "objective is .*; the evaluator finds 0.0|not feasible"),
        ("decision", "[" * 100_000, "nested deeper"),
        ("decision", "{", "this is not JSON"),
    ],
)
def test_a_line_that_does_not_hold_is_run_again_with_a_warning(small, tmp_path, counted, column, value, reason):
    made, _ = counted
    out = tmp_path / "s.csv"
    sweep(small, "data.service_rate=18,20", "exhaustive", out=out)
    held = out.read_text()
    content = rows(out)
    content[1][column] = value
    out.write_text(csv_text(content))
    study = sweep(small, "data.service_rate=18,20", "exhaustive", out=out)
    assert len(made) == 3
    [warning] = study.warnings
    assert warning.startswith(f"{out}: the line of data.service_rate = 20 is not used: ")
    assert re.search(reason, warning), warning
    assert study.to_data()["warnings"] == [warning]
    times = ("seconds",)
    assert [{k: v for k, v in row.items() if k not in times} for row in rows(out)] == [
        {k: v for k, v in row.items() if k not in times} for row in csv.DictReader(held.splitlines())
    ]


def test_long_decisions_fit_into_a_cell_and_are_read_back(tmp_path, counted):
    made, _ = counted
    out, instance = tmp_path / "s.csv", generate("freshness", pages=8000, seed=1)
    vary = {"data.access_time.mean": [0.5, 1.0]}
    for _ in range(2):
        study = sweep(instance, vary, "lagrangian", out=out)
        assert study.warnings == ()
    assert len(made) == 2
    assert max(map(len, out.read_text().split('"'))) > 131_072, "longer than the library takes unless told"


def test_a_decision_too_long_for_a_cell_is_looked_for_again(tmp_path, counted, monkeypatch):
    made, _ = counted
    monkeypatch.setattr("optmodels.studies.sweep_file.LONGEST_DECISION", 5)
    out, instance = tmp_path / "s.csv", generate("freshness", pages=8, seed=1)
    for _ in range(2):
        study = sweep(instance, {"data.access_time.mean": [0.5]}, "lagrangian", out=out)
    assert len(made) == 2
    assert "there is an objective, and no decision that has it" in study.warnings[0]


def test_a_file_that_is_no_csv_is_refused(small, tmp_path):
    out = tmp_path / "s.csv"
    out.write_text("key,status,objective,data.service_rate\n" + "x" * 5_000_000 + "\n")
    with pytest.raises(RequestError, match=r"s.csv: this is no CSV file: field larger than field limit"):
        sweep(small, "data.service_rate=18", "exhaustive", out=out)


def test_another_seed_budget_or_instance_is_run_again_and_the_old_lines_stay(small, tmp_path, counted):
    made, _ = counted
    out = tmp_path / "s.csv"
    sweep(small, "data.service_rate=20", "exhaustive", out=out)
    sweep(small, "data.service_rate=20", "exhaustive", evaluations=64, out=out)
    sweep(small, "data.service_rate=20", "annealing", seed=1, evaluations=64, out=out)
    assert len(made) == 3
    assert len(rows(out)) == 3
    sweep(small, "data.service_rate=20", "exhaustive", out=out)
    assert len(made) == 3


def test_every_finished_point_is_on_disk_before_the_next(small, tmp_path, monkeypatch):
    out = tmp_path / "s.csv"
    lines = []
    solve_cell = optmodels.studies.runs.solve_cell

    def looking(*arguments):
        lines.append(len(out.read_text().splitlines()) if out.exists() else 0)
        return solve_cell(*arguments)

    monkeypatch.setattr(optmodels.studies.runs, "solve_cell", looking)
    sweep(small, "data.service_rate=18..20", "exhaustive", out=out)
    assert lines == [0, 2, 3]


def test_a_file_of_something_else_is_not_overwritten(small, tmp_path):
    out = tmp_path / "letters.csv"
    out.write_text("dear,reader\n1,2\n")
    with pytest.raises(RequestError, match=r"this file is not of a sweep over data.service_rate"):
        sweep(small, "data.service_rate=20", "exhaustive", out=out)
    assert out.read_text() == "dear,reader\n1,2\n"
    with pytest.raises(RequestError):
        sweep(small, "data.service_rate=20", "exhaustive", out=tmp_path)


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_the_picture_shows_the_objective_over_the_first_place(small, tmp_path):
    study = sweep(small, ["data.service_rate=18..22..2", "data.quality.delay=0.5,0.6"], "exhaustive")
    figure = plot_sweep(study, tmp_path / "s.svg")
    [axes] = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("service rate (per unit of time)", "objective")
    drawn = [line for line in axes.lines if line.get_gid() == "values"]
    assert [line.get_label() for line in drawn] == ["data.quality.delay = 0.5", "data.quality.delay = 0.6"]
    assert [list(line.get_xdata()) for line in drawn] == [[18, 20, 22]] * 2
    assert len([line for line in axes.lines if line.get_gid() == "bounds"]) == 2
    assert (tmp_path / "s.svg").read_text().startswith("<?xml")


def test_texts_are_drawn_as_places_on_the_axis(small):
    study = sweep(small, "data.quality.guarantee=worst-case,farthest", "exhaustive")
    [axes] = plot_sweep(study).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["worst-case", "farthest"]


# -- two sweeps, one file ---------------------------------------------------------------------------------------------


def test_what_another_sweep_writes_meanwhile_is_kept(small, tmp_path):
    """Each read the file when it began, and wrote it anew when it ended: the rows of one were lost."""
    out = tmp_path / "s.csv"

    def other(done, total, what):
        if done == 1:
            sweep(small, "data.service_rate=30,31,0", "exhaustive", out=out)

    sweep(small, "data.service_rate=20,21,22", "exhaustive", out=out, progress=other)
    found = rows(out)
    assert sorted(row["data.service_rate"] for row in found) == ["0", "20", "21", "22", "30", "31"]
    assert [row["data.service_rate"] for row in found if row["error"]] == ["0"]  # a failed point of the other is a row


def test_a_sweep_over_other_places_that_came_first_is_not_overwritten(small, tmp_path):
    out = tmp_path / "s.csv"

    def other(done, total, what):
        if done == 0:
            return
        out.unlink()
        sweep(small, "data.think_time.base=0.8", "exhaustive", out=out)

    with pytest.raises(RequestError, match=r"not of a sweep over data\.service_rate"):
        sweep(small, "data.service_rate=20,21", "exhaustive", out=out, progress=other)
    assert [row["data.think_time.base"] for row in rows(out)] == ["0.8"]


@pytest.mark.slow
def test_two_processes_sweep_into_one_file_at_once(small, tmp_path):
    out = tmp_path / "s.csv"
    command = [sys.executable, "-m", "optmodels", "sweep", str(small), "--strategy", "exhaustive", "--out", str(out)]
    ranges = ["20..60", "61..101", "50..70"]
    going = [
        subprocess.Popen([*command, "--vary", f"data.service_rate={values}"], stdout=subprocess.DEVNULL)
        for values in ranges
    ]
    assert [process.wait(100) for process in going] == [0, 0, 0]
    found = rows(out)
    assert sorted(int(row["data.service_rate"]) for row in found) == list(range(20, 102))
    assert all(row["status"] in ("optimal", "infeasible") and len(row) == len(found[0]) for row in found)


def test_texts_that_look_like_formulas_come_back_from_the_file(small, tmp_path, counted):
    made, _ = counted
    out = tmp_path / "s.csv"
    first = sweep(small, {"data.quality.guarantee": ["=worst", "farthest"]}, "exhaustive", out=out)
    assert [row["data.quality.guarantee"] for row in rows(out)] == ["'=worst", "farthest"]
    again = sweep(small, {"data.quality.guarantee": ["=worst", "farthest"]}, "exhaustive", out=out)
    assert len(made) == 1 and [point.values for point in again.points] == [point.values for point in first.points]
    assert [row["data.quality.guarantee"] for row in rows(out)] == ["'=worst", "farthest"]
