r"""The integer program of thresholds: how much of the time is spent where, and which mode runs at which level.

Variables
---------
* ``reaches[q, i]``, :math:`y_{qi} \in \{0, 1\}`: threshold q (that of the mode with the most robots is 0) is i or more,
  so that at level i one of the q + 1 modes with the most robots runs. Mode a runs there if :math:`z_{ia} = y_{qi} -
  y_{q-1,i} = 1`, where q + 1 modes have as many robots as a or more.
* ``share[a, s]``, :math:`p_{as}`: part of the time in state s (pages, arrival phase, service phase) under mode a, in
  units of :math:`m_i`, the most that any policy spends on the level i of s (`optmodels.threshold.occupation`).
* ``scaled[a, s]``, :math:`x_{as} = p_{as} / d(p)`: the same time per page by which the cost divides (served, say),
  where the cost has a quotient.

Why it is exact
---------------
Let y be whole. The shares of one level are those of its one mode, so `balance` and `all_time` are the equations of the
stationary distribution of that policy, which has no other solution: all averages over time are linear in p. The
equations of x are the same but for their scale (`one_page`), so that x can only be p divided by d(p): then
:math:`c + n/d = c(p) + n(x)` is linear too. No product is approximated, and no interval of d needs to be halved.

Why it is tight
---------------
For any y, :math:`p/u \le x \le p/l` (`proportional`), where l and u bound d under every policy. With y between 0 and 1
the rest is a policy that sees the phases, so at the root of the whole program the bound is that of `optimal-policy`, up
to the difference that l and u leave. Most of what is between that and the optimum goes before a solver is asked:
thresholds that no policy with their restrictions can make as cheap as known ones are left out
(`optmodels.threshold.occupation`), and with them the modes that run above. What remains has small units, so that
`mode_in_force` leaves little to a mode that runs by a fraction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.core.expr import LinearExpression
from scipy.sparse import csc_array

from heuristics import Decision
from queueing.threshold.policies import stationary_of_policy

from .occupation import Costs, Denominator, Occupation, limit_rows, occupation_of, priced, refuses

if TYPE_CHECKING:
    from .problem import ThresholdProblem

#: What a solver may take for rounding: pages are a small part of the time, and each is counted.
TOLERANCE = 1e-9

#: The same where no threshold is left to choose: equations alone, which HiGHS 1.15 does not always keep more closely.
DECIDED_TOLERANCE = 1e-7

#: Farther than this beyond a limit, in the unit of its row, is more than solvers take for rounding.
NEARLY = 1e-5


@dataclass(frozen=True, eq=False)
class Plan:
    """What the model is written from."""

    problem: ThresholdProblem
    occupation: Occupation

    @property
    def denominator(self) -> Denominator | None:
        """Of the quotient in the cost, if there is one."""
        return self.occupation.denominator

    @cached_property
    def levels(self) -> range:
        """Numbers of pages at which a mode is chosen; beyond the capacity the mode at the capacity runs."""
        return range(self.problem.queue.capacity + 1)

    @cached_property
    def thresholds(self) -> range:
        """Numbers of the thresholds, beginning with the mode with the most robots."""
        return range(self.modes - 1)

    @property
    def modes(self) -> int:
        """Number of modes."""
        return self.occupation.chain.modes

    @cached_property
    def states_of(self) -> list[list[int]]:
        """The states of each level that is kept."""
        level = self.occupation.chain.order.level
        return [np.flatnonzero(level == i).tolist() for i in range(len(self.occupation.most))]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Modes and states: those that may run, on levels that are kept."""
        kept = sum(map(len, self.states_of))
        modes, states = np.nonzero(self.occupation.allowed[:, :kept])
        return list(zip(modes.tolist(), states.tolist(), strict=True))

    @cached_property
    def units(self) -> NDArray[np.float64]:
        """By state that is kept: the share of time that 1 stands for."""
        return np.repeat(self.occupation.most, [len(states) for states in self.states_of])

    @cached_property
    def scaled_units(self) -> NDArray[np.float64]:
        """By state that is kept: the time per page that 1 stands for."""
        return self.units / (1.0 if self.denominator is None else self.denominator.least)

    @cached_property
    def rows(self) -> dict[int, tuple[list[float], list[tuple[int, int]]]]:
        """By state: the factors of its balance, the largest of which is 1, and to which pairs they belong.

        If levels are left out, the last one that is kept, itself hardly ever reached, has no balance: it brings back
        what went to it and beyond.
        """
        chain, known = self.occupation.chain, set(self.pairs)
        moves = csc_array(chain.rates)
        complete = len(self.states_of) > chain.model.top
        found = {}
        for state in itertools.chain.from_iterable(self.states_of if complete else self.states_of[:-1]):
            entries = slice(moves.indptr[state], moves.indptr[state + 1])
            pairs = [divmod(row, chain.states) for row in moves.indices[entries].tolist()]
            terms = [
                (float(rate * self.units[pair[1]]), pair)
                for rate, pair in zip(moves.data[entries].tolist(), pairs, strict=True)
                if pair in known
            ]
            largest = max((abs(factor) for factor, _ in terms), default=1.0) or 1.0
            found[state] = [factor / largest for factor, _ in terms], [pair for _, pair in terms]
        return found

    def along(self, by_mode_and_state: Costs, units: NDArray[np.float64]) -> list[float]:
        """Return factors of all pairs, in their units."""
        modes, states = np.array(self.pairs).T
        found: list[float] = np.asarray(by_mode_and_state[modes, states] * units[states]).tolist()
        return found


