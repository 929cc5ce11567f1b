"""Strategy `clauses`: exact placement of sites by what no feasible placement may leave closed."""

from __future__ import annotations

import importlib.util
import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heuristics import Oracle, Problem, Result

from ...errors import RequestError
from ..engines import missing
from .refutation import KEEPER

if TYPE_CHECKING:
    from ..problem import PlacementProblem
    from ..proofs import ProofKeeper
    from .sources import Source

#: Measures that are sums over open sites.
PRICED = ("opening", "open_sites")

ENGINES = ("sat", "cpsat", "highs")


@runtime_checkable
class Sited(Problem, Protocol):
    """A problem whose infeasible decisions break clauses: sites are closed, or others are open."""

    @property
    def site_prices(self) -> NDArray[np.float64]: ...
    def clause_source(self) -> Source: ...


@dataclass(frozen=True)
class Clauses:
    """Prove the best placement by clauses: a site is closed, or one of those whose absence overloads it is open.

    Opening a site never raises the load of another, nor the level of its farthest client. So a site that is
    overloaded although everything outside a set Z is open must be closed, or one of Z must be open: a clause.
    Thousands of them are made, and a solver that knows only these and the costs is asked for the cheapest placement,
    or whether anything is cheaper than the best known; what it answers is evaluated, and gives more clauses or a
    better placement, until nothing is cheaper (logic-based Benders decomposition, Hooker and Ottosson, 2003). Any
    geometry will do, and classes; clauses of a scenario hold unless it is given up.

    Parameters
    ----------
    engine
        Who proves: ``"highs"`` (always there), ``"cpsat"`` (extra of that name: OR-Tools, guided by cores) or ``"sat"``
        (extra of that name: a counter of costs and kissat, or CaDiCaL of python-sat). By default the best that are
        installed: ``cpsat`` and ``sat`` side by side, or one of them, or ``highs``.

    Examples
    --------
    >>> import optmodels as om
    >>> result = om.solve("gautam-4x4", "clauses:engine=highs")
    >>> print(result.status, result.objective, result.bound)
    optimal 11.0 11.0
    """

    engine: str | None = None

    name: ClassVar[str] = "clauses"
    needs: ClassVar[type] = Sited
    deterministic: ClassVar[bool] = True
    linear_cost_only: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = True  # on the number of open sites, see `refuses`
    beside: ClassVar[int] = 400  # placements that solvers propose

    def __post_init__(self) -> None:
        if self.engine is not None and self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}.")

    def refuses(self, problem: Problem) -> str | None:
        """Refuse if the engine is not installed, or if a cost or limit is no sum over open sites."""
        if self.engine == "cpsat" and importlib.util.find_spec("ortools") is None:
            return "engine 'cpsat' needs the extra: pip install 'optmodels[cpsat]'"
        if self.engine == "sat" and (sentence := missing()):
            return sentence
        if self.engine == "cpsat" and prices_use(problem):
            return "engine 'cpsat' does not price utilisation; take clauses:engine=sat or clauses:engine=highs"
        return refuses(problem)

    def engines(self, problem: Any = None) -> tuple[str, ...]:
        """Who takes part, where operating costs have a price and elsewhere."""
        if self.engine is not None:
            return (self.engine,)
        if problem is not None and prices_use(problem):
            return ("highs",)  # whose bounds rose faster
        here = {"cpsat": importlib.util.find_spec("ortools") is not None, "sat": missing() is None}
        return tuple(name for name, is_here in here.items() if is_here) or ("highs",)

    def prepare(self, problem: Problem) -> None:
        """Import Pyomo where it is needed."""
        if "highs" in self.engines(problem):
            from ...mip import warm_up

            warm_up()

    def keep_proof(
        self, problem: Any, path: str | os.PathLike[str], *, resume: bool = False
    ) -> AbstractContextManager[ProofKeeper]:
        """Keep the proof of a run in a file, see `optmodels.placement.proofs`; engine ``sat`` makes it, alone."""
        from ..proofs import keeping

        if self.engine not in (None, "sat"):
            raise RequestError(f"engine {self.engine!r} writes no proof that can be checked; take clauses:engine=sat.")
        if sentence := missing():
            raise RequestError(sentence + ".")
        if sentence := refuses(problem):
            raise RequestError(sentence)
        if prices_use(problem):
            raise RequestError(f"proofs are about prices of open sites, and {problem.name!r} prices their use, too.")
        return keeping(problem, path, resume=resume)

    def solve(self, oracle: Oracle[PlacementProblem], rng: np.random.Generator) -> Result:
        """Find a start, make clauses, prove."""
        from ...cluster import allowed_threads
        from .search import Search

        engines = self.engines(oracle.problem) if KEEPER.get() is None else ("sat",)
        return Search(oracle, rng, engines, allowed_threads()).run()


def refuses(problem: Any) -> str | None:
    """Why clauses cannot hold a cost or a limit of a problem, in a sentence; ``None`` if they can."""
    weights = problem.weights
    if weights is None:
        return f"strategy 'clauses' needs a cost that is a weighted sum of measures, and {problem.name!r} has another."
    priced = {name for name, weight in weights.items() if weight != 0}
    if priced - set(PRICED) - {"operating"}:
        named = ", ".join(sorted(priced - set(PRICED) - {"operating"}))
        told = f"prices {', '.join(PRICED)} and operating, not {named}, as {problem.name!r} does"
        return f"strategy 'clauses' {told}; take highs or a search."
    limited = set(problem.limits.by_measure) - {"open_sites"}
    if limited:
        named = ", ".join(sorted(limited))
        return f"strategy 'clauses' limits open_sites, not {named}, as {problem.name!r} does; take highs or a search."
    if (problem.site_prices < 0).any():
        return f"strategy 'clauses' needs prices of sites that are not negative; take highs for {problem.name!r}."
    refusal: str | None = problem.clause_refusal()
    return refusal


def prices_use(problem: Any) -> bool:
    """Whether the cost has a price on utilisation."""
    return bool((problem.weights or {}).get("operating")) and problem.operating_cost is not None


def operating_refusal(problem: Any) -> str | None:
    """Why clauses cannot hold operating costs, in a sentence; ``None`` if they can, or there are none."""
    from queueing.placement import CLIENT_LIMIT

    if not prices_use(problem):
        return None
    told = f"strategy 'clauses' prices utilisation, as {problem.name!r} does,"
    if problem.demand is None or hasattr(problem, "parts"):
        return f"{told} for one demand of one class; take a search."
    if problem.weights["operating"] < 0:
        return f"{told} if its weight is not negative; take highs."
    if problem.quality.guarantee != "worst-case":
        return f"{told} under the guarantee 'worst-case', as else it may fall where far clients join; take highs."
    if int(problem.demand.sum()) > CLIENT_LIMIT:
        return f"{told} for at most {CLIENT_LIMIT} clients in all; take a search."
    return None
