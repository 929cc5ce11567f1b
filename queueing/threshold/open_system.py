r"""Policies of a system without bound whose pages have patience of several phases: room that grows until it is enough.

Room that is as good as none under every policy (:mod:`queueing.threshold.unbounded`) is far more than exact methods
take with such patience, and far more than one policy needs. So a policy is evaluated with little room, then with ever
more, and what that still changes tells the error, in two parts:

* measures move from one room to the next, each time by less: the last move counts `SAFETY` times;
* above the room c there may be levels that are hard to reach and hard to leave, of which no move tells. How much there
  is above, relative to c, is asked of the same queue with exponential patience of the same mean, which elimination
  solves with room for all: :math:`P(i > c) \approx P_c(i = c) \, Q(i > c) / Q(i = c)`, Q its probabilities.

Neither is a bound.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import SupportsIndex

import numpy as np

from ..numerics import Vector
from ..processes import PhaseType
from .methods import (
    ELIMINATION,
    KRYLOV,
    KRYLOV_PREFERRED,
    MATRIX_FREE,
    HeavyTailError,
    judged,
    largest_capacity,
    tail_scales,
)
from .model import Flows, ModeByLevel, ThresholdModel
from .queue import ThresholdMeasures, ThresholdQueue

#: Estimated relative error at which room is enough; above `PATIENCE_STATES` states the second will do.
TARGET, MODEST_TARGET = 1e-5, 1e-3
PATIENCE_STATES = 200_000

#: Most states a policy is evaluated with: some seconds.
STATES_LIMIT = 1_200_000

#: Policies whose error is larger than this with all the room there can be are refused.
LARGEST_ERROR = 0.5

# Part of the time at the last level, as it is forecast for all the room there can be, above which none is tried.
_HOPELESS = 0.02


def takes_open(queue: ThresholdQueue) -> bool:
    """Whether `open_measures` is needed: no exact method takes the queue with all its room.

    Parameters
    ----------
    queue
        with so much room that it is as good as without bound.

    Returns
    -------
    bool
        whether its patience has several phases and its states are too many.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType
    >>> from queueing.threshold import ThresholdQueue, takes_open
    >>> service, patience = PhaseType.exponential(1.0), PhaseType.erlang(2, 1.0)
    >>> [takes_open(ThresholdQueue((BMAP.poisson(0.5),), service, patience, capacity=room)) for room in (5, 60)]
    [False, True]
    """
    model = queue.model
    return ELIMINATION.refusal(model) is not None and model.states > KRYLOV_PREFERRED


def open_measures(queue: ThresholdQueue, thresholds: Sequence[SupportsIndex]) -> ThresholdMeasures:
    r"""All measures of a policy in a system without bound, with estimates of their errors.

    Parameters
    ----------
    queue
        with so much room that it is as good as without bound, see `unbounded_room`.
    thresholds
        as `ThresholdQueue.measures` takes them.

    Returns
    -------
    ThresholdMeasures
        with `truncated_at`, the room that was enough, and errors measure by measure; these are estimates, not bounds.

    Notes
    -----
    A policy is evaluated with ever more room until what that changes is small; what may be above the room c is
    estimated by the same queue with exponential patience, :math:`P(i > c) \approx P_c(i = c) Q(i > c) / Q(i = c)`.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType
    >>> from queueing.threshold import ThresholdQueue, open_measures
    >>> queue = ThresholdQueue(
    ...     (BMAP.poisson(0.5),), PhaseType.exponential(1.0), PhaseType.erlang(2, 1.0), capacity=60
    ... )
    >>> found = open_measures(queue, ())
    >>> round(found.obsolescence, 4), found.truncated_at < 60
    (0.1394, True)
    """
    modes = queue.mode_by_level(thresholds)
    flows = open_flows(queue.model, modes)
    return queue._measures(flows, modes, flows.method)


def open_flows(model: ThresholdModel, modes: ModeByLevel) -> Flows:
    """All flows of a policy; refuses policies that fill all the room exact methods have."""
    highest = max(largest_capacity(model, STATES_LIMIT), 1)
    first = max(min(largest_capacity(model, KRYLOV_PREFERRED), highest - 1), 1)
    above = _above(model, modes)
    coarse, capacity = _exact(model, modes, first), first
    while capacity < highest:
        larger = min(capacity + (2 if model.patience_order == 2 else 1), highest)
        try:
            fine = _exact(model, modes, larger)
        except ValueError:  # of several regions that are hard to leave, iterations find no balance
            break
        told = _told(model, modes, fine, coarse, larger, above)
        large = replace(model, capacity=larger).states > PATIENCE_STATES
        if told.error_estimate < (MODEST_TARGET if large else TARGET):
            return told
        if larger == highest and told.error_estimate < LARGEST_ERROR:
            return told
        before, after = float(coarse.levels[capacity:].sum()), float(fine.levels[larger:].sum())
        coarse, steps, capacity = fine, (highest - larger) / (larger - capacity), larger
        if after * min(1.0, after / before) ** steps > _HOPELESS:
            break
    raise HeavyTailError(
        f"without bound a policy is evaluated with room for at most {highest} pages with this patience, but this one "
        f"may need more: {float(coarse.levels[capacity:].sum()):.1e} of the time is spent where {capacity} end; "
        "give a capacity, or patience fewer phases."
    )


def _exact(model: ThresholdModel, modes: ModeByLevel, capacity: int) -> Flows:
    """Flows with less room, levels above having no probability."""
    smaller = replace(model, capacity=capacity)
    flows = _solved(smaller, tuple(modes[: smaller.top + 1].tolist()))
    levels = np.zeros(len(modes))
    levels[: smaller.top + 1] = flows.levels
    return replace(flows, levels=levels)


@lru_cache(maxsize=1024)
def _solved(model: ThresholdModel, modes: tuple[int, ...]) -> Flows:
    """Flows by an exact method; policies that differ only where there is no room ask for the same ones."""
    method = KRYLOV if model.states <= KRYLOV_PREFERRED else MATRIX_FREE
    flows = method.flows(model, np.array(modes, dtype=np.int64))
    return replace(flows, method=f"{method.name}, truncated at {model.capacity}")


def _above(model: ThresholdModel, modes: ModeByLevel) -> Vector:
    """By level, how likely higher ones are relative to it, with exponential patience of the same mean."""
    if model.patience is None:
        raise ValueError("A queue without bound needs patience, but it is None; give a law or a capacity.")
    proxy = replace(model, patience=PhaseType.exponential(1.0 / model.patience.mean))
    levels = ELIMINATION.flows(proxy, modes).levels
    higher = np.concatenate([np.cumsum(levels[::-1])[::-1][1:], [0.0]])
    return np.asarray(np.divide(higher, levels, out=np.zeros_like(levels), where=levels > 0), dtype=np.float64)


def _told(
    model: ThresholdModel,
    modes: ModeByLevel,
    fine: Flows,
    coarse: Flows,
    capacity: int,
    above: Vector,
) -> Flows:
    """`fine` with errors told by its difference to `coarse`, and by what may be above."""
    smaller = replace(model, capacity=capacity)
    tail = min(1.0, float(fine.levels[capacity:].sum()) * float(above[capacity]))
    # In truth nothing is lost; how fast losses fall with more room says nothing of other measures.
    moved = judged(replace(fine, lost=0.0), replace(coarse, lost=0.0), modes, 1.0)
    errors = {
        name: moved.errors.get(name, fine.error_estimate) + (tail * scale / value if value > 0 else 0.0)
        for name, (value, scale) in tail_scales(smaller, fine).items()
    }
    estimate = max(fine.error_estimate, *errors.values())
    if fine.lost > 0.0:  # nothing is lost in truth
        errors |= {"loss": 1.0 + estimate, "loss_rate": 1.0 + estimate}
    return replace(fine, error_estimate=estimate, errors=errors, truncated_at=capacity, tail=tail)
