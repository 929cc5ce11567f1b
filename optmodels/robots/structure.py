"""What a policy of robots does: switching curves and shapes of values, how often robots go out, and up to which number.

Curves are those of Talim et al. (2001), for robots of one class that are sent out one at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queueing.robots import curves, is_monotone, structure_of
from queueing.robots.fleet import RobotFleet, moves_of, shares_from_start

Actions = NDArray[np.int64]
Rates = NDArray[np.float64]


def decision_rates(fleet: RobotFleet, actions: Actions) -> Rates:
    """By state, how many events per unit of time leave it so that there is something to decide; 0 if it never is."""
    moves = moves_of(fleet)
    shares = shares_from_start(fleet, actions).best
    flows = np.repeat(shares, np.diff(moves.pointers)) * moves.rates
    return np.asarray(
        np.bincount(moves.targets[moves.decided], weights=flows[moves.decided], minlength=fleet.states),
        dtype=np.float64,
    )


def recurring_decisions(fleet: RobotFleet, actions: Actions) -> NDArray[np.bool_]:
    """By state, whether events leave it again and again."""
    moves, recurs = moves_of(fleet), shares_from_start(fleet, actions).recurs
    left = np.zeros(fleet.states, dtype=np.bool_)
    left[moves.targets[moves.decided & np.repeat(recurs, np.diff(moves.pointers))]] = True
    return left


def targets(fleet: RobotFleet, actions: Actions) -> NDArray[np.int64]:
    """By pages and environment, how many robots are out after a decision that is taken with none out."""
    return actions.reshape(fleet.shape)[:, 0, :]


def is_order_up_to(fleet: RobotFleet, actions: Actions) -> bool:
    """Whether decisions that recur fill up to the target of their pages and environment, and do no more."""
    out = fleet.robots_out.sum(axis=1)[np.newaxis, :, np.newaxis]
    lacking = np.maximum(0, targets(fleet, actions)[:, np.newaxis, :] - out)
    return bool((actions.reshape(fleet.shape) == lacking).ravel()[recurring_decisions(fleet, actions)].all())


def sending_rates(fleet: RobotFleet, actions: Actions, rates: Rates) -> list[float]:
    """Robots of each class that are sent out per unit of time."""
    if fleet.switching == "any":
        return [float(rates @ actions)]
    return [float(rates[actions == index + 1].sum()) for index in range(len(fleet.classes))]


def habits(fleet: RobotFleet, actions: Actions) -> dict[str, Any]:
    """What is worth telling: robots sent by class, targets where any number is sent, the class that is sent first.

    Lists by pages have one such list for each state of the environment, if there is one. ``sent_first`` has the class
    that is sent when none is out, -1 if nobody is.
    """
    rates = decision_rates(fleet, actions)
    found: dict[str, Any] = {"sent_by_class": sending_rates(fleet, actions, rates)}
    first = targets(fleet, actions)
    if fleet.switching == "any":
        return found | {"targets": _told(fleet, first), "order_up_to": is_order_up_to(fleet, actions)}
    if len(fleet.classes) > 1:
        return found | {"sent_first": _told(fleet, first - 1)}
    return found


def _told(fleet: RobotFleet, by_pages: NDArray[np.int64]) -> list[Any]:
    return list((by_pages[:, 0] if fleet.environment is None else by_pages.T).tolist())


def switching_curves(policy: NDArray[np.int8]) -> dict[str, Any]:
    r"""Give the curves of Talim et al. (2001), :math:`\pi(q, r, s) = 1(q \le f_s(r))`; ``monotone``: they say all."""
    departure, arrival = curves(policy)
    return {"departure": list(departure), "arrival": list(arrival), "monotone": is_monotone(policy)}


def structure(policy: NDArray[np.int8], values: NDArray[np.float64]) -> dict[str, Any]:
    """Tell whether the policy is a monotone switching curve, its values convex and supermodular; largest violations.

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
