"""What searches for a placement lean on: penalties, a bound at the price of a sort, walks, repair, and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision

from ..costs import Limits
from . import measures as service
from .data import part_of
from .layout import Piece
from .walk import Sites, append, rings, standing_of, unplug

if TYPE_CHECKING:
    from .problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Price of one client too many, in median prices of a site: below 1, annealing ends in infeasible placements.
PENALTY = 1.5

#: Utilisations tabulated for walks (160 MB); larger problems with operating costs are walked by full evaluations.
LARGEST_TABLE = 20_000_000


def penalty_rate(problem: PlacementProblem) -> float:
    """Price of one client too many in searches that pass through infeasible placements."""
    weights = problem.weights or {"opening": 1.0}
    prices = abs(weights.get("opening", 0.0)) * problem.opening_cost
    if problem.operating_cost is not None:
        prices = prices + abs(weights.get("operating", 0.0)) * problem.operating_cost
    prices = prices + abs(weights.get("mean_distance", 0.0)) * (int(problem.distances.max()) - 1)  # a site saves less
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
    missing, bound = float(problem.demand.sum()), 0.0
    for site in sites[np.argsort(prices[sites] / room[sites])]:
        taken = min(missing, float(room[site]))
        bound += prices[site] * taken / room[site]
        missing -= taken
    return float(bound) + (weights.get("mean_distance", 0.0) if problem.demand.any() else 0.0)


def sites_of(problem: PlacementProblem) -> Sites | None:
    """What compiled walks need; ``None`` if the price is not a sum over sites of load and farthest client.

    Distances of clients may have a price besides.
    """
    weights = problem.weights
    if problem.limits or weights is None or set(weights) - {"opening", "operating", "mean_distance"}:
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
    order, ring = rings(problem.distances)
    return Sites(
        distances=problem.distances,
        order=order,
        ring=ring,
        demand=problem.demand,
        opening=weights.get("opening", 0.0) * problem.opening_cost,
        operating=operating,
        capacity=problem.capacity,
        penalty=problem.penalty_rate,
        geodesic=not isinstance(problem.layout, Piece),
        distance=problem.distance_price,
    )


def repaired(problem: PlacementProblem, sites: Sites, decision: Decision, rng: np.random.Generator) -> Decision:
    """A feasible placement near `decision`, see `PlacementProblem.repair`."""
    if not problem.allowed.any():
        return decision
    standing = standing_of(sites, np.where(problem.allowed, np.asarray(decision, np.uint8), 0))
    append(sites, standing, problem.allowed.astype(np.uint8), rng.permutation(problem.layout.sites))
    unplug(sites, standing, closing_order(problem.demand, problem.opening_cost, rng))
    return tuple(int(value) for value in standing.is_open)


def closing_order(demand: NDArray[Any], opening_cost: Floats, rng: np.random.Generator) -> Ints:
    """All sites, those with few clients for their price first, shuffled a little."""
    dearest = float(opening_cost.max(initial=0.0)) or 1.0
    value = (demand + 1.0) / np.maximum(opening_cost / dearest, 1e-12)
    return np.argsort(value * rng.lognormal(0.0, 1.0, len(value)), kind="stable").astype(np.int64)


def restricted(problem: PlacementProblem, cells: Sequence[int]) -> PlacementProblem:
    """The problem of these cells alone, see `PlacementProblem.restrict`."""
    chosen = np.array(cells, dtype=np.int64)
    whole = np.array_equal(chosen, np.arange(problem.layout.sites))
    piece = problem.layout if whole else Piece(problem.layout, tuple(int(cell) for cell in cells))
    part: PlacementProblem = object.__new__(type(problem))
    by_site = ("demand", "opening_cost", "service_rate", "processors")
    part._keep(
        name=f"{problem.name} ({len(chosen)} cells)",
        layout=piece,
        shape=problem.shape if whole else None,
        network=piece if problem.shape is None or not whole else None,
        operating_cost=None,
        **{name: getattr(problem, name)[chosen] for name in by_site},
        think_time=dict(problem.think_time) if whole else part_of(problem.think_time, problem.layout, chosen.tolist()),
        think_times=np.ascontiguousarray(problem.think_times[chosen, : int(piece.distances.max())]),
        quality=problem.quality,
        requests=problem.requests,
        request_share=problem.request_share,
        cost=None,
        limits=Limits(),
    )
    return part
