r"""Stationary distributions and first passages of Markov chains, by eliminations that never subtract.

A chain is given by its rates *between* states and, where it can end, its exit rates; the diagonal follows from them and
is never read. Eliminating the last state x (Grassmann, Taksar, Heyman) leaves the chain watched only while it is
elsewhere,

.. math::  a_{zy} \leftarrow a_{zy} + \frac{a_{zx} a_{xy}}{t_x}, \qquad t_x = \varepsilon_x + \sum_{y<x} a_{xy},

with :math:`\varepsilon_x` the exit rate: sums, products and quotients of numbers that are not negative. So every
entry of a result has small *relative* error, a probability of 1e-30 too. Written as matrices, what is left of -Q
is a product of a unit upper and a lower triangular matrix; `factor_in_place` keeps both in place, and the systems
-Q X = B and y (-Q) = b with non-negative right sides are solved from them without a subtraction as well.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .checks import ROUNDING, SUM_TOLERANCE, Integers, Matrix, Vector, not_negative_rates, refuse_rows, square

#: Most states of a chain that is eliminated as one dense matrix; 2000 take some seconds.
DENSE_LIMIT = 2500


def check_generator(name: str, generator: ArrayLike) -> Matrix:
    """Return `generator` as a matrix, or refuse it unless its rates are not negative and its rows sum to zero.

    Parameters
    ----------
    name
        what the matrix is called in the error.
    generator
        rates between states, with a diagonal that makes rows sum to zero, up to `SUM_TOLERANCE`.

    Returns
    -------
    Matrix
        a copy that cannot be written to.

    Raises
    ------
    ValueError
        if it is no generator; the first wrong entry or row is named.
    """
    matrix = square(name, generator)
    not_negative_rates(name, matrix, diagonal=False)
    sums = matrix.sum(axis=1)
    leaking = np.abs(sums) > SUM_TOLERANCE * np.maximum(np.abs(np.diagonal(matrix)), matrix.max(axis=1, initial=0.0))
    refuse_rows(name, sums, leaking, "0", "set the diagonal to minus the sum of the other rates.")
    return matrix


def check_irreducible(name: str, rates: Matrix) -> None:
    """Refuse rates under which some state cannot reach some other.

    Parameters
    ----------
    name
        what the matrix is called in the error.
    rates
        rates between states; the diagonal says nothing.

    Raises
    ------
    ValueError
        if there are such states; the error names two.
    """
    if communicating_classes(rates)[0] == 1:
        return
    for source, begun in enumerate(np.eye(len(rates), dtype=bool)):
        reached = states_reached(rates > 0, begun)
        if not reached.all():
            raise ValueError(
                f"{name} must let every state reach every other, but state {int(np.argmin(reached))} is out of reach "
                f"of state {source}; leave out states that are left for ever or never entered."
            )


def communicating_classes(rates: Matrix) -> tuple[int, Integers]:
    """Find the classes of states that reach one another.

    Parameters
    ----------
    rates
        a matrix: its entries above 0 are transitions.

    Returns
    -------
    count : int
        number of classes.
    labels : Integers
        by state, the number of its class.
    """
    linked = rates > 0
    first = np.arange(len(linked)) == 0
    if states_reached(linked, first).all() and states_reached(linked.T, first).all():
        return 1, np.zeros(len(linked), dtype=np.int64)
    from scipy.sparse import csr_array  # rarely needed, and slow to load
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(csr_array(linked.astype(np.int8)), directed=True, connection="strong")
    return int(count), labels.astype(np.int64)


def states_reached(linked: NDArray[np.bool_], begun: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the states that a chain can reach.

    Parameters
    ----------
    linked
        by state and state, whether the first leads to the second.
    begun
        by state, whether the chain may begin there.

    Returns
    -------
    NDArray[np.bool_]
        by state, whether it is one of these or led to by one of them, in however many steps.
    """
    reached = added = begun
    while added.any():
        added = linked[added].any(axis=0) & ~reached
        reached = reached | added
    return reached


def stationary_distribution(generator: ArrayLike) -> Vector:
    r"""Find the stationary distribution of a chain with one closed class, each entry to full relative accuracy.

    Parameters
    ----------
    generator
        Q: rates between states; its diagonal must make rows sum to zero. At most `DENSE_LIMIT` states.

    Returns
    -------
    Vector
        non-negative, sums to one, zero on transient states.

    Raises
    ------
    ValueError
        if the matrix is no generator, is too large, or has several closed classes.

    Notes
    -----
    States are taken out one by one, the last first, which leaves the chain watched while it is elsewhere:

    .. math::  a_{zy} \leftarrow a_{zy} + \frac{a_{zx} a_{xy}}{\sum_{w < x} a_{xw}}.

    Nothing is subtracted, so a probability of 1e-30 has as many digits as one of 1/2.

    References
    ----------
    .. [1] W. K. Grassmann, M. I. Taksar, D. P. Heyman, "Regenerative analysis and steady state distributions for Markov
       chains", *Operations Research* (1985).

    Examples
    --------
    >>> from queueing import stationary_distribution
    >>> stationary_distribution([[-1.0, 1.0], [3.0, -3.0]])
    array([0.75, 0.25])
    >>> stationary_distribution([[-1e-30, 1e-30], [1.0, -1.0]])
    array([1.e+00, 1.e-30])
    """
    matrix = check_generator("generator", generator)
    if len(matrix) > DENSE_LIMIT:
        raise ValueError(
            f"A stationary distribution by elimination takes at most {DENSE_LIMIT} states, but {len(matrix)} came; "
            "use a method that keeps the chain sparse."
        )
    return stationary_of_rates(matrix)


