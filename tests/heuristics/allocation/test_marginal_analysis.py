"""Marginal analysis: right where costs are convex, caught where they are not, the programme always right."""

from dataclasses import dataclass

import numpy as np
import pytest

from heuristics import Budget, Evaluation, Oracle, Splits, Status, run
from heuristics.allocation import MarginalAnalysis, envelope, least_split, marginal, total
from heuristics.allocation.marginal_analysis import is_convex
from heuristics.testing import check_strategy


@dataclass(frozen=True)
class Shares:
    """Activities whose costs are given; `below` is how far their lower ends are below them."""

    tables: tuple[tuple[float, ...], ...]
    below: float = 0.0
    name: str = "shares"

    @property
    def units(self):
        return len(self.tables[0]) - 1

    @property
    def activities(self):
        return len(self.tables)

    @property
    def space(self):
        return Splits(self.activities, self.units)

    def evaluate(self, decision):
        return Evaluation(sum(table[count] for table, count in zip(self.tables, decision, strict=True)))

    def allocation_cost(self, activity, count):
        cost = self.tables[activity][count]
        return max(cost - self.below, 0.0), cost


def falling(rng, units, convex):
    """Random costs; convex ones rise again if their slopes do."""
    slopes = rng.normal(-0.5, 1.0, units)
    values = np.cumsum([0.0, *(np.sort(slopes) if convex else slopes)])
    return tuple((values - min(values.min(), 0.0)).tolist())


def shares(seed, convex):
    rng = np.random.default_rng(seed)
    units = int(rng.integers(0, 9))
    return Shares(tuple(falling(rng, units, convex) for _ in range(int(rng.integers(1, 5)))))


#: Three units together save the first activity 4, alone nothing; the second saves 1 by each.
BUMPY = Shares(((5.0, 5.0, 5.0, 1.0), (3.0, 2.0, 1.0, 0.5)), name="bumpy")
SMOOTH = Shares(((5.0, 3.0, 2.0, 1.5, 1.5), (3.0, 2.0, 1.2, 1.1, 1.3), (2.0, 2.5, 3.0, 3.5, 4.0)), name="smooth")


def listed(problem):
    return min(problem.evaluate(decision).objective for decision in problem.space)


def test_it_keeps_the_contract_with_and_without_the_programme():
    problems = [SMOOTH, BUMPY, Shares(((2.0,), (1.0,)), name="nothing to give")]
    check_strategy(MarginalAnalysis(), problems)
    check_strategy(MarginalAnalysis(largest=0), problems)


@pytest.mark.parametrize("seed", range(40))
def test_convex_costs_are_split_best_one_unit_after_the_other_and_the_envelopes_prove_it(seed):
    problem = shares(seed, convex=True)
    best = listed(problem)
    for largest in (0, 10**8):
        answer = run(problem, MarginalAnalysis(largest))
        assert answer.status == Status.OPTIMAL
        assert answer.objective == pytest.approx(best, abs=1e-12)
        assert answer.extra["convex"] and answer.extra["greedy"]["gap"] == pytest.approx(0.0, abs=1e-12)
        assert answer.extra["exact"] == (largest > 0)


@pytest.mark.parametrize("seed", range(40))
def test_other_costs_are_split_best_by_the_programme_and_bounded_by_the_envelopes(seed):
    problem = shares(seed, convex=False)
    best = listed(problem)
    exact, greedy = run(problem, MarginalAnalysis()), run(problem, MarginalAnalysis(largest=0))
    assert exact.status == Status.OPTIMAL
    assert exact.objective == pytest.approx(best, abs=1e-12)
    assert exact.extra["greedy"]["decision"] == list(greedy.decision)
    assert greedy.objective == pytest.approx(exact.extra["greedy"]["objective"], abs=1e-12)
    assert greedy.bound <= best + 1e-12 <= greedy.objective + 2e-12
    if greedy.status == Status.OPTIMAL:
        assert greedy.objective == pytest.approx(best, rel=1e-9)


def test_marginal_analysis_alone_is_wrong_where_units_help_only_together():
    greedy, exact = run(BUMPY, MarginalAnalysis(largest=0)), run(BUMPY, MarginalAnalysis())
    assert (greedy.decision, greedy.objective, greedy.status) == ((0, 3), 5.5, Status.FEASIBLE)
    assert greedy.bound == pytest.approx(4.0)  # the envelope of the first falls by 4/3 each time
    assert (exact.decision, exact.objective, exact.status) == ((3, 0), 4.0, Status.OPTIMAL)
    assert exact.extra["greedy"] == {"decision": [0, 3], "objective": 5.5, "gap": pytest.approx(0.375)}
    assert (exact.extra["convex"], exact.extra["not_convex"]) == (False, [0])


