"""What the program of occupation measures is written from.

A *state* is one after a decision, an *event* is named by the state that it leaves, in which a decision is due.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from heuristics import interrupting
from queueing.robots.fleet import RobotFleet, allowed_actions

from ..pricing import LimitedControl, Vector, control_of

if TYPE_CHECKING:
    from ...costs import Limits
    from ..fleet import ControlledRobots

#: Most states with limits on averages, and without.
MOST_STATES, MOST_STATES_FREE = 5_000, 20_000

#: Rates that are farther apart are refused.
FARTHEST = 1e10

#: Most pairs of an event and an action.
MOST_ANSWERS = 100_000

#: States up to which the largest share of time in each is found, by policy iteration for each: under limits those of
#: one sort of robots, for which that is quick, and others; without limits, where it only spares solvers some digits.
MOST_SCALED, MOST_SCALED_FLEET, MOST_SCALED_FREE = 2_000, 400, 200

#: Shares are written in parts of what is largest, but never of less than this: it is about what a lower bound from
#: doubles can tell from 0.
LEAST_SHARE = 1e-14

#: Units are larger than what is largest by this part: where one policy attains them all, presolve would call rounding a
#: contradiction.
MARGIN = 1e-6

#: An answer to an event: states that it leads to, with probabilities.
Answer = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """What there is to control, in words of graphs; time is measured in services.

    Attributes
    ----------
    control
        Costs and limits by state.
    limited
        Whether there are limits on averages, so that decisions are whole numbers.
    used
        States in which a share of time may be spent: those with as many robots out as limits on numbers allow.
    leaving
        By state, the rate of all its events and changes.
    events
        (state, event): its rate.
    changes
        (state, state): rate of changes that are no events.
    answers
        By event and action what the action leads to.
    largest
        By state, a share of time in it that no policy exceeds.
    """

    control: LimitedControl
    limited: bool
    used: tuple[int, ...]
    leaving: Vector
    events: Mapping[tuple[int, int], float]
    changes: Mapping[tuple[int, int], float]
    answers: Mapping[int, Mapping[int, Answer]]
    largest: Vector

    @classmethod
    def of(cls, problem: ControlledRobots) -> Plan:
        """Take what there is to control, and find the largest shares."""
        control = control_of(problem)
        fleet, moves, unit = control.fleet, control.moves, control.fleet.service_rate
        first = fleet.environments

        def pairs(matrix: csr_array) -> dict[tuple[int, int], float]:
            found = (matrix / unit).tocoo()
            together: dict[tuple[int, int], float] = {}
            rates = np.asarray(found.data, dtype=np.float64).tolist()
            for source, target, rate in zip(found.row.tolist(), found.col.tolist(), rates, strict=True):
                if source >= first and rate > 0:
                    together[source, target] = together.get((source, target), 0.0) + rate
            return together

        events, changes = pairs(moves.events), pairs(moves.plain)
        leaving = np.zeros(fleet.states)
        for (source, _), rate in [*events.items(), *changes.items()]:
            leaving[source] += rate
        used = allowed_states(fleet, problem.limits)
        answers = {event: answers_to(control, event) for event in sorted({0, *(event for _, event in events)})}
        return cls(control, bool(control.limits), used, leaving, events, changes, answers, largest_shares(control))

    @property
    def choices(self) -> list[tuple[int, int]]:
        """Events and actions, where there is more than one."""
        return [(event, action) for event, actions in self.answers.items() if len(actions) > 1 for action in actions]

    @cached_property
    def is_base(self) -> bool:
        """Whether these are robots of one sort, sent out one at a time into a world that stays as it is."""
        return is_base(self.control.fleet)

    @property
    def roots(self) -> dict[str, tuple[str, int]]:
        """Where ways begin that must lead to all states in use: see `optmodels.robots.mip.model`."""
        if not self.limited:
            return {}
        start = {"start": ("event", 0)}
        return start | {"all_out": ("state", self.control.fleet.classes[0].robots)} if self.is_base else start

    @cached_property
    def share_of(self) -> dict[int, float]:
        """By state in use, the unit in which its share is written."""
        return {state: float(self.largest[state]) for state in self.used}

    @cached_property
    def rate_of(self) -> dict[tuple[int, int], float]:
        """By event and action, a rate that no policy exceeds: of the event, and of leaving what the action leads to.

        Pairs that lead to states which are not used are left out.
        """
        coming: dict[int, float] = {}
        for (state, event), rate in self.events.items():
            if state in self.share_of:
                coming[event] = coming.get(event, 0.0) + rate * self.share_of[state]
        found = {}
        for event, total in coming.items():
            for action, answer in self.answers[event].items():
                if all(state in self.share_of for state, _ in answer):
                    going = (self.leaving[state] * self.share_of[state] / chance for state, chance in answer)
                    found[event, action] = min(total, *going)
        return found


def refuses(problem: ControlledRobots) -> str | None:
    """Why the problem cannot be written as a program, in a sentence; ``None`` if it can.

    Parameters
    ----------
    problem
        Robots, with or without limits.

    Returns
    -------
    str or None
        The sentence names what the program can say instead.
    """
    what = f"the model of {problem.name!r}"
    sentence = problem.unimprovable()
    if sentence is not None:
        return f"{what} cannot be written: {sentence} Use a search."
    for name, limit in problem.limits.by_measure.items():
        broken_below, broken_above = np.isfinite(limit.minimum), np.isfinite(limit.maximum)
        if (name == "most_robots" and broken_below) or (name == "fewest_robots" and broken_above):
            side, other = ("below", "above") if broken_below else ("above", "below")
            return (
                f"{what} can limit {name} from {other}, not from {side}: no linear constraint makes a policy use a "
                "state; use a search."
            )
    rates = problem.plan.paces
    if max(rates) > FARTHEST * min(rates):
        return (
            f"{what} has rates more than {FARTHEST:g} apart, and solvers would take some for 0; use "
            "policy-iteration, or linear-program under limits."
        )
    states = problem.known_states()
    most = MOST_STATES if problem.limits else MOST_STATES_FREE
    if states is not None and states > most:
        return f"{what} has {states} states, and at most {most} are written; use linear-program."
    if problem.is_sought or problem.fleet.switching == "one":
        return None
    answers = int(allowed_actions(problem.fleet).sum()) * (problem.fleet.capacity + 1) * problem.fleet.environments
    if answers > MOST_ANSWERS:
        return (
            f"{what} has {answers} numbers of robots to send by state, and at most {MOST_ANSWERS} are written; "
            "use linear-program."
        )
    return None


def is_base(fleet: RobotFleet) -> bool:
    """Whether a fleet is that of the base model."""
    return len(fleet.classes) == 1 and fleet.phases == 1 and fleet.environment is None and fleet.switching == "one"


def allowed_states(fleet: RobotFleet, limits: Limits) -> tuple[int, ...]:
    """States with at most ``most_robots`` and at least ``fewest_robots`` out, as far as these are limited."""
    numbers = np.arange(fleet.environments, fleet.states)
    out = fleet.robots_out.sum(axis=1)[numbers // fleet.environments % fleet.places]
    kept = np.ones(len(numbers), dtype=np.bool_)
    for name, limit in limits.by_measure.items():
        if name == "most_robots":
            kept &= out <= limit.maximum
        elif name == "fewest_robots":
            kept &= out >= limit.minimum
    return tuple(numbers[kept].tolist())


def answers_to(control: LimitedControl, event: int) -> dict[int, Answer]:
    """What each possible action leads to; without pages and robots one is always sent."""
    moves = control.moves
    must = event < control.fleet.environments

    def led(action: int, state: int) -> Answer:
        matrix = moves.sending[action]
        part = slice(matrix.indptr[state], matrix.indptr[state + 1])
        return tuple(zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True))

    if not moves.again:
        allowed = np.flatnonzero(moves.allowed[:, event]).tolist()
        return {action: led(action, event) for action in allowed if action or not must}
    found: dict[int, Answer] = {} if must else {0: ((event, 1.0),)}
    state, action = event, 0
    while moves.allowed[1, state]:
        ((state, _),) = led(1, state)
        action += 1
        found[action] = ((state, 1.0),)
    return found


def largest_shares(control: LimitedControl) -> Vector:
    """By state, a share of time in it that no policy exceeds: the least average of -1 there, by policy iteration."""
    fleet = control.fleet
    found = np.ones(fleet.states)
    most = MOST_SCALED if is_base(fleet) else MOST_SCALED_FLEET
    if fleet.states > (most if control.limits else MOST_SCALED_FREE):
        return found
    for state in range(fleet.environments, fleet.states):
        interrupting.check()
        reward = np.zeros(fleet.states)
        reward[state] = -1.0
        lower = control.best(reward).lower
        if math.isfinite(lower):
            found[state] = min(1.0, max(LEAST_SHARE, -lower * (1.0 + MARGIN)))
    return found
