"""Placements of several types of servers: one type is the plain problem, and strategies agree with enumeration."""

import json
import math
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

import optmodels as om
from optmodels import InstanceError, PlacementProblem
from optmodels.placement.server_types import ServerType, TypePlacement

INSTANCES = Path(__file__).parents[4] / "instances" / "placement"

TIMES = {"base": 0.8, "per_distance": 0.2}
QUALITY = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}


def small(seed: int, shape: tuple[int, int] = (2, 3), kinds: int = 2, **changes) -> PlacementProblem:
    rng = np.random.default_rng(seed)
    found: PlacementProblem = PlacementProblem(
        **{
            "demand": rng.integers(0, 9, shape),
            "server_types": [
                {
                    "name": f"type {number}",
                    "service_rate": rng.uniform(6.0, 20.0),
                    "processors": int(rng.integers(1, 4)),
                    "opening_cost": rng.integers(1, 7, shape) if number else int(rng.integers(1, 4)),
                }
                for number in range(kinds)
            ],
            "think_time": {"base": rng.uniform(0.5, 1.0, shape), "per_distance": 0.2},
            "quality": QUALITY,
            **changes,
        }
    )
    return found


def by_hand(problem: TypePlacement, decision: tuple[int, ...]) -> tuple[float, bool]:
    """Price and feasibility of a placement, by a plain problem that is made anew of the servers chosen."""
    open_sites = tuple(int(number > 0) for number in decision)
    chosen = [problem.server_types[max(number, 1) - 1] for number in decision]
    fields = {
        name: getattr(problem, name) for name in ("demand", "think_time", "quality", "operating_cost", "requests")
    }
    plain = PlacementProblem(
        **fields,
        shape=problem.shape,
        service_rate=[one.service_rate for one in chosen],
        processors=[one.processors for one in chosen],
        opening_cost=[one.opening_cost[site] for site, one in enumerate(chosen)],
        cost=problem.cost,
        limits=problem.limits,
    )
    found = plain.evaluate(open_sites)
    return found.objective, found.feasible


MEDIAN = {"cost": {"name": "weighted-sum", "weights": {"mean_distance": 1}}, "limits": {"open_sites": {"max": 4}}}


@pytest.mark.parametrize(
    ("guarantee", "processors", "changes"),
    [("worst-case", 1, {}), ("worst-case", 2, MEDIAN), ("farthest", 1, MEDIAN), ("farthest", 2, {})],
)
def test_one_type_is_the_plain_problem(guarantee: str, processors: int, changes: dict) -> None:
    rng = np.random.default_rng(processors)
    server = {"service_rate": 15.0 / processors, "processors": processors, "opening_cost": rng.integers(1, 6, (2, 4))}
    shared = {
        "demand": rng.integers(0, 12, (2, 4)),
        "operating_cost": 2,
        "think_time": TIMES,
        "quality": {**QUALITY, "guarantee": guarantee},
        "limits": {"mean_distance": {"max": 2.2}},
        **changes,
    }
    plain = PlacementProblem(**shared, **server)
    typed = PlacementProblem(**shared, server_types=[{"name": "any", **server}])
    assert isinstance(typed, TypePlacement)
    assert (typed.allowed == plain.allowed).all()
    assert typed.lower_bound() == plain.lower_bound()
    assert typed.penalty_rate == plain.penalty_rate
    assert typed.objective_step == plain.objective_step
    feasible = 0
    for decision in product((0, 1), repeat=8):
        ours, theirs = typed.evaluate(decision), plain.evaluate(decision)
        assert (ours.objective, ours.violations, ours.penalised) == (
            theirs.objective,
            theirs.violations,
            theirs.penalised,
        )
        assert dict(ours.measures) == dict(theirs.measures)
        feasible += ours.feasible
        told, expected = typed.describe(decision), plain.describe(decision)
        assert told.pop("server_type") == ["any" if value else None for value in decision]
        assert told == expected
        repaired = [one.repair(decision, np.random.default_rng(1)) for one in (typed, plain)]
        assert repaired[0] == repaired[1]
    assert 0 < feasible < 255


