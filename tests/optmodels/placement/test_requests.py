"""Several requests per client (section 7.3 of Gautam 2002): evaluator, walks and the integer program agree."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from optmodels import InstanceError, PlacementProblem
from queueing import FiniteSourceQueue, MixedSourceQueue

SHIPPED = Path(__file__).parents[3] / "instances" / "placement" / "requests-4x4.json"


def small(seed: int, **changes) -> PlacementProblem:
    rng = np.random.default_rng(seed)
    return PlacementProblem(
        **{
            "demand": rng.integers(0, 9, (2, 3)),
            "opening_cost": rng.integers(1, 6, (2, 3)),
            "operating_cost": rng.integers(0, 4, (2, 3)),
            "service_rate": rng.uniform(14.0, 30.0, (2, 3)),
            "think_time": {"base": 0.5, "per_distance": 0.1},
            "quality": {"min_throughput": 1.3, "max_delay_probability": 0.3, "delay": 0.25},
            "requests": 2,
            "request_share": 0.3,
            **changes,
        }
    )


@pytest.mark.parametrize("seed", range(4))
def test_all_placements_are_judged_by_the_clients_of_their_sites(seed: int) -> None:
    problem = small(seed)
    feasible = 0
    for decision in product((0, 1), repeat=6):
        found = problem.evaluate(decision)
        _, _, load, _, mix = problem._assigned(np.array(decision, np.uint8))
        if not any(decision):
            continue
        busy, least, latest, good = 0.0, np.inf, 0.0, True
        for site in np.flatnonzero(load):
            queue = MixedSourceQueue(problem.service_rate[site], tuple(problem.think_times[site]), 1, 2, 0.3)
            measures = queue.measures(mix[site].tolist(), 0.25)
            busy += problem.operating_cost[site] * measures.utilisation
            least = min(least, np.nanmin(measures.throughput))
            latest = max(latest, np.nanmax(measures.delay_probability))
            # The worst crowd up to the farthest: that client alone there, all others at distance 1.
            far = int(np.flatnonzero(mix[site])[-1])
            crowd = np.bincount([0] * (load[site] - 1) + [far], minlength=4)
            good &= queue.measures(crowd.tolist()).throughput[far] >= 1.3
            good &= (
                FiniteSourceQueue(problem.service_rate[site], 0.6, 1, 2, 0.3).delay_probability(load[site], 0.25) < 0.3
            )
        assert found.feasible == good
        feasible += good
        assert found.measures["operating"] == pytest.approx(busy, rel=1e-12)
        assert found.measures["worst_throughput"] == pytest.approx(least, rel=1e-12)
        assert found.measures["worst_delay_probability"] == pytest.approx(latest, rel=1e-12)
        if good:
            assert least >= 1.3 and latest < 0.3
    assert 0 < feasible < 63


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
@pytest.mark.parametrize("processors", [1, 2])
def test_the_program_searches_and_enumeration_agree(guarantee: str, processors: int) -> None:
    quality = {"min_throughput": 1.3, "max_delay_probability": 0.3, "delay": 0.25, "guarantee": guarantee}
    for seed in range(2):
        problem = small(seed + 10, quality=quality, processors=processors, service_rate=20 / processors)
        best = om.solve(problem, "exhaustive")
        assert best.status == "optimal"
        proved = om.solve(problem, "highs")
        assert (proved.status, proved.objective) == ("optimal", pytest.approx(best.objective, rel=1e-9))
        assert om.solve(problem, "annealing", seed=1, evaluations=200).objective >= best.objective * (1 - 1e-12)


def test_more_requests_make_more_throughput_and_more_delay() -> None:
    measures = [small(3, requests=m, request_share=0).evaluate((1, 0, 1, 0, 1, 1)).measures for m in (1, 2, 4)]
    for name in ("worst_throughput", "worst_delay_probability", "mean_delay", "operating"):
        values = [found[name] for found in measures]
        assert values == sorted(values) and values[0] < values[1]


def test_with_one_request_two_stations_change_nothing() -> None:
    plain, tandem = small(1, requests=1, request_share=0), small(1, requests=1, request_share=0.7)
    assert (plain.capacity == tandem.capacity).all()
    for decision in ((1, 0, 1, 0, 1, 1), (0, 1, 0, 0, 0, 0)):
        assert dict(plain.evaluate(decision).measures) == dict(tandem.evaluate(decision).measures)
    assert "requests" not in plain.to_data() and "request_share" not in plain.to_data()


def test_files_and_parts_keep_the_requests() -> None:
    problem = small(2)
    again = PlacementProblem.from_data(json.loads(json.dumps(problem.to_data())))
    assert (again.requests, again.request_share) == (2, 0.3)
    assert again.to_data() == problem.to_data()
    assert replace(problem, requests=3).requests == 3
    part = problem.restrict([0, 1, 3])
    assert (part.requests, part.request_share) == (2, 0.3)
    assert (part.capacity <= problem.capacity[[0, 1, 3], : part.capacity.shape[1]]).all()


def test_the_shipped_instance_has_its_optimum() -> None:
    instance = om.Instance.from_data(json.loads(SHIPPED.read_text()))
    problem = instance.problem()
    assert problem.requests == 2 and problem.request_share == 0.5
    assert problem.evaluate(instance.best_known.decision).feasible
    assert om.solve(problem, "highs").objective == pytest.approx(instance.best_known.objective)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"requests": 0}, "requests is 0; requests are a whole number from 1."),
        ({"requests": 1.5}, "requests is 1.5; requests are a whole number from 1."),
        ({"request_share": 1.0}, "request_share is 1.0; a share is a number from 0, below 1."),
        ({"request_share": -0.1}, "request_share is -0.1; a share is a number from 0, below 1."),
        ({"requests": 5000}, "requests is 5000; at most 10000 requests of all clients are supported, and there are"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(changes, sentence) -> None:
    with pytest.raises(InstanceError) as failure:
        small(0, **changes)
    assert sentence in str(failure.value)
