"""Mixed crowds against the chain of all queues, the lattice of populations, rational numbers and simulation."""

import heapq
import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mean_value_analysis import mean_value_analysis
from scipy.linalg import expm
from scipy.stats import t as student

from queueing import FiniteSourceQueue, MixedSourceQueue
from queueing.placement import CLIENT_LIMIT


def chain_of_queues(rate: float, think: list[float], processors: int, delay: float) -> tuple[list, list]:
    """Throughput and P(delay > given) of each client, from the chain of the ordered queue of named clients.

    Nothing of product forms or arrival theorems is used: a state is the queue itself, a tuple of clients.
    """
    clients = range(len(think))
    states = [queue for length in range(len(think) + 1) for queue in permutations(clients, length)]
    index = {queue: number for number, queue in enumerate(states)}
    generator = np.zeros((len(states), len(states)))
    for queue, row in index.items():
        for place in range(min(processors, len(queue))):
            generator[row, index[queue[:place] + queue[place + 1 :]]] += rate
        for client in set(clients) - set(queue):
            generator[row, index[(*queue, client)]] += 1 / think[client]
        generator[row, row] -= generator[row].sum()
    balance = np.vstack([generator.T, np.ones(len(states))])
    stationary = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]

    waits = len(think) - processors
    remaining = np.full(len(think), math.exp(-rate * delay))  # by the number of requests met on arrival
    if waits > 0:
        busy = processors * rate
        departures = np.diag([-busy] * waits + [-rate]) + np.diag([busy] * waits, 1)
        remaining[processors:] = expm(departures * delay).sum(axis=1)[waits - 1 :: -1]
    throughput, late = [], []
    for client in clients:
        flows = [(len(queue), stationary[row] / think[client]) for queue, row in index.items() if client not in queue]
        throughput.append(sum(flow for _, flow in flows))
        late.append(sum(flow * remaining[met] for met, flow in flows) / throughput[-1])
    return throughput, late


def exact_mean_delay(rate: Fraction, others: list[Fraction], processors: int) -> Fraction:
    """Mean delay of a client among others with these think times, in rational numbers."""
    symmetric = [Fraction(1)]
    for think in others:
        y = 1 / (rate * think)
        symmetric = [a + y * b for a, b in zip([*symmetric, Fraction(0)], [Fraction(0), *symmetric], strict=True)]
    weights, factor = [], Fraction(1)
    for j, value in enumerate(symmetric):
        factor *= Fraction(j, min(j, processors)) if j else 1
        weights.append(factor * value)
    waits = sum(weight * max(0, j - processors + 1) for j, weight in enumerate(weights)) / sum(weights)
    return (1 + waits / processors) / rate


def test_two_near_and_three_far_clients() -> None:
    measures = MixedSourceQueue(4.0, (1.0, 2.0)).measures((2, 3))
    assert measures.throughput == pytest.approx((0.696836, 0.404219), abs=5e-7)
    throughput, _ = chain_of_queues(4.0, [1.0, 1.0, 2.0, 2.0, 2.0], 1, 0.5)
    assert measures.throughput == pytest.approx((throughput[0], throughput[2]), rel=1e-12)


