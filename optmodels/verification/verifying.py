"""Checking an answer without the strategy that gave it.

An answer makes claims: an objective, that all constraints are kept, a bound below which nothing lies, a status. Each is
held against the problem itself, and called

``confirmed``
    it was computed, or a bound that reaches it was proved, again;
``refuted``
    something else was found: another value, or a decision below the bound (``optimal`` falls with its bound);
``taken on trust``
    neither, as for most bounds that took long to prove: such a claim is never called verified;
``not claimed``
    the answer says nothing of the kind.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics import Describing, Evaluation, Problem, Result, Status

from ..data import as_real, check_switch, read_json
from ..errors import InstanceError, MissingField, RequestError, short
from ..instance import check_best_known
from ..protocols import has_objective, kind_of, lists, objective_step, origin_of
from ..results import REQUIRED, plain, read_result, result_from_data
from ..solving import ProblemLike, as_instance, as_problem
from ..solving import Result as Answer
from . import proving
from .proving import CHEAP_SECONDS, PROVE_SECONDS, Proved, next_multiple, prove_again, solve_again
from .verdicts import Claim, Verdict, Verification

if TYPE_CHECKING:
    from ..instance import BestKnown, Instance

#: Two computations of one number may differ by this much, relative.
TOLERANCE = 1e-6

#: Two computations of what a problem tells beyond its measures: relative, and absolute for probabilities near zero.
EXTRA_TOLERANCE, EXTRA_FLOOR = 1e-9, 1e-12

#: Measures, amounts of violations and gaps below this are rounding; measures of small objectives: below so much of it.
FLOOR = 1e-12

#: Fields of a result that are never null.
TOLD = ("kind", "parameters", "measures", "violations", "extra", "evaluations", "seconds", "stopped_by", "versions")


def verify(
    result: Result | str | os.PathLike[str],
    problem: ProblemLike | None = None,
    instance: Instance | None = None,
    *,
    prove: bool = False,
    seconds: float | None = None,
) -> Verification:
    """Hold every claim of a result against the problem itself.

    The decision is evaluated anew; objective, violations and measures must agree (1e-6 relative), and so
    must what the problem gives of the decision beyond them (``extra``, 1e-9 relative). What is cheap to prove is proved
    again (`optmodels.verification.proving`): a bound is confirmed by a bound proved here that reaches it (1e-9
    relative), refuted by a decision that lies below it, and taken on trust otherwise.

    Parameters
    ----------
    result
        As a run returned it, or as it was read from a file; or the path of that file.
    problem, instance
        A problem, its instance, the path of its file, or the name of a shipped instance; a result of this process knows
        its own. The best-known decision of the instance is held against the answer, too.
    prove
        Solve again, by other strategies than the one that answered, what is left on trust.
    seconds
        For proofs, together: 10 by default, 60 with `prove`; 0: evaluate only, and take bounds on trust.

    Returns
    -------
    Verification
        What became of each claim.

    Raises
    ------
    InstanceError
        If this is no answer to this problem at all, or the instance contradicts itself. A claim that does not hold is
        no error here: see `Verification.check`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from optmodels import solve, verify
    >>> file = "instances/placement/gautam-2x3.json"
    >>> answer = solve(file, "exhaustive")
    >>> verify(answer, file).verified, verify(replace(answer, bound=9.0), file).verified
    (True, False)
    """
    check_switch("prove", prove)
    limit = 0.0 if seconds is None else as_real(seconds)
    if limit is None or limit < 0:
        raise RequestError(f"the seconds for proofs are a number, zero or more, got {seconds!r}.")
    if isinstance(result, (str, os.PathLike)):
        result = read_result(result)
    if not isinstance(result, Result):
        raise RequestError(f"what is verified is a result, or the path of one; got {short(result)}.")
    asked = _asked(result) if problem is None else as_problem(problem)
    best = origin_of(asked).best_known if instance is None else as_instance(instance).best_known
    verification = judge(result, asked)
    if verification.refuted:
        return verification
    known = _best_known(result, asked, best)
    if not has_objective(asked):
        return verification
    time = (PROVE_SECONDS if prove else CHEAP_SECONDS) if seconds is None else seconds
    cheap = min(CHEAP_SECONDS, time / 3) if prove else time

    def settled(proved: Proved) -> bool:
        return not _claims(verification.claims, result, asked, proved).on_trust

    without = result.strategy if prove else None
    proved = prove_again(asked, result.decision, known=known, seconds=cheap, settled=settled, without=without)
    if prove and not settled(proved):
        proved = solve_again(asked, result, proved, seconds=time - 2 * cheap, settled=settled)
    if prove and not settled(proved):  # no other road leads there: at least the same one again
        again = prove_again(asked, result.decision, known=known, seconds=cheap, settled=settled)
        proved = replace(again, tried=proved.tried) if settled(again) else proved
    verification = replace(
        _claims(verification.claims, result, asked, proved), problem=asked.name, compared=_compared(result, best)
    )
    return replace(verification, prove=_next(asked, result, proved, prove)) if verification.on_trust else verification


def judge(result: Result, problem: Problem, *, extra: bool = True) -> Verification:
    """Hold against the evaluator what a result says of its decision, and against each other what it says besides.

    Bounds are taken on trust if they do not lie above the objective.

    Parameters
    ----------
    result
        The answer.
    problem
        What it answers.
    extra
        Whether to look at what the problem gives beyond measures, which may take a search.

    Returns
    -------
    Verification
        What became of each claim.
    """
    if result.problem != problem.name:
        raise InstanceError("problem", result.problem, f"this is an answer to another problem than {problem.name!r}.")
    kind = kind_of(problem)
    if result.kind is not None and kind is not None and result.kind != kind:
        raise InstanceError("kind", result.kind, f"the problem is of kind {kind!r}.")
    for name in ("evaluations", "judged_in_full", "seconds"):
        if getattr(result, name) < 0:
            raise InstanceError(name, getattr(result, name), "this is zero or more.")
    if not result.checked and result.decision is not None:
        raise InstanceError("checked", False, "an answer says that the evaluator has confirmed it.")
    claims = {**_decision_claims(result, problem, extra)}
    return replace(_claims(claims, result, problem, Proved()), problem=problem.name)


def verify_file(
    path: str | os.PathLike[str],
    problem: Problem,
    instance: Instance | None = None,
    *,
    prove: bool = False,
    seconds: float | None = None,
) -> Verification:
    """Hold every claim of a result file against the problem itself; errors name the file.

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
                raise InstanceError(name, None, "every result has this field.")
        if answer.decision is None and data["objective"] is not None:
            raise InstanceError("objective", data["objective"], "without a decision there is no objective.")
        found = verify(answer, problem, instance, prove=prove, seconds=seconds)
    except InstanceError as failure:
        raise failure if failure.file or failure.field.startswith("best_known") else failure.at(file) from None
    return replace(found, claims={**found.claims, "gap": _held(lambda: _gap(data["gap"], answer))})


