"""Two servers: closed form and balanced words against enumeration, graphs and each other."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from gap_costs import forgotten, powers, stale_times

from heuristics import Budget, Status, UnsupportedProblem, Words, run
from heuristics.routing import Balanced, GapTable, MinMeanCycle, TwoServer, closed_form, word_cost
from heuristics.routing.balanced import balanced_word, convex_minorant, least_of_lengths, share_costs
from heuristics.routing.server_densities import dual_bound
from heuristics.routing.two_server import NOT_CONVEX, TOO_LONG, UNKNOWN_SLOPES, _certified
from heuristics.testing import Routed, Separable, check_strategy, losses


def random_convex(rng):
    """Costs a d + C + r(d) with a remainder that falls to 0, convex, of any shape."""
    slopes, limits = rng.uniform(0, 2, size=2), rng.normal(size=2)
    bases, weights = rng.uniform(0.1, 0.9, size=(2, 3)), rng.exponential(size=(2, 3))

    def tables(count):
        gaps = np.arange(1, count + 1)
        left = (weights[:, :, None] * bases[:, :, None] ** gaps).sum(axis=1)
        return GapTable(slopes[:, None] * gaps + limits[:, None] + left, slopes, limits)

    return tables


def random_tables(rng):
    rates, weights = 10 ** rng.uniform(-1, 1, 2), 10 ** rng.uniform(-0.5, 0.5, 2)
    return [losses(rates, weights), stale_times(rates, weights), powers(weights, 2), random_convex(rng)][
        rng.integers(4)
    ]


@pytest.mark.parametrize("case", range(40))
def test_the_closed_form_is_best_of_all_short_words_and_meets_its_bound(case):
    rng = np.random.default_rng(case)
    tables = random_tables(rng)
    found = closed_form(tables)
    assert word_cost(tables(found.period + 2), found.word) == pytest.approx(found.cost, rel=1e-14)
    assert found.bound == pytest.approx(found.cost, rel=1e-13)
    assert found.bound <= found.cost * (1 + 1e-15)
    table = tables(12)
    least = min(word_cost(table, word) for word in Words(2, range(1, 12)))
    assert found.cost <= least + 1e-14 * abs(least)
    if found.period <= 11:
        assert found.cost == pytest.approx(least, rel=1e-14)


def test_periods_change_at_the_rates_of_figure_1():
    """One packet of n for server 1: n becomes n + 1 at mu_2 = 1 / (1 - sqrt(1 - (n + 2) 2^-(n+1))) - 1."""
    for n in range(2, 12):
        rate = 1 / (1 - math.sqrt(1 - (n + 2) * 2.0 ** -(n + 1))) - 1
        assert closed_form(losses((1.0, rate * (1 - 1e-9)))).word == (0,) + (1,) * (n - 1)
        assert closed_form(losses((1.0, rate * (1 + 1e-9)))).word == (0,) + (1,) * n
    assert 1 / (1 - math.sqrt(1 - 4 * 2.0**-3)) - 1 == pytest.approx(1 + math.sqrt(2))


def test_the_order_of_the_servers_does_not_matter():
    assert closed_form(losses((1.0, 10.0))).word == (0, 1, 1, 1, 1)
    assert closed_form(losses((10.0, 1.0))).word == (1, 0, 0, 0, 0)
    assert closed_form(losses((1.0, 1.0))).period == 2


def test_a_page_that_is_not_worth_it_is_never_visited():
    """Remark 6.1 the right way round: never visited is the page whose weight over rate is small."""
    found = closed_form(stale_times((0.5, 1.0), (0.05, 1.0)))
    assert (found.word, found.period) == ((1,), 0)
    assert found.cost == pytest.approx(0.05 + 0.5)
    assert found.bound == pytest.approx(found.cost, rel=1e-14)
    assert closed_form(stale_times((1.0, 0.5), (1.0, 0.05))).word == (0,)
    assert closed_form(stale_times((0.5, 1.0), (0.5, 1.0))).period >= 2


def test_costs_that_rise_faster_and_faster_use_both_servers():
    found = closed_form(powers((1.0, 2.0), 2))
    assert sorted(found.word) == [0, 1]  # example 3.5
    assert found.cost == 6.0
    assert found.bound == pytest.approx(6.0, rel=1e-13)
    # One of n: (n^2 + 1e4 (n - 2 + 4)) / n = n + 1e4 + 2e4 / n is least at the square root of 2e4.
    assert closed_form(powers((1.0, 1e4), 2)).period == 141


@pytest.mark.parametrize("rate", [1e-3, 1e-4, 1e-5])
def test_long_periods_take_longer_tables(rate):
    """A slow server beside one that loses almost nothing: thousands of slots, found by doubling and bisection."""
    asked = []
    tables = losses((rate, 200.0))

    def watched(count):
        asked.append(count)
        return tables(count)

    found = closed_form(watched)
    assert found.period > 1000
    assert found.bound == pytest.approx(found.cost, rel=1e-13)
    assert asked == sorted(asked) and asked[-1] <= 4 * found.period
    table = tables(found.period + 3)
    around = [word_cost(table, (0,) + (1,) * (n - 1)) for n in (found.period - 1, found.period, found.period + 1)]
    assert min(around) == pytest.approx(around[1], rel=1e-14)


def test_a_million_slots_are_the_limit():
    """Longer periods are not words that can be kept: what is best without them is not proved."""
    found = closed_form(losses((1e-7, 200.0)))
    assert found.period == 0
    assert found.bound < found.cost < found.bound * 1.001
    problem = Routed(losses((1e-7, 200.0)), longest=10)
    assert run(problem, TwoServer()).status == Status.FEASIBLE


@pytest.mark.parametrize("tables", [losses, stale_times])
@pytest.mark.parametrize("ratio", [1.0, 1 + 1e-9, 1.5, 1e3])
@pytest.mark.parametrize("rate", [1e-12, 1e-10, 1e-8, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8])
def test_words_are_proved_however_slow_fast_or_alike_the_servers_are(tables, rate, ratio):
    """Slow ones lose nearly all packets, whatever the gap; fast ones a tiny part of what the price of a packet is."""
    found = closed_form(tables((rate, rate * ratio)))
    assert found.bound <= found.cost
    if tables is stale_times and rate < 1e-6:  # costs are differences of numbers some 1e9 times as large
        assert (found.unproved is None) == (found.bound >= found.cost - 1e-9 * abs(found.cost))
        return
    assert found.bound >= found.cost - 1e-9 * abs(found.cost)
    assert found.unproved is None
    exact = tables((rate, rate * ratio))(64)
    for n in (2, 3, 10, 60):
        for word in ((0,) + (1,) * (n - 1), (1,) + (0,) * (n - 1)):
            assert found.bound <= word_cost(exact, word) * (1 + 1e-15)
    assert run(Routed(tables((rate, rate * ratio))), MinMeanCycle()).status == Status.OPTIMAL


def test_a_word_that_is_not_proved_says_why():
    assert closed_form(losses((1e-7, 200.0))).unproved == TOO_LONG
    assert closed_form(forgotten(losses((1.0, 3.0)))).unproved == UNKNOWN_SLOPES
    assert closed_form(powers((1.0, 2.0), 0.5)).unproved == NOT_CONVEX
    for problem in (Routed(losses((1e-7, 200.0)), longest=10), Routed(forgotten(losses((1.0, 3.0))))):
        result = run(problem, TwoServer())
        assert result.status == Status.FEASIBLE and result.extra["unproved"].strip()
    assert "unproved" not in run(Routed(losses((1.0, 3.0))), TwoServer()).extra


@pytest.mark.parametrize("shift", [-1, 1])
@pytest.mark.parametrize("rates", [(1.0, 1.0), (1.0, 3.0), (1.0, 50.0), (0.2, 400.0)])
def test_a_wrong_period_is_never_certified(rates, shift):
    table = losses(rates)(200)
    found = closed_form(losses(rates))
    assert _certified(table, found.rare, found.period) == pytest.approx(found.cost, rel=1e-14)
    wrong = found.period + shift
    assert wrong < 2 or _certified(table, found.rare, wrong) == -math.inf
    assert _certified(table, found.rare, 0) == -math.inf


def test_costs_beyond_the_table_are_bounded_by_their_line():
    """Servers so slow that the price is passed only beyond 1e9 gaps: convex costs lie above the line at the end."""
    table = losses((1e-10, 1e-10))(64)
    cost = word_cost(table, (0, 1))
    assert dual_bound(table, 2 * table.costs[0, 2] - 3 * table.costs[0, 1]) == pytest.approx(cost, rel=1e-9)
    for case in range(20):  # nowhere above the truth: longer tables know more
        tables, price = random_tables(np.random.default_rng(case)), -float(np.random.default_rng(case).exponential())
        assert dual_bound(tables(5), price) <= dual_bound(tables(400), price) + 1e-12


def test_the_graph_search_hands_two_servers_to_the_closed_form():
    problem = Routed(losses((1.0, 6.0)))
    cycle, closed = run(problem, MinMeanCycle()), run(problem, TwoServer())
    assert (cycle.decision, cycle.objective, cycle.bound) == (closed.decision, closed.objective, closed.bound)
    assert "states" not in cycle.extra and "densities" in cycle.extra["argument"]
    assert cycle.extra["bracket"] == [cycle.extra["density_bound"], pytest.approx(cycle.objective)]
    doubtful = run(Routed(forgotten(losses((1.0, 6.0)))), MinMeanCycle())  # slopes unknown: the graph, and no proof
    assert doubtful.status == Status.FEASIBLE and "states" in doubtful.extra


def test_unknown_slopes_prove_nothing():
    result = run(Routed(forgotten(losses((1.0, 3.0)))), TwoServer())
    assert result.status == Status.FEASIBLE
    assert result.bound is None
    assert result.objective == pytest.approx(closed_form(losses((1.0, 3.0))).cost)
    assert "argument" not in result.extra


def test_the_strategy_proves_its_word():
    problem = Routed(losses((1.0, 3.0)))
    result = run(problem, TwoServer(), Budget(evaluations=1))
    assert result.status == Status.OPTIMAL
    assert result.decision == (0, 1, 1)
    assert "densities" in result.extra["argument"]


def test_other_numbers_of_servers_and_given_periods_are_refused():
    with pytest.raises(UnsupportedProblem, match="'two-server' is for two servers, and 'routed' has 3"):
        run(Routed(losses((1.0, 2.0, 3.0))), TwoServer())
    with pytest.raises(UnsupportedProblem, match="'two-server' cannot take 'routed': its period is given"):
        run(Routed(losses((1.0, 2.0)), refusal="its period is given."), TwoServer())
    with pytest.raises(UnsupportedProblem, match="'balanced' is for two servers, and 'routed' has 3"):
        run(Routed(losses((1.0, 2.0, 3.0))), Balanced())


def test_costs_that_are_not_convex_prove_nothing():
    """A bend in the table: what is beyond it is anybody's guess."""
    costs = 0.5 ** np.arange(1.0, 100.0)
    costs[10] *= 1.5

    def tables(count):
        return GapTable(np.stack([costs, costs])[:, :count], np.zeros(2), np.zeros(2))

    assert closed_form(tables).bound == -math.inf
    assert run(Routed(tables, longest=6), TwoServer()).status == Status.FEASIBLE
    assert run(Routed(tables, longest=6), Balanced()).status == Status.OPTIMAL  # of its lengths: gaps up to 6


