r"""Robots split over areas as an integer program: a knapsack with one choice for each area.

``given[a, n]``, :math:`x_{an}`, is 1 if area a gets n robots. What an area costs and adds to each limit with n robots
is known before, from its best policy or a formula, so that the program is exact as it stands:

.. math::

   \min \sum_{a,n} c_a(n) x_{an}, \quad \sum_n x_{an} = 1, \quad \sum_{a,n} n \, x_{an} \le N, \quad
   \sum_{a,n} g_{al}(n) \, x_{an} \le b_l.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr import LinearExpression

from heuristics import Decision, interrupting

from ...costs import ROUNDING
from .limits import Rows, rows_of

if TYPE_CHECKING:
    from .problem import Outcome, RobotAreasProblem

#: What solvers are asked to take for nothing.
TOLERANCE = 1e-9

#: By how much rows of limits are loose, in parts of their largest number: more than what solvers take for rounding.
LOOSE = 1e-8


def build(problem: RobotAreasProblem) -> pyo.ConcreteModel:
    """Write a split of robots over areas as an integer program.

    Parameters
    ----------
    problem
        Areas, with or without limits on the measures of all of them together.

    Returns
    -------
    pyomo.environ.ConcreteModel
        The program; `read` takes the split from a solved model.
    """
    outcomes: list[list[Outcome]] = []
    for area in range(len(problem.areas)):
        outcomes.append([])
        for robots in range(problem.robots + 1):
            interrupting.check()
            outcomes[-1].append(problem.outcome(area, robots))
    model = pyo.ConcreteModel(name="areas")
    model.implied_whole = True
    model.tolerance = TOLERANCE
    model.given = pyo.Var(range(len(outcomes)), range(problem.robots + 1), domain=pyo.Binary)
    one_number_for_each_area(model)
    no_more_than_there_are(model, problem.robots)
    limits_are_kept(model, list(rows_of(outcomes, problem.limits)))
    least_cost(model, outcomes)
    return model


def one_number_for_each_area(model: pyo.ConcreteModel) -> None:
    r"""Each area gets one number of robots, perhaps none.

    .. math::  \sum_n x_{an} = 1
    """
    areas, numbers = model.given.index_set().subsets()

    def rule(model: Any, area: int) -> Any:
        return _sum([(1.0, model.given[area, number]) for number in numbers]) == 1

    model.one_number_for_each_area = pyo.Constraint(areas, rule=rule)


def no_more_than_there_are(model: pyo.ConcreteModel, robots: int) -> None:
    r"""Areas share the robots.

    .. math::  \sum_{a,n} n \, x_{an} \le N
    """
    terms = [(float(number), variable) for (_, number), variable in model.given.items() if number]
    if terms:
        model.no_more_than_there_are = pyo.Constraint(expr=_sum(terms) <= robots)


def limits_are_kept(model: pyo.ConcreteModel, rows: Rows) -> None:
    r"""Sums over areas do not exceed their limits, each in a unit of its own.

    .. math::  \sum_{a,n} g_{al}(n) \, x_{an} \le b_l

    For the response time, the number of pages over the pages served per unit of time, g is the number less b times the
    pages served, and the right side is 0.
    """
    model.limit = pyo.Constraint(range(len(rows)))
    for number, (_, tables, bound) in enumerate(rows):
        table = np.array(tables)
        unit = max(float(np.abs(table).max(initial=0.0)), abs(bound)) or 1.0
        terms = [(float(table[key]) / unit, variable) for key, variable in model.given.items()]
        # What is met up to rounding is kept by the evaluator; what is not is cut off when it has been evaluated.
        model.limit.add(number, (None, _sum(terms), (bound + ROUNDING * abs(bound)) / unit + LOOSE))


def least_cost(model: pyo.ConcreteModel, outcomes: list[list[Outcome]]) -> None:
    r"""What the areas cost.

    .. math::  \min \sum_{a,n} c_a(n) x_{an}
    """
    terms = [(outcomes[area][number].objective, variable) for (area, number), variable in model.given.items()]
    model.least_cost = pyo.Objective(expr=_sum(terms), sense=pyo.minimize)


def read(model: pyo.ConcreteModel) -> Decision:
    """The split in a solved model."""
    areas, _ = model.given.index_set().subsets()
    found = dict.fromkeys(areas, 0)
    for (area, number), variable in model.given.items():
        if round(pyo.value(variable)):
            found[area] = number
    return tuple(found.values())


def start(model: pyo.ConcreteModel, decision: Decision) -> None:
    """Give every variable of the model its value for a split."""
    for (area, number), variable in model.given.items():
        variable.set_value(int(decision[area] == number))


def _sum(terms: list[tuple[float, Any]]) -> Any:
    return LinearExpression(linear_coefs=[factor for factor, _ in terms], linear_vars=[one for _, one in terms])
