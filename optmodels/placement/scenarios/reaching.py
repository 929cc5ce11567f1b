"""When scenarios are probable enough. Solvers' processes ask, too, so nothing large is imported here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Probabilities may miss 1, and those kept what is asked for, by this much: they are sums of rounded numbers.
ROUNDING = 1e-9


def to_mend(excess: NDArray[np.float64] | Ints, probabilities: Floats, least: float) -> Ints:
    """Choose the scenarios to be mended: those with the fewest clients too many, until they are probable enough."""
    order = np.argsort(excess, kind="stable")
    reached = np.cumsum(probabilities[order])
    return order[: int(np.searchsorted(reached, least - ROUNDING)) + 1].astype(np.int64)
