r"""A mixture of policies that keeps limits, made of policies that the evaluator has judged.

A solution of the linear program is right to the solver's tolerance, and where the process hardly ever leaves some
states that is not enough: what is made of it may break a limit. Here nothing but evaluated policies is mixed: with
:math:`c_i` and :math:`g_{il}` what policy i costs and what it has of limit l,

.. math:: \min_w \sum_i c_i w_i, \quad \sum_i g_{il} w_i \le b_l, \quad \sum_i w_i = 1, \quad w \ge 0,

is a program of a few columns. Its prices of limits ask for the best policy at these prices, which is a further column,
until there is none that helps (Dantzig and Wolfe).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from heuristics import interrupting
from queueing.robots.fleet import Chances, FleetMeasures, mixed_chances, mixed_measures

from ..limits import Actions, LimitedControl, Vector
from .mixture import RARE, Part
from .program import power_of_two, solved_by_highs

#: Columns asked for, at most, and the part of the cost by which a further one must help.
ROUNDS, HELPS = 60, 1e-11


def mixed_by_columns(control: LimitedControl, start: list[Actions], prices: Vector) -> list[Part]:
    """Policies and their probabilities, the likeliest first; none if no mixture was found that keeps the limits.

    Parameters
    ----------
    control
        What there is to control.
    start
        Policies to begin with.
    prices
        Of the limits, at which the best policy is one, too.
    """
    columns: list[tuple[Actions, Chances, FleetMeasures, float, Vector]] = []

    def add(actions: Actions) -> None:
        interrupting.check()
        chances = mixed_chances(control.fleet, actions)
        measures, shares = mixed_measures(control.fleet, chances, control.moves, interrupting.check)
        rates = np.array([limit.rates @ shares - limit.bound for limit in control.limits])
        columns.append((actions, chances, measures, float(control.cost @ shares), rates))

    for actions in [
        *start,
        control.priced(prices).actions,
        *(control.best(one.rates).actions for one in control.limits),
    ]:
        add(actions)
    weights = np.zeros(0)
    for _ in range(ROUNDS):
        costs, rates = np.array([one[3] for one in columns]), np.array([one[4] for one in columns]).T
        found = _master(costs, rates)
        if found is None:
            return []
        weights, broken, prices = found
        if broken > 0:  # the prices are those of keeping the limits at all
            total = np.sum(
                [price * (one.rates - one.bound) for price, one in zip(prices, control.limits, strict=True)], 0
            )
            total[: control.fleet.environments] = 0.0
            add(control.best(total).actions)
            helps = float(prices @ columns[-1][4]) < broken * (1 - 1e-9)
        else:
            best = control.priced(prices)
            value = float(weights @ costs)
            helps = best.lower - sum(p * one.bound for p, one in zip(prices, control.limits, strict=True)) < value - (
                HELPS * abs(value)
            )
            add(best.actions)
        if not helps:
            break
    if broken > 0:
        return []
    kept = [place for place in np.argsort(-weights, kind="stable") if weights[place] > RARE]
    total_weight = float(weights[kept].sum())
    return [
        Part(float(weights[place]) / total_weight, columns[place][1], columns[place][0], columns[place][2])
        for place in kept
    ]


def _master(costs: Vector, rates: NDArray[np.float64]) -> tuple[Vector, float, Vector] | None:
    """Weights, how far limits are broken (weighted by the prices then given), and prices of the limits."""
    limits, count = rates.shape
    unit = power_of_two(costs)
    sizes = np.array([power_of_two(row) for row in rates])
    scaled = rates / sizes[:, np.newaxis]
    for phase in ("keep", "cost"):
        excess = np.full((limits, 1), -1.0 if phase == "keep" else 0.0)
        matrix = csc_array(np.vstack([np.append(np.ones(count), 0.0), np.hstack([scaled, excess])]))
        prices = np.append(np.zeros(count), 1.0) if phase == "keep" else np.append(costs / unit, 0.0)
        low, high = np.append(1.0, np.full(limits, -np.inf)), np.append(1.0, np.zeros(limits))
        status, values, duals = solved_by_highs(
            matrix, prices, np.full(count + 1, np.inf), low, high, "simplex", np.inf, interrupting.check
        )
        if status != "optimal":
            return None
        multipliers = np.maximum(0.0, -duals[1:]) / sizes
        if phase == "keep" and values[-1] > 1e-9:
            return values[:count], float(values[-1]), multipliers
    return np.maximum(0.0, values[:count]), 0.0, multipliers * unit
