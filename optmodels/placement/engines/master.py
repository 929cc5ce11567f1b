r"""The program over sites alone: cheapest placement that keeps the clauses known.

.. math::  \min \sum_j p_j x_j \quad\text{with}\quad
           \sum_{i \in Z} x_i \ge x_j \text{ for every clause } (j, Z), \quad x_j \in \{0, 1\}

Clauses without a site that is closed have 1 on the right side. This is the master problem of a logic-based Benders
decomposition [1]_: what is not yet known about overloads is missing, so its optimum is a lower bound at any time.

References
----------
.. [1] J. N. Hooker and G. Ottosson, "Logic-based Benders decomposition", *Mathematical Programming* 96 (2003), 33-60.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.core.expr import LinearExpression

from ...mip import compile_model, quiet_pyomo
from ...mip.program import Program
from ..clauses.pool import Clause
from ..clauses.sources import Source, Within
from ..clauses.units import Units


def build_master(
    prices: Iterable[int],
    clauses: Iterable[Clause],
    fewest: int = 0,
    most: int | None = None,
    limits: Iterable[Within] = (),
    sites: int | None = None,
) -> pyo.ConcreteModel:
    """Write the master problem in Pyomo.

    Parameters
    ----------
    prices
        Of opening each site, and of what else clauses speak of.
    clauses
        In signs of DIMACS over variables numbered from 1.
    fewest, most
        Sites that must and may be open.
    limits
        On weighted sums of variables.
    sites
        How many of the variables are sites: the first ones; ``None``: all.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With a binary ``is_open`` for each variable.

    Examples
    --------
    >>> model = build_master([2, 3, 1], [(-1, 2), (2, 3)])
    >>> print(model.keeps[0].expr)
    1  <=  1 - is_open[0] + is_open[1]
    """
    priced = [int(price) for price in prices]
    model = pyo.ConcreteModel(name="clauses")
    model.is_open = pyo.Var(range(len(priced)), domain=pyo.Binary)

    def kept(clause: Clause) -> LinearExpression:
        """How many literals are true."""
        return LinearExpression(
            constant=sum(literal < 0 for literal in clause),
            linear_coefs=[1 if literal > 0 else -1 for literal in clause],
            linear_vars=[model.is_open[abs(literal) - 1] for literal in clause],
        )

    model.keeps = pyo.Constraint(pyo.NonNegativeIntegers)
    for number, clause in enumerate(clauses):
        model.keeps.add(number, (1, kept(clause), None))
    count = len(priced) if sites is None else sites
    everything = LinearExpression(linear_coefs=[1] * count, linear_vars=list(model.is_open.values())[:count])
    model.within = pyo.Constraint(pyo.NonNegativeIntegers)
    for number, limit in enumerate(limits):
        chosen = [model.is_open[at] for at in limit.variables]
        model.within.add(number, LinearExpression(linear_coefs=limit.weights, linear_vars=chosen) <= limit.most)
    if fewest > 0 or most is not None:
        model.open_sites = pyo.Constraint(expr=(fewest, everything, most))
    model.cost = pyo.Objective(expr=LinearExpression(linear_coefs=priced, linear_vars=list(model.is_open.values())))
    return model


def rows(
    units: Units, clauses: Iterable[Clause], fewest: int = 0, most: int | None = None, source: Source | None = None
) -> Program:
    """The master problem as arrays, a column for every variable."""
    sites, limits = (None, ()) if source is None else (source.sites, source.limits)
    with quiet_pyomo():
        compiled = compile_model(build_master(units.prices.tolist(), clauses, fewest, most, limits, sites))
    return _in_order_of_sites(compiled.program, [variable.index() for variable in compiled.variables], units)


def columns(units: Units) -> Program:
    """The variables and their prices alone: clauses travel beside them."""
    return _program(units, np.zeros(len(units.prices) + 1, np.int32), *_EMPTY)


_EMPTY = (np.zeros(0, np.int32), np.zeros(0), np.zeros(0), np.zeros(0), ())


def _in_order_of_sites(program: Program, sites: list[int], units: Units) -> Program:
    """Columns that appear nowhere are no columns of a compiled model; here every site has one."""
    counts = np.zeros(len(units.prices), np.int64)
    pieces: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = [(_EMPTY[0], _EMPTY[1])] * len(counts)
    for column, site in enumerate(sites):
        part = slice(program.starts[column], program.starts[column + 1])
        pieces[site] = program.rows[part], program.values[part]
        counts[site] = part.stop - part.start
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    entries = np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])
    return _program(units, starts, *entries, program.row_lower, program.row_upper, program.row_names)


def _program(
    units: Units,
    starts: NDArray[np.int32],
    at: NDArray[np.int32],
    values: NDArray[np.float64],
    row_lower: NDArray[np.float64],
    row_upper: NDArray[np.float64],
    row_names: tuple[str, ...],
) -> Program:
    count = len(units.prices)
    return Program(
        cost=units.prices.astype(float),
        offset=0.0,
        maximise=False,
        starts=starts,
        rows=at,
        values=values,
        row_lower=row_lower,
        row_upper=row_upper,
        column_lower=np.zeros(count),
        column_upper=np.ones(count),
        whole=np.ones(count, bool),
        row_names=row_names,
        column_names=tuple(f"is_open[{site}]" for site in range(count)),
        name="clauses",
    )
