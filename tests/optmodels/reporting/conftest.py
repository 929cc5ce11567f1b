"""Comparisons made by hand: what runs would have told, without running anything."""

import pytest

from heuristics import Budget, Evaluation, Status, TracePoint
from optmodels import Result
from optmodels.studies import Comparison
from optmodels.studies.runs import Run


def made_run(problem="p", strategy="s", seed=0, objective=10.0, *, bound=None, trace=None, error=None, status=None):
    """A run; without an objective it found nothing."""
    points = trace
    if trace is None and objective is not None:
        points = [(0.1, 5, 2.0 * objective, None), (0.5 + 0.1 * seed, 20, objective, bound)]
    evaluation = None if objective is None else Evaluation(objective, {}, {"cost": objective})
    result = Result(
        problem=problem,
        kind="toy",
        status=Status(status or ("feasible" if objective is not None else "unknown")),
        decision=None if objective is None else (1, 0),
        evaluation=evaluation,
        bound=bound,
        evaluations=100,
        seconds=1.0,
        trace=tuple(TracePoint(*point) for point in points or ()),
        checked=objective is not None,
        strategy=strategy,
        seed=seed,
        versions={"optmodels": "0.1.0"},
    )
    return Run(problem, strategy, seed, result, error, f"{problem}/{strategy}/{seed}")


def made_comparison(runs, **told):
    """A comparison of such runs."""
    return Comparison(tuple(runs), **{"budget": Budget(seconds=1.0), **told})


@pytest.fixture
def make_run():
    return made_run


@pytest.fixture
def make_comparison():
    return made_comparison


@pytest.fixture
def grid():
    """Some instances, two strategies, three seeds; the first strategy is always better."""
    return made_comparison(
        made_run(f"instance-{place}", strategy, seed, 10.0 + place + extra + 0.01 * seed, bound=9.0)
        for place in range(7)
        for strategy, extra in (("good", 0.0), ("worse", 1.0))
        for seed in range(3)
    )
