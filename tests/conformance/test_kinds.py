"""What the record of every built-in kind says holds."""

import inspect
from pathlib import Path

import pytest

from heuristics import Status, refusal
from optmodels import instance as instances
from optmodels.generating import generate
from optmodels.kinds import PARTS
from optmodels.registry import BUILT_IN, kinds, make_strategy, strategies
from optmodels.solving import solve

FOLDER = Path(__file__).parents[2] / "instances"
NAMES = sorted(entry.name for entry in kinds.entries() if entry.origin == BUILT_IN)


@pytest.fixture(params=NAMES)
def kind(request):
    return kinds[request.param]


@pytest.fixture
def shipped(kind):
    """All shipped instances of the kind, as problems."""
    return [instances.load(file) for file in sorted((FOLDER / kind.name).glob("*.json"))]


def test_everything_a_record_refers_to_is_there(kind):
    assert all(kinds.part(kind.name, part) is not None for part in PARTS if getattr(kind, part) is not None)
    assert all(callable(kinds.command(kind.name, command)) for command in kind.commands)
    assert kind.question.endswith("?")
    assert kinds.part(kind.name, "problem").kind == kind.name


def test_the_measures_of_a_record_are_those_of_its_problems(kind, shipped):
    assert list(kind.measures) == list(kinds.part(kind.name, "problem").measure_names)
    for problem in shipped:
        assert list(problem.measure_names) == list(kind.measures), problem.name


def test_the_paper_of_a_record_is_the_one_its_room_names(kind):
    room = " ".join(inspect.getdoc(__import__(f"optmodels.{kind.name}", fromlist=["x"])).replace("*", "").split())
    assert kind.paper in room


def test_a_kind_is_simulated_if_its_problems_can_be(kind):
    assert kind.simulated == callable(getattr(kinds.part(kind.name, "problem"), "experiment", None))


def test_the_example_is_the_smallest_instance_that_recommended_strategies_take(kind, shipped):
    recommended = [make_strategy(name) for name in kind.recommended]
    example = instances.load(FOLDER / kind.example)
    taken = [one for one in shipped if all(refusal(one, strategy) is None for strategy in recommended)]
    assert example.name in [one.name for one in taken]
    assert example.space.size == min(one.space.size for one in taken)


def test_the_first_recommended_strategy_proves(kind):
    assert set(kind.recommended) <= set(strategies)
    for position, name in enumerate(kind.recommended):
        result = solve(FOLDER / kind.example, name, evaluations=2_000, seconds=20, seed=1)
        assert result.decision is not None
        if position == 0:
            assert result.status == Status.OPTIMAL


def test_the_generator_makes_instances_of_the_kind(kind):
    options = {"freshness": {"pages": 5}, "placement": {"rows": 2, "columns": 2}}.get(kind.name, {})
    assert generate(kind.name, seed=1, **options).kind == kind.name


def test_the_picture_draws_the_example(kind, tmp_path):
    pytest.importorskip("matplotlib")
    from optmodels.plotting import plot_problem

    plot_problem(instances.load(FOLDER / kind.example), None, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1000
