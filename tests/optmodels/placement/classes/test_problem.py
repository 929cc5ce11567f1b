"""Placements of several classes: one class is the plain problem, and strategies agree with enumeration."""

import json
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from heuristics.siting.dejavu import SitingProblem
from optmodels import InstanceError, PlacementProblem
from optmodels.placement.classes import ClassPlacement

SHIPPED = Path(__file__).parents[4] / "instances" / "placement" / "classes-4x4.json"

TIMES = {"base": 0.8, "per_distance": 0.2}
QUALITY = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}
STRICT = {"min_throughput": 0.5, "max_delay_probability": 0.02, "delay": 0.6}


def small(seed: int, rows: int = 2, columns: int = 3, **changes) -> PlacementProblem:
    rng = np.random.default_rng(seed)
    shape = rows, columns
    found: PlacementProblem = PlacementProblem(
        **{
            "classes": [
                {"name": "browsing", "demand": rng.integers(0, 8, shape), "think_time": TIMES},
                {
                    "name": "saving",
                    "demand": rng.integers(0, 4, shape),
                    "think_time": {"base": rng.uniform(0.3, 1.0, shape), "per_distance": 0.1},
                    "quality": STRICT,
                },
            ],
            "opening_cost": rng.integers(1, 6, shape),
            "operating_cost": rng.integers(0, 4, shape),
            "service_rate": rng.uniform(10.0, 20.0, shape),
            "quality": QUALITY,
            **changes,
        }
    )
    return found


@pytest.mark.parametrize("guarantee", ["worst-case", "farthest"])
@pytest.mark.parametrize("processors", [1, 2])
def test_one_class_is_the_plain_problem(guarantee: str, processors: int) -> None:
    rng = np.random.default_rng(processors)
    demand = rng.integers(0, 12, (2, 4))
    shared = {
        "opening_cost": rng.integers(1, 6, (2, 4)),
        "operating_cost": 2,
        "service_rate": rng.uniform(8, 20, (2, 4)) / processors,
        "processors": processors,
        "quality": {**QUALITY, "guarantee": guarantee},
        "limits": {"mean_distance": {"max": 2.2}},
    }
    plain = PlacementProblem(demand=demand, think_time=TIMES, **shared)
    classed = PlacementProblem(classes=[{"name": "all", "demand": demand, "think_time": TIMES}], **shared)
    assert isinstance(classed, ClassPlacement)
    assert (classed.allowed == plain.allowed).all()
    assert classed.lower_bound() == plain.lower_bound()
    feasible = 0
    for decision in product((0, 1), repeat=8):
        ours, theirs = classed.evaluate(decision), plain.evaluate(decision)
        assert (ours.objective, ours.violations) == (theirs.objective, theirs.violations)
        assert dict(ours.measures) == dict(theirs.measures)
        feasible += ours.feasible
        told, expected = classed.describe(decision), plain.describe(decision)
        for name in ("load", "farthest", "throughput", "delay_probability"):
            assert told[name] == [None if value is None else [value] for value in expected[name]]
        assert told["utilisation"] == expected["utilisation"]
    assert 0 < feasible < 255


@pytest.mark.parametrize("seed", range(3))
def test_every_strategy_that_applies_finds_what_enumeration_proves(seed: int) -> None:
    problem = small(seed)
    best = om.solve(problem, "exhaustive")
    assert best.status == "optimal"
    assert problem.lower_bound() <= best.objective + 1e-9
    for strategy in ("local-search", "annealing", "genetic", "dejavu"):
        found = om.solve(problem, strategy, seed=1, evaluations=400)
        assert found.status == "feasible"
        assert best.objective <= found.objective + 1e-9
        assert strategy == "dejavu" or found.objective <= best.objective * 1.3  # it looks at opening costs alone
        assert problem.evaluate(found.decision).objective == pytest.approx(found.objective, rel=1e-12)
    assert isinstance(problem, SitingProblem)


def test_repair_and_suggestions_are_feasible() -> None:
    for seed in range(6):
        problem = small(seed, 3, 3)
        rng = np.random.default_rng(seed)
        if not problem.allowed.any():
            assert problem.infeasibility() is not None
            continue
        for _ in range(5):
            decision = tuple(int(value) for value in rng.integers(0, 2, 9))
            assert problem.evaluate(problem.repair(decision, rng)).feasible
        assert problem.evaluate(next(problem.suggestions(rng))).feasible


def test_what_is_overloaded_behind_closed_sites_stays_so_behind_more_and_no_feasible_placement_leaves_it() -> None:
    problem = small(7)
    sites = range(6)
    behind = {
        (site, closed): problem.overloaded_behind(site, closed)
        for site in sites
        for size in range(6)
        for closed in combinations([other for other in sites if other != site], size)
    }
    assert any(behind.values()) and not all(behind.values())
    for (site, closed), overloaded in behind.items():
        for other in sites:
            if other != site and other not in closed:
                assert not overloaded or behind[site, tuple(sorted((*closed, other)))]
    for decision in product((0, 1), repeat=6):
        closed = tuple(site for site in sites if not decision[site])
        overloaded = any(behind[site, closed] for site in sites if decision[site])
        assert problem.evaluate(decision).feasible == (any(decision) and not overloaded)


