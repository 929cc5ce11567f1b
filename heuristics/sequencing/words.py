r"""Cycles by rules that need no queue of due dates: nested regular words, the golden ratio, powers of two.

All take whole visits :math:`m_i` that add up to the length n of the cycle, and whole numbers decide everything: what
they make is the same on every machine. Long cycles are made piece by piece, and between two pieces an interrupt or a
clock is heard (:mod:`heuristics.sequencing.calendar`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from .. import interrupting
from ..protocols import Vector, Whole
from .calendar import in_slices, pop, push

#: Slots that are written before an interrupt is heard.
WORK = 1 << 24

#: :math:`2^{64} / \phi`, odd: multiplied by the number of a slot, modulo :math:`2^{64}`, it is frac(t / phi).
FIBONACCI_HASH = 11400714819323198485

#: Arrays of whole numbers that belong together.
Arrays: TypeAlias = tuple[Whole, ...]

#: Keys and pages of a heap, and how many there are.
Queue: TypeAlias = tuple[Vector, Whole, Whole]

# -- regular words ----------------------------------------------------------------------------------------------------


def nested_words(counts: Whole) -> Whole:
    r"""Nest regular words in regular words, along the tree of Huffman.

    The two rarest are put together again and again, as by Huffman. From the root down, of the M visits of a pair its
    first part, with m of them, gets those numbered j with :math:`\lfloor (j+1) m / M \rfloor > \lfloor j m / M
    \rfloor`, a regular word. The work is that of writing the cycle in Huffman's code: n times the entropy of f.
    """
    order = np.argsort(counts)
    order = order[np.searchsorted(counts[order], 1) :]
    leaves = len(order)
    size, first, second = _huffman(counts[order])
    length = int(size[2 * leaves - 2])
    schedule, room = np.empty(length, np.int64), (np.arange(length), np.empty(length, np.int64))
    waiting = np.full(2 * leaves, 2 * leaves - 2), np.zeros(2 * leaves, np.int64)
    open_nodes = 1
    while open_nodes > 0:
        interrupting.check()
        open_nodes = _split((order, size, first, second), room, waiting, open_nodes, schedule, WORK)
    return schedule


@njit(cache=True)
def _huffman(counts: Whole) -> tuple[Whole, Whole, Whole]:
    """Find size and both parts of each node of Huffman's tree over rising counts: leaves first, the root last."""
    leaves = len(counts)
    size, first, second = np.empty(2 * leaves, np.int64), np.zeros(2 * leaves, np.int64), np.zeros(2 * leaves, np.int64)
    size[:leaves] = counts
    # Heads of two queues by size: leaves, and pairs; of equals the pair, so that pages stay near the root.
    leaf, inner = 0, leaves
    for node in range(leaves, 2 * leaves - 1):
        for part in (first, second):
            if leaf < leaves and (inner == node or size[leaf] < size[inner]):
                part[node] = leaf
                leaf += 1
            else:
                part[node] = inner
                inner += 1
        size[node] = size[first[node]] + size[second[node]]
    return size, first, second


@njit(cache=True)
def _split(tree: Arrays, room: Arrays, waiting: Arrays, open_nodes: int, schedule: Whole, work: int) -> int:
    """Hand the slots of open nodes down to their parts, until so many are handed down; nodes that are open then."""
    (order, size, first, second), (slots, aside), (nodes, starts) = tree, room, waiting
    leaves = len(order)
    while open_nodes > 0 and work > 0:
        open_nodes -= 1
        work -= size[nodes[open_nodes]]
        node, start = nodes[open_nodes], starts[open_nodes]
        if node < leaves:
            for place in range(start, start + size[node]):
                schedule[slots[place]] = order[node]
            continue
        part, whole = size[first[node]], size[node]
        taken, put_aside, level = start, 0, 0
        for place in range(start, start + whole):
            level += part
            if level >= whole:
                level -= whole
                slots[taken] = slots[place]
                taken += 1
            else:
                aside[put_aside] = slots[place]
                put_aside += 1
        slots[taken : taken + put_aside] = aside[:put_aside]
        nodes[open_nodes], starts[open_nodes] = first[node], start
        nodes[open_nodes + 1], starts[open_nodes + 1] = second[node], taken
        open_nodes += 2
    return open_nodes


