"""JSON Schema of whole files, field by field, against the files that are shipped and against broken ones."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from optmodels.errors import RequestError
from optmodels.instance import Instance, data_fields, schema
from optmodels.kinds import Kind
from optmodels.registry import kinds

FOLDER = Path(__file__).parents[2] / "instances"
DESCRIBED = kinds.having("data")
FILES = [file for kind in DESCRIBED for file in sorted((FOLDER / kind).glob("*.json"))]

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value: Any, name: str) -> bool:
    if name in ("number", "integer"):
        whole = name == "number" or float(value).is_integer() if isinstance(value, int | float) else False
        return whole and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def complaints(value: Any, part: dict[str, Any], top: dict[str, Any], place: str = "") -> list[str]:
    """What JSON Schema (draft 2020-12, the keywords that we use) says against a value."""
    if "$ref" in part:
        part = {**top["$defs"][part["$ref"].rpartition("/")[2]], **{k: v for k, v in part.items() if k != "$ref"}}
    found = []
    if "type" in part and not is_type(value, part["type"]):
        return [f"{place}: not of type {part['type']}"]
    if "const" in part and value != part["const"]:
        found.append(f"{place}: not {part['const']}")
    if "enum" in part and value not in part["enum"]:
        found.append(f"{place}: not in {part['enum']}")
    for word, least in (("oneOf", 1), ("anyOf", 1)):
        if word in part:
            tried = [complaints(value, choice, top, place) for choice in part[word]]
            good = sum(not one for one in tried)
            if good < least or (word == "oneOf" and good > 1):
                found.append(f"{place}: {good} of {len(tried)} choices: {tried}")
    if isinstance(value, dict):
        known = part.get("properties", {})
        found += [f"{place}.{name}: missing" for name in part.get("required", ()) if name not in value]
        for name, entry in value.items():
            if name in known:
                found += complaints(entry, known[name], top, f"{place}.{name}")
            elif part.get("additionalProperties", True) is False:
                found.append(f"{place}.{name}: unknown")
    elif isinstance(value, list):
        if not part.get("minItems", 0) <= len(value) <= part.get("maxItems", math.inf):
            found.append(f"{place}: {len(value)} entries")
        for index, entry in enumerate(value):
            found += complaints(entry, part.get("items", {}), top, f"{place}[{index}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, most = part.get("minimum", -math.inf), part.get("maximum", math.inf)
        if not least <= value <= most or value <= part.get("exclusiveMinimum", -math.inf):
            found.append(f"{place}: {value} is out of bounds")
    return found


@pytest.fixture(scope="module")
def schemas() -> dict[str, dict[str, Any]]:
    return {kind: schema(kind) for kind in DESCRIBED}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_shipped_instance_is_what_the_schema_says_and_a_broken_one_is_not(file, schemas):
    content = json.loads(file.read_text(encoding="utf-8"))
    described = schemas[content["kind"]]
    assert complaints(content, described, described) == []
    assert complaints(content | {"data": content["data"] | {"misspelt": 1}}, described, described)
    for name in content["data"]:
        assert complaints(content | {"data": content["data"] | {name: {"no": "such"}}}, described, described), name
    assert complaints(content | {"kind": "other"}, described, described)


@pytest.mark.parametrize(
    ("file", "short", "wrong"),
    [
        ("freshness/coffman-4", {"access_time": 0.5}, {"access_time": -0.5}),
        ("routing/loss-3", {"arrivals": 2, "servers": [1, 2]}, {"servers": [1, 0]}),
        ("threshold/avrachenkov-k5", {"modes": [{"robots": 1, "arrivals": 2.5}]}, {"modes": [2.5]}),
    ],
)
def test_short_forms_are_what_the_schema_says(file, short, wrong, schemas):
    content = json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8"))
    described = schemas[content["kind"]]
    assert complaints(content | {"data": content["data"] | short}, described, described) == []
    assert complaints(content | {"data": content["data"] | wrong}, described, described)
    assert Instance.from_data(content | {"data": content["data"] | short, "best_known": None}).problem() is not None
    with pytest.raises(RequestError):
        Instance.from_data(content | {"data": content["data"] | wrong, "best_known": None}).problem()


@pytest.mark.parametrize("kind", DESCRIBED)
def test_every_field_is_described(kind, schemas):
    json.dumps(schemas[kind], allow_nan=False)
    rows = data_fields(kind)
    assert len({row.field for row in rows}) == len(rows)
    for row in rows:
        assert row.type and row.default and row.meaning and row.type != "any", row
        if row.type.split()[-1].rstrip("s") == "number":
            assert row.rule, row


def test_a_kind_that_does_not_describe_its_data_says_so(monkeypatch):
    bare = Kind(name="bare", question="Which?", paper="none", problem="a:b", measures={"m": "none"})
    monkeypatch.setattr(type(kinds), "part", lambda self, name, part: bare.part(part))
    monkeypatch.setattr(type(kinds), "origin", lambda self, name: "somewhere")
    with pytest.raises(RequestError, match=r"problem kind 'bare' \(somewhere\) does not describe its data"):
        schema("bare")
