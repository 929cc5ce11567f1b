r"""The integer program of the best cycles of T slots: visits, the gaps between them, and how often pages are visited.

Each robot has a block, ``robot[r]``, with the circulation of its word (:mod:`optmodels.mip.circulation`: ``visit``,
``gap``, ``used``, and why they are exact). Over the blocks stand

* ``count[i]``, :math:`n_i`: visits to page i in the cycles of all robots, a whole number.
* ``cost[i]``, :math:`z_i`: what page i costs, in a unit of its own: weights may be many decades apart, and beside
  those of heavy pages a solver would take the costs of light ones for rounding errors.
* ``host_of[h, r]``: robot r may visit host h; where visits to a host must be apart, one robot does.

Why it is tight
---------------
The circulation alone lets half of a word that goes round twice pass for a word, and proves no more than the bound of
whole gaps. `cost_at_least` says what n visits cost at least, :math:`C_i(n)`, convex in n, by its tangents at whole
numbers: the relaxation is then worth the bound of whole visits (:mod:`optmodels.freshness.cycles.counts`), and counts
are few numbers to branch on. Gaps and counts that a cycle as good as the best known cannot have are left out
(:mod:`optmodels.freshness.cycles.reduction`). Cycles may begin anywhere, equal pages can be exchanged and so can
robots: one of all these is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr import LinearExpression

from heuristics import Decision

from ...costs import Limits
from ...mip import circulation as pieces
from ...mip.circulation import Circulation
from ..space import IDLE
from .reduction import Reduction, reduced

if TYPE_CHECKING:
    from .problem import CycleProblem

#: Most gaps, pages times slots times gaps of each robot, of a model.
MOST_GAPS = 2_000_000

#: Most rows that put the longest gap of a page at the beginning.
MOST_TURNING_ROWS = 1_500

#: Solvers drop smaller entries of a row, so the model does it itself, and knows what its rows lose.
LEAST_ENTRY = 1e-9

#: Measures whose limits the model has.
LIMITED = ("largest_gap", "pages_never_visited")


def linear(terms: list[tuple[float, Any]]) -> Any:
    """Write a sum of products."""
    return LinearExpression(linear_coefs=[factor for factor, _ in terms], linear_vars=[name for _, name in terms])


def net(plus: Iterable[Any], minus: Iterable[Any] = ()) -> Any:
    """Write the sum of some variables less the sum of others."""
    return linear([(1.0, variable) for variable in plus] + [(-1.0, variable) for variable in minus])


def refuses(problem: CycleProblem) -> str | None:
    """Why the problem cannot be written as a linear integer program, in a sentence; ``None`` if it can."""
    if problem.scale is None:
        return f"the model of {problem.name!r} can price obsolescence alone; annealing takes any cost."
    foreign = sorted(set(problem.limits.by_measure) - set(LIMITED))
    if foreign:
        told = f"{', '.join(LIMITED)}, not {', '.join(foreign)}"
        return f"the model of {problem.name!r} can limit {told}; annealing takes limits on all measures."
    if math.isfinite(
        problem.limits.by_measure["largest_gap"].minimum if _limited(problem, "largest_gap") else -math.inf
    ):
        return f"the model of {problem.name!r} can limit largest_gap from above only; annealing takes any limit."
    pages, robots, slots = problem.columns.count, problem.rules.robots, problem.cycle
    if pages * robots * slots**2 > MOST_GAPS:
        by = f"{pages} pages x {slots} slots x {slots} gaps" + (f" x {robots} robots" if robots > 1 else "")
        return (
            f"the model of {problem.name!r} has {by} = {pages * robots * slots**2} variables, and {MOST_GAPS} are the "
            "most; annealing takes any size, and every strategy tells the bound of the best numbers of visits."
        )
    return None


@dataclass(frozen=True, eq=False)
class Plan:
    """What the model is written from.

    Attributes
    ----------
    problem
        Whose cycles they are.
    left
        Visits and gaps that the best cycle may have.
    words
        What the word of a robot is made of, a symbol for each page.
    units
        Of ``cost``, by page: the largest cost in its row.
    order
        Pages of which the first that a robot visits is visited in slot 0.
    """

    problem: CycleProblem
    left: Reduction
    words: Circulation
    units: list[float]
    order: list[int]
    equal: list[list[int]] = field(default_factory=list)

    def left_alone(self, page: int) -> float:
        """What a page costs that is never visited; 0 if it is visited for certain."""
        return 0.0 if self.left.fewest[page] > 0 else float(self.words.unused[page])

    @property
    def robots(self) -> range:
        """Their numbers."""
        return range(self.problem.rules.robots)

    @property
    def pages(self) -> range:
        """Their numbers."""
        return range(self.problem.columns.count)


def plan_of(problem: CycleProblem) -> Plan:
    """Leave out what the best cycle cannot have, and choose who begins."""
    left = reduced(problem.counts, problem.least_known)
    costs = np.where(left.gaps, left.costs, np.inf)
    for gap in range(1, problem.cycle + 1):
        if _breaks(problem, "largest_gap", gap):
            costs[:, gap - 1] = np.inf
    weights = np.where(problem.traits.loads > 0, problem.traits.weights, 0.0)
    alone = problem.rules.robots == 1
    unused = np.where(left.fewest > 0, np.inf, weights) if alone else weights
    words = Circulation(costs, unused, least=0 if problem.space.idle else 1)
    dearest = np.maximum(
        np.where(np.isfinite(words.costs), words.costs, 0.0).max(axis=1),
        np.where(left.fewest > 0, 0.0, weights),
    )
    certain = np.flatnonzero(left.fewest > 0)
    first = sorted(certain.tolist(), key=lambda page: (left.most[page], page)) if alone else []
    rest = [page for page in range(len(weights)) if page not in first[:1]]
    order = first[:1] or rest
    units = np.where(dearest > 0, dearest, 1.0).tolist()
    return Plan(problem, left, words, units, order, _equal_pages(problem))


def build(problem: CycleProblem) -> pyo.ConcreteModel:
    """Write the best cycles as an integer program.

    Parameters
    ----------
    problem
        Whose price is that of the obsolescence.

    Returns
    -------
    pyomo.environ.ConcreteModel
        The program; `read` takes the cycles from a solved model.

    Raises
    ------
    ValueError
        With the sentence of `refuses`.
    """
    refusal = refuses(problem)
    if refusal is not None:
        raise ValueError(refusal)
    plan = plan_of(problem)
    model = pyo.ConcreteModel(name="cycles")
    model.plan = plan
    model.robot = pyo.Block(list(plan.robots))
    for robot in plan.robots:
        block = model.robot[robot]
        pieces.declare_variables(block, plan.words)
        pieces.go_on_after_a_gap(block, plan.words)
        pieces.come_after_a_gap(block, plan.words)
        pieces.go_round_once(block, plan.words)
        pieces.fill_slots(block, plan.words)
    declare_variables(model, plan)
    count_visits(model, plan)
    one_robot_for_a_page(model, plan)
    cost_of_gaps(model, plan)
    cost_at_least(model, plan)
    leave_hosts_in_peace(model, plan)
    within_caps(model, plan)
    begin_anywhere(model, plan)
    order_equal_pages(model, plan)
    order_robots(model, plan)
    limit_pages_never_visited(model, plan)
    price(model, plan)
    return model


def declare_variables(model: pyo.ConcreteModel, plan: Plan) -> None:
    """Declare how often pages are visited, what they cost, and which robot visits a host."""
    fewest, most, hosts = plan.left.fewest.tolist(), plan.left.most.tolist(), plan.problem.rules.host_count
    model.count = pyo.Var(plan.pages, domain=pyo.Integers, bounds=lambda _, i: (fewest[i], most[i]))
    model.cost = pyo.Var(plan.pages, domain=pyo.NonNegativeReals)
    parted = plan.problem.rules.gap > 1 and len(plan.robots) > 1
    model.host_of = pyo.Var(range(hosts) if parted else [], plan.robots, domain=pyo.Binary)


def count_visits(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Visits of all robots are counted.

    .. math::  n_i = \sum_r \sum_t x^r_{it}
    """

    def rule(model: Any, page: int) -> Any:
        visits = [model.robot[r].visit[page, t] for r in plan.robots for t in range(plan.words.slots)]
        return net(visits, [model.count[page]]) == 0

    model.count_visits = pyo.Constraint(plan.pages, rule=rule)


