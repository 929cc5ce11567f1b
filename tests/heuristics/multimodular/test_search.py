"""Strategy `multimodular`: feasible neighbours, what it proves for a finite horizon, and where it fails."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from gap_costs import forgotten, powers, stale_times

from heuristics import Budget, Evaluation, Policies, Status, UnsupportedProblem, Words, run
from heuristics.multimodular import Descent, Multimodular, WordCosts, evaluate_word
from heuristics.multimodular.search import LISTED, Windows
from heuristics.multimodular.words import _next
from heuristics.routing import (
    BackwardInduction,
    Balanced,
    GapTable,
    TwoServer,
    closed_form,
    densities,
    later_slopes,
    word_cost,
)
from heuristics.routing.backward_induction import by_runs, costs_from
from heuristics.testing import Routed, Separable, check_strategy, losses


def random_tables(rng, servers=2):
    rates, weights = 10 ** rng.uniform(-1, 1, servers), 10 ** rng.uniform(-0.5, 0.5, servers)
    return [losses(rates, weights), stale_times(rates, weights), powers(weights, 1.7)][rng.integers(3)]


def for_ever(tables, length):
    table = tables(length)
    return WordCosts(table.costs, later=later_slopes(table), slopes=table.slopes)


def followed(descent, evaluations=1000):
    while not descent.done:
        descent.follow(evaluations)
    return descent


@dataclass(frozen=True)
class Once:
    """A finite horizon."""

    costs: tuple[tuple[float, ...], ...]
    horizon: int
    initial: tuple[float, ...]
    name: str = "once"

    @property
    def server_count(self):
        return len(self.costs)

    @property
    def space(self):
        return Policies((self.server_count,) * self.horizon)

    def gap_table(self, count):
        assert count <= len(self.costs[0])
        slopes = np.array([0.0 if row[-1] < row[0] else math.inf for row in self.costs])
        return GapTable(np.array(self.costs), slopes, np.where(slopes == 0, 0.0, math.nan))

    def evaluate(self, decision):
        ages, terms = list(self.initial), []
        for server in decision:
            terms.append((server, ages[server]))
            ages = [age + 1 for age in ages]
            ages[server] = 1
        terms += enumerate(ages)
        return Evaluation(math.fsum(self.costs[m][age - 1] if age < math.inf else 0.0 for m, age in terms))


def once(tables, horizon, initial, count=600):
    return Once(tuple(map(tuple, tables(count).costs.tolist())), horizon, tuple(initial))


# -- neighbours --------------------------------------------------------------------------------------------------------


def neighbours(word):
    """The points x + sum alpha_i b_i of the paper that are words."""
    for alpha in product((0, 1), repeat=len(word) + 1):
        other = tuple(x + alpha[k + 1] - alpha[k] for k, x in enumerate(word))
        if 0 < sum(alpha) <= len(word) and set(other) <= {0, 1}:
            yield other


def neighbours_of(word, first=0, second=1):
    """All neighbours that a search looks at, in letters of two servers."""
    letters, stack, found = np.array(word), np.empty(len(word) + 1, dtype=np.int64), []
    depth = _next(letters, first, second, stack, 0, len(word))
    while depth:
        found.append(tuple(letters.tolist()))
        depth = _next(letters, first, second, stack, depth, len(word))
    return found


@pytest.mark.parametrize("length", range(1, 9))
def test_feasible_neighbours_are_those_of_the_paper_that_are_words(length):
    for word in product((0, 1), repeat=length):
        listed = neighbours_of(word)
        assert len(listed) == len(set(listed))
        assert set(listed) == set(neighbours(word))


def test_letters_of_other_servers_stay_where_they_are():
    word = (0, 2, 1, 1, 3, 0, 2)
    kept = [t for t, letter in enumerate(word) if letter not in (1, 2)]
    inner = tuple(letter - 1 for letter in word if letter in (1, 2))
    listed = neighbours_of(word, 1, 2)
    assert all(other[t] == word[t] for other in listed for t in kept)
    reduced = {tuple(other[t] - 1 for t in range(len(word)) if t not in kept) for other in listed}
    assert reduced == set(neighbours_of(inner))


def test_there_are_few_neighbours():
    assert len(neighbours_of((0,) + (1,) * 19)) < 60
    assert len(neighbours_of((0, 1) * 10)) == 28655  # against 2^21 - 2


def test_a_walk_in_slices_is_the_walk_at_once():
    rng = np.random.default_rng(3)
    costs = for_ever(random_tables(rng), 11)
    start = rng.integers(2, size=11)
    whole = followed(Descent(costs, start), 10**9)
    sliced = Descent(costs, start)
    seen = [sliced.cost]
    while not sliced.done:
        assert sliced.follow(7) <= 7
        assert evaluate_word(costs, np.array(sliced.reached)) == pytest.approx(sliced.cost, rel=1e-14)
        seen.append(sliced.cost)
    assert sliced.reached == whole.reached
    assert seen == sorted(seen, reverse=True)


# -- words for ever ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(8))
def test_two_servers_reach_the_optimum_of_each_length_from_all_starts(case):
    """No valid proof says so (the cyclic cost is not multimodular), and no failure is known."""
    rng = np.random.default_rng(case)
    tables = random_tables(rng)
    for length in range(2, 9):
        costs, table = for_ever(tables, length), tables(length)
        least = min(word_cost(table, word) for word in product((0, 1), repeat=length))
        assert least == min(evaluate_word(costs, np.array(word)) for word in product((0, 1), repeat=length))
        for start in product((0, 1), repeat=length):
            assert followed(Descent(costs, np.array(start))).cost <= least + 1e-13 * abs(least)


@pytest.mark.parametrize("case", range(10))
def test_all_methods_agree_for_two_servers(case):
    """Closed form, bound, balanced words, local search and enumeration, to the last digits."""
    rng = np.random.default_rng(50 + case)
    tables = random_tables(rng)
    best = closed_form(tables)
    longest = 12
    problem = Routed(tables, longest=longest)
    table = tables(longest)
    listed = min(word_cost(table, word) for word in problem.space)
    for strategy in (Balanced(), Multimodular()):
        result = run(problem, strategy)
        assert result.objective == pytest.approx(listed, rel=1e-14)
        assert result.status == Status.OPTIMAL
        assert "argument" in result.extra
    assert densities(tables).bound == pytest.approx(best.cost, rel=1e-13)
    if best.period <= longest:
        assert best.cost == pytest.approx(listed, rel=1e-14)
        assert run(problem, TwoServer()).objective == pytest.approx(listed, rel=1e-14)
    else:
        assert best.cost < listed


def test_three_servers_get_stuck():
    """The smallest example: pages visited at the times of a Poisson process, weighted by their rates."""
    rates = (1.0012, 1.3482, 0.7602)
    tables = stale_times(rates, rates)
    costs = for_ever(tables, 4)
    stuck = followed(Descent(costs, np.array((1, 0, 2, 0))))
    assert stuck.reached == (1, 0, 2, 0)
    assert stuck.cost == pytest.approx(2.26874, abs=5e-5)  # rates are known to four digits
    best = min(word_cost(tables(4), word) for word in Words(3, 4))
    assert best == pytest.approx(word_cost(tables(4), (0, 1, 2, 1))) == pytest.approx(2.24193, abs=5e-5)
    result = run(Routed(tables, longest=4), Multimodular(starts=20), seed=1)
    assert "not the best" in result.extra["caution"]
    assert result.objective == pytest.approx(min(word_cost(tables(4), w) for w in Words(3, range(1, 5))))


def test_long_words_change_few_slots_at_once():
    problem = Routed(losses((1.0, 30.0)), longest=40)
    result = run(problem, Multimodular())
    assert result.objective == pytest.approx(closed_form(problem.tables).cost, rel=1e-13)
    assert result.status == Status.OPTIMAL


def test_nothing_is_proved_where_slopes_are_unknown():
    result = run(Routed(forgotten(losses((1.0, 6.0))), longest=8), Multimodular())
    assert result.status == Status.FEASIBLE
    assert result.bound is None


# -- a finite horizon --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(12))
def test_windows_cost_what_gaps_cost(case):
    rng = np.random.default_rng(case)
    tables, horizon = random_tables(rng), int(rng.integers(1, 9))
    initial = rng.integers(1, 7, size=2).astype(float)
    table = tables(20)
    if table.slopes[0] == 0:
        initial[case % 2] = math.inf
    costs = costs_from(table, horizon, initial.tolist())
    windows = Windows(costs)
    assert windows.negative <= 1e-13 * float(np.abs(table.costs).max())

    def by_windows(word):
        sums = np.concatenate([[0], np.cumsum(word)])
        ones = sums[windows.second] - sums[windows.first]
        zeros = windows.second - windows.first - ones
        return windows.empty(ones, zeros).sum() + windows.price * sums[-1]

    words = [np.array(word) for word in product((0, 1), repeat=horizon)]
    shift = costs.total(words[0]) - by_windows(words[0])
    for word in words:
        assert costs.total(word) - by_windows(word) == pytest.approx(shift, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("case", range(8))
def test_cuts_find_the_best_neighbour(case):
    rng = np.random.default_rng(case)
    tables, horizon = random_tables(rng), int(rng.integers(2, 10))
    costs = costs_from(tables(20), horizon, rng.integers(1, 7, size=2).tolist())
    windows = Windows(costs)
    for _ in range(10):
        word = rng.integers(2, size=horizon)
        found, wrong = windows.step(word)
        least = min(costs.total(other) for other in [word, *neighbours_of(tuple(word.tolist()))])
        assert costs.total(found) == pytest.approx(least, rel=1e-12, abs=1e-12)
        assert 0 < wrong < 1e-9


@pytest.mark.parametrize("case", range(10))
def test_a_finite_horizon_is_proved_optimal_and_is(case):
    rng = np.random.default_rng(case)
    tables = random_tables(rng)
    for horizon in (1, 2, 5, 10):
        problem = once(tables, horizon, rng.integers(1, 7, size=2).tolist(), 40)
        truth = min(problem.evaluate(actions).objective for actions in problem.space)
        result = run(problem, Multimodular())
        assert result.status == Status.OPTIMAL
        assert result.objective == pytest.approx(truth, rel=1e-13)
        assert "multimodular" in result.extra["argument"]
        assert result.objective == pytest.approx(run(problem, BackwardInduction()).objective, rel=1e-13)


@pytest.mark.parametrize(("case", "horizon"), [(0, LISTED), (1, LISTED + 1), (2, 60), (3, 120), (4, 40)])
def test_longer_horizons_are_those_of_dynamic_programming(case, horizon):
    rng = np.random.default_rng(case)
    problem = once(random_tables(rng), horizon, rng.integers(1, 9, size=2).tolist())
    result = run(problem, Multimodular())
    assert result.status == Status.OPTIMAL
    best = by_runs(costs_from(problem.gap_table(200), horizon, problem.initial))[1]
    assert result.objective == pytest.approx(best, rel=1e-12)


def test_a_server_that_never_had_a_packet():
    problem = once(losses((1.0, 4.0)), 9, (math.inf, 2), 40)
    result = run(problem, Multimodular())
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(min(problem.evaluate(actions).objective for actions in problem.space))


def test_costs_that_are_not_convex_are_not_proved():
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(30):
        problem = Once(tuple(map(tuple, rng.normal(size=(2, 20)).tolist())), 8, (1, 1))
        truth = min(problem.evaluate(actions).objective for actions in problem.space)
        result = run(problem, Multimodular())
        assert result.bound <= truth
        assert result.status == Status.FEASIBLE
        wrong += result.objective > truth + 1e-9
    assert wrong


def test_three_servers_have_no_proof():
    problem = once(losses((1.0, 2.0, 3.0)), 7, (1, 2, 3), 40)
    result = run(problem, Multimodular())
    assert result.status == Status.FEASIBLE
    assert "caution" in result.extra
    assert result.objective <= 1.05 * run(problem, BackwardInduction()).objective


# -- rules -------------------------------------------------------------------------------------------------------------


def test_what_is_refused():
    with pytest.raises(UnsupportedProblem, match="needs two servers or more, and 'routed' has 1"):
        run(Routed(losses((1.0,))), Multimodular())
    with pytest.raises(UnsupportedProblem, match="handles up to 500 packets for two servers, and 'once' has 501"):
        run(once(losses((1.0, 2.0)), 501, (1, 1)), Multimodular())
    with pytest.raises(ValueError, match="starts must be 1 or more, got 0"):
        Multimodular(starts=0)
    with pytest.raises(ValueError, match="max_period must be 1 or more, got -1"):
        Multimodular(max_period=-1)


def test_other_prices_are_refused_and_servers_that_must_be_used_are_missed():
    class Priced(Routed):
        def unpriced(self):
            return "periods have a price."

    with pytest.raises(UnsupportedProblem, match="'multimodular' cannot take 'routed': periods have a price"):
        run(Priced(losses((1.0, 2.0))), Multimodular())

    class Strict(Routed):
        def evaluate(self, decision):
            missing = 2 - len(set(decision))
            return Evaluation(0.0, {"unused": 1.0}) if missing else super().evaluate(decision)

    result = run(Strict(powers((1.0, 2.0), 2), longest=4), Multimodular())
    assert (result.status, result.objective) == (Status.OPTIMAL, 6.0)
    assert run(Strict(powers((1.0, 2.0), 2), longest=1), Multimodular()).status == Status.UNKNOWN


def test_evaluations_are_counted_and_kept():
    problem = Routed(losses((1.0, 6.0)), longest=10)
    for budget in (1, 2, 17, 100):
        result = run(problem, Multimodular(), Budget(evaluations=budget))
        assert result.evaluations == budget
        assert result.stopped_by == "evaluations"
        assert result.decision is not None


@dataclass(frozen=True)
class Losses:
    """Tables that can be pickled."""

    rates: tuple[float, ...]

    def __call__(self, count):
        return losses(self.rates)(count)


def test_it_keeps_the_house_rules():
    problems = [
        Routed(Losses((1.0, 6.0)), longest=6),
        Routed(Losses((1.0, 2.0, 3.0)), longest=5),
        once(losses((1.0, 2.0)), 6, (1, 3), 30),
        once(losses((1.0, 2.0)), 30, (1, 3), 60),
        once(losses((1.0, 2.0, 5.0)), 5, (1, 3, 2), 30),
        Separable(),
    ]
    check_strategy(Multimodular(), problems)
