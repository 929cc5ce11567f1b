r"""The program of occupation measures: what it says, why it is exact, and how decisions are read and written.

The constraints named below are written in :mod:`optmodels.robots.mip.constraints`; time is measured in services.

What is decided, and what follows from it
-----------------------------------------
* ``share[s]``: :math:`p(s)/P(s)`, with p(s) the share of time in state s (one after a decision) and P(s) a number that
  no policy exceeds.
* ``rate[e, a]``: :math:`y_a(e)/Y_a(e)`, with :math:`y_a(e)` the rate at which events that leave state e are answered by
  action a, which is bounded by that of e and by that of leaving where a leads.
* ``chosen[e, a]``, :math:`u_a(e)`: 1 if the policy answers e by a; only under limits on averages.
* ``trail_to_event[root, s, e]``, ``trail_by_change[root, s, z]``, ``trail_by_answer[root, e, a, s]``, f: a trail, which
  has nothing to do with rates, from a root along the policy to all states in use; only under limits.

Without limits
--------------
Shares and rates alone are the linear program of average costs. A vertex is one closed class of states under a policy
that leaves nothing to chance, whose decisions elsewhere lead there: everything can be reached from everywhere, as
robots may be left alone until all are back and all pages served.

With limits
-----------
Let u be whole. Then p is stationary for its policy (`what_enters_a_state_leaves_it`, `every_event_is_answered`,
`only_what_is_chosen`), so that it is a mixture :math:`\sum_C \alpha_C \pi_C` of the stationary distributions of closed
classes. A mixture may be cheaper than all policies, and no policy is worth it, since evaluation begins with neither
pages nor robots. Trails exclude it: `trails_lead_to_states_in_use` lets a unit leave that beginning along
the policy and stay where p is, so that every class of the mixture can be reached from the beginning.

*In the base model one class can.* Let A be a closed class and :math:`t_q` its largest number of robots with q pages. A
service at :math:`(q, r)`, :math:`r < t_q`, leads to at most r + 1, and A has a state with at least :math:`t_q` robots
and q - 1 pages, the one after a service at :math:`(q, t_q)`. An arrival leads to at most r, and A has a state with at
least :math:`t_q - 1` robots and q + 1 pages (or K). So nobody who is at or below the top of A comes above it. Every
class has states without pages, as services go on, and the beginning, (0, 1), is at or below the tops of all of them. If
two classes could be reached, each would be at or below the top of the other; their tops without pages would be one
state, which is in both, and they would be one class. Hence p is what the evaluator finds.

*In the base model trails may begin at the other end, too.* Decisions outside a closed class do not matter once it is
reached, and can be replaced by others that lead there from everywhere. So every policy is worth as much as one with
trails to its class from the beginning and from :math:`(0, N)`, all robots out. For 0/1 decisions the second trail adds
nothing; to the relaxation it adds much: a class of a mixture with a small share hardly needs a trail from below if it
is above the others, and hardly one from above if it is below, but one of the two needs a whole unit.

*In fleets* chance may lead from the beginning to several classes, and then the program takes any mixture of these.
Such a point claims less than its policy is worth. The evaluator finds that out, and the point is cut off with all
policies that do the same in all states that can be reached (`deciding`); the solver is asked again. The bound holds
all the time.

Why numbers are what they are
-----------------------------
Stationary probabilities span hundreds of decades, and solvers know differences of :math:`10^{-9}`. In units of P(s),
found by policy iteration, each state is right to that part of what it can be at all, and `only_what_is_chosen` is as
tight as it can be without a look at other states. Where a policy hardly ever leaves some states that may not
suffice; what the evaluator does not confirm is cut off then, too.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo

from heuristics import Decision, UnsupportedProblem
from queueing.robots.fleet import chain_of, closed_classes, led_to, moves_of, shares_from_start

from ..pricing import Actions
from . import constraints
from .plan import Plan, refuses

if TYPE_CHECKING:
    from ..fleet import ControlledRobots

#: What solvers are asked to take for nothing.
TOLERANCE = 1e-9


def build(problem: ControlledRobots) -> pyo.ConcreteModel:
    """Write robots of one server as a linear program, with binary decisions if averages are limited.

    Parameters
    ----------
    problem
        The base model or a fleet, of a weighted sum of measures that are averages, with limits on averages, on the
        response time, and on the numbers of robots out in steady state (at most ``most_robots``, at least
        ``fewest_robots``).

    Returns
    -------
    pyomo.environ.ConcreteModel
        The program; `read` takes the decision from a solved model.

    Raises
    ------
    UnsupportedProblem
        With the sentence of `refuses`; it may come as late as this where it was to be found how many robots help.

    Examples
    --------
    >>> from optmodels.robots import RobotsProblem
    >>> from optmodels.robots.mip import build
    >>> problem = RobotsProblem(robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, cost={"starvation": 1.5})
    >>> len(build(problem).share)
    11
    """
    refusal = refuses(problem)
    if refusal is not None:
        raise UnsupportedProblem(refusal)
    plan = Plan.of(problem)
    model = pyo.ConcreteModel(name="robots")
    model.plan = plan
    model.tolerance = TOLERANCE
    constraints.declare_variables(model, plan)
    constraints.what_enters_a_state_leaves_it(model, plan)
    constraints.every_event_is_answered(model, plan)
    constraints.shares_are_all_the_time(model, plan)
    constraints.least_cost(model, plan)
    if plan.limited:
        constraints.one_answer_is_chosen(model, plan)
        constraints.only_what_is_chosen(model, plan)
        constraints.trails_lead_to_states_in_use(model, plan)
        constraints.trails_pass_events(model, plan)
        constraints.trails_go_by_what_is_chosen(model, plan)
        constraints.limits_are_kept(model, plan)
    return model


def read(model: pyo.ConcreteModel) -> Decision:
    """The policy in a solved model.

    Parameters
    ----------
    model
        Made by `build`, with values in its variables.

    Returns
    -------
    tuple of int
        The decision; without limits it is led to the states where time is spent, and finished by policy iteration.
    """
    plan: Plan = model.plan
    fleet = plan.control.fleet
    actions = np.zeros(fleet.states, dtype=np.int64)
    for event, answers in plan.answers.items():
        actions[event] = next(iter(answers))
    actions[: fleet.environments] = np.maximum(1, actions[: fleet.environments])
    best: dict[int, float] = defaultdict(float)
    values = model.chosen if plan.limited else model.rate
    for (event, action), variable in values.items():
        unit = 1.0 if plan.limited else plan.rate_of[event, action]
        value = unit * pyo.value(variable)
        if value > best[event]:
            best[event], actions[event] = value, action
    if not plan.limited:
        actions = _led_to_the_largest(plan, model, actions)
    return plan.control.decision(actions)


def _led_to_the_largest(plan: Plan, model: pyo.ConcreteModel, actions: Actions) -> Actions:
    """The policy with other decisions outside its closed class of the largest share, to which they lead."""
    fleet = plan.control.fleet
    shares = np.zeros(fleet.states)
    for state, unit in plan.share_of.items():
        shares[state] = unit * pyo.value(model.share[state])
    aim = np.zeros(fleet.states, dtype=np.bool_)
    chain = chain_of(moves_of(fleet), actions)
    classes = closed_classes(chain, np.arange(fleet.environments, fleet.states))
    aim[max(classes, key=lambda states: float(shares[states].sum()))] = True
    return np.asarray(led_to(moves_of(fleet), actions, fleet.idle, aim))


def deciding(problem: ControlledRobots, model: pyo.ConcreteModel, decision: Decision) -> Iterator[Any]:
    """Chosen answers that make the decision what it is: any other with all of them is worth the same.

    In the base model those in the closed class, which trails make the only one; in fleets those in all states that can
    be reached from the beginning.

    Parameters
    ----------
    problem, model, decision
        The robots, their model, and a policy.

    Returns
    -------
    iterator
        Variables that are 1 for the policy.
    """
    plan: Plan = model.plan
    actions = problem.actions_of(decision)
    if plan.is_base:
        states = np.flatnonzero(shares_from_start(plan.control.fleet, actions).recurs).tolist()
        events = {event for state, event in plan.events if state in set(states)}
    else:
        events = {at for kind, at in _ways(plan, actions, ("event", 0)) if kind == "event"}
    for event in sorted(events):
        if (event, int(actions[event])) in model.chosen:
            yield model.chosen[event, int(actions[event])]


# -- a policy as a point of the model ---------------------------------------------------------------------------------

Node = tuple[str, int]


def start(problem: ControlledRobots, model: pyo.ConcreteModel, decision: Decision) -> None:
    """Give every variable of the model its value for a policy that keeps the limits.

    In the base model decisions outside the closed class are replaced by others that lead there.

    Parameters
    ----------
    problem, model, decision
        The robots, their model, and a policy.

    Raises
    ------
    ValueError
        If the policy breaks limits: the model has no such point.
    """
    plan: Plan = model.plan
    evaluation = problem.evaluate(decision)
    if not evaluation.feasible:
        broken = ", ".join(evaluation.violations)
        raise ValueError(f"a model starts from a policy that keeps the limits, and this one breaks: {broken}.")
    fleet = plan.control.fleet
    actions = problem.actions_of(decision)
    found = shares_from_start(fleet, actions)
    if plan.is_base:
        actions = np.asarray(led_to(moves_of(fleet), actions, fleet.idle, found.recurs))
    shares = {state: float(found.best[state]) for state in plan.used}
    for state, unit in plan.share_of.items():
        model.share[state].set_value(min(1.0, shares[state] / unit))
    coming: dict[int, float] = defaultdict(float)
    for (state, event), rate in plan.events.items():
        coming[event] += rate * shares.get(state, 0.0)
    for (event, action), unit in plan.rate_of.items():
        taken = action == actions[event]
        model.rate[event, action].set_value(min(1.0, coming[event] / unit) if taken else 0.0)
    if not plan.limited:
        return
    for event, action in plan.choices:
        model.chosen[event, action].set_value(int(action == actions[event]))
    for variables in (model.trail_to_event, model.trail_by_change, model.trail_by_answer):
        for variable in variables.values():
            variable.set_value(0.0)
    for root, begin in plan.roots.items():
        _lay_trail(plan, model, root, begin, actions, shares)


def _lay_trail(
    plan: Plan, model: pyo.ConcreteModel, root: str, begin: Node, actions: Actions, shares: dict[int, float]
) -> None:
    """Let the shares come from the root by the shortest ways."""
    ways = _ways(plan, actions, begin)
    carried = {node: shares.get(node[1], 0.0) if node[0] == "state" else 0.0 for node in ways}
    for node in reversed(ways):
        before = ways[node]
        if before is None:
            continue
        carried[before] += carried[node]
        amount = min(1.0, carried[node])
        if before[0] == "event":
            model.trail_by_answer[root, before[1], int(actions[before[1]]), node[1]].set_value(amount)
        elif node[0] == "event":
            model.trail_to_event[root, before[1], node[1]].set_value(amount)
        else:
            model.trail_by_change[root, before[1], node[1]].set_value(amount)


def _ways(plan: Plan, actions: Actions, begin: Node) -> dict[Node, Node | None]:
    """States and events that can be reached, the nearest first, and from where."""
    found: dict[Node, Node | None] = {begin: None}
    waiting = deque([begin])
    onward: dict[int, list[Node]] = defaultdict(list)
    for kind, pairs in (("event", plan.events), ("state", plan.changes)):
        for source, target in pairs:
            onward[source].append((kind, target))

    def following(node: Node) -> Iterable[Node]:
        if node[0] == "state":
            return onward[node[1]]
        return [("state", state) for state, _ in plan.answers[node[1]][int(actions[node[1]])]]

    while waiting:
        node = waiting.popleft()
        for other in following(node):
            if other not in found:
                found[other] = node
                waiting.append(other)
    return found
