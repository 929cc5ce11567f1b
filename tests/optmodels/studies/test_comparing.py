"""Comparisons: fair, complete, on disk, resumable."""

import csv
import itertools
import json
import math
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import optmodels.results
import optmodels.studies.runs
from heuristics import Budget, Evaluation, Problem, Result, Status, TracePoint, relative_gap
from heuristics.search import Exhaustive
from heuristics.testing import Hopeless, Knapsack, Separable
from optmodels.errors import RequestError
from optmodels.registry import make_strategy
from optmodels.results import read_result
from optmodels.studies import Comparison, compare
from optmodels.studies.pool import Answer
from optmodels.studies.runs import Run, label_of, problem_digest, run_key


@dataclass(frozen=True)
class Sampler:
    """Draws decisions; fails or is interrupted where it is told to."""

    draws: int = 4
    fails_on: str = ""
    interrupted_on: str = ""
    name: ClassVar[str] = "sampler"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        if oracle.problem.name == self.fails_on:
            raise RuntimeError("fell over\nits own feet")
        for _ in range(self.draws):
            oracle(oracle.problem.space.sample(rng))
        if oracle.problem.name == self.interrupted_on:
            raise KeyboardInterrupt
        return oracle.result(stopped_by="tired")


@pytest.fixture
def small(instances):
    return instances / "placement" / "gautam-2x3.json"


def run(problem="p", strategy="s", seed=0, objective=None, bound=None, status=Status.FEASIBLE, error=None, **result):
    evaluation = None if objective is None else Evaluation(objective)
    made = Result(
        problem, status, None if objective is None else (1,), evaluation, bound=bound, strategy=strategy, **result
    )
    return Run(problem, strategy, seed, made, error, f"{problem}{strategy}{seed}")


# -- what is run ------------------------------------------------------------------------------------------------------


def test_problems_times_strategies_times_seeds_in_order():
    comparison = compare([Knapsack(), Separable()], [Sampler(), Sampler(draws=5)], seeds=[7, 3])
    cells = [(run.problem, run.strategy, run.seed) for run in comparison.runs]
    assert cells == [
        (problem, strategy, seed)
        for problem in ("knapsack", "separable")
        for strategy in ("sampler", "sampler:draws=5")
        for seed in (7, 3)
    ]
    assert comparison.complete


def test_deterministic_strategies_are_run_once():
    comparison = compare(Knapsack(), [Exhaustive(), Sampler()], seeds=3)
    assert [run.strategy for run in comparison.runs] == ["exhaustive", "sampler", "sampler", "sampler"]


def test_every_run_is_what_solve_alone_gives(small):
    from optmodels.solving import solve

    comparison = compare(small, "annealing:steps=50", seeds=2)
    for run in comparison.runs:
        alone = solve(small, "annealing:steps=50", seed=run.seed)
        assert (run.result.objective, run.result.decision, run.result.evaluations) == (
            alone.objective,
            alone.decision,
            alone.evaluations,
        )


def test_the_budget_is_the_same_for_all():
    comparison = compare(Knapsack(), ["exhaustive", Sampler(draws=99)], evaluations=6)
    assert [run.result.evaluations for run in comparison.runs] == [6, 6]
    assert {run.result.stopped_by for run in comparison.runs} == {"evaluations"}


def test_two_processes_give_the_same_answers_as_one(small):
    alone = compare([small, Knapsack()], ["exhaustive", "annealing"], seeds=2, evaluations=40)
    shared = compare([small, Knapsack()], ["exhaustive", "annealing"], seeds=2, evaluations=40, workers=2)
    assert [(r.key, r.result.objective, r.result.decision) for r in shared.runs] == [
        (r.key, r.result.objective, r.result.decision) for r in alone.runs
    ]


