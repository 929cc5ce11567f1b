"""Many pages by one pass: against the exact allocation, in parts, in both precisions, and for awkward worths."""

import math

import numpy as np
import pytest

from queueing import PhaseType
from queueing.freshness import allocate, cost, even_obsolescence, traits
from queueing.freshness.large import (
    Histogram,
    added,
    bin_of,
    frequencies_at,
    histogram_of,
    objective_pass,
    price_pages,
    solved_nodes,
    tied_pages,
)
from queueing.freshness.large.blocks import BLOCK, add_to, fill, folded, timing_of
from queueing.freshness.large.nodes import BIN_BITS, lower_edge, nodes_of
from queueing.freshness.prices import price_at
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples

LAWS = {
    "constant": Constant(1.25),
    "exponential": Exponential(0.8),
    "erlang": Erlang(3, 0.5),
    "hyperexponential": Hyperexponential((0.3, 0.7), (2.0, 0.1)),
    "phase-type": PhaseTypeTime(PhaseType([0.25, 0.75], [[-1.5, 0.5], [0.125, -0.375]])),
    "samples": Samples((0.5, 0.25, 2.0, 0.0)),
}


def solve(histogram, total=1.0):
    """The price alone."""
    return solved_nodes(histogram, total)[1].price


def many_pages(rng, count, load=3.0, spread=1.0):
    rates = rng.lognormal(0.0, spread, count) * (load / count)
    return rates, rng.lognormal(0.0, spread, count)


def judged(rates, weights, law, price, total=1.0, marginal=None):
    """Cost and bound of the frequencies at this price, scaled to their sum, by the functions for few pages."""
    sums = objective_pass(rates, weights, law, price, marginal)
    frequencies = frequencies_at(rates, weights, law, price, sums.scale(total), marginal)
    assert math.fsum(frequencies) == pytest.approx(total, rel=1e-14)
    pages = traits(rates.astype(np.float64), weights.astype(np.float64), law)
    return sums, cost(pages, even_obsolescence(pages, frequencies))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("load", [0.5, 30.0])
def test_price_and_cost_of_many_pages(name, load):
    law = LAWS[name]
    rates, weights = many_pages(np.random.default_rng(1), 6000, load)
    best = allocate(traits(rates, weights, law))
    price = solve(histogram_of(rates, weights, law))
    assert price == pytest.approx(best.multiplier, rel=1e-5)
    sums, objective = judged(rates, weights, law, price)
    assert sums.bound() <= best.objective * (1 + 1e-14)
    assert objective >= best.objective * (1 - 1e-14)
    assert objective <= best.objective * (1 + 1e-9)
    assert sums.objective() == pytest.approx(objective, rel=1e-13)
    found = price_pages(rates, weights, law)
    assert found.multiplier == pytest.approx(best.multiplier, rel=1e-8)
    assert found.objective == pytest.approx(best.objective, rel=1e-11)


def test_suboptimality_of_one_pass_over_half_a_million_pages():
    law = Exponential(1.0)
    rates, weights = many_pages(np.random.default_rng(2), 500_000)
    sums, objective = judged(rates, weights, law, solve(histogram_of(rates, weights, law)))
    assert objective - sums.bound() <= 1e-10 * objective
    found = price_pages(rates, weights, law)
    sums, objective = judged(rates, weights, law, found.multiplier)
    assert objective - sums.bound() <= 1e-13 * objective
    assert found.objective == pytest.approx(sums.bound(), rel=1e-11)


@pytest.mark.parametrize("name", ["constant", "exponential", "hyperexponential"])
def test_parts_add_up_to_the_whole(name):
    law, rng = LAWS[name], np.random.default_rng(3)
    rates, weights = many_pages(rng, 5000)
    rates[::7], weights[::11] = 0.0, 0.0
    weights[:500] *= 1e9  # one part has other bins than the rest
    whole = histogram_of(rates, weights, law)
    parts = [histogram_of(rates[cut], weights[cut], law) for cut in (slice(0, 500), slice(500, 501), slice(501, None))]
    merged = parts[2].merged(parts[0]).merged(parts[1])
    assert merged.first == whole.first
    assert merged.pages == whole.pages == 5000
    np.testing.assert_allclose(merged.moments, whole.moments, rtol=1e-12, atol=1e-15)
    assert sum(merged.fixed) == pytest.approx(sum(whole.fixed), rel=1e-14)
    price = solve(whole)
    assert solve(merged) == pytest.approx(price, rel=1e-12)
    sums = [objective_pass(rates[cut], weights[cut], law, price) for cut in (slice(0, 1234), slice(1234, None))]
    both, all_ = sums[0].merged(sums[1]), objective_pass(rates, weights, law, price)
    assert (both.pages, both.visited) == (all_.pages, all_.visited)
    assert both.bound() == pytest.approx(all_.bound(), rel=1e-15)
    assert both.objective() == pytest.approx(all_.objective(), rel=1e-15)


