r"""Variables and constraints of the program of occupation measures, piece by piece.

What they mean, and why they are exact together, is told in :mod:`optmodels.robots.mip.model`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr import LinearExpression

if TYPE_CHECKING:
    from .plan import Plan

#: By how much rows of limits are loose, in parts of their largest number.
LOOSE = 1e-8

#: Factors and variables of a sum.
Terms = list[tuple[float, Any]]


def linear(terms: Terms) -> Any:
    """Write a sum of products; far quicker to make than by operators."""
    return LinearExpression(
        linear_coefs=[float(factor) for factor, _ in terms], linear_vars=[variable for _, variable in terms]
    )


def declare_variables(model: pyo.ConcreteModel, plan: Plan) -> None:
    """Shares of time and rates of answers, in parts of the largest; under limits answers chosen, and trails."""
    model.share = pyo.Var(list(plan.used), bounds=(0, 1))
    model.rate = pyo.Var(list(plan.rate_of), bounds=(0, 1))
    if not plan.limited:
        return
    model.chosen = pyo.Var(plan.choices, domain=pyo.Binary)
    answered = [
        (event, action, state)
        for event, actions in plan.answers.items()
        for action, answer in actions.items()
        for state, _ in answer
    ]
    model.trail_to_event = pyo.Var([(root, *pair) for root in plan.roots for pair in plan.events], bounds=(0, 1))
    model.trail_by_change = pyo.Var([(root, *pair) for root in plan.roots for pair in plan.changes], bounds=(0, 1))
    model.trail_by_answer = pyo.Var([(root, *one) for root in plan.roots for one in answered], bounds=(0, 1))


def what_enters_a_state_leaves_it(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""The rate of leaving a state is that of changes and answers that lead there.

    .. math::  r(s)\, p(s) = \sum_z r(z, s)\, p(z) + \sum_{e, a} \pi_a(e, s)\, y_a(e)
    """
    coming: dict[int, Terms] = defaultdict(list)
    for (source, target), rate in plan.changes.items():
        if source in plan.share_of:
            coming[target].append((rate * plan.share_of[source], model.share[source]))
    for (event, action), unit in plan.rate_of.items():
        for state, chance in plan.answers[event][action]:
            coming[state].append((chance * unit, model.rate[event, action]))

    def rule(model: Any, state: int) -> Any:
        unit = plan.leaving[state] * plan.share_of[state]
        entering = [(-factor / unit, variable) for factor, variable in coming[state]]
        return linear([(1.0, model.share[state]), *entering]) == 0

    model.what_enters_a_state_leaves_it = pyo.Constraint(list(plan.used), rule=rule)
    # Changes may lead out of the states in use; then nobody may be where they begin.
    strays = sorted({source for source, target in plan.changes if target not in plan.share_of} & set(plan.used))
    model.nobody_strays = pyo.Constraint(strays, rule=lambda model, state: linear([(1.0, model.share[state])]) == 0)


