"""Which condition of Theorem 3.1 of Altman et al. (2000) costs of gaps fulfil; published examples are sorted by it."""

import math

import numpy as np

from queueing.routing import GapCosts, not_convex
from queueing.routing.cost_tables import ROUNDING, SMALLEST


def condition(costs: GapCosts, checked: int = 1000) -> int | None:
    """Tell which of Conditions (2), (3), (4) of Altman et al. (2000) costs fulfil for gaps up to `checked`, if any."""
    if not_convex(costs, checked) is not None:
        return None
    if (costs.slopes == math.inf).all():
        return 2
    ends = costs.limits
    if not np.isfinite(ends).all() or np.ptp(ends) > 1e-9 * np.abs(ends).max():
        return None
    f, rest = costs.table(checked), costs.remainders(checked)
    if (rest <= ROUNDING * (np.abs(f) + np.abs(ends)[:, None])).all():
        return 4
    noise = 64 * ROUNDING * np.where(f == rest, rest, np.abs(f) + np.abs(ends)[:, None]) + SMALLEST
    bends = rest[:, 2:] - rest[:, 1:-1] - (rest[:, 1:-1] - rest[:, :-2])
    falls = rest[:, :-2] - rest[:, 1:-1]
    straight = (bends <= noise[:, :-2]) & (falls > np.maximum(1e3 * noise[:, :-2], 1e-2 * rest[:, :-2]))
    ended = (rest[:, 1:] == 0) & (rest[:, :-1] > 1e3 * noise[:, :-1])
    line = (rest <= noise).all(axis=1)
    return None if straight.any() or ended.any() or line.any() else 3
