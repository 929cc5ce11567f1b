"""What a placement instance may hold, and the sentence for everything it may not."""

import json
import math
from copy import deepcopy

import networkx as nx
import numpy as np
import pytest

from optmodels.errors import InstanceError, MissingField
from optmodels.instance import Instance, load, read
from optmodels.placement import PlacementProblem

GOOD = {
    "shape": [2, 3],
    "demand": [[15, 6, 10], [10, 5, 6]],
    "opening_cost": [[4, 5, 3], [2, 3, 6]],
    "service_rate": 20,
    "think_time": {"base": 0.8, "per_distance": 0.2},
    "quality": {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
}
LINE = {
    "network": {"nodes": 3, "edges": [[0, 1], [1, 2]]},
    "demand": [1, 2, 3],
    "opening_cost": [1, 1, 1],
    "service_rate": 20,
    "think_time": {"base": 0.8, "per_distance": 0.2},
    "quality": {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
}


def changed(data, path, value):
    """The data with one entry replaced; a path such as ``quality.delay`` or ``demand.0.2``."""
    data = deepcopy(data)
    *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
    place = data
    for step in way:
        place = place[step]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("demand.0.1", -2, "data.demand[0][1] is -2; demands are whole numbers, zero or more."),
        ("demand.1.2", 2.5, "data.demand[1][2] is 2.5; demands are whole numbers, zero or more."),
        ("demand.1.2", "6", 'data.demand[1][2] is "6"; demands are whole numbers, zero or more.'),
        ("demand.1.2", True, "data.demand[1][2] is true; demands are whole numbers, zero or more."),
        ("demand.1.2", None, "data.demand[1][2] is null; demands are whole numbers, zero or more."),
        ("demand.1.2", math.nan, "data.demand[1][2] is NaN; demands are whole numbers, zero or more."),
        ("demand.1.2", math.inf, "data.demand[1][2] is Infinity; demands are whole numbers, zero or more."),
        ("demand.1.2", 10**12, "data.demand[1][2] is 1000000000000; at most 1000000000 are supported."),
        ("demand.1", [10, 5], "data.demand[1] is [10, 5]; the grid needs 2 rows of 3, 2 entries came."),
        ("demand.1", 7, "data.demand[1] is 7; the grid needs 2 rows of 3, no list came."),
        ("demand", [[1, 2, 3]], "data.demand is [[1, 2, 3]]; the grid needs 2 rows of 3, 1 came."),
        ("demand", 3, "data.demand is 3; the grid needs 2 rows of 3, no list came."),
        (
            "demand",
            [1, 2, 3, 4, 5, 6],
            "data.demand is [1, 2, 3, 4, 5, 6]; the grid needs 2 rows of 3, 6 came.",
        ),
        ("opening_cost.0.0", -1, "data.opening_cost[0][0] is -1; costs are numbers, zero or more."),
        ("opening_cost.0.0", math.nan, "data.opening_cost[0][0] is NaN; costs are numbers, zero or more."),
        ("operating_cost", -0.5, "data.operating_cost is -0.5; costs are numbers, zero or more."),
        ("service_rate", 0, "data.service_rate is 0; service rates are positive numbers."),
        ("service_rate", None, "data.service_rate is null; service rates are positive numbers."),
        ("demand", None, "data.demand is null; the grid needs 2 rows of 3, no list came."),
        ("service_rate", [[1, 2, 3], [4, 5, -6]], "data.service_rate[1][2] is -6; service rates are positive numbers."),
        ("processors", 0, "data.processors is 0; processors are whole numbers from 1."),
        ("processors", 1.5, "data.processors is 1.5; processors are whole numbers from 1."),
        (
            "think_time",
            1.5,
            'data.think_time is 1.5; a think time is {"base": a, "per_distance": b}, {"by_distance": [f(1), f(2), '
            '...]} or {"by_pair": matrix}.',
        ),
        ("think_time.base", -1, "data.think_time.base is -1; think times are numbers, zero or more."),
        (
            "think_time.per_distance",
            -0.1,
            "data.think_time.per_distance is -0.1; think times do not fall with distance: zero or more.",
        ),
        (
            "think_time",
            {"base": 0, "per_distance": 0},
            'data.think_time is {"base": 0, "per_distance": 0}; the think time at distance 1, base + per_distance, '
            "must be positive.",
        ),
        (
            "think_time",
            {"base": 1, "per_distance": 1, "slope": 2},
            "data.think_time.slope is 2; no such field; known are base, by_distance, by_pair, per_distance.",
        ),
        (
            "think_time",
            {"by_distance": [1, 2], "base": 1},
            "data.think_time.base is 1; no such field; known are by_distance.",
        ),
        (
            "think_time",
            {"by_distance": []},
            "data.think_time.by_distance is []; list the mean think times f(1), f(2), ...",
        ),
        (
            "think_time",
            {"by_distance": [1.0, 1.2, 1.1]},
            "data.think_time.by_distance[2] is 1.1; think times must not fall with distance, 1.2 came before.",
        ),
        (
            "think_time",
            {"by_distance": [1.0, 0]},
            "data.think_time.by_distance[1] is 0; think times are positive numbers.",
        ),
        (
            "think_time",
            {"by_distance": [1.0, math.nan]},
            "data.think_time.by_distance[1] is NaN; think times are positive numbers.",
        ),
        (
            "think_time",
            {"by_distance": [[[1], [1], [1]], [[1], [1], [2, 1]]]},
            "data.think_time.by_distance[1][2][1] is 1; think times must not fall with distance, 2 came before.",
        ),
        (
            "quality",
            7,
            "data.quality is 7; quality is an object with min_throughput, max_delay_probability, delay.",
        ),
        ("quality.delay", -1, "data.quality.delay is -1; quality limits are numbers, zero or more."),
        (
            "quality.min_throughput",
            math.nan,
            "data.quality.min_throughput is NaN; quality limits are numbers, zero or more.",
        ),
        (
            "quality.max_delay_probability",
            1.5,
            "data.quality.max_delay_probability is 1.5; probabilities are at most 1.",
        ),
        ("quality.guarantee", "best", 'data.quality.guarantee is "best"; a guarantee is "worst-case" or "farthest".'),
        (
            "quality.delays",
            1,
            "data.quality.delays is 1; no such field (did you mean 'delay'?); known are delay, guarantee, "
            "max_delay_probability, min_throughput, scenario_probability.",
        ),
        (
            "demands",
            1,
            "data.demands is 1; no such field (did you mean 'demand'?); known are classes, clients, coordinates, "
            "demand, distances, fixed_closed, fixed_open, names, network, opening_cost, operating_cost, processors, "
            "quality, request_share, requests, scenarios, server_types, service_rate, shape, think_time.",
        ),
    ],
)
def test_bad_field_is_refused_with_its_place_its_value_and_the_rule(path, value, sentence):
    with pytest.raises(InstanceError) as caught:
        PlacementProblem.from_data(changed(GOOD, path, value))
    assert str(caught.value) == sentence


