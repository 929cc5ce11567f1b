"""The data of a placement instance: every field with its rule, what they make together, and writing them back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from queueing.placement import CLIENT_CAP, POPULATION_CAP, TOKEN_LIMIT

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
    plain,
    read_as,
    refuse_unknown,
)
from ..errors import InstanceError
from .classes.data import ClassData, ClassesField, check_crowds
from .geometry import DistanceMatrix, PerSite, dense_ranks, entries, given_at, nested, read_matrix
from .geometry.by_site import TINIEST, as_it_is
from .geometry.fixed import FIELDS
from .layout import Grid, Layout, LayoutData, Network, is_graph, network_from_graph, show, shown
from .scenarios.data import ScenariosField, by_rows, natural_scenarios, rows_of
from .server_types.data import ALTERNATIVES, ServerTypeData, TypesField, check_servers, natural_types

if TYPE_CHECKING:
    from .problem import PlacementProblem

#: Products service_rate x think_time that `queueing` takes lie strictly between these.
LEAST_PACE, MOST_PACE = 1e-250, 1e250


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
        ``"worst-case"``: no client of any mix of distances up to the farthest falls short; ``"farthest"``: the
        rule of Gautam (2002), throughput as if all were at the farthest distance, delay as if all were at distance 1.
    scenario_probability
        Of random demand: the probability of the scenarios in which this is kept is at least this; ``None``: 1.
    """

    min_throughput: float
    max_delay_probability: float
    delay: float
    guarantee: Literal["worst-case", "farthest"] = "worst-case"
    scenario_probability: float | None = None

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the data of an instance into what a `PlacementProblem` keeps, one number for each site."""
    found: PlacementData = read_as(PlacementData, data)
    layout = found.layout

    def by_site(name: str) -> Any:
        value = getattr(found, name)
        left_out = value is None and PlacementData.model_fields[name].default is None
        return None if left_out else PER_SITE[name].read(value, layout, f"data.{name}")

    service_rate = by_site("service_rate")
    times, levels = think_times(data["think_time"], layout)
    check_pace(data, layout, service_rate, times, levels)
    if isinstance(found.demand, Mapping):
        from .sources import published_demand

        demand = published_demand(found.demand, layout)
    else:
        demand = by_site("demand")
    processors = by_site("processors")
    check_crowd(data, layout, demand, processors)
    if int(demand.sum()) * found.requests > TOKEN_LIMIT and found.requests > 1:
        rule = (
            f"at most {TOKEN_LIMIT} requests of all clients are supported, and there are {int(demand.sum())} clients."
        )
        raise InstanceError("data.requests", found.requests, rule)
    return {
        "layout": layout,
        "shape": layout.shape,
        "network": None if isinstance(layout, Grid | DistanceMatrix) else layout,
        "distances": show(layout),
        "clients": layout.clients if isinstance(layout, DistanceMatrix) else None,
        "demand": demand,
        "opening_cost": by_site("opening_cost"),
        "operating_cost": by_site("operating_cost"),
        "service_rate": service_rate,
        "processors": processors,
        "fixed_open": found.fixed_open,
        "fixed_closed": found.fixed_closed,
        "requests": found.requests,
        "request_share": found.request_share,
        "think_time": dict(data["think_time"]),
        "think_times": times,
        "levels": levels,
        "quality": found.quality,
    }


def natural_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Make of the fields that Python gave what their models read.

    Arrays by site may be flat on a grid, whose shape follows from whatever field is nested; a networkx graph is a
    network; what was kept is as in a file again.
    """
    whose = shown(given.get("distances"))
    given = {name: value for name, value in given.items() if name != "distances" or whose is None}
    data = {name: plain(_one_for_all(name, value)) for name, value in given.items()}
    if isinstance(whose, DistanceMatrix):  # others follow from the shape or the network that is there, too
        data["distances"] = whose
    if is_graph(data.get("network")):
        data |= network_from_graph(data["network"], "data.network")[0].to_data()
    if isinstance(data.get("quality"), Quality):
        data["quality"] = data["quality"].to_data()
    if "scenarios" in data:
        data["scenarios"] = natural_scenarios(data["scenarios"])
    if not {"shape", "network", "distances"} & {*data}:
        if "demand" in data:
            data |= _shape_of(data["demand"])
        elif (rows := rows_of(data.get("scenarios"))) is not None:
            data["shape"] = rows
    columns = _columns(data.get("shape"))
    if "server_types" in data:
        data["server_types"] = natural_types(given["server_types"], lambda some: _in_rows(some, *(columns or (0, 0))))
    if columns is not None:
        for name in PER_SITE:
            data[name] = _in_rows(data[name], *columns) if name in data else None
        data = {name: value for name, value in data.items() if value is not None}
        if "scenarios" in data:
            data["scenarios"] = by_rows(data["scenarios"], lambda values: _in_rows(values, *columns))
        if isinstance(data.get("think_time"), dict):
            times = data["think_time"]
            data["think_time"] = times | {
                name: _in_rows(times[name], *columns) for name in ("base", "per_distance") if name in times
            }
    return data


