r"""How often each server is worth using, and the index that says which one is next.

A packet for server m may be given a price :math:`\lambda`, paid with every one it gets. With gaps of d slots a server
then costs :math:`(f_m(d) + \lambda)/d` a slot, and gaps of d and of d + 1 cost the same when

.. math:: \lambda = \theta_m(d) = d f_m(d + 1) - (d + 1) f_m(d),

its *index* [1]_, which rises with d because :math:`f_m` is convex. Used at a density x, with gaps as even as whole
slots can be, a server costs a function of x that is convex and piecewise linear, with slope :math:`-\theta_m(d)`
between :math:`1/(d + 1)` and :math:`1/d`. Densities add up to 1, since every packet goes somewhere. So for every price

.. math:: \sum_m \min_d \frac{f_m(d) + \lambda}{d} - \lambda

(a server never used counts with its slope) is a lower bound on the cost of all words, largest at the price at which
the densities of the cheapest gaps add up to 1: the *integer-density bound*, attained by two servers. A rule that
goes by indices sends each packet to the server whose index is largest at its gap.

References
----------
.. [1] P. Whittle, "Restless bandits: activity allocation in a changing world", *Journal of Applied Probability* 25A,
   1988, 287-298.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from ..oracle import Oracle
from ..protocols import Matrix, Vector, Whole
from ..result import Result
from ..running import explain_refusal, last_word, require_fields
from .problem import GapTable, GapTables, Pause, RoutedProblem, cyclic_cost, gap_cost, later_slopes, no_pause

#: Gaps in the first table, and numbers in the largest one: servers whose gaps are longer count as never used.
FEWEST, MOST = 64, 1 << 24

#: Slots for each server in a run of the index rule, the fewest and the most; and places where its words may begin.
SLOTS_FOR_EACH, FEWEST_SLOTS, MOST_SLOTS, BEGINNINGS = 100, 2500, 100_000, 12

#: Servers for which words may end in every slot; of twice as many in every second one, and so on.
EVERY_SLOT = 40

#: A longer word has to be better than a shorter one by this part of its cost.
NOTABLE = 1e-12

#: Letters times servers of the longest words on which exchanges are tried.
EXCHANGED = 2000

#: Part of the numbers added up that rounding may take.
ROUNDING = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Densities:
    """How often servers are used where only densities have to add up.

    Attributes
    ----------
    table
        Costs of gaps, as many as were needed.
    price
        At which densities add up to 1.
    gaps
        The cheapest gap of each server at this price, the least if there are two; 0: never used.
    shares
        Densities of the servers.
    bound
        The integer-density bound; minus infinity where slopes are unknown.
    """

    table: GapTable
    price: float
    gaps: Whole
    shares: Vector
    bound: float


def excesses(table: GapTable) -> Matrix:
    """Compute what gaps cost beyond the slopes of their servers, where these are finite."""
    slopes = np.where(np.isfinite(table.slopes), table.slopes, 0.0)
    beyond: Matrix = table.costs - slopes[:, None] * np.arange(1, table.count + 1)
    return beyond


def indices(table: GapTable) -> Matrix:
    """Compute the indices for gaps of 1, 2, ... up to the longest but one in the table."""
    gaps, costs = np.arange(1, table.count), excesses(table)
    raw: Matrix = gaps * costs[:, 1:] - (gaps + 1) * costs[:, :-1]
    # The excess of a long gap is a small difference of large numbers: indices rise in truth.
    rising: Matrix = np.maximum.accumulate(raw, axis=1)
    return rising


def densities(gap_table: GapTables, pause: Pause = no_pause) -> Densities:
    r"""Find the price at which densities add up to 1, from tables that are doubled until they are long enough.

    Parameters
    ----------
    gap_table
        Costs of gaps up to a number.
    pause
        Called between tables; may raise.

    Returns
    -------
    Densities
        How often each server is used, and the integer-density bound on the cost of all words.

    Notes
    -----
    For every price :math:`\lambda` no word costs less than :math:`\sum_m \min_d (f_m(d) + \lambda)/d - \lambda`.

    Examples
    --------
    >>> from heuristics.testing import losses
    >>> found = densities(losses((1.0, 2.0, 6.0)))
    >>> found.gaps.tolist(), [round(share, 6) for share in found.shares.tolist()], round(found.bound, 6)
    ([5, 3, 2], [0.2, 0.3, 0.5], 0.025096)
    """
    count = FEWEST
    while True:
        table = gap_table(count)
        price, found = _price(table)
        longest = found >= table.count
        never = np.where(np.isfinite(table.slopes), -table.limits <= price, False)
        # Where the gaps in the table do not fill all slots, those beyond it counted too much and drove the price up.
        filled = np.sum(1.0 / found, where=~longest) >= 1.0 - 1e-9
        if filled and not np.any(longest & ~never):
            break
        if 2 * count * table.servers > MOST:
            if not filled:
                price, found = _price(table, beyond=False)
                longest = found >= table.count
            break
        pause()
        count *= 2
    gaps = np.where(longest, 0, found)
    return Densities(table, price, gaps, _shares(table, price, gaps), dual_bound(table, price))


def _price(table: GapTable, beyond: bool = True) -> tuple[float, Whole]:
    """Find the least price at which densities do not add up to more than 1, and the gaps at it.

    Gaps beyond the table are counted as its longest, or not at all.
    """
    index = indices(table)
    last = np.where(np.isfinite(table.slopes), -table.limits, np.inf)  # at this price it need not be used any more
    high = max(float(index.max()), float(np.max(last, where=np.isfinite(last), initial=-np.inf)))
    low = np.nextafter(float(index.min()), -np.inf)
    while low < (price := 0.5 * (low + high)) < high:
        gaps = cheapest_gaps(index, price, False)
        if np.sum(1.0 / gaps, where=(gaps < table.count) | (beyond & (last > price))) > 1.0 + 1e-12:
            low = price
        else:
            high = price
    return high, cheapest_gaps(index, high, True)


@njit(cache=True)
def cheapest_gaps(index: Matrix, price: float, below: bool) -> Whole:
    """Find the cheapest gaps at a price, the least or the longest; one more than there are if none is in the table."""
    servers, count = index.shape
    gaps = np.empty(servers, np.int64)
    for m in range(servers):
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            value = index[m, middle]
            if value < price or (value == price and not below):
                low = middle + 1
            else:
                high = middle
        gaps[m] = low + 1
    return gaps


def _shares(table: GapTable, price: float, gaps: Whole) -> Vector:
    """Find densities that add up to 1: of servers that are as cheap with longer gaps, the last ones give way."""
    most = np.divide(1.0, gaps, out=np.zeros(len(gaps)), where=gaps > 0)
    longest = cheapest_gaps(indices(table), price, False)
    least = np.where((gaps > 0) & (longest < table.count), 1.0 / longest, 0.0)
    surplus = most.sum() - 1.0
    shares = most.copy()
    for m in np.argsort(-(most - least), kind="stable"):
        taken = min(max(surplus, 0.0), most[m] - least[m])
        shares[m] -= taken
        surplus -= taken
    total: float = shares.sum()
    scaled: Vector = shares / total if total > 0 else shares
    return scaled


def dual_bound(table: GapTable, price: float) -> float:
    """Bound the cost of all words from below by a price; minus infinity where more would have to be known."""
    parts = dual_parts(table, price)
    slopes = np.where(np.isfinite(table.slopes), np.abs(table.slopes), 0.0)  # taken off and put back on
    return float(parts.sum() - price - ROUNDING * (np.abs(parts).sum() + slopes.sum() + abs(price)))


def dual_parts(table: GapTable, price: float) -> Vector:
    """Bound what each server costs a slot if it pays a price for every packet; minus infinity if nobody knows."""
    finite, unknown = np.isfinite(table.slopes), np.isnan(table.slopes)
    excess, largest = excesses(table), np.abs(table.costs).max(axis=1)
    cheapest = np.min((excess + price) / np.arange(1, table.count + 1), axis=1)
    # Beyond the table: dearer and dearer where the index has passed the price for certain, else not below the limit,
    # nor below the line through the last two costs, which lies between its value at the end and its slope.
    passed = indices(table)[:, -1] - ROUNDING * table.count * largest >= price
    line = np.full(table.servers, -np.inf)
    if table.count > 1:
        falls = excess[:, -1] - excess[:, -2] - ROUNDING * (largest + table.count * np.where(finite, table.slopes, 0.0))
        line = np.minimum((excess[:, -1] + price) / table.count, falls)
    limit = np.minimum(0.0, (table.limits + price) / (table.count + 1))
    beyond = np.where(passed, np.inf, np.fmax(limit, line))
    parts: Vector = np.minimum(cheapest, beyond) + np.where(finite, table.slopes, 0.0)
    parts[unknown | (~finite & ~passed)] = -np.inf
    return parts


def index_word(found: Densities, longest: int = MOST_SLOTS) -> Whole:
    """Make a word of the index rule: its period, or the stretch of a long run that closes best."""
    table = found.table
    slots = int(min(max(FEWEST_SLOTS, SLOTS_FOR_EACH * table.servers), MOST_SLOTS))
    slots = max(slots, min(4 * int(found.gaps.max()), MOST_SLOTS))
    warm = slots // 2
    return cut_word(table, index_run(indices(table), found.gaps, warm + 2 * slots), warm, slots, min(slots, longest))


def cut_word(table: GapTable, run: Whole, warm: int, slots: int, longest: int) -> Whole:
    """Cut the stretch out of a run that costs least when it is repeated; it begins in one of `slots` after `warm`."""
    starts = warm + np.unique(np.linspace(0, slots, BEGINNINGS).astype(np.int64))
    begin, length = best_stretch(table.costs, later_slopes(table), table.slopes, run, starts, longest)
    return run[begin : begin + length].copy()


@njit(cache=True)
def index_run(index: Matrix, gaps: Whole, slots: int) -> Whole:
    """Choose servers by the largest index, slot by slot, from gaps that are spread; the longer gap breaks ties."""
    servers, count = index.shape
    last, run = np.empty(servers, np.int64), np.empty(slots, np.int64)
    for m in range(servers):
        part = (m + 1) * 0.6180339887498949
        last[m] = -1 - int((part - np.floor(part)) * (gaps[m] if gaps[m] > 0 else count))
    for slot in range(slots):
        best, chosen = -np.inf, 0
        for m in range(servers):
            value = index[m, min(slot - last[m], count) - 1]
            if value > best or (value == best and last[m] < last[chosen]):
                best, chosen = value, m
        last[chosen] = slot
        run[slot] = chosen
    return run


@njit(cache=True)
def best_stretch(
    costs: Matrix, later: Vector, slopes: Vector, run: Whole, starts: Whole, longest: int
) -> tuple[int, int]:
    """Find where the stretch of a run begins, and how long it is, that costs least when it is repeated."""
    servers = len(costs)
    stride = 1 + servers // EVERY_SLOT
    first, last = np.empty(servers, np.int64), np.empty(servers, np.int64)
    best, begin, best_length = np.inf, starts[0], 1
    for start in starts:
        first[:] = -1
        total = 0.0
        for slot in range(start, min(start + longest, len(run))):
            m = run[slot]
            if first[m] < 0:
                first[m] = slot
            else:
                total += gap_cost(costs, later, m, slot - last[m])
            last[m] = slot
            length = slot - start + 1
            if length % stride > 0:
                continue
            closing, never = 0.0, 0.0
            for m in range(servers):
                if first[m] < 0:
                    never += np.inf if np.isnan(slopes[m]) else slopes[m]
                else:
                    closing += gap_cost(costs, later, m, first[m] + length - last[m])
            cost = (total + closing) / length + never
            if cost < best - NOTABLE * abs(cost) or (best == np.inf and length > best_length):
                best, begin, best_length = cost, start, length
    return begin, best_length


def exchanged(table: GapTable, word: Whole) -> Whole:
    """Change one letter, exchange two neighbours, leave a letter out or put one in, as long as that lowers the cost."""
    if len(word) * table.servers > EXCHANGED:
        return word
    later = later_slopes(table)
    best = float(cyclic_cost(table.costs, later, table.slopes, word))
    while True:
        cost, moved = best_exchange(table.costs, later, table.slopes, word, best)
        if not cost < best - NOTABLE * abs(best):
            return word
        best, word = cost, moved


@njit(cache=True)
def best_exchange(costs: Matrix, later: Vector, slopes: Vector, word: Whole, cost: float) -> tuple[float, Whole]:
    """Find the best word one step away, if one is better than `cost`."""
    servers, length = len(costs), len(word)
    best, found = cost, word.copy()
    for i in range(length):
        old = word[i]
        for m in range(servers):
            longer = np.concatenate((word[:i], np.array([m]), word[i:]))
            value = cyclic_cost(costs, later, slopes, longer)
            if value < best:
                best, found = value, longer
            if m != old:
                word[i] = m
                value = cyclic_cost(costs, later, slopes, word)
                if value < best:
                    best, found = value, word.copy()
                word[i] = old
        after = (i + 1) % length
        word[i], word[after] = word[after], old
        value = cyclic_cost(costs, later, slopes, word)
        if value < best:
            best, found = value, word.copy()
        word[after], word[i] = word[i], old
        if length > 1:
            shorter = np.concatenate((word[:i], word[i + 1 :]))
            value = cyclic_cost(costs, later, slopes, shorter)
            if value < best:
                best, found = value, shorter
    return best, found


@dataclass(frozen=True)
class IndexRule:
    """The word of Whittle's index rule, for any number of servers, beside the integer-density bound.

    The rule is run for a while, and the stretch of it is taken that costs least when it is repeated.

    Parameters
    ----------
    slots
        The longest period; by default 100 slots for each server, and 1000 at least.

    References
    ----------
    P. Whittle, "Restless bandits: activity allocation in a changing world", *Journal of Applied Probability* 25A, 1988,
    287-298.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import Routed, losses
    >>> run(Routed(losses((1.0, 2.0, 6.0))), IndexRule(slots=50)).decision
    (0, 2, 1, 2)
    """

    slots: int | None = None

    name: ClassVar[str] = "whittle"
    needs: ClassVar[type] = RoutedProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, slots=(self.slots is None or self.slots >= 1, "1 or more"))

    def refuses(self, problem: RoutedProblem) -> str | None:
        """Refuse problems that do not ask for the best of all words."""
        return explain_refusal(self.name, problem, problem.unroutable())

    def solve(self, oracle: Oracle[RoutedProblem], rng: np.random.Generator) -> Result:
        """Find densities, follow the rule, show a word, report the bound."""
        oracle.require()
        with oracle.in_time():
            found = densities(oracle.problem.gap_table, oracle.require)
        word = index_word(found, MOST_SLOTS if self.slots is None else self.slots)
        late = oracle.remaining_seconds <= 0
        last_word(oracle, tuple(word.tolist()))
        if found.table.known:
            oracle.report(bound=found.bound)
        return oracle.result(stopped_by="seconds" if late else "complete")
