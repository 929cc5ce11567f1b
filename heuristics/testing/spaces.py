"""A check that a space of decisions is consistent: for our own tests and for third parties."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np

from ..protocols import Space

#: Spaces up to this size are listed and counted.
LISTED = 4096


def check_space(space: Space, rng: np.random.Generator, count: int = 20) -> None:
    """Assert that what a space says and does fits together.

    Parameters
    ----------
    space
        Of decisions; up to `LISTED` of them are listed.
    rng
        Draws the decisions that are looked at.
    count
        How many pairs of them.

    Raises
    ------
    AssertionError
        With a sentence on the first rule that is broken.

    Examples
    --------
    >>> from heuristics.spaces import BinaryVectors
    >>> check_space(BinaryVectors(3), np.random.default_rng(0))
    """
    assert isinstance(space, Space), f"{space!r} lacks something of heuristics.Space."
    assert space.size > 0, f"the space {space!r} is empty."
    for _ in range(count):
        first, second = space.sample(rng), space.sample(rng)
        near = space.neighbour(first, rng)
        for made, how in (
            (first, "sample"),
            (near, "neighbour"),
            *((c, "crossover") for c in space.crossover(first, second, rng)),
        ):
            assert made in space, f"{how} made {made!r}, which is not in the space {space!r}."
            checked = space.check(made)
            assert is_same(checked, made), f"check changes {made!r}, made by {how}, to {checked!r}."
        for beside in islice(space.neighbours(first), 5) if space.size != math.inf else ():
            assert beside in space, f"neighbours made {beside!r}, which is not in the space {space!r}."
    assert object() not in space, f"the space {space!r} takes any object for a decision."
    if space.size <= LISTED:
        listed = list(space)
        assert len(listed) == space.size, f"the space says it has {space.size} decisions and lists {len(listed)}."
        assert len(set(listed)) == len(listed), f"the space {space!r} lists a decision twice."


def is_same(first: Any, second: Any) -> bool:
    """Tell whether two decisions are the same, arrays too.

    Parameters
    ----------
    first, second
        Decisions.

    Returns
    -------
    bool
        Whether they are.
    """
    return bool(np.array_equal(first, second)) if isinstance(first, np.ndarray) else bool(first == second)
