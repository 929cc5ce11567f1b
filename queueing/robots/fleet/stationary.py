"""Stationary distribution of the chain of a policy, from the start: no pages, no robots, a decision due.

Only states that can be reached count. Where the chain may end in one of several closed classes, each class is drawn
together to a state from which the chain begins anew: how often it is there tells how likely it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Vector
from . import banded, krylov
from .krylov import Pause
from .model import RobotFleet
from .transitions import Actions, Chain, chain_from, chain_of, moves_of, outcomes, room_for_outcomes

Numbers = NDArray[np.int64]

#: What iterations leave of the equation, relative: first, to see what is gained by going on, and in the end; and how
#: often they are corrected in between, at most.
FIRST, LAST, CORRECTIONS = 1e-9, 1e-14, 4


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of time by state.

    Attributes
    ----------
    best
        as well as they are known.
    recurs
        by state, whether it recurs: iterations may take the rarest of them for none.
    rough
        the same from iterations that were ended early; ``None`` after an elimination.
    progress
        what is left of the equation in `best`, in parts of what is left in `rough`.
    """

    best: Vector
    recurs: NDArray[np.bool_]
    rough: Vector | None = None
    progress: float = 0.0


def shares_from_start(fleet: RobotFleet, actions: Actions, pause: Pause | None = None) -> Shares:
    """Compute the stationary distribution of a policy, from the start without pages and robots.

    Parameters
    ----------
    fleet
        The fleet.
    actions
        The policy: an action for each state.
    pause
        Called a few times a second; what it raises ends the work.

    Returns
    -------
    Shares
        Share of time in each state; of several closed classes each counts as often as the chain ends there.
    """
    moves = moves_of(fleet)
    chain = chain_of(moves, actions)
    room = room_for_outcomes(moves)
    count = outcomes(moves, 0, actions[0], room)
    return shares_of_chain(fleet, chain, room.states[:count].copy(), room.chances[:count].copy(), pause)


def shares_of_chain(
    fleet: RobotFleet, chain: Chain, starts: Numbers, chances: Vector, pause: Pause | None = None
) -> Shares:
    """Compute the stationary distribution of a chain on the states of a fleet, from these states and probabilities."""
    reached = reachable(chain, starts)
    classes = closed_classes(chain, np.flatnonzero(reached))
    parts = [shares_within(fleet, chain, states, pause) for states in classes]
    if len(classes) == 1:
        return parts[0]
    weights = _chances_of_ending(chain, reached, classes, starts, chances, pause)
    best = np.asarray(sum(weight * part.best for weight, part in zip(weights, parts, strict=True)))
    recurs = np.logical_or.reduce([part.recurs for weight, part in zip(weights, parts, strict=True) if weight > 0])
    if all(part.rough is None for part in parts):
        return Shares(best, recurs)
    rough = sum(
        weight * (part.best if part.rough is None else part.rough) for weight, part in zip(weights, parts, strict=True)
    )
    return Shares(best, recurs, np.asarray(rough), max(part.progress for part in parts))


def closed_classes(chain: Chain, states: Numbers) -> list[Numbers]:
    """Sets of the given states that reach one another and nothing else; no move must lead out of all of them.

    Parameters
    ----------
    chain, states
        A Markov chain, and some of its states.

    Returns
    -------
    list of ndarray
        The states of each closed class.
    """
    labels, closed = strong_components(chain, states)
    if len(closed) == 1 and closed[0]:
        return [states]
    return [states[labels[states] == one] for one in np.flatnonzero(closed)]


@njit(cache=True)
def strong_components(chain: Chain, states: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """By state, the set of states it belongs to that reach one another (Tarjan), -1 elsewhere; and which are closed.

    `scipy.sparse.csgraph.connected_components` does not come to an end where a move is listed twice, as it may be here.
    """
    size, unseen = len(chain.leaving), -2
    labels, numbers, lowest = np.full(size, -1), np.full(size, unseen), np.zeros(size, dtype=np.int64)
    path, open_states, following = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), chain.pointers.copy()
    count, seen, waiting = 0, 0, 0
    for start in states:
        if numbers[start] != unseen:
            continue
        path[0], depth = start, 0
        while depth >= 0:
            state = path[depth]
            if numbers[state] == unseen:
                numbers[state] = lowest[state] = seen
                open_states[waiting] = state
                seen, waiting = seen + 1, waiting + 1
            if following[state] < chain.pointers[state + 1]:
                there = chain.targets[following[state]]
                following[state] += 1
                if numbers[there] == unseen:
                    depth += 1
                    path[depth] = there
                elif labels[there] < 0:
                    lowest[state] = min(lowest[state], numbers[there])
                continue
            if lowest[state] == numbers[state]:  # the first of a set: all that is open above it belongs to it
                while labels[state] < 0:
                    waiting -= 1
                    labels[open_states[waiting]] = count
                count += 1
            depth -= 1
            if depth >= 0:
                lowest[path[depth]] = min(lowest[path[depth]], lowest[state])
    closed = np.ones(count, dtype=np.bool_)
    for state in states:
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            if labels[chain.targets[k]] != labels[state]:
                closed[labels[state]] = False
    return labels, closed


def layouts(fleet: RobotFleet, states: Numbers) -> Iterator[Numbers]:
    """Orders of states in which moves may be short: by robots first, by pages first and then by how many are out."""
    j, place, q = (
        states % fleet.environments,
        states // fleet.environments % fleet.places,
        states // (fleet.environments * fleet.places),
    )
    out = fleet.robots_out.sum(axis=1)[place]
    yield states[np.lexsort((j, q, place, out))]
    yield states[np.lexsort((j, place, out, q))]


