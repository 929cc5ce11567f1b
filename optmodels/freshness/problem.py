"""Which pages to visit how often, and in which order: kind "freshness".

A robot visits the pages of a search index one after the other. A page is out of date from its first change after a
visit until the next one. Find frequencies, and a cycle of visits that realises them, for which the weighted fractions
of time that pages are out of date are least.

References
----------
.. [1] E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of
   Scheduling* 1 (1998), 15-29.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from heuristics import NOTHING, Decision, Evaluation, Strategy
from heuristics.allocation import Relaxation
from queueing.freshness import (
    Allocation,
    PageError,
    Traits,
    cost,
    even_obsolescence,
    integer_bound,
    randomized_obsolescence,
    refuse_extremes,
    schedule_gaps,
    schedule_obsolescence,
    traits,
)
from queueing.processes import AccessTime, Exponential

from ..costs import CostFunction, CostLike, Limits, LimitsLike, is_linear, measures_used, price_of, sole_price
from ..data import OPTIONAL, REQUIRED, Constructed, LawLike, Takes, natural, read_as
from .data import FreshnessData, Pages, TablePages, asks_nothing, is_streamed, natural_column, write_fields
from .partition import allocate_within
from .rules import Indices, Rules, Vector
from .space import VisitPlans, Visits

if TYPE_CHECKING:
    from .simulation import FreshnessExperiment

#: For so many pages the bound of whole gaps is taken at one price.
MANY = 20_000

MEASURES = ("obsolescence", "pages_never_visited", "largest_gap")


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class FreshnessProblem(Constructed):
    """Choose how often pages are visited, and in which order.

    A decision is a list of frequencies (visits per slot, evenly spaced: no robot can do better, and most can not do
    that), ``{"randomized": [frequency, ...]}`` (every slot drawn at random) or ``{"schedule": [page, ...]}`` (a cycle,
    repeated for ever). Several robots have a cycle each, ``{"schedules": [[page, ...], ...]}``, and every page belongs
    to one of them.

    Parameters
    ----------
    change_rates, weights
        Of each page, changes per unit of time, and what a unit of time out of date costs; weights ``"change-rates"``:
        as much as it changes.
    access_time
        Law of the time that one visit takes; a number is a constant time.
    hosts, urls
        What the host of each page is called, a whole number, and what the page is called.
    pages
        Instead of these: path of a table of pages.
    host_caps, host_gap, min_frequency
        Most visits per slot to each host, slots between two visits to one host, least visits per slot to a page.
    robots
        How many visit pages at the same time.
    cycle
        Slots of the cycle that is asked for, see `optmodels.freshness.cycles`; ``None``: any decision.
    name
        For the reader.
    cost
        Price of the measures; ``None``: the obsolescence.
    limits
        Limits on measures.

    Attributes
    ----------
    columns
        Change rates, weights, hosts and names of the pages, wherever they come from.
    rules
        What visits must keep to.

    References
    ----------
    E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of Scheduling* 1
    (1998), 15-29.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.freshness import FreshnessProblem
    >>> problem = FreshnessProblem(change_rates=[0.1, 0.4, 0.2], weights=[1, 1, 2], access_time=1.0)
    >>> round(problem.evaluate({"schedule": [0, 2, 1, 2]}).objective, 6)
    1.028586
    >>> result = solve(problem, "lagrangian")
    >>> [round(frequency, 4) for frequency in result.decision], round(result.objective, 6)
    ([0.2164, 0.3508, 0.4328], 1.001077)
    """

    change_rates: Takes[ArrayLike | None, Vector | None] = OPTIONAL
    weights: Takes[ArrayLike | None, Vector | str | None] = OPTIONAL
    access_time: Takes[float | LawLike, AccessTime] = REQUIRED
    hosts: Takes[ArrayLike | None, Indices | None] = OPTIONAL
    urls: Takes[Sequence[str] | None, tuple[str, ...] | None] = OPTIONAL
    pages: Takes[str | os.PathLike[str] | TablePages | None, TablePages | None] = OPTIONAL
    host_caps: Takes[ArrayLike | Sequence[float | None] | None, float | tuple[float | None, ...] | None] = OPTIONAL
    host_gap: Takes[int | None, int] = OPTIONAL
    min_frequency: Takes[ArrayLike | None, float | Vector | None] = OPTIONAL
    robots: Takes[int | None, int] = OPTIONAL
    name: str = "freshness"
    cost: Takes[CostLike | None, CostFunction | None] = OPTIONAL
    limits: Takes[LimitsLike | None, Limits] = OPTIONAL

    #: Data of problems of another class: the best cycle of so many slots, see `optmodels.freshness.cycles`.
    accepted: ClassVar[tuple[str, ...]] = ("cycle",)

    if TYPE_CHECKING:

        @property
        def columns(self) -> Pages: ...
        @property
        def rules(self) -> Rules: ...

    kind: ClassVar[str] = "freshness"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    has_objective: ClassVar[bool] = True
    #: Whether pages stay in their files.
    streams: ClassVar[bool] = False
    #: Whether decisions are cycles of one length.
    cyclic: ClassVar[bool] = False

    # -- from and to files --------------------------------------------------------------------------------------------

    @classmethod
    def _class_of(cls, data: Mapping[str, Any]) -> type[Any]:
        if data.get("cycle") is not None:
            from .cycles import CycleProblem

            return CycleProblem
        streamed = is_streamed(data)
        if streamed == cls.streams and not cls.cyclic:
            return cls
        from .tables import LargeFreshnessProblem

        return LargeFreshnessProblem if streamed else FreshnessProblem

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, folder: Path | None = None, **beside: Any) -> FreshnessProblem:
        """Read the ``data`` of an instance file, see ``optmodels schema freshness``."""
        fields: FreshnessData = read_as(FreshnessData, data)
        pages = fields.read_pages(folder)
        chosen = cls._class_of({"cycle": fields.cycle})
        if pages.streamed:
            from .tables import LargeFreshnessProblem

            chosen = LargeFreshnessProblem
        problem: FreshnessProblem = object.__new__(chosen)
        problem._fill(fields, data, pages, **beside)
        return problem

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Columns stay arrays, and paths are those of this process."""
        told = {name: value for name, value in given.items() if not asks_nothing(name, value)}
        data = {name: value if name == "pages" else natural_column(name, value) for name, value in told.items()}
        if isinstance(data.get("pages"), str | os.PathLike):
            data["pages"] = Path(data["pages"])
        return data

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        fields: FreshnessData = read_as(FreshnessData, data)
        self._fill(fields, data, fields.read_pages(folder), **beside)

    def _fill(
        self,
        fields: FreshnessData,
        data: Mapping[str, Any],
        pages: Pages,
        *,
        name: str = "freshness",
        cost: CostFunction | None = None,
        limits: Limits | None = None,
        **beside: Any,
    ) -> None:
        """Keep what data say of these pages."""
        rules = fields.read_rules(data, pages)
        self._keep(columns=pages, rules=rules, name=name, cost=cost, limits=limits or Limits(), **beside)
        self._keep(**{field: getattr(fields, field) for field in FreshnessData.model_fields})
        self._keep(pages=pages if isinstance(pages, TablePages) else None, host_caps=_listed(fields.host_caps))
        if pages.streamed:
            return
        try:
            refuse_extremes(self.traits)
        except PageError as failure:
            pages.refuse(failure)
        pages.refuse_light()

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        return write_fields(self.columns, self.rules, self.access_time)

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def traits(self) -> Traits:
        """What matters about the pages."""
        return traits(self.columns.rates, self.columns.weights, self.access_time)

    @cached_property
    def space(self) -> VisitPlans:
        """Frequencies, and cycles of pages."""
        return VisitPlans(self.columns.count, self.rules.robots)

    def visits_of(self, decision: Decision) -> Any:
        """Check a decision: frequencies, or `Visits`; whoever draws, lists or simulates visits asks for these."""
        return self.space.check(decision)

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return is_linear(self.cost)

    @property
    def scale(self) -> float | None:
        """Price of the obsolescence where nothing else has one; ``None`` where something has."""
        return sole_price(self.cost, "obsolescence")

    # -- evaluating --------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations need."""
        small = FreshnessProblem(change_rates=[1.0, 2.0], weights=[2.0, 1.0], access_time=Exponential(1.0))
        for decision in ((0.5, 0.5), {"randomized": (0.5, 0.5)}, {"schedule": (0, 1)}):
            small.describe(small.space.check(decision))
        hosts = Rules(2, hosts=np.array([0, 1]), caps=np.array([0.5, 0.75]), minimum=np.array([0.1, 0.1]))
        allocate_within(small.traits, hosts)

    def evaluate(self, decision: Decision) -> Evaluation:
        """The obsolescence of a decision, exactly, and the rules it breaks."""
        if not isinstance(decision, Mapping):
            frequencies = np.asarray(decision, dtype=np.float64)
            rates = even_obsolescence(self.traits, frequencies)
            visited = frequencies[frequencies > 0]
            longest = 1.0 / float(visited.min()) if len(visited) else None  # infinite, without a warning, below 1e-308
            return self._judged(rates, frequencies, longest, {})
        visits = self.space.check(decision)
        if visits.form == "randomized":
            drawn = visits.frequencies
            rates = randomized_obsolescence(self.traits, np.minimum(drawn, 1.0))
            found = self._judged(rates, drawn, None, self.rules.broken_by_chance(drawn, visits.get("robot")))
        else:
            found = self._judged_by_cycles(visits)
        self._last["decision"] = visits, found.measures["obsolescence"] or 0.0
        return found

    def _judged_by_cycles(self, visits: Visits) -> Evaluation:
        """Evaluate cycles: a page is out of date all the time for robots that never visit it, so the least counts."""
        rates, longest = np.ones(self.columns.count), 0
        for cycle in visits.cycles:
            rates = np.minimum(rates, schedule_obsolescence(self.traits, cycle))
            longest = max(longest, int(schedule_gaps(cycle, self.columns.count).longest.max()))
        more = self.rules.broken_by_cycles(visits.cycles)
        return self._judged(rates, visits.frequencies, float(longest), more, visits.idle)

    def _judged(
        self, rates: Vector, frequencies: Vector, longest: float | None, more: dict[str, float], idle: float = 0.0
    ) -> Evaluation:
        unvisited = float(np.count_nonzero(frequencies == 0))
        measures = zip(MEASURES, (cost(self.traits, rates), unvisited, longest), strict=True)
        return self.judge(dict(measures), self.rules.broken(frequencies, idle) | more)

    def judge(self, measures: Mapping[str, float | None], broken: Mapping[str, float] = NOTHING) -> Evaluation:
        """Price measures, and tell broken limits beside rules that are broken."""
        violations = {**broken, **self.limits.violations(measures)}
        used = {*measures_used(self.cost), *self.limits.by_measure}
        undefined = [name for name, value in measures.items() if value is None and name in used]
        violations |= {f"{name} undefined": 1.0 for name in undefined}  # draws have no largest gap: no limit holds it
        known = {**measures, **dict.fromkeys(undefined, 0.0)}
        objective = known["obsolescence"] if self.cost is None else price_of(self.cost, known)
        assert objective is not None
        return Evaluation(objective, violations, dict(measures))

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Tell how a decision is to be read, and how far above the bounds it lies.

        ``attained`` is false for frequencies that are evenly spaced: most cannot be. ``relaxed_bound`` is the least
        cost of even spacing, ``schedule_bound`` takes into account that gaps are whole numbers of slots, which no cycle
        can evade; ``above_relaxed_bound`` and ``above_schedule_bound`` are relative distances of the obsolescence.
        ``slots`` has the length of each cycle. ``pages_left_out`` are never visited although the best frequencies visit
        them, ``weight_left_out`` is their part of all weights.
        """
        checked = self.visits_of(decision)
        form = checked.form if isinstance(checked, Visits) else "frequencies"
        obsolescence = self._obsolescence_of(checked)
        relaxed, schedule = self.allocation().bound, self.schedule_bound
        drawn = form == "randomized" and (self.rules.robots == 1 or "robot" in checked)
        return {
            "form": form,
            "attained": form.startswith("schedule") or drawn,
            "relaxed_bound": relaxed,
            "schedule_bound": schedule,
            "above_relaxed_bound": obsolescence / relaxed - 1.0 if relaxed > 0 else None,
            "above_schedule_bound": obsolescence / schedule - 1.0 if schedule > 0 else None,
            "slots": [len(cycle) for cycle in checked.cycles] if form.startswith("schedule") else None,
            **self._left_out(checked, form),
        }

    def _left_out(self, checked: Any, form: str) -> dict[str, Any]:
        frequencies = np.asarray(checked) if form == "frequencies" else checked.frequencies
        missed = (frequencies == 0) & (self.allocation().frequencies > 0) & (self.traits.worths > 0)
        pages, weights = int(np.count_nonzero(missed)), self.columns.weights
        part = math.fsum(weights[missed]) / math.fsum(weights) if pages else 0.0
        found: dict[str, Any] = {"pages_left_out": pages, "weight_left_out": part}
        if pages:
            noun = "page" if pages == 1 else "pages"
            found["left_out"] = f"{pages} {noun} with {100 * part:.3g} % of all weight that the best frequencies visit"
        return found

    def _obsolescence_of(self, checked: Any) -> float:
        """Compute the obsolescence of a decision, which was mostly evaluated just before."""
        last = self._last.get("decision")
        if last is not None and last[0] is checked:
            return float(last[1])
        return self.evaluate(checked).measures["obsolescence"] or 0.0

    @cached_property
    def _last(self) -> dict[str, tuple[Any, float]]:
        """The decision evaluated last, and its obsolescence: told once more, not evaluated once more."""
        return {}

    def index_rule(self, slots: int | None) -> Strategy:
        """Name the rule of strategy `whittle` for visits."""
        from .schedules import LargestIndex  # all rules of sequencing, which most questions do not need

        return LargestIndex(slots)

    def experiment(self, decision: Decision) -> FreshnessExperiment:
        """Make visits to be tried out access by access, see `optmodels.studies.simulating`."""
        from .simulation import experiment_of

        return experiment_of(self, decision)

    # -- integer program ----------------------------------------------------------------------------------------------

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program: frequencies are no whole numbers."""
        return (
            f"strategy 'highs' finds the best cycle of so many slots, and {self.name!r} asks for none: give data.cycle "
            "a number of slots, or take lagrangian, which proves the best frequencies."
        )

    def to_pyomo(self) -> Any:
        """Write the problem as an integer program, if a cycle is asked for."""
        raise ValueError(self.algebraic_refusal())

    def from_pyomo(self, model: Any) -> Decision:
        """Read a decision off a solved model, if a cycle is asked for."""
        raise ValueError(self.algebraic_refusal())

    # -- bounds -------------------------------------------------------------------------------------------------------

    def allocation(self) -> Allocation:
        """Find the frequencies of least cost, evenly spaced, within all rules; its bound holds for every decision."""
        return self._allocation

    @cached_property
    def _allocation(self) -> Allocation:
        return allocate_within(self.traits, self.rules)

    @cached_property
    def schedule_bound(self) -> float:
        """No cycle of visits, and no cycles of several robots, has a lower obsolescence than this."""
        price = self.allocation().multiplier if self.columns.count >= MANY else None
        return max(self.allocation().bound, integer_bound(self.traits, float(self.rules.robots), price))

    @property
    def relaxed_bound(self) -> float:
        """The least obsolescence of frequencies, evenly spaced, within all rules."""
        return self.allocation().bound

    def lower_bound(self) -> float:
        """Return a number below the cost of every decision."""
        return -math.inf if self.scale is None else self.scale * self.relaxed_bound

    def unseparable(self) -> str | None:
        """Say why the least cost is not known, where something else than obsolescence has a price."""
        return None if self.scale is not None else "its cost is not the obsolescence, or a multiple of it."

    def relaxation(self) -> Relaxation:
        """Find the frequencies of least cost when visits are evenly spaced, and the bound they prove."""
        found, scale = self.allocation(), self.scale or 1.0
        return Relaxation(
            decision=self.space.check(found.frequencies),
            multiplier=scale * found.multiplier,
            bound=scale * found.bound,
            residual=found.residual,
        )


def _listed(caps: Any) -> Any:
    """Write caps by host as they are given: ``None`` where there is none."""
    if not isinstance(caps, np.ndarray):
        return caps
    return tuple(None if math.isnan(cap) else cap for cap in caps.tolist())
