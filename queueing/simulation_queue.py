"""The queue that is simulated: its data as plain arrays, and as the tables the compiled events read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .simulation_kernel import CONSTANT, NEVER, PHASES, Law, Matrix, Rules, Vector

ADMISSIONS = ("partial", "whole-batch", "complete")
ORDERS = ("first", "last", "random")

#: Phases a drawn time may pass through on average; with more, drawing one would take longer than anybody waits.
MOST_PHASES = 1e6


class PhaseLaw(Protocol):
    """A chain that begins by `initial` and moves by `generator`; what a row lacks is the rate of ending."""

    @property
    def initial(self) -> Any: ...

    @property
    def generator(self) -> Any: ...


@dataclass(frozen=True)
class Phases:
    """The plainest such law."""

    initial: ArrayLike
    generator: ArrayLike


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
        modes = []
        for level in range(self.top + 1):
            pages = min(level, self.capacity)
            passed = sum(1 for limit in self.thresholds if pages > limit)
            modes.append(len(self.arrivals) - 1 - passed)
        return Rules(
            rates=rates,
            moves=moves,
            modes=np.array(modes, dtype=np.int64),
            service=law_of("service", self.service),
            patience=law_of("patience", self.patience),
            capacity=self.capacity,
            admission=ADMISSIONS.index(self.admission),
            order=ORDERS.index(self.order),
        )


def chain_tables(arrivals: Sequence[Sequence[ArrayLike]]) -> tuple[Matrix, Matrix]:
    """By mode and phase: the rate of moves, and sums of their chances, moves with the fewest pages first."""
    given = [[np.asarray(block, dtype=np.float64) for block in blocks] for blocks in arrivals]
    if not given or any(len(blocks) < 2 for blocks in given):
        raise ValueError("arrivals must hold the matrices D0 and D1 at least for one mode at least; give them.")
    phases, largest = len(given[0][0]), max(len(blocks) for blocks in given) - 1
    chances = np.zeros((len(given), phases, (largest + 1) * phases))
    for mode, blocks in enumerate(given):
        for size, block in enumerate(blocks):
            if block.shape != (phases, phases):
                raise ValueError(
                    f"arrivals[{mode}][{size}] must have {phases} rows and columns, but its shape is {block.shape}; "
                    "one chain drives all modes."
                )
            moving = block * (1 - np.eye(phases)) if size == 0 else block
            if not np.isfinite(moving).all() or (moving < 0).any():
                raise ValueError(f"arrivals[{mode}][{size}] must hold rates of 0 or more, but for the diagonal of D0.")
            chances[mode, :, size * phases : (size + 1) * phases] = moving
    sums = chances.cumsum(axis=2)
    rates = sums[:, :, -1].copy()
    return rates, _shares(sums, rates).reshape(-1, sums.shape[2])


def law_of(name: str, given: PhaseLaw | float | None) -> Law:
    """The tables by which a time is drawn, or one sentence on what is wrong with it."""
    nothing = np.ones((1, 1)), np.ones(1), np.ones((1, 2))
    if given is None:
        return Law(NEVER, math.inf, *nothing)
    if isinstance(given, int | float):
        if not (math.isfinite(given) and given > 0):
            raise ValueError(f"{name} must be a law or a finite time above 0, but it is {given!r}; give such a time.")
        return Law(CONSTANT, float(given), *nothing)
    initial = np.array(given.initial, dtype=np.float64)
    generator = np.array(given.generator, dtype=np.float64)
    phases = len(initial)
    if generator.shape != (phases, phases) or not np.isfinite(generator).all():
        raise ValueError(
            f"The generator of {name} must be {phases} rows of {phases} finite numbers, as initial has {phases}, but "
            f"its shape is {generator.shape}; give one row for each phase."
        )
    moving = generator * (1 - np.eye(phases))
    ending = np.maximum(0.0, -generator.sum(axis=1))
    sums = np.column_stack([moving, ending]).cumsum(axis=1)
    rates = sums[:, -1].copy()
    if (moving < 0).any() or (initial < 0).any() or (rates <= 0).any():
        raise ValueError(f"{name} must have chances and rates of 0 or more, and leave every phase; mend its generator.")
    shares = _shares(sums, rates)
    _refuse_endless(name, initial, np.diff(shares, axis=1, prepend=0.0)[:, :-1])
    return Law(PHASES, 0.0, initial.cumsum()[None, :], rates, shares)


def _mean(given: PhaseLaw | float | None) -> float:
    if given is None:
        return math.inf
    if isinstance(given, int | float):
        return float(given)
    initial, generator = (np.asarray(part, dtype=np.float64) for part in (given.initial, given.generator))
    return float(initial @ np.linalg.solve(-generator, np.ones(len(initial))))


def _shares(sums: Matrix, rates: Vector) -> Matrix:
    return np.ascontiguousarray(np.divide(sums, rates[..., None], out=np.zeros_like(sums), where=rates[..., None] > 0))


def _refuse_endless(name: str, initial: Vector, moves: Matrix) -> None:
    """Refuse a law that changes its phase so often that drawing it would seem to never end."""
    try:
        visits = float(initial @ np.linalg.solve(np.eye(len(initial)) - moves, np.ones(len(initial))))
    except np.linalg.LinAlgError:
        visits = math.inf
    if not 0 < visits < MOST_PHASES:
        raise ValueError(
            f"{name} must pass through {MOST_PHASES:g} phases at most on average, as they are drawn one by one, but "
            "it passes through more; write it with rates that are nearer to one another."
        )
