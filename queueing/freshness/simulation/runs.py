r"""Pages that change and robots that visit them, event by event: a witness that shares nothing with the evaluators.

Nothing here knows a transform of the access time or a formula of freshness. Robots make one access after the other,
each taking a time drawn from the law; pages change at random, and are out of date from the first change after a visit
to the end of the next access to them. What is counted is time.

Robots do not meet: every page belongs to one of them, and a robot is followed through a number of *slots* (accesses),
not for a given time. A cycle is observed for a whole number of rounds after one that only brings all of its pages to
where they would be after years: no part of the observation depends on how it began. The fraction of time that a page is
out of date is the quotient of two means over replications. A page that nobody visits is out of date for ever.

>>> from queueing.processes import Exponential
>>> crawl = SimulatedCrawl([1.0, 0.5], [1.0, 1.0], Exponential(0.5), (Cycle([0, 0, 1]),))
>>> found = simulate(crawl, time=1000.0, replications=5, seed=1)
>>> [0.2 < one.value < 0.5 for one in found.obsolescence_by_page()]
[True, True]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...numerics import equally_many, positive
from ...processes import AccessTime, not_negative_numbers
from ...simulation import (
    MANY,
    Estimate,
    Observations,
    Vector,
    Whole,
    drawn_law,
    first_finished,
    jackknife,
    jackknife_columns,
    run_replications,
)
from ...simulation import STEP as STEP
from ...simulation import Seen as Seen
from .crawlers import Cycle, Ground, Robot
from .kernel import BEGIN, LONGEST, NOW, SLOTS, SPELLS, STALE, begin_counting, end_counting, first_state


@dataclass(frozen=True, eq=False)
class SimulatedCrawl:
    """Pages, and robots that visit them.

    Parameters
    ----------
    rates, weights
        changes of each page per unit of time, and what a unit of time out of date costs.
    law
        of the time of an access.
    robots
        one at least; no page belongs to two of them.
    """

    rates: Vector
    weights: Vector
    law: AccessTime
    robots: tuple[Robot, ...]
    ground: Ground = field(init=False, repr=False)
    owners: Whole = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rates, weights = not_negative_numbers("rates", self.rates), not_negative_numbers("weights", self.weights)
        equally_many("rates and weights", len(rates), len(weights), "give one weight for each page.")
        if not self.robots:
            raise ValueError("robots must not be empty, but there is none; give one at least.")
        object.__setattr__(self, "rates", rates)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "ground", Ground(rates, self.law.mean, drawn_law(self.law)))
        object.__setattr__(self, "owners", _owners(len(rates), self.robots))


def replicate(crawl: SimulatedCrawl, *, time: float, seed: int = 0, step: int = STEP) -> Iterator[Seen | None]:
    """Observe a crawl in one replication after another, without end.

    Parameters
    ----------
    crawl
        What is simulated.
    time
        Units of time observed in each replication, about: whole rounds of a cycle, four visits to a drawn page.
    seed
        Same seed, same answer; every replication has its own random numbers.
    step
        Accesses after which a caller can look at its watch.

    Returns
    -------
    Iterator[Seen | None]
        None every `step` accesses, and at the end of a replication what it has seen.
    """
    return run_replications(lambda index: one_replication(crawl, time, np.random.default_rng([seed, index]), step))


def one_replication(
    crawl: SimulatedCrawl, time: float, rng: np.random.Generator, step: int = STEP
) -> Iterator[Seen | None]:
    """None every `step` accesses, and at last what was seen."""
    wanted = positive("time", time) / crawl.law.mean
    state = first_state(crawl.rates)
    spells, longest, events, passed = 0, 0, 0, []
    for robot in crawl.robots:
        state.clocks[:] = 0.0
        state.numbers[:] = 0
        before, counted = robot.slots(wanted)
        advance = robot.start(crawl.ground, state, rng)
        for slots in (before, counted):
            begin_counting(state, robot.pages)
            for done in range(0, slots, step):
                advance(min(step, slots - done))
                yield None
        end_counting(state, robot.pages)
        spells += int(state.numbers[SPELLS])
        longest = max(longest, int(state.numbers[LONGEST]))
        events += int(state.numbers[SLOTS])
        passed.append(float(state.clocks[NOW] - state.clocks[BEGIN]))
    seen = np.concatenate([[spells], passed, state.pages[:, STALE]]) / time
    yield Seen(np.insert(seen, 1, longest), events)


def usual_time(crawl: SimulatedCrawl, events: int) -> float:
    """Compute in what time robots make about so many accesses together.

    Parameters
    ----------
    crawl
        What is simulated.
    events
        Accesses of all robots.

    Returns
    -------
    float
        Units of time, for `replicate` or `simulate`.
    """
    return events * crawl.law.mean / len(crawl.robots)


def simulate(crawl: SimulatedCrawl, *, time: float, replications: int = 20, seed: int = 0) -> "CrawlSimulation":
    """Observe robots in so many independent replications.

    Parameters
    ----------
    crawl
        What is simulated.
    time
        Units of time observed in each replication, about: whole rounds of a cycle, four visits to a drawn page.
    replications
        Two at least give confidence intervals.
    seed
        Same seed, same answer.

    Returns
    -------
    CrawlSimulation
        What was seen, with confidence intervals.
    """
    return CrawlSimulation.of(crawl, first_finished(replicate(crawl, time=time, seed=seed), replications))


class CrawlSimulation(Observations[SimulatedCrawl, Seen]):
    """Estimate what robots and pages do from what was seen of them.

    A row of observations holds spells out of date that began and the longest gap in slots; by robot, the time observed;
    by page, the time out of date: all but the gap per unit of time asked for.

    Parameters
    ----------
    model
        What was simulated.
    replications
        What each replication has seen; two at least give confidence intervals.
    """

    def cost(self) -> Estimate:
        """The weighted sum of fractions of time out of date."""
        return jackknife(lambda means: measures_of(self.model, means)["obsolescence"], self.observations)

    def obsolescence_by_page(self, most: int | None = None) -> list[Estimate]:
        """Estimate by page, or of the first so many, the fraction of time out of date."""
        return jackknife_columns(lambda means: fractions(self.model, means)[:most], self.observations)


def measures_of(crawl: SimulatedCrawl, means: Vector) -> dict[str, float | None]:
    """Compute the measures of a crawl from a mean of observations.

    Parameters
    ----------
    crawl
        What was simulated.
    means
        A row of observations, or a mean of rows.

    Returns
    -------
    dict[str, float | None]
        The cost, called obsolescence; the number of pages that nobody visits; and the longest gap in slots, None if not
        all robots follow cycles.
    """
    cycles = all(isinstance(robot, Cycle) for robot in crawl.robots)
    return {
        "obsolescence": float(crawl.weights @ fractions(crawl, means)),
        "pages_never_visited": float(np.count_nonzero(crawl.owners < 0)),
        "largest_gap": float(means[1]) if cycles else None,
    }


def fractions(crawl: SimulatedCrawl, means: Vector) -> Vector:
    """Compute by page the fraction of time out of date, from a mean of observations."""
    count = len(crawl.robots)
    times = np.append(means[2 : 2 + count], 1.0)[crawl.owners]  # the last is for pages that nobody visits
    return np.where(crawl.owners >= 0, means[2 + count :] / times, np.where(crawl.rates > 0, 1.0, 0.0))


def resolution_of(crawl: SimulatedCrawl, time: float) -> float:
    """Compute what the cost would differ by, had one more thing happened to a page to which hardly any happen.

    Such a page is visited or changes fewer than `MANY` times. What happened more or less often than it should does not
    show in the differences between replications, if it happened in none of them.

    Parameters
    ----------
    crawl
        What was simulated.
    time
        Units of time observed in all.

    Returns
    -------
    float
        The difference; 0 if something happens often to every page.
    """
    finest = 0.0
    for robot in crawl.robots:
        rates, weights = crawl.rates[robot.pages], crawl.weights[robot.pages]
        visits = robot.shares / crawl.law.mean
        rare = (np.minimum(rates, visits) * time < MANY) & (rates > 0)
        spells = weights[rare] / np.maximum(rates, visits)[rare]
        finest = max(finest, float(spells.max(initial=0.0)) / time)
    return finest


def _owners(count: int, robots: Sequence[Robot]) -> Whole:
    owners = np.full(count, -1, dtype=np.int64)
    for index, robot in enumerate(robots):
        beyond = robot.pages[robot.pages >= count]
        if len(beyond):
            raise ValueError(
                f"robots[{index}] must visit pages below {count}, their number, but it visits {int(beyond[0])}; "
                "give rates and weights for all pages."
            )
        taken = robot.pages[owners[robot.pages] >= 0]
        if len(taken):
            raise ValueError(
                f"robots[{index}] must have pages of its own, but page {int(taken[0])} belongs to "
                f"robots[{int(owners[taken[0]])}]; give every page to one robot."
            )
        owners[robot.pages] = index
    return owners