def test_a_problem_given_twice_takes_part_once_and_a_namesake_gets_a_number():
    other = replace(Knapsack(), capacity=9)
    comparison = compare([Knapsack(), Knapsack(), other], Sampler())
    assert comparison.problems == ("knapsack", "knapsack (2)")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([], "exhaustive"), "at least one problem"),
        ((Knapsack(), []), "at least one strategy"),
        ((Knapsack(), "exhaustif"), "Did you mean 'exhaustive'"),
        (("none.json", "exhaustive"), "there is no such file"),
    ],
)
def test_a_comparison_of_nothing_is_refused(arguments, sentence):
    with pytest.raises(RequestError, match=sentence):
        compare(*arguments)


@pytest.mark.parametrize("seeds", [0, -1, True, [], [-1]])
def test_seeds_that_make_no_sense_are_refused(seeds):
    with pytest.raises(RequestError, match="seed"):
        compare(Knapsack(), "exhaustive", seeds=seeds)


def test_resuming_needs_a_folder():
    with pytest.raises(RequestError, match="resuming needs the folder"):
        compare(Knapsack(), "exhaustive", resume=True)


# -- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_a_refusal_is_a_line_of_the_table(workers):
    comparison = compare(Knapsack(), ["highs", "exhaustive"], workers=workers)
    refused, answered = comparison.runs
    assert "this one has no from_pyomo, to_pyomo" in refused.reason
    assert (refused.status, refused.error) == ("not applicable", None)
    assert answered.result.status == Status.OPTIMAL
    table = comparison.table()
    assert "knapsack by highs: strategy 'highs' does not apply to 'knapsack': it needs" in table
    assert "not applicable" in table
    assert "error" not in table


def test_a_failure_is_a_line_of_the_table_and_one_sentence():
    comparison = compare([Knapsack(), Separable()], Sampler(fails_on="knapsack"))
    assert [run.error for run in comparison.runs] == ["RuntimeError: fell over its own feet", None]
    assert comparison.summaries[0].status == "error"


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    sampler = Sampler(interrupted_on="separable")
    comparison = compare([Knapsack(), Separable(), Hopeless()], sampler, out=tmp_path)
    assert [run.problem for run in comparison.runs] == ["knapsack"]
    assert not comparison.complete
    assert "ended early" in (tmp_path / "table.txt").read_text()
    again = compare([Knapsack(), Separable(), Hopeless()], Sampler(), out=tmp_path, resume=True)
    assert len(again.runs) == 3


# -- the table --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "best_known", "kind", "value"),
    [
        ([run(objective=8, bound=8, status=Status.OPTIMAL), run(objective=9, bound=8.5)], {"p": 7}, "optimum", 8),
        ([run(objective=8, bound=6), run(strategy="t", objective=9, bound=7)], {"p": 8}, "bound", 7),
        ([run(objective=8), run(strategy="t", objective=9)], {"p": 7.5}, "best known", 7.5),
        ([run(objective=8), run(strategy="t", objective=9)], {"q": 7.5}, "best seen", 8),
        ([run(), run(strategy="t")], {}, "", None),
    ],
    ids=["optimum", "bound", "best known", "best seen", "nothing"],
)
def test_gaps_are_measured_from_the_strongest_reference_there_is(runs, best_known, kind, value):
    comparison = Comparison(tuple(runs), best_known)
    for line in comparison.summaries:
        assert (line.reference, line.reference_value) == (kind, value)


def test_an_infinite_bound_is_no_reference():
    assert Comparison((run(objective=8, bound=-math.inf),)).summaries[0].reference == "best seen"


def test_mean_and_worst_over_the_seeds():
    trace = (TracePoint(0.5, 3, 9.0), TracePoint(0.75, 9, None, 1.0))
    runs = [
        run(seed=0, objective=10.0, evaluations=100, seconds=1.0, stopped_by="seconds", trace=trace),
        run(seed=1, objective=12.0, evaluations=300, seconds=3.0, stopped_by="complete"),
        run(seed=2, status=Status.UNKNOWN, evaluations=200, seconds=2.0, stopped_by="seconds"),
        run(strategy="t", objective=8.0, bound=8.0, status=Status.OPTIMAL),
    ]
    line = Comparison(tuple(runs)).summaries[0]
    assert (line.runs, line.best, line.mean, line.worst) == (3, 10.0, 11.0, 12.0)
    assert line.gap == pytest.approx(3 / 8)
    assert (line.evaluations, line.seconds, line.seconds_to_best) == (200, 2.0, 0.5)
    assert (line.status, line.ended_by) == ("feasible 2, unknown 1", "seconds 2, complete 1")


