r"""Variables and constraints of cyclic words over several symbols, piece by piece.

A word has T slots and is repeated for ever. A slot holds visits to symbols: servers that get a packet, pages that a
robot looks at. What a word costs is summed up over the gaps between one visit to a symbol and the next.

Decisions and what follows from them
------------------------------------
* ``visit[m, t]``, :math:`x_{mt}`: slot t holds a visit to symbol m. Whole; all else follows.
* ``gap[m, t, g]``, :math:`y_{mtg}`: there is one, and the next one to m comes g slots later, 1 <= g <= T. Slots are
  counted modulo T: a gap of T leads from a visit back to itself.
* ``used[m]``, :math:`u_m`: there is a visit to m in the word.

Why it is exact
---------------
Let x be 0 or 1. By `go_on_after_a_gap` and `come_after_a_gap` one unit of gaps leaves each visit to m and one arrives:
y is doubly stochastic on the visits, a mixture of permutations. A permutation takes steps of 1 to T slots, and
together they go round the circle of T slots a whole number of times, once at least; once only if each visit is
followed by the next one. As gaps add up to :math:`T u_m \le T` (`go_round_once`), all permutations of the mixture go
round once, so there is only one, and y holds the true gaps. Hence costs of gaps may be any numbers, convex or not,
y and u need not be declared whole, and :math:`u_m = 1` just where m has a visit.

Why it is not tight
-------------------
Half of a word that goes round twice is a point of the relaxation: it gives to each symbol the cheapest gaps that its
share of the slots allows, wherever they lie. Kinds add what they know, such as costs that counts of visits imply.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.core.expr import LinearExpression

#: Most entries of the rows that make a word begin with the longest gap of a symbol, gap by gap.
MOST_ENTRIES = 300_000

#: Factors and variables of a sum.
Terms = list[tuple[float, Any]]


@dataclass(frozen=True, eq=False)
class Circulation:
    """What cyclic words are made of.

    Parameters
    ----------
    costs
        What gaps of 1, 2, ..., T slots cost, a row for each symbol; infinite for gaps that no word needs.
    unused
        What a symbol costs that is never visited; infinite where it has to be.
    least, most
        Visits that a slot holds: 1 and 1 where each slot has one, 0 and 1 where slots may be idle, more at most where
        several robots work in step. A slot never holds two visits to one symbol.

    Examples
    --------
    >>> squares = Circulation(costs=np.array([[1.0, 4.0, 9.0], [2.0, 8.0, 18.0]]), unused=np.full(2, np.inf))
    >>> squares.slots, squares.gaps[1]
    (3, [1, 2, 3])
    """

    costs: NDArray[np.float64]
    unused: NDArray[np.float64]
    least: int = 1
    most: int = 1

    def __post_init__(self) -> None:
        if self.costs.ndim != 2 or not self.costs.size or len(self.unused) != len(self.costs):
            raise ValueError(
                "costs have a row for each symbol and a column for each gap, and unused a number for each."
            )
        if (
            np.isnan(self.costs).any()
            or np.isnan(self.unused).any()
            or min(self.costs.min(), self.unused.min()) < -1e300
        ):
            raise ValueError("costs are numbers, or inf for what must not be; nan and -inf price nothing.")
        if not 0 <= self.least <= self.most:
            raise ValueError(
                f"a slot holds from 0 visits on, and at least no more than at most: {self.least}, {self.most}."
            )

    @property
    def slots(self) -> int:
        """Number of slots of a word, T."""
        return int(self.costs.shape[1])

    @property
    def symbols(self) -> int:
        """Number of symbols."""
        return len(self.costs)

    @cached_property
    def gaps(self) -> list[list[int]]:
        """By symbol, the gaps that it may have."""
        return [(1 + np.flatnonzero(np.isfinite(row))).tolist() for row in self.costs]


def linear(terms: Terms) -> Any:
    """Write a sum of products; far quicker to make than by operators.

    Parameters
    ----------
    terms
        Factors and variables.

    Returns
    -------
    pyomo expression
        For an objective or a row.
    """
    return LinearExpression(
        linear_coefs=[float(factor) for factor, _ in terms], linear_vars=[variable for _, variable in terms]
    )


def net(plus: Iterable[Any], minus: Iterable[Any] = ()) -> Any:
    """Write the sum of some variables less the sum of others.

    Parameters
    ----------
    plus, minus
        Variables.

    Returns
    -------
    pyomo expression
        For an objective or a row.
    """
    return linear([(1.0, variable) for variable in plus] + [(-1.0, variable) for variable in minus])


def declare_variables(model: pyo.ConcreteModel, words: Circulation) -> None:
    """Declare visits, gaps and which symbols are used; a symbol that must be visited is used for certain.

    Parameters
    ----------
    model, words
        The model to write in, and what its words are made of.
    """
    symbols, slots = range(words.symbols), range(words.slots)
    model.visit = pyo.Var(symbols, slots, domain=pyo.Binary)
    model.gap = pyo.Var([(m, t, g) for m in symbols for t in slots for g in words.gaps[m]], bounds=(0, 1))
    model.used = pyo.Var(symbols, bounds=(0, 1))
    for m in np.flatnonzero(np.isinf(words.unused)).tolist():
        model.used[m].setlb(1)


def go_on_after_a_gap(model: pyo.ConcreteModel, words: Circulation) -> None:
    r"""After each visit there is one gap.

    .. math::  \sum_g y_{mtg} = x_{mt}

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    """

    def rule(model: Any, m: int, t: int) -> Any:
        return net([model.gap[m, t, g] for g in words.gaps[m]], [model.visit[m, t]]) == 0

    model.go_on_after_a_gap = pyo.Constraint(range(words.symbols), range(words.slots), rule=rule)


def come_after_a_gap(model: pyo.ConcreteModel, words: Circulation) -> None:
    r"""Before each visit there is one gap.

    .. math::  \sum_g y_{m, t - g, g} = x_{mt}

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    """
    slots = words.slots

    def rule(model: Any, m: int, t: int) -> Any:
        return net([model.gap[m, (t - g) % slots, g] for g in words.gaps[m]], [model.visit[m, t]]) == 0

    model.come_after_a_gap = pyo.Constraint(range(words.symbols), range(slots), rule=rule)


def go_round_once(model: pyo.ConcreteModel, words: Circulation) -> None:
    r"""Gaps of a symbol that is used go round the word once.

    .. math::  \sum_{t, g} g\, y_{mtg} = T u_m

    Written by the gaps that cross from the last slot to the first, of which there are as many as rounds,

    .. math::  \sum_{t + g \ge T} y_{mtg} = u_m,

    which says the same, since what arrives at a slot leaves it, with factors of 1 only.

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    """
    slots = words.slots

    def rule(model: Any, m: int) -> Any:
        across = [model.gap[m, t, g] for t in range(slots) for g in words.gaps[m] if t + g >= slots]
        return net(across, [model.used[m]]) == 0

    model.go_round_once = pyo.Constraint(range(words.symbols), rule=rule)


def fill_slots(model: pyo.ConcreteModel, words: Circulation) -> None:
    r"""Each slot holds as many visits as it may.

    .. math::  \text{least} \le \sum_m x_{mt} \le \text{most}

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    """

    def rule(model: Any, t: int) -> Any:
        held = net([model.visit[m, t] for m in range(words.symbols)])
        return held == words.most if words.least == words.most else (words.least, held, words.most)

    model.fill_slots = pyo.Constraint(range(words.slots), rule=rule)


def limit_visits(
    model: pyo.ConcreteModel, words: Circulation, least: Sequence[int], most: Sequence[int] | None = None
) -> None:
    r"""Each symbol has so many visits in a word: from a least number, as of least frequencies, to a largest one.

    .. math::  \text{least}_m \le \sum_t x_{mt} \le \text{most}_m

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    least, most
        By symbol; no largest numbers if left out.
    """
    largest = [words.slots] * words.symbols if most is None else list(most)
    bound = [m for m in range(words.symbols) if least[m] > 0 or largest[m] < words.slots]

    def rule(model: Any, m: int) -> Any:
        return least[m], net([model.visit[m, t] for t in range(words.slots)]), largest[m]

    model.limit_visits = pyo.Constraint(bound, rule=rule)


def limit_windows(
    model: pyo.ConcreteModel, words: Circulation, groups: Sequence[tuple[Sequence[int], int, int]]
) -> None:
    r"""Groups of symbols have so many visits at most in any window of slots: hosts that are left in peace.

    .. math::  \sum_{m \in G} \sum_{s = t}^{t + L - 1} x_{m, s \bmod T} \le \text{most}

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    groups
        The symbols of each group, the length of its windows, and the most visits in one. A gap of at least L slots
        between two visits is a window of L slots with 1 visit. A window longer than T counts visits again.
    """
    slots = words.slots

    def rule(model: Any, group: int, t: int) -> Any:
        members, length, most = groups[group]
        whole, rest = divmod(length, slots)
        times = {(t + s) % slots: float(whole + (s < rest)) for s in range(slots)}
        return linear([(times[s], model.visit[m, s]) for m in members for s in range(slots) if times[s] > 0]) <= most

    model.limit_windows = pyo.Constraint(range(len(groups)), range(slots), rule=rule)


def begin_with_first_used(model: pyo.ConcreteModel, words: Circulation, order: Sequence[int]) -> None:
    r"""The word begins with the longest gap of the first symbol, in an order, that is used.

    .. math::  x_{m0} \ge u_m - \sum_{k \text{ before } m} u_k, \qquad
               \sum_{h \ge g} y_{m0h} + \sum_{k \text{ before } m} u_k \ge \sum_{h \ge g} y_{mth}

    Nothing is lost where all else does not change when a word is turned: every word in which something is used can be
    turned so that the longest gap of that symbol begins in slot 0. The fewer visits a symbol has the fewer turns are
    left, so the order should begin with those that are used for certain and seldom.

    Where the rows for a symbol would have more than `MOST_ENTRIES` entries, their sum over g stands for them, which is
    weaker for fractions and says the same of words,

    .. math::  \sum_h h\, y_{m0h} + T \sum_{k \text{ before } m} u_k \ge \sum_h h\, y_{mth}.

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    order
        All symbols, or some first ones of an order: symbols that are left out say nothing.
    """
    before = {m: [model.used[k] for k in order[:place]] for place, m in enumerate(order)}

    def visited(model: Any, m: int) -> Any:
        return net([model.visit[m, 0], *before[m]], [model.used[m]]) >= 0

    def longest(model: Any, m: int, t: int, g: int) -> Any:
        if g <= words.gaps[m][0]:
            return pyo.Constraint.Skip  # `visited` says it
        first, other = ([model.gap[m, s, h] for h in words.gaps[m] if h >= g] for s in (0, t))
        return net([*first, *before[m]], other) >= 0

    def longer(model: Any, m: int, t: int) -> Any:
        first, other = ([(sign * h, model.gap[m, s, h]) for h in words.gaps[m]] for sign, s in ((1, 0), (-1, t)))
        return linear([*first, *other, *((words.slots, used) for used in before[m])]) >= 0

    model.begin_with_first_used = pyo.Constraint(list(order), rule=visited)
    few = {m: words.slots * len(words.gaps[m]) ** 2 <= MOST_ENTRIES for m in order}
    rows = [(m, t, g) for m in order if few[m] for t in range(1, words.slots) for g in words.gaps[m]]
    model.begin_with_longest_gap = pyo.Constraint(rows, rule=longest)
    sums = [(m, t) for m in order if not few[m] for t in range(1, words.slots)]
    model.begin_with_longer_gap = pyo.Constraint(sums, rule=longer)


def order_equal_symbols(model: pyo.ConcreteModel, words: Circulation, groups: Sequence[Sequence[int]]) -> None:
    r"""Of symbols that are the same in all respects, one has no more visits than the one before it.

    .. math::  \sum_t x_{mt} \ge \sum_t x_{nt}

    Symbols of a group can be exchanged for one another, so nothing is lost; neither together with
    `begin_with_first_used`: a word is relabelled first and turned afterwards.

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    groups
        Lists of equal symbols.
    """
    pairs = [pair for group in groups for pair in itertools.pairwise(group)]

    def rule(model: Any, m: int, n: int) -> Any:
        return net(*([model.visit[symbol, t] for t in range(words.slots)] for symbol in (m, n))) >= 0

    model.order_equal_symbols = pyo.Constraint(pairs, rule=rule)


def price(model: pyo.ConcreteModel, words: Circulation) -> Any:
    r"""Write the cost of a word: of all its gaps, and of symbols never visited.

    .. math::  \sum_{m, t, g} f_m(g)\, y_{mtg} + \sum_m c_m (1 - u_m)

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.

    Returns
    -------
    pyomo expression
        For an objective, or for a row.
    """
    terms: Terms = [(words.costs[m, g - 1], variable) for (m, _, g), variable in model.gap.items()]
    offset = 0.0
    for m, unused in enumerate(words.unused.tolist()):
        if math.isfinite(unused) and unused != 0:
            terms.append((-unused, model.used[m]))
            offset += unused
    whole = linear([(factor, variable) for factor, variable in terms if factor != 0])
    return whole + offset