# -- the decision -----------------------------------------------------------------------------------------------------


def _held(check: Callable[[], str]) -> Claim:
    """A claim that a check confirms with a reason, or refuses with an error."""
    try:
        reason = check()
    except InstanceError as failure:
        return Claim(Verdict.REFUTED, failure.rule, failure.field, failure.value)
    return Claim(Verdict.CONFIRMED, reason)


def _decision_claims(result: Result, problem: Problem, extra: bool) -> dict[str, Claim]:
    """Objective, feasibility and measures."""
    nothing = Claim(Verdict.NOT_CLAIMED, "there is no decision to evaluate")
    if result.decision is None:
        return {"objective": nothing, "feasibility": nothing}
    try:
        decision = problem.space.check(result.decision)
    except (ValueError, TypeError, OverflowError) as failure:
        wrong = Claim(Verdict.REFUTED, " ".join(str(failure).split()), "decision", plain(result.decision))
        return {"objective": wrong, "feasibility": wrong}
    found = problem.evaluate(decision)
    claimed = result.evaluation or Evaluation(math.nan)
    return {
        "objective": _held(lambda: _objective(claimed, found)),
        "feasibility": _held(lambda: _feasibility(result, claimed, found)),
        "measures": _held(lambda: _measures(result, problem, decision, claimed, found, extra)),
    }


def _objective(claimed: Evaluation, found: Evaluation) -> str:
    if math.isnan(claimed.objective):
        if not math.isnan(found.objective):
            raise InstanceError("objective", None, f"the evaluator finds {found.objective!r}.")
        return "there is no cost to minimise"
    if not _close(claimed.objective, found.objective):
        raise InstanceError("objective", claimed.objective, f"the evaluator finds {found.objective!r}.")
    return f"{found.objective:.10g}, as the evaluator finds again"


def _feasibility(result: Result, claimed: Evaluation, found: Evaluation) -> str:
    broken = {name: amount for name, amount in found.violations.items() if not amount <= 0}
    if broken and result.status != Status.UNKNOWN:
        told = ", ".join(f"{name} by {amount:g}" for name, amount in broken.items())
        raise InstanceError("status", str(result.status), f"the decision is not feasible: it breaks {told}.")
    told_broken = {name: amount for name, amount in claimed.violations.items() if amount != 0}
    for name in {**told_broken, **broken}:
        if not _same(told_broken.get(name), broken.get(name), TOLERANCE, FLOOR):
            amount = broken.get(name, 0.0)
            raise InstanceError(f"violations.{name}", told_broken.get(name), f"the evaluator finds {amount!r}.")
    return f"it breaks {', '.join(broken)}, as the result says" if broken else "all constraints are kept"


