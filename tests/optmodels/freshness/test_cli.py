"""Kind "freshness" on the command line: solve, verify, evaluate, simulate, sweep, plot, visits; sentences and codes."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from optmodels.cli import main
from optmodels.errors import RequestError
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.schedules import write_visits
from optmodels.freshness.schedules.visits import cycles_of


@pytest.fixture
def file(instances):
    return str(instances / "freshness" / "coffman-4.json")


def run(capsys, *words):
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def answer(capsys, *words):
    code, out, err = run(capsys, *words, "--json")
    assert code == 0, err
    return json.loads(out)


def problem_of(**more):
    data = {
        "change_rates": [0.1, 0.2, 0.3],
        "weights": "change-rates",
        "access_time": {"law": "constant", "value": 2.0},
    }
    return FreshnessProblem.from_data(data | more, name="three")


# -- from the problem to the visits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["lagrangian", "randomized", "greedy"])
def test_what_is_solved_can_be_verified_evaluated_and_turned_into_visits(strategy, file, capsys, tmp_path):
    kept, table = tmp_path / "answer.json", tmp_path / "visits.csv"
    data = answer(capsys, "solve", file, "--strategy", strategy, "--out", kept)
    assert data["checked"]
    assert data["extra"]["attained"] == (strategy != "lagrangian")
    assert answer(capsys, "verify", kept, file)["verified"]
    again = answer(capsys, "evaluate", file, "--at", f"@{kept}")
    assert again["objective"] == data["objective"]
    assert again["status"] == "feasible"
    told = answer(capsys, "visits", file, "--result", kept, "--out", table, "--slots", 26)
    rows = list(csv.DictReader(table.open()))
    assert told["rows"] == len(rows) == 26
    assert [row["slot"] for row in rows] == [str(slot) for slot in range(26)]
    assert {row["page"] for row in rows} <= set("0123")
    if strategy == "greedy":
        cycle = data["decision"]["schedule"]
        assert [int(row["page"]) for row in rows] == (cycle * 26)[:26]


def test_the_relaxed_optimum_is_told_with_its_price(file, capsys):
    data = answer(capsys, "solve", file, "--strategy", "lagrangian")
    assert data["status"] == "optimal"
    assert data["bound"] == data["objective"]
    assert data["gap"] == 0
    assert data["measures"] == pytest.approx(
        {"obsolescence": 0.572531793, "pages_never_visited": 0, "largest_gap": 6.5}, rel=1e-9
    )
    # Equal worths: the price is K(u) with u the sum of all decays, 1.3 for constant access times.
    assert data["extra"]["multiplier"] == pytest.approx(1 - 2.3 * np.exp(-1.3), rel=1e-12)


def test_a_decision_is_given_as_a_list_or_as_an_object(file, capsys):
    listed = answer(capsys, "evaluate", file, "--at", "0.25,0.25,0.25,0.25")
    cycle = answer(capsys, "evaluate", file, "--at", '{"schedule": [0, 1, 2, 3]}')
    assert listed["objective"] == pytest.approx(cycle["objective"], rel=1e-14)
    broken = answer(capsys, "evaluate", file, "--at", "0.25,0.25,0.25,0.2")
    assert broken["status"] == "unknown"
    assert broken["violations"] == pytest.approx({"sum of frequencies": 0.05})


def test_exact_and_simulated_agree(file, capsys):
    data = answer(capsys, "simulate", file, "--at", '{"schedule": [3, 1, 3, 0, 2, 3, 1, 2]}', "--replications", "10")
    assert data["agree"]
    code, _, err = run(capsys, "simulate", file, "--at", "0.25,0.25,0.25,0.25")
    assert code == 2
    assert "no robot can visit every page at exactly equal distances" in err


def test_a_study_varies_access_times_and_robots(file, capsys):
    data = answer(
        capsys, "sweep", file, "--vary", "data.access_time.value=0.5,1", "--vary", "data.robots=1,2", "--strategy",
        "lagrangian",
    )  # fmt: skip
    costs = [point["objective"] for point in data["points"]]
    assert len(costs) == 4
    assert costs[0] < costs[2] and costs[1] < costs[3]  # longer accesses
    assert costs[1] < costs[0] and costs[3] < costs[2]  # more robots


def test_a_picture_of_an_answer(file, capsys, tmp_path):
    kept = tmp_path / "answer.json"
    answer(capsys, "solve", file, "--strategy", "greedy", "--out", kept)
    assert answer(capsys, "plot", file, "--result", kept, "--out", tmp_path / "a.svg")["file"].endswith("a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 10_000


def test_well_formed_instances_are_confirmed(instances, capsys):
    data = answer(capsys, "check", instances / "freshness")
    assert all(one["ok"] and one["best_known"] is not None for one in data)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["solve", "--strategy", "annealing"],
            "needs discrete decisions, and those of 'coffman-4' are continuous",
        ),
        (["solve", "--strategy", "exhaustive"], "has infinitely many decisions"),
        (
            ["solve", "--strategy", "policy-iteration"],
            "is for problems of kind robots, and 'coffman-4' is of kind freshness: it needs",
        ),
        (["solve", "--strategy", "whitle"], "Did you mean 'whittle'?"),
        (["solve", "--strategy", "greedy:slots=0"], "slots must be 1 or more, got 0."),
        (["solve", "--strategy", "greedy:lots=3"], "has no parameter 'lots' (did you mean 'slots'?); it takes slots"),
        (["evaluate", "--at", "0.5,0.5"], "2 frequencies are given; each of the 4 pages needs one."),
        (["evaluate", "--at", '{"schedule": [4]}'], "schedule[0] is 4; pages are numbered from 0 to 3."),
    ],
    ids=lambda value: " ".join(value[1:])[:40] if isinstance(value, list) else "",
)
def test_requests_that_make_no_sense_are_answered_with_a_sentence(words, sentence, file, capsys):
    code, out, err = run(capsys, words[0], file, *words[1:])
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_a_bad_page_is_named_by_its_place(file, capsys, tmp_path):
    content = json.loads(Path(file).read_text())
    content["data"]["change_rates"][2] = -0.3
    (tmp_path / "bad.json").write_text(json.dumps(content))
    code, _, err = run(capsys, "solve", tmp_path / "bad.json", "--strategy", "lagrangian", "--out", tmp_path / "r.json")
    assert code == 2
    assert (
        f"{tmp_path / 'bad.json'}: data.change_rates[2] is -0.3; change rates are finite numbers, zero or more." in err
    )
    assert not (tmp_path / "r.json").exists()


# -- visits -----------------------------------------------------------------------------------------------------------


def test_visits_tell_urls_hosts_robots_and_times(tmp_path):
    problem = problem_of(urls=["http://a/", "http://b/,1", "http://b/2"], hosts=[0, 1, 1], robots=2)
    decision = {"schedules": [[0], [1, 2, 2]]}
    written = write_visits(problem, decision, tmp_path / "visits.csv")
    rows = list(csv.reader((tmp_path / "visits.csv").open()))
    assert rows[0] == ["page", "url", "host", "robot", "slot", "next_visit"]
    assert rows[1:] == [
        ["0", "http://a/", "0", "0", "0", "0"],
        ["1", "http://b/,1", "1", "1", "0", "0"],
        ["0", "http://a/", "0", "0", "1", "2"],
        ["2", "http://b/2", "1", "1", "1", "2"],
        ["0", "http://a/", "0", "0", "2", "4"],
        ["2", "http://b/2", "1", "1", "2", "4"],
    ]
    assert written.rows == 6


def test_visits_of_many_slots_are_written_piece_by_piece(tmp_path):
    write_visits(problem_of(), {"schedule": [0, 1, 2, 1]}, tmp_path / "visits.csv", slots=250_003)
    with (tmp_path / "visits.csv").open() as stream:
        pages = [int(row["page"]) for row in csv.DictReader(stream)]
    assert pages == ([0, 1, 2, 1] * 62_501)[:250_003]


def test_visits_in_columns(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    problem = problem_of(urls=["a", "b", "c"])
    write_visits(problem, {"schedule": [0, 2]}, tmp_path / "visits.parquet", slots=3)
    assert parquet.read_table(tmp_path / "visits.parquet").to_pydict() == {
        "page": [0, 2, 0],
        "url": ["a", "c", "a"],
        "robot": [0, 0, 0],
        "slot": [0, 1, 2],
        "next_visit": [0.0, 2.0, 4.0],
    }


def test_draws_depend_on_the_seed_and_frequencies_do_not():
    problem, shares = problem_of(), [0.2, 0.3, 0.5]
    first, same, other = (cycles_of(problem, {"randomized": shares}, 5000, seed)[0] for seed in (1, 1, 2))
    assert first.tolist() == same.tolist() != other.tolist()
    assert np.bincount(first) / 5000 == pytest.approx(shares, abs=0.03)
    spaced = cycles_of(problem, shares, 1000, 1)[0]
    assert (np.bincount(spaced) == [200, 300, 500]).all()
    assert spaced.tolist() == cycles_of(problem, shares, 1000, 2)[0].tolist()


@pytest.mark.parametrize(
    ("decision", "options", "sentence"),
    [
        ({"schedule": [0, 1]}, {"path": "visits.txt"}, "ends in neither"),
        ({"schedule": [0, 1]}, {"slots": 0}, "slots are a whole number from 1"),
        ({"schedule": [0, 3]}, {}, "schedule[1] is 3; pages are numbered from 0 to 2."),
        ([0.0, 0.0, 0.0], {}, "no page is ever visited"),
    ],
)
def test_visits_that_make_no_sense_are_refused_and_nothing_is_written(decision, options, sentence, tmp_path):
    path = tmp_path / options.pop("path", "visits.csv")
    with pytest.raises(RequestError) as refused:
        write_visits(problem_of(), decision, path, **options)
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_visits_of_another_kind_or_another_problem_are_refused(instances, file, capsys, tmp_path):
    kept = tmp_path / "answer.json"
    answer(capsys, "solve", file, "--strategy", "lagrangian", "--out", kept)
    other = instances / "freshness" / "equal-94.json"
    code, _, err = run(capsys, "visits", other, "--result", kept, "--out", tmp_path / "v.csv")
    assert code == 2 and "this is an answer to 'coffman-4', not to 'equal-94'" in err
    foreign = instances / "placement" / "gautam-2x3.json"
    code, _, err = run(capsys, "visits", foreign, "--result", kept, "--out", tmp_path / "v.csv")
    assert code == 2 and "this one is of kind 'placement'" in err
    code, _, err = run(capsys, "visits", file, "--result", kept, "--out", tmp_path / "nowhere" / "v.csv")
    assert code == 2 and "cannot be written" in err
    assert not (tmp_path / "v.csv").exists()


def test_nothing_that_is_read_is_written_over(capsys, tmp_path):
    """Before any work: an instance, a log or a table of pages is gone at once, and made in weeks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "pages"
    folder.mkdir()
    pq.write_table(pa.table({"change_rate": [1.0, 2.0], "weight": [2.0, 1.0]}), folder / "part.parquet")
    law = {"law": "constant", "value": 1.0}
    for name, place in (("file", "pages/part.parquet"), ("folder", "pages")):
        content = {"format": 1, "kind": "freshness", "name": "x", "data": {"pages": place, "access_time": law}}
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    kept = tmp_path / "answer.json"
    answer(capsys, "solve", tmp_path / "file.json", "--strategy", "greedy", "--out", kept)
    log = tmp_path / "crawl.csv"
    log.write_text("url,interval,changed\na,1,1\na,1,0\n")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    for words in (
        ["solve", tmp_path / "file.json", "--strategy", "greedy", "--out", tmp_path / "pages" / ".." / "file.json"],
        ["solve", tmp_path / "folder.json", "--strategy", "greedy", "--out", folder / "answer.json"],
        ["visits", tmp_path / "file.json", "--result", kept, "--out", folder / "part.parquet"],
        ["visits", tmp_path / "folder.json", "--result", kept, "--out", folder / "visits.parquet"],
        ["fit", log, "--out", log],
    ):
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, "") and err.count("\n") == 1
        assert "this is, or lies in, what is read from; choose another name." in err
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_a_place_for_the_answer_is_looked_for_before_any_work(file, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("optmodels.solving.answer", lambda *_, **__: pytest.fail("work was done"))
    for place, sentence in ((tmp_path / "none" / "a.json", "there is no folder 'none'"), (tmp_path, "a directory")):
        code, _, err = run(capsys, "solve", file, "--strategy", "greedy", "--out", place)
        assert code == 2 and f"{place}: cannot be written: " in err and sentence in err
