r"""Altman, Bhulai, Gaujal, Hordijk, "Open-loop routeing to M parallel servers with no buffers" (2000): every claim.

A claim that does not hold has a case of its own, named erratum: what is printed, what is right, and why. Formulas are
written here as they are printed and held against the package, against enumeration of all words or actions, and against
integrals. Servers have numbers from 0 here, from 1 in the paper. Section 4 is in ``test_altman_multimodular.py``.
"""

import math
from itertools import combinations, product

import numpy as np
import pytest
from gap_conditions import condition
from scipy.integrate import quad_vec
from scipy.linalg import expm

from queueing import BMAP
from queueing.processes import Constant, Erlang, Exponential, Samples
from queueing.routing import (
    MarkovArrivals,
    RenewalArrivals,
    TraceArrivals,
    callable_costs,
    freshness_costs,
    horizon_cost,
    loss_costs,
    word_cost,
    word_gaps,
    words_cost,
)
from queueing.routing.simulation import SimulatedRouting
from queueing.routing.simulation.runs import simulate

#: Rates of the fast server at which the best period grows from n to n + 1, n = 2, 3, ..., to the digits known before.
BREAKPOINTS = [
    2.4142135624,
    4.8532998323,
    9.1407350340,
    16.7712393546,
    30.4919333848,
    55.3844153698,
    100.8975344568,
    184.6804681474,
    339.8325987578,
    628.6534487945,
]
MMPP_GENERATOR, MMPP_RATES = np.array([[-0.5, 0.5], [0.2, -0.2]]), np.array([3.0, 0.4])
QUIET = np.array([[-3.0, 1.0, 0.0], [0.2, -1.0, 0.1], [0.0, 0.5, -2.0]])
ARRIVAL = np.array([[0.5, 1.0, 0.5], [0.0, 0.2, 0.5], [1.5, 0.0, 0.0]])


def poisson(rate=1.0):
    return RenewalArrivals(Exponential(1 / rate))


def all_words(servers, length):
    return np.array(list(product(range(servers), repeat=length)))


def best_word(costs, longest):
    """The cheapest word of up to so many slots, the shortest of these, by enumeration of all."""
    best, found = math.inf, None
    for length in range(1, longest + 1):
        words = all_words(costs.servers, length)
        values = words_cost(costs, words)
        if values.min() < best - 1e-13:
            best, found = float(values.min()), words[int(values.argmin())].tolist()
    return best, found


def best_actions(costs, slots, initial, terminal=True):
    """All cheapest sequences of so many actions, with or without the paper's terminal cost."""
    found = {}
    for actions in product(range(costs.servers), repeat=slots):
        ages, left = list(initial), 0.0
        for action in actions:
            ages = [age + 1 for age in ages]
            ages[action] = 1
        if not terminal:
            left = sum(costs.table(int(age))[server, int(age) - 1] for server, age in enumerate(ages))
        found[actions] = horizon_cost(costs, actions, initial) - left
    least = min(found.values())
    return least, [actions for actions, cost in found.items() if cost <= least + 1e-12 * abs(least)]


def fast_word(period):
    """(1, 2, ..., 2), the paper's word of this period."""
    return [0] + [1] * (period - 1)


# -- sections 2 and 3 -------------------------------------------------------------------------------------------------


def test_example_2_1_poisson_losses():
    rate, services = 1.7, [0.4, 2.0]
    table = loss_costs(poisson(rate), services).table(30)
    assert table == pytest.approx(np.array([[(rate / (rate + mu)) ** n for n in range(1, 31)] for mu in services]))


