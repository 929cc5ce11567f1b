"""Exhaustive search: the judge of all others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from heuristics import BinaryVectors, Budget, Decision, Evaluation, Problem, Status, UnsupportedProblem, run
from heuristics.exhaustive import Exhaustive, spelled
from heuristics.testing import Continuous, Hopeless, Ladder, Separable, Shared, enumerated, toy_problems

SMALL = [problem for problem in toy_problems() if problem.space.size <= 1000]


@pytest.mark.parametrize("problem", SMALL, ids=lambda problem: problem.name)
def test_every_small_problem_is_solved_and_proved(problem: Problem) -> None:
    result = run(problem, Exhaustive())
    truth = enumerated(problem)
    assert result.evaluations == problem.space.size
    if truth.optimum is None:
        assert result.status == Status.INFEASIBLE and result.decision is None
    else:
        assert result.status == Status.OPTIMAL and result.objective == truth.optimum == result.bound


def test_of_several_best_decisions_the_first_in_the_order_of_the_space_is_taken() -> None:
    @dataclass(frozen=True)
    class Flat(Separable):
        def evaluate(self, decision: Decision) -> Evaluation:
            return Evaluation(0.0 if sum(decision) == 2 else 1.0)

    assert run(Flat(), Exhaustive()).decision == (0, 0, 0, 0, 0, 1, 1)


@pytest.mark.parametrize("limit", [Budget(evaluations=83), Budget(stall=3)])
def test_a_search_that_was_cut_short_proves_nothing(limit: Budget) -> None:
    result = run(Ladder(), Exhaustive(), limit)  # 84 decisions
    assert result.status == Status.FEASIBLE and result.bound is None
    assert run(Hopeless(), Exhaustive(), Budget(evaluations=15)).status == Status.UNKNOWN


def test_a_budget_that_is_just_enough_proves() -> None:
    assert run(Ladder(), Exhaustive(), Budget(evaluations=84)).status == Status.OPTIMAL
    assert run(Hopeless(), Exhaustive(), Budget(evaluations=16)).status == Status.INFEASIBLE


def test_problems_that_share_work_are_asked_in_batches() -> None:
    @dataclass(frozen=True)
    class Recording(Shared):
        batches: list[int] = field(default_factory=list)

        def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]:
            self.batches.append(len(decisions))
            return super().evaluate_many(decisions)

    problem = Recording()
    run(problem, Exhaustive())
    assert sum(problem.batches) == 84 and max(problem.batches) >= 16


def test_batches_stay_small_where_they_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    @dataclass(frozen=True)
    class Slow(Shared):
        def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]:
            assert len(decisions) == 16
            now[0] += 1.0
            return super().evaluate_many(decisions)

    assert run(Slow(highest=5), Exhaustive(), Budget(seconds=2.5)).evaluations == 48


@pytest.mark.parametrize(
    ("length", "words"),
    [(242, "7.07e+72 decisions (2^242)"), (30, "1.07e+09 decisions (2^30)"), (100, "1.27e+30 decisions (2^100)")],
)
def test_a_space_too_large_is_refused_by_its_size(length: int, words: str) -> None:
    sentence = Exhaustive().refuses(Separable((0,) * length, name="big"))
    assert sentence == f"strategy 'exhaustive' takes at most 1e+09 decisions, and 'big' has {words}."
    with pytest.raises(UnsupportedProblem, match="decisions"):
        run(Separable((0,) * length), Exhaustive())


def test_a_space_beyond_floating_point_is_refused_as_well() -> None:
    assert "3.99e+3010 decisions (2^10001)" in (Exhaustive().refuses(Separable((0,) * 10_001)) or "")
    assert BinaryVectors(10_001).size // 10**3008 == 399


def test_a_continuum_is_refused() -> None:
    assert (Exhaustive().refuses(Continuous()) or "").endswith("'continuous' has infinitely many decisions.")


def test_the_largest_size_can_be_chosen() -> None:
    assert "takes at most 100 decisions, and 'separable' has 128 decisions" in (
        Exhaustive(largest=100).refuses(Separable()) or ""
    )
    with pytest.raises(ValueError, match="largest must be 1 or more, got 0"):
        Exhaustive(largest=0)


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1"), (999_999, "999999"), (10**6, "1e+06"), (1_234_567, "1.23e+06"), (10**9, "1e+09"), (2**70, "1.18e+21")],
)
def test_sizes_are_spelled_for_people(size: int, text: str) -> None:
    assert spelled(size) == text


def test_nothing_is_proved_where_judgements_are_estimates() -> None:
    class Guessing(Separable):
        estimated = True

    result = run(Guessing(), Exhaustive())
    assert result.status == "feasible"
    assert result.bound is None
    assert "estimates" in result.extra["unproved"]
    assert run(Separable(), Exhaustive()).status == "optimal"
