"""Folders of comparisons, read back, added to and merged."""

import json
import os
import shutil
from dataclasses import replace

import pytest

from heuristics.testing import Knapsack
from optmodels.errors import RequestError
from optmodels.instance import load
from optmodels.studies import compare, merge_comparisons, read_comparison

STRATEGIES = ["exhaustive", "annealing:steps=40"]


@pytest.fixture
def made(tmp_path):
    """A comparison in a folder."""
    return compare(["gautam-2x3", "avrachenkov-k5"], STRATEGIES, seeds=2, evaluations=60, out=tmp_path / "a")


def change_line(folder, number, **changes):
    lines = (folder / "runs.jsonl").read_text().splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | changes)
    (folder / "runs.jsonl").write_text("\n".join(lines) + "\n")


# -- reading ----------------------------------------------------------------------------------------------------------


def test_a_folder_reads_back_as_what_it_was(made, tmp_path):
    again = read_comparison(tmp_path / "a")
    assert again.table() == made.table()
    assert again.rows() == made.rows()
    assert (again.warnings, again.complete, again.budget) == ((), True, made.budget)
    assert again.best_known == made.best_known
    assert [run.result.trace for run in again.runs] == [run.result.trace for run in made.runs]
    assert any(run.result.trace for run in again.runs)


def test_a_folder_needs_no_other_file(instances, tmp_path):
    shutil.copy(instances / "placement" / "gautam-2x3.json", tmp_path / "mine.json")
    compare(tmp_path / "mine.json", "exhaustive", out=tmp_path / "a")
    (tmp_path / "mine.json").unlink()
    shutil.move(tmp_path / "a", tmp_path / "elsewhere")
    again = read_comparison(tmp_path / "elsewhere")
    assert again.warnings == ()
    assert again.runs[0].result.asked.name == "gautam-2x3"
    assert again.best_known == {"gautam-2x3": 8.0}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"objective": 3.0}, "line 1 is not used: objective is 3.0; the evaluator finds 8.0"),
        ({"decision": [1, 1, 1, 1, 1, 1]}, "line 1 is not used: objective is 8.0; the evaluator finds"),
        ({"seed": 5}, "line 1 is not used: key is"),
        ({"parameters": {"largest": 7}}, "line 1 is not used: key is"),
        ({"budget": {"seconds": 5.0}}, 'line 1 is not used: budget is "5 s"; the comparison has 60 evaluations'),
        ({"threads": "one"}, 'line 1 is not used: threads is "one"; this is a whole number, or null'),
        ({"error": 3}, "line 1 is not used: error is 3; this is a text, or null"),
    ],
)
def test_a_line_that_does_not_hold_is_left_out_with_a_sentence(made, tmp_path, changes, sentence):
    change_line(tmp_path / "a", 0, **changes)
    again = read_comparison(tmp_path / "a")
    assert len(again.runs) == len(made.runs) - 1
    assert not again.complete
    assert len(again.warnings) == 1
    assert sentence in again.warnings[0]


