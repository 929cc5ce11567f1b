r"""The price of a visit: compiled loops over pages in decreasing order of worth.

The price is handed about as the worth of the marginal page and its v = f / l = 1 / u, from which both
:math:`\lambda / a_i` and its distance to 1 follow with all their digits for every other page.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import Vector
from .inverse import gain_share, inverse_at, price_of

#: Frequencies whose sum is this near to what it should be, relative, are those looked for.
ROUNDING = 4.5e-16


class Demands(NamedTuple):
    """Pages in decreasing order of worth: least and most frequency and host of each, and the cap of each host."""

    worths: Vector
    decays: Vector
    least: Vector
    most: Vector
    hosts: NDArray[np.int64]
    caps: Vector

    def of(self, chosen: NDArray[np.int64]) -> "Demands":
        """Those of some of the pages."""
        worths, decays, least, most, hosts, caps = self
        return Demands(worths[chosen], decays[chosen], least[chosen], most[chosen], hosts[chosen], caps)


def free_demands(worths: Vector, decays: Vector) -> Demands:
    """Make demands of pages without limits."""
    count = len(worths)
    return Demands(
        worths, decays, np.zeros(count), np.full(count, np.inf), np.zeros(count, np.int64), np.array([np.inf])
    )


@njit(cache=True, error_model="numpy")
def _parts(v: float) -> tuple[float, float]:
    """Return sqrt(2 K(u)) and 1 - K(u) for u = 1 / v."""
    if v * 800.0 < 1.0:
        return math.sqrt(2.0), 0.0
    root, rest = price_of(1.0 / v)
    return root, rest


@njit(cache=True, error_model="numpy")
def price_at(base: float, v: float) -> float:
    """Return base K(1 / v), the price at which a page of this worth has this v."""
    if v * 800.0 < 1.0:
        return base
    u = 1.0 / v
    return base * u * (u * gain_share(u)) if u < 1.0 else base * (1.0 - (1.0 + u) * math.exp(-u))


@njit(cache=True, error_model="numpy")
def _demand(pages: Demands, base: float, v: float, found: Vector) -> tuple[float, float]:
    """Fill in the frequencies at the price where pages of worth `base` have this v; their capped sum and its slope."""
    worths, decays, least, most, hosts, caps = pages
    root, rest = _parts(v)
    sums, lost, slopes = np.zeros(len(caps)), np.zeros(len(caps)), np.zeros(len(caps))
    for page in range(len(worths)):
        frequency, slope = 0.0, 0.0
        if worths[page] == base:
            frequency, slope = decays[page] * v, decays[page]
        elif worths[page] > base:
            ratio = math.sqrt(base) / math.sqrt(worths[page])
            u = inverse_at(root * ratio, ((worths[page] - base) + base * rest) / worths[page])
            frequency = decays[page] / u
            if v * 800.0 > 1.0:
                slope = frequency * (ratio / (v * u)) ** 2 * (math.exp(u - 1.0 / v) / v)
        if frequency <= least[page]:
            frequency, slope = least[page], 0.0
        elif frequency >= most[page]:
            frequency, slope = most[page], 0.0
        found[page] = frequency
        host = hosts[page]
        total = sums[host] + frequency
        small, large = min(sums[host], frequency), max(sums[host], frequency)
        lost[host] += (large - total) + small
        sums[host] = total
        slopes[host] += slope
    total, missing, slope = 0.0, 0.0, 0.0
    for host in range(len(caps)):
        term = min(caps[host], sums[host] + lost[host])
        if term < caps[host]:
            slope += slopes[host]
        old = total
        total += term
        missing += (max(old, term) - total) + min(old, term)
    return total + missing, slope


@njit(cache=True, error_model="numpy")
def solve_price(pages: Demands, total: float, guess: float, found: Vector) -> tuple[float, float]:
    """Fill in the frequencies that sum to `total`; worth and v of the marginal page, 0 if all are at their limits.

    A good guess of the price saves time; 0 if there is none.
    """
    worths, useful = pages.worths, 0
    while useful < len(worths) and worths[useful] > 0.0:
        useful += 1
    if _saturated(pages, useful, found) <= total:
        return 0.0, 0.0
    low = _marginal(pages, total, guess, useful, found)
    base, limit = worths[low], 1e300
    if abs(_demand(pages, base, 0.0, found)[0] - total) <= ROUNDING * total:
        return base, 0.0  # the pages before it take all visits: what is left is rounding, not a frequency
    if low + 1 < useful:
        root = math.sqrt(2.0) * (math.sqrt(worths[low + 1]) / math.sqrt(base))
        limit = min(limit, 1.0 / inverse_at(root, (base - worths[low + 1]) / base))
    above = min(limit, total / pages.decays[low])
    while above < limit and _demand(pages, base, above, found)[0] < total:
        above = min(limit, 16.0 * above)
    return base, _solve_share(pages, total, base, above, found)


@njit(cache=True, error_model="numpy")
def _marginal(pages: Demands, total: float, guess: float, useful: int, found: Vector) -> int:
    """Find the last of the useful pages at whose worth, as a price, no more than `total` is demanded.

    Found between two of them by interpolation, by steps that grow from a guess, or by halving.
    """
    worths, low, high, too_little, too_much = pages.worths, 0, useful, -1.0, -1.0
    near, step, tries = guess > 0.0, 1, 0
    middle, last = (-1, useful) if near else (useful // 2, 0)
    while last - middle > 1:  # the first page not worth more than the guess
        half = (middle + last) // 2
        middle, last = (half, last) if worths[half] > guess else (middle, half)
    while high - low > 1:
        middle = min(max(middle, low + 1), high - 1)
        demand, _ = _demand(pages, worths[middle], 0.0, found)
        below = demand <= total
        if below:
            low, too_little = middle, demand
        else:
            high, too_much = middle, demand
        tries += 1
        if near and step < 64 and tries < 40:
            middle = low + step if below else high - step
            step *= 4
        elif too_little >= 0.0 and too_much > too_little and tries < 40:
            middle = low + int((high - low) * ((total - too_little) / (too_much - too_little)))
            near, step = True, 1
        else:
            near, middle = False, (low + high) // 2
    return low


@njit(cache=True, error_model="numpy")
def _saturated(pages: Demands, useful: int, found: Vector) -> float:
    """Give useful pages all they can have; the capped sum."""
    sums, total = np.zeros(len(pages.caps)), 0.0
    for page in range(len(found)):
        found[page] = pages.most[page] if page < useful else pages.least[page]
        sums[pages.hosts[page]] += found[page]
    for host in range(len(sums)):
        total += min(sums[host], pages.caps[host])
    return total


@njit(cache=True, error_model="numpy")
def _solve_share(pages: Demands, total: float, base: float, above: float, found: Vector) -> float:
    """Newton's method for v, from above, halving where it does not help."""
    v, below, missing, slow = above, 0.0, np.inf, 0
    for _ in range(400):
        demand, slope = _demand(pages, base, v, found)
        if abs(demand - total) <= ROUNDING * total:
            break
        if demand < total:
            below = v
        else:
            above = v
        following = v + (total - demand) / slope if slope > 0.0 else -1.0
        slow = slow + 1 if abs(demand - total) > 0.5 * missing else 0
        missing = abs(demand - total)
        if not below < following < above or slow > 2:
            slow = 0
            following = math.sqrt(below) * math.sqrt(above) if above > 4.0 * below > 0.0 else 0.5 * (below + above)
        if not below < following < above:
            break
        v = following
    return v


