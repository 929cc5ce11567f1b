r"""A queue whose arrivals are switched by its length: robots that bring pages to one indexing server.

With i pages in the system the mode with the most robots is in force while :math:`i \le j_1`, the next while :math:`j_1
< i \le j_2`, ..., the one with the fewest while :math:`i > j_{N-1}`. Everything that Avrachenkov et al. (2011) [1]_ ask
about such a policy is a quotient of a few flows, which one of several methods computes; a result says which, and how
well.

References
----------
.. [1] K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web
   search engines with obsolescence of documents", *Computer Networks* 55 (2011) 1880-1893.
"""

import math
import operator
from collections import UserDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import chain, pairwise, takewhile
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ..numerics import whole
from ..processes import BMAP, PhaseType, check_same_phases, distance, reduce_order
from . import methods
from .model import ADMISSIONS, Admission, Flows, Method, ModeByLevel, ThresholdModel, parts_of_measures
from .modes import Mode

if TYPE_CHECKING:
    from .sojourn import SojournTimes

TENSOR_TRAIN = "tensor-train"


class Methods(UserDict[str, Any]):
    """Methods by name, each loaded from its room when it is first asked for."""

    def __getitem__(self, name: str) -> Method:
        """Load one."""
        if self.data[name] is None:
            room = import_module(".tensor", __package__) if name == TENSOR_TRAIN else methods
            self.data[name] = getattr(room, name.upper().replace("-", "_"))
        found: Method = self.data[name]
        return found


#: Methods by name, the preferred one first: the first that prefers a model, or does not refuse it, evaluates it.
METHODS: UserDict[str, Method] = Methods(
    dict.fromkeys(
        ("elimination", "krylov", "matrix-free", "reference", "block", "recursion", "truncated", TENSOR_TRAIN)
    )
)

#: Most phases of patience for which `tensor-train` is chosen unasked: with more it takes minutes, and errors are large.
TENSOR_PHASES = 12

#: Laws whose moments and tails differ by no more than this are the same but for the rounding of these.
ROUNDING = 1e-13

_TOO_FAR_APART = "the rates of this queue lie too far apart for doubles; bring them nearer to one another"


@dataclass(frozen=True)
class ThresholdMeasures:
    """What a threshold policy achieves; None where a measure has no meaning (times of pages that do not exist).

    Attributes
    ----------
    arrival_rate
        lambda: pages that robots bring per unit of time (equation 9).
    loss, obsolescence, success
        P_loss, P_obs, P_success: probabilities that a page finds no room, goes out of date, is served (equations 8, 14
        and 15).
    starvation
        P_star: probability that the server has nothing to do (equation 5).
    active_robots
        N_act: mean number of active robots (equation 6).
    mean_length
        mean number of pages in the system.
    response_time, obsolete_time
        V1, V2: mean time in the system of pages that are served, of pages that go out of date (equations 23 and 24).
    sojourn_time
        V = V1 P_success + V2 P_obs (equation 22): of all pages, lost ones counting 0.
    loss_rate, obsolescence_rate
        lost and obsolete pages per unit of time.
    level_probabilities
        of 0, 1, ... pages in the system.
    mode_probabilities
        of each mode, in the order of the queue's modes (fewest robots first).
    method
        the method that was used.
    error_estimate
        estimated relative error of each measure, with what was dropped where times were written with fewer phases.
    errors
        the same measure by measure, by name, where the method tells them apart: a loss of 1e-12 is known to fewer
        digits than a loss of 1/2. Empty otherwise. 1 or more: the measure is only known to be small.
    truncated_at, tail
        where higher levels were left out: the highest that was not, and the probability of the last levels before it
        and of losing a page there. The tail is part of all errors; the loss of a queue cut off below its capacity is
        told as what it is at most, and not part of `error_estimate`.

    Notes
    -----
    Equation numbers are those of Avrachenkov et al. (2011), see `ThresholdQueue`.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue
    >>> queue = ThresholdQueue((BMAP.poisson(0.5), BMAP.poisson(1.0)), PhaseType.exponential(1.0), capacity=3)
    >>> found = queue.measures((1,))
    >>> round(found.loss + found.success, 12), round(found.active_robots, 6), found.obsolete_time
    (1.0, 1.571429, None)
    """

    arrival_rate: float
    loss: float | None
    obsolescence: float | None
    success: float | None
    starvation: float
    active_robots: float
    mean_length: float
    response_time: float | None
    obsolete_time: float | None
    sojourn_time: float | None
    loss_rate: float
    obsolescence_rate: float
    level_probabilities: tuple[float, ...]
    mode_probabilities: tuple[float, ...]
    method: str
    error_estimate: float
    errors: Mapping[str, float] = field(default_factory=dict, hash=False)
    truncated_at: int | None = None
    tail: float = 0.0

    def scalars(self) -> dict[str, float | None]:
        """Return the scalar measures by name."""
        return {name: getattr(self, name) for name in MEASURES}


