r"""What every method that evaluates a threshold queue is given, and what it gives back.

Pages arrive by the process of the mode in force, which depends on the number i of pages in the system; one server takes
them first come, first served, for phase-type times; a page that waits too long (phase-type patience) leaves. With i
pages the chain is in a state :math:`(i, \nu, m, \eta_1, \ldots, \eta_{i-1})`: phase of arrivals, of service, and of
the patience of each waiting page, the oldest first.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..numerics import Matrix, Vector
from ..processes import BMAP, PhaseType

#: What becomes of a batch that finds too little room.
Admission = Literal["partial", "whole-batch", "complete"]
ADMISSIONS: tuple[str, ...] = get_args(Admission)

#: For each level, the mode in force there.
ModeByLevel = NDArray[np.int64]


@dataclass(frozen=True)
class ThresholdModel:
    """The data of a threshold queue, its times written with as few phases as possible.

    Attributes
    ----------
    arrivals
        one process for each mode, all driven by one chain.
    service, patience
        times of service, and of waiting before a page is out of date; None: pages never are.
    capacity
        K: pages in the system, the one in service included.
    admission
        `"partial"`: as many pages of a batch enter as there is room for; `"whole-batch"`: a batch enters if there is
        room for all of it; `"complete"`: a batch that meets fewer than K pages enters whole.
    """

    arrivals: tuple[BMAP, ...]
    service: PhaseType
    patience: PhaseType | None
    capacity: int
    admission: Admission

    @cached_property
    def largest_batch(self) -> int:
        """Size of the largest batch of any mode."""
        return max(process.largest_batch for process in self.arrivals)

    @cached_property
    def top(self) -> int:
        """Most pages there can be in the system."""
        if self.admission == "complete":
            return self.capacity - 1 + max(1, self.largest_batch)
        return self.capacity

    @property
    def patience_order(self) -> int:
        """Number of phases of one waiting page: 1 where its phase says nothing."""
        return 1 if self.patience is None else self.patience.order

    @cached_property
    def patience_rates(self) -> tuple[Vector, Matrix, Vector]:
        """gamma, Gamma and Gamma_0, with rate 0 where pages never go out of date."""
        if self.patience is None:
            return np.ones(1), np.zeros((1, 1)), np.zeros(1)
        return self.patience.initial, self.patience.generator, self.patience.exit_rates

    def admitted(self, level: int, batch: int) -> int:
        """Tell how many pages of a batch enter that meets `level` pages."""
        room = max(0, self.capacity - level)
        if self.admission == "partial":
            return min(batch, room)
        if self.admission == "whole-batch":
            return batch if batch <= room else 0
        return batch if room > 0 else 0

    def level_size(self, level: int) -> int:
        """Count the states with so many pages."""
        if level == 0:
            return self.arrivals[0].phases
        size = self.arrivals[0].phases * self.service.order
        return size * math.prod([self.patience_order] * (level - 1))

    @cached_property
    def states(self) -> int:
        """Number of states of the whole chain; a whole number of any size."""
        order, top = int(self.patience_order), self.top
        waiting = top if order == 1 else (order**top - 1) // (order - 1)
        return self.arrivals[0].phases * (1 + self.service.order * waiting)

    @property
    def pairs(self) -> int:
        """Number of (level, arrival phase, service phase): states without the phases of patience."""
        return self.arrivals[0].phases * (1 + self.service.order * self.top)


@dataclass(frozen=True)
class Flows:
    """Means per unit of time under one policy, from which all measures follow.

    Attributes
    ----------
    levels
        probabilities of 0, 1, ..., top pages.
    arriving, lost, obsolete, served
        pages per unit of time that come, find no room, go out of date, are served.
    served_time, obsolete_time
        sojourn times of pages that will be served, and of those that will go out of date, begun per unit of time.
    error_estimate
        relative error of each of them.
    errors
        where the method tells measures apart, the relative error of each by its name in `ThresholdMeasures`.
    method
        what was done, if the name of the method does not say it.
    truncated_at, tail
        where higher levels were left out: the highest level that was not, and how much was seen at the last levels.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue
    >>> queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), capacity=2)
    >>> flows = queue.method().flows(queue.model, queue.mode_by_level(()))
    >>> flows.levels.round(6), abs(flows.arriving - flows.lost - flows.served) < 1e-12
    (array([0.333333, 0.333333, 0.333333]), True)
    """

    levels: Vector
    arriving: float
    lost: float
    obsolete: float
    served: float
    served_time: float
    obsolete_time: float
    error_estimate: float
    errors: Mapping[str, float] = field(default_factory=dict)
    method: str = ""
    truncated_at: int | None = None
    tail: float = 0.0


@dataclass(frozen=True)
class Method:
    """A way to evaluate a policy.

    Attributes
    ----------
    name
        the name it is asked for by.
    refusal
        why a model cannot be evaluated in this way; None where it can.
    flows
        the evaluation.
    preferred
        most states at which it goes before methods named after it; above, those go first.
    """

    name: str
    refusal: Callable[[ThresholdModel], str | None]
    flows: Callable[[ThresholdModel, ModeByLevel], Flows]
    preferred: float = math.inf


def direct_flows(
    top: int, levels: Vector, arriving: float, lost: float, obsolete: float, served: float, seen: Sequence[float]
) -> Flows:
    """Put the flows of a policy together, with the error that two views of the same rates let expect.

    `seen` is what pages that enter see: rate of those to be served, their time, of those to go out of date, their time.
    Levels that are never reached may be left out of `levels`.
    """
    served_seen, served_time, obsolete_seen, obsolete_time = (float(total) for total in seen)
    error = direct_error(top, served, served_seen, obsolete, obsolete_seen)
    padded = np.append(levels, np.zeros(top + 1 - len(levels)))
    return Flows(padded, arriving, lost, obsolete, served, served_time, obsolete_time, error)


def direct_error(
    top: int, served: float, served_by_adjoint: float, obsolete: float, obsolete_by_adjoint: float
) -> float:
    """Estimate the relative error of a direct method from rates of service and obsolescence, seen from two sides.

    The two sides come from the same probabilities by different sums over all levels, so that their difference shows
    what rounding did to either; some units of the last place, more with more levels, are added for what both share.
    """
    error = 0.0
    for forward, backward in ((served, served_by_adjoint), (obsolete, obsolete_by_adjoint)):
        if forward > 1e-290:  # below, doubles have fewer digits
            error = max(error, abs(backward / forward - 1.0))
    return error + (8 + math.sqrt(top)) * float(np.finfo(np.float64).eps)


def parts_of_measures(flows: Flows) -> dict[str, tuple[float, float]]:
    """Return what is divided, and by what, to make each measure that does not depend on modes.

    Parameters
    ----------
    flows
        means per unit of time.

    Returns
    -------
    dict
        by name in `ThresholdMeasures`; a mean over time is divided by 1.
    """
    return {
        "loss": (flows.lost, flows.arriving),
        "obsolescence": (flows.obsolete, flows.arriving),
        "success": (flows.served, flows.arriving),
        "response_time": (flows.served_time, flows.served),
        "obsolete_time": (flows.obsolete_time, flows.obsolete),
        "sojourn_time": (flows.served_time + flows.obsolete_time, flows.arriving),
        "arrival_rate": (flows.arriving, 1.0),
        "loss_rate": (flows.lost, 1.0),
        "obsolescence_rate": (flows.obsolete, 1.0),
        "starvation": (float(flows.levels[0]), 1.0),
        "mean_length": (float(np.arange(len(flows.levels)) @ flows.levels), 1.0),
    }
