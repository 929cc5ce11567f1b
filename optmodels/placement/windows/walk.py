"""A placement that moves window by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision
from heuristics.siting import Settled

from ..geometry.fixed import FREE
from ..walk import PlacementWalk, partners, standing_of
from .kernel import settle

if TYPE_CHECKING:
    from ..problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(eq=False)
class PlacementWindows(PlacementWalk):
    """A walk that knows the best setting of a few sites that are near to one another.

    Parameters
    ----------
    sites, standing, choices, partners
        As of a `PlacementWalk`.
    least
        As `optmodels.placement.windows.kernel.settle` takes it.
    scale
        The price of a typical site, the unit of noise.

    Examples
    --------
    >>> import optmodels as om
    >>> walk = om.load("gautam-2x3").start_windows((1, 1, 1, 1, 1, 1))
    >>> settled = walk.settle(np.arange(6), np.zeros(6), 1000)
    >>> walk.current, settled.complete
    ((0, 0, 1, 1, 1, 0), True)
    """

    least: Floats
    scale: float

    @property
    def width(self) -> int:
        """How many sites a window can hold."""
        return len(self.choices)

    def window(self, rng: np.random.Generator, size: int, among: Ints | None = None) -> Ints:
        """Draw a site, and take those that are nearest to it, ties in random order."""
        choices = self.choices if among is None else among
        centre = rng.integers(len(choices))
        away = self.sites.ranks[self.sites.anchor[choices[centre]], choices] + rng.random(len(choices))
        away[centre] = 0.0
        near = np.argpartition(away, size - 1)[:size] if size < len(away) else np.arange(len(away))
        return np.ascontiguousarray(choices[near[np.argsort(away[near])]])

    def settle(self, window: Ints, noise: Floats, most: int) -> Settled:
        """Put a window into its best feasible setting, with noise on its prices."""
        flips, complete = settle(self.sites, self.standing, window, noise * self.scale, self.least, most)
        return Settled(int(flips), bool(complete))


def windows_of(problem: PlacementProblem, decision: Decision) -> PlacementWindows:
    """Begin a walk from window to window.

    Parameters
    ----------
    problem
        One that `refusal` does not refuse.
    decision
        Where the walk begins.

    Returns
    -------
    PlacementWindows
        Its windows hold sites that may be open and are not fixed.

    Examples
    --------
    >>> import optmodels as om
    >>> windows_of(om.load("gautam-2x3"), (1, 1, 1, 1, 1, 1)).width
    6
    """
    sites = problem._sites
    if sites is None:
        raise ValueError(refusal(problem))
    choices = np.flatnonzero(problem.allowed & (problem.fixed == FREE))
    choices = choices if len(choices) else np.arange(problem.layout.sites)
    prices = np.abs(sites.opening[choices])
    return PlacementWindows(
        sites,
        standing_of(sites, decision),
        choices.astype(np.int64),
        partners(sites),
        least_operating(sites.operating),
        float(np.median(prices[prices > 0])) if prices.any() else sites.penalty,
    )


def least_operating(operating: Floats) -> Floats:
    """The least of a table over all loads and levels that are no smaller.

    >>> least_operating(np.array([[[0.0, 2.0, 3.0], [0.0, 1.0, 4.0]]])).tolist()
    [[[0.0, 1.0, 3.0], [0.0, 1.0, 4.0]]]
    """
    for axis in (1, 2):
        operating = np.flip(np.minimum.accumulate(np.flip(operating, axis), axis=axis), axis)
    return np.ascontiguousarray(operating)


def refusal(problem: PlacementProblem) -> str | None:
    """Tell why windows cannot be searched.

    Parameters
    ----------
    problem
        Of kind "placement".

    Returns
    -------
    str or None
        One sentence; ``None`` if they can.

    Examples
    --------
    >>> import optmodels as om
    >>> refusal(om.load("gautam-2x3")) is None
    True
    """
    told = f"strategy 'large-neighbourhood' needs a price that is a sum over sites; {problem.name!r}"
    if set(problem.limits.by_measure) - {"open_sites"}:
        return f"{told} has limits on measures; take annealing."
    if problem._sites is None:
        return f"{told} has another; take annealing."
    weights = problem.weights or {}
    if min(weights.get("operating", 0.0), weights.get("mean_distance", 0.0)) < 0:
        return f"{told} is paid for load or distance; take annealing."
    return None
