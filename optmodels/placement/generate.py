"""Random grids and networks of sites: instances of kind "placement"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InstanceError, RequestError
from ..instance import Instance
from .data import Quality
from .layout import MOST_SITES
from .sources import read_topology


@dataclass(frozen=True)
class PlacementGenerator:
    """Draw grids and networks of sites like the 11 x 22 example of Gautam (2002).

    Parameters
    ----------
    rows, columns
        Size of the grid.
    network, nodes
        Instead of a grid: ``"gabriel"``, ``"geometric"`` or ``"waxman"`` with so many nodes, made connected by the
        shortest further edges where need be.
    topology
        Instead of both: a topology of topohub, such as ``"sndlib/germany50"``.
    seed
        Same options and seed: same instance.
    demand_law
        ``"uniform"``: whole numbers 1 to 15; ``"cluster"``: the same around a few centres, falling off with distance;
        ``"sparse"``: uniform on every third cell, none elsewhere; ``"published"``: the demands that SNDlib publishes
        for its topologies, what begins and what ends at a node added, in units that give the busiest node
        `largest_demand`, rounded up.
    demand_variation
        Coefficient of variation of demands: they are then drawn from a gamma distribution whose mean is half the
        largest demand, rounded, and kept between 1 and the largest; clusters fall off from there.
    largest_demand
        Largest demand of a cell.
    cost_law
        ``"integers"``: 1, 2 or 3; ``"continuous"``: between 1 and 3; ``"lognormal"``: exp(N(0, 0.5)).
    cost_variation
        Coefficient of variation of costs: they are then drawn from a lognormal distribution with mean 10, and rounded
        to whole numbers, 1 at least, if `cost_law` is ``"integers"``.
    service_rate, base, per_distance, min_throughput, max_delay_probability, delay, guarantee
        As in an instance file; the defaults are those of the example.
    name
        Name of the instance.

    Examples
    --------
    >>> from optmodels.placement import PlacementGenerator
    >>> instance = PlacementGenerator(rows=2, columns=3, seed=1).instance()
    >>> instance.name
    'placement-2x3-1'
    >>> instance.data["demand"]
    [[8, 8, 12], [15, 1, 3]]
    """

    rows: int = 8
    columns: int = 8
    network: Literal["gabriel", "geometric", "waxman"] | None = None
    nodes: int = 50
    topology: str | None = None
    seed: int = 0
    demand_law: Literal["uniform", "cluster", "sparse", "published"] = "uniform"
    demand_variation: float | None = None
    largest_demand: int = 15
    cost_law: Literal["integers", "continuous", "lognormal"] = "integers"
    cost_variation: float | None = None
    service_rate: float = 50.0
    base: float = 0.48
    per_distance: float = 0.02
    min_throughput: float = 1.7
    max_delay_probability: float = 0.1
    delay: float = 0.16
    guarantee: Literal["worst-case", "farthest"] = "worst-case"
    name: str | None = None

    kind: ClassVar[str] = "placement"

    def __post_init__(self) -> None:
        for option in ("rows", "columns", "nodes", "largest_demand"):
            if getattr(self, option) < 1:
                raise ValueError(f"{option} must be 1 or more, got {getattr(self, option)!r}.")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, got {self.seed!r}.")
        for option in ("demand_variation", "cost_variation"):
            value = getattr(self, option)
            if value is not None and not 1e-3 <= value <= 10.0:
                raise ValueError(f"{option} must be between 0.001 and 10, got {value!r}.")
        if self.demand_law == "published" and self.topology is None:
            raise ValueError("demand_law must be one that is drawn where no topology is named, got 'published'.")
        if self.demand_law == "published" and self.demand_variation is not None:
            raise ValueError(f"demand_variation must be left out for published demands, got {self.demand_variation!r}.")
        if self._sites > MOST_SITES:
            raise ValueError(f"at most {MOST_SITES} sites are generated, got {self._sites}.")

    @classmethod
    def contradiction(cls, options: Mapping[str, Any]) -> str | None:
        """A grid has rows and columns, a network has nodes: whoever gives one means that one."""
        topology = options.get("topology")
        if topology:
            given = [option for option in ("rows", "columns", "network", "nodes") if option in options]
            return f"{given[0]} is drawn, and topology is {topology!r}; give one of them." if given else None
        network = str(options.get("network") or "none")
        if network.lower() in ("none", "null"):
            wrong = "nodes" in options
            return "nodes are those of a network; name one by network, or give rows and columns." if wrong else None
        given = [option for option in ("rows", "columns") if option in options]
        if given:
            return f"{given[0]} is the size of a grid, and network is {network!r}; give nodes instead."
        return None

    @property
    def _sites(self) -> int:
        return self.nodes if self.network else self.rows * self.columns

    def instance(self) -> Instance:
        """Draw the sites, then demands, then costs."""
        rng = np.random.default_rng(self.seed)
        published: NDArray[np.int64] | None = None
        if self.topology is not None:
            try:
                topology = read_topology(self.topology)
            except InstanceError as failure:
                raise RequestError(f"topology must be one of topohub, got {self.topology!r}: {failure.rule}") from None
            places = topology.places - topology.places.min(axis=0)
            places /= max(float(places.max()), 1e-300)
            edges = [list(edge) for edge in topology.edges]
            layout: dict[str, Any] = {"network": {"nodes": len(places), "edges": edges}}
            name = f"{self.topology.rpartition('/')[2].lower()}-{self.seed}"
            published = self._published(topology.demands) if self.demand_law == "published" else None
        elif self.network:
            places = rng.random((self.nodes, 2))
            edges = [[int(u), int(v)] for u, v in _edges(self.network, places, rng)]
            layout = {"network": {"nodes": self.nodes, "edges": edges}}
            name = f"{self.network}-{self.nodes}-{self.seed}"
        else:
            places = np.indices((self.rows, self.columns)).reshape(2, -1).T / max(self.rows, self.columns)
            layout = {"shape": [self.rows, self.columns]}
            name = f"placement-{self.rows}x{self.columns}-{self.seed}"
        demand = published
        if demand is None:
            demand = draw_demand(self.demand_law, places, rng, self.demand_variation, self.largest_demand)
        cost = draw_costs(self.cost_law, len(places), rng, self.cost_variation)
        data = layout | {
            "demand": self._nested(demand),
            "opening_cost": self._nested(cost),
            "service_rate": self.service_rate,
            "think_time": {"base": self.base, "per_distance": self.per_distance},
            "quality": Quality(self.min_throughput, self.max_delay_probability, self.delay, self.guarantee).to_data(),
        }
        source = f"optmodels generate placement, demand {self.demand_law}, cost {self.cost_law}, seed {self.seed}"
        content = {"format": 1, "kind": self.kind, "name": self.name or name, "source": source, "data": data}
        return Instance.from_data(content)

    def _published(self, ends: NDArray[np.float64]) -> NDArray[np.int64]:
        """Scale what begins and ends at each node to whole clients."""
        if not ends.any():
            raise RequestError(f"demand_law must be one that is drawn: {self.topology!r} comes without demands.")
        # A hair less before rounding up: the busiest node has the largest demand, not one more.
        return np.asarray(np.ceil(ends / ends.max() * self.largest_demand - 1e-9), dtype=np.int64)

    def _nested(self, values: NDArray[Any]) -> Any:
        return values.tolist() if self.network or self.topology else values.reshape(self.rows, self.columns).tolist()


def draw_demand(
    law: str,
    places: NDArray[np.float64],
    rng: np.random.Generator,
    variation: float | None = None,
    largest: int = 15,
) -> NDArray[np.int64]:
    """Clients per cell, whole numbers from 0 to the largest."""
    if variation is None:
        demand = rng.integers(1, largest + 1, len(places))
    else:
        shape = variation**-2
        drawn = rng.gamma(shape, largest / (2.0 * shape), len(places))
        demand = np.clip(np.round(drawn), 1, largest).astype(np.int64)
    if law == "sparse":
        demand[rng.random(len(places)) >= 1 / 3] = 0
        if not demand.any():
            demand[rng.integers(len(places))] = rng.integers(1, largest + 1)
    if law == "cluster":
        centres = places[rng.integers(0, len(places), max(1, round(math.sqrt(len(places)) / 3)))]
        distance = np.linalg.norm(places[:, None] - centres[None], axis=2).min(axis=1)
        demand = np.maximum(1, np.round(demand * np.exp(-((distance / 0.2) ** 2)))).astype(np.int64)
    return demand


def draw_costs(law: str, count: int, rng: np.random.Generator, variation: float | None = None) -> NDArray[Any]:
    """Price of opening each site, positive, with at most four digits after the point."""
    if variation is not None:
        scale = math.sqrt(math.log1p(variation**2))
        drawn = 10.0 * np.exp(rng.normal(-0.5 * scale**2, scale, count))
        return np.maximum(np.round(drawn), 1).astype(np.int64) if law == "integers" else np.round(drawn + 1e-4, 4)
    if law == "integers":
        return rng.integers(1, 4, count)
    if law == "continuous":
        return np.round(rng.uniform(1.0, 3.0, count), 4)
    return np.maximum(np.round(rng.lognormal(0.0, 0.5, count), 4), 1e-4)


def _edges(law: str, places: NDArray[np.float64], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw the edges of a connected network on these places, in order."""
    if law == "gabriel":
        return gabriel_edges(places)  # the shortest spanning tree is part of it
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    count = len(places)
    first, second = np.triu_indices(count, 1)
    apart = np.linalg.norm(places[first] - places[second], axis=1)
    if law == "geometric":
        near = apart <= math.sqrt(2.0 * math.log(max(count, 3)) / (math.pi * count))  # most nodes have some
    else:
        near = rng.random(len(apart)) < 0.4 * np.exp(-apart / (0.15 * apart.max(initial=1e-300)))
    # Parts are joined by the shortest further edges: those of a spanning tree to which the edges drawn cost nothing.
    cost = coo_array((np.where(near, np.finfo(float).tiny, apart), (first, second)), shape=(count, count))
    tree = minimum_spanning_tree(cost.tocsr()).tocoo()
    joined = {(min(u, v), max(u, v)) for u, v in zip(tree.row.tolist(), tree.col.tolist(), strict=True)}
    return sorted(joined.union(zip(first[near].tolist(), second[near].tolist(), strict=True)))


def gabriel_edges(places: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pairs of points with no third point inside the circle whose diameter they are.

    They are among the edges of the Delaunay triangulation, so that only these are looked at.
    """
    count = len(places)
    if count < 4:
        pairs = {(u, v) for u in range(count) for v in range(u + 1, count)}
    else:
        from scipy.spatial import Delaunay

        corners = Delaunay(places).simplices
        pairs = {(min(int(u), int(v)), max(int(u), int(v))) for t in corners for u in t for v in t if u != v}
    edges = []
    for u, v in sorted(pairs):
        centre, radius = (places[u] + places[v]) / 2, np.linalg.norm(places[u] - places[v]) / 2
        inside = np.linalg.norm(places - centre, axis=1) < radius * (1 - 1e-12)
        inside[[u, v]] = False
        if not inside.any():
            edges.append((u, v))
    return edges
