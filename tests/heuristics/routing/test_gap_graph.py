"""Graphs of gaps and cycles of least mean cost: against plain enumeration, Karp, networkx and value iteration."""

import itertools

import networkx as nx
import numpy as np
import pytest
from gap_costs import powers, stale_times

from heuristics.routing import Charges, GapGraph, Kinds, RoutingSweeps, densities, least_mean_cycle, word_cost
from heuristics.routing.gap_graph import TooManyStates, carried
from heuristics.routing.howard import lowest_slack
from heuristics.routing.min_mean_cycle import best_cycles
from heuristics.testing import losses


def graph_of(limits, sizes=None, most=100_000):
    limits = np.array(limits)
    return GapGraph.of(limits, np.ones_like(limits) if sizes is None else np.array(sizes), most)


def karp_mean(following, gaps, charges):
    """The least mean of a cycle reached from state 0, by Karp's algorithm (Discrete Mathematics 23, 1978)."""
    states, choices = following.shape
    costs = charges[np.arange(choices), gaps - 1]
    walks = np.full((states + 1, states), np.inf)
    walks[0, 0] = 0.0
    for k in range(states):
        np.minimum.at(walks[k + 1], following, walks[k][:, None] + costs)
    ends = np.isfinite(walks[-1])
    means = (walks[-1, ends] - walks[:-1, ends]) / (states - np.arange(states))[:, None]
    return means.max(axis=0).min()


def reached(limits):
    """States of distinct servers by plain search, from the one in which all are saturated."""
    start = tuple(limits)
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        for m in range(len(limits)):
            after = tuple(1 if i == m else min(x + 1, b) for i, (x, b) in enumerate(zip(state, limits, strict=True)))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def unpacked(graph):
    rest, columns = graph.keys.copy(), []
    for limit, size in zip(graph.limits, graph.sizes, strict=True):
        for _ in range(size):
            columns.append(rest % limit + 1)
            rest //= limit
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("limits", [(1,), (3, 2), (5, 3, 2), (4, 4, 4), (7, 1, 3, 2)])
def test_the_states_are_those_that_can_occur(limits):
    graph = graph_of(limits)
    states = [tuple(row) for row in unpacked(graph).tolist()]
    assert len(set(states)) == graph.states and set(states) == reached(limits)
    for state, row in enumerate(states):
        for m in range(len(limits)):
            after = tuple(1 if i == m else min(x + 1, b) for i, (x, b) in enumerate(zip(row, limits, strict=True)))
            assert states[graph.following[state, m]] == after
            assert graph.gaps[state, m] == row[m]


def test_states_have_one_server_at_gap_one_and_no_two_alike_below_their_limits():
    gaps = unpacked(graph_of((9, 5, 4)))[1:]
    assert np.all(np.count_nonzero(gaps == 1, axis=1) == 1)
    unsaturated = np.where(gaps < np.array([9, 5, 4]), gaps, -np.arange(3))
    assert all(len(set(row)) == 3 for row in unsaturated.tolist())


def test_servers_of_one_kind_are_kept_in_order_and_the_longest_gap_is_closed():
    graph = graph_of((6, 3), sizes=(3, 1))
    gaps = unpacked(graph)
    assert np.all(np.diff(gaps[:, :3], axis=1) <= 0)
    assert np.array_equal(graph.gaps[:, 0], gaps[:, 0])
    assert graph.states < graph_of((6, 6, 6, 3)).states / 3


def test_rooms_for_states_are_made_as_they_are_needed_and_not_beyond_what_is_allowed():
    states = graph_of((30, 20, 10, 5)).states
    assert states > 5000
    assert graph_of((30, 20, 10, 5), most=states + 4).states == states
    with pytest.raises(TooManyStates):
        graph_of((30, 20, 10, 5), most=states - 5)
    with pytest.raises(TooManyStates):
        graph_of((1000,) * 10)


def test_kinds_share_turns_among_their_members():
    kinds = Kinds.of(losses([1, 2, 1, 1])(8))
    assert kinds.members == ((0, 2, 3), (1,))
    assert kinds.servers(np.array([0, 1, 0])) == (0, 1, 2, 3, 1, 0, 2, 1, 3)
    assert kinds.spread(np.array([7, 5])) == (7, 5, 7, 7)


@pytest.mark.parametrize("tables", [losses([0.4, 2.0]), stale_times([0.4, 2.0], [1, 3]), powers([1, 2], 1.5)])
def test_charges_are_never_above_costs(tables):
    """A gap of d slots is charged base d + e(min(d, B)); exact up to B + 1 on chords, below B on asymptotes."""
    table = tables(40)
    kinds, limits = Kinds.of(table), np.array([5, 3])
    for asymptotic in (False, True):
        if asymptotic and not np.all(np.isfinite(table.slopes)):
            continue
        lines = np.full(2, asymptotic)
        charges = Charges.of(table, kinds, limits, lines)
        for k in range(2):
            slope = table.slopes[k] if asymptotic else table.costs[k, limits[k]] - table.costs[k, limits[k] - 1]
            gaps = np.arange(1, 41)
            charged = slope * gaps + charges.values[k, np.minimum(gaps, limits[k]) - 1]
            assert np.all(charged <= table.costs[k] + 1e-12)
            exact = limits[k] - 1 if asymptotic else limits[k] + 1
            assert np.allclose(charged[:exact], table.costs[k, :exact], rtol=1e-13)
            assert charged[exact + 1] < table.costs[k, exact + 1] - 1e-6


