"""Where sites lie and how far apart they are: grids, networks, named topologies.

Distances count from 1: a site is at distance 1 of its own clients, a neighbour at distance 2 (eq. 7 of Gautam 2002).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from ..data import Data, Number, OneOf, Reader, Refusal, entry, is_whole, shared
from ..errors import InstanceError, MissingField, RequestError

if TYPE_CHECKING:
    import networkx as nx

#: Distance matrices are dense: this many sites need 200 MB.
MOST_SITES = 5_000


@dataclass(frozen=True)
class Grid:
    r"""An :math:`A \times B` grid; cells are numbered row by row.

    The distance of cells :math:`(i, j)` and :math:`(k, l)` is :math:`|i - k| + |j - l| + 1`.
    """

    rows: int
    columns: int

    @property
    def sites(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """Distance of every two cells."""
        row, column = np.divmod(np.arange(self.sites), self.columns)
        hops = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
        return np.asarray(hops + 1, dtype=np.int64)

    def label(self, site: int) -> str:
        """How to call a site in a sentence, counted from 0 as in the file."""
        return f"cell ({site // self.columns}, {site % self.columns})"

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        return {"shape": [self.rows, self.columns]}


@dataclass(frozen=True)
class Network:
    """A connected graph; the distance of two nodes is the least number of hops plus one."""

    nodes: int
    edges: tuple[tuple[int, int], ...]
    topohub: str | None = None

    @property
    def sites(self) -> int:
        """How many nodes there are."""
        return self.nodes

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """Distance of every two nodes."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        ends = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(self.nodes, self.nodes))
        hops = shortest_path(links.tocsr(), directed=False, unweighted=True)
        if not np.isfinite(hops).all():
            here, there = (int(node) for node in np.argwhere(~np.isfinite(hops))[0])
            raise InstanceError(
                "data.network.edges",
                [list(edge) for edge in self.edges],
                f"node {there} cannot be reached from node {here}; every node must reach every other.",
            )
        return hops.astype(np.int64) + 1

    def label(self, site: int) -> str:
        """How to call a site in a sentence."""
        return f"node {site}"

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        if self.topohub is not None:
            return {"network": {"topohub": self.topohub}}
        return {"network": {"nodes": self.nodes, "edges": [list(edge) for edge in self.edges]}}


@dataclass(frozen=True, eq=False)
class Piece:
    """Some sites of a larger layout, at the distances they have there."""

    whole: Layout
    cells: tuple[int, ...]

    @property
    def sites(self) -> int:
        """Number of sites in the piece."""
        return len(self.cells)

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """Distance of every two sites of the piece."""
        chosen = np.array(self.cells, dtype=np.int64)
        return np.ascontiguousarray(self.whole.distances[np.ix_(chosen, chosen)])

    def label(self, site: int) -> str:
        """The name the site has in the whole."""
        return self.whole.label(self.cells[site])

    def to_data(self) -> dict[str, Any]:
        """Pieces exist inside a run only."""
        raise ValueError("a piece of a layout cannot be written to a file; write the whole instance.")


Layout: TypeAlias = Grid | Network | Piece


def is_graph(value: Any) -> bool:
    """Tell whether a value is a networkx graph, without networkx."""
    return all(hasattr(value, name) for name in ("is_directed", "nodes", "edges"))


def network_from_graph(graph: nx.Graph[Any], place: str = "graph") -> tuple[Network, list[Hashable]]:
    """Make a `Network` of any undirected networkx graph; return it and the nodes in the order of its sites."""
    if graph.is_directed():
        raise InstanceError(
            place,
            str(graph),
            "distances are the same both ways here: give an undirected graph, graph.to_undirected().",
        )
    order = list(graph.nodes)
    number = {node: index for index, node in enumerate(order)}
    edges = tuple((number[u], number[v]) for u, v in graph.edges() if u != v)
    return Network(len(order), edges), order


# -- fields -----------------------------------------------------------------------------------------------------------

_SHAPE = "a shape is [rows, columns], two whole numbers from 1."
_EDGES = "edges are a list of pairs of node numbers."


def _grid(shape: Any) -> Grid:
    if (
        not isinstance(shape, list | tuple)
        or len(shape) != 2
        or not all(is_whole(side) and side >= 1 for side in shape)
    ):
        raise Refusal(_SHAPE)
    grid = shared(Grid, int(shape[0]), int(shape[1]))
    if grid.sites > MOST_SITES:
        raise Refusal(f"that is {grid.sites} sites; at most {MOST_SITES} are supported.")
    return grid


def _listed(edges: Any) -> Any:
    if not isinstance(edges, list | tuple):
        raise Refusal(_EDGES)
    return edges


def _topohub(name: Any) -> Network:
    return _network_of(name, _from_topohub(name))


