r"""The gaps of all servers as states of a graph: routing is a walk on it, the best policy a cycle of least mean cost.

In a state every server has a gap :math:`x_m`, the slots since its last packet; sending the next one to server m costs
:math:`f_m(x_m)`, sets its gap to 1, and all others grow by one. To make the graph finite a gap of :math:`B_m` *or more*
is one thing, the server *saturated*, and what it costs to leave it is charged along a line that is nowhere above
:math:`f_m` beyond :math:`B_m`. Lines with slope :math:`A_m` are charged as :math:`A_m` a slot, whatever is done, and

.. math:: e_m(d) = f_m(d) - A_m d, \quad d < B_m, \qquad E_m \text{ at } B_m

when the server is chosen. There are two such lines:

* the *chord* through the costs of :math:`B_m` and :math:`B_m + 1`, below :math:`f_m` beyond because that is convex:
  gaps up to :math:`B_m + 1` are exact;
* the *asymptote* :math:`a_m d + C_m`, where there is one: gaps below :math:`B_m` are exact, and so is a server never
  used.

Either way the least mean cost on the graph is a lower bound over all policies; it is the least cost of all if its cycle
has exact gaps only. Limits are as small as they can be, each server has its own: a fast one needs gaps of 2 to 4, a
slow one of 50.

Servers with the same costs take turns: of two gaps x < y the longer one is closed, since
:math:`f(y) + f(x + k) \le f(x) + f(y + k)` and names do not matter afterwards. So a state keeps their gaps in falling
order, and there is one choice for each *kind* of server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..protocols import Matrix, Vector, Whole
from .problem import GapTable, Pause, no_pause

Links: TypeAlias = NDArray[np.int32]
Short: TypeAlias = NDArray[np.uint16]

#: States looked at between two looks at the clock, and rooms for states in the beginning.
SLICE, ROOM = 200_000, 1 << 12

#: Numbers of states are products of limits and have to stay below this.
KEYS = 2.0**62

#: Longest gaps that are told apart: they are kept in 16 bits.
LONGEST = int(np.iinfo(np.uint16).max)


class TooManyStates(Exception):  # noqa: N818 - it ends the growth of graphs, it is not an error
    """Raised when a graph has more states than were allowed."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Servers with the same costs: kind k has ``members[k]``.

    Parameters
    ----------
    members
        The servers of each kind.

    Examples
    --------
    >>> kinds = Kinds(((0, 2), (1,)))
    >>> kinds.sizes.tolist(), kinds.servers(np.array([0, 1]))
    ([2, 1], (0, 1, 2, 1))
    """

    members: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, table: GapTable) -> Kinds:
        """Find the servers whose rows are the same."""
        found: dict[bytes, list[int]] = {}
        for m, row in enumerate(np.column_stack([table.costs, table.slopes, table.limits])):
            found.setdefault(row.tobytes(), []).append(m)
        return cls(tuple(tuple(members) for members in found.values()))

    @property
    def firsts(self) -> Whole:
        """One server of each kind."""
        return np.array([members[0] for members in self.members])

    @property
    def sizes(self) -> Whole:
        """How many servers each kind has."""
        return np.array([len(members) for members in self.members])

    def spread(self, values: Whole | NDArray[np.bool_]) -> tuple[int, ...]:
        """Numbers of kinds as numbers of servers."""
        placed = {m: int(values[k]) for k, members in enumerate(self.members) for m in members}
        return tuple(placed[m] for m in range(len(placed)))

    def servers(self, word: Whole) -> tuple[int, ...]:
        """A word of servers for a word of kinds, as often repeated as members need to take equal turns."""
        visits = np.bincount(word, minlength=len(self.members))
        repeats = int(np.lcm.reduce(self.sizes // np.gcd(visits, self.sizes)))
        turns = [cycle(members) for members in self.members]
        return tuple(next(turns[k]) for k in word.tolist() * repeats)

    def longest_gaps(self, word: tuple[int, ...]) -> Whole:
        """The longest gap of each kind of server in a word; 0 if one of them is never used."""
        letters, longest = np.array(word), np.zeros(len(self.members), np.int64)
        for k, members in enumerate(self.members):
            slots = [np.flatnonzero(letters == m) for m in members]
            if all(len(each) for each in slots):
                longest[k] = max(int(np.diff(each, append=each[0] + len(letters)).max()) for each in slots)
        return longest


class Charges(NamedTuple):
    """What is charged on a graph of gaps.

    Attributes
    ----------
    values
        :math:`e_k(1), .., E_k`, a row for each kind of server, filled up with its last entry.
    base
        What all servers together are charged a slot, whatever is done.

    Examples
    --------
    >>> table = GapTable(np.array([[1.0, 4.0, 9.0]] * 2), np.full(2, np.inf), np.full(2, np.nan))
    >>> charges = Charges.of(table, Kinds(((0,), (1,))), np.array([2, 2]), np.zeros(2, dtype=bool))
    >>> charges.values.tolist(), charges.base
    ([[-4.0, -6.0], [-4.0, -6.0]], 10.0)
    """

    values: Matrix
    base: float

    @classmethod
    def of(cls, table: GapTable, kinds: Kinds, limits: Whole, asymptotic: NDArray[np.bool_]) -> Charges:
        """Charge the costs of a table, which has gaps up to the largest limit and one more.

        Gaps of limit :math:`B_k` or more are charged along the asymptote where `asymptotic`, else along the chord.
        """
        values = np.empty((len(limits), int(limits.max())))
        slopes = np.empty(len(limits))
        for k, m in enumerate(kinds.firsts):
            b = int(limits[k])
            row = table.costs[m]
            slopes[k] = table.slopes[m] if asymptotic[k] else row[b] - row[b - 1]
            values[k, :b] = row[:b] - slopes[k] * np.arange(1, b + 1)
            values[k, b - 1 :] = table.limits[m] if asymptotic[k] else values[k, b - 1]
        return cls(values, float(np.dot(slopes, kinds.sizes)))


class GapGraph(NamedTuple):
    """States that can occur, from the one in which all servers are saturated.

    Attributes
    ----------
    following
        The state after each choice, a row for each state, a column for each kind of server.
    gaps
        The gap that this choice closes: the longest one of its kind.
    limits
        :math:`B_k` of each kind.
    sizes
        Servers of each kind.
    keys, places
        The gaps of each state as one number, and where in a hash table they stand.

    Examples
    --------
    >>> graph = GapGraph.of(limits=np.array([2, 2]), sizes=np.array([1, 1]), most=100)
    >>> graph.states, graph.following[0].tolist(), graph.gaps[0].tolist()
    (3, [1, 2], [2, 2])
    """

    following: Links
    gaps: Short
    limits: Whole
    sizes: Whole
    keys: Whole
    places: Links

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.following)

    @classmethod
    def of(cls, limits: Whole, sizes: Whole, most: int, pause: Pause = no_pause) -> GapGraph:
        """Build the graph; `pause` is called a few times a second, and may raise.

        Raises
        ------
        TooManyStates
            If there are more states than `most`.
        """
        if float(np.dot(np.log(limits.astype(float)), sizes)) > math.log(KEYS) or limits.max() > LONGEST:
            raise TooManyStates
        kinds, room, count, done = len(limits), 0, 1, 0
        keys = np.array([np.prod(np.repeat(limits, sizes)) - 1])  # all saturated
        following, gaps = np.empty((1, kinds), np.int32), np.empty((1, kinds), np.uint16)
        while done < count or count + kinds > room:
            if count + kinds > room:
                if room >= most:
                    raise TooManyStates
                room = min(4 * room, most + kinds) if room else min(ROOM, most)
                keys, following = np.resize(keys, room), np.resize(following, (room, kinds))
                gaps = np.resize(gaps, (room, kinds))
                graph = cls(following, gaps, limits, sizes, keys, np.full(2 << (room - 1).bit_length(), -1, np.int32))
                rehash(graph.places, keys, count)
            pause()
            count, done = expand(graph, count, done, min(done + SLICE, count))
        if 2 * count < room:  # give back what was not needed
            following, gaps, keys = following[:count].copy(), gaps[:count].copy(), keys[:count].copy()
        return cls(following[:count], gaps[:count], limits, sizes, keys[:count], graph.places)


def grown_limits(
    limits: Whole, asymptotic: NDArray[np.bool_], longest: Whole, finite: NDArray[np.bool_], best: bool
) -> tuple[Whole, NDArray[np.bool_]]:
    """Find limits and lines with which the gaps of a cycle would be charged exactly; unchanged where they are.

    Parameters
    ----------
    limits, asymptotic
        Of each kind of server.
    longest
        Gaps of each kind in the cycle; 0: never used.
    finite
        Where there are asymptotes.
    best
        Whether no better word is known: then never to use a server may be right.
    """
    limits, asymptotic = limits.copy(), asymptotic.copy()
    for k, (limit, gap) in enumerate(zip(limits.tolist(), longest.tolist(), strict=True)):
        if gap == 0:
            if asymptotic[k]:
                continue
            if best and finite[k]:
                asymptotic[k] = True
            else:
                limits[k] += max(2, limit // 8)
        elif gap > (limit - 1 if asymptotic[k] else limit + 1):
            asymptotic[k] = False
            # Not all at once: a cycle that is too cheap may have gaps that no good one has.
            limits[k] = max(min(gap - 1, limit + max(2, limit // 2)), limit + max(1, limit // 16))
    return limits, asymptotic


@njit(cache=True)
def insert(places: Links, keys: Whole, count: int, key: int) -> tuple[int, int]:
    """Find the state with this key, or make it number `count`; its number, and how many there are then."""
    mask = len(places) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64(mixed >> np.uint64(32)) & mask
    while True:
        found = places[place]
        if found < 0:
            places[place] = count
            keys[count] = key
            return count, count + 1
        if keys[found] == key:
            return found, count
        place = (place + 1) & mask


@njit(cache=True)
def rehash(places: Links, keys: Whole, count: int) -> None:
    """Fill an empty table with the keys there are."""
    for state in range(count):
        insert(places, keys, state, keys[state])


@njit(cache=True)
def unpack(key: int, limits: Whole, sizes: Whole, gaps: Whole) -> None:
    """Gaps of all servers, kind by kind, from the number of a state."""
    m = 0
    for k in range(len(limits)):
        for _ in range(sizes[k]):
            gaps[m] = key % limits[k] + 1
            key //= limits[k]
            m += 1


@njit(cache=True)
def pack(limits: Whole, sizes: Whole, gaps: Whole) -> int:
    """The number of a state with these gaps; longer ones than the limits are saturated."""
    key, m = 0, len(gaps)
    for k in range(len(limits) - 1, -1, -1):
        for _ in range(sizes[k]):
            m -= 1
            key = key * limits[k] + min(gaps[m], limits[k]) - 1
    return key


@njit(cache=True)
def expand(graph: GapGraph, count: int, done: int, until: int) -> tuple[int, int]:
    """Find what follows on states `done` to `until`, as long as there is room; how many there are, and are done."""
    limits, sizes = graph.limits, graph.sizes
    kinds, servers = len(limits), sizes.sum()
    now, then = np.empty(servers, np.int64), np.empty(servers, np.int64)
    while done < until and count + kinds <= len(graph.keys):
        unpack(graph.keys[done], limits, sizes, now)
        first = 0
        for k in range(kinds):
            graph.gaps[done, k] = now[first]
            for m in range(servers):
                then[m] = now[m] + 1
            last = first + sizes[k] - 1
            for m in range(first, last):
                then[m] = now[m + 1] + 1
            then[last] = 1
            graph.following[done, k], count = insert(graph.places, graph.keys, count, pack(limits, sizes, then))
            first = last + 1
        done += 1
    return count, done


@njit(cache=True)
def carried(graph: GapGraph, old: GapGraph, old_values: Vector) -> Vector:
    """Give the states of a graph with larger limits the values of the states that they were in a smaller one."""
    values, gaps = np.empty(len(graph.keys)), np.empty(graph.sizes.sum(), np.int64)
    for state in range(len(graph.keys)):
        unpack(graph.keys[state], graph.limits, graph.sizes, gaps)
        values[state] = old_values[insert(old.places, old.keys, 0, pack(old.limits, old.sizes, gaps))[0]]
    return values
