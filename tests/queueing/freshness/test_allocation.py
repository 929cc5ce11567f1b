"""Frequencies of visits: closed forms, grids, general solvers, sixty digits; a bound that never exceeds the best."""

import math
from decimal import MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from queueing.freshness import (
    allocate,
    allocate_randomized,
    best_frequency,
    cost,
    even_obsolescence,
    randomized_obsolescence,
    traits,
)
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, Samples

LAWS = [Constant(1.25), Exponential(0.8), Erlang(3, 0.5), Hyperexponential((0.3, 0.7), (2.0, 0.1)), Samples((0.0, 2.0))]


def random_pages(rng, count, spread=1.0):
    law = LAWS[rng.integers(len(LAWS))]
    return traits(rng.lognormal(-0.5, spread, count), rng.lognormal(0.0, spread, count), law)


# -- fifty digits -----------------------------------------------------------------------------------------------------


def exact_inverse(share):
    """Solve 1 - (1 + u) exp(-u) = share in many digits."""
    u = (2 * share).sqrt() if share < Decimal("0.5") else -(1 - share).ln() + 2
    for _ in range(60):
        rest = (-u).exp()
        step = (1 - (1 + u) * rest - share) / (u * rest)
        u = u - step if step < u else u / 4
        if abs(step) < u * Decimal(10) ** -60:
            break
    return u


def exact_dual(pages, total, prices, multiplier, least=None, most=None, hosts=None, caps=None):
    """The least value of the Lagrangian at these prices, as they are, in many digits: a bound by weak duality."""
    value = Decimal(0)
    for page in range(len(pages)):
        price = Decimal(float(prices[page]))
        load = Decimal(float(pages.loads[page]))
        if load == 0:
            continue
        worth = Decimal(float(pages.weights[page])) / load
        decay = Decimal(float(pages.decays[page]))
        frequency = Decimal(0)
        if worth > price > 0:
            frequency = decay / exact_inverse(price / worth)
        elif worth > price:
            frequency = Decimal("inf")
        if least is not None:
            frequency = max(frequency, Decimal(float(least[page])))
        if most is not None:
            frequency = min(frequency, Decimal(float(most[page])))
        late = Decimal(float(pages.deficits[page])) + decay  # if there is no visit
        if frequency > 0:
            late -= frequency * (1 - (-decay / frequency).exp())
        value += worth * late + price * frequency
    left = Decimal(total)
    if caps is not None:
        by_host = {int(host): float(prices[page]) for page, host in enumerate(hosts)}
        for host, price in by_host.items():
            if price > multiplier:
                value -= Decimal(price) * Decimal(float(caps[host]))
                left -= Decimal(float(caps[host]))
    return value - Decimal(multiplier) * left


def check_bound(pages, found, total=1.0, **limits):
    """The bound reported is the dual value at the prices reported, and as good as the objective."""
    prices = np.full(len(pages), found.multiplier)
    if found.host_multipliers is not None:
        prices = found.host_multipliers[limits["hosts"]]
    with localcontext() as context:
        context.prec, context.Emin = 80, MIN_EMIN
        exact = exact_dual(pages, total, prices, found.multiplier, **limits)
    assert found.bound <= float(exact) * (1 + 2e-14)
    assert found.bound == pytest.approx(float(exact), rel=3e-14, abs=0)
    assert float(exact) <= found.objective * (1 + 2e-14)
    assert found.objective <= float(exact) * (1 + 1e-13)


# -- one price --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_weights_proportional_to_rates(law):
    """Theorem 3.4: frequencies proportional to ln 1/h, and the cost in closed form."""
    rng = np.random.default_rng(0)
    rates = rng.lognormal(-3, 1, 40)
    pages = traits(rates, 0.3 * rates, law)
    for total in (0.5, 1.0, 3.0):
        found = allocate(pages, total)
        np.testing.assert_allclose(found.frequencies, total * pages.decays / pages.decays.sum(), rtol=1e-14)
        product = math.exp(-pages.decays.sum() / total)
        expected = 0.3 * (rates.sum() - total / law.mean * (1 - product))
        assert found.objective == pytest.approx(expected, rel=1e-12)
        assert found.gap == pytest.approx(0.0, abs=1e-14)
        assert found.residual < 1e-13


