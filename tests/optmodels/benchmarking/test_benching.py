"""`bench`: claims confirmed, bettered, proved and refuted; patches that apply; the command."""

import json
import shutil
import subprocess
from dataclasses import replace
from datetime import date

import pytest

from optmodels.benchmarking import Solution, bench, read_set, read_solutions, solutions_text
from optmodels.cli import main

DAY = date(2026, 11, 18)
SET = 'format = 1\nname = "mine"\ntitle = "Mine"\nstrategies = ["exhaustive"]\ninstances = ["gautam-2x3"]\n'
TRUE = Solution("gautam-2x3", "optimal", 8.0, by="x", proved_by="y", when=DAY, decision=[0, 0, 1, 1, 1, 0])
WORSE = replace(TRUE, status="feasible", proved_by=None, value=23.0, decision=[1, 1, 1, 1, 1, 1])


@pytest.fixture
def benched(tmp_path):
    """Bench one small instance against a claim on it."""

    def run(claim, strategies=None, **limits):
        file = tmp_path / "instances" / "sets" / "mine.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SET)
        chosen = read_set(file)
        chosen.solution_file.write_text(solutions_text("mine", [claim]))
        return bench(chosen, strategies, today=DAY, **limits)

    return run


def finding(found):
    [one] = found.findings
    return one.verdict, one.reason


def test_a_true_claim_is_confirmed_and_nothing_is_offered(benched):
    found = benched(TRUE)
    assert finding(found) == ("confirmed", "reached again.")
    assert found.patch() == "" and not found.offers
    assert found.comparison.best_known == {"gautam-2x3": 8.0}


def test_a_better_value_with_its_proof_is_offered(benched):
    found = benched(WORSE)
    verdict, reason = finding(found)
    offer = found.offers["gautam-2x3"]
    assert verdict == "better" and reason.endswith("; 23 was claimed.")
    assert (offer.status, offer.value, offer.decision, offer.when) == ("optimal", 8.0, [0, 0, 1, 1, 1, 0], DAY)
    assert offer.by == "exhaustive, optmodels 0.1.0" and offer.proved_by == f"{offer.by}; proved again"


def test_a_better_value_without_proof_is_no_proof(benched):
    found = benched(WORSE, ["dejavu"])
    offer = found.offers["gautam-2x3"]
    assert (offer.status, offer.value, offer.proved_by) == ("feasible", 8.0, None)


def test_a_proof_of_a_known_value_is_offered_and_keeps_who_found_it(benched):
    found = benched(replace(TRUE, status="feasible", proved_by=None))
    offer = found.offers["gautam-2x3"]
    assert finding(found)[0] == "proof"
    assert (offer.status, offer.by, offer.decision) == ("optimal", "x", [0, 0, 1, 1, 1, 0])


def test_an_optimum_that_is_none_is_refuted(benched):
    found = benched(replace(WORSE, status="optimal", proved_by="a friend"))
    verdict, reason = finding(found)
    assert verdict == "refuted" and reason.startswith("called optimal by a friend, but 8 by exhaustive")
    assert found.offers["gautam-2x3"].value == 8.0


def test_a_value_that_the_evaluator_does_not_find_is_refuted_and_not_used(benched):
    found = benched(replace(TRUE, value=7.0), ["dejavu"])
    verdict, reason = finding(found)
    assert verdict == "refuted" and "best_known.objective is 7.0" in reason
    assert found.comparison.best_known == {} and found.offers["gautam-2x3"].value == 8.0


def test_a_claim_of_infeasibility_falls_with_a_decision(benched):
    found = benched(Solution("gautam-2x3", "infeasible", proved_by="z", when=DAY))
    verdict, reason = finding(found)
    assert verdict == "refuted" and reason.startswith("called infeasible by z, but 8 by exhaustive")
    assert found.offers["gautam-2x3"].value == 8.0


def test_a_first_value_is_new(benched):
    found = benched(Solution("gautam-2x3"), ["dejavu"])
    assert finding(found) == ("new", "8 by dejavu, optmodels 0.1.0.")


def test_a_claim_that_no_run_reaches(benched):
    found = benched(TRUE, ["annealing:steps=1"], evaluations=1)
    verdict, reason = finding(found)
    assert verdict == "not reached" and not found.offers and reason


def test_a_patch_applies_and_then_nothing_is_offered(benched, tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    found = benched(WORSE)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "apply", "-"], input=found.patch(), text=True, cwd=tmp_path, check=True)
    assert read_solutions(found.chosen)["gautam-2x3"] == found.offers["gautam-2x3"]
    assert bench(found.chosen, today=DAY).patch() == ""


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_lists_sets(capsys):
    assert main(["bench", "--json"]) == 0
    listed = {entry["set"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert len(listed["gautam-25"]["instances"]) == 25 and listed["papers"]["proved"] > 100
    assert main(["bench"]) == 0
    assert "every example of the five papers" in capsys.readouterr().out.lower()


def test_the_command_runs_a_set_and_writes_a_patch(capsys, tmp_path):
    (tmp_path / "mine.toml").write_text(SET)
    patch = tmp_path / "mine.patch"
    words = ["bench", "--strategies", "exhaustive", "dejavu", str(tmp_path / "mine.toml"), "--patch", str(patch)]
    assert main([*words, "--out", str(tmp_path / "runs")]) == 0
    out = capsys.readouterr().out
    assert "0 of 1 claims are confirmed; the others:" in out and " new " in out
    assert "+value = 8.0" in patch.read_text() and (tmp_path / "runs" / "runs.jsonl").is_file()
    assert not (tmp_path / "mine.solutions.toml").exists(), "nothing is changed in place"


def test_the_command_answers_with_json_alone(capsys, tmp_path):
    (tmp_path / "mine.toml").write_text(SET)
    assert main(["bench", str(tmp_path / "mine.toml"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["set"] == "mine" and data["offers"] == ["gautam-2x3"]
    assert data["comparison"]["runs"][0]["objective"] == 8.0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bench", "paper"], "Did you mean 'papers'?"),
        (["bench", "mdp", "--report", "page.pdf"], "a report is an HTML file"),
        (["bench", "none.toml"], "cannot be read: No such file"),
    ],
)
def test_a_request_that_cannot_be_granted_is_one_sentence(capsys, words, sentence):
    assert main(words) == 2
    told = capsys.readouterr()
    assert sentence in told.err and told.out == ""