def _one_for_all(name: str, value: Any) -> Any:
    """Return the one number of which a kept array is made, so that it holds for another number of sites, too."""
    kept = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) and not value.flags.writeable
    if kept and name in PER_SITE and PER_SITE[name].same and (value == value[0]).all():
        return value[0]
    return value


def _shape_of(demand: Any) -> dict[str, Any]:
    """Rows and columns of nested demands, none of a flat list; what is no demand of any sites is told as that."""
    form = "demands are a list of rows of the same length, or a flat list beside a shape, a network or distances."
    if not isinstance(demand, list) or not demand:
        raise InstanceError("data.demand", demand, form)
    lengths = {len(row) if isinstance(row, list) else None for row in demand}
    if len(lengths) > 1 or 0 in lengths:
        raise InstanceError("data.demand", demand, form)
    columns = lengths.pop()
    sites = Network(len(demand), ()) if columns is None else Grid(len(demand), columns)
    PER_SITE["demand"].read(demand, sites, "data.demand")
    return {} if columns is None else {"shape": [len(demand), columns]}


def _columns(shape: Any) -> tuple[int, int] | None:
    if not isinstance(shape, list) or len(shape) != 2 or not all(is_whole(side) and side >= 1 for side in shape):
        return None
    return int(shape[0]), int(shape[1])


def _in_rows(values: Any, rows: int, columns: int) -> Any:
    """Write a flat list as rows of a grid, if it is one with an entry for each cell."""
    flat = isinstance(values, list) and len(values) == rows * columns
    if not flat or any(isinstance(value, list | dict) for value in values):
        return values
    return [values[start : start + columns] for start in range(0, len(values), columns)]


