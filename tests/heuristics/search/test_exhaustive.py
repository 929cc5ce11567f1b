"""Exhaustive search: the judge of all others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from heuristics import (
    BinaryVectors,
    Budget,
    Decision,
    Evaluation,
    Followed,
    OrderedIntegers,
    Problem,
    Status,
    UnsupportedProblem,
    run,
)
from heuristics.search import Exhaustive, spelled
from heuristics.search.exhaustive import gray_flips
from heuristics.testing import (
    Continuous,
    Hopeless,
    Ladder,
    MendedKnapsack,
    Ring,
    RingWalk,
    Separable,
    Shared,
    check_strategy,
    enumerated,
    toy_problems,
)

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

    class Slow(Shared):
        space = OrderedIntegers(3, 0, 5)

        def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]:
            assert len(decisions) == 16
            now[0] += 1.0
            return super().evaluate_many(decisions)

    assert run(Slow(), Exhaustive(), Budget(seconds=2.5)).evaluations == 48


@pytest.mark.parametrize(
    ("length", "words"),
    [(242, "7.07e+72 decisions (2^242)"), (30, "1.07e+09 decisions (2^30)"), (100, "1.27e+30 decisions (2^100)")],
)
def test_a_space_too_large_is_refused_by_its_size(length: int, words: str) -> None:
    sentence = Exhaustive().refuses(Separable((0,) * length, name="big"))
    assert sentence == f"strategy 'exhaustive' evaluates at most 1e+09 decisions, and 'big' has {words}."
    with pytest.raises(UnsupportedProblem, match="decisions"):
        run(Separable((0,) * length), Exhaustive())


def test_a_space_beyond_floating_point_is_refused_as_well() -> None:
    assert "3.99e+3010 decisions (2^10001)" in (Exhaustive().refuses(Separable((0,) * 10_001)) or "")
    assert BinaryVectors(10_001).size // 10**3008 == 399


def test_a_continuum_is_refused() -> None:
    assert (Exhaustive().refuses(Continuous()) or "").endswith("'continuous' has infinitely many decisions.")


def test_the_largest_size_can_be_chosen() -> None:
    assert "evaluates at most 100 decisions, and 'separable' has 128 decisions" in (
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


# -- walking through all decisions -------------------------------------------------------------------------------------


class SweptWalk(RingWalk):
    """A walk that can be led through all decisions."""

    def sweep(self, flips: Any, below: float) -> Followed:
        best = None
        for index in flips.tolist():
            self.flip(index)
            objective = float(sum(p for p, bit in zip(self.problem.prices, self.bits, strict=True) if bit))
            if self.feasible and objective < below:
                below, best = objective, self.current
        return Followed(len(flips), best, None if best is None else below)


@dataclass(frozen=True)
class Swept(Ring):
    """The ring, to be walked through."""

    def start(self, decision: Decision) -> SweptWalk:
        honest = super().start(decision)
        return SweptWalk(self, honest.bits, honest.price, honest.bare)


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_the_gray_code_meets_every_vector_once_wherever_it_begins(length: int) -> None:
    start = np.random.default_rng(length).integers(0, 2, length)
    vectors = {tuple(start.tolist())}
    for index in gray_flips(length, 1, 2**length).tolist():
        start[index] = 1 - start[index]
        vectors.add(tuple(start.tolist()))
    assert len(vectors) == 2**length
    parts = [gray_flips(length, k, k + 1).item() for k in range(1, 2**length)]
    assert parts == gray_flips(length, 1, 2**length).tolist()
    assert gray_flips(60, 2**59, 2**59 + 1).tolist() == [0]


@pytest.mark.parametrize("prices", [Ring().prices, (1.0,) * 11, (1e-200, 3e-200, 1e200, 2e-200, 1e-200, 2e200)])
def test_walking_finds_what_listing_finds_and_judges_few_in_full(prices: tuple[float, ...]) -> None:
    listed, swept = (run(kind(prices, penalty=1.0), Exhaustive()) for kind in (Ring, Swept))
    assert swept.status == Status.OPTIMAL and swept.objective == listed.objective == enumerated(Ring(prices)).optimum
    assert swept.evaluations == listed.evaluations == 2 ** len(prices) == listed.judged_in_full
    assert swept.judged_in_full < swept.evaluations / 2


@pytest.mark.parametrize("evaluations", [1, 2, 100, 511])
def test_walking_keeps_the_budget_to_the_last_step(evaluations: int) -> None:
    result = run(Swept(), Exhaustive(), Budget(evaluations=evaluations))
    assert result.evaluations == evaluations and result.stopped_by == "evaluations" and result.bound is None
    assert run(Swept(), Exhaustive(), Budget(evaluations=512)).status == Status.OPTIMAL


def test_walking_proves_that_nothing_is_feasible() -> None:
    class Blocked(SweptWalk):
        feasible = False

    @dataclass(frozen=True)
    class Impossible(Swept):
        def evaluate(self, decision: Decision) -> Evaluation:
            return Evaluation(1.0, {"never": 1.0 + sum(decision)})

        def start(self, decision: Decision) -> SweptWalk:
            return Blocked(self, list(decision), 0.0, 0)

    assert run(Impossible(), Exhaustive()).status == Status.INFEASIBLE
    assert run(Impossible(), Exhaustive(), Budget(evaluations=511)).status == Status.UNKNOWN


def test_walking_keeps_the_house_rules_and_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    check_strategy(Exhaustive(), [Swept()])
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Slow(SweptWalk):
        def flip(self, index: int) -> float:
            now[0] += 0.01
            return super().flip(index)

    @dataclass(frozen=True)
    class Late(Swept):
        def start(self, decision: Decision) -> SweptWalk:
            honest = Ring.start(self, decision)
            return Slow(self, honest.bits, honest.price, honest.bare)

    result = run(Late(), Exhaustive(), Budget(seconds=2.0))
    assert result.stopped_by == "seconds" and result.seconds <= 2.7


@pytest.mark.parametrize("kind", [Ring, Swept])
def test_a_feasible_suggestion_comes_first_so_that_a_run_cut_short_has_an_answer(kind: type[Ring]) -> None:
    @dataclass(frozen=True)
    class Suggested(kind):  # type: ignore[misc, valid-type]
        def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
            yield (0,) * 9
            yield (1,) * 9
            yield (0, 1, 0) * 3

    for evaluations, objective in ((2, 17.7), (100, None)):
        result = run(Suggested(), Exhaustive(), Budget(evaluations=evaluations))
        assert result.status == Status.FEASIBLE and result.evaluations == evaluations
        assert objective is None or result.objective == pytest.approx(objective)
    assert run(kind(), Exhaustive(), Budget(evaluations=2)).status == Status.UNKNOWN
    whole = run(Suggested(), Exhaustive())
    assert whole.status == Status.OPTIMAL and whole.objective == enumerated(Ring()).optimum
    assert whole.decision == run(Suggested(), Exhaustive(), seed=5).decision


def test_a_problem_that_can_repair_is_asked_for_a_first_decision() -> None:
    @dataclass(frozen=True)
    class Crowded(MendedKnapsack):
        def evaluate(self, decision: Decision) -> Evaluation:
            judged = super().evaluate(decision)
            return Evaluation(judged.objective, {**judged.violations, "empty": float(sum(decision) < 2)})

    assert run(Crowded(), Exhaustive(), Budget(evaluations=1)).status == Status.FEASIBLE
