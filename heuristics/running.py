"""One run: problem, strategy, budget and seed in, result out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from . import clock, interrupting
from .oracle import BudgetSpent, Disagreement, Oracle, Progress
from .protocols import Decision, Evaluation, Explaining, Problem, Strategy
from .result import Budget, Result, agree


class UnsupportedProblem(TypeError):  # noqa: N818 - reads as a sentence in the traceback
    """The strategy cannot take this problem; the message says what is missing.

    Examples
    --------
    >>> from heuristics import Exhaustive
    >>> from heuristics.testing import Wide
    >>> run(Wide(), Exhaustive())
    Traceback (most recent call last):
    heuristics.running.UnsupportedProblem: strategy 'exhaustive' ...
    """


def run(
    problem: Problem,
    strategy: Strategy,
    budget: Budget | None = None,
    seed: int = 0,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Let `strategy` work on `problem` within `budget`.

    Ctrl-C ends the run like a spent budget: the result is closed on the best decision so far. The decision is evaluated
    once more, outside the run's memory, before the result is returned.

    Parameters
    ----------
    problem
        What is asked; see `Problem`.
    strategy
        Who answers; see `Strategy`.
    budget
        When to stop; without one the strategy ends by itself.
    seed
        Of the random numbers that the strategy draws: the same seed gives the same answer.
    progress
        Called now and then with a `Progress`.

    Returns
    -------
    Result
        The best decision shown to the oracle, what is proved about it, and what it took.

    Raises
    ------
    UnsupportedProblem
        If the problem lacks what the strategy needs.
    Disagreement
        If the evaluator does not confirm the answer.

    Examples
    --------
    >>> from heuristics import LocalSearch
    >>> from heuristics.testing import Knapsack
    >>> result = run(Knapsack(), LocalSearch(), Budget(evaluations=500), seed=1)
    >>> result.status, result.stopped_by, result.checked
    (<Status.FEASIBLE: 'feasible'>, 'complete', True)
    """
    interrupting.begin()
    clock.watch()
    rng = np.random.default_rng(seed)
    oracle = Oracle(problem, budget, progress=progress)
    try:
        with oracle.in_time():  # how large a problem is may have to be found out first
            sentence = refusal(problem, strategy)
        if sentence:
            raise UnsupportedProblem(sentence)
        asked = oracle.seconds
        warm_up(problem)
        prepare = getattr(strategy, "prepare", None)
        if prepare is not None:
            prepare(problem)
        oracle.restart(asked)
        interrupting.check()
        with interrupting.deferred():
            result = _solved(oracle, strategy, rng)
    except (BudgetSpent, KeyboardInterrupt) as ended:
        result = oracle.result(stopped_by=word_of(ended))
    if result.stopped_by == "interrupt":  # one that came too late to matter is left for whoever looks next
        interrupting.answered()
    return replace(
        checked(problem, result),
        strategy=strategy.name,
        parameters=parameters(strategy),
        seed=seed,
    )


def warm_up(problem: Problem) -> None:
    """Let a problem that offers a method ``prepare`` import and compile; once for each class of problem.

    It works on small data of its own: nothing that belongs to the run may happen before the clock starts. What it
    leaves out is compiled when it is needed, and the clock stands still meanwhile (`heuristics.clock`).

    Parameters
    ----------
    problem
        Any problem; nothing happens if it has no such method.

    Examples
    --------
    >>> class Prepared:
    ...     def prepare(self):
    ...         print("compiled")
    >>> warm_up(Prepared())
    compiled
    >>> warm_up(Prepared())
    """
    prepare = getattr(problem, "prepare", None)
    if prepare is not None and type(problem) not in _WARM:
        prepare()
        _WARM.add(type(problem))


_WARM: set[type] = set()


