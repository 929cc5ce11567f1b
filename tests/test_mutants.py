"""The list of ``make mutants`` can be planted: each text stands once, changes code that parses, and names its tests."""

import ast
from pathlib import Path

import mutants
import pytest

ROOT = Path(__file__).parents[1]

LIST = mutants.read()


def test_there_are_sixty_of_them_and_none_twice():
    assert len(LIST) >= 60
    assert len({(mutant.text, mutant.becomes) for mutant in LIST}) == len(LIST)


def test_all_three_packages_have_some():
    assert {mutants.place_of(mutant).parts[0] for mutant in LIST} == {"optmodels", "heuristics", "queueing"}


@pytest.mark.parametrize("mutant", LIST, ids=lambda mutant: mutant.label[:60])
def test_a_mutant_can_be_planted(mutant):
    file = ROOT / mutants.place_of(mutant)
    content = file.read_text(encoding="utf-8")
    assert mutant.text != mutant.becomes
    ast.parse(content.replace(mutant.text, mutant.becomes))
    assert mutants.test_files(mutant)


TOY = "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(("check", "expected"), [("add(1, 2) == 3", False), ("add(0, 0) == 0", True)])
def test_a_mistake_is_noticed_by_a_test_that_sees_it_and_survives_one_that_does_not(tmp_path, check, expected):
    for package in mutants.PACKAGES:
        (tmp_path / package).mkdir()
    (tmp_path / "queueing" / "toy.py").write_text(TOY)
    (tmp_path / "queueing" / "__init__.py").write_text("")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_toy.py").write_text(
        f"from queueing.toy import add\n\ndef test_toy():\n    assert {check}\n"
    )
    mutant = mutants.Mutant("return a + b", "return a - b", ("test_toy",))
    assert mutants.survives(mutant, tmp_path) is expected
    assert (tmp_path / "queueing" / "toy.py").read_text() == TOY


def test_text_that_stands_twice_or_nowhere_is_refused(tmp_path):
    (tmp_path / "queueing").mkdir()
    (tmp_path / "queueing" / "toy.py").write_text(TOY + TOY)
    for text in ("return a + b", "return a * b"):
        with pytest.raises(mutants.Unplaced):
            mutants.place_of(mutants.Mutant(text, "return 0", ("test_toy",)), tmp_path)
