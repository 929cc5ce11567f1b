"""Change rates from histories: closed forms, scipy on random pages, coverage of intervals, and what was hardly seen."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln
from scipy.stats import chi2, gamma

from queueing.freshness.estimation import GammaPrior, estimate, history
from queueing.freshness.estimation.likelihood import fit_prior

PRIOR = GammaPrior(shape=0.8, rate=1.5)


def random_visits(rng, rates, mean_visits=6.0, mean_interval=1.0):
    """Visits to pages of these rates after random intervals, shuffled; some pages have none."""
    pages = np.repeat(np.arange(len(rates)), rng.poisson(mean_visits, len(rates)))
    intervals = rng.gamma(2.0, mean_interval / 2.0, len(pages))
    changed = rng.exponential(1.0, len(pages)) < rates[pages] * intervals
    order = rng.permutation(len(pages))
    return pages[order], intervals[order], changed[order]


def log_posterior(theta, intervals, changed, shape, rate):
    """Of the log of the rate of one page, up to a constant, term by term."""
    x = math.exp(theta) * intervals
    return shape * theta - rate * math.exp(theta) + np.log(-np.expm1(-x[changed])).sum() - x[~changed].sum()


def of_page(page, pages, intervals, changed):
    own = pages == page
    return intervals[own], changed[own]


# -- closed forms and scipy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [1e-9, 0.37, 4e8])
def test_equal_intervals_have_a_closed_form(interval):
    cases = [(k, n) for n in (2, 3, 10, 1000) for k in {1, n // 2, n - 1}]
    pages = np.concatenate([np.full(n, page) for page, (_, n) in enumerate(cases)])
    changed = np.concatenate([np.arange(n) < k for k, n in cases])
    found = estimate(history(pages, np.full(len(pages), interval), changed), prior=None)
    expected = [-math.log1p(-k / n) / interval for k, n in cases]
    np.testing.assert_allclose(found.rates, expected, rtol=1e-13)


def test_most_likely_rates_of_pages_that_always_or_never_changed():
    seen = history([0, 0, 1, 1], [1.0, 2.0, 1.0, 2.0], [False, False, True, True], count=3)
    found = estimate(seen, prior=None)
    assert found.rates[0] == 0.0 and found.lower[0] == 0.0
    assert math.exp(-3.0 * found.upper[0]) == pytest.approx(0.025)  # no change in 3 units of time
    assert found.rates[1] == math.inf == found.upper[1]
    assert (1 - math.exp(-found.lower[1])) * (1 - math.exp(-2 * found.lower[1])) == pytest.approx(0.025)
    assert math.isnan(found.rates[2]) and (found.lower[2], found.upper[2]) == (0.0, math.inf)
    assert found.visits.tolist() == [2, 2, 0] and found.changes.tolist() == [0, 2, 0]


def test_with_a_prior_pages_hardly_seen_have_finite_rates():
    seen = history([0, 0, 1, 1], [1.0, 2.0, 1.0, 2.0], [False, False, True, True], count=3)
    found = estimate(seen, PRIOR)
    assert found.rates[0] == pytest.approx(PRIOR.shape / (PRIOR.rate + 3.0), rel=1e-15)
    assert found.rates[2] == pytest.approx(PRIOR.mean, rel=1e-15)
    assert found.rates[0] < found.rates[2] < found.rates[1] < math.inf
    for page, time in ((0, 3.0), (2, 0.0)):  # the posterior is a Gamma law itself
        law = gamma(PRIOR.shape, scale=1 / (PRIOR.rate + time))
        assert law.cdf(found.lower[page]) == pytest.approx(0.025, rel=1e-9)
        assert law.sf(found.upper[page]) == pytest.approx(0.025, rel=1e-9)


@pytest.mark.parametrize("prior", [None, PRIOR, GammaPrior(30.0, 40.0), GammaPrior(0.05, 1e-4)])
def test_rates_are_where_scipy_finds_the_maximum(prior):
    rng = np.random.default_rng(1)
    pages, intervals, changed = random_visits(rng, rng.gamma(0.8, 1 / 1.5, 200))
    found = estimate(history(pages, intervals, changed, 200), prior)
    shape, rate = (prior.shape, prior.rate) if prior else (0.0, 0.0)
    compared = 0
    for page in range(200):
        if not 0 < found.rates[page] < math.inf or not found.visits[page]:
            continue
        own = of_page(page, pages, intervals, changed)
        best = minimize_scalar(
            lambda theta, own=own: -log_posterior(theta, *own, shape, rate),
            bounds=(math.log(found.rates[page]) - 3, math.log(found.rates[page]) + 2),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert found.rates[page] == pytest.approx(math.exp(best.x), rel=1e-6)
        compared += 1
    assert compared > 100


@pytest.mark.parametrize("prior", [PRIOR, GammaPrior(30.0, 40.0), GammaPrior(0.05, 1e-4)])
def test_ends_are_quantiles_of_the_posterior(prior):
    rng = np.random.default_rng(2)
    pages, intervals, changed = random_visits(rng, rng.gamma(0.8, 1 / 1.5, 40), mean_visits=4.0)
    found = estimate(history(pages, intervals, changed, 40), prior, confidence=0.9)
    for page in range(40):
        own = of_page(page, pages, intervals, changed)
        centre = math.log(found.rates[page])
        top = log_posterior(centre, *own, prior.shape, prior.rate)

        def mass(low, high, own=own, centre=centre, top=top):
            def density(theta):
                return math.exp(log_posterior(theta, *own, prior.shape, prior.rate) - top)

            return quad(density, low, high, limit=400, epsabs=1e-12)[0]

        reach = 25.0 / (prior.shape + found.changes[page])  # to the left it falls off exponentially
        low, high = math.log(found.lower[page]), math.log(found.upper[page])
        parts = mass(min(low, centre) - reach, low), mass(low, centre), mass(centre, high), mass(high, high + 6.0)
        assert parts[0] / sum(parts) == pytest.approx(0.05, rel=2e-3)
        assert parts[3] / sum(parts) == pytest.approx(0.05, rel=2e-3)


def test_without_a_prior_ends_are_where_the_likelihood_has_fallen():
    rng = np.random.default_rng(3)
    pages, intervals, changed = random_visits(rng, rng.gamma(0.8, 1 / 1.5, 300))
    found = estimate(history(pages, intervals, changed, 300), None, confidence=0.9)
    inside = np.flatnonzero((found.changes > 0) & (found.changes < found.visits))
    assert len(inside) > 100
    for page in inside:
        own = of_page(page, pages, intervals, changed)
        top, low, high = (
            log_posterior(math.log(rate), *own, 0.0, 0.0)
            for rate in (found.rates[page], found.lower[page], found.upper[page])
        )
        assert [2 * (top - low), 2 * (top - high)] == pytest.approx([chi2.ppf(0.9, 1)] * 2, rel=1e-8)


# -- what must hold whatever was seen ---------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["fit", None])
def test_units_of_time_do_not_matter(prior):
    rng = np.random.default_rng(4)
    pages, intervals, changed = random_visits(rng, rng.gamma(0.8, 1 / 1.5, 300))
    one = estimate(history(pages, intervals, changed), prior)
    other = estimate(history(pages, intervals * 1e9, changed), prior)
    for name in ("rates", "lower", "upper"):
        np.testing.assert_allclose(getattr(other, name) * 1e9, getattr(one, name), rtol=1e-6)


def test_the_order_of_visits_does_not_matter():
    rng = np.random.default_rng(5)
    pages, intervals, changed = random_visits(rng, rng.gamma(0.8, 1 / 1.5, 100))
    order = np.argsort(pages, kind="stable")
    one = estimate(history(pages, intervals, changed), PRIOR)
    other = estimate(history(pages[order], intervals[order], changed[order]), PRIOR)
    np.testing.assert_allclose(other.rates, one.rates, rtol=1e-13)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_extreme_pages_keep_finite_ordered_answers(factor):
    """Rates and intervals many powers of ten apart, thousands of changes, one visit."""
    counts = [1, 1, 3000, 3000, 2, 2]
    intervals = [1e-12, 1e12, 1.0, 1e-9, 1e8, 1e-8]
    pages = np.repeat(np.arange(6), counts)
    changed = np.ones(len(pages), dtype=bool)
    changed[-1] = changed[1] = False
    for prior in ("fit", GammaPrior(1e-3, factor), GammaPrior(1e3, factor)):
        found = estimate(history(pages, np.repeat(intervals, counts), changed), prior)
        for values in (found.lower, found.rates, found.upper):
            assert np.isfinite(values).all() and (values >= 0).all()
        assert (found.rates > 0).all()
        assert (found.lower < found.upper).all()


# -- the law of rates -------------------------------------------------------------------------------------------------


def test_the_law_of_rates_is_found_again():
    rng = np.random.default_rng(6)
    truth = GammaPrior(0.7, 2.0)
    rates = rng.gamma(truth.shape, 1 / truth.rate, 15_000)
    found = fit_prior(history(*random_visits(rng, rates)))
    assert found.shape == pytest.approx(truth.shape, rel=0.05)
    assert found.mean == pytest.approx(truth.mean, rel=0.05)


def test_the_law_of_rates_is_the_most_likely_one():
    """Against scipy's optimizer over scipy's quadrature of every page, the faint belief included."""
    rng = np.random.default_rng(7)
    pages, intervals, changed = random_visits(rng, rng.gamma(1.5, 1.0, 12))
    usual = math.log((changed.sum() + 0.5) / intervals.sum())

    def evidence(place):
        shape, rate = np.exp(place)
        total = -0.5 * (place[0] / 2.0) ** 2 - 0.5 * ((place[0] - place[1] - usual) / 5.0) ** 2
        for page in np.unique(pages):
            own = of_page(page, pages, intervals, changed)
            integral = quad(lambda t, own=own: math.exp(log_posterior(t, *own, shape, rate)), -40.0, 8.0, limit=200)[0]
            total += math.log(integral) + shape * place[1] - gammaln(shape)
        return -total

    best = minimize(evidence, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-9})
    found = fit_prior(history(pages, intervals, changed))
    assert [math.log(found.shape), math.log(found.rate)] == pytest.approx(best.x, abs=1e-3)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("count", [1, 500])
def test_a_law_is_found_where_the_data_do_not_tell_it(changed, count):
    pages = np.arange(count)
    found = estimate(history(pages, np.full(count, 3.0), np.full(count, changed)))
    assert 0 < found.prior.shape < math.inf and 0 < found.prior.rate < math.inf
    assert (found.rates > 0).all() and np.isfinite(found.upper).all()
    assert (found.rates < 0.5).all() if not changed else (found.rates > 0.2).all()


# -- coverage ---------------------------------------------------------------------------------------------------------


def covered(found, rates):
    return float(((found.lower <= rates) & (rates <= found.upper)).mean())


@pytest.mark.parametrize("visits", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("prior", ["fit", "given"])
def test_intervals_hold_the_rate_as_often_as_they_promise(visits, prior):
    rng = np.random.default_rng([8, int(visits)])
    truth = GammaPrior(0.7, 1.0)
    rates = rng.gamma(truth.shape, 1 / truth.rate, 8000)
    seen = history(*random_visits(rng, rates, visits), 8000)
    known = truth if prior == "given" else "fit"
    slack = 0.01 if prior == "given" else 0.02  # four standard deviations; a law that was fitted has an error, too
    assert abs(covered(estimate(seen, known), rates) - 0.95) < slack
    assert abs(covered(estimate(seen, known, confidence=0.5), rates) - 0.5) < 2.3 * slack


def test_intervals_hold_rates_of_another_law():
    """Rates are lognormal, not Gamma, and intervals adapt to what was seen."""
    rng = np.random.default_rng(9)
    rates = np.exp(rng.normal(-1.0, 1.0, 6000))
    interval, rows = np.ones(6000), []
    for _ in range(12):
        changed = rng.exponential(1.0, 6000) < rates * interval
        rows.append((interval.copy(), changed))
        interval = np.clip(np.where(changed, interval / 1.5, interval * 1.5), 0.1, 20.0)
    pages = np.tile(np.arange(6000), 12)
    seen = history(pages, np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows]))
    assert 0.93 < covered(estimate(seen), rates) < 0.97
    assert 0.93 < covered(estimate(seen, None), rates) < 0.97


def test_intervals_of_likelihood_alone_hold_every_rate():
    """No law of rates: whatever the rate, of a page visited often."""
    rng = np.random.default_rng(10)
    for rate in (0.2, 1.0, 2.0):
        rates = np.full(4000, rate)
        seen = history(np.repeat(np.arange(4000), 40), np.ones(160_000), rng.random(160_000) < -math.expm1(-rate))
        assert 0.93 < covered(estimate(seen, None), rates) < 0.97


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 1], [1.0, 0.0], [True, True]), r"intervals\[1\] must be a finite number above 0, but it is 0.0"),
        (([0], [math.nan], [True]), r"intervals\[0\] must be a finite number above 0, but it is nan"),
        (([0], [1.0], [2]), r"changed\[0\] must be true or false, but it is 2"),
        (([0, -1], [1.0, 1.0], [1, 1]), r"pages\[1\] must be 0 or more, but it is -1"),
        (([0.5], [1.0], [1]), r"pages must be whole numbers"),
        (([0, 1], [1.0], [1]), r"one entry for each visit"),
        (([0, 4], [1.0, 1.0], [1, 1], 3), r"pages\[1\] must be below the number of pages, 3, but it is 4"),
    ],
)
def test_bad_visits_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        history(*arguments)


def test_bad_requests_are_refused():
    seen = history([0], [1.0], [True])
    with pytest.raises(ValueError, match=r"confidence must lie between 0 and 1, but it is 1\.0"):
        estimate(seen, confidence=1.0)
    with pytest.raises(ValueError, match="prior must be 'fit', a GammaPrior or None"):
        estimate(seen, "flat")
    with pytest.raises(ValueError, match=r"shape must be a finite number above 0, but it is 0\.0"):
        GammaPrior(0.0, 1.0)
    with pytest.raises(ValueError, match="no page was visited twice"):
        fit_prior(history(np.array([], dtype=int), [], [], 3))
