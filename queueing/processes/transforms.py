r"""Transforms of access times, compiled: the decay and the deficit of every law of `queueing.processes.access_times`.

A law is a number, `CONSTANT` to `SAMPLES`, and an array of its parameters. Its decay is
:math:`\ell(\mu) = -\ln E\, e^{-\mu X}`, its deficit :math:`\mu E[X] - \ell(\mu)`; both are sums of terms of one sign,
or series, so that they have all their digits for small rates and for large ones.
"""

import math

import numpy as np
from numba import njit

from ..numerics import Vector, factor_in_place, solve_in_place

CONSTANT, EXPONENTIAL, ERLANG, HYPEREXPONENTIAL, PHASE_TYPE, SAMPLES = range(6)

#: A transform below this is computed again in logarithms: its digits, or itself, may be lost.
SMALL_TRANSFORM = 1e-280


@njit(cache=True)
def first_negative(values: Vector) -> int:
    """Find the first entry that is negative, infinite or no number.

    Parameters
    ----------
    values
        numbers.

    Returns
    -------
    int
        its index; -1 if there is none.
    """
    for index in range(len(values)):
        if not 0.0 <= values[index] < np.inf:
            return index
    return -1


# -- functions that keep their digits near 0 --------------------------------------------------------------------------


_EXP_TERMS = np.array([(-1) ** k / math.factorial(k + 2) for k in range(16)])
_LOG_TERMS = np.array([1 / (2 * k + 3) for k in range(16)])


@njit(cache=True)
def power_series(terms: Vector, x: float) -> float:
    """Add up terms[k] x**k, even and odd powers side by side.

    Parameters
    ----------
    terms
        coefficients, an even number of them.
    x
        the argument.

    Returns
    -------
    float
        the sum.
    """
    square, even, odd = x * x, 0.0, 0.0
    for k in range(len(terms) - 2, -1, -2):
        even = even * square + terms[k]
        odd = odd * square + terms[k + 1]
    return even + x * odd


@njit(cache=True)
def exp_excess(x: float) -> float:
    """Return exp(-x) - 1 + x with all its digits, also where it is about x**2 / 2.

    Parameters
    ----------
    x
        a number of at least 0.

    Returns
    -------
    float
        the difference.
    """
    if x >= 0.5:
        return x + math.expm1(-x)
    return x * x * power_series(_EXP_TERMS, x)


@njit(cache=True)
def log_excess(x: float) -> float:
    """Return x - ln(1 + x) for x >= -1/2, also where it is about x**2 / 2."""
    if x > 1.0:
        return x - math.log1p(x)
    s = x / (2.0 + x)  # ln(1 + x) = 2 artanh s
    return x * s - 2.0 * s * s * s * power_series(_LOG_TERMS, s * s)


# -- compiled laws ----------------------------------------------------------------------------------------------------


@njit(cache=True)
def decay_at(kind: int, parameters: Vector, rate: float) -> float:
    """Return the decay l = -ln E exp(-rate X) of a law at one rate.

    Parameters
    ----------
    kind
        number of the law, `CONSTANT` to `SAMPLES`.
    parameters
        its parameters, as `AccessTime.kernel` gives them.
    rate
        a number of at least 0.

    Returns
    -------
    float
        the decay.
    """
    if kind == CONSTANT:
        return float(rate * parameters[0])
    if kind == EXPONENTIAL:
        return math.log1p(rate * parameters[0])
    if kind == ERLANG:
        return float(parameters[0] * math.log1p(rate * parameters[1] / parameters[0]))
    return decay_and_deficit_at(kind, parameters, rate)[0]


@njit(cache=True)
def decay_and_deficit_at(kind: int, parameters: Vector, rate: float) -> tuple[float, float]:
    """Return the decay l = -ln E exp(-rate X) of a law at one rate, and the deficit rate E[X] - l.

    Parameters
    ----------
    kind
        number of the law, `CONSTANT` to `SAMPLES`.
    parameters
        its parameters, as `AccessTime.kernel` gives them.
    rate
        a number of at least 0.

    Returns
    -------
    tuple of float
        decay and deficit, each with all its digits.
    """
    if kind == CONSTANT:
        return rate * parameters[0], 0.0
    if kind == EXPONENTIAL:
        load = rate * parameters[0]
        return math.log1p(load), log_excess(load)
    if kind == ERLANG:
        load = rate * parameters[1] / parameters[0]
        return parameters[0] * math.log1p(load), parameters[0] * log_excess(load)
    if rate == 0.0:
        return 0.0, 0.0
    if kind == HYPEREXPONENTIAL:
        return _hyperexponential(parameters, rate)
    if kind == PHASE_TYPE:
        return _phase_type(parameters, rate)
    return _samples(parameters, rate)


@njit(cache=True)
def decays(kind: int, parameters: Vector, rates: Vector) -> Vector:
    """Return what `decay_at` returns, at each of these rates."""
    found = np.empty(len(rates))
    for index in range(len(rates)):
        found[index] = decay_at(kind, parameters, rates[index])
    return found