def test_section_2_exponential_services_lose_as_much_if_they_are_not_interrupted():
    """Without preemption the packet that finds a busy server is lost; what remains of the old service is as long."""
    rng, word, rates = np.random.default_rng(3), [0, 1, 1], [0.7, 2.0]
    losses, clock, busy_until, batches = 0, 0.0, [0.0, 0.0], []
    for packet in range(300_000):
        clock += rng.exponential()
        server = word[packet % 3]
        if busy_until[server] > clock:
            losses += 1
        else:
            busy_until[server] = clock + rng.exponential() / rates[server]
        if packet % 10_000 == 9_999:
            batches.append(losses / 10_000)
            losses = 0
    error = np.std(batches, ddof=1) / math.sqrt(len(batches))
    assert abs(np.mean(batches) - word_cost(loss_costs(poisson(), rates), word)) < 4 * error


def example_3_2(b1, b2, a=(0.3, 0.1), c=(0.0, 0.2), d=(0.5, 0.4)):
    b = (b1, b2)
    functions = [lambda x, i=i: a[i] * x + b[i] * math.exp(-d[i] * x) + c[i] for i in range(2)]
    return callable_costs(functions, slopes=a, limits=c)


@pytest.mark.parametrize("slots", [1, 4, 8])
def test_example_3_2_one_server_for_ever(slots):
    """c_1 < c_2 and a small b_1: always server 1 and nothing else, for any horizon; a large b_1 undoes it."""
    assert condition(example_3_2(0.01, 1.0)) is None
    assert best_actions(example_3_2(0.01, 1.0), slots, [1, 1])[1] == [(0,) * slots]
    assert best_word(example_3_2(0.01, 1.0), 10)[1] == [0]
    if slots > 1:
        assert (0,) * slots not in best_actions(example_3_2(5.0, 1.0), slots, [1, 1])[1]


def test_example_3_2_without_the_slopes_the_same_actions_are_best():
    """Remark 3.3: the sign of a_i, and a_i at all, is not important."""
    for b1 in (0.01, 0.4, 5.0):
        _, plain = best_actions(example_3_2(b1, 1.0, a=(0.0, 0.0)), 7, [2, 1])
        assert best_actions(example_3_2(b1, 1.0, a=(1.3, -0.7)), 7, [2, 1])[1] == plain


def test_remark_3_3_lines_cost_the_same_whatever_is_done():
    slopes, initial, slots = [0.7, 2.0, -0.4], [3, 1, 5], 6
    costs = callable_costs([lambda x, a=a: a * x for a in slopes], slopes, [0.0] * 3)
    assert condition(costs) == 4
    expected = sum(a * (slots + age) for a, age in zip(slopes, initial, strict=True))
    for actions in product(range(3), repeat=slots):
        assert horizon_cost(costs, actions, initial) == pytest.approx(expected, rel=1e-13)


def example_3_4(a1, d2):
    slope = 0.0 if d2 > 0 else math.inf
    functions = [lambda x: a1 * x, lambda x: math.exp(-d2 * x)]
    return callable_costs(functions, slopes=[a1, slope], limits=[0.0, 0.0], checked=200)


@pytest.mark.parametrize("d2", [0.05, 1.0])
def test_example_3_4_never_to_the_server_that_falls_to_nothing(d2):
    for slots in (1, 4, 8):
        assert best_actions(example_3_4(0.5, d2), slots, [1, 1])[1] == [(0,) * slots]


def test_erratum_a4_example_3_4_has_its_averages_exchanged():
    """Printed: always server 1 costs (T f_2(1) + f_1(T)) / T. It is always server 2 that does."""
    a1, d2, horizon = 0.5, 0.3, 9
    costs = example_3_4(a1, d2)
    printed_for_1, printed_for_2 = math.exp(-d2) + a1, a1 + math.exp(-d2 * horizon) / horizon
    always_1 = horizon_cost(costs, [0] * (horizon - 1), [1, 1]) / horizon
    always_2 = horizon_cost(costs, [1] * (horizon - 1), [1, 1]) / horizon
    assert always_1 == pytest.approx(printed_for_2, rel=1e-14)
    assert always_2 == pytest.approx(printed_for_1, rel=1e-14)


