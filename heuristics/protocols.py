"""What a strategy may ask of a problem, and what a problem says about one decision.

A strategy says what it needs, a problem has it or not: no base classes, no feature flags. Protocols that only one
strategy uses stand at the top of that strategy's file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .oracle import Oracle
    from .result import Result

#: A tuple of numbers for nearly every kind: hashable for the cache, writable as JSON, readable in a log.
#: Very long decisions (1e8 frequencies) are arrays; those are never cached.
Decision: TypeAlias = Any

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Evaluation:
    """Objective, broken constraints and measures of one decision.

    Objective and constraints come from one call because they come from one stationary solve.

    Parameters
    ----------
    objective
        Always minimised.
    violations
        Constraint name to amount by which it is broken; kept constraints are absent or 0.
    measures
        What the queue said, for the reader and for cost functions; ``None`` where undefined.
    penalty
        Price of the violations on the scale of the objective, for searches that walk through infeasible decisions.
        A problem that knows its scale gives it; otherwise every unit of violation costs ``1 + |objective|``.

    Examples
    --------
    >>> good, bad = Evaluation(3.0), Evaluation(2.0, {"weight": 4.0})
    >>> good.feasible, bad.feasible
    (True, False)
    >>> good.penalised, bad.penalised
    (3.0, 14.0)
    """

    objective: float
    violations: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    measures: Mapping[str, float | None] = field(default_factory=lambda: NOTHING)
    penalty: float | None = None

    @property
    def violation(self) -> float:
        """Sum of all violations, 0 for a feasible decision."""
        return sum((amount for amount in self.violations.values() if not amount <= 0), 0.0)

    @property
    def feasible(self) -> bool:
        """Whether every constraint is kept; an amount that is no number (nan) is not."""
        return all(amount <= 0 for amount in self.violations.values())

    @property
    def penalised(self) -> float:
        """Objective plus penalty: one number by which any two decisions can be compared."""
        if self.feasible:
            return self.objective
        if self.penalty is not None:
            return self.objective + self.penalty
        return self.objective + (1.0 + abs(self.objective)) * self.violation

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies do not pickle; results travel between processes.
        return Evaluation, (self.objective, dict(self.violations), dict(self.measures), self.penalty)


@runtime_checkable
class Space(Protocol):
    """A set of decisions and the ways to move in it.

    ``size`` is an exact int, or ``math.inf`` for a continuum; ``check`` returns the decision in canonical form (a
    tuple) or raises ``ValueError`` with one sentence; ``neighbours`` lists the whole neighbourhood of a decision once.

    Examples
    --------
    >>> from heuristics import BinaryVectors
    >>> space = BinaryVectors(3)
    >>> isinstance(space, Space), space.size, space.check([1, 0, 1])
    (True, 8, (1, 0, 1))
    """

    @property
    def size(self) -> int | float: ...
    def check(self, decision: Any) -> Decision: ...
    def __contains__(self, decision: object) -> bool: ...
    def __iter__(self) -> Iterator[Decision]: ...
    def sample(self, rng: np.random.Generator) -> Decision: ...
    def neighbour(self, decision: Decision, rng: np.random.Generator) -> Decision: ...
    def neighbours(self, decision: Decision) -> Iterator[Decision]: ...
    def crossover(self, first: Decision, second: Decision, rng: np.random.Generator) -> tuple[Decision, Decision]: ...
    def repair(self, values: Sequence[float]) -> Decision: ...


@runtime_checkable
class Problem(Protocol):
    """A decision space and a way to evaluate a decision.

    Examples
    --------
    >>> from heuristics.testing import Separable
    >>> isinstance(Separable(), Problem), isinstance("separable", Problem)
    (True, False)
    """

    @property
    def name(self) -> str: ...
    @property
    def space(self) -> Space: ...
    def evaluate(self, decision: Decision) -> Evaluation: ...


class Strategy(Protocol):
    """Parameters, what they need of a problem, and one method.

    Three optional class variables refine `needs`: ``deterministic`` (run once whatever the number of seeds),
    ``linear_cost_only`` and ``takes_limits``. A fourth, ``tunable``, maps parameters to ranges that are worth trying
    (``{"population": "10..200:log"}``), for whoever tunes the strategy; a fifth, ``beside``, says how many decisions it
    may evaluate beside those that budgets count, to write a program and to believe a solver. Two optional methods:
    ``refuses(problem)`` returns a sentence if this problem cannot be taken, else ``None``; ``prepare(problem)`` imports
    and compiles before the clock starts, on small data of its own (what it leaves out is compiled when it is needed,
    and the clock stands still meanwhile).

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Separable
    >>> class First:
    ...     name, needs = "first", Problem
    ...
    ...     def solve(self, oracle, rng):
    ...         oracle(next(iter(oracle.problem.space)))
    ...         return oracle.result()
    >>> print(run(Separable(), First()).status)
    feasible
    """

    name: ClassVar[str]
    needs: ClassVar[type]

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result: ...


@runtime_checkable
class Repairable(Problem, Protocol):
    """A problem that can turn any decision of its space into a feasible one nearby (or return it unchanged).

    Examples
    --------
    >>> from heuristics.testing import Knapsack, MendedKnapsack
    >>> isinstance(Knapsack(), Repairable), isinstance(MendedKnapsack(), Repairable)
    (False, True)
    """

    def repair(self, decision: Decision, rng: np.random.Generator) -> Decision: ...


@runtime_checkable
class Suggesting(Problem, Protocol):
    """A problem that knows decisions worth starting from, the most promising first; few, and cheap to find.

    Examples
    --------
    >>> from heuristics.testing import Knapsack
    >>> class Example(Knapsack):
    ...     def suggestions(self, rng):
    ...         return [(0,) * 8]
    >>> isinstance(Knapsack(), Suggesting), isinstance(Example(), Suggesting)
    (False, True)
    """

    def suggestions(self, rng: np.random.Generator) -> Iterable[Decision]: ...


@runtime_checkable
class Describing(Problem, Protocol):
    """A problem that tells more about a decision than scalars: vectors for ``Result.extra``.

    Examples
    --------
    >>> from heuristics.testing import Knapsack
    >>> class Example(Knapsack):
    ...     def describe(self, decision):
    ...         return {"items": sum(decision)}
    >>> isinstance(Knapsack(), Describing), isinstance(Example(), Describing)
    (False, True)
    """

    def describe(self, decision: Decision) -> dict[str, Any]: ...


@runtime_checkable
class Bounded(Problem, Protocol):
    """A problem that knows, cheaply, a value no feasible decision can go below.

    Examples
    --------
    >>> from heuristics.testing import Knapsack
    >>> class Example(Knapsack):
    ...     def lower_bound(self):
    ...         return -20.0
    >>> isinstance(Knapsack(), Bounded), isinstance(Example(), Bounded)
    (False, True)
    """

    def lower_bound(self) -> float: ...


@runtime_checkable
class Explaining(Problem, Protocol):
    """A problem that can tell, cheaply and for certain, that it has no feasible decision: why, in one sentence.

    Examples
    --------
    >>> from heuristics.testing import Knapsack
    >>> class Example(Knapsack):
    ...     def infeasibility(self):
    ...         return None
    >>> isinstance(Knapsack(), Explaining), isinstance(Example(), Explaining)
    (False, True)
    """

    def infeasibility(self) -> str | None: ...


@runtime_checkable
class Batch(Problem, Protocol):
    """A problem that shares work across decisions.

    Examples
    --------
    >>> from heuristics.testing import Ladder, Shared
    >>> isinstance(Ladder(), Batch), isinstance(Shared(), Batch)
    (False, True)
    """

    def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]: ...


@runtime_checkable
class Estimating(Problem, Protocol):
    """A problem that may know decisions only up to errors that matter; if so, no complete search proves anything.

    Examples
    --------
    >>> from heuristics.testing import Knapsack
    >>> class Example(Knapsack):
    ...     estimated = True
    >>> isinstance(Knapsack(), Estimating), isinstance(Example(), Estimating)
    (False, True)
    """

    @property
    def estimated(self) -> bool: ...


#: Moves of a walk, one per row: the entries to flip, -1 for none.
Moves = NDArray[np.int64]


@dataclass(frozen=True)
class Followed:
    """What came of following a list of moves.

    Parameters
    ----------
    kept
        How many moves were kept.
    best, lowest
        The best feasible decision met whose penalised objective fell below the level asked for, and that objective as
        the walk knows it; both ``None`` if there was none.

    Examples
    --------
    >>> Followed(kept=3, best=None, lowest=None).kept
    3
    """

    kept: int
    best: Decision | None
    lowest: float | None


class Walk(Protocol):
    """A decision that moves by small steps, each evaluated at the price of what it changes.

    Examples
    --------
    >>> from heuristics.testing import Ring
    >>> ring = Ring()
    >>> walk = ring.start((0,) * ring.space.length)
    >>> change = walk.flip(0)
    >>> walk.current[0], walk.flip(0) == -change
    (1, True)
    """

    @property
    def current(self) -> Decision: ...
    @property
    def penalised(self) -> float: ...
    @property
    def feasible(self) -> bool: ...
    def flip(self, index: int) -> float:
        """Apply one elementary change, return the change of the penalised objective; the same flip again undoes it."""

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Random moves of the problem's natural neighbourhood."""

    def follow(self, moves: Moves, tolerances: NDArray[np.float64], below: float) -> Followed:
        """Try each move in turn and keep it if it raises the penalised objective by no more than its tolerance."""


@runtime_checkable
class Lenient(Walk, Protocol):
    r"""A walk that can charge less than the full penalty for broken constraints, so that it passes through them.

    Notes
    -----
    With the objective :math:`f`, the penalty :math:`p` and the factor :math:`w` last given to `weigh`, the walk
    compares decisions by :math:`f + w p`; :math:`w = 1` is what ``Evaluation.penalised`` charges. Feasible decisions
    cost the same whatever the factor is.
    """

    def weigh(self, factor: float) -> None:
        """Charge `factor` times the penalty from here on."""


@runtime_checkable
class Incremental(Problem, Protocol):
    """A problem on which one can walk; 1e5 steps a second and more.

    Examples
    --------
    >>> from heuristics.testing import Knapsack, Ring
    >>> isinstance(Knapsack(), Incremental), isinstance(Ring(), Incremental)
    (False, True)
    """

    def start(self, decision: Decision) -> Walk: ...
