r"""Transitions of a robot fleet: its events and changes as flat arrays, and the chain that a policy makes of them.

From a state after a decision lead *decided* moves, services and arrivals, to the state that the event leaves, where
robots may be sent out; and plain ones, changes of phase and of the environment. A policy turns a decided move into one
to each state that its action may lead to. The first states, one for each state of the environment, are those without
pages and robots: nobody stays there, so that they have no moves.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ...numerics import Matrix, Vector
from .model import Places, RobotFleet

Actions = NDArray[np.int64]


class Moves(NamedTuple):
    """All moves, state by state: those of state s stand at ``pointers[s]:pointers[s + 1]``.

    Attributes
    ----------
    pointers, targets, rates, decided
        where each state's moves begin; where a move leads; its rate; whether something is decided there.
    sent
        by place and phase, the place with one robot more there, -1 if there is none.
    chances, owners
        by phase, the probability that a journey begins in it, and its class.
    environments
        states of the environment.
    several
        whether several robots may be sent out at once.
    """

    pointers: NDArray[np.int64]
    targets: NDArray[np.int64]
    rates: Vector
    decided: NDArray[np.bool_]
    sent: Places
    chances: Vector
    owners: Places
    environments: int
    several: bool


class Chain(NamedTuple):
    """The chain of a policy, in the same form; moves from a state to itself are left out.

    Attributes
    ----------
    pointers, targets, rates
        as in `Moves`.
    leaving
        rate of leaving each state; 1 where there is no state.
    """

    pointers: NDArray[np.int64]
    targets: NDArray[np.int64]
    rates: Vector
    leaving: Vector

    def matrix(self) -> csr_array:
        """Take the rates between states as a sparse matrix."""
        size = len(self.leaving)
        return csr_array((self.rates, self.targets, self.pointers), shape=(size, size))


def chain_from(rates: csr_array) -> Chain:
    """Make a chain of rates between states; those from a state to itself, and of moves told twice, are put right."""
    rates.sum_duplicates()
    rates.setdiag(0.0)
    rates.eliminate_zeros()
    leaving = np.asarray(rates.sum(axis=1), dtype=np.float64).ravel()
    leaving[leaving == 0] = 1.0
    pointers, targets = (np.asarray(part, dtype=np.int64) for part in (rates.indptr, rates.indices))
    return Chain(pointers, targets, np.asarray(rates.data, dtype=np.float64), leaving)


class Outcomes(NamedTuple):
    """Room for what an action may lead to: states, and their probabilities."""

    states: NDArray[np.int64]
    chances: Vector


_known: WeakKeyDictionary[RobotFleet, Moves] = WeakKeyDictionary()


def moves_of(fleet: RobotFleet) -> Moves:
    """Write the transitions of a fleet down, once for as long as there is the fleet.

    Parameters
    ----------
    fleet
        The fleet.

    Returns
    -------
    Moves
        Events and other changes, state by state.
    """
    if fleet not in _known:
        _known[fleet] = _written_down(fleet)
    return _known[fleet]


def _written_down(fleet: RobotFleet) -> Moves:
    journeys = np.zeros((fleet.phases, fleet.phases))
    first = 0
    for one in fleet.classes:
        last = first + one.journey.order
        journeys[first:last, first:last] = one.journey.generator
        first = last
    exits = np.concatenate([one.journey.exit_rates for one in fleet.classes])
    paces = paces_of(fleet)[:, fleet.class_of]
    generator = np.zeros((1, 1)) if fleet.environment is None else fleet.environment.generator
    moving = fleet.counts[:, np.newaxis, :] * paces > 0.0  # by place, environment and phase
    numbers = np.tile(moving @ ((exits > 0.0) + (journeys > 0.0).sum(axis=1)), (fleet.capacity + 1, 1, 1))
    numbers += (generator > 0.0).sum(axis=1)
    numbers[1:] += 1  # services
    numbers[0, 0] = 0  # no states
    pointers = np.concatenate([[0], np.cumsum(numbers)])
    written = _moves(
        pointers[-1],
        fleet.service_rate,
        fleet.counts,
        fleet.sent,
        fleet.returned,
        journeys,
        exits,
        paces,
        generator,
        fleet.capacity,
    )
    chances = np.concatenate([one.journey.initial for one in fleet.classes])
    several = fleet.switching == "any"
    return Moves(pointers, *written, fleet.sent, chances, fleet.class_of, fleet.environments, several)


def paces_of(fleet: RobotFleet) -> Matrix:
    """Pace of each class in each state of the environment."""
    classes = len(fleet.classes)
    return np.ones((1, classes)) if fleet.environment is None else fleet.environment.paces(classes)


@njit(cache=True)
def _moves(
    size: int,
    service: float,
    counts: Places,
    sent: Places,
    returned: Places,
    journeys: Matrix,
    exits: Vector,
    paces: Matrix,
    generator: Matrix,
    most: int,
) -> tuple[NDArray[np.int64], Vector, NDArray[np.bool_]]:
    """Write down where moves lead, their rates, and whether something is decided there, state by state."""
    (places, phases), worlds = counts.shape, len(generator)
    targets, rates, decided = np.zeros(size, dtype=np.int64), np.zeros(size), np.zeros(size, dtype=np.bool_)
    n = 0
    for state in range(worlds, (most + 1) * places * worlds):  # the first are no states
        j, place, q = state % worlds, state // worlds % places, state // (worlds * places)
        if q > 0:
            targets[n], rates[n], decided[n] = state - places * worlds, service, True
            n += 1
        for phase in range(phases):
            pace = counts[place, phase] * paces[j, phase]
            if pace > 0.0:
                back = returned[place, phase]
                if exits[phase] > 0.0:
                    targets[n] = (min(q + 1, most) * places + back) * worlds + j
                    rates[n], decided[n] = pace * exits[phase], True
                    n += 1
                for other in range(phases):
                    if journeys[phase, other] > 0.0:
                        targets[n] = (q * places + sent[back, other]) * worlds + j
                        rates[n] = pace * journeys[phase, other]
                        n += 1
        for other in range(worlds):
            if generator[j, other] > 0.0:
                targets[n], rates[n] = state - j + other, generator[j, other]
                n += 1
    return targets, rates, decided


@njit(cache=True)
def room_for_outcomes(moves: Moves) -> Outcomes:
    """Room that `outcomes` of any action need; one serves all."""
    return Outcomes(np.zeros(len(moves.chances), dtype=np.int64), np.zeros(len(moves.chances)))


@njit(cache=True)
def outcomes(moves: Moves, state: int, action: int, found: Outcomes) -> int:
    """How many states an action may lead to where an event leaves a state; they are written to `found`."""
    places, worlds = len(moves.sent), moves.environments
    j, place, q = state % worlds, state // worlds % places, state // (worlds * places)
    if action == 0:
        found.states[0], found.chances[0] = state, 1.0
        return 1
    if moves.several:
        first = np.argmax(moves.chances)
        for _ in range(action):
            place = moves.sent[place, first]
        found.states[0], found.chances[0] = (q * places + place) * worlds + j, 1.0
        return 1
    count = 0
    for phase in range(len(moves.chances)):
        if moves.owners[phase] == action - 1 and moves.chances[phase] > 0.0:
            found.states[count] = (q * places + moves.sent[place, phase]) * worlds + j
            found.chances[count] = moves.chances[phase]
            count += 1
    return count


@njit(cache=True)
def chain_of(moves: Moves, actions: Actions) -> Chain:
    """Make the chain of a policy.

    Parameters
    ----------
    moves
        Transitions of the fleet, see `moves_of`.
    actions
        The policy: an action for each state.

    Returns
    -------
    Chain
        Its transitions, those from a state to itself left out.
    """
    states, room = len(actions), room_for_outcomes(moves)
    pointers, leaving = np.zeros(states + 1, dtype=np.int64), np.zeros(states)
    most = len(moves.targets) * (1 if moves.several else len(moves.chances))
    targets, rates = np.zeros(most, dtype=np.int64), np.zeros(most)
    n = 0
    for state in range(states):
        for k in range(moves.pointers[state], moves.pointers[state + 1]):
            target = moves.targets[k]
            count = outcomes(moves, target, actions[target] if moves.decided[k] else 0, room)
            for place in range(count):
                if room.states[place] != state:
                    targets[n], rates[n] = room.states[place], moves.rates[k] * room.chances[place]
                    leaving[state] += rates[n]
                    n += 1
        if n == pointers[state]:
            leaving[state] = 1.0
        pointers[state + 1] = n
    return Chain(pointers, targets[:n].copy(), rates[:n].copy(), leaving)