@pytest.mark.parametrize("processors", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_the_chain_of_all_queues_gives_the_same_measures(seed: int, processors: int) -> None:
    rng = np.random.default_rng([seed, processors])
    rate, times = rng.uniform(0.5, 5.0), tuple(rng.uniform(0.3, 4.0, size=3).tolist())
    populations, delay = (2, 1, 2), rng.uniform(0.2, 2.5) / rate
    think = [time for time, count in zip(times, populations, strict=True) for _ in range(count)]
    throughput, late = chain_of_queues(rate, think, processors, delay)
    measures = MixedSourceQueue(rate, times, processors).measures(populations, delay)
    first = (0, 2, 3)  # the first client of each class
    assert measures.throughput == pytest.approx([throughput[i] for i in first], rel=1e-10)
    assert measures.delay_probability == pytest.approx([late[i] for i in first], rel=1e-10)
    assert measures.utilisation == pytest.approx(sum(throughput) / (processors * rate), rel=1e-10)
    assert measures.mean_delay == pytest.approx([1 / throughput[i] - think[i] for i in first], rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.1, 100.0),
    st.lists(st.tuples(st.floats(0.01, 50.0), st.integers(0, 7)), min_size=1, max_size=5).filter(
        lambda classes: any(count for _, count in classes)
    ),
)
def test_the_lattice_of_populations_gives_the_same_means(rate: float, classes: list[tuple[float, int]]) -> None:
    times, populations = zip(*classes, strict=True)
    measures = MixedSourceQueue(rate, times).measures(populations)
    throughput, delays = mean_value_analysis(rate, times, populations)
    np.testing.assert_allclose(measures.throughput, throughput, rtol=1e-12)
    np.testing.assert_allclose(measures.mean_delay, delays, rtol=1e-12)
    assert measures.delay_probability is None
    assert [math.isnan(value) for value in measures.throughput] == [count == 0 for count in populations]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(1e-4, 1e4), st.integers(1, 12)), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_rational_numbers_give_the_same_means(classes: list[tuple[float, int]], processors: int) -> None:
    times, populations = zip(*classes, strict=True)
    measures = MixedSourceQueue(3.0, times, processors).measures(populations)
    for tagged, time in enumerate(times):
        others = [Fraction(m) for c, (m, n) in enumerate(classes) for _ in range(n - (c == tagged))]
        mean = exact_mean_delay(Fraction(3), others, processors)
        assert measures.mean_delay[tagged] == pytest.approx(float(mean), rel=1e-12)
        assert measures.throughput[tagged] == pytest.approx(float(1 / (Fraction(time) + mean)), rel=1e-12)


