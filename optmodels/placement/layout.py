"""Where sites lie and how far they are from cells: grids, networks, named topologies, matrices.

Steps count from 1: a site is at distance 1 of its own clients, a neighbour at distance 2 (eq. 7 of Gautam 2002).
Lengths of networks count from 0, and a matrix says of itself what its distances are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from ..data import Choice, Data, Number, OneOf, Reader, Refusal, entry, is_number, is_whole, shared
from ..errors import InstanceError, MissingField
from .geometry import DistanceMatrix, FixedField, Geometry, fixed_sites, read_matrix
from .geometry.by_site import CoordinatesField, NamesField, check_whereabouts

if TYPE_CHECKING:
    import networkx as nx

    from .sources import Topology

#: Distance matrices are dense: this many sites need 200 MB.
MOST_SITES = 5_000

#: Of the largest distance of a network: lengths summed in another order differ by less, and are ties.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Grid(Geometry):
    r"""An :math:`A \times B` grid; cells are numbered row by row.

    The distance of cells :math:`(i, j)` and :math:`(k, l)` is :math:`|i - k| + |j - l| + 1`.
    """

    rows: int
    columns: int

    @property
    def sites(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

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
class Network(Geometry):
    """A connected graph; the distance of two nodes is the least number of hops plus one, or the least length.

    Parameters
    ----------
    nodes
        How many there are.
    edges
        Both ends of every edge.
    topohub
        Its name there, if it has one.
    edge_lengths
        Of the edges; ``None``: hops are counted.
    names, places
        Of the nodes, and their coordinates; ``None``: nobody says.
    geographic
        Whether coordinates are degrees of longitude and latitude.
    demands
        What begins or ends at each node of a named topology, in its own unit.
    """

    nodes: int
    edges: tuple[tuple[int, int], ...]
    topohub: str | None = None
    edge_lengths: tuple[float, ...] | None = None
    names: tuple[str, ...] | None = field(default=None, compare=False)
    places: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)
    geographic: bool = field(default=False, compare=False, repr=False)
    demands: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)

    @property
    def sites(self) -> int:
        """How many nodes there are."""
        return self.nodes

    @property
    def stepwise(self) -> bool:
        """Whether hops are counted."""
        return self.edge_lengths is None

    @cached_property
    def distances(self) -> NDArray[Any]:
        """Distance of every two nodes."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        ends = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        weights = np.ones(len(ends)) if self.edge_lengths is None else np.array(self.edge_lengths)
        # Of several edges between two nodes the shortest counts; a matrix would add them up.
        least = np.lexsort((weights, ends.max(axis=1), ends.min(axis=1)))
        ends, weights = np.sort(ends[least], axis=1), weights[least]
        first = np.ones(len(ends), bool)
        first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
        ends, weights = ends[first], weights[first]
        links = coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(self.nodes, self.nodes))
        away = shortest_path(links.tocsr(), directed=False, unweighted=self.stepwise)
        if not np.isfinite(away).all():
            here, there = (int(node) for node in np.argwhere(~np.isfinite(away))[0])
            raise InstanceError(
                "data.network.edges",
                [list(edge) for edge in self.edges],
                f"node {there} cannot be reached from node {here}; every node must reach every other.",
            )
        return away.astype(np.int64) + 1 if self.stepwise else _rounded(away)

    def label(self, site: int) -> str:
        """How to call a site in a sentence."""
        return f"node {site}"

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        asked = {} if self.stepwise else {"distance": "length"}
        if self.topohub is not None:
            return {"network": {"topohub": self.topohub, **asked}}
        lengths = [()] * len(self.edges) if self.edge_lengths is None else [(length,) for length in self.edge_lengths]
        edges = [[*edge, *length] for edge, length in zip(self.edges, lengths, strict=True)]
        return {"network": {"nodes": self.nodes, "edges": edges, **asked}, **self.whereabouts()}


