"""Loops over many pages, block by block, as vector code: their traits, bins by worth, windows of worths.

A block fits the nearest cache. Pages that no visit can help (a rate or weight of 0, or a worth below every double) get
worth and decay 0, so that sums over the block need no test for them.

Counting by worth, and taking pages out of a window of worths, go through the data nearly as fast as it can be read.
Pages are first turned into bins and places in a block; adding to the bins, of which no two are known to differ, follows
page by page, four sums at once. Blocks of pages that change rarely in the time of an access, which most are if pages
are many, need no logarithm; all others, and whatever looks wrong, take the common road of `fill`.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import ArrayLike, NDArray

from ...numerics import SMALL, VECTOR, Vector, bits_of, double_of, equally_many, log1p_and_excess, small_excess
from ...processes import CONSTANT, ERLANG, EXPONENTIAL, AccessTime, decay_and_deficit_at, decay_at
from ..page_traits import PageError
from .nodes import BIN_BITS

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
    equally_many("rates and weights", len(arrays[0]), len(arrays[1]), "give one weight for each page.")
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
    """Sum up a block, halved again and again: rounding errors grow with the logarithm of its size. Uses it up."""
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


# -- into bins by worth, and out of a window of worths -----------------------------------------------------------------

#: The same, where sums may be taken in any order: in the lanes of vectors.
ANY_ORDER: dict[str, Any] = VECTOR | {"fastmath": {"contract", "reassoc", "nsz"}}

_SHIFT = 52 - BIN_BITS
_PLACE = (1 << _SHIFT) - 1
_ONE = 0x3FF0000000000000

Places = NDArray[np.uint64]


@intrinsic
def _add_powers(context: Any, bins: Any, place: Any, mass: Any, t: Any) -> tuple[Any, Callable[..., Any]]:
    """Add mass, mass t, mass t**2 and mass t**3 to four numbers in a row, as one vector."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        four = ir.VectorType(ir.DoubleType(), 4)
        row = builder.bitcast(builder.gep(array.data, [arguments[1]]), four.as_pointer())
        first, power = arguments[2], arguments[3]
        square = builder.fmul(power, power)
        second = builder.fmul(first, power)
        terms = ir.Constant(four, ir.Undefined)
        for lane, term in enumerate((first, second, builder.fmul(first, square), builder.fmul(second, square))):
            terms = builder.insert_element(terms, term, ir.Constant(ir.IntType(32), lane))
        old = builder.load(row)
        old.align = 8
        builder.store(builder.fadd(old, terms), row).align = 8
        return target.get_dummy_value()

    return types.void(bins, types.uint64, types.float64, types.float64), generate


add_powers: Any = _add_powers


@njit(**ANY_ORDER)
def _place_rare(
    rates: Vector, weights: Vector, mean: float, stages: float, places: Places, offsets: Vector, decays: Vector
) -> tuple[bool, int, int, float]:
    """Fill in bins, places and decays of a block; least and largest bits of worths, cost that no visit saves.

    True before them if all pages are well and change rarely: then l = q - k (x - ln(1 + x)) with x = q / k, where k is
    the number of stages, 0 for a constant time.
    """
    part = 1.0 / stages if stages > 0.0 else 0.0
    top, bottom, largest, total = 0, 0, 0, 0.0
    low, high = np.uint64(_INFINITY), 0
    for page in range(len(rates)):
        rate, weight = rates[page], weights[page]
        load = rate * mean
        worth = weight / load
        helped = (worth >= LEAST_WORTH) & (rate > 0.0)
        bits = bits_of(worth) if helped else 0
        x = load * part
        deficit = stages * small_excess(x)
        decays[page] = load - deficit if helped else 0.0
        places[page] = (bits >> _SHIFT) << 2
        offsets[page] = double_of(((bits & _PLACE) << BIN_BITS) | _ONE) - 1.5
        top = max(top, bits_of(rate), bits_of(weight), bits)
        bottom = min(bottom, bits_of(rate), bits_of(weight))
        largest = max(largest, bits_of(x))
        low = min(low, np.uint64(bits - 1))  # nothing is last
        high = max(high, bits)
        fixed = worth * deficit if helped else weight
        total += fixed if rate > 0.0 else 0.0
    return top < _INFINITY and bottom >= 0 and largest < bits_of(SMALL), int(np.int64(low)), high, total


