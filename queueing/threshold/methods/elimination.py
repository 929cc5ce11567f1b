r"""Threshold queues with exponential patience (or none), level by level, without a subtraction.

Where patience has one phase, the pages that wait are only a number: level i has the states (nu, m), n = W M of them,
and pages go out of date at the rate (i - 1) g. From level i the chain falls to level i - 1 only, so

.. math::  \bar Q_{ii} = Q_{ii} + \sum_{s \ge 1} Q_{i,i+s} G_{i+s} G_{i+s-1} \cdots G_{i+1}, \qquad
           G_i = (-\bar Q_{ii})^{-1} Q_{i,i-1},

from the top down, the sum in Horner's way. Then, from the bottom up, p_i solves :math:`p_i (-\bar Q_{ii}) = f`, f the
flow into level i from below, directly or first through levels above. Off-diagonal entries and exit rates alone are
kept (see :mod:`queueing.numerics.markov`), so every term is positive and every probability has all its digits: a loss
of 1e-30 is as good as one of 0.3. Time O(K (m + 1) n^3) with batches of at most m, memory O(K n^2).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Matrix, Vector, factor_in_place, solve_in_place, solve_left_in_place, stationary_of_rates
from ..model import ADMISSIONS, Flows, Method, ModeByLevel, ThresholdModel, direct_flows
from .chain import Blocks

#: The rules of admission, as compiled code compares them.
PARTIAL, WHOLE, COMPLETE = range(len(ADMISSIONS))

# Unnormalised probabilities above this are brought down, with all others.
_LARGE = 1e200

#: By level and state in it, the mode in force.
ModeByState = NDArray[np.int64]


def _refusal(model: ThresholdModel) -> str | None:
    if model.patience_order == 1 or model.top == 1:
        return None
    return f"takes patience of one phase, and this one has {model.patience_order} that cannot be reduced"


class Rates(NamedTuple):
    """The model as arrays: what the kernels are given.

    Attributes
    ----------
    quiet
        by mode and room (up to the largest batch): moves of the arrival chain by which no page enters.
    blocks, tails
        by mode and size: D_k, and the sum of D_k, D_{k+1}, ...
    service, start, ending, fading
        S, beta, S_0, and the rate g at which a waiting page goes out of date.
    capacity, top, admission
        K, the highest level, and the index of the rule of admission.
    """

    quiet: Blocks
    blocks: Blocks
    tails: Blocks
    service: Matrix
    start: Vector
    ending: Vector
    fading: float
    capacity: int
    top: int
    admission: int


def stationary_levels(model: ThresholdModel, modes: ModeByLevel) -> Matrix:
    """Find the stationary distribution of a policy, level by level.

    Parameters
    ----------
    model
        the queue; its patience has one phase at most.
    modes
        for each level, the mode in force there.

    Returns
    -------
    Matrix
        by level, probabilities of (arrival phase, service phase); at level 0 the service phase is the one in which the
        next service begins.
    """
    return _stationary(rates_of(model), modes)


def _stationary(rates: Rates, modes: ModeByLevel) -> Matrix:
    states = rates.blocks.shape[2] * len(rates.start)
    return stationary_by_state(rates, np.repeat(modes[:, np.newaxis], states, axis=1))


def stationary_by_state(rates: Rates, modes: ModeByState) -> Matrix:
    """Find the stationary distribution where the mode depends on the state, not only on the level.

    Parameters
    ----------
    rates
        the queue, as `rates_of` writes it.
    modes
        by level and state in it, the mode in force; at level 0 the first ones count, by arrival phase.

    Returns
    -------
    Matrix
        probabilities, as `stationary_levels` returns them.
    """
    passages, factors, totals, bottom = _eliminate(rates, modes)
    return np.asarray(_distribute(rates, modes, stationary_of_rates(bottom), passages, factors, totals))


def _flows(model: ThresholdModel, modes: ModeByLevel) -> Flows:
    rates = rates_of(model)
    levels = _stationary(rates, modes)
    seen = _backward_sums(rates, modes, levels, outcomes_of(rates))
    return direct_flows(model.top, levels.sum(axis=1), *_forward_sums(rates, modes, levels), seen)


ELIMINATION = Method(name="elimination", refusal=_refusal, flows=_flows)


def rates_of(model: ThresholdModel) -> Rates:
    """Write a model as arrays.

    Parameters
    ----------
    model
        the queue.

    Returns
    -------
    Rates
        what compiled code is given.
    """
    phases, largest = model.arrivals[0].phases, max(1, model.largest_batch)
    blocks = np.zeros((len(model.arrivals), largest + 1, phases, phases))
    for mode, process in enumerate(model.arrivals):
        for size, block in enumerate(process.blocks[: largest + 1]):
            blocks[mode, size] = block
    tails = np.zeros((len(model.arrivals), largest + 2, phases, phases))
    tails[:, :-1] = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1]
    quiet = np.repeat(blocks[:, :1], largest + 1, axis=1)
    if model.admission == "whole-batch":
        quiet = quiet + tails[:, 1:]
    else:
        quiet[:, 0] = tails[:, 0]
    return Rates(
        quiet=quiet,
        blocks=blocks,
        tails=tails,
        service=np.array(model.service.generator),
        start=np.array(model.service.initial),
        ending=np.array(model.service.exit_rates),
        # A system with room for one page has no waiting: its patience, of whatever order, never counts.
        fading=float(model.patience_rates[2][0]) if model.patience_order == 1 else 0.0,
        capacity=model.capacity,
        top=model.top,
        admission=ADMISSIONS.index(model.admission),
    )


# The kernels work entry by entry: array expressions would take numba minutes to compile, not seconds. Matrices of
# levels are kept with room for n states; at level 0 only the first W are used.


@njit(cache=True)
def room_at(rates: Rates, level: int) -> int:
    """Tell how many pages find room.

    Parameters
    ----------
    rates
        the queue, as `rates_of` writes it.
    level
        number of pages in the system.

    Returns
    -------
    int
        capacity minus level, at least 0.
    """
    return max(0, rates.capacity - level)


@njit(cache=True)
def reach_of(rates: Rates, level: int) -> int:
    """Tell how many levels a batch can climb.

    Parameters
    ----------
    rates
        the queue, as `rates_of` writes it.
    level
        number of pages in the system.

    Returns
    -------
    int
        the most pages of one batch that can enter.
    """
    largest: int = rates.blocks.shape[1] - 1
    room: int = room_at(rates, level)
    if rates.admission == COMPLETE:
        return largest if room > 0 else 0
    return min(largest, room)


@njit(cache=True)
def climb_of(rates: Rates, mode: int, level: int, step: int) -> Matrix:
    """Return the transitions of the arrival chain by which so many pages enter.

    Parameters
    ----------
    rates
        the queue, as `rates_of` writes it.
    mode
        the mode in force.
    level
        number of pages in the system.
    step
        number of pages that enter, at most `reach_of`.

    Returns
    -------
    Matrix
        rates by arrival phase before and after; with 0 pages, the diagonal is no rate.
    """
    room = room_at(rates, level)
    matrix: Matrix
    if step == 0:
        matrix = rates.quiet[mode, min(room, rates.quiet.shape[1] - 1)]
    elif rates.admission == PARTIAL and step == room:
        matrix = rates.tails[mode, step]
    else:
        matrix = rates.blocks[mode, step]
    return matrix


@njit(cache=True)
def _multiply(left: Matrix, right: Matrix) -> Matrix:
    result = np.zeros((left.shape[0], right.shape[1]))
    for row in range(left.shape[0]):
        for inner in range(left.shape[1]):
            value = left[row, inner]
            if value != 0.0:
                for column in range(right.shape[1]):
                    result[row, column] += value * right[inner, column]
    return result


@njit(cache=True)
def _watched(rates: Rates, modes: ModeByState, level: int, passages: Blocks) -> Matrix:
    """Find the rates from `level` back to it, directly or through higher levels, service phases standing still."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    size = phases * order
    within = np.zeros((size, size))
    for step in range(reach_of(rates, level), -1, -1):
        for before in range(phases):
            for phase in range(order if level > 0 else 1):
                row = before * order + phase if level > 0 else before
                climb = climb_of(rates, modes[level, row], level, step)
                for after in range(phases):
                    if level > 0:
                        within[row, after * order + phase] += climb[before, after]
                    elif step > 0:
                        for begun in range(order):
                            within[row, after * order + begun] += climb[before, after] * rates.start[begun]
                    else:
                        within[row, after] += climb[before, after]
        if step > 0:
            within = _multiply(within, passages[level + step])
    return within