def test_weights_proportional_to_rates_where_no_price_tells_pages_apart():
    """A load of 200: 1 - exp(-200) is 1, but the frequencies of eq. (10) are still right."""
    rates = np.array([1.0, 2.0, 3.0, 4.0]) * 20
    found = allocate(traits(rates, rates * (1 / 3), Constant(1.0)))
    np.testing.assert_allclose(found.frequencies, [0.1, 0.2, 0.3, 0.4], rtol=1e-14)
    assert found.gap == pytest.approx(0.0, abs=1e-15)


def by_solver(pages, total=1.0, least=0.0, most=np.inf, constraints=(), judge=even_obsolescence):
    """The best of a general solver, from several starts."""
    count, best = len(pages), math.inf
    rng = np.random.default_rng(1)
    top = np.minimum(most, total)
    for _ in range(3):
        start = np.clip(total * rng.dirichlet(np.ones(count)), np.maximum(least, 1e-6), top)
        found = minimize(
            lambda f: cost(pages, judge(pages, np.clip(f, 0.0, top))),
            start,
            method="SLSQP",
            bounds=list(zip(np.full(count, least), np.broadcast_to(top, count), strict=True)),
            constraints=[{"type": "eq", "fun": lambda f: f.sum() - total}, *constraints],
            options={"maxiter": 400, "ftol": 1e-13},
        )
        if abs(found.x.sum() - total) < 1e-8:
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_general_weights_against_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    pages = random_pages(rng, int(rng.integers(2, 9)))
    found = allocate(pages)
    assert found.objective == pytest.approx(by_solver(pages), rel=2e-6)
    assert found.objective <= by_solver(pages) * (1 + 1e-9)
    assert found.frequencies.sum() == pytest.approx(1.0, rel=1e-14)
    assert cost(pages, even_obsolescence(pages, found.frequencies)) == found.objective
    check_bound(pages, found)


@pytest.mark.parametrize("count", [2, 3])
def test_general_weights_against_a_grid(count):
    rng = np.random.default_rng(9)
    steps = 300
    for _ in range(3):
        pages = random_pages(rng, count)
        found = allocate(pages)
        grid = [np.array([i, steps - i]) for i in range(steps + 1)]
        if count == 3:
            grid = [np.array([i, j, steps - i - j]) for i in range(0, steps + 1, 3) for j in range(0, steps + 1 - i, 3)]
        best = min(cost(pages, even_obsolescence(pages, point / steps)) for point in grid)
        assert found.objective <= best * (1 + 1e-14)
        assert best <= found.objective * (1 + 1e-3)


def test_conditions_of_optimality():
    rng = np.random.default_rng(2)
    pages = random_pages(rng, 400, spread=2.0)
    found = allocate(pages)
    visited = found.frequencies > 0
    assert 0 < visited.sum() < 400
    u = pages.decays[visited] / found.frequencies[visited]
    gains = pages.worths[visited] * (1 - (1 + u) * np.exp(-u))
    np.testing.assert_allclose(gains, found.multiplier, rtol=1e-12)
    assert (pages.worths[~visited] <= found.multiplier * (1 + 1e-15)).all()
    assert found.residual < 1e-13


def test_price_is_what_one_more_visit_saves():
    pages = random_pages(np.random.default_rng(3), 30)
    found, step = allocate(pages, 1.0), 1e-5
    more, less = allocate(pages, 1.0 + step), allocate(pages, 1.0 - step)
    assert found.multiplier == pytest.approx((less.objective - more.objective) / (2 * step), rel=1e-6)
    costs = [allocate(pages, total).objective for total in (0.1, 0.5, 1.0, 2.0, 5.0)]
    assert (np.diff(costs) < 0).all()


def test_few_pages_of_any_size_have_a_right_bound():
    """Up to seven pages, rates and weights up to 40 powers of ten apart: no naive price sums frequencies to one."""
    rng = np.random.default_rng(4)
    unresolved = 0
    for _ in range(250):
        count, spread = int(rng.integers(1, 8)), rng.choice([1.0, 3.0, 10.0, 40.0])
        law = LAWS[rng.integers(len(LAWS))]
        pages = traits(np.exp(spread * rng.normal(size=count)), np.exp(spread * rng.normal(size=count)), law)
        found = allocate(pages)
        assert abs(math.fsum(found.frequencies) - 1.0) < 2e-15
        assert found.residual < 1e-13
        check_bound(pages, found)
        at_price = sum(
            best_frequency(decay, worth, found.multiplier)
            for decay, worth in zip(pages.decays, pages.worths, strict=True)
        )
        unresolved += abs(at_price - 1.0) > 1e-4
    assert unresolved > 10  # the family is the hard one


