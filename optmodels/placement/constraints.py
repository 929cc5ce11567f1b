r"""Variables and constraints of the integer program of a placement, piece by piece.

What they mean, and why they are exact and tight together, is told in :mod:`optmodels.placement.mip`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr import LinearExpression

from ..costs import ROUNDING, Limit
from ..mip import common_step
from .geometry.fixed import OPEN
from .patterns import utilisations

if TYPE_CHECKING:
    from .mip import Plan
    from .problem import PlacementProblem

#: Measures that are linear in the variables.
PRICED = ("opening", "operating", "open_sites", "mean_distance")

#: Largest factor in a row that limits a measure, about: what solvers take for rounding is 1e-9 of it.
ROW_SIZE = 2.0**10

#: Factors and variables of a sum.
Terms = list[tuple[float, Any]]


def linear(terms: Terms) -> Any:
    """Write a sum of products; far quicker to make than by operators."""
    return LinearExpression(
        linear_coefs=[factor for factor, _ in terms], linear_vars=[variable for _, variable in terms]
    )


def net(plus: Iterable[Any], minus: Iterable[Any] = ()) -> Any:
    """Write the sum of some variables less the sum of others."""
    return linear([(1.0, variable) for variable in plus] + [(-1.0, variable) for variable in minus])


def declare_variables(model: pyo.ConcreteModel, plan: Plan) -> None:
    """Sites, cells, services, patterns; only those that some feasible placement may need."""
    problem = plan.reach.problem
    model.is_open = pyo.Var(range(problem.layout.sites), domain=pyo.Binary)
    for site in np.flatnonzero(~problem.allowed).tolist():
        model.is_open[site].setub(0)
    for site in np.flatnonzero(problem.fixed == OPEN).tolist():
        model.is_open[site].setlb(1)
    model.nearest = pyo.Var(
        [(cell, d, service.share) for (cell, d), at in plan.services_of.items() for service in at], domain=pyo.Binary
    )
    model.served = pyo.Var(
        [(*pair, service.share) for pair, services in plan.reach.services.items() for service in services],
        bounds=(0, 1),
    )
    model.pattern = pyo.Var(
        [(site, number) for site, block in plan.patterns.items() for number in range(len(block.patterns))],
        bounds=(0, 1),
    )


def every_cell_is_served(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Each cell with clients has its home h open, if it has one, or is served from one other rank with one share.

    .. math::  x_{h(k)} + \sum_{d, q} z_{kdq} = 1
    """

    def rule(model: Any, cell: int) -> Any:
        served = [model.nearest[cell, d, s.share] for d in plan.distances_of[cell] for s in plan.services_of[cell, d]]
        return net([*_home(model, plan, cell), *served]) == 1

    model.every_cell_is_served = pyo.Constraint(plan.reach.clients, rule=rule)


