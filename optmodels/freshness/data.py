"""Reading the data of a freshness instance: every field checked, every complaint one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from queueing.freshness import PageError
from queueing.processes import AccessTime

from ..data import is_number, is_whole, read_time, refuse_unknown, write_time
from ..errors import InstanceError, MissingField
from ..instance import inside
from .rules import Indices, Rules, Vector, numbered, refuse_crowding
from .tables import WEIGHT

#: Columns of a table of pages, each a field of its own in small files.
COLUMNS = ("change_rates", "weights", "hosts", "urls")
FIELDS = {*COLUMNS, "pages", "access_time", "host_caps", "host_gap", "min_frequency", "robots"}

#: Larger tables are not held in memory.
MOST_PAGES = 50_000_000

#: Labels of hosts are below this.
MOST_HOSTS = 10_000_000

#: In a file: every page weighs as much as it changes.
PROPORTIONAL = "change-rates"

#: Weights that are all smaller than this are refused: prices of visits, which are parts of them, must be numbers.
LIGHTEST = 1e-250


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
    """

    rates: Vector
    weights: Vector
    proportional: bool = False
    hosts: Indices | None = None
    urls: tuple[str, ...] | None = None
    path: str | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rates)

    def place(self, folder: Path) -> Path | None:
        """The file or folder they were read from, the instance file being in this folder."""
        return None if self.path is None else folder / self.path

    def name(self, page: int) -> str:
        """What a page is called."""
        return str(page) if self.urls is None else self.urls[page]

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


def read_beside(problem: Any, file: Path) -> Iterator[Path]:
    """The file or folder of pages that was read with the instance `file` of a problem, if there is one."""
    place = problem.pages.place(file.parent)
    if place is not None:
        yield place


def read_fields(data: Mapping[str, Any], folder: Path | None) -> tuple[Pages, Rules, AccessTime]:
    """The fields of the data, each checked on its own and with the others."""
    refuse_unknown(data, FIELDS, "data")
    if "access_time" not in data:
        raise MissingField("data.access_time", "the law of the time that one visit takes is needed.")
    pages = read_columns(data, folder)
    law = read_time(data["access_time"], "data.access_time")
    rules = read_rules(data, pages)
    refuse_crowding(data, rules)
    return pages, rules, law


def write_fields(pages: Pages, rules: Rules, law: AccessTime) -> dict[str, Any]:
    """The data that `read_fields` reads back to the same."""
    return pages.to_data() | {"access_time": write_time(law)} | rules.to_data()


# -- pages ------------------------------------------------------------------------------------------------------------


def read_columns(data: Mapping[str, Any], folder: Path | None) -> Pages:
    """The pages, from the file itself or from tables beside it."""
    if "pages" in data:
        return _from_tables(data, folder)
    for name in ("change_rates", "weights"):
        if name not in data:
            raise MissingField(f"data.{name}", "every page needs one; or give a table of pages.")
    rates = _column(data["change_rates"], "data.change_rates", "change rates are finite numbers, zero or more.")
    if isinstance(data["weights"], str):
        if data["weights"] != PROPORTIONAL:
            rule = f'weights are a list of numbers, or "{PROPORTIONAL}" for weights that are the change rates.'
            raise InstanceError("data.weights", data["weights"], rule)
        weights = rates
    else:
        weights = _column(data["weights"], "data.weights", "weights are finite numbers, zero or more.")
        _same_length(weights, rates, "data.weights", data["weights"], "a weight")
    hosts = urls = None
    if "hosts" in data:
        hosts = _hosts(data["hosts"])
        _same_length(hosts, rates, "data.hosts", data["hosts"], "a host")
    if "urls" in data:
        urls = _urls(data["urls"])
        _same_length(urls, rates, "data.urls", data["urls"], "a URL")
    return Pages(rates, weights, weights is rates, hosts, urls)


def _from_tables(data: Mapping[str, Any], folder: Path | None) -> Pages:
    """Columns of Parquet files or ``.npy`` files beside the instance, read whole."""
    from .tables import open_pages

    for name in COLUMNS:
        if name in data and not (name == "weights" and data[name] == PROPORTIONAL):
            raise InstanceError(f"data.{name}", data[name], "it is a column of data.pages; leave it out here.")
    place = inside(folder, data["pages"], "data.pages")
    table = open_pages(place, root=folder, proportional="weights" in data)
    if table.rows > MOST_PAGES:
        rule = f"it has {table.rows} pages, and {MOST_PAGES} at most are held in memory."
        raise InstanceError("data.pages", data["pages"], rule)
    rates, weights = table.read()
    hosts = table.hosts()
    return Pages(
        rates, weights, weights is rates, None if hosts is None else hosts[0], table.urls(), path=data["pages"]
    )


def refuse_page(failure: PageError, pages: Pages, folder: Path | None) -> NoReturn:
    """Say where a page stands that cannot be reckoned with."""
    if pages.path is None:
        raise InstanceError(f"data.change_rates[{failure.page}]", failure.rate, failure.rule) from None
    from .tables import open_pages

    place = inside(folder, pages.path, "data.pages")
    open_pages(place, root=folder, proportional=pages.proportional).refuse(failure)


