"""DRAT files, the proofs of solvers, read byte by byte in compiled code.

A step adds a clause or deletes one. Literals become 2 v for variable v and 2 v + 1 for its opposite, as they stand in
the binary format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Literals = NDArray[np.int32]
Marks = NDArray[np.int8]

#: What `read_binary` and `read_text` say besides the position of a mistake.
SOUND = -1


def written(clauses: Iterable[Sequence[int]], *, binary: bool) -> bytes:
    r"""Write steps that add clauses.

    Parameters
    ----------
    clauses
        In signs of DIMACS.
    binary
        Whether in the binary format, not in letters.

    Examples
    --------
    >>> written([(1, -2)], binary=False), written([(1, -64)], binary=True)
    (b'1 -2 0\n', b'a\x02\x81\x01\x00')
    """
    if not binary:
        return "".join(f"{' '.join(map(str, (*clause, 0)))}\n" for clause in clauses).encode()
    found = bytearray()
    for clause in clauses:
        found += b"a"
        for literal in (*clause, 0):
            number = 2 * abs(literal) + (literal < 0)
            while number > 127:
                found.append(number & 127 | 128)
                number >>= 7
            found.append(number)
    return bytes(found)


@njit(cache=True)
def read_binary(data: Bytes, literals: Literals, ends: Ints, deletes: Marks, most: int) -> tuple[int, int, int]:
    """Read a binary DRAT file: ``a`` or ``d``, then numbers in groups of seven bits, up to a zero.

    Returns
    -------
    at
        `SOUND`, or the byte where the file is none.
    steps, used
        How many clauses and literals there are; only counted where the arrays are empty.
    """
    steps, used, at, counting = 0, 0, 0, len(ends) == 0
    while at < len(data):
        begin = at
        if data[at] != 97 and data[at] != 100:
            return at, steps, used
        if not counting:
            deletes[steps] = data[at] == 100
        at += 1
        while True:
            number, shift = 0, 0
            while True:
                if at == len(data) or shift > 28:
                    return begin, steps, used
                byte = int(data[at])
                number |= (byte & 127) << shift
                shift += 7
                at += 1
                if byte < 128:
                    break
            if number == 0:
                break
            if number < 2 or number > 2 * most + 1:
                return begin, steps, used
            if not counting:
                literals[used] = number
            used += 1
        if not counting:
            ends[steps] = used
        steps += 1
    return SOUND, steps, used


@njit(cache=True)
def read_text(data: Bytes, literals: Literals, ends: Ints, deletes: Marks, most: int) -> tuple[int, int, int]:
    """Read a DRAT file in letters, in the same way: ``d`` before what is deleted, every clause ended by a zero."""
    steps, used, at, counting = 0, 0, 0, len(ends) == 0
    inside, deleting = False, False
    begin = 0
    while at < len(data):
        byte = int(data[at])
        if byte == 32 or byte == 9 or byte == 10 or byte == 13:
            at += 1
            continue
        if byte == 99 and not inside:  # a comment
            while at < len(data) and data[at] != 10:
                at += 1
            continue
        if not inside:
            begin, inside, deleting = at, True, byte == 100
            if deleting:
                at += 1
                continue
        negative = byte == 45
        at += negative
        number, digits = 0, 0
        while at < len(data) and 48 <= data[at] <= 57:
            number = 10 * number + int(data[at]) - 48
            digits += 1
            at += 1
            if number > most:
                return begin, steps, used
        if digits == 0 or (at < len(data) and data[at] > 32):
            return begin, steps, used
        if number:
            if not counting:
                literals[used] = 2 * number + negative
            used += 1
            continue
        if not counting:
            ends[steps] = used
            deletes[steps] = deleting
        steps += 1
        inside = False
    return begin if inside else SOUND, steps, used


@njit(cache=True)
def tidy(pool: Literals, start: Ints, size: Ints, keys: Ints, clauses: int, variables: int) -> None:
    """Drop repeated literals; give every clause a key that does not depend on their order."""
    last = np.full(2 * variables + 2, -1, np.int64)
    for c in range(clauses):
        base, kept = start[c], 0
        total, mixed = np.uint64(0), np.uint64(0)
        for at in range(base, base + size[c]):
            literal = pool[at]
            if last[literal] == c:
                continue
            last[literal] = c
            pool[base + kept] = literal
            kept += 1
            word = np.uint64(literal) * np.uint64(0x9E3779B97F4A7C15)
            word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            total += word
            mixed ^= word
        size[c] = kept
        keys[c] = np.int64((total ^ (mixed >> np.uint64(7))) >> np.uint64(1))


@njit(cache=True)
def pair_deletions(keys: Ints, deletes: Marks, inputs: int, partner: Ints) -> None:
    """Find for every deletion the clause that it takes away, by its key, ``-1`` if there is none.

    Clauses ``inputs``, ``inputs`` + 1, ... are the steps of the proof, added ones and deletions. Should two clauses
    have one key, the wrong one may be taken away; then less follows, and nothing wrong does.
    """
    slots = 1
    while slots < 2 * len(keys):
        slots *= 2
    head = np.full(slots, -1, np.int64)
    following = np.full(len(keys), -1, np.int64)
    for c in range(len(keys)):
        slot = keys[c] & (slots - 1)
        if c < inputs or not deletes[c - inputs]:
            following[c] = head[slot]
            head[slot] = c
            continue
        before, found = -1, head[slot]
        while found >= 0 and keys[found] != keys[c]:
            before, found = found, following[found]
        partner[c - inputs] = found
        if found >= 0 and before < 0:
            head[slot] = following[found]
        elif found >= 0:
            following[before] = following[found]
