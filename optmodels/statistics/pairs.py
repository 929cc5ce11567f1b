r"""Which of two strategies is better, and how surely: the Wilcoxon signed-rank test, corrected after Holm.

Pairs are instances, so that instances and not runs are what is sampled: the two values of a pair are medians over
seeds. Of the differences :math:`d_i = x_i - y_i` those that are 0 are dropped (Wilcoxon's own rule, not Pratt's), the
others are ranked by :math:`|d_i|`, ties by their mean rank, and :math:`W^+` and :math:`W^-` are the sums of ranks of
positive and of negative differences. If neither strategy were better, each sign would be as likely as the other; the
two-sided p-value is the probability of a :math:`\min(W^+, W^-)` no larger than what was seen. It is computed from the
exact distribution, ties included, by convolution over the doubled ranks, which are whole numbers; for more than
`MOST_EXACT` differences by the normal approximation with mean :math:`\sum_i R_i / 2` and variance
:math:`\sum_i R_i^2 / 4`, which corrects for ties by itself.

With six differences the smallest possible p-value is :math:`2 / 2^6 = 0.031`, with five it is 0.0625: nothing could be
found at the usual level, so nothing is said below six.

The *effect* is the matched-pairs rank-biserial correlation (Kerby 2014),

.. math::  r = \frac{W^+ - W^-}{W^+ + W^-} \in [-1, 1],

negative where the first of two has the lower values. Of :math:`m` tests, Holm (1979) multiplies the smallest p-value by
:math:`m`, the next by :math:`m - 1` and so on, never letting one fall below its predecessor nor rise above 1, which
keeps the probability of any false claim below the level.

References
----------
.. [1] F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945) 80-83.
.. [2] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979)
   65-70.
.. [3] D. S. Kerby, "The simple difference formula: an approach to teaching nonparametric correlation", Comprehensive
   Psychology 3 (2014) 11.IT.3.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RequestError
from .distributions import Vector

#: A test is made only where so many pairs differ.
FEWEST_DIFFERENT = 6

#: Up to so many differences the distribution is exact.
MOST_EXACT = 200

#: How small a corrected p-value must be to be called a difference.
LEVEL = 0.05


@dataclass(frozen=True)
class PairedTest:
    """Two strategies on the same instances, where lower is better.

    Parameters
    ----------
    first, second
        Who is compared.
    pairs
        Instances that both have a value for.
    wins, losses, ties
        Of the first: where it is lower, where it is higher, where they are equal.
    median_difference
        The median over all pairs of the first minus the second; ``None`` without a pair.
    effect
        Rank-biserial correlation, negative where the first is lower; ``None`` where nothing differs.
    p_value
        Of the two-sided test; ``None`` where fewer than six pairs differ, so that none is made.
    adjusted
        The same, corrected for all tests that were made together.
    exact
        Whether the p-value is exact, not a normal approximation.

    Examples
    --------
    >>> test = signed_rank([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12], "a", "b")
    >>> test.wins, test.effect, test.p_value, test.winner
    (6, -1.0, 0.03125, 'a')
    """

    first: str
    second: str
    pairs: int
    wins: int
    losses: int
    ties: int
    median_difference: float | None
    effect: float | None
    p_value: float | None
    adjusted: float | None
    exact: bool = True

    @property
    def differing(self) -> int:
        """Pairs that differ."""
        return self.wins + self.losses

    @property
    def winner(self) -> str | None:
        """Who is better at the level of 0.05 after correction; ``None`` if that is not shown."""
        if self.adjusted is None or self.adjusted >= LEVEL or not self.effect:
            return None
        return self.first if self.effect < 0 else self.second


def signed_rank(
    first: ArrayLike, second: ArrayLike, first_name: str = "first", second_name: str = "second", tolerance: float = 0.0
) -> PairedTest:
    """Test whether one of two strategies has lower values than the other on the same instances.

    Parameters
    ----------
    first, second
        A value per instance, as a rule a median over seeds; infinite for a failure, which is worse than any number
        and equal to another failure; not a number where a strategy was not tried, which drops the pair.
    first_name, second_name
        Who they are of.
    tolerance
        Differences up to this are none.

    Returns
    -------
    PairedTest
        Without correction: `adjusted` is the p-value itself.

    Raises
    ------
    RequestError
        If there are not as many values of the one as of the other.

    Examples
    --------
    >>> signed_rank([1.0, 2.0], [1.5, 2.0]).p_value is None
    True
    """
    x, y = np.asarray(first, float).ravel(), np.asarray(second, float).ravel()
    if len(x) != len(y):
        raise RequestError(f"pairs have two values each; got {len(x)} of {first_name} and {len(y)} of {second_name}.")
    tried = ~(np.isnan(x) | np.isnan(y))
    x, y = x[tried], y[tried]
    with np.errstate(invalid="ignore"):
        differences = np.where(x == y, 0.0, x - y)
    differences[np.abs(differences) <= tolerance] = 0.0
    wins, losses = int((differences < 0).sum()), int((differences > 0).sum())
    told = (first_name, second_name, len(x), wins, losses, len(x) - wins - losses)
    median = float(_median(differences)) if len(x) else None
    kept = differences[differences != 0]
    if not len(kept):
        return PairedTest(*told, median, None, None, None)
    ranks = mean_ranks_of(np.abs(kept))
    positive, total = float(ranks[kept > 0].sum()), float(ranks.sum())
    effect = (2.0 * positive - total) / total
    if len(kept) < FEWEST_DIFFERENT:
        return PairedTest(*told, median, effect, None, None)
    exact = len(kept) <= MOST_EXACT
    p_value = _exact(ranks, positive) if exact else _approximate(ranks, positive)
    return PairedTest(*told, median, effect, p_value, p_value, exact)


def _median(differences: Vector) -> float:
    """Return the median, the mean of the two in the middle; half way between minus and plus infinity lies 0."""
    ordered = np.sort(differences)
    low, high = float(ordered[(len(ordered) - 1) // 2]), float(ordered[len(ordered) // 2])
    return low if low == high else 0.0 if np.isinf(low) and np.isinf(high) else low / 2 + high / 2


def mean_ranks_of(values: ArrayLike) -> Vector:
    """Rank values from 1 on; those that are equal share the mean of their ranks.

    Parameters
    ----------
    values
        Numbers, infinite ones too.

    Returns
    -------
    Vector
        The rank of each.

    Examples
    --------
    >>> mean_ranks_of([30.0, 10.0, 30.0, 20.0]).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    _, inverse, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], float)


