"""Large neighbourhoods: all settings of some sites that are near to one another, instead of one site at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..oracle import BudgetSpent, Oracle
from ..oracle_share import Share
from ..protocols import Decision, Problem, Walk
from ..result import Budget, Result
from ..running import require_fields
from ..search import Annealing, starting_points

#: Flips of one run where no budget says how many, and per entry of the decision that are enough whatever time is left.
FLIPS, FLIPS_PER_ENTRY = 1_000_000, 100_000

#: Flips at which the search of one window aims by its width, and at which it is given up.
AIM, MOST = 1_500, 20_000

#: The flips of a window grow with its width about so.
GROWTH = 1.5

#: Entries of the first window; how fast the width follows the aim.
FIRST, PACE = 12.0, 0.05

#: Flips of a round, per entry of the decision.
ROUND = 5_000

#: How often an entry in which two good decisions differ is searched, on average.
MERGED = 3.0


@dataclass(frozen=True)
class Settled:
    """What it took to search a window.

    Parameters
    ----------
    flips
        Entries changed on the way.
    complete
        Whether every setting of the window was looked at, or ruled out.

    Examples
    --------
    >>> Settled(flips=30, complete=True).complete
    True
    """

    flips: int
    complete: bool


class WindowWalk(Walk, Protocol):
    """A walk over binary vectors that can put several entries into their best setting at once."""

    @property
    def width(self) -> int:
        """How many entries a window can hold."""

    def window(self, rng: np.random.Generator, size: int, among: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Draw entries that belong together, no more than `size`; of these, if some are given."""

    def settle(self, window: NDArray[np.int64], noise: NDArray[np.float64], most: int) -> Settled:
        """Put the entries of a window into their best feasible setting, at prices to which noise is added.

        Noise is in units of a typical price; it moves the walk, and is not in ``penalised``. At most `most` flips are
        made, which is at least three for each entry; if they do not suffice, the setting is the best of those seen.
        """


@runtime_checkable
class Windowed(Problem, Protocol):
    """A problem on which one can walk from window to window."""

    def start_windows(self, decision: Decision) -> WindowWalk: ...
    def window_refusal(self) -> str | None: ...


@dataclass(frozen=True)
class LargeNeighbourhood:
    r"""Put windows of neighbouring sites into their best setting, one by one.

    This is large neighbourhood search [1]_. A window is a site and those nearest to it; all others stay as they
    are. Its best setting is found by a search that goes through all of them and leaves out what cannot be better,
    flip by flip. To every price in the window noise is added, of standard deviation `temperature` times a typical
    price, drawn anew for each window [2]_: equal settings take turns, and now and then one that is slightly worse
    is taken.

    The run goes in rounds of 5000 flips for each site. A round begins with a short annealing, goes on with windows from
    where that ended, and closes with windows of those sites alone in which its best decision differs from the best of
    all rounds: what is good in either is joined [3]_.

    ``extra`` has the number of ``windows``, their last ``width``, and the ``rounds`` that were finished.

    Parameters
    ----------
    width
        Sites of a window. By default as many as 1500 flips suffice for, found on the way.
    temperature
        Of the noise, in typical prices of a site. 0: windows are never made worse.
    start
        Part of a round that annealing has. 0: all rounds go on from the best decision.

    References
    ----------
    .. [1] P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems",
       *Principles and Practice of Constraint Programming, CP98* (1998) 417-431.
    .. [2] I. Charon and O. Hudry, "The noising method: a new method for combinatorial optimization",
       *Operations Research Letters* 14 (1993) 133-137.
    .. [3] F. Glover, M. Laguna and R. Marti, "Fundamentals of scatter search and path relinking",
       *Control and Cybernetics* 29 (2000) 653-684.

    Examples
    --------
    Any problem with such a walk will do; in `optmodels`, those of kind "placement" have one.

    >>> LargeNeighbourhood(width=12).temperature
    0.1
    """

    width: int | None = None
    temperature: float = 0.1
    start: float = 0.5

    name: ClassVar[str] = "large-neighbourhood"
    needs: ClassVar[type] = Windowed
    tunable: ClassVar[Mapping[str, str]] = {"temperature": "0.01..0.5:log", "start": "0..0.5"}

    def __post_init__(self) -> None:
        require_fields(
            self,
            width=(self.width is None or self.width >= 1, "1 or more"),
            temperature=(math.isfinite(self.temperature) and self.temperature >= 0, "0 or more"),
            start=(0 <= self.start < 1, "0 or more, and below 1"),
        )

    def refuses(self, problem: Any) -> str | None:
        """Refuse what the problem refuses."""
        sentence: str | None = problem.window_refusal()
        return sentence

    def solve(self, oracle: Oracle[Windowed], rng: np.random.Generator) -> Result:
        """Find a start, then go from window to window."""
        Windows(self, oracle, rng).run()
        return oracle.result()