def every_event_is_answered(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Answers to an event have its rate together.

    .. math::  \sum_a y_a(e) = \sum_s r(s, e)\, p(s)
    """
    coming: dict[int, Terms] = defaultdict(list)
    for (state, event), rate in plan.events.items():
        if state in plan.share_of:
            coming[event].append((rate * plan.share_of[state], model.share[state]))
    answers: dict[int, Terms] = defaultdict(list)
    for (event, action), unit in plan.rate_of.items():
        answers[event].append((unit, model.rate[event, action]))

    def rule(model: Any, event: int) -> Any:
        unit = math.fsum(factor for factor, _ in coming[event])
        terms = [*answers[event], *((-factor, variable) for factor, variable in coming[event])]
        return linear([(factor / unit, variable) for factor, variable in terms]) == 0

    model.every_event_is_answered = pyo.Constraint(list(coming), rule=rule)


def shares_are_all_the_time(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Shares of time add up to 1.

    .. math::  \sum_s p(s) = 1
    """
    terms = [(plan.share_of[state], model.share[state]) for state in plan.used]
    model.shares_are_all_the_time = pyo.Constraint(expr=linear(terms) == 1)


def one_answer_is_chosen(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A policy leaves nothing to chance: one action for each event.

    .. math::  \sum_a u_a(e) = 1
    """

    def rule(model: Any, event: int) -> Any:
        return linear([(1.0, model.chosen[event, action]) for action in plan.answers[event]]) == 1

    model.one_answer_is_chosen = pyo.Constraint(sorted({event for event, _ in plan.choices}), rule=rule)


def only_what_is_chosen(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Events are answered by the action that is chosen, at most as often as any policy can.

    .. math::  y_a(e) \le Y_a(e)\, u_a(e)
    """

    def rule(model: Any, event: int, action: int) -> Any:
        return linear([(1.0, model.rate[event, action]), (-1.0, model.chosen[event, action])]) <= 0

    pairs = [pair for pair in plan.choices if pair in plan.rate_of]
    model.only_what_is_chosen = pyo.Constraint(pairs, rule=rule)


def trails_lead_to_states_in_use(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""From each root a trail of one unit leaves p(s) in each state.

    .. math::  \sum_e f(e, s) + \sum_z f(z, s) - \sum_e f(s, e) - \sum_z f(s, z) = p(s) - 1(s = \text{root})
    """
    entering: dict[tuple[str, int], Terms] = defaultdict(list)
    for root, event, action, state in model.trail_by_answer:
        entering[root, state].append((1.0, model.trail_by_answer[root, event, action, state]))
    for root, source, target in model.trail_by_change:
        entering[root, target].append((1.0, model.trail_by_change[root, source, target]))
        entering[root, source].append((-1.0, model.trail_by_change[root, source, target]))
    for root, state, event in model.trail_to_event:
        entering[root, state].append((-1.0, model.trail_to_event[root, state, event]))

    def rule(model: Any, root: str, state: int) -> Any:
        begun = 1.0 if plan.roots[root] == ("state", state) else 0.0
        left = [(-plan.share_of[state], model.share[state])] if state in plan.share_of else []
        return linear([*entering[root, state], *left]) == -begun

    model.trails_lead_to_states_in_use = pyo.Constraint(sorted(entering), rule=rule)


def trails_pass_events(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""What comes to an event goes on by its answers.

    .. math::  \sum_s f(s, e) + 1(e = \text{root}) = \sum_{a, s} f_a(e, s)
    """
    passing: dict[tuple[str, int], Terms] = defaultdict(list)
    for root, state, event in model.trail_to_event:
        passing[root, event].append((1.0, model.trail_to_event[root, state, event]))
    for root, event, action, state in model.trail_by_answer:
        passing[root, event].append((-1.0, model.trail_by_answer[root, event, action, state]))

    def rule(model: Any, root: str, event: int) -> Any:
        begun = 1.0 if plan.roots[root] == ("event", event) else 0.0
        return linear(passing[root, event]) == -begun

    model.trails_pass_events = pyo.Constraint(sorted(passing), rule=rule)


def trails_go_by_what_is_chosen(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Trails follow the policy.

    .. math::  f_a(e, s) \le u_a(e)
    """
    choices = set(plan.choices)

    def rule(model: Any, root: str, event: int, action: int, state: int) -> Any:
        trail = model.trail_by_answer[root, event, action, state]
        return linear([(1.0, trail), (-1.0, model.chosen[event, action])]) <= 0

    steps = [step for step in model.trail_by_answer if step[1:3] in choices]
    model.trails_go_by_what_is_chosen = pyo.Constraint(steps, rule=rule)


def limits_are_kept(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Averages do not exceed their limits, each in a unit of its own.

    .. math::  \sum_s g_l(s)\, p(s) \le b_l

    Solvers may miss rows by rounding, and their presolve has excluded the only policy that just keeps a limit. So rows
    are loose by a little more; a policy that makes use of that is cut off when it has been evaluated.

    For the response time L / (mu B) with B the share of time at work, g is that of L - W mu B, and b is 0.
    """
    model.limit = pyo.Constraint(range(len(plan.control.limits)))
    for number, limit in enumerate(plan.control.limits):
        factors = [(float(limit.rates[state]) * plan.share_of[state], model.share[state]) for state in plan.used]
        unit = max(float(np.abs([factor for factor, _ in factors]).max(initial=0.0)), abs(limit.bound)) or 1.0
        terms = [(factor / unit, variable) for factor, variable in factors if factor != 0]
        model.limit.add(number, (None, linear(terms), (limit.bound + limit.slack) / unit + LOOSE))


def least_cost(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""The average cost.

    .. math::  \min \sum_s c(s)\, p(s)
    """
    cost = plan.control.cost
    terms = [(float(cost[state]) * plan.share_of[state], model.share[state]) for state in plan.used if cost[state] != 0]
    model.least_cost = pyo.Objective(expr=linear(terms), sense=pyo.minimize)
