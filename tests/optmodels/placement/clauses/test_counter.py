"""A counter of costs against sums: over all choices of a few sites, for all sorts of prices and bounds."""

import itertools

import numpy as np
import pytest

from optmodels.placement.clauses import counter as counters
from optmodels.placement.clauses.counter import counter


def contradicts(clauses, units):
    """Tell whether propagation from some true literals ends in a clause without true literals."""
    true = set(units)
    while True:
        before = len(true)
        for clause in clauses:
            if any(literal in true for literal in clause):
                continue
            open_ones = [literal for literal in clause if -literal not in true]
            if not open_ones:
                return True
            if len(open_ones) == 1:
                true.add(open_ones[0])
        if len(true) == before:
            return False


def meant(counted, order, prices, chosen):
    """All literals as they are meant: sites as chosen, sums as they are."""
    sums = np.cumsum([0, *(prices[site] * chosen[site] for site in order)], dtype=object)
    true = {site + 1 if is_open else -site - 1 for site, is_open in enumerate(chosen)}
    for number, (place, level) in enumerate(zip(counted.places, counted.levels, strict=True), counted.first):
        true.add(number if sums[place] >= level else -number)
    return true


def check(prices, order, most, least_before=None, least_after=None):
    """Compare with the sum over every choice, and tell how many keep all that was asked for."""
    counted = counter(prices, order, most, len(prices) + 1, least_before, least_after)
    clauses = counted.tuples()
    kept = 0
    for chosen in itertools.product((0, 1), repeat=len(prices)):
        costs = [prices[site] * chosen[site] for site in order]
        within = sum(costs) <= most
        if within and least_before is not None:
            within = all(sum(costs[:p]) >= bound for p, bound in enumerate(least_before))
        if within and least_after is not None:
            within = all(sum(costs[p:]) >= bound for p, bound in enumerate(least_after))
        if within:
            true = meant(counted, order, prices, chosen)
            assert all(any(literal in true for literal in clause) for clause in clauses), (chosen, clauses)
            kept += 1
        elif sum(costs) > most:
            units = [site + 1 for site, is_open in enumerate(chosen) if is_open]
            assert contradicts(clauses, units), (chosen, clauses)
    return kept


def draw(rng, count):
    """Prices of one of several sorts, a limit and an order."""
    prices = [
        rng.integers(1, 4, count),
        rng.integers(0, 3, count),
        np.zeros(count, int),
        rng.integers(0, 2**41, count),
        rng.integers(0, 3, count) * 2**60,
        2 ** rng.integers(0, 8, count),
    ][rng.integers(6)]
    prices = [int(price) for price in prices]
    total = min(sum(prices), 2**41)
    most = int(rng.choice([-1, 0, rng.integers(0, total + 2), rng.integers(0, total + 2), total]))
    order = [
        int(site) for site in rng.permutation(count)[: rng.integers(0, count + 1) if rng.random() < 0.3 else count]
    ]
    return prices, order, most


@pytest.mark.parametrize("seed", range(60))
def test_every_choice_within_the_limit_keeps_all_clauses_and_no_other_does(seed):
    rng = np.random.default_rng(seed)
    check(*draw(rng, int(rng.integers(0, 8))))


@pytest.mark.parametrize("seed", range(60))
def test_bounds_narrow_the_sums_and_lose_no_choice_that_keeps_them(seed):
    """Bounds of some choices that cost at most the limit: those choices still keep all clauses."""
    rng = np.random.default_rng(1000 + seed)
    prices, order, most = draw(rng, int(rng.integers(1, 8)))
    spared = [np.cumsum([0, *(prices[s] * int(rng.random() < 0.5) for s in order)], dtype=object) for _ in range(3)]
    before = [int(min(sums[p] for sums in spared)) for p in range(len(order) + 1)]
    after = [int(min(sums[-1] - sums[p] for sums in spared)) for p in range(len(order) + 1)]
    kept = check(prices, order, most, before, after)
    assert kept >= any(sums[-1] <= most for sums in spared)
    check(prices, order, most, before, None)
    check(prices, order, most, None, after)


def test_bounds_that_meet_leave_fewer_variables():
    prices, order = [2, 1, 3, 2, 1, 2], range(6)
    bounds = [0, 1, 2, 3, 4, 5, 6]
    wide, narrow = counter(prices, order, 8, 7), counter(prices, order, 8, 7, bounds, bounds[::-1])
    assert 0 < narrow.variables < wide.variables


def test_bounds_that_leave_nothing_are_a_contradiction():
    assert counter([1, 1], [0, 1], 1, 3, [0, 1, 2]).tuples() == [(3,), (-3,)]
    assert counter([1, 1], [0, 1], 1, 3, [0, 1, 1], [1, 1, 0]).tuples() == [(3,), (-3,)]
    assert counter([], [], -1, 1).tuples() == [(1,), (-1,)]


def test_a_limit_that_cannot_be_broken_needs_no_clauses():
    counted = counter([3, 4], [1, 0], 7, 3)
    assert counted.tuples() == [] and counted.variables == 2


def test_sums_that_cannot_happen_have_no_variable():
    counted = counter([1000, 1000, 1000], [0, 1, 2], 1999, 4)
    assert sorted(zip(counted.places.tolist(), counted.levels.tolist(), strict=True)) == [(1, 1000), (2, 1000)]


@pytest.mark.parametrize(
    "given, told",
    [
        (([1, -1], [0, 1], 1, 3), "no price may be below zero"),
        (([1, 1], [0, 0], 1, 3), "each of the 2 sites may stand once"),
        (([1, 1], [0, 2], 1, 3), "each of the 2 sites may stand once"),
        (([1, 1], [0, 1], 2**42, 3), "divide the prices by a larger unit"),
        (([1, 1], [0, 1], 1, 3, [0, 0]), "least_before: 2 sites have 3 bounds"),
        (([1, 1], [0, 1], 1, 3, None, [0]), "least_after: 2 sites have 3 bounds"),
    ],
)
def test_what_cannot_be_counted_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        counter(*given)


def test_prices_with_too_many_sums_are_refused(monkeypatch):
    monkeypatch.setattr(counters, "MOST_VARIABLES", 100)
    with pytest.raises(ValueError, match="more than 100 variables"):
        counter([2**i for i in range(12)], range(12), 2000, 13)
