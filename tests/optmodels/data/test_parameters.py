"""Parameters of classes, from text and from files."""

import doctest
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest

import optmodels.data.parameters
from optmodels.data import build, from_json, from_text, parameter_list
from optmodels.errors import RequestError


@dataclass(frozen=True)
class Walker:
    """A strategy with one field of each type."""

    steps: int = 100
    start: float = 1.5
    careful: bool = False
    rule: str = "first"
    limit: int | None = None
    law: Literal["up", "down"] = "up"
    name: ClassVar[str] = "walker"


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.data.parameters).failed == 0


def test_parameters_are_converted_as_annotated():
    given = {"steps": "1e3", "start": "2", "careful": "yes", "rule": "best", "limit": "none", "law": "down"}
    assert build(Walker, given, "walker") == Walker(1000, 2.0, True, "best", None, "down")
    assert build(Walker, {"limit": "7", "start": 3.5}, "walker") == Walker(limit=7, start=3.5)


@pytest.mark.parametrize(
    ("key", "text", "rule"),
    [
        ("steps", "many", "is a whole number"),
        ("steps", "1.5", "is a whole number"),
        ("steps", "1e400", "is a whole number"),
        ("steps", "nan", "is a whole number"),
        ("start", "hot", "is a number"),
        ("start", "nan", "is a number"),
        ("careful", "perhaps", "is true or false"),
        ("law", "sideways", "is one of up, down"),
        ("limit", "few", "is a whole number"),
        ("steps", "none", "is a whole number"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(key, text, rule):
    with pytest.raises(RequestError, match=rf"walker: parameter '{key}' {rule}, got '{text}'"):
        build(Walker, {key: text}, "walker")


def test_an_unknown_parameter_is_answered_with_fields_and_defaults():
    with pytest.raises(
        RequestError,
        match=r"no parameter 'stepz' \(did you mean 'steps'\?\); "
        r"it takes steps=100, start=1.5, careful=false, rule=first",
    ):
        build(Walker, {"stepz": "1"}, "walker")


def test_a_class_without_fields_takes_no_parameters():
    assert parameter_list(object) == "no parameters"
    with pytest.raises(RequestError, match="it takes no parameters"):
        build(object, {"x": "1"}, "thing")


def test_a_required_parameter_is_asked_for():
    @dataclass
    class Needy:
        budget: int

    with pytest.raises(RequestError, match=r"needs the parameter 'budget'; it takes budget \(required\)"):
        build(Needy, {}, "needy")


def test_what_a_class_itself_refuses_is_one_sentence():
    @dataclass
    class Strict:
        size: int = 1

        def __post_init__(self) -> None:
            raise ValueError("size must be\n odd.")

    with pytest.raises(RequestError, match=r"strict: size must be odd."):
        build(Strict, {"size": "2"}, "strict")


def test_annotations_that_cannot_be_resolved_fall_back_on_the_defaults():
    @dataclass
    class Odd:
        steps: "NotImportedHere" = 3  # noqa: F821

    assert build(Odd, {"steps": "4"}, "odd").steps == 4


def test_text_is_read_in_the_order_of_the_narrowest_type():
    assert from_text("1", int | float | str) == 1
    assert isinstance(from_text("1.5", int | float | str), float)
    assert from_text("x", int | float | str) == "x"
    with pytest.raises(ValueError, match="cannot be written as text"):
        from_text("x", dict)


def test_json_values_are_held_against_annotations():
    assert from_json(3, float) == 3
    assert from_json(["a", "b"], tuple[str, ...]) == ("a", "b")
    assert from_json(None, int | None) is None
    assert from_json({"a": 1}, Any) == {"a": 1}
    for value, annotation in ((True, float), (1.5, int), ("1", int), (None, int), (1, bool), (3, str)):
        with pytest.raises(ValueError):
            from_json(value, annotation)
