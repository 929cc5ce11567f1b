"""Reading the data of a routing instance: every field checked, every complaint one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from queueing import PhaseType
from queueing.routing import Arrivals, GapCosts, callable_costs, freshness_costs, loss_costs

from ..data import is_number, is_whole, read_law, refuse_unknown, told, write_law
from ..errors import InstanceError, MissingField
from .arrivals import read_arrivals, write_arrivals
from .gap_costs import GapCost, limit_of, read_gap_cost, slope_of, write_gap_cost

FIELDS = {"servers", "arrivals", "application", "period", "max_period", "horizon", "initial"}

Application: TypeAlias = Literal["loss", "freshness"]
APPLICATIONS = ("loss", "freshness")

#: More servers are refused: kind "freshness" is made for as many pages as there are.
MOST_SERVERS = 1000

#: Longer periods are refused: words are counted and walked through one letter at a time.
LONGEST_PERIOD, LONGEST_MAX_PERIOD = 10_000, 1000

#: Longer horizons, and gaps before them, are refused: a table has a column for each gap, and so many numbers at most.
LONGEST_HORIZON, LARGEST_TABLE = 100_000, 20_000_000

_SERVER = 'a server is {"rate": x}, {"service": phase-type law} or {"gap_cost": "name", ...}.'


@dataclass(frozen=True)
class Server:
    """One server: how it serves and what weighs a packet lost, or a page out of date; or its gap cost itself.

    Parameters
    ----------
    service
        Its rate, or its law with phases; ``None`` if the cost is given.
    weight
        Of what happens at this server.
    cost
        Cost of a packet by the slots since the last one.
    """

    service: float | PhaseType | None
    weight: float = 1.0
    cost: GapCost | None = None

    def to_data(self) -> dict[str, Any]:
        """The entry of an instance file."""
        if self.cost is not None:
            return write_gap_cost(self.cost)
        assert self.service is not None
        served = {"service": write_law(self.service)} if isinstance(self.service, PhaseType) else {"rate": self.service}
        return served if self.weight == 1.0 else served | {"weight": self.weight}


@dataclass(frozen=True, eq=False)
class Routing:
    """Servers, the source of packets and what is asked for; or servers with costs of their own.

    Parameters
    ----------
    servers
        One at least.
    arrivals
        The source; ``None`` where servers have costs of their own.
    application
        ``"loss"``: packets lost; ``"freshness"``: time that pages are out of date.
    """

    servers: tuple[Server, ...]
    arrivals: Arrivals | None = None
    application: Application = "loss"

    @cached_property
    def costs(self) -> GapCosts:
        """What gaps cost, server by server."""
        if self.arrivals is None:
            given = [server.cost for server in self.servers if server.cost is not None]
            slopes, limits = [slope_of(one) for one in given], [limit_of(one) for one in given]
            return callable_costs(given, slopes, limits)
        make = loss_costs if self.application == "loss" else freshness_costs
        services = [server.service for server in self.servers if server.service is not None]
        return make(self.arrivals, services, [server.weight for server in self.servers])

    def to_data(self) -> dict[str, Any]:
        """The fields of an instance file."""
        servers: dict[str, Any] = {"servers": [server.to_data() for server in self.servers]}
        if self.arrivals is None:
            return servers
        return servers | {"arrivals": write_arrivals(self.arrivals), "application": self.application}


# -- reading ----------------------------------------------------------------------------------------------------------


def read_routing(data: Mapping[str, Any]) -> Routing:
    """Servers, arrivals and application, checked together."""
    refuse_unknown(data, FIELDS, "data")
    servers = _servers(data)
    if servers[0].cost is not None:
        for name in ("arrivals", "application"):
            if name in data:
                raise InstanceError(f"data.{name}", data[name], "servers have gap costs of their own; leave it out.")
        routing = Routing(servers)
    else:
        for name, rule in (
            ("arrivals", "the source of packets is needed."),
            ("application", 'say "loss" or "freshness".'),
        ):
            if name not in data:
                raise MissingField(f"data.{name}", rule)
        application = data["application"]
        if application not in APPLICATIONS:
            raise InstanceError("data.application", application, 'the application is "loss" or "freshness".')
        routing = Routing(servers, read_arrivals(data["arrivals"]), application)
    told(lambda: routing.costs.table(2), "data.servers", data["servers"])
    return routing


def read_periods(data: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """``period`` and ``max_period``, one of them at most."""
    found: list[int | None] = []
    for name, longest in (("period", LONGEST_PERIOD), ("max_period", LONGEST_MAX_PERIOD)):
        value = data.get(name)
        if value is not None and (not is_whole(value) or not 1 <= value <= longest):
            rule = f"periods are whole numbers of slots from 1 to {longest}."
            raise InstanceError(f"data.{name}", value, rule)
        found.append(None if value is None else int(value))
    if None not in found:
        rule = f"the period is fixed at {found[0]}; give one of the two."
        raise InstanceError("data.max_period", found[1], rule)
    return found[0], found[1]


def read_horizon(data: Mapping[str, Any], routing: Routing) -> tuple[int, NDArray[np.float64]]:
    """``horizon`` and ``initial``: how many slots, and the gaps before the first of them; null is infinity."""
    for name in ("period", "max_period"):
        if data.get(name) is not None:
            raise InstanceError(f"data.{name}", data[name], "a finite horizon has no period; leave one of them out.")
    horizon = data["horizon"]
    if not is_whole(horizon) or not 1 <= horizon <= LONGEST_HORIZON:
        rule = f"the horizon is a whole number of slots from 1 to {LONGEST_HORIZON}."
        raise InstanceError("data.horizon", horizon, rule)
    if "initial" not in data:
        raise MissingField("data.initial", "list for each server how many slots ago it got its last packet.")
    initial, servers = data["initial"], len(routing.servers)
    if not isinstance(initial, list | tuple):
        raise InstanceError("data.initial", initial, "this is a list, one gap for each server.")
    if len(initial) != servers:
        rule = f"each of the {servers} servers needs a gap, and here are {len(initial)}."
        raise InstanceError("data.initial", initial, rule)
    gaps = np.full(servers, math.inf)
    for index, entry in enumerate(initial):
        if entry is None:
            if routing.costs.slopes[index] != 0 or not math.isfinite(routing.costs.limits[index]):
                rule = "null stands for a server never used, whose gap has a cost only where costs have a limit."
                raise InstanceError(f"data.initial[{index}]", None, rule)
            continue
        if not is_whole(entry) or not 1 <= entry <= LONGEST_HORIZON:
            rule = f"gaps are whole numbers of slots from 1 to {LONGEST_HORIZON}, or null for a server never used."
            raise InstanceError(f"data.initial[{index}]", entry, rule)
        gaps[index] = float(entry)
    longest = int(horizon + max((gap for gap in gaps.tolist() if math.isfinite(gap)), default=0))
    if longest * servers > LARGEST_TABLE:
        rule = f"gaps of up to {longest} slots at {servers} servers make a table of more than {LARGEST_TABLE} numbers."
        raise InstanceError("data.horizon", horizon, rule)
    told(lambda: routing.costs.table(longest), "data.horizon", horizon)
    return int(horizon), gaps


def _servers(data: Mapping[str, Any]) -> tuple[Server, ...]:
    if "servers" not in data:
        raise MissingField("data.servers", "list the servers, one at least.")
    listed = data["servers"]
    if not isinstance(listed, list | tuple) or not listed:
        raise InstanceError("data.servers", listed, "list the servers, one at least.")
    if len(listed) > MOST_SERVERS:
        rule = f"{MOST_SERVERS} servers at most are routed to, and here are {len(listed)}."
        raise InstanceError("data.servers", listed, rule)
    servers = tuple(_server(entry, f"data.servers[{index}]") for index, entry in enumerate(listed))
    own = [server.cost is not None for server in servers]
    if any(own) and not all(own):
        index = own.index(not own[0])
        rule = "all servers have a gap cost, or none has: costs of one kind are added up."
        raise InstanceError(f"data.servers[{index}]", listed[index], rule)
    return servers


def _server(entry: Any, place: str) -> Server:
    if not isinstance(entry, Mapping):
        raise InstanceError(place, entry, _SERVER)
    if "gap_cost" in entry:
        return Server(None, cost=read_gap_cost(entry, place))
    refuse_unknown(entry, {"rate", "service", "weight", "gap_cost"}, place)
    if ("rate" in entry) == ("service" in entry):
        raise InstanceError(place, dict(entry), _SERVER)
    weight = entry.get("weight", 1.0)
    if not is_number(weight) or weight < 0:
        raise InstanceError(f"{place}.weight", weight, "weights are finite numbers, zero or more.")
    if "service" in entry:
        return Server(read_law(entry["service"], f"{place}.service"), float(weight))
    rate = entry["rate"]
    if not is_number(rate) or rate <= 0:
        raise InstanceError(f"{place}.rate", rate, "rates are finite numbers above 0.")
    return Server(float(rate), float(weight))
