r"""Policies of a robot fleet that leave decisions to chance: what they achieve.

A randomised policy gives, for each state that an event may leave, the probability of each action. Where any number of
robots may be sent at once, it gives the probability of sending one more, asked again after each, so that it has two
actions, "no more" and "one more", as the base model has. Between events the chain is that of
:mod:`queueing.robots.fleet.model`; it is evaluated from the start, without pages and robots, and of several closed
classes each counts as often as it is reached.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from ...numerics import Vector
from .control import FleetMeasures, measures_of
from .krylov import Pause
from .model import RobotFleet
from .stationary import closed_classes, shares_of_chain
from .transitions import Actions, Chain, Moves, chain_from, moves_of

#: By action and state, the probability of the action where an event leaves the state.
Chances = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EventMoves:
    """The moves of a fleet as matrices.

    Attributes
    ----------
    plain
        rates of changes that are no events.
    events
        rates of events, to the states that they leave.
    sending
        by action, from the state that an event leaves to those that the action may lead to; with any number at once,
        "one more" leads to the state in which the next one is decided on.
    allowed
        by action and state, whether there are idle robots for it.
    again
        whether "one more" asks again.
    """

    plain: csr_array
    events: csr_array
    sending: tuple[csr_array, ...]
    allowed: NDArray[np.bool_]
    again: bool


def event_moves(fleet: RobotFleet) -> EventMoves:
    """Write the transitions of a fleet down as matrices.

    Parameters
    ----------
    fleet
        The fleet.

    Returns
    -------
    EventMoves
        Rates of events and of other changes, and what each action leads to.
    """
    moves = moves_of(fleet)
    size = fleet.states
    sources = np.repeat(np.arange(size), np.diff(moves.pointers))

    def matrix(chosen: NDArray[np.bool_]) -> csr_array:
        return csr_array((moves.rates[chosen], (sources[chosen], moves.targets[chosen])), (size, size))

    numbers = np.arange(size)
    worlds, places = numbers % fleet.environments, numbers // fleet.environments % fleet.places
    lengths = numbers // (fleet.environments * fleet.places)
    sending, allowed = [csr_array(eye_array(size))], [numbers >= fleet.environments]
    for owner in range(len(fleet.classes)):
        idle = fleet.idle[places, owner] > 0
        total = csr_array((size, size))
        for phase in np.flatnonzero((moves.owners == owner) & (moves.chances > 0)):
            here = numbers[idle]
            there = (lengths[idle] * fleet.places + moves.sent[places[idle], phase]) * fleet.environments + worlds[idle]
            chance = 1.0 if moves.several else moves.chances[phase]
            total = total + csr_array((np.full(len(here), chance), (here, there)), (size, size))
        sending.append(csr_array(total))
        allowed.append(idle)
    return EventMoves(matrix(~moves.decided), matrix(moves.decided), tuple(sending), np.array(allowed), moves.several)


def mixed_chances(fleet: RobotFleet, actions: Actions) -> Chances:
    """Write a policy that leaves nothing to chance down as a randomised one.

    Parameters
    ----------
    fleet
        The fleet.
    actions
        The policy: an action for each state. With any number at once it must be one that still sends the others when
        one of them is out already.

    Returns
    -------
    NDArray[np.float64]
        By action and state, the probability of the action: 0 or 1.
    """
    if fleet.switching == "one":
        return np.asarray(np.arange(1 + len(fleet.classes))[:, np.newaxis] == actions, dtype=np.float64)
    more = (actions > 0).astype(np.float64)
    return np.stack([1.0 - more, more])


def likeliest(moves: EventMoves, chances: Chances) -> Actions:
    """Take the likeliest action in each state.

    Parameters
    ----------
    moves
        What `event_moves` says of the fleet.
    chances
        By action and state, the probability of the action.

    Returns
    -------
    NDArray[np.int64]
        An action for each state, one that idle robots allow.
    """
    found = np.asarray(np.argmax(np.where(moves.allowed, chances, -1.0), axis=0), dtype=np.int64)
    if not moves.again:
        return found
    sends = found > 0
    following = np.zeros(len(found), dtype=np.int64)
    one_more = moves.sending[1].tocoo()
    following[one_more.row] = one_more.col
    at, total = np.arange(len(found)), np.zeros(len(found), dtype=np.int64)
    while sends[at].any():
        going = sends[at]
        total += going
        at = np.where(going, following[at], at)
    return total


def decided(moves: EventMoves, chances: Chances) -> csr_array:
    """Compute the probabilities of the states after a decision, by the state that an event leaves."""
    if not moves.again:
        total = csr_array(moves.plain.shape)
        for chance, matrix in zip(chances, moves.sending, strict=True):
            total = total + diags_array(chance) @ matrix
        return csr_array(total)
    # x = stop + more x: as often as robots may be sent one after the other, at most.
    step, found = csr_array(diags_array(chances[1]) @ moves.sending[1]), csr_array(diags_array(chances[0]))
    total, path = found, step
    while path.nnz:
        total = csr_array(total + path @ found)
        path = csr_array(path @ step)
        path.eliminate_zeros()
    return total


def mixed_chain(moves: EventMoves, chances: Chances) -> tuple[Chain, csr_array]:
    """Make the chain of a randomised policy, and the matrix of its decisions."""
    decisions = decided(moves, chances)
    return chain_from(csr_array(moves.plain + moves.events @ decisions)), decisions


def mixed_classes(fleet: RobotFleet, chances: Chances, moves: EventMoves | None = None) -> list[NDArray[np.int64]]:
    """Find the closed classes of a randomised policy, reached from the start or not.

    Parameters
    ----------
    fleet
        The fleet.
    chances
        By action and state, the probability of the action.
    moves
        What `event_moves` says of the fleet, if that is known.

    Returns
    -------
    list[NDArray[np.int64]]
        The states of each class.
    """
    chain, _ = mixed_chain(moves or event_moves(fleet), chances)
    return closed_classes(chain, np.arange(fleet.environments, fleet.states))


def mixed_measures(
    fleet: RobotFleet, chances: Chances, moves: EventMoves | None = None, pause: Pause | None = None
) -> tuple[FleetMeasures, Vector]:
    """Evaluate a randomised policy, from the start without pages and robots.

    Parameters
    ----------
    fleet, chances
        The fleet, and by action and state the probability of the action.
    moves
        What `event_moves` says of the fleet, if that is known.
    pause
        Called a few times a second; what it raises ends the work.

    Returns
    -------
    tuple[FleetMeasures, Vector]
        All measures, and the stationary distribution by state.
    """
    _check(fleet, chances)
    chain, decisions = mixed_chain(moves or event_moves(fleet), chances)
    first = decisions[[0], :]
    starts = np.asarray(first.indices, dtype=np.int64)
    shares = shares_of_chain(fleet, chain, starts, np.asarray(first.data, dtype=np.float64), pause)
    return measures_of(fleet, shares), shares.best


def _check(fleet: RobotFleet, chances: Chances) -> None:
    """Refuse what are no probabilities of actions that are possible."""
    moves: Moves = moves_of(fleet)
    rows = 2 if moves.several else 1 + len(fleet.classes)
    if chances.shape != (rows, fleet.states):
        raise ValueError(
            f"a randomised policy needs {rows} x {fleet.states} probabilities, by action and state, but their shape "
            f"is {chances.shape}; give one each."
        )
    if not (np.isfinite(chances).all() and (chances >= 0).all() and np.allclose(chances.sum(axis=0), 1.0, atol=1e-9)):
        raise ValueError("probabilities of actions must be zero or more and sum to 1 in each state, but they do not.")
    places = np.arange(fleet.states) // fleet.environments % fleet.places
    idle = fleet.idle[places].T > 0
    if (chances[1:] * ~idle).any() or chances[0, : fleet.environments].any():
        raise ValueError(
            "probabilities must be 0 where no robot is idle, and that of sending none where there is neither page nor "
            "robot, but they are not."
        )
