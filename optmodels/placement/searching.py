"""What searches for a placement lean on: penalties, a bound at the price of a sort, walks, repair, and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision

from ..costs import Limits
from . import measures as service
from .data import part_of, think_times
from .geometry.fixed import CLOSED, OPEN
from .layout import Piece, show
from .measures import mean_distance
from .walk import Sites, flip, rings, standing_of

if TYPE_CHECKING:
    from .problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Price of one client too many, in median prices of a site: below 1, annealing ends in infeasible placements.
PENALTY = 1.5

#: Utilisations tabulated for walks (160 MB); larger problems with operating costs are walked by full evaluations.
LARGEST_TABLE = 20_000_000


class Missing:
    """What problems of another class have, and this one has not."""

    def __get__(self, problem: object, owner: object = None) -> NoReturn:
        raise AttributeError("a problem of this class has none.")


def penalty_rate(problem: PlacementProblem) -> float:
    """Price of one client too many in searches that pass through infeasible placements."""
    weights = problem.weights or {"opening": 1.0}
    prices = abs(weights.get("opening", 0.0)) * problem.opening_cost
    if problem.operating_cost is not None:
        prices = prices + abs(weights.get("operating", 0.0)) * problem.operating_cost
    apart = float(problem.distances.max() - problem.distances.min())
    prices = prices + abs(weights.get("open_sites", 0.0))
    prices = prices + abs(weights.get("mean_distance", 0.0)) * apart  # a site saves less
    if not prices.any():
        prices = problem.opening_cost
    positive = prices[prices > 0]
    return PENALTY * (float(np.median(positive)) if len(positive) else 1.0)


def lower_bound(problem: PlacementProblem) -> float:
    """A value no feasible placement goes below, see `PlacementProblem.lower_bound`."""
    weights = problem.weights
    if weights is None or any(
        weight < 0 or name not in ("opening", "operating", "open_sites", "mean_distance")
        for name, weight in weights.items()
    ):
        return -math.inf
    prices = problem.site_prices
    room = np.where(problem.allowed, problem.capacity[:, 0], 0)
    if int(room.sum()) < int(problem.demand.sum()):
        return math.inf
    sites = np.flatnonzero(room > 0)
    fixed = problem.fixed == OPEN
    missing, bound = float(problem.demand.sum()) - float(room[fixed].sum()), float(prices[fixed].sum())
    sites = sites[~fixed[sites]]
    for site in sites[np.argsort(prices[sites] / room[sites])]:
        taken = max(0.0, min(missing, float(room[site])))
        bound += prices[site] * taken / room[site]
        missing -= taken
    free = problem.allowed & ~fixed
    more = min(max(0, math.ceil(max(0.0, problem.numbers[0])) - int(fixed.sum())), int(free.sum()))
    bound = max(bound, float(prices[fixed].sum()) + float(np.sort(prices[free])[:more].sum()))
    near = problem.distances[problem.allowed] if problem.allowed.any() else problem.distances
    nearest = mean_distance(problem.demand, near.min(axis=0))
    return float(bound) + weights.get("mean_distance", 0.0) * (nearest or 0.0)


def sites_of(problem: PlacementProblem) -> Sites | None:
    """What compiled walks need; ``None`` if the price is not a sum over sites of load and farthest client.

    Distances of clients may have a price besides.
    """
    weights = problem.weights
    if weights is None or set(weights) - {"opening", "open_sites", "operating", "mean_distance"}:
        return None
    numbers = np.array(problem.numbers)
    if set(problem.limits.by_measure) - {"open_sites"} or (np.isfinite(numbers) & (numbers != np.floor(numbers))).any():
        return None
    if weights.get("mean_distance") and not problem.demand.any():
        return None  # there is no mean
    operating = np.zeros((1, 1, 1))
    if weights.get("operating") and problem.operating_cost is not None:
        if problem.quality.guarantee != "farthest":
            return None  # utilisation depends on the exact mix of distances
        if problem.capacity.size * (int(problem.capacity.max()) + 2) > LARGEST_TABLE:
            return None
        table = service.utilisation_table(problem)
        operating = weights["operating"] * problem.operating_cost[:, None, None] * table
    ranks, lengths = problem.layout.ranks, problem.layout.lengths
    order, ring = rings(ranks)
    return Sites(
        ranks=ranks,
        levels=problem.levels,
        order=order,
        ring=ring,
        length=lengths,
        anchor=problem.layout.anchors,
        demand=problem.demand,
        opening=problem.site_prices,
        operating=operating,
        capacity=problem.capacity,
        penalty=problem.penalty_rate,
        geodesic=ranks is problem.levels and not isinstance(problem.layout, Piece),
        whole=bool((lengths == np.floor(lengths)).all()),
        distance=problem.distance_price,
        fixed=problem.fixed,
        numbers=numbers,
    )


def repaired(problem: PlacementProblem, sites: Sites, decision: Decision, rng: np.random.Generator) -> Decision:
    """A feasible placement near `decision`, see `PlacementProblem.repair`."""
    from .repairing import append, unplug  # which not every question needs

    if not problem.allowed.any():
        return decision
    wanted = np.where(problem.allowed, np.asarray(decision, np.uint8), 0) | (problem.fixed == OPEN)
    standing = standing_of(sites, wanted)
    order = rng.permutation(problem.layout.sites)
    append(sites, standing, problem.allowed.astype(np.uint8), order)
    fewest = problem.numbers[0]
    for site in order:
        if standing.totals[5] < fewest and problem.allowed[site] and not standing.is_open[site]:
            flip(sites, standing, site)
    sites = sites._replace(numbers=np.array([fewest, math.inf]))  # with more than may be, too, nobody is overloaded
    closing = closing_order(problem.layout.around(problem.demand), problem.opening_cost, rng)
    # Where distance has a price, a site that costs nothing is superfluous only if there are more than may be.
    useful = (problem.site_prices[closing] == 0) & (problem.distance_price > 0)
    unplug(sites, standing, closing[~useful])
    for place in np.flatnonzero(useful):
        if standing.totals[5] <= problem.numbers[1]:
            break
        unplug(sites, standing, closing[place : place + 1])
    return tuple(int(value) for value in standing.is_open)


def closing_order(demand: NDArray[Any], opening_cost: Floats, rng: np.random.Generator) -> Ints:
    """All sites, those with few clients for their price first, shuffled a little."""
    dearest = float(opening_cost.max(initial=0.0)) or 1.0
    value = (demand + 1.0) / np.maximum(opening_cost / dearest, 1e-12)
    return np.argsort(value * rng.lognormal(0.0, 1.0, len(value)), kind="stable").astype(np.int64)


def restricted(problem: PlacementProblem, cells: Sequence[int]) -> PlacementProblem:
    """The problem of these cells alone, see `PlacementProblem.restrict`."""
    if not problem.layout.together:
        raise ValueError(f"{problem.name!r} has no part: its cells are not its sites.")
    chosen = np.array(cells, dtype=np.int64)
    whole = np.array_equal(chosen, np.arange(problem.layout.sites))
    piece = problem.layout if whole else Piece(problem.layout, tuple(int(cell) for cell in cells))
    part: PlacementProblem = object.__new__(type(problem))
    think_time = dict(problem.think_time)
    if not whole:
        think_time = part_of(problem.think_time, problem.layout, chosen.tolist())
    times, levels = (problem.think_times, problem.levels) if whole else think_times(think_time, piece)
    by_site = ("demand", "opening_cost", "service_rate", "processors")
    states = problem.fixed[chosen].tolist()
    opened, closed = (tuple(at for at, state in enumerate(states) if state == which) for which in (OPEN, CLOSED))
    part._keep(
        name=f"{problem.name} ({len(chosen)} cells)",
        layout=piece,
        shape=problem.shape if whole else None,
        network=problem.network if whole else piece,
        distances=show(piece),
        clients=None,
        operating_cost=None,
        **{name: getattr(problem, name)[chosen] for name in by_site},
        think_time=think_time,
        think_times=times,
        levels=levels,
        quality=problem.quality,
        fixed_open=opened,
        fixed_closed=closed,
        requests=problem.requests,
        request_share=problem.request_share,
        cost=None,
        limits=Limits(),
    )
    return part
