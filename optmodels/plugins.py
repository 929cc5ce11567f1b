"""What other distributions offer, found one distribution at a time: a malformed one is named once, and passed by.

Others look for plug-ins too, see `shield`.
"""

from __future__ import annotations

import logging
import multiprocessing
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions
from pathlib import PurePath
from typing import Any

from .errors import brief, printable

#: Entry-point groups that concern us begin so.
PREFIX = "optmodels."

#: What was named.
_told = set[str]()


def entry_points(group: str) -> list[EntryPoint]:
    """What installed distributions offer in a group; each entry knows its distribution, and that has a name."""
    return [point for point in _offered() if point.group == group]


def shield() -> None:
    """Let no malformed distribution stop this process: its entry points count as none, for every library.

    numba, networkx, pydantic and matplotlib look for plug-ins of their own among all distributions, and fail where one
    is malformed. For processes that are ours: the command line and its workers.
    """
    if Distribution.entry_points is not _shielded:
        Distribution.entry_points = _shielded  # type: ignore[method-assign,assignment]


_ORIGINAL: Any = Distribution.entry_points


@property  # type: ignore[misc]
def _shielded(distribution: Distribution) -> EntryPoints:
    try:
        found: EntryPoints = _ORIGINAL.__get__(distribution)
        return found
    except Exception as failure:  # whatever a file of others may hold
        _tell(_label(distribution), failure)
        return EntryPoints(())


@cache
def _offered() -> tuple[EntryPoint, ...]:
    """Entry points in groups of ours; where two folders hold one distribution, the first on the path counts."""
    found: list[EntryPoint] = []
    seen = set[str]()
    for distribution in _installed():
        label = _label(distribution)
        name = re.sub(r"[-_.]+", "-", label).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            offered = [point for point in distribution.entry_points if point.group.startswith(PREFIX)]
            if offered and not isinstance(distribution.name, str):
                raise ValueError("it has no METADATA with a name")
        except Exception as failure:  # whatever a file of others may hold
            _tell(label, failure)
        else:
            found += offered
    return tuple(found)


def _installed() -> Iterator[Distribution]:
    going = iter(distributions())
    while True:
        try:
            yield next(going)
        except StopIteration:
            return
        except Exception as failure:  # a folder on the path that cannot be looked through
            _tell("of a name that cannot be read", failure)
            return


def _label(distribution: Distribution) -> str:
    """What a distribution is called: its folder tells without a file being read, and where there is none to read."""
    folder = PurePath(str(getattr(distribution, "_path", "")))
    if folder.suffix in (".dist-info", ".egg-info"):
        return folder.stem.partition("-")[0]
    try:
        return str(distribution.name)
    except Exception:
        return folder.name or "without a name"


def _tell(label: str, failure: Exception) -> None:
    text = " ".join(str(failure).split())
    reason = brief(f"{type(failure).__name__}: {text}" if text else type(failure).__name__, 200)
    tell_once(label, f"the distribution {brief(label)!r} is passed by, its entry points cannot be read ({reason}).")


def tell_once(label: str, sentence: str) -> None:
    """Name what is broken in a sentence, on stderr unless loggers say otherwise, if it was not named before."""
    if label in _told or multiprocessing.parent_process() is not None:  # whoever started this process has said it
        return
    _told.add(label)
    logging.getLogger("optmodels").warning("%s", printable(f"optmodels: {sentence}"))