def test_a_histogram_without_pages_changes_nothing():
    law = Constant(1.0)
    rates, weights = many_pages(np.random.default_rng(4), 100)
    one = histogram_of(rates, weights, law)
    none = histogram_of(np.zeros(3), np.ones(3), law)
    assert len(none.moments) == 0
    assert none.fixed == (0.0, 0.0)
    assert solve(none) == 0.0
    both = none.merged(one)
    np.testing.assert_array_equal(both.moments, one.moments)
    assert (both.first, both.pages) == (one.first, 103)
    assert none.merged(none).pages == 6
    assert price_pages(np.zeros(3), np.ones(3), law).objective == 0.0
    assert price_pages(np.ones(3), np.zeros(3), law).multiplier == 0.0


def test_moments_by_definition():
    rng = np.random.default_rng(5)
    rates, weights = many_pages(rng, 3000)
    law = Exponential(1.0)
    pages = traits(rates, weights, law)
    found = histogram_of(rates, weights, law)
    fractions, octaves = np.frexp(pages.worths)
    places = (2 * fractions - 1) * 2**BIN_BITS  # within the octave
    numbers = ((octaves - 1 + 1023) << BIN_BITS) + places.astype(int)
    offsets = places - places.astype(int) - 0.5
    assert [bin_of(worth) for worth in pages.worths] == numbers.tolist()
    assert all(lower_edge(bin_of(worth)) <= worth < lower_edge(bin_of(worth) + 1) for worth in pages.worths)
    for power in range(4):
        expected = np.bincount(numbers - found.first, pages.decays * offsets**power, len(found.moments))
        np.testing.assert_allclose(found.moments[:, power], expected, rtol=1e-12, atol=1e-18)
    assert sum(found.fixed) == pytest.approx(math.fsum(pages.worths * pages.deficits), rel=1e-14)


def test_two_pages_stand_for_a_group_of_bins():
    """Moments of the pages that stand for bins, to the third order in worth, are those of the pages themselves."""
    rng = np.random.default_rng(6)
    worths = rng.uniform(1.0, 4.0, 4000)
    decays = rng.uniform(0.5, 1.0, 4000) * 1e-4
    rates = decays  # constant access times of 1
    histogram = histogram_of(rates, worths * rates, Constant(1.0))
    for price in (0.0, 1.7):
        nodes = nodes_of(histogram.first, histogram.moments, price)
        assert (np.diff(nodes.worths) <= 0).all()
        assert (nodes.decays > 0).all()
        assert len(nodes.worths) < len(histogram.moments)
        for power in range(4):
            expected = math.fsum(decays * worths**power)
            assert math.fsum(nodes.decays * nodes.worths**power) == pytest.approx(expected, rel=1e-13)


def test_single_precision_is_read_as_it_is():
    rng = np.random.default_rng(7)
    rates, weights = (values.astype(np.float32) for values in many_pages(rng, 4000))
    law = Exponential(1.0)
    price = solve(histogram_of(rates, weights, law))
    doubles = rates.astype(np.float64), weights.astype(np.float64)
    assert price == solve(histogram_of(*doubles, law))
    assert objective_pass(rates, weights, law, price) == objective_pass(*doubles, law, price)
    np.testing.assert_array_equal(frequencies_at(rates, weights, law, price), frequencies_at(*doubles, law, price))
    assert price_pages(rates, weights, law) == price_pages(*doubles, law)
    mixed = price_pages(rates, doubles[1], law)
    assert mixed == price_pages(*doubles, law)


@pytest.mark.parametrize("count", [1, 2, 3, 17, BLOCK - 1, BLOCK, BLOCK + 1, 3000])
def test_equal_worths_and_few_pages(count):
    """Weights proportional to rates put all pages into one bin; few pages are nodes themselves."""
    rng = np.random.default_rng(8)
    law = Exponential(1.0)
    rates, weights = many_pages(rng, count)
    for costs in (0.3 * rates, weights):
        best = allocate(traits(rates, costs, law))
        found = price_pages(rates, costs, law)
        assert found.objective == pytest.approx(best.objective, rel=1e-10)
        assert objective_pass(rates, costs, law, found.multiplier).bound() <= best.objective * (1 + 1e-14)


