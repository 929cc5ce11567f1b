"""Whether a site keeps its classes: against all crowds and all mixes of clients, and exactly monotone."""

from itertools import product

import numpy as np
import pytest

from optmodels import PlacementProblem
from queueing import MixedSourceQueue

CURVES = ({"by_distance": [1.0, 1.3, 1.8]}, {"by_distance": [0.6, 0.9, 2.2]}, {"by_distance": [1.4, 1.5, 1.6]})


def two_or_three(seed: int, classes: int, processors: int = 1) -> PlacementProblem:
    """A problem whose sites take some ten clients."""
    rng = np.random.default_rng([seed, classes])
    rate = float(rng.uniform(6.0, 9.0)) / processors
    listed = []
    for c in range(classes):
        quality = {
            "min_throughput": float(rng.uniform(0.4, 0.6)),
            "max_delay_probability": float(rng.uniform(0.1, 0.9)),
            "delay": float(rng.uniform(1.0, 3.0)) / rate,
        }
        listed.append({"name": str(c), "demand": [[9, 9, 9]], "think_time": CURVES[c], "quality": quality})
    found: PlacementProblem = PlacementProblem(
        classes=listed,
        opening_cost=[[1, 1, 1]],
        service_rate=rate,
        processors=processors,
        quality={"min_throughput": 1, "max_delay_probability": 1, "delay": 1},
    )
    return found


def kept(problem, loads, farthest) -> bool:
    """Whether the farthest client of each class is served well among all others at distance 1, client by client."""
    near = [float(part.think_times[0, 0]) for part in problem.parts]
    for c, part in enumerate(problem.parts):
        if not loads[c]:
            continue
        own = float(part.think_times[0, farthest[c] - 1])
        queue = MixedSourceQueue(float(problem.service_rate[0]), (*near, own), int(problem.processors[0]))
        others = [load - (c == at) for at, load in enumerate(loads)]
        found = queue.measures([*others, 1], part.quality.delay)
        assert found.delay_probability is not None
        if found.throughput[-1] < part.quality.min_throughput:
            return False
        if not found.delay_probability[-1] < part.quality.max_delay_probability:
            return False
    return True


@pytest.mark.parametrize(("seed", "classes", "processors"), [(0, 2, 1), (1, 2, 1), (2, 2, 3), (3, 3, 1)])
def test_clients_too_many_are_the_least_that_must_go_and_never_fall(seed: int, classes: int, processors: int) -> None:
    problem = two_or_three(seed, classes, processors)
    top = 9 if classes == 2 else 5
    shape = (top + 1,) * classes
    for farthest in [(1,) * classes, (2, 3, 1)[:classes], (3,) * classes]:
        good = np.zeros(shape, bool)
        for loads in np.ndindex(shape):
            good[loads] = kept(problem, loads, farthest)
        assert good.any() and not good.all()
        most = np.zeros(shape, np.int64)  # of all crowds within each, the largest that is good
        for loads in np.ndindex(shape):
            below = [(*loads[:c], loads[c] - 1, *loads[c + 1 :]) for c in range(classes) if loads[c]]
            most[loads] = sum(loads) if good[loads] else max((most[one] for one in below), default=0)
            assert all(good[one] for one in below) or not good[loads]  # closed downwards
            far = tuple(d if load else 0 for d, load in zip(farthest, loads, strict=True))
            assert problem.servers.too_many(0, loads, far) == sum(loads) - most[loads]
        excess = np.indices(shape).sum(axis=0) - most
        assert all((np.diff(excess, axis=axis) >= 0).all() for axis in range(classes))


def test_farther_clients_are_never_fewer_too_many() -> None:
    problem = two_or_three(5, 2)
    for loads in product(range(1, 10), repeat=2):
        excess = np.array([[problem.servers.too_many(0, loads, (a, b)) for b in (1, 2, 3)] for a in (1, 2, 3)])
        assert (np.diff(excess, axis=0) >= 0).all() and (np.diff(excess, axis=1) >= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_client_of_any_mix_up_to_the_farthest_falls_short(seed: int) -> None:
    problem = two_or_three(seed, 2)
    times = tuple(float(t) for part in problem.parts for t in part.think_times[0])
    queue = MixedSourceQueue(float(problem.service_rate[0]), times)
    checked = 0
    for mix in product(range(4), repeat=6):
        loads = sum(mix[:3]), sum(mix[3:])
        far = tuple(max((d + 1 for d in range(3) if mix[3 * c + d]), default=0) for c in range(2))
        if not any(loads) or problem.servers.too_many(0, loads, far):
            continue
        checked += 1
        for c, part in enumerate(problem.parts):
            found = queue.measures(mix, part.quality.delay)
            own = slice(3 * c, 3 * c + 3)
            assert found.delay_probability is not None
            if loads[c]:
                assert np.nanmin(found.throughput[own]) >= part.quality.min_throughput * (1 - 1e-12)
                assert np.nanmax(found.delay_probability[own]) < part.quality.max_delay_probability
    assert checked > 40


def test_two_and_three_clients_get_what_the_chain_of_all_queues_says() -> None:
    problem = PlacementProblem(
        classes=[
            {"name": "near", "demand": [[2]], "think_time": {"base": 1.0, "per_distance": 0.0}},
            {"name": "far", "demand": [[3]], "think_time": {"base": 2.0, "per_distance": 0.0}},
        ],
        opening_cost=[[1]],
        service_rate=4,
        quality={"min_throughput": 0.4, "max_delay_probability": 1, "delay": 1},
    )
    assert problem.evaluate((1,)).feasible
    told = problem.describe((1,))
    assert told["throughput"][0] == pytest.approx([0.696836, 0.404219], abs=5e-7)
    assert told["load"] == [[2, 3]] and told["farthest"] == [[1, 1]] and told["capacity"] is None