def one_robot_for_a_page(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A page is visited by one robot at most, by one for certain where it must be visited.

    .. math::  [n_i \ge 1] \le \sum_r u^r_i \le 1
    """
    certain = (plan.left.fewest > 0).astype(float).tolist()

    def rule(model: Any, page: int) -> Any:
        return certain[page], net([model.robot[r].used[page] for r in plan.robots]), 1.0

    model.one_robot_for_a_page = pyo.Constraint(plan.pages if len(plan.robots) > 1 else [], rule=rule)


def cost_of_gaps(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A page costs what its gaps cost, and its weight if it is never visited.

    .. math::  z_i = \sum_r \sum_{t, g} f_i(g)\, y^r_{itg} + c_i (1 - \sum_r u^r_i)
    """
    words = plan.words

    def rule(model: Any, page: int) -> Any:
        unit, weight = plan.units[page], plan.left_alone(page)
        terms = [(-1.0, model.cost[page])]
        for r in plan.robots:
            block = model.robot[r]
            terms += [
                (words.costs[page, g - 1] / unit, block.gap[page, t, g])
                for t in range(words.slots)
                for g in words.gaps[page]
            ]
            terms += [(-weight / unit, block.used[page])] if weight else []
        return (
            linear([(factor, variable) for factor, variable in terms if abs(factor) >= LEAST_ENTRY]) == -weight / unit
        )

    model.cost_of_gaps = pyo.Constraint(plan.pages, rule=rule)


def cost_at_least(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A page costs at least what so many visits as even as can be cost: tangents at whole numbers.

    .. math::  z_i \ge C_i(k) + (C_i(k + 1) - C_i(k)) (n_i - k)

    They give way by what `cost_of_gaps` loses: a cut need not be sharp, but must not cut off the best cycle.
    """
    costs = plan.problem.counts.costs / np.array(plan.units)[:, None]
    entries = plan.words.costs / np.array(plan.units)[:, None]
    lost = np.where(((entries > 0) & (entries < LEAST_ENTRY)).any(axis=1), LEAST_ENTRY * plan.words.slots, 0.0)
    pairs = [
        (page, k)
        for page in plan.pages
        if plan.problem.traits.worths[page] > 0
        for k in range(int(plan.left.fewest[page]), max(int(plan.left.most[page]), int(plan.left.fewest[page]) + 1))
    ]

    def rule(model: Any, page: int, k: int) -> Any:
        if plan.left.fewest[page] == plan.left.most[page]:
            return model.cost[page] >= float(costs[page, k] - lost[page])
        slope = float(costs[page, k + 1] - costs[page, k])
        least = float(costs[page, k] - lost[page]) - slope * k
        if abs(slope) < LEAST_ENTRY:
            return model.cost[page] >= least + slope * int(plan.left.most[page])
        return linear([(1.0, model.cost[page]), (-slope, model.count[page])]) >= least

    model.cost_at_least = pyo.Constraint(pairs, rule=rule)


def leave_hosts_in_peace(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A host has one visit in any window of as many slots as the gap asks for, and one robot.

    .. math::  u^r_i \le v_{hr}, \qquad \sum_r v_{hr} \le 1
    """
    rules = plan.problem.rules
    if rules.gap <= 1 or rules.hosts is None:
        return
    groups = [(np.flatnonzero(rules.hosts == host).tolist(), rules.gap, 1) for host in range(rules.host_count)]
    for r in plan.robots:
        pieces.limit_windows(model.robot[r], plan.words, groups)
    if len(plan.robots) == 1:
        return
    hosts = rules.hosts.tolist()
    model.visited_by_its_robot = pyo.Constraint(
        plan.pages, plan.robots, rule=lambda m, i, r: net([m.robot[r].used[i]], [m.host_of[hosts[i], r]]) <= 0
    )
    model.one_robot_for_a_host = pyo.Constraint(
        range(rules.host_count), rule=lambda m, h: net([m.host_of[h, r] for r in plan.robots]) <= 1
    )


def within_caps(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A host has no more visits in all cycles than its cap and its gap allow.

    .. math::  \sum_{i \in h} n_i \le N_h
    """
    room, hosts = plan.problem.counts.room, plan.problem.rules.hosts
    if room is None or hosts is None:
        return

    def rule(model: Any, host: int) -> Any:
        return net([model.count[page] for page in np.flatnonzero(hosts == host).tolist()]) <= float(room[host])

    model.within_caps = pyo.Constraint(range(len(room)), rule=rule)


def begin_anywhere(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Of all rotations of a cycle, keep those that begin with a visit to the first page of an order that is used.

    .. math::  x^r_{i0} \ge u^r_i - \sum_{k \text{ before } i} u^r_k

    With one page in the order and few gaps the cycle begins with its longest gap, too.
    """
    words, order = plan.words, plan.order
    rows = words.slots * sum(len(words.gaps[page]) for page in order)
    if len(order) == 1 and rows <= MOST_TURNING_ROWS and words.gaps[order[0]]:
        for r in plan.robots:
            pieces.begin_with_first_used(model.robot[r], words, order)
        return
    before = {page: order[:place] for place, page in enumerate(order)}

    def rule(model: Any, r: int, page: int) -> Any:
        block = model.robot[r]
        earlier = [block.used[k] for k in before[page]]
        return net([block.visit[page, 0], *earlier], [block.used[page]]) >= 0

    model.begin_anywhere = pyo.Constraint(plan.robots, order, rule=rule)


def order_equal_pages(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Of pages that are the same in all respects, one has no more visits than the one before: :math:`n_i \ge n_j`."""
    pairs = [pair for group in plan.equal for pair in itertools.pairwise(group)]
    model.order_equal_pages = pyo.Constraint(pairs, rule=lambda m, i, j: net([m.count[i]], [m.count[j]]) >= 0)


def order_robots(model: pyo.ConcreteModel, plan: Plan) -> None:
    """Robots are alike: page i is visited by one of the first i + 1 of them."""
    later = [(page, r) for page in plan.pages for r in plan.robots if r > page]
    model.order_robots = pyo.Constraint(later, rule=lambda m, page, r: m.robot[r].used[page] <= 0)


def limit_pages_never_visited(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Keep a limit on pages that are never visited, :math:`N - \sum_i \sum_r u^r_i`, a whole number."""
    if not _limited(plan.problem, "pages_never_visited"):
        return
    pages = len(plan.pages)
    numbers = [n for n in range(pages + 1) if not _breaks(plan.problem, "pages_never_visited", n)]
    visited = net([model.robot[r].used[page] for r in plan.robots for page in plan.pages])
    low, high = (pages - max(numbers), pages - min(numbers)) if numbers else (pages + 1, pages + 1)
    model.limit_on_pages_never_visited = pyo.Constraint(expr=(low, visited, high))


def price(model: pyo.ConcreteModel, plan: Plan) -> None:
    """The price of the obsolescence: of all gaps of all robots, and of pages that nobody visits."""
    unused = plan.words.unused
    twice = (len(plan.robots) - 1) * math.fsum(unused[np.isfinite(unused)])
    scale = plan.problem.scale or 1.0
    whole = sum(pieces.price(model.robot[r], plan.words) for r in plan.robots)
    model.price = pyo.Objective(expr=scale * (whole - twice), sense=pyo.minimize)


# -- cycles as points of the model ------------------------------------------------------------------------------------


def read(model: pyo.ConcreteModel) -> Decision:
    """The cycles in a solved model."""
    plan: Plan = model.plan
    cycles = [[held[0] if held else IDLE for held in pieces.read_slots(model.robot[r])] for r in plan.robots]
    return plan.problem.space.check({"schedules": cycles})


def start(model: pyo.ConcreteModel, decision: Decision) -> None:
    """Give every variable of the model its value for cycles; none where the model left out what they have."""
    plan: Plan = model.plan
    cycles = _arranged(plan, plan.problem.space.check(decision).cycles)
    counts = np.bincount(
        np.array([page for cycle in cycles for page in cycle if page >= 0], int), minlength=len(plan.pages)
    )
    hosts = plan.problem.rules.hosts
    model.host_of.set_values(dict.fromkeys(model.host_of, 0))
    for r, cycle in enumerate(cycles):
        try:
            pieces.fill_in(model.robot[r], plan.words, [{page} - {IDLE} for page in cycle], plan.order)
        except ValueError:
            model.count[0].set_value(None)
            return
        if hosts is not None and len(model.host_of):
            for page in set(cycle) - {IDLE}:
                model.host_of[int(hosts[page]), r].set_value(1)
    for page in plan.pages:
        model.count[page].set_value(int(counts[page]), skip_validation=True)
        model.cost[page].set_value(0.0)
        body = pyo.value(model.cost_of_gaps[page].body)
        model.cost[page].set_value(body - pyo.value(model.cost_of_gaps[page].lower), skip_validation=True)


def _arranged(plan: Plan, cycles: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Exchange equal pages and robots as the model has them."""
    visits = {page: sum(cycle.count(page) for cycle in cycles) for page in plan.pages}
    names: Mapping[int, int] = {
        page: group[place]
        for group in plan.equal
        for place, page in enumerate(sorted(group, key=lambda page: -visits[page]))
    }
    renamed = [tuple(names.get(page, page) for page in cycle) for cycle in cycles]
    return sorted(renamed, key=lambda cycle: min((page for page in cycle if page >= 0), default=len(plan.pages)))


def _equal_pages(problem: CycleProblem) -> list[list[int]]:
    """Group pages that are the same in all respects."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    rules, traits, hosts = problem.rules, problem.traits, problem.rules.hosts
    for page in range(problem.columns.count):
        host = int(hosts[page]) if hosts is not None and rules.shares is not None else 0
        least = 0.0 if rules.minimum is None else float(rules.minimum[page])
        groups.setdefault((float(traits.rates[page]), float(traits.weights[page]), host, least), []).append(page)
    return [group for group in groups.values() if len(group) > 1]


def _limited(problem: CycleProblem, measure: str) -> bool:
    return measure in problem.limits.by_measure


def _breaks(problem: CycleProblem, measure: str, value: int) -> bool:
    """Whether a value of a measure breaks the limit on it."""
    own = {name: limit for name, limit in problem.limits.by_measure.items() if name == measure}
    return bool(Limits(own).violations({measure: float(value)}))