def build(problem: ThresholdProblem, narrow: bool = True) -> pyo.ConcreteModel:
    """Write the choice of thresholds as an integer program.

    Parameters
    ----------
    problem
        Thresholds whose cost is a weighted sum of measures with one denominator at most, with any limits.
    narrow
        Leave out thresholds that are proved to be dearer than some that are known; otherwise the program has them all.

    Returns
    -------
    pyomo.environ.ConcreteModel
        The program; `read` takes the thresholds from a solved model.

    Raises
    ------
    ValueError
        With the sentence of `optmodels.threshold.occupation.refuses`.

    Examples
    --------
    >>> from optmodels.threshold import ThresholdGenerator, build
    >>> model = build(ThresholdGenerator(modes=2, capacity=3).instance().problem())
    >>> len(model.reaches)
    4
    """
    refusal = refuses(problem)
    if refusal is not None:
        raise ValueError(refusal)
    plan = Plan(problem, occupation_of(problem, narrow))
    model = pyo.ConcreteModel(name="threshold")
    model.plan = plan
    decided = plan.occupation.ranges.lower == plan.occupation.ranges.upper
    model.tolerance = DECIDED_TOLERANCE if decided else TOLERANCE
    declare_variables(model, plan)
    thresholds_rise(model, plan)
    reached_from_below(model, plan)
    balance(model, plan)
    all_time(model, plan)
    mode_in_force(model, plan)
    if plan.denominator is not None:
        balance_of_scaled(model, plan)
        one_page(model, plan)
        proportional(model, plan)
    within_limits(model, plan)
    price(model, plan)
    return model


def read(model: pyo.ConcreteModel) -> Decision:
    """The thresholds in a solved model."""
    plan: Plan = model.plan
    return tuple(sum(round(pyo.value(model.reaches[q, i])) for i in plan.levels) - 1 for q in plan.thresholds)


def start(problem: ThresholdProblem, model: pyo.ConcreteModel, decision: Decision) -> None:
    """Give every variable of the model its value for some thresholds; dear ones, which are left out, have no point."""
    plan: Plan = model.plan
    for (q, i), variable in model.reaches.items():
        if not variable.fixed:
            variable.set_value(int(decision[q] >= i), skip_validation=True)
    modes, time = _time_spent(problem, decision)
    pages = 0.0 if plan.denominator is None else float(plan.denominator.rates[modes, np.arange(len(time))] @ time)
    for mode, state in plan.pairs:
        spent = float(time[state]) if mode == modes[state] else 0.0
        model.share[mode, state].set_value(spent / plan.units[state], skip_validation=True)
        if plan.denominator is not None:
            scaled = spent / (pages * plan.scaled_units[state]) if pages > 0 else 0.0
            model.scaled[mode, state].set_value(scaled, skip_validation=True)


def almost_feasible(problem: ThresholdProblem, decision: Decision) -> bool:
    """Whether thresholds break limits by no more than solvers take for rounding."""
    modes, time = _time_spent(problem, decision)
    states = np.arange(len(time))
    return all(float(row.factors[modes, states] @ time) <= row.upper + NEARLY for row in limit_rows(problem))


def _time_spent(problem: ThresholdProblem, decision: Decision) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the mode in each state, and the part of the time spent there."""
    chain = problem.policies()
    modes = problem.queue.mode_by_level(decision)[chain.order.level]
    return modes, stationary_of_policy(chain, modes)


# -- variables and constraints ----------------------------------------------------------------------------------------


def linear(factors: Iterable[float], variables: Iterable[Any]) -> Any:
    """Write a sum of products; far quicker to make than by operators."""
    return LinearExpression(linear_coefs=list(factors), linear_vars=list(variables))


def declare_variables(model: pyo.ConcreteModel, plan: Plan) -> None:
    """Which thresholds reach which level, and the time spent in each state under each mode."""
    model.reaches = pyo.Var(plan.thresholds, plan.levels, domain=pyo.Binary)
    ranges = plan.occupation.ranges
    for (q, i), variable in model.reaches.items():
        if not ranges.lower[q] < i <= ranges.upper[q]:
            variable.fix(int(i <= ranges.lower[q]))
    model.share = pyo.Var(plan.pairs, bounds=(0, 1))
    if plan.denominator is not None:
        model.scaled = pyo.Var(plan.pairs, bounds=(0, 1))


def runs(model: pyo.ConcreteModel, plan: Plan, mode: int, level: int) -> tuple[list[float], list[Any], float]:
    r"""Write :math:`z_{ia}`, whether a mode runs at a level, as factors, variables and a constant."""
    q, i = plan.modes - 1 - mode, min(level, plan.levels[-1])
    factors, variables, constant = [], [], 0.0
    if q < plan.modes - 1:
        factors.append(1.0)
        variables.append(model.reaches[q, i])
    else:
        constant = 1.0  # the mode with the fewest robots runs wherever no other does
    if q > 0:
        factors.append(-1.0)
        variables.append(model.reaches[q - 1, i])
    return factors, variables, constant


def thresholds_rise(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A threshold is no lower than the one before it.

    .. math::  y_{q-1,i} \le y_{qi}
    """

    def rule(model: Any, q: int, i: int) -> Any:
        return model.reaches[q - 1, i] <= model.reaches[q, i]

    model.thresholds_rise = pyo.Constraint(plan.thresholds[1:], plan.levels, rule=rule)


