"""The index rule and the integer-density bound: against linear programs, enumeration and plain loops."""

import math

import numpy as np
import pytest
from gap_costs import forgotten, powers, stale_times
from scipy.optimize import linprog

from heuristics import Words
from heuristics.routing import GapTable, densities, word_cost
from heuristics.routing.server_densities import dual_bound, exchanged, index_run, index_word, indices
from heuristics.testing import losses


def random_tables(rng, servers):
    rates, weights = 10 ** rng.uniform(-1, 1, servers), 10 ** rng.uniform(-0.5, 0.5, servers)
    return [losses(rates, weights), stale_times(rates, weights), powers(weights, 2)][rng.integers(3)]


def relaxed(tables, count=400):
    """The least cost over densities of gaps: y of a server's slots lie in gaps of d, or in no gap at all."""
    table = tables(count)
    gaps = np.arange(1, count + 1)
    costs = [*(table.costs / gaps).ravel(), *np.where(np.isfinite(table.slopes), table.slopes, 1e6)]
    every = np.zeros((table.servers + 1, len(costs)))
    for m in range(table.servers):
        every[m, m * count : (m + 1) * count] = 1.0
        every[m, table.servers * count + m] = 1.0
        every[-1, m * count : (m + 1) * count] = 1.0 / gaps
    return linprog(costs, A_eq=every, b_eq=np.ones(table.servers + 1)).fun


@pytest.mark.parametrize("case", range(12))
def test_the_density_bound_is_that_of_a_linear_program(case):
    rng = np.random.default_rng(case)
    tables = random_tables(rng, int(rng.integers(2, 6)))
    found = densities(tables)
    assert found.bound == pytest.approx(relaxed(tables), rel=1e-8)
    assert found.shares.sum() == pytest.approx(1.0)
    prices = found.price + rng.normal(0, 0.1 * abs(found.price), 20)
    assert all(dual_bound(found.table, price) <= found.bound + 1e-15 for price in prices)


@pytest.mark.parametrize("case", range(6))
def test_no_word_is_below_the_density_bound(case):
    rng = np.random.default_rng(100 + case)
    tables = random_tables(rng, 3)
    table, bound = tables(12), densities(tables).bound
    assert all(word_cost(table, word) >= bound for word in Words(3, range(1, 10)))


@pytest.mark.parametrize("case", range(10))
def test_two_servers_attain_the_bound_by_the_index_rule(case):
    rng = np.random.default_rng(200 + case)
    tables = random_tables(rng, 2)
    found = densities(tables)
    word = index_word(found)
    assert word_cost(tables(3000), word) == pytest.approx(found.bound, rel=1e-12)


def test_indices_rise_to_their_limits():
    for tables in (losses([0.3, 2.0], [1, 5]), stale_times([0.3, 2.0], [1, 5])):
        table = tables(200)
        index = indices(table)
        assert np.all(np.diff(index, axis=1) >= 0)
        assert np.allclose(index[:, -1], -table.limits, atol=1e-9)
    assert np.allclose(indices(powers([1, 2], 2)(6))[0], [2, 6, 12, 20, 30])  # d (d + 1)


def test_the_run_takes_the_largest_index_in_every_slot():
    table = losses([0.2, 0.9, 3.0])(64)
    index = indices(table)
    run = index_run(index, np.array([9, 3, 2]), 300)
    last = {int(m): t for t, m in enumerate(run[:50])}
    for slot in range(50, 300):
        values = [index[m, min(slot - last[m], 63) - 1] for m in range(3)]
        assert run[slot] == int(np.argmax(values))
        last[int(run[slot])] = slot


def test_words_of_a_long_run_close_well():
    """No period in reach: what closing costs is shared by the hundred slots that each server has in a word."""
    rng = np.random.default_rng(3)
    tables = losses(10 ** rng.uniform(-1, 1, 40), arrivals=20.0)
    found = densities(tables)
    word = index_word(found)
    cost = word_cost(tables(4000), word)
    run = index_run(indices(found.table), found.gaps, 40_000)[20_000:]
    assert found.bound <= cost <= 1.001 * word_cost(tables(4000), run)
    assert cost <= 1.04 * found.bound  # what the rule loses is not in how words close


def test_exchanges_end_where_no_single_one_helps():
    table = losses([0.5, 1, 1.5, 2, 4])(200)
    start = np.array([0, 1, 2, 3, 4, 4])
    word = exchanged(table, start)
    cost = word_cost(table, word)
    assert cost < word_cost(table, start)
    for i in range(len(word)):
        others = [np.delete(word, i)] + [np.insert(word, i, m) for m in range(5)]
        for m in range(5):
            others.append(np.concatenate((word[:i], [m], word[i + 1 :])))
        swapped = word.copy()
        swapped[[i, i - 1]] = swapped[[i - 1, i]]
        assert all(word_cost(table, other) >= cost * (1 - 1e-9) for other in [*others, swapped])


def test_words_cost_the_mean_of_their_gaps():
    table = losses([0.5, 1.0, 2.0], [1, 2, 3])(9)
    by_hand = (table.costs[0, 1] + table.costs[0, 2] + table.costs[1, 4] + table.costs[2, 0] + table.costs[2, 3]) / 5
    assert word_cost(table, (0, 2, 2, 0, 1)) == pytest.approx(by_hand, rel=1e-14)


def test_servers_never_used_cost_their_slope():
    assert word_cost(stale_times([1.0, 2.0], [3.0, 5.0])(4), (0,)) == pytest.approx(3.0 * (1 - 0.5) + 5.0)
    assert word_cost(losses([1.0, 2.0])(4), (1,)) == pytest.approx(1 / 3)
    assert word_cost(powers([1, 1], 2)(4), (0,)) == math.inf
    assert word_cost(forgotten(losses([1.0, 2.0]))(4), (0,)) == math.inf


def test_gaps_beyond_the_table_go_on_along_its_end():
    table = GapTable(np.array([[1.0, 3.0, 6.0], [0.0, 0.0, 0.0]]), np.array([5.0, 0.0]), np.array([-9.0, 0.0]))
    assert word_cost(table, (0, 1, 1, 1, 1)) == pytest.approx((6 + 2 * 3) / 5)


def test_a_page_of_little_weight_is_never_visited():
    found = densities(stale_times([0.5, 1, 2], [0.05, 1, 2]))
    assert found.gaps[0] == 0 and found.shares[0] == 0
    assert 0 not in index_word(found)


def test_unknown_slopes_prove_nothing():
    found = densities(forgotten(losses([0.5, 1])))
    assert found.bound == -math.inf
    assert word_cost(losses([0.5, 1])(99), index_word(found)) == pytest.approx(densities(losses([0.5, 1])).bound)
