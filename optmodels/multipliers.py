r"""Prices in place of limits: the Lagrangian dual of a problem with limits on measures.

To minimise a cost c(x) over finitely many decisions while measures stay within limits, :math:`g_k(x) \le b_k`, one may
ask which prices per unit would make the limits superfluous. For prices :math:`\lambda \ge 0`

.. math:: \theta(\lambda) = \min_x \; c(x) + \sum_k \lambda_k (g_k(x) - b_k)

is at most the cost of every decision that keeps the limits (weak duality), and the prices for which it is largest are
the multipliers. The largest value is that of a linear program,

.. math:: \max_\lambda \theta(\lambda) = \min_{w \ge 0} \Bigl\{ \sum_x w_x c(x) : \sum_x w_x g_k(x) \le b_k,
          \; \sum_x w_x = 1 \Bigr\},

the best *mixture* of decisions; one of at most m + 1 decisions attains it for m limits. A single decision need not:
the difference between the best decision within the limits and the dual bound is the duality gap, zero where the best
decision lies on the convex hull of all (cost, measures).

What a mixture is: one decision drawn at random, with probabilities w, and kept for ever. Costs and measures above are
then exactly the expected ones. It is not the long-run behaviour of a system that uses the decisions in turn: averages
over time mix by shares of time, but a ratio, such as losses per page, mixes by the pages that come meanwhile. Where a
problem says what its ratios are taken of (``ratios``), `Multipliers.time_shared` has the measures of that system too,
in the limit of long turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from heuristics import Batch, Decision, Evaluation, Problem
from heuristics.search import spelled

from .costs import ROUNDING, Limits
from .errors import RequestError
from .protocols import WithRatios, has_objective, limits_of
from .results import plain
from .solving import ProblemLike, as_problem

Floats = NDArray[np.float64]

#: Larger spaces are not enumerated for their multipliers.
LARGEST = 1_000_000

#: Probabilities and slacks smaller than this, on the scale of the data, are rounding of the linear program.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Price:
    """A limit and its multiplier.

    Attributes
    ----------
    measure, side, limit
        The limit: ``"max"`` or ``"min"``, and its value.
    multiplier
        Fall of the dual bound per unit by which the limit is relaxed; of several that are optimal, those whose sum is
        least in units of the data.
    lowest, highest
        All values this multiplier takes among the optimal ones, ``inf`` without end.
    """

    measure: str
    side: str
    limit: float
    multiplier: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Share:
    """A decision in a mixture."""

    decision: Decision
    probability: float
    evaluation: Evaluation = field(repr=False)


@dataclass(frozen=True)
class Multipliers:
    """The dual of a problem with limits, beside its best decision.

    Attributes
    ----------
    problem
        Its name.
    prices
        Each limit with its multiplier; empty if no mixture keeps the limits (the dual has no end).
    bound
        No decision within the limits costs less; ``inf`` if not even a mixture keeps them.
    objective, decision
        The truth: the best decision within the limits, ``None`` if there is none.
    mixture
        Decisions whose mixture attains the bound.
    expected
        Measures of the mixture, expected over the draw; ``None`` where one is undefined.
    time_shared
        Measures of a system that uses the decisions of the mixture in turn, for long, in these shares of time; ``None``
        if the problem does not say how its measures mix.
    decisions
        How many decisions were looked at.

    Examples
    --------
    >>> from optmodels import find_multipliers
    >>> found = find_multipliers("instances/threshold/avrachenkov-k5-loss-15.json")
    >>> found.prices[0].measure, round(found.prices[0].multiplier, 3)
    ('loss', 147.525)
    >>> round(found.bound, 4), round(found.objective, 4), len(found.mixture)
    (67.0001, 67.4438, 2)
    """

    problem: str
    prices: tuple[Price, ...]
    bound: float
    objective: float | None
    decision: Decision | None
    mixture: tuple[Share, ...]
    expected: Mapping[str, float | None]
    time_shared: Mapping[str, float | None] | None
    decisions: int

    @property
    def gap(self) -> float | None:
        """Objective minus bound, zero if they agree up to rounding; ``None`` without a decision within the limits."""
        if self.objective is None:
            return None
        gap = self.objective - self.bound
        return 0.0 if abs(gap) <= NEGLIGIBLE * max(1e-300, abs(self.objective)) else gap

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object; a bound or a multiplier without end is null."""
        gap = self.gap
        return {
            "bound": plain(self.bound),
            "objective": self.objective,
            "gap": gap,
            "relative_gap": gap / abs(self.objective) if gap is not None and self.objective else None,
            "decision": plain(self.decision),
            "limits": [plain(price) for price in self.prices],
            "mixture": [
                {"decision": plain(share.decision), "probability": share.probability} for share in self.mixture
            ],
            "expected": plain(self.expected),
            "time_shared": plain(self.time_shared),
            "decisions": self.decisions,
        }

    def __str__(self) -> str:
        if math.isinf(self.bound):
            return f"{self.problem}: no mixture of decisions keeps the limits"
        told = ", ".join(f"{one.measure} {one.side} {one.limit:g}: {one.multiplier:.6g}" for one in self.prices)
        gap = "no single decision keeps the limits" if self.gap is None else f"gap {self.gap:.6g}"
        return f"{self.problem}: multipliers {told}; dual bound {self.bound:.10g}, {gap}"


