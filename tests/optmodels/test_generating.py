"""Seeded random instances."""

import doctest
import re
from dataclasses import dataclass
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest

import optmodels.generating
from optmodels import registry
from optmodels.errors import InstanceError, RequestError
from optmodels.generating import generate, generate_to
from optmodels.instance import Instance, read
from optmodels.kinds import Kind
from optmodels.placement.generate import draw_costs, draw_demand, gabriel_edges
from optmodels.testing import check_problem


def test_the_example_in_the_documentation_holds():
    assert doctest.testmod(optmodels.generating).failed == 0


@pytest.mark.parametrize(
    "small",
    [{"rows": 3, "columns": 4}, *({"network": law, "nodes": 12} for law in ("gabriel", "geometric", "waxman"))],
    ids=str,
)
def test_the_same_seed_gives_the_same_instance_and_another_another(small):
    assert generate("placement", seed=1, **small) == generate("placement", seed=1, **small)
    assert generate("placement", seed=1, **small).data != generate("placement", seed=2, **small).data


def test_the_defaults_are_those_of_the_paper():
    data = generate("placement", rows=11, columns=22).data
    assert data["shape"] == [11, 22]
    assert (data["service_rate"], data["think_time"]) == (50, {"base": 0.48, "per_distance": 0.02})
    quality = data["quality"]
    assert (quality["min_throughput"], quality["max_delay_probability"], quality["delay"]) == (1.7, 0.1, 0.16)
    assert {value for row in data["demand"] for value in row} == set(range(1, 16))
    assert {value for row in data["opening_cost"] for value in row} == {1, 2, 3}


@pytest.mark.parametrize(
    "options",
    [
        {"rows": 3, "columns": 3},
        {"rows": 1, "columns": 1},
        {"rows": 1, "columns": 9},
        {"network": "gabriel", "nodes": 10},
    ],
    ids=str,
)
def test_what_is_generated_is_a_problem_that_keeps_the_rules(options):
    check_problem(generate("placement", **options).problem(), decisions=5, steps=30)


@pytest.mark.parametrize("law", ["gabriel", "geometric", "waxman"])
@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 60])
def test_networks_are_connected_and_simple(law, nodes):
    network = generate("placement", network=law, nodes=nodes, seed=nodes).data["network"]
    assert network["nodes"] == nodes
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(network["edges"])
    assert nx.is_connected(graph)
    assert graph.number_of_edges() == len(network["edges"])
    assert not list(nx.selfloop_edges(graph))


def test_gabriel_edges_are_those_of_the_definition():
    places = np.random.default_rng(3).random((25, 2))
    wanted = []
    for u in range(25):
        for v in range(u + 1, 25):
            centre, radius = (places[u] + places[v]) / 2, np.linalg.norm(places[u] - places[v]) / 2
            others = [w for w in range(25) if w not in (u, v)]
            if all(np.linalg.norm(places[w] - centre) >= radius for w in others):
                wanted.append((u, v))
    assert gabriel_edges(places) == wanted


def test_demand_laws_differ_as_they_say():
    rng = np.random.default_rng(0)
    places = np.indices((30, 30)).reshape(2, -1).T / 30
    uniform, cluster, sparse = (draw_demand(law, places, rng) for law in ("uniform", "cluster", "sparse"))
    assert uniform.min() == 1
    assert uniform.max() == 15
    assert 0.25 < (sparse > 0).mean() < 0.42
    assert cluster.min() >= 1
    assert cluster.mean() < uniform.mean()
    assert draw_demand("sparse", places[:1], rng).sum() >= 1


def test_cost_laws_differ_as_they_say():
    rng = np.random.default_rng(0)
    assert set(draw_costs("integers", 100, rng)) == {1, 2, 3}
    continuous = draw_costs("continuous", 100, rng)
    assert continuous.min() >= 1
    assert continuous.max() <= 3
    assert len(set(continuous)) > 50
    assert draw_costs("lognormal", 1000, rng).min() > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rows": 0}, "rows must be 1 or more, got 0"),
        ({"row": 3}, "has no parameter 'row' (did you mean 'rows'?); it takes rows=8"),
        ({"rows": "many"}, "parameter 'rows' is a whole number, got 'many'"),
        ({"network": "ring"}, "parameter 'network' is one of gabriel, geometric, waxman"),
        ({"demand_law": "odd"}, "parameter 'demand_law' is one of uniform, cluster, sparse"),
        ({"rows": 1000, "columns": 1000}, "at most 5000 sites"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"network": "gabriel", "rows": 8}, "rows is the size of a grid, and network is 'gabriel'; give nodes instead"),
        ({"network": "waxman", "nodes": 9, "columns": 8}, "columns is the size of a grid, and network is 'waxman'"),
        ({"nodes": 9}, "nodes are those of a network; name one by network"),
        ({"nodes": 9, "network": "none"}, "nodes are those of a network; name one by network"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(RequestError, match=re.escape(sentence)):
        generate("placement", **options)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"service_rate": -1}, "data.service_rate is -1"),
        ({"service_rate": "0"}, "data.service_rate is 0"),
        ({"base": -1, "per_distance": 0}, "data.think_time.base is -1"),
        ({"base": 0, "per_distance": 0}, "data.think_time is"),
        ({"min_throughput": -1}, "data.quality.min_throughput is -1"),
        ({"max_delay_probability": 2}, "data.quality.max_delay_probability is 2"),
        ({"delay": float("inf")}, "data.quality.delay is Infinity"),
        ({"name": "two\nlines"}, "name is"),
    ],
)
def test_what_a_reader_would_refuse_is_not_made(options, field):
    with pytest.raises(InstanceError, match=field):
        generate("placement", rows=2, columns=2, **options)


def test_limits_nobody_can_meet_are_still_an_instance():
    quality = generate("placement", rows=2, columns=2, max_delay_probability=0).data["quality"]
    assert quality["max_delay_probability"] == 0


def test_another_kind_can_offer_its_own(tmp_path):
    class Owned:
        @classmethod
        def from_data(cls, data, **others):
            return cls()

    @dataclass(frozen=True)
    class Mine:
        size: int = 3
        kind: ClassVar[str] = "mine"

        def instance(self):
            return Instance(format=1, kind="mine", name="m", data={"size": self.size})

    record = Kind("mine", "Whose is it?", "nobody", Owned, {"size": "how many"}, generator=Mine)
    registry.kinds.register("mine", record)
    try:
        assert generate("mine", size="5").data == {"size": 5}
        for size in (5, 6):  # what it wrote is known by its source, and replaced
            generate_to(tmp_path / "m.json", "mine", {"size": size})
        assert read(tmp_path / "m.json").source == "optmodels generate mine"
        assert read(tmp_path / "m.json").data == {"size": 6}
    finally:
        registry.kinds.unregister("mine")


def test_a_kind_without_a_generator_is_told_those_that_have_one():
    registry.kinds.register("bare", Kind("bare", "What is it?", "nobody", "collections:Counter", {"size": "how many"}))
    try:
        with pytest.raises(RequestError, match=r"no random instances of kind 'bare' can be made, only .* placement"):
            generate("bare")
    finally:
        registry.kinds.unregister("bare")


def test_an_unknown_kind_is_answered_with_the_nearest():
    with pytest.raises(LookupError, match="Did you mean 'placement'"):
        generate("placment")
