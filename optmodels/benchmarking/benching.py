"""`bench`: strategies compared on a set, and their answers held against its solution file.

The best known value of an instance is that of the solution file, if the evaluator finds it at its decision; a claim
that it does not find is said to be refuted, and not used. After the comparison each instance has one finding:

``confirmed``
    the claim holds, and nothing better was found;
``new``, ``better``, ``proof``, ``bound``
    a first or a lower value, a proof that the value is optimal, or a higher bound was found: offered as a change of the
    file, once it is verified again (`optmodels.verification`);
``refuted``
    the claim does not hold: its decision has another value, or a value that was called optimal is not;
``not reached``
    no run came down to the claim;
``open``
    nothing was claimed, and nothing was found.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from heuristics import Problem, Result, Status

from ..data import columns, number
from ..errors import InstanceError
from ..results import plain
from ..studies import Comparison, compare
from ..verification import verify
from .sets import BenchmarkSet, read_set
from .solutions import Solution, check_solution, kept_decision, patch_text, read_solutions

CONFIRMED, NEW, BETTER = "confirmed", "new", "better"

#: Values that differ by less than this, relative, are the same value.
SAME = 1e-6

#: Packages whose versions stand beside a value: ourselves, and solvers.
OURSELVES, SOLVERS = "optmodels", ("highspy", "pyscipopt", "ortools")

#: Seconds for proving again what is offered.
VERIFYING = 10.0


@dataclass(frozen=True)
class Finding:
    """What became of the claim on an instance.

    Parameters
    ----------
    instance
        Name in the set.
    verdict
        One of those above.
    reason
        In words.
    """

    instance: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Benchmark:
    """A comparison on a set, held against its solution file.

    Parameters
    ----------
    chosen
        The set.
    comparison
        All runs.
    claims
        The solution file, by instance.
    findings
        What became of each claim.
    offers
        What the solution file should say instead, by instance; verified.
    """

    chosen: BenchmarkSet
    comparison: Comparison
    claims: Mapping[str, Solution]
    findings: tuple[Finding, ...]
    offers: Mapping[str, Solution] = field(default_factory=dict)

    def patch(self) -> str:
        """Write the offers as a unified diff of the solution file; empty if there are none."""
        return patch_text(self.chosen, {**self.claims, **self.offers})

    def table(self) -> str:
        """Write what became of the claims: how many are confirmed, and a line for each of the others."""
        rows = [["instance", "known", "proved", "verdict", ""]]
        for finding in self.findings:
            if finding.verdict != CONFIRMED:
                claim = self.claims[finding.instance]
                proved = "yes" if claim.proved else ("no" if claim.value is not None else "")
                rows.append([finding.instance, number(claim.value), proved, finding.verdict, finding.reason])
        confirmed = sum(finding.verdict == CONFIRMED for finding in self.findings)
        head = f"solution file: {confirmed} of {len(self.findings)} claims are confirmed"
        return head if len(rows) == 1 else f"{head}; the others:\n{columns(rows, '  ')}"

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        claims = {
            name: {"status": one.status, "value": one.value, "bound": one.bound, "proved_by": one.proved_by}
            for name, one in self.claims.items()
        }
        return {
            "set": self.chosen.name,
            "instances": len(self.chosen),
            "known": claims,
            "findings": [plain(vars(finding)) for finding in self.findings],
            "offers": sorted(self.offers),
            "comparison": self.comparison.to_data(),
        }


def bench(
    chosen: BenchmarkSet | str | os.PathLike[str],
    strategies: str | Iterable[str] | None = None,
    *,
    seconds: float | None = None,
    evaluations: int | None = None,
    seeds: int | None = None,
    workers: int = 1,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Any = None,
    today: date | None = None,
) -> Benchmark:
    """Compare strategies on a benchmark set, and hold what they find against its solution file.

    Parameters
    ----------
    chosen
        A set, its name, or the path of its file.
    strategies, seconds, evaluations, seeds
        As in `optmodels.compare`; those of the set unless given. A limit that is given replaces both of the set.
    workers, out, resume, progress
        As in `optmodels.compare`.
    today
        Day that offers bear.

    Returns
    -------
    Benchmark
        The comparison, a finding for each instance, and verified changes of the solution file.

    Raises
    ------
    RequestError
        If there is no such set, a file is broken, or an instance is not the one that the set was made with.

    Examples
    --------
    >>> from optmodels.benchmarking import bench
    >>> found = bench("routing-random", ["balanced"], evaluations=50)  # doctest: +SKIP
    """
    if not isinstance(chosen, BenchmarkSet):
        chosen = read_set(chosen)
    claims = read_solutions(chosen)
    given = seconds is not None or evaluations is not None
    problems: dict[str, Problem] = {}
    unclaimed: dict[str, Problem] = {}  # what is verified is verified against the problem, not against the claim
    refuted: dict[str, str] = {}
    for drawn in chosen.instances():
        claim = claims[drawn.name]
        known = claim.best_known(drawn)
        unclaimed[drawn.name] = drawn.model_copy(update={"best_known": None}).problem()
        try:
            check_solution(claim, drawn, unclaimed[drawn.name])
        except InstanceError as failure:
            refuted[drawn.name] = str(failure)
            known = None
        problems[drawn.name] = drawn.model_copy(update={"best_known": known}).problem()
    comparison = compare(
        list(problems.values()),
        chosen.strategies if strategies is None else strategies,
        seeds=chosen.seeds if seeds is None else seeds,
        seconds=seconds if given else chosen.seconds,
        evaluations=evaluations if given else chosen.evaluations,
        workers=workers,
        out=out,
        resume=resume,
        progress=progress,
    )
    found, offers = [], {}
    for name, problem in unclaimed.items():
        finding, offer = _judge(comparison, claims[name], problem, refuted.get(name), today or date.today())
        found.append(finding)
        if offer is not None:
            offers[name] = offer
    return Benchmark(chosen, comparison, claims, tuple(found), offers)


# -- inside -----------------------------------------------------------------------------------------------------------


def _judge(
    comparison: Comparison, claim: Solution, problem: Problem, refuted: str | None, today: date
) -> tuple[Finding, Solution | None]:
    """Say what became of a claim, and what should be claimed instead."""
    name = claim.instance
    results = [run.result for run in comparison.runs if run.problem == name and run.error is None]
    standing = Solution(name) if refuted is not None else claim
    offer, verdict, reason = None, "", ""
    improved = _improved(standing, results, problem, today)
    if improved is not None:
        offer, verdict, reason = improved
    if refuted is not None:
        return Finding(name, "refuted", refuted + (f" Found instead: {reason}" if reason else "")), offer
    if offer is not None:
        if claim.proved and verdict in (BETTER, NEW):
            verdict, reason = "refuted", f"called {claim.status} by {claim.proved_by}, but {reason}"
        return Finding(name, verdict, reason), offer
    if claim.value is None:
        return Finding(name, CONFIRMED if claim.proved else "open", reason or "nothing is claimed."), None
    least = min((result.objective for result in results if result.objective is not None), default=None)
    above = [result for result in results if result.bound is not None and _below(claim.value, result.bound)]
    if above:
        told = f"{above[0].strategy} claims that nothing lies below {above[0].bound!r}, which is above the claim"
        return Finding(name, "refuted", f"{told}, {claim.value!r}; one of both is wrong."), None
    if least is None:
        return Finding(name, "not reached", "no run found a feasible decision."), None
    if _below(claim.value, least):
        gap = (least - claim.value) / abs(claim.value) if claim.value else float("inf")
        return Finding(name, "not reached", f"the best run is {gap:.2%} above."), None
    return Finding(name, CONFIRMED, reason or "reached again."), None


def _improved(
    claim: Solution, results: Sequence[Result], problem: Problem, today: date
) -> tuple[Solution | None, str, str] | None:
    """The change that the best results make of a claim, verified; with verdict and reason, or why there is none."""
    best = _best(results)
    if best is None or best.objective is None:
        proof = _first(results, Status.INFEASIBLE)
        if claim.status != "unknown" or proof is None:
            return None
        offer = Solution(claim.instance, "infeasible", proved_by=_who(proof), when=today)
        return offer, "proof", f"{_who(proof)} proves that no decision is feasible."
    better = claim.value is None or _below(best.objective, claim.value)
    value = best.objective if better or claim.value is None else claim.value
    proof = best if best.status == Status.OPTIMAL and not _below(value, best.objective) else None
    proves = proof is not None and (better or not claim.proved)
    bounded = max((one for one in results if one.bound is not None), key=_bound, default=None)
    if bounded is not None:
        news = better or claim.bound is None or _below(claim.bound, _bound(bounded))
        if proves or not news or (claim.proved and not better) or _below(value, _bound(bounded)):
            bounded = None
    if not (better or proves or bounded):
        return None
    again = "proved again"
    for shown in dict.fromkeys(id(one) for one in (best, bounded) if one is not None):
        result = best if shown == id(best) else bounded
        assert result is not None
        checked = verify(result, problem, seconds=VERIFYING)
        if checked.refuted:
            verdict = "open" if claim.value is None else CONFIRMED
            return None, verdict, f"the answer of {result.strategy} was refuted: {checked.error}"
        if "bound" in checked.on_trust:
            again = "not proved again"
    offer = replace(claim, when=today)
    if better:
        kept = kept_decision(plain(best.decision))
        offer = Solution(claim.instance, "feasible", value, None, _who(best), None, today, kept)
    if proves and proof is not None:
        offer = replace(offer, status="optimal", proved_by=f"{_who(proof)}; {again}", bound=None)
    elif bounded is not None:
        offer = replace(offer, bound=bounded.bound, proved_by=f"bound by {_who(bounded)}; {again}")
    proved = f", optimal by {offer.proved_by}" if proves else ""
    if better:
        told = f"{number(value)} by {_who(best)}{proved}"
        if claim.value is None:
            return offer, NEW, f"{told}."
        return offer, BETTER, f"{told}; {number(claim.value)} was claimed."
    if proves:
        return offer, "proof", f"{number(value)}{proved}."
    return offer, "bound", f"nothing lies below {number(offer.bound)}, {offer.proved_by}."


def _best(results: Sequence[Result]) -> Result | None:
    """The lowest objective; of those that are the same but for rounding, one that is proved, then the quickest."""
    answered = [result for result in results if result.objective is not None]
    least = min((result.objective for result in answered if result.objective is not None), default=0.0)
    equal = [result for result in answered if result.objective is not None and not _below(least, result.objective)]
    return min(equal, key=lambda result: (result.status != Status.OPTIMAL, result.seconds), default=None)


def _bound(result: Result) -> float:
    return -math.inf if result.bound is None else result.bound


def _first(results: Iterable[Result], status: Status) -> Result | None:
    return next((result for result in results if result.status == status), None)


def _below(one: float, other: float) -> bool:
    """Tell whether a number lies below another by more than rounding."""
    return one < other - SAME * max(abs(one), abs(other))


def _who(result: Result) -> str:
    """Name who answered, with versions."""
    solved = "solver" in result.parameters  # else a solver that this process has loaded had no part in it
    named = (OURSELVES, *SOLVERS) if solved else (OURSELVES,)
    versions = [f"{name} {version}" for name, version in dict(result.versions).items() if name in named]
    return ", ".join([str(result.strategy), *versions])
