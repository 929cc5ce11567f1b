"""Visits without end, for a crawler to pull from: pages that stay the same, and pages that come and go."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Vector, Whole
from .apportionment import shares_of, whole
from .calendar import (
    DAYS,
    GOLDEN,
    IDEAL,
    KEY,
    LEFT,
    NOW,
    PERIOD,
    STEP,
    earliest_due,
    greedy_record,
    link_all,
    new_calendar,
    phases,
)
from .politeness import capped, closing_length, hosts_and_gap, new_hosts, polite
from .whittle_index import LIST, early_part, index_record, largest_index, settled
from .words import golden_page

Method: TypeAlias = Literal["greedy", "whittle", "golden"]

#: Visits planned at once.
BLOCK = 1024


def visits(
    frequencies: ArrayLike,
    method: Method = "greedy",
    *,
    decays: ArrayLike | None = None,
    worths: ArrayLike | None = None,
    hosts: Sequence[int] | Whole | None = None,
    host_gap: int = 1,
) -> Iterator[int]:
    """Page numbers without end; memory for the pages, not for the visits.

    No cycle rounds the frequencies: each page is visited as often as asked for, in the long run exactly.

    Parameters
    ----------
    frequencies
        Zero or more for each page.
    method
        ``"greedy"``, ``"whittle"`` (with `decays` and `worths`, see :func:`heuristics.sequencing.whittle`) or
        ``"golden"`` (see :func:`heuristics.sequencing.golden_page`).
    decays, worths
        For the index.
    hosts, host_gap
        As for :func:`heuristics.sequencing.greedy`; not for the golden ratio.

    Yields
    ------
    int
        The page of the next slot.

    Raises
    ------
    ValueError
        If the method is not known, lacks what it needs, or keeps no gap between visits to a host that is asked for.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be 'greedy', 'whittle' or 'golden', but it is {method!r}.")
    shares, by_index = shares_of(frequencies), method == "whittle"
    if method == "golden":
        if host_gap not in (0, 1):
            raise ValueError(f"method 'golden' keeps no gap between visits to a host, but host_gap is {host_gap!r}.")
        sums, blocks = np.cumsum(shares), count(step=BLOCK)
        return chain.from_iterable(golden_page(sums, np.arange(slot, slot + BLOCK)).tolist() for slot in blocks)
    host, gap = hosts_and_gap(hosts, host_gap, shares)
    if gap > 1:
        closing_length(gap, int(host.max()) + 1, gap)  # are there hosts enough?
        shares = capped(shares, host, 1.0 / gap)
    begun, endless = phases(shares, host), np.full(len(shares), np.inf)
    periods = np.where(shares > 0, 1.0 / np.where(shares > 0, shares, 1.0), np.inf)
    early = 0.0 if gap > 1 else early_part(int(np.count_nonzero(shares)))
    if by_index:
        if decays is None or worths is None:
            raise ValueError("method 'whittle' needs decays and worths, but not both are given.")
        traits = settled(decays, worths, frequencies)
        record = index_record(periods, endless, begun, traits.worths, traits.decays, early)
    else:
        record = greedy_record(periods, endless, begun)
    if gap > 1:
        state, free = new_hosts(record, shares, host, gap), np.empty(0, dtype=np.int64)
        return _endless(lambda some: polite(state, 0, by_index, free, some))
    calendar = new_calendar(record)
    return _endless(
        lambda some: largest_index(calendar, early, LIST, some) if by_index else earliest_due(calendar, some)
    )


def _endless(fill: Callable[[Whole], object]) -> Iterator[int]:
    """Yield pages without end, a block at a time."""
    schedule = np.empty(BLOCK, dtype=np.int64)
    while True:
        fill(schedule)
        yield from schedule.tolist()


