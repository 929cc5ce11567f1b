r"""One policy of a threshold queue as arrays, which the compiled kernels are given, and its generator.

Levels that no batch reaches under the policy are left out, so every level that is left has some probability.

States of the generator are ordered by level, then by the phases of the waiting pages, the youngest first, then by
arrival phase, then by service phase (the rows of :mod:`queueing.threshold.methods.phase_words`). Entries are written by
*target* state, with the states that lead to it: the transposed generator by rows, which is what p Q is computed from.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Integers, Matrix, Vector, stationary_of_rates
from ..model import ModeByLevel, ThresholdModel

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from .phase_words import Letters

#: Matrices by level, mode or number of pages.
Blocks = NDArray[np.float64]

# Numbers of states without a sign: compiled code need not ask whether they count from the end.
Places = NDArray[np.uint64]
Sources = NDArray[np.uint32]


class Chain(NamedTuple):
    r"""Arrivals by level, and service.

    Attributes
    ----------
    climbs
        by level and number of pages that enter: moves of the arrival chain; with 0 pages the diagonal of the generator.
    joining
        by level and place q in the batch: by arrival phase, rate of batches whose q-th page enters.
    offered, refused
        by level and arrival phase: pages that come, and that find no room, per unit of time.
    service, start, ending
        S, beta, :math:`S_0`.
    """

    climbs: Blocks
    joining: Blocks
    offered: Matrix
    refused: Matrix
    service: Matrix
    start: Vector
    ending: Vector

    @property
    def top(self) -> int:
        """Highest level."""
        return len(self.climbs) - 1

    @property
    def inner(self) -> int:
        """Number of pairs of an arrival phase and a service phase."""
        return int(self.climbs.shape[2]) * len(self.start)


def chain_of(model: ThresholdModel, modes: ModeByLevel) -> Chain:
    """Write one policy as arrays, without levels that are never reached.

    Parameters
    ----------
    model
        the queue.
    modes
        for each level, the mode in force there.

    Returns
    -------
    Chain
        arrivals by level, and service.
    """
    phases = model.arrivals[0].phases
    shape = (model.top + 1, min(model.top, model.largest_batch) + 1)
    climbs, joining = np.zeros((*shape, phases, phases)), np.zeros((*shape, phases))
    offered, refused = np.zeros((model.top + 1, phases)), np.zeros((model.top + 1, phases))
    highest = farthest = level = 0
    while level <= highest:
        process = model.arrivals[modes[level]]
        for batch, block in enumerate(process.blocks[: process.largest_batch + 1]):
            enter = model.admitted(level, batch)
            climbs[level, enter] += block
            if batch and block.any():
                rate = block.sum(axis=1)
                offered[level] += batch * rate
                refused[level] += (batch - enter) * rate
                joining[level, 1 : enter + 1] += rate
                highest, farthest = max(highest, level + enter), max(farthest, enter)
        level += 1
    return Chain(
        climbs=np.ascontiguousarray(climbs[: highest + 1, : farthest + 1]),
        joining=np.ascontiguousarray(joining[: highest + 1, : farthest + 1]),
        offered=offered[: highest + 1],
        refused=refused[: highest + 1],
        service=np.array(model.service.generator),
        start=np.array(model.service.initial),
        ending=np.array(model.service.exit_rates),
    )


def level_offsets(chain: Chain, order: int) -> list[int]:
    """Tell where each level begins in a row over all states.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    order
        number of phases of patience.

    Returns
    -------
    list of int
        by level, the place of its first state; at last the number of states.
    """
    offsets = [0, chain.climbs.shape[2]]
    for level in range(1, chain.top + 1):
        offsets.append(offsets[-1] + chain.inner * order ** (level - 1))
    return offsets[: chain.top + 2]


def masses_of_hazards(chain: Chain, hazards: Matrix) -> Matrix:
    r"""Find the probabilities of (level, arrival phase, service phase), given the total rate of obsolescence in each.

    Phases of patience act on these states through that rate alone, so with the true rates the answer is exact. It is
    found without a subtraction: each entry is as good, relatively, as the rates are. Row 0 is filled up with zeros.
    """
    phases, order, top = chain.climbs.shape[2], len(chain.start), chain.top
    rates = np.zeros((phases + top * phases * order,) * 2)
    _fill(chain.climbs, chain.service, chain.start, chain.ending, hazards, rates)
    solution = stationary_of_rates(rates)
    masses = np.zeros((top + 1, phases * order))
    masses[0, :phases] = solution[:phases]
    masses[1:] = solution[phases:].reshape(top, phases * order)
    return masses


@njit(cache=True)
def _fill(climbs: Blocks, service: Matrix, start: Vector, ending: Vector, hazards: Matrix, rates: Matrix) -> None:
    """Write the rates of the chain of `masses_of_hazards`."""
    phases, order = climbs.shape[2], len(start)
    size = phases * order
    for level in range(climbs.shape[0]):
        here = 0 if level == 0 else phases + (level - 1) * size
        below = 0 if level <= 1 else here - size
        for step in range(min(climbs.shape[1], climbs.shape[0] - level)):
            there = 0 if level + step == 0 else phases + (level + step - 1) * size
            for before in range(phases):
                for after in range(phases):
                    rate = climbs[level, step, before, after]
                    if level > 0:
                        for phase in range(order):
                            rates[here + before * order + phase, there + after * order + phase] += rate
                    elif step > 0:
                        for phase in range(order):
                            rates[before, there + after * order + phase] += rate * start[phase]
                    else:
                        rates[before, after] += rate
        if level > 0:
            for nu in range(phases):
                for phase in range(order):
                    state = here + nu * order + phase
                    for other in range(order):
                        rates[state, here + nu * order + other] += service[phase, other]
                        if level > 1:
                            rates[state, below + nu * order + other] += ending[phase] * start[other]
                    if level > 1:
                        rates[state, below + nu * order + phase] += hazards[level, nu * order + phase]
                    else:
                        rates[state, nu] += ending[phase]


class Incoming(NamedTuple):
    """Rates into each state, its own diagonal apart.

    Attributes
    ----------
    begins
        by state, where its entries begin, and their number.
    sources, rates
        by entry; a source may stand twice with one target, and both rates count.
    diagonal
        minus the rate at which each state is left.
    """

    begins: Places
    sources: Sources
    rates: Vector
    diagonal: Vector

    def generator(self) -> "csc_array":
        """Return the generator as a sparse matrix."""
        from scipy.sparse import csc_array  # slow to load, and seldom needed

        size = len(self.diagonal)
        moves = csc_array((self.rates, self.sources.astype(np.int64), self.begins.astype(np.int64)), shape=(size, size))
        places = np.arange(size)
        return csc_array(moves + csc_array((self.diagonal, (places, places)), shape=(size, size)))


def assemble(chain: Chain, letters: "Letters") -> Incoming:
    """Write the generator of the whole chain, by target state.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    letters
        patience of one page, in the coordinates of the law itself (`plain_letters`).

    Returns
    -------
    Incoming
        rates into each state, and the diagonal.
    """
    offsets = np.array(level_offsets(chain, letters.order), dtype=np.int64)
    begins = np.zeros(offsets[-1] + 1, dtype=np.uint64)
    arguments = (chain.climbs, chain.service, chain.start, chain.ending)
    law = (letters.start, letters.change, letters.fading)
    nothing = np.zeros(0, dtype=np.uint32), np.zeros(0), np.zeros(0)
    _write(*arguments, *law, offsets, begins, *nothing, False)
    sources, rates = np.zeros(int(begins[-1]), dtype=np.uint32), np.zeros(int(begins[-1]))
    diagonal = np.zeros(offsets[-1])
    _write(*arguments, *law, offsets, begins, sources, rates, diagonal, True)
    return Incoming(begins, sources, rates, diagonal)


@njit(cache=True)
def _put(sources: Sources, rates: Vector, entry: int, source: int, rate: float, writing: bool) -> int:
    if rate == 0.0:
        return entry
    if writing:
        sources[entry] = source
        rates[entry] = rate
    return entry + 1


@njit(cache=True)
def _write(
    climbs: Blocks,
    service: Matrix,
    start: Vector,
    ending: Vector,
    first: Vector,
    change: Matrix,
    fading: Vector,
    offsets: Integers,
    begins: Places,
    sources: Sources,
    rates: Vector,
    diagonal: Vector,
    writing: bool,
) -> None:
    """Count the entries of each state into `begins`, or write them."""
    phases, size, order = climbs.shape[2], len(start), len(first)
    inner, top = phases * size, climbs.shape[0] - 1
    entry = 0
    for nu in range(phases):  # nobody there
        for before in range(phases):
            if before != nu:
                entry = _put(sources, rates, entry, before, climbs[0, 0, before, nu], writing)
        if top > 0:
            for phase in range(size):
                entry = _put(sources, rates, entry, offsets[1] + nu * size + phase, ending[phase], writing)
        if writing:
            diagonal[nu] = climbs[0, 0, nu, nu]
        begins[nu + 1] = entry
    digits = np.zeros(top + 1, dtype=np.int64)  # the oldest page first
    likely = np.ones(top + 1)  # of the youngest letters, by their number: probability that new pages have them
    for level in range(1, top + 1):
        length = level - 1
        for position in range(length):
            digits[position] = 0
        for word in range(order**length):
            staying = 0.0
            for position in range(length):
                staying += change[digits[position], digits[position]]
            for count in range(1, length + 1):
                likely[count] = likely[count - 1] * first[digits[length - count]]
            for nu in range(phases):
                for phase in range(size):
                    state = offsets[level] + word * inner + nu * size + phase
                    for before in range(phases):
                        if before != nu:
                            source = state + (before - nu) * size
                            entry = _put(sources, rates, entry, source, climbs[level, 0, before, nu], writing)
                    for before in range(size):
                        if before != phase:
                            source = state + before - phase
                            entry = _put(sources, rates, entry, source, service[before, phase], writing)
                    stride = inner
                    for position in range(length):
                        here = digits[position]
                        for before in range(order):
                            if before != here:
                                source = state + (before - here) * stride
                                entry = _put(sources, rates, entry, source, change[before, here], writing)
                        stride *= order
                    # Batches: pages that stood in front are not there yet.
                    shorter = order**length
                    for count in range(1, min(climbs.shape[1] - 1, length) + 1):
                        shorter //= order
                        base = offsets[level - count] + (word % shorter) * inner + phase
                        for before in range(phases):
                            rate = climbs[level - count, count, before, nu] * likely[count]
                            entry = _put(sources, rates, entry, base + before * size, rate, writing)
                    if level < climbs.shape[1]:
                        for before in range(phases):
                            rate = climbs[0, level, before, nu] * start[phase] * likely[length]
                            entry = _put(sources, rates, entry, before, rate, writing)
                    if level < top:
                        for letter in range(order):
                            base = offsets[level + 1] + (word * order + letter) * inner + nu * size
                            for before in range(size):
                                rate = ending[before] * start[phase]
                                entry = _put(sources, rates, entry, base + before, rate, writing)
                        for letter in range(order):
                            stride, rest, taken = 1, word, 1
                            for position in range(length + 1):
                                # A letter put in beside its like gives the same word on either side.
                                if position < length and digits[position] == letter:
                                    taken += 1
                                else:
                                    longer = (word - rest * stride) + (rest * order + letter) * stride
                                    base = offsets[level + 1] + longer * inner + nu * size + phase
                                    entry = _put(sources, rates, entry, base, taken * fading[letter], writing)
                                    taken = 1
                                stride *= order
                                rest //= order
                    if writing:
                        diagonal[state] = climbs[level, 0, nu, nu] + service[phase, phase] + staying
                    begins[state + 1] = entry
            for position in range(length):
                digits[position] += 1
                if digits[position] < order:
                    break
                digits[position] = 0
