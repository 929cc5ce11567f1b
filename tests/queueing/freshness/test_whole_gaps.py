"""The price of whole gaps: many pages have the bound of a plain bisection, and of the rule of few pages."""

import numpy as np
import pytest

from queueing.freshness import allocate, integer_bound, traits, whole_gaps
from queueing.freshness.whole_gaps import MANY, ONE_IN, whole_gap_sums
from queueing.processes import Constant, Exponential

COUNT = MANY + 3616


def by_bisection(pages, total):
    """The largest dual value, by halving logarithms of prices where the slope changes its sign."""
    columns = (pages.weights, pages.loads, pages.decays, pages.deficits, pages.worths)
    low, high, best = 1e-60 * pages.worths.max(), pages.worths.max(), 0.0
    for _ in range(100):
        price = np.sqrt(low * high)
        value, visits = whole_gap_sums(*columns, price)
        best = max(best, value + price * (visits - total))
        low, high = (price, high) if visits > total else (low, price)
    return best


def pages_of(kind):
    rng = np.random.default_rng(11)
    rates, weights = rng.lognormal(size=COUNT), rng.lognormal(size=COUNT)
    if kind == "sorted":
        rates, weights = np.sort(rates), np.sort(weights)
    if kind == "heavy":
        rates = rng.lognormal(sigma=4.0, size=COUNT)
    if kind == "misleading":  # the pages that are asked first are worth nearly nothing
        weights[::ONE_IN] *= 1e-9
    if kind == "misleading the other way":
        weights[::ONE_IN] *= 1e9
    if kind == "silent":  # none of them changes
        rates[::ONE_IN] = 0.0
    if kind == "one dear page":
        weights[5] = 1e6
    if kind == "alike":
        rates, weights = np.ones(COUNT), np.ones(COUNT)
    if kind == "two kinds":  # slopes fall in two steps
        rates, weights = np.ones(COUNT), np.where(np.arange(COUNT) % 3 > 0, 1.0, 2.0)
    law = Exponential(1.0) if kind == "plain" else Constant(1.0)
    return traits(rates * (0.5 / rates.sum()), weights, law)


@pytest.mark.parametrize(
    "kind",
    [
        "plain",
        "sorted",
        "heavy",
        "misleading",
        "misleading the other way",
        "silent",
        "one dear page",
        "alike",
        "two kinds",
    ],
)
@pytest.mark.parametrize("total", [1.0, 3.7])
def test_many_pages_have_the_bound_of_a_plain_search(kind, total, monkeypatch):
    pages = pages_of(kind)
    fast = integer_bound(pages, total)
    assert fast == pytest.approx(by_bisection(pages, total), rel=1e-14)
    monkeypatch.setattr(whole_gaps, "MANY", COUNT + 1)
    assert fast == pytest.approx(integer_bound(pages, total), rel=1e-14)


def test_many_pages_that_can_all_be_visited_in_every_slot():
    pages = pages_of("plain")
    always, visits = whole_gap_sums(pages.weights, pages.loads, pages.decays, pages.deficits, pages.worths, 0.0)
    assert visits == COUNT
    assert integer_bound(pages, COUNT) == always


def test_many_pages_take_few_passes(monkeypatch):
    """A pass over all pages is what takes time: twelve are enough here, where tangents alone take more than 24."""
    passes = []

    def counted(*columns_and_price):
        passes.append(len(columns_and_price[0]))
        return whole_gap_sums(*columns_and_price)

    monkeypatch.setattr(whole_gaps, "whole_gap_sums", counted)
    integer_bound(pages_of("plain"))
    assert passes.count(COUNT) <= 12
    passes.clear()
    monkeypatch.setattr(whole_gaps, "MANY", COUNT + 1)
    integer_bound(pages_of("plain"))
    assert passes.count(COUNT) > 24


def test_bound_at_one_price_holds_and_is_nearly_best_for_many_pages():
    rng = np.random.default_rng(7)
    for count in (3, 300, 30_000):
        rates, weights = rng.lognormal(size=count), rng.lognormal(size=count)
        pages = traits(2.0 * rates / rates.sum(), weights, Exponential(1.0))
        best, price = integer_bound(pages), allocate(pages).multiplier
        for factor in (0.0, 0.5, 1.0, 2.0):
            assert integer_bound(pages, price=factor * price) <= best * (1 + 1e-12)
        assert integer_bound(pages, price=price) >= best * (1 - (1e-2 if count < 20_000 else 1e-8))
        assert integer_bound(pages, price=price) >= allocate(pages).bound * (1 - 1e-12)