def find_multipliers(problem: ProblemLike) -> Multipliers:
    r"""Find Lagrange multipliers of the limits of a problem, by enumeration of its decisions and a linear program.

    Parameters
    ----------
    problem
        A problem with a cost and limits on measures, or the path of an instance file, of at most a million decisions.
        Decisions that break other constraints than the limits are left out on both sides.

    Returns
    -------
    Multipliers
        What each limit is worth, the dual bound, and the mixture of decisions that attains it.

    Raises
    ------
    RequestError
        If the problem has no limits, no cost, or too many decisions.

    Notes
    -----
    The dual bound is :math:`\max_{\lambda \ge 0} \min_x f(x) + \sum_i \lambda_i (g_i(x) - b_i)` over all decisions x,
    with :math:`g_i(x) \le b_i` the limits.

    Examples
    --------
    >>> from optmodels import find_multipliers
    >>> found = find_multipliers("instances/threshold/avrachenkov-k5-loss-15.json")
    >>> found.prices[0].measure, round(found.prices[0].multiplier, 3)
    ('loss', 147.525)
    """
    asked = as_problem(problem)
    limits = limits_of(asked)
    if not limits:
        raise RequestError(f"{asked.name!r} has no limits on measures, and multipliers are their prices; give it some.")
    if not has_objective(asked):
        raise RequestError(f'{asked.name!r} has no cost to minimise; add a "cost" to the instance.')
    if not asked.space.size <= LARGEST:
        found = "infinitely many" if asked.space.size == math.inf else spelled(int(asked.space.size))
        raise RequestError(
            f"multipliers are found by enumeration of at most {LARGEST} decisions; {asked.name!r} has {found}."
        )
    decisions = list(asked.space)
    judged = asked.evaluate_many(decisions) if isinstance(asked, Batch) else [asked.evaluate(one) for one in decisions]
    kept = [
        (decision, one)
        for decision, one in zip(decisions, judged, strict=True)
        if not {name for name, amount in one.violations.items() if amount > 0} - set(limits.violations(one.measures))
    ]
    return multipliers_among(asked, limits, [one[0] for one in kept], [one[1] for one in kept])


def multipliers_among(
    problem: Problem, limits: Limits, decisions: Sequence[Decision], judged: Sequence[Evaluation]
) -> Multipliers:
    """The multipliers of `limits` among some decisions and what the problem says about each."""
    sides = [
        (name, side, value)
        for name, limit in limits.by_measure.items()
        for side, value in (("max", limit.maximum), ("min", limit.minimum))
        if math.isfinite(value)
    ]
    within = [index for index, one in enumerate(judged) if one.feasible]
    best = min(within, key=lambda index: judged[index].objective, default=None)
    costs = np.array([one.objective for one in judged], dtype=np.float64)
    excess = np.array([[_excess(one, *side) for one in judged] for side in sides], dtype=np.float64)
    ratios = problem.ratios if isinstance(problem, WithRatios) else None
    found = _dual(costs, excess.reshape(len(sides), len(judged)))
    mixture = tuple(
        Share(decisions[index], float(found.weights[index]), judged[index])
        for index in np.flatnonzero(found.weights > 0).tolist()
    )
    return Multipliers(
        problem=problem.name,
        prices=tuple(
            Price(*side, float(value), float(low), float(high))
            for side, value, low, high in zip(sides, found.prices, found.lowest, found.highest, strict=False)
        ),
        bound=found.bound,
        objective=None if best is None else judged[best].objective,
        decision=None if best is None else decisions[best],
        mixture=mixture,
        expected=_mixed(mixture, {}),
        time_shared=None if ratios is None else _mixed(mixture, ratios),
        decisions=len(decisions),
    )


