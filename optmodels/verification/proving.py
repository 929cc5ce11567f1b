r"""Proving again, cheaply, what an answer claims: lower bounds, and decisions that lie below them.

A bound :math:`b` says that no feasible decision costs less. It is *confirmed* by a bound :math:`b'` proved here that
reaches it, and *refuted* by one feasible decision of cost :math:`v` below it,

.. math::  b' \ge b - 10^{-9} |b|, \qquad v < b - 10^{-9} |b|.

Costs may have any scale, so nothing here is compared in absolute terms. Roads are chosen by what a problem offers
(protocols), never by its kind:

* its own word that nothing is feasible, and its own lower bound (freshness: the value of the dual; routing: densities;
  placement: the fractional knapsack);
* the relaxed optimum at the best multiplier, which is a decision, too (freshness: the optimal frequencies);
* policy iteration from the answer itself; each step brackets the least cost (Bellman);
* enumeration of a small space;
* exact strategies that are quick: the best cycle of gaps, backward induction, the best policy by state, which sees
  more than thresholds do, and so on;
* the dual of the linear relaxation of the problem's integer program, safe whatever the method's tolerances;
* a descent from the answer and a short search, which prove nothing and may refute.

What a problem without its limits, or without its period, cannot go below, it cannot go below with them either.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np

from heuristics import (
    Batch,
    Bounded,
    Budget,
    BudgetSpent,
    Candidate,
    Decision,
    Disagreement,
    Estimating,
    Evaluation,
    Explaining,
    Problem,
    Result,
    Space,
    Status,
    Strategy,
    UnsupportedProblem,
    parameters,
    refusal,
    run,
)
from heuristics.allocation import SeparableProblem
from heuristics.dynamic import Improvable

from ..costs import Limits
from ..errors import RequestError
from ..mip import within
from ..protocols import Listing, PerhapsPartial, limits_of, lists, objective_step
from ..registry import make_strategy

#: A bound and an objective this near, relative, are the same.
PRECISION = 1e-9

#: Seconds for the roads that are cheap, and for solving again.
CHEAP_SECONDS, PROVE_SECONDS = 10.0, 60.0

#: Decisions of a space that is enumerated first, and of one that is if nothing else has settled it; those in a batch.
FEW, MOST, BATCH = 20_000, 200_000, 500

#: Decisions tried by a descent, and by a search.
DESCENT, SEARCH = 5_000, 20_000

#: Exact strategies that are quick, as they are asked in passing.
QUICK = (
    "two-server",
    "min-mean-cycle:states=200000",
    "backward-induction",
    "marginal-analysis",
    "optimal-policy:thresholds=false",
    "linear-program",
)

#: Exact strategies in the order in which `solve_again` asks them.
EXACT = (
    "two-server",
    "min-mean-cycle",
    "backward-induction",
    "marginal-analysis",
    "policy-iteration",
    "value-iteration:accuracy=1e-10",
    "linear-program",
    "optimal-policy:thresholds=false",
    "highs",
    "highs:solver=scip",
    "highs:solver=cpsat",
    "exhaustive",
)

#: What a road may end with and have proved nothing: it cannot take the problem, or has no number for a decision.
DEAD_ENDS = (RequestError, UnsupportedProblem, Disagreement, BudgetSpent, ArithmeticError)


@runtime_checkable
class Relaxable(Problem, Protocol):
    """A problem whose decisions are decisions of another one, with fewer rules, at the same cost."""

    def relaxed(self) -> Problem: ...


@dataclass(frozen=True)
class Proved:
    """What was proved and found here.

    Attributes
    ----------
    bound, by
        No feasible decision costs less, and how that was proved; ``-inf`` if nothing was.
    best, found_by
        The best feasible decision met, and how it was found; ``None`` if none was.
    infeasible
        Why no decision is feasible, if that was proved.
    tried
        Strategies that solved the problem again.
    """

    bound: float = -math.inf
    by: str = ""
    best: Candidate | None = None
    found_by: str = ""
    infeasible: str | None = None
    tried: tuple[str, ...] = ()

    def reaches(self, value: float) -> bool:
        """Whether the bound proves that nothing lies below `value`."""
        return self.infeasible is not None or self.bound >= value - PRECISION * abs(value)

    @property
    def least(self) -> float:
        """What the best feasible decision met costs; infinite if none was."""
        return math.inf if self.best is None else self.best.evaluation.objective

    def lies_below(self, value: float) -> bool:
        """Whether a feasible decision was met that costs less than `value`."""
        return self.least < value - PRECISION * abs(value)


@dataclass
class _Proof:
    """A proof under way; each road adds what it finds.

    Attributes
    ----------
    everywhere
        The claim is about all decisions there are, not only about those that the space lists.
    """

    problem: Problem
    answer: Decision | None
    everywhere: bool
    until: float
    proved: Proved = Proved()

    @property
    def seconds(self) -> float:
        """What is left of the time."""
        return max(0.0, self.until - time.monotonic())

    def bounded(self, bound: float, by: str) -> None:
        """Keep a bound if it is better; where objectives are multiples of a number, the next of these."""
        raised = next_multiple(bound, objective_step(self.problem))
        if raised == math.inf:
            self.proved = replace(self.proved, infeasible=by)
        elif raised > self.proved.bound:
            self.proved = replace(self.proved, bound=raised, by=by)

    def met(self, decision: Decision | None, by: str, evaluation: Evaluation | None = None) -> None:
        """Keep a decision of the problem if it is feasible, better, and one that the claim is about."""
        if decision is None:
            return
        try:
            checked = self.problem.space.check(decision)
        except ValueError:  # of the relaxation, and not of the problem
            return
        if not (self.everywhere or lists(self.problem, checked)):
            return
        judged = self.problem.evaluate(checked) if evaluation is None else evaluation
        best = self.proved.best
        better = best is None or judged.objective < best.evaluation.objective
        if judged.feasible and better and not math.isnan(judged.objective):
            self.proved = replace(self.proved, best=Candidate(checked, judged), found_by=by)


_Road = Callable[[_Proof], None]


def prove_again(
    problem: Problem,
    answer: Decision | None = None,
    *,
    known: Iterable[tuple[Decision, str]] = (),
    seconds: float = CHEAP_SECONDS,
    settled: Callable[[Proved], bool] = lambda proved: False,
    without: str | None = None,
) -> Proved:
    """Try cheap roads in turn until all is settled, or time is over.

    Parameters
    ----------
    problem, answer
        The problem, and the decision whose claims are in question.
    known
        Further decisions, and who knows them.
    seconds
        For all roads together.
    settled
        Asked after each road.
    without
        A strategy that is not to be asked: the one that answered.
    """
    about = answer is not None and not lists(problem, answer)
    proof = _Proof(problem, answer, about, time.monotonic() + seconds)
    for decision, by in known:
        proof.met(decision, by)
    proof.met(answer, "the answer")
    small, complete = problem.space.size <= FEW, _is_complete(problem.space)
    roads: tuple[_Road, ...] = (_reason, _own_bound, _relaxed_optimum, _policies, *([_enumerated] if small else []))
    quick = [_quick(spec) for spec in QUICK if spec.partition(":")[0] != without]
    roads += (*quick, _descent, _linear, *([] if small or not complete else [_enumerated]), _search)
    _follow(proof, roads, settled)
    return proof.proved


def solve_again(
    problem: Problem,
    result: Result,
    proved: Proved,
    *,
    seconds: float = PROVE_SECONDS,
    settled: Callable[[Proved], bool] = lambda proved: False,
) -> Proved:
    """Solve a problem by exact strategies other than the one that answered, until all is settled or time is over."""
    about = result.decision is not None and not lists(problem, result.decision)
    proof = _Proof(problem, result.decision, about, time.monotonic() + seconds, proved)
    _follow(proof, [_quick(spec, told=True) for spec in other_roads(problem, result)], settled)
    return proof.proved


def other_roads(problem: Problem, result: Result) -> list[str]:
    """Exact strategies other than the one that answered; last those that take it relaxed only."""
    as_it_is: list[str] = []
    relaxed: list[str] = []
    for spec in EXACT:
        strategy = make_strategy(spec)
        same_solver = result.parameters.get("solver") == parameters(strategy).get("solver")
        taken = None if strategy.name == result.strategy and same_solver else _taken(problem, strategy)
        if taken is not None:
            (as_it_is if taken is problem else relaxed).append(spec)
    return as_it_is + relaxed


def _is_complete(space: Space) -> bool:
    return space.complete if isinstance(space, PerhapsPartial) else True


def next_multiple(bound: float, step: float | None) -> float:
    """The least multiple of `step` that is not below the bound, up to rounding; the bound itself without a step.

    >>> next_multiple(6.2, 2.0), next_multiple(6.0000000001, 2.0), next_multiple(6.2, None)
    (8.0, 6.0, 6.2)
    """
    if step is None or not math.isfinite(bound) or abs(bound) > 1e6 * step:
        return bound
    return step * math.ceil(bound / step - PRECISION * max(1.0, abs(bound / step)))


# -- roads ------------------------------------------------------------------------------------------------------------


def _follow(proof: _Proof, roads: Iterable[_Road], settled: Callable[[Proved], bool]) -> None:
    for road in roads:
        if settled(proof.proved) or proof.seconds <= 0:
            return
        try:
            road(proof)
        except DEAD_ENDS:
            continue


def _reason(proof: _Proof) -> None:
    problem = proof.problem
    reason = problem.infeasibility() if isinstance(problem, Explaining) else None
    if reason is not None:
        proof.proved = replace(proof.proved, infeasible=reason)


def _own_bound(proof: _Proof) -> None:
    if isinstance(proof.problem, Bounded):
        proof.bounded(proof.problem.lower_bound(), "the problem's own lower bound")


def _relaxed_optimum(proof: _Proof) -> None:
    problem = proof.problem
    if isinstance(problem, SeparableProblem) and problem.unseparable() is None:
        found, by = problem.relaxation(), "the relaxed optimum at the best multiplier"
        proof.bounded(found.bound, by)
        proof.met(found.decision, by)


def _policies(proof: _Proof) -> None:
    """Improve the answer's policy until nothing changes; brackets do not look at limits, and hold with them too."""
    problem = proof.problem
    if not isinstance(problem, Improvable) or problem.unimprovable() is not None:
        return
    by = "policy iteration from the answer (Bellman bracket)"
    decision = problem.first_policy() if proof.answer is None else problem.space.check(proof.answer)
    seen: set[Decision] = set()
    while decision not in seen and proof.seconds > 0:
        seen.add(decision)
        step = problem.policy_step(decision)
        proof.bounded(step.lower, by)
        proof.met(step.decision, by)
        if step.changes == 0:
            return
        decision = step.better