def test_the_table_has_status_objective_bound_gap_and_time():
    table = compare(Knapsack(), ["exhaustive", Sampler()], seeds=2).table()
    head, _, exhaustive, sampler = table.splitlines()[:4]
    for name in ("problem", "strategy", "runs", "status", "objective", "worst", "bound", "gap to best known"):
        assert name in head
    assert exhaustive.split()[:4] == ["knapsack", "exhaustive", "1", "optimal"]
    assert "0.00%" in exhaustive
    assert sampler.split()[2] == "2"
    assert "budget of a run: none" in table


# -- the width of the table -------------------------------------------------------------------------------------------


def test_one_run_each_needs_no_worst_and_no_interval():
    runs = (run(objective=8, strategy="s"), run(objective=9, strategy="t"))
    one = Comparison(runs).table()
    assert "worst" not in one
    assert "interval" not in one
    several = Comparison((*runs, run(objective=10, strategy="t", seed=1))).table().splitlines()[0]
    assert "worst" in several
    assert "interval" in several


def wide(**changes):
    """A comparison that takes more than 80 columns in full."""
    kept = {"objective": 157.0, "evaluations": 17227, "seconds": 60.02, "stopped_by": "seconds"} | changes
    strategies = ("highs", "dejavu", "annealing:steps=20000", "genetic:population=100,mutation=0.125")
    runs = [run("gautam-11x22", strategy, bound=85.0, **kept) for strategy in strategies]
    return Comparison(tuple(runs), {"gautam-11x22": 147.0}, Budget(seconds=60))


@pytest.mark.parametrize("width", [70, 80, 100, 120, 150])
def test_the_table_fits_into_the_terminal(width):
    table = wide().table(width)
    assert max(map(len, table.splitlines())) <= width
    rows = table.splitlines()
    assert rows[0].split()[:2] == ["problem", "strategy"]
    for needed in ("157", "85", "84.71%", "feasible", "highs", "gautam-11x22"):
        assert needed in table


def test_evaluations_go_first_and_what_is_left_out_is_said():
    full = wide().table()
    most = max(map(len, full.splitlines()))
    assert wide().table(most) == full
    narrower = wide().table(most - 1)
    assert "evals" not in narrower.splitlines()[0]
    assert "gap to bound" in narrower
    assert narrower.splitlines()[-1] == f"left out to fit into {most - 1} columns: evals"
    brief = wide().table(80)
    assert {"sec.", "known", "bound"} <= set(brief.splitlines()[0].split())
    assert "left out to fit into 80 columns: runs, evals" in brief


def test_a_long_name_is_folded_not_cut():
    table = wide().table(70)
    lines = [line for line in table.splitlines() if "0.125" in line or "population" in line or "genetic" in line]
    assert len(lines) > 1
    column = table.splitlines()[0].index("strategy")
    cells = [line[column:].split("  ")[0] for line in table.splitlines()]
    begin = next(i for i, cell in enumerate(cells) if cell.startswith("genetic"))
    joined = "".join(cells[begin : begin + 6]).split("budget")[0]
    assert joined.startswith("genetic:population=100,mutation=0.125")


def test_evaluations_of_an_integer_program_are_explained():
    told = "evals of highs: decisions evaluated in its search for a start"
    assert told in Comparison((run(strategy="highs", objective=8.0, evaluations=5),)).table()
    assert told not in wide().table(80)
    assert told not in Comparison((run(objective=8.0, evaluations=5),)).table()


def test_control_characters_in_a_failure_do_not_reach_the_terminal():
    assert "\x1b" not in Comparison((run(status=Status.UNKNOWN, error="fell\x1b[31m over"),)).table()