# -- the linear program -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Dual:
    weights: Floats
    prices: Floats
    lowest: Floats
    highest: Floats
    bound: float


def _excess(judged: Evaluation, name: str, side: str, limit: float) -> float:
    """How far a measure is beyond its limit, negative within; 0 where it is undefined, as that breaks no limit."""
    value = judged.measures[name]
    if value is None:
        return 0.0
    beyond = value - limit if side == "max" else limit - value
    return 0.0 if 0 < beyond <= ROUNDING * abs(limit) else beyond  # so close, the limit is kept


def _dual(costs: Floats, excess: Floats) -> _Dual:
    """Best mixture of decisions with no excess, and the prices that go with it.

    Everything is scaled by what the data span. Prices come from a second linear program: those that make no decision
    cheaper than the bound, are zero where the mixture leaves room, and where every decision of the mixture costs the
    bound. By complementary slackness these are all optimal prices.
    """
    count = len(excess)
    nothing = _Dual(np.zeros(len(costs)), np.empty(0), np.empty(0), np.empty(0), math.inf)
    if len(costs) == 0:
        return nothing
    lowest_cost = float(costs.min())
    span = float(np.ptp(costs)) or 1.0
    scale = np.abs(excess).max(axis=1, initial=0.0)
    scale[scale == 0] = 1.0
    cost, rows = (costs - lowest_cost) / span, excess / scale[:, None]
    one = np.ones((1, len(costs)))
    mixed: Any = linprog(cost, A_ub=rows, b_ub=np.full(count, 0.0), A_eq=one, b_eq=[1.0], method="highs-ds")
    if mixed.status == 2:
        return nothing
    weights = np.where(mixed.x > NEGLIGIBLE, mixed.x, 0.0)
    weights /= weights.sum()
    used, room = weights > 0, rows @ weights < -NEGLIGIBLE
    # Unknown: the prices and, last, the bound. Each decision: bound - prices * excess <= cost.
    table = np.hstack([-rows.T, np.ones((len(costs), 1))])
    bounds = [(0.0, 0.0 if free else None) for free in room] + [(None, None)]

    def extreme(objective: Floats) -> Floats | None:
        answer: Any = linprog(
            np.append(objective, 0.0),
            A_ub=table[~used] if not used.all() else None,
            b_ub=cost[~used] if not used.all() else None,
            A_eq=table[used],
            b_eq=cost[used],
            bounds=bounds,
            method="highs-ds",
        )
        return np.maximum(answer.x[:-1], 0.0) if answer.status == 0 else None

    prices = extreme(np.ones(count))
    if prices is None:  # the program is solved to its tolerance, not exactly: take the prices of the mixture itself
        prices = np.maximum(-mixed.ineqlin.marginals, 0.0)
    lowest, highest = prices.copy(), prices.copy()
    for index in np.flatnonzero(~room).tolist():
        unit = np.eye(count)[index]
        least, most = extreme(unit), extreme(-unit)
        lowest[index] = prices[index] if least is None else min(least[index], prices[index])
        highest[index] = math.inf if most is None else max(most[index], prices[index])
    in_units = span / scale
    prices = prices * in_units
    bound = float((costs + prices @ excess).min())  # a bound by weak duality, whatever the program's rounding
    return _Dual(weights, prices, lowest * in_units, highest * in_units, bound)


def _mixed(mixture: Sequence[Share], ratios: Mapping[str, Sequence[str]]) -> dict[str, float | None]:
    """Measures of a mixture, each weighed by probability and, if it is a ratio, by what it is a ratio of."""
    names = list(mixture[0].evaluation.measures) if mixture else []
    mixed: dict[str, float | None] = {}
    for name in names:
        above, below = 0.0, 0.0
        for share in mixture:
            measures = share.evaluation.measures
            of = [measures[other] for other in ratios.get(name, ())]
            weight = share.probability * math.prod(value for value in of if value is not None)
            value = measures[name]
            if weight > 0 and value is None:
                above = math.nan
            elif weight > 0 and value is not None:
                above, below = above + weight * value, below + weight
        mixed[name] = above / below if below > 0 and not math.isnan(above) else None
    return mixed
