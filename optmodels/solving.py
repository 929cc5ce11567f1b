"""One problem, one strategy, one answer.

A problem may be given in four ways, here and in every study: as a problem, as an `Instance`, by the path of its file,
or by the name of a shipped instance. `as_problem` and `as_instance` make of each what is needed. Where no strategy is
named, `Auto` asks the kind which one fits.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

import heuristics
from heuristics import (
    Budget,
    BudgetSpent,
    Describing,
    Oracle,
    Problem,
    Progress,
    Status,
    Strategy,
    UnsupportedProblem,
    parameters,
    refusal,
    run,
)

from . import __version__
from .data import as_whole, refuse_masked
from .errors import RequestError, short
from .instance import Instance, load, read
from .protocols import Stored, followed, has_objective, kind_of, origin_of, remember
from .registry import AUTO, BUILT_IN, kinds, make_strategy, strategies

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: A problem, its instance, the path of its file, or the name of a shipped instance.
ProblemLike: TypeAlias = Problem | Instance | str | os.PathLike[str]

#: Libraries whose version can change an answer.
LIBRARIES = ("deap", "highspy", "networkx", "numba", "numpy", "ortools", "pyomo", "pyscipopt", "scipy")


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
    strategy: str | Strategy = AUTO,
    *,
    budget: Budget | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    progress: bool | Callable[[Progress], None] | None = None,
    proof: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Result:
    """Let a strategy look for the best decision of a problem.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
    strategy
        A strategy, or its name with parameters: ``"genetic:population=100,mutation=0.1"``. ``"auto"`` asks the kind of
        the problem which one fits; the result has the name of that one, and the reason in ``extra["auto"]``.
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
    proof, resume
        File for the proof (strategy ``clauses``), on the way a checkpoint; and whether to go on from that.

    Returns
    -------
    Result
        Checked by the problem's own evaluator; ``decision`` is ``None`` if nothing feasible was found.

    Raises
    ------
    RequestError
        If the problem, the strategy or the budget cannot be understood, or there is no cost to minimise.
    UnsupportedProblem
        If the strategy needs something that the problem does not offer; the sentence names the strategies that fit.

    Examples
    --------
    >>> from optmodels import solve
    >>> best = solve("instances/placement/gautam-2x3.json", "exhaustive")
    >>> print(best.status, best.decision, best.objective)
    optimal (0, 0, 1, 1, 1, 0) 8.0
    >>> solve("instances/robots/talim-two-robots.json").strategy
    'policy-iteration'
    """
    named = make_strategy(strategy)
    limits = make_budget(budget, seconds, evaluations)
    asked = as_problem(problem)
    chosen, reason = choose(named, asked)
    if proof is None and not resume:
        return answer(asked, chosen, limits, seed, reason=reason, progress=progress)
    from .verification import kept_proof

    with kept_proof(chosen, asked, proof, resume=resume) as told:
        return told(answer(asked, chosen, limits, seed, reason=reason, progress=progress))


def answer(
    problem: Problem,
    strategy: Strategy,
    budget: Budget,
    seed: int,
    *,
    reason: str | None = None,
    progress: bool | Callable[[Progress], None] | None = None,
    helpful: bool = True,
) -> Result:
    """Make one run, and complete its result: kind, versions, and why ``auto`` chose this strategy, if it did.

    Where the strategy does not take the problem, a `helpful` sentence names those that do.
    """
    seed = check_seed(seed)
    if not has_objective(problem):
        sentence = f'{problem.name!r} has no cost to minimise; add a "cost" to the instance, or only evaluate it.'
        raise RequestError(sentence)
    try:
        with followed(progress, lambda: _on_screen(f"{problem.name} by {strategy.name}")) as follow:
            result = run(problem, strategy, budget, seed, progress=follow)
    except UnsupportedProblem as failure:
        if not helpful:
            raise
        raise UnsupportedProblem(_with_others(str(failure), problem, strategy)) from failure
    extra = result.extra if reason is None else {**result.extra, AUTO: reason}
    return _answer(problem, vars(result) | {"extra": extra, "versions": versions(strategy)})


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


def _on_screen(label: str) -> contextlib.AbstractContextManager[Callable[[Progress], None]]:
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
    refuse_masked("decision", decision)
    asked = as_problem(problem)
    try:
        checked = asked.space.check(tuple(decision) if isinstance(decision, list) else decision)
    except (ValueError, TypeError) as failure:
        reason = " ".join(str(failure).split())
        raise RequestError(f"{short(decision)} is not a valid decision for {asked.name!r}: {reason}") from None
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


# -- which strategy ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Auto:
    """Choose a strategy that suits the problem, and run it.

    `choose` puts the strategy in its place before a run, so that results tell who answered; where others run this one
    as it is, it hands the run over.

    Examples
    --------
    >>> from optmodels import load
    >>> chosen, reason = choose(Auto(), load("instances/threshold/avrachenkov-k5.json"))
    >>> chosen.name, reason
    ('exhaustive', 'the 84 decisions can all be evaluated, which proves the best one')
    """

    name: ClassVar[str] = AUTO
    needs: ClassVar[type] = Problem

    def refuses(self, problem: Problem) -> str | None:
        """Refuse what no strategy takes."""
        if choose(self, problem)[0] is not self:
            return None
        return f"no strategy that is recommended takes {problem.name!r}; name one with --strategy."

    def prepare(self, problem: Problem) -> None:
        """Let the strategy that is chosen import and compile."""
        prepare = getattr(choose(self, problem)[0], "prepare", None)
        if prepare is not None:
            prepare(problem)

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> heuristics.Result:
        """Hand the run over."""
        chosen, reason = choose(self, oracle.problem)
        oracle.extra[AUTO] = f"{chosen.name}: {reason}"
        return chosen.solve(oracle, rng)


def choose(strategy: Strategy, problem: Problem) -> tuple[Strategy, str | None]:
    """Put a strategy that takes the problem in the place of `Auto`.

    Parameters
    ----------
    strategy
        One that is not `Auto` stays as it is.
    problem
        What will be asked; its kind says which strategies come into question (``Kind.choice``).

    Returns
    -------
    tuple
        The strategy, and why it was chosen, a clause without a full stop. ``None`` where there was no choice: then the
        strategy is the one that was given, and if that is `Auto`, it refuses the problem.
    """
    if not isinstance(strategy, Auto) or not has_objective(problem):
        return strategy, None
    for name, reason in _candidates(problem):
        candidate = make_strategy(name)
        if refusal(problem, candidate) is None:
            return candidate, reason
    return strategy, None


def fitting(problem: Problem) -> list[str]:
    """List the names of the strategies that take a problem; those that cannot be loaded, or made, are passed by.

    So are those for which the size of the problem would have to be found first, if that takes longer than a second:
    this is for the end of a sentence.
    """
    taking, watch = [], Oracle(problem, Budget(seconds=1.0))
    for name in strategies:
        try:
            with watch.in_time():
                if refusal(problem, make_strategy(name)) is None:
                    taking.append(name)
        except (RequestError, BudgetSpent):  # it is broken, has parameters that must be given, or takes long
            continue
        except Exception:
            if strategies.origin(name) == BUILT_IN:
                raise  # a defect of ours keeps its traceback
    return taking


def _candidates(problem: Problem) -> Iterator[tuple[str, str]]:
    """Name strategies with the reason for each, those of the kind's own choice first."""
    kind = kinds.of(problem)
    find = None if kind is None else kinds.part(kind.name, "choice")
    if kind is not None and find is not None:
        with kinds.blame(kind.name, "choice"):
            pairs = [(str(name), str(reason)) for name, reason in find(problem)]
        yield from pairs
    told = "problems without a kind" if kind is None else f"kind {kind.name}"
    for name in ("exhaustive", "local-search") if kind is None else kind.recommended:
        yield name, f"of the strategies recommended for {told} it is the first that takes this problem"