def think_times(data: Mapping[str, Any], layout: Layout) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mean think times, and where they stand.

    Returns
    -------
    times
        Per site and level, from column 0: the mean think time of clients there; ``inf`` beyond the end of a list.
    levels
        Per site and cell: the level, 1 where the clients of a site think shortest.
    """
    place = "data.think_time"
    if "by_pair" in data:
        pairs = np.asarray(data["by_pair"], dtype=np.float64)
        if pairs.shape != (layout.sites, layout.cells):
            rule = f"this needs {layout.sites} rows, one for each site, of {layout.cells} numbers, one for each cell."
            raise InstanceError(f"{place}.by_pair", data["by_pair"], rule)
        levels, times = dense_ranks(pairs)
        return times, levels
    reaches = layout.reaches
    if "by_distance" in data:
        listed, place = data["by_distance"], f"{place}.by_distance"
        finite = reaches[np.isfinite(reaches)]
        odd = finite[(finite < 1) | (finite != np.floor(finite))]
        if len(odd):
            rule = (
                f"think times are listed for the distances 1, 2, ..., but there is one of {odd[0]:g}: "
                "give base and per_distance, or by_pair."
            )
            raise InstanceError(place, listed, rule)
        largest = int(finite.max())
        if isinstance(listed, list | tuple) and listed and isinstance(listed[0], list | tuple):
            curves = [_curve(curve, where, largest) for where, curve in entries(listed, layout, place)]
        else:
            curves = [_curve(listed, place, largest)]
        if layout.stepwise:
            return np.tile(curves[0], (layout.sites, 1)) if len(curves) == 1 else np.array(curves), layout.levels
        index = np.where(np.isfinite(reaches), reaches, 1).astype(np.int64) - 1
        times = np.array([curves[site if len(curves) > 1 else 0][index[site]] for site in range(layout.sites)])
        return np.where(np.isfinite(reaches), times, math.inf), layout.levels
    base = BASE.read(data["base"], layout, f"{place}.base")
    slope = SLOPE.read(data["per_distance"], layout, f"{place}.per_distance")
    if (base + slope * reaches[:, 0] <= 0).any():
        least = (
            "at distance 1, base + per_distance,"
            if layout.stepwise
            else "of the nearest cell, base + per_distance x distance,"
        )
        raise InstanceError(place, dict(data), f"the think time {least} must be positive.")
    with np.errstate(over="ignore", invalid="ignore"):  # `check_pace` refuses it by name
        times = base[:, None] + slope[:, None] * reaches
    return np.where(np.isfinite(reaches), times, math.inf), layout.levels


def part_of(think_time: Mapping[str, Any], layout: Layout, sites: list[int]) -> dict[str, Any]:
    """Write the think times of some sites alone, as those of a network."""

    def chosen(value: Any, place: str, by_site: bool) -> Any:
        return [entries(value, layout, place)[site][1] for site in sites] if by_site else value

    if "by_pair" in think_time:
        return {"by_pair": np.asarray(think_time["by_pair"])[np.ix_(sites, sites)].tolist()}
    if "by_distance" in think_time:
        listed = think_time["by_distance"]
        return {"by_distance": chosen(listed, "by_distance", isinstance(listed[0], list | tuple))}
    return {name: chosen(value, name, isinstance(value, list | tuple)) for name, value in think_time.items()}


def check_pace(
    data: Mapping[str, Any],
    layout: Layout,
    service_rate: NDArray[np.float64],
    think_time: NDArray[np.float64],
    levels: NDArray[np.int64],
) -> None:
    """Refuse rates and think times too far apart for the queues, naming the field to blame.

    `data` are those of the instance, with fields that were found good one by one.
    """
    linear = "base" in data["think_time"]
    with np.errstate(over="ignore", under="ignore"):
        offered = service_rate[:, None] * think_time
    # Where a list has ended nobody is served; a straight line has no end, infinite values there are overflows.
    asked = np.isfinite(np.broadcast_to(layout.reaches, offered.shape) if linear else think_time)
    bad = np.argwhere(asked & ~((offered > LEAST_PACE) & (offered < MOST_PACE)))
    if len(bad):
        site, column = (int(index) for index in bad[0])
        rate, time = float(service_rate[site]), float(think_time[site, column])
        cell = int(np.argmax(levels[site] == column + 1))
        distance = (
            column + 1 if layout.stepwise and "by_pair" not in data["think_time"] else layout.distances[site, cell]
        )
        if abs(math.log(rate)) > abs(math.log(time)):
            place, value = given_at(data["service_rate"], layout, "data.service_rate", site)
        else:
            place, value = _to_blame(data["think_time"], layout, site, cell, float(distance))
        raise InstanceError(
            place,
            float(value),
            "service_rate x think_time must be between 1e-250 and 1e250, but it is "
            f"{offered[site, column]:g} at distance {distance:g}.",
        )
    # A good product is not enough: n / rate, the time to serve n clients, must be a number too.
    extreme = (service_rate < LEAST_PACE) | (service_rate > MOST_PACE)
    if extreme.any():
        place, value = given_at(data["service_rate"], layout, "data.service_rate", int(np.argmax(extreme)))
        raise InstanceError(place, float(value), "rates from 1e-250 to 1e250 are supported.")


def _to_blame(think_time: Mapping[str, Any], layout: Layout, site: int, cell: int, distance: float) -> tuple[str, Any]:
    """Where the think time of a site's clients at some distance stands, and the number there."""
    place = "data.think_time"
    if "by_pair" in think_time:
        return f"{place}.by_pair[{site}][{cell}]", think_time["by_pair"][site][cell]
    if "by_distance" in think_time:
        place, value = f"{place}.by_distance", think_time["by_distance"]
        if isinstance(value[0], list | tuple):
            place, value = given_at(value, layout, place, site)
        return f"{place}[{int(distance) - 1}]", value[int(distance) - 1]
    base, slope = (given_at(think_time[name], layout, f"{place}.{name}", site) for name in ("base", "per_distance"))
    return base if base[1] >= slope[1] * distance else slope


