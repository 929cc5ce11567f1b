r"""Coffman, Liu, Weber, "Optimal robot scheduling for web search engines" (1999): every claim, right or wrong.

A claim that does not hold has a case of its own, named erratum: what is printed, what is right, and why. Formulas are
written here as they are printed and held against the package, against integrals, and against a simulation that knows no
formula. Sections 2 to 4; the golden ratio of section 5 is in ``test_coffman_golden.py``.
"""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.linalg import block_diag, expm
from scipy.optimize import minimize

from heuristics.sequencing import power_of_two
from queueing import PhaseType
from queueing.freshness import (
    allocate,
    allocate_randomized,
    cost,
    even_obsolescence,
    randomized_obsolescence,
    schedule_obsolescence,
    traits,
)
from queueing.freshness.simulation import Cycle, Draws, SimulatedCrawl
from queueing.freshness.simulation.runs import simulate
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples

COX = PhaseType([0.8, 0.2], [[-2.0, 1.5], [0.3, -0.9]])
LAWS = {
    "constant": Constant(0.7),
    "exponential": Exponential(1.3),
    "erlang": Erlang(3, 0.9),
    "hyperexponential": Hyperexponential((0.3, 0.7), (2.0, 0.4)),
    "phase-type": PhaseTypeTime(COX),
    "samples": Samples((0.0, 0.5, 0.5, 3.0)),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)

#: C2: X' is 0 or 10, X is 1 or 10, the larger with probability 1/10.
SOONER, LATER = Samples((0.0,) * 9 + (10.0,)), Samples((1.0,) * 9 + (10.0,))


def phases(law):
    """A law as phases that end, from its parameters: initial probabilities and generator."""
    match law:
        case Exponential():
            return np.ones(1), np.array([[-1 / law.mean]])
        case Erlang():
            rate = law.stages / law.mean
            return np.eye(law.stages)[0], rate * (np.eye(law.stages, k=1) - np.eye(law.stages))
        case Hyperexponential():
            return np.array(law.probabilities), np.diag(-1 / np.array(law.means))
        case PhaseTypeTime():
            return np.array(law.law.initial), np.array(law.law.generator)
    return None


def atoms(law):
    return np.array([law.value] if isinstance(law, Constant) else law.values)


def transform(law, rate):
    """h = E exp(-mu X), by the definition."""
    if phases(law) is None:
        return float(np.exp(-rate * atoms(law)).mean())
    initial, generator = phases(law)
    return float(initial @ np.linalg.solve(rate * np.eye(len(initial)) - generator, -generator.sum(axis=1)))


def transforms(law, rates):
    return np.array([transform(law, rate) for rate in rates])


def lemma_3_1(distance, rate, mean, h):
    return distance * mean - (1 - h**distance) / rate


def theorem_3_3(frequency, rate, mean, h):
    return (mean - frequency / rate + frequency / rate * h ** (1 / frequency)) / mean


def lemma_4_1(frequency, rate, mean, h):
    return (mean - frequency / rate + frequency / rate * frequency * h / (1 - h + frequency * h)) / mean


def gaps(schedule, page):
    """Distances between visits to a page of a cycle that is repeated for ever."""
    places = np.flatnonzero(np.asarray(schedule) == page)
    return np.diff(np.append(places, places[0] + len(schedule)))


def random_cycle(rng, pages, slots):
    """Every page once at least, the rest as it comes."""
    return rng.permutation(np.concatenate([np.arange(pages), rng.integers(0, pages, slots - pages)]))


def frequencies_of(schedule, pages):
    return np.bincount(schedule, minlength=pages) / len(schedule)


