r"""What a solution of the robots' linear program stands for: a policy that leaves decisions to chance, or a mixture.

The solution has shares of time and rates of decisions; their quotients are probabilities of actions. If the states in
use are one closed class, that is a policy. If they are several, no policy that looks at the state alone shares its time
between them as the program does: one class is drawn at the beginning, with its share as the probability, and its
policy is followed for good. Either is evaluated as a randomised policy, from the start; what is told is what the
evaluator says, not what the solver said.

A solution of the linear program is right to the solver's tolerance, and where the process hardly ever leaves some
states that is not enough: what is made of it may break a limit. In `mixed_by_columns` nothing but evaluated policies is
mixed: with :math:`c_i` and :math:`g_{il}` what policy i costs and what it has of limit l,

.. math:: \min_w \sum_i c_i w_i, \quad \sum_i g_{il} w_i \le b_l, \quad \sum_i w_i = 1, \quad w \ge 0,

is a program of a few columns. Its prices of limits ask for the best policy at these prices, which is a further column,
until there is none that helps (Dantzig and Wolfe).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from heuristics import interrupting
from queueing.robots import MEASURES
from queueing.robots.fleet import (
    Chances,
    FleetMeasures,
    fleet_rates,
    led_to,
    likeliest,
    mixed_chances,
    mixed_classes,
    mixed_measures,
    moves_of,
)

from ...costs import CostFunction, Limits
from ..pricing import Actions, LimitedControl, Vector
from .program import TOLERANCE, ProgramAnswer, power_of_two, solved_by_highs

#: Probabilities below this are not told as chance.
RARE = 1e-9

#: Shares of time, and rates of decisions in the mean time of a service, that may be rounding of the solver.
NEVER = (TOLERANCE, 1e-9, 1e-8, 1e-7, 1e-12, 1e-14)

#: Limits may be missed by so much of them by what is made of a solution, which is right to some 1e-10.
KEPT = 1e-7

#: Classes that are told one by one, the likeliest first.
MOST_CLASSES = 20

#: Columns asked for, at most, and the part of the cost by which a further one must help.
ROUNDS, HELPS = 60, 1e-11


@dataclass(frozen=True, eq=False)
class Part:
    """A closed class of a solution: how likely it is drawn, the policy that leads there, and its measures."""

    probability: float
    chances: Chances
    actions: Actions
    measures: FleetMeasures


def parts_of(control: LimitedControl, answer: ProgramAnswer) -> list[Part]:
    """The closed classes of a solution, the likeliest first.

    Which decisions are taken at all, and which are rounding of the solver, is not known. Classes between which the
    solution hardly ever moves may be several or one; what comes nearest to the solution is taken.

    Parameters
    ----------
    control, answer
        The robots under limits, and the solution of their program.

    Returns
    -------
    list of Part
        Each with its share of the time.
    """
    best: list[Part] = []
    nearest = math.inf
    for least in NEVER:
        parts = _parts(control, answer, least)
        found = together(control, parts)
        far = max(
            abs((found[name] or 0.0) - meant) / (abs(meant) or 1.0) for name, meant in _meant(control, answer).items()
        )
        if far < nearest:
            best, nearest = parts, far
        if nearest <= KEPT:
            break
    return best


def _meant(control: LimitedControl, answer: ProgramAnswer) -> dict[str, float]:
    """Measures that are averages, as the solver has them."""
    return dict(zip(MEASURES[:4], (fleet_rates(control.fleet)[:4] @ answer.shares).tolist(), strict=True))


def _parts(control: LimitedControl, answer: ProgramAnswer, least: float) -> list[Part]:
    """The closed classes if decisions that are taken less often than `least` are rounding."""
    used = answer.shares > least
    used[: control.fleet.environments] = False
    if not used.any():
        used[int(np.argmax(answer.shares))] = True
    everywhere = _leading(control, answer, used, least)
    classes = mixed_classes(control.fleet, everywhere, control.moves)
    weights = np.array([float(answer.shares[states].sum()) for states in classes])
    kept = [place for place in np.argsort(-weights, kind="stable") if weights[place] > RARE * weights.sum()]
    total, found = float(weights[kept].sum()), []
    for place in kept[:MOST_CLASSES]:
        interrupting.check()
        aim = np.zeros(control.fleet.states, dtype=np.bool_)
        aim[classes[place]] = True
        chances = everywhere if len(classes) == 1 else _leading(control, answer, aim, least)
        measures, _ = mixed_measures(control.fleet, chances, control.moves, interrupting.check)
        found.append(Part(float(weights[place]) / total, chances, likeliest(control.moves, chances), measures))
    return found


def _leading(control: LimitedControl, answer: ProgramAnswer, aim: NDArray[np.bool_], least: float) -> Chances:
    """Probabilities of actions where the states aimed at lead; elsewhere, actions that lead to these states."""
    moves, flows = control.moves, np.where(control.moves.allowed & (answer.flows > least), answer.flows, 0.0)
    asked = np.asarray(moves.events[np.flatnonzero(aim)].sum(axis=0)).ravel() > 0
    if moves.again:  # "one more" asks again
        after = asked
        while after.any():
            after = (np.asarray(moves.sending[1].T @ np.where(flows[1] > 0, after, False)).ravel() > 0) & ~asked
            asked = asked | after
    totals = flows.sum(axis=0)
    known = asked & (totals > 0)
    fallback = (np.cumsum(moves.allowed, axis=0) == 1) & moves.allowed  # the first action that is possible
    shares = np.divide(flows, totals, out=fallback.astype(np.float64), where=known)
    rounded = likeliest(moves, shares)
    # `led_to` looks for actions that may lead to the aim, states whose own decisions are made left alone.
    led = led_to(moves_of(control.fleet), rounded, control.fleet.idle, aim)
    return np.where(known, shares, mixed_chances(control.fleet, np.asarray(led)))


def told(control: LimitedControl, parts: list[Part], cost: CostFunction | None, limits: Limits) -> dict[str, Any]:
    """For ``extra.randomised``: a policy, or a mixture of policies one of which is drawn at the beginning."""
    if len(parts) == 1:
        kept = limits.excess(parts[0].measures.scalars()) <= KEPT
        return {"kind": "policy", "keeps_limits": kept, **_told(control, parts[0], cost)}
    measures = together(control, parts)
    return {
        "kind": "mixture",
        "keeps_limits": limits.excess(measures) <= KEPT,
        "objective": None if cost is None else cost(measures),
        "measures": measures,
        "drawn": "one of the classes, once, at time 0; its policy leads there and is followed for good.",
        "classes": [{"probability": part.probability, **_told(control, part, cost)} for part in parts],
    }


def together(control: LimitedControl, parts: list[Part]) -> dict[str, float | None]:
    """Measures of a mixture: means over the classes; the response time by Little's law, the range of all of them."""
    found: dict[str, float | None] = {}
    for name in MEASURES[:4]:
        found[name] = math.fsum(part.probability * getattr(part.measures, name) for part in parts)
    rate = control.fleet.service_rate
    busy = [
        0.0 if not one.response_time else one.mean_length / (rate * one.response_time)
        for one in (part.measures for part in parts)
    ]
    served = rate * math.fsum(part.probability * share for part, share in zip(parts, busy, strict=True))
    length = found["mean_length"] or 0.0
    found["response_time"] = length / served if served > 0 else None
    found["fewest_robots"] = min(part.measures.fewest_robots for part in parts)
    found["most_robots"] = max(part.measures.most_robots for part in parts)
    return found


