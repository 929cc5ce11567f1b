r"""Packets that arrive one by one, and what becomes of a service begun at one of them.

A source is a stationary sequence of times between arrivals: independent ones of any law, those of a Markovian arrival
process, or the cyclic windows of a measured trace (begun anywhere with equal chances). All that routing without
feedback asks of it is its mean and, for a service S independent of :math:`T_n = \tau_1 + \dots + \tau_n`, the three
rows of :class:`~queueing.routing.residual_service.Lives`. For a rate :math:`\mu` they follow from :math:`L(n) = E
e^{-\mu T_n}`:

.. math::  P(S \ge T_n) = L(n), \quad E(S - T_n)^+ = L(n) / \mu, \quad
           E(T_n - S)^+ = E[\mu T_n - 1 + e^{-\mu T_n}] / \mu,

the last without taking the difference.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import Matrix, Vector, positive, whole
from ..processes import (
    BMAP,
    AccessTime,
    Constant,
    Erlang,
    Exponential,
    Hyperexponential,
    PhaseType,
    PhaseTypeTime,
    Samples,
    exp_excess,
    not_negative_numbers,
)
from .residual_service import Flows, Lives, chain_of_times, flows, markov_chain, mean_rests, renewal_chain

Places = NDArray[np.int64]

#: A service: its rate if it is exponential, or its phases.
Service = float | PhaseType


class Arrivals(Protocol):
    r"""A stationary source of packets that come one by one.

    `RenewalArrivals`, `MarkovArrivals` and `TraceArrivals` are such sources.

    Notes
    -----
    All that routing without feedback asks of a source is its mean and what becomes of a service S that begins at one of
    its arrivals: with :math:`T_n` the time of the n-th arrival after that one, :math:`P(S \ge T_n)`,
    :math:`E(S - T_n)^+` and :math:`E(T_n - S)^+`.

    Examples
    --------
    >>> from queueing import Constant, RenewalArrivals
    >>> lives = RenewalArrivals(Constant(1.0)).lives(0.5, 3)
    >>> lives.alive.round(6)
    array([0.606531, 0.367879, 0.22313 ])
    """

    @property
    def mean(self) -> float:
        """Mean time between arrivals."""

    def lives(self, service: Service, count: int) -> Lives:
        """Tell what became of a service at the n-th arrival after its beginning, for n = 1, ..., count."""


@dataclass(frozen=True)
class RenewalArrivals:
    r"""Independent times between arrivals, all of one law.

    Parameters
    ----------
    law
        of the time tau between two arrivals.

    Notes
    -----
    A service of rate :math:`\mu` outlasts n slots with probability :math:`(E e^{-\mu \tau})^n`.

    Examples
    --------
    >>> from queueing import Exponential, RenewalArrivals
    >>> packets = RenewalArrivals(Exponential(1.0))
    >>> packets.mean, packets.lives(1.0, 3).alive.round(6)
    (1.0, array([0.5  , 0.25 , 0.125]))
    """

    law: AccessTime

    @property
    def mean(self) -> float:
        """Mean time between arrivals."""
        return self.law.mean

    def lives(self, service: Service, count: int) -> Lives:
        """Tell what became of a service at the n-th arrival after its beginning, for n = 1, ..., count."""
        one, slots = checked_service(service), whole("count", count, least=1)
        if isinstance(one, PhaseType):
            return self._with_phases(one, slots)
        rate = np.array([one])
        decay, deficit = float(self.law.decay(rate)[0]), float(self.law.deficit(rate)[0])
        return Lives(*_independent(one, decay, deficit, slots))

    def _with_phases(self, service: PhaseType, count: int) -> Lives:
        match self.law:
            case Constant():
                return chain_of_times(np.array([self.law.value]), np.ones(1), service).lives(count)
            case Samples():
                times, counts = np.unique(np.array(self.law.values), return_counts=True)
                return chain_of_times(times, counts / len(self.law.values), service).lives(count)
        slot = _phases_of(self.law)
        return renewal_chain(slot.initial, slot.generator, slot.exit_rates, service).lives(count)


@dataclass(frozen=True)
class MarkovArrivals:
    r"""Single arrivals of a Markovian process: Poisson, MMPP, MAP.

    Parameters
    ----------
    process
        with batches of one packet only.

    Notes
    -----
    The phase just after an arrival has the distribution :math:`q = \theta D_1 / \lambda`, and a service of rate
    :math:`\mu` outlasts n slots with probability :math:`q [(\mu I - D_0)^{-1} D_1]^n e`.

    References
    ----------
    .. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
       *Journal of Applied Probability* 37 (2000), 668-684; Lemma 5.2.

    Examples
    --------
    >>> from queueing import BMAP, MarkovArrivals
    >>> packets = MarkovArrivals(BMAP.mmpp([[-0.1, 0.1], [0.3, -0.3]], [1.0, 9.0]))
    >>> round(packets.mean, 6), packets.lives(1.0, 3).alive.round(6)
    (0.333333, array([0.796296, 0.659808, 0.560172]))
    """

    process: BMAP

    def __post_init__(self) -> None:
        largest = self.process.largest_batch
        if largest != 1:
            found = f"they come in batches of up to {largest}" if largest else "D1 is zero and nothing ever arrives"
            raise ValueError(f"arrivals must come one by one, but {found}; give D0, and a D1 with a rate above 0.")

    @cached_property
    def mean(self) -> float:
        """Mean time between arrivals."""
        return 1.0 / self.process.rate

    @cached_property
    def start(self) -> Vector:
        """Law of the phase just after an arrival, q = theta D_1 / lambda."""
        flow = self.process.stationary @ self.process.blocks[1]
        return np.asarray(flow / flow.sum())

    def lives(self, service: Service, count: int) -> Lives:
        """Tell what became of a service at the n-th arrival after its beginning, for n = 1, ..., count."""
        one, slots = checked_service(service), whole("count", count, least=1)
        law = one if isinstance(one, PhaseType) else PhaseType.exponential(one)
        quiet, arrival = self.process.blocks[:2]
        return markov_chain(quiet, arrival, self.start, law).lives(slots)


@dataclass(frozen=True)
class TraceArrivals:
    r"""Measured times between arrivals in their order, repeated for ever and begun anywhere with equal chances.

    Parameters
    ----------
    values
        the times, at least 0, one of them above 0.

    Notes
    -----
    A service of rate :math:`\mu` outlasts n slots with probability :math:`\frac{1}{N} \sum_s e^{-\mu T_n(s)}`, where
    :math:`T_n(s)` is the sum of n successive times from the s-th on, cyclically: whatever dependence the trace has is
    kept.

    Examples
    --------
    >>> from queueing import TraceArrivals
    >>> packets = TraceArrivals((0.1, 0.1, 2.8))
    >>> round(packets.mean, 12), packets.lives(1.0, 3).alive.round(6)
    (1.0, array([0.623495, 0.309592, 0.049787]))
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        values = not_negative_numbers("values", self.values)
        if not values.max() > 0:
            raise ValueError("values must hold a time above 0, but all are 0; give the times between arrivals.")
        object.__setattr__(self, "values", tuple(values.tolist()))

    @cached_property
    def mean(self) -> float:
        """Mean time between arrivals."""
        return math.fsum(self.values) / len(self.values)

    def lives(self, service: Service, count: int) -> Lives:
        """Tell what became of a service at the n-th arrival after its beginning, for n = 1, ..., count."""
        one, slots = checked_service(service), whole("count", count, least=1)
        times = np.array(self.values)
        if isinstance(one, float):
            return Lives(*_windows(times, one, slots))
        distinct, places = np.unique(times, return_inverse=True)
        moves, ended, idle = flows(one, distinct)
        return Lives(
            *_windows_with_phases(
                times, places.astype(np.int64), one.initial, moves, ended, idle, mean_rests(one), slots
            )
        )


