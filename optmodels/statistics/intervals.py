r"""How sure a median is: bootstrap intervals over seeds, and over instances with seeds inside.

Runs are nested: instances are drawn from those one might meet, and seeds within each instance. The statistic is the
median over instances of medians over seeds. A resample draws as many instances as there are, with replacement, and for
each draw as many of its seeds, with replacement (Davison and Hinkley 1997, section 3.8); the interval holds the middle
of the distribution of the statistic over resamples (percentile method). Its ends are medians of resamples, never
interpolated, so that infinite values (failures) stay what they are, and rounded outwards to the next median that was
drawn: medians of few values take few values, and without this the interval of 13 seeds would hold the median with 91 %
where 95 % are asked for.

With one instance only seeds are drawn, and the interval speaks of that instance alone; with one seed each only
instances are. One run has no interval. Such an interval never leaves the range of the :math:`n` values seen (of
instances, or of seeds if there is one instance), and even this range holds the median of a continuous distribution with
a probability of :math:`1 - 2^{1-n}` only: where this is less than what was asked for, an `Interval` says so.

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", Chapman & Hall (1993), chapter 13.
.. [2] A. C. Davison, D. V. Hinkley, "Bootstrap methods and their application", Cambridge University Press (1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import RequestError
from .distributions import Matrix, Vector

#: How surely an interval holds the median, and from how many resamples it is made.
CONFIDENCE, RESAMPLES = 0.95, 2000

#: Draws that are held in memory at once.
_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Interval:
    """From where to where a median may lie.

    Parameters
    ----------
    low, high
        The ends, which belong to it.
    confidence
        How surely it holds the median, at most.
    """

    low: float
    high: float
    confidence: float = CONFIDENCE


def median_interval(
    values: ArrayLike, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = 0
) -> Interval | None:
    """Find an interval for the median over the seeds of one instance.

    Parameters
    ----------
    values
        One per seed; infinite for a failure.
    confidence
        How surely it is to hold the median.
    resamples
        How many samples are drawn.
    seed
        Of these draws: the same seed gives the same interval.

    Returns
    -------
    Interval or None
        ``None`` of fewer than two values.

    Examples
    --------
    >>> median_interval([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 8.0, 7.0])
    Interval(low=1.5, high=7.5, confidence=0.95)
    >>> median_interval([3.0]) is None
    True
    """
    return nested_interval([values], confidence=confidence, resamples=resamples, seed=seed)


def nested_interval(
    groups: Sequence[ArrayLike], *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = 0
) -> Interval | None:
    """Find an interval for the median over instances of medians over seeds.

    Parameters
    ----------
    groups
        One sequence per instance, with a value per seed; infinite for a failure. Instances without a run are left out.
    confidence
        How surely it is to hold the median.
    resamples
        How many samples are drawn.
    seed
        Of these draws: the same seed gives the same interval.

    Returns
    -------
    Interval or None
        ``None`` of fewer than two values in all.

    Raises
    ------
    RequestError
        If a value is not a number, the confidence not between 0 and 1, or there is no resample.

    Examples
    --------
    >>> nested_interval([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    Interval(low=1.0, high=3.0, confidence=0.75)
    """
    if not 0 < confidence < 1:
        raise RequestError(f"a confidence lies between 0 and 1, got {confidence!r}.")
    if resamples < 1:
        raise RequestError(f"an interval needs at least one resample, got {resamples!r}.")
    arrays = [array for group in groups if len(array := np.asarray(group, float).ravel())]
    if any(np.isnan(array).any() for array in arrays):
        raise RequestError("a value of a run is a number, or infinite for a failure; got nan.")
    if sum(map(len, arrays)) < 2:
        return None
    medians = np.sort(resampled_medians(arrays, resamples, np.random.default_rng(seed)))
    tail = (1.0 - confidence) / 2
    place = int(np.floor(tail * (resamples - 1)))
    low, high = medians[place], medians[resamples - 1 - place]
    # Outwards, to the next median that was drawn: medians of few values are coarse.
    low = medians[max(0, np.searchsorted(medians, low, side="left") - 1)]
    high = medians[min(resamples - 1, np.searchsorted(medians, high, side="right"))]
    drawn = len(arrays) if len(arrays) > 1 else len(arrays[0])
    return Interval(float(low), float(high), min(confidence, 1.0 - 0.5 ** (drawn - 1)))


def resampled_medians(groups: Sequence[Vector], resamples: int, rng: np.random.Generator) -> Vector:
    """Draw instances with replacement, and in each its seeds; return the median of medians of each resample.

    Parameters
    ----------
    groups
        One array per instance, with a value per seed, none of them empty.
    resamples
        How many samples are drawn.
    rng
        Draws them.

    Returns
    -------
    Vector
        One median per resample.
    """
    sizes = np.array([len(group) for group in groups])
    widest = int(sizes.max())
    padded = np.full((len(groups), widest), np.inf)
    for row, group in zip(padded, groups, strict=True):
        row[: len(group)] = group
    chunk = max(1, _AT_ONCE // (len(groups) * widest))
    parts = []
    for begin in range(0, resamples, chunk):
        count = min(chunk, resamples - begin)
        drawn = rng.integers(len(groups), size=(count, len(groups)))
        size = sizes[drawn]
        seeds = (rng.random((count, len(groups), widest)) * size[..., None]).astype(np.int64)
        values = padded[drawn[..., None], seeds]
        values[np.arange(widest) >= size[..., None]] = np.inf  # beyond the seeds of an instance: sorted to the end
        parts.append(_medians(_medians(values, size), np.full(count, len(groups))))
    return np.concatenate(parts)


def _medians(values: Matrix, sizes: NDArray[np.int64]) -> Matrix:
    """Take medians along the last axis, of the `sizes` smallest there."""
    ordered = np.sort(values, axis=-1)
    low = np.take_along_axis(ordered, ((sizes - 1) // 2)[..., None], -1)[..., 0]
    high = np.take_along_axis(ordered, (sizes // 2)[..., None], -1)[..., 0]
    return np.where(low == high, low, low / 2 + high / 2)
