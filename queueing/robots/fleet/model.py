r"""Robots of several classes, on long journeys, in a world that changes: the robot queue in general.

As in :mod:`queueing.robots` robots bring pages to one server, and after every arrival and every service robots that are
idle may be sent out. Here

* robots belong to *classes*; a robot of class c that is sent out begins a journey of phase-type length in phase p with
  probability :math:`\alpha^c_p`, moves between phases at rates :math:`T^c`, and brings a page when its journey ends.
  Each journey starts afresh;
* an *environment*, a Markov chain that nobody controls, sets the pace: in its state j everything that robots of class c
  do happens :math:`f_{jc}` times as fast. With journeys of one phase each robot brings a Markov-modulated Poisson
  stream, all in step;
* after an event at most one robot is sent out (``"one"``), or as many as one likes (``"any"``).

A state is (q, n, j): pages, robots of each class in each phase, environment. Changes of phase and of the environment
are no events: nothing is decided then. The controller sees the whole state.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...numerics import (
    Matrix,
    Vector,
    check_generator,
    check_irreducible,
    not_negative,
    positive,
    stationary_of_rates,
    whole,
)
from ...processes import PhaseType

Places = NDArray[np.int64]

#: More states than this are refused: a policy has an entry for each.
MOST_STATES = 5_000_000


@dataclass(frozen=True, eq=False)
class RobotClass:
    """Robots that are alike.

    Parameters
    ----------
    robots
        how many there are.
    journey
        law of the time from being sent out until the page is there.
    """

    robots: int
    journey: PhaseType

    def __post_init__(self) -> None:
        object.__setattr__(self, "robots", whole("robots", self.robots, least=1))

    @property
    def rate(self) -> float:
        """Pages per unit of time from one robot that is always out."""
        return 1.0 / self.journey.mean


@dataclass(frozen=True, eq=False)
class Environment:
    """A Markov chain that sets the pace of robots.

    Parameters
    ----------
    generator
        rates between its states; every state must reach every other.
    factors
        pace by state, or by state and class: zero or more, and not zero everywhere.
    """

    generator: Matrix
    factors: Matrix

    def __post_init__(self) -> None:
        generator = check_generator("generator", self.generator)
        check_irreducible("generator", generator)
        factors = np.asarray(self.factors, dtype=np.float64)
        if factors.ndim not in (1, 2) or len(factors) != len(generator) or factors.size == 0:
            raise ValueError(
                f"factors must have a row for each of {len(generator)} states of the environment, but their shape is "
                f"{factors.shape}; give one number for each, or one for each class of robots."
            )
        for place, value in np.ndenumerate(factors):
            not_negative(f"factors[{', '.join(str(index) for index in place)}]", float(value))
        columns = factors.reshape(len(generator), -1)
        if not columns.any(axis=0).all():
            raise ValueError("factors must not be 0 in every state, but they are; robots would never come back.")
        object.__setattr__(self, "generator", generator)
        object.__setattr__(self, "factors", factors)

    @property
    def order(self) -> int:
        """Number of states."""
        return len(self.generator)

    def paces(self, classes: int) -> Matrix:
        """Factors by state and class."""
        if self.factors.ndim == 1:
            return np.repeat(self.factors[:, np.newaxis], classes, axis=1)
        if self.factors.shape[1] != classes:
            raise ValueError(
                f"factors must have a column for each of {classes} classes of robots, but they have "
                f"{self.factors.shape[1]}; give one number for each state, or one for each state and class."
            )
        return self.factors

    @cached_property
    def shares(self) -> Vector:
        """Share of time in each state."""
        return stationary_of_rates(self.generator)


@dataclass(frozen=True, eq=False)
class RobotFleet:
    """One server, and robots of several classes.

    States are numbered by pages, then by robots, then by the environment: state (q, n, j) has the number
    ``(q * places + place of n) * environment.order + j``. Robots n are ordered as tuples of counts, classes in their
    order, phases within a class in theirs. With one class, one phase and no environment this is q (N + 1) + r, as in
    :mod:`queueing.robots`.

    Parameters
    ----------
    classes
        the robots.
    capacity
        K >= 2: most pages in the system, the one in service included.
    service_rate
        mu.
    environment
        what sets the pace of robots; ``None``: nothing does.
    switching
        ``"one"``: after an event at most one robot is sent out, of whichever class; ``"any"``: as many as one likes,
        which needs a single class whose journeys all begin in the same phase.
    """

    classes: tuple[RobotClass, ...]
    capacity: int
    service_rate: float = 1.0
    environment: Environment | None = None
    switching: Literal["one", "any"] = "one"

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        object.__setattr__(self, "capacity", whole("capacity", self.capacity, least=2))
        object.__setattr__(self, "service_rate", positive("service_rate", self.service_rate))
        if not self.classes:
            raise ValueError("classes must not be empty, but there is none; give one class of robots at least.")
        if self.switching not in ("one", "any"):
            raise ValueError(f"switching must be 'one' or 'any', but it is {self.switching!r}; give one of them.")
        if self.switching == "any" and len(self.classes) > 1:
            raise ValueError(
                f"switching must be 'one' with several classes of robots, but it is 'any' with {len(self.classes)}; "
                "send robots out one at a time, or give one class."
            )
        if self.switching == "any" and np.count_nonzero(self.classes[0].journey.initial) > 1:
            raise ValueError(
                "switching must be 'one' where journeys begin in different phases, but it is 'any'; send robots out "
                "one at a time, or give a journey that begins in one phase."
            )
        if self.states > MOST_STATES:
            made = f"{self.states}" if self.states < 10**15 else f"{Decimal(self.states):.2e}"
            raise ValueError(
                f"states must be at most {MOST_STATES}, but pages, robots by phase and environment make {made}; "
                "give fewer of them."
            )
        if self.environment is not None:
            self.environment.paces(len(self.classes))

    # -- states -------------------------------------------------------------------------------------------------------

    @property
    def phases(self) -> int:
        """Phases of all classes together."""
        return sum(one.journey.order for one in self.classes)

    @property
    def environments(self) -> int:
        """States of the environment, 1 if there is none."""
        return 1 if self.environment is None else self.environment.order

    @property
    def places(self) -> int:
        """Ways to have robots of each class in each phase."""
        return math.prod(math.comb(one.robots + one.journey.order, one.journey.order) for one in self.classes)

    @property
    def states(self) -> int:
        """Number of states, the empty one without robots included."""
        return (self.capacity + 1) * self.places * self.environments

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of queue lengths, of places of robots, and of states of the environment."""
        return self.capacity + 1, self.places, self.environments

    @cached_property
    def counts(self) -> Places:
        """By place, robots in each phase of each class."""
        tables = [compositions(one.robots, one.journey.order) for one in self.classes]
        found = tables[0]
        for table in tables[1:]:
            found = np.hstack([np.repeat(found, len(table), axis=0), np.tile(table, (len(found), 1))])
        found.flags.writeable = False
        return found

    @cached_property
    def class_of(self) -> Places:
        """Tell the class of each phase."""
        return np.repeat(np.arange(len(self.classes)), [one.journey.order for one in self.classes])

    @cached_property
    def robots_out(self) -> Places:
        """By place and class, robots that are out."""
        columns = [self.counts[:, self.class_of == index].sum(axis=1) for index in range(len(self.classes))]
        return np.column_stack(columns)

    @cached_property
    def idle(self) -> Places:
        """By place and class, robots that can be sent out."""
        return np.array([one.robots for one in self.classes]) - self.robots_out

    @cached_property
    def sent(self) -> Places:
        """By place and phase, the place with one robot more in this phase; -1 if its class has no robot left."""
        found = np.full(self.counts.shape, -1, dtype=np.int64)
        numbers = {counts.tobytes(): place for place, counts in enumerate(self.counts)}
        for phase, owner in enumerate(self.class_of):
            free = np.flatnonzero(self.robots_out[:, owner] < self.classes[owner].robots)
            more = self.counts[free].copy()
            more[:, phase] += 1
            found[free, phase] = [numbers[row.tobytes()] for row in more]
        return found

    @cached_property
    def returned(self) -> Places:
        """By place and phase, the place with one robot fewer in this phase; -1 if none is there."""
        found = np.full(self.counts.shape, -1, dtype=np.int64)
        for phase in range(self.phases):
            there = np.flatnonzero(self.sent[:, phase] >= 0)
            found[self.sent[there, phase], phase] = there
        return found


def compositions(total: int, parts: int) -> Places:
    """All rows of `parts` whole numbers with a sum of at most `total`, in the order of tuples."""
    if parts == 1:
        return np.arange(total + 1, dtype=np.int64)[:, np.newaxis]
    blocks = []
    for first in range(total + 1):
        rest = compositions(total - first, parts - 1)
        blocks.append(np.hstack([np.full((len(rest), 1), first, dtype=np.int64), rest]))
    return np.vstack(blocks)


def fleet_of(robots: int, capacity: int, arrival_rate: float, service_rate: float = 1.0) -> RobotFleet:
    """Make the fleet that :class:`queueing.robots.RobotQueue` is: one class, exponential journeys.

    Parameters
    ----------
    robots, capacity
        N, how many robots there are, and K, most pages in the system.
    arrival_rate, service_rate
        Pages per unit of time that a robot brings while it is out, and that the server serves while it is busy.

    Returns
    -------
    RobotFleet
        The fleet; states have the numbers that they have in the queue.
    """
    return RobotFleet((RobotClass(robots, PhaseType.exponential(arrival_rate)),), capacity, service_rate)
