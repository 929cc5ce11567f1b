r"""The threshold queue, event by event: a witness that shares nothing with the evaluators.

Nothing here solves an equation or knows a generator of the queue. Batches come when the chain behind them moves, pages
queue up in the order they came, and a page that must wait is given at once the *time* it will wait, not a phase that
evolves with the state; the service of a page is drawn as a whole, too. What is counted, in independent replications
after a warm-up, gives every measure with a confidence interval, and the times in the system their whole law.

The constant as patience, which no chain of phases has, is one more law here, and so is another order of service: a
queue that serves the last first, or whom it likes, shows what a mistake in the order would do to an evaluator.

>>> queue = SimulatedQueue(
...     arrivals=[[[[-1.0]], [[1.0]]]], service=Phases([1.0], [[-2.0]]), patience=0.5, thresholds=(), capacity=4
... )
>>> found = simulate(queue, time=1000.0, replications=5, seed=1)
>>> 0.4 < found.measures()["starvation"].value < 0.7
True
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...simulation import (
    STEP,
    Estimate,
    Observations,
    Vector,
    column_means,
    first_finished,
    jackknife,
    jackknives,
    run_replications,
)
from ...simulation import Seen as SeenOfAnyKind
from . import kernel
from .model import SimulatedQueue

#: Events at least, and at most, after which a queue that began empty has forgotten it (to wander through n levels takes
#: some n squared of them), and stays of the arrivals in their slowest phase.
SETTLING, _STAYS = (2000, 10_000), 5.0

# A warm-up takes no more than so many times the time of these events where the time does not ask for it.
_PATIENT = 20.0

#: Of the time of a replication, the least share that a clock still tells with four digits.
_RESOLUTION = 1e-12

_LONGEST = 1e300


class Replication:
    """One run of a queue, from empty, that can be taken up again and again.

    Parameters
    ----------
    queue
        what is simulated.
    seed, index
        which random numbers: every index of every seed has its own.
    time, warm_up
        units of time observed, and passed before them.
    samples
        times in the system to keep, of pages that were served and of those that went out of date: the first so many.
    """

    def __init__(
        self, queue: SimulatedQueue, seed: int, index: int, time: float, warm_up: float, samples: int = 0
    ) -> None:
        for name, value, least in (("time", time, 0.0), ("warm_up", warm_up, -1e-300)):
            if not (math.isfinite(value) and value > least):
                raise ValueError(f"{name} must be a finite number above 0, but it is {value!r}; give such a time.")
        self.queue, self.time, self.warm_up = queue, float(time), float(warm_up)
        self.state: kernel.State = kernel.empty_state(queue.top, samples)
        self._rng = np.random.default_rng([seed, index])
        # A chain that moves rarely is seen in all its phases by many replications, if not by one.
        self.state.places[kernel.PHASE] = self._rng.integers(queue.rules.rates.shape[1])

    def advance(self, events: int = STEP) -> bool:
        """Let so many events happen, or all that is left; tells whether the run has come to its end."""
        return bool(kernel.run(self.queue.rules, self.state, self._rng, self.warm_up, self.warm_up + self.time, events))

    @property
    def events(self) -> int:
        """Events so far, the warm-up included."""
        return int(self.state.places[kernel.EVENTS])

    @property
    def seen(self) -> "Seen":
        """What was seen, without all that was needed to see it."""
        obsolete, served = (self.state.sojourns[row, : self.state.kept[row]].copy() for row in range(2))
        return Seen(np.asarray(self.state.counts / self.time), self.events, served, obsolete)


@dataclass(frozen=True, eq=False)
class Seen(SeenOfAnyKind):
    """What a replication has seen.

    Attributes
    ----------
    observation
        Pages per unit of time that came, were lost, went out of date, were served; their times in the system (out of
        date, served); shares of the time with 0, 1, ... pages.
    events
        Events of the replication, the warm-up included.
    served, obsolete
        Times in the system that were kept: of served pages, of pages that went out of date.
    """

    served: Vector
    obsolete: Vector


def replicate(
    queue: SimulatedQueue,
    *,
    time: float,
    warm_up: float | None = None,
    seed: int = 0,
    samples: int = 0,
    step: int = STEP,
) -> Iterator[Seen | None]:
    """Observe a queue in one replication after another, without end.

    Parameters
    ----------
    queue
        What is simulated.
    time
        Units of time observed in each replication.
    warm_up
        Units of time passed before them. If it is not given, a tenth of the time, and however short this is, as long as
        it takes to forget the beginning: with many short replications, what is left of it would be all that is seen.
    seed
        Same seed, same answer; every replication has its own random numbers.
    samples
        Times in the system to keep in each replication.
    step
        Events after which a caller can look at its watch.

    Returns
    -------
    Iterator[Seen | None]
        None every `step` events, and at the end of a replication what it has seen.
    """
    if math.isfinite(time) and not queue.shortest > _RESOLUTION * time:
        raise ValueError(
            f"time must be at most {1 / _RESOLUTION:g} times the shortest mean time of the queue, "
            f"{queue.shortest:.3g}, as a clock has so many digits, but it is {time:.3g}; "
            "bring the rates nearer to one another, or ask for less time."
        )
    passed = max(time / 10, settling_time(queue, seed)) if warm_up is None and time > 0 else warm_up or 0.0

    def run_one(index: int) -> Iterator[Seen | None]:
        one = Replication(queue, seed, index, time, passed, samples)
        while not one.advance(step):
            yield None
        yield one.seen

    return run_replications(run_one)


def usual_time(queue: SimulatedQueue, events: int, seed: int = 0) -> float:
    """Find in what time about so many events happen, by a pilot run whose random numbers nothing else uses.

    The time is longer where the chain behind the arrivals moves rarely: it shall move a hundred times. Where all comes
    to rest before (a mode that brings nothing, and an empty queue), it is a hundred times as long as that took.

    Parameters
    ----------
    queue
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
    pilot = Replication(queue, seed, 2**62, _LONGEST, 0.0)
    passed = 0.0
    while pilot.events < events:
        if pilot.advance(min(100, events - pilot.events)):
            if float(pilot.state.clocks.min(initial=math.inf, where=[False, True, True, False])) < math.inf:
                raise ValueError(
                    f"events must lie less than {_LONGEST:g} units of time apart, but they do not; "
                    "measure time in larger units."
                )
            return 100.0 * passed or 1.0
        passed = float(pilot.state.clocks[kernel.NOW])
    return max(passed, 100.0 * queue.slowest)