def transforms(arrivals: Arrivals, rates: Vector, count: int) -> Matrix:
    """Return E exp(-mu T_n) by rate, for n = 1, ..., count."""
    return np.array([arrivals.lives(rate, count).alive for rate in rates])


def checked_service(service: Service, name: str = "service") -> Service:
    """Return a rate above 0 or a law with phases; a law of one phase is its rate."""
    if isinstance(service, PhaseType):
        return float(service.exit_rates[0]) if service.order == 1 else service
    return positive(name, service)


def _phases_of(law: AccessTime) -> PhaseType:
    match law:
        case Exponential():
            return PhaseType.exponential(1.0 / law.mean)
        case Erlang():
            return PhaseType.erlang(law.stages, law.stages / law.mean)
        case Hyperexponential():
            return PhaseType.hyperexponential(law.probabilities, [1.0 / mean for mean in law.means])
        case PhaseTypeTime():
            return law.law
    raise ValueError(
        f"times between arrivals must be of a law with phases, or of samples, where services have phases, but "
        f"{type(law).__name__} has only a transform; give a constant, exponential, Erlang, hyperexponential or "
        "phase-type law, or samples."
    )


@njit(cache=True)
def _independent(rate: float, decay: float, deficit: float, count: int) -> tuple[Vector, Vector, Vector]:
    """Return L(n) = exp(-n l), and mu E T_n - 1 + L(n) = n (mu E tau - l) + (exp(-n l) - 1 + n l)."""
    alive, beyond, stale = np.zeros(count), np.zeros(count), np.zeros(count)
    for index in range(count):
        slots = index + 1.0
        alive[index] = math.exp(-slots * decay)
        beyond[index] = alive[index] / rate
        stale[index] = (slots * deficit + exp_excess(slots * decay)) / rate
    return alive, beyond, stale


@njit(cache=True)
def _windows(times: Vector, rate: float, count: int) -> tuple[Vector, Vector, Vector]:
    """Return means over all windows of n times, n = 1, ..., count, of a cyclic trace."""
    size = len(times)
    alive, beyond, stale = np.zeros(count), np.zeros(count), np.zeros(count)
    passed = np.zeros(size)
    for index in range(count):
        for begin in range(size):
            passed[begin] += times[(begin + index) % size]
            alive[index] += math.exp(-rate * passed[begin])
            stale[index] += exp_excess(rate * passed[begin])
        alive[index] /= size
        beyond[index] = alive[index] / rate
        stale[index] /= size * rate
    return alive, beyond, stale


@njit(cache=True)
def _windows_with_phases(
    times: Vector, places: Places, initial: Vector, moves: Flows, ended: Matrix, idle: Matrix, rest: Vector, count: int
) -> tuple[Vector, Vector, Vector]:
    """Do the same for a service with phases, which are followed from each beginning of the trace."""
    size, phases = len(times), len(initial)
    alive, beyond, stale = np.zeros(count), np.zeros(count), np.zeros(count)
    new = np.zeros(phases)
    for begin in range(size):
        here, over, total = initial.copy(), 0.0, 0.0
        for index in range(count):
            slot = (begin + index) % size
            place = places[slot]
            total += over * times[slot]
            new[:] = 0.0
            for phase in range(phases):
                chance = here[phase]
                total += chance * idle[place, phase]
                over += chance * ended[place, phase]
                for other in range(phases):
                    new[other] += chance * moves[place, phase, other]
            here[:] = new
            stale[index] += total / size
            for phase in range(phases):
                alive[index] += here[phase] / size
                beyond[index] += here[phase] * rest[phase] / size
    return alive, beyond, stale
