"""The best cycle of so many slots, as a problem: kind "freshness" with the field ``cycle``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from heuristics import Budget, Decision, Evaluation, Walk, run, sequencing
from heuristics.allocation import Relaxation
from heuristics.search import Annealing
from queueing.processes import Exponential

from ...data import REQUIRED, Takes, natural
from ..partition import best_parts, given_parts
from ..problem import FreshnessProblem
from ..space import VisitPlans, Visits, padded
from . import walk
from .counts import CountBound
from .space import CycleOfVisits, VisitCycles

#: Steps of the short search before a program is written, for each slot, and at most.
STEPS_PER_SLOT, MOST_STEPS = 2_000, 200_000


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class CycleProblem(FreshnessProblem):
    """Choose the page of every slot of a cycle of given length.

    A decision is ``{"schedule": [page, ...]}``, of several robots ``{"schedules": [[page, ...], ...]}``: cycles that
    may begin anywhere, of robots that are alike. A slot with -1 has no visit.

    Parameters
    ----------
    cycle
        Slots of the cycle of each robot.
    change_rates, weights, access_time, hosts, urls, pages
        As of a `FreshnessProblem`.
    host_caps, host_gap, min_frequency, robots, name, cost, limits
        As of a `FreshnessProblem`.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.freshness import FreshnessProblem
    >>> problem = FreshnessProblem(change_rates=[0.1, 0.4, 0.2], weights=[1, 1, 2], access_time=1.0, cycle=5)
    >>> result = solve(problem, "exhaustive")
    >>> result.decision, round(result.objective, 6)
    ({'schedule': [0, 2, 1, 2, 1]}, 1.026586)
    """

    cycle: Takes[int, int] = REQUIRED

    accepted: ClassVar[tuple[str, ...]] = ()
    cyclic: ClassVar[bool] = True

    # -- decisions ----------------------------------------------------------------------------------------------------

    @cached_property
    def plans(self) -> VisitPlans:
        """Decisions of all forms, of any length."""
        return VisitPlans(self.columns.count, self.rules.robots)

    @cached_property
    def space(self) -> VisitCycles:  # type: ignore[override]
        """Cycles of the length that is asked for."""
        rules = self.rules
        # A visit in an idle slot lowers the cost, unless a host is to be left in peace or something else is asked.
        idle = rules.shares is not None or self.scale is None or bool(self.limits)
        return VisitCycles(self.columns.count, rules.robots, self.cycle, idle)

    def visits_of(self, decision: Decision) -> Visits:
        """Check a decision, and write it as decisions of any length are written."""
        found: Visits = self.plans.check(self.space.check(decision).to_data())
        return found

    def evaluate(self, decision: Decision) -> Evaluation:
        """The obsolescence of the cycles, exactly, and the rules they break."""
        visits = self.visits_of(decision)
        found = self._judged_by_cycles(visits)
        self._last["decision"] = visits, found.measures["obsolescence"] or 0.0
        return found

    @cached_property
    def least_known(self) -> float:
        """The least obsolescence of cycles made by rules and of a short search: the program leaves out what is dearer.

        They are those of this problem, whatever was evaluated before, so that its program is always the same.
        """
        apart = replace(self)
        judged = [apart.evaluate(one) for one in apart.suggestions(np.random.default_rng(0))]
        if not self.limits and self.scale is not None and self.infeasibility() is None:
            steps = min(STEPS_PER_SLOT * len(self.space.sample(np.random.default_rng(0))), MOST_STEPS)
            found = run(apart, Annealing(steps=steps), Budget(evaluations=2 * steps)).evaluation
            judged += [] if found is None else [found]
        return min((one.measures["obsolescence"] or 0.0 for one in judged if one.feasible), default=math.inf)

    def _obsolescence_of(self, checked: Any) -> float:
        last = self._last.get("decision")
        if last is not None and last[0] == checked:
            return float(last[1])
        return self.evaluate(checked).measures["obsolescence"] or 0.0

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Tell as of any decision; ``count_bound`` is what no cycle of this length can be below."""
        bound = self.counts.bound if math.isfinite(self.counts.bound) else None
        return {"left_out": None, **super().describe(decision), "count_bound": bound}

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations and walks need."""
        super().prepare()
        small = CycleProblem(
            change_rates=[1.0, 2.0], weights=[2.0, 1.0], access_time=Exponential(1.0), hosts=[0, 1], host_gap=1, cycle=2
        )
        steps = small.start(small.space.check({"schedule": [0, 1]}))
        steps.follow(steps.draw(np.random.default_rng(0), 2), np.zeros(2), math.inf)
        small.lower_bound()

    # -- searching ----------------------------------------------------------------------------------------------------

    def start(self, decision: Decision) -> Walk:
        """Begin a walk: compiled where the price is that of the obsolescence, by full evaluations otherwise."""
        return walk.begin(self, decision)

    def suggestions(self, rng: np.random.Generator) -> Iterator[CycleOfVisits]:
        """Yield cycles of this length by the rules for orders of visits, from the best visits and frequencies."""
        wanted = [self.counts.visits / self.cycle] if math.isfinite(self.counts.bound) else []
        for number, frequencies in enumerate([*wanted, None]):
            try:
                if frequencies is None:
                    parts = best_parts(self.traits, replace(self.rules, cycle=None), self.allocation())
                else:
                    parts = given_parts(self.traits, self.rules, frequencies)
            except ValueError:  # the rules leave a robot no room for its visits
                continue
            for rule in ("whittle", "greedy", "regular", "tijdeman") if number == 0 else ("whittle", "regular"):
                try:
                    cycles = [padded(part.pages[self._ordered(rule, part)], self.cycle).tolist() for part in parts]
                except ValueError:  # no cycle of this length keeps the gaps
                    continue
                yield self.space.canonical(cycles)

    def _ordered(self, rule: str, part: Any) -> Any:
        gap, hosts = self.rules.gap, part.hosts if self.rules.gap > 1 else None
        if rule == "whittle":
            own = part.traits
            return sequencing.whittle(own.decays, own.worths, part.frequencies, self.cycle, hosts, gap, exact=True)
        if rule == "greedy":
            return sequencing.greedy(part.frequencies, self.cycle, hosts, gap)
        return (sequencing.regular if rule == "regular" else sequencing.tijdeman)(part.frequencies, self.cycle)

    # -- integer program ----------------------------------------------------------------------------------------------

    @property
    def algebraic_limits(self) -> bool:
        """The model has limits; those that it cannot have are refused."""
        return True

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program, in a sentence; ``None`` if there is one."""
        from .mip import refuses

        return refuses(self)

    def to_pyomo(self) -> Any:
        """Write the problem as an integer program, see `optmodels.freshness.cycles.mip`."""
        from .mip import build

        return build(self)

    def from_pyomo(self, model: Any) -> Decision:
        """Read the cycles off a solved model."""
        from .mip import read

        return read(model)

    def start_pyomo(self, model: Any, decision: Decision) -> None:
        """Fill in the variables of the model for given cycles."""
        from .mip import start

        start(model, decision)

    # -- bounds -------------------------------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> CountBound:
        """The best numbers of visits in a cycle, and the bound they prove."""
        return CountBound(self.traits, self.rules)

    def infeasibility(self) -> str | None:
        """Say why no cycle keeps the rules, where numbers of visits tell it."""
        return self.counts.infeasibility()

    def lower_bound(self) -> float:
        """Return a number below the cost of every cycle: that of evenly spaced visits, of whole gaps, whole visits."""
        if self.scale is None:
            return -math.inf
        return self.scale * max(self.schedule_bound, self.counts.bound)

    def unseparable(self) -> str | None:
        """Say that frequencies are not asked for."""
        return (
            f"it asks for the best cycle of {self.cycle} slots, and frequencies are none; highs and searches such as "
            "annealing find cycles; leave out data.cycle for frequencies."
        )

    def relaxation(self) -> Relaxation:
        """Find the frequencies of least cost when visits are evenly spaced, and the bound they prove."""
        found, scale = self.allocation(), self.scale or 1.0
        decision = self.plans.check(found.frequencies)
        return Relaxation(decision, scale * found.multiplier, scale * found.bound, found.residual)
