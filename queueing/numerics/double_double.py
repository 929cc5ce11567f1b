"""Sums and products kept as sums of two doubles: twice the digits, at a few operations each."""

from numba import njit


@njit(cache=True)
def plus(high: float, low: float, other: float) -> tuple[float, float]:
    """Add a double to a sum of two."""
    total = high + other
    part = total - high
    return total, low + ((high - (total - part)) + (other - part))


@njit(cache=True)
def plus_product(high: float, low: float, first: float, second: float) -> tuple[float, float]:
    """Add the exact product of two doubles to a sum of two (Dekker)."""
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
