"""Simulated annealing on any discrete space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..oracle import Oracle
from ..oracle_walk import OracleWalk
from ..protocols import Decision, Incremental, Problem
from ..result import Result
from ..running import require_fields
from .common import LEAST_PENALTY, Slices, refuses_continuum, starting_points

#: Steps of one cooling where neither `steps` nor a budget says how many: on a walk, and with full evaluations.
WALK_STEPS, PLAIN_STEPS = 1_000_000, 20_000

#: Steps of one cooling per entry of the decision that are enough: small problems need not use up their time.
STEPS_PER_ENTRY = 100_000

#: Coolings in a row without a single new decision after which there is nothing left to look at.
SETTLED = 20

#: Moves drawn at once.
BLOCK = 4096

#: Moves sampled to find the temperatures, and the part of the budget this may take.
SAMPLES, SAMPLING_SHARE = 200, 0.05

#: Uphill moves of this quantile are taken with this probability: at the start, and at the end. The lower one is low
#: since a decision has hundreds of moves: at 0.01, walks ended 3 to 5 % above what they find now.
START, END = (0.25, 0.01), (0.05, 1e-6)

#: In the second half of a cooling the penalty of a walk that stands on broken constraints grows by this factor from
#: slice to slice, up to so many times the full one, and falls again where they are kept.
SEVERER, SEVEREST = 1.1, 1e6


@dataclass(frozen=True)
class Annealing:
    r"""Walk at random, uphill ever more rarely (simulated annealing), and keep the best decision.

    A move that changes the penalised objective by :math:`\Delta` is kept with probability
    :math:`\min(1, e^{-\Delta / T})`, that is if :math:`\Delta \le -T \ln U`. The temperature :math:`T` falls
    geometrically from `start_temperature` to `end_temperature` over a cooling. A cooling takes `steps` steps or, if
    these are not given, its share of the budget. The next cooling starts from the best decision known.

    On `Incremental` problems the problem's own moves are walked in bulk; elsewhere neighbours are evaluated one by one.
    Where walks can charge less for broken constraints (`Lenient`), the penalty rises from 0.03 of the full one to all
    of it over the first half of a cooling: *compressed* annealing [1]_. Over the second half it rises further as long
    as the walk stands on broken constraints: what it costs to keep them need not be known beforehand.

    The same seed gives the same answer unless the budget has a time limit: then the temperature follows the clock.

    Parameters
    ----------
    steps
        Steps per cooling. By default the budget is divided among the coolings, and 100 000 steps per entry of the
        decision are enough, whatever time is left; without a budget, 1 000 000 on a walk and 20 000 with full
        evaluations.
    coolings
        Number of coolings, fewer if the budget ends before or 20 in a row bring nothing new.
    start_temperature, end_temperature
        By default found from sampled moves.

    References
    ----------
    .. [1] J. W. Ohlmann, J. C. Bean, S. G. Henderson, "Convergence in probability of compressed annealing",
       *Mathematics of Operations Research* 29 (2004) 837-860.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Separable
    >>> run(Separable(), Annealing(steps=2000), seed=1).decision
    (1, 0, 1, 1, 0, 0, 1)
    """

    steps: int | None = None
    coolings: int = 1
    start_temperature: float | None = None
    end_temperature: float | None = None

    name: ClassVar[str] = "annealing"
    needs: ClassVar[type] = Problem
    tunable: ClassVar[Mapping[str, str]] = {
        "coolings": "1..30:log",
        "start_temperature": "none,0.01..10:log",  # of objectives between 1 and 1000, as those of most instances
        "end_temperature": "none,0.001..1:log",
    }

    def __post_init__(self) -> None:
        start, end = self.start_temperature, self.end_temperature
        require_fields(
            self,
            steps=(self.steps is None or self.steps >= 1, "1 or more"),
            coolings=(self.coolings >= 1, "1 or more"),
            start_temperature=(start is None or (math.isfinite(start) and start > 0), "a positive number"),
            end_temperature=(
                end is None or (math.isfinite(end) and 0 < end <= (math.inf if start is None else start)),
                "a positive number no larger than start_temperature",
            ),
        )

    def refuses(self, problem: Problem) -> str | None:
        """Refuse a continuum."""
        return refuses_continuum(self.name, problem)

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Cool once or more often."""
        walks = isinstance(oracle.problem, Incremental)
        chain: Chain | WalkingChain = (WalkingChain if walks else Chain)(oracle, rng)
        start_point = next(starting_points(oracle.problem, rng))
        chain.begin(start_point)
        enough = STEPS_PER_ENTRY * len(start_point)
        limited = oracle.budget.seconds is not None or oracle.budget.evaluations is not None
        steps = self.steps or (None if limited else WALK_STEPS if walks else PLAIN_STEPS)
        start, end = temperatures(chain.sampled_changes(), self.start_temperature, self.end_temperature)
        oracle.extra |= {"start_temperature": start, "end_temperature": end}
        done, idle = 0, 0
        while done < self.coolings:
            before = oracle.evaluations
            if done and oracle.best is not None:
                chain.begin(oracle.best.decision)
            chain.cool(start, end, Clock(oracle, steps, self.coolings - done, enough))
            done += 1
            oracle.extra["coolings"] = done
            idle = 0 if oracle.evaluations > before else idle + 1
            if idle == SETTLED:
                return oracle.result(stopped_by="settled")
        return oracle.result()