def late_by_integration(law, distance, rate):
    """E(X_1 + ... + X_d - R)^+ as the integral of P(R < t) P(X_1 + ... + X_d > t): no transform of X is used."""
    nodes, weights = np.polynomial.legendre.leggauss(60 if phases(law) is None else 12)
    nodes, weights = (nodes + 1) / 2, weights / 2
    if phases(law) is None:
        sums = np.array([0.0])
        for _ in range(distance):
            sums = np.add.outer(sums, atoms(law)).ravel()
        inner = sums[:, None] * nodes  # one panel up to each sum
        return float((sums[:, None] * weights * -np.expm1(-rate * inner)).sum() / len(sums))
    initial, generator = phases(law)
    size = len(initial)
    whole = block_diag(*[generator] * distance)
    for stage in range(distance - 1):
        here, there = slice(stage * size, (stage + 1) * size), slice((stage + 1) * size, (stage + 2) * size)
        whole[here, there] = np.outer(-generator.sum(axis=1), initial)
    alive, panel, total, begin = np.append(initial, np.zeros(size * (distance - 1))), 0.25, 0.0, 0.0
    steps, across = [expm(whole * panel * node) for node in nodes], expm(whole * panel)
    while alive.sum() > 1e-14:
        for node, weight, step in zip(nodes, weights, steps, strict=True):
            total += panel * weight * -math.expm1(-rate * (begin + panel * node)) * (alive @ step).sum()
        alive, begin = alive @ across, begin + panel
    return total


# -- section 2 and Lemma 3.1 -------------------------------------------------------------------------------------------


@every_law
def test_equation_3_is_what_a_simulated_cycle_shows(law):
    rates, cycle = np.array([0.3, 0.9, 2.0]), [0, 1, 1, 2, 0, 2, 2, 1]
    h = transforms(law, rates)
    by_hand = [
        lemma_3_1(gaps(cycle, page), rates[page], law.mean, h[page]).sum() / (len(cycle) * law.mean)
        for page in range(3)
    ]
    assert schedule_obsolescence(traits(rates, np.ones(3), law), cycle) == pytest.approx(by_hand, rel=1e-11)
    seen = simulate(SimulatedCrawl(rates, np.ones(3), law, (Cycle(cycle),)), time=4000 * law.mean, seed=3)
    for one, exact in zip(seen.obsolescence_by_page(), by_hand, strict=True):
        assert one.error < 0.01 * exact
        assert one.covers(exact, 0.9999)


def test_a_gap_of_d_exponential_accesses_is_erlang_of_d_stages():
    rates = np.geomspace(1e-3, 1e3, 13)
    for distance in (1, 2, 7):
        together = Erlang(distance, distance * 1.3).decay(rates)
        assert together == pytest.approx(distance * Exponential(1.3).decay(rates), rel=1e-14)


@every_law
@pytest.mark.parametrize("distance", [1, 2, 5])
def test_lemma_3_1_by_integration(law, distance):
    for rate in (0.1, 1.0, 4.0):
        h = transform(law, rate)
        assert late_by_integration(law, distance, rate) == pytest.approx(
            lemma_3_1(distance, rate, law.mean, h), rel=1e-11
        )


@every_law
def test_lemma_3_1_by_simulation(law):
    """Page 0 every fourth slot: r_0 is E[Z] over the mean of such a gap."""
    distance, rate = 4, 0.6
    crawl = SimulatedCrawl([rate, 1.0], [1.0, 1.0], law, (Cycle([0, 1, 1, 1]),))
    found = simulate(crawl, time=8000 * law.mean, seed=1).obsolescence_by_page()[0]
    exact = lemma_3_1(distance, rate, law.mean, transform(law, rate)) / (distance * law.mean)
    assert found.error < 0.01 * exact
    assert found.covers(exact, 0.9999)


# -- Theorem 3.1 -------------------------------------------------------------------------------------------------------


def stop_loss(law, level):
    return np.maximum(np.array(law.values) - level, 0).mean()


def test_erratum_theorem_3_1_a_shorter_access_time_can_make_a_page_more_obsolete():
    """Printed: X' below X in the increasing convex order gives r' <= r. But r' has 1/E[X'], which is above 1/E[X]."""
    rate = 1.0
    assert (np.sort(SOONER.values) <= np.sort(LATER.values)).all()  # sooner in every case, hence in this order too
    assert all(stop_loss(SOONER, level) <= stop_loss(LATER, level) for level in (0.0, 1.0, 10.0))
    late = {}
    for name, law in (("sooner", SOONER), ("later", LATER)):
        pages = traits([rate], [1.0], law)
        (exact,) = schedule_obsolescence(pages, [0])
        assert exact == pytest.approx(1 - (1 - transform(law, rate)) / (rate * law.mean), rel=1e-12)
        seen = simulate(SimulatedCrawl([rate], [1.0], law, (Cycle([0]),)), time=20_000.0, seed=2)
        assert seen.cost().covers(exact, 0.9999)
        assert seen.cost().error < 0.002
        late[name] = exact
    assert [round(late["sooner"], 4), round(late["later"], 4)] == [0.9000, 0.6479]
    assert late["sooner"] > late["later"]
    # What the proof does show: the time out of date between two visits is shorter. The visits come sooner still.
    assert lemma_3_1(1, rate, SOONER.mean, transform(SOONER, rate)) == pytest.approx(0.9000, abs=5e-5)
    assert lemma_3_1(1, rate, LATER.mean, transform(LATER, rate)) == pytest.approx(1.2311, abs=5e-5)
    assert late["sooner"] * SOONER.mean / LATER.mean < late["later"]  # as printed, over the mean of the other law