@pytest.mark.parametrize("kind", ["two worths", "narrow", "wide", "rounded", "heavy"])
def test_awkward_worths(kind):
    rng, count, law = np.random.default_rng(9), 20_000, Constant(1.0)
    rates = rng.lognormal(0.0, 1.0, count) * (3.0 / count)
    worths = {
        "two worths": rng.choice([1.0, 1.3], count),
        "narrow": 1.0 + 1e-4 * rng.random(count),
        "wide": np.exp(12 * rng.normal(size=count)),
        "rounded": np.round(rng.lognormal(size=count), 1) + 0.1,
        "heavy": rng.pareto(0.7, count) + 1e-3,
    }[kind]
    weights = worths * rates
    best = allocate(traits(rates, weights, law))
    found = price_pages(rates, weights, law)
    assert found.objective == pytest.approx(best.objective, rel=1e-10)
    histogram = histogram_of(rates, weights, law)
    alone = solved_nodes(histogram, 1.0)[1]
    for price, marginal in ((found.multiplier, found.marginal), (alone.price, tied_pages(histogram, alone))):
        sums, objective = judged(rates, weights, law, price, marginal=marginal)
        assert sums.bound() <= best.objective * (1 + 1e-14)
        assert objective <= best.objective * (1 + 1e-10)
        assert sums.objective() == pytest.approx(objective, rel=1e-13)


def test_pages_of_any_spread_and_number():
    """Ties, pages cut apart by the edge of a bin, costs far below the sum of weights, little to visit with."""
    rng = np.random.default_rng(15)
    for _ in range(150):
        count, spread = int(10 ** rng.uniform(0.0, 3.5)), rng.choice([0.01, 1.0, 3.0, 10.0])
        law = list(LAWS.values())[rng.integers(len(LAWS))]
        rates, weights = many_pages(rng, count, 10 ** rng.uniform(-2, 2), spread)
        kind = rng.integers(4)
        if kind == 1:
            weights = rates * rng.choice([1.0, 1.25, 2.0, 5.0], count)
        elif kind == 2:
            rates, weights = np.exp(np.round(np.log(rates))), np.ceil(weights)
        elif kind == 3:
            rates[rng.random(count) < 0.3] = 0.0
        pages = traits(rates, weights, law)
        if not pages.worths.any():
            continue
        best, found = allocate(pages), price_pages(rates, weights, law)
        assert found.objective == pytest.approx(best.objective, rel=1e-10, abs=0)
        sums, objective = judged(rates, weights, law, found.multiplier, marginal=found.marginal)
        assert sums.bound() <= best.objective * (1 + 1e-14)
        assert objective <= best.objective * (1 + 1e-13)


@pytest.mark.parametrize("total", [0.25, 1.0, 8.0])
def test_other_totals(total):
    rates, weights = many_pages(np.random.default_rng(10), 5000)
    best = allocate(traits(rates, weights, Exponential(1.0)), total)
    found = price_pages(rates, weights, Exponential(1.0), total)
    assert found.multiplier == pytest.approx(best.multiplier, rel=1e-8)
    assert found.objective == pytest.approx(best.objective, rel=1e-11)
    assert objective_pass(rates, weights, Exponential(1.0), best.multiplier).bound(total) == pytest.approx(
        best.bound, rel=1e-13
    )


def test_passes_agree_with_the_functions_for_few_pages():
    rng = np.random.default_rng(11)
    rates, weights = 10.0 ** rng.uniform(-12, 3, 3000), 10.0 ** rng.uniform(-9, 9, 3000)
    rates[:40], weights[40:80] = 0.0, 0.0
    rates[80], weights[80] = 1e-150, 1e140  # a price that is a part of 1e-290 of the worth, and less
    rates[81], weights[81] = 1e200, 1e-200  # a worth below every double
    rates[82] = -0.0
    for law in LAWS.values():
        pages = traits(rates, weights, law)
        price = 30.0
        sums = objective_pass(rates, weights, law, price)
        frequencies = frequencies_at(rates, weights, law, price)
        visited = pages.worths > price
        u = pages.decays[visited] / frequencies[visited]
        gains = [price_at(worth, 1 / each) for worth, each in zip(pages.worths[visited], u, strict=True)]
        np.testing.assert_allclose(gains, price, rtol=1e-13)
        assert (frequencies[~visited] == 0).all()
        assert sums.visited == visited.sum()
        assert sum(sums.frequencies) == pytest.approx(math.fsum(frequencies), rel=1e-14)
        assert sum(sums.cost) == pytest.approx(cost(pages, even_obsolescence(pages, frequencies)), rel=1e-13)
        expected = math.fsum(pages.worths[visited] * pages.decays[visited] * u * np.exp(-u))
        assert sum(sums.curvature) == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(frequencies_at(rates, weights, law, price, 0.5), 0.5 * frequencies, rtol=1e-15)


