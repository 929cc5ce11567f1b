"""The queue that is simulated: its data as plain arrays, and as the tables the compiled events read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...simulation import PhaseLaw, Vector, chain_tables, law_of
from .kernel import Rules

ADMISSIONS = ("partial", "whole-batch", "complete")
ORDERS = ("first", "last", "random")


@dataclass(frozen=True, eq=False)
class SimulatedQueue:
    """One server, robots switched by the number of pages in the system.

    Parameters
    ----------
    arrivals
        for each mode, in rising number of robots, the matrices D_0, D_1, ..., D_m.
    service
        time of serving a page.
    patience
        time a page may wait before it goes out of date: phases, a constant, or None for ever.
    thresholds
        one fewer than modes, not decreasing: the mode with the most robots is in force with up to thresholds[0] pages,
        the next with up to thresholds[1], ...; above all, that with the fewest.
    capacity
        most pages in the system, the one in service included.
    admission
        `"partial"`: as many pages of a batch enter as there is room for; `"whole-batch"`: all or none; `"complete"`:
        all if there are fewer than `capacity`.
    robots
        by mode; 1, 2, ... unless said.
    order
        who is served next: the `"first"` to have come, the `"last"`, or one at `"random"`.
    """

    arrivals: Sequence[Sequence[ArrayLike]]
    service: PhaseLaw
    patience: PhaseLaw | float | None
    thresholds: Sequence[int]
    capacity: int
    admission: str = "partial"
    robots: Sequence[int] | None = None
    order: str = "first"

    def __post_init__(self) -> None:
        for name, value, known in (("admission", self.admission, ADMISSIONS), ("order", self.order, ORDERS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, but it is {value!r}; name one.")
        if self.capacity < 1:
            raise ValueError(f"capacity must be 1 or more, but it is {self.capacity!r}; make room for a page.")
        limits = list(self.thresholds)
        if len(limits) != len(self.arrivals) - 1 or limits != sorted(limits):
            raise ValueError(
                f"{len(self.arrivals)} modes need {len(self.arrivals) - 1} thresholds that do not decrease, but "
                f"{tuple(limits)} came; give as many."
            )
        object.__setattr__(self, "rules", self._rules())

    rules: Rules = field(init=False, repr=False)

    @cached_property
    def top(self) -> int:
        """Most pages there can be in the system."""
        largest = max(len(blocks) for blocks in self.arrivals) - 1
        return self.capacity if self.admission != "complete" else self.capacity - 1 + max(1, largest)

    @cached_property
    def shortest(self) -> float:
        """The shortest of the mean times of service, of patience, and to the next move of the arrivals."""
        means = [_mean(self.service), _mean(self.patience)]
        fastest = float(self.rules.rates.max())
        return min(means + ([1 / fastest] if fastest > 0 else []))

    @cached_property
    def slowest(self) -> float:
        """The longest mean stay of the chain behind the arrivals in one of its phases; 0 where it has but one."""
        together = np.max([np.sum([np.asarray(block) for block in blocks], axis=0) for blocks in self.arrivals], axis=0)
        phases = len(together)
        leaving = (together * (1 - np.eye(phases))).sum(axis=1)
        return float(1 / leaving.min()) if phases > 1 and leaving.min() > 0 else 0.0

    @cached_property
    def robots_by_level(self) -> Vector:
        """Number of active robots with 0, 1, ... pages."""
        numbers = range(1, len(self.arrivals) + 1) if self.robots is None else self.robots
        return np.array(list(numbers), dtype=np.float64)[self.rules.modes]

    def _rules(self) -> Rules:
        rates, moves = chain_tables(self.arrivals)
        pages = np.minimum(np.arange(self.top + 1), self.capacity)
        passed = np.array([pages > limit for limit in self.thresholds], dtype=np.int64).reshape(-1, len(pages))
        return Rules(
            rates=rates,
            moves=moves,
            modes=len(self.arrivals) - 1 - passed.sum(axis=0),
            service=law_of("service", self.service),
            patience=law_of("patience", self.patience),
            capacity=self.capacity,
            admission=ADMISSIONS.index(self.admission),
            order=ORDERS.index(self.order),
        )


def _mean(given: PhaseLaw | float | None) -> float:
    if given is None:
        return math.inf
    if isinstance(given, int | float):
        return float(given)
    initial, generator = (np.asarray(part, dtype=np.float64) for part in (given.initial, given.generator))
    return float(initial @ np.linalg.solve(-generator, np.ones(len(initial))))
