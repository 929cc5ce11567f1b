"""How many clients the sites of a placement can take, and why it may be that no placement is feasible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from queueing import capacity_by_distance

if TYPE_CHECKING:
    from .problem import PlacementProblem


def capacities(problem: PlacementProblem) -> NDArray[np.int64]:
    """Compute the largest load psi_j(d) of site j with its farthest client at distance d: column d - 1."""
    total = int(problem.demand.sum())
    rows: dict[tuple[float, int, bytes], tuple[int, ...]] = {}
    table = np.zeros_like(problem.think_time, dtype=np.int64)
    for site, curve in enumerate(problem.think_time):
        key = (float(problem.service_rate[site]), int(problem.processors[site]), curve.tobytes())
        if key not in rows:
            within = curve[np.isfinite(curve)].tolist()
            psi = capacity_by_distance(
                key[0],
                within,
                key[1],
                min_throughput=problem.quality.min_throughput or None,
                max_delay_probability=problem.quality.max_delay_probability,
                delay=problem.quality.delay,
                guarantee=problem.quality.guarantee,
                most=total,  # no site can have more than all clients, so a capacity without end is cut there
            )
            rows[key] = psi
        table[site, : len(rows[key])] = rows[key]
    table.setflags(write=False)
    return table


def infeasibility(problem: PlacementProblem) -> str | None:
    """Say why no placement can be feasible, in one sentence; ``None`` if all allowed sites together are one."""
    if problem.allowed.any() or not problem.demand.any():
        return None
    if not (problem.capacity[:, 0] > 0).any():
        return "no server can meet the quality limits, not even for a single client at distance 1."
    for cell in np.argsort(-problem.demand, kind="stable"):
        if problem.demand[cell] > 0 and not _servable(problem, int(cell)):
            return (
                f"{problem.layout.label(int(cell))} has {problem.demand[cell]} clients, more than any site can take: "
                f"the largest capacity is {problem.capacity.max()}."
            )
    return "every site would be overloaded even with all other possible sites open."


def _servable(problem: PlacementProblem, cell: int) -> bool:
    """Whether some set of equally distant sites could share the clients of `cell`, looking at nothing else."""
    distances = problem.distances[cell]
    for d in np.unique(distances):
        room = np.sort(problem.capacity[distances == d, d - 1])[::-1]
        shares = -(-problem.demand[cell] // np.arange(1, len(room) + 1))
        if (room >= shares).any():
            return True
    return False