def _exact(ranks: Vector, positive: float) -> float:
    """Compute the two-sided p-value from the distribution of rank sums under all choices of signs."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    total = int(doubled.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in doubled:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: total + 1 - rank]
        chances = 0.5 * (chances + moved)
    extreme = min(round(2 * positive), total - round(2 * positive))
    return min(1.0, 2.0 * float(chances[: extreme + 1].sum()))


def _approximate(ranks: Vector, positive: float) -> float:
    """Compute the two-sided p-value as if the rank sum were normal."""
    deviation = (2.0 * positive - float(ranks.sum())) / math.sqrt(float((ranks**2).sum()))
    return math.erfc(abs(deviation) / math.sqrt(2.0))


def holm(p_values: ArrayLike) -> Vector:
    """Correct p-values of several tests after Holm (1979).

    Parameters
    ----------
    p_values
        Of tests that are made together.

    Returns
    -------
    Vector
        Corrected p-values, in the order given; those below a level are shown together at that level.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, float).ravel()
    order = np.argsort(p, kind="stable")
    corrected = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    answer = np.empty_like(p)
    answer[order] = corrected
    return answer


def compare_pairs(values: Mapping[str, ArrayLike], tolerance: float = 0.0) -> tuple[PairedTest, ...]:
    """Compare every two strategies on the same instances, and correct the tests that are made.

    Parameters
    ----------
    values
        By strategy, a value per instance, as `signed_rank` takes them; instances in the same order for all.
    tolerance
        Differences up to this are none.

    Returns
    -------
    tuple of PairedTest
        Each pair of strategies once, in the order given. Only tests that could be made count for the correction.

    Examples
    --------
    >>> tests = compare_pairs({"a": range(6), "b": range(1, 7), "c": range(6)})
    >>> [(test.first, test.second, test.adjusted) for test in tests]
    [('a', 'b', 0.0625), ('a', 'c', None), ('b', 'c', 0.0625)]
    """
    tests = [
        signed_rank(values[first], values[second], first, second, tolerance)
        for first, second in combinations(values, 2)
    ]
    made = [place for place, test in enumerate(tests) if test.p_value is not None]
    corrected = holm([test.p_value for test in tests if test.p_value is not None])
    for place, value in zip(made, corrected, strict=True):
        tests[place] = replace(tests[place], adjusted=float(value))
    return tuple(tests)
