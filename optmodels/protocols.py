"""What a problem may offer besides the contract, and what it gets for it.

Every problem has a name, a space and ``evaluate`` (`heuristics.Problem`). All else is optional: a problem that has the
members of a protocol has the ability, and no base class is needed. Abilities that strategies ask for are in
`heuristics.protocols` (`Suggesting`, `Describing`, `Bounded`, `Explaining`, `Batch`, `Estimating`, `Incremental`),
those of generators in `optmodels.generating`. The ones here are what integer programs, files, studies, simulations and
the command line ask for.

>>> from optmodels import load
>>> isinstance(load("instances/threshold/avrachenkov-k1.json"), Simulable)
True
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heuristics import Budget as Budget
from heuristics import Decision as Decision
from heuristics import Disagreement as Disagreement
from heuristics import Evaluation as Evaluation
from heuristics import Oracle as Oracle
from heuristics import Problem as Problem
from heuristics import Progress as Progress
from heuristics import Space as Space
from heuristics import Status as Status
from heuristics import Strategy as Strategy
from heuristics import TracePoint as TracePoint
from heuristics import UnsupportedProblem as UnsupportedProblem

from .costs import CostFunction, Limits
from .data import check_called
from .errors import RequestError

#: Called now and then with how things stand.
Follower = TypeVar("Follower", bound=Callable[..., None])

if TYPE_CHECKING:
    from .instance import BestKnown

# -- files and tables -------------------------------------------------------------------------------------------------


@runtime_checkable
class OfKind(Protocol):
    """A problem of a kind that has a name; results tell it, and its record is found by it."""

    @property
    def kind(self) -> str: ...


@runtime_checkable
class Stored(OfKind, Protocol):
    """A problem that files can hold: what `to_data` writes, `from_data` reads back to the same problem."""

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        *,
        name: str,
        cost: CostFunction | None = None,
        limits: Limits | None = None,
        folder: Path | None = None,
    ) -> Any: ...
    def to_data(self) -> dict[str, Any]: ...


@runtime_checkable
class Measured(Protocol):
    """A problem that says which measures its evaluations have: columns of tables, and names for costs and limits."""

    @property
    def measure_names(self) -> Sequence[str]: ...


@runtime_checkable
class Summarised(Protocol):
    """A problem some of whose descriptions (`heuristics.Describing`), single numbers, make columns of a sweep."""

    @property
    def summary_names(self) -> Sequence[str]: ...


@runtime_checkable
class WrittenOnTheWay(Protocol):
    """A decision that was never in memory as a whole: it writes itself beside a result, which tells where."""

    def write_to(self, folder: Path, stem: str) -> dict[str, Any]: ...


@runtime_checkable
class WrittenAsObject(Protocol):
    """A decision that searches hold as a tuple, and that stands in files as an object."""

    def to_data(self) -> dict[str, Any]: ...


# -- costs and limits -------------------------------------------------------------------------------------------------


@runtime_checkable
class Priced(Protocol):
    """A problem with a price of measures that can be replaced; ``None`` is the kind's own."""

    @property
    def cost(self) -> CostFunction | None: ...


@runtime_checkable
class Limited(Protocol):
    """A problem with limits on measures."""

    @property
    def limits(self) -> Limits: ...


@runtime_checkable
class PerhapsWithoutCost(Protocol):
    """A problem that may have nothing to minimise, and can then only be evaluated."""

    @property
    def has_objective(self) -> bool: ...


@runtime_checkable
class Judging(Protocol):
    """A problem that evaluates measures, wherever they come from; where it is linear in them, also simulated ones."""

    @property
    def linear_cost(self) -> bool: ...
    def judge(self, measures: Mapping[str, float | None]) -> Evaluation: ...


@runtime_checkable
class Stepped(Protocol):
    """A problem whose objectives are multiples of one number, 1 for whole costs: bounds are raised to the next one."""

    @property
    def objective_step(self) -> float | None: ...


@runtime_checkable
class WithRatios(Protocol):
    """A problem some of whose measures are ratios: name to those of numerator and denominator, as averages over time.

    When decisions take turns, averages over time mix in proportion, and ratios do not.
    """

    @property
    def ratios(self) -> Mapping[str, Sequence[str]]: ...


# -- integer programs -------------------------------------------------------------------------------------------------


@runtime_checkable
class AlgebraicProblem(Problem, Protocol):
    """A problem that can be written as a linear Pyomo model.

    The objective of the model is the objective of the evaluator, or its negative if the model maximises.

    A problem may offer more: a bound to begin with (`heuristics.protocols.Bounded`), a proof that nothing is feasible
    (`heuristics.protocols.Explaining`), a start (`Starting`), and what `optmodels.protocols` says of integer programs
    and of objectives that are multiples of a number.
    """

    def to_pyomo(self) -> Any:
        """The problem as a new concrete model."""

    def from_pyomo(self, model: Any) -> Decision:
        """The decision that the values of the model's variables stand for; whole numbers are whole."""


