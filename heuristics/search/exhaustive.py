r"""Every decision of a finite space.

Binary vectors of problems that offer small steps are walked in the order of the reflected Gray code: step k = 1, 2, ...
flips the entry whose place, counted from the last, is that of the lowest set bit of k, and :math:`2^n - 1` such steps
from any vector lead through all others, each once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .. import clock
from ..oracle import Oracle
from ..protocols import Bounded, Decision, Followed, Incremental, Problem, Repairable, Suggesting, Walk
from ..result import Result
from ..running import require_fields
from ..spaces import BinaryVectors

#: Seconds that one batch may take: time limits are looked at between batches.
BATCH_SECONDS, LARGEST_BATCH = 0.05, 4096

#: Suggestions of the problem looked at for a feasible one to begin with.
SUGGESTIONS = 20


@runtime_checkable
class Sweeping(Walk, Protocol):
    """A walk that can be led through all decisions."""

    def sweep(self, flips: NDArray[np.int64], below: float) -> Followed:
        """Flip these entries one after the other, and tell the best feasible decision met below a level.

        Its objective must be as accurate as that of the evaluator: nothing may be lost by rounding on the way.
        """


@dataclass(frozen=True)
class Exhaustive:
    """Evaluate every decision of a finite space and prove the best of them optimal.

    The first feasible decision that the problem suggests (or repairs) comes first, so that a run cut short has an
    answer. The others follow in the order of the space or, where the problem offers a walk that can be led through
    binary vectors (`Sweeping`), in the order of the Gray code from there; every better one met is evaluated in full. Of
    several best decisions the one met first is the answer.

    A space that says it is not ``complete`` lists some of its decisions only; then the best of these is optimal if the
    problem's own lower bound says so.

    Parameters
    ----------
    largest
        Larger spaces are refused.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Knapsack
    >>> result = run(Knapsack(), Exhaustive())
    >>> result.status.value, result.objective
    ('optimal', -18.0)
    """

    largest: int = 1_000_000_000

    name: ClassVar[str] = "exhaustive"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_fields(self, largest=(self.largest >= 1, "1 or more"))

    def refuses(self, problem: Problem) -> str | None:
        """Refuse a continuum and spaces of more than `largest` decisions."""
        size = problem.space.size
        if size <= self.largest:
            return None
        found = "infinitely many decisions" if size == math.inf else f"{spelled(int(size))} decisions"
        if isinstance(problem.space, BinaryVectors):
            found += f" (2^{len(problem.space.free)})"
        most = spelled(self.largest)
        return f"strategy 'exhaustive' evaluates at most {most} decisions, and {problem.name!r} has {found}."

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Ask about all decisions: step by step, or in batches so that problems can share work."""
        problem = oracle.problem
        first = _first_feasible(oracle)
        walk: Walk | None = None
        if isinstance(problem, Incremental) and isinstance(problem.space, BinaryVectors):
            space = problem.space
            start: Decision = space.repair((0,) * space.length) if first is None else first
            walk = problem.start(start)
        if isinstance(walk, Sweeping):
            oracle(start)
            sweep_all(oracle, walk, np.array(space.free, np.int64))
        else:
            evaluate_all(oracle)
        if getattr(oracle.problem.space, "complete", True):
            return oracle.result(proved=True)
        if isinstance(oracle.problem, Bounded):
            oracle.report(bound=oracle.problem.lower_bound())
        told = "all decisions that the space lists were evaluated, but there are others"
        return oracle.result(extra={} if oracle.settled else {"unproved": told})


def gray_flips(length: int, first: int, stop: int) -> NDArray[np.int64]:
    """List the entries flipped in the steps from `first` on, before `stop`, of the Gray code of vectors of a length.

    >>> gray_flips(3, 1, 8).tolist()
    [2, 1, 2, 0, 2, 1, 2]
    """
    steps = np.arange(first, stop, dtype=np.int64)
    places: NDArray[np.int64] = np.frexp((steps & -steps).astype(float))[1].astype(np.int64)
    return length - places


def _first_feasible(oracle: Oracle[Problem]) -> Decision | None:
    """Find the first feasible decision among some that the problem suggests; always the same, whatever the seed."""
    for decision in islice(_suggested(oracle.problem), SUGGESTIONS):
        if oracle.many([decision])[0].feasible:  # as all others will be evaluated
            return oracle.problem.space.check(decision)
    return None


def _suggested(problem: Problem) -> Iterator[Decision]:
    """Yield what the problem suggests, or a random decision that it repairs."""
    rng = np.random.default_rng(0)
    if isinstance(problem, Suggesting):
        yield from problem.suggestions(rng)
    elif isinstance(problem, Repairable):
        yield problem.repair(problem.space.sample(rng), rng)


def sweep_all(oracle: Oracle[Problem], walk: Sweeping, free: NDArray[np.int64]) -> None:
    """Walk through all decisions, slice by slice; slices have one size unless there is a clock to be kept.

    Parameters
    ----------
    oracle
        Of the run; better decisions met on the way are shown to it.
    walk
        Where it stands does not matter: all other decisions follow in the order of the Gray code.
    free
        Entries of a decision that may change.
    """
    length = len(free)
    timed = math.isfinite(oracle.remaining_seconds)
    size, step, last = 64 if timed else LARGEST_BATCH, 1, 1 << length
    while step < last:
        oracle.require()
        began = clock.now()
        stop = step + int(min(size, last - step, oracle.remaining_evaluations))
        best = oracle.best
        swept = walk.sweep(
            free[gray_flips(length, step, stop)], math.inf if best is None else best.evaluation.objective
        )
        oracle.charge(stop - step)
        step = stop
        if swept.best is not None:
            oracle.confirm(swept.best, swept.lowest)
        elif best is None:
            oracle.confirm(walk.current)  # nothing feasible yet: how far from it
        if timed and 2 * (clock.now() - began) < BATCH_SECONDS:
            size = min(2 * size, 4 * LARGEST_BATCH)


def evaluate_all(oracle: Oracle[Problem]) -> None:
    """Go through the space in its own order, in batches.

    Parameters
    ----------
    oracle
        Of the run; every decision is shown to it.
    """
    decisions = iter(oracle.problem.space)
    count = 16
    while batch := list(islice(decisions, count)):
        began = clock.now()
        oracle.many(batch)
        if 2 * (clock.now() - began) < BATCH_SECONDS:
            count = min(2 * count, LARGEST_BATCH)


def spelled(size: int) -> str:
    """Write a whole number in the way people read it, also where it is beyond floating point.

    Parameters
    ----------
    size
        Zero or more.

    Returns
    -------
    str
        All digits below a million, else three of them and a power of ten.

    Examples
    --------
    >>> spelled(4096), spelled(2**242)
    ('4096', '7.07e+72')
    """
    if size < 1_000_000:
        return str(size)
    # With log10(2), rounded up, the digits of a number are counted, or one less.
    exponent = max(0, size.bit_length() * 301_030 // 1_000_000 - 20)
    mantissa, power = f"{size // 10**exponent:.2e}".split("e")
    return f"{mantissa}e+{int(power) + exponent:02d}".replace(".00e", "e")
