"""Models of what stands in files: each field once, with its type, unit, default, rule and meaning.

A model is a pydantic model, so that it reads data and describes them (`optmodels.data.schemas`), and its errors become
our sentences in one place, `refused`: the place in the file, the value there, and the rule. Fields are annotated with
what reads them:

>>> from typing import Annotated
>>> Width = Annotated[float, Number("widths are numbers above 0.", above=0)]
>>> read_as(Width, 2, "data.width")
2.0
>>> read_as(Width, -1, "data.width")
Traceback (most recent call last):
optmodels.errors.InstanceError: data.width is -1; widths are numbers above 0.

Numbers by the million are read by numpy, not one by one: `Reader` is a field that a function of ours reads.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError, model_validator
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticUndefined, core_schema

from ..errors import InstanceError, MissingField, suggestion
from .fields import Matrix as Matrix
from .fields import is_number, is_whole, read_matrix, read_numbers, refuse_negative, refuse_unknown


def entry(meaning: str, *, unit: str | None = None, default: Any = PydanticUndefined, optional: bool = False) -> Any:
    """Describe a field of a model.

    Parameters
    ----------
    meaning
        What the field says, in a few words.
    unit
        Of its numbers, if they have one.
    default
        What it is where it is left out; without one the field is required.
    optional
        The field may be left out and is ``None`` then, which no file can say.

    Returns
    -------
    Any
        What pydantic takes for a field.
    """
    described: Any = {"description": meaning, "json_schema_extra": None if unit is None else {"unit": unit}}
    return Field(default_factory=lambda: None, **described) if optional else Field(default, **described)


class Refusal(ValueError):  # noqa: N818 - reads as what happened
    """The rule that a value breaks; whoever knows the place in the file makes a sentence of it.

    Parameters
    ----------
    rule
        The end of the sentence.
    steps
        Names and indices from the value to what is wrong in it; none: the value itself.
    """

    def __init__(self, rule: str, *steps: str | int) -> None:
        self.rule, self.steps = rule, steps
        super().__init__(rule)


def _tell_alternatives(schema: dict[str, Any], model: Any) -> None:
    if model.alternatives:
        schema["allOf"] = [{"anyOf": [{"required": [name]} for name in group]} for group in model.alternatives]


class Data(BaseModel):
    """An object in a file: known fields only, those without a default all there."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, json_schema_extra=_tell_alternatives
    )

    #: What such an object looks like, told where something else stands.
    form: ClassVar[str] = "this is an object."
    #: Why a field must be there.
    needed: ClassVar[str] = ""
    #: Groups of fields of which one must be there; the model checks it, and its schema tells it.
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _is_complete(cls, value: Any) -> Any:
        if isinstance(value, cls):  # read before: fields of a problem are given to its constructor again
            return value
        if not isinstance(value, Mapping):
            raise Refusal(cls.form)
        if cls.model_config.get("extra") == "forbid":
            refuse_unknown(value, set(cls.model_fields))
        for name, known in cls.model_fields.items():
            if known.is_required() and name not in value:
                raise MissingField(name, cls.why(name))
        return value

    @classmethod
    def why(cls, name: str) -> str:
        """Why a field must be there."""
        return cls.needed or cls.form


class Spoken(ABC):
    """A value of Python that stands for an object of a file, such as ``om.exponential(mean=10)``."""

    @abstractmethod
    def to_data(self) -> dict[str, Any]:
        """Write the object of a file.

        Returns
        -------
        dict
            As fields of a file read it.
        """


# -- what reads a field -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reader:
    """A field that a function of ours reads, as fast as it can.

    Parameters
    ----------
    function
        Takes the value and returns what is kept, or raises a `Refusal`, or an `InstanceError` whose place begins here.
    described
        JSON Schema of the field.
    """

    function: Callable[[Any], Any]
    described: Mapping[str, Any] = field(default_factory=dict)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.function)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return dict(self.described)


def numbers(rule: str, *, above: bool = False) -> Reader:
    """Read a list of finite numbers, one at least.

    Parameters
    ----------
    rule
        Told of negative numbers, and of zeros where they are refused.
    above
        Refuse zeros, too.

    Returns
    -------
    Reader
        Of a field that becomes a list of floats.
    """

    def read(value: Any) -> list[float]:
        listed = read_numbers(value)
        for index, number in enumerate(listed):
            if number < 0 or (above and number == 0):
                raise InstanceError(f"[{index}]", number, rule)
        return listed

    least = {"exclusiveMinimum" if above else "minimum": 0}
    return Reader(read, {"type": "array", "minItems": 1, "items": {"type": "number", **least}, "rule": rule})


