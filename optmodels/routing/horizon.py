r"""Where to send a finite number of packets without looking, from a state of gaps that are open.

Server m got its last packet :math:`x_m` slots before the first one; a packet to server a costs :math:`f_a(x_a)`, and at
the end all gaps that are still open are paid for as they stand, :math:`\sum_m f_m(x_m)`: Altman et al. (2000), eq. (1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation
from queueing.routing import horizon_cost

from ..costs import measures_used
from ..data import REQUIRED, Takes, natural
from ..errors import InstanceError, RequestError
from .data import RoutingData
from .problem import PricedRouting
from .space import RoutingActions


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class RoutingHorizonProblem(PricedRouting):
    """Choose the server of each of a number of slots.

    A decision lists server numbers in order. The measure `cost` is that of all slots together and of the gaps that are
    open at the end.

    Parameters
    ----------
    servers, arrivals, application, name, cost, limits
        As of a `RoutingProblem`.
    horizon
        Number of slots.
    initial
        Slots since each server got its last packet, before the first slot; infinite for one never used.
    """

    horizon: Takes[int | None, int] = REQUIRED
    initial: Takes[NDArray[Any] | Sequence[float | None] | None, NDArray[np.float64]] = REQUIRED

    accepted: ClassVar[tuple[str, ...]] = ("period", "max_period")

    def _keep_slots(self, found: RoutingData) -> None:
        used = measures_used(self.cost) | {f: (f"limits.{f}", limit) for f, limit in self.limits.to_data().items()}
        if "period" in used:
            raise InstanceError(*used["period"], "a finite horizon has no period to be priced or limited.")
        self._keep(horizon=found.horizon, initial=found.gaps)

    def to_data(self) -> dict[str, Any]:
        """Write the data of an instance file that `from_data` reads back to the same problem."""
        gaps = [int(gap) if math.isfinite(gap) else None for gap in self.initial.tolist()]
        return self.routing.to_data() | {"horizon": self.horizon, "initial": gaps}

    @cached_property
    def space(self) -> RoutingActions:
        """A server number for each slot."""
        return RoutingActions((self.server_count,) * self.horizon)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Compute the cost of all slots and of the gaps that are open at the end, Altman et al. (2000), eq. (1)."""
        actions = np.array(decision, dtype=np.int64)
        return self.judge({"cost": float(horizon_cost(self.costs, actions, self.initial)), "period": None})

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Tell shares of servers, and the gaps that are open at the end; ``None`` for a server never used."""
        actions = np.array(decision, dtype=np.int64)
        final: list[int | None] = []
        for server, before in enumerate(self.initial.tolist()):
            used = np.flatnonzero(actions == server)
            gap = self.horizon - int(used[-1]) if len(used) else before + self.horizon
            final.append(int(gap) if math.isfinite(gap) else None)
        return {
            "shares": (np.bincount(actions, minlength=self.server_count) / self.horizon).tolist(),
            "final_gaps": final,
        }

    def experiment(self, decision: Decision) -> NoReturn:
        """Refuse: only words that are repeated for ever are simulated."""
        raise RequestError(f"{self.name!r} cannot be simulated: it has a finite horizon, and no word is repeated.")
