"""Time out of date: against integrals over times, sums over gaps, many digits, and all short cycles."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from queueing import PhaseType
from queueing.freshness import (
    allocate,
    cost,
    even_obsolescence,
    integer_bound,
    integer_obsolescence,
    randomized_obsolescence,
    schedule_gaps,
    schedule_obsolescence,
    traits,
)
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples

LAWS = [
    Constant(1.25),
    Exponential(0.8),
    Erlang(3, 0.5),
    Hyperexponential((0.3, 0.7), (2.0, 0.1)),
    PhaseTypeTime(PhaseType([0.25, 0.75], [[-1.5, 0.5], [0.125, -0.375]])),
    Samples((0.5, 0.25, 2.0, 0.0)),
]


def random_pages(rng, count, law=None, spread=1.0):
    rates, weights = rng.lognormal(-0.5, spread, count), rng.lognormal(0.0, spread, count)
    return traits(rates, weights, law or LAWS[rng.integers(len(LAWS))])


def gaps_of(schedule, page):
    places = [slot for slot, visited in enumerate(schedule) if visited == page]
    return [(b - a - 1) % len(schedule) + 1 for a, b in zip(places, places[1:] + places[:1], strict=True)]


def by_definition(pages, law, schedule):
    """1 - (1 / n mu E[X]) sum of (1 - h**d), as the paper has it."""
    found = []
    for page, rate in enumerate(pages.rates):
        h = math.exp(-law.decay([rate])[0])
        fresh = sum(1 - h**gap for gap in gaps_of(schedule, page))
        found.append(1 - fresh / (len(schedule) * rate * law.mean))
    return found


def test_cycles_by_definition():
    rng = np.random.default_rng(0)
    for law in LAWS:
        pages = random_pages(rng, 5, law)
        for length in (5, 12, 40):
            schedule = rng.integers(0, 5, length)
            found = schedule_obsolescence(pages, schedule)
            np.testing.assert_allclose(found, by_definition(pages, law, schedule.tolist()), rtol=1e-13)


def test_cycles_of_constant_accesses_are_integrals_over_time():
    """A page of constant gaps is out of date at time t after a visit with probability 1 - exp(-mu t)."""
    schedule, value = [0, 1, 0, 2, 2, 0, 1], 0.4
    pages = traits([0.3, 1.7, 4.0], [1.0, 1.0, 1.0], Constant(value))
    for page, rate in enumerate(pages.rates):
        lost = sum(
            quad(lambda t, rate=rate: -math.expm1(-rate * t), 0, gap * value)[0] for gap in gaps_of(schedule, page)
        )
        expected = lost / (len(schedule) * value)
        assert schedule_obsolescence(pages, schedule)[page] == pytest.approx(expected, rel=1e-12)


def test_cycles_of_exponential_accesses_are_integrals_over_erlang_gaps():
    """E[(S - R)^+] for a gap S of d exponential times and a first change R."""
    schedule, mean, rate = [0, 1, 1, 0, 1], 0.7, 1.3
    pages = traits([rate, 1.0], [1.0, 1.0], Exponential(mean))

    def late(gap):
        def outside(t):  # P(S > t), times the density of R, integrated by parts: P(R < t) P(S > t)
            return (
                -math.expm1(-rate * t)
                * math.exp(-t / mean)
                * sum((t / mean) ** k / math.factorial(k) for k in range(gap))
            )

        return quad(outside, 0, 60)[0]

    expected = (late(2) + late(3)) / (5 * mean)
    assert gaps_of(schedule, 0) == [3, 2]
    assert schedule_obsolescence(pages, schedule)[0] == pytest.approx(expected, rel=1e-10)


def test_equal_gaps_are_even_spacing():
    for law in LAWS:
        pages = traits([0.2, 1.0, 3.0, 0.01], [1.0, 2.0, 0.5, 1.0], law)
        schedule = [0, 1, 0, 2, 0, 1, 0, 3]  # gaps of 2, 4, 8, 8
        frequencies = [1 / 2, 1 / 4, 1 / 8, 1 / 8]
        expected = schedule_obsolescence(pages, schedule)
        np.testing.assert_allclose(even_obsolescence(pages, frequencies), expected, rtol=1e-14)
        np.testing.assert_allclose(integer_obsolescence(pages, frequencies), expected, rtol=1e-14)


def test_random_slots_are_geometric_gaps():
    rng = np.random.default_rng(1)
    for law in LAWS:
        pages = random_pages(rng, 4, law)
        frequencies = rng.dirichlet(np.ones(4))
        n = np.arange(1, 20_000)
        for page, f in enumerate(frequencies):
            chances = f * (1 - f) ** (n - 1)
            load = pages.rates[page] * law.mean
            late = (chances * (n * load - 1 + np.exp(-pages.decays[page] * n))).sum()
            expected = late / (chances * n * load).sum()
            assert randomized_obsolescence(pages, frequencies)[page] == pytest.approx(expected, rel=1e-9)


def test_random_slots_of_one_page_are_no_lottery():
    for law in LAWS:
        pages = traits([0.7], [1.0], law)
        every = schedule_obsolescence(pages, [0])
        np.testing.assert_allclose(randomized_obsolescence(pages, [1.0]), every, rtol=1e-14)
        np.testing.assert_allclose(even_obsolescence(pages, [1.0]), every, rtol=1e-14)


@pytest.mark.parametrize("rate", [1e-140, 1e-17, 1e-9, 1e-4])
def test_rates_of_slow_pages_keep_their_digits(rate):
    """Two and three slots apart, exponential times: r is about 1e-9, one minus a number near one."""
    pages = traits([rate, 1.0], [1.0, 1.0], Exponential(1.0))
    with localcontext() as context:
        context.prec = 700
        mu, share = Decimal(rate), Decimal(2) / 5
        h = 1 / (1 + mu)
        cycle = 1 - ((1 - h**2) + (1 - h**3)) / (5 * mu)
        even = 1 - share / mu * (1 - (h.ln() / share).exp())
        drawn = 1 - share / mu * (1 - h) / (1 - h + share * h)
    assert schedule_obsolescence(pages, [0, 1, 0, 1, 1])[0] == pytest.approx(float(cycle), rel=2e-15, abs=0)
    assert even_obsolescence(pages, [0.4, 0.6])[0] == pytest.approx(float(even), rel=2e-15, abs=0)
    assert randomized_obsolescence(pages, [0.4, 0.6])[0] == pytest.approx(float(drawn), rel=2e-15, abs=0)


def test_pages_that_are_never_visited_or_never_change():
    pages = traits([0.0, 1.0, 0.0, 2.0], [1.0, 1.0, 3.0, 0.0], Exponential(1.0))
    none = np.zeros(4)
    for found in (
        even_obsolescence(pages, none),
        randomized_obsolescence(pages, none),
        integer_obsolescence(pages, none),
        schedule_obsolescence(pages, [0, 2]),
    ):
        assert found.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert even_obsolescence(pages, [0.5, 0.5, 0.0, 0.0])[0] == 0.0
    assert cost(pages, even_obsolescence(pages, none)) == 1.0
    assert pages.worths.tolist() == [0.0, 1.0, 0.0, 0.0]


@given(st.lists(st.integers(1, 30), min_size=2, max_size=8), st.floats(1e-6, 20.0), st.integers(0, 5), st.data())
@settings(max_examples=60, deadline=None)
def test_evener_gaps_are_fresher(gaps, rate, law, data):
    """Theorem 3.2: a transfer from a longer gap to a shorter one never hurts."""
    pages = traits([rate, 1.0], [1.0, 1.0], LAWS[law])

    def cycle(lengths):
        return np.concatenate([[0, *[1] * (length - 1)] for length in lengths]).astype(int)

    i = data.draw(st.integers(0, len(gaps) - 1))
    j = data.draw(st.integers(0, len(gaps) - 1))
    if gaps[i] < gaps[j] + 2:
        return
    nearer = list(gaps)
    moved = data.draw(st.integers(1, gaps[i] - gaps[j] - 1))
    nearer[i], nearer[j] = gaps[i] - moved, gaps[j] + moved
    before, after = schedule_obsolescence(pages, cycle(gaps))[0], schedule_obsolescence(pages, cycle(nearer))[0]
    assert after <= before * (1 + 1e-14)


def test_visits_help_and_bounds_hold():
    """At given frequencies: even spacing, whole gaps, any cycle, slots drawn at random: in this order."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        pages = random_pages(rng, 4)
        schedule = rng.integers(0, 4, int(rng.integers(4, 30)))
        frequencies = schedule_gaps(schedule, 4).visits / len(schedule)
        even, whole = even_obsolescence(pages, frequencies), integer_obsolescence(pages, frequencies)
        cycle, drawn = schedule_obsolescence(pages, schedule), randomized_obsolescence(pages, frequencies)
        assert (even <= whole * (1 + 1e-13)).all()
        assert (whole <= cycle * (1 + 1e-13)).all()
        assert (whole <= drawn * (1 + 1e-13)).all()
        more = np.minimum(1.0, frequencies * 1.01)
        assert (even_obsolescence(pages, more) <= even * (1 + 1e-14)).all()
        assert (randomized_obsolescence(pages, more) <= drawn * (1 + 1e-14)).all()
        assert (integer_obsolescence(pages, more) <= whole * (1 + 1e-14)).all()