def _with_others(sentence: str, problem: Problem, refusing: Strategy) -> str:
    """Say in the same line for which kinds a strategy is, and which strategies apply to the problem."""
    try:
        others = [name for name in fitting(problem) if name != refusing.name]
        own, served = kinds.of(problem), [kind.name for kind in kinds.sound() if refusing.name in kind.strategies]
    except Exception:  # what is told beside a refusal must not take its place
        return sentence
    if own is not None and served and own.name not in served:
        clear = f"is for problems of kind {' or '.join(served)}, and {problem.name!r} is of kind {own.name}:"
        sentence = sentence.replace(f"does not apply to {problem.name!r}:", clear, 1)
    return f"{sentence} Strategies that apply: {', '.join(others)}." if others else sentence


# -- what was given ---------------------------------------------------------------------------------------------------


def as_problem(problem: ProblemLike) -> Problem:
    """The problem itself, in whichever of the four ways it was given."""
    return load(problem)


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
    if budget is not None and not isinstance(budget, Budget):
        raise RequestError(f"a budget is made by optmodels.Budget(seconds=..., evaluations=...), got {short(budget)}.")
    try:
        return budget or Budget(seconds=seconds, evaluations=evaluations)
    except ValueError as failure:
        raise RequestError(str(failure)) from None


def check_seed(seed: Any) -> int:
    """A seed as generators of random numbers take it."""
    whole = as_whole(seed)
    if whole is None or whole < 0:
        raise RequestError(f"a seed is a whole number, zero or more, got {seed!r}.")
    return whole


def versions(strategy: Strategy | None = None) -> dict[str, str]:
    """Versions of optmodels and of the libraries in use; nothing is imported to find out.

    The solver of a strategy counts too, although it runs in a process of its own.
    """
    used = {module for module in LIBRARIES if module in sys.modules}
    mip, solver = sys.modules.get(f"{__package__}.mip.solvers"), getattr(strategy, "solver", None)
    if mip is not None and isinstance(solver, str) and solver in mip.SOLVERS:
        used.add(mip.SOLVERS[solver].package)
    return {"optmodels": __version__} | {module: _version(module) for module in sorted(used)}


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
