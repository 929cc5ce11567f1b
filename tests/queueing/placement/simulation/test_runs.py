"""Simulated servers against everything that is known exactly: product forms, tokens, chains of priorities."""

import numpy as np
import pytest

from queueing import FiniteSourceQueue, MixedSourceQueue, PrioritySourceQueue
from queueing.placement.simulation import SimulatedServer, replicate, simulate, usual_time
from queueing.simulation import joint_limit

DELAY = 0.3


def agree(estimates, exact):
    """No estimate is farther from its exact value than chance, all together, once in a thousand times."""
    limit = joint_limit(len(exact), estimates[0].degrees, 0.001)
    for estimate, value in zip(estimates, exact, strict=True):
        assert estimate.error is not None and estimate.error < 0.05 * value + 1e-3
        assert abs(estimate.deviation(value)) < limit, (estimate, value)


@pytest.mark.parametrize(
    ("rate", "counts", "times", "processors", "requests", "share"),
    [
        (10.0, (6, 6), (1.0, 1.4), 1, 1, 0.0),
        (3.0, (5, 2, 4), (0.5, 2.0, 1.0), 2, 1, 0.0),
        (10.0, (6, 5), (1.0, 1.5), 1, 3, 0.4),
        (4.0, (2, 3), (1.0, 0.7), 3, 2, 0.0),
        (5.0, (1,), (1.0,), 4, 1, 0.3),
    ],
)
def test_first_come_first_served_is_the_product_form(rate, counts, times, processors, requests, share):
    server = SimulatedServer(rate, counts, times, None, processors, requests, share, DELAY)
    found = simulate(server, time=usual_time(server, 60_000), replications=12, seed=6)
    exact = MixedSourceQueue(rate, times, processors, requests, share).measures(counts, DELAY)
    agree(found.throughput(), exact.throughput)
    agree(found.mean_delay(), exact.mean_delay)
    agree(found.delay_probability(), exact.delay_probability)
    agree([found.utilisation()], [exact.utilisation])


@pytest.mark.parametrize(("rate", "counts"), [(6.0, (3, 5)), (2.0, (2, 2, 2))])
def test_priorities_are_the_chain(rate, counts):
    times = (1.0, 1.3, 0.6)[: len(counts)]
    server = SimulatedServer(rate, counts, times, range(len(counts)), delay=DELAY)
    found = simulate(server, time=usual_time(server, 100_000), replications=12, seed=5)
    queue = PrioritySourceQueue(rate, times)
    exact = [queue.measures(counts, c, delay=DELAY) for c in range(len(counts))]
    agree(found.throughput(), [one.throughput for one in exact])
    agree(found.mean_delay(), [one.mean_delay for one in exact])
    agree(found.delay_probability(), [one.delay_probability for one in exact])
    agree([found.utilisation()], [exact[0].utilisation])


def test_a_client_far_away_is_that_of_the_chain_that_follows_it():
    server = SimulatedServer(8.0, (4, 1, 6), (1.0, 1.8, 0.9), (0, 0, 1), delay=DELAY)
    found = simulate(server, time=usual_time(server, 200_000), replications=12, seed=7)
    exact = PrioritySourceQueue(8.0, (1.0, 0.9)).measures((5, 6), 0, think_time=1.8, delay=DELAY)
    agree([found.throughput()[1]], [exact.throughput])
    agree([found.delay_probability()[1]], [exact.delay_probability])


def test_equal_priorities_are_the_order_of_coming():
    numbers = {"service_rate": 6.0, "counts": (3, 5), "think_times": (1.0, 1.3), "delay": DELAY}
    equal, plain = (SimulatedServer(**numbers, priorities=some) for some in ((4, 4), None))
    rows = [simulate(server, time=200.0, replications=3, seed=2).observations for server in (equal, plain)]
    assert (rows[0] == rows[1]).all()


def test_seeds_and_steps():
    server = SimulatedServer(10.0, (5, 0), (1.0, 2.0), delay=DELAY)
    first = simulate(server, time=100.0, replications=3, seed=1)
    assert (first.observations == simulate(server, time=100.0, replications=3, seed=1).observations).all()
    assert (first.observations != simulate(server, time=100.0, replications=3, seed=2).observations).any()
    assert first.observations[:, [2, 4, 6]].sum() == 0  # nobody is in the second group
    assert np.isnan(first.mean_delay()[1].value)
    exact = FiniteSourceQueue(10.0, 1.0).throughput_per_client(5)
    assert first.throughput()[0].value == pytest.approx(exact, rel=0.1)
    seen = [one for one, _ in zip(replicate(server, time=50.0, step=10), range(40), strict=False)]
    assert seen.count(None) >= 38  # a caller looks at its watch


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"counts": (0, 0)}, "counts must not be all 0"),
        ({"counts": (1,)}, "counts and think_times"),
        ({"priorities": (0,)}, "counts and priorities"),
        ({"priorities": (0, -1)}, "priorities must be"),
        ({"request_share": 1.0}, "request_share must be from 0, below 1, but it is 1.0"),
        ({"service_rate": 0.0}, "service_rate must be"),
        ({"requests": 0}, "requests must be"),
        ({"processors": 0}, "processors must be"),
        ({"delay": -1.0}, "delay must"),
    ],
)
def test_bad_servers_are_refused_in_a_sentence(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        SimulatedServer(**{"service_rate": 10.0, "counts": (1, 2), "think_times": (1.0, 2.0), **given})