def test_a_price_that_no_double_can_hold():
    """Page 1 is worth a little less: the price is its worth less exp(-60) of it, yet it has half of the visits."""
    pages = traits([1.0, 60.0], [2.0, 60.0], Constant(1.0))
    found = allocate(pages)
    assert found.multiplier == 1.0
    assert 0.2 < found.frequencies[1] < 0.9
    u = 1.0 / found.frequencies[0]
    assert 2.0 * (1 - (1 + u) * math.exp(-u)) == pytest.approx(1.0, rel=1e-14)
    check_bound(pages, found)


@pytest.mark.parametrize("law", [Constant(1.0), Exponential(1.0)])
def test_extreme_rates_and_weights(law):
    for rates, weights in [
        ([1e-300, 1e-290], [1e-10, 1e-12]),
        ([1e-200, 1e200], [1.0, 1.0]),
        ([1e300, 1e299, 1e298], [1e300, 1.0, 1e-300]),
        ([1e-100, 1.0, 1e100], [1e-100, 1.0, 1e100]),
        ([1e-160] * 3, [1.0, 2.0, 3.0]),
    ]:
        found = allocate(traits(rates, weights, law))
        assert found.frequencies.sum() == pytest.approx(1.0, rel=1e-14)
        assert np.isfinite(found.frequencies).all()
        assert abs(found.gap) < 1e-13
        assert found.residual < 1e-12
        drawn = allocate_randomized(traits(rates, weights, law))
        assert drawn.frequencies.sum() == pytest.approx(1.0, rel=1e-14)
        assert abs(drawn.gap) < 1e-12


def test_degenerate_pages():
    one = allocate(traits([0.7], [2.0], Exponential(1.0)))
    assert one.frequencies.tolist() == [1.0]
    equal = allocate(traits([0.7] * 5, [2.0] * 5, Exponential(1.0)))
    np.testing.assert_allclose(equal.frequencies, 0.2, rtol=1e-14)
    useless = allocate(traits([0.0, 1.0, 0.5], [1.0, 0.0, 2.0], Exponential(1.0)))
    assert useless.frequencies.tolist() == [0.0, 0.0, 1.0]
    nothing = allocate(traits([0.0, 1.0], [1.0, 0.0], Exponential(1.0)))
    assert nothing.frequencies.tolist() == [0.5, 0.5]
    assert (nothing.multiplier, nothing.objective, nothing.bound, nothing.gap) == (0.0, 0.0, 0.0, 0.0)


def test_many_pages_agree_with_their_copies():
    """A thousand pages, each cut into pieces of the same worth: the same price (the guess of groups is used)."""
    rng = np.random.default_rng(5)
    rates, weights = rng.lognormal(size=1000) / 1000, rng.lognormal(size=1000)
    pages = traits(rates, weights, Constant(1.0))
    copies = traits(np.repeat(rates / 8, 8), np.repeat(weights / 8, 8), Constant(1.0))
    one, many = allocate(pages), allocate(copies)
    assert many.multiplier == pytest.approx(one.multiplier, rel=1e-12)
    assert many.objective == pytest.approx(one.objective, rel=1e-13)
    np.testing.assert_allclose(many.frequencies.reshape(-1, 8).sum(axis=1), one.frequencies, rtol=1e-9, atol=1e-15)


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_least_and_most_frequencies(seed):
    rng = np.random.default_rng(20 + seed)
    count = int(rng.integers(2, 8))
    pages = random_pages(rng, count, spread=1.5)
    least = rng.choice([0.0, 0.02, 0.08], count)
    most = np.maximum(least, rng.choice([0.3, 0.6, 1.0], count))
    if most.sum() < 1.0:
        most[:] = 1.0
    found = allocate(pages, minimum=least, most=most)
    assert (found.frequencies >= least).all()
    assert (found.frequencies <= most).all()
    assert found.frequencies.sum() == pytest.approx(1.0, rel=1e-14)
    assert found.residual < 1e-12
    expected = by_solver(pages, least=least, most=most)
    assert found.objective == pytest.approx(expected, rel=2e-6)
    check_bound(pages, found, least=least, most=most)