@pytest.mark.parametrize("name", LAWS)
def test_blocks_have_the_traits_of_pages(name):
    law, rng = LAWS[name], np.random.default_rng(12)
    for rates in (10.0 ** rng.uniform(-200, 100, 400), 10.0 ** rng.uniform(-9, -4, 400)):
        weights = 10.0 ** rng.uniform(-3, 3, 400)
        pages = traits(rates, weights, law)
        decays, deficits, worths = (np.empty(400) for _ in range(3))
        assert not fill(timing_of(law), rates, weights, decays, deficits, worths)
        np.testing.assert_array_equal(worths, pages.worths)
        np.testing.assert_allclose(decays, pages.decays, rtol=1e-15)
        np.testing.assert_allclose(deficits, pages.deficits, rtol=2e-15, atol=1e-300)


def test_sums_that_keep_what_they_lack():
    rng = np.random.default_rng(13)
    for size in (1, 2, 3, 7, 512, 513):
        terms = rng.random(size)
        assert folded(terms.copy()) == pytest.approx(math.fsum(terms), rel=1e-15)
    sums, terms = np.zeros(4), 10.0 ** rng.uniform(-16, 0, 5000)
    for term in terms:
        add_to(sums, 2, term)
    assert sums[2] + sums[3] == math.fsum(terms)
    assert sums[:2].tolist() == [0.0, 0.0]
    assert added((1.0, 1e-20), (1e-18, 2e-20)) == (1.0, pytest.approx(1.03e-18, rel=1e-12))


@pytest.mark.parametrize(
    ("place", "rate", "weight", "sentence"),
    [
        (3, -1.0, 1.0, r"rates\[3\] must be a finite number of at least 0, but it is -1.0"),
        (BLOCK + 5, math.nan, 1.0, rf"rates\[{BLOCK + 5}\] must be a finite number of at least 0, but it is nan"),
        (7, 1.0, -0.5, r"weights\[7\] must be a finite number of at least 0, but it is -0.5"),
        (7, 0.0, math.inf, r"weights\[7\] must be a finite number of at least 0, but it is inf"),
        (BLOCK - 1, 1e-300, 1e20, rf"rates\[{BLOCK - 1}\] .*with the weight"),
    ],
)
@pytest.mark.parametrize("name", ["constant", "exponential", "hyperexponential"])
def test_wrong_pages_are_named(name, place, rate, weight, sentence):
    law = LAWS[name]
    rates, weights = many_pages(np.random.default_rng(14), 2 * BLOCK)
    rates[place], weights[place] = rate, weight
    for call in (
        lambda: histogram_of(rates, weights, law),
        lambda: objective_pass(rates, weights, law, 1.0),
        lambda: frequencies_at(rates, weights, law, 1.0),
        lambda: price_pages(rates, weights, law),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: histogram_of(np.ones(3), np.ones(2), Constant(1.0)), "equally many, but there are 3 and 2"),
        (lambda: histogram_of(np.ones((3, 1)), np.ones(3), Constant(1.0)), "rates must be a row"),
        (lambda: histogram_of(np.ones(3, int), np.ones(3), Constant(1.0)), "rates must be a row"),
        (lambda: solve(Histogram(0, np.zeros((0, 4)), (0.0, 0.0), 0), -1.0), "total must be a finite number above 0"),
        (lambda: objective_pass(np.ones(3), np.ones(3), Constant(1.0), 0.0), "multiplier must be a finite number"),
        (
            lambda: objective_pass(np.ones(3), np.ones(3), Constant(1.0), 0.5).merged(
                objective_pass(np.ones(3), np.ones(3), Constant(1.0), 0.6)
            ),
            "Sums must be of one multiplier, but they are of 0.5 and 0.6",
        ),
    ],
)
def test_wrong_calls_are_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