def check_crowd(
    data: Mapping[str, Any], layout: Layout, demand: NDArray[np.int64], processors: NDArray[np.int64]
) -> None:
    """Refuse more clients than the queues take, as all of them may come to one site."""
    total = int(demand.sum())
    if total > CLIENT_CAP:
        raise InstanceError("data.demand", data["demand"], f"at most {CLIENT_CAP} clients in all are supported.")
    summed = (processors > 1) & (processors < total)
    if total > POPULATION_CAP and summed.any():
        place, value = given_at(data["processors"], layout, "data.processors", int(np.argmax(summed)))
        raise InstanceError(
            place,
            value,
            f"at most {POPULATION_CAP} clients are supported where there are several processors and more clients than "
            f"those, and there are {total}.",
        )


def written(problem: PlacementProblem) -> dict[str, Any]:
    """Write the data of an instance file that `PlacementProblem.from_data` reads back to the same problem."""
    by_site = {name: getattr(problem, name) for name in PER_SITE}
    return {
        **problem.layout.to_data(),
        **{name: nested(values.tolist(), problem.layout) for name, values in by_site.items() if values is not None},
        "think_time": dict(problem.think_time),
        **{name: list(sites) for name in FIELDS if (sites := getattr(problem, name))},
        **({"requests": problem.requests} if problem.requests != 1 else {}),
        **({"request_share": problem.request_share} if problem.request_share != 0 else {}),
        "quality": problem.quality.to_data(),
    }


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
PER_SITE = {
    "demand": PerSite("demands are whole numbers, zero or more.", 0, whole=True, same=False, cells=True),
    "opening_cost": PerSite("costs are numbers, zero or more.", 0.0, same=False),
    "operating_cost": PerSite("costs are numbers, zero or more.", 0.0),
    "service_rate": PerSite("service rates are positive numbers.", TINIEST),
    "processors": PerSite("processors are whole numbers from 1.", 1, whole=True),
}

_CURVE = {"type": "array", "form": "list of numbers, or one by site", "rule": "think times are positive numbers."}

_POSITIVE = {"type": "number", "exclusiveMinimum": 0}


def _pairs_of_times(rows: Any) -> Any:
    form = "think times by pair are a list of rows, one for each site, with a number for each cell."
    return read_matrix(rows, form, "think times are positive numbers.")


_LIMIT = "quality limits are numbers, zero or more."
Limit: TypeAlias = Annotated[float, Number(_LIMIT, least=0)]
Probability: TypeAlias = Annotated[float, Number(_LIMIT, least=0, most=1, many="probabilities are at most 1.")]
KeptProbability: TypeAlias = Annotated[
    float, Number("the probability of the scenarios that are kept is above 0 and at most 1.", above=0, most=1)
]


class LinearThinkTime(Data):
    """A think time that is a straight line."""

    needed = "a linear think time needs base and per_distance."

    base: Annotated[Any, BASE.reader] = entry("a of the mean think time a + b d at distance d, from 1", unit=TIME)
    per_distance: Annotated[Any, SLOPE.reader] = entry("b of the mean think time a + b d at distance d", unit=TIME)


class PairedThinkTime(Data):
    """A think time of each site and cell."""

    by_pair: Annotated[
        Any, Reader(_pairs_of_times, {"type": "array", "items": {"type": "array", "items": _POSITIVE}})
    ] = entry("instead: the mean think time of the clients of each cell at each site, a row for each site", unit=TIME)


