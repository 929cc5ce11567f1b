"""What a run may spend, and what came of it: what was found, what is proved, and what it took."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Real
from typing import Any

from .protocols import Decision, Evaluation, Problem, Repairable, Suggesting

#: A bound this close (relative) to the objective proves it optimal.
OPTIMALITY_TOLERANCE = 1e-9

#: Two independent computations of one objective may differ by this much, relative.
AGREEMENT = 1e-6

#: What is left where numbers cancel, relative to the size of these numbers.
REMAINDER = 1e-9

#: Limits of a budget are compared with floats.
LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Budget:
    """How much a run may spend; ``None`` means no limit.

    Parameters
    ----------
    seconds
        Wall-clock time from the start of the solve, but for what goes into compiling kernels (`heuristics.clock`).
    evaluations
        Decisions evaluated, by whichever road (repeats answered from memory are free).
    stall
        Evaluations in a row without a better feasible decision.

    Raises
    ------
    ValueError
        If a limit is not a positive number, or a count not a whole one.

    Examples
    --------
    >>> Budget(seconds=1.5, evaluations=1000)
    Budget(seconds=1.5, evaluations=1000, stall=None)
    >>> Budget(evaluations=0)
    Traceback (most recent call last):
    ValueError: evaluations must be a positive number, got 0.
    """

    seconds: float | None = None
    evaluations: int | None = None
    stall: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "evaluations", "stall"):
            value: Any = getattr(self, name)
            if value is None:
                continue
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not 0 < value <= LARGEST:
                raise ValueError(f"{name} must be a positive number, got {value!r}.")
            if name == "seconds":
                object.__setattr__(self, name, float(value))
            elif int(value) != value:
                raise ValueError(f"{name} must be a whole number, got {value!r}.")
            else:
                object.__setattr__(self, name, int(value))


class Status(StrEnum):
    """What is known about the answer, not why the run ended.

    Attributes
    ----------
    OPTIMAL
        Feasible, and proved to be best.
    FEASIBLE
        Feasible, nothing proved.
    INFEASIBLE
        Proved to have no feasible decision.
    UNKNOWN
        Nothing feasible found, nothing proved.

    Examples
    --------
    >>> Status("optimal") is Status.OPTIMAL
    True
    >>> print(Status.UNKNOWN)
    unknown
    """

    OPTIMAL = "optimal"  #: feasible, and proved to be best
    FEASIBLE = "feasible"  #: feasible, nothing proved
    INFEASIBLE = "infeasible"  #: proved to have no feasible decision
    UNKNOWN = "unknown"  #: nothing feasible found, nothing proved


@dataclass(frozen=True)
class TracePoint:
    """One improvement: when, after how many evaluations, to what objective, against which bound.

    Attributes
    ----------
    seconds
        Time since the start of the run.
    evaluations
        Decisions evaluated until then.
    objective
        Of the best feasible decision from then on; ``None`` where only the bound improved.
    bound
        The lower bound from then on; ``None`` where nothing is proved.

    Examples
    --------
    >>> TracePoint(seconds=0.25, evaluations=40, objective=3.5).bound is None
    True
    """

    seconds: float
    evaluations: int
    objective: float | None
    bound: float | None = None


@dataclass(frozen=True, repr=False)
class Result:
    """The answer of one run.

    Parameters
    ----------
    problem, kind, strategy, parameters, seed, versions
        Who answered what, enough to run it again.
    status
        What is known about the decision.
    decision, evaluation
        The best feasible decision shown to the oracle and what the problem's own evaluator says about it; both ``None``
        when nothing feasible was found.
    bound
        No feasible decision has a lower objective than this: the number that was proved, never above the objective;
        ``None`` where nothing is proved.
    stopped_by
        ``"complete"`` or what ended the run: ``"seconds"``, ``"evaluations"``, ``"stall"``, ``"repeats"`` (nothing new
        was asked for long), ``"interrupt"``, or a strategy's own word.
    evaluations, judged_in_full
        Decisions evaluated by whichever road, and those among them evaluated by the plain evaluator.
    seconds
        Wall-clock time of the solve.
    checked
        Objective and constraints were recomputed by the evaluator after the run, and agreed.
    trace
        Every improvement, in order.
    extra
        Vectors and other detail: per-site loads, stage costs, certificates.

    Examples
    --------
    >>> from heuristics import Exhaustive, run
    >>> from heuristics.testing import Knapsack
    >>> result = run(Knapsack(), Exhaustive())
    >>> print(result.status, result.objective, result.decision)
    optimal -18.0 (0, 1, 1, 0, 0, 1, 0, 1)
    >>> result.gap(reference=-20.0)
    0.1
    """

    problem: str
    status: Status
    decision: Decision | None
    evaluation: Evaluation | None
    bound: float | None = None
    stopped_by: str = "complete"
    evaluations: int = 0
    judged_in_full: int = 0
    seconds: float = 0.0
    trace: tuple[TracePoint, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    checked: bool = False
    strategy: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    kind: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def objective(self) -> float | None:
        """Objective of the decision, or ``None`` without one."""
        return None if self.evaluation is None else self.evaluation.objective

    @property
    def measures(self) -> Mapping[str, float | None]:
        """Measures of the decision by name, none without a decision."""
        return {} if self.evaluation is None else dict(self.evaluation.measures)

    def gap(self, reference: float | None = None) -> float | None:
        """Relative distance of the objective above `reference`, or above the run's own proved bound.

        Returns
        -------
        float or None
            ``(objective - reference) / |reference|``, and 0 where they differ by rounding (1e-9 relative); negative if
            the reference was beaten; ``inf`` above a reference of 0; ``None`` if there is nothing to compare.
        """
        reference = self.bound if reference is None else reference
        if reference is None or self.objective is None or not math.isfinite(reference):
            return None
        return relative_gap(self.objective, reference)

    @property
    def seconds_to_best(self) -> float | None:
        """When the decision was first shown to the oracle."""
        improvements = [point.seconds for point in self.trace if point.objective is not None]
        return improvements[-1] if improvements else None

    def __str__(self) -> str:
        answer = f"{self.problem}: {self.status}"
        if self.objective is not None:
            answer += f", objective {self.objective:.10g}"
        if self.bound is not None:
            answer += f", bound {self.bound:.10g}"
        return f"{answer} ({self.strategy}, {self.evaluations} evaluations, {self.seconds:.2f} s, {self.stopped_by})"

    def __repr__(self) -> str:
        """One line, however long the decision is."""
        return f"<{type(self).__name__} {self}>"


def relative_gap(value: float, reference: float) -> float:
    """Measure how far a value lies above a reference, relative to it.

    Parameters
    ----------
    value
        What was reached.
    reference
        What it is compared with: a bound, or a known optimum.

    Returns
    -------
    float
        ``(value - reference) / |reference|``, and 0 where they differ by no more than 1e-9 of the reference, as proofs
        do; infinite beside a reference of 0.

    Examples
    --------
    >>> relative_gap(11.0, 10.0), relative_gap(10.0, 10.000000001)
    (0.1, 0.0)
    >>> relative_gap(1.0, 0.0)
    inf
    """
    distance = value - reference
    if abs(distance) <= OPTIMALITY_TOLERANCE * abs(reference):
        return 0.0
    return distance / abs(reference) if reference != 0 else math.copysign(math.inf, distance)


def agree(first: float, second: float, size: float = 0.0) -> bool:
    """Whether two independent computations of one objective are the same number, whatever its unit.

    Parameters
    ----------
    first, second
        The numbers.
    size
        Of the numbers they were summed up from: where these cancel, what is left is rounding.

    Returns
    -------
    bool
        Whether they differ by 1e-6 of the larger one at most, or by 1e-9 of `size`.

    Examples
    --------
    >>> agree(2.0, 2.000001), agree(2.0, 2.1)
    (True, False)
    >>> agree(0.0, 1e-7), agree(0.0, 1e-7, size=1000.0)
    (False, True)
    """
    return math.isclose(first, second, rel_tol=AGREEMENT, abs_tol=REMAINDER * size if math.isfinite(size) else 0.0)


def meets(bound: float, objective: float) -> bool:
    """Whether a bound is so close to an objective, relatively, that it proves it optimal."""
    return bound >= objective - OPTIMALITY_TOLERANCE * abs(objective)


def nothing_feasible(problem: Problem, nearest: Evaluation | None, proved: bool) -> dict[str, Any]:
    """Tell the least violation that was seen and, unless it is proved that nothing is feasible, what may help.

    Parameters
    ----------
    nearest
        What was said of the decision with the least violation; ``None`` if nothing was evaluated.
    """
    if nearest is None:
        return {}
    told: dict[str, Any] = {
        "least_violation": {name: float(amount) for name, amount in nearest.violations.items() if amount > 0}
    }
    if proved:
        return told
    helpful = []
    if not isinstance(problem, Suggesting):
        helpful.append("feasible decisions to start from (a method 'suggestions' of the problem)")
    if not isinstance(problem, Repairable):
        helpful.append("a way to make decisions feasible (a method 'repair')")
    helpful += ["a larger budget", "wider limits"]
    return told | {"hint": f"nothing feasible was met; {', '.join(helpful[:-1])} or {helpful[-1]} may help"}