class Windows:
    """One run: rounds of annealing, of windows from where that ended, and of windows between two good decisions.

    Parameters
    ----------
    strategy
        Its parameters.
    oracle
        Who is asked, and pays.
    rng
        Draws windows and noise.
    """

    def __init__(self, strategy: LargeNeighbourhood, oracle: Oracle[Windowed], rng: np.random.Generator) -> None:
        self.strategy, self.oracle, self.rng = strategy, oracle, rng
        self.timed = math.isfinite(oracle.remaining_seconds)
        self.limited = self.timed or math.isfinite(oracle.remaining_evaluations)
        self.size = float(strategy.width or FIRST)
        self.done = self.rounds = 0
        self.settled = False  # whether one window held all there is
        self.walk: WindowWalk
        self.lowest: tuple[float, Decision] | None = None  # of this round

    def run(self) -> None:
        """Go on until the budget or what is enough is spent, or one window holds all there is."""
        oracle = self.oracle
        start = next(starting_points(oracle.problem, self.rng))
        oracle(start)
        entries = len(start)
        enough = oracle.evaluations + (FLIPS_PER_ENTRY * entries if self.limited else FLIPS)
        while oracle.evaluations < enough and not self.settled:
            before, room = oracle.best, ROUND * entries
            until = min(enough, oracle.evaluations + room)
            found = self.anneal(start, room)
            self.lowest = None
            self.stand(found)
            while oracle.evaluations < until and not self.settled:
                self.step()
            if before is not None and self.lowest is not None:
                self.merge(before.decision, self.lowest[1])
            self.rounds += 1

    def anneal(self, start: Decision, room: float) -> Decision:
        """Find a decision to begin a round with, by annealing for a part of its flips, and of what time there is."""
        oracle, part = self.oracle, self.strategy.start
        if part == 0:
            return start if oracle.best is None else oracle.best.decision
        evaluations = max(1, int(part * min(room, oracle.remaining_evaluations)))
        seconds = part * oracle.remaining_seconds if self.timed else None
        share: Share[Windowed] = Share(oracle, oracle.problem, Budget(seconds=seconds, evaluations=evaluations))
        try:
            Annealing().solve(cast(Oracle[Problem], share), self.rng)
        except BudgetSpent:  # what is spent is the share; the next question to the oracle tells of the whole
            oracle.require()
        return start if share.best is None else share.best.decision

    def stand(self, decision: Decision) -> None:
        """Go to a decision."""
        self.oracle(decision)
        self.walk = self.oracle.problem.start_windows(decision)

    def merge(self, one: Decision, other: Decision) -> None:
        """Look for the best of all decisions between two: windows hold entries in which they differ."""
        apart = np.flatnonzero(np.asarray(one) != np.asarray(other))
        if len(apart) == 0 or self.settled:
            return
        best = self.oracle.best
        self.stand(one if best is None else best.decision)
        for _ in range(math.ceil(MERGED * len(apart) / self.size)):
            self.step(apart)

    def step(self, among: NDArray[np.int64] | None = None) -> None:
        """Search one window, of these entries or any."""
        oracle, walk = self.oracle, self.walk
        oracle.require()
        room = int(min(MOST, oracle.remaining_evaluations))
        fits = int(math.log(max(3, room) / 2, GROWTH))
        size = max(1, min(round(self.size), room // 3, fits))
        window = walk.window(self.rng, size, among)
        whole = len(window) == walk.width
        if room < 3:
            walk.flip(int(window[0]))
            flips = 1
        else:
            noise = self.strategy.temperature * self.rng.standard_normal(len(window))
            settled = walk.settle(window, 0.0 * noise if whole or among is not None else noise, room)
            flips = settled.flips
            self.settled = whole and settled.complete
            if among is None and self.strategy.width is None and size == round(self.size):
                self.adapt(flips, walk.width)
        oracle.charge(flips)
        self.done += 1
        oracle.extra |= {"windows": self.done, "width": round(self.size), "rounds": self.rounds}
        if not walk.feasible:
            return
        here, best = walk.penalised, oracle.best
        if best is None or here < best.evaluation.objective:
            oracle.confirm(walk.current, here, abs(here))
        if self.lowest is None or here < self.lowest[0]:
            self.lowest = here, walk.current

    def adapt(self, flips: int, most: int) -> None:
        """Make windows wider if they are searched quickly, narrower if not."""
        step = PACE * max(-4.0, min(4.0, math.log2(AIM / max(1, flips))))
        self.size = min(max(2.0, self.size + step), float(most))
