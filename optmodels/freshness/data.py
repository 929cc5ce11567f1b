"""The data of a freshness instance: every field with its rule, what they make together, and writing them back.

Columns of pages are read by numpy, whole, from the file itself or from tables beside it (`optmodels.freshness.tables`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from queueing.freshness import PageError
from queueing.processes import AccessTime

from ..data import RATE, TIME, Data, Number, Reader, Refusal, Time, entry, plain, read_list, write_time
from ..errors import InstanceError, MissingField
from ..instance import inside
from .rules import Indices, Rules, Vector, numbered, refuse_crowding

if TYPE_CHECKING:
    from .tables import PageTable

#: Columns of a table of pages, each a field of its own in small files, and what a page has of it.
COLUMNS = {"change_rates": "a change rate", "weights": "a weight", "hosts": "a host", "urls": "a URL"}

#: Fields with a number for each page or host.
ARRAYS = ("change_rates", "weights", "hosts", "host_caps", "min_frequency")

#: Fields that no pass over pages can keep to; tables with one of them are held in memory.
HELD = ("host_caps", "host_gap", "min_frequency")

#: Tables with more pages than this are not read into memory unless somebody needs all of them at once.
LARGE = 2_000_000

#: Larger tables are not held in memory.
MOST_PAGES = 50_000_000

#: Labels of hosts are below this.
MOST_HOSTS = 10_000_000

#: Longer cycles are refused where the best one is asked for: they are kept as tuples.
LONGEST_CYCLE = 100_000

#: In a file: every page weighs as much as it changes.
PROPORTIONAL = "change-rates"

#: Weights that are all smaller than this are refused: prices of visits, which are parts of them, must be numbers.
LIGHTEST = 1e-250

URL_RULE = "URLs are printable text on one line."


@dataclass(frozen=True, eq=False)
class Pages:
    """What is known of the pages, a column each.

    Attributes
    ----------
    rates, weights
        Changes per unit of time, and what a unit of time out of date costs.
    proportional
        Weights are the change rates.
    hosts
        What the host of each page is called, a whole number; ``None``: not known, and nothing is asked of hosts.
    urls
        What pages are called; ``None``: by number.
    path
        The file or folder they were read from; ``None``: the instance file itself.
    streamed
        Whether they stay in their files, as far as possible.
    """

    rates: Vector
    weights: Vector
    proportional: bool = False
    hosts: Indices | None = None
    urls: tuple[str, ...] | None = None
    path: str | None = None
    streamed: ClassVar[bool] = False
    where: ClassVar[str] = "data.weights"

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rates)

    def to_data(self) -> dict[str, Any]:
        """The fields of an instance file."""
        if self.path is not None:
            return {"pages": self.path} | ({"weights": PROPORTIONAL} if self.proportional else {})
        found: dict[str, Any] = {
            "change_rates": self.rates.tolist(),
            "weights": PROPORTIONAL if self.proportional else self.weights.tolist(),
        }
        if self.hosts is not None:
            found["hosts"] = self.hosts.tolist()
        return found if self.urls is None else found | {"urls": list(self.urls)}

    def refuse(self, failure: PageError) -> NoReturn:
        """Say where a page stands that cannot be reckoned with."""
        raise InstanceError(f"data.change_rates[{failure.page}]", failure.rate, failure.rule) from None

    def refuse_light(self) -> None:
        """Refuse weights that are all so small that their products are no numbers."""
        largest = float(self.weights.max())
        if 0 < largest < LIGHTEST:
            rule = f"this is the largest, and should be {LIGHTEST:g} or more; choose a unit in which it is nearer to 1."
            raise InstanceError(f"{self.where}[{self.weights.argmax()}]", largest, rule)


class TablePages(Pages):
    """Pages of a table, read when they are asked for."""

    table: PageTable
    place: Path
    where = "data.pages, weight"
    streamed: bool  # type: ignore[misc]

    def __init__(self, table: PageTable, path: str, proportional: bool, streamed: bool, place: Path) -> None:
        vars(self).update(table=table, path=path, proportional=proportional, streamed=streamed, place=place)

    @property
    def count(self) -> int:
        """How many there are."""
        return self.table.rows

    @cached_property
    def _columns(self) -> tuple[Vector, Vector]:
        if self.table.rows > MOST_PAGES:
            rule = f"it has {self.table.rows} pages, and {MOST_PAGES} at most are held in memory."
            raise InstanceError("data.pages", self.path, rule)
        return self.table.read()

    @property
    def rates(self) -> Vector:
        """Change rates, read once."""
        return self._columns[0]

    @property
    def weights(self) -> Vector:
        """What a unit of time out of date costs."""
        return self._columns[1]

    @cached_property
    def hosts(self) -> Indices | None:
        """Number of the host of each page."""
        found = self.table.hosts()
        return None if found is None else found[0]

    @cached_property
    def urls(self) -> tuple[str, ...] | None:
        """What pages are called."""
        return self.table.urls()

    def read(self) -> None:
        """Read all columns, so that what is wrong with one is told."""
        for column in ("_columns", "hosts", "urls"):
            getattr(self, column)

    def refuse(self, failure: PageError) -> NoReturn:
        """Say in which file and row a page stands that cannot be reckoned with."""
        self.table.refuse(failure)


def read_beside(problem: Any, file: Path) -> Iterator[Path]:
    """Yield the file or folder of pages that was read with the instance `file` of a problem, if there is one."""
    if problem.columns.path is not None:
        yield file.parent / problem.columns.path


# -- fields -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A field with a number for each page or host, read by numpy.

    Parameters
    ----------
    number
        What stands in it.
    noun
        Of what there is an entry each.
    same
        Whether one number for all is good, too.
    null
        Whether null stands for no number, here nan.
    """

    number: Number
    noun: str = "page"
    same: bool = False
    null: bool = False

    @property
    def reader(self) -> Reader:
        """Make what reads and describes the field."""
        one = {name: value for name, value in self.number.described.items() if name != "rule"}
        listed = {"type": "array", "minItems": 1, "items": {"anyOf": [one, {"type": "null"}]} if self.null else one}
        kind = {"anyOf": [one, listed], "form": f"number, or one by {self.noun}"} if self.same else listed
        return Reader(self.read, {**kind, "rule": self.number.rule})

    def read(self, value: Any) -> NDArray[Any] | float:
        """Read all numbers, or the one that stands for all."""
        if isinstance(value, np.ndarray) and (value.ndim != 1 or value.dtype.kind not in "iuf"):
            value = value.tolist()  # what is wrong with it is told entry by entry
        if self.same and not isinstance(value, list | tuple | np.ndarray):
            return self.number(value)
        rule = f"this is a list, one entry for each {self.noun}."
        listed = value if isinstance(value, np.ndarray) and len(value) else read_list(value, "", rule)
        column = listed.astype(np.float64) if isinstance(listed, np.ndarray) else _converted(listed)
        for index in range(len(listed)) if column is None else np.flatnonzero(~self._good(column)).tolist():
            entry = listed[index].item() if isinstance(listed, np.ndarray) else listed[index]
            try:
                if entry is not None or not self.null:
                    self.number(entry)
            except Refusal as refusal:
                raise InstanceError(f"[{index}]", entry, refusal.rule) from None
        assert column is not None  # or one of its entries had been refused
        return column.astype(np.int64) if self.number.whole else column

    def _good(self, column: Vector) -> NDArray[np.bool_]:
        number = self.number
        good = np.isfinite(column) & (column >= (number.least or 0.0))
        if number.above is not None:
            good &= column > number.above
        if number.most is not None:
            good &= column <= number.most
        if number.whole:
            good &= column == np.floor(column)
        return good