@pytest.mark.parametrize("seed", range(6))
def test_caps_of_hosts(seed):
    rng = np.random.default_rng(40 + seed)
    count = int(rng.integers(4, 10))
    pages = random_pages(rng, count)
    hosts = rng.integers(0, 3, count)
    hosts[:3] = [0, 1, 2]
    caps = np.array([0.25, 0.4, np.inf])
    least = np.full(count, 0.01)
    found = allocate(pages, minimum=least, hosts=hosts, host_caps=caps)
    sums = np.bincount(hosts, found.frequencies, 3)
    assert (sums <= caps * (1 + 1e-14)).all()
    assert found.frequencies.sum() == pytest.approx(1.0, rel=1e-14)
    assert (found.host_multipliers >= found.multiplier).all()
    assert found.residual < 1e-12
    constraints = [{"type": "ineq", "fun": lambda f, host=host: caps[host] - f[hosts == host].sum()} for host in (0, 1)]
    assert found.objective == pytest.approx(by_solver(pages, least=0.01, constraints=constraints), rel=3e-6)
    check_bound(pages, found, least=least, hosts=hosts, caps=caps)


def test_caps_against_an_interior_point_solver():
    rng = np.random.default_rng(7)
    pages = traits(rng.lognormal(size=12), rng.lognormal(size=12), Exponential(0.3))
    hosts = np.repeat([0, 1, 2, 3], 3)
    caps = np.array([0.1, 0.2, 0.5, np.inf])
    found = allocate(pages, hosts=hosts, host_caps=caps)
    rows = np.vstack([np.ones(12), *(hosts == host for host in range(3))]).astype(float)
    limits = LinearConstraint(rows, [1.0, 0.0, 0.0, 0.0], [1.0, 0.1, 0.2, 0.5])
    other = minimize(
        lambda f: cost(pages, even_obsolescence(pages, np.clip(f, 0.0, 1.0))),
        np.full(12, 1 / 12) * np.repeat([0.9, 1.0, 1.0, 1.1], 3),
        method="trust-constr",
        bounds=[(1e-9, 1.0)] * 12,
        constraints=[limits],
        options={"maxiter": 3000, "gtol": 1e-10, "xtol": 1e-12},
    )
    assert found.objective == pytest.approx(other.fun, rel=1e-5)
    assert found.objective <= other.fun * (1 + 1e-9)
    check_bound(pages, found, hosts=hosts, caps=caps)


def test_hosts_without_caps_change_nothing():
    pages = random_pages(np.random.default_rng(11), 50)
    hosts = np.arange(50) % 7
    plain, capped = allocate(pages), allocate(pages, hosts=hosts)
    np.testing.assert_allclose(capped.frequencies, plain.frequencies, rtol=1e-13)
    loose = allocate(pages, hosts=hosts, host_caps=np.full(7, 1.0))
    assert loose.objective == pytest.approx(plain.objective, rel=1e-15)
    assert loose.host_multipliers.tolist() == [loose.multiplier] * 7


def test_many_hosts_with_tight_caps():
    rng = np.random.default_rng(12)
    pages = traits(rng.lognormal(size=3000) / 3000, rng.lognormal(size=3000), Exponential(1.0))
    hosts = rng.integers(0, 200, 3000)
    caps = np.full(200, 0.006)
    found = allocate(pages, hosts=hosts, host_caps=caps)
    tight = found.host_multipliers > found.multiplier
    sums = np.bincount(hosts, found.frequencies, 200)
    assert 10 < tight.sum() < 190
    np.testing.assert_allclose(sums[tight], 0.006, rtol=1e-13)
    assert (sums[~tight] <= 0.006).all()
    assert abs(found.gap) < 1e-13
    assert found.residual < 1e-12
    assert found.objective > allocate(pages).objective


