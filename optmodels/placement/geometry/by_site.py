"""Fields with something for each site, or for each cell: numbers, names, coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Reader, Refusal, is_number, is_whole
from ...errors import InstanceError
from .distances import DistanceMatrix, Geometry

#: Whole numbers up to this size are exact everywhere (sums over sites included).
MOST_CLIENTS = 10**9

#: The least positive number.
TINIEST = math.ulp(0.0)


@dataclass(frozen=True)
class PerSite:
    """A field with a number for each site, or for each cell: nested rows on a grid, a flat list elsewhere.

    Parameters
    ----------
    rule
        Told of everything else.
    least
        The least number that is good.
    whole
        Whether numbers are whole.
    same
        Whether one number for all sites is good, too.
    cells
        Whether the numbers are those of cells.
    """

    rule: str
    least: float
    whole: bool = False
    same: bool = True
    cells: bool = False

    @property
    def reader(self) -> Reader:
        """Of the field, which `read` looks at once the sites are known."""
        bound = {"exclusiveMinimum": 0} if self.least == TINIEST else {"minimum": self.least}
        entry = {"type": "integer" if self.whole else "number", **bound}
        listed = {"type": "array", "items": {"anyOf": [entry, {"type": "array", "items": entry}]}}
        noun = "whole number" if self.whole else "number"
        if self.cells:
            either = {"anyOf": [listed, _OF_A_TOPOLOGY]}
            return Reader(as_it_is, {**either, "form": f"{noun} by cell, or object", "rule": self.rule})
        if not self.same:
            return Reader(as_it_is, {**listed, "form": f"{noun} by site", "rule": self.rule})
        return Reader(as_it_is, {"anyOf": [entry, listed], "form": f"{noun}, or one by site", "rule": self.rule})

    def read(self, data: Any, layout: Geometry, place: str) -> NDArray[Any]:
        """One number for each site, or cell."""
        kind = np.int64 if self.whole else np.float64
        if self.same and not isinstance(data, list | tuple):
            return np.full(layout.sites, self._number(data, place), dtype=kind)
        found = entries(data, layout, place, self.cells)
        return np.array([self._number(value, where) for where, value in found], dtype=kind)

    def _number(self, value: Any, place: str) -> float:
        if not (is_whole(value) if self.whole else is_number(value)) or value < self.least:
            raise InstanceError(place, value, self.rule)
        if self.whole and value > MOST_CLIENTS:
            raise InstanceError(place, value, f"at most {MOST_CLIENTS} are supported.")
        return float(value)


#: Demands that a topology is published with, see `optmodels.placement.sources`.
_OF_A_TOPOLOGY = {
    "type": "object",
    "properties": {"topohub": {"const": "sum"}, "per_client": {"type": "number", "exclusiveMinimum": 0}},
    "required": ["topohub", "per_client"],
    "additionalProperties": False,
}


def as_it_is(value: Any) -> Any:
    """Leave a value for later, when the sites are known."""
    return value


def entries(data: Any, layout: Geometry, place: str, cells: bool = False) -> list[tuple[str, Any]]:
    """List every entry of a field by site, or by cell, with its place, row by row.

    Parameters
    ----------
    data
        The field.
    layout
        Says how many sites and cells there are, and whether they have rows.
    place
        Where the field stands.
    cells
        Whether the entries are those of cells.

    Returns
    -------
    list of tuple
        Place and value of each entry.
    """
    if layout.shape is None:
        count = layout.cells if cells else layout.sites
        needed = f"the network needs a flat list of {count} entries"
        if isinstance(layout, DistanceMatrix):
            needed = f"the distances need a flat list of {count} entries, one for each {'cell' if cells else 'site'}"
        _require(data, count, place, needed)
        return [(f"{place}[{i}]", value) for i, value in enumerate(data)]
    rows, columns = layout.shape
    needed = f"the grid needs {rows} rows of {columns}"
    _require(data, rows, place, needed)
    for i, row in enumerate(data):
        _require(row, columns, f"{place}[{i}]", needed, " entries")
    return [(f"{place}[{i}][{j}]", value) for i, row in enumerate(data) for j, value in enumerate(row)]


def _require(data: Any, count: int, place: str, needed: str, noun: str = "") -> None:
    """Refuse what is no list of so many entries."""
    listed = isinstance(data, list | tuple)
    if not listed or len(data) != count:
        raise InstanceError(place, data, f"{needed}, {f'{len(data)}{noun}' if listed else 'no list'} came.")


def nested(values: list[Any], layout: Geometry) -> list[Any]:
    """Write the values of all sites as in a file: nested rows on a grid, flat elsewhere.

    Parameters
    ----------
    values
        One for each site, or cell.
    layout
        Says whether they have rows.

    Returns
    -------
    list
        The field of a file.
    """
    if layout.shape is None:
        return values
    columns = layout.shape[1]
    return [values[start : start + columns] for start in range(0, len(values), columns)]


def given_at(data: Any, layout: Geometry, place: str, site: int) -> tuple[str, Any]:
    """Where the value of a site stands in a field of one number or one per site, and that value.

    Parameters
    ----------
    data
        The field.
    layout
        Of the sites.
    place
        Where the field stands.
    site
        Which one.

    Returns
    -------
    place
        Where the value stands.
    value
        What stands there.
    """
    return entries(data, layout, place)[site] if isinstance(data, list | tuple) else (place, data)


# -- names and coordinates: for words and pictures alone ---------------------------------------------------------------

_NAMES = "names are a list of printable texts on one line, one for each site."
_PLACES = "coordinates are a list of pairs of numbers, one for each site."

#: Coordinates up to this: their squares and products stay numbers.
FARTHEST = 1e100


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise Refusal(_NAMES)
    for index, name in enumerate(value):
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise Refusal(_NAMES, index)
    return tuple(value)


def _places(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise Refusal(_PLACES)
    for index, pair in enumerate(value):
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(is_number(x) for x in pair):
            raise Refusal(_PLACES, index)
        if max(map(abs, pair)) > FARTHEST:
            raise Refusal(f"coordinates up to {FARTHEST:g} are supported.", index)
    places = np.array(value, dtype=np.float64).reshape(-1, 2)
    places.setflags(write=False)
    return places


#: What read the fields ``names`` and ``coordinates``.
NamesField = Reader(_names, {"type": "array", "items": {"type": "string"}, "form": "list of texts", "rule": _NAMES})
_PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
CoordinatesField = Reader(
    _places, {"type": "array", "items": _PAIR, "form": "list of pairs of numbers", "rule": _PLACES}
)


def check_whereabouts(
    names: Sequence[str], places: Sequence[Any] | NDArray[np.float64], sites: int, *, grid: bool
) -> None:
    """Refuse names and coordinates that are not those of all sites, and those of a grid.

    Parameters
    ----------
    names, places
        As they were read; empty: there are none.
    sites
        How many there are.
    grid
        Whether they are the cells of a grid, which are called by row and column.
    """
    for field, given in (("names", names), ("coordinates", places)):
        if len(given) and grid:
            raise Refusal("cells of a grid are called by row and column, and drawn there.", field)
        if len(given) and len(given) != sites:
            raise Refusal(f"there are {sites} sites, and {len(given)} {field}.", field)