# -- the best known ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("best_known", "sentence"),
    [
        ({"objective": 7.0, "decision": [0, 0, 1, 1, 1, 0]}, "best_known.objective is 7.0; the evaluator finds 8.0"),
        ({"objective": 0.0, "decision": [0, 0, 0, 0, 0, 0]}, "it is not feasible"),
        ({"objective": 8.0, "decision": [0, 1]}, "best_known.decision is [0, 1]"),
        ({"objective": 7.0}, "best_known has no decision that would confirm its objective"),
    ],
)
def test_a_best_known_that_is_not_confirmed_is_not_used(small, tmp_path, best_known, sentence):
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(json.loads(small.read_text()) | {"best_known": best_known}))
    comparison = compare(file, "annealing:steps=50")
    assert comparison.best_known == {}
    assert comparison.summaries[0].reference == "best seen"
    (warning,) = comparison.warnings
    assert str(file) in warning
    assert sentence in warning
    assert warning.endswith("; it is not used.")
    assert comparison.to_data()["warnings"] == [warning]


def test_a_best_known_that_is_confirmed_is_the_reference(small):
    comparison = compare(small, "annealing:steps=50")
    assert comparison.warnings == ()
    assert (comparison.summaries[0].reference, comparison.summaries[0].reference_value) == ("best known", 8.0)
    assert "best known: gautam-2x3 8" in comparison.table()


def test_an_empty_comparison_says_so():
    assert Comparison(()).table() == "no run was finished."


@pytest.mark.parametrize(
    ("value", "reference", "gap"), [(11, 10, 0.1), (-9, -10, 0.1), (10, 10, 0), (1, 0, math.inf), (0, 0, 0)]
)
def test_the_relative_gap(value, reference, gap):
    assert relative_gap(value, reference) == pytest.approx(gap)
    assert run(objective=float(value)).result.gap(reference) == pytest.approx(gap)


# -- on disk ----------------------------------------------------------------------------------------------------------


def test_the_csv_holds_one_line_per_run_with_all_it_takes_to_run_it_again(tmp_path):
    comparison = compare(Knapsack(), ["annealing:steps=7", "highs"], seeds=2, evaluations=20)
    comparison.to_csv(tmp_path / "runs.csv")
    rows = list(csv.DictReader((tmp_path / "runs.csv").open(encoding="utf-8")))
    assert len(rows) == 3
    first = rows[0]
    assert (first["problem"], first["strategy"], first["seed"]) == ("knapsack", "annealing:steps=7", "0")
    assert json.loads(first["parameters"])["steps"] == 7
    assert (first["budget_evaluations"], first["budget_seconds"]) == ("20", "")
    assert "numpy" in json.loads(first["versions"])
    assert rows[-1]["status"] == "not applicable"
    assert rows[-1]["error"] == ""
    assert "this one has no from_pyomo" in rows[-1]["reason"]