def _enumerated(proof: _Proof) -> None:
    problem, space = proof.problem, proof.problem.space
    if space.size > MOST:
        return
    decisions, count = iter(space), 0
    least = math.inf
    while batch := list(islice(decisions, BATCH)):
        if proof.seconds <= 0:
            return
        batch = [space.check(decision) for decision in batch]
        judged = problem.evaluate_many(batch) if isinstance(problem, Batch) else map(problem.evaluate, batch)
        for decision, evaluation in zip(batch, judged, strict=True):
            proof.met(decision, "enumeration", evaluation)
            if evaluation.feasible:
                least = min(least, evaluation.objective)
        count += len(batch)
    complete = _is_complete(space) and not (proof.everywhere and isinstance(space, Listing))
    if complete and not (isinstance(problem, Estimating) and problem.estimated):
        proof.bounded(least, f"enumeration of all {count} decisions")


def _quick(spec: str, told: bool = False) -> _Road:
    """The road of a strategy; `told`: it is named among those that solved again."""

    def road(proof: _Proof) -> None:
        strategy = make_strategy(spec)
        problem = _taken(proof.problem, strategy)
        if problem is None or (proof.everywhere and strategy.name == "exhaustive"):
            return
        proof.proved = replace(proof.proved, tried=(*proof.proved.tried, spec)) if told else proof.proved
        found = _run(problem, strategy, Budget(seconds=max(proof.seconds, 1e-3)))
        by = spec if problem is proof.problem else f"{spec} with fewer rules"
        if found.status == Status.INFEASIBLE:
            proof.proved = replace(proof.proved, infeasible=f"{by} proves it")
        if found.bound is not None:
            proof.bounded(found.bound, by)
        proof.met(found.decision, by)

    return road


