"""Every decision of a finite space."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np

from . import clock
from .oracle import Oracle
from .policy_iteration import report_bound
from .protocols import Bounded, Problem
from .result import Result, Status
from .searching import require_fields
from .spaces import BinaryVectors

#: Seconds that one batch may take: time limits are looked at between batches.
BATCH_SECONDS, LARGEST_BATCH = 0.05, 4096


@dataclass(frozen=True)
class Exhaustive:
    """Evaluate every decision of a finite space, in the order of the space, and prove the best of them optimal.

    A space that says it is not ``complete`` lists some of its decisions only; then the best of these is optimal if the
    problem's own lower bound says so.

    Parameters
    ----------
    largest
        Larger spaces are refused.
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
            found += f" (2^{problem.space.length})"
        return (
            f"strategy 'exhaustive' takes at most {spelled(self.largest)} decisions, and {problem.name!r} has {found}."
        )

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Ask about all decisions, in batches so that problems can share work."""
        decisions = iter(oracle.problem.space)
        count = 16
        while batch := list(islice(decisions, count)):
            began = clock.now()
            oracle.many(batch)
            if 2 * (clock.now() - began) < BATCH_SECONDS:
                count = min(2 * count, LARGEST_BATCH)
        if getattr(oracle.problem.space, "complete", True):
            return oracle.result(proved=True)
        if isinstance(oracle.problem, Bounded):
            report_bound(oracle, oracle.problem.lower_bound())
        result = oracle.result()
        if result.status != Status.OPTIMAL:
            told = "all decisions that the space lists were judged, but there are others"
            return replace(result, extra={**result.extra, "unproved": told})
        return result


def spelled(size: int) -> str:
    """A whole number in the way people read it: 4096, 7.07e+72 (also where it is beyond floating point)."""
    if size < 1_000_000:
        return str(size)
    digits = (
        size.bit_length() * 301_030 // 1_000_000
    )  # log10(2), rounded up: one digit less than the number has, or as many
    exponent = max(0, digits - 20)
    scaled = size // 10**exponent
    mantissa, power = f"{scaled:.2e}".split("e")
    total = int(power) + exponent
    text = f"{mantissa}e+{total:02d}"
    return text.replace(".00e", "e")
