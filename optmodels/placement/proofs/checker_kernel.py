"""The compiled part of the checker: propagation, and the way back through the lemmas of a proof.

Clauses lie in one array `pool`, one after the other, input clauses first, then lemmas as they are added; clause c has
the literals ``pool[start[c]:start[c] + size[c]]``. A literal is 2 v for variable v and 2 v + 1 for its opposite. The
first two literals of a clause are watched: when one becomes false, another that is not takes its place, or the clause
is the reason why its other literal is true, or a conflict. Clauses that a refutation needs (the *core*) are watched
in lists of their own, which are looked at first, so that few others join them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Literals = NDArray[np.int32]
Marks = NDArray[np.int8]

#: Places in `Formula.counts`.
ASSIGNED, CORE_HEAD, OTHER_HEAD, USED = 0, 1, 2, 3

#: What `propagate` says besides the number of a clause in conflict.
QUIET, FULL = -1, -2

NO_REASON = -1


class Formula(NamedTuple):
    """Clauses, what is true, and who watches what."""

    pool: Literals  #: the literals of all clauses
    start: Ints  #: per clause: where its literals begin
    size: Ints  #: per clause: how many it has
    active: Marks  #: per clause: whether it may be used now
    core: Marks  #: per clause: whether the refutation needs it
    value: Marks  #: per literal: 1 true, -1 false, 0 open
    reason: Ints  #: per variable: the clause that made a literal of it true, `NO_REASON` if it is supposed
    seen: Marks  #: per variable: whether all that led to it is in the core
    trail: Literals  #: literals in the order in which they became true
    begin: Ints  #: per list of watchers: where it begins; lists 0, 1, ... of the core, then those of the others
    sizes: Ints  #: per list: how many watch
    room: Ints  #: per list: how many could
    counts: Ints  #: how many are assigned, how far both kinds of lists were looked at, how much of the watchers is used


class Watchers(NamedTuple):
    """The watching clauses of all lists, each with a literal whose truth makes a look at the clause needless."""

    clause: Literals
    blocker: Literals


# -- propagation -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def grown(formula: Formula, watchers: Watchers) -> Watchers:
    """Lay the lists out anew, each with room to grow, without clauses that are not active any more."""
    lists = len(formula.begin)
    total = 0
    for at in range(lists):
        total += 2 * formula.sizes[at] + 4
    clause, blocker = np.zeros(2 * total, np.int32), np.zeros(2 * total, np.int32)
    used = 0
    for at in range(lists):
        kept = used
        for old in range(formula.begin[at], formula.begin[at] + formula.sizes[at]):
            if formula.active[watchers.clause[old]]:
                clause[kept], blocker[kept] = watchers.clause[old], watchers.blocker[old]
                kept += 1
        formula.begin[at], formula.room[at], formula.sizes[at] = used, 2 * formula.sizes[at] + 4, kept - used
        used += formula.room[at]
    formula.counts[USED] = used
    return Watchers(clause, blocker)


@njit(cache=True)
def _watch(formula: Formula, watchers: Watchers, at: int, c: int, blocker: int) -> bool:
    """Put a clause on a list; say whether there was room."""
    count, room = formula.sizes[at], formula.room[at]
    if count == room:
        used, wanted = formula.counts[USED], 2 * room + 4
        if used + wanted > len(watchers.clause):
            return False
        for k in range(count):
            watchers.clause[used + k] = watchers.clause[formula.begin[at] + k]
            watchers.blocker[used + k] = watchers.blocker[formula.begin[at] + k]
        formula.begin[at], formula.room[at] = used, wanted
        formula.counts[USED] = used + wanted
    where = formula.begin[at] + count
    watchers.clause[where], watchers.blocker[where] = c, blocker
    formula.sizes[at] = count + 1
    return True


@njit(cache=True)
def _unwatch(formula: Formula, watchers: Watchers, at: int, c: int) -> None:
    """Take a clause off a list."""
    begin, last = formula.begin[at], formula.begin[at] + formula.sizes[at] - 1
    for k in range(begin, last + 1):
        if watchers.clause[k] == c:
            watchers.clause[k], watchers.blocker[k] = watchers.clause[last], watchers.blocker[last]
            formula.sizes[at] -= 1
            return


@njit(cache=True)
def _watch_both(formula: Formula, watchers: Watchers, c: int) -> bool:
    """Watch the first two literals of a clause; say whether there was room, and if not, change nothing."""
    one, other = formula.pool[formula.start[c]], formula.pool[formula.start[c] + 1]
    shift = 0 if formula.core[c] else len(formula.begin) // 2
    if not _watch(formula, watchers, shift + one, c, other):
        return False
    if not _watch(formula, watchers, shift + other, c, one):
        _unwatch(formula, watchers, shift + one, c)
        return False
    return True


@njit(cache=True)
def _assign(formula: Formula, literal: int, reason: int) -> None:
    formula.value[literal], formula.value[literal ^ 1] = 1, -1
    formula.reason[literal >> 1] = reason
    formula.trail[formula.counts[ASSIGNED]] = literal
    formula.counts[ASSIGNED] += 1


@njit(cache=True)
def _retract(formula: Formula, height: int) -> None:
    """Take back all that became true after the first `height` literals of the trail."""
    for at in range(height, formula.counts[ASSIGNED]):
        literal = formula.trail[at]
        formula.value[literal], formula.value[literal ^ 1] = 0, 0
        formula.reason[literal >> 1] = NO_REASON
        formula.seen[literal >> 1] = 0
    formula.counts[ASSIGNED] = formula.counts[CORE_HEAD] = formula.counts[OTHER_HEAD] = height


@njit(cache=True)
def _propagate(formula: Formula, watchers: Watchers) -> int:
    """Find out what else is true: a clause in conflict, `QUIET`, or `FULL` if the lists need room (then go on)."""
    counts = formula.counts
    shift = len(formula.begin) // 2
    while True:
        if counts[CORE_HEAD] < counts[ASSIGNED]:
            said = _visit(formula, watchers, formula.trail[counts[CORE_HEAD]] ^ 1, 0)
            if said != QUIET:
                return said
            counts[CORE_HEAD] += 1
        elif counts[OTHER_HEAD] < counts[ASSIGNED]:
            said = _visit(formula, watchers, formula.trail[counts[OTHER_HEAD]] ^ 1, shift)
            if said != QUIET:
                return said
            counts[OTHER_HEAD] += 1
        else:
            return QUIET


@njit(cache=True)
def _visit(formula: Formula, watchers: Watchers, false: int, shift: int) -> int:
    """Look at the clauses that watch a literal which became false."""
    pool, value, active, start = formula.pool, formula.value, formula.active, formula.start
    clause, blocker = watchers.clause, watchers.blocker
    begin, count = formula.begin[shift + false], formula.sizes[shift + false]
    said, kept, at = QUIET, begin, begin
    while at < begin + count:
        c, other = clause[at], blocker[at]
        if value[other] == 1:
            clause[kept], blocker[kept] = c, other
            kept += 1
            at += 1
            continue
        if not active[c]:
            at += 1
            continue
        base = start[c]
        if pool[base] == false:
            pool[base], pool[base + 1] = pool[base + 1], false
        other = pool[base]
        if value[other] != 1:
            found = base + 2
            end = base + formula.size[c]
            while found < end and value[pool[found]] == -1:
                found += 1
            if found < end:
                if not _watch(formula, watchers, shift + pool[found], c, other):
                    said = FULL
                    break
                pool[base + 1], pool[found] = pool[found], false
                at += 1
                continue
        clause[kept], blocker[kept] = c, other
        kept += 1
        at += 1
        if value[other] == -1:
            said = c
            break
        if value[other] == 0:
            _assign(formula, other, c)
    while at < begin + count:
        clause[kept], blocker[kept] = clause[at], blocker[at]
        kept += 1
        at += 1
    formula.sizes[shift + false] = kept - begin
    return said


# -- there, and back ---------------------------------------------------------------------------------------------------


@njit(cache=True)
def _add(formula: Formula, watchers: Watchers, c: int) -> int:
    """Make a clause active: a clause in conflict, `QUIET`, or `FULL` with nothing changed."""
    pool, value, base, size = formula.pool, formula.value, formula.start[c], formula.size[c]
    free = 0  # literals that are not false go first
    for at in range(base, base + size):
        if value[pool[at]] != -1:
            pool[at], pool[base + free] = pool[base + free], pool[at]
            free += 1
            if free == 2:
                break
    if size > 1 and not _watch_both(formula, watchers, c):
        return FULL
    formula.active[c] = 1
    if free == 0:
        return c
    if free == 1 and value[pool[base]] == 0:
        _assign(formula, pool[base], c)
    return QUIET


@njit(cache=True)
def forward(
    formula: Formula,
    watchers: Watchers,
    inputs: int,
    deletes: Marks,
    partner: Ints,
    heights: Ints,
    step: int,
    last: int,
) -> tuple[Watchers, int, int]:
    """Add the clauses in order, up to `last`, and see what they make true by themselves.

    Clause ``step`` is the next. What became true stays so if the clause that made it true is deleted.

    Returns
    -------
    watchers
        Laid out anew if they needed room.
    conflict
        The clause in conflict, or `QUIET`.
    step
        The first that was not added.
    """
    while step < last:
        heights[step] = formula.counts[ASSIGNED]
        conflict = QUIET
        if step >= inputs and deletes[step - inputs]:
            c = partner[step - inputs]
            if c >= 0:
                formula.active[c] = 0
        else:
            conflict = _add(formula, watchers, step)
        if conflict == QUIET:
            conflict = _propagate(formula, watchers)
        while conflict == FULL:
            watchers = grown(formula, watchers)
            if formula.active[step] or (step >= inputs and deletes[step - inputs]):
                conflict = _propagate(formula, watchers)
            else:
                conflict = _add(formula, watchers, step)
                conflict = _propagate(formula, watchers) if conflict == QUIET else conflict
        step += 1
        if conflict != QUIET:
            return watchers, conflict, step
    return watchers, QUIET, step


@njit(cache=True)
def _need(formula: Formula, conflict: int, stack: Ints, fresh: Ints) -> int:
    """Put a clause in conflict, and all that made it one, into the core; list and count those that are new there."""
    depth, added = 1, 0
    stack[0] = conflict
    while depth:
        depth -= 1
        c = stack[depth]
        if not formula.core[c]:
            formula.core[c] = 1
            fresh[added] = c
            added += 1
        for at in range(formula.start[c], formula.start[c] + formula.size[c]):
            variable = formula.pool[at] >> 1
            if not formula.seen[variable]:
                formula.seen[variable] = 1
                if formula.reason[variable] != NO_REASON:
                    stack[depth] = formula.reason[variable]
                    depth += 1
    return added


@njit(cache=True)
def _move(formula: Formula, watchers: Watchers, fresh: Ints, added: int) -> Watchers:
    """Let clauses that are new in the core watch in its lists."""
    shift = len(formula.begin) // 2
    for c in fresh[:added]:
        if formula.size[c] > 1 and formula.active[c]:
            for at in range(formula.start[c], formula.start[c] + 2):
                _unwatch(formula, watchers, shift + formula.pool[at], c)
            while not _watch_both(formula, watchers, c):
                watchers = grown(formula, watchers)
    return watchers


@njit(cache=True)
def begin_backward(formula: Formula, watchers: Watchers, conflict: int, stack: Ints, fresh: Ints) -> Watchers:
    """Put what the last conflict needs into the core, and forget the clauses that are deleted."""
    watchers = grown(formula, watchers)
    return _move(formula, watchers, fresh, _need(formula, conflict, stack, fresh))


@njit(cache=True)
def backward(
    formula: Formula,
    watchers: Watchers,
    inputs: int,
    deletes: Marks,
    partner: Ints,
    heights: Ints,
    step: int,
    last: int,
    stack: Ints,
    fresh: Ints,
) -> tuple[Watchers, int, int, int]:
    """Undo the steps before `step` down to `last`, and check the lemmas of the core when they are taken away.

    A lemma follows if propagation from the opposites of its literals, by the clauses before it, ends in a conflict.

    Returns
    -------
    watchers
        Laid out anew if they needed room.
    failed
        A lemma that does not follow, or `QUIET`.
    step
        The first that was undone.
    checked
        How many lemmas were.
    """
    checked = 0
    while step > last:
        step -= 1
        if deletes[step - inputs]:
            c = partner[step - inputs]
            if c >= 0:
                formula.active[c] = 1
                while formula.size[c] > 1 and not _watch_both(formula, watchers, c):
                    watchers = grown(formula, watchers)
            continue
        formula.active[step] = 0
        if formula.counts[ASSIGNED] > heights[step]:
            _retract(formula, heights[step])
        if not formula.core[step]:
            continue
        checked += 1
        conflict = QUIET
        for at in range(formula.start[step], formula.start[step] + formula.size[step]):
            literal = formula.pool[at]
            if formula.value[literal] == 1:
                conflict = formula.reason[literal >> 1]
                break
            if formula.value[literal] == 0:
                _assign(formula, literal ^ 1, NO_REASON)
        if conflict == QUIET:
            conflict = _propagate(formula, watchers)
            while conflict == FULL:
                watchers = grown(formula, watchers)
                conflict = _propagate(formula, watchers)
            if conflict == QUIET:
                return watchers, step, step, checked
        added = _need(formula, conflict, stack, fresh)
        _retract(formula, heights[step])
        watchers = _move(formula, watchers, fresh, added)
    return watchers, QUIET, step, checked