def read_topology(name: str) -> tuple[Network, NDArray[np.float64], NDArray[np.float64]]:
    """Read a topology of topohub: its network, where nodes lie in the unit square, and what begins or ends at each."""
    try:
        topology = _from_topohub(name)
    except InstanceError as failure:
        raise RequestError(f"topology must be one of topohub, got {name!r}: {failure.rule}") from None
    places = np.array([node["pos"] for node in topology["nodes"]], dtype=float)
    places -= places.min(axis=0)
    places /= max(float(places.max()), 1e-300)
    number = {node["id"]: index for index, node in enumerate(topology["nodes"])}
    ends = np.zeros(len(number))
    for here, others in (topology["graph"].get("demands") or {}).items():
        for there, amount in others.items():
            for end in (here, there):
                ends[number[int(end)]] += float(amount)
    return _network_of(name, topology), places, ends


def _from_topohub(name: Any) -> dict[str, Any]:
    try:
        import topohub
    except ImportError:
        raise InstanceError("", name, "named topologies need an extra: pip install 'optmodels[topohub]'.") from None
    # topohub.get reads a file by joining the name to its own folder: only plain names may pass.
    parts = name.split("/") if isinstance(name, str) else []
    if not parts or not all(part and part.strip(".") and "\\" not in part for part in parts):
        raise InstanceError("", name, 'a topology is named like "sndlib/germany50".')
    try:
        return dict(topohub.get(name))
    except (OSError, KeyError, ValueError):
        raise InstanceError("", name, "no such topology is shipped with topohub.") from None


def _network_of(name: str, topology: Mapping[str, Any]) -> Network:
    number = {node["id"]: index for index, node in enumerate(topology["nodes"])}
    links = topology.get("edges") or topology.get("links") or []
    edges = {(number[link["source"]], number[link["target"]]) for link in links if link["source"] != link["target"]}
    return Network(len(number), tuple(sorted(edges)), topohub=name)


def _pairs(least: int, rule: str, **described: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "integer", "minimum": least}, "minItems": 2, "maxItems": 2} | (
        {"rule": rule} | described
    )


class EdgesData(Data):
    """A network by its edges."""

    form = 'a network is {"nodes": n, "edges": [[u, v], ...]}.'

    nodes: Annotated[
        int,
        Number(f"the number of nodes is a whole number from 1 to {MOST_SITES}.", least=1, most=MOST_SITES, whole=True),
    ] = entry("how many there are; they are numbered from 0")
    edges: Annotated[Any, Reader(_listed, {"type": "array", "items": _pairs(0, _EDGES)})] = entry(
        "pairs of different nodes; every node reaches every other"
    )

    def made(self) -> Network:
        """Make the network that is described."""
        for index, edge in enumerate(self.edges):
            good = isinstance(edge, list | tuple) and len(edge) == 2
            if not good or not all(is_whole(end) and 0 <= end < self.nodes for end in edge) or edge[0] == edge[1]:
                rule = f"an edge is a pair of different node numbers from 0 to {self.nodes - 1}."
                raise Refusal(rule, "edges", index)
        return Network(self.nodes, tuple((int(u), int(v)) for u, v in self.edges))


class TopologyData(Data):
    """A network by its name."""

    topohub: Annotated[Network, Reader(_topohub, {"type": "string"})] = entry(
        'instead: name of a topology that topohub has, such as "sndlib/germany50"'
    )

    def made(self) -> Network:
        """Make the network that is described."""
        return self.topohub


def _form(network: Any) -> str:
    if not isinstance(network, Mapping):
        raise Refusal('a network is {"nodes": n, "edges": [[u, v], ...]} or {"topohub": name}.')
    return "topohub" if "topohub" in network else "edges"


def _is_layout(value: Any) -> bool:
    """Tell whether Python gave a network ready made."""
    return isinstance(value, Network | Piece)


class LayoutData(Data):
    """Where the sites are, and which are near."""

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (("shape", "network"),)

    shape: Annotated[Any, Reader(_grid, _pairs(1, _SHAPE, form="[rows, columns]"))] = entry(
        f"cells of a grid, {MOST_SITES} at most; the distance of two is the steps from one to the other, plus 1",
        default=None,
    )
    network: Annotated[Any, OneOf({"edges": EdgesData, "topohub": TopologyData}, tag=_form, ready=_is_layout)] = entry(
        "instead: a network, whose distances are hops plus 1", default=None
    )

    @model_validator(mode="before")
    @classmethod
    def _has_one(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and "shape" in value and "network" in value:
            raise Refusal("give either shape or network, not both.", "shape")
        return value

    @model_validator(mode="after")
    def _has_any(self) -> LayoutData:
        if self.shape is None and self.network is None:
            raise MissingField("shape", 'give either "shape": [rows, columns] or "network".')
        return self

    @property
    def layout(self) -> Grid | Network:
        """The one that is given."""
        found: Grid | Network = self.network if self.shape is None else self.shape
        return found