@pytest.mark.parametrize("seed", range(4))
def test_the_evaluator_is_that_of_the_servers_chosen(seed: int) -> None:
    changes = {"operating_cost": 3} if seed % 2 else {"requests": 2, "quality": {**QUALITY, "guarantee": "farthest"}}
    problem = small(seed, (2, 2), 3, **changes)
    for decision in product(range(4), repeat=4):
        found = problem.evaluate(decision)
        objective, feasible = by_hand(problem, decision)
        assert found.feasible == feasible
        assert found.objective == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_sites_that_fit_are_those_of_feasible_placements(seed: int) -> None:
    problem = small(seed, (2, 2), 2, demand=np.random.default_rng(seed).integers(0, 30, (2, 2)))
    seen = np.zeros((2, 4), bool)
    lowest = math.inf
    for decision in product(range(3), repeat=4):
        found = problem.evaluate(decision)
        if found.feasible:
            lowest = min(lowest, found.objective)
            for site, number in enumerate(decision):
                if number:
                    seen[number - 1, site] = True
    assert (seen <= problem.fitting).all()
    assert seen.any() == problem.allowed.any() == (problem.infeasibility() is None)
    assert (seen.any(axis=0) == problem.allowed).all()
    assert problem.lower_bound() <= lowest


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"operating_cost": 2, "quality": {**QUALITY, "guarantee": "farthest"}},
        {"cost": {"name": "weighted-sum", "weights": {"opening": 1.0, "mean_distance": 3.0}}},
        {"operating_cost": 2},
        {"limits": {"open_sites": {"max": 3}}},
    ],
)
def test_every_step_of_a_walk_agrees_with_the_evaluator(changes: dict) -> None:
    problem = small(11, (3, 3), 3, **changes)
    rng = np.random.default_rng(1)
    walk = problem.start((0, 3, 0, 1, 0, 2, 0, 0, 1))
    seen = set()
    for first, second in walk.draw(rng, 150).tolist():
        before, decision = walk.penalised, walk.current
        change = walk.flip(first)
        judged = problem.evaluate(walk.current)
        if judged.feasible or "quality" not in changes:  # tables count too much for sites that are overloaded
            assert walk.penalised == pytest.approx(judged.penalised, rel=1e-9, abs=1e-9)
        assert walk.feasible == judged.feasible
        assert change == pytest.approx(walk.penalised - before, abs=1e-9)
        assert second == -1
        if rng.random() < 0.3:
            walk.flip(first)
            assert walk.current == decision
            assert walk.penalised == pytest.approx(before, rel=1e-9, abs=1e-9)
        seen.add(walk.current)
    assert len(seen) > 40
    followed = walk.follow(walk.draw(rng, 400), np.full(400, 2.0), math.inf)
    assert followed.kept > 0
    if followed.best is not None:
        assert problem.evaluate(followed.best).objective == pytest.approx(followed.lowest, rel=1e-9)
    assert walk.penalised == pytest.approx(problem.start(walk.current).penalised, rel=1e-9, abs=1e-9)


def test_repairs_and_suggestions_are_feasible() -> None:
    tried = 0
    for seed in range(10):
        problem = small(seed, (3, 3), 3)
        rng = np.random.default_rng(seed)
        if not problem.allowed.any():
            assert problem.infeasibility() is not None
            assert problem.repair((0,) * 9, rng) == (0,) * 9
            continue
        tried += 1
        for _ in range(5):
            assert problem.evaluate(problem.repair(problem.space.sample(rng), rng)).feasible
        for _, decision in zip(range(2), problem.suggestions(rng), strict=False):
            assert problem.evaluate(decision).feasible
    assert tried > 5


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_searches_find_what_enumeration_proves(seed: int) -> None:
    problem = small(seed, (2, 2), 3)
    best = om.solve(problem, "exhaustive")
    assert best.status == "optimal"
    assert best.objective == min(
        found.objective for found in map(problem.evaluate, product(range(4), repeat=4)) if found.feasible
    )
    for strategy in ("local-search", "annealing", "genetic")[: 3 if seed else 2]:  # the last takes longer
        found = om.solve(problem, strategy, seed=1, evaluations=600)
        assert found.status == "feasible"
        assert best.objective <= found.objective <= best.objective * 1.01


PROGRAMS = [
    {},
    {"operating_cost": 2},
    {"operating_cost": 2, "quality": {**QUALITY, "guarantee": "farthest"}},
    {"limits": {"open_sites": {"max": 2}}, "cost": {"name": "weighted-sum", "weights": {"mean_distance": 1.0}}},
    {"requests": 2},
]


