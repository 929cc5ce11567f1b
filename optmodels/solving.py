"""One problem, one strategy, one answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

from heuristics import Budget, Describing, Problem, Progress, Result, Status, Strategy, parameters, run

from . import __version__
from .errors import RequestError, short
from .instance import load
from .protocols import has_objective, kind_of
from .registry import make_strategy

#: A problem, or the file it is in.
ProblemLike: TypeAlias = Problem | str | os.PathLike[str]

#: Libraries whose version can change an answer: module to distribution.
LIBRARIES = {
    "deap": "deap",
    "highspy": "highspy",
    "networkx": "networkx",
    "numba": "numba",
    "numpy": "numpy",
    "ortools": "ortools",
    "pyomo": "pyomo",
    "pyscipopt": "pyscipopt",
    "scipy": "scipy",
}


def solve(
    problem: ProblemLike,
    strategy: str | Strategy,
    *,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Let a strategy look for the best decision of a problem.

    Parameters
    ----------
    problem
        A problem, or the path of an instance file.
    strategy
        A strategy, or its name with parameters: ``"genetic:population=100,mutation=0.1"``.
    budget
        Limits of the run; or give `seconds` and `evaluations` instead.
    seconds
        Time limit; what is imported and compiled does not count.
    evaluations
        Most decisions that may be evaluated.
    seed
        Same problem, strategy, seed and evaluations: same answer.
    progress
        Called now and then with how things stand.

    Returns
    -------
    Result
        Checked by the problem's own evaluator; ``decision`` is ``None`` if nothing feasible was found.

    Raises
    ------
    RequestError
        If the problem, the strategy or the budget cannot be understood, or there is no cost to minimise.
    UnsupportedProblem
        If the strategy needs something that the problem does not offer.

    Examples
    --------
    >>> from optmodels import solve
    >>> best = solve("instances/placement/gautam-2x3.json", "exhaustive")
    >>> print(best.status, best.decision, best.objective)
    optimal (0, 0, 1, 1, 1, 0) 8.0
    """
    chosen = make_strategy(strategy)
    limits = make_budget(budget, seconds, evaluations)
    seed = check_seed(seed)
    asked = as_problem(problem)
    if not has_objective(asked):
        raise RequestError(
            f'{asked.name!r} has no cost to minimise; add a "cost" to the instance, or only evaluate it.'
        )
    result = run(asked, chosen, limits, seed, progress=progress)
    return replace(result, kind=kind_of(asked), versions=versions(chosen))


def interrupted(problem: Problem, strategy: Strategy, seed: int) -> Result:
    """The result of a run that was ended before there was anything to tell."""
    return Result(
        problem=problem.name,
        status=Status.UNKNOWN,
        decision=None,
        evaluation=None,
        stopped_by="interrupt",
        strategy=strategy.name,
        parameters=parameters(strategy),
        seed=seed,
        kind=kind_of(problem),
        versions=versions(strategy),
    )


def evaluate(problem: ProblemLike, decision: Any) -> Result:
    """Evaluate one decision.

    Parameters
    ----------
    problem
        A problem, or the path of an instance file.
    decision
        A sequence of numbers, or whatever the kind takes.

    Returns
    -------
    Result
        Without strategy; status ``feasible``, or ``unknown`` if the decision breaks a constraint (its violations say
        which). Objective ``nan`` where the problem has no cost.

    Raises
    ------
    RequestError
        If the problem cannot be understood, or the decision is none of its space.

    Examples
    --------
    >>> from optmodels import evaluate
    >>> print(evaluate("instances/placement/gautam-2x3.json", [0, 0, 1, 1, 1, 0]).objective)
    8.0
    """
    asked = as_problem(problem)
    try:
        checked = asked.space.check(tuple(decision) if isinstance(decision, list) else decision)
    except (ValueError, TypeError) as failure:
        raise RequestError(
            f"{short(decision)} is no decision of {asked.name!r}: {' '.join(str(failure).split())}"
        ) from None
    evaluation = asked.evaluate(checked)
    return Result(
        problem=asked.name,
        status=Status.FEASIBLE if evaluation.feasible else Status.UNKNOWN,
        decision=checked,
        evaluation=evaluation,
        evaluations=1,
        judged_in_full=1,
        extra=asked.describe(checked) if isinstance(asked, Describing) else {},
        checked=True,
        kind=kind_of(asked),
        versions=versions(),
    )


def as_problem(problem: ProblemLike) -> Problem:
    """The problem itself, read from its file if a path is given."""
    if isinstance(problem, (str, os.PathLike)):
        return load(problem)
    if not isinstance(problem, Problem):
        raise RequestError(
            f"a problem has a name, a space and a method 'evaluate', or is the path of a file; got {problem!r}."
        )
    return problem


def make_budget(budget: Budget | None = None, seconds: float | None = None, evaluations: int | None = None) -> Budget:
    """One budget from either way of giving it."""
    if budget is not None and (seconds is not None or evaluations is not None):
        raise RequestError("give a budget, or seconds and evaluations, not both.")
    try:
        return budget or Budget(seconds=seconds, evaluations=evaluations)
    except ValueError as failure:
        raise RequestError(str(failure)) from None


def check_seed(seed: Any) -> int:
    """A seed as generators of random numbers take it."""
    try:
        whole = int(seed)
    except (TypeError, ValueError):
        whole = -1
    if isinstance(seed, bool) or whole != seed or whole < 0:
        raise RequestError(f"a seed is a whole number, zero or more, got {seed!r}.")
    return whole


def versions(strategy: Strategy | None = None) -> dict[str, str]:
    """Versions of optmodels and of the libraries in use; nothing is imported to find out.

    Parameters
    ----------
    strategy
        Its solver counts too, although it runs in a process of its own.
    """
    used = {module for module in LIBRARIES if module in sys.modules}
    mip, solver = sys.modules.get(f"{__package__}.mip.strategy"), getattr(strategy, "solver", None)
    if mip is not None and isinstance(solver, str) and solver in mip.SOLVERS:
        used.add(mip.SOLVERS[solver].package)
    return {"optmodels": __version__} | {module: _version(LIBRARIES.get(module, module)) for module in sorted(used)}


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
