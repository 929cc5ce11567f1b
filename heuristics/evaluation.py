"""What a problem says about one decision; and the types of decisions and arrays throughout the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: A tuple of numbers for nearly every kind: hashable for the cache, writable as JSON, readable in a log.
#: Very long decisions (1e8 frequencies) are arrays; those are never cached.
Decision: TypeAlias = Any

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Evaluation:
    """Objective, broken constraints and measures of one decision.

    Objective and constraints come from one call because they come from one stationary solve.

    Parameters
    ----------
    objective
        Always minimised.
    violations
        Constraint name to amount by which it is broken; kept constraints are absent or 0.
    measures
        What the queue said, for the reader and for cost functions; ``None`` where undefined.
    penalty
        Price of the violations on the scale of the objective, for searches that walk through infeasible decisions.
        A problem that knows its scale gives it; otherwise every unit of violation costs ``1 + |objective|``.

    Examples
    --------
    >>> good, bad = Evaluation(3.0), Evaluation(2.0, {"weight": 4.0})
    >>> good.feasible, bad.feasible
    (True, False)
    >>> good.penalised, bad.penalised
    (3.0, 14.0)
    """

    objective: float
    violations: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    measures: Mapping[str, float | None] = field(default_factory=lambda: NOTHING)
    penalty: float | None = None

    @property
    def violation(self) -> float:
        """Sum of all violations, 0 for a feasible decision."""
        return sum((amount for amount in self.violations.values() if not amount <= 0), 0.0)

    @property
    def feasible(self) -> bool:
        """Whether every constraint is kept; an amount that is no number (nan) is not."""
        return all(amount <= 0 for amount in self.violations.values())

    @property
    def penalised(self) -> float:
        """Objective plus penalty: one number by which any two decisions can be compared."""
        if self.feasible:
            return self.objective
        if self.penalty is not None:
            return self.objective + self.penalty
        return self.objective + (1.0 + abs(self.objective)) * self.violation

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies do not pickle; results travel between processes.
        return Evaluation, (self.objective, dict(self.violations), dict(self.measures), self.penalty)
