r"""Change rates of pages from the history of their visits.

A page changes by a Poisson process of rate :math:`\mu`. A visit t after the one before cannot count changes, it only
sees whether there was one: with probability :math:`1 - e^{-\mu t}`. With T the sum of the intervals after which nothing
had changed, the log-likelihood in :math:`\theta = \ln \mu` is

.. math::  \ell(\theta) = \sum_{\text{changed}} \ln(1 - e^{-\mu t_j}) - \mu T,

strictly concave. Its maximum is 0 for a page that never changed, infinite for one that always did, and nothing is known
of one that was seen once. A Gamma law of rates, shape :math:`\alpha` and rate :math:`\beta`, shared by all pages, mends
all three: the posterior density of :math:`\theta` adds :math:`\alpha \theta - \beta \mu`, and its mode is finite and
above 0 for every page (:math:`\alpha / (\beta + T)` where nothing ever changed). The two parameters are given, or
found from all pages together, where they make what was seen most likely (empirical Bayes).

What was seen of a page then has probability

.. math::  m(\alpha, \beta) = \frac{\beta^\alpha}{\Gamma(\alpha)} \int e^{f(\theta)}\, d\theta,

f as in :mod:`queueing.freshness.estimation.kernel`; :math:`(\beta / (\beta + T))^\alpha` if it never changed. The sum
of :math:`\ln m` over pages is made largest by Newton's method in :math:`(\ln\alpha, \ln\beta)`; its derivatives are
posterior moments, such as :math:`\partial \ln m / \partial\alpha = E[\theta] + \ln\beta - \psi(\alpha)`. Where nothing
ever changed, or everything always, or there is but one page, the data do not tell the law. A faint belief weighs as
much as part of one page: :math:`\ln\alpha` is about 0 (plus or minus 2), and the mean rate about all changes seen over
all the time there was (by a factor of :math:`e^{\pm 5}`).

Intervals hold the rate with the probability asked for: between quantiles of the posterior, by quadrature of the exact
density; without a prior, where the likelihood falls below :math:`\chi^2`'s quantile (exact binomial ends for pages that
never or always changed). The former holds on average over pages as far as their rates are about Gamma: of lognormal
rates that spread by factors of e (one standard deviation) intervals of 95 % hold 93 to 95 %, by factors of
:math:`e^2` 90 to 92 %.

>>> seen = history([0, 0, 0, 0, 1], [2.0, 2.0, 2.0, 2.0, 1.0], [True, False, False, False, False])
>>> most_likely = estimate(seen, prior=None)
>>> [round(float(rate), 6) for rate in most_likely.rates]  # -ln(1 - 1/4) / 2, and never a change
[0.143841, 0.0]
>>> shrunk = estimate(seen, prior=GammaPrior(shape=1.0, rate=4.0))
>>> float(shrunk.rates[1])  # 1 / (4 + 1)
0.2
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, gammaincinv, gammaln, polygamma, psi

from ...numerics import Vector, positive
from ..page_traits import refuse_where
from .kernel import Whole, maxima, posterior_ends, posterior_moments, profile_ends

#: Pages the law of rates is found from; with more, it does not get better by anything that matters.
SAMPLE = 20_000

#: What is believed of the law before anything was seen: standard deviations of the logs of its shape and its mean.
_SHAPE_SPREAD, _MEAN_SPREAD = 2.0, 5.0

#: Rounds, the longest step, and the shortest that is still of use: no number of pages tells a law better than that.
_ROUNDS, _LONGEST_STEP, _PRECISE = 100, 1.5, 1e-5


@dataclass(frozen=True)
class GammaPrior:
    """Density of the rates of pages, proportional to mu^(shape - 1) e^(-rate mu).

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
        """Mean of the change rates."""
        return self.shape / self.rate


