"""Capacities by distance: the known vectors, and the claim about the worst mix against all mixes."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from mean_value_analysis import mean_value_analysis

from queueing import POPULATION_CAP, FiniteSourceQueue, MixedSourceQueue, capacity_by_distance


def all_mixes(clients: int, classes: int) -> np.ndarray:
    """Every way to spread the clients over the classes, one row each."""
    spreads = combinations_with_replacement(range(classes), clients)
    return np.array([np.bincount(spread, minlength=classes) for spread in spreads])


@pytest.mark.parametrize(
    ("guarantee", "expected"),
    [("farthest", (23, 23, 19, 9, 0, 0, 0)), ("worst-case", (23, 22, 18, 9, 0, 0, 0))],
)
def test_capacities_of_the_grid_of_11_by_22(guarantee, expected) -> None:
    found = capacity_by_distance(
        50.0,
        [0.48 + 0.02 * d for d in range(1, 8)],
        min_throughput=1.7,
        max_delay_probability=0.1,
        delay=0.16,
        guarantee=guarantee,
    )
    assert found == expected


@pytest.mark.parametrize(("guarantee", "expected"), [("farthest", (16, 15, 12, 0)), ("worst-case", (16, 13, 9, 0))])
def test_capacities_of_the_example_of_section_4(guarantee, expected) -> None:
    found = capacity_by_distance(
        10.0,
        [0.8 + 0.2 * d for d in range(1, 5)],
        min_throughput=0.6,
        max_delay_probability=0.5,
        delay=0.6,
        guarantee=guarantee,
    )
    assert found == expected


def test_the_papers_rule_is_not_conservative() -> None:
    far = MixedSourceQueue(10.0, (1.0, 1.4)).measures((6, 6)).throughput[1]
    assert far == pytest.approx(0.585, abs=5e-4)
    assert FiniteSourceQueue(10.0, 1.4).throughput_per_client(12) == pytest.approx(0.6045, abs=5e-5)
    limits = {"min_throughput": 0.6}
    assert capacity_by_distance(10.0, (1.0, 1.4), guarantee="farthest", **limits)[1] >= 12
    assert capacity_by_distance(10.0, (1.0, 1.4), guarantee="worst-case", **limits)[1] < 12


@pytest.mark.parametrize("seed", range(10))
def test_the_closed_form_is_the_lattice_value_of_one_far_client_among_near_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rate, near, clients = rng.uniform(0.5, 50.0), rng.uniform(0.1, 3.0), int(rng.integers(2, 40))
    far = near * rng.uniform(1.0, 4.0)
    throughput, _ = mean_value_analysis(rate, (near, far), (clients - 1, 1))
    alone = FiniteSourceQueue(rate, near).throughput_per_client(clients)
    assert throughput[1] == pytest.approx(1 / (far - near + 1 / alone), rel=1e-12)


@pytest.mark.parametrize("processors", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_no_mix_of_three_distances_is_worse_than_the_claimed_worst(seed: int, processors: int) -> None:
    rng = np.random.default_rng([seed, processors])
    rate = rng.uniform(0.5, 8.0)
    times = np.sort(rng.uniform(0.05, 6.0, size=3))
    delay = rng.uniform(0.1, 5.0) / rate
    nearest = FiniteSourceQueue(rate, times[0], processors)
    queue = MixedSourceQueue(rate, tuple(times.tolist()), processors)
    for clients in range(1, 13):
        mixes = all_mixes(clients, 3)
        table = queue.measures_many(mixes, delay)
        slowest = np.nanmin(table.throughput, axis=0)
        for c in range(3):  # attained in every class, by one of its clients among the nearest
            assert slowest[c] == pytest.approx(1 / (times[c] + nearest.mean_delay(clients)), rel=1e-12)
        latest = np.nanmax(table.delay_probability, axis=0)
        assert latest == pytest.approx([nearest.delay_probability(clients, delay)] * 3, rel=1e-11)


@pytest.mark.parametrize("processors", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_worst_case_capacities_are_those_found_by_trying_every_mix(seed: int, processors: int) -> None:
    rng = np.random.default_rng([seed, processors, 7])
    rate = rng.uniform(1.0, 6.0)
    steps = rng.uniform(0.0, 0.6, size=3) * rng.integers(0, 2, size=3)  # some distances think equally long
    times = tuple((0.4 + np.cumsum(steps)).tolist())
    theta, epsilon, delay = rng.uniform(0.45, 0.8) / (times[-1] + 1 / rate), rng.uniform(0.2, 0.9), 2.0 / rate
    limits = {"min_throughput": theta, "max_delay_probability": epsilon, "delay": delay}

    def every_mix_is_fine(clients: int, distances: int) -> bool:
        queue = MixedSourceQueue(rate, times[:distances], processors)
        table = queue.measures_many(all_mixes(clients, distances), delay)
        return bool(np.nanmin(table.throughput) >= theta and np.nanmax(table.delay_probability) < epsilon)

    expected = tuple(
        next(n for n in range(1, 60) if not every_mix_is_fine(n, distances)) - 1 for distances in (1, 2, 3)
    )
    assert capacity_by_distance(rate, times, processors, **limits) == expected
    assert capacity_by_distance(rate, (times[0], times[2]), processors, **limits)[1] == expected[2]


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
@pytest.mark.parametrize("processors", [1, 2])
def test_capacities_never_rise_with_the_distance_and_worst_case_never_exceeds_farthest(guarantee, processors) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        rate, times = rng.uniform(1.0, 20.0), np.sort(rng.uniform(0.1, 2.0, size=6)).tolist()
        limits = {"min_throughput": rng.uniform(0.2, 1.0) / times[2], "max_delay_probability": 0.3, "delay": 4 / rate}
        found = capacity_by_distance(rate, times, processors, guarantee=guarantee, **limits)
        assert list(found) == sorted(found, reverse=True)
        careful = capacity_by_distance(rate, times, processors, **limits)
        assert all(a <= b for a, b in zip(careful, found, strict=True))
        if guarantee == "farthest":  # its own definition
            nearest = FiniteSourceQueue(rate, times[0], processors).largest_population(None, 0.3, 4 / rate)
            for time, capacity in zip(times, found, strict=True):
                alone = FiniteSourceQueue(rate, time, processors).largest_population(limits["min_throughput"])
                assert capacity == min(nearest, alone)


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
@pytest.mark.parametrize("processors", [1, 2, 11, 12, 13, 40, 10**9])
@pytest.mark.parametrize("most", [0, 1, 11, 12, 13, 60])
def test_capacities_up_to_a_number_of_clients_are_those_found_one_by_one(guarantee, processors, most) -> None:
    rate, times, theta, epsilon, delay = 5.0, (0.5, 0.6, 0.9), 1.05, 0.15, 0.4
    nearest = FiniteSourceQueue(rate, times[0], processors)
    expected = []
    for time in times:
        crowd = nearest if guarantee == "worst-case" else FiniteSourceQueue(rate, time, processors)
        fine = [
            1 / (time + crowd.mean_delay(n)) >= theta and nearest.delay_probability(n, delay) < epsilon
            for n in range(1, most + 1)
        ]
        expected.append([*fine, False].index(False))
    limits = {"min_throughput": theta, "max_delay_probability": epsilon, "delay": delay}
    found = capacity_by_distance(rate, times, processors, guarantee=guarantee, most=most, **limits)
    assert found == tuple(expected)
    unbounded = capacity_by_distance(rate, times, processors, guarantee=guarantee, **limits)
    assert found == tuple(min(value, most) for value in unbounded)


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
@pytest.mark.parametrize("limits", [{"min_throughput": 0.9}, {"max_delay_probability": 0.2, "delay": 0.6}])
def test_no_crowd_beyond_the_wanted_one_is_looked_at(monkeypatch, guarantee, limits) -> None:
    asked = []
    for name in ("mean_delay", "delay_probability"):
        plain = getattr(FiniteSourceQueue, name)
        monkeypatch.setattr(
            FiniteSourceQueue, name, lambda queue, n, *rest, plain=plain: asked.append(n) or plain(queue, n, *rest)
        )
    found = capacity_by_distance(10.0, (0.5, 0.7), 10**4, guarantee=guarantee, most=52, **limits)
    assert found == (52, 52)
    assert max(asked) <= 52


def test_either_limit_may_be_left_out() -> None:
    nearest = FiniteSourceQueue(10.0, 1.0)
    late = nearest.largest_population(None, 0.2, 0.6)
    assert capacity_by_distance(10.0, (1.0, 1.2), max_delay_probability=0.2, delay=0.6) == (late, late)
    assert capacity_by_distance(10.0, (1.0, 1.2), min_throughput=0.6)[0] == nearest.largest_population(0.6)
    assert capacity_by_distance(10.0, (1.0, 1.2), min_throughput=1e-9) == (POPULATION_CAP, POPULATION_CAP)


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
@pytest.mark.parametrize("processors", [1, 3, 10**9])
def test_limits_that_nobody_can_meet_leave_room_for_nobody(guarantee, processors) -> None:
    for limits in (
        {"max_delay_probability": 0.0, "delay": 0.6},
        {"max_delay_probability": 1.0, "delay": 0.0},
        {"min_throughput": 1e308},
    ):
        assert capacity_by_distance(10.0, (1.0, 1.2), processors, guarantee=guarantee, **limits) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"think_times": (), "min_throughput": 1.0}, "think_times must hold at least"),
        ({"think_times": (1.0, 0.9), "min_throughput": 1.0}, "must not fall with the distance"),
        ({"think_times": (1.0, -0.9), "min_throughput": 1.0}, "think_times must be a finite number above 0"),
        ({"think_times": (1.0,)}, "needs a limit"),
        ({"think_times": (1.0,), "delay": 1.0}, "max_delay_probability is missing"),
        ({"think_times": (1.0,), "min_throughput": 1.0, "guarantee": "best"}, "'worst-case' or 'farthest'.*'best'"),
        ({"think_times": (1.0,), "min_throughput": 1.0, "processors": 0}, "processors must be a whole number"),
        ({"think_times": (1.0,), "min_throughput": 1.0, "most": 2.5}, "most must be a whole number of at least 0"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(arguments: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        capacity_by_distance(10.0, **arguments)