def test_theorem_3_1_holds_for_the_time_out_of_date_between_two_visits():
    """X' below X in the increasing convex order: every time shorter, and then drawn together to the mean."""
    rng = np.random.default_rng(31)
    for _ in range(200):
        larger = rng.exponential(size=6)
        smaller = larger * rng.uniform(size=6)
        part = rng.uniform()
        smaller = part * smaller + (1 - part) * smaller.mean()  # below in the convex order
        rate, distance = rng.exponential(2.0), int(rng.integers(1, 9))
        times = [
            lemma_3_1(distance, rate, law.mean, transform(law, rate))
            for law in (Samples(tuple(smaller)), Samples(tuple(larger)))
        ]
        assert times[0] <= times[1]


def test_theorem_3_1_holds_in_the_convex_order_where_means_are_equal():
    rng = np.random.default_rng(32)
    for _ in range(200):
        wide = rng.exponential(size=6)
        narrow = wide + rng.uniform() * (wide.mean() - wide)
        pages = int(rng.integers(1, 6))
        cycle = random_cycle(rng, pages, pages + int(rng.integers(0, 12)))
        rates = rng.lognormal(size=pages)
        better, worse = (
            schedule_obsolescence(traits(rates, rates, Samples(tuple(times))), cycle) for times in (narrow, wide)
        )
        assert (better <= worse * (1 + 1e-12)).all()
        shares = frequencies_of(cycle, pages)
        assert (
            randomized_obsolescence(traits(rates, rates, Samples(tuple(narrow))), shares)
            <= randomized_obsolescence(traits(rates, rates, Samples(tuple(wide))), shares) * (1 + 1e-12)
        ).all()


def test_theorem_3_1_orders_the_usual_laws_of_one_mean():
    chain = [Constant(1.0), Erlang(9, 1.0), Erlang(2, 1.0), Exponential(1.0), Hyperexponential((0.5, 0.5), (0.2, 1.8))]
    rates, cycle = np.geomspace(0.01, 10.0, 5), [0, 1, 2, 0, 3, 4, 4, 1]
    late = [schedule_obsolescence(traits(rates, rates, law), cycle) for law in chain]
    assert all((first < second).all() for first, second in pairwise(late))


def test_erratum_after_lemma_3_1_the_laplace_transform_order_does_not_order_obsolescence():
    """Printed: Theorem 3.1 holds for "the weaker Laplace-transform ordering" too. In either sense it does not."""
    short, spread, slow = Constant(1.0), Exponential(1.0), Constant(10.0)
    rates = np.geomspace(1e-3, 1e2, 25)

    def late(law):
        """One page visited in every slot, at each of the rates."""
        return np.concatenate([schedule_obsolescence(traits([rate], [1.0], law), [0]) for rate in rates])

    # X' is smaller if E exp(-s X') is larger for every s (the usual sense): then the exponential law is the smaller.
    assert (transforms(spread, rates) > transforms(short, rates)).all()
    assert (late(spread) > late(short)).all()  # of two laws with one mean the smaller one is worse, without exception
    # So it is not weaker either: the constant is below the exponential law in the (increasing) convex order.
    assert all(max(1.0 - level, 0.0) <= math.exp(-level) for level in np.linspace(0, 5, 101))  # E(X - level)^+
    # In the other sense an access ten times as long would be the smaller, and better.
    assert (transforms(slow, rates) < transforms(short, rates)).all()
    assert (late(slow) > late(short)).all()


# -- Theorems 3.2 and 3.3 ----------------------------------------------------------------------------------------------


