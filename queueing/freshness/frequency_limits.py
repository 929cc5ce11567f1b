"""Limits on how often pages are visited, of each page and of the hosts that serve them, and on numbers of pages."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..numerics import Vector

#: Smaller loads have squares that no double can hold, larger numbers have such sums.
LEAST, MOST = 1e-140, 1e290


class PageError(ValueError):
    """A page whose numbers doubles cannot hold, with their squares and sums.

    Parameters
    ----------
    page, rate
        which one, and its change rate.
    weight
        its weight.
    mean
        mean time of an access.

    Attributes
    ----------
    rule
        what they must be, as the rest of a sentence.

    Examples
    --------
    >>> from queueing import Constant, traits
    >>> from queueing.freshness import PageError
    >>> try:
    ...     traits([0.5, 1e-320], [1.0, 1.0], Constant(1.0))
    ... except PageError as error:
    ...     print(error.page)
    1
    """

    def __init__(self, page: int, rate: float, weight: float, mean: float) -> None:
        self.page, self.rate = page, rate
        self.rule = (
            f"with the weight {weight!r} and the mean access time {mean!r}, rate x time and weight over it must be "
            f"numbers that a double can hold with their squares and sums ({LEAST:g} to {MOST:g}); choose units in "
            "which they are nearer to 1."
        )
        super().__init__(f"rates[{page}] is {rate!r}; {self.rule}")


@dataclass(frozen=True, eq=False)
class Limits:
    """What frequencies must keep: least and most of each page, host of each page, and the cap of each host."""

    least: Vector
    most: Vector
    hosts: NDArray[np.int64]
    caps: Vector


def checked_limits(
    count: int,
    total: float,
    minimum: ArrayLike,
    most: ArrayLike,
    hosts: ArrayLike | None,
    host_caps: ArrayLike | None,
) -> Limits:
    """Limits as arrays, or a sentence about the first that no frequencies can keep."""
    least = _one_each("minimum", minimum, count)
    largest = _one_each("most", most, count)
    if (least > largest).any():
        page = int(np.argmax(least > largest))
        raise ValueError(
            f"minimum[{page}] must be at most most[{page}], but they are {float(least[page])!r} and "
            f"{float(largest[page])!r}; lower the minimum."
        )
    places, caps = _checked_hosts(hosts, host_caps, count)
    needed = np.bincount(places, least, len(caps))
    if (needed > caps * (1 + 1e-12)).any():
        host = int(np.argmax(needed > caps * (1 + 1e-12)))
        raise ValueError(
            f"host_caps[{host}] must be at least the minima of its pages, {float(needed[host])!r}, but it is "
            f"{float(caps[host])!r}; raise the cap or lower the minima."
        )
    if math.fsum(needed) > total * (1 + 1e-12):
        raise ValueError(
            f"The minima must sum to at most total, {total!r}, but they sum to {math.fsum(needed)!r}; lower them."
        )
    room = math.fsum(np.minimum(caps, np.bincount(places, np.minimum(largest, 1e300), len(caps))))
    if room < total * (1 - 1e-12):
        raise ValueError(
            f"The pages and hosts must have room for total, {total!r} visits per slot, but they take at most {room!r}; "
            "raise caps, or use fewer robots."
        )
    return Limits(least, largest, places, caps)


def _one_each(name: str, value: ArrayLike, count: int) -> Vector:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(count, array)
    if array.shape != (count,):
        raise ValueError(f"{name} must be a number, or one for each of {count} pages; give as many.")
    wrong = ~(array >= 0)
    if wrong.any():
        page = int(np.argmax(wrong))
        raise ValueError(f"{name}[{page}] must be a number of at least 0, but it is {float(array[page])!r}; give one.")
    return np.ascontiguousarray(array)


def _checked_hosts(
    hosts: ArrayLike | None, host_caps: ArrayLike | None, count: int
) -> tuple[NDArray[np.int64], Vector]:
    if hosts is None:
        if host_caps is not None:
            raise ValueError("host_caps need the host of each page; give hosts.")
        return np.zeros(count, np.int64), np.array([np.inf])
    places = np.asarray(hosts)
    if places.shape != (count,) or not np.issubdtype(places.dtype, np.integer):
        raise ValueError(f"hosts must be whole numbers, one for each of {count} pages; give as many.")
    if places.min() < 0:
        page = int(np.argmin(places))
        raise ValueError(f"hosts[{page}] must be at least 0, but it is {int(places[page])}; number hosts from 0.")
    number = int(places.max()) + 1
    caps = np.full(number, np.inf) if host_caps is None else np.asarray(host_caps, dtype=np.float64)
    if caps.ndim != 1 or len(caps) < number:
        raise ValueError(f"host_caps must have one entry for each of {number} hosts, but it has {caps.size}.")
    wrong = ~(caps >= 0)
    if wrong.any():
        host = int(np.argmax(wrong))
        raise ValueError(
            f"host_caps[{host}] must be a number of at least 0, but it is {float(caps[host])!r}; give one."
        )
    return np.ascontiguousarray(places, dtype=np.int64), np.ascontiguousarray(caps)