#: Names of the scalar measures: the fields of `ThresholdMeasures` before the probabilities of levels.
MEASURES = tuple(takewhile("level_probabilities".__ne__, ThresholdMeasures.__annotations__))


@dataclass(frozen=True)
class ThresholdQueue:
    r"""One server, robots switched by the number of pages in the system.

    With i pages the mode with the most robots is in force while :math:`i \le j_1`, the next while
    :math:`j_1 < i \le j_2`, ..., the one with the fewest while :math:`i > j_{N-1}`.

    Parameters
    ----------
    modes
        what is brought by each number of active robots, in rising number; processes without a number are 1, 2, ...
    service
        time of indexing one page.
    patience
        time a waiting page stays worth indexing; None: for ever.
    capacity
        K: most pages in the system, the one in service included.
    admission
        what becomes of a batch that finds too little room: `"partial"`, `"whole-batch"` or `"complete"`
        (see `ThresholdModel`). With the last, there may be more than K pages; the mode is then that of K.

    Notes
    -----
    A state is :math:`(i, \nu, m, \eta_1, \ldots, \eta_{i-1})`: pages, phase of arrivals, of service, and of the
    patience of each page that waits. Its stationary distribution solves :math:`pQ = 0` (equation 4 of [1]_); every
    measure is a quotient of a few mean flows per unit of time, such as

    .. math::
        P_{obs} = \frac{1}{\lambda} \sum_{i=2}^{K} p_i (I \otimes I \otimes \Gamma_0^{\oplus(i-1)}) e \qquad (14).

    One of several methods computes these flows, by the number of states: a result says which, and estimates its error.

    References
    ----------
    .. [1] K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web
       search engines with obsolescence of documents", *Computer Networks* 55 (2011), 1880-1893.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue
    >>> queue = ThresholdQueue(
    ...     (BMAP.poisson(0.5), BMAP.poisson(1.0), BMAP.poisson(1.5)),
    ...     service=PhaseType.exponential(1.0),
    ...     patience=PhaseType.exponential(0.1),
    ...     capacity=5,
    ... )
    >>> found = queue.measures((1, 3))
    >>> round(found.starvation, 6), round(found.loss, 6), round(found.obsolescence, 6)
    (0.124541, 0.027908, 0.134226)
    """

    modes: tuple[Mode, ...]
    service: PhaseType
    patience: PhaseType | None = None
    capacity: int = field(kw_only=True)
    admission: Admission = field(default="partial", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "modes", _checked_modes(self.modes))
        object.__setattr__(self, "capacity", whole("capacity", self.capacity, least=1))
        if not isinstance(self.service, PhaseType):
            raise TypeError(f"service must be a PhaseType, but it is {self.service!r}; give such a law.")
        if self.patience is not None and not isinstance(self.patience, PhaseType):
            raise TypeError(f"patience must be a PhaseType or None, but it is {self.patience!r}; give such a law.")
        if self.admission not in ADMISSIONS:
            raise ValueError(
                f"admission must be one of {', '.join(ADMISSIONS)}, but it is {self.admission!r}; name one."
            )

    @cached_property
    def model(self) -> ThresholdModel:
        """The data methods work with: times with as few phases as possible."""
        return ThresholdModel(
            arrivals=tuple(mode.arrivals for mode in self.modes),
            service=reduce_order(self.service),
            patience=None if self.patience is None else reduce_order(self.patience),
            capacity=self.capacity,
            admission=self.admission,
        )

    @cached_property
    def reduction_error(self) -> float:
        """What writing times with fewer phases changed of their laws, up to high moments and far tails.

        Measures, which rest on the whole laws, change by less as a rule. 0 where it is no more than rounding.
        """
        laws = [(self.service, self.model.service)]
        if self.patience is not None and self.model.patience is not None:
            laws.append((self.patience, self.model.patience))
        changed = max(distance(given, reduced) for given, reduced in laws)
        return changed if changed > ROUNDING else 0.0

    def thresholds(self, values: Sequence[SupportsIndex]) -> tuple[int, ...]:
        """Return `values` as thresholds of this queue, or refuse them."""
        try:
            numbers = tuple(operator.index(value) for value in values)
        except TypeError:
            raise ValueError(f"thresholds must be whole numbers, but they are {values!r}; give such a list.") from None
        wanted = len(self.modes) - 1
        if len(numbers) != wanted:
            raise ValueError(
                f"{len(self.modes)} modes need {wanted} thresholds, but {len(numbers)} came, {numbers!r}; "
                f"give {wanted}."
            )
        for index, value in enumerate(numbers):
            if not -1 <= value <= self.capacity:
                raise ValueError(
                    f"thresholds[{index}] must be between -1 and the capacity {self.capacity}, but it is {value}; "
                    "give a number of pages, or -1 for never."
                )
        if any(second < first for first, second in pairwise(numbers)):
            raise ValueError(f"thresholds must not decrease, but they are {numbers!r}; sort them.")
        return numbers

    def mode_by_level(self, thresholds: Sequence[SupportsIndex]) -> ModeByLevel:
        """Return, for each number of pages, the index of the mode in force."""
        limits = self.thresholds(thresholds)
        levels = np.minimum(np.arange(self.model.top + 1), self.capacity)
        # As many modes are left behind as there are thresholds below the level.
        passed = np.searchsorted(np.array(limits, dtype=np.int64), levels, side="left")
        return np.asarray(len(self.modes) - 1 - passed, dtype=np.int64)

    def method(self, name: str | None = None) -> Method:
        """Return the method of this name, or the preferred one for this queue, unless that cannot evaluate it."""
        if name is not None:
            if name not in METHODS:
                raise LookupError(f"No method is called {name!r}; there are {', '.join(METHODS)}.")
            refusal = METHODS[name].refusal(self.model)
            if refusal is not None:
                raise ValueError(
                    f"Method {name!r} {refusal}, but this queue has {self.model.states} states; "
                    "choose another method or make the queue smaller."
                )
            return METHODS[name]
        taking = (method for method in METHODS.values() if self._refusal(method) is None)
        first = next(taking, None)
        if first is None:
            reasons = "; ".join(f"{method.name!r} {self._refusal(method)}" for method in METHODS.values())
            raise ValueError(
                f"No method evaluates this queue of {self.model.states} states: {reasons}; "
                "lower the capacity or give patience fewer phases."
            )
        return next((one for one in chain([first], taking) if self.model.states <= one.preferred), first)

    def _refusal(self, method: Method) -> str | None:
        """Tell why a method is not chosen unasked; None where it may be."""
        if method.name == TENSOR_TRAIN and self.model.patience_order > TENSOR_PHASES:
            return f"takes patience of more than {TENSOR_PHASES} phases only if asked for by name"
        return method.refusal(self.model)

    def _flows(self, modes: ModeByLevel, name: str | None) -> tuple[Flows, str]:
        """Return the flows of a policy, and the method that found them."""
        chosen = self.method(name)
        try:
            try:
                return chosen.flows(self.model, modes), chosen.name
            except methods.HeavyTailError:
                later = list(METHODS.values())[list(METHODS).index(chosen.name) + 1 :]
                taking = [method for method in later if self._refusal(method) is None]
                if name is not None or not taking:
                    raise
                chosen = taking[0]
                return chosen.flows(self.model, modes), chosen.name
        except ZeroDivisionError:  # a product of rates so small that nothing is left of it
            raise ValueError(f"Method {chosen.name!r} divided by zero: {_TOO_FAR_APART}.") from None

    def measures(self, thresholds: Sequence[SupportsIndex], method: str | None = None) -> ThresholdMeasures:
        """Compute all measures of a threshold policy.

        Parameters
        ----------
        thresholds
            one fewer than modes, not decreasing, each between -1 and K, those of the modes with the most robots
            first. -1 or equal neighbours switch a mode off: of four modes, "3 or 1 robots, threshold 2" is (-1, 2, 2),
            "always 2" is (-1, -1, K).
        method
            name of a method; the preferred one for this queue unless said.

        Returns
        -------
        ThresholdMeasures
            with the method that was used and an estimate of its error.
        """
        modes = self.mode_by_level(thresholds)
        flows, name = self._flows(modes, method)
        return self._measures(flows, modes, name)

    def sojourn(self, thresholds: Sequence[SupportsIndex]) -> "SojournTimes":
        """Return the times in the system of served, of obsolete and of all pages, in law: see `sojourn_times`."""
        from .sojourn import sojourn_times  # it knows this module

        return sojourn_times(self, thresholds)

    def _measures(self, flows: Flows, modes: ModeByLevel, method: str) -> ThresholdMeasures:
        """Return the measures from the flows that a method found."""
        by_mode = np.bincount(modes, weights=flows.levels, minlength=len(self.modes))
        robots = np.array([mode.robots for mode in self.modes], dtype=np.float64)
        # None where there is nothing to share.
        parts = parts_of_measures(flows).items()
        quotients: dict[str, Any] = {name: part / by if by > 0 else None for name, (part, by) in parts}
        result = ThresholdMeasures(
            **quotients,
            active_robots=float(robots @ by_mode),
            level_probabilities=tuple(float(value) for value in flows.levels),
            mode_probabilities=tuple(float(value) for value in by_mode),
            method=flows.method or method,
            error_estimate=flows.error_estimate + self.reduction_error,
            errors={name: error + self.reduction_error for name, error in flows.errors.items()},
            truncated_at=flows.truncated_at,
            tail=flows.tail,
        )
        for name, value in {**result.scalars(), "error_estimate": result.error_estimate}.items():
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{name} came out as {value} by method {method!r}: {_TOO_FAR_APART}.")
        return result


def _checked_modes(given: Sequence[Mode | BMAP]) -> tuple[Mode, ...]:
    modes = tuple(
        Mode(index, mode) if isinstance(mode, BMAP) else mode for index, mode in enumerate(tuple(given), start=1)
    )
    if not modes:
        raise ValueError("modes must not be empty, but nothing came; give one mode at least.")
    for index, mode in enumerate(modes):
        if not isinstance(mode, Mode):
            raise TypeError(f"modes[{index}] must be a Mode or a BMAP, but it is {mode!r}; give such a thing.")
    robots = [mode.robots for mode in modes]
    for index, (fewer, more) in enumerate(pairwise(robots), start=1):
        if more <= fewer:
            raise ValueError(
                f"modes[{index}] must have more robots than the mode before it, but it has {more} after {fewer}; "
                "list modes in rising number of robots."
            )
    check_same_phases([mode.arrivals for mode in modes])
    return modes