def _solved(oracle: Oracle[Any], strategy: Strategy, rng: np.random.Generator) -> Result:
    """What the strategy answers, or the problem's own word that there is no answer."""
    problem = oracle.problem
    with oracle.in_time():
        reason = problem.infeasibility() if isinstance(problem, Explaining) else None
    if reason is not None:
        return oracle.result(proved=True, extra={"reason": reason})
    try:
        return strategy.solve(oracle, rng)
    except SystemError as error:
        # A Ctrl-C that lands in compiled code comes out as an obscure error, its cause beside it.
        if isinstance(error.__cause__, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def refusal(problem: Problem, strategy: Strategy) -> str | None:
    """Say in one sentence why `strategy` cannot take `problem`.

    Parameters
    ----------
    problem
        What would be asked.
    strategy
        Who would answer. Its `needs` are looked for, its claims on costs and limits, and its own method ``refuses``.

    Returns
    -------
    str or None
        The sentence; ``None`` if the strategy takes the problem.

    Examples
    --------
    >>> from heuristics import Exhaustive
    >>> from heuristics.testing import Continuous, Knapsack
    >>> refusal(Knapsack(), Exhaustive()) is None
    True
    >>> refusal(Continuous(), Exhaustive()).startswith("strategy 'exhaustive'")
    True
    """
    # Asked of the class first: what a property computes may take long, and no clock is running yet.
    lacking = sorted(
        name for name in members(strategy.needs) if not (hasattr(type(problem), name) or hasattr(problem, name))
    )
    if lacking:
        needs = strategy.needs
        return (
            f"strategy {strategy.name!r} does not apply to {getattr(problem, 'name', type(problem).__name__)!r}: "
            f"it needs {_told(needs)}, and this one has no {', '.join(lacking)} "
            f"(see {needs.__module__}.{needs.__qualname__})."
        )
    if getattr(strategy, "linear_cost_only", False) and not getattr(problem, "linear_cost", True):
        return nonlinear_cost(strategy, problem)
    if not getattr(strategy, "takes_limits", True) and getattr(problem, "limits", None):
        return f"strategy {strategy.name!r} does not handle limits on measures, and {problem.name!r} has some."
    refuses: Callable[[Problem], str | None] | None = getattr(strategy, "refuses", None)
    return refuses(problem) if refuses else None


def nonlinear_cost(strategy: Strategy, problem: Problem) -> str:
    """Say that a strategy takes linear costs only; and where a number beside a weighted sum is all that is in the way.

    Parameters
    ----------
    strategy
        Who refuses.
    problem
        Its cost is not linear.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> from heuristics import Exhaustive
    >>> from heuristics.testing import Knapsack
    >>> nonlinear_cost(Exhaustive(), Knapsack()).endswith("linear in the measures, and the cost of 'knapsack' is not.")
    True
    """
    cost = getattr(problem, "cost", None)
    offset = getattr(cost, "offset", 0.0) if getattr(cost, "weights", None) else 0.0
    told = f": leave out what it adds to a weighted sum, {offset:g}, which changes no decision" if offset else ""
    return (
        f"strategy {strategy.name!r} needs a cost that is linear in the measures, and the cost of "
        f"{problem.name!r} is not{told}."
    )


def _told(protocol: type) -> str:
    """What a protocol stands for, as its docstring begins: "A problem whose ..."."""
    first = (protocol.__doc__ or "").strip().partition("\n")[0].partition(";")[0].rstrip(".")
    return f"a{first[1:]}" if first.startswith("A problem ") else "another kind of problem"


def members(protocol: type) -> set[str]:
    """Names a protocol asks for (``typing.get_protocol_members`` arrives with Python 3.13)."""
    names: set[str] = set()
    for base in protocol.__mro__:
        if getattr(base, "_is_protocol", False):
            names.update(vars(base), vars(base).get("__annotations__", ()))
    return {name for name in names if not name.startswith("_")}


def parameters(strategy: Strategy) -> dict[str, Any]:
    """Return the parameters of a strategy: its fields and their values.

    Parameters
    ----------
    strategy
        A dataclass; what is none has no parameters.

    Returns
    -------
    dict
        Values by name.

    Examples
    --------
    >>> from heuristics.routing import Balanced
    >>> parameters(Balanced(max_period=12))
    {'max_period': 12}
    """
    anything: Any = strategy
    return {field.name: getattr(strategy, field.name) for field in fields(anything)} if is_dataclass(anything) else {}


def checked(problem: Problem, result: Result) -> Result:
    """Recompute the answer by the problem's own evaluator; a mismatch is an error, not an answer."""
    if result.decision is None or result.evaluation is None:
        return replace(result, checked=True)
    again = problem.evaluate(problem.space.check(result.decision))
    if not again.feasible or not agree(again.objective, result.evaluation.objective):
        raise Disagreement(
            f"{problem.name}: recomputing the answer gives objective {again.objective!r} (feasible: {again.feasible}), "
            f"the run recorded {result.evaluation.objective!r}."
        )
    return replace(result, checked=True)


# -- for strategies ---------------------------------------------------------------------------------------------------


def require_fields(strategy: Any, **rules: tuple[bool, str]) -> None:
    """Raise one sentence for the first parameter whose rule does not hold.

    Parameters
    ----------
    strategy
        Anything with attributes.
    **rules
        For each parameter whether its rule holds, and the rule in words, to follow "must be".

    Raises
    ------
    ValueError
        For the first parameter whose rule does not hold.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> tempered = SimpleNamespace(steps=0)
    >>> require_fields(tempered, steps=(tempered.steps >= 1, "1 or more"))
    Traceback (most recent call last):
    ValueError: steps must be 1 or more, got 0.
    """
    for name, (holds, rule) in rules.items():
        if not holds:
            raise ValueError(f"{name} must be {rule}, got {getattr(strategy, name)!r}.")


def explain_refusal(strategy: str, problem: Problem, reason: str | None) -> str | None:
    """Say which strategy cannot take which problem, and for what reason; ``None`` where there is none.

    Parameters
    ----------
    strategy
        The name of the strategy.
    problem
        The problem that was offered.
    reason
        A clause that ends with a period, or ``None``.

    Returns
    -------
    str or None
        One sentence.
    """
    return None if reason is None else f"strategy {strategy!r} cannot take {problem.name!r}: {reason}"


def word_of(ended: BudgetSpent | KeyboardInterrupt) -> str:
    """Say in one word what ended a run; an interrupt is answered by that, so that the last word may take its time.

    Parameters
    ----------
    ended
        What was raised.

    Returns
    -------
    str
        For `Result.stopped_by`.

    Examples
    --------
    >>> word_of(BudgetSpent("seconds")), word_of(KeyboardInterrupt())
    ('seconds', 'interrupt')
    """
    if isinstance(ended, BudgetSpent):
        return ended.limit
    interrupting.answered()
    return "interrupt"


def last_word(oracle: Oracle[Any], decision: Decision) -> Evaluation:
    """Evaluate a decision that was found with much work, free of charge if the clock has run out in the meantime.

    Parameters
    ----------
    oracle
        Of the run.
    decision
        The one to show.

    Returns
    -------
    Evaluation
        What the problem says about it.

    Raises
    ------
    BudgetSpent
        If something else than the time is spent.

    Examples
    --------
    >>> from heuristics.testing import Separable
    >>> last_word(Oracle(Separable((1, 0, 1))), (1, 0, 0)).objective
    4.0
    """
    try:
        return oracle(decision)
    except BudgetSpent as spent:
        if spent.limit != "seconds":
            raise
        return oracle.confirm(decision)
