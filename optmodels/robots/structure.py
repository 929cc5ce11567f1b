"""What the best policy of the robot queue looks like, as results tell it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queueing.robots import curves, is_monotone, structure_of


def switching_curves(policy: NDArray[np.int8]) -> dict[str, Any]:
    r"""The curves of the paper, :math:`\pi(q, r, s) = 1(q \le f_s(r))`, and whether the policy is made of them."""
    departure, arrival = curves(policy)
    return {"departure": list(departure), "arrival": list(arrival), "monotone": is_monotone(policy)}


def structure(policy: NDArray[np.int8], values: NDArray[np.float64]) -> dict[str, Any]:
    """Whether the policy is a monotone switching curve, its values convex and supermodular; largest violations.

    Violations are parts of the span of values; below 1e-11 they are rounding.
    """
    found = structure_of(policy, values)
    return {
        "monotone_switching_curve": found.monotone,
        "convex_in_robots": found.convex,
        "supermodular": found.supermodular,
        "violations": {
            "switching": found.switching,
            "convexity": found.convexity,
            "supermodularity": found.supermodularity,
        },
    }