@runtime_checkable
class Starting(Protocol):
    """A problem that can write a decision into its model."""

    def start_pyomo(self, model: Any, decision: Decision) -> None:
        """Give every variable of the model its value for this decision."""


@runtime_checkable
class PerhapsNotAlgebraic(Protocol):
    """A problem that tells in a sentence why it cannot be written as a model after all; ``None`` if it can."""

    def algebraic_refusal(self) -> str | None: ...


@runtime_checkable
class AlgebraicLimits(Protocol):
    """A problem whose model contains its limits on measures; without this, problems with limits are refused."""

    @property
    def algebraic_limits(self) -> bool: ...


@runtime_checkable
class LooseModel(Protocol):
    """A problem whose model may have, if ``objective_exact`` is false, points with a value above that of the decision.

    That is so where a cost variable is held from below only. Otherwise a value that differs either way is an error.
    """

    @property
    def objective_exact(self) -> bool: ...


@runtime_checkable
class NoisyModel(Protocol):
    """A problem whose model has equations that solvers keep only roughly, such as those of a stationary distribution.

    Values by the model and by the evaluator may differ by ``model_noise`` of what they are summed up from, and so may
    bounds: one that lies above a decision by no more than that is lowered by it instead of being called an error.
    """

    @property
    def model_noise(self) -> float: ...


@runtime_checkable
class AlmostFeasible(Protocol):
    """A problem that tells whether a decision breaks its limits by no more than solvers take for rounding.

    One that does is cut off, and the solver asked again; any other infeasible decision of a solver is an error.
    """

    def almost_feasible(self, decision: Decision) -> bool: ...


@runtime_checkable
class AlgebraicCost(Protocol):
    """A problem whose model contains its cost, though that is not linear in the measures."""

    @property
    def algebraic_cost(self) -> bool: ...


@runtime_checkable
class Beginning(Protocol):
    """A problem that knows where its model is to begin: it shows decisions to the oracle, and may report a bound.

    It tells whether a search for other decisions is worth its time.
    """

    def begin_pyomo(self, oracle: Oracle[Any]) -> bool: ...


@runtime_checkable
class Mistakable(Protocol):
    """A problem whose model may have points that claim less than the decision is worth.

    Numbers in it may lie too far apart for solvers, or it allows more than there is. Such a point is cut off, and the
    solver asked again; any other value than that of the evaluator is an error.
    """

    @property
    def model_mistakable(self) -> bool: ...


@runtime_checkable
class Distinguishing(Protocol):
    """A problem that tells which variables of 1 make a decision what it is: any other with these is worth the same.

    Where a point is cut off, so are those others.
    """

    def deciding_variables(self, model: Any, decision: Decision) -> Iterable[Any]: ...


# -- spaces -----------------------------------------------------------------------------------------------------------


@runtime_checkable
class PerhapsPartial(Protocol):
    """A space that may list fewer decisions than there are, so that enumeration proves nothing about the others."""

    @property
    def complete(self) -> bool: ...


@runtime_checkable
class Listing(Protocol):
    """A space that takes decisions beyond those it lists, and can tell which it lists."""

    def lists(self, decision: Decision) -> bool: ...


def lists(problem: Problem, decision: Decision) -> bool:
    """Whether a decision is one of those that the space lists; policies by state go beyond thresholds."""
    space = problem.space
    return space.lists(decision) if isinstance(space, Listing) else True


# -- large data -------------------------------------------------------------------------------------------------------


@runtime_checkable
class Streamed(Protocol):
    """A problem that goes over its data in passes, a dataclass that tells how far it is: phase, done, all."""

    @property
    def tell(self) -> Callable[[str, int, int], None] | None: ...


# -- simulation -------------------------------------------------------------------------------------------------------


class Replication(Protocol):
    """What one replication has seen: totals per unit of time, or whatever can be averaged over replications."""

    @property
    def observation(self) -> NDArray[np.float64]: ...

    @property
    def events(self) -> int: ...


class Experiment(Protocol):
    """A decision that can be tried out; `Resolving`, `Drifting` and `Settling` are further abilities.

    ``usual_time`` is the length of a replication with about so many events; ``replications`` gives one finished
    replication after another, and ``None`` in between, a few times a second; ``measures`` computes measures from the
    mean of observations; ``occurrences`` tells of measures that count something how often it happened and among how
    many (their quotient is the measure), per unit of time; ``describe`` gives more for ``--json``.
    """

    def usual_time(self, events: int, seed: int) -> float: ...
    def replications(self, time: float, seed: int) -> Iterator[Any]: ...
    def measures(self, means: NDArray[np.float64]) -> Mapping[str, float | None]: ...
    def occurrences(self, means: NDArray[np.float64]) -> Mapping[str, tuple[float, float]]: ...
    def describe(self, done: Sequence[Any]) -> dict[str, Any]: ...


