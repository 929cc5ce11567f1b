r"""The integer program of words of T slots: gaps that circulate, see :mod:`optmodels.mip.circulation.constraints`.

Decisions and what follows from them
------------------------------------
* ``visit[m, t]``, :math:`x_{mt}`: slot t goes to server m.
* ``gap[m, t, g]``, :math:`y_{mtg}`: it does, and the next packet for m is that of g slots later, modulo T.
* ``used[m]``, :math:`u_m`: server m gets a packet.

The objective is that of the evaluator, :math:`\frac1T \sum f_m(g) y_{mtg} + \sum_m a_m (1 - u_m)` times the price of
the measure `cost`, where :math:`a_m` is the slope of :math:`f_m`, the cost of a slot without a packet for m for ever.
Costs need not be convex, nor of one sign.

What is left out, and why nothing is lost
-----------------------------------------
* Rotations: the word begins with the longest gap of the first server, in an order, that is used
  (`begin_with_first_used`). The order begins with servers used for certain, and of these with the least used.
* Exchanges of servers whose gaps cost the same (`order_equal_symbols`).
* What costs more than a word that is known (:mod:`optmodels.routing.starting`): numbers of packets, and gaps, with
  which even the bound by numbers alone (:mod:`optmodels.routing.counting`) is above its cost.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

from heuristics import Decision

from ..costs import ROUNDING, linear_weights
from ..mip import circulation
from ..mip.circulation import Circulation
from .counting import Counts
from .starting import good_word

if TYPE_CHECKING:
    from .problem import RoutingProblem

#: Most gaps, servers times slots times slots, before those are left out that no good word has.
MOST_GAPS = 200_000

#: What solvers see of a limit on the cost is about this, so that their rounding is small beside it.
ROW_SIZE = 2.0**13


@dataclass(frozen=True, eq=False)
class Plan:
    """What the model is written from.

    Parameters
    ----------
    words
        Gaps that are left, with their part of the objective.
    fewest, most
        By server, packets in a word.
    order
        Of servers, to begin the word with: up to the first that is used for certain.
    equal
        Groups of servers whose gaps cost the same.
    known
        A word by whose cost gaps and numbers were ruled out.
    """

    words: Circulation
    fewest: list[int]
    most: list[int]
    order: list[int]
    equal: list[list[int]]
    known: tuple[int, ...] | None


def refuses(problem: RoutingProblem) -> str | None:
    """Why the problem cannot be written as a linear integer program, in a sentence; ``None`` if it can."""
    told = f"the model of {problem.name!r}"
    if problem.period is None:
        if problem.max_period is None:
            return (
                f"{told} is one of words of a given length, and all lengths may be chosen here: set data.period, or "
                "take min-mean-cycle, which proves the best of all lengths."
            )
        return (
            f"{told} is one of words of a given length, and lengths up to {problem.max_period} may be chosen here: "
            "a cost a slot is a ratio of two sums where the length varies. Set data.period instead of data.max_period "
            f"(sweep --vary data.period=1..{problem.max_period} solves one after another), or take exhaustive."
        )
    if weights_of(problem) is None:
        return f"{told} needs a cost that is a weighted sum of measures; use a search, such as exhaustive or annealing."
    gaps = problem.server_count * problem.period**2
    if gaps > MOST_GAPS:
        longest = math.isqrt(MOST_GAPS // problem.server_count)
        return (
            f"{told} would have {problem.server_count} x {problem.period} x {problem.period} = {gaps} gaps, and "
            f"{MOST_GAPS} are the limit: a period of {longest} slots for {problem.server_count} servers. Take a "
            "shorter one, or a search such as annealing; min-mean-cycle proves the best of all lengths."
        )
    return None


def weights_of(problem: RoutingProblem) -> dict[str, float] | None:
    """Weight of each measure in the objective, ``None`` where it is no weighted sum."""
    weights = {"cost": 1.0} if problem.cost is None else linear_weights(problem.cost)
    return None if weights is None else {name: float(weights.get(name, 0.0)) for name in ("cost", "period")}


@functools.lru_cache(maxsize=2)
def plan_of(problem: RoutingProblem) -> Plan:
    """Price gaps, and leave out those that no word has that is as good as one that is known."""
    period, weights = problem.period, weights_of(problem)
    assert period is not None and weights is not None  # `refuses` has been asked
    weight = weights["cost"]
    finite = np.isfinite(problem.costs.slopes)
    costs = weight / period * problem.cost_table(period)
    unused = np.where(finite, weight * np.where(finite, problem.costs.slopes, 0.0), math.inf)
    groups = defaultdict(list)
    for m in range(problem.server_count):
        groups[costs[m].tobytes(), unused[m].tobytes()].append(m)
    counts = Counts(costs, unused)
    known = good_word(problem, counts, weight)
    numbers = np.isfinite(counts.least)
    if known is not None:
        cost = weight * float(problem.evaluate(known).measures["cost"] or 0.0)
        # Costs of gaps are summed up in another order here: words as good as this one must stay.
        size = float(np.abs(costs).max() * period + np.abs(unused, where=finite, out=np.zeros(len(unused))).sum())
        enough = cost + min(ROUNDING * size, max(ROUNDING * abs(cost), 1e-13 * size))
        numbers &= counts.with_number() <= enough
        costs = np.where(counts.with_gap() <= enough, costs, math.inf)
    allowed = [np.flatnonzero(row).tolist() or [0, period] for row in numbers]
    order = sorted(range(len(allowed)), key=lambda m: (allowed[m][0] == 0, sum(allowed[m]) / len(allowed[m])))
    certain = next((place for place, m in enumerate(order) if allowed[m][0] > 0), len(order))
    return Plan(
        Circulation(costs, unused),
        [some[0] for some in allowed],
        [some[-1] for some in allowed],
        order[: certain + 1],
        [group for group in groups.values() if len(group) > 1],
        known,
    )


def build(problem: RoutingProblem) -> pyo.ConcreteModel:
    """Write the best word of a period as an integer program.

    Parameters
    ----------
    problem
        With a period, and a cost that is a weighted sum of measures.

    Returns
    -------
    pyomo.environ.ConcreteModel
        The program; ``visit`` has a binary variable for each server and slot, `read` takes the word from a solved one.

    Raises
    ------
    ValueError
        With the sentence of `refuses`.

    Examples
    --------
    >>> from optmodels.routing import RoutingProblem
    >>> model = build(RoutingProblem(servers=[0.3, 1.0], arrivals=1.0, application="loss", period=4))
    >>> len(model.visit)
    8
    """
    refusal = refuses(problem)
    if refusal is not None:
        raise ValueError(refusal)
    plan = plan_of(problem)
    model = pyo.ConcreteModel(name="routing")
    model.plan = plan
    model.implied_whole = True  # gaps of a word are 0 or 1
    circulation.declare_variables(model, plan.words)
    circulation.go_on_after_a_gap(model, plan.words)
    circulation.come_after_a_gap(model, plan.words)
    circulation.go_round_once(model, plan.words)
    circulation.fill_slots(model, plan.words)
    circulation.limit_visits(model, plan.words, plan.fewest, plan.most)
    circulation.begin_with_first_used(model, plan.words, plan.order)
    circulation.order_equal_symbols(model, plan.words, plan.equal)
    price_words(model, problem)
    limit_measures(model, problem)
    return model


def price_words(model: pyo.ConcreteModel, problem: RoutingProblem) -> None:
    r"""Price the measure `cost`, and the period, which is the same for all words.

    .. math::  w \Big(\frac1T \sum_{m, t, g} f_m(g)\, y_{mtg} + \sum_m a_m (1 - u_m)\Big) + w' T
    """
    weights = weights_of(problem)
    assert weights is not None and problem.period is not None
    constant = weights["period"] * problem.period
    model.price = pyo.Objective(expr=circulation.price(model, model.plan.words) + constant, sense=pyo.minimize)


def limit_measures(model: pyo.ConcreteModel, problem: RoutingProblem) -> None:
    r"""Limits on the measures, each in a unit that suits solvers: the cost of a word, and the number of its slots.

    .. math::  l \le \frac1T \sum_{m, t, g} f_m(g)\, y_{mtg} + \sum_m a_m (1 - u_m) \le u, \qquad
               l' \le \sum_{m, t} x_{mt} \le u'
    """
    period, words = problem.period, model.plan.words
    assert period is not None
    for name, limit in problem.limits.by_measure.items():
        if name == "cost":
            finite = np.isfinite(problem.costs.slopes)
            unused = np.where(finite, np.where(finite, problem.costs.slopes, 0.0), math.inf)
            costs = np.where(np.isfinite(words.costs), problem.cost_table(period) / period, math.inf)
            size = max((abs(side) for side in (limit.minimum, limit.maximum) if 0 < abs(side) < math.inf), default=1.0)
            unit = math.ldexp(1.0, math.frexp(size / ROW_SIZE)[1])
            body = circulation.price(model, Circulation(costs / unit, unused / unit))
        else:
            unit, body = 1.0, circulation.net(model.visit.values())
        low, high = (
            (side + sign * ROUNDING * abs(side)) / unit if math.isfinite(side) else None
            for side, sign in ((limit.minimum, -1.0), (limit.maximum, 1.0))
        )
        model.add_component(f"limit_on_{name}", pyo.Constraint(expr=(low, body, high)))


def read(model: pyo.ConcreteModel) -> Decision:
    """Read the word of a solved model."""
    return tuple(held[0] for held in circulation.read_slots(model))


def start(model: pyo.ConcreteModel, decision: Decision) -> None:
    """Give every variable of the model its value for a word; none where the word is dearer than the model has them."""
    plan: Plan = model.plan
    letters = {m: m for m in range(plan.words.symbols)}
    for group in plan.equal:
        often = sorted(group, key=lambda m: -decision.count(m))
        letters |= dict(zip(often, group, strict=True))
    slots = [(letters[m],) for m in decision]
    if all(gap in plan.words.gaps[m] for (m, _), gap in circulation.gaps_of(plan.words, slots).items()):
        circulation.fill_in(model, plan.words, slots, plan.order)
