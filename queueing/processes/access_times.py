r"""How long a robot takes to access a page: laws of a time X, known through its Laplace transform.

All that the freshness of a page of change rate :math:`\mu` asks of X is its mean and the *decay*

.. math::  \ell(\mu) = -\ln E\, e^{-\mu X}, \qquad 0 \le \ell(\mu) \le \mu E[X],

and, where pages are nearly always fresh, the *deficit* :math:`\mu E[X] - \ell(\mu)`, which is about
:math:`\mu^2 \mathrm{Var}[X] / 2` and would be lost in the difference. Both are sums of terms of one sign here, or
series: no digit is lost for small rates, and none for large ones where the transform itself is below every double.

Each law offers `mean`, `decay(rates)`, `deficit(rates)`, and `kernel()`: a number and an array that compiled loops hand
to :func:`decay_at` and :func:`decay_and_deficit_at`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..numerics import Vector, distribution, factor_in_place, numbers, positive, solve_in_place, whole
from .phase_type import PhaseType

#: A law as compiled loops know it: which one, and its parameters.
Kernel = tuple[int, NDArray[np.float64]]

CONSTANT, EXPONENTIAL, ERLANG, HYPEREXPONENTIAL, PHASE_TYPE, SAMPLES = range(6)

#: A transform below this is computed again in logarithms: its digits, or itself, may be lost.
SMALL_TRANSFORM = 1e-280


class AccessTime(Protocol):
    """A law of the time X that one access takes, known by its transform; `Constant`, ..., `Samples` are such laws.

    Examples
    --------
    >>> from queueing import Exponential
    >>> Exponential(2.0).deficit([1e-9])
    array([2.e-18])
    """

    @property
    def mean(self) -> float:
        """E[X]."""

    def decay(self, rates: ArrayLike) -> Vector:
        """Return l = -ln E exp(-mu X) at each of these rates; 0 at 0."""

    def deficit(self, rates: ArrayLike) -> Vector:
        """What the decay lacks to mu E[X]; never negative, 0 for a constant."""

    def kernel(self) -> Kernel:
        """The number of the law and its parameters, for compiled loops."""


class _Transformed(ABC):
    """A law that has a kernel, and hence the rest."""

    @abstractmethod
    def kernel(self) -> Kernel:
        """The number of the law and its parameters, for compiled loops."""

    def decay(self, rates: ArrayLike) -> Vector:
        """Return l = -ln E exp(-mu X) at each of these rates; 0 at 0."""
        kind, parameters = self.kernel()
        found: Vector = decays(kind, parameters, not_negative_numbers("rates", rates))
        return found

    def deficit(self, rates: ArrayLike) -> Vector:
        """What the decay lacks to mu E[X]; never negative, 0 for a constant."""
        kind, parameters = self.kernel()
        found: Vector = decays_and_deficits(kind, parameters, not_negative_numbers("rates", rates))[1]
        return found


@dataclass(frozen=True)
class Constant(_Transformed):
    r"""Access times that are all equal: :math:`\ell(\mu) = \mu x`.

    Parameters
    ----------
    value
        x > 0: how long every access takes.

    Examples
    --------
    >>> from queueing import Constant
    >>> Constant(0.5).decay([2.0])
    array([1.])
    """

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", positive("value", self.value))

    @property
    def mean(self) -> float:
        """E[X]."""
        return self.value

    def kernel(self) -> Kernel:
        return CONSTANT, np.array([self.value])


@dataclass(frozen=True)
class Exponential(_Transformed):
    r"""Exponential access times: :math:`\ell(\mu) = \ln(1 + \mu m)`.

    Parameters
    ----------
    mean
        m > 0: mean time of an access.

    Examples
    --------
    >>> from queueing import Exponential
    >>> Exponential(0.5).decay([2.0]).round(6)
    array([0.693147])
    """

    mean: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", positive("mean", self.mean))

    def kernel(self) -> Kernel:
        return EXPONENTIAL, np.array([self.mean])


@dataclass(frozen=True)
class Erlang(_Transformed):
    r"""Access times that are sums of k equal exponential times: :math:`\ell(\mu) = k \ln(1 + \mu m / k)`.

    Parameters
    ----------
    stages
        k: number of terms, at least 1.
    mean
        m > 0: mean of the sum.

    Examples
    --------
    >>> from queueing import Erlang
    >>> Erlang(4, mean=0.5).decay([2.0]).round(6)
    array([0.892574])
    """

    stages: int
    mean: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", whole("stages", self.stages, least=1))
        object.__setattr__(self, "mean", positive("mean", self.mean))

    def kernel(self) -> Kernel:
        return ERLANG, np.array([float(self.stages), self.mean])


@dataclass(frozen=True)
class Hyperexponential(_Transformed):
    r"""Access times that are one of several exponential times: :math:`\ell(\mu) = -\ln \sum_k p_k / (1 + \mu m_k)`.

    Parameters
    ----------
    probabilities, means
        p, which sum to one, and m > 0: chance and mean of each exponential time.

    Examples
    --------
    >>> from queueing import Hyperexponential
    >>> Hyperexponential((0.9, 0.1), (0.2, 3.2)).decay([2.0]).round(6)
    array([0.42103])
    """

    probabilities: tuple[float, ...]
    means: tuple[float, ...]

    def __post_init__(self) -> None:
        chances = distribution("probabilities", self.probabilities)
        means = [positive(f"means[{index}]", mean) for index, mean in enumerate(numbers("means", self.means, 1))]
        if len(chances) != len(means):
            raise ValueError(
                f"probabilities and means must be equally many, but there are {len(chances)} and {len(means)}; "
                "give one mean for each probability."
            )
        object.__setattr__(self, "probabilities", tuple(chances.tolist()))
        object.__setattr__(self, "means", tuple(means))

    @property
    def mean(self) -> float:
        """E[X]."""
        return math.fsum(chance * mean for chance, mean in zip(self.probabilities, self.means, strict=True))

    def kernel(self) -> Kernel:
        return HYPEREXPONENTIAL, np.array([*self.probabilities, *self.means])


@dataclass(frozen=True)
class PhaseTypeTime(_Transformed):
    r"""Access times that are the life of a Markov chain.

    Parameters
    ----------
    law
        with any number of phases: :math:`\ell(\mu) = -\ln \gamma (\mu I - \Gamma)^{-1} \Gamma_0`.

    Examples
    --------
    >>> from queueing import PhaseType, PhaseTypeTime
    >>> PhaseTypeTime(PhaseType.erlang(4, rate=8.0)).decay([2.0]).round(6)
    array([0.892574])
    """

    law: PhaseType

    @cached_property
    def mean(self) -> float:
        """E[X]."""
        return self.law.mean

    @cached_property
    def _kernel(self) -> Kernel:
        size, rates = self.law.order, np.array(self.law.generator)
        np.fill_diagonal(rates, 0.0)
        means = np.array([PhaseType(np.eye(size)[phase], self.law.generator).mean for phase in range(size)])
        return PHASE_TYPE, np.concatenate([[float(size)], self.law.initial, self.law.exit_rates, means, rates.ravel()])

    def kernel(self) -> Kernel:
        return self._kernel


@dataclass(frozen=True)
class Samples(_Transformed):
    r"""Measured access times, each as likely as the others: :math:`\ell(\mu) = -\ln \frac{1}{n} \sum_k e^{-\mu x_k}`.

    Parameters
    ----------
    values
        x: times of at least 0, one of them above 0; equal ones are counted once.

    Examples
    --------
    >>> from queueing import Samples
    >>> Samples((0.2, 0.3, 1.0)).decay([2.0]).round(6)
    array([0.795204])
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        values = not_negative_numbers("values", self.values)
        if not values.max() > 0:
            raise ValueError("values must hold a time above 0, but all are 0; give the times that accesses took.")
        if values.max() > np.finfo(np.float64).max / len(values):
            raise ValueError("values must have a sum that a double can hold, but it has none; choose a larger unit.")
        object.__setattr__(self, "values", tuple(values.tolist()))

    @cached_property
    def mean(self) -> float:
        """E[X]."""
        return math.fsum(self.values) / len(self.values)

    @cached_property
    def _kernel(self) -> Kernel:
        times, counts = np.unique(np.array(self.values), return_counts=True)
        return SAMPLES, np.concatenate([times, counts / len(self.values)])

    def kernel(self) -> Kernel:
        return self._kernel


