r"""The same phase-type law with fewer phases.

A law has many representations; what a queue costs depends on how many phases the one in hand has. Three reductions are
tried in turn, and a result is taken only if it is a valid phase-type law whose moments and tails are those of the law
given:

1. phases that are never entered are left out;
2. phases are *lumped*: those that lead everywhere at equal rates (ordinary lumping: a law whose exit rates are all
   equal is exponential, whatever its phases do), or those that are entered from everywhere at equal rates and equally
   likely at the beginning (exact lumping);
3. the order of the law as a matrix exponential is found: :math:`\gamma e^{\Gamma t} e` lives in the part of the space
   spanned by :math:`e, \Gamma e, \Gamma^2 e, \ldots` and by :math:`\gamma, \gamma\Gamma, \ldots`. Where it is lower
   and the eigenvalues there are real, the law is written in Cumani's canonical form, phases passed one after the other
   with rising rates; every acyclic law of that order has it, and every law of order 2.

A law of lower order whose eigenvalues are complex, or which is no phase-type law in that order, keeps what steps 1 and
2 left; so does a law with phases too short against its mean for tails to be compared, or of an order so high that its
canonical form could not be told from doubles.
"""

import math

import numpy as np

from ..numerics import Integers, Matrix, Vector, states_reached
from .phase_type import PhaseType

# Above this ratio of the mean to the shortest phase, tails cannot be told to enough digits; lumping needs none of them.
_STIFF = 1e4

# Directions and rates that differ by less than this, relative to the largest, are the same.
_SAME = 1e-12

# Orders above are not looked for: they take long to find, and moments of canonical forms lose all digits long before.
_MOST_ORDER = 100


def reduce_order(law: PhaseType) -> PhaseType:
    """Write a law with as few phases as the reductions of this module find; the very object where they find none.

    Parameters
    ----------
    law
        any phase-type law.

    Returns
    -------
    PhaseType
        the same law, moments and tails compared to ten digits, with at most as many phases.

    Notes
    -----
    Phases that are never entered are left out, phases that behave alike are lumped, and a law of lower order as a
    matrix exponential with real eigenvalues is written in Cumani's canonical form; see
    :mod:`queueing.processes.reduction`.

    Examples
    --------
    A choice between two exponential times of one rate is an exponential time.

    >>> from queueing import PhaseType, reduce_order
    >>> law = PhaseType([0.3, 0.7], [[-2.0, 0.0], [0.0, -2.0]])
    >>> reduce_order(law).order
    1
    """
    current = law
    while True:
        smaller = current
        for step in (_without_unreachable, _lumped_forward, _lumped_backward):
            candidate = step(smaller)
            if candidate is not None and same_law(law, candidate):
                smaller = candidate
        if smaller.order == current.order:
            break
        current = smaller
    if current.order == 1 or _stiffness(law) > _STIFF:
        return current
    canonical = _canonical(current)
    if canonical is not None and canonical.order < current.order and same_law(law, canonical):
        return canonical
    return current


def same_law(first: PhaseType, second: PhaseType, tolerance: float = 1e-10) -> bool:
    """Tell whether two laws have the same moments and tails, relative to their size: see `distance`."""
    return distance(first, second, tolerance) <= tolerance


def distance(first: PhaseType, second: PhaseType, enough: float = math.inf) -> float:
    """Tell how far two phase-type laws are from being the same.

    Parameters
    ----------
    first, second
        the laws.
    enough
        differences beyond this are not looked at further.

    Returns
    -------
    float
        the largest relative difference of moments, divided by their order, and of tails; 0 of a law and itself.

    Notes
    -----
    Laws of orders m and n with equal moments up to m + n - 1 are equal; beyond the twentieth, moments say little more
    about doubles, and tails are compared as well unless some phase is too short for that.
    """
    if first is second:
        return 0.0
    largest, mean = 0.0, first.mean
    for order in range(1, min(first.order + second.order, 20) + 1):
        mine, theirs = first.scaled(mean).moment(order), second.scaled(mean).moment(order)
        largest = max(largest, _apart(mine, theirs) / order)
        if not largest <= enough:
            return largest
    if max(_stiffness(first), _stiffness(second)) > _STIFF:
        return largest
    for time in (0.01 * mean, 0.1 * mean, 0.5 * mean, mean, 2 * mean, 5 * mean, 10 * mean):
        largest = max(largest, _apart(first.survival(time), second.survival(time)))
        largest = max(largest, _apart(first.cdf(time), second.cdf(time)))
        if not largest <= enough:
            return largest
    return largest


def _apart(mine: float, theirs: float) -> float:
    """Return the relative difference; infinite where one of them is no finite number."""
    if mine == theirs:
        return 0.0
    if not (math.isfinite(mine) and math.isfinite(theirs)):
        return math.inf
    return abs(mine - theirs) / max(abs(mine), abs(theirs))


def _stiffness(law: PhaseType) -> float:
    """Return the mean divided by the mean length of the shortest phase."""
    return -float(np.diagonal(law.generator).min()) * law.mean


def _without_unreachable(law: PhaseType) -> PhaseType | None:
    reached = states_reached(law.generator > 0, law.initial > 0)
    if reached.all():
        return None
    return PhaseType(law.initial[reached], law.generator[np.ix_(reached, reached)])


def _lumped_forward(law: PhaseType) -> PhaseType | None:
    """Lump phases that lead into every class, and out, at equal rates."""
    return _lumped(law, _coarsest(law.exit_rates, law.generator))


