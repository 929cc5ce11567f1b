"""Errors a reader can act on: file, field, value, rule, in one sentence.

Whatever a request or a file can get wrong is a `RequestError` (or `heuristics.UnsupportedProblem`), and by inheritance
a ``ValueError`` or a ``LookupError`` too; the command line answers each with its sentence and exit code 2. Anything
else that is raised is a defect.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class RequestError(ValueError):
    """A request that cannot be understood or granted; the message says what to do about it."""

    def __str__(self) -> str:
        return printable(super().__str__())


class UnknownName(RequestError, LookupError):  # noqa: N818 - reads as what happened
    """A name that nothing answers to."""


class NameTaken(RequestError):  # noqa: N818 - reads as what happened
    """Two owners claim one name."""


class BrokenPlugin(RequestError):  # noqa: N818 - reads as what happened
    """What a name stands for cannot be loaded here."""


class InstanceError(RequestError):
    """An instance cannot be understood.

    Parameters
    ----------
    field
        Place of the value, such as ``data.demand[3]``.
    value
        What stands there.
    rule
        What should, as the end of the sentence.
    file
        Where it was read from, filled in by the loader.
    """

    def __init__(self, field: str, value: Any, rule: str, file: str | None = None) -> None:
        self.field, self.value, self.rule, self.file = field, value, rule, file
        super().__init__(field, value, rule, file)

    def __str__(self) -> str:
        return printable(f"{self._where}{self.field} is {short(self.value)}; {self.rule}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.value, self.rule, self.file)

    @property
    def _where(self) -> str:
        return f"{self.file}: " if self.file else ""

    def at(self, file: str) -> InstanceError:
        """The same error with its file named."""
        return type(self)(self.field, self.value, self.rule, file)


class MissingField(InstanceError):  # noqa: N818 - reads as what happened
    """A required field is not there."""

    def __init__(self, field: str, rule: str, file: str | None = None) -> None:
        super().__init__(field, None, rule, file)

    def __str__(self) -> str:
        return printable(f"{self._where}{self.field} is missing; {self.rule}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.rule, self.file)

    def at(self, file: str) -> MissingField:
        """The same error with its file named."""
        return type(self)(self.field, self.rule, file)


class UnreadableFile(InstanceError):  # noqa: N818 - reads as what happened
    """A file that is wrong as a whole, not in one field: absent, not JSON, torn."""

    def __init__(self, sentence: str, file: str | None = None) -> None:
        super().__init__("", None, sentence, file)

    def __str__(self) -> str:
        return printable(f"{self._where}{self.rule}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rule, self.file)

    def at(self, file: str) -> UnreadableFile:
        """The same error with its file named."""
        return type(self)(self.rule, file)


def printable(text: str) -> str:
    r"""A text with everything a terminal would act on, not show, written as an escape.

    Names of fields and files come from others; a control character in one may move the cursor or recolour the screen.

    >>> print(printable("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def short(value: Any, width: int = 60) -> str:
    """A value as it would stand in a file, cut to one line."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = " ".join(repr(value).split())
    return text if len(text) <= width else f"{text[: width - 3]}..."


def suggestion(name: str, known: Iterable[str]) -> str:
    """The rest of a sentence about an unknown name: the nearest known one, and all of them.

    >>> suggestion("genetik", ["annealing", "genetic"])
    "Did you mean 'genetic'? Known: annealing, genetic."
    >>> suggestion("x", [])
    'None is known.'
    """
    names = sorted(known)
    if not names:
        return "None is known."
    meant = nearest(name, names)
    question = "" if meant is None else f"Did you mean {meant!r}? "
    return f"{question}Known: {', '.join(names)}."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelled one was probably meant to be, ``None`` if none is near.

    >>> nearest("step", ["coolings", "steps"])
    'steps'
    """
    folded = {one.lower().replace("_", "-"): one for one in sorted(known, reverse=True)}
    near = get_close_matches(name.lower().replace("_", "-"), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None
