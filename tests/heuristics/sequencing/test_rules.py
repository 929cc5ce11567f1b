"""Cycles by rules that need no queue: exact examples, even gaps where they are possible, whole visits near to f."""

import decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.sequencing import (
    apportion,
    cycle_length,
    golden_page,
    golden_ratio,
    greedy,
    missing,
    power_of_two,
    regular,
    tijdeman,
    whittle,
)

FIBONACCI = (1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765)

some_frequencies = st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e3)), min_size=1, max_size=12).filter(any)
some_counts = st.lists(st.integers(0, 9), min_size=1, max_size=9).filter(any)


def gaps(cycle, page):
    """Gaps of a page, the one across the end of the cycle included."""
    slots = np.flatnonzero(cycle == page)
    return np.diff(slots, append=slots[0] + len(cycle))


# --- whole visits -----------------------------------------------------------------------------------------------------


@given(some_frequencies, st.integers(1, 300))
def test_whole_visits_are_those_below_or_above(frequencies, length):
    shares = length * np.array(frequencies) / np.sum(frequencies)
    counts = apportion(frequencies, length)
    assert counts.sum() == length
    assert (np.abs(counts - shares) < 1).all()
    assert (counts[shares == 0] == 0).all()


def test_pages_that_would_not_appear_come_first():
    # 2 + 2 + 0 visits are sure, and the one that is left goes to the page without
    assert apportion([2.4, 2.4, 0.2], 5).tolist() == [2, 2, 1]
    assert apportion([2.4, 2.4, 0.2], 5, gains=[3.0, 2.0, 1.0]).tolist() == [3, 2, 0]


def test_pages_for_which_there_is_no_room_are_reported():
    frequencies = [0.9, 0.05, 0.0, 0.03, 0.02]
    for make in (regular, tijdeman, greedy, golden_ratio):
        cycle = make(frequencies, 3)
        assert missing(cycle, frequencies).tolist() == [3, 4], make
    assert missing(regular(frequencies, 100), frequencies).size == 0


def test_length_of_a_cycle():
    assert cycle_length(np.array([2, 3, 3, 5]) / 13) == 13
    assert cycle_length([0.5, 0.3, 0.2], 100) == 10
    assert cycle_length([1, 2**0.5], 1000) == 985  # 408/985, a convergent of the continued fraction
    assert cycle_length([1.0, 2.0, 3.0], 5) == 5  # no cycle of 5 slots is exact
    assert cycle_length(np.ones(70), 50) == 50  # and none of 50 slots holds 70 pages
    many = np.random.default_rng(0).lognormal(size=3000)
    assert cycle_length(many, 100_000) <= 100_000
    assert 100_000 <= cycle_length(many) <= 150_000


# --- the golden ratio -------------------------------------------------------------------------------------------------


def test_golden_ratio_example_of_the_paper():
    cycle = golden_ratio(np.array([2, 3, 3, 5]) / 13, 13)
    assert (cycle + 1).tolist() == [4, 2, 4, 1, 3, 4, 2, 4, 1, 3, 4, 2, 3]


@pytest.mark.parametrize("place", range(2, 20))
def test_golden_ratio_without_a_sort_is_the_sorted_one(place):
    length = FIBONACCI[place - 1]
    frequencies = np.random.default_rng(place).lognormal(size=5)
    counts = apportion(frequencies, length)
    with decimal.localcontext() as context:
        context.prec = 40
        step = (decimal.Decimal(5).sqrt() - 1) / 2
        points = [(j * step) % 1 for j in range(1, length + 1)]
    order = sorted(range(length), key=points.__getitem__)
    assert golden_ratio(frequencies, length).tolist() == np.repeat(np.arange(5), counts)[order].tolist()


def test_golden_ratio_takes_the_fibonacci_number_below():
    assert [len(golden_ratio([1.0, 2.0], length)) for length in (1, 2, 3, 4, 5, 100)] == [1, 2, 3, 3, 5, 89]


def test_golden_ratio_gaps_are_three_fibonacci_numbers_in_a_row():
    frequencies = np.random.default_rng(1).lognormal(size=40)
    cycle = golden_ratio(frequencies, 6765)
    for page, count in enumerate(np.bincount(cycle, minlength=40)):
        found = np.unique(gaps(cycle, page))
        # F_j <= 1 / (f phi^-1) < ...: j = ceil(-log_phi f) with f the share of the cycle
        j = int(np.ceil(np.log(6765 / count) / np.log((1 + 5**0.5) / 2)))
        assert set(found) <= set(FIBONACCI[max(j - 1, 0) : j + 2]), (page, found, j)


def test_golden_page_needs_no_memory():
    frequencies = np.random.default_rng(2).lognormal(size=30)
    cumulative = np.cumsum(frequencies)
    slots = np.r_[np.arange(3000), 10**9 + np.arange(3000), 2**40 + np.arange(5)]
    with decimal.localcontext() as context:
        context.prec = 40
        step = (decimal.Decimal(5).sqrt() - 1) / 2
        points = np.array([float((int(slot) * step) % 1) for slot in slots])
    wanted = np.searchsorted(cumulative / cumulative[-1], points, side="right")
    found = golden_page(cumulative, slots)
    assert (found == wanted).all()
    assert golden_page(cumulative, 10**9 + 7) == found[3007]
    shares = np.bincount(found[:3000], minlength=30) / 3000
    assert np.abs(shares - frequencies / cumulative[-1]).max() < 3 / 3000