def balanced_once(rng, distances):
    """One transfer from a longer distance to a shorter one, not beyond their exchange: majorised by what it was."""
    first, second = rng.choice(len(distances), 2, replace=False)
    low, high = sorted((first, second), key=lambda index: distances[index])
    moved = rng.integers(0, distances[high] - distances[low] + 1)
    after = distances.copy()
    after[low] += moved
    after[high] -= moved
    return after


@every_law
def test_theorem_3_2_time_out_of_date_is_schur_convex_in_the_distances(law):
    rng = np.random.default_rng(41)
    for _ in range(150):
        before = rng.integers(1, 30, rng.integers(2, 8))
        after = before
        for _ in range(int(rng.integers(1, 5))):
            after = balanced_once(rng, after)
        partial = [np.cumsum(np.sort(one)[::-1]) for one in (before, after)]
        assert (partial[0] >= partial[1]).all()  # `before` majorises `after`
        assert partial[0][-1] == partial[1][-1]
        rate = float(rng.lognormal(sigma=2.0))
        h = transform(law, rate)
        worse, better = (lemma_3_1(one, rate, law.mean, h).sum() for one in (before, after))
        assert better <= worse * (1 + 1e-12)


def test_theorem_3_2_even_spacing_is_best_among_all_compositions():
    rate, mean, visits, slots = 0.4, 1.0, 4, 14
    h = transform(Exponential(mean), rate)
    every = [one for one in product(range(1, slots), repeat=visits) if sum(one) == slots]
    late = [sum(lemma_3_1(distance, rate, mean, h) for distance in one) for one in every]
    least = min(late)
    best = {tuple(sorted(one)) for one, value in zip(every, late, strict=True) if value <= least * (1 + 1e-12)}
    assert best == {(3, 3, 4, 4)}


@every_law
def test_theorem_3_3_bounds_every_page_of_every_cycle(law):
    rng = np.random.default_rng(51)
    for _ in range(60):
        pages = int(rng.integers(1, 8))
        cycle = random_cycle(rng, pages, pages + int(rng.integers(0, 25)))
        rates, shares = rng.lognormal(sigma=1.5, size=pages), frequencies_of(cycle, pages)
        asked = traits(rates, rates, law)
        bound = theorem_3_3(shares, rates, law.mean, transforms(law, rates))
        assert even_obsolescence(asked, shares) == pytest.approx(bound, rel=1e-9, abs=1e-12)
        assert (schedule_obsolescence(asked, cycle) >= even_obsolescence(asked, shares) * (1 - 1e-12)).all()
        assert (randomized_obsolescence(asked, shares) >= even_obsolescence(asked, shares) * (1 - 1e-12)).all()


@every_law
@pytest.mark.parametrize("pages", [1, 2, 7, 30])
def test_theorem_3_3_is_reached_with_equal_frequencies(law, pages):
    rates = np.random.default_rng(pages).lognormal(size=pages)
    asked = traits(rates, rates, law)
    assert schedule_obsolescence(asked, np.arange(pages)) == pytest.approx(
        even_obsolescence(asked, np.full(pages, 1 / pages)), rel=1e-13
    )


def halving_cycle(exponents):
    """Pages at every 2^k-th slot, the most frequent first, each at the first slot that is free."""
    cycle = np.full(2 ** max(exponents), -1)
    for page in np.argsort(exponents, kind="stable"):
        first = int(np.flatnonzero(cycle < 0)[0])
        cycle[first :: 2 ** exponents[page]] = page
    return cycle


def random_exponents(rng):
    """k_i with sum of 2^-k_i = 1: split the whole again and again."""
    exponents = [0]
    for _ in range(int(rng.integers(1, 12))):
        split = exponents.pop(int(rng.integers(len(exponents))))
        exponents += [split + 1, split + 1]
    return rng.permutation(exponents)


@every_law
def test_theorem_3_3_is_reached_with_frequencies_that_are_powers_of_one_half(law):
    rng = np.random.default_rng(52)
    for _ in range(30):
        exponents = random_exponents(rng)
        rates = rng.lognormal(size=len(exponents))
        asked = traits(rates, rates, law)
        bound = even_obsolescence(asked, 0.5**exponents)
        for cycle in (halving_cycle(exponents), power_of_two(0.5**exponents)):
            assert (frequencies_of(cycle, len(rates)) == 0.5**exponents).all()
            assert schedule_obsolescence(asked, cycle) == pytest.approx(bound, rel=1e-13)


