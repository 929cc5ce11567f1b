"""Plans of visits, tried out access by access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queueing.freshness.simulation import (
    CrawlSimulation,
    Cycle,
    Draws,
    Seen,
    SimulatedCrawl,
    measures_of,
    replicate,
    resolution_of,
    usual_time,
)
from queueing.simulation import interval_columns

from ..errors import RequestError, refusals, short

if TYPE_CHECKING:
    from .problem import FreshnessProblem

#: Pages whose own fractions of time are told.
TOLD = 1000

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FreshnessExperiment:
    """Robots and pages, and what is seen of them; the name of the problem is for sentences.

    A replication is longer than the time asked for where a cycle is: it is followed for whole rounds.
    """

    name: str
    crawl: SimulatedCrawl

    def usual_time(self, events: int, seed: int) -> float:
        """Units of time in which robots make about so many accesses."""
        return usual_time(self.crawl, events)

    def replications(self, time: float, seed: int) -> Iterator[Seen | None]:
        """Yield one finished replication after another; ``None`` in between."""
        with refusals(f"{self.name!r} cannot be simulated"):
            yield from replicate(self.crawl, time=time, seed=seed)

    def measures(self, means: Vector) -> Mapping[str, float | None]:
        """Compute all measures of the kind."""
        return measures_of(self.crawl, means)

    def occurrences(self, means: Vector) -> Mapping[str, tuple[float, float]]:
        """Tell how often a page went out of date."""
        return {"obsolescence": (float(means[0]), 0.0)}

    def resolution(self, time: float) -> Mapping[str, float]:
        """Tell what the obsolescence would differ by, had one thing more happened to a page that hardly sees any."""
        return {"obsolescence": resolution_of(self.crawl, time)}

    def describe(self, done: Sequence[Seen]) -> dict[str, Any]:
        """Fractions of time out of date by page, of the first thousand."""
        seen = CrawlSimulation.of(self.crawl, done).obsolescence_by_page(TOLD)
        return {"obsolescence_by_page": interval_columns(seen)}


def experiment_of(problem: FreshnessProblem, decision: Any) -> FreshnessExperiment:
    """Take the pages of a problem, visited as decided; only data are taken, nothing that evaluates."""
    name, robots = problem.name, problem.rules.robots
    if not isinstance(decision, Mapping) and problem.rules.cycle is None:
        raise RequestError(
            f"{short(decision)} cannot be simulated: no robot can visit every page at exactly equal distances; give "
            'a cycle {"schedule": [page, ...]} or {"randomized": [frequency, ...]}.'
        )
    visits = problem.visits_of(decision)
    with refusals(f"{name!r} cannot be simulated"):
        if visits.form == "randomized":
            frequencies = visits["randomized"]
            if robots > 1 and "robot" not in visits:
                raise RequestError(
                    f"{short(decision)} cannot be simulated: it must be known which of the {robots} robots visits "
                    'which page; give {"randomized": [frequency, ...], "robot": [robot, ...]}.'
                )
            owner = visits["robot"] if "robot" in visits else np.zeros(len(frequencies), dtype=np.int64)
            active = [np.flatnonzero((owner == robot) & (frequencies > 0)) for robot in range(robots)]
            found: tuple[Draws | Cycle, ...] = tuple(Draws(own, frequencies[own]) for own in active if len(own))
        else:
            found = tuple(Cycle(cycle) for cycle in visits.cycles)
        crawl = SimulatedCrawl(problem.columns.rates, problem.columns.weights, problem.access_time, found)
    return FreshnessExperiment(name, crawl)
