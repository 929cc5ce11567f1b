r"""Frequencies that a cycle can hold: a page is visited once in the cycle or more often, or not at all.

In a cycle of n slots no frequency lies between 0 and 1/n. Whole visits are found by rounding
(:mod:`heuristics.sequencing.apportionment`), each page getting :math:`\lfloor n f_i \rfloor` or one more, and that is
nearly best as long as few pages want less than one visit. Where rates spread over many powers of ten most pages may:
rounding then has not slots enough for them, and pages that are heavy but change rarely would be left out for ever.

A visit to page i, once in the cycle, gains :math:`g_i = a_i (1 - e^{-\ell_i n})` and costs the price of a visit. Pages
with :math:`g_i \ge \lambda` get one at least, :math:`f_i \ge 1/n`, the others none; the frequencies of least cost
within these limits are found as all others are, and their price :math:`\lambda` is higher, so that a few pages may have
to be taken out again. What a cycle loses in this way is known before it is made; as long as it is much, the cycle is
made twice as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from heuristics.sequencing import NEAR
from queueing.freshness import even_cost

from ..partition import Part, allocate_within
from ..rules import Vector

#: Cycles are made longer until whole visits lose no more than this part, up to so many times, and to so many slots.
LOSS, TIMES_LONGER, LONGEST = 2e-3, 16, 2_000_000

#: Pages are taken out again so often at most, if they are not very many.
ROUNDS, VERY_MANY = 20, 100_000


def fitted(part: Part, slots: int, allowed: Callable[[int], int], longer: bool) -> tuple[Part, int]:
    """Make a part with frequencies that a cycle can hold, and find the slots of the cycle.

    Parameters
    ----------
    slots
        Of the cycle as it is usual.
    allowed
        The most slots, up to so many, that a cycle of the rule can have.
    longer
        Whether a longer cycle is one, too.
    """
    if part.rules is None or not crowded(part.frequencies, slots):
        return part, slots
    least = even_cost(part.traits, part.frequencies)
    longest = max(slots, allowed(min(TIMES_LONGER * slots, LONGEST))) if longer else slots
    while True:
        found = once_or_never(part, slots)
        if found is None:
            return part, slots
        if slots >= longest or even_cost(part.traits, found) <= (1.0 + LOSS) * least:
            return replace(part, frequencies=found), slots
        slots = allowed(min(2 * slots, longest))


def crowded(frequencies: Vector, slots: int) -> bool:
    """Whether more pages want less than one visit in a cycle than there are slots left over by rounding down."""
    wanted = frequencies * (slots / frequencies.sum())
    whole = np.floor(wanted + NEAR)
    return bool(np.count_nonzero((wanted > 0) & (whole == 0)) > slots - whole.sum())


def once_or_never(part: Part, slots: int) -> Vector | None:
    """Find the frequencies of least cost, none of them between 0 and one visit in so many slots.

    ``None`` where the rules leave no room for them.
    """
    rules, pages = part.rules, part.traits
    assert rules is not None
    minimum = np.zeros(len(pages)) if rules.minimum is None else rules.minimum
    gains = np.where(minimum > 0, np.inf, -pages.worths * np.expm1(-pages.decays * slots))
    chosen = (part.frequencies > 0) & (gains >= (part.multiplier or 0.0))
    if np.count_nonzero(chosen) > slots:
        chosen = np.zeros(len(pages), dtype=bool)
        chosen[np.argsort(-gains, kind="stable")[:slots]] = True
    found = None
    for _ in range(ROUNDS if len(pages) < VERY_MANY else 1):
        least, most = np.where(chosen, np.maximum(minimum, 1.0 / slots), 0.0), np.where(chosen, 1.0, 0.0)
        try:
            found = allocate_within(pages, rules, least, most)
        except ValueError:  # caps and least frequencies leave no room for one visit each
            return None
        kept = chosen & (gains >= found.multiplier)
        if (kept == chosen).all() or not kept.any():
            break
        chosen = kept
    return None if found is None else found.frequencies
