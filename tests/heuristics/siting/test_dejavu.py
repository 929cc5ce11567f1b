"""DEJAVU stage by stage; the paper's own run is in tests/published/test_gautam.py."""

import math
from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

from heuristics import Budget, UnsupportedProblem, run
from heuristics.oracle import Oracle
from heuristics.siting import Dejavu
from heuristics.siting.dejavu import (
    append,
    cut,
    evaluate,
    grid_readings,
    join,
    network_reading,
    pieces,
    unplug,
    unplugging_order,
    verify,
)
from optmodels.costs import Limits, WeightedSum
from optmodels.instance import load
from optmodels.placement import PlacementProblem

QUALITY = {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16, "guarantee": "farthest"}
SERVER = {
    "service_rate": 50,
    "think_time": {"base": 0.48, "per_distance": 0.02},
    "quality": QUALITY,
}  # psi: 23 23 19 9 0


def grid(rows, columns, seed=0, demand=None, cost=None, **changes):
    rng = np.random.default_rng(seed)
    data = {
        "shape": [rows, columns],
        "demand": rng.integers(1, 16, (rows, columns)).tolist() if demand is None else demand,
        "opening_cost": rng.integers(1, 4, (rows, columns)).tolist() if cost is None else cost,
        **SERVER,
        **changes,
    }
    return PlacementProblem.from_data(data, name=f"{rows}x{columns}")


def network(graph, seed=0, **changes):
    rng = np.random.default_rng(seed)
    nx.set_node_attributes(graph, {node: int(rng.integers(1, 16)) for node in graph}, "demand")
    nx.set_node_attributes(graph, {node: int(rng.integers(1, 4)) for node in graph}, "opening_cost")
    return PlacementProblem.from_graph(graph, **{**SERVER, **changes})


def price(problem, decision):
    return float(np.dot(problem.opening_cost, decision))


# -- DECOMPOSE ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns"), [*product(range(1, 8), range(1, 8)), (1, 40), (40, 1), (5, 30), (30, 5)])
def test_any_grid_is_cut_into_blocks_of_at_most_12_cells_that_cover_it_once(rows, columns):
    for transpose in (False, True):
        for reading in grid_readings(rows, columns, transpose):
            assert sorted(reading.order) == list(range(rows * columns))
            assert sorted(site for block in reading.blocks for site in block) == list(range(rows * columns))
            assert max(len(block) for block in reading.blocks) <= 12


def test_small_grids_are_one_block():
    assert len(cut(3, 4)) == len(cut(2, 5)) == len(cut(1, 12)) == 1


def test_grids_that_can_only_be_decomposed_when_transposed_are_transposed():
    assert [reading.name for reading in grid_readings(6, 2, False)] == ["columns"]
    assert [reading.name for reading in grid_readings(11, 5, False)] == ["columns"]
    assert [reading.name for reading in grid_readings(2, 6, False)] == ["rows"]
    assert [reading.name for reading in grid_readings(6, 6, False)] == ["rows"]
    assert [reading.name for reading in grid_readings(4, 4, False)] == ["rows"]


