r"""Cycles of visits changed slot by slot, in compiled code.

With the gaps :math:`d_{ij}` of page i in cycles of T slots its cost is :math:`c_i r_i`, where :math:`q_i r_i = (q_i -
\ell_i) + \frac1T \sum_j E(\ell_i d_{ij})`, :math:`E(x) = e^{-x} - 1 + x` (:mod:`queueing.freshness.staleness`). One
more visit splits a gap, one less joins two: a slot is changed at the price of looking from it to the visits before and
after, of two pages, and of their hosts. Costs of pages are summed up with what rounding leaves over, so that a page
that was never visited, and cost 1, leaves no error behind when it costs 1e-9.

A step is a number, and the same step again undoes it (`optmodels.freshness.cycles.walk` says which number is which).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from queueing.processes import exp_excess

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Places of the sums: of costs, what rounding left over, amounts by which rules are broken, and of the first two of
#: these how many pages and hosts break them.
COST, REST, SHORT, BEYOND, NEAR, SPLIT, PAGES_SHORT, HOSTS_BEYOND = range(8)

#: Visits may miss what a rule asks for by this much, relative: `optmodels.freshness.rules.TOLERANCE`.
TOLERANCE = 1e-9


class Pages(NamedTuple):
    """What matters about pages and what is asked of visits to them.

    Attributes
    ----------
    weights, loads, decays, deficits
        as in `queueing.freshness.Traits`, the weights times the price of the obsolescence.
    least
        least frequency of each page; empty: nothing is asked.
    host
        of each page; empty: nothing is asked of hosts.
    shares
        most visits per slot to each host.
    gap
        slots between visits to one host; 1: no rule.
    idle
        whether a slot without a visit is one of the letters.
    """

    weights: Floats
    loads: Floats
    decays: Floats
    deficits: Floats
    least: Floats
    host: Ints
    shares: Floats
    gap: int
    idle: int


class Cycles(NamedTuple):
    """Where a walk stands.

    Attributes
    ----------
    word
        by robot and slot: the page, -1 for none.
    visits
        in a cycle, by page.
    owner
        the robot that visits the page, -1: none.
    missed
        sum over gaps of E, by page.
    costs
        by page.
    at_host
        visits by robot and host.
    sums
        see the names above.
    """

    word: Ints
    visits: Ints
    owner: Ints
    missed: Floats
    costs: Floats
    at_host: Ints
    sums: Floats


@njit(cache=True)
def stand(pages: Pages, word: Ints) -> Cycles:
    """Begin with cycles, visit by visit."""
    count, robots = len(pages.weights), word.shape[0]
    cycles = Cycles(
        np.full_like(word, -1),
        np.zeros(count, np.int64),
        np.full(count, -1),
        np.zeros(count),
        np.zeros(count),
        np.zeros((robots, len(pages.shares)), np.int64),
        np.zeros(8),
    )
    for page in range(count):
        cycles.costs[page] = _cost(pages, cycles, page, word.shape[1])
        _add(cycles.sums, cycles.costs[page])
        if len(pages.least) > 0:
            _count_short(pages, cycles, page, word.shape[1], 1)
    for robot in range(robots):
        for slot in range(word.shape[1]):
            if word[robot, slot] >= 0:
                put(pages, cycles, robot, slot, word[robot, slot])
    return cycles


@njit(cache=True)
def _add(sums: Floats, value: float) -> None:
    """Add to the sum of costs without loss (Knuth's sum of two)."""
    before = sums[COST]
    after = before + value
    part = after - before
    sums[REST] += (before - (after - part)) + (value - part)
    sums[COST] = after


@njit(cache=True)
def _cost(pages: Pages, cycles: Cycles, page: int, slots: int) -> float:
    if pages.loads[page] == 0.0:
        return 0.0
    if cycles.visits[page] == 0:
        return float(pages.weights[page])
    rate = (pages.deficits[page] + max(0.0, cycles.missed[page]) / slots) / pages.loads[page]
    return float(pages.weights[page] * min(1.0, rate))


@njit(cache=True)
def _count_short(pages: Pages, cycles: Cycles, page: int, slots: int, sign: int) -> None:
    """Count, or no longer, by how much a page has too few visits."""
    least = pages.least[page]
    miss = least - cycles.visits[page] / slots
    if miss > TOLERANCE * least:
        cycles.sums[SHORT] += sign * miss
        cycles.sums[PAGES_SHORT] += sign


@njit(cache=True)
def _count_beyond(pages: Pages, cycles: Cycles, host: int, slots: int, sign: int) -> None:
    """Count, or no longer, by how much a host has too many visits."""
    made = cycles.at_host[:, host].sum() / slots
    more = made - pages.shares[host]
    if more > TOLERANCE * made:
        cycles.sums[BEYOND] += sign * more
        cycles.sums[HOSTS_BEYOND] += sign


@njit(cache=True)
def _next_visit(row: Ints, slot: int, page: int) -> int:
    """Slots from a slot to the next visit to a page, the length of the cycle if there is no other."""
    slots = len(row)
    for ahead in range(1, slots):
        at = slot + ahead
        if row[at if at < slots else at - slots] == page:
            return ahead
    return slots


@njit(cache=True)
def _last_visit(row: Ints, slot: int, page: int) -> int:
    slots = len(row)
    for back in range(1, slots):
        if row[slot - back] == page:  # before the first slot stands the last
            return back
    return slots


@njit(cache=True)
def _near_visits(pages: Pages, row: Ints, slot: int, host: int) -> int:
    """Visits too near that a visit to a host in this slot makes: it is one, or the one after it, or both."""
    slots, gap = len(row), pages.gap
    ahead = back = slots
    for step in range(1, slots):
        at = slot + step
        page = row[at if at < slots else at - slots]
        if page >= 0 and pages.host[page] == host:
            ahead = step
            break
    if ahead == slots:  # the only one
        return 1 if slots < gap else 0
    for step in range(1, slots):
        page = row[slot - step]
        if page >= 0 and pages.host[page] == host:
            back = step
            break
    without = 1 if ahead + back < gap else 0
    return (1 if ahead < gap else 0) + (1 if back < gap else 0) - without


@njit(cache=True)
def put(pages: Pages, cycles: Cycles, robot: int, slot: int, page: int) -> None:
    """Visit a page in a slot that has no visit."""
    _change(pages, cycles, robot, slot, page, 1)


@njit(cache=True)
def take(pages: Pages, cycles: Cycles, robot: int, slot: int) -> None:
    """Leave a slot without its visit."""
    _change(pages, cycles, robot, slot, cycles.word[robot, slot], -1)


@njit(cache=True)
def _change(pages: Pages, cycles: Cycles, robot: int, slot: int, page: int, more: int) -> None:
    """Add a visit or take it away: one gap becomes two, or two become one."""
    row, sums, slots, decay = cycles.word[robot], cycles.sums, cycles.word.shape[1], pages.decays[page]
    if more < 0:
        row[slot] = -1
    others = cycles.visits[page] - (1 if more < 0 else 0)
    if others == 0:
        cycles.missed[page] = exp_excess(decay * slots) if more > 0 else 0.0
        cycles.owner[page] = robot if more > 0 else -1
    else:
        ahead, back = _next_visit(row, slot, page), _last_visit(row, slot, page)
        whole = exp_excess(decay * (ahead + back))
        cycles.missed[page] += more * (exp_excess(decay * ahead) + exp_excess(decay * back) - whole)
    if len(pages.least) > 0:
        _count_short(pages, cycles, page, slots, -1)
    cycles.visits[page] += more
    if len(pages.least) > 0:
        _count_short(pages, cycles, page, slots, 1)
    _add(sums, -cycles.costs[page])
    cycles.costs[page] = _cost(pages, cycles, page, slots)
    _add(sums, cycles.costs[page])
    if len(pages.host) > 0:
        host = pages.host[page]
        _count_beyond(pages, cycles, host, slots, -1)
        if pages.gap > 1:
            sums[NEAR] += more * _near_visits(pages, row, slot, host)
            sums[SPLIT] -= _parted(cycles, host)
        cycles.at_host[robot, host] += more
        _count_beyond(pages, cycles, host, slots, 1)
        if pages.gap > 1:
            sums[SPLIT] += _parted(cycles, host)
    if more > 0:
        row[slot] = page


@njit(cache=True)
def _parted(cycles: Cycles, host: int) -> int:
    """Count the robots beyond the first that visit a host."""
    robots = 0
    for robot in range(cycles.at_host.shape[0]):
        if cycles.at_host[robot, host] > 0:
            robots += 1
    return max(robots - 1, 0)


@njit(cache=True)
def broken(cycles: Cycles) -> float:
    """Sum up the amounts by which rules are broken; what is rounding is not."""
    sums, amount = cycles.sums, 0.0
    if sums[PAGES_SHORT] > 0.0:
        amount += sums[SHORT]
    if sums[HOSTS_BEYOND] > 0.0:
        amount += sums[BEYOND]
    return float(amount + sums[NEAR] + sums[SPLIT])


@njit(cache=True)
def price(cycles: Cycles, factor: float) -> float:
    """The penalised objective, the penalty times a factor."""
    cost = cycles.sums[COST] + cycles.sums[REST]
    amount = broken(cycles)
    return float(cost + factor * (1.0 + abs(cost)) * amount) if amount > 0.0 else float(cost)


@njit(cache=True)
def step(pages: Pages, cycles: Cycles, number: int) -> None:
    """Make a step; one that would give a page two robots is none."""
    robots, slots = cycles.word.shape
    letters, count = len(pages.weights) + pages.idle, len(pages.weights)
    if number < robots * slots * letters:
        robot, slot, mirror = number // letters // slots, number // letters % slots, number % letters
        before = cycles.word[robot, slot]
        after = (mirror - (before + pages.idle)) % letters - pages.idle
        if after == before or (after >= 0 and cycles.owner[after] >= 0 and cycles.owner[after] != robot):
            return
        if before >= 0:
            take(pages, cycles, robot, slot)
        if after >= 0:
            put(pages, cycles, robot, slot, after)
        return
    number -= robots * slots * letters
    if number < robots * slots * slots:
        robot, one, other = number // slots // slots, number // slots % slots, number % slots
        first, second = cycles.word[robot, one], cycles.word[robot, other]
        if first == second:
            return
        if first >= 0:
            take(pages, cycles, robot, one)
        if second >= 0:
            take(pages, cycles, robot, other)
        if first >= 0:
            put(pages, cycles, robot, other, first)
        if second >= 0:
            put(pages, cycles, robot, one, second)
        return
    number -= robots * slots * slots
    _exchange(pages, cycles, number // count, number % count)


@njit(cache=True)
def _exchange(pages: Pages, cycles: Cycles, one: int, other: int) -> None:
    """Let two pages change places wherever they stand."""
    robots, slots = cycles.word.shape
    if one == other:
        return
    for robot in range(robots):
        for slot in range(slots):
            page = cycles.word[robot, slot]
            if page in (one, other):
                take(pages, cycles, robot, slot)
                cycles.word[robot, slot] = -2 - page  # remembered, and nobody's yet
    for robot in range(robots):
        for slot in range(slots):
            page = -2 - cycles.word[robot, slot]
            if page >= 0:
                cycles.word[robot, slot] = -1
                put(pages, cycles, robot, slot, other if page == one else one)


@njit(cache=True)
def follow(
    pages: Pages, cycles: Cycles, moves: Ints, tolerances: Floats, below: float, factor: float
) -> tuple[int, Ints, float]:
    """Make each move and keep it if it costs no more than its tolerance; how many, the best feasible word, its cost."""
    kept, best, lowest = 0, cycles.word.copy(), np.inf
    here = price(cycles, factor)
    for index in range(len(moves)):
        for number in moves[index]:
            if number >= 0:
                step(pages, cycles, number)
        there = price(cycles, factor)
        if there - here <= tolerances[index] or there == here:
            kept, here = kept + 1, there
            if there < below and there < lowest and broken(cycles) == 0.0:
                lowest = there
                best[:] = cycles.word
            continue
        for number in moves[index][::-1]:
            if number >= 0:
                step(pages, cycles, number)
        here = price(cycles, factor)
    return kept, best, lowest
