r"""What the integer program of thresholds is written from: which are left, and how often a level is seen.

*Which thresholds are left.* A policy that sees the whole state is no dearer than thresholds, and the best one is found
in milliseconds (`heuristics.dynamic`). If threshold q is i or more, the modes with fewer robots rest up to level i; the
best policy with this restriction bounds all such thresholds. If it costs more than thresholds that are known, they are
out. The higher i, the higher this bound, so the last i is found by halving; likewise from below. What remains contains
every decision as good as the known one.

*How often a level is seen.* Probabilities of levels lie many decades apart, and solvers take 1e-9 for nothing. So
shares of time are counted level by level in units of the most that any policy left spends there: a share of 1 is the
most there can be, and what a solver takes for rounding is rounding on every level. Levels that are hardly ever reached
are left out.

*Quotients.* For d between l and u, :math:`n/d \ge n^+/u - n^-/l`: a linear cost below the cost.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics.dynamic import DecisionProcess, solve_process
from queueing.threshold import shares_work
from queueing.threshold.policies import YIELDS, PolicyChain

from ..costs import linear_weights
from .subsets import two_mode_policies

if TYPE_CHECKING:
    from .problem import ThresholdProblem

Costs = NDArray[np.float64]

#: Measures that are averages over time.
AVERAGES = ("arrival_rate", "loss_rate", "obsolescence_rate", "starvation", "active_robots", "mean_length")

#: Measures that are quotients: what is divided, and by what.
QUOTIENTS = {
    "loss": (("lost",), "arriving"),
    "obsolescence": (("obsolete",), "arriving"),
    "success": (("served",), "arriving"),
    "sojourn_time": (("served_time", "obsolete_time"), "arriving"),
    "response_time": (("served_time",), "served"),
    "obsolete_time": (("obsolete_time",), "obsolete"),
}

#: Most pairs of a state and a mode in a program.
MOST_PAIRS = 12_000

#: Bounds of averages are taken this much wider, relative: beyond rounding, and so that a policy that attains them does
#: not keep a solver between two rows that are the same but for its noise.
SLACK = 1e-4

#: No level is counted in a smaller unit: a billionth of this is less than any cost tells, and solvers eliminate badly
#: where neighbouring levels differ by many decades.
LEAST_UNIT = 1e-6

#: Levels are left out that together are seen for less than this part of the time.
HARDLY_EVER = 1e-12

#: Thresholds are out if they cost this much more than others, relative: far more than rounding, and no more.
DEARER = 1e-7

#: Most times that all thresholds are narrowed; each round knows better bounds of the denominator.
ROUNDS = 3

#: Largest factor in a row that limits a measure, about: what solvers take for rounding is 1e-9 of it.
ROW_SIZE = 2.0**10

#: Limits are this much looser in a program, relative, so that no noise shuts out a decision that is just within them.
LOOSE = 1e-7

#: Smallest denominator under any policy, as a part of the largest, that a program takes.
LEAST_DENOMINATOR = 1e-6


@dataclass(frozen=True)
class Ranges:
    """Between what each threshold lies, both included, beginning with that of the mode with the most robots."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]

    def reaching(self, q: int, level: int) -> Ranges:
        """Return what is left if threshold q, and so those after it, are this level or more."""
        return Ranges((*self.lower[:q], *(max(value, level) for value in self.lower[q:])), self.upper)

    def below(self, q: int, level: int) -> Ranges:
        """Return what is left if threshold q, and so those before it, are less than this level."""
        return Ranges(self.lower, (*(min(value, level - 1) for value in self.upper[: q + 1]), *self.upper[q + 1 :]))

    def modes_by_level(self, capacity: int) -> NDArray[np.bool_]:
        """Tell by mode and level, up to the capacity, which modes may run there."""
        lower, upper = (-2, *self.lower), (*self.upper, capacity + 1)  # mode q runs above the threshold before it
        levels = np.arange(capacity + 1)
        rows = [(levels > least) & (levels <= most) for least, most in zip(lower, upper, strict=True)]
        return np.array(rows[::-1])