def square(rule: str, *, diagonal: bool = False) -> Reader:
    """Read a square matrix without negative numbers outside its diagonal.

    Parameters
    ----------
    rule
        Told of negative numbers.
    diagonal
        Refuse them on the diagonal, too.

    Returns
    -------
    Reader
        Of a field that becomes an array.
    """

    def read(value: Any) -> Matrix:
        matrix = read_matrix(value)
        refuse_negative(matrix, "", rule, diagonal=diagonal)
        return matrix

    row = {"type": "array", "minItems": 1, "items": {"type": "number"}}
    return Reader(read, {"type": "array", "minItems": 1, "items": row, "form": "square matrix", "rule": rule})


@dataclass(frozen=True, eq=False)
class Number:
    """A finite number; texts and truth values are none, and 3.0 is whole.

    Parameters
    ----------
    rule
        Told of everything else.
    above, least, most, below
        Bounds; the first and the last are not reached.
    whole
        Whether it is a whole number.
    many
        Told of numbers above `most`; the rule unless said.
    """

    rule: str
    _: KW_ONLY
    above: float | None = None
    least: float | None = None
    most: float | None = None
    below: float | None = None
    whole: bool = False
    many: str = ""

    def __call__(self, value: Any) -> float:
        """Read it."""
        if (
            not (is_whole(value) if self.whole else is_number(value))
            or (self.above is not None and value <= self.above)
            or (self.least is not None and value < self.least)
            or (self.below is not None and value >= self.below)
        ):
            raise Refusal(self.rule)
        if self.most is not None and value > self.most:
            raise Refusal(self.many or self.rule)
        return int(value) if self.whole else float(value)

    @property
    def described(self) -> dict[str, Any]:
        """As JSON Schema."""
        bounds = {"exclusiveMinimum": self.above, "minimum": self.least, "maximum": self.most}
        bounds["exclusiveMaximum"] = self.below
        kept = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"type": "integer" if self.whole else "number", **kept, "rule": self.rule}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return self.described


@dataclass(frozen=True, eq=False)
class Choice:
    """One of the values of a ``Literal``, or a truth value.

    Parameters
    ----------
    rule
        Told of everything else.
    """

    rule: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        known = (True, False) if source is bool else get_args(source)

        def choose(value: Any) -> Any:
            if type(value) is not type(known[0]) or value not in known:
                raise Refusal(self.rule)
            return value

        return core_schema.no_info_wrap_validator_function(lambda value, _: choose(value), handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "rule": self.rule}


@dataclass(frozen=True, eq=False)
class Rows:
    """A list, one entry at least; the first that is wrong is told.

    Parameters
    ----------
    rule
        Told of what is no list, or empty.
    most
        Entries of the longest list, if it has an end.
    many
        Told of longer ones, with ``{most}`` and ``{count}``.
    """

    rule: str
    _: KW_ONLY
    most: int | None = None
    many: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def check(value: Any) -> Any:
            if not isinstance(value, list | tuple) or not value:
                raise Refusal(self.rule)
            if self.most is not None and len(value) > self.most:
                raise Refusal(self.many.format(most=self.most, count=len(value)))
            return value

        inner: Any = handler(source)
        inner["fail_fast"] = True  # one sentence is told, and lists may be long
        return core_schema.no_info_before_validator_function(check, inner)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        most = {} if self.most is None else {"maxItems": self.most}
        return {**handler(schema), "minItems": 1, **most, "rule": self.rule}


@dataclass(frozen=True, eq=False)
class Made:
    """What the method ``made`` of a model makes of it, such as a law; what that refuses is told at this place.

    Parameters
    ----------
    model
        The model that reads the field.
    ready
        Returns what Python may give in the place of an object of a file, ready made; ``None``: nothing of the sort.
    """

    model: Any
    ready: Callable[[Any], Any] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._read, handler.generate_schema(self.model))

    def _read(self, value: Any, handler: Any) -> Any:
        made = None if self.ready is None else self.ready(value)
        return handler(value).made() if made is None else made


