"""One problem, one strategy, one answer.

A problem may be given in four ways, here and in every study: as a problem, as an `Instance`, by the path of its file,
or by the name of a shipped instance. `as_problem` and `as_instance` make of each what is needed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias

import heuristics
from heuristics import Budget, Describing, Problem, Progress, Status, Strategy, parameters, run

from . import __version__
from .data import check_options
from .errors import RequestError, short
from .instance import Instance, load, read
from .protocols import Stored, has_objective, kind_of, origin_of, remember
from .registry import kinds, make_strategy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: A problem, its instance, the path of its file, or the name of a shipped instance.
ProblemLike: TypeAlias = Problem | Instance | str | os.PathLike[str]

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


@dataclass(frozen=True, repr=False)
class Result(heuristics.Result):
    """The answer of one run, or what is told of one decision, with the problem that it answers.

    Two results are equal if they say the same, one that `heuristics.run` returned included; the problem is not
    compared, not written to files, and not sent along when a result is pickled.

    Parameters
    ----------
    problem, kind, strategy, parameters, seed, versions
        Who answered what, enough to run it again.
    status, decision, evaluation, bound, stopped_by, checked, trace, extra
        What was found, and what is proved about it: see `heuristics.Result`.
    evaluations, judged_in_full, seconds
        What it took.
    best_known
        Objective that the instance of the problem calls best known; ``None`` where there is none.
    asked
        The problem itself; ``None`` in a result that was read from a file, until `of` tells it.

    Examples
    --------
    >>> from optmodels import solve
    >>> best = solve("gautam-2x3", "exhaustive")
    >>> best.measures["opening"], best.gap_to_best_known
    (8.0, 0.0)
    >>> best.asked.space.size
    64
    """

    best_known: float | None = field(default=None, compare=False)
    asked: Problem | None = field(default=None, compare=False)

    @property
    def gap_to_best_known(self) -> float | None:
        """Relative distance of the objective above the best known one; ``None`` without one, or without a decision."""
        return None if self.best_known is None else self.gap(self.best_known)

    def of(self, problem: ProblemLike) -> Result:
        """Tell a result, such as one that was read from a file, which problem it answers.

        Parameters
        ----------
        problem
            A problem, its instance, the path of its file, or the name of a shipped instance.

        Returns
        -------
        Result
            The same answer, which can now be drawn and compared with the best known.

        Raises
        ------
        RequestError
            If it is an answer to another problem.
        """
        asked = as_problem(problem)
        if asked.name != self.problem:
            raise RequestError(f"this is an answer to {self.problem!r}, not to {asked.name!r}.")
        return replace(self, asked=asked, best_known=_best_known(asked))

    def to_frame(self) -> DataFrame:
        """A table of one row, as pandas has it; columns as in `optmodels.Comparison.to_frame`."""
        from .notebook import frame, run_row

        return frame([run_row(self)])

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the problem with this answer, on a figure of its own unless axes are given."""
        from .plotting import plot

        return plot(self.known_problem(), self, ax=ax)

    def known_problem(self) -> Problem:
        """The problem, or a sentence that it is not known."""
        if self.asked is None:
            raise RequestError(
                f"this result does not hold its problem, {self.problem!r}; tell it: result.of(problem), with a path, "
                "the name of a shipped instance, an Instance or a Problem."
            )
        return self.asked

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, heuristics.Result):
            return NotImplemented
        names = [one.name for one in fields(heuristics.Result)]
        return tuple(getattr(self, name) for name in names) == tuple(getattr(other, name) for name in names)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"asked": None}

    def _repr_html_(self) -> str:
        from .notebook import result_html

        return result_html(self)