def test_words_must_not_be_priced_otherwise():
    class Priced(Routed):
        def unpriced(self):
            return "periods have a price."

    with pytest.raises(UnsupportedProblem, match="'balanced' cannot take 'routed': periods have a price"):
        run(Priced(losses((1.0, 2.0))), Balanced())


# -- balanced words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(1, 16))
def test_balanced_words_are_balanced(length):
    for ones in range(length + 1):
        word = balanced_word(length, ones)
        assert sum(word) == ones
        for size in range(1, length):
            counts = {sum((word + word)[t : t + size]) for t in range(length)}
            assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("case", range(15))
def test_the_best_balanced_word_of_a_length_is_the_best_word_of_it(case):
    rng = np.random.default_rng(case)
    tables = random_tables(rng)
    for length in range(1, 11):
        table = tables(length)
        by_share = share_costs(table.costs, table.slopes, length)
        assert by_share == pytest.approx(
            [word_cost(table, balanced_word(length, ones)) for ones in range(length + 1)], rel=1e-13
        )
        for word in product((0, 1), repeat=length):
            assert word_cost(table, word) >= by_share[sum(word)] * (1 - 1e-13)
        bound = least_of_lengths(table, [length])
        assert bound <= by_share.min()
        assert bound == pytest.approx(by_share.min(), rel=1e-13, abs=1e-13)


