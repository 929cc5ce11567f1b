"""One run: refusal, preparation, interrupts, and a second look at the answer."""

from __future__ import annotations

import pickle
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pytest

from heuristics import (
    Budget,
    Decision,
    Disagreement,
    Evaluation,
    Exhaustive,
    Incremental,
    Oracle,
    Problem,
    Progress,
    Result,
    Status,
    UnsupportedProblem,
    interrupting,
    refusal,
    run,
)
from heuristics.testing import Knapsack, Ring, Separable


@dataclass(frozen=True)
class Sampling:
    """Asks about random decisions."""

    count: int = 10

    name: ClassVar[str] = "sampling"
    needs: ClassVar[type] = Problem

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        for _ in range(self.count):
            oracle(oracle.problem.space.sample(rng))
        return oracle.result()


def test_a_run_says_who_answered_what() -> None:
    told: list[Progress] = []
    result = run(Separable(), Sampling(count=5), Budget(evaluations=50), seed=3, progress=told.append)
    assert (result.problem, result.strategy, result.seed) == ("separable", "sampling", 3)
    assert result.parameters == {"count": 5}
    assert result.checked and result.stopped_by == "complete" and result.status == Status.FEASIBLE
    assert told and told[-1].objective == result.objective
    assert pickle.loads(pickle.dumps(result)) == result


def test_the_seed_decides() -> None:
    answers = {run(Knapsack(), Sampling(), seed=seed).decision for seed in range(8)}
    assert len(answers) > 1
    assert run(Knapsack(), Sampling(), seed=5).decision == run(Knapsack(), Sampling(), seed=5).decision


def test_a_spent_budget_closes_the_run_on_the_best_so_far() -> None:
    result = run(Separable(), Sampling(count=1000), Budget(evaluations=4))
    assert result.stopped_by == "evaluations" and result.evaluations == 4
    assert result.status == Status.FEASIBLE and result.objective == min(
        p.objective for p in result.trace if p.objective
    )


def test_an_interrupt_in_the_evaluator_closes_the_run_on_the_best_so_far() -> None:
    @dataclass(frozen=True)
    class Interrupted(Separable):
        asked: list[Decision] = field(default_factory=list)

        def evaluate(self, decision: Decision) -> Evaluation:
            self.asked.append(decision)
            if len(self.asked) == 4:
                raise KeyboardInterrupt
            return super().evaluate(decision)

    problem = Interrupted()
    result = run(problem, Sampling(count=1000))
    assert result.stopped_by == "interrupt" and result.evaluations == 3 and result.checked
    assert result.objective == min(Separable().evaluate(decision).objective for decision in problem.asked[:3])


def test_an_error_of_the_problem_is_not_swallowed() -> None:
    @dataclass(frozen=True)
    class Failing(Separable):
        def evaluate(self, decision: Decision) -> Evaluation:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Failing(), Sampling())


def test_what_a_problem_lacks_is_named_with_the_protocol() -> None:
    @dataclass(frozen=True)
    class Walking(Sampling):
        needs: ClassVar[type] = Incremental

    assert refusal(Ring(), Walking()) is None
    with pytest.raises(UnsupportedProblem) as refused:
        run(Separable(), Walking())
    assert str(refused.value) == (
        "strategy 'sampling' does not apply to 'separable': it needs a problem on which one can walk, "
        "and this one has no start "
        "(see heuristics.protocols.Incremental)."
    )


def test_something_that_is_no_problem_at_all_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        UnsupportedProblem,
        match="does not apply to 'object': it needs another kind of problem, "
        "and this one has no evaluate, name, space ",
    ):
        run(object(), Sampling())  # type: ignore[arg-type]


def test_a_protocol_of_ones_own_may_ask_for_plain_attributes() -> None:
    @runtime_checkable
    class Weighted(Problem, Protocol):
        weights: tuple[int, ...]

    @dataclass(frozen=True)
    class Greedy(Sampling):
        needs: ClassVar[type] = Weighted

    assert refusal(Knapsack(), Greedy()) is None
    assert "this one has no weights" in (refusal(Separable(), Greedy()) or "")


def test_costs_and_limits_are_refused_by_strategies_that_do_not_take_them() -> None:
    @dataclass(frozen=True)
    class Priced(Separable):
        linear_cost: bool = True
        limits: tuple[str, ...] = ()

    @dataclass(frozen=True)
    class Linear(Sampling):
        linear_cost_only: ClassVar[bool] = True
        takes_limits: ClassVar[bool] = False

    assert refusal(Priced(), Linear()) is None
    assert refusal(Priced(linear_cost=False), Sampling()) is None
    assert "linear in the measures" in (refusal(Priced(linear_cost=False), Linear()) or "")
    assert "does not handle limits" in (refusal(Priced(limits=("loss",)), Linear()) or "")


def test_a_strategy_refuses_in_its_own_words_and_prepares_before_the_clock() -> None:
    order: list[str] = []

    @dataclass(frozen=True)
    class Careful(Sampling):
        def refuses(self, problem: Problem) -> str | None:
            return "not today." if problem.name == "separable" else None

        def prepare(self, problem: Problem) -> None:
            order.append("prepare")

        def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
            order.append("solve")
            return super().solve(oracle, rng)

    with pytest.raises(UnsupportedProblem, match=r"^not today\.$"):
        run(Separable(), Careful())
    assert order == []
    run(Knapsack(), Careful())
    assert order == ["prepare", "solve"]


