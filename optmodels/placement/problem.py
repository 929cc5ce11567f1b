"""Where to put proxies or mirror sites: kind "placement".

Clients go to the nearest open site, ties share. A site with clients as far as d may have at most psi(d) of them, the
capacity that queueing theory gives for the promised throughput and delay. Find the cheapest set of open sites.

References
----------
.. [1] N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites",
   *European Journal of Operational Research* 142 (2002) 396-418.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heuristics import Decision, Evaluation, Walk
from heuristics.spaces import BinaryVectors

from ..costs import CostFunction, CostLike, Limit, Limits, LimitsLike, WeightedSum, is_linear, linear_weights, price_of
from ..data import OPTIONAL, REQUIRED, Constructed, Takes, natural
from ..mip import common_step
from . import measures as service
from . import searching
from .data import Quality, natural_fields, read_fields, written
from .geometry.fixed import FREE, OPEN, fixed_sites, fixed_violations
from .layout import Layout, Network, Piece, graph_fields, show
from .measures import MEASURES, DefinedMeasures, PlacementMeasures, ServiceReport, assign
from .walk import PlacementWalk, Sites, partners, standing_of

if TYPE_CHECKING:
    import networkx as nx
    import pyomo.environ as pyo

    from .clauses.sources import Source
    from .windows import PlacementWindows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Limits broken by this much, relative, are not told from kept ones by solvers.
NEARLY = 1e-4


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class PlacementProblem(Constructed):
    """Choose the sites to open.

    A decision holds 0 or 1 for every site, row by row on a grid.

    Parameters
    ----------
    demand
        Clients in each cell: nested rows or a two-dimensional array on a grid, flat on a network.
    opening_cost, operating_cost
        Price of each open site; price of a site at full utilisation (``None``: utilisation is free).
    service_rate, processors
        Of a server, one number or one for each site.
    think_time
        Mean think time by distance: ``{"base": a, "per_distance": b}`` or ``{"by_distance": [f(1), f(2), ...]}``; or by
        site and cell, ``{"by_pair": matrix}``.
    quality
        What every client is promised.
    requests, request_share
        How many requests a client may have under way; the part of the think time that an answer spends at the first of
        two stations of its client (0: there is one).
    fixed_open, fixed_closed
        Numbers of sites that are open, or closed, in every placement.
    shape
        Rows and columns of a grid; it follows from a nested `demand`.
    network
        Instead: a networkx graph, or ``{"nodes": n, "edges": [[u, v], ...]}``.
    distances
        Instead: a matrix of positive numbers, sites x cells; the problem has one whatever it was made of.
    clients
        Number of cells, where cells are not the sites.
    names, coordinates
        Of the sites of a network or of distances, for words and pictures.
    scenarios, classes, server_types
        What there may be several of, instead of `demand`, of that and `think_time`, of `opening_cost`, `service_rate`
        and `processors`; see the rooms `optmodels.placement.scenarios`, `.classes` and `.server_types`.
    name
        For the reader.
    cost
        Price of the measures; ``None``: ``opening``, plus ``operating`` where prices are given.
    limits
        Limits on measures.

    Attributes
    ----------
    layout
        Where the sites are: a `Grid`, a `Network` or a `DistanceMatrix`.
    think_times
        Mean think time f_j(l) of the clients at level l of server site j, ``inf`` where out of reach.
    levels
        Per site and cell: the level, 1 where the clients of the site think shortest. On grids and wherever hops are
        counted it is the distance.

    Examples
    --------
    >>> import optmodels as om
    >>> problem = om.PlacementProblem(
    ...     demand=[[4, 7, 2], [8, 3, 5]],
    ...     opening_cost=[[2, 9, 3], [4, 2, 2]],
    ...     service_rate=20,
    ...     think_time={"base": 0.8, "per_distance": 0.2},
    ...     quality={"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
    ... )
    >>> om.solve(problem, "exhaustive").decision
    (1, 0, 0, 0, 0, 1)
    """

    demand: Takes[ArrayLike, Ints] = REQUIRED
    opening_cost: Takes[ArrayLike, Floats] = REQUIRED
    service_rate: Takes[ArrayLike, Floats] = REQUIRED
    think_time: Takes[Mapping[str, ArrayLike], Mapping[str, Any]] = REQUIRED
    quality: Takes[Mapping[str, float | str] | Quality, Quality] = REQUIRED
    shape: Takes[Sequence[int] | None, tuple[int, int] | None] = OPTIONAL
    network: Takes[Mapping[str, Any] | Network | Piece | nx.Graph[Any] | None, Network | Piece | None] = OPTIONAL
    distances: Takes[ArrayLike | None, NDArray[Any]] = OPTIONAL
    clients: Takes[int | None, int | None] = OPTIONAL
    operating_cost: Takes[ArrayLike | None, Floats | None] = OPTIONAL
    processors: Takes[ArrayLike | None, Ints] = OPTIONAL
    fixed_open: Takes[ArrayLike | None, tuple[int, ...]] = OPTIONAL
    fixed_closed: Takes[ArrayLike | None, tuple[int, ...]] = OPTIONAL
    requests: Takes[int | None, int] = OPTIONAL
    request_share: Takes[float | None, float] = OPTIONAL
    name: str = "placement"
    cost: Takes[CostLike | None, CostFunction | None] = OPTIONAL
    limits: Takes[LimitsLike | None, Limits] = OPTIONAL

    #: Data that make the problem one of another class, of `optmodels.placement.scenarios`, `.classes`, `.server_types`,
    #: and those that are kept in the layout.
    accepted: ClassVar[tuple[str, ...]] = ("scenarios", "classes", "server_types", "names", "coordinates")

    #: What pictures write on open sites, by site.
    marks: ClassVar[Mapping[int, str]] = {}

    if TYPE_CHECKING:

        @property
        def layout(self) -> Layout: ...
        @property
        def think_times(self) -> Floats: ...
        @property
        def levels(self) -> Ints: ...

    kind: ClassVar[str] = "placement"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    algebraic_limits: ClassVar[bool] = True  # of some measures, see `algebraic_refusal`
    quick_walks: ClassVar[bool] = True  # compiled, with the default cost

    # -- from and to files --------------------------------------------------------------------------------------------

    @classmethod
    def _class_of(cls, data: Mapping[str, Any]) -> type[Any]:
        if "scenarios" in data:
            from .scenarios import ScenarioPlacement

            return ScenarioPlacement
        if "classes" in data:
            from .classes import ClassPlacement, PriorityPlacement, prioritised

            return PriorityPlacement if prioritised(data["classes"]) else ClassPlacement
        if "server_types" in data:
            from .server_types import TypePlacement

            return TypePlacement
        return cls if "classes" in cls.accepted else PlacementProblem  # classes for one of these have no such fields

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return natural_fields(given)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Come out of a pickle: `dataclasses.replace` must know whose the distances are there, too."""
        vars(self).update(state | {"distances": show(state["layout"])} if "layout" in state else state)

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        self._keep(**read_fields(data), **beside)
        for name in ("demand", "opening_cost", "operating_cost", "service_rate", "processors", "think_times"):
            array = getattr(self, name)
            if array is not None:
                array.setflags(write=False)

    @classmethod
    def from_graph(
        cls,
        graph: nx.Graph[Any],
        *,
        name: str = "network",
        cost: CostFunction | None = None,
        limits: Limits | None = None,
        demand: str = "demand",
        opening_cost: str = "opening_cost",
        distance: str | None = None,
        length: str = "weight",
        **data: Any,
    ) -> PlacementProblem:
        """Place sites on the nodes of an undirected networkx graph.

        `demand` and `opening_cost` name node attributes; all other fields of the data (``service_rate``,
        ``think_time``, ``quality``, ...) are given as in a file. Sites are numbered in the order of ``graph.nodes``.
        With `distance` ``"hops"`` the distance is hops + 1; with ``"length"`` it is the least sum of the edge attribute
        that `length` names. A graph whose edges have that attribute is refused if `distance` is left out.
        """
        fields = graph_fields(graph, {"demand": demand, "opening_cost": opening_cost}, distance, length)
        found: PlacementProblem = cls.from_data({**fields, **data}, name=name, cost=cost, limits=limits)
        return found

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        return written(self)

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def space(self) -> BinaryVectors:
        """One 0 or 1 per site; on a grid, nested rows will do."""
        fixed = tuple((site, int(self.fixed[site])) for site in np.flatnonzero(self.fixed != FREE).tolist())
        return BinaryVectors(self.layout.sites, None if self.shape is None else self.shape[0], fixed)

    @cached_property
    def capacity(self) -> Ints:
        """Largest load psi_j(l) of site j with its farthest client at level l: column l - 1, non-increasing in l."""
        return service.capacities(self)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Sites that are open in some feasible placement.

        Opening a site never raises the load of another, nor the distance of its farthest client. So a site overloaded
        with all allowed ones open can never be open; it is crossed out, and the rest looked at again. At the end either
        all allowed sites together are a feasible placement, or there is none. Sites that are fixed closed are crossed
        out first, and if one that is fixed open cannot be open, there is none.
        """
        allowed = service.openable(self)
        if not allowed[self.fixed == OPEN].all():
            allowed[:] = False
        allowed.setflags(write=False)
        return allowed

    @cached_property
    def fixed(self) -> NDArray[np.int8]:
        """Per site: 1 if it is open in every placement, 0 if it is closed in every one, -1 otherwise."""
        return fixed_sites(self.fixed_open, self.fixed_closed, self.layout.sites)

    def infeasibility(self) -> str | None:
        """Why no placement can be feasible, in one sentence; ``None`` if all allowed sites together are one."""
        return service.infeasibility(self)

    # -- evaluating --------------------------------------------------------------------------------------------------

    @property
    def numbers(self) -> tuple[float, float]:
        """How many sites must be open at least, and may be at most, by the limits; infinite where they do not say."""
        limit = self.limits.by_measure.get("open_sites", Limit())
        return limit.minimum, limit.maximum

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return is_linear(self.cost)

    @property
    def weights(self) -> Mapping[str, float] | None:
        """Weight of each measure in the objective, ``None`` if the cost is not a weighted sum."""
        if self.cost is None:
            return {"opening": 1.0} | ({} if self.operating_cost is None else {"operating": 1.0})
        return linear_weights(self.cost)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Loads, capacities, measures and price of a placement."""
        is_open = np.asarray(decision, np.uint8)
        nearest, _, load, farthest, _ = self._assigned(is_open)
        excess = self._beyond(is_open, load, farthest)
        measures = PlacementMeasures(self, is_open, self.layout.away(nearest))
        violations: dict[str, float] = {}
        if excess.any():
            violations["overload"] = float(excess.sum())
        if not is_open.any() and self.demand.any():
            violations["clients without a site"] = float(self.demand.sum())
        violations |= fixed_violations(self.fixed, is_open)
        # An infeasible placement may serve nobody: means are undefined then, and must not end a search.
        objective = price_of(self.cost or default_cost, DefinedMeasures(measures) if violations else measures)
        violations |= self.limits.violations(measures)
        if set(self.limits.by_measure) - {"open_sites"}:
            return Evaluation(objective, violations, measures)
        return Evaluation(objective, violations, measures, self.penalty_rate * sum(violations.values()))

    def report(self, is_open: NDArray[np.uint8]) -> ServiceReport:
        """How well every site serves, see `optmodels.placement.measures.report_service`."""
        _, _, _, farthest, mix = self._assigned(is_open)
        return service.report_service(self, farthest, mix)

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a placement means site by site, ``None`` where one has no clients; per cell, which sites serve it."""
        is_open = np.asarray(decision, np.uint8)
        nearest, _, load, farthest, mix = self._assigned(is_open)
        report = service.report_service(self, farthest, mix)
        told = {"load": load, "farthest": self._farthest(nearest, is_open), "capacity": self.room(farthest)}
        told |= {name: getattr(report, name) for name in ("throughput", "delay_probability", "utilisation")}
        served = (load > 0).tolist()
        by_site = {
            name: [value if kept else None for value, kept in zip(values.tolist(), served, strict=True)]
            for name, values in told.items()
        }
        return by_site | {"assignment": service.assignment(self, nearest, is_open)}

    def pictured(self, decision: Decision | None) -> tuple[PlacementProblem, list[str]]:
        """The problem that a picture of a decision shows, and what it says of that: this one, and nothing."""
        return self, []

    def load_and_farthest(self, decision: Decision) -> tuple[Ints, Ints]:
        """Clients per site and the level of the farthest, on grids its distance: L(N, X) and S(N, X) of Gautam."""
        _, _, load, farthest, _ = self._assigned(np.asarray(decision, np.uint8))
        return load, farthest

    def overloaded(self, decision: Decision) -> Ints:
        """Clients too many per site, all 0 for a feasible placement (FEASIBLE of Gautam, 2002, section 5.3)."""
        return self._excess(np.asarray(decision, np.uint8))

    def _assigned(self, is_open: NDArray[np.uint8]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        return assign(is_open, self.layout.ranks, self.levels, self.demand, self.think_times.shape[1])

    def _farthest(self, nearest: Ints, is_open: NDArray[np.uint8]) -> NDArray[Any]:
        """Distance of the farthest client of each site, given the rank of the nearest sites of each cell."""
        serves = (self.layout.ranks == nearest[:, None]) & (is_open == 1) & (self.demand[:, None] > 0)
        return np.asarray(np.where(serves.T, self.distances, 0).max(axis=1))

    def room(self, farthest: Ints) -> Ints:
        """Largest load of each site whose farthest clients are at that level, of one without clients as at level 1."""
        return np.asarray(self.capacity[np.arange(len(farthest)), np.maximum(farthest, 1) - 1])

    def _excess(self, is_open: NDArray[np.uint8]) -> Ints:
        _, _, load, farthest, _ = self._assigned(is_open)
        return self._beyond(is_open, load, farthest)

    def _beyond(self, is_open: NDArray[np.uint8], load: Ints, farthest: Ints) -> Ints:
        return np.where((is_open == 1) & (load > 0), np.maximum(load - self.room(farthest), 0), 0)

    @cached_property
    def penalty_rate(self) -> float:
        """Price of one client too many in searches that pass through infeasible placements."""
        return searching.penalty_rate(self)

    # -- searching ----------------------------------------------------------------------------------------------------

    @property
    def site_prices(self) -> Floats:
        """What it adds to the objective to open each site, whatever it serves; 0 if the cost is no weighted sum."""
        weights = self.weights or {}
        return weights.get("opening", 0.0) * self.opening_cost + weights.get("open_sites", 0.0)

    @property
    def objective_step(self) -> float | None:
        """A number of which every objective is a multiple; ``None`` if there is none to rely on."""
        weights = {name: weight for name, weight in (self.weights or {"?": 1.0}).items() if weight != 0}
        if set(weights) - {"opening", "open_sites", "mean_distance"}:
            return None
        if "mean_distance" in weights and not self.layout.stepwise:
            return None
        return common_step(np.append(self.site_prices, self.distance_price))

    @property
    def distance_price(self) -> float:
        """What it adds to the objective that one client is farther from its nearest open site by 1."""
        return (self.weights or {}).get("mean_distance", 0.0) / max(1, int(self.demand.sum()))

    def lower_bound(self) -> float:
        """A value no feasible placement goes below, at the price of a sort; ``-inf`` if the cost is no weighted sum.

        Capacity at distance 1 is the largest a site can have, so those of the open sites must add up to the total
        demand: the fractional knapsack of that one constraint. Operating costs are not negative and count 0; no client
        is nearer than at distance 1.
        """
        return searching.lower_bound(self)

    @cached_property
    def _sites(self) -> Sites | None:
        """What compiled walks need; ``None`` if the price is not a sum over sites of load and farthest client.

        Distances of clients may have a price besides.
        """
        return searching.sites_of(self)

    @cached_property
    def _loads_only(self) -> Sites:
        """Sites for walks that look at loads alone, whatever the cost."""
        sites = replace(self, cost=WeightedSum({"opening": 1.0}), limits=Limits())._sites
        assert sites is not None
        return sites

    def start(self, decision: Decision) -> Walk:
        """Begin a walk: compiled where the price is a sum over sites, by full evaluations otherwise."""
        sites = self._sites
        if sites is None:
            from heuristics.search import EvaluatedWalk

            return EvaluatedWalk(self, decision)
        choices = np.flatnonzero(self.allowed & (self.fixed == FREE))
        choices = choices if len(choices) else np.arange(self.layout.sites)
        return PlacementWalk(sites, standing_of(sites, decision), choices.astype(np.int64), partners(sites))

    def start_windows(self, decision: Decision) -> PlacementWindows:
        """Begin a walk that puts several sites into their best setting at once, see `optmodels.placement.windows`."""
        from .windows import windows_of

        return windows_of(self, decision)

    def window_refusal(self) -> str | None:
        """Why there is no such walk, in one sentence; ``None`` if there is one."""
        from .windows import refusal

        return refusal(self)

    def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
        """A feasible placement near `decision`: sites opened where others are overloaded, then superfluous ones closed.

        Overloaded sites are helped in random order, so that decisions that are alike are not all repaired alike; sites
        are closed in random order, dear ones first on average. Where distance has a price, sites that cost nothing are
        closed only if there are more than may be. Limits on other measures are not looked at.
        """
        return searching.repaired(self, self._loads_only, decision, rng)

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        """Feasible placements to start from: all allowed sites, then the same unplugged in random orders."""
        everything = tuple(int(value) for value in self.allowed)
        if not self.allowed.any():
            return
        if sum(everything) <= self.numbers[1]:
            yield everything
        while True:
            yield self.repair(everything, rng)

    def restrict(self, cells: Sequence[int]) -> PlacementProblem:
        """The problem of these cells alone, at the distances they have in the whole, with the default cost."""
        return searching.restricted(self, cells)

    # -- proofs -------------------------------------------------------------------------------------------------------

    def clause_refusal(self) -> str | None:
        """Why no clauses can be made, in one sentence; ``None`` if they can."""
        from .clauses.strategy import operating_refusal

        return operating_refusal(self)

    def clause_source(self) -> Source:
        """What makes clauses that every feasible placement keeps, for strategy `clauses`."""
        from .clauses.operating import source_of

        return source_of(self)

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program for this problem, in one sentence; ``None`` if there is one."""
        from .mip import refuses

        return refuses(self)

    def to_pyomo(self) -> pyo.ConcreteModel:
        """Write the problem as an integer program, see `optmodels.placement.mip`."""
        from .mip import build

        return build(self)

    def from_pyomo(self, model: pyo.ConcreteModel) -> Decision:
        """Read the placement off a solved model."""
        from .mip import read

        return read(model)

    def almost_feasible(self, decision: Decision) -> bool:
        """Whether a placement overloads nobody and breaks limits by no more than solvers take for rounding."""
        if self.overloaded(decision).any() or (not any(decision) and self.demand.any()):
            return False
        return self.limits.excess(self.evaluate(decision).measures) <= NEARLY

    def start_pyomo(self, model: pyo.ConcreteModel, decision: Decision) -> None:
        """Fill in every variable of the model for a given placement."""
        from .mip import start

        start(self, model, decision)


def default_cost(measures: Mapping[str, float | None]) -> float:
    """The default cost: opening, and operating."""
    return float(measures["opening"] or 0.0) + float(measures["operating"] or 0.0)