@pytest.mark.parametrize("changes", PROGRAMS)
def test_the_integer_program_proves_what_enumeration_does(changes: dict) -> None:
    for seed in (1, 2):
        problem = small(seed, (2, 2), 2, **changes)
        best = om.solve(problem, "exhaustive")
        found = om.solve(problem, "highs", seconds=60)
        assert found.status == best.status == "optimal" or problem.infeasibility()
        assert found.objective == pytest.approx(best.objective, rel=1e-9)
        assert problem.evaluate(found.decision).objective == pytest.approx(found.objective, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_integer_program_proves_what_enumeration_does_on_more(seed: int) -> None:
    problem = small(seed, (2, 3), 2, **PROGRAMS[seed % len(PROGRAMS)])
    best = om.solve(problem, "exhaustive")
    found = om.solve(problem, "highs", seconds=120)
    assert found.status == best.status
    assert found.objective == pytest.approx(best.objective, rel=1e-9)


@pytest.mark.parametrize(
    "changes", [{"fixed_open": [1]}, {"fixed_closed": [0, 2]}, {"limits": {"open_sites": {"min": 3}}}]
)
def test_sites_that_are_fixed_and_numbers_of_sites_are_kept(changes: dict) -> None:
    problem = small(2, (2, 2), 2, **changes)
    everything = {decision: problem.evaluate(decision) for decision in product(range(3), repeat=4)}
    lowest = min(found.objective for found in everything.values() if found.feasible)
    assert min(one.objective for one in map(problem.evaluate, problem.space) if one.feasible) == lowest
    for strategy in ("exhaustive", "highs"):
        found = om.solve(problem, strategy, seconds=60)
        assert (found.status, found.objective) == ("optimal", pytest.approx(lowest))
    assert om.solve(problem, "annealing", evaluations=600).objective >= lowest
    rng = np.random.default_rng(1)
    for _ in range(20):
        decision = problem.space.sample(rng)
        assert not {"fixed_open", "fixed_closed"} & set(everything[decision].violations)
        assert everything[problem.repair(tuple(rng.integers(0, 3, 4).tolist()), rng)].feasible
    assert problem.lower_bound() <= lowest
    assert len(list(problem.space)) == problem.space.size


@pytest.mark.parametrize("changes", [{"fixed_open": [1, 2]}, {"limits": {"open_sites": {"min": 3}}}])
def test_the_program_itself_has_one_server_at_a_site_and_one_where_it_is_fixed_open(changes: dict) -> None:
    """Solved by Pyomo's own interface: the strategy cuts off decisions that the evaluator refuses."""
    servers = [("slow", 8, 1), ("slower", 7.9, 1), ("fast", 30, 5)]
    problem = PlacementProblem(
        demand=[[14, 0, 0]],
        server_types=[
            {"name": name, "service_rate": rate, "opening_cost": [[cost, 1, 9]]} for name, rate, cost in servers
        ],
        think_time={"base": 0.9, "per_distance": 0.1},
        quality={"min_throughput": 0.6, "max_delay_probability": 0.9, "delay": 0.6},
        **changes,
    )
    assert problem.capacities[:2, 0, 0].max() < 14
    best = min(found.objective for found in map(problem.evaluate, product(range(4), repeat=3)) if found.feasible)
    model = problem.to_pyomo()
    answer = SolverFactory("highs").solve(model, time_limit=60, rel_gap=0.0)
    assert answer.incumbent_objective == pytest.approx(best)
    assert problem.evaluate(problem.from_pyomo(model)).objective == best


def test_a_start_fills_in_the_program_and_comes_back() -> None:
    problem = small(1, (2, 2), 2)
    model = problem.to_pyomo()
    decision = next(problem.suggestions(np.random.default_rng(0)))
    problem.start_pyomo(model, decision)
    assert problem.from_pyomo(model) == decision
    copies = problem.copies
    assert copies.joined(copies.split(decision)) == decision
    assert copies.layout.label(5) == "cell (0, 1) as type 1"


def test_files_and_fields_make_the_same_problem() -> None:
    problem = small(1)
    again = PlacementProblem.from_data(json.loads(json.dumps(problem.to_data())))
    assert isinstance(again, TypePlacement) and again == problem
    assert replace(problem, requests=2).server_types[1].name == "type 1"
    assert replace(problem).to_data() == problem.to_data()
    flat = replace(problem, server_types=[ServerType("one", 10.0, 1, np.ones(6))])
    assert flat.to_data()["server_types"][0]["opening_cost"] == [[1.0] * 3] * 2
    assert problem.space.check([[0, 1, 2], [2, 0, 0]]) == (0, 1, 2, 2, 0, 0)


def test_the_picture_shows_types() -> None:
    problem = small(1)
    shown, words = problem.pictured((1, 0, 2, 2, 0, 0))
    assert words == ["1 type 0 (1)", "2 type 1 (2)"]
    assert dict(shown.marks) == {0: "1", 2: "2", 3: "2"}
    figure = om.placement.draw_placement(problem, {"decision": [1, 0, 2, 2, 0, 0]})
    written = {text.get_text() for text in figure.axes[0].texts if text.get_gid() == "loads"}
    assert len(written) == 3 and all(text[:3] in ("1: ", "2: ") for text in written)


def test_what_looks_at_one_type_is_refused_in_a_sentence() -> None:
    with pytest.raises(Exception, match="'clauses' opens sites, and 'placement' has types of servers; take highs"):
        om.solve(small(0), "clauses")
    with pytest.raises(Exception, match="'large-neighbourhood' opens and closes sites, and 'placement' has types"):
        om.solve(small(0), "large-neighbourhood")
    with pytest.raises(Exception, match="dejavu"):
        om.solve(small(0), "dejavu")


def test_the_shipped_instance_has_its_value() -> None:
    instance = om.Instance.from_data(json.loads((INSTANCES / "types-4x4.json").read_text()))
    problem = instance.problem()
    found = problem.evaluate(instance.best_known.decision)
    assert found.feasible and found.objective == instance.best_known.objective
    assert set(instance.best_known.decision) == {0, 1, 2}  # one type would not do as well
    assert problem.lower_bound() <= found.objective


GOOD = {
    "shape": [1, 2],
    "demand": [[1, 2]],
    "server_types": [
        {"name": "small", "service_rate": 10, "opening_cost": 1},
        {"name": "large", "service_rate": 20, "processors": 2, "opening_cost": [[2, 3]]},
    ],
    "think_time": TIMES,
    "quality": QUALITY,
}


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("server_types", [], "data.server_types is []; server types are a list of"),
        (
            "server_types",
            [GOOD["server_types"][0]] * 21,
            "at most 20 types of servers are supported, and there are 21.",
        ),
        ("server_types.0.name", ..., "data.server_types[0].name is missing; a server type needs its name"),
        ("server_types.0.name", " ", 'data.server_types[0].name is " "; names of server types are printable text'),
        ("server_types.1.name", "small", 'data.server_types[1].name is "small"; every server type has another name.'),
        ("server_types.1.service_rate", ..., "data.server_types[1].service_rate is missing; a server type needs"),
        ("server_types.1.service_rate", 0, "data.server_types[1].service_rate is 0; service rates are positive"),
        ("server_types.1.service_rate", 1e300, "data.server_types[1].service_rate is 1e+300; "),
        ("server_types.0.processors", 0, "data.server_types[0].processors is 0; processors are whole numbers from 1."),
        (
            "server_types.0.opening_cost",
            -1,
            "data.server_types[0].opening_cost is -1; costs are numbers, zero or more.",
        ),
        ("server_types.1.opening_cost", [[1, -1]], "data.server_types[1].opening_cost[0][1] is -1; costs are numbers"),
        (
            "server_types.1.opening_cost",
            [[1]],
            "data.server_types[1].opening_cost[0] is [1]; the grid needs 1 rows of 2",
        ),
        ("server_types.1.colour", "red", 'data.server_types[1].colour is "red"; no such field'),
        ("service_rate", 10, "data.service_rate is 10; every server type has its own; leave out the one of all."),
        ("opening_cost", [[1, 1]], "data.opening_cost is [[1, 1]]; every server type has its own"),
        ("processors", 2, "data.processors is 2; every server type has its own; leave out the one of all."),
    ],
)
def test_bad_types_are_refused_in_a_sentence(path: str, value, sentence: str) -> None:
    data = deepcopy(GOOD)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    at = data
    for step in way:
        at = at[step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    with pytest.raises(InstanceError) as failure:
        PlacementProblem.from_data(data)
    assert sentence in str(failure.value)


@pytest.mark.parametrize("beside", ["scenarios", "classes"])
def test_types_stand_beside_one_demand(beside: str) -> None:
    one = {"scenarios": [{"probability": 1, "demand": [[1, 2]]}], "classes": [{"name": "a", "demand": [[1, 2]]}]}
    data = {name: value for name, value in GOOD.items() if name != "demand"} | {beside: one[beside]}
    with pytest.raises(InstanceError, match=f"types of servers are for one demand, without {beside}."):
        PlacementProblem.from_data(data)


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        ((0, 3), "entry 1 is 3; it lies between 0 and 2."),
        ((-1, 0), "entry 0 is -1; it lies between 0 and 2."),
        ((1.5, 0), "entry 0 is 1.5; entries are whole numbers."),
        ((1,), "2"),
    ],
)
def test_decisions_out_of_range_are_refused_in_a_sentence(decision: tuple, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PlacementProblem.from_data(GOOD).space.check(decision)


def test_the_plain_problem_still_asks_for_its_servers() -> None:
    for name in ("opening_cost", "service_rate"):
        data = {"shape": [1, 1], "demand": [[1]], "opening_cost": [[1]], "service_rate": 9, "think_time": TIMES}
        del data[name]
        with pytest.raises(InstanceError, match=f"data.{name} is missing; a placement needs it."):
            PlacementProblem.from_data(data | {"quality": QUALITY})
