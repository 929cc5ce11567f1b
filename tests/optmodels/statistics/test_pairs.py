"""Signed ranks against all choices of signs, against scipy, and against printed examples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from optmodels.errors import RequestError
from optmodels.statistics import compare_pairs, holm, mean_ranks_of, signed_rank
from optmodels.statistics.pairs import MOST_EXACT

whole = st.integers(-5, 5).map(float)


def by_enumeration(differences):
    """The two-sided p-value: the share of all signs whose smaller rank sum is no larger."""
    kept = [d for d in differences if d]
    ranks = rankdata(np.abs(kept))
    seen = min(
        sum(r for r, d in zip(ranks, kept, strict=True) if d > 0),
        sum(r for r, d in zip(ranks, kept, strict=True) if d < 0),
    )
    extreme = 0
    for signs in itertools.product([False, True], repeat=len(kept)):
        plus = sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        extreme += min(plus, ranks.sum() - plus) <= seen
    return extreme / 2 ** len(kept)


@given(st.lists(whole, min_size=6, max_size=10).filter(lambda d: sum(x != 0 for x in d) >= 6))
@settings(max_examples=60)
def test_p_values_agree_with_all_signs_ties_included(differences):
    test = signed_rank(differences, np.zeros(len(differences)))
    assert test.p_value == pytest.approx(by_enumeration(differences), rel=1e-12)
    assert test.exact and test.adjusted == test.p_value


@pytest.mark.parametrize("size", [6, 7, 12, 25, 50])
@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_p_values_agree_with_scipy_where_it_is_exact(size, unit):
    rng = np.random.default_rng(size)
    for shift in (0.0, 0.3, 1.0):
        x, y = rng.normal(shift, 1, size), rng.normal(0, 1, size)
        expected = wilcoxon(x, y, method="exact", zero_method="wilcox")
        assert signed_rank(x * unit, y * unit).p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_many_differences_agree_with_the_normal_approximation_of_scipy():
    rng = np.random.default_rng(5)
    for shift in (0, 1, 3):
        x, y = rng.integers(0, 30, 400) + shift, rng.integers(0, 30, 400)  # with many ties, and some zeros
        test = signed_rank(x, y)
        assert test.differing > MOST_EXACT and not test.exact
        assert test.p_value == pytest.approx(wilcoxon(x, y, method="approx").pvalue, rel=1e-9)


def test_exact_and_normal_meet_where_the_one_follows_the_other():
    """At 200 differences the one road is scipy's exact one, and the other nearly the same."""
    rng = np.random.default_rng(6)
    d = rng.normal(0.12, 1, MOST_EXACT)
    test = signed_rank(d, np.zeros(MOST_EXACT))
    assert test.exact and 0.001 < test.p_value < 0.9
    assert test.p_value == pytest.approx(wilcoxon(d, method="exact").pvalue, rel=1e-9)
    more = signed_rank(np.append(d, 1e-9), np.zeros(MOST_EXACT + 1))
    assert not more.exact and more.p_value == pytest.approx(test.p_value, abs=5e-4)


def test_darwins_plants():
    """Cross- against self-fertilized corn in eighths of an inch, W = 24 and p = 0.041 (documentation of scipy)."""
    d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    test = signed_rank(d, np.zeros(15))
    assert round(test.p_value, 8) == 0.04125977
    assert test.effect == pytest.approx((96 - 24) / 120)
    assert (test.wins, test.losses, test.ties, test.winner) == (2, 13, 0, "second")


def test_five_differences_are_not_tested():
    test = signed_rank([1, 2, 3, 4, 5, 9, 9], [2, 3, 4, 5, 6, 9, 9], "a", "b")
    assert (test.p_value, test.adjusted, test.winner) == (None, None, None)
    assert (test.pairs, test.wins, test.losses, test.ties, test.differing) == (7, 5, 0, 2, 5)
    assert test.effect == -1.0 and test.median_difference == -1.0
    assert signed_rank([1, 2, 3, 4, 5, 6, 9], [2, 3, 4, 5, 6, 7, 9]).p_value == 2 / 64