def test_the_bound_of_lengths_holds_for_costs_that_are_not_convex():
    rng = np.random.default_rng(7)
    for _ in range(20):
        costs = rng.normal(size=(2, 9))
        table = GapTable(costs, rng.normal(size=2) + 3, np.zeros(2))
        least = min(word_cost(table, word) for word in product((0, 1), repeat=9))
        assert least_of_lengths(table, [9]) <= least


def test_minorants_are_convex_below_and_leave_convex_costs_alone():
    rng = np.random.default_rng(0)
    for _ in range(50):
        costs = rng.normal(size=int(rng.integers(1, 12)))
        below = convex_minorant(costs)
        assert np.all(below <= costs)
        assert np.all(np.diff(below, 2) >= -1e-12)
        assert below[0] == costs[0] and below[-1] == costs[-1]
        # The largest: no point can be raised, every one lies on a chord of two that are kept.
        kept = np.flatnonzero(below == costs)
        assert np.allclose(np.interp(np.arange(len(costs)), kept, costs[kept]), below)
    convex = 0.7 ** np.arange(30.0)
    assert convex_minorant(convex) == pytest.approx(convex, rel=1e-14)


def test_balanced_proves_a_given_period_and_all_periods():
    tables = losses((1.0, 6.0))  # best of all: period 4, so that of words with 7 slots others are best
    for problem in (Fixed(tables, longest=7), Routed(tables, longest=12)):
        result = run(problem, Balanced())
        table = tables(20)
        least = min(word_cost(table, word) for word in problem.space)
        assert result.status == Status.OPTIMAL
        assert result.objective == pytest.approx(least, rel=1e-14)
    assert "balanced word" in run(Fixed(tables, longest=7), Balanced()).extra["argument"]
    assert "densities" in run(Routed(tables, longest=12), Balanced()).extra["argument"]


