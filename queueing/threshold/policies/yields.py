r"""What a unit of time yields in each state of a threshold queue under each mode.

Pages are served first come, first served, so what becomes of a page that enters does not depend on what comes later:
every flow is a sum, over states, of the time spent there by what a unit of time yields there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numerics import Matrix, Vector
from ..methods import ELIMINATION, rates_of
from ..methods import outcomes_of as outcomes_by_elimination
from ..model import ThresholdModel
from .states import Modes, StateOrder
from .stationary import outcomes_by_ahead
from .transitions import arrival_blocks, patience_rates_of

#: What a unit of time yields, in the order of `PolicyChain.yields`: pages that come, find no room, go out of date, are
#: served; as those that enter see it, pages that will be served and their time, that will go out of date and theirs.
YIELDS = (
    "arriving",
    "lost",
    "obsolete",
    "served",
    "will_serve",
    "served_time",
    "will_fade",
    "obsolete_time",
)


def yields_of(model: ThresholdModel, order: StateOrder) -> NDArray[np.float64]:
    """Return what a unit of time yields, by name in `YIELDS`, mode and state."""
    blocks, entering = arrival_blocks(model)
    coming = blocks.sum(axis=3)  # by mode, batch and arrival phase
    result = np.zeros((len(YIELDS), len(model.arrivals), order.states))
    sizes = np.arange(coming.shape[1])
    result[0] = np.einsum("k,akn->an", sizes, coming)[:, order.arrival]
    lost = sizes - entering
    result[1] = np.einsum("lk,akn->aln", lost, coming)[:, order.level, order.arrival]
    result[2] = _fading_by_state(model, order)
    result[3] = np.where(order.level > 0, model.service.exit_rates[order.service], 0.0)
    if ELIMINATION.refusal(model) is None:
        _add_outcomes_of_numbers(model, order, coming, entering, result)
        return result
    outcomes = outcomes_by_ahead(model)
    for level in range(model.top + 1):
        first, last = int(order.offsets[level]), int(order.offsets[level + 1])
        for batch in range(1, coming.shape[1]):
            told = _told(model, outcomes, level, int(entering[level, batch]))
            for row, column in zip(range(4, 8), told, strict=True):
                part = coming[:, batch, :, np.newaxis] * column
                result[row, :, first:last] += part.reshape(len(model.arrivals), last - first)
    return result


def _add_outcomes_of_numbers(
    model: ThresholdModel, order: StateOrder, coming: NDArray[np.float64], entering: Modes, result: NDArray[np.float64]
) -> None:
    """What pages that enter will see, where those that wait are only a number: all levels at once."""
    outcomes = outcomes_by_elimination(rates_of(model))  # by outcome, pages ahead, phase of service
    first = outcomes @ model.service.initial  # in a batch that meets nobody: the service ahead is about to begin
    phases, levels = model.arrivals[0].phases, np.arange(model.top + 1)
    busy = order.level > 0
    for batch in range(1, coming.shape[1]):
        told = np.zeros((4, model.top + 1, model.service.order))
        empty = np.zeros(4)
        for position in range(1, int(entering[:, batch].max()) + 1):
            here = levels[entering[:, batch] >= position]
            told[:, here] += outcomes[:, here + position - 1]
            if entering[0, batch] >= position:
                empty += first[:, position - 1]
        result[4:, :, :phases] += empty[:, np.newaxis, np.newaxis] * coming[:, batch]
        result[4:, :, busy] += (
            coming[:, batch][:, order.arrival[busy]] * told[:, np.newaxis, order.level[busy], order.service[busy]]
        )


def _told(model: ThresholdModel, outcomes: list[Matrix], level: int, enter: int) -> list[Vector]:
    """By outcome and (service phase, waiting pages): sum over the pages of a batch of which so many enter.

    `outcomes` has, by pages ahead, a row for each outcome and a column for each (service phase, patience phases of
    those that wait and of the page itself).
    """
    gamma = model.patience_rates[0]
    size = 1 if level == 0 else model.level_size(level) // model.arrivals[0].phases
    totals: Any = np.zeros((4, size))
    for position in range(1, enter + 1):
        column = outcomes[level + position - 1]
        for _ in range(position if level > 0 else position - 1):
            column = column.reshape(4, -1, len(gamma)) @ gamma
        totals = totals + (column @ model.service.initial[:, np.newaxis] if level == 0 else column)
    return list(totals)


def _fading_by_state(model: ThresholdModel, order: StateOrder) -> Vector:
    """Rate at which pages go out of date, in each state."""
    fading, phases = patience_rates_of(model)[2], model.arrivals[0].phases
    if len(fading) == 1:
        return np.asarray(fading[0] * np.maximum(order.level - 1, 0))
    parts: list[Vector] = [np.zeros(phases)]
    total = np.zeros(1)
    for _ in range(model.top):
        parts.append(np.tile(total, phases * model.service.order))
        total = np.add.outer(total, fading).ravel()
    return np.concatenate(parts)
