r"""Sojourn times of a threshold queue, in law: transforms, moments, distribution and quantiles.

V is the time in the system of any page that comes, 0 for one that finds no room; V1 that of a page that is served, its
own service included, V2 that of a page that goes out of date (Avrachenkov et al., 2011, section 5). Each is the life of
a finite absorbing chain (:mod:`queueing.threshold.sojourn.tagged_page`), so nothing is approximated but the stationary
distribution where that is found by iteration, and the result says so.

Chains are followed in a unit of time of their own, a power of two near the mean service: times of 1e-200 or 1e200 would
have products that no double can hold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from ...numerics import Vector, not_negative, whole
from .arrivals import arrivals_of, refusal
from .transient import PageClock

if TYPE_CHECKING:
    from ..queue import ThresholdQueue

# A mean may be doubled so often: more would be in vain, as a mean of 0 shows where it is too small for a double.
_DOUBLINGS = 200

#: Tails smaller than this cannot be told where distributions come by inversion.
FAINT = 1e-8


@dataclass(frozen=True, eq=False)
class SojournLaw:
    """The law of a sojourn time V: transform, moments, distribution and quantiles.

    Attributes
    ----------
    probability
        that a page that comes is one of those whose time this is.
    at_once
        P(V = 0): of all pages, those that find no room.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, sojourn_times
    >>> queue = ThresholdQueue((BMAP.poisson(0.8),), PhaseType.exponential(1.0), capacity=4)
    >>> law = sojourn_times(queue, ()).served
    >>> round(law.mean, 6), round(law.survival(3.0), 6), round(law.quantile(0.95), 6)
    (2.224932, 0.274841, 5.847494)
    """

    probability: float
    at_once: float
    _clock: PageClock
    _ends: tuple[int, ...]
    _unit: float = 1.0

    def transform(self, s: complex) -> complex:
        """Return E[exp(-s V)], the Laplace-Stieltjes transform, for s with a real part of 0 or more; real if s is."""
        if isinstance(s, complex) and s.imag == 0.0:
            s = s.real
        finite = math.isfinite(s.real) and math.isfinite(s.imag)
        if not finite or s.real < 0:
            raise ValueError(f"s must be a number with a real part of at least 0, but it is {s!r}; give such a number.")
        values = self._clock.page.transforms(self._unit * (s if isinstance(s, complex) else float(s)))
        value = self.at_once + complex(values[list(self._ends)].sum()) / self.probability
        return value if isinstance(s, complex) else value.real

    def moment(self, order: int) -> float:
        """Return E[V**order] for a whole order of at least 0."""
        count = whole("order", order, least=0)
        if count == 0:
            return 1.0
        with np.errstate(over="ignore"):
            value = self._share(self._clock.page.moments(count)) * np.float64(self._unit) ** count
        if not math.isfinite(value):
            raise ValueError(f"The moment of order {count} is larger than a double can hold; ask for a lower order.")
        return float(value)

    @cached_property
    def mean(self) -> float:
        """E[V]."""
        return self.moment(1)

    @cached_property
    def variance(self) -> float:
        """Var[V]."""
        return max(0.0, self.moment(2) - self.mean**2)

    def cdf(self, time: float) -> float:
        """Return P(V <= time), the distribution function."""
        return min(1.0, self.at_once + self._share(self._clock.ended(not_negative("time", time) / self._unit)))

    def survival(self, time: float) -> float:
        """Return P(V > time), accurate where it is small."""
        return self._share(self._clock.left(not_negative("time", time) / self._unit))

    def is_quick(self, time: float) -> bool:
        """Tell whether P(V <= time) comes by uniformisation, of which all times share the work; else by inversion."""
        return self._clock.is_short(not_negative("time", time) / self._unit)

    def quantile(self, p: float) -> float:
        """Return the least t with P(V <= t) >= p, for 0 <= p < 1."""
        level = not_negative("p", p)
        if level >= 1.0:
            raise ValueError(f"p must be below 1, but it is {p!r}: no time is never exceeded; give a smaller number.")
        if level <= self.at_once:
            return 0.0
        high = self._share(self._clock.page.moments(1)) / (1.0 - self.at_once)
        for _ in range(_DOUBLINGS):
            if self._above(high, level) >= 0.0:
                break
            high *= 2.0
            if 1.0 - level < FAINT and not self._clock.is_short(high):
                raise ValueError(
                    f"p must be at most 1 - {FAINT:g} where rates lie as far apart as here, but it is {p!r}; "
                    "give a smaller number."
                )
        else:
            raise ValueError(
                f"The time that a share of {p!r} stays below must be a number that a double can hold, but none was "
                "found; bring the rates of the queue nearer to one another."
            )
        return self._unit * _root(lambda time: self._above(time, level), 0.0, high, 1e-15 * high, 1e-13)

    def _above(self, time: float, level: float) -> float:
        """Return P(V <= time) - level, time in units of the chain, from the smaller tail: both keep their digits."""
        if level <= 0.5:
            return self.at_once + self._share(self._clock.ended(time)) - level
        return (1.0 - level) - self._share(self._clock.left(time))

    def _share(self, values: Vector) -> float:
        return float(values[list(self._ends)].sum()) / self.probability


@dataclass(frozen=True, eq=False)
class SojournTimes:
    """Sojourn times of the pages that come under a policy; None where there are no such pages.

    Attributes
    ----------
    served
        V1: of pages that are served.
    obsolete
        V2: of pages that go out of date.
    all
        V: of all pages, lost ones counting 0.
    method
        how the stationary distribution was found: `"elimination"`, `"reference"`, `"krylov"` or `"block"`.
    error_estimate
        relative error of the probabilities a page meets, with what was dropped where times have fewer phases now.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, sojourn_times
    >>> queue = ThresholdQueue((BMAP.poisson(0.8),), PhaseType.exponential(1.0), capacity=4)
    >>> found = sojourn_times(queue, ())
    >>> found.obsolete is None, round(found.all.at_once, 6), found.method
    (True, 0.121847, 'elimination')
    """

    served: SojournLaw | None
    obsolete: SojournLaw | None
    all: SojournLaw | None
    method: str
    error_estimate: float


def sojourn_times(queue: "ThresholdQueue", thresholds: Sequence[SupportsIndex]) -> SojournTimes:
    """Compute the sojourn times of served, of obsolete and of all pages under a threshold policy, in law.

    Parameters
    ----------
    queue
        any capacity where patience has one phase or can be written with one; else at most `KRYLOV_LIMIT` states.
    thresholds
        as in `ThresholdQueue.measures`.

    Returns
    -------
    SojournTimes
        three laws.

    Notes
    -----
    Each is the life of a finite absorbing chain, begun as an arriving page meets the queue, so nothing is approximated
    but the stationary distribution where that is found by iteration.

    References
    ----------
    .. [1] K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web
       search engines with obsolescence of documents", *Computer Networks* 55 (2011), 1880-1893; Theorem 4 (transforms)
       and Corollary 1 (means).

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, sojourn_times
    >>> queue = ThresholdQueue(
    ...     (BMAP.poisson(0.8),), PhaseType.exponential(1.0), PhaseType.exponential(0.2), capacity=4
    ... )
    >>> found = sojourn_times(queue, ())
    >>> round(found.served.mean, 6), round(found.obsolete.mean, 6)
    (1.696555, 1.102608)
    """
    modes = queue.mode_by_level(thresholds)
    refused = refusal(queue.model)
    if refused is not None:
        raise ValueError(refused)
    unit = 2.0 ** round(math.log2(queue.service.mean))
    arrivals = arrivals_of(queue.model, modes, unit)
    page = arrivals.page
    if page is None:
        return SojournTimes(None, None, None, arrivals.method, arrivals.error_estimate)
    clock = PageClock(page)
    served, obsolete = (
        SojournLaw(float(chance), 0.0, clock, (end,), unit) if chance > 0.0 else None
        for end, chance in enumerate(page.probabilities)
    )
    return SojournTimes(
        served=served,
        obsolete=obsolete,
        all=SojournLaw(1.0, arrivals.loss, clock, (0, 1), unit),
        method=arrivals.method,
        error_estimate=arrivals.error_estimate + queue.reduction_error,
    )


def _root(function: Callable[[float], float], low: float, high: float, absolute: float, relative: float) -> float:
    """Find where a function changes its sign between two arguments, by the method of Brent (1973).

    This is what ``scipy.optimize.brentq`` does, step by step, without a quarter of a second to load it.
    """
    before, here, other = low, high, low
    f_before, f_here, f_other = function(low), function(high), 0.0
    if f_before == 0.0:
        return before
    step = last = 0.0
    while f_here != 0.0:
        if f_before != 0.0 and (f_before < 0.0) != (f_here < 0.0):
            other, f_other = before, f_before
            step = last = here - before
        if abs(f_other) < abs(f_here):
            before, here, other = here, other, here
            f_before, f_here, f_other = f_here, f_other, f_here
        near = (absolute + relative * abs(here)) / 2
        half = (other - here) / 2
        if f_here == 0.0 or abs(half) < near:
            break
        tried = math.inf
        if abs(last) > near and abs(f_here) < abs(f_before):
            if before == other:  # by a straight line
                tried = -f_here * (here - before) / (f_here - f_before)
            else:  # by an inverse parabola
                slope, other_slope = (f_before - f_here) / (before - here), (f_other - f_here) / (other - here)
                tried = -f_here * (f_other * other_slope - f_before * slope)
                tried /= other_slope * slope * (f_other - f_before)
        shorter = 2 * abs(tried) < min(abs(last), 3 * abs(half) - near)
        last, step = (step, tried) if shorter else (half, half)
        before, f_before = here, f_here
        here += step if abs(step) > near else math.copysign(near, half)
        f_here = function(here)
    return here
