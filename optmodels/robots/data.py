"""The data of a robot instance: every field with its rule, and what they make together.

Robots of one server are told at the top, or by classes; robots that areas share stand beside ``areas``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, model_validator

from queueing import PhaseType, RobotQueue
from queueing.numerics import SUM_TOLERANCE, check_generator, check_irreducible
from queueing.robots.fleet import Environment, RobotClass, RobotFleet

from ..data import (
    RATE,
    TIME,
    Choice,
    Data,
    Made,
    Matrix,
    Number,
    OneOf,
    Phases,
    Reader,
    Refusal,
    Rows,
    entry,
    read_list,
    read_numbers,
    square,
    write_law,
)
from ..errors import MissingField

#: More states than this are refused: a decision has an entry for each.
MOST_STATES = 5_000_000

#: Importances beyond the first are refused, and rates beyond the second or below its inverse.
HIGHEST, FASTEST = 1e50, 1e200

#: Rates and mean journeys farther than this from those of services are refused, and factors farther than the second
#: from 1: nothing could be computed.
FARTHEST, FARTHEST_FACTOR = 1e100, 1e50

#: How the robots of an area are used: the best activation policy, or all of them always active.
Control: TypeAlias = Literal["dynamic", "static"]

_NAME = "names are printable text on one line."
_LISTED = 'classes are a list of {"robots": N, "arrival_rate": r} or {"robots": N, "travel_time": law}.'
_OF_ALL_STATES = "factors are a list of numbers, one for each state of the environment."
_BESIDE = "each of the areas has its own; leave it out beside data.areas."


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise Refusal(_NAME)
    return value


Name: TypeAlias = Annotated[str, Reader(_name, {"type": "string", "rule": _NAME})] | None
Rate: TypeAlias = Annotated[
    float,
    Number(
        f"rates are finite numbers above 0, between {1 / FASTEST:g} and {FASTEST:g} in some unit of time.",
        least=1 / FASTEST,
        most=FASTEST,
    ),
]
Capacity: TypeAlias = Annotated[int, Number("the capacity is a whole number of pages, 2 or more.", least=2, whole=True)]
Robots: TypeAlias = (
    Annotated[
        int,
        Number(
            "robots are counted in whole numbers, 1 or more; null stands for as many as ever help.", least=1, whole=True
        ),
    ]
    | None
)


def _refuse_same_names(names: Sequence[str | None], field: str) -> None:
    """Refuse two classes or areas that could not be told apart."""
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            raise Refusal(f"no two {field} have the same name.", field, index, "name")


def _refuse_beyond(values: NDArray[np.float64], least: float, most: float, what: str, *steps: str | int) -> None:
    """Refuse numbers that are no zeros and whose size is beyond these two."""
    size = np.abs(values)
    for index in np.argwhere((values != 0) & ((size < least) | (size > most)))[:1].tolist():
        raise Refusal(f"{what} between {least:g} and {most:g}.", *steps, *index)


# -- the environment --------------------------------------------------------------------------------------------------


def _factors(value: Any) -> Matrix:
    """Pace by state, or by state and class."""
    rows = read_list(value, "", _OF_ALL_STATES)
    if any(isinstance(row, list | tuple) for row in rows):
        lengths = [len(read_numbers(row, f"[{index}]")) for index, row in enumerate(rows)]
        for index, length in enumerate(lengths):
            if length != lengths[0]:
                rule = f"one factor for each class of robots is needed, and the first row has {lengths[0]}."
                raise Refusal(rule, index)
    else:
        read_numbers(rows)
    factors = np.array(rows, dtype=np.float64)
    for index in np.argwhere(factors < 0)[:1].tolist():
        raise Refusal("factors are zero or more.", *index)
    if not factors.reshape(len(rows), -1).any(axis=0).all():
        raise Refusal("robots that never move never come back: one factor must be above 0.")
    _refuse_beyond(factors, 1 / FARTHEST_FACTOR, FARTHEST_FACTOR, "factors other than 0 lie")
    return factors


_PACE = {"type": "number", "minimum": 0}
_PACES = {"type": "array", "minItems": 1, "items": {"anyOf": [_PACE, {"type": "array", "items": _PACE}]}}
_PACES |= {"form": "list of numbers, or of lists of numbers by class", "rule": f"{_OF_ALL_STATES[:-1]}, zero or more."}


class EnvironmentData(Data):
    """A Markov chain that sets the pace of robots."""

    form = 'an environment is {"generator": [[..]], "factors": [f_1, f_2, ..]}.'

    generator: Annotated[Matrix, square("rates between states are zero or more.")] = entry(
        "rates between its states, each of which reaches every other; rows sum to 0 (1e-9 relative)", unit=RATE
    )
    factors: Annotated[Matrix, Reader(_factors, _PACES)] = entry(
        "speed of the robots in each state, relative to normal; or in each state a list of those of each class"
    )

    def made(self) -> Environment:
        """The chain, every state of which reaches every other."""
        generator, states = self.generator, len(self.generator)
        for row, total in enumerate(generator.sum(axis=1).tolist()):
            if abs(total) > SUM_TOLERANCE * float(np.abs(generator[row]).max()):
                raise Refusal(
                    f"the rates of this row make {total!r} and must make 0 (1e-9 relative).", "generator", row
                )
        try:
            check_irreducible("generator", check_generator("generator", generator))
        except ValueError as refusal:
            raise Refusal(str(refusal), "generator") from None
        if len(self.factors) != states:
            raise Refusal(f"one factor for each of the {states} states of the environment is needed.", "factors")
        return Environment(generator, self.factors)


def _chain(value: Any) -> Environment | None:
    """Return the chain that Python gave, ready made."""
    return value if isinstance(value, Environment) else None


# -- one server -------------------------------------------------------------------------------------------------------


class RobotSort(Data):
    """Robots that are alike."""

    arrival_rate: Rate = entry(
        "rate at which a robot that is out brings pages; give this, or travel_time", unit=RATE, optional=True
    )
    travel_time: Phases = entry(
        "instead: distribution of the time from being sent out until the page is there", unit=TIME, optional=True
    )

    @property
    def journey(self) -> PhaseType:
        """Law of the time from being sent out until the page is there."""
        return self.travel_time if "travel_time" in self.model_fields_set else PhaseType.exponential(self.arrival_rate)

    def to_data(self) -> dict[str, Any]:
        """The fields that were given, as in a file."""
        return {
            name: write_law(value) if isinstance(value, PhaseType) else value
            for name, value in self
            if name in self.model_fields_set
        }

    def check_journey(self) -> None:
        """Refuse robots without a law of journeys, or with two."""
        given = self.model_fields_set & {"arrival_rate", "travel_time"}
        if not given:
            raise MissingField("arrival_rate", "robots need it, or a travel_time.")
        if len(given) > 1:
            rule = "robots have it or a travel_time, whose mean is 1 / arrival_rate, not both."
            raise Refusal(rule, "arrival_rate")


class ClassData(RobotSort):
    """One of several classes of robots."""

    form = _LISTED
    needed = "how many robots of this class there are is needed."
    alternatives = (("arrival_rate", "travel_time"),)

    robots: Annotated[
        int, Number("robots of a class are counted in whole numbers, 1 or more; give a number.", least=1, whole=True)
    ] = entry("how many there are")
    name: Name = entry("for the reader; no two classes have the same", default=None)

    @model_validator(mode="after")
    def _goes_together(self) -> ClassData:
        self.check_journey()
        return self


class QueueData(RobotSort):
    """The data of robots that bring pages to one server."""

    form = "a queue with robots is an object."
    needed = "a queue with robots needs it."
    alternatives = (("arrival_rate", "travel_time", "classes"),)

    robots: Robots = entry(
        "N, how many there are; null: as many as ever help; needed unless classes are listed", optional=True
    )
    capacity: Capacity = entry("K, the most pages in the system, the one in service included", unit="pages")
    service_rate: Rate = entry("rate at which the server serves pages", unit=RATE)
    classes: Annotated[tuple[ClassData, ...], Rows(_LISTED)] = entry(
        "instead of robots and their rate: classes of robots that differ", optional=True
    )
    environment: Annotated[Environment, Made(EnvironmentData, _chain)] = entry(
        "Markov chain that sets the pace of robots", optional=True
    )
    switching: Annotated[
        Literal["one", "any"], Choice('robots are switched "one" at a time, or "any" number of them.')
    ] = entry("how many robots are sent out after an event, at most", default="one")

    @property
    def sorts(self) -> Sequence[ClassData | QueueData]:
        """List the robots by class, the one class where none is listed."""
        return self.classes or (self,)

    @property
    def is_base(self) -> bool:
        """Whether this is the model of Talim et al. (2001): robots of one sort, sent out one at a time."""
        return self.switching == "one" and not self.model_fields_set & {"classes", "travel_time", "environment"}

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of classes, numbers for those without one."""
        return tuple(getattr(sort, "name", None) or f"class {index}" for index, sort in enumerate(self.sorts))

    @property
    def paces(self) -> tuple[float, ...]:
        """Rates of service and of journeys as a whole."""
        return (self.service_rate, *(1.0 / sort.journey.mean for sort in self.sorts))

    def fleet(self, robots: int = 1) -> RobotFleet:
        """The fleet; `robots` of them where their number is left open."""
        classes = tuple(RobotClass(sort.robots or robots, sort.journey) for sort in self.sorts)
        return RobotFleet(classes, self.capacity, self.service_rate, self.environment, self.switching)

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that are read back to the same."""
        found = super().to_data() | {"switching": self.switching}
        if self.classes:
            found["classes"] = [one.to_data() for one in self.classes]
        if self.environment:
            generator, factors = self.environment.generator.tolist(), self.environment.factors.tolist()
            found["environment"] = {"generator": generator, "factors": factors}
        return found

    @model_validator(mode="after")
    def _goes_together(self) -> QueueData:
        if self.classes:
            for name in sorted(self.model_fields_set & {"robots", "arrival_rate", "travel_time"}):
                raise Refusal("it belongs to a class where classes are listed; leave it out here.", name)
            _refuse_same_names([one.name for one in self.classes], "classes")
        elif "robots" not in self.model_fields_set:
            raise MissingField("robots", "a queue with robots needs it, or a list of classes.")
        else:
            self.check_journey()
        self._check_rates()
        if self.switching == "any" and len(self.sorts) > 1:
            raise Refusal(f"robots of {len(self.sorts)} classes are sent out one at a time.", "switching")
        if self.switching == "any" and np.count_nonzero(self.sorts[0].journey.initial) > 1:
            raise Refusal("journeys that begin in different phases are begun one at a time.", "switching")
        try:
            self.fleet()
        except ValueError as refusal:  # too many states
            field = "classes" if self.classes else "robots"
            largest = self.capacity > max(sort.robots or 1 for sort in self.sorts)
            raise Refusal(str(refusal), "capacity" if largest else field) from None
        return self

    def _check_rates(self) -> None:
        """Refuse rates too far from that of service, and robots whose number cannot be left open."""
        least, most = max(1 / FASTEST, self.service_rate / FARTHEST), min(FASTEST, self.service_rate * FARTHEST)
        far = "with this rate of service rates other than 0 lie"
        if self.environment:
            _refuse_beyond(self.environment.generator, least, most, far, "environment", "generator")
            factors = self.environment.factors
            if factors.ndim == 2 and factors.shape[1] != len(self.sorts):
                rule = f"one factor for each class of robots is needed, and there are {len(self.sorts)}."
                raise Refusal(rule, "environment", "factors", 0)
        for index, sort in enumerate(self.sorts):
            place: tuple[str | int, ...] = ("classes", index) if self.classes else ()
            given = "travel_time" if "travel_time" in sort.model_fields_set else "arrival_rate"
            if sort.robots is None and (self.environment or given == "travel_time"):
                rule = "as many as ever help are found for robots with an arrival_rate alone; give a number."
                raise Refusal(rule, "robots")
            if given == "travel_time":
                _refuse_beyond(sort.journey.generator, least, most, far, *place, "travel_time", "generator")
            ratio = self.service_rate * sort.journey.mean
            if not 1 / FARTHEST < ratio < FARTHEST:
                nearer = "services and journeys must be nearer to one another"
                raise Refusal(f"{nearer}, and there are {ratio!r} services to a journey.", *place, given)


# -- areas ------------------------------------------------------------------------------------------------------------


class AreaData(Data):
    """A part of the web with its own server and queue."""

    form = "an area is an object with its capacity and rates."
    needed = "an area needs it."

    name: Name = entry("for the reader; no two areas have the same", default=None)
    capacity: Capacity = entry("K, the most pages in its system, the one in service included", unit="pages")
    arrival_rate: Rate = entry("rate at which an active robot brings pages", unit=RATE)
    service_rate: Rate = entry("rate at which its server serves pages", unit=RATE)
    importance: Annotated[
        float, Number(f"importance is a finite number above 0, {HIGHEST:g} at most.", above=0, most=HIGHEST)
    ] = entry("multiplies what the area costs", default=1.0)

    @model_validator(mode="after")
    def _goes_together(self) -> AreaData:
        try:
            RobotQueue(1, self.capacity, self.arrival_rate, self.service_rate)
        except ValueError as refusal:  # rates too far apart
            raise Refusal(str(refusal), "arrival_rate") from None
        return self


class AreasData(Data):
    """The data of robots that areas share."""

    model_config = ConfigDict(title="areas")

    needed = "areas share a given number of robots."

    robots: Annotated[
        int, Number("areas share a given number of robots, a whole number, 0 or more.", least=0, whole=True)
    ] = entry("N, the robots that the areas share")
    areas: Annotated[tuple[AreaData, ...], Rows("areas are a list of objects, one or more.")] = entry(
        "parts of the web, each with its own server, queue and rates, that robots are split over"
    )
    control: Annotated[
        Control, Choice('"dynamic" is the best activation policy in each area, "static" keeps all its robots active.')
    ] = entry("how the robots of an area are used", default="dynamic")

    @model_validator(mode="before")
    @classmethod
    def _leaves_the_rest_to_areas(cls, value: Any) -> Any:
        for name in ("capacity", "arrival_rate", "service_rate"):
            if name in value:
                raise Refusal(_BESIDE, name)
        return value

    @model_validator(mode="after")
    def _goes_together(self) -> AreasData:
        _refuse_same_names([area.name for area in self.areas], "areas")
        capacities = [area.capacity for area in self.areas]
        most = (self.robots + 1) * max(len(self.areas), max(capacities) + 1)
        if most > MOST_STATES:
            from heuristics.search import spelled

            largest = int(np.argmax(capacities))
            rule = "robots times areas, and robots times pages of an area, are"
            rule = f"{rule} {MOST_STATES} at most, but {spelled(most)}."
            if capacities[largest] > max(self.robots, len(self.areas)):
                raise Refusal(rule, "areas", largest, "capacity")
            raise Refusal(rule, "robots")
        return self


def _form(value: Any) -> str:
    return "areas" if isinstance(value, Mapping) and "areas" in value else "queue"


RobotsData: TypeAlias = Annotated[QueueData | AreasData, OneOf({"queue": QueueData, "areas": AreasData}, tag=_form)]