def _rounded(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same both ways, and equal where only the order of summing differs."""
    largest = float(lengths.max(initial=0.0))
    if largest == 0:
        return lengths
    digits = -math.floor(math.log10(largest) + math.log10(ROUNDING))
    either = np.minimum(lengths, lengths.T)
    # Whole lengths stay whole: to round to digits divides by a power of ten, a product with 1e-9 would be inexact.
    return np.asarray(np.round(either, digits)) if abs(digits) < 300 else either


@dataclass(frozen=True, eq=False)
class Piece(Geometry):
    """Some sites of a larger layout whose cells are its sites, at the distances they have there."""

    whole: Layout
    part: tuple[int, ...]

    @property
    def sites(self) -> int:
        """Number of sites in the piece."""
        return len(self.part)

    @property
    def stepwise(self) -> bool:
        """Whether those of the whole are."""
        return self.whole.stepwise

    @cached_property
    def distances(self) -> NDArray[Any]:
        """Distance of every two sites of the piece."""
        chosen = np.array(self.part, dtype=np.int64)
        return np.ascontiguousarray(self.whole.distances[np.ix_(chosen, chosen)])

    def label(self, site: int) -> str:
        """The name the site has in the whole."""
        return self.whole.label(self.part[site])

    def to_data(self) -> dict[str, Any]:
        """Pieces exist inside a run only."""
        raise ValueError("a piece of a layout cannot be written to a file; write the whole instance.")


Layout: TypeAlias = Grid | Network | DistanceMatrix | Piece

#: Layouts by the arrays of their distances, which problems show and `dataclasses.replace` hands back.
_SHOWN: WeakValueDictionary[int, Layout] = WeakValueDictionary()


def show(layout: Layout) -> NDArray[Any]:
    """The distances of a layout, of which `shown` tells whose they are."""
    _SHOWN[id(layout.distances)] = layout
    return layout.distances


def shown(distances: Any) -> Layout | None:
    """The layout that has shown this very array."""
    layout = _SHOWN.get(id(distances))
    return layout if layout is not None and layout.distances is distances else None


def is_graph(value: Any) -> bool:
    """Tell whether a value is a networkx graph, without networkx."""
    return all(hasattr(value, name) for name in ("is_directed", "nodes", "edges"))


def network_from_graph(
    graph: nx.Graph[Any], place: str = "graph", distance: str | None = None, length: str = "weight"
) -> tuple[Network, list[Hashable]]:
    """Make a `Network` of any undirected networkx graph; return it and the nodes in the order of its sites.

    Nodes that are not numbered from 0 keep their names, and coordinates are kept where every node has ``pos``.
    """
    if graph.is_directed():
        raise InstanceError(
            place,
            str(graph),
            "distances are the same both ways here: give an undirected graph, graph.to_undirected().",
        )
    if distance not in (None, "hops", "length"):
        raise InstanceError("distance", distance, 'a distance is "hops" or "length".')
    order = list(graph.nodes)
    number = {node: index for index, node in enumerate(order)}
    links: list[tuple[Any, Any, Any]] = [(u, v, told.get(length)) for u, v, told in graph.edges(data=True) if u != v]
    if distance is None and (weighed := next((link for link in links if link[2] is not None), None)):
        rule = (
            f'edges have the attribute {length!r}: PlacementProblem.from_graph(graph, distance="length", ...) measures '
            'along them, and distance="hops" counts edges.'
        )
        raise InstanceError(f"{place}: edge {weighed[:2]}", weighed[2], rule)
    lengths: tuple[float, ...] | None = None
    if distance == "length":
        for u, v, value in links:
            if not is_number(value) or value <= 0:
                rule = f"every edge needs a positive number for its attribute {length!r}, which is its length."
                raise InstanceError(f"edge {(u, v)}", value, rule)
        lengths = tuple(float(value) for _, _, value in links)
    names = None if order == list(range(len(order))) else tuple(" ".join(str(node).split()) or "?" for node in order)
    drawn = [told.get("pos") for _, told in graph.nodes(data=True)]
    places = np.array(drawn, dtype=float) if drawn and all(map(_is_place, drawn)) else None
    edges = tuple((number[u], number[v]) for u, v, _ in links)
    return Network(len(order), edges, None, lengths, names, places), order


def graph_fields(
    graph: nx.Graph[Any], attributes: Mapping[str, str], distance: str | None, length: str
) -> dict[str, Any]:
    """Read the network of a graph, and fields whose entries are attributes of its nodes, by the names of these."""
    network, nodes = network_from_graph(graph, distance=distance, length=length)
    for attribute in attributes.values():
        for node in nodes:
            if attribute not in graph.nodes[node]:
                rule = f"every node needs the attribute {attribute!r}."
                raise InstanceError(f"node {node!r}", dict(graph.nodes[node]), rule)
    columns = {name: [graph.nodes[node][attribute] for node in nodes] for name, attribute in attributes.items()}
    return {**network.to_data(), **columns}


def _is_place(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray) and len(value) == 2 and all(np.isfinite(value))


# -- fields -----------------------------------------------------------------------------------------------------------

_SHAPE = "a shape is [rows, columns], two whole numbers from 1."
_EDGES = "edges are a list of pairs of node numbers."
_WAYS = "give one of shape, network and distances, not several."


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


def _topology(name: Any) -> Topology:
    from .sources import read_topology

    return read_topology(name)


def _network_of(topology: Topology, distance: str) -> Network:
    if distance == "length" and not all(length > 0 for length in topology.lengths):
        raise Refusal("this topology has no lengths of all its edges; count hops.", "distance")
    return Network(
        len(topology.names),
        topology.edges,
        topology.topohub,
        topology.lengths if distance == "length" else None,
        topology.names,
        topology.places,
        topology.geographic,
        topology.demands,
    )


def _pairs(least: int, rule: str, **described: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "integer", "minimum": least}, "minItems": 2, "maxItems": 2} | (
        {"rule": rule} | described
    )


_EDGE = {
    "type": "array",
    "items": {"type": "number", "minimum": 0},
    "minItems": 2,
    "maxItems": 3,
    "form": "[u, v], or [u, v, length]",
    "rule": _EDGES,
}

Distance: TypeAlias = Annotated[Literal["hops", "length"], Choice('a distance is "hops" or "length".')]


class EdgesData(Data):
    """A network by its edges."""

    form = 'a network is {"nodes": n, "edges": [[u, v], ...]}.'

    nodes: Annotated[
        int,
        Number(f"the number of nodes is a whole number from 1 to {MOST_SITES}.", least=1, most=MOST_SITES, whole=True),
    ] = entry("how many there are; they are numbered from 0")
    edges: Annotated[Any, Reader(_listed, {"type": "array", "items": _EDGE})] = entry(
        "pairs of different nodes, each with its length where lengths are asked for; every node reaches every other"
    )
    distance: Distance = entry(
        '"hops": the fewest edges from node to node, plus 1; "length": the least sum of lengths', default="hops"
    )

    def made(self) -> Network:
        """Make the network that is described."""
        count = 2 if self.distance == "hops" else 3
        for index, edge in enumerate(self.edges):
            good = isinstance(edge, list | tuple) and len(edge) == count
            if not good or not all(is_whole(end) and 0 <= end < self.nodes for end in edge[:2]) or edge[0] == edge[1]:
                rule = f"an edge is a pair of different node numbers from 0 to {self.nodes - 1}"
                rule += "." if count == 2 else " and its length, as distances are lengths."
                raise Refusal(rule, "edges", index)
            if count == 3 and not (is_number(edge[2]) and edge[2] > 0):
                raise Refusal("lengths of edges are positive numbers.", "edges", index, 2)
        pairs = tuple((int(edge[0]), int(edge[1])) for edge in self.edges)
        return Network(self.nodes, pairs, None, None if count == 2 else tuple(float(edge[2]) for edge in self.edges))


class TopologyData(Data):
    """A network by its name."""

    topohub: Annotated[Any, Reader(_topology, {"type": "string"})] = entry(
        'instead: name of a topology that topohub has, such as "sndlib/germany50"'
    )
    distance: Distance = entry('"hops", as above, or "length": kilometres along the edges', default="hops")

    def made(self) -> Network:
        """Make the network that is described."""
        return _network_of(self.topohub, self.distance)


def _form(network: Any) -> str:
    if not isinstance(network, Mapping):
        raise Refusal('a network is {"nodes": n, "edges": [[u, v], ...]} or {"topohub": name}.')
    return "topohub" if "topohub" in network else "edges"


def _is_layout(value: Any) -> bool:
    """Tell whether Python gave a network ready made."""
    return isinstance(value, Network | Piece)


_ROW = {"type": "array", "minItems": 1, "items": {"type": "number", "exclusiveMinimum": 0}}


def _matrix(rows: Any) -> DistanceMatrix:
    return rows if isinstance(rows, DistanceMatrix) else DistanceMatrix(read_matrix(rows))


class LayoutData(Data):
    """Where the sites are, and which are near."""

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (("shape", "network", "distances"),)

    shape: Annotated[Any, Reader(_grid, _pairs(1, _SHAPE, form="[rows, columns]"))] = entry(
        f"cells of a grid, {MOST_SITES} at most; the distance of two is the steps from one to the other, plus 1",
        default=None,
    )
    network: Annotated[Any, OneOf({"edges": EdgesData, "topohub": TopologyData}, tag=_form, ready=_is_layout)] = entry(
        "instead: a network, whose distances are hops plus 1, or lengths", default=None
    )
    distances: Annotated[
        Any, Reader(_matrix, {"type": "array", "minItems": 1, "items": _ROW, "form": "number by site and cell"})
    ] = entry("instead: the distance of each site to each cell, a row for each site", default=None)
    clients: Annotated[int | None, Number("the number of cells is a whole number from 1.", least=1, whole=True)] = (
        entry(
            "number of cells where they are not the sites, beside distances; null: as many as a row has", default=None
        )
    )

    fixed_open: Annotated[tuple[int, ...], FixedField] = entry(
        "numbers of sites that are open in every placement, row by row on a grid", default=()
    )
    fixed_closed: Annotated[tuple[int, ...], FixedField] = entry(
        "numbers of sites that are closed in every placement", default=()
    )

    names: Annotated[tuple[str, ...], NamesField] = entry(
        "what sites are called in words and pictures, on a network or beside distances", default=()
    )
    coordinates: Annotated[Any, CoordinatesField] = entry(
        "where the same are drawn, [x, y] each; they make no distances", default=()
    )

    @model_validator(mode="before")
    @classmethod
    def _has_one(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            given = [name for name in LayoutData.alternatives[0] if value.get(name) is not None]
            if len(given) > 1:
                raise Refusal(_WAYS, given[0])
        return value

    @model_validator(mode="after")
    def _has_any(self) -> LayoutData:
        if self.shape is None and self.network is None and self.distances is None:
            raise MissingField("shape", 'give "shape": [rows, columns], "network" or "distances".')
        if self.clients is not None and self.distances is None:
            raise Refusal(
                "cells are the sites of a shape or a network; the number of others stands beside distances.", "clients"
            )
        if self.clients is not None and self.clients != self.distances.cells:
            raise Refusal(f"rows of distances have {self.distances.cells} numbers, one for each cell.", "clients")
        fixed_sites(self.fixed_open, self.fixed_closed, self.layout.sites)
        check_whereabouts(self.names, self.coordinates, self.layout.sites, grid=self.shape is not None)
        return self

    def _geographic(self) -> bool:
        from .sources import are_degrees

        lengths = getattr(self.network, "edge_lengths", None)
        return lengths is not None and are_degrees(self.coordinates, self.network.edges, lengths)

    @property
    def layout(self) -> Layout:
        """The one that is given."""
        if self.shape is not None:
            grid: Grid = self.shape
            return grid
        given: DistanceMatrix | Network | Piece = self.network if self.distances is None else self.distances
        if isinstance(given, Piece):
            return given  # a part of a problem, which has the names that its sites have in the whole
        told: dict[str, Any] = {"names": self.names} if self.names else {}
        if len(self.coordinates):
            told |= {"places": self.coordinates, "geographic": self._geographic()}
        if isinstance(given, Network):
            return replace(given, **told) if told else given
        told.pop("geographic", None)
        return replace(given, clients=self.clients, **told) if told or given.clients != self.clients else given