@njit(cache=True)
def reachable(chain: Chain, starts: Numbers) -> NDArray[np.bool_]:
    """States that the chain can come to."""
    found = np.zeros(len(chain.leaving), dtype=np.bool_)
    waiting = np.zeros(len(chain.leaving), dtype=np.int64)
    last = 0
    for state in starts:
        if not found[state]:
            found[state], waiting[last] = True, state
            last += 1
    first = 0
    while first < last:
        state = waiting[first]
        first += 1
        for k in range(chain.pointers[state], chain.pointers[state + 1]):
            there = chain.targets[k]
            if not found[there]:
                found[there], waiting[last] = True, there
                last += 1
    return found


@njit(cache=True)
def renumbered(chain: Chain, rows: Numbers, numbers: Numbers, size: int) -> Chain:
    """The chain on other numbers, which several states may share; moves of states whose row is -1 are left out."""
    pointers, leaving = np.zeros(size + 1, dtype=np.int64), np.zeros(size)
    for state in range(len(rows)):
        if rows[state] >= 0:
            pointers[rows[state] + 1] += chain.pointers[state + 1] - chain.pointers[state]
    for place in range(size):
        pointers[place + 1] += pointers[place]
    targets, rates, filled = np.zeros(pointers[size], dtype=np.int64), np.zeros(pointers[size]), pointers[:-1].copy()
    for state in range(len(rows)):
        here = rows[state]
        if here >= 0:
            for k in range(chain.pointers[state], chain.pointers[state + 1]):
                targets[filled[here]], rates[filled[here]] = numbers[chain.targets[k]], chain.rates[k]
                filled[here] += 1
            leaving[here] += chain.leaving[state]
    return Chain(pointers, targets, rates, leaving)


def shares_within(fleet: RobotFleet, chain: Chain, states: Numbers, pause: Pause | None = None) -> Shares:
    """Shares of time in a closed class."""
    recurs = np.zeros(fleet.states, dtype=np.bool_)
    recurs[states] = True
    if len(states) == 1:
        return Shares(recurs.astype(np.float64), recurs)
    numbers = np.full(fleet.states, -1, dtype=np.int64)
    numbers[states] = np.arange(len(states))
    part = renumbered(chain, numbers, numbers, len(states))
    within = _stationary(part, (numbers[order] for order in layouts(fleet, states)), pause)

    def spread(shares: Vector) -> Vector:
        everywhere = np.zeros(fleet.states)
        everywhere[states] = shares
        return everywhere

    rough = None if within.rough is None else spread(within.rough)
    return Shares(spread(within.best), recurs, rough, within.progress)


def _stationary(chain: Chain, orders: Iterable[Numbers], pause: Pause | None) -> Shares:
    """Stationary distribution of a chain whose states all reach one another."""
    size = len(chain.leaving)
    recurs = np.ones(size, dtype=np.bool_)
    order, width = banded.short_order(chain, np.arange(size), orders)
    if banded.fits(size, width):
        return Shares(banded.shares_of_time(banded.eliminated(chain, order, width, order[0]), size), recurs)
    matrix = krylov.backward(chain, 0)
    rough, _, _ = krylov.solved(matrix, matrix.right, FIRST, krylov.STEPS, pause)
    best, left = rough, krylov.left_over(matrix, matrix.right, rough)
    before = after = float(np.linalg.norm(left))
    for _ in range(CORRECTIONS):  # what a solution leaves is computed anew: its own account of it drifts
        if after <= LAST * float(np.linalg.norm(matrix.right)):
            break
        step, _, _ = krylov.solved(matrix, left, 1e-5, krylov.STEPS, pause)
        rest = krylov.left_over(matrix, matrix.right, best + step)
        size_of_rest = float(np.linalg.norm(rest))
        if not size_of_rest < 0.9 * after:
            break
        best, left, after = best + step, rest, size_of_rest
    return Shares(_scaled(best), recurs, _scaled(rough), after / max(before, 1e-300))


def _scaled(shares: Vector) -> Vector:
    positive = np.maximum(shares, 0.0)
    return np.asarray(positive / positive.sum())


def _chances_of_ending(
    chain: Chain,
    reached: NDArray[np.bool_],
    classes: list[Numbers],
    starts: Numbers,
    chances: Vector,
    pause: Pause | None,
) -> Vector:
    """Probability of ending in each closed class."""
    numbers = np.full(len(chain.leaving), -1, dtype=np.int64)
    inside = np.zeros(len(chain.leaving), dtype=np.bool_)
    for index, states in enumerate(classes):
        numbers[states] = index
        inside[states] = True
    passing = np.flatnonzero(reached & ~inside)
    numbers[passing] = len(classes) + np.arange(len(passing))
    drawn = renumbered(chain, np.where(inside, -1, numbers), numbers, len(classes) + len(passing))
    share = np.zeros(len(classes) + 1)
    for start, chance in zip(starts, chances, strict=True):
        share[min(numbers[start], len(classes))] += chance
    if share[-1] == 0:
        return share[:-1]
    # From each class the chain begins anew at rate 1, in the states that it began in.
    anew = Chain(
        np.concatenate(
            [np.arange(len(classes) + 1) * len(starts), drawn.pointers[len(classes) + 1 :] + len(classes) * len(starts)]
        ),
        np.concatenate([np.tile(numbers[starts], len(classes)), drawn.targets]),
        np.concatenate([np.tile(chances, len(classes)), drawn.rates]),
        np.concatenate([np.ones(len(classes)), drawn.leaving[len(classes) :]]),
    )
    found = _stationary(chain_from(anew.matrix()), [], pause)
    weights = found.best[: len(classes)]
    return np.asarray(weights / weights.sum())
