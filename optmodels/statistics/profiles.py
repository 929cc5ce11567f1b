r"""Performance and data profiles: shares of instances solved, by how much more than the best, or by evaluations.

Let :math:`t_{p,s}` be what strategy :math:`s` needed for instance :math:`p`, infinite if it failed. The *performance
profile* (Dolan and Moré 2002) is the distribution of the ratio to the best,

.. math::  \rho_s(\tau) = \frac1{n_p} \bigl|\{p : r_{p,s} \le \tau\}\bigr|,
           \qquad r_{p,s} = \frac{t_{p,s}}{\min_{s'} t_{p,s'}},

so that :math:`\rho_s(1)` is the share of instances on which nobody was better, ties counted for everybody, and the
limit for large :math:`\tau` the share it solved. Instances that nobody solved count among the :math:`n_p`. A ratio to
a best of 0 is 1 for those that took 0, and infinite for others; `floor` says below which time a clock tells nothing.

The *data profile* (Moré and Wild 2009) is the distribution of evaluations in units of :math:`\dim p + 1`, a simplex
gradient for so many variables, and does not depend on who else takes part:

.. math::  d_s(\kappa) = \frac1{n_p} \Bigl|\Bigl\{p : \frac{t_{p,s}}{\dim p + 1} \le \kappa\Bigr\}\Bigr|.

Their convergence test is relative to the value at a common start; ours has none, and takes targets by gap instead.

References
----------
.. [1] E. D. Dolan, J. J. Moré, "Benchmarking optimization software with performance profiles", Mathematical Programming
   91 (2002) 201-213.
.. [2] J. J. Moré, S. M. Wild, "Benchmarking derivative-free optimization algorithms", SIAM Journal on Optimization 20
   (2009) 172-191.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RequestError
from .distributions import Distribution, Matrix, distribution_of


def performance_ratios(costs: ArrayLike, floor: float = 0.0) -> Matrix:
    """Divide what each strategy needed by what the best one needed, instance by instance.

    Parameters
    ----------
    costs
        Instances times strategies: times or other costs, zero or more; infinite where a strategy failed.
    floor
        Costs below this are taken for it: what the clock cannot tell apart is a tie.

    Returns
    -------
    Matrix
        Ratios, 1 for the best and for all that tie with it; infinite for failures, for all of them where everybody
        failed, and for a positive cost beside a best of 0.

    Raises
    ------
    RequestError
        If a cost is negative or not a number, or the costs are no matrix.

    Examples
    --------
    >>> performance_ratios([[1.0, 3.0], [2.0, 2.0], [float("inf"), 5.0]]).tolist()
    [[1.0, 3.0], [1.0, 1.0], [inf, 1.0]]
    """
    matrix = np.maximum(_costs(costs), floor)
    if not matrix.shape[1]:
        return matrix
    best = matrix.min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = matrix / best
    return np.where(np.isinf(matrix), math.inf, np.where(matrix == best, 1.0, ratios))


def performance_profiles(costs: ArrayLike, floor: float = 0.0) -> tuple[Distribution, ...]:
    """Make performance profiles (Dolan and Moré 2002).

    Parameters
    ----------
    costs
        Instances times strategies: times or other costs, zero or more; infinite where a strategy failed.
    floor
        Costs below this are taken for it: what the clock cannot tell apart is a tie.

    Returns
    -------
    tuple of Distribution
        One per strategy: the share of instances that it solved within a factor of the best.

    Examples
    --------
    >>> first, second = performance_profiles([[1.0, 3.0], [2.0, 2.0], [float("inf"), 5.0]])
    >>> first.at([1.0, 10.0]).tolist()
    [0.6666666666666666, 0.6666666666666666]
    >>> second.at([1.0, 2.9, 3.0]).tolist()
    [0.6666666666666666, 0.6666666666666666, 1.0]
    """
    return tuple(distribution_of(column) for column in performance_ratios(costs, floor).T)


def data_profiles(evaluations: ArrayLike, dimensions: ArrayLike | None = None) -> tuple[Distribution, ...]:
    """Make data profiles (Moré and Wild 2009).

    Parameters
    ----------
    evaluations
        Instances times strategies: evaluations needed, infinite where a strategy failed.
    dimensions
        Variables of each instance; ``None`` counts plain evaluations.

    Returns
    -------
    tuple of Distribution
        One per strategy: the share of instances that it solved within so many times ``dimension + 1`` evaluations.

    Raises
    ------
    RequestError
        If there is not one dimension, zero or more, for each instance.

    Examples
    --------
    >>> (profile,) = data_profiles([[30.0], [40.0]], dimensions=[2, 9])
    >>> profile.points.tolist(), profile.shares.tolist()
    ([4.0, 10.0], [0.5, 1.0])
    """
    matrix = _costs(evaluations)
    if dimensions is not None:
        units = np.asarray(dimensions, float) + 1.0
        if units.shape != matrix.shape[:1] or not ((units >= 1) & np.isfinite(units)).all():
            raise RequestError(
                f"dimensions are {len(matrix)} numbers, zero or more, one for each instance; "
                f"got {np.asarray(dimensions).tolist()}."
            )
        matrix = matrix / units[:, None]
    return tuple(distribution_of(column) for column in matrix.T)


def _costs(costs: ArrayLike) -> Matrix:
    matrix = np.asarray(costs, float)
    if matrix.ndim != 2:
        raise RequestError(f"costs are a matrix, instances times strategies; got {matrix.ndim} dimensions.")
    wrong = np.argwhere(~(matrix >= 0))
    if len(wrong):
        row, column = map(int, wrong[0])
        raise RequestError(
            f"costs[{row}, {column}] is {float(matrix[row, column])!r}; a cost is zero or more, and infinite if a "
            "strategy failed."
        )
    return matrix
