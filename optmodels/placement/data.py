"""The data of a placement instance: every field with its rule, what they make together, and writing them back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from queueing.placement import CLIENT_CAP, POPULATION_CAP

from ..data import (
    RATE,
    TIME,
    Choice,
    Data,
    Made,
    Number,
    OneOf,
    Reader,
    Refusal,
    entry,
    is_number,
    is_whole,
    refuse_unknown,
)
from ..errors import InstanceError
from .layout import Grid, Layout, LayoutData

if TYPE_CHECKING:
    from .problem import PlacementProblem

#: Whole numbers up to this size are exact everywhere (sums over sites included).
MOST_CLIENTS = 10**9

#: Products service_rate x think_time that `queueing` takes lie strictly between these.
LEAST_PACE, MOST_PACE = 1e-250, 1e250

#: The least positive number.
TINIEST = math.ulp(0.0)


@dataclass(frozen=True)
class Quality:
    """What every client is promised.

    Parameters
    ----------
    min_throughput
        Requests served per client and unit of time, at least this.
    max_delay_probability, delay
        The probability of waiting longer than `delay` is below this.
    guarantee
        ``"worst-case"``: no client of any mix of distances up to the farthest falls short; ``"farthest"``: the paper's
        rule, throughput as if all were at the farthest distance, delay as if all were at distance 1.
    """

    min_throughput: float
    max_delay_probability: float
    delay: float
    guarantee: Literal["worst-case", "farthest"] = "worst-case"

    def to_data(self) -> dict[str, Any]:
        """The form in a file."""
        return {
            "min_throughput": self.min_throughput,
            "max_delay_probability": self.max_delay_probability,
            "delay": self.delay,
            "guarantee": self.guarantee,
        }


@dataclass(frozen=True)
class PerSite:
    """A field with a number for each site: nested rows on a grid, a flat list on a network.

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
    """

    rule: str
    least: float
    whole: bool = False
    same: bool = True

    @property
    def reader(self) -> Reader:
        """Of the field, which `read` looks at once the sites are known."""
        bound = {"exclusiveMinimum": 0} if self.least == TINIEST else {"minimum": self.least}
        entry = {"type": "integer" if self.whole else "number", **bound}
        listed = {"type": "array", "items": {"anyOf": [entry, {"type": "array", "items": entry}]}}
        noun = "whole number" if self.whole else "number"
        if not self.same:
            return Reader(_as_it_is, {**listed, "form": f"{noun} by site", "rule": self.rule})
        return Reader(_as_it_is, {"anyOf": [entry, listed], "form": f"{noun}, or one by site", "rule": self.rule})

    def read(self, data: Any, layout: Layout, place: str) -> NDArray[Any]:
        """One number for each site."""
        kind = np.int64 if self.whole else np.float64
        if self.same and not isinstance(data, list | tuple):
            return np.full(layout.sites, self._number(data, place), dtype=kind)
        return np.array([self._number(value, where) for where, value in entries(data, layout, place)], dtype=kind)

    def _number(self, value: Any, place: str) -> float:
        if not (is_whole(value) if self.whole else is_number(value)) or value < self.least:
            raise InstanceError(place, value, self.rule)
        if self.whole and value > MOST_CLIENTS:
            raise InstanceError(place, value, f"at most {MOST_CLIENTS} are supported.")
        return float(value)


def _as_it_is(value: Any) -> Any:
    return value


def entries(data: Any, layout: Layout, place: str) -> list[tuple[str, Any]]:
    """Every entry of a per-site field with its place, row by row."""
    if isinstance(layout, Grid):
        shape = f"{layout.rows} rows of {layout.columns}"
        if not isinstance(data, list | tuple) or len(data) != layout.rows:
            got = f"{len(data)} came" if isinstance(data, list | tuple) else "no list came"
            raise InstanceError(place, data, f"the grid needs {shape}, {got}.")
        for i, row in enumerate(data):
            if not isinstance(row, list | tuple) or len(row) != layout.columns:
                got = f"{len(row)} entries came" if isinstance(row, list | tuple) else "no list came"
                raise InstanceError(f"{place}[{i}]", row, f"the grid needs {shape}, {got}.")
        return [(f"{place}[{i}][{j}]", value) for i, row in enumerate(data) for j, value in enumerate(row)]
    if not isinstance(data, list | tuple) or len(data) != layout.sites:
        got = f"{len(data)} came" if isinstance(data, list | tuple) else "no list came"
        raise InstanceError(place, data, f"the network needs a flat list of {layout.sites} entries, {got}.")
    return [(f"{place}[{i}]", value) for i, value in enumerate(data)]


def to_rows(values: NDArray[Any], layout: Layout) -> list[Any]:
    """The form of a per-site field in a file: nested rows on a grid, flat on a network; one number if all are equal."""
    if isinstance(layout, Grid):
        rows: list[Any] = values.reshape(layout.rows, layout.columns).tolist()
        return rows
    flat: list[Any] = values.tolist()
    return flat


def think_times(data: Mapping[str, Any], layout: Layout, largest: int) -> NDArray[np.float64]:
    """Mean think time f_j(d) per server site j and distance d = 1..`largest`; ``inf`` beyond the end of a list."""
    place = "data.think_time"
    if "by_distance" in data:
        return _by_distance(data["by_distance"], layout, largest)
    base = BASE.read(data["base"], layout, f"{place}.base")
    slope = SLOPE.read(data["per_distance"], layout, f"{place}.per_distance")
    if (base + slope <= 0).any():
        raise InstanceError(place, dict(data), "the think time at distance 1, base + per_distance, must be positive.")
    distance = np.arange(1, largest + 1)
    with np.errstate(over="ignore"):  # `check_pace` refuses it by name
        return np.asarray(base[:, None] + slope[:, None] * distance, dtype=np.float64)


def check_pace(
    data: Mapping[str, Any], layout: Layout, service_rate: NDArray[np.float64], think_time: NDArray[np.float64]
) -> None:
    """Refuse rates and think times too far apart for the queues, naming the field to blame.

    `data` are those of the instance, with fields that were found good one by one.
    """
    listed = "by_distance" in data["think_time"]
    with np.errstate(over="ignore", under="ignore"):
        offered = service_rate[:, None] * think_time
    # Where a list has ended nobody is served; a straight line has no end, infinite values there are overflows.
    asked = np.isfinite(think_time) if listed else np.ones(think_time.shape, dtype=bool)
    bad = np.argwhere(asked & ~((offered > LEAST_PACE) & (offered < MOST_PACE)))
    if len(bad):
        site, column = (int(index) for index in bad[0])
        rate, time = float(service_rate[site]), float(think_time[site, column])
        if abs(math.log(rate)) > abs(math.log(time)):
            place, value = _given(data["service_rate"], layout, "data.service_rate", site)
        elif listed:
            place, value = "data.think_time.by_distance", data["think_time"]["by_distance"]
            if isinstance(value[0], list | tuple):
                place, value = _given(value, layout, place, site)
            place, value = f"{place}[{column}]", value[column]
        else:
            terms = [
                _given(data["think_time"][name], layout, f"data.think_time.{name}", site)
                for name in ("base", "per_distance")
            ]
            place, value = terms[0] if terms[0][1] >= terms[1][1] * (column + 1) else terms[1]
        raise InstanceError(
            place,
            float(value),
            "service_rate x think_time must be between 1e-250 and 1e250, but it is "
            f"{offered[site, column]:g} at distance {column + 1}.",
        )
    # A good product is not enough: n / rate, the time to serve n clients, must be a number too.
    extreme = (service_rate < LEAST_PACE) | (service_rate > MOST_PACE)
    if extreme.any():
        place, value = _given(data["service_rate"], layout, "data.service_rate", int(np.argmax(extreme)))
        raise InstanceError(place, float(value), "rates from 1e-250 to 1e250 are supported.")


def check_crowd(
    data: Mapping[str, Any], layout: Layout, demand: NDArray[np.int64], processors: NDArray[np.int64]
) -> None:
    """Refuse more clients than the queues take, as all of them may come to one site."""
    total = int(demand.sum())
    if total > CLIENT_CAP:
        raise InstanceError("data.demand", data["demand"], f"at most {CLIENT_CAP} clients in all are supported.")
    summed = (processors > 1) & (processors < total)
    if total > POPULATION_CAP and summed.any():
        place, value = _given(data["processors"], layout, "data.processors", int(np.argmax(summed)))
        raise InstanceError(
            place,
            value,
            f"at most {POPULATION_CAP} clients are supported where there are several processors and more clients than "
            f"those, and there are {total}.",
        )


def written(problem: PlacementProblem) -> dict[str, Any]:
    """Write the data of an instance file that `PlacementProblem.from_data` reads back to the same problem."""
    reach = np.isfinite(problem.think_time)
    curves = [row[kept].tolist() for row, kept in zip(problem.think_time, reach, strict=True)]
    same = all(curve == curves[0] for curve in curves)
    nested: list[Any] = curves
    if isinstance(problem.layout, Grid):
        width = problem.layout.columns
        nested = [curves[start : start + width] for start in range(0, len(curves), width)]
    data: dict[str, Any] = {
        **problem.layout.to_data(),
        "demand": to_rows(problem.demand, problem.layout),
        "opening_cost": to_rows(problem.opening_cost, problem.layout),
        "service_rate": to_rows(problem.service_rate, problem.layout),
        "processors": to_rows(problem.processors, problem.layout),
        "think_time": {"by_distance": curves[0] if same else nested},
        "quality": problem.quality.to_data(),
    }
    if problem.operating_cost is not None:
        data["operating_cost"] = to_rows(problem.operating_cost, problem.layout)
    return data


def _given(data: Any, layout: Layout, place: str, site: int) -> tuple[str, Any]:
    """Where the value of a site stands in a field of one number or one per site, and that value."""
    return entries(data, layout, place)[site] if isinstance(data, list | tuple) else (place, data)


def _by_distance(data: Any, layout: Layout, largest: int) -> NDArray[np.float64]:
    place = "data.think_time.by_distance"
    if not isinstance(data, list | tuple) or not data:
        raise InstanceError(place, data, "list the mean think times f(1), f(2), ...")
    if not isinstance(data[0], list | tuple):
        return np.tile(_curve(data, place, largest), (layout.sites, 1))
    return np.array([_curve(curve, where, largest) for where, curve in entries(data, layout, place)])


def _curve(data: Any, place: str, largest: int) -> NDArray[np.float64]:
    if not isinstance(data, list | tuple) or not data:
        raise InstanceError(place, data, "list the mean think times f(1), f(2), ...")
    for index, value in enumerate(data):
        if not is_number(value) or value <= 0:
            raise InstanceError(f"{place}[{index}]", value, "think times are positive numbers.")
        if index and value < data[index - 1]:
            raise InstanceError(
                f"{place}[{index}]", value, f"think times must not fall with distance, {data[index - 1]} came before."
            )
    curve = np.full(largest, math.inf)
    reach = min(largest, len(data))
    curve[:reach] = data[:reach]
    return curve


# -- fields -----------------------------------------------------------------------------------------------------------

BASE = PerSite("think times are numbers, zero or more.", 0.0)
SLOPE = PerSite("think times do not fall with distance: zero or more.", 0.0)
DEMAND = PerSite("demands are whole numbers, zero or more.", 0, whole=True, same=False)
OPENING = PerSite("costs are numbers, zero or more.", 0.0, same=False)
OPERATING = PerSite("costs are numbers, zero or more.", 0.0)
SERVICE_RATE = PerSite("service rates are positive numbers.", TINIEST)
PROCESSORS = PerSite("processors are whole numbers from 1.", 1, whole=True)

_CURVE = {"type": "array", "form": "list of numbers, or one by site", "rule": "think times are positive numbers."}

Limit: TypeAlias = Annotated[float, Number("quality limits are numbers, zero or more.", least=0)]


class LinearThinkTime(Data):
    """A think time that is a straight line."""

    needed = "a linear think time needs base and per_distance."

    base: Annotated[Any, BASE.reader] = entry("a of the mean think time a + b d at distance d, from 1", unit=TIME)
    per_distance: Annotated[Any, SLOPE.reader] = entry("b", unit=TIME)


class ListedThinkTime(Data):
    """A think time by distance."""

    by_distance: Annotated[Any, Reader(_as_it_is, _CURVE)] = entry(
        "instead: the mean think times f(1), f(2), ..., which do not fall; farther clients are not served", unit=TIME
    )


def _form(value: Any) -> str:
    if not isinstance(value, Mapping):
        raise Refusal('a think time is {"base": a, "per_distance": b} or {"by_distance": [f(1), f(2), ...]}.')
    if "by_distance" in value:
        return "listed"
    refuse_unknown(value, {"base", "per_distance", "by_distance"})
    return "linear"


class QualityData(Data):
    """What every client is promised."""

    form = "quality is an object with min_throughput, max_delay_probability, delay."
    needed = "quality needs min_throughput, max_delay_probability and delay."

    min_throughput: Limit = entry("least requests of a client that are served", unit=RATE)
    max_delay_probability: Limit = entry("the probability of waiting longer than the delay is below this, 1 at most")
    delay: Limit = entry("the wait that few requests exceed", unit=TIME)
    guarantee: Annotated[Literal["worst-case", "farthest"], Choice('a guarantee is "worst-case" or "farthest".')] = (
        entry(
            "for every mix of distances, or by the rule of the paper, which is not on the safe side",
            default="worst-case",
        )
    )

    def made(self) -> Quality:
        """The promise."""
        if self.max_delay_probability > 1:
            raise Refusal("probabilities are at most 1.", "max_delay_probability")
        return Quality(self.min_throughput, self.max_delay_probability, self.delay, self.guarantee)


class PlacementData(LayoutData):
    """The data of kind "placement"; numbers by site are read once the sites are known."""

    needed = "a placement needs it."

    demand: Annotated[Any, DEMAND.reader] = entry("clients of each cell")
    opening_cost: Annotated[Any, OPENING.reader] = entry("price of an open site")
    operating_cost: Annotated[Any, OPERATING.reader] | None = entry(
        "price of a site at full utilisation; null: there is none", default=None
    )
    service_rate: Annotated[Any, SERVICE_RATE.reader] = entry("requests that a processor serves", unit=RATE)
    processors: Annotated[Any, PROCESSORS.reader] = entry("of a server", default=1)
    think_time: Annotated[Any, OneOf({"linear": LinearThinkTime, "listed": ListedThinkTime}, tag=_form)] = entry(
        "mean time from an answer to the next request of a client, by distance from the server"
    )
    quality: Annotated[Quality, Made(QualityData)] = entry("what every client is promised")