def test_balanced_claims_no_more_than_it_searched():
    """Words of 3 slots at most are searched where longer ones are allowed, and are better."""
    result = run(Routed(losses((1.0, 6.0)), longest=12), Balanced(max_period=3))
    assert result.status == Status.FEASIBLE
    assert result.bound < result.objective
    with pytest.raises(UnsupportedProblem, match="handles periods up to 3, and 'routed' has longer ones only"):
        run(Fixed(losses((1.0, 6.0)), longest=7), Balanced(max_period=3))
    with pytest.raises(ValueError, match="max_period must be 1 or more, got 0"):
        Balanced(max_period=0)


class Fixed(Routed):
    """Words of the longest length only."""

    @property
    def space(self):
        return Words(self.server_count, self.longest)


@dataclass(frozen=True)
class Tables:
    """Costs made anew whenever they are asked for, so that problems can be pickled."""

    make: Callable
    arguments: tuple
    known: bool = True

    def __call__(self, count):
        tables = self.make(*self.arguments)
        return (tables if self.known else forgotten(tables))(count)


@pytest.mark.parametrize("strategy", [TwoServer(), Balanced()])
def test_they_keep_the_house_rules(strategy):
    problems = [
        Routed(Tables(losses, ((1.0, 6.0),)), longest=10),
        Fixed(Tables(losses, ((1.0, 6.0),)), longest=7, refusal="its period is given."),
        Routed(Tables(stale_times, ((0.5, 1.0), (0.05, 1.0))), longest=8),
        Routed(Tables(powers, ((1.0, 2.0), 2)), longest=8),
        Routed(Tables(losses, ((1.0, 6.0),), known=False), longest=10),
        Routed(Tables(losses, ((1.0, 2.0, 3.0),)), longest=4),
        Separable(),
    ]
    check_strategy(strategy, problems)