def test_units_that_help_nobody_are_kept_back():
    answer = run(SMOOTH, MarginalAnalysis())
    assert answer.decision == (2, 2, 0)
    assert answer.extra["last_unit_gains"] == pytest.approx(0.8)
    most = Shares(((3.0, 1.0, 2.0, 4.0, 4.0), (3.0, 4.0, 5.0, 6.0, 7.0)))
    for largest in (0, 10**8):
        answer = run(most, MarginalAnalysis(largest))
        assert (answer.decision, answer.status) == ((1, 0), Status.OPTIMAL)
        assert answer.extra["last_unit_gains"] == 0.0


@pytest.mark.parametrize("largest", [0, 10**8])
def test_costs_that_are_only_bracketed_prove_no_more_than_the_brackets_do(largest):
    loose = run(Shares(SMOOTH.tables, below=0.1), MarginalAnalysis(largest))
    assert loose.status == Status.FEASIBLE
    assert loose.bound == pytest.approx(listed(SMOOTH) - 0.3)
    tight = run(Shares(SMOOTH.tables, below=1e-12), MarginalAnalysis(largest))
    assert tight.status == Status.OPTIMAL


def test_small_costs_are_not_called_proved_by_absolute_differences():
    tiny = Shares(tuple(tuple(1e-10 * cost for cost in table) for table in SMOOTH.tables), below=1e-12)
    assert run(tiny, MarginalAnalysis()).status == Status.FEASIBLE
    exact = Shares(tiny.tables)
    assert run(exact, MarginalAnalysis()).status == Status.OPTIMAL


class Clock(Oracle):
    """An oracle whose time is up after so many looks at the clock."""

    looks = 7

    @property
    def remaining_seconds(self):
        self.looks -= 1
        return 1.0 if self.looks >= 0 else 0.0


def test_when_time_is_up_those_who_were_not_asked_get_nothing():
    answer = MarginalAnalysis().solve(Clock(SMOOTH, Budget(seconds=1.0)), np.random.default_rng(0))
    assert (answer.decision, answer.stopped_by) == ((3, 0, 0), "seconds")
    assert answer.status == Status.FEASIBLE and answer.bound is None
    nothing = run(SMOOTH, MarginalAnalysis(), Budget(seconds=1e-9))
    assert (nothing.decision, nothing.stopped_by) == ((0, 0, 0), "seconds")


@pytest.mark.parametrize("tables", [((1.0, -1.0),), ((1.0, float("inf")),), ((1.0, float("nan")),)])
def test_costs_that_are_no_costs_are_refused(tables):
    with pytest.raises(ValueError, match="activity 0 must be brackets"):
        run(Shares(tables), MarginalAnalysis())


def test_a_negative_number_of_additions_is_refused():
    with pytest.raises(ValueError, match="largest must be 0 or more"):
        MarginalAnalysis(largest=-1)


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_envelope_is_the_largest_convex_falling_function_below(seed):
    rng = np.random.default_rng(seed)
    table = np.array(falling(rng, 12, convex=False))
    found = envelope(table)
    places = range(len(table))
    for here in places:  # of all lines between two points, and of all points further left, the lowest
        lowest = min(table[: here + 1])
        for left in range(here):
            for right in places[here + 1 :]:
                share = (here - left) / (right - left)
                lowest = min(lowest, (1 - share) * min(table[: left + 1]) + share * min(table[: right + 1]))
        assert found[here] == pytest.approx(lowest, abs=1e-12)
    smooth = np.minimum.accumulate(falling(rng, 12, convex=True))
    assert envelope(smooth) == pytest.approx(smooth, abs=1e-14)


def test_convexity_is_judged_as_far_as_units_help_and_within_brackets():
    table = np.array([4.0, 2.0, 1.0, 3.0, 3.1])  # what comes after the least cost does not matter
    assert is_convex(table, table)
    bent = np.array([4.0, 3.0, 1.0, 0.0])
    assert not is_convex(bent, bent)
    assert not is_convex(bent - 0.1, bent + 0.1)
    assert is_convex(bent - 0.3, bent + 0.3)  # 3 may be 2.7, where 4.3 and 1.3 make 2.8
    assert is_convex(np.array([1.0]), np.array([1.0]))


def test_least_costs_by_number_of_units_are_those_of_smaller_problems():
    tables = [np.array(table) for table in BUMPY.tables]
    counts, values = least_split(tables, 3)
    assert values.tolist() == [8.0, 7.0, 6.0, 4.0]
    assert total(tables, counts) == values[-1]
    for units in range(4):
        assert total(tables, least_split(tables, units)[0]) == values[units]
        assert sum(marginal(tables, units)) == units
