"""How likely several deviations of a simulation from exact values are."""

import math

from scipy.special import stdtr


def joint_chance(largest: float, comparisons: int, degrees: int) -> float:
    """Return Bonferroni's bound on the chance that one of so many deviations is as large as this."""
    if math.isinf(largest):
        return 0.0
    return min(1.0, 2 * comparisons * float(stdtr(degrees, -abs(largest))))