# --- regular words and chairmen ---------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(1, 40))
def test_two_pages_have_balanced_words(first, second):
    cycle = regular([first, second], first + second)
    assert np.bincount(cycle).tolist() == [first, second]
    for page in (0, 1):
        assert np.ptp(gaps(cycle, page)) <= 1
    turns = np.concatenate([cycle, cycle])
    for width in range(1, first + second):  # balanced: windows of one width hold one more visit at most
        inside = np.convolve(turns == 0, np.ones(width, dtype=int), mode="valid")
        assert np.ptp(inside) <= 1


@given(some_counts)
def test_regular_words_hold_all_visits(counts):
    assert np.bincount(regular(counts, sum(counts)), minlength=len(counts)).tolist() == counts


@pytest.mark.parametrize("pages", [1, 2, 3, 5, 7, 12, 31])
def test_equal_frequencies_are_spaced_evenly(pages):
    for make in (regular, tijdeman, greedy):
        cycle = make(np.full(pages, 0.1), 4 * pages)
        assert all((gaps(cycle, page) == pages).all() for page in range(pages)), make


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_powers_of_two_are_spaced_evenly(splits):
    """Frequencies 2 ** -k that add up to 1: Theorem 3.3 is met with equality."""
    exponents = [0]
    for split in splits:
        deepest = sorted(exponents)[split % len(exponents)]
        exponents.remove(deepest)
        exponents += [deepest + 1, deepest + 1]
    frequencies = 2.0 ** -np.array(exponents)
    for make in (regular, power_of_two):
        cycle = make(frequencies, 2 ** max(exponents))
        for page, exponent in enumerate(exponents):
            assert (gaps(cycle, page) == 2**exponent).all(), (make, exponents)


@given(some_counts)
def test_chairmen_are_never_a_visit_off(counts):
    length, pages = sum(counts), np.count_nonzero(counts)
    cycle = tijdeman(counts, length)
    visits = np.cumsum(cycle[:, None] == np.arange(len(counts)), axis=0)
    off = np.abs(visits - np.arange(1, length + 1)[:, None] * np.array(counts) / length).max()
    assert off <= max(1 - 1 / (2 * pages - 2) if pages > 1 else 0, 0) + 1e-12
    assert visits[-1].tolist() == counts


# --- powers of two ----------------------------------------------------------------------------------------------------


@given(some_frequencies)
def test_power_of_two_is_perfectly_even(frequencies):
    shares = np.array(frequencies) / np.sum(frequencies)
    cycle = power_of_two(frequencies)
    length = len(cycle)
    assert length & (length - 1) == 0
    for page in np.unique(cycle):
        found = gaps(cycle, page)
        assert (found == found[0]).all()
        assert found[0] & (found[0] - 1) == 0
        # rounded down, then doubled as long as there was room
        assert 1 / found[0] > shares[page] / 2
    assert (shares[np.unique(cycle)] > 0).all()


def test_power_of_two_rounds_up_where_there_is_room():
    cycle = power_of_two([1.0] * 5)
    assert sorted(int(gaps(cycle, page)[0]) for page in range(5)) == [4, 4, 4, 8, 8]
    assert power_of_two([3.0, 1.0], 2).tolist() in ([0, 1], [1, 0])
    assert power_of_two([3.0, 1.0], 1).tolist() == [0]


def test_power_of_two_leaves_out_the_rarest_where_the_cycle_is_too_short():
    frequencies = [8.0, 4.0, 0.3, 0.2, 0.1]
    cycle = power_of_two(frequencies, 4)
    assert len(cycle) == 4
    assert missing(cycle, frequencies).tolist() == [3, 4]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [regular, tijdeman, golden_ratio, power_of_two, greedy])
@pytest.mark.parametrize(
    ("frequencies", "length", "sentence"),
    [
        ([0.5, -0.1], 8, r"frequencies\[1\] must be a finite number of at least 0, but it is -0.1\."),
        ([0.5, 0.1, float("nan")], 8, r"frequencies\[2\] must be a finite number of at least 0, but it is nan\."),
        ([float("inf")], 8, r"frequencies\[0\] must be a finite number of at least 0, but it is inf\."),
        ([0.0, 0.0], 8, r"frequencies must have a finite sum above 0, but it is 0\.0\."),
        ([], 8, r"frequencies must be a list of one number or more, but its shape is \(0,\)\."),
        ([[1.0]], 8, r"frequencies must be a list of one number or more, but its shape is \(1, 1\)\."),
        ([1.0], 0, r"length must be a whole number of at least 1, but it is 0\."),
        ([1.0], 2.5, r"length must be a whole number of at least 1, but it is 2\.5\."),
    ],
)
def test_refusals_are_one_sentence(make, frequencies, length, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        make(frequencies, length)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ([0.1], [1.0, 2.0], [1.0], 4),
            r"worths must be a list of 1 numbers, one for each page, but its shape is \(2,\).",
        ),
        (([0.1, 0.1], [1.0, 2.0], [1.0], 4), r"frequencies must be a list of 2 numbers.*shape is \(1,\)\."),
        (([-0.1], [1.0], [1.0], 4), r"decays\[0\] must be a finite number of at least 0, but it is -0.1\."),
        (
            ([0.1], [1.0], 1.5, 4),
            r"frequencies must be a list of 1 numbers, .* its shape is \(\)\.",
        ),
    ],
)
def test_refusals_of_the_index(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        whittle(*arguments)


def test_slots_of_a_cycle_are_checked():
    with pytest.raises(ValueError, match=r"^slots must be a whole number of at least 1, but it is 0\.$"):
        cycle_length([1.0], 0)
