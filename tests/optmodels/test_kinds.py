"""The record of a kind, and what the registry of records makes of it."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import optmodels.kinds
from optmodels.errors import NameTaken, RequestError, UnknownName
from optmodels.kinds import PARTS, Kind
from optmodels.registry import kinds

SOUND = {
    "name": "coins",
    "question": "Which coins are turned?",
    "paper": "nobody",
    "problem": "collections:Counter",
    "measures": {"heads": "number of coins that show heads"},
}


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.kinds).failed == 0


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("name", "two words", "name is \"two words\"; it is a text without spaces"),
        ("name", 3, "kind 3: name is 3; it is a text"),
        ("question", "a\nb", "question is \"a\\\\nb\"; it is a text on one line"),
        ("paper", " ", "it is a text on one line"),
        ("problem", None, "problem is null; it is a class or a function"),
        ("problem", "collections", "problem is \"collections\"; it is a class or a function, or where one is found"),
        ("picture", "a b:c", "picture is \"a b:c\""),
        ("generator", 3.5, "generator is 3.5"),
        ("measures", {}, "measures is dict; it maps each name"),
        ("measures", ["heads"], "measures is list"),
        ("measures", {"heads": ""}, "it maps each name of a measure to what it means"),
        ("commands", {"Fit It": "a:b"}, "commands is dict; it maps names"),
        ("commands", {"fit": "nowhere"}, "commands is dict"),
        ("recommended", "highs", "recommended is \"highs\"; it is a tuple"),
        ("example", Path("x.json"), "it is the path of an instance, as a text"),
        ("simulated", "yes", "simulated is \"yes\"; it is True or False"),
    ],
)  # fmt: skip
def test_a_field_that_is_none_is_refused_with_its_rule(field, value, rule):
    with pytest.raises(RequestError, match=rule) as failure:
        Kind(**SOUND | {field: value})
    assert "\n" not in str(failure.value)


def test_a_record_cannot_be_changed():
    kind = Kind(**SOUND)
    with pytest.raises(AttributeError):
        kind.name = "others"
    with pytest.raises(TypeError):
        kind.measures["tails"] = "more"


def test_what_a_record_refers_to_may_be_given_itself():
    kind = Kind(**SOUND | {"problem": dict, "picture": print})
    assert (kind.part("problem"), kind.part("picture"), kind.part("beside")) == (dict, print, None)
    with pytest.raises(RequestError, match=f"a kind has no part 'name'; its parts are {', '.join(PARTS)}"):
        kind.part("name")


def test_an_example_is_looked_for_beside_the_packages_and_in_the_working_directory(tmp_path, monkeypatch, root):
    assert kinds["placement"].example_file() == root / "instances" / "placement" / "gautam-2x3.json"
    assert Kind(**SOUND).example_file() is None
    mine = Kind(**SOUND, example="coins/small.json")
    monkeypatch.chdir(tmp_path)
    assert mine.example_file() is None
    (tmp_path / "instances" / "coins").mkdir(parents=True)
    (tmp_path / "instances" / "coins" / "small.json").touch()
    assert mine.example_file() == Path("instances/coins/small.json")
    elsewhere = tmp_path / "instances" / "coins" / "small.json"
    assert Kind(**SOUND, example=str(elsewhere)).example_file() == elsewhere


def test_listing_records_imports_nothing_heavy(root):
    code = (
        "import sys; from optmodels.registry import kinds; assert len(kinds.sound()) == 5; "
        "print([m for m in ('numpy', 'scipy', 'numba', 'pyomo', 'pydantic', 'heuristics', 'queueing', 'typer') "
        "if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert answer.stdout.strip() == "[]"


def test_a_problem_of_no_kind_has_no_record_and_nothing_beside():
    assert kinds.of(object()) is None
    assert kinds.beside(object(), "a.json") == ()
    with pytest.raises(UnknownName, match=r"no problem kind is called 'placment'. Did you mean 'placement'"):
        kinds["placment"]
    with pytest.raises(NameTaken):
        kinds.register("placement", Kind(**SOUND | {"name": "placement"}))


def test_the_table_of_pages_beside_an_instance_is_not_overwritten(tmp_path):
    from types import SimpleNamespace

    problem = SimpleNamespace(kind="freshness", columns=SimpleNamespace(path="pages.parquet"))
    assert kinds.beside(problem, tmp_path / "a.json") == (tmp_path / "pages.parquet",)