@dataclass(frozen=True, eq=False)
class Denominator:
    """What a quotient in the cost is divided by.

    Attributes
    ----------
    rates
        By mode and state: pages per unit of time.
    least, most
        Bounds of their average under every policy considered.
    """

    rates: Costs
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Occupation:
    """A threshold queue under the policies that are left.

    Attributes
    ----------
    chain
        States, moves and yields by mode.
    ranges
        Between what the thresholds lie.
    allowed
        By mode and state: whether it may run there.
    most
        By level, as far as levels are kept: no policy left spends a larger part of the time there.
    denominator
        Of the quotient in the cost, if there is one.
    """

    chain: PolicyChain
    ranges: Ranges
    allowed: NDArray[np.bool_]
    most: NDArray[np.float64]
    denominator: Denominator | None


def parts_of_measures(problem: ThresholdProblem) -> dict[str, tuple[Costs, Costs | None]]:
    """Return what a unit of time adds to every measure, by mode and state.

    Returns
    -------
    dict
        By measure: the numerator, and the denominator of those that are quotients.
    """
    chain = problem.policies()
    rates: dict[str, Costs] = dict(zip(YIELDS, chain.yields, strict=True))
    shape = (chain.modes, chain.states)
    robots = np.array([mode.robots for mode in problem.modes], dtype=np.float64)
    averages = (
        rates["arriving"],
        rates["lost"],
        rates["obsolete"],
        np.broadcast_to(1.0 * (chain.order.level == 0), shape),
        np.broadcast_to(robots[:, np.newaxis], shape),
        np.broadcast_to(1.0 * chain.order.level, shape),
    )
    found: dict[str, tuple[Costs, Costs | None]] = {
        name: (part, None) for name, part in zip(AVERAGES, averages, strict=True)
    }
    for name, (above, below) in QUOTIENTS.items():
        found[name] = np.sum([rates[part] for part in above], axis=0), rates[below]
    return found


def priced(problem: ThresholdProblem) -> tuple[Costs, str | None]:
    """Return the costs by state and mode: c alone, or c, n and d with the name of d."""
    parts = parts_of_measures(problem)
    linear, numerator, denominator = (np.zeros(parts["starvation"][0].shape) for _ in range(3))
    divided_by = None
    for name, weight in (linear_weights(problem.cost) or {}).items():
        if weight == 0:
            continue
        above, below = parts[name]
        if below is None:
            linear += weight * above
        else:
            numerator += weight * above
            denominator, divided_by = below, QUOTIENTS[name][1]
    if divided_by is None:
        return linear[np.newaxis], None
    return np.stack([linear, numerator, denominator]), divided_by


@dataclass(frozen=True, eq=False)
class LimitRow:
    r"""A limit on a measure as a row of the program: the sum of factors times shares of time is at most `upper`.

    A limit :math:`n/d \le b` is :math:`n - b d \le 0`, which says the same and is linear.

    Attributes
    ----------
    name
        Of the measure, and which side is limited.
    factors
        By mode and state, in a unit that suits solvers.
    upper
        In the same unit.
    """

    name: str
    factors: Costs
    upper: float


def limit_rows(problem: ThresholdProblem) -> tuple[LimitRow, ...]:
    """Write the limits as rows, a little loose: who keeps them only so is found out by the evaluator."""
    rows = []
    parts = parts_of_measures(problem) if problem.limits else {}
    for name, limit in problem.limits.by_measure.items():
        above, below = parts[name]
        for side, sign, bound in (("most", 1.0, limit.maximum), ("least", -1.0, limit.minimum)):
            if not math.isfinite(bound):
                continue
            allowed = sign * bound + LOOSE * abs(bound)
            factors = sign * above - (0.0 if below is None else allowed * below)
            per_unit = 1.0 if below is None else float(below.max())
            unit = max(abs(bound) * per_unit, float(np.abs(above).max()) / ROW_SIZE) or 1.0
            rows.append(LimitRow(f"{name}_{side}", factors / unit, allowed / unit if below is None else 0.0))
    return tuple(rows)


