"""Every built-in strategy on one shipped instance of every kind it accepts, and through `check_strategy`."""

from functools import cache
from pathlib import Path

import pytest

from heuristics import Status, refusal
from heuristics.testing import check_strategy, toy_problems
from optmodels import instance as instances
from optmodels.registry import BUILT_IN, make_strategy, problems, strategies
from optmodels.solving import solve
from optmodels.verifying import verify

FOLDER = Path(__file__).parents[2] / "instances"
KINDS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
NAMES = sorted(entry.name for entry in strategies.entries() if entry.origin == BUILT_IN)

#: Solvers that start processes and import large libraries: one budget and one seed are enough here.
HEAVY = {"highs"}


@cache
def smallest(kind: str) -> Path:
    """The shipped instance of a kind with the fewest decisions, or the smallest file if they cannot be counted."""
    return min((FOLDER / kind).glob("*.json"), key=lambda file: (instances.load(file).space.size, file.stat().st_size))


def accepted() -> list[tuple[str, str]]:
    """Pairs of a strategy and a kind it takes."""
    loaded = {kind: instances.load(smallest(kind)) for kind in KINDS}
    return [(name, kind) for name in NAMES for kind in KINDS if refusal(loaded[kind], make_strategy(name)) is None]


ACCEPTED = accepted()


def test_every_kind_has_instances_and_every_folder_is_a_kind():
    built_in = {entry.name for entry in problems.entries() if entry.origin == BUILT_IN}
    assert set(KINDS) == built_in


def test_every_strategy_accepts_some_kind_and_every_kind_some_strategy():
    assert {name for name, _ in ACCEPTED} == set(NAMES)
    assert {kind for _, kind in ACCEPTED} == set(KINDS)


@pytest.mark.parametrize(("name", "kind"), ACCEPTED, ids=lambda value: value)
def test_a_strategy_answers_on_a_kind_it_accepts(name, kind):
    file = smallest(kind)
    content = instances.read(file)
    problem = instances.problem_of(content, file)
    result = solve(problem, name, evaluations=2_000, seconds=20, seed=1)
    assert result.decision is not None, f"{name} finds nothing feasible on {file.name}"
    assert result.checked
    assert (result.strategy, result.kind, result.seed) == (name, kind, 1)
    verify(result, problem, content)
    best = content.best_known
    if best is not None and best.proved and result.status == Status.OPTIMAL:
        # A best known of all thresholds is no bound for policies that see more.
        listed = getattr(problem.space, "lists", lambda _: True)(result.decision)
        assert result.objective == pytest.approx(best.objective) if listed else result.objective <= best.objective


@pytest.mark.parametrize(("name", "kind"), [pair for pair in ACCEPTED if pair[0] not in HEAVY], ids=lambda value: value)
def test_the_same_seed_gives_the_same_answer(name, kind):
    first, second = (solve(smallest(kind), name, evaluations=500, seed=3) for _ in range(2))
    assert (first.decision, first.evaluations, first.status) == (second.decision, second.evaluations, second.status)


@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_keeps_the_house_rules(name):
    shipped = [instances.load(smallest(kind)) for kind in KINDS]
    if name in HEAVY:
        check_strategy(make_strategy(name), shipped, evaluations=(50,), seeds=(0,))
    else:
        check_strategy(make_strategy(name), [*toy_problems(), *shipped])