@njit(cache=True)
def _eliminate(rates: Rates, modes: ModeByState) -> tuple[Blocks, Blocks, Matrix, Matrix]:
    """Find G_i, the factors of -Qbar_ii with their totals, and the chain watched at level 0."""
    phases, order, top = rates.blocks.shape[2], len(rates.start), rates.top
    size = phases * order
    passages = np.zeros((top + 1, size, size))
    factors = np.zeros((top + 1, size, size))
    totals = np.zeros((top + 1, size))
    exits = np.zeros(size)
    for level in range(top, 0, -1):
        within = _watched(rates, modes, level, passages)
        fading = (level - 1) * rates.fading
        for nu in range(phases):
            for phase in range(order):
                state = nu * order + phase
                exits[state] = rates.ending[phase] + fading
                for other in range(order):
                    within[state, nu * order + other] += rates.service[phase, other]
                    if level > 1:
                        passages[level, state, nu * order + other] = rates.ending[phase] * rates.start[other]
                if level > 1:
                    passages[level, state, state] += fading
                else:
                    passages[level, state, nu] = rates.ending[phase]
        factors[level] = within
        factor_in_place(factors[level], exits, totals[level])
        solve_in_place(factors[level], totals[level], passages[level])
    return passages, factors, totals, _watched(rates, modes, 0, passages)[:phases, :phases].copy()


