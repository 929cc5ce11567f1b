r"""What an arriving request waits at a first-come-first-served station with s equal exponential processors.

A request that meets j others spends an exponential service time of mean 1/lambda, and before it, if j >= s, the time of
k = j - s + 1 departures of rate s lambda. An exponential time of rate lambda is a geometric number (mean s) of
exponential times of rate s lambda, so that G(k) = P(Erlang(k, s lambda) + Exp(lambda) > delta) obeys

.. math::  G(k-1) = \frac{s-1}{s}\, G(k) + \frac1s\, P(\text{Poisson}(s\lambda\delta) \le k-1).

Run downwards in k this adds positive numbers and contracts errors; run upwards it would double them.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Vector = NDArray[np.float64]

#: Limits of more mean service times than this are not told apart; s times as much must still be a double.
LONGEST_WORK = 1e250


@njit(cache=True)
def poisson_log_mass(count: int, mean: float) -> float:
    """Log of P(Poisson(mean) = count), by the saddle point: the terms that would cancel are never formed."""
    if count == 0:
        return -mean
    if mean == 0.0:
        return -math.inf
    if count < 16:
        return count * math.log(mean) - mean - math.lgamma(count + 1.0)
    inverse = 1.0 / count
    square = inverse * inverse
    stirling = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    excess = (mean - count) / count
    return count * (math.log1p(excess) - excess) - stirling - 0.5 * math.log(2 * math.pi * count)


@njit(cache=True)
def poisson_masses(mean: float, size: int) -> Vector:
    """P(Poisson(mean) = k) for k < size, by ratios from the most likely k on (no underflow where it matters)."""
    masses = np.zeros(size)
    start = size - 1 if mean >= size - 1 else int(mean)
    masses[start] = math.exp(poisson_log_mass(start, mean))
    for k in range(start + 1, size):
        masses[k] = masses[k - 1] * mean / k
    for k in range(start, 0, -1):
        masses[k - 1] = masses[k] * k / mean
    return masses


@njit(cache=True)
def delay_tails(work: float, processors: int, size: int) -> Vector:
    r"""P(delay > delta | j others met) for j < size.

    Parameters
    ----------
    work
        lambda delta, the limit in mean service times.
    processors
        s.
    size
        number of values wanted.
    """
    tails = np.full(size, math.exp(-work))
    most = size - processors  # the largest number k of departures to wait for
    if most <= 0:
        return tails
    total = processors * work
    masses = poisson_masses(total, most + 1)
    waiting = np.cumsum(masses)  # waiting[k] = P(Poisson <= k) = P(Erlang(k + 1) > delta)

    # G(most) = P(Erlang(most) > delta) + P(Erlang(most) <= delta < Erlang(most) + Exp); for the second term there are
    # two forms, neither of which cancels where it is used.
    rest = total - work  # (s - 1) lambda delta
    if most <= rest:
        # Here Poisson(rest) >= most is likely: nothing cancels in 1 - P(. < most), and the exponent is at most 0.
        reached = max(0.0, 1.0 - np.sum(poisson_masses(rest, most)))
        second = reached * math.exp(-work - most * math.log1p(-1.0 / processors))
    else:
        term, series, k = 1.0, 0.0, float(most)
        while term > 1e-18 * series:
            series += term
            k += 1.0
            term *= rest / k
        second = masses[most] * series
    value = min(1.0, waiting[most - 1] + second)
    tails[size - 1] = value
    for k in range(most, 1, -1):
        value = ((processors - 1) * value + waiting[k - 1]) / processors
        tails[processors + k - 2] = value
    return tails
