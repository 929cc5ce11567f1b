r"""How far apart visits should be when another one is worth a given price.

A page of worth a and decay l, visited every u / l slots, gains :math:`a (1 - (1 + u) e^{-u})` by one more visit per
slot. At a price :math:`\lambda` the best u solves

.. math::  K(u) = 1 - (1 + u) e^{-u} = \kappa, \qquad \kappa = \lambda / a,

that is :math:`u = -1 - W_{-1}(-(1 - \kappa) / e)` with the lower branch of Lambert's function, near whose branch point
at :math:`\kappa = 0` general implementations lose all digits; as :math:`\kappa \to 1` digits are lost unless
:math:`1 - \kappa` itself is given. Therefore the price is handed over as two numbers, each with all its digits:
:math:`p = \sqrt{2 \kappa}` and :math:`1 - \kappa`. For small p the series :math:`u = p + p^2/3 + 11 p^3/72 + \dots`
is used as it stands; otherwise :math:`u - \ln(1 + u) = y = -\ln(1 - \kappa)` is solved by Halley's method from the
series in :math:`\sqrt{2y}`, or from its asymptote.
"""

import math
from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .matrices import Vector


def _series(count: int, half: Fraction) -> tuple[float, ...]:
    r"""Coefficients of u in powers of p, from :math:`u u' (1 - h p^2) = p (1 + u)`; h = 1/2, or 0 for p = sqrt(2y)."""
    found, squares = [Fraction(0), Fraction(1)], [Fraction(0), Fraction(0), Fraction(1, 2)]  # of u and u**2 / 2
    for k in range(3, count + 1):
        squares.append((found[k - 2] + (k - 2) * half * squares[k - 2]) / k)
        found.append(squares[k] - sum((found[i] * found[k - i] for i in range(2, k - 1)), Fraction(0)) / 2)
    return tuple(float(value) for value in found[1:])


#: Below this p the first series has all digits.
SMALL_ROOT = 0.125
#: Below this sqrt(2y) Halley's method begins from the second series.
MIDDLE_ROOT = 2.5

_IN_ROOT = np.array(_series(19, Fraction(1, 2)))
_IN_LOGARITHM = np.array(_series(12, Fraction(0)))


@njit(cache=True)
def gain_share(u: float) -> float:
    """Return K(u) / u**2, about 1/2 for small u."""
    if u >= 1.0:
        return (1.0 - (1.0 + u) * math.exp(-u)) / (u * u)
    total = 1.0
    for k in range(20, 2, -1):
        total = 1.0 + total * u / k
    return 0.5 * total * math.exp(-u)


@njit(cache=True)
def price_of(u: float) -> tuple[float, float]:
    """Return sqrt(2 K(u)) and 1 - K(u): the price at which u is best, in parts of the worth."""
    return u * math.sqrt(2.0 * gain_share(u)), (1.0 + u) * math.exp(-u)


@njit(cache=True)
def inverse_at(root: float, rest: float) -> float:
    """Return u with sqrt(2 K(u)) = root and 1 - K(u) = rest; infinite where rest is 0."""
    if root < SMALL_ROOT:
        total = 0.0
        for k in range(len(_IN_ROOT) - 1, -1, -1):
            total = total * root + _IN_ROOT[k]
        return total * root
    if rest <= 0.0:
        return np.inf
    y = -math.log1p(-0.5 * root * root) if root < 1.0 else -math.log(rest)
    s = math.sqrt(2.0 * y)
    if s < MIDDLE_ROOT:
        u = 0.0
        for k in range(len(_IN_LOGARITHM) - 1, -1, -1):
            u = u * s + _IN_LOGARITHM[k]
        u *= s
    else:
        u = y + math.log1p(y + math.log1p(y + math.log1p(y)))
    for _ in range(2):
        excess = (u - math.log1p(u)) - y
        step = excess * (1.0 + u) / u
        u -= step / (1.0 - 0.5 * step / (u * (1.0 + u)))
    return u


@njit(cache=True)
def inverse_scalar(share: float) -> float:
    """Return u with K(u) = share, for a share of the worth in [0, 1]; infinite from 1 on."""
    return inverse_at(math.sqrt(2.0 * share), 1.0 - share)


@njit(cache=True)
def _inverses(shares: Vector) -> Vector:
    found = np.empty(len(shares))
    for index in range(len(shares)):
        found[index] = inverse_scalar(shares[index])
    return found


def inverse(shares: ArrayLike) -> NDArray[np.float64]:
    """Return u with 1 - (1 + u) exp(-u) = share for each share in [0, 1]; infinite at 1."""
    array = np.asarray(shares, dtype=np.float64)
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        raise ValueError(
            f"shares must lie between 0 and 1, but one is {float(array[wrong][0])!r}; give prices over worths."
        )
    found: NDArray[np.float64] = _inverses(array.ravel()).reshape(array.shape)
    return found
