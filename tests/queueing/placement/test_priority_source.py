"""Priorities against the chain of whole queues, in the order of their requests, and against what is known otherwise."""

from itertools import product

import numpy as np
import pytest
from scipy.linalg import expm

from queueing import MixedSourceQueue, PrioritySourceQueue
from queueing.placement import STATE_LIMIT
from queueing.placement.priority_source import _states


def whole_chain(rate, classes, times):
    """States as (request in service, requests that wait in the order they came), and moves between them."""
    states, moves = {(None, ()): 0}, []
    todo = [(None, ())]
    while todo:
        state = todo.pop()
        served, queue = state
        follow = []
        for client in range(len(times)):
            if client != served and client not in queue:
                after = (client, ()) if served is None else (served, (*queue, client))
                follow.append((after, 1.0 / times[client], None))
        if served is not None:
            first = min(queue, key=lambda client: classes[client], default=None)  # the first of the first class
            rest = tuple(client for client in queue if client != first)
            follow.append(((first, rest), rate, served))
        for after, speed, done in follow:
            if after not in states:
                states[after] = len(states)
                todo.append(after)
            moves.append((states[state], states[after], speed, done))
    return states, moves


def by_hand(rate, classes, times, tagged, delay):
    """Throughput and delay probability of one client, and utilisation, of the chain of whole queues."""
    states, moves = whole_chain(rate, classes, times)
    size = len(states)
    generator = np.zeros((size, size))
    for start, end, speed, _ in moves:
        generator[start, end] += speed
        generator[start, start] -= speed
    system = np.vstack([generator.T, np.ones(size)])
    shares = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]
    throughput = sum(shares[start] * speed for start, _, speed, done in moves if done == tagged)
    ending, begun = np.zeros((size, size)), np.zeros(size)
    inside = {states[state] for state in states if state[0] == tagged or tagged in state[1]}
    for start, end, speed, done in moves:
        if start in inside:
            ending[start, start] -= speed
            if done != tagged:
                ending[start, end] += speed
        elif end in inside:
            begun[end] += shares[start] * speed
    late = begun / begun.sum() @ expm(ending * delay) @ np.isin(np.arange(size), list(inside))
    return throughput, late, 1.0 - shares[0]


@pytest.mark.parametrize(
    ("populations", "rate", "delay"),
    [
        ((1, 1), 1.0, 0.7),
        ((2, 3), 4.0, 0.5),
        ((3, 2), 0.3, 2.0),
        ((1, 3), 20.0, 0.1),
        ((2, 1, 2), 3.0, 0.4),
        ((0, 4), 2.0, 0.0),
        ((1, 2, 1), 0.05, 50.0),
    ],
)
def test_the_chain_agrees_with_that_of_whole_queues(populations, rate, delay):
    think_times, own = (1.0, 2.0, 0.4)[: len(populations)], 1.7
    queue = PrioritySourceQueue(rate, think_times)
    for tagged, count in enumerate(populations):
        if not count:
            continue
        classes = [tagged] + [c for c, some in enumerate(populations) for _ in range(some - (c == tagged))]
        times = [own] + [think_times[c] for c in classes[1:]]
        throughput, late, busy = by_hand(rate, classes, times, 0, delay)
        found = queue.measures(populations, tagged, think_time=own, delay=delay)
        assert found.throughput == pytest.approx(throughput, rel=1e-9)
        assert found.mean_delay == pytest.approx(1.0 / throughput - own, rel=1e-8)
        assert found.delay_probability == pytest.approx(late, rel=1e-9, abs=1e-12)
        assert found.utilisation == pytest.approx(busy, rel=1e-9)


@pytest.mark.parametrize(("rate", "clients", "own"), [(10.0, 12, 1.4), (2.0, 30, 1.0), (0.5, 6, 9.0), (100.0, 40, 0.2)])
def test_one_class_is_the_product_form(rate, clients, own):
    found = PrioritySourceQueue(rate, (1.0,)).measures((clients,), 0, think_time=own, delay=0.3)
    mixed = MixedSourceQueue(rate, (1.0, own)).measures((clients - 1, 1), 0.3)
    assert found.throughput == pytest.approx(mixed.throughput[1], rel=1e-9)
    assert found.delay_probability == pytest.approx(mixed.delay_probability[1], rel=1e-8)
    assert found.utilisation == pytest.approx(mixed.utilisation, rel=1e-9)


@pytest.mark.parametrize("populations", [(7, 5), (20, 12), (4, 3, 5)])
def test_priorities_share_what_equal_clients_get_together_as_all_orders_do(populations):
    """With equal think times the number of requests does not depend on their order, small chains or large."""
    queue, size = PrioritySourceQueue(8.0, (1.2,) * len(populations)), sum(populations)
    found = [queue.measures(populations, c, delay=0.5) for c in range(len(populations))]
    plain = MixedSourceQueue(8.0, (1.2,)).measures((size,), 0.5)
    total = sum(count * one.throughput for count, one in zip(populations, found, strict=True))
    assert total == pytest.approx(size * plain.throughput[0], rel=1e-9)
    waits = [one.mean_delay for one in found]
    assert waits == sorted(waits) and waits[0] < plain.mean_delay[0] < waits[-1]
    lates = [one.delay_probability for one in found]
    assert lates == sorted(lates)


def test_states_are_counted_without_being_listed():
    for populations in product(range(4), range(5), range(3)):
        for tagged, count in enumerate(populations):
            if count:
                others = np.array([some - (c == tagged) for c, some in enumerate(populations)])
                queue = PrioritySourceQueue(1.0, (1.0, 1.0, 1.0))
                assert queue.states(populations, tagged) == len(_states(others, tagged)[1])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda queue: queue.measures((60, 60), 0), f"At most {STATE_LIMIT} states are solved, but populations"),
        (lambda queue: queue.measures((1, 1), 0, delay=1e9), "At most 20000 events within a delay are followed"),
        (lambda queue: queue.measures((0, 1), 0), "tagged must be a class with a client, but it is 0"),
        (lambda queue: queue.measures((1,), 0), "populations must hold one count for each of the 2 classes, but 1"),
        (lambda queue: queue.measures((1, 1), 0, think_time=0.0), "think_time must be"),
        (lambda queue: PrioritySourceQueue(1.0, ()), "think_times must name at least one class"),
    ],
)
def test_what_cannot_be_solved_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(PrioritySourceQueue(10.0, (1.0, 2.0)))
