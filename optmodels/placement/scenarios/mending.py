r"""Which scenarios are kept, which may be given up, and what it takes to keep enough of them.

A placement keeps a scenario if nobody has too many clients in it. Let :math:`e_s` be the clients too many in scenario s
(all clients, where no site is open). Scenarios are sorted by :math:`e_s`, and the first of them whose probabilities
reach what is asked for, P, are those *to be mended*: what they have too many, summed, is the penalty's amount,

.. math::  e = \sum_{i \le m} e_{(i)}, \qquad m = \min\Bigl\{ m : \sum_{i \le m} p_{(i)} \ge P \Bigr\}.

It is 0 exactly if the placement is feasible. Where all scenarios are equally probable, no other set of scenarios of
probability P has fewer clients too many; otherwise one may. Of one scenario it is the amount of the plain problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..geometry.fixed import CLOSED, OPEN
from .reaching import ROUNDING

if TYPE_CHECKING:
    from ..problem import PlacementProblem

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Sets of scenarios to give up that are tried before nobody knows whether there is a feasible placement.
MOST_SETS = 2_000


def allowed_together(parts: Sequence[PlacementProblem], probabilities: Floats, spare: float = 0.0) -> Bools:
    """Sites that are open in some placement that gives up scenarios of probability `spare` at most.

    A site that is overloaded with all of these sites open is overloaded whenever it is open; where that is so in
    scenarios more probable than `spare`, it stays closed. Without spare, all of these sites together keep every
    scenario, or nothing does.
    """
    fixed = parts[0].fixed
    allowed: Bools = fixed != CLOSED
    while allowed.any():
        open_now = tuple(allowed.astype(int).tolist())
        broken = np.array([part.overloaded(open_now) > 0 for part in parts])
        barred = allowed & (probabilities @ broken > spare + ROUNDING)
        if not barred.any():
            break
        allowed &= ~barred
    if not allowed[fixed == OPEN].all():
        allowed[:] = False
    allowed.setflags(write=False)
    return allowed


def given_up(probabilities: Floats, order: Sequence[int], spare: float) -> Iterator[tuple[int, ...]]:
    """List the largest sets of scenarios of probability `spare` at most, preferring those that come first."""

    def extend(at: int, chosen: tuple[int, ...], left: float, passed: float) -> Iterator[tuple[int, ...]]:
        while at < len(order) and probabilities[order[at]] > left + ROUNDING:
            at += 1
        if at == len(order):
            if passed > left + ROUNDING:  # the least probable of those passed over does not fit, either
                yield chosen
            return
        probability = float(probabilities[order[at]])
        yield from extend(at + 1, (*chosen, order[at]), left - probability, passed)
        yield from extend(at + 1, chosen, left, min(passed, probability))

    return extend(0, (), spare, np.inf)


def keepable(
    parts: Sequence[PlacementProblem], probabilities: Floats, least: float
) -> tuple[tuple[int, ...] | None, bool]:
    """Find scenarios, probable enough, that some placement keeps; crowded ones are given up first.

    Parameters
    ----------
    parts
        The problem of each scenario.
    probabilities
        Of the scenarios.
    least
        Probability of those that must be kept.

    Returns
    -------
    tuple of int or None
        The scenarios; ``None``: none were found.
    bool
        Whether all ways to give up scenarios were tried.
    """
    order = sorted(range(len(parts)), key=lambda s: -int(parts[s].demand.sum()))
    sets = given_up(probabilities, order, 1.0 - least)
    for lost in islice(sets, MOST_SETS):
        kept = tuple(s for s in range(len(parts)) if s not in lost)
        allowed = allowed_together([parts[s] for s in kept], probabilities[list(kept)])
        if allowed.any() or not any(parts[s].demand.any() for s in kept):
            return kept, True
    return None, next(sets, None) is None