def _linear(proof: _Proof) -> None:
    """The dual of the linear relaxation, from the arrays that a solver would get."""
    from ..mip import AlgebraicProblem, Highs

    problem = proof.problem
    if not isinstance(problem, AlgebraicProblem) or refusal(problem, Highs()) is not None:
        return
    from ..mip import bounds, compile_model, quiet_pyomo

    with within(proof.seconds), quiet_pyomo():
        program = compile_model(problem.to_pyomo()).program
    until = time.monotonic() + proof.seconds / 3
    unit = float(np.abs(program.cost).max(initial=0.0)) or 1.0  # the method measures errors against 1
    for _, bound in bounds(replace(program, cost=program.cost / unit, offset=program.offset / unit)):
        proof.bounded(bound * unit, "the linear relaxation of the integer program")
        if time.monotonic() > until or (proof.proved.best is not None and proof.proved.reaches(proof.proved.least)):
            return


def _descent(proof: _Proof) -> None:
    """From the answer to the first better neighbour, and on."""
    problem, left = proof.problem, DESCENT
    if problem.space.size == math.inf or proof.answer is None or proof.proved.best is None:
        return
    here = proof.proved.best
    while left > 0:
        better = None
        for decision in islice(problem.space.neighbours(here.decision), left):
            left -= 1
            evaluation = problem.evaluate(decision)
            if evaluation.feasible and evaluation.objective < here.evaluation.objective:
                better = Candidate(decision, evaluation)
                break
            if proof.seconds <= 0:
                return
        if better is None:
            return
        here = better
        proof.met(here.decision, "a descent from the answer", here.evaluation)


def _search(proof: _Proof) -> None:
    strategy = make_strategy("annealing")
    if proof.problem.space.size == math.inf or refusal(proof.problem, strategy) is not None:
        return
    found = _run(proof.problem, strategy, Budget(seconds=max(proof.seconds / 2, 1e-3), evaluations=SEARCH))
    proof.met(found.decision, "a short search")


def _run(problem: Problem, strategy: Strategy, budget: Budget) -> Result:
    """One run; an interrupt ends not only the run."""
    found = run(problem, strategy, budget)
    if found.stopped_by == "interrupt":
        raise KeyboardInterrupt
    return found


def _taken(problem: Problem, strategy: Strategy) -> Problem | None:
    """The problem as a strategy takes it: as it is, without its limits, or relaxed; ``None`` if it takes none."""
    for candidate in (problem, *_relaxations(problem)):
        if refusal(candidate, strategy) is None:
            return candidate
    return None


def _relaxations(problem: Problem) -> Iterator[Problem]:
    if isinstance(problem, Relaxable):
        yield problem.relaxed()
        problem = problem.relaxed()
    if is_dataclass(problem) and limits_of(problem):
        anything: Any = problem
        yield replace(anything, limits=Limits())
