r"""Who is ahead of whom over all instances: mean ranks, the Friedman test, and the critical difference of Nemenyi.

On each of :math:`n` instances the :math:`k` strategies get ranks from 1, the lowest value, ties their mean rank. If all
were equally good, the mean ranks :math:`R_j` would differ by chance alone, and Friedman's statistic, corrected for
ties,

.. math::  \chi^2 = \frac{\frac{12 n}{k (k+1)} \sum_j \bigl(R_j - \frac{k+1}{2}\bigr)^2}
                         {1 - \frac{\sum (t^3 - t)}{n k (k^2 - 1)}},

where :math:`t` runs over the sizes of groups of ties, would have about the chi-square distribution with :math:`k - 1`
degrees of freedom. Two mean ranks differ significantly if they differ by the critical difference
:math:`q_\alpha \sqrt{k (k+1) / (6 n)}` (Demšar 2006), with :math:`q_\alpha` the quantile of the studentized range over
:math:`\sqrt 2`.

References
----------
.. [1] M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
   Journal of the American Statistical Association 32 (1937) 675-701.
.. [2] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine Learning
   Research 7 (2006) 1-30.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RequestError
from .distributions import Matrix
from .pairs import mean_ranks_of


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over instances, and whether they differ by more than chance.

    Parameters
    ----------
    mean_ranks
        One per strategy, 1 is best.
    instances
        How many were ranked.
    p_value
        Of Friedman's test; ``None`` with fewer than two instances or strategies, or if all tie everywhere.
    """

    mean_ranks: tuple[float, ...]
    instances: int
    p_value: float | None


def rank_strategies(values: ArrayLike) -> Ranking:
    """Rank strategies on every instance, and test whether their mean ranks differ (Friedman 1937).

    Parameters
    ----------
    values
        Instances times strategies, lower is better; infinite for a failure. Instances with a value that is not a number
        are left out.

    Returns
    -------
    Ranking
        Mean ranks and the p-value.

    Raises
    ------
    RequestError
        If the values are no matrix.

    Examples
    --------
    >>> rank_strategies([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, 2.0]]).mean_ranks
    (1.0, 2.5, 2.5)
    """
    matrix = np.asarray(values, float)
    if matrix.ndim != 2:
        raise RequestError(f"values are a matrix, instances times strategies; got {matrix.ndim} dimensions.")
    matrix = matrix[~np.isnan(matrix).any(axis=1)]
    n, k = matrix.shape
    if not n or not k:
        return Ranking((math.nan,) * k, n, None)
    ranks: Matrix = np.array([mean_ranks_of(row) for row in matrix])
    means = ranks.mean(axis=0)
    if n < 2 or k < 2:
        return Ranking(tuple(means.tolist()), n, None)
    ties = sum(float(((counts := np.unique(row, return_counts=True)[1]) ** 3 - counts).sum()) for row in matrix)
    correction = 1.0 - ties / (n * k * (k * k - 1))
    if correction <= 0:
        return Ranking(tuple(means.tolist()), n, None)
    from scipy.special import chdtrc

    statistic = 12.0 * n / (k * (k + 1)) * float(((means - (k + 1) / 2) ** 2).sum()) / correction
    return Ranking(tuple(means.tolist()), n, float(chdtrc(k - 1, statistic)))


def critical_difference(strategies: int, instances: int, level: float = 0.05) -> float:
    """Compute by how much two mean ranks must differ to be told apart (Nemenyi; Demšar 2006).

    Parameters
    ----------
    strategies
        How many were ranked, two or more.
    instances
        On how many instances, one or more.
    level
        The probability of a false claim.

    Returns
    -------
    float
        The critical difference.

    Raises
    ------
    RequestError
        If there are too few strategies or instances.

    Examples
    --------
    Demšar (2006), section 3.2.2: four classifiers on 14 data sets.

    >>> round(critical_difference(4, 14, 0.10), 2)
    1.12
    """
    if strategies < 2 or instances < 1:
        raise RequestError(
            f"a critical difference needs two strategies and an instance, got {strategies} and {instances}."
        )
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1.0 - level, strategies, np.inf)) / math.sqrt(2.0)
    return quantile * math.sqrt(strategies * (strategies + 1) / (6.0 * instances))
