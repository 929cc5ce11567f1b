"""Models described: JSON Schema for programs, and a row for each field, for people and for the documentation.

Rows are read off JSON Schema, so that a kind of another distribution may describe its data by any pydantic model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

#: Bounds as JSON Schema has them, for people.
BOUNDS = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}
NOUNS = {"integer": "whole number", "string": "text", "boolean": "true or false"}
PLURALS = {noun: f"{noun}s" for noun in ("number", "whole number", "text", "object")}


class _Untitled(GenerateJsonSchema):
    """JSON Schema in which a field has no other title than its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False

    def encode_default(self, value: Any) -> Any:
        """Infinity, which JSON has not, is null: there is no bound."""
        return None if isinstance(value, float) and not math.isfinite(value) else super().encode_default(value)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Describe a model for programs.

    Parameters
    ----------
    model
        A pydantic model.

    Returns
    -------
    dict
        JSON Schema, draft 2020-12, with ``unit`` and ``rule`` beside the keywords that it has.
    """
    return model.model_json_schema(schema_generator=_Untitled)


class FieldRow(NamedTuple):
    """What there is to know about a field, as texts.

    Parameters
    ----------
    field
        Place in the data, with ``[]`` for entries of a list; in brackets the law, or the form, it belongs to.
    type
        What stands there.
    unit
        Of its numbers; empty: none.
    default
        In JSON, or "required", or "one of a, b" where one of several must be given; ``+`` joins what goes together.
    rule
        What its value must keep to.
    meaning
        What it says.
    """

    field: str
    type: str
    unit: str
    default: str
    rule: str
    meaning: str


def field_rows(schema: Mapping[str, Any], model: Mapping[str, Any] | None = None) -> list[FieldRow]:
    """A row for each field of an object and of those inside it.

    Parameters
    ----------
    schema
        JSON Schema with the definitions.
    model
        The part of it that describes the object; all of it unless said.

    Returns
    -------
    list of FieldRow
        In the order of the model, each object after the field it stands in.

    Examples
    --------
    >>> schema = {"properties": {"rate": {"type": "number", "exclusiveMinimum": 0, "unit": "per hour"}}}
    >>> field_rows(schema)
    [FieldRow(field='rate', type='number', unit='per hour', default='optional', rule='above 0', meaning='')]
    """
    definitions, met = schema.get("$defs", {}), dict[str, str]()
    return list(_rows(schema if model is None else model, definitions, met, ""))


def _rows(
    part: Mapping[str, Any], definitions: Mapping[str, Any], met: dict[str, str], place: str
) -> Iterator[FieldRow]:
    """Rows of all objects that may stand at a place; `met` knows where definitions were told before."""
    found = [("", "", part)] if "properties" in part else []
    for suffix, name in _objects(part):
        if met.setdefault(name, place) == place:
            found.append((suffix, name, definitions[name]))
    tags = {name: _tag(model) for _, name, model in found}
    told = [tag for tag in tags.values() if tag is not None]
    if len(told) > 1:
        names = ", ".join(f'"{value}"' for _, value in told)
        yield FieldRow(f"{place}.{told[0][0]}", names, "", "required", "", "says which further fields there are")
    named: set[str] = set()
    for suffix, name, model in found:
        tag, value = tags[name] or ("", "")
        for field, described in model.get("properties", {}).items():
            if len(told) > 1 and field == tag:
                continue
            where = f"{place}{suffix}.{field}".lstrip(".")
            before = [met[inner] for _, inner in _objects(described) if inner in met]
            default = _json(described["default"]) if "default" in described else "optional"
            needed = _needed(field, model, [other for end, _, other in found if end == suffix and len(told) < 2])
            kind = f"as {before[0]}" if before else _type(described)
            form = value if len(told) > 1 else model.get("title") if where in named else ""
            named.add(where)
            yield FieldRow(
                f"{where} ({form})" if form else where,
                kind.removesuffix(" or null") if default == "null" else kind,
                described.get("unit", ""),
                needed or default,
                " ".join(dict.fromkeys(_rules(described))),
                described.get("description", ""),
            )
            yield from _rows(described, definitions, met, where)


def _needed(field: str, model: Mapping[str, Any], forms: Sequence[Mapping[str, Any]]) -> str:
    """Tell whether a field is required, or what is instead of it, here or in other forms of the object."""
    ways = {id(form): _ways(form, forms) for form in forms}
    all_ways = ", ".join(way for listed in ways.values() for way in listed)
    for group in _groups(model):
        if field in group:
            return f"one of {', '.join(group) if len(forms) == 1 else all_ways}"
    if field not in model.get("required", ()):
        return ""
    if all(field in form["properties"] for form in forms):
        return "required"
    others = ", ".join(way for form, listed in ways.items() for way in listed if form != id(model))
    return f"required unless {others}" if _alternatives(model) else f"one of {all_ways}"


def _ways(form: Mapping[str, Any], forms: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the ways to give one form of an object: fields of which one suffices, or those that it alone requires."""
    own = [name for name in form.get("required", ()) if any(name not in other["properties"] for other in forms)]
    return _alternatives(form) or [" + ".join(own)]


def _alternatives(model: Mapping[str, Any]) -> list[str]:
    """List the fields of an object of which one must be there."""
    return [name for group in _groups(model) for name in group]


def _groups(model: Mapping[str, Any]) -> list[list[str]]:
    """List the groups of fields of which one must be there."""
    rules = model.get("allOf", ())
    return [[name for choice in rule.get("anyOf", ()) for name in choice.get("required", ())] for rule in rules]


def _parts(part: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What may stand at a place, or, with brackets, in a list there."""
    for choice in (*part.get("oneOf", ()), *part.get("anyOf", ())):
        yield "", choice
    if isinstance(part.get("items"), Mapping):
        yield "[]", part["items"]


def _objects(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names of the definitions that may stand at a place, each with brackets for the lists around it."""
    if "$ref" in part:
        yield "", part["$ref"].rpartition("/")[2]
    for brackets, inner in _parts(part):
        for suffix, name in _objects(inner):
            yield brackets + suffix, name


def _rules(part: Mapping[str, Any], told: bool = False) -> Iterator[str]:
    """Rules of a place and of what stands in lists there; bounds alone where no rule is told."""
    bounds = [f"{word} {_json(part[name])}" for name, word in BOUNDS.items() if name in part]
    if "rule" in part:
        yield part["rule"]
    elif bounds and not told:
        yield ", ".join(bounds)
    for _, inner in _parts(part):
        yield from _rules(inner, told or "rule" in part)


def _tag(model: Mapping[str, Any]) -> tuple[str, str] | None:
    """The field that tells an object from others, and its value."""
    constants = ((name, field["const"]) for name, field in model.get("properties", {}).items() if "const" in field)
    return next(constants, None)


def _type(part: Mapping[str, Any]) -> str:
    """What stands at a place, in a few words."""
    if "form" in part:
        return str(part["form"])
    if "const" in part or "enum" in part:
        return ", ".join(_json(value) for value in part.get("enum", [part.get("const")]))
    choices = dict.fromkeys(_type(inner) for brackets, inner in _parts(part) if not brackets)
    if choices:
        return " or ".join(choices)
    if "$ref" in part:
        return "object"
    kind = part.get("type", "any")
    if kind == "array":
        entries = _type(part["items"]) if "items" in part else "anything"
        several = entries.replace("list of", "lists of", 1).replace("object, or a number x", "objects, or numbers x", 1)
        return f"list of {PLURALS.get(entries, several)}"
    return NOUNS.get(kind, str(kind))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
