r"""One multiplier for a shared budget: the optimum of a sum of convex costs, and its proof.

Shares :math:`x_i \ge 0` of a budget cost :math:`\sum_i g_i(x_i)`, every :math:`g_i` convex, and add up to :math:`X`. At
a price :math:`\lambda` of a unit everybody takes what is best for himself, and what comes out,

.. math::  D(\lambda) = \sum_i \min_x \bigl( g_i(x) + \lambda x \bigr) - \lambda X,

is a lower bound on the cost of all shares, whatever :math:`\lambda` is [1]_. At the price at which all shares together
make :math:`X` it is attained. The problem knows its own inverse slopes and finds that price; the strategy shows the
shares to the oracle, and keeps the proof.

References
----------
.. [1] H. Everett, "Generalized Lagrange multiplier method for solving problems of optimum allocation of resources",
   *Operations Research* 11 (3), 1963, 399-417.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ..oracle import Oracle
from ..protocols import Decision, Problem
from ..result import Result
from ..running import explain_refusal, last_word


@dataclass(frozen=True)
class Relaxation:
    """The shares at the price that spends the budget.

    Attributes
    ----------
    decision
        Shares as a decision of the problem.
    multiplier
        The price: how much the least cost falls for one more unit of the budget.
    bound
        The value of the dual, below the cost of all feasible decisions.
    residual
        By how much the conditions of optimality are missed, relative to the price.
    details
        What else is worth telling.
    """

    decision: Decision
    multiplier: float
    bound: float
    residual: float
    details: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class SeparableProblem(Problem, Protocol):
    """A problem of dividing a budget, with separable costs; ``unseparable()`` says where they are not, or ``None``."""

    def unseparable(self) -> str | None: ...
    def relaxation(self) -> Relaxation: ...


@dataclass(frozen=True)
class Lagrangian:
    """Divide a budget optimally by one multiplier for all shares; the value of the dual problem is the proof.

    ``extra.multiplier`` has the price, ``extra.residual`` how closely the conditions of optimality are met.
    """

    name: ClassVar[str] = "lagrangian"
    needs: ClassVar[type] = SeparableProblem
    deterministic: ClassVar[bool] = True

    def refuses(self, problem: SeparableProblem) -> str | None:
        """Refuse costs that do not add up."""
        return explain_refusal(self.name, problem, problem.unseparable())

    def solve(self, oracle: Oracle[SeparableProblem], rng: np.random.Generator) -> Result:
        """Show the shares, report the bound."""
        found = oracle.problem.relaxation()
        oracle.extra |= {"multiplier": found.multiplier, "residual": found.residual, **found.details}
        late = oracle.remaining_seconds <= 0
        last_word(oracle, found.decision)
        oracle.report(bound=found.bound)
        return oracle.result(stopped_by="seconds" if late else "complete")