def test_erratum_a5_example_3_4_a_server_that_rises_slowly_waits():
    """Printed: for d_2 < 0 always to server 2. Only from |d_2| = ln 2 on; at -0.1 every tenth packet is enough."""
    costs = example_3_4(0.5, -0.1)
    every_tenth, always = word_cost(costs, [1] + [0] * 9) - 0.5, word_cost(costs, [1]) - 0.5
    assert every_tenth == pytest.approx(math.e / 10, rel=1e-13)
    assert always == pytest.approx(1.1051709, rel=1e-7)
    assert best_word(costs, 12) == (pytest.approx(0.5 + math.e / 10), [0] * 9 + [1])
    for rise, alone in ((0.999 * math.log(2), False), (1.001 * math.log(2), True)):
        assert (best_word(example_3_4(0.5, -rise), 8)[1] == [1]) == alone


def test_example_3_5_terminal_costs_matter():
    """x^2 and 2 x^2: without terminal costs always server 1; with them, and in the long run, servers take turns."""
    costs = callable_costs([lambda x: x * x, lambda x: 2.0 * x * x], slopes=[math.inf, math.inf])
    assert condition(costs) == 2
    for slots in (1, 3, 7):
        assert best_actions(costs, slots, [1, 1], terminal=False)[1] == [(0,) * slots]
    assert (0,) * 7 not in best_actions(costs, 7, [1, 1])[1]
    assert best_word(costs, 12) == (6.0, [0, 1])
    assert word_cost(costs, [0]) == math.inf


def gap_bounds(costs, most=600):
    """No gap of a best policy is longer: by the proof of Theorem 3.1 as printed, and by a window of 2M - 1 slots."""
    servers, rest = costs.servers, costs.remainders(most)

    def first_below(m, saved):
        return next(n for n in range(1, most) if 2 * rest[m, n - 1] < saved)

    printed = min(rest[m, k - 1] - rest[m, k] for m in range(servers) for k in range(1, servers + 1))
    pairs = [(a, b) for a in range(1, 2 * servers) for b in range(1, 2 * servers) if a + b <= 2 * servers - 2]
    sharper = min(rest[m, a - 1] + rest[m, b - 1] - rest[m, a + b - 1] for m in range(servers) for a, b in pairs)
    return (
        max(2 * first_below(m, printed) + 2 * servers + 1 for m in range(servers)),
        max(2 * max(2, first_below(m, sharper)) + 2 * servers - 5 for m in range(servers)),
    )


@pytest.mark.parametrize("servers", [2, 3, 4])
def test_erratum_a10_inside_a_gap_a_window_of_2m_minus_1_slots_is_enough(servers):
    """Printed: 2M + 1 slots hold a server three times. Inside a gap of one server the others share M fewer slots."""
    others = servers - 1

    def has_three(window):
        return any(window.count(one) >= 3 for one in range(others))

    assert all(has_three(window) for window in product(range(others), repeat=2 * servers - 1))
    assert not all(has_three(window) for window in product(range(others), repeat=2 * servers - 2))


def test_erratum_a10_the_proof_of_theorem_3_1_as_printed_needs_a_gap_of_0_and_the_smaller_gap_first():
    """For k = 2M + 1 a gap of 2M + 1 - k = 0 is asked for; p looks at k <= M, but delta^1 may be 2M - 1."""
    servers = 2
    assert 0 in [2 * servers + 1 - k for k in range(1, 2 * servers + 2)]
    first_gaps = {
        places[1] - places[0]
        for window in product(range(servers), repeat=2 * servers + 1)
        for one in range(servers)
        for places in combinations([t for t in range(len(window)) if window[t] == one], 3)
    }
    assert max(first_gaps) == 2 * servers - 1 > servers


