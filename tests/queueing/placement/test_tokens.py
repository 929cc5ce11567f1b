"""Clients with several requests, against the chain of all queues, mean values in rational numbers, and all mixes."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.sparse import lil_array
from scipy.sparse.linalg import spsolve

from queueing import FiniteSourceQueue, MixedSourceQueue, capacity_by_distance
from queueing.placement import TOKEN_LIMIT
from queueing.placement.tokens import measures_of_tokens


def chain_of_tokens(rate: float, think: list[float], processors: int, requests: int, share: float, delay: float):
    """Throughput, mean delay and P(delay > given) of each client, from the chain of the queue of named tokens.

    Nothing of product forms or arrival theorems is used: a state is the queue itself, with the answers that each client
    has at the second of its stations.
    """
    clients = range(len(think))
    first, second = (think, None) if share == 0 else ([share * f for f in think], [(1 - share) * f for f in think])
    start = ((), (0,) * len(think))
    index, todo, moves = {start: 0}, [start], []
    while todo:
        state = todo.pop()
        queue, at_second = state
        steps = []
        for place in range(min(processors, len(queue))):
            steps.append((rate, (queue[:place] + queue[place + 1 :], at_second), None))
        for client in clients:
            if requests - queue.count(client) - at_second[client] > 0:
                if second is None:
                    steps.append((1 / first[client], ((*queue, client), at_second), client))
                else:
                    moved = tuple(n + (other == client) for other, n in enumerate(at_second))
                    steps.append((1 / first[client], (queue, moved), None))
            if at_second[client] > 0 and second is not None:
                moved = tuple(n - (other == client) for other, n in enumerate(at_second))
                steps.append((1 / second[client], ((*queue, client), moved), client))
        for speed, after, sender in steps:
            if after not in index:
                index[after] = len(index)
                todo.append(after)
            moves.append((index[state], index[after], speed, sender, len(queue)))
    transposed = lil_array((len(index), len(index)))
    for before, after, speed, _, _ in moves:
        transposed[after, before] += speed
        transposed[before, before] -= speed
    transposed[0, :] = 1.0
    stationary = spsolve(transposed.tocsc(), np.eye(len(index))[0])

    waits = max(0, len(think) * requests - processors)
    met_late = np.full(len(think) * requests, math.exp(-rate * delay))  # by the number of requests met on arrival
    if waits > 0:
        busy = processors * rate
        departures = np.diag([-busy] * waits + [-rate]) + np.diag([busy] * waits, 1)
        met_late[processors:] = expm(departures * delay).sum(axis=1)[waits - 1 :: -1]
    flow, late, waiting = (np.zeros(len(think)) for _ in range(3))
    for before, _, speed, sender, met in moves:
        if sender is not None:
            flow[sender] += stationary[before] * speed
            late[sender] += stationary[before] * speed * met_late[met]
            waiting[sender] += stationary[before] * speed * (1 + max(0, met - processors + 1) / processors) / rate
    return flow, waiting / flow, late / flow


def mean_values(rate: Fraction, think: list[Fraction], requests: int, share: Fraction):
    """Throughput and mean delay of each client by mean value analysis: a chain for each client, one processor."""
    stages = [(f,) if share == 0 else (share * f, (1 - share) * f) for f in think]

    @cache
    def solve(population: tuple[int, ...]):
        flow, delay, at_server = [Fraction(0)] * len(think), [Fraction(0)] * len(think), Fraction(0)
        at_client = [[Fraction(0)] * len(own) for own in stages]
        for i, tokens in enumerate(population):
            if tokens:
                fewer = tuple(n - (j == i) for j, n in enumerate(population))
                _, _, others, away = solve(fewer)
                delay[i] = (1 + others) / rate
                stays = [f * (1 + away[i][stage]) for stage, f in enumerate(stages[i])]
                flow[i] = tokens / (delay[i] + sum(stays))
                at_server += flow[i] * delay[i]
                at_client[i] = [flow[i] * stay for stay in stays]
        return flow, delay, at_server, at_client

    return solve((requests,) * len(think))[:2]


def test_two_and_three_clients_with_two_requests_each() -> None:
    queue = FiniteSourceQueue(3.0, 1.0, requests=2)
    assert queue.throughput_per_client(2) == pytest.approx(57 / 65, rel=1e-14)  # 0.876923
    assert queue.throughput_per_client(3) == pytest.approx(0.801956, abs=5e-7)
    flow, _, _ = chain_of_tokens(3.0, [1.0] * 3, 1, 2, 0.0, 0.5)
    assert queue.throughput_per_client(3) == pytest.approx(flow[0], rel=1e-12)


@pytest.mark.parametrize(
    ("clients", "processors", "requests", "share"),
    [
        *((1, 1, 3, 0.0), (1, 2, 4, 0.3), (2, 1, 2, 0.6), (2, 2, 3, 0.0), (3, 1, 2, 0.0), (3, 3, 2, 0.0)),
        *((2, 9, 2, 0.5), (3, 2, 1, 0.4), (4, 1, 1, 0.0)),
    ],
)
def test_the_chain_of_all_queues_gives_the_same_measures(
    clients: int, processors: int, requests: int, share: float
) -> None:
    rng = np.random.default_rng([clients, processors, requests])
    rate, think = rng.uniform(0.5, 5.0), rng.uniform(0.2, 3.0, clients)
    think[-1] = think[0]
    delay = rng.uniform(0.2, 2.5) / rate
    flow, waiting, late = chain_of_tokens(rate, think.tolist(), processors, requests, share, delay)
    if requests > 1:
        queue = MixedSourceQueue(rate, tuple(think.tolist()), processors, requests, share)
        found = queue.measures((1,) * clients, delay)
    else:
        columns = measures_of_tokens(np.ones((1, clients), np.int64), rate, think, processors, 1, share, delay)
        found = MixedSourceQueue(rate, tuple(think.tolist()), processors).measures((1,) * clients, delay)
        np.testing.assert_allclose(columns[0][0], found.throughput, rtol=1e-13)
    np.testing.assert_allclose(found.throughput, flow, rtol=1e-10)
    np.testing.assert_allclose(found.mean_delay, waiting, rtol=1e-10)
    np.testing.assert_allclose(found.delay_probability, late, rtol=1e-10)
    assert found.utilisation == pytest.approx(flow.sum() / (processors * rate), rel=1e-10)


scales = st.integers(-90, 90).map(lambda e: 10.0**e) | st.floats(0.05, 20.0)


@settings(max_examples=50, deadline=None)
@given(
    scales,
    st.lists(scales, min_size=1, max_size=4),
    st.integers(2, 5),
    st.sampled_from([0.0, 1e-9, 0.25, 0.5, 1 - 1e-9]),
)
def test_mean_value_analysis_gives_the_same_means_over_many_decades(
    rate: float, think: list[float], requests: int, share: float
) -> None:
    if len(think) == 4:
        requests = min(requests, 3)
    flow, waiting = mean_values(Fraction(rate), [Fraction(f) for f in think], requests, Fraction(share))
    found = MixedSourceQueue(rate, tuple(think), requests=requests, request_share=share).measures((1,) * len(think))
    np.testing.assert_allclose(found.throughput, [float(x) for x in flow], rtol=1e-12)
    np.testing.assert_allclose(found.mean_delay, [float(x) for x in waiting], rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(1e-3, 1e3),
    st.lists(st.tuples(st.floats(1e-3, 1e3), st.integers(0, 40)), min_size=1, max_size=4),
    st.integers(1, 5),
    st.floats(0.0, 30.0),
)
def test_one_request_is_the_mixed_crowd_that_is_there(
    rate: float, classes: list[tuple[float, int]], processors: int, work: float
) -> None:
    times, counts = zip(*classes, strict=True)
    crowd, delay = np.array([counts], np.int64), work / rate
    throughput, waiting, late, busy = measures_of_tokens(crowd, rate, np.array(times), processors, 1, 0.7, delay)
    plain = MixedSourceQueue(rate, times, processors).measures_many(crowd, delay)
    np.testing.assert_allclose(throughput, plain.throughput, rtol=1e-11)
    np.testing.assert_allclose(waiting, plain.mean_delay, rtol=1e-11)
    np.testing.assert_allclose(late, plain.delay_probability, rtol=1e-10)
    np.testing.assert_allclose(busy, plain.utilisation, rtol=1e-11)


def test_large_crowds_and_many_requests() -> None:
    # Weights that span far more than doubles: all requests at the server weigh 10000! / 5000^10000 here.
    plain = FiniteSourceQueue(1.0, 5000.0)
    crowd = np.array([[10_000]])
    each, waiting, late, _ = measures_of_tokens(crowd, 1.0, np.array([5000.0]), 1, 1, 0.0, 5000.0)
    assert each[0, 0] == pytest.approx(plain.throughput_per_client(10_000), rel=1e-11)
    assert waiting[0, 0] == pytest.approx(plain.mean_delay(10_000), rel=1e-11)
    assert late[0, 0] == pytest.approx(plain.delay_probability(10_000, 5000.0), rel=1e-9)
    # One client with very many requests and one processor: two stations in a circle, a truncated geometric law.
    for think in (0.5, 0.999, 2.0):
        many = FiniteSourceQueue(1.0, think, requests=900)
        weights = think ** (900.0 - np.arange(901)) if think < 1 else think ** -np.arange(901.0)
        assert many.throughput_per_client(1) == pytest.approx(weights[1:].sum() / weights.sum(), rel=1e-12)
    busy = FiniteSourceQueue(2.0, 1.0, 3, requests=4)
    assert busy.throughput_per_client(1000) == pytest.approx(6.0 / 1000, rel=1e-12)
    assert busy.utilisation(1000) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("processors", [1, 3])
def test_throughput_and_delay_rise_with_the_requests_of_a_client(processors: int, share: float) -> None:
    found = [FiniteSourceQueue(10.0, 1.3, processors, requests, share) for requests in (1, 2, 3, 4, 6, 9)]
    for fewer, more in pairwise(found):
        assert fewer.throughput_per_client(11) < more.throughput_per_client(11)
        assert fewer.mean_delay(11) < more.mean_delay(11)
        assert fewer.delay_probability(11, 0.3) < more.delay_probability(11, 0.3)
        assert fewer.utilisation(11) < more.utilisation(11)


def test_in_a_mixed_crowd_near_clients_can_lose_by_more_requests_of_all() -> None:
    # With many requests all clients share a saturated server equally; with few, near clients get more.
    found = [MixedSourceQueue(10.0, (1.0, 1.5), 1, m, 0.4).measures((6, 5)) for m in (1, 3, 6, 9)]
    near, far = zip(*(measures.throughput for measures in found), strict=True)
    assert near[0] < near[1] > near[2] > near[3]
    assert far[0] < far[1] < far[2] < far[3]
    assert all(a.utilisation < b.utilisation for a, b in pairwise(found))


def crowds(clients: int, distances: int):
    """All crowds of that many clients, as counts by distance."""
    for chosen in combinations_with_replacement(range(distances), clients):
        yield np.bincount(chosen, minlength=distances)


@pytest.mark.parametrize(("requests", "share", "processors"), [(2, 0.0, 1), (3, 0.0, 2), (2, 0.5, 1), (4, 0.2, 3)])
def test_of_all_mixes_one_far_client_among_near_ones_is_the_worst(requests: int, share: float, processors: int) -> None:
    rng = np.random.default_rng(requests)
    for _ in range(3):
        times = np.sort(rng.uniform(0.2, 3.0, 3))
        rate = float(rng.uniform(0.5, 8.0))
        queue = MixedSourceQueue(rate, tuple(times.tolist()), processors, requests, share)
        for clients, far in product((1, 2, 4, 6), range(3)):
            mixes = np.array([mix for mix in crowds(clients, 3) if not mix[far + 1 :].any()])
            table = queue.measures_many(mixes, 1.0 / rate)
            worst = np.bincount([0] * (clients - 1) + [far], minlength=3)
            least = queue.measures(worst.tolist()).throughput[far]
            latest = queue.measures([clients, 0, 0], 1.0 / rate).delay_probability
            assert latest is not None and table.delay_probability is not None
            assert np.nanmin(table.throughput) >= least * (1 - 1e-12)
            assert np.nanmax(table.delay_probability) <= latest[0] * (1 + 1e-12)


@pytest.mark.parametrize(("requests", "share", "processors"), [(2, 0.0, 1), (3, 0.3, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_capacities_are_those_of_all_mixes(seed: int, requests: int, share: float, processors: int) -> None:
    rng = np.random.default_rng([seed, requests])
    times = tuple(np.sort(rng.uniform(0.5, 2.0, 3)).tolist())
    rate = float(rng.uniform(4.0, 6.0)) / processors
    probe = MixedSourceQueue(rate, times, processors, requests, share).measures([5, 0, 1], 3.0 / rate)
    assert probe.delay_probability is not None
    theta = probe.throughput[2] * float(rng.uniform(0.9, 1.1))
    epsilon, delay = probe.delay_probability[0] * float(rng.uniform(0.95, 1.2)), 3.0 / rate

    def good(mix: np.ndarray) -> bool:
        table = MixedSourceQueue(rate, times, processors, requests, share).measures(mix.tolist(), delay)
        here = mix > 0
        assert table.delay_probability is not None
        return bool(
            (np.array(table.throughput)[here] >= theta).all()
            and (np.array(table.delay_probability)[here] < epsilon).all()
        )

    limits = {"min_throughput": theta, "max_delay_probability": epsilon, "delay": delay}
    found = capacity_by_distance(rate, times, processors, **limits, most=9, requests=requests, request_share=share)
    for d, capacity in enumerate(found):
        expected = 0
        while expected < 9 and all(good(mix) for mix in crowds(expected + 1, 3) if not mix[d + 1 :].any()):
            expected += 1
        assert capacity == expected
    rule = capacity_by_distance(
        rate, times, processors, **limits, most=9, requests=requests, request_share=share, guarantee="farthest"
    )
    for time, capacity in zip(times, rule, strict=True):
        far = FiniteSourceQueue(rate, time, processors, requests, share)
        near = FiniteSourceQueue(rate, times[0], processors, requests, share)
        expected = min(far.largest_population(theta, most=9), near.largest_population(None, epsilon, delay, most=9))
        assert capacity == expected
        assert expected == 9 or not (
            far.throughput_per_client(expected + 1) >= theta and near.delay_probability(expected + 1, delay) < epsilon
        )


def test_capacities_do_not_depend_on_how_far_is_looked() -> None:
    times = (1.0, 1.2, 1.7)
    limits = {"min_throughput": 0.25, "max_delay_probability": 0.4, "delay": 1.2, "requests": 2}
    whole = capacity_by_distance(100.0, times, **limits)
    assert whole[0] > 128  # several looks
    for most in (0, 1, 31, 32, 33, 128, whole[2], whole[0] - 1, whole[0] + 1):
        assert capacity_by_distance(100.0, times, **limits, most=most) == tuple(min(most, n) for n in whole)
    # A server that is good for more is said to be good for as many as are solved.
    assert capacity_by_distance(1e9, times, min_throughput=0.1, requests=1000) == (TOKEN_LIMIT // 1000,) * 3
    assert capacity_by_distance(1e9, times, max_delay_probability=1.0, delay=0.0, requests=2) == (0, 0, 0)
    assert capacity_by_distance(1.0, times, max_delay_probability=1.0, delay=0.1, requests=2, most=70) == (70, 70, 70)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"requests": 0}, "requests must be a whole number of at least 1"),
        ({"requests": 1.5}, "requests must be"),
        ({"request_share": 1.0}, "request_share must be below 1"),
        ({"request_share": -0.1}, "request_share must"),
        ({"request_share": math.nan}, "request_share must"),
    ],
)
def test_bad_requests_are_refused(given: dict, sentence: str) -> None:
    for make in (
        lambda: FiniteSourceQueue(1.0, 1.0, **given),
        lambda: MixedSourceQueue(1.0, (1.0,), **given),
        lambda: capacity_by_distance(1.0, (1.0,), min_throughput=0.1, **given),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            make()


def test_crowds_with_too_many_requests_are_refused() -> None:
    with pytest.raises(ValueError, match=f"At most {TOKEN_LIMIT} requests"):
        FiniteSourceQueue(1.0, 1.0, requests=10).mean_delay(TOKEN_LIMIT // 10 + 1)