PRODUCT = "service_rate x think_time must be between 1e-250 and 1e250, but it is"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("service_rate", 1e300, f"data.service_rate is 1e+300; {PRODUCT} 1e+300 at distance 1."),
        ("service_rate", 1e-300, f"data.service_rate is 1e-300; {PRODUCT} 1e-300 at distance 1."),
        ("service_rate", 5e-324, f"data.service_rate is 5e-324; {PRODUCT} 4.94066e-324 at distance 1."),
        ("service_rate", 10**300, f"data.service_rate is 1e+300; {PRODUCT} 1e+300 at distance 1."),
        (
            "service_rate",
            [[20, 20, 20], [20, 1e300, 20]],
            f"data.service_rate[1][1] is 1e+300; {PRODUCT} 1e+300 at distance 1.",
        ),
        (
            "think_time",
            {"by_distance": [1.0, 1e308]},
            f"data.think_time.by_distance[1] is 1e+308; {PRODUCT} inf at distance 2.",
        ),
        (
            "think_time",
            {"by_distance": [1e-320, 1.0]},
            f"data.think_time.by_distance[0] is 1e-320; {PRODUCT} 1.99998e-319 at distance 1.",
        ),
        (
            "think_time",
            {"by_distance": [[[1], [1], [1]], [[1], [1], [1, 2, 1e260]]]},
            f"data.think_time.by_distance[1][2][2] is 1e+260; {PRODUCT} 2e+261 at distance 3.",
        ),
        ("think_time.base", 1e308, f"data.think_time.base is 1e+308; {PRODUCT} inf at distance 1."),
        ("think_time.base", 1e260, f"data.think_time.base is 1e+260; {PRODUCT} 2e+261 at distance 1."),
        ("think_time.per_distance", 1e308, f"data.think_time.per_distance is 1e+308; {PRODUCT} inf at distance 1."),
        (
            "think_time",
            {"base": 0, "per_distance": 1e-320},
            f"data.think_time.per_distance is 1e-320; {PRODUCT} 1.99998e-319 at distance 1.",
        ),
        (
            "think_time.per_distance",
            [[0.2, 0.2, 0.2], [0.2, 0.2, 3e248]],
            f"data.think_time.per_distance[1][2] is 3e+248; {PRODUCT} 1.2e+250 at distance 2.",
        ),
        ("service_rate", 10**400, f"data.service_rate is 1{'0' * 56}...; service rates are positive numbers."),
        ("demand.0.0", 10**400, f"data.demand[0][0] is 1{'0' * 56}...; demands are whole numbers, zero or more."),
        ("processors", 10**400, f"data.processors is 1{'0' * 56}...; processors are whole numbers from 1."),
        (
            "quality.min_throughput",
            10**400,
            f"data.quality.min_throughput is 1{'0' * 56}...; quality limits are numbers, zero or more.",
        ),
    ],
)
def test_number_too_large_or_small_for_the_queues_is_refused_before_they_meet_it(path, value, sentence):
    with pytest.raises(InstanceError) as caught:
        PlacementProblem.from_data(changed(GOOD, path, value))
    assert str(caught.value) == sentence