def solve(
    problem: ProblemLike,
    strategy: str | Strategy = "auto",
    *,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    progress: bool | Callable[[Progress], None] | None = None,
) -> Result:
    """Let a strategy look for the best decision of a problem.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
    strategy
        A strategy, or its name with parameters: ``"genetic:population=100,mutation=0.1"``; ``"auto"`` lets the kind
        choose.
    budget
        Limits of the run; or give `seconds` and `evaluations` instead.
    seconds
        Time limit; what is imported and compiled does not count.
    evaluations
        Most decisions that may be evaluated.
    seed
        Same problem, strategy, seed and evaluations: same answer.
    progress
        Called now and then with how things stand; ``True`` tells it in a line on stderr, and draws it in a notebook.

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
    with _following(progress, f"{asked.name} by {chosen.name}") as follow:
        result = run(asked, chosen, limits, seed, progress=follow)
    return _answer(asked, vars(result) | {"versions": versions(chosen)})


def interrupted(problem: Problem, strategy: Strategy, seed: int) -> Result:
    """The result of a run that was ended before there was anything to tell."""
    told = {"strategy": strategy.name, "parameters": parameters(strategy), "seed": seed}
    return nothing_found(problem, told | {"stopped_by": "interrupt", "versions": versions(strategy)})


def nothing_found(problem: Problem, told: Mapping[str, Any]) -> Result:
    """The result of a run that ended without a decision and without a proof."""
    return _answer(problem, {"status": Status.UNKNOWN, "decision": None, "evaluation": None, **told})


def _answer(problem: Problem, told: Mapping[str, Any]) -> Result:
    """A result that knows its problem."""
    own = {"problem": problem.name, "kind": kind_of(problem), "asked": problem, "best_known": _best_known(problem)}
    return Result(**{**told, **own})


def _best_known(problem: Problem) -> float | None:
    best = origin_of(problem).best_known
    return None if best is None else best.objective


def _following(
    progress: bool | Callable[[Progress], None] | None, label: str
) -> contextlib.AbstractContextManager[Callable[[Progress], None] | None]:
    """Who is told how a run stands: nobody, a function that was given, or whoever looks at the screen."""
    if not isinstance(progress, bool):
        return contextlib.nullcontext(progress)
    if not progress:
        return contextlib.nullcontext()
    from .notebook import follow_run

    return follow_run(label)


def evaluate(problem: ProblemLike, decision: Any) -> Result:
    """Evaluate one decision.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
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
    told = {
        "status": Status.FEASIBLE if evaluation.feasible else Status.UNKNOWN,
        "decision": checked,
        "evaluation": evaluation,
        "evaluations": 1,
        "judged_in_full": 1,
        "extra": asked.describe(checked) if isinstance(asked, Describing) else {},
        "checked": True,
        "versions": versions(),
    }
    return _answer(asked, told)


def visits(
    problem: ProblemLike | Result,
    result: heuristics.Result | str | os.PathLike[str] | Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    slots: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Mapping[str, Any]:
    """Tell what is visited when, if an answer is followed.

    Parameters
    ----------
    problem
        A problem of a kind that makes visits, its instance, the path of its file, or the name of a shipped instance; or
        a result of `solve`, which knows its problem.
    result
        The answer to follow: a result, the path of one, or a decision.
    out
        File to write, ``.csv`` or ``.parquet``, instead of keeping the table in memory.
    slots
        How many visits of each robot; by default the longest cycle.
    seed
        Of draws, where the decision asks for them.
    **options
        More that the kind takes.

    Returns
    -------
    mapping
        Columns by name, which ``pandas.DataFrame`` takes as they are: for kind "freshness" ``page``, ``url`` and
        ``host`` where they are known, ``robot``, ``slot``, ``next_visit``. Of a file its name, rows and checksum.

    Raises
    ------
    RequestError
        If the kind makes no visits, or there is no decision to follow.

    Examples
    --------
    >>> from optmodels import solve, visits
    >>> table = visits(solve("coffman-4", "lagrangian"), slots=6)
    >>> list(table), len(table["page"])
    (['page', 'robot', 'slot', 'next_visit'], 6)
    """
    if isinstance(problem, Result):
        problem, result = problem.known_problem(), problem if result is None else result
    asked = as_problem(problem)
    kind = kinds.of(asked)
    function = None if kind is None else kinds.part(kind.name, "visits")
    if kind is None or function is None:
        known, name = ", ".join(kinds.having("visits")), kind_of(asked) or type(asked).__name__
        raise RequestError(f"visits are made in problems of kind {known}, and {asked.name!r} is of kind {name!r}.")
    if isinstance(result, (str, os.PathLike)):
        from .results import read_result

        result = read_result(result)
    if isinstance(result, heuristics.Result):
        if result.problem != asked.name:
            raise RequestError(f"this is an answer to {result.problem!r}, not to {asked.name!r}.")
        result = result.decision
    if result is None:
        raise RequestError(f"there is no decision of {asked.name!r} to follow; solve it first: visits(solve(problem)).")
    check_options(function, options, f"visits of kind {kind.name!r}")
    with kinds.blame(kind.name, "visits"):
        table: Mapping[str, Any] = function(asked, result, out=out, slots=slots, seed=seed, **options)
    return table


# -- what was given ---------------------------------------------------------------------------------------------------


#: What every verb makes of a problem, in whichever of the four ways it was given.
as_problem = load


def as_instance(problem: ProblemLike) -> Instance:
    """The problem in the form of a file, with its best known decision, in whichever of the four ways it was given."""
    if isinstance(problem, Instance):
        return problem
    if isinstance(problem, (str, os.PathLike)):
        return read(problem)
    asked, origin = as_problem(problem), origin_of(problem)
    if not isinstance(asked, Stored) or asked.kind not in kinds:
        raise RequestError(
            f"{asked.name!r} cannot be written as an instance: it has no 'kind' with a name here, 'to_data' and "
            "'from_data'; give a problem of a kind that `optmodels list` names."
        )
    best = None if origin.best_known is None else origin.best_known.model_dump()
    instance = Instance.from_problem(asked, best_known=best)
    remember(instance, origin)
    return instance


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
