r"""The integer program of a placement: who is open, who is nearest, who has room.

Decisions and what follows from them
------------------------------------
* ``is_open[j]``, :math:`x_j`: site j is open.
* ``nearest[k, d, q]``, :math:`z_{kdq}`: the nearest open sites of cell k are at distance d > 1, and so many that each
  gets q of its clients. A cell whose own site is open is served there, alone.
* ``served[j, k, q]``, :math:`w_{jkq} = x_j z_{kdq}` for d = d(j, k): site j is one of them.
* ``pattern[j, i]``, :math:`p_{ji}`: site j serves pattern i of `optmodels.placement.patterns`: a set of cells and
  shares that fits its capacity, over all cells it can serve or over those near, with a level for the others.
* ``nearer[k, d]``: cell k is served from a distance below d; only a name for a sum.

Why it is exact
---------------
Let x be 0 or 1. A cell that is served from distance d has no open site nearer than d and no open site at d that does
not serve it (`by_the_nearest`), and between the fewest and the most tied sites that make the share q
(`ties_are_counted`): so z and w are the true nearest sites and the true shares. Then all patterns in use of an open
site hold exactly its services, so there is one of them (`in_patterns`); its load fits by construction. Cells beyond
the patterns are held by `within_level` and `within_capacity`: capacities do not grow with the level, so a mixture of
levels allows no more than the lowest one that covers all cells served. Services that no feasible placement has are
left out; a site that would need one must stay closed, by `by_the_nearest`.

Why it is tight
---------------
Patterns are the integer solutions of each site's knapsack, listed (Dantzig and Wolfe): only mixtures of loads that
*are* possible remain, not all that keep the capacity on average. And for neighbours both sides of `neighbours_agree`
are the product of the two sites, so patterns of neighbours speak of the same event.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyomo.environ as pyo

from heuristics import Decision
from queueing.placement import CLIENT_LIMIT

from .patterns import Pattern, Reach, Service, SitePatterns
from .terms import PRICED, Terms, linear, operating_terms, priced_sites, within_limit

if TYPE_CHECKING:
    from .problem import PlacementProblem

Formulation = Literal["automatic", "pattern", "base"]

#: Most patterns of a site over all its cells, and over its neighbours; with more it takes the next shorter list.
MOST_PATTERNS, MOST_NEAR_PATTERNS = 300, 1_000

#: Most patterns of all sites together in the automatic formulation. With 23 000 (11 x 11 sites) HiGHS solves the
#: relaxation in half a minute, with 55 000 (11 x 22) not in two: there the bound comes from `optmodels.mip.relaxation`.
MOST_COLUMNS = 90_000

#: Most patterns of a site whose operating cost must be known pattern by pattern, and of all such sites.
MOST_PRICED_PATTERNS, MOST_PRICED_COLUMNS = 20_000, 200_000


@dataclass(frozen=True, eq=False)
class Plan:
    """What the model is written from: who can serve whom, and the patterns of each site that can be open."""

    reach: Reach
    patterns: Mapping[int, SitePatterns]

    @functools.cached_property
    def services_of(self) -> dict[tuple[int, int], dict[Service, list[int]]]:
        """Per cell and distance (beyond its own site): the services there, and the sites that can give each."""
        found: dict[tuple[int, int], dict[Service, list[int]]] = {}
        for (site, cell), services in sorted(self.reach.services.items()):
            at = found.setdefault((cell, int(self.reach.problem.distances[site, cell])), {})
            for service in services:
                at.setdefault(service, []).append(site)
        return found

    @functools.cached_property
    def distances_of(self) -> dict[int, list[int]]:
        """Per cell: the distances from which it can be served, beyond its own site."""
        found: dict[int, list[int]] = {cell: [] for cell in self.reach.clients}
        for cell, d in sorted(self.services_of):
            found[cell].append(d)
        return found


def refuses(problem: PlacementProblem) -> str | None:
    """Why the problem cannot be written as a linear integer program, in a sentence; ``None`` if it can."""
    weights = problem.weights
    if weights is None:
        return f"the model of {problem.name!r} needs a cost that is a weighted sum of measures."
    limited = sorted(set(problem.limits.by_measure) - set(PRICED))
    if limited:
        return f"the model of {problem.name!r} can limit {', '.join(PRICED)}, not {', '.join(limited)}; use a search."
    foreign = sorted(name for name, weight in weights.items() if weight != 0 and name not in PRICED)
    if foreign:
        return f"the model of {problem.name!r} can price {', '.join(PRICED)}, not {', '.join(foreign)}; use a search."
    priced = priced_sites(problem)
    if not priced:
        return None
    if problem.quality.guarantee != "farthest" and int(problem.demand.sum()) > CLIENT_LIMIT:
        return f"the model of {problem.name!r} prices utilisation for at most {CLIENT_LIMIT} clients in all."
    plan = plan_of(problem)
    for site in priced:
        if site in plan.patterns and not math.isinf(plan.patterns[site].within):
            return (
                f"the model of {problem.name!r} needs a price for every set of cells that a site can serve, and "
                f"{problem.layout.label(site)} has more than {MOST_PRICED_PATTERNS} of them (or all sites together "
                f"{MOST_PRICED_COLUMNS}); leave out operating costs or use a search."
            )
    return None


@functools.lru_cache(maxsize=2)
def plan_of(problem: PlacementProblem, formulation: Formulation = "automatic") -> Plan:
    """Choose how many patterns each site gets.

    Parameters
    ----------
    problem
        The placement.
    formulation
        ``"pattern"``: all patterns of a site if they are few, else those of its neighbours, else levels alone;
        ``"base"``: levels alone; ``"automatic"``: patterns, or levels alone if they would be too many in all.
    """
    reach = Reach.of(problem)
    priced = priced_sites(problem)
    patterns: dict[int, SitePatterns] = {}
    left = MOST_PRICED_COLUMNS
    for site in priced:
        found = reach.patterns(site, min(MOST_PRICED_PATTERNS, left))
        if found is None:
            break  # one is enough to refuse
        patterns[site] = found
        left -= len(found.patterns)
    most = MOST_COLUMNS if formulation == "automatic" else math.inf
    others = [site for site in reach.sites if site not in patterns]
    if formulation != "base":
        chosen: dict[int, SitePatterns] = {}
        for site in others:
            found = reach.patterns(site, MOST_PATTERNS) or reach.patterns(site, MOST_NEAR_PATTERNS, within=2)
            if found is not None:
                chosen[site] = found
            if sum(len(block.patterns) for block in chosen.values()) > most:
                chosen = {}
                break
        patterns |= chosen
    for site in others:
        if site not in patterns:
            levels = reach.patterns(site, 10**9, within=1)
            assert levels is not None
            patterns[site] = levels
    return Plan(reach, patterns)


def build(problem: PlacementProblem, formulation: Formulation = "automatic") -> pyo.ConcreteModel:
    """Write the placement as an integer program.

    Parameters
    ----------
    problem
        A placement whose cost is a weighted sum of ``opening``, ``operating`` and ``open_sites``, with limits on
        these alone.
    formulation
        See `plan_of`.

    Raises
    ------
    ValueError
        With the sentence of `refuses`.
    """
    refusal = refuses(problem)
    if refusal is not None:
        raise ValueError(refusal)
    plan = plan_of(problem, formulation)
    model = pyo.ConcreteModel(name="placement")
    model.plan = plan
    model.implied_whole = True  # `start` gives every feasible placement such a point
    declare_variables(model, plan)
    every_cell_is_served(model, plan)
    ties_are_counted(model, plan)
    by_the_nearest(model, plan)
    neighbours_agree(model, plan)
    in_patterns(model, plan)
    within_level(model, plan)
    within_capacity(model, plan)
    price_and_limits(model, plan)
    return model


def read(model: pyo.ConcreteModel) -> Decision:
    """The placement in a solved model."""
    return tuple(round(pyo.value(model.is_open[site])) for site in model.is_open)


# -- the model, piece by piece ----------------------------------------------------------------------------------------


def declare_variables(model: pyo.ConcreteModel, plan: Plan) -> None:
    """Sites, cells, services, patterns; only those that some feasible placement may need."""
    problem = plan.reach.problem
    model.is_open = pyo.Var(range(problem.layout.sites), domain=pyo.Binary)
    for site in np.flatnonzero(~problem.allowed).tolist():
        model.is_open[site].setub(0)
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
    r"""Each cell with clients has its own site open or is served from one other distance with one share.

    .. math::  x_k + \sum_{d, q} z_{kdq} = 1
    """

    def rule(model: Any, cell: int) -> Any:
        terms = [(1.0, model.is_open[cell])] + [
            (1.0, model.nearest[cell, d, service.share])
            for d in plan.distances_of[cell]
            for service in plan.services_of[cell, d]
        ]
        return linear(terms) == 1

    model.every_cell_is_served = pyo.Constraint(plan.reach.clients, rule=rule)


def ties_are_counted(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""As many sites serve a cell as its share says, and only with that share.

    .. math::
        n^-_{kq} z_{kdq} \le \sum_{j : d(j, k) = d} w_{jkq} \le n^+_{kq} z_{kdq}, \qquad w_{jkq} \le z_{kdq}
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
        d = int(plan.reach.problem.distances[site, cell])
        if at[cell, d, share][0].most == 1 and len(at[cell, d, share][1]) == 1:
            return pyo.Constraint.Skip  # the sum says it
        return linear([(1.0, model.served[site, cell, share]), (-1.0, model.nearest[cell, d, share])]) <= 0

    model.enough_ties = pyo.Constraint(list(at), rule=enough)
    model.not_too_many_ties = pyo.Constraint(list(at), rule=not_too_many)
    model.with_that_share = pyo.Constraint(model.served.index_set(), rule=with_that_share)


def by_the_nearest(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""An open site serves a cell unless the cell is served from nearer.

    .. math::  x_j \le \sum_q w_{jkq} + x_k + \sum_{d < d(j, k), q} z_{kdq}

    Sites beyond the largest distance from which a cell can be served need no row: the right side is 1.
    """
    distances = plan.reach.problem.distances
    sites = np.array(plan.reach.sites, dtype=np.int64)
    rings: dict[tuple[int, int], list[Any]] = {}  # what makes the cell served from nearer than d
    pairs: list[tuple[int, int]] = []
    for cell in plan.reach.clients:
        served_from = plan.distances_of[cell]
        terms = [model.is_open[cell]]
        for d in served_from:
            rings[cell, d] = list(terms)
            terms += [model.nearest[cell, d, service.share] for service in plan.services_of[cell, d]]
        farthest = max(served_from, default=0)
        pairs += [(int(site), cell) for site in sites[distances[sites, cell] <= farthest] if site != cell]
    by_distance = {
        (cell, d): next(e for e in plan.distances_of[cell] if e >= d)
        for cell, d in {(cell, int(distances[site, cell])) for site, cell in pairs}
    }
    named = [key for key, terms in rings.items() if len(terms) > 1]
    model.nearer = pyo.Var(named, bounds=(0, 1))
    model.nearer_is = pyo.Constraint(
        named,
        rule=lambda model, *key: linear([(1.0, model.nearer[key])] + [(-1.0, term) for term in rings[key]]) == 0,
    )

    def rule(model: Any, site: int, cell: int) -> Any:
        if _are_neighbours(plan, site, cell):
            return pyo.Constraint.Skip  # `neighbours_agree` says more
        key = (cell, by_distance[cell, int(distances[site, cell])])
        nearer = model.nearer[key] if key in model.nearer else rings[key][0]
        served = [(-1.0, variable) for variable in _served(model, plan, site, cell)]
        return linear([(1.0, model.is_open[site]), *served, (-1.0, nearer)]) <= 0

    model.by_the_nearest = pyo.Constraint(pairs, rule=rule)


