"""Bounds that keep the gaps of some servers and give the others a price."""

import numpy as np
import pytest
from gap_costs import forgotten, powers, stale_times

from heuristics.routing import densities, word_cost
from heuristics.routing.min_mean_cycle import best_cycles
from heuristics.routing.pricing import priced_bounds, waiting_values
from heuristics.routing.server_densities import dual_parts, excesses
from heuristics.testing import losses


def tables_of(case):
    rng = np.random.default_rng(case)
    rates, weights = 10 ** rng.uniform(-0.7, 0.7, 4), 10 ** rng.uniform(-0.5, 0.5, 4)
    return [losses(rates, weights), stale_times(rates, weights), powers(weights, 2)][case % 3]


@pytest.mark.parametrize("case", range(9))
@pytest.mark.parametrize("states", [60, 2000])
def test_bounds_are_between_densities_and_the_optimum(case, states):
    tables = tables_of(case)
    found = densities(tables)
    *_, last = best_cycles(tables, found)
    steps = list(priced_bounds(tables, found, states=states))
    assert steps
    for step in steps:
        assert step.lower <= last.cost * (1 + 1e-12)
        assert word_cost(tables(3000), step.word) >= last.cost * (1 - 1e-12)
        assert step.states <= states + 4 and 2 <= len(step.kept) <= 3
    best = max(step.lower for step in steps)
    assert best >= found.bound - 1e-12 * abs(found.bound)


def test_more_states_keep_more_servers_and_prove_more():
    tables = losses([0.19, 0.42, 0.7, 1.06, 7.89, 7.96])
    found = densities(tables)
    few, many = (list(priced_bounds(tables, found, states=states)) for states in (3000, 50_000))
    assert few[0].kept == many[0].kept[:-1]
    lows = [found.bound, max(step.lower for step in few), max(step.lower for step in many)]
    assert lows[0] < 0.9 * lows[1] and lows[1] < 0.99 * lows[2]
    assert lows[2] > 0.99 * min(word_cost(tables(3000), step.word) for step in many)


def test_too_few_states_keep_nothing():
    tables = losses([0.5, 1, 2, 4])
    assert not list(priced_bounds(tables, densities(tables), states=5))


def test_unknown_slopes_give_words_only():
    tables = forgotten(losses([0.5, 1, 2, 4]))
    steps = list(priced_bounds(tables, densities(tables), states=500))
    assert steps and all(step.lower == -np.inf and set(step.word) == {0, 1, 2, 3} for step in steps)


@pytest.mark.parametrize("tables", [losses([0.3, 2.0]), stale_times([0.3, 2.0], [1, 3]), powers([1, 2], 2)])
def test_values_of_waiting_solve_the_problem_of_one_server(tables):
    """u(x) = min(e(x) + price + u(1), u(x + 1)) - v with u(1) = 0, by plain iteration over policies."""
    table = tables(60)
    price = densities(tables).price
    costs, slopes = excesses(table), np.where(np.isfinite(table.slopes), table.slopes, 0.0)
    gained = waiting_values(table, price)
    for m in range(2):
        mean = dual_parts(table, price)[m] - slopes[m]
        values = np.zeros(61)
        values[60] = np.inf
        for x in range(59, -1, -1):
            values[x] = min(costs[m, x] + price, values[x + 1]) - mean
        assert values[0] == pytest.approx(0.0, abs=1e-12)
        expected = costs[m, :-1] - values[1:60]
        assert np.allclose(gained[m], expected, rtol=1e-9, atol=1e-12)
