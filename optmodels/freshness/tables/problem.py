"""Pages by the million: frequencies found, evaluated and written without the pages ever being in memory together.

The problem is that of `optmodels.freshness`; only the road to its frequencies is another. What needs all pages at once
(a schedule, say) reads them when it asks for them, if they are not too many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from heuristics import Decision, Evaluation
from heuristics.allocation import Relaxation
from queueing.processes import AccessTime

from ...data import natural
from ..data import TablePages
from ..problem import MEASURES, FreshnessProblem
from ..rules import MOST, TOLERANCE, TOTAL, Vector
from ..space import VisitPlans
from .engine import Engine, Tell, Threads
from .pages import Chunk, PageTable
from .streaming import Rule, StreamedAllocation, allocate_pages, judge_pages, write_frequencies


@dataclass(frozen=True, eq=False)
class StreamedFrequencies:
    """Frequencies of all pages of a table, computed when they are asked for."""

    table: PageTable
    law: AccessTime
    rule: Rule
    engine: Engine
    tell: Tell | None = None

    def __len__(self) -> int:
        return self.table.rows

    def write_to(self, folder: Path, stem: str) -> dict[str, Any]:
        """Write them beside a result, which tells file, rows and checksum."""
        target = folder / f"{stem}.decision{self.engine.suffix}"
        return write_frequencies(self.table, self.law, self.rule, target, engine=self.engine, tell=self.tell).to_data()


def _given(values: Vector, chunk: Chunk) -> Vector:
    """Those of a chunk, of all frequencies in an array, perhaps one mapped into memory."""
    return values[chunk.page : chunk.page + len(chunk.rates)]


class LargePlans(VisitPlans):
    """As for few pages, and frequencies that are computed when they are asked for."""

    def check(self, decision: Any) -> Any:
        """The decision as it is evaluated."""
        if isinstance(decision, StreamedFrequencies):
            if len(decision) != self.pages:
                raise ValueError(f"{len(decision)} frequencies are given; each of the {self.pages} pages needs one.")
            return decision
        return super().check(decision)


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class LargeFreshnessProblem(FreshnessProblem):
    """Choose how often pages are visited, pages being too many to be held in memory.

    Parameters
    ----------
    pages
        The table of pages.
    access_time, weights, robots, name, cost, limits
        As of a `FreshnessProblem`.
    change_rates, hosts, urls, host_caps, host_gap, min_frequency, cycle
        Left out: the first three are columns of the table, the others need all pages at once.
    engine
        Who goes over the pages: threads of this process, or a cluster.
    tell
        Called now and then with what is done, and pages done and to do.
    """

    engine: Engine = field(default_factory=Threads)
    tell: Tell | None = None

    beside: ClassVar[tuple[str, ...]] = ("engine", "tell")
    streams: ClassVar[bool] = True

    def _fill(self, *args: Any, engine: Engine | None = None, tell: Tell | None = None, **beside: Any) -> None:
        self._keep(engine=engine or Threads(), tell=tell)
        super()._fill(*args, **beside)

    @property
    def table(self) -> PageTable:
        """Where the pages are."""
        assert isinstance(self.columns, TablePages)
        return self.columns.table

    @cached_property
    def space(self) -> LargePlans:
        """Frequencies, and cycles of pages."""
        return LargePlans(self.columns.count, self.rules.robots)

    def prepare(self) -> None:
        """Compile, before any clock starts, what passes need; on all workers of a cluster, too."""
        compile_passes(self.access_time)
        everywhere: Callable[..., Any] | None = getattr(self.engine, "everywhere", None)
        if everywhere is not None:
            everywhere(compile_passes, self.access_time)

    # -- evaluating --------------------------------------------------------------------------------------------------

    def evaluate(self, decision: Decision) -> Evaluation:
        """The obsolescence of a decision, exactly, and the rules it breaks; frequencies are evaluated in one pass."""
        if isinstance(decision, Mapping):
            return super().evaluate(decision)
        streamed = isinstance(decision, StreamedFrequencies)
        given = partial(decision.rule.of, decision.law) if streamed else partial(_given, np.asarray(decision))
        found = judge_pages(self.table, self.access_time, given, engine=self.engine, tell=self.tell)
        longest = 1.0 / found.least if found.most > 0 else None
        missed, beyond = abs(sum(found.frequencies) - self.rules.robots), found.most - 1.0
        broken = {TOTAL: missed} if missed > TOLERANCE * self.rules.robots else {}
        measures = zip(MEASURES, (sum(found.cost), float(found.unvisited), longest), strict=True)
        return self.judge(dict(measures), broken | ({MOST: beyond} if beyond > TOLERANCE else {}))

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Tell how a decision is to be read; ``synthetic`` says how pages were drawn that no crawler has seen."""
        found: dict[str, Any] = {}
        if isinstance(decision, Mapping):
            found = super().describe(decision)
        else:
            found = {"form": "frequencies", "attained": False, "relaxed_bound": self.relaxed_bound}
        return found | ({} if self.table.synthetic is None else {"synthetic": self.table.synthetic})

    # -- bounds -------------------------------------------------------------------------------------------------------

    @cached_property
    def streamed(self) -> StreamedAllocation:
        """The frequencies of least cost, evenly spaced, and their bound."""
        total = float(self.rules.robots)
        return allocate_pages(self.table, self.access_time, total, engine=self.engine, tell=self.tell)

    @property
    def relaxed_bound(self) -> float:
        """The least obsolescence of frequencies, evenly spaced."""
        return self.streamed.bound

    def relaxation(self) -> Relaxation:
        """Find the frequencies of least cost when visits are evenly spaced, and the bound they prove."""
        found, scale = self.streamed, self.scale or 1.0
        return Relaxation(
            decision=StreamedFrequencies(self.table, self.access_time, found.rule, self.engine, self.tell),
            multiplier=scale * found.multiplier,
            bound=scale * found.bound,
            residual=found.missed,
        )


def compile_passes(law: AccessTime) -> None:
    """Go over two pages in every way that there is."""
    from queueing.freshness.large import frequencies_at, objective_pass, price_pages

    column = np.array([1.0, 2.0])
    price = price_pages(column, column[::-1].copy(), law).multiplier
    objective_pass(column, column, law, price)
    frequencies_at(column, column, law, price)
    FreshnessProblem(change_rates=column, weights=column, access_time=law).evaluate((0.5, 0.5))
