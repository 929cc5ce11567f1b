"""Line charts as data that a page draws as inline SVG: step lines, bands, ticks, all in the units of one drawing.

A chart of a page follows the colours of the page, light or dark, and its texts are texts of the page: so it is no
picture of matplotlib. What is in a name stays data; the template that draws a chart escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

#: Size of a drawing in its own units, which are about pixels on a phone.
WIDTH, HEIGHT = 420.0, 262.0
#: Room around the plane; that at the left depends on the ticks.
TOP, RIGHT, BOTTOM = 24.0, 12.0, 38.0
#: Looks that differ by colour and mark; the next round differs by dashes.
LOOKS = 6
#: How far beyond the plane a line goes that leaves it; what is drawn there is cut off.
BEYOND = 9.0
#: Columns in which a curve is looked up: a finer step could not be seen.
COLUMNS = 240

#: Width of a digit of a tick.
_DIGIT = 7.0


@dataclass(frozen=True)
class Axis:
    """A scale with its words.

    Parameters
    ----------
    label
        What is shown, with its unit.
    low, high
        Its ends; `high` is the larger one.
    log
        Whether it is logarithmic; `low` is then positive.
    percent
        Whether ticks are written in percent.
    """

    label: str
    low: float
    high: float
    log: bool = False
    percent: bool = False

    def at(self, values: ArrayLike) -> Vector:
        """Find the places of values, 0 at the low end and 1 at the high end; what lies outside is moved to an end."""
        x = np.clip(np.asarray(values, float), self.low, self.high)
        low, high = self.low, self.high
        if self.log:
            x, low, high = np.log(x), math.log(low), math.log(high)
        return np.asarray(np.clip((x - low) / (high - low), 0.0, 1.0), float)

    def columns(self) -> Vector:
        """List values at even distances from end to end, at which a curve is looked up."""
        if self.log:
            return np.geomspace(self.low, self.high, COLUMNS)
        return np.linspace(self.low, self.high, COLUMNS)

    def ticks(self) -> list[tuple[float, str]]:
        """Choose about five ticks, each with its place (0 to 1) and what is written there."""
        values = _log_ticks(self.low, self.high) if self.log else _even_ticks(self.low, self.high)
        places = self.at(values)
        step = min((b - a for a, b in pairwise(values)), default=1.0)
        return [
            (float(place), _plain(value) if self.log else _tick(value, step, self.percent))
            for place, value in zip(places, values, strict=True)
        ]


def _even_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, every one or every few; 2 and 5 times them where there are less than three."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / 6))
    powers = [10.0**k for k in range(first, last + 1, stride)]
    if len(powers) >= 3:
        return powers
    finer = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
    inside = [value for value in finer if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    return inside if len(inside) >= 2 else [low, high]


def _tick(value: float, step: float, percent: bool) -> str:
    if percent:
        return f"{100 * value:.{0 if step >= 0.01 else 1}f} %"
    if abs(value) < 1e-9 * step:
        return "0"
    if step >= 1e-7 and abs(value) < 1e7:
        return f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
    return _plain(value)


def _plain(value: float) -> str:
    """Write a number with three digits, and no more letters than it takes."""
    text = f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.3g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


@dataclass(frozen=True)
class Line:
    """A line of a chart, in the units of the drawing.

    Parameters
    ----------
    label
        Whose it is: a strategy, told when the pointer rests on it.
    look
        Number of its colour and mark.
    path
        The line as the attribute ``d`` of SVG has it.
    kind
        ``"line"``, ``"bound"`` (dashed), ``"band"`` (an area) or ``"level"`` (a dotted line from end to end).
    marks
        Where marks stand, so that a grey print tells lines apart.
    """

    label: str
    look: int
    path: str
    kind: str = "line"
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def style(self) -> str:
        """Names of the classes that give it its look."""
        return f"{self.kind} c{self.look % LOOKS} d{self.look // LOOKS % 3}"


@dataclass(frozen=True)
class Chart:
    """A chart, ready to be drawn.

    Parameters
    ----------
    title, caption
        Above and below it; the caption says what is shown, of what, in which unit.
    x, y
        The scales.
    lines
        From back to front.
    """

    title: str
    caption: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]

    @property
    def plane(self) -> Plane:
        """Where the plane lies in the drawing."""
        return plane_of(self.y)

    @property
    def x_ticks(self) -> list[tuple[str, str]]:
        """Place and text of each tick; what would touch its neighbour is left out."""
        plane = self.plane
        kept: list[tuple[str, str]] = []
        free = -math.inf
        for place, text in self.x.ticks():
            half = _DIGIT * len(text) / 2
            middle = min(plane.left + place * plane.width, WIDTH - half)
            if middle - half > free:
                kept.append((units(middle), text))
                free = middle + half + 4
        return kept

    @property
    def y_ticks(self) -> list[tuple[str, str]]:
        """Place and text of each tick."""
        plane = self.plane
        return [(units(plane.top + (1 - place) * plane.height), text) for place, text in self.y.ticks()]

    @property
    def looks(self) -> dict[str, int]:
        """The strategies that are drawn, with their looks: entries of the legend."""
        return {line.label: line.look for line in self.lines if line.kind == "line"}

    def has(self, kind: str) -> bool:
        """Tell whether a line of a kind is drawn, which the legend then explains."""
        return any(line.kind == kind for line in self.lines)


@dataclass(frozen=True)
class Plane:
    """The rectangle in which lines are drawn."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


