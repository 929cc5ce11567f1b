r"""Bounds and words for more servers than a graph of gaps can hold: some gaps are kept, the others have a price.

Let S be the servers whose gaps are states of a graph (:mod:`heuristics.routing.gap_graph`). All others are one more
choice, without a state, that earns a price :math:`\lambda`; each of them pays the price for every packet and may take
as many as it likes. Then

.. math:: \sum_{m \notin S} \min_d \frac{f_m(d) + \lambda}{d} + \gamma_S(\lambda) ,

with :math:`\gamma_S` the least mean cost on the graph, is a lower bound on the cost of all words: without S the
integer-density bound, with all servers the optimum. It is concave in the price, with the densities of the others less
the share of slots that the best cycle leaves to them as its slope. Servers with short gaps are kept first: they are in
each other's way most often, and take fewest states.

Values of the states of the graph and of the others by themselves add up to values of all gaps. The policy that is
greedy for these makes better words than the index rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..protocols import Matrix, Vector, Whole
from .gap_graph import Charges, GapGraph, Kinds, TooManyStates, carried, grown_limits
from .howard import least_mean_cycle
from .problem import GapTable, GapTables, Pause, no_pause
from .server_densities import Densities, cut_word, dual_parts, excesses, indices

#: Prices that are tried for a graph, and graphs; how far the first step goes, relative to the price.
PRICES, GRAPHS, STEP = 10, 3, 0.05

#: What another price could gain, relative to the bound, is not worth the time if it is less.
WORTHWHILE = 1e-4

#: Slots of a run out of which a word is cut.
SLOTS = 3000


@dataclass(frozen=True, eq=False)
class PricedStep:
    """What one price proves.

    Attributes
    ----------
    lower
        A lower bound on the cost of all words.
    word
        Made by the values found.
    kept
        Servers whose gaps are states.
    states
        Of the graph.
    """

    lower: float
    word: tuple[int, ...]
    kept: tuple[int, ...]
    states: int


def priced_bounds(
    gap_table: GapTables, found: Densities, *, states: int, precision: float = 0.0, pause: Pause = no_pause
) -> Iterator[PricedStep]:
    """Find bounds for some prices, with as many servers kept as `states` allow: at least two, or there are none."""
    kept, graph = _largest(found, states, pause)
    if graph is None:
        return
    others = np.setdiff1d(np.arange(found.table.servers), kept)
    separate = Kinds(tuple((k,) for k in range(len(kept) + 1)))
    lines = np.zeros(len(kept) + 1, dtype=bool)
    values: Vector | None = None
    price = found.price
    for _ in range(GRAPHS):
        table = gap_table(max(int(graph.limits.max()) + 1, found.table.count))
        part, rest = _rows(table, kept), _rows(table, others)
        search = _PriceSearch(price)
        word: Whole = np.zeros(1, np.int64)
        while True:
            charges = _charges(part, price, graph.limits)
            cycle = least_mean_cycle(graph, charges.values, values, precision=precision, pause=pause)
            values = cycle.values
            lower = charges.base + cycle.lower + float(dual_parts(rest, price).sum())
            run = greedy_run(graph, charges.values, values, waiting_values(rest, price), SLOTS + SLOTS // 2)
            made = cut_word(table, np.concatenate([kept, others])[run], SLOTS // 2, SLOTS // 2, SLOTS // 2)
            yield PricedStep(lower, tuple(made.tolist()), tuple(kept.tolist()), graph.states)
            if lower > search.best:
                word = cycle.word
            share = np.count_nonzero(cycle.word == len(kept)) / len(cycle.word)
            following = search.next(price, lower, _wished(rest, price) - share)
            if following is None:
                break
            price = following
        price = search.price
        longest = separate.longest_gaps(tuple(word.tolist()))
        longest[-1] = 1
        limits, _ = grown_limits(graph.limits, lines, longest, lines, best=False)
        if np.array_equal(limits, graph.limits):
            return
        try:
            larger = GapGraph.of(limits, graph.sizes, states, pause)
        except TooManyStates:
            return
        values, graph = carried(larger, graph, values), larger


class _PriceSearch:
    """A search for the maximum of a concave function of the price, by its values and slopes."""

    def __init__(self, price: float) -> None:
        self.best, self.price, self.count = -math.inf, price, 0
        self._below: tuple[float, float, float] | None = None
        self._above: tuple[float, float, float] | None = None

    def next(self, price: float, value: float, slope: float) -> float | None:
        """Choose where to look next: further on, twice as far each time, or where the lines from both sides meet."""
        self.count += 1
        if value > self.best:
            self.best, self.price = value, price
        if self.count >= PRICES or not math.isfinite(value) or slope == 0:
            return None
        if slope > 0:
            self._below = (price, value, slope)
        else:
            self._above = (price, value, slope)
        if self._below is None or self._above is None:
            step = STEP * (abs(price) or 1.0) * 2.0 ** (self.count - 1)
            return price + math.copysign(step, slope)
        (x, f, s), (y, g, t) = self._below, self._above
        meeting = (g - f + s * x - t * y) / (s - t)
        hoped = f + s * (meeting - x)
        if not x < meeting < y or hoped - self.best <= WORTHWHILE * abs(self.best):
            return None
        return meeting


def _rows(table: GapTable, servers: Whole) -> GapTable:
    """Keep the rows of some servers."""
    return GapTable(table.costs[servers], table.slopes[servers], table.limits[servers])


def _charges(part: GapTable, price: float, limits: Whole) -> Charges:
    """Make the charges of the kept servers, chords beyond their limits, and of the one choice that earns the price."""
    kinds = Kinds(tuple((k,) for k in range(part.servers)))
    charges = Charges.of(part, kinds, limits[:-1], np.zeros(part.servers, dtype=bool))
    earned = np.full(charges.values.shape[1], -price)
    return Charges(np.vstack([charges.values, earned]), charges.base)


def _wished(rest: GapTable, price: float) -> float:
    """Add up the densities of the other servers at a price."""
    gaps = 1 + np.count_nonzero(indices(rest) < price, axis=1)
    return float(np.sum(1.0 / gaps, where=gaps < rest.count))


def _largest(found: Densities, states: int, pause: Pause) -> tuple[Whole, GapGraph | None]:
    """Find the servers with the shortest gaps, as many as a graph can keep, and this graph."""
    order = np.argsort(np.where(found.gaps > 0, found.gaps, np.iinfo(np.int64).max), kind="stable")
    order = order[found.gaps[order] > 0]
    best: GapGraph | None = None
    count = 2
    while count < min(len(order) + 1, found.table.servers):
        limits = np.append(found.gaps[order[:count]] + 2, 1)
        try:
            best = GapGraph.of(limits, np.ones_like(limits), states, pause)
        except TooManyStates:
            break
        count += 1
    return order[: count - 1], best


def waiting_values(rest: GapTable, price: float) -> Matrix:
    r"""Compute what each other server gains by a packet now, :math:`e(x) - u(x + 1)`, for gaps x of 1, 2, ...

    u are the values of its gaps under the price: with d the cheapest gap and v what it costs a slot,
    :math:`u(x) = e(d) + \lambda - v (d - x + 1)` up to it, and :math:`e(x) + \lambda - v` beyond.
    """
    costs, gaps = excesses(rest), np.arange(1, rest.count + 1)
    means = (costs + price) / gaps
    chosen = np.argmin(means, axis=1)
    least = means[np.arange(rest.servers), chosen][:, None]
    at = costs[np.arange(rest.servers), chosen][:, None]
    until = at + price - least * (chosen[:, None] + 1 - gaps + 1)
    worth = np.where(gaps <= chosen[:, None] + 1, until, costs + price - least)
    gained: Matrix = costs[:, :-1] - worth[:, 1:]
    return gained


@njit(cache=True)
def greedy_run(graph: GapGraph, charges: Matrix, values: Vector, waiting: Matrix, slots: int) -> Whole:
    """Follow the greedy policy: kept servers by number, and after these the others."""
    following, gaps = graph.following, graph.gaps
    kept = following.shape[1] - 1
    count, table = waiting.shape
    last, run = np.empty(count, np.int64), np.empty(slots, np.int64)
    for m in range(count):
        last[m] = -1 - m
    state = 0
    for slot in range(slots):
        best, chosen = np.inf, 0
        for k in range(kept):
            value = charges[k, gaps[state, k] - 1] + values[following[state, k]]
            if value < best:
                best, chosen = value, k
        beside = values[following[state, kept]]
        for m in range(count):
            value = waiting[m, min(slot - last[m], table) - 1] + beside
            if value < best:
                best, chosen = value, kept + m
        run[slot] = chosen
        if chosen >= kept:
            last[chosen - kept] = slot
        state = following[state, min(chosen, kept)]
    return run