def denominators(weights: Mapping[str, float] | None) -> dict[str, str]:
    """Name a measure in the cost for each kind of pages by which something is divided."""
    return {QUOTIENTS[name][1]: name for name, weight in (weights or {}).items() if weight and name in QUOTIENTS}


def refuses(problem: ThresholdProblem) -> str | None:
    """Tell why the problem cannot be written as a linear integer program, in a sentence; ``None`` if it can."""
    told = f"the model of {problem.name!r}"
    weights = linear_weights(problem.cost)
    if weights is None:
        return f"{told} needs a cost that is a weighted sum of measures."
    kinds = denominators(weights)
    if len(kinds) > 1:
        named = " and ".join(f"{measure} (by pages {kind})" for kind, measure in kinds.items())
        return (
            f"{told} takes quotients of one denominator in the cost, and this one has {named}; averages over time and "
            "limits on quotients are free: leave out one of these, limit it, or use exhaustive."
        )
    if not shares_work(problem.queue):
        return (
            f"{told} needs patience that can be written with one phase, and this patience has "
            f"{problem.queue.model.patience_order}; use exhaustive, or optimal-policy for a bound."
        )
    pairs = problem.queue.model.states * len(problem.modes)
    if pairs > MOST_PAIRS:
        return (
            f"{told} would have {pairs} pairs of a state and a mode, and {MOST_PAIRS} are the most; lower the "
            "capacity, use a search, or optimal-policy for a bound."
        )
    if kinds:
        ((pages, measure),) = kinds.items()
        found = _denominator(problem, _allowed(problem, _all_ranges(problem)))
        if found is None or not found.least >= LEAST_DENOMINATOR * found.most:
            extremes = "none" if found is None else f"between {max(0.0, found.least):g} and {found.most:g}"
            return (
                f"{told} divides {measure} by pages {pages}, of which there are {extremes} per unit of time, as the "
                "policy is: too far apart for a solver; use exhaustive, or limit this measure instead of pricing it."
            )
    return None


@functools.lru_cache(maxsize=2)
def occupation_of(problem: ThresholdProblem, narrow: bool = True) -> Occupation:
    """Describe the queue of a problem under all thresholds, or those that are as good as some that are known."""
    ranges = narrowed(problem) if narrow else _all_ranges(problem)
    allowed = _allowed(problem, ranges)
    chain = problem.policies()
    level = chain.order.level
    most: list[float] = []
    for i in range(chain.model.top + 1):
        part = _average(chain, -1.0 * (level == i), allowed, -1.0)
        most.append(min(1.0, max(part * (1.0 + SLACK), LEAST_UNIT)))
        if i > 0 and _average(chain, -1.0 * (level >= i), allowed, -1.0) < HARDLY_EVER:
            break
    return Occupation(chain, ranges, allowed, np.array(most), _denominator(problem, allowed))


def known_thresholds(problem: ThresholdProblem) -> tuple[tuple[int, ...], float] | None:
    """Find good thresholds and their cost: the best of two modes at some levels, then better neighbours.

    Returns
    -------
    tuple or None
        ``None`` where no such thresholds are within the limits.
    """
    asked = [tuple(one) for one in two_mode_policies(problem)]
    best: tuple[tuple[int, ...], float] | None = None
    while asked:
        judged = zip(asked, problem.evaluate_many(asked), strict=True)
        found = min(((one.objective, decision) for decision, one in judged if one.feasible), default=None)
        if found is None or (best is not None and not found[0] < best[1]):
            return best
        best = (found[1], found[0])
        asked = list(problem.space.neighbours(best[0]))
    return best


