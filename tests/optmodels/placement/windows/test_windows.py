"""The best setting of a window of sites, against all settings judged by the evaluator."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

from heuristics import Budget, Oracle, refusal, run
from heuristics.siting import LargeNeighbourhood
from heuristics.siting.large_neighbourhood import Windows
from optmodels import instance, load
from optmodels.costs import WeightedSum
from optmodels.placement import PlacementProblem
from optmodels.placement.windows.walk import least_operating

QUALITY = {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16, "guarantee": "farthest"}


def data(rng, sites, whole_prices):
    """Flat data: cells without clients, dear and cheap sites, servers of different speed."""
    prices = rng.integers(1, 4, sites) if whole_prices else 10.0 ** rng.uniform(-2, 1, sites)
    return {
        "demand": np.where(rng.random(sites) < 0.25, 0, rng.integers(1, 14, sites)).tolist(),
        "opening_cost": prices.tolist(),
        "service_rate": rng.choice([40.0, 50.0, 60.0], sites).tolist(),
        "think_time": {"base": 0.48, "per_distance": 0.02},
        "quality": QUALITY,
    }


def grid(seed, whole_prices=True):
    flat = data(np.random.default_rng(seed), 20, whole_prices)
    shaped = {name: np.reshape(v, (4, 5)).tolist() if isinstance(v, list) else v for name, v in flat.items()}
    return PlacementProblem.from_data({"shape": [4, 5]} | shaped)


def dear_and_cheap(seed):
    return grid(seed, whole_prices=False)


def prices_far_apart(seed):
    return replace(grid(seed), opening_cost=10.0 ** np.random.default_rng(seed).uniform(-200, 200, 20))


def network(seed):
    graph = nx.connected_watts_strogatz_graph(18, 4, 0.3, seed=seed)
    edges = {"network": {"nodes": 18, "edges": [list(edge) for edge in graph.edges]}}
    return PlacementProblem.from_data(edges | data(np.random.default_rng(seed), 18, False))


def matrix(seed):
    rng = np.random.default_rng(seed)
    away = rng.uniform(1, 5, (16, 16)) if seed % 2 else rng.integers(1, 5, (16, 16))
    return PlacementProblem.from_data({"distances": away.tolist()} | data(rng, 16, True))


def operated(seed):
    return replace(grid(seed), operating_cost=np.random.default_rng(seed).uniform(0, 5, 20))


def operated_dearly(seed):
    costs = WeightedSum({"opening": 0.1, "operating": 3.0})
    return replace(network(seed), operating_cost=np.random.default_rng(seed).uniform(0, 5, 18), cost=costs)


def with_distances(seed):
    return replace(operated(seed), cost=WeightedSum({"opening": 0.5, "operating": 1.0, "mean_distance": 20.0}))


def matrix_with_distances(seed):
    return replace(matrix(seed), cost=WeightedSum({"opening": 0.5, "mean_distance": 3.0}))


def paid_for_opening(seed):
    return replace(with_distances(seed), cost=WeightedSum({"opening": -1.0, "operating": 2.0, "mean_distance": 9.0}))


def numbered(seed):
    return replace(dear_and_cheap(seed), limits={"open_sites": {"min": 5 + seed, "max": 9 + seed}})


def exactly(seed):
    return replace(matrix(seed), limits={"open_sites": {"min": 8, "max": 8}})


def fixed(seed):
    return replace(network(seed), fixed_open=(2, 5), fixed_closed=(0, 9))


PROBLEMS = [
    numbered, exactly, fixed,
    grid, dear_and_cheap, prices_far_apart, network, matrix, operated, operated_dearly, with_distances,
    matrix_with_distances, paid_for_opening,
]  # fmt: skip


def best_of_all(problem, start, window, noise):
    """The lowest price with noise among all settings of a window, each judged by the evaluator; None: no feasible."""
    lowest = None
    for setting in product((0, 1), repeat=len(window)):
        decision = np.array(start)
        decision[window] = setting
        judged = problem.evaluate(tuple(decision.tolist()))
        if judged.feasible:
            price = judged.objective + float(noise @ np.array(setting))
            lowest = price if lowest is None else min(lowest, price)
    return lowest


@pytest.mark.parametrize("make", PROBLEMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_window_is_put_into_its_best_setting(make, seed):
    problem, rng = make(seed), np.random.default_rng(seed)
    met = 0
    for attempt in range(8):
        start = tuple((rng.random(problem.space.length) < rng.uniform(0.1, 1.0)).astype(int).tolist())
        if attempt % 2:
            start = problem.repair(start, rng)
        walk = problem.start_windows(start)
        window = walk.window(rng, int(rng.integers(1, 8)))
        noise = rng.choice([0.0, 0.1, 2.0]) * rng.standard_normal(len(window))
        before = problem.evaluate(start)
        settled = walk.settle(window, noise, 10_000)
        after = problem.evaluate(walk.current)
        outside = np.delete(np.arange(len(start)), window)
        assert settled.complete and settled.flips <= 10_000
        assert np.array_equal(np.array(walk.current)[outside], np.array(start)[outside])
        assert walk.feasible == after.feasible
        lowest = best_of_all(problem, start, window, noise * walk.scale)
        if lowest is None:
            assert not before.feasible and walk.current == start
            continue
        met += 1
        price = after.objective + float(noise @ np.array(walk.current)[window]) * walk.scale
        assert after.feasible and price == pytest.approx(lowest, rel=1e-8, abs=1e-12)
        assert walk.penalised == pytest.approx(after.objective, rel=1e-9)
    assert met > 3


@pytest.mark.parametrize("most", [9, 10, 17, 60])
def test_flips_are_counted_and_not_more_than_allowed(most):
    problem = grid(4)
    rng = np.random.default_rng(most)
    walk = problem.start_windows(problem.repair((1,) * 20, rng))
    window = walk.window(rng, 3)
    settled = walk.settle(window, np.zeros(3), most)
    assert settled.flips <= most
    assert settled.complete or most < 60
    assert walk.feasible


def test_a_search_cut_short_makes_nothing_worse():
    problem, rng = grid(5), np.random.default_rng(0)
    walk = problem.start_windows(problem.repair((1,) * 20, rng))
    price = walk.penalised
    for most in range(30, 200, 10):
        walk.settle(walk.window(rng, 10), np.zeros(10), most)
        assert walk.feasible and walk.penalised <= price
        price = walk.penalised


def test_most_settings_are_ruled_out_without_a_look():
    problem = load("instances/placement/gautam-11x11.json")
    rng = np.random.default_rng(1)
    walk = problem.start_windows(problem.repair((1,) * 121, rng))
    flips = [walk.settle(walk.window(rng, 12), np.zeros(12), 100_000).flips for _ in range(40)]
    assert np.mean(flips) < 2**12 / 4


@pytest.mark.parametrize("make", [grid, network, matrix])
def test_windows_hold_sites_that_are_near_to_one_another(make):
    problem, rng = make(7), np.random.default_rng(0)
    walk = problem.start_windows((1,) * problem.space.length)
    centres = set()
    for size in (1, 4, walk.width, walk.width + 5):
        window = walk.window(rng, size)
        assert len(set(window.tolist())) == len(window) == min(size, walk.width)
        assert problem.allowed[window].all()
    for _ in range(300):
        window = walk.window(rng, 4)
        away = problem.layout.ranks[problem.layout.anchors[window[0]]]
        others = np.setdiff1d(np.flatnonzero(problem.allowed), window)
        assert away[window[1:]].max() <= away[others].min()
        centres.add(int(window[0]))
    assert centres == set(np.flatnonzero(problem.allowed).tolist())


def test_the_least_to_operate_a_site_is_no_more_than_anything_beyond():
    table = np.random.default_rng(0).uniform(0, 1, (3, 4, 6))
    least = least_operating(table)
    for place in product(range(3), range(4), range(6)):
        site, level, clients = place
        assert least[place] == table[site, level:, clients:].min()


def test_problems_whose_price_is_no_sum_over_sites_are_refused_in_a_sentence():
    strategy = LargeNeighbourhood()
    limited = replace(grid(1), limits={"mean_distance": {"max": 2.0}})
    other = replace(grid(1), cost=WeightedSum({"mean_delay": 1.0}))
    rewarded = replace(operated(1), cost=WeightedSum({"opening": 1.0, "operating": -1.0}))
    for problem, word in ((limited, "limits"), (other, "another"), (rewarded, "paid for load")):
        assert word in str(refusal(problem, strategy)) and problem.name in str(refusal(problem, strategy))
    assert "several" in str(refusal(load("instances/placement/classes-4x4.json"), strategy))
    demand = np.full((4, 5), 3)
    drawn = [{"probability": 0.5, "demand": demand.tolist()}, {"probability": 0.5, "demand": (2 * demand).tolist()}]
    plain = {name: value for name, value in grid(1).to_data().items() if name != "demand"}
    assert "scenarios" in str(refusal(PlacementProblem.from_data(plain | {"scenarios": drawn}), strategy))
    assert refusal(grid(1), strategy) is None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gautam-4x4", {}), ("gautam-6x6", {}), ("gautam-6x6", {"start": 0.0, "width": 6})],
)
def test_the_strategy_finds_proved_optima_and_claims_nothing(name, parameters):
    file = f"instances/placement/{name}.json"
    best = instance.read(file).best_known
    assert best.proved
    result = run(load(file), LargeNeighbourhood(**parameters), Budget(evaluations=150_000), seed=1)
    assert result.status == "feasible" and result.bound is None
    assert result.objective == pytest.approx(best.objective)


def test_a_window_that_holds_all_sites_ends_the_run():
    problem = load("instances/placement/gautam-2x3.json")
    result = run(problem, LargeNeighbourhood(), seed=1)
    assert result.objective == 8.0 and result.stopped_by == "complete" and result.evaluations < 200_000


@pytest.mark.parametrize("evaluations", [1, 2, 3, 4, 10, 77, 1000])
def test_every_flip_is_paid_for(evaluations):
    result = run(grid(3), LargeNeighbourhood(start=0.0), Budget(evaluations=evaluations), seed=1)
    assert result.evaluations <= evaluations and result.stopped_by == "evaluations"


def test_what_is_good_in_two_decisions_is_joined():
    """Two optima of a half each: windows of the sites in which they differ find the optimum of the whole."""
    problem = load("instances/placement/gautam-6x6.json")
    best = instance.read("instances/placement/gautam-6x6.json").best_known
    whole = np.array(best.decision).ravel()
    rng = np.random.default_rng(0)
    parents = []
    for half in (slice(0, 18), slice(18, 36)):
        opened = whole.copy()
        opened[half] = 1
        parents.append(problem.repair(tuple(opened.tolist()), rng) if half.start else tuple(opened.tolist()))
    oracle = Oracle(problem)
    search = Windows(LargeNeighbourhood(), oracle, rng)
    oracle(parents[0])
    search.merge(*parents)
    assert oracle.best.evaluation.objective == pytest.approx(best.objective)
    assert set(np.flatnonzero(np.array(oracle.best.decision) != np.array(parents[0]))) <= set(
        np.flatnonzero(np.array(parents[0]) != np.array(parents[1]))
    )


def test_rounds_begin_with_annealing_unless_there_is_none():
    problem = load("instances/placement/gautam-8x8.json")
    budget = Budget(evaluations=2 * 5_000 * 64 + 60_000)
    annealed = run(problem, LargeNeighbourhood(), budget, seed=1)
    plain = run(problem, LargeNeighbourhood(start=0.0), budget, seed=1)
    assert annealed.extra["rounds"] == 2 and "start_temperature" not in annealed.extra
    assert plain.extra["windows"] > 1.5 * annealed.extra["windows"]


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"width": 0}, "width"), ({"temperature": -1.0}, "temperature"), ({"temperature": float("nan")}, "temperature"),
     ({"start": 1.0}, "start")],
)  # fmt: skip
def test_impossible_parameters_are_refused(parameters, name):
    with pytest.raises(ValueError, match=name):
        LargeNeighbourhood(**parameters)