def temperatures(changes: NDArray[np.float64], start: float | None, end: float | None) -> tuple[float, float]:
    r"""Choose the range of temperatures: as given, otherwise from the uphill changes :math:`\Delta` among `changes`.

    The first one takes the lower quartile of them with probability 0.01, the last one the lowest twentieth with
    probability 1e-6: :math:`T = \Delta / \ln(1/p)`.
    """
    sizes = np.abs(changes[np.isfinite(changes) & (changes != 0)])
    uphill = changes[np.isfinite(changes) & (changes > 0)]
    if len(uphill) == 0:
        uphill = sizes if len(sizes) else np.ones(1)
    if start is None:
        start = max(float(np.quantile(uphill, START[0])) / math.log(1 / START[1]), end or 0.0)
    if end is None:
        end = min(start, float(np.quantile(uphill, END[0])) / math.log(1 / END[1]))
    return start, end


class Clock:
    """Tells how much of a cooling is over: by steps if their number is given, otherwise by the budget."""

    def __init__(self, oracle: Oracle[Problem], steps: int | None, coolings: int, enough: int) -> None:
        self.oracle, self.steps, self.enough = oracle, steps, enough
        evaluations = oracle.budget.evaluations
        share = math.inf if evaluations is None else max(1.0, (evaluations - oracle.evaluations) // coolings)
        if steps is None and oracle.budget.seconds is None:
            self.steps = int(min(enough, share))
        self.last = coolings == 1
        self.began, self.evaluations_at_start, self.done = oracle.seconds, oracle.evaluations, 0
        self.seconds, self.evaluations = max(oracle.remaining_seconds / coolings, 1e-9), share

    def left(self) -> float:
        """Tell how many steps are left in the cooling, at most."""
        if self.steps is not None:
            return self.steps - self.done
        if self.last:  # its end is left to the oracle, which then says why the run ended
            return self.enough - self.done
        if self.fraction() >= 1:
            return 0
        return min(self.enough - self.done, self.evaluations_at_start + self.evaluations - self.oracle.evaluations)

    def fraction(self) -> float:
        """Tell how much of the cooling is over, from 0 to 1."""
        if self.steps is not None:
            return min(1.0, self.done / self.steps)
        return min(
            1.0,
            max(
                self.done / self.enough,
                (self.oracle.seconds - self.began) / self.seconds,
                (self.oracle.evaluations - self.evaluations_at_start) / self.evaluations,
            ),
        )

    def fractions(self, count: int) -> NDArray[np.float64]:
        """Tell the same for each of the next `count` steps, which are then counted as done."""
        if self.steps is None:
            fractions = np.full(count, self.fraction())
        else:
            fractions = np.minimum(1.0, np.arange(self.done, self.done + count) / self.steps)
        self.done += count
        return fractions


class Chain:
    """A random walk over neighbours, each evaluated in full."""

    def __init__(self, oracle: Oracle[Problem], rng: np.random.Generator) -> None:
        self.oracle, self.rng = oracle, rng
        self.current: Decision = None
        self.penalised = math.inf

    def begin(self, decision: Decision) -> None:
        """Go to `decision`."""
        self.current, self.penalised = decision, self.oracle(decision).penalised

    def sampled_changes(self) -> NDArray[np.float64]:
        """Sample changes of the penalised objective under random moves, after some steps downhill.

        Far from a local optimum they would say nothing about the hills to come.
        """
        count = int(min(SAMPLES, SAMPLING_SHARE * self.oracle.remaining_evaluations / 5))
        until = self.oracle.seconds + SAMPLING_SHARE * self.oracle.remaining_seconds
        changes = []
        for tolerance in [0.0] * (4 * count) + [-math.inf] * count:
            changes.append(self.step(tolerance))
            if self.oracle.seconds > until:
                break
        return np.array(changes[-count:] if count else [], dtype=float)

    def cool(self, start: float, end: float, clock: Clock) -> None:
        """Walk through one cooling."""
        ratio = math.log(end / start)
        while clock.left() > 0:
            temperature = start * math.exp(ratio * float(clock.fractions(1)[0]))
            self.step(temperature * float(self.rng.standard_exponential()))

    def step(self, tolerance: float) -> float:
        """Try one neighbour and keep it if it costs no more than `tolerance`; return the change it makes."""
        neighbour = self.oracle.problem.space.neighbour(self.current, self.rng)
        judged = self.oracle(neighbour).penalised
        change = judged - self.penalised if judged != self.penalised else 0.0
        if change <= tolerance:
            self.current, self.penalised = neighbour, judged
        return change


class WalkingChain:
    """The same on the walk of an incremental problem, thousands of steps at a time."""

    def __init__(self, oracle: Oracle[Problem], rng: np.random.Generator) -> None:
        self.oracle, self.rng = oracle, rng
        self.walk: OracleWalk
        self.slices = Slices(oracle)
        self.severity = 1.0  # in full penalties

    def begin(self, decision: Decision) -> None:
        """Go to `decision`."""
        self.walk = self.oracle.walk(decision)

    def sampled_changes(self) -> NDArray[np.float64]:
        """Sample changes under random moves, after some steps downhill."""
        count = int(min(SAMPLES, SAMPLING_SHARE * self.oracle.remaining_evaluations / 8))
        if count == 0:
            return np.empty(0)
        until = self.oracle.seconds + SAMPLING_SHARE * self.oracle.remaining_seconds
        self.slices.descend(self.walk, self.walk.draw(self.rng, 4 * count), until=until)
        changes: list[float] = []
        for move in self.walk.draw(self.rng, count).tolist():
            indices = [index for index in move if index >= 0]
            changes.append(sum(self.walk.flip(index) for index in indices))
            for index in reversed(indices):
                self.walk.flip(index)
            if self.oracle.seconds > until:
                break
        return np.array(changes, dtype=float)

    def cool(self, start: float, end: float, clock: Clock) -> None:
        """Walk through one cooling."""
        ratio = math.log(end / start)
        self.severity = 1.0
        while clock.left() > 0:
            # Drawn in blocks of one size, so that the answer does not depend on how fast the blocks are followed.
            count = int(min(BLOCK, clock.left()))
            moves, exponentials = self.walk.draw(self.rng, count), self.rng.standard_exponential(count)
            at = 0
            while at < count and clock.left() > 0:
                some = slice(at, int(min(at + self.slices.size, at + clock.left(), count)))
                at = some.stop
                self.walk.weigh(self.severity * LEAST_PENALTY ** max(0.0, 1 - 2 * clock.fraction()))
                tolerances = start * np.exp(ratio * clock.fractions(some.stop - some.start)) * exponentials[some]
                self.slices.follow(self.walk, moves[some], tolerances)
                if clock.fraction() > 0.5:
                    factor = 1 / SEVERER if self.walk.feasible else SEVERER
                    self.severity = min(max(1.0, self.severity * factor), SEVEREST)
