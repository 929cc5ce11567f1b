r"""Shares of cases by what they took: the step functions of which ECDF, performance and data profiles are made.

Of cases that took :math:`x_1, \dots, x_n`, where :math:`x_i = \infty` says that a case was never done,

.. math::  F(x) = \frac1n \bigl|\{ i : x_i \le x \}\bigr|

is an empirical distribution function that may end below 1: what is missing there was never done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import RequestError

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The share of cases done within x, for every x: steps, each with its new value at the step itself.

    Parameters
    ----------
    points
        Where it steps up, ascending, each once, all finite.
    shares
        The share of cases at and after each of them.
    count
        Cases, with those that were never done.

    Examples
    --------
    >>> import numpy as np
    >>> done = distribution_of([3.0, 1.0, np.inf, 3.0])
    >>> done.points.tolist(), done.shares.tolist(), done.final
    ([1.0, 3.0], [0.25, 0.75], 0.75)
    >>> done.at([0.5, 1.0, 100.0]).tolist()
    [0.0, 0.25, 0.75]
    """

    points: Vector
    shares: Vector
    count: int

    @property
    def final(self) -> float:
        """The share of cases that were ever done; 0 of no cases."""
        return float(self.shares[-1]) if len(self.shares) else 0.0

    def at(self, x: ArrayLike) -> Vector:
        """Look up the share of cases done within each x; of no cases it is 0."""
        place = np.searchsorted(self.points, np.asarray(x, float), side="right")
        return np.concatenate([[0.0], self.shares])[place]

    def steps(self, until: float) -> tuple[Vector, Vector]:
        """List the corners of the step line from the first step to `until`, for drawing; nothing if none lies there."""
        shown = self.points <= until
        points, shares = self.points[shown], self.shares[shown]
        if not len(points):
            return np.empty(0), np.empty(0)
        x = np.repeat(np.append(points, until), 2)[:-1]
        y = np.repeat(np.concatenate([[0.0], shares]), 2)[1:]
        return x, y


def distribution_of(values: ArrayLike) -> Distribution:
    """Make the distribution function of what cases took.

    Parameters
    ----------
    values
        One per case, of any shape; infinite where a case was never done.

    Returns
    -------
    Distribution
        Its steps.

    Raises
    ------
    RequestError
        If a value is not a number.
    """
    cases = np.asarray(values, float).ravel()
    if np.isnan(cases).any():
        raise RequestError("what a case took is a number, or infinite if it was never done; got nan.")
    points, counts = np.unique(cases[cases < np.inf], return_counts=True)
    return Distribution(points, np.cumsum(counts) / max(len(cases), 1), len(cases))
