r"""Cities of TSPLIB: coordinates, and the rule that makes whole distances of them.

With coordinates :math:`x, y` and differences :math:`\Delta x, \Delta y` of two cities, TSPLIB 95 says

* ``EUC_2D``: :math:`\sqrt{\Delta x^2 + \Delta y^2}`, rounded, halves up;
* ``CEIL_2D``: the same, rounded up;
* ``ATT``: :math:`\sqrt{(\Delta x^2 + \Delta y^2) / 10}`, rounded up, as the pseudo-Euclidean rule comes to;
* ``GEO``: x and y are latitude and longitude, degrees before the point and minutes behind it; great circles on a sphere
  of radius 6378.388 km, with :math:`\pi = 3.141592`, plus 1, rounded down.

References
----------
.. [1] G. Reinelt, "TSPLIB - a traveling salesman problem library", *ORSA Journal on Computing* 3 (1991) 376-384.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .lines import Lines

Floats = NDArray[np.float64]

#: Cities that are read: the matrix of an instance file has a number for each pair.
MOST_CITIES = 2_000

RULES = ("EUC_2D", "CEIL_2D", "ATT", "GEO")

#: Constants of TSPLIB, with its own digits.
PI, RADIUS = 3.141592, 6378.388

#: Coordinates up to this: squares of them are exact enough to be rounded.
FARTHEST = 1e7


@dataclass(frozen=True, eq=False)
class Cities:
    """Cities with whole distances.

    Parameters
    ----------
    name
        Of the file's own, empty if it has none.
    rule
        One of `RULES`.
    labels
        What the file calls each city.
    places
        Coordinates as given, a row for each city.
    """

    name: str
    rule: str
    labels: tuple[str, ...]
    places: Floats

    @property
    def distances(self) -> NDArray[np.int64]:
        """Of every two cities, by the rule; 0 of a city to itself."""
        return whole_distances(self.places, self.rule)

    @property
    def drawn(self) -> Floats:
        """Coordinates for a map: x to the right, y up."""
        return np.degrees(_radians(self.places))[:, ::-1] if self.rule == "GEO" else self.places


def whole_distances(places: Floats, rule: str) -> NDArray[np.int64]:
    """Distance of every two places, by a rule of TSPLIB.

    Parameters
    ----------
    places
        Coordinates as given, a row for each.
    rule
        One of `RULES`.

    Returns
    -------
    array
        Whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from optmodels.placement.sources import whole_distances
    >>> places = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> [int(whole_distances(places, rule)[0, 1]) for rule in ("EUC_2D", "CEIL_2D", "ATT", "GEO")]
    [1, 2, 1, 158]
    """
    if rule == "GEO":
        latitude, longitude = _radians(places).T
        q1 = np.cos(longitude[:, None] - longitude)
        q2 = np.cos(latitude[:, None] - latitude)
        q3 = np.cos(latitude[:, None] + latitude)
        angle = np.arccos(np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0))
        found = np.floor(RADIUS * angle + 1.0)
    else:
        steps = places[:, None] - places
        squares = (steps**2).sum(axis=2)
        if rule == "ATT":
            # The rule is nint(r), and 1 more if that is less than r.
            found = np.ceil(np.sqrt(squares / 10.0))
        else:
            found = np.sqrt(squares)
            found = np.ceil(found) if rule == "CEIL_2D" else np.floor(found + 0.5)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found, dtype=np.int64)


def _radians(places: Floats) -> Floats:
    degrees = np.trunc(places)
    return np.asarray(PI * (degrees + 5.0 * (places - degrees) / 3.0) / 180.0)


def read_tsplib(path: str | Path) -> Cities:
    """Read the cities of a TSPLIB file that lists coordinates.

    Parameters
    ----------
    path
        Of the file.

    Returns
    -------
    Cities
        What it says.

    Raises
    ------
    InstanceError
        One sentence with the file and the line.

    Examples
    --------
    >>> from optmodels.placement.sources import read_tsplib
    >>> read_tsplib("README.md")
    Traceback (most recent call last):
    optmodels.errors.InstanceError: README.md: line 1 is "# optmodels"; a line before the coordinates is ...
    """
    lines = Lines(path)
    texts = iter(lines)
    head = _head(lines, texts)
    count = int(head["DIMENSION"])
    rule = head["EDGE_WEIGHT_TYPE"]
    labels: list[str] = []
    seen: set[str] = set()
    places: list[tuple[float, float]] = []
    for text in texts:
        words = text.split()
        if text == "EOF" or (len(labels) == count and ":" in text) or text.endswith("_SECTION"):
            break
        if len(words) != 3:
            lines.refuse("a city is a line of three: its number and two coordinates.")
        if len(labels) == count:
            lines.refuse(f"DIMENSION says that there are {count} cities, and here is one more.")
        if words[0] in seen:
            lines.refuse(f"city {words[0]} was there already.")
        place = (lines.real(words[1], "a coordinate"), lines.real(words[2], "a coordinate"))
        if max(map(abs, place)) > FARTHEST:
            lines.refuse(f"coordinates up to {FARTHEST:g} are supported.")
        if rule == "GEO" and (abs(place[0]) > 90 or abs(place[1]) > 180):
            lines.refuse("GEO coordinates are latitude and longitude: up to 90 and 180 degrees.")
        labels.append(words[0])
        seen.add(words[0])
        places.append(place)
    if len(labels) < count:
        lines.ended(f"DIMENSION says that there are {count} cities, and there are {len(labels)}.")
    return Cities(head.get("NAME", ""), rule, tuple(labels), np.array(places, dtype=np.float64).reshape(-1, 2))


def _head(lines: Lines, texts: Iterator[str]) -> dict[str, str]:
    """Read the lines before the coordinates, and check those that count."""
    head: dict[str, str] = {}
    for text in texts:
        if text == "NODE_COORD_SECTION":
            break
        key, colon, value = (part.strip() for part in text.partition(":"))
        if key in ("EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION"):
            lines.refuse(f"distances are made of coordinates here, by {', '.join(RULES)}; this file lists them.")
        if not colon or not key.replace("_", "").isalnum():
            lines.refuse('a line before the coordinates is "KEY : value", and the last one is NODE_COORD_SECTION.')
        if key == "DIMENSION":
            lines.whole(value, 1, MOST_CITIES, "DIMENSION")
        if key == "EDGE_WEIGHT_TYPE" and value not in RULES:
            lines.refuse(f"rules that are known are {', '.join(RULES)}.")
        head[key] = value
    else:
        lines.ended("a TSPLIB file has a NODE_COORD_SECTION.")
    for key in ("DIMENSION", "EDGE_WEIGHT_TYPE"):
        if key not in head:
            lines.refuse(f"no line before says {key}.")
    return head