def _told(control: LimitedControl, part: Part, cost: CostFunction | None) -> dict[str, Any]:
    fleet, several, again = control.fleet, len(control.fleet.classes) > 1, control.moves.again
    measures = part.measures.scalars()
    chance = (part.chances > RARE) & (part.chances < 1.0 - RARE)
    base = not several and not again and fleet.environment is None and fleet.phases == 1
    left = []
    for state in np.flatnonzero(chance.any(axis=0)).tolist():
        place = state // fleet.environments % fleet.places
        entry: dict[str, Any] = {"pages": state // (fleet.environments * fleet.places)}
        entry["robots"] = int(fleet.robots_out[place, 0]) if base else fleet.counts[place].tolist()
        if fleet.environment is not None:
            entry["environment"] = state % fleet.environments
        if several:
            entry["probabilities"] = {
                str(action - 1): float(part.chances[action, state])
                for action in np.flatnonzero(part.chances[:, state]).tolist()
            }
        else:
            entry["probability"] = float(part.chances[1, state])
        left.append({"state": state, **entry})
    policy = [row.tolist() for row in part.chances] if several else part.chances[1].tolist()
    return {
        "objective": None if cost is None else cost(measures),
        "measures": measures,
        "states_left_to_chance": left,
        "policy": policy,
    }


# -- mixtures of evaluated policies ------------------------------------------------------------------------------------


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
        status, values, duals = solved_by_highs(matrix, prices, np.full(count + 1, np.inf), low, high, "simplex")
        if status != "optimal":
            return None
        multipliers = np.maximum(0.0, -duals[1:]) / sizes
        if phase == "keep" and values[-1] > 1e-9:
            return values[:count], float(values[-1]), multipliers
    return np.maximum(0.0, values[:count]), 0.0, multipliers * unit
