"""Errors a reader can act on: file, field, value, rule, in one sentence.

Whatever a request or a file can get wrong is a `RequestError` (or `heuristics.UnsupportedProblem`), and by inheritance
a ``ValueError`` or a ``LookupError`` too; the command line answers each with its sentence and exit code 2. Anything
else that is raised is a defect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import Any

#: Longest sentence that is printed, and longest word in one; what is cut out of the middle is left to the reader.
LONGEST_SENTENCE, LONGEST_WORD = 2000, 240

_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


class RequestError(ValueError):
    """A request that cannot be understood or granted; the message says what to do about it.

    Examples
    --------
    >>> from optmodels import RequestError, solve
    >>> try:
    ...     solve("instances/placement/gautam-2x3.json", "exhaustive", seed=-1)
    ... except RequestError as failure:
    ...     print(failure)
    a seed is a whole number, zero or more, got -1.
    """

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

    Examples
    --------
    >>> from optmodels import InstanceError
    >>> print(InstanceError("data.demand[3]", -1, "a demand is zero or more.", "small.json"))
    small.json: data.demand[3] is -1; a demand is zero or more.
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


class UnwritableFile(UnreadableFile):
    """A file that cannot be written: no such folder, no right to, no room on the disk."""


@contextmanager
def refusals(beginning: str) -> Iterator[None]:
    """Tell what a queue refuses in the block as a `RequestError` with this beginning.

    >>> with refusals("'small' cannot be simulated"):
    ...     raise ValueError("time must be above 0; give such a time.")
    Traceback (most recent call last):
    optmodels.errors.RequestError: 'small' cannot be simulated: time must be above 0; give such a time.
    """
    try:
        yield
    except RequestError:
        raise
    except ValueError as refusal:
        raise RequestError(f"{beginning}: {refusal}") from None


def printable(text: str) -> str:
    r"""A text with everything a terminal would act on, not show, written as an escape.

    Names of fields and files come from others; a control character in one may move the cursor or recolour the screen.

    >>> print(printable("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if len(text) > LONGEST_SENTENCE:
        text = f"{text[: LONGEST_SENTENCE - 303]}...{text[-300:]}"
    text = _LONG_WORD.sub(lambda word: brief(word[0], LONGEST_WORD), text)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def brief(text: str, width: int = 60) -> str:
    """A name with its middle left out where it is long: both ends tell most.

    >>> brief("a" * 100 + "b" * 100, 20)
    'aaaaaaaaa...bbbbbbbb'
    """
    if len(text) <= width:
        return text
    last = (width - 3) // 2
    return f"{text[: width - 3 - last]}...{text[-last:]}"


def short(value: Any, width: int = 60) -> str:
    """A value as it would stand in a file, cut to one line."""
    try:
        text = json.dumps(_beginning(value, width), ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = " ".join(_shown(value)[: 10 * width].split())
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits
        return f"a very large {type(value).__name__}"


def _beginning(value: Any, width: int, room: Iterator[int] | None = None) -> Any:
    """As much of a value as can be shown: what is cut off need not be written out first.

    Every entry takes a character at least, so that those after the first `width`, counted in order over all levels,
    are not seen.
    """
    room = iter(range(width + 1)) if room is None else room
    if hasattr(value, "tolist") and hasattr(value, "ndim"):  # an array, or a number of one
        value = value[: width + 1].tolist() if value.ndim else value.tolist()
    if isinstance(value, str):
        return value[: width + 1]
    if isinstance(value, (list, tuple)):
        return [_beginning(entry, width, room) for entry, _ in zip(value[: width + 1], room, strict=False)]
    if isinstance(value, dict):
        first = zip(islice(value.items(), width + 1), room, strict=False)
        return {key: _beginning(entry, width, room) for (key, entry), _ in first}
    return value


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
    >>> nearest("rates", ["change_rates", "pages"])
    'change_rates'
    """
    folded = {one.lower().replace("_", "-"): one for one in sorted(known, reverse=True)}
    given = name[:100].lower().replace("_", "-")
    near = get_close_matches(given, folded, n=1, cutoff=0.6)
    parts = [one for one in folded if given in one.split("-")]  # a word of a longer name is nearer than a rhyme
    if len(parts) == 1 and given not in folded:
        return folded[parts[0]]
    return folded[near[0]] if near else None
