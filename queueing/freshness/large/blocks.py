"""Traits of pages, block by block: what one pass over many pages computes first, as vector code.

A block fits the nearest cache. Pages that no visit can help (a rate or weight of 0, or a worth below every double) get
worth and decay 0, so that sums over the block need no test for them.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ...numerics import SMALL, VECTOR, Vector, bits_of, log1p_and_excess, small_excess
from ...processes import CONSTANT, ERLANG, EXPONENTIAL, AccessTime, decay_and_deficit_at
from ..page_traits import PageError

#: Pages in a block: a power of two.
BLOCK = 512

#: Pages that are converted at a time, where they are not doubles in a row.
CHUNK = 1 << 14

#: Worths below this are no numbers with all digits, and worth nothing.
LEAST_WORTH = float(np.finfo(np.float64).tiny)

_INFINITY = 0x7FF0000000000000  # as bits; above it are those that are no numbers

#: Change rates or weights of pages, in single or double precision.
Numbers = NDArray[np.float64] | NDArray[np.float32]


class Timing(NamedTuple):
    """The law of the time of an access, as compiled loops take it: kind, parameters, mean."""

    kind: int
    parameters: Vector
    mean: float


def timing_of(law: AccessTime) -> Timing:
    """Write a law as compiled loops take it."""
    return Timing(*law.kernel(), law.mean)


def go_over(rates: ArrayLike, weights: ArrayLike, law: AccessTime, loop: Callable[[int, Vector, Vector], int]) -> int:
    """Let a loop go over all pages, and count them.

    The loop is called with the number of a first page, rates and weights from there on; it returns the place of the
    first block with numbers that no pass can count, which are refused by name, or -1.
    """
    changes, costs = paired(rates, weights)
    for start, some, others in chunks(changes, costs):
        wrong = loop(start, some, others)
        if wrong >= 0:
            refuse(start, some, others, wrong, law)
    return len(changes)


def paired(rates: ArrayLike, weights: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return rates and weights as arrays of floats, as precise as they are, or refuse their shapes."""
    arrays: list[Numbers] = []
    for name, values in (("rates", rates), ("weights", weights)):
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype not in (np.float64, np.float32):
            raise ValueError(
                f"{name} must be a row of single or double precision numbers, but it has {array.ndim} dimensions of "
                f"{array.dtype}; convert it."
            )
        arrays.append(array)
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(
            f"rates and weights must be equally many, but there are {len(arrays[0])} and {len(arrays[1])}; "
            "give one weight for each page."
        )
    return arrays[0], arrays[1]


def chunks(rates: Numbers, weights: Numbers) -> Iterator[tuple[int, Vector, Vector]]:
    """Pages from a first one on, as doubles in a row that nobody writes to: the one kind of array loops are made for.

    Arrays that are so already come as they are, in one piece; others in pieces that fit a cache.
    """
    ready = all(array.dtype == np.float64 and array.flags.c_contiguous for array in (rates, weights))
    size = max(1, len(rates)) if ready else CHUNK
    for start in range(0, len(rates), size):
        piece = []
        for array in (rates, weights):
            doubles = np.ascontiguousarray(array[start : start + size], dtype=np.float64).view()
            doubles.flags.writeable = False
            piece.append(doubles)
        yield start, piece[0], piece[1]


def refuse(start: int, rates: Vector, weights: Vector, first: int, law: AccessTime) -> None:
    """Name the first page from `first` on that no pass can count; `start` pages have come before."""
    timing = timing_of(law)
    for place in range(first, len(rates)):
        page = start + place
        for name, array in (("rates", rates), ("weights", weights)):
            if not 0 <= array[place] < np.inf:
                value = float(array[place])
                raise ValueError(
                    f"{name}[{page}] must be a finite number of at least 0, but it is {value!r}; give one."
                )
        decay, deficit, worth = np.empty(1), np.empty(1), np.empty(1)
        one = slice(place, place + 1)
        if fill(timing, rates[one], weights[one], decay, deficit, worth):
            raise PageError(page, float(rates[place]), float(weights[place]), law.mean)


@njit(**VECTOR)
def fill(timing: Timing, rates: Vector, weights: Vector, decays: Vector, deficits: Vector, worths: Vector) -> bool:
    """Fill in the traits of the pages of a block; whether one of them is wrong."""
    kind, parameters, mean = timing
    top = bottom = 0  # of the bits: in the order of the numbers where these are not negative
    for page in range(len(rates)):
        rate, weight = rates[page] + 0.0, weights[page] + 0.0  # not -0.0
        worth = weight / (rate * mean)
        worth = worth if (worth >= LEAST_WORTH) & (rate > 0.0) else 0.0
        worths[page] = worth
        top = max(top, bits_of(rate), bits_of(weight), bits_of(worth))
        bottom = min(bottom, bits_of(rate), bits_of(weight))
    wrong = top >= _INFINITY or bottom < 0
    if kind == CONSTANT:
        for page in range(len(rates)):
            decays[page] = rates[page] * mean if worths[page] > 0.0 else 0.0
            deficits[page] = 0.0
    elif kind in (EXPONENTIAL, ERLANG):
        stages = parameters[0] if kind == ERLANG else 1.0
        part = mean / stages
        largest = 0
        for page in range(len(rates)):
            largest = max(largest, bits_of(rates[page] * part))  # in the order of the numbers
        if largest < bits_of(SMALL):
            for page in range(len(rates)):
                load = rates[page] * part
                excess = small_excess(load)
                decays[page] = stages * (load - excess) if worths[page] > 0.0 else 0.0
                deficits[page] = stages * excess if worths[page] > 0.0 else 0.0
        else:
            for page in range(len(rates)):
                decay, excess = log1p_and_excess(rates[page] * part)
                decays[page] = stages * decay if worths[page] > 0.0 else 0.0
                deficits[page] = stages * excess if worths[page] > 0.0 else 0.0
    else:
        for page in range(len(rates)):
            decays[page] = deficits[page] = 0.0
            if worths[page] > 0.0:
                decays[page], deficits[page] = decay_and_deficit_at(kind, parameters, rates[page])
                wrong = wrong or not 0.0 < decays[page] < np.inf
    return wrong


@njit(**VECTOR)
def folded(terms: Vector) -> float:
    """The sum of a block, halved again and again: rounding errors grow with the logarithm of its size. Uses it up."""
    size = len(terms)
    while size > 1:
        half = (size + 1) // 2
        for index in range(size - half):
            terms[index] += terms[half + index]
        size = half
    return float(terms[0]) if len(terms) else 0.0


@njit(**VECTOR)
def add_to(sums: Vector, place: int, term: float) -> None:
    """Add to a sum kept as two numbers: the rounded sum, and what it lacks."""
    old = sums[place]
    new = old + term
    sums[place] = new
    sums[place + 1] += (max(old, term) - new) + min(old, term)