def test_crowds_larger_than_the_queues_can_sum_are_refused():
    crowded = changed(GOOD, "demand", [[2_000_000] * 3, [2_000_000] * 3])
    for processors in (1, 12_000_000, 10**9):  # closed forms, for crowds of any size
        problem = PlacementProblem.from_data(changed(crowded, "processors", processors))
        assert problem.describe((1, 0, 0, 0, 0, 0))["load"][0] == 12_000_000
    for place, processors in (("", 2), ("[1][0]", [[1, 1, 1], [2, 1, 1]])):
        with pytest.raises(InstanceError) as caught:
            PlacementProblem.from_data(changed(crowded, "processors", processors))
        assert str(caught.value) == (
            f"data.processors{place} is 2; at most 10000000 clients are supported where there are several processors "
            "and more clients than those, and there are 12000000."
        )


def test_demand_in_all_has_a_limit():
    many = {**GOOD, "shape": [1, 1001], "demand": [[10**9] * 1001], "opening_cost": [[1] * 1001]}
    with pytest.raises(InstanceError, match=r"data.demand is .*at most 1000000000000 clients in all are supported"):
        PlacementProblem.from_data(many)


def test_slow_servers_of_patient_clients_are_fine_up_to_rates_whose_times_are_numbers():
    def ages(rate):
        slow = changed(changed(GOOD, "service_rate", rate), "think_time", {"by_distance": [1 / rate]})
        return PlacementProblem.from_data(changed(slow, "quality.delay", 1 / rate))

    for rate in (1e-200, 1e200):
        described = ages(rate).describe((1,) * 6)
        for name in ("throughput", "delay_probability", "utilisation"):
            assert all(math.isfinite(value) and value > 0 for value in described[name])
    with pytest.raises(InstanceError) as caught:
        ages(1e-280)
    assert str(caught.value) == "data.service_rate is 1e-280; rates from 1e-250 to 1e250 are supported."


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("demand", [1, 2], "data.demand is [1, 2]; the network needs a flat list of 3 entries, 2 came."),
        ("demand", [[1, 2, 3]], "data.demand is [[1, 2, 3]]; the network needs a flat list of 3 entries, 1 came."),
        ("demand.1", -1, "data.demand[1] is -1; demands are whole numbers, zero or more."),
        ("opening_cost", 4, "data.opening_cost is 4; the network needs a flat list of 3 entries, no list came."),
        (
            "network.edges",
            [[0, 1]],
            "data.network.edges is [[0, 1]]; node 2 cannot be reached from node 0; every node must reach every other.",
        ),
    ],
)
def test_bad_field_of_a_network_is_refused_likewise(path, value, sentence):
    with pytest.raises(InstanceError) as caught:
        PlacementProblem.from_data(changed(LINE, path, value))
    assert str(caught.value) == sentence


@pytest.mark.parametrize("field", ["demand", "opening_cost", "service_rate", "think_time", "quality"])
def test_missing_field_is_named(field):
    data = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(MissingField) as caught:
        PlacementProblem.from_data(data)
    or_else = ", or scenarios of it, or classes of clients" if field == "demand" else ""
    assert str(caught.value) == f"data.{field} is missing; a placement needs it{or_else}."


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        (
            "quality.delay",
            "data.quality.delay is missing; quality needs min_throughput, max_delay_probability and delay.",
        ),
        ("think_time.base", "data.think_time.base is missing; a linear think time needs base and per_distance."),
    ],
)
def test_missing_part_of_a_field_is_named(place, sentence):
    data = deepcopy(GOOD)
    field, name = place.split(".")
    del data[field][name]
    with pytest.raises(MissingField) as caught:
        PlacementProblem.from_data(data)
    assert str(caught.value) == sentence