def _measures(
    result: Result, problem: Problem, decision: Any, claimed: Evaluation, found: Evaluation, extra: bool
) -> str:
    """Hold measures, and what is told beyond them, against the problem; what it would not tell again is left alone."""
    floor = FLOOR * min(1.0, abs(found.objective) if found.objective else 1.0)
    floor = FLOOR if math.isnan(floor) else floor
    for name, value in claimed.measures.items():
        again = plain(found.measures.get(name))  # what is not finite is told as null
        if not _same(plain(value), again, TOLERANCE, floor):
            raise InstanceError(f"measures.{name}", value, f"the evaluator finds {again!r}.")
    if not extra or not isinstance(problem, Describing):
        return "as the evaluator finds again"
    for name, again in plain(problem.describe(decision)).items():
        if name not in result.extra or again is None:
            continue
        told = plain(result.extra[name])
        if not _same(told, again, EXTRA_TOLERANCE, EXTRA_FLOOR):
            raise InstanceError(f"extra.{name}", told, f"the problem gives {short(again)}.")
    return "as the evaluator finds again, and so are the further results"


def _gap(claimed: Any, result: Result) -> str:
    gap = plain(result.gap())
    if not _same(claimed, gap, TOLERANCE, FLOOR):
        reason = f"objective {result.objective!r} and bound {result.bound!r} make it {gap!r}."
        raise InstanceError("gap", claimed, reason)
    return "as follows from objective and bound"


# -- bound and status -------------------------------------------------------------------------------------------------


def _claims(decided: Mapping[str, Claim], result: Result, problem: Problem, proved: Proved) -> Verification:
    """All claims in the light of what is proved so far."""
    claims = {name: claim for name, claim in decided.items() if name not in ("bound", "status")}
    wrong = next((claim for claim in claims.values() if claim.verdict is Verdict.REFUTED), None)
    feasible = result.decision is not None and result.status in (Status.OPTIMAL, Status.FEASIBLE)
    objective = result.objective if feasible and wrong is None else None
    claims["bound"] = _bound(result, objective, proved)
    claims["status"] = _status(result, problem, objective, claims["bound"], wrong, proved)
    return Verification(problem.name, claims, proved)


def _bound(result: Result, objective: float | None, proved: Proved) -> Claim:
    bound = result.bound
    if bound is None:
        if result.status == Status.OPTIMAL:
            return Claim(Verdict.REFUTED, "an optimal answer comes with the bound that proves it.", "bound", None)
        return Claim(Verdict.NOT_CLAIMED, "the answer proves nothing")
    if objective is not None and bound > objective + proving.PRECISION * abs(objective):
        reason = f"a feasible decision has the objective {objective!r}, below this bound."
        return Claim(Verdict.REFUTED, reason, "bound", bound)
    if proved.lies_below(bound):
        reason = f"{_of(proved.found_by)} has the objective {proved.least!r}, below this bound."
        return Claim(Verdict.REFUTED, reason, "bound", bound)
    if proved.infeasible is not None:
        return Claim(Verdict.CONFIRMED, f"no decision is feasible: {proved.infeasible}")
    if proved.reaches(bound):
        return Claim(Verdict.CONFIRMED, f"nothing lies below {bound:.10g}, proved again by {_road(proved, result)}")
    return Claim(Verdict.ON_TRUST, _unproved(f"that nothing lies below {bound:.10g}", proved))


