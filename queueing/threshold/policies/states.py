"""The states of a threshold queue, in the order in which a policy names their modes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model import ThresholdModel

Modes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StateOrder:
    """The states of a model, in order.

    Attributes
    ----------
    offsets
        by level, where its states begin, and at last their number.
    level, arrival, service
        of each state: pages in the system, phase of arrivals, phase of service (-1 with no page).
    pair
        of each state: its place among the states (level, arrival phase, service phase).
    pairs
        how many of these there are.
    """

    offsets: Modes
    level: Modes
    arrival: Modes
    service: Modes
    pair: Modes
    pairs: int

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.offsets[-1])


def pair_count(model: ThresholdModel) -> int:
    """Number of states (level, arrival phase, service phase)."""
    return model.arrivals[0].phases * (1 + model.service.order * model.top)


def state_order(model: ThresholdModel) -> StateOrder:
    """All states of a model, level by level."""
    phases, order = model.arrivals[0].phases, model.service.order
    letters = model.patience_order if model.top > 1 else 1
    sizes = np.array([phases, *(phases * order * letters**waiting for waiting in range(model.top))], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    level = np.repeat(np.arange(model.top + 1), sizes)
    within = np.arange(offsets[-1]) - offsets[level]
    block = sizes[level] // phases  # states of one arrival phase
    arrival = within // block
    service = np.where(level > 0, (within % block) // np.maximum(block // order, 1), -1)
    pair = np.where(level > 0, phases + ((level - 1) * phases + arrival) * order + service, arrival)
    return StateOrder(offsets, level, arrival, service, pair, pair_count(model))
