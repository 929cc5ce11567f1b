"""`tools/fingerprints.py` sees what was changed, and nothing in what was only moved."""

import subprocess

import fingerprints
import pytest

MODULE = '''"""Evaluate a toy, as `queueing.laws` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .numerics import root

if TYPE_CHECKING:
    from .laws import Law

__all__ = ["evaluate"]

TARGET = "optmodels.toy:Toy"
LIMIT = 10


def evaluate(law: Law) -> float:
    """Evaluate a law."""
    from .kernel import run

    return root(run(law)) + 1.0


class Toy:
    """Hold a limit."""

    limit = LIMIT
'''


@pytest.fixture
def project(tmp_path):
    """A repository whose packages hold one module, in one commit."""
    for package in fingerprints.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text('"""A door."""\n')
    (tmp_path / "queueing" / "toy.py").write_text(MODULE)
    commit(tmp_path)
    return tmp_path


def commit(folder):
    identity = ("-c", "user.name=toy", "-c", "user.email=toy@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "toy")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def rewrite(project, *changes):
    text = MODULE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (project / "queueing" / "toy.py").write_text(text)


def compare(project, capsys, *words):
    code = fingerprints.main(["--against", "HEAD", *words], project)
    return code, [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:-2]]


def test_an_untouched_tree_is_equal(project, capsys):
    assert compare(project, capsys) == (0, [])


def test_a_moved_file_is_equal(project, capsys):
    room = project / "queueing" / "rooms"
    room.mkdir()
    (project / "queueing" / "toy.py").rename(room / "model.py")
    assert compare(project, capsys) == (0, [])


@pytest.mark.parametrize(
    "change",
    [
        ("from .numerics import root", "from ..numerics.roots import root"),
        ("    from .kernel import run\n", "    from .simulation.kernel import run\n"),
        ("    from .laws import Law", "    from queueing.processes.laws import Law"),
        ('__all__ = ["evaluate"]', '__all__ = ["Toy", "evaluate"]'),
        ("optmodels.toy:Toy", "optmodels.toys.problem:Toy"),
        ("`queueing.laws`", "`queueing.processes.laws`"),
        ("LIMIT = 10\n", "LIMIT = (  # why\n    10\n)\n"),
    ],
    ids=["import", "inner-import", "type-import", "all", "target", "mention", "layout"],
)
def test_what_says_where_things_are_does_not_count(project, capsys, change):
    rewrite(project, change)
    assert compare(project, capsys) == (0, [])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (("LIMIT = 10", "LIMIT = 11"), "LIMIT"),
        (("+ 1.0", "- 1.0"), "evaluate"),
        (("limit = LIMIT", "limit = LIMIT + 1"), "Toy"),
        (("optmodels.toy:Toy", "optmodels.toy:Other"), "TARGET"),
        (("Evaluate a law.", "Judge a law."), "evaluate"),
        (("Evaluate a toy", "Judge a toy"), "(docstring)"),
    ],
    ids=["constant", "function", "class", "target", "docstring", "module-docstring"],
)
def test_a_change_is_named(project, capsys, change, name):
    rewrite(project, change)
    place = f"queueing/toy.py: {name}"
    assert compare(project, capsys) == (1, [["lost", place], ["added", place]])


def test_what_is_lost_and_what_is_added_are_told_apart(project, capsys):
    rewrite(project, ("LIMIT = 10\n", ""))
    (project / "heuristics" / "more.py").write_text("STEP = 2\n")
    told = [["lost", "queueing/toy.py: LIMIT"], ["added", "heuristics/more.py: STEP"]]
    assert compare(project, capsys) == (1, told)


def test_the_number_of_bodies_that_are_alike_counts(project, capsys):
    (project / "heuristics" / "again.py").write_text("LIMIT = 10\n")
    code, told = compare(project, capsys)
    assert code == 1
    assert told == [
        ["added", "heuristics/again.py: LIMIT (1 -> 2 alike)"],
        ["added", "queueing/toy.py: LIMIT (1 -> 2 alike)"],
    ]


def test_code_alone_does_not_see_docstrings(project, capsys):
    rewrite(project, ("Evaluate a law.", "Judge a law."), ("Evaluate a toy", "Judge a toy"))
    assert compare(project, capsys, "--code") == (0, [])
    rewrite(project, ("LIMIT = 10", "LIMIT = 11"))
    assert compare(project, capsys, "--code")[0] == 1


def test_exact_sees_where_a_target_is(project, capsys):
    rewrite(project, ("optmodels.toy:Toy", "optmodels.toys.problem:Toy"))
    assert compare(project, capsys, "--exact")[0] == 1


def test_new_doors_can_be_left_out(project, capsys):
    (project / "queueing" / "rooms").mkdir()
    (project / "queueing" / "rooms" / "__init__.py").write_text('"""A room."""\n')
    assert compare(project, capsys)[0] == 1
    assert compare(project, capsys, "--without-doors") == (0, [])


def test_a_revision_that_is_none_ends_in_two(project, capfd):
    assert fingerprints.main(["--against", "nowhere"], project) == 2
    assert "nowhere" in capfd.readouterr().err


def test_the_digest_depends_on_the_multiset_only(project, capsys):
    def told():
        assert fingerprints.main([], project) == 0
        return capsys.readouterr().out.rpartition("digest ")[2]

    first = told()
    (project / "queueing" / "toy.py").rename(project / "heuristics" / "toy.py")
    assert told() == first
    (project / "optmodels" / "more.py").write_text("LIMIT = 10\n")
    assert told() != first
