r"""The generator of a threshold queue, written by compiled code.

States are ordered by level, then by the phases of the waiting pages, the youngest first, then by arrival phase, then by
service phase (the rows of :mod:`queueing.threshold.methods.phase_words`). Entries are written by *target* state, with
the states that lead to it: the transposed generator by rows, which is what p Q is computed from.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ...numerics import Integers, Matrix, Vector
from .chain import Blocks, Chain
from .flows import level_offsets
from .phase_words import Letters

# Numbers of states without a sign: compiled code need not ask whether they count from the end.
Places = NDArray[np.uint64]
Sources = NDArray[np.uint32]


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

    def generator(self) -> csc_array:
        """The generator itself."""
        size = len(self.diagonal)
        moves = csc_array((self.rates, self.sources.astype(np.int64), self.begins.astype(np.int64)), shape=(size, size))
        places = np.arange(size)
        return csc_array(moves + csc_array((self.diagonal, (places, places)), shape=(size, size)))


def assemble(chain: Chain, letters: Letters) -> Incoming:
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
