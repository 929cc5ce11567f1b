r"""How often each page appears in a cycle: whole numbers near :math:`n f_i` that add up to n.

A cycle of n slots can only hold frequencies :math:`m_i / n`. Every page gets :math:`\lfloor n f_i \rfloor` visits or
one more (the *quota rule*), so that no schedule made here is a whole visit off. For a cost that is smooth in the
frequencies and least at f, what the rounding loses falls as :math:`1/n^2`: with 20 slots for each page it is some
:math:`4 \cdot 10^{-4}` of the cost for lognormal rates, with 50 some :math:`6 \cdot 10^{-5}`.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from ..protocols import Vector, Whole

#: Slots for each page in a cycle of which only pages are known, and the fewest slots then.
SLOTS_FOR_EACH, FEWEST_SLOTS = 50, 1000

#: A product n f this near to a whole number is that number: f = 3/13 is not quite 3/13 in binary digits.
NEAR = 1e-9

#: A host that wants so little less than the most visits it may have wants all of them.
FULL = 1e-6

#: Frequencies times lengths that `cycle_length` looks at.
LOOKS = 20_000_000


def apportion(
    frequencies: ArrayLike, length: int, gains: ArrayLike | None = None, host: Whole | None = None, most: int = 0
) -> Whole:
    r"""Find the visits of each page in a cycle: :math:`\lfloor n f_i \rfloor` or one more, n together.

    Parameters
    ----------
    frequencies
        Any multiple of the frequencies; they are divided by their sum.
    length
        Slots n of the cycle.
    gains
        What one visit more than :math:`\lfloor n f_i \rfloor` is worth; the largest gains are taken. Without them pages
        come first that would not appear at all, then those with the largest remainders.
    host, most
        The host of each page, -1 for pages that are never visited, and the most visits of a host. No host may have
        frequencies for more; one that has them for so many gets so many.

    Returns
    -------
    array of int
        Visits of each page.
    """
    shares = length * shares_of(frequencies)
    counts = np.floor(shares + NEAR).astype(np.int64)
    left = length - int(counts.sum())
    if gains is None:
        order = np.argsort(counts - shares - (counts == 0), kind="stable")
    else:
        order = np.argsort(-np.asarray(gains, dtype=np.float64), kind="stable")
    # A page that is at its quota, or has frequency zero, gets no more.
    order = order[(shares[order] - counts[order]) > NEAR]
    if host is None:
        counts[order[:left]] += 1
    else:
        members = host >= 0
        room = most - np.bincount(host[members], weights=counts[members]).astype(np.int64)
        wanted = np.bincount(host[members], weights=shares[members])
        # Hosts that want all the visits they may have come first, or others could leave nothing for them.
        rank = (wanted <= most - 0.5).astype(np.int64) + (wanted <= most - FULL)
        order = order[np.argsort(rank[host[order]], kind="stable")]
        _fill(counts, order, host, room, left)
    return counts


def cycle_length(frequencies: ArrayLike, slots: int | None = None) -> int:
    r"""Find a length, `slots` at most, whose whole visits are near to the frequencies.

    The shortest cycle that holds the frequencies exactly, if there is one: 13 for (2, 3, 3, 5)/13. Else that with the
    least :math:`\sum_i f_i (m_i / (n f_i) - 1)^2`; of many pages only the longest cycles are compared. A cycle has as
    many slots as pages at least, where there are so many.

    Parameters
    ----------
    frequencies
        Any multiple of the frequencies.
    slots
        The most slots; by default 50 for each page, and 1000 at least.

    Returns
    -------
    int
        The number of slots.
    """
    shares = shares_of(frequencies)
    shares = shares[shares > 0]
    most = max(SLOTS_FOR_EACH * len(shares), FEWEST_SLOTS) if slots is None else whole("slots", slots, least=1)
    fewest = min(most, max(len(shares), most - LOOKS // len(shares)))
    return int(_best_length(shares, fewest, most))


def missing(schedule: ArrayLike, frequencies: ArrayLike) -> Whole:
    """Find the pages with a frequency above zero that do not appear in a schedule: the cycle is too short for them.

    Parameters
    ----------
    schedule
        The page of each slot.
    frequencies
        Zero or more for each page.

    Returns
    -------
    array of int
        Their numbers, increasing.
    """
    frequencies = np.asarray(frequencies, dtype=np.float64)
    visits = np.bincount(np.asarray(schedule, dtype=np.int64), minlength=len(frequencies))
    return np.flatnonzero((frequencies > 0) & (visits == 0))


# -- what is handed in ------------------------------------------------------------------------------------------------


def shares_of(frequencies: ArrayLike) -> Vector:
    """Divide frequencies by their sum, or refuse them in one sentence."""
    values = numbers("frequencies", frequencies)
    total = float(values.sum())
    if total <= 0 or not math.isfinite(total):
        raise ValueError(f"frequencies must have a finite sum above 0, but it is {total!r}.")
    return values / total


def numbers(name: str, values: ArrayLike, size: int | None = None) -> Vector:
    """Make a vector of finite numbers, zero or more, or refuse the first that is not in one sentence."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0 or (size is not None and len(vector) != size):
        wanted = "one number or more" if size is None else f"{size} numbers, one for each page"
        raise ValueError(f"{name} must be a list of {wanted}, but its shape is {vector.shape}.")
    bad = np.flatnonzero(~(np.isfinite(vector) & (vector >= 0)))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] must be a finite number of at least 0, but it is {vector[bad[0]]}.")
    return vector


def whole(name: str, value: int, *, least: int) -> int:
    """Return a whole number of at least `least`, or refuse it in one sentence."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, but it is {value!r}.")
    return number


# -- compiled ---------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _fill(counts: Whole, order: Whole, host: Whole, room: Whole, left: int) -> None:
    """Give one visit more to the first `left` pages whose hosts have room for it."""
    for page in order:
        if left > 0 and room[host[page]] > 0:
            counts[page] += 1
            room[host[page]] -= 1
            left -= 1


@njit(cache=True)
def _best_length(shares: Vector, fewest: int, most: int) -> int:
    best, least = most, np.inf
    for length in range(fewest, most + 1):
        error = 0.0
        for share in shares:
            error += share * (max(np.rint(length * share), 1.0) / (length * share) - 1.0) ** 2
            if error >= least:
                break
        if error < least:
            best, least = length, error
            if error < 1e-20:
                break
    return best
