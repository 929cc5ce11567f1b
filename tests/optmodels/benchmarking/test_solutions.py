"""Solution files: claims that the evaluator finds again, a round trip, and refusals."""

import re
from dataclasses import replace
from datetime import date

import pytest

from optmodels.benchmarking import (
    Solution,
    check_solution,
    kept_decision,
    patch_text,
    read_set,
    read_solutions,
    shipped_sets,
    solutions_text,
)
from optmodels.errors import InstanceError

SET = 'format = 1\nname = "mine"\ntitle = "Mine"\ninstances = ["gautam-2x3", "gautam-4x4", "coffman-4", "loss-3"]\n'

FULL = [
    Solution("gautam-2x3", "optimal", 8.0, None, "dejavu", "exhaustive", date(2026, 11, 18), [0, 0, 1, 1, 1, 0]),
    Solution("gautam-4x4", "feasible", 12.5, 9.0, 'he said "so"\\', None, date(2026, 1, 2)),
    Solution("coffman-4", "feasible", 0.6, None, "x", None, date(2026, 1, 2), {"schedule": [0, 1, 2, 3, -1]}),
    Solution("loss-3"),
]


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.toml").write_text(SET)
    return read_set(tmp_path / "mine.toml")


def test_what_is_written_is_read_back(mine):
    mine.solution_file.write_text(solutions_text("mine", FULL))
    assert list(read_solutions(mine).values()) == FULL


def test_without_a_file_nothing_is_known(mine):
    assert {solution.status for solution in read_solutions(mine).values()} == {"unknown"}


@pytest.mark.parametrize("name", list(shipped_sets()))
def test_the_evaluator_finds_every_value_again(name):
    """All that are kept with a decision; long ones (fleets of 20 000 states) take a second."""
    chosen = read_set(name)
    claims = {key: one for key, one in read_solutions(chosen).items() if one.value is not None}
    for member in chosen.members:
        if member.name in claims:
            instance = member.instance()
            found = check_solution(claims[member.name], instance, instance.problem())
            assert found is None or found.feasible


def test_a_claim_that_is_too_good_is_refuted(mine):
    instance = mine.members[0].instance()
    with pytest.raises(InstanceError, match=r"best_known\.objective is 7\.0"):
        check_solution(replace(FULL[0], value=7.0), instance, instance.problem())
    with pytest.raises(InstanceError):
        check_solution(replace(FULL[0], value=0.0, decision=[0] * 6), instance, instance.problem())


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('set = "mine"', 'set = "yours"', "set is \"yours\"; the file beside the set 'mine' names it"),
        ('"optimal"', '"best"', 'solution[0].status is "best"; it is one of optimal, feasible, infeasible, unknown'),
        ("value = 8.0", "", "solution[0].value is missing; a solution that is optimal has a value"),
        ('proved_by = "exhaustive"', "", "solution[0].proved_by is missing; a solution that is optimal says who"),
        ("2026-11-18", '"2026-11-18"', 'solution[0].when is "2026-11-18"; it is a day such as'),
        ("value = 8.0", "value = inf", "solution[0].value is Infinity; it is a finite number"),
        ("bound = 9.0", "bound = 13.0", "solution[1].bound is 13.0; it is at most the value, 12.5"),
        ("gautam-4x4", "gautam-5x5", "solution[1].instance is \"gautam-5x5\"; the set 'mine' has no such instance"),
        ("gautam-4x4", "gautam-2x3", 'solution[1].instance is "gautam-2x3"; each instance has one solution at most'),
        ('"unknown"', '"unknown"\nvalue = 3', "solution[3].value is 3.0; a solution that is unknown has none"),
        ("by = ", "found_by = ", 'solution[0].found_by is "dejavu"; there is no such field'),
        ("decision = [0,0,1,1,1,0]", "decision = 5", "solution[0].decision is 5; it is a list or a table"),
    ],
)
def test_a_broken_solution_file_is_refused(mine, old, new, sentence):
    text = solutions_text("mine", FULL)
    assert old in text
    mine.solution_file.write_text(text.replace(old, new, 1))
    with pytest.raises(InstanceError, match=re.escape(sentence)) as refused:
        read_solutions(mine)
    assert str(refused.value).startswith(f"{mine.solution_file}: ")


def test_a_patch_changes_the_lines_of_one_instance_only(mine):
    mine.solution_file.write_text(solutions_text("mine", FULL))
    known = read_solutions(mine)
    assert patch_text(mine, known) == ""
    known["gautam-4x4"] = replace(known["gautam-4x4"], value=11.0)
    changed = [line for line in patch_text(mine, known).splitlines() if re.match(r"[-+](?![-+])", line)]
    assert changed == ["-value = 12.5", "+value = 11.0"]
    assert read_solutions(mine)["gautam-4x4"].value == 12.5, "nothing is changed in place"


def test_long_decisions_are_not_kept():
    assert kept_decision([0, 1] * 1000) == [0, 1] * 1000
    assert kept_decision([0.123456789] * 1000) is None