@njit(cache=True, error_model="numpy")
def solve_each(pages: Demands, starts: NDArray[np.int64], totals: Vector, found: Vector, prices: Vector) -> None:
    """Fill in frequencies that have a sum of their own from each start to the next, and the prices of these parts."""
    worths, decays, least, most, hosts, caps = pages
    for part in range(len(totals)):
        own = slice(starts[part], starts[part + 1])
        some = Demands(worths[own], decays[own], least[own], most[own], hosts[own], caps)
        base, v = solve_price(some, totals[part], 0.0, found[own])
        prices[part] = price_at(base, v)


@njit(cache=True, error_model="numpy")
def best_frequency(decay: float, worth: float, price: float) -> float:
    r"""Find the frequency at which one visit more per slot is worth its price.

    Parameters
    ----------
    decay, worth
        l and a of the page.
    price
        lambda: dual price of a visit.

    Returns
    -------
    float
        f with :math:`a K(\ell / f) = \lambda`, :math:`K(u) = 1 - (1 + u) e^{-u}`; 0 if no visit is worth its price,
        infinite if visits are free.

    Examples
    --------
    >>> from queueing.freshness import best_frequency
    >>> round(best_frequency(0.5, 2.0, 0.25), 6), best_frequency(0.5, 2.0, 3.0)
    (0.820505, 0.0)
    """
    if worth <= price:
        return 0.0
    if price == 0.0:
        return np.inf
    return float(decay / inverse_at(math.sqrt(2.0 * price) / math.sqrt(worth), (worth - price) / worth))


@njit(cache=True, error_model="numpy")
def best_frequencies(
    worths: Vector, decays: Vector, least: Vector, most: Vector, prices: Vector, found: Vector
) -> None:
    """Fill in the best frequency of each page at its price, within its limits."""
    for page in range(len(worths)):
        frequency = best_frequency(decays[page], worths[page], prices[page])
        found[page] = max(least[page], min(most[page], frequency))


@njit(cache=True, error_model="numpy")
def residual_of(
    worths: Vector, decays: Vector, least: Vector, most: Vector, frequencies: Vector, prices: Vector
) -> float:
    """Find the largest violation of the conditions of optimality, in parts of the price, or of the largest worth."""
    largest = 0.0
    for page in range(len(worths)):
        if worths[page] == 0.0:
            continue
        gain = worths[page]
        if frequencies[page] > 0.0:
            gain = price_at(worths[page], frequencies[page] / decays[page])
        wrong = abs(gain - prices[page])
        if (frequencies[page] <= least[page] and gain < prices[page]) or (
            frequencies[page] >= most[page] and gain > prices[page]
        ):
            wrong = 0.0
        largest = max(largest, wrong / max(gain, prices[page]))
    return largest