def stationary_of_rates(rates: Matrix) -> Vector:
    """Find the stationary distribution of a chain whose rates are known to be valid.

    Parameters
    ----------
    rates
        rates between states; the diagonal is not read.

    Returns
    -------
    Vector
        non-negative, sums to one, zero on transient states; each entry to full relative accuracy.

    Raises
    ------
    ValueError
        if there are several closed classes.
    """
    off_diagonal = np.array(rates)
    np.fill_diagonal(off_diagonal, 0.0)
    count, labels = communicating_classes(off_diagonal)
    if count == 1:
        return np.asarray(eliminate_all(off_diagonal))
    leaves = np.array([off_diagonal[np.ix_(labels == one, labels != one)].any() for one in range(count)])
    closed = np.flatnonzero(~leaves)
    if len(closed) > 1:
        first, second = (int(np.argmax(labels == one)) for one in closed[:2])
        raise ValueError(
            f"A chain must have one stationary distribution, but it stays for ever with state {first} or with state "
            f"{second}, whichever it meets first; take the part that is meant."
        )
    inside = np.flatnonzero(labels == closed[0])
    result = np.zeros(len(off_diagonal))
    result[inside] = eliminate_all(np.ascontiguousarray(off_diagonal[np.ix_(inside, inside)]))
    return result


def stationary_by_levels(blocks: Sequence[Sequence[Matrix]]) -> list[Vector]:
    r"""Find the stationary distribution of a chain that falls one level at a time and may climb many.

    Blocks are dense, and systems are solved by LAPACK with diagonals set from the (positive) rates: this is the
    reference for chains too large for one dense matrix, not the fastest method for any of them.

    Parameters
    ----------
    blocks
        ``blocks[i]`` are the rates from level i to levels max(i - 1, 0), ..., top, dense; shorter lists mean that
        higher levels are not reached in one step. Diagonals are not read.

    Returns
    -------
    list of Vector
        probabilities of the states of each level; they sum to one over all levels.

    Notes
    -----
    Level by level from the top, :math:`G_i`, the distribution of where level i - 1 is first met from level i, and
    the chain watched below level i; then :math:`p_l = \sum_{i<l} p_i \bar Q_{il} (-\bar Q_{ll})^{-1}` from the bottom.
    It is the algorithm that Avrachenkov et al. (2011), section 3, take for their generator.

    Examples
    --------
    An M/M/1/2 queue with load 1/2, a state on each level.

    >>> import numpy as np
    >>> from queueing import stationary_by_levels
    >>> none, up, down = np.zeros((1, 1)), np.array([[0.5]]), np.array([[1.0]])
    >>> [round(float(level[0]), 6) for level in stationary_by_levels([[none, up], [down, none, up], [down, none]])]
    [0.571429, 0.285714, 0.142857]
    """
    top = len(blocks) - 1
    lowest = [max(i - 1, 0) for i in range(top + 1)]
    # kept[i][l - i]: rates of the watched chain from level i to level l >= i; changed as levels are taken out.
    kept = [[np.array(block) for block in row[i - lowest[i] :]] for i, row in enumerate(blocks)]
    inverses: list[Matrix] = [np.zeros((0, 0))] * (top + 1)
    for level in range(top, 0, -1):
        down = blocks[level][0]
        remaining = -kept[level][0]
        np.fill_diagonal(remaining, 0.0)
        np.fill_diagonal(remaining, down.sum(axis=1) - remaining.sum(axis=1))
        inverses[level] = np.asarray(np.linalg.inv(remaining), dtype=np.float64)
        passage = inverses[level] @ down
        for below in range(level):
            if level - below < len(kept[below]):
                kept[below][level - below - 1] = kept[below][level - below - 1] + kept[below][level - below] @ passage
    levels = [stationary_of_rates(kept[0][0])]
    for level in range(1, top + 1):
        inflow = np.zeros(len(blocks[level][0]))
        for below in range(level):
            if level - below < len(kept[below]):
                inflow += levels[below] @ kept[below][level - below]
        levels.append(inflow @ inverses[level])
    total = sum(float(level.sum()) for level in levels)
    return [level / total for level in levels]


def transient_solution(rates: Matrix, exits: Vector, right: Matrix) -> Matrix:
    """Solve -Q X = right without a subtraction, where Q is the generator of a chain that ends.

    Parameters
    ----------
    rates
        rates between states; the diagonal is not read.
    exits
        by state, the rate at which the chain ends; every state must lead to an exit.
    right
        a vector or a matrix with non-negative entries.

    Returns
    -------
    Matrix
        X, of the shape of `right`.
    """
    factors, totals = transient_factors(rates, exits)
    solution = np.array(right if right.ndim == 2 else right[:, np.newaxis])
    solve_in_place(factors, totals, solution)
    return solution.reshape(right.shape)


