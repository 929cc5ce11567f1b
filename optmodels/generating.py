"""Instances that are made: drawn at random, with a seed, or fitted to a log.

A generator is a frozen dataclass whose fields are its options and whose method ``instance()`` returns an `Instance`.
Each kind has its own (`optmodels.placement.generate`, `optmodels.threshold.generate`), named in its record
(`optmodels.kinds.Kind`). One whose instances may be too large for one file has a method ``write`` besides. What is
fitted to a log is made by a function that the record names, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from .data import build, check_options, explained, read_json
from .errors import RequestError
from .instance import Instance, write
from .registry import kinds

#: How the ``source`` of an instance begins that was generated.
SOURCE = "optmodels generate "


class Generator(Protocol):
    """Options of a family of random instances; see also `Contradicting` and `Writing`."""

    kind: ClassVar[str]

    def instance(self) -> Instance: ...


@runtime_checkable
class Contradicting(Protocol):
    """A class of generators that can tell why the options given, by name and without defaults, cannot all be meant."""

    @classmethod
    def contradiction(cls, options: Mapping[str, Any]) -> str | None: ...


@runtime_checkable
class Writing(Protocol):
    """A generator that writes its instances itself, with files beside them; returns what it wrote."""

    def write(self, out: str | os.PathLike[str], progress: Callable[[int, int], None] | None = None) -> list[str]: ...


@runtime_checkable
class Naming(Protocol):
    """A generator that tells which files its ``write`` would write, the instance last."""

    def files(self, out: str | os.PathLike[str]) -> list[str]: ...


def generate(kind: str, **options: Any) -> Instance:
    """Make a random instance of a kind; the same options and seed give the same instance.

    Parameters
    ----------
    kind
        Name of a kind that has a generator.
    **options
        Those of its generator, ``seed`` among them; `optmodels list` with the name of the kind tells them.

    Returns
    -------
    Instance
        One that the kind itself takes.

    Raises
    ------
    RequestError
        If an option is unknown, contradicts another, or makes an instance that the kind itself refuses.

    Examples
    --------
    >>> from optmodels import generate
    >>> generate("placement", rows=2, columns=3, seed=1).name
    'placement-2x3-1'
    """
    return _instance(kind, make_generator(kind, options))


def fit(log: str | os.PathLike[str], kind: str = "freshness", **options: Any) -> Any:
    r"""Fit the numbers of a problem to a log of what was observed.

    Parameters
    ----------
    log
        Path of the log, or the name of a shipped one: of a crawler, for kind "freshness", a CSV or Parquet file with
        columns ``url``, ``interval`` or ``timestamp``, and ``changed``.
    kind
        Name of a kind that can be fitted.
    **options
        Those of the kind; for "freshness" ``prior``, ``confidence``, ``weights``, ``access_time``, ``unit`` and
        ``out``, as ``optmodels fit --help`` tells them.

    Returns
    -------
    object
        What the kind makes of the log; for "freshness" the change rates with their intervals. Its method ``instance``
        makes an instance of them, ``to_frame`` a table.

    Raises
    ------
    RequestError
        If the kind cannot be fitted, has no such option, or the log cannot be understood.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optmodels import fit, solve
    >>> rows = ["url,interval,changed", "a,1,1", "a,2,0", "b,1,0", "b,3,1", "b,1,1"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "crawl.csv")
    ...     length = log.write_text("\n".join(rows))
    ...     fitted = fit(log)
    >>> fitted.to_data()["pages"], solve(fitted.instance(access_time=0.1), "lagrangian").status.value
    (2, 'optimal')
    """
    if not isinstance(log, (str, os.PathLike)):
        raise RequestError(f"a log is the path of a file, or the name of a shipped log; got {log!r}.")
    function = kinds.part(kind, "fit")
    if function is None:
        known = ", ".join(kinds.having("fit"))
        raise RequestError(f"problems of kind {kind!r} cannot be fitted to a log, only those of kind {known}.")
    check_options(function, options, f"fit {kind!r}")
    with kinds.blame(kind, "fit"):
        return function(log, **options)


def generate_to(
    out: str | os.PathLike[str],
    kind: str,
    options: Mapping[str, Any],
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write a random instance of a kind; returns the files written, those beside the instance first.

    Parameters
    ----------
    out
        File of the instance; one that is there is replaced only if it was generated, too.
    progress
        Called now and then with what is done of how much, where an instance is large.
    """
    made = make_generator(kind, options)
    _keep_others(made.files(out) if isinstance(made, Naming) else [os.fspath(out)])
    if isinstance(made, Writing):
        with kinds.blame(kind, "generator"):
            return made.write(out, progress)
    if Path(out).is_dir():
        raise RequestError(f"{os.fspath(out)}: this is a directory; name a file.")
    instance = _instance(kind, made)
    told = instance.source or f"{SOURCE}{kind}"  # by which it is known again
    write(instance.model_copy(update={"source": told}), out)
    return [os.fspath(out)]


def _keep_others(files: Sequence[str]) -> None:
    """Refuse to replace what no generator wrote: somebody's work may be in it."""
    for file in files:
        with explained(file):
            place = Path(file)
            there = place.is_file() or (place.is_dir() and len(files) > 1 and any(place.iterdir()))
        if there and not _is_generated(files[-1]):
            raise RequestError(f"{file}: this exists, and `generate` did not write it; choose another name.")


def _is_generated(file: str) -> bool:
    try:
        content = read_json(file)
    except RequestError:
        return False
    return isinstance(content, Mapping) and str(content.get("source", "")).startswith(SOURCE)


def make_generator(kind: str, options: Mapping[str, Any]) -> Generator:
    """The generator of a kind with these options, as text or as they are."""
    target = kinds.part(kind, "generator")
    if target is None:
        known = ", ".join(kinds.having("generator"))
        raise RequestError(f"no random instances of kind {kind!r} can be made, only those of kind {known}.")
    with kinds.blame(kind, "generator"):
        sentence = target.contradiction(options) if isinstance(target, Contradicting) else None
        if sentence:
            raise RequestError(f"generator {kind!r}: {sentence}")
        made: Generator = build(target, options, f"generator {kind!r}")
    return made


def _instance(kind: str, made: Generator) -> Instance:
    with kinds.blame(kind, "generator"):
        instance = made.instance()
        if instance.kind in kinds:
            instance.problem()  # what no reader would take is not written
    return instance