@dataclass(frozen=True, eq=False)
class History:
    """What was seen of pages, in the shortest form that tells all; made by `history`.

    Attributes
    ----------
    starts, times
        the intervals after which page i had changed are times[starts[i]:starts[i + 1]].
    quiet
        for each page, the sum of the intervals after which it had not.
    visits
        for each page, the number of intervals.
    """

    starts: Whole
    times: Vector
    quiet: Vector
    visits: Whole

    @property
    def intervals(self) -> tuple[Whole, Vector, Vector]:
        """What compiled loops take: starts, times, quiet."""
        return self.starts, self.times, self.quiet

    @property
    def changes(self) -> Whole:
        """For each page, the number of visits that saw a change."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.visits)

    def chosen(self, pages: Whole) -> "History":
        """Select some of the pages."""
        counts = self.changes[pages]
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[pages] - starts[:-1], counts)
        return History(starts, self.times[places], self.quiet[pages], self.visits[pages])


@dataclass(frozen=True, eq=False)
class RateEstimates:
    """Change rates of pages, each with its interval; `estimate` makes it.

    Attributes
    ----------
    rates
        the mode of the posterior of the log of the rate, above 0 and finite; without a prior, the most likely value:
        0 for a page that never changed, inf for one that always did, NaN for one without intervals.
    lower, upper
        the interval that holds the rate with probability `confidence`.
    visits, changes
        how many intervals were seen, and how many of them with a change.
    prior
        what was believed before; None: nothing.
    confidence
        the probability with which an interval holds the rate.
    """

    rates: Vector
    lower: Vector
    upper: Vector
    visits: Whole
    changes: Whole
    prior: GammaPrior | None
    confidence: float


def history(pages: ArrayLike, intervals: ArrayLike, changed: ArrayLike, count: int | None = None) -> History:
    """Collect visits to pages, in any order; it is fastest if they are sorted by page.

    Parameters
    ----------
    pages
        for each visit, the index of its page.
    intervals
        for each visit, the time since the visit before.
    changed
        for each visit, whether the page had changed in this time.
    count
        number of pages; as many as are named unless said.

    Returns
    -------
    History
        all that matters of them; a ValueError names the first visit that cannot be.
    """
    page, time, seen = np.asarray(pages), np.asarray(intervals, dtype=np.float64), np.asarray(changed)
    if not (page.ndim == time.ndim == seen.ndim == 1 and len(page) == len(time) == len(seen)):
        raise ValueError(
            f"pages, intervals and changed must have one entry for each visit, but their shapes are {page.shape}, "
            f"{time.shape} and {seen.shape}; give three lists of one length."
        )
    if len(page) and page.dtype.kind not in "iu":
        raise ValueError(f"pages must be whole numbers, but they are {page.dtype}; give the index of each page.")
    number = int(page.max(initial=-1)) + 1 if count is None else int(count)
    for wrong, name, values, rule in (
        (page < 0, "pages", page, "0 or more"),
        (page >= number, "pages", page, f"below the number of pages, {number}"),
        (~(np.isfinite(time) & (time > 0)), "intervals", time, "a finite number above 0"),
        ((seen != 0) & (seen != 1), "changed", seen, "true or false"),
    ):
        refuse_where(wrong, name, values, rule, "mend this visit")
    page, seen = page.astype(np.int64), seen.astype(np.bool_)
    visits = np.bincount(page, minlength=number)
    quiet = np.bincount(page[~seen], weights=time[~seen], minlength=number).astype(np.float64)  # of nothing: whole ones
    page, time = page[seen], time[seen]
    if (np.diff(page) < 0).any():
        time = time[np.argsort(page, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=number))])
    return History(starts, np.ascontiguousarray(time), quiet, visits)


def fit_prior(seen: History) -> GammaPrior:
    """Find the Gamma law of rates under which what was seen is most likely.

    Parameters
    ----------
    seen
        what was seen of pages, one of them visited twice at least; of more than 20 000, so many are drawn at random.

    Returns
    -------
    GammaPrior
        the law.
    """
    visited = np.flatnonzero(seen.visits)
    if not len(visited):
        raise ValueError("visits must not be empty, but no page was visited twice; give a longer history or a prior.")
    if len(visited) > SAMPLE:
        visited = np.sort(np.random.default_rng(0).choice(visited, SAMPLE, replace=False))
    return _most_likely(seen.chosen(visited))


def estimate(seen: History, prior: GammaPrior | str | None = "fit", confidence: float = 0.95) -> RateEstimates:
    """Estimate the change rates of pages, each with its interval.

    Parameters
    ----------
    seen
        what was seen, see `history`.
    prior
        the law of rates over all pages; `"fit"`: the one that fits what was seen best; None: every page for itself.
    confidence
        probability with which the interval holds the rate.

    Returns
    -------
    RateEstimates
        rates and intervals by page, and the law that was used.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, but it is {confidence!r}; give 0.95, say.")
    if isinstance(prior, str):
        if prior != "fit":
            raise ValueError(f"prior must be 'fit', a GammaPrior or None, but it is {prior!r}; give one of these.")
        prior = fit_prior(seen)
    tail, still = (1.0 - confidence) / 2, seen.changes == 0
    shape, rate = (prior.shape, prior.rate) if prior else (0.0, 0.0)
    rates = maxima(*seen.intervals, shape, rate)
    if prior:
        lower, upper = posterior_ends(*seen.intervals, rates, shape, rate, tail)
        idle = rate + seen.quiet[still]
        lower[still], upper[still] = gammaincinv(shape, tail) / idle, gammaincinv(shape, 1.0 - tail) / idle
    else:
        fall = 0.5 * float(chdtri(1, 1.0 - confidence))
        lower, upper = profile_ends(*seen.intervals, rates, fall, tail)
        with np.errstate(divide="ignore"):
            upper[still] = -np.log(tail) / seen.quiet[still]
        rates[seen.visits == 0] = np.nan
    return RateEstimates(rates, lower, upper, seen.visits, seen.changes, prior, float(confidence))


# -- the law of rates over all pages -----------------------------------------------------------------------------------


def _most_likely(seen: History) -> GammaPrior:
    """Find the law under which what was seen of pages, each of them visited, is most likely."""
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


def _evidence(seen: History, place: Vector, usual: float) -> tuple[float, Vector, Vector]:
    """Sum of ln m and the faint belief, with slope and second derivatives, at the logs of shape and rate."""
    shape, rate = math.exp(place[0]), math.exp(place[1])
    modes = maxima(*seen.intervals, shape, rate)
    moments = posterior_moments(*seen.intervals, modes, shape, rate)
    integral, logs, rates, log_spread, both, rate_spread = moments
    still = seen.quiet[seen.changes == 0]
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
