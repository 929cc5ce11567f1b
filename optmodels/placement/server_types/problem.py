"""Where to put servers of which type, as a problem.

Types differ in what they serve and what they cost. Who goes to which site depends on which sites are open alone, so a
placement of types is a plain one once the type of every site is chosen: `TypePlacement.equipped` is that problem, and
evaluates it. Of one type, this is the plain problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heuristics import Decision, Evaluation, Walk

from ...data import OPTIONAL, REQUIRED, Takes, is_number, natural, read_as
from ...errors import InstanceError
from ...mip import common_step
from ..data import PlacementData, read_fields
from ..geometry import nested
from ..geometry.fixed import CLOSED, FREE, OPEN
from ..measures import ServiceReport
from ..problem import PlacementProblem
from ..searching import Missing, closing_order
from ..walk import partners
from .data import OWN, ServerType
from .space import SiteTypes
from .walk import EvaluatedTypes, TypeWalk, mended, tables_of

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from .copies import SiteCopies

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class TypePlacement(PlacementProblem):
    """Choose the sites to open, and the type of the server of each.

    A decision holds 0 for every closed site, and the number of its type, from 1, for an open one.

    Parameters
    ----------
    server_types
        Each with ``name``, ``service_rate``, ``opening_cost`` (one number, or one for each site) and, where it is not
        1, the number of its ``processors``.
    demand, think_time, quality, operating_cost, requests, request_share
        As of a `PlacementProblem`.
    shape, network, distances, clients, fixed_open, fixed_closed, names, coordinates, name, cost, limits
        As of a `PlacementProblem`, too.
    opening_cost, service_rate, processors
        Left out: the types have their own.

    Attributes
    ----------
    parts
        The problem of each type alone.

    Examples
    --------
    >>> import optmodels as om
    >>> problem = om.PlacementProblem(
    ...     demand=[[4, 7, 2], [8, 3, 5]],
    ...     server_types=[
    ...         {"name": "small", "service_rate": 10, "opening_cost": 2},
    ...         {"name": "large", "service_rate": 20, "opening_cost": [[2, 9, 3], [4, 3, 2]]},
    ...     ],
    ...     think_time={"base": 0.8, "per_distance": 0.2},
    ...     quality={"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
    ... )
    >>> result = om.solve(problem, "exhaustive")
    >>> result.decision, result.extra["server_type"]
    ((2, 0, 0, 0, 0, 1), ['large', None, None, None, None, 'small'])
    """

    server_types: Takes[Sequence[Mapping[str, Any] | ServerType], tuple[ServerType, ...]] = REQUIRED
    opening_cost: Takes[None, Any] = OPTIONAL
    service_rate: Takes[None, Any] = OPTIONAL
    processors: Takes[ArrayLike | None, Any] = OPTIONAL

    accepted: ClassVar[tuple[str, ...]] = ("names", "coordinates")

    #: What DEJAVU asks for: it opens sites, and knows no types.
    restrict = Missing()

    if TYPE_CHECKING:

        @property
        def parts(self) -> tuple[PlacementProblem, ...]: ...

    # -- from and to files --------------------------------------------------------------------------------------------

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: PlacementData = read_as(PlacementData, data)
        shared = {name: value for name, value in data.items() if name not in ("server_types", *OWN)}
        parts: list[PlacementProblem] = []
        types: list[ServerType] = []
        for number, one in enumerate(found.server_types):
            place = f"data.server_types[{number}]"
            if one.name in [earlier.name for earlier in types]:
                raise InstanceError(f"{place}.name", one.name, "every server type has another name.")
            cost = one.opening_cost
            if not isinstance(cost, list | tuple):
                if not is_number(cost) or cost < 0:
                    raise InstanceError(f"{place}.opening_cost", cost, "costs are numbers, zero or more.")
                cost = nested([cost] * found.layout.sites, found.layout)
            alone = shared | {"service_rate": one.service_rate, "processors": one.processors, "opening_cost": cost}
            try:
                fields = read_fields(alone)
            except InstanceError as failure:
                name = failure.field.removeprefix("data.")
                if name.split("[")[0] in OWN:
                    failure.field = f"{place}.{name}"
                raise failure from None
            for values in fields.values():
                if isinstance(values, np.ndarray):
                    values.setflags(write=False)
            part: PlacementProblem = object.__new__(PlacementProblem)
            part._keep(**fields, **beside)
            parts.append(part)
            types.append(ServerType(one.name, one.service_rate, one.processors, part.opening_cost))
        own = {"server_types": tuple(types), "opening_cost": None, "service_rate": None, "processors": None}
        self._keep(**fields | beside | own, parts=tuple(parts))

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        listed = [one.to_data() for one in self.server_types]
        for one in listed:
            one["opening_cost"] = nested(one["opening_cost"], self.layout)
        return super().to_data() | {"server_types": listed}

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def space(self) -> SiteTypes:  # type: ignore[override]
        """For every site 0 or the number of a type; on a grid, nested rows will do."""
        rows = None if self.shape is None else self.shape[0]
        return SiteTypes(len(self.server_types), tuple(self.fixed.tolist()), rows)

    @property
    def capacity(self) -> Ints:
        """There is none: it depends on the type of the server."""
        raise AttributeError("sites have a capacity for each type of server; see `capacities`.")

    @cached_property
    def capacities(self) -> Ints:
        """Largest load by type, site and level of its farthest client."""
        return np.array([part.capacity for part in self.parts])

    @cached_property
    def costs(self) -> Floats:
        """Opening costs by type and site."""
        return np.array([part.opening_cost for part in self.parts])

    @cached_property
    def fitting(self) -> NDArray[np.bool_]:
        """By type and site: whether some feasible placement has such a server there.

        A site that no type keeps from being overloaded, with all other possible sites open, is closed in all of them.
        """
        allowed: NDArray[np.bool_] = self.fixed != CLOSED
        while True:
            _, _, load, farthest, _ = self._assigned(allowed.astype(np.uint8))
            level = np.maximum(farthest, 1) - 1
            fits: NDArray[np.bool_] = (self.capacities[:, np.arange(len(load)), level] >= load) & allowed
            if (fits.any(axis=0) == allowed).all():
                fits &= bool(allowed[self.fixed == OPEN].all())
                fits.setflags(write=False)
                return fits
            allowed = np.asarray(fits.any(axis=0))

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Sites that are open in some feasible placement; all of them together are one, with types that fit."""
        return np.asarray(self.fitting.any(axis=0))

    @cached_property
    def copies(self) -> SiteCopies:
        """Every site once for each type, as a plain problem."""
        from .copies import SiteCopies

        return SiteCopies.of(self)

    def infeasibility(self) -> str | None:
        """Why no placement can be feasible, in one sentence; ``None`` if there is one, or nobody knows."""
        if not self.allowed.any() and (self.fixed == OPEN).any() and self.demand.any():
            return "with the sites that are fixed, some would be overloaded even with all others open that can be."
        return self.copies.infeasibility()

    # -- evaluating ---------------------------------------------------------------------------------------------------

    def equipped(self, decision: Decision) -> PlacementProblem:
        """The plain problem of sites with these types of servers; closed ones have the first."""
        kinds, sites = np.maximum(np.asarray(decision, np.int64) - 1, 0), np.arange(self.layout.sites)
        plain: PlacementProblem = object.__new__(PlacementProblem)
        fields = {name: value for name, value in vars(self.parts[0]).items() if name not in ("_sites", "_loads_only")}
        plain._keep(
            **fields
            | {
                "service_rate": self._rates[kinds],
                "processors": self._processors[kinds],
                "opening_cost": self.costs[kinds, sites],
                "capacity": self.capacities[kinds, sites],
                "penalty_rate": self.penalty_rate,
                "allowed": self.allowed,
            }
        )
        return plain

    @cached_property
    def _rates(self) -> Floats:
        return np.array([one.service_rate for one in self.server_types], np.float64)

    @cached_property
    def _processors(self) -> Ints:
        return np.array([one.processors for one in self.server_types], np.int64)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Loads, capacities, measures and price of a placement."""
        return self.equipped(decision).evaluate(is_open(decision))

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a placement means site by site, and the name of the type of each server."""
        names = [None, *(one.name for one in self.server_types)]
        told = self.equipped(decision).describe(is_open(decision))
        return told | {"server_type": [names[number] for number in decision]}

    def report(self, is_open: NDArray[np.uint8]) -> ServiceReport:
        """How well every site serves, given 0 or its type for each."""
        return self.equipped(tuple(is_open.tolist())).report(np.sign(is_open))

    def pictured(self, decision: Decision | None) -> tuple[PlacementProblem, list[str]]:
        """The problem with the servers of a decision, and how many there are of each type."""
        if decision is None:
            return self.parts[0], [f"{len(self.parts)} types of servers, prices of {self.server_types[0].name!r}"]
        shown = self.equipped(decision)
        shown._keep(marks={site: str(number) for site, number in enumerate(decision) if number})
        counts = [
            f"{sum(value == number for value in decision)} {one.name} ({number})"
            for number, one in enumerate(self.server_types, start=1)
        ]
        return shown, counts

    def overloaded(self, decision: Decision) -> Ints:
        """Clients too many per site, all 0 for a feasible placement."""
        return self.equipped(decision).overloaded(is_open(decision))

    @cached_property
    def penalty_rate(self) -> float:
        """Price of one client too many in searches that pass through infeasible placements."""
        return self.copies.penalty_rate

    # -- searching ----------------------------------------------------------------------------------------------------

    @property
    def site_prices(self) -> Floats:
        """What it adds to the objective to open each site with each type, type by type."""
        return self.copies.site_prices

    @property
    def objective_step(self) -> float | None:
        """A number of which every objective is a multiple; ``None`` if there is none to rely on."""
        steps = [part.objective_step for part in self.parts]
        return None if None in steps else common_step(np.append(self.site_prices, self.distance_price))

    def lower_bound(self) -> float:
        """A value no feasible placement goes below: that of sites which may have a server of each type."""
        return self.copies.lower_bound()

    def start(self, decision: Decision) -> Walk:
        """Begin a walk: compiled where the price is a sum over sites, by full evaluations otherwise."""
        choices = np.flatnonzero(self.allowed & (self.fixed == FREE))
        choices = (choices if len(choices) else np.arange(self.layout.sites)).astype(np.int64)
        found = [part._sites for part in self.parts]
        if found[0] is None or None in found:
            return EvaluatedTypes(self, decision, partners(self.parts[0]._loads_only), choices)
        sites = found[0]._replace(penalty=self.penalty_rate)
        return TypeWalk.of(sites, tables_of(self, priced=True), decision, choices)

    def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
        """A feasible placement near `decision`.

        Overloaded sites get the cheapest type that suffices, or help where there is none; then sites are closed where
        others can do without them, and the rest get the cheapest type that suffices. Limits on measures are not looked
        at, but for the least number of sites.
        """
        if not self.allowed.any():
            return decision
        order = rng.permutation(self.layout.sites)
        closing = closing_order(self.layout.around(self.demand), self.costs.min(axis=0), rng)
        return mended(self, self.parts[0]._loads_only, decision, order, closing)

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        """Feasible placements to start from: all allowed sites with the cheapest types that fit, and repaired ones."""
        if not self.allowed.any():
            return
        cheapest = np.where(self.fitting, self.costs, np.inf).argmin(axis=0) + 1
        everything = tuple(np.where(self.allowed, cheapest, 0).tolist())
        if sum(self.allowed) <= self.numbers[1]:
            yield everything
        while True:
            yield self.repair(tuple(np.where(self.allowed, self.space.sample(rng), 0).tolist()), rng)

    # -- proofs -------------------------------------------------------------------------------------------------------

    def window_refusal(self) -> str | None:
        """Why there is no walk by windows of sites, in one sentence."""
        return f"strategy 'large-neighbourhood' opens and closes sites, and {self.name!r} has types; take annealing."

    def clause_refusal(self) -> str | None:
        """Why no clauses can be made, in one sentence."""
        return f"strategy 'clauses' opens sites, and {self.name!r} has types of servers; take highs."

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program for this problem, in one sentence; ``None`` if there is one."""
        return self.copies.algebraic_refusal()

    def to_pyomo(self) -> pyo.ConcreteModel:
        """Write the problem as an integer program, see `optmodels.placement.server_types.copies`."""
        return self.copies.to_pyomo()

    def from_pyomo(self, model: pyo.ConcreteModel) -> Decision:
        """Read the placement off a solved model."""
        return self.copies.joined(self.copies.from_pyomo(model))

    def start_pyomo(self, model: pyo.ConcreteModel, decision: Decision) -> None:
        """Fill in every variable of the model for a given placement."""
        self.copies.start_pyomo(model, self.copies.split(decision))


def is_open(decision: Decision) -> Decision:
    """0 or 1 for every site of a decision of types."""
    return tuple(int(number > 0) for number in decision)