def ties_are_counted(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""As many sites serve a cell as its share says, and only with that share.

    .. math::
        n^-_{kq} z_{kdq} \le \sum_{j : r(k, j) = d} w_{jkq} \le n^+_{kq} z_{kdq}, \qquad w_{jkq} \le z_{kdq}
    """
    at = {
        (cell, d, service.share): (service, sites)
        for (cell, d), services in plan.services_of.items()
        for service, sites in services.items()
    }

    def total(model: Any, cell: int, d: int, share: int, count: int) -> Any:
        _, sites = at[cell, d, share]
        terms = [(1.0, model.served[site, cell, share]) for site in sites]
        return linear([*terms, (-float(count), model.nearest[cell, d, share])])

    def enough(model: Any, cell: int, d: int, share: int) -> Any:
        service, _ = at[cell, d, share]
        body = total(model, cell, d, share, service.fewest)
        return body == 0 if service.fewest == service.most else body >= 0

    def not_too_many(model: Any, cell: int, d: int, share: int) -> Any:
        service, sites = at[cell, d, share]
        if service.fewest == service.most or len(sites) < service.most:
            return pyo.Constraint.Skip  # it is an equality already, or w <= z says it
        return total(model, cell, d, share, service.most) <= 0

    def with_that_share(model: Any, site: int, cell: int, share: int) -> Any:
        d = int(plan.reach.problem.layout.ranks[cell, site])
        if at[cell, d, share][0].most == 1 and len(at[cell, d, share][1]) == 1:
            return pyo.Constraint.Skip  # the sum says it
        return net([model.served[site, cell, share]], [model.nearest[cell, d, share]]) <= 0

    model.enough_ties = pyo.Constraint(list(at), rule=enough)
    model.not_too_many_ties = pyo.Constraint(list(at), rule=not_too_many)
    model.with_that_share = pyo.Constraint(model.served.index_set(), rule=with_that_share)


def by_the_nearest(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""An open site serves a cell unless the cell is served from nearer.

    .. math::  x_j \le \sum_q w_{jkq} + x_{h(k)} + \sum_{d < r(k, j), q} z_{kdq}

    Sites beyond the largest rank from which a cell can be served need no row: the right side is 1.
    """
    ranks = plan.reach.problem.layout.ranks
    sites = np.array(plan.reach.sites, dtype=np.int64)
    rings: dict[tuple[int, int], list[Any]] = {}  # what makes the cell served from nearer than d
    pairs: list[tuple[int, int]] = []
    for cell in plan.reach.clients:
        served_from = plan.distances_of[cell]
        terms = _home(model, plan, cell)
        for d in served_from:
            rings[cell, d] = list(terms)
            terms += [model.nearest[cell, d, service.share] for service in plan.services_of[cell, d]]
        near = sites[ranks[cell, sites] <= max(served_from, default=0)]
        pairs += [(int(site), cell) for site in near if site != plan.reach.home_of.get(cell)]
    by_distance = {
        (cell, d): next(e for e in plan.distances_of[cell] if e >= d)
        for cell, d in {(cell, int(ranks[cell, site])) for site, cell in pairs}
    }
    named = [key for key, terms in rings.items() if len(terms) > 1]
    model.nearer = pyo.Var(named, bounds=(0, 1))
    model.nearer_is = pyo.Constraint(named, rule=lambda model, *key: net([model.nearer[key]], rings[key]) == 0)

    def rule(model: Any, site: int, cell: int) -> Any:
        if _across(plan, site, cell) is not None:
            return pyo.Constraint.Skip  # `neighbours_agree` says more
        key = (cell, by_distance[cell, int(ranks[cell, site])])
        nearer = [model.nearer[key]] if key in model.nearer else rings[key]
        return net([model.is_open[site]], [*_served(model, plan, site, cell), *nearer]) <= 0

    model.by_the_nearest = pyo.Constraint(pairs, rule=rule)


def neighbours_agree(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""An open site serves a cell for which it is second unless the first, its home, is open, too.

    So for a cell k at home at i and a cell m at home at j, each site the second of the other's cell,

    .. math::  x_j - \sum_q w_{jkq} = x_i x_j = x_i - \sum_q w_{imq}.
    """
    ranks = plan.reach.problem.layout.ranks
    pairs = []
    for site in plan.reach.sites:
        for cell in np.flatnonzero(ranks[:, site] == 2).tolist():
            back = _across(plan, site, cell)
            other = plan.reach.home_of.get(cell)
            if back is not None and other is not None and (site < other or _across(plan, other, back) != cell):
                pairs.append((site, cell, other, back))

    def rule(model: Any, one: int, cell: int, other: int, back: int) -> Any:
        served, returned = _served(model, plan, one, cell), _served(model, plan, other, back)
        return net([model.is_open[one], *returned], [model.is_open[other], *served]) == 0

    model.neighbours_agree = pyo.Constraint(pairs, rule=rule)


def in_patterns(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""An open site has one pattern, which holds its services.

    .. math::  \sum_i p_{ji} = x_j, \qquad \sum_{i \ni (k, q)} p_{ji} = w_{jkq}
    """
    holding: dict[tuple[int, int, int], list[int]] = {
        (site, cell, service.share): []
        for (site, cell), services in plan.reach.services.items()
        if is_part(plan, site, cell)
        for service in services
    }
    for site, block in plan.patterns.items():
        for number, pattern in enumerate(block.patterns):
            for cell, service in pattern.services:
                holding[site, cell, service.share].append(number)

    def one(model: Any, site: int) -> Any:
        patterns = (model.pattern[site, i] for i in range(len(plan.patterns[site].patterns)))
        return net(patterns, [model.is_open[site]]) == 0

    def services(model: Any, site: int, cell: int, share: int) -> Any:
        patterns = (model.pattern[site, i] for i in holding[site, cell, share])
        return net(patterns, [model.served[site, cell, share]]) == 0

    model.one_pattern = pyo.Constraint(list(plan.patterns), rule=one)
    model.in_patterns = pyo.Constraint(list(holding), rule=services)


def within_level(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A cell beyond the patterns is served only at a level that covers it, with the cells on the way.

    .. math::  \sum_q w_{jkq} \le \sum_{i :\, \text{level} \ge l(j, k),\ i \text{ holds the way}} p_{ji}, \qquad
               \sum_q w_{jkq} \le \sum_q w_{jmq} \text{ for } m \text{ on the way}
    """
    levels = plan.reach.problem.levels
    beyond = [pair for pair in plan.reach.services if not is_part(plan, *pair)]

    def level(model: Any, site: int, cell: int) -> Any:
        way = {other for other in plan.reach.on_the_way[site, cell] if is_part(plan, site, other)}
        fitting = [
            model.pattern[site, number]
            for number, pattern in enumerate(plan.patterns[site].patterns)
            if pattern.level >= levels[site, cell] and way <= {other for other, _ in pattern.services}
        ]
        return net(_served(model, plan, site, cell), fitting) <= 0

    def way(model: Any, site: int, cell: int, other: int) -> Any:
        return net(_served(model, plan, site, cell), _served(model, plan, site, other)) <= 0

    model.within_level = pyo.Constraint(beyond, rule=level)
    model.along_the_way = pyo.Constraint(
        [(site, cell, other) for site, cell in beyond for other in _last_on_the_way(plan, site, cell)], rule=way
    )


def within_capacity(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Cells beyond the patterns find the room that pattern and level leave.

    .. math::  \sum_{k \text{ beyond}, q} q\, w_{jkq} \le \sum_i (\psi_j(\text{level}_i) - \text{load}_i)\, p_{ji}

    Patterns whose level reaches no cell beyond leave none.
    """
    capacity = plan.reach.problem.capacity
    beyond: dict[int, list[int]] = defaultdict(list)
    for site, cell in plan.reach.services:
        if not is_part(plan, site, cell):
            beyond[site].append(cell)

    def rule(model: Any, site: int) -> Any:
        block = plan.patterns[site]
        load = [
            (float(service.share), model.served[site, cell, service.share])
            for cell in beyond[site]
            for service in plan.reach.services[site, cell]
        ]
        room = [
            (-float(capacity[site, pattern.level - 1] - pattern.load), model.pattern[site, number])
            for number, pattern in enumerate(block.patterns)
            if pattern.level > block.within
        ]
        return linear(load + room) <= 0

    model.within_capacity = pyo.Constraint(list(beyond), rule=rule)


def price_and_limits(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""Opening costs, number of sites, utilisations and mean distance, weighted in the objective and limited by rows.

    A cell whose home is open is at the distance of rank 1, and of the others z tells the rank, so that the mean is,
    with the distance :math:`\ell_{kd}` of rank d of cell k,

    .. math::  \frac{1}{\sum_k N_k} \sum_k N_k \Bigl( \ell_{k1} x_{h(k)} + \sum_{d, q} \ell_{kd} z_{kdq} \Bigr).
    """
    problem = plan.reach.problem
    sites = list(model.is_open.values())
    operating: Terms = []
    for site in priced_sites(problem):
        assert problem.operating_cost is not None
        rate = float(problem.operating_cost[site])
        busy = utilisations(plan.reach, site, plan.patterns[site].patterns).tolist()
        operating += [(rate * share, model.pattern[site, number]) for number, share in enumerate(busy)]
    weight = (problem.weights or {}).get("operating", 0.0)
    prices: Terms = list(zip(problem.site_prices.tolist(), sites, strict=True))
    prices += [(weight * rate, variable) for rate, variable in operating if weight != 0]
    distances = client_distances(model, plan)
    if problem.distance_price != 0:
        prices = merged(prices + [(problem.distance_price * apart, variable) for apart, variable in distances])
    model.price = pyo.Objective(expr=linear(prices), sense=pyo.minimize)
    measured: dict[str, Terms] = {
        "opening": list(zip(problem.opening_cost.tolist(), sites, strict=True)),
        "open_sites": [(1.0, site) for site in sites],
        "operating": operating,
        "mean_distance": [(apart / max(1, int(problem.demand.sum())), variable) for apart, variable in distances],
    }
    for name, limit in problem.limits.by_measure.items():
        model.add_component(f"limit_on_{name}", pyo.Constraint(expr=within_limit(measured[name], limit)))


def client_distances(model: pyo.ConcreteModel, plan: Plan) -> Terms:
    """Variables that say from how far a cell is served, each with the distances of all its clients, summed."""
    demand, lengths = plan.reach.problem.demand.tolist(), plan.reach.problem.layout.lengths

    def apart(cell: int, rank: int) -> float:
        return float(demand[cell] * lengths[cell if len(lengths) > 1 else 0, rank])

    at_home: Terms = [(apart(cell, 1), home) for cell in plan.reach.clients for home in _home(model, plan, cell)]
    return at_home + [(apart(cell, d), model.nearest[cell, d, share]) for cell, d, share in model.nearest]


def merged(terms: Terms) -> Terms:
    """Sum the factors of each variable."""
    factors: dict[int, float] = defaultdict(float)
    for factor, variable in terms:
        factors[id(variable)] += factor
    variables = {id(variable): variable for _, variable in terms}
    return [(factor, variables[key]) for key, factor in factors.items()]


def priced_sites(problem: PlacementProblem) -> list[int]:
    """Sites whose utilisation has a price, or counts for a limit."""
    counts = (problem.weights or {}).get("operating", 0.0) != 0 or "operating" in problem.limits.by_measure
    if not counts or problem.operating_cost is None:
        return []
    return [int(site) for site in np.flatnonzero(problem.operating_cost) if problem.allowed[site]]


def within_limit(terms: Terms, limit: Limit) -> Any:
    """A limit on a sum as a row, in a unit of its own.

    Where all factors are multiples of a number, the row counts in it, and its sides are whole numbers: such a limit
    holds exactly. Otherwise the unit is a power of two by which the largest factor is about `ROW_SIZE`.
    """
    factors = np.array([factor for factor, _ in terms], dtype=float)
    lower, upper = (side if math.isfinite(side) else None for side in (limit.minimum, limit.maximum))
    step = common_step(factors)
    largest = float(np.abs(factors).max(initial=0.0))
    unit = step or (math.ldexp(1.0, math.frexp(largest / ROW_SIZE)[1]) if largest > 0 else 1.0)
    factors = factors / unit if step is None else np.round(factors / unit)
    if lower is not None:
        lower = (lower - ROUNDING * abs(lower)) / unit
        lower = lower if step is None else float(math.ceil(lower))
    if upper is not None:
        upper = (upper + ROUNDING * abs(upper)) / unit
        upper = upper if step is None else float(math.floor(upper))
    return lower, linear(list(zip(factors.tolist(), (variable for _, variable in terms), strict=True))), upper


def _served(model: Any, plan: Plan, site: int, cell: int) -> list[Any]:
    return [model.served[site, cell, service.share] for service in plan.reach.services.get((site, cell), ())]


def is_part(plan: Plan, site: int, cell: int) -> bool:
    """Tell whether the patterns of a site speak of a cell."""
    return bool(plan.reach.problem.levels[site, cell] <= plan.patterns[site].within)


def _home(model: Any, plan: Plan, cell: int) -> list[Any]:
    """The variable of the site where a cell is at home, if there is one."""
    return [model.is_open[plan.reach.home_of[cell]]] if cell in plan.reach.home_of else []


def _across(plan: Plan, site: int, cell: int) -> int | None:
    """A cell at home at a site that is second for another cell, whose own home is second for it; ``None``: none is."""
    problem, other = plan.reach.problem, plan.reach.home_of.get(cell)
    ranks = problem.layout.ranks
    if other is None or ranks[cell, site] != 2 or not problem.demand[cell] or not problem.allowed[[site, other]].all():
        return None
    return next((back for back in plan.reach.homes[site] if ranks[back, other] == 2), None)


def _last_on_the_way(plan: Plan, site: int, cell: int) -> list[int]:
    """Cells beyond the patterns on the way from a site to a cell, without those on the way to another of them."""
    way = [other for other in plan.reach.on_the_way[site, cell] if not is_part(plan, site, other)]
    passed = {before for other in way for before in plan.reach.on_the_way[site, other]}
    return [other for other in way if other not in passed]