def test_theorem_3_3_is_reached_in_special_cases_only():
    """No cycle, however long, spaces visits evenly if 1/f is not whole: f = 2/5 and 3/5."""
    rates = np.ones(2)
    asked = traits(rates, rates, Constant(1.0))
    bound = cost(asked, even_obsolescence(asked, [0.4, 0.6]))
    every = [word for word in product(range(2), repeat=10) if sum(word) == 6]
    least = min(cost(asked, schedule_obsolescence(asked, word)) for word in every)
    best = [
        lemma_3_1(np.array(one), 1.0, 1.0, math.exp(-1)).sum() / 5 for one in ((2, 3), (1, 2, 2))
    ]  # as even as can be
    assert least == pytest.approx(sum(best), rel=1e-12)
    assert round(least / bound, 4) == 1.0162


# -- Theorem 3.4 -------------------------------------------------------------------------------------------------------


def equation_6(rates, mean, h, scale=1.0):
    return scale * (rates.sum() - 1 / mean + np.prod(h) / mean)


def equation_10(h):
    return np.log(h) / np.log(h).sum()


@every_law
def test_theorem_3_4_closed_form_is_the_least_cost_of_even_spacing(law):
    rng = np.random.default_rng(61)
    for pages in (1, 2, 5, 40):
        rates, scale = rng.lognormal(size=pages) / pages, 1.7
        h = transforms(law, rates)
        asked = traits(rates, scale * rates, law)
        found = allocate(asked)
        assert found.frequencies == pytest.approx(equation_10(h), rel=1e-11)
        assert found.objective == pytest.approx(equation_6(rates, law.mean, h, scale), rel=1e-11)
        assert found.bound == pytest.approx(found.objective, rel=1e-12)
        assert equation_6(rates, law.mean, h, scale) > 0
        assert np.prod(h) > 1 - rates.sum() * law.mean  # why it is above 0
        for _ in range(20):
            other = rng.dirichlet(np.ones(pages))
            assert cost(asked, even_obsolescence(asked, other)) >= found.objective * (1 - 1e-12)


@every_law
def test_theorem_3_4_by_a_solver_that_knows_no_multiplier(law):
    rates = np.array([0.2, 0.5, 1.1])
    h = transforms(law, rates)
    asked = traits(rates, rates, law)

    def spent(logits):
        shares = np.exp(logits - logits.max())
        return cost(asked, even_obsolescence(asked, shares / shares.sum()))

    found = minimize(spent, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000})
    shares = np.exp(found.x - found.x.max())
    assert shares / shares.sum() == pytest.approx(equation_10(h), abs=1e-5)
    assert found.fun == pytest.approx(equation_6(rates, law.mean, h), rel=1e-10)


@every_law
def test_theorem_3_4_bounds_every_cycle(law):
    """All cycles of up to 7 slots with 3 pages, some of which are never visited."""
    rates = np.array([0.2, 0.5, 1.1])
    asked, bound = traits(rates, rates, law), equation_6(rates, law.mean, transforms(law, rates))
    for slots in range(1, 8):
        for word in product(range(3), repeat=slots):
            assert cost(asked, schedule_obsolescence(asked, word)) >= bound


def test_theorem_3_4_is_reached_by_pages_that_can_be_visited_evenly():
    """The bound is tight: constant access times, change rates proportional to powers of one half."""
    exponents = np.array([1, 2, 4, 4, 3])
    rates = 0.8 * 0.5**exponents
    asked = traits(rates, rates, Constant(1.0))
    least = cost(asked, schedule_obsolescence(asked, halving_cycle(exponents)))
    assert least == pytest.approx(equation_6(rates, 1.0, np.exp(-rates)), rel=1e-12)


@every_law
def test_equation_8_is_the_derivative_of_the_cost(law):
    rate, weight, h = 0.8, 1.3, transform(law, 0.8)
    asked = traits([rate], [weight], law)
    for share in (0.05, 0.3, 0.9):
        printed = -weight / (rate * law.mean) * (1 - h ** (1 / share) + math.log(h) / share * h ** (1 / share))
        step = 1e-5
        up, down = (cost(asked, even_obsolescence(asked, [share + by])) for by in (step, -step))
        assert (up - down) / (2 * step) == pytest.approx(printed, rel=1e-7, abs=1e-8)
    assert printed < 0


