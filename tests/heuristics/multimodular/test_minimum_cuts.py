"""Minimum cuts with any capacities, and best sets by them, against brute force and networkx."""

import math
from itertools import product

import networkx as nx
import numpy as np
import pytest

from heuristics.multimodular.minimum_cuts import best_set


def minimum_cut(nodes, tails, heads, capacities, source, sink):
    """The source's side of a cut, and its capacity: nothing is gained but by the source, and lost but by the sink."""
    single = np.zeros(nodes)
    single[source], single[sink] = -math.inf, math.inf
    tails, heads, capacities = np.array(tails), np.array(heads), np.array(capacities, dtype=float)
    inside = best_set(single, tails, heads, capacities)
    return inside, capacities[inside[tails] & ~inside[heads]].sum()


def random_graph(rng, nodes, infinite=0.0):
    count = int(rng.integers(nodes, nodes * nodes))
    tails, heads = rng.integers(0, nodes, size=(2, count))
    capacities = np.where(rng.random(count) < infinite, math.inf, rng.exponential(size=count))
    capacities[rng.random(count) < 0.1] = 0.0
    return tails, heads, capacities


@pytest.mark.parametrize("seed", range(40))
def test_cuts_are_those_of_brute_force_and_networkx(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 9))
    tails, heads, capacities = random_graph(rng, nodes)
    inside, value = minimum_cut(nodes, tails, heads, capacities, 0, nodes - 1)
    assert inside[0] and not inside[-1]

    def leaving(inside):
        return sum(c for t, h, c in zip(tails, heads, capacities, strict=True) if inside[t] and not inside[h])

    least = min(leaving((True, *inner, False)) for inner in product((False, True), repeat=nodes - 2))
    assert value == pytest.approx(least, rel=1e-12, abs=1e-14)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    for t, h, c in zip(tails.tolist(), heads.tolist(), capacities.tolist(), strict=True):
        if t != h:
            graph.add_edge(t, h, capacity=c + (graph[t][h]["capacity"] if graph.has_edge(t, h) else 0.0))
    assert value == pytest.approx(nx.minimum_cut_value(graph, 0, nodes - 1), rel=1e-9, abs=1e-12)


def test_a_larger_graph_agrees_with_networkx():
    rng = np.random.default_rng(5)
    nodes = 60
    tails, heads = np.array([(i, j) for i in range(nodes) for j in range(nodes) if i != j]).T
    capacities = rng.exponential(size=len(tails)) * (rng.random(len(tails)) < 0.2)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(tails.tolist(), heads.tolist(), capacities.tolist(), strict=True), "capacity")
    _, value = minimum_cut(nodes, tails, heads, capacities, 0, 1)
    assert value == pytest.approx(nx.minimum_cut_value(graph, 0, 1), rel=1e-9)


def test_infinite_capacities_are_not_cut():
    inside, value = minimum_cut(4, [0, 1, 2, 1], [1, 2, 3, 3], [5.0, math.inf, 2.0, 1.0], 0, 3)
    assert value == 3.0
    assert inside.tolist() == [True, True, True, False]


def test_a_sink_out_of_reach_costs_nothing():
    assert minimum_cut(3, [0], [1], [1.0], 0, 2)[1] == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_best_sets_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    tails, heads, capacities = random_graph(rng, size, infinite=0.1)
    single = rng.normal(size=size) * 3

    def cost(inside):
        left = [c for t, h, c in zip(tails, heads, capacities, strict=True) if inside[t] and not inside[h]]
        return sum(left) + sum(s for s, x in zip(single, inside, strict=True) if x)

    least = min(map(cost, product((False, True), repeat=size)))
    assert cost(best_set(single, tails, heads, capacities)) == pytest.approx(least, rel=1e-12, abs=1e-12)
