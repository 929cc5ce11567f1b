r"""How far apart visits should be when another one is worth a given price.

A page of worth a and decay l, visited every u / l slots, gains :math:`a (1 - (1 + u) e^{-u})` by one more visit per
slot. At a price :math:`\lambda` the best u solves

.. math::  K(u) = 1 - (1 + u) e^{-u} = \kappa, \qquad \kappa = \lambda / a,

that is :math:`u = -1 - W_{-1}(-(1 - \kappa) / e)` with the lower branch of Lambert's function, near whose branch point
at :math:`\kappa = 0` general implementations lose all digits; as :math:`\kappa \to 1` digits are lost unless
:math:`1 - \kappa` itself is given. Therefore the price is handed over as two numbers, each with all its digits:
:math:`p = \sqrt{2 \kappa}` and :math:`1 - \kappa`. For small p the series :math:`u = p + p^2/3 + 11 p^3/72 + \dots`
is used as it stands; otherwise :math:`u - \ln(1 + u) = y = -\ln(1 - \kappa)`, and u is an analytic function of
:math:`s = \sqrt{2y}` without a singularity nearer than 2.5 to the positive half-line: u / s is tabulated by polynomials
of degree 7 on 140 cells, computed once by Halley's method. Prices given as :math:`1 - \kappa < 10^{-16}` lie beyond
the table and are solved as they come.
"""

import math
from fractions import Fraction

import numpy as np
from numba import njit
from numpy.polynomial import chebyshev

from ..numerics import VECTOR, Vector, minus_log
from ..processes import power_series

#: Below this p the series has all digits.
SMALL_ROOT = 0.02

#: Below this 1 - kappa the table has no cell.
SMALL_REST = 1e-16

#: Cells of the table per unit of s, and how many there are.
CELLS_PER_UNIT = 16
CELLS = 140


def _series(count: int, half: Fraction) -> tuple[float, ...]:
    r"""Coefficients of u in powers of p, from :math:`u u' (1 - h p^2) = p (1 + u)`; h = 1/2, or 0 for p = sqrt(2y)."""
    found, squares = [Fraction(0), Fraction(1)], [Fraction(0), Fraction(0), Fraction(1, 2)]  # of u and u**2 / 2
    for k in range(3, count + 1):
        squares.append((found[k - 2] + (k - 2) * half * squares[k - 2]) / k)
        found.append(squares[k] - sum((found[i] * found[k - i] for i in range(2, k - 1)), Fraction(0)) / 2)
    return tuple(float(value) for value in found[1:])


_IN_ROOT = np.array(_series(10, Fraction(1, 2)))


def _solved(y: Vector) -> Vector:
    """Return u with u - ln(1 + u) = y, by Halley's method from a series in sqrt(2y), or from the asymptote."""
    s = np.sqrt(2.0 * y)
    near = s * np.polynomial.polynomial.polyval(np.minimum(s, 2.5), _series(12, Fraction(0)))
    u = np.where(s < 2.5, near, y + np.log1p(y + np.log1p(y + np.log1p(y))))
    powers = np.array([0.0, 0.0, *((-1.0) ** k / k for k in range(2, 50))])
    for _ in range(3):
        small = np.minimum(u, 0.5)
        excess = np.where(u < 0.5, np.polynomial.polynomial.polyval(small, powers), u - np.log1p(u))
        step = (excess - y) * (1.0 + u) / u
        u = u - step / (1.0 - 0.5 * step / (u * (1.0 + u)))
    return u


def _tabulated() -> Vector:
    """Coefficients of u / s in each cell, lowest power first, of the place in it from -1 to 1; all in one row."""
    angles = (np.arange(12) + 0.5) * (np.pi / 12)
    s = (np.arange(CELLS)[:, None] + 0.5 + 0.5 * np.cos(angles)) / CELLS_PER_UNIT
    parts = (_solved(0.5 * s * s) / s) @ np.cos(np.outer(angles, np.arange(8))) / 6.0
    parts[:, 0] *= 0.5
    powers = np.array([np.pad(chebyshev.cheb2poly(row[: k + 1]), (0, 7 - k)) for k, row in enumerate(np.eye(8))])
    return np.asarray((parts @ powers).ravel())


#: Table of u / s.
TABLE = _tabulated()


_GAIN_TERMS = np.array([1 / math.factorial(k + 2) for k in range(18)])


@njit(**VECTOR)
def gain_share(u: float) -> float:
    """Return K(u) / u**2 = exp(-u) (1/2! + u/3! + u**2/4! + ...), about 1/2 for small u."""
    if u >= 1.0:
        return (1.0 - (1.0 + u) * math.exp(-u)) / (u * u)
    return float(math.exp(-u) * power_series(_GAIN_TERMS, u))


@njit(**VECTOR)
def price_of(u: float) -> tuple[float, float]:
    """Return sqrt(2 K(u)) and 1 - K(u): the price at which u is best, in parts of the worth."""
    return u * math.sqrt(2.0 * gain_share(u)), (1.0 + u) * math.exp(-u)


@njit(**VECTOR)
def inverse_at(root: float, rest: float) -> float:
    """Return u with sqrt(2 K(u)) = root and 1 - K(u) = rest; infinite where rest is 0."""
    if root < SMALL_ROOT:
        total = 0.0
        for k in range(len(_IN_ROOT) - 1, -1, -1):
            total = total * root + _IN_ROOT[k]
        return float(total * root)
    if rest <= 0.0:
        return np.inf
    if rest < SMALL_REST:
        y = -math.log(rest)
        u = y + math.log1p(y + math.log1p(y + math.log1p(y)))
        for _ in range(2):
            u -= ((u - math.log1p(u)) - y) * (1.0 + u) / u
        return u
    s = math.sqrt(2.0 * minus_log(0.5 * root * root, rest))
    place = s * CELLS_PER_UNIT
    cell = int(place)
    place = 2.0 * (place - cell) - 1.0
    total = 0.0
    for k in range(7, -1, -1):
        total = total * place + TABLE[8 * cell + k]
    return float(total * s)
