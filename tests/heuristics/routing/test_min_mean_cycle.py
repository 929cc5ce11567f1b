"""The strategy `min-mean-cycle` against enumeration, published costs, and the limits of what it can prove."""

import math

import numpy as np
import pytest
from gap_costs import forgotten, powers, stale_times

from heuristics import Budget, Status, UnsupportedProblem, Words, run
from heuristics.dynamic import ValueIteration
from heuristics.routing import (
    GapGraph,
    GapTable,
    MinMeanCycle,
    RoutingSweeps,
    densities,
    too_many_gaps,
    word_cost,
)
from heuristics.routing.gap_graph import TooManyStates
from heuristics.routing.min_mean_cycle import best_cycles
from heuristics.routing.server_densities import Densities
from heuristics.testing import Routed, losses


@pytest.mark.parametrize(
    ("rates", "period", "cost"),
    [
        ([0.3, 1, 4], 10, 0.0945038150),
        ([0.1, 1, 10], 35, 0.0585063581),
        ([0.5, 1, 2, 4], 10, 0.0277886283),
        ([0.1, 1, 3, 10], 44, 0.0159276265),
        ([0.5, 1, 1.5, 2, 4], 42, 0.0111047727),
    ],
)
def test_known_optima_are_proved(rates, period, cost):
    result = run(Routed(losses(rates)), MinMeanCycle())
    assert result.status == Status.OPTIMAL and result.stopped_by == "complete"
    assert len(result.decision) == period
    assert result.evaluation.objective == pytest.approx(cost, abs=6e-11)
    lower, upper = result.extra["bracket"]
    assert lower <= upper and upper - lower <= 1e-9 * upper


@pytest.mark.parametrize("case", range(18))
def test_no_short_word_is_better_than_what_is_proved(case):
    rng = np.random.default_rng(case)
    servers = 2 + case % 3
    rates, weights = 10 ** rng.uniform(-0.7, 0.7, servers), 10 ** rng.uniform(-0.5, 0.5, servers)
    tables = [losses(rates, weights), stale_times(rates, weights), powers(weights, rng.uniform(1.2, 2.5))][
        case // 3 % 3
    ]
    result = run(Routed(tables), MinMeanCycle())
    assert result.status == Status.OPTIMAL
    table = tables(30)
    least = min(word_cost(table, word) for word in Words(servers, range(1, {2: 13, 3: 10, 4: 8}[servers])))
    assert result.bound <= least * (1 + 1e-12)
    if len(result.decision) < {2: 13, 3: 10, 4: 8}[servers]:
        assert result.evaluation.objective == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("case", range(4))
def test_every_graph_on_the_way_is_a_bound(case):
    """Lower bounds rise to the optimum, from graphs that are too small to have it."""
    rng = np.random.default_rng(50 + case)
    tables = losses(10 ** rng.uniform(-1, 1, 5))
    steps = list(best_cycles(tables, densities(tables)))
    optimum = steps[-1].cost
    assert steps[-1].lower == pytest.approx(optimum, rel=1e-9)
    assert all(step.lower <= optimum * (1 + 1e-12) and step.cost >= optimum * (1 - 1e-12) for step in steps)
    assert densities(tables).bound <= optimum


def test_servers_whose_costs_part_beyond_the_table_are_not_taken_for_the_same():
    """Both cost the same up to a gap of 3; then the second one may wait, and the first must not."""

    def tables(count):
        late = np.maximum(np.arange(1, count + 1) - 3.0, 0.0) ** 2
        costs = np.array([10 + 100 * late, 10 + 0.01 * late, np.ones(count)])
        return GapTable(costs, np.array([math.inf, math.inf, 0.0]), np.array([math.nan, math.nan, 1.0]))

    short = Densities(tables(3), 0.0, np.array([2, 2, 1]), np.array([0.4, 0.4, 0.2]), -math.inf)
    last = list(best_cycles(tables, short))[-1]
    assert last.cost == pytest.approx(run(Routed(tables), MinMeanCycle()).evaluation.objective, rel=1e-12)
    assert last.lower <= word_cost(tables(40), ([0] + [2] * 2) * 8 + [0, 1, 2]) < 5


def test_more_choices_than_a_byte_counts_are_told_apart():
    """Of 300 pages all but the last two are worth no visit."""
    tables = stale_times(np.linspace(0.5, 0.6, 300), [1e-9] * 298 + [5.0, 4.0])
    last = list(best_cycles(tables, densities(tables)))[-1]
    assert set(last.word) == {298, 299} and last.cost == pytest.approx(last.lower, rel=1e-9)


def test_gaps_that_two_bytes_do_not_count_are_too_many_states():
    with pytest.raises(TooManyStates):
        GapGraph.of(np.array([65_536, 2]), np.array([1, 1]), 5_000_000)


def test_a_page_of_little_weight_is_never_visited():
    result = run(Routed(stale_times([0.5, 1, 2], [0.05, 1, 2])), MinMeanCycle())
    assert result.status == Status.OPTIMAL and 0 not in result.decision
    assert result.evaluation.objective == pytest.approx(
        0.05 + run(Routed(stale_times([1, 2], [1, 2])), MinMeanCycle()).evaluation.objective, rel=1e-12
    )


