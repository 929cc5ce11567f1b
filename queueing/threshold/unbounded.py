r"""Room without bound: how many pages there ever are, for all policies at once, and policies with room that grows.

Pages that wait go out of date, so that a system without bound settles whatever robots bring. It is evaluated with room
for K pages, K so large that less than a stated part of the time would be spent there or above.

Let a page that waits in phase r of its patience have the weight :math:`h_r = 1 + c m_r`, :math:`m_r` its mean remaining
patience and c > 0 free, and let V be the product of the weights of all that wait. Since :math:`\Gamma m = -1`, a page
that waits lowers V at the relative rate :math:`c / (1 + c m_r) \ge \delta = c / h_{max}`; one that goes into service
lowers it too. A batch of k pages multiplies V by at most :math:`z^k` in the mean, :math:`z = 1 + c \gamma m`, so that
arrivals raise it at most at the relative rate

.. math:: a = \max_{n, \nu} \sum_k (z^k - 1) (D_k^{(n)} e)_\nu,

whatever the mode and the phase. With i pages V changes in the mean at most by :math:`(a - \delta (i - 1)) V`. So it has
a stationary mean (Foster's criterion), and there these changes cancel: with n the least number of pages for which
:math:`\delta (n - 1) \ge (1 + \theta) a`,

.. math:: \theta a \, E[V; i \ge n] \le a \, E[V; i < n] \le a \, h_{max}^{\max(0, n - 2)},
          \qquad P(i \ge K) \le h_{max}^{\max(0, n - 2)} h_{min}^{1 - K} / \theta \quad (K \ge n).

This holds for every policy, also one that looks at phases; c and theta are chosen to make K small.

Where phases of patience differ much, so do weights, and K is very large. Then no more is used than that pages leave at
the end of their patience at the latest: let :math:`N_t` be those that came until t and whose patience, running on
even if they were served, has not ended. With z > 1 the mean of :math:`z^{N_T}` given the past until t is a product over
these pages of :math:`1 + (z - 1) s`, s the chance that patience lasts from the phase at t until T, but for pages
still to come. A batch of k multiplies the product by :math:`(1 + (z - 1) S(T - t))^k` in the mean, S the tail of
patience, which is convex in S. So, whatever the mode, the phase and the policy,

.. math:: E[z^{N_T}] \le \exp \int_0^T \max_{n, \nu} \sum_k \bigl((1 + (z - 1) S(x))^k - 1\bigr)
          (D_k^{(n)} e)_\nu \, dx \le \exp(m \, b), \qquad
          b = \max_{n, \nu} \sum_k (z^k - 1) (D_k^{(n)} e)_\nu,

m the mean patience, and :math:`P(i \ge K) \le P(N \ge K - 1) \le e^{m b} z^{1 - K}`: of patience only the mean counts.

Where pages have patience of several phases, such room is far more than exact methods take, and far more than one policy
needs. So a policy is evaluated with little room, then with ever more, and what that still changes tells the error, in
two parts:

* measures move from one room to the next, each time by less: the last move counts `SAFETY` times;
* above the room c there may be levels that are hard to reach and hard to leave, of which no move tells. How much there
  is above, relative to c, is asked of the same queue with exponential patience of the same mean, which elimination
  solves with room for all: :math:`P(i > c) \approx P_c(i = c) \, Q(i > c) / Q(i = c)`, Q its probabilities.

Neither is a bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import SupportsIndex

import numpy as np

from ..numerics import Vector
from ..processes import PhaseType, reduce_order
from .methods import (
    ELIMINATION,
    KRYLOV_PREFERRED,
    HeavyTailError,
    exact_flows,
    judged,
    largest_capacity,
    with_tail,
)
from .model import Flows, ModeByLevel, ThresholdModel
from .modes import Mode
from .queue import ThresholdMeasures, ThresholdQueue

#: Part of the time that may be spent where the room ends, unless said otherwise.
TAIL_MASS = 1e-12

#: Estimated relative error at which room is enough; above `PATIENCE_STATES` states the second will do.
TARGET, MODEST_TARGET = 1e-5, 1e-3
PATIENCE_STATES = 200_000

#: Most states a policy is evaluated with: some seconds.
STATES_LIMIT = 1_200_000

#: Policies whose error is larger than this with all the room there can be are refused.
LARGEST_ERROR = 0.5

# Part of the time at the last level, as it is forecast for all the room there can be, above which none is tried.
_HOPELESS = 0.02


@dataclass(frozen=True)
class Truncation:
    """Room that is as good as room without bound.

    Attributes
    ----------
    capacity
        K: pages there is room for.
    tail_mass
        Under no policy is more of the time spent with K pages or more, were there room for all.

    Examples
    --------
    >>> from queueing import BMAP, Mode, PhaseType, unbounded_room
    >>> found = unbounded_room([Mode(1, BMAP.poisson(2.0))], PhaseType.exponential(0.5), tail_mass=1e-6)
    >>> found.tail_mass <= 1e-6
    True
    """

    capacity: int
    tail_mass: float


def unbounded_room(modes: Sequence[Mode], patience: PhaseType, tail_mass: float = TAIL_MASS) -> Truncation:
    r"""Find room for so many pages that under no policy more than `tail_mass` of the time is spent there or above.

    Parameters
    ----------
    modes
        what each number of robots brings.
    patience
        time a waiting page stays worth indexing.
    tail_mass
        between 0 and 1.

    Returns
    -------
    Truncation
        the room, and the mass that is proved to be above.

    Notes
    -----
    With weights :math:`h_r = 1 + c m_r` of waiting pages, :math:`m_r` the mean remaining patience of phase r, Foster's
    criterion gives, for :math:`\theta > 0` and all K from some n on,

    .. math::  P(i \ge K) \le h_{max}^{\max(0, n - 2)} h_{min}^{1 - K} / \theta

    under every policy; c and theta are chosen to make K small. :mod:`queueing.threshold.unbounded` has the proof, and
    another bound in which only the mean patience m counts, :math:`P(i \ge K) \le e^{m b} z^{1 - K}`.

    Examples
    --------
    >>> from queueing import BMAP, Mode, PhaseType, unbounded_room
    >>> unbounded_room([Mode(1, BMAP.poisson(2.0))], PhaseType.exponential(0.5), tail_mass=1e-6).capacity
    29
    """
    if not 0 < tail_mass < 1:
        raise ValueError(
            f"tail_mass must lie between 0 and 1, but it is {tail_mass!r}; give a small part such as 1e-12."
        )
    law = reduce_order(patience)
    remaining = np.linalg.solve(-law.generator, np.ones(law.order))
    batches = [[block.sum(axis=1) for block in mode.arrivals.blocks[1:]] for mode in modes]
    best = Truncation(0, 0.0)
    # With one phase room stays what falling weights say, as answers name thresholds up to it.
    outlasting = law.order > 1
    for scaled in np.geomspace(1e-4, 1e3, 141):  # c, in units of the mean patience
        free = scaled / law.mean
        least, most = math.log1p(free * remaining.min()), math.log1p(free * remaining.max())
        with np.errstate(over="ignore"):
            growth = max(
                float(
                    np.max(np.sum([((1.0 + scaled) ** size - 1.0) * row for size, row in enumerate(rows, 1)], axis=0))
                )
                for rows in batches
            )
        if not math.isfinite(growth):
            break
        if outlasting:
            above, rise = law.mean * growth, math.log1p(scaled)
            best = _smaller(best, max(1, math.ceil(1.0 + (above - math.log(tail_mass)) / rise)), above, rise)
        falling = free / math.exp(most)
        for theta in (0.01, 0.03, 0.1, 0.3, 1.0):
            turning = math.ceil(1.0 + (1.0 + theta) * growth / falling)
            above = max(0, turning - 2) * most - math.log(theta)
            room = max(turning, 1, math.ceil(1.0 + (above - math.log(tail_mass)) / least))
            best = _smaller(best, room, above, least)
    return best


def _smaller(best: Truncation, room: int, above: float, each: float) -> Truncation:
    """Return the smaller of two rooms, of which the second leaves out exp(above - (room - 1) each)."""
    if best.capacity == 0 or room < best.capacity:
        return Truncation(room, math.exp(above - (room - 1) * each))
    return best


def takes_open(queue: ThresholdQueue) -> bool:
    """Tell whether `open_measures` is needed: no exact method takes the queue with all its room.

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
    r"""Compute all measures of a policy in a system without bound, with estimates of their errors.

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
    """Compute all flows of a policy, and refuse policies that fill all the room exact methods have."""
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
        smaller = replace(model, capacity=larger)
        told = _told(smaller, modes, fine, coarse, above)
        enough = MODEST_TARGET if smaller.states > PATIENCE_STATES else TARGET
        if told.error_estimate < (LARGEST_ERROR if larger == highest else enough):
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
    """Return the flows with less room, levels above having no probability."""
    smaller = replace(model, capacity=capacity)
    flows = _solved(smaller, tuple(modes[: smaller.top + 1].tolist()))
    return replace(flows, levels=np.append(flows.levels, np.zeros(model.top - smaller.top)))


@lru_cache(maxsize=1024)
def _solved(model: ThresholdModel, modes: tuple[int, ...]) -> Flows:
    """Return the flows by an exact method; policies that differ only where there is no room ask for the same ones."""
    return exact_flows(model, np.array(modes, dtype=np.int64))


def _above(model: ThresholdModel, modes: ModeByLevel) -> Vector:
    """Return, by level, how likely higher ones are relative to it, with exponential patience of the same mean."""
    if model.patience is None:
        raise ValueError("A queue without bound needs patience, but it is None; give a law or a capacity.")
    proxy = replace(model, patience=PhaseType.exponential(1.0 / model.patience.mean))
    levels = ELIMINATION.flows(proxy, modes).levels
    higher = np.concatenate([np.cumsum(levels[::-1])[::-1][1:], [0.0]])
    return np.asarray(np.divide(higher, levels, out=np.zeros_like(levels), where=levels > 0), dtype=np.float64)


def _told(smaller: ThresholdModel, modes: ModeByLevel, fine: Flows, coarse: Flows, above: Vector) -> Flows:
    """Return `fine` with errors told by its difference to `coarse`, and by what may be above."""
    tail = min(1.0, float(fine.levels[smaller.capacity :].sum()) * float(above[smaller.capacity]))
    # In truth nothing is lost; how fast losses fall with more room says nothing of other measures.
    moved = judged(replace(fine, lost=0.0), replace(coarse, lost=0.0), modes, 1.0)
    return with_tail(smaller, fine, moved.errors, tail, 1.0)
