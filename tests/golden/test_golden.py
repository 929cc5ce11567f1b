"""Every golden result comes out again; none is missing, none is superfluous.

What is compared, and how closely, is told in `tools/golden.py`, which writes the files.
"""

import json
from pathlib import Path

import golden
import numpy as np
import pytest

from optmodels.errors import RequestError
from optmodels.studies import simulate
from optmodels.studies.simulating import Simulable

ROOT = Path(__file__).parents[2]

KINDS = sorted(file.stem for file in golden.GOLDEN.glob("*.json"))
CASES = [(kind, key) for kind in KINDS for key in golden.read(kind)]


@pytest.mark.parametrize(("kind", "key"), CASES, ids=lambda value: value.replace(" ", "-"))
def test_a_golden_result_comes_out_again(kind, key):
    entry = golden.read(kind)[key]
    now = json.loads(json.dumps(golden.repeat(kind, entry["case"]), allow_nan=False))
    found = "\n  ".join(golden.differences(entry["told"], now))
    assert not found, f"{key}:\n  {found}\nIf this is meant, renew tests/golden/{kind}.json: {golden.RENEW} {kind}"


def test_no_golden_result_is_missing_and_none_is_superfluous():
    there = {(kind, key): golden.read(kind)[key]["case"] for kind, key in CASES}
    wanted = {(kind, key): case for kind, cases in golden.expected().items() for key, case in cases.items()}
    assert there == wanted, f"renew: {golden.RENEW}"


def test_every_class_of_problems_that_can_be_simulated_is():
    """One that offers to be and is not must refuse: a finite horizon has no long run to be simulated."""
    simulated = {type(golden.loaded()[golden.INSTANCES / f"{place}.json"]) for place, _, _ in golden.SIMULATIONS}
    for file, problem in golden.loaded().items():
        if isinstance(problem, Simulable) and type(problem) not in simulated:
            some = problem.space.sample(np.random.default_rng(0))
            with pytest.raises(RequestError):
                simulate(file, some, replications=2, time=1.0)


# -- the comparison ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (1.0, 1.0 + 1e-10),
        (0.0, 1e-16),
        ([1, {"a": 2.5}], [1, {"a": 2.5 * (1 + 1e-12)}]),
        (None, None),
        ("feasible", "feasible"),
    ],
)
def test_rounding_is_no_difference(was, now):
    assert list(golden.differences(was, now)) == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (1.0, 1.0 + 1e-8),
        (0.0, 1e-9),
        (1, 2),
        (1, 1.0),
        (1, True),
        (1.0, None),
        ([1, 2], [1, 2, 3]),
        ({"a": 1}, {"b": 1}),
        ("feasible", "optimal"),
    ],
)
def test_anything_else_is_one_and_both_values_are_told(was, now):
    told = list(golden.differences({"value": was}, {"value": now}))
    assert told
    if not isinstance(was, dict):
        assert all(repr(value) in told[0] for value in (was, now))


def test_what_is_written_is_read_again_and_has_short_lines():
    value = {"b": list(range(100)), "a": {"deep": [{"x": 1.5, "y": None}] * 20}, "none": []}
    text = golden.written(value)
    assert json.loads(text) == value
    assert max(map(len, text.splitlines())) <= 110


def test_a_long_decision_is_told_by_its_beginning_and_a_checksum():
    told = golden.shortened({"schedule": list(range(60)), "robot": [0, 1]})
    assert told["schedule"]["entries"] == 60
    assert told["schedule"]["first"] == list(range(10))
    assert told["robot"] == [0, 1]
    other = golden.shortened([*range(59), 0])
    assert other["sha256"] != told["schedule"]["sha256"]
    assert golden.shortened([0.5] * 60) == [0.5] * 60