def test_servers_that_are_too_slow_are_used_now_and_then():
    """For losses a server never used costs nothing, but a packet sent there spares the others one."""
    result = run(Routed(losses([0.001, 1.0, 1.0])), MinMeanCycle())
    assert result.status == Status.OPTIMAL and 0 in result.decision
    assert len(result.decision) > 50


def test_squares_follow_the_paper():
    result = run(Routed(powers([1, 2], 2)), MinMeanCycle())
    assert result.status == Status.OPTIMAL and result.decision == (0, 1)
    assert result.evaluation.objective == pytest.approx(6.0)


def test_equal_servers_take_turns():
    result = run(Routed(losses([2.0] * 7)), MinMeanCycle())
    assert result.status == Status.OPTIMAL and sorted(result.decision) == list(range(7))


def test_one_server_takes_all():
    result = run(Routed(losses([2.0])), MinMeanCycle())
    assert result.status == Status.OPTIMAL and result.decision == (0,)


def test_unknown_slopes_give_an_answer_without_proof():
    known = run(Routed(losses([0.5, 1, 2, 4])), MinMeanCycle())
    result = run(Routed(forgotten(losses([0.5, 1, 2, 4]))), MinMeanCycle())
    assert result.status == Status.FEASIBLE and result.bound is None and "bracket" not in result.extra
    assert result.evaluation.objective == pytest.approx(known.evaluation.objective, rel=1e-12)


def test_too_many_states_leave_a_bracket():
    rates = [0.13, 0.3, 0.47, 3.75, 5.66]
    result = run(Routed(losses(rates)), MinMeanCycle(states=2000))
    assert result.status == Status.FEASIBLE and result.stopped_by == "states"
    best = run(Routed(losses(rates)), MinMeanCycle())
    assert best.status == Status.OPTIMAL
    assert result.extra["density_bound"] < result.bound <= best.evaluation.objective
    assert best.evaluation.objective <= result.evaluation.objective * (1 + 1e-12)


def test_a_stopped_run_has_an_answer_and_a_bound():
    result = run(Routed(losses([0.5, 1, 1.5, 2, 4])), MinMeanCycle(), Budget(evaluations=1))
    assert result.stopped_by == "evaluations" and result.status == Status.FEASIBLE
    assert result.extra["density_bound"] == result.bound < result.evaluation.objective


def test_without_any_time_there_is_an_answer_still():
    result = run(Routed(losses([0.5, 1, 1.5, 2, 4])), MinMeanCycle(), Budget(seconds=1e-9))
    assert result.stopped_by == "seconds" and result.status == Status.FEASIBLE
    assert 0 < result.bound < result.evaluation.objective


def test_words_too_long_for_the_problem_are_not_shown():
    result = run(Routed(losses([0.5, 1, 1.5, 2, 4]), longest=40), MinMeanCycle())
    assert "42 letters" in result.extra["unshown"]
    assert result.status == Status.FEASIBLE and result.bound == pytest.approx(0.0111047727, abs=1e-9)


def test_problems_that_ask_for_something_else_are_refused():
    with pytest.raises(UnsupportedProblem, match="its period is fixed at 4"):
        run(Routed(losses([1, 2]), refusal="its period is fixed at 4."), MinMeanCycle())
    with pytest.raises(ValueError, match="states must be between 1 and"):
        MinMeanCycle(states=0)


class Swept(Routed):
    """The same, for value iteration."""

    def unsweepable(self, rule):
        return None

    def sweeps(self, rule):
        return RoutingSweeps.of(self.gap_table)


@pytest.mark.parametrize("tables", [losses([0.5, 1, 2, 4]), stale_times([0.5, 1, 2], [1, 1, 3]), powers([1, 2, 5], 2)])
def test_value_iteration_finds_the_same(tables):
    exact = run(Routed(tables), MinMeanCycle())
    result = run(Swept(tables), ValueIteration(accuracy=1e-9))
    assert result.stopped_by == "complete"
    assert result.evaluation.objective == pytest.approx(exact.evaluation.objective, rel=1e-8)
    assert result.bound <= exact.evaluation.objective <= result.bound * (1 + 1e-8)
    lower, upper = result.extra["bracket"]
    assert lower <= exact.evaluation.objective <= upper * (1 + 1e-12)


def test_value_iteration_says_how_many_gaps_are_too_many():
    assert too_many_gaps(losses([0.5, 1, 2, 4])) is None
    assert too_many_gaps(losses([0.5, 1, 2, 4]), 100) == "the gaps of its 4 servers have more than 100 states."
    assert "30 servers" in too_many_gaps(losses(np.linspace(0.1, 1, 30)))


def test_value_iteration_proves_nothing_where_slopes_are_unknown():
    result = run(Swept(forgotten(losses([0.5, 1, 2]))), ValueIteration())
    assert result.bound is None and result.status == Status.FEASIBLE
    assert not math.isinf(result.evaluation.objective)
