"""The fleet that is simulated: its data, and the policy, as the tables the compiled events read."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from ...simulation import Matrix, Vector, Whole, law_of
from ..fleet import RobotFleet
from .closed_classes import Closed, closed_classes, number_of
from .kernel import COUNTS, Rules

#: Phases and states of the environment that take less than this share of the time change no average noticeably.
_SMALL = 1e-4


@dataclass(frozen=True, eq=False)
class SimulatedFleet:
    """Robots, a server, and what to do by state.

    Parameters
    ----------
    fleet
        its data alone are read: robots, journeys, environment, pages, service.
    actions
        by state, in the order of pages, robots by phase, environment: the class of which a robot is sent out, counted
        from 1, or 0; if any number may be sent out at once, how many.
    """

    fleet: RobotFleet
    actions: Whole
    rules: Rules = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.actions).reshape(-1)
        if given.size != self.fleet.states or not (np.isfinite(given) & (given == np.floor(given))).all():
            raise ValueError(
                f"actions must be {self.fleet.states} whole numbers, one for each state, but {given.size} numbers "
                "came that are not; give as many."
            )
        object.__setattr__(self, "actions", np.ascontiguousarray(given, dtype=np.int64))
        object.__setattr__(self, "rules", _rules(self.fleet, self.actions))
        if not (self.moods[0] @ self.rules.paces > 0).all():
            raise ValueError(
                "the environment must let all robots move for a share of the time that can be seen, but it does not; "
                "bring its rates nearer to one another."
            )

    @cached_property
    def layout(self) -> "Layout":
        """Where what is counted stands in an observation."""
        return Layout.of(self.rules, 0 if self.closed is None else self.closed.number)

    @cached_property
    def closed(self) -> Closed | None:
        """Classes of states that are never left once they are entered; None if there are too many states to tell."""
        return closed_classes(self.rules)

    def number(self, pages: int, counts: Whole, environment: int) -> int:
        """The number of a state: pages, robots by phase, environment."""
        return int(number_of(self.rules, pages, np.asarray(counts, dtype=np.int64), environment))

    @property
    def several(self) -> bool:
        """Whether it is left to chance in which of several closed classes the fleet ends up."""
        return self.closed is not None and self.closed.number > 1

    @cached_property
    def moods(self) -> Matrix:
        """By state of the environment: share of the time, and mean time between two visits."""
        turning = self.rules.turning
        if len(turning) == 1:
            return np.array([[1.0], [0.0]])
        rates = np.diff(self.rules.turns, axis=1, prepend=0.0) * (turning / turning.max())[:, None]
        rates -= np.diag(rates.sum(axis=1))
        try:
            shares = np.maximum(0.0, np.linalg.solve((rates + 1.0).T, np.ones(len(rates))))
        except np.linalg.LinAlgError:  # parts that hardly ever lead to one another
            return np.array([np.full(len(rates), 1.0 / len(rates)), np.full(len(rates), np.inf)])
        slowest = np.sort(np.abs(np.linalg.eigvals(rates).real))[1]  # how fast it forgets where it began
        with np.errstate(divide="ignore"):
            return np.array([shares, np.maximum(1.0 / (shares * turning), 1.0 / (slowest * turning.max()))])

    @cached_property
    def spent(self) -> tuple[Vector, ...]:
        """By class: mean time spent in each phase of a journey."""
        paces = self.moods[0] @ self.rules.paces
        laws = [one.journey for one in self.fleet.classes]
        return tuple(
            np.linalg.solve(-law.generator.T, law.initial) / pace for law, pace in zip(laws, paces, strict=True)
        )

    @property
    def longest(self) -> float:
        """The longest mean time of a journey."""
        return max(float(times.sum()) for times in self.spent)

    @cached_property
    def trips(self) -> tuple[Matrix, ...]:
        """By class, and phase: share of the time of a journey, and mean time between two visits of any robot.

        Or the time of a stay, if it is longer, and that as often as it takes until all are out: where each robot that
        comes back has another one sent out with it, their number grows like an exponential.
        """
        found = []
        paces = self.moods[0] @ self.rules.paces
        for index, (one, spent) in enumerate(zip(self.fleet.classes, self.spent, strict=True)):
            shares = spent / spent.sum()
            stays = 1.0 / (self.rules.rates[self.rules.first[index] : self.rules.first[index + 1]] * paces[index])
            with np.errstate(divide="ignore"):
                times = stays * np.maximum(1.0 + np.log(one.robots), 1.0 / (shares * one.robots))
            found.append(np.array([shares, times]))
        return tuple(found)

    def slowest(self, robots: Vector) -> float:
        """The longest time between two occurrences of what matters: an average without it may be far from the truth.

        That is a service, a visit of the environment to one of its states, and a visit of a robot to a phase of its
        journey; of classes only that have a share in `robots`, the numbers of robots out.
        """
        parts = [one for index, one in enumerate(self.trips) if robots[index] > 10 * _SMALL * robots.sum()]
        return max(
            1.0 / self.fleet.service_rate,
            *(float(times[shares > _SMALL].max()) for shares, times in [self.moods, *parts]),
        )


@dataclass(frozen=True)
class Layout:
    """Where what is counted stands in an observation.

    Attributes
    ----------
    robots
        by class: time with 0, 1, ... of its robots out.
    levels
        time with 0, 1, ... pages.
    ends
        runs that ended in each closed class, and, last of all, in none.
    drift
        by how much more robots were out, and pages there, on average in the second half of runs than in the first.
    """

    robots: tuple[slice, ...]
    levels: slice
    ends: slice
    drift: slice

    @classmethod
    def of(cls, rules: Rules, classes: int) -> "Layout":
        """For these rules, and so many closed classes."""
        marks = np.cumsum([COUNTS, *(rules.robots + 1), rules.capacity + 1, classes + 1, 2]).tolist()
        *robots, levels, ends, drift = (slice(low, high) for low, high in pairwise(marks))
        return cls(tuple(robots), levels, ends, drift)


def _rules(fleet: RobotFleet, actions: Whole) -> Rules:
    laws = [law_of(f"classes[{index}].journey", one.journey) for index, one in enumerate(fleet.classes)]
    robots = np.array([one.robots for one in fleet.classes], dtype=np.int64)
    orders = np.array([len(law.rates) for law in laws], dtype=np.int64)
    widest = int(orders.max())
    starts = np.ones((len(laws), widest))
    moves, ways = [], np.zeros((len(laws), widest + 1, int(robots.max()) + 1), dtype=np.int64)
    for index, law in enumerate(laws):
        order, most = orders[index], robots[index]
        starts[index, :order] = law.start[0]
        starts[index, order:] = law.start[0, -1]
        ended = np.repeat(law.moves[:, -2:-1], widest - order, axis=1)
        moves.append(np.hstack([law.moves[:, :-1], ended, law.moves[:, -1:]]))
        ways[index, 0, : most + 1] = 1
        for parts in range(1, order + 1):  # the first count is n, n - 1, ..., 0, and the rest of it for the others
            ways[index, parts, : most + 1] = ways[index, parts - 1, : most + 1].cumsum()
    turning, turns, paces = _environment(fleet)
    return Rules(
        robots=robots,
        slots=np.cumsum(robots) - robots,
        first=np.concatenate([[0], np.cumsum(orders)]).astype(np.int64),
        starts=starts,
        rates=np.concatenate([law.rates for law in laws]),
        moves=np.ascontiguousarray(np.vstack(moves)),
        ways=ways,
        turning=turning,
        turns=turns,
        paces=paces,
        actions=actions,
        capacity=fleet.capacity,
        service_rate=fleet.service_rate,
        several=fleet.switching == "any",
    )


def _environment(fleet: RobotFleet) -> tuple[Vector, Matrix, Matrix]:
    """Rates of leaving its states, sums of chances of what is next, and paces by state and class."""
    if fleet.environment is None:
        return np.zeros(1), np.ones((1, 1)), np.ones((1, len(fleet.classes)))
    generator = np.asarray(fleet.environment.generator, dtype=np.float64)
    sums = (generator * (1 - np.eye(len(generator)))).cumsum(axis=1)
    rates = sums[:, -1].copy()
    turns = np.divide(sums, rates[:, None], out=np.ones_like(sums), where=rates[:, None] > 0)
    paces = np.array(fleet.environment.paces(len(fleet.classes)), dtype=np.float64)
    return rates, np.ascontiguousarray(turns), np.ascontiguousarray(paces)