@every_law
def test_costs_of_even_spacing_and_of_draws_are_convex_in_the_frequency(law):
    """Said of (7) and of (12); and 1 - y + y ln y falls on (0, 1)."""
    shares = np.linspace(0.001, 1.0, 400)
    asked = traits(np.full(400, 0.8), np.ones(400), law)
    for judged in (even_obsolescence, randomized_obsolescence):
        assert (np.diff(judged(asked, shares), 2) > -1e-13).all()
    y = np.linspace(1e-6, 1 - 1e-6, 1000)
    assert (np.diff(1 - y + y * np.log(y)) < 0).all()


def test_best_frequencies_are_proportional_to_change_rates_only_if_access_times_are_constant():
    rates = np.array([0.1, 0.2, 0.4, 0.8, 1.6])
    for name, law in LAWS.items():
        parts = allocate(traits(rates, rates, law)).frequencies / rates
        if name == "constant":
            assert parts == pytest.approx(np.full(5, 1 / rates.sum()), rel=1e-12)
        else:
            assert (np.diff(parts) < -1e-3 * parts[:-1]).all()  # ln(1/h) is strictly concave in mu


@every_law
def test_reading_of_the_abstract_frequencies_are_proportional_to_the_logarithm_of_1_over_h(law):
    """ "ln(h_i)^{-1}" is ln(1/h_i); as 1/ln(h_i) pages that change often would be visited least."""
    rates = np.array([0.1, 0.4, 1.6])
    h = transforms(law, rates)
    best = allocate(traits(rates, rates, law)).frequencies
    right, wrong = np.log(1 / h), 1 / np.log(h)
    assert best == pytest.approx(right / right.sum(), rel=1e-11)
    assert (np.diff(best) > 0).all()
    assert (np.diff(wrong / wrong.sum()) < 0).all()


def test_access_times_larger_in_the_convex_order_take_frequencies_farther_from_the_change_rates():
    rates = np.geomspace(0.01, 10.0, 7)
    chain = [Constant(1.0), Erlang(9, 1.0), Erlang(2, 1.0), Exponential(1.0), Hyperexponential((0.5, 0.5), (0.2, 1.8))]
    differences = [rates * law.mean + np.log(transforms(law, rates)) for law in chain]
    assert all((less < more).all() for less, more in pairwise(differences))


def test_erratum_end_of_section_3_a_large_variance_does_not_make_the_difference_large():
    """Printed: mu E[X] - ln(1/h) "is large if Var(X) is large". Of one mean, 4 times the variance: 1/15 of it."""
    rare, usual, rate = Samples((0.98,) * 9_999 + (200.98,)), Exponential(1.0), 1.0
    variance = float(np.var(rare.values))
    assert (rare.mean, variance) == (pytest.approx(1.0), pytest.approx(4.0, rel=1e-3))
    small, large = (rate * law.mean + math.log(transform(law, rate)) for law in (rare, usual))
    assert (round(small, 4), round(large, 4)) == (0.0199, 0.3069)
    # It is so to the second order only, mu -> 0: the difference is mu^2 Var(X) / 2 + o(mu^2).
    for law, spread in ((rare, variance), (usual, 1.0)):
        assert law.deficit([1e-5])[0] == pytest.approx(0.5e-10 * spread, rel=0.01)


# -- section 4: random draws -------------------------------------------------------------------------------------------


@every_law
def test_lemma_4_1_is_what_simulated_draws_show(law):
    rates, shares = np.array([0.3, 0.9, 2.0]), np.array([0.15, 0.25, 0.6])
    by_hand = lemma_4_1(shares, rates, law.mean, transforms(law, rates))
    assert randomized_obsolescence(traits(rates, np.ones(3), law), shares) == pytest.approx(by_hand, rel=1e-11)
    crawl = SimulatedCrawl(rates, np.ones(3), law, (Draws(np.arange(3), shares),))
    for one, exact in zip(simulate(crawl, time=8000 * law.mean, seed=5).obsolescence_by_page(), by_hand, strict=True):
        assert one.error < 0.01 * exact
        assert one.covers(exact, 0.9999)