def reached_from_below(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A threshold that reaches a level reaches the one below.

    .. math::  y_{q,i+1} \le y_{qi}
    """

    def rule(model: Any, q: int, i: int) -> Any:
        return model.reaches[q, i + 1] <= model.reaches[q, i]

    model.reached_from_below = pyo.Constraint(plan.thresholds, plan.levels[:-1], rule=rule)


def balance(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""What enters a state leaves it; :math:`Q^a` is the generator under mode a.

    .. math::  \sum_a \sum_{s'} p_{as'} Q^a_{s's} = 0
    """

    def rule(model: Any, state: int) -> Any:
        factors, pairs = plan.rows[state]
        return linear(factors, [model.share[pair] for pair in pairs]) == 0

    model.balance = pyo.Constraint(list(plan.rows), rule=rule)


def all_time(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Shares add up to all of the time.

    .. math::  \sum_a \sum_s p_{as} = 1
    """
    factors = [float(plan.units[state]) for _, state in plan.pairs]
    model.all_time = pyo.Constraint(expr=linear(factors, model.share.values()) == 1)


def mode_in_force(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Time is spent under the mode that runs, and no more on a level than any policy spends there.

    .. math::  \sum_{s \in S_i} p_{as} \le m_i z_{ia}
    """

    def rule(model: Any, mode: int, level: int) -> Any:
        factors, variables, constant = runs(model, plan, mode, level)
        states = [state for state in plan.states_of[level] if (mode, state) in model.share]
        if not states:
            return pyo.Constraint.Skip
        left = [1.0] * len(states) + [-factor for factor in factors]
        return linear(left, [model.share[mode, state] for state in states] + variables) <= constant

    model.mode_in_force = pyo.Constraint(range(plan.modes), range(len(plan.states_of)), rule=rule)


def balance_of_scaled(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""What enters a state leaves it, also where time is counted per page.

    .. math::  \sum_a \sum_{s'} x_{as'} Q^a_{s's} = 0
    """

    def rule(model: Any, state: int) -> Any:
        factors, pairs = plan.rows[state]
        return linear(factors, [model.scaled[pair] for pair in pairs]) == 0

    model.balance_of_scaled = pyo.Constraint(list(plan.rows), rule=rule)


def one_page(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""In the time per page there is one page.

    .. math::  \sum_a \sum_s d_{as} x_{as} = 1
    """
    assert plan.denominator is not None
    factors = plan.along(plan.denominator.rates, plan.scaled_units)
    model.one_page = pyo.Constraint(expr=linear(factors, model.scaled.values()) == 1)


def proportional(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Time per page is share of time divided by pages per unit of time, of which there are l at least and u at most.

    .. math::  p_{as} / u \le x_{as} \le p_{as} / l
    """
    assert plan.denominator is not None
    least = plan.denominator.least / plan.denominator.most

    def at_least(model: Any, mode: int, state: int) -> Any:
        return model.scaled[mode, state] >= least * model.share[mode, state]

    def at_most(model: Any, mode: int, state: int) -> Any:
        return model.scaled[mode, state] <= model.share[mode, state]

    model.proportional_at_least = pyo.Constraint(plan.pairs, rule=at_least)
    model.proportional_at_most = pyo.Constraint(plan.pairs, rule=at_most)


def within_limits(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Limits are kept: on averages :math:`n \le b`, on quotients :math:`n - b d \le 0`.

    .. math::  \sum_a \sum_s (n_{as} - b d_{as}) p_{as} \le 0
    """
    rows = {row.name: row for row in limit_rows(plan.problem)}

    def rule(model: Any, name: str) -> Any:
        factors = plan.along(rows[name].factors, plan.units)
        return linear(factors, model.share.values()) <= rows[name].upper

    model.within_limits = pyo.Constraint(list(rows), rule=rule)


def price(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""The cost: averages in shares of time, the quotient in time per page.

    .. math::  \min \sum_a \sum_s (c_{as} p_{as} + n_{as} x_{as})
    """
    costs = priced(plan.problem)[0]
    factors, variables = plan.along(costs[0], plan.units), list(model.share.values())
    if plan.denominator is not None:
        factors += plan.along(costs[1], plan.scaled_units)
        variables += model.scaled.values()
    model.cost = pyo.Objective(expr=linear(factors, variables))
