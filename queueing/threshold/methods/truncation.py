r"""Queues with more room than exact methods take, cut off at a level that is hardly ever reached.

A queue with room for fewer pages is the same chain below its highest levels; how often it is there, and how many pages
find no room there, shows what is left out. With q the probability of its last levels (as many as a batch may pass) and
of losing a page, together the *tail*, level probabilities are off by about q in all: `SAFETY` times that, times the
largest value a measure can have on a level, is added to its error. What is lost in the end is only known to be less
than what the smaller queue loses.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...numerics import Vector
from ..model import Flows, Method, ModeByLevel, ThresholdModel
from .elimination import ELIMINATION
from .flows import SAFETY
from .krylov import KRYLOV, KRYLOV_PREFERRED
from .matrix_free import MATRIX_FREE, MATRIX_FREE_LIMIT

#: Tail at which a queue too large for exact methods is cut off.
LIGHT_TAIL = 1e-8

# Levels above the highest that a forecast may ask for: decay is faster further up than where it was seen.
_HOPE = 6


class HeavyTailError(ValueError):
    """The queue is too full to be cut off."""


def tail_of(model: ThresholdModel, flows: Flows) -> float:
    """Return the probability of the last levels and of losing a page."""
    last = float(flows.levels[-max(1, model.largest_batch) :].sum())
    return min(1.0, last + (flows.lost / flows.arriving if flows.arriving > 0.0 else 0.0))


def with_tail(model: ThresholdModel, flows: Flows, errors: Mapping[str, float], tail: float, safety: float) -> Flows:
    """Add what a tail that was cut off can change to the errors of flows.

    Parameters
    ----------
    model
        the queue that was cut off.
    flows
        its flows.
    errors
        relative errors by measure, without the tail; of measures that are not there, the error estimate of the flows.
    tail
        probability of what was cut off.
    safety
        how often the tail counts.

    Returns
    -------
    Flows
        the flows, with errors by measure and the capacity as `truncated_at`.
    """
    told = {
        name: errors.get(name, flows.error_estimate) + (safety * tail * scale / value if value > 0 else 0.0)
        for name, (value, scale) in _tail_scales(model, flows).items()
    }
    estimate = max(flows.error_estimate, *told.values())
    if flows.lost > 0.0:  # without bound nothing is lost, so that the truth lies between 0 and this
        told |= {"loss": 1.0 + estimate, "loss_rate": 1.0 + estimate}
    return replace(flows, error_estimate=estimate, errors=told, truncated_at=model.capacity, tail=tail)


def _tail_scales(model: ThresholdModel, flows: Flows) -> dict[str, tuple[float, float]]:
    """Return, by name of a measure, its value, and the largest value that it can have on a level."""
    levels: Vector = np.arange(len(flows.levels), dtype=np.float64)
    arriving, long = flows.arriving, model.service.mean * (model.top + 1)
    if not arriving > 0.0:
        return {"starvation": (1.0, 1.0)}
    sizes = np.arange(1 + model.largest_batch, dtype=np.float64)
    fastest = max(
        float((sizes[: len(process.blocks)] @ [block.sum(axis=1) for block in process.blocks[: len(sizes)]]).max())
        for process in model.arrivals
    )
    return {
        "arrival_rate": (arriving, fastest),
        "obsolescence": (flows.obsolete / arriving, 1.0),
        "success": (flows.served / arriving, 1.0),
        "starvation": (float(flows.levels[0]), 1.0),
        "active_robots": (1.0, 1.0),
        "mean_length": (float(levels @ flows.levels), float(model.top)),
        "response_time": (flows.served_time / flows.served if flows.served > 0 else 0.0, long),
        "obsolete_time": (flows.obsolete_time / flows.obsolete if flows.obsolete > 0 else 0.0, long),
        "sojourn_time": ((flows.served_time + flows.obsolete_time) / arriving, long),
        "obsolescence_rate": (flows.obsolete, fastest),
    }


def exact_flows(model: ThresholdModel, modes: ModeByLevel) -> Flows:
    """Find the flows of a queue that was cut off by the faster of the methods that know every state.

    Parameters
    ----------
    model
        the queue.
    modes
        for each level, the mode in force there.

    Returns
    -------
    Flows
        the flows; their method is told with the capacity.
    """
    method = KRYLOV if model.states <= KRYLOV_PREFERRED else MATRIX_FREE
    return replace(method.flows(model, modes), method=f"{method.name}, truncated at {model.capacity}")


def truncated_flows(model: ThresholdModel, modes: ModeByLevel, tail: float = LIGHT_TAIL) -> Flows:
    """Return all flows of a policy by an exact method at a lower capacity, and refuse policies that fill it.

    The first capacity is small; the decay of its last levels tells how many more are needed, or that there is no hope.
    """
    highest, capacity = (max(largest_capacity(model, limit), 1) for limit in (MATRIX_FREE_LIMIT, KRYLOV_PREFERRED))
    while True:
        smaller = replace(model, capacity=capacity)
        flows = exact_flows(smaller, modes[: smaller.top + 1])
        found = tail_of(smaller, flows)
        if found < tail:
            told = with_tail(smaller, flows, flows.errors, found, SAFETY)
            return replace(told, levels=np.append(flows.levels, np.zeros(model.top - smaller.top)))
        decay = _decay(flows.levels)
        more = math.ceil(math.log(tail / found) / math.log(decay)) if decay < 1.0 else highest
        if capacity == highest or capacity + more > highest + _HOPE:
            raise HeavyTailError(
                f"Method 'truncated' must find less than {tail} at the last levels it reaches, {highest} pages at "
                f"most, but {capacity} pages leave {found:.1e}; lower the capacity or give patience fewer phases."
            )
        capacity = min(capacity + max(more, 1), highest)


def largest_capacity(model: ThresholdModel, states: int) -> int:
    """Find the largest capacity with at most so many states.

    Parameters
    ----------
    model
        the queue.
    states
        most states.

    Returns
    -------
    int
        the capacity, at most that of the model.
    """
    capacity = 0
    while capacity < model.capacity and replace(model, capacity=capacity + 1).states <= states:
        capacity += 1
    return capacity


def _decay(levels: Vector) -> float:
    """Factor from one level to the next, some levels below the top; with patience it falls further up."""
    count = max(1, len(levels) // 3)
    first, last = float(levels[-1 - count]), float(levels[-1])
    return max(1e-3, min(1.0, (last / first) ** (1.0 / count))) if first > 0.0 else 1.0


def _refusal(model: ThresholdModel) -> str | None:
    if ELIMINATION.refusal(model) is None or model.states <= MATRIX_FREE_LIMIT:
        return "takes queues only that exact methods do not"
    if replace(model, capacity=2).states > MATRIX_FREE_LIMIT:
        return f"takes at most {MATRIX_FREE_LIMIT} states at two pages"
    return None


TRUNCATED = Method(name="truncated", refusal=_refusal, flows=truncated_flows)
