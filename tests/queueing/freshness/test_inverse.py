"""The inverse gain of a visit, against sixty digits, the incomplete gamma function and Lambert's function."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import gammaincinv, lambertw

from queueing.freshness.inverse import gain_share, inverse_at, price_of
from queueing.numerics import log1p_and_excess, minus_log, small_excess


def exact_gain(u):
    """K(u) = 1 - (1 + u) exp(-u), with sixty digits whatever u is."""
    with localcontext() as context:
        context.prec = 720
        value = 1 - (1 + u) * (-u).exp()
        context.prec = 60
        return +value


def inverse(shares):
    """The u at which each of these parts of its worth is the price of a page."""
    return np.array([inverse_at(math.sqrt(2.0 * share), 1.0 - share) for share in shares])


def error_of(u, share):
    """Relative error of u: what is wrong with K(u), over its derivative."""
    big = Decimal(u)
    with localcontext() as context:
        context.prec = 60
        return float((exact_gain(big) - share) / (big * big * (-big).exp()))


def test_inverse_has_fourteen_digits_everywhere():
    rng = np.random.default_rng(4)
    shares = np.concatenate(
        [10 ** rng.uniform(-300, 0, 80), rng.random(120), 1 - 10 ** rng.uniform(-15.9, 0, 80), [0.5, 2e-4, 1 - 2**-53]]
    )
    errors = [error_of(u, Decimal(share)) for u, share in zip(inverse(shares), shares, strict=True)]
    assert np.abs(errors).max() < 3e-15


def test_inverse_is_a_quantile_of_the_gamma_law():
    shares = np.concatenate([np.geomspace(1e-290, 0.5, 400), 1 - np.geomspace(1e-13, 0.5, 100)])
    np.testing.assert_allclose(inverse(shares), gammaincinv(2.0, shares), rtol=1e-10)


def test_inverse_is_the_lower_branch_of_lambert_where_that_keeps_its_digits():
    shares = np.linspace(0.05, 0.95, 50)
    expected = -1 - lambertw(-(1 - shares) / math.e, -1).real
    np.testing.assert_allclose(inverse(shares), expected, rtol=1e-13)


def test_inverse_is_monotone_across_cells_and_ends():
    shares = np.concatenate([[0.0], np.geomspace(1e-12, 1e-3, 5000), np.linspace(0.00105, 1.0, 20001)])
    found = inverse(shares)
    assert found[0] == 0.0
    assert found[-1] == math.inf
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("y", [36.0, 38.2, 38.3, 50.0, 300.0, 740.0])
def test_price_given_as_what_it_lacks_to_the_worth(y):
    u = inverse_at(math.sqrt(2.0), math.exp(-y))
    assert u - math.log1p(u) == pytest.approx(-math.log(math.exp(-y)), rel=4e-16)


def test_prices_and_their_inverse():
    for u in np.geomspace(1e-200, 700.0, 211):
        root, rest = price_of(u)
        assert inverse_at(root, rest) == pytest.approx(u, rel=4e-15, abs=0)
        assert 0.5 * root * root == pytest.approx(gain_share(u) * u * u, rel=1e-15, abs=1e-320)
    for u in (1e-30, 1e-8, 0.3, 0.99, 1.0, 1.01, 4.0, 60.0):
        assert gain_share(u) * u * u == pytest.approx(float(exact_gain(Decimal(u))), rel=1e-15, abs=0)


def test_logarithms_without_branches():
    with localcontext() as context:
        context.prec = 400
        for x in np.concatenate([np.geomspace(1e-300, 1e300, 121), np.linspace(0.0, 3.0, 121)]):
            logarithm, excess = log1p_and_excess(x)
            exact = (1 + Decimal(x)).ln()
            assert logarithm == pytest.approx(float(exact), rel=5e-16, abs=0.0)
            assert excess == pytest.approx(float(Decimal(x) - exact), rel=2e-15, abs=1e-320)
            if x < 2.0**-10:
                assert small_excess(x) == pytest.approx(float(Decimal(x) - exact), rel=1e-15, abs=1e-320)
        for x in np.concatenate([np.geomspace(1e-300, 0.9, 61), 1 - np.geomspace(1e-16, 0.5, 61), [0.0]]):
            exact = -(1 - Decimal(x)).ln()
            assert minus_log(x, 1.0 - x) == pytest.approx(float(exact), rel=5e-16, abs=0.0)