def test_reading_by_columns_is_reading_the_transposed_matrix_by_rows():
    by_columns = grid_readings(11, 4, False)[0]
    by_rows = grid_readings(4, 11, False)[0]
    transposed = {site: (site % 11) * 4 + site // 11 for site in range(44)}
    assert by_columns.order == tuple(transposed[site] for site in by_rows.order)
    assert by_columns.blocks == tuple(tuple(transposed[site] for site in block) for block in by_rows.blocks)


def shape(block):
    """Rows and columns of a block."""
    return block.last_row - block.first_row + 1, block.last_column - block.first_column + 1


def test_long_grids_are_cut_into_nearly_equal_strips():
    assert [shape(block) for block in cut(1, 25)] == [(1, 8), (1, 8), (1, 9)]
    assert [shape(block) for block in cut(4, 4)] == [(2, 4), (2, 4)]
    assert [shape(block) for block in cut(5, 5)] == [(1, 5), (2, 5), (2, 5)]


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(50),
        nx.cycle_graph(31),
        nx.balanced_tree(2, 5),
        nx.random_labeled_tree(80, seed=3),
        nx.grid_2d_graph(7, 9),
        nx.random_regular_graph(3, 60, seed=1),
    ],
    ids=["path", "cycle", "binary tree", "random tree", "grid", "regular"],
)
def test_networks_are_cut_into_connected_pieces(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    found = network_reading(network(graph).distances).blocks
    assert sorted(node for piece in found for node in piece) == sorted(graph)
    for piece in found:
        assert len(piece) <= 9
        assert nx.is_connected(graph.subgraph(piece))


@pytest.mark.parametrize("graph", [nx.path_graph(50), nx.cycle_graph(31), nx.grid_2d_graph(7, 9)])
def test_no_piece_of_a_network_is_smaller_than_4_nodes_where_its_shape_allows(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    assert min(len(piece) for piece in pieces(network(graph).distances)) >= 4


@pytest.mark.parametrize("name", ["germany50", "ta2", "tatanld"])
def test_shipped_networks_are_cut_into_pieces_of_4_to_9_nodes(instances, name):
    problem = load(instances / "placement" / f"{name}.json")
    assert {4 <= len(piece) <= 9 for piece in pieces(problem.distances)} == {True}


def test_leaves_of_a_star_stay_alone_when_the_hub_is_full():
    assert sorted(len(piece) for piece in pieces(network(nx.star_graph(11)).distances)) == [1, 1, 1, 9]


# -- EVALUATE, JOIN, VERIFY --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_evaluate_finds_the_smallest_binary_number_among_the_cheapest_feasible_placements(seed):
    problem = grid(2, 4, seed)
    feasible = [decision for decision in problem.space if problem.evaluate(decision).feasible]
    expected = min(feasible, key=lambda decision: (price(problem, decision), decision))
    assert evaluate(Oracle(problem), range(8)) == expected


def test_evaluate_judges_every_placement_of_the_block_once_and_charges_them():
    oracle = Oracle(grid(3, 3))
    evaluate(oracle.part(oracle.problem.restrict(range(9))), range(9))
    assert oracle.evaluations == 512


def test_evaluate_opens_all_free_cells_of_a_block_that_is_infeasible_on_its_own():
    problem = grid(1, 4, demand=[[30, 3, 3, 3]])  # nobody can take 30 clients
    assert evaluate(Oracle(problem), [1, 2, 3]) == (0, 1, 1, 1)


def test_evaluate_keeps_cells_closed_that_may_not_be_open():
    problem = grid(1, 3, demand=[[3, 3, 3]], cost=[[1, 9, 9]])
    assert evaluate(Oracle(problem), [0, 1, 2]) == (1, 0, 0)
    assert evaluate(Oracle(problem), [1, 2]) == (0, 0, 1)


def test_evaluate_leaves_a_block_without_demand_closed():
    assert evaluate(Oracle(grid(2, 2, demand=[[0, 0], [0, 0]])), range(4)) == (0, 0, 0, 0)


def test_evaluate_takes_costs_that_differ_only_by_rounding_as_equal():
    problem = grid(1, 3, demand=[[1, 1, 1]], cost=[[0.3, 0.1 + 0.2, 5.0]])
    assert 0.1 + 0.2 > 0.3
    assert evaluate(Oracle(problem), range(3)) == (0, 1, 0)


def test_join_puts_every_cell_of_every_block_into_its_place():
    assert join([(0, 3), (2, 1)], [(1, 0), (0, 1)], 4) == (1, 1, 0, 0)


def test_verify_tells_feasible_placements_from_infeasible_ones(instances):
    problem = load(instances / "placement" / "gautam-2x3.json")
    assert verify(Oracle(problem), (0, 0, 1, 1, 1, 0))
    assert not verify(Oracle(problem), (0, 0, 0, 1, 1, 0))


# -- APPEND ------------------------------------------------------------------------------------------------------------


def test_append_opens_the_cell_with_the_largest_demand_at_the_distance_of_the_farthest_client():
    problem = grid(1, 5, demand=[[6, 9, 5, 9, 6]])  # 35 clients of one site, the farthest at distance 3
    assert append(problem, (0, 0, 1, 0, 0), (0, 1, 2, 3, 4)) == (0, 0, 1, 0, 1)  # 6 and 6: the last of the scan
    assert append(problem, (0, 0, 1, 0, 0), (4, 3, 2, 1, 0)) == (1, 0, 1, 0, 0)


def test_append_serves_the_last_overloaded_site_of_the_scan():
    problem = grid(1, 8, demand=[[12, 12, 12, 1, 1, 12, 12, 12]])
    assert problem.overloaded((0, 1, 0, 0, 0, 0, 1, 0)).tolist() == [0, 18, 0, 0, 0, 0, 18, 0]  # 37 clients, 19 may be
    added = append(problem, (0, 1, 0, 0, 0, 0, 1, 0), tuple(range(8)))
    assert [i for i in range(8) if added[i]] == [1, 4, 6]  # distance 3 of site 6, not of site 1


def test_append_takes_the_nearest_allowed_cell_where_the_paper_s_choice_cannot_hold_a_server():
    rates = [[50.0, 50.0, 50.0, 50.0, 0.5]]  # a server in the last cell could serve nobody
    problem = grid(1, 5, demand=[[3, 9, 5, 9, 8]], service_rate=rates)
    assert problem.allowed.tolist() == [True, True, True, True, False]
    assert problem.load_and_farthest((0, 1, 0, 0, 0))[1][1] == 4
    assert append(problem, (0, 1, 0, 0, 0), tuple(range(5))) == (0, 1, 1, 0, 0)


def test_append_opens_the_most_wanted_site_if_none_is_open():
    problem = grid(1, 3, demand=[[3, 9, 9]])
    assert append(problem, (0, 0, 0), (0, 1, 2)) == (0, 0, 1)


@pytest.mark.parametrize("seed", range(6))
def test_append_ends_in_a_feasible_placement_from_anywhere(seed):
    problem = grid(5, 7, seed)
    decision = tuple(int(value) for value in np.random.default_rng(seed).random(35) < 0.2)
    calls = 0
    while not problem.evaluate(decision).feasible:
        decision, calls = append(problem, decision, tuple(range(35))), calls + 1
        assert calls <= 35
    assert problem.evaluate(decision).feasible


# -- UNPLUG ------------------------------------------------------------------------------------------------------------


def test_unplugging_order_is_by_clients_per_cost_and_of_equals_the_last_first():
    problem = grid(1, 6, demand=[[4, 2, 1, 6, 0, 3]], cost=[[2, 1, 1, 3, 5, 0]])
    assert unplugging_order(problem, tuple(range(6))) == (4, 2, 3, 1, 0, 5)  # a free site comes last


@pytest.mark.parametrize("seed", range(4))
def test_unplug_closes_a_site_wherever_the_evaluator_finds_that_feasible(seed):
    problem = grid(4, 6, seed)
    order = unplugging_order(problem, tuple(range(24)))
    expected = [1] * 24
    for site in order:
        expected[site] = 0
        expected[site] = int(not problem.evaluate(tuple(expected)).feasible)
    assert unplug(Oracle(problem), (1,) * 24, order) == tuple(expected)
    assert sum(expected) < 24


# -- the whole ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (1, 7), (1, 30), (7, 1), (2, 6), (6, 2), (4, 4), (5, 5), (5, 9), (9, 5), (6, 8)]
)
@pytest.mark.parametrize("transpose", [False, True])
def test_every_shape_of_grid_is_answered_with_a_feasible_placement(rows, columns, transpose):
    problem = grid(rows, columns, seed=rows + columns)
    result = run(problem, Dejavu(transpose=transpose))
    assert result.status == "feasible"
    assert result.checked
    assert result.objective == price(problem, result.decision) == result.extra["stages"]["unplug"]
    assert set(result.extra["roads"]) == ({"rows", "columns"} if transpose else {result.extra["road"]})
    assert result.objective == min(result.extra["roads"].values())


def test_one_block_gives_the_optimum_without_claiming_it():
    problem = grid(3, 4, seed=8)
    optimum = min(price(problem, decision) for decision in problem.space if problem.evaluate(decision).feasible)
    result = run(problem, Dejavu())
    assert (result.objective, result.status, result.bound) == (optimum, "feasible", None)


def test_transposing_the_data_equals_transposing_the_reading():
    problem = grid(7, 11, seed=5)
    turned = grid(
        11, 7, demand=problem.demand.reshape(7, 11).T.tolist(), cost=problem.opening_cost.reshape(7, 11).T.tolist()
    )
    roads = run(problem, Dejavu(transpose=True)).extra["roads"]
    assert roads["columns"] == run(turned, Dejavu()).objective
    assert roads["rows"] == run(problem, Dejavu()).objective


def test_same_result_whatever_the_seed():
    problem = grid(6, 7, seed=2)
    assert run(problem, Dejavu(), seed=1).decision == run(problem, Dejavu(), seed=2).decision


@pytest.mark.parametrize("name", ["germany50", "ta2", "tatanld"])
def test_networks_are_not_answered_above_plain_unplugging_from_all_open(instances, name):
    problem = load(instances / "placement" / f"{name}.json")
    sites = tuple(range(len(problem.demand)))
    plain = unplug(Oracle(problem), (1,) * len(sites), unplugging_order(problem, sites))
    result = run(problem, Dejavu())
    assert problem.evaluate(plain).feasible
    assert result.extra["roads"]["all open"] == price(problem, plain)
    assert result.extra["roads"]["pieces"] < price(problem, plain)  # here the pieces win by themselves
    assert result.objective == result.extra["roads"]["pieces"]


@pytest.mark.parametrize("seed", range(4))
def test_random_networks_are_not_answered_above_plain_unplugging_either(seed):
    problem = network(nx.convert_node_labels_to_integers(nx.barabasi_albert_graph(30, 2, seed=seed)), seed)
    result = run(problem, Dejavu())
    assert result.status == "feasible"
    assert result.objective == min(result.extra["roads"].values()) <= result.extra["roads"]["all open"]


def test_sites_that_cannot_hold_a_server_stay_closed():
    rates = np.full((4, 7), 50.0)
    rates[1, 2] = rates[3, 5] = 0.5
    problem = grid(4, 7, seed=3, service_rate=rates.tolist())
    assert not problem.allowed[9]
    assert not problem.allowed[26]
    result = run(problem, Dejavu(transpose=True))
    assert result.status == "feasible"
    for placement in result.extra["placements"].values():
        assert placement[9] == placement[26] == 0


def test_problem_without_feasible_placement_is_called_infeasible():
    result = run(grid(2, 6, demand=[[200] * 6, [200] * 6]), Dejavu())
    assert (result.status, result.decision) == ("infeasible", None)


def test_problem_without_demand_needs_no_site():
    result = run(grid(2, 6, demand=[[0] * 6, [0] * 6]), Dejavu())
    assert (result.objective, sum(result.decision)) == (0.0, 0)


def test_other_costs_are_judged_by_the_oracle_while_the_stages_stay_on_opening_costs():
    problem = grid(4, 6, seed=4)
    priced = replace(problem, cost=WeightedSum({"opening": 2.0, "open_sites": 1.0}))
    plain, other = run(problem, Dejavu()), run(priced, Dejavu())
    assert other.extra["placements"] == plain.extra["placements"]
    assert other.objective == 2.0 * plain.objective + sum(plain.decision)


def test_operating_costs_are_judged_by_the_oracle():
    problem = grid(4, 6, seed=4)
    priced = replace(problem, operating_cost=np.full(24, 0.5))
    result = run(priced, Dejavu())
    assert result.extra["stages"]["unplug"] == run(problem, Dejavu()).objective
    assert result.objective > result.extra["stages"]["unplug"]


def test_limits_the_stages_do_not_see_may_leave_the_answer_unknown():
    limited = replace(grid(4, 6, seed=4), limits=Limits.from_data({"open_sites": 1}))
    result = run(limited, Dejavu())
    assert (result.status, result.decision) == ("unknown", None)
    assert result.extra["stages"]["unplug"] > 0


def test_budget_that_ends_early_leaves_all_sites_open():
    problem = grid(6, 7, seed=2)
    result = run(problem, Dejavu(), Budget(evaluations=100))
    assert (result.stopped_by, result.evaluations) == ("evaluations", 100)
    assert result.decision == (1,) * 42


def test_evaluations_of_blocks_are_counted_and_few_are_judged_in_full():
    problem = grid(6, 9, seed=2)
    result = run(problem, Dejavu())
    assert result.evaluations >= 6 * 512
    assert result.judged_in_full < result.evaluations / 10


def test_problems_that_are_no_sitings_are_refused_with_what_they_lack():
    class Bare:
        name = "bare"
        space = None

        def evaluate(self, decision):
            return math.nan

    with pytest.raises(UnsupportedProblem, match="this one has no allowed, demand, distances, load_and_farthest"):
        run(Bare(), Dejavu())
