"""A race of configurations: successive halving on the same blocks for all, with a paired test.

A *block* is a training instance with a seed. All configurations that are still in the race are run on the same blocks,
so that they differ by nothing but their parameters. After each round they are ranked on every block, and

- the worse half falls, by mean rank over all blocks so far (successive halving: Karnin et al. 2013);
- of the better half those fall, too, that the Wilcoxon signed-rank test, corrected after Holm, shows to be worse than
  the leader (the test of a race: Maron and Moore 1997, Birattari et al. 2002).

Each round has an equal share of the runs that are left, so the fewer configurations remain, the more blocks each has,
and what the test saves is spent on the others. The test decides only whom to drop: it is repeated and made of the
blocks that chose the leader, so it shows nothing about new instances, for which there are test instances.

References
----------
.. [1] Z. Karnin, T. Koren, O. Somekh, "Almost optimal exploration in multi-armed bandits", ICML (2013) 1238-1246.
.. [2] O. Maron, A. W. Moore, "The racing algorithm: model selection for lazy learners", Artificial Intelligence Review
   11 (1997) 193-225.
.. [3] M. Birattari, T. Stuetzle, L. Paquete, K. Varrentrapp, "A racing algorithm for configuring metaheuristics",
   GECCO (2002) 11-18.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heuristics import relative_gap

from ..statistics import LEVEL, holm, mean_ranks_of, signed_rank

#: Blocks that each configuration has in the first round, at least.
FIRST_BLOCKS = 4

#: Runs of some configurations on some blocks: what they found, by configuration and block. Less: somebody interrupted.
Ask = Callable[[Sequence[str], range, int], Mapping[tuple[str, int], float]]

#: Why a configuration fell.
WORSE_HALF, TESTED = "worse half", "paired test"


@dataclass(frozen=True)
class Entrant:
    """A configuration in a race.

    Parameters
    ----------
    label
        The strategy as text.
    blocks
        On how many it was run.
    mean_rank, median_gap
        When it fell, or at the end: its mean rank among those in the race, and its gap to the best value seen in the
        race on the instance of each block (the distance, if that value is 0); ``None`` without a block that all in the
        race had.
    fell
        Round in which it fell; ``None``: it is the winner, or in the race still.
    reason
        Why it fell; empty if it did not.
    p_value
        Of the paired test against the leader that made it fall, corrected.
    """

    label: str
    blocks: int
    mean_rank: float | None = None
    median_gap: float | None = None
    fell: int | None = None
    reason: str = ""
    p_value: float | None = None


@dataclass(frozen=True)
class Race:
    """What became of a race.

    Parameters
    ----------
    entrants
        The winner first, then who fell last.
    rounds
        How many were run.
    runs
        How many were made.
    complete
        ``False`` if it was interrupted: the first is then the best so far.
    """

    entrants: tuple[Entrant, ...]
    rounds: int
    runs: int
    complete: bool = True

    @property
    def winner(self) -> str:
        """The strategy that won, as text."""
        return self.entrants[0].label


def field_size(runs: int, most: float, first_blocks: int = FIRST_BLOCKS) -> int:
    """Choose how many configurations enter a race.

    Parameters
    ----------
    runs
        That the race may make.
    most
        Configurations that there are.
    first_blocks
        Blocks that each has in the first round, at least.

    Returns
    -------
    int
        The largest number for which every round has runs enough; less than 2 if not even a race of two has.

    Examples
    --------
    >>> field_size(200, 1e9), field_size(7, 1e9), field_size(200, 2)
    (12, 1, 2)
    """
    count = 1
    while count + 1 <= most and (count + 1) * first_blocks * rounds_of(count + 1) <= runs:
        count += 1
    return count


def rounds_of(count: int) -> int:
    """Count the rounds until one is left, if half of them fall in each."""
    return math.ceil(math.log2(count))


def run_race(labels: Sequence[str], instances: Sequence[str], ask: Ask, runs: int) -> Race:
    """Race configurations until one is left.

    Parameters
    ----------
    labels
        The configurations, that of the default first: it wins ties.
    instances
        The instance of each block, in the order in which blocks are used; when they are used up, the race is decided.
    ask
        Makes runs: called with configurations, blocks and the number of the round.
    runs
        That may be made, never exceeded.

    Returns
    -------
    Race
        Everybody with the round in which they fell.
    """
    state = _State(list(labels), instances)
    fallen: list[Entrant] = []
    rounds = made = begun = 0
    while len(state.racing) > 1:
        count = len(state.racing)
        more = min((runs - made) // (rounds_of(count) * count), len(instances) - begun)
        if more == 0:
            break
        rounds += 1
        found = ask(state.racing, range(begun, begun + more), rounds)
        made += len(found)
        begun += more
        state.learn(found)
        if len(found) < more * count:
            return Race((*state.standing(), *fallen), rounds, made, complete=False)
        fallen = [*state.drop(rounds), *fallen]
    last = state.last if len(state.racing) == 1 else state.standing()
    decided = [replace(one, fell=rounds, reason=WORSE_HALF) for one in last[1:]]  # out of blocks
    return Race((last[0], *decided, *fallen), rounds, made)


@dataclass
class _State:
    """Who is in the race, and what everybody found."""

    racing: list[str]
    instances: Sequence[str]
    values: dict[str, dict[int, float]] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    last: list[Entrant] = field(default_factory=list)

    def learn(self, found: Mapping[tuple[str, int], float]) -> None:
        """Take in what runs found."""
        for (label, block), value in found.items():
            self.values.setdefault(label, {})[block] = value
            instance = self.instances[block]
            self.best[instance] = min(self.best.get(instance, math.inf), value)

    def gaps(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Return gaps of those in the race, a row each, on the blocks that all of them had."""
        had = [set(self.values.get(label, ())) for label in self.racing]
        blocks = sorted(set.intersection(*had))
        rows = [[self._gap(self.values[label][block], block) for block in blocks] for label in self.racing]
        return np.array(rows, float).reshape(len(self.racing), len(blocks))

    def _gap(self, value: float, block: int) -> float:
        best = self.best[self.instances[block]]
        if not math.isfinite(value):
            return math.inf
        return relative_gap(value, best) if best else value  # nothing is relative to 0

    def standing(self) -> list[Entrant]:
        """Tell how those in the race stand, the leader first."""
        gaps = self.gaps()
        if not gaps.shape[1]:
            return [Entrant(label, len(self.values.get(label, ()))) for label in self.racing]
        ranks = np.mean([mean_ranks_of(column) for column in gaps.T], axis=0)
        medians = np.sort(gaps, axis=1)[:, (gaps.shape[1] - 1) // 2]  # the lower one: infinite values have no mean
        order = sorted(range(len(self.racing)), key=lambda place: (ranks[place], medians[place], place))
        return [
            Entrant(
                self.racing[place], len(self.values[self.racing[place]]), float(ranks[place]), float(medians[place])
            )
            for place in order
        ]

    def drop(self, number: int) -> list[Entrant]:
        """Let the worse half fall, and who is shown to be worse than the leader; return them, the better first."""
        standing = self.standing()
        gaps = dict(zip(self.racing, self.gaps(), strict=True))
        kept = standing[: (len(standing) + 1) // 2]
        leader = gaps[kept[0].label]
        tests = [(one, signed_rank(leader, gaps[one.label])) for one in kept[1:]]
        made = [(one, test) for one, test in tests if test.p_value is not None]
        corrected = holm([test.p_value for _, test in made if test.p_value is not None])
        shown = {
            one.label: float(value)
            for (one, test), value in zip(made, corrected, strict=True)
            if value < LEVEL and (test.effect or 0.0) < 0
        }
        fallen = [
            replace(one, fell=number, reason=TESTED, p_value=shown[one.label]) for one in kept if one.label in shown
        ]
        fallen += [replace(one, fell=number, reason=WORSE_HALF) for one in standing[len(kept) :]]
        out = {one.label for one in fallen}
        self.racing = [label for label in self.racing if label not in out]
        self.last = [one for one in standing if one.label not in out]
        return fallen
