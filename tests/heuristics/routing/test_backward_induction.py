"""A finite horizon: dynamic programming by runs and by states against all sequences."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from heuristics import Budget, Evaluation, Policies, Status, UnsupportedProblem, run
from heuristics.routing import BackwardInduction, GapTable, HorizonCosts, horizon_costs
from heuristics.routing.backward_induction import by_runs, by_states, states
from heuristics.testing import Separable, check_strategy


@dataclass(frozen=True)
class Packets:
    """A finite horizon with costs given row by row; `evaluate` follows the paper's states one by one."""

    rows: tuple[tuple[float, ...], ...]
    horizon: int
    initial: tuple[float, ...]
    name: str = "packets"

    @property
    def server_count(self):
        return len(self.rows)

    @property
    def space(self):
        return Policies((self.server_count,) * self.horizon)

    def gap_table(self, count):
        assert count <= len(self.rows[0])
        slopes = np.array([0.0 if row[-1] <= row[0] else math.inf for row in self.rows])
        return GapTable(np.array(self.rows), slopes, np.where(slopes == 0, 0.0, math.nan))

    def cost(self, server, age):
        return self.rows[server][age - 1] if math.isfinite(age) else 0.0

    def evaluate(self, decision):
        ages, total = list(self.initial), []
        for server in decision:
            total.append(self.cost(server, ages[server]))
            ages = [age + 1 for age in ages]
            ages[server] = 1
        return Evaluation(math.fsum(total + [self.cost(m, age) for m, age in enumerate(ages)]))


def random_rows(rng, servers, count=60):
    """Any costs, convex or not: dynamic programming does not care."""
    return tuple(tuple(row) for row in rng.normal(size=(servers, count)).tolist())


def falling_rows(rng, servers, count=60):
    rates = rng.uniform(0.2, 3.0, size=servers)
    return tuple(tuple(((1 / (1 + rate)) ** np.arange(1, count + 1)).tolist()) for rate in rates)


def least(problem):
    return min(problem.evaluate(actions).objective for actions in problem.space)


@pytest.mark.parametrize("seed", range(12))
def test_two_servers_by_runs_by_states_and_by_all_sequences(seed):
    rng = np.random.default_rng(seed)
    horizon = int(rng.integers(1, 11))
    rows = random_rows(rng, 2) if seed % 2 else falling_rows(rng, 2)
    initial = tuple(rng.integers(1, 9, size=2).tolist())
    if seed % 4 == 0:
        initial = (initial[0], math.inf)
    problem = Packets(rows, horizon, initial)
    costs, truth = horizon_costs(problem), least(problem)
    for solved in (by_runs, by_states):
        actions, cost = solved(costs)
        assert cost == pytest.approx(truth, rel=1e-13, abs=1e-13)
        assert problem.evaluate(tuple(actions.tolist())).objective == pytest.approx(truth, rel=1e-13, abs=1e-13)
        assert costs.total(actions) == pytest.approx(truth, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(("servers", "horizon"), [(1, 5), (3, 1), (3, 7), (4, 5), (5, 4)])
def test_more_servers_against_all_sequences(servers, horizon):
    rng = np.random.default_rng(servers)
    for rows in (random_rows(rng, servers), falling_rows(rng, servers)):
        initial = tuple(rng.integers(1, 9, size=servers).tolist())
        problem = Packets(rows, horizon, initial)
        actions, cost = by_states(horizon_costs(problem))
        assert cost == pytest.approx(least(problem), rel=1e-13, abs=1e-13)
        assert problem.evaluate(tuple(actions.tolist())).objective == pytest.approx(cost, rel=1e-13, abs=1e-13)


def test_a_long_horizon_by_runs_and_by_states():
    rng = np.random.default_rng(3)
    problem = Packets(falling_rows(rng, 2, 700), 600, (3, 40))
    costs = horizon_costs(problem)
    assert by_runs(costs)[1] == pytest.approx(by_states(costs)[1], rel=1e-13)


@pytest.mark.parametrize(("servers", "horizon"), [(1, 4), (2, 6), (3, 5), (4, 4), (3, 1)])
def test_states_are_counted(servers, horizon):
    seen = {((0,) * servers, 0)}
    for actions in product(range(servers), repeat=horizon):
        gaps = (0,) * servers
        for slot, server in enumerate(actions):
            gaps = tuple(1 if m == server else gap + (gap > 0) for m, gap in enumerate(gaps))
            seen.add((gaps, slot + 1))
    assert len(seen) == states(servers, horizon)


def test_example_3_5_with_terminal_costs():
    """Costs x^2 and 2 x^2: with the terminal costs both servers are used in turns, without them the first alone."""
    rows = (tuple(float(d * d) for d in range(1, 40)), tuple(2.0 * d * d for d in range(1, 40)))
    costs = horizon_costs(Packets(rows, 12, (1, 1)))
    actions, _ = by_runs(costs)
    assert abs(int(actions.sum()) - 6) <= 1
    # Terminal costs of 0, by all sequences: gaps that are cut off cost nothing.
    without = {
        word: sum(
            rows[server][slot - max((t for t in range(slot) if word[t] == server), default=-1) - 1]
            for slot, server in enumerate(word)
        )
        for word in product((0, 1), repeat=8)
    }
    assert min(without, key=without.get) == (0,) * 8


def test_the_strategy_proves_its_answer():
    rng = np.random.default_rng(0)
    for servers, horizon in ((2, 9), (3, 6)):
        problem = Packets(falling_rows(rng, servers), horizon, (2,) * servers)
        result = run(problem, BackwardInduction(), Budget(evaluations=1))
        assert result.status == Status.OPTIMAL
        assert result.objective == pytest.approx(least(problem), rel=1e-13)
        assert result.evaluations == 1


def test_it_keeps_the_house_rules():
    rng = np.random.default_rng(0)
    problems = [Packets(falling_rows(rng, 2), 7, (1, 5)), Packets(random_rows(rng, 3), 5, (1, 2, 3)), Separable()]
    check_strategy(BackwardInduction(), problems)


def test_no_time_is_an_answer_in_turns():
    rows = falling_rows(np.random.default_rng(0), 2, 60_100)
    result = run(Packets(rows, 60_000, (1, 1)), BackwardInduction(), Budget(seconds=0.05))
    assert result.stopped_by == "seconds"
    assert result.status == Status.FEASIBLE
    assert result.decision[:4] == (0, 1, 0, 1)


def test_other_prices_are_refused():
    class Priced(Packets):
        def unpriced(self):
            return "periods have a price."

    problem = Priced(falling_rows(np.random.default_rng(0), 2), 5, (1, 1))
    with pytest.raises(UnsupportedProblem, match="'backward-induction' cannot take 'packets': periods have a price"):
        run(problem, BackwardInduction())


def test_too_many_states_are_refused():
    rows = falling_rows(np.random.default_rng(0), 6, 100)
    with pytest.raises(UnsupportedProblem, match="handles up to 10000000 states, and 'packets' with 6 servers and 60"):
        run(Packets(rows, 60, (1,) * 6), BackwardInduction())


def test_costs_of_first_gaps_may_be_anything():
    """The kernel takes first gaps apart from later ones."""
    rng = np.random.default_rng(4)
    costs = HorizonCosts(rng.normal(size=(2, 6)), rng.normal(size=(2, 7)))
    truth = min(costs.total(actions) for actions in product((0, 1), repeat=6))
    assert by_runs(costs)[1] == pytest.approx(truth, rel=1e-12)
    assert by_states(costs)[1] == pytest.approx(truth, rel=1e-12)