def test_a_torn_line_and_a_missing_run_are_told(made, tmp_path):
    lines = (tmp_path / "a" / "runs.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "a" / "runs.jsonl").write_bytes(b"".join(lines[:-1]) + lines[-1][:50])
    again = read_comparison(tmp_path / "a")
    assert (len(again.runs), again.complete) == (len(made.runs) - 1, False)


def test_an_instance_that_has_changed_judges_nothing(made, tmp_path):
    file = tmp_path / "a" / "instances" / "gautam-2x3.json"
    data = json.loads(file.read_text())
    data["data"]["service_rate"] = 30
    file.write_text(json.dumps(data))
    again = read_comparison(tmp_path / "a")
    assert len(again.runs) == len(made.runs)
    (warning,) = again.warnings
    assert "the problem 'gautam-2x3' cannot be judged" in warning
    assert "it has changed since the comparison; its answers are on trust." in warning


def test_a_path_in_the_record_does_not_lead_out_of_the_folder(made, tmp_path):
    record = tmp_path / "a" / "comparison.json"
    data = json.loads(record.read_text())
    data["instances"]["gautam-2x3"]["file"] = "../secret.json"
    record.write_text(json.dumps(data))
    assert "stay inside its folder" in read_comparison(tmp_path / "a").warnings[0]


def test_a_problem_that_is_no_instance_is_taken_on_trust(tmp_path):
    made = compare(Knapsack(), "exhaustive", out=tmp_path)
    again = read_comparison(tmp_path)
    assert again.table() == made.table()
    assert again.warnings == (
        f"{tmp_path}: the problem 'knapsack' is not in the folder; its answers are taken on trust.",
    )


def test_a_large_instance_is_a_reference_with_a_checksum(instances, tmp_path, monkeypatch):
    monkeypatch.setattr("optmodels.studies.store.folder.LONGEST_INSTANCE", 100)
    file = tmp_path / "mine.json"
    shutil.copy(instances / "placement" / "gautam-2x3.json", file)
    compare(file, "exhaustive", out=tmp_path / "a")
    kept = json.loads((tmp_path / "a" / "comparison.json").read_text())["instances"]["gautam-2x3"]
    assert kept["reference"] == str(file)
    assert not list((tmp_path / "a" / "instances").iterdir())
    assert read_comparison(tmp_path / "a").warnings == ()
    file.unlink()
    (warning,) = read_comparison(tmp_path / "a").warnings
    assert "cannot be judged" in warning


def test_a_folder_of_an_earlier_version_can_be_read(made, tmp_path):
    (tmp_path / "a" / "comparison.json").unlink()
    again = read_comparison(tmp_path / "a")
    assert [run.key for run in again.runs] == [run.key for run in made.runs]
    assert len(again.warnings) == 2
    assert "its answers are taken on trust" in again.warnings[0]


def test_failures_and_refusals_are_read_back(tmp_path):
    made = compare(["gautam-2x3", "avrachenkov-k5"], ["highs:solver=highs", "dejavu"], evaluations=20, out=tmp_path)
    again = read_comparison(tmp_path)
    assert [run.status for run in again.runs] == [run.status for run in made.runs]
    assert "not applicable" in [run.status for run in again.runs]
    assert [run.reason for run in again.runs] == [run.reason for run in made.runs]


def test_a_folder_without_a_comparison_is_one_sentence(tmp_path):
    with pytest.raises(RequestError, match=r"there is no comparison in this folder: it has no runs\.jsonl"):
        read_comparison(tmp_path)
    with pytest.raises(RequestError, match="at least one folder"):
        read_comparison()


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"format": 1, "asked": 3}', '{"format": 1, "asked": [], "instances": 1}']
)
def test_a_broken_record_is_one_sentence(made, tmp_path, text):
    (tmp_path / "a" / "comparison.json").write_text(text)
    with pytest.raises(RequestError, match=r"comparison\.json: "):
        read_comparison(tmp_path / "a")


def test_the_folder_tells_machine_versions_threads_and_budget(made, tmp_path):
    data = json.loads((tmp_path / "a" / "comparison.json").read_text())
    (described,) = data["machines"].values()
    assert described["cores"] >= 1
    assert set(described) >= {"cpu", "platform", "python"}
    assert os.uname().nodename not in described.values()
    assert data["threads"] == 1
    assert data["budget"]["evaluations"] == 60
    assert "optmodels" in data["versions"]
    assert {run.machine for run in made.runs} == set(data["machines"])


# -- appending --------------------------------------------------------------------------------------------------------


def test_appending_adds_problems_strategies_and_seeds(made, tmp_path):
    more = compare("gautam-2x3", ["local-search", STRATEGIES[1]], seeds=3, out=tmp_path / "a", append=True)
    assert len(more.runs) == len(made.runs) + 3 + 1
    assert more.budget == made.budget
    assert more.complete
    assert more.problems == made.problems
    whole = compare(["gautam-2x3"], [*STRATEGIES, "local-search"], seeds=3, evaluations=60)
    assert {(run.strategy, run.seed, run.result.objective) for run in whole.runs} == {
        (run.strategy, run.seed, run.result.objective) for run in more.runs if run.problem == "gautam-2x3"
    }
    assert read_comparison(tmp_path / "a").table() == more.table() == (tmp_path / "a" / "table.txt").read_text()[:-1]
    last = compare("gautam-4x4", "local-search", out=tmp_path / "a", append=True)
    assert last.problems == ("gautam-2x3", "avrachenkov-k5", "gautam-4x4")


def test_appending_runs_nothing_twice(made, tmp_path):
    lines = (tmp_path / "a" / "runs.jsonl").read_text()
    compare(["gautam-2x3", "avrachenkov-k5"], STRATEGIES, seeds=2, out=tmp_path / "a", append=True)
    assert (tmp_path / "a" / "runs.jsonl").read_text() == lines


def test_appending_under_another_budget_is_refused(made, tmp_path):
    with pytest.raises(RequestError, match="only runs under the same budget are compared"):
        compare("gautam-2x3", "local-search", evaluations=61, out=tmp_path / "a", append=True)
    with pytest.raises(RequestError, match="its runs were allowed 1 threads, and 2 is another number"):
        compare("gautam-2x3", "local-search", threads=2, out=tmp_path / "a", append=True)
    with pytest.raises(RequestError, match="appending needs the folder"):
        compare("gautam-2x3", "local-search", append=True)