def not_negative_numbers(name: str, values: ArrayLike) -> Vector:
    """Return `values` as finite floats of at least 0 in one row, or refuse them and name the first wrong one."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or array.size == 0 or np.ndim(values) != 1:
        raise ValueError(f"{name} must be a list of numbers, but it has no such shape; give one number for each.")
    wrong = first_negative(array)
    if wrong >= 0:
        raise ValueError(
            f"{name}[{wrong}] must be a finite number of at least 0, but it is {float(array[wrong])!r}; give one."
        )
    return array


@njit(cache=True)
def first_negative(values: Vector) -> int:
    """Index of the first entry that is negative, infinite or no number; -1 if there is none."""
    for index in range(len(values)):
        if not 0.0 <= values[index] < np.inf:
            return index
    return -1


# -- functions that keep their digits near 0 --------------------------------------------------------------------------


_EXP_TERMS = np.array([(-1) ** k / math.factorial(k + 2) for k in range(16)])
_LOG_TERMS = np.array([1 / (2 * k + 3) for k in range(16)])


@njit(cache=True)
def power_series(terms: Vector, x: float) -> float:
    """The sum of terms[k] x**k, for an even number of terms: even and odd powers side by side."""
    square, even, odd = x * x, 0.0, 0.0
    for k in range(len(terms) - 2, -1, -2):
        even = even * square + terms[k]
        odd = odd * square + terms[k + 1]
    return even + x * odd


@njit(cache=True)
def exp_excess(x: float) -> float:
    """Return exp(-x) - 1 + x for x >= 0, also where it is about x**2 / 2."""
    if x >= 0.5:
        return x + math.expm1(-x)
    return x * x * power_series(_EXP_TERMS, x)


@njit(cache=True)
def log_excess(x: float) -> float:
    """Return x - ln(1 + x) for x >= -1/2, also where it is about x**2 / 2."""
    if x > 1.0:
        return x - math.log1p(x)
    s = x / (2.0 + x)  # ln(1 + x) = 2 artanh s
    return x * s - 2.0 * s * s * s * power_series(_LOG_TERMS, s * s)


# -- compiled laws ----------------------------------------------------------------------------------------------------


@njit(cache=True)
def decay_at(kind: int, parameters: Vector, rate: float) -> float:
    """Return l = -ln E exp(-rate X)."""
    if kind == CONSTANT:
        return float(rate * parameters[0])
    if kind == EXPONENTIAL:
        return math.log1p(rate * parameters[0])
    if kind == ERLANG:
        return float(parameters[0] * math.log1p(rate * parameters[1] / parameters[0]))
    return decay_and_deficit_at(kind, parameters, rate)[0]


@njit(cache=True)
def decay_and_deficit_at(kind: int, parameters: Vector, rate: float) -> tuple[float, float]:
    """Return l = -ln E exp(-rate X) and rate E[X] - l."""
    if kind == CONSTANT:
        return rate * parameters[0], 0.0
    if kind == EXPONENTIAL:
        load = rate * parameters[0]
        return math.log1p(load), log_excess(load)
    if kind == ERLANG:
        load = rate * parameters[1] / parameters[0]
        return parameters[0] * math.log1p(load), parameters[0] * log_excess(load)
    if rate == 0.0:
        return 0.0, 0.0
    if kind == HYPEREXPONENTIAL:
        return _hyperexponential(parameters, rate)
    if kind == PHASE_TYPE:
        return _phase_type(parameters, rate)
    return _samples(parameters, rate)


@njit(cache=True)
def decays(kind: int, parameters: Vector, rates: Vector) -> Vector:
    """`decay_at` at each rate."""
    found = np.empty(len(rates))
    for index in range(len(rates)):
        found[index] = decay_at(kind, parameters, rates[index])
    return found


@njit(cache=True)
def decays_and_deficits(kind: int, parameters: Vector, rates: Vector) -> tuple[Vector, Vector]:
    """`decay_and_deficit_at` at each rate."""
    found, lacking = np.empty(len(rates)), np.empty(len(rates))
    for index in range(len(rates)):
        found[index], lacking[index] = decay_and_deficit_at(kind, parameters, rates[index])
    return found, lacking


@njit(cache=True)
def _from_ending(alive: float, ended: float, beyond: float) -> tuple[float, float]:
    """From h, 1 - h and mu E[X] - (1 - h), each known to its last digits, the decay and its deficit."""
    if ended < 0.5:
        return -math.log1p(-ended), max(0.0, beyond - log_excess(-ended))
    decay = -math.log(alive)
    return decay, max(0.0, ended + beyond - decay)


@njit(cache=True)
def _hyperexponential(parameters: Vector, rate: float) -> tuple[float, float]:
    size = len(parameters) // 2
    alive = ended = beyond = 0.0
    for index in range(size):
        load = rate * parameters[size + index]
        alive += parameters[index] / (1.0 + load)
        ended += parameters[index] * (load / (1.0 + load))
        beyond += parameters[index] * load * (load / (1.0 + load))
    return _from_ending(alive, ended, beyond)


@njit(cache=True)
def _samples(parameters: Vector, rate: float) -> tuple[float, float]:
    """Times in increasing order, then their probabilities; the least time is taken out where h would be small."""
    size = len(parameters) // 2
    ended, beyond, lost, lost_beyond = 0.0, 0.0, 0.0, 0.0
    for index in range(size):  # Kahan's sums
        load, chance = rate * parameters[index], parameters[size + index]
        term = -chance * math.expm1(-load) - lost
        total = ended + term
        ended, lost = total, (total - ended) - term
        term = chance * exp_excess(load) - lost_beyond
        total = beyond + term
        beyond, lost_beyond = total, (total - beyond) - term
    if ended < 0.5:
        return _from_ending(1.0 - ended, ended, beyond)
    least, alive = parameters[0], 0.0
    for index in range(size):
        alive += parameters[size + index] * math.exp(-rate * (parameters[index] - least))
    decay = rate * least - math.log(alive)
    return decay, max(0.0, ended + beyond - decay)


@njit(cache=True)
def _phase_type(parameters: Vector, rate: float) -> tuple[float, float]:
    r"""Solve :math:`(\mu I - \Gamma) y = \Gamma_0, \mu 1, \mu (-\Gamma)^{-1} 1` without a subtraction."""
    size = int(parameters[0])
    rates, right = np.empty((size, size)), np.empty((size, 3))
    leaving, totals = np.empty(size), np.zeros(size)
    for phase in range(size):
        for other in range(size):
            rates[phase, other] = parameters[1 + 3 * size + size * phase + other]
        right[phase, 0] = parameters[1 + size + phase]
        right[phase, 1] = rate
        right[phase, 2] = rate * parameters[1 + 2 * size + phase]
        leaving[phase] = right[phase, 0] + rate
    factor_in_place(rates, leaving, totals)
    solve_in_place(rates, totals, right)
    alive = ended = beyond = 0.0
    for phase in range(size):
        alive += parameters[1 + phase] * right[phase, 0]
        ended += parameters[1 + phase] * right[phase, 1]
        beyond += parameters[1 + phase] * (rate * right[phase, 2])
    if alive > SMALL_TRANSFORM:
        return _from_ending(alive, ended, beyond)
    decay = _phase_type_in_logarithms(parameters, rate)
    return decay, max(0.0, ended + beyond - decay)


@njit(cache=True)
def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -np.inf


@njit(cache=True)
def _log_of_sum(one: float, other: float) -> float:
    """Return ln(exp(one) + exp(other))."""
    large, small = max(one, other), min(one, other)
    return large + math.log1p(math.exp(small - large)) if small > -np.inf else large


@njit(cache=True)
def _phase_type_in_logarithms(parameters: Vector, rate: float) -> float:
    """The decay where the transform is below every double: the same elimination on logarithms."""
    size = int(parameters[0])
    rates = np.empty((size, size))
    right, leaving = np.empty(size), np.empty(size)
    for x in range(size):
        for y in range(size):
            rates[x, y] = _log(parameters[1 + 3 * size + size * x + y])
        right[x] = _log(parameters[1 + size + x])
        leaving[x] = math.log(parameters[1 + size + x] + rate)
    totals = leaving.copy()
    for x in range(size - 1, -1, -1):
        totals[x] = leaving[x]
        for y in range(x):
            totals[x] = _log_of_sum(totals[x], rates[x, y])
        for z in range(x):
            share = rates[z, x] - totals[x]
            leaving[z] = _log_of_sum(leaving[z], share + leaving[x])
            right[z] = _log_of_sum(right[z], share + right[x])
            for y in range(x):
                rates[z, y] = _log_of_sum(rates[z, y], share + rates[x, y])
    found = -np.inf
    for x in range(size):
        for y in range(x):
            right[x] = _log_of_sum(right[x], rates[x, y] + right[y])
        right[x] -= totals[x]
        found = _log_of_sum(found, _log(parameters[1 + x]) + right[x])
    return -found
