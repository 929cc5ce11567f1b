"""Classes of which some go first: feasibility by chains of whole queues, and strategies by enumeration."""

import json
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import optmodels as om
from optmodels import InstanceError, PlacementProblem
from optmodels.placement.classes import ClassPlacement, PriorityPlacement

SHIPPED = Path(__file__).parents[4] / "instances" / "placement" / "priorities-3x3.json"

TIMES = {"base": 0.8, "per_distance": 0.2}
QUALITY = {"min_throughput": 0.7, "max_delay_probability": 0.2, "delay": 0.6}
STRICT = {"min_throughput": 0.5, "max_delay_probability": 0.15, "delay": 0.3}


def small(seed: int, shape: tuple[int, int] = (2, 2), ranks: tuple[int, int] = (1, 0), **changes) -> PlacementProblem:
    rng = np.random.default_rng(seed)
    found: PlacementProblem = PlacementProblem(
        **{
            "classes": [
                {
                    "name": "browsing",
                    "demand": rng.integers(0, 3, shape),
                    "think_time": TIMES,
                    "priority": ranks[0],
                },
                {
                    "name": "saving",
                    "demand": rng.integers(0, 2, shape),
                    "think_time": {"base": rng.uniform(0.3, 1.0, shape), "per_distance": 0.1},
                    "quality": STRICT,
                    "priority": ranks[1],
                },
            ],
            "opening_cost": rng.integers(1, 6, shape),
            "service_rate": rng.uniform(6.0, 11.0, shape),
            "quality": QUALITY,
            **changes,
        }
    )
    return found


def promised(rate: float, crowd: list[tuple[int, float]], tagged: int, delay: float) -> tuple[float, float]:
    """Throughput and delay probability of a client among others, by the chain of requests in the order they came."""
    states, todo, moves = {(): 0}, [()], []
    while todo:
        queue = todo.pop()  # the first is in service, the others in the order they came
        follow = [((*queue, who), 1 / time, None) for who, (_, time) in enumerate(crowd) if who not in queue]
        if queue:
            waiting = queue[1:]
            goes = min(waiting, key=lambda who: crowd[who][0], default=None)
            rest = tuple(who for who in waiting if who != goes)
            follow.append(((goes, *rest) if waiting else (), rate, queue[0]))
        for after, speed, done in follow:
            if after not in states:
                states[after] = len(states)
                todo.append(after)
            moves.append((states[queue], states[after], speed, done))
    here = np.array([tagged in queue for queue in states])
    generator, ending, begun = (np.zeros((len(states), len(states))) for _ in range(3))
    for start, end, speed, done in moves:
        generator[start, end] += speed
        generator[start, start] -= speed
        if here[start]:
            ending[start, start] -= speed
            ending[start, end] += 0.0 if done == tagged else speed
        elif here[end]:
            begun[start, end] += speed
    system = np.vstack([generator.T, np.ones(len(states))])
    shares = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    arrivals = shares @ begun
    late = arrivals / arrivals.sum() @ expm(ending * delay) @ here
    return float(arrivals.sum()), float(late)


@pytest.mark.parametrize("seed", range(3))
def test_placements_are_feasible_where_chains_of_whole_queues_say_so(seed: int) -> None:
    problem = small(seed)
    assert isinstance(problem, PriorityPlacement)
    rank = [one.priority for one in problem.classes]
    feasible = 0
    for decision in list(product((0, 1), repeat=4))[1:]:
        told, good = problem.describe(decision), True
        for site in np.flatnonzero(decision).tolist():
            if told["load"][site] is None:
                continue
            loads = told["load"][site]
            for c, load in enumerate(loads):
                if not load:
                    assert told["throughput"][site][c] is None
                    continue
                far = problem.parts[c].think_times[site, told["farthest"][site][c] - 1]
                near = [problem.parts[other].think_times[site, 0] for other in (0, 1)]
                crowd = [(rank[c], far)] + [
                    (rank[other], near[other]) for other in (0, 1) for _ in range(loads[other] - (other == c))
                ]
                if len(crowd) > 5:
                    continue
                quality = problem.parts[c].quality
                throughput, late = promised(problem.service_rate[site], crowd, 0, quality.delay)
                assert told["throughput"][site][c] == pytest.approx(throughput, rel=1e-9)
                assert told["delay_probability"][site][c] == pytest.approx(late, rel=1e-8)
                good &= throughput >= quality.min_throughput and late < quality.max_delay_probability
        judged = problem.evaluate(decision)
        if max(sum(some) for some in told["load"] if some) <= 5:
            assert judged.feasible == good
        feasible += judged.feasible
        worst = problem.evaluate(decision).measures
        flat = [value for some in told["throughput"] if some for value in some if value is not None]
        assert worst["worst_throughput"] == min(flat)
    assert feasible


@pytest.mark.parametrize("seed", range(3))
def test_equal_priorities_are_first_come_first_served(seed: int) -> None:
    equal, plain = small(seed, (2, 3), (2, 2)), small(seed, (2, 3), (0, 0))
    assert type(equal) is type(plain) is ClassPlacement
    for decision in product((0, 1), repeat=6):
        ours, theirs = equal.evaluate(decision), plain.evaluate(decision)
        assert (ours.objective, ours.violations) == (theirs.objective, theirs.violations)
        assert dict(ours.measures) == dict(theirs.measures)