def narrowed(problem: ThresholdProblem) -> Ranges:
    """Find ranges that contain all thresholds which are no dearer than some that are known."""
    ranges, known = _all_ranges(problem), known_thresholds(problem)
    if known is None:
        return ranges
    most = known[1] + DEARER * abs(known[1])
    for _ in range(ROUNDS):
        before, costs = ranges, _lower_cost(problem, ranges)
        for q in range(len(ranges.lower)):
            # The first level that the threshold cannot reach, and the last that it must reach.
            first, last = ranges.lower[q] + 1, ranges.upper[q] + 1
            while first < last:
                level = (first + last) // 2
                if _dearer(problem, ranges.reaching(q, level), costs, most):
                    last = level
                else:
                    first = level + 1
            ranges = Ranges(ranges.lower, (*ranges.upper[:q], last - 1, *ranges.upper[q + 1 :]))
            first, last = ranges.lower[q], ranges.upper[q]
            while first < last:
                level = (first + last + 1) // 2
                if _dearer(problem, ranges.below(q, level), costs, most):
                    first = level
                else:
                    last = level - 1
            ranges = Ranges((*ranges.lower[:q], first, *ranges.lower[q + 1 :]), ranges.upper)
        if ranges == before:
            break
    return ranges


def _all_ranges(problem: ThresholdProblem) -> Ranges:
    """Return the ranges of all thresholds that the space has."""
    space = problem.space
    return Ranges((space.lower,) * space.length, (space.upper,) * space.length)


def _allowed(problem: ThresholdProblem, ranges: Ranges) -> NDArray[np.bool_]:
    """Tell by mode and state which modes may run.

    Where something is divided by pages, no policy begins with a mode that brings none: fewer robots bring no more.
    """
    chain, capacity = problem.policies(), problem.queue.capacity
    level = chain.order.level
    allowed = ranges.modes_by_level(capacity)[:, np.minimum(level, capacity)]
    if denominators(linear_weights(problem.cost)):
        idle = ~chain.yields[0].any(axis=1)
        allowed &= ~(idle[:, np.newaxis] & (level == 0))
    return allowed


def _denominator(problem: ThresholdProblem, allowed: NDArray[np.bool_]) -> Denominator | None:
    """Bound what the quotient in the cost is divided by; ``None`` where the cost has none, or pages never come."""
    costs, name = priced(problem)
    if name is None or not allowed.any(axis=0).all():
        return None
    chain, rates = problem.policies(), costs[2]
    least, most = _average(chain, rates, allowed, 1.0), _average(chain, -rates, allowed, -1.0)
    return Denominator(rates, least * (1.0 - SLACK), most * (1.0 + SLACK))


def _lower_cost(problem: ThresholdProblem, ranges: Ranges) -> Costs:
    r"""Return a cost by mode and state whose average is no more than the cost: :math:`c + n^+/u - n^-/l`."""
    costs, name = priced(problem)
    if name is None:
        return np.asarray(costs[0])
    found = _denominator(problem, _allowed(problem, ranges))
    assert found is not None
    return np.asarray(costs[0] + np.maximum(costs[1], 0.0) / found.most + np.minimum(costs[1], 0.0) / found.least)


def _dearer(problem: ThresholdProblem, ranges: Ranges, costs: Costs, most: float) -> bool:
    """Tell whether all policies with these thresholds cost more than that; if there are none, they do."""
    allowed = _allowed(problem, ranges)
    return not allowed.any(axis=0).all() or _average(problem.policies(), costs, allowed, 1.0) > most


def _average(chain: PolicyChain, costs: NDArray[Any], allowed: NDArray[np.bool_], sign: float) -> float:
    """Bound the least average of a cost from below, and turn its sign."""
    spread = np.broadcast_to(costs, (1, chain.modes, chain.states)).copy()
    return sign * solve_process(DecisionProcess(chain.rates, spread, allowed), (1.0,)).bound
