"""Profiles against loops over their definitions, and against an example done by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from optmodels.errors import RequestError
from optmodels.statistics import data_profiles, performance_profiles, performance_ratios

cost = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 4.0, math.inf]), st.floats(1e-150, 1e150))
matrices = st.tuples(st.integers(0, 6), st.integers(1, 4)).flatmap(lambda shape: arrays(float, shape, elements=cost))


def within(costs, strategy, factor):
    """Dolan and Moré (2002), by a loop: solved, and within a factor of the best."""
    count = 0
    for row in costs:
        best = min(row)
        if row[strategy] < math.inf and (
            row[strategy] == best or row[strategy] / best <= factor if best else not row[strategy]
        ):
            count += 1
    return count / len(costs) if len(costs) else 0.0


@given(matrices, st.floats(1.0, 1e6))
def test_performance_profiles_agree_with_a_loop(costs, factor):
    profiles = performance_profiles(costs)
    ratios = performance_ratios(costs)
    assert len(profiles) == costs.shape[1]
    for strategy, profile in enumerate(profiles):
        assert profile.count == len(costs)
        for tau in (1.0, factor, *ratios[np.isfinite(ratios)]):
            assert profile.at(tau) == within(costs.tolist(), strategy, tau)


def test_performance_profile_by_hand():
    """Times of two solvers on five problems: a tie, a failure, and a problem nobody solves."""
    costs = [[1, 2], [8, 2], [3, 3], [math.inf, 7], [math.inf, math.inf]]
    first, second = performance_profiles(costs)
    assert first.at([1.0, 3.9, 4.0, 1e9]).tolist() == [0.4, 0.4, 0.6, 0.6]
    assert second.at([1.0, 1.9, 2.0, 1e9]).tolist() == [0.6, 0.6, 0.8, 0.8]


def test_zeros_and_the_floor():
    assert performance_ratios([[0.0, 0.0, 5.0, math.inf]]).tolist() == [[1.0, 1.0, math.inf, math.inf]]
    assert performance_ratios([[0.0, 1e-4, 5e-3]], floor=1e-3).tolist() == [[1.0, 1.0, 5.0]]
    assert performance_ratios(np.empty((0, 3))).shape == (0, 3)
    assert performance_profiles(np.empty((2, 0))) == ()


def test_ratios_do_not_depend_on_the_unit():
    rng = np.random.default_rng(3)
    costs = np.where(rng.random((20, 4)) < 0.2, np.inf, rng.integers(1, 50, (20, 4)))
    for unit in (2.0**-900, 2.0**900):
        assert performance_ratios(costs * unit).tolist() == performance_ratios(costs).tolist()


@given(matrices, st.data())
def test_data_profiles_agree_with_a_loop(costs, data):
    sizes = data.draw(st.lists(st.integers(0, 500), min_size=len(costs), max_size=len(costs)))
    for dimensions in (None, sizes):
        units = [1] * len(costs) if dimensions is None else [size + 1 for size in sizes]
        for strategy, profile in enumerate(data_profiles(costs, dimensions)):
            for kappa in (0.0, 1.0, 3.0, *profile.points):
                share = [costs[row, strategy] / units[row] <= kappa for row in range(len(costs))]
                assert profile.at(kappa) == (sum(share) / len(share) if share else 0.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: performance_ratios([1.0, 2.0]), "instances times strategies; got 1 dimensions"),
        (lambda: performance_ratios([[1.0, -2.0]]), r"costs\[0, 1\] is -2.0"),
        (lambda: data_profiles([[1.0], [math.nan]]), r"costs\[1, 0\] is nan"),
        (lambda: data_profiles([[1.0], [1.0]], [3]), r"dimensions are 2 numbers.*got \[3\]"),
        (lambda: data_profiles([[1.0]], [-1]), r"zero or more.*got \[-1\]"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(RequestError, match=words):
        call()
