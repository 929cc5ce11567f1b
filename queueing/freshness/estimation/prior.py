r"""The law of change rates over all pages, from what was seen of them.

With a Gamma law of shape :math:`\alpha` and rate :math:`\beta`, what was seen of a page has probability

.. math::  m(\alpha, \beta) = \frac{\beta^\alpha}{\Gamma(\alpha)} \int e^{f(\theta)}\, d\theta,

f as in :mod:`queueing.freshness.estimation.kernel`; :math:`(\beta / (\beta + T))^\alpha` if it never changed. The sum
of :math:`\ln m` over pages is made largest by Newton's method in :math:`(\ln\alpha, \ln\beta)`; its derivatives are
posterior moments, such as :math:`\partial \ln m / \partial\alpha = E[\theta] + \ln\beta - \psi(\alpha)`.

Where nothing ever changed, or everything always, or there is but one page, the data do not tell the law. A faint belief
weighs as much as part of one page: :math:`\ln\alpha` is about 0 (plus or minus 2), and the mean rate about all changes
seen over all the time there was (by a factor of :math:`e^{\pm 5}`).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

from ...numerics import positive
from .kernel import maxima, posterior_moments

Vector = NDArray[np.float64]
Whole = NDArray[np.int64]

#: What is believed of the law before anything was seen: standard deviations of the logs of its shape and its mean.
_SHAPE_SPREAD, _MEAN_SPREAD = 2.0, 5.0

#: Rounds, the longest step, and the shortest that is still of use: no number of pages tells a law better than that.
_ROUNDS, _LONGEST_STEP, _PRECISE = 100, 1.5, 1e-5


@dataclass(frozen=True)
class GammaPrior:
    """Rates of pages have density proportional to mu^(shape - 1) e^(-rate mu).

    Parameters
    ----------
    shape, rate
        above 0; the mean is shape / rate, and the weight of the prior that of `shape` changes in a time of `rate`.
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", positive("shape", self.shape))
        object.__setattr__(self, "rate", positive("rate", self.rate))

    @property
    def mean(self) -> float:
        """Of the change rates."""
        return self.shape / self.rate


@dataclass(frozen=True, eq=False)
class Totals:
    """All that matters of what was seen of pages.

    Attributes
    ----------
    starts, times
        the intervals after which page i had changed are times[starts[i]:starts[i + 1]].
    quiet
        for each page, the sum of the intervals after which it had not.
    """

    starts: Whole
    times: Vector
    quiet: Vector

    def chosen(self, pages: Whole) -> "Totals":
        """Those of some pages."""
        counts = np.diff(self.starts)[pages]
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[pages] - starts[:-1], counts)
        return Totals(starts, self.times[places], self.quiet[pages])


def fitted_prior(seen: Totals) -> GammaPrior:
    """The law under which what was seen of pages, each of them visited, is most likely."""
    changes, total = len(seen.times), float(seen.quiet.sum() + seen.times.sum())
    usual = math.log((changes + 0.5) / total)
    place = np.array([0.0, -usual])
    value, slope, bend = _evidence(seen, place, usual)
    for _ in range(_ROUNDS):
        step = _uphill(slope, bend)
        while True:
            ahead = place + step
            there = _evidence(seen, ahead, usual)
            if there[0] >= value or np.abs(step).max() < _PRECISE:
                break
            step = step / 4.0
        place, (value, slope, bend) = ahead, there
        if np.abs(step).max() < _PRECISE:
            break
    return GammaPrior(math.exp(place[0]), math.exp(place[1]))


def _uphill(slope: Vector, bend: Vector) -> Vector:
    """Newton's step, or a cautious one where the function is not concave; neither a long one."""
    values, vectors = np.linalg.eigh(bend)
    step = vectors @ ((vectors.T @ slope) / np.maximum(np.abs(values), 1e-300))
    return np.asarray(step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-300)))


def _evidence(seen: Totals, place: Vector, usual: float) -> tuple[float, Vector, Vector]:
    """Sum of ln m and the faint belief, with slope and second derivatives, at the logs of shape and rate."""
    shape, rate = math.exp(place[0]), math.exp(place[1])
    modes = maxima(seen.starts, seen.times, seen.quiet, shape, rate)
    integral, logs, rates, log_spread, both, rate_spread = posterior_moments(
        seen.starts, seen.times, seen.quiet, modes, shape, rate
    )
    still = seen.quiet[np.diff(seen.starts) == 0]
    changed = len(seen.quiet) - len(still)
    share = rate / (rate + still)  # a page that never changed: ln m = shape ln share
    value = integral + changed * (shape * place[1] - gammaln(shape)) + shape * np.log(share).sum()
    by_shape = logs + changed * (place[1] - psi(shape)) + np.log(share).sum()
    by_rate = changed * shape / rate - rates + shape / rate * (1.0 - share).sum()
    shape_twice = log_spread - changed * polygamma(1, shape)
    mixed = changed / rate - both + (1.0 - share).sum() / rate
    rate_twice = rate_spread - changed * shape / rate**2 - shape / rate**2 * (1.0 - share**2).sum()
    slope = np.array([shape * by_shape, rate * by_rate])
    bend = np.array(
        [
            [shape * shape * shape_twice + slope[0], shape * rate * mixed],
            [shape * rate * mixed, rate * rate * rate_twice + slope[1]],
        ]
    )
    mean = place[0] - place[1] - usual
    value -= 0.5 * (place[0] / _SHAPE_SPREAD) ** 2 + 0.5 * (mean / _MEAN_SPREAD) ** 2
    slope -= [place[0] / _SHAPE_SPREAD**2 + mean / _MEAN_SPREAD**2, -mean / _MEAN_SPREAD**2]
    bend -= np.array([[1.0, -1.0], [-1.0, 1.0]]) / _MEAN_SPREAD**2 + np.diag([1.0 / _SHAPE_SPREAD**2, 0.0])
    return float(value), slope, bend
