"""Checking an answer without the strategy that gave it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.protocols import Problem
from heuristics.result import OPTIMALITY_TOLERANCE, Result, Status

from .errors import InstanceError
from .results import plain

if TYPE_CHECKING:
    from .instance import Instance

#: Two computations of one number may differ by this much, relative.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Verification:
    """What was confirmed about an answer, one sentence each."""

    problem: str
    findings: tuple[str, ...]


def verify(result: Result, problem: Problem, instance: Instance | None = None) -> Verification:
    """Compare everything a result claims with the problem itself.

    The decision is judged anew by the evaluator; objective, violations and measures must agree (1e-6 relative), the
    bound must not lie above the objective, and the status must follow from the two. If the instance tells a best-known
    decision, it must not contradict the result.

    Raises
    ------
    InstanceError
        At the first claim that does not hold; the sentence says what is found instead.
    """
    if result.problem != problem.name:
        raise InstanceError("problem", result.problem, f"this is an answer to another problem than {problem.name!r}.")
    kind = getattr(problem, "kind", None)
    if result.kind is not None and kind is not None and result.kind != kind:
        raise InstanceError("kind", result.kind, f"the problem is of kind {kind!r}.")
    findings = [*_verify_decision(result, problem), *_verify_bound(result)]
    findings += _verify_best_known(result, problem, instance) if instance is not None else []
    return Verification(problem.name, tuple(findings))


def _verify_decision(result: Result, problem: Problem) -> list[str]:
    if result.decision is None:
        if result.status not in (Status.INFEASIBLE, Status.UNKNOWN):
            raise InstanceError("status", str(result.status), "without a decision it is infeasible or unknown.")
        return ["there is no decision to judge"]
    if result.status == Status.INFEASIBLE:
        raise InstanceError("status", str(result.status), "a problem proved infeasible has no decision.")
    try:
        decision = problem.space.check(result.decision)
    except ValueError as failure:
        raise InstanceError("decision", plain(result.decision), " ".join(str(failure).split())) from None
    found = problem.evaluate(decision)
    claimed = result.evaluation
    if claimed is None or math.isnan(claimed.objective):
        if not math.isnan(found.objective):
            raise InstanceError("objective", None, f"the evaluator finds {found.objective!r}.")
    elif not _close(claimed.objective, found.objective):
        raise InstanceError("objective", claimed.objective, f"the evaluator finds {found.objective!r}.")
    broken = {name: amount for name, amount in found.violations.items() if amount > 0}
    if broken and result.status != Status.UNKNOWN:
        told = ", ".join(f"{name} by {amount:g}" for name, amount in broken.items())
        raise InstanceError("status", str(result.status), f"the decision is not feasible: it breaks {told}.")
    if not broken and result.status == Status.UNKNOWN:
        raise InstanceError("status", str(result.status), "the decision is feasible.")
    for name, value in (claimed.measures if claimed else {}).items():
        again = found.measures.get(name)
        if (value is None) != (again is None) or (value is not None and again is not None and not _close(value, again)):
            raise InstanceError(f"measures.{name}", value, f"the evaluator finds {again!r}.")
    verdict = "feasible" if not broken else f"breaks {', '.join(broken)}, as the result says"
    return [f"objective {found.objective:.10g} recomputed", verdict]


def _verify_bound(result: Result) -> list[str]:
    objective, bound = result.objective, result.bound
    if bound is None or objective is None:
        if result.status == Status.OPTIMAL:
            raise InstanceError("bound", bound, "an optimal answer comes with the bound that proves it.")
        return []
    slack = OPTIMALITY_TOLERANCE * max(1.0, abs(objective))
    if bound > objective + TOLERANCE * max(1.0, abs(objective)):
        raise InstanceError("bound", bound, f"a feasible decision has the objective {objective!r}, below this bound.")
    if result.status == Status.OPTIMAL and bound < objective - slack:
        raise InstanceError(
            "status", str(result.status), f"the bound {bound!r} leaves room below the objective {objective!r}."
        )
    return [f"bound {bound:.10g} not above it"]


def _verify_best_known(result: Result, problem: Problem, instance: Instance) -> list[str]:
    from .instance import check_best_known

    best = instance.best_known
    if best is None:
        return []
    confirmed = check_best_known(instance, problem)
    slack = TOLERANCE * max(1.0, abs(best.objective))
    if confirmed is not None:
        if result.status == Status.INFEASIBLE:
            raise InstanceError(
                "status", str(result.status), f"the best-known decision is feasible, objective {best.objective!r}."
            )
        if result.bound is not None and result.bound > best.objective + slack:
            raise InstanceError(
                "bound", result.bound, f"the best-known decision has the objective {best.objective!r}, below it."
            )
    if result.objective is None or result.status == Status.UNKNOWN:
        return []
    if best.proved and result.objective < best.objective - slack:
        raise InstanceError(
            "objective", result.objective, f"it is below {best.objective!r}, which the instance calls proved."
        )
    distance = result.objective - best.objective
    word = (
        "equal to" if abs(distance) <= slack else f"{distance:.6g} above" if distance > 0 else f"{-distance:.6g} below"
    )
    return [f"{word} the best known, {best.objective:.10g}"]


def _close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=1e-9)