@dataclass(frozen=True, eq=False)
class OneOf:
    """One of some models, and what its method ``made``, if it has one, makes of it.

    Parameters
    ----------
    models
        By name.
    form
        Told where `tag` is not there.
    tag
        The field that names the model, or a function of the value that does.
    then
        Makes something else of what was made.
    short
        What a plain number stands for: an object with ``...`` in its place.
    ready
        Tells whether Python gave what is made, and no object of a file.
    """

    models: Mapping[str, Any]
    form: str = ""
    tag: str | Callable[[Any], str] = "law"
    then: Callable[[Any], Any] | None = None
    short: Mapping[str, Any] | None = None
    ready: Callable[[Any], bool] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(model) for name, model in self.models.items()}
        schema = core_schema.tagged_union_schema(dict(choices), self.tag)
        return core_schema.no_info_wrap_validator_function(self._read, schema)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        described: dict[str, Any] = handler(schema)
        if self.short is None:
            return described
        choices = described.get("oneOf") or described.get("anyOf") or [described]
        means = json.dumps({**self.short, **dict.fromkeys(self._placeholder, "x")}).replace('"x"', "x")
        number = {"type": "number", "exclusiveMinimum": 0, "description": f"x, short for {means}"}
        return {"anyOf": [number, *choices], "form": f"object, or a number x for {means}"}

    @property
    def _placeholder(self) -> list[str]:
        return [name for name, value in (self.short or {}).items() if value is ...]

    def _read(self, value: Any, handler: Any) -> Any:
        if self.ready is not None and self.ready(value):
            return value
        if isinstance(value, Spoken):
            value = value.to_data()
        if self.short is not None and isinstance(value, int | float) and not isinstance(value, bool):
            return self._read_short(value, handler)
        if isinstance(self.tag, str):
            self._check_tag(value, self.tag)
        try:
            found = handler(value)
        except ValidationError as failure:
            raise refused(failure, "", below=1) from None  # the name of the model is no place in the file
        made = found.made() if hasattr(found, "made") else found
        return made if self.then is None else self.then(made)

    def _read_short(self, value: float, handler: Any) -> Any:
        """Read a number as what it stands for; what is wrong with it is told of the number itself."""
        try:
            return self._read({**(self.short or {}), **dict.fromkeys(self._placeholder, value)}, handler)
        except InstanceError as failure:
            raise Refusal(failure.rule) from None

    def _check_tag(self, value: Any, tag: str) -> None:
        if not isinstance(value, Mapping):
            raise Refusal(self.form)
        if tag not in value:
            raise MissingField(tag, self.form)
        name = value[tag]
        if not isinstance(name, str) or name not in self.models:
            known = suggestion(name if isinstance(name, str) else "", self.models)
            raise Refusal(f"there is no such {tag}. {known}", tag)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_as(model: Any, value: Any, place: str = "data") -> Any:
    """Read a value by a model.

    Parameters
    ----------
    model
        A model, or an annotated type.
    value
        As it stands in the file.
    place
        Where it stands.

    Returns
    -------
    Any
        What the model makes of it.

    Raises
    ------
    InstanceError
        The first thing that is wrong, as one sentence with place, value and rule.
    """
    try:
        return _adapter(model).validate_python(value)
    except ValidationError as failure:
        raise refused(failure, place) from None


@lru_cache(maxsize=64)
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def refused(failure: ValidationError, place: str, below: int = 0) -> InstanceError:
    """The first error that pydantic found, as a sentence of ours; so many steps of its place are left out."""
    first = failure.errors(include_url=False)[0]
    here = _at(place, *first["loc"][below:])
    value: Any = first["input"]
    error = first.get("ctx", {}).get("error")
    if isinstance(error, MissingField):
        return MissingField(_at(here, error.field), error.rule)
    if isinstance(error, InstanceError):
        return InstanceError(_at(here, error.field), error.value, error.rule)
    if isinstance(error, Refusal):
        value = value.to_data() if isinstance(value, Spoken) else value
        for step in error.steps:
            value = value[step]
        return InstanceError(_at(here, *error.steps), value, error.rule)
    if first["type"] == "missing":
        return MissingField(here, "the field is required.")
    if first["type"] == "extra_forbidden":
        return InstanceError(here, value, "there is no such field.")
    message = str(error) if error is not None else f"{first['msg'][0].lower()}{first['msg'][1:]}."
    return InstanceError(here, value, message)


def _at(place: str, *steps: str | int) -> str:
    for step in steps:
        bracket = f"[{step}]" if isinstance(step, int) else step
        place = f"{place}{bracket}" if not place or bracket[:1] in ("", "[", ".") else f"{place}.{bracket}"
    return place