def test_one_class_alone_gets_what_the_product_form_says() -> None:
    """A site that only one class uses is one without priorities."""
    apart = {"name": "nobody", "demand": [[0, 0]], "think_time": TIMES, "priority": 0}
    crowd = {"name": "all", "demand": [[5, 9]], "think_time": TIMES, "priority": 3}
    shared = {"opening_cost": [[2, 1]], "service_rate": 12.0, "quality": QUALITY, "operating_cost": 2}
    ranked = PlacementProblem(classes=[apart, crowd], **shared)
    plain = PlacementProblem(classes=[crowd], **shared)
    for decision in ((1, 1), (1, 0), (0, 1)):
        assert ranked.evaluate(decision).feasible == plain.evaluate(decision).feasible
    server = ranked.servers.by_site[0]
    late = plain.parts[0].capacity[0]
    for load in range(1, 15):
        for far in (1, 2):
            assert server.keeps((0, load), (0, far)) == (load <= late[far - 1])


def test_who_goes_first_waits_less() -> None:
    first, last = small(4, (2, 2), (0, 1)), small(4, (2, 2), (1, 0))
    decision = (1, 0, 0, 0)
    ours, theirs = first.describe(decision)["throughput"][0], last.describe(decision)["throughput"][0]
    assert ours[0] > theirs[0] and ours[1] < theirs[1]


@pytest.mark.parametrize("seed", [0, pytest.param(3, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)])
def test_searches_find_what_enumeration_proves(seed: int) -> None:
    problem = small(seed, (2, 3))
    best = om.solve(problem, "exhaustive")
    assert best.status == "optimal"
    assert problem.lower_bound() <= best.objective
    for strategy in ("local-search", "annealing"):
        found = om.solve(problem, strategy, seed=1, evaluations=200)
        assert found.status == "feasible"
        assert best.objective <= found.objective <= best.objective * 1.3
    rng = np.random.default_rng(seed)
    for _ in range(5):
        assert problem.evaluate(problem.repair(tuple(rng.integers(0, 2, 6).tolist()), rng)).feasible


def test_clients_too_many_are_none_where_all_are_kept() -> None:
    problem = small(2, (2, 2))
    server = problem.servers.by_site[0]
    for loads in product(range(6), range(4)):
        if sum(loads):
            gone = server.too_many(loads, (2, 2))
            assert (gone == 0) == server.keeps(loads, (2, 2))
            assert 0 <= gone <= sum(loads)
            left = server._without(loads, gone)
            assert sum(left) == sum(loads) - gone and (left[0] == 0 or left[1] == loads[1])  # saving goes first
            assert server.keeps(left, (2, 2))


def test_nothing_is_proved_without_evaluating() -> None:
    hopeless = small(1, quality={**QUALITY, "min_throughput": 90.0})
    assert hopeless.infeasibility() is None
    assert om.solve(hopeless, "exhaustive").status == "infeasible"
    refused = {"dejavu": "no restrict", "highs": "no integer program", "clauses": "leans on fewer clients never being"}
    for strategy, sentence in refused.items():
        with pytest.raises(Exception, match=sentence):
            om.solve(small(0), strategy)


def test_files_and_fields_make_the_same_problem() -> None:
    problem = small(1)
    again = PlacementProblem.from_data(json.loads(json.dumps(problem.to_data())))
    assert isinstance(again, PriorityPlacement) and again == problem
    assert [one["priority"] for one in problem.to_data()["classes"] if "priority" in one] == [1]
    equal = [replace(one, priority=0) for one in problem.classes]
    assert type(replace(problem, classes=equal)) is ClassPlacement
    assert type(replace(replace(problem, classes=equal), classes=problem.classes)) is PriorityPlacement


def test_the_shipped_instance_has_its_value() -> None:
    instance = om.Instance.from_data(json.loads(SHIPPED.read_text()))
    problem = instance.problem()
    assert isinstance(problem, PriorityPlacement)
    found = problem.evaluate(instance.best_known.decision)
    assert found.feasible and found.objective == instance.best_known.objective
    alike = replace(problem, classes=[replace(one, priority=0) for one in problem.classes])
    assert not alike.evaluate(instance.best_known.decision).feasible  # priorities are what makes it so


GOOD = {
    "shape": [1, 2],
    "classes": [
        {"name": "a", "demand": [[1, 2]], "think_time": TIMES, "priority": 0},
        {"name": "b", "demand": [[3, 4]], "think_time": TIMES, "priority": 1},
        {"name": "c", "demand": [[1, 1]], "think_time": TIMES, "priority": 2},
    ],
    "opening_cost": [[1, 1]],
    "service_rate": 20,
    "quality": QUALITY,
}


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("classes.0.priority", -1, "data.classes[0].priority is -1; priorities are whole numbers, zero or more."),
        ("classes.0.priority", 0.5, "data.classes[0].priority is 0.5; priorities are whole numbers, zero or more."),
        ("classes.0.priority", "first", 'data.classes[0].priority is "first"; priorities are whole numbers'),
        ("classes.1.priority", 0, "data.classes[1].priority is 0; classes have one priority, or each another one;"),
        ("processors", 2, "data.processors is 2; priorities are for sites of one processor."),
        ("classes.1.demand", [[300, 4]], "priorities are evaluated by chains of 20000 states at most, and 309 clients"),
        ("quality.delay", 1e4, "data.quality.delay is 10000.0; with priorities at most 20000 events within a delay"),
        ("quality.guarantee", "farthest", 'more than one class knows the guarantee "worst-case" alone.'),
    ],
)
def test_bad_priorities_are_refused_in_a_sentence(path: str, value, sentence: str) -> None:
    data = deepcopy(GOOD)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    at = data
    for step in way:
        at = at[step]
    at[last] = value
    with pytest.raises(InstanceError) as failure:
        PlacementProblem.from_data(data)
    assert sentence in str(failure.value)
