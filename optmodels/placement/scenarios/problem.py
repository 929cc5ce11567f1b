r"""Where to put sites for one of several demands, as a problem.

Scenario s has the demand :math:`N^s` with probability :math:`p_s`. A placement X *keeps* it if every open site keeps
its capacity, :math:`L_j(N^s, X) \le \psi_j(S_j(N^s, X))`, and every client has a site. Find the cheapest placement with

.. math::  \sum_{s :\, X \text{ keeps } s} p_s \ge P.

With P = 1 nothing may go wrong in any scenario; the paper's "conservative maximum demand forecast" is stricter still:
it takes the largest demand of every cell at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heuristics import Decision, Evaluation, Walk

from ...costs import Limits, price_of
from ...data import OPTIONAL, REQUIRED, Takes, natural, read_as
from ...errors import InstanceError
from .. import measures as service
from ..data import PER_SITE, PlacementData, Quality, read_fields
from ..geometry import entries, nested
from ..geometry.fixed import OPEN, fixed_violations
from ..layout import Layout
from ..measures import DefinedMeasures, PlacementMeasures
from ..problem import NEARLY, PlacementProblem
from ..repairing import append
from ..searching import Missing, closing_order
from ..walk import flip, standing_of
from .data import DrawnScenarios, Scenario, check_probabilities, numbers_by_site
from .measures import ScenarioMeasures
from .mending import allowed_together, keepable
from .reaching import ROUNDING, to_mend

if TYPE_CHECKING:
    from ..clauses.sources import Source

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class ScenarioPlacement(PlacementProblem):
    """Choose the sites to open where the demand is one of several.

    A decision holds 0 or 1 for every site. DEJAVU, which looks at one demand, does not apply.

    Parameters
    ----------
    scenarios
        Pairs of ``probability`` and ``demand``, the probabilities of which sum to 1, or a law, such as
        ``{"law": "poisson", "mean": [[4, 7], [8, 3]], "count": 20, "seed": 1}``.
    opening_cost, operating_cost, service_rate, processors, think_time, requests, request_share
        As of a `PlacementProblem`.
    shape, network, distances, clients, fixed_open, fixed_closed, names, coordinates, name, cost, limits
        As of a `PlacementProblem`, too.
    quality
        What every client is promised; ``scenario_probability``: in scenarios that are together at least so probable.
    demand
        Left out: the scenarios have their own.

    Attributes
    ----------
    outcomes
        All scenarios, drawn where there is a law.

    Examples
    --------
    >>> import optmodels as om
    >>> quality = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6, "scenario_probability": 0.7}
    >>> problem = om.PlacementProblem(
    ...     scenarios=[
    ...         {"probability": 0.75, "demand": [[4, 7, 2], [8, 9, 15]]},
    ...         {"probability": 0.25, "demand": [[19, 9, 9], [9, 9, 9]]},
    ...     ],
    ...     opening_cost=[[2, 9, 3], [4, 2, 2]],
    ...     service_rate=20,
    ...     think_time={"base": 0.8, "per_distance": 0.2},
    ...     quality=quality,
    ... )
    >>> result = om.solve(problem, "exhaustive")
    >>> result.decision, [scenario["kept"] for scenario in result.extra["scenarios"]]
    ((1, 0, 0, 0, 0, 1), [True, False])
    """

    scenarios: Takes[
        Sequence[Mapping[str, ArrayLike] | Scenario] | Mapping[str, Any] | DrawnScenarios,
        tuple[Scenario, ...] | DrawnScenarios,
    ] = REQUIRED
    demand: Takes[None, Ints] = OPTIONAL

    accepted: ClassVar[tuple[str, ...]] = ("names", "coordinates")

    #: What DEJAVU asks for.
    restrict = Missing()

    if TYPE_CHECKING:
        _alone: dict[str, Any]

        @property
        def outcomes(self) -> tuple[Scenario, ...]: ...

    quick_walks: ClassVar[bool] = False

    # -- from and to files --------------------------------------------------------------------------------------------

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: PlacementData = read_as(PlacementData, data)
        layout = found.layout
        if isinstance(found.scenarios, DrawnScenarios):
            kept: Any = found.scenarios
            mean, deviation = (_spread(data["scenarios"], name, layout) for name in ("mean", "deviation"))
            assert mean is not None
            outcomes = kept.draw(mean, deviation)
        else:
            check_probabilities(found.scenarios, data["scenarios"])
            read = PER_SITE["demand"].read
            outcomes = [
                Scenario(one.probability, read(one.demand, layout, f"data.scenarios[{s}].demand"))
                for s, one in enumerate(found.scenarios)
            ]
            kept = tuple(outcomes)
        for one in outcomes:
            one.demand.setflags(write=False)
        crowded = int(np.argmax([int(one.demand.sum()) for one in outcomes]))
        alone = {name: value for name, value in data.items() if name != "scenarios"}
        quality = {name: value for name, value in _plain(data["quality"]).items() if name != "scenario_probability"}
        alone |= {"quality": quality, "demand": nested(outcomes[crowded].demand.tolist(), layout)}
        try:
            fields = read_fields(alone)
        except InstanceError as failure:
            if failure.field.startswith("data.demand"):
                place = "data.scenarios" if isinstance(kept, DrawnScenarios) else f"data.scenarios[{crowded}].demand"
                raise InstanceError(place, failure.value, failure.rule) from None
            raise
        for values in fields.values():
            if isinstance(values, np.ndarray):
                values.setflags(write=False)
        self._keep(_alone=fields | beside, **fields | beside | {"demand": None, "quality": found.quality})
        self._keep(scenarios=kept, outcomes=tuple(outcomes))

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        if isinstance(self.scenarios, DrawnScenarios):
            return super().to_data() | {"scenarios": self.scenarios.to_data()}
        listed = [
            {"probability": one.probability, "demand": nested(one.demand.tolist(), self.layout)}
            for one in self.scenarios
        ]
        return super().to_data() | {"scenarios": listed}

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def probabilities(self) -> Floats:
        """How probable each scenario is."""
        return np.array([one.probability for one in self.outcomes])

    @property
    def scenario_probability(self) -> float:
        """Least probability of the scenarios that are kept."""
        return 1.0 if self.quality.scenario_probability is None else self.quality.scenario_probability

    @property
    def mean_demand(self) -> Floats:
        """Expected number of clients of each cell."""
        return np.asarray(self.probabilities @ np.array([one.demand for one in self.outcomes]), dtype=np.float64)

    @cached_property
    def parts(self) -> tuple[PlacementProblem, ...]:
        """The problem of each scenario alone, without limits on measures."""
        parts = tuple(object.__new__(PlacementProblem) for _ in self.outcomes)
        for part, one in zip(parts, self.outcomes, strict=True):
            part._keep(**self._alone | {"demand": one.demand, "limits": Limits()})
        crowded = max(parts, key=lambda part: int(part.demand.sum()))
        table = service.capacities(crowded)  # is cut at the number of clients: no scenario has more
        for part in parts:
            vars(part)["capacity"] = table
        return parts

    @cached_property
    def capacity(self) -> Ints:
        """Largest load psi_j(d) of site j with its farthest client at distance d, the same in all scenarios."""
        return self.parts[0].capacity

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Sites that may be open; others are overloaded in too many scenarios whatever else is open."""
        spare = 1.0 - self.scenario_probability
        return allowed_together(self.parts, self.probabilities, spare)

    @cached_property
    def _keepable(self) -> tuple[tuple[int, ...] | None, bool]:
        return keepable(self.parts, self.probabilities, self.scenario_probability)

    def infeasibility(self) -> str | None:
        """Why no placement can be feasible, in one sentence; ``None`` if there is one, or nobody knows."""
        kept, complete = self._keepable
        if kept is not None or not complete:
            return None
        for number, part in enumerate(self.parts):
            reason = part.infeasibility()
            if reason is not None and self.probabilities[number] > 1.0 - self.scenario_probability + ROUNDING:
                return f"in scenario {number}, {reason}"
        return (
            f"scenarios of a total probability of {self.scenario_probability:g} cannot be kept by one placement, not "
            "even with all sites open that can be."
        )

    # -- evaluating ---------------------------------------------------------------------------------------------------

    def evaluate(self, decision: Decision) -> Evaluation:
        """Loads and measures in all scenarios, and the price of a placement."""
        is_open = np.asarray(decision, np.uint8)
        found, excess = [], np.zeros(len(self.parts), np.int64)
        for number, part in enumerate(self.parts):
            nearest, _, load, farthest, _ = part._assigned(is_open)
            excess[number] = part._beyond(is_open, load, farthest).sum() + part.demand.sum() * (not is_open.any())
            found.append(PlacementMeasures(part, is_open, part.layout.away(nearest)))
        measures = ScenarioMeasures(found, self.probabilities.tolist())
        violations: dict[str, float] = {}
        too_many = int(excess[to_mend(excess, self.probabilities, self.scenario_probability)].sum())
        if too_many:
            kept = float(self.probabilities[excess == 0].sum())
            violations["scenario probability"] = self.scenario_probability - kept
        violations |= (misplaced := fixed_violations(self.fixed, is_open))
        too_many += int(sum(misplaced.values()))
        objective = price_of(self.cost or expected_cost, DefinedMeasures(measures) if violations else measures)
        violations |= (broken := self.limits.violations(measures))
        foreign = set(self.limits.by_measure) - {"open_sites"}
        rate = 1.0 + abs(objective) if foreign else self.penalty_rate
        return Evaluation(objective, violations, measures, rate * (too_many + sum(broken.values())))

    def overloaded(self, decision: Decision) -> Ints:
        """Clients too many per site in the scenarios to be mended, all 0 for a feasible placement."""
        excess = np.array([part.overloaded(decision) for part in self.parts])
        chosen = to_mend(excess.sum(axis=1), self.probabilities, self.scenario_probability)
        return np.asarray(excess[chosen].sum(axis=0), dtype=np.int64)

    def load_and_farthest(self, decision: Decision) -> tuple[Ints, Ints]:
        """Largest load of each site in any scenario, and the distance of the farthest client in any."""
        found = [part.load_and_farthest(decision) for part in self.parts]
        return np.max([load for load, _ in found], axis=0), np.max([farthest for _, farthest in found], axis=0)

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a placement means: by scenario, and site by site the worst of all scenarios.

        ``load``, ``farthest``, ``delay_probability`` and ``utilisation`` are the largest of any scenario, ``capacity``
        and ``throughput`` the least; ``None`` where a site has no clients in any.
        """
        described = [part.describe(decision) for part in self.parts]
        by_scenario = [one.pop("assignment") for one in described]
        told: dict[str, Any] = {}
        for name in described[0]:
            worst = min if name in ("capacity", "throughput") else max
            by_site = zip(*(one[name] for one in described), strict=True)
            told[name] = [worst((value for value in site if value is not None), default=None) for site in by_site]
        told["assignment"] = [max(cell, key=len) for cell in zip(*by_scenario, strict=True)]  # empty without clients
        told["scenarios"] = []
        for probability, part in zip(self.probabilities.tolist(), self.parts, strict=True):
            judged = part.evaluate(decision)
            told["scenarios"].append(
                {
                    "probability": probability,
                    "clients": int(part.demand.sum()),
                    "kept": judged.feasible,
                    "too_many": int(judged.violation),
                    "worst_throughput": judged.measures["worst_throughput"],
                    "worst_delay_probability": judged.measures["worst_delay_probability"],
                }
            )
        return told

    def pictured(self, decision: Decision | None) -> tuple[PlacementProblem, list[str]]:
        """The scenario with the most clients, of those that are kept where some are, and which it is."""
        kept = [part.evaluate(decision).feasible if decision is not None else True for part in self.parts]
        shown = max(range(len(kept)), key=lambda s: (kept[s], int(self.parts[s].demand.sum())))
        words = [f"scenario {shown} of {len(kept)}, of probability {self.probabilities[shown]:.4g}"]
        if decision is not None:
            words.append(f"{sum(kept)} scenarios kept, of probability {self.probabilities @ kept:.4g}")
        return self.parts[shown], words

    # -- searching ----------------------------------------------------------------------------------------------------

    @property
    def objective_step(self) -> float | None:
        """A number of which every objective is a multiple; ``None`` if there is none to rely on."""
        return None if (self.weights or {}).get("mean_distance") else self.parts[0].objective_step

    def lower_bound(self) -> float:
        """A value no feasible placement goes below, see `PlacementProblem.lower_bound`.

        Some scenario that is kept has at least as many clients as the least crowded ones of probability P.
        """
        clients = np.array([part.demand.sum() for part in self.parts])
        last = to_mend(clients, self.probabilities, self.scenario_probability)[-1]
        crowd: PlacementProblem = object.__new__(PlacementProblem)
        crowd._keep(**vars(self.parts[last]) | {"allowed": self.allowed})
        return crowd.lower_bound()

    def start(self, decision: Decision) -> Walk:
        """Begin a walk by full evaluations."""
        from heuristics.search import EvaluatedWalk

        return EvaluatedWalk(self, decision)

    def window_refusal(self) -> str | None:
        """Why there is no walk window by window, in one sentence."""
        return f"strategy 'large-neighbourhood' walks on one demand, and {self.name!r} has scenarios; take annealing."

    def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
        """A feasible placement near `decision`, see `PlacementProblem.repair`; unchanged where none is known.

        The scenarios to be mended are kept, if together they can be, otherwise some that can.
        """
        excess = np.array([part.overloaded(decision).sum() for part in self.parts])
        wanted = sorted(to_mend(excess, self.probabilities, self.scenario_probability).tolist())
        allowed = self._allowed_for(wanted)
        if not allowed.any():
            if self._keepable[0] is None:
                return decision
            wanted = list(self._keepable[0])
            allowed = self._allowed_for(wanted)
        current = np.where(allowed, np.asarray(decision, np.uint8), 0).astype(np.uint8) | (self.fixed == OPEN)
        order, sites = rng.permutation(self.layout.sites), [self.parts[s]._loads_only for s in wanted]
        for one in sites:  # what is opened for one scenario overloads nobody in another
            standing = standing_of(one, current)
            append(one, standing, allowed.astype(np.uint8), order)
            current = standing.is_open
        standings = [standing_of(one, current) for one in sites]
        for site in closing_order(self.layout.around(self.mean_demand), self.opening_cost, rng):
            if not current[site]:
                continue
            for one, standing in zip(sites, standings, strict=True):
                flip(one, standing, site)
            closed = not any(standing.totals[2] + standing.totals[3] > 0 for standing in standings)
            current[site] = not closed
            for one, standing in zip(sites, standings, strict=True):
                if not closed:
                    flip(one, standing, site)
        return tuple(int(value) for value in current)

    def _allowed_for(self, scenarios: Sequence[int]) -> NDArray[np.bool_]:
        return allowed_together([self.parts[s] for s in scenarios], self.probabilities[list(scenarios)])

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        """Feasible placements to start from: all sites that together keep some scenarios, then these unplugged."""
        kept, _ = self._keepable
        if kept is None:
            return
        everything = tuple(int(value) for value in self._allowed_for(kept))
        if not any(everything):
            return
        yield everything
        while True:
            yield self.repair(everything, rng)

    # -- proofs -------------------------------------------------------------------------------------------------------

    def clause_source(self) -> Source:
        """What makes clauses that every feasible placement keeps, for strategy `clauses`."""
        from ..clauses.sources import source_of_scenarios

        return source_of_scenarios(self)

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program for this problem, in one sentence."""
        return (
            f"no integer program is written for scenarios, as {self.name!r} has them; take clauses for a proof, or a "
            "search."
        )

    def almost_feasible(self, decision: Decision) -> bool:
        """Whether a placement keeps enough scenarios and breaks limits by no more than solvers take for rounding."""
        judged = self.evaluate(decision)
        return "scenario probability" not in judged.violations and self.limits.excess(judged.measures) <= NEARLY


def _plain(quality: Any) -> dict[str, Any]:
    return quality.to_data() if isinstance(quality, Quality) else dict(quality)


def _spread(law: Mapping[str, Any], name: str, layout: Layout) -> Floats | None:
    """Read mean or deviation of a law: one number, or one for each cell."""
    if law.get(name) is None:
        return None
    place = f"data.scenarios.{name}"
    if name == "deviation" and not isinstance(law[name], list | tuple):
        return np.full(layout.cells, numbers_by_site([(place, law[name])])[0])
    return numbers_by_site(entries(law[name], layout, place, cells=True))


def expected_cost(measures: Mapping[str, float | None]) -> float:
    """The default cost: opening, and expected operating."""
    return float(measures["opening"] or 0.0) + float(measures["operating"] or 0.0)
