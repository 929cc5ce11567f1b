r"""Schedules that leave every host in peace for a while after a visit.

Two visits to one host are g slots or more apart: the numbers of their slots differ by g at least, and g = 1 asks for
nothing. There are two levels: each host has a heap of its pages by due date, and hosts are either resting, in a ring of
g places (one host is visited a slot, so that the one visited g slots ago is the one to come back), or ready, in a heap
by the due date of their first page. A page is never put back because its host rests.

Going on for ever takes g hosts. A cycle has to be closed, too: near its end a host is let alone that comes early in the
next turn. With 2 g - 1 hosts there is always another one; with fewer the end may get stuck, and a few other beginnings
are tried. If none leads to an end, hosts are laid out in columns: rows of g slots or more, each host in consecutive
rows of a column and the next, which is always possible where anything is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

from ..protocols import Matrix, Vector, Whole
from .apportionment import whole
from .calendar import GOLDEN, KEY, LAST, LEFT, PRICE, WORTH, in_slices, next_gap, phases, pop, push, sink
from .whittle_index import LIST, choose, enlist, plan_visit

#: Keys of pages that had all their visits: they come when nothing else may.
FAR = 1e15

#: The parts of its time beyond which a host is called busy, and full; slots that no cycle has.
BUSY, FULL, FOR_EVER = 0.9, 0.999, 1e9

#: Beginnings that are tried before hosts are laid out in columns.
BEGINNINGS = 8

#: Places of the state: the slot, hosts ready, pages on the list.
SLOT, READY, LISTED = range(3)


class Hosts(NamedTuple):
    """Pages by host, and where the hosts are.

    Attributes
    ----------
    record, host
        by page: what :mod:`heuristics.sequencing.calendar` keeps, and its host.
    keys, pages, starts
        heaps of pages, and where that of each host begins and ends.
    ready_keys, ready, resting, listed, dues, slopes
        hosts by the keys of their first pages, hosts by the slot of their return, pages compared by index.
    opened, ahead, bonus
        by host: the slot of its first visit in the cycle, -1: none yet; how many slots before they are due its pages
        count as due, and how much their indices are raised.
    """

    record: Matrix
    host: Whole
    keys: Vector
    pages: Whole
    starts: Whole
    ready_keys: Vector
    ready: Whole
    resting: Whole
    listed: Whole
    dues: Vector
    slopes: Vector
    opened: Whole
    ahead: Vector
    bonus: Vector
    state: Whole


def new_hosts(record: Matrix, shares: Vector, host: Whole, gap: int) -> Hosts:
    """Make all hosts ready; `host` numbers them from 0, -1 for pages that are never visited.

    A host that has hardly any time to rest can never make up for a slot that it missed: it goes before the others. One
    that has none is visited whenever it is back, whether a page of it is due or not.
    """
    done = record[:, LEFT] <= 0
    record[done, KEY] = FAR
    if record.shape[1] > PRICE:
        record[done, PRICE] = FAR * FAR
    members = np.flatnonzero(host >= 0)
    taken = np.bincount(host[members], weights=shares[members]) * gap
    busy, full = taken > BUSY, taken > FULL
    count = len(busy)
    bonus = np.zeros(count)
    if record.shape[1] > PRICE:
        bonus[busy] = 2.0 * record[members, WORTH].max()
        record[members, PRICE] -= bonus[host[members]]
    order = members[np.lexsort((record[members, KEY], host[members]))]  # what is sorted is a heap
    starts = np.searchsorted(host[order], np.arange(count + 1))
    ahead = np.where(full, FOR_EVER, np.where(busy, float(gap), 0.0))
    first = record[order[starts[:-1]], KEY] - ahead
    ready = np.argsort(first, kind="stable")
    return Hosts(
        record,
        host,
        record[order, KEY],
        order,
        starts,
        first[ready],
        ready,
        np.full(gap, -1, dtype=np.int64),
        np.empty(LIST, dtype=np.int64),
        np.empty(LIST),
        np.empty(LIST),
        np.full(count, -1, dtype=np.int64),
        ahead,
        bonus,
        np.array([0, count, 0]),
    )


@njit(cache=True)
def closed(opened: int, cycle: int, back: int) -> bool:
    """Whether a host, if visited now, is not back in time for its first visit in the next turn: it is let alone."""
    return cycle > 0 and opened >= 0 and back > opened + cycle


@njit(cache=True)
def polite(hosts: Hosts, cycle: int, by_index: bool, forced: Whole, schedule: Whole) -> int:
    """Fill `schedule` with the pages of the next slots; how many there are is returned, fewer when it got stuck.

    Parameters
    ----------
    hosts, schedule
        As they are, and what is filled.
    cycle
        Slots of the cycle that is to be closed; 0: none.
    by_index
        Whether the largest index is taken (:mod:`heuristics.sequencing.whittle_index`), not the earliest due date.
        Pages come to the list when they are due, not before: a page that waits there keeps others of its host away.
    forced
        The host of every slot; empty: to be chosen.
    """
    record, host, keys, pages, starts = hosts.record, hosts.host, hosts.keys, hosts.pages, hosts.starts
    ready_keys, ready, resting, listed = hosts.ready_keys, hosts.ready, hosts.resting, hosts.listed
    dues, slopes, state = hosts.dues, hosts.slopes, hosts.state
    opened, ahead, bonus = hosts.opened, hosts.ahead, hosts.bonus
    places, most = len(resting), len(listed)
    slot, size, length = state[SLOT], state[READY], state[LISTED]
    filled = 0
    while filled < len(schedule):
        if len(forced) > 0:
            chosen = forced[filled]
        else:
            back = resting[slot % places]
            if back >= 0:
                size = push(ready_keys, ready, size, keys[starts[back]] - ahead[back], back)
                resting[slot % places] = -1
            chosen = -1
            while size > 0 and length < most and (ready_keys[0] <= slot if by_index and length > 0 else chosen < 0):
                first = ready[0]
                size = pop(ready_keys, ready, size)
                if closed(opened[first], cycle, slot + places):
                    continue
                chosen = first
                if by_index:
                    listed[length] = pages[starts[first]]
                    enlist(record, listed[length], 0.0, dues, slopes, length)
                    dues[length] -= ahead[first]
                    length += 1
            if by_index:
                for place in range(length - 1, -1, -1):
                    if closed(opened[host[listed[place]]], cycle, slot + places):
                        length -= 1
                        listed[place], dues[place], slopes[place] = listed[length], dues[length], slopes[length]
                chosen = -1
                if length > 0:
                    place = choose(record, listed, dues, slopes, length, float(slot))
                    chosen = host[listed[place]]
                    length -= 1
                    listed[place], dues[place], slopes[place] = listed[length], dues[length], slopes[length]
            if chosen < 0:
                if by_index and size > 0:
                    continue
                break
        start = starts[chosen]
        page = pages[start]
        schedule[filled] = page
        if opened[chosen] < 0:
            opened[chosen] = slot
        gap = next_gap(record, page, float(slot))
        if by_index:
            record[page, LAST] = slot
            plan_visit(record, page, gap, 0.0)
            record[page, PRICE] -= bonus[chosen]
        else:
            record[page, KEY] = slot + gap
        if record[page, LEFT] <= 0:
            record[page, KEY] = FAR + slot
            if by_index:
                record[page, PRICE] = FAR * FAR
        sink(keys, pages, starts[chosen + 1] - start, record[page, KEY], page, start)
        resting[slot % places] = chosen
        slot += 1
        filled += 1
    state[SLOT], state[READY], state[LISTED] = slot, size, length
    return filled


def capped(shares: Vector, host: Whole, most: float) -> Vector:
    """Reduce shares to no more than `most` for a host; what is cut off goes to the others in proportion."""
    members = host >= 0
    totals = np.bincount(host[members], weights=shares[members])
    scale, full = np.ones(len(totals)), np.zeros(len(totals), dtype=bool)
    while True:
        over = ~full & (scale * totals > most * (1 + 1e-12))
        if not over.any():
            return np.where(members, shares * scale[host], 0.0)
        full |= over
        scale[full] = most / totals[full]
        rest = float(totals[~full].sum())
        if rest > 0:
            scale[~full] = max(1.0 - most * int(full.sum()), 0.0) / rest


def columns(shares: Vector, host: Whole, gap: int, length: int) -> Whole:
    r"""The host of every slot of a cycle, each :math:`\lfloor n/g \rfloor` times at most, never too near to itself.

    The cycle is cut into that many rows. Hosts that come in all rows get a column each; the others follow, down one
    column and on in the next, so that a host comes back after a row or more, less at most one slot where it has skipped
    a row in between.
    """
    rows = length // gap
    members = host >= 0
    totals = np.bincount(host[members], weights=shares[members])
    visits = np.minimum(np.floor(length * totals / totals.sum()).astype(np.int64), rows)
    order = np.argsort(-totals, kind="stable")
    left = length - int(visits.sum())
    while left > 0:
        for one in order:
            if left > 0 and visits[one] < rows:
                visits[one] += 1
                left -= 1
    # Longer rows first, so that the column that only they have is one of consecutive rows like the others.
    widths = np.full(rows, length // rows)
    widths[: length % rows] += 1
    begins = np.cumsum(widths) - widths
    cells = np.concatenate([begins[widths > column] + column for column in range(int(widths[0]))])
    word = np.empty(length, dtype=np.int64)
    order = np.argsort(-visits, kind="stable")
    word[cells] = np.repeat(order, visits[order])
    return word


def closing_length(length: int, hosts: int, gap: int) -> int:
    r"""Find the longest cycle, `length` at most, that so many hosts can fill: :math:`H \lfloor n/g \rfloor \ge n`."""
    if hosts < gap:
        raise ValueError(
            f"host_gap {gap} needs {gap} hosts or more with pages that are visited, but there are only {hosts}."
        )
    if length < gap:
        raise ValueError(f"length must be at least host_gap, which is {gap}, but it is {length}.")
    while hosts * (length // gap) < length:
        length -= 1
    return length


def hosts_and_gap(hosts: Sequence[int] | Whole | None, host_gap: int, shares: Vector) -> tuple[Whole, int]:
    """Number hosts from 0 among those with a page that has a share, -1 for other pages or no rule; and the gap.

    The gap is the least difference between the slots of two visits to one host; 1, which 0 stands for, too, is no rule.
    """
    gap = max(whole("host_gap", host_gap, least=0), 1)
    numbered = np.full(len(shares), -1, dtype=np.int64)
    if hosts is None and gap > 1:
        raise ValueError(f"host_gap is {gap}, but no hosts are given.")
    if hosts is not None:
        given = np.asarray(hosts)
        if given.shape != shares.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"hosts must be {len(shares)} whole numbers, one for each page, but they have shape {given.shape} "
                f"and type {given.dtype}."
            )
        if gap > 1:
            members = shares > 0
            numbered[members] = np.unique(given[members], return_inverse=True)[1]
    return numbered, gap


def polite_cycle(
    make_record: Callable[[Vector], Matrix], shares: Vector, host: Whole, gap: int, length: int, by_index: bool = False
) -> Whole:
    """Make a cycle that keeps the gap between visits to a host, by index or by due date.

    `make_record` gives the records of pages that begin at given phases.
    """
    begun = phases(shares, host)
    schedule, free = np.empty(length, dtype=np.int64), np.empty(0, dtype=np.int64)
    for attempt in range(BEGINNINGS + 1):
        hosts = new_hosts(make_record(np.modf(begun + attempt * GOLDEN**2)[0]), shares, host, gap)
        forced = free if attempt < BEGINNINGS else columns(shares, host, gap, length)
        if in_slices(partial(_turn, hosts, length, by_index, forced), schedule) == length:
            break
    return schedule


def _turn(hosts: Hosts, length: int, by_index: bool, forced: Whole, slot: int, some: Whole) -> int:
    return int(polite(hosts, length, by_index, forced[slot : slot + len(some)], some))