def _converted(listed: list[Any]) -> Vector | None:
    """Make an array of numbers, nan for null; ``None`` where something else stands among them."""
    if any(issubclass(kind, bool | str) for kind in {*map(type, listed)}):
        return None
    try:
        column = np.array(listed, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return column if column.ndim == 1 else None


def misnamed(urls: Sequence[Any]) -> tuple[int, str] | None:
    """Find the first page whose name is none, or that of another page, and say what is wrong with it."""
    known: dict[str, int] = {}
    for page, text in enumerate(urls):
        if not isinstance(text, str) or not text.strip() or not text.isprintable():
            return page, URL_RULE
        if known.setdefault(text, page) != page:
            return page, f"page {known[text]} is called so, too; a URL is that of one page."
    return None


def _urls(value: Any) -> tuple[str, ...]:
    listed = read_list(value, "", "this is a list, one entry for each page.")
    if (wrong := misnamed(listed)) is not None:
        raise Refusal(wrong[1], wrong[0])
    return tuple(listed)


def _weights(value: Any) -> NDArray[Any] | float | str:
    if not isinstance(value, str):
        return _WEIGHTS.read(value)
    if value != PROPORTIONAL:
        raise Refusal(f'weights are a list of numbers, or "{PROPORTIONAL}" for weights that are the change rates.')
    return value


_RATES = Column(Number("change rates are finite numbers, zero or more.", least=0))
_WEIGHTS = Column(Number("weights are finite numbers, zero or more.", least=0))
_HOSTS = Column(
    Number(f"hosts are whole numbers from 0, below {MOST_HOSTS}.", least=0, most=MOST_HOSTS - 1, whole=True)
)
_CAPS = Column(
    Number("the largest share of a host is a number of visits per slot above 0, or null for none.", above=0),
    "host",
    same=True,
    null=True,
)
_MINIMUM = Column(
    Number("a least frequency is a number of visits per slot between 0 and 1.", least=0, most=1), same=True
)
_SLOTS = Number(
    f"slots of a cycle are counted in whole numbers, 1 to {LONGEST_CYCLE}.",
    least=1,
    most=LONGEST_CYCLE,
    whole=True,
)
_WEIGHED = {"anyOf": [{"const": PROPORTIONAL}, _WEIGHTS.reader.described]}
_NAMED = {"type": "array", "minItems": 1, "items": {"type": "string"}, "rule": URL_RULE}
_PATH = {"type": "string", "rule": "paths in a file are relative and stay inside its folder."}


class FreshnessData(Data):
    """The data of kind "freshness"."""

    needed = "the distribution of the time that one visit takes is needed."
    alternatives = (("change_rates", "pages"),)

    change_rates: Annotated[Any, _RATES.reader] | None = entry(
        "rate at which each page changes; needed unless there is a table of pages", unit=RATE, default=None
    )
    weights: Annotated[Any, Reader(_weights, _WEIGHED)] | None = entry(
        "cost of each page for a unit of time that it is out of date, needed unless there is a table of pages; "
        f'"{PROPORTIONAL}": its change rate, with a table too',
        default=None,
    )
    hosts: Annotated[Any, _HOSTS.reader] | None = entry(
        "number of the host of each page; labels need not be consecutive, and unused ones cost no memory", default=None
    )
    urls: Annotated[Any, Reader(_urls, _NAMED)] | None = entry(
        "names of the pages in the table of visits, no two the same", default=None
    )
    pages: Annotated[Any, Reader(lambda path: path, _PATH)] | None = entry(
        "instead of these four: a Parquet file, a folder of them, or a folder of .npy columns, with change_rate, "
        "weight and perhaps host (whole numbers or texts) and url",
        default=None,
    )
    access_time: Time = entry("distribution of the time that a visit takes", unit=TIME)
    host_caps: Annotated[Any, _CAPS.reader] | None = entry(
        "most visits to a host; a list has one number for each host label, from 0 on", unit="per slot", default=None
    )
    host_gap: Annotated[int, Number("gaps are counted in slots, whole numbers, zero or more.", least=0, whole=True)] = (
        entry(
            "least number of slots between visits to one host, which one robot visits; 0 and 1 ask for nothing",
            unit="slots",
            default=1,
        )
    )
    min_frequency: Annotated[Any, _MINIMUM.reader] | None = entry(
        "least number of visits to a page", unit="per slot", default=None
    )
    robots: Annotated[
        int, Number("robots are counted in whole numbers, from 1 to the number of pages.", least=1, whole=True)
    ] = entry("number of robots that visit pages at the same time", default=1)
    cycle: Annotated[int, _SLOTS] | None = entry(
        "asks for the best cycle of so many slots of each robot; decisions are such cycles, and -1 in one is a slot "
        "without a visit",
        unit="slots",
        default=None,
    )

    @property
    def proportional(self) -> bool:
        """Whether weights are the change rates."""
        return isinstance(self.weights, str)

    @property
    def asked(self) -> list[str]:
        """What is asked of visits that no pass over pages can keep to."""
        return [name for name in HELD if name in self.model_fields_set and getattr(self, name) is not None]

    @property
    def held(self) -> bool:
        """Whether all pages are needed at once."""
        return self.pages is None or bool(self.asked) or self.cycle is not None

    @model_validator(mode="after")
    def _goes_together(self) -> FreshnessData:
        if self.pages is not None:
            for name in COLUMNS:
                if getattr(self, name) is not None and not (name == "weights" and self.proportional):
                    raise Refusal("it is a column of data.pages; leave it out here.", name)
            return self
        for name in ("change_rates", "weights"):
            if getattr(self, name) is None:
                raise MissingField(name, "every page needs one; or give a table of pages.")
        pages = len(np.asarray(self.change_rates))
        for name, noun in COLUMNS.items():
            column = getattr(self, name)
            if column is not None and not isinstance(column, str) and len(column) != pages:
                raise Refusal(_too_few(pages, noun, len(column)), name)
        return self

    def read_pages(self, folder: Path | None, least: int | None = None) -> Pages:
        """Read the pages; those of a table with more than `least` stay there unless they are `held`."""
        if self.pages is None:
            rates: Any = self.change_rates
            weights: Any = rates if self.proportional else self.weights
            return Pages(rates, weights, self.proportional, self.hosts, self.urls)
        found = self.located(folder, least)
        if not found.streamed:
            found.read()
        return found

    def located(self, folder: Path | None, least: int | None = None) -> TablePages:
        """Look at the table of pages, which a file names by a path inside its folder, and Python by any path."""
        from .tables import open_pages

        given = self.pages
        if isinstance(given, TablePages):
            streamed = given.streamed and not self.held
            if (given.proportional, given.streamed) == (self.proportional, streamed):
                return given
            return TablePages(
                open_pages(given.place, proportional=self.proportional),
                given.path or str(given.place),
                self.proportional,
                streamed,
                given.place,
            )
        place = given if isinstance(given, Path) else inside(folder, given, "data.pages")
        table = open_pages(place, root=folder, proportional=self.proportional)
        streamed = not self.held and table.rows > (LARGE if least is None else least)
        return TablePages(table, str(given), self.proportional, streamed, place)

    def read_rules(self, data: Mapping[str, Any], pages: Pages) -> Rules:
        """Read what is asked of visits to these pages, and can be kept to; `data` as they stand in the file."""
        if self.robots > pages.count:
            rule = f"robots are counted in whole numbers, from 1 to the number of pages, {pages.count}."
            raise InstanceError("data.robots", data["robots"], rule)
        if pages.streamed:
            return Rules(pages.count, self.robots)
        if self.cycle is not None and self.robots * self.cycle > LONGEST_CYCLE:
            rule = f"{self.robots} robots would have {self.robots * self.cycle} slots; {LONGEST_CYCLE} are the most."
            raise InstanceError("data.cycle", data["cycle"], rule)
        for name in self.asked:
            if name != "min_frequency" and pages.hosts is None:
                raise InstanceError(f"data.{name}", data[name], "it needs to be known which page is on which host.")
        hosts, labels = (None, None) if pages.hosts is None else numbered(pages.hosts)
        caps = None
        if self.host_caps is not None and hosts is not None:
            caps = _caps(self.host_caps, data, np.arange(int(hosts.max()) + 1) if labels is None else labels)
        minimum = None
        if self.min_frequency is not None:
            if np.ndim(self.min_frequency) and len(self.min_frequency) != pages.count:
                rule = _too_few(pages.count, "a least frequency", len(self.min_frequency))
                raise InstanceError("data.min_frequency", data["min_frequency"], rule)
            minimum = np.ascontiguousarray(np.broadcast_to(np.float64(self.min_frequency), (pages.count,)))
        asked = None if minimum is None or not minimum.any() else minimum
        rules = Rules(pages.count, self.robots, hosts, caps, max(1, self.host_gap), asked, labels, self.cycle)
        refuse_crowding(data, rules)
        return rules


def natural_column(name: str, value: Any) -> Any:
    """Make of a field that Python gave what its model reads; columns of numbers stay arrays."""
    if name in ARRAYS and hasattr(type(value), "__array__"):
        return np.asarray(value)
    return plain(value)


def asks_nothing(name: str, value: Any) -> bool:
    """Tell whether a field is a gap that asks for nothing, as every problem keeps one."""
    return name == "host_gap" and type(value) is int and value in (0, 1)


def is_streamed(given: Mapping[str, Any]) -> bool:
    """Tell whether the pages that Python gave stay in their files: many of a table, and nothing needs all at once."""
    pages = given.get("pages")
    held = any(given.get(name) is not None and not asks_nothing(name, given[name]) for name in HELD)
    if held or not isinstance(pages, TablePages | str | os.PathLike):
        return False
    if isinstance(pages, TablePages):
        return pages.streamed
    from .tables import open_pages

    return open_pages(pages, proportional=isinstance(given.get("weights"), str)).rows > LARGE


def _caps(given: Any, data: Mapping[str, Any], labels: Indices) -> Vector:
    """Find the caps of the hosts called so; infinite where there is none."""
    if np.ndim(given) == 0:
        return np.full(len(labels), given)
    hosts = int(labels[-1]) + 1
    if len(given) != hosts:
        counted = f"{hosts} hosts" if len(labels) == hosts else f"hosts 0 to {hosts - 1}"
        rule = f"each of the {counted} needs one, null for none, and here are {len(given)}."
        raise InstanceError("data.host_caps", data["host_caps"], rule)
    caps: Vector = np.where(np.isnan(given), np.inf, given)[labels]
    return caps


def _too_few(pages: int, noun: str, count: int) -> str:
    return f"each of the {pages} pages needs {noun}, and here are {count}."


def write_fields(pages: Pages, rules: Rules, law: AccessTime) -> dict[str, Any]:
    """Write the data that make the same pages, rules and law."""
    return pages.to_data() | {"access_time": write_time(law)} | rules.to_data()
