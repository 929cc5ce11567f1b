"""Random grids and networks of sites: instances of kind "placement"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..instance import Instance
from .data import Quality
from .layout import MOST_SITES


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
    seed
        Same options and seed: same instance.
    demand_law
        ``"uniform"``: whole numbers 1 to 15; ``"cluster"``: the same around a few centres, falling off with distance;
        ``"sparse"``: uniform on every third cell, none elsewhere.
    cost_law
        ``"integers"``: 1, 2 or 3; ``"continuous"``: between 1 and 3; ``"lognormal"``: exp(N(0, 0.5)).
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
    seed: int = 0
    demand_law: Literal["uniform", "cluster", "sparse"] = "uniform"
    cost_law: Literal["integers", "continuous", "lognormal"] = "integers"
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
        for option in ("rows", "columns", "nodes"):
            if getattr(self, option) < 1:
                raise ValueError(f"{option} must be 1 or more, got {getattr(self, option)!r}.")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, got {self.seed!r}.")
        if self._sites > MOST_SITES:
            raise ValueError(f"at most {MOST_SITES} sites are generated, got {self._sites}.")

    @classmethod
    def contradiction(cls, options: Mapping[str, Any]) -> str | None:
        """A grid has rows and columns, a network has nodes: whoever gives one means that one."""
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
        if self.network:
            places = rng.random((self.nodes, 2))
            edges = [[int(u), int(v)] for u, v in _edges(self.network, places, rng)]
            layout: dict[str, Any] = {"network": {"nodes": self.nodes, "edges": edges}}
            name = f"{self.network}-{self.nodes}-{self.seed}"
        else:
            places = np.indices((self.rows, self.columns)).reshape(2, -1).T / max(self.rows, self.columns)
            layout = {"shape": [self.rows, self.columns]}
            name = f"placement-{self.rows}x{self.columns}-{self.seed}"
        demand = draw_demand(self.demand_law, places, rng)
        cost = draw_costs(self.cost_law, len(places), rng)
        data = layout | {
            "demand": self._nested(demand),
            "opening_cost": self._nested(cost),
            "service_rate": self.service_rate,
            "think_time": {"base": self.base, "per_distance": self.per_distance},
            "quality": {name: getattr(self, name) for name in Quality.__dataclass_fields__},
        }
        source = f"optmodels generate placement, demand {self.demand_law}, cost {self.cost_law}, seed {self.seed}"
        content = {"format": 1, "kind": self.kind, "name": self.name or name, "source": source, "data": data}
        return Instance.from_data(content)

    def _nested(self, values: NDArray[Any]) -> Any:
        return values.tolist() if self.network else values.reshape(self.rows, self.columns).tolist()


def draw_demand(law: str, places: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Clients per cell, whole numbers from 0 to 15."""
    demand = rng.integers(1, 16, len(places))
    if law == "sparse":
        demand[rng.random(len(places)) >= 1 / 3] = 0
        if not demand.any():
            demand[rng.integers(len(places))] = rng.integers(1, 16)
    if law == "cluster":
        centres = places[rng.integers(0, len(places), max(1, round(math.sqrt(len(places)) / 3)))]
        distance = np.linalg.norm(places[:, None] - centres[None], axis=2).min(axis=1)
        demand = np.maximum(1, np.round(demand * np.exp(-((distance / 0.2) ** 2)))).astype(np.int64)
    return demand


def draw_costs(law: str, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Price of opening each site, positive, with at most four digits after the point."""
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