class VisitPlan:
    """Earliest due date first for pages that come and go; an iterator of page numbers.

    A page that is added is visited from the next cycle on, within its own gap; one that is removed is not visited any
    more at once. Frequencies are proportions: the plan goes on with what pages there are, without planning anew. Time
    is counted in units in which gaps do not depend on the other pages, and a slot takes 1 / sum of frequencies of it.

    Parameters
    ----------
    frequencies
        By page, above zero. Pages are whole numbers.
    cycle
        Slots that are planned at once: how long a new page waits at most before it is taken in.

    Examples
    --------
    >>> plan = VisitPlan({7: 2.0, 8: 1.0}, cycle=3)
    >>> [next(plan) for _ in range(6)]
    [7, 7, 8, 7, 7, 8]
    >>> plan.remove(7)
    >>> next(plan)
    8
    """

    def __init__(self, frequencies: Mapping[int, float] | None = None, cycle: int = BLOCK) -> None:
        self._cycle = whole("cycle", cycle, least=1)
        self._joining: dict[int, float] = {}
        self._rows: dict[int, int] = {}
        self._gone: set[int] = set()
        self._turn: Iterator[int] = iter(())
        self._joined = 0
        self._names = np.empty(0, dtype=np.int64)
        self._calendar = new_calendar(np.zeros((1, 4)))
        self._used = 1
        self._total = 0.0
        for page, frequency in (frequencies or {}).items():
            self.add(page, frequency)

    def add(self, page: int, frequency: float) -> None:
        """Take a page in from the next cycle on, or change its frequency from then on."""
        whole("page", page, least=0)
        if isinstance(frequency, bool) or not math.isfinite(frequency) or frequency <= 0:
            raise ValueError(f"frequency of page {page} must be a finite number above 0, but it is {frequency!r}.")
        self._joining[page] = float(frequency)

    def remove(self, page: int) -> None:
        """Visit a page no more."""
        if page not in self:
            raise ValueError(f"page {page!r} is not in the plan and cannot be removed.")
        self._joining.pop(page, None)
        if page in self._rows:
            self._drop(page)
            self._gone.add(page)

    def __contains__(self, page: object) -> bool:
        return page in self._joining or page in self._rows

    def __len__(self) -> int:
        return len(self._rows) + sum(page not in self._rows for page in self._joining)

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        while True:
            for page in self._turn:
                if page not in self._gone:
                    return page
            self._begin_cycle()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _drop(self, page: int) -> None:
        record = self._calendar.record
        row = self._rows.pop(page)
        self._total -= 1.0 / float(record[row, PERIOD])
        record[row, PERIOD] = 0.0

    def _begin_cycle(self) -> None:
        """Take in who waits, and plan."""
        self._gone.clear()
        if not self:
            raise StopIteration
        joining, self._joining = self._joining, {}
        # Who changes its frequency comes at its old date if that is sooner than the new gap asks for.
        dates = np.array([self._due(page) for page in joining])
        for page in joining:
            if page in self._rows:
                self._drop(page)
        total = self._total + math.fsum(joining.values())
        day = total / float(self._calendar.state[DAYS])  # in slots
        if self._used + len(joining) > len(self._names) or self._used > 2 * len(self._rows) + 64 or not 0.5 < day < 2:
            dates -= self._rebuild(math.fsum(joining.values()), len(joining))
        self._take_in(np.fromiter(joining, np.int64), np.fromiter(joining.values(), np.float64), dates)
        schedule = np.empty(self._cycle, dtype=np.int64)
        filled = earliest_due(self._calendar, schedule)
        self._turn = iter(self._names[schedule[:filled]].tolist())

    def _due(self, page: int) -> float:
        row = self._rows.get(page)
        return math.inf if row is None else float(self._calendar.record[row, KEY])

    def _take_in(self, pages: Whole, frequencies: Vector, dates: Vector) -> None:
        state, first, last = self._calendar.state, self._used, self._used + len(pages)
        begun = np.modf(phases(frequencies) + self._joined * GOLDEN)[0]
        rows = self._calendar.record[first:last]
        rows[:, PERIOD] = 1.0 / frequencies
        rows[:, KEY] = np.minimum(state[NOW] + begun * rows[:, PERIOD], dates)
        rows[:, IDEAL], rows[:, LEFT] = np.nan, np.inf
        self._names[first:last] = pages
        self._rows.update(zip(pages.tolist(), range(first, last), strict=True))
        self._joined, self._used = self._joined + len(pages), last
        self._total += math.fsum(frequencies)
        state[STEP] = 1.0 / self._total
        link_all(self._calendar, first, last)

    def _rebuild(self, more: float, joining: int) -> float:
        """Make a calendar without those who left, with room for twice as many as there are; return its time 0."""
        now, kept = float(self._calendar.state[NOW]), len(self._rows)
        room = 2 * (kept + joining) + 64
        record, names = np.zeros((room, 4)), np.zeros(room, dtype=np.int64)
        record[:kept] = self._calendar.record[list(self._rows.values())]
        record[:kept, [KEY, IDEAL]] -= now
        names[:kept] = list(self._rows)
        self._total = math.fsum(1.0 / record[:kept, PERIOD])  # what was added and taken off has left rounding errors
        self._rows = {page: row for row, page in enumerate(self._rows)}
        self._names, self._used = names, kept
        self._calendar = new_calendar(record, 1.0 / (self._total + more))
        return now
