"""A check that a strategy keeps the contract: for our own tests and for third parties.

>>> from heuristics.search import Exhaustive
>>> from heuristics.testing import check_strategy
>>> check_strategy(Exhaustive())
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, cast
from unittest.mock import patch

import numpy as np

from ..oracle import Oracle
from ..protocols import Incremental, Problem, Strategy
from ..result import AGREEMENT, Budget, Result, Status, agree
from ..running import UnsupportedProblem, refusal, run
from .toys import toy_problems

#: Spaces up to this size are enumerated to know the truth.
ENUMERABLE = 20_000


def check_strategy(
    strategy: Strategy,
    problems: Sequence[Problem] | None = None,
    *,
    evaluations: Sequence[int] = (1, 3, 50),
    seeds: Sequence[int] = (0, 1),
) -> None:
    """Run a strategy on small problems and see that it keeps the contract.

    What is checked: problems are refused in one sentence or taken; the same seed gives the same answer; the budget of
    evaluations is kept, counted at the problem itself; the result is closed on what was shown to the oracle; bounds,
    "optimal" and "infeasible" are true, compared with enumeration; an interrupt ends the run without an error; results
    can be pickled; neither the problem nor the global generators of random numbers are touched.

    Parameters
    ----------
    strategy
        To be checked.
    problems
        To run it on; by default the toy problems of :mod:`heuristics.testing.toys`. At least one must be accepted.
    evaluations, seeds
        Budgets and seeds to run with.

    Raises
    ------
    AssertionError
        One sentence that says what is wrong, with problem, budget and seed.
    """
    _check_shape(strategy)
    accepted = 0
    for problem in toy_problems() if problems is None else problems:
        sentence = refusal(problem, strategy)
        if sentence is not None:
            _check_refusal(strategy, problem, sentence)
            continue
        accepted += 1
        truth = enumerated(problem)
        for budget in evaluations:
            answers: list[tuple[Any, ...]] = []
            for seed in seeds:
                where = f"{strategy.name} on {problem.name} with {budget} evaluations and seed {seed}"
                first, second = (_check_run(strategy, problem, budget, seed, truth, where) for _ in range(2))
                _demand(first == second, f"{where}: the same seed gave two answers, {first} and {second}.")
                answers.append(first)
            told = f"{strategy.name} says it is deterministic, but seeds matter on {problem.name}."
            alike = all(answer == answers[0] for answer in answers)
            _demand(alike or not getattr(strategy, "deterministic", False), told)
        _check_interrupt(strategy, problem, seeds[0], truth)
    _demand(accepted > 0, f"{strategy.name} took none of the problems; give some that it takes.")


@dataclass(frozen=True)
class Truth:
    """What enumeration says about a problem.

    Attributes
    ----------
    known
        Whether the space is small enough to be enumerated.
    optimum
        The lowest objective of a feasible decision, ``None`` if there is none.
    """

    known: bool
    optimum: float | None = None


def enumerated(problem: Problem) -> Truth:
    """Look at every decision of a small space.

    Parameters
    ----------
    problem
        With a space of any size; up to `ENUMERABLE` decisions are looked at.

    Returns
    -------
    Truth
        The lowest objective, if it is known.
    """
    if not problem.space.size <= ENUMERABLE:
        return Truth(known=False)
    judged = (problem.evaluate(decision) for decision in problem.space)
    return Truth(True, min((evaluation.objective for evaluation in judged if evaluation.feasible), default=None))


class _Watched:
    """A strategy seen from outside: what it asks of the problem is counted while it solves."""

    def __init__(self, strategy: Strategy, interrupt_at: int | None) -> None:
        self.strategy, self.interrupt_at = strategy, interrupt_at
        self.calls = self.calls_after_interrupt = 0
        self.active = self.interrupted = False
        self.oracle: Oracle[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.strategy, name)

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Solve under watch."""
        self.active, self.oracle = True, oracle
        try:
            return self.strategy.solve(oracle, rng)
        finally:
            self.active = False

    def counted(self, original: Callable[[Any, Any], Any], size: Callable[[Any], int]) -> Callable[[Any, Any], Any]:
        """Make a method of a problem count what is asked, and interrupt if it is time to."""

        @wraps(original)
        def counting(problem: Any, asked: Any) -> Any:
            if not self.active:
                return original(problem, asked)
            self.calls += size(asked)
            if self.interrupted:
                self.calls_after_interrupt += size(asked)
            elif self.interrupt_at is not None and self.calls >= self.interrupt_at:
                self.interrupted = True
                raise KeyboardInterrupt
            self.active = False  # evaluate_many may call evaluate
            try:
                return original(problem, asked)
            finally:
                self.active = True

        return counting