def best_cycle(pages, longest):
    count = len(pages)
    return min(
        cost(pages, schedule_obsolescence(pages, np.array(cycle)))
        for length in range(1, longest + 1)
        for cycle in itertools.product(range(count), repeat=length)
        if cycle[0] == min(cycle)
    )


@pytest.mark.parametrize("seed", range(6))
def test_whole_gaps_bound_all_cycles_of_two_pages_and_are_attained(seed):
    rng = np.random.default_rng(seed)
    pages = random_pages(rng, 2)
    bound, best = integer_bound(pages), best_cycle(pages, 11)
    assert bound <= best * (1 + 1e-14)
    assert best == pytest.approx(bound, rel=1e-12)  # 11 slots are enough for these rates


@pytest.mark.parametrize("seed", range(6))
def test_whole_gaps_bound_all_cycles_of_three_pages_better_than_even_spacing(seed):
    pages = random_pages(np.random.default_rng(100 + seed), 3)
    bound = integer_bound(pages)
    assert allocate(pages).bound <= bound * (1 + 1e-14)
    assert bound <= best_cycle(pages, 8) * (1 + 1e-14)


def test_whole_gaps_are_the_best_frequencies_of_their_bound():
    """Against a grid of frequencies of three pages, which can only be worse, and not by much."""
    rng = np.random.default_rng(8)
    for _ in range(3):
        pages = random_pages(rng, 3)
        steps = 240
        values = [
            cost(pages, integer_obsolescence(pages, np.array([i, j, steps - i - j]) / steps))
            for i in range(steps + 1)
            for j in range(steps + 1 - i)
        ]
        bound = integer_bound(pages)
        assert bound <= min(values) * (1 + 1e-14)
        assert min(values) == pytest.approx(bound, rel=2e-3)


