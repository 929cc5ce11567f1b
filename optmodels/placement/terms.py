"""Measures of a placement that are sums over its sites: what its integer program prices and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pyomo.core.expr import LinearExpression

from ..costs import ROUNDING, Limit
from ..mip import common_step
from .patterns import Pattern, utilisations

if TYPE_CHECKING:
    from .problem import PlacementProblem

#: Measures that are linear in the variables.
PRICED = ("opening", "operating", "open_sites")

#: Largest factor in a row that limits a measure, about: what solvers take for rounding is 1e-9 of it.
ROW_SIZE = 2.0**10

#: Factors and variables of a sum.
Terms = list[tuple[float, Any]]


def linear(terms: list[tuple[float, Any]], constant: float = 0.0) -> Any:
    """A sum of products; far quicker to make than by operators."""
    return LinearExpression(
        constant=constant, linear_coefs=[factor for factor, _ in terms], linear_vars=[variable for _, variable in terms]
    )


def priced_sites(problem: PlacementProblem) -> list[int]:
    """Sites whose utilisation has a price, or counts for a limit."""
    counts = (problem.weights or {}).get("operating", 0.0) != 0 or "operating" in problem.limits.by_measure
    if not counts or problem.operating_cost is None:
        return []
    return [int(site) for site in np.flatnonzero(problem.operating_cost) if problem.allowed[site]]


def operating_terms(problem: PlacementProblem, patterns: Mapping[int, tuple[Pattern, ...]], variables: Any) -> Terms:
    """The measure ``operating``: for every pattern of a site, what its utilisation costs."""
    terms: Terms = []
    for site in priced_sites(problem):
        assert problem.operating_cost is not None
        rate = float(problem.operating_cost[site])
        for number, utilisation in enumerate(utilisations(problem, site, patterns[site]).tolist()):
            terms.append((rate * utilisation, variables[site, number]))
    return terms


def within_limit(terms: Terms, limit: Limit) -> Any:
    """A limit on a sum as a row, in a unit of its own.

    Where all factors are multiples of a number, the row counts in it, and its sides are whole numbers: such a limit
    holds exactly. Otherwise the unit is a power of two by which the largest factor is about `ROW_SIZE`.
    """
    factors = np.array([factor for factor, _ in terms], dtype=float)
    lower = limit.minimum - ROUNDING * abs(limit.minimum) if math.isfinite(limit.minimum) else None
    upper = limit.maximum + ROUNDING * abs(limit.maximum) if math.isfinite(limit.maximum) else None
    unit = common_step(factors)
    if unit is not None:
        factors = np.round(factors / unit)
        lower = None if lower is None else float(math.ceil(lower / unit))
        upper = None if upper is None else float(math.floor(upper / unit))
    else:
        largest = float(np.abs(factors).max(initial=0.0))
        unit = math.ldexp(1.0, math.frexp(largest / ROW_SIZE)[1]) if largest > 0 else 1.0
        factors = factors / unit
        lower, upper = None if lower is None else lower / unit, None if upper is None else upper / unit
    body = linear([(factor, variable) for factor, (_, variable) in zip(factors.tolist(), terms, strict=True)])
    return (lower, body, upper)
