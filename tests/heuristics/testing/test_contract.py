"""The check of strategies: lets honest ones pass and finds liars out."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from heuristics import Batch, Evaluation, Incremental, Oracle, Problem, Repairable, Result, Status, Strategy
from heuristics.search import Annealing, Exhaustive, Genetic, LocalSearch
from heuristics.testing import (
    Continuous,
    Hopeless,
    Knapsack,
    Ring,
    Separable,
    Wide,
    check_strategy,
    enumerated,
    toy_problems,
)


@pytest.mark.parametrize(
    "strategy",
    [
        Exhaustive(),
        Genetic(),
        Genetic(population=6, repair=False),
        Annealing(),
        Annealing(steps=15),
        LocalSearch(),
        LocalSearch(improvement="best"),
    ],
    ids=repr,
)
def test_our_own_strategies_keep_the_contract(strategy: Strategy) -> None:
    check_strategy(strategy)


def test_there_is_a_toy_problem_of_every_kind() -> None:
    toys = toy_problems()
    for protocol in (Incremental, Batch, Repairable):
        assert any(isinstance(toy, protocol) for toy in toys)
    assert len({type(toy.space) for toy in toys}) == 6
    assert enumerated(Hopeless()).optimum is None and enumerated(Separable()).optimum == 1.0
    assert not enumerated(Wide()).known and not enumerated(Continuous()).known


def test_the_walk_of_the_ring_agrees_with_its_evaluator() -> None:
    ring, rng = Ring(), np.random.default_rng(0)
    walk = ring.start(ring.space.sample(rng))
    for _ in range(200):
        before = ring.evaluate(walk.current).penalised
        change = walk.flip(int(rng.integers(9)))
        judged = ring.evaluate(walk.current)
        assert change == pytest.approx(judged.penalised - before)
        assert walk.penalised == pytest.approx(judged.penalised) and walk.feasible == judged.feasible


# -- liars -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Honest:
    """Asks about a few random decisions; the liars below are made of it."""

    count: int = 4

    name: ClassVar[str] = "honest"
    needs: ClassVar[type] = Problem

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        for _ in range(self.count):
            oracle(oracle.problem.space.sample(rng))
        return oracle.result()


def test_an_honest_strategy_passes() -> None:
    check_strategy(Honest())


@dataclass(frozen=True)
class ClaimsOptimality(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        super().solve(oracle, rng)
        return oracle.result(proved=True)


@dataclass(frozen=True)
class ClaimsABound(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        result = super().solve(oracle, rng)
        return result if result.objective is None else oracle.result(bound=result.objective - 0.001)


@dataclass(frozen=True)
class ClaimsInfeasibility(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        return replace(super().solve(oracle, rng), status=Status.INFEASIBLE, decision=None, evaluation=None)


@dataclass(frozen=True)
class GivesUpWithAProof(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        return oracle.result(proved=True)


@dataclass(frozen=True)
class AsksBehindTheOracle(Honest):
    """Enumerates through the problem itself and reports a result of its own making."""

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        problem = oracle.problem
        found: list[tuple[float, Any, Evaluation]] = []
        for _ in range(200):
            decision = problem.space.sample(rng)
            evaluation = problem.evaluate(decision)
            if evaluation.feasible:
                found.append((evaluation.objective, decision, evaluation))
        if not found:
            return oracle.result()
        _, decision, evaluation = min(found, key=lambda item: item[0])
        return Result(problem.name, Status.FEASIBLE, decision, evaluation, evaluations=1)


@dataclass(frozen=True)
class AsksBehindTheOracleAndShowsTheBest(AsksBehindTheOracle):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        return oracle.result(super().solve(oracle, rng).decision)


@dataclass(frozen=True)
class CountsTooFew(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        return replace(super().solve(oracle, rng), evaluations=0)


@dataclass(frozen=True)
class HidesItsBest(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        return replace(super().solve(oracle, rng), status=Status.UNKNOWN, decision=None, evaluation=None)


@dataclass(frozen=True)
class SwallowsTheEndOfTheBudget(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        oracle.budget = replace(oracle.budget, evaluations=10**6)
        return Honest(200).solve(oracle, rng)


@dataclass(frozen=True)
class SeedsPython(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        random.seed(0)
        return super().solve(oracle, rng)


@dataclass(frozen=True)
class SeedsNumpy(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        np.random.seed(0)  # noqa: NPY002
        return super().solve(oracle, rng)


@dataclass(frozen=True)
class HasItsOwnDice(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        return super().solve(oracle, np.random.default_rng())


@dataclass(frozen=True)
class CallsItselfDeterministic(Honest):
    deterministic: ClassVar[bool] = True


@dataclass(frozen=True)
class ChangesTheProblem(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        object.__setattr__(oracle.problem, "name", "mine")
        return super().solve(oracle, rng)


@dataclass(frozen=True)
class CannotTravel(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        oracle.extra["secret"] = lambda: None
        return super().solve(oracle, rng)


@dataclass(frozen=True)
class HoldsAFunction(Honest):
    key: Callable[[Any], Any] = field(default=lambda x: x, compare=False)


@dataclass(frozen=True)
class RefusesAtLength(Honest):
    def refuses(self, problem: Problem) -> str | None:
        return "I will not take this\nand I say so on two lines"


@dataclass(frozen=True)
class RefusesEverything(Honest):
    def refuses(self, problem: Problem) -> str | None:
        return "I take nothing."


@dataclass(frozen=True)
class IgnoresInterrupts(Honest):
    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        for _ in range(100):
            with suppress(KeyboardInterrupt):
                oracle(oracle.problem.space.sample(rng))
        return oracle.result()


@dataclass(frozen=True)
class Nameless(Honest):
    name: ClassVar[str] = ""


@pytest.mark.parametrize(
    ("liar", "sentence"),
    [
        (ClaimsOptimality(), r"is called optimal, but .* is possible\.$"),
        (ClaimsABound(), r"a bound of .* is claimed, but .* is possible\.$"),
        (ClaimsInfeasibility(), r"the best decision shown to the oracle"),
        (GivesUpWithAProof(), r"called infeasible, but there is a decision with"),
        (AsksBehindTheOracle(), r"the problem was asked 200 times, 0 of them through the oracle\.$"),
        (AsksBehindTheOracleAndShowsTheBest(), r"the problem was asked 20[01] times, 0 of them"),
        (CountsTooFew(), r"the result counts 0 evaluations, the oracle"),
        (HidesItsBest(), r"the best decision shown to the oracle"),
        (SwallowsTheEndOfTheBudget(), r"evaluations were spent\.$"),
        (SeedsPython(), r"Python's global random state was touched\.$"),
        (SeedsNumpy(), r"numpy's global random state was touched\.$"),
        (HasItsOwnDice(), r"the same seed gave two answers"),
        (CallsItselfDeterministic(), r"says it is deterministic, but seeds matter"),
        (ChangesTheProblem(), r"the problem was changed\.$"),
        (CannotTravel(), r"the result cannot be pickled"),
        (HoldsAFunction(), r"cannot be pickled, so it cannot run in another process"),
        (RefusesAtLength(), r"a refusal is one line that ends with a period\.$"),
        (RefusesEverything(), r"took none of the problems; give some that it takes\.$"),
        (IgnoresInterrupts(), r"it went on asking"),
        (Nameless(), r"needs a class variable 'name'\.$"),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, Honest) else "",
)
def test_a_liar_is_found_out_in_one_sentence(liar: Strategy, sentence: str) -> None:
    problems = [Separable(), Knapsack(), Ring(), Hopeless()]
    with pytest.raises(AssertionError, match=sentence) as found:
        check_strategy(liar, problems)
    assert "\n" not in str(found.value)


def test_problems_are_left_as_they_were_after_the_check() -> None:
    evaluate = Separable.evaluate
    check_strategy(Honest(), [Separable(), Wide()])
    assert Separable.evaluate is evaluate
    assert "evaluate" not in vars(Wide)  # it is inherited, and still is