@pytest.mark.parametrize(
    ("rates", "longest", "printed", "sharper"),
    [([1.0, 2.0], 10, 15, 3), ([1.0, 5.0], 10, 19, 5), ([1.0, 10.0], 12, 23, 7), ([0.3, 1.0, 4.0], 10, 51, 27)],
)
def test_erratum_a10_gaps_of_best_words_keep_both_bounds(rates, longest, printed, sharper):
    costs = loss_costs(poisson(), rates)
    assert gap_bounds(costs) == (printed, sharper)
    gaps = word_gaps(best_word(costs, longest)[1], len(rates))
    assert max(int(gap.max()) for gap in gaps) <= sharper


def test_theorem_3_1_three_servers_are_all_used():
    cost, word = best_word(loss_costs(poisson(), [0.3, 1.0, 4.0]), 10)
    assert cost == pytest.approx(0.0945038150, abs=1e-10) and len(word) == 10 and set(word) == {0, 1, 2}


# -- section 5 --------------------------------------------------------------------------------------------------------


def figure_1(period, rate):
    """g(n, mu_2) as it is printed, for lambda = mu_1 = 1."""
    return 0.5**period / period + (1 / (1 + rate)) ** 2 / period + (period - 2) / period / (1 + rate)


def test_figure_1_its_formula_is_the_cost_of_its_words():
    for period, rate in product(range(2, 15), (1.0, 3.7, 40.0)):
        costs = loss_costs(poisson(), [1.0, rate])
        assert word_cost(costs, fast_word(period)) == pytest.approx(figure_1(period, rate), rel=1e-13)