def plane_of(y: Axis) -> Plane:
    """Leave as much room at the left as the ticks of a scale need."""
    left = 12.0 + _DIGIT * max((len(text) for _, text in y.ticks()), default=1)
    return Plane(left, TOP, WIDTH - left - RIGHT, HEIGHT - TOP - BOTTOM)


def units(value: float) -> str:
    """Write a length of a drawing: a tenth of a pixel is fine enough.

    >>> units(12.04), units(3.96)
    ('12', '4')
    """
    return f"{value:.1f}".removesuffix(".0")


def steps(x: Axis, y: Axis, xs: ArrayLike, ys: ArrayLike, until: float | None = None) -> str:
    """Write a step line as a path: from each x on it has the y beside it.

    Parameters
    ----------
    x, y
        The scales.
    xs, ys
        Corners, x ascending; where y is not finite there is no line.
    until
        Where the line ends; by default at its last corner.

    Returns
    -------
    str
        The attribute ``d`` of a path, without moves too small to be seen; empty if nothing is to be drawn.
    """
    plane = plane_of(y)
    px, py = _placed(x, y, xs, ys, plane)
    end = None if until is None else plane.left + float(x.at(until)) * plane.width
    path: list[str] = []
    at_x, at_y = "", ""
    drawing = False
    for here, height in zip(px.tolist(), py.tolist(), strict=True):
        if not math.isfinite(height):
            drawing = False
            continue
        now_x, now_y = units(here), units(height)
        if not drawing:
            path.append(f"M{now_x} {now_y}")
        elif now_y != at_y:
            path.append((f"H{now_x}" if now_x != at_x else "") + f"V{now_y}")
        else:
            continue
        drawing, at_x, at_y = True, now_x, now_y
    if drawing:
        last = units(max(float(px[-1]), end if end is not None else -math.inf))
        if last != at_x:
            path.append(f"H{last}")
    return "".join(path)


def band(x: Axis, y: Axis, xs: ArrayLike, low: ArrayLike, high: ArrayLike) -> str:
    """Write the area between two step lines as a path; where one of them has no value there is none.

    Parameters
    ----------
    x, y
        The scales.
    xs, low, high
        Corners, x ascending, and the two values from each of them on.

    Returns
    -------
    str
        The attribute ``d`` of a path; empty where the lines never differ.
    """
    plane = plane_of(y)
    px, lows = _placed(x, y, xs, low, plane)
    _, highs = _placed(x, y, xs, high, plane)
    pieces: list[str] = []
    right = np.append(px[1:], px[-1:])
    open_low, open_high, since = math.nan, math.nan, 0.0
    for here, a, b, next_x in zip(px.tolist(), lows.tolist(), highs.tolist(), right.tolist(), strict=True):
        if (a, b) != (open_low, open_high):
            pieces += _rectangle(since, here, open_low, open_high)
            open_low, open_high, since = a, b, here
        last = next_x
    if len(px):
        pieces += _rectangle(since, last, open_low, open_high)
    return "".join(pieces)


