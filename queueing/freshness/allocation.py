r"""How often to visit each page: the frequencies that cost least when visits are evenly spaced.

The problem [1]_ is to minimise :math:`\sum c_i r_i(f_i)` over :math:`\sum f_i = F`. With worths :math:`a_i` and decays
:math:`\ell_i` the optimum has one price :math:`\lambda` of a visit:

.. math::  a_i K(\ell_i / f_i) = \lambda, \quad K(u) = 1 - (1 + u) e^{-u}, \qquad f_i = 0 \text{ if } a_i \le \lambda.

If all worths are equal (weights proportional to change rates) then :math:`f_i \propto \ell_i`, eq. (10). In general the
price is one unknown, but not always one that a double can hold: near :math:`a_i` the frequency of page i grows like
:math:`\ell_i / \ln(1 / (1 - \lambda / a_i))`, so that of a few pages a gap of one unit in the last place of
:math:`\lambda` can hold a large part of all visits. The unknown is therefore :math:`v = 1/u` of the *marginal* page,
the one of least worth above the price: first it is found which page that is, then its v.

Limits keep all this: with least and most frequencies :math:`f_i` is cut off, and a cap on the visits to a host turns
its demand into the smaller of both; where a cap is tight, the host has a price of its own, found in the same way.

At *any* prices the least value of the Lagrangian is a lower bound on the cost of every allocation, hence of every
schedule. The bound reported is this value, computed for the prices as they are printed.

References
----------
.. [1] E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of
   Scheduling* 1 (1998), 15-29; Theorems 3.4 and 4.1.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..numerics import Vector, positive, sums_by
from .page_traits import Traits, refuse_where
from .prices import Demands, best_frequencies, free_demands, price_at, residual_of, solve_each, solve_price
from .staleness import cost, even_cost, randomized_obsolescence

#: Worths that differ by less, in parts of the largest, are rounded values of one: eq. (10) then holds.
EQUAL = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Allocation:
    """Frequencies of visits, and what is known about them.

    Attributes
    ----------
    frequencies
        f: visits of each page per slot.
    multiplier
        lambda: dual price of a visit, what one more visit per slot would save.
    objective
        cost of these frequencies: evenly spaced, or drawn at random.
    bound
        a lower bound on the cost of any frequencies, proved by the multipliers.
    gap
        optimality gap: objective less bound, in parts of the objective.
    residual
        largest violation of the conditions of optimality, in parts of the price; and of the sum, in parts of it.
    host_multipliers
        price of a visit to each host, at least `multiplier`; None without hosts.

    Examples
    --------
    >>> from queueing import Constant, allocate, traits
    >>> found = allocate(traits([0.5, 0.1], [1.0, 2.0], Constant(1.0)))
    >>> round(float(found.frequencies.sum()), 12), abs(found.gap) < 1e-12
    (1.0, True)
    """

    frequencies: Vector
    multiplier: float
    objective: float
    bound: float
    gap: float
    residual: float
    host_multipliers: Vector | None = None


def allocate(
    pages: Traits,
    total: float = 1.0,
    minimum: ArrayLike = 0.0,
    most: ArrayLike = np.inf,
    hosts: ArrayLike | None = None,
    host_caps: ArrayLike | None = None,
) -> Allocation:
    r"""Find the frequencies of least cost when visits are evenly spaced.

    Parameters
    ----------
    pages
        what `traits` made of them.
    total
        visits per slot of all pages together: 1 for one robot, m for m robots.
    minimum, most
        least and largest frequency of every page, or of each page; most = 1 for several robots.
    hosts, host_caps
        host of each page, numbered from 0, and the largest sum of frequencies on each host, infinite where there is no
        such limit.

    Returns
    -------
    Allocation
        the frequencies, their dual price, and a proved lower bound.

    Notes
    -----
    With worths :math:`a_i` and decays :math:`\ell_i` the optimum has one price :math:`\lambda` of a visit,

    .. math::
        a_i K(\ell_i / f_i) = \lambda, \quad K(u) = 1 - (1 + u) e^{-u}, \qquad f_i = 0 \text{ if } a_i \le \lambda,

    equations (8) and (9) of [1]_; if all worths are equal, :math:`f_i \propto \ell_i`, equation (10). Pages that gain
    nothing by a visit get their minimum, unless all others are at their limits: then what is left over is spread over
    them, in parts of the room that each has.

    References
    ----------
    .. [1] E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of
       Scheduling* 1 (1998), 15-29; Theorem 3.4.

    Examples
    --------
    >>> from queueing import Constant, allocate, traits
    >>> found = allocate(traits([0.5, 0.1, 0.02], [1.0, 2.0, 0.01], Constant(1.0)))
    >>> found.frequencies.round(6), round(found.objective, 6)
    (array([0.55857 , 0.436338, 0.005092]), 0.559402)
    """
    visits = positive("total", total)
    limits = checked_limits(len(pages), visits, minimum, most, hosts, host_caps)
    frequencies, prices, multiplier = _solved(pages, limits, visits)
    by_page = prices[limits.hosts]
    objective = even_cost(pages, frequencies)
    bound = _dual_value(pages, limits, visits, prices, multiplier)
    residual = residual_of(pages.worths, pages.decays, limits.least, limits.most, frequencies, by_page)
    sums, lost = sums_by(np.zeros(len(pages), np.int64), 1, frequencies)
    missing = abs((float(sums[0]) - visits) + float(lost[0])) / visits
    return Allocation(
        frequencies,
        multiplier,
        objective,
        bound,
        (objective - bound) / objective if objective > 0 else 0.0,
        max(float(residual), missing),
        None if hosts is None else prices,
    )


# -- limits ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Limits:
    """What frequencies must keep: least and most of each page, host of each page, and the cap of each host."""

    least: Vector
    most: Vector
    hosts: NDArray[np.int64]
    caps: Vector


def checked_limits(
    count: int, total: float, minimum: ArrayLike, most: ArrayLike, hosts: ArrayLike | None, host_caps: ArrayLike | None
) -> Limits:
    """Make arrays of limits, or refuse the first that no frequencies can keep."""
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
    refuse_where(~(array >= 0), name, array, "a number of at least 0")
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
    refuse_where(places < 0, "hosts", places, "at least 0", "number hosts from 0")
    number = int(places.max()) + 1
    caps = np.full(number, np.inf) if host_caps is None else np.asarray(host_caps, dtype=np.float64)
    if caps.ndim != 1 or len(caps) < number:
        raise ValueError(f"host_caps must have one entry for each of {number} hosts, but it has {caps.size}.")
    refuse_where(~(caps >= 0), "host_caps", caps, "a number of at least 0")
    return np.ascontiguousarray(places, dtype=np.int64), np.ascontiguousarray(caps)


# -- the price --------------------------------------------------------------------------------------------------------


def _solved(pages: Traits, limits: Limits, total: float) -> tuple[Vector, Vector, float]:
    """Frequencies, the price of each host, and that of a visit to any other."""
    useful = pages.worths > 0
    free = len(limits.caps) == 1 and limits.caps[0] == np.inf and not limits.least.any()
    largest = float(pages.worths.max())
    if free and largest > 0 and pages.worths[useful].min() >= largest * (1.0 - EQUAL):  # eq. (10)
        shares = np.where(useful, pages.decays, 0.0)
        shares /= math.fsum(shares)
        if (total * shares <= limits.most).all():
            u = math.fsum(pages.decays[useful]) / total
            price = float(price_at(largest, 1.0 / u))
            return total * shares, np.array([price]), price
    order = np.argsort(-pages.worths)
    demands = Demands(pages.worths, pages.decays, limits.least, limits.most, limits.hosts, limits.caps).of(order)
    found = np.empty(len(pages))
    base, v = solve_price(demands, total, _guessed(demands.worths, demands.decays, total), found)
    multiplier = float(price_at(base, v))
    prices = np.full(len(limits.caps), multiplier)
    if len(limits.caps) > 1:
        _solve_tight_hosts(demands, found, prices)
    frequencies = np.empty(len(pages))
    frequencies[order] = found
    if base == 0.0:
        _spread_left_over(useful, limits, total, frequencies)
    return frequencies, prices, multiplier


def _solve_tight_hosts(demands: Demands, found: Vector, prices: Vector) -> None:
    """Bring hosts above their caps down to them, each by a price of its own."""
    hosts, caps = demands.hosts, demands.caps
    tight = np.flatnonzero(np.bincount(hosts, found, len(caps)) > caps)
    if not len(tight):
        return
    order = np.argsort(hosts, kind="stable")  # by host, and within a host by worth as before
    order = order[np.isin(hosts[order], tight)]
    starts = np.concatenate([np.searchsorted(hosts[order], tight), [len(order)]])
    shares, own = np.empty(len(order)), np.empty(len(tight))
    alone = demands.of(order)._replace(hosts=np.zeros(len(order), np.int64), caps=np.full(1, np.inf))
    solve_each(alone, starts, caps[tight], shares, own)
    found[order] = shares
    prices[tight] = np.maximum(prices[tight], own)


def _guessed(worths: Vector, decays: Vector, total: float) -> float:
    """Guess the price where pages are many, from groups of pages that stand in for them; no limits are kept."""
    if len(worths) < 256:
        return 0.0
    size = max(8, len(worths) // 1024)
    starts = np.arange(0, len(worths), size)
    masses = np.add.reduceat(decays, starts)
    means = np.divide(np.add.reduceat(worths * decays, starts), masses, out=np.zeros(len(starts)), where=masses > 0)
    return float(price_at(*solve_price(free_demands(means, masses), total, 0.0, np.empty(len(starts)))))


def _spread_left_over(useful: NDArray[np.bool_], limits: Limits, total: float, frequencies: Vector) -> None:
    """Give what is left over to pages that gain nothing, in parts of the room that they have."""
    left = total - math.fsum(frequencies)
    sums = np.bincount(limits.hosts, frequencies, len(limits.caps))
    room = np.where(useful, 0.0, limits.most - frequencies)
    on_host = np.bincount(limits.hosts, np.minimum(room, 1e300), len(limits.caps))
    free = np.minimum(limits.caps - sums, on_host)
    part = np.divide(free, on_host, out=np.zeros_like(free), where=on_host > 0)[limits.hosts] * np.minimum(room, 1e300)
    if left > 0.0 and part.sum() > 0.0:
        np.clip(frequencies + left * (part / part.sum()), limits.least, limits.most, out=frequencies)


# -- what is proved ---------------------------------------------------------------------------------------------------


def _dual_value(pages: Traits, limits: Limits, total: float, prices: Vector, multiplier: float) -> float:
    """Compute the least value of the Lagrangian at these prices of hosts, at least `multiplier`: a bound always."""
    best = np.empty(len(pages))
    best_frequencies(pages.worths, pages.decays, limits.least, limits.most, prices[limits.hosts], best)
    sums, lost = sums_by(limits.hosts, len(prices), best)
    tight = prices > multiplier
    beyond = math.fsum([*sums[~tight], *lost[~tight], *limits.caps[tight], -total])
    over = prices[tight] * ((sums[tight] - limits.caps[tight]) + lost[tight])
    return math.fsum([even_cost(pages, best), multiplier * beyond, *over])


# -- slots drawn at random --------------------------------------------------------------------------------------------


def allocate_randomized(pages: Traits, total: float = 1.0) -> Allocation:
    r"""Find the frequencies of least cost when every slot is drawn at random.

    Parameters
    ----------
    pages
        what `traits` made of them.
    total
        sum of all frequencies, at most 1.

    Returns
    -------
    Allocation
        the frequencies, their dual price, and a proved lower bound on the cost of any probabilities.

    Notes
    -----
    With :math:`w_i = 1/h_i - 1` a page gains :math:`a_i f_i w_i / (w_i + f_i)`, so

    .. math::  f_i = w_i \Bigl( \sqrt{a_i / \lambda} - 1 \Bigr)^+,

    Coffman et al. (1998), equation (15), and :math:`f_i \propto w_i` where all worths are equal (Theorem 4.1). With
    :math:`\varphi = \sqrt{a_k / \lambda} - 1` of the marginal page k the sum of frequencies is linear in
    :math:`\varphi`; no price need be resolved.

    Examples
    --------
    >>> from queueing import Constant, allocate_randomized, traits
    >>> found = allocate_randomized(traits([0.5, 0.1], [1.0, 2.0], Constant(1.0)))
    >>> found.frequencies.round(6), round(found.objective, 6)
    (array([0.510747, 0.489253]), 0.697213)
    """
    visits = positive("total", total)
    if visits > 1.0:
        raise ValueError(f"total must be at most 1 where slots are drawn at random, but it is {visits!r}; give less.")
    order = np.argsort(-pages.worths, kind="stable")
    order = order[: int(np.count_nonzero(pages.worths))]
    frequencies = np.zeros(len(pages))
    if not len(order):
        frequencies[:] = visits / len(pages)
        objective = cost(pages, randomized_obsolescence(pages, frequencies))
        return Allocation(frequencies, 0.0, objective, objective, 0.0, 0.0)
    worths, decays = pages.worths[order], pages.decays[order]
    if worths[-1] >= worths[0] * (1.0 - EQUAL):
        worths = np.full_like(worths, worths[0])
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _random_demand(worths, decays, middle)[0].sum() <= visits else (low, middle)
    fixed, growing, scale = _random_demand(worths, decays, low)
    slope = math.fsum(growing)
    phi = (visits - math.fsum(fixed)) / slope
    frequencies[order] = fixed + phi * growing
    own = phi * math.exp(-scale) if scale < 700 else 0.0
    price = float(worths[low]) / (1.0 + own) / (1.0 + own)
    return _judged_random(pages, frequencies, price, visits)


def _random_demand(worths: Vector, decays: Vector, marginal: int) -> tuple[Vector, Vector, float]:
    """At the price of the marginal page's worth, frequencies; how they grow with its share; the logarithm of its unit.

    Unit of the share is exp(-l) of the largest decay, so that nothing overflows.
    """
    active = worths >= worths[marginal]
    base, scale = math.sqrt(worths[marginal]), float(decays[active].max())
    roots = np.sqrt(worths)
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = (worths - worths[marginal]) / (base * (roots + base))
        fixed = np.where(beyond > 0, np.expm1(decays) * beyond, 0.0)
        growing = np.where(active, np.exp(np.minimum(decays - scale, 0.0)) * -np.expm1(-decays) * (roots / base), 0.0)
    return fixed, growing, scale


def _judged_random(pages: Traits, frequencies: Vector, price: float, total: float) -> Allocation:
    """Find bound, gap and residual: at any price the least value of the Lagrangian is a bound."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        odds = np.expm1(pages.decays)  # 1 / h - 1
        beyond = (pages.worths - price) / (math.sqrt(price) * (np.sqrt(pages.worths) + math.sqrt(price)))
        best = np.where(beyond > 0, np.minimum(odds * np.maximum(beyond, 0.0), total), 0.0)
        gains = pages.worths / (1.0 + np.where(frequencies > 0, frequencies / odds, 0.0)) ** 2
    objective = cost(pages, randomized_obsolescence(pages, frequencies))
    value = cost(pages, randomized_obsolescence(pages, best))
    bound = value + price * math.fsum([*best, -total])
    wrong = np.where((frequencies == 0) & (gains < price), 0.0, np.abs(gains - price) / np.maximum(gains, price))
    wrong = wrong[pages.worths > 0]
    residual = max(float(wrong.max()), abs(math.fsum(frequencies) - total) / total)
    gap = (objective - bound) / objective if objective > 0 else 0.0
    return Allocation(frequencies, price, objective, bound, gap, residual)
