"""Models described: rows of fields, and JSON Schema."""

from typing import Annotated

import pytest

from optmodels.data import Data, Number, OneOf, entry, field_rows, read_as, schema_of
from optmodels.errors import InstanceError

Width = Annotated[float, Number("widths are above 0.", above=0, most=9, many="widths are 9 at most.")]


class Square(Data):
    """By its side, or by its area."""

    alternatives = (("side", "area"),)

    side: Width | None = entry("its side", default=None)
    area: Width | None = entry("instead: its area", default=None)
    colour: Width = entry("of its ink")


class Circle(Data):
    """By its centre and radius."""

    centre: Width = entry("its centre")
    radius: Width = entry("its radius")


Figure = Annotated[object, OneOf({"a": Square, "b": Circle}, tag=lambda value: "a" if "colour" in value else "b")]


class Drawing(Data):
    """One figure, and a background."""

    figure: Figure = entry("what is drawn")
    ground: Width = entry("what it is drawn on")


def test_alternatives_are_told_as_such():
    assert {row.field: row.default for row in field_rows(schema_of(Drawing))} == {
        "figure": "required",
        "figure.side": "one of side, area, centre + radius",
        "figure.area": "one of side, area, centre + radius",
        "figure.colour": "required unless centre + radius",
        "figure.centre": "one of side, area, centre + radius",
        "figure.radius": "one of side, area, centre + radius",
        "ground": "required",
    }
    assert schema_of(Square)["allOf"] == [{"anyOf": [{"required": ["side"]}, {"required": ["area"]}]}]
    assert "allOf" not in schema_of(Circle)


def test_a_number_beyond_its_bound_has_a_sentence_of_its_own():
    assert schema_of(Circle)["properties"]["radius"]["maximum"] == 9
    for value, rule in ((0, "widths are above 0."), (10, "widths are 9 at most.")):
        with pytest.raises(InstanceError, match=rule):
            read_as(Width, value)
    assert read_as(Width, 9) == 9.0
