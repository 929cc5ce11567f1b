r"""Where to send packets without looking: open-loop routing to servers that have no buffer, kind "routing".

Packets come one by one and each is sent to one of M servers, by a word of server numbers that is repeated for ever. A
packet that finds the one before it still in service displaces it; pages of a search index go out of date until they
are visited again. What a word costs follows from the gaps between packets to the same server.

With a finite horizon each slot has a server of its own: :mod:`optmodels.routing.horizon`.

References
----------
.. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import NOTHING, Decision, Evaluation, Oracle, Strategy
from heuristics.dynamic import Rule, Sweeps
from heuristics.routing import GapTable, IndexRule, RoutingSweeps, densities, too_many_gaps
from queueing import PhaseType
from queueing.routing import Arrivals, GapCosts, not_convex, word_gaps, words_cost

from ..costs import CostFunction, CostLike, Limits, LimitsLike, is_linear, price_of, sole_price
from ..data import OPTIONAL, REQUIRED, Constructed, LawLike, Takes, natural, read_as, shared
from ..errors import RequestError
from .data import Application, Routing, RoutingData, Server, ServersLike, natural_server
from .gap_costs import Given, asymptotes_of
from .space import SEARCHED, RoutingWords

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from .simulation import RoutingExperiment

MEASURES = ("cost", "period")

#: Gaps up to which costs of services with phases are held to be convex, or on until this part of services is left, as
#: far as numbers fit; others are so by proof.
CHECKED, LEFT, MOST = 1000, 1e-50, 4_000_000

#: Limits broken by this much, relative, are not told from kept ones by solvers.
NEARLY = 1e-4

#: Broken where a server is left out whose cost is then infinite, or not known.
UNUSED = "servers never used that must be"


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class PricedRouting(Constructed):
    """What problems of routing have in common: servers, what gaps cost, and a price of that.

    Parameters
    ----------
    servers
        One at least: rates, laws of service, or objects of a file.
    arrivals, application
        Source of packets, and what costs: ``"loss"`` or ``"freshness"``.
    name
        For the reader.
    cost
        Price of the measures; ``None``: the measure `cost`.
    limits
        Limits on measures.
    """

    servers: Takes[ServersLike, tuple[Server, ...]] = REQUIRED
    arrivals: Takes[float | LawLike | Arrivals | None, Arrivals | None] = OPTIONAL
    application: Takes[str | None, Application | None] = OPTIONAL
    name: str = "routing"
    cost: Takes[CostLike | None, CostFunction | None] = OPTIONAL
    limits: Takes[LimitsLike | None, Limits] = OPTIONAL

    if TYPE_CHECKING:

        @property
        def routing(self) -> Routing: ...

    kind: ClassVar[str] = "routing"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    has_objective: ClassVar[bool] = True

    # -- from and to files --------------------------------------------------------------------------------------------

    @classmethod
    def _class_of(cls, data: Mapping[str, Any]) -> type[Any]:
        from .horizon import RoutingHorizonProblem

        chosen = RoutingHorizonProblem if "horizon" in data or "initial" in data else RoutingProblem
        return cls if issubclass(cls, chosen) else chosen

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Laws of service are those of servers, and servers that were kept are objects of a file again."""
        data = super()._natural(given)
        if isinstance(data.get("servers"), list):
            data["servers"] = [natural_server(one) for one in data["servers"]]
        if isinstance(data.get("initial"), list):
            data["initial"] = [None if gap == math.inf else gap for gap in data["initial"]]
        return data

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: RoutingData = read_as(RoutingData, data)
        routing = shared(Routing, found.servers, found.arrivals, found.application or "loss")
        self._keep(routing=routing, servers=found.servers, arrivals=found.arrivals, **beside)
        self._keep(application=None if found.arrivals is None else found.application)
        self._keep_slots(found)

    def _keep_slots(self, found: RoutingData) -> None:
        """Keep what the data say of periods, or of a horizon."""
        raise NotImplementedError  # the problem with periods and that with a horizon have their own

    @property
    def server_count(self) -> int:
        """Number of servers."""
        return len(self.servers)

    @property
    def costs(self) -> GapCosts:
        """What gaps cost, server by server."""
        return self.routing.costs

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return is_linear(self.cost)

    @property
    def scale(self) -> float | None:
        """Price of the measure `cost` where nothing else has one; ``None`` where something has."""
        return sole_price(self.cost, "cost")

    def gap_table(self, count: int) -> GapTable:
        """Tabulate the prices of gaps up to `count`, in units of the objective."""
        scale = self.scale or 1.0
        return GapTable(scale * self.cost_table(count), scale * self.costs.slopes, scale * self.costs.limits)

    def cost_table(self, count: int) -> NDArray[np.float64]:
        """Tabulate the costs of gaps up to `count`, or raise a sentence where one is too large to count with."""
        try:
            return self.costs.table(count)
        except ValueError as refusal:
            raise RequestError(f"{self.name!r} needs costs of gaps up to {count}: {refusal}") from None

    def unpriced(self) -> str | None:
        """Tell why gaps alone do not price decisions, where something other than the measure `cost` has a price."""
        return None if self.scale is not None else "its cost is not the measure 'cost', or a multiple of it."

    @cached_property
    def not_convex(self) -> str | None:
        """Why costs of gaps are not convex, if they are not: services with phases may make them so."""
        if self.routing.application == "freshness" or self.routing.arrivals is None:
            return None
        # Where the derivative of a density is nowhere positive in any phase, it falls for certain.
        laws = [server.service for server in self.routing.servers]
        rising = [isinstance(law, PhaseType) and bool((law.generator @ law.exit_rates > 0).any()) for law in laws]
        doubtful = np.flatnonzero(rising).tolist()
        if not doubtful:
            return None
        count = CHECKED
        while True:
            table = self.costs.table(count)
            fault = not_convex(self.costs, count)
            lasting = [m for m in doubtful if table[m, -1] > LEFT * table[m, 0]]
            if fault is not None or not lasting:
                return fault
            if 2 * count * self.server_count > MOST:
                return (
                    f"Costs of gaps must be convex, and services of server {lasting[0]} last too long to tell: after "
                    f"{count} slots {float(table[lasting[0], -1] / table[lasting[0], 0])!r} of those are left that "
                    "were after the first; give services that end earlier, or whose density falls."
                )
            count *= 2

    def judge(self, measures: Mapping[str, float | None], broken: Mapping[str, float] = NOTHING) -> Evaluation:
        """Find price and broken limits of measures, beside what is broken already; undefined ones count as 0."""
        known = {name: 0.0 if value is None else value for name, value in measures.items()}
        objective = known["cost"] if self.cost is None else price_of(self.cost, known)
        violations = {**broken, **self.limits.violations(measures)} if self.limits else broken
        return Evaluation(objective, violations, dict(measures))


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class RoutingProblem(PricedRouting):
    """Choose the word of server numbers by which packets are routed, over and over.

    Where neither `period` nor `max_period` is given, all periods may be chosen; strategies that walk through words then
    look at periods up to 20.

    Parameters
    ----------
    servers
        One at least: rates, laws of service, or objects of a file.
    arrivals
        Source of packets, or of visits; a number is the rate of a Poisson source.
    application
        What costs: ``"loss"``, packets lost, or ``"freshness"``, pages out of date.
    period
        Slots of the word; ``None``: any number, up to `max_period`.
    max_period
        Most slots of the word; ``None``: no limit.
    horizon, initial
        Of a finite horizon: the problem is then a `RoutingHorizonProblem`.
    name
        For the reader.
    cost
        Price of the measures; ``None``: the measure `cost`.
    limits
        Limits on measures.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
    Applied Probability* 37 (2000), 668-684.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.routing import RoutingProblem
    >>> problem = RoutingProblem(servers=[0.3, 1.0], arrivals=1.0, application="loss")
    >>> round(problem.evaluate((0, 1)).objective, 6)
    0.420858
    >>> solve(problem, "two-server").decision
    (0, 1, 1, 1)
    """

    period: Takes[int | None, int | None] = OPTIONAL
    max_period: Takes[int | None, int | None] = OPTIONAL

    if TYPE_CHECKING:  # these make the problem another class
        horizon: Takes[int | None, int] = OPTIONAL
        initial: Takes[NDArray[Any] | Sequence[float | None] | None, NDArray[np.float64]] = OPTIONAL

    accepted: ClassVar[tuple[str, ...]] = ("horizon", "initial")
    algebraic_limits: ClassVar[bool] = True

    def _keep_slots(self, found: RoutingData) -> None:
        self._keep(period=found.period, max_period=found.max_period)

    @staticmethod
    def of_costs(
        functions: Sequence[Callable[[int], float]],
        *,
        slopes: Sequence[float] | None = None,
        limits: Sequence[float] | None = None,
        name: str = "routing",
        period: int | None = None,
        max_period: int | None = None,
    ) -> RoutingProblem:
        r"""Make a problem of servers whose gaps cost what functions say.

        Parameters
        ----------
        functions
            For each server the cost of a packet that comes n = 1, 2, ... slots after the last one; convex.
        slopes, limits
            :math:`f(n) - \mathrm{slope} \cdot n \to \mathrm{limit}`, slope ``inf`` for f that grow faster than any
            line. Where they are left out, functions are asked for attributes of these names; without slopes nothing
            can be proved.
        name, period, max_period
            As in an instance file.

        Returns
        -------
        RoutingProblem
            Refused with a `ValueError` where a function is not convex.
        """
        ends, rests = asymptotes_of(functions)
        ends, rests = ends if slopes is None else slopes, rests if limits is None else limits
        given = [Given(*one) for one in zip(functions, ends, rests, strict=True)]
        servers = tuple(Server(None, cost=one) for one in given)
        shared(Routing, servers, None, "loss").costs  # noqa: B018 - what is not convex is refused here
        return RoutingProblem(name=name, servers=servers, period=period, max_period=max_period)

    def to_data(self) -> dict[str, Any]:
        """Write the data of an instance file that `from_data` reads back to the same problem."""
        periods = {"period": self.period, "max_period": self.max_period}
        return self.routing.to_data() | {key: value for key, value in periods.items() if value is not None}

    # -- evaluating ---------------------------------------------------------------------------------------------------

    @cached_property
    def space(self) -> RoutingWords:
        """Words of server numbers, up to rotation."""
        if self.period is not None:
            return RoutingWords(self.server_count, (self.period,))
        lengths = tuple(range(1, (self.max_period or SEARCHED) + 1))
        return RoutingWords(self.server_count, lengths, complete=self.max_period is not None)

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations need."""
        RoutingProblem(servers=[1.0, 2.0], arrivals=1.0, application="loss").describe((0, 1))

    def evaluate(self, decision: Decision) -> Evaluation:
        """Compute the cost of a word by Altman et al. (2000), eq. (6)."""
        return self.evaluate_many([decision])[0]

    def evaluate_many(self, decisions: Sequence[Decision]) -> Sequence[Evaluation]:
        """Compute the costs of many words, those of one length together."""
        by_length: dict[int, list[int]] = {}
        for index, decision in enumerate(decisions):
            by_length.setdefault(len(decision), []).append(index)
        found: dict[int, Evaluation] = {}
        for places in by_length.values():
            words = np.array([decisions[place] for place in places], dtype=np.int64)
            found.update(zip(places, self._judged(words), strict=True))
        return [found[place] for place in range(len(decisions))]

    def _judged(self, words: NDArray[np.int64]) -> list[Evaluation]:
        """Evaluate words of one length; one without a server that must be used is infeasible, and has no cost."""
        period = float(words.shape[1])
        try:
            values = words_cost(self._bounded_costs, words).tolist()
        except ValueError as refusal:
            raise RequestError(f"{self.name!r} cannot be evaluated at this decision: {refusal}") from None
        judged = [self.judge({"cost": value, "period": period}) for value in values]
        for server in np.flatnonzero(~np.isfinite(self.costs.slopes)).tolist():
            for row in np.flatnonzero(~(words == server).any(axis=1)).tolist():
                missed = judged[row].violations.get(UNUSED, 0.0) + 1.0
                judged[row] = replace(
                    judged[row],
                    violations={**judged[row].violations, UNUSED: missed},
                    measures={"cost": None, "period": period},
                )
        return judged

    @cached_property
    def _bounded_costs(self) -> GapCosts:
        """Costs in which a server that must be used costs nothing if it is not: the rest of a word has a number."""
        finite = np.isfinite(self.costs.slopes)
        if finite.all():
            return self.costs
        return GapCosts(self.costs.source, np.where(finite, self.costs.slopes, 0.0), self.costs.limits)

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Tell shares and gaps of servers, and how far the word is above the bound for all words.

        ``shares`` has the share of packets of each server, ``gaps`` how often each gap occurs in a period, by server.
        ``density_bound`` is the least cost if gaps could be chosen by each server for itself, a bound for all words.
        """
        word = np.array(decision, dtype=np.int64)
        shares = np.bincount(word, minlength=self.server_count) / len(word)
        bound = self.density_bound
        cost = self.evaluate(decision).measures["cost"]
        return {
            "shares": shares.tolist(),
            "gaps": [
                {str(gap): count for gap, count in sorted(Counter(gaps.tolist()).items())}
                for gaps in word_gaps(word, self.server_count)
            ],
            "density_bound": bound,
            "above_density_bound": None if cost is None or not bound or bound < 0 else cost / bound - 1.0,
        }

    def experiment(self, decision: Decision) -> RoutingExperiment:
        """Set up packets to be sent one by one, see `optmodels.studies.simulating`."""
        from .simulation import experiment_of

        return experiment_of(self, decision)

    # -- bounds -------------------------------------------------------------------------------------------------------

    @cached_property
    def density_bound(self) -> float | None:
        """No word has a lower measure `cost`; ``None`` where costs of long gaps are not known, or too large."""
        if self.not_convex is not None:  # then nothing follows for gaps beyond a table
            return None
        costs = self.costs
        try:
            bound = densities(lambda count: GapTable(self.cost_table(count), costs.slopes, costs.limits)).bound
        except RequestError:
            return None
        return bound if math.isfinite(bound) else None

    def lower_bound(self) -> float:
        """Return a lower bound on the objective of every decision."""
        bound = self.density_bound
        return -math.inf if self.scale is None or bound is None else self.scale * bound

    def unroutable(self) -> str | None:
        """Tell why the best of all words is not asked for, or cannot be found, if so."""
        if self.period is None and self.max_period is None:
            return self.unpriced() or self.not_convex
        limit = f"is {self.max_period} slots at most (data.max_period)"
        if self.period is not None:
            limit = f"is fixed at {self.period} slots (data.period)"
        return f"its period {limit}, and this strategy looks at all periods."

    def relaxed(self) -> RoutingProblem:
        """Return the same problem with words of all periods: its least cost is a lower bound."""
        return replace(self, period=None, max_period=None)

    def index_rule(self, slots: int | None) -> Strategy:
        """Name the rule of strategy `whittle` for packets."""
        return IndexRule(slots)

    def unsweepable(self, rule: Rule) -> str | None:
        """Tell why values cannot be iterated, if they cannot."""
        if rule == "paper":
            return "Altman et al. (2000) iterate no values; take the rule 'certified'."
        return self.unroutable() or too_many_gaps(self.gap_table)

    def sweeps(self, rule: Rule) -> Sweeps:
        """Set up values by gaps of all servers, see `heuristics.routing.value_iteration`."""
        return RoutingSweeps.of(self.gap_table)

    # -- the integer program, see `optmodels.routing.mip` --------------------------------------------------------------

    def algebraic_refusal(self) -> str | None:
        """Tell why there is no integer program for this problem, if there is none."""
        from .mip import refuses

        return refuses(self)

    def to_pyomo(self) -> pyo.ConcreteModel:
        """Write the words of the period as an integer program."""
        from .mip import build

        return build(self)

    def from_pyomo(self, model: pyo.ConcreteModel) -> Decision:
        """Read the word of a solved model."""
        from .mip import read

        return read(model)

    def start_pyomo(self, model: pyo.ConcreteModel, decision: Decision) -> None:
        """Fill in every variable of the model for a word."""
        from .mip import start

        start(model, decision)

    def begin_pyomo(self, oracle: Oracle[Any]) -> bool:
        """Show servers in turn, for want of time, and the word by whose cost the model leaves others out."""
        from .mip import plan_of

        assert self.period is not None  # else there is no program
        oracle.confirm(
            self.space.check([slot % self.server_count for slot in range(self.period)])
        )  # however late it is
        oracle.charge(1)
        with oracle.in_time():
            known = plan_of(self).known
        if known is not None:
            oracle(known)
        return True

    def almost_feasible(self, decision: Decision) -> bool:
        """Tell whether a word breaks limits by no more than solvers take for rounding."""
        judged = self.evaluate(decision)
        return UNUSED not in judged.violations and self.limits.excess(judged.measures) <= NEARLY
