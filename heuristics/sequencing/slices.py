"""Long cycles a slice at a time: compiled loops hear neither Ctrl-C nor a clock, but between two of them one can."""

from __future__ import annotations

from collections.abc import Callable

from .. import interrupting
from .apportionment import Whole

#: Slots that are filled at once: some tenths of a second.
SLICE = 1 << 20


def in_slices(fill: Callable[[int, Whole], int], schedule: Whole) -> int:
    """Fill a schedule by ``fill(slot, some)``, which fills `some` from `slot` on and tells how many slots it filled.

    Returns
    -------
    int
        Slots filled, fewer than there are where one slice could not be filled.
    """
    filled = 0
    while filled < len(schedule):
        interrupting.check()
        some = schedule[filled : filled + SLICE]
        done = fill(filled, some)
        filled += done
        if done < len(some):
            break
    return filled
