r"""Relative value iteration: the same sweep over all states again and again, until values move alike.

A sweep replaces values h by :math:`T(h)`, the least cost of one step followed by h. The least average cost lies
between the least and the largest difference :math:`T(h) - h` of any state, per unit of time: a proof at every sweep,
whatever h is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from ..oracle import Oracle
from ..protocols import Decision, Problem
from ..result import Result
from ..running import explain_refusal, require_fields

#: How to stop: when the bracket is narrow, or as a publication did.
Rule = Literal["certified", "paper"]

#: Sweeps, and as many again as were needed to reach the narrowest bracket, after which rounding is what is left.
PATIENCE = 1000


@dataclass(frozen=True)
class Swept:
    """The values after a sweep, and what it proves.

    Attributes
    ----------
    values
        In whatever form the problem keeps them.
    lower, upper
        The least average cost lies between them; infinite where a sweep does not tell.
    change
        What the stopping rule of the publication looks at: the largest change of a value, relative.
    """

    values: Any
    lower: float = -math.inf
    upper: float = math.inf
    change: float = math.inf


class Sweeps(Protocol):
    """One way to iterate values: where they start, one sweep, the policy that is greedy for them, and a last word.

    ``tolerance`` is the largest change at which the rule "paper" stops, ``close(values)`` what is worth telling then:
    at least a sweep's ``lower`` and ``upper``.
    """

    @property
    def tolerance(self) -> float: ...
    def start(self) -> Any: ...
    def sweep(self, values: Any) -> Swept: ...
    def greedy(self, values: Any) -> Decision: ...
    def close(self, values: Any) -> Closing: ...


@dataclass(frozen=True)
class Closing:
    """What is known after the last sweep.

    Attributes
    ----------
    lower, upper
        Bounds of the least cost of all policies; infinite where nothing is proved.
    details
        What else the result should tell, by name.
    """

    lower: float = -math.inf
    upper: float = math.inf
    details: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Sweepable(Problem, Protocol):
    """A problem whose policies are found from values of states.

    ``unsweepable(rule)`` returns a sentence where the data do not allow it, else ``None``; ``sweeps(rule)`` what to
    iterate under a rule.
    """

    def unsweepable(self, rule: Rule) -> str | None: ...
    def sweeps(self, rule: Rule) -> Sweeps: ...


@dataclass(frozen=True)
class ValueIteration:
    """Run relative value iteration until the accuracy is proved, or with the stopping rule of the publication.

    The policy that is greedy for the values is shown to the oracle after 1, 2, 4, ... sweeps and after the last.
    ``extra`` has ``sweeps`` and ``bracket``.

    Parameters
    ----------
    accuracy
        With the rule "certified": stop when the least cost is known to this relative accuracy.
    rule
        ``"certified"``, or ``"paper"``: the chain, the values and the stopping rule of the publication.
    sweeps
        Most sweeps.
    """

    accuracy: float = 1e-8
    rule: Rule = "certified"
    sweeps: int = 10_000_000

    name: ClassVar[str] = "value-iteration"
    needs: ClassVar[type] = Sweepable
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(
            self,
            accuracy=(0 < self.accuracy < 1, "between 0 and 1"),
            rule=(self.rule in ("certified", "paper"), "'certified' or 'paper'"),
            sweeps=(self.sweeps >= 1, "1 or more"),
        )

    def refuses(self, problem: Sweepable) -> str | None:
        """Refuse what the rule was not made for."""
        return explain_refusal(self.name, problem, problem.unsweepable(self.rule))

    def solve(self, oracle: Oracle[Sweepable], rng: np.random.Generator) -> Result:
        """Sweep until the rule is met."""
        iterated = oracle.problem.sweeps(self.rule)
        values = iterated.start()
        narrowest, reached, stopped_by = math.inf, 0, "sweeps"
        lower, upper, count, shown = -math.inf, math.inf, 0, 1
        while count < self.sweeps:
            oracle.require()
            swept = iterated.sweep(values)
            values, count = swept.values, count + 1
            lower, upper = max(lower, swept.lower), min(upper, swept.upper)
            if count == shown:
                shown *= 2
                oracle(iterated.greedy(values))
                self._tell(oracle, count, lower, upper)
            if self.rule == "paper":
                if swept.change <= iterated.tolerance:
                    stopped_by = "complete"
                    break
                continue
            width = upper - lower
            if width <= self.accuracy * max(abs(lower), abs(upper)):
                stopped_by = "complete"
                break
            if width < 0.999 * narrowest:
                narrowest, reached = width, count
            elif count > 2 * reached + PATIENCE:
                stopped_by = "rounding"
                break
        closing = iterated.close(values)
        lower, upper = max(lower, closing.lower), min(upper, closing.upper)
        self._tell(oracle, count, lower, upper)
        oracle.confirm(iterated.greedy(values))
        oracle.report(bound=lower)
        return oracle.result(stopped_by=stopped_by, extra=closing.details)

    def _tell(self, oracle: Oracle[Sweepable], count: int, lower: float, upper: float) -> None:
        """Report how far the sweeps have come."""
        oracle.extra["sweeps"] = count
        if math.isfinite(lower) and math.isfinite(upper):
            oracle.extra["bracket"] = [lower, upper]
            oracle.report(bound=lower)