def test_whole_numbers_may_be_written_as_floats():
    problem = PlacementProblem.from_data(changed(GOOD, "demand.0.0", 15.0))
    assert problem.demand[0] == 15
    assert problem.demand.dtype == np.int64


def test_bad_data_of_a_file_are_refused_with_the_name_of_the_file(tmp_path):
    file = tmp_path / "bad.json"
    content = {"format": 1, "kind": "placement", "name": "bad", "data": changed(GOOD, "demand.0.1", -2)}
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InstanceError) as caught:
        load(file)
    assert str(caught.value) == f"{file}: data.demand[0][1] is -2; demands are whole numbers, zero or more."


# -- think times -------------------------------------------------------------------------------------------------------


def test_linear_think_times_are_base_plus_slope_times_distance():
    problem = PlacementProblem.from_data(GOOD)
    assert problem.think_times.shape == (6, 4)
    assert problem.think_times[2].tolist() == pytest.approx([1.0, 1.2, 1.4, 1.6])


def test_listed_think_times_that_end_early_leave_farther_clients_out_of_reach():
    problem = PlacementProblem.from_data(changed(GOOD, "think_time", {"by_distance": [1.0, 1.2]}))
    assert problem.think_times[0].tolist() == [1.0, 1.2, math.inf, math.inf]
    assert (problem.capacity[:, 2:] == 0).all()
    assert (problem.capacity[:, :2] > 0).all()
    assert not problem.evaluate((1, 0, 0, 0, 0, 0)).feasible


def test_listed_think_times_may_be_longer_than_the_longest_distance():
    problem = PlacementProblem.from_data(changed(GOOD, "think_time", {"by_distance": [1.0, 1.2, 1.4, 1.6, 9.0]}))
    assert problem.think_times[0].tolist() == [1.0, 1.2, 1.4, 1.6]


def test_every_site_may_have_its_own_think_times():
    curves = [[[1.0, 1.5], [1.0], [2.0, 2.0, 2.0, 2.0]], [[1.0], [1.0], [1.0]]]
    problem = PlacementProblem.from_data(changed(GOOD, "think_time", {"by_distance": curves}))
    assert problem.think_times[0].tolist() == [1.0, 1.5, math.inf, math.inf]
    assert problem.think_times[2].tolist() == [2.0] * 4


# -- there and back ----------------------------------------------------------------------------------------------------