def refuse_weights(pages: Pages) -> None:
    """Refuse weights that are all so small that their products are no numbers."""
    largest = float(pages.weights.max())
    if 0 < largest < LIGHTEST:
        page, place = int(pages.weights.argmax()), "data.weights" if pages.path is None else f"data.pages, {WEIGHT}"
        rule = f"this is the largest, and should be {LIGHTEST:g} or more; choose a unit in which it is nearer to 1."
        raise InstanceError(f"{place}[{page}]", largest, rule)


def _column(value: Any, place: str, rule: str) -> Vector:
    """A list of finite numbers, zero or more."""
    listed = _listed(value, place)
    try:
        column = np.array(listed, dtype=np.float64)
        good = column.ndim == 1 and not any(isinstance(entry, bool | str) for entry in listed)
    except (TypeError, ValueError, OverflowError):
        good = False
    if good:
        wrong = ~(np.isfinite(column) & (column >= 0))
        if not wrong.any():
            return column
    position = next(index for index, entry in enumerate(listed) if not is_number(entry) or entry < 0)
    raise InstanceError(f"{place}[{position}]", listed[position], rule)


def _hosts(value: Any) -> Indices:
    listed = _listed(value, "data.hosts")
    for index, entry in enumerate(listed):
        if not is_whole(entry) or not 0 <= entry < MOST_HOSTS:
            rule = f"hosts are whole numbers from 0, below {MOST_HOSTS}."
            raise InstanceError(f"data.hosts[{index}]", entry, rule)
    hosts = np.array(listed, dtype=np.int64)
    return hosts


def _urls(value: Any) -> tuple[str, ...]:
    listed = _listed(value, "data.urls")
    for index, entry in enumerate(listed):
        if not isinstance(entry, str) or not entry.strip() or not entry.isprintable():
            raise InstanceError(f"data.urls[{index}]", entry, "URLs are printable text on one line.")
    known: dict[str, int] = {}
    for index, entry in enumerate(listed):
        if known.setdefault(entry, index) != index:
            rule = f"page {known[entry]} is called so, too; a URL is that of one page."
            raise InstanceError(f"data.urls[{index}]", entry, rule)
    return tuple(listed)


def _listed(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise InstanceError(place, value, "this is a list, one entry for each page.")
    return list(value)


def _same_length(column: Any, rates: Vector, place: str, value: Any, noun: str) -> None:
    if len(column) != len(rates):
        rule = f"each of the {len(rates)} pages needs {noun}, and here are {len(column)}."
        raise InstanceError(place, value, rule)


# -- rules ------------------------------------------------------------------------------------------------------------


def read_rules(data: Mapping[str, Any], pages: Pages) -> Rules:
    """Caps, gaps, least frequencies and robots, each on its own."""
    robots = data.get("robots", 1)
    if not is_whole(robots) or not 1 <= robots <= pages.count:
        rule = f"robots are counted in whole numbers, from 1 to the number of pages, {pages.count}."
        raise InstanceError("data.robots", robots, rule)
    gap = data.get("host_gap", 1)
    if not is_whole(gap) or gap < 0:
        raise InstanceError("data.host_gap", gap, "gaps are counted in slots, whole numbers, zero or more.")
    for name in ("host_caps", "host_gap"):
        if name in data and pages.hosts is None:
            raise InstanceError(f"data.{name}", data[name], "it needs to be known which page is on which host.")
    hosts, labels = (None, None) if pages.hosts is None else numbered(pages.hosts)
    caps = None
    if "host_caps" in data and hosts is not None:
        caps = _caps(data["host_caps"], np.arange(int(hosts.max()) + 1) if labels is None else labels)
    minimum = _minimum(data["min_frequency"], pages) if "min_frequency" in data else None
    return Rules(pages.count, int(robots), hosts, caps, max(1, int(gap)), minimum, labels)


def _caps(value: Any, labels: Indices) -> Vector:
    """The caps of the hosts called so, from one cap for all or a list by label; null stands for none."""
    hosts = int(labels[-1]) + 1
    rule = "the largest share of a host is a number of visits per slot above 0."
    if not isinstance(value, list | tuple):
        if not is_number(value) or value <= 0:
            raise InstanceError("data.host_caps", value, rule)
        caps = np.full(len(labels), float(value))
    else:
        if len(value) != hosts:
            counted = f"{hosts} hosts" if len(labels) == hosts else f"hosts 0 to {hosts - 1}"
            needs = f"each of the {counted} needs one, null for none, and here are {len(value)}."
            raise InstanceError("data.host_caps", value, needs)
        for index, entry in enumerate(value):
            if entry is not None and (not is_number(entry) or entry <= 0):
                raise InstanceError(f"data.host_caps[{index}]", entry, f"{rule[:-1]}, or null.")
        caps = np.array([math.inf if entry is None else float(entry) for entry in value])[labels]
    return caps


def _minimum(value: Any, pages: Pages) -> Vector | None:
    """One least frequency for all pages, or one for each; ``None`` if nothing is asked."""
    rule = "a least frequency is a number of visits per slot between 0 and 1."
    entries = value if isinstance(value, list | tuple) else [value]
    for index, entry in enumerate(entries):
        if not is_number(entry) or not 0 <= entry <= 1:
            where = f"data.min_frequency[{index}]" if entries is value else "data.min_frequency"
            raise InstanceError(where, entry, rule)
    if entries is value:
        _same_length(entries, pages.rates, "data.min_frequency", value, "a least frequency")
    minimum = np.ascontiguousarray(np.broadcast_to(np.array(entries, dtype=np.float64), (pages.count,)))
    return minimum if minimum.any() else None
