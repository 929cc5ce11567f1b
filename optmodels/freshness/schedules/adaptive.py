"""What crawlers ship: intervals that are divided when a page has changed and multiplied when it has not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heuristics import Oracle, Problem, Result, interrupting, require_fields
from queueing.freshness.simulation import (
    STEP,
    Adapting,
    CrawlSimulation,
    Seen,
    SimulatedCrawl,
    first_state,
    last_visits,
    replicate,
)
from queueing.processes import AccessTime
from queueing.simulation import CONFIDENCE

from ..data import Pages
from ..rules import Rules
from .refusals import refuses_cycle

#: Every visit is simulated.
MOST_PAGES = 10_000_000

Whole = NDArray[np.int64]


@runtime_checkable
class VisitedProblem(Problem, Protocol):
    """A problem of pages that change, and of robots that visit them."""

    @property
    def columns(self) -> Pages: ...
    @property
    def access_time(self) -> AccessTime: ...
    @property
    def rules(self) -> Rules: ...


#: Seconds, about, that it takes to describe a decision, per page: left over when a crawl is cut short.
DESCRIBED = 1e-6


@dataclass(frozen=True)
class Adaptive:
    """Simulate the adaptive rule of crawlers: a change shortens a page's interval, none lengthens it.

    The rule sees only whether pages had changed, neither rates nor weights. Hosts may be known, but caps and gaps of
    hosts and least frequencies are refused: the interval of a page follows from its own changes alone, so that nothing
    in the rule could make room for another page of the host. The answer is the cycle of the visits that
    it made in the last part of a run, evaluated exactly. What the rule itself costs is another number, because it goes
    on to react to what it sees: ``extra.simulated`` has it, with a confidence interval over independent replications.

    Parameters
    ----------
    faster, slower
        An interval is divided by the first if the page had changed, else multiplied by the second.
    least, most
        Intervals stay between these multiples of the one that pages have when they are visited in turn.
    rounds
        Visits to a page on average while a run is observed; as many before, for intervals to settle.
    replications
        Simulation runs that estimate the cost of the rule; 0: no estimate.
    """

    faster: float = 1.25
    slower: float = 1.4
    least: float = 0.01
    most: float = 20.0
    rounds: int = 60
    replications: int = 10

    name: ClassVar[str] = "adaptive"
    needs: ClassVar[type] = VisitedProblem

    def __post_init__(self) -> None:
        require_fields(
            self,
            faster=(1 < self.faster < float("inf"), "a finite number above 1"),
            slower=(1 < self.slower < float("inf"), "a finite number above 1"),
            least=(0 < self.least <= 1, "above 0 and at most 1"),
            most=(1 <= self.most < float("inf"), "a finite number of at least 1"),
            rounds=(self.rounds >= 1, "1 or more"),
            replications=(self.replications >= 0 and self.replications != 1, "0, or 2 or more"),
        )

    def refuses(self, problem: VisitedProblem) -> str | None:
        """Say why a problem is not for this rule."""
        rules = problem.rules
        if rules.cycle is not None:
            return refuses_cycle(self.name, problem)
        if rules.shares is not None:
            return (
                f"strategy {self.name!r} visits whichever page is due, as crawlers do, and keeps no gaps and caps of "
                f"hosts, and {problem.name!r} has some; greedy and whittle keep them."
            )
        if rules.minimum is not None:
            return (
                f"strategy {self.name!r} finds intervals by itself and keeps no least frequencies, and "
                f"{problem.name!r} has some; greedy and whittle keep them."
            )
        if problem.columns.count > MOST_PAGES:
            return (
                f"strategy {self.name!r} simulates every visit and takes {MOST_PAGES} pages at most, and "
                f"{problem.name!r} has {problem.columns.count}."
            )
        return None

    def prepare(self, problem: VisitedProblem) -> None:
        """Compile, before any clock starts."""
        crawl = self._crawl(problem, rounds=1, pages=problem.rules.robots)
        next(replicate(crawl, time=crawl.law.mean))

    def solve(self, oracle: Oracle[VisitedProblem], rng: np.random.Generator) -> Result:
        """Let the rule run, hand over what it did, and see what it costs."""
        crawl = self._crawl(oracle.problem, self.rounds)
        visits, whole = self._realised(crawl, oracle, rng)
        decision: dict[str, Any] = {"schedule": visits[0]} if len(visits) == 1 else {"schedules": visits}
        if not whole:
            return oracle.result(decision, stopped_by="seconds")
        oracle(decision)
        whole = self._observed(crawl, oracle, int(rng.integers(2**62)))
        return oracle.result(stopped_by="complete" if whole else "seconds")

    def _crawl(self, problem: VisitedProblem, rounds: int, pages: int | None = None) -> SimulatedCrawl:
        """Deal out pages to robots in turn."""
        robots, known = problem.rules.robots, problem.columns
        count = known.count if pages is None else pages
        own = [np.arange(robot, count, robots) for robot in range(robots)]
        rule = Adapting(own[0], self.faster, self.slower, self.least, self.most, rounds)
        return SimulatedCrawl(
            known.rates, known.weights, problem.access_time, tuple(replace(rule, pages=mine) for mine in own)
        )

    def _realised(
        self, crawl: SimulatedCrawl, oracle: Oracle[VisitedProblem], rng: np.random.Generator
    ) -> tuple[list[Whole], bool]:
        """Let each robot run and keep its last visits; tell whether there was time for all of them."""
        found, whole = [], True
        for given in crawl.robots:
            assert isinstance(given, Adapting)
            before, counted = given.slots(0.0)
            robot = replace(given, record=counted)
            state, plan = first_state(crawl.rates), robot.plan(crawl.ground, rng)
            advance = robot.follow(plan, crawl.ground, state, rng)
            for done in range(0, before + counted, STEP):
                interrupting.check()
                if done and oracle.remaining_seconds <= min(oracle.seconds / 3, len(crawl.rates) * DESCRIBED):
                    whole = False
                    break
                advance(min(STEP, before + counted - done))
            found.append(last_visits(plan, state))
        return found, whole

    def _observed(self, crawl: SimulatedCrawl, oracle: Oracle[VisitedProblem], seed: int) -> bool:
        """Replications until there are enough or the time is up; tells which."""
        done: list[Seen] = []
        for one in replicate(crawl, time=crawl.law.mean, seed=seed) if self.replications else ():
            interrupting.check()
            if one is not None:
                done.append(one)
                oracle.extra["simulated"] = _told(crawl, done)  # an interrupt keeps what there is
            if len(done) >= self.replications:
                break
            if oracle.remaining_seconds <= 0:
                return False
        return True


def _told(crawl: SimulatedCrawl, done: list[Seen]) -> dict[str, Any]:
    price = CrawlSimulation.of(crawl, done).cost()
    return {
        "obsolescence": price.value,
        "half_width": price.half_width(CONFIDENCE),
        "confidence": CONFIDENCE,
        "replications": len(done),
    }
