r"""Phase-type laws: the time a Markov chain takes to end.

A chain begins in phase r with probability :math:`\gamma_r`, moves between phases at rates :math:`\Gamma_{rs}` and ends
from phase r at rate :math:`\Gamma_0 = -\Gamma e`. Its life X has

.. math::  P(X > t) = \gamma\, e^{\Gamma t} e, \qquad E[X^k] = k!\, \gamma (-\Gamma)^{-k} e.

Both are computed from non-negative terms only, so small probabilities have as many digits as large ones.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..numerics import (
    SUM_TOLERANCE,
    Matrix,
    Vector,
    clean_exits,
    distribution,
    equally_many,
    not_negative,
    not_negative_rates,
    positive,
    refuse_rows,
    solve_in_place,
    square,
    states_reached,
    transient_factors,
    whole,
)


@dataclass(frozen=True, eq=False)
class PhaseType:
    r"""The law of the time until a Markov chain ends.

    Parameters
    ----------
    initial
        gamma: probabilities of the phase the chain begins in; they sum to one, so the time is never 0.
    generator
        Gamma: rates between phases; its rows sum to at most 0, and what a row lacks is the rate of ending.

    Notes
    -----
    The life X of the chain has

    .. math::  P(X > t) = \gamma\, e^{\Gamma t} e, \qquad E[X^k] = k!\, \gamma (-\Gamma)^{-k} e.

    Both are computed from non-negative terms only, so small probabilities have as many digits as large ones.
    Constructors make exponential, Erlang, hyperexponential and nearly constant times.

    Examples
    --------
    >>> from queueing import PhaseType
    >>> law = PhaseType.erlang(3, rate=1.5)
    >>> round(law.mean, 12), round(law.variance, 12), round(law.survival(4.0), 6)
    (2.0, 1.333333333333, 0.061969)
    """

    initial: Vector
    generator: Matrix

    def __post_init__(self) -> None:
        initial = distribution("initial", self.initial)
        generator = square("generator", self.generator)
        if len(initial) != len(generator):
            raise ValueError(
                f"initial must have one probability for each phase, but it has {len(initial)} and generator has "
                f"{len(generator)} phases; give vectors and matrices of one size."
            )
        not_negative_rates("generator", generator, diagonal=False)
        sums = generator.sum(axis=1)
        wrong = sums > SUM_TOLERANCE * np.abs(np.diagonal(generator))
        advice = "its diagonal is minus the rate at which the phase is left."
        refuse_rows("generator", sums, wrong, "at most 0", advice)
        object.__setattr__(self, "initial", initial)
        object.__setattr__(self, "generator", generator)
        _check_ends(generator, self.exit_rates)

    @classmethod
    def exponential(cls, rate: float) -> "PhaseType":
        """Make the exponential law of this rate."""
        return cls(np.ones(1), np.array([[-positive("rate", rate)]]))

    @classmethod
    def erlang(cls, stages: int, rate: float) -> "PhaseType":
        """Make the law of the sum of so many exponential times, each of this rate: mean stages / rate."""
        size, speed = whole("stages", stages, least=1), positive("rate", rate)
        return cls(np.eye(size)[0], speed * (np.eye(size, k=1) - np.eye(size)))

    @classmethod
    def hyperexponential(cls, probabilities: ArrayLike, rates: ArrayLike) -> "PhaseType":
        """Make the law of one of several exponential times, chosen by these probabilities."""
        chances = distribution("probabilities", probabilities)
        speeds = [positive(f"rates[{index}]", rate) for index, rate in enumerate(np.atleast_1d(np.asarray(rates)))]
        equally_many("probabilities and rates", len(chances), len(speeds), "give one rate for each probability.")
        return cls(chances, -np.diag(speeds))

    @classmethod
    def deterministic(cls, value: float, stages: int) -> "PhaseType":
        """Write a constant as the Erlang law of its mean: variance value**2 / stages, the least of so many phases."""
        size = whole("stages", stages, least=1)
        return cls.erlang(size, size / positive("value", value))

    @property
    def order(self) -> int:
        """Number of phases."""
        return len(self.initial)

    @cached_property
    def exit_rates(self) -> Vector:
        """Gamma_0: the rate of ending from each phase."""
        rates = clean_exits(self.generator)
        rates.flags.writeable = False
        return rates

    @property
    def mean(self) -> float:
        """E[X]."""
        return self.moment(1)

    @property
    def variance(self) -> float:
        """Var[X] = E[X**2] - E[X]**2; it keeps its digits, as no law of this order varies less than Erlang's."""
        mean = self.mean
        return self.moment(2) - mean * mean

    def moment(self, order: int) -> float:
        """Return E[X**order] for a whole order of at least 0."""
        count = whole("order", order, least=0)
        factors, totals = transient_factors(self.generator, self.exit_rates)
        column = np.ones((self.order, 1))
        with np.errstate(over="ignore"):
            for power in range(1, count + 1):
                solve_in_place(factors, totals, column)
                column *= power
        value = float(self.initial @ column[:, 0])
        if not math.isfinite(value):
            raise ValueError(f"The moment of order {count} is larger than a double can hold; ask for a lower order.")
        return value

    def cdf(self, time: float) -> float:
        """Return P(X <= time), accurate where it is small."""
        return self._ended(time)[1]

    def survival(self, time: float) -> float:
        """Return P(X > time), accurate where it is small."""
        return self._ended(time)[0]

    def _ended(self, time: float) -> tuple[float, float]:
        r"""Return P(X > t), P(X <= t), the end as one more state, :math:`e^{Qt} = e^{-qt} e^{(Q + qI)t}`."""
        span = not_negative("time", time)
        fastest = float(-np.diagonal(self.generator).min())
        if fastest * span > 1e15:  # the slowest phase may still be alive, but no digit would be right
            raise ValueError(
                f"time x fastest rate must be at most 1e15, but it is {fastest * span!r}; ask about a shorter time."
            )
        halvings = max(0, math.ceil(math.log2(fastest * span))) if fastest * span > 1 else 0
        step = span / 2**halvings
        size = self.order
        positive_part = np.zeros((size + 1, size + 1))
        positive_part[:size, :size] = self.generator
        positive_part[:size, size] = self.exit_rates
        positive_part += fastest * np.eye(size + 1)
        term = total = np.eye(size + 1)
        for count in range(1, 24):  # 1 / 23! is below the last digit
            term = term @ positive_part * (step / count)
            total = total + term
        total *= math.exp(-fastest * step)
        for _ in range(halvings):
            total = total @ total
        row = self.initial @ total[:size]
        return min(1.0, float(row[:size].sum())), min(1.0, float(row[size]))

    def scaled(self, factor: float) -> "PhaseType":
        """Return the law of X / factor: all rates multiplied by `factor`."""
        return PhaseType(self.initial, self.generator * positive("factor", factor))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PhaseType):
            return NotImplemented
        return np.array_equal(self.initial, other.initial) and np.array_equal(self.generator, other.generator)

    def __hash__(self) -> int:
        return hash((self.initial.tobytes(), self.generator.tobytes()))

    def __reduce__(self) -> tuple[type["PhaseType"], tuple[Vector, Matrix]]:
        return PhaseType, (self.initial, self.generator)


def _check_ends(generator: Matrix, exits: Vector) -> None:
    ending = states_reached(generator.T > 0, exits > 0)
    if not ending.all():
        phase = int(np.argmin(ending))
        raise ValueError(
            f"Every phase must lead to the end, but from phase {phase} it is out of reach; "
            "let its row of generator, or one it leads to, sum to less than 0."
        )
