"""Sums that are rounded once, whatever the number of their terms."""

from numba import njit

from .matrices import Vector


@njit(cache=True)
def sum_of_products(left: Vector, right: Vector) -> float:
    """The sum of products of entries, compensated (Neumaier)."""
    total, lost = 0.0, 0.0
    for index in range(len(left)):
        term = left[index] * right[index]
        sum_ = total + term
        lost += (total - sum_) + term if abs(total) >= abs(term) else (term - sum_) + total
        total = sum_
    return total + lost
