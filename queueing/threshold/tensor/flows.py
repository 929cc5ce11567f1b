r"""Sojourn times by theorem 4 in small spaces: what lies before a page that enters.

For a page with n sites of patience, its own the youngest, v and w (see :mod:`queueing.threshold.methods.generator`) are
columns over service phases and the space of n waiting pages, for both outcomes: served, out of date.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from ..methods import Chain
from .bases import ScaledLaw, Spaces
from .levels import Columns, product, sites

Outlook = NDArray[np.float64]


class Outlooks(NamedTuple):
    """By number of waiting pages up to the one watched: by outcome, service phase and dimension, v and w.

    Where they are scaled, `unit` is the scale of v, and `pace` that of w by that of v.
    """

    chances: list[Outlook]
    times: list[Outlook]
    unit: float = 1.0
    pace: float = 1.0


def outlooks_of(chain: Chain, law: ScaledLaw, spaces: Spaces) -> Outlooks:
    """Chances of both outcomes and times until them."""
    order = len(chain.start)
    chances, times = np.zeros((2, order, 1)), np.zeros((2, order, 1))
    chances[0] = 1.0
    times[0, :, 0] = np.linalg.solve(-chain.service, np.ones(order))
    result = Outlooks([chances], [times])
    renewed = np.outer(chain.ending, chain.start)
    for pages in range(1, chain.top):
        size = spaces.dimensions[pages]
        block = product(chain.service, np.eye(size)) + product(np.eye(order), spaces.change[pages])
        factors = lu_factor(-block, overwrite_a=True, check_finite=False)
        head, others = spaces.head[pages].T, spaces.others[pages].T
        own = law.fading @ spaces.cores[pages][:, :, 0].T
        right = np.einsum("mk,okr->omr", renewed, result.chances[-1] @ head) + result.chances[-1] @ others
        right[1] += own
        solved = lu_solve(factors, right.reshape(2, -1).T, check_finite=False)
        result.chances.append(np.ascontiguousarray(solved.T).reshape(2, order, size))
        right = np.einsum("mk,okr->omr", renewed, result.times[-1] @ head) + result.times[-1] @ others
        right += result.chances[-1]
        solved = lu_solve(factors, right.reshape(2, -1).T, check_finite=False)
        result.times.append(np.ascontiguousarray(solved.T).reshape(2, order, size))
    return result


def entering_pages(chain: Chain, spaces: Spaces, outlooks: Outlooks) -> list[Columns]:
    """By level, for each state: rate of pages that enter and will be served, their time, not be served, their time."""
    phases, order = chain.climbs.shape[2], len(chain.start)
    result: list[Columns] = []
    for level in range(chain.top + 1):
        size = spaces.dimensions[sites(level)]
        seen = np.zeros((phases, order, size, 4))
        most = min(chain.climbs.shape[1] - 1, chain.top - level)
        total = np.zeros((phases, order, spaces.dimensions[sites(level + most)], 4))
        for place in range(most, 0, -1):
            waiting = sites(level + place)
            ahead = [outlooks.chances[waiting], outlooks.times[waiting]]
            columns = np.stack([kind[outcome] for outcome in range(2) for kind in ahead], axis=-1)
            total = total + chain.joining[level, place][:, np.newaxis, np.newaxis, np.newaxis] * columns
            if waiting > sites(level + place - 1):
                total = np.einsum("qr,nmrk->nmqk", spaces.entry[waiting], total)
        seen += total
        if level == 0:
            result.append(np.einsum("m,nmrk->nrk", chain.start, seen))
        else:
            result.append(seen.reshape(phases * order, size, 4))
    return result