@njit(cache=True)
def _send(rates: Rates, modes: ModeByState, level: int, probabilities: Matrix, pending: Matrix) -> int:
    """Add the flow from a level straight into those above; the highest of them."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    reach = reach_of(rates, level)
    for step in range(1, reach + 1):
        for before in range(phases):
            for phase in range(order):
                mass = probabilities[level, before * order + phase]
                climb = climb_of(rates, modes[level, before * order + phase if level > 0 else before], level, step)
                for after in range(phases):
                    pending[level + step, after * order + phase] += mass * climb[before, after]
    return level + reach


@njit(cache=True)
def _distribute(
    rates: Rates, modes: ModeByState, empty: Vector, passages: Blocks, factors: Blocks, totals: Matrix
) -> Matrix:
    """Find the probabilities of all states by level; at level 0 of (nu, the phase the next service will begin in)."""
    phases, order, top = rates.blocks.shape[2], len(rates.start), rates.top
    size = phases * order
    probabilities = np.zeros((top + 1, size))
    pending = np.zeros((top + 1, size))
    for nu in range(phases):
        for phase in range(order):
            probabilities[0, nu * order + phase] = empty[nu] * rates.start[phase]
    highest = _send(rates, modes, 0, probabilities, pending)
    total = 1.0
    inflow, falling = np.zeros(size), np.zeros(size)
    for level in range(1, top + 1):
        inflow[:] = 0.0
        for above in range(highest, level, -1):
            falling[:] = 0.0
            for state in range(size):
                value = inflow[state] + pending[above, state]
                for other in range(size):
                    falling[other] += value * passages[above, state, other]
            inflow[:] = falling
        for state in range(size):
            probabilities[level, state] = inflow[state] + pending[level, state]
        solve_left_in_place(factors[level], totals[level], probabilities[level])
        for state in range(size):
            total += probabilities[level, state]
        if total > _LARGE:
            for other in range(top + 1):
                for state in range(size):
                    probabilities[other, state] /= _LARGE
                    pending[other, state] /= _LARGE
            total /= _LARGE
        highest = max(highest, _send(rates, modes, level, probabilities, pending))
    for level in range(top + 1):
        for state in range(size):
            probabilities[level, state] /= total
    return probabilities


@njit(cache=True)
def outcomes_of(rates: Rates) -> Blocks:
    """Find what becomes of a page that enters, by Avrachenkov et al. (2011), theorem 4, with patience of one phase.

    Parameters
    ----------
    rates
        the queue, as `rates_of` writes it.

    Returns
    -------
    Blocks
        by outcome, pages ahead and phase of service: the probability that the page is served, the mean time it then
        spends (0 if it is not served), and the same two for a page that goes out of date.
    """
    order, top, fading = len(rates.start), rates.top, rates.fading
    outcomes = np.zeros((4, top, order))
    factors = np.zeros((order, order))
    exits, totals = np.zeros(order), np.zeros(order)
    right = np.zeros((order, 2))
    for ahead in range(top):
        for phase in range(order):
            exits[phase] = rates.ending[phase] + ahead * fading
            for other in range(order):
                factors[phase, other] = rates.service[phase, other]
        factor_in_place(factors, exits, totals)
        for moment in range(2):
            for which in range(2):
                kind = 2 * which + moment
                begun = 0.0
                if ahead > 0:
                    for phase in range(order):
                        begun += rates.start[phase] * outcomes[kind, ahead - 1, phase]
                for phase in range(order):
                    value = rates.ending[phase] * begun
                    if ahead > 0:
                        value += (ahead - 1) * fading * outcomes[kind, ahead - 1, phase]
                    if moment == 1:
                        value += outcomes[kind - 1, ahead, phase]
                    elif ahead == 0 and which == 0:
                        value = rates.ending[phase]
                    elif ahead > 0 and which == 1:
                        value += fading
                    right[phase, which] = value
            solve_in_place(factors, totals, right)
            for phase in range(order):
                outcomes[moment, ahead, phase] = right[phase, 0]
                outcomes[2 + moment, ahead, phase] = right[phase, 1]
    return outcomes


@njit(cache=True)
def _forward_sums(rates: Rates, modes: ModeByLevel, probabilities: Matrix) -> tuple[float, float, float, float]:
    """Count pages arriving, lost, out of date and served per unit of time, as the system sees it."""
    largest, phases, order = rates.blocks.shape[1] - 1, rates.blocks.shape[2], len(rates.start)
    arriving, lost, obsolete, served = 0.0, 0.0, 0.0, 0.0
    for level in range(rates.top + 1):
        room = room_at(rates, level)
        for nu in range(phases):
            mass = 0.0
            for phase in range(order):
                mass += probabilities[level, nu * order + phase]
                if level > 0:
                    served += probabilities[level, nu * order + phase] * rates.ending[phase]
            if level > 1:
                obsolete += (level - 1) * rates.fading * mass
            for batch in range(1, largest + 1):
                rate = 0.0
                for other in range(phases):
                    rate += rates.blocks[modes[level], batch, nu, other]
                arriving += batch * mass * rate
                if rates.admission == PARTIAL:
                    lost += max(0, batch - room) * mass * rate
                elif (rates.admission == WHOLE and batch > room) or room == 0:
                    lost += batch * mass * rate
    return arriving, lost, obsolete, served


@njit(cache=True)
def _backward_sums(
    rates: Rates, modes: ModeByLevel, probabilities: Matrix, outcomes: Blocks
) -> tuple[float, float, float, float]:
    """Count pages entering per unit of time by outcome, and the time they will spend, as they see it."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    result = np.zeros(4)
    joining = np.zeros(phases)
    for level in range(rates.top + 1):
        joining[:] = 0.0
        for step in range(reach_of(rates, level), 0, -1):
            climb = climb_of(rates, modes[level], level, step)
            for nu in range(phases):
                for other in range(phases):
                    joining[nu] += climb[nu, other]  # rate of batches of which at least `step` pages enter
                for phase in range(order):
                    rate = probabilities[level, nu * order + phase] * joining[nu]
                    for kind in range(4):
                        result[kind] += rate * outcomes[kind, level + step - 1, phase]
    return result[0], result[1], result[2], result[3]
