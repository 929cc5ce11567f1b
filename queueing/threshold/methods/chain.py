r"""One policy of a threshold queue as arrays: what the compiled kernels are given.

Levels that no batch reaches under the policy are left out, so every level that is left has some probability.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Matrix, Vector, stationary_of_rates
from ..model import ModeByLevel, ThresholdModel

#: Matrices by level, mode or number of pages.
Blocks = NDArray[np.float64]


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


def masses_of_hazards(chain: Chain, hazards: Matrix) -> Matrix:
    r"""Probabilities of (level, arrival phase, service phase), given the mean total rate of obsolescence in each.

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
