"""Where the integer program of limited robots begins: policies that keep the limits, and a bound.

The linear program of strategy `linear-program`, which lets decisions be left to chance, has prices of the limits; with
these, policy iteration proves a bound that does not rest on a solver's tolerances. A short search from its solution, as
that strategy makes it, finds a policy to start from.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import Budget, BudgetSpent, Oracle

from ..linear_program import LimitedSearch, parts_of, solve_program
from ..pricing import control_of

if TYPE_CHECKING:
    from ..fleet import ControlledRobots

#: States in policies that are evaluated, all together; and the share of the time that this may take.
WORK, SHARE = 300_000, 0.25


def begin(problem: ControlledRobots, oracle: Oracle[Any]) -> None:
    """Show the oracle the best policy of a short search, and tell it a bound; nothing if no average is limited.

    Parameters
    ----------
    problem
        Robots with limits.
    oracle
        Of the strategy that writes the model.
    """
    control = control_of(problem)
    if not control.limits:
        return
    left = oracle.remaining_seconds
    if left <= 0:
        return
    scout: Oracle[Any] = Oracle(problem, Budget(seconds=SHARE * left if math.isfinite(left) else None))
    search = LimitedSearch(scout, control, WORK)
    try:
        with contextlib.suppress(BudgetSpent), scout.in_time():
            search.fixed()
            # The best policy without limits takes little: a bound even where the linear program is not solved in time.
            oracle.report(bound=control.bounds(np.zeros(len(control.limits)))[1])
            answer = solve_program(
                control.moves, control.fleet.service_rate, control.cost, control.limits, seconds=scout.remaining_seconds
            )
            prices = answer.prices if answer.status == "optimal" else np.zeros(len(control.limits))
            exact, bound = control.bounds(prices)
            oracle.report(bound=bound)
            search.bound = exact
            search.run(parts_of(control, answer) if answer.status == "optimal" else [], prices)
    finally:  # Ctrl-C does not lose what was found
        oracle.charge(scout.evaluations)
        if scout.best is not None:
            oracle.confirm(scout.best.decision, scout.best.evaluation.objective)
