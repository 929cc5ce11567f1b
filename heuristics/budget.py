"""Limits of a run, as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any


@dataclass(frozen=True)
class Budget:
    """How much a run may spend; ``None`` means no limit.

    Parameters
    ----------
    seconds
        Wall-clock time from the start of the solve, but for what goes into compiling kernels (`heuristics.clock`).
    evaluations
        Decisions judged, by whichever road (repeats answered from memory are free).
    stall
        Evaluations in a row without a better feasible decision.

    Raises
    ------
    ValueError
        If a limit is not a positive number, or a count not a whole one.

    Examples
    --------
    >>> Budget(seconds=1.5, evaluations=1000)
    Budget(seconds=1.5, evaluations=1000, stall=None)
    >>> Budget(evaluations=0)
    Traceback (most recent call last):
    ValueError: evaluations must be a positive number, got 0.
    """

    seconds: float | None = None
    evaluations: int | None = None
    stall: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "evaluations", "stall"):
            value: Any = getattr(self, name)
            if value is None:
                continue
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value <= 0:
                raise ValueError(f"{name} must be a positive number, got {value!r}.")
            if name == "seconds":
                object.__setattr__(self, name, float(value))
            elif int(value) != value:
                raise ValueError(f"{name} must be a whole number, got {value!r}.")
            else:
                object.__setattr__(self, name, int(value))
