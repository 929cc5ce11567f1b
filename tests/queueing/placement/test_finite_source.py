"""The finite-source queue against its definition, the paper's Markov chain, and arithmetic in many digits."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from queueing import POPULATION_CAP, FiniteSourceQueue
from queueing.placement.finite_source import _seen_by_arrival, delay_tails, poisson_masses

rates = st.floats(0.05, 200.0)
crowds = st.integers(1, 120)


def seen_by_arrival(clients: int, offered: Fraction, processors: int) -> list[Fraction]:
    """Distribution of the others at the server, in exact rational numbers."""
    weights = [Fraction(1)]
    for j in range(1, clients):
        weights.append(weights[-1] * (clients - j) / (offered * min(j, processors)))
    total = sum(weights)
    return [weight / total for weight in weights]


def exact_mean_delay(queue: FiniteSourceQueue, clients: int) -> Fraction:
    rate, s = Fraction(queue.service_rate), queue.processors
    seen = seen_by_arrival(clients, rate * Fraction(queue.think_time), s)
    return sum(p * (1 + Fraction(max(0, j - s + 1), s)) for j, p in enumerate(seen)) / rate


def exact_delay_probability(queue: FiniteSourceQueue, clients: int, delay: float) -> float:
    """Equation 5, and its form for s processors, in 120 digits: digits lost upwards in k do not matter."""
    s = queue.processors
    seen = seen_by_arrival(clients, Fraction(queue.service_rate) * Fraction(queue.think_time), s)
    with localcontext() as context:
        context.prec = 120
        work = Decimal(queue.service_rate) * Decimal(delay)
        single = (-work).exp()
        mass = (-s * work).exp()
        erlang = Decimal(0)  # P(Erlang(k, s lambda) > delay)
        tail = single  # P(Erlang(k, s lambda) + Exp(lambda) > delay)
        answer = Decimal(0)
        for j, p in enumerate(seen):
            if j >= s:
                k = j - s + 1
                erlang += mass
                mass *= s * work / k
                tail = (s * tail - erlang) / (s - 1) if s > 1 else erlang + mass
            answer += (tail if j >= s else single) * Decimal(p.numerator) / Decimal(p.denominator)
        return float(answer)


def series(others: int, offered: Decimal) -> Decimal:
    """1 / ErlangB(n, a) = sum of n! / ((n - k)! a^k)."""
    term = total = Decimal(1)
    for k in range(others):
        term *= (others - k) / offered
        total += term
        if term < total.scaleb(-30) and others - k < offered:
            break
    return total


def tagged_chain(clients: int, rate: float, client_rate: float) -> dict[tuple[int, int], float]:
    """Stationary distribution of (position of the tagged request, requests at the server): equation 1."""
    states = [(i, j) for j in range(clients + 1) for i in range(j + 1) if (i, j) != (0, clients)]
    index = {state: number for number, state in enumerate(states)}
    generator = np.zeros((len(states), len(states)))
    for (i, j), row in index.items():
        moves = {}
        if j > 0:
            moves[max(i - 1, 0), j - 1] = rate
        if i == 0:
            moves[j + 1, j + 1] = client_rate
            if j < clients - 1:
                moves[0, j + 1] = (clients - j - 1) * client_rate
        elif j < clients:
            moves[i, j + 1] = (clients - j) * client_rate
        for state, flow in moves.items():
            generator[row, index[state]] += flow
            generator[row, row] -= flow
    balance = np.vstack([generator.T, np.ones(len(states))])
    solution = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    return dict(zip(states, solution, strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_the_chain_of_the_tagged_client_gives_the_same_measures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clients = int(rng.integers(1, 9))
    rate, think = rng.uniform(0.5, 12.0), rng.uniform(0.2, 4.0)
    delay = rng.uniform(0.05, 3.0) / rate
    p = tagged_chain(clients, rate, 1 / think)
    away = [p[0, j] for j in range(clients)]
    erlang_tail = [sum(math.exp(-rate * delay) * (rate * delay) ** r / math.factorial(r) for r in range(j + 1))
                   for j in range(clients)]  # fmt: skip
    queue = FiniteSourceQueue(rate, think)
    assert queue.throughput_per_client(clients) == pytest.approx(sum(away) / think, rel=1e-10)
    assert queue.utilisation(clients) == pytest.approx(1 - p[0, 0], rel=1e-10)
    assert queue.mean_delay(clients) == pytest.approx(think / sum(away) - think, rel=1e-9)
    assert queue.delay_probability(clients, delay) == pytest.approx(np.dot(away, erlang_tail) / sum(away), rel=1e-10)


@pytest.mark.parametrize("processors", [1, 2, 5])
@pytest.mark.parametrize("clients", [1, 2, 7, 40, 150])
@pytest.mark.parametrize("offered", [1e-3, 0.7, 9.0, 38.0, 160.0, 1e5])
def test_every_measure_has_ten_digits(clients: int, offered: float, processors: int) -> None:
    queue = FiniteSourceQueue(4.0, offered / 4.0, processors)
    mean = exact_mean_delay(queue, clients)
    throughput = 1 / (Fraction(queue.think_time) + mean)
    assert queue.mean_delay(clients) == pytest.approx(float(mean), rel=1e-12)
    assert queue.throughput_per_client(clients) == pytest.approx(float(throughput), rel=1e-12)
    assert queue.utilisation(clients) == pytest.approx(float(throughput * clients / (4 * processors)), rel=1e-12)
    for factor in (0.01, 0.3, 1.0, 2.0, 6.0):
        delay = factor * float(mean)
        late = exact_delay_probability(queue, clients, delay)
        assert queue.delay_probability(clients, delay) == pytest.approx(late, rel=1e-10, abs=1e-290)


@pytest.mark.parametrize("clients", [10**4, 10**6])
@pytest.mark.parametrize("load", [0.2, 0.97, 1.0, 1.003, 1.05])
def test_large_crowds_have_ten_digits(clients: int, load: float) -> None:
    queue = FiniteSourceQueue(8.0, clients / load / 8.0)
    with localcontext() as context:
        context.prec = 50
        offered = Decimal(queue.service_rate * queue.think_time)
        mean = clients - offered + offered / series(clients - 1, offered)
        assert queue.mean_delay(clients) == pytest.approx(float(mean / 8), rel=1e-10)
        for factor in (0.5, 1.0, 1.5):
            delay = factor * queue.mean_delay(clients)
            work = 8 * Decimal(delay)
            late = (-work + (clients - 1) * (1 + work / offered).ln()).exp()
            late *= series(clients - 1, offered + work) / series(clients - 1, offered)
            assert queue.delay_probability(clients, delay) == pytest.approx(float(late), rel=1e-10, abs=1e-290)


@pytest.mark.parametrize("processors", [1, 3])
@pytest.mark.parametrize("think", [1e-3, 1.0, 1e5, 2e5, 1e9])
def test_a_million_clients_are_answered_finitely(processors: int, think: float) -> None:
    queue = FiniteSourceQueue(5.0, think, processors)
    clients = 10**6
    assert 0 < queue.throughput_per_client(clients) <= 1 / (think + 0.2)
    assert 0 < queue.utilisation(clients) <= 1
    assert 0.2 <= queue.mean_delay(clients) < clients / 5.0 + 1
    assert 0 <= queue.delay_probability(clients, 1.0) <= 1
    assert queue.delay_probability(clients, 0.0) == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize(("clients", "offered"), [(10, 4.0), (500, 450.0), (500, 3e3), (4000, 4000.0)])
def test_one_processor_is_the_case_s_equal_to_one_of_many(clients: int, offered: float) -> None:
    queue = FiniteSourceQueue(2.0, offered / 2.0)
    seen = _seen_by_arrival(clients - 1, offered, 1)
    assert np.dot(seen, 1 + np.arange(clients)) / 2.0 == pytest.approx(queue.mean_delay(clients), rel=1e-12)
    delay = queue.mean_delay(clients)
    late = np.dot(seen, delay_tails(2.0 * delay, 1, clients))
    assert late == pytest.approx(queue.delay_probability(clients, delay), rel=1e-11)


def test_two_processors_and_eight_clients() -> None:
    queue = FiniteSourceQueue(service_rate=3.0, think_time=1.0, processors=2)
    assert queue.throughput_per_client(8) == pytest.approx(0.6364, abs=5e-5)
    assert queue.delay_probability(8, 0.5) == pytest.approx(0.4717, abs=5e-5)


def test_a_processor_for_every_client_means_no_waiting() -> None:
    queue = FiniteSourceQueue(service_rate=3.0, think_time=1.0, processors=8)
    assert queue.mean_delay(8) == pytest.approx(1 / 3, rel=1e-15)
    assert queue.delay_probability(8, 0.5) == pytest.approx(math.exp(-1.5), rel=1e-14)
    assert queue.mean_delay(9) > 1 / 3


@pytest.mark.parametrize("clients", [1, 2, 9, 120])
@pytest.mark.parametrize("processors", [130, 10**6, 10**9, 10**30])
def test_processors_beyond_the_clients_do_nothing_but_idle(clients: int, processors: int) -> None:
    enough, plenty = FiniteSourceQueue(3.0, 0.7, clients), FiniteSourceQueue(3.0, 0.7, processors)
    assert plenty.mean_delay(clients) == pytest.approx(enough.mean_delay(clients), rel=1e-15)
    assert plenty.throughput_per_client(clients) == pytest.approx(enough.throughput_per_client(clients), rel=1e-15)
    assert plenty.utilisation(clients) * processors == pytest.approx(enough.utilisation(clients) * clients, rel=1e-14)
    for delay in (0.0, 0.1, 0.5, 4.0):
        late = enough.delay_probability(clients, delay)
        assert plenty.delay_probability(clients, delay) == pytest.approx(late, rel=1e-14)


@pytest.mark.parametrize("processors", range(5, 10))
@pytest.mark.parametrize("clients", [6, 7, 8])
def test_there_is_no_seam_where_clients_begin_to_wait(clients: int, processors: int) -> None:
    queue = FiniteSourceQueue(4.0, 0.3, processors)
    assert queue.mean_delay(clients) == pytest.approx(float(exact_mean_delay(queue, clients)), rel=1e-14)
    for delay in (0.05, 0.4, 3.0):
        late = exact_delay_probability(queue, clients, delay)
        assert queue.delay_probability(clients, delay) == pytest.approx(late, rel=1e-12)


def test_a_crowd_larger_than_any_sum_is_answered_where_everybody_has_a_processor() -> None:
    queue = FiniteSourceQueue(4.0, 0.25, 10**12)
    assert queue.utilisation(10**12) == pytest.approx(0.5, rel=1e-15)
    assert queue.delay_probability(10**12, 0.25) == pytest.approx(math.exp(-1), rel=1e-15)


def test_the_papers_figures_allow_16_clients_by_throughput_and_12_by_delay() -> None:
    queue = FiniteSourceQueue(service_rate=10.0, think_time=1.0)
    assert queue.throughput_per_client(16) == pytest.approx(0.611, abs=5e-4)
    assert queue.throughput_per_client(17) < 0.6
    assert queue.largest_population(min_throughput=0.6) == 16
    assert queue.largest_population(max_delay_probability=0.2, delay=0.6) == 12
    assert queue.largest_population(0.6, 0.2, 0.6) == 12


@pytest.mark.parametrize("processors", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("work", [0.0, 1e-6, 0.4, 3.0, 25.0, 120.0])
def test_delay_tails_are_those_of_the_chain_of_departures(work: float, processors: int) -> None:
    size = 60
    tails = delay_tails(work, processors, size)
    # Departures still to wait for, then the service, then done; time in mean service times.
    longest = max(size - processors, 0)
    chain = np.diag([-float(processors)] * longest + [-1.0]) + np.diag([float(processors)] * longest, 1)
    remaining = expm(chain * work).sum(axis=1)[::-1]
    expected = [remaining[max(0, j - processors + 1)] for j in range(size)]
    np.testing.assert_allclose(tails, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("mean", [0.0, 0.3, 15.9, 16.0, 800.0, 1e5])
def test_poisson_masses_add_up(mean: float) -> None:
    masses = poisson_masses(mean, int(mean + 12 * math.sqrt(mean) + 40))
    assert masses.sum() == pytest.approx(1.0, rel=1e-12)
    assert np.dot(masses, np.arange(masses.size)) == pytest.approx(mean, rel=1e-12)


@given(rates, rates, st.integers(1, 6), crowds, st.floats(0.0, 10.0))
def test_one_more_client_slows_everybody_down(rate: float, think: float, s: int, clients: int, works: float) -> None:
    queue = FiniteSourceQueue(rate, think, s)
    delay = works / rate
    rounding = 1 + 1e-12
    assert queue.throughput_per_client(clients + 1) <= queue.throughput_per_client(clients) * rounding
    assert queue.mean_delay(clients) <= queue.mean_delay(clients + 1) * rounding
    assert queue.utilisation(clients) <= queue.utilisation(clients + 1) * rounding
    assert queue.delay_probability(clients, delay) <= queue.delay_probability(clients + 1, delay) * rounding
    assert queue.delay_probability(clients, delay * 1.1) <= queue.delay_probability(clients, delay) * rounding


@given(rates, rates, st.integers(1, 6), crowds)
def test_littles_law_counts_the_requests_at_the_server(rate: float, think: float, s: int, clients: int) -> None:
    queue = FiniteSourceQueue(rate, think, s)
    # The whole network's own product form, with the client that an arrival leaves out.
    weights = [1.0]
    for j in range(1, clients + 1):
        weights.append(weights[-1] * (clients - j + 1) / (rate * think * min(j, s)))
        if weights[-1] > 1e200:
            weights = [weight / weights[-1] for weight in weights]
    weights = np.array(weights) / np.sum(weights)
    present = np.dot(weights, np.arange(clients + 1))
    busy = np.dot(weights, np.minimum(np.arange(clients + 1), s)) / s
    throughput = queue.throughput_per_client(clients)
    assert clients * throughput * queue.mean_delay(clients) == pytest.approx(present, rel=1e-9)
    assert queue.utilisation(clients) == pytest.approx(busy, rel=1e-9)


@settings(max_examples=60)
@given(rates, rates, st.integers(1, 4), st.floats(0.01, 0.99), st.floats(0.001, 0.99), st.floats(0.01, 5.0))
def test_the_largest_population_is_the_last_good_one(
    rate: float, think: float, s: int, share: float, probability: float, works: float
) -> None:
    queue = FiniteSourceQueue(rate, think, s)
    theta = max(share / (think + 1 / rate), s * rate / 400)  # a population of a few hundred at most

    def kept(clients: int) -> bool:
        late = queue.delay_probability(clients, works / rate)
        return queue.throughput_per_client(clients) >= theta and late < probability

    found = queue.largest_population(theta, probability, works / rate)
    first_bad = next(n for n in range(1, 1000) if not kept(n))
    assert found == first_bad - 1


def test_not_even_one_client() -> None:
    queue = FiniteSourceQueue(service_rate=10.0, think_time=1.0)
    assert queue.largest_population(min_throughput=0.95) == 0
    assert queue.largest_population(max_delay_probability=1.0, delay=0.0) == 0


@pytest.mark.parametrize("processors", [1, 2, 3, 7, 10**9])
def test_limits_that_nobody_can_meet_leave_room_for_nobody(processors: int) -> None:
    queue = FiniteSourceQueue(service_rate=10.0, think_time=1.0, processors=processors)
    for delay in (0.0, 0.1, 1e308):  # no probability is below 0
        assert queue.largest_population(max_delay_probability=0.0, delay=delay) == 0
    for probability in (5e-324, 0.5, 1.0):  # no request is served in no time
        assert queue.largest_population(max_delay_probability=probability, delay=0.0) == 0
    assert queue.largest_population(min_throughput=1e308) == 0


@pytest.mark.parametrize("clients", [3, 10, 47])
def test_every_request_takes_some_time(clients: int) -> None:
    for processors in (1, 2, 3, 7, 40):
        assert FiniteSourceQueue(10.0, 0.37, processors).delay_probability(clients, 0.0) == 1.0


def test_limits_are_inclusive_for_throughput_and_strict_for_delay() -> None:
    queue = FiniteSourceQueue(service_rate=10.0, think_time=1.0)
    theta, epsilon = queue.throughput_per_client(7), queue.delay_probability(7, 0.3)
    assert queue.largest_population(min_throughput=theta) == 7
    assert queue.largest_population(min_throughput=np.nextafter(theta, 1)) == 6
    assert queue.largest_population(max_delay_probability=epsilon, delay=0.3) == 6
    assert queue.largest_population(max_delay_probability=np.nextafter(epsilon, 1), delay=0.3) == 7


def test_an_enormous_answer_is_cut_at_the_cap() -> None:
    queue = FiniteSourceQueue(service_rate=10.0, think_time=1.0)
    assert queue.largest_population(min_throughput=1e-9) == POPULATION_CAP
    assert queue.largest_population(max_delay_probability=1.0, delay=0.1) == POPULATION_CAP
    assert queue.largest_population(min_throughput=2e-6) == 5_000_000


@pytest.mark.parametrize("most", [0, 1, 7, 11, 12, 13, 500])
def test_no_larger_population_is_sought_than_wanted(monkeypatch, most: int) -> None:
    queue = FiniteSourceQueue(service_rate=10.0, think_time=1.0)
    asked, probability = [], FiniteSourceQueue.delay_probability

    def recorded(queue: FiniteSourceQueue, clients: int, delay: float) -> float:
        asked.append(clients)
        return probability(queue, clients, delay)

    monkeypatch.setattr(FiniteSourceQueue, "delay_probability", recorded)
    assert queue.largest_population(0.6, 0.2, 0.6, most=most) == min(12, most)
    assert max(asked, default=0) <= most
    assert queue.largest_population(min_throughput=1e-9, most=10**15) == POPULATION_CAP


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"service_rate": 0.0, "think_time": 1.0}, "service_rate must be a finite number above 0, but it is 0.0"),
        ({"service_rate": math.inf, "think_time": 1.0}, "service_rate must be a finite number"),
        ({"service_rate": 1.0, "think_time": math.nan}, "think_time must be a finite number"),
        ({"service_rate": "1", "think_time": 1.0}, "service_rate must be a finite number"),
        ({"service_rate": 1.0, "think_time": -2.0}, "think_time must be a finite number above 0, but it is -2.0"),
        ({"service_rate": 1.0, "think_time": 1.0, "processors": 0}, "processors must be a whole number of at least 1"),
        ({"service_rate": 1.0, "think_time": 1.0, "processors": 1.5}, "processors must be a whole number"),
        ({"service_rate": 1.0, "think_time": 1.0, "processors": True}, "processors must be a whole number"),
        ({"service_rate": 1e-200, "think_time": 1e-200}, "service_rate x think_time must be"),
    ],
)
def test_nonsense_parameters_are_refused_in_a_sentence(arguments: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        FiniteSourceQueue(**arguments)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({}, "needs a limit"),
        ({"delay": 1.0}, "max_delay_probability is missing"),
        ({"max_delay_probability": 0.5}, "but delay is missing"),
        ({"min_throughput": 0.0}, "min_throughput must be a finite number above 0"),
        (
            {"max_delay_probability": 1.5, "delay": 1.0},
            "must be a probability, but it is 1.5; give a number from 0 to 1",
        ),
        ({"max_delay_probability": -0.5, "delay": 1.0}, "max_delay_probability must be a finite number of at least 0"),
        ({"max_delay_probability": 0.5, "delay": -1.0}, "delay must be a finite number of at least 0"),
        ({"min_throughput": 1.0, "most": -1}, "most must be a whole number of at least 0"),
    ],
)
def test_limits_that_limit_nothing_are_refused_in_a_sentence(limits: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        FiniteSourceQueue(1.0, 1.0).largest_population(**limits)


@pytest.mark.parametrize("processors", [1, 2])
def test_more_clients_than_can_be_asked_about_are_refused_in_a_sentence(processors: int) -> None:
    with pytest.raises(ValueError, match=r"At most 10+ clients can be asked about"):
        FiniteSourceQueue(1.0, 1.0, processors).mean_delay(10**19)


@pytest.mark.parametrize("processors", [1, 2, 5])
@pytest.mark.parametrize("rate", [1e-120, 1.0, 1e120])
@pytest.mark.parametrize("think", [1e-120, 1.0, 1e120])
def test_rates_and_times_of_any_size_are_answered(rate: float, think: float, processors: int) -> None:
    queue = FiniteSourceQueue(rate, think, processors)
    assert 0 < queue.throughput_per_client(50) <= 1 / think
    assert 1 <= queue.mean_delay(50) * rate <= 50
    assert 0 < queue.utilisation(50) <= 1
    for delay in (0.0, 1e-300, 1 / rate, 1e308):
        assert 0 <= queue.delay_probability(50, delay) <= 1
    assert queue.delay_probability(50, 1e308) == 0


@pytest.mark.parametrize("clients", [0, -3, 2.5, True])
def test_a_crowd_is_a_whole_number_of_clients(clients: object) -> None:
    queue = FiniteSourceQueue(1.0, 1.0)
    for ask in (queue.mean_delay, queue.throughput_per_client, queue.utilisation):
        with pytest.raises(ValueError, match="clients must be a whole number of at least 1"):
            ask(clients)
    with pytest.raises(ValueError, match="clients must be a whole number of at least 1"):
        queue.delay_probability(clients, 1.0)
