"""Sites and cells at any distances: walks, the integer program and the evaluator against a judgement by hand."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from heuristics import Budget, refusal, run
from heuristics.search import Annealing, EvaluatedWalk, Exhaustive
from heuristics.siting import Dejavu
from optmodels.costs import WeightedSum
from optmodels.errors import InstanceError, RequestError
from optmodels.mip import Highs
from optmodels.placement import PlacementProblem, draw_placement
from queueing import capacity_by_distance

QUALITY = {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16}


def draw(seed, most=7):
    """Data of a rectangular or square matrix with many ties or none, symmetric or not, and a cost."""
    rng = np.random.default_rng(seed)
    sites, cells = (int(number) for number in rng.integers(1, most + 1, 2))
    kind = seed % 4
    cells = sites if kind == 0 else cells
    distances = rng.integers(1, int(rng.choice([2, 4, 9])), (sites, cells)) * float(rng.choice([1.0, 0.37, 100.0]))
    if kind == 1:
        distances = rng.uniform(0.5, 9.0, (sites, cells))
    scale = float(distances.max())
    think_time = {"base": float(rng.uniform(0.4, 0.5)), "per_distance": float(rng.choice([0.0, 0.1, 0.2])) / scale}
    if rng.random() < 0.35:
        think_time = {"by_pair": rng.choice([0.45, 0.5, 0.52, 0.55, 0.9], (sites, cells)).tolist()}
    data = {
        "distances": distances.tolist(),
        "demand": np.where(rng.random(cells) < 0.2, 0, rng.integers(1, 13, cells)).tolist(),
        "opening_cost": rng.integers(0, 5, sites).tolist(),
        "service_rate": rng.choice([40.0, 50.0, 60.0], sites).tolist(),
        "think_time": think_time,
        "quality": QUALITY | {"guarantee": str(rng.choice(["farthest", "worst-case"]))},
    }
    if rng.random() < 0.3:
        data["operating_cost"] = rng.uniform(0.0, 3.0, sites).tolist()
    if sites != cells or rng.random() < 0.5:
        data["clients"] = cells
    priced = rng.random() < 0.4 and any(data["demand"])
    return data, WeightedSum({"opening": 1.0, "mean_distance": 2.0 / scale}) if priced else None


def judge(data, decision):
    """Whether a placement is feasible, its loads and its mean distance, from the words of the contract alone."""
    distances, demand, times = data["distances"], data["demand"], data["think_time"]

    def think(site, cell):
        if "by_pair" in times:
            return times["by_pair"][site][cell]
        return times["base"] + times["per_distance"] * distances[site][cell]

    opened = [site for site in range(len(distances)) if decision[site]]
    load, longest, apart = [0] * len(distances), [0.0] * len(distances), 0.0
    for cell, clients in enumerate(demand):
        if clients and not opened:
            return False, load, None
        if not clients:
            continue
        nearest = min(distances[site][cell] for site in opened)
        tied = [site for site in opened if distances[site][cell] == nearest]
        for site in tied:
            load[site] += -(-clients // len(tied))
            longest[site] = max(longest[site], think(site, cell))
        apart += clients * nearest
    feasible = True
    for site in opened:
        curve = sorted({think(site, cell) for cell in range(len(demand))})
        psi = capacity_by_distance(data["service_rate"][site], curve, **data["quality"])
        feasible &= not load[site] or load[site] <= psi[curve.index(longest[site])]
    return feasible, load, apart / sum(demand) if opened and sum(demand) else None


@pytest.mark.parametrize("seed", range(40))
def test_evaluations_are_those_by_hand(seed):
    data, cost = draw(seed)
    problem = PlacementProblem.from_data(data, cost=cost)
    best = math.inf
    for decision in itertools.product((0, 1), repeat=len(data["distances"])):
        feasible, load, apart = judge(data, decision)
        found = problem.evaluate(decision)
        assert found.feasible is feasible
        assert problem.load_and_farthest(decision)[0].tolist() == load
        assert found.measures["mean_distance"] == (None if apart is None else pytest.approx(apart, rel=1e-12))
        best = min(best, found.objective if feasible else math.inf)
    assert problem.lower_bound() <= best * (1 + 1e-12)
    assert not any(data["demand"]) or problem.allowed.any() == (best < math.inf)


@pytest.mark.parametrize("seed", [seed for seed in range(24) if any(draw(seed)[0]["demand"])])
def test_the_program_and_enumeration_agree(seed):
    pytest.importorskip("pyomo")
    data, cost = draw(seed, 6)
    problem = PlacementProblem.from_data(data, cost=cost)
    if not any(data["demand"]):
        return
    listed, proved = (run(problem, strategy, seed=0) for strategy in (Exhaustive(), Highs()))
    assert proved.status == listed.status
    assert (proved.objective is None) == (listed.objective is None)
    assert listed.objective is None or proved.objective == pytest.approx(listed.objective, rel=1e-7, abs=1e-9)


def test_drawn_problems_hold_what_they_should():
    kinds = set()
    for seed in range(40):
        data, cost = draw(seed)
        problem = PlacementProblem.from_data(data, cost=cost)
        ties = any(len(set(column)) < len(column) for column in zip(*data["distances"], strict=True))
        kinds |= {("ties", ties), ("apart", not problem.layout.together), ("distance", cost is not None)}
        kinds |= {("feasible", bool(problem.allowed.any())), ("by pair", "by_pair" in data["think_time"])}
    assert len(kinds) == 10


@pytest.mark.parametrize("seed", range(12))
def test_walks_repairs_and_starts_agree_with_the_evaluator(seed):
    data, cost = draw(seed, 14)
    data.pop("operating_cost", None)
    problem = PlacementProblem.from_data(data, cost=cost)
    rng = np.random.default_rng(seed)
    walk = problem.start((0,) * problem.space.length)
    assert not isinstance(walk, EvaluatedWalk)
    for site in rng.integers(0, problem.space.length, 120).tolist():
        before = walk.penalised
        assert walk.flip(site) == pytest.approx(walk.penalised - before, abs=1e-9)
        found = problem.evaluate(walk.current)
        stranded = found.violations.get("clients without a site", 0.0)
        excess = problem.penalty_rate * (found.violations.get("overload", 0.0) + stranded)
        assert walk.penalised == pytest.approx(found.objective + excess, abs=1e-8)
        assert walk.feasible is found.feasible
        assert walk.standing.load.tolist() == problem.load_and_farthest(walk.current)[0].tolist()
    first, second = walk.draw(rng, 50).T
    assert ((second == -1) | (second != first) | (problem.space.length == 1)).all()
    if problem.allowed.any() and any(data["demand"]):
        for decision in rng.integers(0, 2, (10, problem.space.length)):
            assert problem.evaluate(problem.repair(tuple(decision.tolist()), rng)).feasible
        for decision in itertools.islice(problem.suggestions(rng), 3):
            assert problem.evaluate(decision).feasible


@pytest.mark.parametrize("seed", range(10))
def test_problems_are_written_as_they_were_read(seed):
    data, cost = draw(seed)
    problem = PlacementProblem.from_data(data, cost=cost)
    assert PlacementProblem.from_data(json.loads(json.dumps(problem.to_data())), cost=cost) == problem
    assert replace(problem) == problem
    assert replace(problem).layout is problem.layout  # ranks are not made again
    assert replace(problem, name="other").evaluate((1,) * problem.space.length).objective is not None
    assert PlacementProblem(**data, cost=cost, name=problem.name) == problem
    arrays = {name: np.array(value) if isinstance(value, list) else value for name, value in data.items()}
    assert PlacementProblem(**arrays, cost=cost, name=problem.name) == problem


def test_a_matrix_of_the_steps_of_a_grid_is_that_grid():
    data, _ = draw(2)
    rng = np.random.default_rng(5)
    grid = PlacementProblem(
        shape=(3, 4), demand=rng.integers(1, 12, 12), opening_cost=rng.integers(1, 4, 12), service_rate=50.0,
        think_time={"base": 0.48, "per_distance": 0.02}, quality=data["quality"],
    )  # fmt: skip
    matrix = replace(grid, shape=None, distances=np.array(grid.distances))
    assert matrix.shape is None
    assert matrix.layout.together
    for decision in rng.integers(0, 2, (50, 12)):
        one, other = grid.evaluate(tuple(decision)), matrix.evaluate(tuple(decision))
        assert (one.objective, one.violations) == (other.objective, other.violations)
        assert dict(one.measures) == pytest.approx(dict(other.measures), rel=1e-9)
        told, also = grid.describe(tuple(decision)), matrix.describe(tuple(decision))
        for name, values in told.items():
            assert also[name] == [value if value is None else pytest.approx(value, rel=1e-9) for value in values]
    listed = replace(matrix, think_time={"by_distance": [0.5, 0.52, 0.54, 0.56]})
    pairs = replace(matrix, think_time={"by_pair": 0.48 + 0.02 * grid.distances})
    on_grid = replace(grid, think_time={"by_distance": [0.5, 0.52, 0.54, 0.56]})
    for decision in rng.integers(0, 2, (20, 12)):
        assert listed.overloaded(tuple(decision)).tolist() == on_grid.overloaded(tuple(decision)).tolist()
        assert pairs.overloaded(tuple(decision)).tolist() == grid.overloaded(tuple(decision)).tolist()


def test_distances_that_are_rounded_differently_are_still_those_of_the_file():
    """No tolerance: who writes 0.1 + 0.2 and 0.3 in a matrix says that they differ."""
    data = {"demand": [4], "opening_cost": [1, 1], "service_rate": 50.0, "quality": QUALITY}
    think = {"think_time": {"base": 0.48, "per_distance": 0.02}}
    near = PlacementProblem.from_data({"distances": [[0.1 + 0.2], [0.3]]} | data | think)
    assert near.load_and_farthest((1, 1))[0].tolist() == [0, 4]


def test_dejavu_needs_steps():
    problem = PlacementProblem.from_data(draw(3)[0])
    assert refusal(problem, Dejavu()) == (
        "strategy 'dejavu' cuts grids, and networks whose distances are hops, into pieces, and the distances of "
        "'placement' are others."
    )


def test_there_is_no_part_of_sites_and_cells_apart():
    problem = PlacementProblem.from_data(draw(3)[0])
    with pytest.raises(ValueError, match="its cells are not its sites"):
        problem.restrict([0])


def test_a_part_of_a_square_matrix_keeps_its_distances():
    data, _ = draw(4)
    data.pop("clients", None)
    problem = PlacementProblem.from_data(data)
    sites = [problem.space.length - 1, 0]
    part = problem.restrict(sites)
    assert part.distances.tolist() == problem.distances[np.ix_(sites, sites)].tolist()
    assert part.evaluate((1, 1)).objective == problem.opening_cost[sites].sum()


def test_a_matrix_has_no_map_yet():
    with pytest.raises(RequestError, match="has no map"):
        draw_placement(PlacementProblem.from_data(draw(3)[0]), None)


def test_a_large_matrix_is_searched():
    rng = np.random.default_rng(0)
    problem = PlacementProblem(
        distances=rng.uniform(1, 100, (120, 400)), demand=rng.integers(1, 4, 400), opening_cost=rng.integers(1, 9, 120),
        service_rate=50.0, think_time={"base": 0.45, "per_distance": 0.001}, quality=QUALITY,
    )  # fmt: skip
    found = run(problem, Annealing(), Budget(evaluations=20_000), seed=0)
    assert found.status == "feasible"
    assert found.objective < problem.evaluate(tuple(problem.allowed.astype(int).tolist())).objective


GOOD = {
    "distances": [[1.0, 2.5], [3.0, 1.0], [2.0, 2.0]],
    "demand": [3, 4],
    "opening_cost": [1, 1, 1],
    "service_rate": 50.0,
    "think_time": {"base": 0.48, "per_distance": 0.02},
    "quality": QUALITY,
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"distances": []}, "data.distances is []; distances are a list of rows, one for each site"),
        ({"distances": [[1, 2], [3]]}, "data.distances[1] is [3]; row 0 has 2 numbers, one for each cell, and here"),
        ({"distances": [[1, 2], 3]}, "data.distances[1] is 3; row 0 has 2 numbers, one for each cell, and here"),
        ({"distances": [[1, 0]]}, "data.distances[0][1] is 0; distances are positive numbers."),
        ({"distances": [[1, -2.0]]}, "data.distances[0][1] is -2.0; distances are positive numbers."),
        ({"distances": [[1, "2"]]}, 'data.distances[0][1] is "2"; distances are positive numbers.'),
        ({"distances": [[1, True]]}, "data.distances[0][1] is true; distances are positive numbers."),
        ({"shape": [2, 3]}, "data.shape is [2, 3]; give one of shape, network and distances, not several."),
        ({"clients": 3}, "data.clients is 3; rows of distances have 2 numbers, one for each cell."),
        ({"clients": 0}, "data.clients is 0; the number of cells is a whole number from 1."),
        (
            {"demand": [3, 4, 5]},
            "data.demand is [3, 4, 5]; the distances need a flat list of 2 entries, one for",
        ),
        ({"opening_cost": [1, 1]}, "data.opening_cost is [1, 1]; the distances need a flat list of 3 entries, one for"),
        (
            {"think_time": {"by_distance": [0.5]}},
            "data.think_time.by_distance is [0.5]; think times are listed",
        ),
        ({"think_time": {"by_pair": [[0.5, 1.0]]}}, "data.think_time.by_pair is [[0.5, 1.0]]; this needs 3 rows, one"),
        (
            {"think_time": {"by_pair": [[0.5, 0], [1, 1], [1, 1]]}},
            "data.think_time.by_pair[0][1] is 0; think times",
        ),
        ({"think_time": {"by_pair": 3}}, "data.think_time.by_pair is 3; think times by pair are a list of rows, one"),
        (
            {"think_time": {"by_pair": [[1e-300, 1.0]] * 3}},
            "data.think_time.by_pair[0][0] is 1e-300; service_rate x",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_field_value_and_rule(changes, sentence):
    with pytest.raises(InstanceError) as caught:
        PlacementProblem.from_data(GOOD | changes)
    assert str(caught.value).startswith(sentence)


def test_cells_of_a_grid_are_its_sites():
    data = {name: value for name, value in GOOD.items() if name != "distances"}
    data |= {"shape": [1, 3], "clients": 4, "demand": [[1, 1, 1]], "opening_cost": [[1, 1, 1]]}
    with pytest.raises(InstanceError, match=r"^data.clients is 4; cells are the sites of a shape or a network"):
        PlacementProblem.from_data(data)
