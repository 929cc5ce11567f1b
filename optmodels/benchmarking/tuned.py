"""What tuning found: the configurations in the order in which they fell, and what the test says of the winner."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heuristics import Budget

from ..data import columns
from ..results import plain
from ..solving import versions
from ..statistics import FEWEST_DIFFERENT, PairedTest, Standing, Statistics, judge, percent
from ..studies import Comparison
from .tuning_race import Entrant, Race

#: What the test says: of the winner against the strategy as it was.
BETTER, WORSE, NOT_SHOWN, NO_TEST, DEFAULT, INTERRUPTED = (
    "better",
    "worse",
    "not shown to be better",
    "too few pairs for a test",
    "the default wins",
    "interrupted",
)


@dataclass(frozen=True, repr=False)
class Tuning:
    """A race on training instances, and the winner beside the default on test instances.

    Parameters
    ----------
    default
        The strategy before tuning, as text.
    ranges
        What was varied, as text.
    chosen
        Name of the benchmark set; ``None`` of a list.
    training, test
        Names of the instances; none is in both.
    left_out
        Names of instances that the strategy does not take.
    budget
        Limits of each run.
    allowed
        Runs that were allowed.
    seed
        Of everything that was drawn.
    race
        Who fell when.
    comparison
        The runs of the test; ``None`` if there was none.
    warnings
        Sentences of the comparisons.
    """

    default: str
    ranges: Mapping[str, str]
    chosen: str | None
    training: tuple[str, ...]
    test: tuple[str, ...]
    left_out: tuple[str, ...]
    budget: Budget
    allowed: int
    seed: int
    race: Race
    comparison: Comparison | None = None
    warnings: tuple[str, ...] = ()

    @property
    def winner(self) -> str:
        """The configuration that won the race, or leads it, as text that can be pasted."""
        return self.race.winner

    @property
    def complete(self) -> bool:
        """Whether nobody interrupted."""
        return self.race.complete and (self.comparison is None or self.comparison.complete)

    @property
    def training_runs(self) -> int:
        """Runs of the race."""
        return self.race.runs

    @property
    def test_runs(self) -> int:
        """Runs of the test."""
        return 0 if self.comparison is None else len(self.comparison.runs)

    @cached_property
    def statistics(self) -> Statistics | None:
        """What the referee says of the test."""
        return judge(self.comparison) if self.comparison is not None and self.comparison.complete else None

    @property
    def pair(self) -> PairedTest | None:
        """The default against the winner on the test instances."""
        return self.statistics.tests[0] if self.statistics is not None and self.statistics.tests else None

    @property
    def verdict(self) -> str:
        """What the test says of the winner, in a few words."""
        if not self.complete:
            return INTERRUPTED
        test = self.pair
        if test is None:
            return DEFAULT
        if test.p_value is None:
            return NO_TEST
        return {self.winner: BETTER, self.default: WORSE}.get(test.winner or "", NOT_SHOWN)

    def table(self) -> str:
        """Write a line for each configuration: the winner first, then who fell last."""
        rows = [["configuration", "fell in", "by", "blocks", "mean rank", "gap"]]
        for one in self.race.entrants:
            fell = f"round {one.fell}" if one.fell else "winner" if self.race.complete else "racing"
            rank = "-" if one.mean_rank is None else f"{one.mean_rank:.2f}"
            gap = "-" if one.median_gap is None else percent(one.median_gap)
            by = one.reason if one.p_value is None else f"{one.reason}, p = {one.p_value:.2g}"
            label = f"{one.label} (default)" if one.label == self.default else one.label
            rows.append([label, fell, by, str(one.blocks), rank, gap])
        return columns(rows)

    def report(self) -> str:
        """Write what people read: the budget, the table, the winner, and the test in words."""
        return "\n\n".join([self._head(), self.table(), self.winner, "\n".join(self.sentences())])

    def sentences(self) -> tuple[str, ...]:
        """Say what the test shows, and no more."""
        if self.verdict == INTERRUPTED:
            what = "test" if self.race.complete else f"race, in round {self.race.rounds},"
            return (f"The {what} was interrupted: {self.winner} leads so far, and nothing is shown.",)
        if self.verdict == DEFAULT:
            return (
                f"The default, {self.default}, won the race: nothing better was found, and no test was needed.",
                f"{self.allowed - self.training_runs} runs were not used.",
            )
        assert self.statistics is not None and self.pair is not None
        return (self._verdict(self.pair), *map(self._standing, self.statistics.standings.values()), *self._doubts())

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object; with limits by evaluations, the same for the same seed."""
        told = None
        if self.statistics is not None and self.pair is not None:
            told = {
                "instances": list(self.test),
                "seeds": max(score.runs for score in self.statistics.scores.values()),
                "median_gap": {name: _number(one.median_gap) for name, one in self.statistics.standings.items()},
                "interval": {name: _interval(one) for name, one in self.statistics.standings.items()},
                "worst_gap": {name: _number(one.worst_gap) for name, one in self.statistics.standings.items()},
                "by_instance": {
                    f"{problem}": {
                        name: _number(self.statistics.scores[problem, name].median_gap)
                        for name in self.statistics.strategies
                    }
                    for problem in self.statistics.problems
                },
                "wins": self.pair.losses,
                "losses": self.pair.wins,
                "ties": self.pair.ties,
                "effect": self.pair.effect,
                "p_value": self.pair.p_value,
            }
        return {
            "format": 1,
            "default": self.default,
            "ranges": dict(self.ranges),
            "set": self.chosen,
            "seed": self.seed,
            "budget": {"seconds": self.budget.seconds, "evaluations": self.budget.evaluations},
            "runs": {"allowed": self.allowed, "training": self.training_runs, "test": self.test_runs},
            "training": list(self.training),
            "left_out": list(self.left_out),
            "rounds": self.race.rounds,
            "configurations": [_entrant(one) for one in self.race.entrants],
            "winner": self.winner,
            "test": told,
            "verdict": self.verdict,
            "sentences": list(self.sentences()),
            "complete": self.complete,
            "versions": versions(),
        }

    def __repr__(self) -> str:
        return f"<Tuning of {self.default}: {self.winner}, {self.verdict}>"

    def _head(self) -> str:
        limits = [f"{self.budget.seconds:g} s"] if self.budget.seconds is not None else []
        limits += [f"{self.budget.evaluations} evaluations"] if self.budget.evaluations is not None else []
        on = f" of {self.chosen}" if self.chosen else ""
        left = f", {len(self.left_out)} that it does not take left out" if self.left_out else ""
        varied = ", ".join(f"{name}={text}" for name, text in self.ranges.items())
        rounds = "1 round" if self.race.rounds == 1 else f"{self.race.rounds} rounds"
        return (
            f"{self.default}: {len(self.race.entrants)} configurations over {varied}\n"
            f"{len(self.training)} training and {len(self.test)} test instances{on}, divided by seed {self.seed}"
            f"{left}\n{self.training_runs} runs in {rounds} and {self.test_runs} in the test, of {self.allowed} "
            f"allowed; each run {' or '.join(limits)}"
        )

    def _verdict(self, test: PairedTest) -> str:
        equal = f", equal on {test.ties}" if test.ties else ""
        tally = f"lower on {test.losses}, higher on {test.wins}{equal} of {test.pairs} test instances"
        said = f"the median gap of the tuned configuration is {tally}"
        sure = "" if test.p_value is None else f" (Wilcoxon signed rank, p = {test.p_value:.2g})"
        if self.verdict == BETTER:
            return f"The tuned configuration is better than the default: {said}{sure}."
        if self.verdict == WORSE:
            return f"The tuned configuration is worse than the default, keep the default: {said}{sure}."
        if self.verdict == NO_TEST:
            return (
                f"Nothing is shown, keep the default: {said}, and a test needs {FEWEST_DIFFERENT} instances that "
                "differ."
            )
        return f"The tuned configuration is not shown to be better, keep the default: {said}{sure}."

    def _standing(self, standing: Standing) -> str:
        who = "Default" if standing.strategy == self.default else "Tuned"
        said = f"{who}: median gap {percent(standing.median_gap)}"
        if standing.interval is not None:
            low, high = percent(standing.interval.low), percent(standing.interval.high)
            said += f" ({100 * standing.interval.confidence:.2g}% interval {low} to {high})"
        failed = standing.failed + standing.unanswered
        lost = f"; {failed} of {standing.runs} runs without an answer" if failed else ""
        return f"{said}, worst {percent(standing.worst_gap)}{lost}."

    def _doubts(self) -> list[str]:
        assert self.statistics is not None
        seen = sum(not one.proved for one in self.statistics.references.values())
        if not seen:
            return []
        return [f"Gaps are to the best value known, which is not proved to be optimal on {seen} of {len(self.test)}."]


def _entrant(one: Entrant) -> dict[str, Any]:
    told: dict[str, Any] = plain(vars(one) | {"median_gap": _number(one.median_gap)})
    return told


def _interval(standing: Standing) -> list[float | None] | None:
    one = standing.interval
    return None if one is None else [_number(one.low), _number(one.high)]


def _number(value: float | None) -> float | None:
    """Leave out what JSON cannot say: a gap without an answer."""
    return None if value is None or not math.isfinite(value) else value
