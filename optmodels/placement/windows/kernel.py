"""The best setting of a window of sites, all others left as they are, in compiled code.

Opening a site never raises the load of another, nor the distance of its farthest client. So the window is opened first,
and its sites are decided one by one, nearest to its centre first: closed, then open. What is overloaded although all
that is undecided is open stays overloaded, and what is paid for already is paid for whatever follows: a branch ends
where a site that is decided, or outside, has clients too many, or where its price reaches the best one found. Of the
2^w settings of a window of w sites about 1.5^w are looked at.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..walk import Sites, Standing, _distance, _flip, refresh

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: A setting must be cheaper by this much (relative) to count: rounding errors are no gain.
PROGRESS = 1e-9


@njit(cache=True)
def settle(sites: Sites, standing: Standing, window: Ints, noise: Floats, least: Floats, most: int) -> tuple[int, bool]:
    """Put a window of sites into its best feasible setting.

    Parameters
    ----------
    sites
        What does not change.
    standing
        Where the walk stands; it is changed. It stays as it is if no setting is feasible, or none cheaper.
    window
        Sites, each once.
    noise
        For each of them what opening it costs beside its price.
    least
        Site x farthest level x load: the least it costs to operate a site with this load or more, and this level or a
        higher one; one entry if operating costs nothing.
    most
        Flips at most, at least two for every site of the window.

    Returns
    -------
    tuple
        Flips made, and whether all settings have been looked at or ruled out.
    """
    width = len(window)
    is_open, totals = standing.is_open, standing.totals
    refresh(sites, standing)
    price, best = np.zeros(width), np.zeros(width, np.uint8)
    paid = np.zeros(width + 1)  # for the sites decided so far: sums are never taken back, which would round
    lowest = 0.0
    for at in range(width):
        site = window[at]
        price[at] = sites.opening[site] + noise[at]
        best[at] = is_open[site]
        if is_open[site]:
            lowest += price[at]
    lowest = lowest + _beside(sites, standing) if totals[2] + totals[3] == 0 else np.inf
    flips = 0
    for at in range(width):
        if not is_open[window[at]]:
            _flip(sites, standing, window[at])
            flips += 1
    rest = np.full(width + 1, _steady(sites, standing, window, least))  # what is not decided costs at least
    for at in range(width - 1, -1, -1):
        rest[at] = rest[at + 1] + min(0.0, price[at])
    tried = np.zeros(width + 1, np.int8)  # per site: nothing, closed, open
    at, complete = 0, True
    if not _possible(sites, standing, window, 0):
        at = -1
    while at >= 0:
        if at == width:
            found = paid[at] + _beside(sites, standing)
            if found < lowest - PROGRESS * abs(lowest) or lowest == np.inf:
                lowest = found
                for beside in range(width):
                    best[beside] = is_open[window[beside]]
            at -= 1
            continue
        if tried[at] == 2:
            at -= 1
            continue
        if flips >= most - width:
            complete = False
            break
        site = window[at]
        _flip(sites, standing, site)
        flips += 1
        tried[at] += 1
        if tried[at] == 1:
            paid[at + 1] = paid[at]
        else:
            paid[at + 1] = paid[at] + price[at]
        within = _possible(sites, standing, window, at + 1)
        bound = paid[at + 1] + rest[at + 1] + sites.distance * totals[4]
        if within and (lowest == np.inf or bound < lowest - PROGRESS * abs(lowest)):
            at += 1
            tried[at] = 0
    for beside in range(width):
        if is_open[window[beside]] != best[beside]:
            _flip(sites, standing, window[beside])
            flips += 1
    refresh(sites, standing)
    return flips, complete


@njit(cache=True)
def _beside(sites: Sites, standing: Standing) -> float:
    """What operating and distances cost, summed anew: without the rounding errors of the way."""
    total = 0.0
    if sites.distance != 0:
        total += sites.distance * (standing.totals[4] if sites.whole else _distance(sites, standing))
    if sites.operating.shape[2] > 1:
        total += standing.running.sum()
    return total


@njit(cache=True, inline="always")
def _possible(sites: Sites, standing: Standing, window: Ints, first: int) -> bool:
    """Tell whether a placement may become feasible by closing some of the sites of a window from number `first` on."""
    totals = standing.totals
    fewest, most = sites.numbers
    if totals[3] > 0 or totals[5] < fewest or totals[5] - (len(window) - first) > most:
        return False
    undecided = max(0.0, totals[5] - most)  # what is too many while all of them are open
    for at in range(first, len(window)):
        undecided += standing.excess[window[at]]
    return bool(totals[2] <= undecided)


@njit(cache=True)
def _steady(sites: Sites, standing: Standing, window: Ints, least: Floats) -> float:
    """What it costs at least to operate the sites outside a window, which is open now."""
    total = 0.0
    if least.shape[2] == 1:
        return total
    for site in range(len(standing.load)):
        if standing.is_open[site] and standing.load[site] > 0:
            total += least[site, standing.farthest[site] - 1, min(standing.load[site], least.shape[2] - 1)]
    for site in window:
        if standing.load[site] > 0:
            total -= least[site, standing.farthest[site] - 1, min(standing.load[site], least.shape[2] - 1)]
    return total
