"""Reading the data of a robot fleet: every field checked, every complaint one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from queueing import PhaseType
from queueing.numerics import SUM_TOLERANCE, check_generator, check_irreducible
from queueing.robots.fleet import Environment, RobotClass, RobotFleet

from ...data import (
    is_whole,
    read_law,
    read_list,
    read_matrix,
    read_numbers,
    read_object,
    refuse_negative,
    refuse_unknown,
    told,
    write_law,
)
from ...errors import InstanceError, MissingField
from ..data import FASTEST, SWITCHING, read_name, read_rate, refuse_same_names

_COMMON = {"capacity", "service_rate", "switching", "environment"}
_ROBOTS = {"robots", "arrival_rate", "travel_time"}

#: Rates and mean journeys farther than this from those of services are refused, and factors farther than the second
#: from 1: nothing could be computed.
FARTHEST, FARTHEST_FACTOR = 1e100, 1e50


@dataclass(frozen=True, eq=False)
class RobotSort:
    """Robots that are alike, as a file tells of them.

    Attributes
    ----------
    robots
        How many; ``None``: as many as ever help.
    journey
        Law of the time from being sent out until the page is there.
    arrival_rate
        Its rate if it is exponential and was given as such.
    name
        For the reader.
    """

    robots: int | None
    journey: PhaseType
    arrival_rate: float | None = None
    name: str | None = None

    def to_data(self) -> dict[str, Any]:
        """The form in a file."""
        found: dict[str, Any] = {} if self.name is None else {"name": self.name}
        found["robots"] = self.robots
        if self.arrival_rate is None:
            return found | {"travel_time": write_law(self.journey)}
        return found | {"arrival_rate": self.arrival_rate}


@dataclass(frozen=True, eq=False)
class FleetPlan:
    """The data of a fleet as a file has them.

    Attributes
    ----------
    sorts
        Robots by class.
    listed
        Whether the file lists classes; otherwise there is one, told at the top.
    capacity, service_rate, environment, switching
        As in `queueing.robots.fleet.RobotFleet`.
    """

    sorts: tuple[RobotSort, ...]
    listed: bool
    capacity: int
    service_rate: float
    environment: Environment | None
    switching: Literal["one", "any"]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of classes, numbers for those without one."""
        return tuple(sort.name or f"class {index}" for index, sort in enumerate(self.sorts))

    @property
    def paces(self) -> tuple[float, ...]:
        """Rates of service and of journeys as a whole."""
        return (self.service_rate, *(1.0 / sort.journey.mean for sort in self.sorts))

    def fleet(self, robots: int | None = None) -> RobotFleet:
        """The fleet; `robots` of them where their number is left open."""
        classes = tuple(RobotClass(sort.robots or robots or 1, sort.journey) for sort in self.sorts)
        return RobotFleet(classes, self.capacity, self.service_rate, self.environment, self.switching)

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `read_plan` reads back to the same plan."""
        robots = {"classes": [sort.to_data() for sort in self.sorts]} if self.listed else self.sorts[0].to_data()
        found = robots | {"capacity": self.capacity, "service_rate": self.service_rate, "switching": self.switching}
        if self.environment is None:
            return found
        factors, generator = self.environment.factors.tolist(), self.environment.generator.tolist()
        return found | {"environment": {"generator": generator, "factors": factors}}


def read_plan(data: Mapping[str, Any]) -> FleetPlan:
    """The fields of the data, each checked on its own and with the others."""
    refuse_unknown(data, _COMMON | _ROBOTS | {"classes"}, "data")
    capacity, service_rate = _needed(data, "capacity"), _needed(data, "service_rate")
    if not is_whole(capacity) or capacity < 2:
        raise InstanceError("data.capacity", capacity, "the capacity is a whole number of pages, 2 or more.")
    service_rate = read_rate(service_rate, "data.service_rate")
    sorts = _sorts(data)
    switching = data.get("switching", "one")
    if switching not in ("one", "any"):
        raise InstanceError("data.switching", switching, SWITCHING)
    environment = _environment(data["environment"], len(sorts)) if "environment" in data else None
    plan = FleetPlan(sorts, "classes" in data, int(capacity), service_rate, environment, switching)
    _check_together(plan, data)
    return plan


def _sorts(data: Mapping[str, Any]) -> tuple[RobotSort, ...]:
    if "classes" not in data:
        if "robots" not in data:
            raise MissingField("data.robots", "a queue with robots needs it, or a list of classes.")
        return (_sort(data, "data"),)
    for name in sorted(_ROBOTS & set(data)):
        rule = "it belongs to a class where classes are listed; leave it out here."
        raise InstanceError(f"data.{name}", data[name], rule)
    form = 'classes are a list of {"robots": N, "arrival_rate": r} or {"robots": N, "travel_time": law}.'
    sorts = []
    for index, entry in enumerate(read_list(data["classes"], "data.classes", form)):
        place = f"data.classes[{index}]"
        known = read_object(entry, place, _ROBOTS | {"name"}, form)
        if "robots" not in known:
            raise MissingField(f"{place}.robots", "how many robots of this class there are is needed.")
        sorts.append(_sort(known, place))
    refuse_same_names([sort.name for sort in sorts], "data.classes")
    return tuple(sorts)


def _sort(data: Mapping[str, Any], place: str) -> RobotSort:
    robots, name = data["robots"], read_name(data, place)
    if robots is not None and (not is_whole(robots) or robots < 1):
        raise InstanceError(f"{place}.robots", robots, "robots are counted in whole numbers, 1 or more.")
    given = [field for field in ("arrival_rate", "travel_time") if field in data]
    if not given:
        raise MissingField(f"{place}.arrival_rate", "robots need it, or a travel_time.")
    if len(given) > 1:
        rule = "robots have it or a travel_time, whose mean is 1 / arrival_rate, not both."
        raise InstanceError(f"{place}.arrival_rate", data["arrival_rate"], rule)
    count = None if robots is None else int(robots)
    if given == ["travel_time"]:
        return RobotSort(count, read_law(data["travel_time"], f"{place}.travel_time"), None, name)
    rate = read_rate(data["arrival_rate"], f"{place}.arrival_rate")
    return RobotSort(count, PhaseType.exponential(rate), rate, name)


def _environment(value: Any, classes: int) -> Environment:
    place = "data.environment"
    form = 'an environment is {"generator": [[..]], "factors": [f_1, f_2, ..]}.'
    known = read_object(value, place, {"generator", "factors"}, form)
    for name in ("generator", "factors"):
        if name not in known:
            raise MissingField(f"{place}.{name}", form)
    generator = read_matrix(known["generator"], f"{place}.generator")
    refuse_negative(generator, f"{place}.generator", "rates between states are zero or more.", diagonal=False)
    for row, total in enumerate(generator.sum(axis=1).tolist()):
        if abs(total) > SUM_TOLERANCE * float(np.abs(generator[row]).max()):
            rule = f"the rates of this row make {total!r} and must make 0 (1e-9 relative)."
            raise InstanceError(f"{place}.generator[{row}]", generator[row].tolist(), rule)
    told(
        lambda: check_irreducible("generator", check_generator("generator", generator)),
        f"{place}.generator",
        known["generator"],
    )
    factors = _factors(known["factors"], f"{place}.factors", len(generator), classes)
    _refuse_beyond(factors, 1 / FARTHEST_FACTOR, FARTHEST_FACTOR, f"{place}.factors", "factors other than 0 lie")
    return told(lambda: Environment(generator, factors), place, dict(known))


def _factors(value: Any, place: str, states: int, classes: int) -> Any:
    """Pace by state, or by state and class."""
    rows = read_list(value, place, "factors are a list of numbers, one for each state of the environment.")
    if len(rows) != states:
        raise InstanceError(place, value, f"one factor for each of the {states} states of the environment is needed.")
    if not any(isinstance(row, list | tuple) for row in rows):
        factors = np.array(read_numbers(rows, place))
    else:
        for index, row in enumerate(rows):
            if len(read_numbers(row, f"{place}[{index}]")) != classes:
                rule = f"one factor for each class of robots is needed, and there are {classes}."
                raise InstanceError(f"{place}[{index}]", row, rule)
        factors = np.array(rows, dtype=np.float64)
    for index in np.argwhere(factors < 0)[:1].tolist():
        where = "".join(f"[{number}]" for number in index)
        raise InstanceError(f"{place}{where}", float(factors[tuple(index)]), "factors are zero or more.")
    if not factors.reshape(states, -1).any(axis=0).all():
        raise InstanceError(place, value, "robots that never move never come back: one factor must be above 0.")
    return factors


def _refuse_beyond(values: NDArray[np.float64], least: float, most: float, place: str, what: str) -> None:
    """Refuse numbers that are no zeros and whose size is beyond these two."""
    size = np.abs(values)
    for index in np.argwhere((values != 0) & ((size < least) | (size > most)))[:1].tolist():
        where = "".join(f"[{number}]" for number in index)
        rule = f"{what} between {least:g} and {most:g}."
        raise InstanceError(f"{place}{where}", float(values[tuple(index)]), rule)


def _check_together(plan: FleetPlan, data: Mapping[str, Any]) -> None:
    """What no field breaks alone."""
    least, most = max(1 / FASTEST, plan.service_rate / FARTHEST), min(FASTEST, plan.service_rate * FARTHEST)
    far = "with this rate of service rates other than 0 lie"
    if plan.environment is not None:
        _refuse_beyond(plan.environment.generator, least, most, "data.environment.generator", far)
    for index, sort in enumerate(plan.sorts):
        place = f"data.classes[{index}]" if plan.listed else "data"
        if sort.robots is None and (plan.listed or plan.environment is not None or sort.arrival_rate is None):
            rule = "as many as ever help are found for robots of one sort with an arrival_rate alone; give a number."
            raise InstanceError(f"{place}.robots", None, rule)
        if sort.arrival_rate is None:
            _refuse_beyond(sort.journey.generator, least, most, f"{place}.travel_time.generator", far)
        ratio = plan.service_rate * sort.journey.mean
        if not 1 / FARTHEST < ratio < FARTHEST:
            name = "travel_time" if sort.arrival_rate is None else "arrival_rate"
            given = write_law(sort.journey) if sort.arrival_rate is None else sort.arrival_rate
            rule = (
                f"services and journeys must be nearer to one another, and there are {ratio!r} services to a journey."
            )
            raise InstanceError(f"{place}.{name}", given, rule)
    if plan.switching == "any":
        if len(plan.sorts) > 1:
            rule = f"robots of {len(plan.sorts)} classes are sent out one at a time."
            raise InstanceError("data.switching", "any", rule)
        if np.count_nonzero(plan.sorts[0].journey.initial) > 1:
            rule = "journeys that begin in different phases are begun one at a time."
            raise InstanceError("data.switching", "any", rule)
    field = "classes" if plan.listed else "robots"
    if plan.capacity > max(sort.robots or 1 for sort in plan.sorts):
        field = "capacity"
    told(plan.fleet, f"data.{field}", data[field])  # too many states


def _needed(data: Mapping[str, Any], name: str) -> Any:
    if name not in data:
        raise MissingField(f"data.{name}", "a queue with robots needs it.")
    return data[name]