@runtime_checkable
class Resolving(Protocol):
    """An experiment that tells of measures what something unusual, had it happened once in so much time, would change.

    That is the least error, however small the one of what was seen.
    """

    def resolution(self, time: float) -> Mapping[str, float]: ...


@runtime_checkable
class Drifting(Protocol):
    """An experiment that tells whether averages are still on their way: one that disagrees is then no witness."""

    def drifting(self, observations: NDArray[np.float64]) -> bool: ...


@runtime_checkable
class Settling(Protocol):
    """An experiment that tells whether replications of this time begin when their beginning is forgotten."""

    def settled(self, time: float) -> bool: ...


@runtime_checkable
class Simulable(Problem, Protocol):
    """A problem whose decisions can be tried out."""

    def experiment(self, decision: Any) -> Experiment: ...


# -- where problems come from -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """Where an instance, or a problem, comes from: what the object itself does not hold, and a copy of it need not.

    Parameters
    ----------
    file
        Path of the file it was read from, as it was given.
    folder
        Of that file: other files that the data name lie inside.
    best_known
        The best decision anybody has shown for exactly these data.
    """

    file: str | None = None
    folder: Path | None = None
    best_known: BestKnown | None = None


#: By identity: a problem may hold arrays, which have no hash, and a changed copy has another best decision.
_origins: dict[int, Origin] = {}


def remember(thing: object, origin: Origin) -> None:
    """Keep where a thing comes from for as long as it lives; one that cannot be watched is passed by."""
    with contextlib.suppress(TypeError):  # an object of a class with slots
        weakref.finalize(thing, _origins.pop, id(thing), None).atexit = False
        _origins[id(thing)] = origin


def origin_of(thing: object) -> Origin:
    """Where an instance or a problem comes from, as far as it is remembered."""
    return _origins.get(id(thing)) or Origin()


# -- asking -----------------------------------------------------------------------------------------------------------


def kind_of(problem: object) -> str | None:
    """The name of the kind of a problem; ``None`` if it is of none."""
    return problem.kind if isinstance(problem, OfKind) else None


def limits_of(problem: object) -> Limits:
    """The limits on measures of a problem, which may be none."""
    return (problem.limits if isinstance(problem, Limited) else None) or Limits()


def cost_of(problem: object) -> CostFunction | None:
    """The price of measures that a problem was given; ``None``: the kind's own."""
    return problem.cost if isinstance(problem, Priced) else None


def has_objective(problem: object) -> bool:
    """Whether there is something to minimise."""
    return problem.has_objective if isinstance(problem, PerhapsWithoutCost) else True


def objective_step(problem: object) -> float | None:
    """A number of which all objectives are multiples, if the problem knows one; it is positive."""
    step = problem.objective_step if isinstance(problem, Stepped) else None
    if step is not None and not 0 < step < math.inf:
        raise ValueError(f"objective_step of {getattr(problem, 'name', problem)!r} must be positive, got {step!r}.")
    return step


def measure_names(problem: object) -> tuple[str, ...]:
    """Names of the measures that a problem announces."""
    return tuple(problem.measure_names) if isinstance(problem, Measured) else ()


def followed(
    progress: bool | Follower | None,
    on_screen: Callable[[], contextlib.AbstractContextManager[Follower]],
    arguments: tuple[str, ...] = ("how things stand",),
) -> contextlib.AbstractContextManager[Follower | None]:
    """Find out who follows a run.

    Parameters
    ----------
    progress
        A function that is called, ``True`` for whoever looks at the screen, ``None`` or ``False`` for nobody.
    on_screen
        Makes the function that shows progress there.
    arguments
        What the function will be called with, for the sentence.

    Returns
    -------
    context manager
        Of the function to call, or of ``None``.

    Examples
    --------
    >>> with followed(print, lambda: contextlib.nullcontext(print)) as follow:
    ...     follow("half of it")
    half of it
    """
    if isinstance(progress, bool):
        return on_screen() if progress else contextlib.nullcontext()
    if progress is not None and (not callable(progress) or isinstance(progress, type)):
        raise RequestError(f"progress is True, False, or a function that is called; got {progress!r}.")
    if progress is not None:
        check_called("progress", progress, arguments)
    return contextlib.nullcontext(progress)
