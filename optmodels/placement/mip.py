r"""The integer program of a placement: who is open, who is nearest, who has room.

The constraints named below are written in :mod:`optmodels.placement.constraints`.

Decisions and what follows from them
------------------------------------
* ``is_open[j]``, :math:`x_j`: site j is open.
* ``nearest[k, d, q]``, :math:`z_{kdq}`: the nearest open sites of cell k have rank d, and are so many that each
  gets q of its clients. A cell whose home is open, the one site of rank 1, is served there, alone, and has no such
  variable for d = 1. On grids and wherever hops are counted ranks are distances, and a cell is at home at its own site.
* ``served[j, k, q]``, :math:`w_{jkq} = x_j z_{kdq}` for d = r(k, j), the rank of site j: it is one of them.
* ``pattern[j, i]``, :math:`p_{ji}`: site j serves pattern i of `optmodels.placement.patterns`: a set of cells and
  shares that fits its capacity, over all cells it can serve or over those near, with a level for the others.
* ``nearer[k, d]``: cell k is served from a rank below d; only a name for a sum.

Why it is exact
---------------
Let x be 0 or 1. A cell that is served from rank d has no open site nearer than d and no open site at d that does
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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyomo.environ as pyo

from heuristics import Decision
from queueing import placement as queues  # what it offers is loaded when used

from . import constraints
from .constraints import PRICED, is_part, priced_sites
from .patterns import Pattern, Reach, Service, SitePatterns

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

#: Variables and constraints by the sites and cells that their indices begin with; exported files name them.
INDEXED = {
    "site": ("is_open", "pattern", "one_pattern", "within_capacity"),
    "cell": ("nearest", "nearer", "every_cell_is_served", "enough_ties", "not_too_many_ties", "nearer_is"),
    "site cell": ("served", "with_that_share", "by_the_nearest", "in_patterns", "within_level"),
    "site cell cell": ("along_the_way",),
    "site cell site cell": ("neighbours_agree",),
}

#: Levels up to which patterns are listed where those over all cells are too many, in turn: neighbours of neighbours are
#: too many where hops are counted, and elsewhere levels are far more than hops.
NEAR, NEAR_ELSEWHERE = (2,), (12, 8, 5, 3, 2)


@dataclass(frozen=True, eq=False)
class Plan:
    """What the model is written from: who can serve whom, and the patterns of each site that can be open."""

    reach: Reach
    patterns: Mapping[int, SitePatterns]

    @functools.cached_property
    def services_of(self) -> dict[tuple[int, int], dict[Service, list[int]]]:
        """Per cell and rank (beyond its home): the services there, and the sites that can give each."""
        found: dict[tuple[int, int], dict[Service, list[int]]] = {}
        for (site, cell), services in sorted(self.reach.services.items()):
            at = found.setdefault((cell, int(self.reach.problem.layout.ranks[cell, site])), {})
            for service in services:
                at.setdefault(service, []).append(site)
        return found

    @functools.cached_property
    def distances_of(self) -> dict[int, list[int]]:
        """Per cell: the ranks from which it can be served, beyond its home."""
        found: dict[int, list[int]] = {cell: [] for cell in self.reach.clients}
        for cell, d in sorted(self.services_of):
            found[cell].append(d)
        return found


def refuses(problem: PlacementProblem) -> str | None:
    """Why the problem cannot be written as a linear integer program, in a sentence; ``None`` if it can."""
    weights = problem.weights
    if weights is None:
        return f"the model of {problem.name!r} needs a cost that is a weighted sum of measures."
    weighted = [name for name, weight in weights.items() if weight != 0]
    for verb, names in (("limit", problem.limits.by_measure), ("price", weighted)):
        foreign = sorted(set(names) - set(PRICED))
        if foreign:
            told = f"{', '.join(PRICED)}, not {', '.join(foreign)}"
            return f"the model of {problem.name!r} can {verb} {told}; use a search."
    if "mean_distance" in {*weighted, *problem.limits.by_measure} and not problem.demand.any():
        return f"there are no clients in {problem.name!r}, and their mean distance is not defined."
    priced = priced_sites(problem)
    if not priced:
        return None
    if problem.quality.guarantee != "farthest" and int(problem.demand.sum()) > queues.CLIENT_LIMIT:
        return f"the model of {problem.name!r} prices utilisation for at most {queues.CLIENT_LIMIT} clients in all."
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
    steps = problem.layout.stepwise and problem.levels is problem.layout.levels
    near = NEAR if steps else NEAR_ELSEWHERE
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
            found = reach.patterns(site, MOST_PATTERNS)
            for within in near:
                found = found or reach.patterns(site, MOST_NEAR_PATTERNS, within=within)
            if found is not None:
                chosen[site] = found
            if sum(len(block.patterns) for block in chosen.values()) > most:
                chosen = {}
                break
        patterns |= chosen
    for site in others:
        if site not in patterns:
            levels = reach.patterns(site, 10**9, within=1 if steps else 0)
            assert levels is not None
            patterns[site] = levels
    return Plan(reach, patterns)


def build(problem: PlacementProblem, formulation: Formulation = "automatic") -> pyo.ConcreteModel:
    """Write the placement as an integer program.

    Parameters
    ----------
    problem
        A placement whose cost is a weighted sum of ``opening``, ``operating``, ``open_sites`` and ``mean_distance``,
        with limits on these alone.
    formulation
        See `plan_of`.

    Returns
    -------
    pyomo.environ.ConcreteModel
        The program; ``is_open`` has a binary variable for each site, `read` takes the decision from a solved model.

    Raises
    ------
    ValueError
        With the sentence of `refuses`.

    Examples
    --------
    >>> from optmodels.placement import PlacementGenerator, build
    >>> model = build(PlacementGenerator(rows=2, columns=3, seed=1).instance().problem())
    >>> len(model.is_open)
    6
    """
    refusal = refuses(problem)
    if refusal is not None:
        raise ValueError(refusal)
    plan = plan_of(problem, formulation)
    model = pyo.ConcreteModel(name="placement")
    model.plan = plan
    model.implied_whole = True  # `start` gives every feasible placement such a point
    label = {"site": problem.layout.label, "cell": problem.layout.cell_label}
    model.labels = {
        name: tuple(label[one] for one in which.split()) for which, names in INDEXED.items() for name in names
    }
    constraints.declare_variables(model, plan)
    constraints.every_cell_is_served(model, plan)
    constraints.ties_are_counted(model, plan)
    constraints.by_the_nearest(model, plan)
    constraints.neighbours_agree(model, plan)
    constraints.in_patterns(model, plan)
    constraints.within_level(model, plan)
    constraints.within_capacity(model, plan)
    constraints.price_and_limits(model, plan)
    return model


def read(model: pyo.ConcreteModel) -> Decision:
    """The placement in a solved model."""
    return tuple(round(pyo.value(model.is_open[site])) for site in model.is_open)


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
    ranks, home_of = problem.layout.ranks, plan.reach.home_of
    open_sites = np.flatnonzero(is_open)
    serving: dict[int, dict[int, int]] = {int(site): {} for site in open_sites}  # site -> cell -> share
    for site in open_sites.tolist():
        model.is_open[site].set_value(1)
    for cell in plan.reach.clients:
        there = ranks[cell, open_sites]
        d = int(there.min())
        for ring in plan.distances_of[cell]:
            if ring > d and (cell, ring) in model.nearer:
                model.nearer[cell, ring].set_value(1)
        if cell in home_of and is_open[home_of[cell]]:
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
    levels = plan.reach.problem.levels
    part = {cell: share for cell, share in services.items() if is_part(plan, site, cell)}
    beyond = [int(levels[site, cell]) for cell in services if cell not in part]

    def fits(pattern: Pattern) -> bool:
        level = max([pattern.farthest, *beyond])
        return pattern.level == level and {cell: service.share for cell, service in pattern.services} == part

    return next(number for number, pattern in enumerate(plan.patterns[site].patterns) if fits(pattern))
