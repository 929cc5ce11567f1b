"""What the record of every built-in kind says holds."""

import importlib
import inspect
from pathlib import Path

import pytest

from heuristics import refusal
from optmodels import instance as instances
from optmodels.registry import BUILT_IN, kinds, make_strategy
from optmodels.testing import check_kind

FOLDER = Path(__file__).parents[2] / "instances"
NAMES = sorted(entry.name for entry in kinds.entries() if entry.origin == BUILT_IN)

#: Options of generators whose instances are large otherwise.
SMALL = {"freshness": {"pages": 5}, "placement": {"rows": 2, "columns": 2}}


@pytest.fixture(params=NAMES)
def kind(request):
    return kinds[request.param]


@pytest.fixture
def shipped(kind):
    """All shipped instances of the kind, as problems."""
    return [instances.load(file) for file in sorted((FOLDER / kind.name).glob("*.json"))]


def test_a_kind_keeps_what_its_record_says(kind):
    pytest.importorskip("matplotlib")
    check_kind(kind, options=SMALL.get(kind.name), decisions=10)


def test_a_kind_from_outside_keeps_what_its_record_says(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "plugins" / "optmodels-staffing"))
    record = importlib.import_module("optmodels_staffing.kind").KIND
    kinds.register(record.name, record)
    try:
        check_kind(record)
    finally:
        kinds.unregister(record.name)


def test_the_measures_of_a_record_are_those_of_all_its_problems(kind, shipped):
    for problem in shipped:
        assert list(problem.measure_names) == list(kind.measures), problem.name


def test_the_paper_of_a_record_is_the_one_its_room_names(kind):
    room = " ".join(inspect.getdoc(__import__(f"optmodels.{kind.name}", fromlist=["x"])).replace("*", "").split())
    assert kind.paper in room


def test_the_example_is_the_smallest_instance_that_recommended_strategies_take(kind, shipped):
    recommended = [make_strategy(name) for name in kind.recommended]
    example = instances.load(FOLDER / kind.example)
    taken = [one for one in shipped if all(refusal(one, strategy) is None for strategy in recommended)]
    assert example.name in [one.name for one in taken]
    assert example.space.size == min(one.space.size for one in taken)