@every_law
def test_lemma_4_1_is_lemma_3_1_over_geometric_distances(law):
    rate, share, h = 0.9, 0.3, transform(law, 0.9)
    distances = np.arange(1, 200)
    chances = share * (1 - share) ** (distances - 1)
    late = (chances * lemma_3_1(distances, rate, law.mean, h)).sum()
    assert late == pytest.approx(law.mean / share - 1 / rate + share * h / (1 - h + share * h) / rate, rel=1e-12)
    assert late / (law.mean / share) == pytest.approx(lemma_4_1(share, rate, law.mean, h), rel=1e-12)


def difference(share, load, h):
    """Obsolescence of draws less the bound of Theorem 3.3."""
    return share / load * (share * h / (1 - h + share * h) - h ** (1 / share))


def test_erratum_after_lemma_4_1_the_difference_as_f_goes_to_0_lacks_a_factor_1_over_1_minus_h():
    """Exponential access times, mu E[X] = 0.8, f = 1e-4: in units of f^2."""
    law, load, share = Exponential(1.0), 0.8, 1e-4
    h = transform(law, load)
    asked = traits([load], [1.0], law)
    (late,), (least,) = randomized_obsolescence(asked, [share]), even_obsolescence(asked, [share])
    assert round((late - least) / share**2, 4) == 1.5623
    assert round(h / load, 4) == 0.6944  # as printed
    assert round(h / ((1 - h) * load), 4) == 1.5625  # right


@every_law
def test_difference_from_the_bound_as_f_goes_to_0(law):
    for rate in (0.3, 0.8, 3.0):
        load, h, share = rate * law.mean, transform(law, rate), 1e-6
        assert difference(share, load, h) / share**2 == pytest.approx(h / ((1 - h) * load), rel=2e-5)
        assert abs(difference(share, load, h) / share**2 / (h / load) - 1) > 0.03


def test_erratum_after_lemma_4_1_the_difference_as_f_goes_to_1_has_the_wrong_bracket():
    """The same page at f = 1 - 1e-5, in units of f - 1: as printed draws would be better than the lower bound."""
    law, load, missing = Exponential(1.0), 0.8, 1e-5
    h = transform(law, load)
    asked = traits([load], [1.0], law)
    (late,), (least,) = randomized_obsolescence(asked, [1 - missing]), even_obsolescence(asked, [1 - missing])
    assert late > least
    assert round((late - least) / -missing, 5) == -0.09954
    assert round(h / load * (1 + math.log(h)), 3) == 0.286  # as printed
    assert round(h / load * (1 - h + math.log(h)), 5) == -0.09954  # right


@every_law
def test_difference_from_the_bound_as_f_goes_to_1(law):
    for rate in (0.3, 0.8, 3.0):
        load, h, missing = rate * law.mean, transform(law, rate), 1e-5
        right = h / load * (1 - h + math.log(h))
        assert difference(1 - missing, load, h) / -missing == pytest.approx(right, rel=1e-3)
        assert right < 0 < difference(1 - missing, load, h)
        assert h / load * (1 + math.log(h)) - right == pytest.approx(h * h / load)  # what is printed too much
    assert difference(1.0, load, h) == pytest.approx(0.0, abs=1e-15)


def equation_11(rates, mean, h, scale=1.0):
    odds = (1 / h - 1).sum()
    return scale * (rates.sum() - odds / (1 + odds) / mean)


@every_law
def test_theorem_4_1_closed_form_is_the_least_cost_of_draws(law):
    rng = np.random.default_rng(71)
    for pages in (1, 2, 5, 40):
        rates, scale = rng.lognormal(size=pages) / pages, 1.7
        h = transforms(law, rates)
        asked = traits(rates, scale * rates, law)
        found = allocate_randomized(asked)
        assert found.frequencies == pytest.approx((1 / h - 1) / (1 / h - 1).sum(), rel=1e-11)  # (16)
        assert found.objective == pytest.approx(equation_11(rates, law.mean, h, scale), rel=1e-11)
        assert found.objective >= equation_6(rates, law.mean, h, scale) * (1 - 1e-12)
        for _ in range(20):
            other = rng.dirichlet(np.ones(pages))
            assert cost(asked, randomized_obsolescence(asked, other)) >= found.objective * (1 - 1e-12)


def equation_15(worths, odds):
    """Frequencies of (15) at the multiplier that the text gives for them, whatever their sign."""
    root = (np.sqrt(worths) * odds).sum() / (1 + odds.sum())
    return (np.sqrt(worths) / root - 1) * odds


