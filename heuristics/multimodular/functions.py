r"""Multimodular functions on the integers: their base, their atoms, whether a function is one, their natural form.

A function g of n whole numbers is multimodular [1]_ if for every x and any two different vectors of the base

.. math::  b_0 = -e_1, \quad b_i = e_i - e_{i+1} \; (0 < i < n), \quad b_n = e_n,

.. math::  g(x + b_i) + g(x + b_j) \ge g(x) + g(x + b_i + b_j).                             \tag{5}

The n + 1 vectors sum to 0. Added one after the other, in any order, they lead from x through n + 1 points back to x:
the extreme points of an atom, a simplex. Atoms tile the space, and g is multimodular if and only if its interpolation
over atoms is convex. So a point that is no worse than all points :math:`x + \sum_i \alpha_i b_i` with
:math:`\alpha_i \in \{0, 1\}` is best of all [2]_.

In sums :math:`p_k = x_1 + \dots + x_k` the base reads :math:`\pm` unit vectors, and multimodular functions are those
that are L-natural convex in p [3]_,

.. math::  h(p) + h(q) \ge h(\lceil (p + q) / 2 \rceil) + h(\lfloor (p + q) / 2 \rfloor),

which are minimised by the cuts of :mod:`heuristics.multimodular.minimum_cuts`.

References
----------
.. [1] B. Hajek, "Extremal splittings of point processes", *Mathematics of Operations Research* 10 (1985), 543-556.
.. [2] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684; numbers of formulas are theirs.
.. [3] K. Murota, "Note on multimodularity and L-convexity", *Mathematics of Operations Research* 30 (2005), 658-661.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Point: TypeAlias = tuple[int, ...]

#: A function of whole numbers; infinite where it is not defined.
Function: TypeAlias = Callable[[Point], float]

#: By how much the sides of an inequality may miss each other, relative to their numbers: these are rounded.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Violation:
    """Where a function is not multimodular: formula (5) fails at `point` for the base vectors `first` and `second`.

    Attributes
    ----------
    point, first, second
        x, i and j.
    sides
        g(x + b_i) + g(x + b_j), which is less than g(x) + g(x + b_i + b_j).
    """

    point: Point
    first: int
    second: int
    sides: tuple[float, float]


def base(size: int) -> NDArray[np.int64]:
    """The vectors b_0, ..., b_n of n = `size` entries, one per row."""
    if size < 1:
        raise ValueError(f"size must be a whole number, 1 or more, got {size!r}.")
    rows = np.zeros((size + 1, size), dtype=np.int64)
    for i in range(size):
        rows[i, i] -= 1
        rows[i + 1, i] += 1
    return rows


def atom(point: Sequence[int], order: Sequence[int]) -> tuple[Point, ...]:
    """The extreme points of the atom A(x, sigma): x, and x with the base vectors of `order` added one by one.

    The last vector leads back to x and is not added.
    """
    size = len(point)
    if sorted(order) != list(range(size + 1)):
        raise ValueError(f"order must hold each of 0 to {size} once, got {tuple(order)!r}.")
    points = np.array(point) + np.vstack([np.zeros((1, size), dtype=np.int64), base(size)[list(order[:-1])].cumsum(0)])
    return tuple(tuple(row) for row in points.tolist())


def neighbours(point: Sequence[int]) -> Iterator[Point]:
    """The other extreme points of all atoms at a point: x + sum alpha_i b_i, all of the 2^(n+1) - 2."""
    size = len(point)
    for alpha in product((0, 1), repeat=size + 1):
        if 0 < sum(alpha) <= size:
            yield tuple(point[k] + alpha[k + 1] - alpha[k] for k in range(size))


def violations(
    function: Function, lower: Sequence[int], upper: Sequence[int], *, rounding: float = ROUNDING
) -> Iterator[Violation]:
    """All points of a box, and pairs of base vectors, at which `function` is not multimodular.

    Only points all four of which lie in the box, and where the function is finite, are compared.

    Parameters
    ----------
    function
        Of a tuple of whole numbers.
    lower, upper
        Least and largest entries.
    rounding
        What the sides may miss each other by, relative to the sum of the four numbers' sizes.
    """
    vectors = [tuple(row) for row in base(len(lower)).tolist()]
    values = {x: float(function(x)) for x in box(lower, upper)}
    for x, value in values.items():
        moved = [_sum(x, vector) for vector in vectors]
        for i, j in combinations(range(len(vectors)), 2):
            both = values.get(_sum(moved[i], vectors[j]), math.inf)
            one, other = values.get(moved[i], math.inf), values.get(moved[j], math.inf)
            four = (value, one, other, both)
            if not all(map(math.isfinite, four)):
                continue
            if one + other < value + both - rounding * sum(map(abs, four)):
                yield Violation(x, i, j, (one + other, value + both))


def violation(
    function: Function, lower: Sequence[int], upper: Sequence[int], *, rounding: float = ROUNDING
) -> Violation | None:
    """The first of the `violations`, ``None`` if the function is multimodular on the box."""
    return next(violations(function, lower, upper, rounding=rounding), None)


def is_multimodular(
    function: Function, lower: Sequence[int], upper: Sequence[int], *, rounding: float = ROUNDING
) -> bool:
    """Whether formula (5) holds on a box."""
    return violation(function, lower, upper, rounding=rounding) is None


def extended(function: Function, point: Sequence[float]) -> float:
    """The function interpolated over atoms, at any point.

    In sums p an atom is a simplex of a unit cube: corners are passed in order of the fractions of p, largest first.
    """
    sums = np.cumsum(np.asarray(point, dtype=float))
    floor = np.floor(sums)
    parts = sums - floor
    order = np.argsort(-parts, kind="stable")
    weights = -np.diff(np.concatenate([[1.0], parts[order], [0.0]]))
    corner = floor.astype(np.int64)
    total = 0.0
    for passed, weight in enumerate(weights.tolist()):
        if passed:
            corner[order[passed - 1]] += 1
        if weight > 0:
            total += weight * function(differences(corner.tolist()))
    return total


def sums(point: Sequence[int]) -> Point:
    """p, the sums of the first entries of x."""
    return tuple(np.cumsum(np.asarray(point, dtype=np.int64)).tolist())


def differences(point: Sequence[int]) -> Point:
    """The point x whose sums are p."""
    return tuple(one - other for one, other in zip(point, (0, *point[:-1]), strict=True))


def natural_form(function: Function) -> Function:
    """The function as one of the sums p: L-natural convex if and only if `function` is multimodular."""

    def of_sums(point: Point) -> float:
        return function(differences(point))

    return of_sums


def midpoint_violation(
    function: Function, lower: Sequence[int], upper: Sequence[int], *, rounding: float = ROUNDING
) -> tuple[Point, Point] | None:
    """Two points of a box at which a function is not L-natural convex, ``None`` if there are none.

    It may be infinite at some points; midpoints outside the box are infinite, too.
    """
    values = {x: float(function(x)) for x in box(lower, upper)}
    finite = [x for x, value in values.items() if math.isfinite(value)]
    for p, q in combinations(finite, 2):
        above = tuple(-(-(a + b) // 2) for a, b in zip(p, q, strict=True))
        below = tuple((a + b) // 2 for a, b in zip(p, q, strict=True))
        four = (values[p], values[q], values[above], values[below])
        if four[2] + four[3] > four[0] + four[1] + rounding * sum(abs(v) for v in four if math.isfinite(v)):
            return p, q
    return None


def box(lower: Sequence[int], upper: Sequence[int]) -> Iterator[Point]:
    """All points from `lower` to `upper`, both included."""
    if len(lower) != len(upper) or not len(lower):
        raise ValueError(f"lower and upper must have as many entries, got {len(lower)} and {len(upper)}.")
    return product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True)))


def _sum(point: Point, vector: Point) -> Point:
    return tuple(a + b for a, b in zip(point, vector, strict=True))
