"""Minimum cuts with any capacities, and steepest descent by them, against brute force and networkx."""

import math
from itertools import product

import networkx as nx
import numpy as np
import pytest

from heuristics.multimodular.functions import differences, midpoint_violation
from heuristics.multimodular.minimum_cuts import (
    DifferenceSum,
    Term,
    best_set,
    minimum_cut,
    steepest_descent,
    tried_step,
)


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
    cut = minimum_cut(nodes, tails, heads, capacities, 0, nodes - 1)
    assert cut.inside[0] and not cut.inside[-1]

    def leaving(inside):
        return sum(c for t, h, c in zip(tails, heads, capacities, strict=True) if inside[t] and not inside[h])

    least = min(leaving((True, *inner, False)) for inner in product((False, True), repeat=nodes - 2))
    assert cut.value == pytest.approx(least, rel=1e-12, abs=1e-14)
    assert cut.value == pytest.approx(leaving(cut.inside), rel=1e-12, abs=1e-14)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    for t, h, c in zip(tails.tolist(), heads.tolist(), capacities.tolist(), strict=True):
        if t != h:
            graph.add_edge(t, h, capacity=c + (graph[t][h]["capacity"] if graph.has_edge(t, h) else 0.0))
    assert cut.value == pytest.approx(nx.minimum_cut_value(graph, 0, nodes - 1), rel=1e-9, abs=1e-12)


def test_a_larger_graph_agrees_with_networkx():
    rng = np.random.default_rng(5)
    nodes = 60
    tails, heads = np.array([(i, j) for i in range(nodes) for j in range(nodes) if i != j]).T
    capacities = rng.exponential(size=len(tails)) * (rng.random(len(tails)) < 0.2)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(tails.tolist(), heads.tolist(), capacities.tolist(), strict=True), "capacity")
    cut = minimum_cut(nodes, tails, heads, capacities, 0, 1)
    assert cut.value == pytest.approx(nx.minimum_cut_value(graph, 0, 1), rel=1e-9)


def test_infinite_capacities_are_not_cut():
    cut = minimum_cut(4, [0, 1, 2, 1], [1, 2, 3, 3], [5.0, math.inf, 2.0, 1.0], 0, 3)
    assert cut.value == 3.0
    assert cut.inside.tolist() == [True, True, True, False]


def test_a_sink_out_of_reach_costs_nothing():
    assert minimum_cut(3, [0], [1], [1.0], 0, 2).value == 0.0


@pytest.mark.parametrize("capacity", [-1.0, math.nan])
def test_capacities_are_numbers_of_0_or_more(capacity):
    with pytest.raises(ValueError, match="capacities must be 0 or more, got"):
        minimum_cut(2, [0, 0], [1, 1], [1.0, capacity], 0, 1)


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


def random_sum(rng, size):
    """Convex functions of entries in a range and of differences, some of them with walls."""

    def bowl(centre, weight, width):
        return lambda value: weight * abs(value - centre) ** 1.5 if abs(value - centre) <= width else math.inf

    entries = [bowl(int(rng.integers(-2, 3)), rng.exponential(), 5) for _ in range(size)]
    if size > 2:
        entries[0] = None
    terms = [
        Term(i, j, bowl(int(rng.integers(-1, 2)), rng.exponential(), 12 if rng.random() < 0.7 else 4))
        for i in range(size)
        for j in range(size)
        if i != j and rng.random() < 0.6
    ]
    return DifferenceSum(entries, [*terms, Term(0, size - 1, bowl(0, 0.1, 12))])


@pytest.mark.parametrize("seed", range(20))
def test_steps_and_descents_agree_with_all_sets_and_all_points(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    function = random_sum(rng, size)
    lower, upper = (-3,) * size, (3,) * size
    assert midpoint_violation(function, (-2,) * size, (1,) * size) is None
    start = (0,) * size
    for sign in (1, -1):
        assert function.step(start, sign).change == pytest.approx(tried_step(function, start, sign).change, abs=1e-12)
    point, value = steepest_descent(function, start)
    assert function(point) == value
    assert value == pytest.approx(steepest_descent(function.__call__, start)[1], rel=1e-12)
    points = product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True)))
    assert value <= min(map(function, points)) + 1e-12


def test_words_with_a_share_are_found_by_cuts():
    """Two servers, P of n packets to the first: empty windows of k slots cost the k-th bend of its costs."""
    length, routed = 9, 3
    costs = ([2.0**-d for d in range(1, 20)], [3.0**-d for d in range(1, 20)])
    bends = [[c[k] - 2 * c[k - 1] + c[k - 2] for k in range(2, length)] for c in costs]

    def empty(weight, first):
        return lambda difference: weight * max(0, 1 - (difference if first is None else first - difference))

    terms = []
    for t in range(length):
        j, turn = (t + 1) % length, routed * (t + 1 == length)
        terms.append(Term(t, j, lambda d, turn=turn: 0.0 if 0 <= d + turn <= 1 else math.inf))
        for k in range(2, length):
            j, turn = (t + k) % length, routed * (t + k >= length)
            one, other = empty(bends[0][k - 2], None), empty(bends[1][k - 2], k)
            terms.append(Term(t, j, lambda d, turn=turn, one=one, other=other: one(d + turn) + other(d + turn)))
    function = DifferenceSum([None] * length, terms)
    counts, value = steepest_descent(function, tuple(min(t, routed) for t in range(length)))
    word = differences((*counts, counts[0] + routed))[1:]
    assert sorted(np.diff([t for t, x in enumerate(word + word) if x]).tolist()) == [3] * 5
    by_words = []
    for other in product((0, 1), repeat=length):
        if sum(other) == routed:
            by_words.append(function(tuple(np.cumsum((0, *other[:-1])).tolist())))
    assert len(by_words) == 84
    assert value == pytest.approx(min(by_words), rel=1e-13)


def test_sets_of_many_entries_are_not_tried():
    with pytest.raises(ValueError, match="sets of at most 20 entries are tried one by one, got 21"):
        tried_step(sum, (0,) * 21, 1)


def test_descents_begin_where_the_function_is_finite():
    with pytest.raises(ValueError, match="the function must be finite at the start, got inf"):
        steepest_descent(lambda point: math.inf, (0,))