def settling_time(queue: SimulatedQueue, seed: int = 0) -> float:
    """Return the units of time in which a queue that began empty forgets it, about; 0 where all comes to rest before.

    Not much more than events take, however rarely the chain behind the arrivals moves: see `settled`.
    """
    pilot = Replication(queue, seed, 2**62, _LONGEST, 0.0)
    if pilot.advance(max(SETTLING[0], min(queue.top**2, SETTLING[1]))):
        return 0.0
    passed = float(pilot.state.clocks[kernel.NOW])
    return min(max(passed, _STAYS * queue.slowest), _PATIENT * passed)


def settled(queue: SimulatedQueue, time: float, seed: int = 0) -> bool:
    """Tell whether the chain behind the arrivals has forgotten its beginning when replications begin to count.

    Parameters
    ----------
    queue
        What is simulated.
    time
        Units of time observed in each replication, after the warm-up that `replicate` chooses.
    seed
        Of the pilot run that finds the warm-up.

    Returns
    -------
    bool
        The answer.
    """
    return max(time / 10, settling_time(queue, seed)) >= _STAYS * queue.slowest


def simulate(
    queue: SimulatedQueue,
    *,
    time: float,
    replications: int = 20,
    warm_up: float | None = None,
    seed: int = 0,
    samples: int = 0,
) -> "Simulation":
    """Observe a queue in so many independent replications.

    Parameters
    ----------
    queue
        What is simulated.
    time, warm_up
        Units of time observed in each replication, and passed before them (see `replicate`).
    replications
        Two at least give confidence intervals.
    seed
        Same seed, same answer.
    samples
        Times in the system to keep in each replication, see `Simulation.cdf` and `Simulation.quantile`.

    Returns
    -------
    Simulation
        What was seen, with confidence intervals.
    """
    running = replicate(queue, time=time, warm_up=warm_up, seed=seed, samples=samples)
    return Simulation.of(queue, first_finished(running, replications))