def test_whole_gaps_of_rates_of_any_size():
    """Prices forty powers of ten below the largest worth: the bound is still between even spacing and a cycle."""
    rng = np.random.default_rng(9)
    for _ in range(200):
        count, spread = int(rng.integers(1, 8)), rng.choice([1.0, 10.0, 40.0])
        law = LAWS[rng.integers(len(LAWS))]
        pages = traits(np.exp(spread * rng.normal(size=count)), np.exp(spread * rng.normal(size=count)), law)
        bound = integer_bound(pages)
        assert allocate(pages).bound <= bound * (1 + 1e-13)
        assert bound <= cost(pages, schedule_obsolescence(pages, rng.permutation(count))) * (1 + 1e-13)


def test_whole_gaps_for_several_robots():
    rng = np.random.default_rng(3)
    pages = random_pages(rng, 6, Exponential(1.0))
    bounds = [integer_bound(pages, total) for total in (0.5, 1.0, 2.0, 5.0, 6.0, 9.0)]
    assert (np.diff(bounds) <= 1e-14).all()
    every = cost(pages, schedule_obsolescence(traits(pages.rates, pages.weights, Exponential(1.0)), np.arange(6)))
    assert bounds[-1] == pytest.approx(cost(pages, even_obsolescence(pages, np.ones(6))), rel=1e-14)
    assert bounds[1] <= every
    halves = [pages.of(np.arange(0, 6, 2)), pages.of(np.arange(1, 6, 2))]
    apart = sum(cost(half, schedule_obsolescence(half, [0, 1, 2, 1])) for half in halves)
    assert bounds[2] <= apart


