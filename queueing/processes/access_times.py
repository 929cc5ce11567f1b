r"""How long a robot takes to access a page: laws of a time X, known through its Laplace transform.

All that the freshness of a page of change rate :math:`\mu` asks of X is its mean and the *decay*

.. math::  \ell(\mu) = -\ln E\, e^{-\mu X}, \qquad 0 \le \ell(\mu) \le \mu E[X],

and, where pages are nearly always fresh, the *deficit* :math:`\mu E[X] - \ell(\mu)`, which is about
:math:`\mu^2 \mathrm{Var}[X] / 2` and would be lost in the difference. Both are sums of terms of one sign here, or
series: no digit is lost for small rates, and none for large ones where the transform itself is below every double.

Each law offers `mean`, `decay(rates)`, `deficit(rates)`, and `kernel()`: a number and an array that compiled loops hand
to `decay_at` and `decay_and_deficit_at` of :mod:`queueing.processes.transforms`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..numerics import Vector, distribution, equally_many, numbers, positive, whole
from .phase_type import PhaseType
from .transforms import (
    CONSTANT,
    ERLANG,
    EXPONENTIAL,
    HYPEREXPONENTIAL,
    PHASE_TYPE,
    SAMPLES,
    decays,
    decays_and_deficits,
    first_negative,
)

#: A law as compiled loops know it: which one, and its parameters.
Kernel = tuple[int, Vector]


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
        """Tell what the decay lacks to mu E[X]; never negative, 0 for a constant."""

    def kernel(self) -> Kernel:
        """Return the number of the law and its parameters, for compiled loops."""


class _Transformed(ABC):
    """A law that has a kernel, and hence the rest."""

    @abstractmethod
    def kernel(self) -> Kernel:
        """Return the number of the law and its parameters, for compiled loops."""

    def decay(self, rates: ArrayLike) -> Vector:
        """Return l = -ln E exp(-mu X) at each of these rates; 0 at 0."""
        kind, parameters = self.kernel()
        found: Vector = decays(kind, parameters, not_negative_numbers("rates", rates))
        return found

    def deficit(self, rates: ArrayLike) -> Vector:
        """Tell what the decay lacks to mu E[X]; never negative, 0 for a constant."""
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
        equally_many("probabilities and means", len(chances), len(means), "give one mean for each probability.")
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
    """Return `values` as finite floats of at least 0 in one row, or refuse them.

    Parameters
    ----------
    name
        what the numbers are called in the error.
    values
        a list of numbers.

    Returns
    -------
    Vector
        the numbers; not a copy where they are such an array already.

    Raises
    ------
    ValueError
        if they are no list of such numbers; the first wrong one is named.
    """
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
