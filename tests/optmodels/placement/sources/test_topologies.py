"""Topologies of topohub: names, coordinates, kilometres, demands."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest

import optmodels as om
from optmodels.errors import InstanceError
from optmodels.placement import KIND, PlacementProblem, draw_placement
from optmodels.placement.framing import node_positions, sides_of_names
from optmodels.placement.sources import published_demand, read_topology

topohub = pytest.importorskip("topohub", reason="the extra 'topohub' is not installed")

SERVER = {
    "service_rate": 50,
    "think_time": {"base": 0.48, "per_distance": 0.0002},
    "quality": {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16},
}
GERMANY = {"topohub": "sndlib/germany50", "distance": "length"}
PUBLISHED = {"topohub": "sum", "per_client": 20}


def germany(**changes) -> PlacementProblem:
    return PlacementProblem(
        **{"network": GERMANY, "demand": PUBLISHED, "opening_cost": [1] * 50, "name": "germany", **SERVER, **changes}
    )


def test_published_demands_are_summed_by_node_divided_and_rounded_up():
    ends = dict.fromkeys(range(50), 0.0)
    for here, others in topohub.get("sndlib/germany50")["graph"]["demands"].items():
        for there, amount in others.items():
            ends[int(here)] += amount
            ends[int(there)] += amount
    for each in (1, 7, 20.0, 1000):
        clients = germany(demand=PUBLISHED | {"per_client": each}).demand
        assert clients.tolist() == [-int(-ends[node] // each) for node in range(50)]


def test_demands_that_are_multiples_are_not_rounded_to_one_more():
    """In binary, 2.1 over 0.3 is a little more than 7."""
    assert 2.1 / 0.3 > 7
    topology = SimpleNamespace(topohub="drawn", demands=np.array([2.1, 2.7, 2.8, 0.0]))
    assert published_demand({"topohub": "sum", "per_client": 0.3}, topology).tolist() == [7, 9, 10, 0]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"network": {"topohub": "topozoo/Abilene"}, "opening_cost": [1] * 11}, "topohub has no demands of"),
        ({"network": nx.path_graph(50)}, "these are the demands of a named topology"),
        ({"network": None, "shape": [5, 10], "opening_cost": np.ones((5, 10))}, "these are the demands of a named"),
        ({"demand": {"topohub": "sum"}}, "what one client asks for"),
        ({"demand": {"topohub": "mean", "per_client": 1}}, '"topohub": "sum"'),
        ({"demand": PUBLISHED | {"per_client": 0}}, "a positive number"),
        ({"demand": PUBLISHED | {"per_client": 1e-9}}, "of a node are supported"),
        ({"demand": PUBLISHED | {"clients": 3}}, "clients"),
    ],
)
def test_demands_that_are_not_there_are_told_in_a_sentence(changes, told):
    with pytest.raises(InstanceError) as failure:
        germany(**changes)
    assert told in str(failure.value) and str(failure.value).startswith("demand")


def test_names_coordinates_and_kilometres_are_kept():
    problem = replace(germany(), service_rate=60)
    assert problem.layout.names[14] == "Essen"
    assert problem.layout.places[0].tolist() == [6.04, 50.76] and problem.layout.geographic
    assert problem.distances[0].max() == pytest.approx(726.96)
    assert PlacementProblem.from_data(problem.to_data(), name="germany") == problem
    assert list(KIND.words(problem, {"decision": [0] * 14 + [1, 1] + [0] * 34})) == [
        "open sites: 2 of 50, by name: Essen, Flensburg"
    ]


def test_maps_are_drawn_at_the_coordinates_degrees_as_long_as_they_are():
    problem = germany()
    at = node_positions(problem.layout)
    names = problem.layout.names
    kiel, kempten, dresden, aachen = (at[names.index(name)] for name in ("Kiel", "Kempten", "Dresden", "Aachen"))
    tall, wide = kiel[1] - kempten[1], dresden[0] - aachen[0]
    # 111.2 km a degree of latitude: 6.61 degrees; Dresden is 7.70 degrees east of Aachen, at 51 degrees north.
    assert tall == pytest.approx(6.61, abs=0.2)
    assert wide == pytest.approx(7.70 * np.cos(np.radians(51)), abs=0.15)
    figure = draw_placement(problem, {"decision": [0] * 14 + [1] + [0] * 35})
    written = [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "names"]
    assert written == ["Essen"]
    figure = draw_placement(problem, None)
    assert len([text for text in figure.axes[0].texts if text.get_gid() == "names"]) in (0, 50)
    plt.close("all")


def test_what_is_planar_is_drawn_as_it_is():
    assert not read_topology("sndlib/ta2").geographic
    layout = germany(network={"topohub": "sndlib/ta2"}, opening_cost=[1] * 65, demand=[1] * 65).layout
    assert np.allclose(node_positions(layout), layout.places - layout.places.mean(axis=0))


@pytest.mark.parametrize("kind", ["network", "distances"])
def test_names_and_coordinates_of_a_file_are_kept_and_drawn(kind):
    given = {"network": {"nodes": 3, "edges": [[0, 1], [1, 2]]}, "distances": [[1, 5, 9], [5, 1, 4], [9, 4, 1]]}
    own = {"names": ["Here", "There", "Far"], "coordinates": [[0, 0], [3, 4], [9, 4]]}
    data = {kind: given[kind], **own, "demand": [3, 4, 5], "opening_cost": [1, 2, 3], **SERVER}
    problem = PlacementProblem(**data)
    assert {name: problem.to_data()[name] for name in own} == own
    assert PlacementProblem.from_data(problem.to_data()) == problem
    assert replace(problem, opening_cost=[1, 1, 1]).layout.names == ("Here", "There", "Far")
    figure = draw_placement(problem, {"decision": [0, 1, 0]})
    texts = [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "names"]
    assert texts == ["There"]
    plt.close("all")
    for wrong, told in (
        ({"names": ["Here"]}, "there are 3 sites, and 1 names"),
        ({"names": ["Here", "There", 3]}, "names are a list of printable texts"),
        ({"coordinates": [[0, 0], [1, 1]]}, "there are 3 sites, and 2 coordinates"),
        ({"coordinates": [[0, 0], [1, 1], [1]]}, "pairs of numbers"),
        ({"coordinates": [[0, 0], [1, 1], [1, 1e200]]}, "coordinates up to 1e"),
    ):
        with pytest.raises(InstanceError, match=told):
            PlacementProblem(**data | wrong)
    with pytest.raises(InstanceError, match="cells of a grid are called by row and column"):
        PlacementProblem(**{"demand": [[1, 2]], "opening_cost": [[1, 1]], "names": ["a", "b"], **SERVER})


def test_weights_of_a_graph_are_measured_or_refused_and_never_dropped():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2.5), ("b", "c", 0.5), ("a", "c", 4.0)])
    for node, place in (("a", (0.0, 1.0)), ("b", (2.0, 1.0)), ("c", (2.0, 3.0))):
        graph.nodes[node].update(demand=2, opening_cost=1.0, pos=place)
    long = PlacementProblem.from_graph(graph, distance="length", **SERVER)
    assert long.distances[0].tolist() == [0.0, 2.5, 3.0]
    assert long.layout.names == ("a", "b", "c") and long.layout.places.tolist() == [[0, 1], [2, 1], [2, 3]]
    assert PlacementProblem.from_graph(graph, distance="hops", **SERVER).distances[0].tolist() == [1, 2, 2]
    assert PlacementProblem.from_graph(graph, length="km", **SERVER).distances[0].tolist() == [1, 2, 2]
    for make in (
        lambda: PlacementProblem.from_graph(graph, **SERVER),
        lambda: PlacementProblem(network=graph, demand=[2, 2, 2], opening_cost=[1, 1, 1], **SERVER),
    ):
        with pytest.raises(InstanceError, match="edges have the attribute 'weight'"):
            make()
    graph.edges["a", "b"]["weight"] = -1.0
    with pytest.raises(InstanceError, match="every edge needs a positive number"):
        PlacementProblem.from_graph(graph, distance="length", **SERVER)
    with pytest.raises(InstanceError, match='a distance is "hops" or "length"'):
        PlacementProblem.from_graph(graph, distance="km", **SERVER)


def test_a_result_tells_which_sites_serve_each_cell():
    data = {"demand": [[4, 0, 3], [5, 2, 1]], "opening_cost": np.ones((2, 3)), "service_rate": 50}
    quality = {"min_throughput": 1.0, "max_delay_probability": 0.5, "delay": 0.5}
    problem = PlacementProblem(**data, think_time={"base": 0.5, "per_distance": 0.1}, quality=quality)
    result = om.evaluate(problem, (1, 0, 1, 0, 0, 0))
    assert result.extra["assignment"] == [[0], [], [2], [0], [0, 2], [2]]
    loads = [0] * 6
    for cell, sites in enumerate(result.extra["assignment"]):
        for site in sites:
            loads[site] += -(-int(problem.demand.ravel()[cell]) // len(sites))
    assert loads == [value or 0 for value in result.extra["load"]]
    assert om.evaluate(problem, (0,) * 6).extra["assignment"] == [[]] * 6


@pytest.mark.parametrize("name", ["classes-4x4", "scenarios"])
def test_classes_and_scenarios_tell_it_once(name):
    if name == "scenarios":
        scenarios = [{"probability": 0.5, "demand": [2, 0, 0]}, {"probability": 0.5, "demand": [0, 3, 0]}]
        network = {"nodes": 3, "edges": [[0, 1], [1, 2]]}
        problem = PlacementProblem(scenarios=scenarios, network=network, opening_cost=[1, 1, 1], **SERVER)
        assert om.evaluate(problem, (1, 0, 1)).extra["assignment"] == [[0], [0, 2], []]
        return
    problem = om.load(name)
    told = om.evaluate(problem, (1,) * 16).extra["assignment"]
    assert told == [[cell] if clients else [] for cell, clients in enumerate(problem.demand.tolist())]


def test_the_shipped_network_is_that_of_topohub():
    shipped, named = om.load("germany50-demands"), germany()
    assert shipped.layout.names == named.layout.names and shipped.layout.geographic
    assert np.array_equal(shipped.distances, named.distances) and np.array_equal(shipped.demand, named.demand)
    assert np.array_equal(shipped.layout.places, named.layout.places)


def test_names_stand_where_they_cover_less():
    at = np.array([[0.0, 0.0], [0.0, 14.0], [60.0, 0.0]])
    # Above the first is the second; below the second the first; the third is free, and prefers above.
    assert sides_of_names(at, ["Lower", "Upper", "Alone"], at, 7.0, 8.0) == [-1, 1, 1]
    beside = np.array([[0.0, 0.0], [10.0, 1.0]])
    assert sides_of_names(beside, ["Kaiserslautern", "Mannheim"], beside[:0], 7.0, 8.0) == [1, -1]
