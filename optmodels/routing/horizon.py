r"""Routing for a number of slots: the finite-horizon problem of Altman et al., with their terminal cost.

Server m got its last packet :math:`x_m` slots before the first one. A packet to server a costs :math:`f_a(x_a)`, and at
the end all gaps that are still open are paid for as they stand, :math:`\sum_m f_m(x_m)`, eq. (1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation
from queueing.routing import horizon_cost

from ..costs import CostFunction, Limits, measures_used
from ..errors import InstanceError, MissingField, RequestError
from .base import PricedRouting
from .data import Routing, read_horizon
from .space import RoutingActions


@dataclass(frozen=True, eq=False)
class RoutingHorizonProblem(PricedRouting):
    """Choose the server of each of a number of slots.

    A decision lists server numbers in order. The measure `cost` is that of all slots together and of the gaps that are
    open at the end.

    Parameters
    ----------
    horizon
        Number of slots.
    initial
        Slots since each server got its last packet, before the first slot; infinite for one never used.
    """

    horizon: int = 1
    initial: NDArray[np.float64] = field(default_factory=lambda: np.ones(1))

    @classmethod
    def of(
        cls, data: Mapping[str, Any], routing: Routing, name: str, cost: CostFunction | None, limits: Limits
    ) -> RoutingHorizonProblem:
        """Read what an instance file says about the horizon."""
        if data.get("horizon") is None:
            raise MissingField("data.horizon", "an initial state is that of a finite horizon; give one, or neither.")
        used = measures_used(cost) | {f: (f"limits.{f}", limits.to_data()[f]) for f in limits.by_measure}
        if "period" in used:
            raise InstanceError(*used["period"], "a finite horizon has no period to be priced or limited.")
        horizon, initial = read_horizon(data, routing)
        return cls(name, routing, cost, limits, horizon, initial)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], **options: Any) -> PricedRouting:
        """Read the ``data`` of an instance file (the fields are in INSTANCES: kind "routing")."""
        from .problem import RoutingProblem

        return RoutingProblem.from_data(data, **options)

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        gaps = [int(gap) if math.isfinite(gap) else None for gap in self.initial.tolist()]
        return self.routing.to_data() | {"horizon": self.horizon, "initial": gaps}

    @cached_property
    def space(self) -> RoutingActions:
        """A server number for each slot."""
        return RoutingActions((self.servers,) * self.horizon)

    def prepare(self) -> None:
        """Nothing is compiled."""

    def evaluate(self, decision: Decision) -> Evaluation:
        """The cost of all slots and of the gaps that are open at the end, eq. (1)."""
        actions = np.array(decision, dtype=np.int64)
        return self.judge({"cost": float(horizon_cost(self.costs, actions, self.initial)), "period": None})

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Shares of servers, and the gaps that are open at the end; ``None`` for a server never used."""
        actions = np.array(decision, dtype=np.int64)
        final: list[int | None] = []
        for server, before in enumerate(self.initial.tolist()):
            used = np.flatnonzero(actions == server)
            gap = self.horizon - int(used[-1]) if len(used) else before + self.horizon
            final.append(int(gap) if math.isfinite(gap) else None)
        return {
            "shares": (np.bincount(actions, minlength=self.servers) / self.horizon).tolist(),
            "final_gaps": final,
        }

    def experiment(self, decision: Decision) -> NoReturn:
        """Refuse: only words that are repeated for ever are simulated."""
        raise RequestError(f"{self.name!r} cannot be simulated: it has a finite horizon, and no word is repeated.")
