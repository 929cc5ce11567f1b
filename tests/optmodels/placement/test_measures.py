"""Throughput, delay and utilisation of placements against the queues themselves."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from optmodels.costs import UnknownMeasure, WeightedSum
from optmodels.placement import PlacementProblem
from optmodels.placement.measures import utilisation_table
from queueing import FiniteSourceQueue, MixedSourceQueue, capacity_by_distance

DELAY = 0.16
DATA = {
    "shape": [3, 4],
    "demand": [[5, 0, 3, 8], [2, 7, 1, 0], [4, 4, 9, 6]],
    "opening_cost": [[1, 2, 3, 1], [2, 1, 1, 3], [1, 1, 2, 2]],
    "operating_cost": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
    "service_rate": [[50, 40, 50, 50], [50, 60, 50, 50], [50, 50, 50, 50]],
    "processors": [[1, 1, 1, 2], [1, 1, 1, 1], [1, 1, 1, 1]],
    "think_time": {"base": 0.4, "per_distance": [[0.1, 0.1, 0.1, 0.1], [0.05, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1]]},
    "quality": {"min_throughput": 1.0, "max_delay_probability": 0.3, "delay": DELAY, "guarantee": "farthest"},
}
PLACEMENT = (1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1)


@pytest.fixture(scope="module")
def farthest():
    return PlacementProblem.from_data(DATA)


@pytest.fixture(scope="module")
def exact(farthest):
    return replace(farthest, quality=replace(farthest.quality, guarantee="worst-case"))


def crowds(problem, decision):
    """Per open site with clients: how many there are at each distance."""
    counts = {}
    for cell, demand in enumerate(problem.demand.tolist()):
        if not demand:
            continue
        nearest = min(int(problem.distances[cell, site]) for site in np.flatnonzero(decision))
        tied = [site for site in np.flatnonzero(decision).tolist() if problem.distances[cell, site] == nearest]
        for site in tied:
            mix = counts.setdefault(site, {})
            mix[nearest] = mix.get(nearest, 0) + -(-demand // len(tied))
    return counts


def queue_at(problem, site, distance):
    return FiniteSourceQueue(
        float(problem.service_rate[site]), float(problem.think_times[site, distance - 1]), int(problem.processors[site])
    )


def test_loads_and_capacities_are_described_site_by_site(farthest):
    described = farthest.describe(PLACEMENT)
    del described["assignment"]  # that is by cell
    load, reach = farthest.load_and_farthest(PLACEMENT)
    for site in range(12):
        if load[site] == 0:
            assert [described[name][site] for name in described] == [None] * 6
        else:
            assert described["load"][site] == load[site] == sum(crowds(farthest, PLACEMENT)[site].values())
            assert described["farthest"][site] == reach[site] == max(crowds(farthest, PLACEMENT)[site])
            assert described["capacity"][site] == farthest.capacity[site, reach[site] - 1]


def test_guarantee_farthest_takes_throughput_at_the_farthest_and_delay_at_the_nearest_distance(farthest):
    described = farthest.describe(PLACEMENT)
    for site, mix in crowds(farthest, PLACEMENT).items():
        clients = sum(mix.values())
        far, near = queue_at(farthest, site, max(mix)), queue_at(farthest, site, 1)
        assert described["throughput"][site] == pytest.approx(far.throughput_per_client(clients), rel=1e-12)
        assert described["utilisation"][site] == pytest.approx(far.utilisation(clients), rel=1e-12)
        assert described["delay_probability"][site] == pytest.approx(near.delay_probability(clients, DELAY), rel=1e-12)


def test_guarantee_worst_case_takes_the_exact_mix_and_its_worst_client(exact):
    described = exact.describe(PLACEMENT)
    for site, mix in crowds(exact, PLACEMENT).items():
        times = tuple(float(exact.think_times[site, d - 1]) for d in sorted(mix))
        queue = MixedSourceQueue(float(exact.service_rate[site]), times, int(exact.processors[site]))
        measures = queue.measures([mix[d] for d in sorted(mix)], DELAY)
        assert described["throughput"][site] == pytest.approx(min(measures.throughput), rel=1e-9)
        assert described["delay_probability"][site] == pytest.approx(max(measures.delay_probability), rel=1e-9)
        assert described["utilisation"][site] == pytest.approx(measures.utilisation, rel=1e-9)


@pytest.mark.parametrize("guarantee", ["farthest", "worst-case"])
def test_scalar_measures_sum_up_the_sites(farthest, exact, guarantee):
    problem = farthest if guarantee == "farthest" else exact
    measures, described = problem.evaluate(PLACEMENT).measures, problem.describe(PLACEMENT)
    served = [site for site in range(12) if described["load"][site] is not None]
    assert measures["worst_throughput"] == min(described["throughput"][site] for site in served)
    assert measures["worst_delay_probability"] == max(described["delay_probability"][site] for site in served)
    price = sum(problem.operating_cost[site] * described["utilisation"][site] for site in served)
    assert measures["operating"] == pytest.approx(price, rel=1e-12)
    assert list(measures) == list(PlacementProblem.measure_names)
    assert len(measures) == 7


def test_mean_delay_is_that_of_a_request_not_of_a_site(farthest, exact):
    flow = delay = 0.0
    for site, mix in crowds(exact, PLACEMENT).items():
        times = tuple(float(exact.think_times[site, d - 1]) for d in sorted(mix))
        measures = MixedSourceQueue(float(exact.service_rate[site]), times, int(exact.processors[site])).measures(
            [mix[d] for d in sorted(mix)]
        )
        for d, throughput, wait in zip(sorted(mix), measures.throughput, measures.mean_delay, strict=True):
            flow += mix[d] * throughput
            delay += mix[d] * throughput * wait
    assert exact.evaluate(PLACEMENT).measures["mean_delay"] == pytest.approx(delay / flow, rel=1e-9)

    flow = delay = 0.0
    for site, mix in crowds(farthest, PLACEMENT).items():
        queue, clients = queue_at(farthest, site, max(mix)), sum(mix.values())
        flow += clients * queue.throughput_per_client(clients)
        delay += clients * queue.throughput_per_client(clients) * queue.mean_delay(clients)
    assert farthest.evaluate(PLACEMENT).measures["mean_delay"] == pytest.approx(delay / flow, rel=1e-12)


def test_mean_distance_is_that_of_a_client_to_its_nearest_open_sites(farthest):
    rows, columns = farthest.shape
    for decision in itertools.product((0, 1), repeat=rows * columns):
        sites = [divmod(site, columns) for site in np.flatnonzero(decision).tolist()]
        if not sites:
            continue
        total = 0
        for cell, clients in enumerate(farthest.demand.tolist()):
            row, column = divmod(cell, columns)
            total += clients * min(abs(row - i) + abs(column - j) + 1 for i, j in sites)
        # Nobody is counted twice where sites tie, and clients of overloaded sites count, too.
        assert farthest.evaluate(decision).measures["mean_distance"] == total / int(farthest.demand.sum())


def test_without_clients_there_is_no_mean_distance(farthest):
    nobody = replace(farthest, demand=np.zeros(farthest.shape, int))
    assert nobody.evaluate((1,) * 12).measures["mean_distance"] is None
    with pytest.raises(UnknownMeasure, match="'mean_distance' is not defined for this decision"):
        replace(nobody, cost=WeightedSum({"mean_distance": 1.0})).evaluate((1,) * 12)


def test_measures_of_the_queues_are_undefined_where_nobody_is_served(farthest):
    measures = farthest.evaluate((0,) * 12).measures
    for name in ("worst_throughput", "worst_delay_probability", "mean_delay", "mean_distance"):
        assert measures[name] is None
    assert measures["operating"] == 0.0


def test_capacities_are_those_of_the_queues_for_both_guarantees(farthest, exact):
    total = farthest.demand.sum()
    for problem in (farthest, exact):
        for site in range(12):
            psi = capacity_by_distance(
                float(problem.service_rate[site]),
                problem.think_times[site].tolist(),
                int(problem.processors[site]),
                min_throughput=1.0,
                max_delay_probability=0.3,
                delay=DELAY,
                guarantee=problem.quality.guarantee,
            )
            assert problem.capacity[site].tolist() == [min(value, total) for value in psi]


@pytest.mark.parametrize("seed", range(6))
def test_worst_case_placements_that_are_feasible_keep_every_promise_to_every_client(exact, seed):
    rng = np.random.default_rng(seed)
    decision = exact.repair(tuple(int(value) for value in rng.random(12) < 0.3), rng)
    measures = exact.evaluate(decision).measures
    assert exact.evaluate(decision).feasible
    assert measures["worst_throughput"] >= 1.0
    assert measures["worst_delay_probability"] < 0.3


def test_clients_out_of_reach_get_nothing(farthest):
    short = PlacementProblem.from_data({**DATA, "think_time": {"by_distance": [0.5, 0.6]}})
    lonely = (1,) + (0,) * 11
    assert not short.evaluate(lonely).feasible
    assert short.describe(lonely)["throughput"][0] == 0.0
    exact = replace(short, quality=replace(short.quality, guarantee="worst-case"))
    assert exact.describe(lonely)["throughput"][0] == 0.0
    assert exact.describe(lonely)["delay_probability"][0] == 1.0
    assert exact.evaluate(lonely).measures["worst_throughput"] == 0.0


@pytest.mark.parametrize("limit", [1, 1000], ids=["large crowds", "exact"])
def test_sites_that_reach_none_of_their_clients_are_described_in_numbers(monkeypatch, limit):
    monkeypatch.setattr("queueing.placement.CLIENT_LIMIT", limit)
    demand = [[9, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 6]]
    quality = {**DATA["quality"], "guarantee": "worst-case"}
    plain = {name: DATA[name] for name in ("shape", "opening_cost")} | {"service_rate": 50}
    problem = PlacementProblem.from_data(
        {**plain, "demand": demand, "quality": quality, "think_time": {"by_distance": [0.5, 0.6]}}
    )
    for decision in ((1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0), (0,) * 6 + (1,) + (0,) * 5):
        described = problem.describe(decision)
        del described["assignment"]
        numbers = [value for name in described for value in described[name] if value is not None]
        assert all(math.isfinite(value) for value in numbers)
        assert min(value for value in described["throughput"] if value is not None) == 0.0
        assert not problem.evaluate(decision).feasible


def test_utilisation_table_is_exact_up_to_capacity_and_full_beyond(farthest):
    table = utilisation_table(farthest)
    assert (table[:, :, 0] == 0).all()
    assert (table[:, :, -1] == 1).all()
    for site, distance in ((0, 1), (1, 2), (3, 1), (4, 3)):
        room = int(farthest.capacity[site, distance - 1])
        queue = queue_at(farthest, site, distance)
        expected = [queue.utilisation(load) for load in range(1, room + 1)]
        assert table[site, distance - 1, 1 : room + 1].tolist() == pytest.approx(expected, rel=1e-12)
        assert (table[site, distance - 1, room + 1 :] == 1).all()


def test_crowds_too_large_for_the_exact_mix_are_judged_by_the_worst_mix(monkeypatch, exact):
    exactly = exact.describe(PLACEMENT)
    monkeypatch.setattr("queueing.placement.CLIENT_LIMIT", 1)
    roughly = exact.describe(PLACEMENT)
    for site in np.flatnonzero(PLACEMENT):
        assert roughly["throughput"][site] <= exactly["throughput"][site] + 1e-12
        assert roughly["delay_probability"][site] >= exactly["delay_probability"][site] - 1e-12
        assert math.isfinite(roughly["utilisation"][site])


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
def test_processors_beyond_the_clients_change_nothing_but_the_utilisation(farthest, guarantee):
    quality = replace(farthest.quality, guarantee=guarantee)
    total = int(farthest.demand.sum())
    enough, plenty = (
        replace(farthest, quality=quality, processors=np.full(12, processors)) for processors in (total, 10**9)
    )
    assert np.array_equal(plenty.capacity, enough.capacity)
    described, expected = plenty.describe(PLACEMENT), enough.describe(PLACEMENT)
    assert [load is None for load in described["load"]] == [load is None for load in expected["load"]]
    for site in crowds(farthest, PLACEMENT):
        for name in ("throughput", "delay_probability"):
            assert described[name][site] == pytest.approx(expected[name][site], rel=1e-14)
        busy = expected["utilisation"][site] * total
        assert described["utilisation"][site] * 1e9 == pytest.approx(busy, rel=1e-13)


def test_capacities_are_sought_among_the_clients_there_are(monkeypatch, farthest):
    asked = []
    for name in ("mean_delay", "delay_probability"):
        plain = getattr(FiniteSourceQueue, name)
        monkeypatch.setattr(
            FiniteSourceQueue, name, lambda queue, n, *rest, plain=plain: asked.append(n) or plain(queue, n, *rest)
        )
    plenty = replace(farthest, processors=np.full(12, 1000))
    assert plenty.capacity.max() == farthest.demand.sum()
    assert max(asked) <= farthest.demand.sum()