def neighbours_agree(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""An open site serves its neighbour unless that is open, too.

    So for neighbours j and k with clients

    .. math::  x_j - \sum_q w_{jkq} = x_j x_k = x_k - \sum_q w_{kjq}.
    """
    distances = plan.reach.problem.distances
    pairs = [
        (site, int(other))
        for site in plan.reach.sites
        for other in np.flatnonzero(distances[site] == 2)
        if site < other and _are_neighbours(plan, site, int(other))
    ]

    def rule(model: Any, one: int, other: int) -> Any:
        return (
            linear(
                [(1.0, model.is_open[one]), (-1.0, model.is_open[other])]
                + [(-1.0, variable) for variable in _served(model, plan, one, other)]
                + [(1.0, variable) for variable in _served(model, plan, other, one)]
            )
            == 0
        )

    model.neighbours_agree = pyo.Constraint(pairs, rule=rule)


def in_patterns(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""An open site has one pattern, which holds its services.

    .. math::  \sum_i p_{ji} = x_j, \qquad \sum_{i \ni (k, q)} p_{ji} = w_{jkq}
    """
    holding: dict[tuple[int, int, int], list[int]] = {
        (site, cell, service.share): []
        for (site, cell), services in plan.reach.services.items()
        if _is_part(plan, site, cell)
        for service in services
    }
    for site, block in plan.patterns.items():
        for number, pattern in enumerate(block.patterns):
            for cell, service in pattern.services:
                holding[site, cell, service.share].append(number)

    def one(model: Any, site: int) -> Any:
        numbers = range(len(plan.patterns[site].patterns))
        return linear([(1.0, model.pattern[site, i]) for i in numbers] + [(-1.0, model.is_open[site])]) == 0

    def services(model: Any, site: int, cell: int, share: int) -> Any:
        terms = [(1.0, model.pattern[site, i]) for i in holding[site, cell, share]]
        return linear([*terms, (-1.0, model.served[site, cell, share])]) == 0

    model.one_pattern = pyo.Constraint(list(plan.patterns), rule=one)
    model.in_patterns = pyo.Constraint(list(holding), rule=services)


def within_level(model: pyo.ConcreteModel, plan: Plan) -> None:
    r"""A cell beyond the patterns is served only at a level that covers it, with the cells on the way.

    .. math::  \sum_q w_{jkq} \le \sum_{i :\, \text{level} \ge d(j, k),\ i \text{ holds the way}} p_{ji}, \qquad
               \sum_q w_{jkq} \le \sum_q w_{jmq} \text{ for } m \text{ on the way}
    """
    distances = plan.reach.problem.distances
    beyond = [pair for pair in plan.reach.services if not _is_part(plan, *pair)]

    def level(model: Any, site: int, cell: int) -> Any:
        way = {other for other in plan.reach.on_the_way[site, cell] if _is_part(plan, site, other)}
        fitting = [
            number
            for number, pattern in enumerate(plan.patterns[site].patterns)
            if pattern.level >= distances[site, cell] and way <= {other for other, _ in pattern.services}
        ]
        terms = [(1.0, variable) for variable in _served(model, plan, site, cell)]
        return linear(terms + [(-1.0, model.pattern[site, i]) for i in fitting]) <= 0

    def way(model: Any, site: int, cell: int, other: int) -> Any:
        terms = [(1.0, variable) for variable in _served(model, plan, site, cell)]
        return linear(terms + [(-1.0, variable) for variable in _served(model, plan, site, other)]) <= 0

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
        if not _is_part(plan, site, cell):
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
    """Opening costs, number of sites and utilisations, weighted in the objective and limited by rows."""
    problem = plan.reach.problem
    sites = list(model.is_open.values())
    operating = operating_terms(problem, {site: block.patterns for site, block in plan.patterns.items()}, model.pattern)
    weight = (problem.weights or {}).get("operating", 0.0)
    prices: Terms = list(zip(problem.site_prices.tolist(), sites, strict=True))
    prices += [(weight * rate, variable) for rate, variable in operating if weight != 0]
    model.price = pyo.Objective(expr=linear(prices), sense=pyo.minimize)
    measured: dict[str, Terms] = {
        "opening": list(zip(problem.opening_cost.tolist(), sites, strict=True)),
        "open_sites": [(1.0, site) for site in sites],
        "operating": operating,
    }
    for name, limit in problem.limits.by_measure.items():
        model.add_component(f"limit_on_{name}", pyo.Constraint(expr=within_limit(measured[name], limit)))


# -- a placement as a point of the model ------------------------------------------------------------------------------


def start(problem: PlacementProblem, model: pyo.ConcreteModel, decision: Decision) -> None:
    """Give every variable of the model its value for a feasible placement.

    Raises
    ------
    ValueError
        If the placement is not feasible: the model has no such point.
    """
    plan: Plan = model.plan
    is_open = np.array(decision, dtype=bool)
    evaluation = problem.evaluate(tuple(int(value) for value in is_open))
    if not evaluation.feasible:
        broken = ", ".join(name for name, amount in evaluation.violations.items() if amount > 0)
        raise ValueError(f"a model starts from a feasible placement, and this one breaks: {broken}.")
    for variables in (model.is_open, model.nearest, model.served, model.pattern, model.nearer):
        for variable in variables.values():
            variable.set_value(0, skip_validation=True)
    distances = problem.distances
    open_sites = np.flatnonzero(is_open)
    serving: dict[int, dict[int, int]] = {int(site): {} for site in open_sites}  # site -> cell -> share
    for site in open_sites.tolist():
        model.is_open[site].set_value(1)
    for cell in plan.reach.clients:
        there = distances[cell, open_sites]
        d = int(there.min())
        for ring in plan.distances_of[cell]:
            if ring > d and (cell, ring) in model.nearer:
                model.nearer[cell, ring].set_value(1)
        if is_open[cell]:
            continue
        tied = open_sites[there == d].tolist()
        share = -(-int(problem.demand[cell]) // len(tied))
        model.nearest[cell, d, share].set_value(1)
        for site in tied:
            model.served[site, cell, share].set_value(1)
            serving[site][cell] = share
    for site, services in serving.items():
        model.pattern[site, _pattern_of(plan, site, services)].set_value(1)


def _pattern_of(plan: Plan, site: int, services: Mapping[int, int]) -> int:
    """Number of the pattern that holds the services of a site, at the lowest level that covers them."""
    distances = plan.reach.problem.distances
    part = {cell: share for cell, share in services.items() if _is_part(plan, site, cell)}
    beyond = [int(distances[site, cell]) for cell in services if cell not in part]

    def fits(pattern: Pattern) -> bool:
        level = max(beyond, default=pattern.farthest)
        return pattern.level == level and {cell: service.share for cell, service in pattern.services} == part

    return next(number for number, pattern in enumerate(plan.patterns[site].patterns) if fits(pattern))


# -- small questions --------------------------------------------------------------------------------------------------


def _served(model: Any, plan: Plan, site: int, cell: int) -> list[Any]:
    return [model.served[site, cell, service.share] for service in plan.reach.services.get((site, cell), ())]


def _is_part(plan: Plan, site: int, cell: int) -> bool:
    """Whether the patterns of a site speak of a cell."""
    return bool(plan.reach.problem.distances[site, cell] <= plan.patterns[site].within)


def _are_neighbours(plan: Plan, one: int, other: int) -> bool:
    problem = plan.reach.problem
    return bool(
        problem.distances[one, other] == 2
        and problem.allowed[one]
        and problem.allowed[other]
        and problem.demand[one] > 0
        and problem.demand[other] > 0
    )


def _last_on_the_way(plan: Plan, site: int, cell: int) -> list[int]:
    """Cells beyond the patterns on the way from a site to a cell, without those on the way to another of them."""
    way = [other for other in plan.reach.on_the_way[site, cell] if not _is_part(plan, site, other)]
    passed = {before for other in way for before in plan.reach.on_the_way[site, other]}
    return [other for other in way if other not in passed]
