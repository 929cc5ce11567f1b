r"""Elementary operations that keep their digits: logarithms for vector code, compensated sums, sums of two doubles.

Logarithms have no branches, so that compilers turn them into vector code, and all digits near 1. The method is that of
fdlibm: with :math:`m = 1 + f` between :math:`\sqrt{1/2}` and :math:`\sqrt 2` and
:math:`s = f / (2 + f)`,

.. math::  \ln(1 + f) = f - \Bigl( \tfrac{f^2}{2} - s \bigl(\tfrac{f^2}{2} + R(s^2)\bigr) \Bigr),

R a polynomial, and a number is :math:`2^k m`. Errors are below 1.5 units in the last place. All of them are inlined;
loops that use them should be compiled with `VECTOR`.

Sums are rounded once, whatever the number of their terms (`sum_of_products`, `sums_by`), or kept as sums of two
doubles (`plus`, `plus_product`): twice the digits, at a few operations each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from .checks import Integers, Vector

#: Options for loops that are to become vector code: fused operations, and no check for a division by 0.
VECTOR: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

#: Below this `small_excess` has all digits.
SMALL = 2.0**-10

_LARGEST_SMALL = 2.0**0.5 - 1.0
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
_TO_ROOT_HALF = 0x3FF0000000000000 - _ROOT_HALF_BITS
_MANTISSA = 0x000FFFFFFFFFFFFF
_RECIPROCAL = 0x7FDE623822FC16E6  # less the bits of a double: those of its reciprocal, but for an eighth
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_R1, _R2, _R3, _R4 = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
)
_R5, _R6, _R7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01


@intrinsic
def _bits_of(context: Any, number: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the 64 bits of a double, as a whole number."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _double_of(context: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the double that has these 64 bits."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


bits_of: Any = _bits_of
double_of: Any = _double_of


@njit(inline="always", **VECTOR)
def _missing(f: float) -> float:
    """Return f - ln(1 + f), for 1 + f between sqrt(1/2) and sqrt(2)."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    rest = z * (_R1 + w * (_R3 + w * (_R5 + w * _R7))) + w * (_R2 + w * (_R4 + w * _R6))
    half = 0.5 * f * f
    return half - s * (half + rest)


@njit(inline="always", **VECTOR)
def log1p_and_excess(x: float) -> tuple[float, float]:
    """Return ln(1 + x) and x - ln(1 + x), both with all their digits.

    Parameters
    ----------
    x
        a number of at least 0.

    Returns
    -------
    tuple of float
        the logarithm, and what it lacks to x.
    """
    small = x < _LARGEST_SMALL
    sum_ = 1.0 + x
    part = sum_ - 1.0
    lost = (1.0 - (sum_ - part)) + (x - part)
    shifted = bits_of(sum_) + _TO_ROOT_HALF
    f: float = x if small else double_of((shifted & _MANTISSA) + _ROOT_HALF_BITS) - 1.0
    octaves: float = 0.0 if small else float((shifted >> 52) - 0x3FF)
    lost = 0.0 if small else lost * double_of(_RECIPROCAL - bits_of(sum_))  # one digit of 1 / sum_ is enough
    missing = _missing(f)
    logarithm = octaves * _LN2_HIGH + (f - (missing - (octaves * _LN2_LOW + lost)))
    return logarithm, missing if small else x - logarithm


@njit(inline="always", **VECTOR)
def small_excess(x: float) -> float:
    """Return x - ln(1 + x) where x is so small that five terms of the series are enough.

    Parameters
    ----------
    x
        a number of at least 0 and less than `SMALL`.

    Returns
    -------
    float
        the difference, about x**2 / 2.
    """
    return x * x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * (0.2 - x / 6.0))))


@njit(inline="always", **VECTOR)
def minus_log(x: float, rest: float) -> float:
    """Return -ln(1 - x).

    Parameters
    ----------
    x
        a number of at least 0 and less than 1.
    rest
        1 - x with all its digits.

    Returns
    -------
    float
        the logarithm of 1 / rest.
    """
    small = x < 1.0 - 0.5**0.5
    shifted = bits_of(rest) + _TO_ROOT_HALF
    f: float = -x if small else double_of((shifted & _MANTISSA) + _ROOT_HALF_BITS) - 1.0
    octaves: float = 0.0 if small else float((shifted >> 52) - 0x3FF)
    return float(-(octaves * _LN2_HIGH + (f - (_missing(f) - octaves * _LN2_LOW))))


@njit(cache=True)
def sum_of_products(left: Vector, right: Vector) -> float:
    """Add up the products of entries, with Neumaier's compensation for what rounding loses.

    Parameters
    ----------
    left, right
        vectors of one length.

    Returns
    -------
    float
        the sum, rounded about once.
    """
    total, lost = 0.0, 0.0
    for index in range(len(left)):
        term = left[index] * right[index]
        sum_ = total + term
        lost += (total - sum_) + term if abs(total) >= abs(term) else (term - sum_) + total
        total = sum_
    return total + lost


@njit(cache=True)
def sums_by(groups: Integers, count: int, terms: Vector) -> tuple[Vector, Vector]:
    """Add up terms by group, with compensation for what rounding loses.

    Parameters
    ----------
    groups
        of each term, the number of its group.
    count
        number of groups.
    terms
        numbers of at least 0.

    Returns
    -------
    tuple of Vector
        by group, the sum of its terms, and what is to be added to it.
    """
    totals, lost = np.zeros(count), np.zeros(count)
    for index in range(len(terms)):
        group, term = groups[index], terms[index]
        old = totals[group]
        totals[group] = old + term
        lost[group] += (max(old, term) - totals[group]) + min(old, term)
    return totals, lost


@njit(cache=True)
def plus(high: float, low: float, other: float) -> tuple[float, float]:
    """Add a double to a sum of two doubles.

    Parameters
    ----------
    high, low
        the sum: a double, and what is to be added to it.
    other
        the number to add.

    Returns
    -------
    tuple of float
        the new sum, in the same form.
    """
    total = high + other
    part = total - high
    return total, low + ((high - (total - part)) + (other - part))


@njit(cache=True)
def plus_product(high: float, low: float, first: float, second: float) -> tuple[float, float]:
    """Add the exact product of two doubles, by Dekker's splitting, to a sum of two doubles.

    Parameters
    ----------
    high, low
        the sum: a double, and what is to be added to it.
    first, second
        the factors.

    Returns
    -------
    tuple of float
        the new sum, in the same form.
    """
    product = first * second
    big = 134217729.0 * first
    head = big - (big - first)
    tail = first - head
    big = 134217729.0 * second
    front = big - (big - second)
    back = second - front
    rest = ((head * front - product) + head * back + tail * front) + tail * back
    total = high + product
    part = total - high
    return total, low + ((high - (total - part)) + (product - part)) + rest