def test_failures_lose_and_what_was_not_tried_drops_out():
    inf, nan = math.inf, math.nan
    test = signed_rank([inf, inf, 1.0, nan, 2.0], [inf, 5.0, inf, 1.0, nan])
    assert (test.pairs, test.wins, test.losses, test.ties) == (3, 1, 1, 1)
    assert test.median_difference == 0.0
    six = signed_rank([inf] * 6, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert (six.p_value, six.winner, six.effect, six.median_difference) == (2 / 64, "second", 1.0, inf)


def test_nothing_and_nothing_that_differs():
    empty = signed_rank([], [])
    assert (empty.pairs, empty.median_difference, empty.effect, empty.p_value) == (0, None, None, None)
    same = signed_rank([1.0] * 9, [1.0] * 9)
    assert (same.ties, same.median_difference, same.effect, same.p_value) == (9, 0.0, None, None)
    close = signed_rank(np.full(9, 1.0), np.full(9, 1.0 + 1e-10), tolerance=1e-9)
    assert close.ties == 9


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=15))
def test_the_second_against_the_first_is_the_mirror(pairs):
    x, y = [one for one, _ in pairs], [two for _, two in pairs]
    there, back = signed_rank(x, y), signed_rank(y, x)
    assert (there.wins, there.losses, there.p_value) == (back.losses, back.wins, back.p_value)
    assert there.median_difference == -back.median_difference == np.median(np.subtract(x, y))
    assert (there.effect is None) == (back.effect is None)
    if there.effect is not None:
        assert there.effect == pytest.approx(-back.effect)


@given(st.lists(st.one_of(whole, st.just(math.inf)), max_size=12))
def test_ranks_agree_with_scipy(values):
    assert mean_ranks_of(values).tolist() == rankdata(values).tolist()


# -- Holm --------------------------------------------------------------------------------------------------------------


def holm_by_loop(p_values):
    """Step down: the smallest times m, the next times m - 1, never below the one before."""
    answer, last = [0.0] * len(p_values), 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        last = max(last, min(1.0, p_values[place] * (len(p_values) - step)))
        answer[place] = last
    return answer


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=10))
def test_holm_agrees_with_a_loop(p_values):
    assert holm(p_values).tolist() == pytest.approx(holm_by_loop(p_values), rel=1e-14)


def test_holm_by_hand():
    assert holm([0.01, 0.02, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


def test_only_tests_that_were_made_are_corrected_for():
    rng = np.random.default_rng(8)
    base = rng.normal(0, 1, 12)
    values = {"a": base, "b": base + rng.normal(1, 1, 12), "c": base + rng.normal(1, 1, 12), "d": base}
    tests = compare_pairs(values)
    assert [(test.first, test.second) for test in tests] == list(itertools.combinations("abcd", 2))
    made = [test for test in tests if test.p_value is not None]
    assert len(made) == 5  # a and d are the same
    assert [test.adjusted for test in made] == pytest.approx(holm_by_loop([test.p_value for test in made]))


def test_under_no_difference_claims_are_rare():
    """Of 400 comparisons of four equal strategies at most about 5 % may claim anything; Holm is a little careful."""
    rng = np.random.default_rng(9)
    claims = 0
    for _ in range(400):
        values = {name: rng.normal(0, 1, 15) for name in "abcd"}
        claims += any(test.winner for test in compare_pairs(values))
    assert claims <= 400 * 0.05 + 4 * math.sqrt(400 * 0.05 * 0.95)
    assert claims > 0  # nor is it blind


def test_unequal_numbers_are_refused():
    with pytest.raises(RequestError, match="got 2 of a and 1 of b"):
        signed_rank([1, 2], [1], "a", "b")
