"""Reading areas of the web and the robots they share: every field checked, every complaint one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from heuristics.search import spelled
from queueing import RobotQueue

from ...costs import CostFunction, linear_weights
from ...data import is_number, is_whole, refuse_unknown
from ...errors import InstanceError, MissingField
from ...registry import costs
from ..data import HIGHEST, MOST_STATES, PRICED, is_additive, priced_cost, read_name, read_rate, refuse_same_names

FIELDS = {"robots", "areas", "control"}
NUMBERS = ("capacity", "arrival_rate", "service_rate")
AREA_FIELDS = {"name", "importance", *NUMBERS}

#: How the robots of an area are used: the best activation policy, or all of them always active.
Control: TypeAlias = Literal["dynamic", "static"]


@dataclass(frozen=True)
class Area:
    """A part of the web with its own server and queue, and rates of its own; see `queueing.RobotQueue`.

    ``importance`` multiplies what the area costs; without a ``name`` it is called by its place.
    """

    capacity: int
    arrival_rate: float
    service_rate: float
    importance: float = 1.0
    name: str | None = None

    def queue(self, robots: int) -> RobotQueue:
        """The queue with so many robots, one or more."""
        return RobotQueue(robots, self.capacity, self.arrival_rate, self.service_rate)

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        named = {} if self.name is None else {"name": self.name}
        return named | {
            "capacity": self.capacity,
            "arrival_rate": self.arrival_rate,
            "service_rate": self.service_rate,
            "importance": self.importance,
        }


def read_areas(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the data, each checked on its own and with the others."""
    for name in NUMBERS:
        if name in data:
            rule = "each of the areas has its own; leave it out beside data.areas."
            raise InstanceError(f"data.{name}", data[name], rule)
    refuse_unknown(data, FIELDS, "data")
    if "robots" not in data:
        raise MissingField("data.robots", "areas share a given number of robots.")
    robots, listed, control = data["robots"], data["areas"], data.get("control", "dynamic")
    if not is_whole(robots) or robots < 0:
        rule = "areas share a given number of robots, a whole number, 0 or more."
        raise InstanceError("data.robots", robots, rule)
    if control not in get_args(Control):
        rule = '"dynamic" is the best activation policy in each area, "static" keeps all its robots active.'
        raise InstanceError("data.control", control, rule)
    if not isinstance(listed, list) or not listed:
        raise InstanceError("data.areas", listed, "areas are a list of objects, one or more.")
    areas = tuple(_area(entry, f"data.areas[{index}]") for index, entry in enumerate(listed))
    refuse_same_names([area.name for area in areas], "data.areas")
    most = (int(robots) + 1) * max(len(areas), *(area.capacity + 1 for area in areas))
    if most > MOST_STATES:
        largest = max(range(len(areas)), key=lambda index: areas[index].capacity)
        rule = f"robots times areas, and robots times pages of an area, are {MOST_STATES} at most, but {spelled(most)}."
        if areas[largest].capacity > max(robots, len(areas)):
            raise InstanceError(f"data.areas[{largest}].capacity", listed[largest]["capacity"], rule)
        raise InstanceError("data.robots", robots, rule)
    return {"robots": int(robots), "areas": areas, "control": control}


def _area(entry: Any, place: str) -> Area:
    if not isinstance(entry, Mapping):
        raise InstanceError(place, entry, "an area is an object with its capacity and rates.")
    refuse_unknown(entry, AREA_FIELDS, place)
    for field in NUMBERS:
        if field not in entry:
            raise MissingField(f"{place}.{field}", "an area needs it.")
    capacity, name = entry["capacity"], read_name(entry, place)
    if not is_whole(capacity) or capacity < 2:
        raise InstanceError(f"{place}.capacity", capacity, "the capacity is a whole number of pages, 2 or more.")
    rates = {field: read_rate(entry[field], f"{place}.{field}") for field in ("arrival_rate", "service_rate")}
    importance = entry.get("importance", 1.0)
    if not is_number(importance) or importance <= 0:
        raise InstanceError(f"{place}.importance", importance, "importance is a finite number above 0.")
    if importance > HIGHEST:
        raise InstanceError(f"{place}.importance", importance, f"importance is {HIGHEST:g} at most.")
    area = Area(int(capacity), **rates, importance=float(importance), name=name)
    try:
        area.queue(1)
    except ValueError as refusal:  # rates too far apart
        raise InstanceError(f"{place}.arrival_rate", entry["arrival_rate"], str(refusal)) from None
    return area


def area_prices(cost: CostFunction | None, control: Control, areas: Sequence[Area]) -> CostFunction | None:
    """The cost with its defaults, refused if what areas cost does not add up."""
    if cost is None:
        if control == "dynamic":
            raise MissingField("cost", "which policy is best in an area depends on its prices.")
        return None
    names = ", ".join(PRICED)
    weights = linear_weights(cost)
    if weights is None:
        rule = f"costs of areas are added up, so that they are weighted sums of {names}."
        raise InstanceError("cost.name", costs.name_of(type(cost)) or type(cost).__name__, rule)
    if not is_additive(cost):
        name, weight = next(item for item in weights.items() if item[1] != 0 and item[0] not in PRICED)
        rule = f"costs of areas are added up, so that they are weighted sums of {names}."
        raise InstanceError(f"cost.weights.{name}", weight, rule)
    return priced_cost(cost, *(rate for area in areas for rate in (area.arrival_rate, area.service_rate)))