def test_a_class_that_asks_for_nothing_only_takes_room() -> None:
    alone = small(3)
    quality = {"min_throughput": 0, "max_delay_probability": 1, "delay": 9}
    idle = {"name": "idle", "demand": np.ones((2, 3), int), "think_time": TIMES, "quality": quality}
    with_others = small(3, classes=[*alone.classes, idle])
    feasible = 0
    for decision in product((0, 1), repeat=6):
        ours = with_others.evaluate(decision).feasible
        assert not ours or alone.evaluate(decision).feasible
        feasible += ours
    assert feasible


def test_files_and_fields_make_the_same_problem() -> None:
    problem = small(1)
    again = PlacementProblem.from_data(json.loads(json.dumps(problem.to_data())))
    assert isinstance(again, ClassPlacement) and again == problem
    assert replace(problem, service_rate=30).classes[1].name == "saving"
    assert problem.parts[1].quality.max_delay_probability == 0.02
    assert replace(problem).to_data() == problem.to_data()
    part = problem.restrict([0, 1, 4])
    assert part.layout.sites == 3 and part.parts[1].think_times[2, 0] == problem.parts[1].think_times[4, 0]


def test_the_picture_shows_the_largest_class() -> None:
    problem = small(1)
    shown, words = problem.pictured((1, 1, 1, 1, 1, 1))
    assert shown is problem.parts[0]
    assert words == ["class 'browsing', one of 2", "0 sites overloaded by all classes together"]


def test_the_shipped_instance_has_its_value() -> None:
    instance = om.Instance.from_data(json.loads(SHIPPED.read_text()))
    problem = instance.problem()
    assert len(problem.classes) == 2
    found = problem.evaluate(instance.best_known.decision)
    assert found.feasible and found.objective == instance.best_known.objective
    assert problem.lower_bound() <= found.objective
    assert problem.infeasibility() is None


GOOD = {
    "shape": [1, 2],
    "classes": [
        {"name": "a", "demand": [[1, 2]], "think_time": TIMES},
        {"name": "b", "demand": [[3, 4]], "think_time": TIMES, "quality": STRICT},
    ],
    "opening_cost": [[1, 1]],
    "service_rate": 20,
    "quality": QUALITY,
}


def changed(path: str, value) -> dict:
    data = json.loads(json.dumps(GOOD))
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    at = data
    for step in way:
        at = at[step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "classes.1.demand",
            ...,
            "data.classes[1].demand is missing; a class needs its name, its demand and its think",
        ),
        ("classes.0.name", ..., "data.classes[0].name is missing; a class needs its name"),
        ("classes.0.think_time", ..., "data.classes[0].think_time is missing; a class needs"),
        ("classes", [], "data.classes is []; classes are a list of"),
        ("classes", 3, "data.classes is 3; classes are a list of"),
        ("classes.1.name", "a", 'data.classes[1].name is "a"; every class has another name.'),
        ("classes.1.name", "", 'data.classes[1].name is ""; names of classes are printable text on one line.'),
        ("classes.1.demand", [[1, -1]], "data.classes[1].demand[0][1] is -1; demands are whole numbers, zero or more."),
        ("classes.1.demand", [[1]], "data.classes[1].demand[0] is [1]; the grid needs 1 rows of 2, 1 entries came."),
        ("classes.0.think_time.base", -1, "data.classes[0].think_time.base is -1; think times are numbers, zero or"),
        ("classes.1.quality.delay", ..., "data.classes[1].quality.delay is missing; quality needs min_throughput"),
        ("classes.1.quality.guarantee", "farthest", 'data.classes[1].quality.guarantee is "farthest"; more than one'),
        (
            "quality.guarantee",
            "farthest",
            'data.quality.guarantee is "farthest"; more than one class knows the guarantee',
        ),
        ("demand", [[1, 1]], "data.classes is [{"),
        ("think_time", TIMES, "every class has its own; leave out the one of all."),
        (
            "requests",
            2,
            "data.requests is 2; several requests per client are for clients of one class, without classes.",
        ),
        ("request_share", 0.5, "data.request_share is 0.5; several requests per client are for clients of one class"),
        ("classes.0.demand", [[19999, 1]], "at most 20000 clients of all classes are supported, and there are 20007."),
        ("classes.0.colour", 1, "data.classes[0].colour is 1; no such field"),
        ("classes", [GOOD["classes"][0]] * 6, "at most 5 classes are supported, and there are 6."),
        ("service_rate", 0, "data.service_rate is 0; service rates are positive numbers."),
    ],
)
def test_bad_classes_are_refused_in_a_sentence(path: str, value, sentence: str) -> None:
    with pytest.raises(InstanceError) as failure:
        PlacementProblem.from_data(changed(path, value))
    assert sentence in str(failure.value)


def test_exact_programs_are_refused_in_a_sentence() -> None:
    with pytest.raises(Exception, match="no integer program is written for classes of clients"):
        om.solve(small(0), "highs")
