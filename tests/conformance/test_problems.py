"""Every shipped instance of moderate size keeps the rules for problems."""

from pathlib import Path

import pytest

from optmodels import instance as instances
from optmodels.testing import check_problem

FOLDER = Path(__file__).parents[2] / "instances"
FILES = sorted(FOLDER.glob("*/*.json"))

#: Larger instances are left to the tests of their kind: every rule is checked on many decisions.
MODERATE = 10_000


def name_of(file: Path) -> str:
    return file.relative_to(FOLDER).as_posix()


@pytest.mark.parametrize("file", [file for file in FILES if file.stat().st_size <= MODERATE], ids=name_of)
def test_a_shipped_instance_keeps_the_rules_for_problems(file):
    check_problem(instances.load(file), decisions=10, steps=60)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_shipped_instance_is_named_after_its_file_and_says_where_it_comes_from(file):
    content = instances.read(file)
    assert content.name == file.stem
    assert content.kind == file.parent.name
    assert content.source


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_best_known_decision_of_a_shipped_instance_holds(file):
    content = instances.read(file)
    problem = instances.problem_of(content, file)
    found = instances.check_best_known(content, problem)
    assert content.best_known is None or content.best_known.decision is None or found is not None


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_shipped_instance_survives_reading_and_writing(file, tmp_path):
    content = instances.read(file)
    instances.write(content, tmp_path / file.name)
    assert instances.read(tmp_path / file.name) == content