def test_the_jsonl_holds_one_result_per_line(tmp_path):
    comparison = compare(Knapsack(), "annealing", seeds=2, evaluations=20)
    comparison.to_jsonl(tmp_path / "runs.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [Run.from_data(line) for line in lines] == [Run.from_data(run.to_data()) for run in comparison.runs]
    assert [line["seed"] for line in lines] == [0, 1]


def test_the_folder_holds_runs_tables_results_and_the_best(tmp_path, small):
    comparison = compare(
        [small, Knapsack()], ["exhaustive", Sampler(), "highs:gap=0.5"], seeds=2, evaluations=70, out=tmp_path
    )
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert {"runs.csv", "runs.jsonl", "table.csv", "table.txt", "best/gautam-2x3.json", "best/knapsack.json"} <= set(
        found
    )
    results = [name for name in found if name.startswith("results/")]
    assert len(results) == sum(run.answered for run in comparison.runs)
    assert read_result(tmp_path / "best" / "gautam-2x3.json").objective == 8.0
    assert (tmp_path / "table.txt").read_text() == comparison.table() + "\n"
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == len(comparison.runs)


@pytest.fixture
def counted(monkeypatch):
    """Count the runs that are made."""
    made = []
    solve = optmodels.studies.runs.solve_cell

    def counting(problem, strategy, budget, seed, *further):
        made.append((problem.name, strategy.name, seed))
        return solve(problem, strategy, budget, seed, *further)

    monkeypatch.setattr(optmodels.studies.runs, "solve_cell", counting)
    return made


def test_resuming_skips_what_is_finished(tmp_path, counted):
    first = compare(Knapsack(), [Sampler(), "exhaustive"], seeds=2, out=tmp_path)
    assert len(counted) == 3
    again = compare(Knapsack(), [Sampler(), "exhaustive"], seeds=3, out=tmp_path, resume=True)
    assert counted[3:] == [("knapsack", "sampler", 2)]
    assert [run.result.objective for run in again.runs[:2]] == [run.result.objective for run in first.runs[:2]]
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("torn", [b'{"format": 1, "prob', b"\xff\xfe", b"{}", b"null", b'{"format": 1}'])
def test_resuming_survives_a_torn_last_line(tmp_path, counted, torn):
    compare(Knapsack(), Sampler(), seeds=2, out=tmp_path)
    lines = tmp_path / "runs.jsonl"
    whole = lines.read_bytes().splitlines(keepends=True)
    lines.write_bytes(whole[0] + torn)
    compare(Knapsack(), Sampler(), seeds=2, out=tmp_path, resume=True)
    assert len(counted) == 3
    for line in lines.read_bytes().splitlines():
        json.loads(line)
    assert lines.read_bytes().splitlines(keepends=True)[0] == whole[0]


def test_a_line_written_by_another_hand_is_passed_over(tmp_path, counted):
    compare(Knapsack(), Sampler(), out=tmp_path)
    lines = tmp_path / "runs.jsonl"
    lines.write_bytes(b'not json\n{"key": 3}\n[]\n' + lines.read_bytes())
    compare(Knapsack(), Sampler(), out=tmp_path, resume=True)
    assert len(counted) == 1


def test_another_budget_parameter_or_problem_is_another_run(tmp_path, counted):
    compare(Knapsack(), Sampler(), out=tmp_path)
    compare(Knapsack(), Sampler(), evaluations=3, out=tmp_path, resume=True)
    compare(Knapsack(), Sampler(draws=5), out=tmp_path, resume=True)
    compare(replace(Knapsack(), capacity=9), Sampler(), out=tmp_path, resume=True)
    assert len(counted) == 4
    compare(Knapsack(), Sampler(), out=tmp_path, resume=True)
    assert len(counted) == 4


def test_failed_runs_are_tried_again(tmp_path, counted):
    failing = Sampler(fails_on="knapsack")
    compare(Knapsack(), failing, out=tmp_path)
    compare(Knapsack(), failing, out=tmp_path, resume=True)
    assert len(counted) == 2


def test_a_run_that_does_not_apply_is_no_failure_and_never_tried_again(tmp_path, counted):
    first = compare(Knapsack(), ["highs", "exhaustive"], out=tmp_path)
    again = compare(Knapsack(), ["highs", "exhaustive"], out=tmp_path, resume=True)
    assert len(counted) == 2
    assert [run.status for run in again.runs] == ["not applicable", "optimal"]
    assert again.runs[0].reason == first.runs[0].reason
    line = again.summaries[0]
    assert (line.evaluations, line.seconds, line.best) == (None, None, None)


def test_a_strategy_that_takes_the_problem_by_now_is_run(tmp_path, counted, monkeypatch):
    monkeypatch.setattr(Exhaustive, "refuses", lambda self, problem: "its solver is not installed.", raising=False)
    assert compare(Knapsack(), "exhaustive", out=tmp_path).runs[0].status == "not applicable"
    monkeypatch.undo()
    assert compare(Knapsack(), "exhaustive", out=tmp_path, resume=True).runs[0].status == "optimal"


@pytest.mark.parametrize(("seeds", "held"), [(1, "1 run; add --resume to go on with it"), (2, "2 runs; add --resume")])
def test_without_resume_a_folder_that_holds_runs_is_refused_and_nothing_is_lost(tmp_path, counted, seeds, held):
    compare(Knapsack(), Sampler(), seeds=seeds, out=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(RequestError, match=f"already holds {held}.*, or choose another folder"):
        compare(Knapsack(), "exhaustive", out=tmp_path)
    assert len(counted) == seeds
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_run_torn_off_counts_as_a_run_and_is_left_alone(tmp_path):
    (tmp_path / "runs.jsonl").write_bytes(b'{"format": 1, "prob')
    with pytest.raises(RequestError, match="already holds 1 run;"):
        compare(Knapsack(), Sampler(), out=tmp_path)
    assert (tmp_path / "runs.jsonl").read_bytes() == b'{"format": 1, "prob'


def test_a_folder_without_runs_is_taken(tmp_path):
    (tmp_path / "runs.jsonl").write_text("")
    (tmp_path / "notes.txt").write_text("mine")
    assert len(compare(Knapsack(), Sampler(), out=tmp_path).runs) == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="the folder cannot be created"):
        compare(Knapsack(), Sampler(), out=tmp_path / "file")


def test_the_digest_of_a_problem_follows_its_data_and_not_its_name(small):
    from optmodels.costs import WeightedSum
    from optmodels.instance import load

    problem = load(small)
    assert problem_digest(problem) == problem_digest(load(small)) == problem_digest(replace(problem, name="x"))
    assert problem_digest(problem) != problem_digest(replace(problem, cost=WeightedSum({"opening": 2.0})))
    assert problem_digest(problem) != problem_digest(replace(problem, cost=lambda measures: 0.0))
    assert problem_digest(Knapsack()) != problem_digest(replace(Knapsack(), capacity=9))


def test_the_key_of_a_run_follows_everything_that_can_change_it():
    base = ("d", make_strategy("annealing"), 0, Budget())
    others = [
        ("e", *base[1:]),
        ("d", make_strategy("annealing:steps=3"), 0, Budget()),
        (*base[:2], 1, Budget()),
        (*base[:3], Budget(seconds=3)),
    ]
    assert len({run_key(*arguments) for arguments in (base, *others)}) == 5
    assert run_key(*base) == run_key("d", make_strategy("annealing"), 0, Budget())


def test_a_strategy_is_labelled_by_what_differs_from_its_defaults():
    assert label_of(Sampler()) == "sampler"
    assert label_of(Sampler(draws=9, fails_on="x")) == "sampler:draws=9,fails_on=x"


def test_progress_names_the_run_under_way_and_the_total_from_the_start():
    seen = []
    compare(Knapsack(), [Sampler(), "exhaustive"], seeds=2, progress=lambda *news: seen.append(news))
    assert seen == [
        (0, 3, "starting"),
        (0, 3, "knapsack by sampler, seed 0"),
        (1, 3, "knapsack by sampler, seed 0"),
        (1, 3, "knapsack by sampler, seed 1"),
        (2, 3, "knapsack by sampler, seed 1"),
        (2, 3, "knapsack by exhaustive"),
        (3, 3, "knapsack by exhaustive"),
    ]


def test_progress_names_all_runs_that_workers_share(monkeypatch):
    def two_at_a_time(function, calls, workers, cluster, begun, **how):
        begun(0)
        begun(1)
        yield Answer(1, function(*calls[1]))
        begun(2)
        yield Answer(0, function(*calls[0]))
        yield Answer(2, function(*calls[2]))

    monkeypatch.setattr("optmodels.studies.runs.call_all", two_at_a_time)
    seen = []
    compare(Knapsack(), Sampler(), seeds=3, progress=lambda done, total, what: seen.append((done, what)))
    first, second, third = (f"knapsack by sampler, seed {seed}" for seed in range(3))
    assert seen[1:] == [
        (0, first),
        (0, f"{first}, {second}"),
        (1, first),
        (1, f"{first}, {third}"),
        (2, third),
        (3, third),
    ]


def test_everything_fits_into_one_json_object():
    data = compare(Knapsack(), ["exhaustive", "highs"], evaluations=9).to_data()
    json.dumps(data, allow_nan=False)
    assert [line["strategy"] for line in data["table"]] == ["exhaustive", "highs"]
    assert data["runs"][1]["reason"]
    assert data["runs"][1]["error"] is None
    assert data["budget"]["evaluations"] == 9


# -- stored answers are judged again ----------------------------------------------------------------------------------


def change_line(path, change):
    """Write the first line of a comparison as another hand would."""
    first, *rest = path.read_text().splitlines()
    line = change(json.loads(first)) if callable(change) else change
    path.write_text("\n".join([line if isinstance(line, str) else json.dumps(line), *rest]) + "\n")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d | {"objective": -1e9}, r"objective is -1000000000.0; the evaluator finds"),
        (lambda d: d | {"objective": d["objective"] * (1 + 1e-5)}, "objective is"),
        (lambda d: d | {"decision": [1] * len(d["decision"])}, "objective is|decision is not feasible"),
        (lambda d: d | {"decision": [7]}, r"decision is \[7\]; "),
        (lambda d: d | {"decision": "all of them"}, "decision is "),
        (lambda d: d | {"decision": [10**17] * len(d["decision"])}, "decision is "),
        (lambda d: d | {"bound": d["objective"] + 1.0}, "bound is .*; a feasible decision has the objective"),
        (lambda d: d | {"bound": d["objective"] - 1.0}, 'status is "optimal"; the bound .* leaves room'),
        (lambda d: d | {"status": "infeasible"}, 'status is "infeasible"; a problem proved infeasible has no decision'),
        (lambda d: d | {"status": "unknown"}, 'status is "unknown"; the decision is feasible'),
        (lambda d: d | {"status": ["optimal"]}, r'status is \["optimal"\]; a status is one of'),
        (lambda d: d | {"measures": {"beauty": 1.0}}, "measures.beauty is 1.0; the evaluator finds None"),
        (lambda d: d | {"violations": {"beauty": 1.0}}, "violations.beauty is 1.0; the evaluator finds 0.0"),
        (lambda d: d | {"problem": "another"}, "problem is .*; this is an answer to another problem"),
        (lambda d: d | {"strategy": "annealing"}, 'strategy is "annealing"; its key is that of a run with "exh'),
        (lambda d: d | {"parameters": {"largest": 7}}, r"parameters is .*; its key is that of a run with .*1000000000"),
        (lambda d: d | {"seed": 5}, "seed is 5; its key is that of a run with 0"),
        (lambda d: d | {"checked": False}, "checked is false; "),
        (lambda d: d | {"trace": 5}, "trace is 5; this is a list"),
        (lambda d: d | {"decision": {"file": "d.npy", "rows": 3, "sha256": "0"}}, "there is no such file"),
        (lambda d: d | {"label": {}}, "is not used"),
        (lambda d: "[" * 100_000 + "]" * 100_000, "nested deeper"),
        (lambda d: json.dumps(d | {"extra": 0}).replace('"extra": 0', '"extra": ' + '{"a":' * 5000 + "1" + "}" * 5000),
         "nested deeper"),
        (lambda d: json.dumps(d)[:-1] + ', "objective": -1e9}', "this key stands twice"),
        (lambda d: json.dumps(d | {"objective": 0}).replace('"objective": 0', f'"objective": {10**400}'), "2^63"),
        (lambda d: json.dumps(d | {"objective": 0}).replace('"objective": 0', '"objective": NaN'), "finite"),
    ],
)  # fmt: skip
def test_a_line_that_does_not_hold_is_run_again_with_a_warning(tmp_path, counted, change, reason):
    first = compare(Knapsack(), "exhaustive", out=tmp_path)
    change_line(tmp_path / "runs.jsonl", change)
    again = compare(Knapsack(), "exhaustive", out=tmp_path, resume=True)
    assert len(counted) == 2
    assert [run.result.objective for run in again.runs] == [run.result.objective for run in first.runs]
    [warning] = again.warnings
    assert warning.startswith(f"{tmp_path / 'runs.jsonl'}: line 1 is not used: ")
    assert re.search(reason.replace("^", r"\^"), warning), warning
    assert len(warning) < 500
    last = compare(Knapsack(), "exhaustive", out=tmp_path, resume=True)
    assert len(counted) == 2, "the line written anew holds"
    assert last.best("knapsack").result.objective == first.best("knapsack").result.objective


