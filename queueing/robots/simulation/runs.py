r"""Robots one by one, page by page: a witness that shares nothing with the evaluators of policies.

Nothing here solves an equation, knows a generator of the states, or uses a table of them. Each robot that is sent out
begins a journey of its own; whenever it enters a phase it is given the *work* to be done there, which wears off at the
pace that the environment sets. Pages queue up in the order they came, and each tells its own time in the system. Even
the number of a state, by which the policy is asked, is counted out anew. What is seen, in independent replications
after a warm-up, gives every measure with a confidence interval.

Each run begins as policies are evaluated: no pages, no robots, the environment in its first state, a decision due. If a
policy may end up in one of several closed classes of states, a replication is the mean of many shorter runs, so that
what chance does at the beginning is seen often enough to have an error.

>>> from queueing.robots.fleet import fleet_of
>>> found = simulate(SimulatedFleet(fleet_of(1, 2, 1.0), [1, 0, 1, 0, 1, 0]), time=1000.0, replications=5, seed=1)
>>> 0.2 < found.measures()["starvation"].value < 0.4
True
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...simulation import (
    STEP,
    Estimate,
    Matrix,
    Observations,
    Vector,
    column_means,
    first_finished,
    jackknives,
    joint_limit,
    run_replications,
)
from ...simulation import Seen as Seen
from . import kernel
from .model import SimulatedFleet

#: Runs that make a replication where it is left to chance in which of several closed classes a fleet ends up; each has
#: a tenth of the events that the only run has elsewhere.
RUNS, _SHORTER = 50, 10

#: Runs of a replication that ended in a closed class: fewer do not say how often to expect what happens there.
_FEW = 10.0

#: A run shall last so many times as long as it takes the slowest thing that matters to happen, and its events be so
#: many times the square of the pages whose number it wanders through; but they shall not be more than so many times
#: those asked for. What has not lasted for so many slow things is no average yet.
_PARTS, _SQUARES, _MOST, _LEAST = 50.0, 20.0, 50, 20.0

#: Runs that tell whether averages are still on their way.
_PILOTS = 30

_SHORTEST, _LONGEST = 1e-290, 1e300


class FleetRun:
    """One run of a fleet, from the beginning, that can be taken up again and again.

    Parameters
    ----------
    fleet
        what is simulated.
    seed
        which random numbers: a list of whole numbers, such as a seed and the number of a replication.
    time, warm_up
        units of time observed, and passed before them.
    """

    def __init__(self, fleet: SimulatedFleet, seed: Sequence[int], time: float, warm_up: float) -> None:
        if not (_SHORTEST <= time <= _LONGEST and 0.0 <= warm_up <= _LONGEST):
            raise ValueError(
                f"time must be between {_SHORTEST:g} and {_LONGEST:g} units, and a warm-up between 0 and {_LONGEST:g}, "
                f"but they are {time!r} and {warm_up!r}; measure time in other units."
            )
        self.fleet, self.time, self.warm_up = fleet, float(time), float(warm_up)
        self.state = kernel.first_state(fleet.rules)
        self._half: Vector | None = None
        self._rng = np.random.default_rng(list(seed))

    def advance(self, events: int = STEP) -> bool:
        """Let so many events happen, or all that is left; tells whether the run has come to its end."""
        began = self.events
        told = kernel.run(self.fleet.rules, self.state, self._rng, self.warm_up, self._stop, events)
        if told == kernel.DONE and self._half is None:
            self._half = self.state.seen.copy()
            left = events - (self.events - began)
            told = kernel.run(self.fleet.rules, self.state, self._rng, self.warm_up, self._stop, left)
        if told == kernel.REFUSED:
            state = int(self.state.places[kernel.BAD])
            asked, idle = self.fleet.actions[state], self.fleet.rules.robots - self.state.out
            raise ValueError(
                f"actions[{state}] must send out robots that are idle, and one at least where there is neither a page "
                f"nor a robot, but it is {asked} where {' + '.join(map(str, idle))} are idle; mend the policy."
            )
        return bool(told == kernel.DONE)

    @property
    def _stop(self) -> float:
        """Where the half of the time under way ends."""
        return self.warm_up + self.time / (2.0 if self._half is None else 1.0)

    @property
    def events(self) -> int:
        """Events so far, the warm-up included."""
        return int(self.state.places[kernel.EVENTS])

    @property
    def drift(self) -> Vector:
        """By how much more robots were out, and pages there, on average in the second half than in the first."""
        assert self._half is not None, "the run has not come to its end"
        later = (self.state.seen - 2.0 * self._half) / (self.time / 2.0)
        levels = self.fleet.layout.levels
        return np.array([float(_robots(self.fleet, later).sum()), float(_mean(later[levels]))])

    @property
    def end(self) -> int:
        """The closed class that the run is in now; -1 if in none, or if it is not known."""
        if self.fleet.closed is None:
            return -1
        level, environment = self.state.places[kernel.LEVEL], self.state.places[kernel.ENVIRONMENT]
        return self.fleet.closed.label(self.fleet.number(level, self.state.counts, environment))


def replicate(
    fleet: SimulatedFleet,
    *,
    time: float,
    warm_up: float | None = None,
    seed: int | Sequence[int] = 0,
    step: int = STEP,
) -> Iterator[Seen | None]:
    """Observe a fleet in one replication after another, without end.

    Parameters
    ----------
    fleet
        What is simulated.
    time, warm_up
        Units of time observed in each replication, and passed before them (a tenth unless said).
    seed
        Same seed, same answer; every replication has its own random numbers. Several numbers make one seed, too.
    step
        Events after which, about, a caller can look at its watch.

    Returns
    -------
    Iterator[Seen | None]
        None every `step` events or so, and at the end of a replication what it has seen.
    """
    root = (seed,) if isinstance(seed, int) else tuple(seed)
    runs = RUNS if fleet.several else 1
    passed = time / 10 if warm_up is None else warm_up

    def run_one(index: int) -> Iterator[Seen | None]:
        total = np.zeros(fleet.layout.drift.stop)
        events = since = 0
        for turn in range(runs):
            one = FleetRun(fleet, (*root, index, turn) if runs > 1 else (*root, index), time / runs, passed / runs)
            while not one.advance(step):
                yield None
            events, since = events + one.events, since + one.events
            total[: fleet.layout.ends.start] += one.state.seen
            total[fleet.layout.ends][one.end] += 1.0  # -1 is the last: none
            total[fleet.layout.drift] += one.drift * (time / runs)
            if turn + 1 < runs and since >= step:
                since = 0
                yield None
        yield Seen(total / time, events)

    return run_replications(run_one)


def usual_time(fleet: SimulatedFleet, events: int, seed: int = 0) -> float:
    """Find in what time about so many events happen, by a pilot run whose random numbers nothing else uses.

    The time is longer, within reason, where something is slow (phases of journeys, the environment, the server), where
    the number of pages wanders about (to cross n levels takes some n squared steps), or where averages are still on
    their way: some policies leave a part of the states once in a long time.

    Parameters
    ----------
    fleet
        What is simulated.
    events
        Events asked for.
    seed
        Of the pilot run.

    Returns
    -------
    float
        Units of time, for `replicate` or `simulate`.
    """
    pilot = FleetRun(fleet, (seed, 2**62), _LONGEST, 0.0)
    more = max(1, events // 2)
    while True:
        pilot.state.seen[:] = 0.0
        before = float(pilot.state.clocks[kernel.NOW])
        if pilot.advance(more):
            raise ValueError(
                f"events must lie less than {_LONGEST:g} units of time apart, but they do not; "
                "measure time in larger units."
            )
        crossed = int(np.count_nonzero(pilot.state.seen[fleet.layout.levels]))
        if pilot.events + 1 >= max(events, min(_SQUARES * crossed**2, _MOST * events)):  # it began with a decision
            break
        more = min(max(more, pilot.events), max(1, _MOST * events - pilot.events))
    passed = float(pilot.state.clocks[kernel.NOW])
    longest = passed + (passed - before) * max(0.0, (_MOST * events - pilot.events) / more)
    slow = fleet.slowest(_robots(fleet, pilot.state.seen))
    if fleet.several:
        passed, longest = passed / _SHORTER, longest / _SHORTER
    if _LEAST * slow <= longest:  # else all the time that can be had would not be enough
        passed = max(passed, min(_PARTS * slow, longest))
        while 4.0 * passed <= longest and _drifts(fleet, passed, seed):
            passed *= 4.0
    return passed * (RUNS if fleet.several else 1)


def _drifts(fleet: SimulatedFleet, time: float, seed: int) -> bool:
    """Whether runs of this length, whose random numbers nothing else uses, are seen to be still on their way."""
    rows = np.zeros((_PILOTS, fleet.layout.drift.stop))
    for index in range(_PILOTS):
        one = FleetRun(fleet, (seed, 2**62, 1 + index), time, time / 10)
        while not one.advance():
            pass
        rows[index, fleet.layout.drift] = one.drift
        rows[index, fleet.layout.ends][one.end] = 1.0
    return drifting(fleet, rows)


def simulate(
    fleet: SimulatedFleet, *, time: float, replications: int = 20, warm_up: float | None = None, seed: int = 0
) -> "FleetSimulation":
    """Observe a fleet in so many independent replications.

    Parameters
    ----------
    fleet
        What is simulated.
    time, warm_up
        Units of time observed in each replication, and passed before them (a tenth unless said).
    replications
        Two at least give confidence intervals.
    seed
        Same seed, same answer.

    Returns
    -------
    FleetSimulation
        What was seen, with confidence intervals.
    """
    running = replicate(fleet, time=time, warm_up=warm_up, seed=seed)
    return FleetSimulation.of(fleet, first_finished(running, replications))


class FleetSimulation(Observations[SimulatedFleet, Seen]):
    """Estimate the measures of a fleet from what was seen of it.

    See :class:`queueing.robots.simulation.model.Layout` for what stands where in a row of observations.

    Parameters
    ----------
    model
        What was simulated.
    replications
        What each replication has seen; two at least give confidence intervals.
    """

    def measures(self) -> dict[str, Estimate]:
        """Every measure with its error."""
        return jackknives(lambda means: measures_of(self.model, means), self.observations)

    def level_probabilities(self) -> list[Estimate]:
        """Of 0, 1, ... pages in the system."""
        return column_means(self.observations[:, self.model.layout.levels])

    def robot_probabilities(self) -> list[list[Estimate]]:
        """By class, of 0, 1, ... of its robots out."""
        return [column_means(self.observations[:, part]) for part in self.model.layout.robots]

    def robots_by_class(self) -> list[Estimate]:
        """Mean number of robots out, by class."""
        return column_means(np.column_stack([_mean(self.observations[:, part]) for part in self.model.layout.robots]))

    def ends(self) -> list[float] | None:
        """Share of the runs that ended in each closed class; None if the classes are not known."""
        if self.model.closed is None:
            return None
        ends = self.observations[:, self.model.layout.ends].sum(axis=0)
        return [float(value) for value in ends[:-1] / ends.sum()]


def measures_of(fleet: SimulatedFleet, means: Vector) -> dict[str, float | None]:
    """Compute the measures of a fleet from a mean of observations.

    Parameters
    ----------
    fleet
        What was simulated.
    means
        A row of observations, or a mean of rows.

    Returns
    -------
    dict[str, float | None]
        By name, all of `RobotMeasures` but its extremes; the response time is None if nothing was served.
    """
    layout, served = fleet.layout, float(means[kernel.SERVED])
    return {
        "starvation": float(means[layout.levels.start]),
        "loss_rate": float(means[kernel.LOST]),
        "active_robots": float(_robots(fleet, means).sum()),
        "mean_length": float(_mean(means[layout.levels])),
        "response_time": float(means[kernel.SERVED_TIME]) / served if served > 0 else None,
    }


def occurrences_of(fleet: SimulatedFleet, means: Vector) -> dict[str, tuple[float, float]]:
    """Tell how often that happened which each measure rests on.

    Every measure rests on all closed classes, and on runs that are long for what is slow. Where there were none,
    nothing has happened, and nothing is said of how often to expect what.

    Parameters
    ----------
    fleet
        What was simulated.
    means
        A row of observations, or a mean of rows.

    Returns
    -------
    dict[str, tuple[float, float]]
        By measure, how often it happened, and among how many, per unit of time; the latter is 0 where it is not known.
    """
    layout, served = fleet.layout, float(means[kernel.SERVED])
    ends = means[layout.ends]
    runs = float(ends.sum())
    settled = _LEAST * fleet.slowest(_robots(fleet, means)) * runs <= 1.0
    rarest = math.inf
    if fleet.closed is not None:
        settled = settled and not ends[-1] > 0
        rarest = float(ends[:-1].min()) if fleet.several else math.inf
    if not settled:
        rarest = 0.0
    known = 1.0 if settled and rarest * RUNS >= _FEW * runs else 0.0
    return {
        "starvation": (min(rarest, served * float(means[layout.levels.start])), served * known),
        "loss_rate": (min(rarest, float(means[kernel.LOST])), known),
        "active_robots": (min(rarest, float(means[kernel.BROUGHT])), 0.0),
        "mean_length": (min(rarest, served), 0.0),
        "response_time": (min(rarest, served), 0.0),
    }


def resolution_of(fleet: SimulatedFleet, time: float) -> dict[str, float]:
    """Compute what measures would differ by, had something most unusual happened once.

    The numbers of pages and of robots may be nearly constant, and then have tiny errors as long as nothing unusual is
    seen. It would last until as many pages are served as there can be, and, for robots, for a journey at least.

    Parameters
    ----------
    fleet
        What was simulated.
    time
        Units of time observed in all.

    Returns
    -------
    dict[str, float]
        The difference, by name of those measures that are numbers of robots or of pages.
    """
    pages = float(fleet.fleet.capacity)
    drained = pages / fleet.fleet.service_rate
    return {
        "active_robots": float(fleet.rules.robots.sum()) * max(drained, fleet.longest) / time,
        "mean_length": pages * drained / time,
    }


def drifting(fleet: SimulatedFleet, observations: Matrix) -> bool:
    """Tell whether fleets were still on their way when they were observed.

    That is so if a run has ended in states that are left for ever, or if the mean numbers of robots or of pages changed
    from the first half of runs to the second, in all replications taken together.

    Parameters
    ----------
    fleet
        What was simulated.
    observations
        A row for each replication, two at least.

    Returns
    -------
    bool
        The answer; where all is settled, it is wrong once in a hundred times.
    """
    if fleet.closed is not None and observations[:, fleet.layout.ends.stop - 1].any():
        return True
    found = column_means(observations[:, fleet.layout.drift])
    largest = max(abs(one.deviation(0.0) or 0.0) for one in found)
    return largest > joint_limit(len(found), len(observations) - 1)


def _robots(fleet: SimulatedFleet, means: Vector) -> Vector:
    """Robots out by class, as a mean or in proportion."""
    return np.array([float(_mean(means[part])) for part in fleet.layout.robots])


def _mean(shares: Matrix) -> Vector:
    """Mean number, from the shares of the time with 0, 1, ... in the last direction."""
    return np.asarray(shares @ np.arange(shares.shape[-1]))
