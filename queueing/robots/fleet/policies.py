"""Policies of a robot fleet: which actions are possible, where to begin, and how to lead them to a set of states."""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ...numerics import Vector
from .model import Places, RobotFleet
from .transitions import Actions, Moves, Outcomes, outcomes, paces_of, room_for_outcomes


def allowed_actions(fleet: RobotFleet) -> NDArray[np.bool_]:
    """Tell which actions idle robots allow.

    Parameters
    ----------
    fleet
        The fleet.

    Returns
    -------
    NDArray[np.bool_]
        By place and action, which are 0, 1, ...; a large table if any number of robots may be sent at once.
    """
    if fleet.switching == "any":
        return np.asarray(np.arange(fleet.classes[0].robots + 1) <= fleet.idle)
    return np.hstack([np.ones((fleet.places, 1), dtype=np.bool_), fleet.idle > 0])


def check_actions(fleet: RobotFleet, values: ArrayLike) -> Actions:
    """Return `values` as a policy of this fleet, one action for each state, or refuse them."""
    array = np.asarray(values)
    if array.size != fleet.states:
        raise ValueError(
            f"a policy needs {fleet.states} entries, one for each state, but {array.size} came; give one action each."
        )
    flat = array.reshape(-1)
    if flat.dtype.kind not in "iub" and not (np.isfinite(flat).all() and (flat == np.floor(flat)).all()):
        raise ValueError("actions must be whole numbers, but not all are; give one for each state.")
    actions = np.ascontiguousarray(flat, dtype=np.int64)
    places = np.arange(fleet.states) // fleet.environments % fleet.places
    if fleet.switching == "any":
        good = (actions >= 0) & (actions <= fleet.idle[places, 0])
    else:
        inside = (actions >= 0) & (actions <= len(fleet.classes))
        good = inside & ((actions <= 0) | (fleet.idle[places, np.where(inside, actions, 1) - 1] > 0))
    bad = np.flatnonzero(~good)
    if len(bad):
        state = int(bad[0])
        idle = fleet.idle[places[state]].tolist()
        raise ValueError(
            f"action {int(actions[state])} in state {state} must be one that idle robots allow, but idle are "
            f"{', '.join(str(count) for count in idle)}; send out only robots that are idle."
        )
    resting = np.flatnonzero(actions[: fleet.environments] == 0)
    if len(resting):
        raise ValueError(
            f"the action in state {int(resting[0])} must send a robot out, but it does not: without pages and robots "
            "nothing would ever happen."
        )
    return actions


def keep_out(fleet: RobotFleet, counts: Sequence[int]) -> Actions:
    """Make the policy that keeps so many robots of each class out, one at least, whatever the queue.

    Parameters
    ----------
    fleet
        The fleet.
    counts
        By class, how many of its robots.

    Returns
    -------
    NDArray[np.int64]
        An action for each state.
    """
    lacking = np.array(counts) - fleet.robots_out
    if fleet.switching == "any":
        by_place = np.maximum(0, lacking[:, 0])
    else:
        by_place = np.where((lacking > 0).any(axis=1), 1 + (lacking > 0).argmax(axis=1), 0)
    return _by_place(fleet, np.tile(by_place, (fleet.capacity + 1, 1)))


def mean_loads(fleet: RobotFleet) -> Vector:
    """Compute how many pages a robot brings in the mean time of a service if it is always out.

    Parameters
    ----------
    fleet
        The fleet.

    Returns
    -------
    Vector
        By class.
    """
    shares = np.ones(1) if fleet.environment is None else fleet.environment.shares
    return np.asarray(np.array([one.rate for one in fleet.classes]) * (shares @ paces_of(fleet)) / fleet.service_rate)


def first_actions(fleet: RobotFleet) -> Actions:
    r"""Guess a policy to begin with.

    Robots bring what is served at half a buffer, and less the fuller it is; the fastest go first. It is the guess of
    :func:`queueing.robots.first_policy`, with loads in the place of numbers.

    Parameters
    ----------
    fleet
        The fleet.

    Returns
    -------
    NDArray[np.int64]
        An action for each state.
    """
    rates = mean_loads(fleet)
    load = fleet.robots_out @ rates
    lengths = np.arange(fleet.capacity + 1)[:, np.newaxis]
    aim = 1.0 + 0.3 * np.sqrt(rates.mean()) * (fleet.capacity / 2 - lengths)
    if fleet.switching == "any":
        wanted = np.ceil(np.maximum(0.0, aim - load) / rates[0] - 1e-9)
        return _by_place(fleet, np.minimum(wanted, fleet.idle[:, 0]).astype(np.int64))
    quickest = np.zeros(fleet.places, dtype=np.int64)
    for index in np.argsort(rates, kind="stable"):
        quickest[fleet.idle[:, index] > 0] = index + 1
    return _by_place(fleet, np.where(load < aim, quickest, 0))


def _by_place(fleet: RobotFleet, by_length: NDArray[np.int64]) -> Actions:
    """Actions by pages and place, for every environment; without pages and robots one is sent out at least."""
    actions = np.repeat(by_length.reshape(-1), fleet.environments)
    actions[: fleet.environments] = np.maximum(1, actions[: fleet.environments])
    return np.ascontiguousarray(actions, dtype=np.int64)


@njit(cache=True)
def led_to(moves: Moves, actions: Actions, idle: Places, aim: NDArray[np.bool_]) -> Actions:
    """Change a policy outside a closed set of states so that every state leads there.

    Parameters
    ----------
    moves
        Transitions of the fleet, see `moves_of`.
    actions
        The policy: an action for each state.
    idle
        Idle robots by place and class.
    aim
        By state, whether it is in the set.

    Returns
    -------
    NDArray[np.int64]
        An action for each state; what the set decides stays.
    """
    states, places, worlds, room = len(actions), len(moves.sent), moves.environments, room_for_outcomes(moves)
    found, decided, reached = actions.copy(), np.zeros(states, dtype=np.bool_), aim.copy()
    for state in range(states):
        if aim[state]:  # what the set decides stays
            for k in range(moves.pointers[state], moves.pointers[state + 1]):
                if moves.decided[k]:
                    decided[moves.targets[k]] = True
    changing = True
    while changing:
        changing = False
        for state in range(states):
            if not decided[state]:
                place = state // worlds % places
                wanted = -1
                if _leads(moves, state, found[state], reached, room):
                    wanted = found[state]
                else:
                    most = idle[place, 0] if moves.several else idle.shape[1]
                    for action in range(1 if state < worlds else 0, most + 1):
                        possible = action == 0 or moves.several or idle[place, action - 1] > 0
                        if possible and _leads(moves, state, action, reached, room):
                            wanted = action
                            break
                if wanted >= 0:
                    found[state], decided[state], changing = wanted, True, True
        for state in range(worlds, states):
            if not reached[state]:
                for k in range(moves.pointers[state], moves.pointers[state + 1]):
                    target = moves.targets[k]
                    if moves.decided[k]:
                        leads = decided[target] and _leads(moves, target, found[target], reached, room)
                    else:
                        leads = reached[target]
                    if leads:
                        reached[state], changing = True, True
                        break
    return found


@njit(cache=True)
def _leads(moves: Moves, state: int, action: int, reached: NDArray[np.bool_], room: Outcomes) -> bool:
    """Whether an action may lead to a state that is marked."""
    found = False
    for place in range(outcomes(moves, state, action, room)):
        found |= reached[room.states[place]]
    return found