def test_what_holds_up_to_rounding_is_not_run_again(tmp_path, counted):
    compare(Separable(), Sampler(), out=tmp_path)
    change_line(tmp_path / "runs.jsonl", lambda d: d | {"objective": d["objective"] * (1 - 1e-8)})
    assert compare(Separable(), Sampler(), out=tmp_path, resume=True).warnings == ()
    assert len(counted) == 1


def test_lines_of_other_runs_are_left_alone_and_an_earlier_line_that_holds_counts(tmp_path, counted):
    compare(Knapsack(), "exhaustive", out=tmp_path)
    path = tmp_path / "runs.jsonl"
    held = path.read_text()
    path.write_text(held + json.dumps(json.loads(held) | {"objective": -1e9}) + "\n")
    again = compare(Knapsack(), "exhaustive", out=tmp_path, resume=True)
    assert len(counted) == 1
    assert "line 2 is not used: objective is" in again.warnings[0]
    other = json.loads(held) | {"objective": -1e9, "key": "of another run"}
    path.write_text(held + json.dumps(other) + "\n")
    assert compare(Knapsack(), "exhaustive", out=tmp_path, resume=True).warnings == ()


def test_a_long_decision_whose_file_was_changed_is_run_again(tmp_path, counted, monkeypatch):
    monkeypatch.setattr(optmodels.results, "LONGEST_DECISION", 2)
    compare(Knapsack(), "exhaustive", out=tmp_path)
    told = json.loads((tmp_path / "runs.jsonl").read_text())["decision"]
    assert compare(Knapsack(), "exhaustive", out=tmp_path, resume=True).warnings == ()
    assert len(counted) == 1
    np.save(tmp_path / told["file"], np.load(tmp_path / told["file"])[::-1].copy())
    again = compare(Knapsack(), "exhaustive", out=tmp_path, resume=True)
    assert len(counted) == 2
    assert "has changed since it was written" in again.warnings[0]