def assert_same(first, second):
    for name in ("demand", "opening_cost", "service_rate", "processors", "think_times", "distances", "capacity"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
        assert getattr(first, name).dtype == getattr(second, name).dtype
    if first.operating_cost is None:
        assert second.operating_cost is None
    else:
        assert np.array_equal(first.operating_cost, second.operating_cost)
    assert (first.quality, first.shape, type(first.layout)) == (second.quality, second.shape, type(second.layout))


VARIANTS = {
    "grid": GOOD,
    "network": LINE,
    "one cell": {**GOOD, "shape": [1, 1], "demand": [[3]], "opening_cost": [[1]]},
    "operating": {**GOOD, "operating_cost": 0.25},
    "operating by site": {**GOOD, "operating_cost": [[0, 1, 2], [3, 4, 5]]},
    "servers by site": {**GOOD, "service_rate": [[10, 20, 30], [40, 50, 60]], "processors": [[1, 2, 3], [1, 1, 1]]},
    "listed": {**GOOD, "think_time": {"by_distance": [1.0, 1.2]}},
    "listed by site": {**GOOD, "think_time": {"by_distance": [[[1], [1, 2], [1]], [[3], [1], [1, 2, 3, 4, 5]]]}},
    "listed by node": {**LINE, "think_time": {"by_distance": [[1, 2], [1], [1, 2, 3]]}},
    "slope by node": {**LINE, "think_time": {"base": [0.1, 0.2, 0.3], "per_distance": 1}},
    "farthest": {**GOOD, "quality": {**GOOD["quality"], "guarantee": "farthest"}},
    "no delay limit": {**GOOD, "quality": {"min_throughput": 0.6, "max_delay_probability": 1, "delay": 0.6}},
    "no throughput limit": {**GOOD, "quality": {"min_throughput": 0, "max_delay_probability": 0.2, "delay": 0.6}},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_problem_written_and_read_again_is_the_same(variant):
    problem = PlacementProblem.from_data(VARIANTS[variant])
    written = json.loads(json.dumps(problem.to_data(), allow_nan=False))
    again = PlacementProblem.from_data(written)
    assert_same(problem, again)
    assert again.to_data() == written


def test_every_shipped_instance_survives_the_round_trip(instances):
    files = sorted((instances / "placement").glob("*.json"))
    assert len(files) >= 13
    for file in files:
        problem = load(file)
        again = Instance.from_problem(problem).problem()
        for one, other in zip(getattr(problem, "parts", [problem]), getattr(again, "parts", [again]), strict=True):
            assert_same(one, other)


def test_topohub_network_equals_the_one_written_out(instances):
    pytest.importorskip("topohub", reason="the extra 'topohub' is not installed")
    written_out = load(instances / "placement" / "germany50.json")
    data = read(instances / "placement" / "germany50.json").data
    by_name = PlacementProblem.from_data({**data, "network": {"topohub": "sndlib/germany50"}})
    assert np.array_equal(by_name.distances, written_out.distances)
    assert by_name.to_data()["network"] == {"topohub": "sndlib/germany50"}
    assert_same(by_name, PlacementProblem.from_data(by_name.to_data()))


@pytest.mark.parametrize(("name", "seed", "nodes"), [("germany50", 50, 50), ("ta2", 65, 65), ("tatanld", 143, 143)])
def test_random_numbers_of_the_shipped_networks_follow_from_their_seeds(instances, name, seed, nodes):
    problem = load(instances / "placement" / f"{name}.json")
    rng = np.random.default_rng(seed)
    assert problem.demand.tolist() == rng.integers(1, 16, nodes).tolist()
    assert problem.opening_cost.tolist() == rng.integers(1, 4, nodes).tolist()


@pytest.mark.parametrize(
    ("name", "topology"), [("germany50", "sndlib/germany50"), ("ta2", "sndlib/ta2"), ("tatanld", "topozoo/TataNld")]
)
def test_links_of_the_shipped_networks_are_those_of_topohub(instances, name, topology):
    topohub = pytest.importorskip("topohub", reason="the extra 'topohub' is not installed")
    problem = load(instances / "placement" / f"{name}.json")
    assert len(topohub.get(topology)["nodes"]) == problem.space.length
    by_name = PlacementProblem.from_data({**problem.to_data(), "network": {"topohub": topology}})
    assert np.array_equal(by_name.distances, problem.distances)


# -- graphs ------------------------------------------------------------------------------------------------------------

REST = {name: GOOD[name] for name in ("service_rate", "think_time", "quality")}


def test_graph_becomes_a_problem_with_its_nodes_as_sites():
    graph = nx.Graph([("b", "a"), ("a", "c")])
    for node, demand, cost in (("a", 4, 1.5), ("b", 5, 2.5), ("c", 6, 3.5)):
        graph.nodes[node].update(clients=demand, opening_cost=cost)
    problem = PlacementProblem.from_graph(graph, name="letters", demand="clients", **REST)
    assert (problem.name, problem.shape, problem.space.length) == ("letters", None, 3)
    assert problem.demand.tolist() == [5, 4, 6]  # in the order of graph.nodes
    assert problem.opening_cost.tolist() == [2.5, 1.5, 3.5]
    assert problem.distances.tolist() == [[1, 2, 3], [2, 1, 2], [3, 2, 1]]


def test_grid_and_its_graph_are_the_same_problem():
    problem = PlacementProblem.from_data(GOOD)
    graph = nx.grid_2d_graph(2, 3)
    for (i, j), attributes in graph.nodes.items():
        attributes |= {"demand": GOOD["demand"][i][j], "opening_cost": GOOD["opening_cost"][i][j]}
    same = PlacementProblem.from_graph(graph, **REST)
    for decision in problem.space:
        first, second = problem.evaluate(decision), same.evaluate(decision)
        assert (first.objective, first.violations) == (second.objective, second.violations)


def test_node_without_an_attribute_is_named():
    graph = nx.path_graph(2)
    graph.nodes[0].update(demand=1, opening_cost=1)
    graph.nodes[1].update(opening_cost=1)
    with pytest.raises(InstanceError, match=r"node 1 is .*every node needs the attribute 'demand'"):
        PlacementProblem.from_graph(graph, **REST)


def test_graph_in_two_parts_is_refused():
    graph = nx.Graph()
    graph.add_nodes_from([0, 1], demand=1, opening_cost=1)
    with pytest.raises(InstanceError, match="node 1 cannot be reached from node 0"):
        PlacementProblem.from_graph(graph, **REST)


def test_graph_without_nodes_is_refused():
    with pytest.raises(InstanceError, match=r"data.network.nodes is 0; the number of nodes is a whole number from 1"):
        PlacementProblem.from_graph(nx.Graph(), **REST)