def transient_factors(rates: Matrix, exits: Vector) -> tuple[Matrix, Vector]:
    """Factor -Q by `factor_in_place`, and leave the rates as they are.

    Parameters
    ----------
    rates
        rates between states; the diagonal is not read.
    exits
        by state, the rate at which the chain ends; every state must lead to an exit.

    Returns
    -------
    factors : Matrix
        both triangular factors of -Q.
    totals : Vector
        by state, the rate at which it is left for good.
    """
    factors, leaving, totals = np.array(rates), np.array(exits), np.zeros(len(exits))
    factor_in_place(factors, leaving, totals)
    return factors, totals


def clean_exits(generator: Matrix) -> Vector:
    """Find the exit rates of a sub-generator, minus its row sums.

    Parameters
    ----------
    generator
        rates between states, with a diagonal of minus all rates out of a state.

    Returns
    -------
    Vector
        by state, its exit rate; 0 where the sum is not above what rounding leaves of nothing.
    """
    off_diagonal = generator.sum(axis=1) - np.diagonal(generator)
    exits = -np.diagonal(generator) - off_diagonal
    noise = ROUNDING * len(generator) * np.abs(np.diagonal(generator))
    return np.where(exits > noise, exits, 0.0)


# The kernels work in place and entry by entry: array expressions would take numba minutes to compile, not seconds.


@njit(cache=True)
def factor_in_place(factors: Matrix, leaving: Vector, totals: Vector) -> None:
    """Turn rates between states into triangular factors of -Q.

    Parameters
    ----------
    factors
        rates between states; the diagonal is not read. Afterwards the rates a_{xy} stand below the diagonal and the
        shares a_{zx} / t_x above it.
    leaving
        exit rates, which are used up; every state must lead to an exit.
    totals
        room for the rates t_x at which x is left for good.
    """
    for x in range(len(leaving) - 1, -1, -1):
        total = leaving[x]
        for y in range(x):
            total += factors[x, y]
        totals[x] = total
        for z in range(x):
            if factors[z, x] > 0.0:
                share = factors[z, x] / total
                factors[z, x] = share
                leaving[z] += share * leaving[x]
                for y in range(x):
                    factors[z, y] += share * factors[x, y]


@njit(cache=True)
def solve_in_place(factors: Matrix, totals: Vector, right: Matrix) -> None:
    """Turn `right` into X of -Q X = right.

    Parameters
    ----------
    factors, totals
        what `factor_in_place` leaves.
    right
        a matrix with non-negative entries, which becomes X.
    """
    size, width = right.shape
    for x in range(size - 1, 0, -1):
        for z in range(x):
            share = factors[z, x]
            if share > 0.0:
                for column in range(width):
                    right[z, column] += share * right[x, column]
    for x in range(size):
        for y in range(x):
            rate = factors[x, y]
            if rate > 0.0:
                for column in range(width):
                    right[x, column] += rate * right[y, column]
        for column in range(width):
            right[x, column] /= totals[x]


@njit(cache=True)
def solve_left_in_place(factors: Matrix, totals: Vector, left: Vector) -> None:
    """Turn `left` into the row y of y (-Q) = left: the mean time in each state, if the chain begins by `left`.

    Parameters
    ----------
    factors, totals
        what `factor_in_place` leaves.
    left
        a vector with non-negative entries, which becomes y.
    """
    size = len(left)
    for x in range(size - 1, -1, -1):
        left[x] /= totals[x]
        for y in range(x):
            left[y] += left[x] * factors[x, y]
    for x in range(size):
        for z in range(x):
            left[x] += left[z] * factors[z, x]


@njit(cache=True)
def eliminate_all(rates: Matrix) -> Vector:
    """Find the stationary distribution of an irreducible chain.

    Parameters
    ----------
    rates
        rates between states, which are used up; the diagonal is not read.

    Returns
    -------
    Vector
        the distribution; nan where some state leads to none before it, so that this order of states cannot find it.
    """
    size = len(rates)
    for x in range(size - 1, 0, -1):
        first = 0
        while first < x and rates[x, first] == 0.0:
            first += 1
        if first == x:
            return np.full(size, np.nan)
        total = 0.0
        for y in range(first, x):
            total += rates[x, y]
        for z in range(x):
            if rates[z, x] > 0.0:
                share = rates[z, x] / total
                rates[z, x] = share
                for y in range(first, x):
                    rates[z, y] += share * rates[x, y]
    result = np.zeros(size)
    result[0] = 1.0
    total = 1.0
    for x in range(1, size):
        value = 0.0
        for z in range(x):
            value += result[z] * rates[z, x]
        result[x] = value
        total += value
        if value > 1e200:  # begun at an unlikely state: what is smaller by 1e300 counts for nothing
            for z in range(x + 1):
                result[z] /= value
            total /= value
    for x in range(size):
        result[x] /= total
    return result