def _rectangle(left: float, right: float, low: float, high: float) -> list[str]:
    if not (math.isfinite(low) and math.isfinite(high)) or abs(low - high) < 0.1 or right <= left:
        return []
    return [f"M{units(left)} {units(high)}H{units(right)}V{units(low)}H{units(left)}z"]


def level(x: Axis, y: Axis, value: float) -> str:
    """Write a line from end to end at one value as a path.

    Parameters
    ----------
    x, y
        The scales.
    value
        Its height.

    Returns
    -------
    str
        The attribute ``d`` of a path.
    """
    return steps(x, y, [x.low], [value], x.high)


def marks(x: Axis, y: Axis, xs: ArrayLike, ys: ArrayLike, look: int, count: int = 4) -> tuple[tuple[str, str], ...]:
    """Place a few marks on a step line, at heights that differ from look to look so that they do not hide one another.

    Parameters
    ----------
    x, y
        The scales.
    xs, ys
        Corners of the line.
    look
        Number of the look of the line.
    count
        Of marks, at most.

    Returns
    -------
    tuple
        Their places in the drawing.
    """
    plane = plane_of(y)
    px, py = _placed(x, y, xs, ys, plane)
    seen = np.isfinite(py)
    px, py = px[seen], py[seen]
    if not len(px):
        return ()
    shift = (look % LOOKS + 0.5) / LOOKS
    wanted = px[0] + (np.arange(count) + shift) / count * max(float(px[-1] - px[0]), 0.0)
    places = np.searchsorted(px, wanted, side="right") - 1
    spots = [(units(at), units(py[place])) for at, place in zip(wanted.tolist(), places.tolist(), strict=True)]
    return tuple(dict.fromkeys(spots))


def _placed(x: Axis, y: Axis, xs: ArrayLike, ys: ArrayLike, plane: Plane) -> tuple[Vector, Vector]:
    """Places in the drawing, a little outside of the plane where values are; not a number where there is no value."""
    values = np.asarray(ys, float)
    missing = ~np.isfinite(values)
    heights = plane.bottom - y.at(np.where(missing, y.low, values)) * plane.height
    heights = np.where(values > y.high, plane.top - BEYOND, np.where(values < y.low, plane.bottom + BEYOND, heights))
    return plane.left + x.at(xs) * plane.width, np.where(missing, math.nan, heights)


def share_axis(label: str) -> Axis:
    """Make the scale of a share of cases, from none to all."""
    return Axis(label, 0.0, 1.0, percent=True)


def time_axis(label: str, moments: Iterable[float], decades: float = 20.0) -> Axis:
    """Choose a scale for moments: logarithmic where they span decades.

    Parameters
    ----------
    label
        What is counted, with its unit.
    moments
        Whatever is to be seen; what is not positive and finite is passed over.
    decades
        How many times the first moment the last one is, for a logarithmic scale.

    Returns
    -------
    Axis
        From end to end, never empty.
    """
    seen = [moment for moment in moments if 0 < moment < math.inf]
    low, high = min(seen, default=1.0), max(seen, default=1.0)
    if high >= decades * low:
        return Axis(f"{label}, logarithmic scale", low, high, log=True)
    return Axis(label, 0.0, high)


def value_axis(label: str, values: Sequence[float]) -> Axis:
    """Choose a scale for values, with a little room above and below.

    Parameters
    ----------
    label
        What they are.
    values
        Finite ones, at least one.

    Returns
    -------
    Axis
        From end to end, never empty.
    """
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 0.05 * abs(low) or 1.0
    return Axis(label, low - room, high + room)
