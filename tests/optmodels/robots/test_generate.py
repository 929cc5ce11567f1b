"""Random instances of kind "robots"."""

import pytest

from optmodels import RequestError, solve
from optmodels.generating import generate


def test_the_same_seed_gives_the_same_instance_and_another_one_another():
    assert generate("robots", seed=4) == generate("robots", seed=4)
    assert generate("robots", seed=4).data != generate("robots", seed=5).data


@pytest.mark.parametrize("seed", range(5))
def test_generated_instances_are_solved(seed):
    instance = generate("robots", robots=8, capacity=4, holding=0.1, activity=0.1, seed=seed)
    assert solve(instance.problem(), "policy-iteration").status == "optimal"


def test_no_number_of_robots_stands_for_any():
    instance = generate("robots", robots=0, load=0.2, capacity=4)
    assert instance.data["robots"] is None
    assert solve(instance.problem(), "policy-iteration").extra["robots_used"] >= 5


@pytest.mark.parametrize(
    "options",
    [{"classes": 3}, {"environment": 3}, {"phases": 2}, {"switching": "any"}, {"switching": "any", "phases": 3}],
    ids=str,
)
def test_fleets_are_generated_and_solved(options):
    instance = generate("robots", robots=7, capacity=3, seed=2, **options)
    problem = instance.problem()
    assert sum(one.robots for one in problem.fleet.classes) == 7
    assert len(problem.fleet.classes) == options.get("classes", 1)
    assert problem.fleet.environments == options.get("environment", 1)
    assert problem.fleet.switching == options.get("switching", "one")
    assert problem.fleet.phases == options.get("phases", 1) * options.get("classes", 1)
    load = sum(one.robots * one.rate for one in problem.fleet.classes)
    assert load == pytest.approx(generate("robots", robots=7, capacity=3, seed=2).data["arrival_rate"] * 7, rel=0.01)
    assert solve(problem, "policy-iteration").status == "optimal"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"robots": -1}, "robots must be between 0 and"),
        ({"capacity": 1}, "capacity must be between 2 and"),
        ({"load": 0}, "load must be between"),
        ({"gamma": -1.0}, "gamma must be between"),
        ({"holding": float("nan")}, "holding must be between"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"classes": 0}, "classes must be between 1 and"),
        ({"robots": 2, "classes": 3}, "robots must be as many as classes at least"),
        ({"robots": 0, "phases": 2}, "robots must be 1 or more with several"),
        ({"classes": 2, "switching": "any"}, "one at a time"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(RequestError, match=sentence):
        generate("robots", **options)