# -- Tijdeman's chairmen ----------------------------------------------------------------------------------------------


def chairmen(counts: Whole) -> Whole:
    r"""Tijdeman's assignment of chairmen: after t slots no page is :math:`1 - 1/(2N-2)` visits off t f.

    With :math:`b = \lceil n / (2N-2) \rceil` visit x = 0, 1, ... of page i must fall on a slot (from 1) between
    :math:`\lceil (n x + b) / m_i \rceil` and :math:`\lfloor (n (x+1) - b) / m_i \rfloor`; of those that may be visited
    the one with the earliest deadline is, and Tijdeman proved that no deadline is missed.
    """
    pages, length = len(counts), int(counts.sum())
    members = int((counts > 0).sum())
    slack = -(-length // (2 * members - 2)) if members > 1 else 0
    schedule, done = np.empty(length, np.int64), np.zeros(pages, np.int64)
    heads, chain = np.full(length + 2, -1, np.int64), np.full(pages, -1, np.int64)
    _first_releases(counts, slack, heads, chain)
    ring, queue = (done, heads, chain), (np.empty(pages), np.empty(pages, np.int64), np.zeros(1, np.int64))
    in_slices(lambda slot, some: _elect(counts, slack, length, ring, queue, slot, some), schedule)
    return schedule


@njit(cache=True)
def _first_releases(counts: Whole, slack: int, heads: Whole, chain: Whole) -> None:
    for page in range(len(counts)):
        if counts[page] > 0:
            release = max(-(-slack // counts[page]), 1)
            chain[page], heads[release] = heads[release], page


@njit(cache=True)
def _elect(
    counts: Whole,
    slack: int,
    length: int,
    ring: Arrays,
    queue: tuple[Vector, Whole, Whole],
    begin: int,
    schedule: Whole,
) -> int:
    """Fill in the slots after `begin`; how many there are."""
    (done, heads, chain), (keys, waiting, sizes) = ring, queue
    size = sizes[0]
    for slot in range(begin + 1, begin + len(schedule) + 1):
        page = heads[slot]
        while page >= 0:
            deadline = (length * (done[page] + 1) - slack) // counts[page]
            size = push(keys, waiting, size, deadline, page)
            page = chain[page]
        page = waiting[0]
        size = pop(keys, waiting, size)
        schedule[slot - 1 - begin] = page
        done[page] += 1
        if done[page] < counts[page]:
            release = max(-(-(length * done[page] + slack) // counts[page]), slot + 1)
            chain[page], heads[release] = heads[release], page
    sizes[0] = size
    return len(schedule)


# -- the golden ratio -------------------------------------------------------------------------------------------------


def fibonacci_below(length: int) -> tuple[int, int, int]:
    r"""Find the largest Fibonacci number :math:`F_k \le` `length`, the one before it, and k (:math:`F_1 = F_2 = 1`).

    Parameters
    ----------
    length
        1 or more.

    Returns
    -------
    number, before, place : int
        :math:`F_k`, :math:`F_{k-1}` and k.
    """
    before, number, place = 1, 1, 2
    while before + number <= length:
        before, number, place = number, before + number, place + 1
    return number, before, place


def golden_word(counts: Whole, length: int, before: int, even: bool) -> Whole:
    r"""Find the page of each slot by the golden ratio, without a sort.

    Visit j = 1, ..., :math:`F_k`, counted through the pages, falls on the slot that is the rank of
    :math:`\mathrm{frac}(j / \phi)`. That is :math:`j F_{k-1} \bmod F_k`, but for even k the last point,
    :math:`\mathrm{frac}(F_k / \phi) = 1 - \phi^{-k}`, is the largest instead of the smallest: all are one slot earlier.
    """
    schedule = np.empty(length, np.int64)
    slot = length - 1 if even else 0
    for first, last in _pieces(counts):
        slot = _golden_piece(counts, first, last, before, slot, schedule)
    return schedule


@njit(cache=True)
def _golden_piece(counts: Whole, first: int, last: int, before: int, slot: int, schedule: Whole) -> int:
    length = len(schedule)
    for page in range(first, last):
        for _ in range(counts[page]):
            slot += before
            if slot >= length:
                slot -= length
            schedule[slot] = page
    return slot


def golden_page(cumulative: ArrayLike, slot: ArrayLike) -> Whole:
    r"""Find the page of any slot, without memory: that in whose stretch of [0, 1) frac(:math:`t/\phi`) lies.

    Any worker can compute any slot. frac(:math:`t/\phi`) is found by 64-bit Fibonacci hashing.

    Parameters
    ----------
    cumulative
        Sums of the frequencies: ``np.cumsum(frequencies)``.
    slot
        One slot or many, from 0.

    Returns
    -------
    array of int
        Page numbers, in the shape of `slot`.
    """
    sums = np.asarray(cumulative, dtype=np.float64)
    slots = np.atleast_1d(np.asarray(slot)).astype(np.uint64)
    points = (slots * np.uint64(FIBONACCI_HASH)) >> np.uint64(11)  # modulo 2 ** 64 by overflow, then 53 bits
    found: Whole = np.searchsorted(sums, points.astype(np.float64) * (sums[-1] * 2.0**-53), side="right")
    return found.reshape(np.shape(slot))


# -- powers of two ----------------------------------------------------------------------------------------------------


@njit(cache=True)
def doubled(exponents: Whole, order: Whole, free: int, depth: int) -> None:
    r"""Halve periods :math:`2^{k_i}` in the order given, round after round, until the `free` slots of a cycle are used.

    A page that does not fit once never will. It always ends: the rarest pages fit as long as any slot is free.
    """
    while free > 0:
        for page in order:
            more = np.int64(1) << (depth - exponents[page])
            if exponents[page] > 0 and more <= free:
                exponents[page] -= 1
                free -= more


def even_word(exponents: Whole, order: Whole, depth: int) -> Whole:
    r"""Slots for periods :math:`2^{k_i}`, k rising along `order`, :math:`\sum_i 2^{-k_i} = 1`; period -1: no visit.

    As a buddy allocator does: places of the cycle, written with their bits reversed, are handed out one stretch after
    the other, and a stretch of :math:`2^{K-k}` reversed places is every :math:`2^k`-th slot.
    """
    schedule = np.empty(1 << depth, np.int64)
    members = order[exponents[order] >= 0]
    sizes = np.left_shift(1, depth - exponents[members])
    place = 0
    for first, last in _pieces(sizes):
        _even_piece(exponents, members[first:last], depth, place, schedule)
        place += int(sizes[first:last].sum())
    return schedule


def _pieces(sizes: Whole) -> Iterator[tuple[int, int]]:
    """Neighbours that have some `WORK` to do together, the first and the one after the last; an interrupt is heard."""
    ends, first = np.cumsum(sizes), 0
    while first < len(sizes):
        interrupting.check()
        done = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, done + WORK, side="right")), first + 1)
        yield first, last
        first = last


@njit(cache=True)
def _even_piece(exponents: Whole, order: Whole, depth: int, place: int, schedule: Whole) -> None:
    for page in order:
        slot = 0
        for bit in range(depth):
            slot |= ((place >> bit) & 1) << (depth - 1 - bit)
        period = 1 << exponents[page]
        schedule[slot::period] = page
        place += 1 << (depth - exponents[page])


def power_exponents(shares: Vector, depth: int) -> Whole:
    r"""Exponents :math:`k_i \le` `depth` with :math:`\sum 2^{-k_i} = 1`; -1 for pages never visited.

    All shares are rounded down to :math:`2^{-k}`, and then doubled, those nearest to their double first, as long as
    they fit. Shares below :math:`2^{-depth}` are rounded up to it, as many as fit, the largest first.
    """
    exponents = 1 - np.frexp(shares)[1].astype(np.int64)  # 2 ** -exponent <= share < 2 ** (1 - exponent)
    rare = np.flatnonzero((shares > 0) & (exponents > depth))
    exponents[shares <= 0] = -1
    exponents[rare] = -1
    sizes = np.left_shift(1, depth - exponents[exponents >= 0])
    free = (1 << depth) - int(sizes.sum())
    kept = rare[np.argsort(-shares[rare], kind="stable")][:free]
    exponents[kept] = depth
    members = np.flatnonzero(exponents >= 0)
    rounded = np.ldexp(1.0, -exponents[members])
    order = members[np.argsort(-shares[members] / rounded, kind="stable")]
    doubled(exponents, order, free - len(kept), depth)
    return exponents