@pytest.mark.parametrize("processors", [1, 2, 30])
@pytest.mark.parametrize(("clients", "offered"), [(5, 3.0), (60, 20.0), (1500, 400.0), (2500, 2500.0), (2500, 9000.0)])
def test_classes_that_are_equal_make_the_plain_finite_source_queue(
    clients: int, offered: float, processors: int
) -> None:
    """Also the check that crowds beyond the range of doubles keep their digits."""
    think = offered / 5.0
    plain = FiniteSourceQueue(5.0, think, processors)
    delay = plain.mean_delay(clients)
    split = (clients // 3, clients - 2 * (clients // 3), clients // 3)
    mixed = MixedSourceQueue(5.0, (think, think, think), processors).measures(split, delay)
    assert mixed.mean_delay == pytest.approx([delay] * 3, rel=1e-12)
    assert mixed.delay_probability == pytest.approx([plain.delay_probability(clients, delay)] * 3, rel=1e-11)
    assert mixed.utilisation == pytest.approx(plain.utilisation(clients), rel=1e-12)


def test_classes_of_very_different_pace_keep_their_digits() -> None:
    times, populations = (3e-9, 1.0, 1e7), (90, 100, 60)
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        arranged, counts = [times[i] for i in order], [populations[i] for i in order]
        measures = MixedSourceQueue(50.0, tuple(arranged)).measures(counts)
        assert measures.mean_delay == pytest.approx(mean_value_analysis(50.0, arranged, counts)[1], rel=1e-12)


@pytest.mark.parametrize("processors", [1, 3])
def test_think_times_of_any_size_are_answered(processors: int) -> None:
    times, populations = (1e-120, 1e-12, 1.0, 1e12, 1e120), (12, 10, 6, 10, 12)
    measures = MixedSourceQueue(2.0, times, processors).measures(populations, 1e308)
    for tagged in range(5):
        others = [Fraction(times[c]) for c in range(5) for _ in range(populations[c] - (c == tagged))]
        mean = exact_mean_delay(Fraction(2), others, processors)
        assert measures.mean_delay[tagged] == pytest.approx(float(mean), rel=1e-12)
    assert measures.utilisation == pytest.approx(1.0, rel=1e-12)
    assert measures.delay_probability == (0.0,) * 5


@pytest.mark.parametrize("processors", [30, 31, 10**9, 10**30])
def test_processors_beyond_the_clients_do_nothing_but_idle(processors: int) -> None:
    times, populations = (0.2, 0.5, 3.0), np.array([[4, 0, 3], [10, 10, 10], [0, 0, 0], [1, 0, 0]])
    plenty = MixedSourceQueue(2.0, times, processors).measures_many(populations, 0.4)
    for row, clients in enumerate(populations.sum(axis=1).tolist()):
        enough = MixedSourceQueue(2.0, times, max(1, clients)).measures(populations[row].tolist(), 0.4)
        assert plenty.throughput[row] == pytest.approx(enough.throughput, rel=1e-14, nan_ok=True)
        assert plenty.mean_delay[row] == pytest.approx(enough.mean_delay, rel=1e-14, nan_ok=True)
        assert plenty.delay_probability[row] == pytest.approx(enough.delay_probability, rel=1e-14, nan_ok=True)
        assert plenty.utilisation[row] * processors == pytest.approx(enough.utilisation * clients, rel=1e-14)


def test_many_populations_at_once_are_the_single_ones() -> None:
    queue = MixedSourceQueue(50.0, (0.5, 0.52, 0.54), 2)
    populations = np.random.default_rng(3).integers(0, 20, size=(40, 3))
    populations[7] = 0
    table = queue.measures_many(populations, 0.16)
    for row, counts in enumerate(populations):
        single = queue.measures(counts.tolist(), 0.16)
        # The delay tails are summed from the largest crowd of the call down, so the last digit may differ.
        np.testing.assert_allclose(table.throughput[row], single.throughput, rtol=1e-14)
        np.testing.assert_allclose(table.mean_delay[row], single.mean_delay, rtol=1e-14)
        np.testing.assert_allclose(table.delay_probability[row], single.delay_probability, rtol=1e-14)
        assert table.utilisation[row] == pytest.approx(single.utilisation, rel=1e-14)
    assert table.utilisation[7] == 0.0
    assert np.isnan(table.throughput[7]).all()


def simulate(
    rate: float, think: list[float], processors: int, delay: float, batches: int, services: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Throughput and late fraction of each client in each batch, first come first served."""
    rng = np.random.default_rng(seed)
    clients = len(think)
    calendar = [(rng.exponential(think[i]), i, False) for i in range(clients)]
    heapq.heapify(calendar)
    queue: list[int] = []
    busy, since = 0, [0.0] * clients
    throughput, late = np.zeros((batches, clients)), np.zeros((batches, clients))
    now = 0.0
    for batch in range(-1, batches):  # the first batch only warms up
        start, done, slow, count = now, np.zeros(clients), np.zeros(clients), 0
        while count < services:
            now, client, leaves = heapq.heappop(calendar)
            if leaves:
                count += 1
                done[client] += 1
                slow[client] += now - since[client] > delay
                heapq.heappush(calendar, (now + rng.exponential(think[client]), client, False))
                busy -= 1
            else:
                since[client] = now
                queue.append(client)
            while queue and busy < processors:
                busy += 1
                heapq.heappush(calendar, (now + rng.exponential(1 / rate), queue.pop(0), True))
        if batch >= 0:
            throughput[batch], late[batch] = done / (now - start), slow / done
    return throughput, late


def test_a_simulation_agrees_within_its_confidence_interval() -> None:
    queue = MixedSourceQueue(3.0, (0.6, 1.5), processors=2)
    populations, delay = (3, 4), 0.5
    exact = queue.measures(populations, delay)
    throughput, late = simulate(3.0, [0.6] * 3 + [1.5] * 4, 2, delay, batches=20, services=6000, seed=11)
    assert exact.delay_probability is not None
    for c, members in enumerate((slice(0, 3), slice(3, 7))):
        for sample, value in ((throughput, exact.throughput[c]), (late, exact.delay_probability[c])):
            means = sample[:, members].mean(axis=1)
            half_width = student.ppf(0.995, means.size - 1) * means.std(ddof=1) / math.sqrt(means.size)
            assert half_width < 0.03 * value  # narrow enough to mean something
            assert abs(means.mean() - value) < half_width


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: MixedSourceQueue(1.0, ()), "think_times must name at least one class"),
        (lambda: MixedSourceQueue(1.0, (1.0, 0.0)), "think_times must be a finite number above 0, but it is 0.0"),
        (lambda: MixedSourceQueue(1e200, (1.0, 1e200)), "service_rate x think_time must be between"),
        (lambda: MixedSourceQueue(-1.0, (1.0,)), "service_rate must be a finite number above 0"),
        (lambda: MixedSourceQueue(1.0, (1.0,), 0), "processors must be a whole number of at least 1"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures((1, 2)), "one count for each of the 1 think times, but 2 came"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures((-1,)), "populations must be a whole number of at least 0"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures((1.5,)), "populations must be a whole number of at least 0"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures((1,), -0.5), "delay must be a finite number of at least 0"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures_many([[1.0]]), "rows of 1 whole numbers"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures_many([[1], [-2]]), "must not be negative, but one is -2"),
        (lambda: MixedSourceQueue(1.0, (1.0,)).measures((CLIENT_LIMIT + 1,)), f"populations hold {CLIENT_LIMIT + 1}"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
