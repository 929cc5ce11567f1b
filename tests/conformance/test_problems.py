"""Every shipped instance of moderate size keeps the rules for problems."""

import re
from pathlib import Path

import pytest

from optmodels import instance as instances
from optmodels.testing import check_problem

FOLDER = Path(__file__).parents[2] / "instances"
FILES = sorted(FOLDER.glob("*/*.json"))

#: Larger instances are left to the tests of their kind: every rule is checked on many decisions.
MODERATE = 10_000


#: Series of instances that differ in one number; two of each stand for the rest, which are tried by `-m slow`.
SERIES = re.compile(r"avrachenkov-(fig|patience|service)|avrachenkov-k\d+$|talim-table")
STANDING = {
    *(f"avrachenkov-{one}" for one in ("fig2-3", "fig4-7", "k5", "k100")),
    *(f"avrachenkov-{one}" for one in ("patience-0.1", "patience-200", "service-0.5", "service-15")),
    *("talim-table1-0.01-k5-0.4", "talim-table2-0.1-k15-2.4"),
}


def name_of(file: Path) -> str:
    return file.relative_to(FOLDER).as_posix()


def alike(file: Path) -> bool:
    return bool(SERIES.match(file.stem)) and file.stem not in STANDING


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[pytest.mark.slow] if alike(file) else [], id=name_of(file))
        for file in FILES
        if file.stat().st_size <= MODERATE
    ],
)
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