@njit(**ANY_ORDER)
def _place_any(
    rates: Vector, weights: Vector, worths: Vector, deficits: Vector, places: Places, offsets: Vector
) -> tuple[int, int, float]:
    """Fill in bins and places of a block whose traits are known; least and largest bits, cost that no visit saves."""
    total, low, high = 0.0, np.uint64(_INFINITY), 0
    for page in range(len(rates)):
        bits = bits_of(worths[page])
        places[page] = (bits >> _SHIFT) << 2
        offsets[page] = double_of(((bits & _PLACE) << BIN_BITS) | _ONE) - 1.5
        low = min(low, np.uint64(bits - 1))
        high = max(high, bits)
        fixed = worths[page] * deficits[page] if bits > 0 else weights[page]
        total += fixed if rates[page] > 0.0 else 0.0
    return int(np.int64(low)), high, total  # signed: beside other signed numbers it would become a double


@njit(**VECTOR)
def count(rates: Vector, weights: Vector, timing: Timing, bins: Vector, ends: NDArray[np.int64], sums: Vector) -> int:
    """Add pages to bins, least and largest bits of worths, cost that no visit saves; first wrong block or -1."""
    kind, parameters, mean = timing
    decays, deficits, worths = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    places, offsets = np.empty(BLOCK, np.uint64), np.empty(BLOCK)
    simple = kind in (CONSTANT, EXPONENTIAL, ERLANG)
    stages = 0.0 if kind == CONSTANT else parameters[0] if kind == ERLANG else 1.0
    for start in range(0, len(rates), BLOCK):
        stop = min(start + BLOCK, len(rates))
        size = stop - start
        here, prices = rates[start:stop], weights[start:stop]
        well, low, high, total = False, 0, 0, 0.0
        if simple:
            well, low, high, total = _place_rare(
                here, prices, mean, stages, places[:size], offsets[:size], decays[:size]
            )
        if not well:
            if fill(timing, here, prices, decays[:size], deficits[:size], worths[:size]):
                return start
            low, high, total = _place_any(here, prices, worths[:size], deficits[:size], places[:size], offsets[:size])
        ends[0], ends[1] = min(ends[0], low), max(ends[1], high)
        add_to(sums, 0, total)
        for page in range(size):
            add_powers(bins, places[page], decays[page], offsets[page])
    return -1


@njit(**VECTOR)
def _mark(rates: Vector, weights: Vector, low: float, high: float, marks: NDArray[np.uint8]) -> None:
    for page in range(len(rates)):
        marks[page] = (weights[page] >= low * rates[page]) & (weights[page] <= high * rates[page])


@njit(**VECTOR)
def collect(
    rates: Vector, weights: Vector, timing: Timing, window: tuple[float, float], kept: tuple[Vector, Vector], found: int
) -> int:
    """Keep worths within a window, and their decays; how many there are now, -1 if there is no room."""
    (kind, parameters, mean), (low, high), (worths, decays) = timing, window, kept
    marks = np.zeros(BLOCK, np.uint8)
    eights = marks.view(np.uint64)
    narrow, wide = low * mean * (1.0 - 1e-12), high * mean * (1.0 + 1e-12)
    for start in range(0, len(rates), BLOCK):
        stop = min(start + BLOCK, len(rates))
        size = stop - start
        marks[size:] = 0
        _mark(rates[start:stop], weights[start:stop], narrow, wide, marks[:size])
        if found + BLOCK > len(worths):
            return -1
        for eight in range((size + 7) // 8):
            if eights[eight] != 0:
                for page in range(8 * eight, 8 * eight + 8):
                    if marks[page] != 0 and rates[start + page] > 0.0:
                        rate = rates[start + page]
                        worth = weights[start + page] / (rate * mean)
                        if low <= worth < high:
                            worths[found], decays[found] = worth, decay_at(kind, parameters, rate)
                            found += 1
    return found
