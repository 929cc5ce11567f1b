"""The oracle: counts, remembers, keeps the budget, and believes nobody."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import heuristics.oracle
from heuristics import (
    BinaryVectors,
    Budget,
    BudgetSpent,
    Decision,
    Disagreement,
    Evaluation,
    Followed,
    Oracle,
    OrderedIntegers,
    Progress,
    Result,
    Simplex,
    Status,
    Words,
    agree,
)
from heuristics.testing import Hopeless, Knapsack, Ladder, Necklace, Ring, RingWalk, Separable, Shared


@dataclass(frozen=True)
class Recording(Separable):
    """Remembers what it was asked."""

    asked: list[Decision] = field(default_factory=list)

    def evaluate(self, decision: Decision) -> Evaluation:
        self.asked.append(decision)
        return super().evaluate(decision)


ZEROS, ONES = (0,) * 7, (1,) * 7


def words(count: int) -> list[Decision]:
    return [decision for decision, _ in zip(BinaryVectors(7), range(count), strict=False)]


# -- asking ------------------------------------------------------------------------------------------------------------


def test_a_repeated_decision_is_answered_from_memory_and_costs_nothing() -> None:
    oracle = Oracle(Recording())
    assert oracle(ZEROS) is oracle(ZEROS)
    assert oracle.problem.asked == [ZEROS]
    assert oracle.evaluations == oracle.judged_in_full == 1


@pytest.mark.parametrize("same", [[0] * 7, np.zeros(7, dtype=int), (0.0,) * 7, (False,) * 7])
def test_a_decision_is_remembered_and_closed_on_in_canonical_form(same: Any) -> None:
    oracle = Oracle(Recording())
    oracle(same)
    oracle(ZEROS)
    assert oracle.evaluations == 1
    decision = oracle.result().decision
    assert decision == ZEROS and all(type(entry) is int for entry in decision)
    assert all(type(entry) is int for entry in oracle.problem.asked[0])


def test_rotations_of_a_word_are_one_decision() -> None:
    oracle = Oracle(Necklace())
    oracle((0, 1, 0, 2))
    oracle((2, 0, 1, 0))
    assert oracle.evaluations == 1
    assert isinstance(oracle.problem.space, Words)
    assert oracle.result().decision == (0, 1, 0, 2)


def test_a_decision_outside_the_space_is_refused_and_not_charged() -> None:
    oracle = Oracle(Separable())
    with pytest.raises(ValueError, match=r"entry 0 is 2; entries are 0 or 1\."):
        oracle((2, 0, 0, 0, 0, 0, 0))
    assert oracle.evaluations == 0


def test_arrays_are_judged_every_time_and_never_remembered() -> None:
    @dataclass(frozen=True)
    class Long:
        name: str = "long"

        @property
        def space(self) -> Simplex:
            return Simplex(6_000)

        def evaluate(self, decision: Decision) -> Evaluation:
            return Evaluation(float(decision[0]))

    oracle = Oracle(Long())
    point = np.full(6_000, 1 / 6_000)
    oracle(point)
    oracle(point)
    assert oracle.evaluations == 2


def test_a_full_memory_is_emptied_and_the_best_decision_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristics.oracle, "CACHE_ENTRIES", 4)
    oracle = Oracle(Recording())
    for decision in words(10):
        oracle(decision)
    best = min(Separable().evaluate(decision).objective for decision in words(10))
    assert oracle.result().objective == best
    oracle(words(1)[0])
    assert oracle.evaluations == 11  # forgotten, so judged and charged again
    assert len(oracle._cache) <= 4


def test_many_numbers_fill_the_memory_as_many_decisions_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristics.oracle, "CACHE_NUMBERS", 21)
    oracle = Oracle(Separable())
    for decision in words(20):
        oracle(decision)
        assert len(oracle._cache) <= 3


@pytest.mark.parametrize("evaluation", [Evaluation(math.nan), Evaluation(1.0, {"strange": math.nan})])
def test_an_answer_that_is_no_number_is_a_defect(evaluation: Evaluation) -> None:
    @dataclass(frozen=True)
    class Broken(Separable):
        def evaluate(self, decision: Decision) -> Evaluation:
            return evaluation

    with pytest.raises(Disagreement, match=r"no number \(nan\)"):
        Oracle(Broken())(ZEROS)


def test_a_batch_is_judged_in_one_call_each_decision_once() -> None:
    calls: list[int] = []

    @dataclass(frozen=True)
    class Counting(Shared):
        def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]:
            calls.append(len(decisions))
            return super().evaluate_many(decisions)

    oracle = Oracle(Counting())
    oracle((0, 0, 0))
    answers = oracle.many([(0, 0, 1), [0, 0, 0], (0, 0, 2), (0, 0, 1)])
    assert calls == [2]
    assert oracle.evaluations == oracle.judged_in_full == 3
    assert answers == [Shared().evaluate(d) for d in ((0, 0, 1), (0, 0, 0), (0, 0, 2), (0, 0, 1))]


@pytest.mark.parametrize("problem", [Shared(), Ladder()])
def test_a_batch_too_large_for_the_budget_is_judged_as_far_as_it_goes(problem: Ladder) -> None:
    oracle = Oracle(problem, Budget(evaluations=3))
    decisions = list(problem.space)
    with pytest.raises(BudgetSpent) as spent:
        oracle.many(decisions)
    assert spent.value.limit == "evaluations"
    assert oracle.evaluations == 3
    assert oracle.result().objective == min(problem.evaluate(d).objective for d in decisions[:3])


def test_a_batch_gets_new_room_when_it_improves_under_a_stall_limit() -> None:
    oracle = Oracle(Shared(), Budget(stall=4))
    with pytest.raises(BudgetSpent) as spent:
        oracle.many(list(Shared().space))
    assert spent.value.limit == "stall"
    assert oracle.evaluations > 4


# -- paying ------------------------------------------------------------------------------------------------------------


def test_the_budget_of_evaluations_is_kept_exactly() -> None:
    oracle = Oracle(Recording(), Budget(evaluations=3))
    for decision in words(3):
        oracle(decision)
    assert oracle.remaining_evaluations == 0
    oracle(words(1)[0])  # known: free
    with pytest.raises(BudgetSpent) as spent:
        oracle(ONES)
    assert spent.value.limit == "evaluations"
    assert len(oracle.problem.asked) == 3


def test_a_run_that_does_not_improve_is_ended_by_stall() -> None:
    oracle = Oracle(Separable(), Budget(stall=2))
    oracle(Separable().target)
    oracle(ZEROS)
    oracle(ONES)
    with pytest.raises(BudgetSpent) as spent:
        oracle(words(2)[1])
    assert spent.value.limit == "stall"


def test_an_infeasible_decision_does_not_count_as_an_improvement_for_stall() -> None:
    oracle = Oracle(Hopeless(), Budget(stall=2))
    oracle((0, 0, 0, 0))
    oracle((0, 0, 0, 1))
    with pytest.raises(BudgetSpent):
        oracle((0, 0, 1, 0))


class Hands:
    """A clock whose hands are moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    clock = Hands()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def test_a_slow_problem_is_asked_until_the_time_is_over(hands: Hands) -> None:
    @dataclass(frozen=True)
    class Slow(Separable):
        def evaluate(self, decision: Decision) -> Evaluation:
            hands.now += 1.0
            return super().evaluate(decision)

    oracle = Oracle(Slow(), Budget(seconds=2.5))
    with pytest.raises(BudgetSpent) as spent:
        for decision in words(100):
            oracle(decision)
    assert spent.value.limit == "seconds"
    assert oracle.evaluations == 3 and oracle.seconds == 3.0 and oracle.remaining_seconds == 0.0
    assert oracle.result().trace[0].seconds == 1.0