@njit(cache=True)
def decays_and_deficits(kind: int, parameters: Vector, rates: Vector) -> tuple[Vector, Vector]:
    """Return what `decay_and_deficit_at` returns, at each of these rates.

    Parameters
    ----------
    kind
        number of the law, `CONSTANT` to `SAMPLES`.
    parameters
        its parameters, as `AccessTime.kernel` gives them.
    rates
        numbers of at least 0.

    Returns
    -------
    tuple of Vector
        decays and deficits.
    """
    found, lacking = np.empty(len(rates)), np.empty(len(rates))
    for index in range(len(rates)):
        found[index], lacking[index] = decay_and_deficit_at(kind, parameters, rates[index])
    return found, lacking


@njit(cache=True)
def _from_ending(alive: float, ended: float, beyond: float) -> tuple[float, float]:
    """Return the decay and its deficit from h, 1 - h and mu E[X] - (1 - h), each known to its last digits."""
    if ended < 0.5:
        return -math.log1p(-ended), max(0.0, beyond - log_excess(-ended))
    decay = -math.log(alive)
    return decay, max(0.0, ended + beyond - decay)


@njit(cache=True)
def _hyperexponential(parameters: Vector, rate: float) -> tuple[float, float]:
    size = len(parameters) // 2
    alive = ended = beyond = 0.0
    for index in range(size):
        load = rate * parameters[size + index]
        alive += parameters[index] / (1.0 + load)
        ended += parameters[index] * (load / (1.0 + load))
        beyond += parameters[index] * load * (load / (1.0 + load))
    return _from_ending(alive, ended, beyond)


@njit(cache=True)
def _samples(parameters: Vector, rate: float) -> tuple[float, float]:
    """Take times in increasing order, then their probabilities; the least time is split off where h would be small."""
    size = len(parameters) // 2
    ended, beyond, lost, lost_beyond = 0.0, 0.0, 0.0, 0.0
    for index in range(size):  # Kahan's sums
        load, chance = rate * parameters[index], parameters[size + index]
        term = -chance * math.expm1(-load) - lost
        total = ended + term
        ended, lost = total, (total - ended) - term
        term = chance * exp_excess(load) - lost_beyond
        total = beyond + term
        beyond, lost_beyond = total, (total - beyond) - term
    if ended < 0.5:
        return _from_ending(1.0 - ended, ended, beyond)
    least, alive = parameters[0], 0.0
    for index in range(size):
        alive += parameters[size + index] * math.exp(-rate * (parameters[index] - least))
    decay = rate * least - math.log(alive)
    return decay, max(0.0, ended + beyond - decay)


@njit(cache=True)
def _phase_type(parameters: Vector, rate: float) -> tuple[float, float]:
    r"""Solve :math:`(\mu I - \Gamma) y = \Gamma_0, \mu 1, \mu (-\Gamma)^{-1} 1` without a subtraction."""
    size = int(parameters[0])
    rates, right = np.empty((size, size)), np.empty((size, 3))
    leaving, totals = np.empty(size), np.zeros(size)
    for phase in range(size):
        for other in range(size):
            rates[phase, other] = parameters[1 + 3 * size + size * phase + other]
        right[phase, 0] = parameters[1 + size + phase]
        right[phase, 1] = rate
        right[phase, 2] = rate * parameters[1 + 2 * size + phase]
        leaving[phase] = right[phase, 0] + rate
    factor_in_place(rates, leaving, totals)
    solve_in_place(rates, totals, right)
    alive = ended = beyond = 0.0
    for phase in range(size):
        alive += parameters[1 + phase] * right[phase, 0]
        ended += parameters[1 + phase] * right[phase, 1]
        beyond += parameters[1 + phase] * (rate * right[phase, 2])
    if alive > SMALL_TRANSFORM:
        return _from_ending(alive, ended, beyond)
    decay = _phase_type_in_logarithms(parameters, rate)
    return decay, max(0.0, ended + beyond - decay)


@njit(cache=True)
def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -np.inf


@njit(cache=True)
def _log_of_sum(one: float, other: float) -> float:
    """Return ln(exp(one) + exp(other))."""
    large, small = max(one, other), min(one, other)
    return large + math.log1p(math.exp(small - large)) if small > -np.inf else large


@njit(cache=True)
def _phase_type_in_logarithms(parameters: Vector, rate: float) -> float:
    """Return the decay where the transform is below every double, by the same elimination on logarithms."""
    size = int(parameters[0])
    rates = np.empty((size, size))
    right, leaving = np.empty(size), np.empty(size)
    for x in range(size):
        for y in range(size):
            rates[x, y] = _log(parameters[1 + 3 * size + size * x + y])
        right[x] = _log(parameters[1 + size + x])
        leaving[x] = math.log(parameters[1 + size + x] + rate)
    totals = leaving.copy()
    for x in range(size - 1, -1, -1):
        totals[x] = leaving[x]
        for y in range(x):
            totals[x] = _log_of_sum(totals[x], rates[x, y])
        for z in range(x):
            share = rates[z, x] - totals[x]
            leaving[z] = _log_of_sum(leaving[z], share + leaving[x])
            right[z] = _log_of_sum(right[z], share + right[x])
            for y in range(x):
                rates[z, y] = _log_of_sum(rates[z, y], share + rates[x, y])
    found = -np.inf
    for x in range(size):
        for y in range(x):
            right[x] = _log_of_sum(right[x], rates[x, y] + right[y])
        right[x] -= totals[x]
        found = _log_of_sum(found, _log(parameters[1 + x]) + right[x])
    return -found