def test_a_namesake_gets_a_number_beside_what_is_there(made, tmp_path):
    other = replace(load("gautam-2x3"), service_rate=30.0)
    more = compare(other, "exhaustive", out=tmp_path / "a", append=True)
    assert more.problems == ("gautam-2x3", "avrachenkov-k5", "gautam-2x3 (2)")
    assert read_comparison(tmp_path / "a").warnings == ()


def test_appending_to_nothing_is_a_new_comparison(tmp_path):
    assert len(compare("gautam-2x3", "exhaustive", out=tmp_path / "new", append=True).runs) == 1


# -- merging ----------------------------------------------------------------------------------------------------------


def test_folders_are_merged_and_the_same_run_counts_once(made, tmp_path):
    compare(
        ["gautam-2x3", "gautam-4x4"],
        ["annealing:steps=40", "local-search"],
        seeds=3,
        evaluations=60,
        out=tmp_path / "b",
    )
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    whole = merge_comparisons([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert {file: file.read_bytes() for file in before} == before
    once = {(run.problem, run.strategy, run.seed) for run in whole.runs}
    assert len(whole.runs) == len(once) == 6 + 1 + 3 + 6
    assert whole.warnings == ()
    assert read_comparison(tmp_path / "c").table() == whole.table()
    assert read_comparison(tmp_path / "a", tmp_path / "b").table() == whole.table()
    assert read_comparison(tmp_path / "c").warnings == ()
    with pytest.raises(RequestError, match="already holds"):
        merge_comparisons([tmp_path / "a"], tmp_path / "c")


def test_contradictions_are_said_and_the_first_is_kept(made, tmp_path):
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    change_line(tmp_path / "b", 1, evaluations=59)
    whole = read_comparison(tmp_path / "a", tmp_path / "b")
    assert whole.table() == made.table()
    (warning,) = whole.warnings
    assert "contradict each other: gautam-2x3 by annealing:steps=40, seed 0 has evaluations" in warning
    assert warning.endswith("and 59; the first is kept.")


def test_a_bound_above_what_another_has_found_is_said(made, tmp_path):
    compare("gautam-2x3", "local-search", evaluations=60, out=tmp_path / "b")
    change_line(tmp_path / "b", 0, objective=None, decision=None, status="unknown", bound=9.5, measures={}, gap=None)
    (warning,) = read_comparison(tmp_path / "a", tmp_path / "b").warnings
    assert warning == "gautam-2x3: a run proved the bound 9.5, but 8 was found; one of the two is wrong."


def test_machines_that_differ_are_said(made, tmp_path):
    compare("gautam-4x4", "local-search", evaluations=60, out=tmp_path / "b")
    change_line(tmp_path / "b", 0, machine="0123456789ab")
    record = tmp_path / "b" / "comparison.json"
    data = json.loads(record.read_text())
    record.write_text(json.dumps(data | {"machines": {"0123456789ab": {"cpu": "Abacus"}}}))
    (warning,) = read_comparison(tmp_path / "a", tmp_path / "b").warnings
    assert warning.startswith("runs were made on different machines: ")
    assert "Abacus (1); their seconds cannot be compared." in warning


def test_other_budgets_are_not_merged(made, tmp_path):
    compare("gautam-2x3", "local-search", evaluations=61, out=tmp_path / "b")
    with pytest.raises(RequestError, match=r"another budget \(61 evaluations\) than those of .*a \(60 evaluations\)"):
        read_comparison(tmp_path / "a", tmp_path / "b")


def test_another_problem_of_the_same_name_stays_another(made, tmp_path):
    compare(replace(load("gautam-2x3"), service_rate=30.0), "exhaustive", evaluations=60, out=tmp_path / "b")
    whole = merge_comparisons([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert whole.problems == ("gautam-2x3", "avrachenkov-k5", "gautam-2x3 (2)")
    again = read_comparison(tmp_path / "c")
    assert (again.warnings, again.table()) == ((), whole.table())


def test_a_result_file_that_was_lost_is_written_again(made, tmp_path):
    files = sorted((tmp_path / "a" / "results").iterdir())
    before = [file.read_text() for file in files]
    files[0].unlink()
    files[1].write_text("")
    compare(["gautam-2x3", "avrachenkov-k5"], STRATEGIES, seeds=2, evaluations=60, out=tmp_path / "a", resume=True)
    assert [file.read_text() for file in files] == before