def random_tables(rng):
    kind = rng.integers(3)
    count = int(rng.integers(2, 5))
    rates, weights = 10 ** rng.uniform(-1, 1, count), 10 ** rng.uniform(-0.5, 0.5, count)
    return losses(rates, weights) if kind == 0 else stale_times(rates, weights) if kind == 1 else powers(weights, 2)


@pytest.mark.parametrize("case", range(12))
def test_howard_karp_and_value_iteration_agree(case):
    rng = np.random.default_rng(case)
    tables = random_tables(rng)
    table = tables(20)
    kinds = Kinds.of(table)
    limits = rng.integers(1, 7, table.servers)
    charges = Charges.of(table, kinds, limits, np.isfinite(table.slopes) & (rng.random(table.servers) < 0.5))
    graph = graph_of(limits)
    found = least_mean_cycle(graph, charges.values)
    assert found.mean == pytest.approx(karp_mean(graph.following, graph.gaps, charges.values), rel=1e-10, abs=1e-12)
    assert found.lower <= found.mean and found.lower == pytest.approx(found.mean, rel=1e-10, abs=1e-12)
    sweeps = RoutingSweeps(graph, charges, kinds, tables)
    values = sweeps.start()
    for _ in range(20_000):
        swept = sweeps.sweep(values)
        values = swept.values
        if swept.upper - swept.lower <= 1e-9:
            break
    assert swept.lower - 1e-12 <= charges.base + found.mean <= swept.upper + 1e-12
    assert swept.upper - swept.lower <= 1e-9


@pytest.mark.parametrize("case", range(4))
def test_no_cycle_of_networkx_is_below_the_least_mean(case):
    """Costs less the least mean have no negative cycle; costs less a little more have one."""
    table = losses(10 ** np.random.default_rng(case).uniform(-0.5, 0.5, 3))(10)
    limits = np.array([4, 3, 3])
    graph = graph_of(limits)
    charges = Charges.of(table, Kinds.of(table), limits, np.array([False, True, False]))
    mean = least_mean_cycle(graph, charges.values).mean

    def lowered(by):
        plain = nx.DiGraph()
        for state, k in itertools.product(range(graph.states), range(3)):
            cost = charges.values[k, graph.gaps[state, k] - 1] - by
            plain.add_edge(state, int(graph.following[state, k]), weight=cost)
        return plain

    assert not nx.negative_edge_cycle(lowered(mean - 1e-9))
    assert nx.negative_edge_cycle(lowered(mean + 1e-9))


def test_any_values_of_states_prove_a_bound():
    table = losses([0.3, 1, 4])(20)
    graph = graph_of((9, 5, 3))
    charges = Charges.of(table, Kinds.of(table), np.array([9, 5, 3]), np.zeros(3, bool))
    mean = least_mean_cycle(graph, charges.values).mean
    for seed in range(20):
        values = np.random.default_rng(seed).normal(0, 0.1, graph.states)
        assert lowest_slack(graph, charges.values, values) < mean


def test_values_are_carried_to_a_larger_graph_by_gaps():
    small, large = graph_of((3, 2)), graph_of((5, 3))
    values = unpacked(small) @ np.array([10.0, 1.0])
    assert np.array_equal(carried(large, small, values), np.minimum(unpacked(large), [3, 2]) @ np.array([10.0, 1.0]))


def test_equal_servers_end_in_round_robin():
    tables = losses([1.0] * 6)
    *_, last = best_cycles(tables, densities(tables))
    assert sorted(last.word) == list(range(6)) and last.states <= 6
    assert last.cost == pytest.approx(0.5**6, rel=1e-14)


def test_ties_do_not_keep_howard_going_round():
    """Equal servers that are not told to be of one kind: very many best cycles."""
    table = losses([1.0] * 4)(12)
    kinds = Kinds(tuple((m,) for m in range(4)))
    limits = np.full(4, 6)
    graph = graph_of(limits)
    charges = Charges.of(table, kinds, limits, np.zeros(4, bool))
    found = least_mean_cycle(graph, charges.values)
    assert found.iterations < 50
    assert charges.base + found.mean == pytest.approx(0.5**4, rel=1e-12)


def test_the_word_of_a_cycle_costs_its_mean_where_gaps_are_exact():
    tables = losses([0.5, 1, 2, 4])
    *_, last = best_cycles(tables, densities(tables))
    assert last.lower == pytest.approx(last.cost, rel=1e-12)
    assert last.cost == word_cost(tables(40), last.word)
