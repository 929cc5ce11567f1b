r"""What independent replications tell, and how surely.

Replication r gives a vector :math:`x_r` of totals; every measure is a smooth function f of their mean
:math:`\bar x`, a quotient as a rule. Its error is that of the jackknife: with :math:`f_{(r)}` the value without
replication r, :math:`s^2 = \frac{n-1}{n} \sum_r (f_{(r)} - \bar f_{(\cdot)})^2`, which for a mean is the usual
:math:`\sigma^2 / n` and for a quotient the delta method. Student's law with n - 1 degrees of freedom makes intervals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]

Name = TypeVar("Name")

#: How surely intervals hold the true value, wherever they are told.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """Hold a simulated value and its standard error.

    Attributes
    ----------
    value
        the estimate; None where nothing was seen it could be made from.
    error
        its standard error; None where there are fewer than two replications, or one of them holds all that was seen.
    degrees
        degrees of freedom: one fewer than replications.
    """

    value: float | None
    error: float | None
    degrees: int

    def half_width(self, confidence: float = CONFIDENCE) -> float | None:
        """Return half of the interval around the value that holds the true one with this confidence."""
        if self.error is None:
            return None
        return self.error * student_quantile(0.5 + confidence / 2, self.degrees)

    def covers(self, exact: float, confidence: float = CONFIDENCE) -> bool:
        """Tell whether this value lies in the interval."""
        half = self.half_width(confidence)
        return self.value is not None and half is not None and abs(self.value - exact) <= half

    def deviation(self, exact: float) -> float | None:
        """Count the standard errors by which the value lies above an exact one; infinite if it has none but differs."""
        if self.value is None or self.error is None:
            return None
        difference = self.value - exact
        if abs(difference) <= 1e-9 * max(abs(self.value), abs(exact)):  # a constant, but for the rounding of sums
            return 0.0 if self.error <= 1e-9 * abs(self.value) else difference / self.error
        return difference / self.error if self.error > 0 else math.copysign(math.inf, difference)


def jackknife(function: Callable[[Vector], float | None], observations: Matrix) -> Estimate:
    """Estimate a function of means, with its standard error.

    Parameters
    ----------
    function
        From the mean of the rows to a number, or to None where nothing was seen.
    observations
        A row for each replication.

    Returns
    -------
    Estimate
        The value at the mean of all rows; its error is that of the jackknife.
    """
    return jackknives(lambda means: {"": function(means)}, observations)[""]


def jackknife_columns(function: Callable[[Vector], Vector], observations: Matrix) -> list[Estimate]:
    """Estimate a vector of functions of means, each with its standard error.

    Parameters
    ----------
    function
        From the mean of the rows to numbers.
    observations
        A row for each replication.

    Returns
    -------
    list[Estimate]
        One for each of the numbers, as of `jackknife`.
    """
    return list(jackknives(lambda means: dict(enumerate(function(means).tolist())), observations).values())


def jackknives(function: Callable[[Vector], Mapping[Name, float | None]], observations: Matrix) -> dict[Name, Estimate]:
    """Estimate several functions of means, each with its standard error.

    Parameters
    ----------
    function
        From the mean of the rows to numbers by name, None where nothing was seen.
    observations
        A row for each replication.

    Returns
    -------
    dict[Name, Estimate]
        By name, the value at the mean of all rows, with the error of the jackknife.
    """
    count = len(observations)
    total = observations.sum(axis=0)
    values = function(total / count)
    if count < 2:
        return {name: Estimate(value, None, 0) for name, value in values.items()}
    without = [function((total - row) / (count - 1)) for row in observations]
    return {name: _estimate(value, [one[name] for one in without]) for name, value in values.items()}


def column_means(observations: Matrix) -> list[Estimate]:
    """Estimate the mean of each column, with its standard error.

    Parameters
    ----------
    observations
        A row for each replication.

    Returns
    -------
    list[Estimate]
        One for each column.
    """
    count = len(observations)
    means = observations.mean(axis=0).tolist()
    if count < 2:
        return [Estimate(value, None, 0) for value in means]
    spread = observations - observations.mean(axis=0)
    errors = [_length(column) / math.sqrt(count * (count - 1)) for column in spread.T]
    return [Estimate(value, error, count - 1) for value, error in zip(means, errors, strict=True)]


def interval_columns(estimates: Sequence[Estimate]) -> dict[str, list[float | None]]:
    """List estimates as reports write them.

    Parameters
    ----------
    estimates
        One after another.

    Returns
    -------
    dict[str, list[float | None]]
        Their values, called simulated, and half widths of their intervals, called half_width.
    """
    return {"simulated": [one.value for one in estimates], "half_width": [one.half_width() for one in estimates]}


def _estimate(value: float | None, without: Sequence[float | None]) -> Estimate:
    count = len(without)
    known = [one for one in without if one is not None]
    if value is None or len(known) < count:
        return Estimate(value, None, count - 1)
    spread = np.array(known) - np.mean(known)
    return Estimate(value, math.sqrt((count - 1) / count) * _length(spread), count - 1)


def _length(vector: Vector) -> float:
    """Return the root of the sum of squares, which a double may not hold."""
    return math.hypot(*vector.tolist())


def student_quantile(probability: float, degrees: int) -> float:
    """Return the value that Student's law stays below with this probability."""
    return float(stdtrit(degrees, probability))


def joint_limit(comparisons: int, degrees: int, chance: float = 0.01) -> float:
    """Compute what the largest of several deviations exceeds with a given chance at most.

    Parameters
    ----------
    comparisons
        How many deviations there are, in standard errors; they may depend on one another in any way.
    degrees
        Degrees of freedom of each.
    chance
        Of an exceedance.

    Returns
    -------
    float
        The quantile of Student's law by Bonferroni's inequality, on both sides of 0.
    """
    return student_quantile(1 - chance / (2 * max(1, comparisons)), degrees)