class Simulation(Observations[SimulatedQueue, Seen]):
    """Estimate measures and laws of times from what was seen of a queue.

    Parameters
    ----------
    model
        What was simulated.
    replications
        What each replication has seen; two at least give confidence intervals.
    """

    @property
    def served(self) -> list[Vector]:
        """For each replication, the times in the system of served pages that were kept."""
        return [one.served for one in self.replications]

    @property
    def obsolete(self) -> list[Vector]:
        """For each replication, the times in the system of pages that went out of date, as far as kept."""
        return [one.obsolete for one in self.replications]

    def measures_of(self, means: Vector) -> dict[str, float | None]:
        """Return every measure by name, from a row of `observations` or a mean of rows."""
        return measures_of(means, self.model.robots_by_level)

    def estimate(self, function: Callable[[Mapping[str, float | None]], float | None]) -> Estimate:
        """Estimate any function of the measures, such as a price, with its error."""
        return jackknife(lambda means: function(self.measures_of(means)), self.observations)

    def measures(self) -> dict[str, Estimate]:
        """Estimate every measure with its error."""
        return jackknives(self.measures_of, self.observations)

    def level_probabilities(self) -> list[Estimate]:
        """Estimate the probabilities of 0, 1, ... pages in the system."""
        return column_means(self.observations[:, kernel.COUNTS :])

    def cdf(self, time: float, *, obsolete: bool = False) -> Estimate:
        """Estimate the share of served (or of obsolete) pages that left within so much time."""
        rows = [
            [float((values <= time).sum()), float(len(values))]
            for values in (self.obsolete if obsolete else self.served)
        ]
        return jackknife(lambda means: _quotient(means[0], means[1]), np.array(rows))

    def quantile(self, probability: float, *, obsolete: bool = False) -> Estimate:
        """Estimate the time within which this share of them left, as a mean over replications."""
        kept = [values for values in (self.obsolete if obsolete else self.served) if len(values)]
        if not kept:
            return Estimate(None, None, 0)
        return column_means(np.array([[np.quantile(values, probability)] for values in kept]))[0]


def measures_of(means: Vector, robots: Vector) -> dict[str, float | None]:
    """Compute the measures of a queue from a mean of observations.

    Parameters
    ----------
    means
        A row of observations, or a mean of rows.
    robots
        Active robots by number of pages in the system.

    Returns
    -------
    dict[str, float | None]
        By name; None for a quotient of which nothing was seen.
    """
    levels = means[kernel.COUNTS :]
    arrived, lost = float(means[kernel.ARRIVED]), float(means[kernel.LOST])
    obsolete, obsolete_time = float(means[kernel.OBSOLETE]), float(means[kernel.OBSOLETE_TIME])
    served, served_time = float(means[kernel.SERVED]), float(means[kernel.SERVED_TIME])
    return {
        "arrival_rate": arrived,
        "loss": _quotient(lost, arrived),
        "obsolescence": _quotient(obsolete, arrived),
        "success": _quotient(served, arrived),
        "starvation": float(levels[0]),
        "active_robots": float(robots @ levels),
        "mean_length": float(np.arange(len(levels)) @ levels),
        "response_time": _quotient(served_time, served),
        "obsolete_time": _quotient(obsolete_time, obsolete),
        "sojourn_time": _quotient(served_time + obsolete_time, arrived),
        "loss_rate": lost,
        "obsolescence_rate": obsolete,
    }


def _quotient(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
