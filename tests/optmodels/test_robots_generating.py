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
    ("options", "sentence"),
    [
        ({"robots": -1}, "robots must be between 0 and"),
        ({"capacity": 1}, "capacity must be between 2 and"),
        ({"load": 0}, "load must be between"),
        ({"gamma": -1.0}, "gamma must be between"),
        ({"holding": float("nan")}, "holding must be between"),
        ({"seed": -1}, "seed must be 0 or more"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(RequestError, match=sentence):
        generate("robots", **options)
