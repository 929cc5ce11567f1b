r"""The best policy there is: strategy `optimal-policy` for kind "threshold".

Thresholds see the number of pages only. A policy may also see the phases of arrivals, of service and of the patience of
waiting pages; the best one is found by policy iteration, and a bound proves it
(`heuristics.dynamic.fractional_process`).

Most measures are averages over time, linear in the share of time spent in each state under each mode. Pages are served
first come, first served, so a page that enters knows its chances and its mean times from the state alone, whatever
is decided later: rates of served time and of obsolete time are such averages too, and response times are quotients of
two. A weighted sum of measures is therefore :math:`c + n/d` if all its quotients share one denominator: pages that
arrive (`loss`, `obsolescence`, `success`, `sojourn_time`), that are served (`response_time`), or that go out of date
(`obsolete_time`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heuristics import BudgetSpent, Oracle, Problem, Result
from heuristics.dynamic import DecisionProcess, EvaluatedPolicy, FractionalSearch, solve_process
from heuristics.search import Exhaustive
from queueing import ThresholdQueue
from queueing.threshold import shares_work
from queueing.threshold.policies import SINGLE_LIMIT, PolicyChain, policy_measures, too_large

from ..costs import CostFunction, linear_weights
from .occupation import denominators, priced
from .policy_pairs import improve_by_pairs
from .problem import ThresholdProblem
from .space import StatePolicy
from .subsets import of_subset, single_mode

#: All thresholds are tried beside the policy where they are no more than this; else a local search looks for the best.
MOST_THRESHOLDS = 30_000

#: Told with every answer.
PAIR_ORDER = "by pages, then arrival phase, then service phase"
STATE_ORDER = (
    "by pages, then arrival phase, then service phase, then patience phases of waiting pages, the oldest first"
)


@runtime_checkable
class PolicyProblem(Problem, Protocol):
    """A problem whose decisions are policies of a threshold queue."""

    @property
    def queue(self) -> ThresholdQueue: ...
    @property
    def cost(self) -> CostFunction | None: ...
    def policies(self) -> PolicyChain: ...


@dataclass(frozen=True)
class OptimalPolicy:
    """Prove the best mode of each state (by pages, then arrival, service, patience phases, the oldest page first).

    The answer is ``{"policy": [mode index per state]}``, states in this order: by number of pages, then arrival phase,
    then service phase, then patience phases of waiting pages, the oldest first. Phases are those of the laws of service
    and patience written with as few as possible. The bound holds for randomised policies too. In ``extra`` stand the
    best thresholds, and by how much they cost more.

    Where waiting pages have phases and there are more than 100 000 states, to 300 000, a good policy on pages, arrival
    phase and service phase is looked for, a mode for each of these and no bound.

    Parameters
    ----------
    thresholds
        Whether the best thresholds are looked for too: all of them where they are few or cheap, else by a local search
        that proves nothing.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.threshold import OptimalPolicy, ThresholdGenerator
    >>> problem = ThresholdGenerator(modes=2, capacity=3).instance().problem()
    >>> result = solve(problem, OptimalPolicy())
    >>> round(result.objective, 4)
    101.957
    >>> result.extra["best_threshold"]["decision"], round(result.extra["best_threshold"]["objective"], 4)
    ([2], 101.958)
    """

    thresholds: bool = True

    name: ClassVar[str] = "optimal-policy"
    needs: ClassVar[type] = PolicyProblem
    deterministic: ClassVar[bool] = True
    linear_cost_only: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def refuses(self, problem: ThresholdProblem) -> str | None:
        """Refuse costs that are not an average and one quotient, and chains that are too large."""
        weights = linear_weights(problem.cost)
        if problem.cost is not None and weights is None:
            return f"strategy {self.name!r} takes weighted sums of measures, and {problem.name!r} has another cost."
        kinds = denominators(weights)
        if len(kinds) > 1:
            return (
                f"strategy {self.name!r} takes quotients of one denominator only, and the cost of {problem.name!r} has "
                f"{' and '.join(f'{measure} (by pages {kind})' for kind, measure in kinds.items())}."
            )
        reason = too_large(problem.queue.model, SINGLE_LIMIT)
        return None if reason is None else f"strategy {self.name!r} cannot take {problem.name!r}: {reason}."

    def prepare(self, problem: ThresholdProblem) -> None:
        """Compile what the search needs on a queue with little room."""
        small = replace(problem.queue, capacity=min(2, problem.queue.capacity))
        policy_measures(small, [0] * small.model.pairs)

    def solve(self, oracle: Oracle[ThresholdProblem], rng: np.random.Generator) -> Result:
        """Run policy iteration from above, intervals from below, then look for the thresholds."""
        problem = oracle.problem
        if too_large(problem.queue.model) is not None:
            if self.thresholds:
                _tell_best_thresholds(oracle, rng)
            _search_pairs(oracle)
            return oracle.result()
        costs, denominator = priced(problem)
        # Costs are counted in a power of two near the largest: nothing is rounded, and squares of them are numbers.
        unit = math.ldexp(1.0, math.frexp(float(np.abs(costs[:2]).max()))[1])
        costs[:2] /= unit
        search = _Search(oracle, DecisionProcess(problem.policies().rates, costs), unit)
        if denominator is None:
            search.minimise_average()
        else:
            search.minimise_quotient()
        bound = search.bound if math.isfinite(search.bound) else None
        if self.thresholds and oracle.best is not None:
            _tell_best_thresholds(oracle, rng)
        return oracle.result(bound=bound)


class _Search:
    """One run: every policy evaluated is charged, and the best is shown whatever ends the run."""

    def __init__(self, oracle: Oracle[ThresholdProblem], process: DecisionProcess, unit: float) -> None:
        self.oracle, self.process, self.unit = oracle, process, unit  # costs of the process are counted in the unit
        self.best: NDArray[np.int64] | None = None
        self.value: float | None = None
        self.bound = -math.inf
        self.evaluations = 0

    def minimise_average(self) -> None:
        """Minimise a cost without a quotient by one policy iteration, whose relative values prove it."""

        def watch(best: EvaluatedPolicy | None) -> None:
            if best is not None:
                self.best, self.value = best.policy, self.unit * best.gain
                self.bound = max(self.bound, self.unit * best.bound)
            self._pay()

        try:
            found = solve_process(self.process, (1.0,), watch=watch)
        except (BudgetSpent, KeyboardInterrupt):
            self._show()
            raise
        self.best, self.value, self.bound = found.policy, self.unit * found.gain, self.unit * found.bound
        self._show()

    def minimise_quotient(self) -> None:
        """Minimise a cost with a quotient, first from above, then from below."""
        search = FractionalSearch(self.process, watch=lambda _: self._pay())
        try:
            search.descend()
            self.best, self.value = search.policy, self.unit * search.value
            self._show()
            search.certify()
        finally:
            self.best, self.value, self.bound = search.policy, self.unit * search.value, self.unit * search.bound
            self._show()
            self.oracle.extra["policy_search"]["intervals"] = search.pieces
            if search.randomised < search.value:
                self.oracle.extra["policy_search"]["randomised"] = self.unit * search.randomised

    def _pay(self) -> None:
        self.oracle.require()
        self.oracle.charge(1)
        self.evaluations += 1

    def _show(self) -> None:
        """Let the evaluator evaluate the best policy so far; the work on it was paid for."""
        told: dict[str, Any] = {"policies": self.evaluations}
        if math.isfinite(self.bound) and self.value is not None:
            told["bracket"] = [self.bound, self.value]
        self.oracle.extra |= {"state_order": STATE_ORDER, "policy_search": told}
        if self.best is not None:
            self.oracle.confirm(StatePolicy(tuple(self.best.tolist())))
        self.oracle.report(bound=self.bound)


def _search_pairs(oracle: Oracle[ThresholdProblem]) -> None:
    """Look, beyond what can be proved, for a good policy on level, arrival phase and service phase."""
    problem = oracle.problem
    chain = problem.policies()
    told = oracle.extra.get("best_threshold")
    by_level = problem.queue.mode_by_level(told["decision"] if told else single_mode(problem, 0))
    level = np.zeros(chain.order.pairs, dtype=np.int64)
    level[chain.order.pair] = chain.order.level
    oracle.extra |= {"state_order": PAIR_ORDER}

    def judge(policy: NDArray[np.int64]) -> float:
        judged = oracle(StatePolicy(tuple(policy.tolist())))
        return judged.objective if judged.feasible else math.inf

    try:
        improve_by_pairs(chain, priced(problem)[0], by_level[level], judge, lambda _: oracle.require())
    finally:
        _price(oracle)


def _tell_best_thresholds(oracle: Oracle[Any], rng: np.random.Generator) -> None:
    """Look for the best thresholds with what is left of the budget, and say what they cost."""
    problem: ThresholdProblem = oracle.problem
    part = oracle.part(problem)
    by = "exhaustive" if _few(problem) else "local search"
    complete = False
    try:
        if by == "exhaustive":
            Exhaustive().solve(part, rng)
        else:
            _descend(part)
        complete = True
    finally:
        found: dict[str, Any] | None = None
        if part.best is not None:
            proved, objective = complete and by == "exhaustive", part.best.evaluation.objective
            found = {"decision": list(part.best.decision), "objective": objective, "proved": proved, "by": by}
        oracle.extra["best_threshold"] = found
        _price(oracle)


def _price(oracle: Oracle[Any]) -> None:
    """Tell what thresholds cost more than the best policy so far: never less, as they are policies too."""
    thresholds = oracle.extra.get("best_threshold")
    if thresholds and oracle.best is not None and oracle.best.evaluation.objective > 0:
        price = thresholds["objective"] / oracle.best.evaluation.objective - 1.0
        oracle.extra["price_of_thresholds"] = max(0.0, price)


def _few(problem: ThresholdProblem) -> bool:
    size = problem.space.size
    if shares_work(problem.queue):
        return size <= MOST_THRESHOLDS
    return size * problem.queue.model.states <= MOST_THRESHOLDS


def _descend(part: Oracle[ThresholdProblem]) -> None:
    """Go from the best policy of one mode or of two to better neighbours until there is none.

    Where policies share work every threshold of two modes is tried, else those of a coarse grid.
    """
    problem = part.problem
    space, capacity = problem.space, problem.queue.capacity
    steps = range(capacity) if shares_work(problem.queue) else [2**power - 1 for power in range(capacity.bit_length())]
    indices = range(len(problem.modes))
    starts = [single_mode(problem, index) for index in indices]
    starts += [of_subset(problem, pair[::-1], (step,)) for pair in combinations(indices, 2) for step in steps]
    part.many([space.repair(start) for start in starts])
    while part.best is not None:
        before = part.best.decision
        part.many(list(space.neighbours(before)))
        if part.best.decision == before:
            return