def _watched_run(
    strategy: Strategy, problem: Problem, budget: Budget, seed: int, interrupt_at: int | None = None
) -> tuple[Result, _Watched]:
    """Run a strategy under watch; all problems of the class of this one are watched meanwhile."""
    watched, kind = _Watched(strategy, interrupt_at), type(problem)
    with ExitStack() as patches:
        for method, size in (("evaluate", lambda _: 1), ("evaluate_many", len)):
            if hasattr(kind, method):
                patches.enter_context(patch.object(kind, method, watched.counted(getattr(kind, method), size)))
        return run(problem, cast(Strategy, watched), budget, seed), watched


def _check_shape(strategy: Strategy) -> None:
    """See that a strategy has a name, needs and a method, and can be sent to another process."""
    name = getattr(strategy, "name", None)
    _demand(isinstance(name, str) and bool(name), f"{type(strategy).__name__} needs a class variable 'name'.")
    _demand(isinstance(getattr(strategy, "needs", None), type), f"{name} needs a class variable 'needs': a protocol.")
    _demand(callable(getattr(strategy, "solve", None)), f"{name} needs a method 'solve'.")
    try:
        again = pickle.loads(pickle.dumps(strategy))
    except Exception as error:
        raise AssertionError(f"{name} cannot be pickled, so it cannot run in another process ({error}).") from error
    if is_dataclass(strategy):
        _demand(again == strategy, f"{name} is not the same after pickling.")


def _check_refusal(strategy: Strategy, problem: Problem, sentence: Any) -> None:
    """See that a refusal is one sentence, and that it is meant."""
    where = f"{strategy.name} refuses {problem.name}"
    _demand(isinstance(sentence, str), f"{where} with {sentence!r}, not with a sentence.")
    _demand(
        sentence.endswith(".") and "\n" not in sentence and len(sentence) > 1,
        f"{where} with {sentence!r}; a refusal is one line that ends with a period.",
    )
    try:
        run(problem, strategy, Budget(evaluations=1))
    except UnsupportedProblem as error:
        _demand(str(error) == sentence, f"{where} in two different ways.")
    else:
        raise AssertionError(f"{where}, but runs on it.")


def _check_run(
    strategy: Strategy, problem: Problem, budget: int, seed: int, truth: Truth, where: str
) -> tuple[Any, ...]:
    """Run once, see that nothing but the result has changed, and return what a second run must repeat."""
    python_state, numpy_state = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    before = _visible(problem)
    result, watch = _watched_run(strategy, problem, Budget(evaluations=budget), seed)
    _demand(random.getstate() == python_state, f"{where}: Python's global random state was touched.")
    _demand(
        pickle.dumps(np.random.get_state()) == numpy_state,  # noqa: NPY002
        f"{where}: numpy's global random state was touched.",
    )
    _demand(_visible(problem) == before, f"{where}: the problem was changed.")
    _check_spending(problem, result, watch, budget, where)
    _check_claims(problem, result, truth, where)
    try:
        again = pickle.loads(pickle.dumps(result))
    except Exception as error:
        raise AssertionError(f"{where}: the result cannot be pickled ({error}).") from error
    _demand(
        again.decision == result.decision and again.status == result.status, f"{where}: pickling changes the result."
    )
    return result.decision, result.objective, result.status, result.bound, result.evaluations


