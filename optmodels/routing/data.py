"""The data of a routing instance: every field with its rule, and what they make together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, model_validator

from queueing import PhaseType
from queueing.routing import Arrivals, GapCosts, callable_costs, freshness_costs, loss_costs

from ..data import (
    RATE,
    TIME,
    Choice,
    Data,
    LawLike,
    Number,
    OneOf,
    Phases,
    Reader,
    Refusal,
    Rows,
    Spoken,
    entry,
    shared,
    write_law,
)
from ..errors import MissingField
from .arrivals import Source, write_arrivals
from .gap_costs import GapCost, asymptotes_of, read_gap_cost, write_gap_cost

Application: TypeAlias = Literal["loss", "freshness"]

#: More servers are refused: kind "freshness" is made for as many pages as there are.
MOST_SERVERS = 1000

#: Longer periods are refused: words are counted and walked through one letter at a time.
LONGEST_PERIOD, LONGEST_MAX_PERIOD = 10_000, 1000

#: Longer horizons, and gaps before them, are refused: a table has a column for each gap, and so many numbers at most.
LONGEST_HORIZON, LARGEST_TABLE = 100_000, 20_000_000

_NEVER = ", or null for a server never used"


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
        """Write the entry of an instance file."""
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
            return callable_costs(given, *asymptotes_of(given))
        make = loss_costs if self.application == "loss" else freshness_costs
        services = [server.service for server in self.servers if server.service is not None]
        return make(self.arrivals, services, [server.weight for server in self.servers])

    def to_data(self) -> dict[str, Any]:
        """Write the fields of an instance file."""
        servers: dict[str, Any] = {"servers": [server.to_data() for server in self.servers]}
        if self.arrivals is None:
            return servers
        return servers | {"arrivals": write_arrivals(self.arrivals), "application": self.application}


# -- fields -----------------------------------------------------------------------------------------------------------


def _slots(noun: str, most: int, end: str = "") -> Number:
    """Describe a whole number of slots."""
    return Number(f"{noun} of slots from 1 to {most}{end}.", least=1, most=most, whole=True)


class ServerData(Data):
    """A server by its rate, or by its law of service."""

    form = 'a server is {"rate": x}, {"service": phase-type law} or {"gap_cost": "name", ...}.'
    alternatives = (("rate", "service"),)

    rate: Annotated[float, Number("rates are finite numbers above 0.", above=0)] | None = entry(
        "rate of service, or of changes of the page", unit=RATE, default=None
    )
    service: Phases | None = entry(
        "instead: distribution of the service time, or of the time until the page changes", unit=TIME, default=None
    )
    weight: Annotated[float, Number("weights are finite numbers, zero or more.", least=0)] = entry(
        "cost of a lost packet, or of a unit of time out of date", default=1.0
    )

    def made(self) -> Server:
        """Make the server, by its rate or by its law of service."""
        if (self.rate is None) == (self.service is None):
            raise Refusal(self.form)
        return Server(self.rate if self.service is None else self.service, self.weight)


class GapCostData(Data):
    """A server whose gaps cost what a registered function says; its other fields are parameters of the function."""

    model_config = ConfigDict(extra="allow")

    gap_cost: Annotated[Any, Reader(lambda name: name, {"type": "string"})] = entry(
        "instead of the other fields: name of a cost of gaps, whose parameters stand beside it"
    )

    def made(self) -> Server:
        """Make the server with its cost."""
        return Server(None, cost=read_gap_cost({"gap_cost": self.gap_cost, **(self.model_extra or {})}, ""))


def natural_server(given: Any) -> Any:
    """Make of a server that Python gave what an entry of a file says; laws stay as they are."""
    if isinstance(given, Server) and given.cost is None:
        served = "rate" if isinstance(given.service, int | float) else "service"
        return {served: given.service, "weight": given.weight}
    return {"service": given} if isinstance(given, Spoken | PhaseType) else given


#: What the field takes in Python.
ServersLike: TypeAlias = "NDArray[Any] | Sequence[float | LawLike | Server]"


def _form(value: Any) -> str:
    """Tell by which of two models a server is read."""
    return "given" if isinstance(value, Mapping) and "gap_cost" in value else "served"


def _is_given(value: Any) -> bool:
    """Tell whether Python gave a server ready made."""
    return isinstance(value, Server)


_Served: TypeAlias = Annotated[
    Server,
    OneOf({"served": ServerData, "given": GapCostData}, tag=_form, short={"rate": ...}, ready=_is_given),
]


class RoutingData(Data):
    """The data of kind "routing"."""

    needed = "list the servers, one at least."

    servers: Annotated[
        tuple[_Served, ...],
        Rows(needed, most=MOST_SERVERS, many="{most} servers at most are routed to, and here are {count}."),
    ] = entry("the servers, or pages; gap costs are given for all of them or for none")
    arrivals: Source | None = entry(
        "source of packets, or of visits; needed unless servers have gap costs", default=None
    )
    application: Annotated[Application, Choice('the application is "loss" or "freshness".')] | None = entry(
        "what costs: packets lost, or pages out of date; needed unless servers have gap costs", default=None
    )
    period: Annotated[int, _slots("periods are whole numbers", LONGEST_PERIOD)] | None = entry(
        "length of the word; without it the best over all lengths is asked for", unit="slots", default=None
    )
    max_period: Annotated[int, _slots("periods are whole numbers", LONGEST_MAX_PERIOD)] | None = entry(
        "instead: greatest length of the word", unit="slots", default=None
    )
    horizon: Annotated[int, _slots("the horizon is a whole number", LONGEST_HORIZON)] | None = entry(
        "instead: number of slots of the finite-horizon problem", unit="slots", default=None
    )
    initial: (
        Annotated[
            tuple[Annotated[int, _slots("gaps are whole numbers", LONGEST_HORIZON, _NEVER)] | None, ...],
            Rows("this is a list, one gap for each server."),
        ]
        | None
    ) = entry(
        "with a horizon: how long ago each server got its last packet; null for never, where costs have a limit",
        unit="slots",
        default=None,
    )

    @cached_property
    def routing(self) -> Routing:
        """Servers and source, without the periods."""
        return shared(Routing, self.servers, self.arrivals, self.application or "loss")

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """Gaps before the first slot of a horizon; infinite for servers never used."""
        return np.array([math.inf if gap is None else float(gap) for gap in self.initial or ()])

    @model_validator(mode="after")
    def _goes_together(self) -> RoutingData:
        own = [server.cost is not None for server in self.servers]
        if any(own) and not all(own):
            rule = "all servers have a gap cost, or none has: costs of one kind are added up."
            raise Refusal(rule, "servers", own.index(not own[0]))
        for name, rule in (
            ("arrivals", "the source of packets is needed."),
            ("application", 'say "loss" or "freshness".'),
        ):
            if own[0] and name in self.model_fields_set:
                raise Refusal("servers have gap costs of their own; leave it out.", name)
            if not own[0] and getattr(self, name) is None:
                raise MissingField(name, rule)
        self._table(2, "servers")
        if self.horizon is not None or self.initial is not None:
            self._check_horizon()
        elif self.period is not None and self.max_period is not None:
            raise Refusal(f"the period is fixed at {self.period}; give one of the two.", "max_period")
        return self

    def _check_horizon(self) -> None:
        if self.horizon is None:
            raise MissingField("horizon", "an initial state is that of a finite horizon; give one, or neither.")
        for name in ("period", "max_period"):
            if getattr(self, name) is not None:
                raise Refusal("a finite horizon has no period; leave one of them out.", name)
        if self.initial is None:
            raise MissingField("initial", "list for each server how many slots ago it got its last packet.")
        servers = len(self.servers)
        if len(self.initial) != servers:
            raise Refusal(f"each of the {servers} servers needs a gap, and here are {len(self.initial)}.", "initial")
        costs = self.routing.costs
        for index in np.flatnonzero(np.isinf(self.gaps)).tolist():
            if costs.slopes[index] != 0 or not math.isfinite(costs.limits[index]):
                rule = "null stands for a server never used, whose gap has a cost only where costs have a limit."
                raise Refusal(rule, "initial", index)
        longest = self.horizon + max((gap for gap in self.initial if gap is not None), default=0)
        if longest * servers > LARGEST_TABLE:
            rule = (
                f"gaps of up to {longest} slots at {servers} servers make a table of more than {LARGEST_TABLE} numbers."
            )
            raise Refusal(rule, "horizon")
        self._table(longest, "horizon")

    def _table(self, gaps: int, field: str) -> None:
        """Refuse costs that are not numbers, or not convex."""
        try:
            self.routing.costs.table(gaps)
        except ValueError as refusal:
            raise Refusal(str(refusal), field) from None