@pytest.mark.parametrize("lie", ["objective", "decision", "infeasible"])
def test_an_answer_that_does_not_stand_a_second_look_is_an_error(lie: str) -> None:
    @dataclass(frozen=True)
    class Lying(Sampling):
        def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
            honest = super().solve(oracle, rng)
            if lie == "objective":
                return replace(honest, evaluation=Evaluation(-100.0))
            return replace(honest, decision=(1,) * 8 if lie == "infeasible" else (0,) * 8, evaluation=Evaluation(-17.0))

    with pytest.raises(Disagreement, match="recomputing the answer gives"):
        run(Knapsack(), Lying())


def test_an_evaluator_that_changes_its_mind_is_found_out() -> None:
    @dataclass(frozen=True)
    class Moody(Separable):
        moods: list[int] = field(default_factory=list)

        def evaluate(self, decision: Decision) -> Evaluation:
            self.moods.append(0)
            return Evaluation(float(len(self.moods)))

    with pytest.raises(Disagreement):
        run(Moody(), Sampling())


def test_without_an_answer_there_is_nothing_to_check() -> None:
    result = run(Knapsack(capacity=-1), Sampling())
    assert result.checked and result.status == Status.UNKNOWN and result.decision is None


def test_an_interrupt_waits_for_the_next_question_and_ends_the_run() -> None:
    noted = []

    class Interrupted(Knapsack):
        def evaluate(self, decision: Decision) -> Evaluation:
            if sum(decision) == 2 and not noted:
                noted.append(decision)
                interrupting.interrupt()  # as a signal handler does
            return super().evaluate(decision)

    try:
        result = run(Interrupted(), Exhaustive())
        interrupting.check()  # the note was answered: the next run starts afresh
    finally:
        interrupting.answered()
    assert result.stopped_by == "interrupt"
    assert result.status == Status.FEASIBLE


def test_outside_a_run_and_when_asked_twice_an_interrupt_comes_at_once() -> None:
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupting.interrupt()
        interrupting.answered()
        with interrupting.deferred():
            interrupting.interrupt()
            with pytest.raises(KeyboardInterrupt):
                interrupting.interrupt()
            interrupting.answered()
            with interrupting.immediate(), pytest.raises(KeyboardInterrupt):
                interrupting.interrupt()
    finally:
        interrupting.answered()


def test_an_interrupt_that_broke_compiled_code_is_still_an_interrupt() -> None:
    class Compiled(Knapsack):
        def evaluate(self, decision: Decision) -> Evaluation:
            if sum(decision) == 2:
                raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
            return super().evaluate(decision)

    assert run(Compiled(), Exhaustive()).stopped_by == "interrupt"

    class Broken(Knapsack):
        def evaluate(self, decision: Decision) -> Evaluation:
            raise SystemError("a defect of somebody")

    with pytest.raises(SystemError):
        run(Broken(), Exhaustive())


def test_a_problem_that_knows_it_is_hopeless_says_why_whatever_the_strategy() -> None:
    class Explained(Knapsack):
        def infeasibility(self) -> str | None:
            return "there is no knapsack."

    result = run(Explained(), Exhaustive())
    assert (result.status, result.decision, result.evaluations) == (Status.INFEASIBLE, None, 0)
    assert result.extra["reason"] == "there is no knapsack."


def test_what_a_strategy_needs_is_not_computed_to_see_whether_it_is_there() -> None:
    """A property may take long, and no clock is running yet."""

    class Lengthy(Separable):
        @property
        def best_of_all(self) -> float:
            raise AssertionError("computed")

    class Needs(Problem, Protocol):
        @property
        def best_of_all(self) -> float: ...

    class Asking(Sampling):
        needs: ClassVar[type] = Needs

    assert refusal(Lengthy(), Asking()) is None
    assert "this one has no best_of_all" in (refusal(Separable(), Asking()) or "")


def test_runs_in_threads_that_overlap_leave_nothing_behind():
    """The first to end had given back what it found, and the second what the first had set: for ever."""

    def ring():
        raise TimeoutError

    entered, left = threading.Event(), threading.Event()

    def first():
        with interrupting.deferred(), interrupting.within(ring):
            entered.set()
            left.wait(10)

    def second():
        entered.wait(10)
        with interrupting.deferred(), interrupting.within(ring):
            left.set()
            threads[0].join(10)
            with pytest.raises(TimeoutError):
                interrupting.check()

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    interrupting.check()  # no limit is in force
    try:
        with pytest.raises(KeyboardInterrupt):  # and nobody is said to look soon
            interrupting.interrupt()
    finally:
        interrupting.answered()


def test_finding_out_whether_a_strategy_takes_a_problem_is_inside_the_clock():
    """How large a problem is may take long to find: its refusal ends with the budget, and its seconds are counted."""

    @dataclass(frozen=True)
    class Slow(Exhaustive):
        pauses: int = 0

        def refuses(self, problem):
            for _ in range(self.pauses):
                time.sleep(0.01)
                interrupting.check()
            return None

    endless = run(Separable(), Slow(pauses=10**6), Budget(seconds=0.05))
    assert (endless.status, endless.stopped_by) == (Status.UNKNOWN, "seconds")
    assert run(Separable(), Slow(pauses=5)).seconds >= 0.05


def test_one_long_evaluation_hears_the_clock():
    class Long(Separable):
        def evaluate(self, decision):
            for _ in range(10**6):
                time.sleep(0.01)
                interrupting.check()
            return super().evaluate(decision)

    assert run(Long(), Exhaustive(), Budget(seconds=0.05)).stopped_by == "seconds"