@pytest.mark.parametrize(("period", "known"), list(enumerate(BREAKPOINTS, 2)))
def test_figure_1_breakpoints(period, known):
    """By halving an interval in which the true costs of both words meet; and 1/(1 - sqrt(1 - (n+2) 2^(-n-1))) - 1."""

    def longer_is_worse(rate):
        costs = loss_costs(poisson(), [1.0, rate])
        return word_cost(costs, fast_word(period + 1)) - word_cost(costs, fast_word(period))

    low, high = 1.0, 1000.0
    assert longer_is_worse(low) > 0 > longer_is_worse(high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if longer_is_worse(middle) > 0 else (low, middle)
    closed = 1 / (1 - math.sqrt(1 - (period + 2) * 2.0 ** (-period - 1))) - 1
    assert known == pytest.approx(closed, rel=2e-11)
    assert low == pytest.approx(closed, rel=1e-8)
    if period == 2:
        assert closed == pytest.approx(1 + math.sqrt(2), rel=1e-14)  # the one number that is printed


@pytest.mark.parametrize("period", [2, 3, 4, 5, 6])
def test_figure_1_both_sides_of_a_breakpoint_by_enumeration(period):
    for factor, best in ((0.999, period), (1.001, period + 1)):
        costs = loss_costs(poisson(), [1.0, factor * BREAKPOINTS[period - 2]])
        cost, word = best_word(costs, period + 4)
        assert sorted(word) == sorted(fast_word(best)) and cost == pytest.approx(word_cost(costs, fast_word(best)))


@pytest.mark.parametrize(
    "source",
    [
        RenewalArrivals(Constant(1.0)),
        RenewalArrivals(Erlang(3, 1.0)),
        RenewalArrivals(Samples((0.1, 0.1, 2.8))),
        MarkovArrivals(BMAP.mmpp(MMPP_GENERATOR, MMPP_RATES)),
        TraceArrivals((0.2, 1.5, 0.1, 2.2)),
    ],
)
def test_section_5_every_stationary_source_keeps_the_form_of_the_best_word(source):
    for rates in ([1.0, 1.0], [1.0, 3.0], [0.5, 4.0]):
        costs = loss_costs(source, rates)
        cost, word = best_word(costs, 11)
        assert sorted(word) == sorted(fast_word(len(word))) and len(word) < 11
        assert cost == pytest.approx(min(word_cost(costs, fast_word(n)) for n in range(2, 40)), rel=1e-13)


def test_section_5_1_explicit_cost_of_an_mmpp():
    rates, eye = [0.7, 2.5], np.eye(2)
    diagonal = np.diag(MMPP_RATES)
    steady = np.array([0.2, 0.5]) / 0.7
    q = steady @ diagonal / (steady @ MMPP_RATES)
    assert q @ np.linalg.solve(diagonal - MMPP_GENERATOR, diagonal) == pytest.approx(q)  # stationary at arrivals
    costs = loss_costs(MarkovArrivals(BMAP.mmpp(MMPP_GENERATOR, MMPP_RATES)), rates)
    for word in ([0, 1], [0, 1, 1], [0, 0, 1, 0, 1, 1, 1]):
        total = 0.0
        for mu, gaps in zip(rates, word_gaps(word, 2), strict=True):
            slot = np.linalg.solve(mu * eye - MMPP_GENERATOR + diagonal, diagonal)
            total += sum(q @ np.linalg.matrix_power(slot, int(gap)) @ np.ones(2) for gap in gaps)
        assert word_cost(costs, word) == pytest.approx(total / len(word), rel=1e-13)


def test_section_5_2_explicit_cost_of_a_map():
    rates = [0.7, 2.5]
    process = BMAP.map(QUIET, ARRIVAL)
    steady = process.stationary
    q = steady @ ARRIVAL / (steady @ ARRIVAL).sum()
    assert q @ np.linalg.solve(-QUIET, ARRIVAL) == pytest.approx(q)
    costs = loss_costs(MarkovArrivals(process), rates)
    for word in ([0, 1], [0, 1, 1], [0, 0, 1, 0, 1, 1, 1]):
        total = 0.0
        for mu, gaps in zip(rates, word_gaps(word, 2), strict=True):
            slot = np.linalg.solve(mu * np.eye(3) - QUIET, ARRIVAL)
            total += sum(q @ np.linalg.matrix_power(slot, int(gap)) @ np.ones(3) for gap in gaps)
        assert word_cost(costs, word) == pytest.approx(total / len(word), rel=1e-13)
    modulated = MarkovArrivals(BMAP.map(MMPP_GENERATOR - np.diag(MMPP_RATES), np.diag(MMPP_RATES)))
    as_mmpp = MarkovArrivals(BMAP.mmpp(MMPP_GENERATOR, MMPP_RATES))
    assert word_cost(loss_costs(modulated, rates), word) == word_cost(loss_costs(as_mmpp, rates), word)


def test_erratum_a8_the_law_of_a_slot_lacks_a_factor_and_a_sign():
    """Printed: F(t) = int_0^t e^{Cu} du = [I - e^{Ct}](-C^{-1} D), f* = E e^{mu tau} ...: D is lost, and a minus."""
    t, mu = 0.8, 0.7
    right_side = (np.eye(3) - expm(QUIET * t)) @ np.linalg.solve(-QUIET, ARRIVAL)
    printed = quad_vec(lambda u: expm(QUIET * u), 0, t)[0]
    assert right_side == pytest.approx(quad_vec(lambda u: expm(QUIET * u) @ ARRIVAL, 0, t)[0])
    assert np.abs(right_side - printed).max() > 0.2
    transform = np.linalg.solve(mu * np.eye(3) - QUIET, ARRIVAL)
    for sign, right in ((-1, True), (1, False)):
        mean = quad_vec(lambda u, sign=sign: math.exp(sign * mu * u) * expm(QUIET * u) @ ARRIVAL, 0, 200)[0]
        assert (np.abs(transform - mean).max() < 1e-7) == right


def test_erratum_a9_costs_are_per_arrival():
    """Printed: lost packets per unit of time. In a unit of time half as long (6) is the same, losses are half."""
    word, rates = [0, 1, 1], [1.0, 2.0]
    slow, fast = loss_costs(poisson(1.0), rates), loss_costs(poisson(2.0), [2.0, 4.0])
    assert word_cost(slow, word) == pytest.approx(word_cost(fast, word), rel=1e-14)
    for rate, costs, services in ((1.0, slow, rates), (2.0, fast, [2.0, 4.0])):
        found = simulate(SimulatedRouting(services, poisson(rate), word), time=2e4, replications=20, seed=3)
        lost = found.observations[:, 2:4].sum(axis=1)  # per unit of time
        error = lost.std(ddof=1) / math.sqrt(20)
        assert abs(lost.mean() - rate * word_cost(costs, word)) < 4 * error


@pytest.mark.parametrize("switching", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize(("slow", "fast", "periods"), [(0.2, 1.0, (2, 3)), (0.2, 10.0, (2, 5))])
def test_erratum_a11_a_slowly_switching_mmpp_keeps_the_form(slow, fast, periods, switching):
    """Printed: periods "2 and 3m", meant are 2 and 3. No mixture of the words is best, however rarely it switches."""
    services = [1.0, 4.0]
    for rate, period in ((slow, periods[0]), (fast, periods[1])):
        assert sorted(best_word(loss_costs(poisson(rate), services), 10)[1]) == fast_word(period)
    source = MarkovArrivals(BMAP.mmpp([[-switching, switching], [switching, -switching]], [slow, fast]))
    costs = loss_costs(source, services)
    cost, word = best_word(costs, 13)
    assert sorted(word) == fast_word(len(word)) and periods[0] <= len(word) <= periods[1]
    for times in product((1, 2, 3), repeat=2):
        mixture = fast_word(periods[0]) * times[0] + fast_word(periods[1]) * times[1]
        assert word_cost(costs, mixture) >= cost


# -- section 6 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", [poisson(1.25), MarkovArrivals(BMAP.map(QUIET, ARRIVAL)), TraceArrivals((0.2, 1.5, 0.1))]
)
def test_section_6_cost_of_a_robot(source):
    """c(x, a) = k mu_a x_a E tau + k (E exp(-mu_a T) - 1), which fulfils Condition (3): one C = -k for all pages."""
    rates, k = np.array([0.3, 1.0, 2.2]), 1.4
    costs, losses = freshness_costs(source, rates.tolist(), k * rates), loss_costs(source, rates.tolist())
    gaps = np.arange(1, 31)
    printed = k * rates[:, None] * gaps * source.mean + k * (losses.table(30) - 1)
    assert source.mean * costs.table(30) == pytest.approx(printed, rel=1e-12)
    assert source.mean * costs.limits == pytest.approx([-k] * 3)
    assert condition(costs) == condition(losses) == 3


def price_bound(costs, price, most=400):
    """Below the cost of every policy: a slot is sold at a price, and servers take what is best for each of them."""
    table, gaps = costs.table(most), np.arange(1, most + 1)
    return float(np.minimum(((table + price) / gaps).min(axis=1), costs.slopes).sum()) - price


def test_erratum_a3_remark_6_1_a_page_is_never_visited_if_its_weight_is_small():
    """Printed: if c_i / mu_i is sufficiently large it becomes optimal never to update page i. It is if it is small.

    mu = (.5, 1, 2), c = (.05, 1, 2): the word (1, 2) costs what no policy can go below, and page 0 is not in it.
    """
    rates = [0.5, 1.0, 2.0]
    costs = freshness_costs(poisson(), rates, [0.05, 1.0, 2.0])
    cost, word = best_word(costs, 9)
    assert word == [1, 2] and cost == pytest.approx(2.2305555556, rel=1e-10)
    prices = np.linspace(0.05, 1.0, 400)
    assert max(price_bound(costs, price) for price in prices) == pytest.approx(cost, rel=1e-12)
    words = all_words(3, 8)
    visiting = (words == 0).any(axis=1)
    values = words_cost(costs, words)
    assert values[visiting].min() > cost + 1e-3
    weighty = freshness_costs(poisson(), rates, [50.0, 1.0, 2.0])  # c_0 / mu_0 = 100, large
    assert best_word(weighty, 9)[1].count(0) >= 1
    assert condition(costs) is None and condition(weighty) is None