def _status(
    result: Result, problem: Problem, objective: float | None, bound: Claim, wrong: Claim | None, proved: Proved
) -> Claim:
    status = str(result.status)

    def refuted(reason: str) -> Claim:
        return Claim(Verdict.REFUTED, reason, "status", status)

    if result.decision is None:
        return _status_without(result.status, proved)
    if result.status == Status.INFEASIBLE:
        return refuted("a problem proved infeasible has no decision.")
    if wrong is not None:
        if wrong.place == "status":
            return wrong
        return refuted("what it says of its decision does not hold.")
    if result.status == Status.UNKNOWN:
        judged = result.evaluation
        if judged is None or not judged.feasible:
            return Claim(Verdict.CONFIRMED, "unknown: the decision breaks constraints, and none better is claimed")
        return refuted("the decision is feasible.")
    if result.status == Status.FEASIBLE:
        return Claim(Verdict.CONFIRMED, "feasible: the decision keeps all constraints, and no more is claimed")
    if bound.verdict is Verdict.REFUTED:
        return refuted(bound.reason)
    assert objective is not None and result.bound is not None
    reach = max(result.bound, next_multiple(result.bound, objective_step(problem)))
    if reach < objective - proving.PRECISION * abs(objective):
        return refuted(f"the bound {result.bound!r} leaves room below the objective {objective!r}.")
    if proved.lies_below(objective):
        return refuted(f"{_of(proved.found_by)} has the objective {proved.least!r}, below {objective!r}.")
    if proved.reaches(objective):
        reason = f"optimal: nothing lies below {objective:.10g}, proved again by {_road(proved, result)}"
        return Claim(Verdict.CONFIRMED, reason)
    return Claim(Verdict.ON_TRUST, _unproved(f"that nothing lies below {objective:.10g}", proved))


def _status_without(status: Status, proved: Proved) -> Claim:
    """The status of an answer without a decision."""
    if status == Status.UNKNOWN:
        return Claim(Verdict.NOT_CLAIMED, "unknown: nothing was found, and nothing is claimed")
    if status != Status.INFEASIBLE:
        rule = "without a decision it is infeasible or unknown."
        return Claim(Verdict.REFUTED, rule, "status", str(status))
    if proved.best is not None:
        reason = f"{_of(proved.found_by)} is feasible, objective {proved.least!r}."
        return Claim(Verdict.REFUTED, reason, "status", str(status))
    if proved.infeasible is not None:
        return Claim(Verdict.CONFIRMED, f"infeasible: {proved.infeasible}")
    return Claim(Verdict.ON_TRUST, "that no decision is feasible was neither proved nor refuted here")


def _of(found_by: str) -> str:
    return f"a feasible decision found here ({found_by})" if found_by != BEST_KNOWN else "the best-known decision"


def _road(proved: Proved, result: Result) -> str:
    name = proved.by.partition(":")[0].partition(" ")[0]
    same = name == result.strategy and proved.by.partition(" ")[0] not in proved.tried
    return f"{proved.by}, the strategy that answered" if same else proved.by


def _unproved(what: str, proved: Proved) -> str:
    near = f"; {proved.by} proves {proved.bound:.10g}" if math.isfinite(proved.bound) else ""
    again = f" (solved again by {', '.join(proved.tried)})" if proved.tried else ""
    return f"{what} was neither proved nor refuted here{again}{near}"


def _next(problem: Problem, result: Result, proved: Proved, prove: bool) -> str:
    """What would be done about claims that are left on trust."""
    others = [spec for spec in proving.other_roads(problem, result) if spec not in proved.tried]
    if prove and proved.tried:
        return "more --seconds may prove it"
    if not others:
        return "no other exact strategy takes this problem"
    return f"--prove would solve it again by {others[0]} within --seconds"


# -- the best known ---------------------------------------------------------------------------------------------------

BEST_KNOWN = "best known"


def _asked(result: Result) -> Problem:
    """The problem that a result of this process answers."""
    if not isinstance(result, Answer):
        raise RequestError(f"name the problem that is answered: {result.problem!r} is not known to its result.")
    return result.known_problem()


def _best_known(result: Result, problem: Problem, best: BestKnown | None) -> list[tuple[Any, str]]:
    """The best-known decision, confirmed; an answer below one that is called proved is a contradiction."""
    if best is None:
        return []
    confirmed = check_best_known(best, problem)
    claimed = result.objective if result.status in (Status.OPTIMAL, Status.FEASIBLE) else None
    # A decision beyond those the space lists (a policy by state) may be better than the best of these.
    if best.proved and claimed is not None and lists(problem, result.decision) and _below(claimed, best.objective):
        raise InstanceError("objective", claimed, f"it is below {best.objective!r}, which the instance calls proved.")
    return [] if confirmed is None else [(best.decision, BEST_KNOWN)]


def _compared(result: Result, best: BestKnown | None) -> str | None:
    if best is None or result.objective is None or result.status == Status.UNKNOWN:
        return None
    distance = result.objective - best.objective
    if _close(result.objective, best.objective):
        word = "equal to"
    else:
        word = f"{abs(distance):.6g} {'above' if distance > 0 else 'below'}"
    return f"{word} the best known, {best.objective:.10g}"


# -- numbers ----------------------------------------------------------------------------------------------------------


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
    return math.isclose(first, second, rel_tol=TOLERANCE)


def _below(first: float, second: float) -> bool:
    """Whether one number is below another by more than two computations of one may differ."""
    return first < second and not _close(first, second)
