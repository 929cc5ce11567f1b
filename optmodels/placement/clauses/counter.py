"""A limit on the cost of open sites as clauses: a counter that runs along the sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Literals = NDArray[np.int32]

#: Variables beyond which a counter is refused: the prices have too many different sums.
MOST_VARIABLES = 20_000_000

#: Largest limit: sums of a million such prices fit in 64 bits.
LARGEST = 2**42


@dataclass(frozen=True, eq=False)
class Counter:
    """Clauses that no cheap choice of sites breaks, and that every dear one does.

    Variable j + 1 says that site j is open. Variable ``first`` + i says: the first ``places[i]`` sites of the order
    cost at least ``levels[i]``.

    Parameters
    ----------
    clauses
        One clause in each row, in signs of DIMACS; rows of fewer than three literals end in zeros.
    first
        The first variable that is no site.
    places, levels
        What each further variable means.
    """

    clauses: Literals
    first: int
    places: Ints
    levels: Ints

    @property
    def variables(self) -> int:
        """The largest variable; ``first`` - 1 where there are no further ones."""
        return self.first + len(self.places) - 1

    def tuples(self) -> list[tuple[int, ...]]:
        """The clauses one by one, without zeros."""
        return [tuple(literal for literal in row if literal) for row in self.clauses.tolist()]


def counter(
    prices: Sequence[int],
    order: Sequence[int],
    most: int,
    first: int,
    least_before: Sequence[int] | None = None,
    least_after: Sequence[int] | None = None,
) -> Counter:
    r"""Say in clauses that the sites of an order cost at most `most`.

    Parameters
    ----------
    prices
        Of every site: whole numbers, none below zero.
    order
        The sites that are counted, one after the other, numbered from 0 as in decisions. Sites left out cost nothing.
    most
        The limit.
    first
        The first free variable, beyond those of all sites.
    least_before, least_after
        Numbers for p = 0, 1, ..., len(order): in every choice that is asked for, the first p sites of the order cost at
        least ``least_before[p]``, and the others at least ``least_after[p]``. Whoever gives them has proved them.

    Returns
    -------
    Counter
        The clauses and what their further variables mean.

    Raises
    ------
    ValueError
        If a price is negative, a site stands twice, the bounds do not fit the order, or there are too many sums.

    Notes
    -----
    Let :math:`c(p)` be the cost of the open ones among the first p sites, and

    .. math::  S_{pv} \Leftarrow c(p) \ge v, \qquad l_p \le c(p) \le h_p,

    where :math:`l_p` is the largest of 0 and of ``least_before`` up to p, and :math:`h_p` the smallest of `most` -
    ``least_after`` from p on. A literal :math:`S_{pv}` with :math:`v \le l_p` is true and left out with its clause, one
    with :math:`v > h_p` is false and left out of its clause. Of the p-th next site, j, with price c, two clauses speak
    for every sum v that the first p sites can have:

    .. math::  S_{pv} \to S_{p+1, v'}, \quad v' = \max(v, l_{p+1}); \qquad
               x_j \wedge S_{pv} \to S_{p+1, v'}, \quad v' = \max(v + c, l_{p+1}).

    Sums from which no limit can be broken any more, even by opening all that follow, have no variable.

    *Valid*: if open sites cost at most `most` and keep the bounds, give every :math:`S_{pv}` the truth of
    :math:`c(p) \ge v`; then all clauses hold. *Complete*: if they cost more, propagation alone runs through the sums of
    the open sites, in order, into a clause without true literals. Where the bounds leave no cost at all
    (:math:`l_p > h_p`), the clauses are a variable and its opposite.

    Examples
    --------
    >>> from optmodels.placement.clauses.counter import counter
    >>> counted = counter([2, 3, 4], order=[0, 1, 2], most=5, first=4)
    >>> counted.tuples()  # 4: the first site costs 2; 5 and 6: the first two cost 2, 3 or more; and 5
    [(-1, 4), (-4, 5), (-2, 6), (-2, -4, 7), (-3, -5), (-3, -6), (-3, -7)]
    >>> counted.places.tolist(), counted.levels.tolist()
    ([1, 2, 2, 2], [2, 2, 3, 5])
    """
    lowest, highest, costs = _ranges(prices, order, most, least_before, least_after)
    if (lowest > highest).any():
        pair = np.array([[first, 0, 0], [-first, 0, 0]], np.int32)
        return Counter(pair, first, np.zeros(1, np.int64), np.ones(1, np.int64))
    harmless = highest.copy()  # from such a sum on, nothing that follows can break a limit
    for place in range(len(order) - 1, -1, -1):
        harmless[place] = min(highest[place], harmless[place + 1] - costs[place])
    levels, numbers = _states(np.zeros(0, np.int64), lowest[0], highest[0], harmless[0], first)
    rows: list[Literals] = []
    places, named = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    free = first
    for place, site in enumerate(order):
        after = place + 1
        stays = np.maximum(levels, lowest[after])
        moves = np.maximum(levels + costs[place], lowest[after])
        reached = np.concatenate([stays, moves])
        ahead, known = _states(reached, lowest[after], highest[after], harmless[after], free)
        count = int((known > 0).sum())
        if free + count - first > MOST_VARIABLES:
            raise ValueError(
                f"prices: the counter needs more than {MOST_VARIABLES} variables; divide the prices by a larger unit."
            )
        places.append(np.full(count, after))
        named.append(ahead[known > 0])
        free += count
        for target, opened in ((stays, 0), (moves, -(site + 1))):
            rows.append(_clauses(numbers, target, opened, ahead, known, int(highest[after]), int(harmless[after])))
        levels, numbers = ahead, known
    return Counter(np.concatenate([np.zeros((0, 3), np.int32), *rows]), first, *map(np.concatenate, (places, named)))


def _ranges(
    prices: Sequence[int],
    order: Sequence[int],
    most: int,
    least_before: Sequence[int] | None,
    least_after: Sequence[int] | None,
) -> tuple[Ints, Ints, Ints]:
    """The least and the most that the first p sites may cost, and the price of the next, cut above what can matter."""
    count = len(order)
    if any(int(price) < 0 for price in prices):
        raise ValueError("prices: a counter counts upwards, so no price may be below zero.")
    if len(set(order)) != count or not all(0 <= site < len(prices) for site in order):
        raise ValueError(f"order: each of the {len(prices)} sites may stand once, numbered from 0.")
    if most >= LARGEST:
        raise ValueError(f"most: a counter goes up to {LARGEST}, got {most}; divide the prices by a larger unit.")
    for name, bounds in (("least_before", least_before), ("least_after", least_after)):
        if bounds is not None and len(bounds) != count + 1:
            raise ValueError(f"{name}: {count} sites have {count + 1} bounds, from none of them to all.")
    top = max(0, most) + 1  # what costs more is as bad
    costs = np.array([min(int(prices[site]), top) for site in order], np.int64)
    before = np.minimum(np.array(least_before if least_before is not None else [0] * (count + 1), object), top)
    after = np.minimum(np.array(least_after if least_after is not None else [0] * (count + 1), object), top)
    lowest = np.maximum.accumulate(np.maximum(before.astype(np.int64), 0))
    highest = max(most, -1) - np.maximum(after.astype(np.int64), 0)
    highest = np.minimum.accumulate(highest[::-1])[::-1]
    return lowest, highest, costs


def _states(reached: Ints, least: int, most: int, harmless: int, free: int) -> tuple[Ints, Ints]:
    """The sums that matter at one place, and the variable of each: 0 where it is true anyway."""
    levels = np.unique(np.append(reached, least))
    levels = levels[(levels > harmless) & (levels <= most)]
    numbers = np.zeros(len(levels), np.int64)
    numbers[levels > least] = free + np.arange(int((levels > least).sum()))
    return levels, numbers


def _clauses(numbers: Ints, target: Ints, opened: int, ahead: Ints, known: Ints, most: int, harmless: int) -> Literals:
    """From each sum to its target: not this sum, or this site closed, or the sum ahead."""
    at = np.searchsorted(ahead, target)
    over = target > most
    found = np.zeros(len(target), np.int64)
    found[~over & (target > harmless)] = known[at[~over & (target > harmless)]]
    kept = over | (found > 0)  # the others end in what is true
    literals = np.stack([np.full(len(target), opened), -numbers, found], axis=1)[kept]
    order = np.argsort(literals == 0, axis=1, kind="stable")
    return np.take_along_axis(literals, order, axis=1).astype(np.int32)
