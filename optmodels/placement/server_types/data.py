"""Types of servers in a file, and which fields stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ...data import RATE, Data, Number, Reader, Refusal, Rows, entry, plain
from ...errors import MissingField

#: Most types of servers: walks keep a table of capacities for each.
MOST_TYPES = 20

#: Fields that a type has for itself.
OWN = ("service_rate", "processors", "opening_cost")

#: What stands in a file if types do not.
ALTERNATIVES = (("opening_cost", "server_types"), ("service_rate", "server_types"))

_FORM = 'server types are a list of {"name": name, "service_rate": rate, "opening_cost": price, or one by site}.'


@dataclass(frozen=True, eq=False)
class ServerType:
    """A type of servers.

    Parameters
    ----------
    name
        For the reader.
    service_rate, processors
        Of such a server.
    opening_cost
        Price of such a server at each site.

    Examples
    --------
    >>> import numpy as np
    >>> from optmodels.placement.server_types import ServerType
    >>> ServerType("small", 10.0, 1, np.array([2.0, 3.0])).to_data()
    {'name': 'small', 'service_rate': 10.0, 'processors': 1, 'opening_cost': [2.0, 3.0]}
    """

    name: str
    service_rate: float
    processors: int
    opening_cost: NDArray[np.float64]

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file, with opening costs as a flat list."""
        return {
            "name": self.name,
            "service_rate": self.service_rate,
            "processors": self.processors,
            "opening_cost": self.opening_cost.tolist(),
        }


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise Refusal("names of server types are printable text on one line.")
    return value


_COST = {"type": "number", "minimum": 0}
_COSTS = {
    "anyOf": [_COST, {"type": "array", "items": {"anyOf": [_COST, {"type": "array", "items": _COST}]}}],
    "form": "number, or one by site",
    "rule": "costs are numbers, zero or more.",
}


class ServerTypeData(Data):
    """One of the types of servers."""

    form = _FORM
    needed = "a server type needs its name, its service rate and its opening cost."

    name: Annotated[str, Reader(_name, {"type": "string"})] = entry("what the type is called; each has another name")
    service_rate: Annotated[float, Number("service rates are positive numbers.", above=0)] = entry(
        "rate at which a processor serves requests", unit=RATE
    )
    processors: Annotated[int, Number("processors are whole numbers from 1.", least=1, whole=True)] = entry(
        "number of processors of such a server", default=1
    )
    opening_cost: Annotated[Any, Reader(lambda value: value, _COSTS)] = entry("price of such a server at a site")


#: What reads the field ``server_types``.
TypesField = Rows(_FORM, most=MOST_TYPES, many="at most {most} types of servers are supported, and there are {count}.")


def check_servers(value: Any) -> Any:
    """Refuse data that do not say what servers there are, or say it twice."""
    if not isinstance(value, Mapping):
        return value
    if "server_types" not in value:
        for name in ("opening_cost", "service_rate"):
            if name not in value:
                raise MissingField(name, "a placement needs it.")
        return value
    for name in OWN:
        if name in value:
            raise Refusal("every server type has its own; leave out the one of all.", name)
    for name in ("scenarios", "classes"):
        if name in value:
            raise Refusal(f"types of servers are for one demand, without {name}.", "server_types")
    return value


def natural_types(given: Any, in_rows: Callable[[Any], Any]) -> Any:
    """Make plain data of types as they come from Python, with flat lists of costs as rows of a grid."""
    if not isinstance(given, list | tuple):
        return given
    listed = [plain(one.to_data() if isinstance(one, ServerType) else one) for one in given]
    return [
        one | {"opening_cost": in_rows(one["opening_cost"])} if isinstance(one, dict) and "opening_cost" in one else one
        for one in listed
    ]