@every_law
def test_equation_15_is_right_if_and_only_if_its_condition_holds(law):
    """sqrt(c/mu) of the worst page at least the mean of the text, for general weights."""
    rng, seen = np.random.default_rng(72), set()
    for _ in range(80):
        pages = int(rng.integers(2, 6))
        rates, weights = rng.lognormal(size=pages), rng.lognormal(sigma=0.6, size=pages)
        odds = 1 / transforms(law, rates) - 1
        holds = np.sqrt(weights / rates).min() >= (np.sqrt(weights / rates) * odds).sum() / (1 + odds.sum())
        asked = traits(rates, weights, law)
        printed, best = equation_15(weights / (rates * law.mean), odds), allocate_randomized(asked)
        assert printed.sum() == pytest.approx(1.0)
        assert (printed.min() >= 0) == holds
        assert best.gap < 1e-12
        if holds:
            assert best.frequencies == pytest.approx(printed, rel=1e-9, abs=1e-12)
        else:
            assert best.frequencies.min() == 0.0
        seen.add(bool(holds))
    assert seen == {True, False}


@every_law
def test_equation_13_is_the_derivative_of_the_cost_of_draws(law):
    rate, weight, h = 0.8, 1.3, transform(law, 0.8)
    asked = traits([rate], [weight], law)
    worth = weight / (rate * law.mean)
    for share in (0.05, 0.3, 0.9):
        quotient = (2 * h * (1 - h) * share + h * h * share * share) / (1 - h + h * share) ** 2
        step = 1e-5
        up, down = (cost(asked, randomized_obsolescence(asked, [share + by])) for by in (step, -step))
        assert (up - down) / (2 * step) == pytest.approx(worth * (quotient - 1), rel=1e-6)
        assert 1 - quotient == pytest.approx(((1 - h) / (1 - h + h * share)) ** 2)  # "can be rewritten"


# -- general weights ---------------------------------------------------------------------------------------------------


@every_law
def test_equations_8_and_9_give_the_optimum_where_all_pages_are_worth_their_price(law):
    rng, found = np.random.default_rng(81), 0
    for _ in range(40):
        rates, weights = 0.3 * rng.lognormal(sigma=0.3, size=4), rng.lognormal(sigma=0.3, size=4)
        best = allocate(traits(rates, weights, law))
        if best.frequencies.min() < 1e-3:
            continue
        found += 1
        h, x = transforms(law, rates), best.frequencies
        prices = weights / (rates * law.mean) * (1 - h ** (1 / x) + np.log(h) / x * h ** (1 / x))
        assert prices == pytest.approx(np.full(4, best.multiplier), rel=1e-9)
        assert x.sum() == pytest.approx(1.0)
    assert found >= 10


def test_erratum_after_theorem_3_4_pages_below_the_price_are_never_visited():
    """Printed: frequencies are strictly positive (1), and for general weights (8) and (9) can be solved. Not always."""
    rates, weights, law = np.array([1.0, 1.0]), np.array([1.0, 0.02]), Constant(1.0)
    asked = traits(rates, weights, law)
    best = allocate(asked)
    assert best.frequencies.tolist() == [1.0, 0.0]
    assert best.gap < 1e-14
    assert asked.worths[1] == 0.02 < best.multiplier == pytest.approx(1 - 2 / math.e)
    # (8) at page 2 has no solution unless the price is below its worth; then page 1 alone takes all slots and more.
    low, high = 1e-9, 50.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - (1 + middle) * math.exp(-middle) < 0.02 else (low, middle)
    assert 1.0 / low > 4.6  # x_1 = l_1 / u at that price, and more at every lower one
    for share in np.linspace(0.001, 0.999, 200):
        assert cost(asked, even_obsolescence(asked, [1 - share, share])) > best.objective
    for slots in range(1, 10):  # nor does any cycle gain by visiting page 2
        for word in product(range(2), repeat=slots):
            assert cost(asked, schedule_obsolescence(asked, word)) >= best.objective * (1 - 1e-15)


def test_pages_below_the_price_are_never_drawn_either():
    rates, weights, law = np.array([1.0, 1.0]), np.array([1.0, 0.02]), Constant(1.0)
    asked = traits(rates, weights, law)
    assert equation_15(asked.worths, 1 / transforms(law, rates) - 1).min() < 0
    assert allocate_randomized(asked).frequencies == pytest.approx([1.0, 0.0], abs=0.0)
