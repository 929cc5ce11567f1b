r"""The compiled part of estimating change rates: one page after the other, in :math:`\theta = \ln \mu`.

All that is known of a page are the intervals after which it had changed, a slice of `times`, and the sum `quiet` of the
others. With a Gamma prior of shape :math:`\alpha` and rate :math:`\beta` (both 0: none), and :math:`x_j = \mu t_j`,

.. math::  f(\theta) &= \alpha\theta - (\beta + T)\mu + \sum_j \ln(1 - e^{-x_j}), \\
           f'(\theta) &= \alpha - (\beta + T)\mu + \sum_j g(x_j), \qquad g(x) = x / (e^x - 1).

f is concave, since g decreases; as :math:`1 - x/2 \le g(x) \le 1`, with k changes the maximum lies between
:math:`(\alpha + k) / (\beta + T + \sum t_j / 2)` and :math:`(\alpha + k) / (\beta + T)`.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...numerics import Vector

Whole = NDArray[np.int64]

#: Cells of the quadrature on each side of the mode, and by how much the logarithm of the density falls at its ends.
CELLS, FALL, DEEPEST = 24, 16.0, 45.0

_STEPS = 200


@njit(cache=True)
def maxima(starts: Whole, times: Vector, quiet: Vector, shape: float, rate: float) -> Vector:
    """Find for each page the rate of the largest f: 0 if nothing changed and inf if all did, without a prior."""
    found = np.zeros(len(quiet))
    for page in range(len(quiet)):
        first, last = starts[page], starts[page + 1]
        changes = last - first
        idle = rate + quiet[page]
        if changes == 0:
            found[page] = shape / idle if shape > 0.0 else 0.0
        elif idle == 0.0:
            found[page] = np.inf
        else:
            found[page] = _maximum(times[first:last], shape + changes, shape, idle)
    return found


@njit(cache=True)
def _maximum(times: Vector, weight: float, shape: float, idle: float) -> float:
    low = weight / (idle + 0.5 * float(times.sum()))
    high = weight / idle
    rate = low
    for _ in range(_STEPS):
        _, slope, bend = _shape_of(times, rate)
        slope += shape - idle * rate
        bend -= idle * rate
        if slope >= 0.0:
            low = rate
        else:
            high = rate
        step = -slope / bend
        if abs(step) <= 4e-16 * max(1.0, abs(math.log(rate))):
            break
        ahead = rate * math.exp(step)
        if not low < ahead < high:  # the bound itself is where all intervals are short
            ahead = math.sqrt(low) * math.sqrt(high)
            if not low < ahead < high:
                break
        rate = ahead
    return rate


@njit(cache=True)
def _shape_of(times: Vector, rate: float) -> tuple[float, float, float]:
    """Sum up over changed intervals ln(1 - e^-x), and its first and second derivative in the log of the rate."""
    logs, product, slope, bend = 0.0, 1.0, 0.0, 0.0
    for time in times:
        x = rate * time
        seen = -math.expm1(-x)
        if seen > 0.0:
            ratio = x / seen
            pull = ratio * (1.0 - seen)
            slope += pull
            bend += pull * (1.0 - ratio)
        else:  # the rate is so small that x is no number any more
            slope += 1.0
        product *= seen
        if product < 1e-150:
            logs += math.log(product) if product > 0.0 else -np.inf
            product = 1.0
    return logs + math.log(product), slope, bend


@njit(cache=True)
def _height(times: Vector, place: float, shape: float, idle: float) -> tuple[float, float]:
    """Compute the function f and its slope at a logarithm of the rate."""
    rate = math.exp(place)
    logs, slope, _ = _shape_of(times, rate)
    return logs + shape * place - idle * rate, slope + shape - idle * rate


# -- quantiles of the posterior ----------------------------------------------------------------------------------------


@njit(cache=True)
def posterior_ends(
    starts: Whole, times: Vector, quiet: Vector, modes: Vector, shape: float, rate: float, tail: float
) -> tuple[Vector, Vector]:
    """Find, for each page that has changed, the rates beyond which the posterior has this mass; else 0."""
    lower, upper = np.zeros(len(quiet)), np.zeros(len(quiet))
    nodes, masses = np.zeros((3, 2 * CELLS + 1)), np.zeros(2 * CELLS)
    for page in range(len(quiet)):
        first, last = starts[page], starts[page + 1]
        if last == first:
            continue
        left, right, _ = _tabulate(times[first:last], modes[page], shape, rate + quiet[page], nodes)
        total = 0.0
        for cell in range(2 * CELLS):
            width = left if cell < CELLS else right
            ends, bends = nodes[1, cell] + nodes[1, cell + 1], nodes[2, cell] - nodes[2, cell + 1]
            masses[cell] = width * (0.5 * ends + width / 12.0 * bends)
            total += masses[cell]
        lower[page] = modes[page] * math.exp(_quantile(nodes, masses, left, right, tail * total))
        upper[page] = modes[page] * math.exp(_quantile(nodes, masses, left, right, (1.0 - tail) * total))
    return lower, upper


@njit(cache=True)
def posterior_moments(starts: Whole, times: Vector, quiet: Vector, modes: Vector, shape: float, rate: float) -> Vector:
    """Sums over all pages that have changed: of the log of the integral of e^f, of the means of the log of the rate
    and of the rate, of the variance of the first, of their covariance, and of the variance of the second.
    """  # noqa: D205 - one sentence
    sums, nodes = np.zeros(6), np.zeros((3, 2 * CELLS + 1))
    for page in range(len(quiet)):
        first, last = starts[page], starts[page + 1]
        if last == first:
            continue
        left, right, top = _tabulate(times[first:last], modes[page], shape, rate + quiet[page], nodes)
        mass, logs, rates, both = 0.0, 0.0, 0.0, np.zeros(3)
        for node in range(2 * CELLS + 1):  # Simpson's rule on each side
            weight = (left if node <= CELLS else right) * (4.0 if node % 2 else 2.0) / 3.0
            if node == 0 or node == 2 * CELLS:
                weight *= 0.5
            elif node == CELLS:
                weight = (left + right) / 3.0
            weight *= nodes[1, node]
            place, times_mode = nodes[0, node], math.exp(nodes[0, node])
            mass += weight
            logs += weight * place
            rates += weight * times_mode
            both[0] += weight * place * place
            both[1] += weight * place * times_mode
            both[2] += weight * times_mode * times_mode
        logs, rates, both = logs / mass, rates / mass, both / mass
        mode = modes[page]
        sums[0] += top + math.log(mass)
        sums[1] += math.log(mode) + logs
        sums[2] += mode * rates
        sums[3] += both[0] - logs * logs
        sums[4] += mode * (both[1] - logs * rates)
        sums[5] += mode * mode * (both[2] - rates * rates)
    return sums


@njit(cache=True)
def _tabulate(times: Vector, mode: float, shape: float, idle: float, nodes: Vector) -> tuple[float, float, float]:
    """Fill rows of nodes with places seen from the mode, the density there over that of the mode, and its slope.

    Returns the width of a cell on the left and on the right, and f at the mode.
    """
    centre = math.log(mode)
    top, _ = _height(times, centre, shape, idle)
    _, _, bend = _shape_of(times, mode)
    spread = math.sqrt(2.0 * FALL / (idle * mode - bend))
    left = -_reach(times, centre, top, shape, idle, -spread) / CELLS
    right = _reach(times, centre, top, shape, idle, spread) / CELLS
    for node in range(2 * CELLS + 1):
        place = (node - CELLS) * (left if node < CELLS else right)
        height, slope = _height(times, centre + place, shape, idle)
        nodes[0, node] = place
        nodes[1, node] = math.exp(height - top)
        nodes[2, node] = nodes[1, node] * slope
    return left, right, top


@njit(cache=True)
def _reach(times: Vector, mode: float, top: float, shape: float, idle: float, guess: float) -> float:
    """Find how far to go from the mode for f to have fallen by FALL at least, and by not very much more."""
    distance = guess
    for _ in range(_STEPS):
        fallen = top - _height(times, mode + distance, shape, idle)[0]
        if fallen < 0.9 * FALL:
            # f is concave: so much further it has fallen enough. Near the mode it is flat, and this would be too far.
            distance *= min(4.0, FALL / max(fallen, 0.01 * FALL))
        elif fallen > DEEPEST:
            distance *= 0.75
        else:
            break
    return distance


@njit(cache=True)
def _quantile(nodes: Vector, masses: Vector, left: float, right: float, wanted: float) -> float:
    """Where, seen from the mode, the mass of cells that are cubics by their ends reaches what is wanted."""
    cell = 0
    while cell < len(masses) - 1 and wanted > masses[cell]:
        wanted -= masses[cell]
        cell += 1
    width = left if cell < CELLS else right
    first, last = nodes[1, cell], nodes[1, cell + 1]
    start, end = width * nodes[2, cell], width * nodes[2, cell + 1]
    square, cube = 3.0 * (last - first) - 2.0 * start - end, 2.0 * (first - last) + start + end
    low, high = 0.0, 1.0
    for _ in range(50):
        u = 0.5 * (low + high)
        if width * u * (first + u * (start / 2.0 + u * (square / 3.0 + u * cube / 4.0))) < wanted:
            low = u
        else:
            high = u
    return (cell - CELLS + 0.5 * (low + high)) * width


# -- where the likelihood falls off ------------------------------------------------------------------------------------


@njit(cache=True)
def profile_ends(
    starts: Whole, times: Vector, quiet: Vector, best: Vector, fall: float, tail: float
) -> tuple[Vector, Vector]:
    """Find, for each page that has changed, where the log-likelihood has fallen by so much; else 0.

    A page that always changed has no upper end, and as its lower one the rate at which that has probability `tail`.
    """
    lower, upper = np.zeros(len(quiet)), np.zeros(len(quiet))
    for page in range(len(quiet)):
        first, last = starts[page], starts[page + 1]
        if last == first:
            continue
        own = times[first:last]
        if quiet[page] == 0.0:
            begin = -math.log(own.mean())
            lower[page] = math.exp(_crossing(own, begin, 0.0, math.log(tail), -1.0))
            upper[page] = np.inf
            continue
        mode = math.log(best[page])
        level = _height(own, mode, 0.0, quiet[page])[0] - fall
        _, _, bend = _shape_of(own, best[page])
        spread = math.sqrt(2.0 * fall / (quiet[page] * best[page] - bend))
        lower[page] = math.exp(_crossing(own, mode, quiet[page], level, -spread))
        upper[page] = math.exp(_crossing(own, mode, quiet[page], level, spread))
    return lower, upper


@njit(cache=True)
def _crossing(times: Vector, begin: float, idle: float, level: float, step: float) -> float:
    """Find where f crosses a level along the step: beyond it first, then back by Newton, which stays there.

    f is concave, its tangents lie above it: they cross the level before f does, seen from outside.
    """
    place = begin + step
    for _ in range(_STEPS):
        if _height(times, place, 0.0, idle)[0] < level:
            break
        step *= 1.5
        place += step
    for _ in range(_STEPS):
        height, slope = _height(times, place, 0.0, idle)
        ahead = place + (level - height) / slope
        if not abs(ahead - place) > 1e-13 * max(1.0, abs(place)):
            break
        place = ahead
    return place