def test_repeats_without_end_are_ended_by_the_clock_or_by_their_number(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = Oracle(Separable(), Budget(seconds=1.0))
    oracle(ZEROS)
    hands.now += 2.0
    with pytest.raises(BudgetSpent) as spent:
        for _ in range(1000):
            oracle(ZEROS)
    assert spent.value.limit == "seconds"
    monkeypatch.setattr(heuristics.oracle, "REPEATS", 50)
    oracle = Oracle(Separable())
    with pytest.raises(BudgetSpent) as spent:
        for _ in range(100):
            oracle(ZEROS)
    assert spent.value.limit == "repeats"


def test_progress_is_told_at_improvements_and_now_and_then(hands: Hands) -> None:
    told: list[Progress] = []
    oracle = Oracle(Separable(), progress=told.append)
    oracle(Separable().target)
    assert told[-1].objective == 1.0
    count = len(told)
    oracle(ZEROS)
    assert len(told) == count
    hands.now += 1.0
    oracle(ONES)
    assert len(told) == count + 1 and told[-1].evaluations == 3 and told[-1].seconds == 1.0
    oracle.report(bound=0.5)
    assert told[-1].bound == 0.5


def test_a_part_spends_the_budget_of_the_whole() -> None:
    oracle = Oracle(Separable(), Budget(evaluations=4))
    oracle(ZEROS)
    part = oracle.part(Separable((1, 1)))
    part((0, 0))
    part((1, 1))
    assert (part.evaluations, oracle.evaluations) == (2, 3)
    assert (part.judged_in_full, oracle.judged_in_full) == (2, 3)
    assert part.remaining_evaluations == oracle.remaining_evaluations == 1
    assert part.budget == oracle.budget
    part((0, 1))
    with pytest.raises(BudgetSpent):
        part((1, 0))
    assert part.result().objective == 1.0
    assert oracle.result().decision == ZEROS  # decisions of a part are not decisions of the whole


def test_a_batch_in_a_part_is_counted_in_full_in_the_whole() -> None:
    oracle = Oracle(Shared())
    part = Shared()
    part.space = OrderedIntegers(3, 0, 3)
    oracle.part(part).many([(0, 0, 0), (0, 0, 1)])
    assert oracle.evaluations == oracle.judged_in_full == 2


# -- walking -----------------------------------------------------------------------------------------------------------


def test_the_steps_of_a_walk_are_charged_and_its_incumbents_judged_in_full() -> None:
    oracle = Oracle(Ring())
    walk = oracle.walk((1,) * 9)
    change = walk.flip(0)
    assert change == -3.0
    assert oracle.evaluations == 2 and oracle.judged_in_full == 2
    assert walk.feasible and walk.penalised == Ring().evaluate(walk.current).objective
    assert oracle.result().decision == walk.current
    walk.flip(0)
    assert oracle.evaluations == 3 and oracle.judged_in_full == 2  # no better, so not judged


def test_a_walk_follows_moves_as_far_as_the_budget_goes() -> None:
    oracle = Oracle(Ring(), Budget(evaluations=20))
    walk = oracle.walk((1,) * 9)
    moves = walk.draw(np.random.default_rng(0), 50)
    with pytest.raises(BudgetSpent) as spent:
        walk.follow(moves, np.zeros(50))
    assert spent.value.limit == "evaluations"
    assert oracle.evaluations == 20
    best = oracle.result()
    assert best.objective is not None and best.objective < Ring().evaluate((1,) * 9).objective


def test_a_walk_gets_new_room_when_it_improves_under_a_stall_limit() -> None:
    oracle = Oracle(Ring(), Budget(stall=5))
    walk = oracle.walk((1,) * 9)
    moves = np.array([[i, -1] for i in (0, 2, 3, 5, 7, 8)] + [[0, -1]] * 40)
    with pytest.raises(BudgetSpent) as spent:
        walk.follow(moves, np.zeros(46))
    assert spent.value.limit == "stall"
    assert 6 < oracle.evaluations < 47


@pytest.mark.parametrize("lie", ["objective", "feasibility"])
def test_a_walk_that_the_evaluator_does_not_confirm_is_a_defect(lie: str) -> None:
    class Liar(RingWalk):
        @property
        def penalised(self) -> float:
            return 0.1 if lie == "objective" else super().penalised

        @property
        def feasible(self) -> bool:
            return lie == "feasibility" or super().feasible

        def follow(self, moves: Any, tolerances: Any, below: float) -> Followed:
            return Followed(1, (1,) * 9 if lie == "objective" else (0,) * 9, 0.1)

    @dataclass(frozen=True)
    class LyingRing(Ring):
        def start(self, decision: Decision) -> RingWalk:
            honest = super().start(decision)
            return Liar(self, honest.bits, honest.price, honest.bare)

    for step in (lambda w: w.flip(0), lambda w: w.follow(np.zeros((1, 2), dtype=np.int64), np.zeros(1))):
        start = (1,) * 9 if lie == "objective" else (1,) + (0,) * 8
        with pytest.raises(Disagreement, match="claimed"):
            step(Oracle(LyingRing()).walk(start))


def test_a_problem_without_walks_says_so() -> None:
    with pytest.raises(TypeError, match="not an incremental problem"):
        Oracle(Separable()).walk(ZEROS)


# -- closing -----------------------------------------------------------------------------------------------------------


def test_a_result_is_closed_on_the_best_feasible_decision_shown() -> None:
    oracle = Oracle(Knapsack())
    oracle((1,) * 8)  # the best objective of all, but too heavy
    oracle((1, 0, 0, 0, 0, 0, 0, 0))
    oracle((0,) * 8)
    result = oracle.result()
    assert result.decision == (1, 0, 0, 0, 0, 0, 0, 0) and result.objective == -6.0
    assert result.status == Status.FEASIBLE and result.bound is None
    assert [point.objective for point in result.trace] == [-6.0]
    assert result.evaluations == 3


def test_the_last_word_is_free_even_when_nothing_is_left(hands: Hands) -> None:
    oracle = Oracle(Separable(), Budget(evaluations=1, seconds=1.0))
    oracle(ZEROS)
    hands.now += 5.0
    result = oracle.result(Separable().target, claimed=1.0, stopped_by="seconds")
    assert result.objective == 1.0 and result.evaluations == 1 and result.judged_in_full == 2


def test_a_known_last_word_never_ends_in_a_spent_budget(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristics.oracle, "REPEATS", 10)
    oracle = Oracle(Separable(), Budget(seconds=1.0))
    oracle(ZEROS)
    hands.now += 5.0
    for _ in range(200):
        assert oracle.result(ZEROS, proved=True).status == Status.OPTIMAL


def test_a_claim_the_evaluator_does_not_confirm_is_a_defect() -> None:
    with pytest.raises(Disagreement, match=r"objective 0.5 was claimed where the evaluator finds 1.0"):
        Oracle(Separable()).result(Separable().target, claimed=0.5)
    with pytest.raises(Disagreement, match="claimed feasible breaks weight by 18"):
        Oracle(Knapsack()).result((1,) * 8, claimed=-38.5)


def test_an_infeasible_last_word_without_a_claim_is_no_answer() -> None:
    assert Oracle(Knapsack()).result((1,) * 8).status == Status.UNKNOWN


@pytest.mark.parametrize("proved", [False, True])
def test_a_bound_above_a_feasible_objective_is_a_defect(proved: bool) -> None:
    oracle = Oracle(Separable())
    oracle(Separable().target)
    with pytest.raises(Disagreement, match=r"a bound of 3.0 was claimed, but a feasible decision has 1.0"):
        oracle.result(bound=3.0, proved=proved)


def test_a_bound_that_meets_the_objective_proves_it() -> None:
    oracle = Oracle(Separable())
    oracle(Separable().target)
    assert oracle.result(bound=0.25).status == Status.FEASIBLE
    proved = oracle.result(bound=1.0 - 1e-12)
    assert proved.status == Status.OPTIMAL and proved.bound == 1.0 - 1e-12


@dataclass(frozen=True)
class Priced(Separable):
    """The same in another currency."""

    price: float = 1.0

    def evaluate(self, decision):
        return Evaluation(self.price * super().evaluate(decision).objective)


@pytest.mark.parametrize("price", [1e-200, 1e-10, 1.0, 1e10, 1e200])
def test_bounds_and_objectives_are_compared_relatively_whatever_the_unit(price: float) -> None:
    def closed(bound: float) -> Result:
        oracle = Oracle(Priced(price=price))
        oracle(Separable().target)
        return oracle.result(bound=bound * price)

    assert closed(1.0 - 1e-10).status == Status.OPTIMAL
    assert closed(1.0 - 1e-8).status == Status.FEASIBLE
    assert 0 < closed(1.0 - 1e-8).gap() < 2e-8
    assert closed(1.0 + 1e-7).bound == price  # two roads round differently
    with pytest.raises(Disagreement, match="a bound of"):
        closed(1.0 + 1e-5)


@pytest.mark.parametrize("price", [1e-200, 1.0, 1e200])
def test_a_claim_is_compared_relatively_whatever_the_unit(price: float) -> None:
    oracle = Oracle(Priced(price=price))
    oracle.confirm(Separable().target, price * (1 + 1e-7))
    with pytest.raises(Disagreement, match="was claimed where the evaluator finds"):
        oracle.confirm(Separable().target, price * (1 + 1e-5))


def test_what_cancels_is_compared_with_what_it_was_summed_up_from() -> None:
    assert not agree(1e-17, 0.0)
    assert agree(1e-17, 0.0, size=1.0)
    assert not agree(1e-17, 0.0, size=1e-10)
    assert not agree(1.0, 0.0, size=math.inf)


def test_the_bound_is_the_number_proved_and_never_above_the_objective() -> None:
    oracle = Oracle(Separable())
    oracle(Separable().target)
    assert oracle.result(bound=0.999999999995).bound == 0.999999999995
    assert oracle.result(proved=True).bound == 1.0  # a complete search proves what it found
    oracle.report(bound=1.0 + 1e-12)
    assert oracle.result().bound == 1.0 and oracle.result().gap() == 0.0


def test_the_best_bound_counts_and_an_infinite_one_says_nothing() -> None:
    oracle = Oracle(Separable())
    oracle(ZEROS)
    for bound in (0.25, 0.125, -math.inf, math.inf, None):
        oracle.report(bound)
    result = oracle.result()
    assert result.bound == 0.25
    assert [point.bound for point in result.trace if point.objective is None] == [0.25]


def test_a_complete_search_without_a_feasible_decision_proves_infeasibility() -> None:
    oracle = Oracle(Hopeless())
    oracle((0, 0, 0, 0))
    assert oracle.result().status == Status.UNKNOWN
    result = oracle.result(proved=True)
    assert result.status == Status.INFEASIBLE and result.decision is None and result.evaluation is None


def test_detail_comes_from_the_problem_and_from_the_strategy() -> None:
    @dataclass(frozen=True)
    class Telling(Separable):
        def describe(self, decision: Decision) -> dict[str, Any]:
            return {"ones": [i for i, bit in enumerate(decision) if bit]}

    oracle = Oracle(Telling())
    oracle.extra["rounds"] = 3
    assert oracle.result().extra == {"rounds": 3}  # nothing found, nothing to describe
    oracle(ONES)
    assert oracle.result(extra={"stage": "last"}).extra == {"rounds": 3, "ones": list(range(7)), "stage": "last"}


# -- nothing feasible --------------------------------------------------------------------------------------------------


def test_a_run_that_finds_nothing_feasible_tells_the_least_violation_and_what_may_help() -> None:
    oracle = Oracle(Hopeless(), Budget(evaluations=3))
    for decision in ((1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 1, 1)):
        oracle(decision)
    extra = oracle.result(stopped_by="evaluations").extra
    assert extra["least_violation"] == {"impossible": 1.0}
    assert "'suggestions'" in extra["hint"] and "'repair'" in extra["hint"] and "a larger budget" in extra["hint"]
    proved = oracle.result(proved=True)
    assert proved.status == Status.INFEASIBLE and proved.extra["least_violation"] == {"impossible": 1.0}


def test_what_a_problem_offers_is_not_asked_for() -> None:
    class Offering(Hopeless):
        def suggestions(self, rng: np.random.Generator) -> list[Decision]:
            return [(0, 0, 0, 0)]

        def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
            return decision

    oracle = Oracle(Offering())
    oracle((0, 0, 0, 0))
    assert oracle.result().extra["hint"] == "nothing feasible was met; a larger budget or wider limits may help"


def test_nothing_is_told_where_something_is_feasible_or_nothing_was_judged() -> None:
    oracle = Oracle(Knapsack())
    assert "hint" not in oracle.result().extra
    oracle((1,) * 8)
    oracle((0,) * 8)
    assert not {"hint", "least_violation"} & set(oracle.result().extra)


def test_a_walk_that_meets_nothing_feasible_is_judged_where_it_stands() -> None:
    ring = Ring()
    oracle = Oracle(ring)
    walk = oracle.walk((0,) * 9)
    walk.follow(np.array([[4, -1]]), np.array([np.inf]))
    assert oracle.result().extra["least_violation"] == {"bare": 6.0}
    walk.follow(np.array([[1, -1]]), np.array([np.inf]))
    assert oracle.result().extra["least_violation"] == {"bare": 3.0}