def test_several_robots():
    rng = np.random.default_rng(13)
    pages = random_pages(rng, 12)
    costs = []
    for robots in (1, 2, 4, 8, 12):
        found = allocate(pages, total=robots, most=1.0)
        assert (found.frequencies <= 1.0).all()
        assert found.frequencies.sum() == pytest.approx(robots, rel=1e-14)
        check_bound(pages, found, total=robots, most=np.ones(12))
        costs.append(found.objective)
    assert (np.diff(costs) < 0).all()
    assert costs[-1] == pytest.approx(cost(pages, even_obsolescence(pages, np.ones(12))), rel=1e-15)


def test_limits_of_pages_of_any_size_are_kept():
    """Least and most frequencies, caps, several robots, rates and weights far apart, some of them 0."""
    rng, solved = np.random.default_rng(17), 0
    for _ in range(300):
        count, spread, robots = int(rng.integers(1, 9)), rng.choice([1.0, 5.0, 40.0]), int(rng.integers(1, 4))
        rates, weights = np.exp(spread * rng.normal(size=(2, count))) * (rng.random((2, count)) > 0.1)
        pages = traits(rates, weights, LAWS[rng.integers(len(LAWS))])
        hosts, caps = rng.integers(0, 3, count), robots * rng.choice([0.2, 0.5, np.inf], 3)
        least = np.full(count, rng.choice([0.0, 0.01, 0.05]))
        try:
            found = allocate(pages, robots, least, 1.0, hosts, caps)
        except ValueError as refused:
            assert "must" in str(refused)
            continue
        solved += 1
        assert found.frequencies.sum() == pytest.approx(robots, rel=1e-13)
        assert ((least <= found.frequencies) & (found.frequencies <= 1.0)).all()
        assert (np.bincount(hosts, found.frequencies, 3) <= caps * (1 + 1e-13)).all()
        assert abs(found.gap) < 1e-12
        assert found.residual < 1e-11
    assert solved > 50


def test_what_is_left_over_goes_to_pages_that_gain_nothing():
    pages = traits([1.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], Exponential(1.0))
    found = allocate(pages, total=3.0, most=1.0)
    np.testing.assert_allclose(found.frequencies, [1.0, 1.0, 0.5, 0.5], rtol=1e-15)
    assert found.multiplier == 0.0
    assert found.gap == pytest.approx(0.0, abs=1e-15)
    hosts, caps = np.array([0, 0, 0, 1]), np.array([0.5, np.inf])
    capped = allocate(pages, hosts=hosts, host_caps=caps)
    np.testing.assert_allclose(np.bincount(hosts, capped.frequencies), [0.5, 0.5], rtol=1e-14)
    assert capped.frequencies[2] == 0.0
    assert capped.host_multipliers[0] > 0.0


def test_minimum_alone_takes_everything():
    pages = random_pages(np.random.default_rng(14), 4)
    found = allocate(pages, minimum=0.25)
    assert found.frequencies.tolist() == [0.25] * 4
    assert abs(found.gap) < 1e-14


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"total": 0.0}, "total must be a finite number above 0"),
        ({"total": math.nan}, "total must be a finite number above 0"),
        ({"minimum": 0.4}, "The minima must sum to at most total"),
        ({"minimum": [0.1, -0.1, 0.0]}, r"minimum\[1\] must be a number of at least 0"),
        ({"minimum": [0.1, 0.1]}, "minimum must be a number, or one for each of 3 pages"),
        ({"minimum": 0.2, "most": [1.0, 0.1, 1.0]}, r"minimum\[1\] must be at most most\[1\]"),
        ({"most": 0.2}, "must have room for total"),
        ({"most": math.nan}, r"most\[0\] must be a number of at least 0"),
        ({"hosts": [0, 1]}, "hosts must be whole numbers, one for each of 3 pages"),
        ({"hosts": [0, -1, 0]}, r"hosts\[1\] must be at least 0"),
        ({"host_caps": [1.0]}, "host_caps need the host of each page"),
        ({"hosts": [0, 1, 1], "host_caps": [0.1]}, "host_caps must have one entry for each of 2 hosts"),
        ({"hosts": [0, 1, 1], "host_caps": [0.1, -1.0]}, r"host_caps\[1\] must be a number of at least 0"),
        ({"hosts": [0, 1, 1], "host_caps": [0.1, 0.2]}, "must have room for total"),
        ({"hosts": [0, 1, 1], "host_caps": [0.1, 1.0], "minimum": 0.2}, r"host_caps\[0\] must be at least the minima"),
    ],
)
def test_limits_that_nothing_keeps_are_refused_in_one_sentence(options, sentence):
    pages = traits([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], Exponential(1.0))
    with pytest.raises(ValueError, match=sentence):
        allocate(pages, **options)


