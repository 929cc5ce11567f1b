"""What the best policy of the robot queue looks like: its switching curves, and shapes that a proof might rest on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Differences of values below this part of the largest one are rounding.
ROUNDING = 1e-11


def switching_curves(policy: NDArray[np.int8]) -> dict[str, Any]:
    r"""The curves of the paper, :math:`\pi(q, r, s) = 1(q \le f_s(r))`, and whether the policy is made of them.

    Both are read off the one array of the policy: after a departure from (q, r) it is asked at (q-1, r), after an
    arrival at (min(q+1, K), r-1).
    """
    most, robots = policy.shape[0] - 1, policy.shape[1] - 1
    last = np.where(policy.any(axis=0), most - policy[::-1].argmax(axis=0), -1)  # largest q with action 1
    arrival = np.where(last == most, most, np.maximum(last - 1, -1))
    single = policy.sum(axis=0) == last + 1
    return {
        "departure": np.minimum(last + 1, most).tolist(),
        "arrival": [None, *arrival[:-1].tolist()],
        "monotone": bool(single.all() and (np.diff(last[:robots]) <= 0).all()),
    }


def structure(policy: NDArray[np.int8], values: NDArray[np.float64]) -> dict[str, bool]:
    """Whether the policy is a monotone switching curve, and its relative values convex and supermodular.

    Differences within rounding of the largest value count as zero; (0, 0) is no state.
    """
    slack = ROUNDING * float(np.abs(values).max())
    known = values.astype(np.float64).copy()
    known[0, 0] = np.nan
    bends = np.diff(known, n=2, axis=1)
    mixed = np.diff(np.diff(known, axis=0), axis=1)
    return {
        "monotone_switching_curve": bool(switching_curves(policy)["monotone"]),
        "convex_in_robots": bool((np.nan_to_num(bends) >= -slack).all()),
        "supermodular": bool((np.nan_to_num(mixed) >= -slack).all()),
    }
