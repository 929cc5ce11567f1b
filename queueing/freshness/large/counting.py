"""The loops over all pages: into bins by worth, and out of a window of worths.

Both go through the data nearly as fast as it can be read. Pages are first turned into bins and places in a block, by
vector code; adding to the bins, of which no two are known to differ, follows page by page, four sums at once. Blocks of
pages that change rarely in the time of an access, which most are if pages are many, need no logarithm; all others, and
whatever looks wrong, take the common road of :func:`~queueing.freshness.large.blocks.fill`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ...numerics import SMALL, VECTOR, Vector, bits_of, double_of, small_excess
from ...processes import CONSTANT, ERLANG, EXPONENTIAL, decay_at
from .blocks import BLOCK, LEAST_WORTH, Timing, add_to, fill
from .nodes import BIN_BITS

#: The same, where sums may be taken in any order: in the lanes of vectors.
ANY_ORDER: dict[str, Any] = VECTOR | {"fastmath": {"contract", "reassoc", "nsz"}}

_SHIFT = 52 - BIN_BITS
_PLACE = (1 << _SHIFT) - 1
_ONE = 0x3FF0000000000000
_INFINITY = 0x7FF0000000000000

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
