"""Proofs that a small placement is the cheapest, made by enumeration and plain search."""

import itertools
import math

import numpy as np
from refuting import binary, searched

from optmodels.placement.clauses.counter import counter
from optmodels.placement.proofs import Counted, Header
from optmodels.studies import problem_digest


def best_of(problem):
    """The cheapest feasible placement by enumeration, and what it costs; ``None`` if there is none."""
    sites = problem.layout.sites
    found = [(problem.evaluate(x), x) for x in itertools.product((0, 1), repeat=sites)]
    return min(((e.objective, x) for e, x in found if e.feasible), default=None)


def overload_clauses(problem):
    """For every placement that overloads a site a clause with as few sites as can be."""
    sites = problem.layout.sites
    clauses = {}
    for x in itertools.product((0, 1), repeat=sites):
        is_open = np.array(x, np.uint8)
        excess = problem.overloaded(is_open)
        if not is_open.any():
            clauses[tuple(range(1, sites + 1))] = None
        for site in np.flatnonzero(excess):
            wide = is_open.copy()
            for other in range(sites):
                if not wide[other]:
                    wide[other] = 1
                    if not problem.overloaded(wide)[site]:
                        wide[other] = 0
            clauses[(-int(site) - 1, *(int(z) + 1 for z in np.flatnonzero(wide == 0)))] = None
    return list(clauses)


def make_proof(problem, *, unit=1.0, seed=0, **changed):
    """Header, clauses and DRAT of a proof that nothing is cheaper than the best; `changed` fields of the header."""
    objective, decision = best_of(problem)
    sites = problem.layout.sites
    prices = [math.floor(price / unit) for price in problem.site_prices]
    most = math.ceil(objective / unit) - 1
    order = list(range(sites))
    counted = counter(prices, order, most, sites + 1)
    overloads = overload_clauses(problem)
    dear = []
    for x in itertools.product((0, 1), repeat=sites):  # what rounding down lets through
        within = np.dot(prices, x) <= most
        if within and np.dot(problem.site_prices, x) >= objective * (1 - 1e-12):
            dear.append(tuple(-j - 1 for j in range(sites) if x[j]))
    clauses = [*overloads, *dear, *counted.tuples()]
    steps = searched(clauses, np.random.default_rng(seed))
    fields = {
        "format": 1,
        "problem": problem.name,
        "digest": problem_digest(problem),
        "complete": True,
        "objective": objective,
        "decision": decision,
        "bound": objective,
        "prices": tuple(prices),
        "unit": unit,
        "overloads": len(overloads),
        "dear": len(dear),
        "counters": (
            Counted(
                sum="cost",
                most=most,
                order=tuple(order),
                first=counted.first,
                places=tuple(counted.places.tolist()),
                levels=tuple(counted.levels.tolist()),
                clauses=len(counted.clauses),
            ),
        ),
        "engine": "search",
        "versions": {"search": "1"},
        "log": ("found",),
    }
    return Header(**fields | changed), clauses, binary(steps)
