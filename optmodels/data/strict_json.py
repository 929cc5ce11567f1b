"""JSON files read strictly: UTF-8, no key twice, finite numbers of ordinary size, sane nesting.

Nothing that is read here is executed, and what is wrong is told in one sentence that names the place. A wrong file is
refused for little more than it costs to parse it.
"""

from __future__ import annotations

import gc
import json
import math
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InstanceError, UnreadableFile

#: Larger files are refused: bulk data belong into columns beside the file.
LARGEST_FILE = 512 * 2**20

#: Deeper nesting is refused: no field needs it, and recursive readers fail on it.
DEEPEST = 60

#: Whole numbers from here on are refused.
HUGE = 2**63


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file of moderate size, strictly: UTF-8, no repeated keys, finite numbers, sane nesting.

    Parameters
    ----------
    path
        Of the file.

    Returns
    -------
    Any
        Its content.

    Raises
    ------
    InstanceError
        One sentence with file, place, value and rule.
    """
    with naming(path), collector_off():
        return _parse(_read_bytes(Path(path)))


def parse_json(text: str, origin: str) -> Any:
    """Read JSON that did not come from a file, as strictly as `read_json`.

    Parameters
    ----------
    text
        The JSON.
    origin
        What it is called in errors.

    Returns
    -------
    Any
        Its content.

    Raises
    ------
    InstanceError
        One sentence with origin, place, value and rule.
    """
    with naming(origin), collector_off():
        return _parse(text.encode("utf-8", "surrogateescape"))


@contextmanager
def naming(origin: str | os.PathLike[str]) -> Iterator[None]:
    """Say where something was read from in errors of this block that do not name a file yet.

    Parameters
    ----------
    origin
        Path of the file, or another name of the source.

    Yields
    ------
    None
        For as long as the block lasts.

    Raises
    ------
    InstanceError
        The same error, with its file named.
    """
    try:
        yield
    except InstanceError as failure:
        raise failure if failure.file else failure.at(os.fspath(origin)) from None


@contextmanager
def collector_off() -> Iterator[None]:
    """Stop looking for cyclic garbage: what is just being read has none, and would be walked again and again.

    Yields
    ------
    None
        For as long as the block lasts.
    """
    usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if usual:
            gc.enable()


# -- inside -----------------------------------------------------------------------------------------------------------


class _Repeated(dict[str, Any]):
    """An object of the file in which a key stands twice; found again by `_check_tree`, which knows the place."""

    key: str = ""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    repeated, seen = _Repeated(content), set[str]()
    for key, _ in pairs:
        if key in seen:
            repeated.key = key
        seen.add(key)
    return repeated


def _read_bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UnreadableFile("this is a directory; name an instance file.")
        if not path.exists():
            raise UnreadableFile("there is no such file.")
        if not path.is_file():
            raise UnreadableFile("this is not a regular file.")
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UnreadableFile(f"the file has {size:.2g} bytes; at most {LARGEST_FILE:.2g} are read.")
        return path.read_bytes()
    except (OSError, ValueError) as failure:
        if isinstance(failure, InstanceError):
            raise
        raise UnreadableFile(f"cannot be read: {getattr(failure, 'strerror', None) or failure}.") from None


def _parse(content: bytes) -> Any:
    if not content.strip():
        raise UnreadableFile("it is empty; a JSON object was expected.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise UnreadableFile(f"this is not a text file: byte {failure.start} is not UTF-8.") from None
    try:
        content = json.loads(text, object_pairs_hook=_pairs)
    except json.JSONDecodeError as failure:
        raise UnreadableFile(
            f"this is not JSON: {failure.msg} (line {failure.lineno}, column {failure.colno})."
        ) from None
    except RecursionError:
        raise UnreadableFile(f"lists and objects are nested deeper than {DEEPEST} levels.") from None
    except ValueError:  # an integer of more than 4300 digits
        raise UnreadableFile("a number has thousands of digits; numbers lie below 2^63.") from None
    check_tree(content)
    return content


def check_tree(content: Any) -> None:
    """Refuse what JSON text can carry and no instance may: repeated keys, NaN, huge numbers, endless nesting.

    The tree is walked in the order of the file. Nothing is kept of it but the way to here, and scalars are evaluated
    together: large files are no larger in memory for being checked, and little slower to check than to read.

    Parameters
    ----------
    content
        What was read from JSON.

    Raises
    ------
    InstanceError
        With the first place that is wrong.
    """
    route: list[tuple[Any, Iterator[tuple[Any, Any]]]] = [(None, iter([("", content)]))]
    while route:
        for key, value in route[-1][1]:
            if not isinstance(value, (dict, list)):
                _check_value(value, _place(route, key))
                continue
            if len(route) > DEEPEST + 1:
                raise UnreadableFile(f"lists and objects are nested deeper than {DEEPEST} levels.")
            if isinstance(value, dict):
                if type(value) is not dict or not all(map(str.isascii, value)):
                    _check_keys(value, _place(route, key))
                if not _sound(value.values()):
                    route.append((key, iter(value.items())))
                    break
            elif not _sound(value):
                route.append((key, enumerate(value)))
                break
        else:
            route.pop()


def _sound(values: Collection[Any]) -> bool:
    """Whether these are scalars that may stand in any file; many are evaluated without a step of Python for each."""
    if len(values) > 10:
        kinds = set(map(type, values))
        if kinds == {str}:
            return all(map(str.isascii, values))
        if kinds == {int}:
            return bool(min(values) > -HUGE and max(values) < HUGE)
        if kinds == {float}:
            return all(map(math.isfinite, values))
        if dict in kinds or list in kinds:
            return False
    for value in values:
        kind = type(value)
        if kind is int:
            if not -HUGE < value < HUGE:
                return False
        elif kind is float:
            if not math.isfinite(value):
                return False
        elif not (value is None or kind is bool or (kind is str and value.isascii())):
            return False
    return True


def _check_keys(value: dict[str, Any], place: str) -> None:
    if isinstance(value, _Repeated):
        raise InstanceError(join_place(place, value.key), value[value.key], "this key stands twice in its object.")
    for key in value:
        _check_text(key, join_place(place, "a key"))


def _check_value(value: Any, place: str) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InstanceError(place or "the file", value, "numbers are finite.")
    elif isinstance(value, int):
        if abs(value) >= HUGE:
            raise InstanceError(place or "the file", value, "whole numbers lie below 2^63.")
    elif isinstance(value, str):
        _check_text(value, place or "the file")


def _check_text(text: str, place: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InstanceError(place, text, "texts are valid Unicode.") from None


def _place(route: list[tuple[Any, Any]], last: Any) -> str:
    """Where in the file we are."""
    place = ""
    for key in [*(key for key, _ in route[1:]), last][1:]:
        place = f"{place}[{key}]" if isinstance(key, int) else join_place(place, key)
    return place


def join_place(place: str, key: str) -> str:
    """Spell the place of a field of an object.

    Parameters
    ----------
    place
        Of the object; empty for the whole file.
    key
        Name of the field.

    Returns
    -------
    str
        Both, with a dot between.
    """
    return f"{place}.{key}" if place else key


def pretty(value: Any, indent: int = 0, width: int = 120) -> str:
    """Write JSON for people: objects one field per line, a list on one line where it fits, a matrix one row per line.

    Parameters
    ----------
    value
        Of plain lists, objects, texts and finite numbers.
    indent
        Letters before all lines but the first.
    width
        Letters of a line, about.

    Returns
    -------
    str
        JSON, without a line end.
    """
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    simple = not isinstance(value, dict) and not (
        isinstance(value, list) and any(isinstance(v, (list, dict)) for v in value)
    )
    if simple or len(flat) + indent <= width // 2 or not value:
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        lines = [
            f"{pad}{json.dumps(key, ensure_ascii=False)}: {pretty(entry, indent + 2, width)}"
            for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(f"{pad}{pretty(entry, indent + 2, width)}" for entry in value) + "\n" + " " * indent + "]"