class ListedThinkTime(Data):
    """A think time by distance."""

    by_distance: Annotated[Any, Reader(as_it_is, _CURVE)] = entry(
        "instead: the mean think times f(1), f(2), ..., which do not fall; farther clients are not served", unit=TIME
    )


def _form(value: Any) -> str:
    if not isinstance(value, Mapping):
        raise Refusal(
            'a think time is {"base": a, "per_distance": b}, {"by_distance": [f(1), f(2), ...]} or {"by_pair": matrix}.'
        )
    for name, form in (("by_distance", "listed"), ("by_pair", "paired")):
        if name in value:
            return form
    refuse_unknown(value, {"base", "per_distance", "by_distance", "by_pair"})
    return "linear"


class QualityData(Data):
    """What every client is promised."""

    form = "quality is an object with min_throughput, max_delay_probability, delay."
    needed = "quality needs min_throughput, max_delay_probability and delay."

    min_throughput: Limit = entry("least throughput of a client: requests that are served", unit=RATE)
    max_delay_probability: Probability = entry("the probability of waiting longer than the delay is below this")
    delay: Limit = entry("the wait that few requests exceed", unit=TIME)
    guarantee: Annotated[Literal["worst-case", "farthest"], Choice('a guarantee is "worst-case" or "farthest".')] = (
        entry(
            '"worst-case" holds for every mix of distances; "farthest", by Gautam (2002), may promise too much',
            default="worst-case",
        )
    )
    scenario_probability: KeptProbability = entry(
        "with scenarios: the least probability of those in which quality is kept; left out: 1", optional=True
    )

    def made(self) -> Quality:
        """Make what every client is promised."""
        return Quality(**dict(self))


class PlacementData(LayoutData):
    """The data of kind "placement"; numbers by site are read once the sites are known."""

    needed = "a placement needs it."
    alternatives = (*LayoutData.alternatives, ("demand", "scenarios", "classes"), *ALTERNATIVES)

    demand: Annotated[Any, PER_SITE["demand"].reader] = entry(
        "number of clients in each cell, or of a named topology: its own demands over x", optional=True
    )
    scenarios: Annotated[Any, ScenariosField] = entry(
        "instead: what the demand may be, and how probable that is", optional=True
    )
    classes: Annotated[list[ClassData], ClassesField] = entry("instead: classes of clients", optional=True)
    server_types: Annotated[list[ServerTypeData], TypesField] = entry("instead: types of servers", optional=True)
    opening_cost: Annotated[Any, PER_SITE["opening_cost"].reader] = entry("price of an open site", optional=True)
    operating_cost: Annotated[Any, PER_SITE["operating_cost"].reader] | None = entry(
        "price of a site at full utilisation; null: there is none", default=None
    )
    service_rate: Annotated[Any, PER_SITE["service_rate"].reader] = entry(
        "rate at which a processor serves requests", unit=RATE, optional=True
    )
    processors: Annotated[Any, PER_SITE["processors"].reader] = entry("number of processors at a site", default=1)
    think_time: Annotated[
        Any, OneOf({"linear": LinearThinkTime, "listed": ListedThinkTime, "paired": PairedThinkTime}, tag=_form)
    ] = entry("mean time from an answer to the next request of a client, by distance from the server", optional=True)
    requests: Annotated[int, Number("requests are a whole number from 1.", least=1, whole=True)] = entry(
        "how many a client may have under way, answers it works on included, one at a time; throughput counts them all",
        default=1,
    )
    request_share: Annotated[float, Number("a share is a number from 0, below 1.", least=0, below=1)] = entry(
        "part of the think time that an answer spends at the first of two stations of its client; 0: there is one",
        default=0.0,
    )
    quality: Annotated[Quality, Made(QualityData)] = entry("what every client is promised")

    @model_validator(mode="before")
    @classmethod
    def _has_demand(cls, value: Any) -> Any:
        return check_crowds(check_servers(value))
