"""Classes of clients in a file, and which fields stand beside which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ...data import Data, Number, Reader, Refusal, Rows, entry, plain
from ...errors import MissingField

if TYPE_CHECKING:
    from ..data import Quality

#: Most classes: how many clients are too many is searched in as many dimensions.
MOST_CLASSES = 5

#: Fields that a class has for itself.
OWN = ("demand", "think_time", "quality")

_FORM = 'classes are a list of {"name": name, "demand": clients of each site, "think_time": as without classes}.'


@dataclass(frozen=True, eq=False)
class ClientClass:
    """A class of clients.

    Parameters
    ----------
    name
        For the reader.
    demand
        Clients of each cell.
    think_time
        Mean think time by distance, as of a `PlacementProblem`.
    quality
        What they are promised; ``None``: what the instance promises.
    priority
        Whose requests go first: those of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from optmodels.placement.classes import ClientClass
    >>> ClientClass("browsing", np.array([4, 7]), {"base": 0.8, "per_distance": 0.2}).to_data()
    {'name': 'browsing', 'demand': [4, 7], 'think_time': {'base': 0.8, 'per_distance': 0.2}}
    """

    name: str
    demand: NDArray[np.int64]
    think_time: Mapping[str, Any]
    quality: Quality | None = None
    priority: int = 0

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file, with the demand as a flat list."""
        quality = {} if self.quality is None else {"quality": self.quality.to_data()}
        priority = {"priority": self.priority} if self.priority else {}
        told = {"name": self.name, "demand": self.demand.tolist(), "think_time": dict(self.think_time)}
        return told | quality | priority


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise Refusal("names of classes are printable text on one line.")
    return value


def _later(kind: str, form: str, rule: str) -> Reader:
    """A field that is read with those of the instance, once the sites are known."""
    return Reader(lambda value: value, {"type": kind, "form": form, "rule": rule})


class ClassData(Data):
    """One of the classes of clients."""

    form = _FORM
    needed = "a class needs its name, its demand and its think time."

    name: Annotated[str, Reader(_name, {"type": "string"})] = entry("what the class is called; each has another name")
    demand: Annotated[Any, _later("array", "whole number by site", "demands are whole numbers, zero or more.")] = entry(
        "number of clients at each site"
    )
    think_time: Annotated[Any, _later("object", "object", "as without classes.")] = entry(
        "mean time from an answer to the next request, as without classes"
    )
    quality: Annotated[Any, _later("object", "object", "as without classes.")] = entry(
        "what they are promised; left out: what the instance promises", optional=True
    )
    priority: Annotated[int, Number("priorities are whole numbers, zero or more.", least=0, whole=True)] = entry(
        "whose requests go first at a server: those of 0; all classes have the same, or all another", default=0
    )


#: What reads the field ``classes``.
ClassesField = Rows(_FORM, most=MOST_CLASSES, many="at most {most} classes are supported, and there are {count}.")


def check_crowds(value: Any) -> Any:
    """Refuse data that do not say whose demand it is, or say it twice."""
    if not isinstance(value, Mapping):
        return value
    told = [name for name in ("demand", "scenarios", "classes") if name in value]
    if not told:
        raise MissingField("demand", "a placement needs it, or scenarios of it, or classes of clients.")
    if len(told) > 1:
        raise Refusal(f"give either {told[0]} or {told[1]}, not both.", told[1])
    if "classes" in value:
        if "think_time" in value:
            raise Refusal("every class has its own; leave out the one of all.", "think_time")
        for name, plainly in (("requests", 1), ("request_share", 0)):
            if value.get(name, plainly) != plainly:
                raise Refusal("several requests per client are for clients of one class, without classes.", name)
    elif "think_time" not in value:
        raise MissingField("think_time", "a placement needs it.")
    quality = value.get("quality")
    if "scenarios" not in value and isinstance(quality, Mapping) and "scenario_probability" in quality:
        raise Refusal("this is a promise for scenarios, and there are none.", "quality", "scenario_probability")
    return value


def prioritised(listed: Any) -> bool:
    """Tell whether classes have several priorities.

    Parameters
    ----------
    listed
        As they come from a file or from Python.

    Returns
    -------
    bool
        False, too, of what is no list of classes.

    Examples
    --------
    >>> from optmodels.placement.classes import prioritised
    >>> prioritised([{"name": "first", "priority": 0}, {"name": "second", "priority": 1}])
    True
    """
    if not isinstance(listed, list | tuple):
        return False
    told = (one.priority if isinstance(one, ClientClass) else one.get("priority", 0)
            for one in listed if isinstance(one, ClientClass | Mapping))  # fmt: skip
    return len({repr(priority) for priority in told}) > 1


def natural_classes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Make plain data of classes as they come from Python; a shape follows from nested demands.

    What ``dataclasses.replace`` hands on beside the classes that were kept is left out if it follows from them.
    """
    told, listed = dict(given), given.get("classes")
    if not isinstance(listed, list | tuple):
        return told
    kept = [one for one in listed if isinstance(one, ClientClass)]
    if kept and np.array_equal(told.get("demand", ()), np.sum([one.demand for one in kept], axis=0)):
        del told["demand"]
    classes = [plain(one.to_data() if isinstance(one, ClientClass) else one) for one in listed]
    demands = [one.get("demand") for one in classes if isinstance(one, dict)]
    nested = [rows for rows in demands if isinstance(rows, list) and rows and isinstance(rows[0], list)]
    if nested and not {"shape", "network", "distances"} & {name for name, value in told.items() if value is not None}:
        told["shape"] = [len(nested[0]), len(nested[0][0])]
    told["classes"] = [_in_rows(one, told.get("shape")) if isinstance(one, dict) else one for one in classes]
    return told


def _in_rows(one: dict[str, Any], shape: Any) -> dict[str, Any]:
    """Write flat lists of a class as rows of a grid."""
    if not isinstance(shape, list | tuple) or len(shape) != 2:
        return one
    rows, columns = shape

    def rowed(values: Any) -> Any:
        flat = isinstance(values, list) and len(values) == rows * columns
        if not flat or any(isinstance(value, list | dict) for value in values):
            return values
        return [values[start : start + columns] for start in range(0, len(values), columns)]

    times = one.get("think_time")
    if isinstance(times, dict):
        by_site = {name: rowed(times[name]) for name in ("base", "per_distance") if name in times}
        one = one | {"think_time": times | by_site}
    return one | {"demand": rowed(one["demand"])} if "demand" in one else one