def test_whole_gaps_of_many_pages_are_nearly_even():
    rng = np.random.default_rng(5)
    pages = traits(rng.lognormal(size=2000) / 2000, rng.lognormal(size=2000), Exponential(1.0))
    even, whole = allocate(pages).bound, integer_bound(pages)
    assert even <= whole * (1 + 1e-14)
    assert whole <= even * 1.00001


def test_gaps():
    gaps = schedule_gaps([2, 0, 0, 2, 0, 2], 4)
    assert gaps.visits.tolist() == [3, 0, 3, 0]
    assert gaps.shortest.tolist() == [1, 0, 1, 0]
    assert gaps.longest.tolist() == [3, 0, 3, 0]
    alone = schedule_gaps([1, 0, 1], 2)
    assert (alone.shortest.tolist(), alone.longest.tolist()) == ([3, 1], [3, 2])


def test_costs_are_rounded_once():
    rng = np.random.default_rng(6)
    pages = traits(rng.lognormal(size=50_000), 10.0 ** rng.uniform(-12, 12, 50_000), Constant(1.0))
    rates = rng.random(50_000)
    assert cost(pages, rates) == pytest.approx(math.fsum(pages.weights * rates), rel=2e-16)


def test_parts_of_pages():
    pages = random_pages(np.random.default_rng(7), 5)
    some = pages.of(np.array([3, 1]))
    assert len(some) == 2
    np.testing.assert_array_equal(
        even_obsolescence(some, [0.3, 0.2]), even_obsolescence(pages, [0, 0.2, 0, 0.3, 0])[[3, 1]]
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: traits([1.0, -2.0], [1.0, 1.0], Constant(1.0)), r"rates\[1\] must be .* at least 0, but it is -2.0"),
        (lambda p: traits([1.0, 2.0], [math.nan, 1.0], Constant(1.0)), r"weights\[0\] must be .* but it is nan"),
        (lambda p: traits([1.0, math.inf], [1.0, 1.0], Constant(1.0)), r"rates\[1\] must be .* but it is inf"),
        (lambda p: traits([1.0], [1.0, 1.0], Constant(1.0)), "equally many, but there are 1 and 2"),
        (lambda p: traits([1.0, 1e-300], [1.0, 1e10], Constant(1.0)), r"rates\[1\] .*with the weight"),
        (lambda p: traits([1e300, 1.0], [1.0, 1.0], Constant(1e9)), r"rates\[0\] .*with the weight"),
        (lambda p: traits([], [], Constant(1.0)), "rates must be a list of numbers"),
        (lambda p: schedule_obsolescence(p, [0, 3]), r"schedule\[1\] must be a page number from 0 to 2, but it is 3"),
        (lambda p: schedule_obsolescence(p, [0, -2]), r"schedule\[1\] must be a page number"),
        (lambda p: schedule_obsolescence(p, []), "schedule must be a list of page numbers"),
        (lambda p: schedule_obsolescence(p, [0.5]), "schedule must be a list of page numbers"),
        (lambda p: even_obsolescence(p, [0.5, 0.5]), "frequencies must be one for each of 3 pages"),
        (lambda p: even_obsolescence(p, [0.5, -0.5, 1.0]), r"frequencies\[1\] must be"),
        (
            lambda p: randomized_obsolescence(p, [0.5, 1.5, 1.0]),
            r"frequencies\[1\] must be at most 1.0 visits per slot",
        ),
        (lambda p: cost(p, [0.5]), "obsolescence must have one rate for each of 3 pages"),
        (lambda p: integer_bound(p, 0.0), "total must be a finite number above 0"),
    ],
)
def test_wrong_numbers_are_refused_in_one_sentence(call, sentence):
    pages = traits([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], Constant(1.0))
    with pytest.raises(ValueError, match=sentence):
        call(pages)