@pytest.mark.parametrize("seeds", [10**9, 10**30, itertools.count(), range(10**12)], ids=repr)
def test_more_runs_than_anybody_can_mean_are_refused_before_there_is_a_list_of_them(small, seeds):
    with pytest.raises(RequestError, match=r"a comparison has at most 100000 runs, and .* seeds are more"):
        compare(small, "annealing", seeds=seeds)


def test_runs_are_counted_over_problems_and_strategies(small):
    with pytest.raises(RequestError, match="at most 100000 runs, and these problems, strategies and seeds are 120001"):
        compare(small, ["annealing", "genetic", "exhaustive"], seeds=60_000)
    with pytest.raises(RequestError, match="at most 1024 workers, got 5000"):
        compare(small, ["exhaustive", "annealing"], workers=5000)


def test_a_policy_of_a_wider_class_is_named_and_held_against_nothing():
    found = compare("avrachenkov-k3", ["exhaustive", "optimal-policy:thresholds=false"])
    listed, beyond = found.runs
    assert (listed.beyond, beyond.beyond, found.warnings) == (False, True, ())
    assert beyond.result.objective < listed.result.objective
    reference = found.references["avrachenkov-k3"]
    assert reference.proved and reference.value == pytest.approx(listed.result.objective, rel=1e-9)
    assert {row["reference_value"] for row in found.rows()} == {listed.result.objective}
    assert [line.gap_to_best_known == 0 for line in found.summaries] == [True, False]
    assert "wider class than the one asked for" in found.table()
    assert "wider class" not in compare("avrachenkov-k3", ["exhaustive"]).table()
