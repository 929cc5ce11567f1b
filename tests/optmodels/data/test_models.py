"""Models of what stands in files: how errors become sentences, and rows of fields from any pydantic model."""

import doctest
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

import optmodels.data.models
import optmodels.data.schemas
from optmodels.data import Choice, Data, Number, Refusal, Rows, entry, field_rows, read_as
from optmodels.errors import InstanceError, MissingField


class Leaf(Data):
    """A leaf."""

    form = 'a leaf is {"size": x}.'

    size: Annotated[float, Number("sizes are numbers above 0.", above=0)] = entry("its length", unit="metres")
    many: Annotated[int, Number("counted from 1 to 9.", least=1, most=9, whole=True)] = entry("how many", default=1)


class Tree(Data):
    """A tree."""

    needed = "a tree needs it."

    leaves: Annotated[tuple[Leaf, ...], Rows("leaves are a list.", most=3, many="{most}, not {count}.")] = entry(
        "all of them"
    )
    colour: Annotated[Literal["red", "green"], Choice("red or green.")] = entry("of all", default="green")
    deep: Annotated[bool, Choice("true or false.")] | None = entry("whether its roots are", default=None)


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.data.models).failed == 0
    assert doctest.testmod(optmodels.data.schemas).failed == 0


def test_what_is_read():
    tree = read_as(Tree, {"leaves": ({"size": 2, "many": 3.0},), "deep": True})
    assert (tree.leaves[0].size, tree.leaves[0].many, tree.colour, tree.deep) == (2.0, 3, "green", True)
    assert isinstance(tree.leaves[0].size, float) and isinstance(tree.leaves[0].many, int)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (3, "data is 3; this is an object."),
        ({}, "data.leaves is missing; a tree needs it."),
        ({"leafs": 1}, "data.leafs is 1; no such field (did you mean 'leaves'?); known are colour, deep, leaves."),
        ({"leaves": []}, "data.leaves is []; leaves are a list."),
        ({"leaves": [{"size": 1}] * 4}, "3, not 4."),
        ({"leaves": [3]}, 'data.leaves[0] is 3; a leaf is {"size": x}.'),
        ({"leaves": [{}]}, 'data.leaves[0].size is missing; a leaf is {"size": x}.'),
        ({"leaves": [{"size": 1}, {"size": 0}]}, "data.leaves[1].size is 0; sizes are numbers above 0."),
        ({"leaves": [{"size": True}]}, "data.leaves[0].size is true; sizes"),
        ({"leaves": [{"size": "2"}]}, 'data.leaves[0].size is "2"; sizes'),
        ({"leaves": [{"size": 10**400}]}, "sizes are numbers above 0."),
        ({"leaves": [{"size": 1, "many": 1.5}]}, "data.leaves[0].many is 1.5; counted from 1 to 9."),
        ({"leaves": [{"size": 1, "many": 10}]}, "data.leaves[0].many is 10; counted from 1 to 9."),
        ({"leaves": [{"size": 1}], "colour": "blue"}, 'data.colour is "blue"; red or green.'),
        ({"leaves": [{"size": 1}], "colour": ["red"]}, 'data.colour is ["red"]; red or green.'),
        ({"leaves": [{"size": 1}], "deep": 1}, "data.deep is 1; true or false."),
    ],
)
def test_what_is_wrong_is_told_with_place_value_and_rule(value, sentence):
    with pytest.raises(InstanceError) as refused:
        read_as(Tree, value)
    assert sentence in str(refused.value)
    assert isinstance(refused.value, MissingField) == ("is missing" in sentence)


def test_a_long_list_of_wrong_entries_is_refused_at_the_first():
    seen = []

    class Counted(Data):
        size: Annotated[float, Number("a number.")] = entry("counted")

        @classmethod
        def why(cls, name):
            seen.append(name)
            return "needed."

    class Many(Data):
        entries: Annotated[tuple[Counted, ...], Rows("a list.")] = entry("many")

    with pytest.raises(InstanceError, match=r"^data\.entries\[0\]\.size is missing; needed\.$"):
        read_as(Many, {"entries": [{}] * 1000})
    assert seen == ["size"]


def test_a_refusal_names_what_stands_at_its_steps():
    def refuse(value):
        raise Refusal("it is wrong.", "a", 1)

    reader = Annotated[object, optmodels.data.Reader(refuse)]
    with pytest.raises(InstanceError, match=r"^here\.a\[1\] is 7; it is wrong\.$"):
        read_as(reader, {"a": [0, 7]}, "here")


class Plain(BaseModel, extra="forbid"):
    """As others write them."""

    rate: float = Field(gt=0, description="of all", json_schema_extra={"unit": "per hour"})
    names: list[str] = []
    inner: list["Plain"] | None = None


def test_models_of_others_are_read_and_described_too():
    with pytest.raises(MissingField, match=r"^data\.rate is missing; the field is required\.$"):
        read_as(Plain, {})
    with pytest.raises(InstanceError, match=r"^data\.rats is 1; there is no such field\.$"):
        read_as(Plain, {"rate": 1, "rats": 1})
    with pytest.raises(InstanceError, match=r"^data\.inner\[0\]\.rate is -1; input should be greater than 0\.$"):
        read_as(Plain, {"rate": 1, "inner": [{"rate": -1}]})
    described = Plain.model_json_schema()
    rows = field_rows(described, {"$ref": "#/$defs/Plain"})
    assert rows[0] == ("rate", "number", "per hour", "required", "above 0", "of all")
    assert [(row.field, row.type, row.default) for row in rows[1:]] == [
        ("names", "list of texts", "[]"),
        ("inner", "as ", "null"),
    ]