def _lumped_backward(law: PhaseType) -> PhaseType | None:
    """Lump phases that are entered from every class, and begun in, alike: they stay equally likely for ever."""
    scale = float(np.abs(np.diagonal(law.generator)).max())
    return _lumped(law, _coarsest(scale * law.initial, law.generator.T))


def _lumped(law: PhaseType, labels: Integers) -> PhaseType | None:
    """Make each class a phase; None if no class has two."""
    members = np.asarray(labels[:, np.newaxis] == np.arange(labels.max() + 1), dtype=np.float64)
    if members.shape[1] == law.order:
        return None
    rates = (members / members.sum(axis=0)).T @ law.generator @ members
    return PhaseType(law.initial @ members, rates)


def _coarsest(colours: Vector, rates: Matrix) -> Integers:
    """Find the coarsest classes within equal `colours` such that rows of one class have equal sums over every class.

    Classes are split by their sums over one class at a time. Of the parts of a class that has split others already, the
    largest need not do so again: sums over it follow from those over the rest.
    """
    close = _SAME * float(np.abs(np.diagonal(rates)).max())
    labels = _split(np.zeros(len(colours), dtype=np.int64), colours, close)
    waiting = set(range(int(labels.max()) + 1))
    while waiting:
        sums = rates[:, labels == waiting.pop()].sum(axis=1)
        finer = _split(labels, sums, close)
        count = int(labels.max()) + 1
        for part in range(count, int(finer.max()) + 1):
            waiting.add(part)  # the largest part has kept the number of the whole
        labels = finer
    # Classes in the order of their first members.
    first = np.unique(labels, return_index=True)[1]
    return np.asarray(np.argsort(np.argsort(first))[labels], dtype=np.int64)


def _split(labels: Integers, values: Vector, close: float) -> Integers:
    """Split classes where sorted values leave a gap; the largest part of each keeps its number."""
    order = np.lexsort((values, labels))
    sorted_labels, sorted_values = labels[order], values[order]
    apart = (np.diff(sorted_labels) != 0) | (np.diff(sorted_values) > close)
    if np.count_nonzero(apart) == labels.max():
        return labels
    groups = np.concatenate([[0], np.cumsum(apart)])
    of_group = sorted_labels[np.flatnonzero(np.concatenate([[True], apart]))]
    sizes = np.bincount(groups)
    # Groups of one class by falling size: the first of them is the one that keeps the number.
    ranked = np.lexsort((-sizes, of_group))
    keeps = np.zeros(len(sizes), dtype=bool)
    keeps[ranked[np.concatenate([[True], np.diff(of_group[ranked]) != 0])]] = True
    numbers = of_group.copy()
    numbers[~keeps] = labels.max() + 1 + np.arange(np.count_nonzero(~keeps))
    finer = np.empty_like(labels)
    finer[order] = numbers[groups]
    return finer


def _canonical(law: PhaseType) -> PhaseType | None:
    """Return the law in the canonical form of its order as a matrix exponential, if it has one."""
    scale = float(np.abs(np.diagonal(law.generator)).max())
    matrix = law.generator / scale
    seen = _krylov(matrix, np.ones(law.order))  # e = seen @ column
    if seen is None:
        return None
    matrix, row, column = seen.T @ matrix @ seen, law.initial @ seen, seen.T @ np.ones(law.order)
    begun = _krylov(matrix.T, row)
    if begun is None:
        return None
    matrix, row, column = begun.T @ matrix @ begun, row @ begun, begun.T @ column
    order = len(matrix)
    if order == law.order:
        return None
    eigenvalues = np.linalg.eigvals(matrix)
    if np.abs(eigenvalues.imag).max() > 0 or eigenvalues.real.max() >= 0:
        return None
    rates = np.sort(-eigenvalues.real)
    generator = np.diag(-rates) + np.diag(rates[:-1], k=1)
    # initial generator^-k e = row matrix^-k column, scaled so that neither side grows.
    wanted, power, columns = [], column, []
    passed = np.ones(order)
    for _ in range(order):
        size = float(np.abs(passed).max())
        wanted.append(float(row @ power) / size)
        columns.append(passed / size)
        power = np.asarray(np.linalg.solve(-matrix, power), dtype=np.float64)
        passed = np.asarray(np.linalg.solve(-generator, passed), dtype=np.float64)
    initial = np.linalg.solve(np.array(columns), np.array(wanted))
    if initial.min() < -1e-9:
        return None
    initial = np.maximum(initial, 0.0)
    return PhaseType(initial / initial.sum(), generator * scale)


def _krylov(matrix: Matrix, start: Vector) -> Matrix | None:
    """Make orthonormal columns spanning start, matrix start, matrix^2 start, ...; None if more than `_MOST_ORDER`.

    The order of a law of more phases than that is found only if it is low.
    """
    size = len(start)
    basis = np.empty((size, min(size, _MOST_ORDER + 1)))
    basis[:, 0] = start / np.linalg.norm(start)
    for count in range(1, size):
        if count > _MOST_ORDER:
            return None
        known = basis[:, :count]
        vector = matrix @ basis[:, count - 1]
        length = float(np.linalg.norm(vector))
        for _ in range(2):  # twice is enough
            vector = vector - known @ (known.T @ vector)
        rest = float(np.linalg.norm(vector))
        if rest <= 100 * _SAME * length:
            return known
        basis[:, count] = vector / rest
    return basis[:, :size]
