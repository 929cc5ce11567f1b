"""Clauses made shorter by unit propagation, in compiled code: for engines that have no SAT solver at hand.

A clause that follows from those known may lose a literal if the rest follows, too: if, with all other literals false,
the clauses known lead to a contradiction one forced literal after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .pool import Clause

Ints = NDArray[np.int64]


def shortened(clauses: Sequence[Clause], variables: int, rng: np.random.Generator) -> list[Clause]:
    """Drop literals that the other clauses make superfluous; what remains says the same, all together.

    Parameters
    ----------
    clauses
        In signs of DIMACS, none with a literal twice or with both signs of a variable.
    variables
        How many there are.
    rng
        Literals of sites that are open are tried in random order, those of closed ones first.

    Returns
    -------
    list of tuple
        Each clause once; none is longer than it was.

    Examples
    --------
    >>> shortened([(1, 2), (-2, 1, 3), (-3, 1)], 3, np.random.default_rng(0))
    [(1,)]
    """
    known = list(dict.fromkeys(clauses))
    if not known or () in known:
        return [()] if known else []
    ordered = [
        [*(at for at in clause if at < 0), *rng.permutation([at for at in clause if at > 0]).tolist()]
        for clause in known
    ]
    starts = np.concatenate([[0], np.cumsum([len(clause) for clause in ordered])]).astype(np.int64)
    # Literal v becomes 2v - 2, its opposite 2v - 1.
    literals = np.array([2 * abs(at) - 2 + (at < 0) for clause in ordered for at in clause], np.int64)
    lengths = _shorten(literals, starts, variables)
    found: dict[Clause, None] = {}
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=False):
        kept = literals[start : start + length].tolist()
        found[tuple(sorted(-(at // 2 + 1) if at % 2 else at // 2 + 1 for at in kept))] = None
    units = {clause[0] for clause in found if len(clause) == 1}
    return [clause for clause in found if len(clause) == 1 or units.isdisjoint(clause)]


@njit(cache=True)
def _shorten(literals: Ints, starts: Ints, variables: int) -> Ints:
    """Shorten clause by clause; those kept of each are moved to its beginning, and their number is returned."""
    count = len(starts) - 1
    lengths = starts[1:] - starts[:-1]
    first = np.zeros(2 * variables + 1, np.int64)  # where the clauses of a literal begin
    for literal in literals:
        first[literal + 1] += 1
    first = np.cumsum(first)
    used = np.zeros(2 * variables, np.int64)
    at = np.zeros(len(literals), np.int64)
    for clause in range(count):
        for place in range(starts[clause], starts[clause + 1]):
            literal = literals[place]
            at[first[literal] + used[literal]] = clause
            used[literal] += 1
    free = lengths.copy()  # literals of a clause that are not false
    true = np.zeros(count, np.int64)  # those that are true
    is_true = np.zeros(2 * variables, np.bool_)
    trail = np.zeros(variables + 1, np.int64)
    for clause in range(count):
        literal = literals[starts[clause]]
        if lengths[clause] == 1 and not is_true[literal] and not is_true[literal ^ 1]:  # for good
            _assume(literal, 0, trail, is_true, free, true, literals, starts, lengths, first, used, at)
    for clause in range(count):
        place = starts[clause]
        while place < starts[clause] + lengths[clause] and lengths[clause] > 1:
            dropped = literals[place]
            trailing, clash = 0, False
            for other in range(starts[clause], starts[clause] + lengths[clause]):
                literal = literals[other] ^ 1
                if literals[other] == dropped or is_true[literal]:
                    continue
                if is_true[literal ^ 1]:
                    clash = True
                    break
                trailing, clash = _assume(
                    literal, trailing, trail, is_true, free, true, literals, starts, lengths, first, used, at
                )
                if clash:
                    break
            for step in range(trailing):  # take all back
                literal = trail[step]
                is_true[literal] = False
                for entry in range(first[literal], first[literal] + used[literal]):
                    true[at[entry]] -= 1
                for entry in range(first[literal ^ 1], first[literal ^ 1] + used[literal ^ 1]):
                    free[at[entry]] += 1
            if not clash:
                place += 1
                continue
            last = starts[clause] + lengths[clause] - 1  # the rest keeps its order
            for other in range(place, last):
                literals[other] = literals[other + 1]
            lengths[clause] -= 1
            true[clause] -= is_true[dropped]
            free[clause] -= not is_true[dropped ^ 1]
            for entry in range(first[dropped], first[dropped] + used[dropped]):
                if at[entry] == clause:
                    used[dropped] -= 1
                    at[entry] = at[first[dropped] + used[dropped]]
                    break
            literal = literals[starts[clause]]
            if lengths[clause] == 1 and not is_true[literal] and not is_true[literal ^ 1]:
                _assume(literal, 0, trail, is_true, free, true, literals, starts, lengths, first, used, at)
    return lengths


@njit(cache=True)
def _assume(
    literal: int,
    trailing: int,
    trail: Ints,
    is_true: NDArray[np.bool_],
    free: Ints,
    true: Ints,
    literals: Ints,
    starts: Ints,
    lengths: Ints,
    first: Ints,
    used: Ints,
    at: Ints,
) -> tuple[int, bool]:
    """Make a literal true, and all that it forces; whether that contradicts something, and how many are true now."""
    done = trailing
    trail[trailing] = literal
    is_true[literal] = True
    trailing += 1
    clash = False
    while done < trailing:
        now = trail[done]
        done += 1
        for entry in range(first[now], first[now] + used[now]):
            true[at[entry]] += 1
        for entry in range(first[now ^ 1], first[now ^ 1] + used[now ^ 1]):
            clause = at[entry]
            free[clause] -= 1
            if clash or true[clause] > 0 or free[clause] > 1:
                continue
            if free[clause] == 0:
                clash = True
                continue
            for place in range(starts[clause], starts[clause] + lengths[clause]):
                forced = literals[place]
                if is_true[forced]:
                    break  # a clause that is kept already
                if not is_true[forced ^ 1]:
                    is_true[forced] = True
                    trail[trailing] = forced
                    trailing += 1
                    break
    return trailing, clash
