"""Times and transitions as simulations draw them: laws as tables of sums, and a compiled choice from a row of sums."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from .intervals import Matrix, Vector

NEVER, CONSTANT, PHASES = range(3)

#: Phases a drawn time may pass through on average; with more, drawing one would take longer than anybody waits.
MOST_PHASES = 1e6


class Law(NamedTuple):
    """A time to be drawn: never, a constant, or the life of a chain of phases.

    Attributes
    ----------
    form, value
        which of the three, and the constant.
    start, rates, moves
        in one row, sums of the chances to begin in phase 0, 1, ...; the rate of leaving each; for each, sums of the
        chances to go to phase 0, 1, ..., and to the end.
    """

    form: int
    value: float
    start: Matrix
    rates: Vector
    moves: Matrix


class PhaseLaw(Protocol):
    """A chain that begins by `initial` and moves by `generator`; what a row lacks is the rate of ending."""

    @property
    def initial(self) -> Any: ...

    @property
    def generator(self) -> Any: ...


@dataclass(frozen=True)
class Phases:
    """Give a chain of phases by its two parts: the plainest `PhaseLaw`.

    Parameters
    ----------
    initial
        Chances to begin in phase 0, 1, ...
    generator
        Rates of moves from phase to phase; what a row lacks to sum to 0 is the rate of ending.
    """

    initial: ArrayLike
    generator: ArrayLike


def law_of(name: str, given: PhaseLaw | float | None) -> Law:
    """Make the tables by which a time is drawn.

    Parameters
    ----------
    name
        What the time is called in a complaint.
    given
        A chain of phases, a constant, or None for a time that never ends.

    Returns
    -------
    Law
        The tables; a ValueError says in one sentence what is wrong with the time.
    """
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


def chain_tables(arrivals: Sequence[Sequence[ArrayLike]]) -> tuple[Matrix, Matrix]:
    """Make the tables by which transitions of a chain are drawn that brings batches of pages.

    Parameters
    ----------
    arrivals
        For each mode the matrices D0, D1, ...: rates of transitions that bring 0, 1, ... pages.

    Returns
    -------
    tuple[Matrix, Matrix]
        The rate of transitions by mode and phase; and, a row for each mode and phase, sums of their probabilities, in
        which transitions with the fewest pages come first.
    """
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


@njit(cache=True, inline="always")
def choose(sums: Matrix, row: int, rng: np.random.Generator) -> int:
    """Draw a column of a table.

    Parameters
    ----------
    sums
        Rows of sums of weights from the first column on; the last of them need not be 1.
    row
        The row to draw by.
    rng
        Source of random numbers; it is not asked where there is but one column.

    Returns
    -------
    int
        The column; one without a weight is never drawn.
    """
    low, high = 0, sums.shape[1] - 1
    if high == 0:
        return 0
    mark = rng.random() * sums[row, high]
    while low < high:  # the first whose sum is above the mark
        middle = (low + high) // 2
        if sums[row, middle] > mark:
            high = middle
        else:
            low = middle + 1
    return low


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