# -- slots drawn at random --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_random_slots_with_weights_proportional_to_rates(law):
    """Theorem 4.1: frequencies proportional to 1/h - 1, and the cost in closed form."""
    rng = np.random.default_rng(15)
    rates = rng.lognormal(-3, 1, 30)
    pages = traits(rates, 0.4 * rates, law)
    found = allocate_randomized(pages)
    odds = np.expm1(pages.decays)
    np.testing.assert_allclose(found.frequencies, odds / odds.sum(), rtol=1e-13)
    expected = 0.4 * (rates.sum() - odds.sum() / (1 + odds.sum()) / law.mean)
    assert found.objective == pytest.approx(expected, rel=1e-12)
    assert abs(found.gap) < 1e-13


@pytest.mark.parametrize("seed", range(6))
def test_random_slots_against_a_general_solver(seed):
    rng = np.random.default_rng(60 + seed)
    pages = random_pages(rng, int(rng.integers(2, 9)))
    found = allocate_randomized(pages)
    assert found.objective == pytest.approx(by_solver(pages, judge=randomized_obsolescence), rel=2e-6)
    assert cost(pages, randomized_obsolescence(pages, found.frequencies)) == found.objective
    assert found.objective >= allocate(pages).objective
    assert abs(found.gap) < 1e-13
    assert found.residual < 1e-12
    visited = found.frequencies > 0
    expected = np.expm1(pages.decays) * (np.sqrt(pages.worths / found.multiplier) - 1)  # eq. (15)
    np.testing.assert_allclose(found.frequencies[visited], expected[visited], rtol=1e-9)
    assert (pages.worths[~visited] <= found.multiplier).all()


def test_random_slots_of_few_pages_of_any_size():
    rng = np.random.default_rng(16)
    for _ in range(200):
        count, spread = int(rng.integers(1, 8)), rng.choice([1.0, 3.0, 10.0, 40.0])
        law = LAWS[rng.integers(len(LAWS))]
        pages = traits(np.exp(spread * rng.normal(size=count)), np.exp(spread * rng.normal(size=count)), law)
        found = allocate_randomized(pages)
        assert abs(math.fsum(found.frequencies) - 1.0) < 4e-15
        assert -2e-14 < found.gap < 1e-13
        assert found.residual < 1e-12


def test_random_slots_without_anything_to_gain():
    found = allocate_randomized(traits([0.0, 1.0], [1.0, 0.0], Constant(1.0)))
    assert found.frequencies.tolist() == [0.5, 0.5]
    assert found.multiplier == found.objective == found.bound == 0.0
    with pytest.raises(ValueError, match="total must be at most 1 where slots are drawn"):
        allocate_randomized(traits([1.0], [1.0], Constant(1.0)), total=2.0)


def test_pages_that_get_nothing_get_exactly_nothing():
    """One page takes all visits that it can have; what rounding leaves is no frequency of the others."""
    found = allocate(traits([1.0, 1.0, 1.0], [1000.0, 1.0, 1.0], Constant(1.0)), most=1.0)
    assert found.frequencies.tolist() == [1.0, 0.0, 0.0]
    assert found.gap == pytest.approx(0.0, abs=1e-15)
    rng = np.random.default_rng(5)
    for _ in range(60):
        busy, idle = int(rng.integers(1, 6)), int(rng.integers(1, 9))
        weights = np.r_[rng.uniform(1e3, 1e5, busy), rng.uniform(0.1, 1.0, idle)]
        order = rng.permutation(busy + idle)
        many = allocate(traits(np.ones(busy + idle), weights[order], Constant(1.0)), float(busy), most=1.0)
        assert (many.frequencies == np.where(weights[order] >= 1e3, 1.0, 0.0)).all()
        assert many.objective >= many.bound * (1 - 1e-15)
