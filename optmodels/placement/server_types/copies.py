r"""Sites once for each type of server: bounds, and the integer program of servers of several types.

A copy of a site for each type is a site with that server. Copies are where their site is, and at most one of them is
open,

.. math::  \sum_t x_{jt} \le 1 \quad \text{for all sites } j,

(exactly one where a site is fixed open), so that a placement of types is a plain placement of copies with these rows,
and the program of `optmodels.placement.mip` with them is exact: whatever it says of ties and nearest sites it says of
copies, of which no two of one site are ever there. Without the rows more is possible, not less: bounds hold.

Copy ``t * sites + j`` is site j with type t, from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision

from ..geometry import DistanceMatrix
from ..geometry.fixed import FREE, OPEN
from ..layout import Layout
from ..problem import PlacementProblem

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from .problem import TypePlacement


@dataclass(frozen=True, eq=False)
class Copies(DistanceMatrix):
    """Sites at the distances of others, which stand there in as many copies as there are types.

    Parameters
    ----------
    matrix, clients, names, places
        As of a `DistanceMatrix`.
    whole
        The sites themselves.
    kinds
        Names of the types.
    """

    whole: Layout = None  # type: ignore[assignment]  # after fields with defaults
    kinds: tuple[str, ...] = ()

    @property
    def lots(self) -> NDArray[np.int64]:
        """The site of each copy."""
        return np.arange(self.sites) % self.whole.sites

    def label(self, site: int) -> str:
        """How to call a copy in a sentence."""
        number, at = divmod(site, self.whole.sites)
        return f"{self.whole.label(at)} as {self.kinds[number]}"

    def cell_label(self, cell: int) -> str:
        """How to call a cell in a sentence."""
        return self.whole.cell_label(cell)


class SiteCopies(PlacementProblem):
    """The plain problem of copies of sites, and the rows that keep them apart in the integer program."""

    if TYPE_CHECKING:
        must: NDArray[np.bool_]  #: per site: whether it is fixed open

    @classmethod
    def of(cls, problem: TypePlacement) -> SiteCopies:
        """Make copies of the sites of a problem."""
        parts, layout = problem.parts, problem.layout
        copies: SiteCopies = object.__new__(cls)
        names = tuple(one.name for one in problem.server_types)
        matrix = np.tile(np.asarray(problem.distances, dtype=np.float64), (len(parts), 1))

        def joined(name: str) -> Any:
            values = [getattr(part, name) for part in parts]
            return None if values[0] is None else np.concatenate(values)

        by_site = ("opening_cost", "operating_cost", "service_rate", "processors", "think_times", "levels", "capacity")
        own = {name: joined(name) for name in by_site}
        whole = {"layout": Copies(matrix, layout.cells, whole=layout, kinds=names), "distances": matrix, "shape": None}
        crossed = {"network": None, "clients": layout.cells, "allowed": problem.fitting.ravel()}
        free = {"fixed_open": (), "fixed_closed": (), "fixed": np.full(len(matrix), FREE, np.int8)}
        plain = {name: value for name, value in vars(parts[0]).items() if name not in ("_sites", "_loads_only")}
        copies._keep(**plain | own | whole | crossed | free, must=problem.fixed == OPEN)
        return copies

    def split(self, decision: Decision) -> Decision:
        """The copies of a decision of types."""
        kinds = np.asarray(decision)
        numbers = np.arange(1, len(self.layout.kinds) + 1)  # type: ignore[union-attr]
        return tuple((kinds[None, :] == numbers[:, None]).astype(int).ravel().tolist())

    def joined(self, decision: Decision) -> Decision:
        """The decision of types that copies make, of which no two have one site."""
        by_type = np.asarray(decision).reshape(-1, self.layout.whole.sites)  # type: ignore[union-attr]
        return tuple((np.arange(1, len(by_type) + 1) @ by_type).tolist())

    def to_pyomo(self) -> pyo.ConcreteModel:
        """Write the program of the copies, with at most one of each site."""
        import pyomo.environ as pyo

        model = super().to_pyomo()
        count = self.layout.whole.sites  # type: ignore[union-attr]
        copies = {site: range(site, self.layout.sites, count) for site in range(count)}
        model.one_type = pyo.Constraint(
            range(count),
            rule=lambda model, site: (int(self.must[site]), sum(model.is_open[copy] for copy in copies[site]), 1),
        )
        model.labels["one_type"] = (self.layout.whole.label,)  # type: ignore[union-attr]
        return model
