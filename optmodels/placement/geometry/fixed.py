"""Sites that are open, or closed, whatever is decided about the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Reader, Refusal, is_whole

#: The fields of a file.
FIELDS = ("fixed_open", "fixed_closed")

#: What is decided about a site already: nothing, that it is closed, that it is open.
FREE, CLOSED, OPEN = -1, 0, 1

_RULE = "fixed sites are a list of site numbers from 0, row by row on a grid, each once."


def _listed(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple):
        raise Refusal(_RULE)
    seen: set[int] = set()
    for index, site in enumerate(value):
        if not is_whole(site) or site < 0 or int(site) in seen:
            raise Refusal(_RULE, index)
        seen.add(int(site))
    return tuple(int(site) for site in value)


#: What reads the fields ``fixed_open`` and ``fixed_closed``.
FixedField = Reader(
    _listed,
    {"type": "array", "items": {"type": "integer", "minimum": 0}, "form": "list of whole numbers", "rule": _RULE},
)


def fixed_sites(opened: Sequence[int], closed: Sequence[int], sites: int) -> NDArray[np.int8]:
    """Note at each site what is decided already.

    Parameters
    ----------
    opened, closed
        Numbers of sites.
    sites
        How many there are.

    Returns
    -------
    array
        Per site: 1 open, 0 closed, -1 nothing is decided; it cannot be written to.

    Raises
    ------
    Refusal
        If there is no such site, or one is to be both.

    Examples
    --------
    >>> from optmodels.placement.geometry import fixed_sites
    >>> fixed_sites([2], [0], 4).tolist()
    [0, -1, 1, -1]
    """
    fixed = np.full(sites, FREE, np.int8)
    for name, numbers, state in (("fixed_open", opened, OPEN), ("fixed_closed", closed, CLOSED)):
        for index, site in enumerate(numbers):
            if site >= sites:
                raise Refusal(f"there are {sites} sites, numbered from 0.", name, index)
            if fixed[site] not in (FREE, state):
                raise Refusal("this site is fixed open, too; it can be one of both.", name, index)
            fixed[site] = state
    fixed.setflags(write=False)
    return fixed


def fixed_violations(fixed: NDArray[np.int8], is_open: NDArray[np.uint8]) -> dict[str, float]:
    """Count the sites that are not as they are fixed.

    Parameters
    ----------
    fixed
        As `fixed_sites` has it.
    is_open
        0 or 1 per site.

    Returns
    -------
    dict
        By the field that is broken; empty if none is.
    """
    counts = {
        "fixed_open": float(np.count_nonzero((fixed == OPEN) & (is_open == 0))),
        "fixed_closed": float(np.count_nonzero((fixed == CLOSED) & (is_open != 0))),
    }
    return {name: count for name, count in counts.items() if count}
