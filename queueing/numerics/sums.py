"""Sums that are rounded once, whatever the number of their terms."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

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


@njit(cache=True)
def sums_by(groups: NDArray[np.int64], count: int, terms: Vector) -> tuple[Vector, Vector]:
    """The compensated sum of terms of at least 0 in each of `count` groups, and what it lacks."""
    totals, lost = np.zeros(count), np.zeros(count)
    for index in range(len(terms)):
        group, term = groups[index], terms[index]
        old = totals[group]
        totals[group] = old + term
        lost[group] += (max(old, term) - totals[group]) + min(old, term)
    return totals, lost
