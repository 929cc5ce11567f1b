"""Grids, networks and pieces of them."""

import networkx as nx
import numpy as np
import pytest

from optmodels.data import read_as
from optmodels.errors import InstanceError, MissingField
from optmodels.placement.layout import Grid, LayoutData, Network, Piece, network_from_graph


def layout_from_data(data):
    """Read ``shape`` or ``network`` of an instance."""
    return read_as(LayoutData, data).layout


def refused(data):
    with pytest.raises(InstanceError) as caught:
        layout = layout_from_data(data)
        layout.distances  # noqa: B018 - unreachable nodes are found when distances are asked for
    return str(caught.value)


def test_distance_on_a_grid_is_the_walk_along_rows_and_columns_plus_one():
    distances = Grid(3, 4).distances
    assert distances[0].reshape(3, 4).tolist() == [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    assert (distances == distances.T).all()


def test_distance_on_a_network_is_the_number_of_hops_plus_one():
    graph = nx.connected_watts_strogatz_graph(20, 4, 0.3, seed=1)
    network = layout_from_data({"network": {"nodes": 20, "edges": [list(edge) for edge in graph.edges]}})
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    assert network.distances.tolist() == [[hops[u][v] + 1 for v in range(20)] for u in range(20)]


def test_edges_may_be_given_in_either_direction_and_twice():
    network = layout_from_data({"network": {"nodes": 3, "edges": [[1, 0], [0, 1], [2, 1]]}})
    assert network.distances.tolist() == [[1, 2, 3], [2, 1, 2], [3, 2, 1]]


def test_a_single_site_is_a_grid_and_a_network():
    assert Grid(1, 1).distances.tolist() == [[1]]
    assert layout_from_data({"network": {"nodes": 1, "edges": []}}).distances.tolist() == [[1]]


def test_sites_are_called_by_their_place_in_the_file():
    assert Grid(3, 4).label(5) == "cell (1, 1)"
    assert Network(3, ((0, 1), (1, 2))).label(2) == "node 2"
    assert Piece(Grid(3, 4), (5, 7)).label(1) == "cell (1, 3)"


def test_pieces_keep_the_distances_of_the_whole():
    ring = Network(6, tuple((i, (i + 1) % 6) for i in range(6)))
    assert Piece(ring, (0, 2, 4)).distances.tolist() == [[1, 3, 3], [3, 1, 3], [3, 3, 1]]
    with pytest.raises(ValueError, match="a piece of a layout cannot be written to a file"):
        Piece(ring, (0, 2)).to_data()


@pytest.mark.parametrize(
    "data", [{"shape": [2, 5]}, {"network": {"nodes": 3, "edges": [[0, 1], [1, 2]]}}], ids=["grid", "network"]
)
def test_layouts_are_written_as_they_were_read(data):
    assert layout_from_data(data).to_data() == data


def test_graphs_of_any_node_names_become_networks_in_their_order():
    graph = nx.Graph([("b", "a"), ("a", "c"), ("c", "c")])
    network, nodes = network_from_graph(graph)
    assert nodes == ["b", "a", "c"]
    assert network.distances.tolist() == [[1, 2, 3], [2, 1, 2], [3, 2, 1]]


def test_directed_graphs_are_refused():
    with pytest.raises(InstanceError, match="give an undirected graph"):
        network_from_graph(nx.DiGraph([(0, 1)]))


def test_named_topologies_are_read_from_topohub():
    pytest.importorskip("topohub", reason="the extra 'topohub' is not installed")
    network = layout_from_data({"network": {"topohub": "sndlib/germany50"}})
    assert (network.sites, len(network.edges)) == (50, 88)
    assert network.to_data() == {"network": {"topohub": "sndlib/germany50"}}


@pytest.mark.parametrize("name", ["sndlib/no-such-net", "../../etc/passwd", "", "a//b", 7, "..", "sndlib\\germany50"])
def test_unknown_topologies_are_refused_by_name(name):
    pytest.importorskip("topohub", reason="the extra 'topohub' is not installed")
    sentence = refused({"network": {"topohub": name}})
    assert sentence.startswith("data.network.topohub is ")
    assert "no such topology" in sentence or "is named like" in sentence


def test_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "topohub", None)
    assert refused({"network": {"topohub": "sndlib/germany50"}}) == (
        'data.network.topohub is "sndlib/germany50"; named topologies need an extra: '
        "pip install 'optmodels[topohub]'."
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, 'data.shape is missing; give "shape": [rows, columns], "network" or "distances".'),
        (
            {"shape": [2, 3], "network": {}},
            "data.shape is [2, 3]; give one of shape, network and distances, not several.",
        ),
        (
            {"shape": [10**400, 1]},
            f"data.shape is [1{'0' * 55}...; a shape is [rows, columns], two whole numbers from 1.",
        ),
        ({"shape": [0, 3]}, "data.shape is [0, 3]; a shape is [rows, columns], two whole numbers from 1."),
        ({"shape": [2]}, "data.shape is [2]; a shape is [rows, columns], two whole numbers from 1."),
        ({"shape": 6}, "data.shape is 6; a shape is [rows, columns], two whole numbers from 1."),
        ({"shape": [2.5, 3]}, "data.shape is [2.5, 3]; a shape is [rows, columns], two whole numbers from 1."),
        ({"shape": [True, 3]}, "data.shape is [true, 3]; a shape is [rows, columns], two whole numbers from 1."),
        ({"shape": [100, 100]}, "data.shape is [100, 100]; that is 10000 sites; at most 5000 are supported."),
        (
            {"network": []},
            'data.network is []; a network is {"nodes": n, "edges": [[u, v], ...]} or {"topohub": name}.',
        ),
        (
            {"network": {"nodes": 0, "edges": []}},
            "data.network.nodes is 0; the number of nodes is a whole number from 1 to 5000.",
        ),
        (
            {"network": {"nodes": 2, "edges": 5}},
            "data.network.edges is 5; edges are a list of pairs of node numbers.",
        ),
        (
            {"network": {"nodes": 3, "edges": [[0, 1], [1, 3]]}},
            "data.network.edges[1] is [1, 3]; an edge is a pair of different node numbers from 0 to 2.",
        ),
        (
            {"network": {"nodes": 3, "edges": [[0, 0]]}},
            "data.network.edges[0] is [0, 0]; an edge is a pair of different node numbers from 0 to 2.",
        ),
        (
            {"network": {"nodes": 3, "edges": [[0, 1, 2]]}},
            "data.network.edges[0] is [0, 1, 2]; an edge is a pair of different node numbers from 0 to 2.",
        ),
        (
            {"network": {"nodes": 4, "edges": [[0, 1], [2, 3]]}},
            "data.network.edges is [[0, 1], [2, 3]]; node 2 cannot be reached from node 0; every node must reach every "
            "other.",
        ),
        (
            {"network": {"nodes": 2, "edges": [[0, 1]], "weights": [1]}},
            "data.network.weights is [1]; no such field; known are distance, edges, nodes.",
        ),
    ],
)
def test_layouts_that_make_no_sense_are_refused_with_field_value_and_rule(data, sentence):
    assert refused(data) == sentence


@pytest.mark.parametrize("field", ["nodes", "edges"])
def test_missing_parts_of_a_network_are_named(field):
    network = {"nodes": 2, "edges": [[0, 1]]}
    del network[field]
    with pytest.raises(MissingField, match=f"^data.network.{field} is missing; a network is"):
        layout_from_data({"network": network})


def test_distances_are_whole_numbers_from_one():
    for layout in (Grid(4, 5), Network(3, ((0, 1), (1, 2)))):
        assert layout.distances.dtype == np.int64
        assert (np.diag(layout.distances) == 1).all()
        assert layout.distances.min() == 1
