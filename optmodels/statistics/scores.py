"""What is told of a comparison: of a strategy on a problem, of a strategy on all, and of all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RequestError
from .anytime import Clock, ecdf, expected_running_time
from .distributions import Distribution, Matrix, Vector
from .intervals import Interval
from .pairs import PairedTest
from .profiles import data_profiles, performance_profiles
from .ranks import Ranking
from .references import Reference


@dataclass(frozen=True, eq=False)
class Score:
    """One strategy on one problem, over its seeds.

    Parameters
    ----------
    problem, strategy
        Who on what.
    runs, failed, unanswered
        How many runs there were, how many ended in an error, and how many others found nothing feasible.
    optimal
        How many proved their answer optimal.
    gaps
        To the reference, one per run; infinite without an answer.
    median_gap, worst_gap
        Of these.
    interval
        For the median gap, from seeds; ``None`` of one run.
    bound_gap
        The median gap of runs to their own bounds, infinite without one; ``None`` if no run has a bound.
    primal_integral, primal_dual_integral
        Medians over runs of the mean gap over the horizon, to the reference and to the run's own bound.
    solved
        The share of runs that reached the reference.
    times
        By clock, times to targets: runs times targets, infinite where a target was not reached.
    spent
        By clock, what each run spent, or is charged.
    """

    problem: str
    strategy: str
    runs: int
    failed: int
    unanswered: int
    optimal: int
    gaps: tuple[float, ...]
    median_gap: float
    worst_gap: float
    interval: Interval | None
    bound_gap: float | None
    primal_integral: float
    primal_dual_integral: float
    solved: float
    times: Mapping[Clock, Matrix]
    spent: Mapping[Clock, Vector]

    def expected(self, clock: Clock = "seconds") -> Vector:
        """Estimate the expected running time to each target; infinite where no run reached it."""
        return expected_running_time(self.times[clock], self.spent[clock])


@dataclass(frozen=True, eq=False)
class Standing:
    """One strategy over all problems that it was tried on.

    Parameters
    ----------
    strategy
        Who.
    problems, not_applicable
        How many problems it was tried on, and the names of those that it cannot treat.
    runs, failed, unanswered, optimal
        As in `Score`, over all problems.
    median_gap
        The median over problems of medians over seeds; not a number without a run.
    worst_gap
        Over all runs.
    interval
        For the median gap, from problems and seeds; ``None`` of one run.
    primal_integral, primal_dual_integral
        Medians over problems of medians over seeds.
    solved
        The share of runs that reached the reference.
    expected
        By clock, the expected running time to each target, of all runs together.
    best_on
        Problems on which nobody has a lower median gap; ties count for all.
    mean_rank
        By median gap, over the problems that all strategies were tried on; not a number without one.
    """

    strategy: str
    problems: int
    not_applicable: tuple[str, ...]
    runs: int
    failed: int
    unanswered: int
    optimal: int
    median_gap: float
    worst_gap: float
    interval: Interval | None
    primal_integral: float
    primal_dual_integral: float
    solved: float
    expected: Mapping[Clock, Vector]
    best_on: int
    mean_rank: float


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """What a referee says of a comparison; made by `judge`.

    Parameters
    ----------
    problems, strategies
        Names, in the order of the runs.
    references
        By problem, what gaps are measured from.
    targets
        Relative gaps, in the order of all that is told of targets.
    clock
        What time of integrals is counted in.
    horizons
        By problem, until when integrals go, in units of the clock; 0 if no time passed.
    scores
        By problem and strategy, where there was a run.
    standings
        By strategy.
    tests
        Every two strategies once, on median gaps.
    ranking
        Mean ranks of the strategies, and the Friedman test.
    not_applicable
        Pairs of problem and strategy that do not fit, with the number of runs that were asked for.
    sentences
        All of it in words: who is better, where, and how surely.
    """

    problems: tuple[str, ...]
    strategies: tuple[str, ...]
    references: Mapping[str, Reference]
    targets: tuple[float, ...]
    clock: Clock
    horizons: Mapping[str, float]
    scores: Mapping[tuple[str, str], Score]
    standings: Mapping[str, Standing]
    tests: tuple[PairedTest, ...]
    ranking: Ranking
    not_applicable: Mapping[tuple[str, str], int]
    sentences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Statistics: problems {len(self.problems)}, strategies {len(self.strategies)}>"

    def median_gaps(self) -> Matrix:
        """Table median gaps, problems times strategies; not a number where there was no run."""
        return self._table(lambda score: score.median_gap)

    def costs(self, target: float, clock: Clock = "seconds") -> Matrix:
        """Table expected running times to a target, problems times strategies.

        Infinite where it was never reached or the strategy is not applicable, not a number where no run was made.
        """
        place = self._place(target)
        table = self._table(lambda score: float(score.expected(clock)[place]))
        for problem, strategy in self.not_applicable:
            table[self.problems.index(problem), self.strategies.index(strategy)] = math.inf
        return table

    def performance_profiles(
        self, target: float, clock: Clock = "seconds", floor: float = 0.0
    ) -> dict[str, Distribution]:
        """Make the performance profile of every strategy by expected running times, over problems all were tried on."""
        costs = self.costs(target, clock)
        return self._named(performance_profiles(costs[~np.isnan(costs).any(axis=1)], floor))

    def data_profiles(self, target: float, dimensions: Mapping[str, int] | None = None) -> dict[str, Distribution]:
        """Make the data profile of every strategy by expected evaluations, over problems all were tried on."""
        costs = self.costs(target, "evaluations")
        whole = ~np.isnan(costs).any(axis=1)
        sizes: ArrayLike | None = None
        if dimensions is not None:
            sizes = [dimensions[self.problems[row]] for row in np.flatnonzero(whole)]
        return self._named(data_profiles(costs[whole], sizes))

    def ecdf(self, strategy: str, clock: Clock = "seconds") -> Distribution:
        """Make the ECDF of a strategy over all triples of problem, seed and target."""
        if strategy not in self.strategies:
            raise RequestError(f"there is no run of {strategy!r}; strategies are {', '.join(self.strategies)}.")
        parts = [score.times[clock] for (_, name), score in self.scores.items() if name == strategy]
        never = [(count, len(self.targets)) for (_, name), count in self.not_applicable.items() if name == strategy]
        return ecdf([*parts, *(np.full(shape, math.inf) for shape in never)])

    def _place(self, target: float) -> int:
        if target not in self.targets:
            raise RequestError(f"{target!r} is no target of these statistics, which are {list(self.targets)}.")
        return self.targets.index(target)

    def _named(self, profiles: Iterable[Distribution]) -> dict[str, Distribution]:
        return dict(zip(self.strategies, profiles, strict=True))

    def _table(self, value: Callable[[Score], float]) -> Matrix:
        return table_of(self.scores, self.problems, self.strategies, value)


def table_of(
    scores: Mapping[tuple[str, str], Score],
    problems: Sequence[str],
    strategies: Sequence[str],
    value: Callable[[Score], float],
) -> Matrix:
    """Table a value of scores, problems times strategies; not a number where there was no run."""
    rows = [
        [value(scores[problem, name]) if (problem, name) in scores else math.nan for name in strategies]
        for problem in problems
    ]
    return np.array(rows, float).reshape(len(problems), len(strategies))
