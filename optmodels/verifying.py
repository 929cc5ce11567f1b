"""Checking an answer without the strategy that gave it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics.protocols import Describing, Problem
from heuristics.result import OPTIMALITY_TOLERANCE, Result, Status

from .errors import InstanceError, MissingField, short
from .instance import read_json
from .results import REQUIRED, plain, result_from_data

if TYPE_CHECKING:
    from .instance import Instance

#: Two computations of one number may differ by this much, relative.
TOLERANCE = 1e-6

#: Two computations of what a problem tells beyond its measures: relative, and absolute for probabilities near zero.
EXTRA_TOLERANCE, EXTRA_FLOOR = 1e-9, 1e-12

#: Fields of a result that are never null.
TOLD = ("kind", "parameters", "measures", "violations", "extra", "evaluations", "seconds", "stopped_by", "versions")


@dataclass(frozen=True)
class Verification:
    """What was confirmed about an answer, one sentence each."""

    problem: str
    findings: tuple[str, ...]


def verify(result: Result, problem: Problem, instance: Instance | None = None) -> Verification:
    """Compare everything a result claims with the problem itself.

    The decision is judged anew by the evaluator; objective, violations and measures must agree (1e-6 relative), and so
    must what the problem tells of the decision beyond them (``extra``, 1e-9 relative). The bound must not lie above the
    objective, and the status must follow from the two. If the instance tells a best-known decision, it must not
    contradict the result.

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
    for name in ("evaluations", "judged_in_full", "seconds"):
        if getattr(result, name) < 0:
            raise InstanceError(name, getattr(result, name), "this is zero or more.")
    findings = [*_verify_decision(result, problem), *_verify_bound(result)]
    if not result.checked and result.decision is not None:
        raise InstanceError("checked", False, "an answer says that the evaluator has confirmed it.")
    findings += _verify_best_known(result, problem, instance) if instance is not None else []
    return Verification(problem.name, tuple(findings))


def verify_file(path: str | os.PathLike[str], problem: Problem, instance: Instance | None = None) -> Verification:
    """Compare everything a result file claims with the problem itself; errors name the file.

    More than `verify` sees: all fields of a result must be there, and the gap must be that of objective and bound.
    """
    file = os.fspath(path)
    try:
        data = read_json(path)
        answer = result_from_data(data, folder=Path(path).parent)
        for name in REQUIRED:
            if name not in data:
                raise MissingField(name, "this is not a result as `optmodels solve --json` prints it.")
        for name in TOLD:
            if data[name] is None:
                raise InstanceError(name, None, "every result tells this.")
        if answer.decision is None and data["objective"] is not None:
            raise InstanceError("objective", data["objective"], "without a decision there is no objective.")
        verification = verify(answer, problem, instance)
        _verify_gap(data["gap"], answer)
    except InstanceError as failure:
        raise failure if failure.file else failure.at(file) from None
    return verification


def _verify_gap(claimed: Any, result: Result) -> None:
    gap = plain(result.gap())
    if not _same(claimed, gap, TOLERANCE, 1e-9):
        reason = f"objective {result.objective!r} and bound {result.bound!r} make it {gap!r}."
        raise InstanceError("gap", claimed, reason)


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
    told_broken = {name: amount for name, amount in (claimed.violations if claimed else {}).items() if amount != 0}
    for name in {**told_broken, **broken}:
        if not _same(told_broken.get(name), broken.get(name), TOLERANCE, 1e-9):
            amount = broken.get(name, 0.0)
            raise InstanceError(f"violations.{name}", told_broken.get(name), f"the evaluator finds {amount!r}.")
    for name, value in (claimed.measures if claimed else {}).items():
        again = plain(found.measures.get(name))  # what is not finite is told as null
        if not _same(plain(value), again, TOLERANCE, 1e-9):
            raise InstanceError(f"measures.{name}", value, f"the evaluator finds {again!r}.")
    _verify_extra(result, problem, decision)
    verdict = "feasible" if not broken else f"breaks {', '.join(broken)}, as the result says"
    return [f"objective {found.objective:.10g} recomputed", verdict]


def _verify_extra(result: Result, problem: Problem, decision: Any) -> None:
    """Hold what is told beyond the measures against the problem; what it would not tell again is left alone."""
    if not isinstance(problem, Describing):
        return
    for name, again in plain(problem.describe(decision)).items():
        if name not in result.extra or again is None:
            continue
        claimed = plain(result.extra[name])
        if not _same(claimed, again, EXTRA_TOLERANCE, EXTRA_FLOOR):
            raise InstanceError(f"extra.{name}", claimed, f"the problem tells {short(again)}.")


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
    # A decision beyond those the space lists (a policy by state) may be better than the best of these.
    lists = getattr(problem.space, "lists", None)
    listed = lists is None or lists(result.decision)
    if best.proved and listed and result.objective < best.objective - slack:
        raise InstanceError(
            "objective", result.objective, f"it is below {best.objective!r}, which the instance calls proved."
        )
    distance = result.objective - best.objective
    word = (
        "equal to" if abs(distance) <= slack else f"{distance:.6g} above" if distance > 0 else f"{-distance:.6g} below"
    )
    return [f"{word} the best known, {best.objective:.10g}"]


def _same(first: Any, second: Any, relative: float, absolute: float) -> bool:
    """Whether two JSON values are equal up to the rounding of their numbers."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return set(first) == set(second) and all(_same(first[k], second[k], relative, absolute) for k in second)
    if isinstance(first, list) and isinstance(second, list):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(_same(a, b, relative, absolute) for a, b in pairs)
    if _is_number(first) and _is_number(second):
        return math.isclose(first, second, rel_tol=relative, abs_tol=absolute)
    return type(first) is type(second) and bool(first == second)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=1e-9)
