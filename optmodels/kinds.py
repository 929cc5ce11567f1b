"""A kind of problem as one value: what is asked, who asked it, and where everything that belongs to it is found.

The command line, the pictures, the generators, the documentation and the conformance tests read this record, and
nothing else, to learn what a kind has: a kind of another distribution that offers one gets all of it.

>>> from optmodels.registry import kinds
>>> kinds["placement"].recommended
('highs', 'large-neighbourhood', 'dejavu', 'annealing')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from .errors import RequestError, short

#: The thing itself, or where it is found: ``"module:name"``, imported when it is first used.
Reference: TypeAlias = str | Callable[..., Any]

#: Fields that refer to something; `Kind.part` loads it.
PARTS = (
    "problem",
    "data",
    "generator",
    "picture",
    "fit",
    "visits",
    "beside",
    "on_cluster",
    "choice",
    "portfolio",
    "words",
)

#: What a portfolio proves: for `Kind.strategies`.
PORTFOLIO = "proves what its members prove together; the best decision and the best bound of several strategies"

#: What searches that take any discrete decisions prove, and for what size: for `Kind.strategies`.
SEARCHES = MappingProxyType(
    {
        "exhaustive": "proves the optimum, or that nothing is feasible; up to 1e9 decisions",
        "annealing": "proves nothing; any size, and usually the best of the searches",
        "local-search": "proves nothing; any size",
        "genetic": "proves nothing; any size, for comparison",
        "best-of": PORTFOLIO,
    }
)

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_COMMAND = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, eq=False)
class Kind:
    """What there is to know about one kind of problem.

    Parameters
    ----------
    name
        As it stands in files (``"kind": "placement"``) and on the command line; also the name of the entry point.
    question
        What is decided, in one line that ends in a question mark.
    paper
        Where the question comes from: authors, title, journal, year.
    problem
        Class of the problems, or ``"module:Class"``: it has a class method ``from_data``.
    measures
        Name of a measure to what it means, with its unit; every name in ``measure_names`` of the class is there.
    data
        Pydantic model of the ``data`` of its files (`optmodels.data.Data`, or any other), for ``optmodels schema``.
    recommended
        Names of strategies to begin with, first the one whose answers are proved to be best.
    strategies
        Names of the strategies that take problems of the kind to what each proves, and for what size. Others that take
        them need not be told here; `SEARCHES` has those that take any discrete decisions.
    example
        The smallest instance: a path relative to the folder ``instances``, or an absolute one in the folder of another
        distribution; ``None`` if there is none.
    generator
        Class of the options of random instances (`optmodels.generating.Generator`), if there is one.
    picture
        Function of a problem and of a result, or ``None``, that draws both, if there is one. It may take ``ax`` and
        ``panel`` as keywords, see `optmodels.plotting.open_panels`.
    fit
        Function that makes an instance, or what leads to one, from a log, for `optmodels.fit`: it takes the path of the
        log, and options of its own by name.
    visits
        Function of a problem and of a decision that tells what is done when, column by column, for `optmodels.visits`;
        it takes ``out``, a file to write it to, ``slots``, ``seed``, and options of its own by name.
    simulated
        Whether decisions can be tried out: problems have a method ``experiment``.
    commands
        What the kind adds to the command line: name of a command to its function, as `typer` takes it.
    beside
        Function of a problem and of the path of its instance: the other files that were read, which no answer may
        overwrite. Without it there are none.
    on_cluster
        Context manager that opens an instance, by path and address, on a Dask cluster, for ``solve --cluster``.
    choice
        Function of a problem for the strategy ``auto``: pairs of a strategy, as it is written after ``--strategy``, and
        the reason for it, a clause that follows a colon. The first that takes the problem is used; where none does, or
        there is no such function, the first that is `recommended` and does.
    portfolio
        Function of a problem that yields the strategies, as they are written after ``--strategy``, among which
        ``best-of`` shares its budget; without it, what ``auto`` would choose and those that are `recommended`.
    words
        Function of a problem and of an answer, as a result file has it, that tells the decision in words, a line each:
        what people read instead of a long list.
    beginning
        Path, as that of `example`, of the instance that ``optmodels new`` begins with; `example` unless given.

    Raises
    ------
    RequestError
        If a field is none of what is said here; the sentence names the kind, the field, the value and the rule.

    Notes
    -----
    `problem`, `data`, `generator`, `picture`, `fit`, `visits`, `beside`, `on_cluster`, `choice`, `portfolio`, `words`
    and the values of `commands` may be given as ``"module:name"``, which is imported when it is first used. A record in
    a distribution should give them so, and stand in a module that imports little: records are loaded to list kinds and
    to print the help of the command line.

    Examples
    --------
    >>> coins = Kind(
    ...     name="coins",
    ...     question="Which coins are turned?",
    ...     paper='A. Author, "Coins", Journal of Games 1 (2001), 1-9.',
    ...     problem="collections:Counter",
    ...     measures={"heads": "number of coins that show heads"},
    ...     recommended=("exhaustive",),
    ... )
    >>> coins.part("problem").__name__, coins.part("picture")
    ('Counter', None)
    >>> Kind(name="coins", question="Which?", paper="", problem="collections", measures={})
    Traceback (most recent call last):
    optmodels.errors.RequestError: kind 'coins': paper is ""; it is a text on one line.
    """

    name: str
    question: str
    paper: str
    problem: Reference
    measures: Mapping[str, str]
    recommended: tuple[str, ...] = ()
    example: str | None = None
    generator: Reference | None = None
    picture: Reference | None = None
    simulated: bool = False
    commands: Mapping[str, Reference] = field(default_factory=dict)
    beside: Reference | None = None
    on_cluster: Reference | None = None
    data: Reference | None = None
    fit: Reference | None = None
    visits: Reference | None = None
    choice: Reference | None = None
    portfolio: Reference | None = None
    strategies: Mapping[str, str] = field(default_factory=dict)
    words: Reference | None = None
    beginning: str | None = None

    def __post_init__(self) -> None:
        """Check every field, and keep the mappings from being changed."""
        if not _is_line(self.name) or any(c in self.name for c in ":,= "):
            self._refuse("name", "it is a text without spaces, colons, commas and equals signs.")
        for text in ("question", "paper"):
            if not _is_line(getattr(self, text)):
                self._refuse(text, "it is a text on one line.")
        for part in PARTS:
            if (part == "problem" or getattr(self, part) is not None) and not _is_reference(getattr(self, part)):
                self._refuse(part, 'it is a class or a function, or where one is found: "module:name".')
        if not _is_mapping(self.measures, _is_line) or not self.measures:
            self._refuse("measures", "it maps each name of a measure to what it means, with its unit.")
        if not _is_mapping(self.commands, _is_reference) or not all(map(_COMMAND.fullmatch, self.commands)):
            self._refuse("commands", 'it maps names (small letters, digits, dashes) to functions, or "module:name".')
        if not _is_mapping(self.strategies, _is_line):
            self._refuse("strategies", "it maps names of strategies to what each proves, and for what size.")
        if not isinstance(self.recommended, tuple) or not all(map(_is_line, self.recommended)):
            self._refuse("recommended", "it is a tuple of names of strategies.")
        for path in ("example", "beginning"):
            if getattr(self, path) is not None and not _is_line(getattr(self, path)):
                self._refuse(path, "it is the path of an instance, as a text, or None.")
        if not isinstance(self.simulated, bool):
            self._refuse("simulated", "it is True or False.")
        for mapping in ("measures", "commands", "strategies"):
            object.__setattr__(self, mapping, MappingProxyType(dict(getattr(self, mapping))))

    def part(self, name: str) -> Any:
        """What a field of `PARTS` refers to, imported if need be; ``None`` if the kind has none."""
        if name not in PARTS:
            raise RequestError(f"a kind has no part {name!r}; its parts are {', '.join(PARTS)}.")
        return resolve(getattr(self, name))

    def example_file(self) -> Path | None:
        """Find the smallest instance, if it is here: shipped with the packages, or below the working directory."""
        return _instance_file(self.example)

    def beginning_file(self) -> Path | None:
        """Find the instance that ``optmodels new`` begins with, if it is here."""
        return _instance_file(self.beginning or self.example)

    def _refuse(self, name: str, rule: str) -> None:
        value = getattr(self, name)
        told = short(value) if isinstance(value, str | int | float | None) else type(value).__name__
        raise RequestError(f"kind {self.name!r}: {name} is {told}; {rule}")


def _instance_file(path: str | None) -> Path | None:
    if path is None:
        return None
    from .data import shipped_folder

    folders = (shipped_folder() or Path("instances"), Path("instances"))
    return next((file for folder in folders if (file := folder / path).is_file()), None)


def resolve(reference: Any) -> Any:
    """What a reference stands for: ``"module:name"`` is imported, everything else stands for itself.

    >>> resolve("collections:Counter").__name__, resolve(len), resolve(None)
    ('Counter', <built-in function len>, None)
    """
    if not isinstance(reference, str):
        return reference
    module, _, name = reference.partition(":")
    return attrgetter(name)(import_module(module))


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_reference(value: Any) -> bool:
    return bool(_REFERENCE.fullmatch(value)) if isinstance(value, str) else callable(value)


def _is_mapping(value: Any, is_sound: Callable[[Any], bool]) -> bool:
    return isinstance(value, Mapping) and all(_is_line(key) and is_sound(one) for key, one in value.items())
