"""What stands behind a name, for `optmodels list NAME`: read off the class, its fields and its documentation."""

from __future__ import annotations

import inspect
import re
import types
import typing
from dataclasses import MISSING, Field, dataclass
from textwrap import wrap
from typing import Any

from ..data import field_types, is_required, parameter_fields
from ..errors import short
from ..results import plain

#: Columns of running text where the terminal does not say.
USUAL_WIDTH = 100


@dataclass(frozen=True)
class Parameter:
    """One parameter of a class that a name stands for.

    Parameters
    ----------
    name, default
        As they are written; the default is a text, ``None`` if the parameter must be given.
    value
        The default itself.
    choices
        The values allowed, where they can be listed.
    text
        What the documentation of the class says about it.
    """

    name: str
    default: str | None
    value: Any
    choices: tuple[str, ...]
    text: str

    @property
    def head(self) -> str:
        """The parameter as it would be given, with its default."""
        return f"{self.name} (required)" if self.default is None else f"{self.name}={self.default}"

    def to_data(self) -> dict[str, Any]:
        """The JSON object of ``optmodels list NAME --json``."""
        return {
            "name": self.name,
            "required": self.default is None,
            "default": plain(self.value),
            "choices": list(self.choices),
            "text": self.text,
        }


def summary_of(target: Any) -> str:
    """The first paragraph of the documentation, on one line."""
    return plain_text(_documentation(target).split("\n\n")[0])


def parameters_of(target: Any) -> list[Parameter]:
    """The parameters of a class, in order, with what its documentation says about each."""
    hints, texts = field_types(target), _texts(target)
    return [
        Parameter(name, *_default(field), _choices(hints.get(name)), texts.get(name, ""))
        for name, field in parameter_fields(target).items()
    ]


def explanation(parameters: list[Parameter], width: int | None) -> str:
    """Parameters for people: those explained together stand together, each with its default and its choices."""
    lines: list[str] = []
    room = min(width or USUAL_WIDTH, USUAL_WIDTH)
    groups: list[list[Parameter]] = []
    for parameter in parameters:
        if groups and parameter.text and groups[-1][0].text == parameter.text:
            groups[-1].append(parameter)
        else:
            groups.append([parameter])
    for group in groups:
        heads = ", ".join(one.head for one in group)
        lines += wrap(heads, max(room, 30), initial_indent=" " * 4, subsequent_indent=" " * 4)
        told = [group[0].text] if group[0].text else []
        told += [f"allowed for {one.name}: {', '.join(one.choices)}" for one in group if one.choices]
        for text in told:
            lines += wrap(text, max(room, 30), initial_indent=" " * 8, subsequent_indent=" " * 8)
    return "\n".join(lines)


def plain_text(text: str) -> str:
    """Documentation without its marks, on one line.

    >>> plain_text("The ``'first'`` of all `Incremental` ones,  :math:`x^2`.")
    "The 'first' of all Incremental ones, x^2."
    """
    return " ".join(re.sub(r"(?::\w+:)?(`+)(.*?)\1", r"\2", text, flags=re.DOTALL).split())


def _documentation(target: Any) -> str:
    text = inspect.getdoc(target) or ""
    made = f"{getattr(target, '__name__', '')}("  # what a dataclass without documentation gets from Python
    return "" if text.startswith(made) else text


def _texts(target: Any) -> dict[str, str]:
    """Parameter name to its explanation; a class explains parameters that it has from another once again, or not."""
    texts: dict[str, str] = {}
    for owner in reversed(getattr(target, "__mro__", (target,))):
        texts |= _own_texts(owner)
    return texts


def _own_texts(target: Any) -> dict[str, str]:
    """Those in the section of the documentation that numpydoc calls so."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", _documentation(target), re.DOTALL | re.MULTILINE)
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in (found[1] if found else "").splitlines():
        if line and not line[0].isspace():
            names = [name.strip() for name in line.partition(":")[0].split(",")]
        else:
            texts |= {name: f"{texts.get(name, '')} {line.strip()}" for name in names}
    return {name: plain_text(text) for name, text in texts.items()}


def _default(field: Field[Any]) -> tuple[str | None, Any]:
    if is_required(field):
        return None, None
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if value is None or isinstance(value, str):
        return "none" if value is None else value, value
    return short(plain(value)), value


def _choices(annotation: Any) -> tuple[str, ...]:
    """The texts a parameter takes, where it takes nothing else."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    options = typing.get_args(annotation) if union else (annotation,)
    choices: list[str] = []
    for option in options:
        if typing.get_origin(option) is typing.Literal:
            choices += map(str, typing.get_args(option))
        elif option is type(None):
            choices.append("none")
        else:
            return ()
    return tuple(choices)