def _check_spending(problem: Problem, result: Result, watch: _Watched, budget: int, where: str) -> None:
    """See that no more was asked than was paid for, and that the result is closed on the best decision shown."""
    oracle = watch.oracle
    assert oracle is not None
    _demand(result.evaluations <= budget, f"{where}: {result.evaluations} evaluations were spent.")
    # Every incumbent of a walk is evaluated in full, free of charge; all else is paid for, except for the last word and
    # what a strategy says it evaluates of itself (`beside`), while it writes a program or a solver finds points.
    free = (budget if isinstance(problem, Incremental) else 0) + int(getattr(watch.strategy, "beside", 0))
    _demand(
        watch.calls <= oracle.evaluations + free + 1,
        f"{where}: the problem was asked {watch.calls} times, {oracle.evaluations} of them through the oracle.",
    )
    _demand(
        result.evaluations == oracle.evaluations,
        f"{where}: the result counts {result.evaluations} evaluations, the oracle {oracle.evaluations}.",
    )
    shown = None if oracle.best is None else oracle.best.evaluation.objective
    _demand(
        result.objective == shown,
        f"{where}: the result has objective {result.objective}, the best decision shown to the oracle {shown}.",
    )


def _check_claims(problem: Problem, result: Result, truth: Truth, where: str) -> None:
    """See that status, objective and bound are true."""
    answered = result.status in (Status.OPTIMAL, Status.FEASIBLE)
    _demand(
        answered == (result.decision is not None) == (result.evaluation is not None),
        f"{where}: status {result.status} does not go with decision {result.decision!r}.",
    )
    if result.decision is not None:
        judged = problem.evaluate(problem.space.check(result.decision))
        _demand(judged.feasible, f"{where}: the decision {result.decision!r} is not feasible.")
        _demand(
            result.objective is not None and agree(judged.objective, result.objective),
            f"{where}: objective {result.objective} is reported where the evaluator finds {judged.objective}.",
        )
    objectives = [point.objective for point in result.trace if point.objective is not None]
    _demand(objectives == sorted(objectives, reverse=True), f"{where}: the trace gets worse on the way.")
    if not truth.known:
        return
    if result.status == Status.INFEASIBLE:
        _demand(truth.optimum is None, f"{where}: called infeasible, but there is a decision with {truth.optimum}.")
    if truth.optimum is None:
        _demand(result.decision is None, f"{where}: a decision was found where none is feasible.")
        return
    slack = AGREEMENT * abs(truth.optimum)
    if result.status == Status.OPTIMAL:
        _demand(
            result.objective is not None and result.objective <= truth.optimum + slack,
            f"{where}: {result.objective} is called optimal, but {truth.optimum} is possible.",
        )
    if result.bound is not None:
        _demand(
            result.bound <= truth.optimum + slack,
            f"{where}: a bound of {result.bound} is claimed, but {truth.optimum} is possible.",
        )


def _check_interrupt(strategy: Strategy, problem: Problem, seed: int, truth: Truth) -> None:
    """See that an interrupt ends a run without an error, and with a result that is true."""
    where = f"{strategy.name} on {problem.name}, interrupted"
    state = random.getstate()
    try:
        result, watch = _watched_run(strategy, problem, Budget(evaluations=50), seed, interrupt_at=5)
    except KeyboardInterrupt:
        raise AssertionError(f"{where}: the interrupt came through.") from None
    _demand(
        watch.calls_after_interrupt <= 1,  # a last word is free
        f"{where}: it went on asking ({watch.calls_after_interrupt} more evaluations).",
    )
    _demand(random.getstate() == state, f"{where}: Python's global random state was not put back.")
    _check_claims(problem, result, truth, where)


def _visible(problem: Problem) -> Mapping[str, Any]:
    """Collect the plain data of a problem, numbers, texts, lists and arrays; what is memoised may come later."""
    anything: Any = problem
    names = [f.name for f in fields(anything)] if is_dataclass(anything) else list(vars(anything))
    seen: dict[str, Any] = {}
    for name in names:
        value = getattr(anything, name)
        if isinstance(value, np.ndarray):
            seen[name] = value.tobytes()
        elif isinstance(value, (int, float, str, bytes, tuple, list, dict, set, frozenset, type(None))):
            seen[name] = repr(value)
    return seen


def _demand(holds: bool, sentence: str) -> None:
    """Raise a sentence unless something holds."""
    if not holds:
        raise AssertionError(sentence)
